import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { UsageError } from './errors.ts';

/** What a project folder has at least one of. */
const signs = ['costbook.yaml', 'data', 'jobs'];

/**
 * Says that a folder is no project, where one was looked for and where one is: what a person needs who is in the wrong
 * folder. Undefined where it is one.
 */
export function noProjectWords(dir: string): string | undefined {
  if (isProject(dir)) return undefined;
  const near = nearProject(dir);
  const found = near === undefined ? '' : `; there is one in ${near}`;
  return (
    `${dir} is no Costbook project: it has none of ${signs.join(', ')}${found}. Name the project folder with --dir ` +
    '(COSTBOOK_DIR), or begin one with "costbook init"'
  );
}

/** Throws UsageError for a folder that is no project. */
export function expectProject(dir: string): void {
  const words = noProjectWords(dir);
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
