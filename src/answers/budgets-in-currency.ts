import { UsageError } from '../base/errors.ts';
import { amountIn } from '../budgets/rules/index.ts';
import type { BudgetNow } from '../budgets/show/index.ts';
import type { LocalConfig } from '../config/index.ts';
import {
  type CurrencyOfMonth,
  converted,
  convertedAmount,
  currencyOfMonth,
  rateWords,
  secondCurrencyOf,
} from '../currency/index.ts';
import { floorMonth, type Instant } from '../time/time.ts';
import type { Connection } from '../warehouse/store/index.ts';

/** The second currency with the rate of the present month, if there is one; or the mistakes in its file. */
export async function presentCurrency(
  { currency }: LocalConfig,
  { connection, dir, now }: { readonly connection: Connection; readonly dir: string; readonly now: Instant },
): Promise<{ readonly currency?: CurrencyOfMonth | undefined; readonly mistakes?: UsageError }> {
  try {
    const second = await secondCurrencyOf(currency, { connection, dir, asOf: now, isClose: false });
    return { currency: currencyOfMonth(second, floorMonth(now)) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { mistakes: error };
  }
}

/** Spent and amount of each budget in the second currency, as data. */
export function convertedBudgets(lines: readonly BudgetNow[], currency: CurrencyOfMonth): Record<string, unknown> {
  const inOther = (usd: bigint | undefined) => (usd === undefined ? null : converted(usd, currency));
  return {
    code: currency.code,
    ...currency.rate,
    budgets: lines.map(({ budget, spend: { period, spent }, forecast }) => ({
      name: budget.name,
      spent: inOther(spent),
      amount: inOther(amountIn(budget, period.name)),
      forecast: forecast.kind === 'none' ? null : inOther(forecast.mean),
    })),
  };
}

/** The spend of each budget in the second currency: a line with the rate, then one for each budget. */
export function describeConverted(lines: readonly BudgetNow[], currency: CurrencyOfMonth): string {
  const inOther = (usd: bigint) => convertedAmount(usd, currency);
  const each = lines.map(({ budget, spend: { period, spent } }) => {
    const found = spent === undefined ? 'not known' : inOther(spent);
    return `${budget.name}: ${found} of ${inOther(amountIn(budget, period.name))} ${currency.code} spent`;
  });
  return [rateWords(currency.code, [currency.rate]), ...each].join('\n');
}
