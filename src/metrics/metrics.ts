import { amountIn, type Budget, budgetCalendar, readSpends, type SpendNow } from '../budgets/index.ts';
import { decimalOfWhole, rounded, wholeOfDecimal } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import { addCalendarMonths, dayMs, floorMonth, formatInstant, type Instant } from '../time.ts';
import { type Connection, readSqlFolder, type SqlParameters, type SqlRow } from '../warehouse/index.ts';
import { type Metric, type Sample, sampleIn } from './exposition.ts';

/** What metrics tell besides the books. */
export interface MetricsAsked {
  readonly now: Instant;
  readonly version: string;
  /** The run that has ended: what the books cannot know of it. */
  readonly run: EndedRun;
  /** How often the platform answered with each status, added up over the runs; `none` where no whole answer came. */
  readonly answers: ReadonlyMap<string, number>;
  /** The runs that could not open the books, by the file of metrics: the books have no row of them. */
  readonly unrecorded: UnrecordedRuns;
  /** Undefined where the configuration cannot be read. */
  readonly freshnessHours: number | undefined;
  readonly configured: readonly string[];
  /** Every job of the project and every sink of the configuration, whether or not anything of it is in the books. */
  readonly jobs: readonly string[];
  readonly sinks: readonly string[];
  /** None where they are wrong, or where there are none. */
  readonly budgets: readonly Budget[];
  /** What is spent on them, where that was just found out: otherwise the books are asked. */
  readonly spends: readonly SpendNow[] | undefined;
  /** Undefined where it cannot be told. */
  readonly snapshotBytes: number | undefined;
}

export interface EndedRun {
  /** Of a job the job's name. */
  readonly job?: string | undefined;
  readonly command: string;
  /** In real time, which goes on where the books' own now is fixed. */
  readonly seconds: number;
}

/** Restatements are told for so long: two runs a night apart, and an outage, see the same one. */
const restatedDays = 30;

/** Workspaces, and resource types, with samples of their own, over all accounts: each is a series for who stores them. */
const largest = 50;

type Definition = Omit<Metric, 'samples' | 'name'>;
const gauge = (help: string): Definition => ({ type: 'gauge', help });
const counter = (help: string): Definition => ({ type: 'counter', help });

/** Every metric there is, in the order in which they are told. */
const definitions = {
  costbook_build_info: gauge('The version of Costbook that wrote these metrics; always 1.'),
  costbook_last_success_timestamp_seconds: gauge(
    'When a command last ended well, by itself or as a step of a job, in seconds since 1970.',
  ),
  costbook_last_run_timestamp_seconds: gauge('When a command last ended, well or not, in seconds since 1970.'),
  costbook_last_run_exit_code: gauge(
    'Exit code of the last run of a command; as a step of a job the one it would have had.',
  ),
  costbook_last_run_duration_seconds: gauge('How long the last run of a command took.'),
  costbook_runs_total: counter(
    'Runs of a command by outcome: done, failed, interrupted where it was killed; left_out of steps whose job did not come to them.',
  ),
  costbook_job_last_success_timestamp_seconds: gauge('When a job last ended well, in seconds since 1970.'),
  costbook_job_last_run_timestamp_seconds: gauge('When a job last ended, well or not, in seconds since 1970.'),
  costbook_job_last_run_exit_code: gauge('Exit code of the last run of a job.'),
  costbook_job_last_run_duration_seconds: gauge('How long the last run of a job took.'),
  costbook_job_runs_total: counter(
    'Runs of a job by outcome: done, failed, interrupted where it was killed, missed where nobody ran a slot of its schedule.',
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
  costbook_freshness_limit_seconds: gauge('How long complete-through may lie back: the setting freshness.'),
  costbook_unproven_windows: gauge('Windows of the account that did not prove, or that the platform contradicts.'),
  costbook_postponed_windows: gauge(
    'Windows of hours too young to be called unproven that did not prove yet: the next run asks again.',
  ),
  costbook_restated_usd: gauge(
    `USD by which hours of the account changed after they had been loaded, of changes seen in the ${restatedDays} days before the run: increases and decreases apart.`,
  ),
  costbook_account_requests_total: counter(
    'Requests that ingests made for the account; every page asked for counts once.',
  ),
  costbook_account_retries_total: counter('How often a request of an ingest for the account was sent again.'),
  costbook_account_loaded_rows_total: counter('Rows of cost that ingests read and loaded for the account.'),
  costbook_last_ingest_requests: gauge('Requests that the last ingest made for the account.'),
  costbook_last_ingest_retries: gauge('How often the last ingest sent a request for the account again.'),
  costbook_last_ingest_rows: gauge('Rows of cost that the last ingest read and loaded for the account.'),
  costbook_http_answers_total: counter(
    'Answers of the platform by HTTP status, retries included; none where no whole answer came. Begins anew with this file.',
  ),
  costbook_month_to_date_usd: gauge(
    'USD of the account in the present month (UTC), as far as it is in the books; none before the first hour of the month could be complete.',
  ),
  costbook_latest_day_usd: gauge(
    'USD of the account on the last whole day (UTC) that is complete: yesterday, after a nightly run.',
  ),
  costbook_latest_day_start_timestamp_seconds: gauge(
    'When the last whole day that is complete began, in seconds since 1970.',
  ),
  costbook_workspace_month_to_date_usd: gauge(
    `The same by workspace: the ${largest} that cost most, and all others of the account together.`,
  ),
  costbook_workspace_latest_day_usd: gauge('USD of the last whole day that is complete, by the same workspaces.'),
  costbook_resource_type_month_to_date_usd: gauge(
    `USD in the present month by resource type: the ${largest} that cost most, and all others of the account together.`,
  ),
  costbook_resource_type_latest_day_usd: gauge(
    'USD of the last whole day that is complete, by the same resource types.',
  ),
  costbook_rows: gauge('Rows of cost in the books: hours of series.'),
  costbook_budget_spent_usd: gauge('USD spent on the budget in its present period, as far as it is in the books.'),
  costbook_budget_amount_usd: gauge('USD that may be spent on the budget in its present period.'),
  costbook_budget_spent_ratio: gauge('What of the budget is spent in its present period: 1 is all of it.'),
  costbook_budget_forecast_usd: gauge(
    "USD that the budget's present period is expected to come to, as it was last forecast.",
  ),
  costbook_budget_forecast_ratio: gauge('What of the budget its present period is expected to take: 1 is all of it.'),
  costbook_budget_period_end_timestamp_seconds: gauge("When the budget's present period ends, in seconds since 1970."),
  costbook_open_alerts: gauge('Alerts that hold, by severity.'),
  costbook_outbox_pending_messages: gauge('Messages that the sink did not take yet.'),
  costbook_outbox_oldest_pending_timestamp_seconds: gauge(
    'When the oldest message was written that the sink did not take yet, in seconds since 1970.',
  ),
  costbook_outbox_dead_messages_total: counter('Messages to the sink that were given up.'),
  costbook_snapshot_bytes: gauge('Size of the published snapshot.'),
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof definitions;

/** The names of every metric that a run can write. */
export const metricNames = Object.keys(definitions) as readonly MetricName[];

/** The metric in which answers are counted over the runs: it is read back from the file. */
export const answersMetric = 'costbook_http_answers_total' satisfies MetricName;

/**
 * What the books, the budgets and the run that has ended say to a machine that watches them. What is not known is not
 * among it, and never 0. Instants are seconds since 1970.
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

/** How many runs of each command, and of each job, could not open the books. */
export interface UnrecordedRuns {
  readonly commands: ReadonlyMap<string, number>;
  readonly jobs: ReadonlyMap<string, number>;
}

/** Reads back from a file of metrics how many runs could not open the books. */
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

/** A run that ended without a row in the books, or whose row could not be published. */
export interface UnpublishedRun extends EndedRun {
  readonly exitCode: number;
  readonly endedAt: Instant;
  /** Whether the run could not open the books, so that they never get a row of it. */
  readonly isUnrecorded: boolean;
}

/**
 * How a run ended that the published books do not know of. `text` is the file of metrics so far. A run that the books
 * never get a row of is counted on from there; every other one is counted when its row is published.
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

/** The rows of files of `sql/metrics`, by name. */
async function sqlOf(connection: Connection): Promise<Rows> {
  const files = await readSqlFolder('metrics');
  return async (name, parameters) => {
    const file = files.find((candidate) => candidate.name === name);
    if (file === undefined) throw new Error(`sql/metrics/${name}.sql is missing`);
    return connection.rows(file.text, parameters);
  };
}

/** How a run, and a run of a job, may end. */
const runOutcomes = ['done', 'failed', 'interrupted', 'left_out'] as const;
const jobOutcomes = ['done', 'failed', 'interrupted', 'missed'] as const;

/**
 * How often each command and each job ended in which way, and how it did last. Every job of the project has its counters
 * from the first file on, at 0: what is counted from 0 to 1 is an increase, what begins with 1 is none. The label is not
 * called job: that one is the collector's own.
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
  /** Set where it is what just ended. */
  readonly seconds: number | undefined;
  /** How many runs could not open the books. */
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
  // What was killed, missed or left out has no exit code: it is counted, and is not how anything ended.
  const [last] = rows
    .filter((row) => row['exit_code'] !== null)
    .sort((a, b) => Number(b['place']) - Number(a['place']));
  if (last === undefined) return;
  add(`${prefix}last_run_timestamp_seconds`, labels, toSeconds(last['ended_at']));
  add(`${prefix}last_run_exit_code`, labels, last['exit_code']);
  add(`${prefix}last_run_duration_seconds`, labels, seconds?.toFixed(3) ?? last['seconds']);
}

/** Who has spend metrics, and by which label. */
const spenders = {
  account: { prefix: 'costbook_', label: undefined },
  workspace: { prefix: 'costbook_workspace_', label: 'workspace' },
  resource_type: { prefix: 'costbook_resource_type_', label: 'resource_type' },
} as const;

/** What each account spent in the present month and on its last complete day, in all and by its largest parts. */
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
  const { budgets, now, freshnessHours, configured } = asked;
  if (budgets.length === 0 || freshnessHours === undefined) return;
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
    const made = forecasts.find((row) => row['budget'] === budget.name && Number(row['period_start']) === period.start);
    add('costbook_budget_amount_usd', labels, decimalOfWhole(amount, usdDecimals));
    add('costbook_budget_period_end_timestamp_seconds', labels, period.end / 1000);
    if (made !== undefined) {
      const forecast = wholeOfDecimal(String(made['forecast']), usdDecimals);
      add('costbook_budget_forecast_usd', labels, String(made['forecast']));
      add('costbook_budget_forecast_ratio', labels, decimalOfWhole(rounded(forecast * 1_000_000n, amount), 6));
    }
    if (spent === undefined) continue;
    add('costbook_budget_spent_usd', labels, decimalOfWhole(spent, usdDecimals));
    add('costbook_budget_spent_ratio', labels, decimalOfWhole(rounded(spent * 1_000_000n, amount), 6));
  }
}

function toSeconds(milliseconds: unknown): number | undefined {
  return milliseconds === null || milliseconds === undefined ? undefined : Number(milliseconds) / 1000;
}
