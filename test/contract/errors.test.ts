import { describe, expect, test } from 'vitest';
import { ask, askMetrics, rawGet, useEmulator } from './platform.ts';

const platform = useEmulator();
const week = 'startTime=2026-10-05T00:00:00Z&endTime=2026-10-12T00:00:00Z';

function withVersion(version: string): Record<string, string> {
  return { authorization: `Bearer ${platform.current.tokens.admin}`, 'Service-Version': version };
}

describe('error bodies (2.14, 7)', () => {
  test('an error body has error, code and message, and is JSON', async () => {
    const { status, body, headers } = await askMetrics(platform.current, 'startTime=2026-10-05T00:00:00Z');
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'invalid_parameter', code: 400, message: 'endTime is required' });
    expect(headers.get('content-type')).toContain('application/json');
  });

  test('every mistake of a request is named at once', async () => {
    const { body } = await askMetrics(platform.current, 'startTime=x&resolution=y&groupBy=z&limit=0');
    for (const name of ['startTime', 'endTime', 'resolution', 'groupBy', 'limit']) expect(body.message).toContain(name);
  });

  test.each(['/', '/v0', '/v0/account', '/v0/accounts/', '/v1/accounts', '/v0/accounts/acc-harbor-labs/costs'])(
    '%s is 404',
    async (path) => {
      const { status, body } = await ask(platform.current, path);
      expect([status, body.code]).toEqual([404, 404]);
    },
  );

  test.each(['POST', 'PUT', 'DELETE'])('%s is 405', async (method) => {
    const response = await fetch(`${platform.current.url}/v0/accounts/acc-harbor-labs/metrics?${week}`, {
      method,
      headers: { authorization: `Bearer ${platform.current.tokens.admin}` },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET');
    expect(await response.json()).toMatchObject({ error: 'method_not_allowed', code: 405 });
  });
});

describe('versions (9)', () => {
  test('without the header the earliest stable version answers', async () => {
    const silent = await askMetrics(platform.current, week);
    const said = await askMetrics(platform.current, week, withVersion('2026-04-16'));
    expect([silent.status, said.status]).toEqual([200, 200]);
    expect(said.body).toEqual(silent.body);
  });

  test('2026-04-28 is valid in the emulator (the document leaves it open)', async () => {
    expect((await askMetrics(platform.current, week, withVersion('2026-04-28'))).status).toBe(200);
  });

  test.each(['2026-04-16.preview', '2025-01-01', 'latest', '2026-4-16', '1'])(
    'version %s is invalid_api_version, and the message names it and the valid ones',
    async (version) => {
      const { status, body } = await askMetrics(platform.current, week, withVersion(version));
      expect(status).toBe(400);
      expect(body.error).toBe('invalid_api_version');
      for (const named of [`"${version}"`, '2026-04-16', '2026-04-28']) expect(body.message).toContain(named);
    },
  );
});

describe('compression', () => {
  const path = `/v0/accounts/acc-harbor-labs/metrics?${week}`;

  test.each([
    ['gzip', 'gzip'],
    ['br, gzip;q=0.8', 'gzip'],
    ['*', 'gzip'],
    ['identity', undefined],
    ['br', undefined],
    ['gzip;q=0', undefined],
  ])('accept-encoding %s gets an answer in %s', async (accepted, encoding) => {
    const { headers, pieces } = await rawGet(platform.current.url + path, {
      ...withVersion('2026-04-16'),
      'accept-encoding': accepted,
    });
    expect(headers['content-encoding']).toBe(encoding);
    expect(Number(headers['content-length'])).toBe(Buffer.concat(pieces).length);
  });

  test('both encodings have the same content', async () => {
    const zipped = await askMetrics(platform.current, week);
    const plain = await rawGet(platform.current.url + path, withVersion('2026-04-16'));
    expect(JSON.parse(Buffer.concat(plain.pieces).toString())).toEqual(zipped.body);
  });
});

test('the emulator records its requests', async () => {
  await ask(platform.current, '/v0/accounts?remembered=1');
  expect(platform.current.requests.at(-1)).toEqual({
    at: Date.UTC(2026, 9, 21, 3, 30),
    method: 'GET',
    path: '/v0/accounts?remembered=1',
    status: 400,
  });
});
