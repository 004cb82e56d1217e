import { formats } from '../jobs/index.ts';
import { hourMs } from '../time.ts';
import { inChild } from './run-in-child.ts';

export const reportCommand = inChild('report', {
  summary: 'Run a report on the published snapshot and write it to files.',
  arguments: [{ name: '[name]', summary: 'the report; --list shows all' }],
  options: [
    {
      flags: '--month <month>',
      summary: 'a month such as 2026-10, a range such as 2026-01..2026-10, or last, the last complete month (default)',
    },
    { flags: '--from <date>', summary: 'for reports on days: the first day' },
    { flags: '--to <date>', summary: 'for reports on days: the day after the last day' },
    {
      flags: '--param <name=value>',
      summary: 'a parameter of the report, see --list; repeatable',
      isRepeatable: true,
    },
    {
      flags: '--as-of <instant>',
      summary: 'report the books as they were then; now for the current books; the files go into a separate folder',
    },
    {
      flags: '--format <formats>',
      summary: `comma-separated: ${formats.join(', ')}; by default the report's own formats`,
    },
    {
      flags: '--out <dir>',
      summary: 'write the files below this folder, in <report>/…; by default exports/ in the project folder',
    },
    {
      flags: '--excel',
      summary: 'write a CSV for people (two decimals, names, the currency), alone or in addition to --format',
    },
    { flags: '--totals', summary: 'add a row with totals, in the table and with --excel' },
    { flags: '--by <dimension>', summary: 'for chargeback reports: the dimension of owners, such as team' },
    { flags: '--labels <keys>', summary: 'for cost_by_resource: a column for each of these labels, such as team,env' },
    { flags: '--raw', summary: 'in CSV, do not escape text that looks like a formula' },
    { flags: '--parquet-decimals <type>', summary: 'exact, or double for readers without a decimal type' },
    {
      flags: '--focus-version <version>',
      summary: 'for the report focus: the FOCUS version, such as 1.2; the newest by default',
    },
    { flags: '--grain <grain>', summary: 'for the report focus: hourly or daily charge periods' },
    {
      flags: '--with-deprecated-columns',
      summary:
        'for the report focus: include ProviderName and PublisherName, deprecated in 1.4; without them two rules of the official 1.4 model fail',
    },
    {
      flags: '--allow-empty',
      summary: 'also succeed if the books have no data for the month, workspace or other dimension',
    },
    { flags: '--require-complete', summary: 'exit 4 and write nothing if the data of the report is not complete' },
    {
      flags: '--allow-files <dir>',
      summary: 'allow parameters to name files below this folder; repeatable',
      isRepeatable: true,
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
    'costbook report cost_by_workspace --as-of 2026-11-03 --require-complete',
    'costbook report focus --month 2026-10 --focus-version 1.2 --format parquet',
  ],
  usualTimeoutMs: hourMs,
  async check(input, context) {
    const { checkQuestion } = await import('./report-answer.ts');
    await checkQuestion(input, context);
  },
});
