import { join } from 'node:path';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { UnprovenError, UsageError } from '../base/errors.ts';
import type { LocalConfig } from '../config/index.ts';
import { rateAtClose } from '../currency/index.ts';
import { trimmedDecimal } from '../money/money.ts';
import { runChecks } from '../query/index.ts';
import { type RevokedExport, revokedCloses } from '../reports/exports/index.ts';
import type { RunContext } from '../runs/index.ts';
import { formatInstant, formatMonth, type Instant, type Window } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { openBooks, withBooks } from '../warehouse/integrity/index.ts';
import {
  type AccountClose,
  allocationInForce,
  type CheckResult,
  type ClosedMonth,
  closedMonths,
  completeness,
  contradictions,
  coveredWindows,
  invoiceOption,
  knownUnits,
  noInvoice,
  readChecks,
  unprovenWindows,
} from '../warehouse/ledger/index.ts';
import { dueMonths } from '../warehouse/load/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import {
  closeObstacles,
  describeInvoices,
  firstCloseWarning,
  invoicesOf,
  isAsClosed,
  type RevokedInvoice,
  readBilledMonth,
  readClosedMonth,
  sameInvoiceWarning,
} from './billed/index.ts';
import { type Invoices, invoicedBy } from './given-invoices.ts';
import { exportsOfRevoked } from './revoked.ts';

/** A month to close, with the books held for it. */
interface Closing {
  readonly month: Window;
  readonly invoices: Invoices | undefined;
  readonly config: LocalConfig;
  readonly warehouse: Warehouse;
  readonly runNumber: number;
  readonly context: RunContext;
}

/** A closed month, and what changes with it. */
export interface MonthClose extends Omit<ClosedMonth, 'accounts' | 'runNumber'> {
  readonly accounts: readonly AccountClose[];
  /** Exports that show a close of the month that was revoked. */
  readonly revoked: readonly RevokedExport[];
  /** Whether it was closed before. */
  readonly wasClosed: boolean;
}

/**
 * Closes a month, or verifies that a closed one still is as it was closed. Throws UnprovenError with every obstacle, and
 * UsageError if the invoices do not fit.
 */
export async function closeMonth(closing: Closing): Promise<MonthClose> {
  const { month, invoices, config, warehouse, runNumber, context } = closing;
  // Read from the snapshot: checks are SQL of users and must not reach the writer's file.
  await warehouse.publish();
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async ({ connection }) => {
    const closed = await closedMonths(connection);
    const before = closed.find((candidate) => candidate.month === month.start);
    if (before !== undefined) return await closedAlready(before, closing);

    const accounts = await accountsToClose(connection, config, month);
    const ids = accounts.map(({ account }) => account);
    const invoiced = invoicedBy(invoices, ids);
    const revokedInvoices = await readRevokedInvoices(connection, month.start);
    expectEveryRevokedInvoice(revokedInvoices, invoiced, month.start);
    const { closeAfterDays, settleDays, lagHours } = config;
    const obstacles = [
      ...closeObstacles({
        ...{ month, closed, accounts, closeAfterDays, settleDays, lagHours },
        checks: await failingChecks(context),
        now: context.effects.now(),
      }),
      ...(await rulesNotApplied(connection, context.dir)),
    ];
    if (obstacles.length > 0) {
      const refused = `${formatMonth(month.start)} cannot be closed:`;
      throw new UnprovenError([refused, ...obstacles.map((text) => `- ${text}`)].join('\n'), {
        mistakes: obstacles.map((text) => ({ found: `${refused} ${text}` })),
      });
    }
    const warning = firstCloseWarning({ month, closed, accounts });
    if (warning !== undefined) context.tell(`warning: ${warning}`);
    const rate = rateAtClose(config.currency, context.dir, month.start);
    if (rate === undefined && config.currency !== undefined) {
      context.tell(
        `warning: ${config.currency.rates} has no rate before the end of ${formatMonth(month.start)}, so the month stays without amounts ` +
          `in ${config.currency.code}: to add a rate, reopen the month and close it again`,
      );
    }
    context.progress(`adding up ${formatMonth(month.start)}`);
    const totals = new Map([...invoiced].filter(([, usd]) => usd !== noInvoice));
    const billed = await readBilledMonth(connection, month.start, ids, { invoices: totals, rate });
    const closes = billed.map((one) => ({ ...one, hasNoInvoice: invoiced.get(one.account) === noInvoice }));
    for (const close of closes) {
      const same = sameInvoiceWarning(month.start, close, revokedInvoices);
      if (same !== undefined) context.tell(`warning: ${same}`);
    }
    const units = await knownUnits(connection);
    const closedAt = await warehouse.recordClose(
      { month: month.start, runNumber, accounts: closes, units, rate },
      context.effects.now(),
    );
    // The snapshot was read before the close.
    const name = formatMonth(month.start);
    const known = (await revokedCloses(connection)).map((one) =>
      one.month === name ? { ...one, isClosedAgain: true } : one,
    );
    const found = await exportsOfRevoked(context.dir, known);
    const revoked = found.filter(({ months }) => months.includes(name));
    return { month: month.start, closedAt, accounts: closes, rate, revoked, wasClosed: false };
  });
}

/** Says so if the project's allocation rules are not those of the books: the month would be charged by other rules for good. */
async function rulesNotApplied(connection: Connection, dir: string): Promise<readonly string[]> {
  const written = loadAllocation(allocationFile(dir));
  const inForce = await allocationInForce(connection);
  if ((written && JSON.stringify(written.definition)) === inForce) return [];
  const what = inForce === undefined ? 'without an owner' : 'by the earlier rules';
  return [
    `the rules in ${allocationFile(dir)} are not applied yet, so the month would stay ${what}: run "costbook allocation apply"`,
  ];
}

async function readRevokedInvoices(connection: Connection, month: Instant): Promise<RevokedInvoice[]> {
  const rows = await connection.rows(await readSql('closing', 'revoked_invoices'), {
    month: `${formatMonth(month)}-01`,
  });
  return rows.map((row) => ({
    ...{ account: String(row['account']), invoiced: String(row['invoiced']) },
    ...{ cost: String(row['cost']), correctionCost: String(row['correction_cost']) },
  }));
}

/**
 * Throws UsageError if the last close of a reopened month had an invoice of an account for which none is given now: to
 * close it so would change what the month bills in silence.
 */
function expectEveryRevokedInvoice(
  revoked: readonly RevokedInvoice[],
  given: ReadonlyMap<string, string>,
  month: Instant,
): void {
  const missing = revoked.filter(({ account }) => !given.has(account));
  if (missing.length === 0) return;
  const asGiven = [...given].map(([account, invoiced]) => ({ account, invoiced }));
  const [had, same] = missing.length === 1 ? ['an invoice', 'the same invoice'] : ['invoices', 'the same invoices'];
  throw new UsageError(
    `${formatMonth(month)} had ${had} when it was last closed: ${describeInvoices(missing)}. Add "${invoiceOption([...asGiven, ...missing])}" ` +
      `to close it with ${same}, --invoice with a new total, or "${invoiceOption([...asGiven, ...missing.map(({ account }) => ({ account, invoiced: noInvoice }))])}" to close it without`,
  );
}

/** The month is already closed: reports that, and verifies that its total is still its closing total. */
async function closedAlready(before: ClosedMonth, { invoices, context }: Closing): Promise<MonthClose> {
  const name = formatMonth(before.month);
  const given = invoicedBy(
    invoices,
    before.accounts.map(({ account }) => account),
  );
  const kept = invoicesOf(before);
  for (const [account, usd] of given) {
    const found = kept.find((one) => one.account === account)?.invoiced;
    if (found !== undefined && trimmedDecimal(found) === trimmedDecimal(usd)) continue;
    const others = kept.filter((one) => !given.has(one.account));
    const asked = [...others, ...[...given].map(([of, invoiced]) => ({ account: of, invoiced }))];
    throw new UsageError(
      `${name} was closed at ${formatInstant(before.closedAt)} with ${invoiceName(found)} for account ${account}, but --invoice says ` +
        `${usd === noInvoice ? usd : `${usd} USD`}: run "costbook reopen ${name} --reason correction", then "costbook close ${name} ${invoiceOption(asked)}"`,
    );
  }
  const books = await openBooks(context.dir, { lockedDown: true, asOf: before.closedAt, signal: context.signal });
  try {
    const billed = await readClosedMonth(books.connection, before);
    for (const [index, close] of before.accounts.entries()) {
      const now = billed[index];
      if (now === undefined || isAsClosed(now, close)) continue;
      throw new UnprovenError(
        `account ${close.account}: ${name} as of its close ${formatInstant(before.closedAt)} has the SHA-256 ${now.sha256}, but it was ` +
          `closed with ${close.sha256}: something other than Costbook changed the books. "costbook rebuild --into <file>" recreates them from the landing folder and compares`,
      );
    }
  } finally {
    books.close();
  }
  return { ...before, revoked: [], wasClosed: true };
}

/** `an invoice of 7.01 USD`; `no invoice` if none was given yet, and `--invoice none` if none will come. */
function invoiceName(invoiced: string | undefined): string {
  if (invoiced === undefined) return 'no invoice yet';
  return invoiced === noInvoice ? 'none (--invoice none)' : `an invoice of ${trimmedDecimal(invoiced)} USD`;
}

/** Every account in the books and in the configuration, with what closing a month needs. */
async function accountsToClose(connection: Connection, config: LocalConfig, month: Window) {
  const configured = config.accounts.flatMap(({ id }) => id ?? []);
  const inBooks = await completeness(connection);
  const ids = [...new Set([...inBooks.map(({ account }) => account), ...configured])].sort();
  return Promise.all(
    ids.map(async (account) => ({
      account,
      completeness: inBooks.find((candidate) => candidate.account === account),
      isConfigured: configured.length === 0 || configured.includes(account),
      covered: await coveredWindows(connection, account),
      unproven: [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))],
      isTotalDue: (await dueMonths(connection, account, month)).length > 0,
    })),
  );
}

/** The results of the checks that must pass before a month is closed. */
async function failingChecks({ dir, signal, progress }: RunContext): Promise<CheckResult[]> {
  const checks = (await readChecks(join(dir, 'sql'))).filter(({ severity }) => severity === 'fail');
  progress('checks');
  return runChecks(dir, checks, { signal, onResult: ({ check }) => progress(`check ${check.name}`) });
}
