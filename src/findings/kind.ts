import type { NextStep } from '../base/next-step.ts';
import { type Instant, wholeHoursSince } from '../time/time.ts';
import type { UnprovenText } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { KnownAlert } from '../warehouse/watch/index.ts';
import type { Finding, OutOfDate } from './finding.ts';
import type { HoursToCheck } from './hours-to-check.ts';
import type { Words } from './words.ts';

/** How people read of an alert. The finding's texts are safe: one line each, of bounded length. Pure. */
export interface WordsOfKind<F> {
  /** What is wrong: the amount first, then the cause. */
  words(fact: F): Words;
  /** The same once it is over. */
  over(fact: F): Words;
  /** The amount that a machine reads, USD as decimal text; left out if it has none. */
  amount?(fact: F): string | undefined;
  /** What alerts of one severity are sorted by: USD without sign; left out if it has none. */
  size?(fact: F): number;
  /** Whether its amount changes from day to day: lists add its date. */
  readonly isDated?: true;
  /** The page of the dashboard that shows it; `/health` if left out. */
  page?(fact: F): string;
}

/** One kind of finding about the data: how it is found, when it is news, and what a person reads. */
export interface DataKind<F extends Finding, Row> extends WordsOfKind<F> {
  readonly name: F['kind'];
  /** What the books say; left out if `World` has it all, or if somebody else finds it. */
  read?(connection: Connection, world: World): Promise<readonly Row[]>;
  /** The findings that hold. Pure. */
  findings(rows: readonly Row[], world: World): readonly F[];
  /** Whether it only follows from another finding: then it is not reported by itself. */
  follows?(fact: F, others: readonly Finding[]): boolean;
  /** Whether it is still looked for; by default, whether its account is in the books. Otherwise its alert is withdrawn. */
  isLookedFor?(fact: F, world: World): boolean;
  /** Its causes, as codes. An open alert is news again with a cause for which its reader would do something different. */
  causes?(fact: F): readonly string[];
  /** The cause, in one sentence: an alert with another cause says what it reported before. */
  causeWords?(fact: F): string;
  /** What to do. */
  step(fact: F): NextStep;
  /** Whether lists show it as the books have it now, since commands may have made its last words or steps wrong. */
  readonly isRefreshed?: true;
  /** The reason in lists, if it is not the first sentence. */
  detail?(fact: F): string | undefined;
}

/** What every kind may need. Instants are text; USD is decimal text. */
export interface World {
  readonly now: Instant;
  /** The project folder; left out if nothing outside of the books is looked at. */
  readonly dir?: string | undefined;
  readonly accounts: readonly AccountState[];
  readonly freshnessHours: number;
  /** Complete through, of all accounts. */
  readonly completeThrough: string | null;
  /** What the checks that were run found. */
  readonly checks: readonly CheckState[];
  /** Days after the end of a closed month in which its invoice comes; undefined: as earlier months had one. */
  readonly invoiceDays?: number | undefined;
  /** The hours that changed since the last evaluation; undefined means all. */
  readonly hours?: HoursToCheck | undefined;
  /** The alerts before this evaluation. */
  readonly known?: readonly KnownAlert[];
}

export interface AccountState {
  readonly account: string;
  /** False if the configuration no longer names the account: no new data is expected. */
  readonly isConfigured: boolean;
  readonly completeThrough: string | null;
  readonly isTooOld: boolean;
  /** What a day usually costs, USD as decimal text; only if a day is missing, and it is known. */
  readonly usualDaily?: string | undefined;
  /** Null unless this machine's clock was ahead of the platform's, or behind it. */
  readonly clock: { readonly aheadSeconds: number; readonly platformAt: string; readonly localAt: string } | null;
  /** Newest first. */
  readonly unproven: readonly UnprovenText[];
}

export interface CheckState {
  readonly name: string;
  readonly about: string;
  readonly severity: 'fail' | 'warn';
  /** Rows found; null if it could not run. */
  readonly offenders: number | null;
  readonly error: string | null;
  /** Why it could not run: its SQL is wrong, or the machine failed. */
  readonly errorCode?: 'sql' | 'machine' | null;
}

/** Complete through, of an account. */
export function throughOf({ accounts }: Pick<World, 'accounts'>, account: string): string | null {
  return accounts.find((candidate) => candidate.account === account)?.completeThrough ?? null;
}

/** Whether runs still read an account: one that is no longer configured neither changes nor gets better. */
export function isRead({ account }: { readonly account: string | null }, { accounts }: World): boolean {
  return accounts.some((one) => one.account === account && one.isConfigured);
}

/** The rows of each account that runs still read, without its name. Pure. */
export function byAccount<R extends { readonly account: string }>(
  rows: readonly R[],
  world: World,
): readonly { readonly account: string; readonly own: readonly Omit<R, 'account'>[] }[] {
  const accounts = new Set(rows.filter((row) => isRead(row, world)).map(({ account }) => account));
  return [...accounts].map((account) => ({
    account,
    own: rows.filter((row) => row.account === account).map(({ account: _, ...row }) => row),
  }));
}

/** The accounts that should be up to date and are not; `failed`: a run should have loaded what they lack. */
export function outOfDateIn({ accounts, now }: Pick<World, 'accounts' | 'now'>, failed?: 'failed'): OutOfDate {
  return accounts
    .filter((one) => one.isConfigured && (one.isTooOld || (failed !== undefined && lacksDay(one, now))))
    .map(({ account, completeThrough, usualDaily }) => ({
      ...{ account, completeThrough, usualDaily },
      missingHours: wholeHoursSince(completeThrough, now),
    }));
}

/** Whether a whole day is missing. */
export function lacksDay({ completeThrough }: Pick<AccountState, 'completeThrough'>, now: Instant): boolean {
  return (wholeHoursSince(completeThrough, now) ?? 24) >= 24;
}
