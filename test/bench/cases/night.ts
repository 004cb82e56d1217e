import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describePages } from '../account.ts';
import { type Bench, type Figure, median, short } from '../figures.ts';
import { type BenchPlatform, dayMs, ingest, instant, newFolder, startPlatform } from '../processes.ts';

const firstNight = Date.UTC(2026, 9, 5, 2, 15);

/** The copy and sync with which a run publishes its snapshot, as it does it: in a process of its own. */
const copyScript = `
const fs = require('node:fs');
const [from, to] = process.argv.slice(1);
fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
const file = fs.openSync(to, 'r+');
fs.fsyncSync(file);
fs.closeSync(file);`;

interface Books {
  readonly years: number;
  readonly dir: string;
  readonly times: { readonly since: string; readonly now: string };
  readonly mib: number;
  readonly rows: number;
  readonly nights: number[];
  readonly cpu: number[];
  readonly copies: number[];
  calls: number;
}

/** A night in which nothing changed, over a short and a long past of one account. */
export const nightBench: Bench = {
  name: 'night',
  about: 'a nightly run over one year and over three years of the same account, with nothing changed',
  async run({ quick, repeats, tell }) {
    const size = { series: quick ? 20 : 200, zeroShare: 0.6 };
    const pasts = quick ? [0.05, 0.15] : [1, 3];
    const folder = await newFolder();
    const platform = await startPlatform(size);
    const books: Books[] = [];
    for (const years of pasts) books.push(await firstBooks(platform, join(folder, String(years)), years));
    for (let repeat = 0; repeat < repeats + 2; repeat += 1) {
      for (const of of books) {
        const took = await ingest(platform, of.dir, of.times);
        const copy = await timedCopy(of.dir);
        tell(
          `${of.years} years: ${took.seconds.toFixed(2)} s (${took.cpuSeconds.toFixed(2)} of CPU) with ${took.requests} calls, of it the copy about ${copy.toFixed(2)}`,
        );
        if (repeat === 0) continue; // this one made the pages that the others are given
        of.nights.push(took.seconds - copy);
        of.cpu.push(took.cpuSeconds);
        of.copies.push(copy);
        of.calls = took.requests;
      }
    }
    await platform.close();
    const [shorter, longer] = books;
    if (shorter === undefined || longer === undefined) return [];
    const what = `${size.series} series (${describePages(size)})`;
    return [
      {
        bench: 'night',
        measured: `an unchanged night over ${longer.years} years (${short(longer.rows)} rows) against one over ${shorter.years} (${short(shorter.rows)}), without the snapshot's copy, ${what}`,
        value: median(longer.nights.map((seconds, index) => seconds / (shorter.nights[index] ?? seconds))),
        unit: 'x',
        target: 1.15,
      },
      {
        bench: 'night',
        measured: 'the same in seconds of CPU',
        value: median(longer.cpu.map((seconds, index) => seconds / (shorter.cpu[index] ?? seconds))),
        unit: 'x',
      },
      ...books.flatMap(({ years, mib, nights, copies, calls }): Figure[] => [
        { bench: 'night', measured: `the night over ${years} years`, value: median(nights), unit: 's' },
        { bench: 'night', measured: `its calls`, value: calls, unit: 'calls' },
        {
          bench: 'night',
          measured: `the copy of its snapshot of ${mib.toFixed(0)} MiB`,
          value: median(copies),
          unit: 's',
        },
      ]),
    ];
  },
};

/** The books of so many years, as a first ingest left them the night before. */
async function firstBooks(platform: BenchPlatform, dir: string, years: number): Promise<Books> {
  await mkdir(dir, { recursive: true });
  const since = instant(Date.UTC(2026, 9, 5) - Math.round(years * 365) * dayMs);
  await platform.begin(0);
  const took = await ingest(platform, dir, { since, now: instant(firstNight) });
  const mib = (await stat(join(dir, 'data', 'costbook.duckdb'))).size / 1024 / 1024;
  const times = { since, now: instant(firstNight + dayMs) };
  return { years, dir, times, mib, rows: took.rows, nights: [], cpu: [], copies: [], calls: 0 };
}

/** Seconds that the snapshot's copy takes by itself. */
async function timedCopy(dir: string): Promise<number> {
  const from = join(dir, 'data', 'warehouse.duckdb');
  const begun = performance.now();
  const child = spawn(process.execPath, ['-e', copyScript, from, join(dir, 'copy')], { stdio: 'ignore' });
  await once(child, 'close');
  return (performance.now() - begun) / 1000;
}
