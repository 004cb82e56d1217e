import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { orderedQuery } from '../../src/reports/questions/catalogue.ts';
import { type Given, givenBooks } from '../support/given-books.ts';
import { bind, builtInReport, reported } from '../support/reported.ts';

type Cells = Readonly<Record<string, unknown>>;

const ofDimension = 'month_dimension_matches_platform';
const ofMonth = 'month_matches_platform';

/** September's total of a billing dimension from the platform. */
function told(billing_dimension: string | null, theirs: string, cells: Readonly<Record<string, string | number>> = {}) {
  return {
    check_code: ofDimension,
    window_start: '2026-09-01',
    window_end: '2026-10-01',
    load_number: null,
    billing_dimension,
    theirs,
    tolerance: 0.000001,
    proven_at: '2026-10-02 02:00:00',
    ...cells,
  };
}

const compute = 'sandbox_compute_runtime_gbs';
const images = 'sandbox_image_storage_gbs';

describe('invoice_lines', () => {
  function line(cells: Cells): Cells {
    return {
      account: 'acc_one',
      month: '2026-09-01',
      charge_class: null,
      incurred_month: '2026-09-01',
      billing_dimension: compute,
      unit: 'GB-seconds',
      ...cells,
    };
  }

  test("has a line per billing dimension with the platform's total next to it", async () => {
    const rows = await reported(
      'invoice_lines',
      {
        costs: [
          { bucket_start: '2026-09-01 00:00:00', cost: '1.5', usage: '400000' },
          { bucket_start: '2026-09-30 23:00:00', cost: '0.5', usage: '100000', workspace: null, resource_uuid: null },
          { cost: '2', usage: '0', billing_dimension: images },
          { cost: '3', usage: '3', billing_dimension: null },
          { bucket_start: '2026-10-01 00:00:00', cost: '100', usage: '1' },
          { cost: '7', usage: '7', account: 'acc_two' },
        ],
        reconciliation: [
          told(compute, '9', { run_number: 1 }),
          told(compute, '1', { run_number: 2, attempt: 1 }),
          told(compute, '2', { run_number: 2, attempt: 2 }),
          told(images, '2.25', { run_number: 2, attempt: 2 }),
          told(null, '3', { run_number: 2, attempt: 2 }),
          told(compute, '500000', { run_number: 2, attempt: 2, measure: 'usage' }),
        ],
      },
      { month: '2026-09' },
    );
    expect(rows).toEqual([
      line({
        usage: '500000.000000',
        effective_rate: '0.000004000000000000',
        cost: '2.000000000000',
        platform_cost: '2.000000000000',
        difference: '0.000000000000',
        proven: true,
      }),
      line({
        billing_dimension: images,
        usage: '0.000000',
        effective_rate: null,
        cost: '2.000000000000',
        platform_cost: '2.250000000000',
        difference: '-0.250000000000',
        proven: false,
      }),
      line({
        billing_dimension: null,
        unit: null,
        usage: '3.000000',
        effective_rate: '1.000000000000000000',
        cost: '3.000000000000',
        platform_cost: '3.000000000000',
        difference: '0.000000000000',
        proven: true,
      }),
      // Nobody has asked for this account's totals yet.
      line({
        account: 'acc_two',
        usage: '7.000000',
        effective_rate: '1.000000000000000000',
        cost: '7.000000000000',
        platform_cost: null,
        difference: null,
        proven: null,
      }),
    ]);
  });

  test('has a line for amounts that only the platform has, and none for zero', async () => {
    const rows = await reported(
      'invoice_lines',
      { costs: [], reconciliation: [told(images, '4'), told(compute, '0')] },
      { month: '2026-09' },
    );
    expect(rows).toEqual([
      line({
        billing_dimension: images,
        unit: null,
        usage: '0.000000',
        effective_rate: null,
        cost: '0.000000000000',
        platform_cost: '4.000000000000',
        difference: '-4.000000000000',
        proven: false,
      }),
    ]);
  });

  test('shows a credit unchanged, and a rate with every digit that the cost needs', async () => {
    const rows = await reported(
      'invoice_lines',
      {
        costs: [
          { cost: '-2.5', usage: '10' },
          { cost: '0.333333333333', usage: '3', billing_dimension: images },
        ],
      },
      { month: '2026-09' },
    );
    expect(rows).toMatchObject([
      { cost: '-2.500000000000', effective_rate: '-0.250000000000000000' },
      { cost: '0.333333333333', effective_rate: '0.111111111111000000' },
    ]);
  });

  test('lists corrections of closed months separately, with the total as of the close', async () => {
    const given: Given = {
      loads: [{ load_number: 1 }, { load_number: 2, seen_at: '2026-10-10 02:00:00' }],
      covered: [{ window_end: '2026-11-01', claimed_end: '2026-11-01' }],
      costs: [
        { bucket_start: '2026-09-05 00:00:00', cost: '3', usage: '3', load_number: 2 },
        { bucket_start: '2026-10-05 00:00:00', cost: '10', usage: '10', load_number: 1 },
      ],
      restatements: [
        {
          bucket_start: '2026-09-05 00:00:00',
          old_cost: '2',
          new_cost: '3',
          old_usage: '2',
          new_usage: '3',
          old_load_number: 1,
          load_number: 2,
          seen_at: '2026-10-10 02:00:00',
        },
      ],
      reconciliation: [told(compute, '2'), told(compute, '3', { run_number: 2, proven_at: '2026-10-10 02:00:00' })],
    };
    const rows = await closedBooks(given, 'invoice_lines', ['2026-09', '2026-10']);
    expect(rows).toEqual([
      [
        expect.objectContaining({ charge_class: 'Invoice difference', cost: '0.500000000000' }),
        line({ ...amounts('2', '2'), platform_cost: '2.000000000000', difference: '0.000000000000', proven: true }),
      ],
      [
        line({
          month: '2026-10-01',
          charge_class: 'Correction',
          ...amounts('1', '1'),
          platform_cost: null,
          difference: null,
          proven: null,
        }),
        line({
          month: '2026-10-01',
          incurred_month: '2026-10-01',
          ...amounts('10', '10'),
          platform_cost: null,
          difference: null,
          proven: null,
        }),
      ],
    ]);
    function amounts(cost: string, usage: string): Cells {
      return { usage: `${usage}.000000`, effective_rate: '1.000000000000000000', cost: `${cost}.000000000000` };
    }
  });

  test('has a line for the difference to the invoice of a closed month, also if that is zero', async () => {
    const closes = [
      { cost: '2', invoiced: '2.25' },
      { account: 'acc_two', cost: '1', invoiced: '1' },
      { account: 'acc_three', cost: '5' },
    ];
    const costs = [{ cost: '2' }, { account: 'acc_two', cost: '1' }];
    const rows = await reported('invoice_lines', { costs, closes }, { month: '2026-09' });
    expect(rows).toMatchObject([
      { account: 'acc_one', charge_class: 'Invoice difference', usage: null, cost: '0.250000000000' },
      { account: 'acc_one', charge_class: null, cost: '2.000000000000' },
      { account: 'acc_two', charge_class: 'Invoice difference', cost: '0.000000000000', platform_cost: null },
      { account: 'acc_two', charge_class: null, cost: '1.000000000000' },
    ]);
  });

  test('is empty for a month without cost', async () => {
    expect(await reported('invoice_lines', { costs: [{ cost: '1' }] }, { month: '2026-10' })).toEqual([]);
  });
});

/** What a report says of several months, with September closed after the first load. */
async function closedBooks(given: Given, name: string, months: readonly string[]): Promise<unknown[][]> {
  const report = await builtInReport(name);
  const { connection, close } = await givenBooks(given);
  try {
    await connection.run(
      `insert into ledger.closes (billing_month, account, run_number, load_number, closed_at, row_count, cost, corrections,
        correction_cost, sha256, invoiced)
      values ('2026-09-01', 'acc_one', 1, 1, '2026-10-04 00:00:00', 1, 2, 0, 0, 'none', 2.5)`,
    );
    const rows: unknown[][] = [];
    for (const month of months) {
      rows.push(await connection.rows(orderedQuery(report), await bind(report, connection, { month })));
    }
    return rows;
  } finally {
    close();
  }
}

describe('reconciliation', () => {
  test('has every comparison that covers an hour of the month, including failed ones', async () => {
    const given: Given = {
      reconciliation: [
        { window_start: '2026-08-25', window_end: '2026-09-01' },
        { window_start: '2026-08-31', window_end: '2026-09-02', ours: '2', theirs: '2.5', difference: '-0.5' },
        { window_start: '2026-09-24', window_end: '2026-10-01', attempt: 1, load_number: null, proven: false },
        { window_start: '2026-09-24', window_end: '2026-10-01', attempt: 2, load_number: 7 },
        { window_start: '2026-10-01', window_end: '2026-10-08' },
        told(compute, '2', { account: 'acc_aaa' }),
      ],
    };
    const rows = await reported('reconciliation', given, { month: '2026-09' });
    expect(rows).toMatchObject([
      { account: 'acc_aaa', check_code: ofDimension, billing_dimension: compute, load_number: null },
      {
        account: 'acc_one',
        window_start: '2026-08-31 00:00:00',
        check_code: 'rows_match_control',
        measure: 'cost',
        ours: '2.000000000000',
        theirs: '2.500000000000',
        difference: '-0.500000000000',
        tolerance: 0.5,
        proven: true,
      },
      { attempt: 1, load_number: null, proven: false },
      { attempt: 2, load_number: '7', proven: true },
    ]);
  });

  test('is empty if nothing was compared', async () => {
    expect(await reported('reconciliation', {}, { month: '2026-09' })).toEqual([]);
  });
});

describe('reconciliation_summary', () => {
  const whole = { window_end: '2026-10-01', claimed_end: '2026-10-01' };
  const total = told('x', '5', { check_code: ofMonth });

  test('shows for every account whether each hour and the month are proven', async () => {
    const rows = await reported(
      'reconciliation_summary',
      {
        accounts: [{}, { account: 'acc_young' }, { account: 'acc_short' }, { account: 'acc_idle' }],
        loads: [{}],
        covered: [
          whole,
          { account: 'acc_young', window_end: '2026-09-11', claimed_end: '2026-09-10 12:00:00' },
          { ...whole, account: 'acc_short' },
          { ...whole, account: 'acc_idle', window_start: '2026-08-20' },
        ],
        costs: [
          { cost: '5', usage: '5' },
          { cost: '1', account: 'acc_short' },
        ],
        reconciliation: [
          { ...total, billing_dimension: null },
          told(compute, '5'),
          { ...told(compute, '6'), attempt: 0, proven: false },
          { ...total, billing_dimension: null, account: 'acc_short', theirs: '2', proven: false },
          { ...total, billing_dimension: null, account: 'acc_idle', theirs: '0' },
        ],
      },
      { month: '2026-09' },
    );
    expect(rows).toMatchObject([
      {
        account: 'acc_idle',
        hours: '720',
        hours_proven: '720',
        cost: '0.000000000000',
        platform_cost: '0.000000000000',
        proven: true,
      },
      {
        account: 'acc_one',
        month: '2026-09-01',
        cost: '5.000000000000',
        platform_cost: '5.000000000000',
        difference: '0.000000000000',
        tolerance: 0.000001,
        proven: true,
        compared_at: '2026-10-02 02:00:00',
        comparisons: '3',
        unproven_comparisons: '1',
        correction_cost: null,
        closed_at: null,
        invoiced: null,
      },
      {
        account: 'acc_short',
        hours_proven: '720',
        cost: '1.000000000000',
        platform_cost: '2.000000000000',
        difference: '-1.000000000000',
        proven: false,
      },
      {
        account: 'acc_young',
        hours: '720',
        hours_proven: '228',
        cost: null,
        platform_cost: null,
        difference: null,
        proven: false,
        compared_at: null,
        comparisons: '0',
      },
    ]);
  });

  test('is unproven if the month matches its total but a billing dimension does not', async () => {
    const rows = await reported(
      'reconciliation_summary',
      {
        accounts: [{}],
        loads: [{}],
        covered: [whole],
        costs: [{ cost: '5' }],
        reconciliation: [
          { ...total, billing_dimension: null },
          { ...told(compute, '4'), proven: false },
          { ...told(images, '1'), proven: false },
        ],
      },
      { month: '2026-09' },
    );
    expect(rows).toMatchObject([{ difference: '0.000000000000', proven: false }]);
  });

  test("of a closed month has the platform's total before the close, next to the invoice", async () => {
    const [rows] = await closedBooks(
      {
        accounts: [{}],
        loads: [{}],
        covered: [whole],
        costs: [{ cost: '2', usage: '2' }],
        reconciliation: [
          { ...total, billing_dimension: null, theirs: '2' },
          { ...total, billing_dimension: null, theirs: '9', run_number: 2, proven_at: '2026-10-10 02:00:00' },
        ],
      },
      'reconciliation_summary',
      ['2026-09'],
    );
    expect(rows).toMatchObject([
      {
        cost: '2.000000000000',
        platform_cost: '2.000000000000',
        proven: true,
        closed_at: '2026-10-04 00:00:00',
        invoiced: '2.500000000000',
        invoice_difference: '0.500000000000',
      },
    ]);
  });
});

describe('restated_days', () => {
  const loads = [
    { load_number: 1, window_start: '2026-09-01', window_end: '2026-09-08', seen_at: '2026-09-08 01:00:00' },
    { load_number: 2, window_start: '2026-09-04', window_end: '2026-09-09', seen_at: '2026-09-09 01:00:00' },
    { load_number: 3, window_start: '2026-09-01', window_end: '2026-09-09', seen_at: '2026-10-10 01:00:00' },
  ];
  const given: Given = {
    loads,
    restatements: [
      { bucket_start: '2026-09-05 00:00:00', old_cost: '1', new_cost: '2', old_usage: '1', new_usage: '2' },
      { bucket_start: '2026-09-05 23:00:00', old_cost: null, new_cost: '4', old_usage: null, new_usage: '4' },
      {
        bucket_start: '2026-09-05 07:00:00',
        old_cost: '8',
        new_cost: null,
        old_usage: '8',
        new_usage: null,
        resource_uuid: 'sbx-2',
      },
      {
        bucket_start: '2026-09-05 00:00:00',
        old_cost: '2',
        new_cost: '-1',
        old_usage: '2',
        new_usage: '2',
        load_number: 3,
        seen_at: '2026-10-10 01:00:00',
      },
      {
        bucket_start: '2026-09-08 00:00:00',
        workspace: null,
        billing_dimension: null,
        old_cost: '1',
        new_cost: '1',
        old_usage: '1',
        new_usage: '3',
        load_number: 3,
        seen_at: '2026-10-10 01:00:00',
      },
      { account: 'acc_two', bucket_start: '2026-08-31 00:00:00', old_cost: '1', new_cost: '2', old_usage: '1' },
    ],
  };
  function change(cells: Cells): Cells {
    return { account: 'acc_one', usage_date: '2026-09-05', workspace: 'north', billing_dimension: compute, ...cells };
  }
  const first = change({
    unit: 'GB-seconds',
    seen_at: '2026-09-09 01:00:00',
    first_reported_at: '2026-09-08 01:00:00',
    changes: '3',
    old_cost: '9.000000000000',
    new_cost: '6.000000000000',
    cost_change: '-3.000000000000',
    old_usage: '9.000000',
    new_usage: '6.000000',
    usage_change: '-3.000000',
  });
  const second = change({
    seen_at: '2026-10-10 01:00:00',
    changes: '1',
    old_cost: '2.000000000000',
    new_cost: '-1.000000000000',
    cost_change: '-3.000000000000',
    usage_change: '0.000000',
  });
  const third = {
    usage_date: '2026-09-08',
    workspace: null,
    billing_dimension: null,
    unit: null,
    first_reported_at: '2026-09-09 01:00:00',
    cost_change: '0.000000000000',
    usage_change: '2.000000',
  };

  test('has a row per day, workspace, dimension and time at which changes were seen', async () => {
    const rows = await reported('restated_days', given);
    expect(rows).toMatchObject([first, second, third, { account: 'acc_two', first_reported_at: null }]);
  });

  test('selects by the month of the hours, or by when the change was seen', async () => {
    expect(await reported('restated_days', given, { month: '2026-09' })).toMatchObject([first, second, third]);
    expect(await reported('restated_days', given, { from: '2026-10-01', to: '2026-11-01' })).toMatchObject([
      second,
      third,
    ]);
    expect(await reported('restated_days', given, { month: '2026-08', from: '2026-10-01', to: '2026-11-01' })).toEqual(
      [],
    );
  });

  test('adds up to the view', async () => {
    const report = await builtInReport('restated_days');
    const { connection, close } = await givenBooks(given);
    try {
      const parameters = await bind(report, connection, {});
      const rows = await connection.rows(
        `select sum(cost_change) as cost, sum(usage_change) as usage, sum(changes) as changes from (${orderedQuery(report)})`,
        parameters,
      );
      expect(rows).toEqual(
        await connection.rows(
          `select
            sum(coalesce(new_cost, 0) - coalesce(old_cost, 0))::decimal(38, 12) as cost,
            sum(coalesce(new_usage, 0) - coalesce(old_usage, 0))::decimal(38, 6) as usage,
            count(*)::hugeint as changes
          from restatements`,
        ),
      );
    } finally {
      close();
    }
  });
});

describe('unit_economics', () => {
  const folders: string[] = [];
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });
  /** A file with these lines. */
  async function metric(text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'costbook-metric-'));
    folders.push(folder);
    const path = join(folder, 'orders.csv');
    await writeFile(path, text);
    return path;
  }
  const given: Given = {
    accounts: [{}, { account: 'acc_two' }],
    covered: [
      { window_end: '2026-09-08', claimed_end: '2026-09-08' },
      { account: 'acc_two', window_end: '2026-09-06', claimed_end: '2026-09-05 12:00:00' },
    ],
    costs: [
      { bucket_start: '2026-09-01 00:00:00', cost: '10' },
      { bucket_start: '2026-09-01 23:00:00', cost: '2.5', workspace: 'south' },
      { bucket_start: '2026-09-01 23:00:00', cost: '4', account: 'acc_two' },
      { bucket_start: '2026-09-03 23:00:00', cost: '1' },
      { bucket_start: '2026-09-05 00:00:00', cost: '1' },
    ],
  };
  const file = 'date,value\r\n2026-09-01,3\r\n2026-09-02,8\r\n2026-09-03,\r\n2026-09-05,2\r\n';
  const complete = { note: null };

  test('divides each day’s cost by the metric, and marks days that it cannot divide', async () => {
    expect(await reported('unit_economics', given, { metric: await metric(file) })).toEqual([
      {
        usage_date: '2026-09-01',
        cost: '16.500000000000',
        value: '3.000000',
        cost_per_unit: '5.500000000000000000',
        ...complete,
      },
      {
        usage_date: '2026-09-02',
        cost: '0.000000000000',
        value: '8.000000',
        cost_per_unit: '0.000000000000000000',
        ...complete,
      },
      { usage_date: '2026-09-03', cost: '1.000000000000', value: null, cost_per_unit: null, note: 'no metric' },
      { usage_date: '2026-09-04', cost: '0.000000000000', value: null, cost_per_unit: null, note: 'no metric' },
      { usage_date: '2026-09-05', cost: null, value: '2.000000', cost_per_unit: null, note: 'cost is not complete' },
    ]);
  });

  test('can be limited to one account or workspace', async () => {
    const path = await metric('date,value\n2026-09-01,5\n');
    expect(await reported('unit_economics', given, { metric: path, account: 'acc_one' })).toMatchObject([
      { cost: '12.500000000000', cost_per_unit: '2.500000000000000000' },
    ]);
    expect(await reported('unit_economics', given, { metric: path, workspace: 'south' })).toMatchObject([
      { cost: '2.500000000000', cost_per_unit: '0.500000000000000000' },
    ]);
  });

  test('has the days of the month or the period, and ignores other days in the file', async () => {
    const path = await metric(file);
    const days = (rows: unknown[]) => (rows as { usage_date: string }[]).map(({ usage_date }) => usage_date.slice(5));
    const month = days(await reported('unit_economics', given, { metric: path, month: '2026-09' }));
    expect([month.length, month[0], month.at(-1)]).toEqual([30, '09-01', '09-30']);
    expect(days(await reported('unit_economics', given, { metric: path, month: '2026-08' })).length).toBe(31);
    const period = { from: '2026-09-04', to: '2026-09-07' };
    expect(days(await reported('unit_economics', given, { metric: path, ...period }))).toEqual([
      '09-04',
      '09-05',
      '09-06',
    ]);
  });

  test('reads files of spreadsheets, with a byte order mark, quotes and blank lines', async () => {
    const path = await metric('\uFEFF"Date","Value"\r\n"2026-09-01","4"\r\n\r\n');
    const once = [{ cost_per_unit: '4.125000000000000000' }];
    expect(await reported('unit_economics', given, { metric: path })).toMatchObject(once);
    // Rows and columns that were used once, and the line with which Excel names its separator.
    const used = await metric('sep=,\r\n,,,\r\nDate,Value,,\r\n2026-09-01,4,,\r\n, ,,\r\n');
    expect(await reported('unit_economics', given, { metric: used })).toMatchObject(once);
  });

  test('has no rows for a file without days, and none for a metric of 0', async () => {
    expect(await reported('unit_economics', given, { metric: await metric('date,value\n') })).toEqual([]);
    expect(await reported('unit_economics', given, { metric: await metric('date,value\n2026-09-01,0') })).toMatchObject(
      [{ cost: '16.500000000000', cost_per_unit: null, note: 'the metric is 0' }],
    );
  });

  test.each([
    ['no header', '2026-09-01,3\n', ':1: found "2026-09-01,3", expected the header date,value'],
    ['no content', '', ':1: found "", expected the header date,value'],
    ['a number with a comma', 'date,value\n2026-09-01,"1,250"\n', ':2: found "2026-09-01,"1,250"", expected a day and'],
    [
      'a number with a point for thousands',
      'date,value\n2026-09-01,1.250\n',
      ':2: found "2026-09-01,1.250", which some read as 1250 and some as 1.250; write 1250 or 1.2500',
    ],
    ['a cell too many', 'date,value,\n2026-09-01,3,x\n', ':2: found "2026-09-01,3,x", expected a day and'],
    ['a word', 'date,value\n2026-09-01,3\n\n2026-09-02,many\n', ':4: found "2026-09-02,many", expected a day and'],
    ['an impossible day', 'date,value\n2026-02-30,3\n', ':2: found "2026-02-30,3", expected a day and'],
    ['another date format', 'date,value\n01.09.2026,3\n', ':2: found "01.09.2026,3", expected a day and'],
    ['a day without a comma', 'date,value\n2026-09-01\n', ':2: found "2026-09-01", expected a day and'],
    [
      'a number with too many decimals',
      'date,value\n2026-09-01,0.1234567\n',
      ':2: found "2026-09-01,0.1234567", expected a day and',
    ],
    ['a repeated day', 'date,value\n2026-09-01,3\n2026-09-01,4\n', ':3: the day 2026-09-01 stands on line 2 already'],
    ['several mistakes', 'date,value\nx,3\n2026-09-01,y\n', ':2: found "x,3", .*; 1 more lines are wrong'],
  ])('names file and line for a file with %s', async (_, text, words) => {
    const path = await metric(text);
    const escaped = `${path}${words}`.replace(/[.$()[\]"]/g, (sign) => (sign === '.' ? '.' : `\\${sign}`));
    await expect(reported('unit_economics', given, { metric: path, month: '2026-08' })).rejects.toThrow(
      new RegExp(escaped),
    );
  });
});
