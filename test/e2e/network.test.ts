// Second tier: Proxies and certificates, with the waits of their retries.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { askSnapshot, type Ended, newProject, runCli, startCli } from '../support/project.ts';

const certificate = fileURLToPath(new URL('../support/tls/cert.pem', import.meta.url));
const key = fileURLToPath(new URL('../support/tls/key.pem', import.meta.url));
const now = '2026-10-03T05:00:00Z';

let emulator: Emulator;
let tls: ReturnType<typeof createHttpsServer>;
let proxy: ReturnType<typeof createHttpServer>;
const tunnels: string[] = [];

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port;
}

/** A process, because Node reads the authorities that it trusts as it starts. */
async function ingest(env: Record<string, string>): Promise<Ended> {
  const { account, tokens } = emulator;
  return startCli(['ingest', '--json', '--now', now, '--dir', await newProject()], {
    COSTBOOK_ACCOUNT: account,
    COSTBOOK_TOKEN: tokens.admin,
    COSTBOOK_SINCE: '2026-10-01',
    ...env,
  }).ended;
}

beforeAll(async () => {
  emulator = await startEmulator({ now: () => Date.parse(now) });
  // The emulator behind TLS: every request is handed on as it came.
  tls = createHttpsServer({ cert: await readFile(certificate), key: await readFile(key) }, (request, response) => {
    const onward = httpRequest(emulator.url + request.url, { headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  proxy = createHttpServer().listen(0, '127.0.0.1');
  proxy.on('connect', (request, socket, head) => {
    tunnels.push(String(request.url));
    const [host = '', port = ''] = String(request.url).split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket);
      socket.pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  await Promise.all([once(tls, 'listening'), once(proxy, 'listening')]);
});

afterAll(async () => {
  tls.closeAllConnections();
  tls.close();
  proxy.closeAllConnections();
  proxy.close();
  await emulator.close();
});

describe('the network around Costbook', () => {
  test('a platform with a private certificate is trusted only with NODE_EXTRA_CA_CERTS', async () => {
    const url = `https://localhost:${portOf(tls)}`;
    expect(await ingest({ COSTBOOK_URL: url, NODE_EXTRA_CA_CERTS: certificate })).toMatchObject({ exitCode: 0 });
    const refused = await ingest({ COSTBOOK_URL: url });
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('a proxy without http:// ends an ingest with 2 and one sentence, and the run is closed', async () => {
    const dir = await newProject();
    const env = {
      COSTBOOK_URL: emulator.url,
      COSTBOOK_ACCOUNT: emulator.account,
      COSTBOOK_TOKEN: emulator.tokens.admin,
      COSTBOOK_SINCE: '2026-10-01',
    };
    expect((await runCli(['ingest', '--now', now, '--dir', dir], env)).exitCode).toBe(0);
    Object.assign(env, { HTTP_PROXY: 'proxy.example.com:3128' });
    const ended = await runCli(['ingest', '--now', now, '--dir', dir], env);
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ended.stderr.trim().split('\n')).toEqual([expect.stringMatching(/^costbook: HTTP_PROXY: .*http:\/\//)]);

    const run = await runCli(['run', 'hourly_watch', '--json', '--now', now, '--dir', dir], env);
    expect(run.exitCode).toBe(2);
    expect(JSON.parse(run.stdout)).toMatchObject({
      exitCode: 2,
      steps: [
        { step: 'ingest', outcome: 'failed', exitCode: 2, error: expect.stringContaining('HTTP_PROXY') },
        { step: 'alert', outcome: 'done' },
      ],
    });
    expect(await askSnapshot(dir, `select count(*) as n from runs where outcome = 'running'`)).toEqual([{ n: '0' }]);
  });

  test('HTTPS_PROXY is used, except for NO_PROXY', async () => {
    const url = `https://localhost:${portOf(tls)}`;
    const env = {
      COSTBOOK_URL: url,
      NODE_EXTRA_CA_CERTS: certificate,
      HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
    };
    tunnels.length = 0;
    expect(await ingest(env)).toMatchObject({ exitCode: 0 });
    expect(new Set(tunnels)).toEqual(new Set([`localhost:${portOf(tls)}`]));
    tunnels.length = 0;
    expect(await ingest({ ...env, NO_PROXY: 'localhost' })).toMatchObject({ exitCode: 0 });
    expect(tunnels).toEqual([]);
  });
});
