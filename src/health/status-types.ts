import type { WaitingAlert } from '../alerts/index.ts';
import type { Failure } from '../base/failure.ts';
import type { NextStep } from '../base/next-step.ts';
import type { listedCosts, OpenAlert } from '../findings/index.ts';
import type { RevokedExport } from '../reports/exports/index.ts';
import type { UnendedRun } from '../warehouse/integrity/index.ts';
import type { UnprovenText } from '../warehouse/ledger/index.ts';
import type { FileFault } from './files-of-books.ts';
import type { Problem } from './problem.ts';
import type { Undelivered } from './undelivered.ts';

/** What listings explain of the costs of an account. */
export type ListedCosts =
  Awaited<ReturnType<typeof listedCosts>> extends ReadonlyMap<string, infer Costs> ? Costs : never;

export interface AccountStatus {
  readonly account: string;
  readonly name: string | null;
  /** The role of the token at the last ingest. */
  readonly role: string | null;
  readonly firstCovered: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** False for an account that the configuration no longer names: no new data is expected. */
  readonly isConfigured: boolean;
  /** Whether complete-through is older than freshness allows; true for an account that was never loaded. */
  readonly isTooOld: boolean;
  /** What a day usually costs, USD as decimal text; only if a day is missing and this is known. */
  readonly usualDaily?: string | undefined;
  /** Decimals of the platform's own totals; half a unit of the last one is part of each tolerance. */
  readonly totalDecimals: { readonly cost: number; readonly usage: number };
  /** USD, decimal text: rows without uuid that were fetched as member, so that their workspace is unknown. */
  readonly unknownWorkspaceCost: string;
  readonly unproven: readonly UnprovenText[];
  /** Recent windows that are not proven yet: the next run fetches them again. */
  readonly postponed: readonly UnprovenText[];
  /** What listings explain of its costs of the last 30 days; null without any. */
  readonly resources: (Omit<ListedCosts, 'listedAt'> & { readonly listedAt: string | null }) | null;
  /** The last ingest of this account; null if there was none. */
  readonly lastRun: {
    readonly runNumber: number;
    readonly exitCode: number;
    readonly error: string | null;
    readonly failures: readonly Failure[];
  } | null;
}

/** The mistakes of the files of one purpose, what they stop, and the next step. */
export interface JobFileFaults {
  /** `jobs`, `budgets`, `allocation`, `currency`. */
  readonly subject: string;
  /** One per line: file, line and column, what was found and expected. */
  readonly mistakes: readonly string[];
  readonly effect: string;
  readonly step: NextStep;
  /** The step as printed: `Act: correct the file, …` */
  readonly next: string;
  /** The key of the alert about them; null if there is none. */
  readonly alert: string | null;
}

/** A closed month whose books differ from its close. */
export interface DifferingMonth {
  readonly account: string;
  readonly month: string;
  readonly found: string;
  readonly next: NextStep;
}

/** What the books and the files beside them say: the problems are found in it. */
export type BooksStatus = Omit<Status, 'isTrustworthy' | 'reasons' | 'problems' | 'fullDisk' | 'futureDates'> & {
  readonly files: readonly FileFault[];
  readonly differing: readonly DifferingMonth[];
  readonly futureDates: { readonly found: string; readonly next: NextStep } | null;
};

/** The state of the books and of the runs, as `status` answers it. */
export interface Status {
  /** Whether everything is proven and fresh; decides the exit code of `--exit-code`. */
  readonly isTrustworthy: boolean;
  /** The reasons why not, one sentence each. */
  readonly reasons: readonly string[];
  /** What is wrong, once for each cause, most urgent first. */
  readonly problems: readonly Problem[];
  /** The files of the project that have mistakes: what they schedule or name does not work. */
  readonly jobFiles: readonly JobFileFaults[];
  readonly freshnessHours: number;
  readonly accounts: readonly AccountStatus[];
  /** The last closed month; null if there is none. */
  readonly closed: { readonly month: string; readonly closedAt: string } | null;
  /** Closed months that the platform has changed since. */
  readonly moved: readonly MovedMonth[];
  /** Exports that show a revoked close. */
  readonly revokedExports: readonly RevokedExport[];
  /** When the first run of these books started: of books that were lost, and begun again, nothing else may tell. */
  readonly begun: string | null;
  /** What an export shows of books before these, and the step; null if there is no trace of any. */
  readonly earlierBooks: { readonly found: string; readonly next: string; readonly step: NextStep } | null;
  /** Past costs that changed in the last seven days. */
  readonly restated: {
    readonly months: readonly { readonly month: string; readonly cost: string }[];
    readonly hours: number;
    readonly cost: string;
    /** The days of these costs, `2026-10-12`; null if there are none. */
    readonly firstDay: string | null;
    readonly lastDay: string | null;
  };
  readonly alerts: {
    readonly open: number;
    readonly critical: number;
    readonly messagesWaiting: number;
    /** By sink. */
    readonly waiting: readonly Undelivered[];
    /** The most severe first. */
    readonly list: readonly OpenAlert[];
  };
  /** The last ingest, if it failed: the books may then be older than the headline suggests. */
  readonly failedIngest: {
    readonly exitCode: number | null;
    readonly error: string | null;
    readonly errorCode: string | null;
    readonly failures: readonly Failure[];
    /** What to do, as the alert says it. */
    readonly next: string;
    readonly step: NextStep;
    readonly at: string | null;
    /** failed, or interrupted. */
    readonly outcome: string;
  } | null;
  readonly lastRun: (Readonly<Record<string, unknown>> & { readonly failures: readonly Failure[] }) | null;
  /** The step of the last run that failed, and what to do; null if it succeeded, or if it only refused a close. */
  readonly lastRunStep: { readonly command: string; readonly next: string; readonly step: NextStep } | null;
  /** The full disk that a later run found: the books could not store that run. Null if there is none. */
  readonly fullDisk: { readonly title: string; readonly next: string | null; readonly at: string } | null;
  /** What a later run found and the books could not store: a full disk, or books that cannot be written. */
  readonly unstored: readonly WaitingAlert[];
  /** A run that started and did not end: it is active, or was killed. Null if there is none. */
  readonly unended: UnendedRun | null;
  /** Dates in the future that a fast clock wrote, and the remedy; null if there are none. */
  readonly futureDates: { readonly found: string; readonly remedy: string } | null;
}

/** The change of a closed month since its close. */
export interface MovedMonth {
  readonly month: string;
  /** USD, decimal text: positive if the month now costs more than at its close. */
  readonly cost: string;
  /** Number of corrections: rows of hourly costs, counted once per month that bills them. */
  readonly corrections: number;
  /** The months that bill them. */
  readonly deliveredIn: readonly string[];
  /** The part of the change that each of these months bills, USD as decimal text. */
  readonly billed: readonly { readonly month: string; readonly cost: string }[];
}
