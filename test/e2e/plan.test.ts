import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ingest, newProject, projectWithPlatform, runCli } from '../support/project.ts';
import { box, type ScriptedPlatform, type Seen, series } from '../support/scripted-platform.ts';

const now = '2026-09-05T12:30:00Z';

interface Plan {
  account: string | null;
  first: { purpose: string; why: string; request: string }[];
  windows: { start: string; end: string; requests: { request: string }[] }[];
  requestsAtLeast: number;
}

async function plans(dir: string, env: Record<string, string> = {}, args: readonly string[] = []): Promise<Plan[]> {
  const ended = await runCli(['plan', '--dir', dir, '--now', now, '--json', ...args], env);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  return (JSON.parse(ended.stdout) as { accounts: Plan[] }).accounts;
}

/** A request as the plan writes it. */
function written({ path, query }: Seen): string {
  const text = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return text.length === 0 ? path : `${path}?${text.join('&')}`;
}

/** An ingest that knows the address and the token, and nothing else. */
function ingestBare(dir: string, platform: ScriptedPlatform) {
  return ingest(dir, platform, { now, env: { COSTBOOK_ACCOUNT: '', COSTBOOK_SINCE: '' } });
}

describe.concurrent('the plan', () => {
  test('without an account and books starts as the ingest does', async () => {
    const { dir, platform } = await projectWithPlatform(series(box, '2026-09-03T05', [1, 2]));
    const [plan, ...others] = await plans(dir, { COSTBOOK_URL: platform.url });
    expect(others).toEqual([]);
    expect(plan).toMatchObject({ account: null, windows: [], requestsAtLeast: 2 });
    expect(platform.requests).toEqual([]);
    await ingestBare(dir, platform);
    expect(plan?.first.map(({ request }) => request.replace('{accountId}', 'acc_one'))).toEqual(
      platform.requests.slice(0, 2).map(written),
    );
  });

  test('without an account has windows if since is known', async () => {
    const { dir, platform } = await projectWithPlatform(series(box, '2026-09-03T05', [1, 2]));
    const env = { COSTBOOK_URL: platform.url, COSTBOOK_SINCE: '2026-09-01' };
    const [plan] = await plans(dir, env);
    expect(plan?.first.map(({ request }) => request)).toEqual(['/v0/accounts']);
    expect(plan?.windows.length).toBeGreaterThan(0);
    const planned = plan?.windows.flatMap(({ requests }) => requests.map(({ request }) => request)) ?? [];
    await ingest(dir, platform, { now, env: { COSTBOOK_ACCOUNT: '' } });
    const [first, ...asked] = platform.requests.map(written);
    expect(first).toBe('/v0/accounts');
    expect(asked).toEqual(expect.arrayContaining(planned.map((each) => each.replace('{accountId}', 'acc_one'))));
  });

  test('says that the account is not known yet', async () => {
    const env = { COSTBOOK_URL: 'http://127.0.0.1:9' };
    const { exitCode, stdout } = await runCli(['plan', '--dir', await newProject(), '--now', now], env);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('the account that the token sees: 0 windows, at least 2 requests');
    expect(stdout).toContain('GET /v0/accounts/{accountId}/metrics?');
  });

  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['a token', { COSTBOOK_TOKEN: 'tok-1' }],
    ['the start of the books', { COSTBOOK_SINCE: '2026-09' }],
  ])('with %s alone says what is missing', async (_, env) => {
    const dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    const { exitCode, stdout, stderr } = await runCli(['plan', '--dir', dir, '--now', now], env);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`neither ${dir} nor the environment has an account`);
    expect(stderr).toContain('set COSTBOOK_ACCOUNT or COSTBOOK_URL');
  });

  test('requests the first month again until a cost was seen, as the ingest does', async () => {
    const { dir, platform } = await projectWithPlatform();
    await ingestBare(dir, platform);
    const env = { COSTBOOK_URL: platform.url };
    const [plan] = await plans(dir, env);
    expect(plan).toMatchObject({
      account: 'acc_one',
      first: [{ purpose: 'discovery', why: expect.stringContaining('no cost found so far') }],
    });
    const before = platform.requests.length;
    platform.facts = series(box, '2026-09-03T05', [1, 2]);
    await ingest(dir, platform, { now, env: { COSTBOOK_SINCE: '' } });
    expect(written(platform.requests[before] as Seen)).toBe(plan?.first[0]?.request);
    expect((await plans(dir, env))[0]?.first).toEqual([]);
  });

  test('needs no configured account if the books know it', async () => {
    const { dir, platform } = await projectWithPlatform(series(box, '2026-09-03T05', [1, 2]));
    await ingestBare(dir, platform);
    expect((await plans(dir)).map(({ account, first }) => [account, first])).toEqual([['acc_one', []]]);
  });
});
