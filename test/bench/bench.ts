// Ratios that are measured in one run: `npm run bench -- [names] [--quick] [--points n] [--repeats n] [--json] [--books folder]`.
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { anomaliesBench } from './cases/anomalies.ts';
import { forecastBench } from './cases/forecast.ts';
import { hostileBench } from './cases/hostile.ts';
import { ingestBench } from './cases/ingest.ts';
import { loadBench } from './cases/load.ts';
import { memoryBench } from './cases/memory.ts';
import { monthsBench } from './cases/months.ts';
import { nightBench } from './cases/night.ts';
import { reportsBench } from './cases/reports.ts';
import { scaleBench } from './cases/scale.ts';
import { seriesBench } from './cases/series.ts';
import { serveBench } from './cases/serve.ts';
import { startBench } from './cases/start.ts';
import type { Bench, Figure } from './figures.ts';
import { cleanUp } from './processes.ts';

const benches: readonly Bench[] = [
  ingestBench,
  loadBench,
  nightBench,
  seriesBench,
  reportsBench,
  forecastBench,
  monthsBench,
  anomaliesBench,
  memoryBench,
  scaleBench,
  serveBench,
  startBench,
  hostileBench,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    points: { type: 'string' },
    repeats: { type: 'string' },
    json: { type: 'boolean', default: false },
    into: { type: 'string' },
    books: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0 || values.list) {
  for (const { name, about, isLong } of benches) {
    process.stderr.write(`${name.padEnd(10)}${about}${isLong ? ' (only where it is named)' : ''}\n`);
  }
  process.exit(unknown.length > 0 ? 2 : 0);
}

function tell(words: string): void {
  process.stderr.write(`${words}\n`);
}

async function measure(): Promise<Figure[]> {
  const chosen = benches.filter(({ name, isLong }) => (positionals.length > 0 ? positionals.includes(name) : !isLong));
  const figures: Figure[] = [];
  for (const bench of chosen) {
    tell(`${bench.name}: ${bench.about}`);
    figures.push(
      ...(await bench.run({
        quick: values.quick,
        points: values.points === undefined ? undefined : Number(values.points),
        books: values.books,
        repeats: Number(values.repeats ?? (values.quick ? 1 : 3)),
        tell: (words) => tell(`  ${words}`),
      })),
    );
  }
  return figures;
}

function table(figures: readonly Figure[]): string {
  return figures
    .map(({ bench, measured, value, unit, target, least }) => {
      const shown = `${value.toFixed(['x', 's', 'alarms', 'bytes'].includes(unit) ? 2 : unit === '%' ? 1 : 0)} ${unit}`;
      const bounds = [
        ...(least === undefined ? [] : [`at least ${least}`]),
        ...(target === undefined ? [] : [`at most ${target}`]),
      ];
      const wanted =
        bounds.length === 2 ? `${least} to ${target} ${unit}` : bounds.map((bound) => `${bound} ${unit}`).join('');
      return `${bench.padEnd(10)}${shown.padStart(11)}  ${wanted.padEnd(20)}${measured}`;
    })
    .join('\n');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => cleanUp().finally(() => process.exit(130)));
}
try {
  const figures = await measure();
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), node ${process.version}, everything on loopback; medians`;
  const result = JSON.stringify({ machine, quick: values.quick, figures }, undefined, 1);
  if (values.into !== undefined) await writeFile(values.into, `${result}\n`);
  process.stdout.write(values.json ? `${result}\n` : `${machine}\n${table(figures)}\n`);
} finally {
  await cleanUp();
}
