import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { CostbookError, messageOf } from '../errors.ts';
import type { Instant } from '../time.ts';
import type { Connection, JsonValue } from '../warehouse/index.ts';
import { isPart, namesIn, statOf } from './durable.ts';
import { type CostColumn, figuresOfFile } from './figures.ts';
import { nextManifestName, partitionsFolder } from './lake.ts';
import {
  type Manifest,
  type ManifestFile,
  manifestName,
  NoManifestError,
  readManifest,
  type StoredManifest,
  sha256OfFile,
} from './manifest.ts';
import { isDataName, latestName } from './publish.ts';

/** Something that is not as a manifest says. */
export interface Difference {
  /** The file's path below the folder that was verified. */
  readonly file: string;
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** An export that was looked at. */
export interface VerifiedExport {
  /** Its folder, below the one that was verified; `.` where it is that one. */
  readonly folder: string;
  readonly report: string | null;
  readonly parameters: Readonly<Record<string, JsonValue>> | null;
  readonly asOf: string | null;
  readonly files: number;
  readonly rows: number | null;
  readonly cost: string | null;
  /** Why it was not compared with the books; null where it was. */
  readonly notCompared: string | null;
  readonly differences: readonly Difference[];
  /** What is no difference, and worth to know: files that a run which was killed left, files of others. */
  readonly notes: readonly string[];
}

/** What the books say of an export's question, asked again. */
export interface BooksAnswer {
  /** Why they could not be asked; then there is nothing else. */
  readonly notCompared: string | undefined;
  readonly facts: readonly { readonly what: string; readonly found: string; readonly expected: string }[];
}

/** Asks the books again what a manifest says that they answered. */
export type AskBooks = (manifest: Manifest) => Promise<BooksAnswer>;

/** The folders below `root` in which a manifest lies, in order. Throws what the file system throws. */
export async function findExports(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const folders = entries
    .filter((entry) => entry.name === manifestName || entry.name === nextManifestName)
    .map(({ parentPath }) => parentPath);
  return [...new Set(folders)].sort();
}

/** How often an export is looked at that is replaced while it is. */
const maxLooks = 5;

/**
 * Looks whether an export is what its manifest says: each file there, of its bytes, hash, rows and cost (counted and
 * added up again from the file), the stable names on them, and the books' answer the same. Reads only; an export that is
 * replaced meanwhile is looked at again. `files` is a connection to read data files with.
 */
export async function verifyExport(
  root: string,
  folder: string,
  files: Connection,
  askBooks: AskBooks,
): Promise<VerifiedExport> {
  for (let look = 1; ; look += 1) {
    const before = await manifestOf(folder);
    const verified = await verifyOnce(root, folder, before, files, askBooks);
    if (verified.differences.length === 0 || look === maxLooks) return verified;
    const after = await manifestOf(folder);
    if (shaOf(before) === shaOf(after)) return verified;
  }
}

type Found = StoredManifest | NoManifestError | undefined;

function manifestOf(folder: string, name = manifestName): Promise<Found> {
  return readManifest(folder, name).catch((error: unknown) => {
    if (error instanceof NoManifestError) return error;
    throw error;
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
  askBooks: AskBooks,
): Promise<VerifiedExport> {
  const differences: Difference[] = [];
  const notes: string[] = [];
  const below = relative(root, folder) || '.';
  const next = await manifestOf(folder, nextManifestName);
  if (stored === undefined || stored instanceof NoManifestError) {
    if (stored === undefined) notes.push('a first export was killed before it was committed; the next one begins anew');
    else {
      differences.push({
        file: join(below, manifestName),
        what: 'manifest',
        found: stored.message,
        expected: 'a manifest of an export',
      });
    }
    const none = { report: null, parameters: null, asOf: null, files: 0, rows: null, cost: null };
    return { folder: below, ...none, notCompared: 'there is no manifest', differences, notes };
  }
  const { manifest } = stored;
  const swapping = new Map<string, ManifestFile>();
  if (next !== undefined && !(next instanceof NoManifestError)) {
    notes.push(
      'a run was killed while it swapped files: each is that of before or the new one, and the next run ends it',
    );
    for (const file of next.manifest.files) swapping.set(file.name, file);
  }

  const column = columnOf(manifest);
  for (const file of manifest.files) {
    const found = await verifyFile(folder, file, column, files);
    const newer = swapping.get(file.name);
    if (found.length > 0 && newer && (await verifyFile(folder, newer, column, files)).length === 0) continue;
    differences.push(...found.map((one) => ({ file: join(below, file.name), ...one })));
    differences.push(...agreement(manifest, file).map((one) => ({ file: join(below, manifestName), ...one })));
  }
  const partitions = manifest.files.filter(({ partition }) => partition !== undefined);
  if (partitions.length > 0) {
    const rows = partitions.reduce((sum, file) => sum + (file.rows ?? 0), 0);
    if (rows !== manifest.rows) {
      const [found, expected] = [`${manifest.rows} in all`, `${rows}, the sum of its files`];
      differences.push({ file: join(below, manifestName), what: 'rows', found, expected });
    }
  }
  const { strangers, stale } = await lookAround(folder, manifest, swapping);
  differences.push(...stale.map((one) => ({ ...one, file: join(below, one.file) })));
  notes.push(...strangers);

  const books = await askBooks(manifest);
  differences.push(...books.facts.map((fact) => ({ file: join(below, manifestName), ...fact })));
  return {
    folder: below,
    report: manifest.report,
    parameters: manifest.parameters,
    asOf: manifest.asOf,
    files: manifest.files.length,
    rows: manifest.rows,
    cost: manifest.cost,
    notCompared: books.notCompared ?? null,
    differences,
    notes,
  };
}

/** The cost column with the decimals that the manifest's total is written with. */
export function columnOf({ costColumn, cost, files }: Manifest): CostColumn | undefined {
  if (costColumn === null) return undefined;
  const total = cost ?? files.find((file) => file.cost !== null)?.cost ?? '';
  return { name: costColumn, decimals: total.includes('.') ? total.length - total.indexOf('.') - 1 : 0 };
}

/** What can be read for its rows where its bytes are others: a damaged Arrow file may ask for all memory there is. */
const survivesDamage = new Set(['csv', 'json', 'parquet']);

async function verifyFile(
  folder: string,
  file: ManifestFile,
  column: CostColumn | undefined,
  files: Connection,
): Promise<Omit<Difference, 'file'>[]> {
  const path = join(folder, file.name);
  const there = await statOf(path);
  if (there === undefined) return [{ what: 'file', found: 'nothing', expected: `${file.bytes} bytes` }];
  const found: Omit<Difference, 'file'>[] = [];
  if (there.size !== file.bytes) {
    found.push({ what: 'bytes', found: String(there.size), expected: String(file.bytes) });
  }
  const sha256 = await sha256OfFile(path);
  if (sha256 !== file.sha256) found.push({ what: 'sha256', found: sha256, expected: file.sha256 });
  if (file.rows === null || (found.length > 0 && !survivesDamage.has(file.format))) return found;
  try {
    const { rows, cost } = await figuresOfFile(files, path, file.format, column);
    if (rows !== file.rows) found.push({ what: 'rows', found: String(rows), expected: String(file.rows) });
    if (cost !== file.cost) found.push({ what: 'cost', found: cost ?? 'none', expected: file.cost ?? 'none' });
  } catch (error) {
    if (error instanceof CostbookError) throw error; // this machine's, not the file's
    const [words = ''] = messageOf(error).split('\n');
    found.push({ what: 'content', found: `unreadable as ${file.format}: ${words}`, expected: `${file.rows} rows` });
  }
  return found;
}

/** Whether what a manifest says of a file goes with what it says of the answer: every file of an answer holds all of it. */
function agreement(manifest: Manifest, file: ManifestFile): Omit<Difference, 'file'>[] {
  if (file.rows === null || file.partition !== undefined) return [];
  const found: Omit<Difference, 'file'>[] = [];
  if (file.rows !== manifest.rows) {
    found.push({ what: 'rows', found: String(manifest.rows), expected: `${file.rows}, as ${file.name}` });
  }
  if (file.cost !== manifest.cost && !file.inexact) {
    found.push({ what: 'cost', found: manifest.cost ?? 'none', expected: `${file.cost ?? 'none'}, as ${file.name}` });
  }
  return found;
}

/** What else lies in an export's folder. */
async function lookAround(
  folder: string,
  manifest: Manifest,
  swapping: ReadonlyMap<string, ManifestFile>,
): Promise<{ strangers: string[]; stale: Difference[] }> {
  const strangers: string[] = [];
  const stale: Difference[] = [];
  const named = new Map(manifest.files.map((file) => [file.name, file]));
  const stable = new Map(manifest.files.map((file) => [latestName(manifest, file.name), file]));
  for (const name of await namesIn(folder)) {
    const of = stable.get(name);
    if (of !== undefined) {
      const sha256 = await sha256OfFile(join(folder, name));
      if (sha256 === of.sha256) continue;
      if (Object.values(manifest.previous?.files ?? {}).includes(sha256)) {
        strangers.push(`${name} is still that of the export before; the next run puts it on ${of.name}`);
      } else {
        stale.push({ file: name, what: 'sha256', found: sha256, expected: `${of.sha256}, as ${of.name}` });
      }
    } else if (isPart(name) || (isDataName(manifest.report, name) && !named.has(name))) {
      strangers.push(`${name} was left by a run that was killed; the next one removes it`);
    }
  }
  if (manifest.basis === undefined) return { strangers, stale };
  for (const name of await strangersIn(join(folder, partitionsFolder), partitionsFolder)) {
    if (isPart(basename(name))) strangers.push(`${name} was left by a run that was killed; the next one removes it`);
    else if (!named.has(name) && !swapping.has(name) && name.endsWith('.parquet')) {
      // Whoever reads the partitions together would read it too.
      stale.push({ file: name, what: 'file', found: 'a file that no manifest names', expected: 'nothing' });
    }
  }
  return { strangers, stale };
}

async function strangersIn(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => `${below}/${relative(folder, join(parentPath, name)).split('\\').join('/')}`)
    .sort();
}

/** The instant as of which a manifest's books are asked. */
export function asOfInstant({ asOf }: Manifest): Instant {
  return Date.parse(asOf);
}
