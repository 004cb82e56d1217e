import { createHmac } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allOperations, openPlatform } from '../../src/platform/library.ts';
import { startServer } from '../support/http-server.ts';
import { allItems, askIn, billionths, type Item, listed, metrics, now, placesOf, useEmulator } from './platform.ts';

const hourMs = 3_600_000;
let clock = now;
let callbackUrl = '';
const called: { url: string; body: string; signature: string }[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    called.push({ url: request.url ?? '', body, signature: String(request.headers['x-service-signature']) });
    response.end();
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  callbackUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hooks`;
});
afterAll(() => {
  receiver.close();
});

const platform = useEmulator({
  now: () => clock,
  get callbackUrl() {
    return callbackUrl;
  },
});

interface Sent {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each operation has its own
  readonly body: any;
  readonly text: string;
}

/** Sends a request with the production token, unless it names another one; an empty token sends none. */
async function send(
  method: string,
  path: string,
  { body, token, headers = {} }: { body?: unknown; token?: string; headers?: Record<string, string> } = {},
): Promise<Sent> {
  const sent = token ?? platform.current.workspaceTokens['production'];
  const response = await fetch(path.startsWith('http') ? path : `${platform.current.url}${path}`, {
    method,
    headers: {
      ...(sent === '' ? {} : { 'x-service-authorization': `Bearer ${sent}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined, text };
}

/** The same with another Host header, as a client that resolves the platform's own host names sends it. */
function sendTo(host: string, path: string): Promise<{ status: number | undefined; text: string }> {
  const { port } = new URL(platform.current.url);
  const headers = {
    host: `${host}:${port}`,
    authorization: `Bearer ${platform.current.tokens.admin}`,
    'content-type': 'application/json',
  };
  return new Promise((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });
}

const inference = '/_inference/production';
const runner = '/_sandboxes/code-runner/production/us-pdx-1';
const paged = { headers: { 'service-version': '2026-04-28' } };
const tree = { headers: { 'content-type': 'application/json' } };

describe('integrations and templates (4.2, 4.4)', () => {
  test('a provider has its endpoints, and every provider that a listing names exists', async () => {
    const items = [
      ...(await allItems(platform.current, '/v0/models')),
      ...(await allItems(platform.current, '/v0/functions')),
    ];
    const names = new Set(items.flatMap(({ spec }) => spec.integrationConnections ?? []));
    expect(names.size).toBeGreaterThan(3);
    for (const name of names) {
      const { status, body } = await send('GET', `/v0/integrations/${name}`);
      expect([status, body.name]).toEqual([200, name]);
      expect(typeof body.endpoints).toBe('object');
    }
    expect((await send('GET', '/v0/integrations/nobody')).status).toBe(404);
  });

  test('a template has variables that name integrations, and contents', async () => {
    const { body } = await send('GET', '/v0/templates/agent-python');
    expect(body.variables[0]).toMatchObject({ name: 'OPENAI_API_KEY', integration: 'openai', secret: true });
    const contents = await send('GET', '/v0/templates/agent-python/contents');
    expect(contents.body).toContain('README.md');
    expect((await send('GET', '/v0/templates/nothing/contents')).body).toMatchObject({ error: 'not_found', code: 404 });
  });
});

describe('a single resource', () => {
  test('has what its listing has, by its name or its external ID', async () => {
    for (const [path, id] of [
      ['agents', 'checkout-assistant'],
      ['functions', 'crm-tools'],
      ['jobs', 'nightly-embeddings'],
      ['models', 'gpt-gateway'],
      ['policies', 'eu-only'],
    ]) {
      const { body } = await send('GET', `/v0/${path}/${id}`);
      const { data } = await listed(platform.current, `/v0/${path}?workspace=production`);
      expect(body, path).toEqual(data.find(({ metadata }) => metadata.name === id));
      expect((await send('GET', `/v0/${path}/nobody`)).status).toBe(404);
    }
    const single = await send('GET', '/v0/sandboxes/code-runner');
    expect(single.body).toMatchObject({
      metadata: { name: 'code-runner' },
      events: expect.arrayContaining([expect.anything()]),
    });
    expect((await send('GET', '/v0/sandboxes/by-external-id/HL-RUN-001')).body).toEqual(single.body);
    expect((await send('GET', '/v0/volumes/by-external-id/none')).status).toBe(404);
    const [all, page] = [
      await send('GET', '/v0/images', paged),
      await send('GET', '/v0/images?limit=1', { headers: { 'service-version': '2026-09-22' } }),
    ];
    expect(page.body).toMatchObject({ data: [all.body[0]], meta: { hasMore: true, total: all.body.length } });
  });
});

describe('deletion of a model (4.5)', () => {
  const path = '/v0/models/embedding-gateway';

  test('returns the model with its extra fields, once; no listing has it afterwards', async () => {
    expect((await send('DELETE', path, { token: platform.current.tokens.member })).status).toBe(403);
    const { status, body } = await send('DELETE', path);
    expect(status).toBe(200);
    expect(body.metadata.name).toBe('embedding-gateway');
    expect(body.spec.configurations.API_KEY).toMatchObject({ secret: true });
    expect(body.spec.runtime).toMatchObject({ cpu: 1, metricPort: 9090, model: 'text-embedding-3-large' });
    expect(body.events.at(-1)).toMatchObject({ type: 'deployment', status: 'DELETING' });
    expect(placesOf(await allItems(platform.current, '/v0/models'))).not.toContain('production/embedding-gateway');
    expect((await send('DELETE', path)).status).toBe(404);
    expect((await send('POST', `${inference}/models/embedding-gateway`, { body: { input: 'x' } })).status).toBe(404);
  });

  test('of a name that several workspaces have is refused until the token says which', async () => {
    const { status, body } = await send('DELETE', '/v0/models/gpt-gateway', { token: platform.current.tokens.admin });
    expect([status, body.error]).toEqual([409, 'ambiguous_name']);
    expect(body.message).toContain('staging');
  });
});

describe('restore of a snapshot (4.3)', () => {
  const restore = (sandbox: string, snapshot: string, token?: string) =>
    send('POST', `/v0/sandboxes/${sandbox}/snapshots/${snapshot}/restore`, token === undefined ? {} : { token });

  async function sandbox(): Promise<Item | undefined> {
    return (await listed(platform.current, '/v0/sandboxes?q=code-runner')).data[0];
  }

  test('rebuilds the sandbox under its name; files since the snapshot are gone', async () => {
    const before = await sandbox();
    await callTool(`${runner}/mcp`, 'write_file', { path: '/app/later.txt', content: 'since the snapshot' });
    expect((await send('GET', `${runner}/filesystem/tree/app`, tree)).text).toContain('later.txt');
    const { status, body } = await restore('code-runner', 'nightly-2026-10-20');
    expect([status, body.name]).toEqual([200, 'code-runner']);
    expect(body.snapshotId).toMatch(/^snap-/);
    const during = await sandbox();
    expect(during).toMatchObject({ status: 'DEPLOYING', state: 'STANDBY' });
    expect(during?.metadata.url).toBe(before?.metadata.url);
    expect(during?.metadata.updatedAt).toBe('2026-10-21T03:30:00Z');
    expect((await send('GET', `${runner}/`)).status).toBe(503);
    clock += 120_000;
    expect(await sandbox()).toMatchObject({ status: 'DEPLOYED', state: 'RUNNING' });
    expect((await send('GET', `${runner}/filesystem/tree/app`, tree)).text).not.toContain('later.txt');
  });

  test('takes an ID of another sandbox of the workspace, also of one that is terminated', async () => {
    const { research } = platform.current.workspaceTokens;
    const lab = '/_sandboxes/training-lab/research/eu-fra-1/';
    const { snapshots } = (await send('GET', lab, { token: research ?? '' })).body;
    expect(snapshots[0].name).toBe('nightly-2026-10-21');
    const other = await restore('notebook-kim', snapshots[1].id, research);
    expect(other.body).toEqual({ name: 'notebook-kim', snapshotId: snapshots[1].id });
    // A name is looked up in the sandbox alone, an ID in its workspace alone.
    expect((await restore('notebook-kim', 'nightly-2020-01-01', research)).status).toBe(404);
    expect((await restore('code-runner', snapshots[1].id)).status).toBe(404);
    expect((await restore('legacy-embeddings-lab', 'nightly-2025-12-10', research)).status).toBe(404);
    expect((await restore('nobody', 'nightly-2026-10-20')).status).toBe(404);
  });
});

describe('agents (4.7)', () => {
  const agent = `${inference}/agents/checkout-assistant`;

  test('answer an input, and remember a thread if the client names one', async () => {
    const first = await send('POST', agent, { body: { inputs: 'my name is Ana' } });
    expect(first.status).toBe(200);
    expect(first.body.output).toContain('my name is Ana');
    const thread = { 'x-service-thread-id': 'thread-1' };
    await send('POST', agent, { body: { inputs: 'my name is Bo' }, headers: thread });
    const second = await send('POST', agent, { body: { inputs: 'who am I' }, headers: thread });
    expect(second.body).toMatchObject({ threadId: 'thread-1', remembered: 1 });
    expect(second.body.output).toContain('my name is Bo');
    expect((await send('POST', agent, { body: { inputs: 'who am I' } })).body.output).not.toContain('Bo');
  });

  test.each([
    ['an empty body', undefined, 'inputs'],
    ['a body without inputs', { input: 'x' }, 'inputs'],
    ['inputs of another type', { inputs: 7 }, 'inputs'],
    ['a text that is not JSON', '{', 'JSON'],
  ])('refuse %s and name what is wrong', async (_, body, named) => {
    const { status, body: refusal } = await send('POST', agent, body === undefined ? {} : { body });
    expect([status, refusal.error, refusal.code]).toEqual([400, 'invalid_body', 400]);
    expect(refusal.message).toContain(named);
  });

  test('are 401 without a token, 403 in another workspace, 404 if unknown, 405 for GET', async () => {
    const body = { inputs: 'hello' };
    expect((await send('POST', agent, { body, token: '' })).status).toBe(401);
    expect((await send('POST', agent, { body, token: platform.current.workspaceTokens['staging'] ?? '' })).status).toBe(
      403,
    );
    expect((await send('POST', `${inference}/agents/nobody`, { body })).status).toBe(404);
    expect((await send('GET', agent)).status).toBe(405);
  });

  test('are reached by the URL of their listing, and by the Host header', async () => {
    const [item] = (await listed(platform.current, '/v0/agents?q=invoice-reader')).data;
    expect((await send('POST', item?.metadata.url ?? '', { body: { inputs: 'x' } })).status).toBe(200);
    expect((await sendTo('run.localhost', '/production/agents/invoice-reader')).status).toBe(405);
    expect((await sendTo('sbx-code-runner-production.us-pdx-1.localhost', '/')).text).toContain('"code-runner"');
    expect((await sendTo('sbx-code-runner-production.eu-fra-1.localhost', '/')).status).toBe(404);
  });
});

describe('models (4.7)', () => {
  const gateway = `${inference}/models/gpt-gateway`;
  const messages = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Checkout cost 12 dollars' },
  ];

  test('chat completions have the usual form, and the same body gets the same answer', async () => {
    const { status, body } = await send('POST', `${gateway}/chat/completions`, { body: { messages } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'chat.completion', model: 'gpt-4o', choices: [{ finish_reason: 'stop' }] });
    expect(body.choices[0].message).toEqual({ role: 'assistant', content: 'Checkout cost 12 dollars' });
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    expect((await send('POST', `${gateway}/chat/completions`, { body: { messages } })).body).toEqual(body);
  });

  test('stream: true sends events that end with [DONE]', async () => {
    const { headers, text } = await send('POST', `${gateway}/chat/completions`, { body: { messages, stream: true } });
    expect(headers.get('content-type')).toContain('text/event-stream');
    expect(text).toContain('"content":"Checkout "');
    expect(text.trim().endsWith('data: [DONE]')).toBe(true);
  });

  test('a body of the provider is answered in its own form', async () => {
    const token = platform.current.workspaceTokens['research'] ?? '';
    const path = '/_inference/research/models/long-context-gateway';
    const { body } = await send('POST', path, { body: { messages, max_tokens: 10 }, token });
    expect(body).toMatchObject({ type: 'message', content: [{ type: 'text' }], stop_reason: 'end_turn' });
  });

  test('a policy refuses with 429 what exceeds its tokens of a minute, and allows it in the next', async () => {
    clock += 60_000;
    const long = [{ role: 'user', content: 'x '.repeat(300_000) }];
    const ask = () => send('POST', `${gateway}/chat/completions`, { body: { messages: long } });
    expect((await ask()).status).toBe(200);
    const { status, body, headers } = await ask();
    expect([status, body.error]).toEqual([429, 'token_limit_exceeded']);
    expect(body.message).toContain('token-budget');
    clock += Number(headers.get('retry-after')) * 1000;
    expect((await ask()).status).toBe(200);
  });

  test('one that is switched off is refused', async () => {
    const token = platform.current.workspaceTokens['staging'] ?? '';
    const { status } = await send('POST', '/_inference/staging/models/gpt-gateway', { body: { messages }, token });
    expect(status).toBe(403);
  });
});

/** Opens a session of an MCP server; returns the headers of its next requests. */
async function open(path: string, token?: string): Promise<Record<string, string>> {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const headers = { accept: 'application/json, text/event-stream' };
  const sent = await send('POST', path, { body, headers, ...(token === undefined ? {} : { token }) });
  expect(sent.status).toBe(200);
  expect(sent.body.result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {} } });
  return {
    ...headers,
    'mcp-session-id': sent.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-06-18',
  };
}

async function callTool(path: string, name: string, given: object): Promise<Sent> {
  const headers = await open(path);
  return send('POST', path, {
    headers,
    body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: given } },
  });
}

describe('MCP servers over streamable HTTP (4.7, 4.8)', () => {
  const crm = `${inference}/functions/crm-tools/mcp`;

  test('open a session, list tools and call one', async () => {
    const headers = await open(crm);
    const notice = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await send('POST', crm, { headers, body: notice })).status).toBe(202);
    const { body } = await send('POST', crm, { headers, body: { jsonrpc: '2.0', id: 2, method: 'tools/list' } });
    const names = body.result.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['search_records', 'get_record', 'add_note']);
    const params = { name: 'get_record', arguments: { id: 'rec-1' } };
    const answer = await send('POST', crm, { headers, body: { jsonrpc: '2.0', id: 3, method: 'tools/call', params } });
    expect(answer.body).toMatchObject({ id: 3, result: { isError: false } });
    expect((await send('DELETE', crm, { headers })).status).toBe(204);
    expect((await send('POST', crm, { headers, body: notice })).status).toBe(404);
  });

  test('answer as a stream of events a client that takes nothing else, or that follows the progress', async () => {
    const headers = await open(crm);
    const params = { name: 'get_record', arguments: { id: 'rec-1' }, _meta: { progressToken: 'p' } };
    const call = { jsonrpc: '2.0', id: 4, method: 'tools/call', params };
    const progress = await send('POST', crm, { headers, body: call });
    expect(progress.headers.get('content-type')).toContain('text/event-stream');
    expect(progress.text).toContain('notifications/progress');
    const ping = { jsonrpc: '2.0', id: 5, method: 'ping' };
    const only = await send('POST', crm, { headers: { ...headers, accept: 'text/event-stream' }, body: ping });
    expect(only.text).toBe('event: message\ndata: {"jsonrpc":"2.0","id":5,"result":{}}\n\n');
  });

  test("work with the protocol's own client, and report progress to it", async () => {
    const { sandboxUrl, inferenceUrl, tokens } = platform.current;
    const own = sandboxUrl.replace('{sandbox}', 'code-runner').replace('{workspace}', 'production');
    const servers = [
      `${inferenceUrl}/production/functions/crm-tools/mcp`,
      `${own.replace('{region}', 'us-pdx-1')}/mcp`,
    ];
    for (const server of servers) {
      const transport = new StreamableHTTPClientTransport(new URL(server), {
        requestInit: { headers: { authorization: `Bearer ${tokens.admin}` } },
      });
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      const { tools } = await client.listTools();
      const [first] = tools;
      const progress: number[] = [];
      const given = first?.name === 'list_files' ? { path: '/app' } : { query: 'record 3' };
      const { content } = await client.callTool(
        { name: first?.name ?? '', arguments: given },
        { onprogress: (each) => progress.push(each.progress) },
      );
      expect(JSON.stringify(content)).toMatch(/rec-3|main\.py/);
      expect(progress).toEqual([1, 2]);
      await transport.terminateSession();
      await client.close();
    }
  });

  test('refuse a missing session, an unknown tool, wrong arguments and a foreign origin', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await send('POST', crm, { body: list })).status).toBe(400);
    expect((await send('POST', crm, { body: { hello: 1 } })).status).toBe(400);
    expect((await send('POST', crm, { body: list, headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect((await callTool(crm, 'drop', {})).body.error.code).toBe(-32602);
    expect((await callTool(crm, 'get_record', { id: 7 })).body.error.message).toContain('id is not of type string');
    expect((await callTool(crm, 'get_record', { id: 'rec-99' })).body.result.isError).toBe(true);
    expect((await send('GET', crm)).status).toBe(405);
  });

  test('a public function answers without a token, another one does not (2.5)', async () => {
    const open = `${inference}/functions/calendar-tools/mcp`;
    const [item] = (await listed(platform.current, '/v0/functions?q=calendar-tools')).data;
    expect(item?.spec).toMatchObject({ public: true, runtime: { generation: 'mk3' } });
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
    expect((await send('POST', open, { token: '', body })).status).toBe(200);
    expect((await send('POST', crm, { token: '', body })).status).toBe(401);
  });
});

describe("a sandbox's own host (4.8)", () => {
  test('lists a directory as a tree, and demands the JSON header', async () => {
    const { status, body } = await send('GET', `${runner}/filesystem/tree/app`, tree);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      path: '/app',
      subdirectories: [{ path: '/app/data', files: [{ name: 'input.csv' }] }],
    });
    expect((await send('GET', `${runner}/filesystem/tree/app`)).status).toBe(400);
    expect((await send('GET', `${runner}/filesystem/tree/nowhere`, tree)).status).toBe(404);
  });

  test('upgrade answers at once with message and path, and is done later', async () => {
    const version = async () => (await send('GET', `${runner}/`)).body.version;
    const before = await version();
    const { status, body } = await send('POST', `${runner}/upgrade`, { body: { version: 'v0.3.0' } });
    expect([status, Object.keys(body).sort()]).toEqual([200, ['message', 'path']]);
    expect(await version()).toBe(before);
    clock += 10_000;
    expect(await version()).toBe('v0.3.0');
    expect((await send('POST', `${runner}/upgrade`)).status).toBe(200);
    const wrong = await send('POST', `${runner}/upgrade`, { body: { version: 'newest' } });
    expect(wrong.status).toBe(400);
    expect(Object.keys(wrong.body)).toEqual(['error']);
    expect(wrong.body.error).toContain('newest');
    for (const refused of [
      await send('POST', `${runner}/upgrade`, { body: [] }),
      await send('POST', `${runner}/upgrade`, { body: { version: 'v0.3.0' }, token: 'nobody' }),
      await send('GET', `${runner}/upgrade`),
    ]) {
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(refused.body)).toEqual(['error']);
    }
  });

  test('is lastUsedAt now after a call', async () => {
    clock += 5_000;
    await send('GET', `${runner}/`);
    const [item] = (await listed(platform.current, '/v0/sandboxes?q=code-runner')).data;
    expect(Date.parse(item?.lastUsedAt ?? '')).toBe(clock);
  });

  test('a terminated sandbox has none', async () => {
    const path = '/_sandboxes/legacy-embeddings-lab/research/us-pdx-1/';
    expect((await send('GET', path, { token: platform.current.tokens.admin })).status).toBe(404);
  });
});

describe('work becomes usage when its hour has ended (4.6, 4.7)', () => {
  const window = 'startTime=2026-10-23T00:00:00Z&endTime=2026-10-24T00:00:00Z&resolution=hourly';

  async function usageOf(name: string, dimension: string): Promise<{ cost: number; usage: number }[]> {
    const query = `${window}&groupBy=billing_dimension&workspace=production&resourceName=${name}&billingDimension=${dimension}`;
    const { data } = await metrics(platform.current, query);
    return (data[0]?.timeseries ?? []).map(({ cost, usage = 0 }) => ({ cost, usage }));
  }

  test('the tasks of a job are billed exactly, in the hour in which they ran', async () => {
    clock = Date.UTC(2026, 9, 23, 13, 10);
    const path = '/production/jobs/nightly-embeddings/executions';
    const { status, body } = await send('POST', path, { body: { tasks: [{ shard: 1 }, { shard: 2 }] } });
    expect(status).toBe(200);
    expect(body.tasks).toHaveLength(2);
    const worked = body.tasks.reduce((sum: number, task: { gigabyteSeconds: number }) => sum + task.gigabyteSeconds, 0);
    expect((await usageOf('nightly-embeddings', 'job_compute_runtime_gbs'))[13]?.usage).toBe(0);
    clock += hourMs;
    const hours = await usageOf('nightly-embeddings', 'job_compute_runtime_gbs');
    expect(hours[13]?.usage).toBe(worked);
    expect(billionths(hours[13]?.cost ?? 0)).toBe(Math.round(worked * 0.0000098 * 1e9));
    expect(hours[12]?.usage).toBe(0);
    const listed = (await send('GET', '/v0/jobs/nightly-embeddings/executions', paged)).body.data;
    expect(listed[0]).toMatchObject({ metadata: { id: body.executionId }, stats: { total: 2 }, status: 'succeeded' });
    const unpaged = (await send('GET', '/v0/jobs/nightly-embeddings/executions?limit=2&offset=1')).body;
    expect(unpaged).toEqual(listed.slice(1, 3));
    const tasks = (await send('GET', `/v0/jobs/nightly-embeddings/executions/${body.id}/tasks`, paged)).body.data;
    expect(
      tasks.map(({ metadata }: { metadata: Record<string, string> }) =>
        Math.round(Date.parse(metadata['completedAt'] ?? '') - Date.parse(metadata['startedAt'] ?? '')),
      ),
    ).toEqual(body.tasks.map(({ seconds }: { seconds: number }) => seconds * 1000));
    expect((await send('POST', path, { body: { tasks: [] } })).status).toBe(400);
    expect((await send('POST', path, { body: { tasks: [1] } })).body.message).toContain('tasks.0');
  });

  test('a job starts at each of its public addresses, with or without a slash at the end', async () => {
    clock = now;
    const [body, job] = [{ tasks: [{ shard: 1 }] }, 'nightly-embeddings'];
    const paths = [`/production/jobs/${job}/executions/`, `${inference}/jobs/${job}/executions`];
    for (const path of [...paths, `/v0/jobs/${job}/executions`, `/v0/jobs/${job}/executions/`]) {
      expect(await send('POST', path, { body }), path).toMatchObject({
        status: 200,
        body: { job, workspace: 'production' },
      });
    }
    const { admin } = platform.current.tokens;
    const named = { body, token: admin, headers: { 'x-service-workspace': 'customer-demos' } };
    const other = await send('POST', '/v0/jobs/demo-data-reset/executions', named);
    expect(other).toMatchObject({ status: 200, body: { workspace: 'customer-demos' } });
    expect((await send('POST', `/v0/jobs/${job}/executions`, named)).status).toBe(404);
    const asked = { body: { inputs: 'x' } };
    expect((await send('POST', `${inference}/agents/invoice-reader/`, asked)).status).toBe(200);
  });

  test('an asynchronous call of an agent is 202, counts as a request, and calls back with its secret', async () => {
    clock = Date.UTC(2026, 9, 23, 16, 30);
    const before = called.length;
    const path = `${inference}/agents/invoice-reader/async`;
    const accepted = await send('POST', path, { body: { inputs: 'read this' } });
    expect([accepted.status, accepted.body.status]).toEqual([202, 'accepted']);
    await expect.poll(() => called.length).toBe(before + 1);
    const { url, body, signature } = called.at(-1) ?? { url: '', body: '', signature: '' };
    expect(url).toBe('/hooks/invoice-reader');
    expect(JSON.parse(body)).toMatchObject({ id: accepted.body.id, status: 'succeeded' });
    const [agent] = (await listed(platform.current, '/v0/agents?q=invoice-reader')).data;
    const secret = agent?.spec.triggers[0].configuration.callbackSecret;
    const time = /^t=(\d+),/.exec(signature)?.[1];
    const hmac = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    expect(signature).toBe(`t=${time},v1=${hmac}`);
    clock += hourMs;
    const withCall = (await usageOf('invoice-reader', 'agent_async_requests_count'))[16]?.usage ?? 0;
    expect(withCall % 1).toBe(0);
    expect(withCall).toBeGreaterThan(1);
  });
});

describe('what resources show over time (2.3, 2.4, 2.9, 3)', () => {
  const moving = useEmulator({ now: () => instant });
  let instant = now;

  async function statusesOf(path: string, name: string, from: number, minutes: number): Promise<string[]> {
    const seen: string[] = [];
    for (let minute = 0; minute <= minutes; minute++) {
      instant = from + minute * 60_000;
      const { data } = await listed(moving.current, `${path}?q=${name}&limit=200`);
      const item = data.find(({ metadata }) => metadata.name === name);
      if (item?.status !== undefined && item.status !== seen.at(-1)) seen.push(item.status);
    }
    return seen;
  }

  test('a deployment that fails is tried again; an archive comes and goes; together all statuses occur', async () => {
    const seen = new Set([
      ...(await statusesOf('/v0/functions', 'warehouse-sql', Date.UTC(2026, 7, 15, 12), 30)),
      ...(await statusesOf('/v0/models', 'gpt-gateway', Date.UTC(2026, 7, 7, 12), 6)),
      ...(await statusesOf('/v0/sandboxes', 'dev-bo', Date.UTC(2026, 9, 17, 5, 59), 12)),
      ...(await statusesOf('/v0/sandboxes', 'dev-bo', Date.UTC(2026, 9, 17, 19, 59), 12)),
      ...(await statusesOf('/v0/sandboxes', 'pr-1702-preview', Date.UTC(2026, 8, 30, 9, 58), 2)),
    ]);
    instant = Date.UTC(2026, 8, 30, 10, 2);
    const { data } = await listed(moving.current, '/v0/sandboxes?q=pr-1702&showTerminated=true');
    seen.add(data[0]?.status ?? '');
    expect([...seen].sort()).toEqual(
      'ARCHIVED ARCHIVING BUILDING BUILT DEACTIVATED DEACTIVATING DELETING DEPLOYED DEPLOYING FAILED TERMINATED UNARCHIVING UPLOADING'.split(
        ' ',
      ),
    );
  });

  test('a sandbox that is unarchived shows how far it is', async () => {
    instant = Date.UTC(2026, 9, 17, 20, 5);
    const { data } = await listed(moving.current, '/v0/sandboxes?q=dev-bo');
    expect(data[0]).toMatchObject({ status: 'UNARCHIVING', archive: { restore: { state: 'extracting' } } });
  });

  test('volumes that are billed are mounted, one of them twice; a timeout is for mk3 only', async () => {
    instant = now;
    const items: Item[] = [];
    for (const kind of ['agents', 'jobs', 'sandboxes', 'functions']) {
      items.push(
        ...(await allItems(moving.current, `/v0/${kind}?${kind === 'sandboxes' ? 'showTerminated=true' : ''}`)),
      );
    }
    const mounts = items.flatMap(({ metadata, spec }) =>
      (spec.volumes ?? [])
        .filter(({ type }: { type: string }) => type === 'persistent')
        .map(({ name }: { name: string }) => `${metadata.workspace}/${name}`),
    );
    const window = 'startTime=2026-10-20T00:00:00Z&endTime=2026-10-21T00:00:00Z';
    const billed = await metrics(moving.current, `${window}&resourceType=volume&groupBy=workspace,resource_name`);
    const volumes = billed.data.map(({ workspace, resourceName }) => `${workspace}/${resourceName}`);
    expect([...new Set(mounts)].sort()).toEqual(volumes.sort());
    expect(mounts.filter((mount) => mount === 'production/model-cache')).toHaveLength(2);
    const asynchronous = items.flatMap(({ spec }) =>
      (spec.triggers ?? []).map((trigger: object) => ({ spec, trigger })),
    );
    for (const { spec, trigger } of asynchronous.filter(
      ({ trigger }) => 'type' in trigger && trigger.type === 'http-async',
    )) {
      expect([spec.runtime.generation, 'timeout' in trigger.configuration]).toEqual([
        spec.runtime.generation,
        spec.runtime.generation === 'mk3',
      ]);
    }
    const types = new Set(asynchronous.map(({ trigger }) => 'type' in trigger && trigger.type));
    expect(types).toEqual(new Set(['http', 'http-async', 'cron']));
    expect(items.some(({ spec }) => spec.revision?.canaryPercent > 0 && spec.revision.canary !== '')).toBe(true);
    expect(items.some(({ spec }) => spec.runtime?.minScale > 0)).toBe(true);
  });
});

describe('tokens (5)', () => {
  const chat = { messages: [{ role: 'user', content: 'x' }] };
  const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
  const preview = '/_sandboxes/preview-main/staging/us-pdx-1';
  const metricsPath = '/v0/accounts/acc-harbor-labs/metrics';
  const window = 'startTime=2026-10-20T00:00:00Z&endTime=2026-10-21T00:00:00Z';

  // The member and the workspace's token see production; the admin sees everything, here staging.
  test.each<[string, string, unknown, { member: number; workspace: number; admin: number }]>([
    ['GET', '/v0/accounts', undefined, { member: 200, workspace: 200, admin: 200 }],
    ['GET', `${metricsPath}?${window}`, undefined, { member: 200, workspace: 200, admin: 200 }],
    ['GET', `${metricsPath}?${window}&groupBy=workspace`, undefined, { member: 403, workspace: 403, admin: 200 }],
    ['GET', `${metricsPath}/enums/group-by`, undefined, { member: 200, workspace: 200, admin: 200 }],
    ['GET', `${metricsPath}/enums/resource-types?${window}`, undefined, { member: 200, workspace: 200, admin: 200 }],
    ...['sandboxes', 'agents', 'functions', 'jobs', 'models', 'policies'].map(
      (kind): [string, string, unknown, { member: number; workspace: number; admin: number }] => [
        'GET',
        `/v0/${kind}`,
        undefined,
        { member: 200, workspace: 200, admin: 200 },
      ],
    ),
    ['GET', '/v0/integrations/openai', undefined, { member: 200, workspace: 200, admin: 200 }],
    ['GET', '/v0/templates/mcp-starter', undefined, { member: 200, workspace: 200, admin: 200 }],
    ['GET', '/v0/templates/mcp-starter/contents', undefined, { member: 200, workspace: 200, admin: 200 }],
    [
      'POST',
      '/v0/sandboxes/dev-ana/snapshots/nightly-2026-10-20/restore',
      undefined,
      { member: 403, workspace: 404, admin: 200 },
    ],
    ['DELETE', '/v0/models/long-context-gateway', undefined, { member: 403, workspace: 404, admin: 200 }],
    ['POST', '/_inference/staging/agents/support-triage', { inputs: 'x' }, { member: 403, workspace: 403, admin: 200 }],
    ['POST', '/_inference/production/models/gpt-gateway', chat, { member: 200, workspace: 200, admin: 200 }],
    [
      'POST',
      '/_inference/staging/models/gpt-gateway/chat/completions',
      chat,
      { member: 403, workspace: 403, admin: 403 },
    ],
    ['POST', '/_inference/staging/functions/crm-tools/mcp', opening, { member: 403, workspace: 403, admin: 200 }],
    [
      'POST',
      '/customer-demos/jobs/demo-data-reset/executions',
      { tasks: [{}] },
      { member: 403, workspace: 403, admin: 200 },
    ],
    ['GET', `${preview}/`, undefined, { member: 403, workspace: 403, admin: 200 }],
    ['GET', `${preview}/filesystem/tree/app`, undefined, { member: 403, workspace: 403, admin: 200 }],
    ['POST', `${preview}/mcp`, opening, { member: 403, workspace: 403, admin: 200 }],
    ['POST', `${preview}/upgrade`, { version: 'latest' }, { member: 403, workspace: 403, admin: 200 }],
  ])(
    '%s %s: a member, a workspace and an admin get what they may, nobody else anything',
    async (method, path, body, may) => {
      clock = now;
      const { tokens, workspaceTokens } = platform.current;
      const options = { ...(body === undefined ? {} : { body }), headers: { 'content-type': 'application/json' } };
      const statusOf = async (token: string) => (await send(method, path, { ...options, token })).status;
      expect([await statusOf(''), await statusOf('wrong')]).toEqual([401, 401]);
      const found = {
        member: await statusOf(tokens.member),
        workspace: await statusOf(workspaceTokens['production'] ?? ''),
        admin: await statusOf(tokens.admin),
      };
      expect(found).toEqual(may);
    },
  );

  test('one with the scope functions:list lists functions and nothing else', async () => {
    const token = platform.current.scopedTokens['functions:list'] ?? '';
    expect((await askIn(platform.current, '2026-04-28', '/v0/functions', token)).status).toBe(200);
    for (const path of ['/v0/agents', '/v0/accounts', '/v0/templates/mcp-starter']) {
      const { status, body } = await askIn(platform.current, '2026-04-28', path, token);
      expect([status, body.error]).toEqual([403, 'insufficient_scope']);
    }
  });
});

describe('the typed client', () => {
  const routing = [{ destinations: ['*.example.com'], body: { key: '{{SECRET:k}}' } }, { body: 'plain' }];
  const box = { metadata: { name: 'box', labels: null }, spec: { network: { proxy: { routing } } }, state: 'STANDBY' };
  const other = { metadata: { name: 'other' }, status: null };

  /** The items of the sandboxes in one answer. */
  async function itemsIn(answer: unknown): Promise<unknown[]> {
    const { url } = await startServer((response) => response.end(JSON.stringify(answer)));
    const client = openPlatform({ url, token: 'x' });
    const items: unknown[] = [];
    try {
      for await (const item of client.items('sandboxes', {})) items.push(item);
    } finally {
      await client.close();
    }
    return items;
  }

  test('accepts every form of a listing that the public description allows', async () => {
    for (const meta of [undefined, null, {}, { hasMore: false }, { total: 2 }, { hasMore: null, nextCursor: null }]) {
      expect(await itemsIn({ data: [box, other], meta }), JSON.stringify(meta)).toEqual([box, other]);
    }
    expect(await itemsIn([box, other])).toEqual([box, other]);
  });

  test('names the field of a listing that has another shape', async () => {
    const wrong = { metadata: { name: 'wrong', labels: { team: 7 } } };
    await expect(itemsIn({ data: [box, wrong], meta: {} })).rejects.toThrow('data[1].metadata.labels.team: ');
    await expect(itemsIn([wrong])).rejects.toThrow('[0].metadata.labels.team: ');
    const listed = { ...box, spec: { network: { proxy: { routing: [{ body: ['a'] }] } } } };
    await expect(itemsIn([listed])).rejects.toThrow('[0].spec.network.proxy.routing[0].body: ');
    await expect(itemsIn({ data: [box], meta: { hasMore: 'no' } })).rejects.toThrow('meta.hasMore: ');
  });

  test('calls every operation, and its answers have the documented shape', async () => {
    const { url, inferenceUrl, sandboxUrl, workspaceTokens, tokens } = platform.current;
    const values: Record<string, string> = {
      accountId: 'acc-harbor-labs',
      startTime: '2026-10-20T00:00:00Z',
      endTime: '2026-10-21T00:00:00Z',
      integrationName: 'openai',
      connectionName: 'openai',
      volumeName: 'staging-database',
      resourceType: 'sandbox',
      imageName: 'dev-bo',
      snapshotName: 'dev-bo-nightly-2026-10-20',
      templateName: 'mcp-starter',
      sandboxName: 'dev-bo',
      workspaceName: 'staging',
      snapshotId: 'nightly-2026-10-20',
      modelName: 'gpt-gateway',
      workspace: 'staging',
      agent: 'support-triage',
      agentName: 'support-triage',
      functionName: 'crm-tools',
      model: 'gpt-gateway',
      server: 'crm-tools',
      job: 'none',
      sandbox: 'preview-main',
      region: 'us-pdx-1',
      path: 'app',
    };
    const bodies: Record<string, unknown> = {
      'query-agent': { inputs: 'x' },
      'function-mcp': { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } },
      'sandbox-mcp': { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } },
    };
    // Not in staging: a job, a domain, a policy, an external ID, and a model that is switched on and was not deleted.
    const elsewhere = [
      ...['executions', 'execution', 'tasks', 'custom-domain', 'job', 'model', 'policy'],
      ...['sandbox-by-external-id', 'volume-by-external-id'],
      ...['execute-job', 'start-execution', 'query-model', 'chat-completions'],
    ];
    const client = openPlatform({ url, inferenceUrl, sandboxUrl, token: workspaceTokens['staging'] ?? '' });
    const admin = openPlatform({ url, inferenceUrl, sandboxUrl, token: tokens.admin });
    clock = now;
    for (const operation of allOperations) {
      if (elsewhere.includes(operation.name)) continue;
      const given = Object.fromEntries(
        operation.parameters.filter(({ required }) => required).map(({ name }) => [name, values[name]]),
      );
      const key = operation.name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      const options = bodies[operation.name] === undefined ? {} : { body: bodies[operation.name] };
      const answer = await (operation.section === '4.6' ? admin : client).call(
        key as 'agents',
        given as never,
        options,
      );
      expect(answer, operation.name).toBeDefined();
    }
    const job = { workspace: 'production', job: 'log-compaction' };
    expect(await admin.call('executeJob', job, { body: { tasks: [{}] } })).toMatchObject({ status: 'SUCCEEDED' });
    const model = { workspace: 'production', model: 'gpt-gateway' };
    const chat = { body: { messages: [{ role: 'user', content: 'hello' }] } };
    expect(await admin.call('chatCompletions', model, chat)).toMatchObject({ object: 'chat.completion' });
    expect(await admin.call('queryModel', model, chat)).toMatchObject({ object: 'chat.completion' });
    await Promise.all([client.close(), admin.close()]);
  });
});
