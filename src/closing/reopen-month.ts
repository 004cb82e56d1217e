import { UsageError } from '../base/errors.ts';
import type { RevokedExport } from '../reports/exports/index.ts';
import type { RunContext } from '../runs/index.ts';
import { formatInstant, formatMonth, type Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import type { Invoice } from '../warehouse/ledger/index.ts';
import { invoicesOf } from './billed/index.ts';
import { exportsOfRevoked } from './revoked.ts';

/** A reopened month; instants as text. */
interface MonthReopened {
  readonly name: string;
  /** When it had been closed, and reopened. */
  readonly closedAt: string;
  readonly reopenedAt: string;
  /** The invoices that it had. */
  readonly invoices: readonly Invoice[];
  /** Exports that show the close. */
  readonly revoked: readonly RevokedExport[];
}

/** Reopens the newest closed month. Throws UsageError for another one. */
export async function reopenMonth(
  month: Instant,
  reason: string,
  warehouse: Warehouse,
  { dir, effects, redact }: RunContext,
): Promise<MonthReopened> {
  const closed = await warehouse.closedMonths();
  const last = closed.at(-1);
  const before = closed.find((candidate) => candidate.month === month);
  const name = formatMonth(month);
  if (last === undefined || before === undefined) {
    const expected =
      last === undefined ? 'and no other month is' : `and the newest closed month is ${formatMonth(last.month)}`;
    throw new UsageError(`${name} is not closed, ${expected}`);
  }
  if (last.month !== month) {
    const newest = formatMonth(last.month);
    throw new UsageError(
      `${name} cannot be reopened while ${newest} is closed: first run "costbook reopen ${newest} --reason correction"`,
    );
  }
  const reopenedAt = await warehouse.reopenMonth(month, redact(reason.trim()), effects.now());
  const close = { month: name, closedAt: before.closedAt, reopenedAt, isClosedAgain: false };
  return {
    name,
    closedAt: formatInstant(before.closedAt),
    reopenedAt: formatInstant(reopenedAt),
    invoices: invoicesOf(before),
    revoked: await exportsOfRevoked(dir, [close]),
  };
}
