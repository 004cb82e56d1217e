import { open } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, type Ended, ingest, newProject, runCli, startCli, startMain } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

let dir = '';
beforeAll(async () => {
  dir = await newProject();
  const box = { type: 'sandbox', uuid: 'sbx-1', dimension: 'sandbox_compute_runtime_gbs' };
  const platform = await startScriptedPlatform([
    ...series({ ...box, workspace: 'north', name: '=SUM(A1)' }, '2026-09-03T05', [0.1, 0.2]),
    ...series({ ...box, workspace: 'sou"th, east', name: 'two\r\nlines', uuid: 'sbx-2' }, '2026-09-03T05', [1]),
    ...series({ ...box, workspace: null, name: null, uuid: null }, '2026-09-03T05', [2]),
  ]);
  await ingest(dir, platform, { now: '2026-09-05T12:30:00Z' });
});

const completeness = 'complete through 2026-09-05T10:00:00Z, settled through 2026-09-02T10:00:00Z';
const byWorkspace = 'select workspace, sum(cost) as cost from costs group by workspace order by workspace nulls last';

function sql(query: string, ...args: string[]): Promise<Ended> {
  return runCli(['sql', query, '--dir', dir, ...args]);
}

describe.concurrent('costbook sql', () => {
  test.each(['csv', 'json'])(
    'sends a terminal no control characters in %s, but other readers what is in the books',
    async (format) => {
      const query = "select chr(155) || '2J' || chr(27) || ']0;x' || chr(8238) || 'é☃' as name";
      const asked = ['sql', query, '--format', format, '--dir', dir];
      const { ended, stdout } = startMain(asked, {}, { columns: 80 });
      await ended;
      // On a slow machine, the line that says how long it takes comes and goes.
      const parts = stdout().split('\u001b[2K');
      const shown = parts.map((part) => part.replace(/\r?(sql · [^\r\n]*)?\r?$/u, '')).join('');
      expect(shown).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
      expect(shown).toContain('é☃');
      expect((await runCli(asked)).stdout).toContain('\u009b2J');
    },
  );

  test('leaves the colours of commands on a terminal', async () => {
    const { ended, stdout } = startMain(['status', '--dir', dir], { TERM: 'xterm-256color' }, { columns: 80 });
    await ended;
    expect(stdout()).toContain('\u001b[1m');
    expect(stdout()).not.toContain('\ufffd');
  });

  test('prints a table and complete-through', async () => {
    expect(await sql(byWorkspace)).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: [
        'workspace               cost',
        '────────────  ──────────────',
        'north         0.300000000000',
        'sou"th, east  1.000000000000',
        '              2.000000000000',
        `(3 rows) ${completeness}`,
        '',
      ].join('\n'),
    });
  });

  test('says "1 row" for one row', async () => {
    expect((await sql('select 1 as one')).stdout).toContain('(1 row) ');
  });

  test('prints one JSON value: decimals and large integers as text, instants in UTC, NULL, nested values', async () => {
    const { exitCode, stdout, stderr } = await sql(
      `select 0.10::decimal(18,12) as decimal, 9007199254740993 as great, 42 as small, null as nothing,
        timestamp '2026-10-01 00:00:00' as at, timestamptz '2026-10-01 00:00:00+00' as zoned, date '2026-10-01' as day,
        {'a': [1.5::decimal(3,1)]} as nested, true as yes`,
      '--json',
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      asOf: null,
      completeThrough: '2026-09-05T10:00:00Z',
      settledThrough: '2026-09-02T10:00:00Z',
      columns: [
        { name: 'decimal', type: 'DECIMAL(18,12)' },
        { name: 'great', type: 'BIGINT' },
        { name: 'small', type: 'INTEGER' },
        { name: 'nothing', type: expect.any(String) },
        { name: 'at', type: 'TIMESTAMP' },
        { name: 'zoned', type: 'TIMESTAMP WITH TIME ZONE' },
        { name: 'day', type: 'DATE' },
        { name: 'nested', type: expect.stringContaining('STRUCT') },
        { name: 'yes', type: 'BOOLEAN' },
      ],
      rows: [
        {
          decimal: '0.100000000000',
          great: '9007199254740993',
          small: 42,
          nothing: null,
          at: '2026-10-01T00:00:00Z',
          zoned: '2026-10-01T00:00:00Z',
          day: '2026-10-01',
          nested: { a: ['1.5'] },
          yes: true,
        },
      ],
      truncated: false,
    });
  });

  test('prints an empty list for no rows', async () => {
    const { stdout } = await sql('select cost from costs where false', '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ rows: [], truncated: false });
  });

  test('prints many rows as one JSON value', async () => {
    const { stdout } = await sql('select i from range(10000) t(i)', '--json');
    const { rows } = JSON.parse(stdout) as { rows: { i: number }[] };
    expect(rows.map(({ i }) => i)).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
  });

  test('refuses JSON with two columns of one name', async () => {
    const { exitCode, stdout, stderr } = await sql('select 1 as a, 2 as a', '--json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('two columns are named "a"');
  });

  test('prints CSV for a strict reader, and complete-through on stderr', async () => {
    const { exitCode, stdout, stderr } = await sql(
      'select workspace, resource_name, cost from costs order by cost',
      '--format',
      'csv',
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `${completeness}\n` });
    expect(parse(stdout, { record_delimiter: '\r\n' })).toEqual([
      ['workspace', 'resource_name', 'cost'],
      ['north', "'=SUM(A1)", '0.100000000000'],
      ['north', "'=SUM(A1)", '0.200000000000'],
      ['sou"th, east', 'two\r\nlines', '1.000000000000'],
      ['', '', '2.000000000000'],
    ]);
  });

  test('prints unguarded text with --raw', async () => {
    const { stdout } = await sql('select distinct resource_name from costs where cost < 1', '--format', 'csv', '--raw');
    expect(stdout).toBe('resource_name\r\n=SUM(A1)\r\n');
  });

  test.each([
    ['a missing column', 'select nosuch from costs', 'Binder Error'],
    ['text that is not SQL', 'selct 1', 'Parser Error'],
    ['a letter of several bytes in place of SQL', '日本', 'Parser Error: expected SQL'],
    [
      'a query that fails halfway',
      `select cast(if(i < 5000, '1', 'x') as integer) from range(9000) t(i)`,
      'Conversion Error',
    ],
    ['a file', `select * from read_csv('/etc/passwd')`, 'Permission Error'],
    ['an empty query', ';', 'no statement'],
  ])('ends with 2 for %s, in words that help', async (_, query, words) => {
    const { exitCode, stderr } = await sql(query);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
  });

  test.each([
    ['delete from ledger.hourly_costs', 'DELETE is refused'],
    [`-- out with it\ncopy (select 1) to '/tmp/never.csv'`, 'COPY is refused'],
    [`attach 'other.duckdb'`, 'ATTACH is refused'],
    ['install httpfs', 'INSTALL is refused'],
    ['load httpfs', 'LOAD is refused'],
    [`set memory_limit = '1GB'`, 'SET is refused'],
    ['with gone as (select 1) delete from ledger.hourly_costs', 'a query that changes something is refused'],
  ])('refuses %j in one sentence that says what there is instead', async (query, words) => {
    const { exitCode, stdout, stderr } = await runCli(['sql', '--dir', dir, '--', query]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^costbook: ${words}: the books are read-only. Expected one SELECT.*--out\n$`));
  });

  test('shows the place of a mistake with a caret, and the message of DuckDB', async () => {
    const { exitCode, stderr } = await sql('select 1 +\n  selct 2');
    expect(exitCode).toBe(2);
    const lines = stderr.split('\n');
    expect(lines[0]).toBe('costbook: Parser Error: syntax error at or near "2"');
    expect(lines.slice(1)).toEqual(['costbook: LINE 2:   selct 2', 'costbook:                 ^', '']);
  });

  test('writes amounts of type DOUBLE as plain decimals', async () => {
    const { stdout } = await sql('select 3.5e-7::double as small, 1.5e21::double as great', '--format', 'csv');
    expect(stdout).toBe('small,great\r\n0.00000035,1500000000000000000000\r\n');
  });

  test('reports that stdout cannot be written, and is silent if the reader has gone', async () => {
    const full = await open('/dev/full', 'w');
    try {
      for (const args of [['sql', 'select 1', '--dir', dir], ['help']]) {
        const { exitCode, stderr } = await startCli(args, {}, { stdout: full.fd }).ended;
        expect(exitCode).toBe(7);
        expect(stderr).toMatch(/^costbook: could not write to stdout: ENOSPC.*\ncostbook: the disk is full.*\n$/);
      }
    } finally {
      await full.close();
    }
    const gone = startCli(['sql', 'select * from range(1000000)', '--format', 'csv', '--dir', dir]);
    gone.process.stdout?.once('data', () => gone.process.stdout?.destroy());
    expect(await gone.ended).toMatchObject({ exitCode: 141, stderr: '' });
  });

  test('describes each public view', async () => {
    const views = [
      'costs',
      'costs_v1',
      'costs_daily',
      'costs_monthly',
      'coverage',
      'reconciliation',
      'restatements',
      'runs',
      'accounts',
      'hourly_costs',
      'series',
    ];
    const { stdout } = await sql(
      `select ${views.map((view) => `(select count(*) from ${view}) as ${view}`).join(', ')}`,
      '--json',
    );
    expect(JSON.parse(stdout).rows).toEqual([
      {
        costs: 4,
        costs_v1: 4,
        costs_daily: 3,
        costs_monthly: 3,
        coverage: 1,
        reconciliation: expect.any(Number),
        restatements: 0,
        runs: 1,
        accounts: 1,
        hourly_costs: 4,
        series: 3,
      },
    ]);
  });
});

test('no query changed the books', async () => {
  expect(await askSnapshot(dir, 'select count(*) as rows from ledger.hourly_costs')).toEqual([{ rows: '4' }]);
});
