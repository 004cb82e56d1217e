import { createHash } from 'node:crypto';
import { arch } from 'node:os';
import { buildId, nodeVersion } from '../../base/version.ts';
import { formatInstant, type Instant, type Window } from '../../time/time.ts';
import { readSql, type SqlFolder } from '../sql/sql-files.ts';
import type { Connection, SqlField, SqlParameters, SqlRow } from './connection.ts';

/**
 * What a cached answer is of, and how long it holds. `rows` of a query, `places` (the histories of workspaces) and `check` (what a
 * check found): for one state of the books. `names` (rows of a query that reads no costs): while series, resources and allocation
 * are the same. `cost` (a budget in a window) and `steps` (a month of its history): while these are the same, and no load covers
 * hours that the answer depends on. `forecast` (what the forecasting engine made of a series): always.
 */
export type CachedKind = 'rows' | 'places' | 'check' | 'names' | 'cost' | 'steps' | 'forecast';

const kindsOfOneState: readonly CachedKind[] = ['rows', 'places', 'check'];
const kindsOfHours: readonly CachedKind[] = ['cost', 'steps'];

/** The parts of the state that say what a series is and who owns it, and that compute it. */
export const partsOfNames: readonly string[] = [
  ...['version', 'allocations', 'applied_files', 'billing_dimensions', 'resources', 'series', 'unit_suffixes'],
];

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
  /** `hours`: all hours whose costs the answer depends on, for the kinds that hold while these do not change. */
  find(kind: CachedKind, question: unknown, hours?: Window): Promise<KnownAnswer | undefined>;
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
  const since = new Map<string, Promise<LoadsSince>>();
  /** Whether an answer for an earlier state of the books holds for the present one. */
  async function holds(kind: CachedKind, { state: then }: Stored, hours: Window | undefined): Promise<boolean> {
    const present = await stateNow();
    if (kind === 'forecast' || then === present) return true;
    const [parts, partsNow] = [partsOfState(then), partsOfState(present)];
    if (partsOfNames.some((name) => parts.get(name) !== partsNow.get(name))) return false;
    if (!kindsOfHours.includes(kind)) return true;
    const loads = since.get(then) ?? readLoadsSince(connection, parts);
    since.set(then, loads);
    const { isSame, windows } = await loads;
    return isSame && hours !== undefined && !windows.some(({ start, end }) => start < hours.end && end > hours.start);
  }
  return remembering({
    read: async (kind) => readKind(connection, kind, kindsOfOneState.includes(kind) ? await stateNow() : null),
    holds,
    stateNow,
  });
}

/** The loads after those of an earlier state of the books: the windows that they cover, and whether the earlier ones are the same. */
interface LoadsSince {
  readonly isSame: boolean;
  readonly windows: readonly Window[];
}

/** The parts of a state by table, such as `loads/12/…`, and the version of DuckDB. */
function partsOfState(state: string): ReadonlyMap<string, string> {
  const [version = '', ...parts] = state.split(' ');
  return new Map([['version', version], ...parts.map((part) => [part.slice(0, part.indexOf('/')), part] as const)]);
}

async function readLoadsSince(connection: Connection, parts: ReadonlyMap<string, string>): Promise<LoadsSince> {
  const [row] = await connection.rows(await readSql('answer_cache', 'loads_since'), {
    state: parts.get('loads') ?? '',
  });
  const windows = (row?.['windows'] ?? []) as readonly { readonly start: SqlField; readonly end: SqlField }[];
  return {
    isSame: row?.['is_same'] === true,
    windows: windows.map(({ start, end }) => ({ start: Number(start), end: Number(end) })),
  };
}

/**
 * The answers that the last run with any has stored, whatever has changed since: for figures that say when they were made, or
 * that need not be of this minute. To find out whether the books are the same takes longer than to show them.
 */
export function lastAnswers(connection: Connection): AnswerCache {
  const stateNow = () => readState(connection);
  const holds = async (kind: CachedKind) => kind === 'rows'; // nothing is computed from these
  return remembering({ read: (kind) => readKind(connection, kind, null), holds, stateNow });
}

/** Answers that only this command has computed: for books whose state no stored answer is of. */
export function ownAnswers(): AnswerCache {
  return remembering({ read: async () => new Map(), holds: async () => false, stateNow: async () => '' });
}

function remembering({
  read,
  holds,
  stateNow,
}: {
  read(kind: CachedKind): Promise<ReadonlyMap<string, Stored>>;
  holds(kind: CachedKind, stored: Stored, hours: Window | undefined): Promise<boolean>;
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
    async find(kind, question, hours) {
      const key = keyOf(kind, question);
      const own = added.get(key);
      if (own !== undefined) return { answer: own.answer, madeBy: undefined };
      const found = (await storedOf(kind)).get(key);
      if (found === undefined || !(await holds(kind, found, hours))) return undefined;
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

/**
 * The rows of a built-in query, which it gives whenever it is asked of the same books: it must not read the clock. `names` if it
 * reads nothing but series, resources and allocation.
 */
export async function cachedRows(
  connection: Connection,
  cache: AnswerCache | undefined,
  [folder, name]: readonly [SqlFolder, string],
  parameters: SqlParameters = {},
  kind: 'rows' | 'names' = 'rows',
): Promise<SqlRow[]> {
  const text = await readSql(folder, name);
  return answerOf(cache, kind, [text, parameters], () => rowsWithOwners(connection, cache, [folder, name], parameters));
}

/**
 * The rows of a built-in query. If it has the CTE `owners`, a cache computes them once, while series, resources and allocation are
 * the same: to plan their view takes longer than the rest of such a query.
 */
export async function rowsWithOwners(
  connection: Connection,
  cache: AnswerCache | undefined,
  [folder, name]: readonly [SqlFolder, string],
  parameters: SqlParameters = {},
): Promise<SqlRow[]> {
  const text = await readSql(folder, name);
  const given = await readSql(folder, name, { few_owners: 'given_owners' });
  if (cache === undefined || given === text) return connection.rows(text, parameters);
  const [found] = await cachedRows(connection, cache, ['answer_cache', 'owners'], {}, 'names');
  const owners = String(found?.['owners']);
  return owners.length > maxPartLength
    ? connection.rows(text, parameters)
    : connection.rows(given, { ...parameters, owners });
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
