import { type Dirent, existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ChangedFileError, messageOf } from './errors.ts';
import { repair } from './next-step.ts';

/** A folder, or a pipe, in place of a file below `data`, or a file in place of a folder. */
export interface Misplaced {
  readonly path: string;
  readonly found: 'file' | 'folder' | 'pipe or device';
  /** Whether a run cannot write the books until it is gone. */
  readonly stopsRuns: boolean;
}

/** Files in `data` that a run writes or removes. Other programs may leave folders there: DuckDB spills to `*.tmp`. */
const filesOfBooks = /^(warehouse|costbook)\.duckdb\.(wal.*|part|part\.wal|mode\.part|\d+\.part)$/;
/** Files in `data` that a run replaces, or can do without. */
const otherFiles = /^((warehouse|costbook)\.duckdb|metrics\.prom(\.part)?|\.unstored-\w+\.json(\.part)?)$/;
const journalFiles = /^events-\d{9,}\.ndjson(\.part)?$/;
const loadFolders = /^load-\d{9,}$/;
/** Names of accounts' folders contain no dot. */
const accountFolders = /^(?!misplaced-)[^.]+$/;

/** Every folder or pipe in place of a file of the books, and every file in place of one of their folders. */
export function misplacedFiles(dir: string): readonly Misplaced[] {
  const data = join(dir, 'data');
  const landing = join(data, 'landing');
  const journal = join(data, 'journal');
  const folders = [data, journal, landing, join(landing, '.incoming')].filter(isFile);
  const accounts = entriesOf(landing).filter(({ name }) => accountFolders.test(name));
  return [
    ...folders.map((path) => misplaced(path, 'file')),
    ...noFilesNamed(data, filesOfBooks),
    ...noFilesNamed(data, otherFiles).map((each) => ({ ...each, stopsRuns: false })),
    ...noFilesNamed(journal, journalFiles),
    ...accounts.filter((entry) => entry.isFile()).map(({ name }) => misplaced(join(landing, name), 'file')),
    ...accounts.flatMap(({ name }) =>
      filesNamed(join(landing, name), loadFolders).map((path) => misplaced(path, 'file')),
    ),
  ];
}

function misplaced(path: string, found: Misplaced['found']): Misplaced {
  return { path, found, stopsRuns: true };
}

/** `/books/data/journal is a file, expected a folder`. */
export function describeMisplaced({ path, found }: Misplaced): string {
  return `${path} is a ${found}, expected a ${found === 'file' ? 'folder' : 'file'}`;
}

/** Throws ChangedFileError if a folder is in place of a file that a run needs, or the other way round. */
export function refuseMisplaced(dir: string): void {
  const found = misplacedFiles(dir).filter(({ stopsRuns }) => stopsRuns);
  if (found.length === 0) return;
  throw new ChangedFileError(`${found.map(describeMisplaced).join('; ')}. Nothing was changed`, {
    next: repair(', which moves it aside'),
  });
}

/** What is misplaced and thus explains an error of the operating system; empty for any other error. */
export function causeInMisplaced(error: unknown, dir: string): readonly Misplaced[] {
  const { code = '', syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall !== undefined && ['EISDIR', 'ERR_FS_EISDIR', 'ENOTDIR', 'EEXIST'].includes(code)
    ? misplacedFiles(dir)
    : [];
}

/** The message of an error, or what is misplaced and explains it, with the step that moves it aside. */
export function messageWithMisplaced(error: unknown, dir: string): string {
  const found = causeInMisplaced(error, dir).map(describeMisplaced);
  return found.length === 0 ? messageOf(error) : `${found.join('; ')}: run "costbook repair", which moves it aside`;
}

/** Renames what is misplaced to `misplaced-<stamp>-<name>`; returns the new paths. `stamp` has no colons. */
export function moveMisplacedAside(dir: string, stamp: string): string[] {
  return misplacedFiles(dir).map(({ path }) => {
    const aside = join(dirname(path), `misplaced-${stamp}-${basename(path)}`);
    renameSync(path, aside);
    return aside;
  });
}

function isFile(path: string): boolean {
  return isKind(path, 'isFile');
}

function isKind(path: string, kind: 'isFile' | 'isDirectory'): boolean {
  try {
    return statSync(path)[kind]();
  } catch {
    return false; // missing, or below another file
  }
}

/** What has the name of a file and is none; links are followed. */
function noFilesNamed(folder: string, pattern: RegExp): Misplaced[] {
  return entriesOf(folder).flatMap((entry) => {
    if (entry.isFile() || !pattern.test(entry.name)) return [];
    const path = join(folder, entry.name);
    if (isKind(path, 'isFile') || !existsSync(path)) return [];
    return misplaced(path, isKind(path, 'isDirectory') ? 'folder' : 'pipe or device');
  });
}

function filesNamed(folder: string, pattern: RegExp): string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map(({ name }) => join(folder, name));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // missing, no folder, or no permission, which others report
  }
}
