import { excerpt, PlatformError, RefusedAnswerError, UsageError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import { addCalendarMonths, floorMonth, formatInstant, type Instant, parseRfc3339 } from '../time/time.ts';
import { parseBody } from './body.ts';
import type { Client } from './client.ts';
import { accountIdFault } from './interface/account-id.ts';
import { answerLimits } from './interface/limits.ts';
import { operations } from './interface/operations.ts';
import { monthlyTotals } from './interface/responses.ts';
import { firstDifference } from './interface/schema.ts';
import { type Page, pages } from './paging.ts';

const historyMonths = 120;

/**
 * The first month in which the account had any cost. Queried by month, which has no window cap (4.6): one call, unless
 * there are more pages. Undefined if there is none in ten years.
 * Throws RefusedAnswerError naming the place for an answer to another query, and for an instant that is invalid or
 * outside those years: ignoring it could move the start of the books.
 */
export async function discoverHistoryStart(
  client: Client,
  account: string,
  until: Instant,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const about = `account ${account}, the first month with any cost`;
  const asked = historyParameters(account, until);
  const chain = pages(about, answerLimits.maxHistoryPages, (_, cursor) =>
    client.call(
      operations.metrics,
      cursor === undefined ? asked : { ...asked, cursor },
      about,
      async (body) => readMonths(await parseBody(body), asked, about),
      signal,
    ),
  );
  let first = Number.POSITIVE_INFINITY;
  for await (const page of chain) first = Math.min(first, page.first);
  return first === Number.POSITIVE_INFINITY ? undefined : floorMonth(first);
}

/** The earliest instant with any cost on one page of monthly totals; infinite if there is none. */
function readMonths(body: unknown, asked: Record<string, string>, about: string): Page & { first: number } {
  function refuse(place: string, found: unknown, expected: string): never {
    const shown = found === undefined ? 'nothing' : excerpt(JSON.stringify(found), 120);
    throw new RefusedAnswerError(`${about}: ${place}: found ${shown}, expected ${expected}`);
  }
  const answer = monthlyTotals.safeParse(body);
  if (!answer.success) {
    const place = firstDifference(answer.error, 'the body');
    throw new RefusedAnswerError(`${about}: the answer is not a metrics response: ${place}`);
  }
  const { data, meta, ...echo } = answer.data;
  const start = parseRfc3339(asked['startTime'] ?? '') ?? Number.NaN;
  const end = parseRfc3339(asked['endTime'] ?? '') ?? Number.NaN;
  for (const [name, instant] of [
    ['startTime', start],
    ['endTime', end],
  ] as const) {
    if (parseRfc3339(echo[name]) !== instant) refuse(name, echo[name], formatInstant(instant));
  }
  if (echo.resolution !== 'monthly') refuse('resolution', echo.resolution, '"monthly"');
  let first = Number.POSITIVE_INFINITY;
  const keys: string[] = [];
  for (const [index, entry] of (data ?? []).entries()) {
    for (const [position, { timestamp, cost }] of entry.timeseries.entries()) {
      const instant = parseRfc3339(timestamp);
      if (instant === undefined || instant < start || instant >= end) {
        const expected = `an instant from ${formatInstant(start)} until before ${formatInstant(end)}`;
        refuse(`data[${index}].timeseries[${position}].timestamp`, timestamp, expected);
      }
      keys.push(timestamp);
      if (cost !== 0) first = Math.min(first, instant);
    }
  }
  return { hasMore: meta.hasMore, nextCursor: meta.nextCursor || undefined, keys, first };
}

/** The parameters of the call that finds the start of history: ten years by month, until a whole hour. */
export function historyParameters(account: string, until: Instant): Record<string, string> {
  return {
    accountId: account,
    startTime: formatInstant(addCalendarMonths(floorMonth(until), -historyMonths)),
    endTime: formatInstant(until),
    resolution: 'monthly',
  };
}

/**
 * The IDs of the accounts that the token can access. The shape of `GET /v0/accounts` is not documented (4.6): see
 * accountIds. Throws AccountsRefusedError if the platform does not list them, RefusedAnswerError for an ID that cannot be part of a path, and UsageError if the platform says
 * that there are more accounts: a single one here would not be the only one.
 */
export async function discoverAccounts(client: Client, signal: AbortSignal): Promise<string[]> {
  const about = 'which accounts the token can see';
  const read = async (body: Parameters<typeof parseBody>[0]) => {
    const answer = await parseBody(body);
    if (fieldsOf(fieldsOf(answer)['meta'])['hasMore'] === true) {
      throw new UsageError(
        'the token has access to more accounts than the platform lists at once. Set COSTBOOK_ACCOUNT (or accounts in costbook.yaml)',
      );
    }
    const ids = accountIds(answer);
    for (const id of ids) {
      const fault = accountIdFault(id);
      if (fault === undefined) continue;
      throw new RefusedAnswerError(
        `${about}: found the ID ${JSON.stringify(excerpt(id, 60))}, which is ${fault}, expected an account ID. Set COSTBOOK_ACCOUNT (or account in costbook.yaml)`,
      );
    }
    return ids;
  };
  try {
    return await client.call(operations.accounts, {}, about, read, signal);
  } catch (error) {
    if (!(error instanceof PlatformError) || (error.status !== 403 && error.status !== 404)) throw error;
    const { found, status, code, host } = error;
    const named = await accountsOfWorkspaces(client, signal);
    const hint = named.length === 0 ? '' : ` The workspaces of the token belong to ${named.join(', ')}.`;
    const next = act(
      `name the account, with --account of "costbook init", account in costbook.yaml or COSTBOOK_ACCOUNT.${hint}`,
    );
    throw new AccountsRefusedError(found, { status, code, host, cause: error, next });
  }
}

/** The platform does not list accounts to this token: somebody has to name one. */
export class AccountsRefusedError extends PlatformError {}

/** The accounts that the workspaces of the token name; none if the platform lists no workspaces either. */
async function accountsOfWorkspaces(client: Client, signal: AbortSignal): Promise<readonly string[]> {
  const read = async (body: Parameters<typeof parseBody>[0]) => {
    const answer = await parseBody(body);
    const ids = (Array.isArray(answer) ? answer : []).map((one) => fieldOf(one, ['accountId']));
    return [...new Set(ids)].filter((id) => id !== undefined && accountIdFault(id) === undefined) as string[];
  };
  try {
    return await client.call(operations.workspaces, {}, 'workspaces', read, signal);
  } catch (error) {
    if (error instanceof PlatformError) return [];
    throw error;
  }
}

/** Looks into an envelope within an envelope; anything deeper is no list of accounts. */
const maxDepth = 4;
const idNames = ['id', 'accountId', 'account_id', 'uuid'];
const listNames = ['data', 'items', 'results'];

/**
 * Account IDs in a JSON value of unknown shape; none if nothing is recognised. The first rule that applies:
 *
 * 1. A list: each of its texts, and the ID (else the name) of each object, its own or in `metadata`.
 * 2. An object with `accounts`: what that contains, even if the object has an ID (of a user, of a request).
 * 3. An object with an ID: that ID. It is an account, even if it contains lists.
 * 4. An object with a list `data`, `items` or `results`: what that contains.
 * 5. Any other object: its first field with accounts, fields of objects before fields of texts; else its name.
 */
export function accountIds(value: unknown, depth = 0): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => idOf(item) ?? nameOf(item) ?? []))];
  const fields = fieldsOf(value);
  if (depth > maxDepth) return [];
  const within = (name: string) => accountIds(fields[name], depth + 1);

  const accounts = within('accounts');
  if (accounts.length > 0 || Array.isArray(fields['accounts'])) return accounts;
  const own = typeof value === 'string' ? undefined : idOf(value);
  if (own !== undefined) return [own];
  const list = listNames.find((name) => Array.isArray(fields[name]));
  if (list !== undefined) return within(list);
  const names = Object.keys(fields);
  const isOfTexts = (name: string) => Array.isArray(fields[name]) && typeof fields[name][0] === 'string';
  for (const name of [...names.filter((each) => !isOfTexts(each)), ...names.filter(isOfTexts)]) {
    const found = within(name);
    if (found.length > 0) return found;
  }
  return [nameOf(value) ?? []].flat();
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function idOf(item: unknown): string | undefined {
  return typeof item === 'string' ? item || undefined : fieldOf(item, idNames);
}

function nameOf(item: unknown): string | undefined {
  return fieldOf(item, ['name']);
}

/** The first of these fields that can be an ID, of the object itself before its `metadata`. */
function fieldOf(item: unknown, names: readonly string[]): string | undefined {
  const own = fieldsOf(item);
  for (const fields of [own, fieldsOf(own['metadata'])]) {
    for (const name of names) {
      const value = fields[name];
      if (typeof value === 'string' && value !== '') return value;
      // Beyond 2^53 the original digits are lost.
      if (Number.isSafeInteger(value)) return String(value);
    }
  }
  return undefined;
}
