// Second tier: Makes books of many hours; unit tests of anomalies have the rules in the first tier.

import { describe, expect, test } from 'vitest';
import type { AnomalyFact } from '../../src/anomalies/fact.ts';
import { type AnomalyRules, usualRules } from '../../src/anomalies/rules.ts';
import { anomalyOverWords, anomalyWords } from '../../src/anomalies/words.ts';
import { readAlertFacts } from '../../src/findings/collect.ts';
import { transitionsOf } from '../../src/findings/transitions.ts';
import { knownAlerts } from '../../src/warehouse/watch/alerts.ts';
import type { AnomalyRow } from '../../src/warehouse/watch/index.ts';
import { givenBooks } from '../support/given-books.ts';

const hourMs = 3_600_000;
/** More than two weeks before the runaways; one test has older hours. */
const usualStart = '2026-08-24T00:00';
const key = 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-10';
const at = (instant: string) => Date.parse(`${instant}:00Z`);

/** What an hour costs: 0.30 USD every third hour, and what runs away. */
type Costs = (hour: number) => number;
const usual: Costs = (hour) => ((hour / hourMs) % 3 === 0 ? 0.3 : 0);
/** So much from an instant to another. */
const runs = (from: string, to: string, cost: number, base: Costs = usual): Costs => {
  const [first, end] = [at(from), at(to)];
  return (hour) => (hour >= first && hour < end ? cost : base(hour));
};

/** What an evaluation knows from the ones before it. */
interface Before {
  readonly rows: readonly AnomalyRow[];
  readonly facts: readonly { readonly fact: AnomalyFact; readonly isOpen: boolean }[];
  readonly evaluated: string | undefined;
}
const nothing: Before = { rows: [], facts: [], evaluated: undefined };

/** Books whose hours before `now` are fetched, complete except the last two, after an evaluation; and its messages. */
async function evaluated(
  now: string,
  costs: Costs,
  before: Before = nothing,
  {
    from = usualStart,
    called = [],
    ...more
  }: Partial<AnomalyRules> & {
    readonly from?: string;
    readonly called?: readonly Readonly<Record<string, string>>[];
  } = {},
) {
  const start = at(from);
  const rules = { ...usualRules, ...more };
  const [newest, complete] = [at(now), at(now) - 2 * hourMs];
  const rows = Array.from({ length: (newest - start) / hourMs }, (_, place) => start + place * hourMs);
  const instant = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
  const books = await givenBooks({
    accounts: [{ history_start: instant(start) }],
    loads: [{ window_start: instant(start) }],
    covered: [{ window_start: instant(start), window_end: instant(newest), claimed_end: instant(complete) }],
    costs: rows.flatMap((hour) =>
      costs(hour) === 0
        ? []
        : [{ bucket_start: instant(hour), cost: String(costs(hour)), usage: String(costs(hour) * 100) }],
    ),
    anomalies: before.rows.map((row) => ({ ...row })),
    alert_feedback: called,
    anomaly_evaluations: before.evaluated === undefined ? [] : [{ evaluated_through: before.evaluated }],
    alerts: before.facts.map(({ fact, isOpen }) => ({
      ...{
        alert_key: fact.key,
        kind: 'anomaly',
        sinks: '["chat"]',
        severity: fact.severity,
        fact: JSON.stringify(fact),
      },
      ...(isOpen ? {} : { ended_at: instant(complete), ending: 'resolved' }),
    })),
  });
  try {
    const known = await knownAlerts(books.connection);
    const { facts, anomalies } = await readAlertFacts(books.connection, known, {
      ...{ now: newest, freshnessHours: 10_000, configured: [], budgets: [], overlay: '/nowhere' },
      anomalyRules: rules,
      signal: new AbortController().signal,
      runChecks: async () => [], // no fact of a check is asked for
    });
    const unusual = facts.filter((fact): fact is AnomalyFact => fact.kind === 'anomaly');
    const { entries } = transitionsOf(known, unusual, { now: newest, everybody: ['chat'] });
    const day = instant(Math.floor(complete / 86_400_000) * 86_400_000);
    const raised = entries.flatMap(({ entry: { transition, fact } }) =>
      transition === 'raised' && fact.kind === 'anomaly' ? [fact] : [],
    );
    const ended = new Set(entries.flatMap(({ entry }) => (entry.transition === 'resolved' ? [entry.key] : [])));
    const kept = before.facts.filter(({ fact }) => !raised.some((one) => one.key === fact.key));
    const after: Before = {
      rows: anomalies.present,
      facts: [
        ...kept.map(({ fact, isOpen }) => ({ fact, isOpen: isOpen && !ended.has(fact.key) })),
        ...raised.map((fact) => ({ fact, isOpen: true })),
      ],
      evaluated: day,
    };
    return { after, facts: unusual, told: entries.map(({ entry }) => `${entry.transition} ${entry.key}`) };
  } finally {
    books.close();
  }
}

const runaway = runs('2026-09-10T08:00', '2026-09-30T00:00', 5);

describe('the hourly watch', () => {
  test('reports a runaway after its first two hours, whether or not these are complete', async () => {
    expect((await evaluated('2026-09-10T09:00', runaway)).facts).toEqual([]);
    const { facts, told } = await evaluated('2026-09-10T10:00', runaway);
    expect(told).toEqual([`raised ${key}`]);
    expect(facts).toMatchObject([
      {
        anomaly: 'spike',
        severity: 'critical',
        impact: '9.700000000000',
        hours: { from: '2026-09-10T08:00:00Z', to: '2026-09-10T10:00:00Z', times: 25 },
        monthEnd: { month: '2026-09' },
      },
    ]);
    const words = anomalyWords(facts[0] as AnomalyFact);
    expect(words.title).toBe(
      '9.70 USD more than usual for box in 2 hours, in all about 2,381 USD more by the end of September if it continues',
    );
    expect(words.fields.map(({ value }) => value)).toContain(
      '+9.70 USD, about 115 USD on a whole day, 25 times its usual cost',
    );
    expect(words.next?.words).toMatch(/^check what box runs and when;/);
  });

  test('reports nothing below the times that the rules name, and nothing if they turn it off', async () => {
    expect((await evaluated('2026-09-10T10:00', runs('2026-09-10T08:00', '2026-09-30T00:00', 1.9))).facts).toEqual([]);
    const higher = { hourlyTimes: 60 };
    expect((await evaluated('2026-09-10T10:00', runaway, nothing, higher)).facts).toEqual([]);
    const off = { hourlyTimes: undefined };
    expect((await evaluated('2026-09-10T10:00', runaway, nothing, off)).facts).toEqual([]);
  });

  test.each([
    ['a week', '2026-09-03T08:00', '2026-09-03T12:00'],
    ['a month', '2026-08-10T06:00', '2026-08-10T09:00'],
  ])('reports no batch of which the last one came %s before', async (_, from, to) => {
    const batches = runs(from, to, 4, runs('2026-09-10T08:00', '2026-09-10T12:00', 5));
    const { facts } = await evaluated('2026-09-10T10:00', batches, nothing, { from: '2026-08-08T00:00' });
    expect(facts.filter(({ firstDay }) => firstDay === '2026-09-10')).toEqual([]);
  });

  test('reports nothing while a day at this pace stays within what somebody called expected', async () => {
    const called = (largest: string) => [
      {
        anomaly_key: 'anomaly/acc_one/x',
        largest_cost: largest,
        first_day: '2026-08-01',
        last_day: '2026-08-01',
        applies_from: '2026-08-02',
      },
    ];
    // 8 usual hours and 16 of 5 USD are a day of about 81 USD; the bar is 1.2 times the largest day.
    const now = '2026-09-10T10:00';
    expect((await evaluated(now, runaway, nothing, { called: called('80') })).told).toEqual([]);
    expect((await evaluated(now, runaway, nothing, { called: called('60') })).told).toEqual([`raised ${key}`]);
  });

  test('sends no second message while it runs, also when its day is complete and the daily rule finds it', async () => {
    const first = await evaluated('2026-09-10T10:00', runaway);
    const later = await evaluated('2026-09-10T15:00', runaway, first.after);
    expect(later.told).toEqual([]);
    expect(later.facts).toMatchObject([{ impact: '34.400000000000', hours: { to: '2026-09-10T15:00:00Z' } }]);
    const next = await evaluated('2026-09-11T03:00', runaway, later.after);
    expect(next.told).toEqual([]);
    expect(next.facts).toMatchObject([{ key, state: 'raised', lastDay: '2026-09-10', isOver: false }]);
    // It is a daily anomaly from then on.
    expect(next.facts[0]?.hours).toBeUndefined();
    expect(Number(next.facts[0]?.impact)).toBeCloseTo(78.5, 6);
    const day = await evaluated('2026-09-13T03:00', runaway, next.after);
    expect(day.told).toEqual([`raised ${key}`]); // it has lasted three days
  });

  test('reports the end after six complete usual hours, and nothing more of that day', async () => {
    const short = runs('2026-09-10T08:00', '2026-09-10T11:00', 5);
    const first = await evaluated('2026-09-10T10:00', short);
    const waiting = await evaluated('2026-09-10T18:00', short, first.after);
    expect(waiting.told).toEqual([]);
    const ended = await evaluated('2026-09-10T19:00', short, waiting.after);
    expect(ended.told).toEqual([`resolved ${key}`]);
    expect(anomalyOverWords(ended.facts[0] as AnomalyFact).title).toBe(
      'box is back to its usual cost, after 14.70 USD more than usual',
    );
    const next = await evaluated('2026-09-11T03:00', short, ended.after);
    expect(next.told).toEqual([]);
    expect((await evaluated('2026-09-12T03:00', short, next.after)).told).toEqual([]);
  });

  test('reports it again if the day after its end is unusual as well, although its own day was evaluated before', async () => {
    const short = runs('2026-09-10T08:00', '2026-09-10T11:00', 5);
    const longer = runs('2026-09-11T05:00', '2026-09-11T23:00', 4, short);
    const first = await evaluated('2026-09-10T10:00', longer);
    const ended = await evaluated('2026-09-10T19:00', longer, first.after);
    expect(ended.told).toEqual([`resolved ${key}`]);
    const own = await evaluated('2026-09-11T03:00', longer, ended.after);
    expect(own.told).toEqual([]);
    expect((await evaluated('2026-09-12T03:00', longer, own.after)).told).toEqual([`raised ${key}`]);
  });

  test('reports it again if it comes back after its end', async () => {
    const short = runs('2026-09-10T02:00', '2026-09-10T05:00', 5);
    const again = runs('2026-09-10T20:00', '2026-09-12T00:00', 5, short);
    const first = await evaluated('2026-09-10T04:00', again);
    const ended = await evaluated('2026-09-10T14:00', again, first.after);
    expect(ended.told).toEqual([`resolved ${key}`]);
    expect((await evaluated('2026-09-10T22:00', again, ended.after)).told).toEqual([`raised ${key}`]);
  });

  test('ends without a second message if only its hours were unusual, not its day', async () => {
    // Nights vary between 0 and 60 USD a day, in an hour each: two hours of 3 USD are no unusual day.
    const night: Costs = (hour) => (new Date(hour).getUTCHours() === 3 ? 10 + ((hour / hourMs) % 7) * 6 : 0);
    const short = runs('2026-09-10T21:00', '2026-09-10T23:00', 90, night);
    const first = await evaluated('2026-09-10T23:00', short);
    expect(first.told).toEqual([`raised ${key}`]);
    const next = await evaluated('2026-09-11T03:00', short, first.after);
    expect(next.told).toEqual([]);
    const last = await evaluated('2026-09-11T12:00', short, next.after);
    expect(last.told.length).toBeLessThanOrEqual(1);
  });

  test('takes it back if the platform corrects its hours', async () => {
    const first = await evaluated('2026-09-10T10:00', runaway);
    const corrected = await evaluated('2026-09-10T11:00', usual, first.after);
    expect(corrected.told).toEqual([`resolved ${key}`]);
    expect(anomalyOverWords(corrected.facts[0] as AnomalyFact).title).toBe(
      'the cost of box is not unusual by the present numbers and rules',
    );
  });

  test('reports a runaway over midnight once, under the day on which it began', async () => {
    const late = runs('2026-09-10T23:00', '2026-09-12T00:00', 5);
    expect((await evaluated('2026-09-11T00:00', late)).told).toEqual([]);
    const first = await evaluated('2026-09-11T01:00', late);
    expect(first.told).toEqual([`raised ${key}`]);
    const next = await evaluated('2026-09-11T03:00', late, first.after);
    expect(next.told).toEqual([]);
    const day = await evaluated('2026-09-12T03:00', late, next.after);
    expect(day.told).toEqual([]);
    expect(day.facts).toMatchObject([{ key, state: 'raised' }]);
    expect(day.facts).toHaveLength(1);
  });

  test('reports a new resource once it has cost 100 USD', async () => {
    const created = runs('2026-09-10T08:00', '2026-09-30T00:00', 30, () => 0);
    const since =
      (costs: Costs): Costs =>
      (hour) =>
        hour < at('2026-07-06T10:00') ? 0.01 : costs(hour);
    expect((await evaluated('2026-09-10T11:00', since(created))).facts).toEqual([]);
    const { facts } = await evaluated('2026-09-10T12:00', since(created));
    expect(facts).toMatchObject([{ anomaly: 'new', hours: { times: null } }]);
    expect(anomalyWords(facts[0] as AnomalyFact).title).toBe(
      '120.00 USD for box, never billed for compute runtime before, in 4 hours, in all about 14,880 USD by the end of September if it continues',
    );
  });
});
