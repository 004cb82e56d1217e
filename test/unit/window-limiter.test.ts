import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { nextWindow, openWindowLimiter } from '../../src/ingest/window-limiter.ts';

/** Work that ends on request, and records when it started. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  return {
    begun,
    async end(name: string, error?: Error) {
      ends.get(name)?.(error);
      await nextTurn();
    },
    of: (name: string) => () =>
      new Promise<string>((resolve, reject) => {
        begun.push(name);
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      }),
  };
}

test('as many jobs run at once as there are slots, and the waiting job with the lowest rank is next', async () => {
  const { begun, end, of } = works();
  const turns = openWindowLimiter(2);
  const results = [3, 2, 9, 1, 5, 1].map((rank, index) => turns.run(rank, of(`${rank}/${index}`)));
  await nextTurn();
  expect(begun).toEqual(['3/0', '2/1']);
  await end('2/1');
  expect(begun.slice(2)).toEqual(['1/3']);
  await end('3/0');
  expect(begun.slice(3)).toEqual(['1/5']);
  await end('1/5');
  await end('1/3');
  expect(begun.slice(4)).toEqual(['5/4', '9/2']);
  await end('5/4');
  await end('9/2');
  expect(await Promise.all(results)).toEqual(['3/0', '2/1', '9/2', '1/3', '5/4', '1/5']);
});

test('a failing job releases its slot', async () => {
  const { begun, end, of } = works();
  const turns = openWindowLimiter(1);
  const failing = turns.run(0, of('first'));
  const waiting = turns.run(0, of('second'));
  await nextTurn();
  const failure = expect(failing).rejects.toThrow('no');
  await end('first', new Error('no'));
  await failure;
  expect(begun).toEqual(['first', 'second']);
  await end('second');
  expect(await waiting).toBe('second');
  expect(await turns.run(0, async () => 'third')).toBe('third');
});

test('whoever opens the limiter may choose the next job', async () => {
  const { begun, end, of } = works();
  const turns = openWindowLimiter(1, (waiting) => Math.max(...waiting));
  for (const rank of [1, 2, 4, 3]) void turns.run(rank, of(String(rank)));
  await nextTurn();
  for (const name of ['1', '4', '3', '2']) await end(name);
  expect(begun).toEqual(['1', '4', '3', '2']);
});

/** How many pages are fetched one after another if four sockets fetch one page each at a time. */
function roundsOf(pages: readonly number[], next: typeof nextWindow): number {
  const left = new Map(pages.map((count, rank) => [rank, count]));
  for (let rounds = 0; ; rounds += 1) {
    let waiting = [...left.keys()].filter((rank) => (left.get(rank) ?? 0) > 0);
    if (waiting.length === 0) return rounds;
    for (let socket = 0; socket < 4 && waiting.length > 0; socket += 1) {
      const rank = next(waiting, left, 4);
      left.set(rank, (left.get(rank) ?? 0) - 1);
      waiting = waiting.filter((other) => other !== rank);
    }
  }
}

test('the earliest window is next, until a later one would end alone', () => {
  expect(nextWindow([2, 1, 3], new Map([1, 2, 3, 4, 5].map((rank) => [rank, 10])), 4)).toBe(1);
  expect(
    nextWindow(
      [0, 1],
      new Map([
        [0, 4],
        [1, 10],
        [2, 10],
        [3, 10],
      ]),
      4,
    ),
  ).toBe(1);
  expect(nextWindow([2, 1], new Map(), 4)).toBe(1);
});

test('the sockets are busy until the last window is fetched', () => {
  const pages = Array.from({ length: 30 }, () => 10);
  const earliest = (waiting: readonly number[]) => Math.min(...waiting);
  expect(roundsOf(pages, earliest)).toBe(80); // the last ten rounds fetch two windows
  expect(roundsOf(pages, nextWindow)).toBe(75);
});
