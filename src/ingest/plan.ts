import { existsSync } from 'node:fs';
import { UsageError } from '../base/errors.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { type InventoryConfig, type LocalAccount, type LocalConfig, loadConfig } from '../config/index.ts';
import {
  controlQuery,
  daysQueries,
  detailQuery,
  everyDay,
  monthsQueries,
  type PlannedWindow,
  type Purpose,
  planWindows,
  type Query,
  queryParameters,
  repairQuery,
  residualQuery,
  settledDays,
  typesQuery,
  wholeMonths,
} from '../fetch/plan/index.ts';
import { historyParameters, listingPeriods } from '../platform/index.ts';
import { metricsLimits, operations, requestPath } from '../platform/interface/index.ts';
import { floorHour, formatInstant, hourMs, type Instant, type Window } from '../time/time.ts';
import { openBooks, snapshotFile } from '../warehouse/integrity/index.ts';
import {
  accountLedger,
  completeness,
  coveredWindows,
  lastQueries,
  startOfBooks,
  unprovenWindows,
} from '../warehouse/ledger/index.ts';
import { dueMonths, groupsByWorkspace, type LoadedQuery, listingRequests } from '../warehouse/load/index.ts';
import type { CoveredWindow, Role } from '../warehouse/page.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { detailCallsByDefault } from './listing-details.ts';
import { tonightsSeries } from './verify-past.ts';

/** A request, or a chain of pages, that the ingest would make. */
export interface PlannedRequest {
  readonly purpose: Purpose | 'discovery';
  readonly why: string;
  /** The first page's path and query. */
  readonly request: string;
  readonly pages: number;
  /** Whether `pages` is the number of the last ingest, or a minimum. */
  readonly pagesAre: 'last time' | 'at least';
}

/** What an ingest of one account would request. */
export interface AccountPlan {
  /** Null if only the platform knows the token's account; requests then contain `{accountId}`. */
  readonly account: string | null;
  readonly role: Role | null;
  readonly windows: readonly {
    readonly start: string;
    readonly end: string;
    readonly reason: string;
    readonly requests: readonly PlannedRequest[];
  }[];
  /** Requests before any window. */
  readonly first: readonly PlannedRequest[];
  /** Requests that verify the settled past. */
  readonly verify: readonly PlannedRequest[];
  /** The sum of all pages: a minimum of requests. */
  readonly requestsAtLeast: number;
  /** Requests for listings besides; null if they are switched off. */
  readonly listings: {
    /** What those that are due took when they were last asked for; null before the first ingest. */
    readonly requests: number | null;
    /** How many items at most are read one by one, if they are new or changed. */
    readonly detailsAtMost: number;
  } | null;
}

/** What to plan: hours from and to, exclusive, and whether known ones are fetched again. */
interface PlanRequest {
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  readonly refetch: boolean;
}

/** What the next ingest would request, account by account. Sends nothing. Throws UsageError if there is no account. */
export async function planIngest(
  request: PlanRequest,
  { dir, env, effects }: Pick<ProjectContext, 'dir' | 'env' | 'effects'>,
): Promise<AccountPlan[]> {
  const now = effects.now();
  const config = loadConfig({ dir, env, now, requireAccounts: false });
  const books = existsSync(snapshotFile(dir)) ? await openBooks(dir, { lockedDown: true }) : undefined;
  try {
    const known = books === undefined ? [] : (await completeness(books.connection)).map(({ account }) => account);
    const plans: AccountPlan[] = [];
    for (const { id, since, inventory } of accountsToPlan(config, known, dir)) {
      plans.push(await planAccount({ ...request, account: id, since, inventory, now }, config, books?.connection));
    }
    return plans;
  } finally {
    books?.close();
  }
}

/** The accounts to plan for. An account without ID will be looked up on the platform. */
function accountsToPlan(
  config: LocalConfig,
  known: readonly string[],
  dir: string,
): Pick<LocalAccount, 'id' | 'since' | 'inventory'>[] {
  if (config.accounts.length === 0 && known.length > 0)
    return known.map((id) => ({ id, since: undefined, inventory: undefined }));
  const accounts = config.accounts.map(({ id, url, since, inventory }) => ({
    id: id ?? (known.length === 1 ? known[0] : undefined),
    isReachable: url !== undefined,
    since,
    inventory,
  }));
  if (accounts.length === 0 || accounts.some(({ id, isReachable }) => id === undefined && !isReachable)) {
    throw new UsageError(
      `found no account to plan for: neither ${dir} nor the environment has an account or a url, and ` +
        `${known.length === 0 ? 'there are no books yet' : `the books have ${known.length} accounts`}; set COSTBOOK_ACCOUNT ` +
        'or COSTBOOK_URL (account or url in costbook.yaml)',
    );
  }
  return accounts;
}

/** The placeholder in paths for an account ID that is not known yet. */
const unknownAccount = '{accountId}';

function requestOf(account: string, parameters: Readonly<Record<string, string>>): string {
  const request = requestPath(operations.metrics, parameters);
  return account === unknownAccount ? request.replace(encodeURIComponent(unknownAccount), unknownAccount) : request;
}

async function planAccount(
  asked: PlanRequest & {
    account: string | undefined;
    since: Instant | undefined;
    inventory: InventoryConfig | undefined;
    now: Instant;
  },
  config: LocalConfig,
  books: Connection | undefined,
): Promise<AccountPlan> {
  const { now, account = unknownAccount } = asked;
  const ledger = books && (await accountLedger(books, account));
  const role = ledger?.role;
  const first: PlannedRequest[] = [];
  if (asked.account === undefined) {
    first.push({
      purpose: 'discovery',
      why: 'no account is configured: finds the account that the token sees',
      request: requestPath(operations.accounts, {}),
      pages: 1,
      pagesAre: 'at least',
    });
  }
  if (asked.since === undefined && !ledger?.hasHourlyCosts) {
    const reason = ledger === undefined ? 'no since is configured' : 'no cost found so far';
    first.push({
      purpose: 'discovery',
      why: `${reason}: monthly totals, which have no window limit, show the first month with costs`,
      request: requestOf(account, historyParameters(account, floorHour(now))),
      pages: 1,
      pagesAre: 'at least',
    });
  }
  const covered = books ? await coveredWindows(books, account) : [];
  const unproven = books ? (await unprovenWindows(books, account)).map(({ window }) => window) : [];
  // Without any cost so far, the ledger's start is the best guess.
  const start = startOfBooks(asked.since, ledger) ?? ledger?.historyStart ?? asked.from;
  const planned =
    start === undefined
      ? []
      : planWindows({ ...asked, historyStart: start, settleDays: config.settleDays, covered, again: unproven });
  const windows = [];
  for (const plan of planned) {
    const last = books && (await lastQueries(books, account, plan.window));
    const requests = requestsOf(account, plan, role, last);
    windows.push({
      start: formatInstant(plan.window.start),
      end: formatInstant(plan.window.end),
      reason: plan.reason,
      requests,
    });
  }
  const isWhole = asked.from === undefined && asked.to === undefined && !asked.refetch;
  const verify = books && isWhole ? await verifyingRequests(books, { account, role, covered, now }, config) : [];
  if (isWhole && start !== undefined) verify.push(...(await monthRequests(books, account, start, now, config)));
  const all = [...first, ...verify, ...windows.flatMap((window) => window.requests)];
  return {
    account: asked.account ?? null,
    role: role ?? null,
    windows,
    first,
    verify,
    requestsAtLeast: all.reduce((sum, request) => sum + request.pages, 0),
    listings: await listingPlan(asked, books),
  };
}

const purposes: Readonly<Record<Purpose, string>> = {
  detail: 'the rows: grouping by three dimensions returns all five',
  control: 'the totals that the rows must match',
  residual: 'rows without uuid, by workspace',
  repair: 'rows missing from the detail',
  types: 'the resource types that share a billing dimension',
  days: 'daily totals, to find past days that changed',
  series: 'totals of every series, to find costs that moved between resources',
  names: 'totals by name, to find costs that moved between rows without uuid',
  months: 'monthly totals, which whole months must match',
};

/** Requests for listings. */
async function listingPlan(
  { account, inventory, now }: { account: string | undefined; inventory: InventoryConfig | undefined; now: Instant },
  books: Connection | undefined,
): Promise<AccountPlan['listings']> {
  if (inventory?.isRead === false) return null;
  const isKnown = books !== undefined && account !== undefined;
  const requests = isKnown ? await listingRequests(books, account, listingPeriods, now) : 0;
  return {
    requests: requests === 0 ? null : requests,
    detailsAtMost: inventory?.detailCalls ?? detailCallsByDefault,
  };
}

/** Requests that verify the settled past; changes found there add more. */
async function verifyingRequests(
  books: Connection,
  of: { account: string; role: Role | undefined; covered: readonly CoveredWindow[]; now: Instant },
  { settleDays, verifyDays, deepVerifyPages }: LocalConfig,
): Promise<PlannedRequest[]> {
  const { account, role, covered } = of;
  const lastHour = floorHour(of.now);
  const days = settledDays(covered, { lastHour, settleDays, verifyDays });
  const past = settledDays(covered, { lastHour, settleDays, verifyDays: everyDay });
  const byDay =
    days.length === 0
      ? []
      : daysQueries(days, role, await groupsByWorkspace(books, account, days, metricsLimits.maxPageSize)).queries;
  const bySeries = past.length === 0 ? [] : await tonightsSeries(books, account, past, deepVerifyPages, role);
  return [...byDay, ...bySeries].map((query) => toPlannedRequest(account, query));
}

/** Requests for months that will be complete after the planned loads, and are not proven yet. */
async function monthRequests(
  books: Connection | undefined,
  account: string,
  start: Instant,
  now: Instant,
  { lagHours }: LocalConfig,
): Promise<PlannedRequest[]> {
  const months = wholeMonths({ start, end: floorHour(now) - lagHours * hourMs });
  if (months === undefined) return [];
  const due = books === undefined ? [months] : await dueMonths(books, account, months);
  return monthsQueries(due).map((query) => toPlannedRequest(account, query));
}

function toPlannedRequest(account: string, query: Query): PlannedRequest {
  return {
    purpose: query.purpose,
    why: purposes[query.purpose],
    request: requestOf(account, queryParameters(account, query)),
    pages: 1,
    pagesAre: 'at least',
  };
}

/** The queries of a window: always detail and control, and the others if the last ingest needed them. */
function requestsOf(
  account: string,
  { window }: PlannedWindow,
  role: Role | undefined,
  last: readonly LoadedQuery[] | undefined,
): PlannedRequest[] {
  const certain = [detailQuery(window), controlQuery(window, role ?? 'admin')];
  const likely = (last ?? []).flatMap((query) => likelyQuery(window, query, role ?? 'member') ?? []);
  return [...certain, ...likely].map((query) => {
    const pages = last?.find((loaded) => isSame(loaded, query))?.pages;
    const asksRole = query.purpose === 'control' && role === undefined;
    return {
      purpose: query.purpose,
      why: purposes[query.purpose] + (asksRole ? "; shows whether the token is an admin's" : ''),
      request: requestOf(account, queryParameters(account, query)),
      pages: pages ?? 1,
      pagesAre: pages === undefined ? 'at least' : 'last time',
    };
  });
}

function likelyQuery(window: Window, last: LoadedQuery, role: Role): Query | undefined {
  const { purpose, resourceType, billingDimension } = last;
  if (purpose === 'residual' && role === 'admin') {
    return residualQuery(window, resourceType ?? undefined, billingDimension ?? undefined);
  }
  if (purpose === 'repair') return repairQuery(window, billingDimension ?? undefined, role);
  return purpose === 'types' && billingDimension !== null ? typesQuery(window, billingDimension) : undefined;
}

function isSame(loaded: LoadedQuery, query: Query): boolean {
  return (
    loaded.purpose === query.purpose &&
    loaded.resourceType === (query.resourceType ?? null) &&
    loaded.billingDimension === (query.billingDimension ?? null)
  );
}
