// Second tier: Starts a child for each option; unit/guarded-sql and property/every-surface ask SQL in the first tier.

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { parquetMetadata } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/query/question.ts';
import { ask } from '../../src/query/run-query.ts';
import { type Ended, ingest, newProject, runCli, startCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

let dir = '';
let out = '';
beforeAll(async () => {
  // A quote and a space in the path, so all printed paths must be quoted for their reader.
  dir = join(await newProject(), `it's the books`);
  await mkdir(dir);
  out = await mkdtemp(join(tmpdir(), 'costbook-out-'));
  const platform = await startScriptedPlatform(
    series(
      { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_compute_runtime_gbs' },
      '2026-09-03T05',
      [0.1, 0.2, 0.3],
    ),
  );
  await ingest(dir, platform, { now: '2026-09-05T12:30:00Z' });
});
afterAll(() => rm(out, { recursive: true, force: true }));

const completeness = 'complete through 2026-09-05T10:00:00Z, settled through 2026-09-02T10:00:00Z';
const costs = 'select cost from costs order by bucket_start';

function sql(...args: string[]): Promise<Ended> {
  return runCli(['sql', '--dir', dir, ...args]);
}

describe('the query of costbook sql', () => {
  test('comes from a file, with or without a semicolon', async () => {
    const file = join(out, 'question.sql');
    await writeFile(file, `\uFEFF-- a question\n${costs};\n-- its end\n`);
    expect(await sql('-f', file, '--format', 'csv')).toEqual({
      exitCode: 0,
      stdout: 'cost\r\n0.100000000000\r\n0.200000000000\r\n0.300000000000\r\n',
      stderr: `${completeness}\n`,
    });
    await rm(file);
  });

  test('comes from stdin', async () => {
    const { stdout } = await runCli(['sql', '-', '--dir', dir, '--format', 'csv'], {}, { stdin: 'select 1 as one' });
    expect(stdout).toBe('one\r\n1\r\n');
  });

  test.each([
    [[], 'no query given'],
    [['select 1', '--file', 'x.sql'], 'found both a query and --file'],
    [['--file', 'nowhere.sql'], 'nowhere.sql does not exist'],
    [['--file', '.'], 'is a folder'],
    [['select 1', '--max-rows', '0'], '--max-rows: found "0", expected a whole number from 1'],
    [['select 1', '--timeout', '5'], '--timeout: found "5", expected a duration'],
    [['select 1', '--timeout', '99999d'], '--timeout: found "99999d", expected a time above zero and at most 24h'],
    [['select 1', '--out', 'answer.xls'], '"answer.xls" does not end in .csv, .json, .ndjson, .parquet, .arrow'],
    [['select 1', '--out', '/nowhere/answer.csv'], 'the folder /nowhere does not exist'],
    [['select 1', '--open-with', 'excel'], '--open-with: found "excel", expected duckdb, python or notebook'],
  ])('is refused if it or an option is wrong: %j', async (args, words) => {
    const { exitCode, stdout, stderr } = await sql(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(words);
  });
});

describe('--max-rows', () => {
  test('limits the answer, and says so in every format', async () => {
    expect((await sql(costs, '--max-rows', '2')).stdout).toContain(
      `(the first 2 rows; there are more: --max-rows, or --format csv for all) ${completeness}`,
    );
    expect(JSON.parse((await sql(costs, '--max-rows', '2', '--json')).stdout)).toMatchObject({
      rows: [{ cost: '0.100000000000' }, { cost: '0.200000000000' }],
      truncated: true,
    });
    for (const format of ['csv', 'ndjson', 'parquet', 'arrow']) {
      const { exitCode, stderr } = await sql(costs, '--max-rows', '2', '--format', format);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: `only the first 2 rows are shown (see --max-rows); ${completeness}\n`,
      });
    }
  });

  test('is silent if there are no more rows', async () => {
    for (const format of ['csv', 'parquet']) {
      expect((await sql(costs, '--max-rows', '3', '--format', format)).stderr).toBe(`${completeness}\n`);
    }
  });

  test('shows that many rows in a table, in bounded memory', async () => {
    const wide = Array.from({ length: 12 }, (_, index) => `'a text of some length ' || i + ${index} as c${index}`);
    const query = `select ${wide.join(', ')} from range(40000) t(i)`;
    // The rows need more than this heap has besides the program itself.
    const run = startCli(['sql', query, '--max-rows', '70000', '--timeout', '5m', '--dir', dir], {
      NODE_OPTIONS: '--max-old-space-size=32',
    });
    let lines = 0;
    let last = '';
    run.process.stdout?.on('data', (piece: Buffer) => {
      for (const byte of piece) if (byte === 0x0a) lines += 1;
      last = `${last}${piece.toString().slice(-200)}`.slice(-200);
    });
    const { exitCode } = await run.ended;
    expect([exitCode, lines]).toEqual([0, 40_000 + 3]);
    expect(last).toContain(`(40000 rows) ${completeness}`);
  });

  test('shows a thousand rows of a billion at once', async () => {
    const { stdout } = await sql('select i from range(1000000000) t(i)', '--timeout', '20s');
    expect(stdout.split('\n')).toHaveLength(1000 + 4);
  });
});

describe('--out', () => {
  test('writes the format of the file ending, completely', async () => {
    for (const format of ['csv', 'json', 'ndjson', 'parquet', 'arrow']) {
      const file = join(out, `answer.${format}`);
      const { exitCode, stdout, stderr } = await sql(costs, '--out', file);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`answer\\.${format} \\(3 rows, \\d+ bytes\\) ${completeness}\n$`));
    }
    expect((await readdir(out)).sort()).toEqual(
      ['arrow', 'csv', 'json', 'ndjson', 'parquet'].map((format) => `answer.${format}`),
    );
    const read = (format: string) => readFile(join(out, `answer.${format}`));
    expect(parse(await read('csv'), { columns: true, record_delimiter: '\r\n' })).toEqual([
      { cost: '0.100000000000' },
      { cost: '0.200000000000' },
      { cost: '0.300000000000' },
    ]);
    expect(
      (await read('ndjson'))
        .toString()
        .split('\n')
        .slice(0, 3)
        .map((line) => JSON.parse(line).cost),
    ).toEqual(['0.100000000000', '0.200000000000', '0.300000000000']);
    const { buffer, byteOffset, length } = await read('parquet');
    const metadata = parquetMetadata(buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer);
    expect(metadata.num_rows).toBe(3n);
    expect(metadata.key_value_metadata).toContainEqual({ key: 'complete_through', value: '2026-09-05T10:00:00Z' });
    expect((await read('arrow')).subarray(0, 6).toString()).toBe('ARROW1');
  });

  test('prints the written file with --json', async () => {
    const file = join(out, 'answer.csv');
    const { stdout } = await sql(costs, '--out', file, '--json', '--max-rows', '1');
    expect(JSON.parse(stdout)).toMatchObject({
      path: file,
      format: 'csv',
      rows: 1,
      bytes: (await readFile(file)).length,
      truncated: true,
      completeThrough: '2026-09-05T10:00:00Z',
    });
  });

  test('leaves the old file if the query fails', async () => {
    const failing = `select cast(if(i < 5000, '1', 'x') as integer) as n from range(9000) t(i)`;
    for (const format of ['csv', 'parquet']) {
      const file = join(out, `kept.${format}`);
      await writeFile(file, 'as it was');
      expect((await sql(failing, '--out', file)).exitCode).toBe(2);
      expect(await readFile(file, 'utf8')).toBe('as it was');
      await rm(file);
    }
    expect((await readdir(out)).filter((name) => name.includes('part'))).toEqual([]);
  });

  test('refuses files in the folder of the books, by any name', async () => {
    await symlink(join(dir, 'data'), join(out, 'alias'));
    for (const file of [join(dir, 'data', 'warehouse.csv'), join(out, 'alias', 'costbook.csv')]) {
      const { exitCode, stderr } = await sql('select 1', '--out', file);
      expect(exitCode).toBe(2);
      expect(stderr).toContain('which is reserved for the books');
    }
    await rm(join(out, 'alias'));
  });
});

describe('--open-with', () => {
  test('prints a line that works in a shell and in Python for any path', async () => {
    const file = join(dir, 'data', 'costbook.duckdb');
    const shellLine = (await sql('--open-with', 'duckdb')).stdout;
    expect(execFileSync('/bin/sh', ['-c', `duckdb() { printf '%s|' "$@"; }; ${shellLine}`]).toString()).toBe(
      `-readonly|${file}|`,
    );
    expect((await sql('--open-with', 'python')).stdout).toBe(
      `import duckdb; books = duckdb.connect("${file}", read_only=True)\n`,
    );
    expect(JSON.parse((await sql('--open-with', 'notebook', '--json')).stdout).line).toContain(
      `duckdb.connect("${file}", read_only=True)`,
    );
  });
});

describe('the process that answers', () => {
  const hog = `select length(format('{:>1500000000}', i::varchar)) from range(100) t(i)`;
  const question: Question = {
    dir: '',
    sql: hog,
    asOf: null,
    format: 'csv',
    raw: false,
    maxRows: null,
    file: null,
  };

  test.each([
    ['by the kernel', true],
    ['by the process that started it, if the kernel does not', false],
  ])('is limited in memory %s', async (_, hasKernelLimit) => {
    const asked = ask(
      { ...question, dir },
      {
        timeoutMs: 50_000,
        write: async () => undefined,
        signal: new AbortController().signal,
        memoryMb: 600,
        hasKernelLimit,
      },
    );
    await expect(asked).rejects.toMatchObject({ exitCode: 7, message: expect.stringMatching(/memory/) });
    expect((await readdir(join(dir, 'data'))).filter((name) => name.startsWith('.spill'))).toEqual([]);
  });
});
