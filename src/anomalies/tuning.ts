/**
 * The constants of anomaly detection, in one place: unit, what each does, and why it has its value. `deviations` are those
 * of single days, `errors` those of an expectation; a `share` and `times` have no unit. `npm run bench -- anomalies` measures
 * what a change of one does.
 */

// What the usual cost of a scope is learned from (baseline.ts)

/** days. Whether and when a scope costs at all is learned from this many days: eight of each weekday. */
export const learningDays = 56;
/** days. Noise and weekdays are learned from this many days: half as many would give noise to 10 % only, these give 7 %. */
export const chanceDays = 112;
/** days. The level is that of this many last days: fewer add their own noise to it, over more of them it moves. */
export const levelDays = 28;
/** days. With fewer days there is no level. */
export const leastLevelDays = 4;
/** days. No level is that of fewer days than a week, where there are so many: weekdays would not cancel out. */
export const leastDays = 7;
/** deviations. A day outside this many is unusual: with fewer, noise alone alerts more than once a month per 100 scopes. */
export const deviations = 4;
/** days. This many days of history double the width: noise learned from few days may be too small. */
export const fewDays = 5;
/** share. The least deviation of a cost: nothing is as regular as it looks in a few weeks. */
export const leastNoise = 0.02;
/** share. The same for the price of a unit, which moves less than a cost. */
export const leastPriceNoise = 0.01;
/** share. Noise learned from few days is drawn towards this one. */
export const usualNoise = 0.05;
/** days. As strongly as this many days of it would. */
export const usualNoiseDays = 3;
/** days. A scope is steady only if it had cost on this many days. */
export const leastSteadyDays = 10;
/** share. And on this share of the days on which it might have had cost. */
export const steadyShare = 0.9;
/** days. A scope is daily only if this many of the last four weeks' days are known. */
export const leastDailyDays = 14;
/** share. This much of what growth added since the middle of the level is uncertain: growth ends. */
export const growthDoubt = 0.5;
/** errors. A level that moved by this many errors has moved: every night tries it, so noise has many tries. */
export const movedErrors = 3.5;
/** deviations. Days lower than this many are holidays, not noise, and say nothing about dearer days. */
export const lowReach = 3.5;
/** errors. A slope is drawn towards zero as if levels were this much less exact than by noise alone: levels wander. */
export const slopeErrors = 1.5;
/** logarithm. The most growth from one stretch of days to the next. */
export const mostRise = 0.5;
/** share. The levels around days follow the days and hide this much of how one day follows another. */
export const levelMemory = 0.05;
/** share. If more of a deviation stays on the next day, it is a level that moved. */
export const mostMemory = 0.7;
/** days. The level around a day reaches this far to both sides: one day does not make it, and growth does not look like noise. */
export const aroundDays = 14;
/** days. The price of a unit is learned from this many days. */
export const priceDays = 28;
/** days. Its level is that of this many last days: prices move at once. */
export const priceLevelDays = 14;

// What counts as an anomaly and how long it lasts (detect.ts)

/** days. A change that lasted this long is the usual. */
export const adoptionDays = 14;
/** days. An anomaly is over after this many usual days: one may be chance. */
export const daysBack = 2;
/** days. A change that noise hides on single days shows over this many; a lower level is reported when it lasted for them. */
export const stayDays = 7;
/** days. All but this many of them must show it. */
export const stayMisses = 1;
/** days. Lengths of time that are looked at as one; the last is a week, in which holidays are the fewer days. */
export const stretches = [2, 3, 5, stayDays] as const;
/** days. In a longer stretch this many days must show the change. */
export const leastInformativeDays = 4;
/** errors. The mean of a stretch counts from this many errors on: every night and every stretch is a try. */
export const stayDeviations = 4.5;
/** days. What may end by itself after a day is a step from this many days on. */
export const stepDays = 3;
/** times. An anomaly that was not reported, as it seemed to recur, is a new one when it is this many times larger. */
export const grownTimes = 4;
/** times. Its share of the expected cost must be this many times larger too: a weekday costs more than a weekend. */
export const grownShares = 2;
/** days. The baseline learns from anomalies that last no longer: medians bear them, and weekly ones are a pattern. */
export const shortDays = 2;
/** share. A day below this share of the expected cost counts as no cost. */
export const nothingShare = 0.02;
/** errors. The expectation may be off by this many errors in favour of an alert, so that the least share is reported. */
export const benefit = 2;
/** share. A day on which this share of scopes costs less is a holiday, or as good as one. */
export const quietShare = 0.25;
/** scopes. And at least this many. */
export const quietScopes = 3;
/** times. What recurs is not reported unless it is this many times what it was. */
export const again = 1.3;
/** times. What came this often within `oftenDays` is known to recur. */
export const often = 2;
/** days. See `often`. */
export const oftenDays = 28;
/** deviations. A price of a unit that moved by this many is no chance. */
export const priceDeviations = 4;
