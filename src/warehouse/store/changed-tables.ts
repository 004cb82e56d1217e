import { readSql } from '../sql/sql-files.ts';
import { hashOf, migrationsOf } from '../sql/statements.ts';
import type { Connection } from './connection.ts';

/** Tables of a program's own facts: an upgrade changes them without an event of the journal, a rebuild leaves them empty. */
const tablesOfProgram = [
  'ledger.applied_files',
  'ledger.billing_dimensions',
  'ledger.series_hours',
  'ledger.unit_suffixes',
];

/**
 * What another program changed in the warehouse, given the snapshot that was published from it: `the table main.mine is
 * new`. With `areRowsSame` also tables whose rows differ: both have the same loads and journal events. Empty if nothing
 * differs, or if the two have different schemas. Both connections have their file attached as `wh`.
 */
export async function changedTables(
  warehouse: Connection,
  snapshot: Connection,
  { areRowsSame }: { readonly areRowsSame: boolean },
): Promise<string[]> {
  if ((await migrationsIn(warehouse)) !== (await migrationsIn(snapshot))) return [];
  const [here, there] = [await tablesIn(warehouse), await tablesIn(snapshot)];
  const changes: string[] = [];
  for (const name of [...new Set([...here.keys(), ...there.keys()])].sort()) {
    const [own, published] = [here.get(name), there.get(name)];
    if (own === undefined) changes.push(`the table ${name} is missing`);
    else if (published === undefined) changes.push(`the table ${name} is new`);
    else if (areRowsSame && !tablesOfProgram.includes(name)) {
      const rows = await rowsIn(warehouse, own);
      // A rebuilt file has no cached answers until `alert` has run.
      if (name === 'ledger.cached_answers' && rows === noRows) continue;
      if (rows !== (await rowsIn(snapshot, published))) {
        changes.push(`the rows of ${name} differ`);
      }
    }
  }
  return changes;
}

async function migrationsIn(connection: Connection): Promise<string> {
  return JSON.stringify(await connection.rows(migrationsOf('wh')));
}

interface TableName {
  readonly schema: string;
  readonly table: string;
}

async function tablesIn(connection: Connection): Promise<Map<string, TableName>> {
  const rows = await connection.rows(await readSql('ledger', 'tables'), { catalog: 'wh' });
  return new Map(
    rows.map((row) => {
      const name = { schema: String(row['schema_name']), table: String(row['table_name']) };
      return [`${name.schema}.${name.table}`, name];
    }),
  );
}

const noRows = JSON.stringify([{ hash: null }]);

async function rowsIn(connection: Connection, { schema, table }: TableName): Promise<string> {
  return JSON.stringify(await connection.rows(hashOf('wh', schema, table)));
}
