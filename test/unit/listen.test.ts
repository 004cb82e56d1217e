import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type ClientLimits, type Listening, listen } from '../../src/base/listen.ts';
import { serveHealth } from '../../src/jobs/index.ts';

const large = new Uint8Array(8 * 1024 * 1024);
const usual: ClientLimits = { bytes: 1024 ** 3, stallMs: 60_000, connections: 512 };
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** A server that counts how many answers it has started; `/large` is larger than what the system takes. */
async function counting(limits = usual): Promise<{ server: Listening; started: string[] }> {
  const started: string[] = [];
  const server = await listen(
    async ({ url: path = '' }, response) => {
      started.push(path);
      if (path === '/never') return;
      await sleep(5);
      response.end(path === '/large' ? large : `${path}\n`);
    },
    { host: '127.0.0.1', port: 0, option: '--port', limits },
  );
  opened.push(server);
  return { server, started };
}

/** A connection that sends these requests at once, and reads nothing until it is told to. */
async function asking({ server }: { server: Listening }, paths: readonly string[]): Promise<Socket> {
  const socket = connect(server.address.port, '127.0.0.1');
  opened.push({ close: () => socket.destroy() });
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect');
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  return socket;
}

test('a connection has one answer at a time, in the order of its requests', async () => {
  const asked = await counting();
  const socket = await asking(asked, ['/large', '/b', '/c']);
  await sleep(200);
  expect(asked.started).toEqual(['/large']);
  let text = '';
  socket.on('data', (chunk) => {
    text = (text + chunk.toString('latin1')).slice(-600);
  });
  socket.resume();
  await expect.poll(() => text).toMatch(/\/b\n[\s\S]*\/c\n$/);
  expect(asked.started).toEqual(['/large', '/b', '/c']);
});

test.each([
  ['usual ones', 'Host: x\r\n'],
  ['those that expect something', 'Host: x\r\nExpect: x\r\n'],
  ['those without a host', ''],
])(
  'a connection that sends many requests before it reads is ended, and the others of them are not even parsed: %s',
  async (_, fields) => {
    const asked = await counting();
    let parsed = 0;
    const count = () => {
      parsed += 1;
    };
    subscribe('http.server.request.start', count);
    const socket = await asking(asked, ['/large']);
    socket.write(`GET /b HTTP/1.1\r\n${fields}\r\n`.repeat(700));
    socket.resume();
    await once(socket, 'close');
    unsubscribe('http.server.request.start', count);
    expect(asked.started.length).toBeLessThanOrEqual(1);
    expect(parsed).toBeLessThanOrEqual(4);
    // Others do not notice.
    const response = await fetch(`http://127.0.0.1:${asked.server.address.port}/b`);
    expect(await response.text()).toBe('/b\n');
  },
);

test.each(['/never', '/b'])('a body in pieces of single bytes ends its connection: %s', async (path) => {
  const socket = await asking(await counting(), []);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const sending = setInterval(() => socket.write('1\r\na\r\n'.repeat(500)), 10);
  socket.once('close', () => clearInterval(sending)).resume();
  await once(socket, 'close', { signal: AbortSignal.timeout(8000) });
});

test('a body of unknown length arrives in usual pieces', async () => {
  let bytes = 0;
  const server = await listen(
    async (incoming, response) => {
      for await (const piece of incoming) bytes += piece.length;
      response.end('all\n');
    },
    { host: '127.0.0.1', port: 0, option: '--port' },
  );
  opened.push(server);
  const body = new ReadableStream({
    start(controller) {
      for (let piece = 0; piece < 4000; piece += 1) controller.enqueue(new Uint8Array(64));
      controller.close();
    },
  });
  const response = await fetch(server.url, { method: 'POST', body, duplex: 'half' });
  expect(await response.text()).toBe('all\n');
  expect(bytes).toBe(256_000);
});

test('a connection of which nothing is read is ended, one that reads is not', async () => {
  const asked = await counting({ ...usual, stallMs: 500 });
  const stalled = await asking(asked, ['/large']);
  const reading = await asking(asked, ['/large']);
  let bytes = 0;
  reading.on('data', (chunk) => {
    bytes += chunk.length;
  });
  reading.resume();
  await expect.poll(() => bytes).toBeGreaterThan(large.length);
  await sleep(2500);
  expect(reading.destroyed).toBe(false);
  stalled.resume();
  await once(stalled, 'close');
});

test('a connection that reads slowly gets its whole answer, though most of it is unsent for long', async () => {
  const asked = await counting({ ...usual, stallMs: 1000 });
  const socket = await asking(asked, ['/large']);
  let bytes = 0;
  const reading = setInterval(() => {
    bytes += (socket.read() as Buffer | null)?.length ?? 0;
  }, 30);
  opened.push({ close: () => clearInterval(reading) });
  await expect.poll(() => bytes, { timeout: 20_000, interval: 100 }).toBeGreaterThan(large.length);
}, 30_000);

test('all connections together hold a bounded number of bytes', async () => {
  const asked = await counting({ ...usual, bytes: 3 * large.length });
  const sockets = await Promise.all(Array.from({ length: 8 }, () => asking(asked, ['/large'])));
  let ended = 0;
  for (const socket of sockets) socket.once('close', () => (ended += 1));
  await sleep(2500);
  for (const socket of sockets) socket.resume();
  await expect.poll(() => ended).toBeGreaterThanOrEqual(5);
  expect(ended).toBeLessThan(8);
});

test('connections that send nothing, or whose answers are not read, lock nobody out; those that are answered stay', async () => {
  const asked = await counting({ ...usual, connections: 20 });
  const answered = await asking(asked, ['/never']);
  await expect.poll(() => asked.started).toEqual(['/never']);
  const ask = () =>
    fetch(`${asked.server.url}/b`, { headers: { connection: 'close' } }).then((response) => response.text());
  for (const paths of [[], ['/b'], ['/large']]) {
    await Promise.all(Array.from({ length: 60 }, () => asking(asked, paths)));
    expect(await ask()).toBe('/b\n');
  }
  expect(answered.destroyed).toBe(false);
});

const health = { '/metrics': async () => ({ status: 200, body: 'cost 1\n'.repeat(2000) }) };

test('the addresses for monitors hold as little for a client that does not read', async () => {
  const server = await serveHealth({ host: '127.0.0.1', port: 0 }, health, (text) => text);
  opened.push(server);
  const socket = await asking(
    { server },
    Array.from({ length: 700 }, () => '/metrics'),
  );
  await sleep(100);
  socket.resume();
  await once(socket, 'close');
  expect(socket.bytesRead).toBeLessThan(100_000);
});

test.each([
  ['127.0.0.1', 'localhost:1', 200],
  ['127.0.0.1', '[::1]', 200],
  ['127.0.0.1', 'rebound.example.com', 421],
  ['127.0.0.1', 'localhost.example.com', 421],
  ['0.0.0.0', 'monitor.example.com', 200],
])('metrics at %s answer to the name %s with %i', async (host, name, status) => {
  const server = await serveHealth({ host, port: 0 }, health, (text) => text);
  opened.push(server);
  const socket = connect(server.address.port, '127.0.0.1');
  opened.push({ close: () => socket.destroy() });
  socket.write(`GET /metrics HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});
