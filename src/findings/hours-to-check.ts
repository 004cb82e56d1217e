import type { Instant } from '../time/time.ts';
import { hashOfChecks } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { KnownAlert } from '../warehouse/watch/index.ts';
import { alertRows } from './rows.ts';

/** The hours that changed since alerts were last evaluated. */
export interface HoursToCheck {
  /** The first hour of the first month that changed. */
  readonly from: Instant;
  /** The checks that need all hours: their alert is open, so what they found may be anywhere. */
  readonly whole: readonly string[];
}

/** The hours that the checks need to read now; undefined if every check needs all hours. */
export async function hoursToCheck(
  connection: Connection,
  known: readonly KnownAlert[],
): Promise<HoursToCheck | undefined> {
  const [row] = await alertRows(connection, 'hours_to_check', { checks: await hashOfChecks() });
  const from = row?.['first_hour'] ?? null;
  if (from === null) return undefined;
  const open = known.filter(({ isOpen, key }) => isOpen && key.startsWith('check/'));
  return { from: Number(from), whole: open.map(({ key }) => decodeURIComponent(key.slice('check/'.length))) };
}
