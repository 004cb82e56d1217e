import { describe, expect, test } from 'vitest';
import { PlatformError, UsageError } from '../../src/base/errors.ts';
import { parseBody } from '../../src/platform/body.ts';
import { type Client, expiryOf, type Sending } from '../../src/platform/client.ts';
import { type Operation, operations } from '../../src/platform/interface/operations.ts';
import { asJson, never, rejection, testClient, testEffects } from '../support/http-client.ts';
import { answer, cutShort, inTurn, refuse, reset, startServer } from '../support/http-server.ts';

function call(client: Client, operation: Operation, values: Record<string, string>, sending?: Sending) {
  return client.call(operation, values, 'a test', asJson, never(), sending);
}

const deleteModel = (client: Client) => call(client, operations.deleteModel, { modelName: 'm' });

describe('a request that changes something', () => {
  test.each([
    ['500', refuse(500, 'internal', 'no')],
    ['500 whose words say that nothing was reached', refuse(500, 'unreachable', 'no')],
    ['503 with Retry-After', refuse(503, 'busy', 'later', { 'retry-after': '1' })],
    ['a reset connection', reset],
    ['a body that is cut short', cutShort({ metadata: { name: 'm' } })],
    ['a body that is not JSON', answer('nonsense')],
  ])('is not sent again after %s', async (_, reply) => {
    const server = await startServer(reply);
    expect(await rejection(deleteModel(testClient(server.url)))).toBeInstanceOf(PlatformError);
    expect(server.seen).toHaveLength(1);
  });

  test('is sent again after a 429, which did nothing', async () => {
    const server = await startServer(inTurn(refuse(429, 'busy', 'later'), answer({ metadata: { name: 'm' } }, 202)));
    expect(await deleteModel(testClient(server.url))).toEqual({ metadata: { name: 'm' } });
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'DELETE /v0/models/m',
      'DELETE /v0/models/m',
    ]);
  });

  test('is tried again while nothing listens', async () => {
    const server = await startServer(answer({}));
    await server.close();
    const effects = testEffects();
    await rejection(deleteModel(testClient(server.url, { effects })));
    expect(effects.slept).toHaveLength(3);
  });

  test('that only reads is sent again after 500', async () => {
    const server = await startServer(inTurn(refuse(500, 'internal', 'no'), answer({ values: [] })));
    await call(testClient(server.url), operations.groupByEnum, { accountId: 'a' });
    expect(server.seen).toHaveLength(2);
  });
});

describe('hosts and headers', () => {
  test('an agent is asked on the inference host, with its thread in the header of the settings', async () => {
    const server = await startServer(answer({ output: 'ok' }));
    const settings = { inferenceUrl: server.url, threadHeader: 'X-Acme-Thread', headers: { 'X-Team': 'finops' } };
    const values = { workspace: 'north', agent: 'a b', threadId: 't-1' };
    await call(testClient('http://127.0.0.1:1', { settings }), operations.queryAgent, values, {
      body: '{"inputs":"hi"}',
    });
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/north/agents/a%20b',
      headers: { 'x-acme-thread': 't-1', 'x-team': 'finops', 'content-type': 'application/json' },
    });
  });

  test('a job is executed on the management host, without /v0', async () => {
    const server = await startServer(answer({}, 201));
    await call(testClient(server.url), operations.executeJob, { workspace: 'w', job: 'j' }, { body: '{"tasks":[]}' });
    expect(server.seen[0]).toMatchObject({ method: 'POST', url: '/w/jobs/j/executions' });
  });

  test("a sandbox is reached at its own host; a path keeps its slashes, and '..' is refused", async () => {
    const server = await startServer(answer([]));
    const settings = { sandboxUrl: `${server.url}/{region}/sbx-{sandbox}-{workspace}` };
    const client = testClient('http://127.0.0.1:1', { settings });
    const sandbox = { sandbox: 's', workspace: 'w', region: 'us-1' };
    await call(client, operations.sandboxTree, { ...sandbox, path: '/home//me/a b' });
    expect(server.seen[0]).toMatchObject({
      url: '/us-1/sbx-s-w/filesystem/tree/home/me/a%20b',
      headers: { 'content-type': 'application/json' },
    });
    expect(await rejection(call(client, operations.sandboxTree, { ...sandbox, path: 'a/../b' }))).toBeInstanceOf(
      TypeError,
    );
    const elsewhere = call(client, operations.sandboxMcp, { ...sandbox, region: 'x.evil.example/' });
    expect(await rejection(elsewhere)).toBeInstanceOf(UsageError);
    expect(server.seen).toHaveLength(1);
  });

  test.each([operations.queryAgent, operations.sandboxMcp])(
    'a host that is not configured is named',
    async (operation) => {
      const values = { workspace: 'w', agent: 'a', sandbox: 's', region: 'r' };
      const own = Object.fromEntries(
        operation.parameters.filter(({ required }) => required).map(({ name }) => [name, values[name as 'agent']]),
      );
      const error = await rejection(call(testClient('http://127.0.0.1:1'), operation, own));
      expect(error).toBeInstanceOf(UsageError);
      expect(String(error)).toMatch(/inferenceUrl|sandboxUrl/);
    },
  );

  test('an answer is passed on as it comes, and not limited', async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      setTimeout(() => response.end('data: two\n\n'), 50);
    });
    const chunks: string[] = [];
    const client = testClient(server.url, { settings: { inferenceUrl: server.url } });
    await client.call(
      operations.chatCompletions,
      { workspace: 'w', model: 'm' },
      'a test',
      async ({ bytes }) => expect(bytes).toHaveLength(0),
      never(),
      { body: '{"messages":[]}', onChunk: async (chunk) => void chunks.push(chunk.toString()) },
    );
    expect(chunks).toEqual(['data: one\n\n', 'data: two\n\n']);
    expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
  });

  test('a refusal is never passed on as the answer', async () => {
    const server = await startServer(refuse(403, 'access_denied', 'no'));
    const chunks: Buffer[] = [];
    const client = testClient(server.url, { settings: { inferenceUrl: server.url } });
    const refused = client.call(operations.queryModel, { workspace: 'w', model: 'm' }, 'a test', parseBody, never(), {
      body: '{}',
      onChunk: async (chunk) => void chunks.push(chunk),
    });
    expect(await rejection(refused)).toMatchObject({ status: 403 });
    expect(chunks).toEqual([]);
  });
});

describe('a JWT', () => {
  const jwt = (exp: unknown) =>
    ['{"alg":"none"}', JSON.stringify({ exp }), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  test.each([
    [jwt(1_800_000_000), 1_800_000_000_000],
    [jwt('soon'), undefined],
    ['an-api-key', undefined],
    ['a.b.c', undefined],
    ['a.bnVsbA.c', undefined],
  ])('%s expires when it says so', (token, expected) => {
    expect(expiryOf(token)).toBe(expected);
  });

  async function tokensUsed(tokens: readonly string[], canRefreshToken = true): Promise<(string | undefined)[]> {
    const server = await startServer(answer({ values: [] }));
    let next = 0;
    const token = async () => tokens[Math.min(next++, tokens.length - 1)] ?? '';
    const client = testClient(server.url, { settings: { token, canRefreshToken } });
    for (let request = 0; request < 3; request += 1) await call(client, operations.groupByEnum, { accountId: 'a' });
    return server.seen.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));
  }

  test('is used until shortly before it expires, then fetched again', async () => {
    const [first, second] = [jwt(inSeconds(61)), jwt(inSeconds(7200))];
    const server = await startServer(answer({ values: [] }));
    const given = [first, second];
    const settings = { token: async () => given.shift() ?? '', canRefreshToken: true };
    const client = testClient(server.url, { settings });
    const ask = () => call(client, operations.groupByEnum, { accountId: 'a' });
    await ask();
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    await ask();
    await ask();
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${first}`,
      `Bearer ${second}`,
      `Bearer ${second}`,
    ]);
  });

  test('that stays valid is fetched once', async () => {
    const token = jwt(inSeconds(7200));
    expect(await tokensUsed([token, 'other'])).toEqual([token, token, token]);
  });

  test('that its source returns although it expires soon is not fetched for every request', async () => {
    const token = jwt(inSeconds(5));
    expect(await tokensUsed([token, 'other'])).toEqual([token, token, token]);
  });

  test('is fetched once more after a 401, and not a second time', async () => {
    const server = await startServer(refuse(401, 'unauthorized', 'expired'));
    let fetched = 0;
    const settings = {
      canRefreshToken: true,
      async token() {
        fetched += 1;
        return `tok-${fetched}`;
      },
    };
    const error = await rejection(deleteModel(testClient(server.url, { settings })));
    expect(error).toMatchObject({ status: 401 });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer tok-1', 'Bearer tok-2']);
  });
});
