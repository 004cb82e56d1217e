import { median } from '../base/median.ts';
import type { Past } from './models.ts';
import { mean, sum } from './numbers.ts';
import type { OddRun } from './odd-steps.ts';
import type { Prepared } from './series.ts';

/** A change of the level that reaches to the end of a series. */
export interface LevelShift {
  /** Number of steps so far. */
  readonly steps: number;
  /** Ratio of the new level to the one before. */
  readonly factor: number;
  /** How likely it lasts: 1 if that is as good as certain, 0 if it is out of the question. */
  readonly lasts: number;
  /** The series as if the new level had always been there. */
  readonly lasting: Prepared;
  /** The series as if the old level were still there. */
  readonly over: Prepared;
  /** The standard error of the new level, as a share of it. */
  readonly uncertainty: number;
}

/** A change is looked for in so many last seasons, and compared with so many before it, of which there are at least three. */
const seasons = { searched: 4, before: 8, least: 3 };
/** A smaller change than this factor is not one. */
const leastFactor = 1.25;
/** It is at least this many times the usual deviation; of one or two steps, as many times more. */
const farDeviations = 3;
const ofFewSteps = 1.5;
/** So many of the steps since, and of those before, may be on the other side of the middle between the levels. */
const mostAgainst = { since: 1 / 7, before: 0.1 };
/** An earlier change of at least this share is like it. */
const likeness = 0.5;
/** With fewer steps, it is unknown whether a cost was added or all costs were multiplied. */
const leastOfShape = 3;
/**
 * The power of its age, as a share of a season, that gives how likely a change lasts. Falls last more often than rises. Fitted
 * to series of which as many changes ended within nine days as lasted.
 */
const agePower = { up: 1.25, down: 0.3 };
/** That belief weighs as much as this many runs that have ended. */
const beliefRuns = 3;
/** Errors of neighbouring steps are alike, so a mean of some has this many times the error of independent ones. */
const alikeError = 1.3;

/** The change of the level at the end of a series, if it is beyond the usual and nothing like it has come and gone. Pure. */
export function findLevelShift(series: Prepared, { cycle, seasonal }: Past, level: number): LevelShift | undefined {
  const { rest } = seasonal;
  const steps = stepsSinceSplit(rest, cycle);
  const begin = rest.length - steps;
  const [before, since] = [rest.slice(Math.max(0, begin - seasons.before * cycle), begin), rest.slice(begin)];
  const [old, now] = [middleOf(before) || mean(before), middleOf(since)];
  const [by, factor] = [now - old, now / old];
  if (steps === 0 || !(old > 0) || (factor < leastFactor && factor > 1 / leastFactor)) return undefined;
  const deviation = Math.max(deviationOf(before, old), 0.02 * old);
  if (Math.abs(by) < farDeviations * deviation * (steps < leastOfShape ? ofFewSteps : 1)) return undefined;
  const isBeyond = (value: number) => (value - old - by / 2) * Math.sign(by) > 0;
  const against = { since: since.filter((value) => !isBeyond(value)).length, before: before.filter(isBeyond).length };
  if (against.since > mostAgainst.since * steps || against.before > mostAgainst.before * before.length)
    return undefined;
  if (hasEndedBefore(rest.slice(0, begin), Math.min(steps, cycle), cycle, by)) return undefined;

  const first = series.values.length - steps;
  const expected = (index: number) => old * seasonal.seasonAt(begin + index - first);
  const own = series.values.slice(first).map((value, index) => ({ value, usual: expected(first + index) }));
  const more = mean(own.map(({ value, usual }) => value - usual));
  const missesOf = (changed: (usual: number) => number) => own.map(({ value, usual }) => value - changed(usual));
  const added = missesOf((usual) => usual + more);
  const multiplied = missesOf((usual) => usual * factor);
  const sizeOf = (misses: readonly number[]) => sum(misses.map(Math.abs));
  // A new resource costs the same at a weekend, and a higher price does not.
  const isAdded = by > 0 && steps >= leastOfShape && sizeOf(added) < sizeOf(multiplied);
  const error = Math.sqrt(mean((isAdded ? added : multiplied).map((miss) => miss ** 2)) / Math.max(1, steps - 1));
  const isOld = (index: number) => index < first;
  const limit = old + Math.sign(by) * Math.max(farDeviations * deviation, (leastFactor - 1) * old);
  const likelihood =
    steps >= cycle ? 1 : likelihoodOf((steps - 1) / (cycle - 1), by > 0, runsBeyond(before, steps, limit));
  // What is less likely than the outcomes beyond an end of an interval does not move it.
  const tail = (1 - level) / 2;
  return {
    steps,
    factor,
    lasts: likelihood < tail ? 0 : likelihood > 1 - tail ? 1 : likelihood,
    uncertainty: (alikeError * error) / Math.max(mean(own.map(({ value }) => value)), 1e-9),
    lasting: {
      ...series,
      values: series.values.map((value, index) =>
        !isOld(index) ? value : isAdded ? value + more : value * Math.max(0, factor),
      ),
    },
    over: {
      ...series,
      values: series.values.map((value, index) => (isOld(index) ? value : expected(index))),
      isKnown: series.isKnown.map((isKnown, index) => isKnown && isOld(index)),
    },
  };
}

/** How likely a change lasts that has lasted for a share of a season, where so many runs like it have ended. */
function likelihoodOf(age: number, isUp: boolean, ended: number): number {
  return (age ** (isUp ? agePower.up : agePower.down) * beliefRuns) / (beliefRuns + ended);
}

/** How many runs of at least so many steps beyond a limit have come and ended. */
function runsBeyond(rest: readonly number[], steps: number, limit: number): number {
  const isAbove = limit > median(rest);
  let [count, length] = [0, 0];
  for (const value of rest) {
    if (isAbove ? value > limit : value < limit) length += 1;
    else {
      if (length >= steps) count += 1;
      length = 0;
    }
  }
  return count;
}

/** The mean without what is far from the median. */
function middleOf(values: readonly number[]): number {
  const middle = median(values);
  const edge = values.length < leastOfShape ? Number.POSITIVE_INFINITY : 3 * deviationOf(values, middle);
  return mean(clipped(values, middle, edge).map((away) => middle + away));
}

function deviationOf(values: readonly number[], middle: number): number {
  return 1.4826 * median(values.map((value) => Math.abs(value - middle)));
}

/** Differences from a middle, cut at an edge. */
function clipped(values: readonly number[], middle: number, edge: number): number[] {
  return values.map((value) => Math.min(edge, Math.max(-edge, value - middle)));
}

/** The number of last steps whose level differs most from that before; 0 if there are too few steps. */
function stepsSinceSplit(rest: readonly number[], cycle: number): number {
  const values = rest.slice(-(seasons.searched + seasons.before) * cycle);
  const most = Math.min(seasons.searched * cycle, values.length - seasons.least * cycle);
  if (most < 1) return 0;
  const old = values.slice(0, values.length - most);
  const middle = median(old);
  const edge = Math.max(4 * deviationOf(old, middle), 0.3 * Math.abs(middle), 1e-12);
  const away = clipped(values, middle, edge);
  const total = sum(away);
  let best = { gain: 0, steps: 0 };
  let since = 0;
  for (let steps = 1; steps <= most; steps += 1) {
    since += away[away.length - steps] ?? 0;
    // What two levels explain more than one: the sum of squares between them.
    const gain = since ** 2 / steps + (total - since) ** 2 / (values.length - steps) - total ** 2 / values.length;
    if (gain > best.gain) best = { gain, steps };
  }
  return best.steps;
}

/** Whether the level went as far in the same direction for as long, and came back. */
function hasEndedBefore(rest: readonly number[], steps: number, cycle: number, by: number): boolean {
  const reach = Math.max(cycle, steps);
  for (let first = reach; first + steps + reach <= rest.length; first += 1) {
    const during = mean(rest.slice(first, first + steps));
    const isFar = (around: readonly number[]) => (during - median(around)) * Math.sign(by) > likeness * Math.abs(by);
    const end = first + steps;
    if (isFar(rest.slice(first - reach, first)) && isFar(rest.slice(end, end + reach))) return true;
  }
  return false;
}

/** A run is at least so many steps, and at most so many seasons, and differs by so many usual deviations and such a share. */
const run = { least: 3, mostSeasons: 2, farDeviations: 3, leastShare: 0.25 };

/** The one run of steps that was unlike all others, and after which the level was as before. Pure. */
export function findEndedRun({ cycle, seasonal: { rest } }: Past): OddRun | undefined {
  const levels = runningMedian(rest, (seasons.before / 2) * cycle);
  const away = rest.map((value, index) => value - (levels[index] ?? value));
  const [deviation, typical] = [deviationOf(away, 0), median(levels)];
  const sums = [0];
  for (const one of clipped(away, 0, Math.max(8 * deviation, 2 * typical))) sums.push((sums.at(-1) ?? 0) + one);
  const meanOf = (first: number, length: number) => ((sums[first + length] ?? 0) - (sums[first] ?? 0)) / length;
  let best = { gain: 0, first: 0, length: 0, by: 0 };
  for (let length = run.least; length <= run.mostSeasons * cycle; length += 1) {
    for (let first = cycle; first + length < rest.length; first += 1) {
      const by = meanOf(first, length);
      const gain = Math.abs(by) * Math.sqrt(length);
      if (gain > best.gain) best = { gain, first, length, by };
    }
  }
  const { first, length, by } = best;
  const end = first + length;
  const least = Math.max(run.farDeviations * deviation, run.leastShare * Math.max(levels[first] ?? 0, typical));
  const isBeyond = (value = 0) => (value - by / 2) * Math.sign(by) > 0;
  const against = away.slice(first, end).filter((value) => !isBeyond(value)).length;
  if (Math.abs(by) < least || isBeyond(away[end]) || against > mostAgainst.since * length) return undefined;
  for (let other = 0; other + length <= rest.length; other += 1) {
    const isApart = other >= end || other + length <= first;
    if (isApart && meanOf(other, length) * Math.sign(by) > likeness * Math.abs(by)) return undefined;
  }
  return { first, length, excess: sum(away.slice(first, end)), isSingle: true };
}

/** The median of the steps around each, as many before as after; near the ends, of the first or the last ones. */
function runningMedian(values: readonly number[], reach: number): number[] {
  const stride = Math.ceil(reach / 28);
  const last = Math.max(0, values.length - 2 * reach - 1);
  const medians = Array.from({ length: Math.ceil(values.length / stride) }, (_, block) => {
    const first = Math.min(last, Math.max(0, block * stride - reach));
    return median(values.slice(first, first + 2 * reach + 1));
  });
  return values.map((_, index) => medians[Math.floor(index / stride)] ?? 0);
}
