import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { openHttp } from '../../src/platform/http.ts';
import { issueToken } from '../../src/platform/index.ts';
import { operations } from '../../src/platform/interface/index.ts';
import { never, testClient } from '../support/http-client.ts';
import { startServer } from '../support/http-server.ts';
import { type Ended, newProject, runCli } from '../support/project.ts';

const now = '2026-10-21T03:30:00Z';
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse('2026-10-21') });
});
afterAll(() => emulator.close());

/** Runs a command on a project whose token comes from client credentials. */
async function run(
  dir: string,
  args: readonly string[],
  { secret = account().clientSecret, more = '' }: { readonly secret?: string; readonly more?: string } = {},
): Promise<Ended> {
  const oauth = `oauth: { clientId: ${account().clientId}, clientSecret: "\${CLIENT_SECRET}"${more} }`;
  await writeFile(join(dir, 'costbook.yaml'), `since: 2026-10-19\naccount: ${emulator.account}\n${oauth}\n`);
  return runCli([...args, '--dir', dir, '--now', now], { COSTBOOK_URL: emulator.url, CLIENT_SECRET: secret });
}

function account() {
  return emulator.serviceAccounts['staging'] ?? { clientId: '', clientSecret: '' };
}

/** All that a person or another program can read of a project and of what commands said. */
async function everythingOf(dir: string, ended: readonly Ended[]): Promise<string> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => readFile(join(one.parentPath, one.name), 'latin1'));
  return [...(await Promise.all(files)), ...ended.flatMap(({ stdout, stderr }) => [stdout, stderr])].join('\n');
}

test('client credentials fetch the costs, and neither secret nor token is in any file or output', async () => {
  const dir = await newProject();
  const ended = [await run(dir, ['ingest']), await run(dir, ['doctor'])];
  expect(
    ended.map(({ exitCode }) => exitCode),
    ended[0]?.stderr,
  ).toEqual([0, 0]);
  expect(ended[1]?.stdout).toMatch(/OK {4}token .*from oauth \(.*costbook\.yaml:3:8\); each run gets its own/);
  ended.push(await run(dir, ['ingest'], { secret: 'a-wrong-client-secret' }));
  expect(ended.at(-1)).toMatchObject({ exitCode: 2 });
  expect(ended.at(-1)?.stderr).toContain('refuses the client credentials (400: ');
  expect(ended.at(-1)?.stderr).toContain('Correct clientId and clientSecret below oauth.');
  ended.push(await run(dir, ['ingest'], { more: ', tokenPath: /v0/no/token' }));
  expect(ended.at(-1)?.stderr).toContain('Correct tokenPath, clientId');
  emulator.control.planFaults([
    { name: '503', rate: 0.5 },
    { name: 'error-objects', rate: 1 },
  ]);
  ended.push(await run(dir, ['ingest']));
  expect(ended.at(-1)?.exitCode, ended.at(-1)?.stderr).toBe(0);
  emulator.control.planFaults([]);
  const everything = await everythingOf(dir, ended);
  for (const secret of [account().clientSecret, 'a-wrong-client-secret', '.until-']) {
    expect(everything).not.toContain(secret);
  }
});

test('a token is renewed before it expires, also one of which the answer does not say when', async () => {
  let issued = 0;
  const server = await startServer((response, { url }) => {
    if (url !== '/token') return void response.end('{}');
    issued += 1;
    // The client renews a minute before the end.
    response.end(JSON.stringify({ access_token: `token-${issued}`, ...(issued === 1 ? { expires_in: 60.2 } : {}) }));
  });
  const { send, close } = openHttp({ connections: 1, env: {} });
  const source = { tokenUrl: `${server.url}/token`, clientId: 'a', clientSecret: 'b', timeoutMs: 30_000 };
  const token = () => issueToken(source, send, never());
  const client = testClient(server.url, { settings: { token, canRefreshToken: true } });
  const ask = () => client.call(operations.accounts, {}, 'x', async () => undefined, never());
  await ask();
  await ask();
  await sleepFor(300);
  await ask();
  await ask();
  const sent = server.seen.filter(({ url }) => url !== '/token').map(({ headers }) => headers.authorization);
  expect(sent).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
  const { expiresAt } = await token();
  expect(expiresAt - Date.now()).toBeGreaterThan(7_100_000);
  await close();
});
