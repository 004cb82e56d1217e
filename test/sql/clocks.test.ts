import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { aheadNow } from '../../src/time/clock.ts';
import { dayMs, hourMs } from '../../src/time/time.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { openWriteClock } from '../../src/warehouse/ledger/write-clock.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/warehouse.ts';
import { projectWithBooks } from '../support/given-books.ts';

const platformAt = Date.UTC(2026, 8, 10, 3, 30);
const monthMs = 30 * dayMs;
const localAt = platformAt + monthMs;

let dir = '';
let warehouse: Warehouse;
let runNumber = 0;
const opened: Warehouse[] = [];
beforeEach(async () => {
  dir = await projectWithBooks();
  warehouse = await openWarehouse(dir);
  opened.push(warehouse);
  runNumber = (await warehouse.beginRun('ingest', platformAt)).number;
});
afterAll(() => {
  for (const each of opened) each.close();
});

function clockWasFast(account = 'acc_one'): Promise<void> {
  return warehouse.recordClock({ account, aheadSeconds: monthMs / 1000, platformAt, localAt }, runNumber);
}

function wasRead(account: string): Promise<void> {
  const nothing = { windows: 0, pages: 0, rows: 0, restated: 0, requests: 0, retries: 0 };
  return warehouse.recordAccountRun({ runNumber, account, exitCode: 0, failures: [], ...nothing });
}

describe('a command without a platform assumes its clock', () => {
  test('to be as far ahead as the last ingest found it', async () => {
    await clockWasFast();
    await wasRead('acc_one');
    expect(aheadNow(await warehouse.fastClock(), localAt + hourMs)).toBe(monthMs);
  });

  test('to be correct if no ingest found a fault, or if the last one found it correct', async () => {
    expect(aheadNow(await warehouse.fastClock(), localAt)).toBe(0);
    await clockWasFast();
    const next = await warehouse.beginRun('ingest', platformAt + dayMs);
    const right = { account: 'acc_one', aheadSeconds: 0, platformAt: platformAt + dayMs, localAt: platformAt + dayMs };
    await warehouse.recordClock(right, next.number);
    expect(aheadNow(await warehouse.fastClock(), localAt + dayMs)).toBe(0);
  });

  test('to be correct once it was set back', async () => {
    await clockWasFast();
    expect(aheadNow(await warehouse.fastClock(), platformAt + dayMs)).toBe(0);
  });

  test('to be correct once time has caught up with the books', async () => {
    await clockWasFast();
    await warehouse.saveAllocation('{}', runNumber, platformAt + 20 * dayMs);
    expect(aheadNow(await warehouse.fastClock(), localAt + dayMs)).toBe(0);
  });

  test('to be correct if another platform found no fault', async () => {
    await clockWasFast('acc_one');
    await wasRead('acc_one');
    await wasRead('acc_two');
    expect(aheadNow(await warehouse.fastClock(), localAt + hourMs)).toBe(0);
  });
});

describe('future instants', () => {
  const now = platformAt + dayMs;

  test('are corrected in order by a run under a correct clock, and later ones continue from there', async () => {
    await warehouse.saveAllocation('{"rules":1}', runNumber, platformAt);
    await warehouse.saveAllocation('{"rules":2}', runNumber, localAt);
    await warehouse.saveAllocation('{"rules":3}', runNumber, localAt + 5);
    const run = await warehouse.beginRun('ingest', now);
    expect(await warehouse.correctInstants({ runNumber: run.number, now })).toBe(localAt + 5);
    await warehouse.saveAllocation('{"rules":4}', run.number, now + 1000);
    await warehouse.publish();
    const books = await openBooks(dir, { lockedDown: true });
    const rows = await books.connection.rows(
      `select epoch_ms(recorded_at) as "from", epoch_ms(replaced_at) as "to" from ledger.allocations order by recorded_at`,
    );
    books.close();
    expect(rows.map(({ from, to }) => [Number(from), to === null ? undefined : Number(to)])).toEqual([
      [platformAt, now - 5],
      [now - 5, now],
      [now, now + 1000],
      [now + 1000, undefined],
    ]);
  });

  test('of earlier runs stay as they are if the run itself has a fast clock', async () => {
    await warehouse.saveAllocation('{"rules":1}', runNumber, platformAt + 2 * dayMs);
    const run = await warehouse.beginRun('ingest', localAt);
    await warehouse.saveAllocation('{"rules":2}', run.number, localAt);
    expect(await warehouse.correctInstants({ runNumber: run.number, now: platformAt })).toBe(localAt);
    // The earlier instant does not change, and nothing gets a date before it.
    expect(await warehouse.seenAt(platformAt)).toBe(platformAt + 2 * dayMs + 2);
  });

  test('within an hour are left alone', async () => {
    await warehouse.saveAllocation('{}', runNumber, platformAt + hourMs / 2);
    const run = await warehouse.beginRun('ingest', platformAt);
    expect(await warehouse.correctInstants({ runNumber: run.number, now: platformAt })).toBeUndefined();
  });
});

describe('the clock of a writer', () => {
  test('does not go back behind a load when the second account of a run says how late it is', () => {
    const clock = openWriteClock(undefined);
    clock.seenAt(localAt);
    clock.correct({ now: platformAt, isCorrected: true, last: platformAt, lastLoad: undefined });
    const first = clock.seenAt(platformAt);
    expect(first).toBe(platformAt + 1);
    clock.correct({ now: platformAt, isCorrected: false, last: platformAt, lastLoad: first });
    expect(clock.seenAt(platformAt)).toBe(first);
  });

  test('does not return to what was corrected when the second account of a run settles', () => {
    const clock = openWriteClock(localAt); // a close under a fast clock was the last that the books recorded
    clock.correct({ now: platformAt, isCorrected: true, last: platformAt, lastLoad: undefined });
    clock.correct({ now: platformAt, isCorrected: false, last: platformAt, lastLoad: undefined });
    expect(clock.seenAt(platformAt)).toBe(platformAt + 1);
  });
});
