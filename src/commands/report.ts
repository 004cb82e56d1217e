import { formats } from '../jobs/index.ts';
import { hourMs } from '../time.ts';
import { apart } from './apart.ts';

export const reportCommand = apart('report', {
  summary: 'Answer a report from the published snapshot and write it as files.',
  arguments: [{ name: '[name]', summary: 'the report; --list names them all' }],
  options: [
    {
      flags: '--month <month>',
      summary:
        'the month, for example 2026-10, months, 2026-01..2026-10, or last, the last complete one, which is the default',
    },
    { flags: '--from <date>', summary: 'the first day, of a report that is about days' },
    { flags: '--to <date>', summary: 'the day after the last one' },
    {
      flags: '--param <name=value>',
      summary: 'any parameter of the report, as --list names them; may be repeated',
      isRepeatable: true,
    },
    {
      flags: '--as-of <instant>',
      summary: 'what would have been answered then, or now for the present; the files go into a folder of their own',
    },
    {
      flags: '--format <formats>',
      summary: `comma-separated: ${formats.join(', ')}; by default what the report says`,
    },
    {
      flags: '--out <dir>',
      summary: 'the folder below which the files go, as <report>/…; by default exports in the project folder',
    },
    {
      flags: '--excel',
      summary: 'a CSV for people: two decimals, names, the currency; alone, or beside what --format names',
    },
    { flags: '--totals', summary: 'a last row that adds up the amounts, in the table and with --excel' },
    { flags: '--by <dimension>', summary: 'of chargeback reports: by which dimension of owners, such as team' },
    { flags: '--labels <keys>', summary: 'of cost_by_resource: a column for each of these labels, such as team,env' },
    { flags: '--raw', summary: 'in CSV, leave text that looks like a formula as it is' },
    { flags: '--parquet-decimals <type>', summary: 'exact, or double for readers that have no decimals' },
    {
      flags: '--focus-version <version>',
      summary: 'of the report focus: its version, such as 1.2; the newest by default',
    },
    { flags: '--grain <grain>', summary: 'of the report focus: a row for each hourly or daily charge period' },
    {
      flags: '--with-deprecated-columns',
      summary:
        'of the report focus: also ProviderName and PublisherName, which 1.4 deprecated; without them two rules of the official 1.4 model fail',
    },
    {
      flags: '--allow-empty',
      summary: 'also answer where the books cannot hold the month, or do not know the workspace or other dimension',
    },
    { flags: '--require-complete', summary: 'exit 4, writing nothing, where what the report is about is not complete' },
    {
      flags: '--allow-files <dir>',
      summary: 'files that parameters name may also be below this folder; may be repeated',
      isRepeatable: true,
    },
    { flags: '--timeout <duration>', summary: 'end the report after so long, such as 10m or 2h; 1h by default' },
    { flags: '--list', summary: 'name the reports with their parameters' },
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
