import { describe, expect, test } from 'vitest';
import { retryDelayMs } from '../../src/alerts/deliver.ts';

const failed = { outcome: 'unknown', reason: 'answered 503', isPassing: true } as const;

describe('retryDelayMs(attempt, tries, random)', () => {
  test('grows with each attempt, and differs between programs that failed together', () => {
    expect([1, 2, 3].map((tries) => retryDelayMs(failed, tries, () => 0))).toEqual([250, 500, 1000]);
    expect([1, 2, 3].map((tries) => retryDelayMs(failed, tries, () => 1))).toEqual([500, 1000, 2000]);
  });

  test('is what the sink asks for, up to half a minute; longer waits are left to a later run', () => {
    expect(retryDelayMs({ ...failed, retryAfterMs: 30_000 }, 1, () => 0)).toBe(30_000);
    expect(retryDelayMs({ ...failed, retryAfterMs: 30_001 }, 1, () => 0)).toBe(undefined);
  });

  test('is our own wait if the sink asks for none', () => {
    expect([1, 2].map((tries) => retryDelayMs({ ...failed, retryAfterMs: 0 }, tries, () => 1))).toEqual([500, 1000]);
  });

  test('is undefined if another attempt cannot help', () => {
    expect(retryDelayMs({ ...failed, outcome: 'refused', isPassing: false, retryAfterMs: 5 }, 1, () => 0)).toBe(
      undefined,
    );
  });
});
