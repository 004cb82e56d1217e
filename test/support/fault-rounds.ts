import pLimit from 'p-limit';
import { expect } from 'vitest';
import { type Fault, faultDescriptions, faultNames } from '../../src/emulator/fault-plan.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { hashText, toUnit } from '../../src/emulator/random.ts';
import { dayMs } from '../../src/time/time.ts';
import { projectWithBooks } from './given-books.ts';
import { askSnapshot, startMain } from './project.ts';

/** Most of a round is waiting for what a fault asks to wait. */
const atOnce = 24;
/** A round that is not over then hangs. */
const roundLimitMs = 480_000;

const now = Date.UTC(2026, 9, 21, 3, 30);

/** What a round is about: the story, who reads it, and what goes wrong. */
interface Round {
  readonly story: number;
  /** How far back the books start: one window, or two. */
  readonly days: number;
  readonly as: 'admin' | 'member';
  readonly faults: readonly Fault[];
  readonly faultSeed: number;
  readonly concurrency: number;
}

/** Other forms of refusals that are in the rounds: mixed with them, a round only waits longer. */
const otherForms: readonly string[] = ['404', '429-ms', 'error-objects', 'ignored-version'];

/** The faults of rounds; an ingest that gives up on one of the others says nothing about the rest. */
export const mixedFaults = faultNames.filter(
  (name) => !('isFinal' in faultDescriptions[name]) && !otherForms.includes(name),
);

function roundOf(seed: number): Round {
  const chance = (name: string) => toUnit(hashText(seed, name));
  const faults = mixedFaults
    .filter((name) => chance(`whether ${name}`) < 0.3)
    .map((name) => {
      // Late costs change the truth, so they have a single rate, and the truth is known.
      const most = faultDescriptions[name].kind === 'passing' ? 0.4 : 1;
      return { name, rate: name === 'late' ? 0.5 : 0.05 + chance(`how much ${name}`) * (most - 0.05) };
    });
  return {
    story: 1 + Math.floor(chance('story') * 2),
    days: chance('days') < 0.6 ? 2 : 9,
    as: chance('role') < 0.5 ? 'admin' : 'member',
    faults,
    faultSeed: seed,
    concurrency: 1 + Math.floor(chance('concurrency') * 4),
  };
}

interface Result {
  readonly exitCode: number;
  readonly said: string;
  /** Whether nothing was left to the next run, as young hours may be. */
  readonly isWhole: boolean;
}

async function ingestFrom({ story, days, as, faults, faultSeed, concurrency }: Round, dir: string): Promise<Result> {
  const emulator = await startEmulator({
    now: () => now,
    storyEnd: now,
    seed: story,
    resources: 12,
    faults,
    faultSeed,
  });
  try {
    const run = startMain(['ingest', '--dir', dir, '--now', new Date(now).toISOString(), '--json'], {
      COSTBOOK_URL: emulator.url,
      COSTBOOK_TOKEN: emulator.tokens[as],
      COSTBOOK_ACCOUNT: emulator.account,
      COSTBOOK_SINCE: new Date(now - days * dayMs).toISOString().slice(0, 10),
      COSTBOOK_CONCURRENCY: String(concurrency),
    });
    const limit = setTimeout(() => run.signal('SIGTERM'), roundLimitMs);
    const { exitCode, stdout, stderr } = await run.ended;
    clearTimeout(limit);
    const { accounts } = JSON.parse(stdout || '{ "accounts": [] }') as { accounts: { postponed: unknown[] }[] };
    const isWhole = exitCode === 0 && accounts.every(({ postponed }) => postponed.length === 0);
    return { exitCode, said: stdout + stderr, isWhole };
  } finally {
    await emulator.close();
  }
}

/** The rows of the books as text, sorted. */
async function rowsIn(dir: string): Promise<string[]> {
  const rows = await askSnapshot(
    dir,
    `select concat_ws('|', coalesce(workspace, '-'), resource_type, coalesce(resource_name, '-'),
      coalesce(resource_uuid, '-'), billing_dimension, bucket_start, cost, usage) as line from costs order by line`,
  );
  return rows.map(({ line }) => String(line));
}

const truths = new Map<string, Promise<readonly string[]>>();

/** What a platform without faults reports for the same story. */
function truthOf(round: Round): Promise<readonly string[]> {
  const faults = round.faults.filter(({ name }) => name === 'late');
  const key = `${round.story} ${round.days} ${round.as} ${faults.length}`;
  const known = truths.get(key);
  if (known !== undefined) return known;
  const truth = (async () => {
    const dir = await projectWithBooks();
    expect(await ingestFrom({ ...round, faults }, dir)).toMatchObject({ exitCode: 0 });
    return rowsIn(dir);
  })();
  truths.set(key, truth);
  return truth;
}

/** Compares thousands of rows, and shows only those that differ. */
function expectSame(rows: readonly string[], truth: readonly string[], story: string): void {
  const [here, there] = [new Set(rows), new Set(truth)];
  expect(
    {
      rows: rows.length,
      onlyInBooks: rows.filter((row) => !there.has(row)).slice(0, 5),
      onlyInTruth: truth.filter((row) => !here.has(row)).slice(0, 5),
    },
    story,
  ).toEqual({ rows: truth.length, onlyInBooks: [], onlyInTruth: [] });
}

/** What the published books hold is proven and true, hour by hour, though hours may be missing. */
async function expectProven(dir: string, truth: readonly string[], story: string): Promise<void> {
  const open = await askSnapshot(
    dir,
    `select coverage.load_number from coverage
    where not exists (
      select 1 from reconciliation where reconciliation.load_number = coverage.load_number
    ) or exists (
      select 1 from reconciliation where reconciliation.load_number = coverage.load_number and not proven
    )`,
  );
  expect(open, story).toEqual([]);
  const covered = await askSnapshot(dir, 'select window_start, window_end from coverage');
  const expected = truth.filter((line) => {
    const hour = line.split('|').at(-3) ?? '';
    return covered.some(({ window_start, window_end }) => String(window_start) <= hour && hour < String(window_end));
  });
  expectSame(await rowsIn(dir), expected, story);
}

/** How a round ended, and what went wrong in it. */
export interface FaultRound {
  readonly exitCode: number;
  readonly faults: readonly Fault[];
}

/**
 * Runs a round for each seed: an ingest from a platform with the faults of that seed. The books must end as the truth,
 * or the exit code says that they do not and what is published is proven; a run without faults then makes them whole.
 */
export async function ingestThroughFaults(seeds: readonly number[]): Promise<readonly FaultRound[]> {
  const limit = pLimit(atOnce);
  return await Promise.all(
    seeds.map((seed) =>
      limit(async () => {
        const about = roundOf(seed);
        const dir = await projectWithBooks();
        const { exitCode, said, isWhole } = await ingestFrom(about, dir);
        const faults = about.faults.map(({ name, rate }) => `${name}=${rate.toFixed(2)}`).join(',');
        const story = `seed ${seed}, as ${about.as}: ${faults} ended with ${exitCode}: ${said}`;
        expect([0, 3, 4], story).toContain(exitCode);
        const truth = await truthOf(about);
        if (isWhole) expectSame(await rowsIn(dir), truth, story);
        else {
          await expectProven(dir, truth, story);
          // The platform has recovered, but its late costs are still late.
          const healed = await ingestFrom(
            { ...about, faults: about.faults.filter(({ name }) => name === 'late') },
            dir,
          );
          expect(healed.exitCode, `${story}\nand then: ${healed.said}`).toBe(0);
          expectSame(await rowsIn(dir), truth, story);
        }
        return { exitCode, faults: about.faults };
      }),
    ),
  );
}
