import { describe, expect, test } from 'vitest';
import { ask, askMetrics, useEmulator } from './platform.ts';

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
