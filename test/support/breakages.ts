import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, cp, mkdir, open, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';

/** What can happen to the files of the books, by name. `older` is a copy of the project from an earlier night. */
export type Breakage = (dir: string, older: string) => Promise<void>;

const duckdb = pathToFileURL(createRequire(import.meta.url).resolve('@duckdb/node-api')).href;

export const snapshotOf = (dir: string) => join(dir, 'data', 'costbook.duckdb');
export const warehouseOf = (dir: string) => join(dir, 'data', 'warehouse.duckdb');

/** Opens a file for writing in a process of its own, as the DuckDB CLI does by default, and is killed or ends in order. */
export function writeAsForeigner(file: string, statements: readonly string[], end: 'killed' | 'closed'): void {
  const script = `
    const { DuckDBInstance } = await import('${duckdb}');
    const instance = await DuckDBInstance.create(${JSON.stringify(file)}, { threads: '1' });
    const connection = await instance.connect();
    for (const statement of ${JSON.stringify(statements)}) await connection.run(statement);
    if (${end === 'killed'}) process.kill(process.pid, 'SIGKILL');
    connection.closeSync();
    instance.closeSync();`;
  const { stderr, status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(stderr.toString());
}

/** Opens a file for writing in a process of its own, and holds it until it is released: two users in one process share a lock. */
export async function holdAsForeigner(file: string): Promise<{ readonly pid: number; release(): Promise<void> }> {
  const script = `
    const { DuckDBInstance } = await import('${duckdb}');
    const instance = await DuckDBInstance.create(${JSON.stringify(file)}, { threads: '1' });
    process.stdout.write('held');
    for await (const _ of process.stdin);
    instance.closeSync();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  return {
    pid: child.pid ?? 0,
    async release() {
      child.stdin.end();
      await ended;
    },
  };
}

const deletes = ['delete from ledger.hourly_costs where load_number % 2 = 1'];

async function overwrite(file: string, from: number, bytes: number): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(bytes, 0x55), 0, bytes, from);
  await handle.close();
}

async function halve(file: string): Promise<void> {
  await truncate(file, Math.floor((await stat(file)).size / 2));
}

/** Overwrites parts of every block except the headers, so that the next block that is read has a wrong checksum. */
export async function scratch(file: string): Promise<void> {
  const { size } = await stat(file);
  for (let block = 12_288; block + 262_144 <= size; block += 262_144) await overwrite(file, block + 50_000, 64);
}

/** Overwrites part of the first block without which the file opens, but its hourly costs cannot be read. */
export async function scratchCosts(file: string): Promise<void> {
  const copy = `${file}.scratched`;
  const { size } = await stat(file);
  for (let block = 12_288; block + 262_144 <= size; block += 262_144) {
    await copyFile(file, copy);
    await chmod(copy, 0o600);
    await overwrite(copy, block + 50_000, 4096);
    if ((await isReadable(copy, 'select 1')) && !(await isReadable(copy, hashOfCosts))) return rename(copy, file);
  }
  throw new Error(`no block of ${file} has hourly costs alone`);
}

const hashOfCosts = 'select sum(hash(row)) from ledger.hourly_costs as row';

async function isReadable(file: string, sql: string): Promise<boolean> {
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' }).catch(() => undefined);
  const connection = await instance?.connect();
  const rows = await connection?.runAndReadAll(sql).catch(() => undefined);
  connection?.closeSync();
  instance?.closeSync();
  return rows !== undefined;
}

/** A log that another program left next to an older snapshot, found next to this one. */
async function plantOlderLog(dir: string, older: string): Promise<void> {
  const own = `${snapshotOf(dir)}.elsewhere`;
  await copyFile(snapshotOf(older), own);
  writeAsForeigner(own, deletes, 'killed');
  await rename(`${own}.wal`, `${snapshotOf(dir)}.wal`);
  await rm(own);
}

export const breakages: Readonly<Record<string, Breakage>> = {
  'a client killed while it wrote to the snapshot': async (dir) => writeAsForeigner(snapshotOf(dir), deletes, 'killed'),
  'a client that wrote to the snapshot and ended': async (dir) => writeAsForeigner(snapshotOf(dir), deletes, 'closed'),
  'a client that made a view in the snapshot anew': async (dir) =>
    writeAsForeigner(snapshotOf(dir), ['create or replace view costs as select * from costs_v1 limit 1'], 'closed'),
  'a log of an older snapshot beside the snapshot': plantOlderLog,
  'a log of junk beside the snapshot': (dir) => writeFile(`${snapshotOf(dir)}.wal`, 'junk'),
  'a snapshot of junk': (dir) => writeFile(snapshotOf(dir), 'this is no database'),
  'an empty snapshot': (dir) => writeFile(snapshotOf(dir), ''),
  'half a snapshot': (dir) => halve(snapshotOf(dir)),
  'a snapshot with scratched blocks': (dir) => scratch(snapshotOf(dir)),
  // Docker makes such a folder for a file that is mounted and missing.
  'a folder in place of the snapshot': async (dir) => {
    await rm(snapshotOf(dir));
    await mkdir(snapshotOf(dir));
  },
  'a folder in place of the warehouse': async (dir) => {
    await rm(warehouseOf(dir));
    await mkdir(warehouseOf(dir));
  },
  'no snapshot': (dir) => rm(snapshotOf(dir)),
  'no warehouse': (dir) => rm(warehouseOf(dir)),
  'no warehouse but its log': async (dir) => {
    writeAsForeigner(warehouseOf(dir), ['create table stray as select 1 as one'], 'killed');
    await rm(warehouseOf(dir));
  },
  'a warehouse of junk': (dir) => writeFile(warehouseOf(dir), 'this is no database'),
  'an empty warehouse': (dir) => writeFile(warehouseOf(dir), ''),
  'half a warehouse': (dir) => halve(warehouseOf(dir)),
  'a client that deleted rows of the warehouse and ended': async (dir) =>
    writeAsForeigner(warehouseOf(dir), deletes, 'closed'),
  'a client killed while it deleted rows of the warehouse': async (dir) =>
    writeAsForeigner(warehouseOf(dir), deletes, 'killed'),
  'an older warehouse': (dir, older) => copyFile(warehouseOf(older), warehouseOf(dir)),
  'neither warehouse nor snapshot': async (dir) => {
    await rm(warehouseOf(dir));
    await rm(snapshotOf(dir));
  },
  'a warehouse of junk and a changed snapshot': async (dir) => {
    await writeFile(warehouseOf(dir), 'this is no database');
    writeAsForeigner(snapshotOf(dir), deletes, 'closed');
  },
  'no warehouse, and landing without the answers of a load': async (dir) => {
    await rm(warehouseOf(dir));
    await rm(join(dir, 'data', 'landing', 'acc_one', 'load-000000001', 'detail-0001.json'));
  },
  'parts of a rebuild that was killed': async (dir) => {
    await cp(snapshotOf(dir), `${warehouseOf(dir)}.part`);
    await writeFile(`${warehouseOf(dir)}.4711.part`, 'half a file');
    await rm(warehouseOf(dir));
  },
};
