import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Effects, HttpResponse, HttpSend } from '../effects.ts';
import { excerpt, messageOf, PlatformError } from '../errors.ts';
import type { Instant } from '../time.ts';
import { jsonExcess } from './bounded-json.ts';
import { answerLimits } from './limits.ts';
import { type Operation, requestPath } from './operations.ts';
import { errorBody } from './responses.ts';
import { type Attempts, isPutOff, parseDate, parseRetryAfter, retryDelayMs } from './retry.ts';

const gunzipAsync = promisify(gunzip);

/** Who asks, where and how; the header names are settings because a real platform puts its maker's name in them. */
export interface ClientSettings {
  readonly url: string;
  /** Asks the token's source; called once, and again after it failed or, where that may help, after a 401. */
  token(): Promise<string>;
  /** Where the token was configured, for the words about a 401: `COSTBOOK_TOKEN`. */
  readonly tokenSetting?: string | undefined;
  /** True where the source may give another token when it is asked again (a command, a file). */
  readonly canRefreshToken: boolean;
  readonly apiVersion: string;
  readonly authorizationHeader: string;
  readonly versionHeader: string;
  readonly maxRequestsPerMinute: number | undefined;
  readonly userAgent: string;
  /** How long one attempt may take in all; five minutes unless told otherwise. */
  readonly attemptTimeoutMs?: number;
}

/** A successful answer's body, as it came and how it was packed. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly gzipped: boolean;
  /** What it may be long, unpacked; as a page of metrics unless told otherwise. */
  readonly maxBodyMib?: number;
  /** When the platform says that it made the answer; undefined where it says nothing that can be read. */
  readonly answeredAt?: Instant | undefined;
}

/** Two clocks at one moment. */
export interface Clocks {
  readonly platform: Instant;
  /** What this machine's clock said, or `--now`. */
  readonly local: Instant;
}

/** What the client counted: logical requests and how often one was sent again. */
export interface ClientCounters {
  requests: number;
  retries: number;
}

export interface Client {
  readonly counters: Readonly<ClientCounters>;
  /** The API version that it asks for, where a call does not ask for another one. */
  readonly apiVersion: string;
  /** What the platform's clock and ours said at the last answer that told the time; undefined where none did. */
  clocks(): Clocks | undefined;
  /**
   * Asks one operation and hands the body of a 200 to `read`. Sending, the body and `read` together are tried again
   * while that can help; other failures are thrown as PlatformError whose message begins with what was asked and
   * `about` (account, window and page).
   */
  call<T>(
    operation: Operation,
    values: Readonly<Record<string, string>>,
    about: string,
    read: (body: RawBody) => Promise<T>,
    signal: AbortSignal,
    apiVersion?: string,
  ): Promise<T>;
}

/** Opens a client for one account's platform. It holds no socket of its own; those belong to `http`. */
export function openClient(settings: ClientSettings, http: HttpSend, effects: Effects): Client {
  const counters: ClientCounters = { requests: 0, retries: 0 };
  const token = openToken(settings);
  const pace = openPace(settings, effects);
  let clocks: Clocks | undefined;
  warnAboutPlainHttp(settings.url, effects);

  async function attempt<T>(
    path: string,
    maxBodyMib: number,
    apiVersion: string,
    signal: AbortSignal,
    read: (body: RawBody) => Promise<T>,
  ): Promise<T> {
    const tokenUsed = token.current();
    const limitMs = settings.attemptTimeoutMs ?? answerLimits.attemptMs;
    const limit = AbortSignal.timeout(limitMs);
    try {
      const response = await http({
        method: 'GET',
        url: settings.url + path,
        headers: {
          [settings.authorizationHeader]: `Bearer ${await tokenUsed}`,
          [settings.versionHeader]: apiVersion,
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': settings.userAgent,
        },
        maxBodyMib,
        signal: AbortSignal.any([signal, limit]),
      });
      const answeredAt = parseDate(headerOf(response, 'date'));
      if (answeredAt !== undefined) {
        clocks = { platform: answeredAt + ageMs(headerOf(response, 'age')), local: effects.clockNow() };
      }
      if (response.status !== 200) throw await refusal(response);
      return await read({ bytes: response.body, gzipped: isGzipped(response), maxBodyMib, answeredAt });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (limit.aborted) {
        const waited = limitMs < 60_000 ? `${limitMs} ms` : `${limitMs / 60_000} minutes`;
        throw new PlatformError(`no whole answer within ${waited}`, { code: 'timeout', retryable: true });
      }
      if (error instanceof PlatformError && error.status === 401) token.forget(tokenUsed);
      throw error;
    }
  }

  return {
    counters,
    apiVersion: settings.apiVersion,
    clocks: () => clocks,
    async call(operation, values, about, read, signal, apiVersion = settings.apiVersion) {
      const path = requestPath(operation, values);
      counters.requests += 1;
      let attempts: Attempts = { made: 0, putOff: 0, waitedMs: 0 };
      let refreshed = false;
      for (;;) {
        signal.throwIfAborted();
        await pace.wait(signal);
        try {
          return await attempt(path, operation.maxBodyMib, apiVersion, signal, read);
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          if (!(error instanceof PlatformError)) throw error;
          attempts = { ...attempts, made: attempts.made + 1, putOff: attempts.putOff + (isPutOff(error) ? 1 : 0) };
          // The token may have expired meanwhile: its source is asked once more, and without a pause.
          const refresh: boolean = error.status === 401 && settings.canRefreshToken && !refreshed;
          refreshed ||= refresh;
          const delay = refresh ? 0 : retryDelayMs(attempts, error, effects.random);
          if (delay === undefined) throw explain(error, operation, about, attempts, settings.tokenSetting);
          counters.retries += 1;
          effects.log.info('request.retried', 'Retrying a request', {
            about,
            reason: error.message,
            attempt: attempts.made + 1,
            waitMs: Math.round(delay),
          });
          attempts = { ...attempts, waitedMs: attempts.waitedMs + delay };
          // Too many requests is said to the whole client: its other workers would only be refused as well.
          if (error.status === 429) pace.pause(delay);
          else if (!refresh) await effects.sleep(delay, signal);
        }
      }
    },
  };
}

/**
 * The token, asked for once for all requests. Those that wait for it while its source fails share the one failure; a
 * request that begins later asks the source again, because what failed (an agent locked, a file being replaced) may have
 * passed. The source is asked by one request at a time, and a failure is no PlatformError, which ends the work that asked
 * for it.
 */
function openToken(settings: Pick<ClientSettings, 'token'>): {
  current(): Promise<string>;
  forget(used: Promise<string>): void;
} {
  let token: Promise<string> | undefined;
  function forget(used: Promise<string>): void {
    if (token === used) token = undefined;
  }
  return {
    current() {
      if (token !== undefined) return token;
      const asked = settings.token();
      token = asked;
      asked.catch(() => forget(asked));
      return asked;
    },
    forget,
  };
}

/** When the client may send: after a pause that a 429 asked for, and not faster than the rate agreed. */
function openPace(
  { maxRequestsPerMinute }: Pick<ClientSettings, 'maxRequestsPerMinute'>,
  effects: Effects,
): { wait(signal: AbortSignal): Promise<void>; pause(ms: number): void } {
  // Real time in milliseconds, not the books' now: `--now` must not stop anything from waiting.
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
        // A pause may have begun while this waited for its slot; then it takes another one after the pause.
        if (pausedUntilMs <= Date.now()) return;
      }
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, Date.now() + ms);
    },
  };
}

/** Names under which this machine reaches itself, where nobody listens in between. */
const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * A token over plain HTTP can be read by everybody on the way. It is said and not refused: inside a private network,
 * or before a proxy on its edge that adds TLS, it is somebody's choice.
 */
function warnAboutPlainHttp(url: string, { log }: Effects): void {
  const { protocol, hostname, host } = new URL(url);
  if (protocol !== 'http:' || loopback.test(hostname)) return;
  log.warn(
    'token.sent_unencrypted',
    'The token is sent unencrypted: use https in the url, unless you own the network to this host',
    {
      host,
    },
  );
}

/** The JSON value in a body, unpacked where it came gzipped. Throws as `unpackBody` and `parseBytes` do. */
export async function parseBody(body: RawBody): Promise<unknown> {
  return parseBytes(await unpackBody(body));
}

/**
 * The bytes of a body, unpacked where it came gzipped. Throws a retryable PlatformError for one that was cut short on
 * its way: another attempt may bring it whole. One that unfolds beyond any page is refused for good: the next attempt
 * would bring the same.
 */
export async function unpackBody(body: RawBody): Promise<Buffer> {
  const { bytes, gzipped, maxBodyMib = answerLimits.metricsBodyMib } = body;
  if (!gzipped) return bytes;
  try {
    return await gunzipAsync(bytes, unpackingOf(body));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw cutShort(bytes.length, cause);
    throw new PlatformError(
      `a gzipped body of ${bytes.length} bytes that unfolds to more than ${maxBodyMib} MiB, far more than a page`,
      { code: 'body', cause },
    );
  }
}

/** How a gzipped body is unpacked: its end says how much it holds, which is unpacked in one piece. It may be wrong. */
export function unpackingOf({ bytes, maxBodyMib = answerLimits.metricsBodyMib }: RawBody): {
  maxOutputLength: number;
  chunkSize: number;
} {
  const said = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return {
    maxOutputLength: maxBodyMib * 1024 * 1024,
    chunkSize: Math.min(Math.max(said + 1, 16_384), 4 * 1024 * 1024),
  };
}

/**
 * The JSON value in a body's bytes. Throws a retryable PlatformError where they are none, and one that is final where
 * they hold more than any answer does.
 */
export function parseBytes(bytes: Buffer): unknown {
  const excess = jsonExcess(bytes, answerLimits);
  if (excess !== undefined) {
    throw new PlatformError(`a body of ${bytes.length} bytes of ${excess}, far more than a page`, { code: 'body' });
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw cutShort(bytes.length, cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const start = JSON.stringify(excerpt(text, 60));
    throw new PlatformError(`a body of ${text.length} characters that is not JSON, beginning ${start}`, {
      code: 'body',
      retryable: true,
      cause,
    });
  }
}

function cutShort(length: number, cause: unknown): PlatformError {
  return new PlatformError(
    `a body that cannot be unpacked (${messageOf(cause)}; ${length} bytes arrived): truncated on its way?`,
    { code: 'body', retryable: true, cause },
  );
}

function headerOf(response: HttpResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** How long a cache on the way has had an answer (RFC 9111 5.1); nothing where it does not say so in whole seconds. */
function ageMs(header: string | undefined): number {
  return header !== undefined && /^\d{1,9}$/.test(header.trim()) ? Number(header.trim()) * 1000 : 0;
}

function isGzipped(response: HttpResponse): boolean {
  const encoding = headerOf(response, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new PlatformError(`a body with content-encoding ${excerpt(encoding, 60)}, though only gzip was offered`);
}

/** The error that a status other than 200 means, with what the platform's error body says. */
async function refusal(response: HttpResponse): Promise<PlatformError> {
  const { status } = response;
  let said = '';
  let code: string | undefined;
  try {
    const body = errorBody.parse(
      await parseBody({ bytes: response.body, gzipped: isGzipped(response), maxBodyMib: answerLimits.otherBodyMib }),
    );
    code = body.error;
    said = textIn(body);
  } catch {
    // A proxy's HTML page, or nothing at all: the status has to speak for itself.
  }
  return new PlatformError(`${status}${said}`, {
    status,
    code,
    retryable: status === 408 || status === 429 || status >= 500,
    retryAfterMs:
      status === 429 || status >= 500
        ? parseRetryAfter(headerOf(response, 'retry-after'), headerOf(response, 'date'))
        : undefined,
  });
}

/** The words of an error body in one line, each thing once: `access_denied: Access denied` says it twice. */
function textIn({ error, message = '' }: { error: string; message?: string | undefined }): string {
  const plain = (text: string) =>
    text
      .slice(0, 500)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
  const isRepeated = plain(message).startsWith(plain(error));
  const said = excerpt([isRepeated ? '' : error, message].filter((part) => part.trim() !== '').join(': '), 500);
  // What a platform says must not move a terminal's cursor, nor begin a line that looks like ours.
  return said === '' ? '' : `: ${said.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`;
}

/** What to do about an answer that retrying does not mend, by status. */
function remedy(error: PlatformError, operation: Operation, tokenSetting: string | undefined): string {
  if (error.status === 401) {
    const setting = tokenSetting ?? "COSTBOOK_TOKEN (or the account's token, tokenFile or tokenCommand)";
    return `The token was refused: check ${setting}; it may have expired or been revoked.`;
  }
  if (error.status === 403)
    return `The token may not read this: ask an account admin for a token that may read ${operation.reads}.`;
  if (error.status === 404)
    return operation.path.includes('{accountId}') ? 'Check the account id and the URL.' : 'Check the URL.';
  if (error.code === 'invalid_api_version')
    return 'Set apiVersion (COSTBOOK_API_VERSION) to a version that the platform lists.';
  if (error.status === 400)
    return 'The platform does not take this request; Costbook and the platform disagree about its rules.';
  if (error.code === 'certificate')
    return 'The certificate is not trusted: name the authority that signed it with NODE_EXTRA_CA_CERTS, or correct the URL.';
  if (error.code === 'tls') return 'Check whether the URL begins with https where the platform speaks plain http.';
  if (error.code === 'unreachable') return 'Check the URL, the network and the proxy settings.';
  return 'Nothing was changed; the next run asks again.';
}

function explain(
  error: PlatformError,
  operation: Operation,
  about: string,
  attempts: Attempts,
  tokenSetting: string | undefined,
): PlatformError {
  const tries = attempts.made > 1 ? ` after ${attempts.made} attempts` : '';
  const answered = error.status === undefined ? 'failed with' : 'answered';
  return new PlatformError(
    `${operation.name} API ${answered} ${error.message}${tries} (${about}). ${remedy(error, operation, tokenSetting)}`,
    {
      status: error.status,
      code: error.code,
      retryable: error.retryable,
      retryAfterMs: error.retryAfterMs,
      cause: error,
    },
  );
}
