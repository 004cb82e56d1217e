import { type DailyCosts, type Expectation, learnBaseline } from './baseline.ts';
import type { AnomalyRules } from './rules.ts';

/**
 * What each of some days was expected to cost, learned of the days before it; from `firstDay` of an anomaly on, of the
 * days before the anomaly alone. An estimate for a chart: other anomalies of the scope are not left out. Days are numbers
 * since 1970-01-01; undefined where nothing could be expected yet. Pure.
 */
export function usualBand(
  series: DailyCosts,
  { firstDay, from, to }: { readonly firstDay: number; readonly from: number; readonly to: number },
  rules: Pick<AnomalyRules, 'minDays'>,
): (Expectation | undefined)[] {
  const nothing = { masked: [], steps: [], prices: [], isQuiet: () => false };
  return Array.from({ length: to - from }, (_, index) => {
    const day = from + index;
    const baseline = learnBaseline(series, Math.min(day, firstDay), nothing, rules);
    return baseline.nature === 'young' ? undefined : baseline.expectationOf(day);
  });
}
