import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { ingest, loadedProject, newProject, projectWithPlatform, runCli } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { hasTerminals, runOnTerminal, screenOf } from '../support/terminal.ts';

const facts = series(box, '2026-09-02T05', [1]);
const now = '2026-09-13T00:30:00Z';

const inJson = ['--log-format', 'json'];

interface Line {
  at: string;
  level: string;
  run?: number;
  event: string;
}

function linesOf(stderr: string): Line[] {
  return stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** Somebody else holds the warehouse of a project until they let go. */
async function hold(dir: string): Promise<() => void> {
  const instance = await DuckDBInstance.create(join(dir, 'data', 'warehouse.duckdb'));
  let isHeld = true;
  return () => {
    if (isHeld) instance.closeSync();
    isHeld = false;
  };
}

describe.concurrent('with --log-format json', () => {
  test('every line on stderr is one event, and names its run', async () => {
    const { dir, platform } = await loadedProject(facts, { now });
    platform.lie = () => 0.5; // no window proves
    const { exitCode, stderr } = await ingest(dir, platform, { now: '2026-09-14T00:30:00Z', args: inJson });
    expect(exitCode).toBe(4);
    const lines = linesOf(stderr);
    for (const line of lines) {
      expect(line).toMatchObject({
        at: expect.stringMatching(/^20\d\d-.*Z$/),
        level: expect.stringMatching(/^(info|warn)$/),
      });
    }
    const ofRun = lines.filter(({ run }) => run !== undefined);
    expect(ofRun.length).toBeGreaterThan(2);
    expect(new Set(ofRun.map(({ run }) => run))).toEqual(new Set([2]));
    // Only lines from before the run started name none.
    expect(lines.slice(lines.indexOf(ofRun[0] as Line)).filter(({ run }) => run === undefined)).toEqual([]);
  });

  test('errors are events too, without secrets', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const token = 'tok-very-secret-"quoted"';
    const { exitCode, stderr } = await ingest(dir, platform, { now, args: inJson, env: { COSTBOOK_TOKEN: token } });
    expect(exitCode).toBe(3);
    const events = linesOf(stderr);
    expect(events.some(({ level, run }) => level === 'warn' && run === 1)).toBe(true);
    expect(stderr).not.toContain('very-secret');

    const wrong = await runCli(['status', '--dir', dir, '--now', 'yesterday-ish', '--log-format', 'json']);
    expect(wrong.exitCode).toBe(2);
    const usage = await runCli(['report', 'nonesuch', '--dir', dir, '--log-format', 'json']);
    expect(usage.exitCode).toBe(2);
    expect(linesOf(usage.stderr)).toMatchObject([
      { level: 'error', event: 'command.failed', message: expect.stringContaining('nonesuch') },
    ]);
  });
});

test('by default, events are JSON without a terminal, and answers are text', async () => {
  const { stderr, exitCode } = await runCli(['report', 'cost', '--dir', '/nonesuch']);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^costbook: .*nonesuch/);
});

describe.concurrent('progress', () => {
  test('a command longer than two seconds shows it on the terminal, and clears it at the end', async ({ skip }) => {
    if (!hasTerminals()) skip('python3 with pty is not on this machine: progress on a terminal was not tried');
    const dir = await newProject();
    await ingest(dir, await startScriptedPlatform(facts), { now });
    const letGo = await hold(dir);
    const ended = await runOnTerminal(['alert', '--dir', dir, '--now', now, '--wait', '10m'], (terminal) => {
      if (/\d+ s · waiting/.test(terminal)) letGo();
    });
    expect(ended.exitCode, ended.terminal).toBe(0);
    expect(ended.terminal).toMatch(/alert · \d+ s · waiting for the warehouse, held by process \d+/);
    expect(ended.stdout).not.toContain('waiting');
    expect(ended.stdout).toContain('Nothing new.');
    expect(screenOf(ended.terminal)).not.toContain('alert');
  });
});
