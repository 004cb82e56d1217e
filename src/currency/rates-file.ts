import { isAbsolute, join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import type { CurrencySettings } from '../config/index.ts';
import { trimmedDecimal } from '../money/money.ts';
import { columnNamed, csvRecords } from '../tables/csv-records.ts';
import { oneOf, quoted } from '../text/choices.ts';
import type { Instant } from '../time/time.ts';
import { gatherProblems, type Place, type Problems, readTextFile } from '../yaml/index.ts';

/** Code of mistakes in the file of rates, or of a file that does not exist. */
const mistakenRates = 'mistaken_rates';

/** Decimals of a rate. */
export const rateDecimals = 8;

/** From this day on, one USD is `rate` of the second currency, until the next rate. */
export interface Rate {
  readonly from: Instant;
  /** Plain decimal text without zeros at its end. */
  readonly rate: string;
}

const columns = ['date', 'rate'] as const;

/** The rates of the file that the setting names, oldest first. Throws one UsageError that lists every mistake. */
export function readRates({ code, rates, where }: CurrencySettings, dir: string): readonly Rate[] {
  const problems = gatherProblems();
  const file = isAbsolute(rates) ? rates : join(dir, rates);
  const text = readTextFile(
    file,
    `the rates that the setting currency names (a line date,rate, then lines such as 2026-10-30,0.922: from that day to the next line, 1 USD is 0.922 ${code})`,
    problems,
  );
  const found = text === undefined ? [] : parseRates(text, file, problems);
  const mistakes = problems.error({ code: mistakenRates });
  if (mistakes !== undefined) throw text === undefined ? withPlace(mistakes, where) : mistakes;
  return found;
}

/** A file that cannot be read, with the place of the setting that names it. */
function withPlace({ mistakes }: UsageError, where: string | undefined): UsageError {
  const setting = `the setting currency${where === undefined ? '' : ` in ${where}`}`;
  return new UsageError(mistakes, { code: mistakenRates, next: act(`create the file, or correct ${setting}.`) });
}

/** Reads `date,rate` lines in any order. Reports every mistake with file and line. Pure. */
export function parseRates(text: string, file: string, problems: Problems): readonly Rate[] {
  const placeOf = (line: number): Place => ({ where: `${file}:${line}`, file });
  const records = csvRecords(text, (line, words) => problems.report(placeOf(line), words));
  if (records === undefined) return [];
  const [top, ...lines] = records;
  const head = top && { ...top, cells: top.cells.map((name) => columnNamed(name, columns)) };
  if (head === undefined || lines.length === 0) {
    problems.report(placeOf(1), `found no rates, expected the header ${columns.join(',')} and a line for each rate`);
    return [];
  }
  if (!isHeader(head.cells, placeOf(head.line), problems)) return [];
  const byDay = new Map<Instant, Rate & { readonly place: Place }>();
  for (const { line, cells } of lines) {
    const place = placeOf(line);
    if (cells.length !== head.cells.length) {
      problems.report(
        place,
        `found ${cells.length} cells, expected ${head.cells.length} as in the header line${commaHint(cells)}${pointHint(cells)}`,
      );
      continue;
    }
    const [date = '', rate = ''] = columns.map((column) => cells[head.cells.indexOf(column)]);
    const from = dayOf(date);
    if (from === undefined) {
      problems.report(
        place,
        `found ${quoted(date)} as a date, expected a day such as 2026-11-03 or a month such as 2026-11`,
      );
    }
    if (!isRate(rate)) {
      problems.report(
        place,
        `found ${quoted(rate)} as a rate, expected how much of the currency one USD is: a number above 0 such as 0.922, with at most 9 digits before the point and ${rateDecimals} behind it`,
      );
    }
    if (from === undefined || !isRate(rate)) continue;
    const before = byDay.get(from);
    if (before === undefined) byDay.set(from, { from, rate: trimmedDecimal(rate), place });
    else problems.report(place, `found a second rate for the same day, first at ${before.place.where}; keep one`);
  }
  return [...byDay.values()].map(({ from, rate }) => ({ from, rate })).sort((a, b) => a.from - b.from);
}

function isHeader(cells: readonly string[], place: Place, problems: Problems): boolean {
  const faults = cells.flatMap((name, index) => {
    if (cells.indexOf(name) !== index) return [`found the column ${quoted(name)} a second time; keep one`];
    if (columns.some((column) => column === name)) return [];
    return [`found the column ${quoted(name)}, expected ${oneOf([...columns])}${commaHint([name])}`];
  });
  const missing = columns.filter((column) => !cells.includes(column));
  if (missing.length > 0)
    faults.push(`found no column ${missing.join(', ')}; add ${missing.length === 1 ? 'it' : 'them'}`);
  for (const fault of faults) problems.report(place, fault);
  return faults.length === 0;
}

function commaHint(cells: readonly string[]): string {
  return cells.some((cell) => cell.includes(';')) ? ' (columns are separated by commas)' : '';
}

/** A rate with a comma is two cells. */
function pointHint(cells: readonly string[]): string {
  const [, whole = '', fraction = ''] = cells;
  const isRateOfTwo = cells.length === 3 && isRate(`${whole}.${fraction}`);
  return isRateOfTwo ? ` (write the rate with a point: ${whole}.${fraction})` : '';
}

function isRate(text: string): boolean {
  return /^\d{1,9}(\.\d{1,8})?$/.test(text) && /[1-9]/.test(text);
}

/** The start of a day or of a month, in UTC; undefined if there is no such day. */
function dayOf(text: string): Instant | undefined {
  if (!/^\d{4}-\d{2}(-\d{2})?$/.test(text)) return undefined;
  const at = Date.parse(text.length === 7 ? `${text}-01` : text);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text) ? at : undefined;
}
