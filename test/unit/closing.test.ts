import { describe, expect, test } from 'vitest';
import { type CloseQuestion, closeObstacles } from '../../src/closing/close.ts';
import { resolveAsOfAmong } from '../../src/reports/as-of.ts';
import { dayMs, parseInstant, parseMonth } from '../../src/time.ts';
import type { ClosedMonth } from '../../src/warehouse/closes.ts';

function at(text: string): number {
  return parseInstant(text, 'at', 0);
}

function closed(month: string, closedAt: string): ClosedMonth {
  return { month: at(month), closedAt: at(closedAt), accounts: [] };
}

const july = closed('2026-07', '2026-08-05');
const august = closed('2026-08', '2026-09-05');

const sound = {
  account: 'acc_one',
  completeness: {
    account: 'acc_one',
    historyStart: at('2026-01'),
    completeThrough: at('2026-10-05'),
    settledThrough: at('2026-10-02'),
  },
  isConfigured: true,
  covered: [{ start: at('2026-01'), end: at('2026-10-05'), claimedEnd: at('2026-10-05'), seenAt: at('2026-10-08') }],
  unproven: [],
  isTotalDue: false,
};
const question: CloseQuestion = {
  month: parseMonth('2026-09', 'month'),
  closed: [july, august],
  accounts: [sound],
  checks: [],
  closeAfterDays: 3,
  settleDays: 3,
};

describe('closeObstacles(question)', () => {
  test('nothing stands in the way of the month after the last closed one that is complete, proven and settled', () => {
    expect(closeObstacles(question)).toEqual([]);
    expect(closeObstacles({ ...question, closed: [] })).toEqual([]);
  });

  test('months are closed oldest first and without gaps', () => {
    expect(closeObstacles({ ...question, closed: [july] })).toEqual([
      '2026-08 is not closed: close the older month first',
    ]);
    expect(closeObstacles({ ...question, closed: [closed('2026-10', '2026-11-05')] })).toEqual([
      expect.stringContaining(
        'the first month that was closed is 2026-10, and an older one is closed no more: 2026-11 is',
      ),
    ]);
  });

  test('books without an account cannot be closed', () => {
    expect(closeObstacles({ ...question, accounts: [] })).toEqual([
      'no account is in the books: run "costbook ingest"',
    ]);
  });

  test('hours that were read too soon after their end are to be read again', () => {
    const covered = [
      { start: at('2026-01'), end: at('2026-09-28'), claimedEnd: at('2026-09-28'), seenAt: at('2026-10-04') },
      { start: at('2026-09-28'), end: at('2026-10-04'), claimedEnd: at('2026-10-04'), seenAt: at('2026-10-02') },
    ];
    const young = { ...question, accounts: [{ ...sound, covered }] };
    expect(closeObstacles(young)).toEqual([
      'account acc_one: hours of 2026-09-28T00:00:00Z/2026-10-04T00:00:00Z were last read 2026-10-02T00:00:00Z, less than ' +
        '3 days after their end; run "costbook ingest", which reads them again',
    ]);
    expect(closeObstacles({ ...young, closeAfterDays: 1 })).toEqual([]);
    expect(closeObstacles({ ...young, settleDays: 1 })).toEqual([]);
  });

  test.each([
    ['is not in the books', { completeness: undefined }, 'nothing of it is complete yet'],
    [
      'begins within the month',
      { completeness: { ...sound.completeness, historyStart: at('2026-09-16') } },
      'its books begin 2026-09-16T00:00:00Z, within the month',
    ],
    [
      'is not complete so far that the month has settled',
      { completeness: { ...sound.completeness, completeThrough: at('2026-10-04') - 1 } },
      'expected 2026-10-04T00:00:00Z, the month\'s end and 3 days (closeAfterDays); run "costbook ingest" after that instant',
    ],
    [
      'has hours of it unproven',
      {
        unproven: [
          {
            window: { start: at('2026-09-30'), end: at('2026-10-03') },
            reason: 'rows',
            costDifference: undefined,
            isYoung: true,
          },
        ],
      },
      '2026-09-30T00:00:00Z/2026-10-03T00:00:00Z is unproven (rows); run "costbook ingest", which asks again',
    ],
    [
      'has not met the platform’s total of it since it changed',
      { isTotalDue: true },
      'account acc_one: the platform\'s own total of 2026-09 was not met, or not asked since the month changed; run "costbook ingest"',
    ],
    [
      'has a total of it that contradicts its hours, which is told once',
      {
        isTotalDue: true,
        unproven: [
          { window: parseMonth('2026-09', 'month'), reason: 'theirs 39.0', costDifference: undefined, isYoung: false },
        ],
      },
      '2026-09-01T00:00:00Z/2026-10-01T00:00:00Z is unproven (theirs 39.0)',
    ],
  ])('an account stands in the way that %s', (_, different, words) => {
    expect(closeObstacles({ ...question, accounts: [{ ...sound, ...different }] })).toEqual([
      expect.stringContaining(words),
    ]);
  });

  test.each([
    [
      'begins after the month',
      { completeness: { ...sound.completeness, historyStart: at('2026-10') }, isTotalDue: true },
    ],
    ['is configured no longer', { isConfigured: false, completeness: undefined, isTotalDue: true }],
    [
      'has hours beside it unproven',
      {
        unproven: [
          {
            window: { start: at('2026-10'), end: at('2026-10') + dayMs },
            reason: 'rows',
            costDifference: undefined,
            isYoung: false,
          },
        ],
      },
    ],
  ])('an account does not that %s', (_, different) => {
    expect(closeObstacles({ ...question, accounts: [{ ...sound, ...different }] })).toEqual([]);
  });

  test('a check that found something stands in the way, and one that cannot be run', () => {
    const check = {
      file: { name: 'x', path: 'sql/checks/x.sql', header: {}, text: '' },
      name: 'x',
      about: '',
      severity: 'fail' as const,
    };
    const result = { check, columns: [], cells: [], rows: [], error: undefined };
    const checks = [
      { ...result, offenders: 0 },
      { ...result, offenders: 2 },
    ];
    expect(closeObstacles({ ...question, checks })).toEqual([
      'check x: 2 offenders, expected none; "costbook check" shows them, and sql/checks/x.sql says what they are',
    ]);
  });
});

describe('momentAmong(closed, asked, periods)', () => {
  const months = (...names: string[]) => names.map((name) => parseMonth(name, 'month'));

  test('a report of a closed month answers as of its close, of several as of the last of them', () => {
    expect(resolveAsOfAmong([july, august], undefined, months('2026-07'))).toBe(july.closedAt);
    expect(resolveAsOfAmong([july, august], undefined, months('2026-08', '2026-07'))).toBe(august.closedAt);
    expect(resolveAsOfAmong([july], undefined, [{ start: at('2026-07-01'), end: at('2026-08-01') }])).toBe(
      july.closedAt,
    );
  });

  test('every other one answers as of now', () => {
    expect(resolveAsOfAmong([july, august], undefined, months('2026-09'))).toBeUndefined();
    expect(resolveAsOfAmong([july, august], undefined, months('2026-09', '2026-08'))).toBeUndefined();
    expect(resolveAsOfAmong([july], undefined, [{ start: at('2026-07-01'), end: at('2026-07-15') }])).toBeUndefined();
    expect(resolveAsOfAmong([july], undefined, [])).toBeUndefined();
  });

  test('what is asked for decides, also the present of a closed month', () => {
    expect(resolveAsOfAmong([july], at('2026-08-01'), months('2026-07'))).toBe(at('2026-08-01'));
    expect(resolveAsOfAmong([july], 'now', months('2026-07'))).toBeUndefined();
  });
});
