import { amountIn, type Budget, budgetCalendar, unitOf } from '../budgets/rules/index.ts';
import { readSpends, type SpendNow, withCarried } from '../budgets/spend/index.ts';
import { decimalOfWhole, moneyOf, moneyText, rounded, usdUnit } from '../money/money.ts';
import { addCalendarMonths, dayMs, floorMonth, formatInstant, type Instant } from '../time/time.ts';
import { readSqlFolder } from '../warehouse/sql/index.ts';
import type { Connection, SqlParameters, SqlRow } from '../warehouse/store/index.ts';
import { type Metric, type Sample, sampleIn } from './exposition.ts';

/** Inputs of the metrics besides the books. */
export interface MetricsAsked {
  readonly now: Instant;
  readonly version: string;
  /** The run that just ended, which the books do not have yet. */
  readonly run: EndedRun;
  /** The platform's answers by status, over all runs; `none` counts requests without a complete answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** The runs that could not open the books, from the metrics file: the books have no row for them. */
  readonly unrecorded: UnrecordedRuns;
  /** Undefined if the configuration cannot be read. */
  readonly freshnessHours: number | undefined;
  readonly configured: readonly string[];
  /** Every job of the project and every configured sink, even if the books do not mention it. */
  readonly jobs: readonly string[];
  readonly sinks: readonly string[];
  /** Empty if there are none, or if their file has mistakes. */
  readonly budgets: readonly Budget[];
  /** Their spend, if it was just computed; otherwise it is read from the books. */
  readonly spends: readonly SpendNow[] | undefined;
  /** Undefined if unknown. */
  readonly snapshotBytes: number | undefined;
}

export interface EndedRun {
  /** The job's name, if the run was a job. */
  readonly job?: string | undefined;
  readonly command: string;
  /** Real time, also with `--now`. */
  readonly seconds: number;
}

/** How long restatements are reported, so that a collector sees them in spite of an outage. */
const restatedDays = 30;

/** How many workspaces, and resource types, get samples of their own: each is a series for the collector. */
const largest = 50;

type Definition = Omit<Metric, 'samples' | 'name'>;
const gauge = (help: string): Definition => ({ type: 'gauge', help });
const counter = (help: string): Definition => ({ type: 'counter', help });

/** Every metric, in the order of the file. */
const definitions = {
  costbook_build_info: gauge('The version of Costbook that wrote these metrics; always 1.'),
  costbook_last_success_timestamp_seconds: gauge(
    'When a command last succeeded, on its own or as a step of a job, in seconds since 1970.',
  ),
  costbook_last_run_timestamp_seconds: gauge('When a command last ended, successfully or not, in seconds since 1970.'),
  costbook_last_run_exit_code: gauge('Exit code of the last run of a command, also as a step of a job.'),
  costbook_last_run_duration_seconds: gauge('Duration of the last run of a command, in seconds.'),
  costbook_runs_total: counter(
    'Runs of a command by outcome: done, failed, interrupted (killed), left_out (a step that its job did not start).',
  ),
  costbook_job_last_success_timestamp_seconds: gauge('When a job last succeeded, in seconds since 1970.'),
  costbook_job_last_run_timestamp_seconds: gauge('When a job last ended, successfully or not, in seconds since 1970.'),
  costbook_job_last_run_exit_code: gauge('Exit code of the last run of a job.'),
  costbook_job_last_run_duration_seconds: gauge('Duration of the last run of a job, in seconds.'),
  costbook_job_runs_total: counter(
    'Runs of a job by outcome: done, failed, interrupted (killed), missed (a scheduled run that did not happen).',
  ),
  costbook_unrecorded_runs_total: counter(
    'Runs of a command that failed because they could not open the books; costbook_runs_total counts them too.',
  ),
  costbook_job_unrecorded_runs_total: counter(
    'Runs of a job that failed because they could not open the books; costbook_job_runs_total counts them too.',
  ),
  costbook_complete_through_timestamp_seconds: gauge(
    'Every hour of the account before this instant is loaded and proven, in seconds since 1970.',
  ),
  costbook_settled_through_timestamp_seconds: gauge(
    'Hours of the account before this instant are no longer expected to change, in seconds since 1970.',
  ),
  costbook_freshness_limit_seconds: gauge(
    'Largest allowed age of complete-through (the setting freshness), in seconds.',
  ),
  costbook_unproven_windows: gauge("Windows of the account that do not match the platform's totals."),
  costbook_postponed_windows: gauge(
    'Recent windows of the account that are not proven yet; the next run fetches them again.',
  ),
  costbook_restated_usd: gauge(
    `USD by which hours of the account changed after they were loaded, seen in the ${restatedDays} days before the run, by direction.`,
  ),
  costbook_account_requests_total: counter('Requests that ingests made for the account; each page counts once.'),
  costbook_account_retries_total: counter('Requests of ingests for the account that were retried.'),
  costbook_account_loaded_rows_total: counter('Cost rows that ingests loaded for the account.'),
  costbook_last_ingest_requests: gauge('Requests that the last ingest made for the account.'),
  costbook_last_ingest_retries: gauge('Retries of the last ingest for the account.'),
  costbook_last_ingest_rows: gauge('Cost rows that the last ingest loaded for the account.'),
  costbook_http_answers_total: counter(
    'Answers of the platform by HTTP status, including retries; none counts requests without a complete answer. Restarts if this file is deleted.',
  ),
  costbook_month_to_date_usd: gauge(
    'USD of the account in the current month (UTC), as far as loaded; missing until the first hour of the month can be complete.',
  ),
  costbook_latest_day_usd: gauge('USD of the account on the last complete day (UTC): yesterday, after a nightly run.'),
  costbook_latest_day_start_timestamp_seconds: gauge('Start of the last complete day, in seconds since 1970.'),
  costbook_workspace_month_to_date_usd: gauge(
    `USD in the current month by workspace: the ${largest} most expensive, and all others of the account together.`,
  ),
  costbook_workspace_latest_day_usd: gauge('USD on the last complete day, for the same workspaces.'),
  costbook_resource_type_month_to_date_usd: gauge(
    `USD in the current month by resource type: the ${largest} most expensive, and all others of the account together.`,
  ),
  costbook_resource_type_latest_day_usd: gauge('USD on the last complete day, for the same resource types.'),
  costbook_rows: gauge('Rows of hourly costs in the books.'),
  costbook_budget_spent_usd: gauge('USD spent of the budget in its current period, as far as loaded.'),
  costbook_budget_amount_usd: gauge('Amount of the budget in its current period, in USD.'),
  costbook_budget_spent_ratio: gauge(
    'Share of the budget that is spent or used in its current period: 1 is all of it.',
  ),
  costbook_budget_forecast_usd: gauge("Expected USD of the budget's current period, by the last stored forecast."),
  costbook_budget_forecast_ratio: gauge('Forecast as a share of the budget: 1 is all of it.'),
  costbook_budget_period_end_timestamp_seconds: gauge("End of the budget's current period, in seconds since 1970."),
  costbook_open_alerts: gauge('Open alerts by severity.'),
  costbook_outbox_pending_messages: gauge('Messages waiting for delivery to the sink.'),
  costbook_outbox_oldest_pending_timestamp_seconds: gauge(
    'Time of the oldest message waiting for delivery to the sink, in seconds since 1970.',
  ),
  costbook_outbox_dead_messages_total: counter('Messages to the sink that Costbook gave up.'),
  costbook_snapshot_bytes: gauge('Size of the published snapshot, in bytes.'),
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof definitions;

/** The names of all metrics. */
export const metricNames = Object.keys(definitions) as readonly MetricName[];

/** The metric that counts answers over all runs; it is read back from the file. */
export const answersMetric = 'costbook_http_answers_total' satisfies MetricName;

/**
 * The metrics of the books, the budgets and the run that just ended. Unknown values are left out, never 0. Instants are
 * seconds since 1970.
 */
export async function readMetrics(connection: Connection, asked: MetricsAsked): Promise<readonly Metric[]> {
  const samples = new Map<MetricName, Sample[]>();
  function add(name: MetricName, labels: Sample['labels'], value: unknown): void {
    if (value === null || value === undefined) return;
    const known = samples.get(name) ?? [];
    samples.set(name, [...known, { labels, value: typeof value === 'number' ? value : String(value) }]);
  }
  const rows = await sqlOf(connection);

  add('costbook_build_info', { version: asked.version }, 1);
  addRuns(await rows('runs'), asked, add);
  if (asked.freshnessHours !== undefined) add('costbook_freshness_limit_seconds', {}, asked.freshnessHours * 3600);
  const since = formatInstant(asked.now - restatedDays * dayMs);
  for (const row of await rows('accounts', { since })) {
    const account = { account: String(row['account']) };
    add('costbook_complete_through_timestamp_seconds', account, toSeconds(row['complete_through']));
    add('costbook_settled_through_timestamp_seconds', account, toSeconds(row['settled_through']));
    add('costbook_unproven_windows', account, row['unproven']);
    add('costbook_postponed_windows', account, row['postponed']);
    add('costbook_restated_usd', { ...account, direction: 'increase' }, row['increase']);
    add('costbook_restated_usd', { ...account, direction: 'decrease' }, row['decrease']);
    add('costbook_account_requests_total', account, row['requests']);
    add('costbook_account_retries_total', account, row['retries']);
    add('costbook_account_loaded_rows_total', account, row['rows_loaded']);
    add('costbook_last_ingest_requests', account, row['last_requests']);
    add('costbook_last_ingest_retries', account, row['last_retries']);
    add('costbook_last_ingest_rows', account, row['last_rows']);
  }
  for (const [status, count] of [...asked.answers].sort()) add(answersMetric, { status }, count);
  await addSpend(rows, asked.now, add);
  const [amounts] = await rows('row_count');
  add('costbook_rows', {}, amounts?.['row_count']);
  await addBudgets(connection, rows, asked, add);
  for (const { severity, alerts } of await rows('open_alerts')) {
    add('costbook_open_alerts', { severity: String(severity) }, alerts);
  }
  const outbox = await rows('outbox');
  for (const name of new Set([...asked.sinks, ...outbox.map((row) => String(row['sink']))])) {
    const sink = { sink: name };
    const row = outbox.find((found) => found['sink'] === name) ?? { pending: 0, dead: 0, oldest_pending: null };
    add('costbook_outbox_pending_messages', sink, row['pending']);
    add('costbook_outbox_oldest_pending_timestamp_seconds', sink, toSeconds(row['oldest_pending']));
    add('costbook_outbox_dead_messages_total', sink, row['dead']);
  }
  add('costbook_snapshot_bytes', {}, asked.snapshotBytes);
  return metricNames.map((name) => ({ name, ...definitions[name], samples: samples.get(name) ?? [] }));
}

/** Runs of each command and each job that could not open the books. */
export interface UnrecordedRuns {
  readonly commands: ReadonlyMap<string, number>;
  readonly jobs: ReadonlyMap<string, number>;
}

/** Reads the runs that could not open the books from a text of metrics. */
export function unrecordedRuns(text: string): UnrecordedRuns {
  const counted = (label: string, name: MetricName) =>
    new Map(
      [...text.matchAll(new RegExp(`^${name}\\{${label}="([\\w-]+)"\\} (\\d{1,15})$`, 'gm'))].map(
        ([, of = '', count]) => [of, Number(count)],
      ),
    );
  return {
    commands: counted('command', 'costbook_unrecorded_runs_total'),
    jobs: counted('job_name', 'costbook_job_unrecorded_runs_total'),
  };
}

/** A run without a row in the published books. */
export interface UnpublishedRun extends EndedRun {
  readonly exitCode: number;
  readonly endedAt: Instant;
  /** Whether the run could not open the books, so that they never get its row. */
  readonly isUnrecorded: boolean;
}

/**
 * The metrics of a run that the published books do not have. `text` is the metrics file so far. A run that never gets a
 * row is added to its counts; any other run is counted when its row is published.
 */
export function unpublishedRunMetrics(
  { job, command, seconds, exitCode, endedAt, isUnrecorded }: UnpublishedRun,
  text: string,
): readonly Metric[] {
  const labels: Sample['labels'] = job === undefined ? { command } : { job_name: job };
  const prefix = job === undefined ? 'costbook_' : 'costbook_job_';
  const values = [
    [`${prefix}last_run_timestamp_seconds`, endedAt / 1000],
    [`${prefix}last_run_exit_code`, exitCode],
    [`${prefix}last_run_duration_seconds`, seconds.toFixed(3)],
  ] as const;
  const counted: readonly (readonly [MetricName, Sample['labels']])[] = isUnrecorded
    ? [
        [`${prefix}runs_total`, { ...labels, outcome: 'failed' }],
        [`${prefix}unrecorded_runs_total`, labels],
      ]
    : [];
  return [
    ...values.map(([name, value]) => ({ name, ...definitions[name], samples: [{ labels, value }] })),
    ...counted.map(([name, of]) => ({
      name,
      ...definitions[name],
      samples: [{ labels: of, value: sampleIn(text, name, of) + 1 }],
    })),
  ];
}

type Rows = (name: string, parameters?: SqlParameters) => Promise<SqlRow[]>;
type Add = (name: MetricName, labels: Sample['labels'], value: unknown) => void;

/** Queries in `sql/metrics`, by file name. */
async function sqlOf(connection: Connection): Promise<Rows> {
  const files = await readSqlFolder('metrics');
  return async (name, parameters) => {
    const file = files.find((candidate) => candidate.name === name);
    if (file === undefined) throw new Error(`sql/metrics/${name}.sql is missing`);
    return connection.rows(file.text, parameters);
  };
}

/** Outcomes of commands and of jobs. */
const runOutcomes = ['done', 'failed', 'interrupted', 'left_out'] as const;
const jobOutcomes = ['done', 'failed', 'interrupted', 'missed'] as const;

/**
 * Counts each command's and each job's runs by outcome, and describes the last one. Every job has counters from the first
 * file on, starting at 0, so that the first run shows as an increase. The label is not called job, because that is the
 * collector's own.
 */
function addRuns(rows: readonly SqlRow[], { run, jobs, unrecorded }: MetricsAsked, add: Add): void {
  const named = (column: 'command' | 'job') => rows.flatMap((row) => (row[column] == null ? [] : String(row[column])));
  for (const command of new Set([...named('command'), ...unrecorded.commands.keys()])) {
    const own = rows.filter((row) => row['command'] === command);
    const seconds = run.job === undefined && run.command === command ? run.seconds : undefined;
    const unopened = unrecorded.commands.get(command);
    addEndings('costbook_', { command }, { rows: own, outcomes: runOutcomes, seconds, unopened }, add);
  }
  for (const job of new Set([...named('job'), ...jobs, ...unrecorded.jobs.keys()])) {
    const own = rows.filter((row) => row['job'] === job);
    const seconds = run.job === job ? run.seconds : undefined;
    const unopened = unrecorded.jobs.get(job);
    addEndings('costbook_job_', { job_name: job }, { rows: own, outcomes: jobOutcomes, seconds, unopened }, add);
  }
}

interface Endings {
  /** A row for each outcome. */
  readonly rows: readonly SqlRow[];
  readonly outcomes: readonly string[];
  /** Set if this run just ended. */
  readonly seconds: number | undefined;
  /** Runs that could not open the books. */
  readonly unopened: number | undefined;
}

/** The metrics of one command or job. */
function addEndings(
  prefix: 'costbook_' | 'costbook_job_',
  labels: Sample['labels'],
  { rows, outcomes, seconds, unopened = 0 }: Endings,
  add: Add,
): void {
  const of = (outcome: string) => rows.find((row) => row['outcome'] === outcome);
  for (const outcome of new Set([...outcomes, ...rows.map((row) => String(row['outcome']))])) {
    const recorded = Number(of(outcome)?.['runs'] ?? 0);
    add(`${prefix}runs_total`, { ...labels, outcome }, recorded + (outcome === 'failed' ? unopened : 0));
  }
  if (unopened > 0) add(`${prefix}unrecorded_runs_total`, labels, unopened);
  add(`${prefix}last_success_timestamp_seconds`, labels, toSeconds(of('done')?.['ended_at']));
  // Killed, missed and left-out runs have no exit code: they are counted, but are not the last run.
  const [last] = rows
    .filter((row) => row['exit_code'] !== null)
    .sort((a, b) => Number(b['place']) - Number(a['place']));
  if (last === undefined) return;
  add(`${prefix}last_run_timestamp_seconds`, labels, toSeconds(last['ended_at']));
  add(`${prefix}last_run_exit_code`, labels, last['exit_code']);
  add(`${prefix}last_run_duration_seconds`, labels, seconds?.toFixed(3) ?? last['seconds']);
}

/** Subjects of spend metrics, and their labels. */
const spenders = {
  account: { prefix: 'costbook_', label: undefined },
  workspace: { prefix: 'costbook_workspace_', label: 'workspace' },
  resource_type: { prefix: 'costbook_resource_type_', label: 'resource_type' },
} as const;

/** Each account's spend in the current month and on its last complete day, in total and by its largest parts. */
async function addSpend(rows: Rows, now: Instant, add: Add): Promise<void> {
  const month = floorMonth(now);
  const parameters = {
    month_start: formatInstant(month),
    month_end: formatInstant(addCalendarMonths(month, 1)),
    largest,
  };
  for (const row of await rows('spend', parameters)) {
    const account = { account: String(row['account']) };
    const { prefix, label } = spenders[String(row['spender']) as keyof typeof spenders];
    const labels = label === undefined ? account : { ...account, [label]: String(row['name']) };
    add(`${prefix}month_to_date_usd`, labels, row['month_to_date']);
    add(`${prefix}latest_day_usd`, labels, row['latest_day']);
    if (label === undefined) {
      add('costbook_latest_day_start_timestamp_seconds', account, toSeconds(row['latest_day_start']));
    }
  }
}

async function addBudgets(connection: Connection, rows: Rows, asked: MetricsAsked, add: Add): Promise<void> {
  const { now, freshnessHours, configured } = asked;
  if (asked.budgets.length === 0 || freshnessHours === undefined) return;
  const budgets = await withCarried(connection, asked.budgets, { now, freshnessHours, configured });
  const present = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
  const known = asked.spends ?? [];
  const findSpend = (spends: readonly SpendNow[], { name }: Budget, { start }: { start: Instant }) =>
    spends.find((spend) => spend.budget === name && spend.period.start === start);
  const left = present.filter(({ budget, period }) => findSpend(known, budget, period) === undefined);
  const read = left.length === 0 ? [] : await readSpends(connection, left, { now, freshnessHours, configured });
  const forecasts = await rows('forecasts');
  for (const { budget, period } of present) {
    const labels = { budget: budget.name };
    const amount = amountIn(budget, period.name);
    const spent = (findSpend(known, budget, period) ?? findSpend(read, budget, period))?.spent;
    // Budgets in other units have only the ratios.
    const isUsd = unitOf(budget) === usdUnit;
    const made = forecasts.find(
      (row) =>
        row['budget'] === budget.name &&
        Number(row['period_start']) === period.start &&
        row['unit'] === (budget.scope.unit ?? null),
    );
    if (isUsd) add('costbook_budget_amount_usd', labels, moneyText(amount));
    add('costbook_budget_period_end_timestamp_seconds', labels, period.end / 1000);
    if (made !== undefined) {
      const forecast = moneyOf(String(made['forecast']));
      if (isUsd) add('costbook_budget_forecast_usd', labels, String(made['forecast']));
      add('costbook_budget_forecast_ratio', labels, decimalOfWhole(rounded(forecast * 1_000_000n, amount), 6));
    }
    if (spent === undefined) continue;
    if (isUsd) add('costbook_budget_spent_usd', labels, moneyText(spent));
    add('costbook_budget_spent_ratio', labels, decimalOfWhole(rounded(spent * 1_000_000n, amount), 6));
  }
}

function toSeconds(milliseconds: unknown): number | undefined {
  return milliseconds === null || milliseconds === undefined ? undefined : Number(milliseconds) / 1000;
}
