import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';

/** A forecast of a period as the ledger stores it: instants and dates as text, USD as decimal text. */
export interface ForecastRow {
  readonly scope_kind: 'budget' | 'workspace';
  readonly budget: string | null;
  readonly account: string | null;
  readonly workspace: string | null;
  readonly resource_type: string | null;
  /** Filter that selects the budget's costs, as JSON. */
  readonly scope: string | null;
  readonly period_kind: string;
  readonly period: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly complete_through: string;
  readonly step: string | null;
  readonly history_start: string | null;
  readonly history_end: string | null;
  readonly observations: number | null;
  readonly model: string | null;
  readonly transform: string | null;
  readonly seasons: string | null;
  readonly spent: string;
  readonly forecast: string | null;
  readonly low: string | null;
  readonly high: string | null;
  readonly folds: number | null;
  readonly mase: number | null;
  readonly smape: number | null;
  readonly coverage: number | null;
  readonly amount: string | null;
  readonly exceeds_on: string | null;
  readonly reason: string | null;
}

/** The forecasts of one run. */
export interface ForecastsMade {
  readonly runNumber: number;
  readonly at: Instant;
  /** The last load in the books when they were made. */
  readonly loadNumber: number;
  /** Confidence level of the intervals, in percent. */
  readonly level: number;
  readonly forecasts: readonly ForecastRow[];
}

/**
 * Writes forecasts to journal and ledger, except those whose last one for the same scope, period and complete-through instant
 * says the same: costs, owners and budgets may have changed since. Returns how many.
 */
export async function recordForecasts(
  connection: Connection,
  recorder: Recorder,
  { runNumber, at, loadNumber, level, forecasts }: ForecastsMade,
): Promise<number> {
  const [from] = forecasts.map(({ complete_through }) => complete_through).sort();
  if (from === undefined) return 0;
  const known = await knownForecasts(connection, from);
  const fresh = forecasts.filter((forecast) => known.get(forecastKey(forecast)) !== saidBy(forecast));
  if (fresh.length === 0) return 0;
  await recorder.record({
    event: 'forecasts_made',
    values: {
      run_number: runNumber,
      made_at: formatInstant(at),
      load_number: loadNumber,
      level,
      // Nulls stay out of the journal: most rows have as many nulls as values.
      forecasts: fresh.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))),
    },
  });
  return fresh.length;
}

/** What the stored forecasts from books that were complete through an instant, or later, say: by the keys of their subjects. */
export async function knownForecasts(connection: Connection, from: string): Promise<ReadonlyMap<string, string>> {
  const rows = await connection.rows(await readSql('forecasts', 'known'), { from });
  return new Map(
    rows.map((row) => {
      const known = row as unknown as ForecastRow;
      const complete_through = formatInstant(Number(row['complete_through']));
      return [forecastKey({ ...known, complete_through }), saidBy(known)];
    }),
  );
}

/** What a forecast says of its subject. */
function saidBy({ spent, forecast, low, high, amount, exceeds_on, reason }: ForecastRow): string {
  return JSON.stringify([spent, forecast, low, high, amount, exceeds_on, reason]);
}

/** The subject of a forecast. */
export type ForecastScopeRow = Pick<
  ForecastRow,
  | 'scope_kind'
  | 'budget'
  | 'account'
  | 'workspace'
  | 'resource_type'
  | 'scope'
  | 'period_kind'
  | 'period'
  | 'complete_through'
>;

/** The key of a forecast's subject. */
function forecastKey(row: ForecastScopeRow): string {
  const { scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through } = row;
  return JSON.stringify([
    scope_kind,
    budget,
    account,
    workspace,
    resource_type,
    scope,
    period_kind,
    period,
    complete_through,
  ]);
}
