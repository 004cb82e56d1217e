import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { openRegular } from '../../base/regular-file.ts';
import type { FastClock } from '../../time/clock.ts';
import type { CompleteFiles } from '../journal/journal.ts';

/** The contents of a snapshot, as far as needed to tell which of two copies of the books is newer. */
export interface SnapshotFacts {
  /** The number of the last load. */
  readonly loadNumber: number;
  /** The number of the last journal event. */
  readonly lastEvent: number;
  /** Rows of `ledger.hourly_costs`. */
  readonly rowCount: number;
  /** The sum of their costs: USD, decimal text. */
  readonly cost: string;
}

/** The facts that a seal stores about its snapshot. */
export interface SealedFacts extends SnapshotFacts {
  /** The last ingest's clock if it was ahead; undefined if it was correct. */
  readonly fastClock?: FastClock | undefined;
  /** The journal's complete files. */
  readonly journal: CompleteFiles;
}

/** What Costbook writes after the last block of a snapshot when it publishes it. */
export interface Seal extends SealedFacts {
  /** RFC 3339, real time. */
  readonly publishedAt: string;
  /** Bytes of the DuckDB file before the seal. */
  readonly bytes: number;
  /** SHA-256 of DuckDB's headers, hexadecimal: each checkpoint changes them. */
  readonly headers: string;
}

/** The state of the snapshot's file. */
export type SealState =
  | { readonly state: 'intact'; readonly seal: Seal }
  /** A DuckDB file that another program wrote to; `seal` is set if the seal is still readable. */
  | { readonly state: 'changed'; readonly seal: Seal | undefined }
  | { readonly state: 'damaged'; readonly found: string };

/** A main header and two database headers; DuckDB writes one of these at each checkpoint. */
export const headerBytes = 3 * 4096;
const sealBytes = 4096;
const sealMark = 'costbook seal 1\n';
/** At byte 8 of every DuckDB file. */
const duckdbMark = 'DUCK';

/**
 * Writes the seal at the end of a DuckDB file that nobody has open, and syncs it. DuckDB reads only the blocks that its
 * header counts, so it ignores the seal; any program that writes to the file changes a header or overwrites the seal.
 */
export async function sealFile(file: string, facts: SealedFacts, publishedAt: Date): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    await handle.write(sealBlock(await read(handle, 0, headerBytes), size, facts, publishedAt), 0, sealBytes, size);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The seal block for a DuckDB file with this size and these headers. Pure. */
export function sealBlock(headers: Buffer, bytes: number, facts: SealedFacts, publishedAt: Date): Buffer {
  const seal: Seal = { ...facts, publishedAt: publishedAt.toISOString(), bytes, headers: hashOf(headers) };
  const block = Buffer.alloc(sealBytes);
  block.write(`${sealMark}${JSON.stringify(seal)}\n`);
  return block;
}

/**
 * Compares a file with its seal. In a process in which DuckDB has the same file open, this drops DuckDB's lock on it.
 * Throws file system errors.
 */
export async function readSeal(file: string): Promise<SealState> {
  const handle = await openRegular(file);
  try {
    const { size } = await handle.stat();
    const headers = await read(handle, 0, headerBytes);
    const found = damageOf(headers, size);
    if (found !== undefined) return { state: 'damaged', found };
    const seal = parseSeal(await read(handle, Math.max(0, size - sealBytes), sealBytes));
    const isIntact = seal !== undefined && seal.bytes === size - sealBytes && seal.headers === hashOf(headers);
    if (isIntact) return { state: 'intact', seal };
    // DuckDB writes whole blocks: anything that is neither a block nor our seal is the rest of a block.
    const rest = (size - headerBytes) % (activeHeader(headers)?.blockBytes ?? 1);
    if (rest !== 0 && seal === undefined) return { state: 'damaged', found: `it is truncated after ${size} bytes` };
    return { state: 'changed', seal };
  } finally {
    await handle.close();
  }
}

/**
 * What is wrong with the writer's file according to its headers and length, as a sentence; undefined if nothing.
 * `published` is the snapshot's seal: if the file had no checkpoint since, it has at least as many bytes as were
 * published. Throws file system errors.
 */
export async function damageOfWarehouse(file: string, published: Seal | undefined): Promise<string | undefined> {
  const handle = await openRegular(file);
  try {
    const { size } = await handle.stat();
    const headers = await read(handle, 0, headerBytes);
    const isAsPublished = published !== undefined && published.headers === hashOf(headers);
    if (isAsPublished && size < published.bytes) return truncatedWords(size, published.bytes);
    return damageOf(headers, size);
  } finally {
    await handle.close();
  }
}

/** Whether a file has the headers of a published snapshot: no program has written to it since. Throws file system errors. */
export async function hasHeadersOf(file: string, published: Seal): Promise<boolean> {
  const handle = await openRegular(file);
  try {
    return hashOf(await read(handle, 0, headerBytes)) === published.headers;
  } finally {
    await handle.close();
  }
}

/** The length of the blocks of a DuckDB file, in bytes; undefined if its headers do not say. Throws file system errors. */
export async function blockBytesOf(file: string): Promise<number | undefined> {
  const handle = await openRegular(file);
  try {
    const headers = await read(handle, 0, headerBytes);
    return headers.length < headerBytes ? undefined : activeHeader(headers)?.blockBytes;
  } finally {
    await handle.close();
  }
}

/** Why a file is not a complete DuckDB file, as a sentence; undefined if it is. Pure. */
function damageOf(headers: Buffer, size: number): string | undefined {
  if (size === 0) return 'it is empty';
  if (headers.toString('latin1', 8, 12) !== duckdbMark) return 'it is not a DuckDB file';
  if (headers.length < headerBytes) return `it is truncated after ${size} bytes`;
  const header = activeHeader(headers);
  if (header === undefined) return undefined; // another version's: DuckDB reports it
  // The header may count free blocks that DuckDB has removed since; the blocks that it names must exist.
  const { metaBlock, freeList, blocks, blockBytes } = header;
  const named = freeList === undefined ? blocks : Math.max(freeList, metaBlock ?? -1) + 1;
  const needed = headerBytes + named * blockBytes;
  return size < needed ? truncatedWords(size, needed) : undefined;
}

function truncatedWords(size: number, needed: number): string {
  return `it is truncated: it has ${size} bytes of at least ${needed}`;
}

interface DatabaseHeader {
  /** The block that describes tables; undefined if there are none. */
  readonly metaBlock: number | undefined;
  /** The block that lists free blocks; undefined if none is free. */
  readonly freeList: number | undefined;
  readonly blocks: number;
  readonly blockBytes: number;
}

/** The newer one of DuckDB's two database headers; undefined if neither is valid. Pure. */
function activeHeader(headers: Buffer): DatabaseHeader | undefined {
  const first = headers.readBigUInt64LE(4096 + 8) >= headers.readBigUInt64LE(8192 + 8);
  const from = first ? 4096 : 8192;
  const [metaBlock, freeList, blocks, blockBytes] = [16, 24, 32, 40].map((at) => headers.readBigUInt64LE(from + at));
  const [count, bytes] = [Number(blocks), Number(blockBytes)];
  const isKnown = bytes >= 16_384 && bytes <= 262_144 && (bytes & (bytes - 1)) === 0 && count < 2 ** 32;
  if (!isKnown) return undefined;
  return { metaBlock: blockOf(metaBlock), freeList: blockOf(freeList), blocks: count, blockBytes: bytes };
}

/** The block of a pointer, whose highest byte is a position in the block; undefined for a null pointer. */
function blockOf(pointer = noPointer): number | undefined {
  return pointer === noPointer ? undefined : Number(pointer & 0xff_ffff_ffff_ffffn);
}

const noPointer = 0xffff_ffff_ffff_ffffn;

function parseSeal(block: Buffer): Seal | undefined {
  const text = block.toString('utf8');
  if (!text.startsWith(sealMark)) return undefined;
  try {
    return JSON.parse(text.slice(sealMark.length).replace(/\0+$/, '')) as Seal;
  } catch {
    return undefined;
  }
}

function hashOf(headers: Buffer): string {
  return createHash('sha256').update(headers).digest('hex');
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}
