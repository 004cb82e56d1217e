import { textOrUndefined } from '../../tables/optional-text.ts';
import { formatInstant, type Instant, type Window } from '../../time/time.ts';
import type { JournalEvent } from '../journal/journal-events.ts';
import type { Reconciliation } from '../page.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection, SqlParameters } from '../store/connection.ts';

/** Hours of a window in which the rows of a billing dimension and the control differ. */
export interface DifferingHours {
  readonly billingDimension: string | undefined;
  readonly hours: number;
  /** From the first of these hours to the last. */
  readonly span: Window;
  /** Ours minus theirs over those hours, USD as decimal text. */
  readonly costDifference: string;
}

/** How many decimals the platform's totals have, for cost and for usage. */
export interface TotalDecimals {
  readonly cost: number;
  readonly usage: number;
}

/** What is known about an account's totals before a window is compared with them. */
export interface TotalsKnown {
  /** The most decimals seen in them. */
  readonly decimals: TotalDecimals;
  /** An agreed tolerance in USD, which replaces the computed one. */
  readonly agreedTolerance: string | undefined;
}

/** The check used when all rows together match the detail's total, but its pages do not. */
export const allRowsMatch = 'all_rows_match_total.detail';

/** Fewest decimals that a total is assumed to have: a platform that bills in USD uses cents. */
const fewestDecimals = 2;

/** The tolerance parameters of the comparing SQL; `seen` are the decimals of the present answers. */
export function toleranceParameters(known: TotalsKnown, seen: TotalDecimals): SqlParameters {
  return {
    cost_half_unit: 0.5 * 10 ** -Math.max(fewestDecimals, known.decimals.cost, seen.cost),
    usage_half_unit: 0.5 * 10 ** -Math.max(fewestDecimals, known.decimals.usage, seen.usage),
    agreed: known.agreedTolerance ?? null,
  };
}

/** The last comparisons on a connection, failed ones first. */
export async function readReconciliations(connection: Connection): Promise<Reconciliation[]> {
  const rows = await connection.rows(await readSql('load', 'comparisons'));
  return rows.map((row) => ({
    checkCode: String(row['check_code']),
    measure: String(row['measure']),
    billingDimension: textOrUndefined(row['billing_dimension']),
    rowCount: String(row['row_count']),
    ours: String(row['ours']),
    theirs: String(row['theirs']),
    difference: String(row['difference']),
    tolerance: Number(row['tolerance']),
    proven: row['proven'] === true,
  }));
}

/** Comparisons that led to no load, as a journal event. */
export function reconciliationEvent(
  facts: {
    readonly account: string;
    readonly window: Window;
    readonly runNumber: number;
    readonly attempt: number;
    readonly seenAt: Instant;
  },
  reconciliations: readonly Reconciliation[],
): JournalEvent {
  return {
    event: 'window_reconciled',
    values: {
      account: facts.account,
      window_start: formatInstant(facts.window.start),
      window_end: formatInstant(facts.window.end),
      run_number: facts.runNumber,
      attempt: facts.attempt,
      load_number: null,
      seen_at: formatInstant(facts.seenAt),
      reconciliations: reconciliations.map(reconciliationValues),
    },
  };
}

/** A comparison as the values of an event. */
export function reconciliationValues({
  billingDimension,
  checkCode,
  rowCount,
  ...measured
}: Reconciliation): Record<string, string | number | boolean | null> {
  return { check_code: checkCode, ...measured, row_count: rowCount, billing_dimension: billingDimension ?? null };
}
