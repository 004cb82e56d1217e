// Second tier: Signs in with a real browser; unit/origin says the same of the headers alone.

import { writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openTab } from '../support/browser.ts';
import { dashboardProject, serve } from '../support/dashboard.ts';
import { freePort, listenEverywhere, proxy } from '../support/reverse-proxy.ts';

const token = 'finance-0123456789abcdef';
/** An address of this machine that browsers do not take for the machine itself. */
const machine =
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address ?? '127.0.0.1';

let port = 0;
const proxies: Record<string, number> = {};

beforeAll(async () => {
  port = await freePort();
  const inner = await proxy(() => port, { replacesHost: true });
  Object.assign(proxies, {
    plain: await proxy(() => port, {}),
    'plain, replaces Host': await proxy(() => port, { replacesHost: true }),
    'plain, silent': await proxy(() => port, { isSilent: true }),
    tls: await proxy(() => port, { isEncrypted: true }),
    'tls, replaces Host': await proxy(() => port, { isEncrypted: true, replacesHost: true }),
    'tls, silent': await proxy(() => port, { isEncrypted: true, isSilent: true }),
    'plain, then another': await proxy(() => inner, {}),
    'tls, then another': await proxy(() => inner, { isEncrypted: true }),
  });
  const names = [port, ...Object.values(proxies)].flatMap((each) => [`costs.test:${each}`, `${machine}:${each}`]);
  const dir = await dashboardProject();
  await writeFile(
    join(dir, 'costbook.yaml'),
    `serve: { hosts: ${JSON.stringify(names)}, tokens: { finance: { token: ${token} } } }\n`,
  );
  await serve(dir, ['--host', '0.0.0.0', '--port', String(port)]);
}, 60_000);

/** Signs in, and returns the path where the browser is then, and how its session is kept. */
async function signIn(
  url: string,
): Promise<{ path: string; cookie: { secure: boolean; sameSite: string } | undefined }> {
  const tab = await openTab(url, { width: 1000 });
  await tab.page.goto(`${url}/`);
  expect(new URL(tab.page.url()).pathname).toBe('/sign-in');
  await tab.page.fill('input[name=token]', token);
  await Promise.all([tab.page.waitForResponse((one) => one.request().method() === 'POST'), tab.page.click('button')]);
  await tab.page.waitForURL(`${url}/`, { timeout: 5000 }).catch(() => undefined);
  const [cookie] = await tab.context.cookies();
  const { pathname: path } = new URL(tab.page.url());
  await tab.context.close();
  return { path, cookie: cookie && { secure: cookie.secure, sameSite: cookie.sameSite } };
}

test.each([
  ['at a name', () => `http://costs.test:${port}`],
  ['at an address', () => `http://${machine}:${port}`],
  ['on this machine', () => `http://localhost:${port}`],
  ...['plain', 'plain, replaces Host', 'plain, silent', 'plain, then another'].map((name): [string, () => string] => [
    `at a name, behind a proxy (${name})`,
    () => `http://costs.test:${proxies[name]}`,
  ]),
  ['at an address, behind a proxy', () => `http://${machine}:${proxies['plain, replaces Host']}`] as const,
])('a person signs in over plain http %s', async (_, url) => {
  expect(await signIn(url())).toEqual({ path: '/', cookie: { secure: false, sameSite: 'Strict' } });
});

test.each(['tls', 'tls, replaces Host', 'tls, silent', 'tls, then another'])(
  'a person signs in over https, behind a proxy (%s), and the session goes over https only',
  async (name) => {
    expect(await signIn(`https://costs.test:${proxies[name]}`)).toEqual({
      path: '/',
      cookie: { secure: true, sameSite: 'Strict' },
    });
  },
);

test.each([
  ['over plain http', () => `http://costs.test:${port}`],
  ['over https', () => `https://costs.test:${proxies['tls']}`],
])('a foreign page, and a sandboxed frame of one, sign nobody in %s', async (_, url) => {
  const form = `<form method=post action="${url()}/sign-in"><input name=token value="${token}"><button>Go</button></form>`;
  const foreign = await listenEverywhere((asked, answer) => {
    answer.setHeader('content-type', 'text/html');
    const isFramed = asked.url === '/framed';
    answer.end(
      isFramed ? `<iframe sandbox="allow-forms allow-scripts allow-top-navigation" srcdoc='${form}'></iframe>` : form,
    );
  }, false);
  for (const path of ['', '/framed']) {
    const tab = await openTab('http://evil.test', { width: 1000 });
    await tab.page.goto(`http://evil.test:${foreign}${path}`);
    const [answer] = await Promise.all([
      tab.page.waitForResponse((one) => one.request().method() === 'POST'),
      (path === '' ? tab.page : tab.page.frameLocator('iframe')).locator('button').click(),
    ]);
    expect(answer.status()).toBe(403);
    expect(await tab.context.cookies()).toEqual([]);
    await tab.context.close();
  }
});
