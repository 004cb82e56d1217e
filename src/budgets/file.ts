import { join } from 'node:path';
import {
  choiceParser,
  entriesOf,
  type Given,
  gatherProblems,
  itemsOf,
  keysOf,
  type MappingRule,
  oneOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  parseYaml,
  quoted,
  readValue,
  readYamlFile,
} from '../config/index.ts';
import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import { usdDecimals } from '../money.ts';
import { type Severity, severities } from '../severity.ts';
import { addCalendarMonths, calendarOf, type Instant, type PeriodKind, periodKinds } from '../time.ts';

/** Decimals of a percentage. */
export const percentDecimals = 4;

export const thresholdSubjects = ['spent', 'forecast'] as const;

/** A point on a budget: reached where at least so much is spent, or is forecast to be spent at the period's end. */
export interface Threshold {
  /** What is compared with it: what is spent, or what the period is forecast to come to. */
  readonly of: (typeof thresholdSubjects)[number];
  /** `80%` or `4500 USD`: what tells it from the others of its budget, in the key of its alert too. */
  readonly code: string;
  /** Ten-thousandths of a percent of the budget's amount, or trillionths of a USD. */
  readonly at: { readonly percent: bigint } | { readonly usd: bigint };
  readonly severity: Severity;
  /** Names of sinks: its own, or those of the budget. */
  readonly notify: readonly string[];
}

/** Of what costs a budget is. A row must fit every key that is there, and a key fits with any of its values. */
export interface BudgetScope {
  readonly account?: readonly string[];
  readonly workspace?: readonly string[];
  readonly resource_type?: readonly string[];
  /** Patterns: `*` stands for any characters. */
  readonly resource_name?: readonly string[];
  readonly billing_dimension?: readonly string[];
  /** Of the allocation: owners along its dimensions, such as team. */
  readonly owner?: Readonly<Record<string, readonly string[]>>;
  /** Labels of the resource, by key. */
  readonly label?: Readonly<Record<string, readonly string[]>>;
}

/** A limit on what may be spent in each period. */
export interface Budget {
  readonly name: string;
  /** Where it stands: `jobs/budgets.yaml:2:5`. */
  readonly where: string;
  /** With what its parents say of theirs: a child is a part of its parent. */
  readonly scope: BudgetScope;
  readonly period: PeriodKind;
  /** Whose clocks tell where a period begins; they differ from UTC by whole hours. */
  readonly timeZone: string;
  /** Trillionths of a USD, above 0. */
  readonly amount: bigint;
  /** Amounts of single periods by their names, in the place of `amount`. */
  readonly amounts: ReadonlyMap<string, bigint>;
  readonly parent: string | undefined;
  /** At least one, in the order in which they stand in the file. */
  readonly thresholds: readonly Threshold[];
}

export interface BudgetsInput {
  readonly text: string;
  /** As problems name it. */
  readonly file: string;
  /** A zone must put the boundaries of the period at this instant on whole hours of UTC. */
  readonly now: Instant;
  /** Names of the sinks that there are; undefined where that is not to be looked at. */
  readonly sinks?: readonly string[] | undefined;
}

/** The file of a project's budgets. */
export function budgetsFile(dir: string): string {
  return join(dir, 'jobs', 'budgets.yaml');
}

/**
 * A project's budgets, or those of another file; undefined where there is no such file.
 * Throws one UsageError that lists every problem, one a line: `file:line:column: …`.
 */
export function loadBudgets(
  file: string,
  { now, sinks }: Pick<BudgetsInput, 'now' | 'sinks'>,
): readonly Budget[] | undefined {
  const text = readYamlFile(file);
  return text === undefined ? undefined : parseBudgets({ text, file, now, sinks });
}

/** What a text says of budgets. Pure. Throws one UsageError that lists every problem, one a line, by position. */
export function parseBudgets(input: BudgetsInput): readonly Budget[] {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(input.text, input.file, problems);
  const top = isSound && root.value !== null ? keysOf(root, topRule, problems) : undefined;
  const list = top?.get('budgets');
  const given = list ? itemsOf(list, 'a list of budgets such as - name: everything', problems) : [];
  const names = new Map<string, Place>();
  const parents: { readonly name: string; readonly place: Place }[] = [];
  const written = given.flatMap((item) => readBudget(item, input, { names, parents }, problems) ?? []);
  reportUnknownParents(parents, [...names.keys()], problems);
  const budgets = withParents(written, problems);
  problems.throwIfAny();
  return budgets;
}

/** What is an anomaly stands in the same file, and is read by src/anomalies. */
export const topRule: MappingRule = { keys: ['budgets', 'anomalies'], expected: 'budgets: and a list of them' };
const scopeTexts = ['account', 'workspace', 'resource_type', 'resource_name', 'billing_dimension'] as const;
/** Dimensions that an allocation without its own has: where they stand elsewhere it is known what was meant. */
const usualOwners = ['team', 'product', 'environment'];
const budgetKeys = ['name', 'scope', 'period', 'timeZone', 'amount', 'amounts', 'parent', 'thresholds', 'notify'];
const scopeKeys = [...scopeTexts, 'owner', 'label'];
const thresholdKeys = ['at', 'of', 'severity', 'notify'];
/** The keys of a file of budgets, by where they stand: what its schema is made of. */
export const budgetFileKeys = {
  top: topRule.keys,
  budget: budgetKeys,
  scope: scopeKeys,
  threshold: thresholdKeys,
} as const;
const places = {
  budget: { keys: budgetKeys, place: 'the budget itself' },
  scope: { keys: scopeKeys, place: 'scope' },
  owner: { keys: usualOwners, place: 'scope.owner' },
  threshold: { keys: thresholdKeys, place: 'a threshold' },
};
const budgetRule: MappingRule = {
  keys: budgetKeys,
  expected: 'a budget such as - name: everything; write it so',
  elsewhere: [places.scope, places.owner, places.threshold],
};
const scopeRule: MappingRule = {
  keys: scopeKeys,
  expected: 'a key such as workspace: research; write one or remove it',
  elsewhere: [places.owner, places.budget],
};
const thresholdRule: MappingRule = {
  keys: thresholdKeys,
  expected: 'a threshold such as { at: 80% }; write it so',
  elsewhere: [places.budget],
};

/** A budget as it was written, with the places of what is compared with other budgets. */
interface Written {
  readonly budget: Budget;
  readonly places: Readonly<Record<'parent' | 'amount', Place>>;
  readonly amountPlaces: ReadonlyMap<string, Place>;
  readonly scopePlaces: ReadonlyMap<string, Place>;
}

/** What budgets are named, and name their parents, also those with a mistake. */
interface Named {
  readonly names: Map<string, Place>;
  readonly parents: { readonly name: string; readonly place: Place }[];
}

/** One budget; undefined where it has a mistake. Its name is put among `names` in any case, and reported where it is there. */
function readBudget(
  item: Given,
  input: BudgetsInput,
  { names, parents }: Named,
  problems: Problems,
): Written | undefined {
  const keys = keysOf(item, budgetRule, problems);
  if (keys === undefined) return undefined;
  const here: Place = { where: item.where, position: item.position };
  function required<T>(key: string, parse: Parse<T>, expected: string): T | undefined {
    const given = keys?.get(key);
    if (given === undefined) problems.report(here, `found no ${key}, expected ${expected}; write it`);
    return readValue(given, parse, problems);
  }
  const name = required('name', parseBudgetName, 'a name such as name: everything');
  const period = required('period', parsePeriod, `one of ${oneOf(periodKinds)}`);
  const amount = required('amount', parseUsd, 'an amount such as amount: 5000 USD');
  const timeZone = readTimeZone(keys.get('timeZone'), period, input.now, problems);
  const amountPlaces = new Map<string, Place>();
  const amounts = readAmounts(keys.get('amounts'), period, timeZone, amountPlaces, problems);
  const notify = readNames(keys.get('notify'), sinkParser(input.sinks), 'a list of sinks', problems) ?? [];
  const thresholds = readThresholds(keys.get('thresholds'), notify, input.sinks, problems);
  const scopePlaces = new Map<string, Place>();
  const scope = readScope(keys.get('scope'), scopePlaces, problems);
  const parent = readValue(keys.get('parent'), parseBudgetName, problems);
  if (parent !== undefined) parents.push({ name: parent, place: keys.get('parent') ?? here });
  const namePlace = keys.get('name') ?? here;
  const first = name === undefined ? undefined : names.get(name);
  if (first !== undefined) {
    const line = first.position?.line;
    problems.report(namePlace, `found ${quoted(name ?? '')} a second time, first on line ${line}; rename one`);
  } else if (name !== undefined) names.set(name, namePlace);
  // What follows from a mistake is no news.
  if (name === undefined || period === undefined || amount === undefined || timeZone === undefined) return undefined;
  return {
    budget: { name, where: item.where, scope, period, timeZone, amount, amounts, parent, thresholds },
    places: {
      parent: keys.get('parent') ?? here,
      amount: keys.get('amount') ?? here,
    },
    amountPlaces,
    scopePlaces,
  };
}

export function refuse(found: string, expected: string): never {
  throw new UsageError(`found ${found}, expected ${expected}`);
}

const parseBudgetName: Parse<string> = (value) => {
  const text = parseText(value, 100);
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(text)) return text;
  return refuse(quoted(text), 'a name of letters, digits and . _ - without spaces');
};

const parsePeriod = choiceParser(periodKinds);
const parseSeverity = choiceParser(severities);
const parseSubject = choiceParser(thresholdSubjects);

/** `5000 USD` in trillionths of a USD. */
export const parseUsd: Parse<bigint> = (value) => {
  const found = typeof value === 'number' ? String(value) : quoted(parseText(value));
  const [, digits] = typeof value === 'string' ? (/^(\d{1,15}(?:\.\d{1,12})?) USD$/.exec(value) ?? []) : [];
  const usd = digits === undefined ? 0n : wholeOfDecimal(digits, usdDecimals);
  if (usd > 0n) return usd;
  return refuse(found, 'an amount above 0 such as 5000 USD or 0.25 USD, in USD and without signs between the digits');
};

function readTimeZone(
  given: Given | undefined,
  period: PeriodKind | undefined,
  now: Instant,
  problems: Problems,
): string | undefined {
  if (given === undefined) return 'UTC';
  const parse: Parse<string> = (value) => {
    const zone = parseText(value);
    calendarOf(period ?? 'monthly', zone).periodAt(now);
    // Clocks that are turned by half an hour are ahead by whole hours in a part of the year.
    const days = calendarOf('daily', zone);
    for (let month = -12; month <= 12; month += 1) days.periodAt(addCalendarMonths(now, month));
    return zone;
  };
  return readValue(given, parse, problems);
}

const periodExamples: Readonly<Record<PeriodKind, string>> = {
  daily: 'a day such as 2026-10-01',
  weekly: 'a week such as 2026-W40',
  monthly: 'a month such as 2026-10',
  quarterly: 'a quarter such as 2026-Q4',
  yearly: 'a year such as 2026',
};

function readAmounts(
  given: Given | undefined,
  period: PeriodKind | undefined,
  timeZone: string | undefined,
  amountPlaces: Map<string, Place>,
  problems: Problems,
): ReadonlyMap<string, bigint> {
  const amounts = new Map<string, bigint>();
  if (given === undefined) return amounts;
  const expected = period === undefined ? 'a period' : periodExamples[period];
  for (const [name, entry] of entriesOf(given, `${expected} and its amount`, problems) ?? []) {
    const amount = readValue(entry, parseUsd, problems);
    try {
      if (period !== undefined && calendarOf(period, timeZone).periodNamed(name) === undefined) {
        problems.report({ ...entry, key: undefined }, `found ${quoted(name)} as a period, expected ${expected}`);
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.report(entry, error.message);
    }
    if (amount !== undefined) amounts.set(name, amount);
    amountPlaces.set(name, entry);
  }
  return amounts;
}

function readThresholds(
  given: Given | undefined,
  notify: readonly string[],
  sinks: readonly string[] | undefined,
  problems: Problems,
): readonly Threshold[] {
  if (given === undefined) {
    const at = parseAt('100%');
    return [
      { of: 'spent', ...at, severity: 'critical', notify },
      { of: 'forecast', ...at, severity: 'warning', notify },
    ];
  }
  const thresholds: Threshold[] = [];
  for (const item of itemsOf(given, 'a list of thresholds such as - { at: 80% }', problems)) {
    const keys = keysOf(item, thresholdRule, problems);
    if (keys === undefined) continue;
    const at = keys.get('at');
    if (at === undefined) problems.report(item, 'found no at, expected one such as at: 80% or at: 4500 USD; write it');
    const read = readValue(at, parseAt, problems);
    const of = keys.has('of') ? readValue(keys.get('of'), parseSubject, problems) : 'spent';
    const severity = readValue(keys.get('severity'), parseSeverity, problems) ?? 'warning';
    const own = readNames(keys.get('notify'), sinkParser(sinks), 'a list of sinks', problems);
    if (read === undefined || of === undefined) continue;
    if (thresholds.some((other) => other.code === read.code && other.of === of)) {
      const found = of === 'spent' ? read.code : `${read.code} of ${of}`;
      problems.report(at ?? item, `found ${found} a second time in this budget; keep one`);
    }
    thresholds.push({ of, ...read, severity, notify: own ?? notify });
  }
  return thresholds;
}

/** `80%` or `4500 USD`. */
function parseAt(value: Parameters<Parse<unknown>>[0]): Pick<Threshold, 'code' | 'at'> {
  const found = typeof value === 'number' ? String(value) : parseText(value);
  const [, percentText] = /^(\d{1,4}(?:\.\d{1,4})?)%$/.exec(found) ?? [];
  const percent = percentText === undefined ? 0n : wholeOfDecimal(percentText, percentDecimals);
  if (percent > 0n) return { code: `${shortest(percent, percentDecimals)}%`, at: { percent } };
  if (!/^\d.* USD$/.test(found)) {
    return refuse(quoted(found), 'a share of the amount, up to 9999%, or an amount, above 0: 80%, 82.5% or 4500 USD');
  }
  const usd = parseUsd(found);
  return { code: `${shortest(usd, usdDecimals)} USD`, at: { usd } };
}

/** A decimal without zeros behind its last place: `82.5`, `5000`. */
export function shortest(whole: bigint, decimals: number): string {
  return decimalOfWhole(whole, decimals).replace(/\.?0+$/, '');
}

/** One text, or a list of them; repeated ones are reported. Undefined where nothing was given. */
export function readNames(
  given: Given | undefined,
  parse: Parse<string>,
  expected: string,
  problems: Problems,
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const isList = typeof given.value === 'object' && given.value?.kind === 'list';
  const names: string[] = [];
  for (const item of isList ? itemsOf(given, expected, problems) : [given]) {
    const name = readValue(item, parse, problems);
    if (name === undefined) continue;
    if (names.includes(name)) problems.report(item, `found ${quoted(name)} a second time; keep one`);
    else names.push(name);
  }
  return names;
}

export function sinkParser(sinks: readonly string[] | undefined): Parse<string> {
  return (value) => {
    const name = parseText(value, 100);
    if (sinks === undefined || sinks.includes(name)) return name;
    const guess = nearest(name, sinks);
    const known =
      sinks.length === 0 ? 'costbook.yaml has none: write it there, below sinks' : `expected ${oneOf(sinks)}`;
    throw new UsageError(
      `found the sink ${quoted(name)}, which costbook.yaml does not have; ${guess === undefined ? known : `did you mean ${guess}?`}`,
    );
  };
}

const parseScopeText: Parse<string> = (value) => parseText(value, 500);

/** A name without a pattern: where one is not understood, a star would look for itself. */
const parseExactText: Parse<string> = (value) => {
  const text = parseScopeText(value);
  if (!text.includes('*')) return text;
  return refuse(quoted(text), 'a name without *, which only resource_name understands; list the names');
};

const examples = {
  owner: 'a dimension of the allocation and its owner such as team: search',
  label: 'a label and its value such as tier: gold',
};

function readScope(given: Given | undefined, scopePlaces: Map<string, Place>, problems: Problems): BudgetScope {
  const keys = given && keysOf(given, scopeRule, problems);
  if (keys === undefined) return {};
  const scope: Record<string, BudgetScope[keyof BudgetScope]> = {};
  for (const key of scopeTexts) {
    const parse = key === 'resource_name' ? parseScopeText : parseExactText;
    const names = readNames(keys.get(key), parse, `a list of names`, problems);
    if (names !== undefined) scope[key] = names;
  }
  for (const group of ['owner', 'label'] as const) {
    const named = keys.get(group);
    const entries = named && entriesOf(named, examples[group], problems);
    if (named === undefined || entries === undefined) continue;
    if (entries.size === 0) problems.report(named, `found nothing in it, expected ${examples[group]}`);
    scope[group] = Object.fromEntries(
      [...entries].map(([name, entry]) => {
        scopePlaces.set(`${group}.${name}`, entry);
        return [name, readNames(entry, parseExactText, 'a list of values', problems) ?? []];
      }),
    );
  }
  const label = keys.get('label');
  if (label !== undefined && keys.has('owner')) {
    problems.report(label, 'found next to owner, expected one of the two; an allocation rule can be about labels');
  }
  for (const [key, entry] of keys) scopePlaces.set(key, entry);
  return scope as BudgetScope;
}

function reportUnknownParents(parents: Named['parents'], names: readonly string[], problems: Problems): void {
  for (const { name, place } of parents) {
    if (names.includes(name)) continue;
    const guess = nearest(name, names);
    const hint = guess === undefined ? `expected one of ${oneOf(names)}` : `did you mean ${guess}?`;
    problems.report(place, `found ${quoted(name)}, which is no budget of this file; ${hint}`);
  }
}

/** The budgets with the scopes of their parents, after everything was looked at that concerns two of them. */
function withParents(written: readonly Written[], problems: Problems): readonly Budget[] {
  const byName = new Map<string, Written>();
  for (const one of written) if (!byName.has(one.budget.name)) byName.set(one.budget.name, one);
  /** The parents of a budget, the nearest first; none where they go round in a circle, which is reported. */
  function ancestors(child: Written): readonly Written[] {
    const found: Written[] = [];
    let current = child;
    while (current.budget.parent !== undefined) {
      const parent = byName.get(current.budget.parent);
      if (parent === undefined) return found;
      if (parent === child) {
        const circle = [child, ...found].map(({ budget }) => budget.name).join(', ');
        problems.report(child.places.parent, `found a circle of parents: ${circle}; remove one of them`);
        return [];
      }
      if (found.includes(parent)) return []; // another budget's circle, reported there
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
    compareAmounts(
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
    `found ${own} below ${quoted(parent.budget.name)}, which is ${other}, expected the same periods; only then can ` +
      'amounts be compared',
  );
}

/** A child is a part of its parent: of what the parent names it may name nothing else. */
function compareScopes(child: Written, parent: Written, problems: Problems): void {
  for (const [own, other] of [
    ['owner', 'label'],
    ['label', 'owner'],
  ] as const) {
    if (child.budget.scope[own] === undefined || parent.budget.scope[other] === undefined) continue;
    problems.report(
      child.scopePlaces.get(own) ?? child.places.parent,
      `found below ${quoted(parent.budget.name)}, which is of ${other}, expected ${other}, as a budget is of one of the two; ` +
        'an allocation rule can be about labels',
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
      `found ${outside.map(quoted).join(', ')}, which the parent ${quoted(parent.budget.name)} does not have, expected a part of ` +
        `${oneOf(outer.map(quoted))}; a child's costs are among its parent's`,
    );
  }
}

/** Whether all that a value stands for is also what another stands for. */
function isCovered(key: string, value: string, other: string): boolean {
  if (key !== 'resource_name') return value === other;
  const pattern = other.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`, 's').test(value);
}

/** What the children of a budget have together may not be more than it has, in no period that any of them names. */
function compareAmounts(parent: Written, children: readonly Written[], problems: Problems): void {
  if (children.length === 0) return;
  const family = [parent, ...children];
  const named = new Set(family.flatMap(({ budget }) => [...budget.amounts.keys()]));
  for (const period of [undefined, ...named]) {
    const own = amountIn(parent.budget, period);
    const together = children.reduce((sum, { budget }) => sum + amountIn(budget, period), 0n);
    if (together <= own) continue;
    const place = (period !== undefined && parent.amountPlaces.get(period)) || parent.places.amount;
    problems.report(
      place,
      `found ${usdText(own)}${period === undefined ? '' : ` in ${period}`}, expected at least ${usdText(together)}, which its ` +
        `children have together (${children.map(({ budget }) => budget.name).join(', ')}); raise it, or lower theirs`,
    );
  }
}

/** What may be spent in a period, in trillionths of a USD; without a name, in one that none is named for. */
export function amountIn({ amount, amounts }: Budget, period: string | undefined): bigint {
  return (period === undefined ? undefined : amounts.get(period)) ?? amount;
}

/** `5000 USD`. */
export function usdText(whole: bigint): string {
  return `${shortest(whole, usdDecimals)} USD`;
}
