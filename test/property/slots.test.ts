import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lastSlots, nextSlot, parseTimetable, slotsBetween, type Timetable } from '../../src/jobs/index.ts';
import { dayMs, zoneOf } from '../../src/time.ts';

const minuteMs = 60_000;
const zones = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe', // turned by half an hour
  'America/St_Johns', // half past
  'Asia/Kathmandu',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'America/Asuncion', // turned at midnight
  'Asia/Beirut', // turned at midnight, in spring 23:59 is followed by 01:00
];

/** What clocks show at each minute, asked of Intl minute by minute. */
function shownBy(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  });
  return (instant) => {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
    return `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}`;
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
  const shownAt = shownBy(timeZone);
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
const schedules = fc
  .tuple(
    field(0, 59),
    fc.oneof(field(0, 23), fc.constantFrom('0', '1', '2', '3', '0-3')),
    field(1, 28),
    field(0, 6),
    fc.boolean(),
  )
  .map(([minute, hour, day, weekday, byDay]) => `${minute} ${hour} ${byDay ? day : '*'} * ${byDay ? '*' : weekday}`);
/** Days around which clocks are turned in one of the zones, and any days. */
const days = fc.oneof(
  fc.constantFrom(
    '2026-03-08',
    '2026-11-01',
    '2026-03-29',
    '2026-10-25',
    '2026-04-05',
    '2026-10-04',
    '2026-02-15',
    '2026-03-22',
  ),
  fc
    .integer({ min: 0, max: 900 })
    .map((day) => new Date(Date.UTC(2025, 0, 1) + day * dayMs).toISOString().slice(0, 10)),
);

describe('slots', () => {
  test('are those that looking at every minute finds', { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(
        schedules,
        fc.constantFrom(...zones),
        days,
        fc.integer({ min: 0, max: 1439 }),
        (text, name, day, minute) => {
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
        },
      ),
      { numRuns: 150 },
    );
  });

  test('of two stretches are those of both together', () => {
    fc.assert(
      fc.property(
        schedules,
        fc.constantFrom(...zones),
        days,
        fc.integer({ min: 0, max: 4000 }),
        (text, name, day, minute) => {
          const [timetable, zone] = [parseTimetable(text), zoneOf(name)];
          const from = Date.parse(`${day}T00:00:00Z`) - dayMs;
          const middle = from + minute * minuteMs + 30_000;
          const through = from + 4 * dayMs;
          expect([
            ...slotsBetween(timetable, zone, from, middle),
            ...slotsBetween(timetable, zone, middle, through),
          ]).toEqual([...slotsBetween(timetable, zone, from, through)]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
