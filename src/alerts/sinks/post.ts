import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Attempt } from './sink.ts';
import { pinAddress, TargetFault } from './target.ts';
import { timeLimited } from './time-limit.ts';

/** From the first byte to the last of the answer; a name that is slow to be found counts as well. */
const timeLimitMs = 10_000;
/** Of an answer only so much is read; what it says is shown to nobody. */
const maxAnswerBytes = 64 * 1024;
/** Far more than any message has. */
const maxBodyBytes = 1024 * 1024;

/** A POST to a sink. */
export interface Post {
  readonly url: string;
  readonly allowPrivateNetwork: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** A word about a refusal that a sink's answer may be shown as; what is no word of the sink's own is not. */
  readonly knownWords?: readonly string[];
}

/**
 * Sends once to the address that was looked at, follows no redirect, and gives up after ten seconds. The outcome is
 * refused only where the sink certainly did not take it. Throws only the signal's reason.
 */
export async function post({
  url,
  allowPrivateNetwork,
  headers,
  body,
  signal,
  knownWords = [],
}: Post): Promise<Attempt> {
  signal.throwIfAborted();
  const target = new URL(url);
  const bytes = Buffer.from(body);
  if (bytes.length > maxBodyBytes) {
    return {
      outcome: 'refused',
      reason: `the message has ${bytes.length} bytes, more than a sink is sent`,
      isPassing: false,
    };
  }
  const limit = timeLimited(signal, timeLimitMs);
  const ended = limit.signal;
  let isSent = false;
  try {
    const pinned = await pinAddress(target.hostname, allowPrivateNetwork);
    if (target.protocol !== 'https:' && !pinned.isPrivate) {
      throw new TargetFault(`${target.hostname} is no private address, and only such may be sent to without TLS`);
    }
    ended.throwIfAborted();
    const answer = await new Promise<{ status: number; retryAfter: string | undefined; text: string }>(
      (resolve, reject) => {
        const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
        const request: ClientRequest = send(
          target,
          {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length },
            agent: false,
            signal: ended,
            // Node asks for one address, or for all of them.
            lookup: (_, options, done) =>
              options.all === true
                ? done(null, [{ address: pinned.address, family: pinned.family }])
                : done(null, pinned.address, pinned.family),
          },
          (response) => {
            const pieces: Buffer[] = [];
            let length = 0;
            function finish(): void {
              const text = Buffer.concat(pieces).toString('utf8');
              const retryAfter = response.headers['retry-after'];
              resolve({ status: response.statusCode ?? 0, retryAfter, text });
            }
            response.on('data', (piece: Buffer) => {
              length += piece.length;
              if (length > maxAnswerBytes) {
                finish(); // its status is all that matters
                response.destroy();
              } else pieces.push(piece);
            });
            response.on('end', finish);
            response.on('error', reject);
          },
        );
        request.on('error', reject);
        request.on('socket', (socket) => {
          socket.on(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
            isSent = true;
          });
        });
        request.end(bytes);
      },
    );
    return outcomeOf(answer, target.hostname, knownWords);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TargetFault) return { outcome: 'refused', reason: error.message, isPassing: error.isPassing };
    const reason = ended.aborted
      ? `no whole answer from ${target.hostname} within ${timeLimitMs / 1000} s`
      : `no whole answer from ${target.hostname} (${codeOf(error)})`;
    return { outcome: isSent ? 'unknown' : 'refused', reason, isPassing: true };
  } finally {
    limit.over();
  }
}

function outcomeOf(
  { status, retryAfter, text }: { status: number; retryAfter: string | undefined; text: string },
  host: string,
  knownWords: readonly string[],
): Attempt {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const word = knownWords.find((known) => text.trim() === known);
  const said = word === undefined ? '' : `: ${word}`;
  if (status >= 300 && status < 400) {
    return {
      outcome: 'refused',
      reason: `${host} answered ${status}, a redirect, which is not followed`,
      isPassing: false,
    };
  }
  const isPassing = status === 408 || status === 425 || status === 429 || status >= 500;
  return {
    // A server that failed may have taken it before it did.
    outcome: status >= 500 || status === 408 ? 'unknown' : 'refused',
    reason: `${host} answered ${status}${said}`,
    isPassing,
    retryAfterMs:
      retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) * 1000 : undefined,
  };
}

/** The system's word for what happened; its sentences may hold addresses. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'the connection was cut';
}
