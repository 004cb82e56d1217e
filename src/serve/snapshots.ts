import { stat } from 'node:fs/promises';
import {
  type Books,
  type Connection,
  openBooks,
  readSql,
  type SqlParameters,
  type SqlRow,
  snapshotFile,
} from '../warehouse/index.ts';
import { type Scope, scopeKey } from './scope.ts';

/** The published books, always the newest, for many requests at once. */
export interface Snapshots {
  /** Runs `work` on the newest snapshot, which stays open until `work` is done. Throws as `openBooks`. */
  read<T>(scope: Scope, work: (view: BooksView) => Promise<T>): Promise<T>;
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
}

/** Two questions at once use both cores of a small machine; more would only share them. */
const connectionsPerScope = 2;
/** Answers that are stored for one snapshot and scope. */
const maxAnswers = 500;

interface OpenSnapshot {
  readonly version: string;
  readonly books: Books;
  readonly views: Map<string, ScopedView>;
  users: number;
  isOld: boolean;
}

interface ScopedView {
  readonly connections: readonly Promise<Connection>[];
  readonly answers: Map<string, Promise<unknown>>;
  next: number;
}

/** Opens the snapshots of a project, one after another as they are published. Answers of an older one are forgotten. */
export function openSnapshots(dir: string, reader: string): Snapshots {
  let newest: OpenSnapshot | undefined;
  let opening: Promise<OpenSnapshot> | undefined;
  let isClosed = false;

  /** Opens the published snapshot in place of the one that was read so far. */
  async function replace(): Promise<OpenSnapshot> {
    const open = await openSnapshot(dir, reader);
    if (newest !== undefined) retire(newest);
    newest = open;
    if (isClosed) retire(open);
    return open;
  }

  /** The newest snapshot, counted as read from here on. Several requests at once open a new one only once. */
  async function borrow(): Promise<OpenSnapshot> {
    const version = await versionOf(dir);
    let open = newest?.version === version ? newest : undefined;
    if (open === undefined) {
      opening ??= replace().finally(() => {
        opening = undefined;
      });
      open = await opening;
    }
    open.users += 1;
    return open;
  }

  return {
    async read(scope, work) {
      const open = await borrow();
      try {
        return await work(viewOf(open, scope));
      } finally {
        open.users -= 1;
        if (open.isOld && open.users === 0) open.books.close();
      }
    },
    close() {
      isClosed = true;
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

async function openSnapshot(dir: string, reader: string): Promise<OpenSnapshot> {
  // The version before opening: a snapshot that is published meanwhile is then seen as newer.
  const version = await versionOf(dir);
  const books = await openBooks(dir, { lockedDown: true, reader });
  return { version, books, views: new Map(), users: 0, isOld: false };
}

/** The identity of the published file; empty if there is none. */
async function versionOf(dir: string): Promise<string> {
  const found = await stat(snapshotFile(dir)).catch(() => undefined);
  return found === undefined ? '' : `${found.ino}-${found.size}-${Math.floor(found.mtimeMs)}`;
}

function viewOf(open: OpenSnapshot, scope: Scope): BooksView {
  const key = scopeKey(scope);
  let view = open.views.get(key);
  if (view === undefined) {
    const connections = Array.from({ length: connectionsPerScope }, () => connectTo(open.books, scope));
    for (const connection of connections) connection.catch(() => undefined); // awaited by its first question
    view = { connections, answers: new Map(), next: 0 };
    open.views.set(key, view);
  }
  const { connections, answers } = view;
  const scoped = view;
  function once<T>(question: string, read: (connection: Connection) => Promise<T>): Promise<T> {
    const known = answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return known;
    if (answers.size >= maxAnswers) answers.delete(answers.keys().next().value ?? '');
    const connection = connections[scoped.next % connections.length] as Promise<Connection>;
    scoped.next += 1;
    const answer = connection.then(read);
    answers.set(question, answer);
    answer.catch(() => answers.delete(question));
    return answer;
  }
  return {
    version: open.version,
    scope,
    once,
    rows: (name, parameters = {}) =>
      once(`${name} ${JSON.stringify(parameters)}`, async (connection) =>
        connection.rows(await readSql('serve', name), parameters),
      ),
  };
}

/** A connection whose `visible_series` and `visible_hours` hold the rows of a scope; it can change nothing. */
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
