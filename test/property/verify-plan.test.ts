import { describe, expect, test } from 'vitest';
import {
  daysQueries,
  monthsQueries,
  seriesQueries,
  seriesWindows,
  settledDays,
  wholeMonths,
  windowsOfTonight,
} from '../../src/fetch/plan/plan-verification.ts';
import { addCalendarMonths, dayMs, hourMs, type Window } from '../../src/time/time.ts';
import type { SeriesLife, SeriesVerified } from '../../src/warehouse/page.ts';
import fc from '../support/fast-check.ts';

const first = Date.UTC(2025, 9, 1);

function daysOf({ start, end }: Window): number[] {
  return Array.from({ length: Math.round((end - start) / dayMs) }, (_, index) => start + index * dayMs);
}

/** Series with a first and a last day within 400 days, as the books count them. */
const someSeries = fc.array(
  fc.record({
    dimension: fc.constantFrom('a', 'b', 'c'),
    from: fc.nat({ max: 399 }),
    days: fc.nat({ max: 399 }),
  }),
  { minLength: 1, maxLength: 400 },
);

function livesOf(series: readonly { dimension: string; from: number; days: number }[]): SeriesLife[] {
  return series.flatMap(({ dimension, from, days }) => [
    { billingDimension: dimension, day: first + from * dayMs, began: 1, ended: 0, hasRowsWithoutUuid: true },
    {
      billingDimension: dimension,
      day: first + Math.min(399, from + days) * dayMs,
      began: 0,
      ended: 1,
      hasRowsWithoutUuid: true,
    },
  ]);
}

const past = { start: first, end: first + 400 * dayMs };

describe('the windows of the past', () => {
  test('contain every day of every series once, for any series and pages', () => {
    fc.assert(
      fc.property(someSeries, fc.integer({ min: 1, max: 3 }), (series, maxPages) => {
        const seriesParts = seriesWindows('series', past, livesOf(series), maxPages);
        for (const { dimension, from, days } of series) {
          for (let day = from; day <= Math.min(399, from + days); day += 1) {
            const instant = first + day * dayMs;
            const holding = seriesParts.filter(
              ({ billingDimension, window }) =>
                (billingDimension === undefined || billingDimension === dimension) &&
                window.start <= instant &&
                instant < window.end,
            );
            expect(holding).toHaveLength(1);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('fit into the pages of a night, unless one day of one billing dimension does not', () => {
    fc.assert(
      fc.property(someSeries, fc.integer({ min: 1, max: 3 }), (series, maxPages) => {
        for (const { pages, window } of seriesWindows('series', past, livesOf(series), maxPages)) {
          expect(pages <= maxPages || window.end - window.start === dayMs).toBe(true);
        }
      }),
    );
  });

  test('are years of everything if that fits, one per night: the cost of a night must not grow with the past', () => {
    const lives = livesOf(Array.from({ length: 100 }, () => ({ dimension: 'a', from: 0, days: 399 })));
    const year = addCalendarMonths(past.start, 12);
    const seriesParts = seriesWindows('series', past, lives, 9);
    const everything = { question: 'series', billingDimension: undefined, resolution: 'monthly', pages: 1 };
    expect(seriesParts).toEqual([
      { ...everything, window: { start: past.start, end: year } },
      { ...everything, window: { start: year, end: past.end } },
    ]);
    expect(windowsOfTonight(seriesParts, [], 9)).toEqual(seriesParts.slice(0, 1));
  });

  test('are split into months, and into days if a month has too many series', () => {
    const shortLived = Array.from({ length: 400 }, (_, day) => ({ dimension: 'a', from: day, days: 0 }));
    const crowded = Array.from({ length: 300 }, (_, n) => ({ dimension: 'b', from: n % 30, days: 0 }));
    const seriesParts = seriesWindows('series', past, livesOf([...shortLived, ...crowded]), 1);
    const of = (dimension: string) => seriesParts.filter(({ billingDimension }) => billingDimension === dimension);
    expect(new Set(of('a').map(({ resolution }) => resolution))).toEqual(new Set(['monthly']));
    expect(of('a').length).toBeLessThan(8);
    expect(of('b')[0]).toMatchObject({ resolution: 'daily', pages: 1 });
  });

  test('are verified in turn, the one verified longest ago first', () => {
    fc.assert(
      fc.property(someSeries, fc.integer({ min: 1, max: 3 }), (series, maxPages) => {
        const seriesParts = seriesWindows('series', past, livesOf(series), maxPages);
        const verified: SeriesVerified[] = [];
        for (let night = 0; night < seriesParts.length; night += 1) {
          const tonight = windowsOfTonight(seriesParts, verified, maxPages);
          expect(tonight.length).toBeGreaterThan(0);
          verified.push(
            ...tonight.map(({ question, billingDimension, window }) => ({
              question,
              billingDimension,
              from: window.start,
              at: night,
            })),
          );
        }
        const asked = new Set(verified.map(({ billingDimension, from }) => JSON.stringify([billingDimension, from])));
        expect(asked.size).toBe(seriesParts.length);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the series by name', () => {
  const lives = (dimension: string, hasRowsWithoutUuid: boolean, count: number): SeriesLife[] => [
    { billingDimension: dimension, day: first, began: count, ended: 0, hasRowsWithoutUuid },
    { billingDimension: dimension, day: first + dayMs, began: 0, ended: count, hasRowsWithoutUuid },
  ];

  test('are fetched in one page per night if any row has no UUID', () => {
    const few = [...lives('a', false, 20), ...lives('b', true, 5)];
    const queries = seriesQueries([{ window: past, series: few, names: few }], [], 2, 'admin');
    expect(queries.map(({ purpose, groupBy }) => [purpose, groupBy[0]])).toEqual([
      ['series', 'resource_name'],
      ['names', 'workspace'],
    ]);
    const asMember = seriesQueries([{ window: past, series: few, names: few }], [], 2, 'member');
    expect(asMember.at(-1)?.groupBy[0]).toBe('resource_type');
    const allNamed = lives('a', false, 20);
    expect(seriesQueries([{ window: past, series: allNamed, names: allNamed }], [], 2, 'admin')).toHaveLength(1);
  });

  test('are limited to billing dimensions with rows without UUID if not all fit', () => {
    const many = [...lives('a', false, 90), ...lives('b', true, 50)];
    const queries = seriesQueries([{ window: past, series: many, names: many }], [], 2, 'admin');
    expect(queries.map(({ purpose, billingDimension }) => [purpose, billingDimension])).toEqual([
      ['series', undefined],
      ['names', 'b'],
    ]);
  });
});

describe('the days to verify', () => {
  const chunk = (from: number, to: number, claimed = to) => ({
    start: first + from * hourMs,
    end: first + to * hourMs,
    claimedEnd: first + claimed * hourMs,
    seenAt: first + 10_000 * hourMs,
  });

  test('are the complete and settled days in the books within verifyDays, as much of a day as is there', () => {
    const lastHour = first + 30 * dayMs + 2 * hourMs;
    const days = settledDays([chunk(5, 24 * 10), chunk(24 * 10, 24 * 12 + 7), chunk(24 * 14, 24 * 30, 24 * 29)], {
      lastHour,
      settleDays: 3,
      verifyDays: 20,
    });
    expect(days).toEqual([
      { start: first + 7 * dayMs, end: first + 12 * dayMs + 7 * hourMs },
      { start: first + 14 * dayMs, end: first + 27 * dayMs },
    ]);
  });

  test('are fetched in windows of at most 90 days, five of them for 400 days', () => {
    const windows = daysQueries([past], 'member', 12).queries.map(({ window }) => window);
    expect(windows).toHaveLength(5);
    expect(windows.every(({ start, end }) => end - start <= 90 * dayMs)).toBe(true);
    expect(windows.flatMap(daysOf).sort((a, b) => a - b)).toEqual(daysOf(past));
  });

  test('are also fetched by workspace as admin, as long as that fits on a page', () => {
    const groupedBy = (role: 'admin' | 'member', groups: number) =>
      daysQueries([past], role, groups).queries[0]?.groupBy;
    expect(groupedBy('admin', 100)).toEqual(['workspace', 'billing_dimension']);
    expect(groupedBy('admin', 101)).toEqual(['billing_dimension']);
    expect(groupedBy('member', 4)).toEqual(['billing_dimension']);
  });
});

describe('the months compared with monthly totals', () => {
  const at = (text: string) => Date.parse(`${text}Z`);

  test.each([
    ['2026-07-01T00:00:00', '2026-09-10T00:00:00', '2026-07-01T00:00:00', '2026-09-01T00:00:00'],
    ['2026-06-30T23:00:00', '2026-08-01T00:00:00', '2026-07-01T00:00:00', '2026-08-01T00:00:00'],
    ['2026-07-01T01:00:00', '2026-08-31T23:00:00', '2026-08-01T00:00:00', undefined],
    ['2026-08-01T00:00:00', '2026-08-31T23:00:00', '2026-08-01T00:00:00', undefined],
    ['2026-08-01T00:00:00', '2026-08-01T00:00:00', '2026-08-01T00:00:00', undefined],
  ])('are the whole months of %s to %s', (start, end, first, last) => {
    expect(wholeMonths({ start: at(start), end: at(end) })).toEqual(
      last === undefined ? undefined : { start: at(first), end: at(last) },
    );
  });

  test('are fetched in one query, from the first to the last, by billing dimension only', () => {
    const months = [
      { start: at('2026-03-01T00:00:00'), end: at('2026-04-01T00:00:00') },
      { start: at('2025-11-01T00:00:00'), end: at('2025-12-01T00:00:00') },
    ];
    expect(monthsQueries(months)).toEqual([
      {
        purpose: 'months',
        window: { start: at('2025-11-01T00:00:00'), end: at('2026-04-01T00:00:00') },
        resolution: 'monthly',
        groupBy: ['billing_dimension'],
      },
    ]);
    expect(monthsQueries([])).toEqual([]);
  });
});
