import { createHash } from 'node:crypto';
import { UsageError } from '../errors.ts';
import { type Connection, readSql, type SqlColumn } from '../warehouse/index.ts';
import type { ParameterValue } from './parameters.ts';

/** The versions of FOCUS that can be asked for; the first is what is written where none is named. */
export const focusVersions = ['1.4', '1.3', '1.2'] as const;
export type FocusVersion = (typeof focusVersions)[number];

/** What a row of an export can be of; the first is what is written where none is named. */
export const focusGrains = ['hourly', 'daily'] as const;

/**
 * The version of the mapping in sql/reports/focus.sql: it grows when the same books are told otherwise. The program's
 * own version is no part of an export: a newer program must give the same bytes.
 */
const mappingVersion = '3';

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

/** Columns that 1.3 added. */
const columnsSince13 = [
  'AllocatedMethodDetails',
  'AllocatedMethodId',
  'AllocatedResourceId',
  'AllocatedResourceName',
  'AllocatedTags',
  'ContractApplied',
  'HostProviderName',
  'ServiceProviderName',
] as const;
/** Columns that 1.4 deprecated, though its rule model still asks for them. */
const deprecatedIn14 = ['ProviderName', 'PublisherName'] as const;

/** Columns that a version has beside the shared ones, and those that it deprecated but its readers may still ask for. */
const versionColumns: Readonly<Record<FocusVersion, { own: readonly string[]; deprecated: readonly string[] }>> = {
  '1.4': {
    own: [...columnsSince13, 'CommitmentProgramEligibilityDetails', 'InvoiceDetailId'],
    deprecated: deprecatedIn14,
  },
  '1.3': { own: [...columnsSince13, ...deprecatedIn14], deprecated: [] },
  '1.2': { own: deprecatedIn14, deprecated: [] },
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

const tagColumns = new Set(['AllocatedTags', 'Tags']);
const jsonColumns = new Set([
  ...tagColumns,
  'AllocatedMethodDetails',
  'CommitmentProgramEligibilityDetails',
  'ContractApplied',
  'SkuPriceDetails',
]);

const withDeprecatedColumns = focusVersions
  .filter((version) => versionColumns[version].deprecated.length > 0)
  .join(', ');

/** What is asked of a report that is told in FOCUS. */
export interface FocusAsked {
  readonly version: FocusVersion;
  /** Of all that the report's SQL answers with, in the order in which they are written. */
  readonly columns: readonly string[];
}

/**
 * What a report's parameters ask of FOCUS: a report with a parameter `focus_version` is told in it, others are not
 * (undefined). Throws UsageError for a version that there is not, for deprecated columns of one that has none, and for
 * no provider.
 */
export function focusAsked(values: readonly Pick<ParameterValue, 'name' | 'sqlValue'>[]): FocusAsked | undefined {
  const asked = values.find(({ name }) => name === 'focus_version');
  if (asked === undefined) return undefined;
  const version = focusVersions.find((candidate) => candidate === asked.sqlValue);
  if (version === undefined) {
    throw new UsageError(`focus_version is ${asked.sqlValue ?? 'none'}, expected ${focusVersions.join(', ')}`);
  }
  const grain = values.find(({ name }) => name === 'grain');
  if (grain !== undefined && !focusGrains.some((known) => known === grain.sqlValue)) {
    throw new UsageError(`grain is ${grain.sqlValue ?? 'none'}, expected ${focusGrains.join(' or ')}`);
  }
  if (values.some(({ name, sqlValue }) => name === 'provider' && sqlValue === null)) {
    throw new UsageError('provider is *, expected a name: FOCUS wants one in every row');
  }
  const withDeprecated = values.some(({ name, sqlValue }) => name === 'deprecated_columns' && sqlValue === true);
  if (withDeprecated && versionColumns[version].deprecated.length === 0) {
    throw new UsageError(
      `FOCUS ${version} has no deprecated columns: leave --with-deprecated-columns out; only ${withDeprecatedColumns} has any`,
    );
  }
  return { version, columns: focusColumns(version, { withDeprecated }) };
}

/** The defaults of a report's provider and account name, as the configuration has them. */
export function namesOfFocus({
  provider,
  accountName,
}: {
  readonly provider: string;
  readonly accountName: string | undefined;
}): Readonly<Record<string, string | undefined>> {
  return { provider, account_name: accountName };
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
  const [row] = await connection.rows(await readSql('publish', 'newest_load'), { month });
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
  if (type.startsWith('TIMESTAMP')) return { DataType: 'DATETIME' };
  return {
    DataType: jsonColumns.has(name) ? 'JSON' : 'STRING',
    StringEncoding: 'UTF-8',
    ...(tagColumns.has(name) ? { ProviderTagPrefixes: [] } : {}),
  };
}
