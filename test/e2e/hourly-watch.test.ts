// Second tier: Seven runs of a job that runs every hour, read from Slack.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { readInSlack, type SlackMessage } from '../../src/sinks/slack-message.ts';
import { newProject, runCli } from '../support/project.ts';
import { startSink } from '../support/sink-server.ts';

// demo-analyst runs away from 2026-11-15T21:00Z on, at about 90 USD a day.
const storyEnd = Date.UTC(2026, 10, 22);
/** The runs: a night, then every hour. */
const runs = [
  '2026-11-15T02:15',
  ...['22:10', '23:10', '23:40'].map((time) => `2026-11-15T${time}`),
  '2026-11-16T02:40',
  '2026-11-17T02:40',
  '2026-11-18T02:40',
];
const key = 'anomaly/acc-harbor-labs/customer-demos/agent/agent_compute_runtime_gbs/2026-11-15';

/** What somebody read after a run, and the anomaly that the books had then. */
const read = new Map<string, readonly string[]>();
let dir = '';
let listed = '';
let explained = '';

beforeAll(async () => {
  dir = await newProject();
  let now = 0;
  const platform = await startEmulator({ now: () => now, storyEnd, resources: 12 });
  const slack = await startSink();
  await mkdir(join(dir, 'jobs'));
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:\n  chat: { type: slack, url: "${slack.url}/hook", allowPrivateNetwork: true }\n`,
  );
  const env = {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_ACCOUNT: platform.account,
    COSTBOOK_SINCE: '2026-10-10',
    COSTBOOK_INVENTORY: 'false',
  };
  for (const [place, run] of runs.entries()) {
    now = Date.parse(`${run}:00Z`);
    const before = slack.told.length;
    const job = place === 0 ? 'nightly' : 'hourly_watch';
    const ended = await runCli(['run', job, '--dir', dir, '--now', `${run}:00Z`], env);
    expect(ended.exitCode, ended.stderr).toBe(0);
    read.set(
      run,
      slack.told.slice(before).map(({ text }) => readInSlack(JSON.parse(text) as SlackMessage)),
    );
    if (run === '2026-11-15T23:10') {
      listed = (await runCli(['anomalies', '--dir', dir])).stdout;
      explained = (await runCli(['anomalies', '--dir', dir, '--explain', key])).stdout;
    }
  }
  await platform.close();
}, 600_000);

/** The messages of the runs after which there were any: their first lines. */
function toldRuns(): string[] {
  return runs.filter((run) => (read.get(run) ?? []).length > 0);
}

describe('an agent that runs away at 21:00, in a project that runs hourly_watch', () => {
  test('is reported at 23:10: what two hours cost, what a day of it is, and what to do', () => {
    const [text = ''] = read.get('2026-11-15T23:10') ?? [];
    expect(text).toMatch(
      /🔴 8\.\d\d USD more than usual for demo-analyst in 2 hours, in all about 1,\d\d\d USD more by the end of November/,
    );
    expect(text).toMatch(/about 10\d USD on a whole day, \d+ times its usual cost/);
    expect(text).toContain('since about 15 Nov, 21:00 UTC');
    expect(text).toContain('Act (operator of Costbook): check what demo-analyst runs and when; stop');
    // Its hours are younger than what counts as complete.
    expect(text).toContain('as of 2026-11-15T21:00:00Z');
  });

  test('is listed and explained at once', () => {
    expect(listed).toMatch(/open, critical {2}8\.\d\d USD more than usual for demo-analyst in 2 hours/);
    expect(listed).toContain(key);
    expect(explained).toContain(' times its usual cost');
    expect(explained).toContain('before 23:00 UTC');
    expect(explained).toMatch(/Cost: 8\.\d\d USD, 2026-11-15/);
  });

  test('sends no second message when its day is complete: the same alert goes on, and says so on the third day', () => {
    expect(toldRuns()).toEqual(['2026-11-15T23:10', '2026-11-18T02:40']);
    const [text = ''] = read.get('2026-11-18T02:40') ?? [];
    expect(text).toMatch(/Last message.*\+8\.\d\d USD through 15 Nov/s);
    expect(text).toContain(key);
  });
});
