import { expect, test } from 'vitest';
import { dueSubscriptions } from '../../src/alerts/index.ts';
import { sinksOfSummary } from '../../src/warehouse/watch/alerts.ts';
import { givenBooks } from '../support/given-books.ts';

const closes = ['07', '08', '09'].map((month, index) => ({
  billing_month: `2026-${month}-01`,
  run_number: 10 + index,
}));

/** The months that a subscription to closes is due for, after its mails of these months and runs. */
async function due(mails: readonly (readonly [month: string, run: number])[]): Promise<string[]> {
  const { connection, close } = await givenBooks({ closes });
  for (const [month, run] of mails) {
    await connection.run(`insert into ledger.outbox
      (message_number, message_id, sink, kind, summary, message, run_number, queued_at)
      values (${run}, '${run}', 'to:x', 'summary', 'subscription/x/2026-${month}', '{}', ${run}, '2026-10-05')`);
  }
  const step = {
    name: 'x',
    to: ['a@example.com'],
    every: 'close',
    sink: 'mail',
    step: 'statement',
    options: {},
  } as const;
  const found = await dueSubscriptions([step], connection, {
    sinksOfSummary: (name) => sinksOfSummary(connection, name),
  }).finally(close);
  return found.due.map(({ period }) => period.name);
}

test.each([
  ['none was mailed: the newest', [], ['2026-09']],
  [
    'each was mailed: none',
    [
      ['07', 20],
      ['08', 21],
      ['09', 22],
    ],
    [],
  ],
  ['one was mailed before two were closed: both, the older first', [['07', 11]], ['2026-08', '2026-09']],
  [
    'the last was mailed, and closed again since',
    [
      ['08', 13],
      ['09', 9],
    ],
    ['2026-09'],
  ],
  [
    'all were mailed only before they were closed: the newest',
    [
      ['07', 1],
      ['08', 2],
      ['09', 3],
    ],
    ['2026-09'],
  ],
] as [string, [string, number][], string[]][])('a subscription to closes where %s is due', async (_, mails, months) => {
  expect(await due(mails)).toEqual(months);
});
