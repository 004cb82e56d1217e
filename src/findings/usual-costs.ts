import { moneyOf, roughly } from '../money/money.ts';
import { dayMs, type Instant } from '../time/time.ts';
import { type AnswerCache, type Connection, cachedRows } from '../warehouse/store/index.ts';

/** What a day of each account usually costs, USD as decimal text. Accounts whose history is too short are left out. */
export type UsualCosts = ReadonlyMap<string, string>;

/** Reads what a day usually costs: every message, command and page that says how much is missing has it from here. */
export async function usualCosts(connection: Connection, cache?: AnswerCache): Promise<UsualCosts> {
  const rows = await cachedRows(connection, cache, ['alerts', 'usual_costs']);
  return new Map(rows.map((row) => [String(row['account']), String(row['cost_a_day'])]));
}

/** The same accounts, with what a day of those that are too old usually costs. */
export async function withUsualCosts<T extends { readonly account: string; readonly isTooOld: boolean }>(
  connection: Connection,
  accounts: readonly T[],
  cache?: AnswerCache,
): Promise<readonly (T & { readonly usualDaily?: string | undefined })[]> {
  if (!accounts.some(({ isTooOld }) => isTooOld)) return accounts;
  const usual = await usualCosts(connection, cache);
  return accounts.map((one) => (one.isTooOld ? { ...one, usualDaily: usual.get(one.account) } : one));
}

/**
 * That costs are missing, and how much, as far as it is known: `are missing, usually about 145 USD a day`. Given when the
 * books were complete, and the time, from the second whole day on also their sum: `are missing: about 435 USD of 3 days,
 * usually about 145 USD a day`. Pure.
 */
export function missingCostWords(
  usualDaily: string | undefined,
  since?: { readonly completeThrough: string | null; readonly now: Instant },
): string {
  if (usualDaily === undefined) return 'are missing, not zero';
  const daily = `usually about ${roughly(usualDaily)} a day`;
  const days = since?.completeThrough == null ? 0 : Math.floor((since.now - Date.parse(since.completeThrough)) / dayMs);
  return days < 2
    ? `are missing, ${daily}`
    : `are missing: about ${roughly(moneyOf(usualDaily) * BigInt(days))} of ${days} days, ${daily}`;
}
