import { join } from 'node:path';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { exitCodes, UnprovenError, UsageError } from '../base/errors.ts';
import {
  billedCost,
  closeObstacles,
  describeInvoices,
  firstCloseWarning,
  invoiceDifference,
  invoiceWarning,
  invoiceWords,
  isAsClosed,
  type RevokedInvoice,
  readBilledMonth,
  readClosedMonth,
  sameInvoiceWarning,
  totalBilled,
} from '../closing/index.ts';
import { type LocalConfig, loadConfig } from '../config/index.ts';
import { rateAtClose } from '../currency/index.ts';
import { amount, trimmedDecimal } from '../money/money.ts';
import { spellingFault } from '../money/typed-number.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { runChecks } from '../query/index.ts';
import { type RevokedExport, revokedCloses, revokedWords } from '../reports/exports/index.ts';
import { formatTable } from '../terminal/index.ts';
import { quoted } from '../text/choices.ts';
import { formatInstant, formatMonth, type Instant, parseMonth, type Window } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { expectBooks, openBooks } from '../warehouse/integrity/index.ts';
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
  readChecks,
  unprovenWindows,
} from '../warehouse/ledger/index.ts';
import { dueMonths } from '../warehouse/load/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';
import { exportsOfRevoked } from './revoked.ts';
import { type Outcome, writingRun } from './writing-run.ts';

export const closeCommand: Command = {
  name: 'close',
  summary: 'Close a month that is complete, proven and settled. Its reports stay the same from then on.',
  arguments: [
    {
      name: '<month>',
      summary: 'the month, such as 2026-09, or last for the latest month that is over; must be the oldest open month',
    },
  ],
  examples: ['costbook close 2026-09', 'costbook close last', 'costbook close 2026-09 --invoice 1234.56'],
  async run(input, context) {
    const { invoice, wait: waitMs } = read(options.close, input, context);
    const month = parseMonth(input.arguments[0] ?? '', 'month', context.effects.now());
    const invoices = invoice === undefined ? undefined : parseInvoices(invoice);
    const { dir, effects } = context;
    const config = loadConfig({ dir, env: context.env, now: effects.now(), requireAccounts: false });
    // Without published books there is nothing to close; do not create a warehouse.
    await expectBooks(dir);
    return writingRun('close', waitMs, context, (warehouse, runNumber) =>
      closeUnderLock({ month, invoices, config, warehouse, runNumber, context }),
    );
  },
};

interface Closing {
  readonly month: Window;
  readonly invoices: Invoices | undefined;
  readonly config: LocalConfig;
  readonly warehouse: Warehouse;
  readonly runNumber: number;
  readonly context: CommandContext;
}

async function closeUnderLock(closing: Closing): Promise<Outcome> {
  const { month, invoices, config, warehouse, runNumber, context } = closing;
  // Read from the snapshot: checks are SQL of users and must not reach the writer's file.
  await warehouse.publish();
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const { connection } = books;
    const closed = await closedMonths(connection);
    const before = closed.find((candidate) => candidate.month === month.start);
    if (before !== undefined) return await closedAlready(before, closing);

    const accounts = await accountsToClose(connection, config, month);
    const ids = accounts.map(({ account }) => account);
    const invoiced = invoicedBy(invoices, ids);
    const revokedInvoices = await readRevokedInvoices(connection, month.start);
    if (invoices === undefined) expectNoRevokedInvoice(revokedInvoices, month.start);
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
    const closes = await readBilledMonth(connection, month.start, ids, { invoices: invoiced, rate });
    for (const close of closes) {
      const same = sameInvoiceWarning(month.start, close, revokedInvoices);
      if (same !== undefined) context.tell(`warning: ${same}`);
    }
    const units = await knownUnits(connection);
    const closedAt = await warehouse.closeMonth(
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
    await answer({ month: month.start, closedAt, accounts: closes, rate, revoked }, false, context);
    return { exitCode: exitCodes.done };
  } finally {
    books.close();
  }
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
 * Throws UsageError if the last close of a reopened month had an invoice: to close it without one would change what the
 * month bills in silence.
 */
function expectNoRevokedInvoice(invoices: readonly RevokedInvoice[], month: Instant): void {
  if (invoices.length === 0) return;
  const [had, same] = invoices.length === 1 ? ['an invoice', 'the same invoice'] : ['invoices', 'the same invoices'];
  throw new UsageError(
    `${formatMonth(month)} had ${had} when it was last closed: ${describeInvoices(invoices)}. Add "${invoiceOption(invoices)}" ` +
      `to close it with ${same}, --invoice with a new total, or "--invoice none" to close it without one`,
  );
}

/** The month is already closed: reports that, and verifies that its total is still its closing total. */
async function closedAlready(before: ClosedMonth, { invoices, context }: Closing): Promise<Outcome> {
  const name = formatMonth(before.month);
  const asked =
    invoices === undefined
      ? []
      : [
          ...invoicedBy(
            invoices,
            before.accounts.map(({ account }) => account),
          ),
        ];
  for (const [account, usd] of asked) {
    const kept = before.accounts.find((candidate) => candidate.account === account)?.invoiced;
    if (kept !== undefined && trimmedDecimal(kept) === trimmedDecimal(usd)) continue;
    throw new UsageError(
      `${name} was closed at ${formatInstant(before.closedAt)} with ${kept === undefined ? 'no invoice' : `an invoice of ${trimmedDecimal(kept)} USD`} ` +
        `for account ${account}, but --invoice says ${usd} USD: run "costbook reopen ${name} --reason …", then close it with the new amount`,
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
  await answer({ ...before, revoked: [] }, true, context);
  return { exitCode: exitCodes.done };
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
async function failingChecks({ dir, signal, progress }: CommandContext): Promise<CheckResult[]> {
  const checks = (await readChecks(join(dir, 'sql'))).filter(({ severity }) => severity === 'fail');
  progress('checks');
  return runChecks(dir, checks, { signal, onResult: ({ check }) => progress(`check ${check.name}`) });
}

/** Invoiced USD as plain decimal text: per account, or one amount for a single account. */
type Invoices = { readonly only: string } | { readonly byAccount: ReadonlyMap<string, string> };

const amountPattern = /^-?\d{1,20}(\.\d{1,12})?$/;

function parseInvoices(text: string): Invoices {
  const byAccount = new Map<string, string>();
  if (text === 'none') return { byAccount };
  // A comma within an amount is a mistake of the amount, so only one before an account separates.
  for (const part of text.split(/,(?=[^,=]*=)/)) {
    const [, account, typed = ''] = /^\s*(?:([^=]+)=)?(.*?)\s*$/s.exec(part) ?? [];
    const spelling = spellingFault(typed);
    if (spelling !== undefined) throw new UsageError(`--invoice: ${spelling}`);
    const isAmount = amountPattern.test(typed);
    if (isAmount && account === undefined && part === text) return { only: typed };
    if (!isAmount || account === undefined || byAccount.has(account)) {
      throw new UsageError(
        `--invoice: found ${quoted(part)}, expected USD such as 1234.56, or one amount for each account such as acc_a=1234.56,acc_b=98.10`,
      );
    }
    byAccount.set(account, typed);
  }
  return { byAccount };
}

function invoicedBy(invoices: Invoices | undefined, accounts: readonly string[]): ReadonlyMap<string, string> {
  if (invoices === undefined) return new Map();
  if ('only' in invoices) {
    const [account] = accounts;
    if (account !== undefined && accounts.length === 1) return new Map([[account, invoices.only]]);
    const form = accounts.map((id) => `${id}=…`).join(',');
    throw new UsageError(`--invoice: the books have ${accounts.length} accounts, expected an amount for each: ${form}`);
  }
  const unknown = [...invoices.byAccount.keys()].find((account) => !accounts.includes(account));
  if (unknown !== undefined) {
    throw new UsageError(`--invoice: found account "${unknown}", expected one in the books: ${accounts.join(', ')}`);
  }
  return invoices.byAccount;
}

async function answer(
  {
    month,
    closedAt,
    accounts,
    rate,
    revoked,
  }: Omit<ClosedMonth, 'accounts'> & {
    readonly accounts: readonly AccountClose[];
    readonly revoked: readonly RevokedExport[];
  },
  wasClosed: boolean,
  context: CommandContext,
): Promise<void> {
  for (const close of accounts) {
    const warning = invoiceWarning(month, close);
    if (warning !== undefined) context.tell(`warning: ${warning}`);
  }
  if (context.json) {
    const rows = accounts.map((close) => {
      const { account, rowCount, cost, corrections, correctionCost, invoiced = null, sha256 } = close;
      const billed = { invoiced, invoiceDifference: invoiceDifference(close) ?? null, billedCost: billedCost(close) };
      return { account, rowCount, cost, corrections, correctionCost, ...billed, sha256 };
    });
    const value = {
      month: formatMonth(month),
      closedAt: formatInstant(closedAt),
      wasClosed,
      rate: rate ?? null,
      accounts: rows,
      revoked,
    };
    await context.write(`${JSON.stringify(value)}\n`);
    return;
  }
  const columns = ['account', 'rows', 'cost', 'corrections', 'invoiced', 'billed', 'sha256'];
  const table = formatTable(
    columns.map((name) => ({ name, type: ['account', 'sha256'].includes(name) ? 'VARCHAR' : 'DECIMAL' })),
    accounts.map((close) => {
      const { account, rowCount, cost, correctionCost, invoiced, sha256 } = close;
      return [
        account,
        String(rowCount),
        trimmedDecimal(cost),
        trimmedDecimal(correctionCost),
        invoiced === undefined ? 'not given' : trimmedDecimal(invoiced),
        trimmedDecimal(billedCost(close)),
        sha256.slice(0, 12),
      ];
    }),
    context.layout,
  );
  const words = wasClosed ? 'was already closed, and still matches its closing total' : 'is closed';
  const next =
    revokedWords(revoked) ??
    'Later changes become corrections in the first open month. --as-of now shows current numbers.';
  const lines = [
    `${formatMonth(month)} ${words} as of ${formatInstant(closedAt)}. It bills ${amount(totalBilled(accounts))} USD. Its reports show the books as of then.`,
    ...accounts.flatMap((close) => invoiceWords(close) ?? []),
    ...(rate === undefined
      ? []
      : [`It keeps the rate of ${rate.rateDate}: 1 USD = ${rate.rate} ${rate.code} (${rate.source}).`]),
    next,
  ];
  await context.write(`${table}\n${lines.join('\n')}\n`);
}
