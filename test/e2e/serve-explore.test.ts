// Second tier: Asks for each view of the page Explore; e2e/serve-pages has every page in the first tier.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sumOf } from '../../src/money/money.ts';
import { resourceAddress } from '../../src/text/dashboard-address.ts';
import { dashboardBooks, dashboardProject, hostileNames, type Served, serve } from '../support/dashboard.ts';
import { runCli } from '../support/project.ts';

const hostile = hostileNames[0] ?? '';
const tokens = {
  ALL_TOKEN: 'all-0123456789abcdefghij',
  NORTH_TOKEN: 'north-0123456789abcdefgh',
  OWNER_TOKEN: 'owner-0123456789abcdefgh',
};

const allocation = `rules:
  - { name: boxes, when: { resource_name: box }, owner: { team: Boxes } }
  - { name: before, when: { resource_name: moved }, owner: { team: Boxes }, until: 2026-10-02 }
  - { name: after, when: { resource_name: moved }, owner: { team: Others } }
  - { name: secret, when: { resource_name: secret-box }, owner: { team: Hidden } }
  - { name: shared, when: { resource_name: units }, split: { by: cost, over: [team] } }
`;

let dir: string;
let served: Served;

beforeAll(async () => {
  const state = { status: 'DEPLOYED', created_at: '2026-09-01 00:00:00' };
  dir = await dashboardProject(
    dashboardBooks({
      allocation,
      costs: [
        { workspace: 'north', resource_name: 'late', bucket_start: '2026-10-03 05:00:00', cost: '2.5', usage: '4' },
        // It costs nothing, so that sums stay as they are.
        ...['2026-10-01 05:00:00', '2026-10-03 05:00:00'].map((bucket_start) => ({
          ...{ workspace: 'north', resource_name: 'moved', bucket_start, cost: '0', usage: '1' },
        })),
        // Storage has the unit of compute, and a rate of its own.
        {
          ...{ workspace: 'north', resource_name: 'moved', bucket_start: '2026-10-03 05:00:00', cost: '0' },
          ...{ usage: '1000000', billing_dimension: 'sandbox_storage_gbs' },
        },
        { workspace: 'north', resource_name: 'gone', bucket_start: '2026-09-02 05:00:00', cost: '3.5', usage: '4' },
        {
          ...{ workspace: null, resource_name: 'units', bucket_start: '2026-10-03 05:00:00', cost: '0.5', usage: '2' },
          billing_dimension: 'agent_deployment_hours',
        },
      ],
      resource_events: [
        { resource_name: 'moved', event_time: '2026-10-01 10:00:00', revision: 'first-revision' },
        { resource_name: 'moved', event_time: '2026-10-02 10:00:00', revision: 'later-revision' },
      ],
      resources: [
        // The label of box changes on 2 October.
        {
          ...{ ...state, resource_name: 'box', region: 'eu', labels: '{"service":"old"}' },
          ...{ valid_from: '2026-09-01', valid_to: '2026-10-02' },
        },
        {
          ...{
            ...state,
            resource_name: 'box',
            region: 'us',
            labels: JSON.stringify({ service: 'new', 'a/b~c': hostile }),
          },
          ...{ valid_from: '2026-10-02', valid_to: null },
        },
        // It moves to another owner on 2 October.
        {
          ...{ ...state, resource_name: 'moved', region: 'eu', labels: '{"service":"old"}' },
          ...{ valid_from: '2026-09-01', valid_to: '2026-10-02' },
        },
        {
          ...{ ...state, resource_name: 'moved', region: 'later-region', labels: '{"service":"later"}' },
          ...{ valid_from: '2026-10-02', valid_to: null },
        },
        {
          ...{ ...state, resource_name: 'secret-box', workspace: 'south', region: 'moon' },
          ...{ labels: '{"service":"top-secret","hidden-key":"x"}' },
        },
      ],
    }),
  );
  await writeFile(
    join(dir, 'costbook.yaml'),
    `serve:
  tokens:
    all: { token: "\${ALL_TOKEN}" }
    north: { token: "\${NORTH_TOKEN}", workspaces: [north] }
    boxes: { token: "\${OWNER_TOKEN}", owner: Boxes }
`,
  );
  served = await serve(dir, [], tokens);
});

const as = (token: string) => ({ authorization: `Bearer ${token}` });

/** Several values of one name are several parameters. */
function addressed(query: Readonly<Record<string, string | readonly string[]>>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value])),
  );
}

const get = (query: Readonly<Record<string, string | readonly string[]>>, token = tokens.ALL_TOKEN) =>
  served.get(`/explore?${addressed(query)}`, as(token));

async function rowsOf(sql: string): Promise<Record<string, string>[]> {
  const { stdout, stderr } = await runCli(['sql', '--json', '--dir', dir, sql]);
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { rows: Record<string, string>[] }).rows;
}

/** The cells of the table of groups: its exact amounts or texts, row by row. */
function groupsOf(text: string): string[][] {
  // The numbers of the chart are in another table, closed.
  const open = text.replace(/<details[\s\S]*?<\/details>/g, '');
  const [, body = ''] = /<caption>By [^<]*<\/caption>[\s\S]*?<tbody>([\s\S]*?)<\/tbody>/.exec(open) ?? [];
  return body
    .split('</tr>')
    .filter((row) => row.includes('<td'))
    .map((row) =>
      [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(
        ([, cell = '']) => /<data value="([^"]*)"/.exec(cell)?.[1] ?? cell.replace(/<[^>]*>/g, '').trim(),
      ),
    );
}

/** The SQL that the page shows as its source. */
function sourceOf(text: string): string {
  const [, sql = ''] = /<summary>Source<\/summary>[\s\S]*?<pre>([\s\S]*?)<\/pre>/.exec(text) ?? [];
  return sql
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

const october = { from: '2026-10-01', to: '2026-10-04', compare: 'none' };

describe('the page Explore', () => {
  test.each([
    ['account', {}],
    ['workspace', {}],
    ['resource_type', {}],
    ['resource_name', {}],
    ['billing_dimension', {}],
    ['unit', {}],
    ['region', {}],
    ['owner:team', {}],
    ['label:service', {}],
    ['label:a/b~c', {}],
    ['label:service', { 'owner:team': 'Boxes', region: 'us' }],
    ['owner:team', { 'label:service': 'old', workspace: 'north' }],
    ['resource_name', { 'label:service': '~', workspace: '~' }],
    ['workspace', { 'label:a/b~c': hostile }],
    ['resource_name', { workspace: ['north', '~'] }],
    ['resource_name', { workspace: 'north', except: 'workspace' }],
    ['label:service', { 'label:service': ['old', '~'], except: 'label:service' }],
    ['region', { 'owner:team': ['Boxes', '~shared'], region: ['us', 'moon'], except: ['region', 'account'] }],
    ['owner:team', { 'owner:team': ['Boxes', '~'], except: 'owner:team' }],
    ['owner', { owner: '~shared', except: 'owner' }],
  ])('grouped by %s with the filters %o shows the sums of the SQL that it names', async (group, filters) => {
    const { status, text } = await get({ ...october, group, top: '50', ...filters });
    expect(status).toBe(200);
    expect(text).not.toContain('<img');
    const shown = groupsOf(text);
    expect(shown.length).toBeGreaterThan(0);
    const source = sourceOf(text).replace(/;\s*$/, '');
    const [row] = await rowsOf(
      `select cast(sum(cost) as varchar) as cost, count(distinct coalesce(columns(* exclude (bucket, cost, usage)), '-none-')) as many from (${source})`,
    );
    const total = shown.reduce((sum, cells) => sum + Number(cells[1]), 0);
    expect(total.toFixed(9)).toBe(Number(row?.['cost']).toFixed(9));
    expect(shown.length).toBe(Number(row?.['many']));
  });

  test('divides all costs into those of some values and of all others', async () => {
    const totalOf = async (query: Readonly<Record<string, string | readonly string[]>>) =>
      groupsOf((await get({ ...october, group: 'resource_name', top: '50', ...query })).text).reduce(
        (sum, [, cost = '0']) => sum + BigInt(cost.replace('.', '')),
        0n,
      );
    const all = await totalOf({});
    for (const [name, values] of [
      ['workspace', ['north', '~']],
      ['resource_name', ['box']],
      ['region', ['us', '~']],
      ['label:service', ['old', 'no such']],
      ['owner:team', ['Boxes', '~shared']],
      ['owner:team', ['Boxes', '~']],
    ] as const) {
      const parts = await Promise.all([totalOf({ [name]: values }), totalOf({ [name]: values, except: name })]);
      expect(parts[0], name).toBeGreaterThan(0n);
      expect(parts[1], name).toBeGreaterThan(0n);
      expect(parts[0] + parts[1], name).toBe(all);
    }
  });

  test('follows a label that changes, hour by hour', async () => {
    const groups = groupsOf(
      (await get({ ...october, group: 'label:service', workspace: 'north', resource_name: 'box' })).text,
    );
    expect(groups.map(([name, cost]) => [name, cost])).toEqual([
      ['new', '7.500000000060'],
      ['old', '3.000000000024'],
    ]);
  });

  test('compares with the month before: new groups, groups that are gone, and the change', async () => {
    const { text } = await get({
      from: '2026-10-01',
      to: '2026-10-04',
      group: 'resource_name',
      workspace: 'north',
      top: '50',
    });
    const groups = new Map(groupsOf(text).map(([name = '', ...cells]) => [name.replace(/\s+page$/, ''), cells]));
    expect(groups.get('late')?.slice(2, 5)).toEqual(['', '2.500000000000', 'new']);
    expect(groups.get('gone')?.slice(2, 5)).toEqual(['3.500000000000', '-3.500000000000', 'gone']);
    expect(text).toContain('the period before');
    // 1 to 4 October 12:00 is compared with 1 to 4 September 12:00.
    expect(text).toContain('2026-09-01 00:00 UTC to 2026-09-04 12:00 UTC');
  });

  test('compares two chosen periods: what makes the difference adds up, and others see their part of it', async () => {
    const asked = { from: '2026-10-01', to: '2026-10-03', against: '2026-09-25' };
    const driversOf = (text: string) => {
      const [, table = ''] = /<caption>What makes the difference<\/caption>([\s\S]*?)<\/table>/.exec(text) ?? [];
      return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].flatMap(([, row = '']) => {
        const [change, price, usage] = [...row.matchAll(/<data value="([^"]*)"/g)].map(([, value = '']) => value);
        return change === undefined ? [] : [{ row, change, price, usage }];
      });
    };
    const { text } = await get(asked);
    expect(text).toContain('compared with 2026-09-25 00:00 UTC to 2026-09-28 00:00 UTC');
    expect(text).toContain('against the time from 2026-09-25 on');
    const drivers = driversOf(text);
    const total = drivers.pop();
    expect(sumOf(drivers.map(({ change }) => change))).toBe(total?.change);
    const box = drivers.find(({ row }) => row.includes('>secret-box<'));
    expect([box?.change, box?.price, box?.usage]).toEqual(['0.000000000000', '0.000000000000', '0.000000000000']);
    const north = await served.get(`/explore?${new URLSearchParams(asked)}`, as(tokens.NORTH_TOKEN));
    expect(driversOf(north.text).length).toBeGreaterThan(1);
    expect(north.text).not.toContain('secret-box');
    const overlapping = await get({ ...asked, against: '2026-09-30' });
    expect(overlapping.text).toContain('to end before this one starts');
    expect(overlapping.text).not.toContain('What makes the difference');
  });

  test('compares with nothing where the books do not reach, and says why', async () => {
    for (const [from, resource] of [
      ['2025-10-01', false],
      ['2026-09-05', false],
      ['', true],
    ] as const) {
      const { text } = resource
        ? await served.get(`${resourceAddress('sandbox', 'north', 'box')}?range=90d`, as(tokens.ALL_TOKEN))
        : await get({ from, to: '2026-10-04', group: 'workspace' });
      expect(text).toContain('the books are complete from 2026-09-01 on');
      expect(text).not.toMatch(/against the (period|range) before|<th[^>]*>Before/);
    }
  });

  test('finds the largest changes by the same hours of both weeks', async () => {
    const { text } = await served.get('/', as(tokens.ALL_TOKEN));
    const [, table = ''] = /<caption>Biggest changes[\s\S]*?<tbody>([\s\S]*?)<\/tbody>/.exec(text) ?? [];
    const rows = table.split('</tr>').flatMap((row) => {
      const name = /aria|>([^<]*)<\/a>/.exec(row)?.[1];
      const amounts = [...row.matchAll(/<data value="([^"]*)"/g)].map(([, amount]) => Number(amount));
      return name === undefined ? [] : [[name, ...amounts] as const];
    });
    // 156 hours against 60 before; box cost the same in all of them.
    expect(rows).toContainEqual(['secret-box', 39, 24]);
    expect(rows.map(([name]) => name)).not.toContain('box');
  });

  test('finds resources by a part of their name in any case, each with its cost of 30 days, among the costs that a viewer sees', async () => {
    const find = async (part: string, token = tokens.ALL_TOKEN) => {
      const { text } = await served.get(`/resource?${new URLSearchParams({ q: part })}`, as(token));
      const [, table = ''] = /<tbody>([\s\S]*?)<\/tbody>/.exec(text) ?? [];
      return [...table.matchAll(/<a href="([^"]*)">([^<]*)<[\s\S]*?<data value="([^"]*)"/g)].map((found) =>
        found.slice(1),
      );
    };
    const boxes = await find(' BOX');
    expect(boxes.map(([, name]) => name)).toEqual(['secret-box', 'box']);
    for (const [address = '', , cost] of boxes) {
      const { text } = await served.get(`${address}?range=30d`, as(tokens.ALL_TOKEN));
      expect(text).toContain(`<span class="big"><data value="${cost}"`);
    }
    expect((await find('ox', tokens.NORTH_TOKEN)).map(([, name]) => name)).toEqual(['box']);
    expect(await find('late', tokens.OWNER_TOKEN)).toEqual([]);
    expect((await find('onerror='))[0]?.[1]).toBe('&lt;img src=x onerror=alert(1)&gt;');
    expect([await find('b%x'), await find('b_x')]).toEqual([[], []]);
    expect((await served.get(`/resource?q=${'x'.repeat(201)}`, as(tokens.ALL_TOKEN))).status).toBe(400);
  });

  test('leads from all others to each group', async () => {
    for (const [group, filters] of [
      ['resource_name', {}],
      ['label:service', { 'label:service': ['old', 'new', '~'] }],
      ['owner:team', {}],
    ] as const) {
      const all = groupsOf((await get({ ...october, group, ...filters, top: '50' })).text);
      const found: string[][] = [];
      let { text } = await get({ ...october, group, ...filters, top: '1' });
      for (let page = 0; page < 20; page += 1) {
        const [first = [], rest] = groupsOf(text);
        found.push(first);
        const next = /<td[^>]*><a href="([^"]*)">all others/.exec(text)?.[1]?.replaceAll('&amp;', '&');
        expect(next === undefined, group).toBe(rest === undefined);
        if (next === undefined) break;
        ({ text } = await served.get(next, as(tokens.ALL_TOKEN)));
        const total = groupsOf(text).reduce((sum, [, cost = '0']) => sum + BigInt(cost.replace('.', '')), 0n);
        expect(total).toBe(BigInt(rest?.[1]?.replace('.', '') ?? -1));
      }
      expect(found.map(([name, cost]) => [name, cost]).sort()).toEqual(all.map(([name, cost]) => [name, cost]).sort());
    }
  });

  test('counts the groups that are not shown by name', async () => {
    const { text } = await get({ ...october, group: 'resource_name', top: '2' });
    const [{ groups } = {}] = await rowsOf(
      `select count(distinct resource_name) as groups from costs where bucket_start >= '2026-10-01'`,
    );
    expect(groupsOf(text).at(-1)?.[0]).toBe(`all others (${Number(groups) - 2})`);
  });

  test('shows usage and unit prices of one billing dimension, and says which others exist', async () => {
    const { text } = await get({ ...october, group: 'workspace', measure: 'price' });
    const [north] = groupsOf(text).filter(([name]) => name === 'north');
    const [{ cost = '', usage = '' } = {}] = await rowsOf(
      `select sum(cost) as cost, sum(usage) as usage from costs where bucket_start >= '2026-10-01' and workspace = 'north'
        and billing_dimension = 'sandbox_compute_runtime_gbs'`,
    );
    expect(Number(north?.[1])).toBeCloseTo(Number(cost) / Number(usage), 9);
    expect(text).toMatch(
      /Usage of different billing dimensions cannot be added up.*agent_deployment_hours.*sandbox_storage_gbs/,
    );
    // Costs of both dimensions have no price together.
    const costs = groupsOf((await get({ ...october, group: 'workspace' })).text).filter(([name]) => name === 'north');
    expect(costs[0]?.at(-1)).toBe('');
    const hours = await get({ ...october, group: 'workspace', measure: 'usage', unit: 'hours' });
    expect(groupsOf(hours.text).map(([name, cost]) => [name, cost])).toEqual([['no workspace', '2.000000']]);
  });

  test('shows every bucket as a table', async () => {
    const { text } = await get({ ...october, shape: 'table', group: 'workspace', workspace: 'south' });
    const days = groupsOf(text).map(([day, total]) => [day, total]);
    expect(days).toEqual([
      ['2026-10-01', '6.000000000000'],
      ['2026-10-02', '6.000000000000'],
      ['2026-10-03', '6.000000000000'],
      ['2026-10-04 so far', '3.000000000000'],
    ]);
  });

  test('zooms to hours, and answers a range of any length quickly', async () => {
    const hours = await get({
      from: '2026-10-02T05:00',
      to: '2026-10-02T07:00',
      step: 'hour',
      workspace: 'south',
      shape: 'table',
      compare: 'none',
    });
    expect(groupsOf(hours.text).map(([hour]) => hour)).toEqual(['2026-10-02 05:00', '2026-10-02 06:00']);
    const started = performance.now();
    const long = await get({ from: '0001-01-01', to: '9999-12-31', step: 'hour' });
    expect(long.status).toBe(200);
    expect(long.text).toContain('expected at most');
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test('adds the filter that the form names, and offers to remove it', async () => {
    const { text } = await get({ ...october, where: 'label:service', is: 'new' });
    expect(text).toContain('Remove the filter Label: service: new');
    expect(groupsOf(text)[0]?.[1]).toBe('7.500000000060');
    expect((await get({ where: 'price', is: 'x' })).text).toContain('where: expected');
  });
});

describe('a download of Explore', () => {
  const query = new URLSearchParams({ ...october, compare: 'before', group: 'label:service', 'owner:team': 'Boxes' });

  test('has the same amounts as CSV, XLSX and Parquet, and says through when they are complete', async () => {
    const file = (format: string) =>
      fetch(`${served.url}/explore.${format}?${query}`, { headers: as(tokens.ALL_TOKEN) });
    const csv = await file('csv');
    expect(csv.headers.get('content-disposition')).toContain('costs-by-label-service-2026-10-01-2026-10-04.csv');
    const [head, ...lines] = (await csv.text()).trim().split('\r\n');
    expect(head).toBe(
      'bucket_start,bucket_end,is_complete,dimension,group_name,is_rest,cost,usage,unit,usd_per_unit,cost_before,usage_before',
    );
    const cells = lines.map((line) => line.split(','));
    const sum = (name: string) =>
      cells
        .filter((row) => row[4] === name)
        .reduce((total, row) => total + Number(row[6]), 0)
        .toFixed(9);
    expect([sum('old'), sum('new')]).toEqual(['3.000000000', '7.500000000']);
    expect(cells.at(-1)?.slice(0, 3)).toEqual(['2026-10-04T00:00:00Z', '2026-10-05T00:00:00Z', 'false']);

    const path = join(dir, 'explored.parquet');
    await writeFile(path, Buffer.from(await (await file('parquet')).arrayBuffer()));
    const { parquetMetadataAsync, parquetReadObjects, asyncBufferFromFile } = await import('hyparquet');
    const { compressors } = await import('hyparquet-compressors');
    const buffer = await asyncBufferFromFile(path);
    const facts = new Map(
      (await parquetMetadataAsync(buffer)).key_value_metadata?.map(({ key, value }) => [key, value]),
    );
    expect(facts.get('complete_through')).toBe('2026-10-04T12:00:00Z');
    expect(facts.get('filters')).toBe('{"owner:team":"Boxes"}');
    const rows = await parquetReadObjects({ file: buffer, compressors });
    expect(rows.map((row) => Number(row['cost']).toFixed(9))).toEqual(cells.map((row) => Number(row[6]).toFixed(9)));

    const xlsx = await file('xlsx');
    expect(xlsx.headers.get('content-type')).toContain('spreadsheetml');
    const { figuresOfWorkbook } = await import('../../src/workbook/index.ts');
    const book = join(dir, 'explored.xlsx');
    await writeFile(book, Buffer.from(await xlsx.arrayBuffer()));
    expect(await figuresOfWorkbook(book, 12)).toEqual({ rows: cells.length, cost: '10.500000000084' });
  });

  test('has all costs of a month before that is longer, whatever the step', async () => {
    const days = (start: string, count: number) =>
      Array.from({ length: count }, (_, day) => new Date(Date.parse(`${start}T05:00:00Z`) + day * 86_400_000));
    const [start, end] = ['2026-01-01', '2026-03-01'];
    const project = await dashboardProject({
      accounts: [{ history_start: start }],
      loads: [{ window_start: start, window_end: end, platform_at: '2026-03-01 02:00:00' }],
      covered: [{ window_start: start, window_end: end, claimed_end: end }],
      costs: days(start, 59).map((at) => ({
        ...{ resource_name: 'box', bucket_start: at.toISOString().slice(0, 19).replace('T', ' ') },
        ...{ cost: '1', usage: '2' },
      })),
    });
    const other = await serve(project, [], {});
    for (const step of ['day', 'week', 'month']) {
      const { text } = await other.get(`/explore.csv?from=2026-02-01&to=2026-02-28&step=${step}`);
      const [head = '', ...lines] = text.trim().split('\r\n');
      const sums = ['cost', 'cost_before', 'usage_before'].map((name) => {
        const at = head.split(',').indexOf(name);
        return lines.reduce((total, line) => total + Number(line.split(',')[at]), 0);
      });
      expect({ step, sums }).toEqual({ step, sums: [28, 31, 62] });
    }
  });

  test('of a question with a mistake is refused', async () => {
    for (const format of ['csv', 'xlsx', 'parquet']) {
      const { status, text } = await served.get(`/explore.${format}?step=year`, as(tokens.ALL_TOKEN));
      expect(status).toBe(400);
      expect(text).toContain('step: expected');
    }
  });
});

describe('the page of a resource', () => {
  test('shows deployments and changed settings, newest first', async () => {
    const { text } = await served.get('/resource/sandbox/north/moved', as(tokens.ALL_TOKEN));
    const table = text.slice(text.indexOf('<caption>Deployments and changes'));
    expect(table.match(/(later|first)-revision|region eu → later-region/g)?.slice(0, 3)).toEqual([
      'later-revision',
      'region eu → later-region',
      'first-revision',
    ]);
  });

  test('marks on its chart when it was deployed and when its state changed, and what', async () => {
    const { status, text } = await served.get('/resource/sandbox/north/box', as(tokens.ALL_TOKEN));
    expect(status).toBe(200);
    expect(text).toContain('label service old → new');
    expect(text).toContain('region eu → us');
    expect(text).toContain('deployed or changed');
    const marksOf = (page: string) => {
      const [, option = ''] = /id="cost-option">(.*?)<\/script>/s.exec(page) ?? [];
      const { series } = JSON.parse(option) as { series: { id: string; data: { name: string }[] }[] };
      return series.find(({ id }) => id === 'marks')?.data.map(({ name }) => name) ?? [];
    };
    expect(marksOf(text).some((name) => name.includes('label service old → new'))).toBe(true);
    const moved = await served.get('/resource/sandbox/north/moved', as(tokens.ALL_TOKEN));
    const deployed = marksOf(moved.text).filter((name) => name.includes('-revision'));
    expect(deployed.map((name) => /(first|later)-revision/.exec(name)?.[1])).toEqual(['first', 'later']);
  });

  test('shows an owner no state of the time after it', async () => {
    const { status, text } = await served.get('/resource/sandbox/north/moved', as(tokens.OWNER_TOKEN));
    expect(status).toBe(200);
    expect(text).toContain('service: old');
    expect(text).toContain('deployed revision first-revision');
    expect(text).not.toContain('later');
    for (const group of ['region', 'label:service']) {
      expect((await get({ group, top: '50' }, tokens.OWNER_TOKEN)).text).not.toContain('later');
    }
    expect((await get({ group: 'region' })).text).toContain('later-region');
  });
});

describe('a named view of the project', () => {
  const view = (name: string, token: string) => served.get(`/views/${name}`, as(token));

  beforeAll(async () => {
    const folder = join(dir, 'views');
    await mkdir(folder);
    const written = {
      'two.yaml':
        'title: Both <b>halves</b>\nparameters: { workspace: [north, south], group: resource_name, top: 50, range: 7d }\n',
      'last-months.yaml': 'title: Our months\npage: /months\n',
      'broken.yaml': 'title: Broken\nparameter: { group: region }\n',
      'Upper.yml': 'title: Upper\n',
    };
    for (const [name, text] of Object.entries(written)) await writeFile(join(folder, name), text);
  });

  test('is in the menu and shows what the address with its parameters shows, inside the scope of who opens it', async () => {
    for (const token of Object.values(tokens)) {
      const { status, text } = await view('two', token);
      const { workspace, ...query } = { workspace: ['north', 'south'], group: 'resource_name', top: '50', range: '7d' };
      expect(status).toBe(200);
      expect(text).toContain('<title>Both &lt;b&gt;halves&lt;/b&gt;');
      expect(text).toContain('<a href="/views/two" aria-current="page">');
      expect(groupsOf(text)).toEqual(groupsOf((await get({ ...query, workspace }, token)).text));
      expect(groupsOf(text).some(([name]) => name?.startsWith('secret-box'))).toBe(token === tokens.ALL_TOKEN);
    }
  });

  test('of a page that somebody must not see does not exist for them', async () => {
    expect((await view('last-months', tokens.ALL_TOKEN)).text).toContain('<h1>Our months</h1>');
    for (const name of ['last-months', 'broken', 'Upper', 'none', '..%2Fcostbook']) {
      const { status, text } = await view(name, tokens.NORTH_TOKEN);
      expect(status, name).toBe(404);
      expect(text).not.toContain('months');
    }
    expect((await get({}, tokens.NORTH_TOKEN)).text).not.toMatch(/Our months|Broken|Upper/);
  });

  test('says where its file has a mistake', async () => {
    const { status, text } = await view('broken', tokens.ALL_TOKEN);
    expect(status).toBe(500);
    expect(text).toContain('views/broken.yaml:2:1: unknown key &quot;parameter&quot;');
    expect((await view('Upper', tokens.ALL_TOKEN)).text).toContain('expected a name of lowercase letters');
    expect(text).not.toContain(dir);
  });
});

test('the title of Explore says what is shown', async () => {
  const { text } = await get({ ...october, workspace: ['north', '~'], except: 'workspace', group: 'label:service' });
  const words = 'Cost by label: service, Workspace: all but north, no workspace, 2026-10-01 to 2026-10-04';
  expect(text).toContain(`<title>${words} · `);
  expect(text).toContain(`<h1>${words}</h1>`);
});

describe('a token of a part of the costs', () => {
  const secrets = /secret|south|Hidden|hidden-key|moon|top-secret/;

  test('finds nothing of others in any group, filter, list or download', async () => {
    for (const token of [tokens.NORTH_TOKEN, tokens.OWNER_TOKEN]) {
      for (const group of ['workspace', 'resource_name', 'region', 'owner', 'owner:team', 'label:service', 'unit']) {
        const { status, text } = await get({ group, top: '50', from: '2026-09-01', to: '2026-10-04' }, token);
        expect(status).toBe(200);
        expect(text, `${group} ${token}`).not.toMatch(secrets);
        const csv = await served.get(`/explore.csv?${new URLSearchParams({ group, top: '50' })}`, as(token));
        expect(csv.status).toBe(200);
        expect(csv.text).not.toMatch(secrets);
      }
    }
  });

  test('cannot find out by a filter whether a name exists', async () => {
    for (const [field, name] of [
      ['label:service', 'top-secret'],
      ['owner:team', 'Hidden'],
      ['region', 'moon'],
    ] as const) {
      for (const token of [tokens.NORTH_TOKEN, tokens.OWNER_TOKEN]) {
        for (const except of ['', field]) {
          const asked = (value: string) => get({ [field]: ['old', value], except }, token);
          const [secret, none] = [await asked(name), await asked('no-such-name')];
          expect(secret.text.replaceAll(name, 'NAME')).toBe(none.text.replaceAll('no-such-name', 'NAME'));
        }
      }
    }
  });

  test('of an owner adds up to the direct costs of that owner', async () => {
    const { text } = await get({ ...october, group: 'label:service' }, tokens.OWNER_TOKEN);
    expect(groupsOf(text).map(([name, cost]) => [name, cost])).toEqual([
      ['new', '7.500000000060'],
      ['old', '3.000000000024'],
    ]);
  });
});
