import { exportFormats } from '../tables/file-formats.ts';
import { dayMs, hourMs, zoneOf } from '../time/time.ts';
import {
  asOf,
  choice,
  choices,
  duration,
  flag,
  flagOrText,
  hour,
  instant,
  list,
  names,
  pairs,
  parsed,
  port,
  share,
  text,
  usually,
  whole,
  wholes,
} from './kinds.ts';
import type { Options } from './read.ts';

/** The steps of a job, in their usual order; each runs the command of its name. */
export const stepNames = [
  ...(['ingest', 'check', 'close', 'report', 'statement', 'summarize', 'subscriptions', 'alert'] as const),
] as const;

/** Numbers that help texts and their commands share. */
const usualPort = 8620;
export const usualTableRows = 1000;
const usualLookbackDays = 400;
export const minutesOfAccount = 30;
export const minutesOfWindow = 2;
export const maxSeed = 4_294_967_295;
export const headerKinds = ['authorization', 'version', 'thread', 'workspace'] as const;

const usualLevel = 0.8;
const engines = ['duckdb', 'spark'] as const;
const engineSummary = 'what answers: duckdb (default), or spark, the cluster of costbook.yaml over the lake';
const rawSummary = 'in CSV, do not escape text that looks like a formula';
const fileSummary =
  'write the files below this folder, in <report>/…; by default exports/ in the project folder. s3://bucket/prefix: also send them to an object store';
const aDay = { expected: 'a time above zero and at most 24h', isIn: (ms: number) => ms > 0 && ms <= dayMs };

/** Of every command that needs the warehouse to itself. */
const wait = usually(
  duration(
    'duration',
    'if another run has locked the warehouse, wait up to this long, such as 90s, 10m or 2h; by default do not wait',
  ),
  0,
);

const dashboard = {
  port: usually(port(`port to listen on; ${usualPort} by default, 0 picks a free one`), usualPort),
  host: usually(
    text('address', 'address to listen on; by default 127.0.0.1, which only people on this machine can open'),
    '127.0.0.1',
  ),
};

/** Options that every command takes, before or after its name. */
export const commonOptions = {
  dir: text('dir', 'project folder (COSTBOOK_DIR); the current folder by default'),
  now: instant('instant', 'use this instant as the current time (COSTBOOK_NOW); timeouts and waits use real time'),
  json: flag('print one JSON value on stdout and nothing else (COSTBOOK_JSON=1)'),
  exact: flag('on a terminal: show every decimal and column, as in a pipe'),
  logFormat: choice('format', ['human', 'json'], 'human or json (COSTBOOK_LOG_FORMAT); human on a terminal by default'),
} as const;

/** Of a forecast from the books. */
export const ofForecastOfBooks = {
  budget: list('name', 'only this budget; repeatable'),
  workspace: list('name', 'only resource types of this workspace; repeatable'),
  with: list('change', 'add a planned change, such as launch=2026-12-10:+30%:workspace=prod; repeatable'),
  asOf: asOf('instant', 'forecast from the books as they were at this instant'),
};

/** Of a forecast from a file. */
export const ofForecastOfFile = {
  input: text(
    'file',
    'forecast this CSV file instead of the books: columns id, timestamp and value, at any regular step',
  ),
  // A limit on memory; longer forecasts are of no use.
  horizon: whole('count', 'with --input: number of steps to forecast', { least: 1, most: 10_000 }),
  season: wholes('steps', 'with --input: season lengths in steps, such as 24,168; by default chosen by the step', 2),
  level: usually(
    share('share', `with --input: share of outcomes that should fall into the interval; ${usualLevel} by default`),
    usualLevel,
  ),
  timeZone: parsed(
    'zone',
    'with --input: zone whose time daily patterns of hours follow, such as Europe/Berlin; UTC by default',
    zoneOf,
  ),
  calendar: text(
    'days',
    'with --input: holidays, as dates and .ics files separated by commas: 2026-12-25,holidays.ics',
  ),
};

const report = {
  month: text(
    'month',
    "a month such as 2026-10, a range such as 2026-01..2026-10, or last for the last complete month; --list shows each report's default",
    { step: 'last-complete, one month such as 2026-09, or a range such as 2026-01..2026-10' },
  ),
  from: text('date', 'for reports on days: the first day, such as 2026-11-01', { step: true }),
  to: text('date', 'for reports on days: the end (exclusive); 2026-11-15 makes 14 November the last day', {
    step: true,
  }),
  param: pairs('a parameter of the report, see --list; repeatable', {
    step: 'other parameters of the report: { workspace: north }',
  }),
  asOf: asOf(
    'instant',
    'report the books as they were at this instant, into a separate folder; now: the current books, also for a closed month',
  ),
  format: choices(
    'formats',
    exportFormats,
    `comma-separated: ${exportFormats.join(', ')}; by default the report's own formats`,
    { step: 'file formats; by default those of the report' },
  ),
  out: text('place', fileSummary, { step: true }),
  excel: flagOrText(
    'language',
    'write a CSV for spreadsheets: two decimals, plain names, the currency; alone or in addition to --format. --excel=de: with the decimal comma and the semicolons of that language',
    {
      step: 'write a CSV for spreadsheets: two decimals, plain names, the currency; excel: de for those of that language',
    },
  ),
  totals: flag('add a row with totals, in the table and with --excel', {
    step: 'in the CSV for spreadsheets, add a row with totals',
  }),
  by: text('dimension', 'for chargeback reports: the dimension of owners, such as team', { step: true }),
  labels: text('keys', 'for cost_by_resource: a column for each of these labels, such as team,env', {
    step: 'for cost_by_resource: a column for each of these labels: "team,env"',
  }),
  currency: choice('what', ['none'], 'none: leave out the second currency of costbook.yaml'),
  raw: flag(rawSummary, { step: true }),
  parquetDecimals: usually(
    choice('type', ['exact', 'double'], 'exact (default), or double for programs that cannot read decimals', {
      step: true,
    }),
    'exact',
  ),
  focusVersion: choice(
    'version',
    ['1.4', '1.3', '1.2'],
    'for the report focus: the FOCUS version, such as 1.2; the newest by default',
    {
      step: 'for the report focus: the FOCUS version, in quotes: "1.4"',
    },
  ),
  grain: choice('grain', ['hourly', 'daily'], 'for the report focus: hourly or daily charge periods', { step: true }),
  withDeprecatedColumns: flag(
    'for the report focus: add ProviderName and PublisherName, which FOCUS 1.4 deprecates but two of its official rules require',
    { step: true },
  ),
  allowEmpty: flag(
    'write an empty report, instead of failing, if the books have no such month, workspace or other value',
    { step: true },
  ),
  requireComplete: flag('if the data of the report is not complete, write nothing and exit 4', { step: true }),
  allowFiles: list('dir', 'allow parameters to name files below this folder, outside the project folder; repeatable', {
    step: 'more folders from which parameters may name files',
  }),
  engine: usually(choice('engine', engines, engineSummary, { step: true }), 'duckdb'),
  printSql: flag('print the SQL of the report, and nothing else'),
  dialect: choice('dialect', engines, 'for --print-sql: duckdb (default), or spark, over the tables of the lake'),
  timeout: usually(
    duration('duration', 'stop the report after this time, such as 10m or 2h; 1h by default', {
      limits: aDay,
      step: true,
    }),
    hourMs,
  ),
  list: flag('list the reports and their parameters'),
};

/** What commands with actions do: their first argument. */
export const actions = {
  budgets: ['backtest'],
  alerts: ['test', 'preview', 'ack', 'resend'],
  allocation: ['test', 'explain', 'apply'],
} as const;

/** The options of each command, by its name: help, completion, docs/cli.md and the steps of jobs come from here. */
export const options = {
  init: {
    url: text('url', "the platform's address; by default COSTBOOK_URL, or a prompt"),
    tokenFile: text('path', 'the file that holds the token'),
    tokenCommand: text('line', 'the command that prints the token'),
    tokenEnv: text('name', 'the environment variable that holds the token (default COSTBOOK_TOKEN)'),
    account: text('id', 'account ID; by default the only account that the token has access to'),
    headerPrefix: text(
      'name',
      "the maker's name in the platform's headers: Acme stands for Acme-Version, X-Acme-Workspace and the others; they are tried",
    ),
    yes: flag('never prompt, even at a terminal'),
    unchecked: flag('do not check token and account with the platform'),
  },
  doctor: {
    offline: flag('contact neither the platform nor the sinks'),
    deep: flag('also read every stored page of the platform and compare its hash'),
  },
  ingest: {
    from: hour('date', 'consider only hours from this instant on', {
      step: 'consider only hours from this instant on; -1d is the start of yesterday in UTC',
    }),
    to: hour('date', 'consider only hours before this instant (exclusive)', { step: true }),
    refetch: flag('fetch all hours from --from to --to again, not only new and changed ones', {
      step: 'fetch all hours of the range again, not only new and changed ones',
    }),
    acceptReducedAccess: flag('confirm that the token has less access than before'),
    acceptRenamedWorkspaces: flag('confirm that workspaces have the new names that the last ingest found'),
    acceptShrunkListings: flag('confirm that resources are gone although listings lack more than half of them'),
    timeout: duration(
      'duration',
      `stop the ingest after this time, such as 30m or 4h; by default ${minutesOfAccount} minutes per account plus ${minutesOfWindow} per window`,
      { limits: { expected: 'a time above zero, such as 30m', isIn: (ms) => ms > 0 } },
    ),
    wait,
  },
  report,
  statement: {
    month: text('month', 'a month such as 2026-10, or last, the last complete month (default)', {
      step: 'last-complete, or one month such as 2026-09',
    }),
    owner: text('name', 'only what this owner is charged, such as payments', { step: true }),
    each: choice('what', ['owner'], 'owner: one statement for each owner', { step: true }),
    by: usually(text('dimension', 'the dimension of owners; team by default', { step: true }), 'team'),
    format: usually(
      choices('formats', ['html', 'xlsx'], 'comma-separated: html, xlsx; both by default', {
        step: 'file formats; both by default',
      }),
      ['html', 'xlsx'],
    ),
    out: text('place', fileSummary.replace('<report>', 'statement'), { step: true }),
    requireComplete: flag('exit 4 and write nothing if the month is not complete', { step: true }),
  },
  verify: {
    timeout: usually(
      duration('duration', 'stop after this time, such as 30m; 24h by default', { limits: aDay }),
      dayMs,
    ),
  },
  sql: {
    file: text('file', 'read the query from this file', { letter: 'f' }),
    asOf: asOf('instant', 'query the books as they were at this instant; present.costs and so on are the current ones'),
    format: choice(
      'format',
      ['table', 'csv', 'json', 'ndjson', 'parquet', 'arrow'],
      'table, csv, json, ndjson, parquet, arrow; by default a table, or the extension of --out',
    ),
    out: text('file', 'write the answer to this file, whole or not at all'),
    maxRows: whole('count', `return at most this many rows; ${usualTableRows} by default in a table`, { least: 1 }),
    // Enough for a question, and short enough to notice a runaway query.
    timeout: usually(
      duration('duration', 'stop the query after this time, such as 90s or 10m; 60s by default', { limits: aDay }),
      60_000,
    ),
    raw: flag(rawSummary),
    engine: usually(choice('engine', engines, engineSummary), 'duckdb'),
    openWith: choice(
      'program',
      ['duckdb', 'python', 'notebook'],
      'print the command that opens the snapshot in another program: duckdb, python, notebook',
    ),
  },
  check: {
    list: flag('list the checks'),
    changed: flag('read only the months that changed since alert last ran; the others were checked before', {
      step: true,
    }),
    timeout: duration('duration', 'stop a check that takes longer, such as 90s or 30m; 10m by default', {
      limits: aDay,
    }),
  },
  run: {
    only: choices('steps', stepNames, `only these steps, comma-separated: ${stepNames.join(', ')}`),
    dryRun: flag('print the steps; run nothing'),
    slot: instant(
      'instant',
      'for your own scheduler: the time for which this run was scheduled. Costbook runs each such time once, and records the missed ones',
    ),
    wait,
  },
  schedule: {
    healthPort: port('serve /healthz, /readyz and /metrics on this port; 0 picks a free one'),
    healthHost: usually(text('address', 'address for --health-port; 127.0.0.1 by default'), '127.0.0.1'),
    serve: flag('also serve the dashboard, as costbook serve does'),
    port: { ...dashboard.port, summary: `with --serve: ${dashboard.port.summary}` },
    host: { ...dashboard.host, summary: `with --serve: ${dashboard.host.summary}` },
    list: flag('list the jobs and their schedules'),
  },
  serve: dashboard,
  status: {
    exitCode: flag('exit 4 if anything is unproven, missing or out of date (the setting freshness)'),
    noColor: flag('print no colors (or set NO_COLOR)'),
  },
  budgets: {
    exitCode: flag('exit 6 if a budget is exceeded, 4 if the spend of one is unknown', { action: '' }),
    anomalies: flag('with backtest: test the anomaly rules instead of a budget', { action: 'backtest' }),
    lookback: usually(
      duration('duration', `with backtest: how many days back; ${usualLookbackDays}d by default`, {
        limits: {
          expected: 'from 1 to 36500 days, such as 400d',
          isIn: (ms) => ms >= dayMs && ms <= 36_500 * dayMs,
        },
        action: 'backtest',
      }),
      usualLookbackDays * dayMs,
    ),
    file: text('file', 'read this file instead of jobs/budgets.yaml, such as a draft'),
  },
  forecast: { ...ofForecastOfBooks, ...ofForecastOfFile },
  anomalies: { explain: text('key', 'explain this anomaly; the list has the keys') },
  alert: { dryRun: flag('print what would be sent, as it looks in Slack; send nothing'), wait },
  alerts: {
    open: flag('only open alerts', { action: '' }),
    until: instant(
      'date',
      'ack: send nothing about the alert before this date; if it is still open then, send it again',
      { action: 'ack' },
    ),
    as: choice(
      'word',
      ['expected', 'fixed', 'false', 'none'],
      'ack: what an anomaly was: expected, fixed or false; none takes that back. After expected or false, a day is reported only above 1.2 times its largest day',
      { action: 'ack' },
    ),
    key: text('key', 'preview: this alert; by default the newest open one, or else an example', { action: 'preview' }),
    period: choice('period', ['weekly', 'monthly'], 'preview: the weekly or monthly summary in place of an alert', {
      action: 'preview',
    }),
    format: choice(
      'format',
      ['html', 'json', 'eml'],
      'preview: html, json or eml; by default html for mail and Slack, json for the others',
      { action: 'preview' },
    ),
    out: text('file', 'preview: write it to this file, whole or not at all', { action: 'preview' }),
    wait,
  },
  summarize: {
    period: usually(
      choice('period', ['weekly', 'monthly'], 'weekly or monthly; weekly by default', { step: true }),
      'weekly',
    ),
    sink: names('names', 'sinks that get it, comma-separated; by default the sinks in alerts.notify', {
      step: 'sinks that get the summary; by default those in alerts.notify',
    }),
    dryRun: flag('print it as it looks in Slack; send nothing'),
    wait,
  },
  subscriptions: { dryRun: flag('list the subscriptions and what is due; send nothing'), wait },
  restatements: { since: instant('date', 'only changes found from this instant on; all by default') },
  allocation: {
    file: text('file', 'test and explain: read the rules from this file instead of jobs/allocation.yaml'),
    from: hour('date', 'test: only costs from this instant on', { action: 'test' }),
    to: hour('date', 'test: only costs before this instant (exclusive)', { action: 'test' }),
    wait,
  },
  close: {
    invoice: text(
      'usd',
      "the total of the platform's invoice for the month, with the corrections of earlier months that it bills, such as " +
        '1234.56; for several accounts acc_a=1234.56,acc_b=98.10; none if a reopened month had one and shall have none',
    ),
    wait,
  },
  reopen: { reason: text('text', 'why the month is reopened; stored in the books'), wait },
  rebuild: { into: text('file', 'the DuckDB file to create; must not exist'), wait },
  repair: {
    acceptLoss: flag('continue even if loads or journal events are lost; the next ingest fetches those hours again'),
    wait,
  },
  plan: {
    from: hour('date', 'consider only hours from this instant on'),
    to: hour('date', 'consider only hours before this instant (exclusive)'),
    refetch: flag('plan to fetch all hours from --from to --to again'),
  },
  mcp: {},
  platform: {
    list: flag('list the operations'),
    describe: text('operation', 'show what an operation does, its flags, its body and its errors'),
    account: text('id', 'the account, with its address and token in costbook.yaml'),
    file: text('file', 'the body, a file with JSON; "-" or nothing reads stdin', { letter: 'f' }),
    method: choice(
      'method',
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      'the method of an operation that allows any',
    ),
    all: flag('follow the pages to the last, and print one item per line'),
    yes: flag('send a request that changes or deletes something'),
  },
  demo: {
    seed: whole('number', 'seed of the invented costs; another seed gives another account (default 1)', {
      ...{ least: 0, most: maxSeed },
    }),
    serve: flag('afterwards, serve the dashboard of the demo until stopped'),
  },
  emulator: {
    port: usually(port('port; 0 takes a free one (default 0)'), 0),
    host: text('address', 'address to listen on (default 127.0.0.1, which only this machine reaches)'),
    accounts: usually(whole('number', 'accounts, up to 20 (default 1)', { least: 1, most: 20 }), 1),
    headerNames: text('list', `names of headers, such as version=Acme-Version: ${headerKinds.join(', ')}`),
    workspaceRule: usually(
      choice(
        'rule',
        ['all', 'default', 'demand'],
        'what a listing answers if no workspace is named: all of them (default), that of members, or a refusal',
      ),
      'all',
    ),
    callbackUrl: text('url', 'where asynchronous triggers call back: an http address of this machine'),
    seed: usually(whole('number', 'seed of the invented costs (default 1)', { least: 0, most: maxSeed }), 1),
    resources: usually(
      whole('number', 'resources in the account, up to 20000 (default 60)', { least: 1, most: 20_000 }),
      60,
    ),
    retention: duration('time', 'how long a sandbox stays listed after its end (default 5m)'),
    latencyMs: usually(
      whole('ms', 'delay before each response, in milliseconds (default 0)', { least: 0, most: 600_000 }),
      0,
    ),
    storyEnd: instant(
      'date',
      'one agent overspends in the week before this day (default today); set a date to get the same costs every day',
    ),
    faultSeed: whole(
      'number',
      'seed that selects the requests that fail (default: that of --seed; with double-sums a new one, which is printed)',
      { least: 0, most: maxSeed },
    ),
  },
  completion: {},
} as const satisfies Readonly<Record<string, Options>>;

export type CommandName = keyof typeof options;

/** What only a process of Costbook sets when it asks a child for a report: how many rows, and where its cluster is. */
export const reportInChild = {
  ...report,
  maxRows: usually(whole('count', 'rows of the answer', { least: 1 }), 100),
  sort: text('column', 'column to sort by'),
  engineLake: text('place', "the cluster's lake"),
  engineRows: text('file', "the rows of the cluster's answer"),
} as const;
