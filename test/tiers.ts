/**
 * The test files that `npm test` leaves to `npm run test:slow`, each with the reason. Every other file below `test` is
 * in the first tier.
 */
export const secondTier: Readonly<Record<string, string>> = {
  'test/contract/silent-sinks.test.ts': 'Waits for the time limits of ten and twenty seconds.',
  'test/crash/exports.test.ts': 'Kills exports at many moments, each with two runs and a verification.',
  'test/crash/kill.test.ts':
    'Kills or interrupts an ingest at sixteen chosen moments; crash/rounds kills at drawn ones in the first tier.',
  'test/crash/many-rounds.test.ts':
    'Twenty-four rounds of killed runs; four are in crash/rounds. One ingest waits for a minute.',
  'test/crash/rebuild.test.ts': 'Kills rebuilds at several moments, each with a whole rebuild after it.',
  'test/e2e/acting-sinks.test.ts':
    'Kills runs and waits for time limits; contract/acting-sinks calls agents, jobs and models in the first tier.',
  'test/e2e/alerts.test.ts':
    'Most cases run several processes and wait for retries; e2e/one-month sends alerts in the first tier.',
  'test/e2e/allocation.test.ts':
    'Allocates whole months in processes; sql/allocation holds the rules in the first tier.',
  'test/e2e/anomalies.test.ts':
    'Evaluates months of history in processes; sql/anomalies holds the rules in the first tier.',
  'test/e2e/bench.test.ts': 'Compiles and runs every bench.',
  'test/e2e/broken-books.test.ts':
    'Twenty ways to break files, each with several processes; e2e/one-month repairs one of them.',
  'test/e2e/closing.test.ts': 'Three months with every signed export before and after; e2e/one-month closes one month.',
  'test/e2e/completeness.test.ts':
    'Thirty ingests of accounts that lag or fail; sql/views and e2e/status hold the words and numbers.',
  'test/e2e/completion.test.ts': 'Starts shells that complete command lines.',
  'test/e2e/cost-reports.test.ts': 'Runs every cost report in a process; sql/cost-reports holds their numbers.',
  'test/e2e/currency.test.ts':
    'Closes, reopens and rebuilds months with changed rates; unit/currency holds the choice of a rate.',
  'test/e2e/demo.test.ts': 'Makes the whole demo project.',
  'test/e2e/disk.test.ts': 'Fills disks and waits for what gives up.',
  'test/e2e/double-sums.test.ts':
    'Large accounts whose totals are rounded; unit and contract tests hold the arithmetic.',
  'test/e2e/exit-codes.test.ts': 'Provokes each exit code of each command in processes.',
  'test/e2e/exports.test.ts':
    'Every format, overwritten, cut and verified in processes; e2e/one-month exports and verifies two.',
  'test/e2e/fast-clock.test.ts': 'Lives through nights of clocks that are a month ahead.',
  'test/e2e/faults.test.ts': 'One ingest for each fault and role; e2e/faults-by-chance mixes them in the first tier.',
  'test/e2e/feedback.test.ts':
    'Nine nights in processes; unit/feedback and sql/anomalies hold the rules in the first tier.',
  'test/e2e/focus-rules.test.ts': 'Runs the rules of the FOCUS specification over large exports.',
  'test/e2e/forecast-after-runaway.test.ts':
    'Ingests months of two emulated accounts; sql/forecasts-without-anomalies holds the rules.',
  'test/e2e/forecasts.test.ts': 'Stores forecasts over months of nights; sql/forecasts holds the rules.',
  'test/e2e/forty-nights.test.ts': 'Forty nights of one project against a golden transcript.',
  'test/e2e/forty-scheduled-nights.test.ts':
    'Forty nights under the scheduler with kills, lies and a full disk that are drawn.',
  'test/e2e/hostile-platform.test.ts': 'Waits for time limits of a platform that never answers.',
  'test/e2e/inventory.test.ts':
    'Lists resources over many nights; property/inventory and contract/listings hold the rules.',
  'test/e2e/jobs.test.ts': 'Runs jobs that fail, overlap, are killed and time out; e2e/one-month runs one.',
  'test/e2e/lake.test.ts': 'Writes a lake and reads it with several readers; e2e/one-month exports in the first tier.',
  'test/e2e/loading.test.ts':
    'Splits, repeats and restates ingests; crash/rounds and e2e/one-month restate in the first tier.',
  'test/e2e/many-faults-by-chance.test.ts': 'Eighty mixes of faults; eight are in e2e/faults-by-chance.',
  'test/e2e/many-accounts.test.ts':
    'Ingests a dozen accounts side by side, one of which crawls; unit/fair-limiter holds the rule.',
  'test/e2e/mcp-conformance.test.ts':
    'Runs the official conformance suite and inspector, a process each; e2e/mcp speaks with a client of its own.',
  'test/e2e/migrations.test.ts': 'Migrates books of every earlier schema, also killed and short of disk.',
  'test/e2e/months.test.ts': 'Nights on which whole months are compared, as both roles.',
  'test/e2e/network.test.ts': 'Proxies and certificates, with the waits of their retries.',
  'test/e2e/not-evaluated.test.ts': 'Reports before and after evaluations at many instants.',
  'test/e2e/package.test.ts': 'Packs and installs the package.',
  'test/e2e/scale-bench.test.ts': 'Makes books of three sizes and runs nights, alerts, reports and the lake over each.',
  'test/e2e/spark.test.ts':
    'Starts a cluster of Spark and runs every report on it; e2e/engine holds the statements and failures.',
  'test/e2e/full-and-slow-store.test.ts': 'Fills the disk of an S3 server, kills it, and waits for a slow one.',
  'test/e2e/storage-commands.test.ts': 'Kills publications to an S3 server at every request.',
  'test/e2e/storage.test.ts': 'Installs and starts an S3 server, kills it and its clients, and waits for time limits.',
  'test/e2e/verify-past.test.ts': 'Eight restatements of a long past as two roles.',
  'test/e2e/project-sql.test.ts': 'Waits for queries of a project that do not end.',
  'test/e2e/reconciliation.test.ts': 'Windows whose totals lie, each read several times.',
  'test/e2e/docs.test.ts': 'Runs every command of README and of all pages, and compares what they print.',
  'test/e2e/rebuild.test.ts': 'Rebuilds books of every kind and compares them.',
  'test/e2e/report-command.test.ts': 'Forty command lines of the report command, a process each.',
  'test/e2e/token-access.test.ts':
    'Reads many workspaces as two roles; crash/rounds and property/closing read as admin.',
  'test/e2e/hourly-watch.test.ts': 'Nine runs of a job that runs every hour, read from Slack.',
  'test/e2e/runaway-nights.test.ts': 'Eleven nights of a runaway cost, read from Slack and mail.',
  'test/e2e/serve-browser.test.ts': 'Opens each page of the dashboard in a real browser; e2e/serve asks over HTTP.',
  'test/e2e/secrets.test.ts': 'Every command with every trouble, searched for secrets.',
  'test/e2e/sql-attacks.test.ts': 'Statements that attack, some of which are ended by a time limit only.',
  'test/e2e/strange-answers.test.ts': 'Answers that cannot be true, one of them with a hundred thousand groups.',
  'test/e2e/strange-labels.test.ts': 'Strange labels through every command and export.',
  'test/e2e/terminal.test.ts': 'Starts programs in terminals of several widths.',
  'test/property/alerts.test.ts': 'Drawn stories of alerts in DuckDB; sql/alerts holds the rules.',
  'test/property/allocation.test.ts': 'Drawn rules and costs in DuckDB; sql/allocation holds the rules.',
  'test/property/anomalies.test.ts': 'Drawn series, a hundred and more for each property.',
  'test/property/as-of.test.ts': 'Drawn histories that are read as of each instant, a minute of CPU.',
  'test/property/budgets.test.ts': 'Drawn budgets and costs in DuckDB; sql/budgets holds the rules.',
  'test/property/closing.test.ts': 'Drawn stories of closed months in DuckDB; sql/closing holds the rules.',
  'test/property/double-sums.test.ts': 'Drawn accounts with rounded totals; unit tests hold the arithmetic.',
  'test/property/forecast.test.ts': 'Drawn series, each forecast many times.',
  'test/property/forecast-calibration.test.ts': 'Hundreds of forecasts, to count how often their intervals hold.',
  'test/property/formats.test.ts': 'Drawn rows written and read in every format.',
  'test/property/inventory.test.ts': 'Drawn listings in DuckDB.',
  'test/property/slots.test.ts': 'Drawn schedules in every time zone.',
  'test/sql/lake.test.ts':
    'Publishes the lake after each change of the books; e2e/reports-of-the-books writes one in the first tier.',
  'test/unit/labelled-year.test.ts': 'Two years of a hundred scopes through the detection of anomalies.',
};
