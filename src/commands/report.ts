import { exitCodes } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import type { PublishedPlace } from '../reports/exports/index.ts';
import type { Command } from './command.ts';
import { runInChild } from './run-in-child.ts';

export const reportCommand: Command = {
  name: 'report',
  summary: 'Run a report: print it as a table, and write it to files that "costbook verify" can check.',
  arguments: [{ name: '[name]', summary: 'the report; --list shows all' }],
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
  async check(input, context) {
    const { storeOf } = await import('./exports-in-store.ts');
    storeOf(reading(options.report, input, context).values.out, context);
    const { checkQuestion } = await import('../answers/index.ts');
    await checkQuestion(input, context);
  },
  async run(input, context) {
    // The child reports mistakes, together with those in the report's parameters.
    const { engine, printSql: isPrinted, timeout: timeoutMs, out } = reading(options.report, input, context).values;
    const [name] = input.arguments;
    const { signal, write } = context;
    const subject = `the report ${name ?? ''}`.trim();
    // The child's errors arrive as text, so it cannot report that this folder is not a project.
    if (isPrinted || name !== undefined) expectProject(context);
    if (isPrinted) return runInChild('report-sql', input, context, { subject, timeoutMs, signal, write });
    const { rootOf, storeOf } = await import('./exports-in-store.ts');
    const { folderOf } = await import('../config/index.ts');
    const limits = { subject, timeoutMs, out: folderOf(out) };
    if (engine !== 'duckdb' && name !== undefined) {
      const { reportOnCluster } = await import('./on-cluster.ts');
      return reportOnCluster(input, context, limits);
    }
    const place = name === undefined ? undefined : storeOf(out, context);
    const published: PublishedPlace[] = [];
    const onPublished = (one: PublishedPlace) => void published.push(one);
    const exitCode = await runInChild('report', input, context, { ...limits, signal, write, onPublished });
    if (place !== undefined && exitCode === exitCodes.done) {
      const { sendExports } = await import('../storage/index.ts');
      await sendExports(published, rootOf(context.dir), place, context);
    }
    return exitCode;
  },
};
