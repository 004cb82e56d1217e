import { expect, test } from 'vitest';
import {
  controlQuery,
  daysQueries,
  planWindows,
  type Query,
  seriesQueries,
  settledDays,
} from '../../src/fetch/plan/index.ts';
import { metricsLimits } from '../../src/platform/interface/index.ts';
import { dayMs, floorDay, floorHour } from '../../src/time/time.ts';

const now = Date.UTC(2026, 9, 6, 2, 15);
const dimensions = 7;
const workspaces = 4;

/** The requests of a steady night over one account: a night after the last one, no restatement, no month that is due. */
function requestsOf(series: number, historyDays: number): Readonly<Record<Query['purpose'], number>> {
  const lastNight = now - dayMs;
  const start = floorDay(now) - historyDays * dayMs;
  const covered = [{ start, end: floorHour(lastNight), claimedEnd: floorHour(lastNight), seenAt: lastNight }];
  const none = { from: undefined, to: undefined, refetch: false, again: [] };
  const windows = planWindows({ now, historyStart: start, settleDays: 3, covered, ...none });
  const past = { lastHour: floorHour(now), settleDays: 3 };
  const lives = Array.from({ length: dimensions }, (_, index) => ({
    billingDimension: `dimension_${index}`,
    day: start,
    began: Math.floor(series / dimensions) + (index < series % dimensions ? 1 : 0),
    ended: 0,
    hasRowsWithoutUuid: false,
  }));
  const parts = settledDays(covered, { ...past, verifyDays: 100_000 }).map((window) => {
    return { window, series: lives, names: [] };
  });
  const groups = dimensions * workspaces;
  const days = daysQueries(settledDays(covered, { ...past, verifyDays: 400 }), 'admin', groups).queries;
  const counts = new Map<Query['purpose'], number>();
  const pagesOf = (rows: number) => Math.ceil(rows / metricsLimits.maxPageSize);
  function add({ purpose }: Pick<Query, 'purpose'>, pages: number): void {
    counts.set(purpose, (counts.get(purpose) ?? 0) + pages);
  }
  for (const { window } of windows) {
    add({ purpose: 'detail' }, pagesOf(series));
    add(controlQuery(window, 'admin'), pagesOf(groups));
  }
  for (const query of days) add(query, pagesOf(groups));
  for (const query of seriesQueries(parts, [], 2, 'admin')) add(query, pagesOf(lives[0]?.began ?? 0));
  return Object.fromEntries(counts) as Readonly<Record<Query['purpose'], number>>;
}

function sumOf(requests: Readonly<Record<string, number>>): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

test('a steady night over 20,000 series takes as many requests as were measured, however long the history', () => {
  expect(sumOf(requestsOf(20_000, 21))).toBe(231);
  expect(sumOf(requestsOf(20_000, 298 * 7))).toBe(235);
});

test('a steady night over 100,000 series fetches three days, their control, daily totals, and one day of a dimension', () => {
  const requests = requestsOf(100_000, 420);
  expect(requests).toEqual({ detail: 1000, control: 1, days: 5, series: 143 });
  expect(20 * sumOf(requests)).toBe(22_980); // as docs/scale.md says
});
