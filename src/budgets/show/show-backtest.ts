import { moneyOf, moneyText, shownAmount } from '../../money/money.ts';
import { formatTable, type TableLayout, wrapped } from '../../terminal/index.ts';
import { times } from '../../text/counted.ts';
import { type CalendarPeriod, formatInstant, formatWindow, type Instant } from '../../time/time.ts';
import type { ScopeForecast } from '../forecasts/forecast-rows.ts';
import { amountIn, type Budget, unitOf } from '../rules/budget.ts';
import { isForecastAsked, shareOf, stateOf } from '../spend/thresholds.ts';
import type { BudgetBacktest } from './backtest.ts';
import type { CompleteThrough } from './show-now.ts';

/** A back-test of a budget as data. `present` is the forecast of the running period. */
export function backtestToJson(
  budget: Budget,
  { from, recordedSince, periods, events }: BudgetBacktest,
  present: ScopeForecast | undefined,
  state: CompleteThrough,
  now: Instant,
): Record<string, unknown> {
  const forecastOf = ({ start }: CalendarPeriod) => (start === present?.period.start ? present.forecast : undefined);
  return {
    budget: budget.name,
    unit: unitOf(budget),
    from: formatInstant(from),
    to: formatInstant(now),
    recordedSince: recordedSince === undefined ? null : formatInstant(recordedSince),
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    events: events.map(({ at, kind: _, ...event }) => ({
      day: dayOf(at),
      at: formatInstant(at),
      ...event,
      wasRecorded: wasRecorded(at, recordedSince),
    })),
    periods: periods.map(({ period, spent, gaps }) => ({
      period: period.name,
      start: formatInstant(period.start),
      end: formatInstant(period.end),
      spent: spent === undefined ? null : moneyText(spent),
      amount: moneyText(amountIn(budget, period.name)),
      share: spent === undefined ? null : shareOf(budget, period, spent),
      state: stateOf(budget, period, { spent }, forecastOf(period)) ?? null,
      gaps,
    })),
  };
}

/** A back-test of a budget as a table and sentences. */
export function describeBacktest(
  budget: Budget,
  { from, recordedSince, periods, events }: BudgetBacktest,
  now: Instant,
  layout: TableLayout,
): string {
  const unit = unitOf(budget);
  const then = `${unit} then`;
  const shown = (decimal: string) => shownAmount(moneyOf(decimal), unit);
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const table = formatTable(
    [
      ...[text('day'), text('threshold'), text('severity'), text('what'), text('period')],
      ...[number(then), number('limit'), text('complete through')],
    ],
    events.map(({ at, threshold, of, severity, state, period, value, forecast, limit, completeThrough }) => [
      `${dayOf(at)}${wasRecorded(at, recordedSince) ? '' : ' *'}`,
      of === undefined ? threshold : `${threshold} of ${of}`,
      severity,
      whatHappens[state],
      period,
      shown(forecast?.value ?? value),
      shown(limit),
      completeThrough ?? 'nothing yet',
    ]),
    { ...layout, important: ['day', 'threshold', 'what', then, 'limit', 'severity', 'period'] },
  );
  const count = (state: string) => events.filter((event) => event.state === state).length;
  const known = periods.filter(({ spent }) => spent !== undefined).length;
  const over = periods.filter(({ period, spent }) => stateOf(budget, period, { spent }) === 'EXCEEDED').length;
  const sentences = [
    `${budget.name} over ${formatWindow({ start: from, end: now })}: fires ${times(count('raised'))}, resolves ` +
      `${times(count('resolved'))}; exceeded in ${over} of ${known} periods with known costs.`,
  ];
  if (events.some(({ at }) => !wasRecorded(at, recordedSince))) {
    sentences.push(
      `* The books were updated daily from ${recordedSince === undefined ? 'no day' : formatInstant(recordedSince)} on; costs ` +
        'before that count as known once their hour was over.',
    );
  }
  const { owner, label } = budget.scope;
  if (isForecastAsked(budget)) {
    sentences.push(`A forecast is the one that Costbook would have made then, in ${unit} for the whole period.`);
  }
  if (owner !== undefined || label !== undefined) {
    sentences.push(
      `${owner === undefined ? 'Labels' : 'Owners'} are the current ones of each hour${owner === undefined ? '' : '; an owner has its share of shared cost over the whole month'}.`,
    );
  }
  for (const { period, spent, gaps } of periods) {
    if (spent === undefined || gaps.length === 0) continue;
    sentences.push(`${period.name} is incomplete: ${gaps.join('; ')}.`);
  }
  return [...(events.length === 0 ? [] : [table]), ...sentences.map((words) => wrapped(words, layout))].join('\n');
}

const whatHappens = { raised: 'fires', resolved: 'resolves', reached: 'comes true' } as const;

/** The UTC day that ends at an instant, or that contains it. */
export function dayOf(at: Instant): string {
  return formatInstant(at - 1).slice(0, 10);
}

/** Whether the books recorded at that instant what they knew, so that it needs no assumption. */
export function wasRecorded(at: Instant, recordedSince: Instant | undefined): boolean {
  return recordedSince !== undefined && at >= recordedSince;
}
