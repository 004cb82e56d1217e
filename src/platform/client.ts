import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Effects, HttpResponse, HttpSend } from '../effects.ts';
import { excerpt, messageOf, PlatformError } from '../errors.ts';
import { type Operation, requestPath } from './operations.ts';
import { errorBody } from './responses.ts';
import { type Attempts, isPutOff, parseRetryAfter, retryDelayMs } from './retry.ts';

const gunzipAsync = promisify(gunzip);

/** One attempt may take this long in all, however steadily its body drips. */
const attemptTimeoutMs = 5 * 60_000;
/** What a gzipped body may unfold to: far more than a page, far less than memory. */
const maxUnzippedBytes = 512 * 1024 * 1024;

/** Who asks, where and how; the header names are settings because a real platform puts its maker's name in them. */
export interface ClientSettings {
  readonly url: string;
  /** Asks the token's source; called once, and once more after a 401 where that may help. */
  token(): Promise<string>;
  /** True where the source may give another token when it is asked again (a command, a file). */
  readonly canRefreshToken: boolean;
  readonly apiVersion: string;
  readonly authorizationHeader: string;
  readonly versionHeader: string;
  readonly maxRequestsPerMinute: number | undefined;
  readonly userAgent: string;
}

/** A successful answer's body, as it came and how it was packed. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly gzipped: boolean;
}

/** What the client counted: logical requests and how often one was sent again. */
export interface ClientCounters {
  requests: number;
  retries: number;
}

export interface Client {
  readonly counters: Readonly<ClientCounters>;
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
  ): Promise<T>;
}

/** Opens a client for one account's platform. It holds no socket of its own; those belong to `http`. */
export function openClient(settings: ClientSettings, http: HttpSend, effects: Effects): Client {
  const counters: ClientCounters = { requests: 0, retries: 0 };
  // Real time in milliseconds, not the books' now: `--now` must not stop anything from waiting.
  let pausedUntilMs = 0;
  let nextSlotMs = 0;
  let token: Promise<string> | undefined;

  /** Waits until the client may send: after a pause that a 429 asked for, and not faster than the rate agreed. */
  async function waitForTurn(signal: AbortSignal): Promise<void> {
    for (;;) {
      const pause = pausedUntilMs - Date.now();
      if (pause > 0) {
        await effects.sleep(pause, signal);
        continue;
      }
      if (settings.maxRequestsPerMinute === undefined) return;
      const slot = Math.max(Date.now(), nextSlotMs);
      nextSlotMs = slot + 60_000 / settings.maxRequestsPerMinute;
      if (slot > Date.now()) await effects.sleep(slot - Date.now(), signal);
      // A pause may have begun while this waited for its slot; then it takes another one after the pause.
      if (pausedUntilMs <= Date.now()) return;
    }
  }

  async function attempt<T>(path: string, signal: AbortSignal, read: (body: RawBody) => Promise<T>): Promise<T> {
    token ??= settings.token();
    const tokenUsed = token;
    const limit = AbortSignal.timeout(attemptTimeoutMs);
    try {
      const response = await http({
        method: 'GET',
        url: settings.url + path,
        headers: {
          [settings.authorizationHeader]: `Bearer ${await tokenUsed}`,
          [settings.versionHeader]: settings.apiVersion,
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': settings.userAgent,
        },
        signal: AbortSignal.any([signal, limit]),
      });
      if (response.status !== 200) throw await refusal(response);
      return await read({ bytes: response.body, gzipped: isGzipped(response) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (limit.aborted) {
        throw new PlatformError(`no whole answer within ${attemptTimeoutMs / 60_000} minutes`, { retryable: true });
      }
      if (error instanceof PlatformError && error.status === 401 && token === tokenUsed) token = undefined;
      throw error;
    }
  }

  return {
    counters,
    async call(operation, values, about, read, signal) {
      const path = requestPath(operation, values);
      counters.requests += 1;
      let attempts: Attempts = { made: 0, putOff: 0, waitedMs: 0 };
      let refreshed = false;
      for (;;) {
        signal.throwIfAborted();
        await waitForTurn(signal);
        try {
          return await attempt(path, signal, read);
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          if (!(error instanceof PlatformError)) throw error;
          attempts = { ...attempts, made: attempts.made + 1, putOff: attempts.putOff + (isPutOff(error) ? 1 : 0) };
          if (error.status === 401 && settings.canRefreshToken && !refreshed) {
            refreshed = true; // the token may have expired meanwhile: its source is asked once more
            continue;
          }
          const delay = retryDelayMs(attempts, error, effects.random);
          if (delay === undefined) throw explain(error, operation, about, attempts);
          counters.retries += 1;
          effects.log.info('request is tried again', {
            about,
            because: error.message,
            attempt: attempts.made + 1,
            waitMs: Math.round(delay),
          });
          attempts = { ...attempts, waitedMs: attempts.waitedMs + delay };
          // Too many requests is said to the whole client: its other workers would only be refused as well.
          if (error.status === 429) pausedUntilMs = Math.max(pausedUntilMs, Date.now() + delay);
          else await effects.sleep(delay, signal);
        }
      }
    },
  };
}

/**
 * The JSON value in a body, unpacked where it came gzipped. Throws a retryable PlatformError for a body that was cut
 * short on its way or is not JSON: another attempt may bring it whole.
 */
export async function parseBody(body: RawBody): Promise<unknown> {
  let text: string;
  try {
    const plain = body.gzipped ? await gunzipAsync(body.bytes, { maxOutputLength: maxUnzippedBytes }) : body.bytes;
    text = new TextDecoder('utf-8', { fatal: true }).decode(plain);
  } catch (cause) {
    throw new PlatformError(
      `a body that cannot be unpacked (${messageOf(cause)}; ${body.bytes.length} bytes arrived): truncated on its way?`,
      { code: 'body', retryable: true, cause },
    );
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

function headerOf(response: HttpResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function isGzipped(response: HttpResponse): boolean {
  const encoding = headerOf(response, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new PlatformError(`a body with content-encoding ${encoding}, though only gzip was offered`);
}

/** The error that a status other than 200 means, with what the platform's error body says. */
async function refusal(response: HttpResponse): Promise<PlatformError> {
  const { status } = response;
  let said = '';
  let code: string | undefined;
  try {
    const body = errorBody.parse(await parseBody({ bytes: response.body, gzipped: isGzipped(response) }));
    code = body.error;
    said = `: ${excerpt([body.error, body.message].filter(Boolean).join(': '), 500)}`;
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

/** What to do about an answer that retrying does not mend, by status. */
function remedy(error: PlatformError): string {
  if (error.status === 401)
    return "The token was refused: check COSTBOOK_TOKEN (or the account's token, tokenFile or tokenCommand); it may have expired or been revoked.";
  if (error.status === 403)
    return 'The token may not read this: ask an account admin for a token that may read the metrics of this account.';
  if (error.status === 404) return 'Check the account id and the URL.';
  if (error.code === 'invalid_api_version')
    return 'Set apiVersion (COSTBOOK_API_VERSION) to a version that the platform lists.';
  if (error.status === 400)
    return 'The platform does not take this request; Costbook and the platform disagree about its rules.';
  if (error.code === 'certificate')
    return 'The certificate is not trusted: name the authority that signed it with NODE_EXTRA_CA_CERTS, or correct the URL.';
  if (error.code === 'unreachable') return 'Check the URL, the network and the proxy settings.';
  return 'Nothing was changed; the next run asks again.';
}

function explain(error: PlatformError, operation: Operation, about: string, attempts: Attempts): PlatformError {
  const tries = attempts.made > 1 ? ` after ${attempts.made} attempts` : '';
  const answered = error.status === undefined ? 'failed with' : 'answered';
  return new PlatformError(`${operation.name} API ${answered} ${error.message}${tries} (${about}). ${remedy(error)}`, {
    status: error.status,
    code: error.code,
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}
