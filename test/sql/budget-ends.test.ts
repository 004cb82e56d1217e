import { describe, expect, test } from 'vitest';
import { readAnomalyShares } from '../../src/budgets/forecasts/anomaly-shares.ts';
import { readAnomaliesKnown } from '../../src/budgets/forecasts/known-anomalies.ts';
import { readForecasts, withForecasts } from '../../src/budgets/forecasts/scope-forecasts.ts';
import { budgetCalendar } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { endOfBudget, readSpends } from '../../src/budgets/spend/index.ts';
import type { BudgetAlertFact } from '../../src/findings/budget-fact.ts';
import { readAlertFacts } from '../../src/findings/collect.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

const hourMs = 3_600_000;
const text = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Costs of 0.25 USD in each hour from an instant on, also in the hours after the last complete one. */
function flat(from: string, through: string, more: Partial<Given> = {}, firstCost = from): Given {
  const [start, end] = [Date.parse(`${from}:00:00Z`), Date.parse(`${through}:00:00Z`)];
  const costs = [];
  for (let at = Date.parse(`${firstCost}:00:00Z`); at < end + 2 * hourMs; at += hourMs) {
    costs.push({ bucket_start: text(at), cost: '0.25', usage: '1' });
  }
  const window = { account: 'acc_one', window_start: text(start), window_end: text(end), claimed_end: text(end) };
  const young = { ...window, window_start: text(end), window_end: text(end + 2 * hourMs) };
  return {
    accounts: [{ account: 'acc_one', history_start: text(start) }],
    covered: [window, { ...young, claimed_end: text(end) }],
    loads: [{ ...window, seen_at: text(end + 3 * hourMs) }],
    ...more,
    costs: [...costs, ...(more.costs ?? [])],
  };
}

const all = `budgets:
  - { name: month, period: monthly, amount: 181 USD, thresholds: [{ at: 0.1% }] }
  - { name: day, period: daily, amount: 6.5 USD, thresholds: [{ at: 1% }] }
  - { name: week, period: weekly, amount: 43 USD, thresholds: [{ at: 0.1% }] }
  - { name: year, period: yearly, amount: 1400 USD, thresholds: [{ at: 0.1% }] }
`;

/** Where the messages of a run, or of a dry run, say that each budget ends: rounded USD. */
async function ends(given: Given, now: string, { file = all, isForecastStored = true } = {}) {
  const { connection, close } = await givenBooks(given);
  const at = Date.parse(`${now}:00:00Z`);
  try {
    const budgets = parseBudgets({ text: file, file: 'jobs/budgets.yaml', now: at });
    const asked = { now: at, freshnessHours: 26, configured: [], budgets };
    const { facts, bug } = await readAlertFacts(connection, [], {
      ...{ ...asked, overlay: '/nowhere', signal: new AbortController().signal, isForecastStored },
      ...{ runChecks: async () => [], anomalyRules: undefined },
    });
    if (bug !== undefined) throw bug;
    const said = facts.flatMap((fact) => (fact.kind === 'budget' && fact.state === 'raised' ? [fact] : []));
    const spends = await readSpends(
      connection,
      budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(at) })),
      asked,
    );
    const shown = withForecasts(spends, await readForecasts(connection, { ...asked, withWorkspaces: false }));
    const answers = shown.map((spend, index) => {
      const budget = budgets[index];
      return budget && endOfBudget(budget, spend)?.expected;
    });
    return {
      messages: Object.fromEntries(said.map((fact: BudgetAlertFact) => [fact.budget, cents(fact.end?.expected)])),
      severities: new Set(said.map(({ severity }) => severity)),
      answers: Object.fromEntries(
        budgets.map(({ name }, index) => [name, answers[index] === undefined ? null : Number(answers[index]) / 1e12]),
      ),
      facts: said,
    };
  } finally {
    close();
  }
}

function cents(text: string | undefined): number | null {
  return text === undefined ? null : Math.round(Number(text) * 100) / 100;
}

describe('a budget of costs that are the same in every hour ends', () => {
  test.each([
    ['in the first hours of a month', '2026-11-01T02', '2026-11-01T04', { month: 180, day: 6, week: 42 }],
    ['on its tenth day', '2026-11-10T04', '2026-11-10T06', { month: 180, day: 6, week: 42 }],
  ])('where it must, by the pace of books that began a week before: %s', async (_, through, now, expected) => {
    const found = await ends(flat('2026-10-25T00', through), now);
    expect(found.messages).toMatchObject(expected);
    expect(found.severities).toEqual(new Set(['info']));
    expect(found.answers).toMatchObject(expected);
  });

  test('at the pace since the books began: what nobody knows was not free', async () => {
    const file = `budgets:
  - { name: year, period: yearly, amount: 100 USD, thresholds: [{ at: 1% }] }
  - { name: quarter, period: quarterly, amount: 200 USD, thresholds: [{ at: 1% }] }
`;
    const { messages, severities, answers } = await ends(flat('2026-10-25T00', '2026-11-03T04'), '2026-11-03T06', {
      file,
    });
    // 220 complete hours cost 55 USD, and 58 days and 20 hours are to come.
    expect(messages).toEqual({ year: 408, quarter: 408 });
    expect(answers).toEqual(messages);
    expect(severities).toEqual(new Set(['warning']));
  });

  test('at the pace since the first cost of its scope', async () => {
    const { messages } = await ends(flat('2026-08-01T00', '2026-11-03T04', {}, '2026-11-01T18'), '2026-11-03T06');
    // 6.25 USD of November are missing before 18:00 on the first.
    expect(messages).toMatchObject({ month: 175.5, year: 361.5 });
  });

  test('where the dry run says that it ends', async () => {
    const given = flat('2026-08-01T00', '2026-11-03T04');
    const [run, dry] = [
      await ends(given, '2026-11-03T06'),
      await ends(given, '2026-11-03T06', { isForecastStored: false }),
    ];
    expect(run.messages).toEqual({ month: 180, day: 6, week: 42, year: 918 });
    expect(dry.facts).toEqual(run.facts);
    expect(run.answers).toEqual(run.messages);
  });

  test('where the first alert said, at the second alert over the same costs', async () => {
    const given = flat('2026-08-01T00', '2026-11-03T04');
    const made = {
      period: '2026-11',
      period_kind: 'monthly',
      complete_through: '2026-11-03 04:00:00',
      budget: 'month',
    };
    const stored = { ...given, forecasts: [{ ...made, scope_kind: 'budget', scope: '{}', forecast: '180' }] };
    expect((await ends(stored, '2026-11-03T06')).messages).toEqual({ month: 180, day: 6, week: 42, year: 918 });
  });
});

describe('a runaway resource', () => {
  const day = 86_400_000;
  const [first, through] = [Date.UTC(2026, 10, 11), Date.UTC(2026, 10, 21)];
  const box = { workspace: 'north', resource_type: 'sandbox', resource_name: 'run-1', resource_uuid: 'run-1' };
  const extra = Array.from({ length: 240 }, (_, hour) => ({
    ...box,
    ...{ bucket_start: text(first + hour * hourMs), cost: '1', usage: '1' },
  }));
  const detail = {
    impacts: new Array(10).fill(24),
    ...{ firstHour: '2026-11-11T00:00:00Z', pace: null, moved: null, priceEffect: null, volumeEffect: null },
    drivers: [{ resourceName: 'run-1', resourceUuid: 'run-1', cost: '240', expected: '0', part: 100 }],
  };
  const given = flat('2026-08-01T00', '2026-11-21T00', {
    costs: extra,
    resources: [{ ...box, labels: '{"kind":"spark"}' }],
    anomalies: [
      {
        ...{
          first_day: '2026-11-11',
          last_day: '2026-11-20',
          notified_day: '2026-11-11',
          impact: '240',
          state: 'open',
        },
        ...{ recorded_at: '2026-11-12 02:00:00', detail: JSON.stringify(detail), is_notified: true, is_up: true },
      },
    ],
    anomaly_evaluations: [{ evaluated_through: text(through), recorded_at: text(through) }],
    allocation: `dimensions: [team]
rules:
  - { name: runs, when: { resource_name: ["run-*"] }, owner: { team: Runs } }
default: { team: Rest }
`,
  });
  const file = `budgets:
  - { name: all, period: monthly, amount: 200 USD }
  - { name: owner, period: monthly, amount: 200 USD, scope: { owner: { team: Runs } } }
  - { name: rest, period: monthly, amount: 200 USD, scope: { owner: { team: Rest } } }
  - { name: name, period: monthly, amount: 200 USD, scope: { resource_name: ["run-*"] } }
  - { name: label, period: monthly, amount: 200 USD, scope: { label: { kind: spark } } }
`;

  test('is in budgets of its owner, its name and its label, which say where they end if it stops now', async () => {
    const { connection, close } = await givenBooks(given);
    const now = through + 4 * hourMs;
    try {
      const budgets = parseBudgets({ text: file, file: 'jobs/budgets.yaml', now });
      const asked = { now, freshnessHours: 26, configured: [], budgets };
      const spends = withForecasts(
        await readSpends(
          connection,
          budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) })),
          asked,
        ),
        await readForecasts(connection, { ...asked, withWorkspaces: false }),
      );
      const found = budgets.map((budget, index) => {
        const spend = spends[index];
        const end = spend && endOfBudget(budget, spend);
        const usd = (whole: bigint | undefined) => (whole === undefined ? null : Math.round(Number(whole) / 1e12));
        return [budget.name, usd(end?.expected), usd(end?.stopped)];
      });
      expect(Math.round((through - first) / day)).toBe(10);
      expect(found).toEqual([
        ['all', 660, 420],
        ['owner', 480, 240],
        ['rest', 180, null],
        ['name', 480, 240],
        ['label', 480, 240],
      ]);
    } finally {
      close();
    }
  });

  test('is in a budget of names with its own part of an anomaly, beside the parts of other resources', async () => {
    const drivers = [
      { resourceName: 'run-1', cost: '240', part: 60 },
      { resourceName: 'web-1', cost: '100', part: 25 },
      { resourceName: null, cost: '60', part: 15 },
    ];
    const [anomaly] = given.anomalies ?? [];
    const { connection, close } = await givenBooks({
      ...given,
      anomalies: [{ ...anomaly, detail: JSON.stringify({ ...detail, drivers }) }],
    });
    try {
      const now = through + 4 * hourMs;
      const budgets = parseBudgets({ text: file, file: 'jobs/budgets.yaml', now });
      const { rows } = await readAnomaliesKnown(connection, first);
      const shares = await readAnomalyShares(connection, budgets, { rows, now });
      expect([...shares].map(([name, parts]) => [name, [...parts.values()]])).toEqual([
        ['owner', [60 / 85]],
        ['rest', []],
        ['name', [0.6]],
        ['label', [60 / 85]],
      ]);
    } finally {
      close();
    }
  });
});
