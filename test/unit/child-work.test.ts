import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { childWork, refusal } from '../../src/serve/child-work.ts';

test('at most two processes work at once, the others wait in order, and too many are refused', async () => {
  let running = 0;
  let most = 0;
  const started: number[] = [];
  const work = childWork(
    '/nowhere',
    {
      reportRows: () => Promise.reject(new Error('not used')),
      show: () => Promise.reject(new Error('not used')),
      async budgetBacktest({ days }) {
        running += 1;
        most = Math.max(most, running);
        started.push(days);
        await wait(5);
        running -= 1;
        return { days };
      },
    },
    new AbortController().signal,
  );
  const answers = await Promise.allSettled(
    Array.from({ length: 30 }, (_, days) => work.budgetBacktest('all', days, new AbortController().signal)),
  );
  expect(most).toBe(2);
  expect(started).toEqual(Array.from({ length: 22 }, (_, days) => days));
  expect(answers[21]).toEqual({ status: 'fulfilled', value: { days: 21 } });
  const [refused] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  expect(refusal(refused, new AbortController().signal).status).toBe(503);
});
