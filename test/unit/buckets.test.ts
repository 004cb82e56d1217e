import { describe, expect, test } from 'vitest';
import { bucketsOf } from '../../src/fetch/plan/buckets.ts';
import { formatWindow } from '../../src/time/time.ts';

function told(start: string, end: string, resolution: 'hourly' | 'daily' | 'monthly'): string[] {
  const window = { start: Date.parse(`${start}Z`), end: Date.parse(`${end}Z`) };
  return bucketsOf(window, resolution).map((bucket) => formatWindow(bucket).replaceAll(':00:00Z', ''));
}

describe('the buckets of a window', () => {
  test('are its hours', () => {
    expect(told('2026-10-01T22:00:00', '2026-10-02T01:00:00', 'hourly')).toEqual([
      '2026-10-01T22/2026-10-01T23',
      '2026-10-01T23/2026-10-02T00',
      '2026-10-02T00/2026-10-02T01',
    ]);
  });

  test('are UTC days; the window cuts the first and last', () => {
    expect(told('2026-03-07T05:00:00', '2026-03-09T01:00:00', 'daily')).toEqual([
      '2026-03-07T05/2026-03-08T00',
      '2026-03-08T00/2026-03-09T00',
      '2026-03-09T00/2026-03-09T01',
    ]);
  });

  test('are UTC months, across New Year and February', () => {
    expect(told('2026-12-15T00:00:00', '2027-03-02T00:00:00', 'monthly')).toEqual([
      '2026-12-15T00/2027-01-01T00',
      '2027-01-01T00/2027-02-01T00',
      '2027-02-01T00/2027-03-01T00',
      '2027-03-01T00/2027-03-02T00',
    ]);
  });
});
