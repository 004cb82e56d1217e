import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ActingSettings } from '../../src/sinks/acting-settings.ts';
import { openSink } from '../../src/sinks/kinds/index.ts';
import type { Attempt } from '../../src/sinks/sink.ts';
import { entryOf, exampleFacts, messageOf } from '../support/example-alerts.ts';
import { testClient } from '../support/http-client.ts';
import { cuts, hangs, type SinkReply, says, startSink } from '../support/sink-server.ts';
import { metrics, now, useEmulator } from './platform.ts';

let clock = now;
const platform = useEmulator({ now: () => clock });
const message = messageOf(entryOf(exampleFacts['budget'] as never));
const agent: ActingSettings = {
  ...{ type: 'agent', account: undefined, workspace: 'production', agent: 'support-triage' },
  ...{ answersTo: [], timeLimitSeconds: 5 },
};
const job: ActingSettings = {
  ...{ type: 'job', account: undefined, workspace: 'production', job: 'log-compaction', timeLimitSeconds: 5 },
};
const model: ActingSettings = {
  ...{ type: 'model', account: undefined, workspace: 'production', model: 'gpt-gateway' },
  ...{ answersTo: ['x'], timeLimitSeconds: 5 },
};
const summary = {
  ...{ name: 'weekly/2026-W42', title: 'Week 2026-W42', start: '2026-10-12T00:00:00Z', end: '2026-10-19T00:00:00Z' },
  ...{ spent: '1234.500000000000', spentBefore: '1178.300000000000', movers: [], budgets: [], anomalies: null },
  ...{ gaps: [], text: 'Spent: 1,234.50 USD' },
};
const weekly = { ...message, kind: 'summary' as const, entries: [], summary };

interface Told {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** Sends a message to a sink on the emulator, or on another server. */
async function send(
  settings: ActingSettings,
  sent: typeof message | typeof weekly = message,
  url?: string,
  told: Told[] = [],
): Promise<Attempt> {
  const { current } = platform;
  const own = { maxAttempts: 1, attemptTimeoutMs: settings.timeLimitSeconds * 1000 };
  const client = testClient(url ?? current.url, {
    settings: {
      ...own,
      inferenceUrl: url ?? `${current.url}/_inference`,
      token: async () => current.workspaceTokens['production'] ?? '',
    },
  });
  const log = {
    info: () => undefined,
    warn: (event: string, _: string, fields?: Record<string, unknown>) => told.push({ event, fields }),
  };
  return openSink(settings, { log, signal: new AbortController().signal, clientOf: () => client })(sent);
}

const completion = (content: string): SinkReply =>
  says(200, { 'content-type': 'application/json' }, JSON.stringify({ choices: [{ message: { content } }] }));

describe('on the emulator', () => {
  test('an agent answers an alert, and remembers it when the alert is resolved: both are in one thread', async () => {
    const first = await send(agent);
    expect(first).toMatchObject({ outcome: 'delivered', answer: expect.stringContaining('support-triage read: ') });
    const resolved = messageOf(entryOf(exampleFacts['budget'] as never, 'resolved'));
    const second = await send(agent, resolved);
    expect(second).toMatchObject({ answer: expect.stringContaining('Earlier in this thread you said') });
    const other = await send(agent, messageOf(entryOf(exampleFacts['stale'] as never)));
    expect(other).not.toMatchObject({ answer: expect.stringContaining('Earlier in this thread') });
  });

  test('a job runs with the alert as its task', async () => {
    expect(await send(job)).toMatchObject({
      outcome: 'delivered',
      answer: expect.stringMatching(/^execution \S+, status SUCCEEDED$/),
    });
  });

  test('what the agent and the job used is in the costs an hour later', async () => {
    const query = (dimension: string, name: string) =>
      `startTime=2026-10-21T03:00:00Z&endTime=2026-10-21T05:00:00Z&resolution=hourly&groupBy=resource_name,billing_dimension&resourceName=${name}&billingDimension=${dimension}`;
    const usage = async (dimension: string, name: string) =>
      (await metrics(platform.current, query(dimension, name))).data[0]?.timeseries[0]?.usage ?? 0;
    clock = now + 3 * 3_600_000;
    const before = [
      await usage('agent_compute_runtime_gbs', 'support-triage'),
      await usage('job_compute_runtime_gbs', 'log-compaction'),
    ];
    clock = now;
    await send(agent);
    await send(job);
    clock = now + 3 * 3_600_000;
    expect(await usage('agent_compute_runtime_gbs', 'support-triage')).toBeGreaterThan(before[0] ?? 0);
    expect(await usage('job_compute_runtime_gbs', 'log-compaction')).toBeGreaterThan(before[1] ?? 0);
    clock = now;
  });

  test('a model gets the numbers of a summary alone, and answers', async () => {
    // It repeats what it was sent, where a bare percentage would be dropped.
    const uncompared = { ...weekly, summary: { ...summary, spentBefore: null } };
    expect(await send(model, uncompared)).toMatchObject({
      outcome: 'delivered',
      answer: expect.stringContaining('"spentUsd":"1234.50"'),
    });
  });

  test('an unknown agent is called once, and its message is not sent again', async () => {
    expect(await send({ ...agent, agent: 'nobody' })).toMatchObject({
      ...{ outcome: 'unknown', isPassing: false },
      reason: expect.stringMatching(/answered 404.*Correct the sink in costbook\.yaml/),
    });
  });
});

describe.each([
  ['agent', agent, message],
  ['job', job, message],
  ['model', model, weekly],
] as const)('a sink of type %s', (_, settings, sent) => {
  test.each([
    ['500', says(500), 'unknown'],
    ['503', says(503, { 'retry-after': '1' }), 'unknown'],
    ['a connection that breaks', cuts, 'unknown'],
    ['401', says(401), 'refused'],
    ['429', says(429), 'refused'],
  ] as const)('is called once by an attempt that ends in %s, which is %s', async (name, reply, outcome) => {
    const server = await startSink(reply);
    const attempt = await send(settings, sent, server.url);
    expect(attempt.outcome, name).toBe(outcome);
    expect(server.told).toHaveLength(1);
    expect(JSON.stringify(attempt)).not.toContain(platform.current.workspaceTokens['production']);
  });

  test('gives up after its time limit', async () => {
    const server = await startSink(hangs);
    const begun = performance.now();
    const attempt = await send({ ...settings, timeLimitSeconds: 1 }, sent, server.url);
    expect(attempt).toMatchObject({ outcome: 'unknown', reason: expect.stringContaining('within 1000 ms') });
    expect(performance.now() - begun).toBeLessThan(4000);
  });

  test('that nothing listens for is certainly not called', async () => {
    const server = await startSink();
    await server.close();
    expect(await send(settings, sent, server.url)).toMatchObject({ outcome: 'refused', isPassing: true });
  });
});

describe('an answer of an agent', () => {
  test('that is huge, or never ends, is cut', async () => {
    const endless: SinkReply = async (response) => {
      response.writeHead(200);
      while (!response.destroyed) {
        if (!response.write('word '.repeat(10_000))) await sleep(1);
      }
    };
    const server = await startSink(endless);
    const attempt = await send(agent, message, server.url);
    expect(attempt.outcome).toBe('delivered');
    const { answer = '' } = attempt as { answer?: string };
    expect(answer.length).toBeGreaterThan(1000);
    expect(answer.length).toBeLessThanOrEqual(2000);
  });

  test('that breaks off counts, because the agent did its work', async () => {
    const server = await startSink((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('Half of an answer', () => response.destroy());
    });
    expect(await send(agent, message, server.url)).toEqual({ outcome: 'delivered', answer: 'Half of an answer\n…' });
  });

  test.each([
    ['{"output":"Plain."}', 'Plain.'],
    ['"Plain."', 'Plain.'],
    ['Plain.', 'Plain.'],
    ['{"choices":[{"message":{"role":"assistant","content":"Plain."}}]}', 'Plain.'],
    ['{"content":[{"type":"text","text":"One."},{"type":"text","text":"Two."}]}', 'One.\nTwo.'],
    ['{"id":5}', '{"id":5}'],
    ['a\u202Eb\u0007c\n\n\n\nd', 'a\uFFFDb\uFFFDc\n\nd'],
  ])('%j is shown as %j', async (body, answer) => {
    const server = await startSink(says(200, {}, body));
    expect(await send(agent, message, server.url)).toEqual({ outcome: 'delivered', answer });
  });
});

describe('a paragraph of a model', () => {
  test('is shown without links and markup', async () => {
    const server = await startSink(completion('<!here> **Spent** 1,234.50 USD, see <https://evil.example|this>.'));
    expect(await send(model, weekly, server.url)).toEqual({
      outcome: 'delivered',
      answer: 'Spent 1,234.50 USD, see this.',
    });
    const { messages } = JSON.parse(server.told[0]?.text ?? '{}') as { messages: { content: string }[] };
    expect(JSON.parse(messages[1]?.content ?? '')).toMatchObject({ spentUsd: '1234.50', changeUsd: '+56.20' });
  });

  test.each([
    ['an invented number', completion('Spent 1,234.50 USD; you could save 400 USD.'), '400'],
    ['no text', says(200, {}, '{"choices":[]}'), 'no text'],
    ['a huge text', completion('x'.repeat(1_000_000)), 'no text'],
  ])('with %s is dropped, and the log says why', async (_, reply, words) => {
    const server = await startSink(reply);
    const told: Told[] = [];
    const attempt = await send(model, weekly, server.url, told);
    expect(attempt).toMatchObject({ outcome: 'delivered', reason: expect.stringContaining(words) });
    expect(attempt).not.toHaveProperty('answer');
    expect(told).toEqual([{ event: 'summary.no_opening', fields: expect.objectContaining({ model: 'gpt-gateway' }) }]);
  });
});
