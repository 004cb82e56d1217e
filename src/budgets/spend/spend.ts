import { moneyOf, moneyText } from '../../money/money.ts';
import { costOfDay, knownHours } from '../../outlook/index.ts';
import { nearest } from '../../text/choices.ts';
import { type CalendarPeriod, calendarOf, formatInstant, hourMs, type Instant, type Window } from '../../time/time.ts';
import { type Completeness, completeness } from '../../warehouse/ledger/index.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../../warehouse/store/index.ts';
import { type AnswerCache, cachedRows, rowsWithOwners } from '../../warehouse/store/index.ts';
import { type Budget, type BudgetPart, type BudgetScope, budgetCalendar } from '../rules/budget.ts';
import { fromBooks, unitOfBooks } from '../rules/usage-unit.ts';
import { perUnit } from './cost-per-unit.ts';
import { reachedAt, readKnown } from './coverage-known.ts';
import {
  type BudgetFact,
  type Driver,
  evaluateBudgets,
  type PartSpend,
  type Spend,
  watchedPeriods,
} from './thresholds.ts';

/** How fast a budget is spent, and the hours from which that is computed. */
export interface BurnRate extends Window {
  /** Trillionths of the budget's unit in 24 hours, rounded. */
  readonly perDay: bigint;
}

/** A spend with more figures for the current period. */
export interface SpendNow extends Spend {
  /** Undefined if no hour is complete in every account. */
  readonly burnRate: BurnRate | undefined;
  /** The part of `spent` in hours that are not complete yet, which may grow; undefined if unknown. */
  readonly spentSince: bigint | undefined;
  /** Of a budget in a unit of usage: the billing dimensions whose usage counts. */
  readonly dimensions?: readonly string[];
}

/** Facts about the accounts that the books do not have. */
export interface SpendsAsked {
  readonly now: Instant;
  /** Books that are complete through an earlier instant have gaps. */
  readonly freshnessHours: number;
  /** Accounts that the configuration names; empty means all. No new data is expected for others. */
  readonly configured: readonly string[];
  /** Answers that are known already, and to which new ones are added. */
  readonly cache?: AnswerCache | undefined;
}

/** Hours of a burn rate: whole weeks, so that every weekday counts the same. */
const burnHours = 7 * 24;

/** Resources listed with a spend. */
const driverCount = 3;

/**
 * Spend of budgets in the given periods, in order. If a scope needs data that the books do not have (owners without an
 * allocation, labels without an inventory), `spent` is undefined and `gaps` says why.
 */
export async function readSpends(
  connection: Connection,
  asked: readonly { readonly budget: Budget; readonly period: CalendarPeriod }[],
  given: SpendsAsked,
): Promise<SpendNow[]> {
  const sums = await readSums(connection, asked, given);
  const spends: SpendNow[] = [];
  for (const [line, spend] of sums.entries()) {
    const budget = asked[line]?.budget;
    if (budget?.per === undefined) {
      spends.push(spend);
      continue;
    }
    // A ratio does not add up, so it has no pace.
    const plain = { ...spend, spentSince: undefined, burnRate: undefined };
    const made = await perUnit(budget, plain, (windows) =>
      costsOf(
        connection,
        windows.map((window) => ({ budget, ...window })),
        given.cache,
      ),
    );
    spends.push(made);
  }
  return spends;
}

/** The costs or usage of budgets in the given periods. */
async function readSums(
  connection: Connection,
  asked: readonly { readonly budget: Budget; readonly period: CalendarPeriod }[],
  { now, freshnessHours, configured, cache }: SpendsAsked,
): Promise<SpendNow[]> {
  const accounts = await completeness(connection, cache);
  const distinct = [...new Set(asked.map(({ budget }) => budget))];
  const partsByBudget = new Map(distinct.map((budget) => [budget, partsOf(budget)]));
  const unanswerable = await unanswerableOf(connection, [...distinct, ...[...partsByBudget.values()].flat()], cache);
  const unread = asked.some(({ budget }) => budget.scope.label !== undefined)
    ? await unreadListings(connection, cache)
    : [];
  const dimensions = await dimensionsCounted(connection, distinct, cache);
  const lines = asked.map(({ budget, period }) => {
    const ours = accounts.filter(({ account }) => budget.scope.account?.includes(account) ?? true);
    const expected = expectedOf(budget, accounts, configured);
    const completeThrough = earliest(expected);
    const dueThrough = Math.min(period.end, now - freshnessHours * hourMs);
    const named = budget.scope.account?.filter((account) => !ours.some((row) => row.account === account)) ?? [];
    return {
      budget,
      period,
      accounts: ours.map(({ account }) => account),
      completeThrough,
      burning: burningHours(expected, completeThrough),
      isAnswerable: !unanswerable.has(budget),
      isOutOfDate: expected.some((one) => (one.completeThrough ?? 0) < dueThrough),
      parts: (partsByBudget.get(budget) ?? []).map((part) => (unanswerable.has(part) ? undefined : part)),
      gaps: [
        ...new Set([budget, ...(partsByBudget.get(budget) ?? [])].flatMap((each) => unanswerable.get(each) ?? [])),
        ...(accounts.length === 0 ? ['no account is in the books'] : []),
        ...named.map((account) => `account ${account} is not in the books`),
        ...expected.flatMap((account) => gapsOf(account, period, dueThrough)),
        ...unread.filter((listing) => isAskedOf(budget, listing)).map(({ sentence }) => sentence),
      ],
    };
  });
  const spendWindows = lines.flatMap(windowsOf);
  const costs = await costsOf(connection, spendWindows, cache);
  const covered = await coveredHours(
    connection,
    lines.map(({ period }) => period),
    cache,
  );
  return lines.map(
    ({ budget, period, accounts: ours, completeThrough, burning, isAnswerable, parts, gaps, isOutOfDate }, line) => {
      const costOf = (of: string) =>
        costs[spendWindows.findIndex((spendWindow) => spendWindow.line === line && spendWindow.of === of)];
      const hasHours = covered.some((row) => row.spendWindow === line && row.hours > 0 && ours.includes(row.account));
      const isKnown = isAnswerable && hasHours;
      const { total: spent = 0n, drivers = [] } = costOf('period') ?? {};
      const isComplete = completeThrough !== undefined && completeThrough >= period.end;
      const { total: complete = isComplete ? spent : 0n } = costOf('complete') ?? {};
      const { total: burnt = 0n } = costOf('burning') ?? {};
      return {
        budget: budget.name,
        period,
        spent: isKnown ? spent : undefined,
        spentSince: isKnown ? spent - complete : undefined,
        completeThrough,
        gaps,
        isOutOfDate,
        drivers: isKnown ? drivers : [],
        ...(budget.scope.unit === undefined ? {} : { dimensions: dimensions.get(budget) ?? [] }),
        ...(budget.parts === undefined ? {} : { parts: partSpends(budget.parts, parts, isKnown, costOf) }),
        burnRate:
          burning === undefined || !isAnswerable
            ? undefined
            : { ...burning, perDay: costOfDay({ ...burning, spent: burnt }) },
      };
    },
  );
}

/** The billing dimensions whose usage counts, of budgets in a unit of usage. */
async function dimensionsCounted(
  connection: Connection,
  given: readonly Budget[],
  cache: AnswerCache | undefined,
): Promise<ReadonlyMap<Budget, readonly string[]>> {
  const budgets = given.filter(({ scope }) => scope.unit !== undefined);
  const counted = new Map<Budget, string[]>(budgets.map((budget) => [budget, []]));
  if (budgets.length === 0) return counted;
  const asked = { scopes: scopesForSql(budgets) };
  const rows = await cachedRows(connection, cache, ['budgets', 'dimensions_counted'], asked, 'names');
  for (const row of rows) {
    const budget = budgets[Number(row['id'])];
    if (budget !== undefined) counted.get(budget)?.push(String(row['billing_dimension']));
  }
  return counted;
}

/** The parts of a budget as budgets of their own, to sum their costs. */
function partsOf(budget: Budget): readonly Budget[] {
  return (budget.parts ?? []).map(({ scope }) => ({ ...budget, scope, parts: undefined }));
}

/** The windows to sum for a spend: its period, its parts, its complete hours (as its forecast needs them) and its burn rate. */
function windowsOf(
  {
    budget,
    period,
    completeThrough,
    burning,
    isAnswerable,
    parts,
  }: {
    readonly budget: Budget;
    readonly period: CalendarPeriod;
    readonly completeThrough: Instant | undefined;
    readonly burning: Window | undefined;
    readonly isAnswerable: boolean;
    readonly parts: readonly (Budget | undefined)[];
  },
  line: number,
): (SpendWindow & { readonly line: number; readonly of: string })[] {
  if (!isAnswerable) return [];
  const { start, end } = period;
  return [
    { line, of: 'period', budget, start, end },
    ...parts.flatMap((part, place) =>
      part === undefined ? [] : [{ line, of: `part ${place}`, budget: part, start, end }],
    ),
    ...(completeThrough !== undefined && start < completeThrough && completeThrough < end
      ? [{ line, of: 'complete', budget, start, end: completeThrough }]
      : []),
    ...(burning === undefined ? [] : [{ line, of: 'burning', budget, ...burning }]),
  ];
}

/** The spend of each part; undefined where the books cannot answer. */
function partSpends(
  named: readonly BudgetPart[],
  parts: readonly (Budget | undefined)[],
  isKnown: boolean,
  costOf: (of: string) => Cost | undefined,
): PartSpend[] {
  return named.map(({ name }, place) => ({
    name,
    spent: isKnown && parts[place] !== undefined ? (costOf(`part ${place}`)?.total ?? 0n) : undefined,
  }));
}

/** Input of an evaluation. */
export interface WatchAsked extends SpendsAsked {
  /** By budget, the names of periods with an open alert. */
  readonly open?: ReadonlyMap<string, readonly string[]>;
}

/**
 * Spend of every budget in its watched periods (see `watchedPeriods`). If `spent` is undefined there is no fact, and the
 * caller reports the `gaps`.
 */
export async function watchedSpends(
  connection: Connection,
  budgets: readonly Budget[],
  { open, ...asked }: WatchAsked,
): Promise<SpendNow[]> {
  const accounts = await completeness(connection, asked.cache);
  const evaluated = await evaluatedThrough(connection);
  const periods = budgets.flatMap((budget) => {
    const expected = expectedOf(budget, accounts, asked.configured);
    const settled = expected.flatMap(({ settledThrough }) => settledThrough ?? []);
    const fresh = expected.flatMap(({ account }) => evaluated.get(account) ?? []);
    const changingFrom = settled.length === 0 ? undefined : Math.min(...settled, ...fresh);
    const before = lateCounts(budget, asked.now);
    const watched = watchedPeriods(budget, asked.now, changingFrom, [...before, ...(open?.get(budget.name) ?? [])]);
    return watched.map((period) => ({ budget, period }));
  });
  return readSpends(connection, periods, asked);
}

/** The period before, of a cost per unit with counts in it: more of them may arrive after its costs have settled. */
function lateCounts(budget: Budget, now: Instant): string[] {
  const calendar = budgetCalendar(budget);
  const before = calendar.periodAt(calendar.periodAt(now).start - 1);
  const isCounted = budget.per?.spans.some(({ start }) => start >= before.start && start < before.end) ?? false;
  return isCounted ? [before.name] : [];
}

/** Complete through of each account at the last evaluation. Later hours are new. */
async function evaluatedThrough(connection: Connection): Promise<ReadonlyMap<string, Instant>> {
  const [row] = await connection.rows(await readSql('budgets', 'last_evaluated'));
  const at = row?.['evaluated_at'];
  const through = new Map<string, Instant>();
  if (at === null || at === undefined) return through;
  const { windows, states } = await readKnown(connection, () => true);
  for (const account of new Set(states.map((state) => state.account))) {
    const own = (known: { readonly account: string }) => known.account === account;
    const reached = reachedAt({ windows: windows.filter(own), states: states.filter(own) }, Number(at));
    if (reached !== undefined) through.set(account, reached);
  }
  return through;
}

/**
 * The facts of every budget in its watched periods: `evaluateBudgets` of `watchedSpends`. A key without a fact is unknown:
 * neither reached nor resolved.
 */
export async function budgetFacts(
  connection: Connection,
  budgets: readonly Budget[],
  asked: WatchAsked,
): Promise<BudgetFact[]> {
  return evaluateBudgets(budgets, await watchedSpends(connection, budgets, asked));
}

/** The accounts of a budget that still get data; if none do, all accounts of the budget. */
export function expectedOf(
  { scope }: Budget,
  accounts: readonly Completeness[],
  configured: readonly string[],
): readonly Completeness[] {
  const ours = accounts.filter(({ account }) => scope.account?.includes(account) ?? true);
  const expected = ours.filter(({ account }) => configured.length === 0 || configured.includes(account));
  return expected.length > 0 ? expected : ours;
}

/** Complete through, over all of these accounts. */
export function earliest(accounts: readonly Completeness[]): Instant | undefined {
  const known = accounts.flatMap(({ completeThrough }) => completeThrough ?? []);
  return known.length === 0 || known.length < accounts.length ? undefined : Math.min(...known);
}

/** The last complete hours, at most the hours of a burn rate. */
function burningHours(accounts: readonly Completeness[], completeThrough: Instant | undefined): Window | undefined {
  const begins = accounts.flatMap(({ historyStart }) => historyStart ?? []);
  if (completeThrough === undefined || begins.length < accounts.length) return undefined;
  const span = { start: completeThrough - burnHours * hourMs, end: completeThrough };
  return knownHours(span, { begins, completeThrough });
}

function gapsOf({ account, historyStart, completeThrough }: Completeness, period: Window, due: Instant): string[] {
  if (completeThrough === undefined) return [`${account} has no complete hour yet`];
  const gaps: string[] = [];
  if (historyStart === undefined || historyStart > period.start) {
    gaps.push(
      historyStart === undefined
        ? `the start of the books of ${account} is unknown`
        : `the books of ${account} start at ${formatInstant(historyStart)}`,
    );
  }
  if (completeThrough < due) gaps.push(`${account} is complete through ${formatInstant(completeThrough)} only`);
  return gaps;
}

/** A resource listing whose labels may be missing. */
interface UnreadListing {
  readonly account: string;
  readonly resourceType: string;
  readonly sentence: string;
}

async function unreadListings(
  connection: Connection,
  cache: AnswerCache | undefined,
): Promise<readonly UnreadListing[]> {
  return (await cachedRows(connection, cache, ['budgets', 'labels_missing'])).map((row) => {
    const { account, resource_type: type, outcome } = row;
    const readAt = formatInstant(Number(row['read_at']));
    const sentence = `labels may be missing: the ${type} listing of ${account} was ${outcome} at ${readAt}`;
    return { account: String(account), resourceType: String(type), sentence };
  });
}

function isAskedOf({ scope }: Budget, { account, resourceType }: UnreadListing): boolean {
  if (scope.label === undefined) return false;
  return (scope.account?.includes(account) ?? true) && (scope.resource_type?.includes(resourceType) ?? true);
}

/** A window of whole hours to sum a budget's costs over. */
export interface SpendWindow extends Window {
  readonly budget: Pick<Budget, 'scope'>;
}

/** Spend in a window, in trillionths of its budget's unit, and its largest resources. */
export interface Cost {
  readonly total: bigint;
  readonly drivers: readonly Driver[];
}

/** Spend in each window; undefined if no row matches. Only windows that are not known are read. */
export async function costsOf(
  connection: Connection,
  spendWindows: readonly SpendWindow[],
  cache?: AnswerCache | undefined,
): Promise<(Cost | undefined)[]> {
  const questions = await Promise.all(spendWindows.map(questionOf));
  const known = await Promise.all(
    spendWindows.map((window, index) =>
      cache?.find('cost', questions[index], hoursBehind(window.budget.scope, window)),
    ),
  );
  const missing = [...spendWindows.keys()].filter((index) => known[index] === undefined);
  const read = await readCosts(
    connection,
    missing.flatMap((index) => spendWindows[index] ?? []),
    cache,
  );
  for (const [place, index] of missing.entries()) {
    const cost = read[place];
    cache?.add('cost', questions[index], cost === undefined ? null : { ...cost, total: String(cost.total) });
  }
  return spendWindows.map((_, index): Cost | undefined => {
    const found = known[index];
    if (found === undefined) return read[missing.indexOf(index)];
    const cost = found.answer as (Omit<Cost, 'total'> & { readonly total: string }) | null;
    return cost === null ? undefined : { ...cost, total: BigInt(cost.total) };
  });
}

/** The hours that the costs of a window depend on: an owner's part of shared cost depends on the whole month. Pure. */
export function hoursBehind({ owner }: BudgetScope, { start, end }: Window): Window {
  const { periodAt } = calendarOf('monthly');
  return owner === undefined ? { start, end } : { start: periodAt(start).start, end: periodAt(end - 1).end };
}

/** All that the cost of a window depends on besides the state of the books. */
async function questionOf({ budget, start, end }: SpendWindow): Promise<unknown> {
  const text = await readSql('budgets', fileFor(budget));
  return [text, scopeForSql(budget.scope), formatInstant(start), formatInstant(end), driverCount];
}

async function readCosts(
  connection: Connection,
  spendWindows: readonly SpendWindow[],
  cache: AnswerCache | undefined,
): Promise<(Cost | undefined)[]> {
  const costs: (Cost | undefined)[] = spendWindows.map(() => undefined);
  const numbered = spendWindows.map((spendWindow, index) => ({
    ...spendWindow,
    index,
    file: fileFor(spendWindow.budget),
    isUsage: spendWindow.budget.scope.unit !== undefined,
  }));
  const questions = new Map(numbered.map(({ file, isUsage }) => [`${file} ${isUsage}`, { file, isUsage }]));
  for (const { file, isUsage } of questions.values()) {
    const own = numbered.filter((spendWindow) => spendWindow.file === file && spendWindow.isUsage === isUsage);
    const budgets = [...new Set(own.map(({ budget }) => budget))];
    const rows = await rowsWithOwners(connection, cache, ['budgets', file], {
      scopes: scopesForSql(budgets),
      spend_windows: JSON.stringify(
        own.map(({ index, budget, start, end }) => ({
          spend_window: index,
          scope: budgets.indexOf(budget),
          start: formatInstant(start),
          end: formatInstant(end),
        })),
      ),
      from: formatInstant(Math.min(...own.map(({ start }) => start))),
      to: formatInstant(Math.max(...own.map(({ end }) => end))),
      drivers: driverCount,
      of_usage: isUsage,
    });
    for (const row of rows) {
      const spendWindow = Number(row['spend_window']);
      const unit = spendWindows[spendWindow]?.budget.scope.unit;
      const cost = fromBooks(moneyOf(String(row['cost'])), unit);
      // Credits do not explain high spend.
      const drivers = [...(costs[spendWindow]?.drivers ?? []), ...(cost > 0n ? [toDriver(row, cost)] : [])];
      costs[spendWindow] = { total: fromBooks(moneyOf(String(row['total'])), unit), drivers };
    }
  }
  return costs;
}

function toDriver(row: SqlRow, cost: bigint): Driver {
  const text = (name: string) => (row[name] === null || row[name] === undefined ? null : String(row[name]));
  return {
    account: String(row['account']),
    workspace: text('workspace'),
    resourceType: text('resource_type'),
    resourceName: text('resource_name'),
    cost: moneyText(cost),
  };
}

async function coveredHours(
  connection: Connection,
  windows: readonly Window[],
  cache: AnswerCache | undefined,
): Promise<readonly { readonly spendWindow: number; readonly account: string; readonly hours: number }[]> {
  const spendWindows = windows.map(({ start, end }, index) => ({
    spend_window: index,
    start: formatInstant(start),
    end: formatInstant(end),
  }));
  const rows = await cachedRows(connection, cache, ['budgets', 'covered_hours'], {
    spend_windows: JSON.stringify(spendWindows),
  });
  return rows.map((row) => ({
    spendWindow: Number(row['spend_window']),
    account: String(row['account']),
    hours: Number(row['hours']),
  }));
}

function fileFor({
  scope,
}: Pick<Budget, 'scope'>): 'spends' | 'spends_by_label' | 'spends_by_owner' | 'spends_of_owners' {
  const { owner, label, account: _, ...others } = scope;
  if (owner === undefined) return label ? 'spends_by_label' : 'spends';
  // Of shared cost, a part that belongs to some resources only is known row by row, which takes much longer.
  return label === undefined && Object.values(others).every((values) => values === undefined)
    ? 'spends_of_owners'
    : 'spends_by_owner';
}

/** The scopes of budgets for the fragment `scopes`, each with the number of its budget as its id. */
export function scopesForSql(budgets: readonly Pick<Budget, 'scope'>[]): string {
  return JSON.stringify(budgets.map(({ scope }, id) => ({ id, scope: scopeForSql(scope) })));
}

/** A scope for the SQL files. Keys that it does not name are null. */
export function scopeForSql({ owner, label, ...scope }: BudgetScope): Record<string, unknown> {
  return {
    account: scope.account,
    workspace: scope.workspace,
    resource_type: scope.resource_type,
    resource_name: scope.resource_name?.map(likePattern),
    billing_dimension: scope.billing_dimension,
    unit: scope.unit,
    owner: owner && entriesForSql(owner),
    label: label && entriesForSql(label),
  };
}

function entriesForSql(entries: Readonly<Record<string, readonly string[]>>): readonly Record<string, unknown>[] {
  return Object.entries(entries).map(([key, values]) => ({ pointer: jsonPointer(key), values }));
}

/** Converts a pattern to SQL LIKE, with \ before LIKE's own special characters. */
function likePattern(pattern: string): string {
  return pattern.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%');
}

function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Scope keys with named values, and where the books have these values. */
const entryGroups = {
  label: {
    file: 'labels_known',
    words: 'scope.label needs an inventory with labels, and these books have none',
    whatToDo: 'run "costbook ingest" with a token that can list resources',
  },
  owner: {
    file: 'owners_known',
    words: 'scope.owner needs an allocation, but no cost in these books has an owner',
    whatToDo: 'write jobs/allocation.yaml and run "costbook allocation apply"',
  },
} as const;
type EntryGroup = keyof typeof entryGroups;

/** The values in the books of each label, or of each owner dimension. */
async function knownEntries(
  connection: Connection,
  group: EntryGroup,
  cache: AnswerCache | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Map<string, string[]>();
  const rows = await cachedRows(connection, cache, ['budgets', entryGroups[group].file], {}, 'names');
  for (const { entry_key: key, entry_value: value } of rows) {
    const values = known.get(String(key)) ?? [];
    if (value !== null && value !== undefined) values.push(String(value));
    known.set(String(key), values);
  }
  return known;
}

/** Why the spend of budgets is unknown, so that it is not shown as 0. One sentence per reason. */
export async function unanswerableOf(
  connection: Connection,
  budgets: readonly Budget[],
  cache?: AnswerCache | undefined,
): Promise<ReadonlyMap<Budget, readonly string[]>> {
  const reasons = new Map<Budget, string[]>();
  for (const group of ['label', 'owner'] as const) {
    const own = budgets.filter(({ scope }) => scope[group] !== undefined);
    if (own.length === 0) continue;
    const known = await knownEntries(connection, group, cache);
    const { words, whatToDo } = entryGroups[group];
    const isEmpty = [...known.values()].every((values) => values.length === 0);
    for (const budget of own) {
      const unknown = Object.keys(budget.scope[group] ?? {}).filter((key) => !known.has(key));
      if (isEmpty) reasons.set(budget, [`${words}; ${whatToDo}`]);
      else if (group === 'owner' && unknown.length > 0) {
        const named = unknown.map((key) => JSON.stringify(key)).join(', ');
        reasons.set(budget, [
          `the allocation has no dimension ${named}, expected one of ${[...known.keys()].join(', ')}`,
        ]);
      }
    }
  }
  return reasons;
}

/** Scope values that no cost in the books has, one sentence each with the probable spelling. */
export async function namesNotFound(
  connection: Connection,
  given: readonly Budget[],
  cache?: AnswerCache | undefined,
): Promise<string[]> {
  const budgets = given.flatMap((budget) => [budget, ...partsOf(budget)]);
  const named = budgets.flatMap(({ name, scope }) =>
    (['account', 'workspace', 'resource_type', 'resource_name', 'billing_dimension'] as const).flatMap((key) =>
      (scope[key] ?? []).map((value) => ({ budget: name, key, value })),
    ),
  );
  // Only resource names may contain a star; all other values match only themselves.
  const asked = named.map(({ key, value }) => ({ key, value, pattern: likePattern(value) }));
  const rows = await cachedRows(connection, cache, ['budgets', 'values_not_found'], { asked: JSON.stringify(asked) });
  const sentences = named.flatMap(({ budget, key, value }) => {
    const row = rows.find((found) => found['scope_key'] === key && found['scope_value'] === value);
    if (row === undefined) return [];
    const known = Array.isArray(row['known_values']) ? row['known_values'].map(String) : [];
    return [notFound(budget, key, value, known)];
  });
  for (const group of ['label', 'owner'] as const) {
    if (!budgets.some(({ scope }) => scope[group] !== undefined)) continue;
    const known = await knownEntries(connection, group, cache);
    for (const { name, scope } of budgets) {
      for (const [key, values] of Object.entries(scope[group] ?? {})) {
        const there = known.get(key) ?? [];
        for (const value of values) {
          if (!there.includes(value)) sentences.push(notFound(name, `${group} ${key}`, value, there));
        }
      }
    }
  }
  for (const [{ name, scope }, dimensions] of await dimensionsCounted(connection, given, cache)) {
    if (dimensions.length > 0) continue;
    sentences.push(`budget ${name}: no usage of its scope in the books is in ${unitOfBooks(scope.unit ?? '')}`);
  }
  return [...new Set(sentences)];
}

function notFound(budget: string, key: string, value: string, known: readonly string[]): string {
  const guess = nearest(value, known);
  const hint = guess === undefined ? '' : `; did you mean ${JSON.stringify(guess)}?`;
  return `budget ${budget}: no cost in the books has the ${key} ${JSON.stringify(value)}${hint}`;
}
