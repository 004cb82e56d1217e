import { expect, test } from 'vitest';
import { bucketsOf, detailQuery, type Query, seriesQuery } from '../../src/fetch/plan/index.ts';
import {
  daysQueries,
  monthsQueries,
  recordedSeriesQueries,
  seriesQueries,
  seriesWindows,
  wholeMonths,
} from '../../src/fetch/plan/plan-verification.ts';
import { planWindows } from '../../src/fetch/plan/plan-windows.ts';
import { narrowerQueries } from '../../src/ingest/verify-past.ts';
import { maxWindowDays } from '../../src/platform/interface/index.ts';
import { dayMs, floorDay, hourMs, intersectWindows, type Window } from '../../src/time/time.ts';
import type { ContradictedQuestion } from '../../src/warehouse/page.ts';
import fc from '../support/fast-check.ts';

const first = Date.UTC(2025, 9, 1);

/** Windows of whole hours within three years, some far longer than the platform allows. */
const someWindow = fc
  .record({
    start: fc.nat({ max: 24 * 700 }),
    hours: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 24 * 400 })),
  })
  .map(({ start, hours }): Window => ({ start: first + start * hourMs, end: first + (start + hours) * hourMs }));
const wholeDays = someWindow.map(({ start, end }) => ({ start: floorDay(start), end: floorDay(end) + dayMs }));

function expectAllowed(queries: readonly Query[]): void {
  for (const { window, resolution } of queries) {
    expect(window.end - window.start).toBeLessThanOrEqual(maxWindowDays[resolution ?? 'hourly'] * dayMs);
    // Where the buckets of a window start that begins within a day is not documented.
    if (resolution === 'daily')
      expect(window.start === floorDay(window.start) || window.end <= floorDay(window.start) + dayMs).toBe(true);
  }
}

/** Whether every hour of the windows is in a query. */
function covers(queries: readonly Query[], windows: readonly Window[]): boolean {
  const left = windows.reduce((sum, { start, end }) => sum + (end - start), 0);
  const found = windows.reduce(
    (sum, window) =>
      sum +
      queries.reduce((part, query) => {
        const both = intersectWindows(query.window, window);
        return part + (both === undefined ? 0 : both.end - both.start);
      }, 0),
    0,
  );
  return found === left;
}

test('no maker of windows asks for more days than the platform allows, and each asks for every hour once', () => {
  fc.assert(
    fc.property(
      someWindow,
      wholeDays,
      fc.constantFrom('series' as const, 'names' as const),
      (window, days, purpose) => {
        const byDay = daysQueries([window], 'admin', 10).queries;
        expectAllowed(byDay);
        expect(covers(byDay, [window])).toBe(true);

        const recorded: ContradictedQuestion[] = bucketsOf(days, 'daily').map((one) => ({
          purpose,
          unit: 'day',
          billingDimension: 'a',
          window: one,
        }));
        const again = recordedSeriesQueries(recorded, 'admin');
        expectAllowed(again);
        expect(covers(again, [days])).toBe(true);
        expectAllowed(recordedSeriesQueries([{ purpose, unit: 'day', billingDimension: 'a', window }], 'admin'));

        const months = seriesQuery(window, 'monthly', {});
        const differences = bucketsOf(window, 'monthly').map(({ start }) => ({ bucketStart: start }) as never);
        const narrower = narrowerQueries(months, differences);
        expectAllowed(narrower);
        expect(covers(narrower, [window])).toBe(true);

        const lives = [
          { billingDimension: 'a', day: floorDay(window.start), began: 101, ended: 0, hasRowsWithoutUuid: true },
          { billingDimension: 'b', day: floorDay(window.end), began: 101, ended: 0, hasRowsWithoutUuid: true },
        ];
        for (const pages of [1, 2]) {
          expectAllowed(seriesQueries([{ window, series: lives, names: lives }], [], pages, 'admin'));
          for (const part of seriesWindows('series', window, lives, pages)) {
            expect(part.window.end - part.window.start).toBeLessThanOrEqual(maxWindowDays[part.resolution] * dayMs);
          }
        }
        const whole = wholeMonths(window);
        expectAllowed(monthsQueries(whole === undefined ? [] : [whole]));

        const hourly = planWindows({
          ...{ now: window.end + hourMs, historyStart: window.start, from: undefined, to: undefined, refetch: true },
          ...{ settleDays: 3, covered: [], again: [] },
        }).map((planned) => detailQuery(planned.window));
        expectAllowed(hourly);
      },
    ),
    { numRuns: 60 },
  );
});
