import { appendFile, mkdir, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import { act } from '../../base/next-step.ts';
import { bytesOf } from '../../base/regular-file.ts';
import { journalFolder } from '../../warehouse/journal/index.ts';
import { syncPath } from './durable.ts';
import { reportFolderOf } from './export-names.ts';

/** A manifest that this project has committed: whoever changes an export cannot change its line here as well. */
interface Line {
  /** The folder of the export: below the project's folder if it is there, otherwise its whole path. */
  readonly place: string;
  /** SHA-256 of the manifest. */
  readonly sha256: string;
  /** The instant that the export is as of. */
  readonly asOf: string;
}

/** What the journal of a project knows about exports. */
export interface ExportsJournal {
  /**
   * Whether the project committed a manifest in a folder: not if it has other ones there, even if this one is of another
   * folder. Undefined if it knows neither the folder nor the manifest. A folder that it does not know may be a copy.
   */
  has(folder: string, sha256: string): Promise<boolean | undefined>;
  /** The SHA-256 of the last manifest that was committed in a folder; undefined if none was. */
  lastIn(folder: string): Promise<string | undefined>;
  /** Whether that is this one; of a folder that the journal does not know, whether it knows the manifest. */
  isLast(folder: string, sha256: string): Promise<boolean>;
  /** Whether exports of a report of this name were committed. */
  isReport(name: string): boolean;
  /** Whether a folder beside exports has a manifest that was committed in another one: readers of both read its rows twice. */
  isCopy(folder: string, sha256: string): Promise<boolean>;
  /** The folders in which the project committed a manifest. */
  readonly folders: readonly string[];
  /** Whether the last line is not whole. */
  readonly isTorn: boolean;
  /** Whether it has no line: the project has recorded no export yet, or its journal is gone. */
  readonly isEmpty: boolean;
}

/** Beside the events of the books, which only their writer may write: reports are written without its lock. */
function journalFile(dir: string): string {
  return join(journalFolder(dir), 'exports.ndjson');
}

/**
 * Records a manifest before it is committed, unless it is the last one of its folder. Somebody who may only read the project's folder
 * writes exports that nobody records.
 */
export async function recordManifest(
  dir: string,
  { folder, sha256, asOf }: { readonly folder: string; readonly sha256: string; readonly asOf: string },
): Promise<void> {
  const journal = await readExportsJournal(dir);
  if ((await journal.lastIn(folder)) === sha256) return;
  const line: Line = { place: await placeIn(dir, folder), sha256, asOf };
  const file = journalFile(dir);
  try {
    // A project may have a published snapshot alone.
    await mkdir(journalFolder(dir)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    // One write of one short line: several reports may end at once. A line that a power cut has torn ends before it.
    await appendFile(file, `${journal.isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    await syncPath(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(code ?? '')) throw error;
  }
}

/** Reads the journal of exports; an empty one if there is none, or if it may not be read. Lines that are cut off count as missing. */
export async function readExportsJournal(dir: string): Promise<ExportsJournal> {
  const file = journalFile(dir);
  const text = await bytesOf(file).then(String, (error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) return '';
    if (error.code !== 'EISDIR') throw error;
    throw new UsageError(`found ${file}, which is no regular file, expected the journal of exports`, {
      next: act('move it away.'),
    });
  });
  const lines = text.split('\n').flatMap((line) => parseLine(line) ?? []);
  const known = new Set(lines.map(({ sha256 }) => sha256));
  const rootOf = (place: string) => (isAbsolute(place) ? place : place.slice(0, place.indexOf('/')));
  const roots = new Set(lines.map(({ place }) => rootOf(place)));
  const places = new Map<string, string[]>();
  for (const { place, sha256 } of lines) {
    const own = places.get(place);
    if (own === undefined) places.set(place, [sha256]);
    else own.push(sha256);
  }
  const lastIn = async (folder: string) => places.get(await placeIn(dir, folder))?.at(-1);
  return {
    has: async (folder, sha256) =>
      places.get(await placeIn(dir, folder))?.includes(sha256) ?? (known.has(sha256) || undefined),
    async isCopy(folder, sha256) {
      const place = await placeIn(dir, folder);
      return known.has(sha256) && !places.has(place) && roots.has(rootOf(place));
    },
    lastIn,
    async isLast(folder, sha256) {
      const last = await lastIn(folder);
      return last === undefined ? known.has(sha256) : last === sha256;
    },
    isReport: (name) => [...places.keys()].some((place) => basename(reportFolderOf('', place)) === name),
    folders: [...places.keys()].map((place) => resolve(dir, place)),
    isTorn: text !== '' && !text.endsWith('\n'),
    isEmpty: lines.length === 0,
  };
}

function parseLine(text: string): Line | undefined {
  try {
    const { place, sha256, asOf } = JSON.parse(text) as Partial<Record<keyof Line, unknown>>;
    const isWhole = typeof place === 'string' && typeof sha256 === 'string' && typeof asOf === 'string';
    return isWhole ? { place, sha256, asOf } : undefined;
  } catch {
    return undefined;
  }
}

async function placeIn(dir: string, folder: string): Promise<string> {
  const [project, place] = await Promise.all([dir, folder].map((path) => realpath(path).catch(() => path)));
  const below = relative(project ?? dir, place ?? folder);
  return below.startsWith('..') ? (place ?? folder) : below.split(sep).join('/');
}
