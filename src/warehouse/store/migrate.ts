import { createHash } from 'node:crypto';
import { messageOf, OlderBooksError, UsageError } from '../../base/errors.ts';
import { act } from '../../base/next-step.ts';
import { readSql, readSqlFolder, type SqlFile } from '../sql/sql-files.ts';
import { migrationsOf } from '../sql/statements.ts';
import { type Connection, SqlError } from './connection.ts';
import { commentViews } from './view-comments.ts';

/**
 * Brings an attached warehouse to this program's schema: new migrations (each once, in a transaction), the platform's
 * units, and the views if they or their files changed. Throws UsageError, before changing anything, if an applied
 * migration was edited or a newer program wrote the warehouse, OlderBooksError if it is from before the first migration.
 * Returns the schema's name, and whether the readers' snapshot may have another one.
 */
export async function migrate(connection: Connection): Promise<{ schema: string; isPublished: boolean }> {
  const { makeViews, schema, isPublished } = await migrateTables(connection);
  await makeViews(connection);
  return { schema, isPublished };
}

/** A warehouse whose tables have this program's schema. */
interface MigratedTables {
  readonly schema: string;
  readonly isPublished: boolean;
  /** Creates the views if they changed. */
  readonly makeViews: (connection: Connection) => Promise<void>;
  /** Creates those of them that an ingest reads; `makeViews` creates them again. */
  readonly makeViewsOfIngest: (connection: Connection) => Promise<void>;
}

/** The views that an ingest reads. A warehouse is written without all others. */
export const viewsOfIngest: readonly string[] = ['accounts', 'coverage'];

/**
 * As `migrate`, without the views: `makeViews` creates those that changed. With `isUnlogged` the warehouse is a new file
 * without a log, and the caller makes a checkpoint.
 */
export async function migrateTables(connection: Connection, isUnlogged = false): Promise<MigratedTables> {
  await connection.run(await readSql('schema', 'applied_files'));
  const applied = await connection.rows(await readSql('schema', 'applied'));
  function hashOf(folder: string, name: string): string | undefined {
    const row = applied.find((file) => file['folder'] === folder && file['name'] === name);
    return row && String(row['hash']);
  }

  const migrations = await readSqlFolder('migrations');
  await pendingMigrations(connection, 'wh', 'the warehouse');
  const edited = migrations.find((file) => ![undefined, sha256(file.text)].includes(hashOf('migrations', file.name)));
  if (edited !== undefined) {
    throw new UsageError(`${edited.path} was edited after it had been applied`, {
      next: act('restore it and add a new migration.'),
    });
  }
  const pending = migrations.filter((file) => hashOf('migrations', file.name) === undefined);
  for (const file of pending) {
    await connection.transaction(async () => {
      await connection.run(file.text);
      await remember(connection, 'migrations', file.name, sha256(file.text));
    });
    // An index and its table's changes in one write-ahead log may not survive a kill; checkpoint first.
    if (!isUnlogged) await connection.checkpoint();
  }

  // Only writers load this: it imports an HTTP client and a schema library, which readers do not need.
  const { billingDimensions, unitSuffixes } = await import('../../platform/interface/index.ts');
  const units = JSON.stringify([billingDimensions, unitSuffixes]);
  const views = await readSqlFolder('views');
  const hash = sha256(
    units + (await readSql('schema', 'meanings')) + views.map((file) => file.name + file.text).join(''),
  );
  const schema = sha256(migrations.map(({ name }) => name).join() + hash);
  // A new warehouse has no snapshot that could have another schema.
  if (applied.length === 0) await rememberPublished(connection, schema);
  const isPublished = applied.length === 0 || hashOf(publishedFolder, '*') === schema;
  if (hashOf('views', '*') === hash && (await areViewsUnchanged(connection, hashOf(madeFolder, '*')))) {
    return { schema, isPublished, makeViews: async () => undefined, makeViewsOfIngest: async () => undefined };
  }
  const setUnits = await readSql('schema', 'replace_units');
  await connection.transaction(() =>
    connection.run(setUnits, {
      billing_dimensions: JSON.stringify(billingDimensions),
      unit_suffixes: JSON.stringify(unitSuffixes),
    }),
  );
  return {
    schema,
    isPublished,
    makeViewsOfIngest: (connection) => createViews(connection, readFirst(views, viewsOfIngest)),
    async makeViews(connection) {
      await createViews(connection, views);
      await remember(connection, madeFolder, '*', notYetRead);
      await remember(connection, 'views', '*', hash); // last: after a kill the views are created again
    },
  };
}

const publishedFolder = 'published';
const madeFolder = 'made views';

/** DuckDB prints a view differently until the file is opened again; its hash is stored then. */
const notYetRead = '';

/** Whether the views are those that were stored last: another program may have replaced or dropped one. */
async function areViewsUnchanged(connection: Connection, stored = notYetRead): Promise<boolean> {
  const [row] = await connection.rows(await readSql('schema', 'made_views'));
  const found = String(row?.['hash']);
  if (stored === notYetRead) await remember(connection, madeFolder, '*', found);
  return stored === notYetRead || stored === found;
}

/** Records that readers have a snapshot of this schema. */
export async function rememberPublished(connection: Connection, schema: string): Promise<void> {
  await remember(connection, publishedFolder, '*', schema);
}

/**
 * The migrations of this program that an attached file does not have. Throws UsageError if a newer program wrote the file
 * (`what` names it), OlderBooksError if it is from before the first migration.
 */
export async function pendingMigrations(connection: Connection, catalog: string, what: string): Promise<string[]> {
  const there = (await connection.rows(migrationsOf(catalog))).map((row) => String(row['name']));
  const here = (await readSqlFolder('migrations')).map(({ name }) => name);
  const [first = ''] = here;
  if (there.length > 0 && !there.includes(first)) throw new OlderBooksError(what, there.at(-1) ?? '', first);
  const unknown = there.filter((name) => !here.includes(name));
  if (unknown.length > 0) {
    throw new UsageError(
      `${what} was written by a newer Costbook (migration ${unknown.join(', ')} is unknown here). Update Costbook`,
    );
  }
  return here.filter((name) => !there.includes(name));
}

/**
 * Throws UsageError if an attached read-only file has not this program's schema: a newer or an older program wrote it,
 * or it is not from Costbook at all. `catalog` is its name when attached.
 */
export async function checkSchema(connection: Connection, catalog: string, file: string): Promise<void> {
  const missing = await pendingMigrations(connection, catalog, file).catch((error: unknown) => {
    if (!(error instanceof SqlError)) throw error;
    throw new UsageError(`${file} is a DuckDB file that Costbook did not write. Move it away`, { cause: error });
  });
  if (missing.length > 0) {
    throw new UsageError(
      `${file} was written by an older Costbook (before migration ${missing.join(', ')}). Run "costbook ingest" once: ` +
        'it brings the books to this version and publishes them again',
    );
  }
}

/** Creates the views in as many passes as needed: a view can only be created after those that it reads. */
export async function createViews(connection: Connection, files: readonly SqlFile[]): Promise<void> {
  let left = readFirst(files);
  // At once where every file is right: each transaction is synced to disk.
  const areMade = await connection
    .transaction(async () => {
      for (const file of left) await connection.run(file.text);
      await commentViews(connection, files);
      return true;
    })
    .catch((error: unknown) => {
      if (!(error instanceof SqlError)) throw error;
      return false;
    });
  if (areMade) return;
  while (left.length > 0) {
    const failed: { file: SqlFile; error: unknown }[] = [];
    for (const file of left) {
      try {
        await connection.run(file.text);
      } catch (error) {
        if (!(error instanceof SqlError)) throw error; // an interruption is not an error in a view
        failed.push({ file, error });
      }
    }
    if (failed.length === left.length) {
      throw new UsageError(failed.map(({ file, error }) => `${file.path}: ${messageOf(error)}`).join('\n'));
    }
    left = failed.map(({ file }) => file);
  }
  // In one transaction: otherwise each comment would be a transaction of its own and be synced to disk.
  await connection.transaction(() => commentViews(connection, files));
}

/**
 * The files of the named views, or of all, and of those that they read, ordered so that views come after those that they
 * read: a failed attempt costs as much as a success.
 */
export function readFirst(
  files: readonly SqlFile[],
  names: readonly string[] = files.map(({ name }) => name),
): SqlFile[] {
  const ordered = new Set<SqlFile>();
  const seen = new Set<SqlFile>();
  function add(file: SqlFile): void {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, name] of file.text.matchAll(/\b(?:from|join)\s+(?:ledger\.)?(\w+)/g)) {
      const read = files.find((other) => other.name === name);
      if (read !== undefined) add(read);
    }
    ordered.add(file);
  }
  files.filter(({ name }) => names.includes(name)).forEach(add);
  return [...ordered];
}

async function remember(connection: Connection, folder: string, name: string, hash: string): Promise<void> {
  await connection.run(await readSql('schema', 'remember'), { folder, name, hash });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
