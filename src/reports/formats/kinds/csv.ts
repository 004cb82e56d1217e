import { cellGuard, csvChunks } from '../csv.ts';
import { csvRecordsOf, figuresOfCsv } from '../csv-figures.ts';
import type { ExportFormat } from '../format.ts';
import { writeStream } from '../write-stream.ts';

export const csv: ExportFormat = {
  write: (path, question, options) => writeStream(path, question, (result) => csvChunks(result, options)),
  figures: (_, path, column) => figuresOfCsv(path, column),
  rows: {
    async columns(_, path) {
      for await (const record of csvRecordsOf(path)) return record;
      return undefined;
    },
    async *cells(_, path, columns) {
      let places: readonly number[] | undefined;
      for await (const record of csvRecordsOf(path)) {
        if (places !== undefined) yield places.map((place) => record[place] ?? '');
        places ??= columns.map((name) => record.findIndex((head) => head === name || head === cellGuard(name)));
      }
    },
    readsAlike: true,
    guardsFormulas: true,
  },
};
