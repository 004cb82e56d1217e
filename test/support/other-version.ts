import { cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newProject } from './project.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** This program with further migrations, by file name: a newer version of it, whose command line file is returned. */
export async function newerVersion(migrations: Readonly<Record<string, string>>): Promise<string> {
  const folder = await newProject();
  for (const name of ['dist', 'sql', 'jobs', 'package.json']) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(migrations)) {
    await writeFile(join(folder, 'sql', 'migrations', name), text);
  }
  return join(folder, 'dist', 'cli.js');
}
