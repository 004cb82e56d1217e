import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Instant } from '../time.ts';
import type { FaultName } from './fault-plan.ts';
import { Refusal } from './refusal.ts';

// What each passing fault does to one request; fault-plan.ts decides which request it hits.

const retryAfterSeconds = 1;
const slowParts = 8;
const slowPauseMs = 120;

/** Throws the Refusal of a fault that refuses a request; does nothing for others. */
export function refuseAs(fault: FaultName | undefined, now: Instant): void {
  switch (fault) {
    case '429':
      throw new Refusal(429, 'rate_limited', 'Too many requests', { 'retry-after': String(retryAfterSeconds) });
    case '429-date': {
      // Relative to the answer's own date: clients subtract one from the other.
      const at = new Date((Math.floor(now / 1_000) + retryAfterSeconds) * 1_000);
      throw new Refusal(429, 'rate_limited', 'Too many requests', { 'retry-after': at.toUTCString() });
    }
    case '500':
      throw new Refusal(500, 'internal_error', 'Internal error');
    case '503':
      throw new Refusal(503, 'unavailable', 'Unavailable for a moment');
    default:
  }
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
