import { expect, test } from 'vitest';
import { openBooks, openWarehouse } from '../../src/warehouse/index.ts';
import { newProject } from '../support/project.ts';

/** What can be asked only of the present: what has proven since is forgotten there, and which files made the schema. */
const presentOnly = ['unproven', 'contradictions', 'applied_files', 'journal'];

test('the ledger as of an instant has every table and column of the present one, by the same types', async () => {
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
    await expect(books.connection.rows('select because from ledger.unproven')).rejects.toThrow('does not exist');
  } finally {
    books.close();
  }
});
