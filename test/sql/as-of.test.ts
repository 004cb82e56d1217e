import { describe, expect, test } from 'vitest';
import { openBooks } from '../../src/warehouse/books.ts';
import { ledgerTables } from '../../src/warehouse/ledger-tables.ts';
import { correctInstantsOf, lastInstantsOf, lastSeenOf } from '../../src/warehouse/statements.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { newProject } from '../support/project.ts';

/** What can be asked only of the present. */
const presentOnly = ledgerTables.flatMap(({ name, asOf }) => (asOf === 'never' ? [name] : []));

test('the ledger as of an instant has every table and column of the current one, with the same types', async () => {
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

describe('the list of ledger tables', () => {
  async function catalog(sql: string): Promise<string[]> {
    const dir = await newProject();
    const warehouse = await openWarehouse(dir);
    await warehouse.publish();
    warehouse.close();
    const books = await openBooks(dir, { lockedDown: true });
    try {
      return (await books.connection.rows(sql)).map((row) => String(row['name']));
    } finally {
      books.close();
    }
  }

  test('names every table of the ledger once, and no other', async () => {
    const tables = await catalog(
      "select table_name as name from duckdb_tables() where database_name = 'wh' and schema_name = 'ledger' order by name",
    );
    expect(ledgerTables.map(({ name }) => name).sort()).toEqual(tables);
  });

  test('names every column that says when something was seen, recorded or done', async () => {
    const columns = await catalog(
      `select table_name || '.' || column_name as name
      from duckdb_columns()
      join duckdb_tables() using (database_name, schema_name, table_name)
      where database_name = 'wh' and schema_name = 'ledger' and data_type = 'TIMESTAMP'
        and (ends_with(column_name, '_at') or column_name in ('valid_from', 'valid_to', 'slot'))
        -- What the platform and a person say.
        and (table_name, column_name) not in (
          ('resources', 'created_at'), ('resource_runtimes', 'created_at'), ('resource_use', 'created_at'),
          ('resource_use', 'last_used_at'), ('resource_use', 'expires_at'), ('acknowledgements', 'until_at'),
          ('loads', 'platform_at'), ('clocks', 'local_at')
        )
      order by name`,
    );
    const listed = ledgerTables.flatMap(({ name, instants = {} }) =>
      Object.keys(instants).map((column) => `${name}.${column}`),
    );
    expect(listed.sort()).toEqual(columns);
  });

  test('an instant that is seen counts as the last one and is corrected after a fast clock', () => {
    for (const table of ledgerTables) {
      for (const [column, kind] of Object.entries(table.instants ?? {})) {
        if (kind !== 'seen' && kind !== 'ran') continue;
        expect(correctInstantsOf(table)).toContain(`"${column}" = corrected("${column}")`);
        expect(lastInstantsOf([table])).toContain(`max("${column}")`);
        if (table.asOf !== 'never') expect(lastSeenOf([table])).toContain(`max("${column}")`);
      }
    }
  });
});
