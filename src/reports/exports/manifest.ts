import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf, UsageError } from '../../base/errors.ts';
import { act } from '../../base/next-step.ts';
import { jsonExcess } from '../../text/bounded-json.ts';
import type { JsonValue } from '../../warehouse/store/index.ts';
import type { CurrencyOfAnswer } from '../formats/currency-words.ts';
import type { BilledBesides } from '../questions/billed-besides.ts';

/** A file listed in a manifest. */
export interface ManifestFile {
  /** Its path relative to the manifest's folder, with `/`. */
  readonly name: string;
  readonly format: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Rows of the answer; null for a file without rows, such as metadata. */
  readonly rows: number | null;
  /** Sum of its cost column as exact decimal text; null if it has none. */
  readonly cost: string | null;
  /** Whether its decimals were converted to doubles on request, so its sum may differ from the books. */
  readonly inexact?: true;
  /** Whether text that a spreadsheet would run as a formula was left unescaped. */
  readonly raw?: true;
  /** Whether the last row of a CSV for people is a total. */
  readonly totals?: true;
  /** The language of the CSV for spreadsheets, if it is not English. */
  readonly language?: string;
  /** For a file of the lake, its table. */
  readonly table?: string;
  /** For a partition, its account and month as text. */
  readonly partition?: { readonly account: string; readonly month: string };
  /** For a partition, a hash of everything that its rows depend on. While it is the same, the file is not written again. */
  readonly basis?: string;
}

/** The state of the books that a lake was written from. */
export interface PartitionBasis {
  readonly lastLoad: number;
  /** By account and month: the load since which its hours are as they are. */
  readonly hours?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A table of the lake. */
export interface ManifestTable {
  /** The version of its columns. Later versions only add columns. */
  readonly version: number;
  /** The columns that are in the names of its folders. */
  readonly partition: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The column that `cost` sums; null if the table has none. */
  readonly costColumn: string | null;
  readonly rows: number;
  readonly cost: string | null;
}

/** One export: its query, the state of the books, and its files. It has no time of writing: same books, same bytes. */
export interface Manifest {
  /** The version of this format. */
  readonly manifest: 1;
  readonly report: string;
  readonly parameters: Readonly<Record<string, JsonValue>>;
  /** SHA-256 of the files that the report read, by parameter name. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** As of this instant, the books give the same answer again, even if the export was of the present. */
  readonly asOf: string;
  /** The close of the month that the export is as of; null if it is not as of a close. */
  readonly closedAt: string | null;
  readonly completeFrom: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** For reports that need `costbook alert`: evaluated through; null if not evaluated yet. */
  readonly evaluatedThrough?: string | null;
  /** What the month bills and the report does not contain, for a report of the month's own hours. */
  readonly billedBesides?: BilledBesides;
  /** The second currency: its code, its columns, and the rate of each month with its day and source. */
  readonly currency?: CurrencyOfAnswer;
  /** The engine that answered, if it was not DuckDB. */
  readonly engine?: 'spark';
  readonly sqlSha256: string;
  readonly focusVersion: string | null;
  /** For the lake: its tables by name, and the state of the books. `rows`, `cost` and `costColumn` are those of `costs`. */
  readonly tables?: Readonly<Record<string, ManifestTable>>;
  readonly basis?: PartitionBasis;
  /** The column that `cost` sums; null if the answer has none. */
  readonly costColumn: string | null;
  readonly rows: number;
  readonly cost: string | null;
  readonly files: readonly ManifestFile[];
  /** The manifest that this one replaced, and its files; null for the first one. */
  readonly previous: { readonly sha256: string; readonly files: Readonly<Record<string, string>> } | null;
}

/**
 * The file name of a manifest. Renaming it into place commits an export. Engines that read whole folders ignore names that
 * start with an underscore, and a pattern such as *.json does not match it: it has a cost, as the data has.
 */
export const manifestName = '_manifest';

/** The file name of manifests of the versions that named each data file twice, also by its hash. */
export const hashedManifestName = 'manifest.json';

/** An earlier file name of the same manifests. */
export const earlierManifestName = '_manifest.json';

/** The file names of manifests, today's first. */
export const manifestNames: readonly string[] = [manifestName, earlierManifestName, hashedManifestName];

/** The next manifest. While it exists, a file may belong to either manifest. */
export const nextManifestName = '.manifest.next';

/** A manifest read from a folder. */
export interface StoredManifest {
  readonly manifest: Manifest;
  readonly sha256: string;
  readonly bytes: number;
}

/** A file with the name of a manifest that is not one of ours: what was found in it. */
export class NoManifestError extends Error {
  override readonly name = 'NoManifestError';
}

/**
 * The manifest of a folder, also of an earlier version; undefined if there is none. Throws NoManifestError if it is not ours,
 * or larger than `mostBytes`.
 */
export async function readManifest(
  folder: string,
  name?: string,
  mostBytes = mostManifestBytes,
): Promise<StoredManifest | undefined> {
  if (name === undefined) {
    for (const one of manifestNames) {
      const found = await readManifest(folder, one, mostBytes);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const bytes = await readRegularFile(join(folder, name), mostBytes);
  if (bytes === undefined) return undefined;
  const excess = jsonExcess(bytes, manifestLimits);
  if (excess !== undefined) throw new NoManifestError(`it is ${excess}`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { manifest: parseManifest(bytes.toString('utf8')), sha256, bytes: bytes.length };
}

/** As `readManifest`. Throws UsageError if a file of that name is not ours, so that it is not overwritten. */
export async function ownManifest(
  folder: string,
  names: readonly string[] = manifestNames,
): Promise<StoredManifest | undefined> {
  for (const name of names) {
    try {
      const found = await readManifest(folder, name);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof NoManifestError)) throw error;
      throw new UsageError(`${join(folder, name)} is not a manifest of an export (${error.message})`, {
        cause: error,
        next: act('move it away, or name another folder with --out.'),
      });
    }
  }
  return undefined;
}

/**
 * Far larger than the manifest of a lake of many years, and as large as one in a store may be. Parsing takes as much memory as
 * a manifest has values, and it may come from anybody.
 */
export const mostManifestBytes = 32 * 1024 * 1024;
const manifestLimits = { maxDepth: 32, maxValues: 1_000_000, maxMembers: 100_000 };

/** The bytes of a manifest; undefined if there is none. A link is not followed, and a pipe is not waited for. */
async function readRegularFile(path: string, mostBytes: number): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      if (error.code === 'ELOOP' || error.code === 'ENXIO') throw new NoManifestError('it is not a regular file');
      throw error;
    },
  );
  try {
    const found = await file?.stat();
    if (found !== undefined && (!found.isFile() || found.size > mostBytes)) {
      throw new NoManifestError(`it is not a regular file of at most ${mostBytes} bytes`);
    }
    return await file?.readFile();
  } finally {
    await file?.close();
  }
}

/** Formats a manifest: keys in a fixed order, two spaces of indent, a newline at the end. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Reads a manifest's text. Throws NoManifestError that says what was found and expected. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new NoManifestError(`it is not JSON: ${messageOf(error)}`);
  }
  const found = record(value, 'it');
  if (found['manifest'] !== 1) throw new NoManifestError('it has no "manifest": 1');
  for (const key of ['report', 'asOf', 'sqlSha256']) expectText(found[key], `"${key}"`);
  for (const key of [
    'closedAt',
    'completeFrom',
    'completeThrough',
    'settledThrough',
    'focusVersion',
    'costColumn',
    'cost',
  ]) {
    if (found[key] !== null) expectText(found[key], `"${key}"`);
  }
  for (const key of ['asOf', 'closedAt']) {
    if (found[key] !== null && !isInstant(String(found[key]))) throw new NoManifestError(`"${key}" is not an instant`);
  }
  if (!Number.isSafeInteger(found['rows'])) throw new NoManifestError('"rows" is not an integer');
  record(found['parameters'], '"parameters"');
  if (!Array.isArray(found['files'])) throw new NoManifestError('"files" is not a list');
  const names = new Set<unknown>();
  for (const [index, entry] of found['files'].entries()) {
    const where = `"files"[${index}]`;
    const file = record(entry, where);
    for (const key of ['name', 'format', 'sha256']) expectText(file[key], `${where}."${key}"`);
    if (!isBelow(String(file['name']))) throw new NoManifestError(`${where}."name" points outside its folder`);
    if (names.has(file['name'])) throw new NoManifestError(`${where}."name" is there a second time`);
    names.add(file['name']);
    if (!Number.isSafeInteger(file['bytes'])) throw new NoManifestError(`${where}."bytes" is not an integer`);
    if (file['rows'] !== null && !Number.isSafeInteger(file['rows'])) {
      throw new NoManifestError(`${where}."rows" is not an integer`);
    }
    if (file['cost'] !== null) expectText(file['cost'], `${where}."cost"`);
    if (file['table'] !== undefined) expectText(file['table'], `${where}."table"`);
    if (file['partition'] !== undefined) {
      const partition = record(file['partition'], `${where}."partition"`);
      for (const key of ['account', 'month']) expectText(partition[key], `${where}."partition"."${key}"`);
    }
  }
  if (found['tables'] !== undefined) {
    for (const [name, entry] of Object.entries(record(found['tables'], '"tables"'))) {
      const table = record(entry, `"tables"."${name}"`);
      if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new NoManifestError(`"tables"."${name}" is no name of a table`);
      if (!Array.isArray(table['columns'])) throw new NoManifestError(`"tables"."${name}"."columns" is not a list`);
      for (const column of table['columns']) {
        const { name: of, type } = record(column, `"tables"."${name}"."columns"`);
        for (const said of [of, type]) expectText(said, `"tables"."${name}"."columns"`);
      }
      for (const key of ['costColumn', 'cost']) {
        if (table[key] !== null) expectText(table[key], `"tables"."${name}"."${key}"`);
      }
    }
  }
  if (found['currency'] !== undefined) {
    const currency = record(found['currency'], '"currency"');
    expectText(currency['code'], '"currency"."code"');
    record(currency['columns'], '"currency"."columns"');
  }
  if (found['previous'] !== null) {
    const previous = record(found['previous'], '"previous"');
    expectText(previous['sha256'], '"previous"."sha256"');
    record(previous['files'], '"previous"."files"');
  }
  return found as unknown as Manifest;
}

/** The SHA-256 of a file's bytes, in hex. */
export async function sha256OfFile(path: string, opened: { readonly flags?: string } = {}): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, opened), hash);
  return hash.digest('hex');
}

export function sha256OfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NoManifestError(`${what} is not an object`);
  }
  return value as Record<string, unknown>;
}

function expectText(value: unknown, what: string): void {
  if (typeof value !== 'string') throw new NoManifestError(`${what} is not a text`);
}

/** Whether a path stays below its folder: a manifest may come from anybody. */
function isBelow(name: string): boolean {
  return name !== '' && !name.startsWith('/') && !/[\\\0]/.test(name) && !name.split('/').includes('..');
}

/** An instant as manifests have it, of a year that the books can be asked for. */
function isInstant(text: string): boolean {
  return /^[12]\d{3}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));
}
