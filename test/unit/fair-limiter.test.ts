import { expect, test } from 'vitest';
import { openFairLimiter } from '../../src/platform/index.ts';
import fc from '../support/fast-check.ts';

const never = new AbortController().signal;

/** Work that ends when `end` is called. */
function held(): { work: () => Promise<void>; end: () => void; isBegun: () => boolean } {
  let isBegun = false;
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    work: () => {
      isBegun = true;
      return done;
    },
    end: () => end(),
    isBegun: () => isBegun,
  };
}

/** Lets everything run that can run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
}

const calm = { slots: 4, slowAfterMs: 3_600_000, maxSlow: 8 };

test('a small account gets the next free slot although a large one has waited longer', async () => {
  const turns = openFairLimiter(calm);
  const large = Array.from({ length: 20 }, held);
  const small = held();
  const all = large.map(({ work }) => turns.of('large')(work, never));
  all.push(turns.of('small')(small.work, never));
  await settle();
  expect([large.filter((one) => one.isBegun()).length, small.isBegun()]).toEqual([4, false]);
  large[0]?.end();
  await settle();
  expect([large.filter((one) => one.isBegun()).length, small.isBegun()]).toEqual([4, true]);
  for (const one of [...large, small]) one.end();
  await Promise.all(all);
});

test('requests of accounts that crawl give their slots to the others', async () => {
  const turns = openFairLimiter({ slots: 2, slowAfterMs: 20, maxSlow: 4 });
  const crawling = ['one', 'two'].flatMap((party) => Array.from({ length: 5 }, () => ({ party, ...held() })));
  const all = crawling.map(({ party, work }) => turns.of(party)(work, never));
  await settle();
  let done = 0;
  for (let round = 0; round < 50; round += 1) {
    await turns.of('quick')(async () => {
      done += 1;
    }, never);
  }
  expect(done).toBe(50);
  // Each has as many requests in progress as there are slots, and no more.
  expect(crawling.filter((one) => one.isBegun()).length).toBe(4);
  for (const one of crawling) one.end();
  await Promise.all(all);
});

test('an account alone never has more requests in progress than slots, however slow they are', async () => {
  const turns = openFairLimiter({ slots: 2, slowAfterMs: 1, maxSlow: 4 });
  const works = Array.from({ length: 6 }, held);
  const all = works.map(({ work }) => turns.of('only')(work, never));
  await new Promise((done) => setTimeout(done, 30));
  expect(works.filter((one) => one.isBegun()).length).toBe(2);
  for (const one of works) one.end();
  await Promise.all(all);
});

test('work whose signal aborts while it waits is never begun, and passes no slot on', async () => {
  const turns = openFairLimiter({ ...calm, slots: 1 });
  const [first, second, third] = [held(), held(), held()];
  const running = turns.of('a')(first.work, never);
  const abort = new AbortController();
  const aborted = turns.of('b')(second.work, abort.signal);
  const last = turns.of('c')(third.work, never);
  abort.abort(new Error('stopped'));
  await expect(aborted).rejects.toThrow('stopped');
  first.end();
  await running;
  await settle();
  expect([second.isBegun(), third.isBegun()]).toEqual([false, true]);
  third.end();
  await last;
});

test('all work ends, the limits hold, and a failure frees its slot, whatever the order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(
        fc.record({ party: fc.integer({ min: 0, max: 5 }), ms: fc.integer({ min: 0, max: 6 }), fails: fc.boolean() }),
        {
          maxLength: 40,
        },
      ),
      async (slots, works) => {
        const maxSlow = slots * 2;
        const turns = openFairLimiter({ slots, slowAfterMs: 2, maxSlow });
        const inProgress = new Map<number, number>();
        let [running, most, mostOfOne] = [0, 0, 0];
        const ended = await Promise.allSettled(
          works.map(({ party, ms, fails }) =>
            turns.of(String(party))(async () => {
              running += 1;
              inProgress.set(party, (inProgress.get(party) ?? 0) + 1);
              most = Math.max(most, running);
              mostOfOne = Math.max(mostOfOne, inProgress.get(party) ?? 0);
              await new Promise((done) => setTimeout(done, ms));
              running -= 1;
              inProgress.set(party, (inProgress.get(party) ?? 0) - 1);
              if (fails) throw new Error('failed');
            }, never),
          ),
        );
        expect(ended.map(({ status }) => status === 'rejected')).toEqual(works.map(({ fails }) => fails));
        expect(most).toBeLessThanOrEqual(slots + maxSlow);
        expect(mostOfOne).toBeLessThanOrEqual(slots);
      },
    ),
    { numRuns: 40 },
  );
});
