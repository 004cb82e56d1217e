import { amount, trimmedDecimal } from '../../money/money.ts';
import { textOrUndefined } from '../../tables/optional-text.ts';
import { addCalendarMonths, formatInstant, type Instant, type Window } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection, SqlRow } from '../store/connection.ts';
import { type Invoice, type MonthToClose, newTotal, noInvoice, type Reopening } from './reopening.ts';

/** What a month billed to an account at its close; costs are decimal text in USD. */
export interface AccountClose {
  readonly account: string;
  /** Rows and cost of the month's own hours. */
  readonly rowCount: number;
  readonly cost: string;
  /** Rows and cost of the corrections of earlier months that it bills. */
  readonly corrections: number;
  readonly correctionCost: string;
  /** SHA-256 of those rows, hexadecimal. */
  readonly sha256: string;
  /** The platform's invoice; undefined if none was entered. */
  readonly invoiced: string | undefined;
  /** Whether no invoice will come, rather than not yet. */
  readonly hasNoInvoice?: boolean;
}

/** The rate of a month in the second currency, as its close stores it. */
export interface ClosedRate {
  /** `EUR`. */
  readonly code: string;
  /** How much of the currency one USD is, plain decimal text. */
  readonly rate: string;
  /** The day that the rate is of: `2026-10-30`. */
  readonly rateDate: string;
  readonly source: string;
}

/** A billing dimension and the unit of its usage. */
export interface KnownUnit {
  readonly billingDimension: string;
  readonly unit: string | undefined;
}

/** Everything that a close stores. */
export interface MonthClose {
  /** The first instant of the month. */
  readonly month: Instant;
  readonly runNumber: number;
  /** Every account in the books, including those without billed costs. */
  readonly accounts: readonly AccountClose[];
  /** For every billing dimension in the books. */
  readonly units: readonly KnownUnit[];
  /** Undefined if the month has no rate. */
  readonly rate: ClosedRate | undefined;
}

/** A closed month. */
export interface ClosedMonth {
  /** The first instant of the month. */
  readonly month: Instant;
  /** Its reports answer as of this instant. */
  readonly closedAt: Instant;
  readonly runNumber: number;
  /** Undefined if the month was closed without one. */
  readonly rate: ClosedRate | undefined;
  /** Ordered by name. */
  readonly accounts: readonly AccountClose[];
}

/** The closed months, oldest first, without gaps. */
export async function closedMonths(connection: Connection): Promise<ClosedMonth[]> {
  const rows = await connection.rows(await readSql('closing', 'closed_months'));
  const months: (ClosedMonth & { accounts: AccountClose[] })[] = [];
  for (const row of rows) {
    const month = Number(row['month']);
    if (months.at(-1)?.month !== month)
      months.push({
        ...{ month, closedAt: Number(row['closed_at']), runNumber: Number(row['run_number']) },
        ...{ rate: rateIn(row), accounts: [] },
      });
    months.at(-1)?.accounts.push({
      account: String(row['account']),
      rowCount: Number(row['row_count']),
      cost: String(row['cost']),
      corrections: Number(row['corrections']),
      correctionCost: String(row['correction_cost']),
      sha256: String(row['sha256']),
      invoiced: textOrUndefined(row['invoiced']),
      hasNoInvoice: row['no_invoice'] === true,
    });
  }
  return months;
}

function rateIn(row: SqlRow): ClosedRate | undefined {
  const code = textOrUndefined(row['currency']);
  if (code === undefined) return undefined;
  const [rate, rateDate, source] = ['rate', 'rate_date', 'rate_source'].map((key) => String(row[key]));
  return { code, rate: trimmedDecimal(rate ?? ''), rateDate: rateDate ?? '', source: source ?? '' };
}

/** A closed month of an account that no longer has the rows and the cost of its close. Costs are decimal text, USD. */
export interface DifferingClose extends Reopening {
  readonly account: string;
  /** `2026-10`. */
  readonly month: string;
  readonly closedCost: string;
  /** What the month bills now. */
  readonly cost: string;
  readonly difference: string;
  /**
   * The months to reopen, oldest first: this one and all that were closed after it. Empty while hours of the close are
   * missing, because fetching them again may be enough.
   */
  readonly reopen: readonly string[];
}

/** Each month from this one on that is closed or was reopened, oldest first, with the invoices to close it with. */
export type MonthsToClose = (first: string) => readonly MonthToClose[];

/** A change of a closed month of an account, and a month that bills a part of it: `2026-10`. */
export interface Corrected {
  readonly account: string;
  readonly month: string;
  readonly billedIn: string;
}

/**
 * Reads what to close again if a month is reopened: every month from it on that was ever closed. Its invoices are those of
 * its last close, or `TOTAL` where the month would then bill a change that the invoice does not contain, or no longer bill one
 * that it does.
 */
export async function readMonthsToClose(connection: Connection): Promise<MonthsToClose> {
  const months = await monthsEverClosed(connection);
  const rows = await connection.rows(await readSql('closing', 'corrected_months'));
  return monthsToClose(
    months,
    rows.map((row) => ({
      account: String(row['account']),
      month: String(row['month']),
      billedIn: String(row['billed_in']),
    })),
  );
}

/** Reopened from `first` on, each month bills its own changes, and the first one also those of the months before it. */
export function monthsToClose(months: readonly MonthToClose[], corrected: readonly Corrected[]): MonthsToClose {
  return (first) => {
    const moved = corrected.flatMap(({ account, month, billedIn }) => {
      const isEarlier = month < first;
      const to = isEarlier ? first : month;
      return billedIn <= to ? [] : [`${account} ${to}`, `${account} ${billedIn}`];
    });
    return months
      .filter(({ month }) => month >= first)
      .map(({ month, invoices }) => ({
        month,
        invoices: invoices.map(({ account, invoiced }) => {
          const isAnother = invoiced !== noInvoice && moved.includes(`${account} ${month}`);
          return { account, invoiced: isAnother ? newTotal : invoiced };
        }),
      }));
  };
}

async function monthsEverClosed(connection: Connection): Promise<readonly MonthToClose[]> {
  const rows = await connection.rows(await readSql('closing', 'last_invoices'));
  return rows.map((row) => ({
    month: String(row['month']),
    invoices: JSON.parse(String(row['invoices'])) as Invoice[],
  }));
}

/** The first and the last closed month; nothing if none is closed. */
async function firstAndLastClosed(connection: Connection): Promise<readonly Window[]> {
  const months = (await closedMonths(connection)).map(({ month }) => ({
    start: month,
    end: addCalendarMonths(month, 1),
  }));
  return [months.at(0), months.at(-1)].flatMap((each) => each ?? []);
}

/** The closed months within a window, or all, that no longer have the numbers of their close. Reads no other months. */
export async function differingCloses(connection: Connection, within?: Window): Promise<DifferingClose[]> {
  const [first, last] = await firstAndLastClosed(connection);
  if (first === undefined || last === undefined) return [];
  const start = Math.max(first.start, within?.start ?? first.start);
  const end = Math.min(last.end, within?.end ?? last.end);
  if (start >= end) return [];
  const rows = await connection.rows(await readSql('closing', 'differing_closes'), {
    start: formatInstant(start),
    end: formatInstant(end),
  });
  if (rows.length === 0) return [];
  const months = await monthsEverClosed(connection);
  return rows.map((row) => ({
    account: String(row['account']),
    month: String(row['month']),
    closedCost: String(row['closed_cost']),
    cost: String(row['cost']),
    difference: String(row['difference']),
    reopen: textOrUndefined(row['reopen'])?.split(',') ?? [],
    close: months.filter(({ month }) => month >= String(row['month'])),
  }));
}

/** The fault in one sentence, without the step: `2026-10 of acc_one was closed with 6155.10 USD, but now has 4377.22 USD`. */
export function differingCloseWords({ account, month, closedCost, cost }: DifferingClose): string {
  const [then, now] = [amount(closedCost), amount(cost)];
  return then === now
    ? `${month} of account ${account} no longer has the rows that it was closed with`
    : `${month} of account ${account} was closed with ${then} USD, but the books now have ${now} USD for it`;
}

/** The units of all billing dimensions in the books, by name. */
export async function knownUnits(connection: Connection): Promise<KnownUnit[]> {
  const rows = await connection.rows(await readSql('closing', 'units_of_dimensions'));
  return rows.map((row) => ({
    billingDimension: String(row['billing_dimension']),
    unit: textOrUndefined(row['unit']),
  }));
}

/** Writes a close to journal and ledger; `closedAt` is after everything recorded before. */
export async function recordClose(
  connection: Connection,
  recorder: Recorder,
  { month, runNumber, accounts, units, rate }: MonthClose,
  closedAt: Instant,
): Promise<void> {
  const [row] = await connection.rows(await readSql('ledger', 'last_load'));
  const covered = await connection.rows(await readSql('closing', 'covered_at_close'), { month: monthText(month) });
  await recorder.record({
    event: 'month_closed',
    values: {
      billing_month: monthText(month),
      run_number: runNumber,
      load_number: Number(row?.['load_number']),
      closed_at: formatInstant(closedAt),
      accounts: accounts.map((account) => ({
        account: account.account,
        row_count: account.rowCount,
        cost: account.cost,
        corrections: account.corrections,
        correction_cost: account.correctionCost,
        sha256: account.sha256,
        invoiced: account.invoiced ?? null,
        has_no_invoice: account.hasNoInvoice ?? false,
        covered: String(covered.find((each) => each['account'] === account.account)?.['covered'] ?? '[]'),
        currency: rate?.code ?? null,
        rate: rate?.rate ?? null,
        rate_date: rate?.rateDate ?? null,
        rate_source: rate?.source ?? null,
      })),
      units: units.map(({ billingDimension, unit }) => ({ billing_dimension: billingDimension, unit: unit ?? null })),
    },
  });
}

/** Writes the reopening of a closed month to journal and ledger. */
export async function reopenMonth(
  recorder: Recorder,
  month: Instant,
  reason: string,
  reopenedAt: Instant,
): Promise<void> {
  await recorder.record({
    event: 'month_reopened',
    values: { billing_month: monthText(month), reopened_at: formatInstant(reopenedAt), reason },
  });
}

/** `2026-10-01`: a month in the ledger. */
function monthText(month: Instant): string {
  return formatInstant(month).slice(0, 10);
}
