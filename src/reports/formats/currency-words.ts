import { type MonthRate, rateWords, withoutRateWords } from '../../currency/index.ts';
import { currencyDecimals } from '../../money/money.ts';

/** The second currency of an answer, with the rate of each of its months. */
export interface CurrencyOfAnswer {
  /** `EUR`. */
  readonly code: string;
  /** The columns with amounts, each after that in USD: `cost_eur` of `cost`. */
  readonly columns: Readonly<Record<string, string>>;
  readonly months: readonly MonthRate[];
}

/** The decimals of the columns in the second currency, by their names; empty if it has two, as USD. */
export function otherDecimals(currency: CurrencyOfAnswer | undefined): ReadonlyMap<string, number> {
  const decimals = currency === undefined ? 2 : currencyDecimals(currency.code);
  return new Map(decimals === 2 ? [] : Object.values(currency?.columns ?? {}).map((name) => [name, decimals]));
}

/** The sentences below an answer: its rates, and the months without one. */
export function currencyWords({ code, months }: CurrencyOfAnswer): readonly string[] {
  return [...[rateWords(code, months)].flatMap((words) => words ?? []), ...withoutRateWords(code, months)];
}
