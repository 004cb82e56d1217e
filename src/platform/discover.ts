import { z } from 'zod';
import { RefusedAnswerError } from '../errors.ts';
import { addCalendarMonths, floorMonth, formatInstant, type Instant, parseRfc3339 } from '../time.ts';
import { type Client, parseBody } from './client.ts';
import { operations } from './operations.ts';
import { monthlyTotals } from './responses.ts';

const historyMonths = 120;

/**
 * The first month in which the account had any cost, asked with one call: monthly buckets have no window cap (4.6).
 * Undefined where ten years hold none.
 */
export async function discoverHistoryStart(
  client: Client,
  account: string,
  until: Instant,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const about = `account ${account}, the first month with any cost`;
  const values = historyParameters(account, until);
  return client.call(
    operations.metrics,
    values,
    about,
    async (body) => {
      const answer = monthlyTotals.safeParse(await parseBody(body));
      if (!answer.success) {
        throw new RefusedAnswerError(`${about}: the answer is no metrics response: ${z.prettifyError(answer.error)}`);
      }
      const months = (answer.data.data ?? [])
        .flatMap((entry) => entry.timeseries)
        .filter((point) => point.cost !== 0)
        .map((point) => parseRfc3339(point.timestamp))
        .filter((instant) => instant !== undefined);
      return months.length === 0 ? undefined : floorMonth(Math.min(...months));
    },
    signal,
  );
}

/** The parameters of the call that finds the start of history: ten years by month, up to a whole hour. */
export function historyParameters(account: string, until: Instant): Record<string, string> {
  return {
    accountId: account,
    startTime: formatInstant(addCalendarMonths(floorMonth(until), -historyMonths)),
    endTime: formatInstant(until),
    resolution: 'monthly',
  };
}

/**
 * The ids of the accounts that the token can see. The shape of `GET /v0/accounts` is not shown (4.6): any list of
 * texts or of objects with an id is taken, however it is wrapped; nothing recognisable gives an empty list.
 */
export async function discoverAccounts(client: Client, signal: AbortSignal): Promise<string[]> {
  const read = async (body: Parameters<typeof parseBody>[0]) => accountIds(await parseBody(body));
  return client.call(operations.accounts, {}, 'which accounts the token can see', read, signal);
}

/** Account ids in a JSON value of unknown shape. */
export function accountIds(value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => idOf(item) ?? []))];
  if (typeof value !== 'object' || value === null) return [];
  const fields = Object.values(value);
  const list = fields.find((field) => Array.isArray(field) && field.length > 0);
  if (list !== undefined) return accountIds(list);
  const single = idOf(value);
  if (single !== undefined) return [single];
  // An envelope within an envelope; JSON has no cycles, and answers are not deep.
  return fields.map(accountIds).find((ids) => ids.length > 0) ?? [];
}

function idOf(item: unknown): string | undefined {
  if (typeof item === 'string' && item !== '') return item;
  if (typeof item !== 'object' || item === null) return undefined;
  const fields = item as Record<string, unknown>;
  for (const name of ['id', 'accountId', 'account_id', 'uuid', 'name']) {
    const value = fields[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  const metadata = fields['metadata'];
  return typeof metadata === 'object' && metadata !== null ? idOf(metadata) : undefined;
}
