import type { Effects, HttpResponse, HttpSend } from '../base/effects.ts';
import { PlatformError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import { version } from '../base/version.ts';
import { readToken, type TokenSource } from '../config/index.ts';
import {
  type Client,
  discoverAccounts,
  discoverHistoryStart,
  openClient,
  readPlatformLists,
} from '../platform/index.ts';
import { listDifferences, operations, type PlatformDifferences } from '../platform/interface/index.ts';
import { floorHour, formatInstant, hourMs, type Instant } from '../time/time.ts';
import type { HealthContext } from './context.ts';

/** Which platform to query, from the configuration or from a person. */
export interface PlatformAsked {
  readonly url: string;
  readonly token: TokenSource;
  readonly tokenSetting: string | undefined;
  /** Undefined: query the platform for the accounts that the token sees. */
  readonly account: string | undefined;
  readonly apiVersion: string;
  readonly authorizationHeader: string;
  readonly versionHeader: string;
}

/** What the platform answered. */
export interface PlatformSeen {
  /** The accounts that the token sees, or the one that was named. */
  readonly accounts: readonly string[];
  /** Undefined unless there is exactly one account. */
  readonly role: 'admin' | 'member' | undefined;
  /** The first month with any cost; undefined if there is none. */
  readonly historyStart: Instant | undefined;
  /** How far this machine's clock is ahead of the platform's; undefined if the platform sends no time. */
  readonly clockAheadMs: number | undefined;
  /** What its lists of values differ in from the documented ones; nothing if it does not serve these lists. */
  readonly differences: PlatformDifferences;
}

/** The only account of a token, with a client that sends its requests. */
export interface AccountSeen {
  readonly account: string;
  readonly role: 'admin' | 'member';
  readonly client: Client;
  readonly signal: AbortSignal;
}

const noDifferences: PlatformDifferences = { newDimensions: [], missingDimensions: [], newResourceTypes: [] };

/** A person waits for it. */
const limitMs = 30_000;
const maxAttempts = 5;

/**
 * Queries what an ingest needs from the platform: the account that the token sees, its first month with costs, its role;
 * with `compares` also its lists of values. `inspect` may send further requests about the account.
 * Throws what the client throws, PlatformError if the platform does not answer in time, and UsageError if the token
 * cannot be read. Does not retry an unreachable platform.
 */
export async function askPlatform(
  asked: PlatformAsked,
  context: HealthContext,
  {
    compares = false,
    inspect,
  }: { readonly compares?: boolean; readonly inspect?: (seen: AccountSeen) => Promise<void> } = {},
): Promise<PlatformSeen> {
  const { dir, keepSecret, effects } = context;
  const limit = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([context.signal, limit]);
  let clockAheadMs: number | undefined;
  const send = once(context.openHttp(1));
  const client = openClient(
    {
      ...asked,
      token: () => readToken(asked.token, { dir, signal, keepSecret, platform: { url: asked.url, http: send } }),
      canRefreshToken: false,
      maxAttempts,
      maxRequestsPerMinute: undefined,
      userAgent: `costbook/${version}`,
    },
    async (request) => {
      const sentAt = Date.now();
      const response = await send(request);
      clockAheadMs = clockAhead(response, sentAt, Date.now()) ?? clockAheadMs;
      return response;
    },
    quietly(effects),
  );
  try {
    const accounts = asked.account === undefined ? await discoverAccounts(client, signal) : [asked.account];
    const [account] = accounts;
    if (account === undefined || accounts.length > 1) {
      return { accounts, role: undefined, historyStart: undefined, clockAheadMs, differences: noDifferences };
    }
    const now = floorHour(effects.now());
    const historyStart = await discoverHistoryStart(client, account, now, signal);
    const byWorkspace = {
      accountId: account,
      startTime: formatInstant(now - hourMs),
      endTime: formatInstant(now),
      resolution: 'hourly',
      groupBy: 'workspace',
    };
    const role = await client
      .call(operations.metrics, byWorkspace, `account ${account}, by workspace`, async () => 'admin' as const, signal)
      .catch((error: unknown) => {
        if (error instanceof PlatformError && error.status === 403) return 'member' as const;
        throw error;
      });
    await inspect?.({ account, role, client, signal });
    const differences = compares
      ? listDifferences(await readPlatformLists(client, account, now, signal))
      : noDifferences;
    return { accounts, role, historyStart, clockAheadMs, differences };
  } catch (error) {
    if (!limit.aborted || context.signal.aborted) throw error;
    throw new PlatformError(
      `no answer from ${new URL(asked.url).host} within ${limitMs / 1000} s, although it accepts connections.`,
      {
        code: 'timeout',
        host: new URL(asked.url).host,
        next: act("check the URL. If it is right, ask the platform's support."),
        cause: error,
      },
    );
  }
}

/** No retries: the caller wants to know at once. */
function once(send: HttpSend): HttpSend {
  return async (request) => {
    try {
      return await send(request);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      throw new PlatformError(error.message, { code: error.code, host: error.host, retryable: false, cause: error });
    }
  };
}

/** A log without lines about retries. */
function quietly(effects: Effects): Effects {
  return { ...effects, log: { info: () => undefined, warn: effects.log.warn } };
}

/** The `date` header has whole seconds, and its time is between request and answer. */
function clockAhead({ headers }: HttpResponse, sentAt: Instant, receivedAt: Instant): number | undefined {
  const told = Date.parse(String(headers['date']));
  return Number.isNaN(told) ? undefined : (sentAt + receivedAt) / 2 - (told + 500);
}
