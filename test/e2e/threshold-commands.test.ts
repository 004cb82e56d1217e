// Second tier: Starts commands of budgets, kills and waits for them; e2e/one-month sends alerts in the first tier.

import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { openCommand } from '../../src/sinks/command.ts';
import { askSnapshot, type Ended, ingest, newProject, runCli, startCli } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const now = '2026-10-08T03:00:00Z';
const secret = 'a-secret-of-the-environment';

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const platform = await startScriptedPlatform([]);
  platform.facts = series(box, '2026-10-02T05', [60]);
  const { exitCode, stderr } = await ingest(loaded, platform, {
    now: '2026-10-08T02:15:00Z',
    env: { COSTBOOK_SINCE: '2026-10-01' },
  });
  expect(exitCode, stderr).toBe(0);
});

/** A project with 60 USD spent of 100, and a threshold at half of it that runs this script. */
async function projectWith(script: string, more = ''): Promise<string> {
  const dir = await newProject();
  await cp(loaded, dir, { recursive: true });
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'run.sh'), `#!/bin/sh\n${script}\n`);
  await chmod(join(dir, 'run.sh'), 0o700);
  await writeFile(
    join(dir, 'jobs', 'budgets.yaml'),
    `budgets:\n  - name: all\n    period: monthly\n    amount: 100 USD\n    thresholds: [{ at: 50%, run: [./run.sh, "one two", "$HOME"]${more} }]\n`,
  );
  return dir;
}

async function alert(dir: string, at = now): Promise<Ended> {
  return runCli(['alert', '--json', '--dir', dir, '--now', at], { COSTBOOK_TOKEN: secret });
}

/** The receipts of commands. */
async function receipts(dir: string): Promise<unknown> {
  return askSnapshot(dir, 'select sink, outcome, reason from messages order by all');
}

const sink = 'run:budget/@all/all/2026-10/50%';

test('a crossed threshold runs its command once, without a shell or secrets, with the alert on its input', async () => {
  const dir = await projectWith(
    'cat > alert.json; env > env.txt; echo "$@" >> runs.txt; echo "stopped three sandboxes"',
  );
  const first = await alert(dir);
  expect(first.exitCode, first.stderr).toBe(0);
  expect((await alert(dir)).exitCode).toBe(0);
  expect(await readFile(join(dir, 'runs.txt'), 'utf8')).toBe('one two $HOME\n');
  expect(await readFile(join(dir, 'env.txt'), 'utf8')).not.toContain(secret);
  const { alerts } = JSON.parse(await readFile(join(dir, 'alert.json'), 'utf8')) as { alerts: object[] };
  expect(alerts).toMatchObject([{ key: 'budget/@all/all/2026-10/50%', fact: { budget: 'all', run: true } }]);
  expect(await receipts(dir)).toEqual([
    { sink, outcome: 'delivered', reason: 'answered: exit code 0\nstopped three sandboxes' },
  ]);
});

test('a command that fails or takes too long is not run again, and its receipt says so', async () => {
  const failing = await projectWith(`echo x >> runs.txt; echo "no access with ${secret}" >&2; exit 3`);
  const ended = await alert(failing);
  expect(ended.stderr).toContain(
    'warning: the command of budget/@all/all/2026-10/50% ran, but failed: exit code 3; it is not run again',
  );
  await alert(failing);
  expect(await readFile(join(failing, 'runs.txt'), 'utf8')).toBe('x\n');
  expect(await receipts(failing)).toEqual([
    { sink, outcome: 'delivered', reason: 'answered: exit code 3\nno access with ***' },
  ]);

  const slow = await projectWith('echo begun; sleep 60; echo never', ', timeLimitSeconds: 1');
  await alert(slow);
  expect(await receipts(slow)).toEqual([
    { sink, outcome: 'delivered', reason: 'answered: killed after its time limit of 1 s\nbegun' },
  ]);
});

test('a command that prints without end needs no memory for it', async () => {
  const effects = { dir: '/', env: process.env, signal: new AbortController().signal, redact: (text: string) => text };
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  }, 20);
  const message = {
    ...{ id: 'm', at: now, entries: [], summary: null, isTest: false, mayBeRepeat: false },
    kind: 'alert',
  };
  const ended = await openCommand({ argv: ['yes'], timeLimitSeconds: 1 }, effects)(message as never);
  clearInterval(timer);
  expect(ended).toMatchObject({ outcome: 'delivered', reason: 'killed after its time limit of 1 s' });
  expect(peak).toBeLessThan(150e6);
});

test('nobody waits for a daemon that a command has started, which keeps its output open', async () => {
  const dir = await projectWith('setsid sh -c "sleep 60; touch ended" & echo started');
  await alert(dir);
  expect(existsSync(join(dir, 'ended'))).toBe(false);
  expect(await receipts(dir)).toEqual([{ sink, outcome: 'delivered', reason: 'answered: exit code 0\nstarted' }]);
});

test('a command that cannot be started is reported, and tried again by the next run', async () => {
  const dir = await projectWith('echo x >> runs.txt');
  await chmod(join(dir, 'run.sh'), 0o600);
  const ended = await alert(dir);
  expect(ended.exitCode).toBe(8);
  expect(ended.stderr).toContain('did not run: could not start ./run.sh: EACCES; correct run in jobs/budgets.yaml');
  await chmod(join(dir, 'run.sh'), 0o700);
  expect((await alert(dir)).exitCode).toBe(0);
  expect(await readFile(join(dir, 'runs.txt'), 'utf8')).toBe('x\n');
});

test('a command that could not be started for too long is given up, and nothing claims that it may have run', async () => {
  const dir = await projectWith('echo x >> runs.txt');
  await chmod(join(dir, 'run.sh'), 0o600);
  expect((await alert(dir)).exitCode).toBe(8);
  const [before, late] = [await alert(dir, '2026-10-14T03:00:00Z'), await alert(dir, '2026-10-15T03:00:00Z')];
  expect(before.stderr).not.toContain('given up');
  expect(late.exitCode).toBe(8);
  expect(late.stderr).toContain('did not run, and is given up: could not start ./run.sh: EACCES');
  expect(late.stderr).not.toContain('may have run');
});

test('after a kill while the command runs, it is not run again, and nothing claims that it ran', async () => {
  const dir = await projectWith('echo x >> runs.txt; sleep 60');
  const { process: child } = startCli(['alert', '--dir', dir, '--now', now]);
  await expect.poll(() => readFile(join(dir, 'runs.txt'), 'utf8').catch(() => ''), { timeout: 60_000 }).toBe('x\n');
  if (child.pid !== undefined) kill(child.pid, 'SIGKILL');
  await setTimeout(500);
  const ended = await alert(dir);
  expect(ended.stderr).toContain(
    'warning: the command of budget/@all/all/2026-10/50% may have run, so it is not run again: an earlier run may have sent it, and its receipt is missing',
  );
  await alert(dir);
  expect(await readFile(join(dir, 'runs.txt'), 'utf8')).toBe('x\n');
});
