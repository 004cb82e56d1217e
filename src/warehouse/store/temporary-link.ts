import { access, constants, copyFile, link, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const prefix = '.reading-';
/** A reader needs its name for a moment: what is older was left by one that was killed. */
const quietMs = 5 * 60_000;

/**
 * Lets `open` open a file for reading by a name that is removed before this returns. DuckDB lets SQL write to the path
 * of every attached file, and to the paths of its log, even after a lock-down and even if it is attached read-only. A
 * path in a folder that no longer exists leads nowhere, even for root; the opened file stays open.
 * \n The name is a hard link, so a large file costs nothing. If links are impossible, the file is opened by its own
 * name if this user can write neither it nor its folder, and otherwise copied.
 */
export async function throughPassingName(file: string, open: (path: string) => Promise<unknown>): Promise<void> {
  const folder = dirname(file);
  await removeForgotten(folder);
  const own = await mkdtemp(join(folder, prefix)).catch(() => undefined);
  if (own !== undefined) {
    try {
      const name = join(own, 'books.duckdb');
      if (await succeeds(link(file, name))) {
        await open(name);
        return;
      }
    } finally {
      await remove(own);
    }
  }
  if (own === undefined && !(await succeeds(access(file, constants.W_OK)))) {
    await open(file);
    return;
  }
  const copies = await mkdtemp(join(tmpdir(), 'costbook-'));
  try {
    const copy = join(copies, 'books.duckdb');
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    await open(copy);
  } finally {
    await remove(copies);
  }
}

/** Some network file systems keep the name of an open file for a while; then a later reader removes the folder. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => rmdir(folder).catch(() => undefined));
}

/** Removes names that a killed reader left. */
async function removeForgotten(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > quietMs) await remove(join(folder, name));
  }
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
