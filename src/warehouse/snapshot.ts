import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MachineError } from '../errors.ts';
import type { Connection } from './connection.ts';

/**
 * Runs in a child process: in the process that holds the warehouse any other descriptor of its file, once closed,
 * would drop DuckDB's lock. Clones where the file system can, syncs, then renames, so that readers find the old
 * snapshot or the new one and never a part. Its stdin ends when the writer wants no copy any more or is dead; then
 * nothing is published, as the next writer may be writing what is being copied. Signals are the writer's to answer:
 * a terminal sends them to both.
 */
const copyScript = `
const fs = require('node:fs');
const [from, to, writer] = process.argv.slice(1);
const part = to + '.' + process.pid + '.part';
function giveUp() {
  fs.rmSync(part, { force: true });
  process.kill(process.pid, 'SIGKILL'); // leaving in order would wait for the copy
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.stdin.on('end', giveUp).on('error', giveUp).resume();
(async () => {
  await fs.promises.copyFile(from, part, fs.constants.COPYFILE_FICLONE);
  const file = await fs.promises.open(part, 'r+');
  await file.sync();
  await file.close();
  if (process.ppid !== Number(writer)) return giveUp();
  fs.renameSync(part, to);
  process.exit();
})().catch((error) => {
  fs.rmSync(part, { force: true });
  process.stderr.write(error.message, () => process.exit(1));
});`;

/** No disk that is fit for the purpose takes longer; one that hangs must not hold the warehouse for ever. */
const copyLimitMs = 30 * 60_000;

/** The snapshot that readers open, below the project folder. */
export function snapshotFile(dir: string): string {
  return join(dir, 'data', 'costbook.duckdb');
}

/**
 * Publishes the warehouse's committed state as the snapshot; called by the process that holds the warehouse. A signal
 * that is aborted meanwhile gives it up and is thrown; one that was aborted before is no reason not to publish.
 * Throws MachineError where the copy fails.
 */
export async function publishSnapshot(
  connection: Connection,
  warehouse: string,
  snapshot: string,
  signal?: AbortSignal,
): Promise<void> {
  await copyWarehouse(connection, warehouse, snapshot, `the snapshot ${snapshot} could not be published`, signal);
}

/**
 * Copies the warehouse aside before migrations change it, as `warehouse.before-0002.duckdb` where 0002 is the first of
 * them; returns the copy's path. Throws MachineError where the copy fails: nothing is changed then.
 */
export async function copyBeforeMigrating(
  connection: Connection,
  warehouse: string,
  migration: string,
  signal?: AbortSignal,
): Promise<string> {
  const number = /^\d+/.exec(migration)?.[0] ?? migration;
  const copy = join(dirname(warehouse), `${copyPrefix(warehouse)}${number}.duckdb`);
  const failure = `${warehouse} is left as it was: before migration ${migration} it is copied to ${copy}, which could not be done`;
  await copyWarehouse(connection, warehouse, copy, failure, signal);
  return copy;
}

/** How many copies from before a migration are kept. */
const copiesKept = 2;

/** Removes all copies from before a migration but the newest. */
export async function removeOldCopies(warehouse: string): Promise<void> {
  const folder = dirname(warehouse);
  const prefix = copyPrefix(warehouse);
  const copies = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith('.duckdb')).sort();
  for (const name of copies.slice(0, -copiesKept)) await rm(join(folder, name), { force: true });
}

function copyPrefix(warehouse: string): string {
  return `${basename(warehouse, '.duckdb')}.before-`;
}

/** Copies the warehouse's committed state to a file that is there whole or not at all. */
async function copyWarehouse(
  connection: Connection,
  warehouse: string,
  copy: string,
  failure: string,
  signal?: AbortSignal,
): Promise<void> {
  await connection.checkpoint();
  await removeParts(copy);
  const child = spawn(process.execPath, ['-e', copyScript, warehouse, copy, String(process.pid)], {
    env: {},
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const said: Buffer[] = [];
  child.stderr.on('data', (piece: Buffer) => said.push(piece));
  child.stdin.on('error', () => undefined); // it may be over before it is told to give up
  function giveUp(): void {
    child.stdin.end();
  }
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    giveUp();
  }, copyLimitMs);
  if (!signal?.aborted) signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const [exitCode] = await once(child, 'close');
    if (exitCode === 0) return;
  } catch (error) {
    said.push(Buffer.from(String(error)));
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', giveUp);
  }
  const because = isLate ? `it took longer than ${copyLimitMs / 60_000} minutes` : Buffer.concat(said).toString();
  if (because === '') signal?.throwIfAborted();
  throw new MachineError(`${failure}: ${because || 'the copy was killed'}`);
}

/** Removes what copies that were killed left: one writer holds the warehouse, so none of them is under way. */
async function removeParts(copy: string): Promise<void> {
  const folder = dirname(copy);
  for (const name of await readdir(folder)) {
    if (name.startsWith(`${basename(copy)}.`) && name.endsWith('.part')) {
      await rm(join(folder, name), { force: true });
    }
  }
}
