// Second tier: Windows whose totals lie, each read several times.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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
import {
  box,
  expectedCosts,
  type Fact,
  type Seen,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

/** Three windows: 13th to 20th, 6th to 13th, 1st to 6th. */
const now = '2026-09-20T00:30:00Z';
const oldest = series(box, '2026-09-02T05', [1.25, 2.5]);
const middle = series(box, '2026-09-08T05', [3.000000001, 4]);
const newest = series(box, '2026-09-18T05', [5, 6]);
const facts: readonly Fact[] = [...oldest, ...middle, ...newest];

/** Requests about the week from this day, or about a part of it. */
function isAbout(day: string): (request: Seen) => boolean {
  const start = Date.parse(`${day}T00:00:00Z`);
  return (request) => request.start >= start && request.start < start + 7 * 86_400_000;
}

function liesAbout(start: string, by = 0.01): (request: Seen) => number {
  const hit = isAbout(start);
  return (request) => (hit(request) ? by : 0);
}

async function unprovenIn(dir: string): Promise<unknown[]> {
  return askSnapshot(
    dir,
    `select strftime(window_start, '%m-%d') || '/' || strftime(window_end, '%m-%d') as days from ledger.unproven order by 1`,
  );
}

describe.concurrent('a window with wrong totals', () => {
  test('is not loaded, with exit 4 and the difference; the others are loaded', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-06');
    const { exitCode, account, stderr } = await ingest(dir, platform, { now });

    expect(exitCode).toBe(4);
    expect(account.unproven).toEqual([
      {
        start: '2026-09-06T00:00:00Z',
        end: '2026-09-13T00:00:00Z',
        reason: expect.stringContaining('0.01'),
        costDifference: '0.010000000000',
        nights: 1,
      },
    ]);
    expect(account.unproven[0]?.reason).toContain(
      'found 7.000000001, expected 7.010000001, difference -0.01, rounding explains 0.00000000',
    );
    expect(stderr).toContain('2026-09-06T00:00:00Z/2026-09-13T00:00:00Z');
    expect(await costsIn(dir)).toEqual(expectedCosts([...oldest, ...newest], 'admin'));
    expect(account).toMatchObject({ windows: 2, completeThrough: '2026-09-06T00:00:00Z' });
    expect(
      await askSnapshot(dir, 'select outcome, exit_code, error from runs order by run_number desc limit 1'),
    ).toEqual([
      {
        outcome: 'failed',
        exit_code: 4,
        error: expect.stringContaining('2026-09-06T00:00:00Z/2026-09-13T00:00:00Z'),
      },
    ]);
  });

  test('leaves the failed comparisons in reconciliation, without a load', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-06');
    await ingest(dir, platform, { now });
    expect(
      await askSnapshot(
        dir,
        `select strftime(window_start, '%m-%d') as day, check_code, measure, ours, theirs, difference, load_number
        from reconciliation where not proven and attempt = 2 order by check_code`,
      ),
    ).toEqual([failed('pages_match_total.control'), failed('pages_match_total.detail'), failed('rows_match_control')]);
    const [others] = await askSnapshot(
      dir,
      `select count(*) filter (not proven) as failed, count(*) filter (load_number is null) as without_load, count(*) > 0 as any
      from reconciliation where window_start not between '2026-09-06' and '2026-09-12'`,
    );
    expect(others).toEqual({ failed: '0', without_load: '0', any: true });

    function failed(check_code: string): Record<string, unknown> {
      return {
        day: '09-06',
        check_code,
        measure: 'cost',
        ours: '7.000000001000',
        theirs: '7.010000001000',
        difference: '-0.010000000000',
        load_number: null,
      };
    }
  });

  test('is fetched twice, then in at most 16 shorter windows', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-06');
    await ingest(dir, platform, { now });
    const read = platform.requests.filter(
      (request) => isAbout('2026-09-06')(request) && request.query['groupBy']?.includes('resource_uuid'),
    );
    const whole = read.filter(({ start, end }) => end - start === 7 * 86_400_000);
    expect({ whole: whole.length, shorter: read.length - whole.length }).toEqual({ whole: 2, shorter: 16 });
  });

  test('is not read in parts after three windows of which no part matched', async () => {
    const { dir, platform } = await projectWithPlatform(
      Array.from({ length: 6 }, (_, week) =>
        series(box, new Date(Date.UTC(2026, 7, 3 + 7 * week)).toISOString().slice(0, 13), [1]),
      ).flat(),
    );
    platform.lie = () => 0.5;
    const { exitCode, account } = await ingest(dir, platform, { now, env: { COSTBOOK_CONCURRENCY: '1' } });
    expect({ exitCode, windows: account.windows }).toEqual({ exitCode: 4, windows: 0 });
    const weeks = platform.requests.filter(({ start, end }) => end - start < 6 * 86_400_000).map(({ start }) => start);
    expect(Math.min(...weeks)).toBeGreaterThan(Date.parse('2026-08-10'));
  });

  test('keeps its earlier proven rows', async () => {
    const { dir, platform } = await loadedProject(facts, { now });
    platform.facts = facts.map((fact) => ({ ...fact, cost: fact.cost * 2 }));
    platform.lie = liesAbout('2026-09-06');
    const { exitCode, account } = await ingest(dir, platform, { now, args: ['--refetch'] });
    expect(exitCode).toBe(4);
    expect(await costsIn(dir)).toEqual(
      expectedCosts([...middle, ...platform.facts.filter((fact) => !fact.hour.startsWith('2026-09-08'))], 'admin'),
    );
    // Nothing is missing: these hours have their last proven state.
    expect(account.completeThrough).toBe('2026-09-19T22:00:00Z');
  });

  test('is loaded by the next run once the totals are right', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-06');
    await ingest(dir, platform, { now });
    expect(await unprovenIn(dir)).toEqual([{ days: '09-06/09-13' }]);
    platform.lie = () => 0;
    const { exitCode, account } = await ingest(dir, platform, { now: '2026-09-20T01:30:00Z' });
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(account.completeThrough).toBe('2026-09-19T23:00:00Z');
    expect(await unprovenIn(dir)).toEqual([]);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('is loaded by a run with other window boundaries, too', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-13');
    await ingest(dir, platform, { now });
    expect(await unprovenIn(dir)).toEqual([{ days: '09-13/09-20' }]);
    platform.lie = () => 0;
    // Eight days are needed now: 14th to 21st and the 13th.
    const { exitCode } = await ingest(dir, platform, { now: '2026-09-21T00:30:00Z' });
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    expect(await unprovenIn(dir)).toEqual([]);
  });

  test('with an older proven state is fetched again, however old it is', async () => {
    const { dir, platform } = await loadedProject(facts, { now });
    platform.facts = facts.map((fact) => ({ ...fact, cost: fact.cost * 2 }));
    platform.lie = liesAbout('2026-09-06');
    await ingest(dir, platform, { now, args: ['--refetch'] });
    platform.lie = () => 0;
    const { exitCode, account } = await ingest(dir, platform, { now: '2026-09-20T01:30:00Z' });
    expect({ exitCode, repaired: account.requests.repair > 0 }).toEqual({ exitCode: 0, repaired: true });
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    expect(await unprovenIn(dir)).toEqual([]);
  });

  test('is waited for on two nights; on the third, ingest itself says to act', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-06');
    const steps: (string | undefined)[] = [];
    for (const day of ['20', '21', '22']) {
      const [line, env] = ingestCommandLine(dir, platform, { now: `2026-09-${day}T00:30:00Z` });
      const { stdout } = await runCli(
        line.filter((word) => word !== '--json'),
        env,
      );
      steps.push(/^ *(Wait|Act)(?: \([^)]*\))?: (?:the next|send)/m.exec(stdout)?.[1]);
    }
    expect(steps).toEqual(['Wait', 'Wait', 'Act']);
  });

  test('differs by another amount every night, and lists show that of last night, not of the first message', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    for (const [day, by] of [
      ['20', 0.25],
      ['21', 0.75],
    ] as const) {
      platform.lie = liesAbout('2026-09-06', by);
      await ingest(dir, platform, { now: `2026-09-${day}T00:30:00Z` });
      await runCli(['alert', '--dir', dir, '--now', `2026-09-${day}T00:31:00Z`]);
    }
    for (const args of [['alerts', '--open'], ['status']]) {
      const { stdout } = await runCli([...args, '--dir', dir, '--now', '2026-09-21T00:32:00Z']);
      expect(stdout).toContain('0.75 USD');
      expect(stdout).not.toContain('0.25 USD');
    }
  });

  test('does not hide that another account was unreachable', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = liesAbout('2026-09-06');
    const hits = ({ start }: Seen) => start < Date.parse('2026-09-06');
    platform.failures = [{ times: 99, hits, status: 503, headers: { 'retry-after': '86400' } }];
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect(exitCode).toBe(3);
    expect(account.unproven).toHaveLength(1);
    expect(account.errors).toEqual([expect.stringContaining('503')]);
    expect(await costsIn(dir)).toEqual(expectedCosts(newest, 'admin'));
  });
});

describe.concurrent('of a window that does not match, the parts that match are loaded', () => {
  test('where one hour has a wrong total: all others', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const wrong = Date.parse('2026-09-08T06:00:00Z');
    platform.lie = ({ start, end, query }) =>
      query['resolution'] === 'hourly' && start <= wrong && wrong < end ? 0.01 : 0;
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven }).toMatchObject({
      exitCode: 4,
      unproven: [{ start: '2026-09-08T06:00:00Z', end: '2026-09-08T07:00:00Z', costDifference: '0.010000000000' }],
    });
    expect(await costsIn(dir)).toEqual(
      expectedCosts(
        facts.filter(({ hour }) => hour !== '2026-09-08T06'),
        'admin',
      ),
    );
    platform.lie = () => 0;
    const next = await ingest(dir, platform, { now: '2026-09-20T01:30:00Z' });
    expect({ exitCode: next.exitCode, unproven: await unprovenIn(dir) }).toEqual({ exitCode: 0, unproven: [] });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(dir, 'rebuilt.duckdb')]);
    expect(rebuilt.exitCode, rebuilt.stderr).toBe(0);
  });

  test.each([
    ['2026-09-08T06', 'before its costs settled'],
    ['2026-09-18T06', 'among hours that are still young'],
  ])('where a workspace is renamed at %s, %s, and keeps its resources: all hours', async (hour) => {
    const dir = await newProject();
    // An entry by resource has one workspace, so a window with both names cannot match.
    const renamed = facts.map((fact) => (fact.hour >= hour ? { ...fact, workspace: 'payments' } : fact));
    const { exitCode, account } = await ingest(dir, await startScriptedPlatform(renamed), { now });
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(account.completeThrough).toBe('2026-09-19T22:00:00Z');
    expect(await costsIn(dir)).toEqual(expectedCosts(renamed, 'admin'));
  });
});

describe.concurrent('the reconciliation', () => {
  test('of a window that is wrong once passes at the second attempt', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    let lies = 1;
    platform.lie = () => (lies-- > 0 ? 0.25 : 0);
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(account.requests.repair).toBeGreaterThan(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    expect(
      await askSnapshot(dir, 'select distinct attempt, load_number from reconciliation where not proven'),
      'only the first reading failed, and no load came of it',
    ).toEqual([{ attempt: 1, load_number: null }]);
  });

  test.each([
    ['of the detail', (request: Seen) => (request.query['groupBy']?.includes('resource_uuid') ? 0.00000001 : 0)],
    ['of the control', (request: Seen) => (request.query['groupBy']?.startsWith('workspace') ? -0.00000001 : 0)],
  ])('finds a millionth of a cent in the total %s, where totals carry nine decimals', async (_, lie) => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.lie = lie;
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven.length }).toEqual({ exitCode: 4, unproven: 3 });
    expect(await costsIn(dir)).toEqual([]);
  });

  test('accepts rounded totals in every place', async () => {
    const dir = await newProject();
    // Their total is 1.000000500: four parts in ten billion more than ours, and half of its last decimal explains five.
    const finer = series(box, '2026-09-18T05', [1.0000004996]);
    const { exitCode, account } = await ingest(dir, await startScriptedPlatform(finer), { now });
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(
      await askSnapshot(dir, `select difference from reconciliation where check_code = 'rows_match_control'`),
    ).toEqual(expect.arrayContaining([{ difference: '-0.000000000400' }]));
  });

  test('finds an hour that differs between rows and control, even if all totals match', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.tells = ({ query }, truth) =>
      query['groupBy']?.startsWith('workspace')
        ? truth.map((fact) => (fact.hour === '2026-09-18T05' ? { ...fact, hour: '2026-09-18T09' } : fact))
        : truth;
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect(exitCode).toBe(4);
    expect(account.unproven.map(({ start }) => start.slice(0, 10))).toEqual(['2026-09-18', '2026-09-18']);
  });

  test('finds a workspace that differs between rows and control', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.tells = ({ query }, truth) =>
      query['groupBy']?.startsWith('workspace') ? truth.map((fact) => ({ ...fact, workspace: 'south' })) : truth;
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect(exitCode).toBe(4);
    expect(account.unproven.map(({ start }) => start.slice(0, 10))).toContain('2026-09-08');
    expect(await costsIn(dir)).toEqual([]);
  });

  test('finds a lost page', async () => {
    const dir = await newProject();
    const two = [...facts, ...series({ ...box, name: 'other', uuid: 'sbx-2' }, '2026-09-18T05', [1])];
    const platform = await startScriptedPlatform(two);
    platform.tells = ({ query }, truth) =>
      query['groupBy']?.includes('resource_uuid') ? truth.filter(({ uuid }) => uuid !== 'sbx-2') : truth;
    // What by name is there can be added without a uuid, and the sum of the pages still is not their total.
    platform.lie = ({ query, start }) =>
      query['groupBy']?.includes('resource_uuid') && start >= Date.parse('2026-09-13T00:00:00Z') ? 2 : 0;
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven.length }).toEqual({ exitCode: 4, unproven: 1 });
  });
});

describe.concurrent('an answer about another window than requested', () => {
  function echoesElsewhere(start: string): (request: Seen) => { startTime: string; endTime: string } {
    return (request) =>
      request.start === Date.parse(`${start}T00:00:00Z`)
        ? { startTime: '2026-08-01T00:00:00Z', endTime: '2026-08-06T00:00:00Z' }
        : { startTime: request.query['startTime'] ?? '', endTime: request.query['endTime'] ?? '' };
  }

  test('has no comparisons in reconciliation', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.echo = echoesElsewhere('2026-09-01');
    // One after another: the stage on which the others were proven is used again.
    await ingest(dir, platform, { now, env: { COSTBOOK_CONCURRENCY: '1' } });
    expect(
      await askSnapshot(
        dir,
        `select check_code, ours, theirs, proven from reconciliation where window_start = '2026-09-01'`,
      ),
    ).toEqual([]);
  });
});
