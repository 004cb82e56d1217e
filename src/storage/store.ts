import type { Readable } from 'node:stream';

/** An object as a listing shows it. */
export interface ListedObject {
  /** Below the store's prefix, with `/`. */
  readonly key: string;
  readonly bytes: number;
  /** Changes whenever the object changes. */
  readonly etag: string;
}

/** An object with what was stored beside it. */
export interface DescribedObject extends ListedObject {
  readonly labels: Readonly<Record<string, string>>;
}

/** A write that happens only if the object is still as it was seen. */
export type Condition = { readonly ifAbsent: true } | { readonly ifEtag: string };

/** Somebody else wrote the object, or it is there although it should not be. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
}

/** A local file to store. */
export interface FileToStore {
  readonly path: string;
  readonly bytes: number;
  /** In hex. The store compares it with what it received. */
  readonly sha256: string;
}

/** What is stored beside an object; values are ASCII. */
export type Labels = Readonly<Record<string, string>>;

/**
 * An object store, below one prefix. Each object is replaced whole: a reader gets the old or the new one. All methods
 * throw StorageError, UsageError for what only a person can correct, or the reason of the signal.
 */
export interface ObjectStore {
  /** For people: `s3://bucket/prefix`. */
  readonly url: string;
  /** Stores a file, in parts if it is large. Returns the object's etag. Throws ConditionError. */
  putFile(key: string, file: FileToStore, labels: Labels, condition: Condition | undefined): Promise<string>;
  /** Stores a small object. Returns its etag. Throws ConditionError. */
  putText(key: string, text: string, labels: Labels, condition: Condition | undefined): Promise<string>;
  /** Reads a small object; undefined if there is none. */
  readText(key: string): Promise<{ readonly text: string; readonly etag: string } | undefined>;
  /** Looks at an object without reading it; undefined if there is none. */
  describe(key: string): Promise<DescribedObject | undefined>;
  /** All objects whose key starts with a text, in the order of their keys. */
  list(start: string): AsyncGenerator<ListedObject>;
  remove(key: string): Promise<void>;
  /** Removes parts of large objects that were never completed. Returns the number of objects. */
  removeUnfinished(start: string): Promise<number>;
  /** Reads an object piece by piece; undefined if there is none. */
  open(key: string): Promise<Readable | undefined>;
  close(): void;
}

/** The key of an object in a folder of the store; the folder may be empty. */
export function keyIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
