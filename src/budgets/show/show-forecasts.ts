import { moneyText, shownAmount, usdUnit } from '../../money/money.ts';
import { forecastLevel } from '../../outlook/index.ts';
import { formatTable, type TableLayout, wrapped } from '../../terminal/index.ts';
import { counted } from '../../text/counted.ts';
import { formatInstant } from '../../time/time.ts';
import { describeOrigins, originJson } from '../forecasts/cached-forecasts.ts';
import { exceedsOnOf, forecastRow, type ScopeForecast } from '../forecasts/forecast-rows.ts';
import { anomalyJson, describeAnomalies } from '../forecasts/going-on.ts';
import { unitOf } from '../rules/budget.ts';
import { changeJson, describeChanges } from '../rules/planned-change.ts';
import type { CompleteThrough } from './show-now.ts';

/** Forecasts as data. */
export function forecastsToJson(
  forecasts: readonly ScopeForecast[],
  state: CompleteThrough & { readonly asOf: string | null },
): Record<string, unknown> {
  return {
    asOf: state.asOf,
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    level: forecastLevel,
    forecasts: forecasts.map((one) => {
      const { scope, periodKind, period, completeThrough, spent, amount, forecast } = one;
      const made = forecast.kind === 'forecast' ? forecast : undefined;
      const usd = (value: bigint | undefined) => (value === undefined ? null : moneyText(value));
      return {
        ...(scope.kind === 'budget'
          ? { kind: 'budget', budget: scope.budget.name }
          : {
              kind: 'workspace',
              account: scope.account,
              workspace: scope.workspace,
              resourceType: scope.resourceType,
            }),
        periodKind,
        period: period.name,
        periodStart: formatInstant(period.start),
        periodEnd: formatInstant(period.end),
        completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
        spent: usd(spent),
        forecast: usd(made?.mean),
        low: usd(made?.low),
        high: usd(made?.high),
        amount: usd(amount),
        unit: unitOfForecast(one),
        exceedsOn: exceedsOnOf(one) ?? null,
        reason: forecast.kind === 'none' ? forecast.reason : null,
        model: made?.model ?? null,
        transform: made?.transform ?? null,
        seasons: made?.seasons ?? null,
        step: forecastRow(one)?.step ?? null,
        historyStart: made === undefined ? null : formatInstant(made.history.start),
        historyEnd: made === undefined ? null : formatInstant(made.history.end),
        observations: made?.observations ?? null,
        backtest: made?.backtest ?? null,
        notes: made?.notes ?? [],
        /** The run that stored it; null if it was computed now. */
        storedBy: originJson(one.origin),
        ...(made?.changes === undefined ? {} : { changes: made.changes.map(changeJson) }),
        ...(made?.anomalies === undefined ? {} : { anomalies: made.anomalies.map(anomalyJson) }),
      };
    }),
  };
}

/** Of all amounts of a forecast: USD, or the unit of its budget. */
function unitOfForecast({ scope }: ScopeForecast): string {
  return scope.kind === 'budget' ? unitOf(scope.budget) : usdUnit;
}

function nameOf({ scope }: ScopeForecast): string {
  if (scope.kind === 'budget') return scope.budget.name;
  return `${scope.workspace ?? '(no workspace)'} / ${scope.resourceType ?? '(no type)'}`;
}

/** Budgets in the order of their file, then workspaces and resource types by forecast, largest first. */
function dearestFirst(forecasts: readonly ScopeForecast[]): ScopeForecast[] {
  const meanOf = ({ forecast }: ScopeForecast) => (forecast.kind === 'none' ? 0n : forecast.mean);
  const budgets = forecasts.filter(({ scope }) => scope.kind === 'budget');
  const others = forecasts.filter(({ scope }) => scope.kind !== 'budget');
  return [...budgets, ...others.toSorted((a, b) => Number(meanOf(b) - meanOf(a)))];
}

/** The model for people: `trend of 26 weeks and 2 others, from 182 days`. */
function modelOf({ forecast }: ScopeForecast): string {
  if (forecast.kind === 'none') return '';
  const { observations, stepHours } = forecast;
  const [model = '', more] = forecast.model.split('+');
  const [step, cycle] = stepHours === 1 ? ['hour', 'day'] : ['day', 'week'];
  const [, kind = '', cycles = ''] = /^(level|median|trend)-(\d+)/.exec(model) ?? [];
  const named = model === 'seasonal-naive' ? `the last ${cycle} again` : (modelWords[model] ?? model);
  const words = kind === '' ? named : `${kind} of ${counted(Number(cycles), cycle)}`;
  const others = more === undefined ? '' : ` and ${counted(Number(more), 'other')}`;
  return `${words}${others}, from ${counted(observations, step)}`;
}

/** Models without a length. */
const modelWords: Readonly<Record<string, string>> = {
  smoothed: 'smoothed level',
  'level-since-change': 'level since it changed',
  lags: 'newest hours, with those a day and a week before',
  'last-cycle-drift-0.5': 'last day with half of the daily change',
  'last-cycle-drift-1': 'last day with the daily change',
  stopped: 'no further cost',
};

/** Forecasts as a table and sentences. */
export function describeForecasts(forecasts: readonly ScopeForecast[], layout: TableLayout): string {
  if (forecasts.length === 0) return 'Nothing to forecast: the books have no recent costs.';
  const isUsd = forecasts.every((one) => unitOfForecast(one) === usdUnit);
  const [spentColumn, ofColumn] = isUsd ? ['USD spent', 'of USD'] : ['spent', 'amount'];
  const accounts = new Set(forecasts.flatMap(({ scope }) => (scope.kind === 'workspace' ? [scope.account] : [])));
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const table = formatTable(
    [
      ...(accounts.size > 1 ? [text('account')] : []),
      ...[text('of'), text('period'), number(spentColumn), number('forecast'), number('low'), number('high')],
      ...(isUsd ? [] : [text('unit')]),
      ...[number(ofColumn), text('exceeds on'), text('model'), text('complete through')],
    ],
    dearestFirst(forecasts).map((one) => {
      const { scope, period, completeThrough, spent, amount: limit, forecast } = one;
      const made = forecast.kind === 'forecast' ? forecast : undefined;
      const amount = (whole: bigint) =>
        layout.isExact === true ? moneyText(whole) : shownAmount(whole, unitOfForecast(one));
      const isOver = spent !== undefined && limit !== undefined && spent >= limit;
      return [
        ...(accounts.size > 1 ? [scope.kind === 'workspace' ? scope.account : ''] : []),
        nameOf(one),
        period.name,
        spent === undefined ? 'not known' : amount(spent),
        made === undefined ? 'none' : amount(made.mean),
        made === undefined ? undefined : amount(made.low),
        made === undefined ? undefined : amount(made.high),
        ...(isUsd ? [] : [unitOfForecast(one)]),
        limit === undefined ? undefined : amount(limit),
        isOver ? 'exceeded' : (exceedsOnOf(one) ?? ''),
        modelOf(one),
        completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough),
      ];
    }),
    { ...layout, important: ['of', 'forecast', 'unit', ofColumn, 'exceeds on', 'period', 'low', 'high', spentColumn] },
  );
  const reasons = new Map<string, string[]>();
  for (const one of forecasts) {
    if (one.forecast.kind === 'forecast') continue;
    reasons.set(one.forecast.reason, [...(reasons.get(one.forecast.reason) ?? []), nameOf(one)]);
  }
  const named = dearestFirst(forecasts).map((one) => ({ name: nameOf(one), forecast: one.forecast }));
  return [
    table,
    ...[
      `${spentColumn}: in complete hours. forecast: ${isUsd ? 'USD ' : ''}of the whole period. low, high: ${forecastLevel} of 100 periods should end between them. Each line has its own forecast, so lines do not add up.`,
      ...describeChanges(named),
      ...describeAnomalies(named),
      ...[...reasons].map(([reason, names]) => `no forecast of ${names.join(', ')}: ${reason}`),
      ...describeOrigins(dearestFirst(forecasts).map((one) => ({ name: nameOf(one), origin: one.origin }))),
    ].map((words) => wrapped(words, layout)),
  ].join('\n');
}
