import { firstTimeDays } from '../anomalies/index.ts';
import { dayMs, formatInstant, type Instant, type Window } from '../time.ts';
import { type Completeness, type Connection, readSql } from '../warehouse/index.ts';

/** What only `costbook alert` finds out and keeps. A report says in its header that it tells of it: `--! evaluated: anomalies`. */
export const evaluatedKinds = ['anomalies', 'forecasts', 'outcomes'] as const;
export type EvaluatedKind = (typeof evaluatedKinds)[number];

/** How far `costbook alert` has come with what a report tells of: no rows can mean that nobody looked. */
export interface Evaluated {
  /** Up to which instant, in all accounts; null where nobody looked yet in one of them. */
  readonly through: string | null;
  readonly sentence: string;
  /** What the answer does not hold because nobody looked, and what to run, a sentence each. */
  readonly gaps: readonly string[];
  /** What it does not hold and never will. */
  readonly gone: readonly string[];
}

/** What is asked: of which accounts, and about which stretches; none is all of the time. */
export interface EvaluatedOptions {
  readonly accounts: readonly Completeness[];
  readonly periods: readonly Window[];
}

function instantOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}

/** How far what a report tells of was looked at, as these books know it. */
export async function readEvaluated(
  connection: Connection,
  kind: EvaluatedKind,
  asked: EvaluatedOptions,
): Promise<Evaluated> {
  return kind === 'anomalies' ? evaluatedAnomalies(connection, asked) : evaluatedForecasts(connection, kind, asked);
}

/** Whether there is a day to look at: the one in which the books begin, once it is over, or a later one. */
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
          `nobody has looked for anomalies in ${never.join(', ')} yet: "costbook alert" does, ` +
            'unless jobs/budgets.yaml has anomalies: { enabled: false }',
        ];
  const gone: string[] = [];
  for (const { account, historyStart, completeThrough, first, through } of looked) {
    if (first === undefined || through === undefined || completeThrough === undefined) continue;
    const complete = Math.floor(completeThrough / dayMs) * dayMs;
    const due = Math.min(complete, Math.max(...periods.map(({ end }) => end), periods.length === 0 ? complete : 0));
    if (through < due) {
      gaps.push(
        `anomalies of ${account} were looked for through ${formatInstant(through)} only: "costbook alert" looks at the days since`,
      );
    }
    // The first time only what is open, or of the last days, is told.
    const from = first - firstTimeDays * dayMs;
    if (historyStart !== undefined && historyStart < from && periods.some(({ start }) => start < from)) {
      gone.push(
        `anomalies of ${account} that were over before ${formatInstant(from)} are not told, as nobody had looked yet: ` +
          '"costbook budgets backtest --anomalies --lookback 400d" says what would have been',
      );
    }
  }
  const through =
    never.length > 0 || looked.length === 0 ? undefined : Math.min(...looked.map((row) => row.through ?? 0));
  return {
    through: instantOrNull(through),
    sentence:
      through === undefined
        ? 'not looked at by "costbook alert" yet'
        : `looked at by "costbook alert" through ${formatInstant(through)}`,
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
      sentence: 'no forecast is kept yet',
      gaps: ['no forecast is kept yet: "costbook alert" makes and keeps them, "costbook forecast" only shows them'],
      gone: [],
    };
  }
  const complete = Math.min(...accounts.map(({ completeThrough = 0 }) => completeThrough));
  const sentence = `forecast by "costbook alert" from what was complete through ${formatInstant(through)}`;
  if (kind === 'outcomes') {
    const isOver = firstEnd <= complete;
    return {
      through: instantOrNull(through),
      sentence: isOver ? sentence : `${sentence}; no period that was forecast is over yet`,
      gaps: [],
      gone: [],
    };
  }
  const isOld = through < complete && (periods.length === 0 || periods.some(({ end }) => end > through));
  return {
    through: instantOrNull(through),
    sentence,
    gaps: isOld
      ? [`the forecasts are of what was complete through ${formatInstant(through)}: "costbook alert" makes newer ones`]
      : [],
    gone: [],
  };
}
