// Second tier: Provokes each exit code of each command in processes.

import { once } from 'node:events';
import { chmod, chown, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { askSnapshot, costsIn, ingest, ingestCommandLine, newProject, runCli, startCli } from '../support/project.ts';
import { expectedCosts, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = {
  workspace: 'north',
  type: 'sandbox',
  name: 'box',
  uuid: 'sbx-1',
  dimension: 'sandbox_compute_runtime_gbs',
};
const now = '2026-09-05T12:30:00Z';
const facts = series(box, '2026-09-03T05', [1, 2]);

async function lastRun(dir: string): Promise<unknown> {
  const [run] = await askSnapshot(
    dir,
    'select command, outcome, exit_code, error, ended_at is not null as ended from runs order by run_number desc limit 1',
  );
  return run;
}

/** A port on which nothing listens: it was free a moment ago. */
async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

describe.concurrent('exit 2', () => {
  test('lists every mistake in the environment', async () => {
    const dir = await newProject();
    const { exitCode, stdout, stderr } = await runCli(['ingest', '--dir', dir, '--json'], {
      COSTBOOK_URL: 'ftp://example.com',
      COSTBOOK_TOKNE: 'x',
      COSTBOOK_CONCURRENCY: '0',
      COSTBOOK_SETTLE_DAYS: 'many',
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    for (const name of ['COSTBOOK_URL', 'COSTBOOK_TOKNE', 'COSTBOOK_CONCURRENCY', 'COSTBOOK_SETTLE_DAYS']) {
      expect(stderr).toContain(name);
    }
    expect(stderr).toContain('COSTBOOK_TOKEN');
  });

  test('without a configuration names both ways to give one, and the folder', async () => {
    const dir = await newProject();
    const { exitCode, stdout, stderr } = await runCli(['ingest', '--dir', dir]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringContaining(`${dir}: found no costbook.yaml in this folder and no COSTBOOK_URL`),
    ]);
    for (const way of ['URL', 'TOKEN', 'ACCOUNT', 'SINCE']) expect(stderr).toContain(`COSTBOOK_${way}`);
    expect(stderr).toContain('"costbook init"');
    expect(stderr).toContain('--dir');
  });

  test('lists each mistake of a configuration on its own line, readable alone', async () => {
    const dir = await newProject();
    await writeFile(join(dir, 'costbook.yaml'), 'urll: x\nsettleDay: 1\naccount: ..\nlanding: { keeps: all }\n');
    const { stderr } = await runCli(['ingest', '--dir', dir], { COSTBOOK_TOKNE: 'x', COSTBOOK_LAG_HOURS: 'x' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(8);
    for (const line of lines) expect(line).toMatch(/^(costbook: )?(\/.*costbook\.yaml(:\d+:\d+)?|COSTBOOK_\w+): \w/);
    expect(stderr).not.toMatch(/\?[;,.]/);
  });

  test('lists every mistake in the file with its line', async () => {
    const dir = await newProject();
    await writeFile(join(dir, 'costbook.yaml'), 'url: https://example.com\nsettleDays: -1\nlagHour: 2\ntoken: a b\n');
    const { exitCode, stderr } = await runCli(['ingest', '--dir', dir]);
    expect(exitCode).toBe(2);
    for (const line of [2, 3, 4]) expect(stderr).toContain(`costbook.yaml:${line}:`);
  });

  test('lists every mistake in the options', async () => {
    const dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    const { exitCode, stderr } = await runCli(['ingest', '--dir', dir, '--from', 'yesterday', '--to', '2026-13']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--from: "yesterday"');
    expect(stderr).toContain('--to: "2026-13"');
  });

  test.each([
    ['a window that ends before it starts', ['ingest', '--from', '2026-09-02', '--to', '2026-09-01']],
    ['a command that does not exist', ['ingset']],
    ['an option that does not exist', ['ingest', '--since', '2026-09']],
    ['an invalid instant', ['ingest', '--now', 'noon']],
    ['an unknown format', ['sql', 'select 1', '--format', 'xml']],
    ['books that do not exist yet', ['sql', 'select 1']],
    ['a report that does not exist', ['report', 'cost_by_wrokspace']],
  ])('is for %s', async (_, args) => {
    const dir = await newProject();
    const { exitCode, stdout, stderr } = await runCli([...args, '--dir', dir]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^costbook: /);
    expect(stderr).not.toContain('    at ');
  });
});

describe.concurrent('the project folder', () => {
  test.each(['status', 'restatements', 'plan', 'report', 'sql'])(
    'that does not exist is reported by %s',
    async (command) => {
      const dir = join(await newProject(), 'nosuch');
      const query = command === 'sql' ? ['select 1'] : [];
      const { exitCode, stderr } = await runCli([command, ...query, '--dir', dir]);
      expect(exitCode).toBe(2);
      expect(stderr).toBe(
        `costbook: the project folder ${dir} does not exist: check --dir (COSTBOOK_DIR); "costbook init" creates a new one\n`,
      );
    },
  );

  test('that is a file is reported by every command', async () => {
    const dir = join(await newProject(), 'file');
    await writeFile(dir, '');
    for (const args of [['sql', 'select 1'], ['report', '--list'], ['ingest'], ['demo']]) {
      const { exitCode, stderr } = await runCli([...args, '--dir', dir]);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: `costbook: ${dir} is a file: --dir (COSTBOOK_DIR) must name the project folder\n`,
      });
    }
  });

  test('is created by an ingest only in a folder that exists', async () => {
    const parent = await newProject();
    const platform = await startScriptedPlatform(facts);
    expect((await ingest(join(parent, 'books'), platform, { now })).exitCode).toBe(0);
    const refused = await ingest(join(parent, 'no', 'books'), platform, { now });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(`neither the project folder ${join(parent, 'no', 'books')} nor its parent folder`);
    expect(await readdir(parent)).toEqual(['books']);
  });
});

test('every line of a list of problems can be read alone', async () => {
  const dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  const { stderr } = await runCli(['ingest', '--dir', dir, '--from', 'yesterday', '--to', '2026-13']);
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^costbook: --from: "yesterday"/),
    expect.stringMatching(/^costbook: --to: "2026-13"/),
  ]);
});

test.each([
  [['plan']],
  [['summarize']],
  [['allocation', 'test']],
  [['rebuild']],
  [['budgets', 'backtest', 'everything']],
  [['reopen', 'nonsense']],
  [['ingest', '--from', 'yesterday']],
])('%j in a folder that is no project reports only that, and where it looked', async (args) => {
  const dir = await newProject();
  const { exitCode, stderr } = await runCli([...args, '--dir', dir]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^costbook: .* is not a Costbook project: .*\n$/);
  expect(stderr).toContain(dir);
});

test('help lists every command with its arguments, itself too, and says where to start', async () => {
  const { exitCode, stdout } = await runCli(['--help']);
  expect(exitCode).toBe(0);
  for (const term of ['init [dir]', 'budgets [action] [name]', 'close <month>', 'status', 'help [command]'])
    expect(stdout).toContain(`\n  ${term} `);
  expect(stdout).not.toContain('display help');
  expect(stdout).toMatch(/costbook demo\n.*costbook init/);
});

test('help shows the options of a command before the common options', async () => {
  for (const command of ['sql', 'status', 'ingest', 'report']) {
    const { stdout } = await runCli(['help', command]);
    const common = stdout.indexOf('\nCommon options:\n');
    expect(common).toBeGreaterThan(0);
    expect(stdout.indexOf('\nOptions:\n')).toBeLessThan(common);
    expect(stdout.indexOf('  -h, --help')).toBeGreaterThan(common);
  }
});

describe.concurrent('exit 3', () => {
  test('comes if the platform cannot be reached, with a row in runs and a snapshot', async () => {
    const dir = await newProject();
    const ended = await ingest(
      dir,
      { url: await deadUrl(), tokens: { admin: 'tok-1', member: 'x' } } as ScriptedPlatform,
      {
        now,
      },
    );
    expect(ended.exitCode).toBe(3);
    expect(ended.account.errors).toEqual([expect.stringMatching(/ECONNREFUSED.*Check whether the platform is up/)]);
    expect(await lastRun(dir)).toEqual({
      command: 'ingest',
      outcome: 'failed',
      exit_code: 3,
      error: expect.stringContaining('ECONNREFUSED'),
      ended: true,
    });
  });

  test.each([
    [401, 'Replace the token in COSTBOOK_TOKEN'],
    [403, 'Ask an account admin'],
    [404, 'Check the account ID'],
    [400, 'rejects the request'],
  ])('comes at once with %i for everything, and says what to do', async (status, advice) => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    platform.failures = [{ times: 99, status }];
    const { exitCode, account } = await ingest(dir, platform, { now: '2026-09-30T00:30:00Z' });
    expect(exitCode).toBe(3);
    expect(account.errors[0]).toContain(advice);
    // The other windows would fail the same way: nobody is asked for them.
    expect(platform.requests.length).toBeLessThanOrEqual(2);
    expect(await lastRun(dir)).toMatchObject({ outcome: 'failed', exit_code: 3 });
  });

  test('names the setting whose token was refused', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    await writeFile(join(dir, 'token'), 'tok-of-yesterday');
    await writeFile(join(dir, 'costbook.yaml'), 'tokenFile: token\n');
    const { exitCode, account } = await ingest(dir, platform, { now, env: { COSTBOOK_TOKEN: '' } });
    expect(exitCode).toBe(3);
    expect(account.errors[0]).toContain(
      `Replace the token in tokenFile (${join(dir, 'costbook.yaml')}:1:12): the platform refused it`,
    );
    // The file was read once more, and that is a retry.
    expect(platform.requests).toHaveLength(2);
    expect(account.retries).toBe(1);
  });

  test('warns once of a token file that cannot be read, and claims no completeness', async () => {
    const dir = await newProject();
    await writeFile(join(dir, 'costbook.yaml'), 'url: http://127.0.0.1:9\naccount: acc_one\ntokenFile: token\n');
    const { exitCode, stdout, stderr } = await runCli(['ingest', '--dir', dir, '--now', now], { COSTBOOK_TOKEN: '' });
    expect(exitCode).toBe(2);
    expect(stderr.match(/found no such file/g)).toHaveLength(1);
    expect(stdout).toContain('no complete hour yet');
    expect(stdout).toContain('FAILED listing sandbox: for the reason above');
  });

  test('comes if Retry-After is longer than a run may wait', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    platform.failures = [{ times: 99, status: 429, headers: { 'retry-after': '86400' } }];
    expect((await ingest(dir, platform, { now })).exitCode).toBe(3);
    expect(platform.requests).toHaveLength(1);
  });

  test('comes if the platform refuses every retry; attempts are limited', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    platform.failures = [{ times: 1_000_000, status: 429, headers: { 'retry-after': '0' } }];
    const run = startCli(...ingestCommandLine(dir, platform, { now }));
    platform.onRequest = ({ number }) => {
      if (number > 300) run.process.kill('SIGKILL');
    };
    const { exitCode } = await run.ended;
    expect({ exitCode, isEndless: platform.requests.length > 300 }).toEqual({ exitCode: 3, isEndless: false });
  });

  test('comes if one account of two fails; the other is loaded and published', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    platform.accounts = ['acc_one', 'acc_two'];
    platform.failures = [{ times: 99, hits: ({ account }) => account === 'acc_one', status: 403 }];
    platform.facts = [
      ...facts,
      ...series({ ...box, uuid: 'sbx-2' }, '2026-09-04T01', [8]).map((fact) => ({ ...fact, account: 'acc_two' })),
    ];
    await writeFile(
      join(dir, 'costbook.yaml'),
      `url: ${platform.url}\ntoken: ${platform.tokens.admin}\nsince: 2026-09-01\naccounts:\n  - id: acc_one\n  - id: acc_two\n`,
    );
    const { exitCode, accounts } = await ingest(dir, platform, {
      now,
      env: { COSTBOOK_URL: '', COSTBOOK_TOKEN: '', COSTBOOK_ACCOUNT: '', COSTBOOK_SINCE: '' },
    });
    expect(exitCode).toBe(3);
    expect(accounts).toMatchObject([
      { account: 'acc_one', windows: 0, completeThrough: null, errors: [expect.stringContaining('403')] },
      { account: 'acc_two', windows: 1, completeThrough: '2026-09-05T10:00:00Z', errors: [] },
    ]);
    expect(await costsIn(dir)).toEqual(
      expectedCosts(
        platform.facts.filter(({ uuid }) => uuid === 'sbx-2'),
        'admin',
      ),
    );
    expect(await lastRun(dir)).toMatchObject({ exit_code: 3, error: expect.stringContaining('acc_one') });
  });
});

describe.concurrent('exit 5', () => {
  test('comes for a second writer, with the process that has locked the warehouse', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    let second: ReturnType<typeof ingest> | undefined;
    const first = startCli(...ingestCommandLine(dir, platform, { now }));
    platform.onRequest = async ({ number }) => {
      if (number > 1) return;
      second = ingest(dir, platform, { now });
      await second;
    };
    expect((await first.ended).exitCode).toBe(0);
    const refused = await second;
    expect(refused).toMatchObject({ exitCode: 5, stdout: '' });
    expect(refused?.stderr).toContain(`held by process ${first.process.pid} `);
    // The one that was refused did nothing: no row of its own, no request.
    expect(await askSnapshot(dir, 'select run_number, outcome from runs')).toEqual([
      { run_number: '1', outcome: 'done' },
    ]);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('comes for a second writer right after a publish, which keeps the lock', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    const warehouse = await openWarehouse(dir);
    try {
      for (let publication = 0; publication < 2; publication += 1) {
        await warehouse.publish();
        const refused = await startCli(...ingestCommandLine(dir, platform, { now })).ended;
        expect(refused.exitCode).toBe(5);
        expect(refused.stderr).toContain(`held by process ${process.pid} `);
      }
    } finally {
      warehouse.close();
    }
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
  });
});

test.concurrent.each(['data', 'data/landing'])(
  'exit 4 comes if %s is a file, with its path and the repair',
  async (place) => {
    const dir = await newProject();
    if (place !== 'data') await mkdir(join(dir, 'data'));
    await writeFile(join(dir, place), 'a file where the folder should be');
    const { exitCode, stderr } = await ingest(dir, await startScriptedPlatform(facts), { now });
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`${join(dir, place)} is a file`);
    expect(stderr).toContain('"costbook repair"');
    await runCli(['repair', '--dir', dir]); // there are no books yet, but the file is moved aside
    expect((await ingest(dir, await startScriptedPlatform(facts), { now })).exitCode).toBe(0);
  },
);

describe.concurrent('exit 7', () => {
  test('is stored in runs if an answer cannot be written', async () => {
    const platform = await startScriptedPlatform(facts);
    const other = await newProject();
    const full = await open('/dev/full', 'w');
    const [args, env] = ingestCommandLine(other, platform, { now });
    const { exitCode, stderr } = await startCli(args, env, { stdout: full.fd }).ended;
    await full.close();
    expect(exitCode).toBe(7);
    expect(stderr).toContain('could not write to stdout');
    expect(await lastRun(other)).toMatchObject({ outcome: 'failed', exit_code: 7, ended: true });
    expect(await costsIn(other)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('names the folder that cannot be written and what to do', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    // Root can write everywhere, so another user runs the command.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const data = join(dir, 'data');
    await chmod(dir, 0o755);
    const [args, env] = ingestCommandLine(dir, platform, { now });
    for (const mode of [0o555, 0o755]) {
      await chmod(data, mode);
      if (mode === 0o755 && nobody.uid !== undefined) await chown(join(data, 'warehouse.duckdb'), 0, 0);
      else if (mode === 0o755) await chmod(join(data, 'warehouse.duckdb'), 0o444);
      const { exitCode, stderr } = await startCli(args, env, nobody).ended;
      expect(exitCode).toBe(7);
      expect(stderr).toContain(`costbook: ${data} is not writable for this user (`);
    }
    const empty = await newProject();
    await chmod(empty, 0o555);
    const [others, theirs] = ingestCommandLine(empty, platform, { now });
    expect(await startCli(others, theirs, nobody).ended).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining(`${join(empty, 'data')} is not writable for this user`),
    });
    await chmod(empty, 0o755);
  });
});

describe('a folder that is no project', () => {
  test.each([
    ...[
      'status',
      'budgets',
      'budgets backtest',
      'alerts',
      'alerts test',
      'alert',
      'summarize',
      'check',
      'sql select',
      'forecast',
    ],
    ...[
      'restatements',
      'verify',
      'plan',
      'run nightly',
      'run nightly --dry-run',
      'schedule',
      'schedule --list',
      'repair',
    ],
    ...['rebuild', 'rebuild --into rebuilt.duckdb', 'close 2026-09', 'reopen 2026-09 --reason late', 'allocation test'],
    ...['allocation apply', 'report chargeback', 'ingest', 'doctor'],
  ])('is refused by %s, which does not change it and explains how to start', async (command) => {
    const dir = await newProject();
    await mkdir(join(dir, 'books'));
    await writeFile(join(dir, 'books', 'costbook.yaml'), '');
    const { exitCode, stdout, stderr } = await runCli([...command.split(' '), '--dir', dir]);
    expect(exitCode).toBe(2);
    const words = command === 'doctor' ? stdout : stderr;
    expect(words).toContain(dir);
    expect(words).toContain('"costbook init"');
    expect(words).toContain('--dir');
    expect(await readdir(dir)).toEqual(['books']);
    if (['ingest', 'doctor'].includes(command)) return; // the configuration can come from the environment
    expect(stdout).toBe('');
    expect(words).toContain(`there is one in ${join(dir, 'books')}`);
  });
});

test.each([
  [
    'an ingest from the future',
    ['ingest', '--from', '2099-01-01'],
    {},
    '--from: 2099-01-01T00:00:00Z is in the future',
  ],
  [
    'restatements since the future',
    ['restatements', '--since', '2099-01-01'],
    {},
    '--since: 2099-01-01T00:00:00Z is in',
  ],
  ['COSTBOOK_JSON=yes', ['status'], { COSTBOOK_JSON: 'yes' }, 'COSTBOOK_JSON: found "yes", expected true or false'],
  ['help for a command that does not exist', ['help', 'ingset'], {}, 'no command "ingset" (did you mean "ingest"?)'],
])('%s is a usage error', async (_, args, env, words) => {
  const dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  const { exitCode, stdout, stderr } = await runCli(
    [...args, '--dir', dir].slice(0, args[0] === 'help' ? 2 : undefined),
    env,
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(words);
});

test('budgets of a new project explains how to start and ends with 0', async () => {
  const dir = await newProject();
  expect((await runCli(['init', dir])).exitCode).toBe(0);
  const { exitCode, stdout, stderr } = await runCli(['budgets', '--dir', dir]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain(join(dir, 'jobs', 'budgets.yaml'));
  expect(stdout).toContain('amount: 5000 USD');
  expect(JSON.parse((await runCli(['budgets', '--dir', dir, '--json'])).stdout)).toMatchObject({ budgets: [] });
});
