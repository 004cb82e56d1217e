import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlResult } from '../../warehouse/store/index.ts';
import type { Question } from './format.ts';

/** Streams an answer to a new file, chunk by chunk, so that memory does not grow with it. Returns its number of rows. */
export async function writeStream(
  path: string,
  { connection, query, parameters }: Question,
  toChunks: (result: SqlResult) => AsyncGenerator<string | Uint8Array>,
): Promise<number> {
  const { columns, chunks } = await connection.stream(query, parameters);
  let count = 0;
  async function* counted(): SqlResult['chunks'] {
    for await (const rows of chunks) {
      count += rows.length;
      yield rows;
    }
  }
  await pipeline(Readable.from(toChunks({ columns, chunks: counted() })), createWriteStream(path));
  return count;
}
