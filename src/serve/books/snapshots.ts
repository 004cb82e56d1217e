import { createHmac, randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { stat } from 'node:fs/promises';
import type { Log } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { dashboardMemoryMb } from '../../base/memory.ts';
import { type Books, openBooks, snapshotFile } from '../../warehouse/integrity/index.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection, SqlParameters, SqlRow } from '../../warehouse/store/index.ts';
import { type Scope, scopeKey } from './scope.ts';
import { openSharedAnswers, type SharedAnswers, ViewerLeftError } from './shared-answers.ts';

/** There is no snapshot to read; the message says what to do about it. */
export class BooksUnavailableError extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** The published books, always the newest, for many requests at once. */
export interface Snapshots {
  /**
   * Runs `work` on the newest snapshot, which stays open until `work` is done. Aborting the signal interrupts its queries, if
   * no other viewer waits for them. Throws BooksUnavailableError if there is no snapshot.
   */
  read<T>(scope: Scope, work: (view: BooksView) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Throws BooksUnavailableError if the published snapshot cannot be read, even if pages show one before it. */
  check(): Promise<void>;
  /** Whether pages show a snapshot although a newer one, which cannot be opened, is in its place. */
  isOutdated(): boolean;
  close(): void;
}

/** One snapshot as one viewer sees it. */
export interface BooksView {
  /** Changes with every snapshot. */
  readonly version: string;
  readonly scope: Scope;
  /** The rows of a statement of `sql/serve`; equal questions to one snapshot are answered once. */
  rows(name: string, parameters?: SqlParameters): Promise<readonly SqlRow[]>;
  /** Any value that is read from the books, once per snapshot, scope and key. */
  once<T>(key: string, read: (connection: Connection) => Promise<T>): Promise<T>;
  /** As `once`, for values that are computed without a connection; the signal is aborted when nobody waits for it. */
  computed<T>(key: string, compute: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** How snapshots are opened. */
export interface SnapshotOptions {
  readonly dir: string;
  /** Marks this process as a reader of the books. */
  readonly reader: string;
  readonly log: Log;
  /** Reads what pages ask for most, so that their first readers need not wait. What fails here fails again on its page. */
  readonly warm: (view: BooksView) => Promise<void>;
}

/** A newer snapshot that is ready sooner is shown at once; meanwhile, pages show the one before it. */
const waitForNewerMs = 250;
/** How soon to try again to open a snapshot that could not be opened. */
const retryMs = 2000;
/** How often to look for a newer snapshot when nobody asks for pages. */
const lookEveryMs = 5000;

/** Two questions at once use both cores of a small machine; the third is for those that are made in advance. */
const connectionsPerScope = 3;
/** Answers that are stored for one snapshot and scope. */
const maxAnswers = 500;
/** Rows in these answers together; the oldest answers are forgotten first. */
const maxStoredRows = 100_000;

interface OpenSnapshot {
  readonly version: string;
  readonly books: Books;
  readonly views: Map<string, ScopedView>;
  users: number;
  isOld: boolean;
}

interface ScopedView {
  readonly connections: readonly OpenConnection[];
  readonly answers: SharedAnswers;
}

/** A connection, and the last question that uses it: the next one waits for that. */
interface OpenConnection {
  readonly connection: Promise<Connection>;
  waiting: number;
  last: Promise<unknown>;
}

/**
 * Opens the snapshots of a project, one after another as they are published. A newer one is opened and prepared while
 * pages still show the one before it, whose answers are then forgotten.
 */
export function openSnapshots({ dir, reader, log, warm }: SnapshotOptions): Snapshots {
  let newest: OpenSnapshot | undefined;
  let opening: { readonly snapshot: Promise<OpenSnapshot>; readonly late: Promise<undefined> } | undefined;
  let isClosed = false;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // each question listens
  let failed: { readonly version: string; readonly until: number; readonly error: BooksUnavailableError } | undefined;

  /** Opens the published snapshot in place of the one that was read so far. */
  async function replace(): Promise<OpenSnapshot> {
    const open = await openSnapshot(dir, reader);
    open.users += 1;
    const warmed = warm(viewOf(open, { kind: 'all' }, closing.signal))
      .catch(() => undefined)
      .finally(() => giveBack(open));
    // Before the first snapshot there is nothing to show meanwhile.
    if (newest !== undefined && !isClosed) await warmed;
    if (newest !== undefined) retire(newest);
    newest = open;
    failed = undefined;
    if (isClosed) retire(open);
    return open;
  }

  function start(): NonNullable<typeof opening> {
    const snapshot = replace()
      .catch(async (error: unknown) => {
        const version = await versionOf(dir);
        if (failed?.version !== version)
          log.warn('snapshot.failed', 'Cannot open the published snapshot', { reason: messageOf(error) });
        failed = { version, until: performance.now() + retryMs, error: new BooksUnavailableError(error) };
        throw failed.error;
      })
      .finally(() => {
        opening = undefined;
      });
    snapshot.catch(() => undefined); // awaited by those who need it
    const late = new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), waitForNewerMs).unref();
    });
    return { snapshot, late };
  }

  /** The newest snapshot that is ready. Several requests at once open a newer one only once. */
  async function find(): Promise<OpenSnapshot> {
    const version = await versionOf(dir);
    if (newest?.version === version) {
      failed = undefined;
      return newest;
    }
    if (failed?.version === version && performance.now() < failed.until) {
      if (newest === undefined) throw failed.error;
      return newest;
    }
    opening ??= start();
    const { snapshot, late } = opening;
    if (newest === undefined) return snapshot;
    // One that cannot be opened is told by the pages and by check(); the one before it is still right.
    return (await Promise.race([snapshot.catch(() => undefined), late])) ?? newest;
  }

  /** The newest snapshot, counted as read from here on. */
  async function borrow(): Promise<OpenSnapshot> {
    const open = await find();
    open.users += 1;
    return open;
  }

  // So that a snapshot of the night is ready when the first person looks at it.
  const looking = setInterval(() => {
    if (newest !== undefined) find().catch(() => undefined);
  }, lookEveryMs).unref();

  return {
    async read(scope, work, signal = closing.signal) {
      const open = await borrow();
      try {
        return await work(viewOf(open, scope, signal));
      } finally {
        giveBack(open);
      }
    },
    async check() {
      await find();
      if (failed !== undefined) throw failed.error;
    },
    isOutdated: () => failed !== undefined,
    close() {
      isClosed = true;
      closing.abort(new ViewerLeftError('the server stops'));
      clearInterval(looking);
      if (newest !== undefined) retire(newest);
    },
  };
}

/** Closes a snapshot as soon as nobody reads it. */
function retire(open: OpenSnapshot): void {
  if (open.isOld) return;
  open.isOld = true;
  if (open.users === 0) open.books.close();
}

function giveBack(open: OpenSnapshot): void {
  open.users -= 1;
  if (open.isOld && open.users === 0) open.books.close();
}

async function openSnapshot(dir: string, reader: string): Promise<OpenSnapshot> {
  // The version before opening: a snapshot that is published meanwhile is then seen as newer.
  const version = await versionOf(dir);
  const books = await openBooks(dir, { lockedDown: true, reader, memoryMb: dashboardMemoryMb() });
  try {
    const connection = await books.connect();
    await connection.run(await readSql('serve', 'prepare'));
    connection.close();
  } catch (error) {
    books.close();
    throw error;
  }
  return { version, books, views: new Map(), users: 0, isOld: false };
}

const versionKey = randomBytes(32);

/** The identity of the published file; empty if there is none. */
async function versionOf(dir: string): Promise<string> {
  const found = await stat(snapshotFile(dir)).catch(() => undefined);
  if (found === undefined) return '';
  // Hashed with a key of this process: the size of the books is nobody's business who sees a part of them.
  const identity = `${found.ino}-${found.size}-${Math.floor(found.mtimeMs)}`;
  return createHmac('sha256', versionKey).update(identity).digest('base64url').slice(0, 16);
}

function viewOf(open: OpenSnapshot, scope: Scope, signal: AbortSignal): BooksView {
  const key = scopeKey(scope);
  let view = open.views.get(key);
  if (view === undefined) {
    const connections = Array.from({ length: connectionsPerScope }, () => ({
      connection: connectTo(open.books, scope),
      ...{ waiting: 0, last: Promise.resolve() },
    }));
    for (const { connection } of connections) connection.catch(() => undefined); // awaited by its first question
    view = { connections, answers: openSharedAnswers({ maxAnswers, maxRows: maxStoredRows }) };
    open.views.set(key, view);
  }
  const { connections, answers } = view;
  function once<T>(question: string, read: (connection: Connection) => Promise<T>): Promise<T> {
    return answers.get(question, signal, (work) => onFreeConnection(open, connections, work, read));
  }
  return {
    version: open.version,
    scope,
    once,
    computed: (question, compute) => answers.get(question, signal, compute),
    rows: (name, parameters = {}) =>
      once(`${name} ${JSON.stringify(parameters)}`, async (connection) =>
        connection.rows(await readSql('serve', name), parameters),
      ),
  };
}

/** Reads on the connection that fewest questions wait for. Aborting the signal interrupts the running statement. */
async function onFreeConnection<T>(
  open: OpenSnapshot,
  connections: readonly OpenConnection[],
  signal: AbortSignal,
  read: (connection: Connection) => Promise<T>,
): Promise<T> {
  const [first, ...others] = connections;
  if (first === undefined) throw new Error('a view has connections');
  // A long question holds up only those behind it.
  const free = others.reduce((least, each) => (each.waiting < least.waiting ? each : least), first);
  free.waiting += 1;
  // An interrupted statement may run for a moment after its viewer has left: the snapshot stays open until then.
  open.users += 1;
  const answer = Promise.all([free.connection, free.last]).then(async ([connection]) => {
    signal.throwIfAborted();
    return connection.during(signal, () => read(connection));
  });
  free.last = answer
    .catch(() => undefined)
    .finally(() => {
      free.waiting -= 1;
      giveBack(open);
    });
  return answer;
}

/** A connection whose `visible_series`, `visible_hours` and `visible_days` hold the rows of a scope; it can change nothing. */
async function connectTo(books: Books, scope: Scope): Promise<Connection> {
  const connection = await books.connect();
  if (scope.kind === 'all') await connection.run(await readSql('serve', 'visible_all'));
  if (scope.kind === 'owner') await connection.run(await readSql('serve', 'visible_owner'), { owner: scope.owner });
  if (scope.kind === 'workspaces') {
    const workspaces = JSON.stringify(scope.workspaces);
    await connection.run(await readSql('serve', 'visible_workspaces'), { workspaces });
  }
  await connection.seal();
  return connection;
}
