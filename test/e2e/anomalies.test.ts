// Second tier: Evaluates months of history in processes; sql/anomalies holds the rules in the first tier.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, ingest, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, startSink } from '../support/sink-server.ts';

const secret = 'MARKED-secret-of-the-webhook';
const env = { SINK_SECRET: secret, COSTBOOK_SINCE: '2026-08-01', COSTBOOK_INVENTORY: 'true' };
const compute = { type: 'agent', dimension: 'agent_compute_runtime_gbs' };
const helper = { ...compute, workspace: 'north', name: 'helper', uuid: 'agt-1' };
const runaway = { ...compute, workspace: 'north', name: 'runaway', uuid: 'agt-2' };
const key = (day: string, more = '') => `anomaly/acc_one/north/agent/agent_compute_runtime_gbs/${day}${more}`;

/** The same every six hours from a day's hour on, to the end of September. */
function everySixHours(of: typeof helper, from: string, cost: number, until = '2026-09-29T00') {
  const at = (hour: string) => Date.parse(`${hour}:00:00Z`);
  const count = Math.ceil((at(until) - at(from)) / 21_600_000);
  return Array.from({ length: count }, (_, place) => {
    const hour = new Date(at(from) + place * 21_600_000).toISOString().slice(0, 13);
    return series(of, hour, [cost]);
  }).flat();
}

interface ToldFact extends Record<string, unknown> {
  readonly drivers: readonly Record<string, unknown>[];
}

/** The runaway as a night lists it: deployed with more memory in the morning of the day on which it ran away. */
function listedRunaway(day: string): Readonly<Record<string, unknown>> {
  const isDeployed = day > '2026-09-01';
  const deployed = { type: 'deployment', status: 'DEPLOYED', time: '2026-09-01T09:30:00Z', revision: '<b>7</b>' };
  return {
    metadata: {
      ...{ name: 'runaway', workspace: 'north', createdAt: '2026-08-01T00:00:00Z' },
      updatedAt: isDeployed ? '2026-09-01T09:25:00Z' : '2026-08-01T00:00:00Z',
    },
    spec: { revision: { active: isDeployed ? '<b>7</b>' : '6' }, runtime: { memory: isDeployed ? 4096 : 2048 } },
    events: isDeployed ? [{ ...deployed, status: 'BUILDING', time: '2026-09-01T09:25:00Z' }, deployed] : [],
  };
}

let dir = '';
let sink: SinkServer;
let platform: ScriptedPlatform;
const answeredAtPlatform = new Map<string, string[]>();
let spike: ToldFact | undefined;

/** Ingests and alerts on a night, and collects the notifications. */
async function night(day: string): Promise<void> {
  const now = `${day}T02:15:00Z`;
  const before = sink.told.length;
  platform.listed = ({ path }) =>
    path === '/v0/agents' ? [listedRunaway(day)] : /^\/v0\/[a-z]+$/.test(path) ? [] : undefined;
  const ingested = await ingest(dir, platform, { now, env });
  expect(ingested.exitCode, ingested.stderr).toBe(0);
  const alerted = await runCli(['alert', '--dir', dir, '--now', now], env);
  expect(alerted.exitCode, alerted.stderr).toBe(0);
  const entries = sink.told.slice(before).flatMap(({ body }) => body.alerts);
  answeredAtPlatform.set(
    day,
    entries.map(({ transition, key: told }) => `${transition} ${told}`),
  );
  spike ??= entries.find(({ key: told }) => told === key('2026-09-01'))?.fact as unknown as ToldFact | undefined;
}

beforeAll(async () => {
  dir = await newProject();
  sink = await startSink();
  await writeFile(
    join(dir, 'costbook.yaml'),
    `accounts: [{ id: acc_one }]\nsinks:\n  hook: { type: webhook, url: "${sink.url}", secret: "\${SINK_SECRET}", allowPrivateNetwork: true }\n`,
  );
  platform = await startScriptedPlatform([
    // 12 USD a day for a month and longer.
    ...everySixHours(helper, '2026-08-01T00', 3),
    // In the afternoon of one day another one runs away.
    ...everySixHours(runaway, '2026-09-01T12', 10, '2026-09-02T00'),
    // From another day on one more stays.
    ...everySixHours({ ...runaway, name: 'second', uuid: 'agt-3' }, '2026-09-05T00', 6),
  ]);
  for (const day of ['01', '02', '03', '04', '06', '07', '08', '20']) await night(`2026-09-${day}`);
}, 240_000);

describe('an anomaly', () => {
  test('is reported once, the night after its day, with its driver, start and cause', () => {
    expect(answeredAtPlatform.get('2026-09-01')).toEqual([]);
    expect(answeredAtPlatform.get('2026-09-02')).toEqual([`raised ${key('2026-09-01')}`]);
    expect(spike).toMatchObject({
      anomaly: 'spike',
      isUp: true,
      firstDay: '2026-09-01',
      firstHour: '2026-09-01T12:00:00Z',
      cost: '32.000000000000',
      expected: '12.000000000000',
      impact: '20.000000000000',
      moved: 'usage',
      completeThrough: '2026-09-02T00:00:00Z',
      // It had stopped by the end of the day.
      pace: null,
      severity: 'info',
    });
    expect(spike?.drivers[0]).toMatchObject({ resourceName: 'runaway', cost: '20.000000000000', part: 100 });
    expect(answeredAtPlatform.get('2026-09-03')).toEqual([]);
  });

  test('is resolved after two usual days', () => {
    expect(answeredAtPlatform.get('2026-09-04')).toEqual([`resolved ${key('2026-09-01')}`]);
    expect(sink.told.at(1)?.body.text).toContain('+20.00 USD on 1 Sep.');
  });

  test('that lasts is reported again when it becomes more urgent, and when it becomes the usual level', async () => {
    expect(answeredAtPlatform.get('2026-09-06')).toEqual([`raised ${key('2026-09-05')}`]);
    expect(answeredAtPlatform.get('2026-09-07')).toEqual([`raised ${key('2026-09-05')}`]);
    expect(answeredAtPlatform.get('2026-09-08')).toEqual([]);
    expect(answeredAtPlatform.get('2026-09-20')).toEqual([`resolved ${key('2026-09-05')}`]);
    const subjects = sink.told.slice(2).map(({ body }) => body.subject);
    expect(subjects).toEqual([
      expect.stringContaining('24.00 USD more than usual, mostly for second on 5 Sep'),
      expect.stringContaining(
        '48.00 USD more than usual, mostly for second since 5 Sep, in all about 624 USD more by the end of September if it continues',
      ),
      expect.stringContaining(
        'second cost 336.00 USD more than usual from 5 to 18 Sep: Costbook now treats this cost as usual',
      ),
    ]);
    expect(
      await askSnapshot(dir, 'select alert_key, is_open, ending from alerts order by alert_key, occurrence'),
    ).toEqual([
      { alert_key: key('2026-09-01'), is_open: false, ending: 'resolved' },
      { alert_key: key('2026-09-05'), is_open: false, ending: 'superseded' },
      { alert_key: key('2026-09-05'), is_open: false, ending: 'resolved' },
    ]);
    expect(await askSnapshot(dir, 'select kind, state, first_day, last_day from anomalies order by first_day')).toEqual(
      [
        { kind: 'spike', state: 'over', first_day: '2026-09-01', last_day: '2026-09-01' },
        { kind: 'step', state: 'usual', first_day: '2026-09-05', last_day: '2026-09-18' },
      ],
    );
  });

  test('is shown as of a night as it was known that night', async () => {
    const asOf = async (instant: string) => {
      const sql = 'select kind, state, first_day from anomalies order by first_day';
      const ended = await runCli(['sql', sql, '--dir', dir, '--as-of', instant, '--json']);
      return (JSON.parse(ended.stdout) as { rows: unknown[] }).rows;
    };
    expect(await asOf('2026-09-01T12:00:00Z')).toEqual([]);
    expect(await asOf('2026-09-02T12:00:00Z')).toEqual([{ kind: 'spike', state: 'open', first_day: '2026-09-01' }]);
    expect(await asOf('2026-09-04T12:00:00Z')).toEqual([{ kind: 'spike', state: 'over', first_day: '2026-09-01' }]);
  });

  test('names what was deployed of its driver before, in the alert, the list and the explanation', async () => {
    expect(spike).toMatchObject({
      deploymentCount: 1,
      deployments: [
        {
          ...{ resourceName: 'runaway', by: '2026-09-01T09:30:00Z', revision: '<b>7</b>', hoursBefore: 3 },
          event: { status: 'DEPLOYED' },
          settings: [{ name: 'memory_mb', from: '2048', to: '4096' }],
        },
      ],
    });
    const listed = await runCli(['anomalies', '--dir', dir, '--json']);
    const { anomalies } = JSON.parse(listed.stdout) as { anomalies: { key: string; deployments: unknown }[] };
    expect(anomalies.find(({ key: found }) => found === key('2026-09-01'))?.deployments).toEqual(
      spike?.['deployments'],
    );
    const explained = await runCli(['anomalies', '--dir', dir, '--explain', key('2026-09-01'), '--exact']);
    expect(explained.stdout).toContain(
      '2026-09-01 09:30 UTC deployed revision <b>7</b> (north/agent/runaway), 3 hours before; memory 2048 → 4096 MB.',
    );
    expect(explained.stdout).toContain('\n→ Act (operator of Costbook): check what runaway runs and when;');
    const unknown = await runCli(['anomalies', '--dir', dir, '--explain', key('2026-09-02')]);
    expect({ exitCode: unknown.exitCode, stderr: unknown.stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(key('2026-09-02')),
    });
  });

  test('is the same after a rebuild', async () => {
    const file = join(await newProject(), 'rebuilt.duckdb');
    const ended = await runCli(['rebuild', '--dir', dir, '--into', file, '--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const { identical, tables } = JSON.parse(ended.stdout) as {
      identical: boolean;
      tables: { table: string; rows: number }[];
    };
    expect(identical).toBe(true);
    for (const name of ['anomalies', 'anomaly_evaluations']) {
      expect(tables.find(({ table }) => table === name)?.rows, name).toBeGreaterThan(3);
    }
  });

  test('is in the report of its month, byte for byte', async () => {
    const out = await newProject();
    const ended = await runCli([
      'report',
      'anomalies',
      '--month',
      '2026-09',
      '--dir',
      dir,
      '--out',
      out,
      '--format',
      'csv',
    ]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const csv = await readFile(join(out, 'anomalies', 'BILLING_PERIOD=2026-09', 'latest.csv'), 'utf8');
    await expect(csv).toMatchFileSnapshot('../golden/anomalies.csv');
  });
});

describe('budgets backtest --anomalies', () => {
  test('shows which alerts would have been sent, and when', async () => {
    const now = '2026-09-20T02:15:00Z';
    const ended = await runCli([
      'budgets',
      'backtest',
      '--anomalies',
      '--lookback',
      '30d',
      '--dir',
      dir,
      '--now',
      now,
      '--json',
    ]);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const { events } = JSON.parse(ended.stdout) as { events: { at: string; what: string; key: string }[] };
    // Each day is judged once its last hour is known, as the nightly job does.
    expect(events.map(({ at, what, key: told }) => `${at} ${what} ${told}`)).toEqual([
      `2026-09-02T03:00:00Z raised ${key('2026-09-01')}`,
      `2026-09-04T03:00:00Z resolved ${key('2026-09-01')}`,
      `2026-09-06T03:00:00Z raised ${key('2026-09-05')}`,
      `2026-09-07T03:00:00Z escalated ${key('2026-09-05')}`,
      `2026-09-20T02:15:00Z resolved ${key('2026-09-05')}`,
    ]);
  });

  test('evaluates a draft of the settings', async () => {
    const draft = join(dir, 'draft.yaml');
    await writeFile(draft, 'budgets: []\nanomalies: { minAmount: 15 USD }\n'.replace('budgets: []\n', ''));
    const asked = ['budgets', 'backtest', '--anomalies', '--file', draft, '--lookback', '30d', '--dir', dir];
    const ended = await runCli([...asked, '--now', '2026-09-20T02:15:00Z', '--json']);
    const { events } = JSON.parse(ended.stdout) as { events: { what: string; firstDay: string }[] };
    expect(events.filter(({ what }) => what === 'raised').map(({ firstDay }) => firstDay)).toEqual([
      '2026-09-01',
      '2026-09-05',
    ]);
    await writeFile(draft, 'anomalies: { minAmount: 25 USD, minDay: 14 }\n');
    const wrong = await runCli([...asked, '--json']);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain(`${draft}:1:33: unknown key "minDay"; did you mean minDays?`);
  });
});
