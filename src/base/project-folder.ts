import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { UsageError } from './errors.ts';

/** A project folder has at least one of these. */
const signs = ['costbook.yaml', 'data', 'jobs'];

/** Environment variables that configure a project: with one of them, any folder can become one. */
const configuring = ['COSTBOOK_URL', 'COSTBOOK_ACCOUNT'];

type Environment = Readonly<Record<string, string | undefined>>;

/** The message for a folder that is not a project, with a nearby project; undefined if it is a project. */
export function noProjectWords(dir: string, env: Environment): string | undefined {
  if (isProject(dir) || configuring.some((name) => Boolean(env[name]))) return undefined;
  const near = nearProject(dir);
  const found = near === undefined ? '' : `; there is one in ${near}`;
  return (
    `${dir} is not a Costbook project: it has none of ${signs.join(', ')}${found}. Name the project folder with --dir ` +
    '(COSTBOOK_DIR), or create one with "costbook init"'
  );
}

/** Throws UsageError for a folder that is not a project, before anything is written there. */
export function expectProject({ dir, env }: { readonly dir: string; readonly env: Environment }): void {
  const words = noProjectWords(dir, env);
  if (words !== undefined) throw new UsageError(words);
}

function isProject(dir: string): boolean {
  // What cannot be looked at is there: who reads it says why it cannot be read.
  return signs.some((name) => isThere(join(dir, name)) ?? true);
}

/** Whether there is something; undefined if nobody may look. */
function isThere(path: string): boolean | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return undefined;
  }
}

/** A project above or directly below the folder. It must have a configuration or books: other folders have data/ too. */
function nearProject(dir: string): string | undefined {
  for (let above = dirname(dir); above !== dirname(above); above = dirname(above)) if (isCertain(above)) return above;
  try {
    const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => join(dir, name)).find(isCertain);
  } catch {
    return undefined; // no permission to list the folder
  }
}

function isCertain(dir: string): boolean {
  return ['costbook.yaml', join('data', 'costbook.duckdb')].some((name) => isThere(join(dir, name)) === true);
}
