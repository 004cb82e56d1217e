import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import PostalMime from 'postal-mime';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { retryDelayMs } from '../../src/alerts/deliver.ts';
import type { Picture } from '../../src/charts/picture.ts';
import type { ListingsFact } from '../../src/findings/kinds/listings.ts';
import { openSink, type SinkSettings } from '../../src/sinks/kinds/index.ts';
import { pagerDutyEvents } from '../../src/sinks/kinds/pagerduty.ts';
import type { SlackSettings } from '../../src/sinks/kinds/slack.ts';
import type { Attempt } from '../../src/sinks/sink.ts';
import { blockKitFaults } from '../support/block-kit.ts';
import {
  entryOf,
  exampleCalled,
  exampleFacts,
  exampleForecast,
  examplePicture,
  exampleRatio,
  exampleShared,
  messageOf,
} from '../support/example-alerts.ts';
import { pngSize } from '../support/png.ts';
import { cuts, hangs, says, startSink } from '../support/sink-server.ts';
import { startSmtp } from '../support/smtp-server.ts';

const message = messageOf(...[...Object.values(exampleFacts), exampleForecast].map((fact) => entryOf(fact)));
const noLog = { info: () => undefined, warn: () => undefined };
const secret = 'a-secret-of-16-letters';
const controller = new AbortController();

function tell(settings: SinkSettings, signal = controller.signal): Promise<Attempt> {
  return openSink(settings, { log: noLog, signal })(message);
}

function slack(url: string): SinkSettings {
  return { type: 'slack', url: `${url}/services/T000/B000/MARKED-secret`, allowPrivateNetwork: true };
}
function webhook(url: string): SinkSettings {
  return { type: 'webhook', url: `${url}/in?key=MARKED-secret`, secret, allowPrivateNetwork: true };
}

function teams(url: string): SinkSettings {
  return { type: 'teams', url: `${url}/workflows/MARKED-secret`, allowPrivateNetwork: true };
}
const routingKey = 'MARKEDsecretMARKEDsecretMARKED32';
function pagerDuty(url: string): SinkSettings {
  return { type: 'pagerduty', routingKey, apiUrl: `${url}/v2/enqueue`, allowPrivateNetwork: true };
}

const listings = exampleFacts['listings'] as ListingsFact;

/** Every text of a message, by the name that it has. */
function textsOf(value: unknown, name = ''): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => textsOf(item, Array.isArray(value) ? name : key));
}

describe('Microsoft Teams', () => {
  test('gets one Adaptive Card of at most 28 KB, without Markdown, that shows the most urgent alerts and counts the others', async () => {
    const sink = await startSink();
    expect(await tell(teams(sink.url))).toEqual({ outcome: 'delivered' });
    const [{ text, body } = { text: '', body: {} }] = sink.told;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(28 * 1024);
    expect(body).toMatchObject({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard' } }],
    });
    const blocks = new Set(textsOf(body).flatMap(([name, value]) => (name === 'type' ? [value] : [])));
    // Text blocks and facts would read Markdown in names.
    expect([...blocks].sort()).toEqual(['AdaptiveCard', 'Container', 'RichTextBlock', 'TextRun', 'message']);
    const many = { ...message, entries: Array.from({ length: 40 }, () => message.entries).flat() };
    await openSink(teams(sink.url), { log: noLog, signal: controller.signal })(many);
    expect(Buffer.byteLength(sink.told[1]?.text ?? '')).toBeLessThanOrEqual(28 * 1024);
    expect(sink.told[1]?.text).toContain('"costbook alerts --open\\" lists them');
    const [first] = listings.listings;
    const ofWorkspaces = Array.from({ length: 300 }, (_, index) => ({ ...first, workspace: `workspace-${index}` }));
    const one = messageOf(entryOf({ ...listings, listings: ofWorkspaces as typeof listings.listings }));
    await openSink(teams(sink.url), { log: noLog, signal: controller.signal })(one);
    expect(Buffer.byteLength(sink.told[2]?.text ?? '')).toBeLessThanOrEqual(28 * 1024);
    expect(sink.told[2]?.text).toContain('shows the rest');
  });
});

describe('PagerDuty', () => {
  test('gets an event for each alert whose key is the key of its incident, and a resolve for each end', async () => {
    const sink = await startSink();
    const ended = {
      ...message,
      entries: message.entries.map((entry) => ({ ...entry, transition: 'resolved' as const })),
    };
    expect(await tell(pagerDuty(sink.url))).toEqual({ outcome: 'delivered' });
    await openSink(pagerDuty(sink.url), { log: noLog, signal: controller.signal })(ended);
    const events = sink.told.map(({ body }) => body as unknown as Record<string, string>);
    const keys = message.entries.map(({ key }) => `acme: ${key}`);
    const of = (action: string) =>
      events.filter((event) => event['event_action'] === action).map((event) => event['dedup_key']);
    expect(of('trigger')).toEqual(keys);
    expect(of('resolve')).toEqual(keys);
    const severities = events
      .slice(0, keys.length)
      .map((event) => (event['payload'] as unknown as { severity: string }).severity);
    expect(severities).toEqual(message.entries.map(({ fact }) => fact.severity));
  });

  test('gets the whole message again after an event that failed, under the same keys', async () => {
    const sink = await startSink(says(202), says(429, { 'retry-after': '3' }), says(202));
    expect(await tell(pagerDuty(sink.url))).toMatchObject({ outcome: 'refused', isPassing: true, retryAfterMs: 3000 });
    expect(sink.told).toHaveLength(2);
    expect(await tell(pagerDuty(sink.url))).toEqual({ outcome: 'delivered' });
  });

  test('that fails in passing is tried again in the same run: nobody waits for a page until the next night', async () => {
    const sink = await startSink(says(503));
    const attempt = await tell(pagerDuty(sink.url));
    if (attempt.outcome === 'delivered') throw new Error('it was delivered');
    expect(retryDelayMs(attempt, 1, () => 0.5)).toBeLessThan(1000);
  });

  test('gets a test as an incident that is resolved at once', async () => {
    const sink = await startSink();
    const one = { ...message, entries: message.entries.slice(0, 1), isTest: true };
    await openSink(pagerDuty(sink.url), { log: noLog, signal: controller.signal })(one);
    expect(sink.told.map(({ body }) => (body as unknown as Record<string, string>)['event_action'])).toEqual([
      'trigger',
      'resolve',
    ]);
    expect(JSON.stringify(sink.told[0]?.body)).toContain('[test] ');
  });

  test('has no control characters in names, whatever project, host and account are called', () => {
    const evil = 'a\u001b[31m\u202eb\n';
    const entry = entryOf({ ...exampleForecast, account: evil });
    const [event] = pagerDutyEvents({ ...messageOf(entry), origin: { project: evil, host: evil } }, routingKey);
    const { component, source, group, summary } = (event?.['payload'] ?? {}) as Record<string, string>;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the point
    for (const name of [component, source, group, summary]) expect(name).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  test('cuts a key that is too long so that two keys stay two', () => {
    const entries = ['a', 'b'].map((end) => ({ ...entryOf(exampleForecast), key: `${'x'.repeat(300)}${end}` }));
    const keys = pagerDutyEvents(messageOf(...entries), routingKey).map((event) => String(event['dedup_key']));
    expect(new Set(keys).size).toBe(2);
    expect(keys.every((key) => key.length <= 255)).toBe(true);
  });
});

describe('a webhook with a Standard Webhooks secret', () => {
  const own = `whsec_${Buffer.from('twenty-four bytes or more').toString('base64')}`;

  test('is accepted by the library of that specification, and refused with another secret or a changed body', async () => {
    const sink = await startSink();
    await tell({ type: 'webhook', url: `${sink.url}/in`, secret: own, allowPrivateNetwork: true });
    const [{ text, headers } = { text: '', headers: {} }] = sink.told;
    const given = headers as Record<string, string>;
    expect(new Webhook(own).verify(text, given)).toMatchObject({ id: given['webhook-id'] });
    const other = `whsec_${Buffer.from('another secret of 24 bytes').toString('base64')}`;
    expect(() => new Webhook(other).verify(text, given)).toThrow('No matching signature');
    expect(() => new Webhook(own).verify(`${text} `, given)).toThrow('No matching signature');
  });
});

describe.each([
  ['slack', slack],
  ['webhook', webhook],
  ['teams', teams],
] as const)('%s', (type, settings) => {
  test('gets one POST with JSON', async () => {
    const sink = await startSink();
    expect(await tell(settings(sink.url))).toEqual({ outcome: 'delivered' });
    expect(sink.told).toHaveLength(1);
    expect(sink.told[0]?.headers['content-type']).toBe('application/json; charset=utf-8');
    if (type === 'slack') expect(blockKitFaults(sink.told[0]?.body)).toEqual([]);
  });

  test.each([
    [429, 'refused', true],
    [500, 'unknown', true],
    [503, 'unknown', true],
    [400, 'refused', false],
    [404, 'refused', false],
    [410, 'refused', false],
  ] as const)('a %i is %s, and worth another try: %s', async (status, outcome, isPassing) => {
    const sink = await startSink(says(status, {}, 'MARKED-answer'));
    expect(await tell(settings(sink.url))).toEqual({
      outcome,
      reason: `127.0.0.1 answered ${status}`,
      isPassing,
      retryAfterMs: undefined,
    });
  });

  test('the Retry-After of a 429 is followed', async () => {
    const sink = await startSink(says(429, { 'retry-after': '7' }));
    expect(await tell(settings(sink.url))).toMatchObject({ retryAfterMs: 7000, isPassing: true });
  });

  test('a redirect is not followed', async () => {
    const elsewhere = await startSink();
    const sink = await startSink(says(307, { location: `${elsewhere.url}/MARKED` }));
    expect(await tell(settings(sink.url))).toEqual({
      outcome: 'refused',
      reason: '127.0.0.1 answered 307, a redirect; Costbook does not follow redirects',
      isPassing: false,
    });
    expect(elsewhere.told).toEqual([]);
  });

  test('a connection that breaks after the message marks a possible repeat', async () => {
    const sink = await startSink(cuts);
    expect(await tell(settings(sink.url))).toMatchObject({ outcome: 'unknown', isPassing: true });
    expect(sink.told).toHaveLength(1);
  });

  test('a refused connection marks no repeat', async () => {
    const sink = await startSink();
    await sink.close();
    expect(await tell(settings(sink.url))).toEqual({
      outcome: 'refused',
      reason: 'no complete answer from 127.0.0.1 (ECONNREFUSED)',
      isPassing: true,
    });
  });

  test('an endless response is read only up to a limit', async () => {
    const sink = await startSink((response) => {
      response.writeHead(200);
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    expect(await tell(settings(sink.url))).toEqual({ outcome: 'delivered' });
  });

  test.each([
    ['breaks off', (response: ServerResponse) => response.socket?.end()],
    ['goes on after its end', (response: ServerResponse) => response.socket?.end('ok and more')],
  ])('a message that was accepted is not sent again because the text of the answer %s', async (_, then) => {
    const sink = await startSink((response) => {
      response.writeHead(200, { 'content-length': '2' }).flushHeaders();
      then(response);
    });
    expect(await tell(settings(sink.url))).toEqual({ outcome: 'delivered' });
  });

  test('an answer that leaves HTTP is a refusal, not a wait without end', async () => {
    const sink = await startSink((_, __, { socket }) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    );
    expect(await tell(settings(sink.url))).toEqual({
      outcome: 'refused',
      reason: '127.0.0.1 answered 101',
      isPassing: false,
    });
  });

  test('a signal ends a delivery at once', async () => {
    const sink = await startSink(hangs);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('stopped')), 200);
    await expect(tell(settings(sink.url), stop.signal)).rejects.toThrow('stopped');
  });

  test.each([
    ['https://127.0.0.1/x'],
    ['https://localhost/x'],
    ['https://[::1]/x'],
    ['https://[::ffff:10.0.0.1]/x'],
    ['https://10.1.2.3/x'],
    ['https://192.168.0.1/x'],
    ['https://172.31.0.1/x'],
    ['https://2130706433/x'],
    ['https://0x7f.1/x'],
  ])('%s is refused without allowPrivateNetwork', async (url) => {
    const attempt = await tell({
      ...(settings('https://x') as SlackSettings),
      url,
      allowPrivateNetwork: false,
    });
    expect(attempt).toMatchObject({ outcome: 'refused', isPassing: false });
    expect(JSON.stringify(attempt)).toContain('has a private address');
  });

  test.each([
    ['https://169.254.169.254/latest'],
    ['https://[fe80::1]/x'],
    ['https://0.0.0.0/x'],
    ['https://224.0.0.1/x'],
  ])('%s is refused even with it', async (url) => {
    const attempt = await tell({ ...(settings('https://x') as SlackSettings), url });
    expect(attempt).toMatchObject({ outcome: 'refused', isPassing: false });
    expect(JSON.stringify(attempt)).toContain('which is never allowed');
  });

  test('http to a public address is refused even with it', async () => {
    const attempt = await tell({
      ...(settings('http://x') as SlackSettings),
      url: 'http://8.8.8.8/x',
    });
    expect(attempt).toMatchObject({ outcome: 'refused', isPassing: false });
    expect(JSON.stringify(attempt)).toContain('is a public address');
  });
});

test('the reason of a refusal by Slack is shown only if it is a known code', async () => {
  const sink = await startSink(says(404, {}, 'no_service'), says(400, {}, 'MARKED-else'));
  expect(await tell(slack(sink.url))).toMatchObject({ reason: '127.0.0.1 answered 404: no_service' });
  expect(await tell(slack(sink.url))).toMatchObject({ reason: '127.0.0.1 answered 400' });
});

test('webhook messages match the published schema', async () => {
  const sink = await startSink();
  await tell(webhook(sink.url));
  const schema = JSON.parse(readFileSync(new URL('../../docs/webhook-message.schema.json', import.meta.url), 'utf8'));
  const body = sink.told[0]?.body as unknown as Record<string, unknown>;
  expect(Object.keys(body).sort()).toEqual(Object.keys(schema.properties).sort());
  expect(Object.keys(body).sort()).toEqual([...schema.required].sort());
  const kinds = schema.$defs.fact.oneOf.map((one: { $ref: string }) => one.$ref.split('/').at(-1));
  for (const { fact } of body['alerts'] as { fact: Record<string, unknown> }[]) {
    expect(kinds).toContain(fact['kind']);
    const own = schema.$defs[String(fact['kind'])];
    for (const name of Object.keys(fact)) expect(Object.keys(own.properties), String(fact['kind'])).toContain(name);
    for (const name of own.required) expect(Object.keys(fact)).toContain(name);
  }
  expect(Object.keys(schema.$defs.budget.properties)).toEqual(
    expect.arrayContaining(Object.keys({ ...exampleShared, ...exampleRatio })),
  );
  const anomaly = schema.$defs.anomaly.properties;
  expect(Object.keys(anomaly)).toEqual(expect.arrayContaining(Object.keys(exampleCalled)));
  expect(anomaly.notice.enum).toContain(exampleCalled.notice);
  expect(Object.keys(exampleCalled.feedback?.[0] ?? {}).sort()).toEqual(anomaly.feedback.items.required.toSorted());
});

describe('email', () => {
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  beforeAll(async () => {
    smtp = await startSmtp();
  });
  afterEach(() => {
    smtp.trouble = [];
    smtp.mails.length = 0;
    smtp.lines.length = 0;
    smtp.offers = ['STARTTLS', 'AUTH LOGIN PLAIN'];
  });
  function email(more: Partial<Extract<SinkSettings, { type: 'email' }>> = {}): SinkSettings {
    return {
      type: 'email',
      host: '127.0.0.1',
      port: smtp.port,
      tls: 'none',
      user: 'costbook',
      password: 'MARKED-password',
      from: 'costbook@example.com',
      to: ['finops@example.com', 'oncall@example.com'],
      allowPrivateNetwork: true,
      ...more,
    };
  }

  test('sends one mail for all recipients, with the id of the message', async () => {
    expect(await tell(email())).toEqual({ outcome: 'delivered', reason: undefined });
    const [mail] = smtp.mails;
    expect(mail).toMatchObject({
      from: 'costbook@example.com',
      to: ['finops@example.com', 'oncall@example.com'],
      user: 'costbook:MARKED-password',
    });
    expect(mail?.data).toContain(`\r\nMessage-ID: <${message.id}@example.com>\r\n`);
    expect(mail?.data.split('\r\n').every((line) => line.length <= 78 && !/[^\t\x20-\x7e]/.test(line))).toBe(true);
    const { text, html, subject } = await PostalMime.parse(mail?.data ?? '');
    for (const body of [text, html]) {
      expect(body).toContain(
        'Budget research: 4,123.46 of 5,000.00 USD spent in 2026-10 (82.5 %), about 1,012 USD over at the end',
      );
    }
    expect(subject).toContain('[acme] ');
  });

  test('shows the picture of an alert inline, with its words for people who do not see it', async () => {
    const [entry] = message.entries.filter(({ fact }) => fact.kind === 'anomaly');
    const pictures = [{ key: entry?.key ?? '', picture: examplePicture() }];
    await openSink(email(), { log: noLog, signal: controller.signal })({ ...message, pictures });
    const { html = '', attachments } = await PostalMime.parse(smtp.mails[0]?.data ?? '');
    const [found] = attachments;
    expect(attachments).toHaveLength(1);
    expect(found).toMatchObject({ mimeType: 'image/png', disposition: 'inline' });
    expect(html).toContain(`src="cid:${found?.contentId?.replace(/[<>]/g, '')}"`);
    expect(html).toMatch(
      /alt="demo-analyst cost 543\.96 USD more than usual[^"]+Complete through 2026-10-21T02:00:00Z\."/,
    );
    expect(pngSize(found?.content as Uint8Array)).toEqual({ width: 1000, height: 640 });
    expect(smtp.mails[0]?.data).toMatch(/Content-Type: multipart\/related; type="text\/html"/);
  });

  test('sends a mail without its picture if that cannot be drawn, and logs why', async () => {
    const warned: unknown[] = [];
    const log = { ...noLog, warn: (event: string, _: string, fields?: object) => warned.push({ event, ...fields }) };
    const broken = { ...examplePicture(), rows: null } as unknown as Picture;
    const send = openSink(email(), { log, signal: controller.signal });
    expect(await send({ ...message, pictures: [{ key: 'x', picture: broken }] })).toMatchObject({
      outcome: 'delivered',
    });
    expect(warned).toMatchObject([{ event: 'alert.no_picture', messageId: message.id, reason: expect.any(String) }]);
    const { attachments, html } = await PostalMime.parse(smtp.mails[0]?.data ?? '');
    expect(attachments).toEqual([]);
    expect(html).not.toContain('<img');
  });

  test('uses AUTH LOGIN if there is no PLAIN, and no AUTH without a user', async () => {
    smtp.offers = ['AUTH LOGIN'];
    expect(await tell(email())).toMatchObject({ outcome: 'delivered' });
    expect(smtp.mails[0]?.user).toBe('costbook:MARKED-password');
    expect(await tell(email({ user: undefined, password: undefined }))).toMatchObject({ outcome: 'delivered' });
    expect(smtp.mails[1]?.user).toBe(undefined);
  });

  test('sends no password to a server without STARTTLS or with an untrusted certificate', async () => {
    expect(await tell(email({ tls: 'starttls' }))).toMatchObject({ outcome: 'refused', isPassing: false });
    smtp.offers = [];
    expect(await tell(email({ tls: 'starttls' }))).toEqual({
      outcome: 'refused',
      reason: '127.0.0.1 does not offer STARTTLS, and Costbook does not send mail unencrypted',
      isPassing: false,
    });
    expect(smtp.lines.join()).not.toContain('AUTH');
    expect(smtp.mails).toEqual([]);
  });

  test.each([
    ['GREETING', '554 no', 'refused', false],
    ['EHLO', '421 later', 'refused', true],
    ['AUTH', '535 MARKED', 'refused', false],
    ['MAIL', '452 full', 'refused', true],
    ['DATA', '554 no', 'refused', false],
    ['END', '451 later', 'refused', true],
    ['END', '550 spam', 'refused', false],
    ['END', 'cut', 'unknown', true],
    ['DATA', 'cut', 'refused', true],
    ['EHLO', 'this is no SMTP', 'refused', false],
  ] as const)('%s answered by "%s" is %s, and worth another try: %s', async (at, does, outcome, isPassing) => {
    smtp.trouble = [{ at, does, times: 1 }];
    const attempt = await tell(email());
    expect(attempt).toMatchObject({ outcome, isPassing });
    expect(JSON.stringify(attempt)).not.toContain('MARKED');
  });

  test('one refused address does not stop the others; all refused are a failure', async () => {
    smtp.trouble = [{ at: 'RCPT:finops@example.com', does: '550 gone', times: 1 }];
    expect(await tell(email())).toEqual({
      outcome: 'delivered',
      reason: '127.0.0.1 did not accept the address finops@example.com',
    });
    expect(smtp.mails[0]?.to).toEqual(['oncall@example.com']);
    smtp.trouble = [
      { at: 'RCPT:finops@example.com', does: '550 gone', times: 1 },
      { at: 'RCPT:oncall@example.com', does: '550 gone', times: 1 },
    ];
    expect(await tell(email())).toMatchObject({ outcome: 'refused', isPassing: false });
  });
});
