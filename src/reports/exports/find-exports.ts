import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { dataOfExport, isReadInReport } from './export-content.ts';
import { reportFolderOf } from './export-names.ts';
import { manifestNames, nextManifestName } from './manifest.ts';

/**
 * The folders below `root` with a manifest, or with data that belongs beside one, in order, and those that cannot be read: others
 * may have made them. `recorded` are folders that had a manifest: what is in them is data too, such as the tables of a lake.
 * Throws what the file system throws for `root` itself.
 */
export async function findExports(root: string, recorded: readonly string[] = []): Promise<string[]> {
  const folders: string[] = [];
  const [manifests, links]: [string[], string[]] = [[], []];
  const others: { readonly folder: string; readonly names: readonly string[] }[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const own = folder;
    const entries = await readdir(own, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (own === root) throw error;
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') folders.push(own);
      return [];
    });
    if (entries.some(isOfExport)) folders.push(own);
    if (entries.some(({ name }) => isNameOfManifest(name))) manifests.push(own);
    else others.push({ folder: own, names: entries.flatMap((entry) => (entry.isDirectory() ? [] : entry.name)) });
    for (const entry of entries) {
      const path = join(own, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isSymbolicLink() && (await stat(path).catch(() => undefined))?.isDirectory()) links.push(path);
    }
  }
  const real = await realpath(root);
  const gone: string[] = [];
  for (const folder of recorded) {
    const below = relative(real, await realpath(folder).catch(() => folder));
    if (below.split(sep)[0] !== '..' && !isAbsolute(below)) gone.push(join(root, below));
  }
  const reports = new Set([...manifests, ...gone].map((folder) => reportFolderOf(root, folder)));
  const exports = new Set(manifests);
  for (const folder of gone) if (await hasDataOf(folder, folders)) exports.add(folder);
  for (const { folder, names } of others) {
    const report = firstOf(folder, reports);
    if (report === undefined || firstOf(folder, exports) !== undefined) continue;
    if (names.some((name) => isReadInReport(slashed(relative(report, join(folder, name)))))) folders.push(folder);
  }
  for (const link of links) {
    // Readers follow it, and read what is there a second time, or what somebody else has written.
    const isExport = async () => (await readdir(link, { withFileTypes: true }).catch(() => [])).some(isOfExport);
    if (firstOf(link, reports) !== undefined || (await isExport())) folders.push(link);
  }
  return [...new Set([...folders, ...exports])].sort();
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}

/** The nearest folder that a path is, or is below, among some; undefined if there is none. */
function firstOf(path: string, folders: ReadonlySet<string>): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    if (folders.has(folder)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The exports in the folder of another report, each with that: who reads all of that report reads their rows too. */
export function exportsInOthers(root: string, folders: readonly string[]): ReadonlyMap<string, string> {
  const reports = new Set(folders.map((folder) => reportFolderOf(root, folder)));
  const found = new Map<string, string>();
  for (const folder of folders) {
    const own = reportFolderOf(root, folder);
    const outer = own === root ? undefined : firstOf(dirname(own), reports);
    if (outer !== undefined) found.set(folder, relative(root, outer) || '.');
  }
  return found;
}

function isNameOfManifest(name: string): boolean {
  return manifestNames.includes(name) || name === nextManifestName;
}

/** Whether something in a folder makes it an export: a manifest, or data that belongs beside one. */
export function isOfExport({ name }: Dirent): boolean {
  return isNameOfManifest(name) || dataOfExport.test(name);
}

/** Whether a folder has files that are of no export further below, besides hidden ones. */
async function hasDataOf(folder: string, exports: readonly string[]): Promise<boolean> {
  const others = exports.filter((other) => other.startsWith(`${folder}${sep}`));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.some(
    (entry) =>
      !entry.isDirectory() &&
      !/^[._]/.test(entry.name) &&
      !others.some((other) => `${entry.parentPath}${sep}`.startsWith(`${other}${sep}`)),
  );
}
