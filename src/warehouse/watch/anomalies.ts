import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';

/** An anomaly as the ledger stores it; days are `2026-10-03`, USD decimal text. */
export interface AnomalyRow {
  readonly anomaly_key: string;
  readonly account: string;
  readonly workspace: string | null;
  readonly resource_type: string | null;
  readonly billing_dimension: string | null;
  readonly kind: string;
  readonly is_up: boolean;
  readonly first_day: string;
  readonly seen_day: string;
  readonly last_day: string;
  readonly notified_day: string | null;
  readonly state: 'open' | 'over' | 'usual' | 'grown' | 'restated';
  readonly ended_day: string | null;
  readonly cost: string;
  readonly expected: string;
  readonly expected_low: string;
  readonly expected_high: string;
  readonly impact: string;
  readonly price_ratio: number | null;
  readonly severity: string;
  readonly is_notified: boolean;
  /** JSON. */
  readonly detail: string;
}

/** Everything that an evaluation of anomalies changes, written in one transaction. */
export interface AnomalyEvaluation {
  readonly runNumber: number;
  readonly at: Instant;
  /** New anomalies, and those whose state changed. */
  readonly anomalies: readonly AnomalyRow[];
  /** The instant through which each account was evaluated. */
  readonly accounts: readonly {
    readonly account: string;
    readonly evaluatedThrough: Instant;
    readonly loadNumber: number;
  }[];
}

/** Writes an evaluation of anomalies to journal and ledger; does nothing if it changes nothing. */
export async function recordAnomalies(recorder: Recorder, evaluation: AnomalyEvaluation): Promise<void> {
  const { anomalies, accounts } = evaluation;
  if (anomalies.length === 0 && accounts.length === 0) return;
  await recorder.record({
    event: 'anomalies_evaluated',
    values: {
      run_number: evaluation.runNumber,
      at: formatInstant(evaluation.at),
      changed: anomalies.map(({ anomaly_key }) => anomaly_key),
      anomalies: anomalies.map((row) => ({ ...row })),
      accounts: accounts.map(({ account, evaluatedThrough, loadNumber }) => ({
        account,
        evaluated_through: formatInstant(evaluatedThrough),
        load_number: loadNumber,
      })),
    },
  });
}
