import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ingest, newProject, runCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const box = { type: 'sandbox', dimension: 'sandbox_compute_runtime_gbs', workspace: 'north', name: 'box' };
  const platform = await startScriptedPlatform(series({ ...box, uuid: 'sbx-1' }, '2026-09-03T05', [1, 2]));
  await ingest(loaded, platform, { now: '2026-09-05T12:30:00Z' });
});

/** A project with these checks in addition to the built-in ones. */
async function projectWith(checks: Readonly<Record<string, string>>): Promise<string> {
  const dir = await newProject();
  await cp(join(loaded, 'data', 'costbook.duckdb'), join(dir, 'data', 'costbook.duckdb'), { recursive: true });
  await mkdir(join(dir, 'sql', 'checks'), { recursive: true });
  for (const [name, text] of Object.entries(checks)) await writeFile(join(dir, 'sql', 'checks', `${name}.sql`), text);
  return dir;
}

function check(severity: string, sql: string): string {
  return `--! about: As it should be.\n--! severity: ${severity}\n${sql}\n`;
}

interface Told {
  completeThrough: string;
  checks: { name: string; severity: string; about: string; offenders: number | null; rows: unknown[]; error: string }[];
}

describe.concurrent('costbook check', () => {
  test('passes books from an ingest with exit 0', async () => {
    const { exitCode, stdout, stderr } = await runCli(['check', '--dir', await projectWith({})]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('complete through 2026-09-05T10:00:00Z, settled through 2026-09-02T10:00:00Z');
    expect(lines.slice(0, -1).filter((line) => !line.startsWith('pass  '))).toEqual([]);
    expect(lines).toContain('pass  costs_show_every_hourly_cost');
  });

  test('exits 4 if a check of severity fail finds rows, shows some of them and counts all', async () => {
    const dir = await projectWith({
      mine: check('fail', 'select i as number from range(3000) as t(i) -- all of them'),
    });
    const { exitCode, stdout, stderr } = await runCli(['check', '--dir', dir]);
    expect(exitCode).toBe(4);
    expect(stdout).toContain('FAIL  mine: 3000 offenders\n      Expected: As it should be.\n      number\n');
    expect(stdout).toContain('\n           9\n      (the first 10 of 3000)\n');
    expect(stderr).toBe(
      `check mine: found 3000 rows, expected none; ${join(dir, 'sql', 'checks', 'mine.sql')} explains them\n`,
    );
  });

  test('exits 0 with a warning if only checks of severity warn find rows', async () => {
    const dir = await projectWith({ mine: check('warn', 'select 1 as one') });
    const { exitCode, stdout, stderr } = await runCli(['check', '--dir', dir]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('warn  mine: 1 offender\n');
    expect(stderr).toMatch(/^warning: check mine: found 1 row, expected none; .*mine\.sql explains them\n$/);
  });

  test('exits 2 with the place of an SQL error in a check, and runs the other checks', async () => {
    const dir = await projectWith({
      aaa: check('fail', 'select account\nfrom nosuch'),
      bbb: check('fail', 'delete from ledger.hourly_costs'),
      ccc: check('fail', `select * from read_text('/etc/passwd')`),
      zzz: check('fail', 'select 1 as one'),
    });
    const { exitCode, stdout, stderr } = await runCli(['check', '--dir', dir, '--json']);
    expect(exitCode).toBe(2);
    const path = join(dir, 'sql', 'checks');
    expect(stderr).toContain(`${path}/aaa.sql:4: Catalog Error: Table with name nosuch does not exist!`);
    expect(stderr).toContain(`${path}/bbb.sql: DELETE is refused: the books are read-only`);
    expect(stderr).toMatch(/ccc\.sql(:3)?: Permission Error/);
    const files = ['aaa', 'bbb', 'ccc'].map((name) => `sql/checks/${name}.sql`).join(', ');
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      `costbook: Fix or remove ${files}, then run "costbook check" again.`,
    );
    const { checks } = JSON.parse(stdout) as Told;
    const told = Object.fromEntries(checks.map(({ name, offenders }) => [name, offenders]));
    expect(told).toMatchObject({ aaa: null, bbb: null, ccc: null, daily_equals_hourly: 0, zzz: 1 });
  });

  test('answers --json with every check, its offenders and the complete-through instant', async () => {
    const dir = await projectWith({ mine: check('fail', 'select account, cost from costs order by cost') });
    const { exitCode, stdout } = await runCli(['check', '--dir', dir, '--json']);
    expect(exitCode).toBe(4);
    const { completeThrough, checks } = JSON.parse(stdout) as Told;
    expect(completeThrough).toBe('2026-09-05T10:00:00Z');
    expect(checks.find(({ name }) => name === 'mine')).toEqual({
      name: 'mine',
      severity: 'fail',
      about: 'As it should be.',
      offenders: 2,
      rows: [
        { account: 'acc_one', cost: '1.000000000000' },
        { account: 'acc_one', cost: '2.000000000000' },
      ],
      error: null,
    });
    expect(checks.find(({ name }) => name === 'costs_show_every_hourly_cost')).toMatchObject({
      offenders: 0,
      rows: [],
    });
  });

  test('lists the checks with --list, without opening the books', async () => {
    const dir = await newProject();
    const { exitCode, stdout } = await runCli(['check', '--list', '--dir', dir]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^fail {2}costs_show_every_hourly_cost +The joins of view costs drop/m);
    const { stdout: json } = await runCli(['check', '--list', '--json', '--dir', dir]);
    expect(JSON.parse(json)).toContainEqual({
      name: 'usage_is_not_negative',
      severity: 'warn',
      about: 'No usage is negative. (A cost may be: it is a credit.)',
    });
  });

  test.each([
    ['no severity', '--! about: x\nselect 1\n', 'the header has no "--! severity:" line; expected fail or warn'],
    ['another severity', check('loud', 'select 1'), 'the severity is "loud"; expected fail or warn'],
  ])('refuses a check with %s', async (_, text, words) => {
    const dir = await projectWith({ mine: text });
    const { exitCode, stderr } = await runCli(['check', '--dir', dir]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`mine.sql:1:1: ${words}`);
  });
});

test('the alert of a check is not shown as open once the check passes', async () => {
  const dir = await newProject();
  await cp(loaded, dir, { recursive: true });
  const file = join(dir, 'sql', 'checks', 'mine.sql');
  await mkdir(join(dir, 'sql', 'checks'), { recursive: true });
  await writeFile(file, check('fail', 'select 1 as one'));
  const at = ['--dir', dir, '--now', '2026-09-05T12:30:00Z'];
  expect((await runCli(['alert', ...at])).exitCode).toBe(0);
  const shown = async () => {
    const [status, alerts] = [await runCli(['status', ...at]), await runCli(['alerts', '--open', ...at])];
    return [/check mine/i.test(status.stdout), !alerts.stdout.includes('check mine passes again')];
  };
  expect(await shown()).toEqual([true, true]);
  await writeFile(file, check('fail', 'select 1 as one where false'));
  expect(await shown()).toEqual([false, false]);
});
