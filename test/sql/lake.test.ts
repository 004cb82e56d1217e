// Second tier: Publishes the lake after each change of the books; e2e/reports-of-the-books writes one in the first tier.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllocation } from '../../src/allocation/parse.ts';
import type { Manifest } from '../../src/reports/exports/manifest.ts';
import { publishLake } from '../../src/reports/lake/publish.ts';
import { lakeFacts } from '../../src/reports/lake/requery.ts';
import { readLakeTables } from '../../src/reports/lake/tables.ts';
import { readSqlFolder } from '../../src/warehouse/sql/sql-files.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { givenBooks } from '../support/given-books.ts';
import pinnedColumns from '../support/lake-columns.json' with { type: 'json' };
import { newProject } from '../support/project.ts';

/** The columns of each version of each table, with their types. */
const pinned: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = pinnedColumns;

const rules = `
rules:
  - name: shared image storage
    when: { billing_dimension: sandbox_image_storage_gbs }
    split: { by: cost, over: [team] }
  - name: by label
    owner: { team: { label: team } }
`;

const hour = { workspace: 'north', resource_name: 'box', load_number: 1 };
const given = {
  accounts: [{ name: 'One' }, { account: 'acc/two', name: null }],
  loads: [{ load_number: 1, window_end: '2026-11-01', seen_at: '2026-11-01 01:00:00' }],
  covered: [
    { window_end: '2026-11-01', claimed_end: '2026-11-01' },
    { account: 'acc/two', window_end: '2026-11-01', claimed_end: '2026-11-01' },
  ],
  costs: [
    { ...hour, bucket_start: '2026-09-03 05:00:00', cost: '0.1', usage: '1' },
    { ...hour, bucket_start: '2026-09-03 06:00:00', cost: '0.000000000001', usage: '2' },
    { ...hour, bucket_start: '2026-10-03 05:00:00', cost: '7', usage: '3' },
    { ...hour, bucket_start: '2026-10-20 05:00:00', cost: '-2', usage: '0' },
    { ...hour, bucket_start: '2026-09-03 05:00:00', resource_name: 'b"ö', cost: '3', usage: '1' },
    { ...hour, bucket_start: '2026-10-03 05:00:00', resource_name: 'b"ö', cost: '5', usage: '1' },
    {
      ...hour,
      bucket_start: '2026-10-03 07:00:00',
      billing_dimension: 'sandbox_image_storage_gbs',
      cost: '1',
      usage: '1',
    },
    { ...hour, account: 'acc/two', workspace: null, bucket_start: '2026-10-09 05:00:00', cost: '11', usage: '1' },
  ],
  resources: [
    { resource_name: 'box', labels: '{"team":"red","a/b":"x"}' },
    { resource_name: 'b"ö', labels: '{"team":"blue"}' },
  ],
  forecasts: [{}, { complete_through: '2026-09-10', spent: '4' }],
  anomalies: [{}],
  allocation: rules,
};

let connection: Connection;
let close: () => void;
let root: string;

beforeAll(async () => {
  ({ connection, close } = await givenBooks(given));
  root = await newProject();
});
afterAll(() => close());

/** Writes the lake of the books. Returns its manifest, and which partitions were written, by table. */
async function publish(asOf: string): Promise<{ manifest: Manifest; tasks: Readonly<Record<string, number>> }> {
  const tasks: Record<string, number> = {};
  const { manifest } = await publishLake(
    { root, reportFolder: join(root, 'lake'), folder: join(root, 'lake') },
    {
      report: 'lake',
      parameters: {},
      asOf,
      closedAt: null,
      completeFrom: null,
      completeThrough: null,
      settledThrough: null,
      focusVersion: null,
    },
    {
      connection,
      names: { provider: 'Platform', accountName: null },
      isOfNow: true,
      signal: new AbortController().signal,
      onProgress(words) {
        const table = words.split(', ')[1] ?? '';
        if (manifestTables.get(table)) tasks[table] = (tasks[table] ?? 0) + 1;
      },
    },
  );
  return { manifest, tasks };
}

let manifestTables: ReadonlyMap<string, boolean>;
beforeAll(async () => {
  manifestTables = new Map((await readLakeTables()).map(({ name, partition }) => [name, partition.length > 0]));
});

/** The rows of a table of the lake in SQL, with plain timestamps as the books have them. */
function rowsOf(table: string, columns: readonly { name: string; type: string }[]): string {
  const cells = columns.map(({ name, type }) => `cast("${name}" as ${type}) as "${name}"`).join(', ');
  const below = manifestTables.get(table) ? '*/*/*.parquet' : '*.parquet';
  const files = join(root, 'lake', table, below).replaceAll("'", "''");
  return `select ${cells} from read_parquet('${files}', hive_partitioning = ${manifestTables.get(table)}, hive_types_autocast = false)`;
}

async function describeQuery(query: string): Promise<{ name: string; type: string }[]> {
  const rows = await connection.rows(`select column_name, column_type from (describe ${query})`);
  return rows.map((row) => ({ name: String(row['column_name']), type: String(row['column_type']) }));
}

async function differing(table: string, query: string): Promise<unknown> {
  const columns = await describeQuery(query);
  const ours = rowsOf(table, columns);
  const [row] = await connection.rows(
    `select (select count(*) from (${query} except all ${ours})) as missing,
      (select count(*) from (${ours} except all ${query})) as extra`,
  );
  return { table, ...row };
}

/** Every table of the lake has the rows of its view. */
async function expectViews(): Promise<void> {
  const views = (await readSqlFolder('views')).map(({ name }) => name);
  const restatements = await connection.rows('select 1 from ledger.restatements limit 1');
  for (const [table] of manifestTables) {
    if (!views.includes(table) || table.startsWith('allocation_') || table === 'closed_months') continue;
    if (['mounted_labels', 'resource_runtimes', 'resources_of_series', 'volume_mounts'].includes(table)) continue;
    if (table === 'restatements' && restatements.length === 0) continue;
    expect(await differing(table, `select * from ${table}`)).toEqual({ table, missing: '0', extra: '0' });
  }
  await expectFocus();
  await expectStates();
}

/** The table focus has what the report focus answers by day. */
async function expectFocus(): Promise<void> {
  const [report] = (await readSqlFolder('reports')).filter(({ name }) => name === 'focus');
  const text = ['2026-09', '2026-10', '2026-11']
    .map((month) =>
      (report?.text ?? '')
        .replaceAll('$month', `'${month}-01'`)
        .replaceAll('$focus_version', `'1.4'`)
        .replaceAll('$deprecated_columns', 'false')
        .replaceAll('$grain', `'daily'`)
        .replaceAll('$provider', `'Platform'`)
        .replaceAll('$account_name', 'null'),
    )
    .map((query) => `select * exclude (ProviderName, PublisherName) from (\n${query}\n)`)
    .join('\nunion all\n');
  expect(await differing('focus', `select * from (${text})`)).toEqual({ table: 'focus', missing: '0', extra: '0' });
}

/** Internal views have bounds that every engine reads instead of infinite ones. */
async function expectStates(): Promise<void> {
  const bounded = `replace (
    greatest(from_time, timestamp '1970-01-01') as from_time, least(to_time, timestamp '9999-12-31') as to_time
  )`;
  for (const [view, others] of [
    ['resources_of_series', ''],
    ['volume_mounts', ''],
    ['mounted_labels', ''],
    ['allocation_owners', 'exclude (mount_split)'],
  ] as const) {
    const query = `select * ${others} ${bounded} from ledger.${view}`;
    expect(await differing(view, query)).toEqual({ table: view, missing: '0', extra: '0' });
  }
}

async function addLoad(load: number, seenAt: string): Promise<void> {
  await connection.run(
    `insert into ledger.loads by name
      select * replace (cast($load as bigint) as load_number, cast($seen as timestamp) as seen_at)
      from ledger.loads where load_number = 1`,
    { load, seen: seenAt },
  );
}

/** Restates the hour of a series as a load does. */
async function restate(load: number, at: string, cost: string): Promise<void> {
  const hours = `series_id = 1 and bucket_start = cast($at as timestamp)`;
  await connection.run(
    `insert into ledger.restatements by name
      select 'acc_one' as account, series_id, bucket_start, cost as old_cost, cast($cost as decimal(18, 12)) as new_cost,
        usage as old_usage, usage as new_usage, load_number as old_load_number, cast($load as bigint) as load_number,
        timestamp '2026-11-02' as seen_at
      from ledger.hourly_costs where ${hours}`,
    { at, cost, load },
  );
  await connection.run(
    `update ledger.hourly_costs set cost = cast($cost as decimal(18, 12)), load_number = $load where ${hours}`,
    { at, cost, load },
  );
}

describe('the lake', () => {
  test('has the rows of the views, in partitions of accounts and months', async () => {
    const { manifest, tasks } = await publish('2026-11-01T01:00:00Z');
    expect(tasks).toEqual({
      costs: 3,
      costs_allocated: 3,
      costs_billed: 3,
      costs_daily: 3,
      costs_monthly: 3,
      focus: 3,
    });
    await expectViews();
    expect(manifest.tables?.['costs']).toMatchObject({ rows: 8, cost: '25.100000000001', version: 1 });
    expect(manifest.tables?.['resource_labels']).toMatchObject({ rows: 3 });
    expect(manifest.tables?.['budgets']).toMatchObject({ rows: 1, costColumn: null });
    const facts = await lakeFacts(connection, manifest);
    expect(facts.length).toBeGreaterThan(15);
    expect(facts.filter(({ found, expected }) => found !== expected)).toEqual([]);
  });

  test('has the pinned columns of each version, which are never removed and never change their types', async () => {
    const { manifest } = await publish('2026-11-01T01:00:00Z');
    expect(Object.keys(pinned)).toEqual(Object.keys(manifest.tables ?? {}).sort());
    for (const [name, { version, columns }] of Object.entries(manifest.tables ?? {})) {
      const versions = pinned[name] ?? {};
      // A new column needs a new version: pin its columns, and leave those of earlier versions as they are.
      expect({ name, columns: columns.map((one) => `${one.name} ${one.type}`) }).toEqual({
        name,
        columns: versions[version],
      });
      for (const earlier of Object.values(versions))
        expect(versions[version]).toEqual(expect.arrayContaining([...earlier]));
    }
  });

  test('writes nothing again while the books are the same', async () => {
    expect((await publish('2026-11-01T01:00:00Z')).tasks).toEqual({});
  });

  test('writes the month again in which an hour was restated', async () => {
    await addLoad(2, '2026-11-01 02:00:00');
    await restate(2, '2026-09-03 05:00:00', '0.4');
    const { tasks } = await publish('2026-11-01T02:00:00Z');
    const once = { costs: 1, costs_allocated: 1, costs_billed: 1, costs_daily: 1, costs_monthly: 1, focus: 1 };
    expect(tasks).toEqual({ ...once, restatements: 1 });
    await expectViews();
  });

  test('writes the bills again of a closed month and of the month with its corrections', async () => {
    await connection.run(
      `insert into ledger.closes by name
        select unnest(['acc_one', 'acc/two']) as account, date '2026-09-01' as billing_month, 9 as run_number,
          2 as load_number, timestamp '2026-11-01 03:00:00' as closed_at, 3 as row_count, 3.4 as cost, 0 as corrections,
          0 as correction_cost, 'x' as sha256, null as invoiced`,
    );
    expect((await publish('2026-11-01T03:00:00Z')).tasks).toEqual({});
    await addLoad(3, '2026-11-01 04:00:00');
    await restate(3, '2026-09-03 05:00:00', '0.9');
    const { tasks } = await publish('2026-11-01T04:00:00Z');
    // The hours of September changed, and October bills the difference.
    expect(tasks).toMatchObject({ costs: 1, costs_billed: 2, focus: 2 });
    await expectViews();
    expect(
      await connection.rows(
        `select cast(sum(cost) as varchar) as cost, charge_class from (${rowsOf('costs_billed', [
          { name: 'cost', type: 'decimal(38, 12)' },
          { name: 'charge_class', type: 'varchar' },
        ])}) group by charge_class order by charge_class nulls first`,
      ),
    ).toEqual([
      { cost: '25.400000000001', charge_class: null },
      { cost: '0.500000000000', charge_class: 'Correction' },
    ]);
  });

  test('writes only the bill again of a month with an invoice', async () => {
    await connection.run(`update ledger.closes set invoiced = 4 where account = 'acc_one'`);
    expect((await publish('2026-11-01T04:00:00Z')).tasks).toEqual({ costs_billed: 1, focus: 1 });
    await expectViews();
  });

  test('writes the bills again after the month was reopened', async () => {
    await connection.run(
      `update ledger.closes set reopened_at = timestamp '2026-11-01 05:00:00', reopen_reason = 'wrong'`,
    );
    const { tasks } = await publish('2026-11-01T05:00:00Z');
    expect(tasks).toEqual({ costs_billed: 2, focus: 2 });
    await expectViews();
  });

  test('writes the owners again of the months in which a label changed', async () => {
    await connection.run(
      `update ledger.resources set valid_to = timestamp '2026-10-10', ended_at = timestamp '2026-10-10'
        where resource_name = 'box'`,
    );
    await connection.run(
      `insert into ledger.resources by name
        select * replace ('{"team":"green"}' as labels, timestamp '2026-10-10' as valid_from, null as valid_to,
          timestamp '2026-10-10' as recorded_at, null as ended_at)
        from ledger.resources where resource_name = 'box'`,
    );
    const { tasks } = await publish('2026-11-01T05:00:00Z');
    expect(tasks).toEqual({ costs_allocated: 1, focus: 1 });
    await expectViews();
  });

  test('writes the owners again after the rules changed', async () => {
    const { definition } = parseAllocation({
      text: rules.replace('by: cost', 'by: evenly'),
      file: '/nowhere/allocation.yaml',
    });
    await connection.run('update ledger.allocations set definition = $definition', {
      definition: JSON.stringify(definition),
    });
    // Only a month with shared cost knows of the split.
    const { tasks } = await publish('2026-11-01T05:00:00Z');
    expect(Object.keys(tasks)).toEqual(['costs_allocated']);
    await expectViews();
  });

  test('writes the bills again of an account with a new name', async () => {
    await connection.run(`update ledger.accounts set name = 'Two' where account = 'acc/two'`);
    expect((await publish('2026-11-01T05:00:00Z')).tasks).toEqual({ focus: 1 });
    await expectViews();
  });

  test('empties a partition whose rows are gone, and leaves no drafts', async () => {
    await addLoad(4, '2026-11-01 06:00:00');
    await connection.run(
      `insert into ledger.restatements by name
        select 'acc/two' as account, series_id, bucket_start, cost as old_cost, usage as old_usage, 1 as old_load_number,
          4 as load_number, timestamp '2026-11-02' as seen_at
        from ledger.hourly_costs where cost = 11`,
    );
    await connection.run('delete from ledger.hourly_costs where cost = 11');
    const { manifest } = await publish('2026-11-01T06:00:00Z');
    await expectViews();
    const emptied = manifest.files.filter(({ table, rows }) => table === 'costs' && rows === 0);
    expect(emptied.map(({ name }) => name)).toEqual(['costs/account=acc%2Ftwo/month=2026-10/costs.parquet']);
    const names = await readdir(join(root, 'lake'), { recursive: true });
    expect(names.filter((name) => name.includes('.part') || name.includes('next'))).toEqual([]);
    const facts = await lakeFacts(connection, manifest);
    expect(facts.filter(({ found, expected }) => found !== expected && expected !== 0)).toEqual([]);
  });
});
