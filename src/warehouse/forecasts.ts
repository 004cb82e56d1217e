import { formatInstant, type Instant } from '../time.ts';
import type { Connection } from './connection.ts';
import type { Recorder } from './journal.ts';
import { readSql } from './sql-files.ts';

/** A forecast of a period as the ledger keeps it: instants and dates as text, amounts of USD as decimal text. */
export interface ForecastRow {
  readonly scope_kind: 'budget' | 'workspace';
  readonly budget: string | null;
  readonly account: string | null;
  readonly workspace: string | null;
  readonly resource_type: string | null;
  /** Of a budget which costs are its own, as JSON. */
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

/** Forecasts that one run made. */
export interface ForecastsMade {
  readonly runNumber: number;
  readonly at: Instant;
  /** The last load in the books that they were made from. */
  readonly loadNumber: number;
  /** Of how many outcomes in a hundred the intervals should hold. */
  readonly level: number;
  readonly forecasts: readonly ForecastRow[];
}

/**
 * Takes forecasts into journal and ledger, those of which there is none yet of the same scope and period through the same
 * instant. Returns how many.
 */
export async function recordForecasts(
  connection: Connection,
  recorder: Recorder,
  { runNumber, at, loadNumber, level, forecasts }: ForecastsMade,
): Promise<number> {
  const [from] = forecasts.map(({ complete_through }) => complete_through).sort();
  if (from === undefined) return 0;
  const known = await knownForecasts(connection, from);
  const fresh = forecasts.filter((forecast) => !known.has(forecastKey(forecast)));
  if (fresh.length === 0) return 0;
  await recorder.record({
    event: 'forecasts_made',
    values: {
      run_number: runNumber,
      made_at: formatInstant(at),
      load_number: loadNumber,
      level,
      // What is null is left out of the journal: most rows have as many nulls as values.
      forecasts: fresh.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))),
    },
  });
  return fresh.length;
}

/** The keys of the forecasts that are kept from what was complete through an instant, or later. */
export async function knownForecasts(connection: Connection, from: string): Promise<ReadonlySet<string>> {
  const rows = await connection.rows(await readSql('forecasts', 'known'), { from });
  return new Set(
    rows.map((row) =>
      forecastKey({
        ...(row as unknown as ForecastScopeRow),
        complete_through: formatInstant(Number(row['complete_through'])),
      }),
    ),
  );
}

/** What a forecast is of: one of each is kept. */
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

/** The key of what a forecast is of. */
export function forecastKey(row: ForecastScopeRow): string {
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
