import { cents } from '../money.ts';
import type { CalendarPeriod } from '../time.ts';
import { amountIn, type Budget } from './budget.ts';
import { forecastLevel, type PeriodForecast } from './period-forecast.ts';

/** What a budget's period is forecast to come to, and when it exceeds the amount, in one sentence. */
export function forecastSentence(
  budget: Budget,
  period: CalendarPeriod,
  { mean, low, high }: Pick<PeriodForecast, 'mean' | 'low' | 'high'>,
  exceedsOn: string | undefined,
): string {
  const amount = `${cents(amountIn(budget, period.name))} USD`;
  const end =
    exceedsOn === undefined ? `of ${amount}` : `it exceeds ${amount} ${aboutDay(exceedsOn, period.end - period.start)}`;
  return (
    `${budget.name} is forecast to come to ${cents(mean)} USD in ${period.name} ` +
    `(${forecastLevel} %: ${cents(low)} to ${cents(high)}): ${end}`
  );
}

const longestMonthMs = 31.5 * 86_400_000;

/** A day of a period of such a length, in words: `on about the 23rd`, of longer ones `on about 2026-10-23`. */
export function aboutDay(day: string, lengthMs: number): string {
  return lengthMs <= longestMonthMs ? `on about the ${ordinal(Number(day.slice(8)))}` : `on about ${day}`;
}

const ordinalRules = new Intl.PluralRules('en', { type: 'ordinal' });
const ordinalEnds: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** `2nd`, `11th`. */
export function ordinal(count: number): string {
  return `${count}${ordinalEnds[ordinalRules.select(count)] ?? 'th'}`;
}
