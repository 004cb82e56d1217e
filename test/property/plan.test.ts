import { describe, expect, test } from 'vitest';
import { coverWindows, type PlanInput, planWindows } from '../../src/fetch/plan/plan-windows.ts';
import {
  controlQuery,
  detailQuery,
  type Query,
  queryParameters,
  repairQuery,
  residualQuery,
} from '../../src/fetch/plan/queries.ts';
import { operations } from '../../src/platform/interface/operations.ts';
import { requestPath } from '../../src/platform/interface/request.ts';
import type { Window } from '../../src/time/time.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';

// Nothing below is computed with src: hours are counted one by one.
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const weekHours = 7 * 24;
const origin = Date.UTC(2026, 8, 20);
const spanHours = 45 * 24;

/** The hours (since the origin) that start in a window. */
function hoursOf({ start, end }: Window): number[] {
  const hours: number[] = [];
  for (let instant = start; instant < end; instant += hourMs) hours.push((instant - origin) / hourMs);
  return hours;
}

/** The fewest windows of at most `cap` hours that hold all of these hours, by trying every window that ends anywhere. */
function fewest(needed: ReadonlySet<number>, cap: number): number {
  const from = Math.min(...needed, 0);
  const to = Math.max(...needed, 0) + 1;
  const best = [0];
  for (let end = from + 1; end <= to; end += 1) {
    const at = end - from;
    let least = needed.has(end - 1) ? Number.POSITIVE_INFINITY : (best[at - 1] ?? 0);
    for (let length = 1; length <= Math.min(cap, at); length += 1) {
      least = Math.min(least, (best[at - length] ?? 0) + 1);
    }
    best.push(least);
  }
  return best.at(-1) ?? 0;
}

/** What must be true of windows that are to hold certain hours. */
function expectGoodCover(windows: readonly Window[], needed: ReadonlySet<number>, capHours: number): void {
  const asked = windows.flatMap(hoursOf);
  const askedOnce = new Set(asked);
  expect(asked.length).toBe(askedOnce.size);
  expect([...needed].filter((hour) => !askedOnce.has(hour))).toEqual([]);
  for (const [index, window] of windows.entries()) {
    const hours = hoursOf(window);
    expect(hours.every(Number.isInteger)).toBe(true);
    expect(hours.length).toBeGreaterThan(0);
    expect(hours.length).toBeLessThanOrEqual(capHours);
    expect(needed.has(hours[0] ?? Number.NaN)).toBe(true);
    expect(needed.has(hours.at(-1) ?? Number.NaN)).toBe(true);
    const newer = windows[index - 1];
    if (newer !== undefined) expect(window.end).toBeLessThanOrEqual(newer.start);
  }
  expect(windows.length).toBe(fewest(needed, capHours));
}

const anyHour = fc.integer({ min: 0, max: spanHours });
const anyHourInstant = anyHour.map((hour) => origin + hour * hourMs);
const anyInstant = fc.integer({ min: origin, max: origin + spanHours * hourMs });

/** Disjoint windows in any order; some of them touch. */
const anyCovered = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200 })),
      length: fc.integer({ min: 1, max: weekHours }),
      unclaimed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: weekHours })),
      seenAt: anyInstant,
    }),
    { maxLength: 10 },
  )
  .chain((cuts) => {
    let at = origin;
    const chunks = cuts.map(({ gap, length, unclaimed, seenAt }) => {
      const start = at + gap * hourMs;
      const end = start + length * hourMs;
      at = end;
      return { start, end, claimedEnd: Math.max(start, end - unclaimed * hourMs), seenAt };
    });
    return fc.shuffledSubarray(chunks, { minLength: chunks.length });
  });

const anyInput: fc.Arbitrary<PlanInput> = fc.record({
  now: anyInstant,
  historyStart: anyHourInstant,
  from: fc.option(anyHourInstant, { nil: undefined }),
  to: fc.option(anyHourInstant, { nil: undefined }),
  refetch: fc.boolean(),
  settleDays: fc.integer({ min: 0, max: 10 }),
  covered: anyCovered,
  again: fc.array(
    fc
      .tuple(anyHour, fc.integer({ min: 1, max: weekHours }))
      .map(([start, length]) => ({ start: origin + start * hourMs, end: origin + (start + length) * hourMs })),
    { maxLength: 3 },
  ),
});

/** The hours that a plan must hold, decided one by one. */
function neededHours(input: PlanInput): Set<number> {
  const needed = new Set<number>();
  for (let hour = 0; hour < spanHours; hour += 1) {
    const start = origin + hour * hourMs;
    const end = start + hourMs;
    if (end > input.now || start < (input.from ?? input.historyStart)) continue;
    if (input.to !== undefined && end > input.to) continue;
    const isSettled = input.covered.some(
      (chunk) =>
        chunk.start <= start &&
        end <= chunk.end &&
        end <= chunk.claimedEnd &&
        end + input.settleDays * dayMs <= Math.min(chunk.seenAt, input.now),
    );
    const isUnproven = input.again.some((window) => window.start <= start && end <= window.end);
    if (input.refetch || !isSettled || isUnproven) needed.add(hour);
  }
  return needed;
}

describe('planWindows', () => {
  test('contains every needed hour once, in the fewest valid windows that start and end with one, newest first', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const windows = planWindows(input).map(({ window }) => window);
        expectGoodCover(windows, neededHours(input), weekHours);
      }),
      { numRuns: 300 },
    );
  });

  test('never fetches an hour outside the range, nor one that has not ended', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        for (const { window } of planWindows(input)) {
          expect(window.start).toBeGreaterThanOrEqual(input.from ?? input.historyStart);
          expect(window.end).toBeLessThanOrEqual(Math.min(input.now, input.to ?? input.now));
        }
      }),
    );
  });

  test('gives the reason: new for hours never loaded, repair for requested or unproven ones, else settle', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const loaded = new Set(input.covered.flatMap(hoursOf));
        const unproven = new Set(input.again.flatMap(hoursOf));
        for (const { window, reason } of planWindows(input)) {
          const hours = hoursOf(window);
          const isNew = hours.some((hour) => !loaded.has(hour));
          const isRepair = input.refetch || hours.some((hour) => unproven.has(hour));
          expect(reason).toBe(isNew ? 'new' : isRepair ? 'repair' : 'settle');
        }
      }),
    );
  });

  test('fetches nothing once everything was fetched after it settled', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { historyStart: start, now } = input;
        const everything = [{ start, end: now, claimedEnd: now, seenAt: now }];
        const windows = planWindows({ ...input, refetch: false, settleDays: 0, covered: everything, again: [] });
        const left = input.from !== undefined && input.from < start ? hoursOf({ start: input.from, end: start }) : [];
        expect(windows.flatMap(({ window }) => hoursOf(window)).every((hour) => left.includes(hour))).toBe(true);
      }),
    );
  });

  const week = { start: Date.UTC(2026, 9, 12), end: Date.UTC(2026, 9, 19) };
  const quiet: PlanInput = {
    now: week.end + 90 * 60_000,
    historyStart: week.start,
    from: undefined,
    to: undefined,
    refetch: false,
    settleDays: 3,
    covered: [],
    again: [],
  };

  test('fills an empty warehouse from the newest ended hour back to the start of history', () => {
    expect(planWindows(quiet)).toEqual([
      { window: { start: week.start + hourMs, end: week.end + hourMs }, reason: 'new' },
      { window: { start: week.start, end: week.start + hourMs }, reason: 'new' },
    ]);
  });

  test('plans one window for a normal night: the new hours, and the young days before them', () => {
    const covered = [{ ...week, claimedEnd: week.end - 2 * hourMs, seenAt: week.end }];
    expect(planWindows({ ...quiet, covered })).toEqual([
      { window: { start: week.end - 3 * dayMs, end: week.end + hourMs }, reason: 'new' },
    ]);
  });
});

describe('coverWindows', () => {
  test('uses the fewest windows for any cap', () => {
    const anyNeeded = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 9 })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(anyNeeded, fc.integer({ min: 1, max: 12 }), (spans, cap) => {
        const needed = spans.map(([start, length]) => ({
          start: origin + start * hourMs,
          end: origin + (start + length) * hourMs,
        }));
        expectGoodCover(coverWindows(needed, cap * hourMs), new Set(needed.flatMap(hoursOf)), cap);
      }),
      { numRuns: 2000 },
    );
  });
});

/** What 4.6, 5.7 and 8 forbid in a request for metrics; written out by hand. */
function violations(path: string, role: 'admin' | 'member'): string[] {
  const url = new URL(path, 'http://localhost');
  const parameters = new Map(url.searchParams);
  const found: string[] = [];
  if (!/^\/v0\/accounts\/[^/]+\/metrics$/.test(url.pathname)) found.push('path');
  const known = ['startTime', 'endTime', 'resolution', 'groupBy', 'workspace', 'resourceType', 'resourceName'];
  known.push('resourceUuid', 'billingDimension', 'limit', 'cursor');
  for (const name of url.searchParams.keys()) if (!known.includes(name)) found.push(`unknown ${name}`);
  if (parameters.size !== [...url.searchParams].length) found.push('a parameter twice');
  const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
  const [startText = '', endText = ''] = [parameters.get('startTime'), parameters.get('endTime')];
  if (!rfc3339.test(startText) || !rfc3339.test(endText)) found.push('startTime or endTime');
  const [start, end] = [Date.parse(startText), Date.parse(endText)];
  if (!(start < end)) found.push('an empty window');
  if (start % hourMs !== 0 || end % hourMs !== 0) found.push('not whole hours');
  const resolution = parameters.get('resolution');
  if (resolution !== 'hourly') found.push(`resolution ${resolution}`);
  if (end - start > 7 * dayMs) found.push('more than 7 days by the hour');
  const groupBy = (parameters.get('groupBy') ?? '').split(',');
  const dimensions = ['workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'];
  if (groupBy.length > 3) found.push('more than three dimensions');
  if (new Set(groupBy).size !== groupBy.length) found.push('a dimension twice');
  for (const dimension of groupBy) if (!dimensions.includes(dimension)) found.push(`dimension ${dimension}`);
  // Without it there would be no usage (2.15), and the decoder would refuse the answer.
  if (!groupBy.includes('billing_dimension')) found.push('no billing_dimension');
  const limit = parameters.get('limit') ?? '100';
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > 100) found.push(`limit ${limit}`);
  const seesWorkspaces = groupBy.includes('workspace') || parameters.has('workspace');
  if (role === 'member' && seesWorkspaces) found.push('workspace without being admin');
  return found;
}

describe('the request of every query of every planned window', () => {
  test('is valid', () => {
    const anyName = fc.string({ unit: anyCharacter, minLength: 1 });
    fc.assert(
      fc.property(anyInput, anyName, anyName, (input, type, dimension) => {
        for (const { window } of planWindows(input)) {
          const queries: [Query, 'admin' | 'member'][] = [
            [detailQuery(window), 'member'],
            [controlQuery(window, 'member'), 'member'],
            [controlQuery(window, 'admin'), 'admin'],
            [residualQuery(window, type), 'admin'],
            [repairQuery(window, dimension, 'member'), 'member'],
            [repairQuery(window, dimension, 'admin'), 'admin'],
          ];
          for (const [query, role] of queries) {
            const path = requestPath(operations.metrics, queryParameters('acc one/ü', query));
            expect(violations(path, role)).toEqual([]);
            const sent = new URL(path, 'http://localhost').searchParams;
            expect(sent.get('resourceType')).toBe(query.resourceType ?? null);
            expect(sent.get('billingDimension')).toBe(query.billingDimension ?? null);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
