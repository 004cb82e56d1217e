import { describe, expect, test } from 'vitest';
import { messagesOf } from '../../src/alerts/message.ts';
import { summedByDay } from '../../src/alerts/pictures.ts';
import { beginning } from '../../src/anomalies/beginning.ts';
import { type AnomalyFact, anomalyFacts, type KnownAnomaly } from '../../src/anomalies/fact.ts';
import { anomalyWords } from '../../src/anomalies/words.ts';
import { transitionsOf } from '../../src/findings/transitions.ts';
import { plainText } from '../../src/sinks/message.ts';
import type { AnomalyRow } from '../../src/warehouse/watch/index.ts';

interface Asked {
  readonly workspace?: string;
  readonly type?: string;
  readonly dimension?: string;
  readonly name?: string;
  readonly firstDay?: string;
  readonly impacts?: readonly number[];
  readonly row?: Partial<AnomalyRow>;
  readonly detail?: object;
}

/** A reported increase of a resource that usually costs 1 USD a day. */
function anomaly({
  workspace = 'research',
  type = 'agent',
  dimension = 'runtime',
  name = 'trainer',
  firstDay = '2026-10-20',
  impacts = [50],
  row = {},
  detail = {},
}: Asked): AnomalyRow {
  const usd = (amount: number) => amount.toFixed(12);
  const impact = impacts.reduce((a, b) => a + b, 0);
  const lastDay = new Date(Date.parse(firstDay) + (impacts.length - 1) * 86_400_000).toISOString().slice(0, 10);
  const drivers = [{ resourceName: name, resourceUuid: name, cost: usd(impact + 1), expected: usd(1), part: 100 }];
  return {
    ...{ anomaly_key: `anomaly/a/${workspace}/${type}/${dimension}/${firstDay}`, account: 'a', workspace },
    ...{ resource_type: type, billing_dimension: dimension, kind: 'spike', is_up: true, first_day: firstDay },
    ...{ seen_day: firstDay, last_day: lastDay, notified_day: firstDay, state: 'open', ended_day: null },
    ...{ cost: usd((impacts[0] ?? 0) + 1), expected: usd(1), expected_low: usd(0.5), expected_high: usd(2) },
    ...{ impact: usd(impact), price_ratio: null, severity: 'info', is_notified: true },
    detail: JSON.stringify({
      ...{ impacts, costSoFar: usd(impact + impacts.length), firstHour: `${firstDay}T07:00:00Z`, moved: 'usage' },
      ...{ priceEffect: usd(0), volumeEffect: usd(impact), drivers, ...detail },
    }),
    ...row,
  };
}

function facts(rows: readonly AnomalyRow[], known: readonly AnomalyFact[] = [], isOpen = true): AnomalyFact[] {
  const before = known.map((fact): [string, KnownAnomaly] => [fact.key, { isOpen, fact }]);
  return anomalyFacts(rows, new Map(before), { notify: [], completeThroughOf: () => '2026-10-21T02:00:00Z' });
}

const runtime = anomaly({ impacts: [50] });
const egress = anomaly({ dimension: 'egress', impacts: [12.5] });

describe('anomalies of one cause are one alert', () => {
  const together: readonly (readonly [string, AnomalyRow, AnomalyRow])[] = [
    ['the billing dimensions of one resource', runtime, egress],
    ['one resource in two workspaces', runtime, anomaly({ workspace: 'production' })],
    [
      'the billing dimensions of a type without a main resource',
      anomaly({ detail: { drivers: [] } }),
      anomaly({ dimension: 'egress', detail: { drivers: [] } }),
    ],
    [
      'what begins in a workspace just after a deployment in it',
      anomaly({
        detail: {
          deployments: [{ by: '2026-10-20T06:30:00Z', hoursBefore: 0, event: { status: 'DEPLOYED' }, settings: [] }],
        },
      }),
      anomaly({ type: 'sandbox', name: 'worker', detail: { firstHour: '2026-10-20T09:00:00Z' } }),
    ],
    [
      'one price in two workspaces',
      anomaly({ row: { kind: 'price', price_ratio: 1.5 } }),
      anomaly({ workspace: 'production', name: 'web', row: { kind: 'price', price_ratio: 1.51 } }),
    ],
  ];
  test.each(together)('%s', (_, one, other) => {
    const [fact, ...more] = facts([one, other]);
    expect(more).toEqual([]);
    expect(fact?.parts?.map(({ key }) => key).toSorted()).toEqual([one.anomaly_key, other.anomaly_key].toSorted());
    expect(Number(fact?.impact)).toBe(Number(one.impact) + Number(other.impact));
  });

  test('has the corrections of all parts, and no price of one of them', () => {
    const prices = { before: '0.000010000000', since: '0.000015000000' };
    const part = (workspace: string, corrected?: string) =>
      anomaly({ workspace, detail: { prices, ...(corrected === undefined ? {} : { corrected }) } });
    const [fact] = facts([part('research', '20.000000000000'), part('production', '5.000000000000')]);
    expect({ prices: fact?.prices, corrected: fact?.corrected }).toEqual({
      prices: undefined,
      corrected: '25.000000000000',
    });
    expect(facts([part('research'), part('production')])[0]?.corrected).toBeUndefined();
  });

  const apart: readonly (readonly [string, AnomalyRow, AnomalyRow])[] = [
    ['two resources of a workspace', runtime, anomaly({ dimension: 'egress', name: 'web' })],
    ['a higher and a lower cost', runtime, anomaly({ dimension: 'egress', row: { is_up: false } })],
    ['what began two days later', runtime, anomaly({ dimension: 'egress', firstDay: '2026-10-22' })],
    ['two accounts', runtime, anomaly({ dimension: 'egress', row: { account: 'b' } })],
    ['a price and a use', runtime, anomaly({ dimension: 'egress', row: { kind: 'price', price_ratio: 2 } })],
    [
      'two prices that changed by different factors',
      anomaly({ row: { kind: 'price', price_ratio: 1.5 } }),
      anomaly({ workspace: 'production', row: { kind: 'price', price_ratio: 2 } }),
    ],
    [
      'what begins half a day after another began with a deployment',
      anomaly({
        detail: {
          deployments: [{ by: '2026-10-20T06:30:00Z', hoursBefore: 0, event: { status: 'DEPLOYED' }, settings: [] }],
        },
      }),
      anomaly({ type: 'sandbox', name: 'worker', detail: { firstHour: '2026-10-20T19:00:00Z' } }),
    ],
  ];
  test.each(apart)('but not %s', (_, one, other) => {
    expect(facts([one, other])).toHaveLength(2);
  });

  test('which has the sums of their amounts, drivers and severity, and lists its parts', () => {
    const [fact] = facts([egress, runtime]);
    expect(fact).toMatchObject({
      // 62.50 USD, and a week of it.
      ...{ key: runtime.anomaly_key, impact: '62.500000000000', severity: 'warning' },
      ...{ cost: '64.500000000000', expected: '2.000000000000', costSoFar: '64.500000000000' },
      drivers: [{ resourceName: 'trainer', cost: '64.500000000000', expected: '2.000000000000', part: 100 }],
    });
    const { entries } = transitionsOf([], fact === undefined ? [] : [fact], { now: 0, everybody: ['hook'] });
    const state = { at: '2026-10-21T02:16:00Z', completeThrough: null, settledThrough: null };
    const message = JSON.parse(messagesOf(entries, state)[0]?.message ?? '{}');
    const text = plainText({ ...message, id: 'id', mayBeRepeat: false, isTest: false });
    expect(text).toContain('62.50 USD more than usual for trainer on 20 Oct');
    expect(text).toContain('Usage went up, not the price: 2 billing dimensions of agent trainer in research');
    expect(text).toContain('runtime of agent in research: +50.00 USD since 20 Oct');
    expect(text).toContain('egress of agent in research: +12.50 USD since 20 Oct');
  });

  test('of two resources names both, with amounts that add up', () => {
    const [fact] = facts([runtime, egress]);
    const parts = (fact?.parts ?? []).map((part, index) => ({ ...part, driver: `trainer-${index}` }));
    const words = anomalyWords({ ...(fact as AnomalyFact), parts });
    expect(words.title).toContain('62.50 USD more than usual for trainer-0 and trainer-1 on 20 Oct');
    expect(words.list?.items.join()).toMatch(
      /trainer-0, agent in research: \+50\.00.*trainer-1, agent in research: \+12\.50/,
    );
  });

  test('which keeps its key, whatever part is larger by now', () => {
    const [before] = facts([runtime, egress]);
    const grown = anomaly({ dimension: 'egress', impacts: [12.5, 900] });
    const [fact, ...more] = facts([runtime, grown], before === undefined ? [] : [before]);
    expect(more).toEqual([]);
    expect(fact).toMatchObject({
      key: runtime.anomaly_key,
      severity: 'critical',
      notice: 'worse',
      revision: '2026-10-21',
    });
  });

  test('which a later part joins: it is reported again if that adds a quarter', () => {
    const warned = { severity: 'warning' };
    const [before] = facts([anomaly({ row: warned })]);
    const known = before === undefined ? [] : [before];
    const goesOn = anomaly({ impacts: [50, 50], row: warned });
    const joining = (impact: number) => anomaly({ dimension: 'egress', firstDay: '2026-10-21', impacts: [impact] });
    expect(facts([goesOn, joining(15)], known)).toMatchObject([
      {
        notice: 'worse',
        revision: '2026-10-21',
        lastNotice: { impact: '50.000000000000' },
        impact: '115.000000000000',
      },
    ]);
    const [small] = facts([goesOn, joining(5.5)], known);
    expect(small).toMatchObject({ notice: 'first', impact: '105.500000000000' });
    expect(small?.revision).toBeUndefined();
  });

  test('which ends when its last part has ended, and is not raised again by one of its parts', () => {
    const [before] = facts([runtime, egress]);
    const known = before === undefined ? [] : [before];
    const over = (row: AnomalyRow) => ({ ...row, state: 'over' as const, ended_day: '2026-10-22' });
    expect(facts([over(runtime), egress], known).map(({ state }) => state)).toEqual(['raised']);
    expect(facts([over(runtime), over(egress)], known).map(({ state }) => state)).toEqual(['resolved']);
    expect(facts([over(runtime), over(egress)], known, false)).toEqual([]);
  });

  test('which loses the part that the platform corrected away', () => {
    const [before] = facts([runtime, egress]);
    const gone = { ...runtime, state: 'restated' as const, impact: '0.000000000000' };
    const [fact] = facts([gone, egress], before === undefined ? [] : [before]);
    expect(fact).toMatchObject({ key: runtime.anomaly_key, state: 'raised', impact: '12.500000000000' });
  });

  test('but alerts that were sent apart stay apart', () => {
    const [one] = facts([runtime]);
    const [other] = facts([egress]);
    const known = [one, other].flatMap((fact) => fact ?? []);
    expect(
      facts([runtime, egress], known)
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual([runtime.anomaly_key, egress.anomaly_key].toSorted());
  });
});

describe('the pace at the end of a first day', () => {
  const hours = (costs: Readonly<Record<number, number>>) => ({
    firstHour: 20_746 * 24,
    costs: Array.from({ length: 24 }, (_, hour) => costs[hour] ?? 0),
  });
  const day = { firstDay: 20_746, expected: 0, isUp: true };

  test('is that of its hours if it still ran', () => {
    expect(beginning(day, hours({ 21: 4, 22: 4, 23: 4 }))).toEqual({
      ...{ firstHour: '2026-10-20T21:00:00Z', pace: '96.000000000000' },
    });
  });

  test('begins at the change, not where noise adds to it', () => {
    const noise = Object.fromEntries(Array.from({ length: 9 }, (_, hour) => [hour + 12, 0.02]));
    expect(beginning(day, hours({ ...noise, 21: 3.8, 22: 3.7, 23: 3.6 })).firstHour).toBe('2026-10-20T21:00:00Z');
    // A resource that starts late in an hour costs little in it.
    expect(beginning(day, hours({ ...noise, 20: 0.7, 21: 3.8, 22: 3.7, 23: 3.6 })).firstHour).toBe(
      '2026-10-20T20:00:00Z',
    );
    expect(beginning(day, hours({ 5: 4, 6: 4, 7: 4, 20: 0.1 })).firstHour).toBe('2026-10-20T05:00:00Z');
  });

  test('is that since the evening before if it began then', () => {
    const usual = Array.from({ length: 29 * 24 }, (_, hour) => 1 + (hour % 5) / 50);
    const costs = usual.map((cost, hour) => (hour < 27 * 24 + 20 ? cost : cost + 2));
    expect(beginning({ ...day, expected: 24.9 }, { firstHour: (20_746 - 28) * 24, costs })).toEqual({
      ...{ firstHour: '2026-10-19T20:00:00Z', pace: expect.stringMatching(/^48\.\d+$/) },
    });
  });

  test('is unknown if it had stopped', () => {
    expect(beginning(day, hours({ 20: 12, 23: 0.1 })).pace).toBeNull();
  });

  test('of a single hour counts as that of two: it may be a batch', () => {
    expect(beginning(day, hours({ 23: 16 })).pace).toBe('192.000000000000');
  });

  test('of a lower cost is unknown', () => {
    expect(beginning({ ...day, isUp: false, expected: 24 }, hours({})).pace).toBeNull();
  });
});

test('the chart of anomalies of one cause shows the sum of their days, to the last decimal', () => {
  const rows = [
    { day: '2026-10-20', cost: '50.000000000001', usage: '1' },
    { day: '2026-10-21', cost: '1.000000000000', usage: '1' },
    { day: '2026-10-20', cost: '12.500000000000', usage: '7' },
  ];
  expect(summedByDay(rows)).toEqual([
    { day: '2026-10-20', cost: '62.500000000001', usage: null },
    { day: '2026-10-21', cost: '1.000000000000', usage: null },
  ]);
});
