import { plainDecimal } from '../../money/money.ts';
import { textOrUndefined } from '../../tables/optional-text.ts';
import { formatInstant, type Instant, type Window } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import type { ContradictedQuestion, PageSink, Reconciliation, SeriesLife } from '../page.ts';
import { readSql, readSqlFolder } from '../sql/sql-files.ts';
import type { Connection, SqlRow, SqlValue } from '../store/connection.ts';
import { checkWords } from './check-codes.ts';
import { readReconciliations, reconciliationEvent, type TotalsKnown, toleranceParameters } from './reconciliation.ts';
import { openStage, type Stage } from './stage.ts';

/** A query about the past, to compare its answer with the books. */
export interface PastQuery {
  /** Number of the query within the verification. */
  readonly number: number;
  readonly purpose: 'days' | 'series' | 'names' | 'months';
  readonly window: Window;
  readonly unit: 'day' | 'month';
  /** The window's days or months. */
  readonly buckets: readonly Window[];
  /** The dimensions besides the billing dimension. */
  readonly by: { readonly workspace: boolean; readonly type: boolean; readonly name: boolean; readonly uuid: boolean };
  readonly billingDimension: string | undefined;
  readonly resourceName: string | undefined;
}

/** A bucket of a group in which books and platform differ; cost and usage are decimal text. */
export interface PastDifference {
  readonly billingDimension: string | undefined;
  readonly workspace: string | undefined;
  readonly resourceType: string | undefined;
  readonly resourceName: string | undefined;
  readonly resourceUuid: string | undefined;
  readonly bucketStart: Instant;
  readonly ourCost: string;
  readonly theirCost: string;
  readonly costDifference: string;
  readonly ourUsage: string;
  readonly theirUsage: string;
  readonly usageDifference: string;
  /** The largest difference that rounding explains, for cost and for usage. */
  readonly costTolerance: number;
  readonly usageTolerance: number;
}

/** The result of comparing one query. */
export interface PastComparison {
  /** The largest first. */
  readonly differences: readonly PastDifference[];
  /** Why the answer itself proves nothing: its pages do not add up to its total. Undefined if they do. */
  readonly answerFault: string | undefined;
  /** The difference of costs that contradict each other: USD, decimal text without sign. */
  readonly costDifference: string | undefined;
}

/** A contradiction between the platform's totals and its hours, or between its totals. */
export interface Contradiction {
  readonly billingDimension: string | undefined;
  readonly window: Window;
  readonly reason: string;
  /** The largest difference in cost: USD, decimal text without sign; undefined if no cost differs. */
  readonly costDifference: string | undefined;
}

/** Sums over everything compared so far: USD as numbers, to judge sizes only. */
export interface ComparedTotals {
  readonly ours: number;
  readonly theirs: number;
  readonly days: number;
  readonly lowerDays: number;
  /** Days on which the platform has nothing of all that the books have, with their cost in the books. */
  readonly empty: { readonly days: number; readonly from: string; readonly to: string; readonly ours: number };
  /** Workspaces that had cost on that many days and now have none on any. */
  readonly workspacesGone: readonly string[];
  /** Of these, those whose cost of every day is now under a name that the books do not have. */
  readonly renames: readonly { readonly workspace: string; readonly newName: string }[];
}

/** Compares the platform's totals of the past with the books; owns its connection. */
export interface Verification {
  /** A sink for the pages of a query's answer. */
  addQuestion(question: PastQuery): Promise<PageSink>;
  /** Compares an answer and records the comparisons, under its attempt number. */
  compare(question: PastQuery, facts: ComparisonFacts): Promise<PastComparison>;
  /** Sums over everything compared so far. `accessDays`: days with cost from which a vanished workspace counts. */
  totals(accessDays: number): Promise<ComparedTotals>;
  /** The connection that it owns, for reading. */
  readonly connection: Connection;
  /** Records the contradictions that a query found; replaces its earlier ones. */
  recordAsked(
    question: PastQuery,
    found: readonly Contradiction[],
    facts: { runNumber: number; seenAt: Instant },
  ): Promise<void>;
  close(): void;
}

/** Compares the platform's totals of the past with books that it only reads; owns its connection. */
export interface PastReader extends Pick<Verification, 'addQuestion' | 'totals' | 'close'> {
  /** Compares an answer, for `totals`. */
  compare(question: PastQuery): Promise<void>;
}

/** The check codes of the comparisons. */
const checkCodes = {
  days: 'days_match_platform',
  series: 'series_match_platform',
  names: 'names_match_platform',
  months: 'month_dimension_matches_platform',
} as const;

/** State that all parts of a comparison share. */
interface ComparisonState {
  readonly connection: Connection;
  readonly stage: Stage;
  readonly account: string;
  readonly known: TotalsKnown;
  /** The text of a file of `sql/verify`. */
  sql(name: string): string;
}

/** State that all parts of a verification share. */
interface VerificationState extends ComparisonState {
  readonly recorder: Recorder;
}

/** Run, attempt and time of a comparison. */
interface ComparisonFacts {
  readonly runNumber: number;
  readonly attempt: number;
  readonly seenAt: Instant;
}

/** Opens a verification of one account on a connection of its own. */
export async function openVerification(
  connection: Connection,
  recorder: Recorder,
  account: string,
  known: TotalsKnown,
): Promise<Verification> {
  const state = { ...(await openComparison(connection, recorder, account, known)), recorder };
  return {
    ...readerOf(state),
    compare: (question, facts) => compareQuestion(state, question, facts),
    connection,
    recordAsked: (question, found, facts) => recordContradictions(state, question, found, facts),
  };
}

/** Opens a comparison of one account with the published snapshot, on a connection of its own. */
export async function openPastReader(connection: Connection, account: string, known: TotalsKnown): Promise<PastReader> {
  const noRecorder = { record: () => Promise.reject(new Error('the snapshot is only read')) };
  const state = await openComparison(connection, noRecorder, account, known);
  return { ...readerOf(state), compare: (question) => compareTotals(state, question) };
}

async function openComparison(
  connection: Connection,
  recorder: Recorder,
  account: string,
  known: TotalsKnown,
): Promise<ComparisonState> {
  const stage = await openStage(connection, recorder);
  const files = new Map((await readSqlFolder('verify')).map((file) => [file.name, file.text]));
  function sql(name: string): string {
    const text = files.get(name);
    if (text === undefined) throw new Error(`sql/verify/${name}.sql is missing`);
    return text;
  }
  await stage.begin(account, { start: 0, end: 0 });
  await connection.run(sql('tables'));
  return { connection, stage, account, known, sql };
}

function readerOf(state: ComparisonState): Pick<Verification, 'addQuestion' | 'totals' | 'close'> {
  const { connection, stage } = state;
  return {
    async addQuestion(question) {
      await connection.appendRows(
        'asked_buckets',
        question.buckets.map(({ start }, bucket) => [question.number, bucket, formatInstant(start).slice(0, 19)]),
      );
      return stage.addQuery(question.number, question.purpose, question.purpose, question.window);
    },
    totals: (accessDays) => totalsCompared(state, accessDays),
    close: () => stage.close(),
  };
}

/** Compares a query's answer with the books, by bucket and group. */
async function compareTotals(
  { connection, stage, account, known, sql }: ComparisonState,
  question: PastQuery,
): Promise<void> {
  const { number: query, window, by } = question;
  await connection.run(sql('compare_totals'), {
    ...parametersOf(account, window),
    ...toleranceParameters(known, stage.decimals()),
    billing_dimension: question.billingDimension ?? null,
    resource_name: question.resourceName ?? null,
    query,
    unit: question.unit,
    by_workspace: by.workspace,
    by_type: by.type,
    by_name: by.name,
    by_uuid: by.uuid,
  });
}

/** Compares a query's answer with the books and with its own total, and records the comparisons. */
async function compareQuestion(
  state: VerificationState,
  question: PastQuery,
  facts: ComparisonFacts,
): Promise<PastComparison> {
  const { connection, sql, account, known, stage } = state;
  const { number: query, purpose, window } = question;
  const tolerance = toleranceParameters(known, stage.decimals());
  const billing_dimension = question.billingDimension ?? null;
  await compareTotals(state, question);
  await connection.run(sql('reconcile'), {
    ...tolerance,
    billing_dimension,
    account,
    query,
    purpose,
    check_code: checkCodes[purpose],
    bucket_hours: question.unit === 'day' ? 24 : 31 * 24,
  });
  const reconciliations = await readReconciliations(connection);
  const [fault] = await connection.rows(sql('first_contradiction'), { check_code: checkCodes[purpose] });
  if (purpose === 'months') {
    await recordMonths(state, question, facts, {
      reconciliations,
      isFaulty: fault !== undefined,
      agreed: tolerance['agreed'],
    });
  } else await recordReconciliations(state, window, facts, reconciliations);
  const rows = await connection.rows(sql('differing_buckets'), { query });
  return {
    answerFault: fault && faultWords(fault),
    costDifference: fault?.['measure'] === 'cost' ? String(fault['difference']).replace('-', '') : undefined,
    differences: rows.map(toDifference),
  };
}

/** Records what an answer by month proves: the answer as a whole, and each of its months. */
async function recordMonths(
  state: VerificationState,
  { number: query, window, buckets }: PastQuery,
  facts: ComparisonFacts,
  answer: {
    readonly reconciliations: readonly Reconciliation[];
    readonly isFaulty: boolean;
    readonly agreed: SqlValue | undefined;
  },
): Promise<void> {
  const { connection, sql } = state;
  const ofAnswer = answer.reconciliations.filter((reconciliation) => reconciliation.checkCode !== checkCodes.months);
  await recordReconciliations(state, window, facts, ofAnswer);
  // An answer that contradicts itself proves no month.
  if (answer.isFaulty) return;
  for (const month of buckets) {
    const month_start = formatInstant(month.start);
    await connection.run(sql('month_reconciliation'), { query, month_start, agreed: answer.agreed ?? null });
    await recordReconciliations(state, month, facts, await readReconciliations(connection));
  }
}

async function recordReconciliations(
  { recorder, account }: VerificationState,
  window: Window,
  { runNumber, attempt, seenAt }: ComparisonFacts,
  reconciliations: readonly Reconciliation[],
): Promise<void> {
  await recorder.record(reconciliationEvent({ account, window, runNumber, attempt, seenAt }, reconciliations));
}

/** Why an answer proves nothing: the failed comparison with its own total. */
function faultWords(fault: SqlRow): string {
  const tolerance = plainDecimal(Number(Number(fault['tolerance']).toPrecision(3)));
  return (
    `check "${checkWords(String(fault['check_code']))}" (${fault['measure']}): found ${fault['ours']}, expected ${fault['theirs']}, ` +
    `difference ${fault['difference']}, rounding explains ${tolerance}; ` +
    'the answer contradicts itself, so it cannot prove the books'
  );
}

function toDifference(row: SqlRow): PastDifference {
  return {
    billingDimension: textOrUndefined(row['billing_dimension']),
    workspace: textOrUndefined(row['workspace']),
    resourceType: textOrUndefined(row['resource_type']),
    resourceName: textOrUndefined(row['resource_name']),
    resourceUuid: textOrUndefined(row['resource_uuid']),
    bucketStart: Number(row['bucket_start']),
    ourCost: String(row['our_cost']),
    theirCost: String(row['their_cost']),
    costDifference: String(row['cost_difference']),
    ourUsage: String(row['our_usage']),
    theirUsage: String(row['their_usage']),
    usageDifference: String(row['usage_difference']),
    costTolerance: Number(row['cost_tolerance']),
    usageTolerance: Number(row['usage_tolerance']),
  };
}

/** Sums over everything compared so far. */
async function totalsCompared(
  { connection, sql, account }: ComparisonState,
  accessDays: number,
): Promise<ComparedTotals> {
  const [row] = await connection.rows(sql('totals'), { account, access_days: accessDays });
  const gone = row?.['workspaces_gone'];
  return {
    ours: Number(row?.['ours']),
    theirs: Number(row?.['theirs']),
    days: Number(row?.['days']),
    lowerDays: Number(row?.['lower_days']),
    empty: {
      ...{ days: Number(row?.['empty_days']), ours: Number(row?.['lost']) },
      ...{ from: String(row?.['empty_from']), to: String(row?.['empty_to']) },
    },
    workspacesGone: Array.isArray(gone) ? gone.map(String) : [],
    renames: JSON.parse(String(row?.['renames'] ?? '[]')) as ComparedTotals['renames'],
  };
}

/** Replaces the contradictions that a query found earlier; writes nothing if there were and are none. */
async function recordContradictions(
  { connection, recorder, account, sql }: VerificationState,
  { purpose, unit, window, billingDimension }: PastQuery,
  found: readonly Contradiction[],
  { runNumber, seenAt }: { readonly runNumber: number; readonly seenAt: Instant },
): Promise<void> {
  const question = { ...parametersOf(account, window), question: `${purpose}_by_${unit}` };
  const onRecord = await connection.rows(sql('contradicted'), question);
  if (onRecord.length === 0 && found.length === 0) return;
  await recorder.record({
    event: 'past_verified',
    values: {
      ...question,
      billing_dimension: billingDimension ?? null,
      contradictions: found.map((one) => ({
        billing_dimension: one.billingDimension ?? null,
        window_start: formatInstant(one.window.start),
        window_end: formatInstant(one.window.end),
        reason: one.reason,
        cost_difference: one.costDifference ?? null,
      })),
      run_number: runNumber,
      seen_at: formatInstant(seenAt),
    },
  });
}

/**
 * The whole, complete months of a window to compare with the platform's totals: those whose last comparison is missing,
 * failed, or is older than their last change.
 */
export async function dueMonths(connection: Connection, account: string, months: Window): Promise<Window[]> {
  const text = await readSql('verify', 'due_months');
  const rows = await connection.rows(text, parametersOf(account, months));
  return rows.map((row) => ({ start: Number(row['month_start']), end: Number(row['month_end']) }));
}

/**
 * The number of pairs of workspace and billing dimension with cost in these windows. If the account never had more than
 * `enough`, that number: it takes no reading of hours.
 */
export async function groupsByWorkspace(
  connection: Connection,
  account: string,
  windows: readonly Window[],
  enough: number,
): Promise<number> {
  const [ever] = await connection.rows(await readSql('verify', 'groups_of_account'), { account });
  if (Number(ever?.['groups']) <= enough) return Number(ever?.['groups']);
  const [row] = await connection.rows(
    await readSql('verify', 'groups_by_workspace'),
    parametersOf(account, {
      start: Math.min(...windows.map(({ start }) => start)),
      end: Math.max(...windows.map(({ end }) => end)),
    }),
  );
  return Number(row?.['groups']);
}

/** The windows of an account that were fetched with a member's token: their rows without UUID have no workspace. */
export async function coveredAsMember(connection: Connection, account: string): Promise<Window[]> {
  const rows = await connection.rows(await readSql('verify', 'covered_as_member'), { account });
  return rows.map((row) => ({ start: Number(row['window_start']), end: Number(row['window_end']) }));
}

/** Stores the first and the last hour of each series, so that later nights read only newer hours for `seriesLives`. */
export async function keepSeriesHours(connection: Connection): Promise<void> {
  await connection.run(await readSql('verify', 'extended_series'), {
    read_through: await seriesReadThrough(connection),
  });
  const text = await readSql('verify', 'keep_series_hours');
  await connection.transaction(() => connection.run(text));
}

async function seriesReadThrough(connection: Connection): Promise<number> {
  const [row] = await connection.rows(await readSql('verify', 'series_read_through'));
  return Number(row?.['load_number']);
}

/** First and last days of the series of a window, identified by UUID and by name: a series may have fewer, never more. */
export async function seriesLives(
  connection: Connection,
  account: string,
  window: Window,
  byWorkspace: boolean,
): Promise<Record<'series' | 'names', SeriesLife[]>> {
  const text = await readSql('verify', 'series_lives');
  const rows = await connection.rows(text, {
    ...parametersOf(account, window),
    by_workspace: byWorkspace,
    read_through: await seriesReadThrough(connection),
  });
  const of = (question: 'series' | 'names') =>
    rows
      .filter((row) => row['question'] === question)
      .map((row) => ({
        billingDimension: textOrUndefined(row['billing_dimension']),
        day: Number(row['day']),
        began: Number(row['began']),
        ended: Number(row['ended']),
        hasRowsWithoutUuid: row['has_rows_without_uuid'] === true,
      }));
  return { series: of('series'), names: of('names') };
}

/**
 * When the series of each billing dimension (undefined: all together) were last verified, by the start of the verified
 * window.
 */
export async function seriesVerified(
  connection: Connection,
  account: string,
): Promise<{ question: 'series' | 'names'; billingDimension: string | undefined; from: Instant; at: Instant }[]> {
  const rows = await connection.rows(await readSql('verify', 'series_verified'), { account });
  return rows.map((row) => ({
    question: row['question'] === 'names' ? 'names' : 'series',
    billingDimension: textOrUndefined(row['billing_dimension']),
    from: Number(row['verified_from']),
    at: Number(row['at']),
  }));
}

/** Recorded contradictions, the least recently sent query first. */
export async function contradictedQuestions(connection: Connection, account: string): Promise<ContradictedQuestion[]> {
  const rows = await connection.rows(await readSql('verify', 'contradicted_questions'), { account });
  return rows.map((row) => ({
    purpose: String(row['purpose']) as PastQuery['purpose'],
    unit: row['unit'] === 'month' ? 'month' : 'day',
    billingDimension: textOrUndefined(row['billing_dimension']),
    window: { start: Number(row['window_start']), end: Number(row['window_end']) },
  }));
}

function parametersOf(account: string, { start, end }: Window): Record<string, string> {
  return { account, window_start: formatInstant(start), window_end: formatInstant(end) };
}
