// Second tier: Kills runs and waits for time limits; contract/acting-sinks calls agents, jobs and models in the first tier.

import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { askSnapshot, type Ended, ingest, newProject, runCli, startCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { hangs, type SinkReply, type SinkServer, says, startSink } from '../support/sink-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const later = '2026-09-08T02:15:00Z';
const nextDay = '2026-09-09T02:15:00Z';
const key = 'stale/acc_one';
const token = 'MARKED-token-of-the-account';
let books = '';
let platform: ScriptedPlatform;

beforeAll(async () => {
  books = await newProject();
  platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
  expect((await ingest(books, platform, { now: '2026-09-05T02:15:00Z' })).exitCode).toBe(0);
});

interface Project {
  readonly dir: string;
  /** The inference host: agent and model. */
  readonly agents: SinkServer;
  /** The host of job executions. */
  readonly jobs: SinkServer;
  /** A webhook, which people read. */
  readonly people: SinkServer;
}

/** Books whose account is out of date in the following nights, with a webhook and these sinks. */
async function project(sinks: string, ...replies: readonly SinkReply[]): Promise<Project> {
  const dir = await newProject();
  await cp(books, dir, { recursive: true });
  const [agents, jobs, people] = [await startSink(...replies), await startSink(says(202)), await startSink()];
  const hook = `people: { type: webhook, url: "${people.url}/in", secret: sixteen-letters-x, allowPrivateNetwork: true }`;
  await writeFile(
    join(dir, 'costbook.yaml'),
    `url: ${jobs.url}\ntoken: ${token}\naccount: acc_one\ninferenceUrl: ${agents.url}\nsinks:\n  ${hook}\n${sinks}`,
  );
  return { dir, agents, jobs, people };
}

const agent = '  analyst: { type: agent, workspace: north, agent: scout, answersTo: people, timeLimitSeconds: 2 }\n';
const job = '  reaction: { type: job, workspace: north, job: cleanup }\n';
const model = '  opening: { type: model, workspace: north, model: m, answersTo: [people], timeLimitSeconds: 2 }\n';

function run({ dir }: Project, now: string, ...args: string[]): Promise<Ended> {
  return runCli([...args, '--dir', dir, '--now', now, '--json']);
}

const completion = (content: string) => says(200, {}, JSON.stringify({ choices: [{ message: { content } }] }));

function receipts({ dir }: Project): Promise<unknown> {
  return askSnapshot(dir, 'select sink, outcome, reason from messages order by sink, message_number');
}

describe('an agent and a job', () => {
  test('get an alert once, and the answer is in the message to people and in the list of alerts', async () => {
    const given = await project(agent + job, says(200, {}, '{"output":"Check <!channel> *now*."}'));
    expect(await run(given, later, 'alert')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(given.agents.told.map(({ path }) => path)).toEqual(['/north/agents/scout']);
    expect(given.agents.told[0]?.headers['x-service-thread-id']).toMatch(/^costbook-[0-9a-f]{32}$/);
    expect(given.jobs.told.map(({ path, body }) => [path, body])).toMatchObject([
      ['/north/jobs/cleanup/executions', { tasks: [{ kind: 'alerts', alert: { key, transition: 'raised' } }] }],
    ]);
    const [told] = given.people.told;
    expect(told?.body.alerts[0]).toMatchObject({
      key,
      answers: [{ sink: 'analyst', text: 'Check <!channel> *now*.' }],
    });
    expect(told?.body.text).toContain('analyst answered:\nCheck <!channel> *now*.');

    expect((await run(given, nextDay, 'alert')).exitCode).toBe(0);
    expect([given.agents, given.jobs, given.people].map((server) => server.told.length)).toEqual([1, 1, 1]);
    const listed = JSON.parse((await run(given, nextDay, 'alerts')).stdout);
    expect(listed.alerts[0].answers).toEqual([
      { sink: 'analyst', transition: 'raised', at: later, text: 'Check <!channel> *now*.' },
    ]);
  });

  test('get the end of the alert in the same thread', async () => {
    const given = await project(agent, says(200, {}, 'ok'));
    await run(given, later, 'alert');
    const env = { COSTBOOK_URL: platform.url, COSTBOOK_TOKEN: platform.tokens.admin };
    expect((await ingest(given.dir, platform, { now: later, env })).exitCode).toBe(0);
    expect(await run(given, later, 'alert')).toMatchObject({ exitCode: 0 });
    const [raised, resolved] = given.agents.told;
    expect(resolved?.text).toContain('up to date again');
    expect(resolved?.headers['x-service-thread-id']).toBe(raised?.headers['x-service-thread-id']);
  });

  test.each([
    ['fails with 500', says(500, {}, 'MARKED-answer'), 'answered 500'],
    ['hangs', hangs, 'within 2000 ms'],
  ])('that %s is not called again; people get the alert without an answer', async (_, reply, words) => {
    const given = await project(agent, reply);
    const first = await run(given, later, 'alert');
    expect(first.exitCode).toBe(0);
    expect(first.stderr).toContain('is not sent again');
    expect(first.stderr).toContain(words);
    expect(first.stderr).not.toContain('MARKED');
    expect(given.people.told[0]?.body.alerts[0]).not.toHaveProperty('answers');
    expect(await run(given, nextDay, 'alert')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(given.agents.told).toHaveLength(1);
    expect(await receipts(given)).toMatchObject([
      { sink: 'analyst', outcome: 'dead' },
      { sink: 'people', outcome: 'delivered', reason: null },
    ]);
    // A person may decide to send it again.
    given.agents.replies = [says(200, {}, 'Fine.')];
    expect((await run(given, nextDay, 'alerts', 'resend', key)).exitCode).toBe(0);
    expect(given.agents.told).toHaveLength(2);
    expect(given.people.told[1]?.body.alerts[0]).toMatchObject({ answers: [{ text: 'Fine.' }] });
  });

  test('that answers 429 is called again, because it did nothing', async () => {
    const given = await project(agent, says(429), says(200, {}, 'Fine.'));
    expect((await run(given, later, 'alert')).exitCode).toBe(0);
    expect(given.agents.told).toHaveLength(2);
    expect(given.people.told[0]?.body.alerts[0]).toMatchObject({ answers: [{ text: 'Fine.' }] });
  });

  test('is not called again by the run after one that was killed before the receipt', async () => {
    const given = await project(agent.replace('timeLimitSeconds: 2', 'timeLimitSeconds: 100'), hangs);
    const started = startCli(['alert', '--dir', given.dir, '--now', later, '--json']);
    while (given.agents.told.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    started.process.kill('SIGKILL');
    await started.ended;
    expect(given.people.told).toEqual([]);
    const next = await run(given, nextDay, 'alert');
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toContain('an earlier run may have sent it');
    expect([given.agents, given.people].map((server) => server.told.length)).toEqual([1, 1]);
  });

  test('keep an answer that came before a kill: the next run shows it', async () => {
    const given = await project(agent, says(200, {}, 'Fine.'));
    given.people.replies = [hangs, says(200)];
    const started = startCli(['alert', '--dir', given.dir, '--now', later, '--json']);
    while (given.people.told.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    started.process.kill('SIGKILL');
    await started.ended;
    expect((await run(given, nextDay, 'alert')).exitCode).toBe(0);
    expect(given.agents.told).toHaveLength(1);
    expect(given.people.told[1]?.body).toMatchObject({ mayBeRepeat: true, alerts: [{ answers: [{ text: 'Fine.' }] }] });
  });

  test('send no token to a log, an error or a file', async () => {
    const given = await project(agent + job, says(401, {}, token));
    const { stderr, stdout } = await run(given, later, 'alert');
    expect(stderr + stdout).not.toContain('MARKED');
    expect(JSON.stringify(await receipts(given))).not.toContain('MARKED');
    expect(given.agents.told[0]?.headers.authorization).toBe(`Bearer ${token}`);
  });
});

describe('costbook doctor', () => {
  test('says whether the agent, job and model of each sink exist, and calls none', async () => {
    const now = '2026-10-21T03:30:00Z';
    const emulator = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse('2026-10-21') });
    const dir = await newProject();
    const onPlatform = (name: string, sink: string) => `  ${name}: { workspace: production, ${sink} }\n`;
    await writeFile(
      join(dir, 'costbook.yaml'),
      `url: ${emulator.url}\ntoken: ${emulator.tokens.admin}\ninferenceUrl: ${emulator.url}/_inference\nsinks:\n${[
        '  out: { type: log }\n',
        onPlatform('analyst', 'type: agent, agent: support-triage, answersTo: out'),
        onPlatform('reaction', 'type: job, job: log-compactio'),
        onPlatform('opening', 'type: model, model: gpt-gateway, answersTo: out'),
        '  elsewhere: { type: agent, workspace: nowhere, agent: support-triage }\n',
      ].join('')}`,
    );
    const { stdout, exitCode } = await runCli(['doctor', '--dir', dir, '--now', now, '--json']);
    const seen = emulator.requests.map(({ method, path }) => `${method} ${path}`);
    await emulator.close();
    const { findings } = JSON.parse(stdout) as { findings: { subject: string; state: string; found: string }[] };
    const found = findings.flatMap(({ subject, state, found: words }) =>
      /^sink (?!out)/.test(subject) ? [[subject, state, words]] : [],
    );
    expect(found).toEqual([
      ['sink analyst', 'ok', 'exists; it was not called'],
      ['sink reaction', 'fail', 'workspace production has no job log-compactio'],
      ['sink opening', 'ok', 'exists; it was not called'],
      ['sink elsewhere', 'warn', 'could not be looked up: the token lists no agent of workspace nowhere'],
    ]);
    expect(exitCode).not.toBe(0);
    expect(seen.filter((line) => line.startsWith('POST'))).toEqual([]);
  });
});

describe('a model', () => {
  test('writes the first paragraph of a summary, and gets no alerts', async () => {
    const given = await project(model, completion('The week is *not* complete.'));
    expect((await run(given, later, 'alert')).exitCode).toBe(0);
    expect(given.agents.told).toEqual([]);
    expect(await run(given, later, 'summarize')).toMatchObject({ exitCode: 0 });
    expect(given.agents.told.map(({ path }) => path)).toEqual(['/north/models/m/chat/completions']);
    expect(given.people.told[1]?.body).toMatchObject({ summary: { opening: 'The week is not complete.' } });
    expect((await run(given, later, 'summarize')).exitCode).toBe(0);
    expect(given.agents.told).toHaveLength(1);
  });

  test.each([
    ['invents a number', completion('It cost 9999 USD.'), '9999'],
    ['hangs', hangs, 'within 2000 ms'],
    ['fails', says(500), 'answered 500'],
    ['sends a huge text', completion('x'.repeat(5_000_000)), 'no text'],
  ])('that %s leaves the summary without a paragraph, with a line in the log and exit 0', async (_, reply, words) => {
    const given = await project(model, reply);
    const { exitCode, stderr } = await run(given, later, 'summarize');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('summary.no_opening');
    expect(stderr).toContain(words);
    expect(given.people.told[0]?.body).toMatchObject({ kind: 'summary' });
    expect(given.people.told[0]?.text).not.toContain('"opening"');
    expect((await run(given, nextDay, 'summarize')).exitCode).toBe(0);
    expect([given.agents, given.people].map((server) => server.told.length)).toEqual([1, 1]);
  });
});
