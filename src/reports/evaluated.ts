import { firstTimeDays } from '../anomalies/index.ts';
import { dayMs, formatInstant, type Instant, type Window } from '../time.ts';
import { type Completeness, type Connection, readSql } from '../warehouse/index.ts';

/** What only `costbook alert` finds out and keeps. A report says in its header that it tells of it: `--! kept: anomalies`. */
export const keptKinds = ['anomalies', 'forecasts', 'outcomes'] as const;
export type KeptKind = (typeof keptKinds)[number];

/** How far `costbook alert` has come with what a report tells of: no rows can mean that nobody looked. */
export interface Kept {
  /** Up to which instant, in all accounts; null where nobody looked yet in one of them. */
  readonly through: string | null;
  readonly sentence: string;
  /** What the answer does not hold because nobody looked, and what to run, a sentence each. */
  readonly lacking: readonly string[];
  /** What it does not hold and never will. */
  readonly gone: readonly string[];
}

/** What is asked: of which accounts, and about which stretches; none is all of the time. */
export interface KeptAsked {
  readonly accounts: readonly Completeness[];
  readonly periods: readonly Window[];
}

function instantOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}

/** How far what a report tells of was looked at, as these books know it. */
export async function readKept(connection: Connection, kind: KeptKind, asked: KeptAsked): Promise<Kept> {
  return kind === 'anomalies' ? keptAnomalies(connection, asked) : keptForecasts(connection, kind, asked);
}

/** Whether there is a day to look at: the one in which the books begin, once it is over, or a later one. */
function hasDay({ historyStart, completeThrough }: Completeness): boolean {
  if (historyStart === undefined || completeThrough === undefined) return false;
  return Math.floor(completeThrough / dayMs) > Math.floor(historyStart / dayMs);
}

async function keptAnomalies(connection: Connection, { accounts, periods }: KeptAsked): Promise<Kept> {
  const rows = await connection.rows(await readSql('anomalies', 'evaluated'));
  const looked = accounts.filter(hasDay).map((account) => {
    const row = rows.find((found) => found['account'] === account.account);
    return row === undefined
      ? { ...account, first: undefined, through: undefined }
      : { ...account, first: Number(row['first_through']), through: Number(row['evaluated_through']) };
  });
  const never = looked.filter(({ through }) => through === undefined).map(({ account }) => account);
  const lacking =
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
      lacking.push(
        `anomalies of ${account} were looked for through ${formatInstant(through)} only: "costbook alert" looks at the days since`,
      );
    }
    // The first time only what is open, or of the last days, is told.
    const from = first - firstTimeDays * dayMs;
    if (historyStart !== undefined && historyStart < from && periods.some(({ start }) => start < from)) {
      gone.push(
        `anomalies of ${account} that were over before ${formatInstant(from)} are not told, as nobody had looked yet: ` +
          '"costbook budgets test --anomalies --over 400d" says what would have been',
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
    lacking,
    gone,
  };
}

async function keptForecasts(
  connection: Connection,
  kind: Exclude<KeptKind, 'anomalies'>,
  { accounts, periods }: KeptAsked,
): Promise<Kept> {
  const [row] = await connection.rows(await readSql('forecasts', 'kept'));
  const [through, firstEnd] = ['complete_through', 'first_end'].map((name) =>
    row?.[name] === null || row?.[name] === undefined ? undefined : Number(row[name]),
  );
  if (through === undefined || firstEnd === undefined) {
    return {
      through: null,
      sentence: 'no forecast is kept yet',
      lacking: ['no forecast is kept yet: "costbook alert" makes and keeps them, "costbook forecast" only shows them'],
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
      lacking: [],
      gone: [],
    };
  }
  const isOld = through < complete && (periods.length === 0 || periods.some(({ end }) => end > through));
  return {
    through: instantOrNull(through),
    sentence,
    lacking: isOld
      ? [`the forecasts are of what was complete through ${formatInstant(through)}: "costbook alert" makes newer ones`]
      : [],
    gone: [],
  };
}
