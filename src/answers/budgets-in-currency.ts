import { UsageError } from '../base/errors.ts';
import { amountIn, unitOf } from '../budgets/rules/index.ts';
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
import { shownAmount } from '../money/money.ts';
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

/** Spent and amount of each budget in the second currency, as data; null for usage, which has no price of its own. */
export function convertedBudgets(lines: readonly BudgetNow[], currency: CurrencyOfMonth): Record<string, unknown> {
  return {
    code: currency.code,
    ...currency.rate,
    budgets: lines.map(({ budget, spend: { period, spent }, forecast }) => {
      const inOther = (found: bigint | undefined) =>
        found === undefined || budget.scope.unit !== undefined ? null : converted(found, currency);
      return {
        name: budget.name,
        spent: inOther(spent),
        amount: inOther(amountIn(budget, period.name)),
        forecast: forecast.kind === 'none' ? null : inOther(forecast.mean),
      };
    }),
  };
}

/** The spend of each budget of money in the second currency: a line with the rate, then one for each budget. */
export function describeConverted(lines: readonly BudgetNow[], currency: CurrencyOfMonth): string {
  const ofMoney = lines.filter(({ budget }) => budget.scope.unit === undefined);
  const each = ofMoney.map(({ budget, spend: { period, spent } }) => {
    const { per } = budget;
    const inOther = (usd: bigint) =>
      per === undefined ? convertedAmount(usd, currency) : shownAmount(converted(usd, currency), unitOf(budget));
    const found = spent === undefined ? 'not known' : inOther(spent);
    const unit = `${currency.code}${per === undefined ? '' : ` per ${per.name}`}`;
    return `${budget.name}: ${found} of ${inOther(amountIn(budget, period.name))} ${unit} spent`;
  });
  return [rateWords(currency.code, [currency.rate]), ...each].join('\n');
}
