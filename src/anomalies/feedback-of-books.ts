import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { FeedbackGiven } from '../warehouse/watch/index.ts';
import type { StoredFeedback } from './feedback.ts';
import { scopeOf } from './scope.ts';

/** What people said that anomalies were, oldest first. */
export async function readFeedback(connection: Connection): Promise<StoredFeedback[]> {
  const rows = await connection.rows(await readSql('anomalies', 'feedback'));
  return rows.map((row) => ({
    anomalyKey: String(row['anomaly_key']),
    scope: scopeOf(row),
    isUp: row['is_up'] === true,
    feedback: String(row['feedback']) as FeedbackGiven,
    largestCost: String(row['largest_cost']),
    appliesFrom: String(row['applies_from']),
    givenAt: String(row['given_at']),
  }));
}
