import { describe, expect, test } from 'vitest';
import { orderedQuery, readReports } from '../../src/reports/questions/catalogue.ts';
import {
  type FocusVersion,
  focusAsked,
  focusColumns,
  focusMetadata,
  focusVersions,
  newestLoad,
} from '../../src/reports/questions/focus.ts';
import type { Connection, SqlRow } from '../../src/warehouse/store/connection.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

/** Does something with given books and closes them. */
async function withBooks<T>(given: Given, work: (connection: Connection) => Promise<T>): Promise<T> {
  const books = await givenBooks(given);
  try {
    return await work(books.connection);
  } finally {
    books.close();
  }
}

/** September was closed after load 1. */
const septemberIsClosed = `insert into ledger.closes values
  ('2026-09-01', 'acc_one', 1, 1, '2026-10-05', 1, 1, 0, 0, '', null, null, null, null, null, null, null, null, null)`;

interface Asked {
  readonly month?: string;
  readonly version?: FocusVersion;
  readonly withDeprecated?: boolean;
  readonly accountName?: string;
  readonly grain?: 'hourly' | 'daily';
}

async function askFocus(connection: Connection, asked: Asked = {}): Promise<SqlRow[]> {
  const { month = '2026-09-01', version = '1.4', withDeprecated = false, accountName = null, grain = 'hourly' } = asked;
  const report = (await readReports('/nowhere')).find(({ name }) => name === 'focus');
  if (report === undefined) throw new Error('there is no report focus');
  return connection.rows(orderedQuery(report, focusColumns(version, { withDeprecated })), {
    month,
    focus_version: version,
    deprecated_columns: withDeprecated,
    provider: 'Cloud Workload Platform',
    account_name: accountName,
    grain,
  });
}

function focusOf(given: Given, asked?: Asked): Promise<SqlRow[]> {
  return withBooks(given, (connection) => askFocus(connection, asked));
}

/** Only these columns of each row. */
function cut(rows: readonly SqlRow[], ...columns: string[]): unknown[][] {
  return rows.map((row) => columns.map((column) => row[column]));
}

describe('focus', () => {
  test('has every column of FOCUS 1.4 for an hour of a resource, and null for what the platform does not report', async () => {
    const [row] = await focusOf({
      accounts: [{ name: 'Production' }],
      costs: [{ bucket_start: '2026-09-03 05:00:00', cost: '0.000000123457', usage: '12.5' }],
    });
    const told = Object.fromEntries(Object.entries(row ?? {}).filter(([, value]) => value !== null));
    expect(told).toEqual({
      BilledCost: '0.000000123457',
      BillingAccountId: 'acc_one',
      BillingAccountName: 'Production',
      BillingAccountType: 'Account',
      BillingCurrency: 'USD',
      BillingPeriodEnd: '2026-10-01 00:00:00',
      BillingPeriodStart: '2026-09-01 00:00:00',
      ChargeCategory: 'Usage',
      ChargeDescription: 'Sandbox Compute Runtime - box (north)',
      ChargeFrequency: 'Usage-Based',
      ChargePeriodEnd: '2026-09-03 06:00:00',
      ChargePeriodStart: '2026-09-03 05:00:00',
      ConsumedQuantity: '12.500000',
      ConsumedUnit: 'GB-Seconds',
      ContractedCost: '0.000000123457',
      EffectiveCost: '0.000000123457',
      HostProviderName: 'Cloud Workload Platform',
      InvoiceIssuerName: 'Cloud Workload Platform',
      ListCost: '0.000000123457',
      PricingCategory: 'Standard',
      PricingCurrency: 'USD',
      PricingCurrencyEffectiveCost: '0.000000123457',
      PricingQuantity: '12.500000',
      PricingUnit: 'GB-Seconds',
      ResourceId: 'sbx-1',
      ResourceName: 'box',
      ResourceType: 'Sandbox',
      ServiceCategory: 'Compute',
      ServiceName: 'Sandboxes',
      ServiceProviderName: 'Cloud Workload Platform',
      ServiceSubcategory: 'Serverless Compute',
      SkuId: 'sandbox_compute_runtime_gbs',
      SkuMeter: 'Sandbox Compute Runtime',
      SkuPriceId: 'sandbox_compute_runtime_gbs',
      SubAccountId: 'north',
      SubAccountName: 'north',
      SubAccountType: 'Workspace',
      x_BillingDimension: 'sandbox_compute_runtime_gbs',
      x_Resolution: 'hourly',
      x_ResourceName: 'box',
      x_ResourceTypeRaw: 'sandbox',
      x_ResourceUuid: 'sbx-1',
    });
  });

  test('has 65 columns of 1.4 and 57 of 1.2 in alphabetical order, then nine of its own', async () => {
    const given = { costs: [{ cost: '1' }] };
    const [newest = {}] = await focusOf(given, { version: '1.4' });
    const [older = {}] = await focusOf(given, { version: '1.2' });
    const [deprecated = {}] = await focusOf(given, { version: '1.4', withDeprecated: true });
    const own = Object.keys(newest).filter((name) => name.startsWith('x_'));
    expect(own).toHaveLength(9);
    for (const [row, count] of [
      [newest, 65],
      [older, 57],
      [deprecated, 67],
    ] as const) {
      const names = Object.keys(row);
      expect(names).toHaveLength(count + 9);
      expect(names).toEqual([...names.slice(0, count).sort(), ...own]);
    }
    const added = Object.keys(deprecated).filter((name) => !(name in newest));
    expect(added).toEqual(['ProviderName', 'PublisherName']);
    expect(cut([older, deprecated], ...added, 'InvoiceIssuerName')).toEqual(
      [1, 2].map(() => ['Cloud Workload Platform', 'Cloud Workload Platform', 'Cloud Workload Platform']),
    );
  });

  test('bills a correction in the month that delivers it, charged to the hour in which it was incurred', async () => {
    const hour = '2026-09-30 23:00:00';
    const given: Given = {
      costs: [
        { bucket_start: hour, cost: '1.5', usage: '3', load_number: 2 },
        { bucket_start: '2026-10-01 00:00:00', cost: '0.25', usage: '1' },
      ],
      restatements: [{ bucket_start: hour, old_cost: '2', new_cost: '1.5', old_usage: '5', new_usage: '3' }],
      loads: [{}, { load_number: 2 }],
    };
    await withBooks(given, async (connection) => {
      await connection.run(septemberIsClosed);
      const columns = ['ChargeClass', 'BillingPeriodStart', 'ChargePeriodStart', 'ChargePeriodEnd', 'BilledCost'];
      expect(cut(await askFocus(connection), ...columns, 'ConsumedQuantity')).toEqual([
        [null, '2026-09-01 00:00:00', '2026-09-30 23:00:00', '2026-10-01 00:00:00', '2.000000000000', '5.000000'],
      ]);
      const october = await askFocus(connection, { month: '2026-10-01' });
      expect(cut(october, ...columns, 'PricingQuantity', 'ChargeCategory')).toEqual([
        [
          'Correction',
          '2026-10-01 00:00:00',
          '2026-09-30 23:00:00',
          '2026-10-01 00:00:00',
          '-0.500000000000',
          '-2.000000',
          'Usage',
        ],
        [
          null,
          '2026-10-01 00:00:00',
          '2026-10-01 00:00:00',
          '2026-10-01 01:00:00',
          '0.250000000000',
          '1.000000',
          'Usage',
        ],
      ]);
    });
  });

  test('has no sub-account without a workspace, and identifies a resource without uuid by its place or not at all', async () => {
    const hour = (of: number) => `2026-09-01 0${of}:00:00`;
    const rows = await focusOf({
      costs: [
        { bucket_start: hour(0), cost: '1', workspace: null },
        { bucket_start: hour(1), cost: '1', resource_uuid: null, resource_type: 'volume' },
        { bucket_start: hour(2), cost: '1', resource_uuid: null, workspace: null },
        { bucket_start: hour(3), cost: '1', resource_uuid: null, resource_name: null },
        { bucket_start: hour(4), cost: '1', resource_name: null },
      ],
    });
    expect(
      cut(rows, 'SubAccountId', 'SubAccountName', 'SubAccountType', 'ResourceId', 'ResourceName', 'ResourceType'),
    ).toEqual([
      [null, null, null, 'sbx-1', 'box', 'Sandbox'],
      ['north', 'north', 'Workspace', 'acc_one/north/volume/box', 'box', 'Volume'],
      [null, null, null, null, null, null],
      ['north', 'north', 'Workspace', null, null, null],
      ['north', 'north', 'Workspace', 'sbx-1', null, 'Sandbox'],
    ]);
    expect(cut(rows, 'ChargeDescription', 'x_ResourceName', 'x_ResourceUuid', 'x_ResourceTypeRaw')).toEqual([
      ['Sandbox Compute Runtime - box', 'box', 'sbx-1', 'sandbox'],
      ['Sandbox Compute Runtime - box (north)', 'box', null, 'volume'],
      ['Sandbox Compute Runtime - box', 'box', null, 'sandbox'],
      ['Sandbox Compute Runtime (north)', null, null, 'sandbox'],
      ['Sandbox Compute Runtime (north)', null, 'sbx-1', 'sandbox'],
    ]);
  });

  test('maps each billing dimension of the platform to a service and unit, and others by their suffix', async () => {
    const dimensions = [
      'gpu_runtime_gbs',
      'gpu_lease_hours',
      'gpu_calls_count',
      'gpu_tokens',
      'agent_async_requests_count',
      'volume_storage_gbs',
      'custom_domain_active_time_hours',
      null,
    ];
    const rows = await focusOf({
      costs: dimensions.map((billing_dimension, index) => ({
        billing_dimension,
        bucket_start: `2026-09-01 0${index}:00:00`,
        cost: '1',
        usage: '2',
      })),
    });
    const columns = ['SkuId', 'SkuMeter', 'ConsumedUnit', 'ServiceName', 'ServiceCategory', 'ServiceSubcategory'];
    const other = ['Other', 'Other', 'Other (Other)'];
    expect(cut(rows, ...columns)).toEqual([
      ['gpu_runtime_gbs', 'Gpu Runtime', 'GB-Seconds', ...other],
      ['gpu_lease_hours', 'Gpu Lease', 'Hours', ...other],
      ['gpu_calls_count', 'Gpu Calls', 'Counts', ...other],
      ['gpu_tokens', 'Gpu Tokens', 'Units', ...other],
      ['agent_async_requests_count', 'Agent Async Requests', 'Requests', 'Agents', 'Compute', 'Serverless Compute'],
      ['volume_storage_gbs', 'Volume Storage', 'GB-Seconds', 'Volumes', 'Storage', 'Block Storage'],
      [
        'custom_domain_active_time_hours',
        'Custom Domain Active Time',
        'Hours',
        'Custom Domains',
        'Networking',
        'Application Networking',
      ],
      [null, null, null, ...other],
    ]);
    // An unnamed dimension has no price and therefore no quantity, but its cost is there.
    expect(
      cut(rows.slice(-1), 'SkuPriceId', 'PricingQuantity', 'ConsumedQuantity', 'PricingUnit', 'BilledCost'),
    ).toEqual([[null, null, null, null, '1.000000000000']]);
  });

  test('has one map entry for each billing dimension that the platform lists', async () => {
    await withBooks({ costs: [{ cost: '1' }] }, async (connection) => {
      expect(
        await connection.rows(
          `select billing_dimension, count(focus_dimensions.unit) as known
          from ledger.billing_dimensions as listed left join focus_dimensions using (billing_dimension)
          group by billing_dimension having known <> 1`,
        ),
      ).toEqual([]);
      // No listed dimension is mapped by its suffix.
      expect(await connection.rows(`select * from focus_dimensions where service_name = 'Other'`)).toEqual([]);
      expect(
        await connection.rows(
          `select service_name from focus_dimensions group by service_name
          having count(distinct service_category) <> 1 or count(distinct service_subcategory) <> 1`,
        ),
      ).toEqual([]);
    });
  });

  test('includes usage without cost, and credits', async () => {
    const rows = await focusOf({
      costs: [
        { bucket_start: '2026-09-01 00:00:00', cost: '0', usage: '7' },
        { bucket_start: '2026-09-01 01:00:00', cost: '-3.25', usage: '0' },
        { bucket_start: '2026-09-01 02:00:00', cost: '0', usage: '0' },
      ],
    });
    expect(cut(rows, 'BilledCost', 'EffectiveCost', 'ListCost', 'PricingQuantity', 'ChargeCategory')).toEqual([
      ['0.000000000000', '0.000000000000', '0.000000000000', '7.000000', 'Usage'],
      ['-3.250000000000', '-3.250000000000', '-3.250000000000', '0.000000', 'Usage'],
    ]);
  });

  test('adds up to the books to the last digit in every version', async () => {
    const costs = Array.from({ length: 300 }, (_, index) => ({
      bucket_start: `2026-09-${String(1 + (index % 30)).padStart(2, '0')} ${String(index % 24).padStart(2, '0')}:00:00`,
      resource_uuid: `sbx-${index}`,
      cost: `${index % 7}.00000000000${1 + (index % 9)}`,
      usage: `${index}.00000${index % 10}`,
    }));
    await withBooks({ costs }, async (connection) => {
      const [source] = await connection.rows(
        `select count(*) as rows, sum(cost) as cost, sum(usage) as usage from costs`,
      );
      const report = (await readReports('/nowhere')).find(({ name }) => name === 'focus');
      if (report === undefined) throw new Error('there is no report focus');
      for (const version of focusVersions) {
        const query = orderedQuery(report, focusColumns(version, { withDeprecated: false }));
        const sqlValue = {
          month: '2026-09-01',
          focus_version: version,
          deprecated_columns: false,
          provider: 'p',
          account_name: null,
          grain: 'hourly',
        };
        const [sums] = await connection.rows(
          `select count(*) as rows, sum(BilledCost) as cost, sum(ConsumedQuantity) as usage from (${query})`,
          sqlValue,
        );
        expect(sums).toEqual(source);
        const types = await connection.rows(`select column_name, column_type from (describe ${query})`, sqlValue);
        const typed = Object.fromEntries(types.map((row) => [row['column_name'], row['column_type']]));
        expect(typed).toMatchObject({
          BilledCost: 'DECIMAL(38,12)',
          EffectiveCost: 'DECIMAL(38,12)',
          ConsumedQuantity: 'DECIMAL(18,6)',
          ListUnitPrice: 'DECIMAL(38,18)',
          Tags: 'VARCHAR',
          ChargeClass: 'VARCHAR',
          BillingPeriodStart: 'TIMESTAMP',
        });
      }
    });
  });

  test('names each account as the books do, unless a name is given', async () => {
    const given: Given = {
      accounts: [{ name: 'Production' }, { account: 'acc_two' }],
      costs: [{ cost: '1' }, { cost: '1', account: 'acc_two' }, { cost: '1', account: 'acc_zzz' }],
    };
    expect(cut(await focusOf(given), 'BillingAccountId', 'BillingAccountName')).toEqual([
      ['acc_one', 'Production'],
      ['acc_two', null],
      ['acc_zzz', null],
    ]);
    expect(cut(await focusOf(given, { accountName: 'Ours' }), 'BillingAccountName')).toEqual([
      ['Ours'],
      ['Ours'],
      ['Ours'],
    ]);
  });
});

describe('the FOCUS settings of a report', () => {
  const asked = (values: Record<string, string | boolean | null>) =>
    focusAsked(Object.entries(values).map(([name, sqlValue]) => ({ name, sqlValue })));

  test('are undefined for a report without a version', () => {
    expect(asked({ month: '2026-09-01' })).toBeUndefined();
  });

  test('are an existing version, deprecated columns if it has any, and a provider', () => {
    expect(asked({ focus_version: '1.2', deprecated_columns: false, provider: 'p' })?.version).toBe('1.2');
    expect(() => asked({ focus_version: '1.5' })).toThrow('focus_version is 1.5, expected 1.4, 1.3, 1.2');
    expect(() => asked({ focus_version: null })).toThrow('focus_version is none, expected 1.4, 1.3, 1.2');
    for (const version of ['1.2', '1.3']) {
      expect(() => asked({ focus_version: version, deprecated_columns: true })).toThrow(
        `FOCUS ${version} has no deprecated columns`,
      );
    }
    expect(() => asked({ focus_version: '1.4', grain: 'weekly' })).toThrow('grain is weekly, expected hourly or daily');
    expect(() => asked({ focus_version: '1.4', provider: null })).toThrow('provider is *, expected a name');
  });
});

describe("the export's metadata", () => {
  test('describes every column by its type, and has the date of the newest load', () => {
    const columns = [
      { name: 'BilledCost', type: 'DECIMAL(18,12)' },
      { name: 'BillingPeriodStart', type: 'TIMESTAMP' },
      { name: 'SkuId', type: 'VARCHAR' },
      { name: 'SkuPriceDetails', type: 'VARCHAR' },
      { name: 'Tags', type: 'VARCHAR' },
      { name: 'x_MemoryMb', type: 'INTEGER' },
    ];
    const text = focusMetadata('1.4', columns, '2026-10-04T02:00:00Z');
    expect(JSON.parse(text)).toEqual({
      DataGenerator: 'Costbook',
      SchemaId: expect.stringMatching(/^costbook-cost-and-usage-1\.4-[0-9a-f]{8}$/),
      FocusVersion: '1.4',
      CreationDate: '2026-10-04T02:00:00Z',
      DataGeneratorVersion: '3',
      DatasetInstanceId: 'costbook-cost-and-usage',
      ColumnDefinition: [
        { ColumnName: 'BilledCost', DataType: 'DECIMAL', NumericPrecision: 18, NumberScale: 12 },
        { ColumnName: 'BillingPeriodStart', DataType: 'DATETIME' },
        { ColumnName: 'SkuId', DataType: 'STRING', StringEncoding: 'UTF-8' },
        { ColumnName: 'SkuPriceDetails', DataType: 'JSON', StringEncoding: 'UTF-8' },
        { ColumnName: 'Tags', DataType: 'JSON', StringEncoding: 'UTF-8', ProviderTagPrefixes: [] },
        { ColumnName: 'x_MemoryMb', DataType: 'DECIMAL', NumericPrecision: 10, NumberScale: 0 },
      ],
    });
    expect(focusMetadata('1.4', columns, '2026-10-04T02:00:00Z')).toBe(text);
  });

  test('names another schema if the columns differ, but not if only the load does', () => {
    const columns = [{ name: 'BilledCost', type: 'DECIMAL(18,12)' }];
    const schemaOf = (...args: Parameters<typeof focusMetadata>) => JSON.parse(focusMetadata(...args))['SchemaId'];
    const schema = schemaOf('1.4', columns, '2026-10-04T02:00:00Z');
    expect(schemaOf('1.4', columns, undefined)).toBe(schema);
    expect(schemaOf('1.4', [{ name: 'BilledCost', type: 'DOUBLE' }], undefined)).not.toBe(schema);
    expect(schemaOf('1.2', columns, undefined)).not.toBe(schema);
    expect(JSON.parse(focusMetadata('1.4', columns, undefined))).not.toHaveProperty('CreationDate');
  });

  test('has the newest load of the month and of its corrections', async () => {
    const hour = '2026-09-30 23:00:00';
    const october = { window_start: '2026-10-01', window_end: '2026-10-08', claimed_end: '2026-10-08' };
    const september = { window_start: '2026-09-24', window_end: '2026-10-01', claimed_end: '2026-10-01' };
    const given: Given = {
      accounts: [{}],
      costs: [{ bucket_start: hour, cost: '1', load_number: 3 }],
      restatements: [
        { bucket_start: hour, old_cost: '2', new_cost: '1', old_usage: '0', new_usage: '0', load_number: 3 },
      ],
      loads: [
        { ...september, seen_at: '2026-10-02 01:00:00' },
        { ...october, load_number: 2, seen_at: '2026-10-09 01:00:00' },
        { ...september, load_number: 3, seen_at: '2026-10-20 01:00:00.123' },
      ],
      covered: [
        { ...september, load_number: 3, since_load: 3 },
        { ...october, load_number: 2, since_load: 2 },
      ],
    };
    await withBooks(given, async (connection) => {
      expect(await newestLoad(connection, '2026-10-01')).toBe('2026-10-09T01:00:00Z');
      await connection.run(septemberIsClosed);
      expect(await newestLoad(connection, '2026-10-01')).toBe('2026-10-20T01:00:00Z');
      expect(await newestLoad(connection, '2026-12-01')).toBeUndefined();
    });
  });
});

describe('focus by day', () => {
  test('sums the hours of a day, credits and corrections separately, with a row per set of labels', async () => {
    const hour = (text: string) => `2026-10-${text}:00:00`;
    const row = { cost: '1.000000000001', usage: '3' };
    const state = { resource_uuid: 'sbx-1', region: 'eu-1' };
    const given: Given = {
      costs: [
        ...['03 05', '03 06', '03 20', '03 23', '04 00'].map((text) => ({ ...row, bucket_start: hour(text) })),
        { bucket_start: '2026-09-30 23:00:00', cost: '1.5', load_number: 2 },
      ],
      restatements: [{ bucket_start: '2026-09-30 23:00:00', old_cost: '2', new_cost: '1.5' }],
      loads: [{}, { load_number: 2 }],
      resources: [
        { ...state, labels: '{"team":"a"}', valid_to: hour('03 05'), ended_at: hour('05 00'), status: 'BUILT' },
        { ...state, labels: '{"team":"a"}', valid_from: hour('03 05'), valid_to: hour('03 22'), status: 'DEPLOYED' },
        { ...state, labels: '{"team":"b"}', valid_from: hour('03 22'), status: 'DEPLOYED' },
      ],
    };
    const rows = await withBooks(given, async (connection) => {
      await connection.run(septemberIsClosed);
      return askFocus(connection, { month: '2026-10-01', grain: 'daily' });
    });
    const columns = ['ChargePeriodStart', 'ChargePeriodEnd', 'ChargeClass', 'BilledCost', 'ConsumedQuantity', 'Tags'];
    expect(cut(rows, ...columns, 'x_ResourceStatus', 'x_Resolution')).toEqual([
      [
        '2026-09-30 00:00:00',
        '2026-10-01 00:00:00',
        'Correction',
        '-0.500000000000',
        '0.000000',
        '{"team":"a"}',
        'BUILT',
        'daily',
      ],
      ...[
        ['03', '04', '3.000000000003', '9.000000', 'a'],
        ['03', '04', '1.000000000001', '3.000000', 'b'],
        ['04', '05', '1.000000000001', '3.000000', 'b'],
      ].map(([from, to, cost, usage, team]) => [
        `2026-10-${from} 00:00:00`,
        `2026-10-${to} 00:00:00`,
        null,
        cost,
        usage,
        `{"team":"${team}"}`,
        'DEPLOYED',
        'daily',
      ]),
    ]);
  });
});

describe('focus and resource listings', () => {
  const told = [
    'ResourceName',
    'RegionId',
    'RegionName',
    'Tags',
    'x_DisplayName',
    'x_ExternalId',
    'x_MemoryMb',
    'x_ResourceStatus',
  ] as const;
  const hour = { bucket_start: '2026-09-03 05:00:00', cost: '1', usage: '1' };

  test('fill tags, region and own columns as of the hour, without changing sums', async () => {
    const rows = await focusOf({
      costs: [hour, { ...hour, bucket_start: '2026-09-03 06:00:00' }, { ...hour, resource_name: 'unlisted' }],
      resources: [
        {
          ...{ labels: '{"env":"dev"}', valid_to: '2026-09-03 05:30:00', ended_at: '2026-09-04' },
          ...{ display_name: 'Box', external_id: 'x-1', region: 'eu-1', memory_mb: 2048 },
        },
        { valid_from: '2026-09-03 05:30:00', recorded_at: '2026-09-04', region: 'us-1', status: 'TERMINATED' },
      ],
    });
    expect(cut(rows, ...told)).toEqual([
      ['Box', 'eu-1', 'eu-1', '{"env":"dev"}', 'Box', 'x-1', 2048, 'DEPLOYED'],
      ['unlisted', null, null, null, null, null, null, null],
      ['box', 'us-1', 'us-1', null, null, null, null, 'TERMINATED'],
    ]);
    expect(rows.map((row) => row['BilledCost'])).toEqual(['1.000000000000', '1.000000000000', '1.000000000000']);
  });

  test('write labels as ASCII JSON tags', async () => {
    const labels = { équipe: 'データ\n"基盤"', emoji: '🤷🏽‍♀️', formula: '=1+1', path: 'c:\\x\u007f' };
    const [row] = await focusOf({ costs: [hour], resources: [{ labels: JSON.stringify(labels) }] });
    expect(row?.['Tags']).toMatch(/^\p{ASCII}*$/u);
    expect(JSON.parse(String(row?.['Tags']))).toEqual(labels);
  });

  test('describe a correction as the resource was in its hour', async () => {
    const rows = await withBooks(
      {
        costs: [{ ...hour, load_number: 2 }],
        loads: [{ row_count: 1 }, { load_number: 2, seen_at: '2026-10-20 01:00:00' }],
        covered: [{ window_end: '2026-10-01' }],
        restatements: [
          {
            ...{ bucket_start: hour.bucket_start, old_cost: '3', old_usage: '1', new_cost: '1', new_usage: '1' },
            ...{ load_number: 2, seen_at: '2026-10-20 01:00:00' },
          },
        ],
        resources: [
          { region: 'eu-1', valid_to: '2026-10-10', ended_at: '2026-10-10' },
          { region: 'us-1', valid_from: '2026-10-10', recorded_at: '2026-10-10' },
        ],
      },
      async (connection) => {
        await connection.run(septemberIsClosed);
        return askFocus(connection, { month: '2026-10-01' });
      },
    );
    expect(cut(rows, 'ChargeClass', 'BilledCost', 'RegionId')).toEqual([['Correction', '-2.000000000000', 'eu-1']]);
  });
});
