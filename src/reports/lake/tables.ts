import { cellOf, instantCell, readSqlFolder, type SqlFile, selectCells } from '../../warehouse/sql/index.ts';
import type { Connection, SqlColumn, SqlParameters } from '../../warehouse/store/index.ts';
import { columnsOf } from '../formats/columns.ts';
import { type CostColumn, costColumnOf } from '../formats/figures.ts';

/** What the content of a table's partitions depends on. Each has a text that changes when it does. */
export const basisKinds = [
  'hours',
  'closes',
  'owners',
  'states',
  'accounts',
  'restatements',
  'outcomes',
  'corrections',
] as const;
export type BasisKind = (typeof basisKinds)[number];

/** Which sums of the books a table's cost is compared with; `own` asks its query a second time. */
export const figureKinds = ['hours', 'billed', 'own'] as const;
export type FigureKind = (typeof figureKinds)[number];

/** A table of the lake: one SQL file. */
export interface LakeTable {
  readonly name: string;
  readonly about: string;
  /** Later versions only add columns. */
  readonly version: number;
  /** The columns in the names of its folders; empty for a table in one file. */
  readonly partition: readonly string[];
  readonly follows: readonly BasisKind[];
  readonly figures: FigureKind;
  /** Whether its query must be joined as it is written, because it sorts before it joins. */
  readonly joinsInOrder: boolean;
  readonly file: SqlFile;
}

/** The tables of the lake by name. Throws if the header of one is wrong: they are all built in. */
export async function readLakeTables(): Promise<LakeTable[]> {
  return (await readSqlFolder('lake')).map((file) => {
    const { name, header } = file;
    const version = Number(header['version'] ?? 1);
    const partition = listOf(header['partition']);
    const follows = listOf(header['follows']).map((kind) => oneOf(basisKinds, kind, file));
    if (!Number.isSafeInteger(version) || version < 1)
      throw new Error(`${file.path}: the header's version is ${header['version']}, expected a whole number`);
    if (partition.length > 0 && partition.join() !== 'account,month') {
      throw new Error(`${file.path}: the header's partition is ${partition.join()}, expected account, month`);
    }
    const figures = oneOf(figureKinds, header['figures'] ?? 'own', file);
    const joinsInOrder = header['joins'] === 'in order';
    return { name, about: header['about'] ?? '', version, partition, follows, figures, joinsInOrder, file };
  });
}

function listOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(/\s*,\s*/);
}

function oneOf<Kind extends string>(kinds: readonly Kind[], found: string, { path }: SqlFile): Kind {
  const kind = kinds.find((one) => one === found);
  if (kind === undefined) throw new Error(`${path}: the header names ${found}, expected one of ${kinds.join(', ')}`);
  return kind;
}

/** A table as it is written: its columns with the types that every engine reads, and the query for them. */
export interface LakeForm {
  readonly columns: readonly SqlColumn[];
  readonly query: string;
  readonly cost: CostColumn | undefined;
}

/** The form of a table. The parameters are those of any partition. */
export async function formOf(connection: Connection, table: LakeTable, parameters: SqlParameters): Promise<LakeForm> {
  const query = `\n${table.file.text.trimEnd()}`;
  const found = await columnsOf(connection, query, parameters);
  // All our instants are UTC; readers treat a plain TIMESTAMP as local time.
  const cells = found.map(({ name, type }) =>
    type === 'TIMESTAMP' ? instantCell(name) : cellOf(name, writtenType(type)),
  );
  const columns = found.map(({ name, type }) => ({ name, type: writtenType(type) ?? type }));
  return { columns, query: selectCells(query, cells), cost: costColumnOf(columns, table.file.header['cost'] ?? '') };
}

/** The type under which a column is written; undefined to write it as it is. */
function writtenType(type: string): string | undefined {
  if (type === 'TIMESTAMP') return 'TIMESTAMP WITH TIME ZONE';
  // Few engines read unsigned integers of 64 bits, and none reads 128 bits.
  if (type === 'UBIGINT') return 'DECIMAL(20,0)';
  return type === 'HUGEINT' ? 'DECIMAL(38,0)' : undefined;
}
