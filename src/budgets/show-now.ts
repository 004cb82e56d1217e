import { decimalOfWhole } from '../decimals.ts';
import { cents, usdDecimals } from '../money.ts';
import { formatTable, sparkline, type TableLayout, wrapped } from '../terminal/index.ts';
import { type CalendarPeriod, dayMs, formatInstant, formatWindow, hoursIn, type Instant } from '../time.ts';
import { amountIn, type Budget, carriedIn, plannedIn, type Threshold } from './budget.ts';
import type { ScopeForecast } from './forecast-rows.ts';
import { forecastSentence } from './forecast-words.ts';
import { forecastLevel } from './period-forecast.ts';
import { changeJson, describeChanges } from './planned-change.ts';
import type { SpendNow } from './spend.ts';
import {
  type BudgetState,
  isForecastAsked,
  isReached,
  limitOf,
  type PartSpend,
  shareOf,
  thresholdKey,
} from './thresholds.ts';

/** Complete through and settled through of an answer; null if nothing is. */
export interface CompleteThrough {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
}

/** A budget in its current period. */
export interface BudgetNow {
  readonly budget: Budget;
  readonly spend: SpendNow;
  readonly forecast: ScopeForecast['forecast'];
  readonly recent: ScopeForecast['recent'];
  /** The day on which the amount is expected to be reached; undefined if it is not, or was reached already. */
  readonly exceedsOn: string | undefined;
  readonly state: BudgetState | undefined;
}

/** Why there is no forecast: the books do not reach into the period yet. */
export function notBegun({ name }: CalendarPeriod, completeThrough: Instant | undefined): ScopeForecast['forecast'] {
  const through = completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough);
  return { kind: 'none', reason: `the books are complete through ${through}, before ${name} starts` };
}

/** The spend of every budget, as data. */
export function budgetsToJson(
  lines: readonly BudgetNow[],
  state: CompleteThrough,
  now: Instant,
): Record<string, unknown> {
  return {
    now: formatInstant(now),
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    budgets: lines.map(({ budget, spend, forecast, exceedsOn, state: ofBudget }) => {
      const { period, spent, spentSince, burnRate, completeThrough, gaps, drivers, parts } = spend;
      return {
        name: budget.name,
        parent: budget.parent ?? null,
        scope: budget.scope,
        period: period.name,
        periodStart: formatInstant(period.start),
        periodEnd: formatInstant(period.end),
        timeZone: budget.timeZone,
        spent: spent === undefined ? null : decimalOfWhole(spent, usdDecimals),
        /** The part in hours after completeThrough, which may still grow. */
        spentSince: spentSince === undefined ? null : decimalOfWhole(spentSince, usdDecimals),
        amount: decimalOfWhole(amountIn(budget, period.name), usdDecimals),
        ...carriedJson(budget, period),
        /** Percent of the budget's amount. */
        share: spent === undefined ? null : shareOf(budget, period, spent),
        daysLeft: daysLeft(period.end, now),
        burnRate:
          burnRate === undefined
            ? null
            : {
                perDay: decimalOfWhole(burnRate.perDay, usdDecimals),
                from: formatInstant(burnRate.start),
                to: formatInstant(burnRate.end),
                hours: hoursIn(burnRate),
              },
        state: ofBudget ?? null,
        forecast:
          forecast.kind === 'none'
            ? null
            : {
                value: decimalOfWhole(forecast.mean, usdDecimals),
                low: decimalOfWhole(forecast.low, usdDecimals),
                high: decimalOfWhole(forecast.high, usdDecimals),
                level: forecastLevel,
                /** Day on which the amount is expected to be reached, in the budget's time zone. */
                exceedsOn: exceedsOn ?? null,
                model: forecast.model,
                ...(forecast.changes === undefined ? {} : { changes: forecast.changes.map(changeJson) }),
              },
        noForecastReason: forecast.kind === 'none' ? forecast.reason : null,
        completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
        gaps,
        ...(parts === undefined ? {} : { parts: partsJson(budget, spend) }),
        /** The most expensive resources. */
        drivers,
        thresholds: budget.thresholds.map((threshold) => ({
          key: thresholdKey(budget, period.name, threshold),
          threshold: threshold.code,
          of: threshold.of,
          severity: threshold.severity,
          limit: decimalOfWhole(limitOf(budget, threshold, period), usdDecimals),
          isReached: isThresholdReached(budget, threshold, spend, forecast),
          notify: threshold.notify,
        })),
      };
    }),
  };
}

/** What is left of earlier periods, for a budget with rollover. */
function carriedJson(budget: Budget, { name }: CalendarPeriod): Record<string, unknown> {
  if (budget.rollover === undefined) return {};
  return {
    /** The part of the amount that is left of earlier periods. */
    carried: decimalOfWhole(carriedIn(budget, name), usdDecimals),
    /** False if costs of earlier periods may still change it. */
    isCarriedFinal: budget.carried?.get(name)?.isFinal ?? true,
    planned: decimalOfWhole(plannedIn(budget, name), usdDecimals),
  };
}

/** The parts of a shared budget, and what belongs to none of them. */
function partsJson(budget: Budget, { period, spent, parts = [] }: SpendNow): Record<string, unknown>[] {
  const others = othersOf(spent, parts);
  const all = [...parts.map((part) => ({ ...part, isOther: false })), { name: null, spent: others, isOther: true }];
  return all.map((part) => ({
    name: part.name,
    spent: part.spent === undefined ? null : decimalOfWhole(part.spent, usdDecimals),
    /** Percent of the budget's amount. */
    share: part.spent === undefined ? null : shareOf(budget, period, part.spent),
  }));
}

/** The spend of a shared budget in none of its parts; undefined if unknown. */
export function othersOf(spent: bigint | undefined, parts: readonly PartSpend[]): bigint | undefined {
  if (spent === undefined || parts.some((part) => part.spent === undefined)) return undefined;
  return parts.reduce((rest, part) => rest - (part.spent ?? 0n), spent);
}

/** Whether a threshold is reached; null if unknown. */
function isThresholdReached(
  budget: Budget,
  threshold: Threshold,
  { period, spent }: SpendNow,
  forecast: ScopeForecast['forecast'],
): boolean | null {
  if (spent === undefined) return null;
  if (threshold.of === 'spent' || isReached(budget, threshold, period, spent)) {
    return isReached(budget, threshold, period, spent);
  }
  return forecast.kind === 'none' ? null : isReached(budget, threshold, period, forecast.mean);
}

/** Days until a period ends, to a tenth. */
function daysLeft(end: Instant, now: Instant): number {
  return Math.floor(((end - now) / dayMs) * 10) / 10;
}

/** The most important columns, which a narrow terminal shows. */
const importantColumns = ['budget', 'USD spent', 'of USD', 'state', '%', 'USD forecast', 'period', 'lately'];

/** The spend of every budget, as a table and sentences. */
export function describeBudgets(lines: readonly BudgetNow[], now: Instant, layout: TableLayout): string {
  const amount = (usd: bigint) => (layout.isExact === true ? decimalOfWhole(usd, usdDecimals) : cents(usd));
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const hasBars = layout.width !== undefined && lines.some(({ recent }) => recent !== undefined);
  const table = formatTable(
    [
      ...[text('budget'), text('period'), number('USD spent'), number('of USD'), number('%'), number('days left')],
      ...[number('USD a day'), number('USD forecast'), text('state')],
      ...(hasBars ? [text('lately')] : []),
      text('complete through'),
    ],
    lines.flatMap(({ budget, spend, forecast, recent, state }) => {
      const { period, spent, burnRate, completeThrough } = spend;
      const row = [
        budget.name,
        period.name,
        spent === undefined ? 'not known' : amount(spent),
        amount(amountIn(budget, period.name)),
        spent === undefined ? undefined : shareOf(budget, period, spent),
        daysLeft(period.end, now).toFixed(1),
        burnRate === undefined ? 'not known' : amount(burnRate.perDay),
        forecast.kind === 'none' ? 'none' : amount(forecast.mean),
        state ?? 'not known',
        ...(hasBars ? [recent && sparkline(recent.values)] : []),
        completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough),
      ];
      return [row, ...partRows(budget, spend, amount).map((cells) => row.map((_, column) => cells[column]))];
    }),
    { ...layout, important: importantColumns },
  );
  const burning = new Map(
    lines.flatMap(({ budget, spend: { burnRate } }) => {
      if (burnRate === undefined) return [];
      return [[budget.name, `${hoursIn(burnRate)} complete hours ${formatWindow(burnRate)}`] as const];
    }),
  );
  const computed = [...new Set(burning.values())].map((hours) => {
    const names = [...burning].filter(([, own]) => own === hours).map(([name]) => name);
    return `USD a day${names.length === lines.length ? '' : ` of ${names.join(', ')}`}: of the last ${hours}`;
  });
  const bars = hasBars ? [barsOf(lines)] : [];
  const words = [...bars, ...describeCarried(lines), ...describeSince(lines), ...computed, ...describeForecasts(lines)];
  return [table, ...words.map((sentence) => wrapped(sentence, layout))].join('\n');
}

/** A row for each part of a shared budget: its name, the period, its spend, and its share of the amount. */
function partRows(
  budget: Budget,
  { period, spent, parts }: SpendNow,
  amount: (usd: bigint) => string,
): (string | undefined)[][] {
  if (parts === undefined) return [];
  const others = othersOf(spent, parts);
  const rest = others === undefined || others === 0n ? [] : [{ name: '(others)', spent: others }];
  return [...parts, ...rest].map((part) => [
    `- ${part.name}`,
    period.name,
    part.spent === undefined ? 'not known' : amount(part.spent),
    undefined,
    part.spent === undefined ? undefined : shareOf(budget, period, part.spent),
  ]);
}

/** Amounts that include what is left of earlier periods. */
function describeCarried(lines: readonly BudgetNow[]): string[] {
  return lines.flatMap(({ budget, spend: { period } }) => {
    const carried = carriedIn(budget, period.name);
    if (carried === 0n) return [];
    const may =
      budget.carried?.get(period.name)?.isFinal === false ? '; costs of earlier periods may still change it' : '';
    return [
      `${budget.name}: ${cents(amountIn(budget, period.name))} USD in ${period.name} include ${cents(carried)} USD left from earlier periods${may}`,
    ];
  });
}

/** What the bars show. */
function barsOf(lines: readonly BudgetNow[]): string {
  const hourly = lines.filter(({ recent }) => recent?.stepHours === 1).map(({ budget }) => budget.name);
  return `lately: costs of the last 14 complete days${hourly.length === 0 ? '' : `, hours for ${hourly.join(', ')}`}; each line has its own scale`;
}

/** The part of each spend in incomplete hours, which a forecast does not count as spent. */
function describeSince(lines: readonly BudgetNow[]): string[] {
  const parts = lines.flatMap(({ budget, spend: { spentSince = 0n } }) =>
    spentSince === 0n ? [] : [`${cents(spentSince)} of ${budget.name}`],
  );
  if (parts.length === 0) return [];
  return [`USD spent includes hours after complete through, whose costs may still grow: ${parts.join(', ')}`];
}

/** Sentences about forecasts: which budgets will be exceeded and when, and why a forecast is missing. */
function describeForecasts(lines: readonly BudgetNow[]): string[] {
  const sentences = lines.flatMap(({ budget, spend: { period }, forecast, exceedsOn }) => {
    if (forecast.kind === 'none' || exceedsOn === undefined) return [];
    const alerts = isForecastAsked(budget)
      ? ''
      : '; no alert, as it has no threshold such as { at: 100%, of: forecast }';
    return [`${forecastSentence(budget, period, forecast, exceedsOn)}${alerts}`];
  });
  const reasons = lines.flatMap(({ forecast }) => (forecast.kind === 'none' ? [forecast.reason] : []));
  const none = [...new Set(reasons)].map((reason) => {
    const names = lines.flatMap(({ budget, forecast }) =>
      forecast.kind === 'none' && forecast.reason === reason ? [budget.name] : [],
    );
    return `no forecast of ${names.join(', ')}: ${reason}`;
  });
  const isFitted = lines.some(({ forecast }) => forecast.kind === 'forecast');
  const basis = isFitted
    ? ['USD forecast: each budget has its own forecast, so the parts of a budget do not add up to it']
    : [];
  return [
    ...basis,
    ...sentences,
    ...describeChanges(lines.map(({ budget, forecast }) => ({ name: budget.name, forecast }))),
    ...none,
  ];
}
