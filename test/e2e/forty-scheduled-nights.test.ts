// Second tier, long: Weeks under the scheduler with kills, lies and a full disk that are drawn.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, test } from 'vitest';
import { askSnapshot, costsIn, newProject, runCli } from '../support/project.ts';
import { fixedSeed } from '../support/rounds.ts';
import {
  expectedCosts,
  type Fact,
  type ScriptedPlatform,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';
import { says, startSink } from '../support/sink-server.ts';

// Forty nights of the job below under the scheduler, in a zone that in these weeks turns its clocks both ways; the
// nights on which something goes wrong, and when in the night, are drawn by the seed.
const seed = inject('seed');
const harness = fileURLToPath(new URL('../support/clocked-schedule.mjs', import.meta.url));
const dayMs = 86_400_000;
const firstDay = Date.parse('2026-02-14');
const nights = 40;
/** Of the fixed seed the machine is away between the two changes of the clocks; of a fresh one every night is run. */
const away = seed === fixedSeed ? { from: '2026-02-21', until: '2026-03-18' } : undefined;
const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const job = `schedule: "15 2 * * *"
timeZone: Africa/Casablanca
steps: [ingest, alert]
timeout: 10m
`;
const budgets = `budgets:
  - name: everything
    period: weekly
    amount: 20 USD
    thresholds: [{ at: 40% }, { at: 100%, severity: critical }]
`;

/** By hand: an hour ahead of UTC until 15 February, 03:00, again from 22 March, 02:00, and not between. */
function slotOf(day: string): string {
  if (day === '2026-03-22') return `${day}T02:00:00Z`; // 02:15 is passed over
  return day <= '2026-02-15' || day > '2026-03-22' ? `${day}T01:15:00Z` : `${day}T02:15:00Z`; // 02:15 of 15 February comes twice
}

type Trouble =
  | 'none'
  | 'the run is killed before it asks anything'
  | 'the run is killed while it asks'
  | 'the scheduler is killed while a run goes on'
  | 'both are killed'
  | 'the scheduler is not there'
  | 'the machine is away'
  | 'the platform fails'
  | 'the platform lies'
  | 'the platform lies and the sink fails'
  | 'the disk is full';

/** What the rows of a slot say in the end, by what went wrong. */
const outcomes: Readonly<Record<Trouble, readonly string[][]>> = {
  none: [['done']],
  // Before it could write its row, or after.
  'the run is killed before it asks anything': [['missed'], ['interrupted']],
  'the run is killed while it asks': [['interrupted']],
  'the scheduler is killed while a run goes on': [['done']],
  'both are killed': [['interrupted', 'done']],
  'the scheduler is not there': [['done']],
  // The first run after it says so.
  'the machine is away': [['missed']],
  'the platform fails': [['failed']],
  'the platform lies': [['failed']],
  'the platform lies and the sink fails': [['failed']],
  'the disk is full': [['missed'], ['interrupted'], ['failed']],
};

/** Numbers from 0 to 1, the same for the same seed. */
function drawing(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Each day costs 1 to 3 USD in two of its hours; days of the past cost something else from a later night on. */
function truth(through: number, draw: () => number): Fact[] {
  const facts: Fact[] = [];
  for (let at = Date.parse('2026-02-01'); at < through; at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10);
    facts.push(
      ...series(
        box,
        `${day}T05`,
        [0.5 + draw(), 1 + draw()].map((cost) => Math.round(cost * 100) / 100),
      ),
    );
  }
  return facts;
}

const probe = 'd=$(mktemp -d) && mount -t tmpfs -o size=1M tmpfs "$d" && umount "$d" && rmdir "$d"';
const mayMount = spawnSync('sh', ['-c', probe]).status === 0;
const disks: string[] = [];
const schedulers: ChildProcess[] = [];
afterAll(() => {
  for (const scheduler of schedulers) scheduler.kill('SIGKILL');
  for (const disk of disks) spawnSync('umount', ['-l', disk]);
});

interface Scheduler {
  /** Moves the clock; resolves when no run is active, or the scheduler is dead. */
  turn(instant: string): Promise<void>;
  /** The processes of all runs that it started. */
  readonly runs: number[];
  onRun: (pid: number) => void;
  kill(): void;
  readonly said: string[];
}

async function startScheduler(dir: string, now: string, env: Readonly<Record<string, string>>): Promise<Scheduler> {
  const child = spawn(process.execPath, [harness, dir, now], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'America/St_Johns', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  schedulers.push(child);
  const said: string[] = [];
  const heard = new Map<string, () => void>();
  const dead = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const scheduler: Scheduler = {
    async turn(instant) {
      const idle = new Promise<void>((resolve) => heard.set(`idle ${instant}`, resolve));
      child.stdin.write(`${instant}\n`);
      await Promise.race([idle, dead]);
    },
    runs: [],
    onRun: () => undefined,
    kill: () => void child.kill('SIGKILL'),
    said,
  };
  const ready = new Promise<void>((resolve) => heard.set('ready', resolve));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const pid = /^run (\d+)$/.exec(line)?.[1];
    if (pid !== undefined) {
      scheduler.runs.push(Number(pid));
      scheduler.onRun(Number(pid));
    }
    heard.get(line)?.();
  });
  child.stderr.on('data', (piece: Buffer) => said.push(piece.toString()));
  child.stdin.on('error', () => undefined);
  await Promise.race([ready, dead]);
  return scheduler;
}

async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`)) await sleepFor(20);
}

test('forty nights under the scheduler have a row each, correct costs, and send every alert once', {
  timeout: 1_800_000,
}, async () => {
  const draw = drawing(seed);
  const dir = join(await newProject(), 'books');
  await mkdir(dir);
  if (mayMount) {
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64M', 'tmpfs', dir]).status).toBe(0);
    disks.push(dir);
  }
  const sink = await startSink();
  const platform: ScriptedPlatform = await startScriptedPlatform();
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'nightly.yaml'), job);
  await writeFile(join(dir, 'jobs', 'month_close.yaml'), 'schedule: "0 6 4 * *"\nenabled: false\nsteps: [check]\n');
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budgets);
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:\n  hook: { type: webhook, url: "${sink.url}/", secret: sixteen-letters-or-more, allowPrivateNetwork: true }\n`,
  );
  const env = {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_ACCOUNT: 'acc_one',
    COSTBOOK_SINCE: '2026-02-01',
    COSTBOOK_INVENTORY: 'false',
  };

  const days = Array.from({ length: nights }, (_, night) =>
    new Date(firstDay + night * dayMs).toISOString().slice(0, 10),
  );
  const troubles = new Map<string, Trouble>();
  if (away !== undefined) {
    for (const day of days) if (day >= away.from && day < away.until) troubles.set(day, 'the machine is away');
    troubles.set(away.until, 'the scheduler is not there');
  }
  // The first night makes the books, the last one must find the truth; the others are dealt.
  const dealt = (Object.keys(outcomes) as Trouble[]).filter(
    (trouble) =>
      ![...troubles.values(), 'none', 'the machine is away', mayMount ? '' : 'the disk is full'].includes(trouble),
  );
  if (away === undefined) {
    dealt.push(
      'the run is killed while it asks',
      'both are killed',
      'the scheduler is not there',
      'the platform fails',
    );
  }
  for (const trouble of dealt) {
    let day: string | undefined;
    while (day === undefined || troubles.has(day)) day = days[1 + Math.floor(draw() * (nights - 2))];
    troubles.set(day, trouble);
  }

  const facts = truth(firstDay + nights * dayMs, draw);
  let scheduler = await startScheduler(dir, '2026-02-13T20:00:00Z', env);
  const transcript: string[] = [];
  for (const day of days) {
    const trouble = troubles.get(day) ?? 'none';
    const slot = slotOf(day);
    if (trouble === 'the machine is away') continue;
    platform.facts = facts.filter(({ hour }) => hour < slot);
    // Some nights the platform has changed its mind about the past.
    if (draw() < 0.3) {
      const index = Math.floor(draw() * platform.facts.length);
      const changed = facts[index];
      if (changed !== undefined) facts[index] = { ...changed, cost: Math.round((changed.cost + 0.25) * 100) / 100 };
      platform.facts = facts.filter(({ hour }) => hour < slot);
    }
    sink.replies = [says(trouble === 'the platform lies and the sink fails' ? 403 : 200)];
    const ballast = join(dir, 'ballast');
    if (trouble === 'the disk is full') {
      const { bavail, bsize } = await statfs(dir);
      await writeFile(ballast, Buffer.alloc(bavail * bsize, 1)).catch(() => undefined);
    }
    if (trouble === 'the platform fails') {
      platform.failures = [
        { times: 999, status: 503, headers: { 'retry-after': '0' }, body: { error: 'down', code: 503 } },
      ];
    }
    platform.lie = () => (/^the platform lies/.test(trouble) ? 0.5 : 0);
    if (trouble === 'the run is killed before it asks anything') {
      const after = draw() * 300;
      scheduler.onRun = (pid) => void sleepFor(after).then(() => process.kill(pid, 'SIGKILL'));
    }
    const whose = scheduler;
    if (/killed while|both are killed/.test(trouble)) {
      const at = platform.requests.length + 1 + Math.floor(draw() * 3);
      platform.onRequest = ({ number }) => {
        if (number !== at) return;
        if (trouble !== 'the run is killed while it asks') whose.kill();
        if (trouble !== 'the scheduler is killed while a run goes on') process.kill(whose.runs.at(-1) ?? 0, 'SIGKILL');
      };
    }
    const before = scheduler.runs.length;
    if (trouble === 'the scheduler is not there') {
      scheduler.kill();
      scheduler = await startScheduler(dir, `${day}T09:00:00Z`, env);
      await scheduler.turn(`${day}T09:00:30Z`);
      expect(scheduler.runs, `${day} ${scheduler.said.join('')}`).toHaveLength(1);
    } else {
      for (const time of [
        '00:30:00',
        '01:14:59',
        '01:15:00',
        '01:16:00',
        '01:59:59',
        '02:00:00',
        '02:14:00',
        '02:15:00',
        '02:16:00',
        '04:00:00',
      ]) {
        await scheduler.turn(`${day}T${time}Z`);
      }
      expect(scheduler.runs.length - before, `${day} ${trouble} ${scheduler.said.join('')}`).toBe(1);
      if (/^the scheduler is killed|both/.test(trouble)) {
        await gone(scheduler.runs.at(-1) ?? 0);
        platform.onRequest = () => undefined;
        scheduler = await startScheduler(dir, `${day}T04:30:00Z`, env);
        await scheduler.turn(`${day}T04:30:30Z`);
        // What went on to its end is not run again; what was killed is.
        expect(scheduler.runs, day).toHaveLength(trouble === 'both are killed' ? 1 : 0);
      }
    }
    await rm(ballast, { force: true });
    platform.onRequest = () => undefined;
    platform.failures = [];
    scheduler.onRun = () => undefined;
    transcript.push(`${day}  ${trouble}  ${sink.told.length} messages so far`);
  }
  scheduler.kill();

  const rows = await askSnapshot(
    dir,
    `select strftime(slot, '%Y-%m-%dT%H:%M:%SZ') as slot, list(outcome order by run_number)::varchar as outcomes,
      list(error order by run_number)::varchar as errors
    from runs where job = 'nightly' group by slot order by slot`,
  );
  // By the slots of the calendar above: none is left out, none came twice.
  expect(rows.map((row) => row['slot'])).toEqual(days.map(slotOf));
  for (const [index, day] of days.entries()) {
    const trouble = troubles.get(day) ?? 'none';
    const said = String(rows[index]?.['outcomes'])
      .replace(/[[\]\s]/g, '')
      .split(',');
    expect(outcomes[trouble], `${day} ${trouble} ${rows[index]?.['errors']}\n${transcript.join('\n')}`).toContainEqual(
      said,
    );
  }
  expect(await askSnapshot(dir, `select count(*) as n from runs where slot is null or outcome = 'running'`)).toEqual([
    { n: '0' },
  ]);
  // Each failure says what failed.
  const unsaid = await askSnapshot(
    dir,
    `select slot, outcome from runs where outcome in ('failed', 'missed') and coalesce(error, '') = ''`,
  );
  expect(unsaid).toEqual([]);

  expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  expect((await runCli(['check', '--dir', dir])).exitCode).toBe(0);

  // Everything raised or resolved was reported in one message; only the same message may come twice.
  const told = new Map<string, string[]>();
  const delivered = sink.told.filter(({ body }) => !body.isTest);
  for (const { id, alerts } of new Map(delivered.map(({ body }) => [body.id, body])).values()) {
    for (const { key, occurrence, transition } of alerts) {
      const fact = `${key} ${occurrence} ${transition}`;
      told.set(fact, [...(told.get(fact) ?? []), id]);
    }
  }
  expect([...told].filter(([, ids]) => ids.length > 1)).toEqual([]);
  const alerts = await askSnapshot(dir, 'select alert_key, occurrence, ending from alerts order by all');
  const expected = alerts.flatMap(({ alert_key, occurrence, ending }) => [
    `${alert_key} ${occurrence} raised`,
    ...(ending === 'resolved' ? [`${alert_key} ${occurrence} resolved`] : []),
  ]);
  // A full disk may have no room for the ledger: then it is reported without being stored, and may never enter the books.
  if (dealt.includes('the disk is full')) expected.push('run/disk 1 raised');
  expect([...told.keys()].sort()).toEqual([...new Set(expected)].sort());
  for (const kind of ['budget/', 'run/ingest', 'unproven/']) {
    expect(
      [...told.keys()].some((fact) => fact.startsWith(kind)),
      `${kind} of ${[...told.keys()].join('\n')}`,
    ).toBe(true);
  }
  expect(
    (await runCli(['rebuild', '--dir', dir, '--into', join(await newProject(), 'rebuilt.duckdb')])).stdout,
  ).toContain('identical');
});
