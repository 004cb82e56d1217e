import { isAbsolute, join, relative, resolve } from 'node:path';
import { nearest } from '../did-you-mean.ts';
import { exitCodes, UnprovenError, UsageError } from '../errors.ts';
import {
  blamingReport,
  checkReport,
  completenessOf,
  describeCompleteness,
  exportFormats,
  filesOf,
  formatTable,
  incompleteWarning,
  lastCompleteMonth,
  orderedQuery,
  publishReport,
  readReports,
} from '../reports/index.ts';
import { formatInstant, formatMonth } from '../time.ts';
import { type JsonValue, openBooks, toCellText, toJsonValue } from '../warehouse/index.ts';
import type { Command } from './command.ts';
import { optionReader } from './options.ts';

export const reportCommand: Command = {
  name: 'report',
  summary: 'Answer a report from the published snapshot and write it as files.',
  arguments: [{ name: '[name]', summary: 'the report; --list names them all' }],
  options: [
    { flags: '--month <month>', summary: 'the month, for example 2026-10; by default the last complete one' },
    { flags: '--as-of <instant>', summary: 'what would have been answered then; the files say so in their names' },
    { flags: '--format <formats>', summary: `comma-separated: ${exportFormats.join(', ')}; both by default` },
    {
      flags: '--out <dir>',
      summary: 'the folder in the place of exports in the project folder: the files go below <report>/ in it',
    },
    { flags: '--raw', summary: 'in CSV, leave text that looks like a formula as it is' },
    { flags: '--require-complete', summary: 'exit 4, writing nothing, where the month is not complete' },
    { flags: '--list', summary: 'name the reports' },
  ],
  examples: [
    'costbook report --list',
    'costbook report cost_by_workspace --month 2026-10',
    'costbook report cost_by_workspace --month 2026-10 --format csv --out /srv/finance',
  ],
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const reports = await readReports(join(context.dir, 'sql'));
    if (options.flag('list')) {
      if (context.json)
        await context.write(
          `${JSON.stringify(reports.map(({ name, about, grain, formats }) => ({ name, about, grain, formats })))}\n`,
        );
      else for (const report of reports) await context.write(`${report.name.padEnd(24)} ${report.about}\n`);
      return exitCodes.done;
    }
    const [name] = input.arguments;
    const report = reports.find((candidate) => candidate.name === name);
    if (report === undefined) {
      const names = reports.map((candidate) => candidate.name);
      const guess = nearest(name ?? '', names);
      options.problem(
        name === undefined
          ? `name a report: ${names.join(', ')}`
          : `there is no report "${name}"${guess ? ` (did you mean "${guess}"?)` : ''}: expected one of ${names.join(', ')}`,
      );
    }
    const month = options.month('month');
    const formats = options.choices('format', exportFormats) ?? report?.formats ?? [];
    const asOf = options.asOf();
    options.check();
    if (report === undefined) throw new UsageError('name a report');

    const books = await openBooks(context.dir, { lockedDown: false, asOf, signal: context.signal });
    try {
      const { connection } = books;
      const state = await completenessOf(connection, asOf);
      const window = month ?? lastCompleteMonth(state);
      if (window === undefined) {
        const words =
          'no month is complete in every account: name one with --month; "costbook status" shows how far each account is';
        throw options.flag('requireComplete') ? new UnprovenError(words) : new UsageError(words);
      }
      const warning = incompleteWarning(window, state);
      if (warning !== undefined) {
        if (options.flag('requireComplete')) {
          context.tell(`${warning}; nothing was written`);
          return exitCodes.unproven;
        }
        context.tell(`warning: ${warning}`);
      }
      const parameters = { month: formatInstant(window.start).slice(0, 10) };
      return await blamingReport(report, async () => {
        await checkReport(connection, report, parameters);
        const query = orderedQuery(report);
        const published = await publishReport({
          report,
          connection,
          bound: parameters,
          parameters: [
            { name: 'month', said: formatMonth(window.start), isDefault: month === undefined, hasDefault: true },
          ],
          formats,
          root: resolve(options.text('out') ?? join(context.dir, 'exports')),
          raw: options.flag('raw'),
          state,
          asOf,
          signal: context.signal,
        });
        const files = filesOf(published);

        const { columns, pieces } = await connection.stream(query, parameters);
        if (context.json) {
          const rows: Record<string, JsonValue>[] = [];
          for await (const piece of pieces) {
            for (const row of piece) {
              rows.push(
                Object.fromEntries(columns.map((column, index) => [column.name, toJsonValue(row[index] ?? null)])),
              );
            }
          }
          const answer = {
            report: report.name,
            parameters: { month: formatMonth(window.start) },
            ...state,
            columns,
            rows,
            files,
            unchanged: published.isUnchanged,
          };
          await context.write(`${JSON.stringify(answer)}\n`);
          return exitCodes.done;
        }
        const shown: (string | undefined)[][] = [];
        let count = 0;
        for await (const piece of pieces) {
          for (const row of piece) {
            count += 1;
            if (shown.length < maxShownRows) shown.push(row.map(toCellText));
          }
        }
        await context.write(`${formatTable(columns, shown)}\n`);
        const cut = count > shown.length ? `, the first ${shown.length} are shown` : '';
        await context.write(`(${count} rows${cut}) ${describeCompleteness(state)}\n`);
        const unchanged = published.isUnchanged ? ' (unchanged)' : '';
        for (const { latest, path } of files) await context.write(`${shortest(latest ?? path)}${unchanged}\n`);
        return exitCodes.done;
      });
    } finally {
      books.close();
    }
  },
};

/** A screenful for a look; the files have all. */
const maxShownRows = 40;

/** The path as a person in this folder would write it. */
function shortest(path: string): string {
  const fromHere = relative('.', path);
  return isAbsolute(fromHere) || fromHere.startsWith('..') ? path : fromHere;
}
