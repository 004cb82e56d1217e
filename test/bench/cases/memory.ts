import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describePages } from '../account.ts';
import { type Bench, short } from '../figures.ts';
import { dayMs, ingest, instant, newFolder, startPlatform } from '../processes.ts';

/** How much memory an ingest of years takes. */
export const memoryBench: Bench = {
  name: 'memory',
  about: 'the most memory that an ingest of 50 M points holds',
  isLong: true,
  async run({ quick, points }) {
    const size = { series: quick ? 150 : 2000, zeroShare: 0.6 };
    const weeks = Math.max(2, Math.ceil((points ?? (quick ? 50_000 : 50_000_000)) / (size.series * 168)));
    const dir = join(await newFolder(), 'books');
    await mkdir(dir);
    const platform = await startPlatform(size);
    const times = { since: instant(Date.UTC(2026, 9, 5) - weeks * 7 * dayMs), now: '2026-10-05T00:15:00Z' };
    const took = await ingest(platform, dir, times);
    await platform.close();
    const what = `${short(weeks * size.series * 168)} points (${short(took.rows)} rows; ${describePages(size)})`;
    return [
      {
        bench: 'memory',
        measured: `peak resident memory (VmHWM) of the ingest of ${what}`,
        value: took.peakMib,
        unit: 'MiB',
        target: 768,
      },
    ];
  },
};
