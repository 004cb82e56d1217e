// Second tier: Strange labels through every command and export.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { askParquet, askSnapshot, type Ingested, ingest, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

/**
 * Labels and names that people really write, from a platform that shares no line with src: they must be in the books as
 * they were written, decide who pays, and reach spreadsheets as text and everything else exactly.
 */

/** A resource that is listed and costs something. */
interface Strange {
  readonly path: 'sandboxes' | 'agents' | 'functions' | 'jobs';
  readonly name: string;
  readonly status?: string;
  readonly displayName?: string;
  readonly keptName?: string;
  /** As the platform reports them. */
  readonly labels: unknown;
  /** As the books must have them; by default the same. */
  readonly kept?: Readonly<Record<string, string>> | null;
}

const longText = 'ünïcödé ☃ '.repeat(1000);
const dottedKey = `a.b"c'd/e~f[0]$.*`;
const manyLines = 'line one\nline "two"\r\n=3';
const family = '👩‍👩‍👧‍👦🤷🏽‍♀️🏴󠁧󠁢󠁳󠁣󠁴󠁿';

const fleet: readonly Strange[] = [
  {
    path: 'sandboxes',
    name: 'formula',
    status: 'TERMINATED',
    displayName: '=HYPERLINK("http://x","y")',
    labels: { team: '=1+1', '@SUM(A1)': '@SUM(A1)', '-2': '-2', '+3': '+3', '\tx': '\tx' },
  },
  { path: 'agents', name: 'at', displayName: '@SUM(A1:A9)', labels: { team: '@SUM(A1:A9)' } },
  { path: 'agents', name: 'minus', displayName: '-2', labels: { team: '-2' } },
  { path: 'agents', name: 'full-width', displayName: '＝1＋1', labels: { team: '＝1＋1' } },
  {
    path: 'agents',
    name: 'lines',
    displayName: 'Zeile 1\r\nZeile "2"; 3,\t4',
    labels: { team: manyLines, [dottedKey]: 'dots. "and" \'quotes\'', empty: '' },
  },
  {
    path: 'functions',
    name: 'scripts',
    displayName: 'データ基盤 — قاعدة — база — עברית',
    labels: {
      team: '平台团队',
      كلمة: 'سلام',
      שם: '\u202Eabc',
      '🙂': family,
      joined: 'e\u0301 \u00e9',
      'mark\uFEFF': '\uFEFFx',
    },
  },
  {
    path: 'jobs',
    name: 'long',
    displayName: `${'長'.repeat(62)}🙂`,
    labels: { team: longText, [longText]: 'long key' },
  },
  {
    path: 'jobs',
    name: 'types',
    labels: JSON.parse(
      `{"team": 42, "flag": true, "half": 0.5, "none": null, "object": {"a": "=1"}, "list": ["x"], "long": 12345678901234567890,
        "cut": "a\\ud800b", "\\udfffkey": "v", "__proto__": "proto", "constructor": "c", "": "of the empty key", "0": "zero",
        "nul": "a\\u0000b", "\\u2028": "\\u2029", "del\\u007f": "\\u001b[31m"}`,
    ),
    // Numbers and booleans become their text; other values are left out; half a character is reported as such.
    kept: {
      ...{ team: '42', flag: 'true', half: '0.5', cut: 'a\ufffdb', '\ufffdkey': 'v', ['__proto__']: 'proto' },
      ...{ constructor: 'c', '': 'of the empty key', '0': 'zero', nul: 'a\u0000b', '\u2028': '\u2029' },
      ...{ 'del\u007f': '\u001b[31m' },
    },
  },
  { path: 'jobs', name: 'nul', labels: { team: 'a\u0000b' } },
  { path: 'jobs', name: 'empty', displayName: '', labels: { team: '' } },
  // A byte order mark is not part of a name.
  { path: 'jobs', name: 'marked', displayName: '\uFEFF=1', keptName: '=1', labels: { team: 'x\uFEFF' } },
  { path: 'jobs', name: 'none', labels: {}, kept: null },
  { path: 'jobs', name: 'null', labels: null, kept: null },
  { path: 'jobs', name: 'list', labels: ['team'], kept: null },
  { path: 'jobs', name: 'text', labels: 'team', kept: null },
];

const typeOf = { sandboxes: 'sandbox', agents: 'agent', functions: 'mcp_server', jobs: 'job' } as const;
/** Two hours of each: its cost is twice its place in the list, so that a sum identifies its parts. */
const facts = fleet.flatMap(({ path, name }, place) => {
  const type = typeOf[path];
  const dimension = path === 'sandboxes' ? 'sandbox_snapshot_storage_gbs' : `${type}_compute_runtime_gbs`;
  return series({ workspace: 'north', type, name, uuid: null, dimension }, '2026-09-02T05', [2 ** place, 2 ** place]);
});

function listed(wanted: string): Readonly<Record<string, unknown>>[] {
  const own = fleet
    .filter(({ path }) => path === wanted)
    .map(({ name, displayName, labels, status = 'DEPLOYED' }) => ({
      metadata: { name, displayName, labels, workspace: 'north', createdAt: '2026-09-01T00:00:00Z' },
      spec: { enabled: true, region: 'eu-1', runtime: { memory: 2048, generation: 'mk3' } },
      status,
      ...(wanted === 'sandboxes' ? {} : { events: [] }),
    }));
  if (wanted !== 'models') return own;
  // What costs nothing is listed too.
  return [{ metadata: { name: 'm', workspace: 'north', labels: { team: '=1' } }, spec: null, status: 'BUILT' }];
}

const keptOf = ({ labels, kept }: Strange) => (kept === undefined ? (labels as Record<string, string>) : kept);

const nameOf = ({ displayName, keptName }: Strange) => keptName ?? (displayName || null);

/** The owners that the rules below make of it. */
function teamOf(resource: Strange): string | null {
  return keptOf(resource)?.['team'] ?? null;
}

const rules = `
aliases:
  team:
    '４２': ['42']
rules:
  - name: dotted key
    when: {label: {${JSON.stringify(dottedKey)}: ${JSON.stringify(`dots. "and" 'quotes'`)}}}
    owner: {team: {label: team}, product: {label: ${JSON.stringify(dottedKey)}}}
  - name: by team
    owner: {team: {label: team}, product: {label: '@SUM(A1)', otherwise: null}, environment: {label: '0', otherwise: null}}
`;

describe.each([
  ['in pages', ['2026-04-16', '2026-04-28']],
  ['at once, as in versions without pages', ['2026-04-16']],
])('strange labels, listed %s', (_, versions) => {
  let platform: ScriptedPlatform;
  let dir: string;
  let night: Ingested;
  beforeAll(async () => {
    platform = await startScriptedPlatform(facts);
    platform.versions = versions;
    platform.pageSize = 3;
    platform.listed = ({ path }) => (path.startsWith('/v0/accounts') ? undefined : listed(path.slice('/v0/'.length)));
    dir = await newProject();
    await mkdir(join(dir, 'jobs'));
    await writeFile(join(dir, 'jobs', 'allocation.yaml'), rules);
    night = await ingest(dir, platform, { now: '2026-10-04T02:00:00Z', env: { COSTBOOK_INVENTORY: 'true' } });
    expect(night.exitCode, night.stderr).toBe(0);
  }, 600_000);

  /** Runs a report and gives its CSV, cell by cell, and its Parquet file's rows. */
  async function reported(
    name: string,
    ...args: string[]
  ): Promise<{ csv: string[][]; rows: Record<string, unknown>[] }> {
    const told = await runCli(['report', name, '--dir', dir, '--now', '2026-10-04T03:00:00Z', '--json', ...args]);
    expect(told.exitCode, told.stderr).toBe(0);
    const { files } = JSON.parse(told.stdout) as { files: { format: string; path: string }[] };
    const pathOf = (format: string) => files.find((file) => file.format === format)?.path ?? '';
    const text = await readFile(pathOf('csv'), 'utf8');
    return {
      csv: parse(text, { relax_quotes: false }) as string[][],
      rows: await askParquet(pathOf('parquet')),
    };
  }

  test('are stored in the books unchanged', async () => {
    const asked = platform.requests.filter(({ path }) => !path.includes('accounts'));
    expect(asked.at(-1)?.version).toBe(versions.at(-1));
    const resources = await askSnapshot(
      dir,
      `select * from resources where resource_type <> 'model' order by resource_name`,
    );
    const byName = fleet.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(resources.map((row) => [row['resource_name'], row['display_name'], parsed(row['labels'])])).toEqual(
      byName.map((resource) => [resource.name, nameOf(resource), keptOf(resource)]),
    );
  });

  test('an invalid label is reported without its value', () => {
    const [told, ...others] = night.stderr.split('\n').filter((line) => line.includes('listing.fields_ignored'));
    expect(others).toEqual([]);
    expect(JSON.parse(told ?? '')).toMatchObject({
      resourceType: 'job',
      fields: 'metadata.labels, metadata.labels.list, metadata.labels.long, metadata.labels.object',
    });
  });

  test('are shown next to each cost, and no cost is lost', async () => {
    const costs = await askSnapshot(
      dir,
      `select resource_name, any_value(labels) as labels, any_value(display_name) as display_name, sum(cost) as cost,
        count(*) as hours, any_value(resource_status) as status
      from costs_with_resources group by resource_name`,
    );
    expect(costs).toHaveLength(fleet.length);
    for (const [place, resource] of fleet.entries()) {
      const row = costs.find((cost) => cost['resource_name'] === resource.name);
      expect(parsed(row?.['labels']), resource.name).toEqual(keptOf(resource));
      expect(row).toMatchObject({
        cost: `${2 * 2 ** place}.000000000000`,
        hours: '2',
        display_name: nameOf(resource),
        status: resource.status ?? 'DEPLOYED',
      });
    }
  });

  test('decide the owner, as text in a spreadsheet and exactly in Parquet', async () => {
    const { csv, rows } = await reported('chargeback');
    const expected = new Map<string | null, number>();
    for (const [place, resource] of fleet.entries()) {
      const team = teamOf(resource) === '42' ? '４２' : teamOf(resource);
      expected.set(team, (expected.get(team) ?? 0) + 2 * 2 ** place);
    }
    const charged = new Map<unknown, number>();
    for (const row of rows) charged.set(row['team'], (charged.get(row['team']) ?? 0) + Number(row['cost']));
    expect(charged).toEqual(expected);
    for (const row of rows) expect(parsed(row['owner'])).toMatchObject({ team: row['team'], product: row['product'] });
    const of = (team: string) => rows.find((row) => row['team'] === team);
    expect(of(manyLines)?.['product']).toBe(`dots. "and" 'quotes'`);
    expect(of('=1+1')?.['product']).toBe('@SUM(A1)');
    expect(of('４２')?.['environment']).toBe('zero');

    const [header = [], ...records] = csv;
    expect(records).toHaveLength(rows.length);
    const texts = ['account', 'owner', 'team', 'product', 'environment', 'billing_dimension', 'unit'];
    const cells = records.map((record) => Object.fromEntries(record.map((cell, index) => [header[index], cell])));
    for (const [index, row] of rows.entries()) {
      for (const name of texts) {
        const cell = cells[index]?.[name] ?? '';
        expect(cell).not.toMatch(/^[=+\-@\t\r\n\0＝＋－＠]/);
        expect(cell.replace(/(?<=^|[;\t\r\n])'(?=[=+\-@\t\r\n\0＝＋－＠])/g, '')).toBe(row[name] ?? '');
      }
      expect(cells[index]?.['cost']).toBe(row['cost']);
    }
    expect(
      cells
        .map((cell) => cell['team'])
        .filter((team) => team?.startsWith("'"))
        .sort(),
    ).toEqual([...["'-2", "'=1+1", "'@SUM(A1:A9)", "'＝1＋1"]]);
  });

  test('have their share of the cost in label_coverage', async () => {
    const { rows } = await reported('label_coverage');
    const labelled = new Map(rows.map((row) => [row['label'], Number(row['labelled_cost'])]));
    const expected = new Map<string, number>();
    for (const [place, resource] of fleet.entries()) {
      for (const [label, value] of Object.entries(keptOf(resource) ?? {})) {
        expected.set(label, (expected.get(label) ?? 0) + (value === '' ? 0 : 2 * 2 ** place));
      }
    }
    expect(labelled).toEqual(expected);
  });

  test('are the tags of FOCUS, and the names are its resource names', async () => {
    const { csv, rows } = await reported('focus');
    expect(rows).toHaveLength(2 * fleet.length);
    const [header = [], ...records] = csv;
    for (const [index, row] of rows.entries()) {
      const resource = fleet.find(({ name }) => name === row['x_ResourceName']);
      expect(parsed(row['Tags']), String(row['x_ResourceName'])).toEqual(resource && keptOf(resource));
      expect(String(row['Tags'])).toMatch(/^\p{ASCII}*$/u);
      expect(row['ResourceName']).toBe((resource && nameOf(resource)) ?? resource?.name);
      expect(row).toMatchObject({ RegionId: 'eu-1', x_MemoryMb: 2048 });
      const cell = (name: string) => records[index]?.[header.indexOf(name)];
      expect(parsed(cell('Tags') || null)).toEqual(resource && keptOf(resource));
      expect(cell('ResourceName')?.replace(/^'/, '')).toBe(row['ResourceName']);
      expect(cell('ResourceName')).not.toMatch(/^[=+\-@\t\r\n\0＝＋－＠]/);
    }
  });

  test('a resource with an unusual name is found by allocation explain', async () => {
    const { displayName = '' } = fleet.find(({ name }) => name === 'lines') ?? {};
    const told = await runCli(['allocation', 'explain', displayName, '--dir', dir, '--json']);
    expect(told.exitCode, told.stderr).toBe(0);
    expect(JSON.parse(told.stdout).windows[0]).toMatchObject({
      resourceName: 'lines',
      owner: { team: manyLines, product: `dots. "and" 'quotes'`, environment: null },
      rule: 'dotted key',
    });
  });

  test.each(['lines', 'long', 'types', 'nul'])('%s is explained in complete lines', async (name) => {
    const told = await runCli(['allocation', 'explain', name, '--dir', dir]);
    expect(told.exitCode, told.stderr).toBe(0);
    expect(told.stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    const lines = told.stdout.trimEnd().split('\n');
    expect(lines.slice(0, 2).concat(lines.slice(-2))).toEqual([
      expect.stringMatching(new RegExp(`^(agent|job) ${name} in north`)),
      expect.stringMatching(/^ {2}(agent|job)_compute_runtime_gbs$/),
      '',
      expect.stringMatching(/^complete through/),
    ]);
    for (const line of lines) expect(line.length).toBeLessThan(500);
  });

  test('all checks pass afterwards', async () => {
    const check = await runCli(['check', '--dir', dir, '--json']);
    expect(check.exitCode, check.stderr).toBe(0);
    const { checks } = JSON.parse(check.stdout) as { checks: { name: string; offenders: number }[] };
    expect(checks.filter(({ offenders }) => offenders !== 0)).toEqual([]);
    const again = await ingest(dir, platform, { now: '2026-10-05T02:00:00Z', env: { COSTBOOK_INVENTORY: 'true' } });
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.account.inventory).toMatchObject({ resources: fleet.length + 1, opened: 0, ended: 0 });
    const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(dir, 'rebuilt.duckdb'), '--json']);
    expect(rebuilt.exitCode, rebuilt.stdout + rebuilt.stderr).toBe(0);
  });
});

function parsed(text: unknown): unknown {
  return text === null || text === undefined ? null : JSON.parse(String(text));
}
