import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newProject, runCli } from '../support/project.ts';

describe.concurrent('exit 2', () => {
  test('lists each mistake of a configuration on its own line, readable alone', async () => {
    const dir = await newProject();
    await writeFile(join(dir, 'costbook.yaml'), 'urll: x\nsettleDay: 1\naccount: ..\nlanding: { keeps: all }\n');
    const { stderr } = await runCli(['ingest', '--dir', dir], { COSTBOOK_TOKNE: 'x', COSTBOOK_LAG_HOURS: 'x' });
    const lines = stderr.trimEnd().split('\n');
    // A misspelt key is not missing, too.
    expect(lines).toHaveLength(7);
    for (const line of lines) expect(line).toMatch(/^(costbook: )?(\/.*costbook\.yaml(:\d+:\d+)?|COSTBOOK_\w+): \w/);
    expect(stderr).not.toMatch(/\?[;,.]/);
  });
});

test.each([
  ['close', '2026-09', '--invoice', 'acc_a=1', '--invoice', 'acc_b=2'],
  ['status', '--now', '2026-09-01', '--now', '2026-09-02'],
  ['report', 'summary', '--format', 'csv', '--format', 'parquet'],
])('an option of %s that is given twice with two values is refused, and none of them is taken', async (...args) => {
  const dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  const { exitCode, stderr } = await runCli([...args, '--dir', dir]);
  const [option, , , second] = args.slice(-4);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: `costbook: ${option}: found "${args.at(-3)}" and "${second}", expected one value: give the option once\n`,
  });
});

describe.concurrent('the project folder', () => {
  test.each(['status', 'restatements', 'plan', 'report', 'sql'])(
    'that does not exist is reported by %s',
    async (command) => {
      const dir = join(await newProject(), 'nosuch');
      const query = command === 'sql' ? ['select 1'] : [];
      const { exitCode, stderr } = await runCli([command, ...query, '--dir', dir]);
      expect(exitCode).toBe(2);
      expect(stderr).toBe(
        `costbook: the project folder ${dir} does not exist: check --dir (COSTBOOK_DIR); "costbook init" creates a new one\n`,
      );
    },
  );

  test('that has a costbook.yaml that cannot be opened is a failure of the machine, not a crash', async () => {
    const dir = await newProject();
    await symlink('costbook.yaml', join(dir, 'costbook.yaml'));
    const { exitCode, stderr } = await runCli(['status', '--dir', dir]);
    expect(exitCode, stderr).not.toBe(1);
    expect(stderr).toContain('costbook.yaml');
    expect(stderr).not.toContain('    at ');
  });

  test('that is a file is reported by every command', async () => {
    const dir = join(await newProject(), 'file');
    await writeFile(dir, '');
    for (const args of [['sql', 'select 1'], ['report', '--list'], ['ingest'], ['demo']]) {
      const { exitCode, stderr } = await runCli([...args, '--dir', dir]);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: `costbook: ${dir} is a file: --dir (COSTBOOK_DIR) must name the project folder\n`,
      });
    }
  });
});

test('every line of a list of problems can be read alone', async () => {
  const dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  const { exitCode, stderr } = await runCli(['ingest', '--dir', dir, '--from', 'yesterday', '--to', '2026-13']);
  expect(exitCode).toBe(2);
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^costbook: --from: "yesterday"/),
    expect.stringMatching(/^costbook: --to: "2026-13"/),
  ]);
});

test.each([
  [['plan']],
  [['summarize']],
  [['allocation', 'test']],
  [['rebuild']],
  [['budgets', 'backtest', 'everything']],
  [['reopen', 'nonsense']],
  [['ingest', '--from', 'yesterday']],
])('%j in a folder that is no project reports only that, and where it looked', async (args) => {
  const dir = await newProject();
  const { exitCode, stderr } = await runCli([...args, '--dir', dir]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^costbook: .* is not a Costbook project: .*\n$/);
  expect(stderr).toContain(dir);
});

test('help lists every command with its arguments, itself too, and says where to start', async () => {
  const { exitCode, stdout } = await runCli(['--help']);
  expect(exitCode).toBe(0);
  for (const term of ['init [dir]', 'budgets [action] [name]', 'close <month>', 'status', 'help [command]'])
    expect(stdout).toContain(`\n  ${term} `);
  expect(stdout).not.toContain('display help');
  expect(stdout).toMatch(/costbook demo\n.*costbook init/);
});

test('help shows the options of a command before the common options', async () => {
  for (const command of ['sql', 'status', 'ingest', 'report']) {
    const { stdout } = await runCli(['help', command]);
    const common = stdout.indexOf('\nCommon options:\n');
    expect(common).toBeGreaterThan(0);
    expect(stdout.indexOf('\nOptions:\n')).toBeLessThan(common);
    expect(stdout.indexOf('  -h, --help')).toBeGreaterThan(common);
  }
});

/** Command lines that are refused, in a folder with or without jobs/, and words of the refusal. */
const refused: readonly {
  readonly what: string;
  readonly line: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly words?: string;
  readonly isProject?: true;
}[] = [
  { what: 'a window that ends before it starts', line: ['ingest', '--from', '2026-09-02', '--to', '2026-09-01'] },
  { what: 'a command that does not exist', line: ['ingset'] },
  { what: 'an option that does not exist', line: ['ingest', '--since', '2026-09'] },
  { what: 'an invalid instant', line: ['ingest', '--now', 'noon'] },
  { what: 'an unknown format', line: ['sql', 'select 1', '--format', 'xml'] },
  { what: 'books that do not exist yet', line: ['sql', 'select 1'] },
  { what: 'a report that does not exist', line: ['report', 'cost_by_wrokspace'] },
  {
    what: 'an ingest from the future',
    line: ['ingest', '--from', '2099-01-01'],
    words: '--from: 2099-01-01T00:00:00Z is in the future',
    isProject: true,
  },
  {
    what: 'restatements since the future',
    line: ['restatements', '--since', '2099-01-01'],
    words: '--since: 2099-01-01T00:00:00Z is in',
    isProject: true,
  },
  {
    what: 'COSTBOOK_JSON=yes',
    line: ['status'],
    env: { COSTBOOK_JSON: 'yes' },
    words: 'COSTBOOK_JSON: found "yes", expected true or false',
    isProject: true,
  },
  {
    what: 'help for a command that does not exist',
    line: ['help', 'ingset'],
    words: 'no command "ingset" (did you mean "ingest"?)',
    isProject: true,
  },
];

test.each(refused)('exit 2 is for $what', async ({ line, env, words = 'costbook: ', isProject }) => {
  const dir = await newProject();
  if (isProject) await mkdir(join(dir, 'jobs'));
  const { exitCode, stdout, stderr } = await runCli(line[0] === 'help' ? line : [...line, '--dir', dir], env);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/^costbook: /);
  expect(stderr).not.toContain('    at ');
  expect(stderr).toContain(words);
});

describe('a folder that is no project', () => {
  test.each([
    ...[
      'status',
      'budgets',
      'budgets backtest',
      'alerts',
      'alerts test',
      'alert',
      'summarize',
      'check',
      'sql select',
      'forecast',
    ],
    ...[
      'restatements',
      'verify',
      'plan',
      'run nightly',
      'run nightly --dry-run',
      'schedule',
      'schedule --list',
      'repair',
    ],
    ...['rebuild', 'rebuild --into rebuilt.duckdb', 'close 2026-09', 'reopen 2026-09 --reason late', 'allocation test'],
    ...['allocation apply', 'report chargeback', 'ingest', 'doctor'],
  ])('is refused by %s, which does not change it and explains how to start', async (command) => {
    const dir = await newProject();
    await mkdir(join(dir, 'books'));
    await writeFile(join(dir, 'books', 'costbook.yaml'), '');
    const { exitCode, stdout, stderr } = await runCli([...command.split(' '), '--dir', dir]);
    expect(exitCode).toBe(2);
    const words = command === 'doctor' ? stdout : stderr;
    expect(words).toContain(dir);
    expect(words).toContain('"costbook init"');
    expect(words).toContain('--dir');
    expect(await readdir(dir)).toEqual(['books']);
    if (['ingest', 'doctor'].includes(command)) return; // the configuration can come from the environment
    expect(stdout).toBe('');
    expect(words).toContain(`there is one in ${join(dir, 'books')}`);
  });
});
