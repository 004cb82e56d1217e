import type { AnomalyRules } from '../anomalies/index.ts';
import {
  exceedsOnOf,
  forecastSentence,
  readForecasts,
  type ScopeForecast,
  withForecasts,
} from '../budgets/forecasts/index.ts';
import { amountIn, type Budget, budgetCalendar, unitOf } from '../budgets/rules/index.ts';
import {
  groupGaps,
  readSpends,
  type SpendNow,
  type SpendsAsked,
  shareOf,
  stateOf,
  withCarried,
} from '../budgets/spend/index.ts';
import { alertRows } from '../findings/index.ts';
import { difference, inUnit, moneyOf, moneyText, usd, usdUnit } from '../money/money.ts';
import { incompleteness } from '../reports/formats/index.ts';
import type { CostSummary } from '../sinks/index.ts';
import { formatTable } from '../terminal/index.ts';
import { windowBefore } from '../time/compared.ts';
import { calendarOf, formatInstant, formatWindow, type Holidays, type Instant, type Window } from '../time/time.ts';
import { type Completeness, completeness } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';

/** Longer names are cut, because people read messages on phones. */
const maxCellWidth = 48;

export type SummaryPeriod = 'weekly' | 'monthly';

/** The last complete week or month before an instant, and the one before it. */
export function summaryWindows(kind: SummaryPeriod, now: Instant): { name: string; period: Window; before: Window } {
  const calendar = calendarOf(kind);
  const period = calendar.periodAt(calendar.periodAt(now).start - 1);
  // A whole week, or a whole month, has one before.
  const before = windowBefore(period) ?? calendar.periodAt(period.start - 1);
  return { name: `${kind}/${period.name}`, period, before };
}

export interface SummaryOptions extends SpendsAsked {
  /** Dates on which days may cost more or less than usual. */
  readonly holidays?: Holidays;
  readonly budgets: readonly Budget[];
  /** Undefined if they are unknown. */
  readonly anomalyRules?: Pick<AnomalyRules, 'isOn'> | undefined;
}

/** Reads a summary. Throws UsageError if a budget needs data that the books do not have. */
export async function readCostSummary(
  connection: Connection,
  kind: SummaryPeriod,
  { budgets: given, anomalyRules, ...asked }: SummaryOptions,
): Promise<CostSummary> {
  const { name, period, before } = summaryWindows(kind, asked.now);
  const all = await completeness(connection, asked.cache);
  const expected = all.filter(({ account }) => asked.configured.length === 0 || asked.configured.includes(account));
  const labels = kind === 'weekly' ? ['The week', 'The week before'] : ['The month', 'The month before'];
  const [gaps = [], gapsBefore = []] = [period, before].map((window, index) =>
    incompleteness(expected, [{ ...window, label: labels[index] ?? '' }]),
  );
  const rows = await alertRows(connection, 'spend_and_before', {
    before: formatInstant(before.start),
    start: formatInstant(period.start),
    end: formatInstant(period.end),
    is_of_months: kind === 'monthly',
  });
  function sum(value: unknown, isWhole: boolean): string | null {
    // No rows mean no spend only if the books are complete.
    return typeof value === 'string' ? value : isWhole ? '0' : null;
  }
  const spent = sum(rows[0]?.['cost'], gaps.length === 0);
  const spentBefore = sum(rows[0]?.['cost_before'], gapsBefore.length === 0);
  const changed = difference(String(rows[0]?.['current_cost'] ?? spent ?? 0), spent ?? '0');
  // A part of a month is not compared with a whole one.
  const isComparable = spent !== null && spentBefore !== null && gaps.length === 0 && gapsBefore.length === 0;
  const budgets = await withCarried(connection, given, asked);
  const asks = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(asked.now) }));
  const forecasts = await readForecasts(connection, { ...asked, budgets, withWorkspaces: false });
  const spends = withForecasts(await readSpends(connection, asks, asked), forecasts);
  const summary: Omit<CostSummary, 'text'> = {
    name,
    title: summaryTitle(`${kind === 'weekly' ? 'Week' : 'Month'} ${name.slice(kind.length + 1)}`, {
      spent,
      before: isComparable ? spentBefore : null,
      isWhole: gaps.length === 0,
    }),
    start: formatInstant(period.start),
    end: formatInstant(period.end),
    spent,
    spentBefore,
    ...(moneyOf(changed) === 0n ? {} : { changedSinceClose: changed }),
    // Without both whole amounts there is no change: a resource that is missing from the data did not cost 0.
    movers: (isComparable ? rows.slice(1) : []).map((row) => ({
      name: String(row['name']),
      cost: String(row['cost']),
      costBefore: String(row['cost_before']),
    })),
    budgets: asks.map(({ budget, period: present }, index) => budgetLine(budget, present, spends[index], forecasts)),
    anomalies: await anomaliesSince(connection, period.start),
    gaps: [...gaps, ...gapsBefore, ...groupGaps(spends).map(({ of, sentence }) => `B${of.slice(1)}: ${sentence}`)],
  };
  return {
    ...summary,
    text: summaryText(summary, expected, { areAnomaliesAsked: anomalyRules?.isOn ?? true, isComparable }),
  };
}

/** `Week 2026-W46: 1234.56 USD spent (+56.20 USD)`. */
function summaryTitle(
  period: string,
  { spent, before, isWhole }: { spent: string | null; before: string | null; isWhole: boolean },
): string {
  if (spent === null) return `${period}: spend is unknown`;
  if (!isWhole) return `${period}: ${usd(spent)} spent so far; not complete`;
  return `${period}: ${usd(spent)} spent${before === null ? '' : ` (${usd(difference(spent, before), true)})`}`;
}

async function anomaliesSince(connection: Connection, since: Instant): Promise<CostSummary['anomalies']> {
  const [row = {}] = await alertRows(connection, 'anomalies_since', { since: formatInstant(since) });
  if (row['is_looked'] !== true) return null;
  return {
    open: Number(row['open']),
    openImpact: String(row['open_impact']),
    over: Number(row['over']),
    overImpact: String(row['over_impact']),
  };
}

function budgetLine(
  budget: Budget,
  period: SpendNow['period'],
  spend: SpendNow | undefined,
  forecasts: readonly ScopeForecast[],
): CostSummary['budgets'][number] {
  const spent = spend?.spent;
  const state = (spend && stateOf(budget, period, spend, spend.forecast)) ?? null;
  const made = forecasts.find(
    ({ scope, period: { start } }) =>
      scope.kind === 'budget' && scope.budget.name === budget.name && start === period.start,
  );
  const exceedsOn = made && exceedsOnOf(made);
  const isWorthIt = state !== 'EXCEEDED' && (state === 'FORECAST' || exceedsOn !== undefined);
  return {
    budget: budget.name,
    period: period.name,
    ...(unitOf(budget) === usdUnit ? {} : { unit: unitOf(budget) }),
    spent: spent === undefined ? null : moneyText(spent),
    amount: moneyText(amountIn(budget, period.name)),
    share: spent === undefined ? null : shareOf(budget, period, spent),
    state,
    forecast:
      isWorthIt && made?.forecast.kind === 'forecast'
        ? forecastSentence(budget, period, made.forecast, exceedsOn)
        : null,
  };
}

/** A summary in plain text. Pure. */
export function summaryText(
  summary: Omit<CostSummary, 'text'>,
  accounts: readonly Completeness[],
  { areAnomaliesAsked, isComparable }: { areAnomaliesAsked: boolean; isComparable: boolean },
): string {
  const { spent, spentBefore, movers, budgets, anomalies, gaps } = summary;
  const change = isComparable ? difference(spent ?? '0', spentBefore ?? '0') : undefined;
  const parts = [
    [
      `${formatWindow({ start: Date.parse(summary.start), end: Date.parse(summary.end) })}`,
      `Spent: ${spent === null ? 'unknown' : usd(spent)}; period before: ${spentBefore === null ? 'unknown' : usd(spentBefore)}${change === undefined ? '' : ` (${usd(change, true)})`}`,
      ...(summary.changedSinceClose === undefined
        ? []
        : [`As at its close; ${usd(summary.changedSinceClose, true)} since then, which later months bill`]),
      ...gaps.map((sentence) => `! ${sentence}`),
    ].join('\n'),
  ];
  if (movers.length > 0) {
    parts.push(
      `Largest changes:\n${formatTable(
        [
          { name: 'resource', type: 'VARCHAR' },
          ...['before', 'now', 'change'].map((name) => ({ name, type: 'DECIMAL' })),
        ],
        movers.map(({ name, cost, costBefore }) => [
          name,
          short(costBefore),
          short(cost),
          short(difference(cost, costBefore), true),
        ]),
        { maxCellWidth },
      )}`,
    );
  }
  if (budgets.length > 0) {
    parts.push(
      `Budgets, current periods:\n${formatTable(
        ['budget', 'period', 'spent', 'of', '%', 'state'].map((name) => ({
          name,
          type: ['spent', 'of', '%'].includes(name) ? 'DECIMAL' : 'VARCHAR',
        })),
        budgets.map(({ budget, period, unit, spent: used, amount, share, state }) => [
          budget,
          period,
          used === null ? 'unknown' : short(used),
          unit === undefined ? short(amount) : inUnit(amount, unit),
          share ?? undefined,
          state ?? 'unknown',
        ]),
        { maxCellWidth },
      )}${budgets.map(({ forecast }) => (forecast === null ? '' : `\n${forecast}`)).join('')}`,
    );
  }
  if (areAnomaliesAsked) parts.push(...anomalyParts(anomalies, summary.start.slice(0, 10)));
  parts.push(
    [
      'Data:',
      ...accounts.map(
        ({ account, completeThrough, settledThrough }) =>
          `  ${account}: complete through ${instant(completeThrough)}, settled through ${instant(settledThrough)}`,
      ),
    ].join('\n'),
  );
  return parts.map((part) => part.trimEnd()).join('\n\n');
}

/** The paragraph about anomalies; empty if there are none. */
function anomalyParts(anomalies: CostSummary['anomalies'], since: string): string[] {
  if (anomalies === null) return ['Anomalies: not evaluated yet. Run "costbook alert".'];
  const { open, openImpact, over, overImpact } = anomalies;
  const counts = [
    ...(open === 0 ? [] : [`${open} open, ${usd(openImpact, true)} so far`]),
    ...(over === 0 ? [] : [`${over} ended since ${since}, ${usd(overImpact, true)}`]),
  ];
  return counts.length === 0 ? [] : [`Anomalies: ${counts.join('; ')}. Details: costbook report anomalies`];
}

function instant(value: Instant | undefined): string {
  return value === undefined ? 'nothing yet' : formatInstant(value);
}

function short(text: string, isSigned = false): string {
  return usd(text, isSigned).replace(' USD', '');
}
