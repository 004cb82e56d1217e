import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describePages } from '../account.ts';
import type { Bench, Figure } from '../figures.ts';
import { dayMs, ingest, instant, newFolder, startPlatform } from '../processes.ts';

const firstNight = Date.UTC(2026, 9, 5, 2, 15);

/** What accounts of several sizes take, at first and every night. */
export const seriesBench: Bench = {
  name: 'series',
  about: 'time and calls of a first backfill and of a steady night, by the number of series',
  async run({ quick, tell }) {
    const figures: Figure[] = [];
    const weeks = quick ? 1 : 4;
    for (const series of quick ? [10, 50] : [100, 1000, 10_000]) {
      const size = { series, zeroShare: 0.6 };
      const platform = await startPlatform(size);
      const dir = join(await newFolder(), 'books');
      await mkdir(dir);
      const since = instant(Date.UTC(2026, 9, 5) - weeks * 7 * dayMs);
      const nights = [0, 1, 1].map((after) => ({ since, now: instant(firstNight + after * dayMs) }));
      const [first, , steady] = await inTurn(nights, (times) => ingest(platform, dir, times));
      await platform.close();
      if (first === undefined || steady === undefined) continue;
      tell(`${series} series: ${first.seconds.toFixed(1)} s, then ${steady.seconds.toFixed(1)} s`);
      const what = `of ${series} series (${describePages(size)}), no latency`;
      figures.push(
        { bench: 'series', measured: `first backfill of ${weeks} weeks ${what}`, value: first.seconds, unit: 's' },
        { bench: 'series', measured: 'its calls', value: first.requests, unit: 'calls' },
        { bench: 'series', measured: `a steady night ${what}`, value: steady.seconds, unit: 's' },
        { bench: 'series', measured: 'its calls', value: steady.requests, unit: 'calls' },
      );
    }
    return figures;
  },
};

async function inTurn<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) results.push(await work(value));
  return results;
}
