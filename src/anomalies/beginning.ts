import { median } from '../base/median.ts';
import { formatInstant, hourMs } from '../time/time.ts';
import type { AnomalyDetail } from './detail.ts';
import type { Episode } from './detect.ts';
import { usdText } from './fact.ts';
import type { HourlyCosts } from './hourly-watch.ts';

/** The usual hours of a day are learned from this many days. The day before the first one may be part of the anomaly. */
const usualDays = 28;
/** share. Chance of an hour is at least this share of a mean hour. */
const leastChance = 0.05;
/** share. A started hour costs less than a whole one: it belongs to the level after it from this share of it on, … */
const leastShareOfLevel = 0.1;
/** deviations. … if that is not by chance. */
const clearDeviations = 2;

/** The hours from which the beginning of an anomaly is told: those of its first day, and of the weeks before. Pure. */
export function hoursOfBeginning({ firstDay }: Pick<Episode, 'firstDay'>): {
  readonly from: number;
  readonly to: number;
} {
  return { from: (firstDay - usualDays - 1) * 24, to: (firstDay + 1) * 24 };
}

/**
 * When the first day's difference started, on it or on the day before, and at what pace it ran on. The start is the change point:
 * the hour from which a level of its own explains most of the differences, each weighted by the chance of its hour. The expected
 * cost of a day is spread over its hours as in the weeks before. Pure.
 */
export function beginning(
  episode: Pick<Episode, 'firstDay' | 'expected' | 'isUp'>,
  hours: HourlyCosts,
): Pick<AnomalyDetail, 'firstHour' | 'pace'> {
  const { differences, chances } = differencesOf(episode, hours);
  const start = changePoint(differences, chances);
  const since = differences.slice(start);
  // A single hour may be a batch; two say a little more.
  const mean = sumOf(since) / Math.max(2, since.length);
  const isRunning = episode.isUp && mean > 0 && (since.at(-1) ?? 0) >= mean / 2;
  return {
    firstHour: formatInstant(((episode.firstDay - 1) * 24 + start) * hourMs),
    pace: isRunning ? usdText(24 * mean) : null,
  };
}

/** What each hour of the day before and of the first day differs from the usual, above 0 in the episode's direction, and its chance. */
function differencesOf(
  { firstDay, expected, isUp }: Pick<Episode, 'firstDay' | 'expected' | 'isUp'>,
  { firstHour, costs }: HourlyCosts,
): { readonly differences: readonly number[]; readonly chances: readonly number[] } {
  const dayBack = (back: number) =>
    Array.from({ length: 24 }, (_, hour) => costs[(firstDay - back) * 24 + hour - firstHour] ?? 0);
  const costBack = (back: number) => sumOf(dayBack(back));
  // Days of a growing cost have the same shape: each counts by the shares of its hours.
  const shapes = Array.from({ length: usualDays - 1 }, (_, back) => dayBack(back + 2)).flatMap((day) => {
    const cost = sumOf(day);
    return cost > 0 ? [day.map((one) => one / cost)] : [];
  });
  const usual = Array.from({ length: 24 }, (_, hour) => {
    const shares = shapes.map((shape) => shape[hour] ?? 0);
    const mean = sumOf(shares) / Math.max(1, shares.length);
    const variance = sumOf(shares.map((share) => (share - mean) ** 2)) / Math.max(1, shares.length);
    return { mean, deviation: Math.sqrt(variance) };
  });
  const ratios = [7, 14, 21].flatMap((week) => (costBack(week) > 0 ? [costBack(week + 1) / costBack(week)] : []));
  const days = [
    { hours: dayBack(1), cost: ratios.length === 0 ? expected : expected * median(ratios) },
    { hours: dayBack(0), cost: expected },
  ];
  return {
    differences: days.flatMap(({ hours, cost }) =>
      hours.map((one, hour) => (one - cost * (usual[hour]?.mean ?? 0)) * (isUp ? 1 : -1)),
    ),
    chances: days.flatMap(({ cost }) =>
      usual.map(({ deviation }) => Math.hypot(deviation * cost, (leastChance * expected) / 24)),
    ),
  };
}

/**
 * The place from which the differences have a level that explains most of their squares. The start of the second day if none is
 * above 0. Where nothing is left to chance, all hours weigh the same.
 */
function changePoint(differences: readonly number[], chances: readonly number[]): number {
  const isCertain = chances.every((chance) => chance === 0);
  let best = { place: 24, level: 0, explained: 0 };
  let [sum, weights] = [0, 0];
  for (let place = differences.length - 1; place >= 0; place -= 1) {
    const weight = isCertain ? 1 : (chances[place] ?? 1) ** -2;
    sum += weight * (differences[place] ?? 0);
    weights += weight;
    const explained = sum > 0 ? sum ** 2 / weights : 0;
    if (explained > best.explained * (1 + 1e-9)) best = { place, level: sum / weights, explained };
  }
  let { place } = best;
  const belongs = (at: number) =>
    (differences[at] ?? 0) > Math.max(leastShareOfLevel * best.level, clearDeviations * (chances[at] ?? 0));
  while (place > 0 && best.level > 0 && belongs(place - 1)) place -= 1;
  return place;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
