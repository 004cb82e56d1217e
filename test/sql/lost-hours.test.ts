// Second tier: Rebuilds books from lost loads ten times, with all checks of each.

import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readBilledMonth } from '../../src/closing/billed/close.ts';
import { addCalendarMonths, hourMs, hoursIn, type Instant } from '../../src/time/time.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { openRebuildingWarehouse } from '../../src/warehouse/integrity/rebuilding.ts';
import { readChecks, runCheck } from '../../src/warehouse/ledger/checks.ts';
import { differingCloses, knownUnits } from '../../src/warehouse/ledger/closes.ts';
import type { Stage } from '../../src/warehouse/load/stage.ts';
import type { Connection, SqlRow } from '../../src/warehouse/store/connection.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { projectWithBooks } from '../support/given-books.ts';
import { newProject } from '../support/project.ts';
import { known, readTruth, resources } from '../support/truth.ts';

const account = 'acc_a';
const june = Date.UTC(2026, 5, 1);
const july = hoursIn({ start: june, end: addCalendarMonths(june, 1) });
const august = hoursIn({ start: june, end: addCalendarMonths(june, 2) });

/** Hours since June, loaded while the platform had a value for the first resource in hour 5. */
interface ALoad {
  readonly start: number;
  readonly end: number;
  readonly micros: number;
}
type Step = ALoad | 'close June' | 'close July';
/** What a rebuild finds of a load: its answers, that it changed nothing, or nothing; of `nothing` not even its window. */
type Found = 'answers' | 'unchanged' | 'lost' | 'nothing';

const whole: ALoad = { start: 0, end: july, micros: 1 };
const rest: ALoad = { start: july, end: august + 24, micros: 1 };
const firstNow = Date.UTC(2026, 9, 1);

async function load(stage: Stage, { start, end, micros }: ALoad, loadNumber: number, found: Found = 'answers') {
  const facts = {
    ...{ loadNumber, runNumber: 1, attempt: 1, reason: 'new', requests: 2, pages: 2, queries: [] },
    ...{ claimedEnd: june + end * hourMs, seenAt: firstNow + loadNumber * 10_000 },
  };
  if (found === 'answers') {
    const truth = resources.map((_, resource) =>
      Array.from({ length: august + 24 }, (__, hour) => (hour === 5 && resource === 0 ? micros : resource)),
    );
    await readTruth(stage, account, { historyStart: june, start, end }, 'admin', truth);
    await stage.shortDimensions(known);
    await stage.reconcile(known, false);
    await stage.load(facts, async () => undefined);
    return;
  }
  const window = { start: june + start * hourMs, end: june + (found === 'nothing' ? start : end) * hourMs };
  await stage.begin(account, window);
  stage.readAs('admin');
  const coveredWindows = found === 'unchanged' ? [{ window, role: 'admin' as const }] : [];
  const written = { outcome: 'unchanged' as const, rowCount: 0, restated: 0, cost: '0', reconciliations: [] };
  await stage.repeat(facts, { ...written, coveredWindows }, undefined);
}

/** Takes these steps in order in the books of a project. */
async function take(dir: string, steps: readonly Step[]): Promise<void> {
  const warehouse = await openWarehouse(dir);
  try {
    const stage = await warehouse.openStage();
    for (const step of steps) {
      const loadNumber = await warehouse.lastLoadNumber();
      if (typeof step !== 'string') {
        await load(stage, step, loadNumber + 1);
        continue;
      }
      const month = addCalendarMonths(june, step === 'close June' ? 0 : 1);
      await warehouse.publish();
      const [billed, units] = await inBooks(dir, undefined, async (connection) => [
        await readBilledMonth(connection, month, [account], { invoices: new Map(), rate: undefined }),
        await knownUnits(connection),
      ]);
      const now = firstNow + loadNumber * 10_000 + 5_000;
      await warehouse.recordClose({ month, runNumber: 1, accounts: billed, units, rate: undefined }, now);
    }
    stage.close();
    await warehouse.publish();
  } finally {
    warehouse.close();
  }
}

/** Books in which these steps were taken. */
async function booksAfter(steps: readonly Step[]): Promise<{ dir: string; steps: readonly Step[] }> {
  const dir = await projectWithBooks();
  const warehouse = await openWarehouse(dir);
  await warehouse.beginRun('ingest', firstNow);
  await warehouse.saveAccount(
    {
      ...{ account, name: undefined, historyStart: june, settleDays: 1, lagHours: 2, role: undefined },
      decimals: known.decimals,
    },
    firstNow,
  );
  warehouse.close();
  await take(dir, steps);
  return { dir, steps };
}

/** The same books, rebuilt from the journal and from what is found of each load, and then the steps after that. */
async function rebuiltAfter(
  { dir: from, steps }: { readonly dir: string; readonly steps: readonly Step[] },
  found: readonly Found[],
  later: readonly Step[],
): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'data'));
  const file = join(dir, 'data', 'warehouse.duckdb');
  const { signal } = new AbortController();
  const all = { throughEvent: undefined, inBooks: 0, acceptsGaps: true, signal };
  const rebuilding = await openRebuildingWarehouse(from, file, all);
  const loads = steps.filter((step) => typeof step !== 'string');
  const [stage] = rebuilding.stages;
  for (const [index, each] of loads.entries()) {
    if (stage !== undefined) await load(stage, each, index + 1, found[index]);
  }
  await rebuilding.finish();
  await cp(join(from, 'data', 'journal'), join(dir, 'data', 'journal'), { recursive: true });
  await take(dir, later);
  return dir;
}

async function inBooks<T>(dir: string, asOf: Instant | undefined, ask: (connection: Connection) => Promise<T>) {
  const books = await openBooks(dir, { lockedDown: true, asOf });
  try {
    return await ask(books.connection);
  } finally {
    books.close();
  }
}

/** What each month bills, own hours and corrections, and what is wrong. */
async function billedIn(dir: string, asOf?: Instant): Promise<SqlRow[]> {
  return inBooks(dir, asOf, (connection) =>
    connection.rows(
      `select strftime(billing_month, '%m') as month, charge_class, count(*) as row_count, cast(sum(cost) as varchar) as cost
      from costs_billed group by all order by all`,
    ),
  );
}

async function faultsIn(dir: string): Promise<unknown[]> {
  return inBooks(dir, undefined, async (connection) => {
    const found: unknown[] = [...(await differingCloses(connection))];
    for (const check of await readChecks('/nowhere')) {
      const { rows, error } = await runCheck(connection, check);
      found.push(...rows.map((row) => ({ check: check.name, ...row })), ...(error === undefined ? [] : [error]));
    }
    return found;
  });
}

const afterCloses = firstNow + 500_000;

describe('hours of a closed month that were lost and fetched again', () => {
  test.each<[string, Step[], Found[], Step[]]>([
    ['have their closing numbers', [whole, rest, 'close June', 'close July'], ['lost'], [whole]],
    [
      'have their closing numbers, if only the close knows which hours they were',
      [whole, rest, 'close June', 'close July'],
      ['nothing'],
      [whole],
    ],
    [
      'have their closing numbers, if a part was lost and a later load had found it unchanged',
      [{ ...whole, end: 100 }, { ...whole, start: 100 }, { ...whole, start: 50, end: 200 }, rest, 'close June'],
      ['lost', 'answers', 'unchanged'],
      [whole],
    ],
    [
      'have the correction of the lost load, in the month that delivered it',
      [whole, rest, 'close June', { ...whole, micros: 7 }, 'close July'],
      ['answers', 'answers', 'lost'],
      [{ ...whole, micros: 7 }],
    ],
    [
      'have the value of the lost load at the close, if only the close knows which hours it had',
      [{ ...whole, end: 30 }, { ...whole, micros: 7 }, rest, 'close June', 'close July'],
      ['answers', 'nothing'],
      [{ ...whole, micros: 7 }],
    ],
    [
      'have no correction, if the lost load had found no change',
      [whole, rest, 'close June', whole, 'close July'],
      ['answers', 'answers', 'lost'],
      [whole],
    ],
    [
      'have a change that the platform makes afterwards as a correction',
      [whole, rest, 'close June', 'close July'],
      ['lost'],
      [whole, { ...whole, micros: 9 }],
    ],
  ])('%s', async (name, steps, found, later) => {
    const intact = await booksAfter(steps);
    const damaged = await rebuiltAfter(intact, found, later);
    if (name.includes('afterwards')) await take(intact.dir, later);
    expect(await billedIn(damaged)).toEqual(await billedIn(intact.dir));
    expect(await billedIn(damaged, afterCloses)).toEqual(await billedIn(intact.dir, afterCloses));
    expect(await faultsIn(damaged)).toEqual([]);
  });

  test.each<[string, Step[], Found[]]>([
    ['if the platform changed them in the meantime', [whole, rest, 'close June'], ['lost']],
    [
      'if an intact load had changed them after the close',
      [whole, rest, 'close June', { ...whole, micros: 8 }],
      ['lost', 'answers', 'answers'],
    ],
  ])('differ from the close, %s', async (_, steps, found) => {
    const damaged = await rebuiltAfter(await booksAfter(steps), found, [{ ...whole, micros: 8 }]);
    expect(await faultsIn(damaged)).toMatchObject([
      { month: '2026-06', difference: '0.000007000000' },
      { check: 'closed_months_keep_their_numbers' },
    ]);
  });

  test('are corrections, if the books did not have them at the close', async () => {
    const late = await booksAfter([{ ...whole, start: 24 }, rest, 'close June']);
    const books = await rebuiltAfter(late, ['lost'], [whole]);
    const corrections = (await billedIn(books)).filter((row) => row['charge_class'] !== null);
    expect(corrections).toMatchObject([{ month: '07', row_count: '73' }]);
    expect(await faultsIn(books)).toEqual([]);
  });
});
