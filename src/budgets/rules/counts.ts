import { moneyOf, rounded, usdDecimals } from '../../money/money.ts';
import { spellingFault } from '../../money/typed-number.ts';
import { quoted } from '../../text/choices.ts';
import { type CalendarPeriod, calendarOf, dayMs, type Instant, type PeriodKind, type Window } from '../../time/time.ts';
import { type Given, keysOf, type Parse, type Place, type Problems, parseText, readValue } from '../../yaml/index.ts';
import type { Budget, CostPer, CountedSpan } from './budget.ts';
import { readCsvBeside } from './csv-beside.ts';
import { perRule } from './file-keys.ts';
import type { PeriodsGiven } from './read-amount.ts';
import { refuse } from './read-scope.ts';

/** Periods that consist of whole calendar months, whose counts may be those of months. */
const monthlyKinds: readonly PeriodKind[] = ['monthly', 'quarterly', 'yearly'];

const parseName: Parse<string> = (value) => {
  const text = parseText(value, 50);
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(text)) return text;
  return refuse(quoted(text), 'what is counted, in the singular, such as order');
};

/** `per: { name: order, counts: orders.csv }`, with the counts of the file. Reports every mistake with file and line. */
export function readPer(
  given: Given | undefined,
  periods: PeriodsGiven,
  budgetFile: string,
  problems: Problems,
): CostPer | undefined {
  const keys = given && keysOf(given, perRule, problems);
  if (given === undefined || keys === undefined) return undefined;
  for (const key of perRule.keys) {
    if (!keys.has(key)) problems.report(given, `found no ${key}, expected ${perRule.expected}; add it`);
  }
  const name = readValue(keys.get('name'), parseName, problems);
  const about = 'the counts that budgets.yaml names';
  const csv = readCsvBeside(keys.get('counts'), budgetFile, { example: 'orders.csv', about }, problems);
  if (name === undefined || csv === undefined) return undefined;
  const [head, ...lines] = csv.records;
  if (head?.cells.join(',').toLowerCase() !== 'date,count') {
    const found = head === undefined ? 'nothing' : quoted(head.cells.join(','));
    problems.report(csv.placeOf(head?.line ?? 1), `found ${found}, expected the header date,count`);
    return undefined;
  }
  const spans = new Map<string, CountedSpan & { readonly place: Place }>();
  /** The first counted day of each month. */
  const daysOf = new Map<string, CountedSpan & { readonly place: Place }>();
  for (const { line, cells } of lines) {
    const place = csv.placeOf(line);
    const span = readLine(cells, place, periods, problems);
    if (span === undefined) continue;
    const other = spans.get(span.name) ?? spans.get(span.name.slice(0, 7)) ?? daysOf.get(span.name);
    if (other !== undefined) {
      problems.report(
        place,
        `found ${span.name}, but ${other.name} is counted already at ${other.place.where}; keep one`,
      );
      continue;
    }
    spans.set(span.name, { ...span, place });
    const month = span.name.slice(0, 7);
    if (month !== span.name && !daysOf.has(month)) daysOf.set(month, { ...span, place });
  }
  const sorted = [...spans.values()].map(({ place: _, ...span }) => span).sort((a, b) => a.start - b.start);
  return { name, spans: sorted };
}

function readLine(
  cells: readonly string[],
  place: Place,
  { period, timeZone }: PeriodsGiven,
  problems: Problems,
): CountedSpan | undefined {
  const [date = '', text = ''] = cells;
  const isMonth = /^\d{4}-\d\d$/.test(date);
  const spelling = spellingFault(text);
  const [digits] = (spelling === undefined && /^\d{1,15}(?:\.\d{1,6})?$/.exec(text)) || [];
  const found = timeZone && calendarOf(isMonth ? 'monthly' : 'daily', timeZone).periodNamed(date);
  const faults = [
    ...(cells.length === 2 ? [] : [`found ${cells.length} cells, expected a date and a count`]),
    ...(found === undefined && timeZone !== undefined
      ? [`found ${quoted(date)} as a date, expected a day such as 2026-11-20, or a month such as 2026-11`]
      : []),
    ...(digits === undefined
      ? [spelling ?? `found ${quoted(text)} as a count, expected a number without separators such as 1250`]
      : []),
    ...(isMonth && period !== undefined && !monthlyKinds.includes(period)
      ? [`found the month ${date}, expected days, because the budget is ${period}`]
      : []),
  ];
  for (const fault of faults) problems.report(place, fault);
  if (!found || digits === undefined || faults.length > 0) return undefined;
  return { name: date, start: found.start, end: found.end, count: moneyOf(digits) };
}

/** The counted days of a period whose costs are complete. */
export interface CountedDays {
  /** Those of the costs to add up: whole days, in order. */
  readonly windows: readonly Window[];
  /** Trillionths. */
  readonly count: bigint;
  /** The end of the last of them; undefined if there are none. */
  readonly through: Instant | undefined;
  /** The last of them: `2026-11-20`, or `2026-11` for a month. */
  readonly lastName: string | undefined;
  /** What is missing, one sentence each. */
  readonly gaps: readonly string[];
}

/** Counts this many days behind the costs are worth a warning. */
export const mostDaysBehind = 3;

/** The counts of a period up to the end of its complete costs. Pure. */
export function countedDays(
  { name, spans }: CostPer,
  period: CalendarPeriod,
  costsThrough: Instant | undefined,
  timeZone: string,
): CountedDays {
  const due = Math.min(period.end, costsThrough ?? period.start);
  const own = spans.filter(({ start, end }) => start >= period.start && end <= due);
  const windows: { start: Instant; end: Instant }[] = [];
  for (const { start, end } of own) {
    const last = windows.at(-1);
    if (last?.end === start) last.end = end;
    else windows.push({ start, end });
  }
  const last = own.at(-1);
  const between = windows.flatMap(({ start }, place) =>
    missingDays(windows[place - 1]?.end ?? period.start, start, timeZone),
  );
  const behind = Math.floor((due - (last?.end ?? period.start)) / dayMs);
  const isLong = behind > (spans.some((span) => span.name.length === 7) ? 31 + mostDaysBehind : mostDaysBehind);
  return {
    windows,
    count: own.reduce((sum, { count }) => sum + count, 0n),
    through: last?.end,
    lastName: last?.name,
    gaps: [
      ...(between.length === 0
        ? []
        : [`no count of ${name} for ${daysInWords(between)}; the costs of these days are left out`]),
      ...(isLong ? [`the counts of ${name} ${endWords(last, period)}, ${behind} days behind the costs`] : []),
    ],
  };
}

function endWords(last: CountedSpan | undefined, period: CalendarPeriod): string {
  return last === undefined ? `have nothing in ${period.name}` : `end with ${last.name}`;
}

function missingDays(from: Instant, to: Instant, timeZone: string): string[] {
  const days = calendarOf('daily', timeZone);
  const names: string[] = [];
  for (let at = from; at < to; ) {
    const day = days.periodAt(at);
    names.push(day.name);
    at = day.end;
  }
  return names;
}

function daysInWords(days: readonly string[]): string {
  const shown = days.slice(0, 3).join(', ');
  return days.length <= 3 ? shown : `${shown} and ${days.length - 3} more days`;
}

/** A cost per unit in trillionths of a USD; undefined without counts. Pure. */
export function costPer(cost: bigint, count: bigint): bigint | undefined {
  return count === 0n ? undefined : rounded(cost * 10n ** BigInt(usdDecimals), count);
}

/** Why the counts of a budget are too old, compared with the costs; undefined if they are not, or if it has none. */
export function staleCounts({ name, per }: Budget, costsThrough: Instant | undefined): string | undefined {
  if (per === undefined || costsThrough === undefined) return undefined;
  const last = per.spans.at(-1);
  const days = Math.floor((costsThrough - (last?.end ?? 0)) / dayMs);
  const most = mostDaysBehind + (last?.name.length === 7 ? 31 : 0);
  if (last === undefined) return `budget ${name}: its counts of ${per.name} are empty`;
  if (days <= most) return undefined;
  return `budget ${name}: its counts of ${per.name} end with ${last.name}, ${days} days behind the costs`;
}
