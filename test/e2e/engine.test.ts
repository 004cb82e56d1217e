import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { toSpark } from '../../src/engine/index.ts';
import { openBooks } from '../../src/warehouse/integrity/index.ts';
import { ingest, newProject, runCli, startMain } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const now = ['--now', '2026-10-10T12:30:00Z'];

let dir = '';
beforeAll(async () => {
  dir = await newProject();
  const platform = await startScriptedPlatform([...series(box, '2026-09-03T05', [1.5, 0.25])]);
  const first = await ingest(dir, platform, { now: '2026-10-10T12:30:00Z' });
  expect(first.exitCode, first.stderr).toBe(0);
  await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
});

function report(...args: string[]) {
  return runCli(['report', ...args, '--dir', dir, ...now]);
}

const header = '--! about: What?\n--! grain: account\n';

/** Makes a report of the project, below a header. */
async function ownReport(name: string, sql: string): Promise<void> {
  await writeFile(join(dir, 'sql', 'reports', `${name}.sql`), `${header}${sql}\n`);
}

/** Names a program as the cluster: it is started with the file of statements. */
async function configure(lines: readonly string[]): Promise<void> {
  const program = join(dir, 'cluster.mjs');
  await writeFile(program, lines.join('\n'));
  const command = JSON.stringify([process.execPath, program, '{file}']);
  await writeFile(join(dir, 'costbook.yaml'), `engine:\n  command: ${command}\n`);
}

describe('report --print-sql', () => {
  test('prints the SQL of the file with what it includes, and nothing else', async () => {
    const { exitCode, stdout, stderr } = await report('top_movers', '--print-sql', '--dialect', 'duckdb');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('-- An unfinished month is compared');
    expect(stdout).toContain('compared as (');
    expect(stdout).not.toMatch(/--!|;\s*$/);
    expect(stdout).toContain('$month');
  });

  test('prints one statement of Spark SQL over the lake, with the values of the parameters', async () => {
    const args = ['--month', '2026-09', '--param', "workspace=o'hare\\", '--allow-empty', '--print-sql'];
    const { exitCode, stdout, stderr } = await report('cost_by_workspace', ...args, '--dialect', 'spark');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot('../golden/cost_by_workspace.spark.sql');
  });

  test('names no variable that Spark would replace, in literals, parameters and files', async () => {
    await writeFile(join(dir, 'rates.csv'), 'date,value\n2026-09-01,"$' + '{env:HOME}"\n');
    const hostile =
      "select account, '$' || '{env:HOME}' as a, '$' '{env:HOME}' as b, '$" + "{env:HOME}' as c, $given as d";
    await writeFile(
      join(dir, 'sql', 'reports', 'own.sql'),
      `--! about: What?\n--! grain: account\n--! params: given text\n${hostile.replace(", '$' '{env:HOME}' as b", '')} from costs\n`,
    );
    const given = ['--param', 'given=$' + '{system:user.name}', '--print-sql', '--dialect', 'spark'];
    const printed = await report('own', ...given);
    expect([printed.exitCode, printed.stderr]).toEqual([0, '']);
    expect(printed.stdout).toContain("'\\u0024{env:HOME}'");
    expect(printed.stdout).toContain("'\\u0024{system:user.name}'");
    const metric = [
      'unit_economics',
      '--month',
      '2026-09',
      '--param',
      'metric=rates.csv',
      '--print-sql',
      '--dialect',
      'spark',
    ];
    const all = `${printed.stdout}${(await report(...metric)).stdout}`;
    // The one by which the statement sees whether Spark replaces variables.
    expect(all.replaceAll('$' + '{spark.sql.variable.substitute}', '')).not.toMatch(/\$\{/);
  });

  test.each(['a;!touch x;b', "it's", 'a"b', 'a$' + '{env:HOME}', 'a--b', 'a/*b', 'a\\b'])(
    'refuses the name %s, which Spark would not read as a name',
    async (name) => {
      await ownReport('own', `select account, 1 as "${name.replaceAll('"', '""')}" from costs`);
      const { exitCode, stderr } = await report('own', '--print-sql', '--dialect', 'spark');
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('has signs that Spark reads otherwise')]);
    },
  );

  test('writes no file', async () => {
    await report('cost_by_workspace', '--month', '2026-09', '--print-sql', '--dialect', 'spark');
    expect(await readdir(join(dir)).then((names) => names.includes('exports'))).toBe(false);
  });

  test.each([
    [
      'function',
      'select account,\n  regexp_extract(workspace, $$(a)$$) as x from costs',
      /own\.sql:4:3: Spark cannot run the function regexp_extract$/m,
    ],
    [
      'table',
      'select kind as account\nfrom ledger.outbox',
      /own\.sql:4:6: Spark cannot run a query of ledger\.outbox, which the lake does not have$/m,
    ],
    [
      'list without order',
      'select account, list(workspace) as w from costs group by all',
      /own\.sql:3:17: Spark cannot run the function list with these arguments$/m,
    ],
    [
      'grouping sets',
      'select account, sum(cost) as cost from costs group by rollup (account)',
      /own\.sql:3:\d+: Spark cannot run several grouping sets$/m,
    ],
    [
      'distinct on',
      'select distinct on (account) account, workspace from costs',
      /own\.sql:3:\d+: Spark cannot run DISTINCT ON$/m,
    ],
    [
      'double as text',
      'select account, cast(cast(cost as double) as varchar) as t from costs',
      /own\.sql:3:17: Spark cannot run a DOUBLE as text$/m,
    ],
    [
      'file',
      "select account, content from costs cross join read_text('/etc/hosts')",
      /own\.sql:3:\d+: Spark cannot run read_text of a file that is no parameter$/m,
    ],
  ])('refuses a %s of a project that Spark would not have or would read otherwise', async (_, sql, words) => {
    const books = await openBooks(dir, { lockedDown: true });
    try {
      const written = toSpark(books.connection, { path: 'own.sql', text: `${header}${sql}` }, {});
      await expect(written).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(words) });
    } finally {
      books.close();
    }
  });

  test('prints nothing of a report that Spark would not have', async () => {
    await ownReport('own', 'select kind as account\nfrom ledger.outbox');
    const { exitCode, stdout, stderr } = await report('own', '--print-sql', '--dialect', 'spark');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/own\.sql:4:6: Spark cannot run a query of ledger\.outbox, which the lake does not have$/m);
  });

  test('refuses options that do not belong to it', async () => {
    const { exitCode, stderr } = await report('cost_by_workspace', '--dialect', 'spark', '--engine', 'hadoop');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--dialect applies only to --print-sql');
    expect(stderr).toContain('hadoop');
  });
});

describe('--engine spark', () => {
  const asked = ['cost_by_workspace', '--month', '2026-09', '--engine', 'spark'];

  test('says what to configure', async () => {
    await writeFile(join(dir, 'costbook.yaml'), '');
    const { exitCode, stderr } = await report(...asked);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--engine spark: costbook.yaml has no "engine"');
  });

  test('wants a lake, and one of the same state as the books', async () => {
    await configure([]);
    const without = await report(...asked);
    expect(without.exitCode).toBe(2);
    expect(without.stderr).toContain('has no lake: write it with "costbook report lake"');
    expect((await report('lake')).exitCode).toBe(0);
    const manifest = join(dir, 'exports', 'lake', '_manifest');
    const text = await readFile(manifest, 'utf8');
    await writeFile(manifest, text.replace(/"asOf": "[^"]*"/, '"asOf": "2026-10-01T00:00:00Z"'));
    const stale = await report(...asked);
    expect(stale.exitCode).toBe(4);
    expect(stale.stderr).toContain('the lake is of 2026-10-01T00:00:00Z and the books are of ');
    await writeFile(manifest, text);
  });

  test('gives the failure of the cluster in its own words, with the exit code of the like failure of DuckDB', async () => {
    await configure([
      'console.error(`26/11/23 WARN x\\n[PATH_NOT_FOUND] Path does not exist: file:/lake/costs.\\n\\tat org.apache.X.y(Z.scala:1)`);',
      'process.exit(1);',
    ]);
    const refused = await report(...asked);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(
      'the cluster refuses the report cost_by_workspace: [PATH_NOT_FOUND] Path does not exist: file:/lake/costs.',
    );
    expect(refused.stderr).not.toContain('scala');
    await configure(['console.error("Caused by: java.lang.OutOfMemoryError: Java heap space"); process.exit(1);']);
    const failed = await report(...asked);
    expect(failed.exitCode).toBe(7);
    expect(failed.stderr).toContain(
      'the cluster could not run the report cost_by_workspace (exit code 1): Java heap space',
    );
    await configure(['console.log("done");']);
    const short = await report(...asked);
    expect(short.exitCode).toBe(7);
    expect(short.stderr).toContain('(it ended without its answer): done');
    await writeFile(join(dir, 'costbook.yaml'), 'engine:\n  command: [no-such-program, "{file}"]\n');
    const missing = await report(...asked);
    expect(missing.exitCode).toBe(7);
    expect(missing.stderr).toContain('engine.command: could not start no-such-program: there is no such program');
  });

  test('hides what engine.env gives to the command, and secrets of Spark, in the failure of the cluster', async () => {
    await configure([
      'const { LAKE_PASS, SPARK_AUTH_SECRET, SPARK_HOME } = process.env;',
      'console.error("AccessDeniedException:", LAKE_PASS, "or", SPARK_AUTH_SECRET, "is wrong in", SPARK_HOME);',
      'process.exit(1);',
    ]);
    await appendFile(join(dir, 'costbook.yaml'), '  env: [LAKE_PASS]\n');
    const env = { LAKE_PASS: 'wJalrXUtnFEMI/K7MDENG', SPARK_AUTH_SECRET: 'of-the-cluster', SPARK_HOME: '/opt/spark' };
    const { exitCode, stderr } = await runCli(['report', ...asked, '--dir', dir, ...now], env);
    expect(exitCode).toBe(7);
    expect(stderr).toContain('AccessDeniedException: *** or *** is wrong in /opt/spark');
  });

  test('gives the command only the variables that it needs, and the statement only by a file of this user', async () => {
    const seen = join(dir, 'seen.json');
    await configure([
      "import { statSync, writeFileSync } from 'node:fs';",
      'const [file] = process.argv.slice(2);',
      `writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ file, mode: statSync(file).mode & 0o777, argv: process.argv.length, names: Object.keys(process.env) }));`,
      'process.exit(1);',
    ]);
    const secrets = {
      SLACK_WEBHOOK_URL: 'https://hooks.example/SECRETPATH',
      DASHBOARD_TOKEN: 'x',
      AWS_SECRET_ACCESS_KEY: 'y',
    };
    const wanted = {
      AWS_PROFILE: 'finance',
      SPARK_HOME: '/opt/spark',
      JAVA_HOME: '/opt/java',
      HADOOP_CONF_DIR: '/etc',
      LANG: 'C.UTF-8',
    };
    const env = { COSTBOOK_TOKEN: 'not-for-the-cluster-1', ...secrets, ...wanted };
    await appendFile(join(dir, 'costbook.yaml'), '  env: [AWS_PROFILE]\n');
    await runCli(['report', ...asked, '--dir', dir, ...now], env);
    const found = JSON.parse(await readFile(seen, 'utf8')) as {
      file: string;
      mode: number;
      argv: number;
      names: string[];
    };
    expect(found).toMatchObject({ mode: 0o600, argv: 3 });
    expect(found.names).toEqual(expect.arrayContaining(Object.keys(wanted)));
    const others = found.names.filter(
      (name) => !/^(PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|AWS_PROFILE|(JAVA|SPARK|HADOOP)_\w+)$/.test(name),
    );
    expect(others).toEqual([]);
    await expect(readFile(found.file)).rejects.toThrow('ENOENT');
  });

  test('ends the command and all that it started, at the time limit and when interrupted', async () => {
    const child = join(dir, 'child.txt');
    await configure([
      "import { spawn } from 'node:child_process';",
      "import { writeFileSync } from 'node:fs';",
      "process.on('SIGTERM', () => undefined);",
      "const child = spawn('sleep', ['600']);",
      `writeFileSync(${JSON.stringify(child)}, String(child.pid));`,
      'setInterval(() => undefined, 1000);',
    ]);
    const late = await report(...asked, '--timeout', '6s');
    expect(late.exitCode).toBe(7);
    expect(late.stderr).toContain('the report cost_by_workspace took longer than 6 s on the cluster and was stopped');
    const pid = Number(await readFile(child, 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await rm(child);
    const started = startMain(['report', ...asked, '--dir', dir, ...now]);
    await expect.poll(() => readFile(child, 'utf8').catch(() => ''), { timeout: 30_000 }).not.toBe('');
    started.signal('SIGINT');
    const ended = await started.ended;
    expect(ended.exitCode).toBe(130);
    const second = Number(await readFile(child, 'utf8'));
    expect(() => process.kill(second, 0)).toThrow('ESRCH');
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('costbook-engine-'))).toEqual([]);
  });

  test('refuses what the lake does not have: a range of months, another instant', async () => {
    const range = await report('cost_by_workspace', '--month', '2026-08..2026-09', '--engine', 'spark');
    expect(range.exitCode).toBe(2);
    expect(range.stderr).toContain('expected one month with --engine');
    const past = await report(...asked, '--as-of', '2026-10-09');
    expect(past.exitCode).toBe(2);
    expect(past.stderr).toContain('the lake has the present books');
    const query = await runCli(['sql', '--engine', 'spark', '--dir', dir, ...now, 'explain select 1']);
    expect(query.exitCode).toBe(2);
    expect(query.stderr).toContain('expected one SELECT');
  });
});
