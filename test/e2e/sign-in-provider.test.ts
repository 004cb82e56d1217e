// Second tier: Signs in at a real identity provider with a real browser; unit/access has the rules of groups.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openTab, type Tab } from '../support/browser.ts';
import { dashboardProject, type Served, serve } from '../support/dashboard.ts';
import { type GroupsPlace, type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { freePort, type ProxyManners, proxy } from '../support/reverse-proxy.ts';

const clientSecret = 'a-client-secret-0123456789';
const people = {
  ada: { groups: ['engineering', 'finance'] },
  bob: { groups: ['north-team'] },
  eve: { groups: ['visitors', '<b>x</b>'] },
  none: {},
};

interface Guarded {
  readonly served: Served;
  readonly provider: IdentityProvider;
  readonly base: string;
  readonly now: (at: string) => void;
}

async function guarded(groupsIn: GroupsPlace, behind?: ProxyManners): Promise<Omit<Guarded, 'now'>> {
  const port = await freePort();
  const entrance = behind === undefined ? port : await proxy(() => port, behind);
  // A name, as people have: there, browsers tell a request of the provider's site from one of our own pages.
  const base = `${behind?.isEncrypted ? 'https' : 'http'}://costs.test:${entrance}`;
  const provider = await startIdentityProvider(people, {
    ...{ clientSecret, groupsIn, redirect: () => `${base}/sign-in/callback` },
  });
  const dir = await dashboardProject();
  await writeFile(
    join(dir, 'costbook.yaml'),
    `dashboardUrl: ${base}
serve:
  oidc: { issuer: "${provider.issuer}", clientId: costbook, clientSecret: "\${OIDC_SECRET}", scopes: [openid, email, groups] }
  groups:
    finance: { all: true }
    north-team: { workspaces: [north] }
`,
  );
  const served = await serve(dir, ['--port', String(port)], { OIDC_SECRET: clientSecret });
  return { served, provider, base };
}

/** Signs somebody in, beginning at a page. Ends at the page to which the dashboard leads. */
async function signIn({ base }: { readonly base: string }, name: string, page = '/'): Promise<Tab> {
  const tab = await openTab(base, { width: 1000 });
  await tab.page.goto(`${base}${page}`);
  expect(new URL(tab.page.url()).pathname).toBe('/sign-in');
  await tab.page.click('text=Sign in with your account');
  await tab.page.fill('input[name=login]', name);
  await tab.page.fill('input[name=password]', 'any');
  await tab.page.click('button[type=submit]');
  await tab.page.click('button[type=submit]'); // consents
  await tab.page.waitForURL(({ host }) => host === new URL(base).host, { timeout: 10_000 });
  await tab.page.waitForLoadState('networkidle');
  return tab;
}

/** A sign-in that began: the address at the provider, and what the browser holds. */
async function begun({ served }: Pick<Guarded, 'served'>, to = '/') {
  const { headers } = await served.get(`/sign-in/provider?to=${encodeURIComponent(to)}`);
  const cookie = headers.get('set-cookie') ?? '';
  const [, flow = ''] = /costbook_sign_in=([^;]+)/.exec(cookie) ?? [];
  return { address: new URL(headers.get('location') ?? ''), flow, cookie };
}

const text = (tab: Tab) => tab.page.locator('body').textContent();
const pathOf = (tab: Tab) => new URL(tab.page.url()).pathname;

describe.each<GroupsPlace>(['token', 'userinfo'])('where groups are in the %s', (groupsIn) => {
  let at: Omit<Guarded, 'now'>;
  beforeAll(async () => {
    at = await guarded(groupsIn);
  }, 60_000);

  test('a person sees what the first rule for one of their groups shows, on the page that they asked for', async () => {
    const tab = await signIn(at, 'ada', '/months?x=1');
    expect(pathOf(tab)).toBe('/months');
    expect(await text(tab)).toContain('You see what ada@example.com may see.');
    const [session] = (await tab.context.cookies(at.base)).filter(({ name }) => name === 'costbook_session');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect((session?.expires ?? 0) * 1000 - Date.now()).toBeLessThan(3_600_000 + 5000);
    await tab.context.close();
  });

  test('a person of a limited group sees its workspaces alone, and no other page', async () => {
    const tab = await signIn(at, 'bob');
    expect(await text(tab)).not.toContain('secret-box');
    expect((await tab.page.goto(`${at.base}/sql`))?.status()).toBe(404);
    expect((await tab.page.goto(`${at.base}/explore?group=resource_name&from=2026-10-01`))?.status()).toBe(200);
    expect(await text(tab)).toContain('box');
    expect(await text(tab)).not.toContain('secret-box');
    await tab.context.close();
  });

  test.each(['eve', 'none'])(
    'a person without a rule (%s) reads why they see nothing, and has no session',
    async (name) => {
      const tab = await signIn(at, name);
      expect(await text(tab)).toContain(`${name}@example.com sees no costs here`);
      expect(await tab.page.locator('b').count()).toBe(0);
      await tab.page.goto(`${at.base}/`);
      expect(pathOf(tab)).toBe('/sign-in');
      await tab.context.close();
    },
  );
});

describe.each<[string, ProxyManners]>([
  ['says nothing of the scheme', { isEncrypted: true, isSilent: true }],
  ['says nothing of the scheme and replaces Host', { isEncrypted: true, isSilent: true, replacesHost: true }],
  ['says the scheme and replaces Host', { isEncrypted: true, replacesHost: true }],
])('behind a proxy with https that %s', (_, behind) => {
  let at: Omit<Guarded, 'now'>;
  beforeAll(async () => {
    at = await guarded('token', behind);
  }, 60_000);

  test('a session goes over https to this host alone, opens forms, and ends with "Sign out"', async () => {
    const tab = await signIn(at, 'ada', '/sql');
    const cookies = (await tab.context.cookies(at.base)).filter(({ name }) => name.endsWith('costbook_session'));
    expect(cookies).toMatchObject([{ name: '__Host-costbook_session', secure: true }]);
    await tab.page.click('text=Sign out');
    await tab.page.waitForURL('**/sign-in');
    await tab.page.goto(`${at.base}/`);
    expect(pathOf(tab)).toBe('/sign-in');
    await tab.context.addCookies(cookies);
    await tab.page.goto(`${at.base}/`);
    expect(pathOf(tab)).toBe('/sign-in');
    await tab.context.close();
  });

  test('a neighbour of this host cannot plant the sign-in that it began itself', async () => {
    const { address, flow, cookie } = await begun(at);
    expect(cookie).toMatch(/^__Host-costbook_sign_in=.*Path=\/;.*Secure/);
    const state = address.searchParams.get('state') ?? '';
    const answer = await at.served.get(`/sign-in/callback?code=x&state=${state}`, {
      cookie: `costbook_sign_in=${flow}`,
    });
    expect(answer.status).toBe(400);
  });
});

describe('a sign-in', () => {
  let at: Omit<Guarded, 'now'>;
  beforeAll(async () => {
    at = await guarded('token');
  }, 60_000);

  test('ends with "Sign out": the session opens nothing any more, also a copy of it', async () => {
    const tab = await signIn(at, 'ada');
    const cookies = await tab.context.cookies(at.base);
    await tab.page.click('text=Sign out');
    await tab.page.waitForURL('**/sign-in');
    await tab.context.addCookies(cookies);
    await tab.page.goto(`${at.base}/`);
    expect(pathOf(tab)).toBe('/sign-in');
    await tab.context.close();
  });

  test('that a foreign page signs out keeps its session', async () => {
    const answer = await fetch(`${at.served.url}/sign-out`, {
      ...{ method: 'POST', headers: { origin: 'http://evil.example.com' } },
    });
    expect(answer.status).toBe(403);
  });

  const callback = (search: string, cookie = '') =>
    at.served.get(`/sign-in/callback${search}`, cookie === '' ? {} : { cookie: `costbook_sign_in=${cookie}` });

  test('asks the provider with PKCE, a state and a nonce, and names our own address alone', async () => {
    const { address } = await begun(at);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', redirect_uri: `${at.base}/sign-in/callback` },
      ...{ scope: 'openid email groups', state: expect.stringMatching(/.{40}/), nonce: expect.stringMatching(/.{40}/) },
    });
    expect(address.href).not.toContain(clientSecret);
  });

  test('that began in another browser, was changed or is over, is refused', async () => {
    const { address, flow } = await begun(at);
    const state = address.searchParams.get('state') ?? '';
    const issuer = encodeURIComponent(at.provider.issuer);
    expect((await callback(`?code=x&state=${state}&iss=${issuer}`)).status).toBe(400);
    const [head = '', sign = ''] = flow.split('.');
    const changed = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(head, 'base64url').toString()), to: '//evil.example.com' }),
    ).toString('base64url');
    for (const cookie of [`${changed}.${sign}`, head, '', '.', `${head}.${'A'.repeat(sign.length)}`])
      expect((await callback(`?code=x&state=${state}&iss=${issuer}`, cookie)).status).toBe(400);
  });

  test('with a wrong code, state or issuer, or with an error, starts no session and shows nothing of it', async () => {
    const { address, flow } = await begun(at);
    const state = address.searchParams.get('state') ?? '';
    const issuer = encodeURIComponent(at.provider.issuer);
    for (const [search, status] of [
      [`?code=made-up&state=${state}&iss=${issuer}`, 502],
      [`?code=made-up&state=other&iss=${issuer}`, 400],
      [`?code=made-up&state=${state}&iss=https%3A%2F%2Fevil.example.com`, 502],
      [`?error=access_denied&error_description=%3Cb%3Eno%3C%2Fb%3E&state=${state}&iss=${issuer}`, 403],
      ['', 400],
    ] as const) {
      const answer = await callback(search, flow);
      expect({ search, status: answer.status }).toEqual({ search, status });
      expect(answer.headers.get('set-cookie') ?? '').not.toContain('costbook_session');
      expect(answer.text).not.toMatch(/made-up|<b>no|a-client-secret/);
    }
  });

  test('never leads to another site', async () => {
    for (const to of [
      '//evil.example.com',
      '/\\evil.example.com',
      'https://evil.example.com/',
      '/\t/evil.example.com',
    ]) {
      const { flow } = await begun(at, to);
      const { to: kept } = JSON.parse(Buffer.from(flow.split('.')[0] ?? '', 'base64url').toString());
      expect(kept).toBe('/');
      const { text: page } = await at.served.get(`/sign-in?to=${encodeURIComponent(to)}`);
      expect(page).not.toContain('evil.example.com');
    }
  });
});
