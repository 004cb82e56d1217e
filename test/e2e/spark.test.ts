// Second tier, long: Starts a cluster of Spark and runs every report on it; e2e/engine holds the statements and failures.

import { execFile } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterAnswerQuery, readClusterAnswer, sparkScript, toSpark } from '../../src/engine/index.ts';
import { completenessOf } from '../../src/reports/formats/index.ts';
import {
  type ParameterValue,
  readParameters,
  readReports,
  settleParameters,
  sqlParameters,
} from '../../src/reports/questions/index.ts';
import { openBooks } from '../../src/warehouse/integrity/index.ts';
import type { SqlParameters } from '../../src/warehouse/store/index.ts';
import { copyOfDemo } from '../support/demo.ts';
import { newProject, runCli } from '../support/project.ts';
import { sparkCommand, sparkEnv, sparkHome, startSparkCluster } from '../support/spark-cluster.ts';

const home = sparkHome();
if (home === undefined) {
  process.stderr.write(
    'Spark is not at hand: set SPARK_HOME, or COSTBOOK_TEST_SPARK to a virtual environment with pyspark\n',
  );
}

const now = ['--now', '2026-11-13T00:00:00Z'];
/** The cookbook's questions that are asked here, by their numbers. */
const questions = [2, 4, 7];

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly places?: readonly string[];
  readonly values: readonly ParameterValue[];
}

async function cookbook(): Promise<Asked[]> {
  const page = await readFile(new URL('../../docs/cookbook.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^## (\d+)\. [^\n]*\n[\s\S]*?```sql\n([\s\S]*?)```/gm)];
  return blocks
    .filter(([, number]) => questions.includes(Number(number)))
    .map(([, number = '', text = '']) => ({ name: `question ${number}`, path: 'cookbook.md', text, values: [] }));
}

describe.skipIf(home === undefined)('a cluster of a master and two workers over the lake', () => {
  let dir = '';
  let end = (): void => undefined;
  beforeAll(async () => {
    const made = await copyOfDemo();
    expect(made.ended.exitCode, made.ended.stderr).toBe(0);
    dir = made.dir;
    await writeFile(join(dir, 'metric.csv'), 'date,value\n2026-10-01,9\n2026-10-02,\n2026-10-03,4.5\n');
    const lake = await runCli(['report', 'lake', '--dir', dir, ...now]);
    expect(lake.exitCode, lake.stderr).toBe(0);
    const cluster = await startSparkCluster(home ?? '');
    end = cluster.end;
    const command = JSON.stringify(sparkCommand(home ?? '', cluster.master));
    await appendFile(join(dir, 'costbook.yaml'), `\nengine:\n  command: ${command}\n`);
  }, 900_000);
  afterAll(() => end());

  /** Every built-in report with its default parameters, and questions of the cookbook. */
  async function everything(connection: Parameters<typeof toSpark>[0]): Promise<Asked[]> {
    const state = await completenessOf(connection);
    const asked: Asked[] = await cookbook();
    for (const report of await readReports(join(dir, 'none'))) {
      if (report.name === 'lake') continue;
      const problems: string[] = [];
      const given = report.name === 'unit_economics' ? [{ name: 'metric', text: 'metric.csv', what: '--param' }] : [];
      const reading = { now: Date.parse('2026-11-13'), dir, problem: (words: string) => problems.push(words) };
      const values = settleParameters(await readParameters(report, given, reading), state);
      expect(problems).toEqual([]);
      const { path, places } = report.file;
      const text = report.file.text.trimEnd().replace(/;$/, '');
      asked.push({ name: report.name, path, text, values, ...(places === undefined ? {} : { places }) });
    }
    return asked;
  }

  test('gives every built-in report and the cookbook’s questions as DuckDB does, to the last decimal', {
    timeout: 900_000,
  }, async () => {
    const books = await openBooks(dir, { lockedDown: false, memoryMb: 2048 });
    const { connection } = books;
    try {
      const asked = await everything(connection);
      expect(asked.length).toBeGreaterThan(25);
      const command = sparkCommand(
        home ?? '',
        (await readFile(join(dir, 'costbook.yaml'), 'utf8')).match(/spark:\/\/[\d.:]+/)?.[0] ?? '',
      );
      const settings = { command, lake: 'exports/lake', env: [] };
      let script = '';
      for (const [index, { values, ...source }] of asked.entries()) {
        const content = await readFile(join(dir, 'metric.csv'), 'utf8');
        const bound = Object.fromEntries(
          values.map(({ name, type, sqlValue: value }) => {
            const kind = type === 'integer' || type === 'boolean' ? type : 'varchar';
            return [name, { value, type: { kind }, ...(type === 'file' ? { content } : {}) } as const];
          }),
        );
        const statement = await toSpark(connection, source, bound);
        script += await sparkScript(statement, { settings, dir, mark: `answer-${index}` });
      }
      const folder = await newProject();
      const file = join(folder, 'all.sql');
      await writeFile(file, script);
      // One session for all: starting one takes longer than most reports.
      const [program = '', ...args] = command.map((word) => word.replaceAll('{file}', file));
      const env = { PATH: process.env['PATH'] ?? '', ...sparkEnv(home ?? '') };
      const { stdout } = await promisify(execFile)(program, args, { env, cwd: dir, maxBuffer: 2 ** 30 });
      const lines = stdout.split('\n');
      for (const [index, { name, text, values }] of asked.entries()) {
        const mark = `answer-${index} `;
        const rows = lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
        expect(rows.pop(), name).toBe('end');
        const path = join(folder, `${index}.json`);
        await writeFile(path, rows.map((row) => `${row}\n`).join(''));
        const parameters: SqlParameters = sqlParameters(values);
        await readClusterAnswer(connection, path, { sql: text, parameters });
        await connection.run(`create or replace temp table ours as from (\n${text}\n) as a`, parameters);
        const only = await connection.rows(
          `select 'cluster' as side, * from (from ours limit 0) union all
              select 'cluster', * from (${clusterAnswerQuery} except all from ours)
              union all select 'duckdb', * from (from ours except all ${clusterAnswerQuery})`,
        );
        expect(only.slice(0, 4), name).toEqual([]);
      }
    } finally {
      books.close();
    }
  });

  test('writes the same files as DuckDB, which verify against the books', { timeout: 600_000 }, async () => {
    const asked = ['report', 'cost_by_workspace', '--dir', dir, '--month', '2026-10', '--format', 'csv', ...now];
    const [ours, theirs] = [await newProject(), await newProject()];
    expect((await runCli([...asked, '--out', ours])).exitCode).toBe(0);
    const ended = await runCli([...asked, '--out', theirs, '--engine', 'spark'], sparkEnv(home ?? ''));
    expect(ended.exitCode, ended.stderr).toBe(0);
    const path = join('cost_by_workspace', 'BILLING_PERIOD=2026-10');
    const manifest = JSON.parse(await readFile(join(theirs, path, '_manifest'), 'utf8'));
    expect(manifest.engine).toBe('spark');
    const [name] = manifest.files.map((file: { name: string }) => file.name);
    expect(await readFile(join(theirs, path, name), 'utf8')).toBe(await readFile(join(ours, path, name), 'utf8'));
    const verified = await runCli(['verify', theirs, '--dir', dir, ...now]);
    expect(verified.exitCode, verified.stdout + verified.stderr).toBe(0);
  });

  test('answers a query in its order', { timeout: 600_000 }, async () => {
    const sql =
      'select workspace, sum(cost) as cost, count(*) as hours from costs group by workspace order by cost desc';
    const ours = await runCli(['sql', '--dir', dir, '--json', sql, ...now]);
    const theirs = await runCli(
      ['sql', '--dir', dir, '--json', '--timeout', '5m', '--engine', 'spark', sql, ...now],
      sparkEnv(home ?? ''),
    );
    expect(theirs.exitCode, theirs.stderr).toBe(0);
    expect(theirs.stdout).toBe(ours.stdout);
  });
});
