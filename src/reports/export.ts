import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlResult } from '../warehouse/index.ts';
import type { CompletenessState } from './completeness.ts';
import { csvPieces } from './formats/csv.ts';
import type { AnswerPieces, FormatOptions, Question } from './formats/format.ts';
import { jsonPieces } from './formats/json.ts';
import { writeParquet } from './formats/parquet.ts';

/** A file that was written whole. */
export interface ExportedFile {
  readonly path: string;
  readonly format: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes the answer to a question to a path where nothing lies yet; returns how many rows it has. */
type Writer = (path: string, question: Question, options: FormatOptions) => Promise<number>;

/** How each format is written: adding one means one file in formats/ and one line here. */
const writers: Readonly<Record<string, Writer>> = {
  csv: streamed(async () => csvPieces),
  parquet: writeParquet,
  // Loaded where it is asked for: the library takes longer to load than most commands to answer.
  arrow: streamed(async () => (await import('./formats/arrow.ts')).arrowPieces),
  json: streamed(async () => jsonPieces),
};

/** The formats that can be written. */
export const exportFormats: readonly string[] = Object.keys(writers);

/** A format that is written piece by piece from the rows as they come. */
function streamed(load: () => Promise<AnswerPieces>): Writer {
  return async (path, { connection, query, parameters }, options) => {
    const toPieces = await load();
    const { columns, pieces } = await connection.stream(query, parameters);
    let count = 0;
    async function* counted(): SqlResult['pieces'] {
      for await (const rows of pieces) {
        count += rows.length;
        yield rows;
      }
    }
    await pipeline(Readable.from(toPieces({ columns, pieces: counted() }, options)), createWriteStream(path));
    return count;
  };
}

/** Writes an answer as a file of the format, whole or not at all. Throws SqlError and what the file system throws. */
export async function exportFile(
  question: Question,
  { format, path, ...options }: FormatOptions & { readonly format: string; readonly path: string },
): Promise<ExportedFile> {
  const write = writers[format];
  if (write === undefined) throw new Error(`there is no format ${format}`);
  return wholeFile(path, format, (part) => write(part, question, options));
}

/** Writes a text that goes with an answer's files, such as metadata, whole or not at all. It has no rows. */
export function exportText(path: string, format: string, text: string): Promise<ExportedFile> {
  return wholeFile(path, format, async (part) => {
    await writeFile(part, text);
    return 0;
  });
}

/**
 * Has a file written to a temporary name beside its own, synced, then renamed, so that whoever looks finds the old file
 * or the new one and never a part. Where anything is thrown nothing is left.
 */
async function wholeFile(
  path: string,
  format: string,
  write: (part: string) => Promise<number>,
): Promise<ExportedFile> {
  const part = join(dirname(path), `.${process.pid}-${basename(path)}.part`);
  await mkdir(dirname(path), { recursive: true });
  try {
    const rows = await write(part);
    const file = await open(part, 'r+');
    await file.sync();
    await file.close();
    const { size } = await stat(part);
    const sha256 = await hashOf(part);
    await rename(part, path);
    return { path, format, rows, bytes: size, sha256 };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** The metadata that goes with an answer, in formats that have any; what is not known is left out. */
export function factsOf({
  asOf,
  closedAt,
  completeThrough,
  settledThrough,
}: CompletenessState): Record<string, string> {
  const facts = {
    complete_through: completeThrough,
    settled_through: settledThrough,
    as_of: asOf,
    closed_at: closedAt,
  };
  return Object.fromEntries(Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [[name, fact]])));
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
