import { Validator } from '@seriousme/openapi-schema-validator';
import { afterEach, describe, expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/fault-plan.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts';
import { allOperations } from '../../src/platform/interface/operations.ts';
import {
  allItems,
  ask,
  askIn,
  askMetrics,
  billionths,
  listed,
  metrics,
  now,
  placesOf,
  rawGet,
  useEmulator,
} from './platform.ts';

const running: Emulator[] = [];
afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.close();
});

async function start(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await startEmulator({ now: () => now, storyEnd: Date.UTC(2026, 9, 21), ...options });
  running.push(emulator);
  return emulator;
}

const platform = useEmulator();
const day = 'startTime=2026-10-20T00:00:00Z&endTime=2026-10-21T00:00:00Z';

describe('/openapi.json', () => {
  test('is valid OpenAPI 3.1, without a token, and describes every operation', async () => {
    const response = await fetch(`${platform.current.url}/openapi.json`);
    const description = (await response.json()) as { openapi: string; paths: Record<string, Record<string, object>> };
    expect([response.status, description.openapi]).toEqual([200, '3.1.0']);
    const { valid, errors } = await new Validator().validate(structuredClone(description));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    const described = Object.values(description.paths).flatMap((item) =>
      Object.values(item).flatMap((one) => ('operationId' in one ? [String(one.operationId)] : [])),
    );
    expect(new Set(described).size).toBe(described.length);
    for (const { name } of allOperations) {
      expect(described.some((id) => id === name || id.startsWith(`${name}-`))).toBe(true);
    }
  });

  test('names the address under which the client reached it', async () => {
    const { body } = await rawJson(`${platform.current.url}/openapi.json`);
    expect(body.servers).toEqual([{ url: platform.current.url }]);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: several shapes
async function rawJson(url: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
  const response = await fetch(url, init);
  return { status: response.status, body: await response.json() };
}

describe('control over HTTP', () => {
  function control(emulator: Emulator, method: string, path: string, body?: unknown, token = emulator.controlToken) {
    return rawJson(`${emulator.url}/_control${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  test('needs its own token', async () => {
    const { tokens, controlToken } = platform.current;
    expect((await control(platform.current, 'GET', '', undefined, tokens.admin)).status).toBe(401);
    expect((await askIn(platform.current, undefined, '/v0/agents', controlToken)).status).toBe(401);
    expect((await control(platform.current, 'GET', '')).body.now).toBe('2026-10-21T03:30:00Z');
    expect((await control(platform.current, 'GET', '/nothing')).status).toBe(404);
  });

  test('moves the clock, so that more hours have ended', async () => {
    const emulator = await start();
    const cost = async () => {
      const { summary } = await metrics(emulator, 'startTime=2026-10-21T00:00:00Z&endTime=2026-10-22T00:00:00Z');
      return summary.totalCost;
    };
    const before = await cost();
    expect((await control(emulator, 'POST', '/clock', { advance: '2h' })).body.now).toBe('2026-10-21T05:30:00Z');
    const later = await cost();
    expect(later).toBeGreaterThan(before);
    await control(emulator, 'POST', '/clock', { now: '2026-10-21T03:30:00Z' });
    expect(await cost()).toBe(before);
    expect((await control(emulator, 'POST', '/clock', { advance: 'soon' })).status).toBe(400);
  });

  test('plans faults, shows the requests that they hit, and resets', async () => {
    const emulator = await start();
    await control(emulator, 'POST', '/faults', { faults: '503=1' });
    expect((await ask(emulator, '/v0/accounts')).status).toBe(503);
    const { body } = await control(emulator, 'GET', '/requests?limit=1');
    expect(body).toEqual([
      { at: '2026-10-21T03:30:00Z', method: 'GET', path: '/v0/accounts', status: 503, fault: '503' },
    ]);
    expect((await control(emulator, 'POST', '/faults', { faults: 'tea' })).body.message).toContain('tea');
    expect((await control(emulator, 'POST', '/reset')).body).toMatchObject({ faults: [], requests: 0 });
    expect((await ask(emulator, '/v0/accounts')).status).toBe(200);
  });

  test('restates hours of the past, exactly and for one resource', async () => {
    const emulator = await start();
    const costOf = async (name: string) => {
      const { summary } = await metrics(emulator, `${day}&resourceName=${name}&resourceType=volume`);
      return billionths(summary.totalCost);
    };
    const [cache, other] = [await costOf('model-cache'), await costOf('customer-uploads')];
    const body = {
      startTime: '2026-10-20T00:00:00Z',
      endTime: '2026-10-21T00:00:00Z',
      factor: 2,
      resourceName: 'model-cache',
    };
    expect((await control(emulator, 'POST', '/restate', body)).status).toBe(200);
    expect(Math.abs((await costOf('model-cache')) - 2 * cache)).toBeLessThan(100);
    expect(await costOf('customer-uploads')).toBe(other);
    expect((await control(emulator, 'POST', '/restate', { ...body, factor: -1 })).status).toBe(400);
    emulator.control.reset();
    expect(await costOf('model-cache')).toBe(cache);
  });

  test('of an import brings back what clients deleted', async () => {
    const emulator = await start();
    const models = async () => placesOf(await allItems(emulator, '/v0/models'));
    const before = await models();
    const headers = { authorization: `Bearer ${emulator.tokens.admin}` };
    await fetch(`${emulator.url}/v0/models/embedding-gateway`, { method: 'DELETE', headers });
    expect(await models()).toHaveLength(before.length - 1);
    emulator.control.reset();
    expect(await models()).toEqual(before);
  });
});

describe('several accounts', () => {
  test('have costs and tokens of their own; the admin of the first one sees all', async () => {
    const emulator = await start({ accounts: 2 });
    const [second] = emulator.otherAccounts;
    const path = `/v0/accounts/${second?.account}/metrics?${day}`;
    const cost = async (token: string | undefined) => {
      const { status, body } = await ask(emulator, path, { authorization: `Bearer ${token}` });
      return status === 200 ? body.summary.totalCost : status;
    };
    expect(await cost(second?.tokens.admin)).toBeGreaterThan(1);
    expect(await cost(emulator.tokens.admin)).toBe(await cost(second?.tokens.admin));
    expect(await cost(emulator.tokens.member)).toBe(403);
    expect(await cost(second?.tokens.admin)).not.toBe((await metrics(emulator, day)).summary.totalCost);
    const ids = async (token = '') =>
      (await rawJson(`${emulator.url}/v0/accounts`, { headers: { authorization: `Bearer ${token}` } })).body.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids(emulator.tokens.admin)).toEqual(['acc-harbor-labs', 'acc-harbor-labs-2']);
    expect(await ids(second?.tokens.admin)).toEqual(['acc-harbor-labs-2']);
    const own = { authorization: `Bearer ${second?.tokens.admin}` };
    expect((await askMetrics(emulator, day, own)).status).toBe(403);
  });
});

test('a cursor of one account is rejected by another', async () => {
  const emulator = await start({ accounts: 2 });
  const [second] = emulator.otherAccounts;
  const headers = { authorization: `Bearer ${emulator.tokens.admin}` };
  const query = `${day}&groupBy=resource_type&limit=2`;
  const { meta } = await metrics(emulator, query);
  const path = `/v0/accounts/${second?.account}/metrics?${query}&cursor=${meta.nextCursor}`;
  expect((await ask(emulator, path, headers)).status).toBe(400);
  const listing = '/v0/agents?limit=2';
  const paged = { 'service-version': '2026-04-28' };
  const { body } = await rawJson(`${emulator.url}${listing}`, { headers: { ...headers, ...paged } });
  const theirs = { authorization: `Bearer ${second?.tokens.admin}`, ...paged };
  const next = await rawJson(`${emulator.url}${listing}&cursor=${body.meta.nextCursor}`, { headers: theirs });
  expect(next.status).toBe(400);
});

describe('header names', () => {
  test('are settings; a workspace header narrows the listings of an admin', async () => {
    const emulator = await start({
      headerNames: { authorization: 'X-Acme-Authorization', version: 'Acme-Version', workspace: 'X-Acme-Workspace' },
    });
    const headers = {
      'x-acme-authorization': `Bearer ${emulator.tokens.admin}`,
      'acme-version': '2026-04-28',
      'x-acme-workspace': 'research',
    };
    const { body } = await rawJson(`${emulator.url}/v0/agents`, { headers });
    expect(body.data.length).toBeGreaterThan(0);
    const workspaces = new Set(body.data.map((item: { metadata: { workspace: string } }) => item.metadata.workspace));
    expect(workspaces).toEqual(new Set(['research']));
    const documented = { 'x-service-authorization': `Bearer ${emulator.tokens.admin}` };
    expect((await rawJson(`${emulator.url}/v0/agents`, { headers: documented })).status).toBe(401);
  });
});

describe('metrics that the document allows and few clients meet (4.6, 7)', () => {
  test('an echoed window keeps every digit of its seconds', async () => {
    const window = 'startTime=2026-10-20T00:00:00.000001Z&endTime=2026-10-21T00:00:00.250Z';
    const { startTime, endTime } = await metrics(platform.current, window);
    expect([startTime, endTime]).toEqual(['2026-10-20T00:00:00.000001Z', '2026-10-21T00:00:00.250Z']);
  });

  test('resourceUuid also takes the ID of an instance', async () => {
    const items = await allItems(await start({ resources: 600 }), '/v0/sandboxes?showTerminated=true');
    const failed = items.find((item) => 'errors' in item) as unknown as { errors: { instance: string }[] };
    const [first] = (await metrics(platform.current, `${day}&groupBy=resource_uuid&resourceType=agent`)).data;
    const instance = `vm-${first?.resourceUuid?.replaceAll('-', '').slice(0, 12)}`;
    expect(failed.errors[0]?.instance).toMatch(/^vm-[0-9a-f]{12}$/);
    const { data } = await metrics(platform.current, `${day}&groupBy=resource_uuid&resourceUuid=${instance}`);
    expect(data).toEqual([first]);
  });

  test('a UUID of a type without UUIDs is an unsupported feature', async () => {
    const { status, body } = await askMetrics(platform.current, `${day}&resourceType=volume&resourceUuid=x`);
    expect([status, body.error]).toEqual([400, 'unsupported_feature']);
  });

  test('a total of twenty thousand resources is a lower bound', async () => {
    const { meta } = await listed(await start({ resources: 20_000 }), '/v0/agents?limit=1');
    expect(meta).toMatchObject({ totalIsPartial: true, hasMore: true });
  });
});

describe('faults that no second attempt repairs', () => {
  const faulty = (faults: string) => start({ faults: parseFaults(faults) });

  test('expired-token is 401', async () => {
    const { status, body } = await ask(await faulty('expired-token=1'), '/v0/accounts');
    expect([status, body.message]).toEqual([401, 'The token has expired']);
  });

  test('missing-scope is 403 for the operations that it hits, and stays', async () => {
    const emulator = await faulty('missing-scope');
    for (let attempt = 0; attempt < 5; attempt++) {
      const { status, body } = await ask(emulator, '/v0/accounts');
      expect([status, body.error]).toEqual([403, 'insufficient_scope']);
    }
  });

  test('redirect and html send a login page', async () => {
    const headers = (emulator: Emulator) => ({ authorization: `Bearer ${emulator.tokens.admin}` });
    const redirecting = await faulty('redirect=1');
    const moved = await fetch(`${redirecting.url}/v0/accounts`, { headers: headers(redirecting), redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([302, '/login']);
    const hidden = await faulty('html=1');
    const page = await fetch(`${hidden.url}/v0/accounts`, { headers: headers(hidden) });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  test('gzip-bomb is small on the wire', async () => {
    const emulator = await faulty('gzip-bomb=1');
    const headers = { authorization: `Bearer ${emulator.tokens.admin}`, 'accept-encoding': 'gzip' };
    const { pieces } = await rawGet(`${emulator.url}/v0/accounts`, headers);
    expect(Buffer.concat(pieces).length).toBeLessThan(300_000);
    expect(Buffer.concat(pieces).length).toBeGreaterThan(100_000);
  });

  test('undercounted-listings count one item too few, empty-texts send empty texts', async () => {
    const few = await faulty('undercounted-listings');
    const { data, meta } = await listed(few, '/v0/jobs');
    expect(meta.total).toBe(data.length - 1);
    const empty = await faulty('empty-texts');
    const items = await allItems(empty, '/v0/sandboxes');
    expect(items.some(({ metadata }) => metadata.displayName === '')).toBe(true);
    const groups = (await metrics(empty, `${day}&groupBy=resource_uuid`)).data;
    expect(groups.some(({ resourceUuid }) => resourceUuid === '')).toBe(true);
  });
});
