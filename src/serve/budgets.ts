import { createHash } from 'node:crypto';
import { UsageError } from '../base/errors.ts';
import { type BudgetWithStored, readBudgetsWithStored } from '../budgets/forecasts/index.ts';
import { amountIn, type Budget, budgetsFile, loadBudgets, unitOf } from '../budgets/rules/index.ts';
import { nearest } from '../text/choices.ts';
import { type AddressPart, budgetAddress } from '../text/dashboard-address.ts';
import { hourMs, type Instant } from '../time/time.ts';
import { answerCache } from '../warehouse/store/index.ts';
import { budgetDetail } from './budget-detail.ts';
import { amountCell, budgetKey, shareCell, stateWords } from './budget-words.ts';
import { incompleteWords } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';

/** Most urgent first. */
const urgency: readonly string[] = ['EXCEEDED', 'FORECAST', 'WARNING', 'OK', 'NO COUNTS'];

/** Every budget in its present period, most urgent first. Reads all costs: for unrestricted viewers only. */
export async function budgetsPage(request: PageRequest): Promise<Page> {
  return withBudgets(request, async (budgets) => {
    const sorted = mostUrgentFirst(await readLines(request, budgets));
    return {
      path: '/budgets',
      title: 'Budgets',
      body: html`<p class="finding">${findingOf(sorted)}</p>
<section class="cards">${table('Present periods, most urgent first', columns, sorted, 'There are no budgets.')}
<p class="empty">Forecasts are those that "costbook alert" stored last; 80 of 100 periods should end in the range. Each budget is forecast by itself, so parts do not add up to their whole.</p></section>`,
    };
  });
}

const budgetsOnOverview = 5;

/** The most urgent budgets as a section of another page. Reads all costs: for unrestricted viewers only. */
export async function mostUrgentBudgets(request: PageRequest): Promise<Markup> {
  const { body } = await withBudgets(request, async (budgets) => {
    const lines = mostUrgentFirst(await readLines(request, budgets)).slice(0, budgetsOnOverview);
    const short = columns.filter(({ head }) => head !== 'Period' && head !== 'Share');
    return {
      ...{ path: '/budgets', title: 'Budgets' },
      body: html`<section class="cards">${table('Budgets, most urgent first', short, lines, 'There are no budgets.')}
${budgets.length > lines.length ? html`<p class="empty"><a href="/budgets">All ${budgets.length} budgets</a></p>` : ''}</section>`,
    };
  });
  return body;
}

function mostUrgentFirst(lines: readonly BudgetWithStored[]): readonly BudgetWithStored[] {
  return [...lines].sort((a, b) => rankOf(a) - rankOf(b) || shareNumber(b) - shareNumber(a));
}

/** One budget. */
export async function budgetPage(request: PageRequest): Promise<Page> {
  return withBudgets(request, async (budgets) => {
    const [part] = request.parts;
    const budget = part && budgets.find(({ name }) => isNamed(part, name));
    if (budget === undefined || request.parts.length > 1) return unknownBudget(part, budgets);
    // All of them: their answer is stored already.
    const line = (await readLines(request, budgets)).find((each) => each.budget.name === budget.name);
    if (line === undefined) return unknownBudget(part, budgets);
    return budgetDetail(request, line);
  });
}

function isNamed(part: AddressPart, name: string): boolean {
  if (part.kind === 'md5') return createHash('md5').update(name).digest('hex') === part.md5;
  return part.kind === 'name' && part.name === name;
}

/** The page that `make` makes; or why there is none: no budgets, or mistakes in their file or the configuration. */
async function withBudgets(
  { project, now }: PageRequest,
  make: (budgets: readonly Budget[]) => Promise<Page>,
): Promise<Page> {
  const page = { path: '/budgets', title: 'Budgets' } as const;
  try {
    const budgets = loadBudgets(budgetsFile(project.dir), { now }) ?? [];
    if (budgets.length > 0) return await make(budgets);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return {
      ...page,
      status: 500,
      body: html`<section><h2>Budgets cannot be shown</h2><pre>${error.message}</pre></section>`,
    };
  }
  return {
    ...page,
    body: html`<section><h2>There are no budgets yet</h2><p>Write them into jobs/budgets.yaml, for example:</p>
<pre>budgets:
  - name: everything
    period: monthly
    amount: 5000 USD</pre></section>`,
  };
}

function unknownBudget(part: AddressPart | undefined, budgets: readonly Budget[]): Page {
  const name = part?.kind === 'name' ? (part.name ?? '') : '';
  const guess = nearest(
    name,
    budgets.map((budget) => budget.name),
  );
  return {
    ...{ path: '/budgets', title: 'Budgets', status: 404 },
    body: html`<section><h2>There is no budget ${named(name, 'without a name')}</h2><p>${
      guess === undefined ? '' : html`Did you mean <a href="${budgetAddress(guess)}">${guess}</a>? `
    }<a href="/budgets">All budgets</a></p></section>`,
  };
}

/** Spends change with the clock too: their period, and what should be complete by now. */
async function readLines(
  { view, project, now }: PageRequest,
  budgets: readonly Budget[],
): Promise<readonly BudgetWithStored[]> {
  const { accounts, freshnessHours } = project.config();
  const configured = accounts.flatMap(({ id }) => id ?? []);
  const key = JSON.stringify([Math.floor(now / hourMs), freshnessHours, configured, budgets.map(budgetKey)]);
  return view.once(`budgets ${key}`, (connection) =>
    readBudgetsWithStored(connection, budgets, {
      ...{ now, freshnessHours, configured },
      cache: answerCache(connection),
    }),
  );
}

function rankOf({ state }: BudgetWithStored): number {
  return state === undefined ? urgency.length : urgency.indexOf(state);
}

/** The larger of what is spent and what is forecast, as a share of the amount. */
function shareNumber({ budget, spend, forecast }: BudgetWithStored): number {
  const amount = Number(amountIn(budget, spend.period.name));
  const most = Math.max(Number(spend.spent ?? 0n), forecast.kind === 'forecast' ? Number(forecast.mean) : 0);
  return most / amount;
}

function findingOf(lines: readonly BudgetWithStored[]): Markup {
  const [first] = lines;
  const over = lines.filter(({ state }) => state === 'EXCEEDED').length;
  const coming = lines.filter((line) => line.state === 'FORECAST').length;
  if (first === undefined) return html`There are no budgets.`;
  const unknown = lines.filter(({ forecast }) => forecast.kind === 'none').length;
  if (over === 0 && coming === 0) {
    return unknown === 0
      ? html`No budget of ${lines.length} is exceeded or expected to be.`
      : html`No budget of ${lines.length} is exceeded; ${unknown} ${unknown === 1 ? 'has' : 'have'} no forecast.`;
  }
  const { budget, spend, forecast } = first;
  const amount = amountIn(budget, spend.period.name);
  const isOver = first.state === 'EXCEEDED';
  const excess = isOver ? (spend.spent ?? 0n) - amount : forecast.kind === 'forecast' ? forecast.mean - amount : 0n;
  const subject = `${budget.name}/${spend.period.name}`;
  const lead =
    excess <= 0n
      ? html`<b>${named(budget.name, '')}</b> is forecast to reach a threshold`
      : html`<b>${named(budget.name, '')}</b> ${isOver ? 'is' : 'is expected to end'} ${amountCell(budget, excess, false, [isOver ? 'budget_over' : 'budget_end_over', subject])} ${unitOf(budget)} over its budget`;
  return html`${lead}. Of ${lines.length} budgets, ${over} ${over === 1 ? 'is' : 'are'} exceeded and ${coming} ${coming === 1 ? 'is' : 'are'} expected to be. Next: see <a href="/savings">what could be stopped</a>.`;
}

const columns = [
  {
    head: 'Budget',
    cell: ({ budget }: BudgetWithStored) =>
      html`<a href="${budgetAddress(budget.name)}">${named(budget.name, '')}</a>${budget.parent === undefined ? '' : html` <span class="empty">in ${named(budget.parent, '')}</span>`}`,
  },
  {
    head: 'Spent',
    isNumber: true,
    cell: ({ budget, spend }: BudgetWithStored) =>
      spend.spent === undefined
        ? spend.per === undefined
          ? 'not known'
          : 'no counts'
        : html`${amountCell(budget, spend.spent, false, ['budget_spent', `${budget.name}/${spend.period.name}`])}${incompleteWords(spend.spentSince ? amountCell(budget, spend.spentSince, false) : undefined)}`,
  },
  {
    head: 'Budget',
    isNumber: true,
    cell: ({ budget, spend }: BudgetWithStored) => amountCell(budget, amountIn(budget, spend.period.name)),
  },
  { head: 'Share', isNumber: true, cell: shareCell },
  { head: 'State', cell: stateWords },
  {
    head: 'Forecast',
    isNumber: true,
    cell: ({ budget, spend, forecast }: BudgetWithStored) =>
      forecast.kind === 'none'
        ? html`<span title="${forecast.reason}">none</span>`
        : html`${amountCell(budget, forecast.mean, false, ['budget_end', `${budget.name}/${spend.period.name}`])}<br><span class="empty">${amountCell(budget, forecast.low, false)} – ${amountCell(budget, forecast.high, false)}</span>`,
  },
  {
    head: 'Period',
    cell: ({ budget, spend: { period, completeThrough } }: BudgetWithStored) =>
      html`<span class="state">${period.name}</span>${budget.timeZone === 'UTC' ? '' : html`<br><span class="empty">${budget.timeZone}</span>`}${throughWords(completeThrough)}`,
  },
];

function throughWords(completeThrough: Instant | undefined): Markup | string {
  return completeThrough === undefined ? html`<br><span class="state warn">no complete hour</span>` : '';
}
