import { plainDecimal } from '../decimals.ts';
import { formatInstant, type Instant, type Window } from '../time.ts';
import type { Connection } from './connection.ts';
import type { Recorder } from './journal.ts';
import {
  openStage,
  type Proof,
  proofsEvent,
  readProofs,
  type StagedPage,
  type TotalsKnown,
  toleranceParameters,
} from './load.ts';
import { readSql, readSqlFolder } from './sql-files.ts';

/** A question about the past whose answer is put beside the books. */
export interface PastQuestion {
  /** Numbers the question within the verification. */
  readonly number: number;
  readonly purpose: 'days' | 'series' | 'names' | 'months';
  readonly window: Window;
  readonly unit: 'day' | 'month';
  /** The window's days or months. */
  readonly buckets: readonly Window[];
  /** By which dimensions besides the billing dimension. */
  readonly by: { readonly workspace: boolean; readonly type: boolean; readonly name: boolean; readonly uuid: boolean };
  readonly billingDimension: string | undefined;
  readonly resourceName: string | undefined;
}

/** A bucket of a group in which books and platform differ; amounts are decimal text. */
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
  /** The largest differences that rounding explains. */
  readonly costTolerance: number;
  readonly usageTolerance: number;
}

/** What comparing one question found. */
export interface PastComparison {
  /** The largest first. */
  readonly differences: readonly PastDifference[];
  /** Why the answer itself is no proof: its pages do not add up to its own total. Undefined where they do. */
  readonly answerFault: string | undefined;
}

/** Where the platform's totals contradict its hours, or themselves. */
export interface Contradiction {
  readonly billingDimension: string | undefined;
  readonly window: Window;
  readonly because: string;
}

/** Puts the platform's totals of the past beside the books; it owns its connection. */
export interface Verification {
  /** A sink for the pages of a question's answer. */
  addQuestion(question: PastQuestion): Promise<{ page(page: StagedPage): Promise<void>; restart(): Promise<void> }>;
  /** Compares and records what was compared, as the numbered reading. */
  compare(
    question: PastQuestion,
    facts: { runNumber: number; reading: number; seenAt: Instant },
  ): Promise<PastComparison>;
  /** Sums over everything compared so far: USD as numbers, for judging sizes only. */
  totals(sightDays: number): Promise<{
    ours: number;
    theirs: number;
    days: number;
    lowerDays: number;
    /** Workspaces that had cost on so many days and have none on any by now. */
    workspacesGone: string[];
  }>;
  /** The connection that it owns, for reading. */
  readonly connection: Connection;
  /** Keeps what a question found to contradict the hours, in the place of what it found before. */
  recordAsked(
    question: PastQuestion,
    found: readonly Contradiction[],
    facts: { runNumber: number; seenAt: Instant },
  ): Promise<void>;
  close(): void;
}

/** What is compared, as it stands in proofs. */
const compared = {
  days: "days = the platform's daily totals",
  series: "series = the platform's totals of them",
  names: "names = the platform's totals of them",
  months: "month of a billing dimension = the platform's total",
} as const;

/** Opens a verification of one account on a connection of its own. */
export async function openVerification(
  connection: Connection,
  recorder: Recorder,
  account: string,
  known: TotalsKnown,
): Promise<Verification> {
  const stage = await openStage(connection, recorder);
  const files = new Map((await readSqlFolder('verify')).map((file) => [file.name, file.text]));
  function sql(name: string): string {
    const text = files.get(name);
    if (text === undefined) throw new Error(`sql/verify/${name}.sql is missing`);
    return text;
  }
  await stage.begin(account, { start: 0, end: 0 });
  await connection.run(sql('tables'));

  return {
    async addQuestion(question) {
      await connection.appendRows(
        'asked_buckets',
        question.buckets.map(({ start }, bucket) => [question.number, bucket, formatInstant(start).slice(0, 19)]),
      );
      return stage.addQuery(question.number, question.purpose, question.purpose, question.window);
    },

    async compare(question, { runNumber, reading, seenAt }) {
      const { number: query, purpose, window } = question;
      const tolerance = toleranceParameters(known, stage.decimals());
      const filters = {
        billing_dimension: question.billingDimension ?? null,
        resource_name: question.resourceName ?? null,
      };
      await connection.run(sql('compare'), {
        ...parametersOf(account, window),
        ...tolerance,
        ...filters,
        query,
        unit: question.unit,
        by_workspace: question.by.workspace,
        by_type: question.by.type,
        by_name: question.by.name,
        by_uuid: question.by.uuid,
      });
      async function recordProofs(of: Window, proofs: readonly Proof[]): Promise<void> {
        await recorder.record(proofsEvent({ account, window: of, runNumber, reading, seenAt }, proofs));
      }
      await connection.run(sql('proofs'), {
        ...tolerance,
        billing_dimension: filters.billing_dimension,
        account,
        query,
        purpose,
        compared: compared[purpose],
        bucket_hours: question.unit === 'day' ? 24 : 31 * 24,
      });
      const proofs = await readProofs(connection);
      const [fault] = await connection.rows(sql('fault'), { compared: compared[purpose] });
      if (purpose === 'months') {
        const ofAnswer = proofs.filter((proof) => proof.compared !== compared.months);
        await recordProofs(window, ofAnswer);
        // An answer that contradicts itself proves no month.
        for (const month of fault === undefined ? question.buckets : []) {
          const month_start = formatInstant(month.start);
          await connection.run(sql('month_proofs'), { query, month_start, agreed: tolerance['agreed'] ?? null });
          await recordProofs(month, await readProofs(connection));
        }
      } else await recordProofs(window, proofs);
      const rows = await connection.rows(sql('differing'), { query });
      return {
        answerFault:
          fault &&
          `check "${fault['compared']}" (${fault['measure']}): found ${fault['ours']}, expected ${fault['theirs']}, ` +
            `difference ${fault['difference']}, rounding explains ${plainDecimal(Number(Number(fault['tolerance']).toPrecision(3)))}; ` +
            'the answer contradicts itself, so it proves nothing',
        differences: rows.map((row) => ({
          billingDimension: textOf(row['billing_dimension']),
          workspace: textOf(row['workspace']),
          resourceType: textOf(row['resource_type']),
          resourceName: textOf(row['resource_name']),
          resourceUuid: textOf(row['resource_uuid']),
          bucketStart: Number(row['bucket_start']),
          ourCost: String(row['our_cost']),
          theirCost: String(row['their_cost']),
          costDifference: String(row['cost_difference']),
          ourUsage: String(row['our_usage']),
          theirUsage: String(row['their_usage']),
          usageDifference: String(row['usage_difference']),
          costTolerance: Number(row['cost_tolerance']),
          usageTolerance: Number(row['usage_tolerance']),
        })),
      };
    },

    async totals(sightDays) {
      const [row] = await connection.rows(sql('totals'), { account, sight_days: sightDays });
      const gone = row?.['workspaces_gone'];
      return {
        ours: Number(row?.['ours']),
        theirs: Number(row?.['theirs']),
        days: Number(row?.['days']),
        lowerDays: Number(row?.['lower_days']),
        workspacesGone: Array.isArray(gone) ? gone.map(String) : [],
      };
    },

    connection,
    async recordAsked({ purpose, unit, window, billingDimension }, found, { runNumber, seenAt }) {
      const question = { ...parametersOf(account, window), question: `${purpose} by ${unit}` };
      const onRecord = await connection.rows(sql('contradicted'), question);
      if (onRecord.length === 0 && found.length === 0) return;
      await recorder.record({
        event: 'past_asked',
        values: {
          ...question,
          billing_dimension: billingDimension ?? null,
          contradictions: found.map((one) => ({
            billing_dimension: one.billingDimension ?? null,
            window_start: formatInstant(one.window.start),
            window_end: formatInstant(one.window.end),
            because: one.because,
          })),
          run_number: runNumber,
          seen_at: formatInstant(seenAt),
        },
      });
    },
    close: () => stage.close(),
  };
}

/**
 * The months of a stretch of whole, complete months that have to be put beside the platform's totals: whose last proof
 * is older than a change of theirs, did not hold, or is not there.
 */
export async function dueMonths(connection: Connection, account: string, months: Window): Promise<Window[]> {
  const text = await readSql('verify', 'due_months');
  const rows = await connection.rows(text, parametersOf(account, months));
  return rows.map((row) => ({ start: Number(row['month_start']), end: Number(row['month_end']) }));
}

/** How many workspaces times billing dimensions had cost in these windows. */
export async function groupsByWorkspace(
  connection: Connection,
  account: string,
  windows: readonly Window[],
): Promise<number> {
  const [row] = await connection.rows(
    await readSql('verify', 'groups_by_workspace'),
    parametersOf(account, {
      start: Math.min(...windows.map(({ start }) => start)),
      end: Math.max(...windows.map(({ end }) => end)),
    }),
  );
  return Number(row?.['groups']);
}

/** How many series of a billing dimension (undefined: of none) had their first and their last day on a day. */
export interface SeriesLife {
  readonly billingDimension: string | undefined;
  readonly day: Instant;
  readonly began: number;
  readonly ended: number;
  readonly hasRowsWithoutUuid: boolean;
}

/** The lives that the series of a window had in it, series told apart by uuid and by name. */
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
  });
  const of = (question: 'series' | 'names') =>
    rows
      .filter((row) => row['question'] === question)
      .map((row) => ({
        billingDimension: textOf(row['billing_dimension']),
        day: Number(row['day']),
        began: Number(row['began']),
        ended: Number(row['ended']),
        hasRowsWithoutUuid: row['has_rows_without_uuid'] === true,
      }));
  return { series: of('series'), names: of('names') };
}

/** When the series of each billing dimension (undefined: all at once) were last verified, by the instant they began with. */
export async function seriesVerified(
  connection: Connection,
  account: string,
): Promise<{ question: 'series' | 'names'; billingDimension: string | undefined; from: Instant; at: Instant }[]> {
  const rows = await connection.rows(await readSql('verify', 'series_verified'), { account });
  return rows.map((row) => ({
    question: row['question'] === 'names' ? 'names' : 'series',
    billingDimension: textOf(row['billing_dimension']),
    from: Number(row['verified_from']),
    at: Number(row['at']),
  }));
}

/** A question whose answer is on record as a contradiction. */
export interface ContradictedQuestion {
  readonly purpose: PastQuestion['purpose'];
  readonly unit: PastQuestion['unit'];
  /** Undefined where it is about all of them. */
  readonly billingDimension: string | undefined;
  readonly window: Window;
}

/** What is on record as contradicted, what was asked longest ago first. */
export async function contradictedQuestions(connection: Connection, account: string): Promise<ContradictedQuestion[]> {
  const rows = await connection.rows(await readSql('verify', 'contradicted_questions'), { account });
  return rows.map((row) => ({
    purpose: String(row['purpose']) as PastQuestion['purpose'],
    unit: row['unit'] === 'month' ? 'month' : 'day',
    billingDimension: textOf(row['billing_dimension']),
    window: { start: Number(row['window_start']), end: Number(row['window_end']) },
  }));
}

function parametersOf(account: string, { start, end }: Window): Record<string, string> {
  return { account, window_start: formatInstant(start), window_end: formatInstant(end) };
}

function textOf(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
