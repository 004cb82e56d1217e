import { UnprovenError } from '../../errors.ts';
import { type Connection, copyOfLake, joinAsChosen, joinInOrder, type SqlParameters } from '../../warehouse/index.ts';
import { type Figures, figuresOfFile, figuresOfQuery } from '../figures.ts';
import type { ManifestFile } from '../manifest.ts';
import type { ExpectedFigures } from './figures.ts';
import type { LakePlace } from './place.ts';
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
  /** What the books say of it; undefined to ask the table's query a second time. */
  readonly expected: ExpectedFigures | undefined;
  /** What it is, for an error. */
  readonly what: string;
}

/** Writes a file, reads it back and compares it with the books. Throws UnprovenError if they differ. */
export async function stage(lake: LakePlace, connection: Connection, file: FileOfTable): Promise<Staged> {
  const { table, form, name, parameters } = file;
  const draft = await lake.draftOf(name);
  try {
    if (table.joinsInOrder) await connection.run(joinInOrder);
    await connection.run(copyOfLake(form.query), { ...parameters, _path: draft });
    if (table.joinsInOrder) await connection.run(joinAsChosen);
    const [placed, written] = await Promise.all([
      lake.keepDraft(name, draft),
      figuresOfFile(connection, draft, 'parquet', form.cost),
    ]);
    const expected =
      table.figures === 'own' || file.expected === undefined
        ? await figuresOfQuery(connection, form.query, parameters, form.cost)
        : file.expected;
    expectFigures(file.what, written, expected);
    return { draft, entry: { ...placed, format: 'parquet', ...written } };
  } catch (error) {
    await lake.dropDraft(draft);
    throw error;
  }
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
