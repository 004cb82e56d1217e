import { createReadStream } from 'node:fs';
import { plainDecimal } from '../../../money/money.ts';
import { figuresOfJsonFile } from '../../../warehouse/sql/index.ts';
import { asRegularFile } from '../csv-figures.ts';
import { figuresFrom } from '../figures.ts';
import type { ExportFormat } from '../format.ts';
import { jsonChunks } from '../json.ts';
import { writeStream } from '../write-stream.ts';

export const json: ExportFormat = {
  write: (path, question) => writeStream(path, question, jsonChunks),
  // Decimals are text in JSON; read as text, they stay exact.
  figures(connection, path, column) {
    // A JSON pointer (RFC 6901) can hold any name.
    const pointer = `/${(column?.name ?? '').replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return figuresFrom(connection, figuresOfJsonFile(column), { path, pointer });
  },
  rows: {
    async columns(_, path) {
      for await (const object of jsonObjects(path)) return Object.keys(object);
      return undefined;
    },
    async *cells(_, path, columns) {
      for await (const object of jsonObjects(path)) yield columns.map((name) => jsonCell(object[name]));
    },
    readsAlike: true,
  },
};

/** As long as DuckDB reads an object. */
const mostLine = 16 * 1024 * 1024;

/**
 * The objects of a JSON export: one on each line between the brackets, as `jsonLines` writes it. Throws for another text: where a
 * name is there twice, readers do not agree which value counts.
 */
async function* jsonObjects(path: string): AsyncGenerator<Record<string, unknown>> {
  let held = '';
  for await (const piece of createReadStream(path, { ...asRegularFile, encoding: 'utf8' }) as AsyncIterable<string>) {
    const lines = (held + piece).split('\n');
    held = lines.pop() ?? '';
    if (held.length > mostLine) throw new Error(`it has a line of more than ${mostLine} letters`);
    for (const line of lines) {
      const text = line.replace(/,$/, '');
      if (text === '[' || text === ']' || text === '[]') continue;
      const row = JSON.parse(text) as Record<string, unknown>;
      if (JSON.stringify(row) !== text) throw new Error('it has a line that no export has');
      yield row;
    }
  }
  if (held !== '') throw new Error('it ends within a line');
}

function jsonCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return plainDecimal(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
