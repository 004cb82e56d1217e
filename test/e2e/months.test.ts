// Second tier: Nights on which whole months are compared, as both roles.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  askSnapshot,
  costsIn,
  type Ingested,
  ingest,
  loadedProject,
  projectWithPlatform,
  runCli,
} from '../support/project.ts';
import {
  box,
  expectedCosts,
  type Fact,
  type ScriptedPlatform,
  type Seen,
  series,
} from '../support/scripted-platform.ts';

const disk = { workspace: 'south', type: 'volume', name: 'disk', uuid: 'vol-1', dimension: 'volume_storage_gbs' };

/** Every day's fifth hour from 2026-06-20 to 2026-09-09. */
function daily(of: Omit<Fact, 'hour' | 'cost' | 'usage'>, cost: number): Fact[] {
  return Array.from({ length: 82 }, (_, day) => {
    const date = new Date(Date.UTC(2026, 5, 20 + day)).toISOString().slice(0, 10);
    return series(of, `${date}T05`, [cost]);
  }).flat();
}
const facts = [...daily(box, 1.25), ...daily(disk, 0.5)];
const since = { COSTBOOK_SINCE: '2026-06-20' };

async function night(
  dir: string,
  platform: ScriptedPlatform,
  day: string,
  as: 'admin' | 'member' = 'admin',
): Promise<Ingested> {
  platform.requests.length = 0;
  return ingest(dir, platform, { now: `2026-09-${day}T02:15:00Z`, env: since, as });
}

/** The questions about whole months among the requests of a night: window and grouping. */
function monthsAsked({ requests }: ScriptedPlatform): string[] {
  return requests.filter(isAboutMonths).map(({ query }) => `${query['startTime']}/${query['endTime']}`);
}
function isAboutMonths({ query }: Seen): boolean {
  return query['resolution'] === 'monthly' && query['groupBy'] === 'billing_dimension';
}

/** The months with what they were last compared with, all billing dimensions together. */
function monthReconciliations(dir: string): Promise<Record<string, unknown>[]> {
  return askSnapshot(
    dir,
    `select strftime(window_start, '%Y-%m') as month, ours, theirs, difference, proven
    from reconciliation where check_code = 'month_matches_platform'
    qualify row_number() over (partition by window_start order by run_number desc, attempt desc) = 1
    order by month`,
  );
}

describe.concurrent('monthly totals', () => {
  test.each(['admin', 'member'] as const)(
    'are fetched once, in one request, for every whole month, until the month changes (%s)',
    async (as) => {
      const { dir, platform } = await projectWithPlatform(facts);
      const first = await night(dir, platform, '10', as);
      expect(first.exitCode, first.stderr).toBe(0);
      expect(monthsAsked(platform), 'June began before the books').toEqual([
        '2026-07-01T00:00:00Z/2026-09-01T00:00:00Z',
      ]);
      expect(await monthReconciliations(dir)).toEqual(
        ['2026-07', '2026-08'].map((month) => ({
          ...{ month, ours: '54.250000000000', theirs: '54.250000000000' },
          ...{ difference: '0.000000000000', proven: true },
        })),
      );
      await night(dir, platform, '11', as);
      expect(monthsAsked(platform)).toEqual([]);
    },
  );

  test('are fetched on the night on which a month becomes complete, as in the plan', async () => {
    const { dir, platform } = await loadedProject(facts, { now: '2026-08-31T02:15:00Z', env: since });
    platform.requests.length = 0;
    const planned = await runCli(['plan', '--dir', dir, '--now', '2026-09-01T02:15:00Z', '--json'], {
      COSTBOOK_URL: platform.url,
      COSTBOOK_ACCOUNT: 'acc_one',
      ...since,
    });
    const { verify } = JSON.parse(planned.stdout).accounts[0];
    const months = verify.filter(({ purpose }: { purpose: string }) => purpose === 'months');
    expect(months).toEqual([
      expect.objectContaining({
        request: expect.stringContaining('startTime=2026-08-01T00:00:00Z&endTime=2026-09-01T00:00:00Z'),
      }),
    ]);
    await night(dir, platform, '01');
    expect(monthsAsked(platform)).toEqual(['2026-08-01T00:00:00Z/2026-09-01T00:00:00Z']);
  });

  test('are fetched again for a past month that changed, and match its new hours', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    await night(dir, platform, '10');
    platform.facts = facts.map((fact) =>
      fact.hour.startsWith('2026-07-15') && fact.name === 'box' ? { ...fact, cost: 9.25 } : fact,
    );
    const { exitCode, account, stderr } = await night(dir, platform, '11');
    expect({ exitCode, unproven: account.unproven }, stderr).toEqual({ exitCode: 0, unproven: [] });
    expect(monthsAsked(platform)).toEqual(['2026-07-01T00:00:00Z/2026-08-01T00:00:00Z']);
    const [july] = await monthReconciliations(dir);
    expect(july).toMatchObject({ month: '2026-07', ours: '62.250000000000', difference: '0.000000000000' });
    await night(dir, platform, '12');
    expect(monthsAsked(platform)).toEqual([]);
  });

  test('that differ from the days name the month and the dimension, with exit 4, until they match', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.tells = (seen, truth) =>
      isAboutMonths(seen)
        ? truth.map((fact) =>
            fact.hour.startsWith('2026-07-15') && fact.name === 'box' ? { ...fact, cost: 1.5 } : fact,
          )
        : truth;
    const told = {
      start: '2026-07-01T00:00:00Z',
      end: '2026-08-01T00:00:00Z',
      reason: expect.stringMatching(
        /sandbox_compute_runtime_gbs on 2026-07: found 38.75\d*, expected 39.0\d*, difference -0.25\d*, rounding explains .* contradict/,
      ),
      costDifference: '0.250000000000',
    };
    for (const day of ['10', '11']) {
      const { exitCode, account } = await night(dir, platform, day);
      expect({ day, exitCode, unproven: account.unproven }).toEqual({ day, exitCode: 4, unproven: [told] });
      expect(await costsIn(dir), 'the books stay as the hours prove').toEqual(expectedCosts(facts, 'admin'));
    }
    expect(await monthReconciliations(dir)).toMatchObject([
      { month: '2026-07', difference: '-0.250000000000', proven: false },
      { month: '2026-08', difference: '0.000000000000', proven: true },
    ]);
    const status = await runCli(['status', '--dir', dir, '--now', '2026-09-11T02:15:00Z', '--exit-code']);
    expect(status.exitCode).toBe(4);

    platform.tells = (_, truth) => truth;
    const healed = await night(dir, platform, '12');
    expect({ exitCode: healed.exitCode, unproven: healed.account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    await night(dir, platform, '13');
    expect(monthsAsked(platform)).toEqual([]);
  });

  test('show a day that changed after daily totals were fetched: it is fetched again', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const env = { ...since, COSTBOOK_VERIFY_DAYS: '0', COSTBOOK_DEEP_VERIFY_PAGES: '0' };
    await ingest(dir, platform, { now: '2026-09-10T02:15:00Z', env });
    // August is queried once more because of its first day, which also reveals its second.
    platform.facts = facts.map((fact) =>
      ['2026-08-01', '2026-08-02'].some((day) => fact.hour.startsWith(day)) ? { ...fact, cost: 3 } : fact,
    );
    await ingest(dir, platform, {
      now: '2026-09-11T02:15:00Z',
      env,
      args: ['--refetch', '--from', '2026-08-01', '--to', '2026-08-02'],
    });
    const { exitCode, stderr } = await ingest(dir, platform, { now: '2026-09-11T02:15:00Z', env });
    expect(exitCode, stderr).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    expect(await monthReconciliations(dir)).toMatchObject([
      { month: '2026-07' },
      { difference: '0.000000000000', proven: true },
    ]);
  });

  test('of an unsettled month are fetched again the next night, and are no contradiction', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const last = (seen: Seen, truth: readonly Fact[]) =>
      isAboutMonths(seen)
        ? truth.map((fact) => (fact.hour.startsWith('2026-08-31') ? { ...fact, cost: fact.cost * 2 } : fact))
        : truth;
    platform.tells = last;
    const { exitCode, account } = await night(dir, platform, '01');
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect((await monthReconciliations(dir)).map(({ month, proven }) => [month, proven])).toEqual([
      ['2026-07', true],
      ['2026-08', false],
    ]);
    platform.tells = (_, truth) => truth;
    await night(dir, platform, '02');
    expect(monthsAsked(platform)).toEqual(['2026-08-01T00:00:00Z/2026-09-01T00:00:00Z']);
    expect((await monthReconciliations(dir)).map(({ proven }) => proven)).toEqual([true, true]);
  });

  test('of a month without costs are fetched once too', async () => {
    const { dir, platform } = await projectWithPlatform(facts.filter(({ hour }) => !hour.startsWith('2026-07')));
    await night(dir, platform, '10');
    expect((await monthReconciliations(dir))[0]).toMatchObject({
      month: '2026-07',
      ours: '0.000000000000',
      proven: true,
    });
    await night(dir, platform, '11');
    expect(monthsAsked(platform)).toEqual([]);
  });

  test('are the same after a rebuild', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = (seen) => (isAboutMonths(seen) ? 2 : 0);
    const { account } = await night(dir, platform, '10');
    expect(account.unproven).toEqual([
      expect.objectContaining({
        reason: expect.stringMatching(/rows of the pages add up to the total of the answer \(months\)/),
      }),
    ]);
    platform.lie = () => 0;
    await night(dir, platform, '11');
    expect((await monthReconciliations(dir)).length).toBe(2);
    const { exitCode, stderr } = await runCli(['rebuild', '--dir', dir, '--into', join(dir, 'again.duckdb'), '--json']);
    expect(exitCode, stderr).toBe(0);
  });
});
