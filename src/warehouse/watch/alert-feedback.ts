import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';

/** What somebody says that an anomaly was; none takes earlier feedback back. */
export type FeedbackGiven = 'expected' | 'fixed' | 'false' | 'none';

/** An anomaly at the time of its feedback; days are `2026-10-03`. */
export interface AnomalyCalled {
  readonly anomaly_key: string;
  readonly account: string;
  readonly workspace: string | null;
  readonly resource_type: string | null;
  readonly billing_dimension: string | null;
  readonly is_up: boolean;
  readonly first_day: string;
  readonly last_day: string;
  /** Cost of its largest day in USD, decimal text. */
  readonly largest_cost: string;
  /** The first day that the feedback applies to. */
  readonly applies_from: string;
}

/** What somebody says about an alert: about each of its anomalies. */
export interface AlertFeedback {
  readonly key: string;
  readonly feedback: FeedbackGiven;
  readonly anomalies: readonly AnomalyCalled[];
  readonly runNumber: number;
  readonly at: Instant;
}

/** Writes feedback to journal and ledger. */
export function recordFeedback(recorder: Recorder, given: AlertFeedback): Promise<void> {
  return recorder.record({
    event: 'alert_feedback_given',
    values: {
      alert_key: given.key,
      feedback: given.feedback,
      anomalies: given.anomalies.map((anomaly) => ({ ...anomaly })),
      run_number: given.runNumber,
      given_at: formatInstant(given.at),
    },
  });
}
