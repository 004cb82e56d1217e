import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, ingest, newProject, runCli } from '../support/project.ts';
import { type Fact, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, startSink } from '../support/sink-server.ts';

const env = { SINK_SECRET: 'secret-of-the-webhook', COSTBOOK_SINCE: '2026-08-01', COSTBOOK_INVENTORY: 'false' };
const dimension = 'agent_compute_runtime_gbs';
const keyOf = (workspace: string, day: string, of = dimension) => `anomaly/acc_one/${workspace}/agent/${of}/${day}`;

/** Costs of an agent of a workspace: so much every six hours, from a day on, until another. */
function costs(workspace: string, [from, until]: readonly [string, string], cost: number, of = dimension): Fact[] {
  const agent = { type: 'agent', dimension: of, workspace, name: `agent-${workspace}`, uuid: `agt-${workspace}` };
  const hours: Fact[] = [];
  for (let at = Date.parse(from); at < Date.parse(until); at += 21_600_000) {
    hours.push(...series(agent, new Date(at).toISOString().slice(0, 13), [cost]));
  }
  return hours;
}

/** 12 USD a day, and so many times that on some days. */
function workspaceWith(name: string, peaks: Readonly<Record<string, number>>, of = dimension): Fact[] {
  const facts: Fact[] = [];
  for (let at = Date.parse('2026-08-01'); at < Date.parse('2026-09-30'); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    const next = new Date(at + 86_400_000).toISOString().slice(0, 10);
    facts.push(...costs(name, [day, next], 3 * (peaks[day] ?? 1), of));
  }
  return facts;
}

const lasting = Object.fromEntries(
  Array.from({ length: 25 }, (_, place) => [`2026-09-${String(place + 5).padStart(2, '0')}`, 3]),
);
// Nine days apart: the calendar alone would not know it again.
const peaks = { '2026-09-01': 3, '2026-09-10': 3, '2026-09-19': 4 };

let dir = '';
let sink: SinkServer;
let platform: ScriptedPlatform;
/** What was notified on each night. */
const told = new Map<string, string[]>();

async function night(day: string): Promise<void> {
  const now = `${day}T02:15:00Z`;
  const before = sink.told.length;
  const ingested = await ingest(dir, platform, { now, env });
  expect(ingested.exitCode, ingested.stderr).toBe(0);
  const alerted = await runCli(['alert', '--dir', dir, '--now', now], env);
  expect(alerted.exitCode, alerted.stderr).toBe(0);
  const entries = sink.told.slice(before).flatMap(({ body }) => body.alerts);
  told.set(day, entries.map(({ transition, key }) => `${transition} ${key}`).sort());
}

async function ack(key: string, as: string, day: string, ...more: string[]) {
  return runCli(['alerts', 'ack', key, '--as', as, '--dir', dir, '--now', `${day}T09:00:00Z`, ...more], env);
}

async function explain(key: string, ...more: string[]): Promise<string> {
  const ended = await runCli(['anomalies', '--explain', key, '--dir', dir, '--exact', ...more]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  return ended.stdout;
}

const answers = new Map<string, string>();

beforeAll(async () => {
  dir = await newProject();
  sink = await startSink();
  const hook = `{ type: webhook, url: "${sink.url}", secret: "\${SINK_SECRET}", allowPrivateNetwork: true }`;
  await writeFile(join(dir, 'costbook.yaml'), `accounts: [{ id: acc_one }]\nsinks:\n  hook: ${hook}\n`);
  platform = await startScriptedPlatform([
    ...workspaceWith('called', peaks),
    ...workspaceWith('uncalled', peaks),
    ...workspaceWith('step', lasting),
    ...workspaceWith('unfixed', lasting),
    ...workspaceWith('pair', { '2026-09-01': 3 }),
    ...workspaceWith('pair', { '2026-09-01': 2 }, 'agent_requests'),
  ]);
  await night('2026-09-02');
  answers.set('expected', (await ack(keyOf('called', '2026-09-01'), 'expected', '2026-09-02')).stdout);
  answers.set('pair', (await ack(keyOf('pair', '2026-09-01'), 'false', '2026-09-02', '--json')).stdout);
  await night('2026-09-04');
  await night('2026-09-06');
  await ack(keyOf('step', '2026-09-05'), 'expected', '2026-09-06');
  await ack(keyOf('unfixed', '2026-09-05'), 'fixed', '2026-09-06');
  for (const day of ['07', '08', '09', '11']) await night(`2026-09-${day}`);
  // The warehouse is lost: landing folder and journal make it again.
  await rm(join(dir, 'data', 'warehouse.duckdb'));
  const repaired = await runCli(['repair', '--dir', dir]);
  expect(repaired.exitCode, repaired.stderr).toBe(0);
  await night('2026-09-20');
}, 240_000);

describe('an anomaly that was called expected', () => {
  test('stays silent at the same size, even after a rebuild; without feedback it is reported', async () => {
    console.log([...told], answers, await explain(keyOf('called','2026-09-10')), await explain(keyOf('called','2026-09-01')), await explain(keyOf('called','2026-09-19')), await explain(keyOf('unfixed','2026-09-05')),(await runCli(['anomalies','--dir',dir])).stdout,(await runCli(['alerts','--dir',dir])).stdout);
  });
});
