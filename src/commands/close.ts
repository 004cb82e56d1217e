import { exitCodes } from '../base/errors.ts';
import { billedCost, invoiceDifference, invoiceWarning, invoiceWords, totalBilled } from '../closing/billed/index.ts';
import { closeMonth, type MonthClose, parseInvoices } from '../closing/index.ts';
import { loadConfig } from '../config/index.ts';
import { amount, trimmedDecimal } from '../money/money.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { revokedWords } from '../reports/exports/index.ts';
import { type Outcome, writingRun } from '../runs/index.ts';
import { formatTable, type TableLayout } from '../terminal/index.ts';
import { formatInstant, formatMonth, parseMonth } from '../time/time.ts';
import { expectBooks } from '../warehouse/integrity/index.ts';
import { noInvoice } from '../warehouse/ledger/index.ts';
import type { Command, CommandContext } from './command.ts';

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
    return writingRun('close', waitMs, context, async (warehouse, runNumber) =>
      answer(await closeMonth({ month, invoices, config, warehouse, runNumber, context }), context),
    );
  },
};

async function answer(close: MonthClose, context: CommandContext): Promise<Outcome> {
  const { month, closedAt, accounts, rate, revoked, wasClosed } = close;
  for (const account of accounts) {
    const warning = invoiceWarning(month, account);
    if (warning !== undefined) context.tell(`warning: ${warning}`);
  }
  const rows = accounts.map((one) => {
    const { account, rowCount, cost, corrections, correctionCost, invoiced = null, hasNoInvoice = false, sha256 } = one;
    const billed = { invoiced, invoiceDifference: invoiceDifference(one) ?? null, billedCost: billedCost(one) };
    return { account, rowCount, cost, corrections, correctionCost, ...billed, noInvoice: hasNoInvoice, sha256 };
  });
  const data = { month: formatMonth(month), closedAt: formatInstant(closedAt), wasClosed, rate: rate ?? null };
  await context.answer({ ...data, accounts: rows, revoked }, () => describe(close, context.layout));
  return { exitCode: exitCodes.done };
}

function describe({ month, closedAt, accounts, rate, revoked, wasClosed }: MonthClose, layout: TableLayout): string {
  const columns = ['account', 'rows', 'cost', 'corrections', 'invoiced', 'billed', 'sha256'];
  const table = formatTable(
    columns.map((name) => ({ name, type: ['account', 'sha256'].includes(name) ? 'VARCHAR' : 'DECIMAL' })),
    accounts.map((close) => {
      const { account, rowCount, cost, correctionCost, invoiced, hasNoInvoice, sha256 } = close;
      return [
        account,
        String(rowCount),
        trimmedDecimal(cost),
        trimmedDecimal(correctionCost),
        invoiced === undefined ? (hasNoInvoice ? noInvoice : 'not given') : trimmedDecimal(invoiced),
        trimmedDecimal(billedCost(close)),
        sha256.slice(0, 12),
      ];
    }),
    layout,
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
  return `${table}\n${lines.join('\n')}\n`;
}
