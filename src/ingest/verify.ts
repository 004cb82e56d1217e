import pLimit, { type LimitFunction } from 'p-limit';
import { plainDecimal } from '../decimals.ts';
import { PlatformError, UnprovenError } from '../errors.ts';
import {
  askQuery,
  bucketsOf,
  type CoveredWindow,
  daysQueries,
  daysQuery,
  everyDay,
  monthsQueries,
  type PastWindow,
  type Purpose,
  type Query,
  type Role,
  recordedSeriesQueries,
  seriesQueries,
  seriesQuery,
  settledDays,
  settledUntil,
  splitAtMidnight,
  wholeMonths,
} from '../fetch/index.ts';
import type { Client, GroupByDimension } from '../platform/index.ts';
import { floorHour, formatInstant, formatWindow, type Instant, unionWindows, type Window } from '../time.ts';
import {
  type ComparedTotals,
  type Connection,
  type ContradictedQuestion,
  type Contradiction,
  contradictedQuestions,
  dueMonths,
  groupsByWorkspace,
  type PastComparison,
  type PastDifference,
  type PastQuery,
  seriesLives,
  seriesVerified,
  type TotalsKnown,
  type Verification,
} from '../warehouse/index.ts';
import type { IngestRequest, IngestTools } from './tools.ts';
import { checkRoleChange } from './windows.ts';

/** Days on which the platform has to tell less than the books, and the share of their cost, to be a question of sight. */
const accessDays = 3;
const accessShareOfDays = 0.8;
const accessShareOfCost = 0.7;

/** Compares the settled past with the platform's own totals; what it finds is read again in detail by its caller. */
export interface PastVerification {
  /**
   * Asks daily totals and returns the days that differ. Throws UnprovenError with a question where the platform shows
   * only a part of what it showed before, PlatformError or RefusedAnswerError where it does not answer.
   */
  days(): Promise<Window[]>;
  /** Asks tonight's share of the totals of every series and returns the days that differ. */
  series(): Promise<Window[]>;
  /**
   * Asks the totals of the whole months of `complete` (from where the books begin to where they are complete) that
   * changed since they last met them, and returns the days of settled ones that differ. Comes after all that is loaded.
   */
  months(complete: Window): Promise<Window[]>;
  /**
   * Compares everything that differed once more, now that it was read again, and asks anew where it still differs. What
   * differs even then goes on record: there the platform contradicts itself.
   */
  confirm(): Promise<void>;
  close(): void;
}

/** A question with what its last comparison found. */
interface Asked {
  readonly question: PastQuery;
  readonly query: Query;
  comparison: PastComparison;
}

/** What opens the verification of an account's past. */
export interface PastOptions {
  readonly account: string;
  readonly covered: readonly CoveredWindow[];
  /** Counts its requests. */
  readonly client: Client;
  readonly known: TotalsKnown;
  /** As whom the account was read before. */
  readonly role: Role | undefined;
  readonly now: Instant;
  readonly request: IngestRequest;
  readonly tools: IngestTools;
}

/** What every part of a verification works with. */
interface Past extends PastOptions {
  readonly verification: Verification;
  readonly lastHour: Instant;
  /** Days that end by then are settled. */
  readonly until: Instant;
  /** Every question of tonight, for the second comparison. */
  readonly asked: Asked[];
  /** How many questions were asked; it numbers them. */
  questions: number;
  /** Runs one comparison at a time: it takes several statements, and two at once would record each other's proofs. */
  readonly oneAtATime: LimitFunction;
}

/** Opens the verification of an account's settled past, as it is in the books now. */
export async function openPast(options: PastOptions): Promise<PastVerification> {
  const { account, known, request, tools } = options;
  const lastHour = floorHour(options.now);
  const verification = await tools.warehouse.openVerification(account, known);
  const past: Past = {
    ...options,
    verification,
    lastHour,
    until: settledUntil(lastHour, request.config.settleDays),
    asked: [],
    questions: 0,
    oneAtATime: pLimit(1),
  };
  return {
    days: () => verifyDays(past),
    series: () => verifySeries(past),
    months: (complete) => verifyMonths(past, complete),
    confirm: () => confirm(past),
    close: () => verification.close(),
  };
}

/** Compares the daily totals of the newest settled days. */
async function verifyDays(past: Past): Promise<Window[]> {
  const { account, request, role, verification } = past;
  const days = settledDaysOf(past, request.config.verifyDays);
  if (days.length === 0) return [];
  const groups = await groupsByWorkspace(verification.connection, account, days);
  const { queries, byWorkspace } = daysQueries(days, role, groups);
  const found = await askAll(past, queries).catch(async (error: unknown) => {
    if (!(byWorkspace && error instanceof PlatformError && error.status === 403)) throw error;
    // Refused by workspace alone, or altogether? Only the first is another role.
    const asMember = await askAll(past, daysQueries(days, 'member', groups).queries);
    checkRoleChange(account, 'admin', 'member', request.acceptReducedAccess);
    return asMember;
  });
  if (!request.acceptReducedAccess) refuseReducedTotals(account, await verification.totals(accessDays));
  past.asked.push(...found);
  return differingDays(past, found);
}

/** Compares tonight's share of the totals of every series. */
async function verifySeries(past: Past): Promise<Window[]> {
  const { deepVerifyPages } = past.request.config;
  const everything = settledDaysOf(past, everyDay);
  const isAsked = everything.length > 0 && deepVerifyPages > 0;
  const { connection } = past.verification;
  const queries = isAsked ? await tonightsSeries(connection, past.account, everything, deepVerifyPages, past.role) : [];
  const found = await askAll(past, queries);
  past.asked.push(...found);
  found.push(...(await askRecorded(past)));
  const differing = found.filter(({ comparison }) => comparison.differences.length > 0);
  const byDay = differing.filter(({ question }) => question.unit === 'day');
  const byMonth = differing.filter(({ question }) => question.unit === 'month');
  const narrowed = (await Promise.all(byMonth.map((one) => narrow(past, one)))).flat();
  past.asked.push(...narrowed);
  return differingDays(past, [...byDay, ...narrowed]);
}

/** Compares the totals of whole months that changed since they last matched; those that differ are asked by day. */
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

/** Compares once more what differed, asks again where it still does, and records what differs even then. */
async function confirm(past: Past): Promise<void> {
  const { account, request, tools, verification } = past;
  for (const { question, query, comparison } of past.asked) {
    let after = comparison;
    if (after.differences.length > 0) after = await compare(past, question, 2);
    // The platform's numbers may have changed since the question was asked.
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

/** The settled days in the books, as windows: the newest so many. */
function settledDaysOf({ covered, lastHour, request }: Past, verifyDays: number): Window[] {
  return settledDays(covered, { lastHour, settleDays: request.config.settleDays, verifyDays });
}

/** Asks a query and compares its answer; an answer that contradicts itself is asked for once more. */
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

function questionOf(query: Query, number: number): PastQuery {
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
  return past.oneAtATime(async () => {
    const seenAt = await tools.warehouse.seenAt(tools.effects.now());
    return verification.compare(question, { runNumber: request.runNumber, attempt, seenAt });
  });
}

/** Asks several queries, `concurrency` at a time; the first failure is thrown when all have ended. */
async function askAll(past: Past, queries: readonly Query[]): Promise<Asked[]> {
  const inFlight = pLimit(past.request.config.concurrency);
  const settled = await Promise.allSettled(queries.map((query) => inFlight(() => ask(past, query, 1))));
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * Asks again what is on record as a contradiction and is not part of any question of tonight, such as a month that was
 * asked by day because its total differed: otherwise it would stay on record although the platform agrees by now.
 */
async function askRecorded(past: Past): Promise<Asked[]> {
  const { account, role, verification } = past;
  const onRecord = await contradictedQuestions(verification.connection, account);
  const open = onRecord.filter((one) => !past.asked.some(({ question }) => includesQuestion(question, one)));
  const days = open.filter(({ purpose }) => purpose === 'days').map(({ window }) => window);
  const groups = days.length === 0 ? 0 : await groupsByWorkspace(verification.connection, account, days);
  const queries = [...daysQueries(unionWindows(days), role, groups).queries, ...recordedSeriesQueries(open, role)];
  const found = await askAll(past, queries.slice(0, Math.max(1, past.request.config.deepVerifyPages)));
  past.asked.push(...found);
  return found;
}

/** Whether an answer to a question says all that a contradiction on record is about. */
function includesQuestion(question: PastQuery, recorded: ContradictedQuestion): boolean {
  return (
    question.purpose === recorded.purpose &&
    question.unit === recorded.unit &&
    question.window.start <= recorded.window.start &&
    question.window.end >= recorded.window.end &&
    (question.billingDimension === undefined || question.billingDimension === recorded.billingDimension)
  );
}

/** A month in which series differ, asked for by day. */
async function narrow(past: Past, { query, comparison }: Asked): Promise<Asked[]> {
  const months = bucketsIn(query, comparison.differences).flatMap(splitAtMidnight);
  const narrower = months.map((window) => {
    const within = comparison.differences.filter(
      ({ bucketStart }) => bucketStart >= window.start && bucketStart < window.end,
    );
    // The fewest series that hold all that differ in this month.
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
  return askAll(past, narrower);
}

/** Throws UnprovenError where the platform shows only a part of what it showed before. */
function refuseReducedTotals(account: string, totals: ComparedTotals): void {
  const { ours, theirs, days, lowerDays, workspacesGone } = totals;
  const isLess = days >= accessDays && lowerDays >= days * accessShareOfDays && theirs < ours * accessShareOfCost;
  if (!isLess && workspacesGone.length === 0) return;
  const what = isLess
    ? `over ${days} settled days with cost the platform shows ${theirs.toFixed(2)} USD, and the books hold ` +
      `${ours.toFixed(2)} USD of the same days`
    : `the platform shows no cost any more, on any settled day, of ${workspacesGone.join(', ')}`;
  throw new UnprovenError(
    `account ${account}: ${what}. Nothing was changed. Does the token see less than before? If so, give the account ` +
      'one that sees all of it; if the platform did restate so much, run "costbook ingest --accept-reduced-access" once',
  );
}

/** The days in which answers differ from the books; warns about the largest differences of each. */
function differingDays({ account, tools }: Past, found: readonly Asked[]): Window[] {
  for (const { question, comparison } of found) {
    for (const difference of comparison.differences.slice(0, 3)) {
      tools.effects.log.warn('past.changed', 'Past totals changed; fetching those days again', {
        account,
        window: formatWindow(question.window),
        reason: describe(question, difference),
      });
    }
  }
  return unionWindows(found.flatMap(({ query, comparison }) => bucketsIn(query, comparison.differences)));
}

/** A comparison without months that are not settled: their last hours may have changed, so the next run asks again. */
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

/** The questions about the series that are tonight's. */
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

/** What an answer that was compared last contradicts: the books, by billing dimension, or itself. */
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
      'the hours, and the next ingest asks again';
    const costDifference = own
      .filter((one) => Math.abs(Number(one.costDifference)) > one.costTolerance)
      .map((one) => one.costDifference.replace('-', ''))
      .toSorted((a, b) => Number(b) - Number(a))[0];
    return bucketsIn(query, own).map((window) => ({ billingDimension, window, reason, costDifference }));
  });
}

/** Answers that only verify are not loaded: what stays of them is their proof. */
const withoutLanding = { page: async () => undefined, restart: async () => undefined };

function isPastPurpose(purpose: Purpose): purpose is PastQuery['purpose'] {
  return purpose === 'days' || purpose === 'names' || purpose === 'months';
}

/** The buckets of a question in which something differs, those that touch as one window. */
function bucketsIn(query: Query, differences: readonly PastDifference[]): Window[] {
  const starts = new Set(differences.map(({ bucketStart }) => bucketStart));
  return unionWindows(bucketsOf(query.window, query.resolution ?? 'daily').filter(({ start }) => starts.has(start)));
}

/** The one value that all are; undefined where they differ or there is none. */
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
