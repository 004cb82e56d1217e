import { UnprovenError } from '../base/errors.ts';
import { type BilledMonth, isAsClosed, readBilledMonth, readClosedMonth } from '../closing/billed/index.ts';
import { type CurrencyOfMonth, converted } from '../currency/index.ts';
import { sumOf as exactSum } from '../money/money.ts';
import type { CompletenessState } from '../reports/formats/index.ts';
import { builtInReport, invoiceLines } from '../reports/questions/index.ts';
import { addCalendarMonths, formatMonth, type Instant } from '../time/time.ts';
import { closedMonths } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlParameters, SqlRow } from '../warehouse/store/index.ts';
import type { StatementScope } from './scope.ts';

/** The month of statements, and what its numbers rest on; the same for every owner. */
export interface StatementMonth {
  readonly month: Instant;
  readonly state: CompletenessState;
  /** Why the month is not complete, a sentence each. */
  readonly missing: readonly string[];
  /** What is billed to each account, with its digest, and whether that is the digest of its close; null while it is open. */
  readonly billed: readonly (BilledMonth & { readonly isAsClosed: boolean | null })[];
  /** Whether the month before is closed. A closed month compares with its close, an open one with current numbers. */
  readonly isMonthBeforeClosed: boolean;
  /** The second currency with the rate of the month; undefined if it has none. */
  readonly currency: CurrencyOfMonth | undefined;
  /** A row per account: is the month complete, proven and billed? */
  readonly reconciled: readonly SqlRow[];
}

/** A statement's numbers, but for those of single resources. Amounts are USD as exact decimal text. */
export interface StatementData extends StatementMonth, StatementScope {
  readonly cost: string;
  /** Null unless both months are complete. */
  readonly costBefore: string | null;
  readonly workspaces: readonly SqlRow[];
  readonly owners: readonly SqlRow[];
  /** Lines of the invoice; of an owner, what it is charged for. */
  readonly lines: readonly SqlRow[];
  readonly days: readonly SqlRow[];
  /** The parameters of the statement's SQL. */
  readonly parameters: SqlParameters;
}

/** Reads what all statements of a month share, and collects its costs in a temporary table. Throws SqlError. */
export async function readStatementMonth(
  connection: Connection,
  asked: Pick<StatementMonth, 'month' | 'state' | 'missing' | 'currency'>,
  dimension: string,
): Promise<StatementMonth> {
  const month = dayOf(asked.month);
  await connection.run(await readSql('statement', 'collect'), { month, dimension });
  const reconciled = await connection.rows(await builtInReport('reconciliation_summary'), { month });
  const closed = await closedMonths(connection);
  const close = closed.find((candidate) => candidate.month === asked.month);
  const isMonthBeforeClosed = closed.some(({ month: one }) => one === addCalendarMonths(asked.month, -1));
  const accounts = reconciled.map((row) => String(row['account']));
  const found =
    close === undefined
      ? await readBilledMonth(connection, asked.month, accounts, { invoices: new Map(), rate: undefined })
      : await readClosedMonth(connection, close);
  const billed = found.map((one, index) => {
    const closed = close?.accounts[index];
    return { ...one, isAsClosed: closed === undefined ? null : isAsClosed(one, closed) };
  });
  return { ...asked, billed, isMonthBeforeClosed, reconciled };
}

/** What the month bills to an owner; null is what has no owner, with the invoice difference that is a part of it. */
export interface OwnerOfMonth {
  readonly owner: string | null;
  readonly billedCost: string;
  readonly invoiceDifference: string;
}

/** The owners that the month bills anything to. */
export async function ownersOfMonth(connection: Connection): Promise<OwnerOfMonth[]> {
  const rows = await connection.rows(await readSql('statement', 'owner_names'));
  return rows.map((row) => ({
    owner: row['owner'] === null ? null : String(row['owner']),
    billedCost: String(row['billed_cost']),
    invoiceDifference: String(row['invoice_difference']),
  }));
}

/**
 * Reads one statement of a month that `readStatementMonth` collected. Throws UnprovenError unless workspaces, owners and
 * lines add up to the same cost.
 */
export async function readStatement(
  connection: Connection,
  month: StatementMonth,
  scope: StatementScope,
): Promise<StatementData> {
  const parameters = { owner: scope.owner ?? null };
  async function rows(name: string, more: SqlParameters = {}): Promise<SqlRow[]> {
    return connection.rows(await readSql('statement', name), { ...parameters, ...more });
  }
  const [totals = {}] = await rows('totals');
  const workspaces = await rows('workspaces');
  const owners = await rows('owners');
  const lines =
    scope.owner === undefined
      ? await connection.rows(await invoiceLines(), { month: dayOf(month.month) })
      : await rows('owner_lines', { month: dayOf(month.month) });
  const days = await rows('days');
  const cost = String(totals['cost']);
  const before = totals['cost_month_before'];
  const own = lines.filter((line) => (line['charge_class'] ?? null) === null);
  for (const [what, found, expected] of [
    ['the workspaces', sumOf(workspaces, 'cost'), cost],
    ['the owners', sumOf(owners, 'cost'), cost],
    ['the lines', sumOf(own, 'cost'), cost],
    ['what is billed to the owners', sumOf(owners, 'billed_cost'), billedOf({ lines })],
  ] as const) {
    if (found === expected) continue;
    throw new UnprovenError(
      `the statement of ${formatMonth(month.month)} was not written: the sum of ${what} is ${found} USD, expected ${expected} USD`,
    );
  }
  const costBefore = before === null || before === undefined ? null : String(before);
  return { ...month, ...scope, cost, costBefore, workspaces, owners, lines, days, parameters };
}

/** What the month bills by its lines, USD as exact decimal text; in the statement of an owner, what it is charged. */
export function billedOf({ lines }: Pick<StatementData, 'lines'>): string {
  return sumOf(lines, 'cost');
}

/** The sum of the lines of a class, such as `Correction`. */
export function sumOfClass(lines: readonly SqlRow[], charge: string | null): string {
  return sumOf(
    lines.filter((line) => (line['charge_class'] ?? null) === charge),
    'cost',
  );
}

/** The exact sum of a column of USD, as decimal text; what is null is left out. */
export function sumOf(rows: readonly SqlRow[], column: string): string {
  return exactSum(rows.map((row) => row[column]).filter((value) => typeof value === 'string'));
}

/** An amount in the second currency: its code and exact decimal text; empty if the month has none. */
export function inOther({ currency }: Pick<StatementMonth, 'currency'>, usd: string): string[] {
  return currency === undefined ? [] : [converted(usd, currency)];
}

/** The day that the SQL of a month takes: `2026-10-01`. */
export function dayOf(month: Instant): string {
  return `${formatMonth(month)}-01`;
}
