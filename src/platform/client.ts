import { isPlainToOthers } from '../base/addresses.ts';
import type { Effects, HttpSend } from '../base/effects.ts';
import { PlatformError } from '../base/errors.ts';
import type { Instant } from '../time/time.ts';
import { headerOf, isGzipped, type RawBody } from './body.ts';
import type { IssuedToken } from './client-credentials.ts';
import { explain } from './failure-words.ts';
import type { Limiter } from './fair-limiter.ts';
import { hostOf } from './http.ts';
import { answerLimits } from './interface/limits.ts';
import type { Operation } from './interface/operations.ts';
import { baseUrl, type Endpoint, requestHeaders, requestPath, type Texts } from './interface/request.ts';
import { refusalOf } from './refusal.ts';
import {
  type Attempts,
  isCertainlyNotDone,
  isPutOff,
  isRefusal,
  type Patience,
  parseDate,
  retryDelayMs,
} from './retry.ts';

/**
 * The client's identity and endpoint. Header names are settings because a real platform puts its maker's name into
 * them.
 */
export interface ClientSettings extends Endpoint {
  /**
   * Gets the token from its source; called once, and again after it failed, before it expires if it says when, or, if
   * that may help, after a 401.
   */
  token(): Promise<string | IssuedToken>;
  /** Where the token is configured, for messages about a 401: `COSTBOOK_TOKEN`. */
  readonly tokenSetting?: string | undefined;
  /** True if the source may return another token later (a command, a file). */
  readonly canRefreshToken: boolean;
  readonly apiVersion: string;
  readonly authorizationHeader: string;
  readonly versionHeader: string;
  /** The header that names a workspace; undefined if none is configured. */
  readonly workspaceHeader?: string | undefined;
  /** The workspace that requests are about, unless one names another; undefined for none. */
  readonly workspace?: string | undefined;
  /** Headers that this platform wants with every request, by name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly maxRequestsPerMinute: number | undefined;
  readonly userAgent: string;
  /** At most this many attempts at a request; by default it depends on the failure. */
  readonly maxAttempts?: number;
  /** Time limit of one attempt; five minutes by default. */
  readonly attemptTimeoutMs?: number;
  /** Lets each request be sent when it may; at once by default. Waiting for it is no part of an attempt's time. */
  readonly limiter?: Limiter;
  /** Shared by all clients of an account; the client's own by default. */
  readonly patience?: Patience | undefined;
}

/** What a call sends besides its parameters, and how it takes the answer. */
export interface Sending {
  /** The method of an operation that allows any. */
  readonly method?: string | undefined;
  /** JSON. */
  readonly body?: string | undefined;
  /** The workspace that the request is about, for the header that names one. */
  readonly workspace?: string | undefined;
  /** Another API version than the client's. */
  readonly apiVersion?: string | undefined;
  /** Whether a person chose the values, so that they are what a refusal is about. */
  readonly isOfUser?: boolean | undefined;
  /** Takes the answer piece by piece as it comes; the body is then empty. */
  readonly onChunk?: ((chunk: Buffer) => Promise<void>) | undefined;
}

/** Two clocks at one moment. */
export interface Clocks {
  readonly platform: Instant;
  /** This machine's clock, or `--now`. */
  readonly local: Instant;
}

/** The client's counts: logical requests, and retries. */
export interface ClientCounters {
  requests: number;
  retries: number;
}

export interface Client {
  readonly counters: Readonly<ClientCounters>;
  /** The API version of requests, unless a call names another one. */
  readonly apiVersion: string;
  /** The platform's clock and ours at the last answer with a time; undefined if there was none. */
  clocks(): Clocks | undefined;
  /**
   * Calls one operation and passes the body of a 200 (any 2xx of what changes something) to `read`. Retries sending,
   * receiving and `read` together while that can help; what must not happen twice only if the platform certainly did
   * nothing. Throws other failures as PlatformError whose message starts with the operation and `about` (account, window
   * and page), and UsageError if the operation's host is not configured.
   */
  call<T>(
    operation: Operation,
    values: Texts,
    about: string,
    read: (body: RawBody) => Promise<T>,
    signal: AbortSignal,
    sending?: Sending,
  ): Promise<T>;
}

/** Opens a client for one account's platform. It owns no sockets; `http` does. */
export function openClient(settings: ClientSettings, http: HttpSend, effects: Effects): Client {
  const counters: ClientCounters = { requests: 0, retries: 0 };
  const token = openToken(settings);
  const pace = openPace(settings, effects);
  const { limiter = (work) => work(), patience = { wastedMs: 0 } } = settings;
  let clocks: Clocks | undefined;
  warnAboutPlainHttp(settings.url, effects);

  async function attempt<T>(prepared: Prepared, signal: AbortSignal, read: (body: RawBody) => Promise<T>): Promise<T> {
    const { operation, url, sending } = prepared;
    const tokenUsed = token.current();
    const { maxBodyMib } = operation;
    const isStreamed = sending.onChunk !== undefined;
    const limitMs = settings.attemptTimeoutMs ?? (isStreamed ? answerLimits.streamMs : answerLimits.attemptMs);
    let limit: AbortSignal | undefined;
    try {
      const headers = headersOf(prepared, settings, await tokenUsed);
      const response = await limiter(() => {
        limit = AbortSignal.timeout(limitMs);
        return http({
          method: methodOf(operation, sending),
          url,
          headers,
          body: sending.body,
          onChunk: sending.onChunk,
          maxBodyMib,
          signal: AbortSignal.any([signal, limit]),
        });
      }, signal);
      const answeredAt = parseDate(headerOf(response, 'date'));
      if (answeredAt !== undefined) {
        clocks = { platform: answeredAt + ageMs(headerOf(response, 'age')), local: effects.clockNow() };
      }
      const isDone = response.status === 200 || (!operation.isRepeatable && isSuccess(response.status));
      if (!isDone) throw await refusalOf(response);
      return await read({ bytes: response.body, gzipped: isGzipped(response), maxBodyMib, answeredAt });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (limit?.aborted) {
        const waited = limitMs < 60_000 ? `${limitMs} ms` : `${limitMs / 60_000} minutes`;
        throw new PlatformError(`no whole answer from ${hostOf(url)} within ${waited}`, {
          code: 'timeout',
          host: hostOf(url),
          retryable: true,
        });
      }
      if (error instanceof PlatformError && error.status === 401) token.forget(tokenUsed);
      throw error;
    }
  }

  return {
    counters,
    apiVersion: settings.apiVersion,
    clocks: () => clocks,
    async call(operation, values, about, read, signal, sending = {}) {
      const url = baseUrl(operation, settings, values) + requestPath(operation, values);
      const prepared = { operation, url, headers: requestHeaders(operation, values, settings), sending };
      counters.requests += 1;
      let attempts: Attempts = { made: 0, putOff: 0, waitedMs: 0 };
      let refreshed = false;
      for (;;) {
        signal.throwIfAborted();
        await pace.wait(signal);
        try {
          return await attempt(prepared, signal, read);
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          if (!(error instanceof PlatformError)) throw error;
          attempts = { ...attempts, made: attempts.made + 1, putOff: attempts.putOff + (isPutOff(error) ? 1 : 0) };
          // The token may have expired meanwhile: get it from its source once more, without a pause.
          const refresh: boolean = error.status === 401 && settings.canRefreshToken && !refreshed;
          refreshed ||= refresh;
          const delay = refresh ? 0 : pauseAfter(error, operation, attempts, settings, patience, effects.random);
          if (delay === undefined) {
            if (isRefusal(error)) patience.wastedMs += attempts.waitedMs;
            const { made } = attempts;
            const { tokenSetting } = settings;
            const isOfUser = sending.isOfUser === true;
            throw explain(error, { operation, about, host: hostOf(url), attempts: made, tokenSetting, isOfUser });
          }
          counters.retries += 1;
          effects.log.info('request.retried', 'Retrying a request', {
            about,
            reason: error.message,
            attempt: attempts.made + 1,
            waitMs: Math.round(delay),
          });
          attempts = { ...attempts, waitedMs: attempts.waitedMs + delay };
          // 429 applies to the whole client: its other workers would only be refused as well.
          if (error.status === 429) pace.pause(delay);
          else if (!refresh) await effects.sleep(delay, signal);
        }
      }
    },
  };
}

/** One call, ready to be sent. */
interface Prepared {
  readonly operation: Operation;
  readonly url: string;
  readonly headers: Texts;
  readonly sending: Sending;
}

/** The headers of a request. */
function headersOf({ headers, sending }: Prepared, settings: ClientSettings, token: string): Texts {
  const isStreamed = sending.onChunk !== undefined;
  const { workspaceHeader } = settings;
  const workspace = sending.workspace ?? settings.workspace;
  return {
    ...settings.headers,
    ...(workspaceHeader === undefined || !isHeaderValue(workspace) ? {} : { [workspaceHeader]: workspace }),
    [settings.authorizationHeader]: `Bearer ${token}`,
    [settings.versionHeader]: sending.apiVersion ?? settings.apiVersion,
    accept: isStreamed ? '*/*' : 'application/json',
    'accept-encoding': isStreamed ? 'identity' : 'gzip',
    'user-agent': settings.userAgent,
    ...(sending.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
}

/** Whether a header can have this value as it is: another workspace is named in the query alone. */
function isHeaderValue(value: string | undefined): value is string {
  return value !== undefined && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
}

/** Milliseconds before the next attempt, or undefined to give up: what must not happen twice is not sent again. */
function pauseAfter(
  error: PlatformError,
  { isRepeatable }: Operation,
  attempts: Attempts,
  { maxAttempts = Number.POSITIVE_INFINITY }: ClientSettings,
  patience: Patience,
  random: () => number,
): number | undefined {
  if (attempts.made >= maxAttempts || !(isRepeatable || isCertainlyNotDone(error))) return undefined;
  return retryDelayMs(attempts, error, random, patience);
}

/** An operation that allows any method reads unless it sends something. */
function methodOf({ method }: Operation, sending: Sending): string {
  if (method !== 'ANY') return method;
  return sending.method ?? (sending.body === undefined ? 'GET' : 'POST');
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** A token is fetched again this long before it expires. */
const renewBeforeMs = 60_000;

/**
 * When a token expires, in milliseconds since 1970: the `exp` of a JWT (RFC 7519 4.1.4). Undefined for an API key, and
 * for a JWT that does not say. The signature is the platform's business. Pure.
 */
export function expiryOf(token: string): Instant | undefined {
  const [, payload, signature, more] = token.split('.');
  if (payload === undefined || signature === undefined || more !== undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' && Number.isFinite(exp) && Math.abs(exp) < 8e12 ? Math.floor(exp * 1000) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The token, fetched once for all requests, and again shortly before it expires. Requests that wait while the source
 * fails share that failure; a later request tries the source again, because the cause (a locked agent, a file being
 * replaced) may have passed. Only one request uses the source at a time. A failure is no PlatformError, so it ends the
 * work that needs the token.
 */
function openToken(settings: Pick<ClientSettings, 'token' | 'canRefreshToken'>): {
  current(): Promise<string>;
  forget(used: Promise<string>): void;
} {
  let token: Promise<string> | undefined;
  let renewAt = Number.POSITIVE_INFINITY;
  function forget(used: Promise<string>): void {
    if (token === used) token = undefined;
  }
  return {
    current() {
      // Real time, not the books' now. A source that returns an expired token again is not queried for every request.
      if (token !== undefined && Date.now() < renewAt) return token;
      const issued = settings.token();
      const asked = issued.then((one) => (typeof one === 'string' ? one : one.text));
      token = asked;
      renewAt = Number.POSITIVE_INFINITY;
      issued.then(
        (one) => {
          const ownExpiry = typeof one === 'string' ? expiryOf(one) : one.expiresAt;
          const expiry = settings.canRefreshToken ? ownExpiry : undefined;
          if (token === asked && expiry !== undefined && expiry > Date.now() + renewBeforeMs) {
            renewAt = expiry - renewBeforeMs;
          }
        },
        () => forget(asked),
      );
      return asked;
    },
    forget,
  };
}

/** When the client may send: after a pause that a 429 asked for, and no faster than the agreed rate. */
function openPace(
  { maxRequestsPerMinute }: Pick<ClientSettings, 'maxRequestsPerMinute'>,
  effects: Effects,
): { wait(signal: AbortSignal): Promise<void>; pause(ms: number): void } {
  // Real time in milliseconds, not the books' now: `--now` must not affect waiting.
  let pausedUntilMs = 0;
  let nextSlotMs = 0;
  return {
    async wait(signal) {
      for (;;) {
        const pause = pausedUntilMs - Date.now();
        if (pause > 0) {
          await effects.sleep(pause, signal);
          continue;
        }
        if (maxRequestsPerMinute === undefined) return;
        const slot = Math.max(Date.now(), nextSlotMs);
        nextSlotMs = slot + 60_000 / maxRequestsPerMinute;
        if (slot > Date.now()) await effects.sleep(slot - Date.now(), signal);
        // A pause may have started while this waited for its slot; then take another slot after the pause.
        if (pausedUntilMs <= Date.now()) return;
      }
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, Date.now() + ms);
    },
  };
}

/**
 * Anybody on the way can read a token over plain HTTP. Warn and continue: inside a private network, or in front of a
 * proxy that adds TLS, plain HTTP can be intended.
 */
function warnAboutPlainHttp(url: string, { log }: Effects): void {
  if (!isPlainToOthers(url)) return;
  log.warn(
    'token.sent_unencrypted',
    'The token is sent unencrypted: use https in the url, unless you own the network to this host',
    { host: new URL(url).host },
  );
}

/** How long a cache on the way has had an answer (RFC 9111 5.1); 0 if it does not say so in whole seconds. */
function ageMs(header: string | undefined): number {
  return header !== undefined && /^\d{1,9}$/.test(header.trim()) ? Number(header.trim()) * 1000 : 0;
}
