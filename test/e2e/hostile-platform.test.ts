// Second tier: Waits for time limits of a platform that never answers.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, newProject, projectWithPlatform, runCli, startCli } from '../support/project.ts';
import { series } from '../support/scripted-platform.ts';
import { runOnTerminal } from '../support/terminal.ts';

const now = '2026-09-05T12:30:00Z';

/** Sends the given bytes on every connection. */
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

/** Makes a process say at its end how much memory it took at most. */
const sayPeak = 'process.on("exit",()=>process.stderr.write("peak "+process.resourceUsage().maxRSS+" KiB\\n"))';

async function ingest() {
  const address = server.address();
  const ended = await startCli(['ingest', '--now', now, '--dir', await newProject()], {
    COSTBOOK_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    COSTBOOK_TOKEN: 'tok-1',
    COSTBOOK_ACCOUNT: 'acc_one',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(sayPeak)}`,
  }).ended;
  return { ...ended, peakMb: Number(/^peak (\d+) KiB$/m.exec(ended.stderr)?.[1]) / 1024 };
}

/** A page of the first question of an ingest whose member `more` is this. */
function pageWith(more: string): Buffer {
  const page = {
    startTime: '2016-09-01T00:00:00Z',
    endTime: '2026-09-05T12:00:00Z',
    resolution: 'monthly',
    data: [],
    meta: { hasMore: false, nextCursor: '' },
  };
  return Buffer.from(`${JSON.stringify(page).slice(0, -1)},"more":${more}}`);
}

/** Objects whose members all have different names: the most memory for their length. */
function objectsOfNewNames(objects: number): string {
  const one = (index: number) =>
    `{${Array.from({ length: 9000 }, (_, member) => `"${(index * 9000 + member).toString(36)}":1`).join(',')}}`;
  return `[${Array.from({ length: objects }, (_, index) => one(index)).join(',')}]`;
}

describe('a hostile platform', () => {
  test.each([
    ['plain', Buffer.alloc(100_000_000, ' '), ''],
    ['gzipped', gzipSync(Buffer.alloc(100_000_000, ' ')), 'content-encoding: gzip\r\n'],
  ])('cannot fill memory with a %s body, which is fetched once', async (_, body, header) => {
    const before = requests;
    const head = Buffer.from(`HTTP/1.1 200 OK\r\n${header}content-length: ${body.length}\r\n\r\n`);
    said = Buffer.concat([head, body]);
    const { exitCode, stdout } = await ingest();
    expect(exitCode).toBe(3);
    expect(stdout).toContain('more than 16 MiB, far more than a page');
    expect(requests - before).toBe(1);
  });

  test.each([
    ['nested brackets', '['.repeat(15_000_000), 'JSON nested deeper than 64'],
    ['empty objects', `[${'{},'.repeat(5_000_000)}{}]`, 'JSON with more than 1500000 values'],
    ['one object with a million members', objectsOfNewNames(112).replaceAll('},{', ','), 'more than 10000 members'],
    ['a million names', objectsOfNewNames(120), undefined],
    ['one long text', JSON.stringify('é'.repeat(7_000_000)), undefined],
  ])('takes less than 1 GB for a page of %s', async (_, more, refusal) => {
    // What is refused is refused unpacked; gzipped, the rest is decoded in another thread first, and in this one after it.
    const isGzipped = refusal === undefined;
    const body = isGzipped ? gzipSync(pageWith(more), { level: 1 }) : pageWith(more);
    const header = isGzipped ? 'content-encoding: gzip\r\n' : '';
    said = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${header}content-length: ${body.length}\r\n\r\n`), body]);
    const { exitCode, stdout, stderr, peakMb } = await ingest();
    if (refusal !== undefined) expect([exitCode, stdout]).toEqual([3, expect.stringContaining(refusal)]);
    expect(peakMb).toBeGreaterThan(50); // it was measured
    expect(peakMb).toBeLessThan(1000);
    expect(stdout.length + stderr.length).toBeLessThan(10_000);
  });

  test('cannot send a cursor that is too long for a URL', async () => {
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

  test('that never answers is reported with the request, and delays an ingest only up to the limit', async () => {
    const host = await listenMute();
    const dir = await newProject();
    await writeFile(
      join(dir, 'costbook.yaml'),
      `url: http://${host}\ntoken: tok-1\naccount: acc_one\nsince: 2026-09-01\n`,
    );
    const args = ['ingest', '--now', now, '--dir', dir, '--timeout', '8s'];
    const { exitCode, stdout, terminal } = await runOnTerminal(args);
    expect(exitCode).toBe(3);
    expect(terminal).toContain(`waiting for ${host} for 6 s: GET /v0/accounts/acc_one/metrics`);
    expect(stdout).toMatch(new RegExp(`took longer than 8 s, waiting for ${host} for \\d s: GET /v0/accounts/acc_one`));
    const runs = await askSnapshot(dir, 'select outcome, exit_code from runs');
    expect(runs).toEqual([{ outcome: 'failed', exit_code: 3 }]);
  });

  test('that never answers for one account leaves the others loaded, and each of them reported', async () => {
    const host = await listenMute();
    const box = { type: 'sandbox', workspace: 'north', dimension: 'sandbox_compute_runtime_gbs' } as const;
    const { dir, platform } = await projectWithPlatform(
      series({ ...box, name: 'box', uuid: 'sbx-1' }, '2026-09-02T05', [1.25, 2.5]),
    );
    await writeFile(
      join(dir, 'costbook.yaml'),
      `accounts:
  - { id: acc_two, url: 'http://${host}', token: tok-1, since: 2026-09-01 }
  - { id: acc_one, url: '${platform.url}', token: '${platform.tokens.admin}', since: 2026-09-01 }
`,
    );
    const args = ['ingest', '--now', now, '--dir', dir, '--timeout', '8s', '--json'];
    const { exitCode, stdout } = await runCli(args, { COSTBOOK_URL: '', COSTBOOK_TOKEN: '', COSTBOOK_ACCOUNT: '' });
    expect(exitCode).toBe(3);
    const { accounts } = JSON.parse(stdout) as { accounts: { account: string; rows: number; errors: string[] }[] };
    expect(accounts).toMatchObject([
      { account: 'acc_two', rows: 0, errors: [expect.stringContaining(`waiting for ${host}`)] },
      { account: 'acc_one', rows: 2, errors: [] },
    ]);
    expect(await askSnapshot(dir, 'select account, sum(cost)::varchar as cost from costs group by all')).toEqual([
      { account: 'acc_one', cost: '3.750000000000' },
    ]);
  });
});

/** A server that accepts connections and never answers; the host and port. */
async function listenMute(): Promise<string> {
  const mute = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  mute.listen(0, '127.0.0.1');
  mute.unref();
  await once(mute, 'listening');
  const address = mute.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}
