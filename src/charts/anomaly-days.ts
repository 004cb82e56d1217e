import { amount } from '../money/money.ts';
import { dayName } from '../time/time.ts';
import type { ExactNumbers } from './exact-numbers.ts';
import type { ExpectedBand } from './expected-band.ts';
import type { DrawnRows } from './picture.ts';

/** What a day was expected to cost, USD. */
export interface UsualDay {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

/** An anomaly with the days around it. Days are numbers since 1970-01-01; amounts of the anomaly are decimal text. */
export interface AnomalyDays {
  /** The resource, or where it happened. */
  readonly subject: string;
  readonly isUp: boolean;
  readonly impact: string;
  readonly firstDay: number;
  readonly lastDay: number;
  /** Of the first day. */
  readonly cost: string;
  readonly expected: string;
  readonly expectedLow: string;
  readonly expectedHigh: string;
  /** The first day of `costs` and `usual`. */
  readonly from: number;
  readonly costs: readonly number[];
  readonly usual: readonly (UsualDay | undefined)[];
}

/** The days of an anomaly against what is usual. The first day has the values that the evaluation found. Pure. */
export function anomalyDays(anomaly: AnomalyDays): DrawnRows<ExpectedBand> {
  const { subject, isUp, impact, firstDay, lastDay, cost, expected, expectedLow, expectedHigh, from } = anomaly;
  const found = { expected: Number(expected), low: Number(expectedLow), high: Number(expectedHigh) };
  const band = anomaly.usual.map((usual, index) => (from + index === firstDay ? found : usual));
  const [first, last] = [dayName(firstDay), dayName(lastDay)];
  const change = `${isUp ? 'cost' : 'saved'} ${amount(impact.replace(/^-/, ''))} USD ${isUp ? 'more' : 'less'} than usual`;
  return {
    title: `${subject} ${change} ${first === last ? `on ${first}` : `from ${first} through ${last}`}`,
    description: `Cost by day with the usual range. First day: ${amount(cost)} USD; expected ${amount(expected)}.`,
    rows: {
      labels: band.map((_, index) => dayName(from + index).slice(5)),
      cost: anomaly.costs,
      expected: band.map((usual) => usual?.expected ?? null),
      low: band.map((usual) => usual?.low ?? null),
      high: band.map((usual) => usual?.high ?? null),
      // A usual day in between is marked as what it is.
      unusual: Array.from({ length: lastDay - firstDay + 1 }, (_, index) => firstDay - from + index).filter((index) => {
        const [value, usual] = [anomaly.costs[index], band[index]];
        return value === undefined || usual === undefined || (isUp ? value > usual.high : value < usual.low);
      }),
    },
  };
}

/** What `anomalyDays` draws, exactly. `costs` are USD as decimal text, one for each day. Pure. */
export function exactAnomalyDays(anomaly: AnomalyDays, costs: readonly string[]): ExactNumbers {
  const { from, firstDay, expected, expectedLow, expectedHigh } = anomaly;
  const cents = (value: number | undefined) => (value === undefined ? null : value.toFixed(2));
  const range = (low: string, high: string) => `${amount(low)} to ${amount(high)}`;
  return {
    head: 'Day',
    names: costs.map((_, index) => dayName(from + index)),
    series: [
      { id: 'cost', name: 'cost', texts: costs },
      {
        ...{ id: 'expected', name: 'expected' },
        texts: anomaly.usual.map((usual, index) => (from + index === firstDay ? expected : cents(usual?.expected))),
      },
      {
        ...{ id: 'band', name: 'usual' },
        texts: anomaly.usual.map((usual, index) => {
          if (from + index === firstDay) return range(expectedLow, expectedHigh);
          return usual === undefined ? null : range(usual.low.toFixed(2), usual.high.toFixed(2));
        }),
      },
    ],
  };
}
