import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Instant } from '../time/time.ts';
import type { FaultName } from './fault-plan.ts';
import { GatewayRefusal, Refusal } from './refusal.ts';
import type { Reply } from './reply.ts';

// What each passing fault does to one request; fault-plan.ts decides which request it hits.

const retryAfterSeconds = 1;
const slowParts = 8;
const slowPauseMs = 120;

/** Throws the Refusal of a fault that refuses a request; does nothing for others. */
export function refuseAs(fault: FaultName | undefined, now: Instant): void {
  switch (fault) {
    case '429':
      throw new Refusal(429, 'rate_limited', 'Too many requests', { 'retry-after': String(retryAfterSeconds) });
    case '429-ms':
      // The shorter wait is the one that counts.
      throw new Refusal(429, 'rate_limited', 'Too many requests', { 'retry-after-ms': '250.5', 'retry-after': '1' });
    case '402':
      throw new GatewayRefusal(402, 'USAGE_LIMIT_EXCEEDED', 'The quota of the plan is used up', 'Top up the balance.');
    case '404':
      throw new GatewayRefusal(
        404,
        'WORKLOAD_UNAVAILABLE',
        'Nothing serves it at this moment',
        'Try again in a moment.',
      );
    case '429-date': {
      // Relative to the answer's own date: clients subtract one from the other.
      const at = new Date((Math.floor(now / 1_000) + retryAfterSeconds) * 1_000);
      throw new Refusal(429, 'rate_limited', 'Too many requests', { 'retry-after': at.toUTCString() });
    }
    case 'expired-token':
      throw new Refusal(401, 'unauthorized', 'The token has expired');
    case 'redirect':
      throw new Refusal(302, 'redirected', 'Log in first', { location: '/login' });
    case '500':
      throw new Refusal(500, 'internal_error', 'Internal error');
    case '503':
      throw new Refusal(503, 'unavailable', 'Unavailable for a moment');
    default:
  }
}

/** `html`: what a proxy in front of the platform may send instead of an answer. */
export const loginPage: Reply = {
  status: 200,
  headers: {},
  content: { kind: 'text', type: 'text/html', text: '<!doctype html><title>Log in</title><h1>Log in</h1>' },
};

const mebibyte = 2 ** 20;
const bombMembers = 8;
let spaces: Buffer | undefined;

/** `gzip-bomb`: 128 MiB of white space before the body, 130 KB on the wire. A gzip stream may have several members. */
export function explosive(body: Uint8Array): Buffer {
  spaces ??= gzipSync(Buffer.alloc(16 * mebibyte, ' '));
  return Buffer.concat([...Array.from({ length: bombMembers }, () => spaces ?? Buffer.alloc(0)), gzipSync(body)]);
}

/** `reset`: ends the connection without any answer. */
export function resetConnection(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** Writes a body: half of it (`truncated`), slowly (`slow-body`), or all of it. */
export async function writeBody(
  response: ServerResponse,
  body: Uint8Array,
  fault: FaultName | undefined,
): Promise<void> {
  if (fault === 'truncated') {
    // Written first, so that the client really gets half of it and not just a broken connection.
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
  } else if (fault === 'slow-body') {
    const size = Math.ceil(body.length / slowParts);
    for (let at = 0; at < body.length && !response.destroyed; at += size) {
      response.write(body.subarray(at, at + size));
      await pause(slowPauseMs);
    }
    response.end();
  } else {
    response.end(body);
  }
}

/** Resolves after real time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
