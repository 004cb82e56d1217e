// Second tier: Six bad nights, each read by four commands; status, doctor and next-steps have the same words in the first tier.

import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type NextStep, nextWords } from '../../src/base/next-step.ts';
import { ingestCommandLine, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, says, startSink } from '../support/sink-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2]);
const [night, nextNight, thirdNight, fourthNight] = [5, 6, 7, 8].map((day) => `2026-09-0${day}T02:15:00Z`) as [
  string,
  string,
  string,
  string,
];

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const of = await project();
  expect((await of.run(night, 'run', 'nightly')).exitCode).toBe(0);
  await cp(of.dir, loaded, { recursive: true });
});

interface Project {
  readonly dir: string;
  readonly sink: SinkServer;
  readonly platform: ScriptedPlatform;
  run(now: string, ...args: string[]): ReturnType<typeof runCli>;
  /** What every surface says to do: the lines with a next step, without colors and indent. */
  steps(now: string): Promise<Readonly<Record<'status' | 'doctor' | 'alerts' | 'agents', readonly string[]>>>;
}

/** A project with a webhook, and books of one night if there are any. */
async function project(more = ''): Promise<Project> {
  const dir = await newProject();
  if (loaded !== '') await cp(loaded, dir, { recursive: true });
  const [sink, platform] = [await startSink(), await startScriptedPlatform(facts)];
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:\n  hook: { type: webhook, url: "${sink.url}/", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLYLg, allowPrivateNetwork: true }\n${more}`,
  );
  const [, environment] = ingestCommandLine(dir, platform, { now: night });
  const env = { ...environment, COSTBOOK_SINCE: '2026-09-01', COSTBOOK_INVENTORY: 'false' };
  const run = (now: string, ...args: string[]) => runCli([...args, '--dir', dir, '--now', now], env);
  async function stepsOf(now: string, ...args: string[]): Promise<string[]> {
    const { stdout } = await run(now, ...args);
    const lines = stdout.split('\n').map((line) => line.trim().replace(/^→ /, ''));
    return lines.filter((line) => /^(Act \(.+\)|Wait|No action needed): /.test(line));
  }
  return {
    ...{ dir, sink, platform, run },
    steps: async (now) => ({
      status: await stepsOf(now, 'status'),
      doctor: await stepsOf(now, 'doctor', '--offline'),
      alerts: await stepsOf(now, 'alerts', '--open'),
      agents: JSON.parse((await run(now, 'status', '--json')).stdout).problems.map(({ next }: { next: NextStep }) =>
        nextWords(next),
      ),
    }),
  };
}

const everywhere = (...steps: string[]) => ({ status: steps, doctor: steps, alerts: steps, agents: steps });
const keysIn = ({ told }: SinkServer) => told.flatMap(({ body }) => body.alerts.map(({ key }) => key));
const failures = (stdout: string) => stdout.split('\n').filter((line) => line.startsWith('FAIL'));

describe.concurrent('every surface says the same', () => {
  test('of a night that failed: one step, which becomes an act on the second night, once', async () => {
    const of = await project();
    of.platform.failures = [{ times: 10_000, status: 200, headers: { 'content-encoding': 'br' }, body: 'x' }];
    expect((await of.run(nextNight, 'run', 'nightly')).exitCode).toBe(3);
    expect(await of.steps(nextNight)).toEqual(
      everywhere(
        "Wait: the next run, within a day, loads what is missing. If it fails too, ask the platform's support for the reason.",
      ),
    );
    expect(keysIn(of.sink)).toEqual(['run/ingest']);
    const second = await of.run(thirdNight, 'run', 'nightly');
    const act =
      'Act (operator of Costbook): run "costbook run nightly" again: 127.0.0.1 may answer by now. If it fails again, ask the platform\'s support for the reason.';
    expect(second.stdout).toContain(act);
    expect(await of.steps(thirdNight)).toEqual(everywhere(act));
    expect(of.sink.told.map(({ body }) => body.text).filter((text) => text.includes(act))).toHaveLength(1);
    await of.run(fourthNight, 'run', 'nightly');
    expect(of.sink.told.map(({ body }) => body.text).filter((text) => text.includes(act))).toHaveLength(1);
    const doctor = await of.run(fourthNight, 'doctor', '--offline');
    expect(failures(doctor.stdout)).toHaveLength(1);
    expect(doctor.stdout).toMatch(/FAIL {2}runs: the last ingest failed .*\n {6}So: account acc_one is complete only/);
    expect(doctor.stdout).not.toContain('succeeded');
    expect(doctor.exitCode).toBe(4);
  });

  test('of runs that did not start: since when, and the command that fetches what is missing', async () => {
    const of = await project();
    const step =
      'Act (operator of Costbook): start the scheduler (cron or "costbook schedule") again. Then run "costbook run nightly".';
    expect(await of.steps(fourthNight)).toEqual(everywhere(step));
    for (const args of [['status'], ['doctor', '--offline'], ['alerts', '--open']]) {
      const { stdout } = await of.run(fourthNight, ...args);
      expect(stdout).toContain(`no run has fetched costs since ${night}`);
      expect(stdout).not.toContain('No open alerts');
    }
    expect((await of.run(fourthNight, 'alert')).exitCode).toBe(0);
    expect(of.sink.told.at(-1)?.body.text).toContain(`No run has fetched costs since ${night}.`);
    expect(of.sink.told.at(-1)?.body.text).toContain(step);
    expect(await of.steps(fourthNight)).toEqual(everywhere(step));
    const again = await of.run(fourthNight, 'run', 'nightly');
    expect(again.stderr).toContain(`no run has fetched costs since ${night}`);
    expect(await of.steps(fourthNight)).toEqual(everywhere());
  });

  test('of a check that cannot run: one step, and the first line of status says so; what a sink refused comes after it', async () => {
    const refusing = await startSink(...Array.from({ length: 9 }, () => says(403)));
    const of = await project(
      `  late: { type: webhook, url: "${refusing.url}/", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLYLg, allowPrivateNetwork: true }\n`,
    );
    const folder = join(of.dir, 'sql', 'checks');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'mine.sql'),
      '--! about: Every cost is small.\n--! severity: fail\nselect hour from costs',
    );
    expect((await of.run(nextNight, 'run', 'nightly')).exitCode).toBe(2);
    const step = 'Act (operator of Costbook): fix or remove sql/checks/mine.sql, then run "costbook check" again.';
    const late = expect.stringMatching(/^Act \(operator of Costbook\): correct what this reason names/);
    expect(await of.steps(nextNight)).toEqual({
      ...{ status: [late], alerts: [step], agents: [expect.stringContaining('correct what this reason names')] },
      doctor: [step, late, 'Act (operator of Costbook): see "costbook alerts --open".'],
    });
    const { stdout } = await of.run(nextNight, 'status');
    expect(stdout).toMatch(
      /^ALERT: 1 check cannot run\. The books are proven and fresh\.\n\n1 open alert, 1 critical; 1 undelivered message\. .*🔴.*\n\n {2}- 1 message to the sink late /s,
    );
  });

  test('of a damaged warehouse, which any run that loads tells the sinks', async () => {
    const of = await project();
    await writeFile(join(of.dir, 'data', 'warehouse.duckdb'), 'this is no database');
    const step = 'Act (operator of Costbook): run "costbook repair". Then run "costbook run nightly".';
    expect(await of.steps(night)).toMatchObject({ status: ['Act (operator of Costbook): run "costbook repair".'] });
    expect(await of.steps(thirdNight)).toEqual(everywhere(step));
    expect((await of.run(thirdNight, 'ingest')).exitCode).toBe(4);
    expect(keysIn(of.sink)).toEqual(['books']);
    expect(await of.steps(thirdNight)).toEqual(everywhere(step));
    expect(failures((await of.run(thirdNight, 'doctor', '--offline')).stdout)).toHaveLength(1);
    expect((await of.run(thirdNight, 'repair')).exitCode).toBe(0);
    expect((await of.run(thirdNight, 'run', 'nightly')).exitCode).toBe(0);
    expect(await of.steps(thirdNight)).toEqual(everywhere());
  });

  test('of a file of rates that does not exist, while what needs no rates goes on', async () => {
    const of = await project('currency: { code: EUR, rates: rates.csv, source: ECB }\n');
    await mkdir(join(of.dir, 'jobs'), { recursive: true });
    await writeFile(
      join(of.dir, 'jobs', 'budgets.yaml'),
      'budgets: [{ name: all, period: monthly, amount: 500 USD }]\n',
    );
    const { exitCode } = await of.run(nextNight, 'run', 'nightly');
    expect(exitCode).toBe(2);
    expect(keysIn(of.sink)).toEqual(['run/alert']);
    const place = join(of.dir, 'costbook.yaml');
    const step = `Act (operator of Costbook): create the file, or correct the setting currency in ${place}:3:11. Then run "costbook alert" again.`;
    expect(await of.steps(nextNight)).toEqual(everywhere(step));
    expect(of.sink.told.at(-1)?.body.text).toContain(step);
    const status = await of.run(nextNight, 'status');
    expect(status.stdout).toMatch(/^ALERT: .* The books are proven and fresh\.\n/);
    const budgets = await of.run(nextNight, 'budgets');
    expect(budgets).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('500.00') });
    expect(budgets.stderr).toContain('rates.csv: found no such file');
    await writeFile(join(of.dir, 'rates.csv'), 'date,rate\n2026-09,0.9\n');
    expect((await of.run(nextNight, 'alert')).exitCode).toBe(0);
    expect(await of.steps(nextNight)).toEqual(everywhere());
    await rm(join(of.dir, 'rates.csv'));
  });
});

test('doctor never tells to run doctor', async () => {
  const of = await project();
  of.platform.edit = () => '{"unexpected":true}';
  await of.run(nextNight, 'run', 'nightly');
  await writeFile(join(of.dir, 'jobs.csv'), '');
  for (const args of [['doctor'], ['doctor', '--offline'], ['doctor', '--deep', '--offline']]) {
    expect((await of.run(thirdNight, ...args)).stdout).not.toContain('run "costbook doctor"');
  }
  expect(await readFile(join(of.dir, 'costbook.yaml'), 'utf8')).toContain('hook');
});
