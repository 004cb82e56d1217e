import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Effects } from '../../src/base/effects.ts';
import { parseBody, type RawBody } from '../../src/platform/body.ts';
import { type Client, type ClientSettings, openClient } from '../../src/platform/client.ts';
import { openHttp } from '../../src/platform/http.ts';
import { openClock } from '../../src/time/clock.ts';
import { afterTest } from './clean-up.ts';

/** The effects of one client, with a record of its log lines and its waits. */
export interface TestEffects extends Effects {
  readonly slept: number[];
  readonly logged: { event: string; fields: Record<string, unknown> }[];
}

/** Effects whose sleep is over at once (or `sleeps`), and whose random is 0 by default. */
export function testEffects(options: { random?: () => number; sleeps?: boolean } = {}): TestEffects {
  const slept: number[] = [];
  const logged: TestEffects['logged'] = [];
  function log(event: string, _message: string, fields: Record<string, unknown> = {}): void {
    logged.push({ event, fields });
  }
  return {
    slept,
    logged,
    ...openClock(() => Date.UTC(2026, 9, 21, 3, 30)),
    random: options.random ?? (() => 0),
    log: { info: log, warn: log },
    async sleep(ms, signal) {
      slept.push(ms);
      if (options.sleeps) await realSleep(ms, signal);
      signal.throwIfAborted();
    },
  };
}

/** Really waits, and rejects with the signal's reason as soon as it is aborted. */
async function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  await sleepFor(ms, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}

/** A real client on a real HTTP edge. */
export function testClient(
  url: string,
  options: {
    settings?: Partial<ClientSettings>;
    effects?: TestEffects;
    env?: Record<string, string>;
    paceMs?: number;
  } = {},
): Client {
  const { paceMs } = options;
  const http = openHttp({ connections: 4, env: options.env ?? {}, ...(paceMs === undefined ? {} : { paceMs }) });
  afterTest(() => http.close());
  return openClient(
    {
      url,
      token: async () => 'tok-1',
      canRefreshToken: false,
      apiVersion: '2026-04-16',
      authorizationHeader: 'Authorization',
      versionHeader: 'Service-Version',
      maxRequestsPerMinute: undefined,
      userAgent: 'costbook/0.0.0-test',
      ...options.settings,
    },
    http.send,
    options.effects ?? testEffects(),
  );
}

/** Reads a body as JSON. */
export function asJson(body: RawBody): Promise<unknown> {
  return parseBody(body);
}

/** A signal that nobody aborts. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** What a promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not rejected');
}
