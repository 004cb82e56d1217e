import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Connection, SqlResult } from '../warehouse/index.ts';
import type { CompletenessState } from './completeness.ts';
import { csvPieces } from './formats/csv.ts';

/** A file that was written whole. */
export interface ExportedFile {
  readonly path: string;
  readonly format: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Writes an answer as a file of the format: to a temporary name beside it, synced, then renamed, so that whoever
 * looks finds the old file or the new one and never a part. Throws what the file system throws; then nothing is left.
 */
export async function exportFile(options: {
  connection: Connection;
  query: string;
  parameters: Readonly<Record<string, string>>;
  format: string;
  path: string;
  raw: boolean;
  state: CompletenessState;
}): Promise<ExportedFile> {
  const { path, format } = options;
  const part = join(dirname(path), `.${process.pid}-${Date.now()}.part`);
  await mkdir(dirname(path), { recursive: true });
  try {
    await writers[format]?.(part, options);
    const file = await open(part, 'r+');
    await file.sync();
    await file.close();
    const { size } = await stat(part);
    const sha256 = await hashOf(part);
    await rename(part, path);
    return { path, format, bytes: size, sha256 };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

type ExportOptions = Parameters<typeof exportFile>[0];

/** How each format is written: adding one means one file in formats/ and one line here. */
const writers: Readonly<Record<string, (part: string, options: ExportOptions) => Promise<void>>> = {
  async csv(part, { connection, query, parameters, raw }) {
    const result: SqlResult = await connection.stream(query, parameters);
    await pipeline(Readable.from(csvPieces(result, { raw })), createWriteStream(part));
  },
  async parquet(part, { connection, query, parameters, state }) {
    const facts = `{complete_through: $complete_through, settled_through: $settled_through, as_of: $as_of}`;
    await connection.run(`copy (${query}\n) to $path (format parquet, compression zstd, kv_metadata ${facts})`, {
      ...parameters,
      path: part,
      complete_through: state.completeThrough ?? '',
      settled_through: state.settledThrough ?? '',
      as_of: state.asOf ?? '',
    });
  },
};

/** The formats that can be written. */
export const exportFormats: readonly string[] = Object.keys(writers);

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
