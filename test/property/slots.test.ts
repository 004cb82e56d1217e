// Second tier: Drawn schedules in every time zone.

import { describe, expect, test } from 'vitest';
import { lastSlots, nextSlot, slotsBetween } from '../../src/jobs/slots.ts';
import { parseTimetable, type Timetable } from '../../src/jobs/timetable.ts';
import { dayMs, zoneOf } from '../../src/time/time.ts';
import fc from '../support/fast-check.ts';

const minuteMs = 60_000;
/** Where clocks are turned, and on which days of 2026. */
const turns: readonly (readonly [string, readonly string[]])[] = [
  ['America/New_York', ['2026-03-08', '2026-11-01']],
  ['Europe/Berlin', ['2026-03-29', '2026-10-25']],
  ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']], // by half an hour
  ['America/St_Johns', ['2026-03-08', '2026-11-01']], // half past
  ['Pacific/Chatham', ['2026-04-05', '2026-09-27']],
  ['Africa/Casablanca', ['2026-02-15', '2026-03-22']],
  ['Asia/Beirut', ['2026-03-28', '2026-03-29', '2026-10-24', '2026-10-25']], // at midnight
  ['Asia/Kathmandu', ['2026-06-01']],
  ['UTC', ['2026-06-01', '2026-02-28']],
];

const shownAtOf = new Map(turns.map(([zone]) => [zone, shownBy(zone)]));

/** What clocks show at each minute, asked of Intl minute by minute. */
function shownBy(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  });
  const known = new Map<number, string>();
  function shown(instant: number): string {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
    return `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}`;
  }
  return (instant) => {
    const text = known.get(instant) ?? shown(instant);
    known.set(instant, text);
    return text;
  };
}

function isNamed(timetable: Timetable, shown: string): boolean {
  const date = new Date(`${shown}:00Z`);
  return (
    timetable.minutes.includes(date.getUTCMinutes()) &&
    timetable.hours.includes(date.getUTCHours()) &&
    timetable.days.includes(date.getUTCDate()) &&
    timetable.months.includes(date.getUTCMonth() + 1) &&
    timetable.weekdays.includes(date.getUTCDay())
  );
}

/** The rule by looking at every minute: what the clocks pass over comes when they go on, what they show twice the first time. */
function slotsByLooking(timetable: Timetable, timeZone: string, from: number, through: number): number[] {
  const shownAt = shownAtOf.get(timeZone) ?? shownBy(timeZone);
  const isEveryHour = timetable.hours.length === 24;
  const seen = new Set<string>();
  const slots: number[] = [];
  // Two days before, so that what is shown twice is known for it.
  const begin = from - 2 * dayMs;
  let before = shownAt(begin - minuteMs);
  for (let instant = begin; instant <= through; instant += minuteMs) {
    const shown = shownAt(instant);
    let isDue = isNamed(timetable, shown) && (isEveryHour || !seen.has(shown));
    if (!isEveryHour) {
      for (let local = Date.parse(`${before}:00Z`) + minuteMs; local < Date.parse(`${shown}:00Z`); local += minuteMs) {
        const passedOver = new Date(local).toISOString().slice(0, 16);
        if (isNamed(timetable, passedOver) && !seen.has(passedOver)) isDue = true;
      }
    }
    seen.add(shown);
    before = shown;
    if (isDue && instant > from) slots.push(instant);
  }
  return slots;
}

const field = (min: number, max: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant('*') },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 20 }).map((step) => `*/${Math.min(step, max)}`) },
    { weight: 3, arbitrary: fc.integer({ min, max }).map(String) },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(fc.integer({ min, max }), { minLength: 2, maxLength: 4 }).map((list) => list.join(',')),
    },
  );
/** Half of them are due each day in the hours in which clocks are turned, where only they matter. */
const schedules = fc.oneof(
  fc
    .tuple(field(0, 59), fc.constantFrom('0', '1', '2', '3', '23', '0-3', '2,3', '*'))
    .map(([minute, hour]) => `${minute} ${hour} * * *`),
  fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(0, 6), fc.boolean())
    .map(([minute, hour, day, weekday, byDay]) => `${minute} ${hour} ${byDay ? day : '*'} * ${byDay ? '*' : weekday}`),
);
/** A zone and a day: one on which its clocks are turned, or any. */
const places = fc.constantFrom(...turns).chain(([zone, days]) =>
  fc.tuple(
    fc.constant(zone),
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...days) },
      {
        weight: 1,
        arbitrary: fc
          .integer({ min: 0, max: 900 })
          .map((day) => new Date(Date.UTC(2025, 0, 1) + day * dayMs).toISOString().slice(0, 10)),
      },
    ),
  ),
);

describe('slots', () => {
  test('equal those found by checking every minute', { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(schedules, places, fc.integer({ min: 0, max: 1439 }), (text, [name, day], minute) => {
        const timetable = parseTimetable(text);
        const from = Date.parse(`${day}T00:00:00Z`) - dayMs + minute * minuteMs;
        const through = from + 3 * dayMs;
        const expected = slotsByLooking(timetable, name, from, through);
        const zone = zoneOf(name);
        expect([...slotsBetween(timetable, zone, from, through)]).toEqual(expected);
        const limit = 1 + (minute % 5);
        expect(lastSlots(timetable, zone, { after: from, through, limit })).toEqual({
          slots: expected.slice(-limit),
          isCut: expected.length > limit,
        });
        if (expected[0] !== undefined) expect(nextSlot(timetable, zone, from)).toBe(expected[0]);
      }),
      { numRuns: 250 },
    );
  });

  test('of two adjacent windows equal those of both together', () => {
    fc.assert(
      fc.property(schedules, places, fc.integer({ min: 0, max: 4000 }), (text, [name, day], minute) => {
        const [timetable, zone] = [parseTimetable(text), zoneOf(name)];
        const from = Date.parse(`${day}T00:00:00Z`) - dayMs;
        const middle = from + minute * minuteMs + 30_000;
        const through = from + 4 * dayMs;
        expect([
          ...slotsBetween(timetable, zone, from, middle),
          ...slotsBetween(timetable, zone, middle, through),
        ]).toEqual([...slotsBetween(timetable, zone, from, through)]);
      }),
      { numRuns: 200 },
    );
  });
});
