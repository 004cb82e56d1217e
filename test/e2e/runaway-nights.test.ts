// Second tier: Eleven nights of a runaway cost, read from Slack and mail.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { beforeAll, describe, expect, test } from 'vitest';
import { readInSlack, type SlackMessage } from '../../src/alerts/sinks/slack-message.ts';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { newProject, runCli } from '../support/project.ts';
import { startSink } from '../support/sink-server.ts';
import { startSmtp } from '../support/smtp-server.ts';

// demo-analyst runs away from 2026-11-15T21:00Z to 2026-11-24T00:00Z, at about 90 USD a day.
const storyEnd = Date.UTC(2026, 10, 22);
const nights = Array.from({ length: 11 }, (_, night) => `2026-11-${16 + night}`);

/** What somebody read on a night. */
interface Read {
  readonly slack: readonly string[];
  readonly mail: readonly { readonly subject: string; readonly text: string }[];
}
const read = new Map<string, Read>();

async function decoded(data: string): Promise<Read['mail'][number]> {
  const { subject = '', text = '' } = await PostalMime.parse(data);
  return { subject, text };
}

beforeAll(async () => {
  const dir = await newProject();
  let now = 0;
  const platform: Emulator = await startEmulator({ now: () => now, storyEnd });
  const slack = await startSink();
  const smtp = await startSmtp();
  await mkdir(join(dir, 'jobs'));
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:
  chat: { type: slack, url: "${slack.url}/hook", allowPrivateNetwork: true }
  mail: { type: email, host: localhost, port: ${smtp.port}, tls: none, from: costbook@example.com, to: finops@example.com, allowPrivateNetwork: true }
`,
  );
  for (const night of nights) {
    now = Date.parse(`${night}T02:15:00Z`);
    const before = { slack: slack.told.length, mail: smtp.mails.length };
    const ended = await runCli(['run', 'nightly', '--dir', dir, '--now', `${night}T02:15:00Z`], {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: platform.tokens.admin,
      COSTBOOK_ACCOUNT: platform.account,
      COSTBOOK_SINCE: '2026-09-15',
      COSTBOOK_INVENTORY: 'false',
    });
    expect(ended.exitCode, ended.stderr).toBe(0);
    read.set(night, {
      slack: slack.told.slice(before.slack).map(({ text }) => readInSlack(JSON.parse(text) as SlackMessage)),
      mail: await Promise.all(smtp.mails.slice(before.mail).map(({ data }) => decoded(data))),
    });
  }
  await platform.close();
}, 600_000);

/** The mails of a night, and whether the same was said in Slack. */
function mailsOf(night: string): Read['mail'] {
  const { slack = [], mail = [] } = read.get(night) ?? {};
  expect(slack.map(firstLine), night).toEqual(mail.map(({ subject }) => subject));
  return mail;
}

/** The headline of a message in Slack, as a person reads it. */
function firstLine(text: string): string {
  return text.split('\n')[0]?.replace('│ ', '') ?? '';
}

describe('a runaway agent, as seen in Slack and mail', () => {
  test('is reported on its first night with its amount, the resource, and its pace', () => {
    const [mail] = mailsOf('2026-11-16');
    expect(mail?.subject).toMatch(
      /🔴 12\.19 USD more than usual for demo-analyst on 15 Nov, about 1,4\d\d USD by the end of November if it goes on$/,
    );
    expect(mail?.text).toMatch(/It started in the last 3 hours of the day: a whole day of it is about 9\d USD\./);
    expect(mail?.text).toContain('Act: check what demo-analyst runs, and its schedule; stop');
    expect(mail?.text).toContain('complete through 2026-11-16T00:00:00Z');
  });

  test('is reported on the third night as continuing, with its cost so far, by the end of the month and a day', () => {
    const [mail] = mailsOf('2026-11-18');
    expect(mail?.subject).toMatch(
      /🔴 19\d\.\d\d USD more than usual for demo-analyst since 15 Nov, about 1,3\d\d USD by the end of November if it goes on$/,
    );
    expect(mail?.text).toContain('A whole day costs about 90 USD more.');
    expect(mail?.text).toContain('It goes on, now on day 3. The last message reported 12.19 USD through 15 Nov.');
  });

  test('is resolved two days after its last day, with its total', () => {
    const [mail] = mailsOf('2026-11-26');
    expect(mail?.subject).toMatch(
      /✅ Resolved: demo-analyst is back to its usual cost, after 71[56]\.\d\d USD more than usual/,
    );
    expect(mail?.text).toContain('from 15 to 23 Nov');
  });

  test('is reported on no other night, and no message repeats a headline', () => {
    const told = nights.filter((night) => mailsOf(night).length > 0);
    expect(told).toEqual(['16', '18', '26'].map((day) => `2026-11-${day}`));
    const subjects = nights.flatMap((night) => mailsOf(night).map(({ subject }) => subject));
    expect(new Set(subjects).size).toBe(subjects.length);
  });
});
