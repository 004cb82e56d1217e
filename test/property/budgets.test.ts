// Second tier: Drawn budgets and costs in DuckDB; sql/budgets holds the rules.

import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readForecasts, withForecasts } from '../../src/budgets/forecasts/scope-forecasts.ts';
import { type Budget, budgetCalendar } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { type BudgetBacktest, backtestBudget, backtestFacts } from '../../src/budgets/show/backtest.ts';
import { readSpends } from '../../src/budgets/spend/spend.ts';
import { evaluateBudgets } from '../../src/budgets/spend/thresholds.ts';
import type { Forecaster } from '../../src/outlook/period-forecast.ts';
import { calendarOf, dayMs, formatInstant, hourMs, type Instant } from '../../src/time/time.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { snapshotFile } from '../../src/warehouse/integrity/snapshot-file.ts';
import fc from '../support/fast-check.ts';
import { type Given, givenBooks } from '../support/given-books.ts';
import { newProject } from '../support/project.ts';

const [budget] = parseBudgets({
  file: 'jobs/budgets.yaml',
  now: Date.UTC(2026, 8, 1),
  text: `budgets:
  - name: some
    period: daily
    timeZone: Europe/Berlin
    amount: 10 USD
    scope: { workspace: north }
    thresholds: [{ at: 40% }, { at: 7 USD }, { at: 100% }]`,
});
if (budget === undefined) throw new Error('no budget');

test('each night raises the highest threshold newly crossed, and resolves each raised one once', () => {
  const period = budgetCalendar(budget).periodAt(Date.UTC(2026, 8, 1));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 20 }), (values) => {
      const spends = values.map((value, index) => ({
        period,
        knownFrom: index * dayMs,
        spent: BigInt(value) * 10n ** 12n,
        gaps: [],
      }));
      const events = backtestFacts(budget, spends, () => undefined);
      const limits = { '40%': 4, '7 USD': 7, '100%': 10 };
      const raised = new Set<string>();
      const expected = values.flatMap((value, index) => {
        const crossed = Object.entries(limits).filter(([, limit]) => value >= limit);
        const [highest] = crossed.at(-1) ?? [];
        const starts = highest === undefined || raised.has(highest) ? [] : [highest];
        const ends = [...raised].filter((threshold) => !crossed.some(([name]) => name === threshold));
        for (const threshold of starts) raised.add(threshold);
        for (const threshold of ends) raised.delete(threshold);
        return [...starts.map((name) => `${name} raised`), ...ends.map((name) => `${name} resolved`)].map(
          (change) => `${index} ${change} ${value}`,
        );
      });
      const found = events.map(
        ({ at, threshold, state, value }) => `${at / dayMs} ${threshold} ${state} ${Number(value)}`,
      );
      expect(found.sort()).toEqual(expected.sort());
      expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort((a, b) => a - b));
    }),
  );
});

/** One night: when its load sees the platform, how many hours it loads, and what they cost by then. */
interface Night {
  readonly afterHours: number;
  /** Cents of each hour of each series; 0 means no row. */
  readonly truth: readonly (readonly number[])[];
}

const begin = Date.UTC(2026, 8, 1);
const hours = 60;
const series = [
  { workspace: 'north', resource_uuid: 'sbx-1' },
  { workspace: 'north', resource_uuid: 'sbx-2' },
  { workspace: 'south', resource_uuid: 'sbx-3' },
];
const anHour = fc.constantFrom(0, 0, 25, 50, 100);
const aNight: fc.Arbitrary<Night> = fc.record({
  afterHours: fc.constantFrom(1, 5, 14, 24, 30),
  truth: fc.array(fc.array(anHour, { minLength: hours, maxLength: hours }), { minLength: 3, maxLength: 3 }),
});

/** The ledger after nights that each load what is over by then; only what differs is written, as a load does. */
function ledgerOf(nights: readonly Night[]): { given: Given; seen: Instant[] } {
  const seen: Instant[] = [];
  const now = new Map<string, { cents: number; load: number }>();
  const restatements: Record<string, string | number | null>[] = [];
  const loads: Record<string, string | number>[] = [];
  const covered: Record<string, string | number | null>[] = [];
  let clock = begin;
  let loaded = 0;
  for (const [index, { afterHours, truth }] of nights.entries()) {
    clock += afterHours * hourMs;
    const load = index + 1;
    const count = Math.min(hours, Math.floor((clock - begin) / hourMs));
    const end = formatInstant(begin + count * hourMs);
    seen.push(clock);
    loads.push({ load_number: load, seen_at: formatInstant(clock), window_end: end, claimed_end: end });
    const last = covered.at(-1);
    if (last) last['replaced_by'] = load;
    covered.push({ window_end: end, claimed_end: end, load_number: load, since_load: load, replaced_by: null });
    for (const [which, dimensions] of series.entries()) {
      for (let hour = 0; hour < count; hour += 1) {
        const key = `${which}/${hour}`;
        const before = now.get(key);
        const cents = truth[which]?.[hour] ?? 0;
        if ((before?.cents ?? 0) === cents) continue;
        if (hour < loaded) {
          restatements.push({
            ...dimensions,
            bucket_start: formatInstant(begin + hour * hourMs),
            old_cost: before === undefined ? null : String(before.cents / 100),
            new_cost: cents === 0 ? null : String(cents / 100),
            old_load_number: before?.load ?? null,
            load_number: load,
            seen_at: formatInstant(clock),
          });
        }
        if (cents === 0) now.delete(key);
        else now.set(key, { cents, load });
      }
    }
    loaded = count;
  }
  const costs = [...now].map(([key, { cents, load }]) => {
    const [which = 0, hour = 0] = key.split('/').map(Number);
    return {
      ...series[which],
      bucket_start: formatInstant(begin + hour * hourMs),
      cost: String(cents / 100),
      load_number: load,
    };
  });
  const accounts = [{ history_start: formatInstant(begin), recorded_at: formatInstant(begin) }];
  return { given: { accounts, loads, covered, costs, restatements }, seen };
}

/** A project with the books of some nights. Instants are the ends of days, and the present. */
async function booksOf(
  nights: readonly Night[],
): Promise<{ dir: string; first: Instant; now: Instant; instants: Instant[] }> {
  const { given, seen } = ledgerOf(nights);
  const dir = await newProject();
  const file = join(dir, 'given.duckdb');
  (await givenBooks(given, file)).close();
  await mkdir(dirname(snapshotFile(dir)), { recursive: true });
  await rename(file, snapshotFile(dir));
  const [first = begin] = seen;
  const now = (seen.at(-1) ?? begin) + hourMs / 2;
  const instants: Instant[] = [];
  for (let end = begin + dayMs; end < now; end += dayMs) instants.push(end);
  return { dir, first, now, instants: [...instants, now] };
}

/** A replay of the present books. */
async function replayed(dir: string, of: Budget, now: Instant, forecaster?: Forecaster): Promise<BudgetBacktest> {
  const present = await openBooks(dir, { lockedDown: true });
  try {
    const asked = { from: begin, now, lagHours: 2 };
    return await backtestBudget(present.connection, of, forecaster === undefined ? asked : { ...asked, forecaster });
  } finally {
    present.close();
  }
}

test('a replay gives what the books as of the end of each day would have reported', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aNight, { minLength: 2, maxLength: 5 }), async (nights) => {
      const { dir, first, now, instants } = await booksOf(nights);
      const replay = await replayed(dir, budget, now);
      const states = new Map<string, string>();
      const expected: string[] = [];
      const kept = (at: Instant) => at >= first;
      for (const at of instants.filter(kept)) {
        const books = await openBooks(dir, { lockedDown: true, asOf: at });
        const calendar = calendarOf('daily', 'Europe/Berlin');
        for (let period = calendar.periodAt(begin); period.start < at; period = calendar.periodAt(period.end)) {
          const asked = [{ budget, period }];
          const told = { now: at, freshnessHours: 26, configured: [] };
          const [spend] = await readSpends(books.connection, asked, told);
          const usd = Number(spend?.spent ?? 0n) / 1e12;
          const highest = [4, 7, 10].findLast((limit) => usd >= limit);
          for (const [threshold, limit] of [
            ['40%', 4],
            ['7 USD', 7],
            ['100%', 10],
          ] as const) {
            const key = `${period.name} ${threshold}`;
            const before = states.get(key) ?? 'resolved';
            const isCovered = limit !== highest && before !== 'raised';
            const state = usd >= limit && !isCovered ? 'raised' : 'resolved';
            if (before === state) continue;
            states.set(key, state);
            const through = spend?.completeThrough;
            expected.push(`${at} ${key} ${state} ${usd} ${through === undefined ? null : formatInstant(through)}`);
          }
        }
        books.close();
      }
      const told = replay.events.map(
        ({ at, period, threshold, state, value, completeThrough }) =>
          [at, `${at} ${period} ${threshold} ${state} ${Number(value)} ${completeThrough}`] as const,
      );
      // What had happened before the books were kept may have been told earlier; as of then nothing was known.
      const early = new Set(told.filter(([at]) => !kept(at)).map(([, line]) => line.split(' ').slice(1, 3).join(' ')));
      const isLater = (line: string) => !early.has(line.split(' ').slice(1, 3).join(' '));
      expect(
        told
          .filter(([at]) => kept(at))
          .map(([, line]) => line)
          .filter(isLater)
          .sort(),
      ).toEqual(expected.filter(isLater).sort());
    }),
    { numRuns: 12 },
  );
}, 600_000);

/** Expects every hour to cost the median of the last five: any rule is fine if both sides use the same one. */
const forecaster: Forecaster = async ({ start, values }, horizon) => {
  if (values.length < 3) return { kind: 'none', reason: 'too little' };
  const last = values.slice(-5) as number[];
  const mean = last.reduce((sum, value) => sum + value, 0) / last.length;
  const each = { mean, lower: mean, upper: mean };
  return {
    kind: 'forecast',
    model: 'last-five',
    transform: 'none',
    seasons: [],
    notes: [],
    points: Array.from({ length: horizon }, () => each),
    cumulative: Array.from({ length: horizon }, (_, k) => ({
      mean: mean * (k + 1),
      lower: mean * (k + 1),
      upper: mean * (k + 1),
    })),
    backtest: { folds: 0, mase: null, smape: null, coverage: null, sumCoverage: null },
    from: start,
    through: start,
  };
};

/** At the end the books reach to the very start of a day in Berlin: of that one they have no hour. */
const upToTheStartOfADay = [14, 1, 1, 30].map((afterHours) => ({
  afterHours,
  truth: series.map(() => new Array<number>(hours).fill(50)),
}));

test('a replay of forecasts gives what the books as of the end of each day would have reported', async () => {
  const [asking] = parseBudgets({
    file: 'jobs/budgets.yaml',
    now: begin,
    text: `budgets:
  - name: some
    period: daily
    timeZone: Europe/Berlin
    amount: 10 USD
    scope: { workspace: north }
    thresholds: [{ at: 40%, of: forecast }, { at: 100%, of: forecast }, { at: 100% }]`,
  });
  if (asking === undefined) throw new Error('no budget');
  let raised = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(aNight, { minLength: 2, maxLength: 5 }), async (nights) => {
      const { dir, first, now, instants } = await booksOf(nights);
      const replay = await replayed(dir, asking, now, forecaster);
      const states = new Map<string, string>();
      const expected: string[] = [];
      for (const at of instants.filter((instant) => instant >= first)) {
        const books = await openBooks(dir, { lockedDown: true, asOf: at });
        const calendar = calendarOf('daily', 'Europe/Berlin');
        const asked = [];
        for (let period = calendar.periodAt(begin); period.start < at; period = calendar.periodAt(period.end)) {
          asked.push({ budget: asking, period });
        }
        const known = { now: at, configured: [] };
        const spends = await readSpends(books.connection, asked, { ...known, freshnessHours: 26 });
        const forecasts = await readForecasts(books.connection, {
          ...known,
          budgets: [asking],
          withWorkspaces: false,
          forecaster,
        });
        books.close();
        const open = new Set([...states].flatMap(([key, state]) => (state === 'raised' ? [key] : [])));
        for (const fact of evaluateBudgets([asking], withForecasts(spends, forecasts), open)) {
          const before = states.get(fact.key) ?? 'resolved';
          if (before === fact.state || (before !== 'raised' && fact.state !== 'raised')) continue;
          states.set(fact.key, fact.state);
          expected.push(`${at} ${fact.key} ${fact.state} ${fact.value} ${fact.forecast?.value}`);
        }
      }
      const told = replay.events.map(
        ({ at, key, state, value, forecast }) =>
          [at, key, `${at} ${key} ${state} ${value} ${forecast?.value}`] as const,
      );
      // What had happened before the books were kept may have been told earlier; as of then nothing was known.
      const early = new Set(told.flatMap(([at, key]) => (at < first ? [key] : [])));
      const isLater = (line: string) => !early.has(line.split(' ')[1] ?? '');
      const later = told.filter(([at]) => at >= first).map(([, , line]) => line);
      expect(later.filter(isLater).sort()).toEqual(expected.filter(isLater).sort());
      raised += expected.filter((line) => line.includes('forecast:') && isLater(line)).length;
    }),
    { numRuns: 6, endOnFailure: true, examples: [[upToTheStartOfADay]] },
  );
  expect(raised).toBeGreaterThan(0);
}, 600_000);
