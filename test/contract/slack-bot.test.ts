import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { openSink } from '../../src/sinks/kinds/index.ts';
import type { OutgoingMessage } from '../../src/sinks/message.ts';
import type { Attempt } from '../../src/sinks/sink.ts';
import { blockKitFaults } from '../support/block-kit.ts';
import { entryOf, exampleFacts, examplePicture, messageOf } from '../support/example-alerts.ts';
import { pngSize } from '../support/png.ts';
import { says } from '../support/sink-server.ts';
import { answers, type SlackServer, startSlack } from '../support/slack-server.ts';

const token = 'xoxb-MARKED-token';
const anomaly = entryOf(exampleFacts['anomaly'] as Parameters<typeof entryOf>[0]);
const plain = messageOf(anomaly);
const pictured: OutgoingMessage = { ...plain, pictures: [{ key: anomaly.key, picture: examplePicture() }] };

let slack: SlackServer;
let warned: string[];
beforeEach(async () => {
  slack = await startSlack();
  warned = [];
});

function send(message: OutgoingMessage, signal = new AbortController().signal): Promise<Attempt> {
  const log = {
    info: () => undefined,
    warn: (event: string, words: string, fields?: object) => warned.push(JSON.stringify({ event, words, ...fields })),
  };
  const bot = { type: 'slack', botToken: token, channel: '#costs', apiUrl: slack.apiUrl } as const;
  return openSink({ ...bot, allowPrivateNetwork: true }, { log, signal })(message);
}

describe('a Slack bot', () => {
  test('posts the message, and then its picture in the thread', async () => {
    expect(await send(pictured)).toEqual({ outcome: 'delivered' });
    const [posted, begun, upload, completed] = slack.calls;
    expect(slack.methods()).toEqual([
      ...['chat.postMessage', 'files.getUploadURLExternal', 'upload', 'files.completeUploadExternal'],
    ]);
    expect(posted?.content).toMatchObject({ mrkdwn: false, unfurl_links: false });
    const { channel, ...message } = posted?.content ?? {};
    expect(channel).toBe('#costs');
    expect(blockKitFaults(message)).toEqual([]);
    for (const call of [posted, begun, completed]) expect(call?.headers.authorization).toBe(`Bearer ${token}`);
    expect(upload?.headers.authorization).toBe(undefined);
    expect(pngSize(upload?.bytes ?? Buffer.of())).toEqual({ width: 1000, height: 640 });
    expect(begun?.content).toMatchObject({ filename: 'costbook-1.png', length: String(upload?.bytes.length) });
    expect(begun?.content['alt_txt']).toContain('demo-analyst cost 543.96 USD more than usual');
    expect(completed?.content).toEqual({
      files: [{ id: 'F0123', title: expect.stringContaining('demo-analyst cost 543.96 USD') }],
      ...{ channel_id: 'C0TRUEID', thread_ts: '1503435956.000247' },
    });
    expect(warned).toEqual([]);
  });

  test('posts a message without pictures in one call', async () => {
    expect(await send(plain)).toEqual({ outcome: 'delivered' });
    expect(slack.methods()).toEqual(['chat.postMessage']);
  });

  test.each([
    ['files.getUploadURLExternal', says(500), 'answered 500'],
    ['files.getUploadURLExternal', says(429, { 'retry-after': '1' }), 'answered 429'],
    ['files.getUploadURLExternal', answers({ ok: false, error: 'missing_scope' }), 'chat:write and files:write'],
    [
      'files.getUploadURLExternal',
      answers({ ok: true, upload_url: 'https://evil.example/x' }),
      'not on a host of Slack',
    ],
    [
      'files.getUploadURLExternal',
      answers({ ok: true, upload_url: 'http://169.254.169.254/x' }),
      'not on a host of Slack',
    ],
    ['files.getUploadURLExternal', answers({ ok: true, upload_url: 5 }), 'not on a host of Slack'],
    ['upload', says(403), 'answered 403'],
    ['upload', (response: ServerResponse) => response.destroy(), 'no complete answer'],
    ['files.completeUploadExternal', answers({ ok: false, error: 'MARKED' }), 'an error unknown to Costbook'],
    ['files.completeUploadExternal', says(200, {}, 'no JSON'), 'without saying whether'],
  ] as const)('that fails at %s has still delivered the message, once, and logs why', async (method, reply, words) => {
    slack.replies[method] = [reply as (typeof slack.replies)[string][number]];
    expect(await send(pictured)).toEqual({ outcome: 'delivered' });
    expect(slack.methods().filter((name) => name === 'chat.postMessage')).toHaveLength(1);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain(words);
    expect(warned[0]).toContain(plain.id);
    expect(warned.join()).not.toContain('MARKED');
  });

  test.each([
    [answers({ ok: false, error: 'not_in_channel' }), 'refused', false, 'invite the app to the channel'],
    [answers({ ok: false, error: 'account_inactive' }), 'refused', false, 'reactivate the account of the token'],
    [answers({ ok: false, error: 'invalid_auth' }), 'refused', false, '(invalid_auth): correct botToken'],
    [answers({ ok: false, error: 'ratelimited' }), 'refused', true, '(ratelimited)'],
    [answers({ ok: false, error: 'internal_error' }), 'unknown', true, '(internal_error)'],
    [answers({ ok: false, error: 'MARKED' }), 'refused', false, 'an error unknown to Costbook'],
    [answers({ ok: false, error: 'constructor' }), 'refused', false, 'an error unknown to Costbook'],
    [says(200, {}, 'MARKED'), 'unknown', true, 'without saying whether'],
    [says(503), 'unknown', true, 'answered 503'],
  ] as const)('whose message is not accepted reports it: %#', async (reply, outcome, isPassing, words) => {
    slack.replies['chat.postMessage'] = [reply as (typeof slack.replies)[string][number]];
    const attempt = await send(pictured);
    expect(attempt).toMatchObject({ outcome, isPassing });
    expect(JSON.stringify(attempt)).toContain(words);
    expect(JSON.stringify(attempt)).not.toContain('MARKED');
    expect(slack.methods()).toEqual(['chat.postMessage']);
  });

  test('follows the Retry-After of a 429', async () => {
    slack.replies['chat.postMessage'] = [says(429, { 'retry-after': '7' }) as (typeof slack.replies)[string][number]];
    expect(await send(plain)).toMatchObject({ outcome: 'refused', retryAfterMs: 7000, isPassing: true });
  });

  test('that is stopped while it uploads has delivered the message', async () => {
    const stop = new AbortController();
    slack.replies['upload'] = [() => stop.abort(new Error('stopped'))];
    expect(await send(pictured, stop.signal)).toEqual({ outcome: 'delivered' });
    expect(warned.join()).toContain('stopped');
  });
});
