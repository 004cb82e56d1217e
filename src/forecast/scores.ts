import type { Tried } from './choose-model.ts';
import { marginsFor } from './margins.ts';
import { mean } from './numbers.ts';
import { type Range, rangesAround } from './ranges.ts';
import type { Prepared } from './series.ts';

/** The accuracy of the chosen model on the series' past, at origins with known outcomes. */
export interface Backtest {
  readonly folds: number;
  /** Mean absolute error as a multiple of that of repeating the previous season; null if that is 0. */
  readonly mase: number | null;
  /** Symmetric mean absolute percentage error, 0 to 200; null if undefined. */
  readonly smape: number | null;
  /** Share of the outcomes that the intervals contained, with intervals from earlier data only; 0 to 1. */
  readonly coverage: number | null;
  /** The same for sums over the horizon, or over the known part of it. */
  readonly sumCoverage: number | null;
}

/** Number of newest origins at which intervals are tested. */
const coverageOrigins = 8;

/** Scores the chosen model's forecasts at the origins, with the intervals as of these origins. */
export function backtestOf(
  tried: Tried,
  series: Prepared,
  horizon: number,
  level: number,
  season: number,
  floor: number,
): Backtest {
  const { origins } = tried;
  const [errors, shares]: [number[], number[]] = [[], []];
  for (const [index, { outcomes, isKnown }] of origins.entries()) {
    const path = tried.steps.chosen.pathAt(index);
    for (const [h, outcome] of outcomes.entries()) {
      if (!isKnown[h]) continue;
      const said = path[h] ?? 0;
      const both = Math.abs(outcome) + Math.abs(said);
      errors.push(Math.abs(outcome - said));
      if (both > 0) shares.push((200 * Math.abs(outcome - said)) / both);
    }
  }
  const { values, isKnown } = series;
  const naive = mean(
    values.flatMap((value, index) =>
      index >= season && isKnown[index] && isKnown[index - season]
        ? [Math.abs(value - (values[index - season] ?? 0))]
        : [],
    ),
  );
  const covered = coverageOf(tried, horizon, level, floor);
  return {
    folds: origins.length,
    mase: naive > 0 && errors.length > 0 ? mean(errors) / naive : null,
    smape: shares.length > 0 ? mean(shares) : null,
    ...covered,
  };
}

/** Computes the intervals as of some origins, and counts the outcomes that they contain. */
function coverageOf(
  tried: Tried,
  horizon: number,
  level: number,
  floor: number,
): { coverage: number | null; sumCoverage: number | null } {
  const [points, sums]: [number[], number[]] = [[], []];
  const candidates = tried.origins.flatMap((origin, index) => {
    const [steps, sums] = [tried.steps.chosenAt[index], tried.sums.chosenAt[index]];
    return steps === undefined || sums === undefined ? [] : [{ index, origin, chosen: { steps, sums } }];
  });
  const every = Math.max(1, Math.ceil(candidates.length / coverageOrigins));
  for (const { index, origin, chosen } of candidates.filter((_, place) => place % every === 0)) {
    const margins = marginsFor(origin, tried, horizon, level);
    const paths = { steps: chosen.steps.pathAt(index), sums: chosen.sums.pathAt(index) };
    const { points: around, cumulative } = rangesAround(paths, margins, floor, 1);
    let total = 0;
    for (const [h, outcome] of origin.outcomes.entries()) {
      total += origin.isKnown[h] ? outcome : (paths.sums[h] ?? 0);
      if (origin.isKnown[h]) points.push(isWithin(outcome, around[h]) ? 1 : 0);
    }
    sums.push(isWithin(total, cumulative[origin.outcomes.length - 1]) ? 1 : 0);
  }
  return {
    coverage: points.length === 0 ? null : mean(points),
    sumCoverage: sums.length === 0 ? null : mean(sums),
  };
}

function isWithin(value: number, range: Range | undefined): boolean {
  return range !== undefined && value >= range.lower && value <= range.upper;
}
