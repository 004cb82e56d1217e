import { UnprovenError } from '../../base/errors.ts';
import { copyOfLake } from '../../warehouse/sql/index.ts';
import type { Connection, SqlParameters } from '../../warehouse/store/index.ts';
import type { ExportFolder } from '../exports/folder-place.ts';
import type { ManifestFile } from '../exports/manifest.ts';
import { figuresOfFile } from '../formats/export.ts';
import { type Figures, figuresOfQuery } from '../formats/figures.ts';
import type { ExpectedFigures } from './figures.ts';
import type { LakeForm, LakeTable } from './tables.ts';

/** A file that readers do not see yet. */
export interface Staged {
  readonly draft: string;
  readonly entry: ManifestFile;
}

/** One file to write. */
export interface FileOfTable {
  readonly table: LakeTable;
  readonly form: LakeForm;
  readonly name: string;
  readonly parameters: SqlParameters;
  /** What the books say of it; undefined for a table that they have no other sums of. */
  readonly expected: ExpectedFigures | undefined;
  /** What it is, for an error. */
  readonly what: string;
}

/** Writes a file, reads it back and compares it with the books. Throws UnprovenError if they differ. */
export async function stage(lake: ExportFolder, connection: Connection, file: FileOfTable): Promise<Staged> {
  const { form, name } = file;
  const draft = await lake.draftOf(name);
  try {
    const rows = await copy(connection, file, draft);
    const [placed, written] = await Promise.all([
      lake.keepDraft(name, draft),
      figuresOfFile(connection, draft, 'parquet', form.cost),
    ]);
    const expected = file.expected ?? (await ownFigures(connection, file, rows));
    expectFigures(file.what, written, expected);
    return { draft, entry: { ...placed, format: 'parquet', ...written } };
  } catch (error) {
    await lake.dropDraft(draft);
    throw error;
  }
}

/** Writes the draft. Returns the number of rows that were written. */
async function copy(connection: Connection, { table, form, parameters }: FileOfTable, draft: string): Promise<number> {
  const write = () => connection.rows(copyOfLake(form.query), { ...parameters, _path: draft });
  const [counted] = await (table.joinsInOrder ? connection.inOrder(write) : write());
  return Number(counted?.['Count']);
}

/** Asks the table's query a second time. A table without a cost has the rows that were written. */
async function ownFigures(
  connection: Connection,
  { form, parameters }: FileOfTable,
  rows: number,
): Promise<ExpectedFigures> {
  return form.cost === undefined ? { rows, cost: null } : figuresOfQuery(connection, form.query, parameters, form.cost);
}

function expectFigures(what: string, written: Figures, { rows, cost }: ExpectedFigures): void {
  // Hours that cost nothing may have no row.
  const isNothing = written.cost === null && Number(cost) === 0;
  const isSame = (rows === undefined || rows === written.rows) && (cost === written.cost || isNothing);
  if (isSame) return;
  throw new UnprovenError(
    `the lake was not published: ${what}: the file has ${written.rows} rows and ${written.cost ?? 'no'} cost, ` +
      `the books have ${rows ?? written.rows} rows and ${cost ?? 'no'} cost`,
  );
}
