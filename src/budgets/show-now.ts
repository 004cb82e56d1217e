import { decimalOfWhole } from '../decimals.ts';
import { cents, usdDecimals } from '../money.ts';
import { formatTable, sparkline, type TableLayout, wrapped } from '../terminal/index.ts';
import { type CalendarPeriod, dayMs, formatInstant, formatWindow, hoursIn, type Instant } from '../time.ts';
import { amountIn, type Budget, type Threshold } from './budget.ts';
import type { ScopeForecast } from './forecast-rows.ts';
import { forecastSentence } from './forecast-words.ts';
import { forecastLevel } from './period-forecast.ts';
import type { SpendNow } from './spend.ts';
import { type BudgetState, isForecastAsked, isReached, limitOf, shareOf, thresholdKey } from './thresholds.ts';

/** Through when the numbers of an answer are complete and settled; null where nothing is. */
export interface CompleteThrough {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
}

/** A budget's present period. */
export interface BudgetNow {
  readonly budget: Budget;
  readonly spend: SpendNow;
  readonly forecast: ScopeForecast['forecast'];
  readonly recent: ScopeForecast['recent'];
  /** The day on which the amount is expected to be reached; undefined where it is not, or was already. */
  readonly exceedsOn: string | undefined;
  readonly state: BudgetState | undefined;
}

/** Where no forecast can be made: the books do not reach into the period yet. */
export function notBegun({ name }: CalendarPeriod, completeThrough: Instant | undefined): ScopeForecast['forecast'] {
  const through = completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough);
  return { kind: 'none', reason: `the books are complete through ${through}, before ${name} begins` };
}

/** What is spent of every budget, as data. */
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
      const { period, spent, spentSince, burnRate, completeThrough, gaps, drivers } = spend;
      return {
        name: budget.name,
        parent: budget.parent ?? null,
        scope: budget.scope,
        period: period.name,
        periodStart: formatInstant(period.start),
        periodEnd: formatInstant(period.end),
        timeZone: budget.timeZone,
        spent: spent === undefined ? null : decimalOfWhole(spent, usdDecimals),
        /** What of it lies in hours after completeThrough, of which there may be more. */
        spentSince: spentSince === undefined ? null : decimalOfWhole(spentSince, usdDecimals),
        amount: decimalOfWhole(amountIn(budget, period.name), usdDecimals),
        /** Percent of the amount. */
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
                /** Day on which the amount is expected to be reached, by the budget's clocks. */
                exceedsOn: exceedsOn ?? null,
                model: forecast.model,
              },
        noForecastReason: forecast.kind === 'none' ? forecast.reason : null,
        completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
        gaps,
        /** The resources that cost most of it. */
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

/** Whether a threshold is reached; null where it is not known. */
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

/** Columns of the table by what a reader asks first. */
const importantColumns = ['budget', 'USD spent', 'of USD', 'state', '%', 'USD forecast', 'period', 'lately'];

/** What is spent of every budget, as a table and sentences. */
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
    lines.map(({ budget, spend: { period, spent, burnRate, completeThrough }, forecast, recent, state }) => [
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
    ]),
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
  const words = [...bars, ...describeSince(lines), ...computed, ...describeForecasts(lines)];
  return [table, ...words.map((sentence) => wrapped(sentence, layout))].join('\n');
}

/** What the bars are of. */
function barsOf(lines: readonly BudgetNow[]): string {
  const hourly = lines.filter(({ recent }) => recent?.stepHours === 1).map(({ budget }) => budget.name);
  return `lately: cost of the last 14 complete days${hourly.length === 0 ? '' : `, hours for ${hourly.join(', ')}`}; each line has its own scale`;
}

/** What of the spends lies in hours that are not complete yet: a forecast does not count them as spent. */
function describeSince(lines: readonly BudgetNow[]): string[] {
  const parts = lines.flatMap(({ budget, spend: { spentSince = 0n } }) =>
    spentSince === 0n ? [] : [`${cents(spentSince)} of ${budget.name}`],
  );
  if (parts.length === 0) return [];
  return [`USD spent: also in hours after complete through, of which there may be more: ${parts.join(', ')}`];
}

/** What is worth saying of forecasts: of budgets that will be exceeded when, and why there is none. */
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
  const basis = isFitted ? ['USD forecast: of each budget by itself, so parts do not add up to their whole'] : [];
  return [...basis, ...sentences, ...none];
}
