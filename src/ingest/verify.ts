import pLimit from 'p-limit';
import { plainDecimal } from '../decimals.ts';
import { PlatformError, UnprovenError } from '../errors.ts';
import {
  askQuery,
  bucketsOf,
  type CoveredPiece,
  daysQueries,
  daysQuery,
  everyDay,
  monthsQueries,
  type PastStretch,
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
  type Connection,
  type ContradictedQuestion,
  type Contradiction,
  contradictedQuestions,
  dueMonths,
  groupsByWorkspace,
  type PastComparison,
  type PastDifference,
  type PastQuestion,
  seriesLives,
  seriesVerified,
  type TotalsKnown,
} from '../warehouse/index.ts';
import type { IngestRequest, IngestTools } from './tools.ts';
import { askAboutRole } from './windows.ts';

/** Days on which the platform has to tell less than the books, and the share of their cost, to be a question of sight. */
const sightDays = 3;
const sightShareOfDays = 0.8;
const sightShareOfCost = 0.7;

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
  readonly question: PastQuestion;
  readonly query: Query;
  comparison: PastComparison;
}

/** Opens the verification of an account's settled past, as it is in the books now. */
export async function openPast(options: {
  account: string;
  covered: readonly CoveredPiece[];
  /** Counts its requests. */
  client: Client;
  known: TotalsKnown;
  /** As whom the account was read before. */
  role: Role | undefined;
  now: Instant;
  request: IngestRequest;
  tools: IngestTools;
}): Promise<PastVerification> {
  const { account, client, known, request, tools } = options;
  const { warehouse, effects, signal } = tools;
  const { config, runNumber } = request;
  const lastHour = floorHour(options.now);
  const { settleDays, verifyDays, deepVerifyPages } = config;
  const until = settledUntil(lastHour, settleDays);
  const everything = settledDays(options.covered, {
    lastHour,
    settleDays,
    verifyDays: everyDay,
  });
  const verification = await warehouse.openVerification(account, known);
  const asked: Asked[] = [];
  let questions = 0;

  /** Asks a query and compares its answer; an answer that contradicts itself is asked for once more. */
  async function ask(query: Query, reading: number): Promise<Asked> {
    questions += 1;
    const has = (dimension: GroupByDimension) => query.groupBy.includes(dimension);
    const question: PastQuestion = {
      number: questions,
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
    const sink = await verification.addQuestion(question);
    await askQuery({ account, query, client, landing: notLanded, sink, log: effects.log, signal });
    const comparison = await compare(question, reading);
    if (comparison.answerFault === undefined || reading > 1) return { question, query, comparison };
    return ask(query, reading + 1);
  }

  // Several statements that belong together: two questions compared at once would record each other's proofs.
  const oneAtATime = pLimit(1);
  function compare(question: PastQuestion, reading: number): Promise<PastComparison> {
    return oneAtATime(async () => {
      const seenAt = await warehouse.seenAt(effects.now());
      return verification.compare(question, { runNumber, reading, seenAt });
    });
  }

  /** Asks several queries, `concurrency` at a time, and returns the days in which their answers differ. */
  async function askAll(queries: readonly Query[]): Promise<Asked[]> {
    const inFlight = pLimit(config.concurrency);
    const settled = await Promise.allSettled(queries.map((query) => inFlight(() => ask(query, 1))));
    return settled.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** Throws where the platform shows only a part of what it showed before. */
  function askAboutSight(totals: Awaited<ReturnType<typeof verification.totals>>): void {
    const { ours, theirs, days, lowerDays, workspacesGone } = totals;
    const isLess = days >= sightDays && lowerDays >= days * sightShareOfDays && theirs < ours * sightShareOfCost;
    if (!isLess && workspacesGone.length === 0) return;
    const what = isLess
      ? `over ${days} settled days with cost the platform shows ${theirs.toFixed(2)} USD, and the books hold ` +
        `${ours.toFixed(2)} USD of the same days`
      : `the platform shows no cost any more, on any settled day, of ${workspacesGone.join(', ')}`;
    throw new UnprovenError(
      `account ${account}: ${what}. Nothing was changed. Does the token see less than before? If so, give the account ` +
        'one that sees all of it; if the platform did restate so much, run "costbook ingest --accept-sight" once',
    );
  }

  function tell(found: readonly Asked[]): Window[] {
    const differing = found.flatMap(({ query, comparison }) => bucketsIn(query, comparison.differences));
    const days = unionWindows(differing);
    for (const { question, comparison } of found) {
      for (const difference of comparison.differences.slice(0, 3)) {
        effects.log.warn('the past is not what it was; it is read again', {
          account,
          window: formatWindow(question.window),
          because: describe(question, difference),
        });
      }
    }
    return days;
  }

  /** What contradicts: the last hours of a young month may have changed since they were read, so it is asked again. */
  function settledPart(question: PastQuestion, found: PastComparison): PastComparison {
    if (question.purpose !== 'months') return found;
    const young = question.buckets.filter(({ end }) => end > until).map(({ start }) => start);
    const [first] = found.differences.filter(({ bucketStart }) => young.includes(bucketStart));
    if (first !== undefined) {
      effects.log.info('a month that is not settled does not meet its total yet; the next run asks again', {
        account,
        because: describe(question, first),
      });
    }
    return { ...found, differences: found.differences.filter(({ bucketStart }) => !young.includes(bucketStart)) };
  }

  /**
   * Asks again what is on record as a contradiction and is not part of any question of tonight, such as a month that was
   * asked by day because its total differed: otherwise it would stay on record although the platform agrees by now.
   */
  async function askRecorded(): Promise<Asked[]> {
    const onRecord = await contradictedQuestions(verification.connection, account);
    const open = onRecord.filter((one) => !asked.some(({ question }) => includesQuestion(question, one)));
    const days = open.filter(({ purpose }) => purpose === 'days').map(({ window }) => window);
    const groups = days.length === 0 ? 0 : await groupsByWorkspace(verification.connection, account, days);
    const queries = [
      ...daysQueries(unionWindows(days), options.role, groups).queries,
      ...recordedSeriesQueries(open, options.role),
    ];
    const found = await askAll(queries.slice(0, Math.max(1, deepVerifyPages)));
    asked.push(...found);
    return found;
  }

  /** A month in which series differ, asked for by day. */
  async function narrow({ query, comparison }: Asked): Promise<Asked[]> {
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
    return askAll(narrower);
  }

  return {
    async days() {
      const days = settledDays(options.covered, { lastHour, settleDays, verifyDays });
      if (days.length === 0) return [];
      const groups = await groupsByWorkspace(verification.connection, account, days);
      const { queries, byWorkspace } = daysQueries(days, options.role, groups);
      const found = await askAll(queries).catch(async (error: unknown) => {
        if (!(byWorkspace && error instanceof PlatformError && error.status === 403)) throw error;
        // Refused by workspace alone, or altogether? Only the first is another role.
        const asMember = await askAll(daysQueries(days, 'member', groups).queries);
        askAboutRole(account, 'admin', 'member', request.acceptSight);
        return asMember;
      });
      if (!request.acceptSight) askAboutSight(await verification.totals(sightDays));
      asked.push(...found);
      return tell(found);
    },

    async series() {
      const { connection } = verification;
      const isAsked = everything.length > 0 && deepVerifyPages > 0;
      const queries = isAsked
        ? await tonightsSeries(connection, account, everything, deepVerifyPages, options.role)
        : [];
      const found = await askAll(queries);
      asked.push(...found);
      found.push(...(await askRecorded()));
      const differing = found.filter(({ comparison }) => comparison.differences.length > 0);
      const byDay = differing.filter(({ question }) => question.unit === 'day');
      const byMonth = differing.filter(({ question }) => question.unit === 'month');
      const narrowed = (await Promise.all(byMonth.map(narrow))).flat();
      asked.push(...narrowed);
      return tell([...byDay, ...narrowed]);
    },

    async months(complete) {
      const months = wholeMonths(complete);
      if (months === undefined) return [];
      const due = await dueMonths(verification.connection, account, months);
      const found = await askAll(monthsQueries(due));
      asked.push(...found);
      const differing = found.flatMap(({ question, comparison }) =>
        question.buckets.filter(
          ({ start, end }) => end <= until && comparison.differences.some(({ bucketStart }) => bucketStart === start),
        ),
      );
      const byDay = await askAll(differing.map((month) => daysQuery(month, false)));
      asked.push(...byDay);
      return tell(byDay);
    },

    async confirm() {
      for (const { question, query, comparison } of asked) {
        let after = comparison;
        if (after.differences.length > 0) after = await compare(question, 2);
        // The platform's numbers may have moved on since it was asked.
        if (after.differences.length > 0) after = (await ask(query, 3)).comparison;
        const seenAt = await warehouse.seenAt(effects.now());
        const found = contradictionsOf(question, query, settledPart(question, after)).map((one) => ({
          ...one,
          because: tools.redact(one.because),
        }));
        for (const { window, because } of found) {
          effects.log.warn('the past is unproven', { account, window: formatWindow(window), because });
        }
        await verification.recordAsked(question, found, { runNumber, seenAt });
      }
    },

    close: () => verification.close(),
  };
}

/** Whether an answer to a question says all that a contradiction on record is about. */
function includesQuestion(question: PastQuestion, recorded: ContradictedQuestion): boolean {
  return (
    question.purpose === recorded.purpose &&
    question.unit === recorded.unit &&
    question.window.start <= recorded.window.start &&
    question.window.end >= recorded.window.end &&
    (question.billingDimension === undefined || question.billingDimension === recorded.billingDimension)
  );
}

/** The questions about the series that are tonight's. */
export async function tonightsSeries(
  connection: Connection,
  account: string,
  stretches: readonly Window[],
  deepVerifyPages: number,
  role: Role | undefined,
): Promise<Query[]> {
  const past: PastStretch[] = [];
  for (const window of stretches) {
    past.push({ window, ...(await seriesLives(connection, account, window, role === 'admin')) });
  }
  return seriesQueries(past, await seriesVerified(connection, account), deepVerifyPages, role);
}

/** What an answer that was compared last contradicts: the books, by billing dimension, or itself. */
function contradictionsOf(question: PastQuestion, query: Query, found: PastComparison): Contradiction[] {
  if (found.answerFault !== undefined) {
    return [{ billingDimension: query.billingDimension, window: query.window, because: found.answerFault }];
  }
  const dimensions = [...new Set(found.differences.map(({ billingDimension }) => billingDimension))];
  return dimensions.flatMap((billingDimension) => {
    const own = found.differences.filter((difference) => difference.billingDimension === billingDimension);
    const [largest] = own;
    if (largest === undefined) return [];
    const because =
      `${describe(question, largest)}; the platform's hours and its ${question.unit}s contradict each other; the books keep ` +
      'the hours, and the next ingest asks again';
    return bucketsIn(query, own).map((window) => ({ billingDimension, window, because }));
  });
}

/** Answers that only verify are not loaded: what stays of them is their proof. */
const notLanded = { page: async () => undefined, restart: async () => undefined };

function isPastPurpose(purpose: Purpose): purpose is PastQuestion['purpose'] {
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

function describe(question: PastQuestion, difference: PastDifference): string {
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
