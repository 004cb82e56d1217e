import { createHash } from 'node:crypto';
import { arch } from 'node:os';
import { buildId, nodeVersion } from '../../base/version.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import { readSql, type SqlFolder } from '../sql/sql-files.ts';
import type { Connection, SqlParameters, SqlRow } from './connection.ts';

/**
 * What a cached answer is of. `rows`: of a query. `cost`: a budget in a window. `steps`: the history of a budget. `places`: the
 * histories of workspaces. `check`: what a check found. `forecast`: what the forecasting engine made of a series.
 */
export type CachedKind = 'rows' | 'cost' | 'steps' | 'places' | 'check' | 'forecast';

/** The run that computed an answer. */
export interface MadeBy {
  readonly runNumber: number;
  readonly at: Instant;
}

/** An answer that is known already. */
export interface KnownAnswer {
  readonly answer: unknown;
  /** Undefined if this command computed it. */
  readonly madeBy: MadeBy | undefined;
}

/**
 * Answers that the books have for their present state, and those that this command has computed: each is computed once. An
 * answer is found only by the whole question: the texts of its SQL, its values, and the program. Everything that can change an
 * answer besides is in the state of the books (`sql/answer_cache/state.sql`), or else in the question.
 */
export interface AnswerCache {
  find(kind: CachedKind, question: unknown): Promise<KnownAnswer | undefined>;
  /** Adds an answer of this command: data that JSON does not change. */
  add(kind: CachedKind, question: unknown, answer: unknown): void;
  /** What a run has to store; undefined if the books have it all. */
  toStore(): Promise<AnswersToStore | undefined>;
}

/** Answers of a run for one state of the books. */
export interface AnswersToStore {
  readonly state: string;
  readonly answers: readonly {
    readonly kind: CachedKind;
    readonly question: string;
    readonly answer: string;
    /** Undefined for answers of this run. */
    readonly madeBy: MadeBy | undefined;
  }[];
}

interface Stored {
  readonly state: string;
  readonly answer: string;
  readonly madeBy: MadeBy;
}

/** The cached answers of the present books. Not for books as of an instant, with a draft, or with some hours only. */
export function answerCache(connection: Connection): AnswerCache {
  let state: Promise<string> | undefined;
  const stateNow = () => {
    state ??= readState(connection);
    return state;
  };
  return remembering({
    read: async (kind) => readKind(connection, kind, await stateNow()),
    stateNow,
  });
}

/**
 * The answers that the last run with any has stored, whatever has changed since: for figures that say when they were made, or
 * that need not be of this minute. To find out whether the books are the same takes longer than to show them.
 */
export function lastAnswers(connection: Connection): AnswerCache {
  return remembering({ read: (kind) => readKind(connection, kind, null), stateNow: () => readState(connection) });
}

/** Answers that only this command has computed: for books whose state no stored answer is of. */
export function ownAnswers(): AnswerCache {
  return remembering({ read: async () => new Map(), stateNow: async () => '' });
}

function remembering({
  read,
  stateNow,
}: {
  read(kind: CachedKind): Promise<ReadonlyMap<string, Stored>>;
  stateNow(): Promise<string>;
}): AnswerCache {
  const stored = new Map<CachedKind, Promise<ReadonlyMap<string, Stored>>>();
  const used = new Map<string, Stored & { readonly kind: CachedKind }>();
  const added = new Map<string, { readonly kind: CachedKind; readonly answer: unknown }>();
  function storedOf(kind: CachedKind): Promise<ReadonlyMap<string, Stored>> {
    const known = stored.get(kind) ?? read(kind);
    stored.set(kind, known);
    return known;
  }
  return {
    async find(kind, question) {
      const key = keyOf(kind, question);
      const own = added.get(key);
      if (own !== undefined) return { answer: own.answer, madeBy: undefined };
      const found = (await storedOf(kind)).get(key);
      if (found === undefined) return undefined;
      used.set(key, { ...found, kind });
      return { answer: JSON.parse(found.answer), madeBy: found.madeBy };
    },
    add(kind, question, answer) {
      added.set(keyOf(kind, question), { kind, answer });
    },
    async toStore() {
      const now = await stateNow();
      const older = [...used].filter(([, each]) => each.state !== now);
      const answers = [
        ...older.map(([question, { kind, answer, madeBy }]) => ({ kind, question, answer, madeBy })),
        ...[...added].map(([question, { kind, answer }]) => {
          return { kind, question, answer: JSON.stringify(answer), madeBy: undefined };
        }),
      ];
      return answers.length === 0 ? undefined : { state: now, answers };
    },
  };
}

let program: readonly string[] | undefined;

/** Another program, or another Node with other arithmetic, has other answers. */
function thisProgram(): readonly string[] {
  program ??= [buildId(), nodeVersion, arch()];
  return program;
}

function keyOf(kind: CachedKind, question: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([thisProgram(), kind, question]))
    .digest('hex');
}

async function readState(connection: Connection): Promise<string> {
  const [row] = await connection.rows(await readSql('answer_cache', 'state'));
  return String(row?.['state']);
}

async function readKind(
  connection: Connection,
  kind: CachedKind,
  state: string | null,
): Promise<ReadonlyMap<string, Stored>> {
  const rows = await connection.rows(await readSql('answer_cache', 'of_kind'), { kind, state });
  return new Map(
    rows.map((row) => {
      const madeBy = { runNumber: Number(row['run_number']), at: Number(row['made_at']) };
      return [String(row['question']), { state: String(row['state']), answer: String(row['answer']), madeBy }];
    }),
  );
}

/** The answer to a question: a known one, or else the computed one, which is added. */
export async function answerOf<T>(
  cache: AnswerCache | undefined,
  kind: CachedKind,
  question: unknown,
  compute: () => Promise<T>,
): Promise<T> {
  const known = await cache?.find(kind, question);
  if (known !== undefined) return known.answer as T;
  const answer = await compute();
  cache?.add(kind, question, answer);
  return answer;
}

/** The rows of a built-in query, which it gives whenever it is asked of the same books: it must not read the clock. */
export async function cachedRows(
  connection: Connection,
  cache: AnswerCache | undefined,
  [folder, name]: readonly [SqlFolder, string],
  parameters: SqlParameters = {},
): Promise<SqlRow[]> {
  const text = await readSql(folder, name);
  return answerOf(cache, 'rows', [text, parameters], () => connection.rows(text, parameters));
}

/** Stores the answers of a run, and forgets those for other states of the books. */
export async function storeAnswers(
  connection: Connection,
  { state, answers }: AnswersToStore,
  { runNumber, at }: MadeBy,
): Promise<void> {
  const text = await readSql('answer_cache', 'store');
  const rows = answers.map(({ madeBy = { runNumber, at }, ...answer }) => ({
    ...answer,
    run_number: madeBy.runNumber,
    made_at: formatInstant(madeBy.at),
  }));
  await connection.transaction(async () => {
    for (const part of partsOf(rows.map((row) => JSON.stringify(row)))) {
      await connection.run(text, { state, answers: `[${part.join(',')}]` });
    }
  });
}

/** The longest text that DuckDB gets at once: it doubles its memory for one value, and cannot spill that. */
const maxPartLength = 4 * 1024 * 1024;

/** Texts in parts of bounded length; a longer text is left out. */
function partsOf(texts: readonly string[]): string[][] {
  const parts: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    if (text.length > maxPartLength) continue;
    if (length + text.length > maxPartLength) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(text);
    length += text.length;
  }
  return parts;
}
