import { readFileSync, statSync } from 'node:fs';
import { oneOf, quoted } from '../choices.ts';
import type { Problems } from '../config/index.ts';
import { nearest } from '../did-you-mean.ts';
import { fields } from './definition.ts';

/** A lookup table: one owner for each value of a field. */
export interface Lookup {
  /** The field whose values are looked up: `workspace`, … or `label:<key>`. */
  readonly field: string;
  readonly lines: readonly { readonly key: string; readonly owner: ReadonlyMap<string, string> }[];
  /** The owner dimensions that have a column. */
  readonly dimensions: readonly string[];
}

const maxFileBytes = 8 * 1024 * 1024;

/**
 * Reads a lookup table: CSV (RFC 4180, UTF-8) whose header line names one field and some dimensions. Reports every
 * mistake with file and line, and then returns undefined.
 */
export function readLookup(file: string, dimensions: readonly string[], problems: Problems): Lookup | undefined {
  function report(line: number, text: string): void {
    problems.report({ where: `${file}:${line}` }, text);
  }
  const text = readText(file, problems);
  if (text === undefined) return undefined;
  const records = csvRecords(text, report);
  if (records === undefined) return undefined;
  const [head, ...lines] = records;
  if (head === undefined) {
    report(1, `found an empty file, expected a header line such as workspace,${dimensions[0]}`);
    return undefined;
  }
  const header = readHeader(head.cells, dimensions, (words) => report(head.line, words));
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

function readText(file: string, problems: Problems): string | undefined {
  try {
    const { size } = statSync(file);
    if (size > maxFileBytes) {
      problems.report({ where: file }, `found ${size} bytes, expected at most 8 MiB; remove values that no cost has`);
      return undefined;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const fault = code.startsWith('ERR_ENCODING')
      ? 'found bytes that are not UTF-8; save the file as UTF-8'
      : code === 'ENOENT'
        ? 'found no such file, expected the lookup table that a rule names; create it, or correct the name'
        : `cannot be read (${code}); give the user who runs Costbook read access`;
    problems.report({ where: file }, fault);
    return undefined;
  }
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

/** The records of a CSV text, each with the line on which it starts. Skips empty lines and trims cells. */
function csvRecords(
  text: string,
  report: (line: number, words: string) => void,
): { readonly line: number; readonly cells: readonly string[] }[] | undefined {
  const records: { line: number; cells: string[] }[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  let line = 1;
  let cells: string[] = [];
  let begun = 1;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      const rest = text.slice(at, text.indexOf('\n', at) === -1 ? undefined : text.indexOf('\n', at));
      const fault = rest.startsWith('"')
        ? 'a quote that is not closed, or text after the closing quote'
        : 'a quote inside a cell';
      report(line, `found ${fault}, expected "…" around the whole cell and "" for a quote inside it`);
      return undefined;
    }
    const [whole, quotedCell, plain = '', end = ''] = match;
    cells.push((quotedCell === undefined ? plain : quotedCell.replaceAll('""', '"')).trim());
    line += (whole.match(/\r\n|\n|\r/g) ?? []).length;
    if (end === ',' && pattern.lastIndex < text.length) continue;
    if (end === ',') cells.push(''); // the file ends with a comma
    if (cells.length > 1 || cells[0] !== '') records.push({ line: begun, cells });
    cells = [];
    begun = line;
  }
  return records;
}
