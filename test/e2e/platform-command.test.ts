import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, secretMarker, startEmulator } from '../../src/emulator/index.ts';
import { allOperations } from '../../src/platform/interface/operations.ts';
import { type Ended, newProject, runCli } from '../support/project.ts';

const now = '2026-10-21T03:30:00Z';
let dir = '';
let platform: Emulator;
beforeAll(async () => {
  dir = await newProject();
  platform = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse('2026-10-21') });
});
afterAll(() => platform.close());

function costbook(
  args: readonly string[],
  {
    token = platform.tokens.admin,
    stdin,
    env = {},
  }: { token?: string; stdin?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  return runCli(
    ['platform', ...args, '--dir', dir, '--now', now],
    {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: token,
      COSTBOOK_INFERENCE_URL: platform.inferenceUrl,
      COSTBOOK_SANDBOX_URL: platform.sandboxUrl,
      ...env,
    },
    stdin === undefined ? {} : { stdin },
  );
}

const sandbox = ['--sandbox', 'preview-main', '--workspace', 'staging', '--region', 'us-pdx-1'];
const initialize =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
const day = ['--start-time', '2026-10-20', '--end-time', '2026-10-21'];

/** A call of each operation: its flags, and its body on stdin. */
const calls: Readonly<Record<string, { readonly args?: readonly string[]; readonly stdin?: string }>> = {
  sandboxes: {},
  agents: {},
  functions: {},
  jobs: {},
  models: {},
  policies: {},
  sandbox: { args: ['--sandbox-name', 'code-runner'] },
  'sandbox-by-external-id': { args: ['--external-id', 'HL-RUN-001'] },
  agent: { args: ['--agent-name', 'support-triage'] },
  function: { args: ['--function-name', 'crm-tools'] },
  job: { args: ['--job-id', 'log-compaction'] },
  model: { args: ['--model-name', 'gpt-gateway'] },
  policy: { args: ['--policy-name', 'eu-only'] },
  'volume-by-external-id': { args: ['--external-id', 'none'] },
  integration: { args: ['--integration-name', 'openai'] },
  'restore-sandbox': { args: ['--sandbox-name', 'dev-bo', '--snapshot-id', 'nightly-2026-10-20'] },
  template: { args: ['--template-name', 'mcp-starter'] },
  'template-contents': { args: ['--template-name', 'mcp-starter'] },
  'delete-model': { args: ['--model-name', 'embedding-gateway'] },
  metrics: { args: [...day, '--resolution', 'daily'] },
  'group-by-enum': {},
  'resource-types-enum': { args: day },
  accounts: {},
  workspaces: {},
  workspace: { args: ['--workspace-name', 'staging'] },
  volumes: {},
  volume: { args: ['--volume-name', 'model-cache'] },
  images: {},
  image: { args: ['--resource-type', 'agent', '--image-name', 'checkout-assistant'] },
  'custom-domains': {},
  'custom-domain': { args: ['--domain-name', 'demo.harborlabs.example'] },
  connections: {},
  connection: { args: ['--connection-name', 'stripe'] },
  snapshots: {},
  snapshot: { args: ['--snapshot-name', 'dev-bo-nightly-2026-10-21'] },
  'sandbox-snapshots': { args: ['--sandbox-name', 'dev-bo'] },
  executions: { args: ['--job-id', 'log-compaction'] },
  execution: { args: ['--job-id', 'log-compaction', '--execution-id', 'c618f6b1-a3d1-4186-a60e-3fc47c0e27a9'] },
  tasks: { args: ['--job-id', 'log-compaction', '--execution-id', 'c618f6b1-a3d1-4186-a60e-3fc47c0e27a9'] },
  users: {},
  'service-accounts': {},
  'query-agent': { args: ['--workspace', 'production', '--agent', 'fraud-watch'], stdin: '{"inputs":"x"}' },
  'query-model': { args: ['--workspace', 'production', '--model', 'gpt-gateway'], stdin: '{"messages":[]}' },
  'chat-completions': {
    args: ['--workspace', 'production', '--model', 'gpt-gateway'],
    stdin: '{"messages":[{"role":"user","content":"x"}]}',
  },
  'function-mcp': { args: ['--workspace', 'staging', '--server', 'crm-tools', '-f', '-'], stdin: initialize },
  'execute-job': { args: ['--workspace', 'production', '--job', 'log-compaction'], stdin: '{"tasks":[{}]}' },
  'start-execution': { args: ['--job-id', 'log-compaction'], stdin: '{"tasks":[{}]}' },
  'sandbox-mcp': { args: [...sandbox, '-f', '-'], stdin: initialize },
  'sandbox-api': { args: sandbox },
  'sandbox-tree': { args: [...sandbox, '--path', 'app'] },
  'upgrade-sandbox-api': { args: sandbox },
};

test('--list --json has every operation with its method, path, section, and whether it changes something', async () => {
  const { stdout, exitCode } = await costbook(['--list', '--json'], { env: { COSTBOOK_TOKEN: '' } });
  expect(exitCode).toBe(0);
  const listed = JSON.parse(stdout) as Record<string, unknown>[];
  for (const one of listed) expect(Object.keys(one)).toEqual(['operation', 'method', 'path', 'section', 'changes']);
  expect(listed).toContainEqual({
    operation: 'delete-model',
    method: 'DELETE',
    path: '/v0/models/{modelName}',
    section: '4.5',
    changes: true,
  });
  expect(Object.keys(calls).sort()).toEqual(listed.map(({ operation }) => String(operation)).sort());
});

describe('every operation, as', () => {
  /** What the emulator answers to a token that may not do something. */
  const forbidden = /answered 40[134]/;
  const roles = ['admin', 'member', 'workspace'] as const;
  const tokenOf = (role: (typeof roles)[number]) =>
    role === 'workspace' ? (platform.workspaceTokens['staging'] ?? '') : platform.tokens[role];

  test.each(roles)(
    '%s: it is answered or refused, and no secret of a resource or of ours is printed',
    async (role) => {
      const token = tokenOf(role);
      const ended = await inTurns(Object.entries(calls), async ([name, { args = [], stdin }]) => ({
        name,
        ...(await costbook([name, ...args, '--yes'], { token, ...(stdin === undefined ? {} : { stdin }) })),
      }));
      for (const { name, exitCode, stdout, stderr } of ended) {
        const said = `${name}: ${stderr}`;
        if (exitCode === 0) expect(stdout.trim(), said).not.toBe('');
        else expect([exitCode, forbidden.test(stderr)], said).toEqual([3, true]);
        expect(`${stdout}${stderr}`, name).not.toContain(secretMarker);
        expect(`${stdout}${stderr}`, name).not.toContain(token);
        expect(stderr, name).not.toMatch(/another shape|\n\s+at /);
      }
      const refused = ended.filter(({ exitCode }) => exitCode !== 0).map(({ name }) => name);
      // The admin's token reaches everything; a name that several workspaces have needs the token of one. No volume has an ID.
      const alone = ['delete-model', 'restore-sandbox', 'volume-by-external-id'];
      if (role === 'admin') expect(refused.filter((name) => !alone.includes(name))).toEqual([]);
      else expect(refused).not.toEqual([]);
    },
    120_000,
  );
});

describe('a request that changes something', () => {
  test.each(allOperations.filter(({ changes, method }) => changes && method !== 'ANY').map(({ name }) => name))(
    '%s says what it does, and is not sent without --yes',
    async (name) => {
      const before = platform.requests.length;
      const { args = [], stdin } = calls[name] ?? {};
      const ended = await costbook([name, ...args], stdin === undefined ? {} : { stdin });
      expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
      expect(ended.stderr).toContain('Nothing was sent');
      expect(ended.stderr).not.toMatch(/\{\w+\}/);
      expect(platform.requests.length).toBe(before);
    },
  );
});

describe('costbook platform', () => {
  test('follows all pages, as lines or as one list', async () => {
    const [lines, list] = await Promise.all([
      costbook(['agents', '--limit', '5', '--all']),
      costbook(['agents', '--limit', '5', '--all', '--json']),
    ]);
    const names = lines.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).metadata.name as string);
    expect(names.length).toBeGreaterThan(5);
    expect((JSON.parse(list.stdout) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(
      names,
    );
  });

  test('reports every mistake at once, with exit code 2, and sends nothing', async () => {
    const before = platform.requests.length;
    const ended = await costbook([
      'metrics',
      '--limit',
      '0',
      '--group-by',
      'workspace,workspace',
      '--sandbox',
      'x',
      '--start-time',
      'soon',
    ]);
    expect(ended.exitCode).toBe(2);
    for (const flag of ['--limit', '--group-by', '--sandbox', '--start-time', '--end-time']) {
      expect(ended.stderr).toContain(`${flag}: `);
    }
    expect(ended.stderr.trim().split('\n')).toHaveLength(5);
    expect(platform.requests.length).toBe(before);
  });

  test.each([
    ['no JSON', 'nonsense {"key":"hunter2"'],
    ['another shape', '{"inputs":5,"key":"hunter2"}'],
    ['nothing', ''],
  ])('refuses a body that is %s, without repeating it', async (_, stdin) => {
    const args = ['query-agent', '--workspace', 'production', '--agent', 'fraud-watch', '--yes'];
    const ended = await costbook(args, { stdin });
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('expected {inputs: string}');
    expect(ended.stderr).not.toContain('hunter2');
  });

  test('passes a value that the interface does not list, with a warning', async () => {
    const ended = await costbook(['agents', '--status', 'MELTING']);
    expect(ended.stderr).toContain('warning: --status');
    expect(ended.stderr).toContain('answered 400');
    expect(ended.exitCode).toBe(3);
  });

  test("uses a workspace's own token and the header that names it", async () => {
    const own = platform.workspaceTokens['staging'] ?? '';
    await writeFile(
      join(dir, 'costbook.yaml'),
      `workspaceHeader: X-Workspace\ninventory: { tokens: { staging: "\${STAGING_TOKEN}" } }\n`,
    );
    const ended = await costbook(['agents', '--workspace', 'staging', '--json'], { env: { STAGING_TOKEN: own } });
    await writeFile(join(dir, 'costbook.yaml'), '');
    expect(ended.exitCode, ended.stderr).toBe(0);
    const { data } = JSON.parse(ended.stdout) as { data: { metadata: { workspace: string } }[] };
    expect(new Set(data.map(({ metadata }) => metadata.workspace))).toEqual(new Set(['staging']));
  });

  test('an unknown operation is answered with the nearest one', async () => {
    const ended = await costbook(['delete-modl']);
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('did you mean "delete-model"');
  });
});

/** Runs a few at a time: each is a process. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < items.length; from += 4) {
    done.push(...(await Promise.all(items.slice(from, from + 4).map(work))));
  }
  return done;
}
