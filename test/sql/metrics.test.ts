import { describe, expect, test } from 'vitest';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { expositionText } from '../../src/metrics/exposition.ts';
import { type MetricsAsked, readMetrics } from '../../src/metrics/metrics.ts';
import { parseExposition } from '../support/exposition.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

const now = Date.parse('2026-09-09T02:00:00Z');
const asked: MetricsAsked = {
  now,
  version: '1.2.3',
  run: { command: 'plan', seconds: 1 },
  answers: new Map(),
  unrecorded: { commands: new Map(), jobs: new Map() },
  freshnessHours: 26,
  configured: [],
  jobs: [],
  sinks: [],
  budgets: [],
  spends: undefined,
  snapshotBytes: undefined,
};

/** The samples of given books whose metric has this prefix, one per line: name, labels, value. */
async function samples(given: Given, beginning: string, further: Partial<MetricsAsked> = {}): Promise<string[]> {
  const books = await givenBooks(given);
  try {
    const text = expositionText(await readMetrics(books.connection, { ...asked, ...further }));
    return [...parseExposition(text)]
      .flatMap(([, metric]) => metric.samples)
      .filter(({ name }) => name.startsWith(`costbook_${beginning}`))
      .map(({ name, labels, value }) => [name.slice('costbook_'.length), ...Object.values(labels), value].join(' '));
  } finally {
    books.close();
  }
}

const seconds = (text: string) => Date.parse(text) / 1000;
const fresh: Given = { accounts: [{}], loads: [{}], covered: [{}] };

function run(
  run_number: number,
  command: string,
  started_at: string,
  ended_at: string | null,
  outcome: string,
  exit_code: number | null,
) {
  return { run_number, command, started_at, ended_at, outcome, exit_code };
}

describe('metrics of the books', () => {
  test('empty books omit unknown values instead of reporting 0', async () => {
    expect(await samples({}, '')).toEqual(['build_info 1.2.3 1', 'freshness_limit_seconds 93600', 'rows 0']);
    const unread = await samples({ accounts: [{ history_start: null }] }, '');
    expect(unread.filter((line) => /through|restated|requests|budget|alerts/.test(line))).toEqual([]);
  });

  test('report through when each account is complete and settled, and what is unproven', async () => {
    const given: Given = {
      accounts: [{}, { account: 'acc_two', history_start: '2026-09-02' }],
      loads: [{}],
      covered: [{}],
      unproven: [
        { window_start: '2026-08-01', window_end: '2026-08-02' },
        { window_start: '2026-09-08', window_end: '2026-09-09', is_young: true },
      ],
    };
    expect(await samples(given, 'complete_through')).toEqual([
      `complete_through_timestamp_seconds acc_one ${seconds('2026-09-08')}`,
    ]);
    expect(await samples(given, 'settled_through')).toEqual([
      `settled_through_timestamp_seconds acc_one ${seconds('2026-09-05')}`,
    ]);
    expect(await samples(given, 'unproven')).toEqual(['unproven_windows acc_one 1', 'unproven_windows acc_two 0']);
    expect(await samples(given, 'postponed')).toEqual(['postponed_windows acc_one 1', 'postponed_windows acc_two 0']);
  });

  test('count USD restated in the last thirty days, up and down separately; a new or removed row counts in full', async () => {
    const seen_at = '2026-09-08 01:00:00';
    const restatements = [
      { seen_at, old_cost: '1', new_cost: '1.5' },
      { seen_at, bucket_start: '2026-09-01 01:00:00', old_cost: null, new_cost: '0.25' },
      { seen_at, bucket_start: '2026-09-01 02:00:00', old_cost: '2', new_cost: null },
      { seen_at: '2026-08-10 01:00:00', bucket_start: '2026-08-01', old_cost: '1', new_cost: '9' },
    ];
    expect(await samples({ ...fresh, restatements }, 'restated')).toEqual([
      'restated_usd acc_one increase 0.75',
      'restated_usd acc_one decrease 2',
    ]);
    expect(await samples(fresh, 'restated')).toEqual([
      'restated_usd acc_one increase 0',
      'restated_usd acc_one decrease 0',
    ]);
  });

  test('report the last run of a command, its last success, and the number of runs by outcome', async () => {
    const runs = [
      run(1, 'ingest', '2026-09-07 02:15:00', '2026-09-07 02:16:30', 'done', 0),
      run(2, 'ingest', '2026-09-08 02:15:00', '2026-09-08 02:15:05', 'failed', 3),
      run(3, 'ingest', '2026-09-08 03:15:00', null, 'interrupted', null),
      run(4, 'close', '2026-09-08 04:00:00', '2026-09-08 04:00:00', 'failed', 4),
      run(5, 'ingest', '2026-09-09 02:00:00', null, 'running', null),
    ];
    expect(await samples({ runs }, 'last_')).toEqual([
      `last_success_timestamp_seconds ingest ${seconds('2026-09-07T02:16:30Z')}`,
      `last_run_timestamp_seconds close ${seconds('2026-09-08T04:00Z')}`,
      `last_run_timestamp_seconds ingest ${seconds('2026-09-08T02:15:05Z')}`,
      'last_run_exit_code close 4',
      'last_run_exit_code ingest 3',
      // The clock of the close stood still: how long it took is not known.
      'last_run_duration_seconds ingest 5',
    ]);
    expect(await samples({ runs }, 'runs_total')).toEqual([
      ...['close done 0', 'close failed 1', 'close interrupted 0', 'close left_out 0'].map(
        (line) => `runs_total ${line}`,
      ),
      ...['ingest done 1', 'ingest failed 1', 'ingest interrupted 1', 'ingest left_out 0'].map(
        (line) => `runs_total ${line}`,
      ),
    ]);
    expect(await samples({ runs }, 'last_run_duration', { run: { command: 'close', seconds: 1.25 } })).toContain(
      'last_run_duration_seconds close 1.25',
    );
  });

  test('count a step of a job as a run of its command, and the job separately', async () => {
    const given: Given = {
      runs: [
        run(1, 'run nightly', '2026-09-08 02:15:00', '2026-09-08 02:17:00', 'failed', 4),
        run(2, 'run nightly', '2026-09-09 02:15:00', null, 'missed', null),
      ],
      job_runs: [{ run_number: 1 }, { run_number: 2 }],
      steps: [
        { run_number: 1, position: 1, step: 'ingest', outcome: 'done', exit_code: 0, seconds: '61.5' },
        { run_number: 1, position: 2, step: 'check', outcome: 'failed', exit_code: 4, seconds: '0.25' },
        { run_number: 1, position: 3, step: 'report', outcome: 'left_out', exit_code: null, seconds: null },
      ],
    };
    expect(await samples(given, 'job_')).toEqual([
      `job_last_run_timestamp_seconds nightly ${seconds('2026-09-08T02:17:00Z')}`,
      'job_last_run_exit_code nightly 4',
      'job_last_run_duration_seconds nightly 120',
      'job_runs_total nightly done 0',
      'job_runs_total nightly failed 1',
      'job_runs_total nightly interrupted 0',
      'job_runs_total nightly missed 1',
    ]);
    expect(await samples(given, 'last_')).toEqual([
      `last_success_timestamp_seconds ingest ${seconds('2026-09-08T02:15:09Z')}`,
      `last_run_timestamp_seconds check ${seconds('2026-09-08T02:15:09Z')}`,
      `last_run_timestamp_seconds ingest ${seconds('2026-09-08T02:15:09Z')}`,
      'last_run_exit_code check 4',
      'last_run_exit_code ingest 0',
      'last_run_duration_seconds check 0.25',
      'last_run_duration_seconds ingest 61.5',
    ]);
    expect(await samples(given, 'runs_total')).toContain('runs_total report left_out 1');
  });

  test('report budgets of the present period whose spend is known', async () => {
    const budgets = parseBudgets({
      text: 'budgets:\n  - { name: all, period: monthly, amount: 200 USD }\n  - { name: other, period: monthly, amount: 10 USD, scope: { account: acc_two } }\n',
      file: 'jobs/budgets.yaml',
      now,
      sinks: [],
    });
    const costs = [
      { bucket_start: '2026-09-03', cost: '25' },
      { bucket_start: '2026-08-03', cost: '90' },
    ];
    expect(await samples({ ...fresh, costs }, 'budget', { budgets })).toEqual([
      'budget_spent_usd all 25',
      'budget_amount_usd all 200',
      'budget_amount_usd other 10',
      'budget_spent_ratio all 0.125',
      `budget_period_end_timestamp_seconds all ${seconds('2026-10-01')}`,
      `budget_period_end_timestamp_seconds other ${seconds('2026-10-01')}`,
    ]);
    expect(await samples({ ...fresh, costs }, 'budget', { budgets, freshnessHours: undefined })).toEqual([]);
  });

  test("report a budget's forecast for its present period only", async () => {
    const budgets = parseBudgets({
      text: 'budgets:\n  - { name: everything, period: monthly, amount: 20 USD }\n  - { name: later, period: monthly, amount: 20 USD }\n',
      file: 'jobs/budgets.yaml',
      now,
      sinks: [],
    });
    const forecasts = [
      { forecast: '9', run_number: 1 },
      { forecast: '25' },
      { budget: 'later', period: '2026-08', period_start: '2026-08-01', period_end: '2026-09-01' },
    ];
    expect(await samples({ ...fresh, forecasts }, 'budget_forecast', { budgets })).toEqual([
      'budget_forecast_usd everything 25',
      'budget_forecast_ratio everything 1.25',
    ]);
  });

  test('report spend of the month and of the last complete day, in total, by workspace and by resource type', async () => {
    const costs = [
      { bucket_start: '2026-09-07 05:00:00', cost: '10' },
      { bucket_start: '2026-09-07 23:00:00', cost: '2.5', workspace: 'south', resource_type: 'agent' },
      { bucket_start: '2026-09-07 23:00:00', cost: '1', workspace: null },
      { bucket_start: '2026-09-06 23:00:00', cost: '4', workspace: 'old' },
      { bucket_start: '2026-08-31 23:00:00', cost: '100' },
      { bucket_start: '2026-09-08 00:00:00', cost: '0.25' },
    ];
    const given: Given = { accounts: [{ history_start: '2026-08-01' }], loads: [{}], costs };
    const read = (covered: Given['covered']) => samples({ ...given, ...(covered && { covered }) }, '');
    const spent = (lines: readonly string[]) => lines.filter((line) => /^\S*(month_to_date|latest_day)/.test(line));
    expect(spent(await read([{ window_start: '2026-08-01' }]))).toEqual([
      'month_to_date_usd acc_one 17.75',
      'latest_day_usd acc_one 13.5',
      `latest_day_start_timestamp_seconds acc_one ${seconds('2026-09-07')}`,
      ...['north 10.25', 'old 4', 'south 2.5', '(none) 1'].map((line) => `workspace_month_to_date_usd acc_one ${line}`),
      ...['north 10', 'old 0', 'south 2.5', '(none) 1'].map((line) => `workspace_latest_day_usd acc_one ${line}`),
      ...['sandbox 15.25', 'agent 2.5'].map((line) => `resource_type_month_to_date_usd acc_one ${line}`),
      ...['sandbox 11', 'agent 2.5'].map((line) => `resource_type_latest_day_usd acc_one ${line}`),
    ]);
    // Nothing of September is complete: the day that is has its numbers, the month has none.
    const august = await read([{ window_start: '2026-08-01', window_end: '2026-08-31', claimed_end: '2026-08-31' }]);
    expect(spent(august)).toEqual([
      'latest_day_usd acc_one 0',
      `latest_day_start_timestamp_seconds acc_one ${seconds('2026-08-30')}`,
    ]);
    expect(spent(await samples({ ...given, accounts: [{ history_start: null }] }, ''))).toEqual([]);
  });

  test('report spend in a bounded number of samples that add up to the total, for any number of workspaces', async () => {
    const costs = ['acc_one', 'acc_two'].flatMap((account) =>
      Array.from({ length: 100 }, (_, index) => ({
        account,
        workspace: `w${index}`,
        bucket_start: '2026-09-07 05:00:00',
        cost: String(index + 1),
      })),
    );
    const given: Given = {
      accounts: [{}, { account: 'acc_two' }],
      loads: [{}],
      covered: [{}, { account: 'acc_two' }],
      costs,
    };
    const lines = await samples(given, 'workspace_month_to_date_usd');
    expect(lines).toHaveLength(50 + 2);
    expect(lines[0]).toBe('workspace_month_to_date_usd acc_one w99 100');
    expect(lines.filter((line) => line.includes('(others)'))).toEqual([
      'workspace_month_to_date_usd acc_one (others) 2850',
      'workspace_month_to_date_usd acc_two (others) 2850',
    ]);
    const total = lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    expect(total).toBe(2 * 5050);
  });

  test('start counters at 0 for every job and sink of the project, so that the first event is an increase', async () => {
    const lines = await samples({}, '', { jobs: ['nightly'], sinks: ['ops'] });
    expect(lines.filter((line) => line.endsWith(' 0') && !line.startsWith('rows'))).toEqual([
      'job_runs_total nightly done 0',
      'job_runs_total nightly failed 0',
      'job_runs_total nightly interrupted 0',
      'job_runs_total nightly missed 0',
      'outbox_pending_messages ops 0',
      'outbox_dead_messages_total ops 0',
    ]);
  });

  test('report open alerts by severity after the first evaluation, and undelivered messages by sink', async () => {
    const alert = run(1, 'alert', '2026-09-08', '2026-09-08', 'done', 0);
    expect(await samples(fresh, 'open_alerts')).toEqual([]);
    expect(await samples({ ...fresh, runs: [alert] }, 'open_alerts')).toEqual([
      'open_alerts critical 0',
      'open_alerts info 0',
      'open_alerts warning 0',
    ]);
    const told: Given = {
      ...fresh,
      runs: [alert],
      alerts: [
        { alert_key: 'a', severity: 'critical' },
        { alert_key: 'b', severity: 'critical', ended_at: '2026-09-08', ending: 'resolved' },
      ],
      outbox: [
        { message_number: 1, sink: 'a"b', outcome: 'delivered', ended_at: '2026-09-08' },
        { message_number: 2, sink: 'a"b', outcome: 'dead', ended_at: '2026-09-08' },
        { message_number: 3, sink: 'ops', outcome: null, ended_at: null, queued_at: '2026-09-07' },
      ],
    };
    expect(await samples(told, 'open_alerts')).toContain('open_alerts critical 1');
    expect(await samples(told, 'outbox')).toEqual([
      'outbox_pending_messages a"b 0',
      'outbox_pending_messages ops 1',
      `outbox_oldest_pending_timestamp_seconds ops ${seconds('2026-09-07')}`,
      'outbox_dead_messages_total a"b 1',
      'outbox_dead_messages_total ops 0',
    ]);
  });
});
