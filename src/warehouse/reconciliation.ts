import { textOrUndefined } from '../optional-text.ts';
import { formatInstant, type Instant, type Window } from '../time.ts';
import type { Connection, SqlParameters } from './connection.ts';
import type { JournalEvent } from './journal.ts';
import { readSql } from './sql-files.ts';

/** A comparison with the platform's own totals; amounts of money and usage are decimal text. */
export interface Reconciliation {
  readonly checkCode: string;
  readonly measure: string;
  readonly billingDimension: string | undefined;
  /** How many amounts of ours were added up; whole, as text. */
  readonly rowCount: string;
  readonly ours: string;
  readonly theirs: string;
  readonly difference: string;
  readonly tolerance: number;
  readonly proven: boolean;
}

/** Hours of a window in which the rows of a billing dimension and the control differ. */
export interface DifferingHours {
  readonly billingDimension: string | undefined;
  readonly hours: number;
  /** From the first to the last of them. */
  readonly span: Window;
  /** USD, decimal text: ours less theirs over those hours. */
  readonly costDifference: string;
}

/** How many decimals the platform's own totals carry, for cost and for usage. */
export interface TotalDecimals {
  readonly cost: number;
  readonly usage: number;
}

/** What is known about an account's totals before a window of it is compared with them. */
export interface TotalsKnown {
  /** The most decimals that they were seen to carry. */
  readonly decimals: TotalDecimals;
  /** A tolerance in USD that was agreed by hand stands instead of the computed one. */
  readonly agreedTolerance: string | undefined;
}

/** What is compared where the detail's pages fall short of their own total, and all rows together meet it. */
export const allRowsMatch = 'all_rows_match_total.detail';

/** Fewest decimals that a total is taken to carry, whatever we saw: a platform that bills in USD knows cents. */
const fewestDecimals = 2;

/** What the SQL that compares is told of tolerances; `seen` are the decimals of the answers at hand. */
export function toleranceParameters(known: TotalsKnown, seen: TotalDecimals): SqlParameters {
  return {
    cost_half_unit: 0.5 * 10 ** -Math.max(fewestDecimals, known.decimals.cost, seen.cost),
    usage_half_unit: 0.5 * 10 ** -Math.max(fewestDecimals, known.decimals.usage, seen.usage),
    agreed: known.agreedTolerance ?? null,
  };
}

/** The comparisons that were made last on a connection, those that failed first. */
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

/** Comparisons of which no load came, as the journal keeps them. */
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
