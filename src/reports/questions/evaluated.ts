import { firstTimeDays } from '../../anomalies/index.ts';
import { dayMs, formatInstant, type Instant, type Window } from '../../time/time.ts';
import type { Completeness } from '../../warehouse/ledger/index.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';

/** Data that only `costbook alert` evaluates and stores. The header of a report names it: `--! evaluated: anomalies`. */
export const evaluatedKinds = ['anomalies', 'forecasts', 'outcomes'] as const;
export type EvaluatedKind = (typeof evaluatedKinds)[number];

/** How far `costbook alert` has evaluated the data of a report. An empty result may mean that it has not run yet. */
export interface Evaluated {
  /** Evaluated through, over all accounts; null if one of them was not evaluated yet. */
  readonly through: string | null;
  readonly sentence: string;
  /** What is missing because it was not evaluated yet, and what to run, one sentence each. */
  readonly gaps: readonly string[];
  /** What is missing for good. */
  readonly gone: readonly string[];
}

/** The accounts and windows of a report; no windows means all time. */
export interface EvaluatedOptions {
  readonly accounts: readonly Completeness[];
  readonly periods: readonly Window[];
}

function instantOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}

/** How far the data of a report was evaluated in these books. */
export async function readEvaluated(
  connection: Connection,
  kind: EvaluatedKind,
  asked: EvaluatedOptions,
): Promise<Evaluated> {
  return kind === 'anomalies' ? evaluatedAnomalies(connection, asked) : evaluatedForecasts(connection, kind, asked);
}

/** Whether the books have a complete day to evaluate. */
function hasDay({ historyStart, completeThrough }: Completeness): boolean {
  if (historyStart === undefined || completeThrough === undefined) return false;
  return Math.floor(completeThrough / dayMs) > Math.floor(historyStart / dayMs);
}

async function evaluatedAnomalies(connection: Connection, { accounts, periods }: EvaluatedOptions): Promise<Evaluated> {
  const rows = await connection.rows(await readSql('anomalies', 'evaluated'));
  const looked = accounts.filter(hasDay).map((account) => {
    const row = rows.find((found) => found['account'] === account.account);
    return row === undefined
      ? { ...account, first: undefined, through: undefined }
      : { ...account, first: Number(row['first_through']), through: Number(row['evaluated_through']) };
  });
  const never = looked.filter(({ through }) => through === undefined).map(({ account }) => account);
  const gaps =
    never.length === 0
      ? []
      : [
          `anomalies in ${never.join(', ')} were not evaluated yet: run "costbook alert" ` +
            '(jobs/budgets.yaml must not have anomalies: { enabled: false })',
        ];
  const gone: string[] = [];
  for (const { account, historyStart, completeThrough, first, through } of looked) {
    if (first === undefined || through === undefined || completeThrough === undefined) continue;
    const complete = Math.floor(completeThrough / dayMs) * dayMs;
    const due = Math.min(complete, Math.max(...periods.map(({ end }) => end), periods.length === 0 ? complete : 0));
    if (through < due) {
      gaps.push(`anomalies in ${account} were evaluated only through ${formatInstant(through)}: run "costbook alert"`);
    }
    // The first evaluation reports only open and recent anomalies.
    const from = first - firstTimeDays * dayMs;
    if (historyStart !== undefined && historyStart < from && periods.some(({ start }) => start < from)) {
      gone.push(
        `anomalies in ${account} that ended before ${formatInstant(from)} are not listed: they were never evaluated. ` +
          '"costbook budgets backtest --anomalies --lookback 400d" shows them',
      );
    }
  }
  const through =
    never.length > 0 || looked.length === 0 ? undefined : Math.min(...looked.map((row) => row.through ?? 0));
  return {
    through: instantOrNull(through),
    sentence:
      through === undefined
        ? 'not evaluated by "costbook alert" yet'
        : `evaluated by "costbook alert" through ${formatInstant(through)}`,
    gaps,
    gone,
  };
}

async function evaluatedForecasts(
  connection: Connection,
  kind: Exclude<EvaluatedKind, 'anomalies'>,
  { accounts, periods }: EvaluatedOptions,
): Promise<Evaluated> {
  const [row] = await connection.rows(await readSql('forecasts', 'last_made'));
  const [through, firstEnd] = ['complete_through', 'first_end'].map((name) =>
    row?.[name] === null || row?.[name] === undefined ? undefined : Number(row[name]),
  );
  if (through === undefined || firstEnd === undefined) {
    return {
      through: null,
      sentence: 'no forecast is stored yet',
      gaps: [
        'no forecast is stored yet: run "costbook alert" ("costbook forecast" shows forecasts without storing them)',
      ],
      gone: [],
    };
  }
  const complete = Math.min(...accounts.map(({ completeThrough = 0 }) => completeThrough));
  const sentence = `forecast by "costbook alert" with data complete through ${formatInstant(through)}`;
  if (kind === 'outcomes') {
    const isOver = firstEnd <= complete;
    return {
      through: instantOrNull(through),
      sentence: isOver ? sentence : `${sentence}; no forecast period has ended yet`,
      gaps: [],
      gone: [],
    };
  }
  const isOld = through < complete && (periods.length === 0 || periods.some(({ end }) => end > through));
  return {
    through: instantOrNull(through),
    sentence,
    gaps: isOld
      ? [`the forecasts use data complete through ${formatInstant(through)}: run "costbook alert" for newer ones`]
      : [],
    gone: [],
  };
}
