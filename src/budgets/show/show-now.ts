import { inUnit, moneyText, shownAmount, trimmedDecimal, usdUnit } from '../../money/money.ts';
import { forecastLevel } from '../../outlook/index.ts';
import { formatTable, sparkline, type TableLayout, wrapped } from '../../terminal/index.ts';
import {
  type CalendarPeriod,
  dayMs,
  formatInstant,
  formatSecond,
  formatWindow,
  hourMs,
  hoursIn,
  type Instant,
  type Window,
} from '../../time/time.ts';
import { describeOrigins, originJson } from '../forecasts/cached-forecasts.ts';
import type { ScopeForecast } from '../forecasts/forecast-rows.ts';
import { forecastSentence, perWords } from '../forecasts/forecast-words.ts';
import { amountIn, type Budget, carriedIn, plannedIn, type Threshold, unitOf } from '../rules/budget.ts';
import { changeJson, describeChanges } from '../rules/planned-change.ts';
import { type EndOfBudget, endOfBudget } from '../spend/budget-end.ts';
import type { SpendNow } from '../spend/spend.ts';
import {
  type BudgetState,
  type CountedCost,
  dayIn,
  isForecastAsked,
  isReached,
  limitOf,
  type PartSpend,
  shareOf,
  thresholdKey,
} from '../spend/thresholds.ts';

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
  readonly origin?: ScopeForecast['origin'];
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
    budgets: lines.map(({ budget, spend, forecast, origin, exceedsOn, state: ofBudget }) => {
      const { period, spent, spentSince, burnRate, completeThrough, gaps, drivers, parts, dimensions, per } = spend;
      return {
        name: budget.name,
        parent: budget.parent ?? null,
        scope: budget.scope,
        period: period.name,
        periodStart: formatInstant(period.start),
        periodEnd: formatInstant(period.end),
        timeZone: budget.timeZone,
        /** Of all amounts of this budget: USD, or a unit of usage. */
        unit: unitOf(budget),
        spent: spent === undefined ? null : moneyText(spent),
        /** The part in hours after completeThrough, which may still grow. */
        spentSince: spentSince === undefined ? null : moneyText(spentSince),
        amount: moneyText(amountIn(budget, period.name)),
        ...carriedJson(budget, period),
        /** Percent of the budget's amount. */
        share: spent === undefined ? null : shareOf(budget, period, spent),
        daysLeft: daysLeft(period, completeThrough, now),
        burnRate:
          burnRate === undefined
            ? null
            : {
                perDay: moneyText(burnRate.perDay),
                from: formatInstant(burnRate.start),
                to: formatInstant(burnRate.end),
                hours: hoursIn(burnRate),
              },
        state: ofBudget ?? null,
        forecast:
          forecast.kind === 'none'
            ? null
            : {
                value: moneyText(forecast.mean),
                low: moneyText(forecast.low),
                high: moneyText(forecast.high),
                level: forecastLevel,
                /** Day on which the amount is expected to be reached, in the budget's time zone. */
                exceedsOn: exceedsOn ?? null,
                model: forecast.model,
                /** The run that stored it; null if it was computed now. */
                storedBy: originJson(origin),
                ...(forecast.changes === undefined ? {} : { changes: forecast.changes.map(changeJson) }),
              },
        noForecastReason: forecast.kind === 'none' ? forecast.reason : null,
        end: endJson(budget, endOfBudget(budget, { ...spend, forecast })),
        completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
        gaps,
        ...(dimensions === undefined ? {} : { dimensions }),
        ...(per === undefined ? {} : { per: perJson(per) }),
        ...(parts === undefined ? {} : { parts: partsJson(budget, spend) }),
        /** The most expensive resources. */
        drivers,
        thresholds: budget.thresholds.map((threshold) => ({
          key: thresholdKey(budget, period.name, threshold),
          threshold: threshold.code,
          of: threshold.of,
          severity: threshold.severity,
          limit: moneyText(limitOf(budget, threshold, period)),
          isReached: isThresholdReached(budget, threshold, spend, forecast),
          notify: threshold.notify,
        })),
      };
    }),
  };
}

/** Where the period ends, as messages say it; null if that is not known. */
function endJson(budget: Budget, end: EndOfBudget | undefined): Record<string, unknown> | null {
  if (end === undefined) return null;
  const { expected, stopped, spentAt, from } = end;
  return {
    expected: moneyText(expected),
    /** If anomalies that go on stop now; null if none goes on. */
    ifStopped: stopped === undefined ? null : moneyText(stopped),
    /** The day on which the amount will be spent, in the budget's time zone. */
    spentOn: spentAt === undefined ? null : dayIn(budget, spentAt),
    /** `forecast`, or `pace` of the complete hours if there is no forecast. */
    from,
  };
}

/** What a cost per unit is made of: costs and counts of the same days. */
function perJson({ name, count, cost, lastName }: CountedCost): Record<string, unknown> {
  return {
    name,
    count: trimmedDecimal(moneyText(count)),
    cost: moneyText(cost),
    /** The last counted day, or month. */
    through: lastName ?? null,
  };
}

/** What is left of earlier periods, for a budget with rollover. */
function carriedJson(budget: Budget, { name }: CalendarPeriod): Record<string, unknown> {
  if (budget.rollover === undefined) return {};
  return {
    /** The part of the amount that is left of earlier periods. */
    carried: moneyText(carriedIn(budget, name)),
    /** False if costs of earlier periods may still change it. */
    isCarriedFinal: budget.carried?.get(name)?.isFinal ?? true,
    planned: moneyText(plannedIn(budget, name)),
  };
}

/** The parts of a shared budget, and what belongs to none of them. */
function partsJson(budget: Budget, { period, spent, parts = [] }: SpendNow): Record<string, unknown>[] {
  const others = othersOf(spent, parts);
  const all = [...parts.map((part) => ({ ...part, isOther: false })), { name: null, spent: others, isOther: true }];
  return all.map((part) => ({
    name: part.name,
    spent: part.spent === undefined ? null : moneyText(part.spent),
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

/** Days of a period that its complete hours leave, as the spend is of these hours, to a tenth; before any, days from now. */
export function daysLeft({ start, end }: Window, completeThrough: Instant | undefined, now: Instant): number {
  const from = Math.min(end, Math.max(start, completeThrough ?? now));
  return Math.floor(((end - from) / dayMs) * 10) / 10;
}

/** The columns with amounts: of budgets in USD, and of budgets in several units. */
const usdColumns = { spent: 'USD spent', of: 'of USD', daily: 'USD a day', forecast: 'USD forecast' } as const;
const plainColumns = { spent: 'spent', of: 'of', daily: 'a day', forecast: 'forecast' } as const;
type AmountColumns = Readonly<Record<keyof typeof usdColumns, string>>;

/** The most important columns, which a narrow terminal shows. */
function importantColumns({ spent, of, forecast }: AmountColumns): readonly string[] {
  return ['budget', spent, of, 'unit', 'state', '%', forecast, 'period', 'lately'];
}

/** The spend of every budget, as a table and sentences. */
export function describeBudgets(lines: readonly BudgetNow[], now: Instant, layout: TableLayout): string {
  const amountOf = (budget: Budget) => (whole: bigint) =>
    layout.isExact === true ? moneyText(whole) : shownAmount(whole, unitOf(budget));
  const isUsd = lines.every(({ budget }) => unitOf(budget) === usdUnit);
  const columns: AmountColumns = isUsd ? usdColumns : plainColumns;
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const hasBars = layout.width !== undefined && lines.some(({ recent }) => recent !== undefined);
  const shown = [
    ...[text('budget'), text('period'), number(columns.spent), number(columns.of)],
    ...(isUsd ? [] : [text('unit')]),
    ...[number('%'), number('days left'), number(columns.daily), number(columns.forecast), text('state')],
    ...(hasBars ? [text('lately')] : []),
    text('complete through'),
  ];
  const table = formatTable(
    shown,
    lines.flatMap((line) => {
      const rows = [
        rowOf(line, columns, amountOf(line.budget), now),
        ...partRows(line, columns, amountOf(line.budget)),
      ];
      return rows.map((cells) => shown.map(({ name }) => cells[name]));
    }),
    { ...layout, important: importantColumns(columns) },
  );
  const burning = new Map(
    lines.flatMap(({ budget, spend: { burnRate } }) => {
      if (burnRate === undefined) return [];
      return [[budget.name, `${hoursIn(burnRate)} complete hours ${formatWindow(burnRate)}`] as const];
    }),
  );
  const computed = [...new Set(burning.values())].map((hours) => {
    const names = [...burning].filter(([, own]) => own === hours).map(([name]) => name);
    return `${columns.daily}${names.length === lines.length ? '' : ` of ${names.join(', ')}`}: of the last ${hours}`;
  });
  const bars = hasBars ? [barsOf(lines)] : [];
  const words = [
    ...bars,
    ...describeUsage(lines),
    ...describePer(lines),
    ...describeCarried(lines),
    ...describeSince(lines, columns),
    ...describeDaysLeft(lines, now),
    ...computed,
    ...describeForecasts(lines, columns, now),
  ];
  return [table, ...words.map((sentence) => wrapped(sentence, layout))].join('\n');
}

/** The cells of a row, by column. */
type Row = Readonly<Record<string, string | undefined>>;

function rowOf(
  { budget, spend, forecast, recent, state }: BudgetNow,
  columns: AmountColumns,
  amount: (whole: bigint) => string,
  now: Instant,
): Row {
  const { period, spent, burnRate, completeThrough, per } = spend;
  return {
    budget: budget.name,
    period: period.name,
    [columns.spent]: spent === undefined ? (per === undefined ? 'not known' : 'no counts') : amount(spent),
    [columns.of]: amount(amountIn(budget, period.name)),
    unit: unitOf(budget),
    '%': spent === undefined ? undefined : shareOf(budget, period, spent),
    'days left': daysLeft(period, completeThrough, now).toFixed(1),
    [columns.daily]: burnRate !== undefined ? amount(burnRate.perDay) : budget.per ? undefined : 'not known',
    [columns.forecast]: forecast.kind === 'none' ? 'none' : amount(forecast.mean),
    state: state ?? 'not known',
    lately: recent && sparkline(recent.values),
    'complete through': completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough),
  };
}

/** A row for each part of a shared budget: its name, the period, its spend, and its share of the amount. */
function partRows(
  { budget, spend: { period, spent, parts } }: BudgetNow,
  columns: AmountColumns,
  amount: (whole: bigint) => string,
): Row[] {
  if (parts === undefined) return [];
  const others = othersOf(spent, parts);
  const rest = others === undefined || others === 0n ? [] : [{ name: '(others)', spent: others }];
  return [...parts, ...rest].map((part) => ({
    budget: `- ${part.name}`,
    period: period.name,
    [columns.spent]: part.spent === undefined ? 'not known' : amount(part.spent),
    '%': part.spent === undefined ? undefined : shareOf(budget, period, part.spent),
  }));
}

/** What each cost per unit is made of, and through when. */
function describePer(lines: readonly BudgetNow[]): string[] {
  return lines.flatMap(({ budget, spend: { per } }) => (per === undefined ? [] : [`${budget.name}: ${perWords(per)}`]));
}

/** What budgets in a unit of usage count. */
function describeUsage(lines: readonly BudgetNow[]): string[] {
  return lines.flatMap(({ budget, spend: { dimensions = [] } }) => {
    // A scope that names them needs no words.
    if (dimensions.length === 0 || budget.scope.billing_dimension !== undefined) return [];
    const hint = dimensions.length === 1 ? '' : '; name billing_dimension in its scope to count fewer';
    return [`${budget.name} counts ${unitOf(budget)} of ${dimensions.join(', ')}${hint}`];
  });
}

/** Amounts that include what is left of earlier periods. */
function describeCarried(lines: readonly BudgetNow[]): string[] {
  return lines.flatMap(({ budget, spend: { period } }) => {
    const carried = carriedIn(budget, period.name);
    if (carried === 0n) return [];
    const may =
      budget.carried?.get(period.name)?.isFinal === false ? '; costs of earlier periods may still change it' : '';
    return [
      `${budget.name}: ${inUnit(amountIn(budget, period.name), unitOf(budget))} in ${period.name} include ${inUnit(carried, unitOf(budget))} left from earlier periods${may}`,
    ];
  });
}

/** What the bars show. */
function barsOf(lines: readonly BudgetNow[]): string {
  const hourly = lines.filter(({ recent }) => recent?.stepHours === 1).map(({ budget }) => budget.name);
  return `lately: costs of the last 14 complete days${hourly.length === 0 ? '' : `, hours for ${hourly.join(', ')}`}; each line has its own scale`;
}

/** The part of each spend in incomplete hours, which a forecast does not count as spent. */
function describeSince(lines: readonly BudgetNow[], { spent }: AmountColumns): string[] {
  const parts = lines.flatMap(({ budget, spend: { spentSince = 0n } }) =>
    spentSince === 0n ? [] : [`${shownAmount(spentSince, unitOf(budget))} of ${budget.name}`],
  );
  if (parts.length === 0) return [];
  return [`${spent} includes hours after complete through, whose costs may still grow: ${parts.join(', ')}`];
}

/** Books that are older than this are not of this morning. */
const oldMs = 36 * hourMs;

/** Since when the days are counted that are left, where that is long ago. */
function describeDaysLeft(lines: readonly BudgetNow[], now: Instant): string[] {
  const isOld = lines.some(
    ({ spend: { completeThrough, period, per } }) =>
      per === undefined && completeThrough !== undefined && completeThrough < Math.min(now - oldMs, period.end),
  );
  return isOld ? [`days left: counted from complete through, not from now, ${formatSecond(now)}`] : [];
}

/** Sentences about forecasts: which budgets will be exceeded and when, and why a forecast is missing. */
function describeForecasts(lines: readonly BudgetNow[], columns: AmountColumns, now: Instant): string[] {
  const sentences = lines.flatMap(({ budget, spend: { period }, forecast, exceedsOn }) => {
    if (forecast.kind === 'none' || exceedsOn === undefined) return [];
    const alerts = isForecastAsked(budget)
      ? ''
      : '; no alert, as it has no threshold such as { at: 100%, of: forecast }';
    return [`${forecastSentence(budget, period, forecast, exceedsOn, dayIn(budget, now))}${alerts}`];
  });
  const reasons = lines.flatMap(({ forecast }) => (forecast.kind === 'none' ? [forecast.reason] : []));
  const none = [...new Set(reasons)].map((reason) => {
    const names = lines.flatMap(({ budget, forecast }) =>
      forecast.kind === 'none' && forecast.reason === reason ? [budget.name] : [],
    );
    return `no forecast of ${names.join(', ')}: ${reason}`;
  });
  const atPace = lines.flatMap(({ budget, spend, forecast }) => {
    const end = endOfBudget(budget, { ...spend, forecast });
    return end?.from === 'pace' ? [`${budget.name} at ${inUnit(end.expected, unitOf(budget))}`] : [];
  });
  const isFitted = lines.some(({ forecast }) => forecast.kind === 'forecast');
  const basis = isFitted
    ? [`${columns.forecast}: each budget has its own forecast, so the parts of a budget do not add up to it`]
    : [];
  return [
    ...basis,
    ...sentences,
    ...describeChanges(lines.map(({ budget, forecast }) => ({ name: budget.name, forecast }))),
    ...none,
    ...(atPace.length === 0 ? [] : [`at the pace of its complete hours, a period ends: ${atPace.join(', ')}`]),
    ...describeOrigins(lines.map(({ budget, origin }) => ({ name: budget.name, origin }))),
  ];
}
