import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newProject, runCli } from '../support/project.ts';

const now = '2026-09-05T12:30:00Z';

/** Says what it is told to on every connection, as bytes. */
let said: Buffer = Buffer.alloc(0);
const sockets = new Set<Socket>();
let requests = 0;
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('data', () => {
    requests += 1;
    socket.end(said);
  });
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function ingest() {
  const address = server.address();
  return runCli(['ingest', '--now', now, '--dir', await newProject()], {
    COSTBOOK_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    COSTBOOK_TOKEN: 'tok-1',
    COSTBOOK_ACCOUNT: 'acc_one',
  });
}

describe('a platform that means us no good', () => {
  test.each([
    ['plain', Buffer.alloc(300_000_000, ' '), ''],
    ['gzipped', gzipSync(Buffer.alloc(300_000_000, ' ')), 'content-encoding: gzip\r\n'],
  ])('cannot fill memory with a %s body, and is asked for it once', async (_, body, header) => {
    const before = requests;
    const head = Buffer.from(`HTTP/1.1 200 OK\r\n${header}content-length: ${body.length}\r\n\r\n`);
    said = Buffer.concat([head, body]);
    const { exitCode, stdout } = await ingest();
    expect(exitCode).toBe(3);
    expect(stdout).toContain('more than 64 MiB, far more than a page');
    expect(requests - before).toBe(1);
  });

  test('cannot give a cursor that no URL carries', async () => {
    const body = JSON.stringify({
      startTime: '2016-09-01T00:00:00Z',
      endTime: '2026-09-05T12:00:00Z',
      resolution: 'monthly',
      data: [],
      meta: { hasMore: true, nextCursor: 'c'.repeat(10_000_000) },
    });
    said = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    const { exitCode, stdout, stderr } = await ingest();
    expect(exitCode).toBe(4);
    expect(stdout).toContain('meta.nextCursor has 10000000 characters, expected at most 8192');
    expect(stdout.length + stderr.length).toBeLessThan(10_000);
  });
});
