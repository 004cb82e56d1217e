import type { HttpSend } from '../base/effects.ts';
import { PlatformError, UsageError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import type { Instant } from '../time/time.ts';
import { isGzipped, parseBody } from './body.ts';
import { hostOf } from './http.ts';
import { answerLimits } from './interface/limits.ts';
import { refusalOf } from './refusal.ts';

/** A token that says when it ends. */
export interface IssuedToken {
  readonly text: string;
  readonly expiresAt: Instant;
}

/** The credentials of a service account, and where they become a token. */
export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The whole exchange may take this long. */
  readonly timeoutMs: number;
}

/** The life of a token by the public description, for an answer that does not say. */
const usualLifeMs = 2 * 3_600_000;

/**
 * Exchanges client credentials for a token. The credentials go in the body, which needs no encoding of special characters.
 * The names of the answer's fields are not shown: those of RFC 6749 and their like are accepted. Throws UsageError if the
 * platform refuses the credentials, which is 400 there, and PlatformError as the client does. No message has the secret.
 */
export async function issueToken(
  { tokenUrl, clientId, clientSecret, timeoutMs }: ClientCredentials,
  http: HttpSend,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const askedAt = Date.now(); // the platform uses real time, also with --now
  const maxBodyMib = answerLimits.otherBodyMib;
  const body = JSON.stringify({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret });
  const headers = { accept: 'application/json', 'accept-encoding': 'gzip', 'content-type': 'application/json' };
  const limit = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, limit]);
  let answer: unknown;
  try {
    const response = await http({ method: 'POST', url: tokenUrl, headers, body, maxBodyMib, signal: either });
    if (response.status < 200 || response.status > 299) throw await refusalOf(response);
    answer = await parseBody({ bytes: response.body, gzipped: isGzipped(response), maxBodyMib });
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) {
      const words = `no whole answer from ${placeOf(tokenUrl)} within ${timeoutMs / 1000} s, when asked for a token`;
      throw new PlatformError(words, { code: 'timeout', host: hostOf(tokenUrl), retryable: true });
    }
    throw error instanceof PlatformError ? explained(error, tokenUrl) : error;
  }
  const fields = (typeof answer === 'object' && answer !== null ? answer : {}) as Readonly<Record<string, unknown>>;
  const text = fields['access_token'] ?? fields['accessToken'] ?? fields['token'];
  const seconds = fields['expires_in'] ?? fields['expiresIn'];
  if (typeof text !== 'string') {
    const words = `oauth: found no access_token in the answer of ${placeOf(tokenUrl)}.`;
    throw new UsageError(words, { next: act('correct tokenPath below oauth.') });
  }
  const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : usualLifeMs;
  return { text, expiresAt: askedAt + lifeMs };
}

/** What a failure of the exchange means: refused credentials are 400 by the public description, and 401 by RFC 6749. */
function explained(error: PlatformError, tokenUrl: string): Error {
  const { status = 0, retryable, found } = error;
  if (status >= 400 && status < 500 && status !== 402 && !retryable) {
    const what = status === 400 ? 'clientId and clientSecret' : 'tokenPath, clientId and clientSecret';
    const words = `oauth: ${placeOf(tokenUrl)} refuses the client credentials (${found}).`;
    return new UsageError(words, { next: act(`correct ${what} below oauth.`), cause: error });
  }
  if (error.host !== undefined) return error;
  const { code, retryAfterMs } = error;
  const words = `${found}, when asked for a token`;
  return new PlatformError(words, { status: error.status, code, retryable, retryAfterMs, cause: error });
}

function placeOf(tokenUrl: string): string {
  return `${hostOf(tokenUrl)}${new URL(tokenUrl).pathname}`;
}
