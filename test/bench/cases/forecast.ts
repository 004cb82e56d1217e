import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, Figure } from '../figures.ts';
import { monthKinds, monthSeries } from '../month-series.ts';
import { cli, dayMs, instant, newFolder, run } from '../processes.ts';
import { beatsNaive, mean, type Score, scoreOf, type Told } from '../scores.ts';
import { familyNames, type SyntheticSeries, syntheticSeries } from '../synthetic-series.ts';

const month = 31;
const hourMs = 3_600_000;
/** The demo's day: fixed, so that its books are the same every time. */
const demoNow = '2026-10-05T12:30:00Z';
/** How many months of the demo are held out, and how many days one ends before the next: a few alone would tell little. */
const demoMonths = 18;
const demoDaysApart = 10;
/** What cost the same on each of so many days before a month is no art to foresee, and its interval always holds. */
const demoLeastVaried = 56;

/** The errors of forecasts, and how often their intervals contain the outcome. */
export const forecastBench: Bench = {
  name: 'forecast',
  about: 'error and coverage of forecasts of held-out months: synthetic series by family, and the demo by day',
  async run({ quick, tell }) {
    const seeds = Array.from({ length: quick ? 3 : 60 }, (_, index) => 101 + index);
    const synthetic = familyNames.flatMap((family) => seeds.map((seed) => syntheticSeries(family, seed)));
    const scores: { family: string; score: Score }[] = [];
    let daily = { count: 0, cpuSeconds: 0 };
    // One run of the program has one step and one horizon.
    const kinds = new Map<string, SyntheticSeries[]>();
    for (const series of synthetic) {
      const kind = `${series.step} ${series.horizon}`;
      kinds.set(kind, [...(kinds.get(kind) ?? []), series]);
    }
    for (const ofKind of kinds.values()) {
      const forecast = await forecastAll(ofKind);
      scores.push(...forecast.scores);
      if (ofKind[0]?.step === 'day') daily = { count: ofKind.length, cpuSeconds: forecast.cpuSeconds };
    }
    const figures: Figure[] = [];
    for (const family of quick ? [] : familyNames) {
      const ofFamily = scores.filter((one) => one.family === family).map(({ score }) => score);
      tell(describe(family, ofFamily));
      figures.push(...errorsOf(`${family} series`, ofFamily), ...heldOf(`${family} series`, ofFamily, {}));
    }
    const all = scores.map(({ score }) => score);
    figures.push(...summary(`${all.length} synthetic series`, all));
    if (!quick) {
      const ofDemo = (await forecastAll(await demoSeries())).scores.map(({ score }) => score);
      tell(describe('demo', ofDemo));
      figures.push(...summary(`${ofDemo.length} months of the demo's workspaces by resource type`, ofDemo));
    }
    for (const known of quick ? [] : [5, 10, 20]) figures.push(...(await monthsFrom(known)));
    figures.push({
      bench: 'forecast',
      measured: `CPU for 100 series of 400 days, ${month} ahead, with the program's start (of ${daily.count})`,
      value: (100 * daily.cpuSeconds) / daily.count,
      unit: 's',
    });
    return figures;
  },
};

/** The errors of whole months from one of their days on, and how often their intervals hold: by kind, of seeds nobody chose by. */
async function monthsFrom(known: number): Promise<Figure[]> {
  const seeds = Array.from({ length: 10 }, (_, index) => 901 + index);
  const all = monthKinds.flatMap((kind) => seeds.map((seed) => monthSeries(kind, seed, known)));
  const { scores } = await forecastAll(all);
  const errorOf = ({ score }: (typeof scores)[number], index: number) => {
    const { month = 1, values = [], horizon = 0 } = all[index] ?? {};
    return ((score.sumError ?? 0) * values.slice(-horizon).reduce((sum, value) => sum + value, 0)) / month;
  };
  const errors = scores.map((one, index) => ({ family: one.family, error: errorOf(one, index), score: one.score }));
  return monthKinds.flatMap((kind) => {
    const own = errors.filter(({ family }) => family === kind);
    const [what, held] = [`from day ${known}, ${kind}`, own.map(({ score }) => (score.isSumHeld ? 1 : 0))];
    return [
      {
        bench: 'forecast',
        measured: `error of a month ${what}`,
        value: percent(own.map(({ error }) => error)),
        unit: '%',
      },
      { bench: 'forecast', measured: `within 80 % intervals ${what}`, value: percent(held), unit: '%' },
    ];
  });
}

const percent = (shares: readonly number[]) => 100 * mean(shares);
const known = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined);

function errorsOf(what: string, scores: readonly Score[]): Figure[] {
  return [
    { bench: 'forecast', measured: `MASE of ${what}`, value: mean(known(scores.map(({ mase }) => mase))), unit: 'x' },
    { bench: 'forecast', measured: 'their sMAPE', value: mean(scores.map(({ smape }) => smape)), unit: '%' },
  ];
}

function heldOf(what: string, scores: readonly Score[], bounds: { least?: number; target?: number }): Figure[] {
  const points = percent(scores.map(({ pointsHeld }) => pointsHeld));
  const sums = percent(scores.map(({ isSumHeld }) => (isSumHeld ? 1 : 0)));
  return [
    { bench: 'forecast', measured: `steps within 80 % intervals, ${what}`, value: points, unit: '%', ...bounds },
    { bench: 'forecast', measured: `sums within 80 % intervals, ${what}`, value: sums, unit: '%', ...bounds },
  ];
}

function summary(what: string, scores: readonly Score[]): Figure[] {
  return [
    ...errorsOf(what, scores),
    ...heldOf(what, scores, { least: 76, target: 84 }),
    {
      bench: 'forecast',
      measured: 'of them err less than the season before, repeated',
      value: percent(scores.map((score) => (beatsNaive(score) ? 1 : 0))),
      unit: '%',
      least: 70,
    },
  ];
}

function describe(family: string, scores: readonly Score[]): string {
  const [points, sums] = heldOf('', scores, {});
  const numbers = [
    `MASE ${mean(known(scores.map(({ mase }) => mase))).toFixed(2)}`,
    `sMAPE ${mean(scores.map(({ smape }) => smape)).toFixed(1)}`,
    `${points?.value.toFixed(0)} % of steps and ${sums?.value.toFixed(0)} % of sums held`,
    `sums err by ${percent(known(scores.map(({ sumError }) => sumError))).toFixed(1)} %`,
    `intervals of ${percent(known(scores.map(({ sumWidth }) => sumWidth))).toFixed(0)} %`,
  ];
  return `${family.padEnd(13)} ${numbers.join(', ')}`;
}

interface Forecast {
  readonly id: string;
  readonly kind: 'forecast' | 'none';
  readonly reason?: string;
  readonly points: Told['points'];
  readonly cumulative: Told['points'];
}

/** Writes all but what is held out as a user would have it, and asks the program what comes. */
async function forecastAll(
  all: readonly SyntheticSeries[],
): Promise<{ scores: { family: string; score: Score }[]; cpuSeconds: number }> {
  const [{ horizon, step } = { horizon: month, step: 'day' }] = all;
  const lines = all.flatMap(({ id, start, values }) =>
    values
      .slice(0, -horizon)
      .map(
        (value, index) => `${id},${instant(Date.parse(start) + index * (step === 'day' ? dayMs : hourMs))},${value}`,
      ),
  );
  const file = join(await newFolder(), 'series.csv');
  await writeFile(file, `id,timestamp,value\n${lines.join('\n')}\n`);
  const { stdout, cpuSeconds } = await run([cli, 'forecast', '--input', file, '--horizon', String(horizon), '--json']);
  const { series } = JSON.parse(stdout) as { series: Forecast[] };
  const scores = series.flatMap(({ id, kind, points, cumulative }) => {
    const given = all.find((one) => one.id === id);
    const sum = cumulative?.at(-1);
    if (given === undefined || kind === 'none' || sum === undefined) return [];
    const history = given.values.slice(0, -horizon);
    const score = scoreOf(history, given.values.slice(-horizon), { points, sum }, step === 'day' ? 7 : 168);
    return [{ family: given.family, score }];
  });
  return { scores, cpuSeconds };
}

/** The days of each workspace and resource type of the demo, to the end of each month that is held out. */
async function demoSeries(): Promise<SyntheticSeries[]> {
  const dir = await newFolder();
  await run([cli, 'demo', '--dir', dir, '--now', demoNow]);
  const query = `
    with days as (select distinct usage_date from costs_daily),
    scopes as (select distinct workspace, resource_type from costs_daily),
    daily as (
      select workspace, resource_type, usage_date, sum(cost) as cost
      from costs_daily
      group by workspace, resource_type, usage_date
    )
    select
      coalesce(scopes.workspace, '(none)') || '/' || coalesce(scopes.resource_type, '(none)') as scope,
      min(days.usage_date) as first_date,
      list(cast(coalesce(daily.cost, 0) as double) order by days.usage_date) as costs
    from scopes
    cross join days
    left join daily
      on daily.workspace is not distinct from scopes.workspace
      and daily.resource_type is not distinct from scopes.resource_type
      and daily.usage_date = days.usage_date
    group by scope
    order by scope`;
  const { stdout } = await run([cli, 'sql', '--dir', join(dir, 'costbook-demo'), '--json', query]);
  const { rows } = JSON.parse(stdout) as { rows: { scope: string; first_date: string; costs: number[] }[] };
  return rows
    .flatMap(({ scope, first_date, costs }) =>
      Array.from({ length: demoMonths }, (_, back) => ({
        id: `${scope} ${back}`,
        family: 'demo',
        start: `${first_date}T00:00:00Z`,
        step: 'day' as const,
        horizon: month,
        // The last day has only started.
        values: costs.slice(0, costs.length - 1 - back * demoDaysApart),
      })),
    )
    .filter(({ values }) => new Set(values.slice(-month - demoLeastVaried, -month)).size > 1);
}
