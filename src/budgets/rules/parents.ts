import { usdDecimals } from '../../money/money.ts';
import { nearest, oneOf, quoted } from '../../text/choices.ts';
import { matchesStars } from '../../text/star-pattern.ts';
import type { CalendarPeriod, Instant } from '../../time/time.ts';
import type { Place, Problems } from '../../yaml/index.ts';
import { type Budget, type BudgetScope, budgetCalendar, plannedIn, shortest, unitOf } from './budget.ts';
import { scopeTexts } from './file-keys.ts';
import type { PartWritten } from './read-parts.ts';

/** A budget from the file, with the places of the values that are compared with other budgets. */
export interface Written {
  readonly budget: Budget;
  readonly places: Readonly<Record<'parent' | 'amount', Place>>;
  readonly amountPlaces: ReadonlyMap<string, Place>;
  readonly scopePlaces: ReadonlyMap<string, Place>;
  readonly parts: readonly PartWritten[];
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
export function withParents(written: readonly Written[], now: Instant, problems: Problems): readonly Budget[] {
  const byName = new Map<string, Written>();
  for (const one of written) if (!byName.has(one.budget.name)) byName.set(one.budget.name, one);
  /** The parents of a budget, the nearest first. Reports a circle of parents and returns none. */
  function ancestors(child: Written): readonly Written[] {
    const parents = new Set<Written>();
    let current = child;
    while (current.budget.parent !== undefined) {
      const parent = byName.get(current.budget.parent);
      if (parent === undefined) break;
      if (parent === child) {
        const circle = [child, ...parents].map(({ budget }) => budget.name).join(', ');
        problems.report(child.places.parent, `found a circle of parents: ${circle}; remove one of these parents`);
        return [];
      }
      if (parents.has(parent)) return []; // the circle of another budget, which reports it
      parents.add(parent);
      current = parent;
    }
    return [...parents];
  }
  const lines = written.map((child) => ({ child, parents: ancestors(child) }));
  const parentOf = new Map(lines.map(({ child, parents: [parent] }) => [child, parent]));
  const childrenOf = new Map(written.map((parent): [Written, Written[]] => [parent, []]));
  for (const [child, parent] of parentOf) if (parent !== undefined) childrenOf.get(parent)?.push(child);
  const hasScope = new Set(written.filter(({ budget: { scope } }) => Object.keys(scope).length > 0));
  const scopes = new Map<Written, BudgetScope>();
  /** The scope of a budget with those of its parents, each made once. */
  function scopeOf(child: Written): BudgetScope {
    // Without recursion: a chain may be longer than the stack.
    const unknown: Written[] = [];
    let at: Written | undefined = child;
    for (; at !== undefined && !scopes.has(at); at = parentOf.get(at)) unknown.push(at);
    let scope: BudgetScope = at === undefined ? {} : (scopes.get(at) ?? {});
    for (const one of unknown.toReversed()) {
      scope = parentOf.get(one) === undefined ? one.budget.scope : within(scope, one.budget.scope);
      scopes.set(one, scope);
    }
    return scope;
  }
  for (const { child, parents } of lines) {
    const [parent] = parents;
    if (parent !== undefined) {
      comparePeriods(child, parent, problems);
      compareUnits(child, parent, problems);
    }
    const narrower = { scope: child.budget.scope, places: child.scopePlaces, otherwise: child.places.parent };
    for (const outer of parents) {
      if (hasScope.has(outer)) compareScopes(narrower, { ...outer.budget, is: 'the parent' }, problems);
    }
    for (const { scope, scopePlaces, place } of child.parts) {
      const part = { scope, places: scopePlaces, otherwise: place };
      compareScopes(part, { ...child.budget, is: 'the budget' }, problems);
    }
  }
  for (const [parent, children] of childrenOf) {
    compareLimits(
      parent,
      children.filter((child) => isComparable(child, parent)),
      now,
      problems,
    );
  }
  return written.map((child) => {
    const { budget, parts } = child;
    const scope = scopeOf(child);
    const shared = parts.map((part) => ({ name: part.name, scope: within(scope, part.scope) }));
    return { ...budget, scope, ...(parts.length === 0 ? {} : { parts: shared }) };
  });
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
  return child.period === parent.period && child.timeZone === parent.timeZone && unitOf(child) === unitOf(parent);
}

function compareUnits({ budget: child, places }: Written, { budget: parent }: Written, problems: Problems): void {
  if (unitOf(child) === unitOf(parent)) return;
  problems.report(
    places.amount,
    `found ${unitOf(child)} below ${quoted(parent.name)}, which is in ${unitOf(parent)}, expected the same unit, so ` +
      'that amounts can be compared',
  );
}

function comparePeriods(child: Written, parent: Written, problems: Problems): void {
  if (child.budget.period === parent.budget.period && child.budget.timeZone === parent.budget.timeZone) return;
  const [own, other] = [child, parent].map(({ budget }) => `${budget.period} in ${budget.timeZone}`);
  problems.report(
    child.places.parent,
    `found ${own} below ${quoted(parent.budget.name)}, which is ${other}, expected the same periods, so that ` +
      'amounts can be compared',
  );
}

/** A child or part may only name values that the outer budget also names. */
function compareScopes(
  inner: { readonly scope: BudgetScope; readonly places: ReadonlyMap<string, Place>; readonly otherwise: Place },
  outer: Pick<Budget, 'name' | 'scope'> & { readonly is: string },
  problems: Problems,
): void {
  const outerName = `${outer.is} ${quoted(outer.name)}`;
  for (const [own, other] of [
    ['owner', 'label'],
    ['label', 'owner'],
  ] as const) {
    if (inner.scope[own] === undefined || outer.scope[other] === undefined) continue;
    problems.report(
      inner.places.get(own) ?? inner.otherwise,
      `found ${own}, but ${outerName} uses ${other}; use ${other} here too, because a budget has one of the two; ` +
        'an allocation rule can match labels',
    );
  }
  for (const key of scopeTexts) {
    reportOutside(key, inner.scope[key], outer.scope[key]);
  }
  for (const group of ['owner', 'label'] as const) {
    for (const [key, values] of Object.entries(outer.scope[group] ?? {})) {
      reportOutside(`${group}.${key}`, inner.scope[group]?.[key], values);
    }
  }
  function reportOutside(key: string, own: readonly string[] | undefined, all: readonly string[] | undefined): void {
    if (own === undefined || all === undefined) return;
    const outside = own.filter((value) => !all.some((pattern) => isCovered(key, value, pattern)));
    if (outside.length === 0) return;
    const what =
      outer.is === 'the parent' ? 'a parent includes all costs of its children' : 'a budget includes all of its parts';
    problems.report(
      inner.places.get(key) ?? inner.otherwise,
      `found ${outside.map(quoted).join(', ')}, which ${outerName} does not include, expected only ${oneOf(all.map(quoted))}; ${what}`,
    );
  }
}

/** Whether everything that a value matches is also matched by another value. */
function isCovered(key: string, value: string, other: string): boolean {
  return key === 'resource_name' ? matchesStars(value, other) : value === other;
}

/** The amounts of children may not add up to more than their parent's, in any period that one of them names. */
function compareLimits(parent: Written, children: readonly Written[], now: Instant, problems: Problems): void {
  if (children.length === 0) return;
  const family = [parent, ...children].map(({ budget }) => budget);
  const named = new Set(family.flatMap(({ limits }) => [...limits.keys()]));
  const text = (amount: bigint) => `${shortest(amount, usdDecimals)} ${unitOf(parent.budget)}`;
  const excess = (own: bigint, together: bigint, place: Place, when: string) => {
    problems.report(
      place,
      `found ${text(own)}${when}, expected at least ${text(together)}, the sum of its ` +
        `children (${children.map(({ budget }) => budget.name).join(', ')}); raise it, or lower theirs`,
    );
  };
  const sumOf = (amount: (budget: Budget) => bigint) => children.reduce((sum, { budget }) => sum + amount(budget), 0n);
  const isPlanned = family.some(({ steps, growth }) => steps !== undefined || growth !== undefined);
  if (!isPlanned) {
    const together = sumOf(({ amount }) => amount);
    if (together > parent.budget.amount) excess(parent.budget.amount, together, parent.places.amount, '');
  }
  for (const period of named) {
    const [own, together] = [plannedIn(parent.budget, period), sumOf((budget) => plannedIn(budget, period))];
    const place = parent.amountPlaces.get(period) ?? parent.places.amount;
    if (together > own) excess(own, together, place, ` in ${period}`);
  }
  // Of amounts that change by themselves, only the first period with a mistake.
  for (const period of isPlanned ? plannedPeriods(family, now) : []) {
    if (named.has(period.name)) continue;
    const amountOf = (budget: Budget) => plannedIn(budget, period.name, period);
    const [own, together] = [amountOf(parent.budget), sumOf(amountOf)];
    if (together <= own) continue;
    excess(own, together, parent.places.amount, ` in ${period.name}`);
    return;
  }
}

/** How many periods after now are compared, of amounts that grow. */
const periodsAhead = 60;
const mostPeriods = 5000;

/** The periods from the first change of an amount to some years ahead. */
function plannedPeriods(family: readonly Budget[], now: Instant): CalendarPeriod[] {
  const [any] = family;
  if (any === undefined) return [];
  const calendar = budgetCalendar(any);
  const starts = family.flatMap(({ steps = [], growth }) => [
    ...steps.map(({ from }) => from),
    ...(growth === undefined ? [] : [calendar.periodNamed(growth.from)?.start ?? now]),
  ]);
  // Before the first of them, amounts are constant.
  let period = calendar.periodAt(Math.min(now, ...starts) - 1);
  const periods: CalendarPeriod[] = [];
  for (let ahead = 0; ahead < periodsAhead && periods.length < mostPeriods; ) {
    periods.push(period);
    if (period.start > Math.max(now, ...starts)) ahead += 1;
    period = calendar.periodAt(period.end);
  }
  return periods;
}
