import { expect, test } from 'vitest';
import { leaseName } from '../../src/storage/index.ts';
import { takeLease } from '../../src/storage/lease.ts';
import { memoryStore } from '../support/memory-store.ts';

const times = { deadAfterMs: 200, patienceMs: 600 };
const dead = { costbook: 'lease', run: 'x', by: 'box, process 1', process: null, renewal: 0, isEnded: true };

test.each([
  ['it is not there', undefined],
  ['its publisher has ended', dead],
])('a store that refuses to write a lease although %s is asked a few times, and the wait ends', async (_, there) => {
  const store = memoryStore();
  store.refuses = () => true;
  if (there !== undefined) store.objects.set(leaseName, { text: JSON.stringify(there), labels: {} });
  const began = performance.now();
  const taking = takeLease(store, leaseName, new AbortController().signal, times);
  await expect(taking).rejects.toThrow(
    /the store refuses to write this object.*name another prefix; nothing was changed/,
  );
  expect(performance.now() - began).toBeLessThan(times.patienceMs + 2000);
  // Two requests each look, with a pause of a quarter of the time after which a lease is dead.
  expect(store.asked.length).toBeLessThanOrEqual(2 * (2 + times.patienceMs / (times.deadAfterMs / 4)));
});

test('a lease that another publisher took just before is waited for, and taken when it is given back', async () => {
  const store = memoryStore();
  let refusals = 2;
  store.refuses = () => {
    refusals -= 1;
    return refusals >= 0;
  };
  const lease = await takeLease(store, leaseName, new AbortController().signal, { ...times, patienceMs: 5000 });
  lease.check();
  await lease.release(true);
  expect(store.objects.size).toBe(0);
});
