import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Log } from '../../base/effects.ts';
import { ChangedFileError, CostbookError, foundIn, MachineError, messageOf, nextOf } from '../../base/errors.ts';
import { memoryLimitMb } from '../../base/memory.ts';
import { act, repair } from '../../base/next-step.ts';
import { completeFiles, journalFolder } from '../journal/journal.ts';
import { fastClock } from '../ledger/clocks.ts';
import type { Connection } from '../store/connection.ts';
import { openDatabase } from '../store/database.ts';
import { logsBeside } from '../store/logs.ts';
import { factsOf, factsSince, type KnownContents } from './contents.ts';
import { copyScript } from './copy-script.ts';
import { keepRetired, type Retired, type Retiring, takeRetired, usualRetiring } from './retired-snapshot.ts';
import { headerBytes, readSeal, type SealState, type SnapshotFacts, sealFile } from './seal.ts';

/** No suitable disk takes longer; one that hangs must not block the warehouse forever. */
const copyLimitMs = 30 * 60_000;

/** What to do if the snapshot has changed since it was published. */
export const repairsSnapshot = repair(', which publishes it again');

/**
 * Publishes the warehouse's committed state as the snapshot; called by the process that holds the warehouse. The copy
 * is sealed, made read-only and compared with the warehouse before it replaces the snapshot, so readers find a complete
 * old or new snapshot. Removes a write-ahead log next to the old one, which belongs to another program: DuckDB would
 * apply it to the new one. Aborting the signal meanwhile stops publishing and throws its reason; a signal that was
 * aborted before does not. Returns the removed logs. Throws MachineError if the copy fails, ChangedFileError if the
 * present snapshot has more than the warehouse.
 */
export async function publishSnapshot(
  connection: Connection,
  warehouse: string,
  snapshot: string,
  {
    signal: given,
    log,
    retiring = usualRetiring,
    contents = { facts: undefined },
  }: {
    signal?: AbortSignal | undefined;
    log?: Log | undefined;
    retiring?: Retiring;
    /** What the warehouse is known to have had; updated to what it has. */
    contents?: KnownContents;
  } = {},
): Promise<readonly string[]> {
  const signal = given?.aborted ? undefined : given;
  const failure = `the snapshot ${snapshot} could not be published`;
  const known = contents.facts;
  const facts = await factsSince(connection, known);
  contents.facts = facts;
  const before = await readSeal(snapshot).catch((error: NodeJS.ErrnoException): SealState | undefined => {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw new MachineError(`${failure}: ${foundIn(error)}`, { cause: error, next: nextOf(error) });
  });
  refuseToForget(snapshot, await knowledgeOf(snapshot, before), facts, warehouse);
  const retired = await takeRetired(snapshot, before, retiring);
  const { part, isCloned } = await copyWarehouse(connection, warehouse, snapshot, failure, { signal, retired });
  try {
    const journal = await completeFiles(journalFolder(dirname(dirname(snapshot))));
    await sealFile(part, { ...facts, fastClock: await fastClock(connection), journal }, new Date());
    await chmod(part, (await newFileMode(snapshot)) & 0o444);
    await expectFacts(part, facts, failure, known);
    const logs = await removeLogs(snapshot);
    if ((await stat(snapshot).catch(() => undefined))?.isDirectory()) await removeFolder(snapshot);
    if (!isCloned) await keepRetired(snapshot, before, retiring);
    await rename(part, snapshot);
    // A program that still has the old file open may have written a new log meanwhile.
    logs.push(...(await removeLogs(snapshot)));
    await syncFolder(dirname(snapshot));
    if (logs.length > 0 || before?.state === 'changed') {
      log?.warn(
        'snapshot.repaired',
        'Another program had changed the snapshot; publishing it again without those changes',
        {
          snapshot,
          ...(logs.length === 0 ? {} : { removedLogs: logs.map((name) => basename(name)) }),
          advice: 'open it with duckdb -readonly',
        },
      );
    }
    return logs;
  } catch (error) {
    await rm(part, { force: true });
    if (error instanceof CostbookError) throw error;
    throw new MachineError(`${failure}: ${foundIn(error)}`, { cause: error, next: nextOf(error) });
  }
}

/** Facts as text: `load 12, journal event 96, 657775 rows, 56072.10 USD`. */
export function describeFacts({ loadNumber, lastEvent, rowCount, cost }: SnapshotFacts): string {
  return `load ${loadNumber}, journal event ${lastEvent}, ${rowCount} rows, ${cost} USD`;
}

/**
 * The contents of the snapshot's file according to its seal or, if another program has overwritten that, its tables;
 * undefined if neither is readable.
 */
export async function knowledgeOf(snapshot: string, state: SealState | undefined): Promise<SnapshotFacts | undefined> {
  if (state === undefined) return undefined;
  if (state.state !== 'damaged' && state.seal !== undefined) return state.seal;
  try {
    const database = await openDatabase(snapshot, { readOnly: true });
    try {
      return await factsOf(await database.connect(), 'wh');
    } finally {
      database.close();
    }
  } catch {
    return undefined; // not a snapshot of Costbook
  }
}

/**
 * Throws ChangedFileError if a snapshot has loads or events that are missing from the warehouse: that is an older copy,
 * or a new file.
 */
function refuseToForget(
  snapshot: string,
  before: SnapshotFacts | undefined,
  now: SnapshotFacts,
  warehouse: string,
): void {
  if (before === undefined || (before.loadNumber <= now.loadNumber && before.lastEvent <= now.lastEvent)) return;
  throw new ChangedFileError(
    `${snapshot} is not replaced, because it has more than ${warehouse}: ` +
      `the snapshot has ${describeFacts(before)}; the warehouse has ${describeFacts(now)}`,
    { subject: snapshot, next: repair() },
  );
}

/**
 * Throws MachineError if a copy differs from the warehouse. Older rows than those of `known` are counted but not read:
 * DuckDB checks each block when somebody reads it.
 */
async function expectFacts(
  part: string,
  expected: SnapshotFacts,
  failure: string,
  known: SnapshotFacts | undefined,
): Promise<void> {
  const database = await openDatabase(part, { readOnly: true, memoryMb: memoryLimitMb(false) });
  try {
    const found = await factsSince(await database.connect(), known);
    const isSame = Object.entries(expected).every(([name, value]) => found[name as keyof SnapshotFacts] === value);
    if (!isSame) {
      throw new MachineError(
        `${failure}: the copy has ${describeFacts(found)}, the warehouse has ${describeFacts(expected)}`,
        { next: act('check this disk.') },
      );
    }
  } finally {
    database.close();
  }
}

/** Removes an empty folder in place of a snapshot, as Docker makes one for a missing file that is mounted. */
async function removeFolder(snapshot: string): Promise<void> {
  await rmdir(snapshot).catch((error: unknown) => {
    throw new ChangedFileError(`${snapshot} is a folder, expected a file (${messageOf(error)})`, {
      cause: error,
      subject: snapshot,
      next: repair(', which moves it aside'),
    });
  });
}

async function removeLogs(file: string): Promise<string[]> {
  const logs = await logsBeside(file);
  for (const log of logs) await rm(log, { force: true });
  return logs;
}

/**
 * Copies the warehouse's committed state to a temporary file next to a path; returns its path, and whether the file
 * system shares the blocks of the two. With a retired snapshot, only the blocks that differ are copied into it. A
 * failure leaves nothing.
 */
async function copyWarehouse(
  connection: Connection,
  warehouse: string,
  copy: string,
  failure: string,
  { signal, retired }: { readonly signal?: AbortSignal | undefined; readonly retired?: Retired | undefined },
): Promise<{ readonly part: string; readonly isCloned: boolean }> {
  await connection.checkpoint();
  signal?.throwIfAborted();
  await removeParts(copy, retired?.path);
  const reused = retired === undefined ? [] : [retired.path, String(headerBytes), String(retired.blockBytes)];
  const child = spawn(process.execPath, ['-e', copyScript, warehouse, copy, String(process.pid), ...reused], {
    env: {},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: Buffer[] = [];
  let how = '';
  child.stdout.on('data', (chunk: Buffer) => {
    how += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  child.stdin.on('error', () => undefined); // it may have ended already
  function giveUp(): void {
    child.stdin.end();
  }
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    giveUp();
  }, copyLimitMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp(); // it aborted while the child was started
  try {
    const [exitCode] = await once(child, 'close');
    if (exitCode === 0) return { part: `${copy}.${child.pid}.part`, isCloned: how === 'cloned' };
  } catch (error) {
    said.push(Buffer.from(String(error)));
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', giveUp);
  }
  const reason = isLate ? `it took longer than ${copyLimitMs / 60_000} minutes` : Buffer.concat(said).toString();
  if (reason === '') signal?.throwIfAborted();
  const cause = Object.assign(new Error(reason), { code: how });
  throw new MachineError(`${failure}: ${reason || 'the copy was killed'}`, { cause });
}

/** Removes what killed copies left: one writer holds the warehouse, so no copy is running. */
async function removeParts(copy: string, except?: string): Promise<void> {
  const folder = dirname(copy);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.startsWith(`${basename(copy)}.`) && name.endsWith('.part') && path !== except)
      await rm(path, { force: true });
  }
}

/** The mode that this process gives to new files next to a file. */
export async function newFileMode(file: string): Promise<number> {
  const probe = `${file}.mode.part`;
  try {
    await (await open(probe, 'w')).close();
    return (await stat(probe)).mode & 0o777;
  } finally {
    await rm(probe, { force: true });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
