// Second tier: Every command with every trouble that it can meet, searched for secrets.

import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { allCommands } from '../../src/commands/index.ts';
import { holdAsForeigner, warehouseOf } from '../support/breakages.ts';
import {
  cli,
  type Ended,
  ingest,
  ingestCommandLine,
  newProject,
  runCli,
  startCli,
  startMain,
} from '../support/project.ts';
import { type ScriptedPlatform, type Seen, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const commands = await allCommands();
/** As long as a short JWT; even twelve characters of its start must not be shown. */
const token = 'MARKED-a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x4y5z6-MARKED-end';
const telling = token.slice(0, 12);
const now = '2026-09-05T12:30:00Z';
const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const volume = { workspace: 'north', type: 'volume', name: 'data', uuid: null, dimension: 'volume_storage_gbs' };

interface Observed extends Ended {
  /** Files below the project folder that hold the mark. */
  readonly marked: string[];
  readonly files: number;
  /** Command lines seen in /proc. */
  readonly commandLines: Set<string>;
  /** Command lines and environments of child processes; the process' own environment is where the token came from. */
  readonly childEnvironments: Set<string>;
}

/** Runs an ingest and looks everywhere meanwhile and afterwards. */
async function observe(
  platform: ScriptedPlatform | undefined,
  options: { env?: Record<string, string>; token?: string } = {},
): Promise<Observed> {
  const dir = await newProject();
  const shown = options.token ?? token;
  if (platform) platform.tokens.admin = shown;
  const [args, env] = ingestCommandLine(dir, platform ?? ({ url: '', tokens: {} } as ScriptedPlatform), { now });
  const run = startCli(args, { ...env, COSTBOOK_TOKEN: shown, ...options.env });
  const own = [process.execPath, cli, ...args].join('\0');
  return observeRun(run.ended, dir, { pid: run.process.pid ?? 0, parent: process.pid, own });
}

/** A process that runs a command: this one, or one of its children, with the command line that is its own. */
interface Observer {
  readonly pid: number;
  readonly parent: number;
  readonly own: string;
}

/** Looks everywhere while a command runs in a process and afterwards, and lets the caller look too. */
async function observeRun(
  run: Promise<Ended>,
  dir: string,
  { pid: observed, parent: itsParent, own }: Observer,
  seen: () => void = () => undefined,
  everyMs = 2,
): Promise<Observed> {
  const commandLines = new Set<string>();
  const childEnvironments = new Set<string>();
  let isRunning = true;
  const ended = run.finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    look(observed, itsParent);
    seen();
    await sleepFor(everyMs);
  }

  function look(pid: number, parent: number): void {
    const text = read(`/proc/${pid}/cmdline`);
    const environment = read(`/proc/${pid}/environ`);
    // When a process has ended, the kernel may give its number to any other process.
    if (parentOf(pid) !== parent) return;
    if (text !== '') commandLines.add(text);
    // Between fork and exec a child has its parent's command line and environment.
    if (text !== '' && !text.startsWith(own)) childEnvironments.add(`${text}\n${environment}`);
    for (const task of list(`/proc/${pid}/task`)) {
      for (const child of read(`/proc/${pid}/task/${task}/children`).split(' '))
        if (child !== '') look(Number(child), pid);
    }
  }

  const result = await ended;
  const files = filesBelow(dir).filter((file) => !file.endsWith('costbook.yaml'));
  return {
    ...result,
    files: files.length,
    marked: files.filter((file) => readFileSync(file).includes(telling)),
    commandLines,
    childEnvironments,
  };
}

/** The parent of a process, if it still exists. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]);
}

/** What /proc shows of a process, if it still exists. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function expectNoSecret({ stdout, stderr, marked, commandLines, childEnvironments }: Observed): void {
  expect(stdout).not.toContain(telling);
  expect(stderr).not.toContain(telling);
  expect(marked).toEqual([]);
  expect([...commandLines].join('\n')).not.toContain(telling);
  expect([...childEnvironments].join('\n')).not.toContain(telling);
}

async function platformWith(change: (platform: ScriptedPlatform) => void = () => undefined): Promise<ScriptedPlatform> {
  const platform = await startScriptedPlatform([
    ...series(box, '2026-09-03T05', [1, 2]),
    ...series(volume, '2026-09-03T05', [1, 2]),
  ]);
  change(platform);
  return platform;
}

test('the token is in no file, output or process after a successful run', async () => {
  let seen = await observe(await platformWith());
  // The process that copies the snapshot lives for a moment only: on a busy machine it takes a second look to see it.
  for (let looks = 1; looks < 5 && seen.commandLines.size < 2; looks += 1) seen = await observe(await platformWith());
  expect(seen.exitCode).toBe(0);
  expect(seen.files).toBeGreaterThan(4);
  expect(seen.commandLines.size).toBeGreaterThanOrEqual(2);
  expectNoSecret(seen);
});

// One after another: whoever looks at the children of this process below must not see these, which got the token.
describe('the token', () => {
  test('is not shown when the platform refuses it and repeats it', async () => {
    const seen = await observe(
      await platformWith((platform) => {
        const body = {
          error: `bad_token_${token}`,
          code: 401,
          message: `The token ${token} is not known ("${token}")`,
        };
        platform.failures = [{ times: 99, status: 401, body }];
      }),
    );
    expect(seen.exitCode).toBe(3);
    expect(seen.stdout).toContain('***');
    expectNoSecret(seen);
  });

  test('is not shown in part in a truncated refusal', async () => {
    const seen = await observe(
      await platformWith((platform) => {
        const body = { error: 'no', code: 401, message: `${'x'.repeat(470)}${token}` };
        platform.failures = [{ times: 99, status: 401, body }];
      }),
    );
    expect(seen.exitCode).toBe(3);
    expectNoSecret(seen);
  });

  test('is not shown in part with a body that is not JSON', async () => {
    const seen = await observe(
      await platformWith((platform) => {
        platform.failures = [{ times: 1, status: 200, body: `Bearer ${token}` }];
      }),
    );
    expect(seen.exitCode).toBe(0);
    expect(seen.stderr).toContain('is not JSON');
    expectNoSecret(seen);
  });

  test.each([
    ['whole', 0],
    ['in part', 60],
  ])('is not shown %s if a refused value is quoted and stored', async (_, length) => {
    const seen = await observe(
      await platformWith((platform) => {
        platform.echo = (request: Seen) => ({
          startTime: `${'x'.repeat(length)}${token}`,
          endTime: request.query['endTime'] ?? '',
        });
      }),
    );
    expect(seen.exitCode).toBe(4);
    expectNoSecret(seen);
  });

  test('is not shown while failed requests are retried', async () => {
    const body = { error: 'oops', code: 500, message: `stack: Authorization: Bearer ${token}` };
    const seen = await observe(
      await platformWith((platform) => {
        platform.failures = [
          { times: 2, status: 500, body, headers: { 'retry-after': '0' } },
          { times: 2, status: undefined },
        ];
      }),
    );
    expect(seen.exitCode).toBe(0);
    expect(seen.stderr).toContain('stack: Authorization: Bearer ***');
    expectNoSecret(seen);
  });

  test.each([
    ['a space in it', `${token} x`],
    ['the word Bearer before it', `Bearer ${token}`],
  ])('is not shown when it is refused for %s', async (_, wrong) => {
    const seen = await observe(undefined, { env: { COSTBOOK_URL: 'http://127.0.0.1:9', COSTBOOK_TOKEN: wrong } });
    expect(seen.exitCode).toBe(2);
    expect(seen.stderr).toContain('COSTBOOK_TOKEN');
    expectNoSecret(seen);
  });

  test('is not shown when it is in the wrong variable', async () => {
    const seen = await observe(undefined, { env: { COSTBOOK_URL: `http://user:${token}@127.0.0.1:9` } });
    expect(seen.exitCode).toBe(2);
    expectNoSecret(seen);
  });
});

test.concurrent('the token cannot be given as an option', async () => {
  const { exitCode, stderr } = await runCli(['ingest', '--token', token]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown option '--token'");
});

/** What else a command line must have where the name alone is none; most commands need no entry. */
const rest: Readonly<Record<string, readonly string[]>> = {
  report: ['cost_by_workspace', '--month', '2026-09'],
  sql: ['select sum(cost) as cost from costs'],
  rebuild: ['--into', 'rebuilt.duckdb'],
  allocation: ['apply'],
  close: ['2026-09'],
  reopen: ['2026-09', '--reason', 'a late invoice'],
  summarize: ['--dry-run'],
  statement: ['--month', '2026-09', '--format', 'html'],
  serve: ['--port', '0'],
  completion: ['bash'],
  platform: ['metrics', '--start-time', '2026-09-01', '--end-time', '2026-09-02', '--resolution', 'daily'],
  run: ['nightly'],
};
/** The exit codes of commands that find nothing to do in these correct books. */
const refused: Readonly<Record<string, readonly number[]>> = { close: [4], reopen: [2], doctor: [0, 4] };
/** They read nothing of a project but its settings. */
const withoutProject = ['completion', 'demo', 'emulator'];
/** They ask no platform. */
const offline = [
  ...withoutProject,
  ...['alert', 'alerts', 'allocation', 'anomalies', 'budgets', 'check', 'close', 'forecast', 'rebuild', 'reopen'],
  ...['report', 'restatements', 'sql', 'statement', 'status', 'summarize', 'verify'],
];
/** They read the published books alone and send nothing: a held warehouse or a sink that is not there is nothing to them. */
const readers = ['anomalies', 'forecast', 'report', 'restatements', 'sql', 'statement', 'verify'];
/** They do not end by themselves, or not soon: they are ended when they have said something. */
const endless = ['demo', 'emulator', 'schedule', 'serve'];

describe.concurrent('no command shows the token, nor an address with a secret', () => {
  const hook = `https://hooks.example.com/services/T0/B0/${token}`;
  let loaded = '';
  beforeAll(async () => {
    loaded = await newProject();
    expect((await ingest(loaded, await platformWith(), { now })).exitCode).toBe(0);
    await mkdir(join(loaded, 'jobs'));
    await writeFile(join(loaded, 'jobs', 'budgets.yaml'), 'budgets: [{ name: all, period: monthly, amount: 5 USD }]\n');
    // What verify looks at.
    const reported = await runCli(['report', ...(rest['report'] ?? []), '--dir', loaded, '--now', now]);
    expect(reported.exitCode, reported.stderr).toBe(0);
  });

  interface Trouble {
    readonly env?: Readonly<Record<string, string>>;
    readonly yaml?: string;
    readonly isHeld?: true;
    readonly platform?: (platform: ScriptedPlatform) => void;
  }
  const refusal = { error: `bad_${token}`, code: 401, message: `${token} is not known, and ${hook} neither` };
  const troubles: Readonly<Record<string, Trouble>> = {
    'where nothing is wrong': {},
    'where a sink has one, and is not there': {
      yaml: `sinks:\n  team: { type: webhook, url: "http://127.0.0.1:9/${token}", secret: "${token}", allowPrivateNetwork: true }\nalerts: { notify: team }\n`,
    },
    'where sinks are wrong': {
      yaml: `sinks:\n  one: { type: slack, url: "ftp://${token}" }\n  two: { type: webhook, url: "${hook}", secret: 5 }\n  three: { type: slak, url: "${hook}" }\n`,
    },
    'where the platform refuses it and says it back': {
      platform: (platform) => {
        platform.failures = [{ times: 99, status: 401, body: refusal }];
      },
    },
    'where another process holds the warehouse': { isHeld: true },
    'where the configuration is wrong': {
      env: { COSTBOOK_WEBHOK: hook },
      yaml: `token: "${token}"\nwebhok: "${hook}"\nsettleDays: "${token}"\nurl: [${hook}]\n`,
    },
  };

  /** What makes no difference to a command: it asks no platform, which is tested, or has no sinks or no books. */
  function isAlike(name: string, trouble: string): boolean {
    if (trouble === 'where the platform refuses it and says it back') return offline.includes(name);
    if (readers.includes(name) && /a sink has one|warehouse/.test(trouble)) return true;
    if (trouble.includes('sink')) return [...withoutProject, 'rebuild'].includes(name);
    return trouble.includes('warehouse') && withoutProject.includes(name);
  }
  const pairs = commands.flatMap(({ name }) =>
    Object.keys(troubles).flatMap((trouble): [string, string][] => (isAlike(name, trouble) ? [] : [[name, trouble]])),
  );

  test.each(pairs)('%s, %s', async (name, trouble) => {
    const { env = {}, yaml, isHeld, platform: change } = troubles[trouble] ?? {};
    const dir = await newProject();
    await cp(loaded, dir, { recursive: true });
    if (yaml !== undefined) await writeFile(join(dir, 'costbook.yaml'), yaml);
    const platform = await platformWith(change);
    platform.tokens.admin = token;
    const holder = isHeld ? await holdAsForeigner(warehouseOf(dir)) : undefined;
    try {
      const [, known] = ingestCommandLine(dir, platform, { now });
      const line = [name, ...(rest[name] ?? []), '--dir', dir, '--now', now, '--log-format', 'human'];
      const run = startMain(line, { ...known, ...env }, { cwd: await newProject() });
      let isEnded = !endless.includes(name);
      const here = { pid: process.pid, parent: process.ppid, own: read(`/proc/${process.pid}/cmdline`) };
      function endIfSaid(): void {
        if (isEnded || run.stdout() + run.stderr() === '') return;
        isEnded = true;
        run.signal('SIGTERM');
      }
      // Its children live for a tenth of a second at least.
      const seen = await observeRun(run.ended, dir, here, endIfSaid, 20);
      if (trouble === 'where nothing is wrong') expect(refused[name] ?? [0, 143], seen.stderr).toContain(seen.exitCode);
      if (offline.includes(name)) expect(platform.requests).toEqual([]);
      expect(seen.exitCode, seen.stderr).not.toBe(1);
      expectNoSecret(seen);
    } finally {
      await holder?.release();
    }
  });
});
