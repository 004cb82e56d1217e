import { describe, expect, test } from 'vitest';
import { answer } from '../support/given-books.ts';

test.each(['costs', 'costs_v1'])('%s has an hour of a series with its unit', async (view) => {
  const rows = await answer(
    {
      costs: [
        { bucket_start: '2026-09-01 23:00:00', cost: '1.000000000001', usage: '2.5' },
        { workspace: null, resource_uuid: null, resource_name: null, billing_dimension: 'made_up_hours', cost: '-3' },
        { billing_dimension: 'brand_new_thing', usage: '7' },
      ],
    },
    `select * from ${view} order by cost desc`,
  );
  const box = { account: 'acc_one', workspace: 'north', resource_type: 'sandbox', resource_name: 'box' };
  expect(rows).toEqual([
    {
      ...box,
      bucket_start: '2026-09-01 23:00:00',
      bucket_end: '2026-09-02 00:00:00',
      resource_uuid: 'sbx-1',
      billing_dimension: 'sandbox_compute_runtime_gbs',
      unit: 'GB-seconds',
      cost: '1.000000000001',
      usage: '2.500000',
    },
    {
      ...box,
      bucket_start: '2026-09-01 00:00:00',
      bucket_end: '2026-09-01 01:00:00',
      resource_uuid: 'sbx-1',
      billing_dimension: 'brand_new_thing',
      unit: null,
      cost: '0.000000000000',
      usage: '7.000000',
    },
    {
      ...box,
      workspace: null,
      resource_name: null,
      resource_uuid: null,
      bucket_start: '2026-09-01 00:00:00',
      bucket_end: '2026-09-01 01:00:00',
      billing_dimension: 'made_up_hours',
      unit: 'hours',
      cost: '-3.000000000000',
      usage: '0.000000',
    },
  ]);
});

test.each([
  ['agent_async_requests_count', 'count'],
  ['custom_domain_active_time_hours', 'hours'],
  ['volume_storage_gbs', 'GB-seconds'],
  ['gpu_runtime_gbs', 'GB-seconds'],
  ['things_count', 'count'],
  ['counts', null],
])('costs: the unit of %s is %s', async (dimension, unit) => {
  expect(await answer({ costs: [{ billing_dimension: dimension, cost: '1' }] }, 'select unit from costs')).toEqual([
    { unit },
  ]);
});

test('costs_daily sums hours from midnight to midnight UTC exactly', async () => {
  const rows = await answer(
    {
      costs: [
        { bucket_start: '2026-09-01 23:00:00', cost: '0.1', usage: '1' },
        { bucket_start: '2026-09-02 00:00:00', cost: '0.1', usage: '1' },
        { bucket_start: '2026-09-02 23:00:00', cost: '0.2', usage: '2' },
        { bucket_start: '2026-09-02 05:00:00', cost: '5', workspace: null },
        { bucket_start: '2026-09-03 00:00:00', cost: '0.4' },
      ],
    },
    'select usage_date, workspace, unit, cost, usage from costs_daily order by usage_date, workspace nulls last',
  );
  expect(rows).toEqual([
    { usage_date: '2026-09-01', workspace: 'north', unit: 'GB-seconds', cost: '0.100000000000', usage: '1.000000' },
    { usage_date: '2026-09-02', workspace: 'north', unit: 'GB-seconds', cost: '0.300000000000', usage: '3.000000' },
    { usage_date: '2026-09-02', workspace: null, unit: 'GB-seconds', cost: '5.000000000000', usage: '0.000000' },
    { usage_date: '2026-09-03', workspace: 'north', unit: 'GB-seconds', cost: '0.400000000000', usage: '0.000000' },
  ]);
});

test('costs_monthly sums hours from the first of the month to the next exactly', async () => {
  const rows = await answer(
    {
      costs: [
        { bucket_start: '2026-08-31 23:00:00', cost: '1' },
        { bucket_start: '2026-09-01 00:00:00', cost: '0.1' },
        { bucket_start: '2026-09-30 23:00:00', cost: '0.2' },
        { bucket_start: '2026-10-01 00:00:00', cost: '4' },
        { bucket_start: '2026-09-15 00:00:00', cost: '9', account: 'acc_two' },
      ],
    },
    'select account, usage_month, cost from costs_monthly order by all',
  );
  expect(rows).toEqual([
    { account: 'acc_one', usage_month: '2026-08-01', cost: '1.000000000000' },
    { account: 'acc_one', usage_month: '2026-09-01', cost: '0.300000000000' },
    { account: 'acc_one', usage_month: '2026-10-01', cost: '4.000000000000' },
    { account: 'acc_two', usage_month: '2026-09-01', cost: '9.000000000000' },
  ]);
});

test('hourly_costs has an hour by the number of its series, and series has the names of that number', async () => {
  const given = {
    costs: [
      { bucket_start: '2026-09-01 00:00:00', cost: '1', usage: '2' },
      { bucket_start: '2026-09-01 01:00:00', cost: '3', account: 'acc_two', workspace: null, billing_dimension: null },
    ],
  };
  expect(await answer(given, 'select * from hourly_costs order by series_id')).toEqual([
    {
      series_id: '1',
      bucket_start: '2026-09-01 00:00:00',
      cost: '1.000000000000',
      usage: '2.000000',
    },
    {
      series_id: '2',
      bucket_start: '2026-09-01 01:00:00',
      cost: '3.000000000000',
      usage: '0.000000',
    },
  ]);
  const box = { resource_type: 'sandbox', resource_name: 'box', resource_uuid: 'sbx-1' };
  expect(await answer(given, 'select * from series order by series_id')).toEqual([
    {
      ...box,
      series_id: '1',
      account: 'acc_one',
      workspace: 'north',
      billing_dimension: 'sandbox_compute_runtime_gbs',
      unit: 'GB-seconds',
    },
    { ...box, series_id: '2', account: 'acc_two', workspace: null, billing_dimension: null, unit: null },
  ]);
});

test.each(['costs_daily', 'costs_monthly'])('%s never converts an amount to a double', async (view) => {
  const many = Array.from({ length: 30 }, (_, hour) => ({
    bucket_start: `2026-09-01 ${String(hour % 24).padStart(2, '0')}:00:00`,
    resource_uuid: null,
    cost: hour % 2 === 0 ? '999999.999999999999' : '0.000000000001',
  }));
  expect(
    await answer({ costs: many }, `select typeof(cost) as cost_type, typeof(usage) as usage_type, cost from ${view}`),
  ).toEqual([{ cost_type: 'DECIMAL(38,12)', usage_type: 'DECIMAL(38,6)', cost: '15000000.000000000000' }]);
});

test('coverage keeps the claimed part of a window inside it', async () => {
  const rows = await answer(
    {
      loads: [{ load_number: 7, seen_at: '2026-09-20 00:30:00' }],
      covered: [
        { load_number: 7, window_start: '2026-09-01', window_end: '2026-09-02', claimed_end: '2026-09-05' },
        { load_number: 7, window_start: '2026-09-02', window_end: '2026-09-06', claimed_end: '2026-09-05' },
        {
          load_number: 7,
          window_start: '2026-09-06',
          window_end: '2026-09-07',
          claimed_end: '2026-09-05',
          role: 'member',
        },
      ],
    },
    'select window_start, window_end, claimed_end, role, load_number, seen_at from coverage order by window_start',
  );
  function day(number: number): string {
    return `2026-09-0${number} 00:00:00`;
  }
  const load = { load_number: '7', seen_at: '2026-09-20 00:30:00' };
  expect(rows).toEqual([
    { window_start: day(1), window_end: day(2), claimed_end: day(2), role: 'admin', ...load },
    { window_start: day(2), window_end: day(6), claimed_end: day(5), role: 'admin', ...load },
    { window_start: day(6), window_end: day(7), claimed_end: day(6), role: 'member', ...load },
  ]);
});

describe('accounts: complete through and settled through', () => {
  type Piece = readonly [start: string, end: string, claimedEnd?: string];

  test.each<[string, readonly Piece[], string | null, string | null]>([
    ['nothing is covered', [], null, null],
    ['the first hour is missing', [['2026-09-02', '2026-09-08']], null, null],
    [
      'all windows touch',
      [
        ['2026-09-01', '2026-09-05'],
        ['2026-09-05', '2026-09-09'],
      ],
      '2026-09-09',
      '2026-09-06',
    ],
    [
      'there is a gap',
      [
        ['2026-09-01', '2026-09-06'],
        ['2026-09-07', '2026-09-09'],
      ],
      '2026-09-06',
      '2026-09-03',
    ],
    ['the end is too young', [['2026-09-01', '2026-09-09', '2026-09-07']], '2026-09-07', '2026-09-04'],
    [
      'the middle was too young when it was fetched',
      [
        ['2026-09-01', '2026-09-05', '2026-09-04'],
        ['2026-09-05', '2026-09-09'],
      ],
      '2026-09-04',
      '2026-09-01',
    ],
    ['the books start within a window', [['2026-08-28', '2026-09-09']], '2026-09-09', '2026-09-06'],
    ['everything is before the start of the books', [['2026-08-20', '2026-08-27']], null, null],
    ['fewer days than settleDays are loaded', [['2026-09-01', '2026-09-02']], '2026-09-02', '2026-09-01'],
    ['all of a window is too young', [['2026-09-01', '2026-09-02', '2026-08-30']], null, null],
  ])('are right if %s', async (_, chunks, complete, settled) => {
    const [row] = await answer(
      {
        accounts: [{}],
        covered: chunks.map(([window_start, window_end, claimed_end = window_end]) => ({
          window_start,
          window_end,
          claimed_end,
        })),
      },
      'select cast(complete_through as varchar) as complete, cast(settled_through as varchar) as settled from accounts',
    );
    expect(row).toEqual({
      complete: complete === null ? null : `${complete} 00:00:00`,
      settled: settled === null ? null : `${settled} 00:00:00`,
    });
  });

  test('differ by account', async () => {
    const rows = await answer(
      {
        accounts: [{}, { account: 'acc_two', name: 'Labs', role: null, history_start: '2026-09-03', settle_days: 0 }],
        covered: [
          { window_end: '2026-09-09', claimed_end: '2026-09-09' },
          { account: 'acc_two', window_start: '2026-09-03', window_end: '2026-09-04', claimed_end: '2026-09-04' },
        ],
      },
      'select * from accounts order by account',
    );
    expect(rows).toEqual([
      {
        account: 'acc_one',
        name: null,
        role: 'admin',
        history_start: '2026-09-01 00:00:00',
        first_covered: '2026-09-01 00:00:00',
        complete_through: '2026-09-09 00:00:00',
        settled_through: '2026-09-06 00:00:00',
        ended_at: null,
      },
      {
        account: 'acc_two',
        name: 'Labs',
        role: null,
        history_start: '2026-09-03 00:00:00',
        first_covered: '2026-09-03 00:00:00',
        complete_through: '2026-09-04 00:00:00',
        settled_through: '2026-09-04 00:00:00',
        ended_at: null,
      },
    ]);
  });
});

test('reconciliation has every comparison, passed or failed', async () => {
  const rows = await answer(
    {
      reconciliation: [
        {},
        { load_number: null, proven: false, ours: '1.5', theirs: '1', difference: '0.5', tolerance: 0.01 },
      ],
    },
    'select * from reconciliation order by proven desc',
  );
  const passed = {
    run_number: '1',
    attempt: 1,
    load_number: '1',
    account: 'acc_one',
    window_start: '2026-09-01 00:00:00',
    window_end: '2026-09-08 00:00:00',
    check_code: 'rows_match_control',
    measure: 'cost',
    billing_dimension: null,
    row_count: '1',
    ours: '1.000000000000',
    theirs: '1.000000000000',
    difference: '0.000000000000',
    tolerance: 0.5,
    proven: true,
    proven_at: '2026-09-08 01:00:00',
  };
  expect(rows).toEqual([
    passed,
    {
      ...passed,
      load_number: null,
      proven: false,
      ours: '1.500000000000',
      difference: '0.500000000000',
      tolerance: 0.01,
    },
  ]);
});

test('restatements has old and new values with the dimensions of their series', async () => {
  const rows = await answer(
    {
      restatements: [
        { workspace: null, resource_uuid: null, bucket_start: '2026-09-01 05:00:00', old_cost: '1', old_usage: '2' },
        { bucket_start: '2026-09-01 06:00:00', new_cost: '3', new_usage: '4', load_number: 9 },
      ],
    },
    'select * exclude (resource_type, billing_dimension) from restatements order by bucket_start',
  );
  expect(rows).toEqual([
    {
      account: 'acc_one',
      bucket_start: '2026-09-01 05:00:00',
      workspace: null,
      resource_name: 'box',
      resource_uuid: null,
      old_cost: '1.000000000000',
      new_cost: null,
      old_usage: '2.000000',
      new_usage: null,
      load_number: '2',
      seen_at: '2026-09-09 01:00:00',
    },
    {
      account: 'acc_one',
      bucket_start: '2026-09-01 06:00:00',
      workspace: 'north',
      resource_name: 'box',
      resource_uuid: 'sbx-1',
      old_cost: null,
      new_cost: '3.000000000000',
      old_usage: null,
      new_usage: '4.000000',
      load_number: '9',
      seen_at: '2026-09-09 01:00:00',
    },
  ]);
});

/** What a view shows of one failure without a step. */
function failed(error: string) {
  const failures = JSON.stringify([{ code: 'unknown', subject: null, found: error, next: null }]);
  return { error, error_code: 'unknown', next_step: null, failures };
}

test('a run with several failures has a line for each, and the code and the step of the first', async () => {
  const failure = { code: 'answered_401', subject: 'api.example.com', found: 'no access', step: 'ingest' };
  const next = { who: 'Act', words: 'replace the token.' };
  const failures = JSON.stringify([
    { ...failure, next },
    { ...failure, code: 'x', found: 'no rows', step: 'check' },
  ]);
  const columns = 'error, error_code, next_step';
  expect(await answer({ runs: [{ failures }] }, `select ${columns} from runs`)).toEqual([
    {
      error: 'ingest: no access\ncheck: no rows',
      error_code: 'answered_401',
      next_step: 'Act: replace the token.',
    },
  ]);
});

test('runs has every run, even one in progress, with its job and slot', async () => {
  const rows = await answer(
    {
      runs: [
        {},
        { run_number: 2, ended_at: null, outcome: 'running', exit_code: null },
        { run_number: 3, command: 'run nightly', outcome: 'missed', exit_code: null, error: 'nobody ran it' },
        { run_number: 4, command: 'run nightly' },
      ],
      job_runs: [{ run_number: 3 }, { run_number: 4, slot: null }],
    },
    'select * from runs order by run_number',
  );
  const done = {
    run_number: '1',
    command: 'ingest',
    started_at: '2026-09-08 01:00:00',
    ended_at: '2026-09-08 01:01:00',
    outcome: 'done',
    exit_code: 0,
    ...{ error: null, error_code: null, next_step: null, failures: null },
    job: null,
    slot: null,
  };
  const missed = { outcome: 'missed', exit_code: null, ...failed('nobody ran it'), slot: '2026-09-08 02:15:00' };
  expect(rows).toEqual([
    done,
    { ...done, run_number: '2', ended_at: null, outcome: 'running', exit_code: null },
    { ...done, run_number: '3', command: 'run nightly', job: 'nightly', ...missed },
    { ...done, run_number: '4', command: 'run nightly', job: 'nightly' },
  ]);
});

test('run_steps has every step of a run, even one that was left out', async () => {
  const leftOut = { outcome: 'left_out', exit_code: null, error: 'ingest failed', figures: null };
  const rows = await answer(
    {
      steps: [
        { outcome: 'failed', exit_code: 3, error: 'refused' },
        { position: 2, step: 'report', command_line: 'report focus', ...leftOut },
      ],
    },
    'select * from run_steps order by run_number, position',
  );
  const step = {
    run_number: '1',
    position: 1,
    step: 'ingest',
    command_line: 'ingest',
    outcome: 'failed',
    started_at: '2026-09-08 02:15:01',
    ended_at: '2026-09-08 02:15:09',
    seconds: '8.125',
    exit_code: 3,
    ...failed('refused'),
    figures: '{"rows":5}',
  };
  expect(rows).toEqual([
    step,
    { ...step, position: 2, step: 'report', command_line: 'report focus', ...leftOut, ...failed('ingest failed') },
  ]);
});

test('only views are public: every table is in the ledger', async () => {
  const sql = `select table_name from duckdb_tables() where database_name = 'wh' and schema_name = 'main'`;
  expect(await answer({}, sql)).toEqual([]);
});
