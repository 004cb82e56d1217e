import { hourMs, type Instant } from '../../time/time.ts';
import type { AnswerCache, Connection } from '../../warehouse/store/index.ts';
import type { Budget, BudgetScope, PlannedChange } from '../rules/budget.ts';
import type { ChangePart } from '../rules/planned-change.ts';
import { exactValues } from '../rules/read-parts.ts';
import { costsOf } from '../spend/spend.ts';
import type { ForecastScope } from './forecast-rows.ts';

/** The costs of this many hours decide which share of a forecast a change concerns. */
const shareHours = 28 * 24;

/** The part of each change that concerns the costs of a budget. */
export async function changeParts(
  connection: Connection,
  budget: Pick<Budget, 'scope'>,
  changes: readonly PlannedChange[],
  completeThrough: Instant,
  cache?: AnswerCache | undefined,
): Promise<readonly ChangePart[]> {
  const parts: ChangePart[] = [];
  for (const change of changes) parts.push(await partOf(connection, budget, change, completeThrough, cache));
  return parts;
}

async function partOf(
  connection: Connection,
  budget: Pick<Budget, 'scope'>,
  change: PlannedChange,
  completeThrough: Instant,
  cache: AnswerCache | undefined,
): Promise<ChangePart> {
  const isPercent = 'percent' in change.effect;
  if (!isPercent && budget.scope.unit !== undefined) {
    return { change, share: undefined, reason: `it is in USD, and the budget in ${budget.scope.unit}` };
  }
  const both = commonScope(budget.scope, change.scope);
  if (both === undefined) return { change, share: 0, reason: 'its scope has no cost of this budget' };
  if (both === 'unknown') {
    return { change, share: undefined, reason: 'one of the two scopes names owners, and the other labels' };
  }
  // Without a key more than the outer scope, the common scope is the inner one.
  if (isPercent ? isWithin(budget.scope, change.scope) : isWithin(change.scope, budget.scope))
    return { change, share: 1 };
  const whole = isPercent ? budget.scope : change.scope;
  const window = { start: completeThrough - shareHours * hourMs, end: completeThrough };
  const [part, all] = await costsOf(
    connection,
    [both, whole].map((scope) => ({ budget: { scope }, ...window })),
    cache,
  );
  if (all === undefined || all.total <= 0n) {
    return { change, share: undefined, reason: 'its share is unknown: its scope had no costs in the last 28 days' };
  }
  const share = Math.min(1, Math.max(0, Number(part?.total ?? 0n) / Number(all.total)));
  return share > 0
    ? { change, share }
    : { change, share, reason: 'its scope had no costs in this budget in the last 28 days' };
}

/** The part of each change that concerns a resource type in a workspace; null if the platform reports none. */
export async function changePartsOf(
  connection: Connection,
  { account, workspace, resourceType }: Extract<ForecastScope, { kind: 'workspace' }>,
  changes: readonly PlannedChange[],
  completeThrough: Instant,
  cache?: AnswerCache | undefined,
): Promise<readonly ChangePart[]> {
  const scope = {
    account: [account],
    ...(workspace === null ? {} : { workspace: [workspace] }),
    ...(resourceType === null ? {} : { resource_type: [resourceType] }),
  };
  const parts = await changeParts(connection, { scope }, changes, completeThrough, cache);
  return parts.map((part) => {
    const { change } = part;
    const isElsewhere =
      (workspace === null && change.scope.workspace !== undefined) ||
      (resourceType === null && change.scope.resource_type !== undefined);
    if (isElsewhere) return { change, share: 0, reason: 'its scope has no cost of this' };
    // Costs without a name cannot be asked for alone.
    const isUnknown = (workspace === null || resourceType === null) && part.share !== 1 && part.share !== 0;
    return isUnknown ? { change, share: undefined, reason: 'its share of costs without a name is unknown' } : part;
  });
}

/** The costs that are in both scopes; undefined if there can be none. */
function commonScope(budget: BudgetScope, change: BudgetScope): BudgetScope | undefined | 'unknown' {
  if ((budget.owner && change.label) || (budget.label && change.owner)) return 'unknown';
  const common: Record<string, unknown> = { ...budget };
  const own = exactValues(budget);
  for (const [key, values] of exactValues(change)) {
    const known = own.get(key);
    const both = known === undefined ? values : values.filter((value) => known.includes(value));
    if (both.length === 0) return undefined;
    const [, group, name = ''] = /^(owner|label)\.(.+)$/s.exec(key) ?? [];
    if (group === undefined) common[key] = both;
    else common[group] = { ...(common[group] as Record<string, unknown>), [name]: both };
  }
  return common as BudgetScope;
}

/** Whether every cost of a scope is certainly in another one. */
function isWithin(inner: BudgetScope, outer: BudgetScope): boolean {
  if (outer.resource_name !== undefined) return false;
  const own = exactValues(inner);
  return [...exactValues(outer)].every(
    ([key, values]) => own.get(key)?.every((value) => values.includes(value)) ?? false,
  );
}
