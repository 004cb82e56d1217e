import { Zip, ZipDeflate } from 'fflate';

/** A file of an archive: its path there, and its bytes chunk by chunk. */
export interface ZipFile {
  readonly path: string;
  readonly chunks: AsyncIterable<string>;
}

/** Office writes this time where it has none; the same files are then the same bytes. Read as local time, as ZIP means it. */
const noTime = '1980-01-01T00:00:00';
/** ZIP counts bytes in 32 bits. */
const maxBytes = 0xffff_ffff;
/** fflate's own deflate gives the same bytes on every machine; zlib's differ by version and processor. */
const level = 6;
const chunkLength = 65_536;

/**
 * Packs files into a ZIP archive, chunk by chunk: what is held at once does not grow with the files. Equal files give
 * equal bytes. Throws RangeError if a file or the archive is larger than ZIP can hold (4 GiB).
 */
export async function* zipped(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  let failure: Error | undefined;
  let total = 0;
  const zip = new Zip((error, chunk) => {
    failure ??= error ?? undefined;
    if (chunk !== undefined && chunk !== null) ready.push(chunk);
  });
  function take(): Uint8Array[] {
    if (failure !== undefined) throw failure;
    const taken = ready;
    ready = [];
    total += taken.reduce((sum, { length }) => sum + length, 0);
    if (total > maxBytes) throw new RangeError('more than 4 GiB');
    return taken;
  }
  for await (const { path, chunks } of files) {
    const file = new ZipDeflate(path, { level });
    file.mtime = noTime;
    zip.add(file);
    let size = 0;
    for await (const text of evenChunks(chunks)) {
      const bytes = Buffer.from(text);
      size += bytes.length;
      if (size > maxBytes) throw new RangeError('more than 4 GiB');
      file.push(bytes);
      yield* take();
    }
    file.push(new Uint8Array(), true);
    yield* take();
  }
  zip.end();
  yield* take();
}

/** The same text in chunks of one length, so that the same text is the same bytes however it came. */
async function* evenChunks(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of chunks) {
    held += chunk;
    let from = 0;
    while (held.length - from >= chunkLength) {
      // A pair of surrogates stays together.
      const isPair = /[\uD800-\uDBFF]/.test(held.charAt(from + chunkLength - 1));
      const to = from + chunkLength - (isPair ? 1 : 0);
      yield held.slice(from, to);
      from = to;
    }
    held = held.slice(from);
  }
  if (held !== '') yield held;
}
