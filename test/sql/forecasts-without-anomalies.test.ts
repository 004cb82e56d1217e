// Second tier: Forecasts dozens of scopes; sql/forecasts reads the same code in the first tier.

import { describe, expect, test } from 'vitest';
import { readForecasts } from '../../src/budgets/forecasts/scope-forecasts.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { backtestBudget } from '../../src/budgets/show/index.ts';
import { describeForecasts, forecastsToJson } from '../../src/budgets/show/show-forecasts.ts';
import type { AnomalyRow } from '../../src/warehouse/watch/index.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

type Rows = readonly Readonly<Record<string, string | number | boolean | null>>[];

/** One USD a day since August. The days from the 15th of September on cost what they are given, up to the last complete day. */
function books(
  through: string,
  unusual: readonly number[] = [],
  cells: Record<string, string> = {},
  hour = 12,
  since = '2026-08-01',
): Given {
  const month = Date.parse('2026-09-15T00:00:00Z');
  const costs: Record<string, string>[] = [];
  for (let at = Date.parse(`${since}T00:00:00Z`); at < Date.parse(`${through}T00:00:00Z`); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    const extra = unusual[(at - month) / 86_400_000] ?? 0;
    costs.push({ bucket_start: `${day} 03:00:00`, cost: '1', usage: '1', workspace: 'south' });
    const own = { bucket_start: `${day} ${String(hour).padStart(2, '0')}:00:00`, usage: '1', ...cells };
    costs.push({ ...own, cost: String(1 + extra) });
  }
  const window = { account: 'acc_one', window_start: since, window_end: through, claimed_end: through };
  return {
    accounts: [{ account: 'acc_one', history_start: since }],
    covered: [window],
    loads: [{ ...window, seen_at: `${through} 01:00:00` }],
    costs,
    anomaly_evaluations: [{ evaluated_through: through, recorded_at: `${through} 02:00:00` }],
  };
}

const month = { first_day: '2026-09-15', notified_day: '2026-09-15', recorded_at: '2026-09-20 02:00:00' };

function anomaly(impacts: readonly number[], cells: Readonly<Record<string, string | boolean | null>> = {}) {
  const first = String(cells['first_day'] ?? month['first_day']);
  const last = new Date(Date.parse(`${first}T00:00:00Z`) + (impacts.length - 1) * 86_400_000)
    .toISOString()
    .slice(0, 10);
  const detail = {
    impacts,
    firstHour: `${first}T12:00:00Z`,
    pace: null,
    drivers: [{ resourceName: 'box', part: 100 }],
  };
  return {
    ...{ ...month, last_day: last, impact: String(impacts.reduce((a, b) => a + b, 0)), detail: JSON.stringify(detail) },
    ...cells,
  };
}

const over = { state: 'over', ended_day: '2026-09-26' };
const everything = '  - { name: everything, period: monthly, amount: 100 USD }';

function budgets(text: string, now: number) {
  return parseBudgets({ text: `budgets:\n${text}`, file: 'jobs/budgets.yaml', now });
}

/** A forecast as data, with its amounts in cents. */
interface Shown {
  readonly cents: readonly number[];
  readonly anomalies: readonly Record<string, unknown>[] | undefined;
}

async function forecasts(
  through: string,
  given: Given,
  text = everything,
  asked: Partial<Parameters<typeof readForecasts>[1]> = {},
) {
  const { connection, close } = await givenBooks(given);
  const now = Date.parse(`${through}T02:15:00Z`);
  try {
    const own = { now, configured: [], budgets: budgets(text, now), withWorkspaces: false, ...asked };
    const made = await readForecasts(connection, own);
    const state = { completeThrough: null, settledThrough: null, asOf: null };
    const all = forecastsToJson(made, state)['forecasts'] as Record<string, unknown>[];
    const words = describeForecasts(made, { isExact: true });
    return all.map((one): Record<string, unknown> & Shown => ({
      ...{ ...one, words },
      cents: [one['spent'], one['low'], one['forecast'], one['high']].map((text) => Math.round(Number(text) * 100)),
      anomalies: one['anomalies'] as Shown['anomalies'],
    }));
  } finally {
    close();
  }
}

/** Spent, low, forecast and high of the first forecast, in cents. */
async function centsOf(...asked: Parameters<typeof forecasts>): Promise<readonly number[]> {
  return (await forecasts(...asked))[0]?.cents ?? [];
}

const nineDays = [4, 9, 9, 9, 9, 9, 9, 9, 9];

describe('a forecast', () => {
  test('does not learn from an anomaly that has ended', async () => {
    const given = books('2026-10-01', nineDays);
    const usual = await centsOf('2026-10-01', books('2026-10-01'));
    expect(usual).toEqual([0, 6200, 6200, 6200]);
    expect(await centsOf('2026-10-01', { ...given, anomalies: [anomaly(nineDays, over)] })).toEqual(usual);
    // Before the anomaly is in the books, the engine sees by itself that it was unlike all other days.
    expect(await centsOf('2026-10-01', given)).toEqual(usual);
  });

  test.each([
    ['a charge', 50],
    ['a credit', -50],
  ])('does not forecast %s of one day again, also before the first alert', async (_, by) => {
    const usual = await centsOf('2026-10-01', books('2026-10-01'));
    const first = (given: Given): Given => ({ ...given, anomaly_evaluations: [] });
    // In the first hour of its day: the other days do not begin so.
    expect(await centsOf('2026-10-01', first(books('2026-10-01', [by], {}, 0)))).toEqual(usual);
    expect((await centsOf('2026-09-28', first(books('2026-09-28', [by]))))[2]).toBe(6000 + by * 100);
  });

  test('leaves the spend of its period as it is, and names what it did not learn from', async () => {
    const given = { ...books('2026-09-28', nineDays), anomalies: [anomaly(nineDays, over)] };
    const [made] = await forecasts('2026-09-28', given);
    // 27 days of 2 USD and 76 USD more; then 3 days.
    expect(made?.cents).toEqual([13000, 13600, 13600, 13600]);
    expect(made?.anomalies).toEqual([
      {
        ...{ key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07', firstDay: '2026-09-15' },
        ...{
          lastDay: '2026-09-23',
          impact: '76.000000000000',
          goesOn: false,
          isNewLevel: false,
          daily: null,
          added: '0.000000000000',
          addedIfItGoesOn: '0.000000000000',
        },
      },
    ]);
  });

  test('adds the daily rate of an anomaly that goes on; the lower end says what it costs if that stops', async () => {
    const given = { ...books('2026-09-20', nineDays.slice(0, 5)), anomalies: [anomaly(nineDays.slice(0, 5))] };
    const [made] = await forecasts('2026-09-20', given);
    // 19 days of 2 USD and 40 USD more; then 11 days of 2 USD, and 9 USD more.
    expect(made?.cents).toEqual([7800, 10000, 19900, 19900]);
    expect(made?.anomalies).toMatchObject([{ goesOn: true, daily: '9.000000000000', added: '99.000000000000' }]);
    expect(made?.['exceedsOn']).toBe('2026-09-21');
    expect(made?.['words']).toContain(
      'everything: the forecast adds what goes on: box 9.00 USD a day, 99.00 USD in all',
    );
  });

  test('adds less of what goes on if earlier ones of its scope ended, and says what it is if it goes on', async () => {
    const earlier = ['2026-08-05', '2026-08-20'].map((first_day) =>
      anomaly(nineDays.slice(0, 6), { first_day, notified_day: first_day, anomaly_key: first_day, ...over }),
    );
    const given = {
      ...books('2026-09-20', nineDays.slice(0, 5)),
      anomalies: [...earlier, anomaly(nineDays.slice(0, 5))],
    };
    const [made] = await forecasts('2026-09-20', given);
    // A day for certain, then ten as likely as a ninth.
    expect(made?.anomalies?.at(-1)).toMatchObject({ added: '19.000000000000', addedIfItGoesOn: '99.000000000000' });
    expect(made?.['words']).toContain(
      'everything: the forecast adds what goes on: box 9.00 USD a day, 19.00 USD in all, as earlier ones often ended by then; 99.00 USD if it goes on',
    );
  });

  test('does not take one expensive day for all days to come, and adds what goes on from the second day on', async () => {
    const madeOf = async (through: string, days: readonly number[]) => {
      const pace = JSON.stringify({ ...JSON.parse(anomaly(days).detail), pace: '90' });
      const [made] = await forecasts(through, {
        ...books(through, days),
        anomalies: [anomaly(days, { detail: pace })],
      });
      return made;
    };
    const one = await madeOf('2026-09-16', [90]);
    expect(one?.cents[2]).toBe(6000 + 9000);
    expect(one?.anomalies).toMatchObject([{ goesOn: false, impact: '90.000000000000' }]);
    expect((await madeOf('2026-09-17', [90, 90]))?.cents[2]).toBe(6000 + 16 * 9000);
  });

  test('knows that an anomaly lasted through days that were not evaluated yet', async () => {
    const given = {
      ...{ ...books('2026-09-20', nineDays.slice(0, 5)), anomalies: [anomaly(nineDays.slice(0, 3))] },
      anomaly_evaluations: [{ evaluated_through: '2026-09-18', recorded_at: '2026-09-18 02:00:00' }],
    };
    expect(await centsOf('2026-09-20', given)).toEqual([7800, 10000, 19900, 19900]);
    // If nobody evaluates any longer, nobody knows what goes on.
    const stale = [{ evaluated_through: '2026-09-10', recorded_at: '2026-09-10 02:00:00' }];
    const [made] = await forecasts('2026-09-20', { ...given, anomaly_evaluations: stale });
    expect(made?.anomalies).toMatchObject([{ goesOn: false }]);
  });

  test('knows the anomalies of an evaluation that is not stored yet', async () => {
    const given = books('2026-09-20', nineDays.slice(0, 5));
    const stored = anomaly(nineDays.slice(0, 5));
    const { connection, close } = await givenBooks({ ...given, anomalies: [stored] });
    const rows = await connection.rows(`select * replace (
      cast(first_day as varchar) as first_day, cast(last_day as varchar) as last_day
    ) from ledger.anomalies`);
    close();
    const newAnomalies = {
      anomalies: rows as unknown as AnomalyRow[],
      accounts: [{ account: 'acc_one', evaluatedThrough: Date.parse('2026-09-20T00:00:00Z'), loadNumber: 1 }],
    };
    const before = [{ evaluated_through: '2026-09-19', recorded_at: '2026-09-19 02:00:00' }];
    expect(
      await centsOf('2026-09-20', { ...given, anomaly_evaluations: before }, everything, { newAnomalies }),
    ).toEqual([7800, 10000, 19900, 19900]);
  });

  test('of a budget or a resource type leaves out only anomalies that are wholly in it', async () => {
    const text = `  - { name: north, period: monthly, amount: 100 USD, scope: { workspace: north } }
  - { name: south, period: monthly, amount: 100 USD, scope: { workspace: south } }
  - { name: box, period: monthly, amount: 100 USD, scope: { resource_name: box } }`;
    const given = { ...books('2026-10-01', nineDays), anomalies: [anomaly(nineDays, over)] };
    const made = await forecasts('2026-10-01', given, text, { withWorkspaces: true });
    expect(made.map((one) => [one['budget'] ?? one['workspace'], one.anomalies?.length])).toEqual([
      ...[
        ['north', 1],
        ['south', undefined],
        ['box', undefined],
      ],
      ...[
        ['north', 1],
        ['south', undefined],
      ],
    ]);
    expect(made.filter(({ anomalies }) => anomalies !== undefined).map(({ cents }) => cents[2])).toEqual([3100, 3100]);
  });

  test('of hours leaves out the hours of the anomaly', async () => {
    const text = '  - { name: daily, period: daily, amount: 100 USD, timeZone: Europe/Berlin }';
    const given = { ...books('2026-10-01', nineDays), anomalies: [anomaly(nineDays, over)] };
    const usual = await forecasts('2026-10-01', books('2026-10-01'), text);
    const [made] = await forecasts('2026-10-01', given, text);
    expect(made?.cents).toEqual(usual[0]?.cents);
    expect(made?.anomalies).toHaveLength(1);
  });

  test('whose days start at another hour leaves out the part of each day', async () => {
    const text = '  - { name: all, period: monthly, amount: 100 USD, timeZone: America/New_York }';
    const usual = await forecasts('2026-10-02', books('2026-10-02', [], {}, 1), text);
    const given = { ...books('2026-10-02', nineDays, {}, 1), anomalies: [anomaly(nineDays, over)] };
    expect((await forecasts('2026-10-02', given, text))[0]?.cents).toEqual(usual[0]?.cents);
  });
});

describe('a new usual level', () => {
  // From the 15th of September on 9 USD a day more.
  const level = new Array<number>(16).fill(9);
  const usual = { state: 'usual', ended_day: '2026-09-29' };
  const given = books('2026-10-01', level);

  test('is that of the whole forecast: its days show it', async () => {
    const [made] = await forecasts('2026-10-01', { ...given, anomalies: [anomaly(level.slice(0, 14), usual)] });
    expect(made?.cents[2]).toBe(34100);
    expect(made?.anomalies).toBeUndefined();
  });
});

describe('a forecast learns from', () => {
  const given = books('2026-10-01', nineDays);
  const learned = () => forecasts('2026-10-01', given);
  const feedback = (word: string, key = anomalyKey) => [
    {
      ...{ alert_key: key, anomaly_key: key, account: 'acc_one', workspace: 'north', resource_type: 'sandbox' },
      ...{ billing_dimension: 'sandbox_compute_runtime_gbs', is_up: true, feedback: word, first_day: '2026-09-15' },
      ...{ last_day: '2026-09-23', largest_cost: '10', applies_from: '2026-09-24', run_number: 2 },
      given_at: '2026-09-23 09:00:00',
    },
  ];
  const anomalyKey = 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07';

  test.each<[string, Rows, Rows?]>([
    [
      'a usual level that is four weeks old',
      [anomaly(nineDays, { state: 'usual', first_day: '2026-09-03', ended_day: '2026-09-17' })],
    ],
    ['what was not reported', [anomaly(nineDays, { ...over, is_notified: false })]],
    ['what was corrected away', [anomaly(nineDays, { ...over, state: 'restated' })]],
    ['what somebody called expected', [anomaly(nineDays, over)], feedback('expected')],
    ['what somebody called false', [anomaly(nineDays, over)], feedback('false')],
    ['a lower cost that did not come', [anomaly([-1], { ...over, is_up: false, kind: 'missing' })]],
    ['a lower cost that goes on', [anomaly([-1], { is_up: false, kind: 'drop' })]],
  ])('%s', async (_, anomalies, said = []) => {
    expect(await forecasts('2026-10-01', { ...given, anomalies, alert_feedback: said })).toEqual(await learned());
  });

  test('a short increase that came again, so that the repeat was not reported', async () => {
    const again = anomaly([9], {
      first_day: '2026-09-22',
      is_notified: false,
      notified_day: null,
      anomaly_key: 'b',
      ...over,
    });
    const first = anomaly([9], over);
    expect((await forecasts('2026-10-01', { ...given, anomalies: [first] }))[0]?.anomalies).toHaveLength(1);
    expect(await forecasts('2026-10-01', { ...given, anomalies: [first, again] })).toEqual(await learned());
  });

  test('named holidays', async () => {
    const asked = { holidays: new Set([Date.parse('2026-09-15T00:00:00Z') / 86_400_000]) };
    const one = books('2026-10-01', [9]);
    const [kept] = await forecasts('2026-10-01', { ...one, anomalies: [anomaly([9], over)] }, everything, asked);
    expect(kept?.cents).toEqual((await forecasts('2026-10-01', one, everything, asked))[0]?.cents);
  });
});

describe('an anomaly', () => {
  test('that somebody called fixed is left out, and adds nothing from then on unless it costs more again', async () => {
    const given = { ...books('2026-09-20', nineDays.slice(0, 5)), anomalies: [anomaly(nineDays.slice(0, 5))] };
    const said = (from: string) => [
      {
        ...{ alert_key: 'a', anomaly_key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07' },
        ...{ account: 'acc_one', workspace: 'north', resource_type: 'sandbox', is_up: true, feedback: 'fixed' },
        ...{ billing_dimension: 'sandbox_compute_runtime_gbs', first_day: '2026-09-15', last_day: '2026-09-19' },
        ...{ largest_cost: '10', applies_from: from, run_number: 2, given_at: '2026-09-19 09:00:00' },
      },
    ];
    // The day of the fix still costs more.
    expect((await centsOf('2026-09-20', { ...given, alert_feedback: said('2026-09-21') }))[2]).toBe(10900);
    expect((await centsOf('2026-09-20', { ...given, alert_feedback: said('2026-09-20') }))[2]).toBe(10000);
    expect((await centsOf('2026-09-20', { ...given, alert_feedback: said('2026-09-19') }))[2]).toBe(19900);
  });

  test('in several parts is left out once each, and never more than a day cost', async () => {
    const parts = [
      anomaly(nineDays, over),
      // The numbers were corrected since: the days cost less than it was.
      anomaly(nineDays, { ...over, anomaly_key: 'price', kind: 'price' }),
    ];
    const [made] = await forecasts('2026-10-01', { ...books('2026-10-01', nineDays), anomalies: parts });
    expect(made?.anomalies).toHaveLength(2);
    // The other workspace still costs 1 USD on these days.
    const [low, mean] = [made?.cents[1] ?? 0, made?.cents[2] ?? 0];
    expect(mean).toBeLessThanOrEqual(6200);
    expect(low).toBeGreaterThanOrEqual(3100);
  });

  test('of lower cost that has ended is filled in', async () => {
    const outage = new Array<number>(9).fill(-1);
    const lower = { ...over, is_up: false, kind: 'drop' };
    const given = { ...books('2026-10-01', outage), anomalies: [anomaly(outage, lower)] };
    expect(await centsOf('2026-10-01', given)).toEqual([0, 6200, 6200, 6200]);
  });

  test('that is all of the costs leaves nothing to learn from, so it stays', async () => {
    const cells = { workspace: 'north', resource_name: 'new', resource_uuid: 'sbx-9' };
    const given = books('2026-10-01', [], cells);
    const impacts = new Array<number>(92).fill(1);
    const all = anomaly(impacts, { ...over, first_day: '2026-07-01', last_day: '2026-09-30', kind: 'new' });
    const text = '  - { name: north, period: monthly, amount: 100 USD, scope: { workspace: north } }';
    const [made] = await forecasts('2026-10-01', { ...given, anomalies: [all] }, text);
    expect([made?.cents[2], made?.anomalies]).toEqual([3100, undefined]);
  });
});

describe('a back-test of forecasts', () => {
  const text = '  - { name: everything, period: monthly, amount: 80 USD, thresholds: [{ at: 100%, of: forecast }] }';

  async function events(anomalies: Rows) {
    const through = '2026-10-05';
    const begin = Date.parse('2026-08-16T00:00:00Z');
    // One load a night; the first one has everything before.
    const nightOf = (at: string) => 1 + Math.max(0, Math.floor((Date.parse(at) - begin) / 86_400_000) + 1);
    const windows = Array.from({ length: 51 }, (_, night) => {
      const [start, end] = [night - 1, night].map((day) =>
        new Date(begin + day * 86_400_000).toISOString().slice(0, 10),
      );
      const window_start = night === 0 ? '2026-07-01' : String(start);
      return { account: 'acc_one', window_start, window_end: String(end), claimed_end: String(end) };
    });
    const given = books(through, [0, 0, 0, 0, 0, 0, 0, 0, ...nineDays], {}, 12, '2026-07-01');
    const { connection, close } = await givenBooks({
      ...given,
      costs: (given.costs ?? []).map((row) => ({
        ...row,
        load_number: nightOf(`${row['bucket_start']}Z`.replace(' ', 'T')),
      })),
      loads: windows.map((window, night) => ({
        ...{ ...window, load_number: night + 1, seen_at: `${window.window_end} 01:00:00` },
      })),
      covered: windows.map((window, night) => ({ ...window, since_load: night + 1 })),
      anomalies,
    });
    const now = Date.parse(`${through}T02:15:00Z`);
    try {
      const [budget] = budgets(text, now);
      if (budget === undefined) throw new Error('no budget');
      const replay = await backtestBudget(connection, budget, { from: Date.parse('2026-10-01'), now, lagHours: 2 });
      return replay.events.map(({ at, state }) => `${new Date(at).toISOString().slice(0, 10)} ${state}`);
    } finally {
      close();
    }
  }

  test('knows only the anomalies that were known on the day', async () => {
    const recorded = (at: string) => [anomaly(nineDays, { ...over, first_day: '2026-09-23', recorded_at: at })];
    expect(await events(recorded('2026-10-01 02:00:00'))).toEqual([]);
    // A rise of more than a week goes on for who knows nothing of it, until it ends.
    const unknown = await events([]);
    expect(unknown).toEqual(['2026-10-03 raised', '2026-10-04 resolved']);
    expect(await events(recorded('2026-10-03 02:00:00'))).toEqual(unknown);
  });
});
