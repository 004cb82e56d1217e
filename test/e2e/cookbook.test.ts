// Second tier: Runs every recipe of the docs; unit/docs reads them in the first tier.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { costOf, inventStory, type Series, sinceFor, usageOf } from '../../src/emulator/sample-costs.ts';
import { hourMs } from '../../src/time/time.ts';
import { type Books, openBooks } from '../../src/warehouse/integrity/books.ts';
import { answer as answerOfGiven } from '../support/given-books.ts';
import { newProject, runCli } from '../support/project.ts';

const page = readFileSync(new URL('../../docs/cookbook.md', import.meta.url), 'utf8');
/** The SQL of each question, by its number. */
const recipes = new Map(
  [...page.matchAll(/^## (\d+)\. .+\?\n[\s\S]*?```sql\n([\s\S]*?)```/gm)].map(([, number, sql = '']) => [
    Number(number),
    sql,
  ]),
);

const now = Date.UTC(2026, 9, 15, 9);
/** Two hours are too young to be called complete. */
const completeThrough = now / hourMs - 2;
const today = Math.floor(completeThrough / 24) * 24;

/** One hour of one series as the story has it: billionths of a dollar, thousandths of a unit. */
interface Point {
  readonly series: Series;
  readonly hour: number;
  readonly cost: number;
  readonly usage: number;
}

/** The expected numbers, from the story itself and not from any books. */
const points: Point[] = [];
let books: Books;
beforeAll(async () => {
  const options = { seed: 1, resources: 24, since: sinceFor(now), storyEnd: Date.UTC(2026, 9, 15), retentionMs: 0 };
  const story = inventStory(options);
  for (const series of story.series) {
    for (let hour = options.since / hourMs; hour < now / hourMs; hour += 1) {
      const usage = usageOf(story, series, hour);
      if (usage > 0) points.push({ series, hour, usage, cost: costOf(story, series, hour, usage) });
    }
  }
  const emulator = await startEmulator({ ...options, now: () => now });
  try {
    const dir = await newProject();
    const { exitCode, stderr } = await runCli(['ingest', '--dir', dir, '--now', new Date(now).toISOString()], {
      COSTBOOK_URL: emulator.url,
      COSTBOOK_TOKEN: emulator.tokens.admin,
      COSTBOOK_ACCOUNT: emulator.account,
    });
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    books = await openBooks(dir, { lockedDown: true });
  } finally {
    await emulator.close();
  }
}, 300_000);
afterAll(() => books?.close());

type Row = Record<string, unknown>;

/** What the books answer to a question of the page. */
async function ask(number: number): Promise<Row[]> {
  return [...(await books.connection.rows(recipes.get(number) ?? ''))];
}

/** Points added up by a key of text, in the order of the keys. */
function totals(of: readonly Point[], keyOf: (point: Point) => string): { key: string; cost: number; usage: number }[] {
  const sums = new Map<string, { key: string; cost: number; usage: number }>();
  for (const point of of) {
    const key = keyOf(point);
    const sum = sums.get(key) ?? { key, cost: 0, usage: 0 };
    sum.cost += point.cost;
    sum.usage += point.usage;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function costOfPoints(of: readonly Point[]): number {
  return of.reduce((sum, { cost }) => sum + cost, 0);
}

function between(from: number, to: number): Point[] {
  return points.filter(({ hour }) => hour >= from && hour < to);
}

/** Billionths of a dollar as the books write dollars. */
function dollars(billionths: number): string {
  const digits = String(Math.abs(billionths)).padStart(10, '0');
  return `${billionths < 0 ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}000`;
}

function dayOf({ hour }: { hour: number }): string {
  return new Date(hour * hourMs).toISOString().slice(0, 10);
}
function monthOf(point: { hour: number }): string {
  return `${dayOf(point).slice(0, 7)}-01`;
}
function instantOf(hour: number): string {
  return new Date(hour * hourMs).toISOString().slice(0, 19).replace('T', ' ');
}
function weekdayOf({ hour }: { hour: number }): number {
  return new Date(hour * hourMs).getUTCDay() || 7;
}
function resourceOf({ series }: Point): string {
  const { workspace = null, resourceType, resourceName, resourceUuid = null } = series;
  return JSON.stringify([workspace, resourceType, resourceName, resourceUuid]);
}
function named(key: string): Row {
  const [workspace, resource_type, resource_name] = JSON.parse(key) as unknown[];
  return { workspace, resource_type, resource_name };
}
function hourOf(month: string): number {
  return Date.parse(`${month}T00:00:00Z`) / hourMs;
}
const september = () => between(hourOf('2026-09-01'), hourOf('2026-10-01'));

describe('the cookbook', () => {
  test('has twenty questions, numbered, with one SELECT each', () => {
    expect([...recipes.keys()]).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect([...page.matchAll(/^## /gm)]).toHaveLength(20);
  });

  test('1: each month', async () => {
    const expected = totals(points, monthOf).map(({ key, cost }) => ({ usage_month: key, cost: dollars(cost) }));
    expect(expected).toHaveLength(13);
    expect(await ask(1)).toEqual(expected);
  });

  test('2: each workspace in the last complete month', async () => {
    const expected = totals(september(), ({ series }) => series.workspace ?? '(none)')
      .sort((a, b) => b.cost - a.cost)
      .map(({ key, cost }) => ({ workspace: key, cost: dollars(cost) }));
    expect(expected.length).toBeGreaterThan(3);
    expect(await ask(2)).toEqual(expected);
  });

  test('3: the ten most expensive resources of thirty days', async () => {
    const expected = totals(between(today - 30 * 24, today), resourceOf)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, 10)
      .map(({ key, cost }) => ({ ...named(key), cost: dollars(cost) }));
    expect(await ask(3)).toEqual(expected);
  });

  test('4: the share of each billing dimension', async () => {
    const all = costOfPoints(september());
    const expected = totals(september(), ({ series }) => series.billingDimension)
      .sort((a, b) => b.cost - a.cost)
      .map(({ key, cost }) => ({
        billing_dimension: key,
        cost: dollars(cost),
        percent: ((100 * cost) / all).toFixed(2),
      }));
    expect(await ask(4)).toEqual(expected);
  });

  test('5: this month against the last one by then', async () => {
    const monthBefore = completeThrough - 30 * 24; // September has thirty days
    expect(await ask(5)).toEqual([
      {
        this_month: dollars(costOfPoints(between(hourOf('2026-10-01'), completeThrough))),
        same_hours_last_month: dollars(costOfPoints(between(hourOf('2026-09-01'), monthBefore))),
      },
    ]);
  });

  test('6: the cost of each of fourteen days', async () => {
    const expected = totals(between(today - 14 * 24, today), dayOf);
    expect(expected).toHaveLength(14);
    expect(await ask(6)).toEqual(expected.map(({ key, cost }) => ({ usage_date: key, cost: dollars(cost) })));
  });

  test('7: what changed most against the week before', async () => {
    const costs = (from: number, to: number) =>
      new Map(totals(between(from, to), resourceOf).map(({ key, cost }) => [key, cost]));
    const before = costs(today - 14 * 24, today - 7 * 24);
    const last = costs(today - 7 * 24, today);
    const expected = [...new Set([...before.keys(), ...last.keys()])]
      .map((key) => ({ key, before: before.get(key) ?? 0, last: last.get(key) ?? 0 }))
      .sort((a, b) => Math.abs(b.last - b.before) - Math.abs(a.last - a.before))
      .slice(0, 10)
      .map((row) => ({
        ...named(row.key),
        week_before: dollars(row.before),
        last_week: dollars(row.last),
        change: dollars(row.last - row.before),
      }));
    expect(await ask(7)).toEqual(expected);
  });

  /** The first and last hour and the cost of each resource. */
  function lives(): { key: string; first: number; end: number; cost: number }[] {
    const found = new Map<string, { key: string; first: number; end: number; cost: number }>();
    for (const point of points) {
      const key = resourceOf(point);
      const life = found.get(key) ?? { key, first: point.hour, end: point.hour + 1, cost: 0 };
      life.first = Math.min(life.first, point.hour);
      life.end = Math.max(life.end, point.hour + 1);
      life.cost += point.cost;
      found.set(key, life);
    }
    return [...found.values()];
  }

  test('8: what is new this month', async () => {
    // Nobody of the small account is born in its last month.
    expect(lives().filter(({ first }) => first >= hourOf('2026-10-01'))).toEqual([]);
    expect(await ask(8)).toEqual([]);
    const given = {
      accounts: [{}],
      covered: [
        { window_start: '2026-09-01', window_end: '2026-10-01', claimed_end: '2026-10-01' },
        { window_start: '2026-10-01', window_end: '2026-10-08', claimed_end: '2026-10-07', load_number: 2 },
      ],
      costs: [
        { resource_name: 'old', resource_uuid: 'a', bucket_start: '2026-09-30 23:00:00', cost: '1' },
        { resource_name: 'old', resource_uuid: 'a', bucket_start: '2026-10-01 00:00:00', cost: '1' },
        { resource_name: 'new', resource_uuid: 'b', bucket_start: '2026-10-01 00:00:00', cost: '0.5' },
        { resource_name: 'new', resource_uuid: 'b', bucket_start: '2026-10-01 01:00:00', cost: '0.25' },
        { resource_name: 'made anew', resource_uuid: 'c', bucket_start: '2026-10-02 00:00:00', cost: '2' },
      ],
    };
    expect(await answerOfGiven(given, recipes.get(8) ?? '')).toEqual([
      {
        workspace: 'north',
        resource_type: 'sandbox',
        resource_name: 'made anew',
        first_seen: '2026-10-02 00:00:00',
        cost: '2.000000000000',
      },
      {
        workspace: 'north',
        resource_type: 'sandbox',
        resource_name: 'new',
        first_seen: '2026-10-01 00:00:00',
        cost: '0.750000000000',
      },
    ]);
  });

  test('9: what has not been billed for a week', async () => {
    const expected = lives()
      .filter(({ end }) => end <= completeThrough - 7 * 24)
      .map(({ key, end, cost }) => ({ ...named(key), last_billed: instantOf(end), cost: dollars(cost) }));
    expect(expected.length).toBeGreaterThan(0);
    const byName = (a: Row, b: Row) => JSON.stringify(a).localeCompare(JSON.stringify(b));
    expect((await ask(9)).sort(byName)).toEqual(expected.sort(byName));
  });

  test('10: storage without compute', async () => {
    const recent = between(today - 30 * 24, today);
    const stored = totals(
      recent.filter(({ series }) => series.billingDimension.endsWith('_storage_gbs')),
      resourceOf,
    );
    const run = new Set(
      recent.filter(({ series }) => series.billingDimension.endsWith('_runtime_gbs')).map(resourceOf),
    );
    const expected = stored
      .filter(({ key, cost }) => cost > 0 && !run.has(key))
      .sort((a, b) => b.cost - a.cost)
      .map(({ key, cost }) => ({ ...named(key), storage_cost: dollars(cost) }));
    expect(expected.length).toBeGreaterThan(0);
    expect(await ask(10)).toEqual(expected);
  });

  test('11: the month in which a price changed', async () => {
    const rows = await ask(11);
    // The story has one change of price, of sandboxes in July; what is free by the hour moves the price of requests.
    expect(rows.filter((row) => row['billing_dimension'] !== 'agent_async_requests_count')).toEqual([
      {
        billing_dimension: 'sandbox_compute_runtime_gbs',
        usage_month: '2026-07-01',
        price_before: '0.0000115000',
        price: '0.0000138000',
      },
    ]);
  });

  test('12: the most expensive hours of the week', async () => {
    const expected = totals(points, (point) => `${weekdayOf(point)}/${String(point.hour % 24).padStart(2, '0')}`)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, 5)
      .map(({ key, cost }) => {
        const [weekday, hour] = key.split('/');
        return { weekday, hour_of_day: String(Number(hour)), cost: dollars(cost) };
      });
    expect(await ask(12)).toEqual(expected);
  });

  test('13: weekends against weekdays', async () => {
    const weekends = points.filter((point) => weekdayOf(point) > 5);
    const expected = totals(points, monthOf).map(({ key, cost }) => {
      const weekend = costOfPoints(weekends.filter((point) => monthOf(point) === key));
      return { usage_month: key, weekdays: dollars(cost - weekend), weekends: dollars(weekend) };
    });
    expect(await ask(13)).toEqual(expected);
  });

  test('14: what belongs to no workspace', async () => {
    const homeless = points.filter(({ series }) => series.workspace === undefined);
    const expected = totals(homeless, ({ series }) => JSON.stringify([series.resourceType, series.resourceName]))
      .sort((a, b) => b.cost - a.cost)
      .map(({ key, cost }) => {
        const [resource_type, resource_name] = JSON.parse(key) as string[];
        return { resource_type, resource_name, cost: dollars(cost) };
      });
    expect(expected.length).toBeGreaterThan(0);
    expect(await ask(14)).toEqual(expected);
  });

  test('15: a year at this pace', async () => {
    const thirtyDays = costOfPoints(between(today - 30 * 24, today));
    expect(await ask(15)).toEqual([
      { thirty_days: dollars(thirtyDays), whole_year: ((thirtyDays / 1e9) * (365 / 30)).toFixed(2) },
    ]);
  });

  test('16: the cost since January', async () => {
    let sum = 0;
    const expected = totals(points, monthOf).map(({ key, cost }) => {
      sum = key.endsWith('-01-01') ? cost : sum + cost;
      return { usage_month: key, cost: dollars(cost), since_january: dollars(sum) };
    });
    expect(await ask(16)).toEqual(expected);
  });

  test('17: days that cost twice the usual', async () => {
    const days = new Map(
      totals(
        points.filter(({ hour }) => hour < today),
        (point) => JSON.stringify([point.series.workspace ?? null, dayOf(point)]),
      ).map(({ key, cost }) => [key, cost]),
    );
    const expected = [...days].flatMap(([key, cost]) => {
      const [workspace, usage_date] = JSON.parse(key) as [string | null, string];
      const before = [7, 14, 21, 28]
        .map((back) => days.get(JSON.stringify([workspace, dayOf({ hour: hourOf(usage_date) - back * 24 })])))
        .filter((found) => found !== undefined)
        .sort((a, b) => a - b);
      const usual = ((before[1] ?? 0) + (before[2] ?? 0)) / 2;
      return before.length === 4 && cost > 2 * usual && cost - usual > 1e9
        ? [{ workspace, usage_date, cost: dollars(cost) }]
        : [];
    });
    // The week in which an agent runs away is among them.
    expect(expected.map(({ usage_date }) => usage_date)).toContain('2026-10-14');
    const byDay = (a: Row, b: Row) =>
      `${a['usage_date']} ${a['workspace']}`.localeCompare(`${b['usage_date']} ${b['workspace']}`);
    expect((await ask(17)).sort(byDay)).toEqual(expected.sort(byDay));
  });

  test('18: months that changed after they had been loaded', async () => {
    const restatements = [
      { bucket_start: '2026-08-31 23:00:00', old_cost: '1', new_cost: '1.25', seen_at: '2026-09-03 01:00:00' },
      { bucket_start: '2026-09-01 00:00:00', old_cost: null, new_cost: '2', seen_at: '2026-09-04 01:00:00' },
      { bucket_start: '2026-09-01 01:00:00', old_cost: '0.5', new_cost: null, seen_at: '2026-09-05 01:00:00' },
    ];
    expect(await answerOfGiven({ restatements }, recipes.get(18) ?? '')).toEqual([
      { usage_month: '2026-08-01', changes: '1', cost_change: '0.250000000000', last_seen: '2026-09-03 01:00:00' },
      { usage_month: '2026-09-01', changes: '2', cost_change: '1.500000000000', last_seen: '2026-09-05 01:00:00' },
    ]);
    expect(await ask(18)).toEqual([]);
  });

  test('19: how far to trust each account', async () => {
    const [row, ...others] = await ask(19);
    expect(others).toEqual([]);
    expect(row).toEqual({
      account: 'acc-harbor-labs',
      complete_through: instantOf(completeThrough),
      settled_through: instantOf(completeThrough - 3 * 24),
      matched: expect.stringMatching(/^[1-9]\d+$/),
      not_matched: '0',
    });
  });

  test('20: runs that did not end well', async () => {
    expect(await ask(20)).toEqual([]);
    const runs = [
      { run_number: 1 },
      { run_number: 2, outcome: 'failed', exit_code: 3, error: 'no answer' },
      { run_number: 3, outcome: 'running', exit_code: null, ended_at: null },
    ];
    const answered = await answerOfGiven({ runs }, recipes.get(20) ?? '');
    expect(answered).toMatchObject([
      { run_number: '3', outcome: 'running', exit_code: null },
      { run_number: '2', outcome: 'failed', exit_code: 3, error: 'no answer' },
    ]);
  });
});
