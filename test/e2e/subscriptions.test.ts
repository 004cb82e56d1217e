// Second tier: Writes statements, reports and workbooks, and mails them.

import { appendFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import PostalMime from 'postal-mime';
import { beforeAll, expect, test } from 'vitest';
import { type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { startSmtp } from '../support/smtp-server.ts';

const night = '2026-10-06T02:15:00Z';
const rules = [
  'dimensions: [team]',
  'rules: [{ name: payments, when: { workspace: south }, owner: { team: Payments } }]',
  'default: { team: Platform }',
];
const lab = { ...box, name: 'lab-of-platform' };
const shop = { ...box, workspace: 'south', name: 'shop', uuid: 'sbx-2' };

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const hours = ['2026-09-01T05', '2026-09-30T05', '2026-10-05T05'];
  const facts = hours.flatMap((hour) => [...series(lab, hour, [1.125]), ...series(shop, hour, [2.125])]);
  const platform = await startScriptedPlatform(facts);
  expect((await ingest(loaded, platform, { now: night })).exitCode).toBe(0);
  await mkdir(join(loaded, 'jobs'));
  await writeFile(join(loaded, 'jobs', 'allocation.yaml'), rules.join('\n'));
  expect((await runCli(['allocation', 'apply', '--dir', loaded, '--now', night])).exitCode).toBe(0);
});

/** A project with a mail sink and these subscriptions. */
async function project(...subscriptions: string[]) {
  const dir = await newProject();
  await cp(loaded, dir, { recursive: true });
  const smtp = await startSmtp();
  const mail = `{ type: email, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: a@example.com, to: everybody@example.com, allowPrivateNetwork: true }`;
  const settings = (...given: readonly string[]) => {
    const lines = ['subscriptions:', ...given.map((line) => `  ${line}`), 'sinks:', `  mail: ${mail}`];
    return writeFile(join(dir, 'costbook.yaml'), `${lines.join('\n')}\n`);
  };
  await settings(...subscriptions);
  const run = (...args: string[]): Promise<Ended> => runCli(['subscriptions', '--dir', dir, '--now', night, ...args]);
  const sent = () => Promise.all(smtp.mails.map(async ({ to, data }) => ({ ...(await PostalMime.parse(data)), to })));
  return { dir, smtp, settings, run, sent };
}

const statement = 'payments: { to: lead@example.com, statement: { owner: Payments } }';

test('a statement is mailed to those who subscribed, with its files, once for its month', async () => {
  const { run, sent } = await project(statement);
  expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
  const [mail, ...others] = await sent();
  expect(others).toEqual([]);
  expect(mail?.to).toEqual(['lead@example.com']);
  expect(mail?.subject).toContain('Statement of 2026-09 for Payments: 4.25 USD');
  expect(mail?.text?.split(/\n+/).slice(0, 4)).toEqual([
    'Statement of 2026-09 for Payments: 4.25 USD',
    '2026-09 is not closed: the platform can still correct its costs.',
    'You get this every month: "payments" in subscriptions of costbook.yaml.',
    expect.stringMatching(/^Costbook 2026-10-06T02:15:00Z · project .* · complete through 2026-10-06T00:00:00Z/),
  ]);
  expect(mail?.html).not.toContain('more;');
  expect(mail?.attachments.map(({ filename }) => filename)).toEqual([
    'statement-Payments-2026-09.html',
    'statement-Payments-2026-09.xlsx',
  ]);
  const workbook = await readXlsx(mail?.attachments[1]?.content as Uint8Array);
  // Nothing of the other team leaves with it.
  expect(JSON.stringify(workbook)).toContain('shop');
  expect(JSON.stringify(workbook)).not.toContain('lab-of-platform');
  expect(Buffer.from(mail?.attachments[0]?.content as Uint8Array).toString()).not.toContain('lab-of-platform');
  expect(await run()).toMatchObject({ exitCode: 0 });
  expect(await sent()).toHaveLength(1);
});

test('a report is mailed for each day, week and month that is complete; a close, only when there is one', async () => {
  const { run, sent, dir } = await project(
    'days: { to: a@example.com, every: day, report: { name: daily_trend, format: csv, param: { workspace: north } } }',
    'months: { to: [b@example.com, c@example.com], report: { name: cost_by_workspace, format: [csv, xlsx] } }',
    'closes: { to: d@example.com, every: close, report: { name: invoice_lines, format: csv } }',
  );
  const asked = await run('--json');
  expect(asked.stderr).toBe('');
  expect(JSON.parse(asked.stdout)).toMatchObject({
    due: ['subscription/days/2026-10-05', 'subscription/months/2026-09'],
  });
  const [days, months] = await sent();
  expect(days?.subject).toContain('Report daily_trend of 2026-10-05: 1.13 USD');
  expect(Buffer.from(days?.attachments[0]?.content as Uint8Array).toString()).toContain('2026-10-05');
  expect(months?.to).toEqual(['b@example.com', 'c@example.com']);
  expect(months?.subject).toContain('Report cost_by_workspace of 2026-09: 6.50 USD');
  expect(months?.text).toContain('2026-09 is not closed');
  expect(months?.attachments).toHaveLength(2);
  expect((await runCli(['close', '2026-09', '--dir', dir, '--now', night])).exitCode).toBe(0);
  expect((await run()).exitCode).toBe(0);
  const [, , close] = await sent();
  expect(close?.text).toContain('the close of 2026-09');
});

test('a month is mailed when it was closed, and again when it was closed again, also where it was mailed before', async () => {
  const closes = (every: string) => `x: { to: a@example.com, every: ${every}, report: { name: invoice_lines } }`;
  const { run, sent, settings, dir } = await project(closes('month'));
  const at = (now: string, ...args: string[]) => runCli([...args, '--dir', dir, '--now', now]);
  const mailed = async () => (await sent()).map(({ text }) => text?.split(/\n+/)[1]);
  const [open, closed] = [
    '2026-09 is not closed: the platform can still correct its costs.',
    'These are the numbers of the close of 2026-09.',
  ];
  await run();
  await settings(closes('close'));
  await run();
  expect(await mailed()).toEqual([open]);
  expect((await at(night, 'close', '2026-09')).exitCode).toBe(0);
  await run();
  await run();
  expect(await mailed()).toEqual([open, closed]);
  expect((await at(night, 'reopen', '2026-09', '--reason', 'late costs')).exitCode).toBe(0);
  await run();
  expect(await mailed()).toEqual([open, closed]);
  expect((await at(night, 'close', '2026-09')).exitCode).toBe(0);
  await run();
  await run();
  expect(await mailed()).toEqual([open, closed, closed]);
});

test('a mail has the formats that its subscription names, also if others get more of the same report', async () => {
  const { run, sent } = await project(
    ...['csv', 'xlsx', '[csv, xlsx]'].map(
      (format, index) => `x${index}: { to: a@example.com, report: { name: cost_by_workspace, format: ${format} } }`,
    ),
    ...['north', 'south'].map(
      (name) =>
        `${name}: { to: ${name}@example.com, report: { name: daily_trend, format: csv, param: { workspace: ${name} } } }`,
    ),
  );
  expect((await run()).exitCode).toBe(0);
  const mails = await sent();
  const names = mails
    .filter(({ to }) => to[0] === 'a@example.com')
    .map(({ attachments }) => attachments.map((one) => one.filename));
  const [csv, xlsx] = ['cost_by_workspace-2026-09.csv', 'cost_by_workspace-2026-09.xlsx'];
  expect(names.toSorted((a, b) => a.join().localeCompare(b.join()))).toEqual([[csv], [csv, xlsx], [xlsx]]);
  for (const [name, cost] of [
    ['north', '1.125'],
    ['south', '2.125'],
  ] as const) {
    const [file] = mails.find(({ to }) => to[0] === `${name}@example.com`)?.attachments ?? [];
    expect(Buffer.from(file?.content as Uint8Array).toString()).toContain(cost);
  }
});

test('a mail that fails is sent by the next run, and stops neither others nor alerts', async () => {
  const { run, smtp, sent } = await project(statement, 'all: { to: boss@example.com, statement: {} }');
  smtp.trouble.push({ at: 'RCPT:lead@example.com', does: '550 nobody', times: 1 });
  expect((await run()).exitCode).toBe(8);
  expect((await sent()).map(({ to }) => to)).toEqual([['boss@example.com']]);
  expect(await run()).toMatchObject({
    ...{ exitCode: 0, stdout: 'delivered  subscription/payments/2026-09  → to:payments\n' },
  });
  expect((await sent()).map(({ to }) => to)).toEqual([['boss@example.com'], ['lead@example.com']]);
});

test('a mail that waits goes to nobody whose subscription asks for something else since', async () => {
  const { run, smtp, settings, sent } = await project(statement);
  smtp.trouble.push({ at: 'DATA', does: '451 later', times: 9 });
  expect((await run()).exitCode).toBe(8);
  smtp.trouble.length = 0;
  await settings('payments: { to: new@example.com, statement: { owner: Platform } }');
  const { exitCode, stdout, stderr } = await run();
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 8, stdout: expect.stringContaining('dead') });
  expect(stderr).toContain('the subscription asks for something else since');
  expect((await run()).exitCode).toBe(0);
  expect(await sent()).toEqual([]);
});

test('a subscription that cannot be written is named, and the others are sent', async () => {
  const { run, sent } = await project('none: { to: x@example.com, statement: { owner: Nobody } }', statement);
  const { exitCode, stderr } = await run();
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Nobody') });
  expect((await sent()).map(({ to }) => to)).toEqual([['lead@example.com']]);
});

test('a file that is gone before its mail was sent is named', async () => {
  const { run, smtp, dir } = await project(statement);
  smtp.trouble.push({ at: 'DATA', does: '451 later', times: 9 });
  expect((await run()).exitCode).toBe(8);
  smtp.trouble.length = 0;
  await rm(join(dir, 'exports'), { recursive: true });
  const { exitCode, stderr } = await run();
  expect(exitCode).toBe(8);
  expect(stderr).toContain('is not there: write it again with "costbook statement --owner Payments --month 2026-09"');
  expect(smtp.mails).toEqual([]);
});

test.each([
  ['day: { to: a@example.com, every: day, statement: {} }', 'costbook.yaml:2:36: every: a statement is about a month'],
  ['x: { to: a@example.com, every: week, report: { name: cost_by_workspace } }', 'cost_by_workspace is about a month'],
  ['x: { to: a@example.com, report: { name: no_such_report } }', 'no_such_report'],
  ['x: { to: a@example.com, sink: pager, statement: {} }', '"pager"'],
  ['x: { to: a@example.com }', 'exactly one of report'],
  ['x: { to: nobody, statement: {} }', '"nobody"'],
])('the subscription %s is a mistake with its place', async (line, words) => {
  const { run } = await project(line);
  const { exitCode, stderr } = await run('--dry-run');
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) });
});

test('--dry-run lists what each subscription sends; without any nothing happens', async () => {
  const { run, dir } = await project(statement);
  expect((await run('--dry-run')).stdout).toMatch(/payments\s+statement\s+month\s+2026-09\s+lead@example\.com\n$/);
  // A sink whose secret is not set stops only what notifies.
  await writeFile(join(dir, 'costbook.yaml'), `sinks: { chat: { type: slack, url: "\${NOT_SET}" } }\n`);
  expect(await run()).toMatchObject({ exitCode: 0, stdout: 'costbook.yaml has no subscriptions.\n' });
  await mkdir(join(dir, 'jobs'), { recursive: true });
  await appendFile(join(dir, 'jobs', 'mine.yaml'), 'schedule: "15 2 * * *"\nsteps: [subscriptions]\n');
  const dry = await runCli(['run', 'mine', '--dry-run', '--json', '--dir', dir, '--now', night]);
  expect(JSON.parse(dry.stdout)).toMatchObject({ steps: [] });
});
