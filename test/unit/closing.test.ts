import { describe, expect, test } from 'vitest';
import { type CloseQuestion, closeObstacles, firstCloseWarning } from '../../src/closing/billed/close.ts';
import {
  billedCost,
  invoiceDifference,
  invoiceWarning,
  invoiceWords,
  sameInvoiceWarning,
} from '../../src/closing/billed/invoice.ts';
import { resolveAsOfAmong } from '../../src/reports/questions/as-of.ts';
import { dayMs, parseInstant, parseMonth } from '../../src/time/time.ts';
import type { ClosedMonth } from '../../src/warehouse/ledger/closes.ts';

function at(text: string): number {
  return parseInstant(text, 'at', 0);
}

function closed(month: string, closedAt: string): ClosedMonth {
  return { month: at(month), closedAt: at(closedAt), runNumber: 1, rate: undefined, accounts: [] };
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
    hasEnded: false,
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
  lagHours: 2,
  now: at('2026-10-08'),
};

describe('firstCloseWarning(question)', () => {
  test('names the whole months of the books that the first close keeps from being closed', () => {
    const first = { ...question, closed: [] };
    const warning = firstCloseWarning(first);
    expect(warning).toContain('2026-01 to 2026-08 are in the books and not closed');
    expect(warning).toContain('"costbook reopen 2026-09 --reason correction", then "costbook close 2026-01"');
    const within = { ...sound, completeness: { ...sound.completeness, historyStart: at('2026-08-10') } };
    expect(firstCloseWarning({ ...first, accounts: [within] })).toBeUndefined();
  });

  test('is silent for later closes, and for the first month of the books', () => {
    expect(firstCloseWarning(question)).toBeUndefined();
    expect(firstCloseWarning({ ...question, closed: [], month: parseMonth('2026-01', 'month') })).toBeUndefined();
  });
});

describe('closeObstacles(question)', () => {
  test('has no obstacle for the next month if it is complete, proven and settled', () => {
    expect(closeObstacles(question)).toEqual([]);
    expect(closeObstacles({ ...question, closed: [] })).toEqual([]);
  });

  test('requires that months are closed in order, without gaps', () => {
    expect(closeObstacles({ ...question, closed: [july] })).toEqual([
      '2026-08 is not closed: close the older month first',
    ]);
    expect(closeObstacles({ ...question, closed: [closed('2026-10', '2026-11-05')] })).toEqual([
      expect.stringContaining(
        'the first closed month is 2026-10, and a month before it can only be closed while no later one is: run ' +
          '"costbook reopen 2026-10 --reason correction", then "costbook close 2026-09", then "costbook close 2026-10"',
      ),
    ]);
  });

  test('says from when an ingest makes the month complete: hours count some time after their end', () => {
    const month = parseMonth('2026-10', 'month');
    const early = { ...question, month, closed: [july, august, closed('2026-09', '2026-10-06')], closeAfterDays: 0 };
    const at0030 = { ...early, now: at('2026-11-01T00:30:00Z') };
    expect(closeObstacles(at0030)).toEqual([
      expect.stringContaining(
        'run "costbook ingest" at 2026-11-01T02:00:00Z or later: an hour is complete 2 hours after',
      ),
    ]);
    expect(closeObstacles({ ...at0030, lagHours: 0 })).toEqual([expect.stringMatching(/run "costbook ingest"$/)]);
    expect(closeObstacles({ ...at0030, now: at('2026-11-01T02:00:00Z') })).toEqual([
      expect.stringMatching(/run "costbook ingest"$/),
    ]);
  });

  test('refuses books without an account', () => {
    expect(closeObstacles({ ...question, accounts: [] })).toEqual([
      'no account is in the books: run "costbook ingest"',
    ]);
  });

  test('requires that hours that were fetched too soon after their end are fetched again', () => {
    const covered = [
      { start: at('2026-01'), end: at('2026-09-28'), claimedEnd: at('2026-09-28'), seenAt: at('2026-10-04') },
      { start: at('2026-09-28'), end: at('2026-10-04'), claimedEnd: at('2026-10-04'), seenAt: at('2026-10-02') },
    ];
    const young = { ...question, accounts: [{ ...sound, covered }] };
    expect(closeObstacles(young)).toEqual([
      'account acc_one: hours of 2026-09-28T00:00:00Z/2026-10-04T00:00:00Z were last fetched at 2026-10-02T00:00:00Z, less than ' +
        '3 days after their end; run "costbook ingest", which fetches them again',
    ]);
    expect(closeObstacles({ ...young, closeAfterDays: 1 })).toEqual([]);
    expect(closeObstacles({ ...young, settleDays: 1 })).toEqual([]);
  });

  test.each([
    ['is not in the books', { completeness: undefined }, 'it has no complete hour yet'],
    [
      'starts within the month',
      { completeness: { ...sound.completeness, historyStart: at('2026-09-16') } },
      'its books start at 2026-09-16T00:00:00Z, within the month',
    ],
    [
      'is not complete through the settling time of the month',
      { completeness: { ...sound.completeness, completeThrough: at('2026-10-04') - 1 } },
      'expected 2026-10-04T00:00:00Z, the end of the month plus 3 days (closeAfterDays); run "costbook ingest"',
    ],
    [
      'has unproven hours in the month',
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
      '2026-09-30T00:00:00Z/2026-10-03T00:00:00Z is unproven (rows); run "costbook ingest", which fetches it again',
    ],
    [
      'has not matched the platform’s total since the month changed',
      { isTotalDue: true },
      'account acc_one: 2026-09 does not match the platform\'s own total, or was not compared since the month changed; run "costbook ingest"',
    ],
    [
      'has a total that contradicts its hours, which is reported once',
      {
        isTotalDue: true,
        unproven: [
          { window: parseMonth('2026-09', 'month'), reason: 'theirs 39.0', costDifference: undefined, isYoung: false },
        ],
      },
      '2026-09-01T00:00:00Z/2026-10-01T00:00:00Z is unproven (theirs 39.0)',
    ],
    [
      'is no longer configured and has hours that differ, which only its return can fetch again',
      {
        isConfigured: false,
        unproven: [
          { window: parseMonth('2026-09', 'month'), reason: 'rows', costDifference: undefined, isYoung: false },
        ],
      },
      'is unproven (rows); put it back into costbook.yaml and run "costbook ingest", which fetches it again',
    ],
  ])('reports an account that %s', (_, different, words) => {
    expect(closeObstacles({ ...question, accounts: [{ ...sound, ...different }] })).toEqual([
      expect.stringContaining(words),
    ]);
  });

  test.each([
    [
      'starts after the month',
      { completeness: { ...sound.completeness, historyStart: at('2026-10') }, isTotalDue: true },
    ],
    ['is no longer configured', { isConfigured: false, completeness: undefined, isTotalDue: true }],
    [
      'has unproven hours outside the month',
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
  ])('accepts an account that %s', (_, different) => {
    expect(closeObstacles({ ...question, accounts: [sound, { ...sound, ...different }] })).toEqual([]);
  });

  test('refuses a month that ends before the books of every account start', () => {
    const later = { ...sound, completeness: { ...sound.completeness, historyStart: at('2026-10') } };
    expect(closeObstacles({ ...question, accounts: [later, later] })).toEqual([
      expect.stringMatching(/^the books start at 2026-10-01T00:00:00Z, .*: close 2026-10 or a later month/),
    ]);
  });

  test('reports a check that finds rows', () => {
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
      'check x: found 2 rows, expected none; "costbook check" shows them, and sql/checks/x.sql defines the check',
    ]);
  });
});

describe('resolveAsOfAmong(closed, asked, periods)', () => {
  const months = (...names: string[]) => names.map((name) => parseMonth(name, 'month'));

  test('gives the close of a closed month, and the last close of several', () => {
    expect(resolveAsOfAmong([july, august], undefined, months('2026-07'))).toBe(july.closedAt);
    expect(resolveAsOfAmong([july, august], undefined, months('2026-08', '2026-07'))).toBe(august.closedAt);
    expect(resolveAsOfAmong([july], undefined, [{ start: at('2026-07-01'), end: at('2026-08-01') }])).toBe(
      july.closedAt,
    );
  });

  test('gives the close of a closed month that is compared with an earlier one that is not closed', () => {
    expect(resolveAsOfAmong([july], undefined, months('2026-07', '2026-06'))).toBe(july.closedAt);
    expect(resolveAsOfAmong([july], undefined, months('2026-07', '2026-08'))).toBeUndefined();
  });

  test('gives the present for every other report', () => {
    expect(resolveAsOfAmong([july, august], undefined, months('2026-09'))).toBeUndefined();
    expect(resolveAsOfAmong([july, august], undefined, months('2026-09', '2026-08'))).toBeUndefined();
    expect(resolveAsOfAmong([july], undefined, [{ start: at('2026-07-01'), end: at('2026-07-15') }])).toBeUndefined();
    expect(resolveAsOfAmong([july], undefined, [])).toBeUndefined();
  });

  test('gives the requested instant, also the present of a closed month', () => {
    expect(resolveAsOfAmong([july], at('2026-08-01'), months('2026-07'))).toBe(at('2026-08-01'));
    expect(resolveAsOfAmong([july], 'now', months('2026-07'))).toBeUndefined();
  });
});

describe('the invoice of a close', () => {
  const october = at('2026-10');
  const close = (invoiced: string | undefined, correctionCost = '85.530000000000') => ({
    account: 'acc_one',
    ...{ rowCount: 2, cost: '2578.020000000000', corrections: 1, correctionCost, invoiced },
  });

  test('is what the month bills; without one, the month bills its own cost and the corrections', () => {
    expect(billedCost(close(undefined))).toBe('2663.550000000000');
    expect(invoiceDifference(close(undefined))).toBeUndefined();
    expect(billedCost(close('2700'))).toBe('2700.000000000000');
    expect(invoiceDifference(close('2700'))).toBe('36.450000000000');
    expect(invoiceDifference(close('2663.54'))).toBe('-0.010000000000');
  });

  test.each([
    ['2663.55', 'matches the books: 2,578.02 USD of the month itself and 85.53 USD of corrections'],
    ['2700', '2,700.00 USD, is 36.45 USD more than the books'],
    ['2578.02', '2,578.02 USD, is 85.53 USD less than the books'],
  ])('of %s USD is compared with own cost and corrections', (invoiced, words) => {
    expect(invoiceWords(close(invoiced))).toContain(words);
  });

  test.each([
    ['2578.02', '85.53', true],
    ['2578.07', '85.53', true],
    ['2578.02', '-85.53', true],
    ['2663.55', '85.53', false],
    ['2700', '85.53', false],
    ['2578.02', '0', false],
    [undefined, '85.53', false],
  ])('of %s USD with corrections of %s USD warns that it may lack them: %s', (invoiced, corrections, warns) => {
    const warning = invoiceWarning(october, close(invoiced, corrections));
    expect(warning !== undefined).toBe(warns);
    if (warns) expect(warning).toContain('"costbook reopen 2026-10 --reason correction"');
  });

  test.each([
    ['2600', '85.53', '2600', /had 85\.53 USD more for it\. If an earlier month bills this now, it is billed twice/],
    ['2600', '-85.53', '2600', /had 85\.53 USD less for it\. If no other month bills this, it is not billed/],
    ['2600', '0', '2600', undefined],
    ['2600', '85.53', '2514.47', undefined],
  ])(
    'of %s USD at the last close, with corrections of %s USD, and of %s USD now',
    (before, corrections, now, words) => {
      const last = { account: 'acc_one', invoiced: before, cost: '2578.02', correctionCost: corrections };
      const warning = sameInvoiceWarning(october, close(now, '0'), [last]);
      expect(warning === undefined).toBe(words === undefined);
      if (words !== undefined) expect(warning).toMatch(words);
    },
  );
});
