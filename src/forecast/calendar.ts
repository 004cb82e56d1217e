import { median } from '../base/median.ts';
import { dayMs, firstWorkingDays, type Holidays, type Instant, lastWorkingDays, monthOf } from '../time/time.ts';
import { sum } from './numbers.ts';
import type { Range, Ranges } from './ranges.ts';

/** Days that may cost more or less than others of the same weekday. */
export type CalendarDay = 'holiday' | 'first day' | 'last day' | 'first working day' | 'last working day' | OtherDay;
/** Any other day of a month. Because there are many, an effect of one is found only if it is beyond doubt. */
type OtherDay = 'last day but one' | `day ${number}`;

/** What a kind of day changes, learned from a history. Amounts are in the unit of the values. */
export interface CalendarEffect {
  readonly day: CalendarDay;
  /** A share of the usual cost, such as 0.4 on a holiday, or an amount on top of it, such as a monthly batch. */
  readonly action: 'factor' | 'amount';
  /** Its middle, least and largest size so far. */
  readonly size: number;
  readonly least: number;
  readonly most: number;
  /** How often it was seen. */
  readonly seen: number;
}

/** A kind of day must have been seen this often. */
const leastSeen = 3;
/** The mean effect must be this many times its standard error, and change the usual cost by this share. */
const ofNamed = { leastCertainty: 4, leastChange: 0.1, leastAgreeing: 0.8 };
const ofOthers = { leastCertainty: 8, leastChange: 0.5, leastAgreeing: 1 };
/** The usual cost of a day is the median of this many days of the same weekday around it, before and after. */
const weeksAround = 4;
const leastAround = 3;

const namedDays: ReadonlySet<string> = new Set([
  'holiday',
  'first day',
  'last day',
  'first working day',
  'last working day',
]);

/** The kinds of a day. Weekends and holidays are no working days. Pure. */
export function calendarDaysOf(day: Instant, holidays: Holidays): ReadonlySet<CalendarDay> {
  const found = new Set<CalendarDay>();
  const number = Math.floor(day / dayMs);
  const month = monthOf(number);
  if (holidays.has(number)) found.add('holiday');
  if (number === month.first) found.add('first day');
  if (number === month.last) found.add('last day');
  const date = number - month.first + 1;
  if (date > 1 && date <= 28) found.add(`day ${date}`);
  if (number === month.last - 1) found.add('last day but one');
  if (firstWorkingDays(month, holidays, 1).includes(number)) found.add('first working day');
  if (lastWorkingDays(month, holidays, 1).includes(number)) found.add('last working day');
  return found;
}

/** A history of days without the effects of the calendar. */
export interface WithoutCalendar {
  readonly values: readonly number[];
  /** In the order in which they were removed. */
  readonly effects: readonly CalendarEffect[];
}

/**
 * Finds what month ends, working days and holidays change in a history of days, the most certain first, and puts the
 * usual cost in the place of these days. `start` is the first day. Pure.
 */
export function withoutCalendar(
  values: readonly number[],
  isKnown: readonly boolean[],
  start: Instant,
  holidays: Holidays,
): WithoutCalendar {
  const kinds = values.map((_, index) => calendarDaysOf(start + index * dayMs, holidays));
  const effects: CalendarEffect[] = [];
  let rest = values;
  for (let left = [...new Set(kinds.flatMap((days) => [...days]))]; left.length > 0; ) {
    const found = mostCertain(rest, isKnown, kinds, left);
    if (found === undefined) break;
    const usual = usualCosts(rest, isKnown, kinds);
    rest = rest.map((value, index) => (kinds[index]?.has(found.day) ? (usual[index] ?? value) : value));
    effects.push(found);
    left = left.filter((day) => day !== found.day);
  }
  return { values: rest, effects };
}

/** The usual cost of each day: the median of the days of the same weekday around it that are no special days. */
function usualCosts(
  values: readonly number[],
  isKnown: readonly boolean[],
  kinds: readonly ReadonlySet<CalendarDay>[],
): (number | undefined)[] {
  return values.map((_, index) => {
    const around: number[] = [];
    for (let weeks = -weeksAround; weeks <= weeksAround; weeks += 1) {
      const at = index + 7 * weeks;
      const value = values[at];
      if (weeks !== 0 && value !== undefined && isKnown[at] && isOrdinary(kinds[at])) around.push(value);
    }
    return around.length < leastAround ? undefined : median(around);
  });
}

function isOrdinary(kinds: ReadonlySet<CalendarDay> = new Set()): boolean {
  return [...kinds].every((day) => !namedDays.has(day));
}

function mostCertain(
  values: readonly number[],
  isKnown: readonly boolean[],
  kinds: readonly ReadonlySet<CalendarDay>[],
  days: readonly CalendarDay[],
): CalendarEffect | undefined {
  const usual = usualCosts(values, isKnown, kinds);
  const level = median(usual.flatMap((value) => value ?? []).map(Math.abs));
  const seen = values.flatMap((value, index) => {
    const expected = usual[index];
    return isKnown[index] && expected !== undefined ? [{ value, expected, kinds: kinds[index] }] : [];
  });
  const ordinary = seen.filter((one) => isOrdinary(one.kinds)).map(({ value, expected }) => value - expected);
  const spread = Math.max(1.4826 * median(ordinary.map(Math.abs)), 0.2 * rootMeanSquare(ordinary), 0.005 * level, 1e-9);
  let best: { readonly effect: CalendarEffect; readonly gain: number } | undefined;
  for (const day of days) {
    const found = seen.filter((one) => one.kinds?.has(day));
    const extras = found.map(({ value, expected }) => value - expected);
    const middle = median(extras);
    const certainty = (Math.abs(middle) / spread) * Math.sqrt(found.length);
    const agreeing = extras.filter((extra) => Math.sign(extra) === Math.sign(middle)).length;
    const { leastCertainty, leastChange, leastAgreeing } = namedDays.has(day) ? ofNamed : ofOthers;
    const isFound =
      found.length >= leastSeen &&
      certainty >= leastCertainty &&
      agreeing >= leastAgreeing * found.length &&
      Math.abs(middle) >= leastChange * median(found.map(({ expected }) => Math.abs(expected)));
    if (!isFound) continue;
    const effect = effectOf(day, found);
    const gain = sum(
      found.map(({ value, expected }) => Math.abs(value - expected) - Math.abs(value - changedBy(effect, expected))),
    );
    if (best === undefined || gain > best.gain) best = { effect, gain };
  }
  return best?.effect;
}

function changedBy({ action, size }: CalendarEffect, usual: number): number {
  return action === 'factor' ? usual * size : usual + size;
}

function rootMeanSquare(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.sqrt(sum(values.map((value) => value * value)) / values.length);
}

/** A factor or an amount, whichever was more alike on the days seen. */
function effectOf(
  day: CalendarDay,
  found: readonly { readonly value: number; readonly expected: number }[],
): CalendarEffect {
  const amounts = found.map(({ value, expected }) => value - expected);
  const factors = found.flatMap(({ value, expected }) => (expected > 0 && value >= 0 ? [value / expected] : []));
  const unlike = (sizes: readonly number[], none: number) => {
    const middle = median(sizes);
    return median(sizes.map((size) => Math.abs(size - middle))) / Math.max(Math.abs(middle - none), 1e-12);
  };
  const isFactor = factors.length === found.length && unlike(factors, 1) < unlike(amounts, 0);
  const sizes = isFactor ? factors : amounts;
  return {
    day,
    action: isFactor ? 'factor' : 'amount',
    size: median(sizes),
    least: Math.min(...sizes),
    most: Math.max(...sizes),
    seen: found.length,
  };
}

/**
 * Adds effects to a forecast of days, of which `start` is the first. Amounts are multiplied by `scale`. The interval of
 * a day covers every size seen so far. Pure.
 */
export function withCalendar(
  { points, cumulative }: Ranges,
  effects: readonly CalendarEffect[],
  {
    start,
    holidays,
    scale,
    floor,
  }: {
    readonly start: Instant;
    readonly holidays: Holidays;
    readonly scale: number;
    readonly floor: number;
  },
): Ranges {
  const more = { mean: 0, below: 0, above: 0 };
  const changed = points.map((point, index) => {
    const kinds = calendarDaysOf(start + index * dayMs, holidays);
    // The effect that was removed last is added first.
    return effects.toReversed().reduce((range, effect) => {
      return kinds.has(effect.day) ? withEffect(range, effect, scale, floor) : range;
    }, point);
  });
  return {
    points: changed,
    cumulative: cumulative.map(({ mean, lower, upper }, index) => {
      const [before, after] = [points[index], changed[index]];
      if (before !== undefined && after !== undefined && before !== after) {
        more.mean += after.mean - before.mean;
        more.below += Math.max(0, (after.mean - after.lower) ** 2 - (before.mean - before.lower) ** 2);
        more.above += Math.max(0, (after.upper - after.mean) ** 2 - (before.upper - before.mean) ** 2);
      }
      const middle = mean + more.mean;
      return {
        mean: middle,
        lower: Math.min(middle, Math.max(floor, middle - Math.sqrt((mean - lower) ** 2 + more.below))),
        upper: middle + Math.sqrt((upper - mean) ** 2 + more.above),
      };
    }),
  };
}

/** The effect and the usual cost vary by themselves. */
function withEffect(
  { mean, lower, upper }: Range,
  { action, size, least, most }: CalendarEffect,
  scale: number,
  floor: number,
): Range {
  const by = (amount: number) => (action === 'factor' ? mean * amount : mean + amount * scale);
  const middle = Math.max(floor, by(size));
  const times = action === 'factor' ? size : 1;
  return {
    mean: middle,
    lower: Math.max(floor, middle - Math.hypot(times * (mean - lower), by(size) - by(least))),
    upper: middle + Math.hypot(times * (upper - mean), by(most) - by(size)),
  };
}

/** `the last day of a month is 2.3 times the usual (7 seen)`. */
export function effectWords({ day, action, size, seen }: CalendarEffect, scale: number): string {
  const name = day === 'holiday' ? 'a holiday' : `${day.startsWith('day ') ? '' : 'the '}${day} of a month`;
  const shown = (value: number) => String(Number(value.toPrecision(3)));
  const how =
    action === 'factor'
      ? `${shown(size)} times the usual`
      : `${shown(Math.abs(size) * scale)} ${size < 0 ? 'below' : 'above'} the usual`;
  return `${name} is ${how} (${seen} seen)`;
}
