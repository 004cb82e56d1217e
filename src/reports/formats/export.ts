import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlResult } from '../../warehouse/store/index.ts';
import type { CompletenessState } from './completeness.ts';
import { csvChunks } from './csv.ts';
import { type CurrencyOfAnswer, currencyWords } from './currency-words.ts';
import type { AnswerChunks, FormatOptions, Question } from './format.ts';
import { jsonChunks } from './json.ts';
import { writeParquet } from './parquet.ts';

/** Writes an answer to a new file. Returns its number of rows. */
type Writer = (path: string, question: Question, options: FormatOptions) => Promise<number>;

/** The writer of each format. A new format needs one file in formats/ and one line here. */
const writers: Readonly<Record<string, Writer>> = {
  csv: streamed(async () => csvChunks),
  parquet: writeParquet,
  arrow: streamed(loadArrow),
  json: streamed(async () => jsonChunks),
  xlsx: async (...asked) => (await import('./xlsx.ts')).writeXlsx(...asked),
};

/** The formats that can be written. */
export const exportFormats: readonly string[] = Object.keys(writers);

/** Arrow's writer, loaded on demand: loading the library takes longer than most commands. */
export async function loadArrow(): Promise<AnswerChunks> {
  return (await import('./arrow.ts')).arrowChunks;
}

/** A format that is streamed from the rows. */
function streamed(load: () => Promise<AnswerChunks>): Writer {
  return async (path, { connection, query, parameters }, options) => {
    const toChunks = await load();
    const { columns, chunks } = await connection.stream(query, parameters);
    let count = 0;
    async function* counted(): SqlResult['chunks'] {
      for await (const rows of chunks) {
        count += rows.length;
        yield rows;
      }
    }
    await pipeline(Readable.from(toChunks({ columns, chunks: counted() }, options)), createWriteStream(path));
    return count;
  };
}

/** Writes an answer in a format to a new file. Returns its number of rows. Throws SqlError. */
export function writeAnswer(
  question: Question,
  { format, path, ...options }: FormatOptions & { readonly format: string; readonly path: string },
): Promise<number> {
  const write = writers[format];
  if (write === undefined) throw new Error(`there is no format ${format}`);
  return write(path, question, options);
}

/** The metadata of an answer, for formats that support it. Unknown values are left out. */
export function factsOf(
  { asOf, closedAt, completeThrough, settledThrough }: CompletenessState,
  currency?: CurrencyOfAnswer,
): Record<string, string> {
  const facts = {
    complete_through: completeThrough,
    settled_through: settledThrough,
    as_of: asOf,
    closed_at: closedAt,
    rates: currency === undefined ? null : currencyWords(currency).join(' ') || null,
  };
  return Object.fromEntries(Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [[name, fact]])));
}
