import { figuresOfParquet, rowsOfParquet } from '../../../warehouse/sql/index.ts';
import { toCellText } from '../../../warehouse/store/index.ts';
import { columnsOf } from '../columns.ts';
import { figuresFrom } from '../figures.ts';
import type { ExportFormat } from '../format.ts';
import { writeParquet } from '../parquet.ts';

export const parquet: ExportFormat = {
  write: writeParquet,
  figures: (connection, path, column) => figuresFrom(connection, figuresOfParquet(column), { path }),
  rows: {
    async columns(files, path) {
      return (await columnsOf(files, rowsOfParquet(undefined), { path })).map(({ name }) => name);
    },
    async *cells(files, path, columns) {
      const { chunks } = await files.stream(rowsOfParquet(columns), { path });
      for await (const chunk of chunks) for (const row of chunk) yield row.map((value) => toCellText(value) ?? '');
    },
  },
};
