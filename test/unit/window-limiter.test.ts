import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openWindowLimiter } from '../../src/ingest/window-limiter.ts';

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
