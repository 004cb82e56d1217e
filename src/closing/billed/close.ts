import { createHash, type Hash } from 'node:crypto';
import { configureAgain } from '../../base/next-step.ts';
import { moneyOf, moneyText } from '../../money/money.ts';
import { counted } from '../../text/counted.ts';
import {
  addCalendarMonths,
  dayMs,
  floorMonth,
  formatInstant,
  formatMonth,
  formatWindow,
  hourMs,
  type Instant,
  type Window,
} from '../../time/time.ts';
import {
  type AccountClose,
  type CheckResult,
  type ClosedMonth,
  type ClosedRate,
  type Completeness,
  type Invoice,
  noInvoice,
  reopenAndClose,
  type UnprovenWindow,
} from '../../warehouse/ledger/index.ts';
import type { CoveredWindow } from '../../warehouse/page.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';

/** What was billed to an account in a month: to close it, or to compare it with its close. */
export interface BilledMonth extends AccountClose {
  /** SHA-256 of the rows alone. Closes of earlier versions have it: it does not cover the invoice. */
  readonly sha256OfRows: string;
}

/** The invoices of a month by account, as decimal text in USD. */
export type InvoicesByAccount = ReadonlyMap<string, string>;

/**
 * What a month bills to each of these accounts: rows, USD as decimal text, the invoice, and a SHA-256 over all of it: one
 * line of JSON per row of `costs_billed`, sorted, then one for the invoice (null for none), then one for the rate of the second
 * currency if there is one, each ended by a line feed.
 */
export async function readBilledMonth(
  connection: Connection,
  month: Instant,
  accounts: readonly string[],
  { invoices, rate }: { readonly invoices: InvoicesByAccount; readonly rate: ClosedRate | undefined },
): Promise<BilledMonth[]> {
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
  return accounts.map((account) => {
    const row = sums.find((candidate) => candidate['account'] === account) ?? {};
    const hash = hashes.get(account) ?? createHash('sha256');
    const invoiced = invoices.get(account);
    return {
      account,
      rowCount: Number(row['row_count'] ?? 0),
      cost: String(row['cost'] ?? noCost),
      corrections: Number(row['corrections'] ?? 0),
      correctionCost: String(row['correction_cost'] ?? noCost),
      invoiced,
      sha256OfRows: hash.copy().digest('hex'),
      sha256: hash.update(invoiceLine(invoiced) + rateLine(rate)).digest('hex'),
    };
  });
}

const noCost = moneyText(0n);

/** Equal amounts have equal lines: `7.01` and `7.0100` are one invoice. */
function invoiceLine(invoiced: string | undefined): string {
  const usd = invoiced === undefined ? null : moneyText(moneyOf(invoiced));
  return `${JSON.stringify(['Invoice', usd])}\n`;
}

/** Empty without a rate: closes of earlier versions have none. */
function rateLine(rate: ClosedRate | undefined): string {
  return rate === undefined ? '' : `${JSON.stringify(['Rate', rate.code, rate.rate, rate.rateDate, rate.source])}\n`;
}

/** What a closed month bills now to each account of its close, with the invoice of the close. */
export async function readClosedMonth(
  connection: Connection,
  { month, accounts, rate }: ClosedMonth,
): Promise<BilledMonth[]> {
  const invoices = accounts.flatMap(({ account, invoiced }) =>
    invoiced === undefined ? [] : [[account, invoiced] as const],
  );
  return readBilledMonth(
    connection,
    month,
    accounts.map(({ account }) => account),
    { invoices: new Map(invoices), rate },
  );
}

/** Whether an account's month is what it was closed with. */
export function isAsClosed(billed: BilledMonth, { sha256 }: AccountClose): boolean {
  return sha256 === billed.sha256 || sha256 === billed.sha256OfRows;
}

/** The state of an account that closing a month depends on. */
export interface AccountToClose {
  readonly account: string;
  /** Undefined if the account is not in the books. */
  readonly completeness: Completeness | undefined;
  /** False if the configuration no longer names it: no new data is expected. */
  readonly isConfigured: boolean;
  readonly covered: readonly CoveredWindow[];
  /** Unproven windows, and windows whose hours contradict the platform's totals. */
  readonly unproven: readonly UnprovenWindow[];
  /** Whether the month must still be compared with the platform's total: it did not match, or the month changed since. */
  readonly isTotalDue: boolean;
}

/** Everything to check before a month is closed. */
export interface CloseQuestion {
  readonly month: Window;
  readonly closed: readonly ClosedMonth[];
  readonly accounts: readonly AccountToClose[];
  /** The checks of severity `fail`. */
  readonly checks: readonly CheckResult[];
  readonly closeAfterDays: number;
  readonly settleDays: number;
  /** An hour counts as complete this long after its end. */
  readonly lagHours: number;
  readonly now: Instant;
}

/** Why a month cannot be closed, one sentence per reason with what to do. Empty if it can. */
export function closeObstacles(question: CloseQuestion): string[] {
  return [
    ...orderObstacles(question.month, question.closed),
    ...(question.accounts.length === 0 ? ['no account is in the books: run "costbook ingest"'] : []),
    ...beforeBooks(question),
    ...question.accounts.flatMap((account) => accountObstacles(account, question)),
    ...question.checks.flatMap(checkObstacle),
  ];
}

/** The commands that close earlier months are printed for this many. */
const recipeMonths = 12;

/** Months are closed in order, without gaps. The first one can be any month. */
function orderObstacles(month: Window, closed: readonly ClosedMonth[]): string[] {
  const [first, last] = [closed[0], closed.at(-1)];
  if (first === undefined || last === undefined) return [];
  const next = addCalendarMonths(last.month, 1);
  if (month.start === next) return [];
  if (month.start > next) return [`${formatMonth(next)} is not closed: close the older month first`];
  const before = monthsBetween(month.start, first.month).map((name) => ({ month: name, invoices: [] }));
  const nextWords = `close ${formatMonth(next)} next`;
  if (before.length > recipeMonths)
    return [`the first closed month is ${formatMonth(first.month)}, and this one is long before it: ${nextWords}`];
  const reopening = {
    reopen: closed.map((each) => formatMonth(each.month)),
    close: [...before, ...closed.map((each) => ({ month: formatMonth(each.month), invoices: invoicesOf(each) }))],
  };
  return [
    `the first closed month is ${formatMonth(first.month)}, and a month before it can only be closed while no later one ` +
      `is: run ${reopenAndClose(reopening)}. Otherwise ${nextWords}`,
  ];
}

/** The invoices that a month was closed with, `none` where none will come. */
export function invoicesOf({ accounts }: Pick<ClosedMonth, 'accounts'>): Invoice[] {
  return accounts.flatMap(({ account, invoiced, hasNoInvoice }) => {
    if (invoiced !== undefined) return [{ account, invoiced }];
    return hasNoInvoice ? [{ account, invoiced: noInvoice }] : [];
  });
}

/** The names of the months from one until another, which is exclusive. */
function monthsBetween(from: Instant, to: Instant): string[] {
  const names: string[] = [];
  for (let month = from; month < to; month = addCalendarMonths(month, 1)) names.push(formatMonth(month));
  return names;
}

/**
 * A warning before the first close, if the books have whole months before it: they cannot be closed while it is.
 * Undefined for later closes, and if there are no such months. Pure.
 */
export function firstCloseWarning({
  month,
  closed,
  accounts,
}: Pick<CloseQuestion, 'month' | 'closed' | 'accounts'>): string | undefined {
  const starts = accounts.flatMap(({ completeness }) => completeness?.historyStart ?? []);
  if (closed.length > 0 || starts.length === 0) return undefined;
  const start = Math.min(...starts);
  const whole = floorMonth(start) === start ? start : addCalendarMonths(floorMonth(start), 1);
  const earlier = monthsBetween(whole, month.start);
  const [first, last, name] = [earlier[0], earlier.at(-1), formatMonth(month.start)];
  if (first === undefined || last === undefined) return undefined;
  const them =
    earlier.length === 1
      ? `${first} is in the books and not closed`
      : `${first} to ${last} are in the books and not closed`;
  return (
    `${name} is the first month that you close. ${them}: a month before ${name} cannot be closed while ${name} is. ` +
    `To start with ${first}, run "costbook reopen ${name} --reason correction", then "costbook close ${first}"`
  );
}

/** A month that ends before the books of every account start has nothing to close. */
function beforeBooks({ month, accounts }: CloseQuestion): string[] {
  const starts = accounts.map(({ completeness }) => completeness?.historyStart ?? Number.NEGATIVE_INFINITY);
  const first = Math.min(...starts);
  if (accounts.length === 0 || first < month.end) return [];
  return [
    `the books start at ${formatInstant(first)}, after the month: close ${formatMonth(floorMonth(first))} or a later month`,
  ];
}

function accountObstacles(
  { account, completeness, isConfigured, covered, unproven, isTotalDue }: AccountToClose,
  { month, closeAfterDays, settleDays, lagHours, now }: CloseQuestion,
): string[] {
  const { historyStart, completeThrough } = completeness ?? {};
  const obstacles: string[] = [];
  const settledAt = month.end + closeAfterDays * dayMs;
  const again = 'run "costbook ingest"';
  // An account has no part in the month if its books start later or if it is no longer configured.
  const hasPart = isConfigured && (historyStart === undefined || historyStart < month.end);
  if (hasPart && (historyStart === undefined || completeThrough === undefined)) {
    obstacles.push(`account ${account}: it has no complete hour yet; ${again}`);
  } else if (hasPart) {
    if (historyStart !== undefined && historyStart > month.start) {
      obstacles.push(
        `account ${account}: its books start at ${formatInstant(historyStart)}, within the month; close a later month ` +
          'first, or set since to the start of this one and run "costbook ingest"',
      );
    }
    if (completeThrough !== undefined && completeThrough < settledAt) {
      obstacles.push(
        `account ${account}: its books are complete through ${formatInstant(completeThrough)}, expected ` +
          `${formatInstant(settledAt)}, the end of the month plus ${closeAfterDays} days (closeAfterDays); ${again}${fromWhen(settledAt, lagHours, now)}`,
      );
    } else {
      // An hour that was fetched too soon after its end may have changed since. If months close before hours settle, that
      // shorter time is enough.
      const youngestDays = Math.min(closeAfterDays, settleDays);
      const young = covered.find(
        ({ start, end, seenAt }) =>
          start < month.end && end > month.start && Math.min(end, month.end) + youngestDays * dayMs > seenAt,
      );
      if (young !== undefined) {
        obstacles.push(
          `account ${account}: hours of ${formatWindow(young)} were last fetched at ${formatInstant(young.seenAt)}, less than ` +
            `${youngestDays} days after their end; ${again}, which fetches them again`,
        );
      }
    }
  }
  const within = unproven.filter(({ window }) => window.start < month.end && window.end > month.start);
  for (const { window, reason } of within) {
    obstacles.push(
      `account ${account}: ${formatWindow(window)} is unproven (${reason}); ${isConfigured ? again : configureAgain}, which fetches it again`,
    );
  }
  // An incomplete month has no total to compare yet, and contradictions are reported above.
  if (hasPart && isTotalDue && obstacles.length === 0) {
    obstacles.push(
      `account ${account}: ${formatMonth(month.start)} does not match the platform's own total, or was not compared since the month ` +
        `changed; ${again}, which compares it`,
    );
  }
  return obstacles;
}

/** From when an ingest makes the books complete through an instant; empty if it does now. */
function fromWhen(through: Instant, lagHours: number, now: Instant): string {
  const from = through + lagHours * hourMs;
  if (now >= from) return '';
  const why = lagHours === 0 ? '' : `: an hour is complete ${counted(lagHours, 'hour')} after its end (lagHours)`;
  return ` at ${formatInstant(from)} or later${why}`;
}

function checkObstacle({ check, offenders, error }: CheckResult): string[] {
  if (error !== undefined) return [`check ${check.name} cannot run: ${error.message}`];
  if (offenders === undefined || offenders === 0) return [];
  const found = `found ${counted(offenders, 'row')}`;
  return [
    `check ${check.name}: ${found}, expected none; "costbook check" shows them, and ${check.file.path} defines the check`,
  ];
}
