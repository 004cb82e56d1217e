import { amount, moneyOf, moneyText } from '../money/money.ts';

/** What a chart shows, exactly: for pointing at it, and as a table. Charts themselves draw floating-point numbers. */
export interface ExactNumbers {
  /** What a place on the axis is: `Day`. */
  readonly head: string;
  /** The full name of each place, in order: `2026-10-04`. */
  readonly names: readonly string[];
  /** Of the values; USD by default. */
  readonly unit?: string;
  readonly series: readonly ExactSeries[];
}

export interface ExactSeries {
  /** The id of the series in the chart. */
  readonly id: string;
  readonly name: string;
  /** Exact decimal text, or words; one per place, null where there is none. */
  readonly texts: readonly (string | null)[];
}

/** The sum of all amounts up to each: USD as exact decimal text, null after the place `last`. */
export function exactTotals(amounts: readonly (string | undefined)[], last: number): (string | null)[] {
  let total = 0n;
  return amounts.map((text, place) => {
    if (place > last) return null;
    total += moneyOf(text ?? '0');
    return moneyText(total);
  });
}

/** A forecast to the cent, as it is drawn, with its range in words. */
export function forecastTexts({
  mean,
  low,
  high,
}: Readonly<Record<'mean' | 'low' | 'high', readonly (number | null)[]>>): ExactSeries[] {
  const cents = (value: number) => value.toFixed(2);
  // The first value is what is spent already.
  const first = mean.findIndex((value) => value !== null);
  const range = mean.map((_, place) => {
    const [from, to] = [low[place], high[place]];
    if (place <= first || from === null || to === null || from === undefined || to === undefined) return null;
    return `${amount(cents(from))} to ${amount(cents(to))}`;
  });
  return [
    {
      id: 'forecast',
      name: 'forecast',
      texts: mean.map((value, place) => (value === null || place === first ? null : cents(value))),
    },
    { id: 'band', name: '80 of 100 in', texts: range },
  ];
}
