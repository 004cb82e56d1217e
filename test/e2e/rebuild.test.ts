// Second tier: Rebuilds books of every kind and compares them.

import { execFile } from 'node:child_process';
import { access, cp, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { holdAsForeigner } from '../support/breakages.ts';
import {
  askFile,
  askSnapshot,
  costsIn,
  type Ended,
  ingest,
  loadedProject,
  newProject,
  projectWithPlatform,
  runCli,
  type Started,
  startCli,
} from '../support/project.ts';
import {
  type Fact,
  type ScriptedPlatform,
  type Seen,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

const volume = { type: 'volume', uuid: null, dimension: 'volume_storage_gbs' } as const;
const box = { type: 'sandbox', workspace: 'north', dimension: 'sandbox_compute_runtime_gbs' } as const;

const facts: readonly Fact[] = [
  ...series({ ...box, name: 'box', uuid: 'sbx-1' }, '2026-09-02T05', [1.25, 2.5]),
  ...series({ ...box, name: 'box', uuid: 'sbx-1' }, '2026-09-18T05', [5, 6.000000001, 0.1]),
  ...series({ ...box, name: 'gone', uuid: 'sbx-2' }, '2026-09-19T00', [0.5, 0.25]),
  ...series({ ...volume, workspace: 'north', name: 'data' }, '2026-09-08T05', [3, 4]),
  ...series({ ...volume, workspace: 'south', name: 'data' }, '2026-09-19T05', [0.125, 0.0625]),
  ...series({ ...volume, workspace: 'south', name: 'data', account: 'acc_two' }, '2026-09-19T05', [7, 8]),
  ...series({ ...volume, workspace: 'north', name: 'data', account: 'acc_two' }, '2026-09-19T05', [1, 2]),
];

const config = `url: "\${PLATFORM_URL}"
accounts:
  - { id: acc_one, name: One, token: "\${ONE_TOKEN}", since: 2026-09 }
  - { id: acc_two, token: "\${TWO_TOKEN}", since: 2026-09-15 }
`;

interface Rebuilt {
  file: string;
  loads: number;
  identical: boolean | null;
  tables: { table: string; rows: number; onlyHere: number; onlyThere: number; here: object[]; there: object[] }[];
}

async function night(
  dir: string,
  platform: ScriptedPlatform,
  now: string,
  options: { one?: 'admin' | 'member'; args?: string[]; env?: Record<string, string> } = {},
): Promise<number> {
  const { exitCode } = await ingest(dir, platform, {
    now,
    args: options.args ?? [],
    env: {
      COSTBOOK_URL: '',
      PLATFORM_URL: platform.url,
      COSTBOOK_ACCOUNT: '',
      COSTBOOK_TOKEN: '',
      COSTBOOK_SINCE: '',
      ONE_TOKEN: platform.tokens[options.one ?? 'admin'],
      TWO_TOKEN: platform.tokens.member,
      ...options.env,
    },
  });
  return exitCode;
}

async function rebuild(dir: string): Promise<Ended & { answer: Rebuilt | undefined; file: string }> {
  const file = join(await newProject(), 'rebuilt.duckdb');
  const ended = await runCli(['rebuild', '--dir', dir, '--into', file, '--json']);
  return { ...ended, file, answer: ended.stdout === '' ? undefined : (JSON.parse(ended.stdout) as Rebuilt) };
}

function differing({ tables }: Rebuilt): Record<string, [number, number]> {
  return Object.fromEntries(
    tables
      .filter(({ onlyHere, onlyThere }) => onlyHere > 0 || onlyThere > 0)
      .map(({ table, onlyHere, onlyThere }) => [table, [onlyHere, onlyThere]]),
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The numbers of an account's first loads: accounts are fetched side by side, so any of them may be first. */
async function loadsOf(dir: string, account: string): Promise<number[]> {
  const names = await readdir(join(dir, 'data', 'landing', account));
  return names.map((name) => Number(/^load-0*(\d+)$/.exec(name)?.[1])).sort((a, b) => a - b);
}

/** The folder of a load. */
function folderOf(load: number): string {
  return `load-${String(load).padStart(9, '0')}`;
}

/** The page files in the folder of a load. */
async function bodies(dir: string, place: string): Promise<string[]> {
  return (await readdir(join(dir, 'data', 'landing', place))).filter((name) => name !== 'load.json').sort();
}

/** Changes the present warehouse with DuckDB itself. */
async function tamper(dir: string, sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(join(dir, 'data', 'warehouse.duckdb'), { threads: '1' });
  const connection = await instance.connect();
  await connection.run(sql);
  await connection.run('checkpoint');
  connection.closeSync();
  instance.closeSync();
}

function isAbout(start: string): (request: Seen) => boolean {
  return (request) => request.account === 'acc_one' && request.start === Date.parse(start);
}

/** Books with everything in them that books can have. */
let story = '';
const exitCodes: number[] = [];
beforeAll(async () => {
  story = await newProject();
  const platform = await startScriptedPlatform(facts);
  platform.accounts = ['acc_one', 'acc_two'];
  await writeFile(join(story, 'costbook.yaml'), config);
  // A window that does not match, fixed by the next night.
  const isMiddle = isAbout('2026-09-06T00:00:00Z');
  platform.lie = (request) => (isMiddle(request) ? 0.01 : 0);
  exitCodes.push(await night(story, platform, '2026-09-20T00:30:00Z'));
  platform.lie = () => 0;
  // A changed hour, a removed series, and rows that the detail omits.
  platform.facts = facts
    .filter(({ uuid }) => uuid !== 'sbx-2')
    .map((fact) => (fact.hour === '2026-09-18T05' ? { ...fact, cost: 5.5 } : fact));
  platform.leavesOut = 'rows';
  platform.pageSize = 1;
  exitCodes.push(await night(story, platform, '2026-09-21T00:30:00Z'));
  platform.leavesOut = 'nothing';
  // Young hours whose numbers are changing while they are read.
  platform.tells = ({ query, account }, truth) =>
    account === 'acc_one' && query['groupBy']?.startsWith('workspace,billing')
      ? [...truth, ...series({ ...box, name: 'box', uuid: 'sbx-1' }, '2026-09-21T22', [1])]
      : truth;
  exitCodes.push(await night(story, platform, '2026-09-22T00:30:00Z'));
  platform.tells = (_, truth) => truth;
  // A tolerance agreed by hand, under which all comparisons are off by the same; everything read again by a member.
  exitCodes.push(
    await night(story, platform, '2026-09-22T01:30:00Z', {
      one: 'member',
      args: ['--refetch', '--accept-reduced-access'],
      env: { COSTBOOK_PROOF_TOLERANCE: '0.5' },
    }),
  );
  platform.facts = [
    ...platform.facts,
    ...series({ ...volume, workspace: 'south', name: 'data' }, '2026-09-21T09', [4]),
  ];
  exitCodes.push(await night(story, platform, '2026-09-22T02:30:00Z', { one: 'member' }));
  exitCodes.push(await night(story, platform, '2026-09-22T03:30:00Z'));
  // Nothing changed but an hour more.
  exitCodes.push(await night(story, platform, '2026-09-22T03:40:00Z'));
}, 600_000);

/** The story's project folder, to be changed. */
async function copyOfStory(): Promise<string> {
  const dir = await newProject();
  await cp(story, dir, { recursive: true });
  return dir;
}

describe.concurrent('rebuild', () => {
  test('recreates the same books, row for row, from landing folder and journal', async () => {
    const { exitCode, answer, file, stderr } = await rebuild(story);
    expect({ exitCode, differing: answer && differing(answer), stderr }).toEqual({
      exitCode: 0,
      differing: {},
      stderr: '',
    });
    expect(answer?.identical).toBe(true);
    // The story has all that books can have but closes, an inventory, its allocation and a fast clock, which have stories of their own: no
    // table is identical for being empty.
    const empty = [
      'unproven',
      'contradictions',
      'closes',
      'closed_units',
      // test/e2e/inventory.test.ts rebuilds books that have them.
      'resources',
      'resource_use',
      'resource_events',
      'resource_runtimes',
      'platform_lists',
      'listings',
      'allocations',
      'alerts',
      'anomalies',
      'anomaly_evaluations',
      'acknowledgements',
      // test/e2e/assets.test.ts rebuilds books that have it.
      'job_executions',
      // test/e2e/feedback.test.ts repairs books that have it.
      'alert_feedback',
      'outbox',
      'deliveries',
      'forecasts',
      'job_runs',
      'steps',
      // test/e2e/fast-clock.test.ts rebuilds books that have them.
      'claims_corrected',
      'clocks',
    ];
    expect(answer?.tables.filter(({ table, rows }) => rows === 0 && !empty.includes(table))).toEqual([]);
    expect(exitCodes).toEqual([4, 0, 0, 0, 0, 0, 0]);
    const said = `select
      count(*) filter (outcome = 'unchanged') > 0 as unchanged,
      count(*) filter (role = 'member') > 0 and count(*) filter (role = 'admin') > 0 as both_roles,
      count(distinct account) as accounts,
      bool_or(queries like '%repair%' or queries like '%residual%') as asked_by_name,
      (select max(attempt) >= 3 from ledger.reconciliation where load_number is not null) as readings,
      (select bool_or(not proven) from ledger.reconciliation where load_number is null) as failed,
      (select bool_or(proven) from ledger.reconciliation where load_number is null and check_code = 'days_match_platform') as past
    from ledger.loads`;
    expect(await askSnapshot(story, said)).toEqual([
      {
        unchanged: true,
        both_roles: true,
        accounts: '2',
        asked_by_name: true,
        readings: true,
        failed: true,
        past: true,
      },
    ]);
    // It is a warehouse in its own right: DuckDB opens it, and its views answer.
    const sum = 'select cast(sum(cost) as varchar) as cost, count(*) as rows from costs';
    expect(await askFile(file, sum)).toEqual(await askSnapshot(story, sum));
    expect(await exists(`${file}.wal`)).toBe(false);
  });

  test('reports it with the counts', async () => {
    const file = join(await newProject(), 'rebuilt.duckdb');
    const { exitCode, stdout } = await runCli(['rebuild', '--dir', story, '--into', file]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /rebuilt\.duckdb: rebuilt from \d+ loads, identical to the current warehouse row for row \(.*hourly_costs \d+, .*reconciliation \d+/,
    );
  });

  test('leaves the present books unchanged, and its result can replace them', async () => {
    const dir = await copyOfStory();
    const before = await readFile(join(dir, 'data', 'warehouse.duckdb'));
    const { file } = await rebuild(dir);
    expect(before.equals(await readFile(join(dir, 'data', 'warehouse.duckdb')))).toBe(true);
    await rm(join(dir, 'data', 'warehouse.duckdb'));
    await cp(file, join(dir, 'data', 'warehouse.duckdb'));
    const platform = await startScriptedPlatform(facts);
    platform.accounts = ['acc_one', 'acc_two'];
    expect(await night(dir, platform, '2026-09-22T04:30:00Z')).toBe(0);
    expect((await rebuild(dir)).answer?.identical).toBe(true);
  });

  test('works without a present warehouse', async () => {
    const dir = await copyOfStory();
    await rm(join(dir, 'data', 'warehouse.duckdb'));
    const file = join(dir, 'data', 'warehouse.duckdb');
    const { exitCode, stdout } = await runCli(['rebuild', '--dir', dir, '--into', file, '--json']);
    expect({ exitCode, identical: (JSON.parse(stdout) as Rebuilt).identical }).toEqual({
      exitCode: 0,
      identical: null,
    });
    expect((await rebuild(dir)).answer?.identical).toBe(true);
  });

  test.each([
    [
      'a changed amount',
      'update ledger.hourly_costs set cost = cost + 0.01 where rowid = (select min(rowid) from ledger.hourly_costs)',
      { hourly_costs: [1, 1] },
    ],
    [
      'a removed restatement',
      'delete from ledger.restatements where load_number = (select max(load_number) from ledger.restatements)',
      'restatements',
    ],
    [
      'an added run',
      "insert into ledger.runs select 99, 'ingest', started_at, ended_at, outcome, 0, null, null from ledger.runs limit 1",
      { runs: [1, 0] },
    ],
    [
      'a comparison with another tolerance',
      'update ledger.reconciliation set tolerance = tolerance * 2 where load_number = 1',
      'reconciliation',
    ],
    [
      'a duplicate row',
      'insert into ledger.covered select * from ledger.covered where load_number = 1 limit 1',
      { covered: [1, 0] },
    ],
  ])('finds %s in the present books, with exit 4', async (_, sql, expected) => {
    const dir = await copyOfStory();
    await tamper(dir, sql);
    const { exitCode, answer, file } = await rebuild(dir);
    expect({ exitCode, identical: answer?.identical }).toEqual({ exitCode: 4, identical: false });
    const found = differing(answer as Rebuilt);
    if (typeof expected === 'string') expect(Object.keys(found)).toEqual([expected]);
    else expect(found).toEqual(expected);
    const shown = answer?.tables.flatMap(({ here, there }) => [...here, ...there]) ?? [];
    expect(shown.length).toBeGreaterThan(0);
    expect(await exists(file), 'what was made is there to be looked at').toBe(true);
  });

  test('shows the row that differs', async () => {
    const dir = await copyOfStory();
    await tamper(dir, "update ledger.accounts set name = 'Another' where name = 'One' and replaced_at is null");
    const file = join(await newProject(), 'rebuilt.duckdb');
    const { exitCode, stdout } = await runCli(['rebuild', '--dir', dir, '--into', file]);
    expect(exitCode).toBe(4);
    expect(stdout).toContain('accounts: 1 row only in the current warehouse, 1 only in the rebuilt one');
    expect(stdout).toMatch(/current: \{"account":"acc_one","name":"Another"/);
    expect(stdout).toMatch(/rebuilt: \{"account":"acc_one","name":"One"/);
  });

  test('refuses a stored page with a changed byte, names load and page, and leaves no file', async () => {
    const dir = await copyOfStory();
    const [load = 0] = await loadsOf(dir, 'acc_one');
    const page = join(dir, 'data', 'landing', 'acc_one', folderOf(load), 'detail-0001.json');
    const bytes = await readFile(page);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await writeFile(page, bytes);
    const { exitCode, stderr, file } = await rebuild(dir);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/load \d+ of account acc_one, window .*detail-0001\.json has changed since it was stored/);
    expect(stderr).toContain(`load ${load} of`);
    expect(await exists(file)).toBe(false);
    expect(await readdir(join(file, '..'))).toEqual([]);
  });

  /** Runs what a command printed for the shell. */
  async function runPrinted(stderr: string, now: string): Promise<string[]> {
    const commands = [...stderr.matchAll(/^costbook: {3}(.*)$/gm)].map(([, command = '']) => command);
    const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
    const script = `set -e; costbook() { "$NODE" "$CLI" "$@"; }\n${commands.join('\n')}`;
    const env = { PATH: process.env['PATH'], NODE: process.execPath, CLI: cli, COSTBOOK_NOW: now };
    await promisify(execFile)('sh', ['-c', script], { env });
    return commands;
  }

  test('names every loss of landing folder and journal at once, and its commands fetch the hours again', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    await writeFile(join(dir, 'my token'), platform.tokens.admin);
    await writeFile(
      join(dir, 'costbook.yaml'),
      `url: ${platform.url}\ntokenFile: my token\naccount: acc_one\nsince: 2026-09-01\ninventory: false\n`,
    );
    const days = ['2026-09-05', '2026-09-10', '2026-09-15', '2026-09-20', '2026-09-21', '2026-09-22'];
    for (const day of days) {
      expect((await runCli(['ingest', '--dir', dir, '--now', `${day}T12:30:00Z`])).exitCode).toBe(0);
    }
    const loads = await askSnapshot(
      dir,
      `select load_number, landing, strftime(window_start, '%Y-%m-%dT%H:%M:%SZ/') as begins from ledger.loads
      where outcome = 'loaded' order by load_number`,
    );
    expect(loads.length).toBeGreaterThanOrEqual(5);
    const [gone, noFile, noPage, torn, moved] = loads.map(({ landing }) =>
      join(dir, 'data', 'landing', String(landing)),
    );
    await rm(String(gone), { recursive: true });
    await rm(join(String(noFile), 'load.json'));
    await rm(join(String(noPage), 'detail-0001.json'));
    await truncate(join(String(torn), 'detail-0001.json'), 100);
    await mkdir(join(dir, 'data', 'landing', 'acc_two'));
    await rename(String(moved), join(dir, 'data', 'landing', 'acc_two', basename(String(moved))));
    await rm(join(dir, 'data', 'journal'), { recursive: true });
    const into = join(dir, 'rebuilt.duckdb');
    const { exitCode, stderr } = await runCli(['rebuild', '--dir', dir, '--into', into]);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/events 1 to \d+ of the journal are missing/);
    const problems = [
      'its folder .* is missing',
      'load\\.json is missing',
      '1 of \\d+ pages are missing',
      'has changed since it was stored \\(100 bytes\\)',
      'its folder is .*acc_two',
    ];
    for (const [index, problem] of problems.entries()) {
      const { load_number, begins } = loads[index] ?? {};
      expect(stderr).toMatch(new RegExp(`load ${load_number} of account acc_one, window ${begins}.*${problem}`));
    }
    const commands = await runPrinted(stderr, '2026-09-22T12:30:00Z');
    expect(commands.at(-1)).toMatch(/^costbook ingest --refetch --from 2026-09-01T00:00:00Z --to/);
    expect(await exists(join(String(moved), 'load.json'))).toBe(true);
    // The hours of the lost loads are those of the books.
    const costs = await costsIn(dir);
    expect(costs).not.toEqual([]);
    for (const row of await costsIn(`${dir}-refetched`)) expect(costs).toContainEqual(row);
    await rm(`${dir}-refetched`, { recursive: true });
  });

  test('names the window of a load with a missing folder, from the snapshot if the warehouse is gone', async () => {
    const dir = await copyOfStory();
    await rm(join(dir, 'data', 'landing'), { recursive: true });
    await rm(join(dir, 'data', 'warehouse.duckdb'));
    const file = join(dir, 'data', 'warehouse.duckdb');
    const { exitCode, stderr } = await runCli(['rebuild', '--dir', dir, '--into', file]);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/load \d+ of account acc_one, window 2026-09-\S+: its folder \S+ is missing/);
    expect(stderr).toContain('costbook ingest --refetch --from 2026-09-01');
    expect(await exists(file)).toBe(false);
  });

  test('does not overwrite an existing file', async () => {
    const file = join(await newProject(), 'mine.txt');
    await writeFile(file, 'mine');
    const { exitCode, stderr } = await runCli(['rebuild', '--dir', story, '--into', file]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${file} already exists`);
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  test('requires --into', async () => {
    const { exitCode, stderr } = await runCli(['rebuild', '--dir', story]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--into is missing');
  });

  /** Starts a rebuild and returns once it is writing its file. */
  async function begun(dir: string): Promise<{ run: Started; folder: string }> {
    const folder = await newProject();
    const run = startCli(['rebuild', '--dir', dir, '--into', join(folder, 'rebuilt.duckdb')]);
    while ((await readdir(folder)).length === 0 && run.process.exitCode === null) await nextTurn();
    return { run, folder };
  }

  test('blocks writers while it reads the present books', async () => {
    const dir = await copyOfStory();
    const { run } = await begun(dir);
    run.process.kill('SIGSTOP');
    const platform = await startScriptedPlatform(facts);
    platform.accounts = ['acc_one', 'acc_two'];
    expect(await night(dir, platform, '2026-09-22T04:30:00Z')).toBe(5);
    run.process.kill('SIGCONT');
    const { exitCode, stdout } = await run.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('identical') });
  });

  test('leaves nothing behind when interrupted', async () => {
    const { run, folder } = await begun(story);
    run.process.kill('SIGINT');
    const { exitCode, stderr } = await run.ended;
    expect(exitCode, stderr).toBe(130);
    expect(await readdir(folder)).toEqual([]);
  });

  test('does not wait for a writer, and ends with 5', async () => {
    const dir = await copyOfStory();
    const writer = await holdAsForeigner(join(dir, 'data', 'warehouse.duckdb'));
    expect((await rebuild(dir)).exitCode).toBe(5);
    await writer.release();
  });
});

test.concurrent('an ingest without the warehouse changes nothing and prints the command that rebuilds it, which works', async () => {
  const { dir, platform } = await loadedProject(facts, { now: '2026-09-20T00:30:00Z' });
  const warehouse = join(dir, 'data', 'warehouse.duckdb');
  const published = await readFile(join(dir, 'data', 'costbook.duckdb'));
  await rm(warehouse);
  const lost = await ingest(dir, platform, { now: '2026-09-20T01:30:00Z' });
  expect(lost.exitCode).toBe(4);
  expect(lost.stderr).toMatch(
    /warehouse\.duckdb is missing.*the snapshot data\/costbook\.duckdb \(load 3, .*loads up to 3/,
  );
  expect(lost.stderr).toContain('Run "costbook repair"');
  expect(published.equals(await readFile(join(dir, 'data', 'costbook.duckdb')))).toBe(true);
  expect((await runCli(['rebuild', '--dir', dir, '--into', warehouse])).exitCode).toBe(0);
  expect((await ingest(dir, platform, { now: '2026-09-20T01:30:00Z' })).exitCode).toBe(0);
  expect((await rebuild(dir)).answer?.identical).toBe(true);
});

test.concurrent('a killed rebuild leaves a part, which the next one into the same file removes', async () => {
  const dir = await copyOfStory();
  const file = join(await newProject(), 'rebuilt.duckdb');
  const killed = startCli(['rebuild', '--dir', dir, '--into', file]);
  while (!(await exists(`${file}.part`))) await nextTurn();
  const second = await runCli(['rebuild', '--dir', dir, '--into', file]);
  killed.process.kill('SIGKILL');
  if ((await killed.ended).exitCode === 137) expect(second.exitCode).toBe(5);
  expect((await runCli(['rebuild', '--dir', dir, '--into', file])).exitCode).toBe(0);
  expect(await readdir(join(file, '..'))).toEqual(['rebuilt.duckdb']);
});

describe.concurrent('the landing folder', () => {
  /** Three nights of one account: one that loads, and two that find nothing new. */
  async function nights(env: Record<string, string>): Promise<{ dir: string; loads: { landing: string }[] }> {
    const { dir, platform } = await projectWithPlatform(facts);
    for (const now of ['2026-09-20T00:30:00Z', '2026-09-20T00:40:00Z', '2026-09-25T00:40:00Z']) {
      const { exitCode } = await ingest(dir, platform, { now, args: now.includes('00:40') ? ['--refetch'] : [], env });
      expect(exitCode).toBe(0);
    }
    const loads = await askSnapshot(
      dir,
      `select landing, outcome, strftime(seen_at, '%d') as day from ledger.loads order by load_number`,
    );
    return { dir, loads: loads as { landing: string }[] };
  }

  test('drops the answers of loads that changed nothing', async () => {
    const { dir, loads } = await nights({});
    const kept = await Promise.all(
      loads.map(async (load) => ({ ...load, landing: '', hasBodies: (await bodies(dir, load.landing)).length > 0 })),
    );
    const [loaded, unchanged] = ['loaded', 'unchanged'].map((outcome) =>
      kept.filter((load) => (load as { outcome?: string }).outcome === outcome),
    );
    expect(loaded?.length).toBeGreaterThan(0);
    expect(unchanged?.length).toBeGreaterThan(0);
    expect(loaded?.every(({ hasBodies }) => hasBodies)).toBe(true);
    expect(unchanged?.some(({ hasBodies }) => hasBodies)).toBe(false);
    expect((await rebuild(dir)).answer?.identical).toBe(true);
  });

  test('keeps them with landing.keep all, and a rebuild reconciles them again', async () => {
    const { dir, loads } = await nights({ COSTBOOK_LANDING_KEEP: 'all' });
    for (const { landing } of loads) expect((await bodies(dir, landing)).length).toBeGreaterThan(0);
    expect((await rebuild(dir)).answer?.identical).toBe(true);
    const last = loads.findLast((load) => (load as { outcome?: string }).outcome === 'unchanged');
    const [name = ''] = await bodies(dir, last?.landing ?? '');
    await writeFile(join(dir, 'data', 'landing', last?.landing ?? '', name), '{}');
    expect((await rebuild(dir)).exitCode).toBe(4);
  });

  test('with landing.keepDays drops the answers of older loads, nothing else', async () => {
    const { dir, loads } = await nights({ COSTBOOK_LANDING_KEEP_DAYS: '4', COSTBOOK_LANDING_KEEP: 'all' });
    const days = new Set<string>();
    for (const load of loads as { landing: string; day?: string }[]) {
      days.add(load.day ?? '');
      expect([load.day, (await bodies(dir, load.landing)).length > 0]).toEqual([load.day, load.day === '25']);
      expect(await exists(join(dir, 'data', 'landing', load.landing, 'load.json'))).toBe(true);
    }
    expect([...days].sort()).toEqual(['20', '25']);
    const { exitCode, stderr } = await rebuild(dir);
    expect(exitCode).toBe(4);
    // Loads that changed nothing are recreated from their reconciliations; the others are named.
    expect(stderr).toContain('is missing answers of 3 loads');
  });
});
