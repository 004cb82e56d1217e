import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newProject, runCli } from '../support/project.ts';

const now = '2026-09-05T12:30:00Z';
/** Bytes in a body whose pieces would fill the heap below if each were kept as it comes. */
const pieces = 2_000_000;
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=128' };

/** Says what it is told to on every connection, as bytes. */
let said: Buffer = Buffer.alloc(0);
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('data', () => socket.end(said));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function ingest(env: Record<string, string> = {}) {
  const address = server.address();
  return runCli(['ingest', '--now', now, '--dir', await newProject()], {
    COSTBOOK_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    COSTBOOK_TOKEN: 'tok-1',
    COSTBOOK_ACCOUNT: 'acc_one',
    ...env,
  });
}

describe('a platform that means us no good', () => {
  test('cannot fill memory with a body that comes byte by byte', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    said = Buffer.from(`${head}${'1\r\n \r\n'.repeat(pieces)}2\r\n{}\r\n0\r\n\r\n`);
    const { exitCode, stdout } = await ingest(smallHeap);
    expect(exitCode).toBe(4);
    expect(stdout).toContain('the answer is no metrics response: startTime');
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
