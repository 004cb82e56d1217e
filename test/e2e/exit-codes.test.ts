// Second tier: Thirty ingests that end with each exit code; e2e/usage-errors has exit 2 in the first tier.

import { once } from 'node:events';
import { chmod, chown, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { listen } from '../support/listen.ts';
import {
  askSnapshot,
  costsIn,
  ingest,
  ingestCommandLine,
  newProject,
  projectWithPlatform,
  runCli,
  startCli,
} from '../support/project.ts';
import {
  box,
  expectedCosts,
  type ScriptedPlatform,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

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
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

test.concurrent('the project folder is created by an ingest only in a folder that exists', async () => {
  const parent = await newProject();
  const platform = await startScriptedPlatform(facts);
  expect((await ingest(join(parent, 'books'), platform, { now })).exitCode).toBe(0);
  const refused = await ingest(join(parent, 'no', 'books'), platform, { now });
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain(`neither the project folder ${join(parent, 'no', 'books')} nor its parent folder`);
  expect(await readdir(parent)).toEqual(['books']);
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
    const { dir, platform } = await projectWithPlatform(facts);
    platform.failures = [{ times: 99, status }];
    const { exitCode, account } = await ingest(dir, platform, { now: '2026-09-30T00:30:00Z' });
    expect(exitCode).toBe(3);
    expect(account.errors[0]).toContain(advice);
    // The other windows would fail the same way: nobody is asked for them.
    expect(platform.requests.length).toBeLessThanOrEqual(2);
    expect(await lastRun(dir)).toMatchObject({ outcome: 'failed', exit_code: 3 });
  });

  test('names the setting whose token was refused', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    await writeFile(join(dir, 'token'), 'tok-of-yesterday');
    await writeFile(join(dir, 'costbook.yaml'), 'tokenFile: token\n');
    const { exitCode, account } = await ingest(dir, platform, { now, env: { COSTBOOK_TOKEN: '' } });
    expect(exitCode).toBe(3);
    expect(account.errors[0]).toContain(
      `Replace the token in tokenFile (${join(dir, 'costbook.yaml')}:1:12), which the platform refuses`,
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
});

describe.concurrent('exit 5', () => {
  test('comes for a second writer, with the process that has locked the warehouse', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
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
    const { dir, platform } = await projectWithPlatform(facts);
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
    const { dir, platform } = await projectWithPlatform(facts);
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    // Root can write everywhere, so another user runs the command.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const data = join(dir, 'data');
    await chmod(dir, 0o755);
    const asNobody = (where: string) => startCli(...ingestCommandLine(where, platform, { now }), nobody).ended;
    for (const mode of [0o555, 0o755]) {
      await chmod(data, mode);
      if (mode === 0o755 && nobody.uid !== undefined) await chown(join(data, 'warehouse.duckdb'), 0, 0);
      else if (mode === 0o755) await chmod(join(data, 'warehouse.duckdb'), 0o444);
      const { exitCode, stderr } = await asNobody(dir);
      expect(exitCode).toBe(7);
      expect(stderr).toContain(`costbook: ${data} is not writable for this user (`);
    }
    const empty = await newProject();
    await chmod(empty, 0o555);
    expect(await asNobody(empty)).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining(`${join(empty, 'data')} is not writable for this user`),
    });
    await chmod(empty, 0o755);
  });
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
