import type { Connection } from '../../warehouse/store/index.ts';
import type { Manifest } from '../exports/manifest.ts';
import { keyOf } from './basis.ts';
import { readFigures } from './figures.ts';
import { readLakeTables } from './tables.ts';

/** A number of a manifest, and that of the books. */
export interface LakeFact {
  readonly what: string;
  /** In the manifest. */
  readonly found: string | number | null;
  /** By the books. */
  readonly expected: string | number | null;
}

/** All months: no date is before or after. */
const allMonths = { from: '0001-01-01', to: '9999-12-31' };

/** Rows and cost of every partition in the manifest, and of those that it lacks, with what the books say. */
export async function lakeFacts(connection: Connection, manifest: Manifest): Promise<readonly LakeFact[]> {
  const figures = await readFigures(connection, allMonths);
  const facts: LakeFact[] = [];
  for (const table of await readLakeTables()) {
    if (table.figures === 'own') continue;
    const missing = new Map(figures.partitionsOf(table).map((partition) => [keyOf(partition), partition]));
    for (const { partition, rows, cost, ...file } of manifest.files) {
      if (file.table !== table.name || partition === undefined) continue;
      missing.delete(keyOf(partition));
      const books = figures.of(table, partition);
      const where = `of ${table.name}, account ${partition.account}, ${partition.month}`;
      if (books.rows !== undefined) facts.push({ what: `rows ${where}`, found: rows, expected: books.rows });
      // Hours that cost nothing may have no row.
      const isNothing = cost === null && Number(books.cost) === 0;
      if (!isNothing) facts.push({ what: `cost ${where}`, found: cost, expected: books.cost });
    }
    for (const { account, month } of missing.values()) {
      facts.push({ what: `file of ${table.name}, account ${account}, ${month}`, found: null, expected: 'rows' });
    }
  }
  return facts;
}
