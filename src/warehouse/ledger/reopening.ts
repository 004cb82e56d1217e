import { act, type NextStep } from '../../base/next-step.ts';
import { typedDecimal } from '../../money/money.ts';
import { shellWord } from '../../text/shell-word.ts';

/** Stands in place of a total if the account gets no invoice for the month. */
export const noInvoice = 'none';

/** Stands in place of a total that a person has to look up. */
export const newTotal = 'TOTAL';

/** The total of the platform's invoice to an account: USD as decimal text, `none` or `TOTAL`. */
export interface Invoice {
  readonly account: string;
  readonly invoiced: string;
}

/**
 * The option that gives these invoices again, as a person types it: `--invoice acc_main=3623.03`; with the account whose
 * total is `missing`.
 */
export function invoiceOption(invoices: readonly Invoice[], missing?: string): string {
  const given = invoices.map(({ account, invoiced }) => `${account}=${typedDecimal(invoiced)}`);
  return `--invoice ${shellWord([...given, ...(missing === undefined ? [] : [`${missing}=${newTotal}`])].join(','))}`;
}

/** A month that was closed: to close it again, with the invoices of its last close. */
export interface MonthToClose {
  /** `2026-10`. */
  readonly month: string;
  readonly invoices: readonly Invoice[];
  /** The account whose invoice is still to be given. */
  readonly missing?: string;
}

/** The closed months to reopen, oldest first, and the months to close afterwards. */
export interface Reopening {
  readonly reopen: readonly string[];
  /** If missing: the same months, without their invoices. */
  readonly close?: readonly MonthToClose[] | undefined;
}

/** The next step for a closed month that no longer has its closing total. It reopens none if only hours are missing. */
export function closeAgainStep(reopening: Reopening): NextStep {
  if (reopening.reopen.length === 0)
    return act('run "costbook ingest", which fetches the missing hours of the month again.', 'ingest');
  return act(`run "costbook ingest", then ${reopenAndClose(reopening)}.`, 'ingest');
}

/** The commands that reopen closed months and close them again: the newest is reopened first. */
export function reopenAndClose({
  reopen,
  close = reopen.map((month) => ({ month, invoices: [] })),
}: Reopening): string {
  return [
    ...reopen.toReversed().map((month) => `"costbook reopen ${month} --reason correction"`),
    ...close.map(closeCommand),
  ].join(', then ');
}

function closeCommand({ month, invoices, missing }: MonthToClose): string {
  const isPlain = invoices.length === 0 && missing === undefined;
  return `"costbook close ${month}${isPlain ? '' : ` ${invoiceOption(invoices, missing)}`}"`;
}
