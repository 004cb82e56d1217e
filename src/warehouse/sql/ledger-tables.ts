/**
 * The meaning of an instant in the ledger. `seen`: when the writer saw or recorded the row, or saw it end. `ran`: when
 * a run or step started or ended. `load`: the instant of the load with that number, which never changes. `platform`: by
 * the platform's clock. `slot`: the scheduled time of a job run. `valid`: from and until when a state was true; it is
 * not the time of writing.
 */
type Instant = 'seen' | 'ran' | 'load' | 'platform' | 'slot' | 'valid';

/** A table of the ledger: its instants, and how to read its rows as of an instant. */
export interface LedgerTable {
  readonly name: string;
  /**
   * The columns with the time at which something was written or done. Other instants are facts, such as the start of an
   * hour.
   */
  readonly instants?: Readonly<Record<string, Instant>>;
  /** The rows with instants of their own, if the others have those of their load. */
  readonly where?: string;
  /**
   * How to read its rows as of an instant: those written up to then by the column `from`; the columns `ends` are null
   * until they happened. `always`: all rows. `own`: a view in `sql/as_of/ledger.sql`. `never`: only the current books
   * have the table.
   */
  readonly asOf:
    | 'always'
    | 'own'
    | 'never'
    | { readonly from: string; readonly end?: string; readonly ends?: readonly string[] };
}

/**
 * Every table of the ledger. The as-of views, the last instant of the books, and the correction of a fast clock are
 * derived from this list. A test compares it with DuckDB's catalog.
 */
export const ledgerTables: readonly LedgerTable[] = [
  written('accounts', 'recorded_at', 'replaced_at'),
  written('acknowledgements', 'acknowledged_at', 'ended_at'),
  written('alert_feedback', 'given_at'),
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
  written('platform_lists', 'read_at'),
  written('outbox', 'queued_at', 'ended_at', ['outcome']),
  {
    ...written('resources', 'recorded_at', 'ended_at', ['valid_to']),
    instants: { recorded_at: 'seen', ended_at: 'seen', valid_from: 'valid', valid_to: 'valid' },
  },
  written('resource_use', 'recorded_at'),
  written('job_executions', 'read_at'),
  written('resource_events', 'recorded_at'),
  written('resource_runtimes', 'recorded_at'),
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
  // These contain no amounts: a name is shown with its costs, and a unit is what the program knows today.
  { name: 'series', asOf: 'always' },
  { name: 'billing_dimensions', asOf: 'always' },
  { name: 'unit_suffixes', asOf: 'always' },
  // Proven windows are removed from it, so past states are unknown; no answer is better than a wrong one.
  { name: 'unproven', instants: { seen_at: 'seen' }, asOf: 'never' },
  { name: 'contradictions', instants: { seen_at: 'seen' }, asOf: 'never' },
  { name: 'journal', asOf: 'never' },
  { name: 'applied_files', asOf: 'never' },
  // What a night knows of the hours of each series without reading them.
  { name: 'series_hours', asOf: 'never' },
  // What runs have computed for the present state.
  { name: 'cached_answers', instants: { made_at: 'seen' }, asOf: 'never' },
];

/** The tables that loads or the program itself write; the journal writes all others. */
const notJournaled: readonly string[] = [
  'applied_files',
  'billing_dimensions',
  'covered',
  'hourly_costs',
  'journal',
  'cached_answers',
  'loads',
  'restatements',
  'series',
  'series_hours',
  'unit_suffixes',
];

/** The tables that the journal writes; of `reconciliation`, the rows without a load. */
export const journaledTables: readonly LedgerTable[] = ledgerTables.filter(({ name }) => !notJournaled.includes(name));

/** A table whose rows are written at one instant and may end at another, with the columns that describe the end. */
function written(name: string, from: string, end?: string, ends: readonly string[] = []): LedgerTable {
  if (end === undefined) return { name, instants: { [from]: 'seen' }, asOf: { from } };
  return { name, instants: { [from]: 'seen', [end]: 'seen' }, asOf: { from, end, ends: [...ends, end] } };
}
