import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountSize } from '../account.ts';
import { type Bench, type BenchInput, type Figure, median, short } from '../figures.ts';
import {
  type BenchPlatform,
  beside,
  cli,
  dayMs,
  ingest,
  instant,
  newFolder,
  run,
  startPlatform,
  type Took,
} from '../processes.ts';
import { askedOf, othersOf, type ReportTimes, ratioOf, timesInWords } from './reports.ts';

const hourMs = dayMs / 24;
const lastDay = Date.UTC(2026, 9, 5);
const firstNight = lastDay + 2.25 * hourMs;
const secondNight = firstNight + dayMs;
const evening = ['--now', instant(secondNight + hourMs)];
const mostMib = 768;
/** One of so many rows of the nights' windows is corrected before each night, and those of the night before are taken back. */
const correctedOneOf = 2000;
/** Larger lakes take hours, and more disk than the books. */
const mostRowsOfLake = 150_000_000;

/** Books of one size, and what making them took. */
interface Made {
  readonly name: string;
  readonly dir: string;
  readonly since: string;
  readonly rows: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** What a night over these books took, in the middle of several. */
interface Night {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMib: number;
  readonly calls: number;
}

type Bound = Pick<Figure, 'target' | 'least'>;
type MakeFigure = (measured: string, value: number, unit: string, bound?: Bound) => Figure;

function figuresAbout(name: string): MakeFigure {
  return (measured, value, unit, bound = {}) => ({
    ...{ bench: 'scale', measured: `${name}: ${measured}`, value, unit },
    ...bound,
  });
}

/** Books of many rows: what loading, nights, alerts, reports and the lake take, and how that grows with the history. */
export const scaleBench: Bench = {
  name: 'scale',
  about: 'books of up to 1 B hourly rows: loading, nights, alerts, reports, the lake, memory and disk, by size',
  isLong: true,
  async run(input) {
    const { quick, points, books, tell } = input;
    const size: AccountSize = { series: quick ? 40 : 20_000, zeroShare: 0, isStorageSteady: true };
    const largest = points ?? (quick ? 200_000 : 1_000_000_000);
    const folder = books ?? (await newFolder());
    const made: Made[] = [];
    for (const rows of [largest / 100, largest / 10, largest]) {
      const weeks = Math.max(1, Math.round(rows / (size.series * 168)));
      made.push(await makeBooks(folder, size, weeks, tell));
    }
    const platform = await startPlatform(size);
    const figures: Figure[] = [];
    const nights: Night[] = [];
    for (const of of made) {
      const night = await nightsOver(of, platform, input);
      nights.push(night);
      figures.push(...(await figuresOf(of, night, input)));
    }
    figures.push(...growth(made, nights), ...(await rebuilt(platform, size, input)));
    await platform.close();
    return figures;
  },
};

/** Makes books of so many weeks, unless they are kept from an earlier run. */
async function makeBooks(
  folder: string,
  size: AccountSize,
  weeks: number,
  tell: (words: string) => void,
): Promise<Made> {
  const name = `${short(weeks * size.series * 168)} rows`;
  const dir = join(folder, String(weeks));
  const since = lastDay - weeks * 7 * dayMs;
  const facts = join(dir, 'made.json');
  if (!existsSync(facts)) {
    tell(`making books of ${name}`);
    await mkdir(join(dir, 'data'), { recursive: true });
    const options = JSON.stringify({ size, since, now: firstNight });
    const { stdout } = await run([beside('large-books.js'), dir, options]);
    await writeFile(facts, stdout);
  }
  const { rows, seconds, cpuSeconds } = JSON.parse(await readFile(facts, 'utf8'));
  tell(`${name}: ${rows} were loaded in ${seconds.toFixed(0)} s (${cpuSeconds.toFixed(0)} of CPU)`);
  return { name, dir, since: instant(since), rows, seconds, cpuSeconds };
}

/** Nights over the same books: a first one that adds a day, then several with corrections. */
async function nightsOver(of: Made, platform: BenchPlatform, { repeats, tell }: BenchInput): Promise<Night> {
  const took: (Took & { requests: number })[] = [];
  for (let night = 0; night <= repeats; night += 1) {
    await age(of.dir);
    if (night > 0) await correct(platform);
    await platform.begin(0);
    const one = await ingest(platform, of.dir, { since: of.since, now: instant(secondNight) });
    tell(`${of.name}, night ${night}: ${words(one)}, ${one.requests} calls`);
    if (night > 0) took.push(one);
  }
  return {
    seconds: median(took.map(({ seconds }) => seconds)),
    cpuSeconds: median(took.map(({ cpuSeconds }) => cpuSeconds)),
    peakMib: Math.max(...took.map(({ peakMib }) => peakMib)),
    calls: median(took.map(({ requests }) => requests)),
  };
}

/** Other rows are corrected, and the platform makes its answers anew before the night asks for them. */
async function correct(platform: BenchPlatform): Promise<void> {
  const { asked: paths } = await platform.asked();
  const number = (Math.floor(Date.now() / 1000) % 100_000) + 1;
  await platform.correct({ fromHour: Math.floor((firstNight - 2 * dayMs) / hourMs), oneOf: correctedOneOf, number });
  for (const path of paths) await (await fetch(platform.url + path)).arrayBuffer();
}

/** A day passes: the snapshot of the night before may be used again. */
async function age(dir: string): Promise<void> {
  const yesterday = new Date(Date.now() - dayMs);
  await utimes(join(dir, 'data', 'costbook.duckdb.retired'), yesterday, yesterday).catch(() => undefined);
}

function words({ seconds, cpuSeconds, peakMib }: Took): string {
  return `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} of CPU), ${peakMib.toFixed(0)} MiB`;
}

/** What these books take on disk, and what commands over them take. */
async function figuresOf(of: Made, night: Night, input: BenchInput): Promise<Figure[]> {
  const figure = figuresAbout(of.name);
  const bytes = (await stat(join(of.dir, 'data', 'warehouse.duckdb'))).size;
  const figures = [
    figure('size of the books on disk, a row', bytes / of.rows, 'bytes', { target: 8 }),
    figure('a night with corrections, snapshot included', night.seconds, 's'),
    figure('the same in seconds of CPU', night.cpuSeconds, 's'),
    figure('its calls', night.calls, 'calls'),
    figure('peak memory of a night', night.peakMib, 'MiB', { target: mostMib }),
  ];
  for (const command of [
    ['alert'],
    ['forecast'],
    ['report', 'cost_by_workspace', '--month', '2026-09'],
    ['report', 'cost_by_resource', '--month', '2026-09'],
    ['report', 'daily_trend'],
  ]) {
    figures.push(...(await timed(of, command, command.join(' '), input)));
  }
  figures.push(...(await reportsAgainstHand(of, input)));
  if (of.rows <= mostRowsOfLake) figures.push(...(await lakeOf(of, input)));
  return figures;
}

/** Time and memory of one command over these books. */
async function timed(of: Made, command: readonly string[], name: string, { tell }: BenchInput): Promise<Figure[]> {
  await age(of.dir);
  const took = await run([cli, ...command, '--dir', of.dir, ...evening]);
  tell(`${of.name}, ${name}: ${words(took)}`);
  const figure = figuresAbout(of.name);
  return [
    figure(name, took.seconds, 's'),
    figure(`${name}, in seconds of CPU`, took.cpuSeconds, 's'),
    figure(`peak memory, ${name}`, took.peakMib, 'MiB', { target: mostMib }),
  ];
}

/** Reports of a month, in seconds of CPU, against aggregates by hand over one flat sorted table of two months. */
async function reportsAgainstHand(of: Made, { repeats, tell }: BenchInput): Promise<Figure[]> {
  const some = [...askedOf('2026-09'), ...othersOf('2026-09')].filter(
    ({ byHand, report }) => byHand.includes('from flat') && report !== 'idle',
  );
  const list = join(of.dir, 'asked.json');
  const flat = join(of.dir, 'flat.duckdb');
  await writeFile(list, JSON.stringify(some));
  const options = [list, String(repeats), flat, '2026-08-01', '2026-10-01'];
  const { stdout } = await run([beside('report-times.js'), of.dir, ...options]);
  await rm(flat, { force: true });
  const answers: readonly ReportTimes[] = JSON.parse(stdout);
  return answers.map((answer) => {
    tell(`${of.name}, ${timesInWords(answer, 'cpuSeconds')} of CPU`);
    const writes = answer.writes === undefined ? '' : ` (${answer.writes})`;
    const what = `${answer.report} of a month against the same by hand${writes} over one flat sorted table, in seconds of CPU`;
    return figuresAbout(of.name)(what, ratioOf(answer, 'cpuSeconds'), 'x', { target: 1.2 });
  });
}

/** The lake: its first publication, and one with nothing changed. */
async function lakeOf(of: Made, input: BenchInput): Promise<Figure[]> {
  const exports = join(of.dir, 'exports');
  await rm(exports, { recursive: true, force: true });
  const figures: Figure[] = [];
  for (const what of ['report lake, the first time', 'report lake with nothing changed']) {
    figures.push(...(await timed(of, ['report', 'lake'], what, input)));
  }
  await rm(exports, { recursive: true, force: true });
  return figures;
}

/** The largest books against the smallest ones. */
function growth(made: readonly Made[], nights: readonly Night[]): Figure[] {
  const [small, large] = [made[0], made.at(-1)];
  const [shortNight, longNight] = [nights[0], nights.at(-1)];
  if (!small || !large || !shortNight || !longNight) return [];
  const figure = figuresAbout(`${large.name} against ${small.name}`);
  const rate = (of: Made, seconds: number) => of.rows / seconds;
  const byCpu = rate(large, large.cpuSeconds) / rate(small, small.cpuSeconds);
  const byTime = rate(large, large.seconds) / rate(small, small.seconds);
  return [
    figure('rows loaded per second of CPU', byCpu, 'x', { least: 0.9 }),
    figure('rows loaded per second', byTime, 'x', { least: 0.9 }),
    figure('a night, in seconds of CPU', longNight.cpuSeconds / shortNight.cpuSeconds, 'x', { target: 1.3 }),
    figure('a night', longNight.seconds / shortNight.seconds, 'x', { target: 1.3 }),
  ];
}

/** A first ingest over HTTP against the rebuild of the same books from its pages. */
async function rebuilt(platform: BenchPlatform, size: AccountSize, { quick, tell }: BenchInput): Promise<Figure[]> {
  const dir = join(await newFolder(), 'books');
  await mkdir(dir, { recursive: true });
  const since = instant(lastDay - (quick ? 1 : 3) * 7 * dayMs);
  const first = await ingest(platform, dir, { since, now: instant(firstNight) });
  // Without the books there is nothing that a rebuild would compare with.
  for (const name of await readdir(join(dir, 'data'))) {
    if (name.includes('.duckdb')) await rm(join(dir, 'data', name));
  }
  const again = await run([cli, 'rebuild', '--dir', dir, '--into', join(dir, 'rebuilt.duckdb'), '--json']);
  tell(`ingest of ${short(first.rows)} rows: ${words(first)}; rebuild: ${words(again)}`);
  const figure = figuresAbout(`${short(first.rows)} rows of ${short(size.series)} series over HTTP`);
  return [
    figure('rows a second of a rebuild against the first ingest', first.seconds / again.seconds, 'x', { least: 0.8 }),
    figure('the same by seconds of CPU', first.cpuSeconds / again.cpuSeconds, 'x', { least: 0.8 }),
    figure('peak memory of the first ingest', first.peakMib, 'MiB', { target: mostMib }),
    figure('peak memory of the rebuild', again.peakMib, 'MiB', { target: mostMib }),
  ];
}
