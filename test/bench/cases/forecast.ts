import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bench, type Figure, groupedBy } from '../figures.ts';
import { asksPublicMethods, type Peers, publicPeers, simplePeers } from '../peers.ts';
import { cli, dayMs, instant, newFolder, run } from '../processes.ts';
import { beatsNaive, mean, type Score, scoreOf, type Told } from '../scores.ts';
import { familyNames, type SyntheticSeries, slowFamilyNames, syntheticSeries } from '../synthetic-series.ts';

const month = 31;
const hourMs = 3_600_000;
/** The demo's day: fixed, so that its books are the same every time. */
const demoNow = '2026-10-05T12:30:00Z';
/** How many months of the demo are held out, and how many days one ends before the next: a few alone would tell little. */
const demoMonths = 18;
const demoDaysApart = 10;
/** What cost the same on each of so many days before a month is no art to foresee, and its interval always holds. */
const demoLeastVaried = 56;

/** Ten that nobody tuned on: no constant of the engine was chosen, and no fault mended, by a series of theirs. */
const seeds = Array.from({ length: 10 }, (_, index) => 1301 + index);
/** Series of each seed, by family and by kind of month. */
const each = 4;
export const numbers = (quick: boolean) =>
  quick ? seeds.slice(0, 3) : seeds.flatMap((seed) => Array.from({ length: each }, (_, index) => seed * 10 + index));

/** The errors of forecasts, and how often their intervals contain the outcome. */
export const forecastBench: Bench = {
  name: 'forecast',
  about: 'error and coverage of forecasts of held-out months: synthetic series by family, and the demo by day',
  async run({ quick, tell }) {
    const isPublic = await asksPublicMethods(quick, tell);
    const figures: Figure[] = [];
    const scores: Scored[] = [];
    let daily = { count: 0, cpuSeconds: 0 };
    const all = [...familyNames, ...slowFamilyNames].flatMap((family) =>
      numbers(quick).map((number) => syntheticSeries(family, number)),
    );
    // One run of the program has one step and one horizon.
    for (const ofKind of groupedBy(all, ({ step, horizon }) => `${step} ${horizon}`).values()) {
      const forecast = await forecastAll(ofKind, isPublic);
      scores.push(...forecast.scores);
      if (ofKind[0]?.step === 'day') daily = { count: ofKind.length, cpuSeconds: forecast.cpuSeconds };
    }
    for (const [family, ofFamily] of groupedBy(quick ? [] : scores, ({ family }) => family)) {
      tell(
        `${describe(
          family,
          ofFamily.map(({ score }) => score),
        )}; MASE of ${peersText(ofFamily, ({ mase }) => mase)}`,
      );
      const own = ofFamily.map(({ score }) => score);
      figures.push(...errorsOf(`${family} series`, own), ...heldOf(`${family} series`, own, {}));
    }
    const usual = scores.filter(({ family }) => familyNames.includes(family)).map(({ score }) => score);
    figures.push(...summary(`${usual.length} synthetic series`, usual));
    figures.push(...slowFigures(scores.filter(({ family }) => slowFamilyNames.includes(family))));
    if (!quick) {
      const ofDemo = (await forecastAll(await demoSeries(), false)).scores.map(({ score }) => score);
      tell(describe('demo', ofDemo));
      figures.push(...summary(`${ofDemo.length} months of the demo's workspaces by resource type`, ofDemo));
    }
    figures.push({
      bench: 'forecast',
      measured: `CPU for 100 series of 400 days, ${month} ahead, with the program's start (of ${daily.count})`,
      value: (100 * daily.cpuSeconds) / daily.count,
      unit: 's',
    });
    return figures;
  },
};

/** Families of hours that change every day: all together, and the one that is worst beside the last day, repeated. */
function slowFigures(scores: readonly Scored[]): Figure[] {
  const maseOf = (some: readonly Score[]) => mean(known(some.map(({ mase }) => mase)));
  const what = `${slowFamilyNames.length} families of hours that change every day`;
  const own = scores.map(({ score }) => score);
  const ratios = [...groupedBy(scores, ({ family }) => family).values()].map(
    (some) => maseOf(some.map(({ score }) => score)) / maseOf(some.flatMap(({ peers }) => peers.get('again') ?? [])),
  );
  return [
    { bench: 'forecast', measured: `MASE of ${what}`, value: maseOf(own), unit: 'x', target: 0.65 },
    ...heldOf(what, own, { least: 78, target: 82 }),
    {
      bench: 'forecast',
      measured: 'the worst of these families, as a multiple of the last day repeated',
      value: Math.max(...ratios),
      unit: 'x',
      target: 1.05,
    },
  ];
}

export const percent = (shares: readonly number[]) => 100 * mean(shares);
export const known = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined);

/** The mean of a figure by peer. */
export function peersText(
  scores: readonly Scored[],
  figureOf: (score: Score, one: Scored) => number | undefined,
): string {
  const names = [...(scores[0]?.peers.keys() ?? [])];
  const meanOf = (name: string) =>
    mean(
      known(
        scores.map((one) => {
          const score = one.peers.get(name);
          return score && figureOf(score, one);
        }),
      ),
    );
  return names.map((name) => `${name} ${meanOf(name).toFixed(2)}`).join(', ');
}

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

/** A series with its score, and those of peers by their name. */
export interface Scored {
  readonly id: string;
  readonly family: string;
  readonly score: Score;
  readonly peers: ReadonlyMap<string, Score>;
}

/** Writes all but what is held out as a user would have it, and asks the program, and peers, what comes. */
export async function forecastAll(
  all: readonly SyntheticSeries[],
  isPublic: boolean,
): Promise<{ scores: Scored[]; cpuSeconds: number }> {
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
  const season = step === 'day' ? 7 : horizon > 48 ? 168 : 24;
  const histories = all.map(({ values }) => values.slice(0, -horizon));
  const peers: Peers = new Map([
    ...simplePeers(histories, season, horizon),
    ...(isPublic ? await publicPeers(histories, season === 7 ? [7] : [24, 168], horizon) : []),
  ]);
  const scores = series.flatMap(({ id, kind, points, cumulative }): Scored[] => {
    const place = all.findIndex((one) => one.id === id);
    const [given, history, sum] = [all[place], histories[place], cumulative?.at(-1)];
    if (given === undefined || history === undefined || kind === 'none' || sum === undefined) return [];
    const scored = (told: Told) => scoreOf(history, given.values.slice(-horizon), told, season);
    const others = [...peers].map(([name, told]) => [name, scored(asTold(told[place] ?? []))] as const);
    return [{ id, family: given.family, score: scored({ points, sum }), peers: new Map(others) }];
  });
  return { scores, cpuSeconds };
}

/** What a peer forecasts has no intervals. */
function asTold(values: readonly number[]): Told {
  const exact = (forecast: number) => ({ forecast, low: forecast, high: forecast });
  return { points: values.map(exact), sum: exact(values.reduce((total, value) => total + value, 0)) };
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
