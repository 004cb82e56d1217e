import { createHash } from 'node:crypto';
import type { Connection, SqlColumn } from '../warehouse/index.ts';

/** The report whose columns are those of a FOCUS version. */
export const focusReport = 'focus';

/** The versions of FOCUS that can be asked for; the first is what is written where none is named. */
export const focusVersions = ['1.4', '1.2'] as const;
export type FocusVersion = (typeof focusVersions)[number];

/**
 * The version of the mapping in sql/reports/focus.sql: it grows when the same books are told otherwise. The program's
 * own version is no part of an export: a newer program must give the same bytes.
 */
const mappingVersion = '1';

/** Columns of the Cost and Usage dataset that every version has. */
const sharedColumns = [
  'AvailabilityZone',
  'BilledCost',
  'BillingAccountId',
  'BillingAccountName',
  'BillingAccountType',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'CapacityReservationId',
  'CapacityReservationStatus',
  'ChargeCategory',
  'ChargeClass',
  'ChargeDescription',
  'ChargeFrequency',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'CommitmentDiscountCategory',
  'CommitmentDiscountId',
  'CommitmentDiscountName',
  'CommitmentDiscountQuantity',
  'CommitmentDiscountStatus',
  'CommitmentDiscountType',
  'CommitmentDiscountUnit',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ContractedCost',
  'ContractedUnitPrice',
  'EffectiveCost',
  'InvoiceId',
  'InvoiceIssuerName',
  'ListCost',
  'ListUnitPrice',
  'PricingCategory',
  'PricingCurrency',
  'PricingCurrencyContractedUnitPrice',
  'PricingCurrencyEffectiveCost',
  'PricingCurrencyListUnitPrice',
  'PricingQuantity',
  'PricingUnit',
  'RegionId',
  'RegionName',
  'ResourceId',
  'ResourceName',
  'ResourceType',
  'ServiceCategory',
  'ServiceName',
  'ServiceSubcategory',
  'SkuId',
  'SkuMeter',
  'SkuPriceDetails',
  'SkuPriceId',
  'SubAccountId',
  'SubAccountName',
  'SubAccountType',
  'Tags',
] as const;

/** Columns that a version has beside the shared ones, and those that it gave up but its readers may still ask for. */
const versionColumns: Readonly<Record<FocusVersion, { own: readonly string[]; deprecated: readonly string[] }>> = {
  '1.4': {
    own: [
      'AllocatedMethodDetails',
      'AllocatedMethodId',
      'AllocatedResourceId',
      'AllocatedResourceName',
      'AllocatedTags',
      'CommitmentProgramEligibilityDetails',
      'ContractApplied',
      'HostProviderName',
      'InvoiceDetailId',
      'ServiceProviderName',
    ],
    deprecated: ['ProviderName', 'PublisherName'],
  },
  '1.2': { own: ['ProviderName', 'PublisherName'], deprecated: [] },
};

/** What the platform itself tells and FOCUS has no column for, as it was told; FOCUS wants such names to begin with x_. */
const customColumns = [
  'x_BillingDimension',
  'x_DisplayName',
  'x_ExternalId',
  'x_MemoryMb',
  'x_Resolution',
  'x_ResourceName',
  'x_ResourceStatus',
  'x_ResourceTypeRaw',
  'x_ResourceUuid',
] as const;

const dateTimeColumns = new Set(['BillingPeriodEnd', 'BillingPeriodStart', 'ChargePeriodEnd', 'ChargePeriodStart']);
const tagColumns = new Set(['AllocatedTags', 'Tags']);
const jsonColumns = new Set([
  ...tagColumns,
  'AllocatedMethodDetails',
  'CommitmentProgramEligibilityDetails',
  'ContractApplied',
  'SkuPriceDetails',
]);

/** Whether a version has columns that `withDeprecated` adds. */
export function hasDeprecatedColumns(version: FocusVersion): boolean {
  return versionColumns[version].deprecated.length > 0;
}

/** The columns of a version in the order in which they are written: FOCUS's own by the alphabet, then the custom ones. */
export function focusColumns(
  version: FocusVersion,
  { withDeprecated }: { withDeprecated: boolean },
): readonly string[] {
  const { own, deprecated } = versionColumns[version];
  return [...[...sharedColumns, ...own, ...(withDeprecated ? deprecated : [])].sort(), ...customColumns];
}

/** When the platform told the newest of what a month's export holds, `2026-11-04T02:00:00Z`; undefined where it told nothing. */
export async function newestLoad(connection: Connection, month: string): Promise<string | undefined> {
  // Corrections lie in hours of earlier months, and those were read again after the month was closed.
  const [row] = await connection.rows(
    `with hours as (
      select
        account,
        cast($month as timestamp) as first_hour,
        cast($month as timestamp) + interval 1 month as last_hour
      from accounts
      union all
      select account, min(bucket_start), max(bucket_end)
      from costs_billed
      where billing_month = cast($month as date) and charge_class = 'Correction'
      group by account
    )
    select strftime(max(coverage.seen_at), '%Y-%m-%dT%H:%M:%SZ') as seen_at
    from coverage
    join hours using (account)
    where coverage.window_start < hours.last_hour and coverage.window_end > hours.first_hour`,
    { month },
  );
  return typeof row?.['seen_at'] === 'string' ? row['seen_at'] : undefined;
}

/**
 * The metadata that goes with an export of these columns, as one JSON text: FOCUS's data generator and schema objects
 * in one. `createdAt` is the newest load in it, so that the same books give the same text; without any load it is left out.
 */
export function focusMetadata(
  version: FocusVersion,
  columns: readonly SqlColumn[],
  createdAt: string | undefined,
): string {
  const definitions = columns.map(({ name, type }) => ({ ColumnName: name, ...definitionOf(name, type) }));
  const hash = createHash('sha256')
    .update(JSON.stringify([version, mappingVersion, definitions]))
    .digest('hex');
  const metadata = {
    DataGenerator: 'Costbook',
    SchemaId: `costbook-cost-and-usage-${version}-${hash.slice(0, 8)}`,
    FocusVersion: version,
    ...(createdAt === undefined ? {} : { CreationDate: createdAt }),
    DataGeneratorVersion: mappingVersion,
    DatasetInstanceId: 'costbook-cost-and-usage',
    ColumnDefinition: definitions,
  };
  return `${JSON.stringify(metadata, null, 2)}\n`;
}

function definitionOf(name: string, type: string): Readonly<Record<string, string | number | readonly string[]>> {
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  if (decimal) return { DataType: 'DECIMAL', NumericPrecision: Number(decimal[1]), NumberScale: Number(decimal[2]) };
  // An integer of 32 bits has at most ten digits.
  if (type === 'INTEGER') return { DataType: 'DECIMAL', NumericPrecision: 10, NumberScale: 0 };
  // Asked as doubles (--parquet-decimals double), a column has no precision that could be promised.
  if (type === 'DOUBLE') return { DataType: 'DECIMAL' };
  if (dateTimeColumns.has(name)) return { DataType: 'DATETIME' };
  return {
    DataType: jsonColumns.has(name) ? 'JSON' : 'STRING',
    StringEncoding: 'UTF-8',
    ...(tagColumns.has(name) ? { ProviderTagPrefixes: [] } : {}),
  };
}
