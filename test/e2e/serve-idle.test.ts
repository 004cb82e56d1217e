import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decimalOfWhole, wholeOfDecimal } from '../../src/money/money.ts';
import { resourceAddress } from '../../src/text/dashboard-address.ts';
import { dashboardProject, serve } from '../support/dashboard.ts';
import { runCli } from '../support/project.ts';

const hour = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

const tokens = {
  ALL: 'b6f1c0e2a94d7583all-0001',
  NORTH: 'b6f1c0e2a94d7583north-02',
  REDS: 'b6f1c0e2a94d7583reds-003',
  GREENS: 'b6f1c0e2a94d7583greens-4',
};

test('the pages of resources and the page of savings say idle of what the report idle lists, and of nothing else', async () => {
  const through = Date.parse('2026-10-04T12:00:00Z');
  const window = { window_start: '2026-09-01', window_end: '2026-10-04 12:00:00' };
  const ofHours = (row: object, from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({
      ...{ workspace: 'north', cost: '0.5', usage: '10', ...row },
      bucket_start: hour(through - (to - index) * 3_600_000),
    }));
  const storage = { billing_dimension: 'sandbox_storage_gbs', usage: '1' };
  const named = (name: string) => ({ resource_name: name, resource_uuid: `id-${name}` });
  const dir = await dashboardProject({
    accounts: [{}],
    loads: [{ ...window, platform_at: '2026-10-04 14:00:00' }],
    covered: [{ ...window, claimed_end: '2026-10-04 12:00:00' }],
    costs: [
      ...ofHours(named('used'), 0, 48),
      ...ofHours({ ...named('used'), ...storage }, 0, 700),
      // It is billed in every hour, and has been off for weeks.
      ...ofHours(named('off'), 0, 48),
      ...ofHours({ ...named('stored'), ...storage }, 0, 700),
      ...ofHours({ ...named('stored'), usage: '3' }, 600, 640),
      ...ofHours({ ...named('fresh'), ...storage }, 0, 100),
      ...ofHours({ ...named('stored-too'), ...storage, workspace: 'south', cost: '0.1' }, 0, 700),
    ],
    listings: ['agent', 'job', 'mcp_server', 'sandbox'].map((resource_type) => ({
      ...{ resource_type, token_workspace: 'south', outcome: 'read' },
    })),
    resources: [
      { ...named('used'), status: 'DEPLOYED', created_at: '2026-09-01 00:00:00' },
      { ...named('off'), status: 'TERMINATED', created_at: '2026-09-01 00:00:00' },
      { resource_type: 'image', resource_name: 'sandbox/gone', size_bytes: 5, workspace: 'south' },
    ],
    resource_use: [
      { resource_type: 'image', resource_name: 'sandbox/gone', last_used_at: '2026-09-02', workspace: 'south' },
    ],
    anomalies: [
      anomaly('used', '2026-10-02'),
      anomaly('stored', '2026-10-01'),
      anomaly('fresh', '2026-10-01', { excluded: { reason: 'a migration' } }),
    ],
    anomaly_evaluations: [{ evaluated_through: '2026-10-04' }],
    allocation: `dimensions: [team]
rules:
  - { name: storage, when: { resource_name: used, billing_dimension: sandbox_storage_gbs }, owner: { team: Greens } }
  - { name: stored, when: { resource_name: stored }, owner: { team: Reds } }
  - { name: rest, when: { workspace: "*" }, owner: { team: Blues } }
`,
  });
  const serving = Object.keys(tokens).map((name) => `    ${name}: { token: "\${${name}}"${scopes[name] ?? ''} }\n`);
  await writeFile(join(dir, 'costbook.yaml'), `serve:\n  tokens:\n${serving.join('')}`);
  const served = await serve(dir, [], tokens);
  const get = async (path: string, token = tokens.ALL) =>
    (await served.get(path, { authorization: `Bearer ${token}` })).text;
  const { stdout } = await runCli(['report', 'idle', '--json', '--dir', dir, '--now', '2026-10-04T14:00:00Z']);
  const rows = (JSON.parse(stdout) as { rows: Row[] }).rows;
  expect(rows.map(({ resource_name: name }) => name).toSorted()).toEqual([
    ...['off', 'sandbox/gone', 'stored', 'stored-too'],
  ]);
  const used = resourceAddress('sandbox', 'north', 'used');
  for (const name of ['used', 'off', 'stored', 'fresh']) {
    const text = await get(resourceAddress('sandbox', 'north', name));
    const [, use = ''] = /<dt>Use<\/dt><dd>([\s\S]*?)<\/dd>/.exec(text) ?? [];
    const row = rows.find(({ resource_name: each }) => each === name);
    expect([name, use.includes('>idle')]).toEqual([name, row !== undefined]);
    if (row !== undefined) {
      expect(use).toContain(row.reason);
      expect(use).toContain(`idle for ${row.unused_days} days`);
    }
  }
  // A resource that is idle and unusual counts once: 36 USD a day are 1,095 a month of one that is only unusual.
  const costs = new Map(rows.map(({ resource_name: name, cost_per_month: cost }) => [name, cost]));
  const [off = '', stored = '', south = ''] = ['off', 'stored', 'stored-too'].map((name) => costs.get(name));
  const month = '1095.000000000000';
  const savings = await get('/savings');
  expect(amountsOf(savings)).toEqual([month, off, stored, south, sumOf(month, off, stored, south)]);
  expect(savings).toContain('above its usual cost since 2026-10-02');
  expect(savings).toContain('sandbox/gone');
  expect(savings).toContain('team Reds');
  const total = (text: string) => /<data value="([^"]*)"[^>]*data-figure="savings"/.exec(text)?.[1];
  expect(total(await get('/'))).toBe(sumOf(month, off, stored, south));
  const file = await get('/savings.csv');
  expect(file.match(/,(\d+\.\d{12}),/g)).toEqual([month, off, stored, south].map((cost) => `,${cost},`));
  // Who sees one workspace or one owner is told nothing of others.
  const north = await get('/savings', tokens.NORTH);
  expect(amountsOf(north)).toEqual([month, off, stored, sumOf(month, off, stored)]);
  expect(north).not.toMatch(/stored-too|sandbox\/gone|\/anomalies\//);
  const reds = await get('/savings', tokens.REDS);
  expect([amountsOf(reds), total(await get('/', tokens.REDS))]).toEqual([[stored, stored], stored]);
  expect(await get('/savings.csv', tokens.REDS)).not.toMatch(/north,sandbox,(off|used)|south/);
  // Greens own the storage of a resource that others use.
  const greens = await get('/savings', tokens.GREENS);
  expect([amountsOf(greens), total(await get('/', tokens.GREENS))]).toEqual([[], '0.000000000000']);
  const [, use] = /<dt>Use<\/dt><dd>([\s\S]*?)<\/dd>/.exec(await get(used, tokens.GREENS)) ?? [];
  expect(use).toContain('in use');
  await served.stop();
});

interface Row {
  readonly resource_name: string;
  readonly reason: string;
  readonly unused_days: number;
  readonly cost_per_month: string;
}

const scopes: Readonly<Record<string, string>> = {
  NORTH: ', workspaces: [north]',
  REDS: ', owner: Reds',
  GREENS: ', owner: Greens',
};

/** A resource that costs 36 USD a day more than usual, and still does. */
function anomaly(driver: string, day: string, more = {}) {
  const impacts = Array.from({ length: 3 }, () => 36);
  return {
    ...{ anomaly_key: `anomaly/acc_one/north/sandbox/${driver}/${day}`, billing_dimension: driver, kind: 'step' },
    ...{ first_day: day, seen_day: day, last_day: '2026-10-03', notified_day: day },
    detail: JSON.stringify({ impacts, drivers: [{ resourceName: driver, part: 90 }], ...more }),
  };
}

/** The amounts of the table of savings, with its total. */
function amountsOf(text: string): string[] {
  const [, table = ''] = /<caption>What could be stopped<\/caption>([\s\S]*?)<\/table>/.exec(text) ?? [];
  return [...table.matchAll(/<data value="([^"]*)"/g)].map(([, value = '']) => value);
}

function sumOf(...amounts: string[]): string {
  return decimalOfWhole(
    amounts.reduce((sum, each) => sum + wholeOfDecimal(each, 12), 0n),
    12,
  );
}
