import { expect, test } from 'vitest';
import { act } from '../../src/base/next-step.ts';
import { type ProblemsAsked, problemsOf } from '../../src/health/problems.ts';

const account = { account: 'acc_one', isConfigured: true, isTooOld: false, unproven: [], usualDaily: undefined };
const healthy = {
  ...{ now: Date.UTC(2026, 9, 5), freshnessHours: 30, accounts: [account], files: [], unstored: [], unended: null },
  ...{ failedIngest: null, jobFiles: [], differing: [], lastRun: null, lastRunStep: null, earlierBooks: null },
  ...{ alerts: { list: [], waiting: [] }, futureDates: null, space: { free: 2, needed: 1 } },
  lastFetch: { command: 'ingest', fetchedAt: '2026-10-04T03:00:00Z' },
} as unknown as ProblemsAsked;

test('books without a fault have no problem', () => {
  expect(problemsOf(healthy)).toEqual([]);
});

test('books that name no account ask for an ingest', () => {
  const [only, ...others] = problemsOf({ ...healthy, accounts: [] });
  expect(others).toEqual([]);
  expect(only).toMatchObject({
    isUntrusted: true,
    isFailure: false,
    next: { who: 'Act', words: 'run "costbook ingest".' },
  });
});

test('a month that differs from its close is the problem that its alert is about', () => {
  const differing = ['acc_one', 'acc_two'].map((one) => ({
    ...{ account: one, month: '2026-09', found: '2026-09 differs', next: act('close it again.') },
  }));
  const keys = ['closed_month/acc_one/2026-09', 'closed_month/acc_two/2026-09'];
  expect(problemsOf({ ...healthy, differing }).map(({ key }) => key)).toEqual(keys);
});
