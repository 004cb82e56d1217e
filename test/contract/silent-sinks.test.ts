// Second tier: Waits for the time limits of ten and twenty seconds.

import { describe, expect, test } from 'vitest';
import { openSink, type SinkSettings } from '../../src/sinks/kinds/index.ts';
import type { Attempt } from '../../src/sinks/sink.ts';
import { entryOf, exampleForecast, messageOf } from '../support/example-alerts.ts';
import { hangs, startSink } from '../support/sink-server.ts';
import { startSmtp } from '../support/smtp-server.ts';

function send(settings: SinkSettings): Promise<Attempt> {
  const log = { info: () => undefined, warn: () => undefined };
  return openSink(settings, { log, signal: new AbortController().signal })(messageOf(entryOf(exampleForecast)));
}

describe.concurrent('a message to a sink that falls silent', () => {
  test.each([
    [
      'slack',
      (url: string): SinkSettings => ({ type: 'slack', url: `${url}/services/T/B/x`, allowPrivateNetwork: true }),
    ],
    [
      'webhook',
      (url: string): SinkSettings => ({
        type: 'webhook',
        url: `${url}/in`,
        secret: 'a-secret-of-16-letters',
        allowPrivateNetwork: true,
      }),
    ],
  ] as const)('is given up after ten seconds by %s', async (_, settings) => {
    const sink = await startSink(hangs);
    expect(await send(settings(sink.url))).toEqual({
      outcome: 'unknown',
      reason: 'no complete answer from 127.0.0.1 within 10 s',
      isPassing: true,
    });
  });

  test('is given up after twenty seconds by email', async () => {
    const smtp = await startSmtp();
    smtp.trouble = [{ at: 'END', does: 'hang', times: 1 }];
    const settings: SinkSettings = {
      type: 'email',
      host: '127.0.0.1',
      port: smtp.port,
      tls: 'none',
      user: 'costbook',
      password: 'a-password',
      from: 'costbook@example.com',
      to: ['finops@example.com'],
      allowPrivateNetwork: true,
    };
    expect(await send(settings)).toEqual({
      outcome: 'unknown',
      reason: 'no answer from 127.0.0.1 within 20 s',
      isPassing: true,
    });
  });
});
