import { median } from '../base/median.ts';
import {
  type Baseline,
  type BaselineRules,
  type DailyCosts,
  type Disturbances,
  learnBaseline,
  learnUnitPrice,
} from './baseline.ts';
import type { Bar } from './feedback.ts';
import { underBar } from './feedback-bar.ts';
import { earlyDays, missingByDate, recursByDate } from './recurring.ts';
import { centreOf } from './robust-statistics.ts';
import {
  adoptionDays,
  again,
  batchDeviations,
  benefit,
  daysBack,
  deviations,
  fallReach,
  fallShare,
  grownShares,
  grownTimes,
  learningDays,
  leastInformativeDays,
  leastOpenDays,
  longestChange,
  nothingShare,
  often,
  oftenDays,
  priceDeviations,
  quietScopes,
  quietShare,
  recurringTimes,
  shortDays,
  stayDays,
  stayDeviations,
  stayMisses,
  stepDays,
  stretches,
  youngDays,
} from './tuning.ts';

/** The rules that define an anomaly. */
export interface DetectionRules extends BaselineRules {
  /** The least difference of a day from its expected cost, USD. */
  readonly minAmount: number;
  /** The least difference as a share of the expected cost: 0.3. */
  readonly minShare: number;
}

/**
 * What happened to a scope. spike: higher cost. step: higher or lower cost that lasts. drop: no cost where there was some
 * every day. new: costs where there were none. price: a different unit price. missing: a cost that recurs by date did not come.
 * dip: lower cost, not reported while it may be a holiday.
 */
export const anomalyKinds = ['spike', 'step', 'drop', 'new', 'price', 'missing', 'dip'] as const;
export type AnomalyKind = (typeof anomalyKinds)[number];

/** An unusual event of a scope. Days are numbers since 1970-01-01. */
export interface Episode {
  readonly kind: AnomalyKind;
  readonly isUp: boolean;
  readonly firstDay: number;
  /** The day after which it was visible: the first, or a later one if noise hid it. */
  readonly seenDay: number;
  /** The last unusual day so far. */
  readonly lastDay: number;
  /** The day after which a notification is due; undefined while none is. */
  readonly notifiedDay: number | undefined;
  /**
   * over: costs are back to the old level. usual: it lasted until its level became the expected one. grown: it was never
   * reported and became a different episode, which is reported.
   */
  readonly state: 'open' | 'over' | 'usual' | 'grown';
  /** The day on which its end was known; undefined while it is open. */
  readonly endedDay: number | undefined;
  /** Actual and expected cost of the first day, USD. */
  readonly cost: number;
  readonly expected: number;
  readonly low: number;
  readonly high: number;
  /** Difference of each of its days so far from the expected cost, USD; negative if lower. */
  readonly impacts: readonly number[];
  /** For a price: the ratio of the new unit price to the old. */
  readonly ratio: number | undefined;
  /** Its days up to the bar that feedback raised, which are not reported, and those above it. Undefined without a bar. */
  readonly heldDays?: readonly number[] | undefined;
  readonly aboveDays?: readonly number[] | undefined;
}

/**
 * Evaluates a scope on the days from `from` to `to`, inclusive, and returns its updated episodes. Each day is judged only by
 * the days before it, so that its result does not depend on later ones. `isQuiet` marks days on which many scopes cost less
 * at once. `isLate` means that part of a day may arrive after it was complete. Pure.
 */
export function follow<T extends Episode>(
  series: DailyCosts,
  known: readonly T[],
  { from, to }: { readonly from: number; readonly to: number },
  {
    isQuiet,
    isLate = false,
    rules,
    bar,
  }: {
    readonly isQuiet: (day: number) => boolean;
    readonly isLate?: boolean | undefined;
    readonly rules: DetectionRules;
    /** The bar that feedback raised. */
    readonly bar?: Bar | undefined;
  },
): readonly (T | Episode)[] {
  let episodes: readonly Episode[] = known;
  for (let day = from; day <= to; day += 1) {
    const priced = followPrice(series, withAdopted(episodes, day, rules), day, isQuiet, rules);
    const baseline = learnBaseline(series, day, disturbancesOf(priced, day, isQuiet), rules);
    const view = { series, day, cost: costOn(series, day), episodes: priced, baseline, isLate };
    episodes = underBar(withMissing(followDay(view, isQuiet, rules), view, isQuiet, rules), view, bar);
  }
  return episodes;
}

/** An episode of this length becomes the usual level; the day is then evaluated like any other. */
function withAdopted(episodes: readonly Episode[], day: number, rules: DetectionRules): readonly Episode[] {
  return episodes.map((episode) => {
    const { state, kind, firstDay, seenDay } = episode;
    const usualFrom =
      kind === 'new' ? firstDay + rules.minDays : Math.max(firstDay + adoptionDays, seenDay + leastOpenDays);
    const isAdopted = state === 'open' && day >= usualFrom;
    return isAdopted ? { ...episode, state: 'usual', endedDay: day } : episode;
  });
}

/** Returns whether many scopes cost less on a day. */
type IsQuiet = (day: number) => boolean;

/** One scope on one day. */
interface View {
  readonly series: DailyCosts;
  readonly day: number;
  readonly cost: number;
  readonly episodes: readonly Episode[];
  readonly baseline: Baseline;
  readonly isLate: boolean;
}

function costOn({ firstDay, costs }: DailyCosts, day: number): number {
  return costs[day - firstDay] ?? 0;
}

/** The episodes as known before a day, without later starts, ends and notifications. */
export function episodesBefore<T extends Episode>(episodes: readonly T[], day: number): T[] {
  return episodes.flatMap((episode) => {
    if (episode.seenDay >= day) return [];
    const isEnded = episode.endedDay !== undefined && episode.endedDay < day;
    if (isEnded) return [episode];
    const lastDay = Math.min(episode.lastDay, day - 1);
    const notifiedDay =
      episode.notifiedDay !== undefined && episode.notifiedDay >= day ? undefined : episode.notifiedDay;
    const { isUp } = episode;
    const least = isUp ? stepDays : stayDays;
    const isShort = episode.kind === 'step' && !isSeenLate(episode) && lastDay - episode.firstDay + 1 < least;
    const isUnsure = !isUp && notifiedDay === undefined;
    const kind = isShort && isUp ? 'spike' : isShort || isUnsure ? 'dip' : episode.kind;
    const impacts = episode.impacts.slice(0, lastDay - episode.firstDay + 1);
    const known = { ...episode, kind, state: 'open' as const, endedDay: undefined, lastDay, notifiedDay, impacts };
    const { heldDays, aboveDays } = episode;
    if (heldDays === undefined && aboveDays === undefined) return [known];
    const isBefore = (other: number) => other < day;
    return [{ ...known, heldDays: heldDays?.filter(isBefore), aboveDays: aboveDays?.filter(isBefore) }];
  });
}

/** Whether it was visible only over several days: then single days may look usual. */
function isSeenLate({ firstDay, seenDay }: Episode): boolean {
  return seenDay > firstDay;
}

/**
 * Returns whether a day is a holiday by its name, or because many scopes of an account cost less on it than on the same
 * weekday of earlier weeks: a day without costs is then not specific to a scope. Results are cached. Pure.
 */
export function quietDays(scopes: readonly DailyCosts[], rules: DetectionRules): (day: number) => boolean {
  const known = new Map<number, boolean>();
  return (day) => {
    const before = known.get(day);
    if (before !== undefined) return before;
    let usual = 0;
    let lower = 0;
    for (const series of scopes) {
      const expected = median([7, 14, 21, 28].map((apart) => costOn(series, day - apart)));
      if (expected < rules.minAmount) continue;
      usual += 1;
      if (costOn(series, day) < expected * (1 - rules.minShare)) lower += 1;
    }
    const isQuiet = rules.holidays?.has(day) === true || (lower >= quietScopes && lower >= quietShare * usual);
    known.set(day, isQuiet);
    return isQuiet;
  };
}

function followDay(view: View, isQuiet: IsQuiet, rules: DetectionRules): readonly Episode[] {
  const open = view.episodes.find(({ state, kind }) => state === 'open' && kind !== 'price');
  if (open === undefined) return withBegun(view.episodes, view, isQuiet, rules);
  // The lower level may have started before it was visible on a single day.
  const stays = open.kind === 'dip' && open.notifiedDay === undefined ? staying(view, isQuiet, rules) : undefined;
  const isLonger = stays !== undefined && stays.firstDay < open.firstDay;
  const next = isLonger
    ? { ...open, state: 'grown' as const, endedDay: view.day }
    : followOpen(open, view, isQuiet, rules);
  const episodes = view.episodes.map((episode) => (episode === open ? next : episode));
  if (isLonger) return [...episodes, stays];
  // An episode that ended may have turned into its opposite on the same day.
  return next.state === 'over' || next.state === 'grown' ? withBegun(episodes, view, isQuiet, rules) : episodes;
}

function withBegun(
  episodes: readonly Episode[],
  view: View,
  isQuiet: IsQuiet,
  rules: DetectionRules,
): readonly Episode[] {
  const begun = beginningOf({ ...view, episodes }, isQuiet, rules);
  return begun === undefined ? episodes : [...episodes, begun];
}

/** What an earlier increase must have come to, beyond what was usual: more than single days vary. */
function leastBatch({ noise }: Baseline, { minAmount, minShare }: DetectionRules): (usual: number) => number {
  const share = Math.max(minShare, Math.expm1(batchDeviations * noise));
  return (usual) => (usual > 0 ? usual * share : minAmount);
}

/** Adds the episode of a recurring increase that did not come. It is over at once: that it did not come does not last. */
function withMissing(
  episodes: readonly Episode[],
  { series, day, baseline }: View,
  isQuiet: IsQuiet,
  rules: DetectionRules,
): readonly Episode[] {
  if (baseline.nature !== 'steady') return episodes;
  const missing = missingByDate(series, day, {
    expectedOf: (other) => baseline.expectationOf(other).expected,
    least: (usual) => Math.max(rules.minAmount, leastBatch(baseline, rules)(usual)),
    holidays: rules.holidays,
    sure: (usual) => usual * Math.expm1(deviations * baseline.noise),
  });
  if (missing === undefined || isQuiet(missing.day)) return episodes;
  const { day: due, cost, expected } = missing;
  const isKnown = episodes.some(({ kind, isUp, firstDay, lastDay }) =>
    kind === 'missing'
      ? Math.abs(due - firstDay) <= earlyDays
      : kind !== 'price' && kind !== 'dip' && !isUp && due >= firstDay && due <= lastDay,
  );
  if (isKnown) return episodes;
  const begun: Episode = {
    ...{ kind: 'missing', isUp: false, firstDay: due, seenDay: day, lastDay: due, notifiedDay: day, state: 'over' },
    ...{ endedDay: day, cost, expected, low: missing.least, high: missing.most, impacts: [cost - expected] },
    ratio: undefined,
  };
  return [...episodes, begun];
}

/** What episodes imply for the days before a day, and for its prices. */
function disturbancesOf(episodes: readonly Episode[], day: number, isQuiet: IsQuiet): Disturbances {
  const masked: { from: number; to: number }[] = [];
  const steps: number[] = [];
  const prices: { from: number; to: number; ratio: number }[] = [];
  for (const { kind, state, firstDay, lastDay, ratio } of episodes) {
    if (kind === 'price') {
      if (ratio === undefined) continue;
      prices.push({ from: firstDay, to: state === 'over' ? lastDay : Number.POSITIVE_INFINITY, ratio });
    } else if (kind === 'missing') {
      // Its days cost what they usually cost.
    } else if (state === 'usual') {
      if (kind === 'drop') masked.push({ from: Number.NEGATIVE_INFINITY, to: lastDay });
      else if (kind !== 'new') steps.push(firstDay);
    } else if (kind !== 'new' && (state === 'open' || lastDay - firstDay >= shortDays)) {
      masked.push({ from: firstDay, to: state === 'open' ? day - 1 : lastDay });
    }
  }
  return { masked, steps: steps.sort((a, b) => a - b), prices, isQuiet };
}

/** The deviation of a day: the logarithm of actual to expected cost. */
function deviationOf(cost: number, expected: number): number {
  return Math.log(Math.max(cost, 1e-9) / Math.max(expected, 1e-9));
}

function isHigh(cost: number, day: number, baseline: Baseline, rules: DetectionRules, reach = 1): boolean {
  const { expected, high } = baseline.expectationOf(day);
  // `reach` below 1 scales every limit.
  if (expected === 0) return cost > high * reach && cost >= rules.minAmount * reach;
  const least = expected * Math.exp(-benefit * baseline.error);
  return (
    deviationOf(cost, expected) > deviationOf(high, expected) * reach &&
    (reach < 1 || cost - least >= rules.minAmount) &&
    cost - least >= rules.minShare * least * reach
  );
}

function isLow(cost: number, day: number, baseline: Baseline, rules: DetectionRules, reach = 1): boolean {
  const { expected, low } = baseline.expectationOf(day);
  if (expected === 0) return false;
  const most = expected * Math.exp(benefit * baseline.error);
  return (
    deviationOf(cost, expected) < deviationOf(low, expected) * reach &&
    (reach < 1 || most - cost >= rules.minAmount) &&
    most - cost >= rules.minShare * most * reach
  );
}

function beginningOf(view: View, isQuiet: IsQuiet, rules: DetectionRules): Episode | undefined {
  const { series, episodes, baseline, day, cost } = view;
  const { expected, low, high } = baseline.expectationOf(day);
  const begin = (kind: AnomalyKind, isUp: boolean, notifiedDay: number | undefined): Episode => ({
    ...{ kind, isUp, firstDay: day, seenDay: day, lastDay: day, notifiedDay, state: 'open', endedDay: undefined },
    ...{ cost, expected, low, high, impacts: [cost - expected], ratio: undefined },
  });
  if (baseline.nature === 'empty' || baseline.nature === 'young') {
    const oldest = Math.max(series.firstDay, day - learningDays);
    const isKnown = (baseline.firstCostDay ?? day) - oldest >= rules.minDays;
    const isNotified = episodes.some(({ kind, firstDay }) => kind === 'new' && firstDay >= day - rules.minDays);
    if (isKnown && !isNotified && cost >= rules.minAmount) return begin('new', true, day);
    // What ran for some days only is not missing after them.
    if (isKnown || isGone(view) || day - (baseline.firstCostDay ?? day) < youngDays) return undefined;
  }
  if (isHigh(cost, day, baseline, rules)) {
    const alike = episodes.filter(
      (past) =>
        past.isUp &&
        past.kind !== 'price' &&
        cost < past.cost * again &&
        // A much smaller one is another.
        past.cost - past.expected <= (cost - expected) * recurringTimes,
    );
    const isAgain =
      alike.some(({ firstDay }) => recurs(firstDay, day)) ||
      alike.filter(({ firstDay }) => day - firstDay <= oftenDays).length >= often ||
      recursByDate(series, day, { expected, least: leastBatch(baseline, rules), holidays: rules.holidays });
    return begin('spike', true, isAgain ? undefined : day);
  }
  if (isLow(cost, day, baseline, rules)) {
    const isDrop = isGone(view);
    const stays = isDrop ? undefined : staying(view, isQuiet, rules);
    return stays ?? begin(isDrop ? 'drop' : 'dip', false, isFallSure(view, isQuiet, rules) ? day : undefined);
  }
  return staying(view, isQuiet, rules);
}

function isGone({ cost, baseline, day }: View): boolean {
  return cost <= baseline.expectationOf(day).expected * nothingShare;
}

/**
 * Whether a day without cost is certainly unusual. It is, if every earlier day had a cost. If days without cost are
 * usual, it is not on a quiet day, nor on a holiday, nor while costs of the day may still arrive.
 */
function isDropSure({ baseline, isLate, day }: View, isQuiet: IsQuiet, { holidays }: DetectionRules): boolean {
  return !isLate && holidays?.has(day) !== true && (baseline.isDaily || !isQuiet(day));
}

/** Whether a lower day is certainly unusual: it costs nothing, or it halves a cost and may be no holiday. */
function isFallSure(view: View, isQuiet: IsQuiet, rules: DetectionRules): boolean {
  if (isGone(view)) return isDropSure(view, isQuiet, rules);
  const { cost, baseline, day, isLate } = view;
  const { expected, low } = baseline.expectationOf(day);
  const isFar = deviationOf(cost, expected) < deviationOf(low, expected) * fallReach;
  return isFar && cost <= expected * fallShare && !isLate && !isQuiet(day);
}

/**
 * Whether a similar or larger increase happened a week, two weeks or a month ago. A recurring increase is reported only
 * once.
 */
function recurs(before: number, day: number): boolean {
  const apart = day - before;
  return apart === 7 || apart === 14 || (apart >= 28 && apart <= 31);
}

/**
 * Finds a new level that noise hides on single days but that shows over several: a higher one over two or more days, a
 * lower one over a week or two.
 */
function staying(
  { series, episodes, day }: Pick<View, 'series' | 'episodes' | 'day'>,
  isQuiet: IsQuiet,
  rules: DetectionRules,
): Episode | undefined {
  // Skips days that were reported already.
  const lastNotified = episodes.reduce(
    (last, { kind, lastDay, endedDay }) =>
      kind === 'price' || kind === 'dip' || kind === 'missing' ? last : Math.max(last, lastDay, endedDay ?? lastDay),
    Number.NEGATIVE_INFINITY,
  );
  const baselineBefore = (length: number) =>
    learnBaseline(series, day - length + 1, disturbancesOf(episodes, day - length + 1, isQuiet), rules);
  function found(length: number, baseline: Baseline): Episode | undefined {
    return baseline.nature === 'steady' ? stepOver({ series, day, length, baseline }, isQuiet, rules) : undefined;
  }
  if (day - lastNotified < Math.min(...stretches)) return undefined;
  const weekly = baselineBefore(stayDays);
  for (const length of stretches.filter((count) => day - lastNotified >= count)) {
    const step = found(length, weekly);
    if (step !== undefined) return step;
  }
  return day - lastNotified >= longestChange ? found(longestChange, baselineBefore(longestChange)) : undefined;
}

/** The new level of the last `length` days, if they show one against a baseline from before them. */
function stepOver(
  {
    series,
    day,
    length,
    baseline,
  }: Pick<View, 'series' | 'day' | 'baseline'> & {
    readonly length: number;
  },
  isQuiet: IsQuiet,
  rules: DetectionRules,
): Episode | undefined {
  const share = Math.log1p(rules.minShare);
  const weeks = Math.floor(length / stayDays);
  const firstDay = day - length + 1;
  const days = Array.from({ length }, (_, place) => {
    const cost = costOn(series, firstDay + place);
    const expectation = baseline.expectationOf(firstDay + place);
    return { cost, ...expectation, deviation: deviationOf(cost, expectation.expected) };
  });
  // Holidays and weekdays without costs say nothing.
  const telling = days.filter(({ expected }, place) => expected > 0 && !isQuiet(firstDay + place));
  const middle = centreOf(
    telling.map(({ deviation }) => deviation),
    baseline.noise,
  );
  const isUp = middle > 0;
  const isShown = ({ deviation }: { readonly deviation: number }) => (isUp ? deviation : -deviation) >= share / 2;
  const showing = telling.filter(isShown).length;
  const impacts = days.map(({ cost, expected }) => cost - expected);
  const impact = impacts.reduce((sum, value) => sum + value, 0);
  const [first] = days;
  const isStaying =
    telling.slice(0, 1).every(isShown) &&
    (isUp || weeks > 0) &&
    telling.length >= Math.min(length, leastInformativeDays) &&
    showing >= telling.length - weeks * stayMisses &&
    Math.abs(middle) >= Math.max(share, stayDeviations * baseline.errorOf(telling.length)) &&
    Math.abs(impact) >= rules.minAmount * length;
  if (!isStaying || first === undefined) return undefined;
  const { cost, expected, low, high } = first;
  return {
    ...{ kind: 'step', isUp, firstDay, seenDay: day, lastDay: day, notifiedDay: day, state: 'open' },
    ...{ endedDay: undefined, cost, expected, low, high, impacts, ratio: undefined },
  };
}

function followOpen(open: Episode, view: View, isQuiet: IsQuiet, rules: DetectionRules): Episode {
  const { baseline, day, cost } = view;
  const { expected } = baseline.expectationOf(day);
  const length = day - open.firstDay + 1;
  if (open.kind === 'new') {
    return cost > 0 ? { ...open, lastDay: day, impacts: withImpact(open, day, cost) } : open;
  }
  const isStill = open.isUp ? isHigh(cost, day, baseline, rules, 0.5) : isLow(cost, day, baseline, rules, 0.5);
  if (!isStill) {
    // Weekdays without expected cost and holidays say nothing.
    if (expected === 0 || (isQuiet(day) && cost < expected)) return open;
    const isTurned = open.isUp ? isLow(cost, day, baseline, rules) : isHigh(cost, day, baseline, rules);
    const isOver =
      isTurned || open.notifiedDay === undefined || day - open.lastDay >= (isSeenLate(open) ? stayDays : daysBack);
    return isOver ? { ...open, state: 'over', endedDay: day } : open;
  }
  const next = { ...open, lastDay: day, impacts: withImpact(open, day, cost - expected) };
  if (isGrown(open, cost, expected) && isHigh(cost, day, baseline, rules)) {
    return { ...open, state: 'grown', endedDay: day };
  }
  if (open.isUp) {
    const isLong = length >= stepDays;
    // An increase that was not reported as a recurring one is new if it lasts longer than it ever did.
    const isOther = isLong && open.notifiedDay === undefined && length > longestBefore(open, view);
    return {
      ...next,
      kind: open.kind === 'spike' && isLong ? 'step' : open.kind,
      notifiedDay: isOther ? day : open.notifiedDay,
    };
  }
  const isSure = isLow(cost, day, baseline, rules) && isFallSure(view, isQuiet, rules);
  const isDrop = isGone(view) && (isSure || length >= stepDays);
  const kind = open.kind !== 'dip' ? open.kind : isDrop ? 'drop' : length >= stayDays ? 'step' : 'dip';
  const isDue = isSure || isDrop || length >= stayDays;
  return { ...next, kind, notifiedDay: open.notifiedDay ?? (isDue ? day : undefined) };
}

/** Whether a day is so much larger than an unreported episode that it is a new one. */
function isGrown(
  { isUp, notifiedDay, impacts, cost: firstCost, expected: firstExpected }: Episode,
  cost: number,
  expected: number,
) {
  if (!isUp || notifiedDay !== undefined) return false;
  // Without an expected cost on the first day there is no share.
  const isShareGrown =
    firstExpected <= 0 || (cost - expected) * firstExpected >= grownShares * (firstCost - firstExpected) * expected;
  return isShareGrown && cost - expected >= grownTimes * Math.max(...impacts);
}

/** The most days that earlier, finished increases lasted. */
function longestBefore(open: Episode, { episodes }: View): number {
  return episodes.reduce(
    (longest, { kind, isUp, state, firstDay, lastDay }) =>
      isUp && kind !== 'price' && state === 'over' && firstDay < open.firstDay
        ? Math.max(longest, lastDay - firstDay + 1)
        : longest,
    0,
  );
}

/** The impacts of an episode plus one more day; usual days in between have none. */
function withImpact({ impacts, firstDay }: Episode, day: number, impact: number): number[] {
  return Array.from({ length: day - firstDay + 1 }, (_, place) =>
    firstDay + place === day ? impact : (impacts[place] ?? 0),
  );
}

/** Follows a unit price that differs from the days before. */
function followPrice(
  series: DailyCosts,
  episodes: readonly Episode[],
  day: number,
  isQuiet: IsQuiet,
  rules: DetectionRules,
): readonly Episode[] {
  const cost = series.costs[day - series.firstDay] ?? 0;
  const usage = series.usages[day - series.firstDay] ?? 0;
  const open = episodes.find(({ state, kind }) => state === 'open' && kind === 'price');
  const others = episodes.filter((episode) => episode !== open);
  const masked = others.concat(open === undefined ? [] : [{ ...open, ratio: undefined, kind: 'dip' }]);
  const old = learnUnitPrice(series, open?.firstDay ?? day, disturbancesOf(masked, day, isQuiet));
  if (old === undefined || usage <= 0 || cost <= 0) return episodes;
  const ratio = cost / usage / old.price;
  const expected = usage * old.price;
  const isMoved = (reach: number) =>
    Math.abs(Math.log(ratio)) > Math.max(Math.log1p(rules.minShare) * 0.99, priceDeviations * old.noise) * reach &&
    (reach < 1 || Math.abs(cost - expected) >= rules.minAmount);
  if (open === undefined) {
    if (!isMoved(1)) return episodes;
    const width = Math.exp(priceDeviations * old.noise);
    return [
      ...episodes,
      {
        ...{
          kind: 'price',
          isUp: ratio > 1,
          firstDay: day,
          seenDay: day,
          lastDay: day,
          notifiedDay: day,
          state: 'open',
        },
        ...{ endedDay: undefined, cost, expected, low: expected / width, high: expected * width },
        ...{ impacts: [cost - expected], ratio },
      },
    ];
  }
  const next: Episode = isMoved(0.5)
    ? { ...open, lastDay: day, impacts: withImpact(open, day, cost - expected) }
    : { ...open, state: 'over', endedDay: day };
  return episodes.map((episode) => (episode === open ? next : episode));
}
