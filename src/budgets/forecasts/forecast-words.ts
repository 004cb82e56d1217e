import { once } from '../../base/once.ts';
import { groupedAmount, inUnit, moneyText, trimmedDecimal } from '../../money/money.ts';
import { forecastLevel, type PeriodForecast } from '../../outlook/index.ts';
import { dayWords } from '../../time/day-words.ts';
import { type CalendarPeriod, formatInstant } from '../../time/time.ts';
import { amountIn, type Budget, unitOf } from '../rules/budget.ts';
import type { CountedCost } from '../spend/thresholds.ts';

/** The forecast of a budget's period, and when it exceeds the budget, in one sentence; `today` is a day of that budget. */
export function forecastSentence(
  budget: Budget,
  period: CalendarPeriod,
  { mean, low, high }: Pick<PeriodForecast, 'mean' | 'low' | 'high'>,
  exceedsOn: string | undefined,
  today?: string,
): string {
  const unit = unitOf(budget);
  const amount = inUnit(amountIn(budget, period.name), unit);
  const end =
    exceedsOn === undefined
      ? `budget ${amount}`
      : `expected to exceed ${amount} ${exceedsOn === today ? 'today' : aboutDay(exceedsOn, formatInstant(period.start))}`;
  return (
    `${budget.name}: ${inUnit(mean, unit)} forecast for ${period.name} ` +
    `(${forecastLevel} % interval ${groupedAmount(low, unit)} to ${groupedAmount(high, unit)}), ${end}`
  );
}

/** `600.00 USD for 10000 × order, through 2026-11-20, the last day with counts`. */
export function perWords({ name, count, cost, lastName = '' }: CountedCost): string {
  if (lastName === '') return `nothing of ${name} is counted yet`;
  const last = `the last ${lastName.length === 7 ? 'month' : 'day'} with counts`;
  return `${inUnit(cost)} for ${trimmedDecimal(moneyText(count))} × ${name}, through ${lastName}, ${last}`;
}

/** An estimated day as text: `around 23 Oct`, with the year if it is not that of the period's start. */
export function aboutDay(day: string, periodStart: string): string {
  return `around ${dayWords(day, periodStart)}`;
}

const ordinalRules = once(() => new Intl.PluralRules('en', { type: 'ordinal' }));
const ordinalEnds: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };

/** `2nd`, `11th`. */
export function ordinal(count: number): string {
  return `${count}${ordinalEnds[ordinalRules().select(count)] ?? 'th'}`;
}
