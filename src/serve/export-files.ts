import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import { findExports, type Manifest, monthFolder, readManifest } from '../reports/exports/index.ts';
import { fileTypes } from '../tables/file-formats.ts';

/** More are not read: a folder may hold years of exports. */
const maxManifests = 300;
/** What the manifests of one page may have in all; that of a lake of three years has a fifth of it. */
const mostManifestBytes = 8 * 1024 * 1024;

/** The exports of a project below its folder `exports`. */
export function exportsFolder(dir: string): string {
  return join(dir, 'exports');
}

/** An export, and its folder below that of all exports, with `/`. */
export interface StoredExport {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Which exports are asked for: those of some reports, or those that may have files of a month, `2026-10`. */
type AskedExports = { readonly reports: readonly string[] } | { readonly month: string };

/** Exports, newest books first. Manifests that are damaged, or replaced at this moment, are left out. */
export async function exportsOf(dir: string, asked: AskedExports): Promise<readonly StoredExport[]> {
  const root = exportsFolder(dir);
  const all = await findExports(root).catch(() => []); // nothing was written yet
  const folders = all.filter((folder) => mayHold(relative(root, folder).split(sep), asked));
  const found: StoredExport[] = [];
  let left = mostManifestBytes;
  // One after the other, the last months first: anybody may have written them.
  for (const folder of folders.slice(-maxManifests).reverse()) {
    const stored = await readManifest(folder, undefined, left).catch(() => undefined);
    left -= stored?.bytes ?? 0;
    if (stored === undefined) continue;
    if ('reports' in asked && !asked.reports.includes(stored.manifest.report)) continue;
    found.push({ folder: relative(root, folder).replaceAll(sep, '/'), manifest: stored.manifest });
  }
  return found.sort((a, b) => (a.manifest.asOf < b.manifest.asOf ? 1 : -1));
}

/** Whether a folder, by the parts of its path, may hold what is asked for: an export of one month has it in its path. */
function mayHold(parts: readonly string[], asked: AskedExports): boolean {
  if ('reports' in asked) return parts.some((part) => asked.reports.includes(part));
  return parts.includes(monthFolder(asked.month)) || !parts.some((part) => part.startsWith(monthFolder('')));
}

/** The statements among the exports. */
export const statementNames: readonly string[] = ['statement', 'owner_statement'];

/** Whether a file of an export is a page that a browser shows: the page of a statement, which has no script. */
export function canBeOpened({ report }: Manifest, file: string): boolean {
  return statementNames.includes(report) && extname(file) === '.html';
}

/** The address of a file that a manifest names. */
export function exportAddress(folder: string, file: string): string {
  return `/exports?${new URLSearchParams({ folder, file })}`;
}

/** An open file of an export; whoever gets it closes it. */
export interface ExportFile {
  readonly handle: FileHandle;
  readonly bytes: number;
  readonly name: string;
  readonly type: string;
  /** As `canBeOpened`. */
  readonly isPage: boolean;
}

/**
 * Opens a file of an export for reading. Only a regular file that the manifest of its folder names, inside the folder of
 * exports, is opened; a link anywhere on its path is not followed. Undefined for everything else.
 */
export async function openExportFile(dir: string, folder: string, file: string): Promise<ExportFile | undefined> {
  const parts = [...folder.split('/'), ...file.split('/')];
  if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\\\0]/.test(part))) return undefined;
  const root = await realpath(exportsFolder(dir)).catch(() => undefined);
  if (root === undefined) return undefined;
  const place = join(root, ...folder.split('/'));
  if (!(await isReal(place))) return undefined;
  const stored = await readManifest(place, undefined, mostManifestBytes).catch(() => undefined);
  const entry = stored?.manifest.files.find(({ name }) => name === file);
  if (stored === undefined || entry === undefined) return undefined;
  const path = join(place, ...file.split('/'));
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) return undefined;
  const [opened, named] = await Promise.all([handle.stat(), stat(path).catch(() => undefined)]);
  const isSame =
    opened.isFile() && opened.ino === named?.ino && opened.dev === named.dev && opened.size === entry.bytes;
  if (!isSame || !(await isReal(path))) {
    await handle.close();
    return undefined;
  }
  return {
    handle,
    bytes: opened.size,
    name: safeName(nameToSave(stored, basename(path))),
    type: fileTypes[extname(path).slice(1)] ?? plainBytes,
    isPage: canBeOpened(stored.manifest, file),
  };
}

/** Whether no part of a path is a link. */
async function isReal(path: string): Promise<boolean> {
  return (await realpath(path).catch(() => undefined)) === path;
}

const plainBytes = 'application/octet-stream';

/** The name to save a file under: of all reports and months, `latest.csv` would be one. */
function nameToSave({ manifest: { report, parameters } }: { readonly manifest: Manifest }, name: string): string {
  const month = parameters['month'];
  return name.replace(/^latest(?=[.-])/, [report, ...(typeof month === 'string' ? [month] : [])].join('-'));
}

/** A name that a header can hold as it is. */
function safeName(name: string): string {
  return name.replace(/[^\w.=-]+/g, '_').slice(-120);
}
