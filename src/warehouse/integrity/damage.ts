import { readdir, rename, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ChangedFileError, DamagedFileError } from '../../base/errors.ts';
import { repair } from '../../base/next-step.ts';
import { formatSecond, type Instant } from '../../time/time.ts';
import { journalFolder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import { hashOf } from '../sql/statements.ts';
import { type Connection, SqlError } from '../store/connection.ts';
import { factsOf } from './contents.ts';
import { readSeal, type Seal } from './seal.ts';
import { describeFacts } from './snapshot.ts';
import { snapshotFile } from './snapshot-file.ts';

/** What could restore the warehouse. */
export interface Traces {
  readonly dir: string;
  /** The seal of the snapshot, if readable. */
  readonly seal: Seal | undefined;
  readonly isSnapshotIntact: boolean;
  /** The largest load number in the landing folder; 0 if there is none. */
  readonly newestStored: number;
  readonly hasJournal: boolean;
}

/** Looks for what could restore the warehouse. */
export async function findTraces(dir: string, newestStored: number): Promise<Traces> {
  const found = await readSeal(snapshotFile(dir)).catch(() => undefined);
  const journal = await readdir(journalFolder(dir)).catch(() => []);
  return {
    dir,
    seal: found === undefined || found.state === 'damaged' ? undefined : found.seal,
    isSnapshotIntact: found?.state === 'intact',
    newestStored,
    hasJournal: journal.some((name) => name.endsWith('.ndjson')),
  };
}

/** The one command that repairs every state of the files below `data`. */
export const repairs = repair();

const makesAgain = repair(', which moves it aside and creates the warehouse again from what is intact');

/** Throws ChangedFileError if the warehouse's file is missing although something shows that there were books. */
export async function refuseMissing(warehouse: string, traces: Traces): Promise<void> {
  if (await isThere(warehouse)) return;
  if (traces.seal === undefined && traces.newestStored === 0 && !traces.hasJournal) return;
  throw new ChangedFileError(
    `${warehouse} is missing, and there were books: ${describeTraces(traces)}. Nothing was changed`,
    { subject: warehouse, next: repair(`, which rebuilds the warehouse from ${sourcesOf(traces)}`) },
  );
}

/**
 * Throws ChangedFileError if a warehouse has less than the files next to it: it is an older copy, or another project's.
 */
export async function refuseOlder(connection: Connection, warehouse: string, traces: Traces): Promise<void> {
  const [row] = await connection.rows(await readSql('ledger', 'count_loads')).catch((error: unknown) => {
    if (error instanceof SqlError) return [{ loads: 0, last: 0 }]; // a new file has no tables yet
    throw error;
  });
  const [loads, last] = [Number(row?.['loads']), Number(row?.['last'])];
  const isHollow = loads !== last;
  // One load more may be a load that was stored and did not commit.
  if (!isHollow && traces.newestStored <= last + 1 && (traces.seal?.loadNumber ?? 0) <= last) return;
  const knows = isHollow ? `${loads} of the loads up to ${last}` : `loads up to ${last}`;
  throw new ChangedFileError(
    `${warehouse} is an older copy: it has ${knows}, and there were more: ${describeTraces(traces)}. Nothing was ` +
      'changed',
    {
      subject: warehouse,
      next: repair(`, which moves it aside and rebuilds the warehouse from ${sourcesOf(traces)}`),
    },
  );
}

/**
 * Throws ChangedFileError if a warehouse has the snapshot's last load and journal event, but other rows or costs than
 * were published: another program wrote to it.
 */
export async function refuseChanged(connection: Connection, warehouse: string, traces: Traces): Promise<void> {
  const { seal, isSnapshotIntact } = traces;
  if (seal === undefined || !isSnapshotIntact) return;
  const has = await factsOf(connection, 'wh');
  if (has.loadNumber !== seal.loadNumber || has.lastEvent !== seal.lastEvent) return;
  if (describeFacts(has) === describeFacts(seal)) return;
  throw new ChangedFileError(
    `another program has changed ${warehouse}: it has ${describeFacts(has)}. Intact: ${describeTraces(traces)}. ` +
      'Nothing was changed',
    { subject: warehouse, next: makesAgain },
  );
}

/** The error for a warehouse in which another program changed tables. */
export function otherTables(warehouse: string, changes: readonly string[], traces: Traces): ChangedFileError {
  return new ChangedFileError(
    `another program has changed ${warehouse}: ${changes.join(', ')}. Intact: ${describeTraces(traces)}`,
    { subject: warehouse, next: makesAgain },
  );
}

/** The error for a damaged warehouse, which names the files that are intact. */
export function damagedWarehouse({ file, damage, cause }: DamagedFileError, traces: Traces): DamagedFileError {
  return new DamagedFileError(file, damage, { next: repairs, cause, intact: describeTraces(traces) || undefined });
}

/** What a repair rebuilds the warehouse from. */
function sourcesOf({ isSnapshotIntact }: Traces): string {
  return isSnapshotIntact
    ? 'the snapshot, the loads stored since and the journal'
    : 'the landing folder and the journal';
}

function describeTraces({ dir, seal, isSnapshotIntact, newestStored, hasJournal }: Traces): string {
  const snapshot = basename(snapshotFile(dir));
  return [
    ...(seal !== undefined && isSnapshotIntact ? [`the snapshot data/${snapshot} (${describeFacts(seal)})`] : []),
    ...(seal !== undefined && !isSnapshotIntact
      ? [`the snapshot data/${snapshot} (changed since it was published)`]
      : []),
    ...(newestStored > 0 ? [`data/landing with loads up to ${newestStored}`] : []),
    ...(hasJournal ? ['data/journal'] : []),
  ].join(', ');
}

/** Reads every row of every table of an attached catalog, so that DuckDB checks the checksum of each block. */
export async function readAllTables(connection: Connection, catalog: string): Promise<void> {
  const tables = await connection.rows(await readSql('ledger', 'tables'), { catalog });
  for (const { schema_name, table_name } of tables) {
    await connection.rows(hashOf(catalog, String(schema_name), String(table_name)));
  }
}

/**
 * Renames an unusable DuckDB file, and its write-ahead log, to `<name>.damaged-20261122T031500Z.duckdb`. Returns the
 * new path, or undefined if there was no such file.
 */
export async function setAside(file: string, at: Instant): Promise<string | undefined> {
  const stamp = formatSecond(at).replaceAll(/[-:]/g, '');
  const aside = file.replace(/\.duckdb$/, `.damaged-${stamp}.duckdb`);
  const isMoved = await renameIfThere(file, aside);
  await renameIfThere(`${file}.wal`, `${aside}.wal`);
  return isMoved ? aside : undefined;
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
