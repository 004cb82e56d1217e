import { readSql, sumOfCosts } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import type { ManifestFile } from '../exports/manifest.ts';
import type { CostColumn } from '../formats/figures.ts';
import { keyOf, type Partition } from './basis.ts';
import type { LakeTable } from './tables.ts';

/** What the books say of a file; `rows` is undefined if the books have other rows than the table. */
export interface ExpectedFigures {
  readonly rows: number | undefined;
  readonly cost: string | null;
}

/** What the books say of partitions. */
export interface BooksFigures {
  of(table: LakeTable, partition: Partition): ExpectedFigures;
  /** Partitions with rows of a table. */
  partitionsOf(table: LakeTable): readonly Partition[];
}

/** Tables with a row for every row that the books count. */
const tablesOfHours: ReadonlySet<string> = new Set(['costs', 'costs_billed']);

/**
 * Rows and cost of each account and month, by the books: added up without the tables' own queries. Without a span of
 * months, there are none.
 */
export async function readFigures(
  connection: Connection,
  span: { readonly from: string; readonly to: string } | undefined,
): Promise<BooksFigures> {
  const ofHours =
    span === undefined ? [] : await connection.rows(await readSql('partitions', 'figures_of_hours'), span);
  const ofBills =
    span === undefined ? [] : await connection.rows(await readSql('partitions', 'figures_of_bills'), span);
  const hours = byPartition(ofHours, 'cost');
  const billed = byPartition(ofBills, 'cost');
  const invoiced = byPartition(ofBills, 'invoiced_cost');
  function figuresOf({ name, figures }: LakeTable) {
    if (figures === 'hours') return hours;
    return name === 'focus' ? invoiced : billed;
  }
  return {
    of(table, partition) {
      const { rows, cost } = figuresOf(table).get(keyOf(partition)) ?? { rows: 0, cost: null };
      return { rows: tablesOfHours.has(table.name) ? rows : undefined, cost };
    },
    partitionsOf: (table) => [...figuresOf(table).values()].map(({ partition }) => partition),
  };
}

type Rows = Awaited<ReturnType<Connection['rows']>>;

function byPartition(rows: Rows, column: string) {
  return new Map(
    rows.map((row) => {
      const partition = { account: String(row['account']), month: String(row['month']) };
      return [keyOf(partition), { partition, rows: Number(row['rows']), cost: String(row[column]) }];
    }),
  );
}

/** The exact sum of the files' costs. */
export async function costsAddedUp(
  connection: Connection,
  files: readonly Pick<ManifestFile, 'cost'>[],
  { decimals }: CostColumn,
): Promise<string | null> {
  const [row] = await connection.rows(sumOfCosts(decimals), { costs: JSON.stringify(files.map(({ cost }) => cost)) });
  const cost = row?.['cost'];
  return typeof cost === 'string' ? cost : null;
}
