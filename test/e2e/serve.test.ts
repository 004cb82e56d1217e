import { rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  dashboardBooks,
  dashboardProject,
  hostileNames,
  publishGiven,
  type Served,
  serve,
} from '../support/dashboard.ts';
import { newProject, runCli } from '../support/project.ts';

const tokens = { ALL_TOKEN: 'all-0123456789abcdefghij', NORTH_TOKEN: 'north-0123456789abcdefgh' };
const guarded = `serve:
  hosts: [costs.example.com]
  tokens:
    finance: { token: "\${ALL_TOKEN}" }
    north: { token: "\${NORTH_TOKEN}", workspaces: [north] }
`;

async function guardedDashboard(): Promise<Served> {
  const dir = await dashboardProject();
  await writeFile(join(dir, 'costbook.yaml'), guarded);
  return serve(dir, [], tokens);
}

/** The exact amounts of a page, in order. */
function amountsOf(text: string): string[] {
  return [...text.matchAll(/<data value="([^"]+)"/g)].map(([, value = '']) => value);
}

/** The exact total below a table of Explore. */
function totalOf(text: string): string | undefined {
  return amountsOf(text.slice(text.indexOf('<tfoot>')))[0];
}

/** One answer for a host name that is not the server's own. */
function getAs(served: Served, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(served.url, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

let dir: string;
let served: Served;
let guardedServer: Served;
beforeAll(async () => {
  dir = await dashboardProject();
  served = await serve(dir);
  guardedServer = await guardedDashboard();
});

describe('costbook serve', () => {
  test('shows the amounts that costbook sql returns', async () => {
    const { stdout } = await runCli([
      'sql',
      '--json',
      '--dir',
      dir,
      "select workspace, sum(cost) as cost from costs where bucket_start >= '2026-10-01' group by all order by cost desc",
    ]);
    const { rows } = JSON.parse(stdout) as { rows: { workspace: string; cost: string }[] };
    const explore = await served.get('/explore?from=2026-10-01&to=2026-10-04&compare=none');
    expect(explore.status).toBe(200);
    for (const { cost } of rows) expect(amountsOf(explore.text)).toContain(cost);
    const total = await runCli([
      'sql',
      '--json',
      '--dir',
      dir,
      "select sum(cost) as cost from costs where bucket_start >= '2026-10-01'",
    ]);
    const [sum] = (JSON.parse(total.stdout) as { rows: { cost: string }[] }).rows;
    expect(amountsOf((await served.get('/')).text)[0]).toBe(sum?.cost);
    expect(amountsOf((await served.get('/months')).text)[0]).toBe(sum?.cost);
  });

  test('gives the rows of a page as a CSV file with exact amounts', async () => {
    const { status, text, headers } = await served.get('/explore.csv?from=2026-10-01&to=2026-10-04&step=month');
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toContain('costs-by-workspace-2026-10-01-2026-10-04.csv');
    const [, first, second] = text.split('\r\n').map((line) => line.split(','));
    expect([first?.[0], first?.[4], first?.[6]]).toEqual(['2026-10-01T00:00:00Z', 'south', '21.000000000000']);
    expect([second?.[4], second?.[6]]).toEqual(['north', '16.500000000084']);
    expect((await served.get('/explore.csv?step=year')).status).toBe(400);
  });

  test('shows a hostile name as text on every page', async () => {
    for (const path of [
      '/',
      '/explore?group=resource_name&top=50',
      `/explore?resource_name=${encodeURIComponent(hostileNames[0] ?? '')}`,
    ]) {
      const { status, text } = await served.get(path);
      expect(status).toBe(200);
      expect(text).not.toContain('<img');
      expect(text).not.toContain('<script>alert');
      expect(text).not.toContain('\u202E');
      expect(text.length).toBeLessThan(200_000);
    }
  });

  test('names what is wrong with an address and shows the default instead', async () => {
    const { status, text } = await served.get('/explore?from=yesterday&step=year&group=price&top=x');
    expect(status).toBe(200);
    for (const name of ['from: expected', 'step: expected', 'group: expected']) expect(text).toContain(name);
  });

  test('refuses other hosts, other methods and unknown paths', async () => {
    expect(await getAs(served, 'evil.example.com')).toBe(421);
    expect((await fetch(served.url, { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await fetch(served.url, { method: 'DELETE' })).status).toBe(405);
    expect((await served.get('/../../etc/passwd')).status).toBe(404);
    expect((await served.get('/assets/..%2f..%2fpackage.json')).status).toBe(404);
  });

  test('starts no query for a page of another site that has it as an image or a frame; its links lead here', async () => {
    const askedBy = (site: string, destination: string, fields: Record<string, string> = {}) =>
      served.get('/sql?q=select+42', { 'sec-fetch-site': site, 'sec-fetch-dest': destination, ...fields });
    for (const [site, destination] of [
      ['cross-site', 'image'],
      ['cross-site', 'iframe'],
      ['same-site', 'empty'],
    ] as const) {
      expect(await askedBy(site, destination)).toMatchObject({ status: 403, text: expect.not.stringContaining('42') });
    }
    expect((await askedBy('cross-site', 'document')).status).toBe(200);
    // As Chromium sends what a page of any site has it load in advance.
    for (const purpose of ['prefetch', 'prefetch;prerender'])
      expect((await askedBy('none', 'document', { 'sec-purpose': purpose })).status).toBe(403);
    expect((await askedBy('same-origin', 'empty')).status).toBe(200);
  });

  test('leads people from an address without a page back to the overview, and answers programs in one line', async () => {
    const person = await served.get('/nowhere', { accept: 'text/html' });
    expect([person.status, person.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
    expect(person.text).toContain('<a href="/">Overview</a>');
    const program = await served.get('/nowhere');
    expect([program.status, program.text]).toEqual([404, 'There is no such page. Start at /\n']);
    const file = await served.get('/explore.csv?step=year', { accept: 'text/html' });
    expect([file.status, file.text.includes('step: expected')]).toEqual([400, true]);
  });

  test('answers with a policy that admits no foreign content', async () => {
    const { headers, text } = await served.get('/');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    for (const path of ['/metrics', '/api/snapshot', '/sign-in', '/healthz'])
      expect((await served.get(path)).headers.get('cache-control'), path).toBe('no-store');
    expect(text).not.toMatch(/ style="| on[a-z]+="|javascript:/);
  });

  test('shows a newer snapshot without a restart and without a failed request', async () => {
    const dir = await dashboardProject();
    const served = await serve(dir);
    let isDone = false;
    const statuses = new Set<number>();
    const readers = Array.from({ length: 2 }, async () => {
      while (!isDone) statuses.add((await served.get('/explore')).status);
    });
    const more = { workspace: 'north', bucket_start: '2026-10-04 11:00:00', resource_name: 'late', cost: '7.5' };
    await publishGiven(dir, dashboardBooks({ costs: [more] }));
    await expect
      .poll(async () => (await served.get('/explore?resource_name=late')).text, { timeout: 20_000 })
      .toContain('7.50');
    isDone = true;
    await Promise.all(readers);
    expect([...statuses]).toEqual([200]);
  });

  test('survives a thousand connections that say nothing', async () => {
    const { port } = new URL(served.url);
    const sockets = Array.from({ length: 1000 }, () =>
      createConnection({ host: '127.0.0.1', port: Number(port) }).on('error', () => undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(
        () =>
          served.get('/healthz').then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 20_000 },
      )
      .toBe(200);
  });

  test('does not listen for other machines without tokens or a proxy', async () => {
    const { exitCode, stderr } = await runCli(['serve', '--host', '0.0.0.0', '--port', '0', '--dir', dir]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('serve.tokens');
  });
});

describe('a dashboard with access tokens', () => {
  test('opens for a known token only', async () => {
    const served = guardedServer;
    expect((await served.get('/')).status).toBe(401);
    expect((await served.get('/', { authorization: 'Bearer wrong-wrong-wrong-wrong' })).status).toBe(401);
    expect((await served.get('/', { authorization: `Bearer ${tokens.ALL_TOKEN}` })).status).toBe(200);
    expect((await served.get('/', { accept: 'text/html' })).headers.get('location')).toBe('/sign-in');
    expect(await getAs(served, 'costs.example.com')).toBe(401);
  });

  test('starts a session that scripts and other sites cannot use', async () => {
    const served = guardedServer;
    const signIn = (token: string) =>
      fetch(`${served.url}/sign-in`, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' });
    expect((await signIn('wrong-wrong-wrong-wrong')).status).toBe(401);
    const answer = await signIn(tokens.ALL_TOKEN);
    expect(answer.status).toBe(303);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await served.get('/', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
    expect((await served.get('/', { cookie: 'costbook_session=guess' })).status).toBe(401);
  });

  test('by https keeps the session in a cookie that only this host can set, and takes no other', async () => {
    const served = guardedServer;
    const https = { 'x-forwarded-proto': 'https' };
    const signIn = (headers: Record<string, string>) =>
      fetch(`${served.url}/sign-in`, {
        ...{ method: 'POST', redirect: 'manual', headers, body: new URLSearchParams({ token: tokens.ALL_TOKEN }) },
      });
    const made = (await signIn(https)).headers.get('set-cookie') ?? '';
    expect(made).toMatch(/^__Host-costbook_session=.*Path=\/; HttpOnly; Secure; SameSite=Strict/);
    const [cookie = ''] = made.split(';');
    expect((await served.get('/', { ...https, cookie })).status).toBe(200);
    expect((await served.get('/', { cookie })).status).toBe(200);
    const [plain = ''] = ((await signIn({})).headers.get('set-cookie') ?? '').split(';');
    expect((await served.get('/', { ...https, cookie: plain })).status).toBe(401);
    const out = await fetch(`${served.url}/sign-out`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...https, cookie },
    });
    expect(out.headers.get('set-cookie')).toMatch(/^__Host-costbook_session=; .*Secure/);
    expect((await served.get('/', { ...https, cookie })).status).toBe(401);
  });

  test('slows down whoever guesses tokens, and lets right tokens in meanwhile', async () => {
    const served = await guardedDashboard();
    const statuses = [];
    for (let tries = 0; tries < 25; tries += 1) {
      const body = new URLSearchParams({ token: `guess-${tries}-0123456789abcdef` });
      statuses.push((await fetch(`${served.url}/sign-in`, { method: 'POST', body })).status);
    }
    expect(statuses).toContain(429);
    const headers = { authorization: `Bearer ${tokens.NORTH_TOKEN}` };
    expect((await served.get('/', headers)).status).toBe(200);
    const body = new URLSearchParams({ token: tokens.NORTH_TOKEN });
    const signedIn = await fetch(`${served.url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
    expect(signedIn.status).toBe(303);
  });

  test('slows down whoever guesses tokens without the form as well', async () => {
    const served = await guardedDashboard();
    const statuses: number[] = [];
    for (let tries = 0; tries < 25; tries += 1) {
      const path = ['/', '/mcp', '/metrics'][tries % 3] ?? '/';
      statuses.push((await served.get(path, { authorization: `Bearer guess-${tries}-0123456789abcdef` })).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(statuses.slice(20)).toEqual(Array.from({ length: 5 }, () => 429));
    // Those of the form count too, and a right token is let in at any time.
    const body = new URLSearchParams({ token: 'guess-in-the-form-0123456789' });
    expect((await fetch(`${served.url}/sign-in`, { method: 'POST', body })).status).toBe(429);
    expect((await served.get('/', { authorization: `Bearer ${tokens.NORTH_TOKEN}` })).status).toBe(200);
  });

  test('does not start with a token that is easy to guess', async () => {
    const dir = await dashboardProject();
    for (const token of ['aaaaaaaaaaaaaaaaaaaaaaaa', 'abcabcabcabcabcabcabcabc', 'x12345678x12345678x12345678']) {
      await writeFile(join(dir, 'costbook.yaml'), guarded.replace('"$' + '{NORTH_TOKEN}"', token));
      const { exitCode, stderr } = await runCli(['serve', '--port', '0', '--dir', dir], tokens);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('10 of them different')]);
      expect(stderr).not.toContain(token);
    }
  });

  test('does not start with two equal tokens: one would see what the other one sees', async () => {
    const dir = await dashboardProject();
    await writeFile(join(dir, 'costbook.yaml'), guarded);
    const all = Object.fromEntries(Object.keys(tokens).map((name) => [name, tokens.NORTH_TOKEN]));
    const { exitCode, stderr } = await runCli(['serve', '--port', '0', '--dir', dir], all);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is that of another entry; write one of its own')]);
    expect(stderr).not.toContain(tokens.NORTH_TOKEN);
  });

  test('shows a token of one workspace nothing of the others', async () => {
    const served = guardedServer;
    const headers = { authorization: `Bearer ${tokens.NORTH_TOKEN}` };
    for (const path of ['/', '/explore', '/explore?group=account', '/explore?group=resource_name&top=50']) {
      const { status, text } = await served.get(path, headers);
      expect(status).toBe(200);
      expect(text).not.toMatch(/secret-box|south/);
    }
    // Whether a name exists cannot be told from the answer to a question about it.
    const withoutName = async (filter: string, name: string) => {
      const { text } = await served.get(`/explore?${filter}=${name}`, headers);
      return text.replaceAll(name, 'NAME');
    };
    expect(await withoutName('workspace', 'south')).toBe(await withoutName('workspace', 'nowhere'));
    expect(await withoutName('resource_name', 'secret-box')).toBe(await withoutName('resource_name', 'no-such-box'));
    const sum = await served.get('/explore?group=account', headers);
    expect(totalOf(sum.text)).toBe('16.500000000084');
    for (const path of [
      '/metrics',
      '/months',
      '/months/2026-10',
      '/health',
      '/reports',
      '/sql',
      '/budgets',
      '/anomalies',
      '/allocation',
    ]) {
      expect((await served.get(path, headers)).status).toBe(404);
    }
  });

  test('shows a token of one owner only the costs that the rules give to that owner', async () => {
    const allocation =
      'rules:\n  - { name: boxes, when: { resource_name: box }, owner: { team: Boxes } }\n  - { name: rest, owner: { team: Others } }\n';
    const forecast = {
      scope_kind: 'workspace',
      account: 'acc_one',
      workspace: 'north',
      resource_type: 'sandbox',
      budget: null,
    };
    const period = { period: '2026-10', period_start: '2026-10-01', period_end: '2026-11-01', forecast: '777' };
    const forecasts = [{ ...forecast, ...period, scope: null, complete_through: '2026-10-04' }];
    const dir = await dashboardProject(dashboardBooks({ allocation, forecasts }));
    await writeFile(
      join(dir, 'costbook.yaml'),
      'serve: { tokens: { boxes: { token: "$' + '{ALL_TOKEN}", owner: Boxes } } }\n',
    );
    const served = await serve(dir, [], tokens);
    const headers = { authorization: `Bearer ${tokens.ALL_TOKEN}` };
    const overview = await served.get('/', headers);
    expect(amountsOf(overview.text)[0]).toBe('10.500000000084');
    // Others have costs in the same workspace, and its forecast includes them.
    expect(overview.text).not.toContain('777');
    const explore = await served.get('/explore?group=resource_name&top=50', headers);
    expect(totalOf(explore.text)).toBe('10.500000000084');
    expect(explore.text).not.toMatch(/secret-box|onerror/);
  });

  test('never prints a token', async () => {
    const dir = await dashboardProject();
    await writeFile(join(dir, 'costbook.yaml'), guarded.replace('"$' + '{NORTH_TOKEN}"', 'tiny'));
    const { exitCode, stderr } = await runCli(['serve', '--port', '0', '--dir', dir], tokens);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('costbook.yaml:5:');
    expect(stderr).not.toMatch(/tiny|0123456789/);
  });

  test('tells nobody without a token where the books are, and a limited token nothing about their size', async () => {
    const dir = await dashboardProject();
    await writeFile(join(dir, 'costbook.yaml'), guarded);
    const served = await serve(dir, [], tokens);
    const headers = { authorization: `Bearer ${tokens.NORTH_TOKEN}` };
    const { version } = JSON.parse((await served.get('/api/snapshot', headers)).text) as { version: string };
    const { size } = await stat(join(dir, 'data', 'costbook.duckdb'));
    expect(version).not.toContain(String(size));
    await rm(join(dir, 'data', 'costbook.duckdb'));
    await expect.poll(async () => (await served.get('/readyz')).status, { timeout: 20_000 }).toBe(503);
    expect((await served.get('/readyz')).text).not.toContain(dir);
    // The snapshot that is open is still right, and the page says that it is not the newest.
    const page = await served.get('/', headers);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Newer numbers cannot be read');
    expect(page.text).not.toContain(dir);
  });

  test('refuses a sign-in of another site, and bodies that are no form', async () => {
    const { url } = guardedServer;
    const body = new URLSearchParams({ token: tokens.NORTH_TOKEN });
    const foreign = {
      method: 'POST',
      body,
      headers: { origin: 'http://evil.example.com' },
      redirect: 'manual',
    } as const;
    expect((await fetch(`${url}/sign-in`, foreign)).status).toBe(403);
    const own = { ...foreign, headers: { origin: url } };
    expect((await fetch(`${url}/sign-in`, own)).status).toBe(303);
    expect((await fetch(`${url}/sign-in`, { method: 'POST', body: 'x'.repeat(5000) })).status).toBe(413);
    const broken = { method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=y' } };
    expect((await fetch(`${url}/sign-in`, broken)).status).toBe(400);
  });

  test('keeps the sessions of others when one token signs in very often', async () => {
    const { url } = guardedServer;
    const signIn = (token: string) =>
      fetch(`${url}/sign-in`, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' });
    const cookie = ((await signIn(tokens.ALL_TOKEN)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    for (let time = 0; time < 1100; time += 1) await (await signIn(tokens.NORTH_TOKEN)).text();
    expect((await guardedServer.get('/', { cookie })).status).toBe(200);
  });

  test('answers a limited number of filters, and no NUL in a query', async () => {
    const filters = Array.from({ length: 21 }, (_, number) => `label:b${number}=~`).join('&');
    const { status, text } = await served.get(`/explore?${filters}`);
    expect(status).toBe(200);
    expect(text).toContain('at most 20 filters');
    expect((await served.get('/sql?q=%00')).status).toBe(400);
  });

  test('hides the states of a resource while it belongs to another owner', async () => {
    const allocation = 'rules:\n  - { name: label, owner: { team: { label: team } } }\n';
    const state = (labels: string, from: string, to: string | null) => ({
      ...{ workspace: 'north', resource_type: 'sandbox', resource_name: 'box', labels, valid_from: from, valid_to: to },
    });
    const resources = [
      state('{"team":"Boxes","kind":"first"}', '2026-10-01 00:00:00', '2026-10-02 00:00:00'),
      state('{"team":"Secret","kind":"hush"}', '2026-10-02 00:00:00', '2026-10-03 00:00:00'),
      state('{"team":"Boxes","kind":"last"}', '2026-10-03 00:00:00', null),
    ];
    const dir = await dashboardProject(dashboardBooks({ allocation, resources }));
    await writeFile(
      join(dir, 'costbook.yaml'),
      'serve: { tokens: { boxes: { token: "$' + '{ALL_TOKEN}", owner: Boxes } } }\n',
    );
    const served = await serve(dir, [], tokens);
    const headers = { authorization: `Bearer ${tokens.ALL_TOKEN}` };
    const { status, text } = await served.get('/resource/sandbox/north/box', headers);
    expect(status).toBe(200);
    expect(text).toContain('last');
    expect(text).not.toMatch(/Secret|hush/);
  });
});

describe('a dashboard below a path of its address', () => {
  const headers = { authorization: `Bearer ${tokens.ALL_TOKEN}`, accept: 'text/html' };
  let below: Served;
  beforeAll(async () => {
    const dir = await dashboardProject();
    await writeFile(join(dir, 'costbook.yaml'), `dashboardUrl: https://tools.example.com/team/costs/\n${guarded}`);
    below = await serve(dir, [], tokens);
  });

  /** The addresses in the attributes of a page, without those within it. */
  function addressesIn(text: string): string[] {
    const all = [...text.matchAll(/ (?:href|src|action|data-charts)="([^"]*)"/g)].map(([, address = '']) => address);
    return all.filter((address) => !/^([?#]|$)/.test(address));
  }

  test('has all its links and files there, whether the proxy leaves the path in requests or not', async () => {
    const seen = new Set([
      '/',
      '/explore?group=resource_name&top=50',
      '/nowhere',
      '/sign-in',
      '/reports',
      '/sql',
      '/months',
      '/months/2026-10',
    ]);
    for (const path of seen) {
      const { text } = await below.get(path, headers);
      expect((await below.get(`/team/costs${path}`, headers)).text).toBe(text);
      const addresses = addressesIn(text);
      expect(addresses.length).toBeGreaterThan(2);
      for (const address of addresses) expect(address).toMatch(/^\/team\/costs\//);
      // Names of others are texts, and no links.
      expect(text.includes('onerror=alert(1)&gt;')).toBe(path.startsWith('/explore') || path === '/');
      const assets = addresses.filter((address) => address.includes('/assets/'));
      for (const asset of assets) expect((await below.get(asset)).status).toBe(200);
      const resource = addresses.find((address) => address.includes('/resource/'));
      if (resource !== undefined) expect((await below.get(resource, headers)).status).toBe(200);
    }
  });

  test('signs people in there', async () => {
    expect((await below.get('/team/costs', headers)).status).toBe(200);
    expect((await below.get('/team/costs/', { accept: 'text/html' })).headers.get('location')).toBe(
      '/team/costs/sign-in',
    );
    const answer = await fetch(`${below.url}/team/costs/sign-in`, {
      ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams({ token: tokens.ALL_TOKEN }) },
    });
    expect(answer.headers.get('location')).toBe('/team/costs/');
    expect(answer.headers.get('set-cookie')).toContain('Path=/team/costs;');
    const program = await below.get('/nowhere', { authorization: headers.authorization });
    expect(program.text).toBe('There is no such page. Start at /team/costs/\n');
  });
});

describe('a dashboard that would let in too many or nobody does not start', () => {
  const oidc = 'oidc: { issuer: "https://login.example.com", clientId: costbook }';
  const groups = 'groups: { finance: { all: true } }';
  test.each([
    ['a reachable address and no way to sign in', `{ ${groups} }`, ['--host 0.0.0.0', 'serve.groups']],
    ['a proxied user without groups', '{ userHeader: X-User }', ['serve.userHeader', 'serve.groupsHeader']],
    ['groups of nobody', '{ groupsHeader: X-Groups }', ['--host', 'serve.groupsHeader', 'serve.groups']],
    ['a provider without rules and without an address', `{ ${oidc} }`, ['dashboardUrl', 'serve.groups']],
    ['a rule that shows two things', '{ groups: { a: { all: true, owner: x } } }', ['expected exactly one of']],
    ['a rule that shows nothing', '{ groups: { a: { all: false } } }', ['expected exactly one of']],
    ['a provider without TLS', '{ oidc: { issuer: "http://login.example.com", clientId: x } }', ['https://']],
    ['a provider without a client', '{ oidc: { issuer: "https://login.example.com" } }', ['clientId']],
    ['a scope with a space', `{ oidc: { issuer: "https://a.b", clientId: x, scopes: ["a b"] }, ${groups} }`, ['scope']],
  ])('%s', async (_, settings, expected) => {
    const refused = await newProject();
    await writeFile(join(refused, 'costbook.yaml'), `serve: ${settings}\n`);
    const { exitCode, stderr } = await runCli(['serve', '--dir', refused, '--host', '0.0.0.0', '--port', '0']);
    expect(exitCode).toBe(2);
    for (const words of expected) expect(stderr).toContain(words);
  });

  test('one whose proxy names users without groups starts if a rule is for everybody', async () => {
    const proxied = await dashboardProject();
    const rules = 'serve: { userHeader: X-User, groups: { "*": { workspaces: [north] } } }\n';
    await writeFile(join(proxied, 'costbook.yaml'), rules);
    const running = await serve(proxied);
    const { status, text } = await running.get('/explore?group=resource_name', { 'x-user': 'ada' });
    expect(status).toBe(200);
    expect(text).toContain('box');
    expect(text).not.toContain('secret-box');
    expect((await running.get('/sql', { 'x-user': 'ada' })).status).toBe(404);
    expect((await running.get('/')).status).toBe(401);
  });
});
