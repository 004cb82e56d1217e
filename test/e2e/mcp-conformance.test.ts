// Second tier: Runs the official conformance suite and inspector, a process each; e2e/mcp speaks with a client of its own.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { tools } from '../../src/mcp/tools.ts';
import { cli, newProject, runCli, startCli, startMain } from '../support/project.ts';

/**
 * The server scenarios of the official suite that any server can pass. The others call tools, prompts and resources of
 * the suite's own example server, or logging, completion and sampling, which Costbook does not offer.
 */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
];

const packages = new URL('../../node_modules/@modelcontextprotocol/', import.meta.url);
const conformance = fileURLToPath(new URL('conformance/dist/index.js', packages));
// It finds its package file from the current folder alone.
const inspector = fileURLToPath(new URL('inspector-cli/build/index.js', packages));
const now = '2026-11-03T06:30:00Z';
let dir = '';
let url = '';
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  dir = await newProject();
  const platform = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse(now), resources: 5 });
  closing.push(() => platform.close());
  const ended = await runCli(['ingest', '--dir', dir, '--now', now], {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_SINCE: '2026-11-01',
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  const server = startMain(['serve', '--port', '0', '--json', '--dir', dir, '--now', now]);
  url = `${(JSON.parse(await server.firstLine) as { url: string }).url}/mcp`;
}, 120_000);

afterAll(async () => {
  for (const close of closing) await close();
});

describe('the MCP server of the dashboard', () => {
  test.each(scenarios)('passes the scenario %s of the official conformance suite', async (scenario) => {
    const { exitCode, stdout, stderr } = await startCli(
      ['server', '--url', url, '--scenario', scenario],
      {},
      { cli: conformance },
    ).ended;
    expect(exitCode, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
  });
});

describe.each([
  ['stdin', () => [process.execPath, cli, 'mcp', '--dir', dir, '--now', now]],
  ['the dashboard', () => [url]],
])('the official inspector, over %s', (_, target) => {
  async function inspect(...args: string[]): Promise<Record<string, unknown>> {
    const { exitCode, stdout, stderr } = await startCli(
      [...target(), ...args],
      {},
      { cli: inspector, cwd: dirname(inspector) },
    ).ended;
    expect(exitCode, stdout + stderr).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  test('lists the tools, resources and prompts', async () => {
    const listed = (await inspect('--method', 'tools/list'))['tools'] as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    expect((await inspect('--method', 'resources/list'))['resources']).toHaveLength(3);
    expect((await inspect('--method', 'prompts/list'))['prompts']).toHaveLength(2);
  });

  test('calls a tool and gets its structured answer', async () => {
    const answer = await inspect('--method', 'tools/call', '--tool-name', 'query', '--tool-arg', 'sql=select 1 as one');
    expect(answer['structuredContent']).toMatchObject({ data: { rows: [{ one: 1 }] } });
  });
});
