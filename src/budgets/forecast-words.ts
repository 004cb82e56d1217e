import { cents } from '../money.ts';
import type { CalendarPeriod } from '../time.ts';
import { amountIn, type Budget } from './budget.ts';
import { forecastLevel, type PeriodForecast } from './period-forecast.ts';

/** The forecast of a budget's period, and when it exceeds the budget, in one sentence. */
export function forecastSentence(
  budget: Budget,
  period: CalendarPeriod,
  { mean, low, high }: Pick<PeriodForecast, 'mean' | 'low' | 'high'>,
  exceedsOn: string | undefined,
): string {
  const amount = `${cents(amountIn(budget, period.name))} USD`;
  const end =
    exceedsOn === undefined
      ? `budget ${amount}`
      : `expected to exceed ${amount} ${aboutDay(exceedsOn, period.end - period.start)}`;
  return (
    `${budget.name}: ${cents(mean)} USD forecast for ${period.name} ` +
    `(${forecastLevel} % interval ${cents(low)} to ${cents(high)}), ${end}`
  );
}

const longestMonthMs = 31.5 * 86_400_000;

/** An estimated day as text: `around the 23rd`, or `around 2026-10-23` in periods longer than a month. */
export function aboutDay(day: string, lengthMs: number): string {
  return lengthMs <= longestMonthMs ? `around the ${ordinal(Number(day.slice(8)))}` : `around ${day}`;
}

const ordinalRules = new Intl.PluralRules('en', { type: 'ordinal' });
const ordinalEnds: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** `2nd`, `11th`. */
export function ordinal(count: number): string {
  return `${count}${ordinalEnds[ordinalRules.select(count)] ?? 'th'}`;
}
