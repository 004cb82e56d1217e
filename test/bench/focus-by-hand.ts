/** The columns of FOCUS that have a value, and the value by hand. */
const filled: Readonly<Record<string, string>> = {
  BilledCost: 'cost',
  BillingAccountId: 'account',
  BillingAccountType: "'Account'",
  BillingCurrency: "'USD'",
  BillingPeriodEnd: 'month + interval 1 month',
  BillingPeriodStart: 'month',
  ChargeCategory: "'Usage'",
  ChargeDescription: "billing_dimension || ' - ' || resource_name || ' (' || workspace || ')'",
  ChargeFrequency: "'Usage-Based'",
  ChargePeriodEnd: 'day + interval 1 day',
  ChargePeriodStart: 'day',
  ConsumedQuantity: 'usage',
  ConsumedUnit: 'unit',
  ContractedCost: 'cost',
  EffectiveCost: 'cost',
  HostProviderName: "'Platform'",
  InvoiceIssuerName: "'Platform'",
  ListCost: 'cost',
  PricingCategory: "'Standard'",
  PricingCurrency: "'USD'",
  PricingCurrencyEffectiveCost: 'cost',
  PricingQuantity: 'usage',
  PricingUnit: 'unit',
  ResourceId: 'resource_uuid',
  ResourceName: 'resource_name',
  ResourceType: 'resource_type',
  ServiceCategory: "'Compute'",
  ServiceName: "'Platform'",
  ServiceProviderName: "'Platform'",
  ServiceSubcategory: "'Other (Compute)'",
  SkuId: 'billing_dimension',
  SkuMeter: 'billing_dimension',
  SkuPriceId: 'billing_dimension',
  SubAccountId: 'workspace',
  SubAccountName: 'workspace',
  SubAccountType: "'Workspace'",
  x_BillingDimension: 'billing_dimension',
  x_Resolution: "'daily'",
  x_ResourceName: 'resource_name',
  x_ResourceTypeRaw: 'resource_type',
  x_ResourceUuid: 'resource_uuid',
};

/** The columns of FOCUS that are null without labels and discounts. */
const empty = [
  'AllocatedMethodDetails',
  'AllocatedMethodId',
  'AllocatedResourceId',
  'AllocatedResourceName',
  'AllocatedTags',
  'AvailabilityZone',
  'BillingAccountName',
  'CapacityReservationId',
  'CapacityReservationStatus',
  'ChargeClass',
  'CommitmentDiscountCategory',
  'CommitmentDiscountId',
  'CommitmentDiscountName',
  'CommitmentDiscountQuantity',
  'CommitmentDiscountStatus',
  'CommitmentDiscountType',
  'CommitmentDiscountUnit',
  'CommitmentProgramEligibilityDetails',
  'ContractApplied',
  'ContractedUnitPrice',
  'InvoiceDetailId',
  'InvoiceId',
  'ListUnitPrice',
  'PricingCurrencyContractedUnitPrice',
  'PricingCurrencyListUnitPrice',
  'ProviderName',
  'PublisherName',
  'RegionId',
  'RegionName',
  'SkuPriceDetails',
  'Tags',
  'x_DisplayName',
  'x_ExternalId',
  'x_MemoryMb',
  'x_ResourceStatus',
];

/** The days of a month in every column of FOCUS, in the order of the report, by hand over one flat table. */
export function focusByHand(month: string): string {
  const columns = [
    ...Object.entries(filled).map(([name, value]) => `${value} as "${name}"`),
    ...empty.map((name) => `cast(null as varchar) as "${name}"`),
  ];
  return `select ${columns.join(', ')} from (
    select
      account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, unit,
      date_trunc('month', bucket_start) as month, date_trunc('day', bucket_start) as day, sum(cost) as cost, sum(usage) as usage
    from flat
    where ${month}
    group by all
  ) order by account, day, workspace, resource_type, resource_name, resource_uuid, billing_dimension`;
}
