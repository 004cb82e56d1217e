import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describePages } from '../account.ts';
import { type Bench, type Figure, median, short } from '../figures.ts';
import { beside, cli, dayMs, ingest, instant, newFolder, run, startPlatform } from '../processes.ts';

const now = Date.UTC(2026, 9, 5, 0, 15);

/** Loading stored pages as `rebuild` does, compared with DuckDB's own reader on the same files. */
export const loadBench: Bench = {
  name: 'load',
  about: "loading landed pages (decode, proof, difference, replacement) against DuckDB's read_json of the same files",
  async run({ quick, points, repeats, tell }) {
    const figures: Figure[] = [];
    for (const zeroShare of quick ? [0.6] : [0.6, 0]) {
      const size = { series: quick ? 150 : 1000, zeroShare };
      const weeks = Math.max(2, Math.round((points ?? (quick ? 50_000 : 3_360_000)) / (size.series * 168)));
      const folder = await newFolder();
      const platform = await startPlatform(size);
      const dir = join(folder, 'books');
      await mkdir(dir);
      tell(`landing the pages of ${short(weeks * size.series * 168)} points`);
      const since = instant(Date.UTC(2026, 9, 5) - weeks * 7 * dayMs);
      await ingest(platform, dir, { since, now: instant(now) });
      await platform.close();
      // Without the books there is nothing that a rebuild would compare with: landing and journal are all it has.
      for (const name of await readdir(join(dir, 'data'))) {
        if (name.includes('.duckdb')) await rm(join(dir, 'data', name));
      }
      const list = join(folder, 'pages.json');
      await writeFile(list, JSON.stringify(await pagesBelow(join(dir, 'data', 'landing'))));

      const ratios: number[] = [];
      const cpuRatios: number[] = [];
      const ours: number[] = [];
      const theirs: number[] = [];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const read = await run([beside('read-json.js'), join(folder, `read-${repeat}.duckdb`), list]);
        const loaded = await run([
          cli,
          'rebuild',
          '--dir',
          dir,
          '--into',
          join(folder, `made-${repeat}.duckdb`),
          '--json',
        ]);
        tell(
          `read_json ${read.seconds.toFixed(2)} s (${read.cpuSeconds.toFixed(2)} of CPU), load ${loaded.seconds.toFixed(2)} s (${loaded.cpuSeconds.toFixed(2)} of CPU)`,
        );
        ratios.push(loaded.seconds / read.seconds);
        cpuRatios.push(loaded.cpuSeconds / read.cpuSeconds);
        ours.push(loaded.seconds);
        theirs.push(read.seconds);
        await rm(join(folder, `read-${repeat}.duckdb`), { force: true });
        await rm(join(folder, `made-${repeat}.duckdb`), { force: true });
      }
      const what = `${short(weeks * size.series * 168)} points (${describePages(size)})`;
      figures.push(
        {
          bench: 'load',
          measured: `rebuild from landed pages against read_json of them into one table, every bucket a row, each in a process of its own, ${what}`,
          value: median(ratios),
          unit: 'x',
          target: 1.2,
        },
        { bench: 'load', measured: 'the same in seconds of CPU', value: median(cpuRatios), unit: 'x' },
        { bench: 'load', measured: 'read_json', value: median(theirs), unit: 's' },
        { bench: 'load', measured: 'the rebuild', value: median(ours), unit: 's' },
      );
      await rm(folder, { recursive: true, force: true });
    }
    return figures;
  },
};

async function pagesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith('.json.gz')).map((name) => join(folder, name));
}
