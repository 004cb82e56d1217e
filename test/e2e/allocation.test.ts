// Second tier: Allocates whole months in processes; sql/allocation holds the rules in the first tier.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { askSnapshot, type Ended, newProject, runCli } from '../support/project.ts';

const nights = ['2026-08-05T04:30:00Z', '2026-08-06T04:30:00Z', '2026-08-07T04:30:00Z'] as const;
let emulator: Emulator | undefined;
let dir = '';
let clock: string = nights[0];
beforeAll(async () => {
  emulator = await startEmulator({ now: () => Date.parse(clock), storyEnd: Date.UTC(2026, 7, 9) });
  dir = await newProject();
  await mkdir(join(dir, 'jobs'));
});
afterAll(() => emulator?.close());

async function rules(text: string, name = 'jobs/allocation.yaml'): Promise<void> {
  await writeFile(join(dir, name), text);
}

function ingest(): Promise<Ended> {
  return runCli(['ingest', '--dir', dir, '--now', clock], {
    COSTBOOK_URL: emulator?.url ?? '',
    COSTBOOK_TOKEN: emulator?.tokens.admin ?? '',
    COSTBOOK_ACCOUNT: emulator?.account ?? '',
    COSTBOOK_SINCE: '2026-07-01',
  });
}

async function asked(...args: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await runCli([...args, '--dir', dir, '--now', clock, '--json']);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const byTeam = `select team, sum(cost) as cost from costs_allocated group by team order by team`;

async function teams(...args: string[]): Promise<unknown[]> {
  const { rows } = await asked('sql', byTeam, ...args);
  return rows as unknown[];
}

const first = `
rules:
  - {name: shared, when: {resource_type: [volume, custom_domain]}, split: {by: cost, over: [team]}}
  - {name: research, when: {workspace: research}, owner: {team: research}}
  - {name: others, owner: {team: others}}
`;

test('an ingest applies new rules, --as-of answers with earlier ones, and a draft changes nothing', async () => {
  await rules(first);
  expect((await ingest()).exitCode).toBe(0);
  const before = await teams();
  expect(before).toHaveLength(2);
  const [total] = await askSnapshot(dir, 'select sum(cost) as cost from costs');
  const [allocated] = await askSnapshot(dir, 'select sum(cost) as cost from costs_allocated');
  expect(allocated).toEqual(total);

  // A draft is tried on the same books: all is for one team, and a rule catches nothing.
  const draft =
    'rules:\n  - {name: all, owner: {team: all}}\n  - {name: none, when: {workspace: nowhere}, owner: {team: x}}\n';
  await rules(draft, 'draft.yaml');
  const tried = await asked('allocation', 'test', '--file', 'draft.yaml');
  expect(tried).toMatchObject({ isInForce: false, cost: total?.['cost'], allocatedCost: total?.['cost'] });
  expect(
    (tried['rules'] as Record<string, unknown>[]).map(({ rule, cost, resources }) => [
      rule,
      cost,
      Number(resources) > 0,
    ]),
  ).toEqual([
    ['all', total?.['cost'], true],
    ['none', '0.000000000000', false],
    ['default', '0.000000000000', false],
  ]);
  expect(tried['warnings']).toEqual([expect.stringContaining('the rule "none" can never match')]);
  expect(await teams()).toEqual(before);

  // Once active, it answers from then on; as of an earlier instant, the earlier rules do.
  clock = nights[1];
  await rules(draft);
  expect(await asked('allocation', 'apply')).toMatchObject({ rules: 2, changed: true });
  expect(await asked('allocation', 'apply')).toMatchObject({ changed: false });
  expect(await teams()).toEqual([{ team: 'all', cost: total?.['cost'] }]);
  expect(await teams('--as-of', nights[0])).toEqual(before);

  // Rules with mistakes change nothing but the exit code: costs are loaded all the same.
  clock = nights[2];
  await rules(`${draft}  - {name: all, when: {worksapce: x}, ownr: {}}\n`);
  const { exitCode, stderr } = await ingest();
  expect(exitCode).toBe(2);
  expect(stderr).toContain('jobs/allocation.yaml:4:24: unknown key "worksapce"; did you mean workspace?');
  const { failedIngest } = await asked('status');
  const { next } = failedIngest as { next: string };
  const step = next.replace(/^Act \(operator of Costbook\): f/, 'costbook: F');
  expect(stderr.split('\n').filter((line) => line === step)).toHaveLength(1);
  expect(stderr.trimEnd().split('\n').at(-1)).toBe(step);
  expect(
    await askSnapshot(dir, "select max(bucket_start) > timestamp '2026-08-06 12:00:00' as is_new from costs"),
  ).toEqual([{ is_new: true }]);
  expect(await teams()).toHaveLength(1);

  // The books can be rebuilt with the rules in them.
  await rules(draft);
  const rebuilt = await runCli(['rebuild', '--dir', dir, '--now', clock, '--into', join(dir, 'rebuilt.duckdb')]);
  expect(rebuilt.exitCode, rebuilt.stderr + rebuilt.stdout).toBe(0);
}, 300_000);

test('allocation test lists the resulting owners, and warns of two that are probably the same', async () => {
  await rules('rules:\n  - {name: label, owner: {team: {label: team}}}\n', 'labels.yaml');
  const tried = await asked('allocation', 'test', '--file', 'labels.yaml');
  const owners = tried['owners'] as { owner: string; cost: string }[];
  const total = owners.reduce((sum, { cost }) => sum + BigInt(cost.replace('.', '')), 0n);
  expect(total).toBe(BigInt(String(tried['cost']).replace('.', '')));
  const twins = tried['twins'] as { value: string; twins: { value: string }[] }[];
  const written = new Map(twins.map(({ value, twins: others }) => [value, others.map(({ value: other }) => other)]));
  expect(written.get('Payments')).toEqual(expect.arrayContaining(['PAYMENTS', 'paymnets']));
  expect(written.get('Research')).toEqual(expect.arrayContaining(['reserch', 'research ']));
  const { stdout, stderr } = await runCli(['allocation', 'test', '--file', 'labels.yaml', '--dir', dir]);
  expect(stdout).toMatch(/^team Payments .*\d\.\d/m);
  expect(stderr).toMatch(/"team": \{"Research": \[.*"research "/);
  // What the warning asks for is what ends it.
  await rules(
    'aliases:\n  "team": {"Research": ["research ", "reserch", "research"]}\nrules:\n  - {name: label, owner: {team: {label: team}}}\n',
    'labels.yaml',
  );
  const mended = (await asked('allocation', 'test', '--file', 'labels.yaml'))['twins'] as { value: string }[];
  expect(mended.filter(({ value }) => /research/i.test(value))).toEqual([]);
}, 600_000);

test('allocation explain names the rule that decides, and why earlier rules do not match', async () => {
  await rules(first, 'draft.yaml');
  const { windows } = (await asked('allocation', 'explain', 'training-lab', '--file', 'draft.yaml')) as {
    windows: Record<string, unknown>[];
  };
  expect(windows[0]).toMatchObject({
    workspace: 'research',
    owner: { team: 'research', product: null, environment: null },
    rule: 'research',
    rules: [
      { rule: 'shared', matched: false, reason: ['resource_type is sandbox, expected volume or custom_domain'] },
      { rule: 'research', matched: true, reason: ['workspace is research'] },
    ],
  });
  const wrong = await runCli(['allocation', 'explain', 'trainin-lab', '--dir', dir]);
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean "training-lab"?')]);
}, 600_000);

test('wrong arguments of allocation are refused with what is expected', async () => {
  for (const [args, words] of [
    [['tset'], 'did you mean test?'],
    [['explain'], 'name a resource'],
    [['test', '--file', 'none.yaml'], 'none.yaml does not exist'],
    [['apply', '--file', 'draft.yaml'], 'move your file there'],
  ] as const) {
    const { exitCode, stderr } = await runCli(['allocation', ...args, '--dir', dir]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(words)]);
  }
}, 600_000);
