// Second tier: Runs jobs that fail, overlap, are killed and time out; e2e/one-month runs one.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is what a job may say

import { existsSync, watch } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { listen } from '../support/listen.ts';
import { askSnapshot, costsIn, type Ended, newProject, runCli, type Started, startCli } from '../support/project.ts';
import { expectedCosts, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, startSink } from '../support/sink-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2]);
const now = '2026-10-05T12:30:00Z';

interface Project {
  readonly dir: string;
  readonly platform: ScriptedPlatform;
  readonly sink: SinkServer;
}

/** A project with a job `mine` of these lines, in addition to the built-in ones. */
async function project(job = ''): Promise<Project> {
  const dir = await newProject();
  const [platform, sink] = [await startScriptedPlatform(facts), await startSink()];
  await mkdir(join(dir, 'jobs'));
  if (job !== '') await writeFile(join(dir, 'jobs', 'mine.yaml'), `schedule: "15 2 * * *"\n${job}`);
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:\n  hook: { type: webhook, url: "${sink.url}/", secret: sixteen-letters-or-more, allowPrivateNetwork: true }\n`,
  );
  return { dir, platform, sink };
}

function environment({ platform }: Project): Record<string, string> {
  return {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_ACCOUNT: 'acc_one',
    COSTBOOK_SINCE: '2026-09-01',
    COSTBOOK_INVENTORY: 'false',
  };
}

/** A process, for those that are killed, and for schedulers. */
function start(of: Project, args: readonly string[]): Started {
  return startCli([...args, '--dir', of.dir], environment(of));
}

function end(of: Project, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runCli([...args, '--dir', of.dir], { ...environment(of), ...env });
}

function run(of: Project, ...args: readonly string[]): Promise<Ended> {
  return end(of, ['run', ...args, ...(args.includes('--now') ? [] : ['--now', now])]);
}

async function stepsIn(dir: string): Promise<string[]> {
  const rows = await askSnapshot(
    dir,
    `select concat_ws(' ', run_number, position, command_line, outcome, coalesce(exit_code::varchar, '-')) as line
    from run_steps order by run_number, position`,
  );
  return rows.map((row) => String(row['line']));
}

async function runsIn(dir: string): Promise<Record<string, unknown>[]> {
  return askSnapshot(
    dir,
    `select command, outcome, exit_code, error, job, strftime(slot, '%Y-%m-%dT%H:%M:%SZ') as slot from runs order by run_number`,
  );
}

/** Resolves when a request has come in; it is never answered. */
function silent(platform: ScriptedPlatform): Promise<void> {
  return new Promise((resolve) => {
    platform.onRequest = () => {
      resolve();
      return new Promise(() => undefined);
    };
  });
}

describe.concurrent('costbook run', () => {
  test('runs the steps of a job in one run, with a row for each', async () => {
    const of = await project('steps: [ingest, check, { report: { name: cost_by_workspace, format: csv } }, alert]\n');
    const { exitCode, stdout, stderr } = await run(of, 'mine', '--json');
    expect(exitCode, stderr).toBe(0);
    const answer = JSON.parse(stdout) as { run: number; steps: { figures: Record<string, unknown> }[] };
    expect(answer).toMatchObject({ run: 1, job: 'mine', slot: null, exitCode: 0, error: null });
    expect(answer.steps[0]?.figures).toMatchObject({ accounts: 1, rows: 2, unproven: 0 });
    expect(await stepsIn(of.dir)).toEqual([
      '1 1 ingest done 0',
      '1 2 check done 0',
      '1 3 report cost_by_workspace --format csv done 0',
      '1 4 alert done 0',
    ]);
    expect(await runsIn(of.dir)).toEqual([
      { command: 'run mine', outcome: 'done', exit_code: 0, error: null, job: 'mine', slot: null },
    ]);
    expect(await costsIn(of.dir)).toEqual(expectedCosts(facts, 'admin'));
    expect(existsSync(join(of.dir, 'exports', 'cost_by_workspace'))).toBe(true);
    const rebuilt = join(await newProject(), 'rebuilt.duckdb');
    expect((await runCli(['rebuild', '--dir', of.dir, '--into', rebuilt])).stdout).toContain('identical');
  });

  test('publishes what a step wrote for the steps after it, and what the last one wrote at the end of the run', async () => {
    const of = await project();
    await run(of, 'nightly');
    let replaced = 0;
    const watcher = watch(join(of.dir, 'data'), (event, name) => {
      if (event === 'rename' && name === 'costbook.duckdb') replaced += 1;
    });
    try {
      expect((await run(of, 'nightly', '--now', '2026-10-06T12:30:00Z')).exitCode).toBe(0);
    } finally {
      watcher.close();
    }
    // After the ingest, before the alerts read the books, and at the end.
    expect(replaced).toBe(3);
    expect((await stepsIn(of.dir)).at(-1)).toBe('2 3 alert done 0');
  });

  test('prints the files of a report that is a step, with their rows and cost, and no rows', async () => {
    const of = await project('steps: [ingest, { report: { name: cost_by_workspace, format: csv } }]\n');
    const { exitCode, stdout, stderr } = await run(of, 'mine');
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toMatch(/\(\d+ rows?, [\d.]+ USD\) complete through/);
    expect(stdout).toMatch(/cost_by_workspace\S*\.csv/);
    expect(stdout).not.toContain('resource_type');
  });

  test('skips steps that need a failed step; alert still runs', async () => {
    const of = await project('steps: [ingest, check, { report: { name: cost_by_workspace } }, summarize, alert]\n');
    of.platform.tokens.admin = 'another';
    const { exitCode, stderr } = await end(of, ['run', 'mine', '--now', now], { COSTBOOK_TOKEN: 'wrong-token' });
    expect(exitCode, stderr).toBe(3);
    expect(await stepsIn(of.dir)).toEqual([
      '1 1 ingest failed 3',
      '1 2 check done 0',
      '1 3 report cost_by_workspace left_out -',
      '1 4 summarize left_out -',
      '1 5 alert done 0',
    ]);
    expect(of.sink.told.flatMap(({ body }) => body.alerts.map(({ key }) => key))).toContain('run/ingest');
    expect(await readdir(of.dir)).not.toContain('exports');
    const [row] = await runsIn(of.dir);
    expect(row).toMatchObject({ outcome: 'failed', exit_code: 3 });
    expect(String(row?.['error'])).toMatch(/^ingest: .*401[\s\S]*\nreport: ingest failed\nsummarize: ingest failed$/);
    // The next one that goes well says that it is over.
    of.sink.told.length = 0;
    of.platform.tokens.admin = 'wrong-token';
    expect((await end(of, ['run', 'mine', '--now', now], { COSTBOOK_TOKEN: 'wrong-token' })).exitCode).toBe(0);
    const told = of.sink.told.flatMap(({ body }) => body.alerts.map(({ key, transition }) => `${key} ${transition}`));
    expect(told).toContain('run/ingest resolved');
  });

  test('ends with the most important exit code of its steps: 3 before 4', async () => {
    const of = await project('steps: [ingest, check, alert]\n');
    expect((await run(of, 'mine')).exitCode).toBe(0);
    await mkdir(join(of.dir, 'sql', 'checks'), { recursive: true });
    await writeFile(
      join(of.dir, 'sql', 'checks', 'no_cost.sql'),
      '--! about: Nothing costs anything.\n--! severity: fail\nfrom costs\n',
    );
    expect((await run(of, 'mine', '--now', '2026-10-06T12:30:00Z')).exitCode).toBe(4);
    of.platform.failures = [{ times: 999, status: 401, body: { error: 'no', code: 401 } }];
    expect((await run(of, 'mine', '--now', '2026-10-07T12:30:00Z')).exitCode).toBe(3);
    expect((await stepsIn(of.dir)).slice(-3)).toEqual([
      '3 1 ingest failed 3',
      '3 2 check failed 4',
      '3 3 alert done 0',
    ]);
  });

  test('runs only the steps of --only, and names the known ones', async () => {
    const of = await project('steps: [ingest, check, alert]\n');
    expect((await run(of, 'mine', '--only', 'ingest,alert')).exitCode).toBe(0);
    expect(await stepsIn(of.dir)).toEqual(['1 1 ingest done 0', '1 2 alert done 0']);
    const { exitCode, stderr } = await run(of, 'mine', '--only', 'close');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--only: the job mine has no step close; expected one of ingest, check, alert');
  });

  test('--dry-run shows the steps, and runs nothing', async () => {
    const of = await project(
      'steps: [ingest, { close: { month: last } }, { report: { name: focus } }]\nping: { fail: "${NOT_SET}" }\n',
    );
    const { exitCode, stdout } = await run(of, 'mine', '--dry-run');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('next 2026-10-06T02:15:00Z');
    expect(stdout).toContain('1. costbook ingest\n');
    expect(stdout).toContain('2. costbook close 2026-09   (if ingest succeeded)\n');
    expect(stdout).toContain('3. costbook report focus   (if ingest and close succeeded)\n');
    expect(of.platform.requests).toEqual([]);
    expect(await readdir(of.dir)).toEqual(['costbook.yaml', 'jobs']);
  });

  test.each([
    [
      'steps: [{ report: { name: cost_by_workspce } }]',
      /mine\.yaml:\d+:\d+: there is no report "cost_by_workspce" \(did you mean "cost_by_workspace"\?\)/,
    ],
    [
      'steps: [ingest, { report: { name: cost_by_workspace, month: "2026-13" } }]',
      /mine\.yaml:\d+:\d+: --month: .*2026-13.* \(step "report cost_by_workspace --month 2026-13"\)/,
    ],
    [
      'steps: [{ report: { name: focus, focusVersion: "9.9" } }, { report: { name: focus, param: { colour: red } } }]',
      /mine\.yaml:\d+:\d+: .*focusVersion: found "9\.9", expected 1\.4[\s\S]*mine\.yaml:\d+:\d+: --param colour: /,
    ],
    ['steps: [{ ingest: { from: "2026-09-02", to: "2026-09-01" } }]', /mine\.yaml:\d+:\d+: --from must be before --to/],
    ['steps: [{ summarize: { sink: nobody } }]', /mine\.yaml:\d+:\d+: --sink: found "nobody", expected hook/],
    ['steps: [ingest, chek]', /mine\.yaml:2:17: steps: found "chek"/],
  ])('starts nothing if the job is invalid: %s', async (steps, words) => {
    const of = await project(steps);
    for (const args of [[], ['--dry-run']]) {
      const { exitCode, stdout, stderr } = await run(of, 'mine', ...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(words);
    }
    const doctor = await end(of, ['doctor', '--json', '--now', now]);
    expect(doctor.stdout).toMatch(/"fail".*mine\.yaml/);
    expect(await readdir(of.dir)).toEqual(['costbook.yaml', 'jobs']);
  });

  test('ends in order at its timeout: the current step stops, and alert still runs', async () => {
    const of = await project('steps: [ingest, check, alert]\ntimeout: 2s\n');
    void silent(of.platform);
    const { exitCode, stderr } = await run(of, 'mine');
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toContain('the run of mine exceeded its timeout of 2 seconds. Loaded windows stay.');
    const step =
      'set a longer timeout in jobs/mine.yaml, line 3. Then run "costbook run mine" again: it continues from there.';
    expect(stderr).toContain(`Loaded windows stay. ${step.replace('set', 'Set')}\n`);
    const { stdout: told } = await end(of, ['status', '--json', '--now', now]);
    expect(JSON.parse(told).failedIngest).toMatchObject({ next: `Act (operator of Costbook): ${step}` });
    expect(await stepsIn(of.dir)).toEqual(['1 1 ingest failed 7', '1 2 check left_out -', '1 3 alert done 0']);
    expect(of.sink.told.flatMap(({ body }) => body.alerts.map(({ key }) => key))).toContain('run/ingest');
  });

  test('ended by a signal starts no further step, and its row says so', async () => {
    const of = await project('steps: [ingest, check, alert]\n');
    const asked = silent(of.platform);
    const started = start(of, ['run', 'mine', '--now', now]);
    await asked;
    started.process.kill('SIGTERM');
    expect((await started.ended).exitCode).toBe(143);
    expect(await stepsIn(of.dir)).toEqual(['1 1 ingest failed 143', '1 2 check left_out -', '1 3 alert left_out -']);
    expect(await runsIn(of.dir)).toMatchObject([{ outcome: 'failed', exit_code: 143 }]);
    expect(of.sink.told).toEqual([]);
  });

  test('that was killed is found by the next run, with its last step', async () => {
    const of = await project('steps: [ingest, alert]\n');
    expect((await run(of, 'mine')).exitCode).toBe(0);
    const asked = silent(of.platform);
    const started = start(of, ['run', 'mine', '--now', '2026-10-06T12:30:00Z']);
    await asked;
    started.process.kill('SIGKILL');
    await started.ended;
    of.platform.onRequest = () => undefined;
    of.sink.told.length = 0;
    expect((await run(of, 'mine', '--only', 'alert', '--now', '2026-10-06T12:40:00Z')).exitCode).toBe(0);
    expect(of.sink.told.flatMap(({ body }) => body.alerts.map(({ key }) => key))).toContain('run/ingest');
    expect((await stepsIn(of.dir)).slice(2)).toEqual(['2 1 ingest interrupted -', '3 1 alert done 0']);
    expect((await runsIn(of.dir)).map(({ outcome }) => outcome)).toEqual(['done', 'interrupted', 'done']);
  });

  test('for a slot runs once, and stores the missed slots before it', async () => {
    const of = await project('steps: [ingest]\n');
    expect((await run(of, 'mine', '--slot', '2026-10-02T02:15:00Z', '--now', '2026-10-02T02:15:01Z')).exitCode).toBe(0);
    const again = await run(of, 'mine', '--slot', '2026-10-02T02:15:00Z', '--now', '2026-10-02T02:16:00Z');
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('mine has already run for 2026-10-02T02:15:00Z'),
    });
    expect((await run(of, 'mine', '--slot', '2026-10-05T02:15:00Z', '--now', '2026-10-05T09:00:00Z')).exitCode).toBe(0);
    expect(await runsIn(of.dir)).toEqual([
      expect.objectContaining({ outcome: 'done', slot: '2026-10-02T02:15:00Z' }),
      expect.objectContaining({ outcome: 'missed', exit_code: null, slot: '2026-10-03T02:15:00Z' }),
      expect.objectContaining({ outcome: 'missed', exit_code: null, slot: '2026-10-04T02:15:00Z' }),
      expect.objectContaining({ outcome: 'done', slot: '2026-10-05T02:15:00Z' }),
    ]);
    const rebuilt = join(await newProject(), 'rebuilt.duckdb');
    expect((await runCli(['rebuild', '--dir', of.dir, '--into', rebuilt])).stdout).toContain('identical');
    // As of the second, nobody had found out yet.
    const then = await runCli([
      'sql',
      'select count(*) as n from runs',
      '--as-of',
      '2026-10-04T00:00:00Z',
      '--json',
      '--dir',
      of.dir,
    ]);
    expect(JSON.parse(then.stdout)).toMatchObject({ rows: [{ n: 1 }] });
  });

  test('sends a ping at start and end; a failed ping is a warning without the address', async () => {
    const told: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        told.push(`${request.method} ${request.url} ${body}`);
        response.writeHead(request.url?.endsWith('/start') ? 500 : 200).end();
      });
    });
    const port = await listen(server);
    const of = await project(
      'steps: [ingest]\nping: { start: "${HEALTH}/start", success: "${HEALTH}", fail: "${HEALTH}/fail", allowPrivateNetwork: true }\n',
    );
    const env = { HEALTH: `http://127.0.0.1:${port}/MARKED-5f2b9c77` };
    const well = await end(of, ['run', 'mine', '--now', now], env);
    expect(well.exitCode, well.stderr).toBe(0);
    expect(well.stderr).toContain('warning: the start ping of mine failed: 127.0.0.1 answered 500');
    of.platform.failures = [{ times: 99, status: 401, body: { error: 'no', code: 401 } }];
    const badly = await end(of, ['run', 'mine', '--now', '2026-10-06T12:30:00Z'], env);
    expect(badly.exitCode).toBe(3);
    server.close();
    expect(told).toEqual([
      'POST /MARKED-5f2b9c77/start {"job":"mine","event":"start","exitCode":null}',
      'POST /MARKED-5f2b9c77 {"job":"mine","event":"success","exitCode":0}',
      'POST /MARKED-5f2b9c77/start {"job":"mine","event":"start","exitCode":null}',
      'POST /MARKED-5f2b9c77/fail {"job":"mine","event":"fail","exitCode":3}',
    ]);
    for (const { stdout, stderr } of [well, badly]) expect(stdout + stderr).not.toContain('MARKED');
    const unset = await run(of, 'mine');
    expect(unset).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('found ${HEALTH}, which is not set') });
  });
});

describe('costbook schedule', () => {
  const schedulers: Started[] = [];
  afterAll(() => {
    for (const { process } of schedulers) process.kill('SIGKILL');
  });

  function schedule(
    of: Project,
    at: string,
    ...args: readonly string[]
  ): Started & { said(text: string): Promise<string> } {
    const started = start(of, ['schedule', '--now', at, ...args]);
    schedulers.push(started);
    let heard = '';
    started.process.stderr?.on('data', (piece: Buffer) => {
      heard += piece;
    });
    return {
      ...started,
      async said(text) {
        while (!heard.includes(text)) {
          if (started.process.exitCode !== null) throw new Error(`it ended without "${text}": ${heard}`);
          await sleepFor(20);
        }
        return heard;
      },
    };
  }

  let of: Project;
  beforeAll(async () => {
    of = await project('steps: [ingest]\n');
    await writeFile(join(of.dir, 'jobs', 'nightly.yaml'), 'schedule: "15 2 * * *"\nenabled: false\nsteps: [ingest]\n');
    expect((await run(of, 'mine', '--slot', '2026-10-02T02:15:00Z', '--now', '2026-10-02T02:15:01Z')).exitCode).toBe(0);
  });

  test('catches up on missed runs, serves its health, and ends in order', async () => {
    const scheduler = schedule(of, '2026-10-04T09:00:00Z', '--health-port', '0');
    const url = /"url":"([^"]+)"/.exec(await scheduler.said('health.listening'))?.[1] ?? '';
    await scheduler.said('"run.finished"');
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/other`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
    await writeFile(join(of.dir, 'data', 'metrics.prom'), '# TYPE costbook_up gauge\ncostbook_up 1');
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('costbook_up 1\n# HELP');
    expect(metrics).toContain(
      `costbook_schedule_next_run_timestamp_seconds{job_name="mine"} ${Date.parse('2026-10-05T02:15:00Z') / 1000}\n`,
    );
    expect(metrics).toContain('costbook_schedule_last_exit_code{job_name="mine"} 0\n');
    scheduler.process.kill('SIGTERM');
    expect((await scheduler.ended).exitCode).toBe(143);
    expect((await runsIn(of.dir)).map(({ slot, outcome }) => `${slot} ${outcome}`)).toEqual([
      '2026-10-02T02:15:00Z done',
      '2026-10-03T02:15:00Z missed',
      '2026-10-04T02:15:00Z done',
    ]);
  });

  test('serves the dashboard in the same process, with its own metrics', async () => {
    const scheduler = schedule(of, '2026-10-04T09:30:00Z', '--serve', '--port', '0');
    const url = /"url":"([^"]+)"/.exec(await scheduler.said('dashboard.listening'))?.[1] ?? '';
    const overview = await fetch(url);
    expect(overview.status).toBe(200);
    expect(await overview.text()).toContain('<title>Overview');
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('version=0.0.4');
    expect(await metrics.text()).toContain('costbook_schedule_next_run_timestamp_seconds{job_name="mine"}');
    scheduler.process.kill('SIGTERM');
    expect((await scheduler.ended).exitCode).toBe(143);
  });

  test('stops the current run in order, and waits for it', async () => {
    const asked = silent(of.platform);
    const scheduler = schedule(of, '2026-10-05T09:00:00Z');
    await asked;
    scheduler.process.kill('SIGINT');
    expect((await scheduler.ended).exitCode).toBe(130);
    of.platform.onRequest = () => undefined;
    const [last] = (await runsIn(of.dir)).slice(-1);
    expect(last).toMatchObject({ slot: '2026-10-05T02:15:00Z', outcome: 'failed', exit_code: 143 });
  });

  test('next to a second scheduler runs nothing twice, and waits for a manual run', async () => {
    const byHand = await openWarehouse(of.dir);
    const [one, other] = [schedule(of, '2026-10-06T09:00:00Z'), schedule(of, '2026-10-06T09:00:00Z')];
    await one.said('warehouse.waiting');
    await other.said('warehouse.waiting');
    byHand.close();
    await one.said('"run.finished"');
    await other.said('"run.finished"');
    for (const { process } of [one, other]) process.kill('SIGTERM');
    await Promise.all([one.ended, other.ended]);
    const rows = (await runsIn(of.dir)).filter(({ slot }) => slot === '2026-10-06T02:15:00Z');
    expect(rows.map(({ outcome }) => outcome)).toEqual(['done']);
  });

  test('repeats a killed run when it starts, three times at most', async () => {
    for (const attempt of [1, 2, 3]) {
      const asked = silent(of.platform);
      const scheduler = schedule(of, '2026-10-07T09:00:00Z');
      await asked;
      const pid = Number(/"process":(\d+)/.exec(await scheduler.said('"process":'))?.[1]);
      process.kill(pid, 'SIGKILL');
      await scheduler.said('"run.f');
      scheduler.process.kill('SIGTERM');
      await scheduler.ended;
      of.platform.onRequest = () => undefined;
      // Somebody who holds the books finds it out, and says it to readers.
      expect(
        (await runCli(['alert', '--dir', of.dir, '--now', '2026-10-07T10:00:00Z'], environment(of))).exitCode,
        `${attempt}`,
      ).toBe(0);
    }
    const scheduler = schedule(of, '2026-10-07T11:00:00Z');
    await scheduler.said('job.scheduled');
    await sleepFor(1000);
    scheduler.process.kill('SIGTERM');
    expect((await scheduler.ended).stderr).not.toContain('run.started');
    const rows = (await runsIn(of.dir)).filter(({ slot }) => slot === '2026-10-07T02:15:00Z');
    expect(rows.map(({ outcome }) => outcome)).toEqual(Array(3).fill('interrupted'));
  });

  test.each([
    [['--health-port', '70000'], 2, '--health-port: found "70000", expected'],
    [['--health-host', '127.0.0.1'], 2, '--health-host needs --health-port'],
    [['--port', '0'], 2, '--port needs --serve'],
    [['--serve', '--host', '0.0.0.0'], 2, 'expected access tokens'],
    [['--health-port', '1'], 7, 'cannot listen on'],
  ])('is refused with %j', async (args, code, words) => {
    if (code === 7 && process.getuid?.() === 0) args = ['--health-port', new URL(of.platform.url).port]; // root may have any
    const { exitCode, stderr } = await end(of, ['schedule', ...args]);
    expect(exitCode, stderr).toBe(code);
    expect(stderr).toContain(words);
  });

  test('--list lists the valid jobs and reports the mistakes of the others; without it nothing starts', async () => {
    const of = await project('steps: [{ report: { name: nosuch } }]\n');
    await writeFile(join(of.dir, 'jobs', 'other.yaml'), 'schedule: "15 2 * * *"\n');
    await writeFile(join(of.dir, 'jobs', 'third.yml'), '');
    for (const args of [['schedule', '--list'], ['schedule']]) {
      const { exitCode, stdout, stderr } = await end(of, args);
      expect(exitCode).toBe(2);
      expect(stdout === '').toBe(args.length === 1);
      if (args.length > 1) expect(stdout).toMatch(/^month_close .*\n.*^nightly /ms);
      for (const words of [
        'mine.yaml:2:9: there is no report "nosuch"',
        'other.yaml:1:1: found no steps',
        'third.yml: found',
      ]) {
        expect(stderr).toContain(words);
      }
    }
  });

  test('refuses to start if no job is enabled', async () => {
    const idle = await project();
    for (const name of ['nightly', 'month_close']) {
      await writeFile(
        join(idle.dir, 'jobs', `${name}.yaml`),
        'schedule: "15 2 * * *"\nenabled: false\nsteps: [ingest]\n',
      );
    }
    const { exitCode, stderr } = await end(idle, ['schedule']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('no job is enabled') });
  });
});
