import { UsageError } from '../base/errors.ts';
import { nearest } from '../text/choices.ts';

/** When a job is due, in local time: the values of each field, ascending. */
export interface Timetable {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Days of the month from 1. */
  readonly days: readonly number[];
  /** Months from 1. */
  readonly months: readonly number[];
  /** Days of the week from Sunday, which is 0. */
  readonly weekdays: readonly number[];
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names instead of numbers, starting at `min`. */
  readonly names?: readonly string[];
}

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: monthNames },
  { name: 'weekday', min: 0, max: 7, names: weekdayNames },
] as const satisfies readonly Field[];

const anyDay = 31;
/** The longest each month can be; a later day never comes. */
const longestDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Parses `minute hour day month weekday` as in a crontab: numbers, names such as MON, lists, ranges and steps. Throws
 * UsageError for mistakes. Day of the month and weekday cannot both be restricted: cron requires either, other programs
 * require both.
 */
export function parseTimetable(text: string): Timetable {
  const found = text.trim().split(/\s+/);
  if (text.trim().startsWith('@')) {
    throw new UsageError(`found ${JSON.stringify(text)}, expected five fields such as "15 2 * * *"`);
  }
  if (found.length !== fields.length) {
    const what = found.length === 6 ? '6 fields (seconds are not supported)' : `${found.length} fields`;
    throw new UsageError(
      `found ${what}, expected five: minute, hour, day of the month, month, weekday, such as "15 2 * * *"`,
    );
  }
  const [minutes = [], hours = [], days = [], months = [], given = []] = fields.map((field, index) =>
    valuesOf(found[index] ?? '', field),
  );
  const weekdays = sorted(given.map((day) => day % 7)); // Sunday is 0 and 7
  if (days.length < anyDay && weekdays.length < 7) {
    throw new UsageError(
      `found both a day of the month ("${found[2]}") and a weekday ("${found[4]}"), which programs interpret ` +
        'differently; expected * for one of them; to run on both, write two jobs',
    );
  }
  if (!months.some((month) => days.some((day) => day <= (longestDays[month - 1] ?? 0)))) {
    throw new UsageError(
      `found a day ("${found[2]}") that does not exist in its months ("${found[3]}"); correct one of them`,
    );
  }
  return { minutes, hours, days, months, weekdays };
}

function valuesOf(text: string, field: Field): readonly number[] {
  return sorted(text.split(',').flatMap((part) => valuesOfPart(part, text, field)));
}

function valuesOfPart(part: string, text: string, field: Field): readonly number[] {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(part) ?? [];
  const [first = '', last, ...more] = range.split('-');
  const isAny = range === '*';
  const from = isAny ? field.min : numberOf(first, text, field);
  // `5/10` is 5, 15, … to the end, as in cron.
  const open = step === undefined ? from : field.max;
  const to = isAny ? field.max : last === undefined ? open : numberOf(last, text, field);
  if (more.length > 0 || from > to || step === '0' || Number(step ?? 1) > field.max) throw refusal(text, field);
  const values: number[] = [];
  for (let value = from; value <= to; value += Number(step ?? 1)) values.push(value);
  return values;
}

function numberOf(text: string, whole: string, field: Field): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return field.min + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= field.min && value <= field.max) return value;
  throw refusal(whole, field, field.names === undefined ? undefined : nearest(text.toUpperCase(), field.names));
}

function refusal(text: string, { name, min, max, names }: Field, guess?: string): UsageError {
  const named = names === undefined ? '' : ` or a name such as ${names[1]}`;
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  return new UsageError(
    `found ${JSON.stringify(text)} as the ${name}, expected *, a number from ${min} to ${max}${named}, or several: 1,5 or 1-5 or */5${hint}`,
  );
}

function sorted(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}
