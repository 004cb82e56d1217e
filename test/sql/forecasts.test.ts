import { describe, expect, test } from 'vitest';
import { type ForecastScope, forecastRow, type ScopeForecast } from '../../src/budgets/forecasts/forecast-rows.ts';
import { readForecasts } from '../../src/budgets/forecasts/scope-forecasts.ts';
import type { Budget } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { formatInstant } from '../../src/time/time.ts';
import { answer, type Given, givenBooks } from '../support/given-books.ts';
import { reported } from '../support/reported.ts';

const now = Date.parse('2026-09-20T12:00:00Z');

/** Books of an account that start in August and are complete through this hour of September. */
function complete(
  through: string,
  account = 'acc_one',
  since = '2026-08-01',
): Required<Pick<Given, 'accounts' | 'covered' | 'loads'>> {
  return {
    accounts: [{ account, history_start: since }],
    covered: [{ account, window_start: since, window_end: through, claimed_end: through }],
    loads: [
      { account, window_start: since, window_end: through, claimed_end: through, seen_at: '2026-09-20 11:00:00' },
    ],
  };
}

/** An hour with a cost on each day from one to before another. */
function daily(
  from: string,
  to: string,
  cost: (day: number) => number,
  cells: Readonly<Record<string, string | null>> = {},
  hour = 12,
) {
  const rows: Record<string, string | null>[] = [];
  for (
    let at = Date.parse(`${from}T00:00:00Z`), day = 0;
    at < Date.parse(`${to}T00:00:00Z`);
    at += 86_400_000, day += 1
  ) {
    const bucket_start = formatInstant(at + hour * 3_600_000)
      .slice(0, 19)
      .replace('T', ' ');
    rows.push({ bucket_start, cost: String(cost(day)), usage: '1', ...cells });
  }
  return rows;
}

function budgets(text: string): readonly Budget[] {
  return parseBudgets({ text: `budgets:\n${text}`, file: 'jobs/budgets.yaml', now });
}

async function forecasts(
  given: Given,
  asked: Partial<Parameters<typeof readForecasts>[1]> = {},
): Promise<ScopeForecast[]> {
  const { connection, close } = await givenBooks(given);
  try {
    return await readForecasts(connection, { now, configured: [], budgets: [], withWorkspaces: false, ...asked });
  } finally {
    close();
  }
}

/** What is forecast as whole cents. */
function cents(amount: bigint | undefined): number | undefined {
  return amount === undefined ? undefined : Math.round(Number(amount) / 1e10);
}

function meanOf({ forecast }: ScopeForecast): number | string | undefined {
  return forecast.kind === 'none' ? forecast.reason : cents(forecast.mean);
}

const everything = '  - { name: everything, period: monthly, amount: 25 USD }';

describe('a forecast', () => {
  test('is the cost of the complete hours of the period plus the expected rest', async () => {
    const given = { ...complete('2026-09-20'), costs: daily('2026-08-01', '2026-09-20', () => 1) };
    const [made] = await forecasts(given, { budgets: budgets(everything) });
    expect(made).toMatchObject({
      periodKind: 'monthly',
      period: { name: '2026-09' },
      completeThrough: Date.parse('2026-09-20T00:00:00Z'),
      amount: 25n * 10n ** 12n,
      forecast: { kind: 'forecast', stepHours: 24 },
    });
    expect(made && [cents(made.spent), meanOf(made)]).toEqual([1900, 3000]);
    // The sixth day from the twentieth on is the one on which more than 25 are spent.
    expect(made && forecastRow(made)).toMatchObject({
      scope_kind: 'budget',
      budget: 'everything',
      scope: '{}',
      spent: '19.000000000000',
      forecast: '30.000000000000',
      exceeds_on: '2026-09-25',
      complete_through: '2026-09-20T00:00:00Z',
      history_end: '2026-09-20T00:00:00Z',
      reason: null,
    });
  });

  test('adds the planned changes of the file by their share of its costs, and says so', async () => {
    const given = {
      ...complete('2026-09-20'),
      costs: [
        ...daily('2026-08-01', '2026-09-20', () => 3),
        ...daily('2026-08-01', '2026-09-20', () => 1, { workspace: 'south' }),
      ],
    };
    // Ten days remain; from the 26th on, five.
    const text = `  - { name: all, period: monthly, amount: 25 USD }
  - { name: north, period: monthly, amount: 25 USD, scope: { workspace: north } }
  - { name: boxes, period: monthly, amount: 25 USD, scope: { resource_type: sandbox, workspace: [north, west] } }
changes:
  - { name: launch, on: 2026-09-26, effect: +50%, scope: { workspace: south } }
  - { name: promise, on: 2026-09-21, effect: +8 USD }
  - { name: west, on: 2026-09-26, effect: +2 USD daily, scope: { workspace: west } }
`;
    const made = await forecasts(given, {
      budgets: budgets(text),
      withWorkspaces: true,
      changes: budgets(text)[0]?.changes ?? [],
    });
    const nameOf = ({ scope }: ScopeForecast) => (scope.kind === 'budget' ? scope.budget.name : scope.workspace);
    const added = ({ forecast }: ScopeForecast) =>
      forecast.kind === 'none' ? [] : (forecast.changes ?? []).map((change) => cents(change.added));
    // Three quarters of the promise fall to north. West has no costs yet: nobody knows which budget without it gets them.
    expect(made.map((one) => [nameOf(one), meanOf(one), ...added(one)])).toEqual([
      ['all', 12000 + 250 + 800 + 1000, 250, 800, 1000],
      ['north', 9000 + 600, 0, 600, 0],
      ['boxes', 9000 + 600, 0, 600, 0],
      ['north', 9000 + 600, 0, 600, 0],
      ['south', 3000 + 250 + 200, 250, 200, 0],
    ]);
    expect(made[0] && forecastRow(made[0])?.model).toContain(', with planned changes');
    const reasons = made.map(({ forecast }) =>
      (forecast.kind === 'none' ? [] : (forecast.changes ?? [])).map(({ reason }) => reason),
    );
    expect(reasons[1]).toEqual([
      'its scope has no cost of this budget',
      undefined,
      'its scope has no cost of this budget',
    ]);
    expect(reasons[2]?.[2]).toBe('its share is unknown: its scope had no costs in the last 28 days');
  });

  test('ignores known hours after the complete ones, and expects the usual share of a started day', async () => {
    // A dollar at three, and three at noon: at six a quarter of the day's cost is known.
    const given = {
      ...complete('2026-09-20 06:00:00'),
      costs: [
        ...daily('2026-08-01', '2026-09-21', () => 1, {}, 3),
        ...daily('2026-08-01', '2026-09-20', () => 3),
        ...daily('2026-09-20', '2026-09-21', () => 99, {}, 7),
      ],
    };
    const [made] = await forecasts(given, { budgets: budgets(everything) });
    expect(made && [cents(made.spent), meanOf(made)]).toEqual([19 * 400 + 100, 30 * 400]);
  });

  test('of daily budgets uses hours; a budget in another time zone uses its own days', async () => {
    const hours = Array.from({ length: 24 }, (_, hour) => daily('2026-08-25', '2026-09-20', () => hour / 10, {}, hour));
    const given = {
      ...complete('2026-09-20 10:00:00'),
      costs: [
        ...hours.flat(),
        ...hours.slice(0, 10).flatMap((_, hour) => daily('2026-09-20', '2026-09-21', () => hour / 10, {}, hour)),
      ],
    };
    const made = await forecasts(given, {
      budgets: budgets(
        '  - { name: day, period: daily, amount: 20 USD }\n' +
          '  - { name: there, period: daily, amount: 20 USD, timeZone: America/New_York }\n' +
          '  - { name: month, period: monthly, amount: 2000 USD, timeZone: America/New_York }',
      ),
    });
    expect(made.map((one) => [cents(one.spent), meanOf(one)])).toEqual([
      [450, 2760],
      // Its day starts at four.
      [390, 2760],
      // From the first at four: thirty days of 27.60.
      [19 * 2760 + 390, 30 * 2760],
    ]);
    expect(made[0] && forecastRow(made[0])).toMatchObject({
      period: '2026-09-20',
      exceeds_on: '2026-09-20',
      step: 'hour',
    });
  });

  test('starts at the first incomplete hour of any account, in the period of that hour', async () => {
    const one = complete('2026-08-30');
    const two = complete('2026-09-20', 'acc_two');
    const given: Given = {
      accounts: [...one.accounts, ...two.accounts],
      covered: [...one.covered, ...two.covered],
      loads: [...one.loads, ...two.loads],
      costs: [
        ...daily('2026-08-01', '2026-08-30', () => 1),
        ...daily('2026-08-01', '2026-09-20', () => 2, { account: 'acc_two' }),
      ],
    };
    const asked = budgets(
      `${everything}\n  - { name: two, period: monthly, amount: 9 USD, scope: { account: acc_two } }`,
    );
    expect(
      (await forecasts(given, { budgets: asked })).map((made) => [made.period.name, cents(made.spent), meanOf(made)]),
    ).toEqual([
      ['2026-08', 29 * 300, 31 * 300],
      ['2026-09', 19 * 200, 30 * 200],
    ]);
    // Of an account that is configured no longer nothing more is expected.
    expect(
      (await forecasts(given, { budgets: asked.slice(0, 1), configured: ['acc_two'] })).map((made) => made.period.name),
    ).toEqual(['2026-09']);
  });

  test('is missing with a reason for new, unused or unknown scopes', async () => {
    const given = {
      ...complete('2026-09-20'),
      costs: daily('2026-09-17', '2026-09-20', () => 5, { workspace: 'fresh' }),
    };
    const made = await forecasts(given, {
      budgets: budgets(
        '  - { name: new, period: yearly, amount: 9 USD }\n' +
          '  - { name: never, period: monthly, amount: 9 USD, scope: { workspace: west } }\n' +
          '  - { name: other, period: monthly, amount: 9 USD, scope: { account: acc_two } }\n' +
          '  - { name: owned, period: monthly, amount: 9 USD, scope: { owner: { team: a } } }',
      ),
    });
    expect(made.map(meanOf)).toEqual([
      'too little history: 2 complete days since its first cost, for 103 to come',
      'nothing was spent yet',
      'no hour of it is complete yet',
      expect.stringContaining('scope.owner needs an allocation'),
    ]);
    expect(made.map((one) => forecastRow(one)?.reason)).toEqual([
      'too little history: 2 complete days since its first cost, for 103 to come',
      'nothing was spent yet',
      undefined,
      undefined,
    ]);
  });

  test('covers every workspace and resource type with recent costs, by month', async () => {
    const given = {
      ...complete('2026-09-20'),
      costs: [
        ...daily('2026-08-01', '2026-09-20', () => 1),
        ...daily('2026-08-01', '2026-09-20', () => 2, { resource_type: 'volume', resource_name: 'disk' }),
        ...daily('2026-08-01', '2026-09-20', () => 4, { resource_type: 'volume', resource_name: 'other' }),
        ...daily('2026-08-01', '2026-09-20', () => 8, { workspace: null, resource_type: 'custom_domain' }),
        ...daily('2026-08-01', '2026-08-10', () => 16, { workspace: 'old' }),
      ],
    };
    const made = await forecasts(given, { withWorkspaces: true });
    const named = ({ scope }: { scope: ForecastScope }) =>
      scope.kind === 'budget' ? scope.budget.name : [scope.account, scope.workspace, scope.resourceType];
    expect(made.map((one) => [named(one), cents(one.spent), meanOf(one)])).toEqual([
      [['acc_one', 'north', 'sandbox'], 1900, 3000],
      [['acc_one', 'north', 'volume'], 19 * 600, 30 * 600],
      [['acc_one', null, 'custom_domain'], 19 * 800, 30 * 800],
    ]);
  });

  test("of labels and owners uses the costs with that label, and the owner's share of shared cost", async () => {
    const given: Given = {
      ...complete('2026-09-20'),
      costs: [
        ...daily('2026-08-01', '2026-09-20', () => 1),
        ...daily('2026-08-01', '2026-09-20', () => 2, { resource_name: 'other', resource_uuid: null }),
        ...daily('2026-08-01', '2026-09-20', () => 4, {
          resource_type: 'volume',
          resource_name: 'disk',
          resource_uuid: null,
        }),
      ],
      resources: [
        { labels: '{"env":"prod"}', valid_from: '2026-08-01', recorded_at: '2026-08-01' },
        { resource_name: 'other', labels: '{"env":"test"}', valid_from: '2026-08-01', recorded_at: '2026-08-01' },
      ],
      allocation:
        'rules:\n' +
        '  - { name: shared, when: { resource_type: volume }, split: { by: cost, over: [team] } }\n' +
        '  - { name: test, when: { label: { env: test } }, owner: { team: b } }\n' +
        '  - { name: rest, when: { workspace: north }, owner: { team: a } }\n',
    };
    const made = await forecasts(given, {
      budgets: budgets(
        '  - { name: label, period: monthly, amount: 9 USD, scope: { label: { env: test } } }\n' +
          '  - { name: owner, period: monthly, amount: 9 USD, scope: { owner: { team: a } } }',
      ),
    });
    // A third of the disk is theirs, as a third of the other cost is.
    expect(made.map((one) => [cents(one.spent), meanOf(one)])).toEqual([
      [19 * 200, 30 * 200],
      [Math.round((19 * 700) / 3), Math.round((30 * 700) / 3)],
    ]);
  });
});

describe('forecast_accuracy', () => {
  const ended: Given = {
    ...complete('2026-10-02', 'acc_one', '2026-09-01'),
    costs: [
      ...daily('2026-09-01', '2026-10-03', () => 0.375),
      ...daily('2026-09-01', '2026-10-03', () => 0.125, { workspace: 'south' }),
    ],
    forecasts: [
      { complete_through: '2026-09-10', forecast: '18', low: '14', high: '20', spent: '4.5' },
      { complete_through: '2026-09-29 06:00:00', forecast: '14', low: '13.5', high: '14.5', spent: '14' },
      { budget: 'south', scope: '{"workspace":["south"]}', forecast: '3.75', low: '3', high: '3.75' },
      { budget: 'none', forecast: null, low: null, high: null, reason: 'nothing was spent yet' },
      {
        scope_kind: 'workspace',
        budget: null,
        account: 'acc_one',
        workspace: 'north',
        resource_type: 'sandbox',
        scope: null,
        forecast: '12',
        low: '11.5',
        high: '12.5',
      },
      { period: '2026-10', period_start: '2026-10-01', period_end: '2026-11-01', complete_through: '2026-10-02' },
    ],
  };

  test('lists each forecast of an ended period next to the actual cost', async () => {
    const rows = (await reported('forecast_accuracy', ended)) as Record<string, unknown>[];
    expect(
      rows.map(
        ({ scope_kind, budget, workspace, lead_days, forecast, actual, error, error_percent, is_within_interval }) => [
          scope_kind,
          budget,
          workspace,
          lead_days,
          forecast,
          actual,
          error,
          error_percent,
          is_within_interval,
        ],
      ),
    ).toEqual([
      ['budget', 'everything', null, 21, '18.000000000000', '15.000000000000', '3.000000000000', '20.00', true],
      ['budget', 'everything', null, 2, '14.000000000000', '15.000000000000', '-1.000000000000', '-6.67', false],
      ['budget', 'south', null, 23, '3.750000000000', '3.750000000000', '0.000000000000', '0.00', true],
      ['workspace', null, 'north', 23, '12.000000000000', '11.250000000000', '0.750000000000', '6.67', false],
    ]);
    expect(await reported('forecast_accuracy', ended, { budget: 'south' })).toHaveLength(1);
    expect(await reported('forecast_accuracy', ended, { from: '2026-09-02' })).toEqual([]);
  });

  test('summarizes by lead time and model how often the outcome was in the interval', async () => {
    expect(await reported('forecast_accuracy_summary', ended)).toEqual([
      {
        scope_kind: 'budget',
        period_kind: 'monthly',
        lead_days_from: 2,
        lead_days_to: 2,
        model: 'weekday-profile',
        forecasts: '1',
        within_interval: '0',
        within_interval_percent: '0.0',
        expected_percent: '80.0',
        median_error_percent: '6.67',
        forecast: '14.000000000000',
        actual: '15.000000000000',
        error: '-1.000000000000',
      },
      {
        scope_kind: 'budget',
        period_kind: 'monthly',
        lead_days_from: 15,
        lead_days_to: 23,
        model: 'weekday-profile',
        forecasts: '2',
        within_interval: '2',
        within_interval_percent: '100.0',
        expected_percent: '80.0',
        median_error_percent: '10.00',
        forecast: '21.750000000000',
        actual: '18.750000000000',
        error: '3.000000000000',
      },
      {
        scope_kind: 'workspace',
        period_kind: 'monthly',
        lead_days_from: 15,
        lead_days_to: 23,
        model: 'weekday-profile',
        forecasts: '1',
        within_interval: '0',
        within_interval_percent: '0.0',
        expected_percent: '80.0',
        median_error_percent: '6.67',
        forecast: '12.000000000000',
        actual: '11.250000000000',
        error: '0.750000000000',
      },
    ]);
  });

  test('leaves out periods that are not complete yet, but does not wait for an account that was behind', async () => {
    const given: Given = {
      ...complete('2026-09-30', 'acc_one', '2026-09-01'),
      forecasts: [{}],
    };
    expect(await reported('forecast_accuracy', given)).toEqual([]);
    const gone = complete('2026-09-02', 'acc_gone', '2026-09-01');
    const whole = complete('2026-10-02', 'acc_one', '2026-09-01');
    const both: Given = {
      accounts: [...whole.accounts, ...gone.accounts],
      covered: [...whole.covered, ...gone.covered],
      loads: [...whole.loads, ...gone.loads],
      forecasts: [{}],
    };
    // A whole month without amounts cost nothing.
    expect(await reported('forecast_accuracy', both)).toMatchObject([
      { actual: '0.000000000000', error_percent: null, is_within_interval: false },
    ]);
  });

  test('uses the current labels and owners', async () => {
    const given: Given = {
      ...complete('2026-10-02', 'acc_one', '2026-09-01'),
      costs: [
        ...daily('2026-09-01', '2026-10-02', () => 1),
        ...daily('2026-09-01', '2026-10-02', () => 2, { resource_name: 'other', resource_uuid: null }),
        ...daily('2026-09-01', '2026-10-02', () => 4, {
          resource_type: 'volume',
          resource_name: 'disk',
          resource_uuid: null,
        }),
      ],
      resources: [{ labels: '{"env":"prod"}' }, { resource_name: 'other', labels: '{"env":"test"}' }],
      allocation:
        'rules:\n' +
        '  - { name: shared, when: { resource_type: volume }, split: { by: cost, over: [team] } }\n' +
        '  - { name: test, when: { label: { env: test } }, owner: { team: b } }\n' +
        '  - { name: rest, when: { workspace: north }, owner: { team: a } }\n',
      forecasts: [
        { budget: 'label', scope: '{"label":[{"pointer":"/env","values":["test"]}]}' },
        { budget: 'owner', scope: '{"owner":[{"pointer":"/team","values":["a"]}]}' },
      ],
    };
    const rows = (await reported('forecast_accuracy', given)) as { budget: string; actual: string }[];
    expect(rows.map(({ budget, actual }) => [budget, Number(actual).toFixed(6)])).toEqual([
      ['label', '60.000000'],
      ['owner', '70.000000'],
    ]);
  });
});

test('the report stored_forecasts has the last forecast of each scope in an open period, or why there is none', async () => {
  const given: Given = {
    forecasts: [
      { complete_through: '2026-09-10' },
      { complete_through: '2026-09-11', forecast: '11', run_number: 3 },
      {
        complete_through: '2026-09-11',
        budget: 'new',
        forecast: null,
        low: null,
        high: null,
        reason: 'too little history',
      },
      { complete_through: '2026-08-20', period: '2026-08', period_start: '2026-08-01', period_end: '2026-09-01' },
    ],
  };
  expect(await reported('stored_forecasts', given)).toMatchObject([
    { budget: 'everything', period: '2026-09', forecast: '11.000000000000', reason: null },
    { budget: 'new', forecast: null, reason: 'too little history' },
  ]);
  expect(await reported('stored_forecasts', given, { month: '2026-08' })).toMatchObject([{ period: '2026-08' }]);
});

test('the view forecasts has every forecast that was made', async () => {
  const rows = await answer(
    { forecasts: [{}, { complete_through: '2026-09-09' }] },
    'select scope_kind, budget, period, forecast, level from forecasts order by complete_through',
  );
  expect(rows).toEqual(
    Array(2).fill({
      scope_kind: 'budget',
      budget: 'everything',
      period: '2026-09',
      forecast: '10.000000000000',
      level: 80,
    }),
  );
});
