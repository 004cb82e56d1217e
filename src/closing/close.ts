import { createHash, type Hash } from 'node:crypto';
import {
  addCalendarMonths,
  dayMs,
  formatInstant,
  formatMonth,
  formatWindow,
  type Instant,
  type Window,
} from '../time.ts';
import {
  type AccountClose,
  type CheckResult,
  type ClosedMonth,
  type Completeness,
  type Connection,
  type CoveredWindow,
  readSql,
  type UnprovenWindow,
} from '../warehouse/index.ts';

/** What was billed to an account in a month, to be closed or compared with what was closed. */
export type BilledMonth = Omit<AccountClose, 'invoiced'>;

/**
 * What is billed in a month to each account with any row in it, by `costs_billed`: rows, USD as decimal text, and the
 * digest. The digest is SHA-256 over a line of JSON for each row, in the order of these lines, each ended by a line feed.
 */
export async function readBilledMonth(connection: Connection, month: Instant): Promise<BilledMonth[]> {
  const parameters = { month: formatInstant(month).slice(0, 10) };
  const sums = await connection.rows(await readSql('closing', 'billed_sums'), parameters);
  const lines = await connection.stream(await readSql('closing', 'billed_lines'), parameters);
  const hashes = new Map<string, Hash>();
  for await (const chunk of lines.chunks) {
    for (const [account, line] of chunk) {
      const hash = hashes.get(String(account)) ?? createHash('sha256');
      hashes.set(String(account), hash.update(`${String(line)}\n`));
    }
  }
  return sums.map((row) => {
    const account = String(row['account']);
    return {
      account,
      rowCount: Number(row['row_count']),
      cost: String(row['cost']),
      corrections: Number(row['corrections']),
      correctionCost: String(row['correction_cost']),
      sha256: (hashes.get(account) ?? createHash('sha256')).digest('hex'),
    };
  });
}

/** What is billed to an account to which nothing is billed. */
export function nothingBilled(account: string): BilledMonth {
  const none = '0.000000000000';
  const sha256 = createHash('sha256').digest('hex');
  return { account, rowCount: 0, cost: none, corrections: 0, correctionCost: none, sha256 };
}

/** An account as far as it matters to closing a month. */
export interface AccountToClose {
  readonly account: string;
  /** Undefined where the account is not in the books. */
  readonly completeness: Completeness | undefined;
  /** False where the configuration names it no longer: nothing new is expected of it. */
  readonly isConfigured: boolean;
  readonly covered: readonly CoveredWindow[];
  /** What did not prove, and where the platform's totals contradict the hours. */
  readonly unproven: readonly UnprovenWindow[];
  /** Whether the platform's own total of the month is still to be asked: it was not met, or the month changed since. */
  readonly isTotalDue: boolean;
}

/** What is looked at before a month is closed. */
export interface CloseQuestion {
  readonly month: Window;
  readonly closed: readonly ClosedMonth[];
  readonly accounts: readonly AccountToClose[];
  /** The checks of severity `fail`. */
  readonly checks: readonly CheckResult[];
  readonly closeAfterDays: number;
  readonly settleDays: number;
}

/** Everything that stands in the way of closing a month, each a sentence with what to do about it; none where nothing does. */
export function closeObstacles(question: CloseQuestion): string[] {
  return [
    ...orderObstacles(question.month, question.closed),
    ...(question.accounts.length === 0 ? ['no account is in the books: run "costbook ingest"'] : []),
    ...question.accounts.flatMap((account) => accountObstacles(account, question)),
    ...question.checks.flatMap(checkObstacle),
  ];
}

/** Months are closed oldest first and without gaps; the first one may be any. */
function orderObstacles(month: Window, closed: readonly ClosedMonth[]): string[] {
  const [first, last] = [closed[0], closed.at(-1)];
  if (first === undefined || last === undefined) return [];
  const next = addCalendarMonths(last.month, 1);
  if (month.start === next) return [];
  if (month.start > next) return [`${formatMonth(next)} is not closed: close the older month first`];
  return [
    `the first month that was closed is ${formatMonth(first.month)}, and an older one is closed no more: ` +
      `${formatMonth(next)} is the next; or reopen all of them with "costbook reopen", the newest first, and begin with this one`,
  ];
}

function accountObstacles(
  { account, completeness, isConfigured, covered, unproven, isTotalDue }: AccountToClose,
  { month, closeAfterDays, settleDays }: CloseQuestion,
): string[] {
  const { historyStart, completeThrough } = completeness ?? {};
  const obstacles: string[] = [];
  const settledAt = month.end + closeAfterDays * dayMs;
  const again = 'run "costbook ingest"';
  // Books that begin later have no part in the month, and of an account that is no longer configured nothing more comes.
  const hasPart = isConfigured && (historyStart === undefined || historyStart < month.end);
  if (hasPart && (historyStart === undefined || completeThrough === undefined)) {
    obstacles.push(`account ${account}: nothing of it is complete yet; ${again}`);
  } else if (hasPart) {
    if (historyStart !== undefined && historyStart > month.start) {
      obstacles.push(
        `account ${account}: its books begin ${formatInstant(historyStart)}, within the month; close a later month ` +
          'first, or set since to the beginning of this one and run "costbook ingest"',
      );
    }
    if (completeThrough !== undefined && completeThrough < settledAt) {
      obstacles.push(
        `account ${account}: its books are complete through ${formatInstant(completeThrough)}, expected ` +
          `${formatInstant(settledAt)}, the month's end and ${closeAfterDays} days (closeAfterDays); ${again} after that instant`,
      );
    } else {
      // An hour that was read too soon after its end may have changed since. What is closed sooner than hours settle
      // asks for no more than that.
      const youngestDays = Math.min(closeAfterDays, settleDays);
      const young = covered.find(
        ({ start, end, seenAt }) =>
          start < month.end && end > month.start && Math.min(end, month.end) + youngestDays * dayMs > seenAt,
      );
      if (young !== undefined) {
        obstacles.push(
          `account ${account}: hours of ${formatWindow(young)} were last read ${formatInstant(young.seenAt)}, less than ` +
            `${youngestDays} days after their end; ${again}, which reads them again`,
        );
      }
    }
  }
  const within = unproven.filter(({ window }) => window.start < month.end && window.end > month.start);
  for (const { window, reason } of within) {
    obstacles.push(
      `account ${account}: ${formatWindow(window)} is unproven (${reason}); ${again}, which asks again; the view proofs shows each comparison`,
    );
  }
  // A month that is not whole or not complete has no total to meet yet, and a total that contradicts was told above.
  if (hasPart && isTotalDue && obstacles.length === 0) {
    obstacles.push(
      `account ${account}: the platform's own total of ${formatMonth(month.start)} was not met, or not asked since the month ` +
        `changed; ${again}, which asks for it; the view proofs shows each comparison`,
    );
  }
  return obstacles;
}

function checkObstacle({ check, offenders, error }: CheckResult): string[] {
  if (error !== undefined) return [`check ${check.name} cannot be run: ${error.message}`];
  if (offenders === undefined || offenders === 0) return [];
  const found = `${offenders} offender${offenders === 1 ? '' : 's'}`;
  return [
    `check ${check.name}: ${found}, expected none; "costbook check" shows them, and ${check.file.path} says what they are`,
  ];
}
