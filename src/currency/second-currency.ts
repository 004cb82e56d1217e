import type { CurrencySettings } from '../config/index.ts';
import { type Amount, amount, currencyDecimals, moneyOf, moneyText, rounded, wholeOfDecimal } from '../money/money.ts';
import { addCalendarMonths, dayMs, floorMonth, formatInstant, formatMonth, type Instant } from '../time/time.ts';
import { type ClosedMonth, type ClosedRate, closedMonths } from '../warehouse/ledger/index.ts';
import { type Connection, lastSeen } from '../warehouse/store/index.ts';
import { type Rate, rateDecimals, readRates } from './rates-file.ts';

/** The rate of a month. */
export interface MonthRate {
  /** `2026-10`. */
  readonly month: string;
  /** How much of the currency one USD is, plain decimal text; null if the month has none. */
  readonly rate: string | null;
  /** The day that the rate is of: `2026-10-30`. */
  readonly rateDate: string | null;
  /** Who published it. */
  readonly source: string | null;
  /** Whether the month is closed: its rate is then that of its close. */
  readonly isClosed: boolean;
}

/** A second currency beside USD, with the rate of each month. */
export interface SecondCurrency {
  /** `EUR`. */
  readonly code: string;
  /** The month that the answer's instant is in. */
  readonly presentMonth: Instant;
  /** The first month that has a rate or is closed; undefined if there is none. */
  readonly firstMonth: Instant | undefined;
  rateOf(month: Instant): MonthRate;
}

/** The books whose costs are to be converted. */
interface BooksOfAnswer {
  readonly connection: Connection;
  /** The project folder. */
  readonly dir: string;
  /** The as-of instant; undefined for the present. */
  readonly asOf: Instant | undefined;
  /** Whether that is the close of the month: the answer then has the currency of that close, or none. */
  readonly isClose: boolean;
}

/**
 * The second currency of an answer; undefined if it has none. As of a close, it is that of the close, and the file of rates is
 * not read. Otherwise it is that of the setting: a closed month has the rate of its close, an open one that of the file.
 * Throws UsageError with every mistake in the file.
 */
export async function secondCurrencyOf(
  settings: CurrencySettings | undefined,
  { connection, dir, asOf, isClose }: BooksOfAnswer,
): Promise<SecondCurrency | undefined> {
  if (settings === undefined && !isClose) return undefined;
  const closed = await closedMonths(connection);
  const through = asOf ?? (await lastSeen(connection)) ?? 0;
  if (!isClose) return settings && currencyOf({ ...settings, rates: readRates(settings, dir), closed, through });
  const code = closed.findLast(({ closedAt }) => closedAt === asOf)?.rate?.code;
  return code === undefined ? undefined : currencyOf({ code, source: '', rates: [], closed, through });
}

/** A currency from its rates, the closed months, and the instant through which rates are used. Pure. */
export function currencyOf({
  code,
  source,
  rates,
  closed,
  through,
}: {
  readonly code: string;
  readonly source: string;
  readonly rates: readonly Rate[];
  readonly closed: readonly ClosedMonth[];
  readonly through: Instant;
}): SecondCurrency {
  const months = [...rates.slice(0, 1).map(({ from }) => floorMonth(from)), ...closed.map(({ month }) => month)];
  return {
    code,
    presentMonth: floorMonth(through),
    firstMonth: months.length === 0 ? undefined : Math.min(...months),
    rateOf(start) {
      const month = formatMonth(start);
      const close = closed.find((one) => one.month === start);
      if (close !== undefined) {
        const { rate, rateDate, source: then } = close.rate?.code === code ? close.rate : noRate;
        return { month, rate, rateDate, source: then, isClosed: true };
      }
      const found = rateIn(rates, start, through);
      if (found === undefined) return { month, ...noRate, isClosed: false };
      return { month, rate: found.rate, rateDate: formatInstant(found.from).slice(0, 10), source, isClosed: false };
    },
  };
}

/** Of a month without a rate. */
export const noRate = { rate: null, rateDate: null, source: null };

/** The rate of an open month: the last one dated before its end, and not after the instant. Pure. */
export function rateIn(rates: readonly Rate[], month: Instant, through: Instant): Rate | undefined {
  const end = addCalendarMonths(month, 1);
  return rates.findLast(({ from }) => from < end && from <= through);
}

/** What a close of a month stores; undefined if there is no currency, or no rate for the month yet. */
export function rateAtClose(
  settings: CurrencySettings | undefined,
  dir: string,
  month: Instant,
): ClosedRate | undefined {
  if (settings === undefined) return undefined;
  const found = rateIn(readRates(settings, dir), month, Number.POSITIVE_INFINITY);
  if (found === undefined) return undefined;
  const { code, source } = settings;
  return { code, rate: found.rate, rateDate: formatInstant(found.from).slice(0, 10), source };
}

/** USD as decimal text times a rate, rounded once to the decimals of USD, half away from zero. Exact. Pure. */
export function converted(usd: Amount, { rate }: CurrencyOfMonth): string {
  const product = moneyOf(usd) * wholeOfDecimal(rate.rate, rateDecimals);
  return moneyText(rounded(product, 10n ** BigInt(rateDecimals)));
}

/** USD in the currency, as people write it: `4,010.23`, or `28,136` JPY. */
export function convertedAmount(usd: Amount, currency: CurrencyOfMonth): string {
  return amount(converted(usd, currency), currencyDecimals(currency.code));
}

/** `4,010.23 EUR at 0.922, 2026-10-30`. */
export function convertedWords(usd: string, currency: CurrencyOfMonth): string {
  const { code, rate } = currency;
  return `${convertedAmount(usd, currency)} ${code} at ${rate.rate}, ${rate.rateDate}`;
}

/** A currency with the rate of one month, which it has. */
export interface CurrencyOfMonth {
  readonly code: string;
  readonly rate: MonthRate & { readonly [key in 'rate' | 'rateDate' | 'source']: string };
}

/** The currency of one month; undefined if the month has no rate. */
export function currencyOfMonth(currency: SecondCurrency | undefined, month: Instant): CurrencyOfMonth | undefined {
  const found = currency?.rateOf(month);
  const { rate = null, rateDate = null, source = null } = found ?? {};
  if (currency === undefined || found === undefined) return undefined;
  if (rate === null || rateDate === null || source === null) return undefined;
  return { code: currency.code, rate: { ...found, rate, rateDate, source } };
}

/** Months are listed one by one up to this many. */
const mostListed = 3;

/** The rates of an answer in one sentence: `1 USD = 0.922 EUR (2026-10-30, ECB reference rates).` */
export function rateWords(code: string, months: readonly MonthRate[]): string | undefined {
  const known = months.filter(({ rate }) => rate !== null);
  const [first] = known;
  if (first === undefined) return undefined;
  const sources = [...new Set(known.map(({ source }) => source))].join('; ');
  const isSame = known.every(({ rate, rateDate }) => rate === first.rate && rateDate === first.rateDate);
  if (isSame) {
    const close = known.every(({ isClosed }) => isClosed) ? ', as at the close' : '';
    return `1 USD = ${first.rate} ${code} (${first.rateDate}, ${sources}${close}).`;
  }
  if (known.length > mostListed) {
    const name = code.toLowerCase();
    return `Each row has the ${code} rate of its month in ${name}_rate and ${name}_rate_date (${sources}).`;
  }
  const each = known.map(({ month, rate, rateDate }) => `${month} ${rate} (${rateDate})`).join(', ');
  return `1 USD in ${code}: ${each}; ${sources}.`;
}

/** Why months have no converted amounts, a sentence for each reason. */
export function withoutRateWords(code: string, months: readonly MonthRate[]): readonly string[] {
  function sentence(isClosed: boolean, why: string, whys: string): string[] {
    const names = months.filter((one) => one.rate === null && one.isClosed === isClosed).map(({ month }) => month);
    const [first, last] = [names[0], names.at(-1)];
    if (first === undefined) return [];
    const all = names.length > mostListed ? `${first} to ${last}` : names.join(', ');
    return [
      `${all} ${names.length === 1 ? `has no amount in ${code}: ${why}` : `have no amounts in ${code}: ${whys}`}.`,
    ];
  }
  return [
    ...sentence(
      true,
      `the month was closed without a rate in ${code}, and a closed month stays as it is`,
      `the months were closed without a rate in ${code}, and closed months stay as they are`,
    ),
    ...sentence(false, 'the file of rates starts after the month', 'the file of rates starts after these months'),
  ];
}

/** A file whose last rate is older than this many days is old. */
export const oldAfterDays = 45;

/** Whether the last rate is so old that somebody should add one. */
export function areOld(rates: readonly Rate[], now: Instant): boolean {
  const last = rates.at(-1);
  return last !== undefined && last.from < now - oldAfterDays * dayMs;
}
