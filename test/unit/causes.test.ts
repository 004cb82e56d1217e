import { describe, expect, test } from 'vitest';
import {
  DamagedFileError,
  exitCodeOf,
  PlatformError,
  RefusedAnswerError,
  UnprovenError,
  UsageError,
  wordsOf,
} from '../../src/base/errors.ts';
import { type Failure, factsOfFailures, failuresOf, unprovenWindowCode } from '../../src/base/failure.ts';
import { act, nextWords, reducedAccessStep, shrunkListingStep, waitForPlatform } from '../../src/base/next-step.ts';
import { cardOf } from '../../src/findings/card.ts';
import { causesOfRun } from '../../src/findings/causes.ts';
import { dataFacts } from '../../src/findings/held.ts';
import type { AccountState, World } from '../../src/findings/kind.ts';
import type { ClosedMonthFact } from '../../src/findings/kinds/closed-month.ts';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import { stepOf } from '../../src/findings/kinds/index.ts';
import { type LastRun, stepAfterMistakes, stepAfterRun } from '../../src/findings/kinds/run.ts';
import { wordsOf as wordsOfAlert } from '../../src/findings/open-alerts.ts';
import { transitionsOf } from '../../src/findings/transitions.ts';
import { formatInstant } from '../../src/time/time.ts';
import { monthsToClose } from '../../src/warehouse/ledger/closes.ts';
import type { KnownAlert } from '../../src/warehouse/watch/index.ts';
import { exampleFacts } from '../support/example-alerts.ts';

const dayMs = 86_400_000;
const start = Date.parse('2026-10-01T02:15:00Z');
const account: AccountState = {
  account: 'acc_one',
  isConfigured: true,
  completeThrough: '2026-10-01T00:00:00Z',
  isTooOld: false,
  clock: null,
  unproven: [],
};
const whole: World = {
  now: start,
  accounts: [account],
  freshnessHours: 26,
  completeThrough: '2026-10-01T00:00:00Z',
  checks: [],
};

/** What an evaluation finds. */
interface Night extends Partial<World> {
  readonly runs?: readonly LastRun[];
  readonly listings?: readonly unknown[];
}

function factsOf({ runs = [], listings = [], ...world }: Night, known: readonly KnownAlert[] = []) {
  return dataFacts({ run: runs, listings }, { ...whole, ...world }, known);
}

const down = failure('unreachable', 'no answer from api.example.com:443: connection refused (ECONNREFUSED)', {
  next: act('check the URL.'),
});
const denied = failure('answered_401', 'Cost API of api.example.com:443 answered 401 invalid_token', {
  next: act('replace the token in COSTBOOK_TOKEN.'),
});

function failure(code: string, found: string, others: Partial<Failure> = {}): Failure {
  return { code, subject: 'api.example.com', found, next: null, ...others };
}

function ingestFailed(failures: readonly Failure[], exitCode = 3, night = 1): readonly LastRun[] {
  return [
    {
      ...{ command: 'ingest', runNumber: night, outcome: 'failed', exitCode },
      ...factsOfFailures(failures),
      endedAt: `2026-10-0${night}T02:15:40Z`,
    },
  ];
}

function unproven(...months: readonly string[]): readonly AccountState[] {
  const windows = months.map((month) => ({
    start: `${month}-01T00:00:00Z`,
    end: `${month}-02T00:00:00Z`,
    reason: 'x',
    costDifference: null,
  }));
  return [{ ...account, unproven: windows }];
}

/** What is reported night by night, as a person reads it: the title, and what was reported before. */
function reportedIn(nights: readonly Night[]): string[][] {
  let known: KnownAlert[] = [];
  return nights.map((night, index) => {
    const now = start + index * dayMs;
    const facts = factsOf(night, known);
    const { raised, ended, entries } = transitionsOf(known, facts, { now, everybody: ['chat'] });
    const over = new Set(ended.map(({ key }) => key));
    known = known.map((alert) => (over.has(alert.key) ? { ...alert, isOpen: false } : alert));
    for (const { key, occurrence, fact, sinks, isNotified } of raised) {
      known = known.filter((alert) => alert.key !== key);
      known.push({
        key,
        occurrence,
        isOpen: true,
        isNotified,
        raisedAt: now,
        fact,
        sinks: [...sinks],
        acknowledgedUntil: undefined,
      });
    }
    return entries.map(({ entry }) => `${entry.key}: ${cardOf(entry).title}`);
  });
}

describe('an open alert', () => {
  test('is reported once more when its run fails for another reason, and not when the first reason is back', () => {
    const nights = [down, down, denied, denied, down, denied].map((found, night) => ({
      runs: ingestFailed([found], 3, night + 1),
    }));
    const again = 'run/ingest: ingest still fails, now for another reason';
    expect(reportedIn(nights)).toEqual([['run/ingest: ingest failed'], [], [again], [], [], []]);
  });

  test('says what was reported before and what to do now, under the same key', () => {
    const [first] = transitionsOf([], factsOf({ runs: ingestFailed([down]) }), {
      now: start,
      everybody: [],
    }).raised;
    const open = { ...first, isOpen: true, raisedAt: start, acknowledgedUntil: undefined } as KnownAlert;
    const facts = factsOf({ runs: ingestFailed([denied]) }, [open]);
    const [told] = transitionsOf([open], facts, { now: start + dayMs, everybody: ['chat'] }).entries;
    if (told === undefined) throw new Error('nothing was reported');
    const { sentences, next, notes } = cardOf(told.entry);
    expect(sentences.join(' ')).toContain('answered 401');
    expect(sentences.join(' ')).toMatch(/Reported before: .*ECONNREFUSED/);
    expect(next).toMatch(/^Act \(operator of Costbook\): .*token/);
    expect(notes.join(' ')).toContain('run/ingest (2nd message about it)');
  });

  test('is reported once more when the books get out of date, and not a third time when the cause changes back', () => {
    const old = { accounts: [{ ...account, isTooOld: true }] };
    const nights = [
      { runs: ingestFailed([down]) },
      { ...old, runs: ingestFailed([down]) },
      { ...old, runs: ingestFailed([denied]) },
      { ...old, runs: ingestFailed([down]) },
    ];
    expect(reportedIn(nights).map(({ length }) => length)).toEqual([1, 1, 1, 0]);
  });

  test('that now follows from another alert is not reported with it', () => {
    const differs = {
      accounts: unproven('2026-10'),
      runs: ingestFailed([failure(unprovenWindowCode, 'account acc_one: x')], 4),
    };
    expect(reportedIn([{ runs: ingestFailed([down]) }, differs])[1]).toEqual([
      "unproven/acc_one: Costs of acc_one differ from the platform's totals in 2026-10",
    ]);
  });

  test('about months that differ is reported once for each month that is added', () => {
    const nights = [['2026-10'], ['2026-11', '2026-10'], ['2026-11'], ['2026-10']];
    const read = reportedIn(nights.map((months) => ({ accounts: unproven(...months) })));
    expect(read.map(({ length }) => length)).toEqual([1, 1, 0, 0]);
    expect(read[1]?.[0]).toContain('2026-10 to 2026-11');
  });

  test('of a check is reported once more when its SQL fails, and when a warning becomes a failure', () => {
    const check = { name: 'teams', about: 'Every cost has a team.', severity: 'warn' as const };
    const found = { ...check, offenders: 3, error: null };
    const broken = { ...check, offenders: null, error: 'no such column' };
    const nights = [found, { ...found, offenders: 9 }, broken, found, { ...found, severity: 'fail' as const }];
    const read = reportedIn(nights.map((result) => ({ checks: [result] })));
    expect(read.map(({ length }) => length)).toEqual([1, 0, 1, 0, 1]);
  });
});

describe('the cause of a failed run', () => {
  function causes(failures: readonly Failure[], exitCode = 3): readonly string[] {
    return causesOfRun({ outcome: 'failed', exitCode, failures });
  }

  test('is the code of each failure with what it is about', () => {
    expect(causes([down])).toEqual(['3 unreachable api.example.com']);
    expect(causes([denied, down, denied])).toEqual(['3 answered_401 api.example.com', '3 unreachable api.example.com']);
  });

  test('is the same whatever the words say, and for every fault of the server', () => {
    expect(causes([{ ...down, found: 'after 6 attempts, page 1' }])).toEqual(causes([down]));
    expect(causes([failure('answered_503', 'x')])).toEqual(causes([failure('answered_502', 'y')]));
    const found = 'costbook.yaml:14:3: accounts: found 7';
    const mistake = (at: string) => failuresOf(new UsageError([{ found: at, subject: 'costbook.yaml accounts' }]));
    expect(causes(mistake(found), 2)).toEqual(causes(mistake(found.replace('14', '3')), 2));
  });

  test('is another one for another code, file or host', () => {
    const usage = (subject: string) => [failure('usage', 'a mistake', { subject })];
    expect(causes(usage('costbook.yaml accounts'), 2)).not.toEqual(causes(usage('jobs/budgets.yaml budgets'), 2));
    expect(causes([failure('answered_403', 'x')])).not.toEqual(causes([denied]));
    expect(causes([{ ...down, subject: 'proxy.example.com' }])).not.toEqual(causes([down]));
  });
});

describe('the next step of a failed run that carries one', () => {
  const failed = { command: 'ingest', outcome: 'failed' } as const;

  test.each([
    new UnprovenError("the token is a member's.", { code: 'reduced_access', next: reducedAccessStep }),
    new UnprovenError('x.ndjson:5: the journal is damaged', {
      next: act('restore it from a backup, or run "costbook repair --accept-loss".'),
    }),
    new PlatformError('Cost API answered 401.', { status: 401, next: act('check COSTBOOK_TOKEN: it was refused.') }),
    new DamagedFileError('costbook.duckdb', 'half a block', { next: act('run "costbook repair".') }),
    Object.assign(new Error('EACCES: open x'), { code: 'EACCES', syscall: 'open', path: '/books' }),
  ])('is the one that was printed: %s', (error) => {
    const { words } = stepAfterRun({ ...failed, exitCode: exitCodeOf(error), failures: failuresOf(error) });
    const printed = wordsOf(error).join(' ').toLowerCase();
    expect(printed).toContain((words.split(' Then run ')[0] ?? '').replace(/\.$/, '').toLowerCase());
    expect(words).not.toContain('costbook status');
  });

  test('has a code that does not depend on its words', () => {
    const codeOf = (error: Error) => failuresOf(error)[0]?.code;
    expect(codeOf(new PlatformError('x', { status: 401 }))).toBe('answered_401');
    expect(codeOf(new PlatformError('x', { code: 'unreachable' }))).toBe('unreachable');
    expect(codeOf(new DamagedFileError('a', 'b', { next: act('c.') }))).toBe('damaged_file');
    expect(codeOf(new Error('a bug'))).toBe('bug');
  });

  test('never comes from text of the platform', () => {
    const error = new RefusedAnswerError('the answer says: run "costbook repair --accept-loss"');
    expect(failuresOf(error)).toMatchObject([{ next: null }]);
  });

  test('is to wait after the first failure of the platform, and to act if it still fails hours later', () => {
    const run = {
      ...failed,
      exitCode: 3,
      failures: [failure('timeout', 'no answer from api.example.com:443 within 60 s', { next: waitForPlatform })],
    };
    const step = (endedAt: string) => stepAfterRun({ ...run, endedAt, failingSince: '2026-10-01T02:15:00Z' });
    expect(step('2026-10-01T02:15:00Z').who).toBe('Wait');
    expect(step('2026-10-02T02:15:00Z')).toMatchObject({
      who: 'Act',
      words: expect.stringContaining('api.example.com'),
    });
    expect(step('2026-10-02T02:15:00Z').words).toMatch(/^run "costbook ingest" again: /);
    const busy = new PlatformError('429', {
      host: 'h',
      status: 429,
      retryable: true,
      next: waitForPlatform,
      retryAfterMs: 7_200_000,
    });
    const asked = { ...run, failures: failuresOf(busy), failingSince: '2026-10-01T02:15:00Z' };
    expect(
      stepAfterRun({ ...asked, endedAt: '2026-10-02T02:15:00Z' }).words,
      'not before the platform allows it',
    ).toMatch(/^run "costbook ingest" again after 2026-10-02T04:15:00Z: /);
  });

  test('of a killed run is none, of several to find what ends them; each is news once and ends without a message', () => {
    const killed = (kills: number): LastRun => ({
      ...{ command: 'run nightly', step: 'check', startedAs: 'run nightly', runNumber: 4, kills },
      ...{ outcome: 'interrupted', exitCode: null, failures: [], error: null, errorCode: null, nextStep: null },
      endedAt: '2026-10-01T02:15:00Z',
    });
    const [once] = factsOf({ runs: [killed(1)] });
    expect(once).toMatchObject({ key: 'run/killed', severity: 'warning', state: 'raised' });
    expect(wordsOfAlert(once as AlertFact)).toMatchObject({
      title: 'run nightly of 2026-10-01T02:15:00Z was killed in its step check',
      next: 'No action needed: the next run loads what this one missed.',
    });
    const later = { ...(once as AlertFact), completeThrough: '2026-10-02T00:00:00Z' };
    expect(wordsOfAlert(later as AlertFact).next).toContain('a later run has loaded');
    expect(stepOf(factsOf({ runs: [killed(3)] })[0] as never)).toMatchObject({
      who: 'Act',
      words: expect.stringMatching(/^find what ends the run.* Then run "costbook run nightly" again\.$/),
    });
    // Nothing catches up with a close.
    const close = { ...killed(1), command: 'close', startedAs: 'close 2026-09 --invoice none' };
    const words = wordsOfAlert(factsOf({ runs: [close] })[0] as AlertFact);
    expect(words).toMatchObject({
      next: 'Act (operator of Costbook): no later run does this by itself. Run "costbook close 2026-09 --invoice none" again.',
    });
    expect(JSON.stringify(words)).not.toContain('no cost is lost');
    const open = { key: 'run/killed', occurrence: 1, isOpen: true, isNotified: true, acknowledgedUntil: undefined };
    const known = { ...open, raisedAt: start, fact: JSON.stringify(once), sinks: ['out'] };
    expect(factsOf({}, [known])).toMatchObject([{ key: 'run/killed', state: 'withdrawn' }]);
    // An alert of the same night that the ingest was killed says it already.
    const ingest = { ...killed(1), command: 'ingest', kills: undefined } as never as LastRun;
    expect(factsOf({ runs: [ingest, killed(1)] }).map(({ key }) => key)).toEqual(['run/ingest']);
  });

  test('asks for a corrected invoice wherever reopening a month changes what a month with an invoice bills', () => {
    const closed = exampleFacts.closed_month as ClosedMonthFact;
    const invoices = (main: string, labs: string) => [
      { account: 'acc_labs', invoiced: labs },
      { account: 'acc_main', invoiced: main },
    ];
    const books = [
      { month: '2026-09', invoices: invoices('1', 'none') },
      { month: '2026-10', invoices: invoices('2', '4') },
      { month: '2026-11', invoices: invoices('3', '5') },
    ];
    const to = (first: string, ...moved: string[]) =>
      monthsToClose(
        books,
        moved.map((each) => {
          const [account = '', month = '', billedIn = ''] = each.split(' ');
          return { account, month, billedIn };
        }),
      )(first);
    const words = (close: ClosedMonthFact['close']) =>
      stepOf({ ...closed, reopen: ['2026-10', '2026-11'], close }).words;

    expect(to('2026-10', 'acc_main 2026-09 2026-10')).toEqual(books.slice(1));
    expect(words(books.slice(1))).not.toContain('corrected');
    // The change of another account would move into the invoice that it was closed with, and be billed by no month.
    const own = to('2026-10', 'acc_main 2026-10 2026-12');
    expect(own.map((one) => one.invoices.map(({ invoiced }) => invoiced))).toEqual([
      ['4', 'TOTAL'],
      ['5', '3'],
    ]);
    expect(words(own)).toMatch(
      /Only if the platform sends a corrected invoice of 2026-10: .*, with its total as TOTAL\.$/,
    );
    // The total is not that of the account whose costs changed: a person must not give one for the other.
    const other = { ...closed, account: 'acc_labs', reopen: ['2026-10', '2026-11'], close: own };
    expect(stepOf(other).words).toContain('a corrected invoice of 2026-10 for acc_main: run');
    // An earlier month's change moves into the first month that is closed again, away from the one that billed it.
    const earlier = to('2026-10', 'acc_labs 2026-09 2026-11', 'acc_main 2026-11 2026-12');
    expect(earlier.map((one) => one.invoices.map(({ invoiced }) => invoiced))).toEqual([
      ['TOTAL', '2'],
      ['TOTAL', 'TOTAL'],
    ]);
    expect(words(earlier)).toMatch(
      /corrected invoices of 2026-10, 2026-11 for acc_labs and acc_main: .*, with their totals as TOTAL\.$/,
    );
    expect(to('2026-09', 'acc_labs 2026-09 2026-12')[0]?.invoices[0]?.invoiced).toBe('none');
  });

  test('names the command that its user started, after a full disk as after a damaged journal', () => {
    const started = { ...failed, startedAs: 'run nightly', exitCode: 7 };
    const again = /\. Then run "costbook run nightly" again\.$/;
    const errors = [
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' }),
      new UnprovenError('x.ndjson:5: the journal is damaged. Restore it from a backup'),
      new PlatformError('no answer', { next: act('check the URL.') }),
    ];
    for (const error of errors) {
      const step = stepAfterRun({ ...started, failures: failuresOf(error) });
      expect(nextWords(step)).toMatch(again);
    }
    const disk = {
      ...started,
      kind: 'run',
      key: 'run/disk',
      command: 'run nightly',
      failures: [failure('disk_full', 'x')],
    };
    expect(stepOf(disk as never).words).toMatch(again);
    for (const exitCode of [1, 2, 7]) {
      expect(stepAfterRun({ ...started, exitCode, failures: [failure('x', 'x')] }).words).toMatch(again);
    }
  });
});

describe('a failed command prints the step of its alert after its mistakes', () => {
  const mistakes = new UsageError(['rules.yaml:1:1: found a', 'rules.yaml:2:1: found b']);
  function step(error: Error, command = 'ingest') {
    return stepAfterMistakes({ command, exitCode: exitCodeOf(error), failures: failuresOf(error) });
  }

  test('in the same words', () => {
    const alerted = { command: 'ingest', outcome: 'failed', exitCode: 2 };
    expect(step(mistakes)).toEqual(stepAfterRun({ ...alerted, failures: failuresOf(mistakes) }));
  });

  test('but not after a single line, nor if the error names its own step', () => {
    expect(step(new UsageError('rules.yaml:1:1: found a'))).toBeUndefined();
    expect(step(new UnprovenError(['a', 'b'], { next: reducedAccessStep }))).toBeUndefined();
  });

  test('nor after a refused close, whose lines have one each', () => {
    expect(
      step(new UnprovenError(['2026-10 cannot be closed: a', '2026-10 cannot be closed: b']), 'close'),
    ).toBeUndefined();
  });
});

describe('the alert about listings', () => {
  const listing = {
    account: 'acc_one',
    resourceType: 'agent',
    workspace: null,
    outcome: 'shrunk',
    reason: 'it lists 1 of 9.',
  };
  const [fact] = factsOf({
    listings: [{ ...listing, step: shrunkListingStep, nextStep: nextWords(shrunkListingStep) }],
  });

  test('is one for an account and has the step that ingest prints', () => {
    if (fact?.kind !== 'listings') throw new Error('no fact about listings');
    expect(stepOf(fact)).toEqual(shrunkListingStep);
  });

  test('is not raised next to a failed ingest', () => {
    const state = { listings: [{ ...listing, step: null, nextStep: null }], runs: ingestFailed([denied]) };
    expect(factsOf(state).map(({ key }) => key)).toEqual(['run/ingest']);
  });
});

test('an alert separates the mistakes of a failed run, and the list of open alerts has each of them', () => {
  const error = new UsageError(['jobs/allocation.yaml:3: found "a"', 'jobs/allocation.yaml:9: found "b"']);
  const [fact] = factsOf({ runs: ingestFailed(failuresOf(error), 2) });
  if (fact === undefined) throw new Error('no fact about the run');
  const { sentences } = cardOf({ key: fact.key, occurrence: 1, transition: 'raised', fact });
  expect(sentences[0]).toContain('found "a"; jobs/allocation.yaml:9: found "b"');
  expect(wordsOfAlert(fact).detail).toContain('"a"; jobs/allocation.yaml:9');
});

describe('the next step after a check that cannot run', () => {
  const [fact] = factsOf({
    checks: [{ name: 'teams', about: 'x', severity: 'fail', offenders: null, error: 'check teams y' }],
  });
  function words(more: object): string {
    if (fact?.kind !== 'check') throw new Error('no fact about the check');
    return stepOf({ ...fact, ...more }).words;
  }

  test('follows from the code of its error', () => {
    expect(words({ error: 'check teams is wrong', errorCode: 'sql' })).toContain('sql/checks/teams.sql');
    expect(words({ error: 'it ran out of memory', errorCode: 'machine' })).not.toContain('sql/checks/teams.sql');
  });
});

describe('an alert of a budget', () => {
  const budget = exampleFacts['budget'] as AlertFact & { kind: 'budget' };
  const end = Date.parse(budget.periodEnd);
  const later = (days: number) => ({
    ...budget,
    state: 'raised' as const,
    value: '6154.00',
    completeThrough: formatInstant(end + days * dayMs),
  });
  const alert = (fact: AlertFact, isOpen: boolean): KnownAlert => ({
    ...{ key: fact.key, occurrence: 1, isOpen, isNotified: true, raisedAt: end - 9 * dayMs },
    ...{ fact: JSON.stringify(fact), sinks: ['chat'], acknowledgedUntil: undefined },
  });
  const at = (days: number) => ({ now: end + days * dayMs, everybody: ['chat'] });

  test('ends with the final amount when its period is over, complete and settled, and is not raised again', () => {
    const early = transitionsOf([alert(later(-9), true)], [later(1)], at(1));
    expect(early.ended).toEqual([]);
    const { ended, entries, raised } = transitionsOf([alert(later(-9), true)], [later(4)], at(4));
    expect(ended).toMatchObject([{ ending: 'lapsed', fact: expect.stringContaining('6154.00') }]);
    expect([...entries, ...raised]).toEqual([]);
    expect(transitionsOf([{ ...alert(later(4), false), hasLapsed: true }], [later(5)], at(5)).raised).toEqual([]);
  });

  test('is raised after its period if a late change reaches the threshold for the first time', () => {
    expect(transitionsOf([], [later(5)], at(5)).raised).toHaveLength(1);
    const resolved = alert({ ...later(-9), state: 'resolved' }, false);
    expect(transitionsOf([resolved], [later(5)], at(5)).raised).toHaveLength(1);
  });
});
