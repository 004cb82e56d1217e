import { dayName, type Holidays, hourMs, type Instant } from '../../time/time.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import { type AnswerCache, cachedRows } from '../../warehouse/store/index.ts';
import type { Budget } from '../rules/budget.ts';
import { type AnomalyPlace, isSamePlace, type KnownAnomaly } from './known-anomalies.ts';

/** The steps of a history. */
export interface StepsCut {
  readonly stepHours: 1 | 24;
  /** Hours after midnight at which a daily step starts. */
  readonly align: number;
  /** The hours of a step whose cost is also counted by itself. */
  readonly firstHours: number;
}

/** Cost of a step and of its first hours, USD. */
export interface StepPart {
  readonly cost: number;
  readonly firstCost: number;
}

/** How the cost of days is distributed over steps: by place, then by day. */
export type DayShares = readonly {
  readonly place: AnomalyPlace;
  readonly days: ReadonlyMap<number, { readonly cost: number; readonly steps: ReadonlyMap<Instant, StepPart> }>;
}[];

/** What is unusual in the costs of one place, by step. Negative if the costs were lower than usual. */
export interface LeftOut {
  readonly place: AnomalyPlace;
  readonly anomalies: readonly KnownAnomaly[];
  readonly steps: ReadonlyMap<Instant, StepPart>;
}

/** How the costs of the anomalies' days are distributed over steps. */
export async function readDayShares(
  connection: Connection,
  { align, stepHours, firstHours }: StepsCut,
  anomalies: readonly (AnomalyPlace & Pick<KnownAnomaly, 'firstDay' | 'lastDay'>)[],
  cache?: AnswerCache | undefined,
): Promise<DayShares> {
  if (anomalies.length === 0) return [];
  const places = byPlace(anomalies);
  const rows = await cachedRows(connection, cache, ['forecasts', 'steps_of_days'], {
    ...{ align, step_hours: stepHours, first_hours: firstHours },
    days: JSON.stringify(
      places.map(({ place, members }, index) => ({
        place: index,
        account: place.account,
        workspace: place.workspace,
        resource_type: place.resourceType,
        billing_dimension: place.billingDimension,
        first_day: dayName(Math.min(...members.map(({ firstDay }) => firstDay))),
        last_day: dayName(Math.max(...members.map(({ lastDay }) => lastDay))),
      })),
    ),
  });
  const shares = places.map(({ place }) => ({
    place,
    days: new Map<number, { cost: number; steps: Map<Instant, StepPart> }>(),
  }));
  for (const row of rows) {
    const days = shares[Number(row['place'])]?.days;
    const number = Number(row['day']);
    const day = days?.get(number) ?? { cost: 0, steps: new Map<Instant, StepPart>() };
    const [cost, firstCost] = [Number(row['cost']), Number(row['first_cost'])];
    day.steps.set((Number(row['step']) * stepHours + align) * hourMs, { cost, firstCost });
    days?.set(number, { cost: day.cost + cost, steps: day.steps });
  }
  return shares;
}

/**
 * What is unusual in the costs, by place and step. A day has its impact in the hours that cost something, and at most its cost.
 * What a day cost less is spread over its hours. Named holidays stay as they are: forecasts learn what they cost. Pure.
 */
export function leftOutOf(
  anomalies: readonly KnownAnomaly[],
  shares: DayShares,
  cut: StepsCut,
  holidays: Holidays,
): LeftOut[] {
  return byPlace(anomalies).map(({ place, members }) => {
    const known = shares.find((one) => isSamePlace(one.place, place))?.days;
    const impacts = new Map<number, number>();
    for (const { firstDay, impacts: own } of members) {
      for (const [index, impact] of own.entries()) {
        const day = firstDay + index;
        if (!holidays.has(day)) impacts.set(day, (impacts.get(day) ?? 0) + impact);
      }
    }
    const steps = new Map<Instant, StepPart>();
    const add = (start: Instant, { cost, firstCost }: StepPart, times: number) => {
      const before = steps.get(start) ?? { cost: 0, firstCost: 0 };
      steps.set(start, { cost: before.cost + cost * times, firstCost: before.firstCost + firstCost * times });
    };
    for (const [day, impact] of impacts) {
      const own = known?.get(day);
      if (impact < 0) for (const [start, part] of evenDay(day, cut)) add(start, part, impact);
      else if (own !== undefined && own.cost > 0) {
        for (const [start, part] of own.steps) add(start, part, Math.min(1, impact / own.cost));
      }
    }
    return { place, anomalies: members, steps };
  });
}

/** One USD spread over the hours of a day. */
function evenDay(day: number, { stepHours, align, firstHours }: StepsCut): [Instant, StepPart][] {
  return Array.from({ length: 24 }, (_, hour) => {
    const since = day * 24 + hour - align;
    const within = ((since % stepHours) + stepHours) % stepHours;
    const cost = 1 / 24;
    return [(since - within + align) * hourMs, { cost, firstCost: within < firstHours ? cost : 0 }];
  });
}

function byPlace<T extends AnomalyPlace>(anomalies: readonly T[]): { place: AnomalyPlace; members: T[] }[] {
  const groups = new Map<string, T[]>();
  for (const one of anomalies) {
    const key = JSON.stringify([one.account, one.workspace, one.resourceType, one.billingDimension]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((members) => {
    const [place] = members;
    return place === undefined ? [] : [{ place, members }];
  });
}

/** What is unusual in all of these places, by step. Pure. */
export function unusualBySteps(leftOut: readonly LeftOut[]): ReadonlyMap<Instant, StepPart> {
  const sums = new Map<Instant, StepPart>();
  for (const [start, { cost, firstCost }] of leftOut.flatMap(({ steps }) => [...steps])) {
    const before = sums.get(start) ?? { cost: 0, firstCost: 0 };
    sums.set(start, { cost: before.cost + cost, firstCost: before.firstCost + firstCost });
  }
  return sums;
}

/** A cost without its unusual part: never below zero if it was not, because numbers may have been corrected since. Pure. */
export function without(cost: number, unusual: number): number {
  return unusual > 0 ? Math.max(Math.min(cost, 0), cost - unusual) : cost - unusual;
}

/**
 * Whether all costs of a budget are certainly costs of another one too, with the same periods and unit. Scopes by name, owner or
 * label are compared with an unlimited one only. Pure.
 */
export function isPartOf(inner: Budget, outer: Budget): boolean {
  if (inner.name === outer.name || inner.per !== undefined || outer.per !== undefined) return false;
  if (inner.period !== outer.period || inner.timeZone !== outer.timeZone || inner.scope.unit !== outer.scope.unit) {
    return false;
  }
  const { account, workspace, resource_type, billing_dimension, unit: _, ...others } = outer.scope;
  if (Object.keys(others).length > 0) return false;
  const within = (values: readonly string[] | undefined, all: readonly string[] | undefined) =>
    all === undefined || (values?.every((value) => all.includes(value)) ?? false);
  return (
    within(inner.scope.account, account) &&
    within(inner.scope.workspace, workspace) &&
    within(inner.scope.resource_type, resource_type) &&
    within(inner.scope.billing_dimension, billing_dimension)
  );
}
