// Second tier: Starts programs in terminals of several widths.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { beforeAll, describe, expect, test } from 'vitest';
import { givenBooks } from '../support/given-books.ts';
import { newProject, runCli } from '../support/project.ts';
import { hasTerminals, lookOnTerminal } from '../support/terminal.ts';

const now = '2026-10-03T03:00:00Z';
const names = [
  'checkout-assistant',
  '夜间向量-embeddings',
  'a-name-that-takes-the-whole-line-and-more-of-it-than-there-is',
];
let dir = '';

beforeAll(async () => {
  dir = await newProject();
  await mkdir(join(dir, 'data'));
  await mkdir(join(dir, 'jobs'));
  await writeFile(
    join(dir, 'jobs', 'budgets.yaml'),
    'budgets:\n  - { name: everything-that-the-company-pays, period: monthly, amount: 5000 USD }\n',
  );
  const costs = names.flatMap((name, resource) =>
    Array.from({ length: 30 }, (_, day) => ({
      ...{
        workspace: `workspace-${resource}`,
        resource_name: name,
        resource_uuid: `6944a6c8-479e-429e-ab63-00000000000${resource}`,
      },
      ...{ bucket_start: `2026-09-${String(day + 1).padStart(2, '0')} 05:00:00`, cost: `${resource + 1}.123456789` },
    })),
  );
  const covered = [{ window_start: '2026-09-01', window_end: '2026-10-03', claimed_end: '2026-10-03' }];
  (await givenBooks({ accounts: [{}], costs, covered, loads: [{}] }, join(dir, 'data', 'costbook.duckdb'))).close();
});

function look(args: readonly string[], columns: number, env: Readonly<Record<string, string>> = {}) {
  return lookOnTerminal([...args, '--dir', dir, '--now', now], { columns, env });
}

/** Lines of tables: all but those of words, files and warnings, which a terminal breaks itself. */
function widest(screen: string): number {
  return Math.max(
    ...screen
      .split('\n')
      .filter((line) => !/^(warning|\/|exports)/.test(line))
      .map((line) => stringWidth(line)),
  );
}

describe.skipIf(!hasTerminals())('on a terminal', () => {
  test.each([80, 120])('tables fit %d columns', async (columns) => {
    for (const args of [
      ['report', 'cost_by_resource', '--month', '2026-09'],
      ['report', 'daily_trend', '--from', '2026-09-01'],
      ['report', 'monthly_by_workspace'],
      ['report', '--list'],
      ['budgets'],
      ['sql', 'select * from costs limit 3'],
      ['schedule', '--list'],
    ]) {
      const { exitCode, screen } = await look(args, columns);
      expect(exitCode, screen).toBe(0);
      expect(widest(screen), screen).toBeLessThanOrEqual(columns);
    }
  });

  test('the largest cost comes first, with two decimals, and --exact shows every decimal and column', async () => {
    const args = ['report', 'cost_by_resource', '--month', '2026-09'];
    const { screen } = await look(args, 120);
    expect(screen).toMatch(/93\.70 .*\n.*63\.70 .*\n.*33\.70 /);
    const { screen: exact } = await look([...args, '--exact'], 120);
    for (const cell of ['93.703703670000', '6944a6c8-479e-429e-ab63-000000000002', names[2]]) {
      expect(exact.replace(/\n */g, '')).toContain(cell);
    }
  });

  test('days are shown as small bars, and the newest day comes first in the table', async () => {
    const { screen } = await look(['report', 'daily_trend', '--from', '2026-09-01'], 80);
    expect(screen).toMatch(/^2026-09-01 [▁▂▃▄▅▆▇█ ]+ 2026-10-02$/m);
    expect(screen.indexOf('2026-10-02  ')).toBeLessThan(screen.indexOf('2026-09-30  '));
    expect((await look(['budgets'], 120)).screen).toMatch(/[▁▂▃▄▅▆▇█]{14}/);
  });

  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['TERM=dumb', { TERM: 'dumb' }],
  ])('%s gets no escape sequences', async (_, env) => {
    for (const args of [['status'], ['budgets'], ['report', 'daily_trend', '--from', '2026-09-01']]) {
      const { bytes } = await look(args, 80, env);
      expect(bytes.replaceAll('\r\x1b[2K', _ === 'NO_COLOR' ? '' : '\r\x1b[2K')).not.toContain('\x1b');
    }
  });

  test('the emulator prints how to use it', async () => {
    const { exitCode, screen } = await lookOnTerminal(['emulator'], {
      seen: (bytes, pid) => {
        if (bytes.includes('costbook ingest')) process.kill(pid, 'SIGTERM');
      },
    });
    expect(exitCode, screen).toBe(0);
    expect(screen).toMatch(/An invented platform is running at http:\/\/127\.0\.0\.1:\d+/);
    expect(screen).toContain('export COSTBOOK_TOKEN=');
  });
});

test('a pipe gets every decimal, column and character, with any terminal in the environment', async () => {
  const args = ['report', 'cost_by_resource', '--month', '2026-09', '--dir', dir, '--now', now];
  const { stdout } = await runCli(args, { COLUMNS: '40', TERM: 'xterm' });
  expect(stdout).toContain('93.703703670000');
  expect(stdout).toContain('6944a6c8-479e-429e-ab63-000000000002');
  expect(stdout).toContain(names[2]);
  const sql = await runCli(['sql', '--dir', dir, `select repeat('x', 300) as long, 1.123456789 as n`]);
  expect(sql.stdout).toContain('x'.repeat(300));
  expect(sql.stdout).toContain('1.123456789');
});
