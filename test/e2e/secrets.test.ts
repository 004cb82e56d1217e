import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Ended, ingestCommandLine, newProject, runCli, startCli } from '../support/project.ts';
import { type ScriptedPlatform, type Seen, series, startScriptedPlatform } from '../support/scripted-platform.ts';

/** As long as a short JWT; any twelve characters of its beginning are too many to be told. */
const token = 'MARKED-a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x4y5z6-MARKED-end';
const telling = token.slice(0, 12);
const now = '2026-09-05T12:30:00Z';
const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const volume = { workspace: 'north', type: 'volume', name: 'data', uuid: null, dimension: 'volume_storage_gbs' };

interface Observed extends Ended {
  /** Files below the project folder that hold the mark. */
  readonly marked: string[];
  readonly files: number;
  /** Command lines and environments seen in /proc; the process' own environment is where the token came from. */
  readonly commandLines: Set<string>;
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
  const commandLines = new Set<string>();
  const childEnvironments = new Set<string>();
  let isRunning = true;
  const ended = run.ended.finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    look(run.process.pid ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
  }

  function look(pid: number): void {
    const text = read(`/proc/${pid}/cmdline`);
    if (text !== '') commandLines.add(text);
    // Between fork and exec a child has its parent's command line and environment.
    if (text !== '' && !text.includes('ingest')) childEnvironments.add(read(`/proc/${pid}/environ`));
    for (const task of list(`/proc/${pid}/task`)) {
      for (const child of read(`/proc/${pid}/task/${task}/children`).split(' ')) if (child !== '') look(Number(child));
    }
  }

  const files = filesBelow(dir);
  return {
    ...(await ended),
    files: files.length,
    marked: files.filter((file) => readFileSync(file).includes(telling)),
    commandLines,
    childEnvironments,
  };
}

/** What a process has in /proc, where it is still there. */
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

function expectUntold({ stdout, stderr, marked, commandLines, childEnvironments }: Observed): void {
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

test('the token is nowhere after a run that went well, nor in any process that it started', async () => {
  let seen = await observe(await platformWith());
  // The process that copies the snapshot lives for a moment only: on a busy machine it takes a second look to see it.
  for (let looks = 1; looks < 5 && seen.commandLines.size < 2; looks += 1) seen = await observe(await platformWith());
  expect(seen.exitCode).toBe(0);
  expect(seen.files).toBeGreaterThan(4);
  expect(seen.commandLines.size).toBeGreaterThanOrEqual(2);
  expectUntold(seen);
});

describe.concurrent('the token', () => {
  test('is not told when the platform refuses it and says it back', async () => {
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
    expectUntold(seen);
  });

  test('is not told in part where a long refusal is cut', async () => {
    const seen = await observe(
      await platformWith((platform) => {
        const body = { error: 'no', code: 401, message: `${'x'.repeat(470)}${token}` };
        platform.failures = [{ times: 99, status: 401, body }];
      }),
    );
    expect(seen.exitCode).toBe(3);
    expectUntold(seen);
  });

  test('is not told in part where a body that is not JSON is shown', async () => {
    const seen = await observe(
      await platformWith((platform) => {
        platform.failures = [{ times: 1, status: 200, body: `Bearer ${token}` }];
      }),
    );
    expect(seen.exitCode).toBe(0);
    expect(seen.stderr).toContain('is not JSON');
    expectUntold(seen);
  });

  test.each([
    ['whole', 0],
    ['in part', 60],
  ])('is not told %s where a value that is refused is shown and kept', async (_, length) => {
    const seen = await observe(
      await platformWith((platform) => {
        platform.echo = (request: Seen) => ({
          startTime: `${'x'.repeat(length)}${token}`,
          endTime: request.query['endTime'] ?? '',
        });
      }),
    );
    expect(seen.exitCode).toBe(4);
    expectUntold(seen);
  });

  test('is not told while requests that fail are tried again', async () => {
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
    expectUntold(seen);
  });

  test.each([
    ['a space in it', `${token} x`],
    ['the word Bearer before it', `Bearer ${token}`],
  ])('is not told when it is refused for %s', async (_, wrong) => {
    const seen = await observe(undefined, { env: { COSTBOOK_URL: 'http://127.0.0.1:9', COSTBOOK_TOKEN: wrong } });
    expect(seen.exitCode).toBe(2);
    expect(seen.stderr).toContain('COSTBOOK_TOKEN');
    expectUntold(seen);
  });

  test('is not told when it was put into the wrong variable', async () => {
    const seen = await observe(undefined, { env: { COSTBOOK_URL: `http://user:${token}@127.0.0.1:9` } });
    expect(seen.exitCode).toBe(2);
    expectUntold(seen);
  });
});

test.concurrent('a token is no option of the command line', async () => {
  const { exitCode, stderr } = await runCli(['ingest', '--token', token]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown option '--token'");
});
