// Second tier: Closes, reopens and rebuilds months with changed rates; unit/currency holds the choice of a rate.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { beforeAll, describe, expect, test } from 'vitest';
import { askFile, askParquet, askSnapshot, type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { box, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { hasTerminals, lookOnTerminal } from '../support/terminal.ts';

const setting = 'currency: { code: EUR, rates: rates.csv, source: ECB }\n';
const rates = 'date,rate\n2026-09-30,0.9\n2026-10-15,0.95\n';
const eur = { cost: '9.000000000000', cost_eur: '8.100000000000', eur_rate: '0.90000000', eur_rate_date: '2026-09-30' };

interface Story {
  readonly dir: string;
  run(command: string, ...args: string[]): Promise<Ended>;
  /** The JSON that a command prints. */
  ask(command: string, ...args: string[]): Promise<Record<string, unknown>>;
  setRates(text: string): Promise<void>;
}

let platform: ScriptedPlatform;
beforeAll(async () => {
  platform = await startScriptedPlatform([
    ...series(box, '2026-08-20T05', [3]),
    ...series(box, '2026-09-29T05', [2, 7]),
    ...series(box, '2026-10-10T05', [10]),
  ]);
});

/** Books of August to October; each command runs on 20 October. */
async function begin(text = setting): Promise<Story> {
  const dir = await newProject();
  const night = await ingest(dir, platform, {
    now: '2026-10-20T12:30:00Z',
    env: { COSTBOOK_SINCE: '2026-08-01' },
  });
  expect(night.exitCode).toBe(0);
  await writeFile(join(dir, 'costbook.yaml'), text);
  await writeFile(join(dir, 'rates.csv'), rates);
  const run = (command: string, ...args: string[]) =>
    runCli([command, ...args, '--dir', dir, '--now', '2026-10-20T13:00:00Z']);
  return {
    dir,
    run,
    async ask(command, ...args) {
      const { exitCode, stdout, stderr } = await run(command, ...args, '--json');
      if (exitCode !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    setRates: (changed) => writeFile(join(dir, 'rates.csv'), changed),
  };
}

describe.concurrent('a second currency', () => {
  test('a closed month keeps its rate when the file changes or is gone, and after a rebuild', async () => {
    const { dir, run, ask, setRates } = await begin();
    expect(await ask('close', '2026-08')).toMatchObject({ rate: null });
    const closed = await ask('close', '2026-09');
    const rate = { code: 'EUR', rate: '0.9', rateDate: '2026-09-30', source: 'ECB' };
    expect(closed).toMatchObject({ rate, wasClosed: false });
    const asked = ['report', 'cost_by_workspace', '--month', '2026-09', '--format', 'csv,parquet,xlsx'] as const;
    const first = await ask(...asked);
    const months = [{ month: '2026-09', rate: '0.9', rateDate: '2026-09-30', source: 'ECB', isClosed: true }];
    const currency = { code: 'EUR', columns: { cost: 'cost_eur' }, months };
    expect(first).toMatchObject({ unchanged: false, rows: [eur], currency });
    const manifest = JSON.parse(await readFile(String(first['manifest']), 'utf8'));
    expect(manifest).toMatchObject({ currency, cost: '9.000000000000' });
    const october = ['report', 'cost_by_workspace', '--month', '2026-10'] as const;
    expect(await ask(...october)).toMatchObject({ rows: [{ cost_eur: '9.500000000000', eur_rate: '0.95000000' }] });

    await setRates('date,rate\n2026-07-01,0.5\n');
    expect(await ask(...asked)).toMatchObject({ unchanged: true, rows: [eur] });
    expect(await ask(...october)).toMatchObject({
      ...{
        unchanged: false,
        rows: [{ cost_eur: '5.000000000000', eur_rate: '0.50000000', eur_rate_date: '2026-07-01' }],
      },
    });
    // With the costs of today, too.
    expect(await ask(...asked, '--as-of', 'now')).toMatchObject({ closedAt: null, rows: [eur] });
    expect(await ask('report', 'daily_trend', '--from', '2026-08-20', '--to', '2026-10-11')).toMatchObject({
      currency: { months: [{ month: '2026-08', rate: null }, { rate: '0.9' }, { rate: '0.5' }] },
    });
    const august = await run('report', 'cost_by_workspace', '--month', '2026-08');
    expect(august.stderr).toContain('no amounts in EUR: the month was closed without a rate');
    expect(august.stdout).not.toContain('cost_eur');

    await rm(join(dir, 'rates.csv'));
    expect(await ask(...asked)).toMatchObject({ unchanged: true, rows: [eur] });
    const missing = await run(...october);
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining('rates.csv: found no such file')]);
    expect(await ask(...october, '--currency', 'none')).toMatchObject({ rows: [{ cost: '10.000000000000' }] });
    await writeFile(join(dir, 'costbook.yaml'), '');
    expect(await ask(...asked)).toMatchObject({ unchanged: true, rows: [eur] });
    expect(Object.keys(((await ask(...october))['rows'] as object[])[0] ?? {})).not.toContain('cost_eur');

    expect((await run('verify', join(dir, 'exports'))).exitCode).toBe(0);
    const rebuilt = join(dir, 'rebuilt.duckdb');
    expect(await ask('rebuild', '--into', rebuilt)).toMatchObject({ identical: true });
    const kept = 'select billing_month, currency, rate, rate_date, rate_source from closes order by billing_month';
    const expected = [
      { billing_month: '2026-08-01', currency: null, rate: null, rate_date: null, rate_source: null },
      { billing_month: '2026-09-01', currency: 'EUR', rate: '0.90000000', rate_date: '2026-09-30', rate_source: 'ECB' },
    ];
    expect(await askSnapshot(dir, kept)).toEqual(expected);
    expect(await askFile(rebuilt, kept)).toEqual(expected);
  });

  test('a month that is closed again has the rate of that day', async () => {
    const { run, ask, setRates } = await begin();
    await ask('close', '2026-08');
    const before = (await ask('close', '2026-09'))['accounts'] as { sha256: string }[];
    expect((await run('reopen', '2026-09', '--reason', 'a wrong rate')).exitCode).toBe(0);
    await setRates('date,rate\n2026-09-30,0.91\n');
    const after = await ask('close', '2026-09');
    expect(after).toMatchObject({ rate: { rate: '0.91' } });
    // The SHA-256 of a close covers its rate.
    expect((after['accounts'] as { sha256: string }[])[0]?.sha256).not.toBe(before[0]?.sha256);
    expect(await ask('report', 'cost_by_workspace', '--month', '2026-09')).toMatchObject({
      rows: [{ cost_eur: '8.190000000000' }],
    });
    expect(await ask('close', '2026-09')).toMatchObject({ wasClosed: true, rate: { rate: '0.91' } });
  });

  test('a month before the first rate has no amounts, and the answer says so', async () => {
    const { dir, run, ask } = await begin();
    const summary = await ask('report', 'summary', '--excel', '--totals');
    expect(summary['rows']).toMatchObject([
      { month: '2026-08-01', cost: '3.000000000000', cost_eur: null, eur_rate: null, eur_rate_date: null },
      { month: '2026-09-01', cost_eur: '8.100000000000', billed_cost_eur: '8.100000000000' },
      { month: '2026-10-01', cost_eur: '9.500000000000', eur_rate_date: '2026-10-15' },
    ]);
    // A sum without August would look like the whole.
    const people = await readFile(join(dir, 'exports', 'summary', 'summary.csv'), 'utf8');
    const [head = '', ...lines] = people.trim().split('\r\n');
    const names = head.replace('\uFEFF', '').split(',');
    expect(names).toEqual(expect.arrayContaining(['Cost EUR', 'Billed cost EUR', 'EUR rate', 'EUR rate date']));
    expect(lines.at(-1)?.split(',')[names.indexOf('Cost EUR')]).toBe('');
    expect(lines.at(-1)?.split(',')[names.indexOf('Cost')]).toBe('22.00');
    const told = await run('report', 'summary');
    expect(told.stdout).toContain(
      '1 USD in EUR: 2026-09 0.9 (2026-09-30), 2026-10 0.95 (2026-10-15); ECB.\n' +
        '2026-08 has no amount in EUR: the file of rates starts after the month.\n',
    );
    const warned = await run('close', '2026-08');
    expect(warned.stderr).toContain('rates.csv has no rate before the end of 2026-08');
  });

  test('every format has the same amounts, and FOCUS and the lake stay in USD', async () => {
    const { dir, ask } = await begin();
    const formats = ['--format', 'csv,parquet,json,arrow,xlsx', '--excel'];
    await ask('report', 'cost_by_workspace', '--month', '2026-09', ...formats);
    const folder = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09');
    const [head, row] = (await readFile(join(folder, 'latest.csv'), 'utf8')).trim().split('\r\n');
    expect(head).toMatch(/,cost,cost_eur,eur_rate,eur_rate_date$/);
    expect(row).toMatch(/,9\.000000000000,8\.100000000000,0\.90000000,2026-09-30$/);
    expect(await askParquet(join(folder, 'latest.parquet'))).toMatchObject([eur]);
    expect(JSON.parse(await readFile(join(folder, 'latest.json'), 'utf8'))).toMatchObject([eur]);
    const { sheets } = await readXlsx(await readFile(join(folder, 'latest.xlsx')));
    expect(sheets[0]?.rows[0]?.slice(-4)).toEqual(['cost', 'cost_eur', 'eur_rate', 'eur_rate_date']);
    expect(sheets[0]?.rows[1]?.slice(-4, -1)).toEqual([9, 8.1, 0.9]);
    expect(sheets[1]?.rows).toContainEqual(['rates', '1 USD = 0.9 EUR (2026-09-30, ECB).']);
    const focus = await ask('report', 'focus', '--month', '2026-09');
    expect(focus['currency']).toBeUndefined();
    expect((await ask('report', 'lake'))['currency']).toBeUndefined();
  });

  test.each([
    ['JPY', 148.7, '#,##0', /1338(?! ?[.,]\d)/],
    ['KWD', 0.3071, '#,##0.000', /2\.764/],
  ])('of %s has its own decimals in workbooks and on terminals', async (code, rate, format, shown) => {
    const { dir, run, setRates } = await begin(setting.replace('EUR', code));
    await setRates(`date,rate\n2026-09-30,${rate}\n`);
    const asked = ['report', 'cost_by_workspace', '--month', '2026-09'];
    expect((await run(...(asked as [string]), '--format', 'xlsx')).exitCode).toBe(0);
    const file = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09', 'latest.xlsx');
    const { sheets } = await readXlsx(await readFile(file), { readStyles: true });
    const column = sheets[0]?.rows[0]?.indexOf(`cost_${code.toLowerCase()}`) ?? -1;
    expect(sheets[0]?.cells?.get(`1,${column}`)?.style?.numFmt).toBe(format);
    if (!hasTerminals()) return;
    const line = [...asked, '--dir', dir, '--now', '2026-10-20T13:00:00Z'];
    expect((await lookOnTerminal(line, { columns: 120 })).screen).toMatch(shown);
  });

  test('reports of a project are converted by the cost in their header', async () => {
    const { dir, ask } = await begin();
    await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
    await writeFile(
      join(dir, 'sql', 'reports', 'spent.sql'),
      "--! about: What was spent?\n--! grain: workspace\n--! cost: spent\n--! params: month month = last\nselect workspace, sum(cost) as spent, sum(cost) as other from costs where strftime(bucket_start, '%Y-%m-01') = $month group by workspace\n",
    );
    expect(await ask('report', 'spent')).toMatchObject({
      rows: [{ spent: '9.000000000000', spent_eur: '8.100000000000', eur_rate: '0.90000000' }],
    });
  });

  test('a statement has its total, its lines and the rate', async () => {
    const { dir, run, ask } = await begin();
    const { stdout } = await run('statement', '--month', '2026-09');
    expect(stdout).toContain('billed 9.000000000000 USD (8.10 EUR at 0.9, 2026-09-30)');
    const file = join(dir, 'exports', 'statement', 'BILLING_PERIOD=2026-09', 'statement-2026-09');
    const page = await readFile(`${file}.html`, 'utf8');
    expect(page).toContain('<div>8.10 EUR</div><div class="note">at 0.9 of 2026-09-30, ECB</div>');
    expect(page).toContain('<th scope="col" class="number">EUR</th>');
    expect(page).toContain('USD times 0.9, the rate of 2026-09-30 (ECB)');
    const { sheets } = await readXlsx(await readFile(`${file}.xlsx`));
    const rows = Object.fromEntries(sheets.map(({ name, rows }) => [name, rows]));
    expect(rows['Summary']).toContainEqual(['Billed for the month in EUR', 8.1, 'at 0.9, 2026-09-30, ECB']);
    expect(rows['By resource']?.[0]).toEqual(expect.arrayContaining(['Cost USD', 'Cost EUR']));
    expect(rows['By resource']?.at(-1)).toEqual(expect.arrayContaining([9, 8.1]));
    expect((await run('verify', join(dir, 'exports'))).exitCode).toBe(0);
    const august = await run('statement', '--month', '2026-08', '--out', join(dir, 'august'));
    expect(august.stderr).toContain('2026-08 has no amount in EUR');
    expect(august.stdout).not.toContain('EUR');
    await ask('close', '2026-08');
    await ask('close', '2026-09');
    expect(await ask('statement', '--month', '2026-09')).toMatchObject({ currency: { code: 'EUR' } });
  });

  test('budgets have a line with spent and amount, and doctor finds old rates', async () => {
    const { dir, run, setRates } = await begin();
    await mkdir(join(dir, 'jobs'), { recursive: true });
    await writeFile(
      join(dir, 'jobs', 'budgets.yaml'),
      `budgets:
  - { name: all, period: monthly, amount: 20 USD }
  - { name: runtime, period: monthly, amount: 20 GB-seconds, scope: { billing_dimension: sandbox_image_storage_gbs } }
  - { name: per-order, period: monthly, amount: 0.05 USD, per: { name: order, counts: orders.csv } }
`,
    );
    await writeFile(join(dir, 'jobs', 'orders.csv'), 'date,count\n2026-10-01,1000\n2026-10-02,1000\n2026-10-03,1000\n');
    const { stdout } = await run('budgets');
    expect(stdout).toContain('1 USD = 0.95 EUR (2026-10-15, ECB).\nall: 9.50 of 19.00 EUR spent\n');
    // Usage has no amount in a currency.
    expect(stdout).not.toMatch(/runtime: .*EUR/);
    expect(stdout).toMatch(/per-order: 0\.00\d+ of 0\.047500 EUR per order spent\n/);
    const { currency } = JSON.parse((await run('budgets', '--json')).stdout);
    expect(currency.budgets[1]).toEqual({ name: 'runtime', spent: null, amount: null, forecast: null });
    await setRates('date,rate\n2026-08,0.9\n');
    const doctor = await run('doctor', '--offline');
    expect(doctor.stdout).toMatch(/1 rate of EUR, the last of 2026-08-01, more than 45 days ago/);
  });

  test.runIf(hasTerminals())('fits a terminal of 80 columns', async () => {
    const { dir } = await begin();
    const now = '2026-10-20T13:00:00Z';
    const asked = ['report', 'cost_by_workspace', '--month', '2026-09', '--dir', dir, '--now', now];
    const { screen } = await lookOnTerminal(asked, { columns: 80 });
    expect(screen).toContain('1 USD = 0.9 EUR (2026-09-30, ECB).');
    const lines = screen.split('\n').filter((line) => !line.includes('/')); // paths are not cut
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
