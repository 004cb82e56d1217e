import { UsageError } from '../../base/errors.ts';
import { moneyOf, usdDecimals, usdUnit, wholeOfDecimal } from '../../money/money.ts';
import { refuseSeparators } from '../../money/typed-number.ts';
import { quoted } from '../../text/choices.ts';
import type { FiscalYear } from '../../time/fiscal-year.ts';
import { type CalendarPeriod, calendarOf, type PeriodKind } from '../../time/time.ts';
import {
  entriesOf,
  type Given,
  gatherProblems,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  readValue,
} from '../../yaml/index.ts';
import { shortest } from './budget.ts';
import { rolloverRule } from './file-keys.ts';
import {
  type AmountStep,
  type Growth,
  hundredPercent,
  percentDecimals,
  type Rollover,
  type Share,
} from './planned-amount.ts';
import { refuse } from './read-scope.ts';
import { parseUnit, usageUnits } from './usage-unit.ts';

/** `5000 USD` in trillionths of a USD. */
export const parseUsd: Parse<bigint> = amountIn(usdUnit);

/**
 * An amount in a unit: `5000 USD` or `2000000 GB-seconds`, in trillionths. `1.250` may be many, but as a price per unit it is
 * one and a quarter.
 */
export function amountIn(unit: string, isPrice = false): Parse<bigint> {
  return (value, source) => {
    if (!isPrice) refuseSeparators(value, source);
    const typed = typeof value === 'number' ? (source ?? String(value)) : quoted(parseText(value));
    const [, digits, own] = (typeof value === 'string' && amountPattern.exec(value)) || [];
    const amount = digits === undefined ? 0n : moneyOf(digits);
    if (amount > 0n && own === unit) return amount;
    return refuse(
      typed,
      `an amount above 0 such as 5000 ${unit} or 0.25 ${unit}, in ${unit} and without separators between the digits`,
    );
  };
}

const amountPattern = /^(\d{1,15}(?:\.\d{1,12})?) (\S+)$/;

/** The unit of a budget: that of its amount, or of the first in its list of limits. USD if that is no amount. */
function readUnit(keys: ReadonlyMap<string, Given>, problems: Problems): string {
  const limits = listIn(keys.get('limits'));
  const given =
    keys.get('amount') ?? (limits && itemsOf(limits, 'amounts of consecutive periods', gatherProblems())[0]);
  const [, , unit] = (typeof given?.value === 'string' && amountPattern.exec(given.value)) || [];
  return unit === undefined ? usdUnit : (readValue(given, () => parseUnit(unit), problems) ?? unit);
}

/** `80%`, or an amount in the budget's unit. */
export function shareIn(unit: string, isPrice: boolean): Parse<{ readonly code: string; readonly at: Share }> {
  return (value) => parseShare(value, unit, isPrice);
}

/** `80%` or `4500 USD`. */
export function parseShare(
  value: Parameters<Parse<unknown>>[0],
  unit = usdUnit,
  isPrice = false,
): { readonly code: string; readonly at: Share } {
  const typed = typeof value === 'number' ? String(value) : parseText(value);
  const [, percentText] = /^(\d{1,4}(?:\.\d{1,4})?)%$/.exec(typed) ?? [];
  const percent = percentText === undefined ? 0n : wholeOfDecimal(percentText, percentDecimals);
  if (percent > 0n) return { code: `${shortest(percent, percentDecimals)}%`, at: { percent } };
  if (!/^\d/.test(typed) || !typed.endsWith(` ${unit}`)) {
    return refuse(
      quoted(typed),
      `a share of the amount up to 9999%, or an amount, both above 0, such as 80%, 82.5% or 4500 ${unit}`,
    );
  }
  const amount = amountIn(unit, isPrice)(typed);
  return { code: `${shortest(amount, usdDecimals)} ${unit}`, at: { amount } };
}

const growthMonths: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, yearly: 12 };

/** `5% monthly`. */
const parseGrowth: Parse<Omit<Growth, 'from'>> = (value) => {
  const typed = parseText(value, 100);
  const [, sign, digits = '0', every = ''] =
    /^([+-]?)(\d{1,3}(?:\.\d{1,4})?)% (monthly|quarterly|yearly)$/.exec(typed) ?? [];
  const size = wholeOfDecimal(digits, percentDecimals);
  const percent = sign === '-' ? -size : size;
  const months = growthMonths[every];
  if (months !== undefined && percent !== 0n && percent > -hundredPercent) return { percent, months };
  return refuse(
    quoted(typed),
    'a percentage other than 0 and above -100%, and monthly, quarterly or yearly, such as 5% monthly or -2.5% yearly',
  );
};

const periodExamples: Readonly<Record<PeriodKind, string>> = {
  daily: 'a day such as 2026-10-01',
  weekly: 'a week such as 2026-W40',
  monthly: 'a month such as 2026-10',
  quarterly: 'a quarter such as 2026-Q4',
  yearly: 'a year such as 2026',
  fiscal_month: 'a fiscal month such as FY2027-P03',
  fiscal_quarter: 'a fiscal quarter such as FY2027-Q1',
  fiscal_year: 'a fiscal year such as FY2027',
};

/** The periods of a budget as far as they are known; what is undefined has a mistake of its own. */
export interface PeriodsGiven {
  readonly period: PeriodKind | undefined;
  readonly timeZone: string | undefined;
  readonly fiscalYear: FiscalYear | undefined;
}

/** A named period; a name of no period, and a zone that no calendar accepts, are reported. */
export function readPeriod(
  name: string,
  place: Place,
  { period, timeZone, fiscalYear }: PeriodsGiven,
  problems: Problems,
): CalendarPeriod | undefined {
  if (period === undefined) return undefined;
  try {
    const found = calendarOf(period, timeZone, fiscalYear).periodNamed(name);
    if (found === undefined) {
      problems.report(place, `found ${quoted(name)} as a period, expected ${periodExamples[period]}`);
    }
    return found;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.report(place, error.message);
    return undefined;
  }
}

/** The amounts of a budget as the file gives them. */
export interface AmountRead {
  /** USD, or a unit of usage. */
  readonly unit: string;
  /** Undefined if there is none, or a mistake in it. */
  readonly amount: bigint | undefined;
  readonly steps: readonly AmountStep[] | undefined;
  readonly growth: Growth | undefined;
  readonly rollover: Rollover | undefined;
  readonly limits: ReadonlyMap<string, bigint>;
  /** The places of `limits`. */
  readonly limitPlaces: ReadonlyMap<string, Place>;
}

/** Reads amount, growth, rollover and limits. Whether there is an amount at all is for the caller to check. */
export function readAmount(keys: ReadonlyMap<string, Given>, periods: PeriodsGiven, problems: Problems): AmountRead {
  const unit = readUnit(keys, problems);
  const isKnown = unit === usdUnit || usageUnits.includes(unit);
  const parse = amountIn(unit, keys.has('per'));
  const amount = isKnown ? readValue(keys.get('amount'), parse, problems) : undefined;
  const list = listIn(keys.get('limits'));
  const from = readFrom(keys, periods, problems);
  for (const other of ['amount', 'growth']) {
    if (list === undefined || !keys.has(other)) continue;
    problems.report(list, `found together with ${other}, expected only one of the two; remove the other`);
  }
  const steps = list && isKnown ? readList(list, parse, from, periods, problems) : undefined;
  const growth = readValue(keys.get('growth'), parseGrowth, problems);
  const limitPlaces = new Map<string, Place>();
  const limits = list
    ? new Map<string, bigint>()
    : readLimits(keys.get('limits'), parse, periods, limitPlaces, problems);
  const rollover = readRollover(keys.get('rollover'), unit, problems);
  return {
    unit,
    amount: amount ?? steps?.[0]?.amount,
    steps,
    growth: growth && from && { ...growth, from: from.name },
    rollover: rollover && from && { from: from.start, cap: rollover.cap },
    limits,
    limitPlaces,
  };
}

/** Limits as a list: the amounts of consecutive periods. */
export function listIn(given: Given | undefined): Given | undefined {
  return typeof given?.value === 'object' && given.value?.kind === 'list' ? given : undefined;
}

/** The first period of growth, rollover or a list of limits. */
function readFrom(
  keys: ReadonlyMap<string, Given>,
  periods: PeriodsGiven,
  problems: Problems,
): CalendarPeriod | undefined {
  const given = keys.get('from');
  const needing = ['limits', 'growth', 'rollover'].find(
    (key) => keys.has(key) && keys.get(key)?.value !== false && (key !== 'limits' || listIn(keys.get(key))),
  );
  if (given === undefined) {
    const place = needing && keys.get(needing);
    const example = periods.period === undefined ? 'a period' : periodExamples[periods.period];
    if (place) problems.report(place, `found ${needing} without from, the first period; add one: ${example}`);
    return undefined;
  }
  if (needing === undefined) {
    problems.report(
      given,
      'found from without growth, rollover or a list of limits, which start with that period; remove it',
    );
  }
  // A year is a number in YAML.
  const name =
    typeof given.value === 'number' ? (given.source ?? '') : readValue(given, (value) => parseText(value), problems);
  return name === undefined ? undefined : readPeriod(name, given, periods, problems);
}

/** Amounts of consecutive periods. */
function readList(
  list: Given,
  parse: Parse<bigint>,
  from: CalendarPeriod | undefined,
  { period, timeZone, fiscalYear }: PeriodsGiven,
  problems: Problems,
): readonly AmountStep[] | undefined {
  const amounts = itemsOf(list, 'amounts of consecutive periods such as [4000 USD, 4500 USD]', problems).map((item) =>
    readValue(item, parse, problems),
  );
  if (amounts.length > 1000) problems.report(list, `found ${amounts.length} amounts, expected at most 1000`);
  if (period === undefined || from === undefined || amounts.length > 1000) return undefined;
  const calendar = calendarOf(period, timeZone, fiscalYear);
  const steps: AmountStep[] = [];
  for (let at = from; steps.length < amounts.length; at = calendar.periodAt(at.end)) {
    const amount = amounts[steps.length];
    if (amount === undefined) return undefined;
    steps.push({ from: at.start, amount });
  }
  return steps;
}

function readLimits(
  given: Given | undefined,
  parse: Parse<bigint>,
  periods: PeriodsGiven,
  places: Map<string, Place>,
  problems: Problems,
): ReadonlyMap<string, bigint> {
  const limits = new Map<string, bigint>();
  if (given === undefined) return limits;
  const expected = periods.period === undefined ? 'a period' : periodExamples[periods.period];
  for (const [name, entry] of entriesOf(given, `${expected} and its amount`, problems) ?? []) {
    const amount = readValue(entry, parse, problems);
    readPeriod(name, { ...entry, key: undefined }, periods, problems);
    if (amount !== undefined) limits.set(name, amount);
    places.set(name, entry);
  }
  return limits;
}

/** `true`, or a mapping with a cap. */
function readRollover(given: Given | undefined, unit: string, problems: Problems): Pick<Rollover, 'cap'> | undefined {
  if (given === undefined || given.value === false) return undefined;
  if (given.value === true) return { cap: undefined };
  const keys = keysOf(given, rolloverRule, problems);
  const cap = keys?.get('cap');
  if (keys !== undefined && cap === undefined) {
    problems.report(
      given,
      `found no cap, expected one such as cap: 20% or cap: 500 ${unit}; add it, or write rollover: true`,
    );
  }
  const share = readValue(cap, shareIn(unit, false), problems);
  return share && { cap: share.at };
}
