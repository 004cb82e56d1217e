// Second tier: Evaluates budgets and forecasts twice after each of many drawn changes of the books.

import { expect, test } from 'vitest';
import { readForecasts } from '../../src/budgets/forecasts/scope-forecasts.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { watchedSpends } from '../../src/budgets/spend/spend.ts';
import { dayMs, formatInstant, hourMs } from '../../src/time/time.ts';
import {
  type AnswerCache,
  answerCache,
  cachedRows,
  ownAnswers,
  rowsWithOwners,
  storeAnswers,
} from '../../src/warehouse/store/answer-cache.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import fc from '../support/fast-check.ts';
import { givenBooks } from '../support/given-books.ts';

const firstDay = Date.UTC(2026, 5, 24);
const days = 88;
const now = firstDay + days * dayMs + 12 * hourMs;

const budgets = parseBudgets({
  now,
  file: 'jobs/budgets.yaml',
  text: `budgets:
  - { name: everything, period: monthly, amount: 80 USD }
  - { name: sales, period: monthly, amount: 80 USD, scope: { owner: { team: Sales } } }
  - { name: volumes-of-sales, period: quarterly, amount: 80 USD, scope: { resource_type: volume, owner: { team: Sales } } }
  - { name: prod-in-tokyo, period: monthly, timeZone: Asia/Tokyo, amount: 80 USD, scope: { label: { env: prod } } }
  - { name: owned-in-tokyo, period: monthly, timeZone: Asia/Tokyo, amount: 80 USD, scope: { owner: { team: [Ops, Sales] } } }
  - { name: hours, period: daily, amount: 3 USD, scope: { workspace: north } }
`,
});

const allocation = `rules:
  - { name: shared, when: { resource_type: volume }, split: { by: cost, over: [team] } }
  - { name: labels, owner: { team: { label: team } } }
  - { name: south, when: { workspace: south }, owner: { team: Ops } }
`;

const series = [
  {},
  { workspace: 'south', resource_name: 'other', resource_uuid: 'sbx-2' },
  { resource_type: 'volume', resource_name: 'data', resource_uuid: 'vol-1', billing_dimension: 'volume_storage_gbs' },
] as const;

function open() {
  const costs = Array.from({ length: days }, (_, day) => day).flatMap((day) =>
    series.flatMap((names, place) =>
      [0, 14, 20].map((hour) => ({
        ...names,
        bucket_start: formatInstant(firstDay + day * dayMs + hour * hourMs),
        cost: String(1 + ((day * 7 + hour + place) % 5) / 8),
        usage: '1',
      })),
    ),
  );
  const [from, to] = [firstDay, firstDay + days * dayMs].map((at) => formatInstant(at)) as [string, string];
  const window = { window_start: from, window_end: to, claimed_end: to };
  return givenBooks({
    accounts: [{ history_start: from }],
    loads: [{ ...window, seen_at: to }],
    covered: [window],
    resources: [{ labels: '{"env": "prod", "team": "Sales"}', valid_from: from }],
    allocation,
    costs,
  });
}

const day = fc.nat(days - 1);
const change = fc.oneof(
  fc.record({ kind: fc.constant('hour'), day, hour: fc.nat(23), series: fc.nat(2), cost: fc.nat(40) }),
  fc.record({ kind: fc.constant('removed'), day, series: fc.nat(2) }),
  fc.record({ kind: fc.constant('through'), hours: fc.nat(60) }),
  fc.record({ kind: fc.constant('label'), team: fc.constantFrom('Sales', 'Ops', 'Nobody') }),
  fc.record({ kind: fc.constant('name'), hours: fc.nat(400) }),
);

/** The statements of a change: what a load does, a listing or a correction of what is complete. */
function statementsOf(drawn: typeof change extends fc.Arbitrary<infer C> ? C : never): string[] {
  const ofDay = (number: number) => {
    const [start, end] = [firstDay + number * dayMs, firstDay + (number + 1) * dayMs].map(formatInstant);
    return `insert into ledger.loads by name
      select max(load_number) + 1 as load_number, any_value(columns(* exclude (load_number, window_start, window_end))),
        timestamp '${start?.slice(0, 19)}' as window_start, timestamp '${end?.slice(0, 19)}' as window_end
      from ledger.loads`;
  };
  switch (drawn.kind) {
    case 'hour': {
      const at = formatInstant(firstDay + drawn.day * dayMs + drawn.hour * hourMs).slice(0, 19);
      const id = drawn.series + 1;
      return [
        ofDay(drawn.day),
        `delete from ledger.hourly_costs where series_id = ${id} and bucket_start = timestamp '${at}'`,
        `insert into ledger.hourly_costs
          select ${id}, timestamp '${at}', ${drawn.cost / 8}, 2, max(load_number) from ledger.loads`,
      ];
    }
    case 'removed': {
      const from = formatInstant(firstDay + drawn.day * dayMs).slice(0, 19);
      return [
        ofDay(drawn.day),
        `delete from ledger.hourly_costs where series_id = ${drawn.series + 1}
          and bucket_start >= timestamp '${from}' and bucket_start < timestamp '${from}' + interval 1 day`,
      ];
    }
    case 'through':
      return [`update ledger.covered set claimed_end = window_end - interval ${drawn.hours} hours`];
    case 'label':
      return [`update ledger.resources set labels = '{"env": "prod", "team": "${drawn.team}"}'`];
    default: {
      const at = formatInstant(firstDay + drawn.hours * hourMs).slice(0, 19);
      return [
        `update ledger.series set resource_name = 'box' where series_id = 2 and resource_name = 'other'`,
        `update ledger.resources set valid_from = timestamp '${at}'`,
      ];
    }
  }
}

async function answersOf(connection: Connection, cache?: AnswerCache) {
  const asked = { now, configured: [], freshnessHours: 48, cache };
  const forecasts = await readForecasts(connection, { ...asked, budgets, withWorkspaces: true });
  return {
    spends: await watchedSpends(connection, budgets, asked),
    forecasts: forecasts.map(({ origin: _, ...forecast }) => forecast),
    sources: await cachedRows(connection, cache, ['status', 'owner_sources']),
  };
}

test('known answers and those of books without any are the same, to the last digit, whatever has changed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 3, maxLength: 4 }), async (changes) => {
      const { connection, close } = await open();
      for (const drawn of [undefined, ...changes]) {
        for (const sql of drawn === undefined ? [] : statementsOf(drawn)) await connection.run(sql);
        const cache = answerCache(connection);
        const known = await answersOf(connection, cache);
        expect(known, JSON.stringify(drawn)).toEqual(await answersOf(connection));
        const computed = await cache.toStore();
        if (computed !== undefined) await storeAnswers(connection, computed, { runNumber: 1, at: now });
      }
      close();
    }),
    { numRuns: 2, endOnFailure: true },
  );
}, 300_000);

test('after a load, only the months that it covers are read again', async () => {
  const { connection, close } = await open();
  const first = answerCache(connection);
  await answersOf(connection, first);
  const computed = await first.toStore();
  if (computed !== undefined) await storeAnswers(connection, computed, { runNumber: 1, at: now });
  const changed = statementsOf({ kind: 'hour', day: days - 2, hour: 3, series: 2, cost: 7 });
  for (const sql of changed) await connection.run(sql);
  const ofBudgets = async (cache?: AnswerCache) =>
    (await answersOf(connection, cache)).forecasts.filter(({ scope }) => scope.kind === 'budget');
  const fresh = await ofBudgets();
  // No load covers this: only what reads earlier months sees it.
  await connection.run(`update ledger.hourly_costs set cost = 3 * cost where bucket_start < timestamp '2026-07-01'`);
  expect(await ofBudgets(answerCache(connection))).toEqual(fresh);
  expect(await ofBudgets()).not.toEqual(fresh);
  close();
});

test('owners given as JSON are those of the view', async () => {
  const { connection, close } = await open();
  const asked = ['status', 'owner_sources'] as const;
  expect(await rowsWithOwners(connection, ownAnswers(), asked)).toEqual(
    await rowsWithOwners(connection, undefined, asked),
  );
  close();
});
