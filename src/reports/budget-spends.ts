import { wholeOfDecimal } from '../decimals.ts';
import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import { type CalendarPeriod, formatInstant, hourMs, hoursIn, type Instant, type Window } from '../time.ts';
import {
  type Completeness,
  type Connection,
  completeness,
  readSqlFolder,
  type SqlParameters,
} from '../warehouse/index.ts';
import { type Budget, type BudgetScope, usdDecimals } from './budget-file.ts';
import { type BudgetFact, evaluateBudgets, rounded, type Spend, watchedPeriods } from './budgets.ts';

/** How fast money is being spent on a budget, and of which hours that was computed. */
export interface BurnRate extends Window {
  /** Trillionths of a USD in 24 hours, rounded. */
  readonly perDay: bigint;
}

/** A spend with what is computed beside it for the present period. */
export interface SpendNow extends Spend {
  /** Undefined where no hour is complete in every account. */
  readonly burnRate: BurnRate | undefined;
}

/** What is known of the accounts besides the books. */
export interface SpendsAsked {
  readonly now: Instant;
  /** Books whose complete-through lies further back are missing something. */
  readonly freshnessHours: number;
  /** Accounts of the configuration, where it names any: of others nothing more is expected. */
  readonly configured: readonly string[];
}

/** A burn rate is of so many complete hours, whole weeks in which every weekday counts the same. */
const burnHours = 7 * 24;

/**
 * What was spent on budgets in the given periods of each. Throws UsageError where a scope names what these books do not
 * have: owners without an allocation, labels without an inventory.
 */
export async function readSpends(
  connection: Connection,
  asked: readonly { readonly budget: Budget; readonly period: CalendarPeriod }[],
  { now, freshnessHours, configured }: SpendsAsked,
): Promise<SpendNow[]> {
  const accounts = await completeness(connection);
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
      lacking: [
        ...(accounts.length === 0 ? ['no account is in the books'] : []),
        ...named.map((account) => `account ${account} is not in the books`),
        ...expected.flatMap((account) => lackingOf(account, period, dueThrough)),
      ],
    };
  });
  const stretches = lines.flatMap(({ budget, period, burning }) => [
    { budget, ...period },
    ...(burning === undefined ? [] : [{ budget, ...burning }]),
  ]);
  const costs = await costsOf(connection, stretches);
  const covered = await coveredHours(
    connection,
    lines.map(({ period }) => period),
  );
  let next = 0;
  return lines.map(({ budget, period, accounts: ours, completeThrough, burning, lacking }, index) => {
    const spent = costs[next++] ?? 0n;
    const burnt = burning === undefined ? 0n : (costs[next++] ?? 0n);
    const isKnown = covered.some((row) => row.stretch === index && row.hours > 0 && ours.includes(row.account));
    const rate = burning && { ...burning, perDay: rounded(burnt * 24n, BigInt(hoursIn(burning))) };
    return {
      budget: budget.name,
      period,
      spent: isKnown ? spent : undefined,
      completeThrough,
      lacking,
      burnRate: rate,
    };
  });
}

/**
 * The facts of every budget in its watched periods, as the books are: what an alert is made of. `open` names, by budget,
 * the periods of which something was told and is not resolved yet. Throws as `readSpends`.
 */
export async function budgetFacts(
  connection: Connection,
  budgets: readonly Budget[],
  { open, ...asked }: SpendsAsked & { readonly open?: ReadonlyMap<string, readonly string[]> },
): Promise<BudgetFact[]> {
  const accounts = await completeness(connection);
  const periods = budgets.flatMap((budget) => {
    const settled = expectedOf(budget, accounts, asked.configured).flatMap(
      ({ settledThrough }) => settledThrough ?? [],
    );
    const settledThrough = settled.length === 0 ? undefined : Math.min(...settled);
    const watched = watchedPeriods(budget, asked.now, settledThrough, open?.get(budget.name));
    return watched.map((period) => ({ budget, period }));
  });
  return evaluateBudgets(budgets, await readSpends(connection, periods, asked));
}

/** The accounts that a budget is of and of which more is expected; where that is none, those that it is of. */
function expectedOf(
  { scope }: Budget,
  accounts: readonly Completeness[],
  configured: readonly string[],
): readonly Completeness[] {
  const ours = accounts.filter(({ account }) => scope.account?.includes(account) ?? true);
  const expected = ours.filter(({ account }) => configured.length === 0 || configured.includes(account));
  return expected.length > 0 ? expected : ours;
}

/** Through when the books are complete in every one of these accounts. */
function earliest(accounts: readonly Completeness[]): Instant | undefined {
  const known = accounts.flatMap(({ completeThrough }) => completeThrough ?? []);
  return known.length === 0 || known.length < accounts.length ? undefined : Math.min(...known);
}

/** The last complete hours, a week of them where the books have so many. */
function burningHours(accounts: readonly Completeness[], completeThrough: Instant | undefined): Window | undefined {
  const starts = accounts.flatMap(({ historyStart }) => historyStart ?? []);
  if (completeThrough === undefined || starts.length < accounts.length) return undefined;
  const start = Math.max(completeThrough - burnHours * hourMs, ...starts);
  return start < completeThrough ? { start, end: completeThrough } : undefined;
}

function lackingOf({ account, historyStart, completeThrough }: Completeness, period: Window, due: Instant): string[] {
  if (completeThrough === undefined) return [`${account} is complete through nothing yet`];
  const lacking: string[] = [];
  if (historyStart === undefined || historyStart > period.start) {
    lacking.push(
      `the books of ${account} begin ${historyStart === undefined ? 'nobody knows when' : formatInstant(historyStart)}`,
    );
  }
  if (completeThrough < due) lacking.push(`${account} is complete through ${formatInstant(completeThrough)} only`);
  return lacking;
}

/** A stretch of whole hours in which a budget's costs are added up. */
interface Stretch extends Window {
  readonly budget: Budget;
}

/** What was spent in each stretch, in trillionths of a USD; undefined where no row fits. */
async function costsOf(connection: Connection, stretches: readonly Stretch[]): Promise<(bigint | undefined)[]> {
  const costs: (bigint | undefined)[] = stretches.map(() => undefined);
  const numbered = stretches.map((stretch, index) => ({ ...stretch, index, file: fileFor(stretch.budget) }));
  for (const file of new Set(numbered.map((stretch) => stretch.file))) {
    const own = numbered.filter((stretch) => stretch.file === file);
    await demandSource(connection, file, own[0]?.budget);
    const budgets = [...new Set(own.map(({ budget }) => budget))];
    const rows = await connection.rows(await budgetSql(file), {
      scopes: JSON.stringify(budgets.map((budget, number) => ({ budget: number, ...scopeForSql(budget.scope) }))),
      stretches: JSON.stringify(
        own.map(({ index, budget, start, end }) => ({
          stretch: index,
          budget: budgets.indexOf(budget),
          start: formatInstant(start),
          end: formatInstant(end),
        })),
      ),
      from: formatInstant(Math.min(...own.map(({ start }) => start))),
      to: formatInstant(Math.max(...own.map(({ end }) => end))),
    });
    for (const row of rows) costs[Number(row['stretch'])] = wholeOfDecimal(String(row['cost']), usdDecimals);
  }
  return costs;
}

async function coveredHours(
  connection: Connection,
  windows: readonly Window[],
): Promise<readonly { readonly stretch: number; readonly account: string; readonly hours: number }[]> {
  const stretches = windows.map(({ start, end }, index) => ({
    stretch: index,
    start: formatInstant(start),
    end: formatInstant(end),
  }));
  const rows = await connection.rows(await budgetSql('covered_hours'), { stretches: JSON.stringify(stretches) });
  return rows.map((row) => ({
    stretch: Number(row['stretch']),
    account: String(row['account']),
    hours: Number(row['hours']),
  }));
}

/** One SQL file of `sql/budgets`. */
export async function budgetSql(name: string): Promise<string> {
  const file = (await readSqlFolder('budgets')).find((candidate) => candidate.name === name);
  if (file === undefined) throw new Error(`sql/budgets/${name}.sql is missing`);
  return file.text;
}

function fileFor({ scope }: Budget): 'spends' | 'spends_by_label' | 'spends_by_owner' {
  return scope.owner ? 'spends_by_owner' : scope.label ? 'spends_by_label' : 'spends';
}

/** A scope as the SQL files read it; what it does not name is null. */
export function scopeForSql({ owner, label, ...scope }: BudgetScope): Record<string, unknown> {
  return {
    account: scope.account,
    workspace: scope.workspace,
    resource_type: scope.resource_type,
    resource_name: scope.resource_name?.map(likePattern),
    billing_dimension: scope.billing_dimension,
    ...owner,
    label: Object.entries(label ?? {}).map(([key, values]) => ({ pointer: jsonPointer(key), values })),
  };
}

/** A pattern of ours as SQL's LIKE has it, with \ before what it would take for its own. */
function likePattern(pattern: string): string {
  return pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

function jsonPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** What the SQL of owners and labels asks, and what to say where the books do not have it. */
const sources = {
  spends_by_label: {
    view: 'costs_with_resources',
    isThere: `select 1 from costs_with_resources where labels is not null limit 1`,
    words: 'scope.label needs an inventory of resources with labels, and these books have none',
    whatToDo: 'run "costbook ingest" with a token that may list resources, or remove the key',
  },
  spends_by_owner: {
    view: 'costs_allocated',
    isThere: `select 1 from costs_allocated
      where team is not null or product is not null or environment is not null limit 1`,
    words: 'scope.owner needs an allocation, and in these books no cost has an owner',
    whatToDo: 'write jobs/allocation.yaml, or remove the key',
  },
} as const;

/** Throws UsageError where what a kind of scope asks about is not in these books: no answer would look like no cost. */
async function demandSource(
  connection: Connection,
  file: ReturnType<typeof fileFor>,
  budget: Budget | undefined,
): Promise<void> {
  if (file === 'spends') return;
  const { view, isThere, words, whatToDo } = sources[file];
  const parameters: SqlParameters = { view };
  const [found] = await connection.rows(
    `select 1 from information_schema.tables where table_name = $view and table_schema = 'main' limit 1`,
    parameters,
  );
  if (found !== undefined && (await connection.rows(isThere)).length > 0) return;
  throw new UsageError(`${budget?.where}: budget ${budget?.name}: ${words}; ${whatToDo}`);
}

/** What a scope names and no cost in the books has, a sentence each with what was probably meant. */
export async function namesNotFound(connection: Connection, budgets: readonly Budget[]): Promise<string[]> {
  const named = budgets.flatMap(({ name, scope }) =>
    (['account', 'workspace', 'resource_type', 'resource_name', 'billing_dimension'] as const).flatMap((key) =>
      (scope[key] ?? []).map((value) => ({ budget: name, key, value })),
    ),
  );
  // Only names of resources may hold a star, so the others are patterns of themselves.
  const asked = named.map(({ key, value }) => ({ key, value, pattern: likePattern(value) }));
  const rows = await connection.rows(await budgetSql('values_not_found'), { asked: JSON.stringify(asked) });
  return named.flatMap(({ budget, key, value }) => {
    const row = rows.find((found) => found['scope_key'] === key && found['scope_value'] === value);
    if (row === undefined) return [];
    const known = Array.isArray(row['known_values']) ? row['known_values'].map(String) : [];
    const guess = nearest(value, known);
    const hint = guess === undefined ? '' : `; did you mean ${JSON.stringify(guess)}?`;
    return [`budget ${budget}: nothing in the books has the ${key} ${JSON.stringify(value)}${hint}`];
  });
}
