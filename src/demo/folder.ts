import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../errors.ts';

/** A folder with this file in it was made by a demo, and the next one may empty it. */
const marker = '.costbook-demo';
/** Whose the invented costs are, and what may be spent; beside `dist` in a package. */
const demoJobs = fileURLToPath(new URL('../../jobs/demo', import.meta.url));
const jobs = ['allocation.yaml', 'budgets.yaml'] as const;

/** An empty demo folder. Throws UsageError for a folder that somebody else filled. */
export async function prepareFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0 && !names.includes(marker)) {
    throw new UsageError(`${folder} is there already and was not made by a demo: move it away, or use --dir`);
  }
  for (const name of ['data', 'exports', 'jobs']) await rm(join(folder, name), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await mkdir(join(folder, 'jobs'));
  for (const name of jobs) await copyFile(join(demoJobs, name), join(folder, 'jobs', name));
  await writeFile(join(folder, marker), 'Made by costbook demo, which empties this folder when it runs again.\n');
}
