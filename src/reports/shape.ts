import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import type { Connection, SqlParameters } from '../warehouse/index.ts';
import { admitReport, type Report, selectOf } from './catalogue.ts';
import { columnsOf, quoted } from './columns.ts';
import type { Spread } from './spread.ts';

/** More columns than this are no table; the amounts of the least are added up in one. */
const maxSpreadColumns = 100;

/**
 * A report whose columns depend on the books, with these columns and the values that they are bound to: a report with
 * `--! spread:` gets a column for each value, one with a parameter `labels` a column for each label that is asked for.
 * Others stay as they are. Throws UsageError for a label that no resource has, SqlError where the report's SQL is wrong.
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
  const rows = await connection.rows(
    `select ${quoted(column)} as value from (${selectOf(report)}\n) group by all order by abs(sum(${quoted(amount)})) desc, value`,
    parameters,
  );
  const values = rows.map(({ value }) => (value === null || value === undefined ? null : String(value)));
  const shown = values.slice(0, maxSpreadColumns).sort(nullsLast);
  const taken = new Set([...others, total].map(plain));
  const bound = Object.fromEntries(shown.map((value, index) => [`_column_${index}`, value]));
  const sum = `sum(${quoted(amount)})`;
  const cells = shown.map((value, index) => {
    const name = free(value ?? `no ${column}`, taken);
    return `${sum} filter (${quoted(column)} is not distinct from cast($_column_${index} as varchar)) as ${quoted(name)}`;
  });
  if (values.length > shown.length) {
    const isShown = shown.map(
      (_, index) => `${quoted(column)} is not distinct from cast($_column_${index} as varchar)`,
    );
    cells.push(`${sum} filter (not (${isShown.join(' or ')})) as ${quoted(free('others', taken))}`);
  }
  const list = [...others.map(quoted), ...cells, `${sum} as ${quoted(total)}`].join(', ');
  return {
    report: { ...report, wrapping: { before: `select ${list} from (`, after: ') group by all' } },
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
  const cells = keys.map(
    (key, index) => `json_extract_string(labels, cast($_label_${index} as varchar)) as ${quoted(`label_${key}`)}`,
  );
  const before = `select ${['* exclude (labels)', ...cells].join(', ')} from (`;
  // A JSON pointer (RFC 6901), which may hold any name.
  const pointers = keys.map((key, index) => [`_label_${index}`, `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`]);
  return {
    report: { ...report, wrapping: { before, after: ')' } },
    parameters: { ...parameters, ...Object.fromEntries(pointers) },
  };
}

async function expectLabels(connection: Connection, keys: readonly string[]): Promise<void> {
  const rows = await connection.rows(
    `select distinct unnest(json_keys(labels)) as key from ledger.resources where labels is not null order by key`,
  );
  const known = rows.map(({ key }) => String(key));
  const problems = keys
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = nearest(key, known);
      const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
      return `--labels: no resource in the books has a label "${key}"${hint}`;
    });
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
}

function nullsLast(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a < b ? -1 : 1;
}

/** A column's name that no other column has yet: DuckDB compares names without their case. */
function free(name: string, taken: Set<string>): string {
  let candidate = name;
  for (let number = 2; taken.has(plain(candidate)); number += 1) candidate = `${name} (${number})`;
  taken.add(plain(candidate));
  return candidate;
}

function plain(name: string): string {
  return name.toLowerCase();
}
