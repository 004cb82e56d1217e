import { describe, expect, test } from 'vitest';
import { burnUp } from '../../src/charts/burn-up.ts';
import type { Picture } from '../../src/charts/picture.ts';
import { pictureToPng } from '../../src/charts/png.ts';
import { runningMonth } from '../../src/charts/running-month.ts';
import { lightTheme } from '../../src/charts/theme.ts';
import { examplePicture } from '../support/example-alerts.ts';
import { decodePng, type Pixels, pngSize } from '../support/png.ts';

const dayMs = 86_400_000;
const start = Date.UTC(2026, 9, 1);
const end = Date.UTC(2026, 10, 1);

function budgetPicture(): Picture {
  const steps = Array.from({ length: 31 }, (_, day) => ({
    ...{ name: `2026-10-${String(day + 1).padStart(2, '0')}`, end: start + (day + 1) * dayMs },
    spent: day < 20 ? String((day + 1) * 200) : null,
  }));
  const drawn = burnUp({
    ...{ unit: 'USD', period: { name: '2026-10', start, end }, steps, spent: '4000', limit: '5000' },
    completeThrough: start + 20 * dayMs,
    forecast: { mean: '6200', low: '5800', high: '6600' },
  });
  return { shape: 'month', completeThrough: '2026-10-21T00:00:00Z', ...drawn };
}

/** How many pixels of a part of a picture have a color. */
function count(pixels: Pixels, color: string, [from, to]: readonly [number, number]): number {
  let found = 0;
  for (let y = from; y < to; y += 1) {
    for (let x = 0; x < pixels.width; x += 1) if (pixels.colorAt(x, y) === color) found += 1;
  }
  return found;
}

describe('a picture', () => {
  test.each([
    ['a budget', budgetPicture, [lightTheme.series[0], lightTheme.series[5], lightTheme.rest]],
    ['an anomaly', examplePicture, [lightTheme.series[0], lightTheme.limit]],
  ] as const)('of %s has its lines, its words and a white background', async (_, make, colors) => {
    const png = await pictureToPng(make());
    const pixels = decodePng(png);
    expect(pngSize(png)).toEqual({ width: 1000, height: 640 });
    expect(png.length).toBeLessThan(100_000);
    expect(pixels.colorAt(0, 0)).toBe('#ffffff');
    // The title and the line below: without a font, nothing would be there.
    expect(count(pixels, lightTheme.text, [0, 115])).toBeGreaterThan(1400);
    expect(count(pixels, lightTheme.muted, [585, 640])).toBeGreaterThan(300);
    for (const color of colors) expect(count(pixels, color ?? '', [185, 530]), color).toBeGreaterThan(50);
  });

  test('has the same bytes each time', async () => {
    expect((await pictureToPng(examplePicture())).equals(await pictureToPng(examplePicture()))).toBe(true);
  });

  test.each(['分析', 'a\u202eb', '<img src=x onerror=alert(1)>', 'x'.repeat(10_000), 'a\u0000b'])(
    'of a resource called %j can be drawn, and shows no boxes in place of letters',
    async (name) => {
      const pixels = decodePng(await pictureToPng(examplePicture(name)));
      const hasTitle = count(pixels, lightTheme.text, [0, 50]) > 350;
      expect(hasTitle).toBe(/^[ -~]*$/.test(name));
    },
  );
});

describe('a running month', () => {
  const days = new Map([
    ['2026-10-01', '10'],
    ['2026-10-02', '20'],
  ]);
  const daysBefore = new Map([
    ['2026-09-01', '5'],
    ['2026-09-30', '40'],
  ]);
  const month = { start, spent: '30', before: '5', days, daysBefore };

  test('that is not over says what it heads for, and spreads the forecast over the days that are left', () => {
    const forecast = { mean: '320', low: '300', high: '340', amount: '100' };
    const { title, rows } = runningMonth({ ...month, through: start + 2 * dayMs, forecast });
    expect(title).toBe('October 2026 heads for 320.00 USD; 30.00 is spent');
    expect(rows.spent.slice(0, 3)).toEqual([10, 30, null]);
    expect([rows.forecast?.mean[0], rows.forecast?.mean[1], rows.forecast?.mean[30]]).toEqual([null, 30, 320]);
    expect(rows.limit).toEqual({ name: 'budget 100.00', value: 100 });
  });

  test('without a month before is compared with nothing', () => {
    const { title, description, rows } = runningMonth({
      ...month,
      before: undefined,
      through: end,
      forecast: undefined,
    });
    expect(title).toBe('October 2026 cost 30.00 USD');
    expect(description).not.toContain('September');
    expect(rows.before).toBe(undefined);
  });

  test('that is over says what it cost against the month before', () => {
    const { title, rows } = runningMonth({ ...month, before: '45', through: end, forecast: undefined });
    expect(title).toBe('October 2026 cost 30.00 USD, -33.3 % against the month before');
    expect(rows.spent.at(-1)).toBe(30);
    expect(rows.before?.values[29]).toBe(45);
  });
});
