--! about: The end of a query: FOCUS rows of a month ($month, $focus_version, $deprecated_columns, $grain, $provider,
--! about: $account_name), from the CTEs states and charges_in_order (as charges of focus_charges). They are in that order,
--! about: after what invoices bill, if joins are in order.
described as (
  -- What the platform's invoice bills beyond the usage and the corrections, so that the month adds up to the invoice.
  select
    account,
    billing_month,
    'Adjustment' as charge_category,
    cast(billing_month as timestamp) as period_start,
    billing_month + interval 1 month as period_end,
    invoice_difference as cost
  from closes
  where is_closed and invoice_difference <> 0 and billing_month = cast($month as date)
  union all by name
  select
    charges.series_id,
    charges.billing_month,
    charges.charge_class,
    charges.period_start,
    charges.cost,
    charges.usage,
    charges.status,
    'Usage' as charge_category,
    charges.period_start + case when $grain = 'daily' then interval 1 day else interval 1 hour end as period_end,
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    series.billing_dimension,
    -- Names are unique only within a workspace; without uuid, workspace or name the resource is unknown.
    coalesce(
      series.resource_uuid,
      series.account || '/' || series.workspace || '/' || series.resource_type || '/' || series.resource_name
    ) as resource_id,
    states.display_name,
    states.external_id,
    states.tags,
    states.memory_mb,
    states.region
  from charges_in_order as charges
  join series using (series_id)
  left join states on states.series_id = charges.series_id and states.from_time = charges.state
)
select
  cast(null as varchar) as AllocatedMethodDetails,
  cast(null as varchar) as AllocatedMethodId,
  cast(null as varchar) as AllocatedResourceId,
  cast(null as varchar) as AllocatedResourceName,
  cast(null as varchar) as AllocatedTags,
  cast(null as varchar) as AvailabilityZone,
  described.cost as BilledCost,
  described.account as BillingAccountId,
  coalesce(cast($account_name as varchar), accounts.name) as BillingAccountName,
  'Account' as BillingAccountType,
  'USD' as BillingCurrency,
  described.billing_month + interval 1 month as BillingPeriodEnd,
  cast(described.billing_month as timestamp) as BillingPeriodStart,
  cast(null as varchar) as CapacityReservationId,
  cast(null as varchar) as CapacityReservationStatus,
  described.charge_category as ChargeCategory,
  described.charge_class as ChargeClass,
  case
    when described.charge_category = 'Adjustment' then 'Invoice difference'
    else coalesce(focus_dimensions.meter, 'Other')
      || coalesce(' - ' || described.resource_name, '')
      || coalesce(' (' || described.workspace || ')', '')
  end as ChargeDescription,
  case when described.charge_category = 'Adjustment' then 'One-Time' else 'Usage-Based' end as ChargeFrequency,
  described.period_end as ChargePeriodEnd,
  described.period_start as ChargePeriodStart,
  cast(null as varchar) as CommitmentDiscountCategory,
  cast(null as varchar) as CommitmentDiscountId,
  cast(null as varchar) as CommitmentDiscountName,
  cast(null as decimal(38, 18)) as CommitmentDiscountQuantity,
  cast(null as varchar) as CommitmentDiscountStatus,
  cast(null as varchar) as CommitmentDiscountType,
  cast(null as varchar) as CommitmentDiscountUnit,
  cast(null as varchar) as CommitmentProgramEligibilityDetails,
  case when described.billing_dimension is not null then described.usage end as ConsumedQuantity,
  focus_dimensions.unit as ConsumedUnit,
  cast(null as varchar) as ContractApplied,
  described.cost as ContractedCost,
  cast(null as decimal(38, 18)) as ContractedUnitPrice,
  described.cost as EffectiveCost,
  cast($provider as varchar) as HostProviderName,
  cast(null as varchar) as InvoiceDetailId,
  cast(null as varchar) as InvoiceId,
  cast($provider as varchar) as InvoiceIssuerName,
  described.cost as ListCost,
  cast(null as decimal(38, 18)) as ListUnitPrice,
  case when described.charge_category = 'Usage' then 'Standard' end as PricingCategory,
  'USD' as PricingCurrency,
  cast(null as decimal(38, 18)) as PricingCurrencyContractedUnitPrice,
  described.cost as PricingCurrencyEffectiveCost,
  cast(null as decimal(38, 18)) as PricingCurrencyListUnitPrice,
  case when described.billing_dimension is not null then described.usage end as PricingQuantity,
  focus_dimensions.unit as PricingUnit,
  case when $focus_version <> '1.4' or $deprecated_columns then cast($provider as varchar) end as ProviderName,
  case when $focus_version <> '1.4' or $deprecated_columns then cast($provider as varchar) end as PublisherName,
  described.region as RegionId,
  described.region as RegionName,
  described.resource_id as ResourceId,
  case when described.resource_id is not null then coalesce(described.display_name, described.resource_name) end
    as ResourceName,
  case
    when described.resource_id is null then null
    when described.resource_type = 'sandbox' then 'Sandbox'
    when described.resource_type = 'agent' then 'Agent'
    when described.resource_type = 'job' then 'Batch Job'
    when described.resource_type = 'mcp_server' then 'MCP Server'
    when described.resource_type = 'volume' then 'Volume'
    when described.resource_type = 'custom_domain' then 'Custom Domain'
    else described.resource_type
  end as ResourceType,
  coalesce(focus_dimensions.service_category, 'Other') as ServiceCategory,
  coalesce(focus_dimensions.service_name, 'Other') as ServiceName,
  cast($provider as varchar) as ServiceProviderName,
  coalesce(focus_dimensions.service_subcategory, 'Other (Other)') as ServiceSubcategory,
  described.billing_dimension as SkuId,
  focus_dimensions.meter as SkuMeter,
  cast(null as varchar) as SkuPriceDetails,
  described.billing_dimension as SkuPriceId,
  described.workspace as SubAccountId,
  described.workspace as SubAccountName,
  case when described.workspace is not null then 'Workspace' end as SubAccountType,
  described.tags as Tags,
  described.billing_dimension as x_BillingDimension,
  described.display_name as x_DisplayName,
  described.external_id as x_ExternalId,
  described.memory_mb as x_MemoryMb,
  case when described.charge_category = 'Usage' then cast($grain as varchar) end as x_Resolution,
  described.resource_name as x_ResourceName,
  described.status as x_ResourceStatus,
  described.resource_type as x_ResourceTypeRaw,
  described.resource_uuid as x_ResourceUuid
from described
left join focus_dimensions using (billing_dimension)
left join accounts using (account)
