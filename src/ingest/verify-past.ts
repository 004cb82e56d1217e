import pLimit from 'p-limit';
import { PlatformError } from '../base/errors.ts';
import { askQuery } from '../fetch/index.ts';
import {
  bucketsOf,
  dailyWindows,
  daysQueries,
  daysQuery,
  everyDay,
  monthsQueries,
  type PastWindow,
  type Purpose,
  type Query,
  recordedSeriesQueries,
  seriesQueries,
  seriesQuery,
  settledDays,
  settledUntil,
  wholeMonths,
} from '../fetch/plan/index.ts';
import { largestMagnitude, plainDecimal } from '../money/money.ts';
import type { Client } from '../platform/index.ts';
import { type GroupByDimension, metricsLimits } from '../platform/interface/index.ts';
import {
  addCalendarMonths,
  floorHour,
  floorMonth,
  formatInstant,
  formatWindow,
  type Instant,
  unionWindows,
  type Window,
} from '../time/time.ts';
import {
  type Contradiction,
  contradictedQuestions,
  coveredAsMember,
  dueMonths,
  groupsByWorkspace,
  keepSeriesHours,
  type PastComparison,
  type PastDifference,
  type PastQuery,
  seriesLives,
  seriesVerified,
  type TotalsKnown,
  type Verification,
} from '../warehouse/load/index.ts';
import type { ContradictedQuestion, CoveredWindow, Role } from '../warehouse/page.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { accessDays, checkRoleChange, refuseReducedTotals } from './reduced-access.ts';
import type { IngestRequest, IngestTools } from './tools.ts';

/** Compares the settled past with the platform's totals; the caller fetches again what differs. */
export interface PastVerification {
  /**
   * Fetches daily totals and returns the days that differ. Throws UnprovenError if the platform shows only a part of
   * what it showed before, PlatformError or RefusedAnswerError if it does not answer.
   */
  days(): Promise<Window[]>;
  /** Fetches tonight's share of the totals of every series and returns the days that differ. */
  series(): Promise<Window[]>;
  /**
   * Fetches the totals of whole months in `complete` (from the start of the books to complete through) that changed
   * since they last matched, and returns the settled days that differ. Call it after all loads.
   */
  months(complete: Window): Promise<Window[]>;
  /**
   * Compares again everything that differed, now that it has been fetched again, and fetches the totals again where
   * they still differ. Remaining differences are recorded: there the platform contradicts itself.
   */
  confirm(): Promise<void>;
  /** The token's role, if a refused query has revealed it; undefined otherwise. */
  revealedRole(): Role | undefined;
  /** Sends later queries with this role of the token. */
  useRole(role: Role): void;
  close(): void;
}

/** A query with the result of its last comparison. */
interface Asked {
  readonly question: PastQuery;
  readonly query: Query;
  comparison: PastComparison;
}

/** Parameters for the verification of an account's past. */
export interface PastOptions {
  readonly account: string;
  readonly covered: readonly CoveredWindow[];
  /** Counts its requests. */
  readonly client: Client;
  readonly known: TotalsKnown;
  /** The role of the earlier token. */
  readonly role: Role | undefined;
  readonly now: Instant;
  readonly request: IngestRequest;
  readonly tools: IngestTools;
}

/** State that all parts of a verification share. */
interface Past extends Omit<PastOptions, 'role'> {
  /** The role that queries are sent with: the earlier token's, until an answer reveals another one. */
  role: Role | undefined;
  revealedRole: Role | undefined;
  readonly verification: Verification;
  readonly lastHour: Instant;
  /** Days that end by then are settled. */
  readonly until: Instant;
  /** Every query of tonight, for the second comparison. */
  readonly asked: Asked[];
  /** How many queries were sent; numbers them. */
  questions: number;
}

/** Opens the verification of an account's settled past in the present books. */
export async function openPast(options: PastOptions): Promise<PastVerification> {
  const { account, known, request, tools } = options;
  const lastHour = floorHour(options.now);
  const verification = await tools.warehouse.openVerification(account, known);
  const past: Past = {
    ...options,
    verification,
    lastHour,
    until: settledUntil(lastHour, request.config.settleDays),
    revealedRole: undefined,
    asked: [],
    questions: 0,
  };
  return {
    days: () => verifyDays(past),
    series: () => verifySeries(past),
    months: (complete) => verifyMonths(past, complete),
    confirm: () => confirm(past),
    revealedRole: () => past.revealedRole,
    useRole: (role) => {
      past.role = role;
    },
    close: () => verification.close(),
  };
}

/** Compares the daily totals of the newest settled days. */
async function verifyDays(past: Past): Promise<Window[]> {
  const { account, request, verification } = past;
  const days = settledDaysOf(past, request.config.verifyDays);
  if (days.length === 0) return [];
  const groups = await groupsByWorkspace(verification.connection, account, days, metricsLimits.maxPageSize);
  const found = await askAllByRole(past, (role) => daysQueries(days, role, groups).queries);
  if (!request.acceptReducedAccess)
    refuseReducedTotals(account, await verification.totals(accessDays), request.acceptRenamedWorkspaces);
  past.asked.push(...found);
  return differingDays(past, found);
}

/** Compares tonight's share of the totals of every series. */
async function verifySeries(past: Past): Promise<Window[]> {
  const { deepVerifyPages } = past.request.config;
  const everything = settledDaysOf(past, everyDay);
  const isAsked = everything.length > 0 && deepVerifyPages > 0;
  const { connection } = past.verification;
  if (isAsked) await past.tools.warehouse.exclusively(() => keepSeriesHours(connection));
  const found = await askAllByRole(past, (role) =>
    isAsked ? tonightsSeries(connection, past.account, everything, deepVerifyPages, role) : [],
  );
  past.asked.push(...found);
  found.push(...(await askRecorded(past)));
  const differing = found.filter(({ comparison }) => comparison.differences.length > 0);
  const byDay = differing.filter(({ question }) => question.unit === 'day');
  const byMonth = differing.filter(({ question }) => question.unit === 'month');
  const narrower = byMonth.flatMap(({ query, comparison }) => narrowerQueries(query, comparison.differences));
  const narrowed = await askAll(past, narrower);
  past.asked.push(...narrowed);
  return differingDays(past, [...byDay, ...narrowed]);
}

/** Compares the totals of whole months that changed since they last matched; months that differ are fetched by day. */
async function verifyMonths(past: Past, complete: Window): Promise<Window[]> {
  const months = wholeMonths(complete);
  if (months === undefined) return [];
  const due = await dueMonths(past.verification.connection, past.account, months);
  const found = await askAll(past, monthsQueries(due));
  past.asked.push(...found);
  const differing = found.flatMap(({ question, comparison }) =>
    question.buckets.filter(
      ({ start, end }) => end <= past.until && comparison.differences.some(({ bucketStart }) => bucketStart === start),
    ),
  );
  const byDay = await askAll(
    past,
    differing.map((month) => daysQuery(month, false)),
  );
  past.asked.push(...byDay);
  return differingDays(past, byDay);
}

/** Compares again what differed, fetches again what still differs, and records what remains. */
async function confirm(past: Past): Promise<void> {
  const { account, request, tools, verification } = past;
  for (const { question, query, comparison } of past.asked) {
    let after = comparison;
    if (after.differences.length > 0) after = await compare(past, question, 2);
    // The platform's numbers may have changed since the first query.
    if (after.differences.length > 0) after = (await ask(past, query, 3)).comparison;
    const seenAt = await tools.warehouse.seenAt(tools.effects.now());
    const found = contradictionsOf(question, query, settledPart(past, question, after)).map((one) => ({
      ...one,
      reason: tools.redact(one.reason),
    }));
    for (const { window, reason } of found) {
      tools.effects.log.warn('past.unproven', "Past hours do not match the platform's totals", {
        account,
        window: formatWindow(window),
        reason,
      });
    }
    await verification.recordAsked(question, found, { runNumber: request.runNumber, seenAt });
  }
}

/** The newest settled days in the books, as windows. */
function settledDaysOf({ covered, lastHour, request }: Past, verifyDays: number): Window[] {
  return settledDays(covered, { lastHour, settleDays: request.config.settleDays, verifyDays });
}

/** Sends a query and compares its answer; an answer that contradicts itself is fetched once more. */
async function ask(past: Past, query: Query, attempt: number): Promise<Asked> {
  const { account, client, tools, verification } = past;
  past.questions += 1;
  const question = questionOf(query, past.questions);
  const sink = await verification.addQuestion(question);
  const { effects, signal } = tools;
  await askQuery({ account, query, client, landing: withoutLanding, sink, log: effects.log, signal });
  const comparison = await compare(past, question, attempt);
  if (comparison.answerFault === undefined || attempt > 1) return { question, query, comparison };
  return ask(past, query, attempt + 1);
}

/** A query about the past as the comparison needs it. */
export function questionOf(query: Query, number: number): PastQuery {
  const has = (dimension: GroupByDimension) => query.groupBy.includes(dimension);
  return {
    number,
    purpose: isPastPurpose(query.purpose) ? query.purpose : 'series',
    window: query.window,
    unit: query.resolution === 'monthly' ? 'month' : 'day',
    buckets: bucketsOf(query.window, query.resolution ?? 'daily'),
    by: {
      workspace: has('workspace'),
      type: has('resource_type'),
      name: has('resource_name'),
      uuid: has('resource_uuid'),
    },
    billingDimension: query.billingDimension,
    resourceName: query.resourceName,
  };
}

function compare(past: Past, question: PastQuery, attempt: number): Promise<PastComparison> {
  const { request, tools, verification } = past;
  // A comparison takes several statements, and two at once would mix their results.
  return tools.warehouse.exclusively(async () => {
    const seenAt = await tools.warehouse.seenAt(tools.effects.now());
    return verification.compare(question, { runNumber: request.runNumber, attempt, seenAt });
  });
}

/** Sends several queries, `concurrency` at a time; throws the first failure after all have ended. */
async function askAll(past: Past, queries: readonly Query[]): Promise<Asked[]> {
  const inFlight = pLimit(past.request.config.concurrency);
  const settled = await Promise.allSettled(queries.map((query) => inFlight(() => ask(past, query, 1))));
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * Sends the queries of the token's role. If the platform refuses to group by workspace, and answers a member's queries,
 * the token is a member's: later queries follow. Throws UnprovenError if that was not confirmed.
 */
async function askAllByRole(
  past: Past,
  queriesAs: (role: Role | undefined) => readonly Query[] | Promise<readonly Query[]>,
): Promise<Asked[]> {
  const queries = await queriesAs(past.role);
  try {
    return await askAll(past, queries);
  } catch (error) {
    const byWorkspace = queries.some(({ groupBy }) => groupBy.includes('workspace'));
    if (!(byWorkspace && error instanceof PlatformError && error.status === 403)) throw error;
    // Only grouping by workspace may be refused; if everything is, this throws as well.
    const found = await askAll(past, await queriesAs('member'));
    checkRoleChange(past.account, past.role, 'member', past.request.acceptReducedAccess);
    past.role = 'member';
    past.revealedRole = 'member';
    return found;
  }
}

/**
 * Fetches recorded contradictions again that no query of tonight includes, such as a month that was fetched by day
 * because its total differed: otherwise the record would stay although the platform agrees by now.
 */
async function askRecorded(past: Past): Promise<Asked[]> {
  const { account, verification } = past;
  const onRecord = await contradictedQuestions(verification.connection, account);
  const open = onRecord.filter((one) => !past.asked.some(({ question }) => includesQuestion(question, one)));
  const days = open.filter(({ purpose }) => purpose === 'days').map(({ window }) => window);
  const groups =
    days.length === 0 ? 0 : await groupsByWorkspace(verification.connection, account, days, metricsLimits.maxPageSize);
  const found = await askAllByRole(past, (role) =>
    [...daysQueries(unionWindows(days), role, groups).queries, ...recordedSeriesQueries(open, role)].slice(
      0,
      Math.max(1, past.request.config.deepVerifyPages),
    ),
  );
  past.asked.push(...found);
  return found;
}

/** Whether an answer covers everything that a recorded contradiction is about. */
function includesQuestion(question: PastQuery, recorded: ContradictedQuestion): boolean {
  return (
    question.purpose === recorded.purpose &&
    question.unit === recorded.unit &&
    question.window.start <= recorded.window.start &&
    question.window.end >= recorded.window.end &&
    (question.billingDimension === undefined || question.billingDimension === recorded.billingDimension)
  );
}

/**
 * The queries by day about the months in which series differ, each with all of its differences and as small as it can be.
 * Months in a row are one window, as long as the platform allows. Pure.
 */
export function narrowerQueries(query: Query, differences: readonly PastDifference[]): Query[] {
  return dailyWindows(bucketsIn(query, differences)).map((window) => {
    const within = differences.filter(
      ({ bucketStart }) => bucketStart < window.end && monthEnd(bucketStart) > window.start,
    );
    return {
      ...query,
      ...seriesQuery(window, 'daily', {
        billingDimension: query.billingDimension ?? only(within.map(({ billingDimension }) => billingDimension)),
        resourceName: only(within.map(({ resourceName }) => resourceName)),
      }),
      purpose: query.purpose,
      groupBy: query.groupBy,
    };
  });
}

function monthEnd(instant: Instant): Instant {
  return addCalendarMonths(floorMonth(instant), 1);
}

/**
 * The days in which answers differ from the books; warns of the largest differences of each. Days that a member's token
 * fetched lack workspaces, so an admin's answers differ from them although the platform changed nothing.
 */
async function differingDays(past: Past, found: readonly Asked[]): Promise<Window[]> {
  const { account, tools, role, verification } = past;
  const isAdmin = role === 'admin' && found.some(({ comparison }) => comparison.differences.length > 0);
  const asMember = isAdmin ? await coveredAsMember(verification.connection, account) : [];
  for (const { query, question, comparison } of found) {
    const differing = new Set(comparison.differences.map(({ bucketStart }) => bucketStart));
    const byAccess = bucketsOf(query.window, query.resolution ?? 'daily').filter(
      (bucket) =>
        differing.has(bucket.start) && asMember.some(({ start, end }) => start < bucket.end && end > bucket.start),
    );
    for (const window of unionWindows(byAccess)) {
      tools.effects.log.info('past.access', "Days fetched with a member's token lack workspaces; fetching them again", {
        account,
        window: formatWindow(window),
      });
    }
    const changed = comparison.differences.filter(
      ({ bucketStart }) => !byAccess.some(({ start, end }) => bucketStart >= start && bucketStart < end),
    );
    for (const difference of changed.slice(0, 3)) {
      tools.effects.log.warn('past.changed', 'Past totals changed; fetching those days again', {
        account,
        window: formatWindow(question.window),
        reason: describe(question, difference),
      });
    }
  }
  return unionWindows(found.flatMap(({ query, comparison }) => bucketsIn(query, comparison.differences)));
}

/** A comparison without unsettled months: their last hours may have changed, so the next run checks again. */
function settledPart({ account, tools, until }: Past, question: PastQuery, found: PastComparison): PastComparison {
  if (question.purpose !== 'months') return found;
  const young = question.buckets.filter(({ end }) => end > until).map(({ start }) => start);
  const [first] = found.differences.filter(({ bucketStart }) => young.includes(bucketStart));
  if (first !== undefined) {
    tools.effects.log.info(
      'month.unsettled',
      'A month that is not settled does not match its total yet; the next run checks again',
      {
        account,
        reason: describe(question, first),
      },
    );
  }
  return { ...found, differences: found.differences.filter(({ bucketStart }) => !young.includes(bucketStart)) };
}

/** Tonight's queries about series. */
export async function tonightsSeries(
  connection: Connection,
  account: string,
  parts: readonly Window[],
  deepVerifyPages: number,
  role: Role | undefined,
): Promise<Query[]> {
  const past: PastWindow[] = [];
  for (const window of parts) {
    past.push({ window, ...(await seriesLives(connection, account, window, role === 'admin')) });
  }
  return seriesQueries(past, await seriesVerified(connection, account), deepVerifyPages, role);
}

/** The contradictions in an answer after its last comparison: with the books, by billing dimension, or with itself. */
function contradictionsOf(question: PastQuery, query: Query, found: PastComparison): Contradiction[] {
  if (found.answerFault !== undefined) {
    const { answerFault: reason, costDifference } = found;
    return [{ billingDimension: query.billingDimension, window: query.window, reason, costDifference }];
  }
  const dimensions = [...new Set(found.differences.map(({ billingDimension }) => billingDimension))];
  return dimensions.flatMap((billingDimension) => {
    const own = found.differences.filter((difference) => difference.billingDimension === billingDimension);
    const [largest] = own;
    if (largest === undefined) return [];
    const reason =
      `${describe(question, largest)}; the platform's hours and its ${question.unit}s contradict each other; the books keep ` +
      'the hours, and the next run checks again';
    const inCost = own.filter((one) => Math.abs(Number(one.costDifference)) > one.costTolerance);
    const costDifference = largestMagnitude(inCost.map((one) => one.costDifference));
    return bucketsIn(query, own).map((window) => ({ billingDimension, window, reason, costDifference }));
  });
}

/** Answers that only verify are not loaded; only their comparisons are stored. */
export const withoutLanding = { page: async () => undefined, restart: async () => undefined };

function isPastPurpose(purpose: Purpose): purpose is PastQuery['purpose'] {
  return purpose === 'days' || purpose === 'names' || purpose === 'months';
}

/** The buckets of a query in which something differs, adjacent ones as one window. */
function bucketsIn(query: Query, differences: readonly PastDifference[]): Window[] {
  const starts = new Set(differences.map(({ bucketStart }) => bucketStart));
  return unionWindows(bucketsOf(query.window, query.resolution ?? 'daily').filter(({ start }) => starts.has(start)));
}

/** The value that all of them share; undefined if they differ or there are none. */
function only(values: readonly (string | undefined)[]): string | undefined {
  const distinct = new Set(values);
  return distinct.size === 1 ? values[0] : undefined;
}

function describe(question: PastQuery, difference: PastDifference): string {
  const { billingDimension, workspace, resourceType, resourceName, resourceUuid, bucketStart } = difference;
  const group = [
    billingDimension ?? 'no billing dimension',
    workspace,
    resourceType,
    resourceName,
    resourceUuid,
  ].filter((part) => part !== undefined);
  const bucket = formatInstant(bucketStart).slice(0, question.unit === 'day' ? 10 : 7);
  const { costDifference, usageDifference, costTolerance, usageTolerance } = difference;
  const isCost = Math.abs(Number(costDifference)) > costTolerance;
  const [what, found, expected, differing, tolerance] = isCost
    ? ['cost in USD', difference.ourCost, difference.theirCost, costDifference, costTolerance]
    : ['usage', difference.ourUsage, difference.theirUsage, usageDifference, usageTolerance];
  return (
    `check "books = the platform's totals by ${question.unit}" (${what}), ${group.join(' · ')} on ${bucket}: ` +
    `found ${found}, expected ${expected}, difference ${differing}, ` +
    `rounding explains ${plainDecimal(Number(tolerance.toPrecision(3)))}`
  );
}
