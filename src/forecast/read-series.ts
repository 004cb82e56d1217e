import { createReadStream } from 'node:fs';
import { UsageError } from '../errors.ts';
import { addCalendarMonths, dayMs, formatInstant, hourMs, type Instant, parseRfc3339 } from '../time.ts';
import type { Step } from './step.ts';

/** One series of a file, at its step. */
export interface GivenSeries {
  readonly id: string;
  /** UTC instant of the first value. */
  readonly start: string;
  /** Undefined where there is a single value, so that nothing tells the step. */
  readonly step: Step | undefined;
  /** A step that the file leaves out, or gives without a value, is null. */
  readonly values: readonly (number | null)[];
}

const columns = ['id', 'timestamp', 'value'] as const;
/** Mistakes that are told; of more only the number is. */
const maxProblemsShown = 20;
/** More rows than this do not fit into the memory that a command may take. */
const mostRows = 20_000_000;
const mostRecordBytes = 65_536;
/** A series that has fewer than one value in so many steps has a wrong timestamp in it, or a wrong step. */
const mostStepsPerValue = 50;

/** The rows of one id, in the order of the file. */
interface Rows {
  readonly instants: Instant[];
  readonly values: (number | null)[];
  readonly lines: number[];
}

/**
 * The series of a CSV file with the columns id, timestamp and value, in the order of their first rows. Timestamps are
 * UTC where they name no offset, and ascend within an id; an empty value is not known. Throws UsageError that lists
 * what is wrong by file and line.
 */
export async function readSeriesFile(path: string, signal: AbortSignal): Promise<GivenSeries[]> {
  const problems = new Problems(path);
  const rows = await readRows(path, problems, signal);
  problems.check();
  if (rows.size === 0) throw new UsageError(`${path}: found no row below the header, expected ${columns.join(',')}`);
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
  /** Throws where there was one. */
  check(): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#told.length;
    throw new UsageError(
      [...this.#told, ...(more > 0 ? [`and ${more} mistake${more === 1 ? '' : 's'} more`] : [])].join('\n'),
    );
  }
}

async function readRows(path: string, problems: Problems, signal: AbortSignal): Promise<Map<string, Rows>> {
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: mostRecordBytes,
  });
  const file = createReadStream(path, { signal });
  file.on('error', (error) => parser.destroy(error));
  file.pipe(parser);
  const byId = new Map<string, Rows>();
  let places: readonly number[] | undefined;
  let count = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (places === undefined) {
        places = placesOf(record, path);
        continue;
      }
      count += 1;
      if (count > mostRows) throw new UsageError(`${path}: found more than ${mostRows} rows; split the file by id`);
      if (record.length !== columns.length) {
        problems.add(info.lines, `found ${record.length} fields, expected ${columns.length}: ${columns.join(',')}`);
        continue;
      }
      const [id = '', timestamp = '', value = ''] = places.map((place) => record[place] ?? '');
      addRow(byId, { id, timestamp, value, line: info.lines }, problems);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CsvError) throw new UsageError(`${path}: ${error.message}; expected CSV as RFC 4180 has it`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') {
      throw new UsageError(`${path}: found ${code === 'ENOENT' ? 'no such file' : 'a folder'}, expected a CSV file`);
    }
    throw error;
  } finally {
    file.destroy();
  }
  if (places === undefined) throw new UsageError(`${path}: found nothing, expected the header ${columns.join(',')}`);
  return byId;
}

/** Where in a record the columns are. */
function placesOf(header: readonly string[], path: string): number[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const places = columns.map((column) => names.indexOf(column));
  if (names.length !== columns.length || places.includes(-1)) {
    throw new UsageError(
      `${path}:1: found the columns ${names.slice(0, 8).join(', ') || 'none'}, expected ${columns.join(', ')}`,
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
    problems.add(line, `value: found ${shown(value)}, expected a number, or nothing where it is not known`);
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
        ? `${formatInstant(instant)} of ${shown(id)} stands below ${formatInstant(last)} (line ${rows.lines.at(-1)}), expected ascending timestamps`
        : `${formatInstant(instant)} of ${shown(id)} is given again, first in line ${before}`,
    );
    return;
  }
  rows.instants.push(instant);
  rows.values.push(number);
  rows.lines.push(line);
}

const timestampForm = /^(\d{4}-\d{2}(?:-\d{2})?)(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|z|[+-]\d{2}:\d{2})?)?$/;

/** The instant of a timestamp that may leave out what is zero: the offset, the seconds, the clock, the day. */
function instantIn(text: string): Instant | undefined {
  const [, date = '', clock = '00:00', seconds = ':00', offset = 'Z'] = timestampForm.exec(text) ?? [];
  if (date === '') return undefined;
  return parseRfc3339(`${date.length === 7 ? `${date}-01` : date}T${clock}${seconds}${offset}`);
}

const numberForm = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Null where nothing is given; undefined where it is no number that a double can hold. */
function numberIn(text: string): number | null | undefined {
  if (text === '') return null;
  const number = numberForm.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Puts the rows of an id at equal distances; what lies between two steps is a mistake. */
function regularSeries(id: string, { instants, values, lines }: Rows, problems: Problems): GivenSeries {
  const [first = 0] = instants;
  const start = formatInstant(first);
  if (instants.length < 2) return { id, start, step: undefined, values };
  const step = stepOf(instants);
  const indexOf = step === 'month' ? (instant: Instant) => monthsBetween(first, instant) : placeBy(first, step);
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
        `${formatInstant(instant)} of ${shown(id)} lies between two steps of ${describeStep(step)} from ${start} on`,
      );
      continue;
    }
    while (regular.length < index) regular.push(null);
    regular.push(values[row] ?? null);
  }
  return { id, start, step, values: regular };
}

function placeBy(first: Instant, step: Exclude<Step, 'month'>): (instant: Instant) => number {
  const length = lengthOf(step);
  return (instant) => (instant - first) / length;
}

/** Whole months where both are at the same place of theirs; otherwise no whole number. */
function monthsBetween(first: Instant, instant: Instant): number {
  const months = Math.round((instant - first) / (30.436875 * dayMs));
  return addCalendarMonths(first, months) === instant ? months : months + 0.5;
}

/** A calendar month where the distances are those of months; otherwise the distance that occurs most. */
function stepOf(instants: readonly Instant[]): Step {
  const counts = new Map<number, number>();
  for (const [index, instant] of instants.entries()) {
    if (index === 0) continue;
    const distance = instant - (instants[index - 1] ?? 0);
    counts.set(distance, (counts.get(distance) ?? 0) + 1);
  }
  const [[usual = hourMs] = []] = [...counts].sort(([a, often], [b, oftener]) => oftener - often || a - b);
  if (usual >= 28 * dayMs && usual <= 31 * dayMs && (usual !== 28 * dayMs || counts.size > 1)) return 'month';
  if (usual === hourMs) return 'hour';
  if (usual === dayMs) return 'day';
  return usual === 7 * dayMs ? 'week' : usual;
}

function lengthOf(step: Exclude<Step, 'month'>): number {
  if (typeof step === 'number') return step;
  return { hour: hourMs, day: dayMs, week: 7 * dayMs }[step];
}

/** `hour`, or `900 s`. */
export function describeStep(step: Step): string {
  return typeof step === 'number' ? `${step / 1000} s` : `one ${step}`;
}
