import { describe, expect, test } from 'vitest';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { ledgerTables } from '../../src/warehouse/sql/ledger-tables.ts';
import { readSqlFolder } from '../../src/warehouse/sql/sql-files.ts';
import { correctInstantsOf, lastInstantsOf, lastSeenOf } from '../../src/warehouse/sql/statements.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { dashboardBooks, dashboardProject } from '../support/dashboard.ts';
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
    await books.connection.admit('select 1'); // all views
    const present = await columnsOf('present');
    expect(present.length).toBeGreaterThan(0);
    expect(await columnsOf('wh')).toEqual(present.filter((row) => !presentOnly.includes(String(row['table_name']))));
    await expect(books.connection.rows('select reason from ledger.unproven')).rejects.toThrow('does not exist');
  } finally {
    books.close();
  }
});

test('books as of an instant have each public view, whichever is asked first, and all for typed SQL', async () => {
  const dir = await newProject();
  const warehouse = await openWarehouse(dir);
  await warehouse.publish();
  warehouse.close();
  const files = await readSqlFolder('views');
  const names = files.map(({ text }) => /^create or replace view (\S+) as$/m.exec(text)?.[1] ?? '').sort();
  const made = `select replace(schema_name || '.' || view_name, 'main.', '') as view_name
    from duckdb_views() where database_name = 'wh' and not internal and schema_name || view_name in (
      select schema_name || view_name from duckdb_views() where database_name = 'present')`;
  for (const first of [names, names.toReversed()]) {
    const books = await openBooks(dir, { lockedDown: true, asOf: 0 });
    try {
      expect((await books.connection.rows(made)).length).toBeLessThan(9);
      for (const name of first) await books.connection.rows(`SELECT * FROM ${name.toUpperCase()} LIMIT 0`);
      const other = await books.connectToHours({ from: undefined, to: undefined });
      expect((await other.rows(made)).map((row) => row['view_name'])).toEqual(expect.arrayContaining(names));
    } finally {
      books.close();
    }
  }
  const books = await openBooks(dir, { lockedDown: true, asOf: 0 });
  try {
    await books.connection.admit('select 1');
    expect((await books.connection.rows(made)).map((row) => row['view_name'])).toEqual(expect.arrayContaining(names));
  } finally {
    books.close();
  }
});

test('a volume has the owner that was known at the instant, even if mounts of earlier hours are learnt later', async () => {
  const dir = await dashboardProject(
    dashboardBooks({
      allocation: 'rules: [{ name: label, owner: { team: { label: team } } }]',
      costs: [{ resource_type: 'volume', resource_name: 'disk', bucket_start: '2026-09-20 00:00:00', cost: '1' }],
      resources: [
        { resource_name: 'box', labels: '{"team":"Ada"}', valid_to: '2026-10-02', ended_at: '2026-10-02' },
        {
          ...{ resource_name: 'box', labels: '{"team":"Ada"}', volumes: '["disk"]' },
          ...{ valid_from: '2026-10-02', recorded_at: '2026-10-02' },
        },
      ],
    }),
  );
  const teams = async (asOf?: number) => {
    const books = await openBooks(dir, { lockedDown: true, ...(asOf === undefined ? {} : { asOf }) });
    try {
      return await books.connection.rows("select team from costs_allocated where resource_name = 'disk'");
    } finally {
      books.close();
    }
  };
  expect(await teams()).toEqual([{ team: 'Ada' }]);
  expect(await teams(Date.parse('2026-10-01T12:00:00Z'))).toEqual([{ team: null }]);
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
