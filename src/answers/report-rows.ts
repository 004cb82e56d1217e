import { join } from 'node:path';
import { exitCodes, UsageError } from '../base/errors.ts';
import type { CommandInput } from '../options/read.ts';
import { read } from '../options/read.ts';
import { reportInChild } from '../options/table.ts';
import { costColumnOf, jsonRows } from '../reports/formats/index.ts';
import { filesNamed, importantOf, totalsOf } from '../reports/publishing/index.ts';
import {
  besidesWords,
  blamingReport,
  checkReport,
  displayParameters,
  isForCommandLine,
  isOfOwners,
  orderedQuery,
  type Report,
  readReports,
  refusalWords,
  selectOf,
  shape,
  sqlParameters,
  topOf,
} from '../reports/questions/index.ts';
import { sortingOf } from '../tables/sorting.ts';
import { firstOf, sumsOf } from '../warehouse/sql/index.ts';
import { answerInCurrency } from './answer-in-currency.ts';
import type { ChildContext } from './context.ts';
import { adviceOnOwners, openQuestion, type ReportLine, readQuestion } from './report-answer.ts';

/**
 * Answers with the first rows of a report, as its table shows them: what costs most, or is newest, first.
 * Writes no file. Throws as the report command does.
 */
export async function answerReportRows(input: CommandInput, context: ChildContext): Promise<number> {
  const { maxRows, param, totals, sort } = read(reportInChild, input, context);
  const reports = await readReports(join(context.dir, 'sql'));
  refuseForOthers(reports, input.arguments[0], param);
  const question = await readQuestion(input, context, reports, '');
  const { report, line } = question;
  const opened = await openQuestion(question, context);
  const { books, state, values, evaluated, besides, missing, refusals } = opened;
  try {
    const { connection } = books;
    if (refusals.length > 0) throw new UsageError(refusalWords(refusals));
    const advice = isOfOwners(report) ? await adviceOnOwners(connection, context.dir) : [];
    const warnings = [...missing, ...(evaluated?.gone ?? []), ...advice];
    if (besides !== undefined) warnings.push(besidesWords(besides));
    // From here on SQL runs that may be the user's.
    await books.lockDown({ files: filesNamed(values) });
    await blamingReport(report, async () => {
      const own = await shape(connection, report, sqlParameters(values));
      const answered = await checkReport(connection, own.report, own.parameters);
      const inBoth = await answerInCurrency(line, context, { ...own, columns: answered }, opened);
      const { report: shaped, parameters, columns, currency } = inBoth;
      const names = columns.map(({ name }) => name);
      const sorting = sort === undefined ? undefined : sortingOf(sort, names);
      const query = firstOf(orderedQuery(shaped, names, topOf(shaped, columns), { sorting }), maxRows + 1);
      const rows: Record<string, unknown>[] = [];
      for await (const chunk of jsonRows(await connection.stream(query, parameters))) rows.push(...chunk);
      const summed = totals ? totalsOf(shaped, columns, costColumnOf(columns, shaped.file.header['cost'])) : [];
      const [sums = {}] =
        summed.length === 0 ? [] : await connection.rows(sumsOf(selectOf(shaped), summed), parameters);
      const answer = {
        ...{ important: importantOf(shaped, columns), totals: sums },
        ...{
          report: report.name,
          parameters: displayParameters(values),
          ...state,
          warnings,
          ...(currency === undefined ? {} : { currency }),
          columns,
        },
        rows: rows.slice(0, maxRows),
        truncated: rows.length > maxRows,
      };
      await context.answer(answer, () => '');
    });
    return exitCodes.done;
  } finally {
    books.close();
  }
}

/**
 * Throws UsageError for a value that only the command line may set: the dashboard and agents ask here, whoever they are.
 * Before any file is looked at, so that nothing tells what exists.
 */
function refuseForOthers(reports: readonly Report[], name: string | undefined, given: ReportLine['param']): void {
  const report = reports.find((candidate) => candidate.name === name);
  const closed = report?.parameters.filter(isForCommandLine) ?? [];
  const isSet = ({ name: parameter }: { readonly name: string }) => given.some(([one]) => one === parameter);
  const found = closed.find((parameter) => isSet(parameter) || parameter.default === undefined);
  if (report === undefined || found === undefined) return;
  throw new UsageError(
    `the parameter ${found.name} of the report ${report.name} is set on the command line only: ` +
      `run "costbook report ${report.name} --param ${found.name}=…"`,
  );
}
