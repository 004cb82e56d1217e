import { expect, test } from 'vitest';
import { readPictures, readSummaryPicture } from '../../src/alerts/pictures.ts';
import { usualRules } from '../../src/anomalies/rules.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import type { Sink } from '../../src/config/sink-settings.ts';
import { readAlertFacts } from '../../src/findings/collect.ts';
import { givenBooks } from '../support/given-books.ts';

const now = Date.parse('2026-09-11T02:00:00Z');
const dayMs = 86_400_000;
const sinks: readonly Sink[] = [
  {
    name: 'mail',
    type: 'email',
    settings: {
      ...{ type: 'email', host: 'h', port: 25, tls: 'none', user: undefined, password: undefined },
      ...{ from: 'a@b.c', to: ['a@b.c'], allowPrivateNetwork: true },
    },
  },
  {
    name: 'hook',
    type: 'slack',
    settings: { type: 'slack', url: 'https://hooks.slack.com/x', allowPrivateNetwork: false },
  },
];

/** Forty days of 10 USD, and then two of 40. */
const given = {
  accounts: [{ history_start: '2026-07-01' }],
  loads: [{ window_start: '2026-07-01' }],
  covered: [{ window_start: '2026-07-01', window_end: '2026-09-11', claimed_end: '2026-09-11' }],
  costs: Array.from({ length: 42 }, (_, day) => ({
    bucket_start: `${new Date(Date.parse('2026-07-31') + day * dayMs).toISOString().slice(0, 10)} 12:00:00`,
    cost: day < 40 ? '10' : '40',
    usage: '1',
  })),
};

async function read() {
  const warned: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: (event: string, _: string, fields?: object) => warned.push({ event, ...fields }),
  };
  const books = await givenBooks(given);
  try {
    const { connection } = books;
    const budgets = parseBudgets({
      text: 'budgets: [{ name: all, period: monthly, amount: 100 USD }]',
      file: 'budgets.yaml',
      now,
      sinks: [],
    });
    const asked = {
      ...{ now, freshnessHours: 10_000, configured: [], overlay: '/nowhere', log, budgets },
      anomalyRules: usualRules,
      signal: new AbortController().signal,
    };
    const { facts, forecasts } = await readAlertFacts(connection, [], { ...asked, isForecastStored: true });
    const entries = facts.flatMap((fact) =>
      fact.state === 'raised'
        ? [{ entry: { key: fact.key, occurrence: 1, transition: 'raised', fact } as const, sinks: ['mail', 'hook'] }]
        : [],
    );
    const picturesFor = await readPictures(connection, entries, sinks, { ...asked, forecasts });
    const summaries = {
      weekly: await readSummaryPicture(connection, 'weekly', now, log),
      monthly: await readSummaryPicture(connection, 'monthly', now, log),
    };
    const broken = { ...books.connection, rows: () => Promise.reject(new Error('no answer')) } as typeof connection;
    const none = await readPictures(broken, entries, sinks, { ...asked, forecasts });
    return { picturesFor, summaries, none: none('mail'), warned };
  } finally {
    books.close();
  }
}

test('pictures of alerts have the numbers of the books, only for sinks that show pictures', async () => {
  const { picturesFor, none, warned } = await read();
  expect(picturesFor('hook')).toEqual([]);
  const pictures = picturesFor('mail');
  const budget = pictures.find(({ key }) => key?.startsWith('budget/'))?.picture;
  // Eight days of 10 USD and two of 40.
  expect(budget).toMatchObject({ shape: 'month', completeThrough: '2026-09-11T00:00:00Z' });
  expect(budget?.title).toContain('160.00 of 100.00 USD is spent in 2026-09');
  expect(budget?.shape === 'month' && budget.rows.spent.slice(0, 11)).toEqual([
    ...[10, 20, 30, 40, 50, 60, 70, 80, 120, 160, null],
  ]);
  const anomaly = pictures.find(({ key }) => key?.startsWith('anomaly/'))?.picture;
  expect(anomaly?.title).toMatch(/60\.00 USD more than usual from 2026-09-09 through 2026-09-10/);
  if (anomaly?.shape !== 'band') throw new Error('expected a band');
  const { labels, cost, unusual, high } = anomaly.rows;
  expect(unusual.map((index) => [labels[index], cost[index]])).toEqual([
    ['09-09', 40],
    ['09-10', 40],
  ]);
  expect(high[unusual[0] ?? 0]).toBeLessThan(40);
  // Books that do not answer leave the pictures out; the log says why.
  expect(none).toEqual([]);
  expect(warned).toContainEqual({ event: 'alert.no_picture', key: expect.any(String), reason: 'no answer' });
});

test('the picture of a weekly summary is the month so far, that of a monthly one the whole month', async () => {
  const { weekly, monthly } = (await read()).summaries;
  expect(weekly).toMatchObject([{ key: null, picture: { shape: 'month', completeThrough: '2026-09-11T00:00:00Z' } }]);
  expect(weekly[0]?.picture.description).toContain('September 2026: 160.00 USD through 2026-09-11T00:00:00Z');
  expect(weekly[0]?.picture.description).toContain('August 2026 at the same hour: 100.00 USD');
  expect(monthly[0]?.picture.title).toContain('August 2026 cost 310.00 USD');
  const rows = monthly[0]?.picture.shape === 'month' ? monthly[0].picture.rows : undefined;
  expect(rows?.spent.at(-1)).toBe(310);
});
