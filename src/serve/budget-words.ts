import type { BudgetWithStored } from '../budgets/forecasts/index.ts';
import { amountIn, type Budget, unitOf } from '../budgets/rules/index.ts';
import { shareOf } from '../budgets/spend/index.ts';
import { moneyText, usdUnit } from '../money/money.ts';
import type { CalendarPeriod } from '../time/time.ts';
import { type Figure, money } from './format.ts';
import { named } from './layout.ts';
import { html, type Markup } from './markup.ts';

/** Everything that a budget's numbers depend on. */
export function budgetKey({ limits, ...budget }: Budget): string {
  return JSON.stringify({ ...budget, limits: [...limits] }, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

/** An amount of a budget. The pages say that amounts without a unit are USD, so only other units are named. */
export function amountCell(budget: Budget, whole: bigint, isNamed = true, figure?: Figure): Markup {
  const unit = unitOf(budget);
  const shown = money(moneyText(whole), { unit, ...(figure && { figure }) });
  return isNamed && unit !== usdUnit ? html`${shown} ${unit}` : shown;
}

/** The spent share of the amount, with one decimal as every share of a page. */
export function shareWords(budget: Budget, period: Pick<CalendarPeriod, 'name'>, spent: bigint): string {
  return `${shareOf(budget, period, spent, 1)} %`;
}

/** The share of the amount, as a number and a bar. */
export function shareCell({ budget, spend: { spent, period } }: BudgetWithStored): Markup | string {
  if (spent === undefined) return '';
  const share = shareWords(budget, period, spent);
  return html`<span class="share">${share}<meter min="0" max="100" low="80" high="99.99" optimum="0" value="${Math.max(0, Math.min(100, Number.parseFloat(share)))}" aria-label="Spent share of ${named(budget.name, '')}"></meter></span>`;
}

/** The state in words, with the day on which the amount is expected to be reached. */
export function stateWords({ budget, spend, forecast, state }: BudgetWithStored): Markup {
  if (state === undefined) return html`<span class="state warn">not known</span>`;
  if (state === 'EXCEEDED') return html`<span class="state bad">exceeded</span>`;
  if (state === 'WARNING') return html`<span class="state warn">near its limit</span>`;
  if (state === 'NO COUNTS') return html`<span class="state warn">no counts</span>`;
  if (state === 'OK') return html`<span class="state good">on track</span>`;
  const isOver = forecast.kind === 'forecast' && forecast.mean >= amountIn(budget, spend.period.name);
  const day = forecast.kind === 'forecast' ? forecast.exceedsOn : undefined;
  return html`<span class="state warn">${isOver ? 'will exceed' : 'forecast at a threshold'}</span>${day === undefined ? '' : html`<br><span class="empty">around ${day}</span>`}`;
}
