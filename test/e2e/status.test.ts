import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { unendedProblem } from '../../src/health/unended-words.ts';
import {
  askSnapshot,
  costsIn,
  ingest,
  ingestCommandLine,
  loadedProject,
  newProject,
  projectWithPlatform,
  runCli,
} from '../support/project.ts';
import { box, expectedCosts, type Seen, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const disk = { workspace: 'south', type: 'volume', name: 'disk', uuid: null, dimension: 'volume_storage_gbs' };
/** An hour each in the first week and in the last two days. */
const facts = [
  ...series(box, '2026-09-02T05', [1]),
  ...series(box, '2026-09-11T05', [1.123456789]),
  ...series(disk, '2026-09-12T20', [0.5]),
];
const now = '2026-09-13T00:30:00Z';
const anHourLater = '2026-09-13T01:30:00Z';

async function status(dir: string, at: string, args: readonly string[] = []) {
  const json = await runCli(['status', '--dir', dir, '--now', at, '--json', '--exit-code', ...args]);
  return { exitCode: json.exitCode, ...JSON.parse(json.stdout) };
}

/** Books of an ingest of these facts, for tests that read them. */
let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  expect((await ingest(loaded, await startScriptedPlatform(facts), { now })).exitCode).toBe(0);
});

/** A project with these books, for tests that change it. */
async function copyOfLoaded(): Promise<string> {
  const dir = await newProject();
  await cp(loaded, dir, { recursive: true });
  return dir;
}

/** Answers grouped by billing dimension have another cost for an hour than the rows. */
function contradicts(hour: string) {
  return ({ query }: Seen, truth: typeof facts) =>
    query['resolution'] === 'hourly' && !query['groupBy']?.includes('resource_name')
      ? truth.map((fact) => (fact.hour === hour ? { ...fact, cost: fact.cost + 0.25 } : fact))
      : truth;
}

describe.concurrent('status', () => {
  test('shows first hour, complete-through, role, unknown dimensions and the last run', async () => {
    const { dir } = await loadedProject(facts, { now, as: 'member' });
    expect(await status(dir, now)).toMatchObject({
      exitCode: 0,
      isTrustworthy: true,
      freshnessHours: 30,
      accounts: [
        {
          account: 'acc_one',
          role: 'member',
          firstCovered: '2026-09-01T00:00:00Z',
          completeThrough: '2026-09-12T22:00:00Z',
          settledThrough: '2026-09-09T22:00:00Z',
          isTooOld: false,
          totalDecimals: { cost: 9, usage: 3 },
          unknownWorkspaceCost: '0.500000000000',
          unproven: [],
          postponed: [],
          lastRun: { runNumber: 1, exitCode: 0, error: null },
        },
      ],
      lastRun: { command: 'ingest', exitCode: 0 },
    });
  });

  test('--exit-code ends with 4 if complete-through is older than freshness, and says so', async () => {
    const dir = loaded;
    expect((await status(dir, '2026-09-14T03:59:00Z')).exitCode).toBe(0);
    const late = await status(dir, '2026-09-14T04:01:00Z');
    expect({ exitCode: late.exitCode, isTooOld: late.accounts[0].isTooOld }).toEqual({ exitCode: 4, isTooOld: true });
    const text = await runCli(['status', '--dir', dir, '--now', '2026-09-14T04:01:00Z']);
    expect(text.exitCode, 'nobody asked for the exit code').toBe(0);
    expect(text.stdout).toMatch(/30 h 1 min ago; the limit is 30 h/);
    expect(text.stdout).toContain('30 h 1 min ago  TOO OLD');
    const patient = await runCli(['status', '--dir', dir, '--now', '2026-09-14T04:01:00Z', '--exit-code'], {
      COSTBOOK_FRESHNESS: '48h',
    });
    expect(patient.exitCode).toBe(0);
  });

  test('ignores the age of an account that is no longer configured', async () => {
    const dir = loaded;
    const args = ['status', '--dir', dir, '--now', '2026-10-01T00:00:00Z', '--exit-code', '--json'];
    const other = { COSTBOOK_URL: 'http://127.0.0.1:9', COSTBOOK_TOKEN: 'tok', COSTBOOK_ACCOUNT: 'acc_two' };
    const { exitCode, stdout } = await runCli(args, other);
    expect(JSON.parse(stdout).accounts[0]).toMatchObject({ account: 'acc_one', isConfigured: false, isTooOld: true });
    expect(exitCode).toBe(0);
  });

  test('is refused if the configuration is wrong', async () => {
    const dir = loaded;
    const { exitCode, stderr } = await runCli(['status', '--dir', dir], { COSTBOOK_FRESHNES: '1h' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('COSTBOOK_FRESHNESS');
  });
});

describe('the screen', () => {
  const csi = '\u001b[';

  test('starts with the answer, then the reasons, and fits on one screen', async () => {
    const { dir, platform } = await loadedProject(facts, { now });
    const good = await runCli(['status', '--dir', dir, '--now', now]);
    expect(good.stdout.split('\n')[0]).toBe('YES: everything in the books is proven and fresh.');
    expect(good.stdout, 'how the platform writes its totals is no concern of a reader').not.toContain('decimals');
    platform.tells = (request, truth) => contradicts('2026-09-02T05')(request, [...truth]);
    await ingest(dir, platform, { now: '2026-09-14T00:30:00Z', args: ['--refetch'] });
    const bad = await runCli(['status', '--dir', dir, '--now', '2026-09-16T00:30:00Z']);
    const lines = bad.stdout.split('\n');
    expect(lines[0]).toMatch(
      /^NO: 0\.\d+ USD: costs of account acc_one in 2026-09 differ from the platform's totals \(\d+ windows?.*\)\.$/,
    );
    expect(lines[1]).toMatch(
      /^ {4}So: account acc_one is complete only through .*, \d+ (h|days \(\d+ h\)) ago; the limit is 30 h; later costs are in the books, except/,
    );
    expect(lines[2]).toMatch(/^ {4}Wait: the next run fetches these hours again/);
    expect(bad.stdout.match(/Wait: the next/g)).toHaveLength(1);
    expect(bad.stdout, 'the failed ingest is the same fact').not.toContain('the last ingest failed');
    expect(lines.length).toBeLessThan(24);
    const { reasons } = await status(dir, '2026-09-16T00:30:00Z');
    expect(lines[0]).toBe(`NO: ${reasons[0]}.`);
    expect(lines[1]).toContain(`    So: ${reasons[1]}; `);
  });

  test('shows once why an ingest failed, as alerts and doctor do', async () => {
    const dir = await copyOfLoaded();
    const [, env] = ingestCommandLine(
      dir,
      { url: 'http://127.0.0.1:9', tokens: { admin: 'tok', member: 'tok' } },
      { now },
    );
    const at = ['--dir', dir, '--now', anHourLater];
    expect((await runCli(['run', 'nightly', '--only', 'ingest,alert', ...at], env)).exitCode).toBe(3);
    const [screen, alerts, doctor] = await Promise.all(
      [['status'], ['alerts', '--open'], ['doctor', '--offline']].map((args) => runCli([...args, ...at], env)),
    );
    expect(screen?.stdout.match(/ECONNREFUSED/g)).toHaveLength(1);
    expect(alerts?.stdout).toMatch(/ingest failed\n.*ECONNREFUSED/);
    expect(doctor?.stdout).toMatch(/WARN {2}runs: the last ingest failed at .*ECONNREFUSED/);
    expect(doctor?.stdout.match(/ECONNREFUSED/g)).toHaveLength(1);
    expect(doctor?.stdout).not.toContain('Check the URL');
    const step =
      'Act (operator of Costbook): check whether the platform is up. If it is, check its address (url in costbook.yaml, or COSTBOOK_URL), the network and the proxy settings. Then run "costbook run nightly" again.';
    for (const answer of [screen, alerts, doctor]) expect(answer?.stdout).toContain(step);
  });

  test('names the mistakes of files in jobs/, what they stop and what to do', async () => {
    const dir = await copyOfLoaded();
    await mkdir(join(dir, 'jobs'));
    await writeFile(
      join(dir, 'jobs', 'nightly.yaml'),
      'schedule: "15 2 * * *"\nsteps: [ingst, report: { name: focuss }]\n',
    );
    await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets: 3\n');
    const { stdout } = await runCli(['status', '--dir', dir, '--now', now]);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^ALERT/);
    expect(lines[1]).toMatch(/jobs\/nightly\.yaml:2:9: .*"ingst"/);
    expect(lines[2]).toMatch(/jobs\/nightly\.yaml:2:16: .*"focuss"/);
    expect(lines[3]).toBe('    So: "costbook run nightly" and "costbook schedule" do not start');
    expect(lines[4]).toBe(
      '    Act (operator of Costbook): correct the file. "costbook schedule --list" shows whether it is right.',
    );
    expect(lines[5]).toMatch(/jobs\/budgets\.yaml:1:10: /);
    expect(lines[6]).toBe('    So: budgets are not evaluated');
    expect(lines[7]).toBe('    Act (operator of Costbook): fix this. Then run "costbook alert" again.');
    const { jobFiles } = await status(dir, now);
    expect(jobFiles.map(({ mistakes }: { mistakes: string[] }) => mistakes.length)).toEqual([2, 1]);
  });

  test('has colours on a terminal, and none in a pipe or with --no-color', async () => {
    const dir = loaded;
    async function screen(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
      return (await runCli(['status', '--dir', dir, '--now', now, ...args], env)).stdout;
    }
    const plain = await screen([], {});
    expect(plain).not.toContain(csi);
    const colourful = await screen([], { FORCE_COLOR: '1' });
    expect(colourful).toContain(`${csi}32m`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal takes as a colour begins with one
    expect(colourful.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
    expect(await screen([], { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(plain);
    expect(await screen(['--no-color'], { FORCE_COLOR: '1' })).toBe(plain);
    const { stdout } = await runCli(['status', '--dir', dir, '--now', now, '--json'], { FORCE_COLOR: '1' });
    expect(stdout).not.toContain(csi);
  });

  test('shows recent restatements and pending messages', async () => {
    const { dir } = await loadedProject(facts, { now });
    const later = await startScriptedPlatform(facts.map((fact) => ({ ...fact, cost: fact.cost * 2 })));
    await ingest(dir, later, { now: anHourLater, args: ['--refetch'] });
    const told = await status(dir, anHourLater);
    expect(told.restated).toMatchObject({ hours: 3, cost: '2.623456789000', firstDay: '2026-09-02' });
    expect(told.alerts).toEqual({ open: 0, critical: 0, messagesWaiting: 0, waiting: [], list: [] });
    const { stdout } = await runCli(['status', '--dir', dir, '--now', anHourLater]);
    expect(stdout).toContain('+2.62 USD in 2026-09. All numbers include it');
  });
});

describe.concurrent('young hours that do not match', () => {
  const young = '2026-09-12T20';

  test('are left to the next run with a warning and exit 0, and are not unproven', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.tells = (request, truth) => contradicts(young)(request, [...truth]);
    const { exitCode, account, stderr } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(account.postponed).toEqual([
      {
        start: '2026-09-12T20:00:00Z',
        end: '2026-09-12T21:00:00Z',
        reason: expect.stringMatching(
          /volume_storage_gbs differs in 1 hour of 2026-09-12T20:00:00Z\/2026-09-12T21:00:00Z, by -0\.25 USD/,
        ),
        costDifference: '0.250000000000',
        nights: 1,
      },
    ]);
    expect(account.completeThrough).toBe('2026-09-12T20:00:00Z');
    expect(stderr).toContain('window.young');
    expect(await costsIn(dir)).toEqual(expectedCosts(facts.slice(0, 2), 'admin'));
    expect(await status(dir, now)).toMatchObject({
      exitCode: 0,
      accounts: [{ unproven: [], postponed: [{ start: '2026-09-12T20:00:00Z' }] }],
    });

    platform.tells = (_, truth) => truth;
    const next = await ingest(dir, platform, { now: anHourLater });
    expect({ exitCode: next.exitCode, postponed: next.account.postponed }).toEqual({ exitCode: 0, postponed: [] });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    expect((await status(dir, anHourLater)).accounts[0].postponed).toEqual([]);
  });

  test('are unproven with exit 4 once the books are older than freshness', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.tells = (request, truth) => contradicts('2026-09-11T05')(request, [...truth]);
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, completeThrough: account.completeThrough }).toEqual({
      exitCode: 4,
      completeThrough: '2026-09-11T05:00:00Z',
    });
  });

  test('are unproven with exit 4 once they are settled', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.tells = (request, truth) => contradicts('2026-09-02T05')(request, [...truth]);
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven.length }).toEqual({ exitCode: 4, unproven: 1 });
    const told = await status(dir, now);
    expect(told).toMatchObject({
      exitCode: 4,
      isTrustworthy: false,
      accounts: [{ unproven: [{ reason: expect.stringContaining('differs in 1 hour') }], lastRun: { exitCode: 4 } }],
    });
  });
});

describe.concurrent('proof.tolerance', () => {
  test('replaces the computed tolerance, and the difference is still stored', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = ({ query }) => (query['groupBy']?.includes('resource_uuid') ? 0.02 : 0);
    const strict = await ingest(dir, platform, { now });
    expect(strict.exitCode).toBe(4);
    const { exitCode } = await ingest(dir, platform, { now, env: { COSTBOOK_PROOF_TOLERANCE: '0.05' } });
    expect(exitCode).toBe(0);
    expect(
      await askSnapshot(
        dir,
        `select distinct difference, tolerance, proven from reconciliation
        where check_code = 'pages_match_total.detail' and load_number is not null`,
      ),
    ).toEqual([{ difference: '-0.020000000000', tolerance: 0.05, proven: true }]);
  });
});

test('names an export of books that these do not have, and what replaces it', async () => {
  const { dir, platform } = await projectWithPlatform(series(box, '2026-09-03T05', [1, 2]));
  const at = (day: string) => ['--dir', dir, '--now', `2026-09-${day}T13:00:00Z`];
  await ingest(dir, platform, { now: '2026-09-10T12:30:00Z' });
  await runCli(['report', 'summary', ...at('10')]);
  await rm(join(dir, 'data'), { recursive: true });
  await ingest(dir, platform, { now: '2026-09-11T12:30:00Z' });
  const lost = await runCli(['status', ...at('11')]);
  expect(lost.stdout).toContain('these books began at 2026-09-11T12:30:00Z');
  const [, words = ''] = /If there is none, run "costbook ([^"]+)"/.exec(lost.stdout) ?? [];
  expect((await runCli([...words.split(' '), ...at('11')])).exitCode).toBe(0);
  const { stdout } = await runCli(['status', '--json', ...at('11')]);
  expect(JSON.parse(stdout)).toMatchObject({ isTrustworthy: true, earlierBooks: null, begun: '2026-09-11T12:30:00Z' });
  // Without an export, nothing else tells that there were books.
  expect(lost.stdout).toContain('books begun at 2026-09-11T12:30:00Z');
  expect((await runCli(['doctor', '--offline', ...at('11')])).stdout).toContain(
    'these books began at 2026-09-11T12:30:00Z',
  );
});

test('a close that was killed is named with a step that works as it is printed', () => {
  const killed = { runNumber: 4, startedAt: '2026-10-05T03:00:00Z', step: undefined, isActive: false };
  const close = { ...killed, command: 'close', commandLine: 'close 2026-09 --invoice acc_one=7.01' };
  expect(unendedProblem(close, 0)[0]?.next).toMatchObject({
    ...{ who: 'Act', words: expect.stringContaining('"costbook close 2026-09 --invoice acc_one=7.01"') },
  });
});

test('at the end of the calendar is refused as a mistake, not as a bug', async () => {
  const { exitCode, stderr } = await runCli(['status', '--dir', loaded, '--now', '9999-12-31']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('expected an instant before 9000-01-01T00:00:00Z')]);
});
