import { describe, expect, test } from 'vitest';
import { readChecks, runCheck } from '../../src/warehouse/ledger/checks.ts';
import { answer, type Given, givenBooks } from '../support/given-books.ts';
import { reported } from '../support/reported.ts';

type Row = Readonly<Record<string, string | number | boolean | null>>;

const complete = {
  accounts: [{ history_start: '2026-09-01' }],
  covered: [{ window_start: '2026-09-01', window_end: '2026-11-01', claimed_end: '2026-11-01' }],
};

/** Team, cost and rule of each row of costs_allocated. */
function allocated(given: Given): Promise<unknown[]> {
  return answer(
    given,
    `select coalesce(team, '-') as team, rule, cast(sum(cost) as varchar) as cost, is_shared
    from costs_allocated group by all order by all`,
  );
}

function owned(team: string, rule: string, cost: string, isShared = false): Row {
  const [whole, decimals = ''] = cost.split('.');
  return { team, rule, cost: `${whole}.${decimals.padEnd(12, '0')}`, is_shared: isShared };
}

/** An operator of a query plan, and those that it reads from. */
interface Operator {
  readonly name: string;
  readonly children: readonly Operator[];
}

/** The first operator of a plan that puts rows of several others together, behind definitions of CTEs. */
function firstOfSeveral({ name, children }: Operator): string {
  const last = children.at(-1);
  return last !== undefined && (children.length === 1 || name.trim() === 'CTE') ? firstOfSeveral(last) : name.trim();
}

describe('costs_allocated', () => {
  test('joins nothing to direct and shared costs together, of which DuckDB would keep every hour in memory', async () => {
    const [row] = (await answer({ costs: [{ cost: '1' }] }, 'explain (format json) from costs_allocated')) as [Row];
    const [plan] = JSON.parse(String(row['explain_value'])) as [Operator];
    expect(firstOfSeveral(plan)).toBe('UNION');
  });

  test('has every row once and without an owner if there are no rules', async () => {
    const rows = await answer(
      {
        costs: [
          { cost: '1.5', usage: '2' },
          { cost: '-3', workspace: null },
        ],
      },
      'select workspace, owner, team, product, environment, rule, is_shared, cost, usage from costs_allocated order by cost',
    );
    const nobody = {
      owner: '{"team":null,"product":null,"environment":null}',
      team: null,
      product: null,
      environment: null,
    };
    expect(rows).toEqual([
      { workspace: null, ...nobody, rule: 'default', is_shared: false, cost: '-3.000000000000', usage: '0.000000' },
      { workspace: 'north', ...nobody, rule: 'default', is_shared: false, cost: '1.500000000000', usage: '2.000000' },
    ]);
  });

  test('uses the first rule that matches, and the default if none does', async () => {
    const allocation = `
rules:
  - {name: boxes, when: {resource_name: 'box-*', workspace: [north, south]}, owner: {team: a}}
  - {name: north, when: {workspace: north}, owner: {team: b}}
  - {name: storage, when: {billing_dimension: '*_storage_gbs'}, owner: {team: c}}
  - {name: nowhere, when: {workspace: null}, owner: {team: d}}
default: {team: e}
`;
    const costs = [
      { resource_name: 'box-1', cost: '1' },
      { resource_name: 'box', cost: '2' },
      { workspace: 'south', billing_dimension: 'volume_storage_gbs', cost: '4' },
      { workspace: null, cost: '8' },
      { workspace: 'south', cost: '16' },
    ];
    expect(await allocated({ costs, allocation })).toEqual([
      owned('a', 'boxes', '1'),
      owned('b', 'north', '2'),
      owned('c', 'storage', '4'),
      owned('d', 'nowhere', '8'),
      owned('e', 'default', '16'),
    ]);
  });

  test('takes an owner from a label, with aliases, a missing label and a fallback', async () => {
    const allocation = `
aliases: {team: {checkout: [chekout]}}
rules:
  - name: label
    owner: {team: {label: team}, product: {label: 'app/name', otherwise: unknown}}
`;
    const rows = await answer(
      {
        allocation,
        costs: ['one', 'two', 'three', 'four'].map((resource_name) => ({
          resource_name,
          resource_uuid: null,
          cost: '1',
        })),
        resources: [
          { resource_name: 'one', labels: '{"team":"chekout","app/name":"cart"}' },
          { resource_name: 'two', labels: '{"team":"=1+1\\nКоманда \\"поиск\\""}' },
          { resource_name: 'three', labels: '{"app/name":"cart"}' },
        ],
      },
      'select resource_name, team, product, rule from costs_allocated order by resource_name',
    );
    expect(rows).toEqual([
      { resource_name: 'four', team: null, product: null, rule: 'default' },
      { resource_name: 'one', team: 'checkout', product: 'cart', rule: 'label' },
      { resource_name: 'three', team: null, product: null, rule: 'default' },
      { resource_name: 'two', team: '=1+1\nКоманда "поиск"', product: 'unknown', rule: 'label' },
    ]);
  });

  test('uses the labels that were valid in the hour, and rules that are valid then', async () => {
    const hours = ['2026-09-01 05:00:00', '2026-09-02 05:00:00', '2026-09-03 05:00:00', '2026-09-04 05:00:00'];
    const rows = await answer(
      {
        allocation: `
rules:
  - {name: until, until: 2026-09-02, owner: {team: early}}
  - {name: label, until: 2026-09-04, owner: {team: {label: team}}}
  - {name: from, from: 2026-09-04, owner: {team: late}}
`,
        costs: hours.map((bucket_start) => ({ bucket_start, resource_uuid: null, cost: '1' })),
        resources: [
          { labels: '{"team":"a"}', valid_from: '2026-09-01', valid_to: '2026-09-03' },
          { labels: '{"team":"b"}', valid_from: '2026-09-03' },
        ],
      },
      'select team from costs_allocated order by bucket_start',
    );
    expect(rows).toEqual([{ team: 'early' }, { team: 'a' }, { team: 'b' }, { team: 'late' }]);
  });

  const direct = [
    { workspace: 'a', cost: '1', usage: '1' },
    { workspace: 'b', cost: '2', usage: '7' },
  ];
  function splitting(split: string): string {
    return `
rules:
  - {name: a, when: {workspace: a}, owner: {team: a}}
  - {name: b, when: {workspace: b}, owner: {team: b}}
  - {name: c, when: {workspace: c}, owner: {team: c}}
  - name: shared
    when: {workspace: shared}
    split: ${split}
`;
  }
  const pool = { workspace: 'shared', cost: '10' };
  test.each([
    ['{by: cost}', '3.333333333333', '6.666666666667'],
    ['{by: evenly}', '5', '5'],
    ['{by: usage, billing_dimension: sandbox_compute_runtime_gbs}', '1.25', '8.75'],
    ['{by: weights, weights: [{team: a, weight: 0.3}, {team: b, weight: 0.6}]}', '3.333333333333', '6.666666666667'],
    // Nobody weighs anything: evenly.
    ['{by: usage, billing_dimension: unheard_of}', '5', '5'],
    ['{by: weights, weights: [{team: a, weight: 0}, {team: b, weight: 0}]}', '5', '5'],
  ])('splits shared cost %s', async (split, a, b) => {
    expect(await allocated({ costs: [...direct, pool], allocation: splitting(split) })).toEqual([
      owned('a', 'a', '1'),
      owned('a', 'shared', a, true),
      owned('b', 'b', '2'),
      owned('b', 'shared', b, true),
    ]);
  });

  test('gives an owner nothing if its credits exceed its cost; if that is true of all, it splits evenly', async () => {
    const allocation = splitting('{by: cost}');
    const credit = { workspace: 'c', cost: '-5' };
    expect(await allocated({ costs: [...direct, credit, pool], allocation })).toContainEqual(
      owned('c', 'shared', '0', true),
    );
    const only = [{ workspace: 'a', cost: '-1' }, credit, pool];
    expect(await allocated({ costs: only, allocation })).toEqual([
      owned('a', 'a', '-1'),
      owned('a', 'shared', '5', true),
      owned('c', 'c', '-5'),
      owned('c', 'shared', '5', true),
    ]);
    const splits = 'select distinct is_evenly_instead from allocation_splits';
    expect(await answer({ costs: only, allocation }, splits)).toEqual([{ is_evenly_instead: true }]);
  });

  test('leaves shared cost without an owner if nobody owns any cost of the account in the month', async () => {
    const other = [
      { workspace: 'a', cost: '1', bucket_start: '2026-10-01 00:00:00' },
      { workspace: 'b', cost: '1', account: 'acc_two' },
    ];
    const rows = await allocated({ costs: [...other, pool], allocation: splitting('{by: cost}') });
    expect(rows).toContainEqual(owned('-', 'shared', '10', true));
    expect(rows).toHaveLength(3);
  });

  test('gives what rounding leaves to the largest remainders, per month and not per hour', async () => {
    const costs = [
      ...['a', 'b', 'c'].map((workspace) => ({ workspace, cost: '1' })),
      ...['01', '02', '03', '04'].map((hour) => ({
        ...pool,
        cost: '0.000000000001',
        usage: '0.000001',
        bucket_start: `2026-09-01 ${hour}:00:00`,
      })),
    ];
    const rows = await answer(
      { costs, allocation: splitting('{by: cost}') },
      `select team, cast(sum(cost) as varchar) as cost from costs_allocated where is_shared group by team order by team`,
    );
    expect(rows).toEqual([
      { team: 'a', cost: '0.000000000002' },
      { team: 'b', cost: '0.000000000001' },
      { team: 'c', cost: '0.000000000001' },
    ]);
  });

  describe('of a volume', () => {
    const rules = 'rules: [{name: label, owner: {team: {label: team}}}]';
    const disk = {
      resource_type: 'volume',
      resource_name: 'disk',
      resource_uuid: null,
      billing_dimension: 'volume_storage_gbs',
    };
    const hour = (start: string, cost: string): Row => ({ ...disk, bucket_start: `2026-09-${start}:00:00`, cost });
    const mounter = (name: string, team: string | null, more: Row = {}): Row => ({
      resource_type: 'agent',
      resource_name: name,
      labels: team === null ? null : `{"team":"${team}"}`,
      volumes: '["disk"]',
      ...more,
    });

    test('follows the resource that mounts it, hour by hour', async () => {
      const until = (end: string): Row => ({ valid_to: `2026-09-${end}`, ended_at: `2026-09-${end}` });
      const resources = [
        mounter('first', 'Ada', {
          created_at: '2026-09-02 00:10:00',
          valid_from: '2026-09-02 00:10:00',
          ...until('03 12:30:00'),
        }),
        mounter('first', 'Ada', {
          created_at: '2026-09-02 00:10:00',
          valid_from: '2026-09-03 12:30:00',
          volumes: '[]',
        }),
        mounter('second', 'Bob', { created_at: '2026-09-04', valid_from: '2026-09-04', ...until('05') }),
      ];
      const costs = [
        ...[hour('01T23', '1'), hour('02T00', '2'), hour('03T12', '4'), hour('03T13', '8')],
        ...[hour('04T00', '16'), hour('05T00', '32')],
      ];
      expect(await allocated({ costs, resources, allocation: rules })).toEqual([
        owned('-', 'default', '41'),
        owned('Ada', 'label', '6'),
        owned('Bob', 'label', '16'),
      ]);
    });

    test('is shared by the number of mounters, to the last digit of every hour', async () => {
      const resources = [
        mounter('a', 'Ada'),
        mounter('b', 'Ada', { resource_type: 'sandbox' }),
        mounter('c', 'Bob', { resource_type: 'job' }),
        mounter('d', null),
      ];
      const costs = [hour('01T00', '1'), hour('01T01', '0.000000000001'), hour('01T02', '-0.7')];
      const given = { costs, resources, allocation: rules };
      const share = 'mounts: 2/4 team Ada + 1/4 team Bob + 1/4 nobody';
      expect(await allocated(given)).toEqual([
        owned('-', share, '0.075000000000', true),
        owned('Ada', share, '0.150000000001', true),
        owned('Bob', share, '0.075000000000', true),
      ]);
      expect(
        await answer(
          given,
          'select cast(sum(cost) as varchar) as cost from costs_allocated group by bucket_start order by 1',
        ),
      ).toEqual([{ cost: '-0.700000000000' }, { cost: '0.000000000001' }, { cost: '1.000000000000' }]);
      expect(await answer(given, 'select owner, weight, cost, split_by from allocation_splits order by owner')).toEqual(
        [
          {
            owner: expect.stringContaining('Ada'),
            weight: '2.000000000000',
            cost: '0.150000000001',
            split_by: 'mounts',
          },
          {
            owner: expect.stringContaining('Bob'),
            weight: '1.000000000000',
            cost: '0.075000000000',
            split_by: 'mounts',
          },
          {
            owner: expect.not.stringContaining(':"'),
            weight: '1.000000000000',
            cost: '0.075000000000',
            split_by: 'mounts',
          },
        ],
      );
    });

    test('has one owner, without a split, if all mounters have the same', async () => {
      const resources = [mounter('a', 'Ada'), mounter('b', 'Ada')];
      expect(await allocated({ costs: [hour('01T00', '3')], resources, allocation: rules })).toEqual([
        owned('Ada', 'label', '3'),
      ]);
    });

    test('follows a rule for its type, name or billing dimension, not its mounts', async () => {
      const resources = [mounter('a', 'Ada')];
      const costs = [hour('01T00', '1'), { ...hour('01T00', '2'), resource_name: 'free' }];
      for (const when of ['resource_type: volume', "resource_name: ['disk', 'free']", 'billing_dimension: volume*']) {
        const allocation = `
rules:
  - {name: label, owner: {team: {label: team}}}
  - {name: disks, when: {${when}}, owner: {team: Storage}}
`;
        expect(await allocated({ costs, resources, allocation })).toEqual([owned('Storage', 'disks', '3')]);
      }
    });

    test('follows its mounts if a rule tests only where it is, or that it has no label', async () => {
      const resources = [mounter('a', 'Ada')];
      const costs = [hour('01T00', '1'), { ...hour('01T00', '2'), resource_name: 'free' }];
      for (const when of ['', 'when: {workspace: north}, ', 'when: {label: {team: null}}, ']) {
        const allocation = `
rules:
  - {name: label, owner: {team: {label: team}}}
  - {name: rest, ${when}owner: {team: Rest}}
`;
        expect(await allocated({ costs, resources, allocation })).toEqual([
          owned('Ada', 'label', '1'),
          owned('Rest', 'rest', '2'),
        ]);
      }
    });

    test('is split as its mounter is, unless another mounter has an owner', async () => {
      const allocation = `
rules:
  - {name: common, when: {resource_name: common}, split: {by: cost, over: [team]}}
  - {name: label, owner: {team: {label: team}}}
`;
      const costs = [hour('01T00', '3'), { resource_name: 'box', cost: '1' }, { resource_name: 'cart', cost: '2' }];
      const boxes = [
        { resource_name: 'box', labels: '{"team":"Ada"}' },
        { resource_name: 'cart', labels: '{"team":"Bob"}' },
      ];
      const common = mounter('common', null);
      expect(await allocated({ costs, resources: [...boxes, common], allocation })).toEqual([
        owned('Ada', 'common', '1', true),
        owned('Ada', 'label', '1'),
        owned('Bob', 'common', '2', true),
        owned('Bob', 'label', '2'),
      ]);
      const resources = [...boxes, common, mounter('own', 'Ada')];
      expect(await allocated({ costs, resources, allocation })).toEqual([
        owned('Ada', 'label', '4'),
        owned('Bob', 'label', '2'),
      ]);
    });

    test('has no mounter in another workspace, type or account, nor a terminated one', async () => {
      const others = [
        { workspace: 'south' },
        { account: 'acc_two' },
        { volumes: '["disks"]' },
        { volumes: '[]' },
        { volumes: null },
        { status: 'TERMINATED' },
      ];
      for (const other of others) {
        const resources = [mounter('a', 'Ada', other)];
        expect(await allocated({ costs: [hour('01T00', '1')], resources, allocation: rules })).toEqual([
          owned('-', 'default', '1'),
        ]);
      }
      const costs = [{ ...hour('01T00', '1'), resource_type: 'sandbox' }];
      expect(await allocated({ costs, resources: [mounter('a', 'Ada')], allocation: rules })).toEqual([
        owned('-', 'default', '1'),
      ]);
    });

    test('takes the mounts of earlier states from the first state that has them, if earlier versions wrote those', async () => {
      const resources = [
        mounter('a', 'Ada', { volumes: null, valid_to: '2026-09-10', ended_at: '2026-09-10' }),
        mounter('a', 'Bob', { valid_from: '2026-09-10', recorded_at: '2026-09-10' }),
      ];
      const costs = [hour('05T00', '1'), hour('11T00', '2')];
      expect(await allocated({ costs, resources, allocation: rules })).toEqual([
        owned('Ada', 'label', '1'),
        owned('Bob', 'label', '2'),
      ]);
    });

    test('without a workspace follows its mounter only if one workspace alone has a volume of that name', async () => {
      const costs = [{ ...hour('01T00', '1'), workspace: null }];
      const resources = [mounter('a', 'Ada')];
      expect(await allocated({ costs, resources, allocation: rules })).toEqual([owned('Ada', 'label', '1')]);
      const twice = [...resources, mounter('b', 'Bob', { workspace: 'south' })];
      expect(await allocated({ costs, resources: twice, allocation: rules })).toEqual([owned('-', 'default', '1')]);
    });
  });

  test('distinguishes owners by the dimensions of the split', async () => {
    const allocation = `
rules:
  - {name: a, when: {workspace: a}, owner: {team: t, product: p}}
  - {name: b, when: {workspace: b}, owner: {team: t, product: q}}
  - {name: shared, split: {by: cost, over: [team]}}
`;
    const rows = await answer(
      { costs: [...direct, pool], allocation },
      'select owner, cost from costs_allocated where is_shared',
    );
    expect(rows).toEqual([{ owner: '{"team":"t","product":null,"environment":null}', cost: '10.000000000000' }]);
  });

  test("has the project's own dimensions in the column owner", async () => {
    const allocation = 'dimensions: [cost_center]\nrules:\n  - {name: all, owner: {cost_center: "42"}}\n';
    expect(await answer({ costs: [pool], allocation }, 'select owner, team from costs_allocated')).toEqual([
      { owner: '{"cost_center":"42"}', team: null },
    ]);
  });
});

describe('reports', () => {
  const given: Given = {
    ...complete,
    allocation: `
aliases: {team: {search: [serch]}}
rules:
  - {name: shared, when: {workspace: shared}, split: {by: cost, over: [team]}}
  - {name: known, when: {label: {team: [checkout, search]}}, owner: {team: {label: team}}}
`,
    costs: [
      { resource_name: 'one', resource_uuid: null, cost: '3', usage: '2' },
      { resource_name: 'two', resource_uuid: null, cost: '1' },
      { resource_name: 'three', resource_uuid: null, cost: '7' },
      { resource_name: 'four', resource_uuid: null, cost: '9' },
      { resource_name: 'five', resource_uuid: null, cost: '8' },
      { resource_name: 'six', resource_uuid: null, cost: '2' },
      { workspace: 'shared', cost: '4' },
      { resource_name: 'one', resource_uuid: null, cost: '100', bucket_start: '2026-10-01 00:00:00' },
    ],
    resources: [
      { resource_name: 'one', labels: '{"team":"checkout","app":"x"}' },
      { resource_name: 'two', labels: '{"team":"serch"}' },
      { resource_name: 'three', labels: '{"team":"chekout"}' },
      { resource_name: 'four', labels: '{"app":"x"}' },
      { resource_name: 'five', labels: '{"team":"payments"}' },
    ],
  };

  test('chargeback lists direct and shared cost by owner and billing dimension, and adds up to the month', async () => {
    const rows = (await reported('chargeback', given, { month: '2026-09' })) as Row[];
    expect(
      rows.map((row) => [row['team'], row['direct_cost'], row['shared_cost'], row['cost'], row['direct_usage']]),
    ).toEqual([
      ['checkout', '3.000000000000', '3.000000000000', '6.000000000000', '2.000000'],
      ['search', '1.000000000000', '1.000000000000', '2.000000000000', '0.000000'],
      [null, '26.000000000000', '0.000000000000', '26.000000000000', '0.000000'],
    ]);
    const byProduct = (await reported('chargeback', given, { month: '2026-09', dimension: 'product' })) as Row[];
    expect(byProduct.map((row) => [row['owner'], row['team'], row['cost']])).toEqual([
      ['{"product":null}', null, '34.000000000000'],
    ]);
  });

  test('unallocated lists the largest costs first, with the label that would assign an owner', async () => {
    const rows = (await reported('unallocated', given, { month: '2026-09' })) as Row[];
    expect(
      rows.map((row) =>
        ['rank', 'resource_name', 'cost', 'label', 'label_value', 'suggested_value', 'fix'].map(
          (column) => row[column],
        ),
      ),
    ).toEqual([
      ['1', 'four', '9.000000000000', 'team', null, null, 'set the label team'],
      ['2', 'five', '8.000000000000', 'team', 'payments', null, 'a rule for the label team: payments'],
      [
        '3',
        'three',
        '7.000000000000',
        'team',
        'chekout',
        'checkout',
        'the label team is chekout: make it checkout, or an alias of it',
      ],
      ['4', 'six', '2.000000000000', null, null, null, 'a rule by workspace, name or type: no label reaches it'],
    ]);
  });

  test('label_coverage shows the share of all cost by month and label', async () => {
    const rows = (await reported('label_coverage', given)) as Row[];
    const columns = ['month', 'label', 'cost', 'labelled_cost', 'labelled_share', 'resources', 'labelled_resources'];
    expect(rows.map((row) => columns.map((column) => row[column]))).toEqual([
      ['2026-09-01', 'app', '34.000000000000', '12.000000000000', '0.352941', '7', '2'],
      ['2026-09-01', 'team', '34.000000000000', '19.000000000000', '0.558824', '7', '4'],
      ['2026-10-01', 'app', '100.000000000000', '100.000000000000', '1.000000', '1', '1'],
      ['2026-10-01', 'team', '100.000000000000', '100.000000000000', '1.000000', '1', '1'],
    ]);
  });

  test('label_coverage counts a volume with the labels of its mounters, in equal parts', async () => {
    const disk = { resource_type: 'volume', resource_name: 'disk', resource_uuid: null };
    const rows = await reported('label_coverage', {
      ...complete,
      costs: [
        { ...disk, bucket_start: '2026-09-01 00:00:00', cost: '1' },
        { ...disk, bucket_start: '2026-09-02 00:00:00', cost: '4' },
        { ...disk, resource_name: 'free', cost: '8' },
      ],
      resources: ['a', 'b', 'c'].map((name, place) => ({
        resource_name: name,
        labels: place === 0 ? null : '{"team":"Ada"}',
        volumes: '["disk"]',
        ...(place === 2 ? { valid_from: '2026-09-02', created_at: '2026-09-02' } : {}),
      })),
    });
    expect(rows).toMatchObject([
      {
        label: 'team',
        cost: '13.000000000000',
        labelled_cost: '3.166666666666',
        resources: '2',
        labelled_resources: '1',
      },
    ]);
  });

  test('splits_have_weights warns if a split does not follow its rule', async () => {
    const costs = [{ workspace: 'shared', cost: '4' }, { cost: '-1' }];
    const allocation =
      'rules:\n  - {name: s, when: {workspace: shared}, split: {by: cost}}\n  - {name: n, when: {workspace: north}, owner: {team: x}}\n';
    const [check] = (await readChecks('/nowhere')).filter(({ name }) => name === 'splits_have_weights');
    if (check === undefined) throw new Error('there is no such check');
    for (const [rows, reason] of [
      [costs, 'split evenly: no owner has any weight'],
      [costs.slice(0, 1), 'no owner: nobody owns any cost in this month'],
      [[{ workspace: 'shared', cost: '4' }, { cost: '1' }], undefined],
    ] as const) {
      const books = await givenBooks({ costs: rows, allocation });
      try {
        const result = await runCheck(books.connection, check);
        expect(result.error).toBeUndefined();
        expect(result.rows.map((row) => row['reason'])).toEqual(reason === undefined ? [] : [reason]);
      } finally {
        books.close();
      }
    }
  });
});
