import type { DailyCosts } from '../../src/anomalies/baseline.ts';
import type { StoredEpisode } from '../../src/anomalies/evaluate-scope.ts';
// A year of invented costs with known events: the truth that anomaly detection is measured against. The same seed gives
// the same year.

/** What was planted in a scope. */
export type PlantedKind =
  | 'spike'
  | 'step'
  | 'drop'
  | 'price'
  | 'new'
  | 'lower step'
  | 'first batches'
  | 'larger batch'
  | 'missing batch';

/** Something that was put into a scope, with the day on which it shows first, counted from the year's first day. */
export interface Planted {
  readonly kind: PlantedKind;
  readonly day: number;
  /** The last day with whose completion telling it is in time: its first; of a lower step a week later, or the next working day. */
  readonly dueTo: number;
  /** USD of the first day by which it truly differs from what that day would have cost as expected, without a sign. */
  readonly amount: number;
  /** The same as a share of the expected cost. */
  readonly share: number;
  /** The logarithm of that day's cost over what was truly expected, in the scope's own noise. */
  readonly deviations: number;
}

/** A scope's year. */
export interface LabelledScope {
  readonly name: string;
  /** How much chance there is in a day, as a share: a standard deviation of logarithms. */
  readonly noise: number;
  readonly nature: string;
  /** USD and units, one a day. */
  readonly costs: readonly number[];
  readonly usages: readonly number[];
  readonly planted: readonly Planted[];
}

/** How a year is made. */
export interface YearOptions {
  readonly seed: number;
  readonly scopes: number;
  readonly days: number;
}

/** Shares of chance that scopes have. */
export const noises = [0.02, 0.05, 0.1, 0.15, 0.25] as const;

/** Numbers in [0, 1) by a seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A number of the standard normal distribution. */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/**
 * Days that are holidays, of a year that starts on a Monday: single ones, Easter's two, Christmas and the days after
 * it.
 */
const holidays = [0, 5, 92, 95, 120, 141, 183, 226, 275, 304, 330, 358, 359, 360];
const startsMonday = 0;

/** A year of scopes with what was planted in them. Pure. */
export function labelledYear({ seed, scopes, days }: YearOptions): LabelledScope[] {
  return Array.from({ length: scopes }, (_, index) =>
    labelledScope(chance(seed * 7919 + index * 104_729 + 1), index, days),
  );
}

function pick<T>(random: () => number, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T;
}

/** From `low` to `high`, as many times as much between each. */
export function spread(random: () => number, low: number, high: number): number {
  return low * (high / low) ** random();
}

function labelledScope(random: () => number, index: number, days: number): LabelledScope {
  // One in ten costs on working days alone, one in ten now and then, one in ten comes into being during the year.
  const nature =
    ['daily', 'weekly', 'weekly', 'weekly', 'working days', 'growing', 'weekly', 'sparse', 'late', 'daily'][
      index % 10
    ] ?? '';
  const noise = noises[Math.floor(index / 10 + index) % noises.length] ?? 0.1;
  const isHeavy = random() < 0.2;
  const memory = random() < 0.3 ? 0.4 : 0;
  const level = index % 12 === 11 ? spread(random, 0.2, 3) : spread(random, 8, 2000);
  const unitPrice = spread(random, 1e-6, 0.1);
  const growth =
    nature === 'growing' ? spread(random, 0.002, 0.012) * (random() < 0.25 ? -0.5 : 1) : (random() - 0.5) * 0.002;
  const weekend = nature === 'daily' ? 1 : nature === 'working days' ? 0 : 0.3 + 0.6 * random();
  const weekdays = Array.from({ length: 7 }, (_, weekday) =>
    weekday >= 5 ? weekend : nature === 'daily' ? 1 : 1 + 0.2 * (random() - 0.5),
  );
  const keepsHolidays = nature === 'weekly' || nature === 'working days';
  const holidayShare = 0.3 + 0.4 * random();
  // One in ten has a batch that recurs by date. It has chance of its own, so that the other scopes stay as they are.
  const batches = index % 10 === 6 ? batchesOf(chance(index * 7907 + Math.floor(random() * 1e9)), level, days) : [];
  const begin = nature === 'late' ? 40 + Math.floor(random() * (days - 120)) : 0;

  // What a day would cost without chance and without what is planted.
  const usual: number[] = [];
  for (let day = 0; day < days; day += 1) {
    const weekday = (day + startsMonday) % 7;
    const isHoliday = keepsHolidays && holidays.includes(day % 364) && weekday < 5;
    // Growth ends at ten times the size, because nothing grows forever.
    const grown = Math.exp(Math.max(-2.3, Math.min(2.3, growth * (day - begin))));
    const isActive = day >= begin && (nature !== 'sparse' || random() < 0.25);
    usual.push(isActive ? level * grown * (weekdays[weekday] ?? 1) * (isHoliday ? holidayShare : 1) : 0);
  }

  // Chance: of some scopes a day is like the one before it, of some single days lie further out than others.
  const noisy: number[] = [];
  let last = 0;
  for (let day = 0; day < days; day += 1) {
    // Student's t of six degrees of freedom, drawn to the same deviation.
    const heavy = isHeavy
      ? Math.sqrt(4 / Array.from({ length: 6 }, () => normal(random) ** 2).reduce((a, b) => a + b))
      : 1;
    const shock = normal(random) * heavy;
    last = memory * last + Math.sqrt(1 - memory ** 2) * shock;
    noisy.push(last * noise);
  }

  const factor = usual.map(() => 1);
  const priceFactor = usual.map(() => 1);
  const begun: { kind: PlantedKind; day: number }[] = [];
  const settled = begin + 60;
  const isNothing = nature === 'sparse';
  if (begin > 0) begun.push({ kind: 'new', day: begin });
  // Up to three events, two months and more apart, so that each is told from what was usual before it.
  for (
    let day = settled + Math.floor(random() * 40);
    day < days - 30 && !isNothing;
    day += 70 + Math.floor(random() * 60)
  ) {
    while (
      batches.some((batch) => Math.abs(batch.day - day) <= 9) ||
      usual[day] === 0 ||
      (keepsHolidays && [0, 1, 2].some((after) => holidays.includes((day + after) % 364)))
    )
      day += 1;
    if (day >= days - 30 || random() < 0.25) continue;
    const kind = pick(random, ['spike', 'spike', 'step', 'drop', 'price', 'lower step'] as const);
    // At least 30 %, and some close to it; where chance is larger also larger ones.
    const size = 1 + spread(random, 0.3, 0.3 + 8 * Math.max(noise, 0.1) * 2);
    if (kind === 'spike') {
      const length = pick(random, [1, 1, 1, 2]);
      for (let after = 0; after < length; after += 1) factor[day + after] = size;
    } else if (kind === 'step') {
      for (let after = day; after < days; after += 1) factor[after] = (factor[after] ?? 1) * size;
    } else if (kind === 'lower step') {
      for (let after = day; after < days; after += 1) factor[after] = (factor[after] ?? 1) / Math.max(size, 1.5);
    } else if (kind === 'price') {
      const ratio = random() < 0.8 ? 1.3 + random() : 1 / (1.5 + random());
      for (let after = day; after < days; after += 1) priceFactor[after] = (priceFactor[after] ?? 1) * ratio;
    } else {
      // Gone for good, or back after a month: then its return is something new to tell, and not counted here.
      for (let after = day; after < days; after += 1) factor[after] = 0;
    }
    begun.push({ kind, day });
    if (kind === 'drop') break;
  }

  const costs: number[] = [];
  const usages: number[] = [];
  for (let day = 0; day < days; day += 1) {
    const used = (usual[day] ?? 0) * (factor[day] ?? 1) * Math.exp(noisy[day] ?? 0);
    const batch = batches.find((each) => each.day === day)?.amount ?? 0;
    const all = used === 0 && factor[day] === 0 ? 0 : used + batch / (priceFactor[day] ?? 1);
    usages.push(all / unitPrice);
    costs.push(all * (priceFactor[day] ?? 1));
  }
  const planted = begun.map(({ kind, day }): Planted => {
    const before = (factor[day - 1] ?? 1) === 0 ? 1 : lasting(factor, day);
    const wasPriced = day > 0 ? (priceFactor[day - 1] ?? 1) : 1;
    // Of a price the usage is what it is: only the price differs.
    const expected =
      kind === 'new'
        ? 0
        : kind === 'price'
          ? ((costs[day] ?? 0) / (priceFactor[day] ?? 1)) * wasPriced
          : (usual[day] ?? 0) * before * wasPriced;
    const cost = costs[day] ?? 0;
    // On the day chance may have hidden it, or made more of it: what counts is what is left in its own direction.
    const isUp = kind === 'price' ? cost > expected : kind !== 'drop' && kind !== 'lower step';
    const amount = Math.max(0, isUp ? cost - expected : expected - cost);
    const share = expected === 0 ? Number.POSITIVE_INFINITY : amount / expected;
    const isSure = kind === 'new' || kind === 'price';
    const deviations = isSure ? Number.POSITIVE_INFINITY : Math.abs(Math.log(Math.max(cost, 1e-9) / expected)) / noise;
    return { kind, day, dueTo: day + (kind === 'lower step' ? 8 : 0), amount, share, deviations };
  });
  const gone = begun.find(({ kind }) => kind === 'drop')?.day ?? days;
  for (const { day, usualAmount, amount, place, planted: kind } of batches) {
    if (day >= gone) break;
    if (kind !== undefined) {
      const differs = Math.abs(amount - usualAmount);
      // The first two are not known yet: whoever tells them is right, and so is whoever does not.
      const isFirst = kind === 'first batches';
      planted.push({
        ...{ kind, day, dueTo: kind === 'missing batch' ? day + 2 : day, amount: isFirst ? 0 : differs },
        share: differs / Math.max(1e-9, (usual[day] ?? 0) + usualAmount),
        deviations: batchDeviations({ usual: usual[day] ?? 0, noise, usualAmount, amount, place }),
      });
    }
  }
  planted.sort((a, b) => a.day - b.day);
  return { name: `scope ${index}`, noise, nature, costs, usages, planted };
}

/** A cost that comes once in a month, at one place of the calendar, in a size that depends on the weekday. */
interface Batch {
  readonly day: number;
  /** USD, and what it would be as always. */
  readonly amount: number;
  readonly usualAmount: number;
  /** How many came before it. */
  readonly place: number;
  readonly planted: PlantedKind | undefined;
}

/** A Monday: 5 January 2026. */
const firstDay = 20_458;
const dayMs = 86_400_000;

/** How clear a larger or missing batch is: a missing one is as clear as a usual one stands out of its scope's noise. */
function batchDeviations({
  usual,
  noise,
  usualAmount,
  amount,
  place,
}: {
  readonly usual: number;
  readonly noise: number;
  readonly usualAmount: number;
  readonly amount: number;
  readonly place: number;
}): number {
  if (place < 2) return 0;
  const beyond = amount === 0 ? usualAmount * 0.6 : amount - 2.5 * usualAmount * 1.5;
  return beyond <= 0 ? 0 : Math.log1p(beyond / Math.max(1e-9, usual)) / noise;
}

/** The batches of a year: on a date, on the last day of the month, on its first Monday or on its first working day. */
function batchesOf(random: () => number, level: number, days: number): Batch[] {
  const rule = pick(random, ['first', 'first', 'date', 'last', 'first Monday', 'first working day'] as const);
  const date = 2 + Math.floor(random() * 26);
  const size = Math.max(12, level * spread(random, 0.6, 4));
  const ofWeekday = Array.from({ length: 7 }, (_, weekday) =>
    weekday >= 5 ? 0.55 + 0.35 * random() : 0.8 + 0.4 * random(),
  );
  const larger = 5 + Math.floor(random() * 3);
  let missing = 8 + Math.floor(random() * 2);
  const batches: Batch[] = [];
  for (let month = 0; month < 13; month += 1) {
    const first = Date.UTC(2026, month, 1) / dayMs;
    const next = Date.UTC(2026, month + 1, 1) / dayMs;
    const toMonday = (4 + 7 * 7 - (first % 7)) % 7;
    const weekday = (first + 3) % 7;
    const at = {
      first,
      date: first + date - 1,
      last: next - 1,
      'first Monday': first + toMonday,
      'first working day': weekday === 5 ? first + 2 : weekday === 6 ? first + 1 : first,
    }[rule];
    const day = at - firstDay;
    const usualAmount = size * (ofWeekday[(at + 3) % 7] ?? 1) * Math.exp(0.1 * normal(random));
    if (day < 0 || day >= days) continue;
    const place = batches.length;
    // A holiday is a reason of its own to cost less.
    if (place === missing && holidays.includes(day % 364)) missing += 1;
    const planted =
      place < 2 ? 'first batches' : place === larger ? 'larger batch' : place === missing ? 'missing batch' : undefined;
    const amount = planted === 'larger batch' ? 5 * usualAmount : planted === 'missing batch' ? 0 : usualAmount;
    batches.push({ day, amount, usualAmount, place, planted });
  }
  return batches;
}

/** The factor that held before a day: that of a spike does not last. */
function lasting(factor: readonly number[], day: number): number {
  return factor[day - 5] ?? 1;
}

/** What is measured of the product. */
export type Detector = Pick<typeof import('../../src/anomalies/detect.ts'), 'quietDays'> &
  Pick<typeof import('../../src/anomalies/evaluate-scope.ts'), 'evaluateScope'> &
  Pick<typeof import('../../src/anomalies/notices.ts'), 'noticesOf'> &
  Pick<typeof import('../../src/anomalies/rules.ts'), 'usualRules'>;

/** The reports about some of the planted events of at least 5 USD and 30 %. */
export interface Recall {
  /** Events that exceed the scope's noise, and how many of them were reported in time. */
  readonly clear: number;
  readonly clearInTime: number;
  /** Events that noise may hide, and how many of them were reported in time, or later. */
  readonly hidden: number;
  readonly hiddenInTime: number;
  readonly hiddenLater: number;
}

/** What a year came to. */
export interface Measured {
  readonly recall: ReadonlyMap<PlantedKind, Recall>;
  /** The same by the noise of a scope's days. */
  readonly recallByNoise: ReadonlyMap<number, Recall>;
  /** Every message about what was not planted, or about what another anomaly had reported. */
  readonly falseAlarms: readonly string[];
  /** Messages in all, and those of them that report an anomaly again. */
  readonly messages: number;
  readonly again: number;
  /** Planted, clear and not reported in time. */
  readonly missed: readonly string[];
  readonly scopes: number;
  readonly nights: number;
}

/**
 * A planted event stands out where its first day lies so many deviations of the scope's own chance from what was truly
 * expected: 30 % in a scope whose days differ by 4.4 % and less, 82 % where they differ by 10 %. Of smaller ones some are
 * no larger than what chance alone makes of a day in a few months of 100 scopes, and what is expected is known to half a
 * deviation and how large one is to a tenth: of those between 5 and 6 a few in a hundred are not told.
 */
export const clearDeviations = 6;

/** Evaluates a labelled year night by night, as the product does, and compares the reports with the planted events. */
export function measureYear(
  year: readonly LabelledScope[],
  { evaluateScope, quietDays, noticesOf, usualRules }: Detector,
): Measured {
  const days = year[0]?.costs.length ?? 0;
  const scopes = year.map(({ costs, usages }): DailyCosts => ({ firstDay, costs, usages }));
  const isQuiet = quietDays(scopes, usualRules);
  const recall = new Map<PlantedKind, Recall>();
  const recallByNoise = new Map<number, Recall>();
  const falseAlarms: string[] = [];
  const missed: string[] = [];
  let messages = 0;
  let again = 0;
  for (const [index, scope] of year.entries()) {
    const series = scopes[index];
    if (series === undefined) continue;
    const told: (StoredEpisode & { readonly notifiedDay: number; readonly id: string; readonly reason: string })[] = [];
    let known: readonly StoredEpisode[] = [];
    for (let day = 0; day < days; day += 1) {
      const next = evaluateScope({
        ...{ series, known, lastDay: firstDay + day, changedFrom: undefined, isQuiet },
        evaluatedDay: day === 0 ? undefined : firstDay + day - 1,
        rules: usualRules,
        newKey: ({ firstDay: first, kind }) => `${first} ${kind === 'price' || kind === 'missing' ? kind : ''}`,
      });
      for (const found of next) {
        if (!found.isNotified) continue;
        for (const notice of noticesOf(found, usualRules)) {
          const isFirst = notice.reason === 'first';
          const id = isFirst ? found.key : `${found.key} ${notice.day}`;
          if (told.some((one) => one.id === id)) continue;
          // What is reported again is of the day on which it was more.
          const first = (isFirst ? found.firstDay : notice.day) - firstDay;
          told.push({ ...found, id, reason: notice.reason, firstDay: first, notifiedDay: day });
        }
      }
      known = next;
    }
    const explained = new Set<string>();
    for (const event of scope.planted) {
      const isBatch = event.kind.includes('batch');
      const isOfBatch = (first: number) =>
        scope.planted.some(({ kind, day }) => kind.includes('batch') && day === first);
      const hit = told.find(
        ({ id, reason, firstDay: first, notifiedDay }) =>
          // A batch may make an anomaly worse that goes on, and is told with it.
          (isBatch || !explained.has(id)) &&
          (reason === 'first' || reason === 'worse' || (isBatch && reason === 'continues')) &&
          notifiedDay >= event.day &&
          (isBatch ? first === event.day : first >= event.day - 6 && first <= event.day + 14 && !isOfBatch(first)),
      );
      // All that follows about the same anomaly is about the same event.
      for (const { id, key, notifiedDay } of told) {
        if (hit !== undefined && key === hit.key && notifiedDay >= hit.notifiedDay) explained.add(id);
      }
      if (event.amount < usualRules.minAmount || event.share < usualRules.minShare) continue;
      const isInTime = hit !== undefined && hit.notifiedDay <= event.dueTo;
      const isClear = event.deviations >= clearDeviations;
      const one: Recall = {
        clear: Number(isClear),
        clearInTime: Number(isClear && isInTime),
        hidden: Number(!isClear),
        hiddenInTime: Number(!isClear && isInTime),
        hiddenLater: Number(!isClear && !isInTime && hit !== undefined),
      };
      recall.set(event.kind, addedRecall(recall.get(event.kind), one));
      recallByNoise.set(scope.noise, addedRecall(recallByNoise.get(scope.noise), one));
      if (isClear && !isInTime)
        missed.push(`${scope.name} (${scope.nature}, ${scope.noise}): ${JSON.stringify(event)}`);
    }
    messages += told.length;
    again += told.filter(({ reason }) => reason !== 'first').length;
    for (const { id, kind, isUp, reason, firstDay: first } of told) {
      if (explained.has(id)) continue;
      falseAlarms.push(
        `${scope.name} (${scope.nature}, ${scope.noise}): ${kind} ${isUp ? 'up' : 'down'} on day ${first}, ${reason}`,
      );
    }
  }
  return { recall, recallByNoise, falseAlarms, missed, messages, again, scopes: year.length, nights: days };
}

/** Combines the results of both. Pure. */
export function addedRecall(one: Recall | undefined, other: Recall): Recall {
  if (one === undefined) return other;
  return {
    clear: one.clear + other.clear,
    clearInTime: one.clearInTime + other.clearInTime,
    hidden: one.hidden + other.hidden,
    hiddenInTime: one.hiddenInTime + other.hiddenInTime,
    hiddenLater: one.hiddenLater + other.hiddenLater,
  };
}
