import { describe, expect, test } from 'vitest';
import type { Given } from '../support/given-books.ts';
import { reported } from '../support/reported.ts';

type Row = Readonly<Record<string, unknown>>;

/** The cells of these columns, row by row, zeros behind the last decimal left out. */
function cells(rows: readonly unknown[], ...columns: string[]): unknown[][] {
  return rows.map((row) =>
    columns.map((column) => {
      const cell = (row as Row)[column];
      return typeof cell === 'string' && /^-?\d+\.\d+$/.test(cell) ? cell.replace(/\.?0+$/, '') : cell;
    }),
  );
}

/** Books of an account from a day on, complete through an instant. */
function complete(from: string, through: string, account = 'acc_one'): Required<Pick<Given, 'accounts' | 'covered'>> {
  return {
    accounts: [{ account, history_start: from }],
    covered: [{ account, window_start: from, window_end: through, claimed_end: through }],
  };
}

describe('monthly_by_workspace', () => {
  const given: Given = {
    ...complete('2026-08-01', '2026-10-02'),
    costs: [
      { bucket_start: '2026-08-31 23:00:00', cost: '1' },
      { bucket_start: '2026-08-01 00:00:00', cost: '2', workspace: 'total' },
      { bucket_start: '2026-09-01 00:00:00', cost: '0.000000000004' },
      { bucket_start: '2026-09-02 00:00:00', cost: '8', workspace: null },
      { bucket_start: '2026-10-01 00:00:00', cost: '16', workspace: 'o\'brien, "x"\0' },
    ],
  };

  test('has a row per month, a column per workspace and a total, and marks an unfinished month', async () => {
    const rows = await reported('monthly_by_workspace', given);
    // A workspace of the name of another column gets a number; a zero byte, which no name of a column has, is replaced.
    const columns = [
      'account',
      'month',
      'is_complete',
      'north',
      'o\'brien, "x"\ufffd',
      'total (2)',
      'no workspace',
      'total',
    ];
    expect(Object.keys(rows[0] as Row)).toEqual(columns);
    expect(cells(rows, ...columns)).toEqual([
      ['acc_one', '2026-08-01', true, '1', null, '2', null, '3'],
      ['acc_one', '2026-09-01', true, '0.000000000004', null, null, '8', '8.000000000004'],
      ['acc_one', '2026-10-01', false, null, '16', null, null, '16'],
    ]);
  });

  test('is limited to the requested months, and to workspaces with cost in them', async () => {
    const rows = await reported('monthly_by_workspace', given, { from: '2026-09', to: '2026-10' });
    expect(rows.map((row) => Object.keys(row as Row).slice(3))).toEqual([['north', 'no workspace', 'total']]);
  });

  test('combines all workspaces beyond a hundred in one column', async () => {
    const costs = Array.from({ length: 105 }, (_, index) => ({ cost: String(200 - index), workspace: `w${index}` }));
    const [row] = (await reported('monthly_by_workspace', { ...given, costs })) as Row[];
    expect(Object.keys(row ?? {})).toHaveLength(3 + 100 + 2);
    expect(cells([row], 'w0', 'w99', 'others', 'total')).toEqual([['200', '101', '490', '15540']]);
  });
});

describe('chargeback_summary', () => {
  const allocation = `
rules:
  - name: shared
    when: {resource_type: volume}
    split: {by: cost, over: [team]}
  - name: north
    when: {workspace: north}
    owner: {team: North, environment: prod}
  - name: south
    when: {workspace: south}
    owner: {team: South, environment: prod}
`;
  const given: Given = {
    ...complete('2026-08-01', '2026-10-01'),
    allocation,
    costs: [
      { bucket_start: '2026-08-05 00:00:00', cost: '5' },
      { bucket_start: '2026-08-05 00:00:00', cost: '1', workspace: 'west' },
      { bucket_start: '2026-09-05 00:00:00', cost: '3' },
      { bucket_start: '2026-09-05 00:00:00', cost: '1', workspace: 'south' },
      { bucket_start: '2026-09-05 00:00:00', cost: '0.4', resource_type: 'volume' },
      { bucket_start: '2026-09-05 00:00:00', cost: '7', workspace: 'west' },
      { bucket_start: '2026-10-05 00:00:00', cost: '99' },
    ],
  };
  const budget = { dimension: 'team', owner: 'North', month: null, amount: '4' };

  test('charges each team its own cost and its share, compared with the month before and its budget', async () => {
    const rows = await reported('chargeback_summary', given, {
      month: '2026-09',
      budgets: JSON.stringify([budget, { ...budget, month: '2026-08', amount: '1' }, { ...budget, owner: 'East' }]),
    });
    const columns = ['owner', 'direct_cost', 'shared_cost', 'cost', 'cost_month_before', 'change', 'change_share'];
    expect(cells(rows, ...columns, 'budget', 'budget_left', 'budget_share')).toEqual([
      ['North', '3', '0.3', '3.3', '5', '-1.7', '-0.34', '4', '0.7', '0.825'],
      ['South', '1', '0.1', '1.1', '0', '1.1', null, null, null, null],
      [null, '7', '0', '7', '1', '6', '6', null, null, null],
    ]);
  });

  test("uses a budget's amount for the month before its usual amount", async () => {
    const budgets = JSON.stringify([budget, { ...budget, month: '2026-09', amount: '6' }]);
    expect(cells(await reported('chargeback_summary', given, { month: '2026-09', budgets }), 'budget')[0]).toEqual([
      '6',
    ]);
  });

  test('groups by another dimension', async () => {
    const rows = await reported('chargeback_summary', given, { month: '2026-09', dimension: 'environment' });
    expect(cells(rows, 'owner', 'cost')).toEqual([
      ['prod', '4'],
      // What is shared over teams has a team and nothing else.
      [null, '7.4'],
    ]);
  });

  test('compares the complete hours of an open month with the same hours of the month before', async () => {
    const open: Given = {
      ...given,
      ...complete('2026-08-01', '2026-09-05T06:00:00Z'),
      costs: [
        { bucket_start: '2026-08-05 05:00:00', cost: '5' },
        { bucket_start: '2026-08-05 06:00:00', cost: '90' },
        { bucket_start: '2026-09-05 05:00:00', cost: '6' },
        // Not complete yet: charged, and not compared.
        { bucket_start: '2026-09-05 06:00:00', cost: '0.5' },
      ],
    };
    const names = ['cost', 'cost_month_before', 'change', 'change_share', 'compared_end'];
    expect(cells(await reported('chargeback_summary', open, { month: '2026-09' }), ...names)).toEqual([
      ['6.5', '5', '1', '0.2', '2026-09-05 06:00:00'],
    ]);
    // A shorter month before does not have the hours of the month so far.
    const march: Given = {
      ...given,
      ...complete('2026-01-01', '2026-03-31'),
      costs: [
        { bucket_start: '2026-02-28 23:00:00', cost: '5' },
        { bucket_start: '2026-03-30 05:00:00', cost: '6' },
      ],
    };
    expect(cells(await reported('chargeback_summary', march, { month: '2026-03' }), ...names)).toEqual([
      ['6', null, null, null, null],
    ]);
    const young = { ...open, ...complete('2026-08-01', '2026-09-01') };
    expect(cells(await reported('chargeback_summary', young, { month: '2026-09' }), ...names)).toEqual([
      ['6.5', null, null, null, null],
    ]);
  });

  test('has no month before if the books start later', async () => {
    const rows = await reported(
      'chargeback_summary',
      { ...given, ...complete('2026-08-02', '2026-10-01') },
      { month: '2026-09' },
    );
    expect(cells(rows, 'cost_month_before', 'change', 'change_share')[0]).toEqual([null, null, null]);
  });
});

describe('what owners are charged', () => {
  const allocation = `
dimensions: [team, environment]
rules:
  - {name: shared, when: {resource_type: volume}, split: {by: cost, over: [team]}}
  - {name: north, when: {workspace: north}, owner: {team: {label: team}}}
  - {name: south, when: {workspace: south}, owner: {team: South, environment: prod}}
`;
  const august = { bucket_start: '2026-08-05 00:00:00' };
  const volume = { ...august, resource_type: 'volume', resource_name: 'disk' };
  const restated = { old_usage: '1', new_usage: '1', load_number: 2, seen_at: '2026-09-09 01:00:00' };
  /** Corrections of both signs: of a team that has another box since, of a team without other costs, shared, and unowned. */
  const given: Given = {
    ...complete('2026-07-01', '2026-10-01'),
    allocation,
    closes: [
      { billing_month: '2026-07-01', closed_at: '2026-08-05 02:00:00', cost: '0' },
      { billing_month: '2026-08-01', closed_at: '2026-09-05 02:00:00', cost: '16.3' },
    ],
    resources: [
      { labels: '{"team":"Old"}', valid_from: '2026-07-01', valid_to: '2026-09-01', resource_uuid: 'sbx-1' },
      { labels: '{"team":"North"}', valid_from: '2026-09-01', resource_uuid: 'sbx-1' },
    ],
    costs: [
      { ...august, cost: '6', load_number: 2 },
      { ...august, workspace: 'south', cost: '5' },
      { ...volume, cost: '3.000000000001', load_number: 2 },
      { ...august, workspace: 'west', cost: '1.25', load_number: 2 },
      { bucket_start: '2026-09-05 00:00:00', cost: '30' },
      { bucket_start: '2026-09-05 00:00:00', cost: '1', workspace: 'south' },
      { bucket_start: '2026-09-05 00:00:00', cost: '0.31', resource_type: 'volume', resource_name: 'disk' },
    ],
    restatements: [
      { ...august, ...restated, old_cost: '10', new_cost: '6' },
      { ...volume, ...restated, old_cost: '0.3', new_cost: '3.000000000001' },
      { ...august, ...restated, workspace: 'west', old_cost: '1', new_cost: '1.25' },
    ],
  };
  const month = { month: '2026-09' };
  const columns = ['owner', 'cost', 'correction_cost', 'invoice_difference', 'billed_cost'];

  async function billed(books: Given, of: Readonly<Record<string, string>> = month): Promise<unknown> {
    const rows = (await reported('summary', books)) as Row[];
    return rows.find((row) => String(row['month']).startsWith(of['month'] ?? ''))?.['billed_cost'];
  }
  function sumOf(rows: readonly unknown[], column: string): string {
    const sum = (rows as Row[]).reduce((all, row) => all + BigInt(String(row[column] ?? '0').replace('.', '')), 0n);
    return `${sum / 10n ** 12n}.${String(sum % 10n ** 12n).padStart(12, '0')}`;
  }

  test('has corrections of earlier months, for the owners of the corrected hours, and adds up to what is billed', async () => {
    const rows = await reported('chargeback_summary', given, month);
    // The volume is split 10:5, as in August at its close: the correction of a direct cost moves no share.
    expect(cells(rows, ...columns)).toEqual([
      ['North', '30.3', '0', null, '30.3'],
      ['Old', '0', '-2.199999999999', null, '-2.199999999999'],
      ['South', '1.01', '0.9', null, '1.91'],
      [null, '0', '0.25', null, '0.25'],
    ]);
    expect(sumOf(rows, 'billed_cost')).toBe('30.260000000001');
    expect(await billed(given)).toBe('30.260000000001');
  });

  test('adds up to what is billed in every dimension, by billing dimension, and for one account', async () => {
    for (const [name, more] of [
      ['chargeback_summary', { dimension: 'environment' }],
      ['chargeback_summary', { account: 'acc_one' }],
      ['chargeback', {}],
      ['chargeback', { dimension: 'team' }],
    ] as const) {
      const rows = await reported(name, given, { ...month, ...more });
      expect([name, sumOf(rows, 'billed_cost')]).toEqual([name, '30.260000000001']);
    }
    const [old] = cells(
      await reported('chargeback', given, { ...month, dimension: 'team' }),
      'team',
      ...columns,
      'owner',
    ).filter(([team]) => team === 'Old');
    expect(old).toEqual(['Old', '{"team":"Old"}', '0', '-2.199999999999', null, '-2.199999999999', '{"team":"Old"}']);
  });

  test('bills a closed month that is restated later once, in every report: as it was closed, and corrections in the next', async () => {
    const sums: [string, Record<string, string>, string][] = [
      ['chargeback', {}, 'billed_cost'],
      ['chargeback', { dimension: 'environment' }, 'billed_cost'],
      ['chargeback_summary', {}, 'billed_cost'],
      ['chargeback_summary', { account: 'acc_one' }, 'billed_cost'],
      ['invoice_lines', {}, 'cost'],
      ['focus', {}, 'BilledCost'],
      ['reconciliation_summary', {}, 'billed_cost'],
    ];
    for (const [of, expected] of [
      ['2026-08', '16.300000000000'],
      ['2026-09', '30.260000000001'],
    ] as const) {
      expect(await billed(given, { month: of })).toBe(expected);
      for (const [name, more, column] of sums) {
        const rows = await reported(name, given, { month: of, ...more });
        expect([name, more, of, sumOf(rows, column)]).toEqual([name, more, of, expected]);
      }
    }
    const [old] = cells(await reported('chargeback_summary', given, { month: '2026-08' }), ...columns, 'billed_later');
    expect(old).toEqual(['Old', '7.636363636364', '0', null, '9.836363636363', '-2.199999999999']);
  });

  test('has what an invoice bills beyond the costs, without an owner', async () => {
    const closed = {
      closed_at: '2026-10-05 02:00:00',
      load_number: 2,
      cost: '31.31',
      correction_cost: '-1.049999999999',
    };
    const invoiced: Given = { ...given, closes: [...(given.closes ?? []), { ...closed, invoiced: '31' }] };
    const rows = await reported('chargeback_summary', invoiced, month);
    expect(cells(rows, ...columns).at(-1)).toEqual([null, '0', '0.25', '0.739999999999', '0.989999999999']);
    expect(sumOf(rows, 'billed_cost')).toBe('31.000000000000');
    expect(sumOf(await reported('chargeback', invoiced, month), 'billed_cost')).toBe('31.000000000000');
    expect(await billed(invoiced)).toBe('31.000000000000');
  });

  test('uses the rules that were active when the corrected month was closed', async () => {
    const later = `
dimensions: [environment, team, place]
aliases: {team: {Old: [old]}}
rules:
  - {name: default to new, when: {workspace: "*"}, owner: {team: New, place: here}}
`;
    const changed: Given = {
      ...given,
      allocation: later,
      earlierAllocation: { rules: allocation, until: '2026-09-20' },
    };
    const rows = await reported('chargeback_summary', changed, month);
    expect(cells(rows, ...columns)).toEqual([
      ['New', '31.31', '0', null, '31.31'],
      ['Old', '0', '-2.199999999999', null, '-2.199999999999'],
      ['South', '0', '0.9', null, '0.9'],
      [null, '0', '0.25', null, '0.25'],
    ]);
    // A month that was closed without rules has the current ones.
    const first: Given = { ...changed, earlierAllocation: { rules: allocation, until: '2026-09-20' }, allocation };
    const late = {
      ...first,
      closes: (given.closes ?? []).map((close) => ({ ...close, closed_at: '2026-07-31 02:00:00' })),
    };
    expect(cells(await reported('chargeback_summary', late, month), ...columns).at(1)).toEqual([
      ...['Old', '0', '-2.199999999999', null, '-2.199999999999'],
    ]);
  });

  test('moves no charge of a closed month if its workspace was renamed since; a change in it is for who paid', async () => {
    const sud = { ...august, workspace: 'sud' };
    const renamed: Given = {
      ...given,
      costs: [
        { ...august, cost: '10' },
        { ...sud, cost: '5.5', load_number: 2 },
        { bucket_start: '2026-09-05 00:00:00', cost: '1', workspace: 'sud' },
      ],
      restatements: [
        { ...august, ...restated, workspace: 'south', old_cost: '5', new_cost: null, new_usage: null },
        { ...sud, ...restated, old_cost: null, old_usage: null, new_cost: '5.5' },
      ],
    };
    const corrections = async (books: Given) =>
      cells(await reported('chargeback_summary', books, month), 'owner', 'correction_cost').filter(
        ([, cost]) => cost !== '0',
      );
    expect(await corrections(renamed)).toEqual([['South', '0.5']]);
    // A workspace that still has costs was not renamed: one of its resources has moved.
    const moved = {
      ...renamed,
      costs: [...(renamed.costs ?? []), { ...august, workspace: 'south', cost: '1', resource_uuid: 'sbx-2' }],
    };
    expect(await corrections(moved)).toEqual(
      expect.arrayContaining([
        [null, '5.5'],
        ['South', '-5'],
      ]),
    );
  });

  test('gives the correction of a volume that has gone to those who paid for it', async () => {
    const gone: Given = {
      ...given,
      costs: (given.costs ?? []).filter((row) => row['load_number'] !== 2 || row['resource_type'] !== 'volume'),
      restatements: [{ ...volume, ...restated, old_cost: '0.3', new_cost: null, new_usage: null }],
    };
    expect(cells(await reported('chargeback_summary', gone, month), 'owner', 'correction_cost')).toEqual(
      expect.arrayContaining([['South', expect.stringMatching(/^-0\.1/)]]),
    );
  });
});

describe('summary', () => {
  const columns = ['month', 'state', 'cost', 'change', 'change_share', 'year_to_date'] as const;
  const accrual = ['forecast_of_rest', 'accrual', 'forecast_basis'] as const;

  test('says since when the year is added up', async () => {
    const of = async (from: string) =>
      cells(
        await reported('summary', { ...complete(from, '2026-09-09'), costs: [{ cost: '1' }] }),
        'year_to_date_from',
      );
    expect((await of('2025-12-01'))[0]).toEqual(['2025-12-01']);
    expect((await of('2025-12-01')).at(-1)).toEqual(['2026-01-01']);
    expect((await of('2026-03-01')).at(-1)).toEqual(['2026-03-01']);
    expect((await of('2026-03-09')).at(-1)).toEqual(['2026-03-09']);
  });

  test('compares months, sums the year, and counts a complete month without cost as 0', async () => {
    const rows = await reported('summary', {
      ...complete('2025-11-10', '2026-02-01'),
      costs: [
        { bucket_start: '2025-11-20 00:00:00', cost: '1' },
        { bucket_start: '2025-12-20 00:00:00', cost: '4' },
        { bucket_start: '2026-02-01 00:00:00', cost: '0.5' },
      ],
    });
    expect(cells(rows, ...columns)).toEqual([
      ['2025-11-01', 'partly before the books', '1', null, null, '1'],
      // Nothing is compared with a month that is only partly known.
      ['2025-12-01', 'complete', '4', null, null, '5'],
      ['2026-01-01', 'complete', '0', '-4', '-1', '0'],
      ['2026-02-01', 'open', '0.5', null, null, '0.5'],
    ]);
  });

  test('accrues the cost of the open month so far, plus the rest at the pace of the last seven days', async () => {
    const costs = Array.from({ length: 9 }, (_, day) => ({ bucket_start: `2026-09-0${day + 1} 12:00:00`, cost: '24' }));
    const rows = await reported('summary', { ...complete('2026-09-01', '2026-09-09'), costs });
    // 22 days are left, and the cost of the 9th, which is not complete, is a part of them.
    expect(cells(rows, 'cost', ...accrual)).toEqual([['216', '504', '720', 'mean of 7 days, no stored forecast']]);
  });

  test('uses the last stored forecast for the hours that are left since', async () => {
    const usual = {
      ...{ scope_kind: 'workspace', account: 'acc_one', period_kind: 'monthly', period: '2026-09' },
      ...{ period_start: '2026-09-01', period_end: '2026-10-01', forecast: '32', spent: '10' },
    };
    const rows = await reported('summary', {
      ...complete('2026-08-01', '2026-09-09'),
      costs: [{ bucket_start: '2026-09-08 12:00:00', cost: '11' }],
      forecasts: [
        { ...usual, complete_through: '2026-09-08', workspace: 'north' },
        { ...usual, complete_through: '2026-09-08', workspace: 'south', forecast: '2', spent: '1' },
        { ...usual, complete_through: '2026-09-07', workspace: 'north', forecast: '1000' },
      ],
    });
    // 23 USD over 23 days, 22 of them left.
    expect(cells(rows.slice(-1), 'cost', ...accrual, 'forecast_through')).toEqual([
      ['11', '22', '33', 'sum of workspaces', '2026-09-08 00:00:00'],
    ]);
  });

  test('uses the forecast of a monthly budget of the whole account, as "budgets" shows it', async () => {
    const month = { period_kind: 'monthly', period: '2026-09', period_start: '2026-09-01', period_end: '2026-10-01' };
    const usual = { ...month, complete_through: '2026-09-09', spent: '10' };
    const given: Given = {
      ...complete('2026-08-01', '2026-09-09'),
      costs: [{ bucket_start: '2026-09-08 12:00:00', cost: '10' }],
    };
    const workspace = { ...usual, scope_kind: 'workspace', account: 'acc_one', workspace: 'north', forecast: '32' };
    const budget = { ...usual, scope_kind: 'budget', budget: 'all', account: null, scope: '{}', forecast: '40' };
    async function last(forecasts: NonNullable<Given['forecasts']>, more: Given = {}) {
      return cells((await reported('summary', { ...given, ...more, forecasts })).slice(-1), ...accrual)[0];
    }
    expect(await last([workspace, budget])).toEqual(['30', '40', 'budget all']);
    const own = { ...budget, account: 'acc_one', scope: '{"account":["acc_one"]}' };
    expect(await last([workspace, own])).toEqual(['30', '40', 'budget all']);
    const part = { ...budget, scope: '{"workspace":["north"]}' };
    expect(await last([workspace, part]), 'a budget of a part').toEqual(['22', '32', 'sum of workspaces']);
    const two = [{}, { account: 'acc_two' }];
    expect(await last([workspace, budget], { accounts: two }), 'of two accounts').toEqual([
      '22',
      '32',
      'sum of workspaces',
    ]);
    const older = { ...budget, complete_through: '2026-09-08' };
    expect(await last([workspace, older]), 'older than the workspaces').toEqual(['22', '32', 'sum of workspaces']);
  });

  test('has closed months as they were closed, and their later changes in the month that bills them', async () => {
    const restated = { old_cost: '2', new_cost: '5', old_usage: '1', new_usage: '1', seen_at: '2026-10-09 01:00:00' };
    const hour = { bucket_start: '2026-09-03 05:00:00' };
    const given: Given = {
      ...complete('2026-08-01', '2026-11-09'),
      closes: [
        { billing_month: '2026-08-01', row_count: 1, cost: '4', invoiced: '4.5', closed_at: '2026-09-05 02:00:00' },
        { billing_month: '2026-09-01', row_count: 1, cost: '2', load_number: 1 },
      ],
      costs: [
        { bucket_start: '2026-08-03 05:00:00', cost: '4' },
        { ...hour, cost: '5', load_number: 2 },
        { bucket_start: '2026-10-03 05:00:00', cost: '10' },
      ],
      restatements: [{ ...hour, ...restated }],
    };
    const rows = await reported('summary', given);
    expect(cells(rows, 'month', 'state', 'cost', 'change', 'billed_cost', 'year_to_date').slice(0, 3)).toEqual([
      ['2026-08-01', 'closed', '4', null, '4.5', '4.5'],
      ['2026-09-01', 'closed', '2', '-2', '2', '6.5'],
      ['2026-10-01', 'complete', '10', '8', '13', '19.5'],
    ]);
    const months = await reported('monthly_by_workspace', given);
    expect(cells(months, 'month', 'total')).toEqual([
      ['2026-08-01', '4'],
      ['2026-09-01', '2'],
      ['2026-10-01', '10'],
    ]);
  });

  test('accrues corrections of closed months in the open month, which bills them', async () => {
    const hour = { bucket_start: '2026-08-03 05:00:00' };
    const rows = await reported('summary', {
      ...complete('2026-08-01', '2026-09-09'),
      closes: [{ billing_month: '2026-08-01', row_count: 1, cost: '2', load_number: 1 }],
      costs: [
        { ...hour, cost: '5', load_number: 2 },
        ...Array.from({ length: 8 }, (_, day) => ({ bucket_start: `2026-09-0${day + 1} 12:00:00`, cost: '24' })),
      ],
      restatements: [{ ...hour, old_cost: '2', new_cost: '5', old_usage: '1', new_usage: '1' }],
    });
    expect(cells(rows.slice(-1), 'cost', 'billed_cost', ...accrual)).toEqual([
      ['192', '195', '528', '723', 'mean of 7 days, no stored forecast'],
    ]);
  });

  test('has no forecast from less than seven days', async () => {
    const rows = await reported('summary', { ...complete('2026-09-01', '2026-09-05'), costs: [{ cost: '1' }] });
    expect(cells(rows, 'cost', ...accrual)).toEqual([['1', null, null, 'none: under 7 days']]);
  });

  test('has no rows for an account without a complete hour', async () => {
    expect(await reported('summary', { accounts: [{}], costs: [{ cost: '1' }] })).toEqual([]);
  });
});

describe('cost_by_resource with labels', () => {
  const given: Given = {
    ...complete('2026-09-01', '2026-10-01'),
    costs: [{ cost: '1' }, { cost: '2', resource_name: 'bare', resource_uuid: null }],
    resources: [
      { labels: '{"team":"old"}', valid_to: '2026-09-10', ended_at: '2026-11-01', resource_uuid: 'sbx-1' },
      {
        labels: '{"team":"new","a/b~c":"x"}',
        valid_from: '2026-09-10',
        valid_to: '2026-10-02',
        resource_uuid: 'sbx-1',
      },
      { labels: '{"team":"next month"}', valid_from: '2026-10-02', resource_uuid: 'sbx-1' },
    ],
  };

  test('has a column for each requested label with its last value in the month', async () => {
    const rows = await reported('cost_by_resource', given, { month: '2026-09', labels: 'team, a/b~c' });
    expect(cells(rows, 'resource_name', 'cost', 'label_team', 'label_a/b~c')).toEqual([
      ['bare', '2', null, null],
      ['box', '1', 'new', 'x'],
    ]);
  });

  test('has no label column if none is requested', async () => {
    const [row] = await reported('cost_by_resource', given, { month: '2026-09' });
    expect(Object.keys(row as Row).filter((name) => /label/.test(name))).toEqual([]);
  });

  test('refuses a label that no resource has, and suggests a similar one', async () => {
    await expect(reported('cost_by_resource', given, { month: '2026-09', labels: 'taem,nothing' })).rejects.toThrow(
      'no resource in the books has a label "taem" (did you mean "team"?)\n--labels: no resource in the books has a label "nothing"',
    );
  });
});
