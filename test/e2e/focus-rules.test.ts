// Second tier: Runs the rules of the FOCUS specification over large exports.

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startInventedPlatform } from '../../src/demo/emulated-platform.ts';
import { focusColumns } from '../../src/reports/questions/focus.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import {
  checksOf,
  columnsOfModel,
  type FocusModel,
  failures,
  hasModels,
  type Outcome,
  readModel,
  runModel,
} from '../support/focus-model.ts';
import { type Given, givenBooks } from '../support/given-books.ts';
import { newProject, runCli } from '../support/project.ts';

/** The versions whose rule models are there. */
const modelled = ['1.4', '1.2'] as const;
type Modelled = (typeof modelled)[number];

/** The demo account's display names are of several scripts; the models ask for ASCII, the specification does not. */
const displayNames = {
  '1.2': ['ResourceName-C-002-M'],
  '1.4': ['CAU-ResourceName-C-002-M'],
} as const;

/** What the platform really supports, among the criteria of the models. */
const truthful = [
  'USAGE_MEASUREMENT_SUPPORTED',
  'SUB_ACCOUNT_SUPPORTED',
  'BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED',
  'RESOURCE_TYPE_ASSIGNMENT_SUPPORTED',
  'REGION_SUPPORTED',
  'TAGGING_SUPPORTED',
  'UNIT_PRICING_SUPPORTED',
] as const;

/** Failures that are no fault of the data, each with its reason. */
const falseFailures = {
  // One of two that are joined by OR, and the other one, that an invoice not yet issued has no id, passes.
  invoiceId: { '1.4': [], '1.2': ['InvoiceId-C-005-C'] },
  // The model has "CheckCondition" where it means "ColumnName": rows without a resource are asked for its type.
  resourceType: { '1.4': [], '1.2': ['ResourceType-C-005-C'] },
  // Columns that 1.4 has deprecated are still asked for by its model.
  deprecated: { '1.4': ['CAU-CostAndUsage-D-021-M', 'CAU-CostAndUsage-D-038-M'], '1.2': [] },
  // The conditions are written without a function and get lost: the columns are asked for where there is no commitment.
  lostConditions: {
    '1.4': [],
    '1.2': [
      'CapacityReservationStatus-C-004-C',
      'CommitmentDiscountStatus-C-003-C',
      'CommitmentDiscountStatus-C-004-C',
    ],
  },
  // The models ask for ASCII, the specification does not: names are what the platform says.
  ascii: {
    '1.4': [
      'CAU-ChargeDescription-C-002-M',
      'CAU-ResourceId-C-002-M',
      'CAU-ResourceName-C-002-M',
      'CAU-SubAccountId-C-002-M',
      'CAU-SubAccountName-C-002-M',
    ],
    '1.2': [
      'ChargeDescription-C-002-M',
      'ResourceId-C-002-M',
      'ResourceName-C-002-M',
      'SubAccountId-C-002-M',
      'SubAccountName-C-002-M',
    ],
  },
  // A reader that guesses types takes an id of digits for a number; Parquet has the type.
  digits: { '1.4': ['CAU-BillingAccountId-C-002-M'], '1.2': ['BillingAccountId-C-002-M'] },
} as const satisfies Readonly<Record<string, Readonly<Record<Modelled, readonly string[]>>>>;

/** Failures that are true where every criterion is claimed, because the platform publishes no prices. */
const withoutPrices: Readonly<Record<Modelled, readonly string[]>> = {
  '1.4': [
    'CAU-ContractedUnitPrice-C-006-C',
    'CAU-ContractedUnitPrice-C-015-C',
    'CAU-ListUnitPrice-C-005-C',
    'CAU-ListUnitPrice-C-013-C',
    'CAU-PricingCurrencyContractedUnitPrice-C-005-C',
    'CAU-PricingCurrencyListUnitPrice-C-005-C',
    'CAU-PricingCurrencyListUnitPrice-C-012-C',
  ],
  '1.2': ['ContractedUnitPrice-C-006-C', 'ListUnitPrice-C-005-C', 'PricingCurrencyListUnitPrice-C-005-C'],
};

const models = new Map<Modelled, FocusModel>();
function modelOf(version: Modelled): FocusModel {
  const model = models.get(version) ?? readModel(version);
  models.set(version, model);
  return model;
}

let connection: Connection;
type Files = Readonly<Record<'csv' | 'parquet', string>>;
const demo = new Map<Modelled | 'deprecated' | 'daily' | '1.3', Files>();
const nasty = new Map<Modelled, Files>();
function fileOf<K>(files: ReadonlyMap<K, Files>, key: K, format: 'csv' | 'parquet'): string {
  return files.get(key)?.[format] ?? '';
}

/** Exports a month as a user does, and returns the paths of its files by format. */
async function exported(dir: string, ...args: string[]): Promise<Files> {
  const out = await newProject();
  const command = ['report', 'focus', '--dir', dir, '--month', '2026-10', '--format', 'csv,parquet', '--out', out];
  const { exitCode, stderr } = await runCli([...command, ...args]);
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`);
  const names = await readdir(out, { recursive: true });
  const [csv = '', parquet = ''] = ['.csv', '.parquet'].map((ending) => names.find((name) => name.endsWith(ending)));
  return { csv: join(out, csv), parquet: join(out, parquet) };
}

/** Reads a file into a table, as a tool does that knows nothing of it: a CSV's types are guessed from all of its rows. */
async function load(path: string): Promise<string> {
  const source = path.endsWith('.csv') ? 'read_csv($path, header = true, sample_size = -1)' : 'read_parquet($path)';
  await connection.run(`create or replace temp table exported as from ${source}`, { path });
  return 'exported';
}

async function failing(table: string, version: Modelled, claims: readonly string[]): Promise<string[]> {
  return failures(modelOf(version), await runModel(connection, table, modelOf(version), claims));
}

const names = [
  { workspace: 'north, "east"', resource_name: '=SUM(A1:A9)' },
  { workspace: "o'brien", resource_name: 'two\nlines\r\nand a\ttab' },
  { workspace: '@team', resource_name: '-1+1' },
  { workspace: '😀', resource_name: 'größe 🚀', resource_uuid: null },
  { workspace: null, resource_name: 'nowhere' },
  { workspace: 'north', resource_name: 'no-uuid', resource_uuid: null },
  { workspace: null, resource_name: 'neither', resource_uuid: null },
  { workspace: 'north', resource_name: null, resource_uuid: null },
  { workspace: 'north', billing_dimension: 'quantum_leaps_count', resource_type: 'teleporter' },
  { workspace: 'north', billing_dimension: 'so-called "dimension"; drop table x', resource_type: 'odd' },
  { workspace: 'NULL', resource_name: 'null' },
  { workspace: '007', resource_name: '1e5' },
];

const digitAccount = '123456789012';

/**
 * Books of October with every name that we could think of, each with a cost, with usage that costs nothing and with a
 * credit; a correction of September, which was closed; and an invoice of October that is not what the books bill.
 */
function nastyGiven(): Given {
  const account = digitAccount;
  const late = { account, bucket_start: '2026-09-30 23:00:00' };
  const hours = { window_start: '2026-10-01', window_end: '2026-11-01', claimed_end: '2026-11-01' };
  return {
    accounts: [{ account, name: 'Größe, "Inc."', history_start: '2026-09-01' }],
    loads: [
      { account, ...hours, seen_at: '2026-11-04 02:00:00' },
      { account, load_number: 2, seen_at: '2026-11-04 02:00:00' },
    ],
    restatements: [{ ...late, old_cost: '2', new_cost: '1.5', old_usage: '3', new_usage: '1' }],
    covered: [{ account, ...hours }],
    costs: [
      ...names.flatMap((name, index) =>
        [
          { cost: '0.000000000001', usage: '0.000001' },
          { cost: '0', usage: '7' },
          { cost: '-12.5', usage: '0' },
        ].map((amount, hour) => ({
          account,
          resource_uuid: `sbx-${index}`,
          ...name,
          ...amount,
          bucket_start: `2026-10-${String(index + 1).padStart(2, '0')} 0${hour}:00:00`,
        })),
      ),
      { ...late, cost: '1.5', usage: '1', load_number: 2 },
    ],
  };
}

/** How an export can be broken, and a rule that finds it out (in 1.4 with CAU- in front). */
const mutations: readonly { sql: string; breaks: string; only?: Modelled }[] = [
  { sql: 'alter table exported drop column BilledCost', breaks: 'CostAndUsage-D-006-M' },
  { sql: 'alter table exported alter BillingAccountId type bigint', breaks: 'BillingAccountId-C-002-M' },
  { sql: 'alter table exported alter BilledCost type varchar', breaks: 'BilledCost-C-001-M' },
  {
    sql: `alter table exported alter BilledCost type varchar using '+' || BilledCost`,
    breaks: 'BilledCost-C-002-M',
  },
  {
    sql: `alter table exported alter BillingPeriodStart type varchar using '2026-10-01 00:00:00'`,
    breaks: 'BillingPeriodStart-C-001-M',
  },
  {
    sql: `alter table exported alter BillingPeriodStart type varchar using '2026-19-01T00:00:00Z'`,
    breaks: 'BillingPeriodStart-C-002-M',
  },
  {
    sql: `update exported set ServiceName = 'Sandböxes' where ServiceName = 'Sandboxes'`,
    breaks: 'ServiceName-C-002-M',
  },
  { sql: `update exported set ConsumedUnit = 'GB-seconds'`, breaks: 'ConsumedUnit-C-003-O' },
  { sql: `update exported set PricingUnit = '1000 GB-Seconds'`, breaks: 'PricingUnit-C-003-O' },
  { sql: `update exported set BillingCurrency = 'usd'`, breaks: 'BillingCurrency-C-003-M' },
  { sql: `update exported set BillingCurrency = 'ZZZ'`, breaks: 'BillingCurrency-C-006-M' },
  { sql: `update exported set Tags = 'team=blue'`, breaks: 'Tags-C-001-M' },
  { sql: `update exported set Tags = '{"team": {"name": "blue"}}'`, breaks: 'Tags-C-001-M' },
  { sql: `update exported set Tags = '{"team": "blue", "team": "red"}'`, breaks: 'Tags-C-001-M' },
  { sql: 'alter table exported alter Tags type integer using 5', breaks: 'Tags-C-018-M', only: '1.4' },
  { sql: `update exported set ContractApplied = 'none'`, breaks: 'ContractApplied-C-001-M', only: '1.4' },
  { sql: `update exported set ContractApplied = '{}'`, breaks: 'ContractAppliedObject-O-067-M', only: '1.4' },
  { sql: `update exported set ChargeCategory = 'Usages'`, breaks: 'ChargeCategory-C-003-M' },
  { sql: `update exported set ServiceSubcategory = 'Functions'`, breaks: 'ServiceSubcategory-C-003-M' },
  { sql: `update exported set ServiceSubcategory = 'Block Storage'`, breaks: 'ServiceSubcategory-C-004-M' },
  { sql: `update exported set ServiceName = 'Sandboxes'`, breaks: 'ServiceName-C-005-C' },
  { sql: `update exported set SkuPriceId = 'all of them'`, breaks: 'SkuPriceId-C-008-M' },
  { sql: 'update exported set BilledCost = null', breaks: 'BilledCost-C-003-M' },
  { sql: 'update exported set ConsumedUnit = null', breaks: 'ConsumedUnit-C-006-C' },
  { sql: 'update exported set SkuPriceId = null where ChargeClass is null', breaks: 'SkuPriceId-C-005-C' },
  { sql: 'update exported set PricingQuantity = null', breaks: 'PricingUnit-C-005-C' },
  { sql: 'update exported set ListUnitPrice = -1', breaks: 'ListUnitPrice-C-008-M' },
  { sql: 'update exported set ListUnitPrice = 2', breaks: 'ListCost-C-011-C', only: '1.4' },
  { sql: 'update exported set ListUnitPrice = 2', breaks: 'ListCost-C-009-C', only: '1.2' },
  { sql: `update exported set InvoiceIssuerName = 'Another'`, breaks: 'BilledCost-C-005-C', only: '1.2' },
  {
    sql: `update exported set ChargeCategory = 'Credit', EffectiveCost = BilledCost + 1`,
    breaks: 'EffectiveCost-C-017-C',
    only: '1.4',
  },
];

describe.skipIf(!hasModels)(
  `the official rules of FOCUS${hasModels ? '' : ' (skipped: the rule models are not in ../shared/focus beside the checkout)'}`,
  () => {
    beforeAll(async () => {
      const database = await openDatabase(join(await newProject(), 'rules.duckdb'), { readOnly: false });
      connection = await database.connect();

      const dir = await newProject();
      const now = '2026-11-05T08:00:00Z';
      const platform = await startInventedPlatform({ now: Date.parse(now) }, new AbortController().signal);
      try {
        const { exitCode, stderr } = await runCli(['ingest', '--dir', dir, '--now', now], {
          COSTBOOK_URL: platform.url,
          COSTBOOK_TOKEN: platform.tokens.admin,
          COSTBOOK_ACCOUNT: platform.account,
          COSTBOOK_SINCE: '2026-10-29', // a part of the month has all that there is
        });
        if (exitCode !== 0) throw new Error(stderr);
      } finally {
        await platform.stop();
      }

      const odd = await newProject();
      await mkdir(join(odd, 'data'));
      const books = await givenBooks(nastyGiven(), join(odd, 'data', 'costbook.duckdb'));
      await books.connection.run(`
        insert into ledger.closes values
          ('2026-09-01', '${digitAccount}', 1, 1, '2026-10-05', 1, 2, 0, 0, '', null, null, null, null, null, null, null, null, null),
          ('2026-10-01', '${digitAccount}', 1, 2, '2026-11-05', 36, -149.999999999988, 1, -0.5, '', -150.25, null, null, null, null, null, null, null, null)
      `);
      books.close();
      for (const version of modelled) {
        demo.set(version, await exported(dir, '--focus-version', version));
        nasty.set(version, await exported(odd, '--focus-version', version, '--raw'));
      }
      demo.set('deprecated', await exported(dir, '--with-deprecated-columns'));
      demo.set('daily', await exported(dir, '--with-deprecated-columns', '--grain', 'daily'));
      demo.set('1.3', await exported(dir, '--focus-version', '1.3'));
    }, 300_000);

    test.each(modelled)('the columns of %s are those that its model requires', (version) => {
      const told = new Set(focusColumns(version, { withDeprecated: true }));
      expect(columnsOfModel(modelOf(version)).filter((column) => !told.has(column))).toEqual([]);
    });

    test('every static rule of the models is run where its criterion is claimed, and none is lost', async () => {
      const counts: Record<string, Record<string, number>> = {};
      for (const version of modelled) {
        const table = await load(fileOf(demo, version, 'parquet'));
        for (const [name, claims] of [
          ['none', []],
          ['truthful', truthful],
          ['all', modelOf(version).criteria],
        ] as const) {
          counts[`${version} ${name}`] = tally(await runModel(connection, table, modelOf(version), claims));
        }
      }
      expect(counts).toMatchInlineSnapshot(`
        {
          "1.2 all": {
            "dynamic": 165,
            "empty": 35,
            "executed": 368,
            "never executed": 1,
            "optional": 9,
          },
          "1.2 none": {
            "dynamic": 56,
            "empty": 12,
            "executed": 151,
            "never executed": 1,
            "not applicable": 358,
          },
          "1.2 truthful": {
            "dynamic": 107,
            "empty": 24,
            "executed": 235,
            "never executed": 1,
            "not applicable": 207,
            "optional": 4,
          },
          "1.4 all": {
            "dynamic": 257,
            "empty": 42,
            "executed": 420,
            "optional": 11,
          },
          "1.4 none": {
            "dynamic": 96,
            "empty": 10,
            "executed": 134,
            "not applicable": 490,
          },
          "1.4 truthful": {
            "dynamic": 149,
            "empty": 23,
            "executed": 223,
            "not applicable": 331,
            "optional": 4,
          },
        }
      `);
    });

    test('pass for daily charges, which have the sums of the hours', async () => {
      const sums = `select sum(BilledCost) as cost, sum(ConsumedQuantity) as used,
        count(*) filter (ChargePeriodEnd - ChargePeriodStart <> interval 1 day) as other_periods`;
      const [hours] = await connection.rows(`${sums} from ${await load(fileOf(demo, 'deprecated', 'parquet'))}`);
      const table = await load(fileOf(demo, 'daily', 'parquet'));
      const [days] = await connection.rows(`${sums} from ${table}`);
      expect(days).toEqual({ ...hours, other_periods: '0' });
      expect(await failing(table, '1.4', truthful)).toEqual(sorted(displayNames['1.4']));
    });

    test('fail in 1.3 only for the two columns that only 1.4 has', async () => {
      const table = await load(fileOf(demo, '1.3', 'parquet'));
      const described = await connection.rows(`select column_name from (describe ${table})`);
      const columns = described.map((row) => String(row['column_name'])).filter((name) => /^[A-Z][a-z]/.test(name));
      const newest = focusColumns('1.4', { withDeprecated: true }).filter((name) => !name.startsWith('x_'));
      expect(newest.filter((name) => !columns.includes(name))).toEqual([
        'CommitmentProgramEligibilityDetails',
        'InvoiceDetailId',
      ]);
      expect(columns.filter((name) => !newest.includes(name))).toEqual([]);
      await connection.run(`alter table ${table} add column InvoiceDetailId varchar`);
      await connection.run(`alter table ${table} add column CommitmentProgramEligibilityDetails varchar`);
      expect(await failing(table, '1.4', truthful)).toEqual(sorted(displayNames['1.4']));
    });

    describe.each(modelled)('of version %s', (version) => {
      test.each(['parquet', 'csv'] as const)(
        'pass for %s of the demo account, except where the rules are wrong',
        async (format) => {
          const { deprecated, invoiceId, resourceType, lostConditions } = falseFailures;
          const table = await load(fileOf(demo, version, format));
          expect(await failing(table, version, [])).toEqual(sorted(deprecated[version], invoiceId[version]));
          expect(await failing(table, version, truthful)).toEqual(
            sorted(deprecated[version], invoiceId[version], resourceType[version], displayNames[version]),
          );
          const accountName = version === '1.4' ? 'CAU-BillingAccountName-C-003-C' : 'BillingAccountName-C-003-C';
          expect(await failing(table, version, modelOf(version).criteria)).toEqual(
            sorted(
              deprecated[version],
              invoiceId[version],
              resourceType[version],
              lostConditions[version],
              withoutPrices[version],
              displayNames[version],
              [accountName], // the demo account has no name
            ),
          );
        },
      );

      test.each(['parquet', 'csv'] as const)(
        'pass for %s with unusual names, except where the rules are wrong',
        async (format) => {
          const { deprecated, invoiceId, resourceType, ascii, digits } = falseFailures;
          const table = await load(fileOf(nasty, version, format));
          const [size] = await connection.rows(
            `select count(*) as rows, sum(cast(BilledCost as decimal(18, 12))) as cost from ${table}`,
          );
          expect(size).toEqual({ rows: '38', cost: '-150.250000000000' });
          expect(await failing(table, version, [...truthful, 'ACCOUNT_NAMING_SUPPORTED'])).toEqual(
            sorted(
              deprecated[version],
              invoiceId[version],
              resourceType[version],
              ascii[version],
              [version === '1.4' ? 'CAU-BillingAccountName-C-002-M' : 'BillingAccountName-C-002-M'],
              format === 'csv' ? digits[version] : [],
            ),
          );
        },
      );
    });

    test('with the deprecated columns, all rules of 1.4 pass', async () => {
      const table = await load(fileOf(demo, 'deprecated', 'parquet'));
      expect(await failing(table, '1.4', truthful)).toEqual(displayNames['1.4']);
    });

    test('an export that breaks a rule fails that rule, for every kind of check', async () => {
      for (const version of modelled) {
        const model = modelOf(version);
        const table = await load(fileOf(nasty, version, 'parquet'));
        const before = new Set(await failing(table, version, model.criteria));
        const found = new Set<string>();
        for (const { sql, breaks, only } of mutations) {
          if (only !== undefined && only !== version) continue;
          await load(fileOf(nasty, version, 'parquet'));
          await connection.run(sql);
          const failed = (await failing(table, version, model.criteria)).filter((id) => !before.has(id));
          const id = version === '1.4' ? `CAU-${breaks}` : breaks;
          expect({ version, sql, failed }).toEqual({ version, sql, failed: expect.arrayContaining([id]) });
          for (const name of checksOf(model, failed)) found.add(name);
        }
        expect([...checksOf(model)].filter((name) => !found.has(name))).toEqual([]);
      }
    }, 180_000);

    test('an empty export does not pass', async () => {
      const table = await load(fileOf(nasty, '1.4', 'parquet'));
      await connection.run(`delete from ${table}`);
      await expect(failing(table, '1.4', [])).rejects.toThrow('is empty');
    });

    test('a missing column fails each rule about it', async () => {
      const table = await load(fileOf(nasty, '1.2', 'parquet'));
      await connection.run(`alter table ${table} drop column InvoiceId`);
      expect((await failing(table, '1.2', [])).filter((id) => id.startsWith('InvoiceId'))).toEqual([
        'InvoiceId-C-001-M',
        'InvoiceId-C-002-M',
        'InvoiceId-C-004-C',
        'InvoiceId-C-005-C',
      ]);
    });
  },
);

function sorted(...ids: readonly (readonly string[])[]): string[] {
  return [...new Set(ids.flat())].sort();
}

function tally(outcomes: ReadonlyMap<string, Outcome>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of outcomes.values()) {
    const name = result.outcome === 'skip' ? result.why : 'executed';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
