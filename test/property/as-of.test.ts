// Second tier: Drawn histories that are read as of each instant, a minute of CPU.

import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { completenessOf } from '../../src/reports/formats/completeness.ts';
import { hourMs, type Instant } from '../../src/time/time.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { snapshotFile } from '../../src/warehouse/integrity/snapshot-file.ts';
import { readChecks, runCheck } from '../../src/warehouse/ledger/checks.ts';
import type { Role } from '../../src/warehouse/page.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/warehouse.ts';
import fc from '../support/fast-check.ts';
import { projectWithBooks } from '../support/given-books.ts';
import { casesOf } from '../support/rounds.ts';
import { known, readTruth, resources } from '../support/truth.ts';

const accounts = ['acc_a', 'acc_b'];
const historyStart = Date.UTC(2026, 8, 1);
const hours = 6;

/** The cost of a resource's hour from now on, as the platform reports it; zero removes its row. */
interface Change {
  readonly resource: number;
  readonly hour: number;
  readonly micros: number;
}

/** An event: a window is loaded after some of its numbers changed, or something else is stored. */
type Step =
  | {
      readonly does: 'load' | 'fail';
      readonly account: number;
      readonly start: number;
      readonly length: number;
      /** Hours at the window's end that are too young to be claimed. */
      readonly young: number;
      readonly role: Role;
      readonly changes: readonly Change[];
    }
  | { readonly does: 'save'; account: number; name: string; startHour: number; settleDays: number }
  | { readonly does: 'run' };

const anAccount = fc.constantFrom(0, 0, 0, 1);
const aChange: fc.Arbitrary<Change> = fc.record({
  resource: fc.nat(resources.length - 1),
  hour: fc.nat(hours - 1),
  micros: fc.constantFrom(0, 0, 1, 2, 3),
});
const aLoad: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('load', 'load', 'load', 'load', 'fail'),
  account: anAccount,
  start: fc.constantFrom(0, 0, 1, 2, 4),
  length: fc.integer({ min: 1, max: hours }),
  young: fc.nat(2),
  role: fc.constantFrom('admin', 'admin', 'member'),
  changes: fc.array(aChange, { maxLength: 4 }),
});
const aSave: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('save'),
  account: anAccount,
  name: fc.constantFrom('One', 'Two'),
  startHour: fc.nat(2),
  settleDays: fc.nat(2),
});
const aRun: fc.Arbitrary<Step> = fc.constant({ does: 'run' });
/** Steps, each with whether the clock moves before it: several things may be seen at one instant. */
const anyStory = fc.array(
  fc.tuple(
    fc.oneof({ arbitrary: aLoad, weight: 8 }, { arbitrary: aSave, weight: 1 }, { arbitrary: aRun, weight: 1 }),
    fc.constantFrom(true, true, false),
  ),
  { minLength: 3, maxLength: 8 },
);

const relations = [
  ...[
    'hourly_costs',
    'costs',
    'costs_v1',
    'costs_daily',
    'costs_monthly',
    'coverage',
    'restatements',
    'reconciliation',
    'accounts',
    'runs',
  ],
  ...['ledger.hourly_costs', 'ledger.loads', 'ledger.covered', 'ledger.accounts', 'ledger.restatements'],
  'ledger.account_runs',
];

/** Everything that books answer, and how complete they say they are. */
async function everything(dir: string, asOf?: Instant): Promise<Record<string, unknown>> {
  const books = await openBooks(dir, { lockedDown: true, asOf });
  try {
    const { asOf: _, ...state } = await completenessOf(books.connection, asOf);
    const answers: Record<string, unknown> = { state };
    for (const relation of relations) {
      answers[relation] = await books.connection.rows(`select * from ${relation} order by all`);
    }
    return answers;
  } finally {
    books.close();
  }
}

/** What the checks find in books that were written by loads alone; holes are what a story leaves out. */
async function offenders(dir: string): Promise<unknown[]> {
  const books = await openBooks(dir, { lockedDown: true });
  try {
    const found: unknown[] = [];
    for (const check of await readChecks('/nowhere')) {
      const { rows, error } = await runCheck(books.connection, check);
      if (check.name !== 'coverage_has_no_hole') found.push(...rows, ...(error === undefined ? [] : [error]));
    }
    return found;
  } finally {
    books.close();
  }
}

/** Plays a story and keeps a copy of the snapshot at each instant, taken when everything of that instant was written. */
async function play(
  steps: readonly (readonly [Step, boolean])[],
  warehouse: Warehouse,
  keepCopy: (at: Instant) => Promise<void>,
): Promise<void> {
  const truth = accounts.map(() => resources.map(() => Array.from({ length: 2 * hours }, (_, hour) => hour % 3)));
  const stage = await warehouse.openStage();
  let now = Date.UTC(2026, 8, 2);
  let run = await warehouse.beginRun('ingest', now);
  let attempt = 0;
  for (const [account, id] of accounts.entries()) await save(account, id, 0, 1);

  async function save(account: number, name: string, startHour: number, settleDays: number): Promise<void> {
    const start = historyStart + startHour * hourMs;
    await warehouse.saveAccount(
      {
        account: accounts[account] ?? '',
        name,
        historyStart: start,
        settleDays,
        lagHours: 2,
        role: undefined,
        decimals: known.decimals,
      },
      now,
    );
  }

  async function take(step: Step): Promise<void> {
    if (step.does === 'save') {
      await save(step.account, step.name, step.startHour, step.settleDays);
    } else if (step.does === 'run') {
      await warehouse.recordAccountRun({
        ...{ runNumber: run.number, account: accounts[0] ?? '', exitCode: 0, failures: [] },
        ...{ windows: 1, pages: 1, rows: 1, restated: 0, requests: 1, retries: 0 },
      });
      await run.end(0, [], now);
      await keepCopy(now);
      now += 1;
      run = await warehouse.beginRun('ingest', now);
    } else {
      const window = { start: step.start, end: step.start + step.length };
      const series = truth[step.account] ?? [];
      for (const { resource, hour, micros } of step.changes) series[resource]?.fill(micros, hour, hour + 1);
      await readTruth(stage, accounts[step.account] ?? '', { historyStart, ...window }, step.role, series);
      await stage.shortDimensions(known);
      const { reconciliations } = await stage.reconcile(known, false);
      expect(reconciliations.filter(({ proven }) => !proven)).toEqual([]);
      attempt += 1;
      if (step.does === 'fail')
        await stage.recordFailedReconciliations(run.number, attempt, await warehouse.seenAt(now));
      else {
        const loadNumber = (await warehouse.lastLoadNumber()) + 1;
        const claimedEnd = historyStart + (window.end - step.young) * hourMs;
        await stage.load(
          {
            ...{ loadNumber, runNumber: run.number, attempt, reason: 'new', requests: 2, pages: 2, queries: [] },
            ...{ claimedEnd, seenAt: await warehouse.seenAt(now) },
          },
          async () => undefined,
        );
      }
    }
  }

  for (const [index, [step, moves]] of steps.entries()) {
    if (moves && index > 0) {
      await keepCopy(now);
      now += 1000;
    }
    await take(step);
  }
  await keepCopy(now);
  stage.close();
}

test('as of any instant the books answer like a copy from that instant, and every check passes', async () => {
  let restated = 0;
  await fc.assert(
    fc.asyncProperty(anyStory, async (story) => {
      const dir = await projectWithBooks();
      const warehouse = await openWarehouse(dir);
      const copies: { at: Instant; dir: string }[] = [];
      try {
        await play(story, warehouse, async (at) => {
          const copy = join(dir, `copy-${copies.length}`);
          await mkdir(dirname(snapshotFile(copy)), { recursive: true });
          await warehouse.publish();
          await rename(snapshotFile(dir), snapshotFile(copy));
          copies.push({ at, dir: copy });
        });
        await warehouse.publish();
      } finally {
        warehouse.close();
      }
      for (const copy of copies) expect(await everything(dir, copy.at)).toEqual(await everything(copy.dir));
      const { restatements } = await everything(dir);
      restated += (restatements as unknown[]).length;
      expect(await offenders(dir)).toEqual([]);
    }),
    { numRuns: casesOf({ fixed: 6, fresh: 20 }) },
  );
  // Stories in which nothing ever changes would prove nothing.
  expect(restated).toBeGreaterThan(0);
}, 600_000);

test('before their first load the books return nothing, and report nothing as complete', async () => {
  const dir = await projectWithBooks();
  const warehouse = await openWarehouse(dir);
  try {
    await play(
      [[{ does: 'load', account: 0, start: 0, length: 3, young: 0, role: 'member', changes: [] }, false]],
      warehouse,
      async () => {
        await warehouse.publish();
      },
    );
  } finally {
    warehouse.close();
  }
  const nothing = Object.fromEntries(relations.map((relation) => [relation, []]));
  const state = { closedAt: null, completeFrom: null, completeThrough: null, settledThrough: null };
  expect(await everything(dir, historyStart)).toEqual({ ...nothing, state });
});
