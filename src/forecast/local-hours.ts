import type { Instant, Zone } from '../time/time.ts';
import type { Range, Ranges } from './ranges.ts';

/** A history by local time, in which each day has the same number of steps. */
export interface LocalSteps {
  /** An hour that the clocks skipped is unknown; one that came twice has the mean of both. */
  readonly values: readonly (number | null)[];
  readonly horizon: number;
  /** The index by UTC of a local step. */
  indexOf(local: number): number;
  /** A forecast of the local steps as a forecast of those by UTC. */
  restore(forecast: Ranges): Ranges;
}

/**
 * A history of steps shorter than a day, and its horizon, by the time of a zone: daily patterns then cross a change of the clocks
 * without a shift. Undefined if the clocks do not change, or not by whole steps. `start` is the first step, `stepMs` the
 * length of each. Pure.
 */
export function byLocalTime(
  values: readonly (number | null)[],
  horizon: number,
  start: Instant,
  stepMs: number,
  zone: Zone,
): LocalSteps | undefined {
  const count = values.length;
  const first = zone.offsetAt(start);
  const places = Array.from({ length: count + horizon }, (_, index) => {
    return index + (zone.offsetAt(start + index * stepMs) - first) / stepMs;
  });
  if (!places.every(Number.isInteger) || places.every((place, index) => place === index)) return undefined;
  const last = places[count - 1] ?? -1;
  const sums: { total: number; seen: number }[] = Array.from({ length: last + 1 }, () => ({ total: 0, seen: 0 }));
  for (const [index, value] of values.entries()) {
    const at = sums[places[index] ?? 0];
    if (at === undefined || value === null) continue;
    at.total += value;
    at.seen += 1;
  }
  return {
    values: sums.map(({ total, seen }) => (seen === 0 ? null : total / seen)),
    horizon: Math.max(1, (places.at(-1) ?? 0) - last),
    indexOf: (local) =>
      Math.max(
        0,
        places.findIndex((place) => place >= local),
      ),
    restore({ points, cumulative }) {
      // The step that comes twice at the start of the forecast is the last known one: the next one takes its place.
      const of = places.slice(count).map((place) => Math.max(0, place - last - 1));
      const shown = of.flatMap((place) => points[place] ?? []);
      return { points: shown, cumulative: sumsOf(of, shown, points, cumulative) };
    },
  };
}

/** The sums of the shown steps: those of the local steps up to each, and what is more or less on the way to it. */
function sumsOf(
  places: readonly number[],
  shown: readonly Range[],
  points: readonly Range[],
  cumulative: readonly Range[],
): Range[] {
  const until: number[] = [];
  let total = 0;
  for (const { mean } of points) {
    total += mean;
    until.push(total);
  }
  let before = 0;
  return places.flatMap((place, index) => {
    before += shown[index]?.mean ?? 0;
    const range = cumulative[place];
    const more = before - (until[place] ?? 0);
    return range === undefined
      ? []
      : [{ mean: range.mean + more, lower: range.lower + more, upper: range.upper + more }];
  });
}
