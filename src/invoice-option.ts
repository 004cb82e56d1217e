import { typedDecimal } from './decimals.ts';
import { shellWord } from './shell-word.ts';

/** The total of the platform's invoice to an account, USD as decimal text. */
export interface Invoice {
  readonly account: string;
  readonly invoiced: string;
}

/** The option that gives these invoices again, as a person types it: `--invoice acc_main=3623.03`. */
export function invoiceOption(invoices: readonly Invoice[]): string {
  return `--invoice ${shellWord(invoices.map(({ account, invoiced }) => `${account}=${typedDecimal(invoiced)}`).join(','))}`;
}
