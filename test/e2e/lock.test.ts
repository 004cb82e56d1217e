// Second tier: Waits for processes that hold the books; unit/warehouse has the lock itself in the first tier.

import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allCommands } from '../../src/commands/index.ts';
import {
  askSnapshot,
  cli,
  costsIn,
  ingest,
  ingestCommandLine,
  newProject,
  projectWithPlatform,
  putEmptyBooks,
  runCli,
  type Started,
  startCli,
} from '../support/project.ts';
import { expectedCosts, type ScriptedPlatform, series } from '../support/scripted-platform.ts';

const commands = await allCommands();
const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2]);
const now = '2026-09-05T12:30:00Z';

interface Held {
  readonly dir: string;
  readonly platform: ScriptedPlatform;
  readonly holder: Started;
  /** Lets the holder go on to its end. */
  free(): void;
}

/** A project whose warehouse is held by an ingest that the platform keeps waiting: its first one, or its second. */
async function held(hasBooks = false): Promise<Held> {
  const { dir, platform } = await projectWithPlatform(facts);
  if (hasBooks) expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
  else await putEmptyBooks(dir);
  let free: () => void = () => undefined;
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    platform.onRequest = () => {
      resolve();
      return freed;
    };
  });
  const holder = startCli(...ingestCommandLine(dir, platform, { now }));
  await asked;
  return { dir, platform, holder, free };
}

/** Resolves when a process has said a text on stderr. */
function said({ process: child }: Started, text: string): Promise<void> {
  let heard = '';
  return new Promise((resolve) => {
    child.stderr?.on('data', (piece: Buffer) => {
      heard += piece;
      if (heard.includes(text)) resolve();
    });
  });
}

describe.concurrent('a writer with --wait', () => {
  test('starts when the other writer has ended, and names it once', async () => {
    const { dir, platform, holder, free } = await held();
    const second = startCli(...ingestCommandLine(dir, platform, { now, args: ['--wait', '10m'] }));
    await said(second, 'warehouse.waiting');
    const asked = platform.requests.length;
    // It looks several times before the other one ends, and asks the platform nothing meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(platform.requests).toHaveLength(asked);
    free();
    expect((await holder.ended).exitCode).toBe(0);
    const { exitCode, stderr } = await second.ended;
    expect(exitCode).toBe(0);
    const waits = stderr.split('\n').filter((line) => line.includes('warehouse.waiting'));
    expect(waits.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        heldBy: expect.stringContaining(`process ${holder.process.pid} `),
        atMostSeconds: 600,
      }),
    ]);
    expect(await askSnapshot(dir, 'select outcome from runs')).toEqual([{ outcome: 'done' }, { outcome: 'done' }]);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('ends with 5 after its time, and names the other process', async () => {
    const { dir, platform, holder, free } = await held();
    const { exitCode, stdout, stderr } = await ingest(dir, platform, { now, args: ['--wait', '2s'] });
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(stderr).toContain('warehouse.waiting');
    expect(stderr).toContain(
      `costbook: ${join(dir, 'data', 'warehouse.duckdb')} is held by process ${holder.process.pid} `,
    );
    free();
    expect((await holder.ended).exitCode).toBe(0);
    expect(await askSnapshot(dir, 'select outcome from runs')).toEqual([{ outcome: 'done' }]);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends by %s with %i while it waits', async (signal, expected) => {
    const { dir, platform, holder, free } = await held();
    const second = startCli(...ingestCommandLine(dir, platform, { now, args: ['--wait', '2h'] }));
    await said(second, 'warehouse.waiting');
    second.process.kill(signal);
    const { exitCode, stderr } = await second.ended;
    expect(exitCode).toBe(expected);
    expect(stderr).toContain(`ended by ${signal}`);
    expect(holder.process.exitCode).toBe(null);
    free();
    expect((await holder.ended).exitCode).toBe(0);
  });

  test('starts when the other writer is killed', async () => {
    const { dir, platform, holder, free } = await held();
    const second = startCli(...ingestCommandLine(dir, platform, { now, args: ['--wait', '10m'] }));
    await said(second, 'warehouse.waiting');
    holder.process.kill('SIGKILL');
    free();
    expect((await second.ended).exitCode).toBe(0);
    expect(await askSnapshot(dir, 'select outcome from runs order by run_number')).toEqual([
      { outcome: 'interrupted' },
      { outcome: 'done' },
    ]);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('may be a rebuild too', async () => {
    const { dir, holder, free } = await held();
    const rebuilt = join(await newProject(), 'rebuilt.duckdb');
    const rebuild = startCli(['rebuild', '--into', rebuilt, '--wait', '10m', '--dir', dir]);
    await said(rebuild, 'warehouse.waiting');
    free();
    expect((await holder.ended).exitCode).toBe(0);
    expect(await rebuild.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('identical') });
  });
});

describe('while the warehouse is locked', () => {
  let dir = '';
  let holder: Started;
  let platform: ScriptedPlatform;
  let free: () => void;
  beforeAll(async () => {
    ({ dir, platform, holder, free } = await held(true));
    await mkdir(join(dir, 'jobs'));
    await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets: [{ name: all, period: monthly, amount: 5 USD }]\n');
    const mail = '{ type: email, host: 127.0.0.1, from: a@example.com, to: b@example.com, allowPrivateNetwork: true }';
    const subscriptions = '{ all: { to: c@example.com, statement: {} } }';
    await writeFile(
      join(dir, 'costbook.yaml'),
      `sinks: { out: { type: log }, mail: ${mail} }\nsubscriptions: ${subscriptions}\nalerts: { notify: [out] }\n`,
    );
  });
  afterAll(async () => {
    free();
    expect((await holder.ended).exitCode).toBe(0);
  });

  /** A whole command line of every command; a new command needs one here. */
  const commandLines: Record<string, readonly string[]> = {
    init: [],
    completion: ['bash'],
    doctor: ['--offline'],
    ingest: [],
    report: ['cost_by_workspace', '--month', '2026-09'],
    sql: ['select 1'],
    check: [],
    status: [],
    anomalies: [],
    budgets: [],
    forecast: [],
    alert: [],
    alerts: ['ack', 'stale/acc_one', '--until', '2026-09-30'],
    summarize: [],
    subscriptions: [],
    restatements: [],
    verify: [],
    close: ['2026-09'],
    reopen: ['2026-09', '--reason', 'a late invoice'],
    allocation: ['apply'],
    rebuild: ['--into', 'rebuilt.duckdb'],
    repair: [],
    plan: [],
    mcp: [],
    platform: ['--list'],
    statement: ['--month', '2026-09', '--format', 'html'],
    run: ['nightly'],
    schedule: ['--list'],
  };
  /** They write books of their own, or none; serve stays up, and test/e2e/serve.test.ts starts it next to writers. */
  const elsewhere = ['demo', 'emulator', 'serve'];

  test.each(commands.map(({ name }) => name).filter((name) => !elsewhere.includes(name)))(
    '%s answers, or ends with 5 and takes --wait',
    async (name) => {
      const rest = commandLines[name];
      if (rest === undefined) throw new Error(`give ${name} a command line in this test`);
      const [, env] = ingestCommandLine(dir, platform, { now });
      const before = platform.requests.length;
      const line = [name, ...rest, '--dir', dir, '--now', now];
      const { exitCode, stderr } = await runCli(line, env, { cwd: await newProject() });
      const canWait = commands
        .find((command) => command.name === name)
        ?.options.some(({ flags }) => flags.startsWith('--wait '));
      expect({ exitCode, stderr }).toEqual(
        canWait
          ? { exitCode: 5, stderr: expect.stringContaining(`is held by process ${holder.process.pid} `) }
          : { exitCode: 0, stderr: expect.not.stringContaining('held by') },
      );
      expect(platform.requests).toHaveLength(before);
    },
  );

  // Containers that share a disk do not see each other's processes. Only root may make such a one here.
  const apart = ['unshare', '--pid', '--fork', '--mount-proc'] as const;
  const mayPart = spawnSync(apart[0], [...apart.slice(1), 'true']).status === 0;
  test.skipIf(!mayPart)(
    `a writer in another container is refused with 5 too${mayPart ? '' : ' (skipped: unshare is not allowed here)'}`,
    () => {
      const [args, env] = ingestCommandLine(dir, platform, { now });
      const { status, stderr } = spawnSync(apart[0], [...apart.slice(1), process.execPath, cli, ...args], {
        env: { PATH: process.env['PATH'] ?? '', ...env },
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({
        status: 5,
        stderr: `costbook: ${join(dir, 'data', 'warehouse.duckdb')} is held by a process that is not visible from here: wait until it ends and run this again, or use --wait 10m\n`,
      });
    },
  );
});
