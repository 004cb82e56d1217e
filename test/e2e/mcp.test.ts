import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { limitedTools } from '../../src/mcp/limited-tools.ts';
import { tools } from '../../src/mcp/tools.ts';
import { askSnapshot, cli, newProject, runCli, startMain } from '../support/project.ts';

const now = '2026-11-03T06:30:00Z';
let dir = '';
let client: Client;
let stderr = '';
let platformToken = '';
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  dir = await newProject();
  const platform = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse(now), resources: 20 });
  closing.push(() => platform.close());
  const ended = await runCli(['ingest', '--dir', dir, '--now', now], {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_SINCE: '2026-09-01',
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  platformToken = platform.tokens.admin;
  // A token of a workspace that stands in a file: whoever asks the books must not see it either.
  await writeFile(join(dir, 'token-of-north.txt'), 'cb_in_a_file_0123456789abcdef\n');
  const tokens = 'inventory: { tokens: { north: { tokenFile: token-of-north.txt } } }';
  await writeFile(join(dir, 'costbook.yaml'), `token: ${platformToken}\n${tokens}\nheaders: { X-Beta: 'true' }\n`);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'mcp', '--dir', dir, '--now', now],
    env: { PATH: process.env['PATH'] ?? '', COSTBOOK_URL: platform.url },
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  closing.unshift(() => client.close());
}, 120_000);

afterAll(async () => {
  for (const close of closing) await close();
});

interface Called {
  readonly isError: boolean;
  readonly text: string;
  readonly answer: {
    readonly completeThrough: string | null;
    readonly source: string;
    readonly notice: string;
    readonly next: string | null;
    readonly data: Record<string, unknown> & { rows: Record<string, unknown>[] };
  };
}

async function call(name: string, args: Record<string, unknown> = {}): Promise<Called> {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args });
  const [first] = content as { text: string }[];
  return { isError: isError === true, text: first?.text ?? '', answer: structuredContent as Called['answer'] };
}

describe('an agent that asks the books', () => {
  test('finds every tool with schemas, and each says that it only reads', async () => {
    const listed = (await client.listTools()).tools;
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    for (const { name, annotations, inputSchema, outputSchema } of listed) {
      expect(annotations, name).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(inputSchema.type, name).toBe('object');
      expect(outputSchema?.required, name).toContain('completeThrough');
    }
  });

  test.each([
    ['status', {}],
    ['describe_data', {}],
    ['describe_data', { view: 'costs' }],
    ['query', { sql: 'select 1 as one' }],
    ['list_reports', {}],
    ['run_report', { name: 'cost_by_workspace', parameters: { month: '2026-10' } }],
    ['compare_periods', { month: '2026-10', base: '2026-09' }],
    ['explain_cost', { month: '2026-10' }],
    ['budgets', {}],
    ['forecast', {}],
    ['anomalies', {}],
    ['alerts', {}],
  ])('%s %j answers, and says through when it is complete and where it comes from', async (name, args) => {
    const { isError, text, answer } = await call(name, args);
    expect(isError, text).toBe(false);
    expect(answer.completeThrough).toBe('2026-11-03T04:00:00Z');
    expect(answer.source).not.toBe('');
    expect(answer.notice).toContain('data');
    expect(JSON.parse(text)).toEqual(answer);
  });

  test('gets the same costs as SQL, to the last decimal', async () => {
    const [truth] = await askSnapshot(
      dir,
      "select cast(sum(cost) as varchar) as cost from costs_monthly where usage_month = '2026-10-01'",
    );
    const { answer } = await call('run_report', { name: 'cost_by_workspace', parameters: { month: '2026-10' } });
    const { answer: asked } = await call('query', {
      sql: "select sum(cost) as cost from costs_monthly where usage_month = '2026-10-01'",
    });
    expect(asked.data.rows).toEqual([truth]);
    const sum = answer.data.rows.reduce((total, { cost }) => total + BigInt(String(cost).replace('.', '')), 0n);
    expect(sum).toBe(BigInt(String(truth?.['cost']).replace('.', '')));
  });

  test('gets the costs, the states and the deployments of a resource', async () => {
    const [row] = await askSnapshot(
      dir,
      `select resource_name as name, workspace, cast(sum(cost) as varchar) as cost from costs_monthly
      where resource_type = 'agent' and usage_month = '2026-10-01' group by all order by sum(cost) desc limit 1`,
    );
    const { answer } = await call('resource', { name: row?.['name'], workspace: row?.['workspace'] });
    const { costs, states, deployments } = answer.data as unknown as Record<
      'costs' | 'states' | 'deployments',
      Record<string, string>[]
    >;
    const october = costs
      .filter(({ month }) => month === '2026-10')
      .map(({ cost = '' }) => BigInt(cost.replace('.', '')));
    expect(october.reduce((sum, cost) => sum + cost, 0n)).toBe(BigInt(String(row?.['cost']).replace('.', '')));
    expect(states[0]).toMatchObject({ workspace: row?.['workspace'], resource_type: 'agent', valid_to: null });
    expect(deployments[0]).toMatchObject({ is_event: true, status: 'DEPLOYED', resource_name: row?.['name'] });
    expect(answer).toMatchObject({ completeThrough: '2026-11-03T04:00:00Z', next: null });
  });

  test('gets as many rows as it asks for, and how to read on', async () => {
    const { answer } = await call('query', { sql: 'select * from range(50) as t(i) order by i', maxRows: 3 });
    expect(answer.data.rows).toEqual([{ i: 0 }, { i: 1 }, { i: 2 }]);
    expect(answer.next).toContain('offset');
    expect((await call('query', { sql: 'select 1 as i', maxRows: 3 })).answer.next).toBe(null);
  });

  test.each([
    ['query', { sql: "copy (select 1) to 'x.csv'" }, 'read-only'],
    ['query', { sql: 'select 1; select 2' }, ''],
    ['query', { sql: "select * from read_text('/etc/hostname')" }, ''],
    ['query', { sql: "select getenv('COSTBOOK_TOKEN')" }, ''],
    ['query', {}, 'sql'],
    ['query', { sql: 'select 1', maxRows: 1_000_000 }, 'maxRows'],
    ['describe_data', { view: "costs' or 1=1 --" }, 'no view'],
    ['run_report', { name: 'no_such_report' }, 'no report'],
    ['run_report', { name: 'cost_by_workspace', parameters: { workspace: 'prodution' } }, 'production'],
    ['run_report', { name: 'cost_by_workspace', parameters: { month: '2019-01' } }, ''],
    ['resource', { name: "x'; drop table costs; --" }, 'no resource'],
    ['budgets', { out: '/tmp/x' }, 'additional'],
  ])('%s %j is refused in words that it can act on', async (name, args, words) => {
    const { isError, text } = await call(name, args);
    expect(isError, text).toBe(true);
    expect(text).toContain(words);
    expect(text).not.toMatch(/\n\s+at |emulator-admin/);
  });

  test('finds the pages that explain the data, and the prompts', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      ['glossary', 'data-dictionary', 'cookbook'].map((name) => `costbook://docs/${name}`),
    );
    const { contents } = await client.readResource({ uri: 'costbook://docs/glossary' });
    const page = await readFile(new URL('../../docs/glossary.md', import.meta.url), 'utf8');
    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown', text: page });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['monthly_review', 'investigate_anomaly']);
    const { messages } = await client.getPrompt({ name: 'monthly_review', arguments: { month: '2026-10' } });
    expect(JSON.stringify(messages)).toContain('2026-10');
  });

  test('changes nothing: no file of the project is written, and no secret is said', async () => {
    const before = await readFile(join(dir, 'data', 'costbook.duckdb'));
    await call('run_report', { name: 'cost_by_workspace', parameters: { month: '2026-10' } });
    expect((await readFile(join(dir, 'data', 'costbook.duckdb'))).equals(before)).toBe(true);
    await expect(readFile(join(dir, 'exports'))).rejects.toThrow('ENOENT');
    expect(stderr).not.toContain('emulator-admin');
  });
});

const all = 'agent-token-of-finance-0001';
const some = 'agent-token-of-research-0001';
let url = '';

/** An agent at the dashboard, with a token. */
async function connect(token: string): Promise<Client> {
  const agent = new Client({ name: 'test', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return agent;
}

describe('an agent at /mcp of the dashboard', () => {
  beforeAll(async () => {
    await writeFile(
      join(dir, 'costbook.yaml'),
      `serve: { tokens: { finance: { token: ${all} }, research: { token: ${some}, workspaces: [research] } } }\n`,
    );
    const line = await startMain(['serve', '--port', '0', '--json', '--dir', dir, '--now', now]).firstLine;
    url = (JSON.parse(line) as { url: string }).url;
  }, 60_000);

  test('gets the answers that it gets on stdin', async () => {
    const agent = await connect(all);
    expect((await agent.listTools()).tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    const sql = 'select workspace, sum(cost) as cost from costs_monthly group by all order by all';
    const { structuredContent } = await agent.callTool({ name: 'query', arguments: { sql } });
    expect(structuredContent).toEqual((await call('query', { sql })).answer);
    await agent.close();
  });

  const hello = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  });
  const accept = 'application/json, text/event-stream';
  const right = { authorization: `Bearer ${all}`, 'content-type': 'application/json', accept };

  /** Sends a request with exactly these headers. */
  async function post(headers: Record<string, string>, body = hello): Promise<{ status: number; text: string }> {
    const asked = request(`${url}/mcp`, { method: 'POST', headers });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode ?? 0, text };
  }

  test.each([
    ['the right token', {}, 200],
    ['no token', { authorization: '' }, 401],
    ['a wrong token', { authorization: 'Bearer agent-token-of-nobody-0001' }, 401],
    [
      'a token that sees only some costs, from a page of another site',
      { authorization: `Bearer ${some}`, origin: 'https://evil.example' },
      403,
    ],
    ['another host', { host: 'evil.example' }, 421],
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a body that a form of another site could send', { 'content-type': 'text/plain' }, 415],
  ])('with %s', async (_, change, status) => {
    const { status: found, text } = await post({ ...right, ...change });
    expect(found, text).toBe(status);
    if (status !== 200) expect(text).not.toContain('completeThrough');
  });

  test('cannot subscribe: nothing changes, and the answer would hold a connection for ever', async () => {
    const version = '2026-07-28';
    const about = { name: 'x', version: '1' };
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          ...{ 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientInfo': about },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    });
    for (const token of [all, some]) {
      const headers = { 'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen' };
      const { text } = await post({ ...right, ...headers, authorization: `Bearer ${token}` }, body);
      expect(text).toContain('Subscription limit reached');
    }
  });

  test('cannot send more than a query needs, and pages still only read', async () => {
    expect((await post(right, `{"x":"${'y'.repeat(300_000)}"}`)).status).toBe(413);
    const answers = [fetch(`${url}/mcp`, { method: 'POST', headers: right, body: hello }), fetch(`${url}/mcp`)];
    for (const { headers } of await Promise.all(answers)) {
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toMatch(/no-store|no-cache/);
    }
    const headers = { authorization: `Bearer ${all}` };
    expect((await fetch(`${url}/explore`, { method: 'POST', headers })).status).toBe(405);
    expect((await fetch(`${url}/`, { headers })).status).toBe(200);
  });
});

describe('a file of the project', () => {
  const secret = 'cb_live_TOKENFILE_SECRET_0123456789';
  const values = {
    ...{ month: '2026-10', from: '2026-10-01', to: '2026-10-02T00:00:00Z', words: 'a', count: '3' },
    ...{ amount: '1.5', is_on: 'true' },
  };
  /** Paths that a person could try: one that exists, one that does not, outside, and a folder. */
  const paths = ['token.txt', 'nothing.txt', 'costbook.yaml', '/etc/passwd', '/etc/nothing', '../..', './'];
  const doors: Record<string, (name: string, parameters: Record<string, string>) => Promise<string>> = {
    'on stdin': async (name, parameters) => (await call('run_report', { name, parameters })).text,
    async 'over HTTP'(name, parameters) {
      const agent = await connect(all);
      const { content } = await agent.callTool({ name: 'run_report', arguments: { name, parameters } });
      await agent.close();
      return (content as { text: string }[])[0]?.text ?? '';
    },
    async 'on its page'(name, parameters) {
      const query = new URLSearchParams({ ...parameters, run: '1' });
      const page = await fetch(`${url}/reports/${name}?${query}`, { headers: { authorization: `Bearer ${all}` } });
      return (await page.text()).replace(/<form[\s\S]*?<\/form>/g, '').replace(/<[^>]*>/g, ' ');
    },
  };

  beforeAll(async () => {
    await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
    await writeFile(join(dir, 'token.txt'), `${secret}\n`);
    const types = 'month month, from date, to instant, words text, count integer, amount decimal, is_on boolean';
    const cells = Object.keys(values).map((name) => `cast($${name} as varchar) as c_${name}`);
    const head = (params: string) => `--! about: Doors?\n--! grain: c_month\n--! params: ${params}\n`;
    await writeFile(join(dir, 'sql/reports/typed.sql'), `${head(types)}select ${cells.join(', ')}\n`);
    const readsFile = `select c_month, content from (select 1 as c_month) cross join read_text($data)\n`;
    await writeFile(join(dir, 'sql/reports/reads_file.sql'), `${head('data file')}${readsFile}`);
    await writeFile(join(dir, 'sql/reports/may_read.sql'), `${head('data file = token.txt')}${readsFile}`);
    const budgets = `${head('budgets text = *')}select 1 as c_month, $budgets as given\n`;
    await writeFile(join(dir, 'sql/reports/of_budgets.sql'), budgets);
  });

  test.each(Object.entries(doors))(
    'is read for nobody who asks %s, also in an error; other parameters are',
    async (_, ask) => {
      expect(await ask('typed', values)).toContain('2026-10-01T00:00:00Z'.slice(0, 10));
      for (const name of ['reads_file', 'may_read', 'unit_economics']) {
        const parameter = name === 'unit_economics' ? 'metric' : 'data';
        const refusals = await Promise.all(
          paths.slice(0, name === 'reads_file' ? paths.length : 2).map((path) => ask(name, { [parameter]: path })),
        );
        for (const [index, words] of refusals.entries()) {
          expect(words).toMatch(/command line|no page reads|expected no parameter|expected one of/);
          expect(words).not.toMatch(/TOKENFILE|does not exist|is outside|is not a file/);
          expect(words.replaceAll(paths[index] ?? '', '')).toBe(refusals[0]?.replaceAll(paths[0] ?? '', ''));
        }
      }
      expect(await ask('of_budgets', { budgets: '{"a":1}' })).toMatch(/command line|expected no parameter/);
      expect(await ask('reads_file', {})).toMatch(/command line|no page reads/);
    },
  );

  test('never shows the token of the platform, wherever it stands', async () => {
    const { text } = await call('query', {
      sql: `select 'x${platformToken}x' as a, 'cb_in_a_file_0123456789abcdef' as b`,
    });
    expect(text).toContain('***');
    expect(text).not.toContain(platformToken);
    expect(text).not.toContain('cb_in_a_file_0123456789abcdef');
  });

  test('never shows that token as a name: of a column, or within a value', async () => {
    const { text } = await call('query', { sql: `select 1 as "${platformToken}", {'${platformToken}': 1} as b` });
    expect(text).toContain('"***":1');
    expect(text).not.toContain(platformToken);
  });

  test('shows nobody over HTTP in which folder it is', async () => {
    await writeFile(join(dir, 'sql/reports/broken.sql'), 'select 1\n');
    const agent = await connect(all);
    const answered = await agent.callTool({ name: 'run_report', arguments: { name: 'broken' } });
    await agent.close();
    expect(JSON.stringify(answered)).toContain('sql/reports/broken.sql:1:1');
    expect(JSON.stringify(answered)).not.toContain(dir);
  });

  test('hides a secret that is a word of JSON in texts only', async () => {
    const { text } = await call('query', { sql: `select 'true' as word, true as is_beta` });
    expect(text).toContain('"word":"***"');
    expect(text).toMatch(/"is_beta":"?true/);
  });
});

describe('an agent with a token of one workspace', () => {
  let agent: Client;
  /** Names that only costs of other workspaces have. */
  let others: readonly string[] = [];
  const own = "workspace = 'research'";

  beforeAll(async () => {
    agent = await connect(some);
    const names = await askSnapshot(
      dir,
      `with names as (
        select workspace as name, workspace from costs_monthly
        union all select resource_name, workspace from costs_monthly
        union all select resource_uuid, workspace from costs_monthly
      )
      select name from names where name is not null group by name having not bool_or(${own})`,
    );
    others = names.map(({ name }) => String(name));
    expect(others.length).toBeGreaterThan(10);
  });
  afterAll(() => agent.close());

  async function ask(name: string, args: Record<string, unknown> = {}): Promise<Called> {
    const { isError = false, content, structuredContent } = await agent.callTool({ name, arguments: args });
    const text = (content as { text: string }[]).map((part) => part.text).join('\n');
    return { isError: isError === true, text, answer: structuredContent as Called['answer'] };
  }

  async function costOf(where: string): Promise<string> {
    const [row] = await askSnapshot(dir, `select cast(sum(cost) as varchar) as cost from costs_monthly where ${where}`);
    return String(row?.['cost']);
  }
  const october = "usage_month = '2026-10-01'";

  test('finds the tools that can answer from its costs alone, the glossary, and no prompt', async () => {
    expect((await agent.listTools()).tools.map(({ name }) => name)).toEqual(limitedTools.map(({ name }) => name));
    expect((await agent.listResources()).resources.map(({ name }) => name)).toEqual(['glossary']);
    expect(agent.getServerCapabilities()?.prompts).toBeUndefined();
  });

  test('gets the exact costs of its workspace, and of no other', async () => {
    const asked = { from: '2026-10-01', to: '2026-10-31', step: 'month' };
    const { answer } = await ask('costs', asked);
    expect(answer.completeThrough).toBe('2026-11-03T04:00:00Z');
    expect(answer.data['total']).toBe(await costOf(`${own} and ${october}`));
    expect(answer.data.rows.map(({ group }) => group)).toEqual(['research']);
    const { answer: ofAccount } = await ask('costs', { ...asked, groupBy: 'account' });
    expect(ofAccount.data['total']).toBe(answer.data['total']);
    expect(answer.data['total']).not.toBe(await costOf(october));
  });

  test('sees no name of another workspace in any answer', async () => {
    const range = { from: '2026-09-01', to: '2026-11-02', maxRows: 1000, top: 50 };
    const groups = ['workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension', 'unit'];
    const answers = await Promise.all([
      ask('status'),
      ...[...groups, 'account', 'region', 'owner', 'owner:team', 'label:team'].map((groupBy) =>
        ask('costs', { ...range, step: 'month', groupBy }),
      ),
      ask('explain_cost', { days: 20, maxRows: 1000 }),
    ]);
    for (const { isError, text } of answers) {
      expect(isError, text).toBe(false);
      expect(others.filter((name) => text.includes(JSON.stringify(name)))).toEqual([]);
    }
    const { answer } = answers.at(-1) as Called;
    expect(new Set(answer.data.rows.map(({ workspace }) => workspace))).toEqual(new Set(['research']));
  });

  test.each([
    ['costs', (name: string) => ({ filters: { workspace: name }, groupBy: 'resource_name' }), 'production'],
    ['resource', (name: string) => ({ name }), ''],
    ['resource', (name: string) => ({ name: 'x', workspace: name }), 'production'],
  ])('gets from %s the same answer about costs of others as about none', async (tool, args, given) => {
    const name = given === '' ? (others.find((other) => /^[a-z]+-[a-z]+/.test(other)) ?? '') : given;
    const [there, none] = await Promise.all([ask(tool, args(name)), ask(tool, args('q'.repeat(name.length)))]);
    const plain = ({ text }: Called, used: string) => text.replaceAll(used, '…');
    expect(plain(there, name)).toBe(plain(none, 'q'.repeat(name.length)));
  });

  test('gets a resource of its own with months and states', async () => {
    const [row] = await askSnapshot(
      dir,
      `select resource_name as name, cast(sum(cost) as varchar) as cost from costs_monthly
      where ${own} and ${october} group by all order by sum(cost) desc limit 1`,
    );
    const { answer } = await ask('resource', { name: row?.['name'] });
    const [found] = answer.data['resources'] as { workspace: string; months: { month: string; cost: string }[] }[];
    const sum = (found?.months ?? [])
      .filter(({ month }) => month === '2026-10')
      .reduce((total, { cost }) => total + BigInt(cost.replace('.', '')), 0n);
    expect(found?.workspace).toBe('research');
    expect(sum).toBe(BigInt(String(row?.['cost']).replace('.', '')));
  });

  test.each([
    ['query', { sql: 'select * from costs' }],
    ['run_report', { name: 'cost_by_workspace' }],
    ['budgets', {}],
    ['alerts', {}],
    ['describe_data', {}],
    ['costs', { from: "2026-10-01' or 1=1" }],
    ['costs', { groupBy: 'cost' }],
    ['costs', { groupBy: 'label:x") from accounts --' }],
    ['costs', { filters: { "workspace') or (1=1": 'x' } }],
    ['costs', { filters: { owner: '\u0000shared' } }],
    ['costs', { filters: { workspace: ['research', 'production'] }, except: { region: ['x\u0000', '\ud800'] } }],
    ['costs', { filters: { workspace: 'research' }, except: { workspace: 'production' } }],
    ['costs', { from: '1999-01-01', to: '1999-01-02' }],
    ['explain_cost', { days: 1e9 }],
    ['resource', { name: "' or 1=1 --" }],
    ['resource', { name: 'x'.repeat(9000) }],
    ['resource', {}],
  ])('gets nothing of others, and no path or SQL, from %s %j', async (name, args) => {
    const text = await ask(name, args).then(
      (called) => called.text,
      (error: unknown) => (error as Error).message,
    );
    expect(others.filter((other) => text.includes(JSON.stringify(other)))).toEqual([]);
    expect(text).not.toContain(dir);
    expect(text).not.toMatch(/\bselect\b.*\bfrom\b/is);
    expect(text).not.toMatch(/Binder|Catalog|Conversion|duckdb/i);
  });

  test('reads no other page as a resource', async () => {
    for (const uri of ['costbook://docs/cookbook', 'costbook://docs/../data/costbook.duckdb', 'file:///etc/hostname']) {
      await expect(agent.readResource({ uri })).rejects.toThrow();
    }
  });

  test('keeps its scope while an agent with a full token asks at the same time', async () => {
    const full = await connect(all);
    const asked = { from: '2026-10-01', to: '2026-10-31', step: 'month' };
    const sql = "select cast(sum(cost) as varchar) as cost from costs_monthly where usage_month = '2026-10-01'";
    const mine = await costOf(`${own} and ${october}`);
    const everything = await costOf(october);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        Promise.all([ask('costs', asked), full.callTool({ name: 'query', arguments: { sql } })]),
      ),
    );
    for (const [limited, whole] of answers) {
      expect(limited.answer.data['total']).toBe(mine);
      expect(whole.structuredContent).toMatchObject({ data: { rows: [{ cost: everything }] } });
    }
    await full.close();
  });
});

test('costbook mcp ends when its client closes stdin', async () => {
  const ended = await runCli(['mcp', '--dir', dir, '--now', now]);
  expect(ended).toMatchObject({ exitCode: 0, stdout: '' });
});

test('costbook mcp without books says what to do', async () => {
  const ended = await runCli(['mcp', '--dir', await newProject()]);
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain('costbook init');
});
