import { describe, expect, test } from 'vitest';
import { orderedQuery, readReports } from '../../src/reports/questions/catalogue.ts';
import fc from '../support/fast-check.ts';
import { type Given, givenBooks } from '../support/given-books.ts';
import { bind, builtInReport, reported } from '../support/reported.ts';

type Row = Readonly<Record<string, string | number | boolean | null>>;

const ours = [
  'cost_by_workspace',
  'cost_by_resource',
  'daily_trend',
  'top_movers',
  'price_volume',
  'unit_rates',
  'idle',
] as const;

/** Books of an account that are complete from one day to another. */
function complete(from: string, through: string, account = 'acc_one'): Required<Pick<Given, 'accounts' | 'covered'>> {
  return {
    accounts: [{ account, history_start: from }],
    covered: [{ account, window_start: from, window_end: through, claimed_end: through }],
  };
}

/** The rows with these columns only. */
function only(rows: readonly unknown[], ...columns: string[]): unknown[] {
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column, (row as Row)[column]])));
}

/** The cells of these columns, row by row, zeros behind the last decimal left out. */
function cells(rows: readonly unknown[], ...columns: string[]): unknown[][] {
  return rows.map((row) =>
    columns.map((column) => {
      const cell = (row as Row)[column];
      return typeof cell === 'string' && /^-?\d+\.\d+$/.test(cell) ? cell.replace(/\.?0+$/, '') : cell;
    }),
  );
}

function day(number: number, month = '2026-09'): string {
  return `${month}-${String(number).padStart(2, '0')}`;
}

/** An amount on each of some days, at five in the morning. */
function daily(days: readonly number[], row: Row, month = '2026-09'): Row[] {
  return days.map((number) => ({ ...row, bucket_start: `${day(number, month)} 05:00:00` }));
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

test.each(ours)('%s is empty for empty books', async (name) => {
  const period = { month: '2026-09', from: '2026-09-01', to: '2026-09-02', until: '2026-09-30' };
  const report = await builtInReport(name);
  const given = Object.entries(period).filter(([key]) => report.parameters.some((parameter) => parameter.name === key));
  expect(await reported(name, {}, Object.fromEntries(given))).toEqual([]);
});

test.each(ours)('%s has no amount or rate of type DOUBLE', async (name) => {
  const { connection, close } = await givenBooks(complete('2026-08-01', '2026-10-01'));
  try {
    const report = await builtInReport(name);
    const { columns, chunks } = await connection.stream(
      orderedQuery(report),
      await bind(report, connection, {}, Date.parse('2026-10-01T04:00:00Z')),
    );
    for await (const _ of chunks);
    expect(columns.filter(({ type }) => /DOUBLE|FLOAT|HUGEINT|DECIMAL\(38,0\)/.test(type))).toEqual([]);
    for (const { name: column, type } of columns) {
      if (/(?:cost|change|effect|rounding|_day_before|average)/.test(column) && type.startsWith('DECIMAL'))
        expect([column, type]).toEqual([
          column,
          column === 'change_share' ? 'DECIMAL(38,6)' : expect.stringMatching(/^DECIMAL\(38,1[28]\)$/),
        ]);
    }
  } finally {
    close();
  }
});

test('every report about cost can be limited to one account and one workspace', async () => {
  for (const report of await readReports('/nowhere')) {
    if (!ours.some((name) => name === report.name)) continue;
    expect([report.name, ...report.parameters.map(({ name }) => name)]).toEqual(
      expect.arrayContaining([report.name, 'account', 'workspace']),
    );
  }
});

describe('cost_by_workspace', () => {
  test('can be limited to one account or one workspace', async () => {
    const given = {
      costs: [
        { cost: '1', account: 'acc_one', workspace: 'north' },
        { cost: '2', account: 'acc_one', workspace: null },
        { cost: '4', account: 'acc_two', workspace: 'north' },
      ],
    };
    const month = '2026-09';
    const asked = [
      { month, account: 'acc_one' },
      { month, workspace: 'north' },
      { month, account: 'acc_none' },
    ];
    const answers: unknown[] = [];
    for (const parameters of asked)
      answers.push(cells(await reported('cost_by_workspace', given, parameters), 'account', 'workspace', 'cost'));
    expect(answers).toEqual([
      [
        ['acc_one', 'north', '1'],
        ['acc_one', null, '2'],
      ],
      [
        ['acc_one', 'north', '1'],
        ['acc_two', 'north', '4'],
      ],
      [],
    ]);
  });
});

describe('cost_by_resource', () => {
  const given: Given = {
    costs: [
      { bucket_start: '2026-08-31 23:00:00', cost: '50' },
      { bucket_start: '2026-09-02 00:00:00', usage: '5' },
      { bucket_start: '2026-09-03 23:00:00', cost: '2' },
      { bucket_start: '2026-09-20 00:00:00', cost: '1', billing_dimension: 'sandbox_image_storage_gbs' },
      { bucket_start: '2026-09-21 00:00:00', usage: '5' },
      { bucket_start: '2026-09-30 23:00:00', cost: '5', workspace: null, resource_name: null, resource_uuid: null },
      { bucket_start: '2026-10-01 00:00:00', cost: '50' },
      { bucket_start: '2026-09-05 00:00:00', cost: '3', account: 'acc_two' },
      { bucket_start: '2026-09-06 00:00:00', cost: '-3', account: 'acc_two', resource_uuid: 'sbx-2' },
    ],
  };

  test('adds up everything billed to a resource, with its share and the days on which it cost', async () => {
    const rows = await reported('cost_by_resource', given, { month: '2026-09' });
    expect(rows[0]).toEqual({
      account: 'acc_one',
      month: '2026-09-01',
      workspace: 'north',
      resource_type: 'sandbox',
      resource_name: 'box',
      resource_uuid: 'sbx-1',
      cost: '3.000000000000',
      share_of_account: '0.375000',
      first_cost_date: '2026-09-03',
      last_cost_date: '2026-09-20',
    });
    expect(cells(rows, 'account', 'workspace', 'resource_uuid', 'cost', 'share_of_account')).toEqual([
      ['acc_one', 'north', 'sbx-1', '3', '0.375'],
      ['acc_one', null, null, '5', '0.625'],
      // A credit outweighs the cost: a share of nothing is none.
      ['acc_two', 'north', 'sbx-1', '3', null],
      ['acc_two', 'north', 'sbx-2', '-3', null],
    ]);
  });

  test('has shares of the account even if limited to one workspace', async () => {
    const rows = await reported('cost_by_resource', given, {
      month: '2026-09',
      workspace: 'north',
      account: 'acc_one',
    });
    expect(cells(rows, 'resource_uuid', 'share_of_account')).toEqual([['sbx-1', '0.375']]);
  });

  test('has no days for a resource that was used but cost nothing', async () => {
    const rows = await reported('cost_by_resource', { costs: [{ usage: '1' }] }, { month: '2026-09' });
    expect(cells(rows, 'cost', 'share_of_account', 'first_cost_date', 'last_cost_date')).toEqual([
      ['0', null, null, null],
    ]);
  });
});

describe('daily_trend', () => {
  test('shows 0 for a complete day without cost, and an incomplete day in another column', async () => {
    const rows = await reported(
      'daily_trend',
      {
        ...complete('2026-09-02', '2026-09-05 07:00:00'),
        costs: [
          ...daily([1, 2], { cost: '9' }),
          { bucket_start: '2026-09-04 00:00:00', cost: '0.1' },
          { bucket_start: '2026-09-04 23:00:00', cost: '0.2', resource_uuid: null },
          { bucket_start: '2026-09-05 06:00:00', cost: '1' },
        ],
      },
      { from: '2026-09-01', to: '2026-09-07' },
    );
    expect(rows[2]).toEqual({
      account: 'acc_one',
      workspace: null,
      usage_date: '2026-09-03',
      is_complete: true,
      cost: '0.000000000000',
      cost_so_far: null,
      change_to_day_before: '-9.000000000000',
      change_to_week_before: null,
      average_of_seven_days: null,
    });
    expect(cells(rows, 'usage_date', 'is_complete', 'cost', 'cost_so_far', 'change_to_day_before')).toEqual([
      ['2026-09-01', false, null, '9', null],
      ['2026-09-02', true, '9', null, null],
      ['2026-09-03', true, '0', null, '-9'],
      ['2026-09-04', true, '0.3', null, '0.3'],
      ['2026-09-05', false, null, '1', null],
      ['2026-09-06', false, null, null, null],
    ]);
  });

  test('compares days with those before the period, and rounds the average to the nearest trillionth', async () => {
    const given = {
      ...complete('2026-08-01', '2026-09-20'),
      costs: [...daily([25, 31], { cost: '0.000000000005' }, '2026-08'), ...daily([1], { cost: '3' })],
    };
    const rows = await reported('daily_trend', given, { from: '2026-08-31', to: '2026-09-03' });
    expect(only(rows, 'usage_date', 'change_to_day_before', 'change_to_week_before', 'average_of_seven_days')).toEqual([
      {
        usage_date: '2026-08-31',
        change_to_day_before: '0.000000000005',
        change_to_week_before: '0.000000000005',
        average_of_seven_days: '0.000000000001', // 10/7
      },
      {
        usage_date: '2026-09-01',
        change_to_day_before: '2.999999999995',
        change_to_week_before: '2.999999999995',
        average_of_seven_days: '0.428571428572', // 3.000000000005/7 = 0.42857142857214…
      },
      {
        usage_date: '2026-09-02',
        change_to_day_before: '-3.000000000000',
        change_to_week_before: '0.000000000000',
        average_of_seven_days: '0.428571428572',
      },
    ]);
  });

  test('treats each account by its own completeness; one that has ended is complete as far as it came', async () => {
    const one = complete('2026-09-01', '2026-09-03');
    const two = complete('2026-09-01', '2026-09-02', 'acc_two');
    const out = complete('2026-09-01', '2026-09-02', 'acc_out');
    const rows = await reported(
      'daily_trend',
      {
        accounts: [...one.accounts, ...two.accounts, ...out.accounts.map((row) => ({ ...row, has_ended: true }))],
        covered: [...one.covered, ...two.covered, ...out.covered],
        costs: ['acc_one', 'acc_two', 'acc_out'].flatMap((account) => daily([1, 2], { account, cost: '1' })),
      },
      { from: '2026-09-01', to: '2026-09-03' },
    );
    expect(cells(rows, 'account', 'usage_date', 'cost', 'cost_so_far')).toEqual([
      ['acc_one', '2026-09-01', '1', null],
      ['acc_one', '2026-09-02', '1', null],
      ['acc_out', '2026-09-01', '1', null],
      ['acc_out', '2026-09-02', null, '1'],
      ['acc_two', '2026-09-01', '1', null],
      ['acc_two', '2026-09-02', null, '1'],
    ]);
  });

  test('groups by workspace, and can be limited to one', async () => {
    const given: Given = {
      ...complete('2026-09-01', '2026-09-30'),
      costs: [
        ...daily([1, 2], { cost: '1' }),
        ...daily([2], { cost: '-4', workspace: null, resource_uuid: null }),
        ...daily([2], { cost: '2', workspace: 'atlas' }),
      ],
    };
    const period = { from: '2026-09-01', to: '2026-09-03' };
    const columns = ['workspace', 'usage_date', 'cost', 'change_to_day_before'] as const;
    expect(cells(await reported('daily_trend', given, { ...period, by_workspace: 'true' }), ...columns)).toEqual([
      ['atlas', '2026-09-01', '0', null],
      ['atlas', '2026-09-02', '2', '2'],
      ['north', '2026-09-01', '1', null],
      ['north', '2026-09-02', '1', '0'],
      [null, '2026-09-01', '0', null],
      [null, '2026-09-02', '-4', '-4'],
    ]);
    expect(cells(await reported('daily_trend', given, { ...period, workspace: 'north' }), ...columns)).toEqual([
      ['north', '2026-09-01', '1', null],
      ['north', '2026-09-02', '1', '0'],
    ]);
    expect(cells(await reported('daily_trend', given, period), ...columns)).toEqual([
      [null, '2026-09-01', '1', null],
      [null, '2026-09-02', '-1', '-2'],
    ]);
  });
});

describe('top_movers', () => {
  const whole = complete('2026-07-01', '2026-10-05 12:00:00');

  test('lists the largest changes first, including decreases, and marks new and removed resources', async () => {
    const rows = await reported(
      'top_movers',
      {
        ...whole,
        costs: [
          ...daily([31], { cost: '10', resource_uuid: 'falls' }, '2026-08'),
          ...daily([1], { cost: '2', resource_uuid: 'falls' }),
          ...daily([3], { cost: '3', resource_uuid: 'new' }),
          ...daily([4], { cost: '4', resource_uuid: 'gone' }, '2026-08'),
          ...daily([4], { cost: '4', resource_uuid: 'same' }, '2026-08'),
          ...daily([30], { cost: '4', resource_uuid: 'same' }),
          ...daily([5], { cost: '-1', resource_uuid: null, workspace: null, resource_name: null }),
          ...daily([1], { usage: '1', resource_uuid: 'free' }),
        ],
      },
      { month: '2026-09' },
    );
    expect(rows[0]).toEqual({
      account: 'acc_one',
      rank: 1,
      workspace: 'north',
      resource_type: 'sandbox',
      resource_name: 'box',
      resource_uuid: 'falls',
      base_cost: '10.000000000000',
      cost: '2.000000000000',
      change: '-8.000000000000',
      change_share: '-0.800000',
      change_type: null,
      compared_start: '2026-09-01 00:00:00',
      compared_end: '2026-10-01 00:00:00',
      base_start: '2026-08-01 00:00:00',
      base_end: '2026-09-01 00:00:00',
    });
    expect(cells(rows, 'rank', 'resource_uuid', 'change', 'change_share', 'change_type')).toEqual([
      [1, 'falls', '-8', '-0.8', null],
      [2, 'gone', '-4', '-1', 'gone'],
      [3, 'new', '3', null, 'new'],
      [4, null, '-1', null, 'new'],
    ]);
  });

  test('applies the limit to each account, and orders equal changes by name', async () => {
    const two = complete('2026-07-01', '2026-10-05', 'acc_two');
    const rows = await reported(
      'top_movers',
      {
        accounts: [...whole.accounts, ...two.accounts],
        covered: [...whole.covered, ...two.covered],
        costs: ['c', 'b', 'a'].flatMap((resource_uuid) => [
          ...daily([1], { resource_uuid, cost: '1' }),
          ...daily([1], { resource_uuid, cost: '1', account: 'acc_two' }),
        ]),
      },
      { month: '2026-09', limit: '2' },
    );
    expect(cells(rows, 'account', 'rank', 'resource_uuid')).toEqual([
      ['acc_one', 1, 'a'],
      ['acc_one', 2, 'b'],
      ['acc_two', 1, 'a'],
      ['acc_two', 2, 'b'],
    ]);
  });

  test('compares an unfinished month with the same hours of the month before, and names them', async () => {
    const rows = await reported(
      'top_movers',
      {
        ...whole,
        costs: [
          { bucket_start: '2026-10-05 11:00:00', cost: '5', resource_uuid: 'a' },
          { bucket_start: '2026-10-05 12:00:00', cost: '100', resource_uuid: 'a' },
          { bucket_start: '2026-09-05 11:00:00', cost: '2', resource_uuid: 'a' },
          { bucket_start: '2026-09-05 12:00:00', cost: '100', resource_uuid: 'a' },
          // Later last month: neither new now, nor gone.
          { bucket_start: '2026-10-01 00:00:00', cost: '1', resource_uuid: 'b' },
          { bucket_start: '2026-09-20 00:00:00', cost: '1', resource_uuid: 'b' },
        ],
      },
      { month: '2026-10' },
    );
    const columns = ['resource_uuid', 'base_cost', 'cost', 'change_type', 'compared_end', 'base_start', 'base_end'];
    const end = ['2026-10-05 12:00:00', '2026-09-01 00:00:00', '2026-09-05 12:00:00'];
    expect(cells(rows, ...columns)).toEqual([
      ['a', '2', '5', null, ...end],
      ['b', '0', '1', null, ...end],
    ]);
  });

  test('compares only the hours that both months have if the books start within the month before', async () => {
    const rows = await reported(
      'top_movers',
      {
        ...complete('2026-08-11', '2026-10-05'),
        costs: [...daily([5, 10, 11, 30], { cost: '1' }), ...daily([5, 11, 31], { cost: '1' }, '2026-08')],
      },
      { month: '2026-09' },
    );
    // 480 hours: 11 to 30 September, 11 to 30 August.
    expect(cells(rows, 'base_cost', 'cost', 'compared_start', 'compared_end', 'base_start', 'base_end')).toEqual([
      ['1', '2', '2026-09-11 00:00:00', '2026-10-01 00:00:00', '2026-08-11 00:00:00', '2026-08-31 00:00:00'],
    ]);
  });

  test('compares an unfinished longer month with all of a shorter one', async () => {
    const rows = await reported(
      'top_movers',
      {
        ...complete('2026-01-01', '2026-03-31'),
        costs: [...daily([28], { cost: '1' }, '2026-02'), ...daily([28, 29], { cost: '2' }, '2026-03')],
      },
      { month: '2026-03' },
    );
    expect(cells(rows, 'base_cost', 'cost', 'compared_end', 'base_end')).toEqual([
      ['1', '2', '2026-03-29 00:00:00', '2026-03-01 00:00:00'],
    ]);
  });

  test('compares nothing with hours that are not in the books', async () => {
    const costs = [...daily([1], { cost: '1' }), ...daily([1], { cost: '1' }, '2026-08')];
    for (const books of [
      complete('2026-10-01', '2026-11-01'),
      complete('2026-07-01', '2026-09-01'),
      { accounts: [{}] },
    ])
      expect(await reported('top_movers', { ...books, costs }, { month: '2026-09' })).toEqual([]);
  });
});

const effects = ['change', 'price_effect', 'volume_effect', 'new_cost', 'gone_cost', 'without_usage', 'rounding'];

describe('price_volume', () => {
  const whole = complete('2026-07-01', '2026-10-05');
  const month = '2026-09';

  /** What the report says of one series with these amounts in the base month and the month. */
  async function split(base: readonly Row[], now: readonly Row[]): Promise<unknown[][]> {
    const costs = [
      ...base.map((row, hour) => ({ ...row, bucket_start: `2026-08-03 0${hour}:00:00` })),
      ...now.map((row, hour) => ({ ...row, bucket_start: `2026-09-03 0${hour}:00:00` })),
    ];
    return cells(await reported('price_volume', { ...whole, costs }, { month }), ...effects);
  }

  test.each<[string, Row[], Row[], string[]]>([
    ['a higher price', [{ cost: '2', usage: '10' }], [{ cost: '3', usage: '10' }], ['1', '1', '0', '0', '0', '0', '0']],
    ['more usage', [{ cost: '2', usage: '10' }], [{ cost: '6', usage: '30' }], ['4', '0', '4', '0', '0', '0', '0']],
    [
      'both: volume at the old price, the price on the new volume',
      [{ cost: '2', usage: '10' }],
      [{ cost: '9', usage: '30' }],
      ['7', '3', '4', '0', '0', '0', '0'],
    ],
    ['new', [], [{ cost: '9', usage: '30' }], ['9', '0', '0', '9', '0', '0', '0']],
    ['gone', [{ cost: '9', usage: '30' }], [], ['-9', '0', '0', '0', '-9', '0', '0']],
    [
      'a credit without usage is neither price nor volume',
      [{ cost: '2', usage: '10' }],
      [{ cost: '4', usage: '20' }, { cost: '-3' }],
      ['-1', '0', '2', '0', '0', '-3', '0'],
    ],
    [
      'a credit that ended',
      [{ cost: '2', usage: '10' }, { cost: '-3' }],
      [{ cost: '2', usage: '10' }],
      ['3', '0', '0', '0', '0', '3', '0'],
    ],
    ['cost without usage in both', [{ cost: '2' }], [{ cost: '5' }], ['3', '0', '0', '0', '0', '3', '0']],
    [
      'usage where there was only a fee',
      [{ cost: '2' }],
      [{ cost: '5', usage: '1' }],
      ['3', '0', '0', '5', '0', '-2', '0'],
    ],
    [
      'usage beyond what was free: all is volume',
      [{ cost: '0', usage: '10' }],
      [{ cost: '4', usage: '20' }],
      ['4', '0', '4', '0', '0', '0', '0'],
    ],
    ['free and still free', [{ usage: '10' }], [{ usage: '20' }], ['0', '0', '0', '0', '0', '0', '0']],
    [
      // 4 units an hour are free, and each further one costs 1.
      'the same price above a free allowance: all is volume',
      [
        { cost: '1', usage: '5' },
        { cost: '2', usage: '6' },
        { cost: '0', usage: '3' },
      ],
      [
        { cost: '6', usage: '10' },
        { cost: '8', usage: '12' },
      ],
      ['11', '0', '11', '0', '0', '0', '0'],
    ],
    [
      'another price above a free allowance',
      [
        { cost: '1', usage: '5' },
        { cost: '2', usage: '6' },
        { cost: '0', usage: '3' },
      ],
      [
        { cost: '2', usage: '5' },
        { cost: '4', usage: '6' },
      ],
      ['3', '3.642857142857', '-0.642857142857', '0', '0', '0', '0'],
    ],
    [
      'a negative price',
      [{ cost: '-2', usage: '10' }],
      [{ cost: '-6', usage: '30' }],
      ['-4', '0', '-4', '0', '0', '0', '0'],
    ],
    [
      // 1/3 a unit: 10^-18 is lost in the rate, what is lost in the effects is rounding.
      'a rate that is no exact decimal',
      [{ cost: '1', usage: '3' }],
      [{ cost: '1', usage: '7' }],
      ['0', '-1.333333333333', '1.333333333333', '0', '0', '0', '0'],
    ],
    [
      'two thirds, both rounded up',
      [{ cost: '0.000000000002', usage: '3' }],
      [{ cost: '0.000000000002', usage: '4' }],
      ['0', '-0.000000000001', '0.000000000001', '0', '0', '0', '0'],
    ],
    [
      'a meaningless rate of a cost with almost no usage',
      [{ cost: '900000', usage: '0.000001' }],
      [{ cost: '800000', usage: '90000000000' }],
      ['-100000', '0', '0', '0', '0', '-100000', '0'],
    ],
  ])('%s', async (_, base, now, parts) => {
    expect(await split(base, now)).toEqual([parts]);
  });

  test('shows rates, units and compared hours for each dimension of each resource', async () => {
    const storage = { billing_dimension: 'sandbox_image_storage_gbs' };
    const rows = await reported(
      'price_volume',
      {
        ...whole,
        costs: [
          ...daily([1, 2], { cost: '1', usage: '3' }, '2026-08'),
          ...daily([1], { cost: '1', usage: '3' }),
          ...daily([1], { cost: '1', usage: '2', ...storage }),
          ...daily([1], { cost: '1', usage: '2', billing_dimension: null, workspace: null, resource_name: null }),
        ],
      },
      { month },
    );
    expect(rows[0]).toEqual({
      account: 'acc_one',
      workspace: 'north',
      resource_type: 'sandbox',
      resource_name: 'box',
      resource_uuid: 'sbx-1',
      billing_dimension: 'sandbox_compute_runtime_gbs',
      unit: 'GB-seconds',
      base_usage: '6.000000',
      usage: '3.000000',
      base_rate: '0.333333333333333333',
      rate: '0.333333333333333333',
      base_cost: '2.000000000000',
      cost: '1.000000000000',
      change: '-1.000000000000',
      price_effect: '0.000000000000',
      volume_effect: '-1.000000000000',
      new_cost: '0.000000000000',
      gone_cost: '0.000000000000',
      without_usage: '0.000000000000',
      rounding: '0.000000000000',
      compared_start: '2026-09-01 00:00:00',
      compared_end: '2026-10-01 00:00:00',
      base_start: '2026-08-01 00:00:00',
      base_end: '2026-09-01 00:00:00',
    });
    expect(cells(rows, 'workspace', 'billing_dimension', 'unit', 'base_rate', 'rate', 'new_cost').slice(1)).toEqual([
      ['north', 'sandbox_image_storage_gbs', 'GB-seconds', null, '0.5', '1'],
      [null, null, null, null, '0.5', '1'],
    ]);
  });

  test('compares any two months, and accounts that are not equally complete', async () => {
    const two = complete('2026-07-01', '2026-09-02', 'acc_two');
    const rows = await reported(
      'price_volume',
      {
        accounts: [...whole.accounts, ...two.accounts],
        covered: [...whole.covered, ...two.covered],
        costs: ['acc_one', 'acc_two'].flatMap((account) => [
          ...daily([1, 2], { account, cost: '1', usage: '1' }, '2026-07'),
          ...daily([1, 2], { account, cost: '9', usage: '9' }, '2026-08'),
          ...daily([1, 2], { account, cost: '2', usage: '2' }),
        ]),
      },
      { month, base: '2026-07' },
    );
    expect(cells(rows, 'account', 'base_cost', 'cost', 'volume_effect', 'compared_end', 'base_end')).toEqual([
      ['acc_one', '2', '4', '2', '2026-10-01 00:00:00', '2026-08-01 00:00:00'],
      ['acc_two', '1', '2', '1', '2026-09-02 00:00:00', '2026-07-02 00:00:00'],
    ]);
  });

  test('has parts that add up to the change, and lines that add up to the months', async () => {
    const report = await builtInReport('price_volume');
    const decimal = (max: bigint, scale: number) =>
      fc.bigInt({ min: 0n, max }).map((digits) => {
        const text = String(digits).padStart(scale + 1, '0');
        return `${text.slice(0, -scale)}.${text.slice(-scale)}`;
      });
    const cost = fc.tuple(fc.boolean(), fc.oneof(decimal(20n, 12), decimal(999_999n * 10n ** 12n, 12)));
    const amount = fc.record({
      bucket_start: fc.constantFrom('2026-08-01 00:00:00', '2026-08-31 23:00:00', '2026-09-01 00:00:00'),
      cost: cost.map(([isCredit, text]) => (isCredit ? `-${text}` : text)),
      usage: fc.oneof(fc.constant('0'), decimal(20n, 6), decimal(10n ** 17n, 6)),
      resource_uuid: fc.constantFrom('a', 'b', 'c', null),
      workspace: fc.constantFrom('north', null),
    });
    const hours = fc.uniqueArray(amount, {
      maxLength: 20,
      selector: ({ bucket_start, resource_uuid, workspace }) => [bucket_start, resource_uuid, workspace].join(),
    });
    await fc.assert(
      fc.asyncProperty(hours, async (costs) => {
        const { connection, close } = await givenBooks({ ...whole, costs });
        try {
          const [row] = await connection.rows(
            `with lines as (\n${orderedQuery(report)}\n), months as (
              select
                coalesce(sum(cost) filter (where usage_month = '2026-09-01'), 0) as cost,
                coalesce(sum(cost) filter (where usage_month = '2026-08-01'), 0) as base_cost
              from costs_monthly
            )
            select
              count(*) filter (where
                price_effect + volume_effect + new_cost + gone_cost + without_usage + rounding <> change
                or change <> cost - base_cost
                or abs(rounding) > 0.000000000002 + greatest(usage, base_usage) * cast(1e-18 as decimal(18, 18))
              ) as wrong,
              coalesce(sum(cost), 0) = any_value((select cost from months)) as has_month,
              coalesce(sum(base_cost), 0) = any_value((select base_cost from months)) as has_base
            from lines`,
            await bind(report, connection, { month }),
          );
          expect(row).toEqual({
            wrong: '0',
            has_month: costs.length === 0 ? null : true,
            has_base: costs.length === 0 ? null : true,
          });
        } finally {
          close();
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('unit_rates', () => {
  const period = { from: '2026-09-01', to: '2026-10-01' };
  const changed = ['workspace', 'changed_on', 'rate_before_change', 'rate'];

  /** The rows on which a change of price is flagged. */
  async function changes(
    costs: readonly Row[],
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<unknown[][]> {
    const rows = await reported('unit_rates', { costs }, { ...period, ...parameters });
    return cells(
      rows.filter((row) => (row as Row)['is_price_change']),
      ...changed,
    );
  }

  test('shows the price of a unit each day, without costs that no usage explains', async () => {
    const rows = await reported(
      'unit_rates',
      {
        costs: [
          { bucket_start: '2026-09-01 05:00:00', cost: '2', usage: '3' },
          { bucket_start: '2026-09-01 06:00:00', cost: '-1' },
          { bucket_start: '2026-09-02 06:00:00', cost: '-1' },
          { bucket_start: '2026-09-03 06:00:00', usage: '4' },
        ],
      },
      period,
    );
    expect(rows[0]).toEqual({
      account: 'acc_one',
      billing_dimension: 'sandbox_compute_runtime_gbs',
      resource_type: 'sandbox',
      unit: 'GB-seconds',
      rate_of: 'account',
      workspace: null,
      period_start: '2026-09-01',
      usage: '3.000000',
      cost: '1.000000000000',
      cost_without_usage: '-1.000000000000',
      rate: '0.666666666666666667',
      rate_before_change: null,
      is_price_change: false,
      changed_on: null,
    });
    expect(cells(rows, 'period_start', 'cost', 'cost_without_usage', 'usage', 'rate')).toEqual([
      ['2026-09-01', '1', '-1', '3', '0.666666666666666667'],
      ['2026-09-02', '-1', '-1', '0', null],
      ['2026-09-03', '0', '0', '4', '0'],
    ]);
  });

  test('flags a changed price once, with its date', async () => {
    const costs = [
      ...daily(range(1, 9), { cost: '1', usage: '10' }),
      ...daily(range(10, 20), { cost: '2', usage: '10' }),
    ];
    expect(await changes(costs)).toEqual([[null, '2026-09-10', '0.1', '0.2']]);
    // Also on the first requested day, and on the last known day.
    expect(await changes(costs, { from: '2026-09-10' })).toHaveLength(1);
    expect(await changes(costs, { to: '2026-09-11' })).toHaveLength(1);
    expect(await changes(costs, { from: '2026-09-11' })).toEqual([]);
    expect(await changes(costs, { by_month: 'true' })).toEqual([[null, '2026-09-10', '0.1', '0.155']]);
  });

  test('flags a price that changes within a day on that day', async () => {
    const costs = [
      ...daily(range(1, 9), { cost: '1', usage: '10' }),
      ...daily([10], { cost: '1.4', usage: '10' }),
      ...daily(range(11, 20), { cost: '2', usage: '10' }),
    ];
    expect(await changes(costs)).toEqual([[null, '2026-09-10', '0.1', '0.14']]);
  });

  test('flags two changes separately; days without usage in between do not matter', async () => {
    const costs = [
      ...daily([1, 3, 5], { cost: '1', usage: '10' }),
      ...daily([8, 10, 12, 14], { cost: '2', usage: '10' }),
      ...daily([20, 22, 23], { cost: '1.5', usage: '10' }),
    ];
    expect(await changes(costs)).toEqual([
      [null, '2026-09-08', '0.1', '0.2'],
      [null, '2026-09-20', '0.2', '0.15'],
    ]);
  });

  test.each<[string, Row[]]>([
    [
      'rounding noise',
      range(1, 20).flatMap((number) => daily([number], { cost: `0.09999${number % 10}000000`, usage: '1' })),
    ],
    [
      'a day of tiny usage',
      [
        ...daily(range(1, 9), { cost: '1', usage: '10' }),
        ...daily([10, 11, 12], { cost: '0.000000000001', usage: '0.000001' }),
      ],
    ],
    [
      'one odd day',
      [
        ...daily(range(1, 9), { cost: '1', usage: '10' }),
        ...daily([10], { cost: '2', usage: '10' }),
        ...daily(range(11, 20), { cost: '1', usage: '10' }),
      ],
    ],
    [
      'a rate without meaning, because some usage is free',
      range(1, 20).flatMap((number) => daily([number], { cost: `${number}`, usage: '10' })),
    ],
    [
      'a credit without usage',
      [...daily(range(1, 9), { cost: '1', usage: '10' }), ...daily(range(10, 20), { cost: '1', usage: '10' })].concat([
        { bucket_start: '2026-09-12 07:00:00', cost: '-5' },
      ]),
    ],
    ['usage that costs nothing', daily(range(1, 20), { usage: '10' })],
    [
      'a workspace with another price in between',
      [
        ...daily(range(1, 20), { cost: '1', usage: '10' }),
        ...daily(range(10, 20), { cost: '9', usage: '10', workspace: 'south' }),
      ],
    ],
  ])('flags no change of price: %s', async (_, costs) => {
    expect(await changes(costs)).toEqual([]);
  });

  test('combines workspaces with the same rate, and separates those with different rates', async () => {
    const storage = { billing_dimension: 'sandbox_image_storage_gbs' };
    const rows = await reported(
      'unit_rates',
      {
        costs: [
          ...daily([1, 2], { cost: '1', usage: '10' }),
          ...daily([1, 2], { cost: '2', usage: '10', workspace: 'south' }),
          ...daily([1, 2], { cost: '2', usage: '10', workspace: null }),
          ...daily([1, 2], { cost: '1', usage: '10', ...storage }),
          ...daily([1, 2], { cost: '2', usage: '20', workspace: 'south', ...storage }),
          ...daily([1], { cost: '5', usage: '10', account: 'acc_two' }),
        ],
      },
      { ...period, to: '2026-09-02' },
    );
    // On a single day, a price of its own looks like the day of a change.
    expect(cells(rows, 'account', 'billing_dimension', 'rate_of', 'workspace', 'rate')).toEqual([
      ['acc_one', 'sandbox_compute_runtime_gbs', 'account', null, '0.166666666666666667'],
      ['acc_one', 'sandbox_image_storage_gbs', 'account', null, '0.1'],
      ['acc_two', 'sandbox_compute_runtime_gbs', 'account', null, '0.5'],
    ]);
  });

  test('has separate lines for different rates on two days, even without a workspace', async () => {
    const rows = await reported(
      'unit_rates',
      {
        costs: [
          ...daily([1, 2], { cost: '1', usage: '10' }),
          ...daily([1, 2], { cost: '2', usage: '10', workspace: null }),
        ],
      },
      period,
    );
    expect(cells(rows, 'rate_of', 'workspace', 'period_start', 'rate')).toEqual([
      ['workspace', 'north', '2026-09-01', '0.1'],
      ['workspace', 'north', '2026-09-02', '0.1'],
      ['workspace', null, '2026-09-01', '0.2'],
      ['workspace', null, '2026-09-02', '0.2'],
    ]);
  });

  test('has the floor and the tolerance as parameters', async () => {
    const costs = [
      ...daily(range(1, 9), { cost: '1', usage: '10' }),
      ...daily(range(10, 20), { cost: '1.04', usage: '10' }),
    ];
    expect(await changes(costs, { tolerance: '0.05' })).toEqual([]);
    expect(await changes(costs, { floor: '1.1' })).toEqual([]);
    expect(await changes(costs)).toHaveLength(1);
  });
});

describe('idle', () => {
  const whole = complete('2026-08-01', '2026-10-01 06:00:00');
  const storage = { billing_dimension: 'sandbox_image_storage_gbs', cost: '0.024', usage: '100' };
  const until = { until: '2026-10-01' };
  const columns = [
    'state',
    'resource_uuid',
    'unused_since',
    'unused_days',
    'storage_cost_since',
    'storage_cost_per_month',
  ];

  test('lists storage without compute for a number of days, since when, and its cost', async () => {
    const rows = await reported(
      'idle',
      {
        ...whole,
        costs: [
          ...daily(range(1, 30), { ...storage }),
          ...daily([1, 16], { cost: '1', usage: '1' }),
          // A day later it is used: not idle for fourteen days yet.
          ...daily(range(1, 30), { ...storage, resource_uuid: 'busy' }),
          ...daily([17], { cost: '1', usage: '1', resource_uuid: 'busy' }),
          // What is stored no longer costs nothing.
          ...daily(range(1, 29), { ...storage, resource_uuid: 'ended' }),
          ...daily(range(11, 30), { ...storage, resource_uuid: 'never' }),
          ...daily(range(20, 30), { ...storage, resource_uuid: 'young' }),
        ],
      },
      until,
    );
    expect(rows[1]).toEqual({
      size_bytes: null,
      account: 'acc_one',
      state: 'used before',
      workspace: 'north',
      resource_type: 'sandbox',
      resource_name: 'box',
      resource_uuid: 'sbx-1',
      storage_start: '2026-09-01 05:00:00',
      unused_since: '2026-09-16 06:00:00',
      unused_days: 14,
      storage_cost_since: '0.336000000000',
      storage_cost_per_month: '0.730000000000',
      known_until: '2026-10-01 00:00:00',
      idle_by: 'usage',
      reason: 'no usage since 2026-09-16',
      cost_per_month: '0.730000000000',
      ...{ status: null, runtime_state: null, last_used_at: null, min_scale: null, expires_at: null },
      ...{ time_to_live: null, expiration_policies: null },
      command: 'costbook platform sandboxes --account acc_one --q=box --show-terminated true --all',
    });
    expect(cells(rows, ...columns)).toEqual([
      ['never used', 'never', '2026-09-11 05:00:00', 19, '0.48', '0.73'],
      ['used before', 'sbx-1', '2026-09-16 06:00:00', 14, '0.336', '0.73'],
    ]);
    // By another number of days.
    expect(
      await reported('idle', { ...whole, costs: daily(range(20, 30), storage) }, { ...until, days: '11' }),
    ).toEqual([]);
  });

  test('claims nothing about types without usage of their own', async () => {
    const idle = (resource_type: string) => {
      const stored = {
        ...storage,
        resource_type,
        billing_dimension: `${resource_type}_storage_gbs`,
        resource_uuid: null,
      };
      const costs = [...daily(range(1, 30), stored), ...daily([1], { cost: '1', usage: '1' })];
      return reported('idle', { ...whole, costs }, until);
    };
    expect(cells(await idle('drive'), ...columns)).toEqual([['storage only', null, null, null, null, '0.73']]);
    // A volume is used by what mounts it.
    expect(await idle('volume')).toEqual([]);
  });

  test('matches storage without uuid by name; a compute cost without usage is no use', async () => {
    const unnamed = { ...storage, resource_uuid: null };
    const costs = [
      ...daily(range(1, 30), unnamed),
      ...daily([5], { cost: '1', usage: '1' }),
      ...daily([29], { cost: '1' }),
    ];
    expect(cells(await reported('idle', { ...whole, costs }, until), ...columns)).toEqual([
      ['used before', null, '2026-09-05 06:00:00', 25, '0.6', '0.73'],
    ]);
    const used = [...costs, ...daily([28], { cost: '1', usage: '1' })];
    expect(await reported('idle', { ...whole, costs: used }, until)).toEqual([]);
  });

  test('a running resource is idle if the platform says that its last use is long ago', async () => {
    const running = { cost: '0.024', usage: '10' };
    const rows = await reported(
      'idle',
      {
        ...whole,
        costs: ['old', 'new', 'listed'].flatMap((name) => daily(range(1, 30), { ...running, resource_name: name })),
        resources: ['old', 'new', 'listed'].map((name) => ({ resource_name: name })),
        resource_use: [
          { resource_name: 'old', last_used_at: '2026-09-10 12:00:00', time_to_live: '720h' },
          { resource_name: 'new', last_used_at: '2026-09-20 12:00:00' },
        ],
      },
      until,
    );
    expect(
      cells(rows, 'resource_name', 'state', 'idle_by', 'reason', 'unused_days', 'cost_per_month', 'time_to_live'),
    ).toEqual([['old', 'runs unused', 'last use', 'last used 2026-09-10', 20, '0.73', '720h']]);
  });

  test('storage without usage is not idle if the platform knows of a later use', async () => {
    const costs = [...daily(range(1, 30), storage), ...daily([1], { cost: '1', usage: '1' })];
    const given = { ...whole, costs, resources: [{}] };
    const used = (day: string): Given => ({ ...given, resource_use: [{ last_used_at: day }] });
    expect(await reported('idle', used('2026-09-25'), until)).toEqual([]);
    expect(cells(await reported('idle', used('2026-09-05'), until), 'idle_by', 'reason', 'unused_days')).toEqual([
      ['usage, last use', 'no usage since 2026-09-01; last used 2026-09-05', 26],
    ]);
  });

  test('a resource that is off is idle by its state, since it was last on', async () => {
    const box = { cost: '0.024', usage: '1' };
    const ends = (day: string): Row => ({ valid_to: day, ended_at: day });
    const rows = await reported(
      'idle',
      {
        ...whole,
        costs: ['failed', 'off', 'back', 'fresh'].flatMap((name) =>
          daily(range(1, 30), { ...box, resource_type: 'agent', resource_name: name }),
        ),
        resources: [
          { resource_name: 'failed', ...ends('2026-09-05') },
          { resource_name: 'failed', status: 'FAILED', valid_from: '2026-09-05', ...ends('2026-09-20') },
          { resource_name: 'failed', status: 'FAILED', valid_from: '2026-09-20', region: 'eu' },
          { resource_name: 'off', is_enabled: false },
          { resource_name: 'back', status: 'DEACTIVATED', ...ends('2026-09-29') },
          { resource_name: 'back', valid_from: '2026-09-29' },
          { resource_name: 'fresh', ...ends('2026-09-28') },
          { resource_name: 'fresh', status: 'FAILED', valid_from: '2026-09-28' },
        ].map((row) => ({ ...row, resource_type: 'agent' })),
      },
      until,
    );
    expect(cells(rows, 'resource_name', 'state', 'idle_by', 'reason', 'command')).toEqual([
      [
        'failed',
        'off',
        'state',
        'FAILED since 2026-09-05',
        'costbook platform agents --account acc_one --q=failed --all',
      ],
      [
        'off',
        'off',
        'state',
        'not enabled since 2026-09-01',
        'costbook platform agents --account acc_one --q=off --all',
      ],
    ]);
  });

  test('warm instances are idle if every hour has the same usage', async () => {
    const hours = Array.from({ length: 24 * 7 }, (_, hour) => ({
      resource_type: 'mcp_server',
      cost: '0.001',
      bucket_start: new Date(Date.UTC(2026, 8, 24, hour)).toISOString().slice(0, 19).replace('T', ' '),
    }));
    const costs = [
      ...hours.map((row) => ({ ...row, resource_name: "w'arm", usage: '7200' })),
      ...hours.map((row, place) => ({ ...row, resource_name: 'called', usage: place === 40 ? '7300' : '7200' })),
      ...hours.map((row) => ({ ...row, resource_name: 'cold', usage: '7200' })),
    ];
    const functions = ["w'arm", 'called', 'cold'].map((name) => ({ resource_name: name, resource_type: 'mcp_server' }));
    const resource_use = functions.map((row) => ({ ...row, min_scale: row.resource_name === 'cold' ? 0 : 2 }));
    const rows = await reported(
      'idle',
      { ...whole, costs, resources: functions, resource_use },
      { ...until, days: '7' },
    );
    expect(cells(rows, 'resource_name', 'state', 'reason', 'cost_per_month', 'command')).toEqual([
      [
        "w'arm",
        'warm only',
        '2 warm instances, and the same usage every hour for 7 days',
        '0.73',
        "costbook platform functions --account acc_one --q='w'\\''arm' --all",
      ],
    ]);
  });

  test('a volume is idle if no resource mounts it, and not if one does', async () => {
    const disks = ['mounted', 'free'].map((name) => ({
      ...storage,
      resource_type: 'volume',
      resource_name: name,
      resource_uuid: null,
      billing_dimension: 'volume_storage_gbs',
    }));
    const costs = disks.flatMap((disk) => daily(range(1, 30), disk));
    const resources = [{ volumes: '["mounted"]' }];
    const read = ['agent', 'job', 'mcp_server', 'sandbox'].map((resource_type) => ({
      ...{ resource_type, token_workspace: 'north', outcome: 'read', read_at: '2026-10-01 02:00:00' },
    }));
    const idle = async (listings: Given['listings']) =>
      cells(
        await reported('idle', { ...whole, costs, resources, listings: listings ?? [] }, until),
        ...['resource_name', 'state', 'idle_by', 'reason'],
      );
    expect(await idle(read)).toEqual([['free', 'storage only', 'mounts', 'no resource mounts it']]);
    // Who mounts it is not known without each of these listings of its workspace.
    expect(await idle(read.slice(1))).toEqual([]);
    expect(await idle(read.map((one, index) => (index === 3 ? { ...one, outcome: 'refused' } : one)))).toEqual([]);
    expect(await idle(read.map((one) => ({ ...one, token_workspace: 'south' })))).toEqual([]);
  });

  test('does not take incomplete hours as idle', async () => {
    const costs = [...daily(range(1, 30), storage), ...daily([1], { cost: '1', usage: '1' })];
    const rows = await reported('idle', { ...complete('2026-08-01', '2026-09-20'), costs }, until);
    expect(cells(rows, 'unused_days', 'known_until', 'storage_cost_since')).toEqual([
      [18, '2026-09-20 00:00:00', '0.432'],
    ]);
    expect(await reported('idle', { ...complete('2026-08-01', '2026-09-14'), costs }, until)).toEqual([]);
    expect(await reported('idle', { accounts: [{}], costs }, until)).toEqual([]);
  });

  test('uses the complete hours of each account', async () => {
    const one = complete('2026-08-01', '2026-09-20');
    const two = complete('2026-08-01', '2026-09-29', 'acc_two');
    const costs = ['acc_one', 'acc_two'].flatMap((account) => [
      ...daily(range(1, 30), { ...storage, account }),
      // On the 21st it is used again, which one account's books do not hold for certain yet.
      ...daily([1, 21], { account, cost: '1', usage: '1' }),
    ]);
    const given = { accounts: [...one.accounts, ...two.accounts], covered: [...one.covered, ...two.covered], costs };
    const rows = await reported('idle', given, { ...until, days: '7' });
    expect(cells(rows, 'account', 'unused_days', 'known_until', 'storage_cost_since')).toEqual([
      ['acc_one', 18, '2026-09-20 00:00:00', '0.432'],
      ['acc_two', 7, '2026-09-29 00:00:00', '0.168'],
    ]);
  });

  test('evaluates each account on its own', async () => {
    const two = complete('2026-08-01', '2026-10-01', 'acc_two');
    const rows = await reported(
      'idle',
      {
        accounts: [...whole.accounts, ...two.accounts],
        covered: [...whole.covered, ...two.covered],
        costs: [
          ...['acc_one', 'acc_two'].flatMap((account) => daily(range(1, 30), { ...storage, account })),
          ...daily([20], { account: 'acc_two', cost: '1', usage: '1' }),
        ],
      },
      until,
    );
    expect(cells(rows, 'account', 'state')).toEqual([['acc_one', 'storage only']]);
  });
});
