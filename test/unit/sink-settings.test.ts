import { describe, expect, test } from 'vitest';
import { kindOfAddress } from '../../src/base/addresses.ts';
import { type LocalConfig, parseConfig } from '../../src/config/config.ts';
import { alertSinksOf, summarySinksOf } from '../../src/config/sink-settings.ts';
import { type SinkSettings, secretsOf } from '../../src/sinks/kinds/index.ts';
import { pinAddress } from '../../src/sinks/target.ts';

const now = Date.parse('2026-10-01T00:00:00Z');
const hook = 'https://hooks.example.com/services/T0/B0/MARKED';

function parse(text: string, env: Record<string, string> = {}, requireSinks = true): LocalConfig {
  return parseConfig({ text, file: 'costbook.yaml', env, now, requireAccounts: false, requireSinks });
}

function faults(text: string, env: Record<string, string> = {}): string {
  try {
    parse(text, env);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('a PagerDuty sink', () => {
  const key = 'aB3'.repeat(11).slice(0, 32);
  const of = (more: string) => `sinks: { duty: { type: pagerduty, routingKey: ${key}${more} }, out: { type: log } }`;

  test('gets alerts but no summaries, and its key is a secret', () => {
    const { sinks } = parse(of(''));
    expect([alertSinksOf(sinks), summarySinksOf(sinks)]).toEqual([['duty', 'out'], ['out']]);
    expect(sinks.flatMap(({ settings }) => (settings === undefined ? [] : secretsOf(settings)))).toEqual([key]);
  });

  test('sends its key to PagerDuty alone, or to a private address', () => {
    const elsewhere = ', apiUrl: "https://events.example.com/v2/enqueue"';
    expect(faults(of(elsewhere))).toContain('found an address of another host, expected https://events.pagerduty.com');
    expect(faults(of(`${elsewhere}, allowPrivateNetwork: true`))).toBe('');
    expect(faults(of(', apiUrl: "https://events.eu.pagerduty.com/v2/enqueue"'))).toBe('');
    expect(faults('sinks: { duty: { type: pagerduty, routingKey: short } }')).toContain('found no integration key');
  });
});

describe('sinks in costbook.yaml', () => {
  test('are read by name, with defaults', () => {
    const { sinks, alerts } = parse(
      `sinks:
  finops: { type: slack, url: "\${HOOK}" }
  pager: { type: webhook, url: ${hook}, secret: sixteen-letters-x }
  mail: { type: email, host: smtp.example.com, from: a@example.com, to: b@example.com }
  old: { type: email, host: smtp.example.com, tls: implicit, user: me, password: "\${HOOK}", from: a@example.com, to: [b@example.com, c@example.com] }
  out: { type: log }`,
      { HOOK: hook },
    );
    const mail = { type: 'email', host: 'smtp.example.com', from: 'a@example.com', allowPrivateNetwork: false };
    expect(sinks.map(({ settings }) => settings)).toEqual([
      { type: 'slack', url: hook, allowPrivateNetwork: false },
      { type: 'webhook', url: hook, secret: 'sixteen-letters-x', allowPrivateNetwork: false },
      { ...mail, port: 587, tls: 'starttls', user: undefined, password: undefined, to: ['b@example.com'] },
      { ...mail, port: 465, tls: 'implicit', user: 'me', password: hook, to: ['b@example.com', 'c@example.com'] },
      { type: 'log' },
    ]);
    expect(alerts).toMatchObject({ notify: ['finops', 'pager', 'mail', 'old', 'out'], giveUpDays: 7 });
  });

  test('of Slack have a webhook, or a bot token with a channel', () => {
    const { sinks } = parse(
      `sinks:
  bot: { type: slack, botToken: "\${BOT}", channel: C0123ABCD }
  local: { type: slack, botToken: "\${BOT}", channel: "#costs", apiUrl: "http://127.0.0.1:1/api/", allowPrivateNetwork: true }`,
      { BOT: 'xoxb-12345678' },
    );
    const bot = { type: 'slack', botToken: 'xoxb-12345678' };
    expect(sinks.map(({ settings }) => settings)).toEqual([
      { ...bot, channel: 'C0123ABCD', apiUrl: 'https://slack.com/api', allowPrivateNetwork: false },
      { ...bot, channel: '#costs', apiUrl: 'http://127.0.0.1:1/api', allowPrivateNetwork: true },
    ]);
    expect(secretsOf(sinks[0]?.settings as SinkSettings)).toEqual(['xoxb-12345678']);
  });

  test('of Slack report every mistake at once', () => {
    const text =
      'sinks: { a: { type: slack, botToken: MARKED, channel: "a b", apiUrl: "ftp://x", allowPrivateNetwork: 5 } }';
    for (const words of ['no bot token', '"a b"', 'no http or https address', 'allowPrivateNetwork']) {
      expect(faults(text)).toContain(words);
    }
  });

  test('set who is notified, also from the environment', () => {
    const text = 'sinks: { a: { type: log }, b: { type: log } }\nalerts: { notify: [b], giveUpDays: 3 }';
    expect(parse(text).alerts).toMatchObject({ notify: ['b'], giveUpDays: 3 });
    expect(parse(text, { COSTBOOK_ALERTS_NOTIFY: 'a, b' }).alerts.notify).toEqual(['a', 'b']);
  });

  test('need no variables if nothing is sent', () => {
    const text = `sinks: { a: { type: slack, url: "\${NOT_SET}" } }`;
    expect(parse(text, {}, false).sinks).toEqual([{ name: 'a', type: 'slack', settings: undefined }]);
    expect(faults(text)).toContain(`found \${NOT_SET}, which is not set`);
  });

  test.each([
    ['sinks: 5', 'costbook.yaml:1:8: sinks: found a number, expected sinks by name'],
    [
      'sinks: { a: { url: x } }',
      'found no type, expected type: slack, webhook, teams, pagerduty, email, log, agent, job or model; add it',
    ],
    [
      'sinks: { a: { type: slak } }',
      'found "slak", expected slack, webhook, teams, pagerduty, email, log, agent, job or model',
    ],
    ['sinks: { a: { type: slack } }', 'found no url, which a slack sink needs; write it, or botToken and channel'],
    ['sinks: { a: { type: slack, botToken: xoxb-MARKED-123456 } }', 'found no channel, which botToken needs'],
    ['sinks: { a: { type: slack, channel: C012 } }', 'found channel without botToken'],
    ['sinks: { a: { type: slack, botToken: MARKED, channel: C012 } }', 'found no bot token, expected one that starts'],
    [
      `sinks: { a: { type: slack, url: "${hook}", botToken: xoxb-MARKED-123456, channel: C012 } }`,
      'found url and botToken, expected one of them',
    ],
    [
      'sinks: { a: { type: slack, botToken: xoxb-MARKED-123456, channel: "a b" } }',
      'found "a b", expected the id of a channel',
    ],
    [
      'sinks: { a: { type: slack, botToken: xoxb-MARKED-123456, channel: C012, apiUrl: "https://evil.example/api" } }',
      'found an address of another host, expected https://slack.com/api',
    ],
    [
      'sinks: { a: { type: slack, botToken: xoxb-MARKED-123456, channel: C012, apiUrl: "http://slack.com/api" } }',
      'found http, which is not encrypted',
    ],
    ['sinks: { a: { type: log, url: x } }', 'unknown key "url"'],
    [`sinks: { a: { type: webhook, url: "${hook}" } }`, 'found no secret, expected one; add it'],
    [`sinks: { a: { type: webhook, url: "${hook}", secret: short } }`, 'found fewer than 16 characters'],
    ['sinks: { a: { type: slack, url: "http://hooks.example.com/MARKED" } }', 'found http, which is not encrypted'],
    ['sinks: { a: { type: slack, url: "ftp://MARKED" } }', 'found no http or https address'],
    ['sinks: { a: { type: slack, url: "https://MARKED:x@h/" } }', 'found credentials in the address'],
    ['sinks: { "a b": { type: log } }', 'found the name "a b", expected letters'],
    ['sinks: { a: { type: email, host: "smtp://h", from: x, to: [] } }', 'found "smtp://h", expected a host name'],
    [
      'sinks: { a: { type: email, host: h, from: "a@b\\r\\nRCPT", to: b@c } }',
      'expected an address such as finops@example.com',
    ],
    [
      'sinks: { a: { type: email, host: h, user: u, from: a@b, to: b@c } }',
      'found only one of user and password, expected both or none',
    ],
    ['sinks: { a: { type: log } }\nalerts: { notify: [b] }', 'found "b", which is not a sink; expected a'],
    ['alerts: { notify: [b] }', 'which is not a sink; there are none: add it under sinks'],
    ['alerts: { giveUpDays: 0 }', 'found 0, expected a whole number from 1 to 365'],
    ['alerts: { severity: { stale: huge } }', 'found "huge", expected info, warning or critical'],
    ['alerts: { severity: { budget: info } }', 'found the kind "budget", expected stale, '],
    ['alerts: { severity: [info] }', 'expected severities by kind, such as unproven: warning'],
    [
      `sinks: { a: { type: webhook, url: ${hook}, secret: whsec_not-base64-at-all-here } }`,
      'found whsec_ without at least 24 bytes of base64',
    ],
    [
      `sinks: { a: { type: webhook, url: ${hook}, secret: whsec_c2hvcnQga2V5 } }`,
      'found whsec_ without at least 24 bytes of base64',
    ],
  ])('%s is refused with the reason, without a secret', (text, words) => {
    const told = faults(text);
    expect(told).toContain(words);
    expect(told).toMatch(/^costbook\.yaml:\d+:\d+: /);
    expect(told).not.toContain('MARKED');
  });
});

describe('addresses', () => {
  test.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['127.0.0.1', 'private'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['::1', 'private'],
    ['fd00::1', 'private'],
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:7f00:1', 'private'],
    ['::127.0.0.1', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    ['169.254.169.254', 'forbidden'],
    ['::ffff:169.254.169.254', 'forbidden'],
    ['64:ff9b::a9fe:a9fe', 'forbidden'],
    ['2002:7f00:1::', 'forbidden'],
    ['fe80::1%eth0', 'forbidden'],
    ['0.0.0.0', 'forbidden'],
    ['::', 'forbidden'],
    ['224.0.0.1', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    ['no address', 'forbidden'],
    // IPv4 in every form that IPv6 has for it: compatible, mapped, translated, NAT64, 6to4, Teredo, ISATAP.
    ['::7f00:1', 'private'],
    ['::a9fe:a9fe', 'forbidden'],
    ['::808:808', 'public'],
    ['0:0:0:0:0:0:10.0.0.1', 'private'],
    ['::ffff:0:7f00:1', 'private'],
    ['::ffff:0:169.254.169.254', 'forbidden'],
    ['0000:0000:0000:0000:0000:FFFF:7F00:0001', 'private'],
    ['64:ff9b::7f00:1', 'private'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['64:ff9b:1::a00:1', 'forbidden'],
    ['2002:a9fe:a9fe::1', 'forbidden'],
    ['2002:808:808::1', 'forbidden'],
    ['2001:0:7f00:1::', 'forbidden'],
    ['2001:0:808:808:0:0:80ff:fffe', 'forbidden'],
    ['2606:4700::5efe:7f00:1', 'private'],
    ['2606:4700::200:5efe:a9fe:a9fe', 'forbidden'],
    ['::1%lo', 'private'],
    // Cloud metadata.
    ['100.100.100.200', 'forbidden'],
    ['168.63.129.16', 'forbidden'],
    ['169.254.170.2', 'forbidden'],
    ['192.0.0.192', 'forbidden'],
    ['fd00:ec2::254', 'forbidden'],
    ['fd00:ec2::23', 'forbidden'],
    ['fd20:ce::254', 'forbidden'],
    ['fd00:c1::a9fe:a9fe', 'forbidden'],
    ['fd00:42::42', 'forbidden'],
    ['fe80::a9fe:a9fe', 'forbidden'],
    ['::ffff:6464:64c8', 'forbidden'],
    ['64:ff9b::6464:64c8', 'forbidden'],
  ] as const)('%s is %s', (address, kind) => {
    expect(kindOfAddress(address)).toBe(kind);
  });

  test('are looked up once, and refused if one of several is private', async () => {
    let looks = 0;
    const resolve = (addresses: readonly string[]) => async () => {
      looks += 1;
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
    expect(await pinAddress('hooks.example.com', false, resolve(['8.8.8.8', '2606:4700::1111']))).toEqual({
      address: '8.8.8.8',
      family: 4,
      isPrivate: false,
    });
    expect(looks).toBe(1);
    await expect(pinAddress('hooks.example.com', false, resolve(['8.8.8.8', '10.0.0.1']))).rejects.toThrow(
      'hooks.example.com has a private address; to allow it, set allowPrivateNetwork: true in costbook.yaml',
    );
    await expect(pinAddress('hooks.example.com', true, resolve(['10.0.0.1', '169.254.169.254']))).rejects.toThrow(
      'which is never allowed',
    );
    expect(await pinAddress('hooks.example.com', true, resolve(['10.0.0.1']))).toMatchObject({ isPrivate: true });
  });
});
