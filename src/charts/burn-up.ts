import { groupedAmount, usdUnit } from '../money/money.ts';
import { type ExactNumbers, forecastTexts } from './exact-numbers.ts';
import type { MonthSoFar } from './month-so-far.ts';
import type { DrawnRows } from './picture.ts';

/** What is spent of a budget in one of its periods. Amounts are decimal text in its unit; instants are milliseconds since 1970. */
export interface BurnUp {
  /** USD, or a unit of usage. */
  readonly unit: string;
  readonly period: { readonly name: string; readonly start: number; readonly end: number };
  /** Days or hours of the period, in order, each with what is spent at its end; null where nothing is known. */
  readonly steps: readonly { readonly name: string; readonly end: number; readonly spent: string | null }[];
  /** Undefined if the spend of the period is unknown. */
  readonly spent: string | undefined;
  readonly limit: string;
  readonly completeThrough: number | undefined;
  readonly forecast: { readonly mean: string; readonly low: string; readonly high: string } | undefined;
}

/** A budget's spend against an even pace, its forecast with the band, and its amount. Pure. */
export function burnUp({
  unit,
  period,
  steps,
  spent,
  limit,
  completeThrough,
  forecast,
}: BurnUp): DrawnRows<MonthSoFar> {
  const amount = (text: string) => groupedAmount(text, unit);
  const last = steps.findLastIndex((step) => step.spent !== null);
  const now = Number(steps[last]?.spent ?? 0);
  const from = completeThrough ?? period.start;
  // The forecast of the rest, spread evenly over the time that is left.
  const spread = (to: string) =>
    steps.map(({ end }, index) => {
      if (index < last) return null;
      const share = index === last ? 0 : (end - from) / (period.end - from);
      return now + (Number(to) - now) * share;
    });
  const heads = forecast === undefined ? '' : `; it heads for ${amount(forecast.mean)}`;
  return {
    title:
      spent === undefined
        ? `What is ${unit === usdUnit ? 'spent' : 'used'} in ${period.name} is not known`
        : `${amount(spent)} of ${amount(limit)} ${unit} is ${unit === usdUnit ? 'spent' : 'used'} in ${period.name}${heads}`,
    description: `Running total of ${period.name} against an even pace and the budget of ${amount(limit)} ${unit}.`,
    rows: {
      ...(unit === usdUnit ? {} : { unit }),
      labels: steps.map(({ name }) => (name.length > 5 ? name.slice(5) : name)),
      name: unit === usdUnit ? 'spent' : 'used',
      spent: steps.map((step) => (step.spent === null ? null : Number(step.spent))),
      before: {
        name: 'even pace',
        values: steps.map(({ end }) => (Number(limit) * (end - period.start)) / (period.end - period.start)),
      },
      forecast: forecast && { mean: spread(forecast.mean), low: spread(forecast.low), high: spread(forecast.high) },
      limit: { name: `budget ${amount(limit)}`, value: Number(limit) },
    },
  };
}

/** What `burnUp` draws, exactly. Pure. */
export function exactBurnUp(shown: BurnUp): ExactNumbers {
  const { before, forecast } = burnUp(shown).rows;
  const { unit, steps, limit } = shown;
  return {
    ...(unit === usdUnit ? {} : { unit }),
    head: steps[0]?.name.includes(':') ? 'Hour' : 'Day',
    names: steps.map(({ name }) => name),
    series: [
      { id: 'spent', name: unit === usdUnit ? 'spent' : 'used', texts: steps.map(({ spent }) => spent) },
      ...(forecast === undefined ? [] : forecastTexts(forecast)),
      {
        ...{ id: 'before', name: 'even pace' },
        texts: (before?.values ?? []).map((value) => value?.toFixed(2) ?? null),
      },
      { id: 'limit', name: 'budget', texts: steps.map(() => limit) },
    ],
  };
}
