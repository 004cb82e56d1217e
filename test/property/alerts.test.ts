// Second tier: Drawn stories of alerts in DuckDB; sql/alerts holds the rules.

import { describe, expect, test } from 'vitest';
import { deliver } from '../../src/alerts/deliver.ts';
import { messagesOf } from '../../src/alerts/message.ts';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import { type AlertEntry, transitionsOf } from '../../src/findings/transitions.ts';
import type { Message, OutgoingMessage } from '../../src/sinks/message.ts';
import { formatInstant } from '../../src/time/time.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/warehouse.ts';
import { exampleFacts } from '../support/example-alerts.ts';
import fc from '../support/fast-check.ts';
import { projectWithBooks } from '../support/given-books.ts';

const budget = exampleFacts['budget'] as AlertFact & { kind: 'budget' };
const start = Date.parse('2026-10-01T02:15:00Z');
const dayMs = 86_400_000;
const periods = ['2026-10', '2026-11'] as const;
const thresholds = ['80%', '100%'] as const;
const limits = { '80%': 80, '100%': 100 } as const;

/** What is known of a period on a night: what was spent, or nothing. A lower number later is a restatement. */
type Spent = number | undefined;

/** The facts of two periods by what was spent in them. */
function factsOf(spent: readonly Spent[]): AlertFact[] {
  return periods.flatMap((period, index) =>
    thresholds.flatMap((threshold): AlertFact[] => {
      const value = spent[index];
      if (value === undefined) return [];
      const key = `budget/acc_main/research/${period}/${threshold}`;
      const state = value >= limits[threshold] ? 'raised' : 'resolved';
      return [{ ...budget, key, period, threshold, state, notify: [], value: `${value}.000000000000` }];
    }),
  );
}

/** The expected reports: each crossing of a limit upwards once, and each one downwards once. */
function crossings(nights: readonly (readonly Spent[])[]): string[] {
  const isOver = new Map<string, boolean>();
  return nights.flatMap((spent) =>
    periods.flatMap((period, index) =>
      thresholds.flatMap((threshold) => {
        const value = spent[index];
        const name = `${period}/${threshold}`;
        if (value === undefined || value >= limits[threshold] === (isOver.get(name) ?? false)) return [];
        isOver.set(name, value >= limits[threshold]);
        return [`${value >= limits[threshold] ? 'raised' : 'resolved'} budget/acc_main/research/${name}`];
      }),
    ),
  );
}

function wordsOf({ transition, key }: Pick<AlertEntry, 'transition' | 'key'>): string {
  return `${transition} ${key}`;
}

const anyNight = fc.array(fc.option(fc.integer({ min: 60, max: 120 }), { nil: undefined }), {
  minLength: 2,
  maxLength: 2,
});

/** Where a run is killed. */
const steps = [
  'nowhere',
  'before it is written',
  'before the first message',
  'after a message was told',
  'sink fails',
] as const;

class Killed extends Error {}

/** One `costbook alert`: what it does with a warehouse, killed at a step. */
async function run(
  warehouse: Warehouse,
  facts: readonly AlertFact[],
  {
    now,
    step,
    sinks,
    notified,
  }: { now: number; step: (typeof steps)[number]; sinks: readonly string[]; notified: OutgoingMessage[] },
): Promise<void> {
  const { number } = await warehouse.beginRun('alert', now);
  if (step === 'before it is written') throw new Killed();
  const known = await warehouse.knownAlerts();
  const transitions = transitionsOf(known, facts, { now, everybody: sinks });
  const messages = messagesOf(transitions.entries, {
    at: formatInstant(now),
    completeThrough: null,
    settledThrough: null,
  });
  await warehouse.recordEvaluation({ runNumber: number, at: now, ...transitions, messages });
  if (step === 'before the first message') throw new Killed();
  await deliver({
    outbox: warehouse,
    runNumber: number,
    tellOf: () => async (message) => {
      if (step === 'sink fails') return { outcome: 'refused', reason: 'no', isPassing: false };
      notified.push(message);
      if (step === 'after a message was told') throw new Killed();
      return { outcome: 'delivered' };
    },
    acting: new Map(),
    giveUpDays: 365,
    now: () => now,
    random: () => 0,
    sleep: async () => undefined,
    signal: new AbortController().signal,
  });
  await warehouse.beginRun('alert', now).then((ended) => ended.end(0, [], now));
}

describe('for any evaluations, restatements and unknown amounts', () => {
  test('each crossing is reported once, and each resolution once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ spent: anyNight, step: fc.constantFrom(...steps), again: fc.nat(2) }), { maxLength: 8 }),
        async (nights) => {
          const dir = await projectWithBooks();
          const notified: OutgoingMessage[] = [];
          let warehouse = await openWarehouse(dir);
          try {
            // The next run need not see what a run saw that was killed before it wrote anything.
            const seen = nights.filter(({ step }) => step !== 'before it is written');
            let now = start;
            const last = { spent: nights.at(-1)?.spent ?? [], step: 'nowhere' as const, again: 1 };
            for (const { spent, step, again } of [...nights, last]) {
              now += dayMs;
              for (let time = 0; time <= again; time += 1) {
                try {
                  // Only the first run of a night is killed, but the others do not see its news again.
                  await run(warehouse, step === 'before it is written' ? [] : factsOf(spent), {
                    now,
                    step: time === 0 ? step : 'nowhere',
                    sinks: ['finops'],
                    notified,
                  });
                } catch (error) {
                  if (!(error instanceof Killed)) throw error;
                  warehouse.close();
                  warehouse = await openWarehouse(dir);
                }
              }
            }
            const firsts = notified.filter(({ id }, index) => notified.findIndex((other) => other.id === id) === index);
            const repeats = notified.filter((message) => !firsts.includes(message));
            const expected = crossings([
              ...seen.map(({ spent }) => spent),
              ...(nights.at(-1)?.step === 'before it is written' ? [nights.at(-1)?.spent ?? []] : []),
            ]);
            // The worst of one evaluation comes first; evaluations stay in order.
            expect(firsts.flatMap(({ entries }) => entries.map(wordsOf)).sort()).toEqual(expected.sort());
            expect(repeats.every(({ mayBeRepeat }) => mayBeRepeat)).toBe(true);
            expect(firsts.map(({ at }) => at)).toEqual(firsts.map(({ at }) => at).sort());
          } finally {
            warehouse.close();
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});

test('two sinks get the same messages in order, even if one of them fails', async () => {
  const dir = await projectWithBooks();
  const warehouse = await openWarehouse(dir);
  try {
    const notified: OutgoingMessage[] = [];
    const now = start;
    const { number } = await warehouse.beginRun('alert', now);
    const transitions = transitionsOf([], factsOf([90, 110]), { now, everybody: ['one', 'two'] });
    const messages = messagesOf(transitions.entries, {
      at: formatInstant(now),
      completeThrough: null,
      settledThrough: null,
    });
    expect(messages.map(({ sink, message }) => [sink, (JSON.parse(message) as Message).entries.length])).toEqual([
      ['one', 3],
      ['two', 3],
    ]);
    expect(messages[0]?.id).not.toBe(messages[1]?.id);
    await warehouse.recordEvaluation({ runNumber: number, at: now, ...transitions, messages });
    const deliveries = await deliver({
      outbox: warehouse,
      runNumber: number,
      tellOf: (sink) => async (message) => {
        if (sink === 'one') return { outcome: 'refused', reason: 'no', isPassing: false };
        notified.push(message);
        return { outcome: 'delivered' };
      },
      acting: new Map(),
      giveUpDays: 7,
      now: () => now,
      random: () => 0,
      sleep: async () => undefined,
      signal: new AbortController().signal,
    });
    expect(deliveries.map(({ message, outcome }) => `${message.sink} ${outcome}`)).toEqual([
      'one failed',
      'two delivered',
    ]);
    expect(notified).toHaveLength(1);
  } finally {
    warehouse.close();
  }
});

test('a new sink gets alerts that are already open once, in one message, and is notified of their end', async () => {
  const dir = await projectWithBooks();
  const warehouse = await openWarehouse(dir);
  try {
    let now = start;
    /** One evaluation: which sinks get which alerts. */
    async function evaluate(spent: readonly number[], sinks: readonly string[]): Promise<Record<string, string[]>> {
      now += dayMs;
      const { number } = await warehouse.beginRun('alert', now);
      const transitions = transitionsOf(await warehouse.knownAlerts(), factsOf(spent), { now, everybody: sinks });
      const messages = messagesOf(transitions.entries, {
        ...{ at: formatInstant(now), completeThrough: null, settledThrough: null },
      });
      await warehouse.recordEvaluation({ runNumber: number, at: now, ...transitions, messages });
      return Object.fromEntries(
        messages.map(({ sink, message }) => [
          sink,
          (JSON.parse(message) as Message).entries.map(
            ({ transition, key, since }) => `${transition} ${key.slice(25)}${since === undefined ? '' : ` ${since}`}`,
          ),
        ]),
      );
    }
    expect(await evaluate([110, 90], [])).toEqual({});
    expect(await evaluate([110, 90], [])).toEqual({});
    const open = ['2026-10/100%', '2026-10/80%', '2026-11/80%'].map((key) => `open ${key} 2026-10-02T02:15:00Z`);
    expect(await evaluate([110, 90], ['one'])).toEqual({ one: open });
    expect(await evaluate([110, 90], ['one'])).toEqual({});
    expect(await evaluate([110, 110], ['one', 'two'])).toEqual({
      one: ['raised 2026-11/100%'],
      two: [...open.slice(0, 2), 'raised 2026-11/100%', open[2]],
    });
    expect(await evaluate([110, 90], ['one', 'two'])).toEqual({
      one: ['resolved 2026-11/100%'],
      two: ['resolved 2026-11/100%'],
    });
    // While an alert is acknowledged a new sink gets nothing of it; when that is over it does.
    const key = 'budget/acc_main/research/2026-11/80%';
    const { number } = await warehouse.beginRun('alerts', now);
    await warehouse.acknowledge(key, now + 1.5 * dayMs, number, now);
    const three = await evaluate([110, 90], ['one', 'two', 'three']);
    expect(three).toEqual({ three: open.slice(0, 2) });
    expect(await evaluate([110, 90], ['one', 'two', 'three'])).toEqual({
      one: ['reminded 2026-11/80%'],
      two: ['reminded 2026-11/80%'],
      three: [open[2]],
    });
  } finally {
    warehouse.close();
  }
});
