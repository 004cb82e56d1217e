// Second tier: Reads workbooks and pages of many statements; every-surface compares one in the first tier.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { beforeAll, describe, expect, test } from 'vitest';
import { dashboardProject, serve } from '../support/dashboard.ts';
import type { Given } from '../support/given-books.ts';
import { type Ended, runCli } from '../support/project.ts';

const image = '<img src=x onerror=alert(1)>';
const formula = '=1+1';
const reversed = 'abc\u202Edcba';

/** Two months and four and a half days of two workspaces, with names that try to be something else. */
function books(more: Given = {}): Given {
  const series = [
    { workspace: 'north', resource_name: 'box', resource_uuid: 'b', cost: '0.125000000001' },
    { workspace: 'south', resource_name: 'shop', resource_uuid: 's', cost: '0.25' },
    ...[image, formula, reversed].map((resource_name, index) => ({
      ...{ workspace: 'north', resource_name, resource_uuid: `h${index}`, cost: `1.${index}` },
    })),
  ];
  const days = ['2026-08-03', '2026-08-31', '2026-09-01', '2026-09-15', '2026-09-30', '2026-10-02'];
  return {
    accounts: [{ history_start: '2026-08-01' }],
    loads: [{ window_start: '2026-08-01', window_end: '2026-10-04 12:00:00', platform_at: '2026-10-04 14:00:00' }],
    covered: [{ window_start: '2026-08-01', window_end: '2026-10-04 12:00:00', claimed_end: '2026-10-04 12:00:00' }],
    costs: series.flatMap((one, index) =>
      days.slice(index === 1 ? 2 : 0).map((day) => ({ ...one, bucket_start: `${day} 05:00:00`, usage: '10' })),
    ),
    allocation: [
      'dimensions: [team, product]',
      'rules:',
      '  - {name: shared, when: {resource_name: shop}, split: {by: cost, over: [team]}}',
      '  - {name: payments, when: {resource_name: box}, owner: {team: Payments, product: checkout}}',
      'default: {team: Platform}',
    ].join('\n'),
    ...more,
  };
}

function run(dir: string, ...args: string[]): Promise<Ended> {
  return runCli(['statement', '--dir', dir, '--now', '2026-10-06T00:00:00Z', ...args]);
}

const inSeptember = join('exports', 'statement', 'BILLING_PERIOD=2026-09');

async function sheets(path: string): Promise<Map<string, unknown[][]>> {
  const { sheets: found } = await readXlsx(await readFile(path));
  return new Map(found.map(({ name, rows }) => [name, rows as unknown[][]]));
}

/** The number at the foot of a column. */
function total(rows: readonly unknown[][] | undefined, head: string): unknown {
  const place = rows?.[0]?.indexOf(head) ?? -1;
  return rows?.at(-1)?.[place];
}

async function verified(dir: string): Promise<{ exitCode: number; files: number; notes: unknown }> {
  const { exitCode, stdout } = await runCli(['verify', '--dir', dir, '--json']);
  const { exports } = JSON.parse(stdout) as {
    exports: { files: number; notCompared: unknown; differences: unknown[] }[];
  };
  expect(exports.flatMap(({ differences }) => differences)).toEqual([]);
  return {
    exitCode,
    files: exports.reduce((sum, one) => sum + one.files, 0),
    notes: exports.flatMap(({ notCompared }) => notCompared ?? []),
  };
}

/** The exit code of verify, and what it finds. */
async function differences(dir: string): Promise<[number, string[]]> {
  const { exitCode, stdout } = await runCli(['verify', '--dir', dir, '--json']);
  const { exports } = JSON.parse(stdout) as { exports: { differences: { what: string }[] }[] };
  return [exitCode, exports.flatMap((one) => one.differences.map(({ what }) => what))];
}

describe('a statement', () => {
  let dir: string;
  let page: string;
  let workbook: Map<string, unknown[][]>;
  beforeAll(async () => {
    dir = await dashboardProject(books());
    const { exitCode, stderr } = await run(dir, '--month', '2026-09');
    expect(exitCode, stderr).toBe(0);
    page = await readFile(join(dir, inSeptember, 'statement-2026-09.html'), 'utf8');
    workbook = await sheets(join(dir, inSeptember, 'statement-2026-09.xlsx'));
  });

  test('adds up to what costbook sql answers, on every sheet and on paper', async () => {
    const query =
      "select cast(sum(cost) as decimal(38, 12)) as cost from costs where bucket_start >= '2026-09-01' and bucket_start < '2026-10-01'";
    const { stdout } = await runCli(['sql', query, '--dir', dir, '--format', 'csv']);
    const [, cost] = stdout.split('\r\n');
    expect(cost).toBe('11.025000000003');
    for (const name of ['By workspace', 'By resource', 'By owner', 'Invoice lines', 'Changes since last month']) {
      expect([name, total(workbook.get(name), 'Cost USD')]).toEqual([name, 11.025000000003]);
    }
    expect(
      workbook
        .get('Summary')
        ?.slice(4, 8)
        .map((row) => row[1]),
    ).toEqual([11.025000000003, 0, 0, 11.025000000003]);
    expect(page).toContain('>11.03</data>');
    const manifest = JSON.parse(await readFile(join(dir, inSeptember, '_manifest'), 'utf8'));
    expect(manifest).toMatchObject({ report: 'statement', parameters: { month: '2026-09' }, rows: 5, cost });
  });

  test('has totals as formulas, with the numbers that they give', async () => {
    const { sheets: found } = await readXlsx(await readFile(join(dir, inSeptember, 'statement-2026-09.xlsx')));
    const cells = found.find(({ name }) => name === 'By workspace')?.cells;
    expect([...(cells?.values() ?? [])].flatMap(({ formula: text }) => text ?? [])).toEqual([
      ...['SUM(C2:C3)', 'SUM(D2:D3)', 'SUM(E2:E3)'],
    ]);
  });

  test('compares with the month before', () => {
    const workspaces = workbook.get('By workspace');
    expect([total(workspaces, 'Cost month before USD'), total(workspaces, 'Change USD')]).toEqual([
      6.850000000002, 4.175000000001,
    ]);
    expect(page).toContain('+4.18');
    const changes = workbook.get('Changes since last month');
    expect(changes?.[1]?.[3]).toBe(reversed);
    expect(changes?.find((row) => row[3] === 'shop')).toContain('new');
  });

  test('gives each owner its share of shared cost', () => {
    const owners = workbook.get('By owner');
    expect(owners?.[0]?.slice(0, 4)).toEqual(['Owner', 'Direct cost USD', 'Shared cost USD', 'Cost USD']);
    expect(owners?.slice(1, -1).map((row) => row[0])).toEqual(['Platform', 'Payments']);
    expect([total(owners, 'Direct cost USD'), total(owners, 'Shared cost USD')]).toEqual([10.275000000003, 0.75]);
  });

  test('shows a hostile name as text, and runs nothing', () => {
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(page).not.toContain('\u202E');
    expect(page).not.toMatch(/<script|<link|javascript:|https?:\/\/(?!www\.w3\.org)/);
    expect(page).toContain("default-src 'none'");
    const names = workbook.get('By resource')?.map((row) => row[3]);
    expect(names).toEqual(expect.arrayContaining([image, formula, reversed]));
  });

  test('says through when it is complete, what it rests on, and with which digest', () => {
    expect(page).toContain('Complete through 2026-10-04 12:00 UTC');
    expect(page).toContain('Complete, not closed.');
    const about = new Map(workbook.get('About')?.map(([name, value]) => [name, value]));
    expect(about.get('Complete through (UTC)')).toEqual(new Date('2026-10-04T12:00:00Z'));
    const digest = about.get('SHA-256 of everything that acc_one is billed');
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(page).toContain(String(digest));
  });

  test('has equal bytes for equal books, and verify finds no difference', async () => {
    const before = await readFile(join(dir, inSeptember, 'statement-2026-09.xlsx'));
    const again = await run(dir, '--month', '2026-09', '--out', join(dir, 'again'));
    expect(again.exitCode, again.stderr).toBe(0);
    const folder = join(dir, 'again', 'statement', 'BILLING_PERIOD=2026-09');
    expect((await readFile(join(folder, 'statement-2026-09.xlsx'))).equals(before)).toBe(true);
    expect(await readFile(join(folder, 'statement-2026-09.html'), 'utf8')).toBe(page);
    expect(await verified(dir)).toEqual({ exitCode: 0, files: 2, notes: [] });
  });

  test('that somebody changed is found by verify', async () => {
    const changed = await dashboardProject(books());
    await run(changed, '--month', '2026-09');
    const { files } = JSON.parse(await readFile(join(changed, inSeptember, '_manifest'), 'utf8')) as {
      files: { name: string; format: string }[];
    };
    const name = files.find(({ format }) => format === 'html')?.name ?? '';
    await writeFile(join(changed, inSeptember, name), page.replace('11.03', '11.04'));
    const { exitCode, stdout } = await runCli(['verify', '--dir', changed]);
    expect(exitCode).toBe(4);
    expect(stdout).toContain('sha256');
  });

  test('of one owner has only what it is charged; its name may be written in small letters', async () => {
    const { exitCode, stderr } = await run(dir, '--month', '2026-09', '--owner', 'payments');
    expect(exitCode, stderr).toBe(0);
    const folder = join(dir, 'exports', 'owner_statement', 'owner=Payments', 'BILLING_PERIOD=2026-09');
    const own = await sheets(join(folder, 'statement-Payments-2026-09.xlsx'));
    const whole = workbook.get('By owner')?.find(([owner]) => owner === 'Payments');
    expect(total(own.get('By resource'), 'Cost USD')).toBe(whole?.[3]);
    expect(total(own.get('Lines'), 'Shared cost USD')).toBe(whole?.[2]);
    expect(JSON.stringify(own.get('By resource'))).not.toContain('onerror');
    const text = await readFile(join(folder, 'statement-Payments-2026-09.html'), 'utf8');
    expect(text).not.toContain('onerror');
    // It says that the accounts are proven; what they cost as a whole is not for one owner.
    expect([own.get('Reconciliation')?.[0], own.get('Comparisons')?.[0]]).toEqual([
      ['Account', 'Hours', 'Hours proven', 'Proven', 'Compared at', 'Comparisons', 'Unproven comparisons', 'Closed at'],
      ['Account', 'Check code', 'Comparisons', 'Matching'],
    ]);
    expect(text).toContain('Accounts are proven as a whole. Their amounts are not only those of Payments');
    expect(text).not.toContain('11.03');
    expect(page).toContain('<th scope="col" class="number">Billed</th>');
  });

  test('of an owner with a hostile name comes to no terminal as it is', async () => {
    const owner = 'Pay\u009b2J\u202e\u001b]0;evil\u0007ments';
    const own = await dashboardProject(
      books({ allocation: `rules: [{name: all, owner: {team: ${JSON.stringify(owner)}}}]` }),
    );
    const { exitCode, stdout, stderr } = await run(own, '--month', '2026-09', '--owner', owner);
    expect(exitCode, stderr).toBe(0);
    for (const sign of ['\u009b', '\u202e', '\u001b', '\u0007']) expect(stdout + stderr).not.toContain(sign);
  });

  test('for each owner adds up to the whole', async () => {
    const { exitCode, stdout, stderr } = await run(
      dir,
      '--month',
      '2026-09',
      '--each',
      'owner',
      '--format',
      'xlsx',
      '--json',
    );
    expect(exitCode, stderr).toBe(0);
    const { statements } = JSON.parse(stdout) as { statements: { cost: string; parameters: { owner: string } }[] };
    expect(statements.map(({ parameters }) => parameters.owner)).toEqual(['Payments', 'Platform']);
    const sum = statements.reduce((all, { cost }) => all + BigInt(cost.replace('.', '')), 0n);
    expect(sum).toBe(11_025_000_000_003n);
    expect((await verified(dir)).exitCode).toBe(0);
  });

  test('of an incomplete month is marked as a draft, or refused', async () => {
    const refused = await run(dir, '--month', '2026-10', '--require-complete');
    expect([refused.exitCode, refused.stderr]).toEqual([4, expect.stringContaining('2026-10')]);
    const { exitCode, stderr } = await run(dir, '--month', '2026-10');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('draft');
    const folder = join(dir, 'exports', 'statement', 'BILLING_PERIOD=2026-10');
    expect(await readFile(join(folder, 'statement-2026-10.html'), 'utf8')).toContain('class="draft">DRAFT');
    expect((await sheets(join(folder, 'statement-2026-10.xlsx'))).get('Summary')?.[1]?.[0]).toMatch(/^DRAFT/);
  });

  test('is refused for a month, an owner or a dimension that the books do not have', async () => {
    const asked = [
      ['--month', '2027-09'],
      ['--month', '2026-09', '--owner', 'Paymnets'],
      ['--month', '2026-09', '--owner', 'Payments', '--by', 'tean'],
      ['--owner', 'Payments', '--each', 'owner'],
      ['--format', 'pdf'],
    ];
    const words = [
      '2027-09 is in the future',
      'did you mean "Payments"',
      'did you mean "team"',
      '--each',
      'html or xlsx',
    ];
    for (const [index, args] of asked.entries()) {
      const { exitCode, stderr } = await run(dir, ...args);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(words[index] ?? '')]);
    }
  });
});

test('the statement of a closed month that lost rows is refused with the step', async () => {
  const closed = { closes: [{ closed_at: '2026-10-05 00:00:00', row_count: 16, cost: '12' }] };
  const { exitCode, stderr } = await run(await dashboardProject(books(closed)), '--month', '2026-09');
  expect(exitCode).toBe(4);
  expect(stderr).toContain('costbook reopen');
});

test('the statement of a closed month answers as of its close', async () => {
  const closed = { closes: [{ closed_at: '2026-10-05 00:00:00', row_count: 15, cost: '11.025000000003' }] };
  const dir = await dashboardProject(books(closed));
  const { exitCode, stdout, stderr } = await run(dir, '--month', '2026-09');
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('closed, as of 2026-10-05T00:00:00Z');
  const page = await readFile(join(dir, inSeptember, 'statement-2026-09.html'), 'utf8');
  expect(page).toContain('Closed at 2026-10-05 00:00 UTC');
  // These books were closed with another digest, and verify says so too.
  expect(page).toContain('NOT as at its close');
  expect(await differences(dir)).toEqual([4, ['SHA-256 of the close of 2026-09, account acc_one']]);
});

/** Both months closed, with a correction of August in September, and an invoice of September that bills more. */
function correctedBooks(): Given {
  const hour = { workspace: 'north', resource_name: 'box', resource_uuid: 'b', bucket_start: '2026-08-03 05:00:00' };
  const [old_cost, new_cost] = ['0.125000000001', '1.125000000001'];
  const { costs = [], loads = [] } = books();
  const isRestated = (row: object) => Object.entries(hour).every(([key, value]) => Reflect.get(row, key) === value);
  return books({
    costs: costs.map((row) => (isRestated(row) ? { ...row, cost: new_cost, load_number: 2 } : row)),
    loads: [...loads, { load_number: 2, window_start: '2026-08-01', seen_at: '2026-09-20 01:00:00' }],
    restatements: [{ ...hour, old_cost, new_cost, old_usage: '10', new_usage: '10' }],
    closes: [
      { billing_month: '2026-08-01', closed_at: '2026-09-12 00:00:00', row_count: 8, cost: '6.850000000002' },
      {
        ...{ closed_at: '2026-10-05 00:00:00', load_number: 2, row_count: 15, cost: '11.025000000003' },
        ...{ corrections: 1, correction_cost: '1', invoiced: '12.03' },
      },
    ],
  });
}

test('the statement of a closed month compares with the month before as it was closed, also for one owner', async () => {
  const dir = await dashboardProject(correctedBooks());
  const { exitCode, stdout, stderr } = await run(dir, '--month', '2026-09');
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('2026-09: billed 12.030000000000 USD, cost of the month 11.025000000003 USD');
  const page = await readFile(join(dir, inSeptember, 'statement-2026-09.html'), 'utf8');
  expect(page).toContain('>12.03</data>');
  expect(page).toContain('The month before has the costs of its own close, its owners by the rules of this one.');
  const workbook = await sheets(join(dir, inSeptember, 'statement-2026-09.xlsx'));
  for (const name of ['By workspace', 'By resource', 'By owner', 'Changes since last month']) {
    expect([name, total(workbook.get(name), 'Cost month before USD')]).toEqual([name, 6.850000000002]);
  }
  // Cost is compared with cost, and what is billed adds up by owner.
  expect(page).toContain('Cost against the month before');
  expect(page).toContain('September 2026 cost 11.03 USD, August 2026 6.85 USD');
  const owners = workbook.get('By owner');
  expect(total(owners, 'Billed cost USD')).toBe(12.03);
  expect(owners?.find(([owner]) => owner === 'Payments')?.slice(-3)).toEqual([1, null, 1.402372262777]);
  const classes = workbook.get('Invoice lines')?.map((row) => row[2]);
  expect(classes).toEqual(['Charge class', null, 'Correction', 'Invoice difference', '']);
  const each = await run(dir, '--month', '2026-09', '--each', 'owner', '--json', '--out', join(dir, 'each'));
  expect(each.stderr).toContain(
    "0.004999999997 USD have no team, so they are in no owner's statement (0.004999999997 USD of that are the difference to the invoice)",
  );
  const { statements } = JSON.parse(each.stdout) as { statements: { billedCost: string; cost: string }[] };
  const sum = (key: 'billedCost' | 'cost') =>
    statements.reduce((all, row) => all + BigInt(row[key].replace('.', '')), 0n);
  expect([sum('billedCost'), sum('cost')]).toEqual([12_025_000_000_003n, 11_025_000_000_003n]);
  const one = await run(dir, '--month', '2026-09', '--owner', 'Payments');
  expect(one.stdout, one.stderr).toContain('2026-09 Payments: charged ');
  const [path = ''] = /\S+\.xlsx/.exec(one.stdout) ?? [];
  const ofOwner = await sheets(join(dir, path.slice(path.indexOf('exports'))));
  expect(total(ofOwner.get('By resource'), 'Cost month before USD')).toBe(0.250000000002);
  expect(ofOwner.get('Lines')?.map((row) => [row[1], row.at(-1)])).toEqual([
    ...[
      ['Charge class', 'Cost USD'],
      [null, expect.any(Number)],
      ['Correction', 1],
    ],
    ['', total(ofOwner.get('By owner'), 'Billed cost USD')],
  ]);
  const [html = ''] = /\S+\.html/.exec(one.stdout) ?? [];
  const ownPage = await readFile(join(dir, html.slice(html.indexOf('exports'))), 'utf8');
  expect(ownPage).toContain('+1.00 corrections of earlier months');
  expect(ownPage).toContain('Correction 2026-08');
  const summary = await runCli(['report', 'chargeback_summary', '--month', '2026-09', '--json', '--dir', dir]);
  const { rows } = JSON.parse(summary.stdout) as { rows: { owner: string; cost_month_before: string }[] };
  expect(rows.find(({ owner }) => owner === 'Payments')?.cost_month_before).toBe('0.250000000002');
  expect(new Set((await differences(dir))[1])).toEqual(new Set(['SHA-256 of the close of 2026-09, account acc_one']));
});

test("reports of the month's own hours name what the month bills besides, also in the manifest", async () => {
  const dir = await dashboardProject(correctedBooks());
  const words =
    'not in these costs: 1.000000000000 USD corrections of earlier months, 0.004999999997 USD difference to the invoice';
  const besides = { corrections: '1.000000000000', invoiceDifference: '0.004999999997' };
  for (const name of ['cost_by_workspace', 'cost_by_resource']) {
    const shown = await runCli(['report', name, '--month', '2026-09', '--dir', dir]);
    expect(shown.stdout, shown.stderr).toContain(words);
    const { stdout } = await runCli(['report', name, '--month', '2026-09', '--json', '--dir', dir]);
    expect(JSON.parse(stdout)).toMatchObject({ billedBesides: besides });
    const folder = join(dir, 'exports', name, 'BILLING_PERIOD=2026-09');
    expect(JSON.parse(await readFile(join(folder, '_manifest'), 'utf8'))).toMatchObject({
      billedBesides: besides,
    });
  }
  const south = await runCli([
    'report',
    'cost_by_workspace',
    '--month',
    '2026-09',
    '--param',
    'workspace=south',
    '--dir',
    dir,
  ]);
  expect(south.stdout, 'a workspace without corrections').not.toContain('not in these costs');
  // The given closes have no SHA-256; nothing else differs.
  expect(new Set((await differences(dir))[1])).toEqual(new Set(['SHA-256 of the close of 2026-09, account acc_one']));
  const { text } = await (await serve(dir)).get('/allocation?month=2026-09');
  expect(text, 'the sum of the month is billed').toContain('12.03');
  expect(text, 'the statement says what each owner was billed').toContain('href="/months/2026-09"');
  expect(text).not.toMatch(/<th[^>]*>Billed/);
});
