// Second tier: Nine nights in processes; unit/feedback and sql/anomalies hold the rules in the first tier.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, type Ended, ingest, newProject, runCli } from '../support/project.ts';
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

/** What commands answered while the nights went on. */
const answers = new Map<string, Ended>();

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
    // Two billing dimensions of one agent: one message.
    ...workspaceWith('pair', { '2026-09-01': 3 }),
    ...workspaceWith('pair', { '2026-09-01': 2 }, 'agent_requests'),
  ]);
  await night('2026-09-02');
  answers.set('expected', await ack(keyOf('called', '2026-09-01'), 'expected', '2026-09-02'));
  answers.set('pair', await ack(keyOf('pair', '2026-09-01'), 'false', '2026-09-02', '--json'));
  answers.set('listed', await runCli(['alerts', '--open', '--dir', dir, '--now', '2026-09-02T10:00:00Z'], env));
  const preview = ['alerts', 'preview', 'hook', '--key', keyOf('called', '2026-09-01'), '--dir', dir];
  answers.set('preview', await runCli([...preview, '--now', '2026-09-02T10:00:00Z'], env));
  await night('2026-09-04');
  await night('2026-09-06');
  answers.set('step', await ack(keyOf('step', '2026-09-05'), 'expected', '2026-09-06'));
  answers.set('fixed', await ack(keyOf('unfixed', '2026-09-05'), 'fixed', '2026-09-06'));
  for (const day of ['07', '08', '09', '11']) await night(`2026-09-${day}`);
  // The warehouse is lost: landing folder and journal make it again.
  await rm(join(dir, 'data', 'warehouse.duckdb'));
  const repaired = await runCli(['repair', '--dir', dir]);
  expect(repaired.exitCode, repaired.stderr).toBe(0);
  await night('2026-09-20');
  expect([...answers.values()].filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
}, 240_000);

/** What was notified of a workspace, by night. */
function nightsOf(workspace: string): string[] {
  return [...told].flatMap(([day, keys]) =>
    keys.filter((key) => key.includes(`/${workspace}/`)).map((key) => `${day} ${key.split(' ')[0]} ${key.slice(-10)}`),
  );
}

describe('a runaway that was called expected', () => {
  test('is silent at the same size, and reported above its bar, also after a repair', () => {
    expect(nightsOf('uncalled')).toEqual([
      ...['2026-09-02 raised 2026-09-01', '2026-09-04 resolved 2026-09-01', '2026-09-11 raised 2026-09-10'],
      ...['2026-09-20 raised 2026-09-19', '2026-09-20 resolved 2026-09-10'],
    ]);
    expect(nightsOf('called')).toEqual([
      ...['2026-09-02 raised 2026-09-01', '2026-09-04 resolved 2026-09-01'],
      '2026-09-20 raised 2026-09-19',
    ]);
  });

  test('says its bar when it is called so, in the list of alerts, and in the message', () => {
    expect(answers.get('expected')?.stdout).toBe(
      `${keyOf('called', '2026-09-01')} is called expected. Days from 2026-09-02 on are reported only above 43.20 USD (1.2 times 36.00 USD).\n`,
    );
    const words = 'Somebody called it expected on 2 Sep. Costbook reports a day of it only above 43.20 USD.';
    expect(answers.get('listed')?.stdout.replaceAll(/\s+/g, ' ')).toContain(words);
    expect(answers.get('preview')?.stdout).toContain(words);
    expect(sink.told[0]?.body.text).toContain(
      `run "costbook alerts ack ${keyOf('called', '2026-09-01')} --as expected".`,
    );
  });

  test('is explained with its rule, numbers, feedback and bar; so is what stayed silent', async () => {
    const event = keyOf('called', '2026-09-01');
    const explained = await explain(event);
    expect(explained).toMatch(
      /Rule: a day above its usual range, by at least 5\.00 USD and 30 %\. 2026-09-01 cost 36\.00 USD, 12\.00 USD were expected, 10\.\d\d USD to 13\.\d\d USD are usual\./,
    );
    expect(explained).toContain(
      [
        'Feedback: expected, given at 2026-09-02T09:00:00Z, for days from 2026-09-02 on',
        'Bar: a day is reported only above 43.20 USD, 1.2 times the largest day (36.00 USD)',
        event,
      ].join('\n'),
    );
    const silent = keyOf('called', '2026-09-10');
    const from = '1.2 times the largest day (36.00 USD) of what somebody called expected at 2026-09-02T09:00:00Z';
    expect(await explain(silent)).toContain(
      [
        `Bar: a day is reported only above 43.20 USD, ${from}: ${event}`,
        'Not reported, up to the bar: 2026-09-10',
        'Nobody was notified of it.',
        silent,
      ].join('\n'),
    );
    const { anomalies } = JSON.parse(await explain(silent, '--json')) as { anomalies: Record<string, unknown>[] };
    expect(anomalies).toMatchObject([
      {
        key: silent,
        rule: { isNotified: false, heldDays: ['2026-09-10'], bar: { key: event, bar: '43.200000000000' } },
      },
    ]);
    expect(await explain(keyOf('called', '2026-09-19'))).toContain('Above the bar: 2026-09-19');
  });

  test('has its bar in the list of anomalies, until it is taken back', async () => {
    const list = async () => {
      const ended = await runCli(['anomalies', '--dir', dir, '--json']);
      const { bars } = JSON.parse(ended.stdout) as { bars: { key: string; bar: string }[] };
      return bars.map(({ key, bar }) => `${key} ${bar}`);
    };
    const key = keyOf('pair', '2026-09-01', 'agent_requests');
    expect(await list()).toContain(`${key} 28.800000000000`);
    // A part of one message, by its own key.
    const taken = await ack(key, 'none', '2026-09-20');
    expect(taken).toMatchObject({ exitCode: 0, stdout: `The feedback on ${key} is taken back.\n` });
    expect(await list()).not.toContain(`${key} 28.800000000000`);
    expect(await list()).toContain(`${keyOf('pair', '2026-09-01')} 43.200000000000`);
    const again = await ack(key, 'none', '2026-09-20');
    expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no feedback on') });
  });
});

test('feedback on a message of several parts counts for each part', async () => {
  const { as, feedback } = JSON.parse(answers.get('pair')?.stdout ?? '') as { as: string; feedback: object[] };
  expect({ as, feedback }).toMatchObject({
    as: 'false',
    feedback: [
      { key: keyOf('pair', '2026-09-01'), appliesFrom: '2026-09-02', largestCost: '36.000000000000' },
      { key: keyOf('pair', '2026-09-01', 'agent_requests'), largestCost: '24.000000000000', bar: '28.800000000000' },
    ],
  });
});

test('a higher level that was called expected becomes usual without another message', async () => {
  expect(nightsOf('step')).toEqual(['2026-09-06 raised 2026-09-05']);
  const sql = "select state, is_notified from anomalies where workspace = 'step'";
  expect(await askSnapshot(dir, sql)).toEqual([{ state: 'usual', is_notified: true }]);
});

test('what was called fixed is reported again if it still costs more on the day after', () => {
  expect(answers.get('fixed')?.stdout).toBe(
    `${keyOf('unfixed', '2026-09-05')} is called fixed. If it still costs more on 2026-09-07 or later, Costbook reports it again.\n`,
  );
  expect(nightsOf('unfixed')).toEqual([
    ...['2026-09-06 raised 2026-09-05', '2026-09-07 raised 2026-09-05', '2026-09-08 raised 2026-09-05'],
    '2026-09-20 resolved 2026-09-05',
  ]);
  const again = sink.told.flatMap(({ body }) => body.alerts).filter(({ fact }) => 'feedback' in fact);
  expect(again.map(({ fact }) => (fact as unknown as Record<string, unknown>)['notice'])).toContain('unfixed');
  expect(sink.told.some(({ body }) => body.text.includes('called it fixed on 6 Sep, but it still costs more.'))).toBe(
    true,
  );
});

test('only an anomaly can be called so, and only by one of the words', async () => {
  const stale = await ack('stale/acc_one', 'expected', '2026-09-20');
  expect(stale).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      '--as: stale/acc_one is no anomaly. Only an anomaly can be called expected, fixed or false: "costbook anomalies" lists open and recent ones',
    ),
  });
  const near = await ack(keyOf('called', '2026-09-02'), 'expected', '2026-09-20');
  expect(near).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(did you mean anomaly/acc_one/called/') });
  const word = await ack(keyOf('called', '2026-09-01'), 'normal', '2026-09-20');
  expect(word).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--as: found "normal", expected expected, fixed, false or none'),
  });
  const neither = await runCli(['alerts', 'ack', 'stale/acc_one', '--dir', dir], env);
  expect(neither).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('or --as expected, fixed, false or none'),
  });
  const part = ['--until', '2026-10-01'];
  const silenced = await ack(keyOf('pair', '2026-09-01', 'agent_requests'), 'expected', '2026-09-20', ...part);
  expect(silenced, 'only a whole alert can be silenced').toMatchObject({ exitCode: 2 });
  const both = await ack(keyOf('called', '2026-09-19'), 'expected', '2026-09-20', ...part);
  expect(both).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(' is silenced until 2026-10-01T00:00:00Z.'),
  });
});

test('a rebuild has the same feedback', async () => {
  const file = join(await newProject(), 'rebuilt.duckdb');
  const ended = await runCli(['rebuild', '--dir', dir, '--into', file, '--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const { identical, tables } = JSON.parse(ended.stdout) as {
    identical: boolean;
    tables: { table: string; rows: number }[];
  };
  expect(identical).toBe(true);
  expect(tables.find(({ table }) => table === 'alert_feedback')?.rows).toBeGreaterThan(5);
});
