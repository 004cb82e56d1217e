import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadAllocation } from '../../src/allocation/parse.ts';
import { loadBudgets } from '../../src/budgets/rules/file.ts';
import { parseConfig } from '../../src/config/config.ts';
import { type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts';
import { startServer } from '../support/http-server.ts';
import { cli, type Ended, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const now = '2026-09-05T12:30:00Z';
const files = ['.env.example', '.gitignore', 'costbook.yaml', 'jobs', 'jobs/allocation.yaml', 'jobs/budgets.yaml'];

let platform: ScriptedPlatform;
beforeAll(async () => {
  platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
});

/** Runs the command in a folder, without a terminal. */
function init(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runCli(['init', ...args, '--now', now], env, { cwd });
}

async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

/** A folder with a file that holds the token. */
async function withToken(): Promise<string> {
  const dir = await newProject();
  await writeFile(join(dir, 'token'), `${platform.tokens.member}\n`);
  return dir;
}

describe('costbook init', () => {
  test('checks with the platform, writes a valid project, and names the next command', async () => {
    const dir = await withToken();
    const begun = await init(dir, ['books', '--url', platform.url, '--token-file', 'token', '--account', 'acc_one']);
    expect(begun.exitCode, begun.stderr).toBe(0);
    expect(begun.stdout).toContain('The token works: role member, account acc_one; costs start in 2026-09.');
    expect(begun.stdout).toMatch(
      /Next:\n {2}costbook doctor --dir books\n {2}costbook ingest --dir books\n {2}costbook status --dir books\n$/,
    );
    expect(await filesIn(join(dir, 'books'))).toEqual(files);
    const ingested = await runCli(
      ['ingest', '--dir', 'books', '--now', now],
      { COSTBOOK_INVENTORY: 'false' },
      { cwd: dir },
    );
    expect(ingested.exitCode, ingested.stderr).toBe(0);
    const status = await runCli(['status', '--dir', 'books', '--now', now, '--exit-code'], {}, { cwd: dir });
    expect(status.exitCode, status.stdout).toBe(0);
  });

  test('writes only valid files, in which nothing is active until it is uncommented', async () => {
    const dir = await withToken();
    expect((await init(dir, ['--url', platform.url, '--token-file', 'token', '--account', 'acc_one'])).exitCode).toBe(
      0,
    );
    const file = join(dir, 'costbook.yaml');
    const text = await readFile(file, 'utf8');
    const config = parseConfig({ text, file, env: {}, now: Date.parse(now) });
    expect(config.accounts).toMatchObject([
      { id: 'acc_one', url: platform.url, token: { kind: 'file', path: join(dir, 'token') } },
    ]);
    expect(loadBudgets(join(dir, 'jobs', 'budgets.yaml'), { now: Date.parse(now), sinks: [] })).toEqual([]);
    expect(loadAllocation(join(dir, 'jobs', 'allocation.yaml'))).toBe(undefined);
    expect(await readFile(join(dir, '.gitignore'), 'utf8')).toContain('\ntoken\n');
  });

  test('writes examples that are valid once they are uncommented', async () => {
    const dir = await newProject();
    expect((await init(dir, [])).exitCode).toBe(0);
    /** The lines that begin with one # and are no words, without it. */
    async function uncomment(name: string): Promise<string> {
      const text = (await readFile(join(dir, name), 'utf8')).replaceAll(/^#(?!#| \S)/gm, '');
      await writeFile(join(dir, name), text);
      return text;
    }
    await uncomment('jobs/budgets.yaml');
    const budgets = loadBudgets(join(dir, 'jobs', 'budgets.yaml'), {
      now: Date.parse(now),
      sinks: ['finops', 'oncall'],
    });
    expect(budgets?.length).toBeGreaterThan(2);
    await uncomment('jobs/allocation.yaml');
    expect(loadAllocation(join(dir, 'jobs', 'allocation.yaml'))?.definition.rules.length).toBeGreaterThan(3);
    const config = parseConfig({
      text: (await uncomment('costbook.yaml')).replaceAll(/^token(File|Command):.*\n/gm, ''),
      file: join(dir, 'costbook.yaml'),
      env: {
        COSTBOOK_TOKEN: 'a-token',
        SLACK_WEBHOOK_URL: 'https://hooks.example.com/services/a',
        PAGER_SECRET: 'a-secret-that-is-long-enough',
      },
      now: Date.parse('2026-11-01T00:00:00Z'),
      requireSinks: true,
    });
    expect(config.sinks.map(({ name }) => name)).toEqual(['finops', 'pager', 'out']);
    expect(config.accounts.map(({ id }) => id)).toEqual(['acc_main']);
  });

  test('overwrites nothing: it names existing files and writes the others', async () => {
    const dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    await writeFile(join(dir, 'costbook.yaml'), 'url: https://mine.example.com\n');
    await writeFile(join(dir, 'jobs', 'budgets.yaml'), '# mine\n');
    const { exitCode, stdout } = await init(dir, []);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('kept  costbook.yaml, which already exists\n');
    expect(stdout).toContain('kept  jobs/budgets.yaml, which already exists\n');
    expect(stdout).toContain('wrote jobs/allocation.yaml\n');
    expect(await readFile(join(dir, 'costbook.yaml'), 'utf8')).toBe('url: https://mine.example.com\n');
    expect(await readFile(join(dir, 'jobs', 'budgets.yaml'), 'utf8')).toBe('# mine\n');
    const again = await init(dir, []);
    expect(again.stdout).not.toContain('wrote');
  });

  test('names schemas that exist', async () => {
    const dir = await newProject();
    expect((await init(dir, [])).exitCode).toBe(0);
    for (const name of ['costbook.yaml', 'jobs/budgets.yaml', 'jobs/allocation.yaml']) {
      const [, path = ''] =
        /^# yaml-language-server: \$schema=(.*)$/m.exec(await readFile(join(dir, name), 'utf8')) ?? [];
      expect(JSON.parse(await readFile(resolve(dir, name, '..', path), 'utf8')), name).toHaveProperty('$schema');
    }
  });

  test('without a terminal and an address writes placeholders, and says so', async () => {
    const dir = await newProject();
    const { exitCode, stdout } = await init(dir, []);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Fill in url and token in costbook.yaml');
    expect(await filesIn(dir)).toEqual(files);
  });

  test('uses the environment, and writes only the name of the variable of the token', async () => {
    const dir = await newProject();
    const env = { COSTBOOK_URL: platform.url, COSTBOOK_TOKEN: platform.tokens.admin, COSTBOOK_ACCOUNT: 'acc_one' };
    const { exitCode, stdout, stderr } = await init(dir, ['--json'], env);
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      folder: dir,
      written: ['costbook.yaml', 'jobs/budgets.yaml', 'jobs/allocation.yaml', '.env.example', '.gitignore'],
      kept: [],
      checked: { account: 'acc_one', role: 'admin', historyStart: '2026-09-01T00:00:00Z' },
      next: ['costbook doctor', 'costbook ingest', 'costbook status'],
    });
    expect(await readFile(join(dir, 'costbook.yaml'), 'utf8')).toContain(`\ntoken: "\${COSTBOOK_TOKEN}"\n`);
    for (const name of await filesIn(dir)) {
      if (name !== 'jobs') expect(await readFile(join(dir, name), 'utf8')).not.toContain(platform.tokens.admin);
    }
    expect(stdout + stderr).not.toContain(platform.tokens.admin);
  });

  test('checks the token that it writes, even if the environment has another one', async () => {
    const dir = await withToken();
    const env = { COSTBOOK_TOKEN: platform.tokens.admin };
    const usual = ['books', '--url', platform.url, '--account', 'acc_one', '--token-file'];
    const missing = await init(dir, [...usual, '/nowhere/token'], env);
    expect(missing).toMatchObject({ exitCode: 2, stdout: '' });
    expect(missing.stderr).toContain('token file /nowhere/token: found no such file');
    expect(await filesIn(dir)).toEqual(['token']);

    const begun = await init(dir, [...usual, 'token'], env);
    expect(begun.exitCode, begun.stderr).toBe(0);
    expect(begun.stdout).toContain('role member, account'); // the file's, not the environment's
    expect(begun.stderr).toContain('COSTBOOK_TOKEN is set and overrides tokenFile');
  });

  test('with --unchecked, says that the token file is missing', async () => {
    const dir = await newProject();
    const args = ['--url', platform.url, '--token-file', 'later', '--account', 'acc_one', '--unchecked'];
    const { exitCode, stderr } = await init(dir, args);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`the token file ${join(dir, 'later')} does not exist yet`);
  });

  test.each([
    ['an account that the token does not see', { account: 'acc_other' }, 3, 'acc_other'],
    ['an address where nobody answers', { url: 'http://127.0.0.1:1' }, 3, 'refused'],
    ['an invalid address', { url: 'platform.example.com' }, 2, 'found no http or https address'],
    ['a missing file', { 'token-file': 'nowhere' }, 2, 'found no such file'],
    ['two sources of the token', { 'token-env': 'TOKEN' }, 2, 'several token sources'],
    ['a token instead of a variable name', { 'token-env': 'ab-cd' }, 2, ''],
  ])('writes nothing for %s', async (_, args, expected, words) => {
    const dir = await withToken();
    const given = { url: platform.url, 'token-file': 'token', account: 'acc_one', ...args };
    const line = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
    const { exitCode, stderr, stdout } = await init(dir, ['books', ...line]);
    expect({ exitCode, stdout }).toEqual({ exitCode: expected, stdout: '' });
    expect(stderr).toContain(words);
    expect(await filesIn(dir)).toEqual(['token']);
  });

  test('takes nothing in the ID of the platform for a variable of the environment', async () => {
    const hostile = await startScriptedPlatform([]);
    hostile.accounts = ['$' + '{A_SECRET}'];
    const dir = await withToken();
    const { exitCode, stderr } = await init(dir, ['--url', hostile.url, '--token-file', 'token', '--yes']);
    expect(exitCode, stderr).toBe(0);
    const file = join(dir, 'costbook.yaml');
    const config = parseConfig({
      text: await readFile(file, 'utf8'),
      ...{ file, env: { A_SECRET: 'for nobody else' }, now: Date.parse(now) },
    });
    expect(config.accounts.map(({ id }) => id)).toEqual(hostile.accounts);
  });

  test('with --unchecked, writes the project without a request', async () => {
    const dir = await newProject();
    const { exitCode } = await init(dir, ['--url', 'http://127.0.0.1:1', '--token-env', 'MY_TOKEN', '--unchecked']);
    expect(exitCode).toBe(0);
    expect(await readFile(join(dir, '.env.example'), 'utf8')).toContain('\nMY_TOKEN=\n');
  });

  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  test.skipIf(!hasTerminal)(
    `at a terminal asks for missing settings${hasTerminal ? '' : ' (skipped: script is not here)'}`,
    async () => {
      const dir = await withToken();
      const line = `"${process.execPath}" "${cli}" init books --now ${now} --account acc_one`;
      const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
        cwd: dir,
        env: { PATH: process.env['PATH'] ?? '', TERM: 'dumb' },
      });
      // The first address is wrong, so it is reported and prompted for again.
      child.stdin.end(`nonsense\ntoken\n\n${platform.url}\ntoken\n\n`);
      let stdout = '';
      child.stdout.on('data', (piece: Buffer) => {
        stdout += piece;
      });
      const [status] = await once(child, 'close');
      expect(status, stdout).toBe(0);
      // Lines are folded to the width of the terminal.
      const said = stdout.replaceAll(/\s+/g, ' ');
      expect(said).toContain('found no http or https address');
      expect(said).toContain('Platform address');
      expect(await readFile(join(dir, 'books', 'costbook.yaml'), 'utf8')).toContain('tokenFile: ');
    },
  );

  test.skipIf(!hasTerminal)(
    `a pasted token is not shown and goes into its own file${hasTerminal ? '' : ' (skipped: script is not here)'}`,
    async () => {
      const dir = await newProject();
      const token = platform.tokens.member;
      const line = `"${process.execPath}" "${cli}" init --now ${now} --account acc_one --url ${platform.url}`;
      const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
        cwd: dir,
        env: { PATH: process.env['PATH'] ?? '', TERM: 'dumb' },
      });
      let shown = '';
      child.stdout.on('data', (piece: Buffer) => {
        const wasAsked = shown.includes('not shown:');
        shown += piece;
        if (!wasAsked && shown.includes('not shown:')) child.stdin.end(`${token}\n\n`);
      });
      const [status] = await once(child, 'close');
      expect(status, shown).toBe(0);
      expect(shown).not.toContain(token);
      const file = join(dir, 'secrets', 'platform-token');
      expect(await readFile(file, 'utf8')).toBe(`${token}\n`);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(join(dir, 'costbook.yaml'), 'utf8')).toContain('tokenFile: "secrets/platform-token"');
      expect(await readFile(join(dir, '.gitignore'), 'utf8')).toContain('secrets/platform-token');
    },
  );
});

describe('the headers of a maker', () => {
  const headerNames = {
    ...{ authorization: 'X-Acme-Authorization', version: 'Acme-Version' },
    ...{ workspace: 'X-Acme-Workspace', thread: 'X-Acme-Thread-Id' },
  };
  const at = { now: () => Date.parse(now), storyEnd: Date.parse('2026-09-05') };

  /** What init says of a maker's headers on a platform, and the names that it writes. */
  async function tried(maker: string, options: Partial<EmulatorOptions>) {
    const emulator = await startEmulator({ ...at, headerNames, ...options });
    try {
      const dir = await newProject();
      const env = { COSTBOOK_URL: emulator.url, COSTBOOK_TOKEN: emulator.tokens.admin };
      const { exitCode, stdout, stderr } = await init(dir, ['--json', '--header-prefix', maker], env);
      expect(exitCode, stderr).toBe(0);
      const { checked } = JSON.parse(stdout) as { checked: { headers: { header: string; outcome: string }[] } };
      const text = await readFile(join(dir, 'costbook.yaml'), 'utf8');
      const names = [...text.matchAll(/^(\w+Header): "(.*)"$/gm)].map(([, key, name]) => `${key} ${name}`);
      return { outcomes: checked.headers.map(({ outcome }) => outcome), names };
    } finally {
      await emulator.close();
    }
  }

  test.each(['all', 'default', 'demand'] as const)(
    'are set by one name, tried, and said what became of them (workspace rule %s)',
    async (workspaceRule) => {
      const right = await tried('Acme', { workspaceRule });
      expect(right.outcomes).toEqual(['taken', 'taken', 'taken', 'untried']);
      expect(right.names).toEqual([
        ...['authorizationHeader X-Acme-Authorization', 'versionHeader Acme-Version'],
        ...['workspaceHeader X-Acme-Workspace', 'threadHeader X-Acme-Thread-Id'],
      ]);
      const wrong = await tried('Other', { workspaceRule });
      expect(wrong.outcomes).toEqual(['refused', 'ignored', 'ignored', 'untried']);
      expect(wrong.names[0]).toBe('versionHeader Other-Version');
    },
  );

  test('a name that no header can have is a mistake', async () => {
    const ended = await init(await newProject(), ['--url', 'https://x.example', '--header-prefix', 'Ac me']);
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('such as Acme') });
  });
});

test('where the platform lists no accounts, init names --account, and the account that the workspaces name', async () => {
  const server = await startServer((response, { url }) => {
    if (url === '/v0/workspaces') return void response.end(JSON.stringify([{ name: 'north', accountId: 'acc_one' }]));
    response.writeHead(403).end(JSON.stringify({ error: 'access_denied', code: 403, message: 'Access denied' }));
  });
  const ended = await init(await newProject(), ['--url', server.url], { COSTBOOK_TOKEN: 'a-token' });
  expect(ended.exitCode).toBe(3);
  expect(ended.stderr).toContain('Name the account, with --account of "costbook init"');
  expect(ended.stderr).toContain('The workspaces of the token belong to acc_one.');
});
