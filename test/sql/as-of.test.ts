import { expect, test } from 'vitest';
import { lastSeen } from '../../src/warehouse/as-of.ts';
import { openBooks } from '../../src/warehouse/books.ts';
import { readSqlFolder } from '../../src/warehouse/sql-files.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
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

test('the instant of the present is after everything that anything was seen, recorded or done at', async () => {
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
    const [file] = (await readSqlFolder('as_of')).filter(({ name }) => name === 'last_seen');
    // A restatement is seen with its load; the SQL files' own instants are no part of the books.
    const others = [...presentOnly, 'restatements'];
    const expected = instants.filter(
      // When a resource was made the platform tells; it was seen when that was recorded.
      (row) => !others.includes(String(row['table_name'])) && row['column_name'] !== 'created_at',
    );
    expect(expected.length).toBeGreaterThan(4);
    for (const { table_name, column_name } of expected) {
      expect(file?.text).toContain(`(select max(${column_name}) from ledger.${table_name})`);
    }
  } finally {
    books.close();
  }
});

test('the writer gives no instant twice; what the clock said when a run began does not count', async () => {
  const dir = await newProject();
  const [given, later] = [Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 1)];
  const before = await openWarehouse(dir);
  const run = await before.beginRun('ingest', later);
  const claims = [{ loadNumber: 1, claimedEnd: '2026-09-30T00:00:00Z' }];
  await before.correctClaims({ account: 'a', claims, runNumber: run.number, recordedAt: given });
  await before.recordClock({ account: 'a', aheadSeconds: 1, platformAt: given, localAt: later }, run.number);
  await before.publish();
  before.close();

  const after = await openWarehouse(dir);
  expect(await after.seenAt(given)).toBe(given + 1);
  after.close();
  const books = await openBooks(dir, { lockedDown: true });
  expect(await lastSeen(books.connection)).toBe(later);
  books.close();
});
