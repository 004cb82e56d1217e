// Second tier, long: The nights of six weeks of one project against a golden transcript.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ingestCommandLine, projectWithPlatform, runCli } from '../support/project.ts';
import { type Fact, series } from '../support/scripted-platform.ts';
import { says, startSink } from '../support/sink-server.ts';

const golden = new URL('../golden/forty_nights.txt', import.meta.url);
const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const gpu = { ...box, name: 'trainer', uuid: 'sbx-2', dimension: 'quantum_seconds' };
const budgets = `budgets:
  - name: everything
    period: monthly
    amount: 50 USD
    thresholds: [{ at: 80% }, { at: 100%, severity: critical }]
`;
const check = `--! about: No hour costs more than 9 USD.
--! severity: warn
select bucket_start, resource_name, cost from costs where cost > 9
`;

/** Nights without a run: the next one catches up. Others without news show that nothing is sent twice. */
const off = new Set(
  [
    '09-22',
    '09-23',
    '09-26',
    '09-27',
    '09-28',
    '09-29',
    '10-06',
    '10-10',
    '10-11',
    '10-14',
    '10-25',
    '10-27',
    '10-28',
  ].map((day) => `2026-${day}`),
);

/** Days of two months: each costs 2 USD in its sixth hour, unless the story says otherwise. */
function truth(now: string, changes: Readonly<Record<string, number>>): Fact[] {
  const days: string[] = [];
  for (let at = Date.parse('2026-09-01'); at < Date.parse(now); at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days.flatMap((day) => series(box, `${day}T05`, [changes[day] ?? 2]).filter(({ cost }) => cost > 0));
}

/** The nights of the story, by day: what happens before the run of that night, or during it. */
test('the nights of six weeks send every alert once, as in the golden transcript', { timeout: 900_000 }, async () => {
  const { dir, platform } = await projectWithPlatform();
  const sink = await startSink();
  await mkdir(join(dir, 'jobs'));
  await mkdir(join(dir, 'sql', 'checks'), { recursive: true });
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budgets);
  await writeFile(join(dir, 'sql', 'checks', 'no_hour_is_dear.sql'), check);
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:\n  hook: { type: webhook, url: "${sink.url}/", secret: sixteen-letters-or-more, allowPrivateNetwork: true }\n`,
  );
  const rightToken = platform.tokens.admin;
  const changes: Record<string, number> = {};
  const more: Fact[] = [];
  let lies = false;
  platform.lie = ({ start, end }) =>
    lies && start <= Date.parse('2026-10-06') && end > Date.parse('2026-10-05') ? 0.5 : 0;
  const story: Record<string, { readonly words: string; happens?(): void; readonly runs?: readonly string[][] }> = {
    '2026-09-24': {
      words: 'the platform takes back what the last days cost',
      happens: () =>
        void Object.assign(changes, { '2026-09-20': 0, '2026-09-21': 0, '2026-09-22': 0, '2026-09-23': 0 }),
    },
    '2026-10-02': {
      words: 'the token is refused',
      happens: () => {
        platform.tokens.admin = 'another';
      },
    },
    '2026-10-04': {
      words: 'it is taken again',
      happens: () => {
        platform.tokens.admin = rightToken;
      },
    },
    '2026-10-05': { words: 'September is closed; a summary', runs: [['close', '2026-09'], ['summarize']] },
    '2026-10-07': {
      words: "the platform's totals lie",
      happens: () => {
        lies = true;
      },
    },
    '2026-10-09': {
      words: 'they tell the truth again',
      happens: () => {
        lies = false;
      },
    },
    '2026-10-12': {
      words: 'a new billing dimension, and a sink that is down; a summary for it',
      happens: () => {
        more.push(...series(gpu, '2026-10-11T08', [0.25]));
        sink.replies = [says(503)];
      },
      runs: [['summarize']],
    },
    '2026-10-13': {
      words: 'the sink is back',
      happens: () => {
        sink.replies = [says(200)];
      },
    },
    '2026-10-15': {
      words: 'an hour of September costs more',
      happens: () => {
        changes['2026-09-10'] = 5.5;
      },
    },
    '2026-10-17': {
      words: 'and more',
      happens: () => {
        changes['2026-09-10'] = 6;
      },
    },
    '2026-10-18': {
      words: 'a dear hour',
      happens: () => {
        changes['2026-10-17'] = 9.5;
      },
    },
    '2026-10-20': {
      words: 'which was a mistake; September costs what it was closed with',
      happens: () => void Object.assign(changes, { '2026-10-17': 2, '2026-09-10': 2 }),
    },
    '2026-10-22': {
      words: 'somebody knows of the budget until the 24th',
      runs: [['alerts', 'ack', 'budget/@all/everything/2026-10/80%', '--until', '2026-10-24']],
    },
  };

  const lines: string[] = [];
  for (let night = 0; night < 40; night += 1) {
    const day = new Date(Date.parse('2026-09-21') + night * 86_400_000).toISOString().slice(0, 10);
    if (off.has(day)) continue;
    const now = `${day}T02:15:00Z`;
    const { words, happens, runs = [] } = story[day] ?? { words: '' };
    happens?.();
    platform.facts = [...truth(now, changes), ...more];
    sink.told.length = 0;
    const [args, env] = ingestCommandLine(dir, platform, { now });
    const ingested = await runCli(args, { ...env, COSTBOOK_TOKEN: rightToken });
    const codes = [`ingest ${ingested.exitCode}`];
    for (const run of [
      ...runs.filter(([name]) => name !== 'summarize'),
      ['alert'],
      ...runs.filter(([name]) => name === 'summarize'),
    ]) {
      const { exitCode, stderr } = await runCli([...run, '--dir', dir, '--now', now], { COSTBOOK_ACCOUNT: 'acc_one' });
      codes.push(`${run[0]} ${exitCode}`);
      if (exitCode !== 0 && exitCode !== 8) throw new Error(`${day} ${run.join(' ')}: ${exitCode} ${stderr}`);
    }
    lines.push(`${day}  ${codes.join(', ')}${words === '' ? '' : `  # ${words}`}`);
    for (const { body } of sink.told) {
      lines.push(`    ${body.mayBeRepeat ? '(again?) ' : ''}${body.subject.replace(/^\[[^\]]+\] /, '')}`); // without the project, here a folder of its own
      if (body.alerts.length > 1)
        for (const { transition, key } of body.alerts) lines.push(`        ${transition} ${key}`);
    }
  }
  const transcript = `${lines.join('\n')}\n`;
  if (!existsSync(golden) && process.env['CI'] === undefined) writeFileSync(golden, transcript);
  expect(transcript).toBe(readFileSync(golden, 'utf8'));
});
