import { createServer } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { PlatformError, RefusedAnswerError, UsageError } from '../../src/base/errors.ts';
import { parseBody } from '../../src/platform/body.ts';
import type { Client } from '../../src/platform/client.ts';
import { openHttp } from '../../src/platform/http.ts';
import { operations } from '../../src/platform/interface/operations.ts';
import { asJson, never, rejection, type TestEffects, testClient, testEffects } from '../support/http-client.ts';
import {
  answer,
  cutShort,
  dripping,
  gzipped,
  inTurn,
  type Reply,
  refuse,
  reset,
  startServer,
} from '../support/http-server.ts';
import { listen } from '../support/listen.ts';

const about = 'account acc_one, window 2026-10-01T00:00:00Z/2026-10-08T00:00:00Z, detail, page 3';
const values = { accountId: 'acc_one', startTime: '2026-10-01T00:00:00Z', endTime: '2026-10-08T00:00:00Z' };
const request = 'window 2026-10-01T00:00:00Z/2026-10-08T00:00:00Z, detail, page 3';
const tooLarge = 'Check the URL. If it is right, report this to the platform: no page of its API is that large.';
const nothingChanged =
  "The next run, within a day, loads what is missing. If it fails too, ask the platform's support for the reason.";

function ask(client: Client, signal = never()): Promise<unknown> {
  return client.call(operations.metrics, values, about, asJson, signal);
}

/** The error message of a call to a server with this reply. */
async function failure(reply: Reply): Promise<PlatformError> {
  const server = await startServer(reply);
  const error = await rejection(ask(testClient(server.url)));
  expect(error).toBeInstanceOf(PlatformError);
  return error as PlatformError;
}

/** The message about an answer of a server. */
function messageAbout(url: string, said: string, step = nothingChanged): string {
  return `account acc_one: metrics API of ${new URL(url).host} ${said} (${request}). ${step}`;
}

/** Effects that call back when a wait starts. */
function watched(effects: TestEffects, onSleep: () => void): TestEffects {
  return {
    ...effects,
    sleep(ms, signal) {
      const slept = effects.sleep(ms, signal);
      onSleep();
      return slept;
    },
  };
}

describe('a request', () => {
  test('has the token, version, user agent and accepted encoding', async () => {
    const server = await startServer(answer({}));
    await ask(testClient(server.url));
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.url).toBe(
      '/v0/accounts/acc_one/metrics?startTime=2026-10-01T00:00:00Z&endTime=2026-10-08T00:00:00Z',
    );
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer tok-1',
      'service-version': '2026-04-16',
      'user-agent': 'costbook/0.0.0-test',
      accept: 'application/json',
      'accept-encoding': 'gzip',
    });
  });

  test('uses the header names from the settings', async () => {
    const server = await startServer(answer({}));
    const settings = {
      authorizationHeader: 'X-Service-Authorization',
      versionHeader: 'Acme-Version',
      apiVersion: '2026-04-28',
    };
    await ask(testClient(server.url, { settings }));
    const headers = server.seen[0]?.headers;
    expect(headers).toMatchObject({ 'x-service-authorization': 'Bearer tok-1', 'acme-version': '2026-04-28' });
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('service-version');
  });

  test('uses the proxy of the environment, except for hosts in NO_PROXY', async () => {
    const server = await startServer(answer({ through: true }));
    const tunnels: string[] = [];
    const proxy = createServer().on('connect', (request, socket, head) => {
      tunnels.push(request.url ?? '');
      const onward = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.write(head);
        onward.pipe(socket).pipe(onward);
      });
      socket.on('error', () => onward.destroy());
      onward.on('error', () => socket.destroy());
    });
    const env = { HTTP_PROXY: `http://127.0.0.1:${await listen(proxy)}` };
    try {
      expect(await ask(testClient(server.url, { env }))).toEqual({ through: true });
      expect(tunnels).toEqual([new URL(server.url).host]);
      expect(await ask(testClient(server.url, { env: { ...env, NO_PROXY: '127.0.0.1' } }))).toEqual({ through: true });
      expect(tunnels).toHaveLength(1);
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });
});

describe('a response', () => {
  test('a gzipped body reaches the reader as it came, and is unpacked by parseBody', async () => {
    const server = await startServer(gzipped({ ok: 1 }));
    const raw = await testClient(server.url).call(operations.metrics, values, about, async (body) => body, never());
    expect(raw.gzipped).toBe(true);
    expect(raw.bytes).toEqual(gzipSync('{"ok":1}'));
    expect(await parseBody(raw)).toEqual({ ok: 1 });
  });

  test('a plain body reaches the reader as it came', async () => {
    const server = await startServer(answer('{ "ok" : 1 }'));
    const raw = await testClient(server.url).call(operations.metrics, values, about, async (body) => body, never());
    expect(raw).toMatchObject({ gzipped: false, bytes: Buffer.from('{ "ok" : 1 }') });
  });

  test.each(['GZIP', 'x-gzip', ' gzip '])('content-encoding %j is gzip', async (encoding) => {
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(gzipSync('[1]'));
    });
    expect(await ask(testClient(server.url))).toEqual([1]);
  });

  test('content-encoding identity is plain', async () => {
    const server = await startServer(answer([1], 200, { 'content-encoding': 'identity' }));
    expect(await ask(testClient(server.url))).toEqual([1]);
  });

  test('a byte order mark does not make a body unreadable', async () => {
    const server = await startServer(answer('\uFEFF{"ok":1}'));
    expect(await ask(testClient(server.url))).toEqual({ ok: 1 });
  });

  test('a slow body is read to its end', async () => {
    const server = await startServer(dripping({ slow: true }, 15));
    const effects = testEffects();
    expect(await ask(testClient(server.url, { effects }))).toEqual({ slow: true });
    expect(server.seen).toHaveLength(1);
    expect(effects.slept).toEqual([]);
  });

  test('an unsupported content-encoding is refused at once', async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-encoding': 'br' });
      response.end(brotliCompressSync('{}'));
    });
    const error = await rejection(ask(testClient(server.url)));
    expect(error).toMatchObject({
      message: messageAbout(server.url, 'sent a body with content-encoding br, though only gzip was offered'),
    });
    expect(server.seen).toHaveLength(1);
  });

  test('an error of the reader itself is thrown unchanged, without a retry', async () => {
    const server = await startServer(answer({}));
    for (const thrown of [new RefusedAnswerError('wrong window'), new TypeError('a bug')]) {
      const client = testClient(server.url);
      const read = async () => {
        throw thrown;
      };
      expect(await rejection(client.call(operations.metrics, values, about, read, never()))).toBe(thrown);
      expect(client.counters).toEqual({ requests: 1, retries: 0 });
    }
    expect(server.seen).toHaveLength(2);
  });
});

describe('temporary failures are retried', () => {
  test.each([
    ['a 500', refuse(500, 'internal', 'oops')],
    ['a 502 of a proxy', answer('<html>Bad Gateway</html>', 502, { 'content-type': 'text/html' })],
    ['a 503', refuse(503, 'busy', 'later')],
    ['a 408', refuse(408, 'timeout', 'too slow')],
    ['a 429', refuse(429, 'rate_limited', 'slow down')],
    ['a plain body that was cut short', cutShort({ data: 'x'.repeat(1000) })],
    ['a gzipped body that was cut short', gzipped({ data: 'x'.repeat(1000) }, 30)],
    ['a gzipped body without a byte', gzipped({}, 0)],
    ['a connection that was reset', reset],
    ['a 200 that is not JSON', answer('<html>Welcome</html>', 200, { 'content-type': 'text/html' })],
    ['a 200 that is half a JSON text', answer('{"data":[')],
    ['a 200 without a body', answer('')],
    ['a 200 that is not UTF-8', (response) => response.end(Buffer.from('7b2261223a22ff227d', 'hex'))],
  ] satisfies [string, Reply][])('%s, and the second answer is used', async (_, first) => {
    const server = await startServer(inTurn(first, answer({ second: true })));
    const effects = testEffects();
    const client = testClient(server.url, { effects });
    expect(await ask(client)).toEqual({ second: true });
    expect(server.seen).toHaveLength(2);
    expect(client.counters).toEqual({ requests: 1, retries: 1 });
    expect(effects.logged).toMatchObject([{ event: 'request.retried', fields: { about, attempt: 2, waitMs: 0 } }]);
  });

  test('the client gives up after eight attempts and says so', async () => {
    const server = await startServer(refuse(503, 'busy', 'later'));
    const error = await rejection(ask(testClient(server.url)));
    expect(error).toMatchObject({
      message: messageAbout(server.url, 'answered 503: busy: later, after 8 attempts'),
    });
    expect(error).toMatchObject({ status: 503, code: 'busy', exitCode: 3 });
    expect(server.seen).toHaveLength(8);
  });

  test('a truncated body is reported with its size, a body that is not JSON with its start', async () => {
    expect((await failure(gzipped({ data: 'x'.repeat(1000) }, 30))).message).toContain(
      'sent a body that cannot be unpacked (unexpected end of file; 30 bytes arrived): perhaps truncated in transit, after 8 attempts',
    );
    expect((await failure(answer('Welcome, guest'))).message).toContain(
      `sent a body of 14 characters that is not JSON, starting with "Welcome, guest", after 8 attempts (${request})`,
    );
    expect((await failure(answer(''))).message).toContain('sent a body of 0 characters that is not JSON, after');
  });

  test('a web page in place of JSON is named by its title, and somebody must act', async () => {
    const page = await failure(answer('<!DOCTYPE html><html><head><title> Sign in </title></head></html>'));
    expect(page.message).toContain('sent a web page in place of JSON, titled "Sign in", after 8 attempts');
    expect(page).toMatchObject({
      code: 'web_page',
      next: { who: 'Act', words: expect.stringContaining('login page') },
    });
    expect((await failure(answer('<html>Welcome</html>'))).message).toContain(
      'sent a web page in place of JSON, after',
    );
  });

  test('a gzip bomb is refused at once, with its own message', async () => {
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024));
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(bomb);
    });
    expect(await rejection(ask(testClient(server.url)))).toMatchObject({
      message: messageAbout(
        server.url,
        `sent a gzipped body of ${bomb.length} bytes that unpacks to more than 16 MiB, far more than a page`,
        tooLarge,
      ),
    });
    expect(server.seen).toHaveLength(1);
  });

  test('an endless plain body is refused at once', async () => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    let sent = 0;
    const server = await startServer((response) => {
      response.writeHead(200);
      const write = () => {
        while (!response.destroyed && sent < 500) {
          sent += 1;
          if (!response.write(chunk)) break;
        }
      };
      response.on('drain', write);
      write();
    });
    expect(await rejection(ask(testClient(server.url)))).toMatchObject({
      message: messageAbout(server.url, `sent a body of more than 16 MiB, far more than a page`, tooLarge),
    });
    expect(server.seen).toHaveLength(1);
    expect(sent).toBeLessThan(500);
  });

  test('a body that trickles in is abandoned early, after three attempts', async () => {
    const server = await startServer((response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('1'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const begun = performance.now();
    const error = await rejection(ask(testClient(server.url, { paceMs: 300 })));
    expect(error).toMatchObject({
      code: 'slow',
      message: expect.stringMatching(
        /API of 127\.0\.0\.1:\d+ sent a body that arrived too slowly: \d+ bytes in 0 s, expected at least 256 a second, after 3 attempts/,
      ),
    });
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(server.seen).toHaveLength(3);
  });

  test('a body that stalls on a poor link is read to its end', async () => {
    const text = JSON.stringify({ ok: 'x'.repeat(600) });
    const server = await startServer((response) => {
      response.writeHead(200);
      let sent = 0;
      const send = setInterval(() => {
        response.write(text.slice(sent, sent + 40));
        sent += 40;
        if (sent < text.length) return;
        clearInterval(send);
        response.end();
      }, 60); // about 650 bytes a second
    });
    expect(await ask(testClient(server.url, { paceMs: 200 }))).toEqual(JSON.parse(text));
  });

  test.each([
    ['nested brackets', '['.repeat(1_000_000), 'JSON nested deeper than 64'],
    ['empty objects', `[${'{},'.repeat(2_000_000)}{}]`, 'JSON with more than 1500000 values'],
  ])('a body of %s is refused before it is parsed, without a retry', async (_, body, found) => {
    const server = await startServer((response) => response.end(body));
    const error = await rejection(ask(testClient(server.url)));
    expect(error).toMatchObject({ code: 'too_large', message: expect.stringContaining(found) });
    expect(server.seen).toHaveLength(1);
  });

  test('a body that never ends is abandoned after three attempts', async () => {
    const server = await startServer((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await rejection(ask(testClient(server.url, { settings: { attemptTimeoutMs: 400 } })))).toMatchObject({
      message: `account acc_one: no whole answer from ${new URL(server.url).host} within 400 ms, after 3 attempts (${request}). ${nothingChanged}`,
      code: 'timeout',
    });
    expect(server.seen).toHaveLength(3);
  });

  test.each([
    ['headers that arrive forever', 'HTTP/1.1 200 OK\r\nx-slow: ', 'a'],
    ['endless early hints', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
  ])('%s are abandoned after three attempts', async (_, head, chunk) => {
    const server = await startServer((response) => {
      const { socket } = response.req;
      socket.write(head);
      const timer = setInterval(() => socket.write(chunk), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const error = await rejection(ask(testClient(server.url, { settings: { attemptTimeoutMs: 150 } })));
    expect(error).toMatchObject({
      message: expect.stringMatching(/no whole answer from \S+ within 150 ms, after 3 attempts/),
    });
    expect(server.seen).toHaveLength(3);
  });

  test('a silent proxy is abandoned, and the process can end', async () => {
    let connections = 0;
    const proxy = createServer().on('connect', () => {
      connections += 1;
    });
    const http = openHttp({ connections: 4, env: { HTTP_PROXY: `http://127.0.0.1:${await listen(proxy)}` } });
    try {
      const signal = AbortSignal.timeout(300);
      const sent = http.send({ method: 'GET', url: 'http://costbook.invalid/', headers: {}, maxBodyMib: 1, signal });
      expect(await rejection(sent)).toBe(signal.reason);
      expect(connections).toBe(1);
      await http.close();
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });

  test('endless headers are abandoned', async () => {
    const server = await startServer((response) => {
      response.req.socket.end(`HTTP/1.1 200 OK\r\n${'x-more: and more\r\n'.repeat(100_000)}\r\n{}`);
    });
    expect(await rejection(ask(testClient(server.url)))).toMatchObject({
      message: expect.stringMatching(/^account acc_one: no answer from 127\.0\.0\.1:\d+: Headers Overflow Error/),
    });
    expect(server.seen).toHaveLength(8);
  });

  test('an unknown host name is reported with host and port', async () => {
    const error = await rejection(ask(testClient('http://costbook.invalid')));
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^account acc_one: no answer from costbook\.invalid:80: host name not found \((ENOTFOUND|EAI_AGAIN)\), after 4 attempts\. /,
      ),
    });
  });

  test('https to a plain http server is reported at once', async () => {
    const server = await startServer(answer({}));
    const { host } = new URL(server.url);
    const effects = testEffects();
    expect(await rejection(ask(testClient(`https://${host}`, { effects })))).toMatchObject({
      message: expect.stringMatching(
        new RegExp(
          `^account acc_one: no answer from ${host}: it does not speak TLS as expected \\(\\w+\\)\\. Check the URL: it may say https`,
        ),
      ),
    });
    expect(effects.slept).toEqual([]);
  });

  test('an unreachable host is abandoned after four attempts', async () => {
    const server = await startServer(answer({}));
    await server.close();
    const effects = testEffects({ random: () => 1 });
    const error = await rejection(ask(testClient(server.url, { effects })));
    expect(error).toMatchObject({
      message: `account acc_one: no answer from ${new URL(server.url).host}: connection refused (ECONNREFUSED), after 4 attempts. Check whether the platform is up. If it is, check its address (url in costbook.yaml, or COSTBOOK_URL), the network and the proxy settings.`,
    });
    expect(error).toMatchObject({ status: undefined, code: 'unreachable' });
    expect(effects.slept).toEqual([500, 1000, 2000]);
  });
});

describe('Retry-After', () => {
  test('as a date is relative to the date of the answer', async () => {
    const headers = { 'retry-after': 'Tue, 01 Jan 2030 00:00:42 GMT', date: 'Tue, 01 Jan 2030 00:00:00 GMT' };
    const server = await startServer(inTurn(refuse(503, 'busy', 'later', headers), answer({})));
    const effects = testEffects();
    await ask(testClient(server.url, { effects }));
    expect(effects.slept).toEqual([42_000]);
  });

  test('beyond the budget gives up at once', async () => {
    const server = await startServer(refuse(429, 'rate_limited', 'tomorrow', { 'retry-after': '86400' }));
    const effects = testEffects();
    expect(await rejection(ask(testClient(server.url, { effects })))).toMatchObject({
      message: messageAbout(
        server.url,
        'answered 429: rate_limited: tomorrow; it asks to wait 24.0 hours, longer than a run does (15 minutes)',
      ),
    });
    expect(server.seen).toHaveLength(1);
    expect(effects.slept).toEqual([]);
  });

  test('postpones a request more often than it may fail, until the waiting budget is used up', async () => {
    const server = await startServer(refuse(503, 'busy', 'later', { 'retry-after': '60' }));
    const effects = testEffects();
    await rejection(ask(testClient(server.url, { effects })));
    expect(effects.slept).toEqual(Array(15).fill(60_000));
    expect(server.seen).toHaveLength(16);
  });

  test('refusals that claim to pass are waited for a minute in all, by all clients of an account', async () => {
    const refused: Reply = (response) =>
      void response
        .writeHead(403, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { code: 'FORBIDDEN', message: 'later', retryable: true, status: 403 } }));
    const server = await startServer(refused);
    const effects = testEffects({ random: () => 1 });
    const patience = { wastedMs: 0 };
    for (let request = 1; request <= 40; request += 1) {
      const client = testClient(server.url, { effects, settings: { patience } });
      expect(await rejection(ask(client))).toMatchObject({ status: 403 });
    }
    const waited = effects.slept.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(45_000);
    expect(waited).toBeLessThanOrEqual(60_000);
    expect(server.seen.length).toBeLessThan(70);
  });

  test.each(['0', 'Thu, 01 Jan 1970 00:00:00 GMT', '-1', '1.5'])('of %s does not retry forever', async (retryAfter) => {
    const enough = new AbortController();
    const server = await startServer((response, request) => {
      if (server.seen.length > 40) enough.abort(new Error('more than 40 requests'));
      refuse(503, 'busy', 'now', { 'retry-after': retryAfter })(response, request);
    });
    const error = await rejection(ask(testClient(server.url), enough.signal));
    expect(error).toMatchObject({ status: 503 });
    expect(server.seen.length).toBeLessThanOrEqual(40);
  });
});

describe('a 429 pauses the whole client', () => {
  test('a request made during the pause is sent after it', async () => {
    const server = await startServer(inTurn(refuse(429, 'rate_limited', 'slow down'), answer({})));
    let waiting = () => {};
    const paused = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    const effects = watched(testEffects({ random: () => 0.3, sleeps: true }), () => waiting());
    const client = testClient(server.url, { effects });
    const first = ask(client);
    await paused;
    await Promise.all([first, ask(client), ask(client)]);
    expect(server.seen).toHaveLength(4);
    const [refused = 0, ...later] = server.seen.map(({ atMs }) => atMs);
    // The pause is 150 ms from when the refusal came in.
    for (const atMs of later) expect(atMs - refused).toBeGreaterThanOrEqual(145);
  });

  test('requests that wait under a rate limit are sent after it, too', async () => {
    const server = await startServer(inTurn(refuse(429, 'rate_limited', 'slow down'), answer({})));
    const effects = testEffects({ random: () => 0.8, sleeps: true });
    const client = testClient(server.url, { effects, settings: { maxRequestsPerMinute: 600 } });
    await Promise.all([ask(client), ask(client), ask(client)]);
    const [refused = 0, ...later] = server.seen.map(({ atMs }) => atMs);
    expect(later).toHaveLength(3);
    for (const atMs of later) expect(atMs - refused).toBeGreaterThanOrEqual(395);
  });
});

describe('maxRequestsPerMinute', () => {
  test('spaces requests that waited out a pause together', async () => {
    const server = await startServer(inTurn(refuse(429, 'rate_limited', 'slow down'), answer({})));
    const effects = testEffects({ random: () => 0.8, sleeps: true });
    const client = testClient(server.url, { effects, settings: { maxRequestsPerMinute: 600 } });
    await Promise.all([ask(client), ask(client), ask(client)]);
    const [, first = 0, , last = 0] = server.seen.map(({ atMs }) => atMs);
    // One in 100 ms: two such gaps between the first and the third after the pause.
    expect(last - first).toBeGreaterThanOrEqual(150);
  });

  test('spaces simultaneous requests', async () => {
    const server = await startServer(answer({}));
    const effects = testEffects({ sleeps: true });
    const client = testClient(server.url, { effects, settings: { maxRequestsPerMinute: 1500 } });
    const began = Date.now();
    await Promise.all([ask(client), ask(client), ask(client), ask(client)]);
    // One in 40 ms: the n-th comes in 40 ms × (n - 1) after the first was sent, or later; timers waver by one.
    for (const [index, { atMs }] of server.seen.entries()) expect(atMs - began).toBeGreaterThanOrEqual(40 * index - 2);
  });

  test('lets the first one through at once', async () => {
    const server = await startServer(answer({}));
    const effects = testEffects();
    await ask(testClient(server.url, { effects, settings: { maxRequestsPerMinute: 1 } }));
    expect(effects.slept).toEqual([]);
  });

  test('counts retries', async () => {
    const server = await startServer(inTurn(refuse(500, 'internal', 'oops'), answer({})));
    const effects = testEffects();
    await ask(testClient(server.url, { effects, settings: { maxRequestsPerMinute: 1 } }));
    expect(effects.slept[0]).toBe(0); // our own back-off, jittered to nothing
    expect(effects.slept[1]).toBeGreaterThan(55_000);
    expect(effects.slept[1]).toBeLessThanOrEqual(60_000);
  });
});

describe('a 401', () => {
  const refused = 'answered 401: unauthorized: Invalid credentials';
  const check =
    "Replace the token in COSTBOOK_TOKEN (or the account's token, tokenFile or tokenCommand), which the platform refuses (expired, revoked or wrong).";

  /** Takes the tokens given, and none else. */
  function taking(...tokens: string[]): Reply {
    return (response, request) => {
      const isGood = tokens.some((token) => request.headers.authorization === `Bearer ${token}`);
      const reply = isGood ? answer({ good: true }) : refuse(401, 'unauthorized', 'Invalid credentials');
      reply(response, request);
    };
  }
  /** Gives tok-1, tok-2, … and counts how often it was asked. */
  function tokenSource(): { token: () => Promise<string>; asked: () => number } {
    let asked = 0;
    return {
      asked: () => asked,
      token: async () => {
        asked += 1;
        return `tok-${asked}`;
      },
    };
  }

  test('is final for a fixed token', async () => {
    const server = await startServer(taking());
    const { token, asked } = tokenSource();
    const error = await rejection(ask(testClient(server.url, { settings: { token } })));
    // Every request fails in the same way, so none is named.
    const message = messageAbout(server.url, refused, check).replace(` (${request})`, '');
    expect(error).toMatchObject({ message });
    expect(server.seen).toHaveLength(1);
    expect(asked()).toBe(1);
  });

  test('fetches the token again if its source may have another', async () => {
    const server = await startServer(taking('tok-2'));
    const { token, asked } = tokenSource();
    const effects = testEffects();
    const client = testClient(server.url, { effects, settings: { token, canRefreshToken: true } });
    expect(await ask(client)).toEqual({ good: true });
    expect(await ask(client)).toEqual({ good: true });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer tok-1',
      'Bearer tok-2',
      'Bearer tok-2',
    ]);
    expect(asked()).toBe(2);
    expect(effects.slept).toEqual([]);
    expect(client.counters).toEqual({ requests: 2, retries: 1 });
  });

  test('names the setting of the token, if known', async () => {
    const server = await startServer(taking());
    const error = await rejection(
      ask(testClient(server.url, { settings: { tokenSetting: 'tokenFile (costbook.yaml:2:12)' } })),
    );
    expect(error).toMatchObject({
      message: expect.stringContaining(
        'Replace the token in tokenFile (costbook.yaml:2:12), which the platform refuses',
      ),
    });
  });

  test('is final if the new token is refused as well', async () => {
    const server = await startServer(taking());
    const { token, asked } = tokenSource();
    const error = await rejection(ask(testClient(server.url, { settings: { token, canRefreshToken: true } })));
    expect(error).toMatchObject({ message: expect.stringContaining('Invalid credentials, after 2 attempts') });
    expect(server.seen).toHaveLength(2);
    expect(asked()).toBe(2);
  });

  test('of several requests at once fetches the token again once', async () => {
    const server = await startServer(taking('tok-2'));
    const { token, asked } = tokenSource();
    const client = testClient(server.url, { settings: { token, canRefreshToken: true } });
    await Promise.all([ask(client), ask(client), ask(client), ask(client)]);
    expect(asked()).toBe(2);
  });

  test('many requests share one token fetch', async () => {
    const server = await startServer(taking('tok-1'));
    const { token, asked } = tokenSource();
    const client = testClient(server.url, { settings: { token, canRefreshToken: true } });
    await Promise.all([ask(client), ask(client)]);
    await ask(client);
    expect(asked()).toBe(1);
  });

  test('a failing token source is reported unchanged, and nothing is sent', async () => {
    const server = await startServer(taking('tok-1'));
    const broken = new UsageError('tokenCommand ended with 1');
    const token = async () => {
      throw broken;
    };
    expect(await rejection(ask(testClient(server.url, { settings: { token } })))).toBe(broken);
    expect(server.seen).toHaveLength(0);
  });
});

describe('a token source that failed', () => {
  /** Fails the first time, if requested. */
  function failingOnce(): { token: () => Promise<string>; fail: () => void; asked: () => number } {
    let asked = 0;
    let fail = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = () => reject(new UsageError('tokenCommand: the agent is locked'));
    });
    const token = () => {
      asked += 1;
      return asked === 1 ? failed : Promise.resolve('tok-2');
    };
    return { token, fail: () => fail(), asked: () => asked };
  }

  test('is tried again by the next request', async () => {
    const server = await startServer(answer({ good: true }));
    const { token, fail, asked } = failingOnce();
    const client = testClient(server.url, { settings: { token } });
    fail();
    expect(await rejection(ask(client))).toBeInstanceOf(UsageError);
    expect(await ask(client)).toEqual({ good: true });
    expect(await ask(client)).toEqual({ good: true });
    expect(asked()).toBe(2);
    expect(server.seen).toHaveLength(2);
  });

  test('fails once for all waiting requests', async () => {
    const server = await startServer(answer({ good: true }));
    const { token, fail, asked } = failingOnce();
    const client = testClient(server.url, { settings: { token } });
    const storm = Promise.allSettled(Array.from({ length: 50 }, () => ask(client)));
    fail();
    expect((await storm).map(({ status }) => status)).toEqual(Array(50).fill('rejected'));
    expect(asked()).toBe(1);
    expect(server.seen).toHaveLength(0);
  });
});

describe('plain HTTP', () => {
  const warning = 'token.sent_unencrypted';

  test.each(['http://api.example.com', 'http://10.0.0.5:8080/base', 'http://127.example.com'])(
    'to %s causes a warning, without any request',
    (url) => {
      const effects = testEffects();
      testClient(url, { effects });
      expect(effects.logged).toEqual([{ event: warning, fields: { host: new URL(url).host } }]);
    },
  );

  test.each(['https://api.example.com', 'http://localhost:4317', 'http://127.0.0.1:1', 'http://[::1]:4317'])(
    'to %s causes no warning',
    (url) => {
      const effects = testEffects();
      testClient(url, { effects });
      expect(effects.logged).toEqual([]);
    },
  );
});

describe('a proxy in the environment', () => {
  test.each(['proxy.example.com:3128', 'nonsense', 'http://'])('%j is not an address', (HTTPS_PROXY) => {
    expect(() => openHttp({ connections: 1, env: { HTTPS_PROXY } })).toThrow(
      new UsageError(
        'HTTPS_PROXY: not an http or https address, expected one such as http://proxy.example.com:3128; correct or unset it',
      ),
    );
  });
});

const notOurs = "Check the URL: the platform's API does not answer like this.";
const moved =
  'If the platform has moved, set url to its new address. Costbook follows no redirect: it would send the token to another host.';

describe('a final failure says what was requested and what to do', () => {
  test.each<[said: string, todo: string, Reply]>([
    [
      '400: invalid_request: resolution hourly allows at most 7 days',
      'Report this: the platform rejects the request. This is a bug in Costbook, or the platform has changed its rules.',
      refuse(400, 'invalid_request', 'resolution hourly allows at most 7 days'),
    ],
    [
      '400: invalid_api_version: unknown version 2020-01-01, valid: 2026-04-16',
      'Set apiVersion (COSTBOOK_API_VERSION) to a version that the platform supports.',
      refuse(400, 'invalid_api_version', 'unknown version 2020-01-01, valid: 2026-04-16'),
    ],
    [
      '403: forbidden: Access denied',
      'Ask an account admin for a token that may read the metrics of this account: this one has no access.',
      refuse(403, 'forbidden', 'Access denied'),
    ],
    [
      '403: Access denied',
      'Ask an account admin for a token that may read the metrics of this account: this one has no access.',
      refuse(403, 'Access denied', 'Access denied'),
    ],
    [
      '403: Access denied to acc_one',
      'Ask an account admin for a token that may read the metrics of this account: this one has no access.',
      refuse(403, 'access_denied', 'Access denied to acc_one'),
    ],
    ['410: gone [31m away', notOurs, answer({ error: 'gone\u001b[31m\r\naway' }, 410)],
    [
      '404: not_found: No such account',
      'Check the account ID and the URL.',
      refuse(404, 'not_found', 'No such account'),
    ],
    ['404', 'Check the account ID and the URL.', answer('', 404)],
    ['302', moved, answer('', 302, { location: '/elsewhere' })],
    [
      '301: a redirect to https://new.example.com',
      moved,
      answer('', 301, { location: 'https://new.example.com/v0?token=secret' }),
    ],
    ['204', notOurs, (response) => response.writeHead(204).end()],
    ['407', 'Set the user and password of the proxy in HTTP_PROXY or HTTPS_PROXY.', answer('', 407)],
    ['410: gone', notOurs, answer({ error: 'gone' }, 410)],
  ])('%s', async (said, todo, reply) => {
    const server = await startServer(reply);
    const error = await rejection(ask(testClient(server.url)));
    expect(error).toMatchObject({ message: messageAbout(server.url, `answered ${said}`, todo) });
    expect(server.seen).toHaveLength(1);
  });

  test.each<[string, Reply]>([
    ['no body', answer('', 400)],
    ['HTML', answer('<html>', 400)],
    ['a list', answer([], 400)],
    ['null', answer('null', 400)],
    ['a number as error', answer({ error: 5 }, 400)],
    ['a body that claims to be gzip but is not', answer('hello', 400, { 'content-encoding': 'gzip' })],
    ['an encoding that was not offered', answer('hello', 400, { 'content-encoding': 'br' })],
  ])('an error body that is %s leaves only the status in the message', async (_, reply) => {
    const error = await failure(reply);
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/^account acc_one: metrics API of \S+ answered 400 \(window /);
  });

  test('a gzipped error body is read', async () => {
    const bytes = gzipSync(JSON.stringify({ error: 'invalid_request', message: 'limit' }));
    const error = await failure((response) => {
      response.writeHead(400, { 'content-encoding': 'gzip' });
      response.end(bytes);
    });
    expect(error).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(error.message).toContain('answered 400: invalid_request: limit (');
  });

  test('an error body that echoes a whole request is shortened', async () => {
    const error = await failure(refuse(400, 'invalid_request', 'x'.repeat(1_000_000)));
    // Cut between words, so that half a token in the platform's words is never shown.
    expect(error.message).toContain('answered 400: invalid_request:… (');
    expect(error.message.length).toBeLessThan(1000);
  });
});

describe('an abort ends a call at once with its own reason', () => {
  const reason = new Error('the person at the keyboard left');

  test('before anything is sent', async () => {
    const server = await startServer(answer({}));
    expect(await rejection(ask(testClient(server.url), AbortSignal.abort(reason)))).toBe(reason);
    expect(server.seen).toHaveLength(0);
  });

  test('while waiting for the answer', async () => {
    const abort = new AbortController();
    const server = await startServer(() => abort.abort(reason));
    expect(await rejection(ask(testClient(server.url), abort.signal))).toBe(reason);
    expect(server.seen).toHaveLength(1);
  });

  test('in the middle of a body', async () => {
    const abort = new AbortController();
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"data":', () => abort.abort(reason));
    });
    expect(await rejection(ask(testClient(server.url), abort.signal))).toBe(reason);
  });

  test.each([503, 429])('while waiting to retry after a %i', async (status) => {
    const server = await startServer(refuse(status, 'busy', 'later', { 'retry-after': '600' }));
    const abort = new AbortController();
    const effects = watched(testEffects({ sleeps: true }), () => abort.abort(reason));
    const began = Date.now();
    expect(await rejection(ask(testClient(server.url, { effects }), abort.signal))).toBe(reason);
    expect(Date.now() - began).toBeLessThan(5000);
    expect(server.seen).toHaveLength(1);
  });

  test('while waiting for its turn', async () => {
    const server = await startServer(answer({}));
    const abort = new AbortController();
    const effects = watched(testEffects({ sleeps: true }), () => abort.abort(reason));
    const client = testClient(server.url, { effects, settings: { maxRequestsPerMinute: 1 } });
    await ask(client);
    expect(await rejection(ask(client, abort.signal))).toBe(reason);
    expect(server.seen).toHaveLength(1);
  });
});
