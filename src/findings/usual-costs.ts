import { moneyOf, roughly, usd } from '../money/money.ts';
import { formatSecond, hourMs, type Instant } from '../time/time.ts';
import { type AnswerCache, type Connection, cachedRows } from '../warehouse/store/index.ts';
import { lacksDay } from './kind.ts';

/** What a day of each account usually costs, USD as decimal text. Accounts whose history is too short are left out. */
export type UsualCosts = ReadonlyMap<string, string>;

/** Reads what a day usually costs: every message, command and page that says how much is missing has it from here. */
export async function usualCosts(connection: Connection, cache?: AnswerCache): Promise<UsualCosts> {
  const rows = await cachedRows(connection, cache, ['alerts', 'usual_costs']);
  return new Map(rows.map((row) => [String(row['account']), String(row['cost_a_day'])]));
}

/** The same accounts, with what a day of those that lack one usually costs. */
export async function withUsualCosts<T extends { readonly account: string; readonly completeThrough: string | null }>(
  connection: Connection,
  accounts: readonly T[],
  now: Instant,
  cache?: AnswerCache,
): Promise<readonly (T & { readonly usualDaily?: string | undefined })[]> {
  if (!accounts.some((one) => lacksDay(one, now))) return accounts;
  const usual = await usualCosts(connection, cache);
  return accounts.map((one) => (lacksDay(one, now) ? { ...one, usualDaily: usual.get(one.account) } : one));
}

/**
 * That costs are missing, and how much until when, as far as it is known: `are missing, not lost: about 192 USD until
 * 2026-10-14T08:00:00Z (32 h at usually about 6.00 USD an hour)`. Pure.
 */
export function missingCostWords(
  usualDaily: string | undefined,
  since: string | null,
  hours: number | undefined,
): string {
  if (usualDaily === undefined) return 'are missing, not zero; their amount is unknown until they are loaded';
  if (hours === undefined || since === null)
    return `are missing, not lost: usually about ${roughly(moneyOf(usualDaily))} a day`;
  const until = formatSecond(Date.parse(since) + hours * hourMs);
  return `are missing, not lost: ${usualCostWords(usualDaily, hours, ` until ${until}`)}`;
}

/** What so many hours usually cost: `about 24 USD (4 h at usually about 6.00 USD an hour)`. Pure. */
export function usualCostWords(usualDaily: string, hours: number, until = ''): string {
  const daily = moneyOf(usualDaily);
  const sum = roughly((daily * BigInt(hours)) / 24n);
  return `about ${sum}${until} (${hours} h at usually about ${usd(daily / 24n)} an hour)`;
}
