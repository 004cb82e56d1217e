import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { UsageError } from './errors.ts';

/** What a project folder has at least one of. */
const signs = ['costbook.yaml', 'data', 'jobs'];

/** Variables of the environment that are a configuration: with one of them any folder can become a project. */
const configuring = ['COSTBOOK_URL', 'COSTBOOK_ACCOUNT'];

type Environment = Readonly<Record<string, string | undefined>>;

/** Says that a folder is no project, what was looked for in it, and which project is near; undefined where it is one. */
export function noProjectWords(dir: string, env: Environment): string | undefined {
  if (isProject(dir) || configuring.some((name) => Boolean(env[name]))) return undefined;
  const near = nearProject(dir);
  const found = near === undefined ? '' : `; there is one in ${near}`;
  return (
    `${dir} is no Costbook project: it has none of ${signs.join(', ')}${found}. Name the project folder with --dir ` +
    '(COSTBOOK_DIR), or begin one with "costbook init"'
  );
}

/** Throws UsageError for a folder that is no project, before anything is written there. */
export function expectProject({ dir, env }: { readonly dir: string; readonly env: Environment }): void {
  const words = noProjectWords(dir, env);
  if (words !== undefined) throw new UsageError(words);
}

function isProject(dir: string): boolean {
  return signs.some((name) => statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined);
}

/** A project above the folder or directly in it. Only a configuration or books make one: other folders have data, too. */
function nearProject(dir: string): string | undefined {
  for (let above = dirname(dir); above !== dirname(above); above = dirname(above)) if (isCertain(above)) return above;
  try {
    const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => join(dir, name)).find(isCertain);
  } catch {
    return undefined; // a folder that may not be listed
  }
}

function isCertain(dir: string): boolean {
  return ['costbook.yaml', join('data', 'costbook.duckdb')].some(
    (name) => statSync(join(dir, name), { throwIfNoEntry: false }) !== undefined,
  );
}
