import { UsageError } from '../base/errors.ts';
import { nearest, oneOf } from '../text/choices.ts';
import { dayName, dayNamed, dayNumber, type Instant } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { AnomalyCalled, AnomalyRow, FeedbackGiven } from '../warehouse/watch/index.ts';
import type { AnomalyDetail } from './detail.ts';
import { readAccess } from './evaluate-books.ts';
import { type AnomalyFact, anomalyFacts, type KnownAnomaly } from './fact.ts';
import { feedbackKinds, feedbackOn, wholeDay } from './feedback.ts';
import { readFeedback } from './feedback-of-books.ts';
import { readKnownAnomalies } from './known.ts';
import { scopeOf } from './scope.ts';

/** An alert about an anomaly, as it was last raised. */
export type AnomalyAlert = KnownAnomaly & { readonly fact: AnomalyFact };

/**
 * The anomalies that somebody gives feedback on by a key: all parts of an alert, or one part. Throws UsageError if the key
 * names no anomaly, or if there is no feedback to take back.
 */
export async function readCalled(
  connection: Connection,
  { key, feedback, now }: { readonly key: string; readonly feedback: FeedbackGiven; readonly now: Instant },
  alerts: ReadonlyMap<string, AnomalyAlert>,
): Promise<AnomalyCalled[]> {
  const known = await readKnownAnomalies(connection, '1970-01-01');
  const rows = known.filter(({ state }) => state !== 'restated');
  const named = keysOf(key, rows, alerts);
  const own = rows.filter(({ anomaly_key }) => named.has(anomaly_key));
  if (own.length === 0) throw new UsageError(notCallable(key, rows));
  if (feedback === 'none') {
    const all = await readFeedback(connection);
    if (own.every(({ anomaly_key }) => feedbackOn(all, anomaly_key) === undefined)) {
      throw new UsageError(`--as none: there is no feedback on ${key} to take back`);
    }
  }
  const evaluated = await connection.rows(await readSql('anomalies', 'evaluated'));
  const largest = await largestDays(connection, own);
  return own.map((row) => {
    const scope = scopeOf({ ...row });
    const through = evaluated.find(({ account }) => account === scope.account)?.['evaluated_through'];
    // What is fixed today still cost something today. All else applies to the days that are not judged yet.
    const from = feedback === 'fixed' ? dayNumber(now) + 1 : dayNumber(Number(through ?? now));
    return {
      anomaly_key: row.anomaly_key,
      account: scope.account,
      workspace: scope.workspace,
      resource_type: scope.resourceType,
      billing_dimension: scope.billingDimension,
      is_up: row.is_up,
      first_day: row.first_day,
      last_day: row.last_day,
      largest_cost: wholeDay(largest.get(row.anomaly_key) ?? '0', row.expected, paceOf(row)),
      applies_from: dayName(from),
    };
  });
}

/** The pace of an anomaly that has not had a whole day: its first one is not complete, or it began in the last hours of its only one. */
function paceOf(row: AnomalyRow): string | null | undefined {
  const { hours, pace } = JSON.parse(row.detail) as Pick<AnomalyDetail, 'hours' | 'pace'>;
  return hours?.pace ?? (row.first_day === row.last_day ? pace : undefined);
}

/** The anomalies that a key stands for: of an alert, all its parts. */
function keysOf(key: string, rows: readonly AnomalyRow[], alerts: ReadonlyMap<string, AnomalyAlert>): Set<string> {
  const partKeys = (fact: AnomalyFact | undefined) => (fact?.parts ?? []).map((part) => part.key);
  const isReported = [...alerts.values()].some(({ fact }) => fact.key === key || partKeys(fact).includes(key));
  // The list of anomalies also groups what no alert has reported.
  const facts = anomalyFacts(rows, isReported ? alerts : new Map(), { notify: [], completeThroughOf: () => null });
  const present = facts.find((fact) => fact.key === key);
  return new Set([key, ...partKeys(alerts.get(key)?.fact), ...partKeys(present)]);
}

function notCallable(key: string, rows: readonly AnomalyRow[]): string {
  const guess = nearest(
    key,
    rows.map(({ anomaly_key }) => anomaly_key),
  );
  const hint = guess === undefined ? '' : ` (did you mean ${guess}?)`;
  return `--as: ${key} is no anomaly${hint}. Only an anomaly can be called ${oneOf(feedbackKinds)}: "costbook anomalies" lists open and recent ones`;
}

/** The exact cost of the largest day of each anomaly, USD. */
async function largestDays(connection: Connection, rows: readonly AnomalyRow[]): Promise<ReadonlyMap<string, string>> {
  const oldest = Math.min(...rows.map((row) => dayNamed(row.first_day)));
  const { merged } = await readAccess(connection, oldest);
  const found = await connection.rows(await readSql('anomalies', 'largest_days'), {
    anomalies: JSON.stringify(rows),
    merged,
  });
  return new Map(found.map((row) => [String(row['anomaly_key']), String(row['largest_cost'])]));
}
