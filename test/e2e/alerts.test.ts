// Second tier: Most cases run several processes and wait for retries; e2e/one-month sends alerts in the first tier.

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import PostalMime from 'postal-mime';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratch, warehouseOf } from '../support/breakages.ts';
import { pngSize } from '../support/png.ts';
import {
  askFile,
  askSnapshot,
  type Ended,
  ingest,
  newProject,
  runCli,
  type Started,
  startCli,
} from '../support/project.ts';
import { casesOf } from '../support/rounds.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { cuts, type SinkServer, says, startSink } from '../support/sink-server.ts';
import { type SlackServer, startSlack } from '../support/slack-server.ts';
import { startSmtp } from '../support/smtp-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const secret = 'MARKED-secret-of-the-webhook';
const night = '2026-09-05T02:15:00Z';
const later = '2026-09-08T02:15:00Z';
const key = 'stale/acc_one';

interface Project {
  readonly dir: string;
  readonly sink: SinkServer;
}

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const platform = await startScriptedPlatform(series(box, '2026-09-03T05', [1, 2]));
  expect((await ingest(loaded, platform, { now: night })).exitCode).toBe(0);
});

/** Books of September up to the night, and a webhook sink. */
async function project(more = ''): Promise<Project> {
  const dir = await newProject();
  const sink = await startSink();
  await cp(loaded, dir, { recursive: true });
  await writeFile(join(dir, 'costbook.yaml'), webhookYaml(sink) + more);
  return { dir, sink };
}

function webhookYaml({ url }: SinkServer): string {
  return `accounts: [{ id: acc_one }]\nsinks:\n  hook: { type: webhook, url: "${url}/in?key=MARKED-query-of-the-url", secret: "\${SINK_SECRET}", allowPrivateNetwork: true }\n`;
}

function alert({ dir }: Project, now: string, ...args: string[]): Promise<Ended> {
  return runCli(['alert', '--dir', dir, '--now', now, '--json', ...args], {
    SINK_SECRET: secret,
  });
}

/** An alert in a process of its own. */
function startAlert({ dir }: Project, env: Readonly<Record<string, string>> = { SINK_SECRET: secret }): Started {
  return startCli(['alert', '--dir', dir, '--now', later, '--wait', '1m'], env);
}

function keysOf({ told }: SinkServer): string[] {
  return told.flatMap(({ body }) => body.alerts.map((entry) => `${entry.transition} ${entry.key}`));
}

describe('a new alert', () => {
  test('is sent once to its sink, signed over id, time and body, and leaves a receipt in the books', async () => {
    const given = await project();
    expect(await alert(given, night)).toMatchObject({ exitCode: 0 });
    expect(given.sink.told).toEqual([]);

    const first = await alert(given, later);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(keysOf(given.sink)).toEqual([`raised ${key}`]);
    const [told] = given.sink.told;
    const stamp = Number(told?.headers['webhook-timestamp']);
    expect(Math.abs(Date.now() / 1000 - stamp)).toBeLessThan(60);
    const signed = `${told?.headers['webhook-id']}.${stamp}.${told?.text}`;
    expect(told?.headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
    );
    expect(told?.headers['webhook-id']).toBe(told?.body.id);

    expect((await alert(given, later)).exitCode).toBe(0);
    expect((await alert(given, '2026-09-09T02:15:00Z')).exitCode).toBe(0);
    expect(given.sink.told).toHaveLength(1);
    expect(await askSnapshot(given.dir, 'select alert_key, is_open, pending_messages from alerts')).toEqual([
      { alert_key: key, is_open: true, pending_messages: '0' },
    ]);
    expect(await askSnapshot(given.dir, 'select outcome, tries, message_id from messages')).toEqual([
      { outcome: 'delivered', tries: '1', message_id: given.sink.told[0]?.body.id },
    ]);
  });
});

describe('a sink that refuses a message', () => {
  test('gets four attempts per run, in order, until it accepts', async () => {
    const given = await project();
    given.sink.replies = [says(503)];
    const failed = await alert(given, later);
    expect(failed.exitCode).toBe(8);
    expect(failed.stderr).toContain(
      'could not be delivered in 4 attempts: 127.0.0.1 answered 503; the next run tries again',
    );
    expect(given.sink.told).toHaveLength(4);
    expect(new Set(given.sink.told.map(({ body }) => body.id)).size).toBe(1);
    // A server that fails may have taken it before it did: from then on the message says so.
    expect(given.sink.told.map(({ body }) => body.mayBeRepeat)).toEqual([false, true, true, true]);

    given.sink.told.length = 0;
    given.sink.replies = [says(200)];
    expect(await alert(given, '2026-09-09T02:15:00Z')).toMatchObject({ exitCode: 0 });
    expect(given.sink.told.map(({ body }) => [body.mayBeRepeat, body.alerts[0]?.key])).toEqual([[true, key]]);
    expect(await askSnapshot(given.dir, 'select outcome, runs, tries from messages')).toEqual([
      { outcome: 'delivered', runs: '2', tries: '5' },
    ]);
  });

  test('loses a message after a week, with exit 8, and gets the messages after it', async () => {
    const given = await project();
    given.sink.replies = [says(400)];
    expect((await alert(given, later)).exitCode).toBe(8);
    expect((await alert(given, '2026-09-14T02:15:00Z')).exitCode).toBe(8);
    expect(given.sink.told).toHaveLength(2); // a refusal does not pass in a moment
    const { exitCode, stderr } = await alert(given, '2026-09-15T02:15:00Z');
    expect(exitCode).toBe(8);
    expect(stderr).toContain('is given up after 7 days: 127.0.0.1 answered 400');
    expect((await alert(given, '2026-09-16T02:15:00Z')).exitCode).toBe(0);
    expect(given.sink.told).toHaveLength(3);
    expect(await askSnapshot(given.dir, 'select outcome, reason from messages')).toEqual([
      { outcome: 'dead', reason: '127.0.0.1 answered 400' },
    ]);
  });

  test('loses no message in two nights of a clock that jumps to the year 2100', async () => {
    const given = await project();
    given.sink.replies = [says(400)];
    expect((await alert(given, later)).exitCode).toBe(8);
    for (const night of ['2100-01-01T02:15:00Z', '2100-01-02T02:15:00Z']) {
      expect((await alert(given, night)).stderr).not.toContain('is given up');
    }
    given.sink.replies = [says(200)];
    expect(await alert(given, '2026-09-09T02:15:00Z')).toMatchObject({ exitCode: 0 });
    expect(await askSnapshot(given.dir, 'select distinct outcome from messages')).toEqual([{ outcome: 'delivered' }]);
  });

  test('causes no exit 8 if another sink accepted the alert', async () => {
    const given = await project('  out: { type: log }\n');
    given.sink.replies = [says(400)];
    const { exitCode, stderr } = await alert(given, later);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"message":"alert: 🔴 The books of acc_one are out of date"');
    expect(stderr).toContain('warning: message ');
  });

  test('and is no longer configured keeps its pending messages until they are given up', async () => {
    const given = await project();
    given.sink.replies = [says(400)];
    await alert(given, later);
    await writeFile(join(given.dir, 'costbook.yaml'), 'accounts: [{ id: acc_one }]\n');
    const { exitCode, stderr } = await alert(given, '2026-09-09T02:15:00Z');
    expect(exitCode).toBe(8);
    expect(stderr).toContain('costbook.yaml no longer has this sink');
  });
});

test('a sink that was removed loses its messages in the next night, which names them and does not fail', async () => {
  const given = await project();
  given.sink.replies = [says(400)];
  await alert(given, later);
  await writeFile(join(given.dir, 'costbook.yaml'), 'accounts: [{ id: acc_one }]\nsinks: { out: { type: log } }\n');
  const { exitCode, stderr } = await alert(given, '2026-09-09T02:15:00Z');
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(
      /to the sink \S+ is given up: costbook.yaml no longer has this sink; "costbook alerts"/,
    ),
  });
  expect((await alert(given, '2026-09-10T02:15:00Z')).exitCode).toBe(0);
});

describe('alert runs at once, or killed', () => {
  test('two processes that evaluate at the same time send one message', async () => {
    const given = await project();
    const both = await Promise.all([startAlert(given).ended, startAlert(given).ended]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(keysOf(given.sink)).toEqual([`raised ${key}`]);
  });

  test('a run killed before the receipt sends the message again with the same id, marked as a repeat', async () => {
    const given = await project();
    const run = startAlert(given);
    given.sink.replies = [() => run.process.kill('SIGKILL'), says(200)];
    expect((await run.ended).exitCode).toBe(137);
    expect((await alert(given, later)).exitCode).toBe(0);
    expect((await alert(given, later)).exitCode).toBe(0);
    const [first, second, ...others] = given.sink.told.map(({ body }) => body);
    expect(others).toEqual([]);
    expect(second?.id).toBe(first?.id);
    expect([first?.mayBeRepeat, second?.mayBeRepeat]).toEqual([false, true]);
  });

  test('a run killed as it wrote a block leaves books that the next run makes again, and damage without a kill is told', async () => {
    const given = await project();
    const run = startAlert(given);
    given.sink.replies = [() => run.process.kill('SIGKILL'), says(200)];
    expect((await run.ended).exitCode).toBe(137);
    await scratch(warehouseOf(given.dir));
    expect(await alert(given, later)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('"event":"warehouse.mended"'),
    });
    expect(new Set(given.sink.told.map(({ body }) => body.id)).size).toBe(1);

    await scratch(warehouseOf(given.dir));
    expect(await alert(given, later)).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('costbook repair'),
    });
  });

  test('a run killed at any moment still delivers; a repeat has the same id', async () => {
    const given = await project();
    const rounds = casesOf({ fixed: 4, fresh: 8 });
    for (let round = 0; round < rounds; round += 1) {
      const run = startAlert(given);
      const timer = setTimeout(() => run.process.kill('SIGKILL'), 250 + (round * 1040) / rounds);
      await run.ended;
      clearTimeout(timer);
    }
    expect((await alert(given, later)).exitCode).toBe(0);
    const ids = given.sink.told.map(({ body }) => body.id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(1);
    expect(given.sink.told.slice(1).every(({ body }) => body.mayBeRepeat)).toBe(true);
    expect(await askSnapshot(given.dir, 'select count(*) as alerts from alerts')).toEqual([{ alerts: '1' }]);
  });
});

describe('costbook alerts', () => {
  function alerts({ dir }: Project, now: string, ...args: string[]): Promise<Ended> {
    return runCli(['alerts', ...args, '--dir', dir, '--now', now], { SINK_SECRET: secret });
  }

  test('lists alerts, acknowledges one until a day, and resends one', async () => {
    const given = await project();
    await alert(given, later);
    const listed = JSON.parse((await alerts(given, later, '--open', '--json')).stdout);
    expect(listed).toMatchObject({
      completeThrough: '2026-09-05T00:00:00Z',
      alerts: [{ key, occurrence: 1, isOpen: true, sinks: ['hook'], pendingMessages: 0, lastDeliveredAt: later }],
    });
    expect((await alerts(given, later)).stdout).toContain(key);

    expect((await alerts(given, later, 'ack', key, '--until', '2026-09-10')).exitCode).toBe(0);
    expect((await alerts(given, later, '--open')).stdout).toContain(', silenced until 2026-09-10T00:00:00Z;');
    await alert(given, '2026-09-09T02:15:00Z');
    expect(keysOf(given.sink)).toEqual([`raised ${key}`]);
    await alert(given, '2026-09-10T02:15:00Z');
    await alert(given, '2026-09-11T02:15:00Z');
    expect(keysOf(given.sink)).toEqual([`raised ${key}`, `reminded ${key}`]);

    expect((await alerts(given, '2026-09-11T02:15:00Z', 'resend', key)).exitCode).toBe(0);
    expect(keysOf(given.sink)).toEqual([`raised ${key}`, `reminded ${key}`, `reminded ${key}`]);
  });

  test('shows open alerts first, as status and doctor do; a first sink gets all open alerts', async () => {
    const given = await project();
    const withSink = await readFile(join(given.dir, 'costbook.yaml'), 'utf8');
    const platform = await startScriptedPlatform([]);
    const withoutSink = `url: ${platform.url}\naccounts: [{ id: acc_one, token: abc }]\n`;
    await writeFile(join(given.dir, 'costbook.yaml'), withoutSink);
    const first = await runCli(['alert', '--dir', given.dir, '--now', later]);
    expect(first.stderr).toContain('1 alert is open but costbook.yaml has no sinks, so nobody is notified');
    expect(first.stdout).toContain('🔴 The books of acc_one are out of date');

    const late = 'account acc_one is complete only through';
    const title = 'The books of acc_one are out of date';
    for (const command of ['alerts', 'status', 'doctor']) {
      const { stdout } = await runCli([
        command,
        '--dir',
        given.dir,
        '--now',
        later,
        ...(command === 'doctor' ? ['--offline'] : []),
      ]);
      const shown = stdout.split('\n').slice(0, 24).join('\n');
      // The status has it as a reason, and counts the alert.
      if (command === 'status') {
        expect(shown).toContain('account acc_one is complete only through 2026-09-05T00:00:00Z');
        expect(shown).toContain('1 open alert, 1 critical');
      } else {
        expect(shown, command).toContain(command === 'doctor' ? late : title);
        expect(shown, command).toMatch(/complete (only )?through 2026-09-05T00:00:00Z/);
      }
      expect(stdout, command).not.toContain('as it should be');
    }

    await writeFile(join(given.dir, 'costbook.yaml'), withSink);
    expect(await alert(given, later)).toMatchObject({ exitCode: 0 });
    expect(await alert(given, later)).toMatchObject({ exitCode: 0 });
    expect(keysOf(given.sink)).toEqual([`open ${key}`]);
    const { body } = given.sink.told[0] as (typeof given.sink.told)[number];
    expect(body).toMatchObject({ project: basename(given.dir), host: hostname() });
    expect(body.subject).toContain(`[${basename(given.dir)}] 🔴 Open since 2026-09-08: ${title}`);
  });

  test('test sends real numbers marked as a test, and stores nothing', async () => {
    const given = await project();
    await mkdir(join(given.dir, 'jobs'));
    await writeFile(
      join(given.dir, 'jobs', 'budgets.yaml'),
      'budgets: [{ name: everything, period: monthly, amount: 4 USD, notify: [hook] }]',
    );
    expect(await alerts(given, night, 'test', 'hook')).toMatchObject({
      exitCode: 0,
      stdout: 'The sink hook accepted a test message.\n',
    });
    const [told] = given.sink.told;
    expect(told?.body).toMatchObject({
      isTest: true,
      alerts: [{ fact: { value: '3.000000000000', amount: '4.000000000000' } }],
    });
    expect(told?.body.subject).toMatch(/^\[test\] /);
    expect(await askSnapshot(given.dir, 'select 1 from alerts union all select 1 from messages')).toEqual([]);
    given.sink.replies = [says(404)];
    expect(await alerts(given, night, 'test', 'hook')).toMatchObject({
      exitCode: 8,
      stderr: 'costbook: the sink hook rejected the test message: 127.0.0.1 answered 404\n',
    });
  });

  const refusals: readonly (readonly [readonly string[], string])[] = [
    [['ack', key], 'ack: expected --until <date>'],
    [['ack', 'stale/acc_on', '--until', '2026-12-01'], `there is no alert stale/acc_on (did you mean ${key}?)`],
    [['ack', key, '--until', '2026-09-01'], '--until: 2026-09-01T00:00:00Z is in the past; expected an instant after'],
    [['resend'], 'resend: name the key of an alert'],
    [['test', 'hok'], 'costbook.yaml has no sink "hok" (did you mean hook?): expected hook'],
    [['tset'], 'there is no "costbook alerts tset" (did you mean test?): expected test, preview, ack, resend'],
  ];
  test('refuses what it does not know, with the reason', async () => {
    const given = await project();
    await alert(given, later);
    for (const [args, words] of refusals) {
      const { exitCode, stderr } = await alerts(given, later, ...args);
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 2, stderr: expect.stringContaining(words) });
    }
  });
});

test('a weekly summary is sent once, to the sinks that were named', async () => {
  const given = await project('  out: { type: log }\n');
  const summary = (now: string, ...args: string[]) =>
    runCli(['summarize', '--dir', given.dir, '--now', now, '--json', ...args], {
      SINK_SECRET: secret,
    });
  const monday = '2026-09-07T02:15:00Z';
  expect(await summary(monday, '--sink', 'hook')).toMatchObject({ exitCode: 0 });
  expect(await summary('2026-09-08T02:15:00Z', '--sink', 'hook')).toMatchObject({ exitCode: 0 });
  expect(given.sink.told).toHaveLength(1);
  expect(given.sink.told[0]?.body).toMatchObject({
    kind: 'summary',
    alerts: [],
    summary: {
      name: 'weekly/2026-W36',
      spent: '3.000000000000',
      // Nothing is known of it: that is not nothing spent.
      spentBefore: null,
      gaps: [expect.stringContaining('The week'), expect.stringContaining('the books of acc_one start at')],
    },
  });
  expect(await summary('2026-09-08T02:15:00Z')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('Week 2026-W36'),
  });
  expect(given.sink.told).toHaveLength(1);
});

test('a mail is sent over STARTTLS to a server with a trusted certificate', async () => {
  const given = await project();
  const smtp = await startSmtp();
  await writeFile(
    join(given.dir, 'costbook.yaml'),
    `sinks:\n  mail: { type: email, host: localhost, port: ${smtp.port}, user: me, password: "\${SMTP_PASSWORD}", from: a@example.com, to: b@example.com, allowPrivateNetwork: true }\n`,
  );
  const { exitCode, stderr } = await startAlert(given, {
    SMTP_PASSWORD: 'MARKED-password',
    NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('../support/tls/cert.pem', import.meta.url)),
  }).ended;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(smtp.mails).toMatchObject([{ isSecure: true, user: 'me:MARKED-password', to: ['b@example.com'] }]);
});

describe('an alert of a budget', () => {
  const budgets = 'budgets: [{ name: tiny, period: monthly, amount: 2 USD }]';
  const secrets = { BOT: 'xoxb-MARKED-token' };

  /** Books that spent 3 of 2 USD, a mail sink and a Slack bot. */
  async function pictured() {
    const given = await project();
    const [smtp, slack] = [await startSmtp(), await startSlack()];
    const mail = `{ type: email, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: a@example.com, to: b@example.com, allowPrivateNetwork: true }`;
    const bot = `{ type: slack, botToken: "\${BOT}", channel: C01, apiUrl: "${slack.apiUrl}", allowPrivateNetwork: true }`;
    await writeFile(join(given.dir, 'costbook.yaml'), `sinks:\n  mail: ${mail}\n  bot: ${bot}\n`);
    await mkdir(join(given.dir, 'jobs'));
    await writeFile(join(given.dir, 'jobs', 'budgets.yaml'), budgets);
    const run = (...args: string[]) => runCli([...args, '--dir', given.dir, '--now', night], secrets);
    return { ...given, smtp, slack, run };
  }

  test('shows its burn-up in mail and in Slack; a failed upload never sends the message again', async () => {
    const { smtp, slack, run } = await pictured();
    slack.replies['upload'] = [says(500) as SlackServer['replies'][string][number]];
    const first = await run('alert', '--json');
    expect(first.exitCode).toBe(0);
    expect(JSON.parse(first.stdout).messages).toMatchObject([{ outcome: 'delivered' }, { outcome: 'delivered' }]);
    expect(first.stderr).toContain('"alert.no_picture"');
    expect(first.stderr + first.stdout).not.toContain('MARKED');
    const [sent] = smtp.mails;
    const { html, attachments } = await PostalMime.parse(sent?.data ?? '');
    expect(attachments).toHaveLength(1);
    expect(pngSize(attachments[0]?.content as Uint8Array)).toEqual({ width: 1000, height: 640 });
    expect(html).toContain('alt="3.00 of 2.00 USD is spent in 2026-09');
    expect(html).toMatch(/alt="[^"]*Complete through 2026-09-0[45]T/);
    await run('alert');
    expect(smtp.mails).toHaveLength(1);
    expect(slack.methods()).toEqual(['chat.postMessage', 'files.getUploadURLExternal', 'upload']);
    expect(await run('alerts', 'resend', 'budget/@all/tiny/2026-09/100%')).toMatchObject({ exitCode: 0 });
    expect((await PostalMime.parse(smtp.mails[1]?.data ?? '')).attachments).toHaveLength(1);
    expect(await run('summarize', '--period', 'weekly', '--sink', 'mail')).toMatchObject({ exitCode: 0 });
    expect(await run('summarize', '--period', 'monthly', '--sink', 'mail')).toMatchObject({ exitCode: 0 });
    const [weekly, monthly] = await Promise.all(smtp.mails.slice(2).map(({ data }) => PostalMime.parse(data)));
    expect(weekly?.html).toContain('alt="September 2026 ');
    expect(weekly?.attachments).toHaveLength(1);
    // The books have nothing of August, so nothing is drawn.
    expect(monthly?.attachments).toEqual([]);
  });

  test('is shown by "alerts preview" without sending anything: the newest, one by its key, a summary, or an example', async () => {
    const { dir, smtp, slack, run } = await pictured();
    const out = join(dir, 'message.html');
    expect(await run('alerts', 'preview', 'mail', '--out', out)).toMatchObject({
      ...{ exitCode: 0, stderr: '' },
      stdout: expect.stringContaining('an example: no alert is open'),
    });
    expect(await readFile(out, 'utf8')).toContain('test message: nothing happened');
    await run('alert');
    const sent = [smtp.mails.length, slack.calls.length];
    const newest = await run('alerts', 'preview', 'bot', '--out', out);
    expect(newest.stdout).toContain('budget/@all/tiny/2026-09/');
    expect(await readFile(out, 'utf8')).toContain('data:image/png;base64,');
    const key = 'budget/@all/tiny/2026-09/100%';
    const page = await run('alerts', 'preview', 'mail', '--key', key);
    expect(page.stdout).toMatch(/^<!doctype html>[\s\S]*3\.00 of 2\.00 USD spent in 2026-09[\s\S]*data:image\/png/);
    const summary = await run('alerts', 'preview', 'mail', '--period', 'monthly', '--format', 'eml');
    expect(summary.stdout).toContain('multipart/alternative');
    expect([smtp.mails.length, slack.calls.length]).toEqual(sent);
  });

  test('that a preview cannot show is refused with the reason', async () => {
    const { dir, run } = await pictured();
    const wrong = await run('alerts', 'preview', '--key', 'x', '--period', 'weekly', '--format', 'pdf');
    expect(wrong.exitCode).toBe(2);
    for (const words of ['preview: name a sink', 'next to --period', 'found "pdf"'])
      expect(wrong.stderr).toContain(words);
    expect(await run('alerts', '--key', 'x')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('only to "costbook alerts preview"'),
    });
    for (const [args, words] of [
      [['mial'], 'did you mean mail?'],
      [['mail', '--key', 'nobody'], 'there is no alert nobody'],
      [['mail', '--format', 'json'], 'expected html or eml'],
      [['mail', '--out', join(dir, 'data', 'x.html')], 'reserved for the books'],
    ] as const) {
      expect(await run('alerts', 'preview', ...args)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(words),
      });
    }
  });
});

test('a mistake in the budget file ends alert with 2 and raises an alert; alerts about the data are still sent', async () => {
  const given = await project();
  await mkdir(join(given.dir, 'jobs'));
  await writeFile(
    join(given.dir, 'jobs', 'budgets.yaml'),
    'budgets: [{ name: x, period: monthly, amount: 4 USD, notify: [hok] }]',
  );
  const { exitCode, stderr } = await alert(given, later);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('budgets.yaml:1:');
  expect(stderr).toContain('did you mean hook?');
  expect(keysOf(given.sink).toSorted()).toEqual([`raised ${key}`, 'raised run/alert'].toSorted());
});

test('no address, secret or response of a sink appears in output or files', async () => {
  const given = await project();
  given.sink.replies = [cuts, says(500, {}, 'MARKED-answer'), says(302, { location: 'http://MARKED.example' })];
  const { stdout, stderr } = await alert(given, later);
  const files = await readdir(join(given.dir, 'data'), { recursive: true, withFileTypes: true });
  const marked = files
    .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes('MARKED'))
    .map(({ name }) => name);
  expect(`${stdout}${stderr}`).not.toContain('MARKED');
  expect(marked).toEqual([]);
});

test('rebuilt books have the same alerts, messages and receipts, and send nothing again', async () => {
  const given = await project();
  given.sink.replies = [says(400), says(200)];
  const dir = ['--dir', given.dir, '--now'];
  const env = { SINK_SECRET: secret };
  await alert(given, later);
  await runCli(['alerts', 'ack', key, '--until', '2026-09-10', ...dir, '2026-09-09T02:15:00Z'], env);
  await alert(given, '2026-09-10T02:15:00Z');
  const rebuilt = join(given.dir, 'rebuilt.duckdb');
  expect(await runCli(['rebuild', '--into', rebuilt, '--dir', given.dir])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('identical'),
  });
  const kept = 'select count(*) as deliveries from ledger.deliveries';
  expect(await askFile(rebuilt, kept)).toEqual([{ deliveries: '3' }]);
  // As of an earlier instant they are what they were then.
  const query = 'select (select count(*) from alerts) as alerts, (select count(*) from messages) as messages';
  const then = await runCli([
    'sql',
    query,
    '--json',
    '--as-of',
    '2026-09-09T12:00:00Z',
    ...dir,
    '2026-09-11T00:00:00Z',
  ]);
  expect(JSON.parse(then.stdout).rows).toEqual([{ alerts: 1, messages: 1 }]);
});
