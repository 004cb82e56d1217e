import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MachineError } from '../errors.ts';
import type { Connection } from './connection.ts';

const execFileAsync = promisify(execFile);

/**
 * Runs in a child process: in the process that holds the warehouse any other descriptor of its file, once closed,
 * would drop DuckDB's lock. Clones where the file system can, syncs, then renames, so that readers find the old
 * snapshot or the new one and never a part.
 */
const copyScript = `
const fs = require('node:fs');
const [from, to] = process.argv.slice(1);
const part = to + '.' + process.pid + '.part';
try {
  fs.copyFileSync(from, part, fs.constants.COPYFILE_FICLONE);
  const file = fs.openSync(part, 'r+');
  fs.fsyncSync(file);
  fs.closeSync(file);
  fs.renameSync(part, to);
} catch (error) {
  fs.rmSync(part, { force: true });
  process.stderr.write(error.message);
  process.exit(1);
}`;

/** The snapshot that readers open, below the project folder. */
export function snapshotFile(dir: string): string {
  return join(dir, 'data', 'costbook.duckdb');
}

/** Publishes the warehouse's committed state as the snapshot. Throws MachineError where the copy fails. */
export async function publishSnapshot(connection: Connection, warehouse: string, snapshot: string): Promise<void> {
  await connection.run('checkpoint wh');
  try {
    await execFileAsync(process.execPath, ['-e', copyScript, warehouse, snapshot], { env: {} });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new MachineError(`the snapshot ${snapshot} could not be published: ${stderr || String(error)}`, {
      cause: error,
    });
  }
}
