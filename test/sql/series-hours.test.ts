import { expect, test } from 'vitest';
import { keepSeriesHours, seriesLives } from '../../src/warehouse/load/index.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { givenBooks } from '../support/given-books.ts';

const september = { start: Date.UTC(2026, 8, 1), end: Date.UTC(2026, 9, 1) };

/** First and last days of series within a window: `01 +1 -0` for one that began on the first. */
async function livesIn(connection: Connection, window = september): Promise<string[]> {
  const { series } = await seriesLives(connection, 'acc_one', window, true);
  return series.map(({ day, began, ended }) => `${new Date(day).toISOString().slice(8, 10)} +${began} -${ended}`);
}

/** Books of two loads, of which the first is there: a series from the first to the fourth. */
function firstWeek() {
  return givenBooks({
    loads: [{}],
    covered: [{}],
    costs: [
      { cost: '1', bucket_start: '2026-09-01 05:00:00' },
      { cost: '1', bucket_start: '2026-09-04 05:00:00' },
      // Its hours come with the second load.
      { cost: '1', bucket_start: '2026-09-09 05:00:00', resource_uuid: 'sbx-2', load_number: 2 },
    ],
  });
}

/** The second load: more hours of the old series. With another number of the hours, as hours that were lost have. */
async function secondWeek(connection: Connection, { since = 2 } = {}): Promise<void> {
  const values = { since };
  await connection.run(
    `insert into ledger.loads by name
      select 2 as load_number, * exclude (load_number) from ledger.loads;
    insert into ledger.covered by name
      select 2 as load_number, $since as since_load, * exclude (load_number, since_load) from ledger.covered;
    insert into ledger.hourly_costs by name
      select timestamp '2026-09-10 05:00:00' as bucket_start, $since as load_number,
        * exclude (bucket_start, load_number)
      from ledger.hourly_costs where bucket_start = timestamp '2026-09-04 05:00:00'`,
    values,
  );
}

const both = ['01 +1 -0', '09 +1 -1', '10 +0 -1'];

test('the lives of series are the same before and after they are stored, and with what came since', async () => {
  const { connection, close } = await firstWeek();
  await connection.run(`delete from ledger.hourly_costs where load_number = 2`);
  expect(await livesIn(connection)).toEqual(['01 +1 -0', '04 +0 -1']);
  await keepSeriesHours(connection);
  expect(await livesIn(connection)).toEqual(['01 +1 -0', '04 +0 -1']);
  await secondWeek(connection);
  expect(await livesIn(connection), 'with hours that are not stored yet').toEqual(['01 +1 -0', '10 +0 -1']);
  await keepSeriesHours(connection);
  expect(await livesIn(connection)).toEqual(['01 +1 -0', '10 +0 -1']);
  close();
});

test('a series that began later is added, and a window has only the series in it', async () => {
  const { connection, close } = await firstWeek();
  await secondWeek(connection);
  expect(await livesIn(connection)).toEqual(both);
  await keepSeriesHours(connection);
  expect(await livesIn(connection)).toEqual(both);
  expect(await livesIn(connection, { start: Date.UTC(2026, 8, 2), end: Date.UTC(2026, 8, 9) })).toEqual([
    '02 +1 -0',
    '08 +0 -1',
  ]);
  close();
});

test('stored hours are not read again', async () => {
  const { connection, close } = await firstWeek();
  await secondWeek(connection);
  await keepSeriesHours(connection);
  await connection.run('delete from ledger.hourly_costs');
  expect(await livesIn(connection)).toEqual(both);
  close();
});

test('hours that were lost and fetched again under an older number are seen', async () => {
  const { connection, close } = await firstWeek();
  await connection.run(`delete from ledger.hourly_costs where load_number = 2`);
  await keepSeriesHours(connection);
  await secondWeek(connection, { since: 1 });
  expect(await livesIn(connection)).toEqual(['01 +1 -0', '10 +0 -1']);
  await keepSeriesHours(connection);
  expect(await livesIn(connection)).toEqual(['01 +1 -0', '10 +0 -1']);
  close();
});
