import { createHash } from 'node:crypto';
import { messageOf } from '../base/errors.ts';
import { leaseName } from './lease.ts';
import type { NamedFile } from './mirror-plan.ts';
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
  /** Notes that are not differences. */
  readonly notes: readonly string[];
}

/** What verifying needs to know about exports. */
export interface CopyFacts {
  isManifestName(name: string): boolean;
  /** The files that a manifest names. Throws if it is none of ours. */
  filesOf(manifestName: string, text: string): readonly NamedFile[];
  /** The manifest of the local export of a folder; undefined if there is none. */
  localManifest(folder: string, manifestName: string): Promise<string | undefined>;
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
  for (const key of objects.keys()) {
    const [folder, name] = splitKey(key);
    if (facts.isManifestName(name)) folders.set(folder, name);
  }
  // A folder in which the first publication did not finish has a lease, but no manifest.
  for (const key of objects.keys()) {
    const [folder, name] = splitKey(key);
    if (name === leaseName && !folders.has(folder)) folders.set(folder, '');
  }
  const verified: VerifiedCopy[] = [];
  for (const [folder, manifestName] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    progress(`${verified.length + 1} of ${folders.size} copies, ${folder}`);
    verified.push(await verifyCopy(store, folder, manifestName, { objects, folders, facts }));
  }
  return verified;
}

interface Around {
  readonly objects: ReadonlyMap<string, ListedObject>;
  readonly folders: ReadonlyMap<string, string>;
  readonly facts: CopyFacts;
}

async function verifyCopy(
  store: ObjectStore,
  folder: string,
  manifestName: string,
  { objects, folders, facts }: Around,
): Promise<VerifiedCopy> {
  const differences: CopyDifference[] = [];
  const notes: string[] = [];
  const isPublishing = objects.has(keyIn(folder, leaseName));
  if (isPublishing) notes.push('a publication is running, or did not finish; the next run finishes it');
  const nothing = { folder, files: 0, bytes: 0, differences, notes };
  if (manifestName === '') return nothing;
  const manifestKey = keyIn(folder, manifestName);
  const manifest = (await store.readText(manifestKey))?.text ?? '';
  let files: readonly NamedFile[];
  try {
    files = facts.filesOf(manifestName, manifest);
  } catch (error) {
    const found = messageOf(error);
    differences.push({ file: manifestKey, what: 'manifest', found, expected: 'a manifest of an export' });
    return nothing;
  }
  const local = await facts.localManifest(folder, manifestName);
  if (local === undefined) notes.push('there is no such export on this machine');
  else if (local !== manifest) {
    const [found, expected] = ['another publication', 'that of this machine; run the report again to send it'];
    differences.push({ file: manifestKey, what: 'manifest', found, expected });
  }
  const named = new Set([manifestName, leaseName, ...files.map(({ name }) => name)]);
  for (const file of files) differences.push(...(await verifyObject(store, keyIn(folder, file.name), file, objects)));
  for (const key of objects.keys()) {
    if (!key.startsWith(keyIn(folder, '')) || ownerOf(key, folders) !== folder) continue;
    const name = key.slice(keyIn(folder, '').length);
    if (named.has(name)) continue;
    if (name.endsWith('.parquet') && !isPublishing) {
      // Readers of all partitions would read it too.
      differences.push({ file: key, what: 'file', found: 'a file that no manifest names', expected: 'nothing' });
    } else notes.push(`${name} is named by no manifest`);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { folder, files: files.length, bytes, differences, notes };
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
  const found = await hashOf(store, key, bytes);
  if (found === sha256) return [];
  return [{ file: key, what: 'sha256', found: found ?? 'nothing', expected: sha256 }];
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

/** The export that an object belongs to: the nearest folder with a manifest. */
function ownerOf(key: string, folders: ReadonlyMap<string, string>): string | undefined {
  let [folder] = splitKey(key);
  while (!folders.has(folder)) {
    if (folder === '') return undefined;
    [folder] = splitKey(folder);
  }
  return folder;
}

function splitKey(key: string): [folder: string, name: string] {
  const end = key.lastIndexOf('/');
  return end < 0 ? ['', key] : [key.slice(0, end), key.slice(end + 1)];
}
