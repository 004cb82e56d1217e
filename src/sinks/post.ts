import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Attempt } from './sink.ts';
import { pinAddress, TargetFault } from './target.ts';
import { timeLimited } from './time-limit.ts';

/** For the whole exchange, including the lookup of the host name. */
const timeLimitMs = 10_000;
/** Read at most this much of an answer; Slack's API repeats the message. Its text is never shown. */
const maxAnswerBytes = 512 * 1024;
/** Far more than any message needs. */
const maxBodyBytes = 1024 * 1024;

/** A request to a sink. */
export interface Request {
  readonly url: string;
  readonly allowPrivateNetwork: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** JSON by default. */
  readonly contentType?: string;
  readonly signal: AbortSignal;
}

/** A POST whose answer only says whether the sink accepted the message. */
export interface Post extends Request {
  /** Answers of the sink that may be shown as the reason for a refusal. Other answers are not shown. */
  readonly knownWords?: readonly string[];
}

/**
 * What a server answered: its status, when to try again, and its text, of which only known words may be shown. The text
 * ends early if the server ends it so, or sends it for too long: the status has then said enough.
 */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Sends once, as `exchange`. The outcome is refused only if the sink certainly did not accept the message. */
export async function post({ knownWords = [], ...request }: Post): Promise<Attempt> {
  const found = await exchange(request);
  return 'outcome' in found ? found : outcomeOf(found, new URL(request.url).hostname, knownWords);
}

/**
 * Sends once to the checked address, follows no redirect, and gives up after ten seconds. Returns the answer, or the
 * outcome if there is none. Throws only the signal's reason.
 */
export async function exchange({
  url,
  allowPrivateNetwork,
  headers,
  body,
  contentType = 'application/json; charset=utf-8',
  signal,
}: Request): Promise<Answer | Exclude<Attempt, { outcome: 'delivered' }>> {
  signal.throwIfAborted();
  const target = new URL(url);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length > maxBodyBytes) {
    return {
      outcome: 'refused',
      reason: `the message has ${bytes.length} bytes, more than the limit of ${maxBodyBytes} bytes`,
      isPassing: false,
    };
  }
  const limit = timeLimited(signal, timeLimitMs);
  const ended = limit.signal;
  let isSent = false;
  let finish: (() => void) | undefined;
  try {
    const pinned = await pinAddress(target.hostname, allowPrivateNetwork);
    if (target.protocol !== 'https:' && !pinned.isPrivate) {
      throw new TargetFault(`${target.hostname} is a public address, which requires https`);
    }
    ended.throwIfAborted();
    return await new Promise<Answer>((resolve, reject) => {
      const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
      /** A server that has said its status took the message or refused it, however its text ends. */
      function end(error: unknown): void {
        if (finish === undefined || signal.aborted) reject(error);
        else finish();
      }
      // Whatever Node tells of the exchange.
      ended.addEventListener('abort', () => end(ended.reason), { once: true });
      const request: ClientRequest = send(
        target,
        {
          method: 'POST',
          headers: { ...headers, 'content-type': contentType, 'content-length': bytes.length },
          agent: false,
          signal: ended,
          // Node requests one address or all addresses.
          lookup: (_, options, done) =>
            options.all === true
              ? done(null, [{ address: pinned.address, family: pinned.family }])
              : done(null, pinned.address, pinned.family),
        },
        (response) => {
          const pieces: Buffer[] = [];
          let length = 0;
          finish = () => {
            const text = Buffer.concat(pieces).toString('utf8');
            const retryAfter = response.headers['retry-after'];
            resolve({ status: response.statusCode ?? 0, retryAfter, text });
          };
          response.on('data', (piece: Buffer) => {
            length += piece.length;
            if (length > maxAnswerBytes) response.destroy();
            else pieces.push(piece);
          });
          response.on('close', finish);
          response.on('error', end);
        },
      );
      request.on('error', end);
      // It leaves HTTP, and comes with no other event.
      request.on('upgrade', ({ statusCode = 0 }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, retryAfter: undefined, text: '' });
      });
      request.on('socket', (socket) => {
        socket.on(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          isSent = true;
        });
      });
      request.end(bytes);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TargetFault) return { outcome: 'refused', reason: error.message, isPassing: error.isPassing };
    const reason = ended.aborted
      ? `no complete answer from ${target.hostname} within ${timeLimitMs / 1000} s`
      : `no complete answer from ${target.hostname} (${codeOf(error)})`;
    return { outcome: isSent ? 'unknown' : 'refused', reason, isPassing: true };
  } finally {
    limit.over();
  }
}

/** What an answer means for the message. */
export function outcomeOf({ status, retryAfter, text }: Answer, host: string, knownWords: readonly string[]): Attempt {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const word = knownWords.find((known) => text.trim() === known);
  const detail = word === undefined ? '' : `: ${word}`;
  if (status >= 300 && status < 400) {
    return {
      outcome: 'refused',
      reason: `${host} answered ${status}, a redirect; Costbook does not follow redirects`,
      isPassing: false,
    };
  }
  const isPassing = status === 408 || status === 425 || status === 429 || status >= 500;
  return {
    // A server may have accepted the message before it failed.
    outcome: status >= 500 || status === 408 ? 'unknown' : 'refused',
    reason: `${host} answered ${status}${detail}`,
    isPassing,
    retryAfterMs:
      retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) * 1000 : undefined,
  };
}

/** The system's error code. Its sentences are not shown because they may hold addresses. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'the connection was cut';
}
