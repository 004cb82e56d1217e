// Second tier: Starts nights with nine wrong settings; unit/config has every mistake in the first tier.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ingestCommandLine, newProject, putEmptyBooks, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, says, startSink } from '../support/sink-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };

let platform: ScriptedPlatform;
let sink: SinkServer;
let dir = '';
beforeAll(async () => {
  platform = await startScriptedPlatform(series(box, '2026-09-02T05', [1, 2]));
  sink = await startSink(says(204));
  dir = await newProject();
  await putEmptyBooks(dir);
  await mkdir(join(dir, 'jobs'));
  // What is wrong in the data is not looked at here.
  await writeFile(join(dir, 'jobs', 'nightly.yaml'), 'schedule: "15 2 * * *"\nsteps: [ingest, alert]\n');
});

const whole = (url: string) =>
  `  hook: { type: webhook, url: "${url}/in", secret: s3cret-of-the-hook, allowPrivateNetwork: true }`;

/** One night with these lines in costbook.yaml; with what the sink was told. */
async function night(day: number, lines: readonly string[], env: Record<string, string> = {}) {
  await writeFile(join(dir, 'costbook.yaml'), `${lines.join('\n')}\n`);
  const before = sink.told.length;
  const now = `2026-09-${String(day).padStart(2, '0')}T02:15:00Z`;
  const [, settings] = ingestCommandLine(dir, platform, { now });
  const ended = await runCli(['run', 'nightly', '--dir', dir], { ...settings, COSTBOOK_NOW: now, ...env });
  return { ...ended, told: sink.told.slice(before).map(({ body }) => body.text) };
}

test('a sink with a mistake stops neither the fetch nor other sinks, which are notified of it once', async () => {
  const pager = `  pager: { type: webhook, url: "${sink.url}/pager", allowPrivateNetwork: true`;
  const lines = ['sinks:', whole(sink.url), `${pager} }`];
  const first = await night(6, lines);
  expect(first.exitCode, first.stderr).toBe(2);
  expect(first.stdout).toContain('complete through 2026-09-06');
  expect(first.stderr).toContain('pager: found no secret');
  expect(first.told).toEqual([expect.stringContaining('pager: found no secret')]);
  expect((await night(7, lines)).told).toEqual([]);
  const mended = await night(8, [...lines.slice(0, 2), `${pager}, secret: s3cret-of-the-pager }`]);
  expect(mended.exitCode, mended.stderr).toBe(0);
  expect(mended.told.filter((text) => text.includes('Resolved'))).toHaveLength(2);
});

test.each([
  ['an unknown key', ['freshnes: 30h'], {}, 'freshnes'],
  ['a tab, which YAML does not allow', ['\tsettleDays: 3'], {}, 'found a tab as indentation'],
  ['a quote that nobody closed', ['account: "acc_one'], {}, 'YAML: found no closing quote'],
  ['a secret that is not set', ['headers: { X-Team: "$' + '{TEAM_KEY}" }'], {}, 'TEAM_KEY'],
  ['a start in the future, as a clock of 2020 makes it', [], { COSTBOOK_SINCE: '2026-10' }, 'COSTBOOK_SINCE'],
  ['a time that is none', [], { COSTBOOK_NOW: '2020' }, 'COSTBOOK_NOW: "2020" is not a date'],
] satisfies [string, string[], Record<string, string>, string][])(
  '%s is told to the sinks, although nothing can be fetched',
  async (_, lines, env, words) => {
    const ended = await night(9, [...lines, 'sinks:', whole(sink.url)], env);
    expect(ended.exitCode, ended.stderr).toBe(2);
    expect(ended.told).toEqual([expect.stringContaining(words)]);
  },
);

test('if no sink can be read, the warning says so, and not that there is none', async () => {
  const { stderr, told } = await night(9, ['settleDays 3', 'sinks:', whole(sink.url)]);
  expect(told).toEqual([]);
  expect(stderr).toMatch(/the sinks of costbook\.yaml cannot be read, so nobody is notified\. Correct the file: /);
});

test('a failed ingest names the account by its platform until the platform has named it', async () => {
  const ended = await night(10, ['sinks:', whole(sink.url)], { COSTBOOK_TOKEN: 'refused', COSTBOOK_ACCOUNT: '' });
  expect(ended.stdout).toContain(`the account of ${new URL(platform.url).host}: 0 windows`);
});

test('status and doctor name the sink that refuses messages, why, and what to do', async () => {
  sink.replies = [says(403), says(204)];
  await night(11, ['lagHour: 3', 'sinks:', whole(sink.url)]);
  await writeFile(join(dir, 'costbook.yaml'), `sinks:\n${whole(sink.url)}\n`);
  for (const command of [['status'], ['doctor', '--offline']]) {
    const { stdout } = await runCli([...command, '--dir', dir, '--now', '2026-09-11T02:16:00Z']);
    expect(stdout).toMatch(/1 message to the sink hook since \S+ is not delivered: 127.0.0.1 answered 403/);
    expect(stdout).toContain('"costbook alerts test hook"');
  }
});
