import { columnNamed, csvRecords } from '../tables/csv-records.ts';
import { nearest, oneOf, quoted } from '../text/choices.ts';
import { type Problems, readTextFile } from '../yaml/index.ts';
import { fields } from './definition.ts';

/** A lookup table: one owner for each value of a field. */
export interface Lookup {
  /** The field whose values are looked up: `workspace`, … or `label:<key>`. */
  readonly field: string;
  readonly lines: readonly { readonly key: string; readonly owner: ReadonlyMap<string, string> }[];
  /** The owner dimensions that have a column. */
  readonly dimensions: readonly string[];
}

/** Each is a field or a dimension, and is compared with the others. */
const mostColumns = 100;

/**
 * Reads a lookup table: CSV (RFC 4180, UTF-8) whose header line names one field and some dimensions. Reports every
 * mistake with file and line, and then returns undefined.
 */
export function readLookup(file: string, dimensions: readonly string[], problems: Problems): Lookup | undefined {
  function report(line: number, text: string): void {
    problems.report({ where: `${file}:${line}`, file }, text);
  }
  const text = readTextFile(file, 'the lookup table that a rule names', problems);
  if (text === undefined) return undefined;
  const records = csvRecords(text, report);
  if (records === undefined) return undefined;
  const [head, ...lines] = records;
  if (head === undefined) {
    report(1, `found an empty file, expected a header line such as workspace,${dimensions[0]}`);
    return undefined;
  }
  if (head.cells.length > mostColumns) {
    report(head.line, `found ${head.cells.length} columns, expected at most ${mostColumns}; remove the others`);
    return undefined;
  }
  const names = head.cells.map((name) => columnNamed(name.replace(/^label:/i, 'label:'), [...dimensions, ...fields]));
  const header = readHeader(names, dimensions, (words) => report(head.line, words));
  if (header === undefined) return undefined;
  const { keyColumn, field, owned } = header;
  const keys = new Map<string, number>();
  const read: { key: string; owner: ReadonlyMap<string, string> }[] = [];
  let isSound = true;
  for (const { line, cells } of lines) {
    const fault = lineFault(line, cells);
    if (fault !== undefined) {
      isSound = false;
      report(line, fault);
      continue;
    }
    const key = cells[keyColumn] ?? '';
    keys.set(key, line);
    const owner = new Map(
      owned.flatMap(({ column, dimension }): [string, string][] => {
        const cell = cells[column] ?? '';
        return cell === '' ? [] : [[dimension, cell]];
      }),
    );
    read.push({ key, owner });
  }
  function lineFault(_line: number, cells: readonly string[]): string | undefined {
    if (cells.length !== head?.cells.length) {
      return `found ${cells.length} cells, expected ${head?.cells.length} as in the header line`;
    }
    const key = cells[keyColumn] ?? '';
    if (key === '') return `found no ${field}, expected a value in that column`;
    const first = keys.get(key);
    if (first !== undefined) return `found ${quoted(key)} a second time, first on line ${first}; keep one`;
    if (owned.every(({ column }) => cells[column] === '')) {
      return `found no owner for ${quoted(key)}, expected a value for ${oneOf(owned.map(({ dimension }) => dimension))}`;
    }
    return undefined;
  }
  if (lines.length === 0) {
    report(head.line, 'found only a header line, expected a line for each value; add one, or remove the rule');
    return undefined;
  }
  return isSound ? { field, lines: read, dimensions: owned.map(({ dimension }) => dimension) } : undefined;
}

function readHeader(
  cells: readonly string[],
  dimensions: readonly string[],
  report: (words: string) => void,
): { keyColumn: number; field: string; owned: readonly { column: number; dimension: string }[] } | undefined {
  const owned: { column: number; dimension: string }[] = [];
  const keyColumns: { column: number; field: string }[] = [];
  let isSound = true;
  for (const [column, name] of cells.entries()) {
    if (cells.indexOf(name) !== column) {
      isSound = false;
      report(`found the column ${quoted(name)} a second time; keep one`);
    } else if (dimensions.includes(name)) owned.push({ column, dimension: name });
    else if (fields.some((field) => field === name) || /^label:./.test(name)) keyColumns.push({ column, field: name });
    else {
      isSound = false;
      const guess = nearest(name, [...dimensions, ...fields]);
      const hint = guess
        ? `did you mean ${guess}?`
        : `expected a dimension (${oneOf(dimensions)}), label:<key>, ${oneOf(fields)}`;
      report(`found the column ${quoted(name)}; ${hint}${/;/.test(name) ? ' (columns are separated by commas)' : ''}`);
    }
  }
  if (!isSound) return undefined;
  const [key, second] = keyColumns;
  if (key === undefined || second !== undefined) {
    const found = key === undefined ? 'no lookup column' : `${keyColumns.length} lookup columns`;
    report(`found ${found}, expected exactly one: label:<key>, ${oneOf(fields)}`);
    return undefined;
  }
  if (owned.length === 0) {
    report(`found no owner column, expected at least one of ${oneOf(dimensions)}`);
    return undefined;
  }
  return { keyColumn: key.column, field: key.field, owned };
}
