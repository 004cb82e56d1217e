import { expect, test } from 'vitest';
import { readEvaluated } from '../../src/reports/questions/evaluated.ts';
import { completeness } from '../../src/warehouse/ledger/accounts.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

async function keptOf(given: Given) {
  const books = await givenBooks(given);
  try {
    const accounts = await completeness(books.connection);
    return await readEvaluated(books.connection, 'anomalies', { accounts, periods: [] });
  } finally {
    books.close();
  }
}

test('an account without a complete day is not reported as not evaluated', async () => {
  const young = { account: 'acc_two', window_start: '2026-09-07 20:00:00', window_end: '2026-09-08 05:00:00' };
  const given: Given = {
    accounts: [{}, { account: 'acc_two', history_start: '2026-09-07 20:00:00' }],
    loads: [{}],
    covered: [{}, { ...young, claimed_end: '2026-09-07 23:00:00' }],
    anomaly_evaluations: [{}],
  };
  expect(await keptOf(given)).toEqual({
    through: '2026-09-08T00:00:00Z',
    sentence: 'evaluated by "costbook alert" through 2026-09-08T00:00:00Z',
    gaps: [],
    gone: [],
  });
  const older = { ...given, covered: [{}, { ...young, claimed_end: '2026-09-08 05:00:00' }] };
  expect(await keptOf(older)).toMatchObject({
    through: null,
    gaps: [expect.stringMatching(/^anomalies in acc_two were not evaluated yet/)],
  });
});
