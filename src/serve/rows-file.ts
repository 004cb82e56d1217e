import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAnswer } from '../reports/formats/index.ts';
import type { Column } from '../tables/column.ts';
import { engineAnswerTable, fromSource, makeEngineAnswer } from '../warehouse/sql/index.ts';
import { openScratch } from '../warehouse/store/index.ts';
import { html, type Markup } from './markup.ts';

/** The files in which the numbers of a page are. */
export const pageFormats = ['csv', 'xlsx', 'parquet'] as const;
export type PageFormat = (typeof pageFormats)[number];

/** A format as people write it. */
export function formatWord(format: PageFormat): string {
  return format === 'parquet' ? 'Parquet' : format.toUpperCase();
}

/** Links to the numbers of a page as files; the words say which rows they have. */
export function downloadLinks(address: (format: PageFormat) => string, words = 'Download these numbers'): Markup {
  return html`<p class="actions">${words}: ${pageFormats.map(
    (format) => html`<a href="${address(format)}" download>${formatWord(format)}</a> `,
  )}</p>`;
}

interface RowsFile {
  readonly columns: readonly Column[];
  /** The cells as text. */
  readonly rows: Iterable<readonly (string | null)[]>;
  /** What XLSX and Parquet store besides the rows. */
  readonly facts: Readonly<Record<string, string>>;
  readonly title: string;
  readonly signal: AbortSignal;
}

/** Rows as a file, as reports write it: CSV without formulas, XLSX with all decimals, Parquet with the types of its columns. */
export async function rowsFile(
  { columns, rows, facts, title, signal }: RowsFile,
  format: PageFormat,
): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-rows-'));
  try {
    const given = join(folder, 'rows.json');
    await writeFile(given, linesOf(rows), { signal });
    const scratch = await openScratch(folder);
    try {
      const connection = await scratch.connect(signal);
      await connection.run(makeEngineAnswer(given, columns));
      const path = join(folder, `answer.${format}`);
      const question = { connection, query: fromSource(engineAnswerTable), parameters: {} };
      const costColumn = columns.some(({ name }) => name === 'cost') ? 'cost' : undefined;
      const options = { raw: false, parquetDecimals: 'exact', facts, title, costColumn } as const;
      await writeAnswer(question, { ...options, format, path });
      return await readFile(path);
    } finally {
      scratch.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A line of JSON for each row: its cells under c0, c1 and so on. */
function* linesOf(rows: RowsFile['rows']): Generator<string> {
  for (const row of rows)
    yield `${JSON.stringify(Object.fromEntries(row.map((cell, index) => [`c${index}`, cell])))}\n`;
}
