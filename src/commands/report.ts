import { expectProject } from '../base/project-folder.ts';
import { formats } from '../jobs/index.ts';
import { hourMs } from '../time/time.ts';
import type { Command } from './command.ts';
import { optionReader, timeoutOf } from './options.ts';
import { inChild, runInChild } from './run-in-child.ts';

const engines = ['duckdb', 'spark'] as const;

const onDuckDb = inChild('report', {
  summary: 'Run a report: print it as a table, and write it to files that "costbook verify" can check.',
  arguments: [{ name: '[name]', summary: 'the report; --list shows all' }],
  options: [
    {
      flags: '--month <month>',
      summary:
        "a month such as 2026-10, a range such as 2026-01..2026-10, or last for the last complete month; --list shows each report's default",
    },
    { flags: '--from <date>', summary: 'for reports on days: the first day, such as 2026-11-01' },
    {
      flags: '--to <date>',
      summary: 'for reports on days: the end (exclusive); 2026-11-15 makes 14 November the last day',
    },
    {
      flags: '--param <name=value>',
      summary: 'a parameter of the report, see --list; repeatable',
      isRepeatable: true,
    },
    {
      flags: '--as-of <instant>',
      summary:
        'report the books as they were at this instant, into a separate folder; now: the current books, also for a closed month',
    },
    {
      flags: '--format <formats>',
      summary: `comma-separated: ${formats.join(', ')}; by default the report's own formats`,
    },
    {
      flags: '--out <place>',
      summary:
        'write the files below this folder, in <report>/…; by default exports/ in the project folder. s3://bucket/prefix: also send them to an object store',
    },
    {
      flags: '--excel [language]',
      summary:
        'write a CSV for spreadsheets: two decimals, plain names, the currency; alone or in addition to --format. --excel=de: with the decimal comma and the semicolons of that language',
    },
    { flags: '--totals', summary: 'add a row with totals, in the table and with --excel' },
    { flags: '--by <dimension>', summary: 'for chargeback reports: the dimension of owners, such as team' },
    { flags: '--labels <keys>', summary: 'for cost_by_resource: a column for each of these labels, such as team,env' },
    { flags: '--currency <what>', summary: 'none: leave out the second currency of costbook.yaml' },
    { flags: '--raw', summary: 'in CSV, do not escape text that looks like a formula' },
    {
      flags: '--parquet-decimals <type>',
      summary: 'exact (default), or double for programs that cannot read decimals',
    },
    {
      flags: '--focus-version <version>',
      summary: 'for the report focus: the FOCUS version, such as 1.2; the newest by default',
    },
    { flags: '--grain <grain>', summary: 'for the report focus: hourly or daily charge periods' },
    {
      flags: '--with-deprecated-columns',
      summary:
        'for the report focus: add ProviderName and PublisherName, which FOCUS 1.4 deprecates but two of its official rules require',
    },
    {
      flags: '--allow-empty',
      summary: 'write an empty report, instead of failing, if the books have no such month, workspace or other value',
    },
    { flags: '--require-complete', summary: 'if the data of the report is not complete, write nothing and exit 4' },
    {
      flags: '--allow-files <dir>',
      summary: 'allow parameters to name files below this folder, outside the project folder; repeatable',
      isRepeatable: true,
    },
    {
      flags: '--engine <engine>',
      summary: 'what answers: duckdb (default), or spark, the cluster of costbook.yaml over the lake',
    },
    { flags: '--print-sql', summary: 'print the SQL of the report, and nothing else' },
    {
      flags: '--dialect <dialect>',
      summary: 'for --print-sql: duckdb (default), or spark, over the tables of the lake',
    },
    { flags: '--timeout <duration>', summary: 'stop the report after this time, such as 10m or 2h; 1h by default' },
    { flags: '--list', summary: 'list the reports and their parameters' },
  ],
  needsProject: ({ options }) => options['list'] !== true,
  examples: [
    'costbook report --list',
    'costbook report cost_by_workspace --month 2026-10',
    'costbook report cost_by_workspace --month 2026-10 --format csv,arrow --out /srv/finance',
    'costbook report chargeback_summary --month 2026-10 --excel --totals',
    'costbook report chargeback --month 2026-01..2026-10',
    'costbook report daily_trend --from 2026-11-01 --to 2026-11-15',
    'costbook report cost_by_workspace --as-of 2026-11-03 --require-complete',
    'costbook report lake --out s3://finance/costs',
    'costbook report focus --month 2026-10 --focus-version 1.2 --format parquet',
    'costbook report cost_by_workspace --month 2026-10 --print-sql --dialect spark',
  ],
  usualTimeoutMs: hourMs,
  async check(input, context) {
    const { storeOf, withoutStore } = await import('./exports-in-store.ts');
    storeOf(input, context);
    const { checkQuestion } = await import('./report-answer.ts');
    await checkQuestion(withoutStore(input), context);
  },
});

export const reportCommand: Command = {
  ...onDuckDb,
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const engine = options.choice('engine', engines) ?? 'duckdb';
    const dialect = options.choice('dialect', engines);
    const isPrinted = options.flag('printSql');
    if (dialect !== undefined && !isPrinted) options.problem('--dialect applies only to --print-sql');
    if (engine !== 'duckdb' && isPrinted)
      options.problem('--print-sql prints without running: use --dialect, not --engine');
    if (context.json && isPrinted) options.problem('--print-sql prints SQL: leave out --json');
    const timeoutMs = timeoutOf(options) ?? hourMs;
    options.check();
    const [name] = input.arguments;
    if (isPrinted) {
      expectProject(context);
      const { signal, write } = context;
      const limits = { subject: `the report ${name ?? ''}`.trim(), timeoutMs, signal };
      return runInChild('report-sql', input, context, { ...limits, write: (piece) => write(piece) });
    }
    if (engine === 'duckdb' || name === undefined) return onDuckDb.run(input, context);
    const { reportOnCluster } = await import('./on-cluster.ts');
    return reportOnCluster(input, context, { subject: `the report ${name}`, timeoutMs });
  },
};
