import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

/** What a snapshot holds: enough to tell which of two copies of the books knows more. */
export interface SnapshotFacts {
  /** The number of the last load. */
  readonly loadNumber: number;
  /** The number of the last journal event. */
  readonly lastEvent: number;
  /** Rows of `ledger.amounts`. */
  readonly amounts: number;
  /** The sum of their costs: USD, decimal text. */
  readonly cost: string;
}

/** What Costbook writes behind the last block of a snapshot when it publishes it. */
export interface Seal extends SnapshotFacts {
  /** RFC 3339, real time. */
  readonly publishedAt: string;
  /** Bytes of the DuckDB file in front of the seal. */
  readonly bytes: number;
  /** SHA-256 of DuckDB's headers, hexadecimal: each checkpoint writes another one. */
  readonly headers: string;
}

/** What a file in the place of the snapshot is. */
export type SealState =
  | { readonly state: 'intact'; readonly seal: Seal }
  /** A DuckDB file that is not as it was published; `seal` is what can still be read of the seal. */
  | { readonly state: 'changed'; readonly seal: Seal | undefined }
  | { readonly state: 'damaged'; readonly found: string };

/** A main header and two database headers, of which DuckDB writes one at each checkpoint. */
export const headerBytes = 3 * 4096;
const sealBytes = 4096;
const sealMark = 'costbook seal 1\n';
/** At byte 8 of every DuckDB file. */
const duckdbMark = 'DUCK';

/**
 * Writes the seal at the end of a DuckDB file that nobody has open, and syncs it. DuckDB reads only the blocks that its
 * header counts, so it does not see the seal; whoever writes to the file changes a header or writes over the seal.
 */
export async function sealFile(file: string, facts: SnapshotFacts, publishedAt: Date): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    await handle.write(sealBlock(await read(handle, 0, headerBytes), size, facts, publishedAt), 0, sealBytes, size);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What is appended to a DuckDB file of so many bytes that begins with these headers. Pure. */
export function sealBlock(headers: Buffer, bytes: number, facts: SnapshotFacts, publishedAt: Date): Buffer {
  const seal: Seal = { ...facts, publishedAt: publishedAt.toISOString(), bytes, headers: hashOf(headers) };
  const block = Buffer.alloc(sealBytes);
  block.write(`${sealMark}${JSON.stringify(seal)}\n`);
  return block;
}

/**
 * Compares a file with its seal. In a process in which DuckDB has the same file open this drops DuckDB's lock on it.
 * Throws what the file system throws.
 */
export async function readSeal(file: string): Promise<SealState> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const beginning = await read(handle, 0, 12);
    if (beginning.toString('latin1', 8, 12) !== duckdbMark) {
      return { state: 'damaged', found: size === 0 ? 'it is empty' : 'it is no DuckDB file' };
    }
    if (size < headerBytes) return { state: 'damaged', found: `it ends after ${size} bytes` };
    const seal = parseSeal(await read(handle, Math.max(0, size - sealBytes), sealBytes));
    const isIntact =
      seal !== undefined &&
      seal.bytes === size - sealBytes &&
      seal.headers === hashOf(await read(handle, 0, headerBytes));
    return isIntact ? { state: 'intact', seal } : { state: 'changed', seal };
  } finally {
    await handle.close();
  }
}

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
