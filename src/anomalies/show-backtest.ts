import { type CompleteThrough, dayOf, wasRecorded } from '../budgets/show/index.ts';
import { cents } from '../money/money.ts';
import { formatTable, type TableLayout, wrapped } from '../terminal/index.ts';
import { counted, times } from '../text/counted.ts';
import { dayMs, formatInstant, formatWindow, type Instant } from '../time/time.ts';
import type { AnomalyBacktest } from './backtest.ts';
import type { AnomalyRules } from './rules.ts';

/** A back-test of the anomaly rules as data. */
export function anomaliesToJson(
  { from, recordedSince, scopes, excluded, events }: AnomalyBacktest,
  { isOn, minAmount, minShare, minDays, notify }: AnomalyRules,
  state: CompleteThrough,
  now: Instant,
): Record<string, unknown> {
  return {
    from: formatInstant(from),
    to: formatInstant(now),
    recordedSince: recordedSince === undefined ? null : formatInstant(recordedSince),
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    // Without the holidays, which the configuration shows.
    rules: { isOn, minAmount, minShare, minDays, notify },
    scopes,
    excluded,
    events: events.map(({ at, ...event }) => ({
      day: dayOf(at),
      at: formatInstant(at),
      ...event,
      what: happenings[event.what],
      notice: event.what,
      wasRecorded: wasRecorded(at, recordedSince),
    })),
  };
}

/** The event of an anomaly's alert for each notice: the words of `budgets backtest --anomalies --json`. */
const happenings: Readonly<Record<AnomalyBacktest['events'][number]['what'], string>> = {
  first: 'raised',
  worse: 'escalated',
  continues: 'escalated',
  reminder: 'reminded',
  unfixed: 'escalated',
  over: 'resolved',
  usual: 'resolved',
};

/** A back-test of the anomaly rules as a table and sentences. */
export function describeAnomalies(
  { from, recordedSince, scopes, excluded, events }: AnomalyBacktest,
  rules: AnomalyRules,
  now: Instant,
  layout: TableLayout,
): string {
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const table = formatTable(
    [
      ...['day', 'what', 'severity', 'workspace', 'resource type', 'billing dimension', 'since'].map(text),
      ...['USD', 'expected', 'impact'].map(number),
    ],
    events.map((event) => [
      `${dayOf(event.at)}${wasRecorded(event.at, recordedSince) ? '' : ' *'}`,
      event.what === 'first'
        ? `${event.kind}${event.kind === 'step' ? (event.isUp ? ' up' : ' down') : ''}`
        : event.what,
      event.severity,
      event.workspace ?? '(none)',
      event.resourceType ?? '(none)',
      event.billingDimension ?? '(none)',
      event.firstDay,
      cents(event.cost),
      cents(event.expected),
      cents(event.impact),
    ]),
    layout,
  );
  const found = events.filter(({ what }) => what === 'first').length;
  const again = events.filter(({ what }) => !['first', 'lookback', 'usual'].includes(what)).length;
  const months = (now - from) / (30 * dayMs);
  const sentences = [
    `Anomalies over ${formatWindow({ start: from, end: now })}, of at least ${rules.minAmount} USD and ` +
      `${Math.round(rules.minShare * 100)} % a day: ${counted(found, 'anomaly', 'anomalies')} in ${scopes} scopes, ` +
      `${(found / Math.max(months, 1 / 30)).toFixed(1)} in 30 days; reported again ${times(again)}.`,
    ...(excluded === 0
      ? []
      : [`Left out, because exclusions of whole places cover them: ${counted(excluded, 'notification')}.`]),
    ...(rules.isOn ? [] : ['They are not enabled: "costbook alert" reports none of them.']),
  ];
  if (events.some(({ at }) => !wasRecorded(at, recordedSince))) {
    sentences.push(
      `* The books were updated daily from ${recordedSince === undefined ? 'no day' : formatInstant(recordedSince)} on; costs ` +
        'before that count as known once their hour was over.',
    );
  }
  return [...(events.length === 0 ? [] : [table]), ...sentences.map((words) => wrapped(words, layout))].join('\n');
}
