import { expect, test } from 'vitest';
import { readChecks, runCheck } from '../../src/warehouse/ledger/checks.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

/** Books in which every check has something to look at and nothing to find. */
const sound: Given = {
  accounts: [{}, { account: 'acc_two' }, { recorded_at: '2026-08-01', replaced_at: '2026-09-01' }],
  costs: [
    { bucket_start: '2026-09-01 00:00:00', cost: '0.1', usage: '1', load_number: 1 },
    { bucket_start: '2026-09-01 01:00:00', cost: '-0.2', usage: '2', load_number: 2 },
    { bucket_start: '2026-09-07 23:00:00', cost: '0.3', resource_uuid: null, workspace: null, billing_dimension: null },
    { bucket_start: '2026-09-08 00:00:00', cost: '4', account: 'acc_two', load_number: 3 },
  ],
  loads: [
    { load_number: 1 },
    { load_number: 2, seen_at: '2026-09-09 01:00:00' },
    {
      load_number: 3,
      account: 'acc_two',
      window_start: '2026-09-08',
      window_end: '2026-09-09',
      seen_at: '2026-09-09 01:00:00',
    },
  ],
  covered: [
    { load_number: 1, replaced_by: 2 },
    { window_end: '2026-09-02', load_number: 2, since_load: 2 },
    { window_start: '2026-09-02', load_number: 1, since_load: 2 },
    { account: 'acc_two', window_start: '2026-09-08', window_end: '2026-09-09', load_number: 3, since_load: 3 },
  ],
  reconciliation: [
    { load_number: null, proven: false },
    { load_number: 1 },
    { load_number: 2 },
    { load_number: 2, measure: 'usage' },
    { load_number: 3, account: 'acc_two' },
  ],
  restatements: [
    {
      ...{ bucket_start: '2026-09-01 01:00:00', old_load_number: 1, load_number: 2 },
      ...{ old_cost: '7', old_usage: '7', new_cost: '-0.2', new_usage: '2' },
    },
  ],
  unproven: [{}, { window_start: '2026-09-08', window_end: '2026-09-09' }],
  closes: [
    { billing_month: '2026-08-01', load_number: 3, closed_at: '2026-10-04' },
    { load_number: 3, row_count: 3, cost: '0.2' },
    { load_number: 3, account: 'acc_two', row_count: 1, cost: '4' },
  ],
  listings: [{}, { resource_type: 'agent', outcome: 'refused' }],
  resources: [
    { valid_to: '2026-09-01 00:30:00', ended_at: '2026-09-02' },
    { valid_from: '2026-09-01 00:30:00', recorded_at: '2026-09-02', status: 'TERMINATED' },
    { created_at: '2026-09-01 00:40:00', valid_from: '2026-09-01 00:40:00', recorded_at: '2026-09-02' },
  ],
};

interface Case {
  /** Rows added to the correct books. */
  readonly given?: Given;
  /** What is done to the books for it. */
  readonly done?: string;
  /** What the check says. */
  readonly found: readonly Readonly<Record<string, unknown>>[];
}

/** A step of the hour that is restated in the sound books. */
const restated = { bucket_start: '2026-09-01 01:00:00' };

const cases: readonly (readonly [name: string, what: string, Case])[] = [
  [
    'accounts_are_known_once',
    'an account with two current rows',
    { given: { accounts: [{}] }, found: [{ present_rows: 2 }] },
  ],
  [
    'accounts_are_known_once',
    'a loaded account without a row',
    { done: `delete from ledger.accounts where account = 'acc_two'`, found: [{ account: 'acc_two', present_rows: 0 }] },
  ],
  [
    'hourly_costs_have_a_series',
    'an hourly cost without a series',
    {
      done: `delete from ledger.series where account = 'acc_two'`,
      found: [{ row_count: 1, cost: '4.000000000000', series: 0 }],
    },
  ],
  [
    'hourly_costs_have_a_series',
    'a series that exists twice',
    {
      done: `insert into ledger.series select * replace ('acc_x' as account) from ledger.series where account = 'acc_two'`,
      found: [{ row_count: 1, cost: '4.000000000000', series: 2 }],
    },
  ],
  [
    'hourly_costs_come_from_proven_loads',
    'a load of another account',
    {
      done: `update ledger.series set account = 'acc_x' where account = 'acc_two'`,
      found: [{ account: 'acc_x', reason: 'the load does not exist' }],
    },
  ],
  [
    'hourly_costs_come_from_proven_loads',
    'a missing load',
    {
      done: 'delete from ledger.loads where load_number = 2',
      found: [{ load_number: 2, reason: 'the load does not exist' }],
    },
  ],
  [
    'hourly_costs_come_from_proven_loads',
    'a load that was never compared',
    {
      done: 'delete from ledger.reconciliation where load_number = 3',
      found: [{ load_number: 3, reason: 'the load has no comparison' }],
    },
  ],
  [
    'hourly_costs_come_from_proven_loads',
    'a load with a failed comparison',
    {
      given: { reconciliation: [{ load_number: 2, proven: false }] },
      found: [{ load_number: 2, reason: '1 comparisons failed' }],
    },
  ],
  [
    'hourly_costs_come_from_proven_loads',
    'a load that covers other hours',
    {
      given: { costs: [{ bucket_start: '2026-09-08 00:00:00', cost: '1' }] },
      found: [{ load_number: 1, reason: 'the load covers other hours' }],
    },
  ],
  [
    'hourly_costs_are_unique',
    'an hour that exists twice',
    {
      given: { costs: [{ bucket_start: '2026-09-01 00:00:00', cost: '9' }] },
      found: [{ usage_date: '2026-09-01', row_count: 3, hours: 2 }],
    },
  ],
  [
    'hourly_costs_are_covered',
    'an hour that no load covers',
    {
      given: { costs: [{ bucket_start: '2026-09-08 00:00:00', cost: '1' }] },
      found: [{ account: 'acc_one', bucket_start: '2026-09-08T00:00:00Z', row_count: 1 }],
    },
  ],
  [
    'hourly_costs_are_covered',
    'an hourly cost that does not start on the hour',
    {
      given: { costs: [{ bucket_start: '2026-09-01 00:30:00', cost: '1' }] },
      found: [{ bucket_start: '2026-09-01T00:30:00Z' }],
    },
  ],
  [
    'closed_months_keep_their_numbers',
    'an hour that was changed without a load',
    {
      done: `update ledger.hourly_costs set cost = 5 where series_id in (select series_id from ledger.series where account = 'acc_two')`,
      found: [
        {
          account: 'acc_two',
          row_count_closed: 1,
          row_count_now: 1,
          cost_closed: '4.000000000000',
          cost_now: '5.000000000000',
        },
      ],
    },
  ],
  [
    'closed_months_keep_their_numbers',
    'a missing hour, and one of an account that was not closed',
    {
      done: `update ledger.series set account = 'acc_new' where account = 'acc_two'`,
      found: [
        { account: 'acc_new', row_count_closed: null, row_count_now: 1 },
        { account: 'acc_two', row_count_closed: 1, row_count_now: 0 },
      ],
    },
  ],
  [
    'months_are_closed_after_their_end',
    'a close of a month with hours from a fast clock',
    {
      done: `insert into ledger.claims_corrected values ('acc_one', 1, '2026-09-05', 2, '2026-10-06')`,
      found: [{ account: 'acc_one', billing_month: '2026-09-01', complete_through_then: '2026-09-05T00:00:00Z' }],
    },
  ],
  [
    'months_are_closed_without_gaps',
    'a skipped month',
    {
      given: { closes: [{ billing_month: '2026-11-01', load_number: 3, closed_at: '2026-12-05' }] },
      found: [{ billing_month: '2026-11-01', month_before: '2026-09-01' }],
    },
  ],
  [
    'months_are_closed_without_gaps',
    'a month that is closed twice',
    {
      given: { closes: [{ load_number: 4, closed_at: '2026-12-05' }] },
      found: [{ billing_month: '2026-09-01', month_before: '2026-09-01' }],
    },
  ],
  [
    'months_are_closed_without_gaps',
    'a month that was closed before the one before it',
    {
      given: { closes: [{ billing_month: '2026-10-01', load_number: 2, closed_at: '2026-10-04' }] },
      found: [{ billing_month: '2026-10-01' }],
    },
  ],
  [
    'costs_show_every_hourly_cost',
    'an hourly cost that a join repeats',
    {
      done: `insert into ledger.series select * from ledger.series where account = 'acc_two'`,
      found: [
        {
          account: 'acc_two',
          loaded_row_count: 1,
          shown_row_count: 2,
          loaded_cost: '4.000000000000',
          shown_cost: '8.000000000000',
        },
      ],
    },
  ],
  [
    'costs_show_every_hourly_cost',
    'an hourly cost that a join drops',
    {
      done: `delete from ledger.series where account = 'acc_two'`,
      found: [{ loaded_row_count: 1, shown_row_count: null }],
    },
  ],
  [
    'coverage_does_not_overlap',
    'hours that two loads cover',
    {
      given: { covered: [{ window_start: '2026-09-07', window_end: '2026-09-09', load_number: 2 }] },
      found: [{ load_number: 2, covered_before: '2026-09-08T00:00:00Z' }],
    },
  ],
  [
    'coverage_does_not_overlap',
    'an empty window',
    {
      given: { covered: [{ window_start: '2026-09-09', window_end: '2026-09-09' }] },
      found: [{ window_end: '2026-09-09T00:00:00Z' }],
    },
  ],
  [
    'coverage_has_no_hole',
    'a day between two loads',
    {
      given: { covered: [{ window_start: '2026-09-09', window_end: '2026-09-10' }] },
      found: [{ account: 'acc_one', hole_start: '2026-09-08T00:00:00Z', hole_end: '2026-09-09T00:00:00Z' }],
    },
  ],
  [
    'daily_equals_hourly',
    'a day with a missing hourly cost',
    {
      done: `delete from ledger.series where account = 'acc_two'`,
      found: [{ account: null, usage_date: '2026-09-08', hourly_cost: '4.000000000000', daily_cost: null }],
    },
  ],
  [
    'daily_equals_hourly',
    'a day counted as another day',
    {
      done: `create or replace view costs_daily as
        select account, date '2026-09-01' as usage_date, billing_dimension, cost, usage from costs_v1 where account = 'acc_two'
        union all by name
        select account, cast(bucket_start as date) as usage_date, billing_dimension, cost, usage from costs_v1 where account <> 'acc_two'`,
      found: [
        { usage_date: '2026-09-01', hourly_cost: null, daily_cost: '4.000000000000' },
        { usage_date: '2026-09-08', hourly_cost: '4.000000000000', daily_cost: null },
      ],
    },
  ],
  [
    'loads_are_in_order',
    'two loads with one number',
    {
      given: { loads: [{ load_number: 3, account: 'acc_two', seen_at: '2026-09-10' }] },
      found: [{ load_number: 3, load_before: 3 }],
    },
  ],
  [
    'loads_are_in_order',
    'a load with numbers older than those of the load before it',
    {
      given: { loads: [{ load_number: 4, seen_at: '2026-09-09' }] },
      found: [{ load_number: 4, seen_before: '2026-09-09T01:00:00Z' }],
    },
  ],
  [
    'monthly_equals_daily',
    'a month that starts a day late',
    {
      done: `create or replace view costs_monthly as
        select account, cast(date_trunc('month', bucket_start - interval 1 day) as date) as usage_month,
          billing_dimension, cost, usage
        from costs_v1 where account = 'acc_one'
        union all by name
        select account, date '2026-09-01' as usage_month, billing_dimension, cost, usage from costs_v1 where account = 'acc_two'`,
      found: [
        { usage_month: '2026-08-01', daily_cost: null, monthly_cost: '-0.100000000000' },
        { usage_month: '2026-09-01', daily_cost: '-0.100000000000', monthly_cost: null },
      ],
    },
  ],
  [
    'restatements_follow_each_other',
    'an old value that no load stored',
    {
      given: {
        restatements: [
          {
            ...restated,
            old_cost: '6',
            old_usage: '2',
            new_cost: '-0.2',
            new_usage: '2',
            old_load_number: 2,
            load_number: 3,
          },
        ],
      },
      done: 'update ledger.hourly_costs set load_number = 3 where load_number = 2',
      found: [{ load_number: 3, reason: 'load 2 stored another value' }],
    },
  ],
  [
    'restatements_follow_each_other',
    'an old value from another load than the previous one',
    {
      given: {
        restatements: [
          {
            ...restated,
            old_cost: '-0.2',
            old_usage: '2',
            new_cost: '-0.2',
            new_usage: '2',
            old_load_number: 1,
            load_number: 3,
          },
        ],
      },
      done: 'update ledger.hourly_costs set load_number = 3 where load_number = 2',
      found: [{ load_number: 3, reason: 'the old value is from load 1, the previous restatement is from load 2' }],
    },
  ],
  [
    'restatements_follow_each_other',
    'an old value without a load',
    {
      done: 'update ledger.restatements set old_load_number = null',
      found: [{ load_number: 2, reason: 'the load of the old value is missing, or not earlier' }],
    },
  ],
  [
    'restatements_follow_each_other',
    'a load that restated an hour twice',
    {
      given: { restatements: [{ ...restated, old_cost: '7', old_usage: '7', new_cost: '-0.2', new_usage: '2' }] },
      found: [{ load_number: 2, reason: 'one load restated the hour twice' }],
    },
  ],
  [
    'restatements_follow_each_other',
    'a new value that is missing from the books',
    {
      done: `delete from ledger.hourly_costs where load_number = 2`,
      found: [{ load_number: 2, new_cost: '-0.200000000000', reason: 'the books have another value' }],
    },
  ],
  [
    'restatements_follow_each_other',
    'an hour in the books after its row was removed',
    {
      done: 'update ledger.restatements set new_cost = null, new_usage = null',
      found: [{ reason: 'the books have another value' }],
    },
  ],
  [
    'series_differ',
    'two series with the same dimensions',
    {
      done: `insert into ledger.series select 99, * exclude (series_id) from ledger.series where account = 'acc_two'`,
      found: [{ account: 'acc_two', series: 2 }],
    },
  ],
  [
    'series_ids_are_unique',
    'one ID for two series',
    {
      done: `insert into ledger.series select * replace ('other' as resource_name) from ledger.series where account = 'acc_two'`,
      found: [{ series: 2 }],
    },
  ],
  [
    'costs_match_one_resource',
    'a join that repeats rows',
    {
      done: `create or replace view costs_with_resources as
        select series_id, cost from ledger.hourly_costs union all select series_id, cost from ledger.hourly_costs where cost > 1`,
      found: [{ row_count: 1, shown_row_count: 2, cost: '4.000000000000', shown_cost: '8.000000000000' }],
    },
  ],
  [
    'costs_match_one_resource',
    'a join that drops rows',
    {
      done: `create or replace view costs_with_resources as select series_id, cost from ledger.hourly_costs where cost < 1`,
      found: [{ row_count: 1, shown_row_count: null, cost: '4.000000000000', shown_cost: null }],
    },
  ],
  [
    'listings_are_complete',
    'a listing that was last read incompletely',
    {
      given: {
        listings: [
          { resource_type: 'agent', outcome: 'shrunk', reason: 'few', read_at: '2026-09-02' },
          { resource_type: 'job', outcome: 'failed', read_at: '2026-09-02' },
          { resource_type: 'job', read_at: '2026-09-03' },
          { resource_type: 'model', outcome: 'refused' },
          { token_workspace: 'south', outcome: 'partial' },
        ],
      },
      found: [
        { token_workspace: null, resource_type: 'agent', outcome: 'shrunk', reason: 'few' },
        { token_workspace: 'south', resource_type: 'sandbox', outcome: 'partial' },
      ],
    },
  ],
  [
    'listings_are_complete',
    'listings that the platform refuses, all of them or after it served them',
    {
      given: {
        listings: [
          { resource_type: 'agent', outcome: 'refused', read_at: '2026-09-02' },
          { resource_type: 'agent', read_at: '2026-09-01' },
          { resource_type: 'job', read_at: '2026-09-02' },
          { token_workspace: 'south', resource_type: 'agent', outcome: 'refused' },
          { account: 'acc_two', resource_type: 'job', outcome: 'refused' },
        ],
      },
      found: [
        { account: 'acc_one', token_workspace: null, resource_type: 'agent', outcome: 'refused' },
        { account: 'acc_two', token_workspace: null, resource_type: 'job', outcome: 'refused' },
      ],
    },
  ],
  [
    'workspaces_are_listed',
    'a workspace with costs of which no listing ever showed a resource, also while listings fail',
    {
      given: { listings: [{ read_at: '2026-08-01' }, { run_number: 2, read_at: '2026-09-08', outcome: 'failed' }] },
      done: 'delete from ledger.resources; update ledger.hourly_costs set cost = 5',
      found: [
        { account: 'acc_one', cost: '10.000000000000' },
        { account: 'acc_one', workspace: null, cost: '5.000000000000' },
      ],
    },
  ],
  [
    'resources_have_one_state_at_a_time',
    'states that overlap',
    {
      given: { resources: [{ valid_from: '2026-08-01', valid_to: '2026-09-01 00:10:00', ended_at: '2026-09-02' }] },
      found: [{ valid_from: '2026-08-01T00:00:00Z', next_valid_from: '2026-09-01T00:00:00Z' }],
    },
  ],
  [
    'resources_have_one_state_at_a_time',
    'two current states',
    {
      given: { resources: [{ valid_from: '2026-09-03', recorded_at: '2026-09-03' }] },
      found: [{ valid_from: '2026-09-01T00:30:00Z', next_valid_from: '2026-09-03T00:00:00Z' }],
    },
  ],
  [
    'resources_have_one_state_at_a_time',
    'a state that ends when it starts',
    {
      given: { resources: [{ workspace: 'south', valid_to: '2026-09-01', ended_at: '2026-09-02' }] },
      found: [{ workspace: 'south' }],
    },
  ],
  [
    'resources_have_one_state_at_a_time',
    'an end that was recorded before its state',
    { given: { resources: [{ workspace: 'south', valid_to: '2026-09-03' }] }, found: [{ workspace: 'south' }] },
  ],
  [
    'allocation_keeps_every_cost',
    'a cost that a join repeats',
    {
      done: `insert into ledger.series from ledger.series where account = 'acc_two'`,
      found: [{ usage_month: '2026-09-01', loaded_cost: '4.000000000000', allocated_cost: '8.000000000000' }],
    },
  ],
  [
    'unproven_windows_do_not_overlap',
    'hours that are recorded twice',
    { given: { unproven: [{ window_start: '2026-09-07' }] }, found: [{ unproven_before: '2026-09-08T00:00:00Z' }] },
  ],
  [
    'usage_is_not_negative',
    'negative usage',
    {
      given: { costs: [{ bucket_start: '2026-09-01 05:00:00', usage: '-1', cost: '-1' }] },
      found: [{ bucket_start: '2026-09-01T05:00:00Z', usage: '-1.000000' }],
    },
  ],
];

/** The result of a check on the correct books plus the given rows. */
async function checked(name: string, { given = {}, done }: Pick<Case, 'given' | 'done'>): Promise<unknown[]> {
  const check = (await readChecks('/nowhere')).find((candidate) => candidate.name === name);
  if (check === undefined) throw new Error(`there is no check ${name}`);
  const both: Record<string, unknown[]> = {};
  for (const [table, rows] of [...Object.entries(sound), ...Object.entries(given)])
    both[table] = [...(both[table] ?? []), ...rows];
  const books = await givenBooks(both as Given);
  try {
    if (done !== undefined) await books.connection.run(done);
    const { rows, offenders, error } = await runCheck(books.connection, check);
    expect({ error, offenders }).toEqual({ error: undefined, offenders: rows.length });
    return [...rows];
  } finally {
    books.close();
  }
}

test('every check has a case', async () => {
  const names = (await readChecks('/nowhere')).map(({ name }) => name);
  // What takes rules to be seen has its cases with the allocation.
  expect([...new Set([...cases.map(([name]) => name), 'splits_have_weights'])].sort()).toEqual(names);
});

test('no check finds anything in correct books', async () => {
  for (const { name } of await readChecks('/nowhere')) expect(await checked(name, {}), name).toEqual([]);
});

test.each(cases)('%s: finds %s', async (name, _, { found, ...given }) => {
  const rows = await checked(name, given);
  expect(rows).toMatchObject(found);
  expect(rows).toHaveLength(found.length);
});

test('loads_are_in_order finds nothing after a clock that is known to have been fast, nor between two accounts of a run', async () => {
  const later = { load_number: 4, run_number: 1 };
  for (const loads of [
    // The platform said then that it was earlier.
    [{ ...later, seen_at: '2026-10-09', platform_at: '2026-09-09 02:00:00' }],
    [{ ...later, seen_at: '2026-09-09 02:00:00.001' }],
  ]) {
    const next = { load_number: 5, run_number: 1, seen_at: '2026-09-09 02:00:00' };
    expect(await checked('loads_are_in_order', { given: { loads: [...loads, next] } })).toEqual([]);
  }
});

test('checks for possible problems warn, checks for certain errors fail', async () => {
  const warnings = (await readChecks('/nowhere')).filter(({ severity }) => severity === 'warn');
  expect(warnings.map(({ name }) => name)).toEqual([
    'coverage_has_no_hole',
    'listings_are_complete',
    'months_are_closed_after_their_end',
    'splits_have_weights',
    'usage_is_not_negative',
    'workspaces_are_listed',
  ]);
});
