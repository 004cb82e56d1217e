import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describePages } from '../account.ts';
import { type Bench, type Figure, median, short } from '../figures.ts';
import { beside, dayMs, ingest, instant, newFolder, run, startPlatform } from '../processes.ts';

const concurrency = 4;
const weekMs = 7 * dayMs;
const now = Date.UTC(2026, 9, 5, 0, 15);
const pointsOfSeries = 168;
/** By the milliseconds that the platform takes for a page: how many times as long as the reader an ingest may take. */
const targets = [
  [150, 1.05],
  [50, 1.25],
] as const;

/** A first ingest compared with a reader of the same pages. */
export const ingestBench: Bench = {
  name: 'ingest',
  about: 'a first ingest against a reader that makes the same requests and throws the bodies away',
  async run({ quick, points, repeats, tell }) {
    const size = { series: quick ? 150 : 1000, zeroShare: 0.6 };
    const weeks = Math.max(2, Math.ceil((points ?? (quick ? 50_000 : 5_040_000)) / (size.series * pointsOfSeries)));
    const times = { now: instant(now), since: instant(Math.floor(now / 3_600_000) * 3_600_000 - weeks * weekMs) };
    const folder = await newFolder();
    const platform = await startPlatform(size);
    const figures: Figure[] = [];
    let round = 0;

    async function ingestOnce() {
      round += 1;
      const dir = join(folder, String(round));
      await mkdir(dir, { recursive: true });
      const took = await ingest(platform, dir, times);
      await rm(dir, { recursive: true });
      return took;
    }

    tell(`making the pages of ${short(weeks * size.series * pointsOfSeries)} points`);
    await platform.begin(0);
    await ingestOnce();
    const { asked, bytes } = await platform.asked();
    const list = join(folder, 'asked.json');
    await writeFile(list, JSON.stringify(windowsOf(asked)));
    const what = `${short(weeks * size.series * pointsOfSeries)} points in ${asked.length} pages (${(bytes / 1024 / 1024).toFixed(0)} MiB gzipped; ${describePages(size)}), ${concurrency} at a time`;

    for (const [latencyMs, target] of quick ? [[5, undefined] as const] : targets) {
      const ours: number[] = [];
      const cpu: number[] = [];
      const theirs: number[] = [];
      const ratios: number[] = [];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        await platform.begin(latencyMs);
        const reader = await run([beside('reader.js'), platform.url, list, String(concurrency)]);
        await platform.begin(latencyMs);
        const took = await ingestOnce();
        theirs.push(reader.seconds);
        ours.push(took.seconds);
        cpu.push(took.cpuSeconds);
        ratios.push(took.seconds / reader.seconds);
        tell(`${latencyMs} ms a page: reader ${reader.seconds.toFixed(2)} s, ingest ${took.seconds.toFixed(2)} s`);
      }
      figures.push(
        {
          bench: 'ingest',
          measured: `first ingest against the reader, ${what}, ${latencyMs} ms a page`,
          value: median(ratios),
          unit: 'x',
          ...(target === undefined ? {} : { target }),
        },
        { bench: 'ingest', measured: `the reader at ${latencyMs} ms a page`, value: median(theirs), unit: 's' },
        { bench: 'ingest', measured: `the ingest at ${latencyMs} ms a page`, value: median(ours), unit: 's' },
        {
          bench: 'ingest',
          measured: `seconds of CPU of the ingest at ${latencyMs} ms a page`,
          value: median(cpu),
          unit: 's',
        },
      );
    }
    await platform.close();
    return figures;
  },
};

/** The requests by window and page chain, windows in the order in which they started. */
function windowsOf(asked: readonly string[]): string[][][] {
  const windows = new Map<string, Map<string, string[]>>();
  for (const path of asked) {
    const { searchParams } = new URL(path, 'http://localhost');
    searchParams.delete('cursor');
    const window = `${searchParams.get('startTime')}/${searchParams.get('endTime')}`;
    const chains = windows.get(window) ?? new Map<string, string[]>();
    windows.set(window, chains);
    const chain = searchParams.toString();
    chains.set(chain, [...(chains.get(chain) ?? []), path]);
  }
  return [...windows.values()].map((chains) => [...chains.values()]);
}
