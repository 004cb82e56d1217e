// Second tier: Waits for the time limits of ten and twenty seconds.

import { describe, expect, test, vi } from 'vitest';
import { openSink, type SinkSettings } from '../../src/sinks/kinds/index.ts';
import type { Attempt } from '../../src/sinks/sink.ts';
import { entryOf, exampleForecast, messageOf } from '../support/example-alerts.ts';
import { hangs, startSink } from '../support/sink-server.ts';
import { type SmtpServer, startSmtp } from '../support/smtp-server.ts';

function send(settings: SinkSettings): Promise<Attempt> {
  const log = { info: () => undefined, warn: () => undefined };
  return openSink(settings, { log, signal: new AbortController().signal })(messageOf(entryOf(exampleForecast)));
}

function email({ port }: SmtpServer): SinkSettings {
  return {
    ...{ type: 'email', host: '127.0.0.1', port, tls: 'none', user: 'costbook', password: 'a-password' },
    ...{ from: 'costbook@example.com', to: ['finops@example.com'], allowPrivateNetwork: true },
  };
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

  test.each([
    [200, { outcome: 'delivered' }],
    [400, { outcome: 'refused', reason: '127.0.0.1 answered 400', isPassing: false }],
  ])('has its outcome by a %i whose text comes sign by sign without end', async (status, outcome) => {
    const sink = await startSink((response) => {
      response.writeHead(status);
      const clock = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(clock));
    });
    const url = `${sink.url}/services/T/B/x`;
    expect(await send({ type: 'slack', url, allowPrivateNetwork: true })).toEqual(outcome);
  });

  test('is given up after twenty seconds by email', async () => {
    const smtp = await startSmtp();
    smtp.trouble = [{ at: 'END', does: 'hang', times: 1 }];
    expect(await send(email(smtp))).toEqual({
      outcome: 'unknown',
      reason: 'no answer from 127.0.0.1 within 20 s',
      isPassing: true,
    });
  });

  test('leaves a mail server after a second that has the mail and says no farewell', async () => {
    const smtp = await startSmtp();
    smtp.trouble = [{ at: 'QUIT', does: 'hang', times: 1 }];
    expect(await send(email(smtp))).toEqual({ outcome: 'delivered' });
    await vi.waitUntil(() => smtp.open === 0, { timeout: 5000 });
  });
});
