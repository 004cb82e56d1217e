// Second tier: Drawn stories of closed months in DuckDB; sql/closing holds the rules.

import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { isAsClosed, readBilledMonth, readClosedMonth } from '../../src/closing/billed/close.ts';
import { addCalendarMonths, formatInstant, hourMs, hoursIn, type Instant } from '../../src/time/time.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { snapshotFile } from '../../src/warehouse/integrity/snapshot-file.ts';
import { readChecks, runCheck } from '../../src/warehouse/ledger/checks.ts';
import { closedMonths, knownUnits } from '../../src/warehouse/ledger/closes.ts';
import type { Role } from '../../src/warehouse/page.ts';
import type { Connection, SqlRow } from '../../src/warehouse/store/connection.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import fc from '../support/fast-check.ts';
import { projectWithBooks } from '../support/given-books.ts';
import { known, readTruth, resources } from '../support/truth.ts';

const accounts = ['acc_a', 'acc_b'];
const historyStart = Date.UTC(2026, 5, 1);
const monthCount = 4;
const hours = hoursIn({ start: historyStart, end: addCalendarMonths(historyStart, monthCount) });

function firstHour(month: number): number {
  return (addCalendarMonths(historyStart, month) - historyStart) / hourMs;
}

/** What happens: hours around the beginning of a month are loaded after some changed; a month is closed, or reopened. */
type Step =
  | {
      readonly does: 'load';
      readonly account: number;
      readonly month: number;
      /** Hours from the month's beginning, also before it. */
      readonly start: number;
      readonly length: number;
      readonly role: Role;
      readonly changes: readonly { readonly resource: number; readonly hour: number; readonly micros: number }[];
    }
  | { readonly does: 'close' | 'reopen' };

const aLoad: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('load'),
  account: fc.constantFrom(0, 0, 1),
  month: fc.nat(monthCount - 2),
  start: fc.integer({ min: -2, max: 1 }),
  length: fc.integer({ min: 1, max: 4 }),
  role: fc.constantFrom('admin', 'admin', 'member'),
  changes: fc.array(
    fc.record({
      resource: fc.nat(resources.length - 1),
      hour: fc.nat(3),
      micros: fc.constantFrom(0, 0, 1, 2),
    }),
    { maxLength: 3 },
  ),
});
const anyStory = fc.array(
  fc.oneof(
    { arbitrary: aLoad, weight: 6 },
    { arbitrary: fc.constant<Step>({ does: 'close' }), weight: 3 },
    { arbitrary: fc.constant<Step>({ does: 'reopen' }), weight: 1 },
  ),
  { minLength: 6, maxLength: 14 },
);

function change(account: number, month: number, micros: number): Step {
  const changes = [{ resource: 1, hour: 1, micros }];
  return { does: 'load', account, month, start: 0, length: 3, role: 'admin', changes };
}

/** A case in which everything occurs, for any seed. */
const aFullStory: Step[] = [
  { does: 'close' },
  change(0, 0, 7),
  change(1, 0, 1),
  { does: 'close' },
  change(0, 0, 9),
  change(0, 1, 9),
  change(1, 0, 2),
  { does: 'close' },
  { does: 'reopen' },
  change(0, 0, 9),
  change(0, 0, 0),
];

const ledgerViews = [
  'closes',
  'corrections',
  'costs_billed',
  'costs',
  'ledger.closed_months',
  'ledger.changes_after_close',
];

async function asked<T>(
  dir: string,
  asOf: Instant | undefined,
  ask: (connection: Connection) => Promise<T>,
  isClose = false,
): Promise<T> {
  const books = await openBooks(dir, { lockedDown: true, asOf, isClose });
  try {
    return await ask(books.connection);
  } finally {
    books.close();
  }
}

function everything(dir: string, asOf?: Instant): Promise<Record<string, SqlRow[]>> {
  return asked(dir, asOf, async (connection) => {
    const answers: Record<string, SqlRow[]> = {};
    for (const view of ledgerViews) answers[view] = await connection.rows(`select * from ${view} order by all`);
    return answers;
  });
}

/** Rows of a series and hour, added up: cost and usage in the last decimal's units. */
function sums(rows: readonly SqlRow[]): Map<string, { cost: bigint; usage: bigint }> {
  const byHour = new Map<string, { cost: bigint; usage: bigint }>();
  for (const row of rows) {
    const names = ['account', 'bucket_start', 'workspace', 'resource_type', 'resource_name', 'resource_uuid'];
    const key = JSON.stringify(names.map((name) => row[name]));
    const before = byHour.get(key) ?? { cost: 0n, usage: 0n };
    byHour.set(key, { cost: before.cost + digits(row['cost']), usage: before.usage + digits(row['usage']) });
  }
  for (const [key, { cost, usage }] of byHour) if (cost === 0n && usage === 0n) byHour.delete(key);
  return byHour;
}

function digits(decimal: unknown): bigint {
  return BigInt(String(decimal).replace('.', ''));
}

function inMonth(rows: readonly SqlRow[] = [], column: string, month: Instant): SqlRow[] {
  return rows.filter((row) => String(row[column]).startsWith(formatInstant(month).slice(0, 7)));
}

async function offenders(dir: string): Promise<unknown[]> {
  return asked(dir, undefined, async (connection) => {
    const found: unknown[] = [];
    for (const check of await readChecks('/nowhere')) {
      const { rows, error } = await runCheck(connection, check);
      if (check.name !== 'coverage_has_no_hole') found.push(...rows, ...(error === undefined ? [] : [error]));
    }
    return found;
  });
}

test('closed months plus corrections always equal the current numbers, and billed amounts never change', async () => {
  let corrections = 0;
  let correctionsInClosedMonths = 0;
  let firstWrites = 0;
  let reopenings = 0;
  await fc.assert(
    fc.asyncProperty(anyStory, async (story) => {
      const dir = await projectWithBooks();
      const warehouse = await openWarehouse(dir);
      const truth = accounts.map(() =>
        resources.map((_, resource) => Array.from({ length: hours }, (_, hour) => (hour % 24 < 3 ? resource : 0))),
      );
      const copies: { at: Instant; dir: string }[] = [];
      /** What was billed in a month right before it was closed, by the instant of the close. */
      const billed = new Map<Instant, { month: Instant; rows: SqlRow[] }>();
      let now = Date.UTC(2026, 9, 1);
      let stepsTaken = 0;
      try {
        const stage = await warehouse.openStage();
        const run = await warehouse.beginRun('ingest', now);
        async function load(account: number, start: number, end: number, role: Role): Promise<void> {
          now += 1000;
          const window = { historyStart, start, end };
          await readTruth(stage, accounts[account] ?? '', window, role, truth[account] ?? []);
          await stage.shortDimensions(known);
          await stage.reconcile(known, false);
          await stage.load(
            {
              ...{
                loadNumber: (await warehouse.lastLoadNumber()) + 1,
                runNumber: run.number,
                attempt: 1,
                reason: 'new',
              },
              ...{ requests: 2, pages: 2, queries: [], claimedEnd: historyStart + end * hourMs },
              seenAt: await warehouse.seenAt(now),
            },
            async () => undefined,
          );
        }
        for (const account of accounts) {
          await warehouse.saveAccount(
            {
              ...{ account, name: undefined, historyStart, settleDays: 1, lagHours: 2, role: undefined },
              decimals: known.decimals,
            },
            now,
          );
        }
        // The books of one account are whole, those of the other come hour by hour, also into months that are closed.
        await load(0, 0, hours, 'admin');

        async function close(): Promise<void> {
          const closed = await warehouse.closedMonths();
          const month = addCalendarMonths(closed.at(-1)?.month ?? addCalendarMonths(historyStart, -1), 1);
          if (month >= addCalendarMonths(historyStart, monthCount - 1)) return;
          // Every second month is closed with a rate.
          const rate =
            closed.length % 2 === 0 ? { code: 'EUR', rate: '0.922', rateDate: '2026-10-30', source: 'ECB' } : undefined;
          await warehouse.publish();
          const [byAccount, units, rows] = await asked(dir, undefined, async (connection) => [
            await readBilledMonth(connection, month, accounts, { invoices: new Map([['acc_a', '7.01']]), rate }),
            await knownUnits(connection),
            inMonth(await connection.rows('select * from costs_billed order by all'), 'billing_month', month),
          ]);
          const closedAt = await warehouse.recordClose(
            { month, runNumber: run.number, accounts: byAccount, units, rate },
            now,
          );
          billed.set(closedAt, { month, rows });
        }

        for (const step of story) {
          now += 1000;
          if (step.does === 'load') {
            const first = firstHour(step.month);
            for (const { resource, hour, micros } of step.changes) {
              truth[step.account]?.[resource]?.fill(micros, first + hour, first + hour + 1);
            }
            const start = Math.max(0, first + step.start);
            await load(step.account, start, start + step.length + 1, step.role);
          } else if (step.does === 'close') await close();
          else {
            const last = (await warehouse.closedMonths()).at(-1);
            if (last === undefined) continue;
            await warehouse.reopenMonth(last.month, 'it was wrong', now);
            reopenings += 1;
          }
          // As of every other instant is enough: each takes two more books to open.
          if (stepsTaken++ % 3 > 0) continue;
          const copy = join(dir, `copy-${copies.length}`);
          await mkdir(dirname(snapshotFile(copy)), { recursive: true });
          await warehouse.publish();
          await rename(snapshotFile(dir), snapshotFile(copy));
          copies.push({ at: await warehouse.seenAt(now), dir: copy });
          now = (copies.at(-1)?.at ?? now) + 1;
        }
        stage.close();
        await warehouse.publish();
      } finally {
        warehouse.close();
      }

      for (const copy of copies) expect(await everything(dir, copy.at)).toEqual(await everything(copy.dir));
      const present = await everything(dir);
      const standing = await asked(dir, undefined, closedMonths);
      for (const [closedAt, { month, rows }] of billed) {
        const then = await asked(dir, closedAt, async (connection) => ({
          closed: await closedMonths(connection),
          billed: await connection.rows('select * from costs_billed order by all'),
          costs: await connection.rows('select * from costs'),
        }));
        expect(inMonth(then.billed, 'billing_month', month)).toEqual(rows);
        const close = then.closed.at(-1);
        expect([close?.month, close?.closedAt]).toEqual([month, closedAt]);
        if (close === undefined) continue;
        const again = await asked(dir, closedAt, (connection) => readClosedMonth(connection, close));
        expect(again.map((one, index) => isAsClosed(one, close.accounts[index] ?? one))).toEqual([true, true]);
        expect(again.map(({ sha256 }) => sha256)).toEqual(close.accounts.map(({ sha256 }) => sha256));
        // A report of this month compares it with earlier ones as they were signed.
        const asSigned = await asked(
          dir,
          closedAt,
          async (connection) => ({
            costs: await connection.rows('select * from costs'),
            billed: await connection.rows('select * from costs_billed order by all'),
          }),
          true,
        );
        expect(asSigned.billed).toEqual(then.billed);
        for (const earlier of then.closed) {
          const signed = await asked(dir, earlier.closedAt, (connection) => connection.rows('select * from costs'));
          const [now, before] = [asSigned.costs, signed].map((rows) => inMonth(rows, 'bucket_start', earlier.month));
          expect(sums(now ?? [])).toEqual(sums(before ?? []));
        }
        if (!standing.some((candidate) => candidate.closedAt === closedAt)) continue; // reopened since
        expect(inMonth(present['costs_billed'], 'billing_month', month)).toEqual(rows);
        const closed = inMonth(then.costs, 'bucket_start', month);
        const corrected = inMonth(present['corrections'], 'usage_month', month);
        expect(sums([...closed, ...corrected])).toEqual(sums(inMonth(present['costs'], 'bucket_start', month)));
      }
      expect(sums(present['costs_billed'] ?? [])).toEqual(sums(present['costs'] ?? []));
      expect(await offenders(dir)).toEqual([]);

      corrections += present['corrections']?.length ?? 0;
      correctionsInClosedMonths += [...billed.values()]
        .flatMap(({ rows }) => rows)
        .filter((row) => row['charge_class'] !== null).length;
      const [written] = await asked(dir, undefined, (connection) =>
        connection.rows(
          `select count(*) as late
          from ledger.changes_after_close as changes_after_close
          join ledger.series as series using (series_id)
          where series.account = $account and changes_after_close.old_cost is null`,
          { account: accounts[1] ?? '' },
        ),
      );
      firstWrites += Number(written?.['late']);
    }),
    { numRuns: 4, examples: [[aFullStory]] },
  );
  // Stories in which nothing is ever corrected would prove nothing.
  expect(Math.min(corrections, correctionsInClosedMonths, firstWrites, reopenings)).toBeGreaterThan(0);
}, 300_000);
