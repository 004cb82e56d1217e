import { UsageError } from '../../base/errors.ts';
import { nearest } from '../../text/choices.ts';
import {
  amountOfOthers,
  amountOfValue,
  aroundLabels,
  aroundSpread,
  readSql,
  valuesByAmount,
} from '../../warehouse/sql/index.ts';
import type { Connection, SqlParameters } from '../../warehouse/store/index.ts';
import { columnsOf } from '../formats/columns.ts';
import { admitReport, type Report, selectOf } from './catalogue.ts';
import type { Spread } from './spread.ts';

/** The most columns made from values; the smallest amounts share one column. */
const maxSpreadColumns = 100;

/**
 * Adds columns that depend on the books, with their bound values: a column per value for a report with `--! spread:`,
 * and a column per requested label for one with a parameter `labels`. Other reports do not change. Throws UsageError
 * for a label that no resource has, and SqlError if the report's SQL is invalid.
 */
export async function shape(
  connection: Connection,
  report: Report,
  parameters: SqlParameters,
): Promise<{ report: Report; parameters: SqlParameters }> {
  await admitReport(connection, report);
  if (report.spread !== undefined) return spread(connection, report, report.spread, parameters);
  if (report.parameters.some(({ name }) => name === 'labels')) return withLabels(connection, report, parameters);
  return { report, parameters };
}

async function spread(
  connection: Connection,
  report: Report,
  { column, amount, total }: Spread,
  parameters: SqlParameters,
): Promise<{ report: Report; parameters: SqlParameters }> {
  const columns = await columnsOf(connection, selectOf(report), parameters);
  const others = columns.map(({ name }) => name).filter((name) => name !== column && name !== amount);
  if (others.length !== columns.length - 2) {
    throw new UsageError(
      `${report.file.path}:1:1: "--! spread:" names ${column} and ${amount}, found ${columns.map(({ name }) => name).join(', ')}`,
    );
  }
  const rows = await connection.rows(valuesByAmount(selectOf(report), column, amount), parameters);
  const values = rows.map(({ value }) => (value === null || value === undefined ? null : String(value)));
  const shown = values.slice(0, maxSpreadColumns).sort(nullsLast);
  const taken = new Set([...others, total].map(plain));
  const bound = Object.fromEntries(shown.map((value, index) => [`_column_${index}`, value]));
  const cells = shown.map((value, index) =>
    amountOfValue(amount, column, `_column_${index}`, free(value ?? `no ${column}`, taken)),
  );
  if (values.length > shown.length) {
    cells.push(amountOfOthers(amount, column, Object.keys(bound), free('others', taken)));
  }
  return {
    report: { ...report, wrapping: aroundSpread(others, cells, amount, total) },
    parameters: { ...parameters, ...bound },
  };
}

async function withLabels(
  connection: Connection,
  report: Report,
  parameters: SqlParameters,
): Promise<{ report: Report; parameters: SqlParameters }> {
  const asked = typeof parameters['labels'] === 'string' ? parameters['labels'] : '';
  const keys = [...new Set(asked.split(',').map((key) => key.trim()))].filter((key) => key !== '');
  if (keys.length > 0) await expectLabels(connection, keys);
  const wrapping = aroundLabels(keys.map((key, index) => ({ parameter: `_label_${index}`, name: `label_${key}` })));
  // A JSON pointer (RFC 6901) can contain any name.
  const pointers = keys.map((key, index) => [`_label_${index}`, `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`]);
  return {
    report: { ...report, wrapping },
    parameters: { ...parameters, ...Object.fromEntries(pointers) },
  };
}

async function expectLabels(connection: Connection, keys: readonly string[]): Promise<void> {
  const rows = await connection.rows(await readSql('publish', 'label_keys'));
  const known = rows.map(({ key }) => String(key));
  const problems = keys
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = nearest(key, known);
      const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
      return `--labels: no resource in the books has a label "${key}"${hint}`;
    });
  if (problems.length > 0) throw new UsageError(problems);
}

function nullsLast(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a < b ? -1 : 1;
}

/** A column name that is still free; DuckDB ignores case in names, and ends them at a zero byte. */
function free(value: string, taken: Set<string>): string {
  const name = value.replaceAll('\0', '\ufffd');
  let candidate = name;
  for (let number = 2; taken.has(plain(candidate)); number += 1) candidate = `${name} (${number})`;
  taken.add(plain(candidate));
  return candidate;
}

function plain(name: string): string {
  return name.toLowerCase();
}
