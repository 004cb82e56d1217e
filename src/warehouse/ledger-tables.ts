/**
 * What an instant of the ledger is. `seen`: when the writer saw or recorded the row, or saw it end. `ran`: when a run or
 * step began or ended. `load`: seen with the load of that number; it stays as it is. `platform`: by the platform's clock.
 * `slot`: for which slot a job ran. `valid`: since and until when a state held, which is no moment of writing.
 */
type Instant = 'seen' | 'ran' | 'load' | 'platform' | 'slot' | 'valid';

/** A table of the ledger: its instants, and its rows as of one. */
export interface LedgerTable {
  readonly name: string;
  /** Its columns that say when something was written or done; its other instants are facts, such as the start of an hour. */
  readonly instants?: Readonly<Record<string, Instant>>;
  /** The rows whose instants count, where the others have those of their load. */
  readonly where?: string;
  /**
   * Its rows as of an instant: those written `from` then on, `ends` named only once they had ended. `always`: all rows.
   * `own`: by a view in `sql/as_of/ledger.sql`. `never`: only the present has the table.
   */
  readonly asOf:
    | 'always'
    | 'own'
    | 'never'
    | { readonly from: string; readonly end?: string; readonly ends?: readonly string[] };
}

/**
 * Every table of the ledger. From this list come the views as of an instant, the last instant of the books, and what is
 * corrected after a fast clock. A test holds it against DuckDB's catalog.
 */
export const ledgerTables: readonly LedgerTable[] = [
  written('accounts', 'recorded_at', 'replaced_at'),
  written('acknowledgements', 'acknowledged_at', 'ended_at'),
  written('alerts', 'raised_at', 'ended_at', ['ending', 'end_fact']),
  written('allocations', 'recorded_at', 'replaced_at'),
  written('anomalies', 'recorded_at', 'replaced_at'),
  written('anomaly_evaluations', 'recorded_at'),
  written('claims_corrected', 'recorded_at'),
  written('closed_units', 'closed_at'),
  written('closes', 'closed_at', 'reopened_at', ['reopen_reason']),
  written('deliveries', 'began_at', 'ended_at', ['tries', 'outcome', 'reason']),
  written('forecasts', 'made_at'),
  written('listings', 'read_at'),
  written('outbox', 'queued_at', 'ended_at', ['outcome']),
  {
    ...written('resources', 'recorded_at', 'ended_at', ['valid_to']),
    instants: { recorded_at: 'seen', ended_at: 'seen', valid_from: 'valid', valid_to: 'valid' },
  },
  { name: 'clocks', instants: { platform_at: 'platform' }, asOf: { from: 'platform_at' } },
  { name: 'loads', instants: { seen_at: 'load' }, asOf: 'own' },
  { name: 'restatements', instants: { seen_at: 'load' }, asOf: 'own' },
  { name: 'reconciliation', instants: { proven_at: 'seen' }, where: 'load_number is null', asOf: 'own' },
  { name: 'runs', instants: { started_at: 'ran', ended_at: 'ran' }, asOf: 'own' },
  { name: 'steps', instants: { started_at: 'ran', ended_at: 'ran' }, asOf: 'own' },
  { name: 'job_runs', instants: { slot: 'slot' }, asOf: 'own' },
  { name: 'account_runs', asOf: 'own' },
  { name: 'covered', asOf: 'own' },
  { name: 'hourly_costs', asOf: 'own' },
  // What carries no number: a name is shown with the costs that it belongs to, a unit is what the program knows today.
  { name: 'series', asOf: 'always' },
  { name: 'billing_dimensions', asOf: 'always' },
  { name: 'unit_suffixes', asOf: 'always' },
  // What has proven since is forgotten there, and no answer is better than a wrong one.
  { name: 'unproven', instants: { seen_at: 'seen' }, asOf: 'never' },
  { name: 'contradictions', instants: { seen_at: 'seen' }, asOf: 'never' },
  { name: 'journal', asOf: 'never' },
  { name: 'applied_files', asOf: 'never' },
];

/** A table whose rows are written at one instant and may end at another, with the columns that say how they ended. */
function written(name: string, from: string, end?: string, ends: readonly string[] = []): LedgerTable {
  if (end === undefined) return { name, instants: { [from]: 'seen' }, asOf: { from } };
  return { name, instants: { [from]: 'seen', [end]: 'seen' }, asOf: { from, end, ends: [...ends, end] } };
}
