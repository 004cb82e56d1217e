import { expect, test } from 'vitest';
import { openBooks } from '../../src/warehouse/books.ts';
import { readSqlFolder } from '../../src/warehouse/sql-files.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { newProject } from '../support/project.ts';

/** What can be asked only of the present: what has proven since is forgotten there, and which files made the schema. */
const presentOnly = ['unproven', 'contradictions', 'applied_files', 'journal'];

test('the ledger as of an instant has every table and column of the present one, with the same types', async () => {
  const dir = await newProject();
  const warehouse = await openWarehouse(dir);
  await warehouse.publish();
  warehouse.close();
  const books = await openBooks(dir, { lockedDown: true, asOf: 0 });
  try {
    const columnsOf = (catalog: string) =>
      books.connection.rows(
        `select table_name, column_name, data_type
        from duckdb_columns()
        where database_name = $catalog and schema_name = 'ledger'
        order by table_name, column_index`,
        { catalog },
      );
    const present = await columnsOf('present');
    expect(present.length).toBeGreaterThan(0);
    expect(await columnsOf('wh')).toEqual(present.filter((row) => !presentOnly.includes(String(row['table_name']))));
    await expect(books.connection.rows('select reason from ledger.unproven')).rejects.toThrow('does not exist');
  } finally {
    books.close();
  }
});

test('the last instant is after every instant in the books', async () => {
  const dir = await newProject();
  const warehouse = await openWarehouse(dir);
  await warehouse.publish();
  warehouse.close();
  const books = await openBooks(dir, { lockedDown: true });
  try {
    const instants = await books.connection.rows(
      `select table_name, column_name
      from duckdb_columns()
      where database_name = 'wh' and schema_name = 'ledger' and ends_with(column_name, '_at')
        and column_name not in ('created_at', 'platform_at', 'until_at') -- what the platform says, and a person
        and table_name in (select table_name from duckdb_tables() where database_name = 'wh')`,
    );
    const [lastSeen] = (await readSqlFolder('as_of')).filter(({ name }) => name === 'last_seen');
    // A restatement is seen with its load; the SQL files' own instants are no part of the books.
    const others = [...presentOnly, 'restatements'];
    const expected = instants.filter(
      // When a resource was made the platform tells; it was seen when that was recorded.
      (row) => !others.includes(String(row['table_name'])) && row['column_name'] !== 'created_at',
    );
    expect(expected.length).toBeGreaterThan(4);
    // Loads, and the proofs of theirs, are in the order of their numbers; a reading of clocks is dated by the platform's.
    const unlike: Readonly<Record<string, string>> = {
      loads: '(select max_by(seen_at, load_number) from ledger.loads)',
      reconciliation: '(select max(proven_at) from ledger.reconciliation where load_number is null)',
      clocks: '(select max(platform_at) from ledger.clocks)',
    };
    const corrected = (await readSqlFolder('journal')).find(({ name }) => name === 'instants_corrected');
    for (const { table_name, column_name } of expected) {
      const table = String(table_name);
      expect(lastSeen?.text).toContain(unlike[table] ?? `(select max(${column_name}) from ledger.${table})`);
      if (table !== 'loads' && table !== 'clocks') {
        expect(corrected?.text).toMatch(
          new RegExp(`update ledger\\.${table}\\s[^;]*${column_name} = corrected\\(${column_name}\\)`),
        );
      }
    }
  } finally {
    books.close();
  }
});
