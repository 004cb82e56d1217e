import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { CostbookError, firstLineOf, MachineError, UsageError } from '../../base/errors.ts';
import type { Connection, JsonValue } from '../../warehouse/store/index.ts';
import { asRegularFile } from '../formats/csv-figures.ts';
import { figuresOfFile } from '../formats/export.ts';
import { type CostColumn, costColumnOf } from '../formats/figures.ts';
import { isPart } from './durable.ts';
import { formatOfName, isReadInReport } from './export-content.ts';
import { isDataName, isExportName, latestName, reportFolderOf, segmentOf } from './export-names.ts';
import { isOfExport } from './find-exports.ts';
import {
  type Manifest,
  type ManifestFile,
  manifestName,
  manifestNames,
  NoManifestError,
  nextManifestName,
  readManifest,
  type StoredManifest,
  sha256OfFile,
} from './manifest.ts';
import { readsAlike } from './row-sums.ts';

/** A difference between an export and its manifest. */
export interface Difference {
  /** The file's path below the folder that was verified. */
  readonly file: string;
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** The result of verifying an export. */
export interface VerifiedExport {
  /** Its folder, relative to the verified one; `.` if it is the same. */
  readonly folder: string;
  readonly report: string | null;
  readonly parameters: Readonly<Record<string, JsonValue>> | null;
  readonly asOf: string | null;
  readonly files: number;
  readonly rows: number | null;
  readonly cost: string | null;
  /** The column that `cost` is the sum of; null if there is none. */
  readonly costColumn: string | null;
  /** Why it was not compared with the books; null if it was. */
  readonly notCompared: string | null;
  /** Whether `notCompared` is a fault: nobody can say whether the export is what was exported. */
  readonly isUnproven: boolean;
  readonly differences: readonly Difference[];
  /** Notes that are not differences: files that a killed run left, and files of others. */
  readonly notes: readonly string[];
}

/** The answer of the books when an export is queried again. */
export interface BooksAnswer {
  /** Why they could not be queried again, or do not say the same any more; then `facts` has at most a revoked close. */
  readonly notCompared: string | undefined;
  /** Whether that is no fault: there are no books, or no record of exports. */
  readonly isExcused?: boolean;
  readonly notes?: readonly string[];
  readonly facts: readonly { readonly what: string; readonly found: string; readonly expected: string }[];
}

/** What the project knows of an export. */
export interface KnownExports {
  /**
   * Queries the books again for a manifest, and compares the rows of its intact files. `next` is the SHA-256 of the manifest that
   * a run was about to put in its place.
   */
  requery(stored: StoredManifest, folder: string, intact: readonly ManifestFile[], next: string): Promise<BooksAnswer>;
  /** Whether the project has recorded a manifest for a folder. */
  isRecorded(stored: StoredManifest, folder: string): Promise<boolean>;
  /** Whether a manifest is the last one that the project recorded for a folder: only that may be about to take its place. */
  isLast(stored: StoredManifest, folder: string): Promise<boolean>;
  /** Whether a report is called so, or was: then the folder of this name has its exports alone. */
  isReport(name: string): boolean;
  /** Whether a parameter of a report has folders below that of the report: others have them in front. */
  isBelow(report: string, name: string): boolean;
}

/** Attempts to verify an export that is replaced meanwhile. */
const maxLooks = 5;

/**
 * Verifies an export against its manifest: that each file exists with its bytes, hash, rows and cost (counted and summed
 * from the file), that the stable names point to them, and that the books still give the same answer. Reads only. An
 * export that is replaced meanwhile is verified again. `files` is a connection to read data files with.
 */
export async function verifyExport(
  root: string,
  folder: string,
  files: Connection,
  known: KnownExports,
  others: ReadonlyMap<string, string> = new Map(),
): Promise<VerifiedExport> {
  if (folder !== root && (await lstat(folder).catch(() => undefined))?.isSymbolicLink()) {
    return unverifiable(relative(root, folder), new Error('a link to a folder'));
  }
  const state = async () => [shaOf(await manifestOf(folder)), shaOf(await manifestOf(folder, nextManifestName))].join();
  for (let look = 1; ; look += 1) {
    const began = await state();
    const before = await manifestOf(folder);
    const verified = await verifyOnce(root, folder, before, files, known).catch((error: unknown) =>
      unverifiable(relative(root, folder) || '.', error),
    );
    if (verified.differences.length === 0 || look === maxLooks || began === (await state())) {
      const outer = others.get(folder);
      if (outer === undefined) return verified;
      const [found, expected] = [`an export in the folder of ${outer}`, 'an export in a folder of its own'];
      const inside = { file: join(verified.folder, manifestName), what: 'folder', found, expected };
      return { ...verified, differences: [...verified.differences, inside] };
    }
  }
}

/** What nobody has thought of in a manifest or a folder is the fault of this export alone: the others are verified. */
function unverifiable(folder: string, error: unknown): VerifiedExport {
  if (error instanceof CostbookError && !(error instanceof UsageError)) throw error;
  if (error instanceof Error && error.name === 'AbortError') throw error;
  const found = firstLineOf(error);
  return {
    ...{ folder, ...nothingKnown, notCompared: 'it cannot be read', isUnproven: false, notes: [] },
    differences: [
      { file: join(folder, manifestName), what: 'export', found, expected: 'an export that can be verified' },
    ],
  };
}

const nothingKnown = {
  ...{ report: null, parameters: null, asOf: null, files: 0, rows: null, cost: null, costColumn: null },
};

type Found = StoredManifest | NoManifestError | undefined;

function manifestOf(folder: string, name?: string): Promise<Found> {
  return readManifest(folder, name).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof NoManifestError) return error;
    if (error.syscall === undefined) throw error;
    return new NoManifestError(`it cannot be read (${error.code})`);
  });
}

function shaOf(found: Found): string {
  return found === undefined || found instanceof NoManifestError ? '' : found.sha256;
}

async function verifyOnce(
  root: string,
  folder: string,
  stored: Found,
  files: Connection,
  known: KnownExports,
): Promise<VerifiedExport> {
  const differences: Difference[] = [];
  const notes: string[] = [];
  const below = relative(root, folder) || '.';
  const next = await manifestOf(folder, nextManifestName);
  const isNext = next !== undefined && !(next instanceof NoManifestError) && (await known.isLast(next, folder));
  if (stored === undefined || stored instanceof NoManifestError) {
    if (stored === undefined && next !== undefined && !(next instanceof NoManifestError)) {
      notes.push('the first export was killed before it finished; the next one starts again');
      const begun = { ...next.manifest, files: isNext ? next.manifest.files : [] };
      differences.push(
        ...(await begunDifferences(folder, begun, files)).map((one) => ({ ...one, file: join(below, one.file) })),
      );
    } else {
      const [found, expected] = [stored?.message ?? 'nothing beside the data', 'a manifest of an export'];
      differences.push({ file: join(below, manifestName), what: 'manifest', found, expected });
    }
    return {
      folder: below,
      ...nothingKnown,
      notCompared: 'there is no manifest',
      isUnproven: false,
      differences,
      notes,
    };
  }
  const { manifest } = stored;
  const swapping = new Map<string, ManifestFile>();
  if (next !== undefined && !isNext) {
    notes.push(`${nextManifestName} is none that this project has recorded last: it is not believed`);
  } else if (next !== undefined && !(next instanceof NoManifestError)) {
    notes.push(
      'a run was killed while it replaced files: each file is old or new, never partial. The next run finishes it',
    );
    for (const file of next.manifest.files) swapping.set(file.name, file);
  }

  differences.push(
    ...placeDifferences(root, folder, manifest, known).map((one) => ({ ...one, file: join(below, manifestName) })),
  );
  const isRecorded = await known.isRecorded(stored, folder);
  const intact: ManifestFile[] = [];
  for (const file of manifest.files) {
    const column = columnOfFile(manifest, file);
    const found = await verifyFile(folder, file, column, { files, isRecorded });
    if (found.length === 0) intact.push(file);
    const newer = swapping.get(file.name);
    if (found.length > 0 && newer) {
      if ((await verifyFile(folder, newer, column, { files, isRecorded: true })).length === 0) continue;
    }
    differences.push(...found.map((one) => ({ file: join(below, file.name), ...one })));
    const said = [...agreement(manifest, file), ...nameDifferences(manifest, file)];
    differences.push(...said.map((one) => ({ file: join(below, manifestName), ...one })));
  }
  for (const [name, table] of Object.entries(manifest.tables ?? {})) {
    const own = manifest.files.filter((file) => file.table === name);
    const rows = own.reduce((sum, file) => sum + (file.rows ?? 0), 0);
    if (rows !== table.rows) {
      const [found, expected] = [`${table.rows} in all`, `${rows}, the sum of its files`];
      differences.push({ file: join(below, manifestName), what: `rows of ${name}`, found, expected });
    }
  }
  const { strangers, stale } = await lookAround(folder, manifest, swapping, isRecorded);
  differences.push(...stale.map((one) => ({ ...one, file: join(below, one.file) })));
  notes.push(...strangers);

  const books = await known.requery(stored, folder, intact, shaOf(next));
  differences.push(...books.facts.map((fact) => ({ file: join(below, manifestName), ...fact })));
  return {
    folder: below,
    report: manifest.report,
    parameters: manifest.parameters,
    asOf: manifest.asOf,
    files: manifest.files.length,
    rows: manifest.rows,
    cost: manifest.cost,
    costColumn: manifest.costColumn,
    notCompared: books.notCompared ?? null,
    isUnproven: books.notCompared !== undefined && books.isExcused !== true,
    differences,
    notes: [...notes, ...(books.notes ?? [])],
  };
}

/**
 * What the names of an export's folders say else than its manifest: each names a value of a parameter. Those below the folder of
 * the report are its parameters alone, each once: under another name, readers of the report would read the same rows again.
 */
function placeDifferences(
  root: string,
  folder: string,
  manifest: Manifest,
  known: KnownExports,
): Omit<Difference, 'file'>[] {
  const { report, parameters, asOf, closedAt } = manifest;
  const found: Omit<Difference, 'file'>[] = [];
  for (const part of relative(root, folder).split(sep)) {
    const [segment, said] = partsOf(part);
    if (segment === 'as-of' && (said === 'now' ? closedAt !== null : said !== asOf.replaceAll(':', ''))) {
      found.push({ what: segment, found: `an export as of ${asOf}`, expected: said });
    }
    const name = nameOf(segment);
    const value = parameters[name];
    if (segment === '' || (value === undefined && name !== 'month') || part === segmentOf(segment, value ?? null))
      continue;
    found.push({ what: name, found: `an export of ${String(value ?? `no ${name}`)}`, expected: said });
  }
  const ofReport = reportFolderOf(root, folder);
  if (basename(ofReport) !== report) {
    const expected = basename(ofReport);
    return known.isReport(expected) ? [...found, { what: 'report', found: `an export of ${report}`, expected }] : found;
  }
  const names = relative(ofReport, folder)
    .split(sep)
    .map((part) => nameOf(partsOf(part)[0]));
  const { month } = parameters;
  if (typeof month === 'string' && !names.includes('month')) {
    found.push({ what: 'month', found: `an export of ${month}`, expected: 'a folder of its month' });
  }
  for (const [index, name] of names.entries()) {
    const isOwn =
      name === 'month' ? index === names.length - 1 : Object.hasOwn(parameters, name) && known.isBelow(report, name);
    if (name === '' || (names.indexOf(name) === index && isOwn)) continue;
    found.push({ what: 'folder', found: `a folder of ${name}`, expected: 'one for each parameter of the report' });
  }
  return found;
}

/** What else than files of an export that was begun is in its folder. */
async function begunDifferences(folder: string, manifest: Manifest, files: Connection): Promise<Difference[]> {
  const { stale } = await lookAround(folder, manifest, new Map(), false);
  for (const file of manifest.files) {
    const found = await verifyFile(folder, file, columnOfFile(manifest, file), { files, isRecorded: true });
    stale.push(...found.filter((one) => one.found !== 'nothing').map((one) => ({ ...one, file: file.name })));
  }
  return stale;
}

/** The name and the value in a folder's name; both are empty if it is of no parameter. */
function partsOf(part: string): readonly [string, string] {
  const [, segment = '', said = ''] = /^([\w-]+)=(.*)$/.exec(part) ?? [];
  return [segment, said];
}

function nameOf(segment: string): string {
  if (segment === 'month') return 'month='; // no folder of ours
  return segment === 'BILLING_PERIOD' ? 'month' : segment;
}

/** The cost column, with as many decimals as the total in the manifest. */
export function columnOf({ costColumn, cost, files }: Manifest): CostColumn | undefined {
  if (costColumn === null) return undefined;
  const total = cost ?? files.find((file) => file.cost !== null)?.cost ?? '';
  return { name: costColumn, decimals: total.includes('.') ? total.length - total.indexOf('.') - 1 : 0 };
}

/** The cost column of a file: for a file of the lake, that of its table. */
function columnOfFile(manifest: Manifest, { table }: ManifestFile): CostColumn | undefined {
  if (table === undefined) return columnOf(manifest);
  const { columns = [], costColumn = null } = manifest.tables?.[table] ?? {};
  return costColumn === null ? undefined : costColumnOf(columns, costColumn);
}

async function verifyFile(
  folder: string,
  file: ManifestFile,
  column: CostColumn | undefined,
  { files, isRecorded }: { readonly files: Connection; readonly isRecorded: boolean },
): Promise<Omit<Difference, 'file'>[]> {
  const path = join(folder, file.name);
  const there = await regularFileIn(folder, file.name);
  if (typeof there === 'string') return [{ what: 'file', found: there, expected: `${file.bytes} bytes` }];
  const found: Omit<Difference, 'file'>[] = [];
  if (there.size !== file.bytes) {
    found.push({ what: 'bytes', found: String(there.size), expected: String(file.bytes) });
  } else if (!isRecorded && file.bytes > mostOtherBytes) {
    const expected = `at most ${mostOtherBytes} in an export that this project did not record`;
    return [{ what: 'bytes', found: String(there.size), expected }];
  } else {
    // A file of another size has another hash, and may be as large as it likes.
    const sha256 = await sha256OfFile(path, asRegularFile);
    if (sha256 !== file.sha256) found.push({ what: 'sha256', found: sha256, expected: file.sha256 });
  }
  // What somebody else wrote may claim all memory.
  if (file.rows === null || ((found.length > 0 || !isRecorded) && !readsAlike(file))) return found;
  try {
    const { rows, cost } = await figuresOfFile(files, path, file.format, column);
    if (rows !== file.rows) found.push({ what: 'rows', found: String(rows), expected: String(file.rows) });
    if (cost !== file.cost) found.push({ what: 'cost', found: cost ?? 'none', expected: file.cost ?? 'none' });
  } catch (error) {
    // A fault of this machine, not of the file: but the file decides how much memory it needs.
    const isTooLarge = error instanceof MachineError && error.failureCode === 'out_of_memory';
    if (error instanceof CostbookError && !isTooLarge) throw error;
    found.push({
      what: 'content',
      found: `unreadable as ${file.format}: ${firstLineOf(error)}`,
      expected: `${file.rows} rows`,
    });
  }
  return found;
}

/**
 * The size of a file of an export; a sentence if it is not a regular file within its folder. A manifest may come from anybody:
 * a link may lead anywhere, and a pipe or device has no end.
 */
async function regularFileIn(folder: string, name: string): Promise<{ readonly size: number } | string> {
  const path = join(folder, ...name.split('/'));
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return 'nothing';
    return `something that cannot be read (${error.code ?? error.message})`;
  });
  if (typeof found === 'string') return found;
  if (found.isSymbolicLink()) return 'a link, which is not followed';
  if (!found.isFile()) return 'something that is not a regular file';
  const [place, root] = await Promise.all([realpath(path), realpath(folder)]);
  return place === join(root, ...name.split('/')) ? found : 'a link, which is not followed';
}

/** Compares a file's rows and cost in the manifest with the totals there: outside the lake, every file holds the whole answer. */
function agreement(manifest: Manifest, file: ManifestFile): Omit<Difference, 'file'>[] {
  if (file.rows === null || file.table !== undefined) return [];
  const found: Omit<Difference, 'file'>[] = [];
  if (file.rows !== manifest.rows) {
    found.push({ what: 'rows', found: String(manifest.rows), expected: `${file.rows}, as ${file.name}` });
  }
  if (file.cost !== manifest.cost && !file.inexact) {
    found.push({ what: 'cost', found: manifest.cost ?? 'none', expected: `${file.cost ?? 'none'}, as ${file.name}` });
  }
  return found;
}

/** A file of another name than the report gives, or a second one in a format: readers of a pattern would read its rows twice. */
function nameDifferences(manifest: Manifest, file: ManifestFile): Omit<Difference, 'file'>[] {
  if (file.table !== undefined) return [];
  const isSecond = manifest.files.some(
    (other) => other !== file && other.format === file.format && other.rows !== null,
  );
  if (isExportName(manifest, file.name) && !(isSecond && file.rows !== null)) return [];
  return [{ what: 'name', found: file.name, expected: `one file in ${file.format}, with a name of the report` }];
}

/** How large a file of others may be, and by how much that of an earlier export larger: what is read of it has an end. */
const mostOtherBytes = 1024 * 1024 * 1024;

/** Readers of the whole folder, or of all months of a report, would read it too. */
const unnamed = { what: 'file', found: 'a file that no manifest names', expected: 'nothing' };

/** Other files in an export's folder. */
async function lookAround(
  folder: string,
  manifest: Manifest,
  swapping: ReadonlyMap<string, ManifestFile>,
  isRecorded: boolean,
): Promise<{ strangers: string[]; stale: Difference[] }> {
  // Whoever wrote the manifest may have named what he has put there as its previous files.
  const { files, sha256: manifestBefore } = (isRecorded ? manifest.previous : null) ?? { files: {}, sha256: '' };
  const previous = { ...files, ...Object.fromEntries(manifestNames.map((name) => [name, manifestBefore])) };
  const names = await namesBelow(folder);
  const own = manifestNames.find((name) => names.includes(name));
  const strangers: string[] = [];
  const stale: Difference[] = [];
  const named = new Map(manifest.files.map((file) => [file.name, file]));
  const formats = new Set(manifest.files.map(({ name }) => formatOfName(name)));
  const isRead = (name: string) =>
    !named.has(name) &&
    !swapping.has(name) &&
    name !== own &&
    (isReadInReport(name) || formats.has(formatOfName(name)));
  const stable = new Map(manifest.files.map((file) => [latestName(manifest, file.name), file]));
  for (const name of names) {
    const of = stable.get(name);
    if (of !== undefined) {
      const there = await regularFileIn(folder, name);
      if (typeof there === 'string') {
        stale.push({ file: name, what: 'file', found: there, expected: `the same file as ${of.name}` });
        continue;
      }
      if (there.size > of.bytes + mostOtherBytes) {
        stale.push({ file: name, what: 'bytes', found: String(there.size), expected: `${of.bytes}, as ${of.name}` });
        continue;
      }
      const sha256 = await sha256OfFile(join(folder, name), asRegularFile);
      if (sha256 === of.sha256) continue;
      if (Object.values(previous).includes(sha256)) {
        strangers.push(`${name} still points to the previous export; the next run points it to ${of.name}`);
      } else {
        stale.push({ file: name, what: 'sha256', found: sha256, expected: `${of.sha256}, as ${of.name}` });
      }
    } else if (
      isPart(basename(name)) ||
      ((isDataName(manifest.report, name) || manifestNames.includes(name)) &&
        (await isPrevious(folder, name, previous)))
    ) {
      strangers.push(`${name} was left by a killed run; the next one removes it`);
    } else if (isRead(name)) stale.push({ file: name, ...unnamed });
  }
  return { strangers, stale };
}

/** Whether a file that an earlier version named by its hash is one of the export before this one: it was not removed yet. */
async function isPrevious(folder: string, name: string, previous: Readonly<Record<string, string>>): Promise<boolean> {
  const sha256 = previous[name];
  const there = await regularFileIn(folder, name);
  if (sha256 === undefined || typeof there === 'string' || there.size > mostOtherBytes) return false;
  return (await sha256OfFile(join(folder, name), asRegularFile)) === sha256;
}

/** The files of an export's folder and of those below it, besides those of other exports. */
async function namesBelow(folder: string): Promise<string[]> {
  const names: string[] = [];
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.syscall !== undefined) return [];
        throw error;
      },
    );
    if (below !== '' && entries.some(isOfExport)) continue;
    for (const entry of entries) {
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(name);
      else names.push(name);
    }
  }
  return names.sort();
}
