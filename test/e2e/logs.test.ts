import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { cli, ingest, ingestCommandLine, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const now = '2026-09-05T12:30:00Z';

let platform: ScriptedPlatform;
let dir = '';
beforeAll(async () => {
  platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
  dir = await newProject();
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
});

describe('a log', () => {
  test('for machines has an event a line, each with the number of its run', async () => {
    const { stderr } = await ingest(dir, platform, { now, args: ['--refetch'] });
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.length).toBeGreaterThan(0);
    const runs = new Set(lines.map(({ run }) => run));
    expect(runs.size).toBe(1);
    for (const line of lines) {
      expect(line).toMatchObject({ at: expect.stringMatching(/Z$/), level: expect.stringMatching(/^(info|warn)$/) });
    }
    const { stdout } = await runCli(['sql', 'select max(run_number) as run from runs', '--json', '--dir', dir]);
    expect(stdout).toContain(String([...runs][0]));
  });

  test('for people has an event a line as well, whatever the platform says', async () => {
    platform.failures = [{ times: 1, status: 503, body: { error: 'one', code: 503, message: 'two\nthree\u001b[31m' } }];
    const [args, env] = ingestCommandLine(dir, platform, { now, args: ['--refetch'] });
    const { stderr } = await runCli(
      args.map((arg) => (arg === 'json' ? 'human' : arg)),
      env,
    );
    const told = stderr.split('\n').find((line) => line.includes('request is tried again'));
    expect(told).toContain('two three');
    expect(told).toMatch(/ · run \d+$/);
    expect(stderr).not.toContain('\u001b[31m');
  });
});

const hasTerminal = spawnSync('script', ['--version']).status === 0;
test.skipIf(!hasTerminal)(
  `at a terminal a command that takes its time says that it is at work${hasTerminal ? '' : ' (skipped: script is not here)'}`,
  async () => {
    const slow = 'select count(*) as n from range(60000) as a(x), range(60000) as b(y) where (x * y) % 7 = 3';
    const line = `"${process.execPath}" "${cli}" sql --timeout 5s "${slow}" --dir "${dir}"`;
    const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm' },
    });
    let shown = '';
    child.stdout.on('data', (piece: Buffer) => {
      shown += piece;
    });
    await once(child, 'close');
    expect(shown).toMatch(/sql: at work for \d s/);
    // It goes away when there is something to read.
    expect(shown.trimEnd().split('\n').at(-1)).not.toMatch(/at work for \d s$/);
  },
);
