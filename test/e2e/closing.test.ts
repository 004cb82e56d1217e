// Second tier, long: Three months with every signed export before and after; e2e/one-month closes one month.

import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { expect, test } from 'vitest';
import {
  askSnapshot,
  copyOfLoaded,
  type Ended,
  ingest,
  newProject,
  projectWithPlatform,
  runCli,
} from '../support/project.ts';
import { box, type ScriptedPlatform, series } from '../support/scripted-platform.ts';
import { seal } from '../support/seal.ts';
import { sumOf } from '../support/second-readers.ts';
import { hasTerminals, lookOnTerminal } from '../support/terminal.ts';

const disk = { ...box, type: 'volume', workspace: 'south', name: 'disk', uuid: null, dimension: 'volume_storage_gbs' };

/** The platform's numbers, with the amounts of September and October at this point of the story. */
function truth(september: number, october: number, later: number[] = []) {
  return [
    ...series(box, '2026-09-29T05', [1, september]),
    ...series(disk, '2026-09-03T05', [4]),
    ...series(box, '2026-10-10T05', [october, ...later]),
  ];
}

interface Story {
  readonly dir: string;
  readonly platform: ScriptedPlatform;
  night(now: string): Promise<void>;
  run(now: string, command: string, ...args: string[]): Promise<Ended>;
}

/** The story at its start, or after a night whose books are loaded once. */
async function begin(september: number, october: number, loadedAt?: string): Promise<Story> {
  const facts = truth(september, october);
  const { dir, platform } =
    loadedAt === undefined ? await projectWithPlatform(facts) : await copyOfLoaded(facts, { now: loadedAt });
  return {
    dir,
    platform,
    async night(now) {
      const { exitCode, stderr } = await ingest(dir, platform, { now });
      expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    },
    run: (now, command, ...args) => runCli([command, ...args, '--dir', dir, '--now', now]),
  };
}

/** Reports of a month that are signed, with their formats. */
const signed = [
  ['cost_by_workspace', 'csv,parquet,json,arrow'],
  ['focus', 'csv,parquet'],
  ['invoice_lines', 'csv'],
] as const;

/** The bytes of the files of the signed reports by name, or of those of FOCUS, into which all goes. */
async function exported(story: Story, now: string, out: string, ...args: string[]): Promise<Record<string, string>> {
  const folder = join(story.dir, out);
  for (const [report, formats] of signed) {
    if (out.startsWith('focus') && report !== 'focus') continue;
    const ended = await story.run(now, 'report', report, '--format', formats, '--out', folder, ...args);
    expect([report, ended.stderr]).toEqual([report, '']);
  }
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = found
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const files = await Promise.all(
    names.map(async (name) => [name, (await readFile(join(folder, name))).toString('base64')]),
  );
  return Object.fromEntries(files);
}

/** Changes the published snapshot, until the next one is published over it. */
async function changeSnapshot(dir: string, sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(join(dir, 'data', 'costbook.duckdb'), { threads: '1' });
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
  seal(join(dir, 'data', 'costbook.duckdb')); // without it nobody would read what was changed
}

const billedByMonth = `select strftime(billing_month, '%Y-%m') as billed, charge_class, sum(cost) as cost
  from costs_billed group by all order by all`;

test('a closed month stays as it was closed; later changes are delivered in the next month', async () => {
  const story = await begin(2, 10);
  const { dir, platform, night, run } = story;
  await night('2026-10-03T12:30:00Z');
  const early = await run('2026-10-03T13:00:00Z', 'close', '2026-09');
  expect(early.exitCode).toBe(4);
  expect(early.stderr).toContain(
    'account acc_one: its books are complete through 2026-10-03T10:00:00Z, expected 2026-10-04T00:00:00Z',
  );
  expect(early.stderr).toContain('run "costbook ingest" at 2026-10-04T02:00:00Z or later');
  expect(await askSnapshot(dir, 'select * from closes')).toEqual([]);

  await night('2026-10-05T12:30:00Z');
  const closed = await run('2026-10-05T13:00:00Z', 'close', '2026-09', '--invoice', '7.01', '--json');
  expect(closed.exitCode).toBe(0);
  expect(JSON.parse(closed.stdout)).toMatchObject({
    month: '2026-09',
    closedAt: '2026-10-05T13:00:00Z',
    wasClosed: false,
    accounts: [{ account: 'acc_one', rowCount: 3, cost: '7.000000000000', corrections: 0, invoiced: '7.01' }],
  });
  expect(await askSnapshot(dir, 'select invoice_difference from closes')).toEqual([
    { invoice_difference: '0.010000000000' },
  ]);
  if (hasTerminals()) {
    const lines = ['report', 'invoice_lines', '--month', '2026-09', '--dir', dir, '--now', '2026-10-05T13:30:00Z'];
    const { screen } = await lookOnTerminal([...lines, '--out', join(dir, 'seen')], { columns: 80 });
    expect(screen).toMatch(/^Invoice difference .*0\.01$/m);
  }
  const asClosed = await exported(story, '2026-10-05T14:00:00Z', 'first', '--month', '2026-09');
  // Eight files of rows and metadata, and three manifests.
  expect(Object.keys(asClosed)).toHaveLength(11);

  // The SHA-256 of the close covers the invoice.
  await changeSnapshot(dir, `update ledger.closes set invoiced = 7.02`);
  const changed = await run('2026-10-05T14:30:00Z', 'verify', join(dir, 'first'));
  expect([changed.exitCode, changed.stdout]).toEqual([
    4,
    expect.stringContaining('SHA-256 of the close of 2026-09, account acc_one'),
  ]);
  await changeSnapshot(dir, `update ledger.closes set invoiced = 7.01`);

  // A newer program may know other units; the account may get another name.
  await changeSnapshot(
    dir,
    `update ledger.billing_dimensions set unit = 'bananas'; update ledger.unit_suffixes set unit = 'bananas'`,
  );
  expect(await exported(story, '2026-10-05T15:00:00Z', 'focus-units', '--month', '2026-09')).toEqual(
    Object.fromEntries(Object.entries(asClosed).filter(([name]) => name.startsWith('focus'))),
  );
  expect(await askSnapshot(dir, 'select distinct unit from costs')).toEqual([{ unit: 'bananas' }]);

  // September is restated, and the disk turns out to have cost nothing.
  platform.facts = truth(5, 10).filter(({ type }) => type !== 'volume');
  await night('2026-10-12T12:30:00Z');
  expect(await exported(story, '2026-10-12T13:00:00Z', 'second', '--month', '2026-09')).toEqual(asClosed);
  const told = await run('2026-10-12T13:00:00Z', 'report', 'cost_by_workspace', '--month', '2026-09');
  expect(told.stdout).toContain('closed, as of 2026-10-05T13:00:00Z, complete through 2026-10-05T10:00:00Z');
  const { key_value_metadata } = await parquetMetadataAsync(
    await asyncBufferFromFile(join(dir, 'second', 'cost_by_workspace', 'BILLING_PERIOD=2026-09', 'latest.parquet')),
  );
  expect(key_value_metadata).toEqual(
    expect.arrayContaining([
      { key: 'closed_at', value: '2026-10-05T13:00:00Z' },
      { key: 'as_of', value: '2026-10-05T13:00:00Z' },
    ]),
  );
  const now = await run(
    '2026-10-12T13:00:00Z',
    'report',
    ...['cost_by_workspace', '--month', '2026-09', '--as-of', 'now', '--json', '--out', join(dir, 'now')],
  );
  expect(JSON.parse(now.stdout)).toMatchObject({ closedAt: null, asOf: null, rows: [{ cost: '6.000000000000' }] });
  // The foot says what the numbers above it are: current, or as billed at the close.
  for (const [named, cost, foot] of [
    ['cost_by_workspace', '6.000000000000', 'current costs of a closed period, not those of its close at 2026-10-05'],
    ['monthly_by_workspace', '7.000000000000', 'costs of a closed period as billed at its close at 2026-10-05T13:00'],
  ] as const) {
    const shown = await run('2026-10-12T13:00:00Z', 'report', named, '--month', '2026-09', '--as-of', 'now');
    expect(shown.stdout).toContain(cost);
    expect(shown.stdout).toContain(foot);
  }
  // Comparisons with a month that was never closed, and messages, have the numbers of the close as well.
  const compared = await run('2026-10-12T13:00:00Z', 'report', 'price_volume', '--month', '2026-09');
  expect(compared.stdout).toContain('closed, as of 2026-10-05T13:00:00Z');
  const message = await run('2026-10-12T13:00:00Z', 'summarize', '--period', 'monthly', '--dry-run');
  expect(message.stdout).toContain('Month 2026-09: 7.00 USD spent');
  expect(message.stdout).toContain('As at its close; -1.00 USD since then, which later months bill');
  expect(await askSnapshot(dir, billedByMonth)).toEqual([
    { billed: '2026-09', charge_class: null, cost: '7.000000000000' },
    { billed: '2026-10', charge_class: 'Correction', cost: '-1.000000000000' },
    { billed: '2026-10', charge_class: null, cost: '10.000000000000' },
  ]);
  const status = await run('2026-10-12T13:00:00Z', 'status');
  expect(status.stdout).toContain('closed through 2026-09, last close at 2026-10-05T13:00:00Z');
  expect(status.stdout).toContain('2026-09 changed by -1.00 USD since its close: 2 corrections, billed in 2026-10');

  await night('2026-11-05T12:30:00Z');
  expect((await run('2026-11-05T13:00:00Z', 'close', '2026-10')).exitCode).toBe(0);
  const october = await exported(story, '2026-11-05T14:00:00Z', 'focus-october', '--month', '2026-10');
  platform.facts = truth(6, 11, [3]);
  await night('2026-11-06T12:30:00Z');
  expect(await exported(story, '2026-11-06T14:00:00Z', 'focus-october-again', '--month', '2026-10')).toEqual(october);
  // Also written over what was written first.
  expect(await exported(story, '2026-11-06T14:00:00Z', 'first', '--month', '2026-09')).toEqual(asClosed);
  expect((await run('2026-11-06T14:30:00Z', 'verify', join(dir, 'first'))).exitCode).toBe(0);
  expect(await askSnapshot(dir, billedByMonth)).toEqual([
    { billed: '2026-09', charge_class: null, cost: '7.000000000000' },
    { billed: '2026-10', charge_class: 'Correction', cost: '-1.000000000000' },
    { billed: '2026-10', charge_class: null, cost: '10.000000000000' },
    // September: from 6 to 11; October: one more, and three in an hour that had none.
    { billed: '2026-11', charge_class: 'Correction', cost: '9.000000000000' },
  ]);
  const present = await askSnapshot(dir, 'select sum(cost) as cost from costs');
  expect(await askSnapshot(dir, 'select sum(cost) as cost from costs_billed')).toEqual(present);
  // As files that somebody has who does not have the books: the closed exports as they are, and the open month's.
  await run(
    '2026-11-06T14:00:00Z',
    'report',
    'focus',
    '--format',
    'csv',
    '--out',
    join(dir, 'open'),
    '--month',
    '2026-11',
  );
  const charged = await Promise.all(
    [
      ['first', '2026-09'],
      ['focus-october', '2026-10'],
      ['open', '2026-11'],
    ].map(async ([out = '', month]) => {
      const text = await readFile(join(dir, out, 'focus', `BILLING_PERIOD=${month}`, 'latest.csv'));
      return parse(text, { columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];
    }),
  );
  const focus = charged.flat();
  const metered = focus.filter((row) => row['ChargeCategory'] === 'Usage');
  expect(sumOf(metered.map((row) => row['BilledCost'] ?? ''))).toBe(present[0]?.['cost']);
  const adjustments = focus.filter((row) => row['ChargeCategory'] === 'Adjustment');
  expect(adjustments.map((row) => [row['ChargePeriodEnd'], row['BilledCost'], row['ChargeDescription']])).toEqual([
    ['2026-10-01T00:00:00Z', '0.010000000000', 'Invoice difference'],
  ]);
  expect(charged[2]?.map((row) => [row['ChargeClass'], row['ChargePeriodStart'], row['BilledCost']])).toEqual([
    ['Correction', '2026-09-03T05:00:00Z', '4.000000000000'],
    ['Correction', '2026-09-29T06:00:00Z', '1.000000000000'],
    ['Correction', '2026-10-10T05:00:00Z', '1.000000000000'],
    ['Correction', '2026-10-10T06:00:00Z', '3.000000000000'],
  ]);
  const { exitCode, stdout } = await run('2026-11-06T15:00:00Z', 'check');
  expect({ exitCode, failed: stdout.includes('FAIL') }).toEqual({ exitCode: 0, failed: false });

  // Closing again says so; with another invoice it is refused.
  const again = await run('2026-11-06T15:00:00Z', 'close', '2026-09', '--invoice', '7.0100');
  expect(again.exitCode).toBe(0);
  expect(again.stdout).toContain(
    '2026-09 was already closed, and still matches its closing total as of 2026-10-05T13:00:00Z',
  );
  const other = await run('2026-11-06T15:00:00Z', 'close', '2026-09', '--invoice', '7.02');
  expect(other.exitCode).toBe(2);
  expect(other.stderr).toContain(
    'with an invoice of 7.01 USD for account acc_one, but --invoice says 7.02 USD: run "costbook reopen 2026-09',
  );

  // The newest first, and never without a reason.
  const older = await run('2026-11-06T15:00:00Z', 'reopen', '2026-09', '--reason', 'a mistake');
  expect([older.exitCode, older.stderr]).toEqual([
    2,
    expect.stringContaining('cannot be reopened while 2026-10 is closed: first run "costbook reopen 2026-10'),
  ]);
  const silent = await run('2026-11-06T15:00:00Z', 'reopen', '2026-10');
  expect([silent.exitCode, silent.stderr]).toEqual([2, expect.stringContaining('--reason is missing')]);
  const workspaces = ['report', 'cost_by_workspace', '--month', '2026-10', '--format', 'csv'] as const;
  expect((await run('2026-11-06T15:00:00Z', ...workspaces)).exitCode).toBe(0);
  expect((await run('2026-11-06T15:00:00Z', 'verify')).exitCode).toBe(0);
  expect((await run('2026-11-06T16:00:00Z', 'reopen', '2026-10', '--reason', 'a mistake')).exitCode).toBe(0);
  // An export that shows the revoked close differs from the books, as a changed file does.
  const verified = await run('2026-11-06T16:30:00Z', 'verify', '--json');
  expect({ exitCode: verified.exitCode, ...JSON.parse(verified.stdout) }).toMatchObject({
    exitCode: 4,
    differences: 1,
    exports: expect.arrayContaining([
      expect.objectContaining({
        report: 'cost_by_workspace',
        differences: [expect.objectContaining({ what: 'close', found: '2026-11-05T13:00:00Z' })],
      }),
    ]),
    revoked: [expect.objectContaining({ command: 'report cost_by_workspace --month 2026-10 --format csv' })],
  });
  const reopenedStatus = await run('2026-11-06T16:30:00Z', 'status');
  expect(reopenedStatus.stdout).toContain(
    '1 export shows a revoked close. When the month is closed, write it again:\n' +
      '  costbook report cost_by_workspace --month 2026-10 --format csv\n',
  );
  expect(
    await askSnapshot(dir, 'select billing_month, reopen_reason from closes where not is_closed order by all'),
  ).toEqual([{ billing_month: '2026-10-01', reopen_reason: 'a mistake' }]);
  const reopened = await run(
    '2026-11-06T17:00:00Z',
    'report',
    ...['cost_by_workspace', '--month', '2026-10', '--json', '--out', join(dir, 'reopened')],
  );
  expect(JSON.parse(reopened.stdout)).toMatchObject({ closedAt: null, rows: [{ cost: '14.000000000000' }] });
  const then = await run('2026-11-06T17:00:00Z', 'sql', billedByMonth, '--as-of', '2026-11-06T15:00:00Z', '--json');
  expect(JSON.parse(then.stdout).rows).toHaveLength(4);

  // The close names one next step: to write the exports of the revoked close again.
  const { exitCode: closedAgain, stdout: next } = await run('2026-11-06T17:30:00Z', 'close', '2026-10');
  expect(closedAgain).toBe(0);
  expect(next.trimEnd().split('\n').slice(-2)).toEqual([
    '1 export shows a revoked close. Write it again:',
    '  costbook report cost_by_workspace --month 2026-10 --format csv',
  ]);
  expect(next).not.toContain('--as-of now');
  expect((await run('2026-11-06T17:30:00Z', ...workspaces)).exitCode).toBe(0);
  expect((await run('2026-11-06T17:30:00Z', 'verify')).exitCode).toBe(0);

  // Rebuilt books have the closes and reopenings.
  const rebuilt = await run('2026-11-06T18:00:00Z', 'rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--json');
  expect(rebuilt.stderr).toBe('');
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ identical: true });
}, 240_000);

test('a close that a killed process journaled but did not commit is completed by the next writer', async () => {
  const { dir, night, run } = await begin(2, 10, '2026-10-05T12:30:00Z');
  const warehouse = join(dir, 'data', 'warehouse.duckdb');
  await copyFile(warehouse, join(dir, 'before'));
  expect((await run('2026-10-05T13:00:00Z', 'close', '2026-09')).exitCode).toBe(0);
  await copyFile(join(dir, 'before'), warehouse); // what was committed since is gone, the journal is not
  await night('2026-10-06T12:30:00Z');
  expect(await askSnapshot(dir, 'select billing_month, cost, is_closed from closes')).toEqual([
    { billing_month: '2026-09-01', cost: '7.000000000000', is_closed: true },
  ]);
}, 600_000);

test('a reopened month that had an invoice is not closed without one unless its user says so', async () => {
  const { dir, run } = await begin(2, 10, '2026-10-05T12:30:00Z');
  expect((await run('2026-10-05T13:00:00Z', 'close', '2026-09', '--invoice', '7.01')).exitCode).toBe(0);
  const reopened = await run('2026-10-05T14:00:00Z', 'reopen', '2026-09', '--reason', 'a test');
  expect(reopened.stdout).toContain('costbook close 2026-09 --invoice acc_one=7.01');
  const refused = await run('2026-10-05T15:00:00Z', 'close', '2026-09');
  expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('--invoice acc_one=7.01');
  const without = await run('2026-10-05T15:00:00Z', 'close', '2026-09', '--invoice', 'none', '--json');
  expect(JSON.parse(without.stdout).accounts).toMatchObject([{ invoiced: null, billedCost: '7.000000000000' }]);
  // No invoice will come: that is another answer than none yet, and the month is closed so again.
  expect(await askSnapshot(dir, 'select invoiced, no_invoice from closes where is_closed')).toEqual([
    { invoiced: null, no_invoice: true },
  ]);
  const changed = await run('2026-10-05T15:30:00Z', 'close', '2026-09', '--invoice', '7.01');
  expect(changed.stderr).toContain('with none (--invoice none) for account acc_one, but --invoice says 7.01 USD');
  expect((await run('2026-10-05T16:00:00Z', 'reopen', '2026-09', '--reason', 'again')).stdout).toContain(
    'costbook close 2026-09 --invoice acc_one=none',
  );
  expect((await run('2026-10-05T17:00:00Z', 'close', '2026-09', '--invoice', 'acc_one=7.01')).exitCode).toBe(0);
}, 600_000);

test('the alert of a closed month follows every reopen and close, with both parts of its change and its invoice', async () => {
  const { platform, night, run } = await begin(2, 10);
  const shown = async (now: string) => (await run(now, 'alerts', '--open')).stdout.replaceAll(/\s+/g, ' ');
  await night('2026-10-05T12:30:00Z');
  expect((await run('2026-10-05T13:00:00Z', 'close', '2026-09', '--invoice', '7.01')).exitCode).toBe(0);
  platform.facts = truth(5, 10);
  await night('2026-10-12T12:30:00Z');
  await run('2026-10-12T13:00:00Z', 'alert');
  expect(await shown('2026-10-12T13:10:00Z')).toContain(
    `the close of 2026-10 will show the difference as a correction. "costbook restatements" lists what changed. Only if the platform sends a corrected invoice of 2026-09: run "costbook reopen 2026-09 --reason correction", then "costbook close 2026-09 --invoice acc_one=TOTAL", with its total as TOTAL.`,
  );

  await night('2026-11-05T12:30:00Z');
  expect((await run('2026-11-05T13:00:00Z', 'close', '2026-10', '--invoice', '13')).exitCode).toBe(0);
  // The close has billed all of it, which shows before the next "alert".
  expect(await shown('2026-11-05T13:10:00Z')).toContain('✅ over 2026-09 of acc_one has changed by +3.00 USD');
  platform.facts = truth(4, 10);
  await night('2026-11-06T12:30:00Z');
  expect((await run('2026-11-06T13:00:00Z', 'alert')).stdout).toContain(
    '2026-09 of acc_one has changed since it was closed: +3.00 USD billed, -1.00 USD to come',
  );
  const mixed = await shown('2026-11-06T13:10:00Z');
  expect(mixed).toContain('+3.00 USD in 2026-10 (closed), -1.00 USD in 2026-11 (open)');
  expect(mixed).toContain(
    'the close of 2026-10 shows a part as a correction, and the close of 2026-11 will show the rest as a correction.',
  );
  expect(mixed).toContain(
    `run "costbook reopen 2026-10 --reason correction", then "costbook reopen 2026-09 --reason correction", then "costbook close 2026-09 --invoice acc_one=TOTAL", then "costbook close 2026-10 --invoice acc_one=TOTAL", with their totals as TOTAL.`,
  );

  // Between two reopens it names only what is left to do.
  await run('2026-11-06T14:00:00Z', 'reopen', '2026-10', '--reason', 'a test');
  const between = await shown('2026-11-06T14:10:00Z');
  expect(between).toContain(
    `run "costbook reopen 2026-09 --reason correction", then "costbook close 2026-09 --invoice acc_one=TOTAL", then "costbook close 2026-10 --invoice acc_one=`,
  );
  expect(between).toContain('has changed by +2.00 USD since it was closed');
  const again = await run('2026-11-06T15:00:00Z', 'close', '2026-10', '--invoice', '13');
  expect([again.exitCode, again.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
    0,
    expect.stringContaining(
      'the invoice of 13.00 USD is that of the last close of 2026-10, when the books had 1.00 USD more for it. If an earlier month bills this now, it is billed twice: run "costbook reopen 2026-10 --reason correction", then close the month with the corrected total of its invoice',
    ),
  ]);
  const told = await run('2026-11-06T16:00:00Z', 'alert');
  expect(told.stdout).toContain('Resolved: 2026-09 of acc_one has no unbilled change any more');
  expect(await shown('2026-11-06T16:10:00Z')).not.toContain('2026-09 of acc_one has changed');
}, 600_000);

test('every export with numbers of a revoked close is named, also of reports that always show the present', async () => {
  const { dir, run } = await begin(2, 10, '2026-10-05T12:30:00Z');
  await run('2026-10-05T13:00:00Z', 'close', '2026-09');
  const monthly = ['monthly_by_workspace', '--from', '2026-09-01', '--to', '2026-10-05', '--format', 'csv'];
  await writeFile(
    join(
      await mkdir(join(dir, 'sql', 'reports'), { recursive: true }).then(() => join(dir, 'sql', 'reports')),
      'own.sql',
    ),
    '--! about: Mine.\n--! grain: billing_month\nselect billing_month, sum(cost) as cost from hourly_costs_billed group by billing_month\n',
  );
  for (const args of [
    ['summary', '--format', 'csv'],
    monthly,
    ['own', '--format', 'csv'],
    ['daily_trend', '--format', 'csv'],
  ]) {
    const { exitCode, stderr } = await run('2026-10-05T14:00:00Z', 'report', ...args);
    expect([args[0], exitCode, stderr]).toEqual([args[0], 0, '']);
  }
  await run('2026-10-05T14:00:00Z', 'report', 'summary', '--as-of', '2026-10-05T13:30:00Z', '--format', 'csv');
  const reopened = await run('2026-10-05T15:00:00Z', 'reopen', '2026-09', '--reason', 'a test', '--json');
  const commands = [
    'report monthly_by_workspace --from 2026-09-01 --to 2026-10-05 --format csv',
    'report own --format csv',
    'report summary --format csv',
  ];
  const named = ({ stdout }: Ended) =>
    JSON.parse(stdout)
      .revoked.map(({ command }: { command: string }) => command)
      .sort();
  expect(named(reopened)).toEqual(commands);
  const status = await run('2026-10-05T15:10:00Z', 'status');
  expect(status.stdout).toContain('3 exports show a revoked close. When the month is closed, write them again:');
  const closed = await run('2026-10-05T16:00:00Z', 'close', '2026-09', '--json');
  expect(named(closed)).toEqual(commands);
  const verified = await run('2026-10-05T16:10:00Z', 'verify');
  expect([verified.exitCode, verified.stdout]).toEqual([4, expect.stringContaining('Write them again:')]);
  for (const command of commands) {
    const { exitCode, stderr } = await run('2026-10-05T17:00:00Z', ...(command.split(' ') as [string]));
    expect([command, exitCode, stderr]).toEqual([command, 0, '']);
  }
  expect(await run('2026-10-05T18:00:00Z', 'verify')).toMatchObject({ exitCode: 0 });
}, 600_000);

test('close lists everything that prevents it at once, each with what to do', async () => {
  const { dir, platform, run } = await begin(2, 10, '2026-11-06T12:30:00Z');
  expect((await run('2026-11-06T13:00:00Z', 'close', '2026-09')).exitCode).toBe(0);
  platform.lie = ({ query }) => (query['endTime']?.startsWith('2026-11') ? 1 : 0);
  await ingest(dir, platform, { now: '2026-11-07T12:30:00Z', args: ['--refetch', '--from', '2026-10-30'] });
  const { exitCode, stderr } = await run('2026-11-07T13:00:00Z', 'close', '2026-11');
  expect(exitCode).toBe(4);
  expect(stderr).toContain('2026-11 cannot be closed:');
  expect(stderr).toContain('- 2026-10 is not closed: close the older month first');
  expect(stderr).toContain('- account acc_one: its books are complete through');
  expect(stderr).toMatch(
    /- account acc_one: 2026-\S+ is unproven \(.*\); run "costbook ingest", which fetches it again/,
  );
  const older = await run('2026-11-07T13:00:00Z', 'close', '2026-08');
  expect([older.exitCode, older.stderr]).toEqual([4, expect.stringContaining('the first closed month is 2026-09')]);
}, 600_000);

test('close does not freeze a month under other rules than those in the file', async () => {
  const { dir, night, run } = await begin(2, 10, '2026-11-06T12:30:00Z');
  await mkdir(join(dir, 'jobs'), { recursive: true });
  await writeFile(
    join(dir, 'jobs', 'allocation.yaml'),
    'rules: [{ name: n, when: { workspace: north }, owner: { team: N } }]\n',
  );
  const at = '2026-11-06T13:00:00Z';
  const summary = await run(at, 'report', 'reconciliation_summary', '--month', '2026-09');
  expect(summary.exitCode, summary.stderr).toBe(0);
  const refused = await run(at, 'close', '2026-09');
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toMatch(
    /allocation\.yaml are not applied yet, .* without an owner: run "costbook allocation apply"/,
  );
  expect((await run(at, 'allocation', 'apply')).exitCode).toBe(0);
  expect((await run(at, 'close', '2026-09')).exitCode).toBe(0);
  // What was exported before is the same, but not what the month bills now.
  expect((await run(at, 'verify')).stdout).toMatch(
    /same .*reconciliation_summary.*\n +note: 2026-09 was closed at .* after this export/,
  );
  // Nor does the present of a closed month become its close in a folder without "as-of".
  const copy = join(dir, 'copy', 'cost_by_workspace');
  const present = ['report', 'cost_by_workspace', '--month', '2026-09', '--as-of', 'now', '--format', 'csv'];
  await night('2026-11-07T12:30:00Z');
  expect((await run('2026-11-07T13:00:00Z', ...(present as [string]))).exitCode).toBe(0);
  await cp(join(dir, 'exports', 'as-of=now', 'cost_by_workspace'), copy, { recursive: true });
  expect((await run('2026-11-07T13:00:00Z', 'verify', join(dir, 'copy'))).stdout).toMatch(
    /note: 2026-09 was closed at .* before this export: it shows the month as of later, and not as it was closed/,
  );
  const { stdout } = await run(at, 'report', 'chargeback_summary', '--month', '2026-09', '--json');
  expect(JSON.parse(stdout).rows.map(({ owner }: { owner: string }) => owner)).toContain('N');
  // Rules that divide by nothing that the month has: only a new close can change that.
  const none = await run(at, 'statement', '--month', '2026-09', '--each', 'owner', '--by', 'product');
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining('reopen the month and close it again')]);
}, 600_000);

test('a month without a matching monthly total is not closed, nor one that changed after it matched', async () => {
  const { dir, platform, night, run } = await begin(2, 10);
  const isAboutMonths = ({ query }: { query: Readonly<Record<string, string>> }) =>
    query['resolution'] === 'monthly' && query['groupBy'] === 'billing_dimension';
  platform.failures = [{ times: 1000, hits: isAboutMonths, status: 422, body: { error: 'no months today' } }];
  const first = await ingest(dir, platform, { now: '2026-10-05T12:30:00Z' });
  expect([first.exitCode, first.account.unproven], first.stderr).toEqual([3, []]);
  const refused = await run('2026-10-05T13:00:00Z', 'close', '2026-09');
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain("- account acc_one: 2026-09 does not match the platform's own total");
  const status = await run('2026-10-05T13:00:00Z', 'status');
  const lastLine = status.stdout.trimEnd().split('\n').at(-1);
  expect(lastLine, 'the reason is whole, and a refusal is no failure').toMatch(
    /\(close\) refused at .*, exit 4: 2026-09 cannot be closed: account acc_one: 2026-09 does not match the platform's own total/,
  );
  const { stdout: doctor } = await run('2026-10-05T13:00:00Z', 'doctor');
  expect(doctor).toMatch(/OK +books[^\n]*: the last run \(close\) was refused[^\n]*cannot be closed: account acc_one/);

  platform.failures = [];
  await night('2026-10-06T12:30:00Z');
  platform.facts = truth(3, 10);
  await ingest(dir, platform, {
    now: '2026-10-06T13:00:00Z',
    args: ['--refetch', '--from', '2026-09-29', '--to', '2026-09-30'],
  });
  expect((await run('2026-10-06T13:30:00Z', 'close', '2026-09')).exitCode).toBe(4);
  await night('2026-10-07T12:30:00Z');
  expect((await run('2026-10-07T13:00:00Z', 'close', '2026-09')).exitCode).toBe(0);
}, 600_000);

test('close without any load refuses and creates nothing', async () => {
  const dir = await newProject();
  for (const args of [
    ['close', '2026-09'],
    ['reopen', '2026-09', '--reason', 'x'],
  ]) {
    const { exitCode, stderr } = await runCli([...args, '--dir', dir]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('costbook init')]);
  }
  expect(await readdir(dir)).toEqual([]);
});
