import { describe, expect, test } from 'vitest';
import { readCostSummary } from '../../src/alerts/summary.ts';
import { UsageError } from '../../src/base/errors.ts';
import { unprovenWindowCode } from '../../src/base/failure.ts';
import { nextWords } from '../../src/base/next-step.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { cardOf } from '../../src/findings/card.ts';
import { readAlertFacts } from '../../src/findings/collect.ts';
import { currentCauses } from '../../src/findings/current.ts';
import { withNews } from '../../src/findings/held.ts';
import type { AlertFact, DataFact } from '../../src/findings/kinds/index.ts';
import { parseFact, stepOf } from '../../src/findings/kinds/index.ts';
import { openAlerts, wordsOf } from '../../src/findings/open-alerts.ts';
import { missingCostWords } from '../../src/findings/usual-costs.ts';
import { type AccountSummary, failuresOfRun } from '../../src/ingest/index.ts';
import { formatInstant, hourMs } from '../../src/time/time.ts';
import { readChecks } from '../../src/warehouse/ledger/checks.ts';
import { ownAnswers } from '../../src/warehouse/store/answer-cache.ts';
import { knownAlerts, pendingMessages } from '../../src/warehouse/watch/alerts.ts';
import { entryOf, exampleFacts } from '../support/example-alerts.ts';
import { answer, type Given, givenBooks } from '../support/given-books.ts';

const now = Date.parse('2026-09-09T02:00:00Z');

const asked = {
  ...{ now, freshnessHours: 26, configured: [], budgets: [], overlay: '/nowhere' },
  signal: new AbortController().signal,
};

/** Where no fact of a check is asked for, none runs: all of them take longer than everything else. */
const noChecks = { runChecks: async () => [] };

/** The facts of given books, except those of checks. */
function factsOf(given: Given, configured: readonly string[] = []): Promise<AlertFact[]> {
  return allFactsOf(given, configured, noChecks);
}

async function allFactsOf(
  given: Given,
  configured: readonly string[] = [],
  checks: Partial<typeof noChecks> = {},
): Promise<AlertFact[]> {
  const books = await givenBooks(given);
  try {
    const { facts } = await readAlertFacts(books.connection, await knownAlerts(books.connection), {
      ...asked,
      ...checks,
      configured,
    });
    return [...facts];
  } finally {
    books.close();
  }
}

const fresh: Given = { accounts: [{}], loads: [{}], covered: [{}] };

describe('facts about the data', () => {
  test('there are none for books that are fresh and proven', async () => {
    expect(await factsOf(fresh)).toEqual([]);
  });

  test('what the checks of the run have found counts more than what is cached of the same books', async () => {
    const books = await givenBooks(fresh);
    try {
      const ours = (await readChecks('/nowhere')).slice(0, 1);
      const cache = ownAnswers();
      for (const { file } of ours) cache.add('check', [file.text, null], 0);
      const runChecks = async () =>
        ours.map((check) => ({ check, offenders: 1, columns: [], cells: [], rows: [], error: undefined }));
      const factsWith = async (areChecksRun: boolean) => {
        const { facts } = await readAlertFacts(books.connection, [], { ...asked, runChecks, areChecksRun, cache });
        return facts.filter(({ kind, state }) => kind === 'check' && state === 'raised').length;
      };
      expect([await factsWith(true), await factsWith(false)]).toEqual([1, 0]);
    } finally {
      books.close();
    }
  });

  test('books that are too old are stale, unless no new data is expected', async () => {
    const old = { ...fresh, covered: [{ window_end: '2026-09-07', claimed_end: '2026-09-07' }] };
    expect(await factsOf(old)).toEqual([
      {
        key: 'stale/acc_one',
        kind: 'stale',
        account: 'acc_one',
        severity: 'critical',
        notify: [],
        state: 'raised',
        completeThrough: '2026-09-07T00:00:00Z',
        freshnessHours: 26,
        ...{ command: 'ingest', fetchedAt: null, isIdle: false, missingHours: 50 },
      },
    ]);
    expect(await factsOf(old, ['acc_two'])).toEqual([]);
    // "Nothing is complete yet" is not a number, least of all 0.
    expect(await factsOf({ accounts: [{}] })).toMatchObject([{ kind: 'stale', completeThrough: null }]);
  });

  test('what is missing has the amount of a usual day, in every alert that says so, if the books know a week and more', async () => {
    const hours = { window_start: '2026-08-01', window_end: '2026-09-07', claimed_end: '2026-09-07' };
    const days = Array.from({ length: 8 }, (_, day) => ({
      bucket_start: `2026-09-0${day} 10:00:00`,
      cost: `${10 * day}`,
    }));
    const costs = [{ bucket_start: '2026-08-30 10:00:00', cost: '900' }, ...days.slice(1)];
    const failed = {
      command: 'ingest',
      outcome: 'failed',
      exit_code: 3,
      error: 'no answer',
      error_code: 'unreachable',
    };
    const windows = [{ window_start: '2026-08-03', window_end: '2026-08-04' }];
    const given = { ...fresh, accounts: [{ history_start: '2026-08-01' }], covered: [hours], costs };
    const missing = async (more: Given) => {
      const facts = await factsOf({ ...given, ...more });
      return facts.flatMap((fact) => cardOf(entryOf(fact)).sentences);
    };
    // 31 August to 6 September: 210 USD in seven days.
    const amount =
      'are missing, not lost: about 63 USD until 2026-09-09T02:00:00Z (50 h at usually about 1.25 USD an hour).';
    const sentence = `Costs of acc_one since 2026-09-07T00:00:00Z ${amount}`;
    expect(await missing({ runs: [failed] })).toContainEqual(expect.stringContaining(sentence));
    expect(await missing({ unproven: windows })).toContainEqual(
      expect.stringContaining('later costs are in the books, except'),
    );
    expect(await missing({})).toEqual([expect.stringContaining(`later costs ${amount}`)]);
    expect(missingCostWords('153.4', '2026-09-07T00:00:00Z', 104)).toBe(
      'are missing, not lost: about 665 USD until 2026-09-11T08:00:00Z (104 h at usually about 6.39 USD an hour)',
    );
    const young = { ...given, costs: costs.slice(1) };
    expect(await missing(young)).toEqual([
      expect.stringMatching(/later costs are missing, not zero; their amount is unknown until they are loaded\.$/),
    ]);
    expect(await missing({ ...given, accounts: [{ history_start: '2026-09-01' }] })).toEqual([
      expect.stringMatching(/later costs are missing, not zero; their amount is unknown until they are loaded\.$/),
    ]);
  });

  test('an account with costs in every hour that has none for three hours and more makes one fact, with what they usually cost', async () => {
    const silentOf = async (isCharged: (hour: string) => boolean, { cost = '6', since = '2026-08-25' } = {}) => {
      const from = Date.parse(since);
      const count = (Date.parse('2026-09-09') - from) / hourMs;
      const hours = Array.from({ length: count }, (_, hour) => formatInstant(from + hour * hourMs));
      const covered = [{ window_start: since, window_end: '2026-09-09', claimed_end: '2026-09-09' }];
      const costs = hours.filter(isCharged).map((hour) => ({ bucket_start: hour.slice(0, 19), cost }));
      const facts = await factsOf({ ...fresh, accounts: [{ history_start: since }], covered, costs });
      return facts.flatMap((fact) => (fact.kind === 'silent' ? [cardOf(entryOf(fact)).title] : []));
    };
    const until = (end: string) => (hour: string) => hour < `2026-09-0${end}`;
    expect(await silentOf(until('8T19'))).toEqual([
      'About 30 USD may be missing: acc_one has no cost since 2026-09-08T19:00:00Z',
    ]);
    expect(await silentOf((hour) => until('5T03')(hour) || !until('5T08')(hour))).toEqual([
      'About 30 USD may be missing: acc_one has no cost from 2026-09-05T03:00:00Z to 2026-09-05T08:00:00Z',
    ]);
    const wasCharged = (end: string) => (hour: string) => hour < end;
    expect(await silentOf(wasCharged('2026-08-03'), { since: '2026-07-20' }), 'for weeks').toEqual([
      'About 5,328 USD may be missing: acc_one has no cost since 2026-08-03T00:00:00Z',
    ]);
    expect(await silentOf(until('8T22')), 'two hours').toEqual([]);
    expect(await silentOf(until('8T19'), { cost: '0.1' }), 'less than a dollar').toEqual([]);
    expect(await silentOf((hour) => until('8T19')(hour) && !/T2[0-2]/.test(hour)), 'as every night').toEqual([]);
    expect(await silentOf((hour) => hour >= '2026-09-04' && until('8T19')(hour)), 'a young account').toEqual([]);
    expect(await silentOf((hour) => until('1T03')(hour) || !until('1T08')(hour)), 'a week ago').toEqual([]);
  });

  test('a workspace without costs is named while others go on, unless its whole account has none', async () => {
    const from = Date.parse('2026-08-25');
    const silentOf = async (isOtherSilent: boolean, isRenamed = false) => {
      const hours = Array.from({ length: 15 * 24 }, (_, hour) => formatInstant(from + hour * hourMs).slice(0, 19));
      const until = (hour: string, isSilent: boolean) => !isSilent || hour < '2026-09-08T19';
      const costs = hours.flatMap((hour) => [
        ...(until(hour, true) ? [{ bucket_start: hour, cost: '6', workspace: 'south', resource_uuid: 'u' }] : []),
        ...(isRenamed && !until(hour, true)
          ? [{ bucket_start: hour, cost: '6', workspace: 'new', resource_uuid: 'u' }]
          : []),
        ...(until(hour, isOtherSilent) ? [{ bucket_start: hour, cost: '2' }] : []),
      ]);
      const covered = [{ window_start: '2026-08-25', window_end: '2026-09-09', claimed_end: '2026-09-09' }];
      const facts = await factsOf({ ...fresh, accounts: [{ history_start: '2026-08-25' }], covered, costs });
      return facts.flatMap((fact) =>
        fact.kind === 'silent'
          ? [
              cardOf(entryOf(fact)).title,
              ...fact.times.map(({ resources, resourceCount }) => ({ resources, resourceCount })),
            ]
          : [],
      );
    };
    expect(await silentOf(false)).toEqual([
      'About 30 USD may be missing: workspace south of acc_one has no cost since 2026-09-08T19:00:00Z',
      { resources: ['sandbox box'], resourceCount: 1 },
    ]);
    expect(await silentOf(false, true), 'its resource goes on under another name of the workspace').toEqual([]);
    expect(await silentOf(true)).toEqual([
      'About 40 USD may be missing: acc_one has no cost since 2026-09-08T19:00:00Z',
      { resources: ['sandbox box'], resourceCount: 1 },
    ]);
  });

  test('listings that the own token of a workspace may not read are one fact that names it, with one step', async () => {
    const refused = { outcome: 'refused', token_workspace: 'south', reason: 'answered 403' };
    const listings = ['agent', 'sandbox'].map((type) => ({ ...refused, resource_type: type }));
    const [fact] = await factsOf({ ...fresh, listings });
    if (fact?.kind !== 'listings') throw new Error('no listing is refused');
    const { title, next } = cardOf(entryOf(fact));
    expect([title, next]).toEqual([
      'The platform refuses the token of workspace south: 2 listings of acc_one are not up to date',
      'Act (operator of Costbook): give the token of south in inventory.tokens (costbook.yaml) access to that workspace again, or replace it with one that has it. Then run "costbook ingest".',
    ]);
  });

  test('hours that never matched are counted, with what as many usually cost', async () => {
    const history = { window_start: '2026-08-01', window_end: '2026-09-08', claimed_end: '2026-09-08' };
    const days = ['2026-08-30', ...Array.from({ length: 8 }, (_, day) => `2026-09-0${day}`).slice(1)];
    const facts = await factsOf({
      ...fresh,
      accounts: [{ history_start: '2026-08-01' }],
      covered: [history],
      costs: days.map((day) => ({ bucket_start: `${day} 10:00:00`, cost: '24' })),
      unproven: [
        { window_start: '2026-09-08', window_end: '2026-09-08 04:00:00' },
        { window_start: '2026-09-02', window_end: '2026-09-03' },
      ],
      reconciliation: ['2026-09-02', '2026-09-05', '2026-09-08'].map((day) => ({
        ...{ window_start: `${day} 03:00:00`, window_end: `${day} 04:00:00`, load_number: null, proven: false },
      })),
    });
    expect(facts).toMatchObject([{ kind: 'unproven', missing: { hours: 4 }, matched: '2026-09-05' }]);
    const [card] = facts.map((fact) => cardOf(entryOf(fact)));
    expect(card?.title).toContain(
      'About 4.00 USD (4 h at usually about 1.00 USD an hour) of acc_one are not in the books: 4 hours from',
    );
    expect(card?.sentences[0]).toContain('Hours of 2026-09-05 that differed before match now.');

    const all = { check_code: 'rows_add_up_to_control', measure: 'cost', billing_dimension: null };
    const compared = { ...all, load_number: null, proven: false, ours: '3.10', theirs: '3.50', difference: '-0.40' };
    const never = { window_start: '2026-09-08', window_end: '2026-09-08 04:00:00' };
    const [known] = await factsOf({
      ...{ ...fresh, accounts: [{ history_start: '2026-08-01' }], covered: [history], unproven: [never] },
      reconciliation: [{ ...never, ...compared }],
    });
    expect(cardOf(entryOf(known as AlertFact)).title, 'the platform says the amounts').toContain(
      '3.10 or 3.50 USD of acc_one are not in the books: 4 hours from',
    );
  });

  test("windows that differ from the platform's totals make one fact per account; young windows do not", async () => {
    const unproven = [
      { window_start: '2026-08-01', window_end: '2026-08-02' },
      { window_start: '2026-08-03', window_end: '2026-08-04', reason: 'the later one' },
      { window_start: '2026-09-01', window_end: '2026-09-02' },
      { window_start: '2026-09-08', window_end: '2026-09-09', is_young: true },
    ];
    expect(await factsOf({ ...fresh, unproven })).toMatchObject([
      {
        key: 'unproven/acc_one',
        months: ['2026-09', '2026-08'],
        difference: null,
        count: 3,
        windows: [{}, { reason: 'the later one' }, {}],
        // A day is missing, within the limit of this project: `status` says the same.
        outOfDate: [],
      },
    ]);
  });

  test('hours that differ on three nights are no longer waited for: the step becomes an act, and that is news once', async () => {
    const unproven = [{ window_start: '2026-08-03', window_end: '2026-08-04' }];
    const nights = (count: number) =>
      Array.from({ length: count }, (_, night) => ({
        ...{ window_start: '2026-08-01', window_end: '2026-08-08', load_number: null, proven: false },
        ...{ difference: '1', proven_at: `2026-09-1${night} 01:00:00`, run_number: night + 2 },
      }));
    const stepAfter = async (count: number) => {
      const [fact] = await factsOf({ ...fresh, unproven, reconciliation: nights(count) });
      if (fact?.kind !== 'unproven') throw new Error('nothing is unproven');
      return { fact, step: nextWords(stepOf(fact)) };
    };
    const [second, third, fourth] = [await stepAfter(2), await stepAfter(3), await stepAfter(4)];
    const counted = '2026-08-03T00:00:00Z/2026-08-04T00:00:00Z has differed longest, since the night of 2026-09-10';
    const send = `send the platform's support what "costbook sql 'from reconciliation where not proven'" prints.`;
    expect(second.step).toBe(`Wait: the next run fetches these hours again. If they still differ then, ${send}`);
    expect(third.step).toBe(`Act (operator of Costbook): ${send} ${counted}: on 3 nights.`);
    expect(withNews(third.fact, second.fact, false).revision).toBe('2 three nights');
    const reported = withNews(third.fact, second.fact, false);
    expect(withNews(fourth.fact, reported, false).revision).toBe(reported.revision);
  });

  test('hours that differ of an account that is no longer configured wait for no run, and name what fetches them', async () => {
    const [fact] = await factsOf({ ...fresh, unproven: [{}] }, ['acc_other']);
    if (fact?.kind !== 'unproven') throw new Error('nothing is unproven');
    expect(nextWords(stepOf(fact))).toBe(
      'Act (operator of Costbook): no run fetches these hours again, because the account is no longer configured: put it back into costbook.yaml and run "costbook ingest".',
    );
  });

  test('the failure of a run names the hours that have differed longest', () => {
    const window = { start: Date.parse('2026-08-03'), end: Date.parse('2026-08-04') };
    const unproven = [{ window, reason: 'rows', costDifference: '1', isYoung: false, nights: 1 }];
    const summary = { account: 'acc_one', exitCodes: [4], failures: [], unproven } as unknown as AccountSummary;
    expect(failuresOfRun([summary])[0]?.next?.words).toContain('If they still differ after 2 more nights, send');
  });

  test('hours that differ are reported again when their amount has doubled and grown by 5 USD since the last report', async () => {
    const unproven = [{ window_start: '2026-08-03', window_end: '2026-08-04' }];
    const [found] = await factsOf({ ...fresh, unproven });
    if (found?.kind !== 'unproven') throw new Error('nothing is unproven');
    const raised = withNews({ ...found, difference: '7.26' }, undefined, false);
    const more = withNews({ ...found, difference: '12.1' }, raised, false);
    expect(more).toMatchObject({ revision: undefined, reportedAmount: '7.26' });
    const grown = withNews({ ...found, difference: '16.93' }, more, false);
    expect(grown).toMatchObject({ revision: '2 16.93', changedFrom: '7.26 USD', reportedAmount: '16.93' });
    const revisionOf = (before: string, after: string) =>
      withNews({ ...found, difference: after }, withNews({ ...found, difference: before }, undefined, false), false)
        .revision;
    expect(revisionOf('1', '4')).toBeUndefined();
    // A difference may be below zero: its size counts.
    expect([revisionOf('-7.26', '-16.93'), revisionOf('-5', '1')]).toEqual(['2 -16.93', undefined]);
  });

  test('hours that differ keep their count of nights while a part of them is proven, and lose it after a night between', async () => {
    const unproven = [{ window_start: '2026-08-01', window_end: '2026-09-01' }];
    const failedOn = (...days: string[]) =>
      days.map((day, night) => ({
        ...{ window_start: '2026-08-01', window_end: '2026-09-01', load_number: null, proven: false },
        ...{ difference: '1', proven_at: `2026-09-${day} 01:00:00`, run_number: night + 2 },
      }));
    const part = { window_start: '2026-08-03', window_end: '2026-08-04', load_number: 9 };
    const proven = {
      loads: [{ ...part, seen_at: '2026-09-11 01:30:00' }],
      covered: [{ ...part, since_load: 9 }],
    };
    const failing = async (given: Given) => {
      const facts = await factsOf({ ...fresh, ...given, unproven });
      return facts.flatMap((fact) => (fact.kind === 'unproven' ? fact.windows : []))[0];
    };
    // Of windows that differ for as long, the alert shows the oldest, which its step names.
    const days = ['01', '02', '03', '04'].map((day) => ({
      window_start: `2026-08-${day}`,
      window_end: `2026-08-${day} 06:00:00`,
    }));
    const [four] = await factsOf({ ...fresh, unproven: days, reconciliation: failedOn('10', '11') });
    expect(four?.kind === 'unproven' && four.windows.map(({ start }) => start.slice(8, 10))).toEqual([
      '04',
      '03',
      '01',
    ]);
    expect(four?.kind === 'unproven' && stepOf(four).words).toContain('If they still differ then');
    const twice = { nights: 2, failingSince: '2026-09-10' };
    expect(await failing({ ...proven, reconciliation: failedOn('10', '11') })).toMatchObject(twice);
    expect(await failing({ reconciliation: failedOn('08', '10', '11') })).toMatchObject(twice);
  });

  test('a failed ingest is a fact until a later one succeeds', async () => {
    const run = { command: 'ingest', started_at: '2026-09-08', ended_at: '2026-09-08 00:01:00' };
    const failed = { ...run, run_number: 1, outcome: 'failed', exit_code: 3, error: 'no answer' };
    const check = { ...failed, run_number: 3, command: 'close' };
    expect(await factsOf({ ...fresh, runs: [failed, check] })).toMatchObject([
      {
        key: 'run/ingest',
        runNumber: 1,
        outcome: 'failed',
        exitCode: 3,
        error: 'no answer',
        endedAt: '2026-09-08T00:01:00Z',
      },
    ]);
    const well = { ...run, run_number: 2, outcome: 'done', exit_code: 0, error: null };
    expect(await factsOf({ ...fresh, runs: [failed, well] })).toEqual([]);
    // A running alert run has not ended.
    const killed = { ...run, run_number: 4, outcome: 'interrupted', exit_code: null, error: null, ended_at: null };
    expect(await factsOf({ ...fresh, runs: [well, killed] })).toMatchObject([
      { key: 'run/ingest', outcome: 'interrupted' },
    ]);
  });

  test('mistakes in the budget file are a fact of the command alert, next to the other facts, until they are fixed', async () => {
    const books = await givenBooks({ ...fresh, unproven: [{ window_start: '2026-09-05', window_end: '2026-09-06' }] });
    try {
      const problem = new UsageError(['jobs/budgets.yaml:2: found "monthy"', 'jobs/budgets.yaml:7: found "tema"']);
      const given = { ...asked, budgets: undefined, problem, runNumber: 7 };
      const { facts } = await readAlertFacts(books.connection, [], given);
      expect(facts.map(({ key }) => key)).toEqual(['unproven/acc_one', 'run/alert']);
      const fact = JSON.stringify(facts[1]);
      const { next, detail } = wordsOf(parseFact(fact));
      expect(detail).toContain('"monthy"; jobs/budgets.yaml:7: found "tema"');
      expect(next).toMatch(/^Act \(operator of Costbook\): .*"costbook alert"/);
      const alert = {
        key: 'run/alert',
        fact,
        occurrence: 1,
        isOpen: true,
        raisedAt: now,
        isNotified: true,
        sinks: ['a'],
      };
      const after = await readAlertFacts(books.connection, [{ ...alert, acknowledgedUntil: undefined }], asked);
      expect(after.facts.find(({ key }) => key === 'run/alert')).toMatchObject({ state: 'resolved' });
    } finally {
      books.close();
    }
  });

  test('a command that fails for hours has the time of its first failure since it last succeeded', async () => {
    const run = { command: 'ingest', outcome: 'failed', exit_code: 3, error: 'no answer' };
    const runs = [
      { ...run, run_number: 1, ended_at: '2026-09-05 01:00:00' },
      { ...run, run_number: 2, outcome: 'done', exit_code: 0, error: null, ended_at: '2026-09-06 01:00:00' },
      { ...run, run_number: 3, ended_at: '2026-09-07 01:00:00' },
      { ...run, run_number: 4, ended_at: '2026-09-08 01:00:00' },
    ];
    expect(await factsOf({ ...fresh, runs })).toMatchObject([{ runNumber: 4, failingSince: '2026-09-07T01:00:00Z' }]);
  });

  test('a window of a year names all of its months and the largest difference in cost', async () => {
    const unproven = [{ window_start: '2025-01-01', window_end: '2026-01-01', reason: 'x', cost_difference: '0.5' }];
    const [fact] = await factsOf({ ...fresh, unproven });
    expect(fact).toMatchObject({ difference: '0.500000000000', count: 1 });
    expect(fact?.kind === 'unproven' && fact.months).toHaveLength(12);
  });

  test('a close that was killed is a fact until its user has done it', async () => {
    const close = { command: 'close', command_line: 'close 2026-08', started_at: '2026-09-08 02:00:00' };
    const killed = { ...close, run_number: 2, outcome: 'interrupted', exit_code: null, ended_at: null };
    const runs = [{}, killed];
    expect(await factsOf({ ...fresh, runs })).toMatchObject([{ key: 'run/killed', startedAs: 'close 2026-08' }]);
    expect(await factsOf({ ...fresh, runs: [...runs, { ...close, run_number: 3 }] })).toEqual([]);
  });

  test('an open alert about killed runs names nothing of an earlier one after a close was killed', async () => {
    const close = { command: 'close', command_line: 'close 2026-08', started_at: '2026-09-08 02:00:00' };
    const runs = [{}, { ...close, run_number: 2, outcome: 'interrupted', exit_code: null, ended_at: null }];
    const [known] = await factsOf({ ...fresh, runs });
    const nightly = { ...known, command: 'run nightly', startedAs: 'run nightly', step: 'ingest' } as AlertFact;
    const books = await givenBooks({ ...fresh, runs });
    try {
      const { facts } = await currentCauses(books.connection, [nightly], now);
      const words = cardOf(entryOf(facts.get('run/killed') as DataFact));
      expect(words.title).toBe('close of 2026-09-08T02:00:00Z was killed');
      expect(words.next).toContain('Run "costbook close 2026-08" again');
    } finally {
      books.close();
    }
  });

  test('a failed close of a job ends when that month is closed, not when another one is', async () => {
    const step = { run_number: 3, step: 'close', outcome: 'failed', exit_code: 4, error: 'not complete' };
    const steps = [{ ...step, command_line: 'close 2026-08' }];
    expect(await factsOf({ ...fresh, steps })).toMatchObject([{ key: 'run/close', error: 'not complete' }]);
    const closed = (month: string) => [{ billing_month: month, closed_at: '2026-09-08 02:00:00' }];
    expect(await factsOf({ ...fresh, steps, closes: closed('2026-07-01') })).toMatchObject([{ key: 'run/close' }]);
    expect(await factsOf({ ...fresh, steps, closes: closed('2026-08-01') })).toEqual([]);
  });

  test('a failed summary of a job ends when one succeeds on its own', async () => {
    const steps = [
      { run_number: 3, step: 'summarize', command_line: 'summarize', outcome: 'failed', exit_code: 6, error: 'x' },
    ];
    expect(await factsOf({ ...fresh, steps })).toMatchObject([{ key: 'run/summarize' }]);
    const run = { command: 'summarize', outcome: 'done', exit_code: 0, error: null };
    expect(await factsOf({ ...fresh, steps, runs: [{ ...run, run_number: 2 }] })).toHaveLength(1);
    expect(await factsOf({ ...fresh, steps, runs: [{ ...run, run_number: 4 }] })).toEqual([]);
  });

  test('one cause makes one fact, without its consequences', async () => {
    const reason = 'pages of months = their total: 12.5 and 13';
    const unproven = [{ window_start: '2026-08-01', window_end: '2026-08-02', reason }];
    const error = `account acc_one, window x: ${reason}`;
    const run = { command: 'ingest', outcome: 'failed', exit_code: 4, error, error_code: unprovenWindowCode };
    const close = {
      step: 'close',
      command_line: 'close 2026-08',
      outcome: 'failed',
      exit_code: 4,
      error: 'not proven',
    };
    const ownKeys = async (given: Given) => (await factsOf(given)).map(({ key }) => key);
    expect(await ownKeys({ ...fresh, unproven, runs: [run], steps: [{ ...close, run_number: 2 }] })).toEqual([
      'unproven/acc_one',
    ]);
    // An error of another cause is a fact of its own.
    expect(
      await ownKeys({
        ...fresh,
        unproven,
        runs: [{ ...run, error: 'it refused an answer', error_code: 'refused_answer' }],
      }),
    ).toEqual(['unproven/acc_one', 'run/ingest']);

    const old = { ...fresh, covered: [{ window_end: '2026-09-07', claimed_end: '2026-09-07' }] };
    const down = { ...run, exit_code: 3, error: 'no answer', error_code: 'unreachable' };
    expect(await factsOf({ ...old, runs: [down] })).toMatchObject([
      { key: 'run/ingest', causes: expect.arrayContaining(['out of date']), outOfDate: [{ account: 'acc_one' }] },
    ]);
    expect(await factsOf({ ...fresh, runs: [down] })).toMatchObject([
      { key: 'run/ingest', outOfDate: [{ account: 'acc_one', missingHours: 26 }] },
    ]);
  });

  test('holes that unproven windows leave, and listings that a failed ingest left unread, are no facts of their own', async () => {
    const covered = [
      { window_end: '2026-09-03', claimed_end: '2026-09-03' },
      { window_start: '2026-09-05', since_load: 2, load_number: 2 },
    ];
    const holes: Given = { ...fresh, loads: [{}, { load_number: 2, window_start: '2026-09-05' }], covered };
    const keys = async (given: Given) =>
      (await allFactsOf(given)).map(({ key }) => key).filter((key) => /hole|listings|unproven|run/.test(key));
    expect(await keys(holes)).toEqual(['check/coverage_has_no_hole']);
    const unproven = [{ window_start: '2026-09-03', window_end: '2026-09-05', reason: 'x' }];
    expect(await keys({ ...holes, unproven })).toEqual(['unproven/acc_one']);

    const listings = [{ outcome: 'failed', reason: 'no answer' }];
    expect(await keys({ ...fresh, listings })).toEqual(['listings/acc_one']);
    // No run reads the listings of an account that is no longer configured.
    expect(await factsOf({ ...fresh, listings }, ['acc_other'])).toEqual([]);
    const runs = [{ command: 'ingest', outcome: 'failed', exit_code: 3, error: 'no answer' }];
    expect(await keys({ ...fresh, listings, runs })).toEqual(['run/ingest']);
  });

  test('an open alert counts from its first message, however often it was sent again with news', async () => {
    const run = { alert_key: 'run/ingest', kind: 'run', fact: JSON.stringify(exampleFacts['run']) };
    const [first, second] = ['2026-09-03T02:00:00', '2026-09-04T02:00:00'];
    const books = await givenBooks({
      runs: [{ command: 'ingest', outcome: 'failed', exit_code: 3, error: 'no answer' }],
      alerts: [
        { ...run, occurrence: 1, raised_at: '2026-09-01', ended_at: '2026-09-02', ending: 'resolved' },
        { ...run, occurrence: 2, raised_at: first, ended_at: second, ending: 'superseded' },
        { ...run, occurrence: 3, raised_at: second },
      ],
    });
    expect(await openAlerts(books.connection, now)).toMatchObject([
      { key: 'run/ingest', since: '2026-09-03T02:00:00Z' },
    ]);
    books.close();
  });

  test('an open alert of a budget names the open anomaly that it comes from, or else the threshold shown in full', async () => {
    const { anomaly, budget } = exampleFacts as Record<string, AlertFact>;
    const unusual = { subject: 'box', firstDay: '2026-10-12', lastDay: '2026-10-14', impact: '412', daily: null };
    const of = (key: string, more: object) => ({ ...budget, key, unusual: undefined, ...more });
    const facts = [
      anomaly,
      of('budget/a/2026-10/80%', { budget: 'a', unusual: [{ ...unusual, key: anomaly?.key, isOver: false }] }),
      of('budget/b/2026-10/80%', { budget: 'b', unusual: [{ ...unusual, key: anomaly?.key, isOver: true }] }),
      of('budget/b/2026-10/50%', { budget: 'b', limit: '2500', threshold: '50%' }),
    ] as AlertFact[];
    const books = await givenBooks({
      ...fresh,
      alerts: facts.map((fact) => ({ alert_key: fact.key, kind: fact.kind, fact: JSON.stringify(fact) })),
    });
    const causes = (await openAlerts(books.connection, now)).map(({ key, cause }) => [key, cause]);
    expect(Object.fromEntries(causes)).toEqual({
      [anomaly?.key ?? '']: undefined,
      ...{ 'budget/a/2026-10/80%': anomaly?.key, 'budget/b/2026-10/80%': undefined },
      'budget/b/2026-10/50%': 'budget/b/2026-10/80%',
    });
    books.close();
  });

  test('an alert about a closed month is not open any longer once the month is reopened', async () => {
    const key = 'closed_month/acc_one/2026-09';
    const fact = JSON.stringify({ ...exampleFacts['closed_month'], key, account: 'acc_one' });
    const books = await givenBooks({
      ...fresh,
      alerts: [{ alert_key: key, kind: 'closed_month', account: 'acc_one', fact }],
    });
    expect(await openAlerts(books.connection, now)).toEqual([]);
    books.close();
  });

  test('an alert is not shown as open once its cause is gone: a later run succeeded, the books are fresh and proven', async () => {
    const facts = (['run', 'stale', 'unproven', 'listings'] as const).map((kind) => {
      const fact = exampleFacts[kind] as AlertFact;
      return fact.kind === 'run' ? fact : { ...fact, account: 'acc_one', key: `${kind}/acc_one` };
    });
    const alerts = facts.map((fact) => ({ alert_key: fact.key, kind: fact.kind, fact: JSON.stringify(fact) }));
    const shown = async (given: Given) => {
      const books = await givenBooks({ ...given, alerts });
      const keys = (await openAlerts(books.connection, now)).map(({ key }) => key);
      books.close();
      return keys.sort();
    };
    const run = { command: 'ingest', outcome: 'failed', exit_code: 3, error: 'no answer' };
    expect(
      await shown({
        ...fresh,
        covered: [{ window_end: '2026-09-05', claimed_end: '2026-09-05' }],
        unproven: [{ window_start: '2026-09-05', window_end: '2026-09-06' }],
        listings: [{ outcome: 'failed', reason: 'no answer' }],
        runs: [run],
      }),
    ).toEqual(['listings/acc_one', 'run/ingest', 'stale/acc_one', 'unproven/acc_one']);
    const done = { ...run, run_number: 2, outcome: 'done', exit_code: 0, error: null };
    expect(await shown({ ...fresh, runs: [run, done] })).toEqual([]);
  });

  test('an alert about an unknown billing dimension is not shown as open once the platform lists it', async () => {
    const fact = {
      ...(exampleFacts['dimension'] as AlertFact),
      key: 'dimension/acc_one/gpu_hours',
      account: 'acc_one',
    };
    const alerts = [
      { alert_key: fact.key, kind: 'dimension', fact: JSON.stringify({ ...fact, dimension: 'gpu_hours' }) },
    ];
    const shown = async (costs: NonNullable<Given['costs']>) => {
      const books = await givenBooks({ ...fresh, alerts, costs });
      const keys = (await openAlerts(books.connection, now)).map(({ key }) => key);
      books.close();
      return keys;
    };
    expect(await shown([{ billing_dimension: 'gpu_hours', cost: '1' }])).toEqual([fact.key]);
    expect(await shown([{ cost: '1' }])).toEqual([]);
  });

  test('an open alert stays open while its fact holds, even if it follows from another one now', async () => {
    const stale = exampleFacts['stale'] as AlertFact;
    const open = { key: 'stale/acc_one', fact: JSON.stringify({ ...stale, key: 'stale/acc_one', account: 'acc_one' }) };
    const books = await givenBooks({
      ...{ accounts: [{}], loads: [{}], covered: [{ window_end: '2026-09-07', claimed_end: '2026-09-07' }] },
      runs: [{ command: 'ingest', outcome: 'failed', exit_code: 3, error: 'no answer' }],
    });
    try {
      const alert = { ...open, occurrence: 1, isOpen: true, raisedAt: now, isNotified: true, sinks: ['a'] };
      const { facts } = await readAlertFacts(books.connection, [{ ...alert, acknowledgedUntil: undefined }], asked);
      expect(facts.map(({ key, state }) => `${state} ${key}`)).toEqual(['raised stale/acc_one', 'raised run/ingest']);
    } finally {
      books.close();
    }
  });

  test('severities come from the configuration', async () => {
    const books = await givenBooks({ accounts: [{}] });
    try {
      const { facts } = await readAlertFacts(books.connection, [], { ...asked, severities: { stale: 'info' } });
      expect(facts.map(({ kind, severity }) => [kind, severity])).toEqual([['stale', 'info']]);
    } finally {
      books.close();
    }
  });

  test('a failed step of a job is a fact until it succeeds; a step that was left out is none', async () => {
    const report = { step: 'report', command_line: 'report focus', position: 2 };
    const failed = { outcome: 'failed', exit_code: 3, error: 'no answer' };
    const leftOut = { ...report, outcome: 'left_out', exit_code: null };
    expect(await factsOf({ ...fresh, steps: [failed, leftOut] })).toMatchObject([
      { key: 'run/ingest', runNumber: 1, outcome: 'failed', exitCode: 3, error: 'no answer' },
    ]);
    const next = [{ run_number: 2 }, { ...report, run_number: 2, ...failed, exit_code: 4 }];
    expect(await factsOf({ ...fresh, steps: [failed, leftOut, ...next] })).toMatchObject([
      { key: 'run/report%20focus', command: 'report focus', exitCode: 4 },
    ]);
    // A report whose options were corrected is another command: the old one is over once its job succeeds with the new one.
    const corrected = { ...report, command_line: 'report focus --month last', run_number: 3, outcome: 'done' };
    const [before, after] = [2, 3].map((run_number) => ({ command: 'run nightly', run_number }));
    const runs = [
      { ...before, outcome: 'failed', exit_code: 4 },
      { ...after, outcome: 'done' },
    ];
    const isOver = [...next, corrected];
    expect(await factsOf({ ...fresh, steps: next, runs }), '--only ingest').toMatchObject([
      { command: 'report focus' },
    ]);
    expect(await factsOf({ ...fresh, steps: isOver, runs: runs.slice(0, 1) })).toMatchObject([
      { command: 'report focus' },
    ]);
    expect(await factsOf({ ...fresh, steps: isOver, runs })).toEqual([]);
    // By itself or as a step, it is the same ingest.
    const byItself = { command: 'ingest', run_number: 2, outcome: 'done', exit_code: 0, error: null };
    expect(await factsOf({ ...fresh, steps: [failed], runs: [byItself] })).toEqual([]);
    expect(await factsOf({ ...fresh, steps: [{ ...failed, run_number: 3 }], runs: [byItself] })).toMatchObject([
      { key: 'run/ingest', runNumber: 3 },
    ]);
  });

  test('a billing dimension that the platform does not list is a fact with its cost in complete hours', async () => {
    const costs = [
      { billing_dimension: 'quantum_seconds', bucket_start: '2026-09-07 05:00:00', cost: '100' },
      { billing_dimension: 'quantum_seconds', bucket_start: '2026-09-02 05:00:00', cost: '1.5' },
      { billing_dimension: 'quantum_seconds', bucket_start: '2026-09-03 05:00:00', cost: '2' },
      { cost: '7' },
    ];
    const covered = [{ window_end: '2026-09-07', claimed_end: '2026-09-07' }];
    expect((await factsOf({ ...fresh, covered, costs })).filter(({ kind }) => kind === 'dimension')).toMatchObject([
      {
        key: 'dimension/acc_one/quantum_seconds',
        severity: 'info',
        completeThrough: '2026-09-07T00:00:00Z',
        firstHour: '2026-09-02T05:00:00Z',
        cost: '3.500000000000',
      },
    ]);
  });

  describe('the newest closed month without an invoice', () => {
    const closed = (month: string, invoiced: string | null) => ({
      ...{ billing_month: `${month}-01`, closed_at: `${month}-28 02:00:00`, row_count: 0, cost: '12.5', invoiced },
    });
    const factsAt = async (day: string, invoiceDays: number | undefined, ...closes: NonNullable<Given['closes']>) => {
      const books = await givenBooks({ ...fresh, closes });
      const options = { ...asked, ...noChecks, now: Date.parse(`${day}T02:00:00Z`), invoiceDays, isNowChosen: true };
      const { facts } = await readAlertFacts(books.connection, [], options);
      books.close();
      return facts.filter(({ kind }) => kind === 'invoice');
    };

    test('is a fact ten days after its end if an earlier month was closed with one', async () => {
      const months = [closed('2026-06', '12.50'), closed('2026-07', null), closed('2026-08', null)] as const;
      expect(await factsAt('2026-08-10', undefined, ...months.slice(0, 2))).toEqual([]);
      const [fact, ...others] = await factsAt('2026-09-11', undefined, ...months);
      expect(others).toEqual([]);
      expect(fact).toMatchObject({
        ...{ key: 'invoice/acc_one', severity: 'info', month: '2026-08', billed: '12.500000000000' },
        revision: '2026-08',
      });
      expect(nextWords(stepOf(fact as DataFact))).toContain(
        `run "costbook reopen 2026-08 --reason correction", then "costbook close 2026-08 --invoice acc_one=TOTAL"`,
      );
      // The month before is reported while the newest is not due.
      expect(await factsAt('2026-09-10', undefined, ...months)).toMatchObject([{ month: '2026-07' }]);
    });

    test('is none without an earlier invoice, unless the configuration says when invoices come', async () => {
      expect(await factsAt('2026-10-20', undefined, closed('2026-08', null))).toEqual([]);
      expect(await factsAt('2026-09-06', 5, closed('2026-08', null))).toMatchObject([{ month: '2026-08' }]);
      expect(await factsAt('2026-09-05', 5, closed('2026-08', null))).toEqual([]);
    });

    test('is none for a month that was closed with --invoice none', async () => {
      const none = { ...closed('2026-08', null), has_no_invoice: true };
      expect(await factsAt('2026-10-20', 5, none)).toEqual([]);
      expect(await factsAt('2026-10-20', 5, closed('2026-07', null), none)).toMatchObject([{ month: '2026-07' }]);
    });

    test('is none before a month that has its invoice', async () => {
      expect(await factsAt('2026-10-20', 5, closed('2026-07', null), closed('2026-08', '12.5'))).toEqual([]);
    });
  });

  test('a closed month that changed is a fact with the amount and the largest changes', async () => {
    const hour = { bucket_start: '2026-08-03 05:00:00' };
    const given: Given = {
      accounts: [{ history_start: '2026-08-01' }],
      loads: [{ window_start: '2026-08-01' }, { load_number: 2, window_start: '2026-08-01' }],
      covered: [{ window_start: '2026-08-01' }],
      closes: [{ billing_month: '2026-08-01', closed_at: '2026-09-05 02:00:00', row_count: 1, cost: '2.6' }],
      costs: [{ ...hour, cost: '15', load_number: 2 }],
      restatements: [{ ...hour, old_cost: '2.6', new_cost: '15', old_usage: '1', new_usage: '1' }],
    };
    expect(await factsOf(given)).toMatchObject([
      {
        key: 'closed_month/acc_one/2026-08',
        kind: 'closed_month',
        severity: 'warning',
        cost: '12.400000000000',
        revision: '2026-09 12.400000000000',
        corrections: 1,
        deliveredIn: ['2026-09'],
        billed: [{ month: '2026-09', cost: '12.400000000000' }],
        reopen: ['2026-08'],
        drivers: [
          {
            account: 'acc_one',
            workspace: 'north',
            resourceType: 'sandbox',
            resourceName: 'box',
            cost: '12.400000000000',
          },
        ],
      },
    ]);
  });

  test('a closed month whose change a later close has billed is no fact; one that an open month bills has no step', async () => {
    const hour = { bucket_start: '2026-08-03 05:00:00' };
    const given = (...later: string[]): Given => ({
      accounts: [{ history_start: '2026-08-01' }],
      loads: [{ window_start: '2026-08-01' }, { load_number: 2, window_start: '2026-08-01' }],
      covered: [{ window_start: '2026-08-01' }],
      closes: [
        { billing_month: '2026-08-01', closed_at: '2026-09-05 02:00:00', row_count: 1, cost: '2.6' },
        ...later.map((month) => ({
          billing_month: `${month}-01`,
          ...{ closed_at: '2026-10-05 02:00:00', load_number: 2, corrections: 1, correction_cost: '12.4' },
        })),
      ],
      costs: [{ ...hour, cost: '15', load_number: 2 }],
      restatements: [{ ...hour, old_cost: '2.6', new_cost: '15', old_usage: '1', new_usage: '1' }],
    });
    const [fact] = await factsOf(given());
    expect(nextWords(stepOf(fact as DataFact))).toMatch(
      /^No action needed: 2026-08 stays as it was closed; the close of 2026-09 will show .* "costbook reopen 2026-08 --reason correction", then "costbook close 2026-08"\.$/,
    );
    expect(await factsOf(given('2026-09'))).toEqual([]);
    // An account that was added later: its month cannot be closed again before its books begin with it.
    const [added] = await factsOf({ ...given(), accounts: [{ history_start: '2026-08-02' }] });
    expect(nextWords(stepOf(added as DataFact))).toMatch(
      /instead, set since of acc_one to 2026-08-01, run "costbook ingest", then run "costbook reopen 2026-08 --reason correction", then/,
    );
  });

  test('a closed month that lost its rows is one critical fact that names the months to close again', async () => {
    const hour = { bucket_start: '2026-08-03 05:00:00' };
    const given: Given = {
      accounts: [{ history_start: '2026-08-01' }],
      loads: [{ window_start: '2026-08-01' }, { load_number: 2, window_start: '2026-08-01', window_end: '2026-09-01' }],
      covered: [{ window_start: '2026-08-01', load_number: 2, since_load: 2 }],
      closes: [{ billing_month: '2026-08-01', closed_at: '2026-09-05 02:00:00', row_count: 2, cost: '6155.10' }],
      costs: [
        { ...hour, cost: '4377.22', load_number: 1 },
        { bucket_start: '2026-08-10 05:00:00', cost: '1777.88', load_number: 2 },
      ],
    };
    const [fact, ...others] = await factsOf(given);
    expect(fact).toMatchObject({
      kind: 'closed_month',
      severity: 'critical',
      differs: { closedCost: '6155.100000000000', cost: '4377.220000000000', reopen: ['2026-08'] },
    });
    expect(others).toEqual([]);
    const step = nextWords(stepOf(fact as DataFact));
    expect(step).toMatch(
      /^Act \(operator of Costbook\): .*"costbook reopen 2026-08 --reason correction", then "costbook close 2026-08"/,
    );
  });

  test('a check that finds rows is a fact with the severity of the check', async () => {
    const books = await givenBooks({ ...fresh, costs: [{ usage: '-1', cost: '1' }] });
    try {
      const { facts } = await readAlertFacts(books.connection, [], {
        now,
        freshnessHours: 26,
        configured: [],
        budgets: [],
        overlay: '/nowhere',
        signal: new AbortController().signal,
      });
      expect(facts.find(({ key }) => key === 'check/usage_is_not_negative')).toMatchObject({
        kind: 'check',
        offenders: 1,
        error: null,
        completeThrough: '2026-09-08T00:00:00Z',
      });
    } finally {
      books.close();
    }
  });

  test('spend is still reported if a bug prevents forecasts', async () => {
    const text =
      'budgets: [{ name: some, period: monthly, amount: 2 USD, thresholds: [{ at: 100% }, { at: 200%, of: forecast }] }]';
    const books = await givenBooks({ ...fresh, costs: [{ cost: '3' }] });
    const bug = new Error('the model is broken');
    try {
      const read = await readAlertFacts(books.connection, [], {
        now,
        freshnessHours: 26,
        configured: [],
        budgets: parseBudgets({ text, file: 'jobs/budgets.yaml', now }),
        isForecastStored: true,
        forecaster: async () => {
          throw bug;
        },
        overlay: '/nowhere',
        signal: new AbortController().signal,
      });
      const budgets = read.facts.filter(({ kind }) => kind === 'budget');
      expect(budgets.map(({ key, state }) => [key, state])).toEqual([['budget/@all/some/2026-09/100%', 'raised']]);
      expect(read).toMatchObject({ bug, forecasts: [], problem: undefined });
    } finally {
      books.close();
    }
  });

  test('a stored forecast is made again: costs may have changed since', async () => {
    const text = `budgets:
  - { name: asked, period: monthly, amount: 9 USD, thresholds: [{ at: 100%, of: forecast }] }
  - { name: kept, period: monthly, amount: 9 USD, thresholds: [{ at: 100% }] }
`;
    const costs = Array.from({ length: 30 }, (_, day) => ({
      bucket_start: `${new Date(Date.UTC(2026, 7, 9 + day, 1)).toISOString().slice(0, 10)} 01:00:00`,
      cost: '1',
    }));
    const read = async (forecasts: NonNullable<Given['forecasts']>) => {
      const books = await givenBooks({
        accounts: [{ history_start: '2026-08-01' }],
        loads: [{}],
        covered: [{ window_start: '2026-08-01' }],
        costs,
        forecasts,
      });
      try {
        const { forecasts: made, facts } = await readAlertFacts(books.connection, [], {
          now,
          freshnessHours: 26,
          configured: [],
          budgets: parseBudgets({ text, file: 'jobs/budgets.yaml', now }),
          isForecastStored: true,
          overlay: '/nowhere',
          signal: new AbortController().signal,
          ...noChecks,
        });
        const names = made.map(({ scope }) => (scope.kind === 'budget' ? scope.budget.name : scope.workspace));
        const states = facts.flatMap((fact) => (fact.kind === 'budget' ? [`${fact.key} ${fact.state}`] : []));
        return { names, states };
      } finally {
        books.close();
      }
    };
    const scope = JSON.stringify({});
    const before = [
      { budget: 'asked', scope },
      { budget: 'kept', scope },
      {
        scope_kind: 'workspace',
        budget: null,
        scope: null,
        account: 'acc_one',
        workspace: 'north',
        resource_type: 'sandbox',
      },
    ];
    const first = await read([]);
    expect(first.names).toEqual(['asked', 'kept', 'north']);
    expect(first.states).toContain('budget/@all/asked/2026-09/forecast:100% raised');
    expect(await read(before)).toEqual(first);
  });

  test('a fact that no longer holds is resolved; one that is no longer evaluated is withdrawn', async () => {
    const stale = {
      key: 'stale/acc_one',
      kind: 'stale',
      account: 'acc_one',
      severity: 'critical',
      notify: [],
      freshnessHours: 26,
    };
    const alerts = [
      { fact: JSON.stringify(stale) },
      {
        alert_key: 'check/gone',
        kind: 'check',
        fact: JSON.stringify({ key: 'check/gone', kind: 'check', check: 'gone', account: null }),
      },
    ];
    const books = await givenBooks({ ...fresh, alerts });
    try {
      const { facts } = await readAlertFacts(books.connection, await knownAlerts(books.connection), {
        now,
        freshnessHours: 26,
        configured: [],
        budgets: [],
        overlay: '/nowhere',
        signal: new AbortController().signal,
      });
      expect(facts.filter(({ state }) => state !== 'raised')).toMatchObject([
        { key: 'check/gone', state: 'withdrawn' },
        { key: 'stale/acc_one', state: 'resolved', completeThrough: '2026-09-08T00:00:00Z' },
      ]);
    } finally {
      books.close();
    }
  });
});

test.each([
  ['unchanged', 'period: monthly', []],
  ['of other periods', 'period: daily', ['withdrawn']],
  ['of another account', 'scope: { account: acc_one }, period: monthly', ['withdrawn']],
  ['without the threshold', 'period: monthly, thresholds: [{ at: 90% }]', ['withdrawn']],
])('the alert of a budget that is %s now is withdrawn unless it still applies', async (_, keys, states) => {
  const key = 'budget/@all/all/2026-08/100%';
  const fact = {
    key,
    kind: 'budget',
    budget: 'all',
    account: null,
    period: '2026-08',
    threshold: '100%',
    revision: null,
  };
  const books = await givenBooks({
    ...fresh,
    alerts: [{ alert_key: key, kind: 'budget', fact: JSON.stringify(fact) }],
  });
  try {
    const text = `budgets: [{ name: all, ${keys}, amount: 100 USD }]`;
    const { facts } = await readAlertFacts(books.connection, await knownAlerts(books.connection), {
      now,
      freshnessHours: 26,
      configured: [],
      budgets: parseBudgets({ text, file: 'budgets.yaml', now }),
      overlay: '/nowhere',
      signal: new AbortController().signal,
      ...noChecks,
    });
    const notified = facts.filter((notified) => notified.key === key && notified.state === 'withdrawn');
    expect(notified.map(({ state }) => state)).toEqual(states);
  } finally {
    books.close();
  }
});

test('the view alerts has a row each time an alert is raised, and the sinks that were notified', async () => {
  const rows = await answer(
    {
      alerts: [
        { ending: 'resolved', ended_at: '2026-09-11 02:00:00' },
        { occurrence: 2, raised_at: '2026-09-12 02:00:00', run_number: 4 },
      ],
      acknowledgements: [{}],
      outbox: [
        { outcome: 'delivered', ended_at: '2026-09-10 02:00:02' },
        { message_number: 2, sink: 'mail', outcome: 'dead', ended_at: '2026-09-17 02:00:00' },
        { message_number: 3, message: '{"entries": [{"key": "stale/acc_one", "occurrence": 2}]}' },
      ],
    },
    `select occurrence, is_open, ending, acknowledged_until, last_delivered_at, pending_messages, dead_messages
    from alerts order by occurrence`,
  );
  expect(rows).toEqual([
    {
      occurrence: 1,
      is_open: false,
      ending: 'resolved',
      acknowledged_until: null,
      last_delivered_at: '2026-09-10 02:00:02',
      pending_messages: '0',
      dead_messages: '1',
    },
    {
      occurrence: 2,
      is_open: true,
      ending: null,
      acknowledged_until: '2026-09-20 00:00:00',
      last_delivered_at: null,
      pending_messages: '1',
      dead_messages: '0',
    },
  ]);
});

test('the view messages has each message with all of its attempts', async () => {
  const rows = await answer(
    {
      outbox: [
        { outcome: 'delivered', ended_at: '2026-09-11 02:00:01' },
        { message_number: 2, sink: 'mail' },
      ],
      deliveries: [
        { tries: 4, outcome: 'unknown', reason: 'answered 503', ended_at: '2026-09-10 02:00:09' },
        {
          run_number: 3,
          began_at: '2026-09-11 02:00:00',
          tries: 1,
          outcome: 'delivered',
          ended_at: '2026-09-11 02:00:01',
        },
      ],
    },
    'select message_id, sink, outcome, runs, tries, last_tried_at, reason from messages order by message_number',
  );
  expect(rows).toEqual([
    {
      message_id: 'm1',
      sink: 'finops',
      outcome: 'delivered',
      runs: '2',
      tries: '5',
      last_tried_at: '2026-09-11 02:00:00',
      reason: null,
    },
    { message_id: 'm1', sink: 'mail', outcome: 'pending', runs: '0', tries: '0', last_tried_at: null, reason: null },
  ]);
});

test.each([
  ['of the last week', ['09-10', '09-12', '09-17'], '09-10', '09-17'],
  ['after a gap', ['09-10', '09-20', '09-21'], '09-20', '09-21'],
  ['after another message', ['09-10', '09-12'], '09-10', null],
])('attempts at a sink are counted without a long gap: those %s', async (_, days, since, last) => {
  const books = await givenBooks({
    outbox: [{}, { message_number: 2 }],
    deliveries: days.map((day, index) => ({
      message_number: last === null ? 1 : 2,
      ...{ run_number: index + 1, began_at: `2026-${day} 02:00:00`, outcome: 'refused' },
    })),
  });
  try {
    const at = (day: string) => Date.parse(`2026-${day}T02:00:00Z`);
    const pending = await pendingMessages(books.connection, 7);
    expect(pending.find(({ number }) => number === 2)?.tried).toEqual(
      last === null ? undefined : { since: at(since), last: at(last) },
    );
  } finally {
    books.close();
  }
});

test('a summary compares a week with the one before, and names the largest changes and missing data', async () => {
  const books = await givenBooks({
    accounts: [{ history_start: '2026-08-24' }],
    loads: [{}],
    covered: [{ window_start: '2026-08-24', window_end: '2026-09-08', claimed_end: '2026-09-08' }],
    costs: [
      { bucket_start: '2026-08-25 01:00:00', cost: '10' },
      { bucket_start: '2026-09-01 01:00:00', cost: '12.5' },
      { bucket_start: '2026-09-02 01:00:00', cost: '1', resource_name: 'new' },
      { bucket_start: '2026-08-26 01:00:00', cost: '3', resource_name: 'same' },
      { bucket_start: '2026-09-02 01:00:00', cost: '3', resource_name: 'same' },
      { bucket_start: '2026-09-07 01:00:00', cost: '100' },
    ],
  });
  try {
    const budgets = parseBudgets({
      text: 'budgets: [{ name: all, period: monthly, amount: 100 USD }]',
      file: 'budgets.yaml',
      now,
    });
    const asked = { now, freshnessHours: 26, configured: [], budgets };
    const summary = await readCostSummary(books.connection, 'weekly', asked);
    expect(summary).toMatchObject({
      name: 'weekly/2026-W36',
      start: '2026-08-31T00:00:00Z',
      end: '2026-09-07T00:00:00Z',
      spent: '16.500000000000',
      spentBefore: '13.000000000000',
      movers: [
        { name: 'sandbox box in north', cost: '12.500000000000', costBefore: '10.000000000000' },
        { name: 'sandbox new in north', cost: '1.000000000000', costBefore: '0.000000000000' },
      ],
      budgets: [{ budget: 'all', period: '2026-09', spent: '116.500000000000', state: 'EXCEEDED' }],
      gaps: [],
    });
    expect(summary.text).toContain('Spent: 16.50 USD; period before: 13.00 USD (+3.50 USD)');
    const month = await readCostSummary(books.connection, 'monthly', asked);
    expect(month).toMatchObject({ name: 'monthly/2026-08', spent: '13.000000000000', spentBefore: null });
    // Nothing is compared with a month that is not in the books: missing is not 0.
    expect(month.movers).toEqual([]);
    expect(month.gaps).toEqual([
      'The month (2026-08-01T00:00:00Z/2026-09-01T00:00:00Z) is not complete: the books of acc_one start at 2026-08-24T00:00:00Z',
      'The month before (2026-07-01T00:00:00Z/2026-08-01T00:00:00Z) is not complete: the books of acc_one start at 2026-08-24T00:00:00Z',
    ]);
  } finally {
    books.close();
  }
});

describe('a summary', () => {
  const covered = { window_start: '2026-07-01', window_end: '2026-09-08', claimed_end: '2026-09-08' };
  const given: Given = {
    accounts: [{ history_start: '2026-07-01' }],
    loads: [{}],
    covered: [covered],
    costs: Array.from({ length: 69 }, (_, day) => ({
      bucket_start: `${new Date(Date.UTC(2026, 6, 1 + day, 1)).toISOString().slice(0, 10)} 01:00:00`,
      cost: '10',
    })),
  };

  async function digestOf(more: Given, anomalyRules = { isOn: true }) {
    const books = await givenBooks({ ...given, ...more });
    try {
      const budgets = parseBudgets({
        text: `budgets:
  - { name: tight, period: monthly, amount: 250 USD, thresholds: [{ at: 100%, of: forecast }] }
  - { name: wide, period: monthly, amount: 900 USD, thresholds: [{ at: 100%, of: forecast }] }
  - { name: plain, period: monthly, amount: 250 USD, thresholds: [{ at: 100% }] }
`,
        file: 'budgets.yaml',
        now,
      });
      return await readCostSummary(books.connection, 'weekly', {
        ...{ now, freshnessHours: 26, configured: [], budgets, anomalyRules },
      });
    } finally {
      books.close();
    }
  }

  test('of an incomplete week compares nothing with the week before', async () => {
    const end = '2026-09-03';
    const { title, text, spent, movers } = await digestOf({
      covered: [{ ...covered, window_end: end, claimed_end: end }],
    });
    expect(title).toBe(`Week 2026-W36: ${Number(spent).toFixed(2)} USD spent so far; not complete`);
    expect(text).toContain('is not complete');
    expect(text).not.toMatch(/Moved most|\([+-]\d/);
    expect(movers).toEqual([]);
  });

  test('names a budget that is forecast to be exceeded, with the amount and the day', async () => {
    const { budgets, text } = await digestOf({});
    expect(budgets.map(({ budget, state }) => [budget, state])).toEqual([
      ['tight', 'FORECAST'],
      ['wide', 'OK'],
      ['plain', 'FORECAST'],
    ]);
    expect(budgets[0]?.forecast).toMatch(
      /^tight: 300\.00 USD forecast for 2026-09 \(80 % interval [\d.]+ to [\d.]+\), expected to exceed 250\.00 USD around 25 Sep$/,
    );
    expect(budgets[1]?.forecast).toBeNull();
    // No threshold of it asks for a forecast.
    expect(budgets[2]?.forecast).toMatch(/^plain: 300\.00 USD forecast for 2026-09 /);
    expect(text).toContain(`\n${budgets[0]?.forecast}\n`);
  });

  test('counts open anomalies, and those that ended since its week started', async () => {
    const anomalies = [
      {},
      { anomaly_key: 'a2', impact: '-5.5' },
      { anomaly_key: 'a3', state: 'over', ended_day: '2026-09-01', impact: '7' },
      { anomaly_key: 'a4', state: 'usual', ended_day: '2026-09-01', impact: '1' },
      // Before the week, replaced by a larger one, restated away, or not reported.
      { anomaly_key: 'a5', state: 'over', ended_day: '2026-08-30' },
      { anomaly_key: 'a6', state: 'grown', ended_day: '2026-09-02' },
      { anomaly_key: 'a7', state: 'restated', ended_day: '2026-09-02' },
      { anomaly_key: 'a8', is_notified: false },
    ];
    const summary = await digestOf({ anomalies, anomaly_evaluations: [{}] });
    expect(summary.anomalies).toEqual({
      open: 2,
      openImpact: '14.500000000000',
      over: 2,
      overImpact: '8.000000000000',
    });
    expect(summary.text).toContain(
      '\nAnomalies: 2 open, +14.50 USD so far; 2 ended since 2026-08-31, +8.00 USD. Details: costbook report anomalies\n',
    );
  });

  test('leaves anomalies out if there are none, and says so if they were never evaluated', async () => {
    expect((await digestOf({ anomaly_evaluations: [{}] })).text).not.toContain('Anomalies');
    expect(await digestOf({})).toMatchObject({
      anomalies: null,
      text: expect.stringContaining('\nAnomalies: not evaluated yet. Run "costbook alert".\n'),
    });
    expect((await digestOf({}, { isOn: false })).text).not.toContain('Anomalies');
  });
});
