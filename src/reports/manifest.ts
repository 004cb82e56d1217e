import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../errors.ts';
import type { JsonValue } from '../warehouse/index.ts';

/** A file that a manifest speaks for. */
export interface ManifestFile {
  /** Its path below the manifest's folder, with `/`. */
  readonly name: string;
  readonly format: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Rows of the answer; null for a file that holds none, such as metadata. */
  readonly rows: number | null;
  /** What its cost column adds up to, as exact decimal text; null where nothing in it can be added up. */
  readonly cost: string | null;
  /** Whether its decimals were made doubles on request, so that its sum need not be that of the books. */
  readonly inexact?: true;
  /** Whether text that a spreadsheet would run as a formula was left as it is. */
  readonly raw?: true;
  /** Whether the last row of a file for people adds up those above it. */
  readonly totals?: true;
  /** Of a partition: whose and which month's costs it holds, as text. */
  readonly partition?: { readonly account: string; readonly month: string };
}

/** What decided what is in partitions: where nothing of it is another, months that no load has touched since are as they were. */
export interface PartitionBasis {
  readonly lastLoad: number;
  /** Of the report's SQL, the views that it reads, and the units known. */
  readonly sha256: string;
}

/** What one export is: the question, the books that answered, and the files. It has no clock: same books, same bytes. */
export interface Manifest {
  /** The form of this file. */
  readonly manifest: 1;
  readonly report: string;
  readonly parameters: Readonly<Record<string, JsonValue>>;
  /** The SHA-256 of the files that the report read, by the name of their parameter. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Asked as of this instant the books give the same answer again, also where the present was asked. */
  readonly asOf: string;
  /** The close of the month as of which was answered; null where none decided it. */
  readonly closedAt: string | null;
  readonly completeFrom: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** Of a report of what `costbook alert` finds out: how far it had looked; null where it had not yet. */
  readonly evaluatedThrough?: string | null;
  readonly sqlSha256: string;
  readonly focusVersion: string | null;
  /** Of partitions: which rows of the books, and what else, decided what is in them. */
  readonly basis?: PartitionBasis;
  /** The column that `cost` adds up; null where the answer has none. */
  readonly costColumn: string | null;
  readonly rows: number;
  readonly cost: string | null;
  readonly files: readonly ManifestFile[];
  /** The manifest in whose place this one was put, and what its files were; null for the first one. */
  readonly previous: { readonly sha256: string; readonly files: Readonly<Record<string, string>> } | null;
}

/** The name of a manifest in its folder. Its rename is what commits an export. */
export const manifestName = 'manifest.json';

/** A manifest as it lies in a folder. */
export interface StoredManifest {
  readonly manifest: Manifest;
  readonly sha256: string;
}

/** A file that should be a manifest of ours and is none: what was found in it. */
export class NoManifestError extends Error {
  override readonly name = 'NoManifestError';
}

/** The manifest of a folder; undefined where there is none. Throws NoManifestError where it is not one of ours. */
export async function readManifest(folder: string, name = manifestName): Promise<StoredManifest | undefined> {
  const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  return { manifest: parseManifest(bytes.toString('utf8')), sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** A manifest as it is written: its keys in one order, two blanks, a newline at the end. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Reads a manifest's text. Throws NoManifestError that says what was found and expected. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new NoManifestError(`it is no JSON: ${messageOf(error)}`);
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
  if (Number.isNaN(Date.parse(String(found['asOf'])))) throw new NoManifestError('"asOf" is no instant');
  if (!Number.isSafeInteger(found['rows'])) throw new NoManifestError('"rows" is no integer');
  record(found['parameters'], '"parameters"');
  if (!Array.isArray(found['files'])) throw new NoManifestError('"files" is no list');
  for (const [index, entry] of found['files'].entries()) {
    const where = `"files"[${index}]`;
    const file = record(entry, where);
    for (const key of ['name', 'format', 'sha256']) expectText(file[key], `${where}."${key}"`);
    if (!isBelow(String(file['name']))) throw new NoManifestError(`${where}."name" leads out of its folder`);
    if (!Number.isSafeInteger(file['bytes'])) throw new NoManifestError(`${where}."bytes" is no integer`);
    if (file['rows'] !== null && !Number.isSafeInteger(file['rows'])) {
      throw new NoManifestError(`${where}."rows" is no integer`);
    }
    if (file['cost'] !== null) expectText(file['cost'], `${where}."cost"`);
    if (file['partition'] !== undefined) {
      const partition = record(file['partition'], `${where}."partition"`);
      for (const key of ['account', 'month']) expectText(partition[key], `${where}."partition"."${key}"`);
    }
  }
  if (found['previous'] !== null) {
    const previous = record(found['previous'], '"previous"');
    expectText(previous['sha256'], '"previous"."sha256"');
    record(previous['files'], '"previous"."files"');
  }
  return found as unknown as Manifest;
}

/** The SHA-256 of a file's bytes, in hex. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export function sha256OfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NoManifestError(`${what} is no object`);
  }
  return value as Record<string, unknown>;
}

function expectText(value: unknown, what: string): void {
  if (typeof value !== 'string') throw new NoManifestError(`${what} is no text`);
}

/** Whether a name stays below the folder that it is told from: a manifest may come from anybody. */
function isBelow(name: string): boolean {
  return name !== '' && !name.startsWith('/') && !name.includes('\\') && !name.split('/').includes('..');
}
