import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { MachineError, UsageError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import type { Destination, StorageSettings } from '../config/index.ts';
import { jsonExcess } from '../text/bounded-json.ts';
import { isMissing, isRefusedCondition, StorageError, statusOf, storageFailure, wordOf } from './storage-error.ts';
import { type Condition, ConditionError, type DescribedObject, keyIn, type Labels, type ObjectStore } from './store.ts';

/** Larger files are stored in parts of this size, or of a larger one if there would be too many parts. */
const partBytes = 8 * 1024 * 1024;
const maxParts = 9000;
const partsAtOnce = 3;
const connectMs = 10_000;
/** Requests that remove the parts of one upload, and the time between them. */
const maxAborts = 6;
/** A part that comes late brings an upload back that the store did not know any more. */
const timesUnknown = 2;
const abortPauseMs = 100;
/** Of one request, the first included. The waits between them grow. */
const maxAttempts = 4;
/** A request that makes progress may take this many times the time limit. */
const slowFactor = 10;
/** No text that is read whole is larger: manifests name some thousand files. Parsing can take thirty times as much memory. */
const maxTextBytes = 32 * 1024 * 1024;
const textLimits = { maxDepth: 32, maxValues: 1_000_000, maxMembers: 100_000 };
/** No page of a listing, and no error, is larger: 1000 keys of 1024 bytes, each written with escapes. */
const maxAnswerBytes = 16 * 1024 * 1024;
/** Objects of one listing, which is kept in memory: an archive of many years has a tenth of them. */
const maxListed = 2_000_000;
/** What an object sends at least while a request may take: less is no store that anybody could read. */
const leastBytes = 1024 * 1024;
/** Pages without an object, one after the other: a store that keeps versions may have some. */
const maxEmptyPages = 1000;

/** How to reach a store besides its settings. */
export interface StoreAccess {
  readonly destination: Destination;
  readonly settings: StorageSettings;
  readonly signal: AbortSignal;
  /** Tests take fewer. */
  readonly mostListed?: number;
  /** Registers a secret, so that no message shows it. */
  keepSecret(secret: string): void;
}

/** Opens a place in an S3-compatible store. Nothing is sent yet, except to find credentials. */
export async function openS3Store(access: StoreAccess): Promise<ObjectStore> {
  const { destination, settings } = access;
  // Loaded here, so that commands without a store do not load it.
  const sdk = await import('@aws-sdk/client-s3');
  const { endpoint, region, pathStyle, timeoutMs } = settings;
  const config: S3ClientConfig = {
    ...(endpoint === undefined ? {} : { endpoint }),
    // Other stores accept any region.
    ...(region === undefined ? (endpoint === undefined ? {} : { region: 'us-east-1' }) : { region }),
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    maxAttempts,
    // Checksums are given where they matter; other stores do not know the SDK's usual ones.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: timeoutMs,
      requestTimeout: timeoutMs * slowFactor,
      throwOnRequestTimeout: true,
    },
  };
  const client = new sdk.S3Client(config);
  client.middlewareStack.add(withEnd(timeoutMs), {
    step: 'deserialize',
    priority: 'low',
    name: 'costbookAnswerWithEnd',
  });
  try {
    const { secretAccessKey, sessionToken } = await client.config.credentials();
    access.keepSecret(secretAccessKey);
    if (sessionToken !== undefined) access.keepSecret(sessionToken);
    await client.config.region().catch((cause: unknown) => {
      throw new UsageError(`cannot open ${destination.url}: found no region, expected one`, {
        cause,
        next: act('write storage.region, or set AWS_REGION.'),
      });
    });
  } catch (error) {
    client.destroy();
    throw storageFailure(error, `open ${destination.url}`);
  }
  return new S3Store(sdk, client, access);
}

/**
 * Removes the parts of an upload. A part that is on its way is stored after the first request, and a store can then keep the
 * upload, so it is sent until the store does not know the upload, twice. What is left then, the next run removes.
 */
async function abortUntilGone(client: S3Client, command: Parameters<S3Client['send']>[0]): Promise<void> {
  const abortSignal = AbortSignal.timeout(connectMs);
  for (let left = maxAborts, unknown = 0; left > 0 && !abortSignal.aborted; left -= 1) {
    const refusal = await client.send(command, { abortSignal }).then(() => undefined, wordOf);
    unknown = refusal === 'NoSuchUpload' ? unknown + 1 : 0;
    if (unknown === timesUnknown) return;
    await sleepFor(abortPauseMs);
  }
}

type Sdk = typeof import('@aws-sdk/client-s3');
/** Of the step "deserialize", whose overload is the last. */
type DeserializeMiddleware = Parameters<S3Client['middlewareStack']['add']>[0];

/**
 * Reads answers that the SDK would read whole without a limit: listings and errors. Objects are read by who asked for them.
 */
function withEnd(timeoutMs: number): DeserializeMiddleware {
  return (next, { commandName }) =>
    async (given) => {
      const answered = await next(given);
      const response = answered.response as { statusCode?: number; body?: unknown };
      const isObject = commandName === 'GetObjectCommand' && (response.statusCode ?? 0) < 300;
      if (!isObject && response.body instanceof Readable) {
        const bytes = await wholeOf(response.body, { maxBytes: maxAnswerBytes, timeoutMs });
        response.body = Readable.from(bytes.length === 0 ? [] : [bytes]);
      }
      return answered;
    };
}

/** The bytes of an answer that is read whole. Throws `tooLarge()` for a larger one, and StorageError if it comes too slowly. */
async function wholeOf(
  stream: Readable | undefined,
  limits: { readonly maxBytes: number; readonly timeoutMs: number; readonly tooLarge?: () => Error },
): Promise<Buffer> {
  const { maxBytes, timeoutMs, tooLarge = () => tooMuch(`has more than ${maxBytes} bytes`) } = limits;
  const pieces: Buffer[] = [];
  let bytes = 0;
  const clock = setTimeout(() => stream?.destroy(tooMuch('did not end in time')), timeoutMs * slowFactor);
  try {
    for await (const piece of stream ?? []) {
      bytes += (piece as Buffer).length;
      if (bytes > maxBytes) throw tooLarge();
      pieces.push(piece as Buffer);
    }
    return Buffer.concat(pieces);
  } finally {
    clearTimeout(clock);
    stream?.destroy();
  }
}

/** The pieces of an object. Throws StorageError if they come too slowly to end: a store may send one byte a minute. */
async function* withPace(stream: Readable, everyMs: number, doing: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  const clock = setInterval(() => {
    if (bytes < leastBytes) stream.destroy(tooMuch('came too slowly'));
    bytes = 0;
  }, everyMs);
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      yield piece;
    }
  } catch (error) {
    throw error instanceof StorageError ? error : storageFailure(error, doing);
  } finally {
    clearInterval(clock);
    stream.destroy();
  }
}

function tooMuch(found: string): StorageError {
  const next = act('ask who runs the store.');
  return new StorageError(`an answer of the store ${found}: it is none that Costbook can use.`, {
    code: 'storage',
    next,
  });
}

class S3Store implements ObjectStore {
  readonly url: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #access: StoreAccess;

  constructor(sdk: Sdk, client: S3Client, access: StoreAccess) {
    this.url = access.destination.url;
    this.#sdk = sdk;
    this.#client = client;
    this.#access = access;
  }

  async putFile(
    key: string,
    { path, bytes, sha256 }: { path: string; bytes: number; sha256: string },
    labels: Labels,
    condition: Condition | undefined,
  ): Promise<string> {
    return this.#put(key, { ...labels, [shaLabel]: sha256 }, condition, async (object) => {
      if (bytes > partBytes) return this.#putParts({ path, bytes, sha256 }, object);
      const body = await readFile(path);
      expectHash(createHash('sha256').update(body).digest('hex'), sha256, path);
      const { signal } = this.#access;
      const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
      const command = new this.#sdk.PutObjectCommand({ ...object, Body: body, ChecksumSHA256 });
      return (await this.#client.send(command, { abortSignal: signal })).ETag;
    });
  }

  async putText(key: string, text: string, labels: Labels, condition: Condition | undefined): Promise<string> {
    const sha256 = createHash('sha256').update(text).digest();
    return this.#put(key, { ...labels, [shaLabel]: sha256.toString('hex') }, condition, async (object) => {
      const command = new this.#sdk.PutObjectCommand({
        ...object,
        Body: text,
        ContentType: 'application/json',
        ChecksumSHA256: sha256.toString('base64'),
      });
      return (await this.#client.send(command, { abortSignal: this.#access.signal })).ETag;
    });
  }

  async readText(key: string): Promise<{ text: string; etag: string } | undefined> {
    return this.#ask(`read ${this.#name(key)}`, async (abortSignal) => {
      const command = new this.#sdk.GetObjectCommand(this.#object(key));
      const answer = await this.#client.send(command, { abortSignal }).catch(undefinedIfMissing);
      if (answer === undefined) return undefined;
      const { timeoutMs } = this.#access.settings;
      const tooLarge = () =>
        new MachineError(`${this.#name(key)} is larger than a manifest can be`, { next: act('move it away.') });
      // Not by its length: the answer need not say it.
      const bytes = await wholeOf(answer.Body as Readable | undefined, { maxBytes: maxTextBytes, timeoutMs, tooLarge });
      // Every text is JSON of ours, if it is not of somebody else.
      if (jsonExcess(bytes, textLimits) !== undefined) throw tooLarge();
      return { text: bytes.toString('utf8'), etag: plainEtag(answer.ETag) };
    });
  }

  async describe(key: string): Promise<DescribedObject | undefined> {
    return this.#ask(`look at ${this.#name(key)}`, async (abortSignal) => {
      const command = new this.#sdk.HeadObjectCommand(this.#object(key));
      const answer = await this.#client.send(command, { abortSignal }).catch((error: unknown) => {
        // An answer to HEAD has no body, so it cannot say what is missing.
        if (statusOf(error) === 404) return undefined;
        throw error;
      });
      if (answer === undefined) return undefined;
      const labels = answer.Metadata ?? {};
      return { key, bytes: answer.ContentLength ?? 0, etag: plainEtag(answer.ETag), labels };
    });
  }

  async *list(start: string) {
    const Prefix = this.#key(start);
    let ContinuationToken: string | undefined;
    let emptyPages = 0;
    let listed = 0;
    const { mostListed = maxListed } = this.#access;
    do {
      const before = ContinuationToken;
      const page = await this.#ask(`list ${this.#name(start)}`, async (abortSignal) => {
        const { Bucket } = this.#object(start);
        const command = new this.#sdk.ListObjectsV2Command({ Bucket, Prefix, ContinuationToken });
        return this.#client.send(command, { abortSignal });
      });
      for (const { Key = '', Size = 0, ETag } of page.Contents ?? []) {
        // Some programs store an empty object as a folder.
        if (Key.startsWith(Prefix) && !Key.endsWith('/'))
          yield { key: this.#withoutPrefix(Key), bytes: Size, etag: plainEtag(ETag) };
      }
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      emptyPages = (page.Contents ?? []).length === 0 ? emptyPages + 1 : 0;
      listed += page.Contents?.length ?? 0;
      const isEndless = ContinuationToken === before || emptyPages > maxEmptyPages || listed > mostListed;
      if (ContinuationToken !== undefined && isEndless) {
        throw new StorageError(`cannot list ${this.#name(start)}: the store says without end that there is more.`, {
          ...{ code: 'storage', next: act('ask who runs the store.') },
        });
      }
    } while (ContinuationToken !== undefined);
  }

  async remove(key: string): Promise<void> {
    await this.#ask(`remove ${this.#name(key)}`, async (abortSignal) => {
      await this.#client.send(new this.#sdk.DeleteObjectCommand(this.#object(key)), { abortSignal });
    });
  }

  async removeUnfinished(start: string): Promise<number> {
    const { Bucket } = this.#object(start);
    return this.#ask(`remove unfinished uploads below ${this.#name(start)}`, async (abortSignal) => {
      const command = new this.#sdk.ListMultipartUploadsCommand({ Bucket, Prefix: this.#key(start) });
      const found = await this.#client.send(command, { abortSignal }).catch((error: unknown) => {
        if (statusOf(error) === 501) return undefined; // a store without this request cleans up by itself
        throw error;
      });
      const uploads = found?.Uploads ?? [];
      for (const { Key, UploadId } of uploads) {
        const abort = new this.#sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
        await this.#client.send(abort, { abortSignal }).catch((error: unknown) => {
          if (wordOf(error) !== 'NoSuchUpload') throw error;
        });
      }
      return uploads.length;
    });
  }

  async open(key: string): Promise<Readable | undefined> {
    return this.#ask(`read ${this.#name(key)}`, async (abortSignal) => {
      const command = new this.#sdk.GetObjectCommand(this.#object(key));
      const answer = await this.#client.send(command, { abortSignal }).catch(undefinedIfMissing);
      if (!(answer?.Body instanceof Readable)) return undefined;
      const everyMs = this.#access.settings.timeoutMs * slowFactor;
      return Readable.from(withPace(answer.Body, everyMs, `read ${this.#name(key)}`));
    });
  }

  close(): void {
    this.#client.destroy();
  }

  /** Stores an object under a condition. An answer that was lost may hide that it was stored. */
  async #put(
    key: string,
    labels: Labels,
    condition: Condition | undefined,
    send: (object: ObjectToPut) => Promise<string | undefined>,
  ): Promise<string> {
    const { serverSideEncryption, kmsKeyId } = this.#access.settings;
    const object: ObjectToPut = {
      ...this.#object(key),
      Metadata: { ...labels },
      ...(serverSideEncryption === undefined ? {} : { ServerSideEncryption: serverSideEncryption }),
      ...(kmsKeyId === undefined ? {} : { SSEKMSKeyId: kmsKeyId }),
      ...conditionOf(condition),
    };
    return this.#ask(`store ${this.#name(key)}`, async () => {
      try {
        return plainEtag(await send(object));
      } catch (error) {
        if (!isRefusedCondition(error)) throw error;
        // The SDK sends again after a lost answer, and then meets its own object.
        const there = await this.describe(key);
        if (there !== undefined && Object.entries(labels).every(([name, value]) => there.labels[name] === value)) {
          return there.etag;
        }
        throw new ConditionError(`${this.#name(key)} was written by somebody else`, { cause: error });
      }
    });
  }

  async #putParts(
    { path, bytes, sha256 }: { path: string; bytes: number; sha256: string },
    object: ObjectToPut,
  ): Promise<string | undefined> {
    const { Upload } = await import('@aws-sdk/lib-storage');
    const { signal } = this.#access;
    const failed = new AbortController();
    const stop = AbortSignal.any([signal, failed.signal]);
    const upload = new Upload({
      client: this.#sendingUntil(stop, (error) => failed.abort(error)),
      params: { ...object, Body: Readable.from(proven(path, sha256, stop)), ChecksumAlgorithm: 'SHA256' },
      queueSize: partsAtOnce,
      partSize: Math.max(partBytes, Math.ceil(bytes / maxParts)),
    });
    try {
      return (await upload.done()).ETag;
    } catch (error) {
      // The other parts end because of the first failure.
      throw failed.signal.aborted ? failed.signal.reason : error;
    }
  }

  /**
   * The client as Upload uses it. The SDK gives its parts no signal, and goes on with the others when one has failed. The
   * request that removes the parts is sent after the signal too.
   */
  #sendingUntil(stop: AbortSignal, onFailure: (error: unknown) => void): S3Client {
    const client = this.#client;
    const { AbortMultipartUploadCommand } = this.#sdk;
    async function send(command: Parameters<S3Client['send']>[0]): Promise<unknown> {
      if (command instanceof AbortMultipartUploadCommand) {
        await abortUntilGone(client, command);
        return undefined;
      }
      try {
        return await client.send(command, { abortSignal: stop });
      } catch (error) {
        if (!stop.aborted) onFailure(error);
        throw error;
      }
    }
    return Object.assign(Object.create(client), { send }) as S3Client;
  }

  /** Runs requests and gives their failures our words. */
  async #ask<T>(doing: string, requests: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#access;
    signal.throwIfAborted();
    try {
      return await requests(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ConditionError) throw error;
      throw storageFailure(error, doing);
    }
  }

  #key(key: string): string {
    return keyIn(this.#access.destination.prefix, key);
  }

  #withoutPrefix(key: string): string {
    const { prefix } = this.#access.destination;
    return prefix === '' ? key : key.slice(prefix.length + 1);
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#access.destination.bucket, Key: this.#key(key) };
  }

  /** An object in messages. */
  #name(key: string): string {
    return key === '' ? this.url : `${this.url}/${key}`;
  }
}

/** The label with the SHA-256 of an object, in hex. The store's own checksum of a large object is of its parts. */
export const shaLabel = 'costbook-sha256';

interface ObjectToPut {
  readonly Bucket: string;
  readonly Key: string;
  readonly Metadata: Record<string, string>;
  readonly ServerSideEncryption?: 'AES256' | 'aws:kms';
  readonly SSEKMSKeyId?: string;
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

function conditionOf(condition: Condition | undefined): { IfMatch?: string; IfNoneMatch?: string } {
  if (condition === undefined) return {};
  return 'ifAbsent' in condition ? { IfNoneMatch: '*' } : { IfMatch: `"${condition.ifEtag}"` };
}

function plainEtag(etag: string | undefined): string {
  return (etag ?? '').replace(/^"|"$/g, '');
}

function undefinedIfMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}

/** The pieces of a file. Ends in an error if the file is not the one with this hash, so that it is not stored. */
async function* proven(path: string, sha256: string, stop: AbortSignal): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    stop.throwIfAborted();
    hash.update(piece);
    yield piece;
  }
  expectHash(hash.digest('hex'), sha256, path);
}

function expectHash(found: string, expected: string, path: string): void {
  if (found === expected) return;
  throw new MachineError(
    `${path} was not sent: found the SHA-256 ${found}, expected ${expected}; it changed after it was written`,
    { next: act('write it again.') },
  );
}
