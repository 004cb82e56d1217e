import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import { sumOf } from '../../src/money/money.ts';
import { anomaliesPage } from '../../src/serve/anomalies.ts';
import { openSnapshots } from '../../src/serve/books/index.ts';
import { healthPage } from '../../src/serve/health.ts';
import { viewText } from '../../src/serve/share.ts';
import { withTables } from '../../src/serve/table-files.ts';
import { parseView } from '../../src/serve/views.ts';
import { anomalyAddress, resourceAddress } from '../../src/text/dashboard-address.ts';
import type { SqlParameters } from '../../src/warehouse/store/index.ts';
import { afterFile } from '../support/clean-up.ts';
import { dashboardBooks, dashboardProject, hostileNames, type Served, serve } from '../support/dashboard.ts';

const tokens = { ALL_TOKEN: 'all-0123456789abcdefghij', NORTH_TOKEN: 'north-0123456789abcdefgh' };
const anomalyKey = 'anomaly/acc_one/south/2026-10-02';
const [strange = ''] = hostileNames;
const changed = { series_id: 2, load_number: 1, old_usage: '10', new_usage: '10' };

let dir: string;
let served: Served;

beforeAll(async () => {
  dir = await dashboardProject(
    dashboardBooks({
      allocation: 'rules:\n  - { name: secret, when: { workspace: south }, owner: { team: Hidden } }\n',
      costs: [
        // 400 units an hour are free, and each further one costs a tenth of a cent.
        ...hoursOf('metered', { '2026-09-25': [500, 450, 300], '2026-10-01': [900, 700] }, (used) =>
          Math.max(0, used - 400),
        ),
        ...hoursOf('freed', { '2026-09-25': [300, 400], '2026-10-01': [900, 700] }, (used) => Math.max(0, used - 400)),
        ...hoursOf('dearer', { '2026-09-25': [1000, 2000] }, (used) => used),
        ...hoursOf('dearer', { '2026-10-01': [1000, 2000] }, (used) => used * 2),
      ],
      anomalies: [
        {
          ...{ anomaly_key: anomalyKey, workspace: 'south', first_day: '2026-10-02', seen_day: '2026-10-02' },
          ...{ last_day: '2026-10-03', notified_day: '2026-10-02', impact: '6.000000000001' },
          detail: JSON.stringify({
            impacts: [3, 3],
            drivers: [
              { resourceName: 'secret-box', resourceUuid: null, cost: '5.75', expected: '0.5', part: 87.5 },
              { resourceName: strange, resourceUuid: null, cost: '0.5', expected: '0', part: 8.3 },
            ],
          }),
        },
      ],
      restatements: [
        {
          ...changed,
          bucket_start: '2026-09-26 05:00:00',
          old_cost: '4',
          new_cost: '6',
          seen_at: '2026-10-02 05:00:00',
        },
        {
          ...changed,
          bucket_start: '2026-10-01 05:00:00',
          old_cost: '1',
          new_cost: '2',
          seen_at: '2026-10-03 05:00:00',
        },
        // The same hour again: another series of it, and nothing of its cost.
        { bucket_start: '2026-10-01 05:00:00', old_cost: '2', new_cost: '2', seen_at: '2026-10-03 05:00:00' },
      ],
      resource_events: [
        { workspace: 'south', resource_name: 'secret-box', event_time: '2026-10-01 10:00:00', revision: 'r1' },
      ],
      resources: [{ workspace: 'south', resource_name: 'secret-box', created_at: '2026-09-25 03:00:00' }],
    }),
  );
  await mkdir(join(dir, 'jobs'), { recursive: true });
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets:\n  - { name: all, period: monthly, amount: 60 USD }\n');
  await writeFile(
    join(dir, 'costbook.yaml'),
    `serve:
  tokens:
    finance: { token: "\${ALL_TOKEN}" }
    north: { token: "\${NORTH_TOKEN}", workspaces: [north] }
`,
  );
  served = await serve(dir, [], tokens);
});

/** Hours from 05:00 on of each day, with their usage and their cost in tenths of a cent. */
function hoursOf(resource_name: string, days: Record<string, number[]>, tenths: (used: number) => number) {
  return Object.entries(days).flatMap(([day, used]) =>
    used.map((usage, index) => ({
      ...{ workspace: 'north', resource_name, bucket_start: `${day} 0${5 + index}:00:00`, usage: String(usage) },
      cost: (tenths(usage) / 1000).toFixed(3),
    })),
  );
}

function ask(path: string, { token = tokens.ALL_TOKEN, ...headers }: Record<string, string> = {}) {
  return fetch(`${served.url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
}

async function textOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  return (await ask(path, headers)).text();
}

describe('every table of a page', () => {
  test.each([
    '/',
    '/explore',
    '/explore?against=2026-09-01',
    '/explore?shape=table&step=day',
    '/budgets',
    '/budgets/all',
    '/anomalies',
    anomalyAddress(anomalyKey),
    resourceAddress('sandbox', 'south', 'secret-box'),
    '/allocation',
    '/months',
    '/months/2026-10',
    '/changes?since=2026-09-30',
    '/health',
  ])('of %s is a file with as many rows and the same amounts', async (path) => {
    const text = await textOf(path);
    const tables = text.split('<div class="wide"').filter((each) => each.includes('name="table"'));
    expect(tables.length).toBeGreaterThan(0);
    for (const table of tables) {
      const [, name] = /name="table" value="([a-z0-9-]+)\.csv"/.exec(table) ?? [];
      const [, body = ''] = /<tbody>([\s\S]*?)<\/tbody>/.exec(table) ?? [];
      const answer = await ask(`${path}${path.includes('?') ? '&' : '?'}table=${name}.csv`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      const csv = await answer.text();
      expect(csv.trimEnd().split(/\n(?=(?:[^"]*"[^"]*")*[^"]*$)/)).toHaveLength(body.split('</tr>').length);
      for (const [, amount = ''] of body.matchAll(/<td class="number"[^>]*>(?:<b[^>]*>)?<data value="([^"]+)"/g))
        expect(csv.replaceAll(/(\.\d*?)0+(?=[,\n])/g, '$1')).toContain(amount.replace(/(\.\d*?)0+$/, '$1'));
    }
  });

  test('has all rows in its file, also if the page shows the first only, which then reads no others', async () => {
    const many = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, index) => of(index));
    const day = (index: number) => new Date(Date.UTC(2026, 8, 3 + index)).toISOString().slice(0, 10);
    const books = dashboardBooks({
      runs: many(23, (index) => ({ run_number: 1000 + index })),
      job_runs: [{ run_number: 1020 }],
      steps: many(61, (index) => ({ run_number: 1020, position: index + 1 })),
      listings: many(101, (index) => ({ token_workspace: `w-${index}` })),
      outbox: many(31, (index) => ({ message_number: index + 1, message_id: `m${index}`, sink: `s-${index}` })),
      reconciliation: many(31, (index) => ({ proven_at: `${day(index)} 01:00:00` })),
      anomalies: many(203, (index) => ({ anomaly_key: `anomaly/${index}`, state: index < 202 ? 'open' : 'over' })),
    });
    const snapshots = openSnapshots({
      ...{ dir: await dashboardProject(books), reader: 'test', warm: async () => undefined },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
    });
    afterFile(() => snapshots.close());
    const counted = (isFile: boolean) =>
      snapshots.read({ kind: 'workspaces', workspaces: ['north'] }, async (view) => {
        const read = new Map<string, number>();
        async function rows(name: string, parameters?: SqlParameters) {
          const found = await view.rows(name, parameters);
          read.set(name, found.length);
          return found;
        }
        const asked = { view: { ...view, rows }, now: Date.parse('2026-10-04T15:00:00Z'), project: { dir } } as never;
        const [health, anomalies] = [
          await withTables(isFile, () => healthPage(asked)),
          await withTables(isFile, () => anomaliesPage(asked)),
        ];
        const tables = [...health.tables, ...anomalies.tables].map(([name, { all, rows: made }]) => [
          name,
          { all, made: made().length },
        ]);
        const words = [health, anomalies].map(({ made }) => String(made.body)).join('');
        return { read: Object.fromEntries(read), tables: Object.fromEntries(tables), words };
      });
    const [page, file] = [await counted(false), await counted(true)];
    const all = { last_runs: 23, last_steps: 61, last_listings: 101, last_messages: 31, anomalies: 203 };
    expect(file.read).toMatchObject({ ...all, reconciled_days: 31 });
    expect(page.read).toMatchObject({
      ...{ last_runs: 20, last_steps: 60, last_listings: 100, last_messages: 30, reconciled_days: 30, anomalies: 200 },
    });
    expect(page.words).toContain('The first 20 of 23; these files have all');
    expect(page.words).toContain('The first 200 of 203; these files have all');
    expect(page.words).toMatch(
      /<data value="[0-9.]+"[^>]*>[^<]*<\/data> USD<\/b> more than usual so far: 202 anomalies are open/,
    );
    for (const { all: known, made } of Object.values<{ all: number; made: number }>(file.tables))
      expect(made).toBe(known);
  });

  test('is the same in each format, with the parameters of its address', async () => {
    const path = '/explore?group=resource_name&workspace=south&table=by-resource';
    const rows = (await textOf(`${path}.csv`)).trimEnd().split('\r\n');
    expect(rows[0]).toBe('resource,usd,share_percent,before,change,change_percent,usage,usage_words,usd_per_unit');
    expect(rows).toHaveLength(2);
    const cost = /^secret-box,([0-9.]+),/.exec(rows[1] ?? '')?.[1];
    const file = join(dir, 'rows.parquet');
    await writeFile(file, Buffer.from(await (await ask(`${path}.parquet`)).arrayBuffer()));
    const [row] = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors });
    expect(Number(row?.['usd'])).toBe(Number(cost));
    const workbook = new Uint8Array(await (await ask(`${path}.xlsx`)).arrayBuffer());
    expect(workbook.subarray(0, 2)).toEqual(new TextEncoder().encode('PK'));
  });

  test('is refused where the page has no such table, and where the viewer may not see the page', async () => {
    expect((await ask('/months?table=nothing.csv')).status).toBe(404);
    const north = { token: tokens.NORTH_TOKEN };
    expect((await ask('/months?table=each-month.csv', north)).status).toBe(404);
    expect(await textOf('/explore?group=resource_name&table=by-resource.csv', north)).not.toContain('secret-box');
  });

  test('of savings downloads in each format', async () => {
    for (const format of ['csv', 'xlsx', 'parquet']) expect((await ask(`/savings.${format}`)).status).toBe(200);
  });
});

describe('what changed in the past', () => {
  test('is a sum over all months, and a link to the costs of each day', async () => {
    const text = await textOf('/changes?since=2026-10-01');
    expect(text).toMatch(/changed <b><data value="3\.0{12}"[\s\S]*?2 hours of 2 days in 2 months/);
    expect(text).toContain('<a href="/months/2026-09?since=2026-10-01">2026-09</a>');
    expect(text).toContain('/explore?from=2026-09-26&amp;to=2026-09-26&amp;step=hour&amp;group=resource_name');
    expect(await textOf('/changes?since=2026-10-03')).toMatch(/<b><data value="1\.0{12}"/);
    expect(await textOf('/changes?since=2026-10-04')).toContain('The platform changed nothing of the past');
    expect((await ask('/changes?since=yesterday')).status).toBe(400);
  });

  test('counts an hour once, whatever changed in it', async () => {
    expect(await textOf('/months/2026-10?since=2026-10-01')).toMatch(/<tfoot><tr><td[^>]*>Total<\/td><td[^>]*>1<\/td>/);
  });

  test('says from when on changes are known, if it is asked for changes from before', async () => {
    const unknown = 'Nothing is known of changes before 2026-';
    expect(await textOf('/changes?since=2025-01-01')).toContain(unknown);
    expect(await textOf('/changes?since=2026-10-03')).not.toContain(unknown);
  });

  test('is counted from the last look of this browser, which the browser stores', async () => {
    const at = Date.parse('2026-10-03T00:30:00Z') / 1000;
    const answer = await ask('/', { accept: 'text/html', cookie: `costbook_looked=.${at}` });
    expect(answer.headers.get('set-cookie')).toMatch(new RegExp(`^costbook_looked=${at}\\.\\d+; .*HttpOnly`));
    expect(await answer.text()).toMatch(
      /<dt>Changed in the past[\s\S]*?>\+1\.00<[\s\S]*?since you last looked, 2026-10-03 00:00 UTC/,
    );
  });
});

describe('a view', () => {
  test('gets its name in the browser: a link with everything, and a file for the project', async () => {
    const text = await textOf(
      '/share?of=/explore&group=owner:team&workspace=north&workspace=south&time=30d&from=2026-10-01&called=Teams%20%3Cnow%3E',
    );
    const [, address = ''] = /id="shared" href="([^"]*)"/.exec(text) ?? [];
    expect(address).toBe(
      '/explore?group=owner%3Ateam&amp;workspace=north&amp;workspace=south&amp;range=30d&amp;called=Teams+%3Cnow%3E',
    );
    const shown = await textOf(address.replaceAll('&amp;', '&'));
    expect(shown).toContain('<h1>Teams &lt;now&gt;</h1>');
    const [, encoded = ''] = /download="teams-now.yaml" href="data:[^,]*,([^"]*)"/.exec(text) ?? [];
    await mkdir(join(dir, 'views'), { recursive: true });
    await writeFile(join(dir, 'views', 'teams-now.yaml'), decodeURIComponent(encoded));
    expect(await textOf('/')).toContain('<a href="/views/teams-now">Teams &lt;now&gt;</a>');
    expect((await ask('/views/teams-now')).status).toBe(200);
  });

  test('has a file without the fields of a form that nobody filled in', async () => {
    const text = await textOf('/share?of=/explore&group=workspace&against=&resource_name=&where=&is=&called=Mine');
    expect(text).toContain(
      '<pre>title: &quot;Mine&quot;\npage: /explore\nparameters:\n  group: &quot;workspace&quot;\n</pre>',
    );
    expect(text).not.toContain('role="alert"');
  });

  test('has a file that says what its address says, whatever is in it', () => {
    const query = new URLSearchParams([
      ['label:a"b', strange],
      ['workspace', 'a'],
      ['workspace', 'no: [yaml]'],
      ['top', '7'],
    ]);
    const view = parseView({ text: viewText('/explore', '# a "title"', query), file: 'views/x.yaml' });
    expect([view.title, String(view.query)]).toEqual(['# a "title"', String(query)]);
  });

  test('leads to no other server', async () => {
    const text = await textOf(`/share?${new URLSearchParams({ of: '//evil.example/x', called: 'x' })}`);
    expect(text).not.toMatch(/(href|action)="[^"]*evil/);
  });
});

describe('Explore', () => {
  test('marks what is unusual for the owner of what drives it, and for no other', async () => {
    const asked = '/explore?from=2026-10-01&to=2026-10-03&step=day&group=resource_name';
    for (const [filter, isMarked] of [
      ['', true],
      ['&owner:team=Hidden', true],
      ['&owner:team=Others', false],
      ['&resource_name=secret-box', true],
      ['&resource_name=box', false],
    ] as const)
      expect((await textOf(asked + filter)).includes('Unusual costs that start in this range'), filter).toBe(isMarked);
  });

  test('says that owners have their direct costs, and leads to their shares', async () => {
    const link = '<a href="/allocation?month=2026-10&amp;dimension=team">Allocation</a>';
    expect(await textOf('/explore?group=owner:team')).toContain(link);
    expect(await textOf('/explore?owner:team=Hidden')).toContain(link);
    expect(await textOf('/explore')).not.toContain('direct costs');
  });

  test('has the 7 days of the overview', async () => {
    const span =
      '2026-09-28 00:00 UTC to 2026-10-04 12:00 UTC, compared with 2026-09-21 00:00 UTC to 2026-09-27 12:00 UTC';
    for (const path of ['/', '/explore?range=7d']) expect(await textOf(path)).toContain(span);
  });
});

test('a free allowance that is used up counts as usage among what makes a difference, and a price as price', async () => {
  const text = await textOf('/explore?from=2026-10-01&to=2026-10-03&against=2026-09-25&workspace=north');
  const [, table = ''] = /<caption>What makes the difference<\/caption>([\s\S]*?)<\/table>/.exec(text) ?? [];
  const amountsOf = (name: string) => {
    const [, row = ''] = new RegExp(`>${name}</a>([\\s\\S]*?)</tr>`).exec(table) ?? [];
    return [...row.matchAll(/<data value="([^"]*)"/g)].slice(0, 3).map(([, value]) => Number(value));
  };
  expect(amountsOf('metered')).toEqual([0.65, 0, 0.65]);
  expect(amountsOf('freed')).toEqual([0.8, 0, 0.8]);
  expect(amountsOf('dearer')).toEqual([3, 3, 0]);
});

test('the resources that drive an anomaly and all others add up to it', async () => {
  const text = await textOf(anomalyAddress(anomalyKey));
  const [, table = ''] = /<caption>Driven by<\/caption>([\s\S]*?)<\/table>/.exec(text) ?? [];
  const differences = [...table.matchAll(/<tr><td[^>]*>[\s\S]*?<td class="number"[^>]*><data value="([^"]+)"/g)];
  const [total, ...parts] = differences.map(([, value = '']) => value).reverse();
  expect(parts).toHaveLength(3);
  expect([sumOf(parts), total]).toEqual(['6.000000000001', '6.000000000001']);
});

test('a resource shows its costs by day since its last deployment and since it was created', async () => {
  const page = resourceAddress('sandbox', 'south', 'secret-box');
  const text = await textOf(page);
  for (const link of [
    '<a href="?since=2026-10-01">Since the last deployment',
    '<a href="?since=2026-09-25">Since it was',
  ])
    expect(text).toContain(link);
  expect(text).toContain('<a href="?since=2026-10-01#cost">since then</a>');
  // 84 complete hours from the day of the deployment on.
  expect(await textOf(`${page}?since=2026-10-01`)).toMatch(/<span class="big"><data value="21\.0{12}"/);
  expect((await ask(`${page}?since=2027-01-01`)).status).toBe(400);
});
