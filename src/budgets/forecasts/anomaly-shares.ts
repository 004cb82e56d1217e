import { matchesStars } from '../../text/star-pattern.ts';
import { dayMs, dayNamed, type Instant } from '../../time/time.ts';
import type { AnswerCache, Connection } from '../../warehouse/store/index.ts';
import type { AnomalyRow } from '../../warehouse/watch/index.ts';
import { type Budget, type BudgetScope, budgetCalendar } from '../rules/budget.ts';
import { costsOf } from '../spend/spend.ts';
import type { AnomalyPlace, KnownAnomaly } from './known-anomalies.ts';

/** By budget and anomaly, the part of the anomaly that is in the budget's costs: above 0, at most 1. */
export type AnomalyShares = ReadonlyMap<string, ReadonlyMap<string, number>>;

export const noShares: AnomalyShares = new Map();

/** Smaller parts of an anomaly say nothing of a budget. */
const leastShare = 0.05;
/** Resources with a smaller part of an anomaly, in percent, are not looked up. */
const leastPart = 5;

/**
 * The part of an anomaly that is in the costs of a budget: all or nothing for scopes of accounts, workspaces, types and
 * dimensions, and what `shares` say for those of owners, labels and names of resources. Usage says nothing about costs. Pure.
 */
export function partInBudget(
  budget: Pick<Budget, 'name' | 'scope' | 'per'>,
  anomaly: AnomalyPlace & { readonly key: string },
  shares: AnomalyShares = noShares,
): number {
  const { scope, per } = budget;
  if (per !== undefined || scope.unit !== undefined || !isPlaceIn(scope, anomaly)) return 0;
  return isOfResources(scope) ? (shares.get(budget.name)?.get(anomaly.key) ?? 0) : 1;
}

/** Whether costs of a place may be in a scope, whatever their resources are. Pure. */
export function isPlaceIn(
  { account, workspace, resource_type, billing_dimension }: BudgetScope,
  place: AnomalyPlace,
): boolean {
  const has = (values: readonly string[] | undefined, value: string | null) =>
    values === undefined || (value !== null && values.includes(value));
  return (
    has(account, place.account) &&
    has(workspace, place.workspace) &&
    has(resource_type, place.resourceType) &&
    has(billing_dimension, place.billingDimension)
  );
}

/** Whether it depends on the resource, not only on its place, whether a cost is in a scope. */
export function isOfResources({ owner, label, resource_name }: BudgetScope): boolean {
  return owner !== undefined || label !== undefined || resource_name !== undefined;
}

/** The anomalies in the costs of a budget, each with its part there. Pure. */
export function anomaliesIn(budget: Budget, known: readonly KnownAnomaly[], shares: AnomalyShares): KnownAnomaly[] {
  return known.flatMap((one) => {
    const share = partInBudget(budget, one, shares);
    return share > 0 ? [partOfAnomaly(one, share)] : [];
  });
}

/** An anomaly of which a budget has a part. */
function partOfAnomaly(anomaly: KnownAnomaly, share: number): KnownAnomaly {
  if (share === 1) return anomaly;
  const { impacts, goingOn } = anomaly;
  return {
    ...anomaly,
    impacts: impacts.map((impact) => impact * share),
    goingOn: goingOn && { ...goingOn, daily: goingOn.daily * share },
  };
}

/** The resources behind an anomaly, as its detail names them. */
interface Driver {
  readonly resourceName: string | null;
  /** USD on all of its days. */
  readonly cost: string;
  /** Percent of the difference. */
  readonly part: number;
}

/**
 * Which part of each recent anomaly is in the costs of budgets of owners, labels and names: what its resources cost there on
 * its days, of all that they cost.
 */
export async function readAnomalyShares(
  connection: Connection,
  all: readonly Budget[],
  {
    rows,
    now,
    cache,
  }: { readonly rows: readonly AnomalyRow[]; readonly now: Instant; readonly cache?: AnswerCache | undefined },
): Promise<AnomalyShares> {
  const budgets = all.filter(({ scope, per }) => per === undefined && scope.unit === undefined && isOfResources(scope));
  const asked = budgets.flatMap((budget) => rows.flatMap((row) => questionsOf(budget, row, now)));
  if (asked.length === 0) return noShares;
  const costs = await costsOf(connection, asked, cache);
  const shares = new Map<string, Map<string, { own: number; whole: number }>>();
  for (const [index, { budget, key, driver, whole }] of asked.entries()) {
    const ofBudget = shares.get(budget.name) ?? new Map<string, { own: number; whole: number }>();
    shares.set(budget.name, ofBudget);
    const known = ofBudget.get(key) ?? { own: 0, whole };
    const cost = Number(driver.cost) * 1e12;
    const share = cost > 0 ? Math.min(1, Math.max(0, Number(costs[index]?.total ?? 0n) / cost)) : 0;
    ofBudget.set(key, { own: known.own + driver.part * share, whole });
  }
  return new Map(
    [...shares].map(([name, ofBudget]) => [
      name,
      new Map(
        [...ofBudget].flatMap(([key, { own, whole }]) =>
          own / whole < leastShare ? [] : [[key, own / whole] as const],
        ),
      ),
    ]),
  );
}

/** A window for each resource of an anomaly that may be in a budget, with the parts of all whose place is known, together. */
function questionsOf(budget: Budget, row: AnomalyRow, now: Instant) {
  const place = {
    ...{ account: row.account, workspace: row.workspace },
    ...{ resourceType: row.resource_type, billingDimension: row.billing_dimension },
  };
  const calendar = budgetCalendar(budget);
  // Messages compare a period with the one before.
  const from = calendar.periodAt(calendar.periodAt(now).start - 1).start;
  const [start, end] = [dayNamed(row.first_day) * dayMs, (dayNamed(row.last_day) + 1) * dayMs];
  if (!row.is_up || !row.is_notified || end <= from || !isPlaceIn(budget.scope, place)) return [];
  const { drivers = [] } = JSON.parse(row.detail) as { readonly drivers?: readonly Driver[] };
  const { resource_name: patterns } = budget.scope;
  // What has no name is outside of budgets of names. Whose it is, nobody knows.
  const placed = drivers.filter(
    ({ resourceName, part }) => part >= leastPart && (patterns !== undefined || resourceName !== null),
  );
  const whole = placed.reduce((sum, { part }) => sum + part, 0);
  return placed.flatMap((driver) => {
    const { resourceName: name } = driver;
    if (name === null || !isNamed(budget.scope, name)) return [];
    const scope: BudgetScope = {
      ...{ ...budget.scope, account: [row.account], resource_name: [name] },
      ...(row.workspace === null ? {} : { workspace: [row.workspace] }),
      ...(row.resource_type === null ? {} : { resource_type: [row.resource_type] }),
      ...(row.billing_dimension === null ? {} : { billing_dimension: [row.billing_dimension] }),
    };
    return [{ budget: { name: budget.name, scope }, key: row.anomaly_key, driver, whole, start, end }];
  });
}

/** Whether a name matches one of a scope's patterns, in which * stands for any text. */
function isNamed({ resource_name: patterns }: BudgetScope, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesStars(name, pattern));
}
