import { describe, expect, test } from 'vitest';
import { ask, askMetrics, now, useEmulator } from './platform.ts';

const platform = useEmulator();
const week = 'startTime=2026-10-05T00:00:00Z&endTime=2026-10-12T00:00:00Z';

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

describe('credentials (5.1)', () => {
  test.each(['authorization', 'x-service-authorization'])('a bearer token is accepted in %s', async (header) => {
    const headers = { [header]: `Bearer ${platform.current.tokens.admin}` };
    expect((await askMetrics(platform.current, week, headers)).status).toBe(200);
  });

  test.each([
    ['no header', () => ({})],
    ['an unknown token', () => bearer('nobody')],
    ['an empty token', () => bearer('')],
    ['a token without Bearer', () => ({ authorization: platform.current.tokens.admin })],
    ['basic credentials', () => ({ authorization: `Basic ${platform.current.tokens.admin}` })],
    ['an API-key header', () => ({ 'x-api-key': platform.current.tokens.admin })],
  ] as const)('%s is 401 with the error body', async (_, headers) => {
    for (const path of ['/v0/accounts', '/v0/accounts/acc-harbor-labs/metrics/enums/group-by']) {
      const { status, body } = await ask(platform.current, path, headers());
      expect(status).toBe(401);
      expect(body).toEqual({ error: 'unauthorized', code: 401, message: 'Invalid or missing credentials' });
    }
  });

  test('credentials are checked before anything else', async () => {
    expect((await ask(platform.current, '/nowhere', {})).status).toBe(401);
    expect((await askMetrics(platform.current, 'startTime=never', { 'service-version': '1' })).status).toBe(401);
  });
});

describe('client credentials', () => {
  let clock = now;
  const own = useEmulator({ now: () => clock });

  async function exchange(body: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${own.current.url}/v0/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  }

  test('become a token of their workspace for two hours, as HTTP Basic or in the body', async () => {
    const { clientId, clientSecret } = own.current.serviceAccounts['staging'] ?? { clientId: '', clientSecret: '' };
    const grant = { grant_type: 'client_credentials' };
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const inHeader = await exchange(grant, { authorization: basic });
    expect(inHeader).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 7200 } });
    expect(await exchange({ ...grant, client_id: clientId, client_secret: clientSecret })).toEqual(inHeader);
    const reached = () => ask(own.current, '/v0/workspaces', bearer(inHeader.body['access_token'] ?? ''));
    expect((await reached()).body).toMatchObject([{ name: 'staging' }]);
    clock = now + 2 * 3_600_000;
    expect((await reached()).status).toBe(401);
    clock = now;
  });

  test('a wrong secret is 400, as a wrong grant type is, and only POST is answered', async () => {
    const wrong = await exchange({ grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' });
    expect([wrong.status, wrong.body['error']]).toEqual([400, 'invalid_client']);
    expect((await exchange({ grant_type: 'password' })).body['error']).toBe('unsupported_grant_type');
    expect((await ask(own.current, '/v0/oauth/token')).status).toBe(405);
    const { body } = await ask(own.current, '/v0/.well-known/openid-configuration', {});
    expect(body).toMatchObject({ token_endpoint: `${own.current.url}/v0/oauth/token` });
  });
});

describe('account admins (5.7)', () => {
  test.each([
    'workspace=production',
    'groupBy=workspace',
    'groupBy=resource_type,workspace',
    'groupBy=billing_dimension,resource_name,workspace',
    'workspace=nowhere',
  ])('%s is 403 Access denied for a member', async (parameter) => {
    const { member, admin } = platform.current.tokens;
    const refused = await askMetrics(platform.current, `${week}&${parameter}`, bearer(member));
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ code: 403, message: 'Access denied' });
    expect((await askMetrics(platform.current, `${week}&${parameter}`, bearer(admin))).status).toBe(200);
  });

  test('a member may query everything else, with the same answers', async () => {
    const query = `${week}&groupBy=resource_name,resource_uuid,billing_dimension&resourceType=agent`;
    const member = await askMetrics(platform.current, query, bearer(platform.current.tokens.member));
    const admin = await askMetrics(platform.current, query, bearer(platform.current.tokens.admin));
    expect(member.status).toBe(200);
    expect(member.body).toEqual(admin.body);
  });

  test('another account is 403 for every token', async () => {
    const { status, body } = await ask(platform.current, `/v0/accounts/acc-other/metrics?${week}`);
    expect(status).toBe(403);
    expect(body.message).toContain('acc-other');
  });
});
