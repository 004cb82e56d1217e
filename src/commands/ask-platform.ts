import { readToken, type TokenSource } from '../config/index.ts';
import type { Effects, HttpResponse, HttpSend } from '../effects.ts';
import { PlatformError } from '../errors.ts';
import { discoverAccounts, discoverHistoryStart, openClient, operations } from '../platform/index.ts';
import { floorHour, formatInstant, hourMs, type Instant } from '../time.ts';
import { version } from '../version.ts';
import type { CommandContext } from './command.ts';

/** Whom to ask, as the configuration or a person says it. */
export interface PlatformAsked {
  readonly url: string;
  readonly token: TokenSource;
  readonly tokenSetting: string | undefined;
  /** Undefined where the platform is to say which one the token sees. */
  readonly account: string | undefined;
  readonly apiVersion: string;
  readonly authorizationHeader: string;
  readonly versionHeader: string;
}

/** What the platform answered. */
export interface PlatformSeen {
  /** The accounts that the token sees; the one asked for where it was named. */
  readonly accounts: readonly string[];
  /** Undefined where there is not one account to ask for. */
  readonly role: 'admin' | 'member' | undefined;
  /** The first month with any cost; undefined where there was none. */
  readonly historyStart: Instant | undefined;
  /** By how much this machine's clock is ahead of the platform's; undefined where it does not tell the time. */
  readonly clockAheadMs: number | undefined;
}

/** A person waits for it. */
const limitMs = 30_000;

/**
 * Asks the platform what an ingest needs: which account the token sees, since when it has costs, and as whom it is read.
 * Throws what the client throws, PlatformError where the platform does not answer in time, and UsageError for a token
 * that cannot be had. What cannot be reached is not tried again.
 */
export async function askPlatform(asked: PlatformAsked, context: CommandContext): Promise<PlatformSeen> {
  const { dir, keepSecret, effects } = context;
  const limit = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([context.signal, limit]);
  let clockAheadMs: number | undefined;
  const send = once(context.openHttp(1));
  const client = openClient(
    {
      ...asked,
      token: () => readToken(asked.token, { dir, signal, keepSecret }),
      canRefreshToken: false,
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
      return { accounts, role: undefined, historyStart: undefined, clockAheadMs };
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
    return { accounts, role, historyStart, clockAheadMs };
  } catch (error) {
    if (!limit.aborted || context.signal.aborted) throw error;
    throw new PlatformError(`${asked.url} did not answer within ${limitMs / 1000} s`, { cause: error });
  }
}

/** What is lost on its way is not sent again: whoever asks wants to know. */
function once(send: HttpSend): HttpSend {
  return async (request) => {
    try {
      return await send(request);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      throw new PlatformError(error.message, { code: error.code, retryable: false, cause: error });
    }
  };
}

/** Without lines about what is tried again. */
function quietly(effects: Effects): Effects {
  return { ...effects, log: { info: () => undefined, warn: effects.log.warn } };
}

/** The header `date` has whole seconds and stands for a moment between sending and receiving. */
function clockAhead({ headers }: HttpResponse, sentAt: Instant, receivedAt: Instant): number | undefined {
  const told = Date.parse(String(headers['date']));
  return Number.isNaN(told) ? undefined : (sentAt + receivedAt) / 2 - (told + 500);
}
