import { oneOf, quoted } from '../choices.ts';
import type { Place, Problems } from '../config/index.ts';
import { nearest } from '../did-you-mean.ts';
import { amountIn, type Budget, type BudgetScope, usdText } from './budget.ts';
import { scopeTexts } from './file-keys.ts';

/** A budget from the file, with the places of the values that are compared with other budgets. */
export interface Written {
  readonly budget: Budget;
  readonly places: Readonly<Record<'parent' | 'amount', Place>>;
  readonly amountPlaces: ReadonlyMap<string, Place>;
  readonly scopePlaces: ReadonlyMap<string, Place>;
}

/** The names of budgets and of their parents, including budgets with a mistake. */
export interface Named {
  readonly names: Map<string, Place>;
  readonly parents: { readonly name: string; readonly place: Place }[];
}

export function reportUnknownParents(parents: Named['parents'], names: readonly string[], problems: Problems): void {
  for (const { name, place } of parents) {
    if (names.includes(name)) continue;
    const guess = nearest(name, names);
    const hint = guess === undefined ? `expected one of ${oneOf(names)}` : `did you mean ${guess}?`;
    problems.report(place, `found ${quoted(name)}, which is not a budget in this file; ${hint}`);
  }
}

/** Adds the scopes of parents to their children, and reports every conflict between two budgets. */
export function withParents(written: readonly Written[], problems: Problems): readonly Budget[] {
  const byName = new Map<string, Written>();
  for (const one of written) if (!byName.has(one.budget.name)) byName.set(one.budget.name, one);
  /** The parents of a budget, the nearest first. Reports a circle of parents and returns none. */
  function ancestors(child: Written): readonly Written[] {
    const found: Written[] = [];
    let current = child;
    while (current.budget.parent !== undefined) {
      const parent = byName.get(current.budget.parent);
      if (parent === undefined) return found;
      if (parent === child) {
        const circle = [child, ...found].map(({ budget }) => budget.name).join(', ');
        problems.report(child.places.parent, `found a circle of parents: ${circle}; remove one of these parents`);
        return [];
      }
      if (found.includes(parent)) return []; // the circle of another budget, which reports it
      found.push(parent);
      current = parent;
    }
    return found;
  }
  const lines = written.map((child) => ({ child, parents: ancestors(child) }));
  for (const { child, parents } of lines) {
    const [parent] = parents;
    if (parent !== undefined) comparePeriods(child, parent, problems);
    for (const ancestor of parents) compareScopes(child, ancestor, problems);
  }
  for (const parent of written) {
    const children = lines.filter(({ child, parents }) => parents[0] === parent && isComparable(child, parent));
    compareLimits(
      parent,
      children.map(({ child }) => child),
      problems,
    );
  }
  return lines.map(({ child, parents }) => ({
    ...child.budget,
    scope: parents.reduce((scope, { budget }) => within(budget.scope, scope), child.budget.scope),
  }));
}

function within(outer: BudgetScope, inner: BudgetScope): BudgetScope {
  return {
    ...outer,
    ...inner,
    ...(outer.owner || inner.owner ? { owner: { ...outer.owner, ...inner.owner } } : {}),
    ...(outer.label || inner.label ? { label: { ...outer.label, ...inner.label } } : {}),
  };
}

function isComparable({ budget: child }: Written, { budget: parent }: Written): boolean {
  return child.period === parent.period && child.timeZone === parent.timeZone;
}

function comparePeriods(child: Written, parent: Written, problems: Problems): void {
  if (isComparable(child, parent)) return;
  const [own, other] = [child, parent].map(({ budget }) => `${budget.period} in ${budget.timeZone}`);
  problems.report(
    child.places.parent,
    `found ${own} below ${quoted(parent.budget.name)}, which is ${other}, expected the same periods, so that ` +
      'amounts can be compared',
  );
}

/** A child is a part of its parent, so it may only name values that the parent also names. */
function compareScopes(child: Written, parent: Written, problems: Problems): void {
  for (const [own, other] of [
    ['owner', 'label'],
    ['label', 'owner'],
  ] as const) {
    if (child.budget.scope[own] === undefined || parent.budget.scope[other] === undefined) continue;
    problems.report(
      child.scopePlaces.get(own) ?? child.places.parent,
      `found ${own}, but the parent ${quoted(parent.budget.name)} uses ${other}; use ${other} here too, because a budget has one of the two; ` +
        'an allocation rule can match labels',
    );
  }
  for (const key of scopeTexts) {
    reportOutside(key, child.budget.scope[key], parent.budget.scope[key]);
  }
  for (const group of ['owner', 'label'] as const) {
    for (const [key, outer] of Object.entries(parent.budget.scope[group] ?? {})) {
      reportOutside(`${group}.${key}`, child.budget.scope[group]?.[key], outer);
    }
  }
  function reportOutside(
    key: string,
    inner: readonly string[] | undefined,
    outer: readonly string[] | undefined,
  ): void {
    if (inner === undefined || outer === undefined) return;
    const outside = inner.filter((value) => !outer.some((pattern) => isCovered(key, value, pattern)));
    if (outside.length === 0) return;
    problems.report(
      child.scopePlaces.get(key) ?? child.places.parent,
      `found ${outside.map(quoted).join(', ')}, which the parent ${quoted(parent.budget.name)} does not include, expected only ` +
        `${oneOf(outer.map(quoted))}; a parent includes all costs of its children`,
    );
  }
}

/** Whether everything that a value matches is also matched by another value. */
function isCovered(key: string, value: string, other: string): boolean {
  if (key !== 'resource_name') return value === other;
  const pattern = other.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`, 's').test(value);
}

/** The amounts of children may not add up to more than their parent's, in any period that one of them names. */
function compareLimits(parent: Written, children: readonly Written[], problems: Problems): void {
  if (children.length === 0) return;
  const family = [parent, ...children];
  const named = new Set(family.flatMap(({ budget }) => [...budget.limits.keys()]));
  for (const period of [undefined, ...named]) {
    const own = amountIn(parent.budget, period);
    const together = children.reduce((sum, { budget }) => sum + amountIn(budget, period), 0n);
    if (together <= own) continue;
    const place = (period !== undefined && parent.amountPlaces.get(period)) || parent.places.amount;
    problems.report(
      place,
      `found ${usdText(own)}${period === undefined ? '' : ` in ${period}`}, expected at least ${usdText(together)}, the sum of its ` +
        `children (${children.map(({ budget }) => budget.name).join(', ')}); raise it, or lower theirs`,
    );
  }
}
