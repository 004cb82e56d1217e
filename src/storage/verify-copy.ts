import { createHash } from 'node:crypto';
import { MachineError, messageOf } from '../base/errors.ts';
import { leaseName } from './lease.ts';
import type { NamedFile } from './mirror-plan.ts';
import { isRefusedObject } from './storage-error.ts';
import { keyIn, type ListedObject, type ObjectStore } from './store.ts';

/** A difference between a copy and its manifest. */
export interface CopyDifference {
  /** The object's name below the place that was verified. */
  readonly file: string;
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** The result of verifying one export in a store. */
export interface VerifiedCopy {
  /** Its folder below the place that was verified. */
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  readonly differences: readonly CopyDifference[];
  /** Whether this project can say nothing of its manifest: whoever writes in the store may have written all of it. */
  readonly isUnproven: boolean;
  /** Notes that are not differences. */
  readonly notes: readonly string[];
}

/** What verifying needs to know about exports. */
export interface CopyFacts {
  /** The names of manifests: if a folder has several, the first is believed. */
  readonly manifestNames: readonly string[];
  /** The folder of the report that an export in a folder is of: who reads a report reads all of it. */
  reportOf(folder: string): string;
  /** Whether readers take an object of this name for data, also without a manifest beside it. */
  isData(name: string): boolean;
  /** Whether readers of a report's folder read an object in it, given its name below that folder. */
  isReadInReport(name: string): boolean;
  /** The format that readers take an object of this name for. */
  formatOf(name: string): string;
  /** The files that a manifest names. Throws if it is none of ours. */
  filesOf(manifestName: string, text: string): readonly NamedFile[];
  /** Whether a manifest is the one of the local export of a folder, as this project recorded it; undefined if it has none. */
  isOfProject(folder: string, manifestName: string, text: string): Promise<boolean | undefined>;
}

/**
 * Verifies all exports in a store: lists the objects, compares them with the manifests there and here, and reads and
 * hashes each object. Reads only.
 */
export async function verifyCopies(
  store: ObjectStore,
  facts: CopyFacts,
  progress: (words: string) => void,
): Promise<VerifiedCopy[]> {
  const objects = new Map<string, ListedObject>();
  for await (const object of store.list('')) objects.set(object.key, object);
  const folders = new Map<string, string>();
  for (const manifestName of facts.manifestNames) {
    for (const key of objects.keys()) {
      const [folder, name] = splitKey(key);
      if (name === manifestName && !folders.has(folder)) folders.set(folder, name);
    }
  }
  // A folder in which the first publication did not finish has a lease, but no manifest.
  for (const key of objects.keys()) {
    const [folder, name] = splitKey(key);
    if (name === leaseName && !folders.has(folder)) folders.set(folder, '');
  }
  const owned = new Map<string | undefined, string[]>();
  for (const key of objects.keys()) {
    const owner = nearest(key, folders);
    if (!owned.get(owner)?.push(key)) owned.set(owner, [key]);
  }
  const verified: VerifiedCopy[] = [];
  const manifests = { refusal: undefined as unknown, read: 0 };
  for (const [folder, manifestName] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    progress(`${verified.length + 1} of ${folders.size} copies, ${folder}`);
    verified.push(
      await verifyCopy(store, folder, manifestName, { objects, own: owned.get(folder) ?? [], facts, manifests }),
    );
  }
  // These credentials may read nothing at all.
  if (manifests.read === 0 && isRefusedObject(manifests.refusal)) throw manifests.refusal;
  const reports = new Set([...folders.keys()].map(facts.reportOf));
  return [...verified, ...ownerless(owned.get(undefined) ?? [], reports, facts)];
}

/** Data that belongs to no manifest, by its first folder: readers would read it. */
function ownerless(keys: readonly string[], reports: ReadonlySet<string>, facts: CopyFacts): VerifiedCopy[] {
  const found = new Map<string, CopyDifference[]>();
  for (const key of keys) {
    const report = nearest(key, reports);
    if (!(report === undefined ? facts.isData(key) : facts.isReadInReport(nameBelow(report, key)))) continue;
    const [first = ''] = splitKey(key)[0].split('/');
    if (!found.get(first)?.push({ file: key, ...unnamed })) found.set(first, [{ file: key, ...unnamed }]);
  }
  return [...found].map(([folder, differences]) => ({
    ...{ folder, files: 0, bytes: 0, differences, isUnproven: false, notes: [] },
  }));
}

const unnamed = { what: 'file', found: 'a file that no manifest names', expected: 'nothing' };

interface Around {
  readonly objects: ReadonlyMap<string, ListedObject>;
  /** The keys that belong to the copy. */
  readonly own: readonly string[];
  /** What the store said first of a manifest that it does not give, and the number of those that it gave. */
  readonly manifests: { refusal: unknown; read: number };
  readonly facts: CopyFacts;
}

async function verifyCopy(
  store: ObjectStore,
  folder: string,
  manifestName: string,
  { objects, own, facts, manifests }: Around,
): Promise<VerifiedCopy> {
  const differences: CopyDifference[] = [];
  const notes: string[] = [];
  const isPublishing = objects.has(keyIn(folder, leaseName));
  if (isPublishing) notes.push('a publication is running, or did not finish; the next run finishes it');
  const nothing = { folder, files: 0, bytes: 0, differences, isUnproven: false, notes };
  if (manifestName === '')
    return { ...nothing, isUnproven: own.some((key) => facts.isReadInReport(nameBelow(folder, key))) };
  const manifestKey = keyIn(folder, manifestName);
  const read = await store.readText(manifestKey).catch((error: unknown) => {
    manifests.refusal ??= error;
    return refusedObject(error);
  });
  if (typeof read !== 'string') manifests.read += 1;
  const manifest = typeof read === 'object' ? read.text : '';
  let files: readonly NamedFile[];
  try {
    files = facts.filesOf(manifestName, manifest);
  } catch (error) {
    const found = typeof read === 'string' ? read : messageOf(error);
    differences.push({ file: manifestKey, what: 'manifest', found, expected: 'a manifest of an export' });
    return nothing;
  }
  const isOurs = await facts.isOfProject(folder, manifestName, manifest);
  if (isOurs === undefined)
    notes.push('there is no such export on this machine: nobody can say whether it was changed');
  else if (!isOurs) {
    const [found, expected] = ['another publication', 'that of this machine; run the report again to send it'];
    differences.push({ file: manifestKey, what: 'manifest', found, expected });
  }
  const named = new Set([manifestName, leaseName, ...files.map(({ name }) => name)]);
  const formats = new Set(files.map(({ name }) => facts.formatOf(name)));
  for (const file of files) differences.push(...(await verifyObject(store, keyIn(folder, file.name), file, objects)));
  let isUnproven = isOurs === undefined;
  for (const key of own) {
    const name = nameBelow(folder, key);
    if (named.has(name)) continue;
    // Readers of all partitions, or of a pattern, would read it too; anybody can say that a publication is running.
    const isRead = facts.isReadInReport(name) || formats.has(facts.formatOf(name));
    if (isRead && !isPublishing) differences.push({ file: key, ...unnamed });
    else notes.push(`${name} is named by no manifest`);
    isUnproven ||= isRead && isPublishing;
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { folder, files: files.length, bytes, differences, isUnproven, notes };
}

async function verifyObject(
  store: ObjectStore,
  key: string,
  { bytes, sha256 }: NamedFile,
  objects: ReadonlyMap<string, ListedObject>,
): Promise<CopyDifference[]> {
  const there = objects.get(key);
  if (there === undefined) return [{ file: key, what: 'file', found: 'nothing', expected: `${bytes} bytes` }];
  if (there.bytes !== bytes) {
    return [{ file: key, what: 'bytes', found: String(there.bytes), expected: String(bytes) }];
  }
  const found = await hashOf(store, key, bytes).catch(refusedObject);
  if (found === sha256) return [];
  return [{ file: key, what: 'sha256', found: found ?? 'nothing', expected: sha256 }];
}

/** What is wrong with one object that a store does not give, while it gives others. Throws other failures. */
export function refusedObject(error: unknown): string {
  if (error instanceof MachineError || isRefusedObject(error)) return messageOf(error);
  throw error;
}

/**
 * The SHA-256 of an object's bytes, in hex, as they are read; undefined if it is gone. What comes after the bytes that it was
 * listed with is not read: another object has another hash.
 */
export async function hashOf(store: ObjectStore, key: string, bytes: number): Promise<string | undefined> {
  const stream = await store.open(key);
  if (stream === undefined) return undefined;
  const hash = createHash('sha256');
  let left = bytes;
  for await (const piece of stream) {
    hash.update(piece as Buffer);
    left -= (piece as Buffer).length;
    if (left < 0) break;
  }
  return hash.digest('hex');
}

/** The nearest folder of an object among some; undefined if it is in none of them. */
function nearest(key: string, folders: { has(folder: string): boolean }): string | undefined {
  let [folder] = splitKey(key);
  while (!folders.has(folder)) {
    if (folder === '') return undefined;
    [folder] = splitKey(folder);
  }
  return folder;
}

function nameBelow(folder: string, key: string): string {
  return key.slice(keyIn(folder, '').length);
}

function splitKey(key: string): [folder: string, name: string] {
  const end = key.lastIndexOf('/');
  return end < 0 ? ['', key] : [key.slice(0, end), key.slice(end + 1)];
}
