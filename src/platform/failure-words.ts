import { excerpt, PlatformError } from '../base/errors.ts';
import { act, type NextStep, quotaStep, waitForPlatform } from '../base/next-step.ts';
import { describeSpan } from '../time/time.ts';
import type { Operation } from './interface/operations.ts';
import { isCertainlyNotDone, waitBudgetMs } from './retry.ts';

/** A request that failed for good. */
export interface FailedRequest {
  readonly operation: Operation;
  /** Account, window and page; the account first. */
  readonly about: string;
  /** `api.example.com:443` */
  readonly host: string;
  readonly attempts: number;
  /** Where the token is configured: `COSTBOOK_TOKEN`. */
  readonly tokenSetting: string | undefined;
  /** Whether a person wrote the request. */
  readonly isOfUser: boolean;
}

/**
 * The error for a request that failed for good, for the person on call: the account, the host, what happened, how often
 * it was tried, the request, and the next step. Pure.
 */
export function explain(error: PlatformError, failed: FailedRequest): PlatformError {
  const [first = '', ...others] = failed.about.split(', ');
  const [account, request] = first.startsWith('account ') ? [`${first}: `, others.join(', ')] : ['', failed.about];
  const tries = failed.attempts > 1 ? `, after ${failed.attempts} attempts` : '';
  // Without a connection, or with a refused token, every request fails in the same way.
  const details = isOfConnection(error) || error.status === 401 || request === '' ? '' : ` (${request})`;
  return new PlatformError(`${account}${faultWords(error, failed)}${tries}${details}.`, {
    host: failed.host,
    next: failed.isOfUser ? stepForUser(error, failed) : stepAfter(error, failed),
    status: error.status,
    code: error.code,
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}

function isOfConnection({ fault = '' }: PlatformError): boolean {
  return ['unreachable', 'certificate', 'tls'].includes(fault);
}

/** What happened. Errors of a host name it themselves; others without a status say what was wrong with the body. */
function faultWords(error: PlatformError, { operation, host }: FailedRequest): string {
  const api = `${operation.name} API of ${host}`;
  if (error.status !== undefined) return `${api} answered ${error.message}${postponement(error)}`;
  return error.host === undefined ? `${api} sent ${error.message}` : error.message;
}

/** How long the platform asks to wait, if that is longer than a run waits. */
function postponement({ retryAfterMs = 0 }: PlatformError): string {
  return retryAfterMs > waitBudgetMs
    ? `; it asks to wait ${describeSpan(retryAfterMs)}, longer than a run does (${describeSpan(waitBudgetMs)})`
    : '';
}

/** The step for the person who wrote the request. */
function stepForUser(error: PlatformError, failed: FailedRequest): NextStep {
  if ((error.status === 400 || error.status === 404) && error.code !== 'invalid_api_version')
    return act('check the names and values of the request.');
  const step = stepAfter(error, failed);
  if (step !== waitForPlatform) return step;
  return failed.operation.isRepeatable || isCertainlyNotDone(error)
    ? act('send the request again later.')
    : act('check whether the platform did it before you send the request again.');
}

/** What to do about a failure that more attempts did not fix. */
function stepAfter(error: PlatformError, { operation, host, tokenSetting }: FailedRequest): NextStep {
  const { status } = error;
  if (status === undefined) return stepAfterNoAnswer(error, host);
  if (error.code === 'invalid_api_version')
    return act('set apiVersion (COSTBOOK_API_VERSION) to a version that the platform supports.');
  switch (status) {
    case 400:
      return act(
        'report this: the platform rejects the request. This is a bug in Costbook, or the platform has changed its rules.',
      );
    case 401: {
      const setting = tokenSetting ?? "COSTBOOK_TOKEN (or the account's token, tokenFile or tokenCommand)";
      return act(`replace the token in ${setting}, which the platform refuses (expired, revoked or wrong).`);
    }
    case 403:
      return act(`ask an account admin for a token that may ${operation.may}: this one has no access.`);
    case 402:
      return quotaStep;
    case 404:
      if (error.retryable) return waitForPlatform;
      return act(operation.path.includes('{accountId}') ? 'check the account ID and the URL.' : 'check the URL.');
    case 407:
      return act('set the user and password of the proxy in HTTP_PROXY or HTTPS_PROXY.');
    case 408:
    case 429:
      return waitForPlatform;
    default:
      if (status >= 500) return waitForPlatform;
      return status >= 300 && status < 400
        ? act(
            'if the platform has moved, set url to its new address. Costbook follows no redirect: it would send the token to another host.',
          )
        : act("check the URL: the platform's API does not answer like this.");
  }
}

function stepAfterNoAnswer({ fault }: PlatformError, host: string): NextStep {
  switch (fault) {
    case 'unreachable':
      return act(
        'check whether the platform is up. If it is, check its address (url in costbook.yaml, or COSTBOOK_URL), the network and the proxy settings.',
      );
    case 'certificate':
      return act(
        `check the URL. If it is right, set NODE_EXTRA_CA_CERTS to the file of the authority that signs for ${host}, or have its certificate renewed.`,
      );
    case 'tls':
      return act('check the URL: it may say https for a platform that speaks plain http.');
    case 'web_page':
      return act('check the URL, and whether a proxy or a login page answers in place of the platform.');
    case 'too_large':
      return act('check the URL. If it is right, report this to the platform: no page of its API is that large.');
    default:
      return waitForPlatform;
  }
}

/** What the network or TLS failed with, in words, with the system's code. */
export function networkFault(
  error: unknown,
  code: string | undefined,
  { host, connectMs, silenceMs }: { readonly host: string; readonly connectMs: number; readonly silenceMs: number },
): string {
  const words = faultOfCode(code ?? '', { connectMs, silenceMs });
  const message = error instanceof Error ? error.message : '';
  const at = elsewhere(error, host);
  if (words !== undefined) return `${words}${at} (${code})`;
  // The message of the operating system has its code.
  const isNamed = code === undefined || typeof (error as NodeJS.ErrnoException).syscall === 'string';
  return [message, isNamed ? '' : `(${code})`].filter(Boolean).join(' ');
}

function faultOfCode(
  code: string,
  { connectMs, silenceMs }: { readonly connectMs: number; readonly silenceMs: number },
): string | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'host name not found';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'no network route';
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `no connection within ${connectMs / 1000} s`;
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `it accepted the request, then sent nothing for ${silenceMs / 1000} s`;
    case 'UND_ERR_BODY_TIMEOUT':
      return `its answer stopped for ${silenceMs / 1000} s before the end`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'the connection was closed before the whole answer arrived';
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another host name';
    default:
      if (code.startsWith('HPE_')) return 'it does not speak HTTP as expected';
      if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return 'its certificate is not trusted';
      // OpenSSL's own message is a line of its source code.
      return code === 'EPROTO' || code.startsWith('ERR_SSL') ? 'it does not speak TLS as expected' : undefined;
  }
}

/** The address or name that failed, if it is another one than the platform's: a proxy's. */
function elsewhere(error: unknown, host: string): string {
  const { address, port, hostname } = error as { address?: unknown; port?: unknown; hostname?: unknown };
  const place =
    typeof hostname === 'string'
      ? hostname
      : typeof address === 'string' && typeof port === 'number'
        ? `${address}:${port}`
        : '';
  return place === '' || host.startsWith(place) ? '' : ` at ${place}`;
}

/** The text of an error body in one line, without repetition: `access_denied: Access denied` says it twice. */
export function textIn({ error, message = '' }: { error: string; message?: string | undefined }): string {
  const plain = (text: string) =>
    text
      .slice(0, 500)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
  const isRepeated = plain(message).startsWith(plain(error));
  const said = excerpt([isRepeated ? '' : error, message].filter((part) => part.trim() !== '').join(': '), 500);
  // The platform's text must not move a terminal's cursor, nor start a line that looks like ours.
  return said === '' ? '' : `: ${said.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`;
}

/** Where a redirect leads, without path and query, which may hold secrets; empty if the answer names no host. */
export function redirectWords(status: number, location: string | undefined): string {
  if (status < 300 || status > 399 || location === undefined || !URL.canParse(location)) return '';
  return `: a redirect to ${excerpt(new URL(location).origin, 300)}`;
}
