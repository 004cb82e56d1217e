/**
 * The constants of anomaly detection in one place: unit, effect, and reason for the value. `deviations` are those of
 * single days, `errors` those of an expectation; `share` and `times` have no unit. `npm run bench -- anomalies`
 * measures the effect of a change.
 */

// How the usual cost of a scope is learned (baseline.ts)

/** days. Whether and when a scope costs at all is learned from this many days: eight of each weekday. */
export const learningDays = 56;
/** days. Noise and weekdays are learned from this many days: this gives noise to 7 %, half as many only to 10 %. */
export const chanceDays = 112;
/**
 * days. The level is that of this many last days. Fewer add their own noise; over more, the level itself may change.
 */
export const levelDays = 28;
/** days. With fewer days there is no level. */
export const leastLevelDays = 4;
/** days. A level uses at least a week if there is one, because otherwise weekdays would not cancel out. */
export const leastDays = 7;
/** deviations. A day outside this many is unusual: with fewer, noise alone alerts more than once a month per 100 scopes. */
export const deviations = 4.6;
/** deviations. The same on a weekday on which a scope rarely costs: its chance is set high already. */
export const sparseDeviations = 4;
/**
 * days. Noise learned from few days may be too small, so the width grows by this over their number, and by the square of
 * `veryFewDays` over it: close to what Student's t distribution has at `deviations`, 2.2 at 10 days, 1.3 at 28.
 */
export const fewDays = 5;
/** days. See `fewDays`. */
export const veryFewDays = 8.4;
/** share. The smallest deviation of a scope with less than the minimum history. */
export const youngNoise = 0.1;
/** share. The smallest deviation of a cost: no cost is as regular as it looks over a few weeks. */
export const leastNoise = 0.02;
/** share. The same for unit prices, which vary less than costs. */
export const leastPriceNoise = 0.01;
/** share. Noise learned from few days is shrunk towards this value. */
export const usualNoise = 0.05;
/** days. The weight of that value, in days. */
export const usualNoiseDays = 3;
/** days. A scope is steady only if it had cost on this many days. */
export const leastSteadyDays = 10;
/** share. And only if it had cost on this share of the days on which it could have. */
export const steadyShare = 0.9;
/** days. A scope is daily only if this many of the last four weeks' days are known. */
export const leastDailyDays = 14;
/** share. This share of the growth since the middle of the level is uncertain, because growth ends. */
export const growthDoubt = 0.5;
/** errors. A level that moved by this many errors has changed. The limit is high because it is tested every night. */
export const movedErrors = 3.5;
/** deviations. Days this far below are holidays, not noise, and say nothing about more expensive days. */
export const lowReach = 3.5;
/** deviations. A day this far out is unusual, and not noise. */
export const unusualReach = 5;
/** share. Unless more than this share of the days are so: then they are usual. */
export const unusualShare = 0.03;
/**
 * errors. A slope is shrunk towards zero as if levels were this much less exact than their noise, because levels
 * wander.
 */
export const slopeErrors = 1.5;
/** logarithm. The most growth from one range of days to the next. */
export const mostRise = 0.5;
/** share. Levels around days follow the days, which hides this much of the dependence between days. */
export const levelMemory = 0.05;
/** share. If more than this of a deviation remains on the next day, the level has changed. */
export const mostMemory = 0.7;
/**
 * days. The level around a day uses this many days on both sides, so that a single day does not shape it and growth
 * does not look like noise.
 */
export const aroundDays = 14;
/** days. The price of a unit is learned from this many days. */
export const priceDays = 28;
/** days. The price level is that of this many last days, because prices change abruptly. */
export const priceLevelDays = 14;

// What counts as an anomaly and how long it lasts (detect.ts)

/** days. A change that lasts this long becomes usual. */
export const adoptionDays = 14;
/** days. But not sooner than this after it was visible, so that what was reported does not end on the next day. */
export const leastOpenDays = 7;
/** days. An anomaly has ended after this many usual days; a single one may be chance. */
export const daysBack = 2;
/**
 * days. A change that noise hides on single days is visible over this many. A lower level is reported after this many.
 */
export const stayDays = 7;
/** days. All but this many of each week must show the change. */
export const stayMisses = 1;
/** days. Lengths of the ranges that are tested as a whole, up to a week, in which holidays are the minority. */
export const stretches = [2, 3, 5, stayDays] as const;
/** days. A lasting change that a week's noise hides shows over this many: after them it becomes usual and is never told. */
export const longestChange = adoptionDays;
/** days. In a longer range, this many days must show the change. */
export const leastInformativeDays = 4;
/**
 * errors. The mean of a range counts from this many errors on. The limit is high because every range is tested every
 * night.
 */
export const stayDeviations = 5.6;
/** days. A change that could be a single event is a step from this many days on. */
export const stepDays = 3;
/** times. An anomaly that was not reported as a recurring one is new if it is this many times larger. */
export const grownTimes = 4;
/**
 * times. Its share of the expected cost must also be this many times larger, because weekdays cost more than weekends.
 */
export const grownShares = 2;
/** days. The baseline learns from anomalies up to this long: medians tolerate them, and weekly ones are a pattern. */
export const shortDays = 2;
/** share. A day below this share of the expected cost counts as no cost. */
export const nothingShare = 0.02;
/** share. A day below this share of the expected cost is reported at once, unless it may be a holiday. */
export const fallShare = 0.6;
/** times. And this much further out than a usual day may be, because cheap days, such as local holidays, are not noise. */
export const fallReach = 1.4;
/** days. After so many, which are a week, a day is judged with a wide bar, until there is a level. */
export const youngDays = 7;
/**
 * errors. The expectation is moved by this many errors in favor of an alert, so that a difference of exactly the
 * minimum share is reported.
 */
export const benefit = 2;
/** share. A day on which this share of scopes costs less is a holiday, or similar. */
export const quietShare = 0.25;
/** scopes. And at least this many. */
export const quietScopes = 3;
/** times. A recurring increase is not reported unless it is this many times the earlier one. */
export const again = 1.3;
/** times. An increase that happened this often within `oftenDays` is recurring. */
export const often = 2;
/** days. See `often`. */
export const oftenDays = 28;
/** months. An increase that came at one place of the calendar in two of this many last months recurs. */
export const recurringMonths = 4;
/** months. One that came in each of this many last months can be missing. */
export const missingMonths = 3;
/** deviations. An increase that was smaller than this may have been chance, and shows nothing that recurs. */
export const batchDeviations = 2;
/** times. A recurring increase may be this many times the earlier ones: its size may depend on the weekday. */
export const recurringTimes = 2.5;
/** deviations. A unit price that moved by this much did not move by chance. */
export const priceDeviations = 4;
