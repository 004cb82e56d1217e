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
/** Snapshots of this many scopes have connections at the same time. */
const maxScopes = 20;

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
  let current: Promise<OpenSnapshot> | undefined;
  let isClosed = false;

  async function newest(): Promise<OpenSnapshot> {
    const version = await versionOf(dir);
    const open = await current?.catch(() => undefined);
    if (open !== undefined && !open.isOld && open.version === version) return open;
    // Only the first of several requests opens the new snapshot.
    const before = current;
    const latest = await before?.catch(() => undefined);
    if (current === before) {
      current = openSnapshot(dir, reader);
      current.then(
        () => latest !== undefined && retire(latest),
        () => undefined,
      );
    }
    return current as Promise<OpenSnapshot>;
  }

  return {
    async read(scope, work) {
      const open = await newest();
      open.users += 1;
      try {
        return await work(viewOf(open, scope));
      } finally {
        open.users -= 1;
        if ((open.isOld || isClosed) && open.users === 0) open.books.close();
      }
    },
    close() {
      isClosed = true;
      current?.then(retire, () => undefined);
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
    if (open.views.size >= maxScopes) forgetOldest(open.views);
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

function forgetOldest(views: Map<string, ScopedView>): void {
  const [key, view] = views.entries().next().value ?? [];
  if (key === undefined || view === undefined) return;
  views.delete(key);
  // Its questions end first: statements of one connection run one after another.
  for (const connection of view.connections)
    connection.then(
      (open) => open.close(),
      () => undefined,
    );
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
