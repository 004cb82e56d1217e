// Second tier: Drawn rules and costs in DuckDB; sql/allocation holds the rules.

import { expect, test } from 'vitest';
import { parseAllocation } from '../../src/allocation/parse.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import fc from '../support/fast-check.ts';
import { givenBooks } from '../support/given-books.ts';
import { casesOf } from '../support/rounds.ts';

// Any rules over any data: what is allocated is what was there, to the last decimal, for each hour of each series.

const workspace = fc.constantFrom('a', 'b', 'c', 'shared', null);
const team = fc.constantFrom('one', 'two', 'three');
const label = fc.constantFrom('{"team":"one"}', '{"team":"onee"}', '{"team":"zwölf"}', '{}', null);
const hour = fc.constantFrom(
  '2026-09-01 00:00:00',
  '2026-09-30 23:00:00',
  '2026-10-01 00:00:00',
  '2026-10-15 12:00:00',
);
/** USD in trillionths: credits, nothing, crumbs, ordinary hours and the largest that the books take. */
const trillionths = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 2n, 999_999_999_999_999_999n, -999_999_999_999_999_999n),
  fc.bigInt({ min: -5_000_000_000_000n, max: 5_000_000_000_000n }),
);

interface Row {
  readonly account: string;
  readonly workspace: string | null;
  readonly resource_name: string;
  readonly resource_uuid: null;
  readonly billing_dimension: string;
}

function decimal(units: bigint, digits: number): string {
  const text = String(units < 0n ? -units : units).padStart(digits + 1, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const cost = fc.record({
  account: fc.constantFrom('acc_one', 'acc_one', 'acc_two'),
  workspace,
  resource_name: fc.constantFrom('r1', 'r2', 'r3'),
  resource_uuid: fc.constant(null),
  billing_dimension: fc.constantFrom('sandbox_compute_runtime_gbs', 'volume_storage_gbs'),
  bucket_start: hour,
  cost: trillionths.map((units) => decimal(units, 12)),
  usage: fc.bigInt({ min: 0n, max: 10n ** 17n }).map((units) => decimal(units, 6)),
});
const when = fc.oneof(
  fc.record({ workspace: fc.oneof(workspace, fc.array(workspace, { minLength: 1, maxLength: 3 })) }),
  fc.record({ resource_name: fc.constantFrom('r1', 'r*', '*2') }),
  fc.record({ label: fc.record({ team: fc.constantFrom('one', '*', null) }) }),
  fc.constant({}),
);
const valid = fc.constantFrom(
  {},
  { from: '2026-10-01' },
  { until: '2026-10-01' },
  { from: '2026-09-15', until: '2026-10-10' },
);
const weight = fc.constantFrom(0, 1, 0.333333, 7, 999999);
const split = fc.oneof(
  fc.record({
    by: fc.constantFrom('cost', 'evenly'),
    over: fc.constantFrom(['team'], ['team', 'product'], ['environment']),
  }),
  fc.record({ by: fc.constant('usage'), billing_dimension: fc.constantFrom('volume_storage_gbs', 'unheard_of') }),
  fc
    .uniqueArray(fc.record({ team, weight }), { minLength: 1, maxLength: 3, selector: (owner) => owner.team })
    .map((weights) => ({ by: 'weights', weights })),
);
const owner = fc.oneof(
  fc.record({ owner: fc.record({ team, product: fc.constantFrom('p', 'q') }) }),
  fc.record({ owner: fc.record({ team: fc.constantFrom({ label: 'team' }, { label: 'team', otherwise: 'x' }) }) }),
  fc.record({ split }),
  fc.record({ split }),
);
const rules = fc.array(fc.tuple(when, valid, owner), { minLength: 1, maxLength: 6 }).map((list) =>
  list.map(([conditions, validity, whose], index) => ({
    name: `rule ${index}`,
    when: conditions,
    ...validity,
    ...whose,
  })),
);

type Cell = string | number | null;

/** Puts rows into a table of the ledger, all in one statement. */
async function fill(connection: Connection, table: string, rows: readonly Readonly<Record<string, Cell>>[]) {
  await connection.run(`delete from ledger.${table}`);
  const [row] = rows;
  if (row === undefined) return;
  const names = Object.keys(row);
  const shape = JSON.stringify([Object.fromEntries(names.map((name) => [name, 'VARCHAR']))]);
  await connection.run(
    `insert into ledger.${table} by name
    select unnest(from_json($rows, '${shape}'), recursive := true)`,
    { rows: JSON.stringify(rows) },
  );
}

/**
 * Hours of books that are not as allocated, pools that are not as split, owners' hours that are not their share, and
 * owners whose hours cost something else without the resources of shared cost, or without names.
 */
const offenders = `
  with allocated as materialized (
    select
      series_id, bucket_start, account, cast(date_trunc('month', bucket_start) as date) as usage_month, rule, owner,
      is_shared, cost, usage
    from costs_allocated
  ),
  splits as materialized (select account, usage_month, rule, owner, cost, pool_cost from allocation_splits),
  loaded as (
    select series_id, bucket_start, sum(cost) as cost, sum(usage) as usage from ledger.hourly_costs group by all
  ),
  after as (
    select series_id, bucket_start, sum(cost) as cost, sum(usage) as usage from allocated group by all
  )
  select 'an hour' as what, concat_ws(' ', series_id, bucket_start, loaded.cost, after.cost) as found
  from loaded full join after using (series_id, bucket_start)
  where loaded.cost is distinct from after.cost or loaded.usage is distinct from after.usage
  union all
  select 'a pool', concat_ws(' ', account, usage_month, rule)
  from splits group by account, usage_month, rule having sum(cost) <> max(pool_cost)
  union all
  select 'a share', concat_ws(' ', account, usage_month, rule, owner, hours.cost, splits.cost)
  from (
    select account, usage_month, rule, owner, sum(cost) as cost from allocated where is_shared group by all
  ) as hours
  join splits using (account, usage_month, rule, owner)
  where hours.cost <> splits.cost
  union all
  select 'an owner', concat_ws(' ', account, bucket_start, rule, owner, is_shared, by_owner.cost, hours.cost)
  from (
    select account, bucket_start, rule, owner, is_shared, sum(cost) as cost from ledger.costs_by_owner group by all
  ) as by_owner
  full join (
    select account, bucket_start, rule, owner, is_shared, sum(cost) as cost from allocated group by all
  ) as hours using (account, bucket_start, rule, owner, is_shared)
  where by_owner.cost is distinct from hours.cost
  union all
  select 'a row without names', concat_ws(' ', series_id, bucket_start, owner, team, is_shared, cost, usage)
  from (
    select series_id, bucket_start, owner, json_extract_string(owner, '/team') as team, is_shared, cost, usage
    from ledger.hours_allocated
    except all
    select series_id, bucket_start, owner, team, is_shared, cost, usage from costs_allocated
  )`;

test('allocated = total, exactly, for any rules and any data', async () => {
  let shared = 0;
  const { connection, close } = await givenBooks({});
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(cost, { maxLength: 14, selector: ({ cost: _, usage: __, ...key }) => JSON.stringify(key) }),
        fc.array(label, { minLength: 3, maxLength: 3 }),
        rules,
        fc.constantFrom({}, { default: { team: 'rest' } }),
        async (costs, labels, list, fallback) => {
          const keys = [...new Set(costs.map(seriesOf))];
          await fill(
            connection,
            'series',
            keys.map((key, series_id) => ({ series_id, ...JSON.parse(key) })),
          );
          await fill(
            connection,
            'hourly_costs',
            costs.map((row) => ({
              ...{ series_id: keys.indexOf(seriesOf(row)), bucket_start: row.bucket_start },
              ...{ cost: row.cost, usage: row.usage, load_number: 1 },
            })),
          );
          await fill(
            connection,
            'resources',
            labels.flatMap((labelled, index) =>
              ['a', 'b'].map((place) => ({
                ...{ account: 'acc_one', resource_type: 'sandbox', workspace: place, resource_name: `r${index + 1}` },
                ...{ labels: labelled, valid_from: '2026-09-01', recorded_at: '2026-09-01', run_number: 1 },
              })),
            ),
          );
          const text = JSON.stringify({ rules: list, ...fallback });
          const { definition } = parseAllocation({ text, file: '/nowhere/allocation.yaml' });
          await fill(connection, 'allocations', [
            { definition: JSON.stringify(definition), run_number: 1, recorded_at: '2026-09-01' },
          ]);
          expect(await connection.rows(offenders)).toEqual([]);
          const [row] = await connection.rows('select count(*) as pools from allocation_splits');
          shared += Number(row?.['pools']);
        },
      ),
      { numRuns: casesOf({ fixed: 12, fresh: 60 }) },
    );
  } finally {
    close();
  }
  // Rules that never share anything would prove little.
  expect(shared).toBeGreaterThan(2);
}, 600_000);

/** What makes a series of a row of costs, as JSON. */
function seriesOf({ account, workspace, resource_name, resource_uuid, billing_dimension }: Row): string {
  return JSON.stringify({
    account,
    workspace,
    resource_type: 'sandbox',
    resource_name,
    resource_uuid,
    billing_dimension,
  });
}
