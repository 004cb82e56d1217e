import { createHash } from 'node:crypto';
import { messageOf, UsageError } from '../errors.ts';
import { type Connection, SqlError } from './connection.ts';
import { readSqlFolder, type SqlFile } from './sql-files.ts';

/**
 * Brings an attached warehouse to this program's schema: migrations that were never run (each once, in a
 * transaction), the platform's units, and the views where their files changed. Throws UsageError where an applied
 * migration was edited, or where the warehouse was written by a newer program.
 */
export async function migrate(connection: Connection): Promise<void> {
  const makeViews = await migrateTables(connection);
  await makeViews(connection);
}

/**
 * As `migrate`, without the views: returns what makes those that changed. A warehouse is written without them.
 */
export async function migrateTables(connection: Connection): Promise<(connection: Connection) => Promise<void>> {
  await connection.run(`
    create schema if not exists ledger;
    create table if not exists ledger.applied_files (
      folder varchar not null, name varchar not null, hash varchar not null
    )
  `);
  const applied = await connection.rows('select folder, name, hash from ledger.applied_files');
  const hashOf = (folder: string, name: string) =>
    applied.find((row) => row['folder'] === folder && row['name'] === name)?.['hash'];

  const migrations = await readSqlFolder('migrations');
  const unknown = applied
    .filter((row) => row['folder'] === 'migrations' && !migrations.some((file) => file.name === row['name']))
    .map((row) => row['name']);
  if (unknown.length > 0) {
    throw new UsageError(
      `the warehouse was written by a newer Costbook (migration ${unknown.join(', ')} is not known here): update this one`,
    );
  }
  for (const file of migrations) {
    const hash = sha256(file.text);
    const before = hashOf('migrations', file.name);
    if (before === hash) continue;
    if (before !== undefined) {
      throw new UsageError(`${file.path} was edited after it had been applied: restore it and add a new migration`);
    }
    await connection.transaction(async () => {
      await connection.run(file.text);
      await remember(connection, 'migrations', file.name, hash);
    });
    // An index and its table's changes in one write-ahead log survive a kill badly; and it is the moment to be tidy.
    await connection.checkpoint();
  }

  // Loaded by writers alone: with it come an HTTP client and a schema library, which readers would wait for in vain.
  const { billingDimensions, unitSuffixes } = await import('../platform/index.ts');
  const units = JSON.stringify([billingDimensions, unitSuffixes]);
  const views = await readSqlFolder('views');
  const hash = sha256(units + views.map((file) => file.name + file.text).join(''));
  if (hashOf('views', '*') === hash) return async () => undefined;
  await connection.transaction(async () => {
    await connection.run('delete from ledger.billing_dimensions');
    for (const { name, resourceType, unit } of billingDimensions) {
      await connection.run('insert into ledger.billing_dimensions values ($name, $resourceType, $unit)', {
        name,
        resourceType,
        unit,
      });
    }
    await connection.run('delete from ledger.unit_suffixes');
    for (const { suffix, unit } of unitSuffixes) {
      await connection.run('insert into ledger.unit_suffixes values ($suffix, $unit)', { suffix, unit });
    }
  });
  return async (connection) => {
    await createViews(connection, views);
    await remember(connection, 'views', '*', hash); // last: a kill before it makes the views again
  };
}

/** A migration that an attached warehouse has and this program has not, or the other way round; undefined where none is. */
export async function foreignMigration(connection: Connection): Promise<string | undefined> {
  const applied = await connection.rows(`select name, hash from ledger.applied_files where folder = 'migrations'`);
  const [there, here] = [
    applied.map((row): [string, string] => [String(row['name']), String(row['hash'])]),
    (await readSqlFolder('migrations')).map(({ name, text }): [string, string] => [name, sha256(text)]),
  ];
  const isIn = (files: [string, string][], [name, hash]: [string, string]) =>
    files.some((file) => file[0] === name && file[1] === hash);
  return [...there.filter((file) => !isIn(here, file)), ...here.filter((file) => !isIn(there, file))][0]?.[0];
}

/** Creates the views in as many passes as it takes: one that reads another can only be made after it. */
export async function createViews(connection: Connection, files: readonly SqlFile[]): Promise<void> {
  let left = readFirst(files);
  while (left.length > 0) {
    const failed: { file: SqlFile; error: unknown }[] = [];
    for (const file of left) {
      try {
        // As one transaction: every comment on a column would be one by itself, and brought to the disk by itself.
        await connection.transaction(() => connection.run(file.text));
      } catch (error) {
        if (!(error instanceof SqlError)) throw error; // an interruption is no view's mistake
        failed.push({ file, error });
      }
    }
    if (failed.length === left.length) {
      throw new UsageError(failed.map(({ file, error }) => `${file.path}: ${messageOf(error)}`).join('\n'));
    }
    left = failed.map(({ file }) => file);
  }
}

/** The files with those that are seen to be read by others before them: to try one in vain costs as much as to make it. */
function readFirst(files: readonly SqlFile[]): SqlFile[] {
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
  files.forEach(add);
  return [...ordered];
}

async function remember(connection: Connection, folder: string, name: string, hash: string): Promise<void> {
  await connection.run('delete from ledger.applied_files where folder = $folder and name = $name', { folder, name });
  await connection.run('insert into ledger.applied_files values ($folder, $name, $hash)', { folder, name, hash });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
