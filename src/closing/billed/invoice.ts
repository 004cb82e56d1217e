import { amount, moneyOf, moneyText, trimmedDecimal, usdDecimals } from '../../money/money.ts';
import { formatMonth, type Instant } from '../../time/time.ts';
import type { AccountClose, Invoice } from '../../warehouse/ledger/index.ts';

type Billed = Omit<AccountClose, 'sha256'>;

/** What a close bills to an account, USD as decimal text: its invoice, or its own cost plus corrections. As in view `closes`. */
export function billedCost({ cost, correctionCost, invoiced }: Billed): string {
  return moneyText(invoiced === undefined ? moneyOf(cost) + moneyOf(correctionCost) : moneyOf(invoiced));
}

/** The invoice minus own cost and corrections, USD as decimal text; undefined without an invoice. As in view `closes`. */
export function invoiceDifference({ cost, correctionCost, invoiced }: Billed): string | undefined {
  if (invoiced === undefined) return undefined;
  return moneyText(moneyOf(invoiced) - moneyOf(cost) - moneyOf(correctionCost));
}

/** The sum of the billed costs of all accounts, USD as decimal text. */
export function totalBilled(accounts: readonly Billed[]): string {
  return moneyText(accounts.reduce((sum, account) => sum + moneyOf(billedCost(account)), 0n));
}

/** How an account's invoice compares with the books, in one sentence; undefined without an invoice. */
export function invoiceWords(close: Billed): string | undefined {
  const difference = invoiceDifference(close);
  if (close.invoiced === undefined || difference === undefined) return undefined;
  const { account, cost, correctionCost, invoiced } = close;
  const parts = `${amount(cost)} USD of the month itself and ${amount(correctionCost)} USD of corrections`;
  if (absolute(moneyOf(difference)) < cent) {
    return `The invoice of account ${account} matches the books: ${parts}.`;
  }
  const how = difference.startsWith('-') ? 'less' : 'more';
  return (
    `The invoice of account ${account}, ${amount(invoiced)} USD, is ${amount(difference.replace('-', ''))} USD ${how} than the books: ` +
    `${parts}. Invoice lines, statement and FOCUS show the difference as a line of its own. ` +
    'It may be taxes, fees or discounts that the metrics do not have; if the invoice does not explain it, ask the platform.'
  );
}

/**
 * A warning about an invoice that looks like the cost of the month alone although the month bills corrections too: then
 * the total of the invoice may not have been entered. Undefined if there is nothing to warn about.
 */
export function invoiceWarning(month: Instant, close: Billed): string | undefined {
  const { account, cost, correctionCost, invoiced } = close;
  if (invoiced === undefined) return undefined;
  const corrections = absolute(moneyOf(correctionCost));
  // An invoice may round each of its lines.
  const isOwnAlone = absolute(moneyOf(invoiced) - moneyOf(cost)) * 10n <= corrections;
  if (corrections < cent || !isOwnAlone) return undefined;
  const name = formatMonth(month);
  return (
    `account ${account}: the invoice of ${amount(invoiced)} USD looks like the cost of ${name} alone, ${amount(cost)} USD, without the ` +
    `corrections of ${amount(correctionCost)} USD that ${name} bills. --invoice is the total of the invoice, with these corrections. ` +
    `If the invoice has them, run "costbook reopen ${name} --reason correction", then close the month with its total. ` +
    'If it does not, nothing is wrong: the invoice difference takes them out'
  );
}

/** What a month billed to an account when it was last closed, before it was reopened. */
export interface RevokedInvoice extends Invoice {
  readonly cost: string;
  readonly correctionCost: string;
}

/**
 * A warning about an invoice that is that of the last close, although the books had another cost for the month then: what
 * moved between months is billed twice, or not at all. Undefined if there is nothing to warn about.
 */
export function sameInvoiceWarning(
  month: Instant,
  close: Billed,
  revoked: readonly RevokedInvoice[],
): string | undefined {
  const { account, invoiced } = close;
  const last = revoked.find((one) => one.account === account);
  if (last === undefined || invoiced === undefined || moneyOf(last.invoiced) !== moneyOf(invoiced)) return undefined;
  const moved = moneyOf(close.cost) + moneyOf(close.correctionCost) - moneyOf(last.cost) - moneyOf(last.correctionCost);
  if (absolute(moved) < cent) return undefined;
  const [how, so] =
    moved < 0n
      ? ['more', 'If an earlier month bills this now, it is billed twice']
      : ['less', 'If no other month bills this, it is not billed'];
  const name = formatMonth(month);
  return (
    `account ${account}: the invoice of ${amount(invoiced)} USD is that of the last close of ${name}, when the books had ` +
    `${amount(moneyText(absolute(moved)))} USD ${how} for it. ${so}: run "costbook reopen ${name} --reason correction", then close the month ` +
    'with the corrected total of its invoice'
  );
}

/** The invoices of a close, for people: `3623.03 USD`. */
export function describeInvoices(invoices: readonly Invoice[]): string {
  return invoices.map(({ account, invoiced }) => `${trimmedDecimal(invoiced)} USD for account ${account}`).join(', ');
}

const cent = 10n ** BigInt(usdDecimals - 2);

function absolute(whole: bigint): bigint {
  return whole < 0n ? -whole : whole;
}
