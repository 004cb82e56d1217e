import { describe, expect, test } from 'vitest';
import { decimalOfWhole, wholeOfDecimal } from '../../src/money/money.ts';
import { expectClosesHold } from '../../src/reports/questions/as-of.ts';
import { differingCloses } from '../../src/warehouse/ledger/closes.ts';
import { dashboardProject } from '../support/dashboard.ts';
import { answer, givenBooks } from '../support/given-books.ts';
import { runCli } from '../support/project.ts';
import { reported } from '../support/reported.ts';
import { sumOf } from '../support/second-readers.ts';

/** September closed after load 1, October after load 3; loads 2 and 3 came between, load 4 after both. */
const closes = [
  { billing_month: '2026-09-01', load_number: 1, closed_at: '2026-10-05 02:00:00', invoiced: '10.5', cost: '10' },
  { billing_month: '2026-10-01', load_number: 3, closed_at: '2026-11-05 02:00:00' },
];
/** All of September and October was in the books when they were closed. */
const covered = [
  { window_start: '2026-09-01', window_end: '2026-10-01', claimed_end: '2026-10-01', load_number: 1, since_load: 1 },
  { window_start: '2026-10-01', window_end: '2026-11-01', claimed_end: '2026-11-01', load_number: 2, since_load: 2 },
];
type Row = Readonly<Record<string, unknown>>;
const hour = { bucket_start: '2026-09-03 05:00:00' };
function restated(load: number, before: [string, string] | null, after: [string, string] | null, other = {}) {
  return {
    ...hour,
    ...other,
    load_number: load,
    old_load_number: before === null ? null : load - 1,
    old_cost: before?.[0] ?? null,
    old_usage: before?.[1] ?? null,
    new_cost: after?.[0] ?? null,
    new_usage: after?.[1] ?? null,
    seen_at: '2026-10-09 01:00:00',
  };
}
const billed = `select strftime(billing_month, '%m') as billed, charge_class as class,
    strftime(bucket_start, '%m-%d %H') as hour, workspace, cost, usage
  from costs_billed order by all`;
const corrected = `select strftime(billing_month, '%m') as billed, strftime(usage_month, '%m') as of_month,
    workspace, cost, usage
  from corrections order by all`;

test('the report of a closed month knows a workspace that was renamed since the month before by its new name there', async () => {
  const sud = { ...hour, workspace: 'sud', load_number: 3 };
  const rules = (workspace: string) => `rules: [{name: south, when: {workspace: ${workspace}}, owner: {team: South}}]`;
  const dir = await dashboardProject({
    ...{ accounts: [{}], covered, loads: [1, 2, 3].map((load_number) => ({ load_number })) },
    closes: [
      { ...closes[0], invoiced: null, row_count: 2, cost: '7' },
      { ...closes[1], row_count: 1, cost: '4', corrections: 2, correction_cost: '0.5' },
    ],
    allocation: rules('sud'),
    earlierAllocation: { rules: rules('south'), until: '2026-10-10' },
    costs: [
      { ...hour, cost: '2' },
      { ...sud, cost: '5.5' },
      { ...sud, cost: '4', bucket_start: '2026-10-03 05:00:00' },
    ],
    restatements: [
      { ...restated(3, ['5', '0'], null, { workspace: 'south' }), old_load_number: 1 },
      restated(3, null, ['5.5', '0'], { workspace: 'sud' }),
    ],
  });
  const asked = ['report', 'chargeback_summary', '--month', '2026-10', '--dir', dir, '--json'];
  const { stdout, stderr } = await runCli([...asked, '--now', '2026-11-05T03:00:00Z']);
  expect(stderr).toBe('');
  const columns = ['owner', 'cost', 'correction_cost', 'cost_month_before', 'change'];
  const rows: Row[] = JSON.parse(stdout).rows;
  expect(rows.map((row) => columns.map((column) => row[column]?.toString().replace(/\.?0+$/, '') ?? null))).toEqual([
    ['South', '4', '0.5', '5', '-1'],
    [null, '0', '0', '2', '-2'],
  ]);
});

describe('costs_billed and corrections', () => {
  test('bill every hour in its own month if no month is closed', async () => {
    const given = {
      costs: [{ ...hour, cost: '3', usage: '1', load_number: 2 }],
      restatements: [restated(2, ['2', '1'], ['3', '1'])],
    };
    expect(await answer(given, billed)).toEqual([
      { billed: '09', class: null, hour: '09-03 05', workspace: 'north', cost: '3.000000000000', usage: '1.000000' },
    ]);
    expect(await answer(given, corrected)).toEqual([]);
  });

  test('deliver a change after the close in the next closed month, or in the first open one', async () => {
    const given = {
      closes,
      covered,
      costs: [{ ...hour, cost: '9', usage: '4', load_number: 4 }],
      restatements: [
        restated(2, ['2', '1'], ['3', '1']),
        restated(3, ['3', '1'], ['5', '2']),
        restated(4, ['5', '2'], ['9', '4']),
      ],
    };
    expect(await answer(given, corrected)).toEqual([
      { billed: '10', of_month: '09', workspace: 'north', cost: '3.000000000000', usage: '1.000000' },
      { billed: '11', of_month: '09', workspace: 'north', cost: '4.000000000000', usage: '2.000000' },
    ]);
    expect(await answer(given, billed)).toEqual([
      { billed: '09', class: null, hour: '09-03 05', workspace: 'north', cost: '2.000000000000', usage: '1.000000' },
      {
        billed: '10',
        class: 'Correction',
        hour: '09-03 05',
        workspace: 'north',
        cost: '3.000000000000',
        usage: '1.000000',
      },
      {
        billed: '11',
        class: 'Correction',
        hour: '09-03 05',
        workspace: 'north',
        cost: '4.000000000000',
        usage: '2.000000',
      },
    ]);
  });

  test('ignore changes before the close, and changes that were reverted', async () => {
    const given = {
      closes: [{ ...closes[0], load_number: 2 }],
      covered,
      costs: [{ ...hour, cost: '3', usage: '1', load_number: 4 }],
      restatements: [
        restated(2, ['2', '1'], ['3', '1']),
        restated(3, ['3', '1'], ['5', '1']),
        restated(4, ['5', '1'], ['3', '1']),
      ],
    };
    expect(await answer(given, corrected)).toEqual([]);
    expect(await answer(given, billed)).toMatchObject([{ billed: '09', class: null, cost: '3.000000000000' }]);
  });

  test('include a change of usage only; a removed row is billed where it was, and credited later', async () => {
    const given = {
      closes,
      covered,
      costs: [{ ...hour, cost: '2', usage: '3', load_number: 4 }],
      restatements: [
        restated(4, ['2', '1'], ['2', '3']),
        restated(4, ['1', '1'], null, { workspace: 'south' }),
        restated(4, null, ['7', '1'], { workspace: 'west' }),
      ],
    };
    expect(await answer(given, corrected)).toEqual([
      { billed: '11', of_month: '09', workspace: 'north', cost: '0.000000000000', usage: '2.000000' },
      { billed: '11', of_month: '09', workspace: 'south', cost: '-1.000000000000', usage: '-1.000000' },
      { billed: '11', of_month: '09', workspace: 'west', cost: '7.000000000000', usage: '1.000000' },
    ]);
    expect(await answer(given, `select workspace, cost from (${billed}) where class is null order by all`)).toEqual([
      { workspace: 'north', cost: '2.000000000000' },
      { workspace: 'south', cost: '1.000000000000' },
    ]);
  });

  test('treat hours that arrive after the close as full corrections, even if they change again', async () => {
    const late = { account: 'acc_two', workspace: 'new' };
    const given = {
      closes,
      covered,
      loads: [{ load_number: 4, account: 'acc_two', window_start: '2026-08-25', window_end: '2026-09-07' }],
      costs: [
        { ...late, ...hour, cost: '5', usage: '1', load_number: 5 },
        { ...late, bucket_start: '2026-08-31 23:00:00', cost: '1', load_number: 4 },
      ],
      restatements: [restated(5, ['4', '1'], ['5', '1'], late)],
    };
    expect(await answer(given, corrected)).toEqual([
      { billed: '11', of_month: '09', workspace: 'new', cost: '5.000000000000', usage: '1.000000' },
    ]);
    expect(await answer(given, `select billed, class, hour, cost from (${billed})`)).toEqual([
      { billed: '08', class: null, hour: '08-31 23', cost: '1.000000000000' },
      { billed: '11', class: 'Correction', hour: '09-03 05', cost: '5.000000000000' },
    ]);
  });

  test('leave a reopened month open, and keep what was delivered in it', async () => {
    const given = {
      closes: [closes[0] ?? {}, { ...closes[1], reopened_at: '2026-11-06', reopen_reason: 'wrong' }],
      covered,
      costs: [{ ...hour, cost: '9', usage: '1', load_number: 4 }],
      restatements: [restated(2, ['2', '1'], ['3', '1']), restated(4, ['3', '1'], ['9', '1'])],
    };
    expect(await answer(given, corrected)).toEqual([
      { billed: '10', of_month: '09', workspace: 'north', cost: '7.000000000000', usage: '0.000000' },
    ]);
  });
});

test('closes has a row per account with the invoice difference, and whether the close is still valid', async () => {
  const given = {
    closes: [
      ...closes,
      { billing_month: '2026-10-01', account: 'acc_two', reopened_at: '2026-11-06', reopen_reason: 'wrong' },
    ],
  };
  expect(
    await answer(
      given,
      `select billing_month, account, is_closed, invoiced, invoice_difference, reopen_reason from closes order by all`,
    ),
  ).toEqual([
    {
      billing_month: '2026-09-01',
      account: 'acc_one',
      is_closed: true,
      invoiced: '10.500000000000',
      invoice_difference: '0.500000000000',
      reopen_reason: null,
    },
    {
      billing_month: '2026-10-01',
      account: 'acc_one',
      is_closed: true,
      invoiced: null,
      invoice_difference: null,
      reopen_reason: null,
    },
    {
      billing_month: '2026-10-01',
      account: 'acc_two',
      is_closed: false,
      invoiced: null,
      invoice_difference: null,
      reopen_reason: 'wrong',
    },
  ]);
});

describe('the billed amount of a closed month', () => {
  /** October bills 10 USD of its own and a correction of 3 USD. */
  const own = { bucket_start: '2026-10-10 05:00:00', cost: '10', usage: '1', load_number: 3 };
  function october(invoiced: string | null) {
    return {
      closes: [
        { ...closes[0], cost: '2', row_count: 1, invoiced: null },
        { ...closes[1], row_count: 1, cost: '10', corrections: 1, correction_cost: '3', invoiced },
      ],
      covered,
      costs: [own, { ...hour, cost: '5', usage: '2', load_number: 3 }],
      restatements: [restated(3, ['2', '1'], ['5', '2'])],
      accounts: [{}],
    };
  }

  test.each([
    ['the invoice, which includes the corrections', '13', '0', '13'],
    ['the invoice, if it differs from the books', '13.25', '0.25', '13.25'],
    ['the invoice, also if it lacks the corrections', '10', '-3', '10'],
    ['the cost with corrections, if there is no invoice', null, null, '13'],
  ])('is %s, in every view and export', async (_, invoiced, difference, billed) => {
    const exact = (usd: string | null) => (usd === null ? null : decimalOfWhole(wholeOfDecimal(usd, 12), 12));
    const given = october(invoiced);
    expect(
      await answer(given, `select invoice_difference, billed_cost from closes where billing_month = '2026-10-01'`),
    ).toEqual([{ invoice_difference: exact(difference), billed_cost: exact(billed) }]);
    const [month] = (await reported('reconciliation_summary', given, { month: '2026-10' })) as Row[];
    expect(month).toMatchObject({ cost: exact('10'), correction_cost: exact('3'), billed_cost: exact(billed) });
    for (const [report, column] of [
      ['invoice_lines', 'cost'],
      ['focus', 'BilledCost'],
    ] as const) {
      const rows = (await reported(report, given, { month: '2026-10' })) as Row[];
      expect([report, sumOf(rows.map((row) => String(row[column])))]).toEqual([report, exact(billed)]);
    }
  });
});

describe('expectClosesHold', () => {
  const september = { start: Date.UTC(2026, 8, 1), end: Date.UTC(2026, 9, 1) };
  const november = { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 11, 1) };
  const plain = 'select * from costs';
  const ofBilled = 'select * from costs_billed';

  test('refuses reports that depend on a close whose rows were lost, and names the step', async () => {
    const books = await givenBooks({
      closes: [{ row_count: 2, cost: '7' }],
      covered,
      costs: [{ ...hour, cost: '5', usage: '1' }],
    });
    try {
      const expected =
        /2026-09 of account acc_one was closed with 7\.00 USD.* now have 5\.00 USD[\s\S]*costbook reopen 2026-09/;
      for (const [period, sql] of [
        [september, plain],
        [september, ofBilled],
        [november, ofBilled],
      ] as const) {
        await expect(expectClosesHold(books.connection, undefined, { periods: [period], sql })).rejects.toThrow(
          expected,
        );
      }
      await expectClosesHold(books.connection, undefined, { periods: [november], sql: plain });
      await expectClosesHold(books.connection, 'now', { periods: [september], sql: plain });
    } finally {
      books.close();
    }
  });

  test('asks only for an ingest while hours of the close are missing', async () => {
    const window = { window_start: '2026-09-01 00:00:00', window_end: '2026-10-01 00:00:00', load_number: 1 };
    const lost = { closes: [{ row_count: 2, cost: '7', covered: JSON.stringify([window]) }] };
    for (const [end, reopen] of [
      ['2026-09-20', []],
      ['2026-10-01', ['2026-09']],
    ] as const) {
      const books = await givenBooks({ ...lost, covered: [{ window_end: end }] });
      expect(await differingCloses(books.connection)).toMatchObject([{ month: '2026-09', reopen }]);
      books.close();
    }
  });

  test('lets reports answer while every closed month has the numbers of its close', async () => {
    const given = { closes: [{ row_count: 1, cost: '5' }], covered, costs: [{ ...hour, cost: '5', usage: '1' }] };
    const books = await givenBooks(given);
    try {
      await expectClosesHold(books.connection, undefined, { periods: [september], sql: ofBilled });
    } finally {
      books.close();
    }
  });
});

describe('a month that was closed while an account has no part in it', () => {
  const end = { claimed_end: '2026-11-05', window_end: '2026-11-05' };
  const costs = [{ ...hour, bucket_start: '2026-10-03 05:00:00', cost: '3' }];
  const closedAt = '2026-11-05 02:00:00';
  const close = { billing_month: '2026-10-01', load_number: 2, closed_at: closedAt };
  const given = (account: string, start: string, through: string, hasEnded = false) => ({
    accounts: [{ history_start: '2026-09-01' }, { account, history_start: start, has_ended: hasEnded }],
    covered: [
      { window_start: '2026-09-01', ...end },
      { account, window_start: start, window_end: through, claimed_end: through },
    ],
    loads: [{}, { load_number: 2, account }],
    costs,
    closes: [
      { ...close, row_count: 1, cost: '3' },
      { ...close, account, row_count: 0, cost: '0' },
    ],
  });
  test.each([
    ['is no longer configured', given('acc_gone', '2026-09-01', '2026-09-20')],
    ['ended within it', given('acc_gone', '2026-09-01', '2026-10-20', true)],
    ['begins later', given('acc_new', '2026-11-01', '2026-11-05')],
  ])('is the last month, complete as of its close, where the account %s', async (_, books) => {
    const dir = await dashboardProject(books);
    const run = (...args: string[]) =>
      runCli([...args, '--month', 'last', '--require-complete', '--dir', dir, '--now', '2026-11-05T03:00:00Z']);
    const report = await run('report', 'invoice_lines', '--json');
    expect(report).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(report.stdout)).toMatchObject({ parameters: { month: '2026-10' } });
    const statement = await run('statement', '--format', 'html', '--json');
    expect(statement).toMatchObject({ exitCode: 0, stderr: '' });
    expect(statement.stdout).toContain('"2026-10"');
  });

  test('is as complete as the account that runs read, where another one ended', async () => {
    const dir = await dashboardProject(given('acc_gone', '2026-09-01', '2026-10-20', true));
    const asked = ['report', 'reconciliation_summary', '--month', '2026-11', '--dir', dir, '--json'];
    const report = await runCli([...asked, '--now', '2026-11-05T03:00:00Z']);
    const { completeThrough, rows } = JSON.parse(report.stdout);
    expect([completeThrough, ...rows.map((row: Record<string, unknown>) => row['account'])]).toEqual([
      '2026-11-05T00:00:00Z',
      'acc_one',
    ]);
  });

  test('accrues nothing for an account that ended within it', async () => {
    const rows = await reported('summary', given('acc_gone', '2026-09-01', '2026-10-20'));
    expect(rows.filter((row) => Reflect.get(row as object, 'month') !== '2026-09-01')).toMatchObject([
      { month: '2026-10-01', account: 'acc_gone', state: 'closed', accrual: null, forecast_basis: null },
      { month: '2026-10-01', account: 'acc_one', state: 'closed', accrual: null },
      { month: '2026-11-01', account: 'acc_one', state: 'open' },
    ]);
  });
});
