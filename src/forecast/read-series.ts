import { createReadStream } from 'node:fs';
import { UsageError } from '../base/errors.ts';
import { spellingFault } from '../money/typed-number.ts';
import { separatorNamed } from '../tables/csv-records.ts';
import { addCalendarMonths, dayMs, formatInstant, hourMs, type Instant, parseRfc3339 } from '../time/time.ts';
import { describeStep, isOfMonths, monthsOfSteps, type Step, stepMsOf, stepName } from './step.ts';

/** One series of a file, with its step. */
export interface GivenSeries {
  readonly id: string;
  /** UTC instant of the first value. */
  readonly start: string;
  /** Undefined for a single value, which has no step. */
  readonly step: Step | undefined;
  /** Null for a step that is missing or has no value. */
  readonly values: readonly (number | null)[];
}

const columns = ['id', 'timestamp', 'value'] as const;
/** The most mistakes listed; of the others only the number. */
const maxProblemsShown = 20;
/** The most rows that fit into the memory of a command. */
const mostRows = 20_000_000;
const mostRecordBytes = 65_536;
/** A series with fewer than one value per this many steps has a wrong timestamp or step. */
const mostStepsPerValue = 50;

/** The rows of one id, in the order of the file. */
interface Rows {
  readonly instants: Instant[];
  readonly values: (number | null)[];
  readonly lines: number[];
}

/**
 * Reads the series of a CSV file with the columns id, timestamp and value, in the order of their first rows. Timestamps
 * without an offset are UTC; they ascend within an id. An empty value is unknown. Throws UsageError that lists every
 * mistake by file and line.
 */
export async function readSeriesFile(path: string, signal: AbortSignal): Promise<GivenSeries[]> {
  const problems = new Problems(path);
  const rows = await readRows(path, problems, signal);
  problems.check();
  if (rows.size === 0) throw new UsageError(`${path}: found no row after the header, expected ${columns.join(',')}`);
  const series = [...rows].map(([id, found]) => regularSeries(id, found, problems));
  problems.check();
  return series;
}

class Problems {
  readonly #path: string;
  readonly #told: string[] = [];
  #count = 0;
  constructor(path: string) {
    this.#path = path;
  }
  add(line: number, words: string): void {
    this.#count += 1;
    if (this.#told.length < maxProblemsShown) this.#told.push(`${this.#path}:${line}: ${words}`);
  }
  /** Throws if there was a mistake. */
  check(): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#told.length;
    throw new UsageError(
      [...this.#told, ...(more > 0 ? [`and ${more} more mistake${more === 1 ? '' : 's'}`] : [])].join('\n'),
    );
  }
}

async function readRows(path: string, problems: Problems, signal: AbortSignal): Promise<Map<string, Rows>> {
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    // Spreadsheets write rows and columns that were used once.
    skip_records_with_empty_values: true,
    max_record_size: mostRecordBytes,
  });
  const file = createReadStream(path, { signal });
  file.on('error', (error) => parser.destroy(error));
  file.pipe(parser);
  const byId = new Map<string, Rows>();
  const points = new Points();
  let places: readonly number[] | undefined;
  let count = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (places === undefined) {
        if (separatorNamed(record) !== ',') places = placesOf(record, path, info.lines);
        continue;
      }
      count += 1;
      if (count > mostRows) throw new UsageError(`${path}: found more than ${mostRows} rows; split the file by id`);
      const filled = record.filter((cell, place) => cell.trim() !== '' || places?.includes(place));
      if (filled.length !== columns.length) {
        problems.add(info.lines, `found ${filled.length} fields, expected ${columns.length}: ${columns.join(',')}`);
        continue;
      }
      const [id = '', timestamp = '', value = ''] = places.map((place) => record[place] ?? '');
      points.see(value, info.lines);
      addRow(byId, { id, timestamp, value, line: info.lines }, problems);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CsvError) throw new UsageError(`${path}: ${error.message}; expected CSV (RFC 4180)`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') {
      throw new UsageError(`${path}: found ${code === 'ENOENT' ? 'no such file' : 'a folder'}, expected a CSV file`);
    }
    throw error;
  } finally {
    file.destroy();
  }
  if (places === undefined)
    throw new UsageError(`${path}: found an empty file, expected the header ${columns.join(',')}`);
  points.check(problems);
  return byId;
}

/**
 * What the points in a file's values mean. If each has one to three digits before it and three after it, they may separate
 * thousands; one value of another form, such as 0.5 or 1234.5, shows that they separate decimals.
 */
class Points {
  #first: { readonly line: number; readonly fault: string } | undefined;
  #areDecimal = false;
  see(value: string, line: number): void {
    if (this.#areDecimal || !value.includes('.')) return;
    const fault = spellingFault(value);
    if (fault === undefined) this.#areDecimal = true;
    else this.#first ??= { line, fault };
  }
  check(problems: Problems): void {
    if (this.#first !== undefined && !this.#areDecimal) problems.add(this.#first.line, `value: ${this.#first.fault}`);
  }
}

/** The positions of the columns in a record. */
function placesOf(header: readonly string[], path: string, line: number): number[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const places = columns.map((column) => names.indexOf(column));
  const named = names.filter((name) => name !== '');
  if (named.length !== columns.length || places.includes(-1)) {
    throw new UsageError(
      `${path}:${line}: found the columns ${named.slice(0, 8).join(', ') || 'none'}, expected ${columns.join(', ')}`,
    );
  }
  return places;
}

function addRow(
  byId: Map<string, Rows>,
  { id, timestamp, value, line }: { id: string; timestamp: string; value: string; line: number },
  problems: Problems,
): void {
  const instant = instantIn(timestamp.trim());
  const number = numberIn(value.trim());
  if (id === '') problems.add(line, 'found no id, expected the name of the series');
  if (instant === undefined) {
    problems.add(line, `timestamp: found ${shown(timestamp)}, expected 2026-10-01 or 2026-10-01T00:00:00Z`);
  }
  if (number === undefined)
    problems.add(line, `value: found ${shown(value)}, expected a number, or nothing if it is unknown`);
  if (id === '' || instant === undefined || number === undefined) return;
  let rows = byId.get(id);
  if (rows === undefined) {
    rows = { instants: [], values: [], lines: [] };
    byId.set(id, rows);
  }
  const last = rows.instants.at(-1);
  if (last !== undefined && instant <= last) {
    const before = rows.lines[rows.instants.lastIndexOf(instant)];
    problems.add(
      line,
      before === undefined
        ? `${formatInstant(instant)} of ${shown(id)} is earlier than ${formatInstant(last)} above it (line ${rows.lines.at(-1)}), expected ascending timestamps`
        : `${formatInstant(instant)} of ${shown(id)} is there twice, first on line ${before}`,
    );
    return;
  }
  rows.instants.push(instant);
  rows.values.push(number);
  rows.lines.push(line);
}

const timestampForm = /^(\d{4}-\d{2}(?:-\d{2})?)(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|z|[+-]\d{2}:\d{2})?)?$/;

/** The instant of a timestamp; offset, seconds, time and day may be omitted. */
function instantIn(text: string): Instant | undefined {
  const [, date = '', clock = '00:00', seconds = ':00', offset = 'Z'] = timestampForm.exec(text) ?? [];
  if (date === '') return undefined;
  return parseRfc3339(`${date.length === 7 ? `${date}-01` : date}T${clock}${seconds}${offset}`);
}

const numberForm = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Null if empty; undefined if it is not a number that a double can represent. */
function numberIn(text: string): number | null | undefined {
  if (text === '') return null;
  const number = numberForm.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Places the rows of an id at regular steps; a row between two steps is a mistake. */
function regularSeries(id: string, { instants, values, lines }: Rows, problems: Problems): GivenSeries {
  const [first = 0] = instants;
  const start = formatInstant(first);
  if (instants.length < 2) return { id, start, step: undefined, values };
  const step = stepOf(instants);
  const indexOf = placeIn(step, first);
  const last = indexOf(instants.at(-1) ?? first);
  if (last > mostStepsPerValue * instants.length) {
    problems.add(
      lines.at(-1) ?? 0,
      `${shown(id)} has ${instants.length} values in ${Math.ceil(last) + 1} steps of ${describeStep(step)}; expected a regular step`,
    );
    return { id, start, step, values: [] };
  }
  const regular: (number | null)[] = [];
  for (const [row, instant] of instants.entries()) {
    const index = indexOf(instant);
    if (!Number.isInteger(index)) {
      problems.add(
        lines[row] ?? 0,
        `${formatInstant(instant)} of ${shown(id)} is between two steps of ${describeStep(step)} from ${start} on`,
      );
      continue;
    }
    while (regular.length < index) regular.push(null);
    regular.push(values[row] ?? null);
  }
  return { id, start, step, values: regular };
}

/** The place of an instant in steps from the first; not a whole number if it is between two steps. */
function placeIn(step: Step, first: Instant): (instant: Instant) => number {
  if (!isOfMonths(step)) return (instant) => (instant - first) / stepMsOf(step);
  return (instant) => monthsBetween(first, instant, step !== stepName(step)) / monthsOfSteps[step];
}

/** The number of months between two instants; not a whole number if they are at different positions in their months. */
function monthsBetween(first: Instant, instant: Instant, areEnds: boolean): number {
  if (areEnds) return monthsBetween(first + dayMs, instant + dayMs, false);
  const months = Math.round((instant - first) / (30.436875 * dayMs));
  return addCalendarMonths(first, months) === instant ? months : months + 0.5;
}

/** The distances in days between instants that are a month, a quarter or a year apart. */
const monthsSteps: readonly {
  readonly name: 'month' | 'quarter' | 'year';
  readonly days: readonly [number, number];
}[] = [
  { name: 'month', days: [28, 31] },
  { name: 'quarter', days: [89, 92] },
  { name: 'year', days: [365, 366] },
];

/** The most frequent distance; calendar months if the distances are such. */
function stepOf(instants: readonly Instant[]): Step {
  const counts = new Map<number, number>();
  for (const [index, instant] of instants.entries()) {
    if (index === 0) continue;
    const distance = instant - (instants[index - 1] ?? 0);
    counts.set(distance, (counts.get(distance) ?? 0) + 1);
  }
  const [[usual = hourMs] = []] = [...counts].sort(([a, often], [b, oftener]) => oftener - often || a - b);
  const [first = 0] = instants;
  const fits = (step: Step) => instants.every((instant) => Number.isInteger(placeIn(step, first)(instant)));
  const ofMonths = monthsSteps.find(({ days: [least, most] }) => usual >= least * dayMs && usual <= most * dayMs);
  if (ofMonths !== undefined) {
    const { name } = ofMonths;
    const step = ([name, `${name} end`] as const).find(fits);
    if (step !== undefined || !fits(usual)) return step ?? name;
  }
  if (usual === hourMs) return 'hour';
  if (usual === dayMs) return 'day';
  return usual === 7 * dayMs ? 'week' : usual;
}
