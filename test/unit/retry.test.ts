import { describe, expect, test } from 'vitest';
import { PlatformError, RefusedAnswerError } from '../../src/base/errors.ts';
import { parseRetryAfter, retryDelayMs, waitBudgetMs } from '../../src/platform/retry.ts';

const busy = new PlatformError('503', { status: 503, retryable: true });
const unreachable = new PlatformError('no answer', { code: 'unreachable', retryable: true });

function putOffFor(retryAfterMs: number): PlatformError {
  return new PlatformError('429', { status: 429, retryable: true, retryAfterMs });
}
/** The delay after this many failures, none of them postponed. */
function delayAfter(made: number, failure: unknown, random = 1, waitedMs = 0): number | undefined {
  return retryDelayMs({ made, putOff: 0, waitedMs }, failure, () => random);
}

describe('retryDelayMs', () => {
  test.each([
    ['a bug of ours', new TypeError('x is undefined')],
    ['an answer that was refused', new RefusedAnswerError('wrong window')],
    ['a 400', new PlatformError('400', { status: 400 })],
    ['a 403', new PlatformError('403', { status: 403, retryAfterMs: 1000 })],
    ['nothing', undefined],
  ])('%s is not retried', (_, failure) => {
    expect(delayAfter(1, failure)).toBeUndefined();
  });

  test('our own waits double from half a second to 15 seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((made) => delayAfter(made, busy))).toEqual([
      500, 1000, 2000, 4000, 8000, 15_000, 15_000,
    ]);
  });

  test('the jitter is full: from zero to the whole wait', () => {
    expect(delayAfter(3, busy, 0)).toBe(0);
    expect(delayAfter(3, busy, 0.25)).toBe(500);
    expect(delayAfter(3, busy, 1)).toBe(2000);
  });

  test.each(['unreachable', 'timeout', 'slow'])('a platform that says %s has answered', (code) => {
    expect(delayAfter(7, new PlatformError('503', { status: 503, code, retryable: true }))).toBeDefined();
  });

  test('after eight attempts it gives up', () => {
    expect(delayAfter(7, busy)).toBeDefined();
    expect(delayAfter(8, busy)).toBeUndefined();
    expect(delayAfter(9, busy)).toBeUndefined();
  });

  test('an unreachable host is abandoned after four attempts', () => {
    expect(delayAfter(3, unreachable)).toBeDefined();
    expect(delayAfter(4, unreachable)).toBeUndefined();
  });

  test("the server's own wait wins and is not jittered", () => {
    expect(delayAfter(1, putOffFor(7000), 0)).toBe(7000);
    expect(delayAfter(1, putOffFor(7000), 1)).toBe(7000);
  });

  test('one of less than a second shortens no wait of ours, and does not make eight attempts a burst', () => {
    const waits = (retryAfterMs: number) => [1, 2, 3].map((made) => delayAfter(made, putOffFor(retryAfterMs)));
    expect(waits(0)).toEqual([500, 1000, 2000]);
    expect(waits(700)).toEqual([700, 1000, 2000]);
    expect(delayAfter(1, putOffFor(999), 0.5)).toBe(999);
  });

  test('a postponed attempt does not count as a failure', () => {
    expect(retryDelayMs({ made: 30, putOff: 29, waitedMs: 30_000 }, busy, () => 1)).toBe(500);
    expect(retryDelayMs({ made: 30, putOff: 30, waitedMs: 30_000 }, putOffFor(1000), () => 1)).toBe(1000);
  });

  test('a wait within the remaining budget is accepted, a longer one gives up at once', () => {
    expect(waitBudgetMs).toBe(900_000);
    expect(delayAfter(1, putOffFor(900_000))).toBe(900_000);
    expect(delayAfter(1, putOffFor(900_001))).toBeUndefined();
    expect(delayAfter(1, putOffFor(1000), 1, 899_000)).toBe(1000);
    expect(delayAfter(1, putOffFor(1001), 1, 899_000)).toBeUndefined();
    expect(delayAfter(1, putOffFor(Number.POSITIVE_INFINITY))).toBeUndefined();
    expect(delayAfter(2, busy, 1, 899_500)).toBeUndefined();
  });
});

describe('parseRetryAfter', () => {
  const answered = 'Wed, 21 Oct 2026 03:30:00 GMT';

  test.each([
    ['120', 120_000],
    ['1', 1000],
    [' 5 ', 5000],
    ['3600', 3_600_000],
    ['Wed, 21 Oct 2026 03:30:10 GMT', 10_000],
    ['Wednesday, 21-Oct-26 03:30:10 GMT', 10_000],
  ])('%j is %i ms', (header, ms) => {
    expect(parseRetryAfter(header, answered)).toBe(ms);
  });

  test.each(['0', 'Wed, 21 Oct 2026 03:29:00 GMT'])('%j asks for no wait', (header) => {
    expect(parseRetryAfter(header, answered) ?? 0).toBe(0);
  });

  test('the old C form of a date is UTC too', () => {
    expect(parseRetryAfter('Wed Oct 21 03:30:10 2026', answered)).toBe(10_000);
  });

  test.each(['', 'soon', '3 seconds', '1e3', '0x10', '120, 120'])('%j is malformed and means nothing', (header) => {
    expect(parseRetryAfter(header, answered)).toBeUndefined();
  });

  test.each(['1.5', '-5', '-1', '+3'])('%j is neither seconds nor an HTTP date and means nothing', (header) => {
    expect(parseRetryAfter(header, answered)).toBeUndefined();
  });

  test('no header means nothing', () => {
    expect(parseRetryAfter(undefined, answered)).toBeUndefined();
  });

  test('a date is compared with our own clock if the answer has no date', () => {
    const header = new Date(Date.now() + 60_000).toUTCString();
    for (const date of [undefined, 'no date']) {
      const ms = parseRetryAfter(header, date);
      expect(ms).toBeGreaterThan(55_000);
      expect(ms).toBeLessThanOrEqual(60_000);
    }
  });
});
