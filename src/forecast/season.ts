import { mean, sum } from './numbers.ts';

/** How a season changes the level: as a factor, or as a summand. */
export type Action = 'factor' | 'addition';

/** A series split into its seasons and the rest. */
export interface Decomposed {
  readonly action: Action;
  /** The effect of the seasons on step `index` of the series, also after its end. */
  seasonAt(index: number): number;
  /** The series without its seasons. */
  readonly rest: readonly number[];
}

/**
 * Removes the seasons, the shortest first. The effect at a position of a season is the trimmed mean of its differences
 * from the moving average, shrunk towards zero by as much as it may be chance (James-Stein), so a season that does not
 * exist adds no noise.
 */
export function decompose(values: readonly number[], seasons: readonly number[], action: Action): Decomposed {
  const none = action === 'factor' ? 1 : 0;
  const profiles: (readonly number[])[] = [];
  let rest = values;
  for (const season of seasons) {
    if (values.length < 2 * season) continue;
    const levels = levelsOf(rest, season);
    const profile = profileOf(rest, levels, season, action);
    profiles.push(profile);
    rest = rest.map((value, index) =>
      withoutSeason(value, profile[index % season] ?? none, action, levels[index] ?? 0),
    );
  }
  return {
    action,
    rest,
    seasonAt(index) {
      let total = none;
      for (const profile of profiles) {
        const place = profile[index % profile.length] ?? none;
        if (action === 'factor') total *= place;
        else total += place;
      }
      return total;
    },
  };
}

/** A level with the effect of a season. */
export function withSeason(level: number, season: number, action: Action): number {
  return action === 'factor' ? level * season : level + season;
}

/** Steps with a factor below this say little about the level; smaller factors say less. */
const quietFactor = 0.3;

/** The level that a step implies; for a quiet step, partly that of its neighbours. */
function withoutSeason(value: number, season: number, action: Action, level: number): number {
  if (action === 'addition') return value - season;
  const missing = Math.max(0, quietFactor - season);
  return (value + missing * level) / (season + missing);
}

function profileOf(values: readonly number[], levels: readonly number[], season: number, action: Action): number[] {
  const none = action === 'factor' ? 1 : 0;
  const at: number[][] = Array.from({ length: season }, () => []);
  for (const [index, value] of values.entries()) {
    const level = levels[index] ?? 0;
    if (action === 'addition') at[index % season]?.push(value - level);
    else if (level > 1e-9) at[index % season]?.push(value / level);
  }
  const places = at.map((found) => (found.length === 0 ? none : trimmedMean(found)));
  const middle = mean(places);
  const between = mean(places.map((place) => (place - middle) ** 2)) * (season / Math.max(1, season - 1));
  // The variance of the mean at each position, from the spread of its values.
  const within = mean(
    at.map((found, place) => {
      if (found.length < 2) return between;
      const center = places[place] ?? none;
      return sum(found.map((value) => (value - center) ** 2)) / (found.length - 1) / found.length;
    }),
  );
  const kept = between > 0 ? Math.max(0, 1 - within / between) : 0;
  return places.map((place) => {
    const deviation = (place - middle) * kept;
    return action === 'factor' ? Math.max(0, 1 + deviation / Math.max(middle, 1e-9)) : deviation;
  });
}

/** The level around each step: the moving average, or the nearest one if there is none. */
function levelsOf(values: readonly number[], season: number): number[] {
  const averages = movingAverage(values, season);
  const first = Math.floor(season / 2);
  return values.map((_, index) => averages[Math.min(averages.length - 1, Math.max(0, index - first))] ?? 0);
}

/** The mean over one season around each step that has one. With an even length, the two ends count half. */
function movingAverage(values: readonly number[], season: number): number[] {
  const half = Math.floor(season / 2);
  const isEven = season % 2 === 0;
  const averages: number[] = [];
  let total = sum(values.slice(0, season));
  for (let index = half; index + half < values.length; index += 1) {
    if (isEven) {
      // total is the sum of [index - half, index + half). The window moves by one step, and the two ends count half.
      const next = total - (values[index - half] ?? 0) + (values[index + half] ?? 0);
      averages.push((total + next) / 2 / season);
      total = next;
    } else {
      averages.push(total / season);
      total += (values[index + half + 1] ?? 0) - (values[index - half] ?? 0);
    }
  }
  return averages;
}

/** The mean without the lowest and the highest eighth. */
function trimmedMean(values: readonly number[]): number {
  const cut = Math.floor(values.length / 8);
  return cut === 0 ? mean(values) : mean([...values].sort((a, b) => a - b).slice(cut, -cut));
}
