import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import {
  addCalendarMonths,
  type CalendarPeriod,
  calendarOf,
  dayMs,
  floorDay,
  floorHour,
  floorMonth,
  formatInstant,
  formatMonth,
  formatWindow,
  hourMs,
  hoursIn,
  intersectWindows,
  isFiscal,
  parseDuration,
  parseInstant,
  parseMonth,
  parseRfc3339,
  periodKinds,
  subtractWindows,
  unionWindows,
  type Window,
} from '../../src/time/time.ts';
import fc from '../support/fast-check.ts';

const now = Date.UTC(2026, 9, 21, 3, 30);

test('these tests run in a zone that is not UTC and has daylight saving time', () => {
  expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe(210);
  expect(new Date(2026, 6, 1).getTimezoneOffset()).toBe(150);
});

describe('instants as text', () => {
  test('whole seconds carry no milliseconds, others do', () => {
    expect(formatInstant(Date.UTC(2026, 9, 1))).toBe('2026-10-01T00:00:00Z');
    expect(formatInstant(Date.UTC(2026, 9, 1, 0, 0, 0, 250))).toBe('2026-10-01T00:00:00.250Z');
  });

  test('a window is written as an ISO 8601 interval', () => {
    expect(formatWindow({ start: Date.UTC(2026, 9, 1), end: Date.UTC(2026, 9, 8) })).toBe(
      '2026-10-01T00:00:00Z/2026-10-08T00:00:00Z',
    );
  });

  test('the month of an instant is its UTC month, even if the local one differs', () => {
    expect(formatMonth(Date.UTC(2026, 9, 1, 1))).toBe('2026-10');
    expect(formatMonth(Date.UTC(2026, 9, 1) - 1)).toBe('2026-09');
  });
});

describe('parseInstant', () => {
  test.each([
    ['2026-10-01', Date.UTC(2026, 9, 1)],
    ['2026-10', Date.UTC(2026, 9, 1)],
    ['2026-01', Date.UTC(2026, 0, 1)],
    ['2026-10-01T05:00:00Z', Date.UTC(2026, 9, 1, 5)],
    ['2026-10-01t05:00:00z', Date.UTC(2026, 9, 1, 5)],
    ['2026-10-01 05:00:00Z', Date.UTC(2026, 9, 1, 5)],
    ['2026-10-01T05:00:00.5Z', Date.UTC(2026, 9, 1, 5, 0, 0, 500)],
    ['2026-10-01T05:00:00.123999999Z', Date.UTC(2026, 9, 1, 5, 0, 0, 123)],
    ['2026-10-01T05:00:00+00:00', Date.UTC(2026, 9, 1, 5)],
    ['2026-10-01T05:00:00-00:00', Date.UTC(2026, 9, 1, 5)],
    ['2026-10-01T05:00:00-02:30', Date.UTC(2026, 9, 1, 7, 30)],
    ['2026-10-01T01:00:00+02:00', Date.UTC(2026, 8, 30, 23)],
    ['2028-02-29', Date.UTC(2028, 1, 29)],
    ['2026-10-20T03:00Z', Date.UTC(2026, 9, 20, 3)],
    ['2026-10-20T03:00+02:00', Date.UTC(2026, 9, 20, 1)],
    ['-7d', Date.UTC(2026, 9, 14)],
    ['-0d', Date.UTC(2026, 9, 21)],
    ['-365d', Date.UTC(2025, 9, 21)],
    // The clocks in the tests' own zone change on 2026-03-08 and 2026-11-01.
    ['2026-03-08', Date.UTC(2026, 2, 8)],
    ['2026-11-01T02:30:00Z', Date.UTC(2026, 10, 1, 2, 30)],
  ])('reads %s', (text, instant) => {
    expect(parseInstant(text, '--from', now)).toBe(instant);
  });

  test.each([
    '2026-02-30',
    '2027-02-29',
    '2026-13',
    '2026-00',
    '2026-10-00',
    '2026-10-32',
    '2026-1-1',
    '26-10-01',
    '2026',
    '2026-10-01T05:00:00',
    '2026-10-01T25:00:00Z',
    '2026-10-01T05:60:00Z',
    '2026-10-01T05:00:60Z',
    '2026-10-01T05:00:00+24:00',
    '2026-02-30T05:00:00Z',
    '2026-10-01T05:00:00.Z',
    '01.10.2026',
    '10/01/2026',
    'yesterday',
    '7d',
    '-d',
    '-1.5d',
    '--7d',
    '-123456d',
    ' 2026-10-01',
    '2026-10-01\n',
    '',
  ])('refuses %j with a sentence that says what is expected', (text) => {
    const act = () => parseInstant(text, '--from', now);
    expect(act).toThrow(UsageError);
    expect(act).toThrow(
      new UsageError(
        `--from: "${text}" is not a date; expected 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`,
      ),
    );
  });

  test('refuses hour 24, because RFC 3339 ends at 23', () => {
    expect(() => parseInstant('2026-10-01T24:00:00Z', '--from', now)).toThrow(UsageError);
  });
});

describe('parseRfc3339', () => {
  test('reads back everything that formatInstant writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) }), (instant) => {
        expect(parseRfc3339(formatInstant(instant))).toBe(instant);
      }),
    );
  });

  test('refuses a text without an offset', () => {
    expect(parseRfc3339('2026-10-01T00:00:00')).toBeUndefined();
    expect(parseRfc3339('2026-10-01')).toBeUndefined();
  });

  test.each(['9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00+01:00', '0000-06-01T00:00:00Z'])(
    'refuses %s, whose year in UTC the books cannot store',
    (text) => {
      expect(parseRfc3339(text)).toBeUndefined();
    },
  );
});

describe('parseDuration', () => {
  test.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['26h', 26 * hourMs],
    [' 2d ', 2 * dayMs],
    ['0s', 0],
  ])('accepts "%s"', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '10', 'm', '1.5h', '-1m', '10 minutes', '10M', '1h30m', '123456s'])('refuses "%s"', (text) => {
    expect(parseDuration(text)).toBe(undefined);
  });
});

describe('parseMonth', () => {
  test.each([
    ['2026-10', Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 1)],
    ['2026-12', Date.UTC(2026, 11, 1), Date.UTC(2027, 0, 1)],
    ['2028-02', Date.UTC(2028, 1, 1), Date.UTC(2028, 2, 1)],
    ['2026-03', Date.UTC(2026, 2, 1), Date.UTC(2026, 3, 1)],
    ['2026-11', Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)],
  ])('%s is a UTC month, also if local clocks change in it', (text, start, end) => {
    expect(parseMonth(text, '--month')).toEqual({ start, end });
  });

  test.each(['2026-13', '2026-00', '2026-1', '2026-10-01', 'October', ''])('%j is refused', (text) => {
    expect(() => parseMonth(text, '--month')).toThrow(
      new UsageError(`--month: "${text}" is not a month; expected a month such as 2026-10`),
    );
  });
});

describe('calendar arithmetic', () => {
  test('months have their own lengths, independent of local clocks', () => {
    const months = Array.from({ length: 13 }, (_, index) => addCalendarMonths(Date.UTC(2026, 0, 1), index));
    expect(months.map(formatInstant)).toEqual([
      ...Array.from({ length: 12 }, (_, index) => `2026-${String(index + 1).padStart(2, '0')}-01T00:00:00Z`),
      '2027-01-01T00:00:00Z',
    ]);
  });

  test('a month after the 31st is the last day of the shorter month', () => {
    expect(formatInstant(addCalendarMonths(Date.UTC(2026, 0, 31), 1))).toBe('2026-02-28T00:00:00Z');
    expect(formatInstant(addCalendarMonths(Date.UTC(2026, 2, 31), -1))).toBe('2026-02-28T00:00:00Z');
  });

  test('hours, days and months start in UTC', () => {
    const instant = Date.UTC(2026, 10, 1, 1, 59, 59, 999);
    expect(formatInstant(floorHour(instant))).toBe('2026-11-01T01:00:00Z');
    expect(formatInstant(floorDay(instant))).toBe('2026-11-01T00:00:00Z');
    expect(formatInstant(floorMonth(instant))).toBe('2026-11-01T00:00:00Z');
  });

  test('before 1970, hours and days start at the earlier boundary', () => {
    expect(formatInstant(floorHour(-1))).toBe('1969-12-31T23:00:00Z');
    expect(formatInstant(floorDay(-1))).toBe('1969-12-31T00:00:00Z');
    expect(formatInstant(floorMonth(-1))).toBe('1969-12-01T00:00:00Z');
  });

  test('a day on which local clocks change has 24 hours', () => {
    expect(hoursIn({ start: Date.UTC(2026, 2, 8), end: Date.UTC(2026, 2, 9) })).toBe(24);
    expect(dayMs).toBe(24 * hourMs);
  });
});

describe('windows as sets of instants', () => {
  const anyWindow = fc
    .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 }))
    .map(([start, end]): Window => ({ start, end }));
  const anyWindows = fc.array(anyWindow, { maxLength: 8 });

  /** The instants in some windows, one by one. */
  function members(windows: readonly Window[]): number[] {
    return Array.from({ length: 31 }, (_, instant) => instant).filter((instant) =>
      windows.some(({ start, end }) => start <= instant && instant < end),
    );
  }
  function expectSortedAndApart(windows: readonly Window[]): void {
    for (const [index, window] of windows.entries()) {
      expect(window.start).toBeLessThan(window.end);
      const before = windows[index - 1];
      if (before !== undefined) expect(before.end).toBeLessThan(window.start);
    }
  }

  test('a union contains what any of its windows contains, in windows that do not touch', () => {
    fc.assert(
      fc.property(anyWindows, (windows) => {
        const union = unionWindows(windows);
        expectSortedAndApart(union);
        expect(members(union)).toEqual(members(windows));
      }),
    );
  });

  test('windows that touch become one', () => {
    expect(
      unionWindows([
        { start: 5, end: 9 },
        { start: 1, end: 5 },
      ]),
    ).toEqual([{ start: 1, end: 9 }]);
  });

  test('a difference contains exactly what is in the first and not in the second', () => {
    fc.assert(
      fc.property(anyWindows, anyWindows, (windows, others) => {
        const rest = subtractWindows(windows, others);
        expectSortedAndApart(rest);
        const taken = new Set(members(others));
        expect(members(rest)).toEqual(members(windows).filter((instant) => !taken.has(instant)));
      }),
    );
  });

  test('an intersection contains exactly what is in both windows, and is undefined if that is nothing', () => {
    fc.assert(
      fc.property(anyWindow, anyWindow, (a, b) => {
        const both = intersectWindows(a, b);
        const inB = new Set(members([b]));
        expect(members(both === undefined ? [] : [both])).toEqual(members([a]).filter((instant) => inB.has(instant)));
        if (both !== undefined) expect(both.start).toBeLessThan(both.end);
      }),
    );
  });

  test('the removed and remaining parts are disjoint, and together are the original', () => {
    fc.assert(
      fc.property(anyWindows, anyWindows, (windows, others) => {
        const left = subtractWindows(windows, others);
        const taken = unionWindows(windows).flatMap((window) =>
          unionWindows(others).flatMap((other) => intersectWindows(window, other) ?? []),
        );
        for (const a of left) for (const b of taken) expect(intersectWindows(a, b)).toBeUndefined();
        expect(unionWindows([...left, ...taken])).toEqual(unionWindows(windows));
      }),
    );
  });

  test('the input windows are not changed', () => {
    const windows = [
      { start: 5, end: 9 },
      { start: 1, end: 6 },
    ];
    unionWindows(windows);
    subtractWindows(windows, [{ start: 2, end: 3 }]);
    expect(windows).toEqual([
      { start: 5, end: 9 },
      { start: 1, end: 6 },
    ]);
  });
});

describe('calendarOf', () => {
  function told(period: CalendarPeriod | undefined): string {
    return period === undefined ? 'none' : `${period.name} ${formatWindow(period)}`;
  }

  test.each([
    ['daily', 'UTC', '2026-11-01T23:59:59Z', '2026-11-01 2026-11-01T00:00:00Z/2026-11-02T00:00:00Z'],
    ['weekly', 'UTC', '2026-11-01T12:00:00Z', '2026-W44 2026-10-26T00:00:00Z/2026-11-02T00:00:00Z'],
    ['weekly', 'UTC', '2027-01-03T00:00:00Z', '2026-W53 2026-12-28T00:00:00Z/2027-01-04T00:00:00Z'],
    ['weekly', 'UTC', '2024-12-30T00:00:00Z', '2025-W01 2024-12-30T00:00:00Z/2025-01-06T00:00:00Z'],
    ['monthly', 'UTC', '2026-11-01T00:00:00Z', '2026-11 2026-11-01T00:00:00Z/2026-12-01T00:00:00Z'],
    ['quarterly', 'UTC', '2026-12-31T23:00:00Z', '2026-Q4 2026-10-01T00:00:00Z/2027-01-01T00:00:00Z'],
    ['yearly', 'UTC', '2026-01-01T00:00:00Z', '2026 2026-01-01T00:00:00Z/2027-01-01T00:00:00Z'],
    // Its clocks go back in the month, so that it has an hour more.
    ['monthly', 'Europe/Berlin', '2026-09-30T22:00:00Z', '2026-10 2026-09-30T22:00:00Z/2026-10-31T23:00:00Z'],
    ['monthly', 'Europe/Berlin', '2026-09-30T21:00:00Z', '2026-09 2026-08-31T22:00:00Z/2026-09-30T22:00:00Z'],
    ['daily', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-25 2026-10-24T22:00:00Z/2026-10-25T23:00:00Z'],
    ['daily', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-29 2026-03-28T23:00:00Z/2026-03-29T22:00:00Z'],
    ['weekly', 'America/New_York', '2026-11-01T12:00:00Z', '2026-W44 2026-10-26T04:00:00Z/2026-11-02T05:00:00Z'],
    ['yearly', 'Pacific/Auckland', '2026-07-01T00:00:00Z', '2026 2025-12-31T11:00:00Z/2026-12-31T11:00:00Z'],
    // Its clocks skip midnight on the last Friday of April, so that day starts at one.
    ['daily', 'Africa/Cairo', '2026-04-24T06:00:00Z', '2026-04-24 2026-04-23T22:00:00Z/2026-04-24T21:00:00Z'],
    // Its clocks show midnight twice on the first Sunday of November; the day starts at the first one.
    ['daily', 'America/Havana', '2026-11-01T12:00:00Z', '2026-11-01 2026-11-01T04:00:00Z/2026-11-02T05:00:00Z'],
  ] as const)('the %s period in %s at %s is %s', (kind, zone, instant, expected) => {
    const calendar = calendarOf(kind, zone);
    const period = calendar.periodAt(Date.parse(instant));
    expect(told(period)).toBe(expected);
    expect(calendar.periodNamed(period.name)).toEqual(period);
  });

  test('every instant is in exactly one period, and periods follow each other, in every zone', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Africa/Cairo', 'America/Havana', 'Asia/Tokyo'];
    fc.assert(
      fc.property(
        fc.constantFrom(...periodKinds.filter((kind) => !isFiscal(kind))),
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2035, 0, 1) }),
        (kind, zone, instant) => {
          const calendar = calendarOf(kind, zone);
          const period = calendar.periodAt(instant);
          expect(period.start <= instant && instant < period.end).toBe(true);
          expect(calendar.periodAt(period.start)).toEqual(period);
          expect(calendar.periodAt(period.end - 1)).toEqual(period);
          expect(calendar.periodAt(period.end).start).toBe(period.end);
          expect(calendar.periodNamed(period.name)).toEqual(period);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    ['daily', '2026-02-30'],
    ['daily', '2026-10'],
    ['weekly', '2026-W54'],
    ['weekly', '2025-W53'],
    ['weekly', '2026-W00'],
    ['monthly', '2026-13'],
    ['monthly', '2026-1'],
    ['quarterly', '2026-Q5'],
    ['yearly', '26'],
    ['yearly', '0026'],
    ['yearly', 'next'],
  ] as const)('no %s period is named %s', (kind, name) => {
    expect(calendarOf(kind).periodNamed(name)).toBeUndefined();
  });

  test('a zone that puts a boundary between two hours is refused with the reason', () => {
    const act = () => calendarOf('monthly', 'Asia/Kolkata').periodAt(Date.UTC(2026, 9, 5));
    expect(act).toThrow(UsageError);
    expect(act).toThrow('2026-10 in Asia/Kolkata starts at 2026-09-30T18:30:00Z, which is not a whole hour of UTC');
  });

  test('such a zone is accepted while it differs by whole hours', () => {
    expect(told(calendarOf('monthly', 'Australia/Lord_Howe').periodAt(Date.UTC(2026, 11, 5)))).toBe(
      '2026-12 2026-11-30T13:00:00Z/2026-12-31T13:00:00Z',
    );
    expect(() => calendarOf('monthly', 'Australia/Lord_Howe').periodAt(Date.UTC(2026, 6, 5))).toThrow(
      '2026-06-30T13:30:00Z',
    );
  });

  test.each([
    ['Europe/Berln', 'did you mean Europe/Berlin?'],
    ['+01:00', 'expected a time zone such as UTC or Europe/Berlin'],
    ['', 'expected a time zone'],
  ])('%j is refused as a time zone', (zone, words) => {
    expect(() => calendarOf('daily', zone)).toThrow(words);
  });
});
