import { quoted } from '../choices.ts';
import {
  entriesOf,
  type Given,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  readValue,
} from '../config/index.ts';
import { wholeOfDecimal } from '../decimals.ts';
import { UsageError } from '../errors.ts';
import type { FiscalYear } from '../fiscal-year.ts';
import { usdDecimals } from '../money.ts';
import { type CalendarPeriod, calendarOf, type PeriodKind } from '../time.ts';
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

/** `5000 USD` in trillionths of a USD. */
export const parseUsd: Parse<bigint> = (value) => {
  const found = typeof value === 'number' ? String(value) : quoted(parseText(value));
  const [, digits] = typeof value === 'string' ? (/^(\d{1,15}(?:\.\d{1,12})?) USD$/.exec(value) ?? []) : [];
  const usd = digits === undefined ? 0n : wholeOfDecimal(digits, usdDecimals);
  if (usd > 0n) return usd;
  return refuse(
    found,
    'an amount above 0 such as 5000 USD or 0.25 USD, in USD and without separators between the digits',
  );
};

/** `80%` or `4500 USD`. */
export function parseShare(value: Parameters<Parse<unknown>>[0]): { readonly code: string; readonly at: Share } {
  const found = typeof value === 'number' ? String(value) : parseText(value);
  const [, percentText] = /^(\d{1,4}(?:\.\d{1,4})?)%$/.exec(found) ?? [];
  const percent = percentText === undefined ? 0n : wholeOfDecimal(percentText, percentDecimals);
  if (percent > 0n) return { code: `${shortest(percent, percentDecimals)}%`, at: { percent } };
  if (!/^\d.* USD$/.test(found)) {
    return refuse(
      quoted(found),
      'a share of the amount up to 9999%, or an amount, both above 0, such as 80%, 82.5% or 4500 USD',
    );
  }
  const usd = parseUsd(found);
  return { code: `${shortest(usd, usdDecimals)} USD`, at: { usd } };
}

const growthMonths: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, yearly: 12 };

/** `5% monthly`. */
const parseGrowth: Parse<Omit<Growth, 'from'>> = (value) => {
  const found = parseText(value, 100);
  const [, sign, digits = '0', every = ''] =
    /^([+-]?)(\d{1,3}(?:\.\d{1,4})?)% (monthly|quarterly|yearly)$/.exec(found) ?? [];
  const size = wholeOfDecimal(digits, percentDecimals);
  const percent = sign === '-' ? -size : size;
  const months = growthMonths[every];
  if (months !== undefined && percent !== 0n && percent > -hundredPercent) return { percent, months };
  return refuse(
    quoted(found),
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
  const amount = readValue(keys.get('amount'), parseUsd, problems);
  const list = listIn(keys.get('limits'));
  const from = readFrom(keys, periods, problems);
  for (const other of ['amount', 'growth']) {
    if (list === undefined || !keys.has(other)) continue;
    problems.report(list, `found together with ${other}, expected only one of the two; remove the other`);
  }
  const steps = list && readList(list, from, periods, problems);
  const growth = readValue(keys.get('growth'), parseGrowth, problems);
  const limitPlaces = new Map<string, Place>();
  const limits = list ? new Map<string, bigint>() : readLimits(keys.get('limits'), periods, limitPlaces, problems);
  const rollover = readRollover(keys.get('rollover'), problems);
  return {
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
  from: CalendarPeriod | undefined,
  { period, timeZone, fiscalYear }: PeriodsGiven,
  problems: Problems,
): readonly AmountStep[] | undefined {
  const amounts = itemsOf(list, 'amounts of consecutive periods such as [4000 USD, 4500 USD]', problems).map((item) =>
    readValue(item, parseUsd, problems),
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
  periods: PeriodsGiven,
  places: Map<string, Place>,
  problems: Problems,
): ReadonlyMap<string, bigint> {
  const limits = new Map<string, bigint>();
  if (given === undefined) return limits;
  const expected = periods.period === undefined ? 'a period' : periodExamples[periods.period];
  for (const [name, entry] of entriesOf(given, `${expected} and its amount`, problems) ?? []) {
    const amount = readValue(entry, parseUsd, problems);
    readPeriod(name, { ...entry, key: undefined }, periods, problems);
    if (amount !== undefined) limits.set(name, amount);
    places.set(name, entry);
  }
  return limits;
}

/** `true`, or a mapping with a cap. */
function readRollover(given: Given | undefined, problems: Problems): Pick<Rollover, 'cap'> | undefined {
  if (given === undefined || given.value === false) return undefined;
  if (given.value === true) return { cap: undefined };
  const keys = keysOf(given, rolloverRule, problems);
  const cap = keys?.get('cap');
  if (keys !== undefined && cap === undefined) {
    problems.report(
      given,
      'found no cap, expected one such as cap: 20% or cap: 500 USD; add it, or write rollover: true',
    );
  }
  const share = readValue(cap, parseShare, problems);
  return share && { cap: share.at };
}
