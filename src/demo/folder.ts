import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { shipped } from '../base/places.ts';

/** Marks a folder that the demo created, so that the next demo may empty it. */
const marker = '.costbook-demo';
/** Allocation rules and budgets of the demo; next to `dist` in a package. */
const demoJobs = shipped('jobs/demo');
const jobs = ['allocation.yaml', 'budgets.yaml'] as const;

/** Creates or empties the demo folder. Throws UsageError for a folder that no demo created. */
export async function prepareFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0 && !names.includes(marker)) {
    throw new UsageError(
      `${folder} already exists and was not created by a demo: move it away, or choose another place with --dir`,
    );
  }
  for (const name of ['data', 'exports', 'jobs']) await rm(join(folder, name), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await mkdir(join(folder, 'jobs'));
  for (const name of jobs) await copyFile(join(demoJobs, name), join(folder, 'jobs', name));
  await writeFile(join(folder, marker), 'Created by costbook demo. The demo empties this folder when it runs again.\n');
}
