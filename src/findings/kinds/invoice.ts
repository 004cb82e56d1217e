import { act } from '../../base/next-step.ts';
import { usd } from '../../money/money.ts';
import { formatInstant } from '../../time/time.ts';
import { type MonthToClose, newTotal, readMonthsToClose, reopenAndClose } from '../../warehouse/ledger/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type DataKind, isRead, throughOf } from '../kind.ts';
import { alertRows } from '../rows.ts';

interface Row {
  readonly account: string;
  readonly month: string;
  /** What the month bills without an invoice: USD, decimal text. */
  readonly billed: string;
  /** The closed months from this one on, oldest first. */
  readonly reopen: readonly string[];
  /** The months to close after that, with their invoices. */
  readonly close: readonly MonthToClose[];
}

/** The newest closed month of an account has no invoice, and its invoice is due. */
export type InvoiceFact = Finding<'invoice'> & Omit<Row, 'account'> & { readonly days: number | null };

export const invoice: DataKind<InvoiceFact, Row> = {
  name: 'invoice',
  read: async (connection, { now, invoiceDays = null }) => {
    const asked = { now: formatInstant(now), days: invoiceDays };
    const rows = await alertRows(connection, 'closed_without_invoice', asked);
    const toClose = rows.length === 0 ? () => [] : await readMonthsToClose(connection);
    return rows.map((row) => ({
      account: String(row['account']),
      month: String(row['month']),
      billed: String(row['billed']),
      reopen: String(row['reopen']).split(','),
      close: toClose(String(row['month'])).map((each) =>
        each.month === String(row['month']) ? { ...each, missing: String(row['account']) } : each,
      ),
    }));
  },
  findings: (rows, world) =>
    rows.map(({ account, ...row }) => ({
      ...findingOf('invoice', [account], { account, severity: 'info', completeThrough: throughOf(world, account) }),
      // One alert an account: the next month takes its place.
      revision: row.month,
      days: world.invoiceDays ?? null,
      ...row,
    })),
  isLookedFor: isRead,
  words: ({ account, month, billed }) => ({
    title: `${month} of ${account} is closed without an invoice: it bills ${usd(billed)}, the sum of the books`,
    sentences: [],
  }),
  over: ({ account }) => ({ title: `no closed month of ${account} waits for its invoice`, sentences: [] }),
  step: ({ reopen, close }) => {
    const isCorrected = close.some(({ invoices }) => invoices.some(({ invoiced }) => invoiced === newTotal));
    const others = isCorrected ? ' and those of corrected invoices' : '';
    return act(
      `when finance has its invoice, run ${reopenAndClose({ reopen, close })}, with its total in USD${others} as ${newTotal}, or none if no invoice will come.`,
    );
  },
  amount: ({ billed }) => billed,
  isDated: true,
  isRefreshed: true,
  page: () => '/months',
};
