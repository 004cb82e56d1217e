import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type Listening, listen, type UnsentLimits } from '../../src/serve/listen.ts';

const large = new Uint8Array(8 * 1024 * 1024);
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** A server that counts how many answers it has started; `/large` is larger than what the system takes. */
async function counting(limits?: UnsentLimits): Promise<{ server: Listening; started: string[] }> {
  const started: string[] = [];
  const server = await listen(
    async ({ url }) => {
      const path = new URL(url).pathname;
      started.push(path);
      await sleep(5);
      return new Response(path === '/large' ? large : `${path}\n`);
    },
    { host: '127.0.0.1', port: 0, ...(limits && { limits }) },
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

test('a connection that sends many requests before it reads is ended', async () => {
  const asked = await counting();
  const socket = await asking(asked, ['/large', ...Array.from({ length: 700 }, () => '/b')]);
  socket.resume();
  await once(socket, 'close');
  expect(asked.started.length).toBeLessThanOrEqual(1);
  // Others do not notice.
  const response = await fetch(`http://127.0.0.1:${asked.server.address.port}/b`);
  expect(await response.text()).toBe('/b\n');
});

test('a connection of which nothing is read is ended, one that reads is not', async () => {
  const asked = await counting({ bytes: 1024 ** 3, stallMs: 500 });
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

test('all connections together hold a bounded number of bytes', async () => {
  const asked = await counting({ bytes: 3 * large.length, stallMs: 60_000 });
  const sockets = await Promise.all(Array.from({ length: 8 }, () => asking(asked, ['/large'])));
  let ended = 0;
  for (const socket of sockets) socket.once('close', () => (ended += 1));
  await sleep(2500);
  for (const socket of sockets) socket.resume();
  await expect.poll(() => ended).toBeGreaterThanOrEqual(5);
  expect(ended).toBeLessThan(8);
});
