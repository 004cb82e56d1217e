import { UsageError } from '../base/errors.ts';
import { spellingFault } from '../money/typed-number.ts';
import { quoted } from '../text/choices.ts';
import { noInvoice } from '../warehouse/ledger/index.ts';

/** Invoiced USD as plain decimal text, or `none`: per account, or one amount for a single account, or `none` for all. */
export type Invoices = { readonly only: string } | { readonly byAccount: ReadonlyMap<string, string> };

const amountPattern = /^-?\d{1,20}(\.\d{1,12})?$/;

/** Reads the option --invoice. Throws UsageError. */
export function parseInvoices(text: string): Invoices {
  const byAccount = new Map<string, string>();
  if (text === noInvoice) return { only: text };
  // A comma within an amount is a mistake of the amount, so only one before an account separates.
  for (const part of text.split(/,(?=[^,=]*=)/)) {
    const [, account, typed = ''] = /^\s*(?:([^=]+)=)?(.*?)\s*$/s.exec(part) ?? [];
    const spelling = spellingFault(typed);
    if (spelling !== undefined) throw new UsageError(`--invoice: ${spelling}`);
    const isAmount = amountPattern.test(typed) || (typed === noInvoice && account !== undefined);
    if (isAmount && account === undefined && part === text) return { only: typed };
    if (!isAmount || account === undefined || byAccount.has(account)) {
      throw new UsageError(
        `--invoice: found ${quoted(part)}, expected USD such as 1234.56, or one amount for each account such as acc_a=1234.56,acc_b=98.10, or none`,
      );
    }
    byAccount.set(account, typed);
  }
  return { byAccount };
}

/** The invoice of each account that has one or gets `none`. Throws UsageError if they do not fit the accounts. */
export function invoicedBy(invoices: Invoices | undefined, accounts: readonly string[]): ReadonlyMap<string, string> {
  if (invoices === undefined) return new Map();
  if ('only' in invoices) {
    if (invoices.only === noInvoice) return new Map(accounts.map((account) => [account, noInvoice]));
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
