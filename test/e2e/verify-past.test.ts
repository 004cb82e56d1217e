// Second tier: Eight restatements of a long past as two roles.

import { describe, expect, test } from 'vitest';
import {
  askSnapshot,
  copyOfLoaded,
  costsIn,
  type Ingested,
  ingest,
  loadedProject,
  newProject,
  projectWithPlatform,
  runCli,
} from '../support/project.ts';
import { casesOf } from '../support/rounds.ts';
import {
  expectedCosts,
  type Fact,
  type ScriptedPlatform,
  type Seen,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

const sandbox = { type: 'sandbox', dimension: 'sandbox_compute_runtime_gbs' } as const;
const box = { ...sandbox, workspace: 'north', name: 'box', uuid: 'sbx-1' };
const crate = { ...sandbox, workspace: 'south', name: 'crate', uuid: 'sbx-2' };
const disk = { type: 'volume', workspace: 'north', name: 'disk', uuid: null, dimension: 'volume_storage_gbs' };

/** Two months of every day's fifth hour. */
function daily(of: Omit<Fact, 'hour' | 'cost' | 'usage'>, cost: number): Fact[] {
  return Array.from({ length: 60 }, (_, day) => {
    const date = new Date(Date.UTC(2026, 6, 12 + day)).toISOString().slice(0, 10);
    return series(of, `${date}T05`, [cost]);
  }).flat();
}
const facts = [...daily(box, 1), ...daily(crate, 0.5), ...daily(disk, 0.25)];
/** What the platform may leave out of an answer: a name, a uuid, a workspace, even the billing dimension. */
const nameless = daily({ ...disk, workspace: null, name: null, dimension: '' }, 0.125);
/** More series than are verified in a night of one page. */
const many = Array.from({ length: 150 }, (_, index) => {
  const kind = index % 2 === 0 ? sandbox : { type: 'agent', dimension: 'agent_compute_runtime_gbs' };
  return series({ ...kind, workspace: 'north', name: `r${index}`, uuid: `u${index}` }, '2026-08-01T00', [1]);
}).flat();
const since = { COSTBOOK_SINCE: '2026-07-12' };
const firstNight = '2026-09-10T02:15:00Z';
const nextNight = '2026-09-11T02:15:00Z';

function afterOneNight(as: 'admin' | 'member' = 'admin'): Promise<{ dir: string; platform: ScriptedPlatform }> {
  return copyOfLoaded(facts, { now: firstNight, env: since, as });
}

async function night(dir: string, platform: ScriptedPlatform, as: 'admin' | 'member' = 'admin'): Promise<Ingested> {
  return ingest(dir, platform, { now: nextNight, env: since, as });
}

/** The same facts with some changed; `change` returns undefined for a fact that is gone. */
function changed(change: (fact: Fact) => Fact | undefined): Fact[] {
  return facts.flatMap((fact) => change(fact) ?? []);
}

function isOn(day: string): (fact: Fact) => boolean {
  return ({ hour }) => hour.startsWith(day);
}

function detailsAsked(platform: ScriptedPlatform): string[] {
  return platform.requests
    .filter(({ query }) => query['resolution'] === 'hourly' && query['groupBy']?.includes('resource_uuid'))
    .map(({ query }) =>
      `${query['startTime']}/${query['endTime']}`.replaceAll('T00:00:00Z', '').replaceAll(':00:00Z', ''),
    );
}

const restated: [string, Fact[]][] = [
  [
    'a day that was restated',
    changed((fact) => (isOn('2026-07-20')(fact) && fact.name === 'box' ? { ...fact, cost: 3, usage: 3000 } : fact)),
  ],
  [
    'late costs in a settled week',
    [...facts, ...series({ ...box, name: 'late', uuid: 'sbx-9' }, '2026-08-04T11', [2, 2])],
  ],
  ['a series that vanished', changed((fact) => (fact.name === 'crate' ? undefined : fact))],
  [
    'usage that changed while the cost did not',
    changed((fact) => (isOn('2026-08-01')(fact) ? { ...fact, usage: fact.usage + 1 } : fact)),
  ],
  [
    'cost that moved from one resource to another',
    changed((fact) => (isOn('2026-07-30')(fact) && fact.name === 'box' ? { ...fact, ...crate, uuid: 'sbx-3' } : fact)),
  ],
  [
    'cost that moved from one workspace to another',
    changed((fact) => (isOn('2026-07-30')(fact) && fact.name === 'disk' ? { ...fact, workspace: 'south' } : fact)),
  ],
  ['rows that say nothing of themselves', [...facts, ...nameless]],
  ['a credit in the past', [...facts, ...series(box, '2026-08-09T01', [-4])]],
];

describe.concurrent('the night after, the books equal the platform again:', () => {
  test.each(restated)('%s', async (_, now) => {
    const { dir, platform } = await afterOneNight();
    platform.facts = now;
    const { exitCode, account, stderr } = await night(dir, platform);
    expect({ exitCode, unproven: account.unproven }, stderr).toEqual({ exitCode: 0, unproven: [] });
    expect(await costsIn(dir)).toEqual(expectedCosts(now, 'admin'));
    const [kept] = await askSnapshot(dir, 'select count(*) > 0 as at_close from restatements');
    expect(kept).toEqual({ at_close: true });
  });

  const forMembers = restated.filter(([what]) => !what.includes('workspace'));
  const some = casesOf({ fixed: 2, fresh: 1 });
  test.each(forMembers.filter((_, at) => at % some === 0))('%s, fetched by a member', async (_, now) => {
    const { dir, platform } = await afterOneNight('member');
    platform.facts = now;
    const { exitCode, account, stderr } = await night(dir, platform, 'member');
    expect({ exitCode, unproven: account.unproven }, stderr).toEqual({ exitCode: 0, unproven: [] });
    expect(await costsIn(dir)).toEqual(expectedCosts(now, 'member'));
  });
});

describe.concurrent('when the platform omits rows without UUID if UUIDs are queried', () => {
  const omissions = [
    ['rows', 'admin'],
    ['rows and totals', 'member'],
    ['rows', 'member'],
    ['rows and totals', 'admin'],
  ] as const;
  test.each(omissions.slice(0, casesOf({ fixed: 2, fresh: 4 })))(
    '(%s, as %s) a steady night proves, and what moved is found',
    async (leavesOut, as) => {
      const { dir, platform } = await projectWithPlatform(facts);
      platform.leavesOut = leavesOut;
      await ingest(dir, platform, { now: firstNight, env: since, as });
      const steady = await night(dir, platform, as);
      expect({ exitCode: steady.exitCode, restated: steady.account.restated }, steady.stderr).toEqual({
        exitCode: 0,
        restated: 0,
      });
      platform.facts = changed((fact) =>
        isOn('2026-07-30')(fact) && fact.name === 'box' ? { ...fact, ...crate } : fact,
      );
      const next = await ingest(dir, platform, { now: '2026-09-12T02:15:00Z', env: since, as });
      expect(next.exitCode, next.stderr).toBe(0);
      expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, as));
    },
  );
});

describe.concurrent('what is fetched again in detail', () => {
  test('is only the days that differ, in the fewest windows', async () => {
    const { dir, platform } = await afterOneNight();
    platform.facts = changed((fact) =>
      ['2026-07-20', '2026-07-22', '2026-08-15'].some((day) => isOn(day)(fact))
        ? { ...fact, cost: fact.cost * 2 }
        : fact,
    );
    await night(dir, platform);
    const [young, ...past] = detailsAsked(platform);
    expect(young).toMatch(/2026-09-11T02$/);
    expect(past.sort()).toEqual(['2026-07-20/2026-07-23', '2026-08-15/2026-08-16']);
  });

  test('is nothing on a night without changes, which takes at most twelve requests', async () => {
    for (const as of ['admin', 'member'] as const) {
      const { dir, platform } = await afterOneNight(as);
      const { exitCode, account } = await night(dir, platform, as);
      expect({ exitCode, restated: account.restated }).toEqual({ exitCode: 0, restated: 0 });
      expect(detailsAsked(platform)).toHaveLength(1);
      expect(platform.requests.length).toBeLessThanOrEqual(12);
      expect(account.requests.verify).toBe(
        platform.requests.filter(({ query }) => query['resolution'] !== 'hourly').length,
      );
    }
  });

  test('is nothing beyond verifyDays, and nothing at all if verifyDays and deepVerifyPages are 0', async () => {
    const { dir, platform } = await afterOneNight();
    platform.facts = changed((fact) => (isOn('2026-07-20')(fact) ? { ...fact, cost: 9 } : fact));
    const env = { ...since, COSTBOOK_VERIFY_DAYS: '10', COSTBOOK_DEEP_VERIFY_PAGES: '0' };
    const { exitCode, account } = await ingest(dir, platform, { now: nextNight, env });
    expect({ exitCode, restated: account.restated, verify: account.requests.verify }).toEqual({
      exitCode: 0,
      restated: 0,
      verify: 1,
    });
    const none = { ...env, COSTBOOK_VERIFY_DAYS: '0' };
    const { account: last } = await ingest(dir, platform, { now: nextNight, env: none });
    expect(last.requests.verify).toBe(0);
  });

  test('is nothing in a run over a range of hours', async () => {
    const { dir, platform } = await afterOneNight();
    const { account } = await ingest(dir, platform, { now: nextNight, env: since, args: ['--from', '-1d'] });
    expect(account.requests.verify).toBe(0);
  });
});

describe.concurrent('the past is also verified', () => {
  test('if only a part of its first day is in the books', async () => {
    const dir = await newProject();
    const late = [...facts, ...series(box, '2026-07-12T09', [1, 1, 1])];
    const platform = await startScriptedPlatform(late);
    const env = { COSTBOOK_SINCE: '2026-07-12T08:00:00Z' };
    await ingest(dir, platform, { now: firstNight, env });
    platform.facts = late.map((fact) => (fact.hour === '2026-07-12T10' ? { ...fact, cost: 3 } : fact));
    const { exitCode, account } = await ingest(dir, platform, { now: nextNight, env });
    expect({ exitCode, restated: account.restated }).toEqual({ exitCode: 0, restated: 1 });
  });

  test('before an unproven gap', async () => {
    const { dir, platform } = await (async () => {
      const { dir, platform } = await projectWithPlatform(facts);
      platform.lie = ({ query, start }) =>
        query['resolution'] === 'hourly' && start === Date.parse('2026-08-13T02:00:00Z') ? 1 : 0;
      await ingest(dir, platform, { now: firstNight, env: since });
      return { dir, platform };
    })();
    const isHole = await askSnapshot(dir, `select count(*) as holes from ledger.unproven`);
    expect(isHole).toEqual([{ holes: '1' }]);
    platform.facts = changed((fact) =>
      isOn('2026-07-20')(fact) && fact.name === 'box' ? { ...fact, ...crate } : fact,
    );
    const { exitCode } = await night(dir, platform);
    expect(exitCode, 'the hole is still there').toBe(4);
    const moved = await askSnapshot(
      dir,
      `select resource_name from costs where bucket_start::date = '2026-07-20' order by 1`,
    );
    expect(moved).toEqual([{ resource_name: 'crate' }, { resource_name: 'disk' }]);
  });

  test.each(['admin', 'member'] as const)('among omitted rows without UUID, as %s', async (as) => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.leavesOut = 'rows';
    await ingest(dir, platform, { now: firstNight, env: since, as });
    platform.facts = changed((fact) =>
      isOn('2026-07-30')(fact) && fact.name === 'disk' ? { ...fact, name: 'vol-2' } : fact,
    );
    const { exitCode, stderr } = await night(dir, platform, as);
    expect(exitCode, stderr).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, as));
  });

  test('if moves between workspaces cancel out', async () => {
    const disks = [...daily({ ...disk, name: 'a' }, 0.25), ...daily({ ...disk, name: 'b', workspace: 'south' }, 0.25)];
    const { dir, platform } = await loadedProject(disks, { now: firstNight, env: since });
    platform.facts = disks.map((fact) =>
      isOn('2026-07-30')(fact) ? { ...fact, workspace: fact.workspace === 'north' ? 'south' : 'north' } : fact,
    );
    const { exitCode } = await night(dir, platform);
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  });
});

describe.concurrent('a platform whose answers about the past contradict themselves', () => {
  test.each([
    ['daily', 'rows of the pages add up to the total of the answer \\(days\\)'],
    ['monthly', 'rows of the pages add up to the total of the answer \\(series\\)'],
  ])('(%s) is reported with exit 4 until it stops, and new hours are loaded all the same', async (resolution, told) => {
    const { dir, platform } = await afterOneNight();
    platform.lie = ({ query }) => (query['resolution'] === resolution ? 7.5 : 0);
    const { exitCode, account } = await night(dir, platform);
    expect({ exitCode, completeThrough: account.completeThrough }).toEqual({
      exitCode: 4,
      completeThrough: '2026-09-11T00:00:00Z',
    });
    expect(account.unproven.map(({ reason }) => reason).join('\n')).toMatch(new RegExp(`${told}.*7\\.5`));
    const status = await runCli(['status', '--dir', dir, '--now', nextNight, '--exit-code', '--json']);
    expect(status.exitCode).toBe(4);
    platform.lie = () => 0;
    const healed = await ingest(dir, platform, { now: '2026-09-12T02:15:00Z', env: since });
    expect({ exitCode: healed.exitCode, unproven: healed.account.unproven }).toEqual({ exitCode: 0, unproven: [] });
  });

  // A month that differs is asked by day too; the night after, it agrees and is not.
  test.each(['admin', 'member'] as const)(
    'on a night of restatements is gone once the platform agrees again (%s)',
    async (as) => {
      const { dir, platform } = await afterOneNight(as);
      platform.facts = changed((fact) => (isOn('2026-07-20')(fact) ? { ...fact, cost: 3, usage: 3000 } : fact));
      platform.lie = () => 0.5;
      expect((await night(dir, platform, as)).exitCode).toBe(4);
      const questions = await askSnapshot(dir, 'select distinct question from ledger.contradictions order by all');
      expect(questions).toContainEqual({ question: 'series_by_day' });
      platform.lie = () => 0;
      const { exitCode, stderr } = await ingest(dir, platform, { now: '2026-09-12T02:15:00Z', env: since, as });
      expect(exitCode, stderr).toBe(0);
      expect(await askSnapshot(dir, 'select * from ledger.contradictions')).toEqual([]);
      expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, as));
    },
  );

  test('stays on record while other queries take their turn', async () => {
    const { dir, platform } = await projectWithPlatform(many);
    const env = { ...since, COSTBOOK_DEEP_VERIFY_PAGES: '1' };
    await ingest(dir, platform, { now: firstNight, env });
    platform.tells = ({ query }, truth) =>
      query['resolution'] === 'monthly' && query['billingDimension'] === 'agent_compute_runtime_gbs'
        ? truth.map((fact) => (fact.name === 'r1' ? { ...fact, cost: 9 } : fact))
        : truth;
    for (const day of ['11', '12']) {
      const { exitCode, account } = await ingest(dir, platform, { now: `2026-09-${day}T02:15:00Z`, env });
      expect({ day, exitCode, unproven: account.unproven.length }).toEqual({ day, exitCode: 4, unproven: 1 });
    }
  });
});

describe.concurrent('a platform whose totals of the past contradict its hours', () => {
  function lieAbout(resolution: string): (request: Seen, truth: readonly Fact[]) => readonly Fact[] {
    return ({ query }, truth) =>
      query['resolution'] === resolution
        ? truth.map((fact) => (isOn('2026-07-20')(fact) && fact.name === 'box' ? { ...fact, cost: 1.5 } : fact))
        : truth;
  }

  test.each([
    ['daily', '2026-07-20T00:00:00Z', '2026-07-21T00:00:00Z'],
    ['monthly', '2026-07-12T00:00:00Z', '2026-08-01T00:00:00Z'],
  ])(
    '(%s) is reported with exit 4, with place and amount, and the books keep the proven hours',
    async (resolution, start, end) => {
      const { dir, platform } = await afterOneNight();
      platform.tells = lieAbout(resolution);
      const { exitCode, account } = await night(dir, platform);
      expect(exitCode).toBe(4);
      expect(account.unproven).toContainEqual({
        start,
        end,
        reason: expect.stringMatching(/sandbox_compute_runtime_gbs.*difference -0\.5/),
        costDifference: '0.500000000000',
      });
      expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
      const status = await runCli(['status', '--dir', dir, '--now', nextNight, '--exit-code']);
      expect(status.exitCode).toBe(4);
      expect(status.stdout).toMatch(
        /^NO: \d+\.\d+ USD: costs of account acc_one in 2026-07 differ from the platform's totals/,
      );

      platform.tells = (_, truth) => truth;
      const healed = await ingest(dir, platform, { now: '2026-09-12T02:15:00Z', env: since });
      expect({ exitCode: healed.exitCode, unproven: healed.account.unproven }).toEqual({ exitCode: 0, unproven: [] });
      const after = await runCli(['status', '--dir', dir, '--now', '2026-09-12T02:15:00Z', '--exit-code']);
      expect(after.exitCode).toBe(0);
    },
  );

  test('leaves both sums, the difference and the tolerance in reconciliation', async () => {
    const { dir, platform } = await afterOneNight();
    platform.tells = lieAbout('daily');
    await night(dir, platform);
    const rows = await askSnapshot(
      dir,
      `select distinct measure, billing_dimension, ours, theirs, difference from reconciliation
      where not proven and check_code like 'days%'`,
    );
    expect(rows).toEqual([
      {
        measure: 'cost',
        billing_dimension: 'sandbox_compute_runtime_gbs',
        ours: '1.000000000000',
        theirs: '1.500000000000',
        difference: '-0.500000000000',
      },
    ]);
  });
});

describe.concurrent('each query about the past', () => {
  test('leaves its own comparisons: every billing dimension by day, and the series of tonight', async () => {
    const { dir, platform } = await afterOneNight();
    await night(dir, platform);
    const rows = await askSnapshot(
      dir,
      `select check_code, billing_dimension, measure, strftime(window_start, '%m-%d') as from_day, row_count, proven
      from reconciliation where load_number is null and run_number = 2 order by check_code, billing_dimension, measure`,
    );
    const of = (check_code: string, dimension: string | null, measure: string, row_count: string) => ({
      check_code,
      billing_dimension: dimension,
      measure,
      from_day: '07-12',
      row_count,
      proven: true,
    });
    const sandboxes = 'sandbox_compute_runtime_gbs';
    const volumes = 'volume_storage_gbs';
    expect(rows).toEqual([
      of('buckets_match_group.days', null, 'cost', '3'),
      of('buckets_match_group.days', null, 'usage', '3'),
      of('buckets_match_group.names', null, 'cost', '3'),
      of('buckets_match_group.names', null, 'usage', '3'),
      of('buckets_match_group.series', null, 'cost', '3'),
      of('buckets_match_group.series', null, 'usage', '3'),
      of('days_match_platform', sandboxes, 'cost', '116'),
      of('days_match_platform', sandboxes, 'usage', '116'),
      of('days_match_platform', volumes, 'cost', '58'),
      of('days_match_platform', volumes, 'usage', '58'),
      of('names_match_platform', sandboxes, 'cost', '116'),
      of('names_match_platform', sandboxes, 'usage', '116'),
      of('names_match_platform', volumes, 'cost', '58'),
      of('names_match_platform', volumes, 'usage', '58'),
      of('pages_match_total.days', null, 'cost', '3'),
      of('pages_match_total.names', null, 'cost', '3'),
      of('pages_match_total.series', null, 'cost', '3'),
      of('series_match_platform', sandboxes, 'cost', '116'),
      of('series_match_platform', sandboxes, 'usage', '116'),
      of('series_match_platform', volumes, 'cost', '58'),
      of('series_match_platform', volumes, 'usage', '58'),
    ]);
  });

  test.each(['admin', 'member'] as const)('is in the plan of the night, as %s', async (as) => {
    const { dir, platform } = await afterOneNight(as);
    const planned = await runCli(['plan', '--dir', dir, '--now', nextNight, '--json'], {
      COSTBOOK_URL: platform.url,
      COSTBOOK_ACCOUNT: 'acc_one',
      ...since,
    });
    await night(dir, platform, as);
    const asked = platform.requests
      .filter(({ query }) => query['resolution'] !== 'hourly')
      .map(
        ({ path, query }) =>
          `${path}?${Object.entries(query)
            .map(([name, value]) => `${name}=${value}`)
            .join('&')}`,
      );
    const { verify } = JSON.parse(planned.stdout).accounts[0];
    expect(verify.map(({ request }: { request: string }) => request)).toEqual(asked);
  });

  test('takes its turn if the series do not fit into one night', async () => {
    const { dir, platform } = await projectWithPlatform(many);
    const env = { ...since, COSTBOOK_DEEP_VERIFY_PAGES: '1' };
    await ingest(dir, platform, { now: firstNight, env });
    const asked: (string | undefined)[] = [];
    for (const day of ['11', '12', '13']) {
      platform.requests.length = 0;
      await ingest(dir, platform, { now: `2026-09-${day}T02:15:00Z`, env });
      const monthly = platform.requests.filter(({ query }) => query['resolution'] === 'monthly');
      asked.push(...monthly.map(({ query }) => query['billingDimension']));
    }
    expect(asked).toEqual(['agent_compute_runtime_gbs', 'sandbox_compute_runtime_gbs', 'agent_compute_runtime_gbs']);
  });
});

describe.concurrent('a token that sees only a part of what was seen before', () => {
  test('needs a confirmation instead of restating a year', async () => {
    const { dir, platform } = await afterOneNight('member');
    platform.tells = (_, truth) => truth.filter(({ name }) => name !== 'box');
    const { exitCode, account } = await night(dir, platform, 'member');
    expect(exitCode).toBe(4);
    expect(account.errors).toEqual([
      expect.stringMatching(/If the token sees less than before.*--accept-reduced-access/),
    ]);
    expect(account.windows).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'member'));

    const answered = await ingest(dir, platform, {
      now: nextNight,
      env: since,
      as: 'member',
      args: ['--accept-reduced-access'],
    });
    expect(answered.exitCode).toBe(0);
    const left = facts.filter(({ name }) => name !== 'box');
    expect(await costsIn(dir)).toEqual(expectedCosts(left, 'member'));
  });
});

describe.concurrent('a month of which the platform has nothing any more', () => {
  test('needs a confirmation, though the other months are as before', async () => {
    const { dir, platform } = await afterOneNight();
    const left = facts.filter(({ hour }) => !hour.startsWith('2026-08'));
    platform.facts = left;
    const { exitCode, account } = await night(dir, platform);
    expect({ exitCode, errors: account.errors }).toEqual({
      exitCode: 4,
      errors: [expect.stringMatching(/any cost on 31 settled days from 2026-08-01 to 2026-08-31.* 54\.25 USD.*once/)],
    });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    const accepted = { now: nextNight, env: since, args: ['--accept-reduced-access'] };
    expect((await ingest(dir, platform, accepted)).exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(left, 'admin'));
    expect((await ingest(dir, platform, { now: '2026-09-12T02:15:00Z', env: since })).exitCode).toBe(0);
  });
});

describe.concurrent('a token that no longer sees a workspace', () => {
  test('needs a confirmation, however little was spent there', async () => {
    const { dir, platform } = await afterOneNight();
    platform.facts = [
      ...facts,
      ...daily({ ...box, workspace: 'lab', name: 'tiny', uuid: 'sbx-7' }, 0.0625),
      ...daily({ ...box, workspace: 'lab', name: 'small', uuid: 'sbx-8' }, 0.0625),
    ];
    await ingest(dir, platform, { now: nextNight, env: since });
    platform.tells = (_, truth) => truth.filter(({ workspace }) => workspace !== 'lab');
    const { exitCode, account } = await ingest(dir, platform, { now: '2026-09-12T02:15:00Z', env: since });
    expect(exitCode).toBe(4);
    expect(account.errors).toEqual([
      expect.stringMatching(/no longer reports any cost.*for lab.*--accept-reduced-access/),
    ]);
  });
});

describe.concurrent('a workspace that the platform renamed', () => {
  test('is named with its new name; a confirmation moves its past, and no amount changes', async () => {
    const { dir, platform } = await afterOneNight();
    const lab = (workspace: string) => [
      ...facts,
      ...daily({ ...box, workspace, name: 'tiny', uuid: 'sbx-7' }, 0.0625),
      ...daily({ ...box, workspace, name: 'small', uuid: 'sbx-8' }, 0.25),
    ];
    platform.facts = lab('lab');
    await ingest(dir, platform, { now: nextNight, env: since });
    platform.facts = lab('payments');
    const later = { now: '2026-09-12T02:15:00Z', env: since };
    const { exitCode, account } = await ingest(dir, platform, later);
    expect(exitCode).toBe(4);
    expect(account.errors).toEqual([
      expect.stringMatching(/lab is probably named payments now: .*run .*--accept-renamed-workspaces/),
    ]);
    const accepted = await ingest(dir, platform, { ...later, args: ['--accept-renamed-workspaces'] });
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(lab('payments'), 'admin'));
  });
});

describe.concurrent('when the platform fails the verification', () => {
  test('missing hours are fetched all the same, with exit 3', async () => {
    const { dir, platform } = await afterOneNight();
    const hits = ({ query }: Seen) => query['resolution'] === 'daily';
    platform.failures = [{ times: 99, hits, status: 503, headers: { 'retry-after': '86400' } }];
    const { exitCode, account } = await night(dir, platform);
    expect(exitCode).toBe(3);
    expect(account.errors).toEqual([expect.stringContaining('503')]);
    expect(account.completeThrough).toBe('2026-09-11T00:00:00Z');
  });
});
