import { createHash } from 'node:crypto';
import { UsageError } from '../../base/errors.ts';
import { options } from '../../options/table.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection, SqlColumn } from '../../warehouse/store/index.ts';
import type { ParameterValue } from './parameters.ts';

/** The FOCUS versions to choose from; the first is the default. */
export const focusVersions = options.report.focusVersion.choices;
export type FocusVersion = (typeof focusVersions)[number];

/** The charge periods to choose from; the first is the default. */
const focusGrains = options.report.grain.choices;

/**
 * The version of the mapping in sql/reports/focus.sql. Increase it when the same books give different values. An export
 * does not contain the program's version, because a newer program must write the same bytes.
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
/** Columns that 1.4 deprecated, although its rule model still requires them. */
const deprecatedIn14 = ['ProviderName', 'PublisherName'] as const;

/** Columns that a version adds to the shared ones, and deprecated columns that its readers may still need. */
const versionColumns: Readonly<Record<FocusVersion, { own: readonly string[]; deprecated: readonly string[] }>> = {
  '1.4': {
    own: [...columnsSince13, 'CommitmentProgramEligibilityDetails', 'InvoiceDetailId'],
    deprecated: deprecatedIn14,
  },
  '1.3': { own: [...columnsSince13, ...deprecatedIn14], deprecated: [] },
  '1.2': { own: deprecatedIn14, deprecated: [] },
};

/** Values of the platform without a FOCUS column, unchanged. FOCUS requires such names to start with x_. */
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

/** The settings of a report in FOCUS format. */
export interface FocusAsked {
  readonly version: FocusVersion;
  /** The columns of the report's SQL to write, in order. */
  readonly columns: readonly string[];
}

/**
 * The FOCUS settings in a report's parameters; undefined for a report without a parameter `focus_version`. Throws
 * UsageError for an unknown version, for deprecated columns of a version that has none, and for a missing provider.
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
    throw new UsageError('provider is *, expected a name: FOCUS requires one in every row');
  }
  const withDeprecated = values.some(({ name, sqlValue }) => name === 'deprecated_columns' && sqlValue === true);
  if (withDeprecated && versionColumns[version].deprecated.length === 0) {
    throw new UsageError(
      `FOCUS ${version} has no deprecated columns, only ${withDeprecatedColumns} does: leave out --with-deprecated-columns`,
    );
  }
  return { version, columns: focusColumns(version, { withDeprecated }) };
}

/** The defaults of a report's provider and account name, from the configuration. */
export function namesOfFocus({
  provider,
  accountName,
}: {
  readonly provider: string;
  readonly accountName: string | undefined;
}): Readonly<Record<string, string | undefined>> {
  return { provider, account_name: accountName };
}

/** The columns of a version in the order of the file: those of FOCUS alphabetically, then the custom ones. */
export function focusColumns(
  version: FocusVersion,
  { withDeprecated }: { withDeprecated: boolean },
): readonly string[] {
  const { own, deprecated } = versionColumns[version];
  return [...[...sharedColumns, ...own, ...(withDeprecated ? deprecated : [])].sort(), ...customColumns];
}

/** When the newest data in a month's export was loaded, `2026-11-04T02:00:00Z`; undefined if there is none. */
export async function newestLoad(connection: Connection, month: string): Promise<string | undefined> {
  // Corrections are in hours of earlier months, which were fetched again after the month was closed.
  const [row] = await connection.rows(await readSql('publish', 'newest_load'), { month });
  return typeof row?.['seen_at'] === 'string' ? row['seen_at'] : undefined;
}

/**
 * The metadata of an export with these columns, as one JSON text that combines FOCUS's data generator and schema
 * objects. `createdAt` is the time of its newest load, so that the same books give the same text; without a load it is
 * left out.
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
  // With --parquet-decimals double, a column has no exact precision.
  if (type === 'DOUBLE') return { DataType: 'DECIMAL' };
  if (type.startsWith('TIMESTAMP')) return { DataType: 'DATETIME' };
  return {
    DataType: jsonColumns.has(name) ? 'JSON' : 'STRING',
    StringEncoding: 'UTF-8',
    ...(tagColumns.has(name) ? { ProviderTagPrefixes: [] } : {}),
  };
}
