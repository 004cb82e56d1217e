// Second tier: Drawn accounts with rounded totals; unit tests hold the arithmetic.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { decodePage } from '../../src/fetch/decode.ts';
import type { Query } from '../../src/fetch/plan/queries.ts';
import { dayMs, formatInstant, hourMs, type Window } from '../../src/time/time.ts';
import type { Stage } from '../../src/warehouse/load/stage.ts';
import type { PastQuery } from '../../src/warehouse/load/verified-past.ts';
import { readSql } from '../../src/warehouse/sql/sql-files.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/warehouse.ts';
import fc from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';

// A platform that adds doubles: every order and grouping of the same hours has to prove, and one cent has to be missed.

const known = { decimals: { cost: 17, usage: 17 }, agreedTolerance: undefined };
const historyStart = Date.UTC(2026, 7, 1);
const ways = ['one pass', 'backwards', 'smallest first', 'largest first', 'pairwise', 'shuffled'] as const;
type Way = (typeof ways)[number];
const parts = ['hours', 'buckets', 'groups'] as const;

/** Numbers from 0 to 1, the same for the same seed. */
function drawing(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pairwise(values: Float64Array): number {
  if (values.length < 3) return (values[0] ?? 0) + (values[1] ?? 0);
  const half = values.length >> 1;
  return pairwise(values.subarray(0, half)) + pairwise(values.subarray(half));
}

/** Adds up doubles in one way; the values may be put in another order. */
function addUp(values: Float64Array, way: Way, draw: () => number): number {
  if (way === 'pairwise') return pairwise(values);
  if (way === 'backwards') values.reverse();
  if (way === 'smallest first' || way === 'largest first') values.sort();
  if (way === 'largest first') values.reverse();
  if (way === 'shuffled') {
    for (let i = values.length - 1; i > 0; i -= 1) {
      const j = Math.floor(draw() * (i + 1));
      [values[i], values[j]] = [values[j] ?? 0, values[i] ?? 0];
    }
  }
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** A series of the platform, with a cost for each hour; a thousand times as much usage. */
interface Series {
  readonly name: string;
  readonly dimension: string;
  readonly costs: Float64Array;
}

/** How the platform adds up one answer. */
interface Answering {
  readonly way: Way;
  readonly groupOf: 'hours' | 'buckets';
  readonly totalOf: (typeof parts)[number];
  readonly draw: () => number;
  /** USD by which one hour of the answer is too low. */
  readonly missing?: number;
}

/** The platform's answer to a query, as JSON: what of the series lies in its window, added up by series or dimension. */
function answer(query: Query, buckets: readonly Window[], truth: readonly Series[], how: Answering): unknown {
  const add = (values: readonly number[]) => addUp(Float64Array.from(values), how.way, how.draw);
  const bySeries = query.groupBy.includes('resource_uuid');
  const groups = new Map<string, Series[]>();
  for (const series of truth) {
    const key = bySeries ? series.name : series.dimension;
    groups.set(key, [...(groups.get(key) ?? []), series]);
  }
  const all: number[] = [];
  const byBucket: number[][] = buckets.map(() => []);
  let missing = how.missing ?? 0;
  const data = [...groups.values()].map((members) => {
    const hours: number[] = [];
    const sums = buckets.map(({ start, end }, index) => {
      const [first, last] = [(start - historyStart) / hourMs, (end - historyStart) / hourMs];
      const own = members.flatMap(({ costs }) => [...costs.subarray(first, last)]);
      if (missing > 0 && (own[0] ?? 0) !== 0) {
        own[0] = (own[0] ?? 0) - missing;
        missing = 0;
      }
      hours.push(...own);
      byBucket[index]?.push(...own);
      return add(own);
    });
    all.push(...hours);
    const [face] = members;
    const cost = add(how.groupOf === 'hours' ? hours : sums);
    return {
      resourceType: 'sandbox',
      billingDimension: face?.dimension,
      ...(bySeries ? { workspace: 'north', resourceName: face?.name, resourceUuid: face?.name } : {}),
      summary: { cost, usage: cost * 1000 },
      timeseries: sums.map((sum, index) => ({
        timestamp: formatInstant(buckets[index]?.start ?? 0),
        cost: sum,
        usage: sum * 1000,
      })),
    };
  });
  const total = {
    hours: () => add(all),
    buckets: () => add(byBucket.map(add)),
    groups: () => add(data.map(({ summary }) => summary.cost)),
  }[how.totalOf]();
  return {
    startTime: formatInstant(query.window.start),
    endTime: formatInstant(query.window.end),
    resolution: query.resolution ?? 'hourly',
    summary: { totalCost: total },
    data,
    meta: { hasMore: false, nextCursor: '' },
  };
}

function bucketsOf({ start, end }: Window, unit: 'hour' | 'day' | 'month'): Window[] {
  const buckets: Window[] = [];
  for (let at = start; at < end; ) {
    const month = new Date(at);
    const next =
      unit === 'month'
        ? Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
        : at + (unit === 'day' ? dayMs : hourMs);
    buckets.push({ start: at, end: Math.min(next, end) });
    at = next;
  }
  return buckets;
}

function decoded(query: Query, buckets: readonly Window[], truth: readonly Series[], how: Answering) {
  const sent = JSON.parse(JSON.stringify(answer(query, buckets, truth, how))) as unknown;
  const { window, resolution = 'hourly' } = query;
  return decodePage(sent, { window, resolution, about: 'the answer' });
}

/** Reads a week into the stage as a member does, and returns the checks that do not hold. */
async function readWeek(stage: Stage, window: Window, truth: readonly Series[], hows: readonly Answering[]) {
  await stage.begin('acc_one', window);
  stage.readAs('member');
  const hours = bucketsOf(window, 'hour');
  const asked = [
    { purpose: 'detail', window, groupBy: ['resource_name', 'resource_uuid', 'billing_dimension'] },
    { purpose: 'control', window, groupBy: ['billing_dimension'] },
  ] as const satisfies readonly Query[];
  for (const [index, query] of asked.entries()) {
    const how = hows[index];
    if (how === undefined) throw new Error('no way to answer');
    await stage.addQuery(index + 1, query.purpose, query.purpose).page(decoded(query, hours, truth, how));
  }
  await stage.takeDetail();
  const { reconciliations } = await stage.reconcile(known, false);
  return reconciliations.filter(({ proven }) => !proven);
}

let loads = 0;
async function load(stage: Stage): Promise<number> {
  loads += 1;
  const { restated } = await stage.load(
    {
      ...{ loadNumber: loads, runNumber: 1, attempt: 1, reason: 'new', requests: 2, pages: 2, queries: [] },
      ...{ claimedEnd: Date.UTC(2027, 0, 1), seenAt: Date.UTC(2027, 0, 1) + loads },
    },
    async () => undefined,
  );
  return restated;
}

/** Asks the settled past one question and returns what the comparison found. */
async function ask(
  warehouse: Warehouse,
  purpose: PastQuery['purpose'],
  unit: PastQuery['unit'],
  window: Window,
  truth: readonly Series[],
  how: Answering,
) {
  const verification = await warehouse.openVerification('acc_one', known);
  try {
    const buckets = bucketsOf(window, unit);
    const query: Query = {
      purpose,
      window,
      resolution: unit === 'day' ? 'daily' : 'monthly',
      groupBy:
        purpose === 'series'
          ? ['resource_name', 'resource_uuid', 'billing_dimension']
          : (['billing_dimension'] as const),
    };
    const isSeries = purpose === 'series';
    const question: PastQuery = {
      ...{ number: 1, purpose, window, unit, buckets, billingDimension: undefined, resourceName: undefined },
      by: { workspace: false, type: false, name: isSeries, uuid: isSeries },
    };
    const sink = await verification.addQuestion(question);
    await sink.page(decoded(query, buckets, truth, how));
    return await verification.compare(question, { runNumber: 1, attempt: 1, seenAt: Date.UTC(2027, 1, 1) });
  } finally {
    verification.close();
  }
}

const anAnswering = fc.record({
  way: fc.constantFrom(...ways),
  groupOf: fc.constantFrom('hours' as const, 'buckets' as const),
  totalOf: fc.constantFrom(...parts),
  seed: fc.nat(),
});
const answering = ({ seed, ...how }: { seed: number } & Omit<Answering, 'draw'>): Answering => ({
  ...how,
  draw: drawing(seed),
});

/** Series whose hours cost all sizes, with as many digits as a double has; scaled so that all of them cost `usd`. */
function invent(count: number, hours: number, usd: number, seed: number): Series[] {
  const draw = drawing(seed);
  const series = Array.from({ length: count }, (_, index) => ({
    name: `box-${index}`,
    dimension: index % 3 === 0 ? 'sandbox_image_storage_gbs' : 'sandbox_compute_runtime_gbs',
    costs: Float64Array.from({ length: hours }, () => (draw() < 0.2 ? 0 : draw() * 10 ** -Math.floor(draw() * 5))),
  }));
  const sum = series.reduce((total, { costs }) => total + costs.reduce((a, b) => a + b, 0), 0);
  return series.map(({ costs, ...one }) => ({ ...one, costs: costs.map((cost) => (cost / sum) * usd) }));
}

describe('hours that the platform sums as doubles', () => {
  test('reconcile in any order and grouping, at every resolution; a missing cent in a million USD is found', {
    timeout: 300_000,
  }, async () => {
    const dir = await newProject();
    await mkdir(join(dir, 'data'));
    const warehouse = await openWarehouse(dir);
    const stage = await warehouse.openStage();
    try {
      const weeks = 5;
      const truth = invent(60, weeks * 7 * 24, 1_000_000, 1);
      const windows = Array.from({ length: weeks }, (_, week) => ({
        start: historyStart + week * 7 * dayMs,
        end: historyStart + (week + 1) * 7 * dayMs,
      }));
      const inBooks = { start: historyStart, end: historyStart + weeks * 7 * dayMs };
      let ways = 0;
      for (const window of windows) {
        const hows = ['shuffled', 'pairwise'].map((way) =>
          answering({ way: way as Way, groupOf: 'hours', totalOf: 'hours', seed: ways++ }),
        );
        expect(await readWeek(stage, window, truth, hows)).toEqual([]);
        await load(stage);
      }
      const asked = fc.constantFrom(
        ['days', 'day'] as const,
        ['months', 'month'] as const,
        ['series', 'day'] as const,
        ['series', 'month'] as const,
      );
      await fc.assert(
        fc.asyncProperty(
          anAnswering,
          anAnswering,
          fc.nat(weeks - 1),
          asked,
          async (one, other, week, [purpose, unit]) => {
            const window = windows[week] ?? inBooks;
            const cent = { missing: 0.01 };
            expect(await readWeek(stage, window, truth, [answering(one), answering(other)])).toEqual([]);
            const lost = await readWeek(stage, window, truth, [answering({ ...one, ...cent }), answering(other)]);
            expect(lost.map(({ checkCode }) => checkCode)).toContain('rows_match_control');

            const right = await ask(warehouse, purpose, unit, inBooks, truth, answering(one));
            expect(right).toEqual({ differences: [], answerFault: undefined });
            const wrong = await ask(warehouse, purpose, unit, inBooks, truth, answering({ ...one, ...cent }));
            expect(wrong.answerFault).toBeUndefined();
            expect(wrong.differences.map(({ costDifference }) => Number(costDifference).toFixed(6))).toEqual([
              '0.010000',
            ]);
          },
        ),
        { numRuns: 12, seed: 3 },
      );
    } finally {
      stage.close();
      warehouse.close();
    }
  });

  test('are not restated if only the last digit of an hour differs, and are if it changed', async () => {
    const warehouse = await openWarehouse(await newProject());
    const stage = await warehouse.openStage();
    try {
      const [series] = invent(1, 7 * 24, 5_000, 2);
      if (series === undefined) throw new Error('no series');
      const window = { start: historyStart, end: historyStart + 7 * dayMs };
      const how = answering({ way: 'one pass', groupOf: 'hours', totalOf: 'hours', seed: 1 });
      const restated: number[] = [];
      for (const change of [0, 3e-12, 1e-6]) {
        const costs = series.costs.map((cost, hour) => (hour === 50 ? 100 + change : cost));
        expect(await readWeek(stage, window, [{ ...series, costs }], [how, how])).toEqual([]);
        restated.push(await load(stage));
      }
      expect(restated).toEqual([0, 0, 1]);
    } finally {
      stage.close();
      warehouse.close();
    }
  });

  test.each([
    [1_000, 30],
    [100_000, 10],
    [1_000_000, 3],
    [10_000_000, 1],
  ])('are within the tolerance for %d hours of a million USD, and a cent beyond it is not', async (hours, runs) => {
    const instance = await DuckDBInstance.create();
    const connection = await instance.connect();
    const rules = await readSql('load', 'macros');
    await connection.run(rules);
    const asked = await connection.runAndReadAll(
      `select tolerance_of(${hours}, 1000000, 1e-12, 0.5e-17, 1, null) as tolerance`,
    );
    const tolerance = Number(asked.getRows()[0]?.[0]);
    connection.closeSync();
    instance.closeSync();
    const groups = 50;
    const away: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const draw = drawing(hours + run);
      // Some runs have one amount for every hour: its rounding errors all point one way.
      const isEven = run % 3 === 0;
      const values = Float64Array.from({ length: hours }, () => (isEven ? 1 : draw()));
      const scale = 1e18 / values.reduce((a, b) => a + b, 0);
      // In billionths of a millionth of a cent, so that their sum is known.
      let exact = 0n;
      for (const [index, value] of values.entries()) {
        const whole = Math.round((value * scale) / 1e6) * 1e6;
        values[index] = whole / 1e12;
        exact += BigInt(whole);
      }
      const size = Math.ceil(hours / groups);
      for (const way of ways) {
        const byGroup = Float64Array.from({ length: groups }, (_, group) =>
          addUp(values.slice(group * size, (group + 1) * size), way, draw),
        );
        for (const sum of [addUp(values.slice(), way, draw), addUp(byGroup, way, draw)]) {
          away.push(Math.abs(Number(BigInt(Math.round(sum * 1e6)) * 1_000_000n - exact) / 1e12));
        }
      }
    }
    expect(Math.max(...away) * 2).toBeLessThan(tolerance);
    expect(0.01 - Math.max(...away)).toBeGreaterThan(tolerance);
  });
});
