import type { FileHandle } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';

/** A file of an archive: where its bytes are. */
interface Entry {
  readonly at: number;
  readonly compressed: number;
}

/** The files of a ZIP archive by their path. Throws if it is not one that `zipped` could have written. */
export async function entriesOf(file: FileHandle): Promise<ReadonlyMap<string, Entry>> {
  const { size } = await file.stat();
  const tail = await bytesAt(file, Math.max(0, size - endLength), Math.min(size, endLength));
  if (tail.length < endLength || tail.readUInt32LE(0) !== endSignature)
    throw new Error('it does not end as a ZIP archive');
  const [length, start] = [tail.readUInt32LE(12), tail.readUInt32LE(16)];
  if (start + length + endLength !== size) throw new Error('its list of files is not where it should be');
  if (length > maxDirectory) throw new Error('its list of files is too long');
  const directory = await bytesAt(file, start, length);
  const entries = new Map<string, Entry>();
  for (let at = 0; at < directory.length; ) {
    if (directory.length < at + 46 || directory.readUInt32LE(at) !== directorySignature) {
      throw new Error('its list of files is damaged');
    }
    const [name, extra, comment] = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const path = directory.toString('utf8', at + 46, at + 46 + name);
    entries.set(path, { at: directory.readUInt32LE(at + 42), compressed: directory.readUInt32LE(at + 20) });
    at += 46 + name + extra + comment;
  }
  return entries;
}

/** The text of a file of an archive, chunk by chunk. Throws if there is none or it is damaged. */
export async function* textOf(
  file: FileHandle,
  entries: ReadonlyMap<string, Entry>,
  path: string,
): AsyncGenerator<string> {
  const entry = entries.get(path);
  if (entry === undefined) throw new Error(`it has no ${path}`);
  const head = await bytesAt(file, entry.at, 30);
  if (head.readUInt32LE(0) !== fileSignature || head.readUInt16LE(8) !== deflated) {
    throw new Error(`${path} is not where it should be`);
  }
  const start = entry.at + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  const inflated = file
    .createReadStream({ start, end: start + entry.compressed - 1, autoClose: false })
    .pipe(createInflateRaw());
  inflated.setEncoding('utf8');
  yield* inflated as AsyncIterable<string>;
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error('it is cut short');
  return buffer;
}

const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
const fileSignature = 0x04034b50;
const endLength = 22;
const deflated = 8;
const maxDirectory = 16_000_000;
