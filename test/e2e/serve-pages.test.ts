import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import { sumOf } from '../../src/money/money.ts';
import { anomalyAddress, resourceAddress } from '../../src/text/dashboard-address.ts';
import { figuresOfWorkbook } from '../../src/workbook/index.ts';
import { dashboardBooks, dashboardProject, hostileNames, type Served, serve } from '../support/dashboard.ts';
import { exampleFacts, exampleParts } from '../support/example-alerts.ts';
import { runCli } from '../support/project.ts';

const hostile = hostileNames[0] ?? '';
const strangeNames = [...hostileNames, '..', '-', '~', '*', 'a/b?c#d%2F', ' '];
const dimension = 'sandbox_compute_runtime_gbs';
const anomalyKey = `anomaly/acc_one/${hostile}/2026-10-02`;
const tokens = { ALL_TOKEN: 'all-0123456789abcdefghij', NORTH_TOKEN: 'north-0123456789abcdefgh' };

const budgets = `budgets:
  - name: everything
    period: monthly
    amount: 60 USD
    thresholds: [{ at: 50% }, { at: 100%, of: forecast }]
  - name: southern
    scope: { workspace: [south, ${JSON.stringify(hostile)}] }
    period: monthly
    amount: 10 USD
  - name: shared
    period: monthly
    amount: 80 USD
    scope: { account: acc_one }
    parts: [{ name: south, scope: { workspace: south } }]
`;

const allocation = `rules:
  - name: ${JSON.stringify(`north ${hostile}`)}
    when: { workspace: north }
    owner: { team: ${JSON.stringify(hostile)} }
`;

let dir: string;
let served: Served;

beforeAll(async () => {
  dir = await dashboardProject(
    dashboardBooks({
      allocation,
      costs: strangeNames.slice(hostileNames.length).map((name, index) => ({
        ...{ workspace: 'north', resource_name: name, resource_uuid: `s-${index}` },
        ...{ bucket_start: '2026-10-02 06:00:00', cost: '0.75', usage: '1' },
      })),
      anomalies: [
        {
          anomaly_key: anomalyKey,
          ...{ first_day: '2026-10-02', seen_day: '2026-10-02', last_day: '2026-10-03', notified_day: '2026-10-02' },
          impact: '6.000000000001',
          detail: JSON.stringify({
            ...{ impacts: [3, 3], firstHour: '2026-10-02T05:00:00Z', moved: 'usage' },
            ...{ priceEffect: '1.5', volumeEffect: '4.5' },
            drivers: hostileNames.map((resourceName) => ({
              ...{ resourceName, resourceUuid: null, cost: '1.5', expected: '0', part: 25 },
            })),
          }),
        },
      ],
      alert_feedback: [{ alert_key: anomalyKey, anomaly_key: anomalyKey, largest_cost: '31.000000000001' }],
      forecasts: [
        {
          ...{ budget: 'everything', scope: '{}', period: '2026-10', period_start: '2026-10-01' },
          ...{ period_end: '2026-11-01', complete_through: '2026-10-04 12:00:00', forecast: '333.25' },
          ...{ low: '300', high: '400', amount: '60', exceeds_on: '2026-10-05' },
        },
      ],
      resources: [
        {
          resource_name: 'box',
          labels: JSON.stringify({ [hostile]: hostile }),
          display_name: hostile,
          status: 'STOPPED',
        },
      ],
    }),
  );
  await mkdir(join(dir, 'jobs'), { recursive: true });
  await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budgets);
  await writeFile(
    join(dir, 'sql', 'reports', 'own.sql'),
    '--! about: What did each workspace cost?\n--! grain: workspace\n--! params: workspace text = *\nselect workspace, sum(cost) as cost\nfrom costs\nwhere $workspace is null or workspace = $workspace\ngroup by workspace\n',
  );
  served = await serve(dir);
});

async function rowsOf(sql: string, folder = dir): Promise<Record<string, string>[]> {
  const { stdout, stderr } = await runCli(['sql', '--json', '--dir', folder, sql]);
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { rows: Record<string, string>[] }).rows;
}

/** The exact amounts of a page, in order. */
function amountsOf(text: string): string[] {
  return [...text.matchAll(/<data value="([^"]+)"/g)].map(([, value = '']) => value);
}

test('the overview has a line for each cause of alerts, and all of them with the next step on demand', async () => {
  const { anomaly, budget } = exampleFacts as Record<string, AlertFact>;
  const running = { firstDay: '2026-10-20', lastDay: '2026-10-20', isOver: false, impact: '9', daily: '9' };
  const unusual = [{ key: anomaly?.key, subject: 'x', ...running }];
  const facts = [anomaly, { ...budget, unusual }] as AlertFact[];
  const alerts = facts.map((fact) => ({ alert_key: fact.key, kind: fact.kind, fact: JSON.stringify(fact) }));
  const server = await serve(await dashboardProject(dashboardBooks({ alerts })));
  const [short, all] = [(await server.get('/')).text, (await server.get('/?alerts=all')).text].map((text) =>
    text.slice(text.indexOf('id="alerts"')),
  ) as [string, string];
  expect([short.split('<tr>').length, all.split('<tr>').length]).toEqual([3, 4]);
  expect(short).toContain('and so budget <a href="/budgets/research">research</a>');
  expect(short).toContain('<a href="/?alerts=all#alerts">All 2 alerts with the next step</a>');
  expect([short, all].map((text) => text.includes('Next step'))).toEqual([false, true]);
});

test('the overview says why costs changed: an anomaly with its page, a deployment, or that a resource is new', async () => {
  const own = await dashboardProject(
    dashboardBooks({
      costs: [
        {
          ...{ account: 'acc_two', workspace: 'south', resource_name: 'secret-box', resource_uuid: 'other' },
          ...{ bucket_start: '2026-10-03 05:00:00', cost: '8', usage: '1' },
        },
        { workspace: 'south', resource_name: 'fresh', bucket_start: '2026-10-03 05:00:00', cost: '9', usage: '1' },
      ],
      anomalies: [
        {
          anomaly_key: 'anomaly/acc_one/south/2026-10-01',
          ...{ workspace: 'south', first_day: '2026-10-01', last_day: '2026-10-03', notified_day: '2026-10-02' },
          detail: JSON.stringify({
            impacts: [5],
            drivers: [{ resourceName: 'secret-box', part: 90, cost: '6', expected: '1' }],
          }),
        },
      ],
      resource_events: [
        // A deployment has several events.
        ...['BUILT', 'DEPLOYED'].map((event_type, hour) => ({
          ...{ workspace: 'south', resource_name: 'secret-box', revision: 'rev-1', event_type },
          event_time: `2026-10-01 0${3 + hour}:00:00`,
        })),
      ],
      allocation: `dimensions: [team]
rules:
  - { name: fresh, when: { resource_name: fresh }, owner: { team: Reds } }
  - { name: north, when: { workspace: north }, split: { by: cost, over: [team] } }
  - { name: south, when: { workspace: south }, owner: { team: Blues } }
`,
    }),
  );
  const server = await serve(own);
  const get = async (path: string) => (await server.get(path)).text.replaceAll(/\s+/g, ' ');
  const text = await get('/');
  expect(text).toMatch(
    /secret-box<\/a>(?:(?!<\/tr>).)*unusual since 2026-10-01<\/a>; deployed or changed 2026-10-01 04:00/,
  );
  // Not that of a resource of the same name in another account.
  expect(text.match(/unusual since/g)).toHaveLength(1);
  expect(text).toMatch(/fresh<\/a>(?:(?!<\/tr>).)*<td class="number"[^>]*>new<\/td><td[^>]*>new<\/td>/);
  expect(text.indexOf('Biggest changes')).toBeLessThan(text.indexOf('Open alerts'));
  // Groups have the sums of Explore, and the resource that changed most in each.
  const changesOf = async (by: string) => {
    const [, section = ''] = /id="changes">(.*?)<\/section>/.exec(await get(`/?changes=${by}`)) ?? [];
    return section.split('<tr>').slice(2);
  };
  const sums = await rowsOf(
    `select sum(cost) filter (bucket_start >= '2026-09-28') as cost from costs
    where (bucket_start >= '2026-09-21' and bucket_start < '2026-09-27 12:00')
      or (bucket_start >= '2026-09-28' and bucket_start < '2026-10-04 12:00') group by workspace
    order by abs(sum(case when bucket_start >= '2026-09-28' then cost else -cost end)) desc`,
    own,
  );
  const workspaces = await changesOf('workspace');
  expect(workspaces.map((row) => row.match(/<data value="[^"]*"/g)?.[0])).toEqual(
    sums.map(({ cost }) => `<data value="${cost}"`),
  );
  expect(workspaces[0]).toMatch(/workspace=south.*secret-box<\/a>.*; <a href="[^"]*">unusual since 2026-10-01/);
  const owners = await changesOf('owner');
  expect(owners.map((row) => />([^<]*)<\/a><\/td>/.exec(row)?.[1]).toSorted()).toEqual([
    'Blues',
    'Reds',
    'shared costs',
  ]);
  expect(owners.find((row) => row.includes('Reds'))).toMatch(/owner%3Ateam=Reds.*fresh<\/a>.*; new/);
});

const october = "bucket_start >= '2026-10-01'";

test('the overview says which hours its two amounts of a month have, where a budget has incomplete ones too', async () => {
  const own = await dashboardProject(
    dashboardBooks({
      costs: [{ workspace: 'north', bucket_start: '2026-10-04 12:00:00', cost: '0.75', usage: '1' }],
      covered: [{ window_start: '2026-09-01', window_end: '2026-10-04 13:00:00', claimed_end: '2026-10-04 12:00:00' }],
    }),
  );
  await mkdir(join(own, 'jobs'), { recursive: true });
  await writeFile(join(own, 'jobs', 'budgets.yaml'), budgets);
  const { text } = await (await serve(own)).get('/');
  expect(text).toContain('October 2026 so far, complete hours');
  const [, soFar] = /value="([^"]+)"[^>]*data-figure="month_cost_complete"/.exec(text) ?? [];
  expect(text).toMatch(/>0\.75<\/data> in incomplete hours/);
  const all = sumOf([soFar ?? '', '0.75']);
  expect(text).toContain(`<data value="${all}"`);
  expect(text).toMatch(/data-figure="month_cost" data-of="2026-10">[^<]*<\/data> with incomplete hours/);
});

describe('the page of budgets', () => {
  test('shows what costbook sql returns, most urgent first', async () => {
    const [spent] = await rowsOf(`select sum(cost) as cost from costs where ${october}`);
    const [south] = await rowsOf(`select sum(cost) as cost from costs where ${october} and workspace = 'south'`);
    const { status, text } = await served.get('/budgets');
    expect(status).toBe(200);
    const amounts = amountsOf(text);
    expect(amounts).toContain(spent?.['cost']);
    expect(amounts).toContain('333.250000000000');
    expect(text.indexOf('/budgets/southern')).toBeLessThan(text.indexOf('/budgets/everything'));
    expect(text).toContain('exceeded');
    const own = await served.get('/budgets/southern');
    expect(own.status).toBe(200);
    expect(amountsOf(own.text)[0]).toBe(south?.['cost']);
    expect(own.text).toContain('<svg');
    // What 27.5 days have to cost less, and what the whole month before did cost.
    const everything = (await served.get('/budgets/everything')).text;
    expect(everything).toMatch(/To end within the budget, save <b><data value="9.936363636364"/);
    const [september] = await rowsOf("select sum(cost) as cost from costs where bucket_start < '2026-10-01'");
    const past = everything.slice(everything.indexOf('1 period before'));
    expect(past).toContain('>2026-09<');
    expect(amountsOf(past).slice(0, 2)).toEqual([september?.['cost'], '60.000000000000']);
  });

  test('shows the parts of a shared budget and what is in none of them, which add up to its spend', async () => {
    const { status, text } = await served.get('/budgets/shared');
    expect(status).toBe(200);
    const parts = text.slice(text.indexOf('Parts of this budget'));
    const [south] = await rowsOf(`select sum(cost) as cost from costs where ${october} and workspace = 'south'`);
    const [others] = await rowsOf(
      `select sum(cost) as cost from costs where ${october} and workspace is distinct from 'south'`,
    );
    expect(amountsOf(parts).slice(0, 2)).toEqual([south?.['cost'], others?.['cost']]);
    expect(parts).toContain('Others');
  });

  test('back-tests a range of days', async () => {
    const { status, text } = await served.get('/budgets/everything?backtest=30');
    expect(status).toBe(200);
    expect(text).toContain('It would have fired');
    const { stdout } = await runCli([
      ...['budgets', 'backtest', 'everything', '--lookback', '30d', '--json', '--dir', dir],
      ...['--now', '2026-10-04T15:00:00Z'],
    ]);
    const { periods } = JSON.parse(stdout) as { periods: { spent: string }[] };
    expect(periods.length).toBeGreaterThan(0);
    for (const { spent } of periods) expect(amountsOf(text)).toContain(spent);
  });

  test('says what was expected', async () => {
    const range = await served.get('/budgets/everything?backtest=many');
    expect(range.status).toBe(400);
    expect(range.text).toContain('expected a number of days from 1 to 400');
    const unknown = await served.get('/budgets/everythin');
    expect(unknown.status).toBe(404);
    expect(unknown.text).toContain('/budgets/everything');
    expect((await served.get('/budgets/%E0%A4%A')).status).toBe(404);
  });
});

/** What a person can do with a chart: exact values by series, and the page of each place on its axis. */
function actionsOf(text: string, chart: string) {
  const [, found = ''] = new RegExp(`id="${chart}-actions">(.*?)</script>`).exec(text) ?? [];
  return JSON.parse(found) as {
    texts: Record<string, (string | null)[]>;
    pages: (string | null)[];
    markPages?: Record<string, string[]>;
    names: string[];
  };
}

/** The addresses of all links of a page. */
function linksOf(text: string): string[] {
  return [...text.matchAll(/<a href="([^"]+)"/g)].map(([, address = '']) => address.replaceAll('&amp;', '&'));
}

describe('a chart', () => {
  const query = 'select usage_date, workspace, sum(cost) as cost from costs_daily group by all';
  const charts = [
    { path: '/', chart: 'month', last: "'2026-10-04'", cost: "bucket_start < '2026-10-05'" },
    { path: '/budgets/everything', chart: 'burn-up', last: "'2026-10-04'", cost: "bucket_start < '2026-10-05'" },
    { path: '/months', chart: 'months', last: "'2026-10-01'", cost: october },
    { path: '/allocation', chart: 'owners', last: "'2026-10-01'", cost: "workspace = 'north'" },
    {
      path: `/sql?${new URLSearchParams({ q: query })}`,
      chart: 'answer',
      last: "'2026-10-04'",
      cost: "workspace = 'south'",
    },
  ];
  test.each(charts)('of $path has the exact amounts of costbook sql', async ({ path, chart, cost, last }) => {
    const { texts } = actionsOf((await served.get(path)).text, chart);
    const since = chart === 'answer' ? last : "'2026-10-01'";
    const [row] = await rowsOf(`select sum(cost) as cost from costs where bucket_start >= ${since} and ${cost}`);
    expect(Object.values(texts).flat()).toContain(row?.['cost']);
  });

  test.each([...charts, { path: anomalyAddress(anomalyKey), chart: 'band' }])(
    'of $path leads to pages that plain links lead to as well',
    async ({ path, chart }) => {
      const { text } = await served.get(path);
      const { pages, markPages = {} } = actionsOf(text, chart);
      const targets = new Set([...pages, ...Object.values(markPages).flat()].filter((page) => page !== null));
      expect(targets.size).toBeGreaterThan(0);
      expect(linksOf(text)).toEqual(expect.arrayContaining([...targets]));
      for (const target of [...targets].slice(-2)) expect((await served.get(target)).status).toBe(200);
    },
  );

  // One counts all costs, the other those of two workspaces.
  test.each(['everything', 'southern'])(
    'of the budget %s leads from a day to exactly what the budget counts on that day',
    async (budget) => {
      const { text } = await served.get(`/budgets/${budget}`);
      const { pages, texts, names } = actionsOf(text, 'burn-up');
      const place = names.indexOf('2026-10-01');
      expect(amountsOf((await served.get(pages[place] ?? '')).text)).toContain(texts['spent']?.[place]);
    },
  );
});

describe('the page of anomalies', () => {
  test('shows the impact, its days, who drives it and what changed', async () => {
    const [row] = await rowsOf('select impact, price_effect, volume_effect from anomalies');
    const list = await served.get('/anomalies');
    expect(amountsOf(list.text)).toContain(row?.['impact']);
    const detail = await served.get(anomalyAddress(anomalyKey));
    expect(detail.status).toBe(200);
    for (const amount of Object.values(row ?? {})) expect(amountsOf(detail.text)).toContain(amount);
    expect(detail.text).toContain('usual range');
    expect(detail.text).toContain('Somebody called it expected on 2026-09-08 09:00 UTC, for days from 2026-09-08 on.');
    for (const amount of ['37.200000000002', '31.000000000001']) expect(amountsOf(detail.text)).toContain(amount);
    expect(detail.text).toContain('--as none');
    expect((await served.get('/anomalies/none')).status).toBe(404);
  });

  test('of an alert of two parts names both with their amounts of today, which add up to its total', async () => {
    const [runtime, egress] = exampleParts.parts ?? [];
    if (runtime === undefined || egress === undefined) throw new Error('the example has two parts');
    const found = (key: string, billing_dimension: string | null, impact: string) => ({
      ...{ anomaly_key: key, account: 'acc_one', billing_dimension, impact },
      ...{
        workspace: 'customer-demos',
        resource_type: 'agent',
        detail: JSON.stringify({ impacts: [Number(impact)], drivers: [] }),
      },
      ...{ first_day: '2026-10-02', seen_day: '2026-10-02', last_day: '2026-10-02', notified_day: '2026-10-02' },
    });
    const merged = await dashboardProject(
      dashboardBooks({
        anomalies: [
          found(runtime.key, runtime.billingDimension, '7.250000000001'),
          found(egress.key, egress.billingDimension, '2.500000000000'),
        ],
        alerts: [{ alert_key: exampleParts.key, kind: 'anomaly', fact: JSON.stringify(exampleParts) }],
      }),
    );
    const { text } = await (await serve(merged)).get(anomalyAddress(exampleParts.key));
    const parts = text.slice(
      text.indexOf('Parts of one cause'),
      text.indexOf('</section>', text.indexOf('Parts of one')),
    );
    expect(amountsOf(parts)).toEqual(['7.250000000001', '2.500000000000', '9.750000000001']);
    for (const { key } of [runtime, egress]) expect(parts).toContain(anomalyAddress(key));
  });
});

test('an exclusion is shown with its reason wherever it acts, and named once it has ended', async () => {
  const excluded = { until: '2026-12-31', reason: 'tests of <the> launch' };
  const own = await dashboardProject(
    dashboardBooks({
      anomalies: [
        {
          ...{ anomaly_key: 'anomaly/acc_one/south/2026-10-01', workspace: 'south' },
          ...{ first_day: '2026-10-01', last_day: '2026-10-03', notified_day: '2026-10-02' },
          detail: JSON.stringify({
            impacts: [3, 3, 3],
            firstHour: null,
            pace: null,
            moved: null,
            drivers: [],
            excluded,
          }),
        },
      ],
    }),
  );
  await mkdir(join(own, 'jobs'), { recursive: true });
  await writeFile(
    join(own, 'jobs', 'budgets.yaml'),
    `${budgets}anomalies:
  exclude:
    - { scope: { workspace: south }, until: 2026-12-31, reason: tests of <the> launch }
    - { scope: { label: { env: drill } }, until: 2026-09-30, reason: drills of September }
`,
  );
  const page = (await (await serve(own)).get('/anomalies')).text;
  expect(page).toContain('1 anomaly is open, 1 of them excluded from alerts.');
  expect(page).toContain('Excluded from alerts: tests of &lt;the&gt; launch');
  const ended = 'label env drill, ended on 2026-09-30: drills of September';
  expect(page).toContain(ended);
  const listed = await runCli(['anomalies', '--dir', own]);
  expect(listed.stdout).toContain('Excluded through 2026-12-31: tests of <the> launch');
  expect(listed.stdout).toContain(ended);
  expect(JSON.parse((await runCli(['anomalies', '--dir', own, '--json'])).stdout)).toMatchObject({
    anomalies: [{ isOver: false, excluded }],
    exclusions: [
      { scope: { workspace: ['south'] }, ...excluded, hasExpired: false },
      { until: '2026-09-30', hasExpired: true },
    ],
  });
  const { stdout } = await runCli(['doctor', '--offline', '--dir', own]);
  expect(stdout).toContain('OK    jobs: 1 exclusion from alerts about anomalies acts');
  expect(stdout).toContain(`WARN  jobs: exclusion from alerts about anomalies: ${ended}`);
});

describe('the page of allocation', () => {
  test('shows what each owner costs, and what has no owner', async () => {
    const owners = await rowsOf(
      `select team, sum(cost) as cost from costs_allocated where ${october} group by team order by cost desc`,
    );
    const { status, text } = await served.get('/allocation');
    expect(status).toBe(200);
    expect(owners.length).toBe(2);
    for (const { cost } of owners) expect(amountsOf(text)).toContain(cost);
  });

  test('names who mounts each volume, and who pays for it', async () => {
    const mounter = { workspace: 'lab', resource_type: 'agent', resource_name: 'mounter', volumes: '["disk"]' };
    const books = dashboardBooks({
      allocation: 'rules: [{ name: label, owner: { team: { label: team } } }]',
      costs: ['disk', 'free'].map((name) => ({
        ...{ workspace: 'lab', resource_type: 'volume', resource_name: name, resource_uuid: null },
        ...{ billing_dimension: 'volume_storage_gbs', bucket_start: '2026-10-02 06:00:00', cost: '0.50', usage: '1' },
      })),
      resources: [{ ...mounter, labels: '{"team":"Ada"}' }],
    });
    const { text } = await (await serve(await dashboardProject(books))).get('/allocation?month=2026-10');
    const rows = [...text.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) =>
      row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '),
    );
    expect(rows).toContainEqual(
      expect.stringMatching(/ disk lab .*0\.50 .*agent mounter .*Ada .*its mounts \(label\)/),
    );
    expect(rows).toContainEqual(expect.stringMatching(/ free lab .*0\.50 .*nobody .*nobody .*default/));
  });

  test('says of a closed month that was restated what it cost, what it billed and what later months bill', async () => {
    const hour = {
      resource_name: 'late',
      resource_uuid: 'late-1',
      bucket_start: '2026-09-20 05:00:00',
      load_number: 2,
    };
    const seen = { old_usage: '1', new_usage: '1', seen_at: '2026-10-03 01:00:00', old_load_number: 1 };
    const books = dashboardBooks({
      closes: [{ billing_month: '2026-09-01', closed_at: '2026-10-02 02:00:00', load_number: 1, cost: '70' }],
      costs: [{ ...hour, cost: '12', usage: '1' }],
      restatements: [
        { ...hour, ...seen, old_cost: '4', new_cost: '12' },
        { ...hour, ...seen, bucket_start: '2026-10-01 05:00:00', old_cost: '3', new_cost: null, new_usage: null },
      ],
    });
    const server = await serve(await dashboardProject(books));
    const { text } = await server.get('/allocation?month=2026-09');
    const [note] = /<div class="note">current costs.*?<\/div>/s.exec(text) ?? [''];
    expect(note.replaceAll(/<[^>]*>/g, '')).toBe(
      'current costs, with +8.00 USD that were seen after the close and that later months bill; ' +
        'the month was closed at 2026-10-02 02:00 UTC and bills 73.00 USD',
    );
    expect(text).not.toContain('&lt;data');
    // By owner, it billed what its statement says: the costs here have today's rules and shares.
    expect(text).not.toMatch(/Billed( later)?<\/th>/);
    expect(text).toContain('/months/2026-09');

    // A row that is gone was restated to nothing.
    const months = (await server.get('/months')).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(months).toContain(' 2026-10 37.50 open not compared -3.00 none ');
  });

  test('says what was expected', async () => {
    const { status, text } = await served.get('/allocation?month=2020-01&dimension=price');
    expect(status).toBe(400);
    expect(text).toContain('month: expected a month from 2026-09 through 2026-10');
    expect(text).toContain('dimension: expected one of');
  });
});

describe('the page of a month', () => {
  const hour = { bucket_start: '2026-09-28 05:00:00', resource_name: 'box' };
  const books = dashboardBooks({
    closes: [
      {
        ...{ billing_month: '2026-09-01', closed_at: '2026-10-02 02:00:00', load_number: 1, row_count: 505 },
        ...{ cost: '73.000000000264', invoiced: '70', sha256: 'c0ffee'.repeat(10) },
      },
    ],
    costs: [{ ...hour, cost: '12', usage: '1' }],
    restatements: [{ ...hour, old_cost: '4', new_cost: '12', seen_at: '2026-10-03 01:00:00' }],
  });
  const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  let server: Served;
  beforeAll(async () => {
    server = await serve(await dashboardProject(books));
  });

  test('says what it bills, as invoiced, and each correction that a later month bills', async () => {
    const page = (await server.get('/months/2026-09')).text;
    const text = textOf(page);
    expect(text).toContain('2026-09 bills 70.00 USD , as invoiced. It is closed, as of 2026-10-02 02:00 UTC');
    expect(text).toContain(
      'Corrections of it that later months bill Billed in Resource Hours USD 2026-10 box north 1 +8.00',
    );
    expect(text).toContain('What the platform changed since its close Resource Hours USD Last seen box north 1 +8.00');
    expect(page).toContain('c0ffee');
    const next = textOf((await server.get('/months/2026-10')).text);
    expect(next).toMatch(/2026-10 bills [\d.]+ USD so far\. It is open: complete through 2026-10-04 12:00 UTC\./);
    expect(next).toContain(
      'Corrections of earlier months that it bills Of Resource Hours USD 2026-09 box north 1 +8.00',
    );
  });

  test('shows the changes since a day, none as none, and says what day it expects', async () => {
    expect(textOf((await server.get('/months/2026-09?since=2026-10-03')).text)).toContain('since 2026-10-03 Resource');
    expect(textOf((await server.get('/months/2026-09?since=2026-10-04')).text)).toContain('since 2026-10-04 None.');
    // Nothing that the platform changed before the first load was seen.
    const before = textOf((await server.get('/months/2026-09?since=2026-08-20')).text);
    expect(before).toContain('Nothing is known of changes before 2026-09-08 01:00 UTC');
    expect(textOf((await server.get('/months/2026-09?since=2026-10-03')).text)).not.toContain('Nothing is known');
    const { text } = await server.get('/months/2026-09?since=<img>');
    expect(textOf(text)).toContain('since its close Resource');
    expect(text).toContain('Expected a day such as');
    for (const path of ['/months/2020-01', '/months/October', '/months/2026-09/x', '/months/%00'])
      expect((await server.get(path)).status, path).toBe(404);
  });

  test('opens its statement in the browser, where it can run and load nothing', async () => {
    const made = await runCli(['statement', '--month', '2026-10', '--dir', dir, '--now', '2026-10-04T15:00:00Z']);
    expect(made.exitCode, made.stderr).toBe(0);
    // A page reads some hundreds of manifests at most: those of other months do not count.
    const others = Array.from({ length: 301 }, (_, n) => join(dir, 'exports', `z${n}`, 'BILLING_PERIOD=2026-09'));
    for (const folder of others) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, '_manifest'), '{}');
    }
    const { text } = await served.get('/months/2026-10');
    for (const folder of others) await rm(dirname(folder), { recursive: true });
    const [, link = ''] = /<a href="(\/exports\?[^"]+&amp;open=1)">/.exec(text) ?? [];
    const answer = await fetch(`${served.url}${link.replaceAll('&amp;', '&')}`);
    expect(answer.headers.get('content-disposition')).toMatch(/^inline/);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*; sandbox$/);
    expect(await answer.text()).toContain('Statement for October 2026');
    const saved = await fetch(`${served.url}${link.replaceAll('&amp;', '&').replace('&open=1', '')}`);
    expect(saved.headers.get('content-disposition')).toMatch(/^attachment/);
  });
});

describe('the page of a resource', () => {
  test('shows its cost by dimension, its states and its owner', async () => {
    const [row] = await rowsOf("select sum(cost) as cost from costs where resource_name = 'box'");
    const { status, text } = await served.get(resourceAddress('sandbox', 'north', 'box'));
    expect(status).toBe(200);
    expect(amountsOf(text)[0]).toBe(row?.['cost']);
    for (const words of [dimension, 'STOPPED', 'north &lt;img']) expect(text).toContain(words);
  });

  test('exists for names that an address cannot hold as they are', async () => {
    for (const name of strangeNames) {
      const address = resourceAddress('sandbox', 'north', name);
      expect(address.length).toBeLessThan(2000);
      const { status, text } = await served.get(address);
      expect(status, address).toBe(200);
      expect(amountsOf(text)[0], address).toBe(hostileNames.includes(name) ? '1.500000000000' : '0.750000000000');
    }
  });

  test('is found by its name alone', async () => {
    const { text } = await served.get('/resource/*/*/box');
    expect(text).toContain('STOPPED');
  });

  test('shows sizes, what a volume is attached to, people, images, and what executions explain of a job', async () => {
    const lab = { workspace: 'lab', resource_name: 'etl', resource_uuid: null, bucket_start: '2026-10-02 06:00:00' };
    const job = { ...lab, resource_type: 'job', billing_dimension: 'job_compute_runtime_gbs', cost: '1', usage: '100' };
    const disk = { workspace: 'lab', resource_type: 'volume', resource_name: 'disk', resource_uuid: null };
    const small = { ...disk, size_bytes: '2000000000', created_by: 'u-1', valid_to: '2026-09-05' };
    const [of, storage] = [
      ['disk', 'free'],
      { ...lab, resource_type: 'volume', billing_dimension: 'volume_storage_gbs' },
    ];
    const books = dashboardBooks({
      costs: [job, ...of.map((resource_name) => ({ ...storage, resource_name, cost: '0.50', usage: '1' }))],
      job_executions: [{ workspace: 'lab', resource_name: 'etl', task_usage: '90' }],
      listings: [{ resource_type: 'volume', resources: 1 }],
      resources: [
        small,
        { ...small, size_bytes: '3000000000', attached_to: 'agent:a', valid_from: '2026-09-05', valid_to: null },
        { workspace: 'lab', resource_type: 'user', resource_name: 'u-1', display_name: 'Ana Ferreira' },
        { workspace: 'lab', resource_type: 'image', resource_name: 'job/etl', size_bytes: '6000000000' },
      ],
    });
    const server = await serve(await dashboardProject(books));
    const words = async (path: string) =>
      (await server.get(path)).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    const volume = await words(resourceAddress('volume', 'lab', 'disk'));
    expect(volume).toContain('attached to none → agent:a; size 2.0 GB → 3.0 GB');
    expect(volume).toContain('Ana Ferreira');
    const page = await words(resourceAddress('job', 'lab', 'etl'));
    expect(page).toContain(' image job/etl 6.0 GB ');
    expect(page).toContain(' 2026-10-02 1 1 90 100 10 ');
    expect(await words('/allocation?month=2026-10')).toContain('no listing ever showed cost: lab 0.50 USD.');
  });

  test('says so when there is none', async () => {
    expect((await served.get('/resource/sandbox/north/none')).status).toBe(404);
    expect((await served.get('/resource/sandbox')).status).toBe(404);
    expect((await served.get(`${resourceAddress('sandbox', 'north', 'box')}?range=5y`)).status).toBe(400);
  });
});

describe('the page of reports', () => {
  test('lists every report, and answers as costbook report does', async () => {
    const list = await served.get('/reports');
    for (const name of ['summary', 'idle', 'own']) expect(list.text).toContain(`/reports/${name}"`);
    const titles = [...list.text.matchAll(/<caption>([^<]*)/g)].map(([, title]) => title);
    expect(titles.slice(0, 4)).toEqual(['For finance', 'For teams', 'For checking', 'Of this project']);
    const shown = await served.get('/reports/own?workspace=south');
    const { stdout } = await runCli(['report', 'own', '--param', 'workspace=south', '--json', '--dir', dir]);
    const { rows } = JSON.parse(stdout) as { rows: { cost: string }[] };
    expect(shown.status).toBe(200);
    expect(amountsOf(shown.text)).toContain(rows[0]?.cost);
    const files = await served.get('/reports/own');
    expect(files.text).toContain('.parquet');
  });

  test('are laid out as on a terminal: what is important first, what all rows have in common once, sums below', async () => {
    const { text } = await served.get('/reports/cost_by_workspace?month=2026-10');
    const [, facts = '', heads = '', foot = ''] =
      /<span class="facts">(.*?)<\/caption>(.*?)<\/thead>.*<tfoot>(.*?)<\/tfoot>/s.exec(text) ?? [];
    const plain = (markup: string) =>
      markup
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
    expect(plain(facts)).toContain('month 2026-10 ');
    expect(plain(heads)).toMatch(/^workspace cost /);
    const { stdout } = await runCli(['report', 'cost_by_workspace', '--month', '2026-10', '--json', '--dir', dir]);
    const { rows } = JSON.parse(stdout) as { rows: { cost: string }[] };
    expect(amountsOf(foot)).toEqual([sumOf(rows.map(({ cost }) => cost))]);
    expect(foot).toContain('data-figure="month_cost" data-of="2026-10"');
    const sql = 'select 1234567 + range as whole, 0.00012345 * (range + 1) as small from range(2)';
    const typed = await served.get(`/sql?${new URLSearchParams({ q: sql })}`);
    expect(plain(typed.text)).toContain('1,234,567 0.000123 1,234,568 0.000247');
  });

  test('are sorted by any column over all rows, on pages and in files, and by a link in its head', async () => {
    const rowsIn = (text: string) =>
      [...text.matchAll(/<tr><td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, ''));
    const sorted = await served.get('/reports/own?sort=-workspace');
    expect(rowsIn(sorted.text).slice(0, 2)).toEqual(['south', 'north']);
    expect(sorted.text).toContain('aria-sort="descending"><a href="/reports/own?sort=workspace"');
    expect((await served.get('/reports.csv/own?sort=-workspace')).text).toMatch(
      /^workspace,cost\r\nsouth,.*\r\nnorth,/,
    );
    // The smallest of more rows than a page has, by a column whose name has to be quoted.
    const sql = 'select 1000 - range as "a ""b" from range(1000)';
    const smallest = await served.get(`/sql?${new URLSearchParams({ q: sql, sort: 'a "b' })}`);
    expect(rowsIn(smallest.text)[0]).toBe('1');
    for (const [query, sort] of [
      ['explain select 1 as a', 'a'],
      ['select 1 as a', 'b; drop table x'],
    ] as const)
      expect((await served.get(`/sql?${new URLSearchParams({ q: query, sort })}`)).status).toBe(200);
    const explored = await served.get('/explore?group=workspace&sort=-name');
    expect(rowsIn(explored.text.split('<caption>By workspace')[1] ?? '').slice(0, 2)).toEqual(['south', 'north']);
  });

  test('says what was expected', async () => {
    for (const [path, words] of [
      ['/reports/own?workspce=south', 'expected one of workspace'],
      ['/reports/own?workspace=west', 'west'],
      ['/reports/cost_by_workspace?month=October', 'expected a month'],
    ] as const) {
      const { status, text } = await served.get(path);
      expect(status).toBe(400);
      expect(text).toContain(words);
    }
    expect((await served.get('/reports/none')).status).toBe(404);
    expect((await served.get('/reports/unit_economics?metric=costbook.yaml')).text).toContain('which no page reads');
  });
});

describe('the files of a report', () => {
  /** The links of the files on the page of a report. */
  const linksOf = async (report: string) => {
    const { text } = await served.get(`/reports/${report}`);
    return [...text.matchAll(/<a href="(\/exports\?[^"]+)" download/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
  };
  const address = (folder: string, file: string) => `/exports?${new URLSearchParams({ folder, file })}`;
  const manifestOf = async (folder: string) => {
    const text = await readFile(join(dir, 'exports', folder, '_manifest'), 'utf8');
    return JSON.parse(text) as { files: { name: string; sha256: string; bytes: number }[] };
  };

  test('are listed with their hashes, and download as they are', async () => {
    await runCli(['report', 'own', '--dir', dir]);
    await runCli(['report', 'cost_by_workspace', '--param', 'month=2026-10', '--format', 'csv', '--dir', dir]);
    const { files } = await manifestOf('own');
    const links = await linksOf('own');
    expect(links).toContain(address('own', files[0]?.name ?? ''));
    const { text } = await served.get('/reports/own');
    for (const { sha256 } of files) expect(text).toContain(`title="${sha256}"`);
    const answer = await fetch(`${served.url}${address('own', files[0]?.name ?? '')}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="own.csv"`);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(files[0]?.sha256);
    const [monthly = ''] = await linksOf('cost_by_workspace');
    expect(monthly).toContain('BILLING_PERIOD');
    expect((await served.get(monthly)).status).toBe(200);
    const head = await fetch(`${served.url}${address('own', files[0]?.name ?? '')}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(files[0]?.bytes)]);
    // Only the page of a statement is shown, not data that somebody else may have written.
    const opened = await fetch(`${served.url}${address('own', files[0]?.name ?? '')}&open=1`);
    expect(opened.headers.get('content-disposition')).toMatch(/^attachment/);
  });

  test('cannot be left by dots, links, or names that no manifest has', async () => {
    await runCli(['report', 'own', '--dir', dir]);
    const { files } = await manifestOf('own');
    const [{ name = '' } = {}] = files;
    const exports = join(dir, 'exports');
    await writeFile(join(exports, 'own', 'other.csv'), 'secret');
    // A manifest that names files outside, as somebody else may have written it.
    await mkdir(join(exports, 'evil'), { recursive: true });
    await writeFile(join(exports, 'evil', 'secret.txt'), 'secret');
    await symlink(join(dir, 'costbook.yaml'), join(exports, 'evil', 'link.csv')).catch(() => undefined);
    await symlink(join(exports, 'own'), join(exports, 'linked')).catch(() => undefined);
    await writeFile(join(dir, 'secret.csv'), 'secret');
    const stored = JSON.parse(await readFile(join(exports, 'own', '_manifest'), 'utf8')) as Record<string, unknown>;
    const evil = ['../../secret.csv', 'link.csv', '/etc/passwd', '.', 'folder'].map((file) => ({
      ...{ name: file, format: 'csv', bytes: 6, sha256: 'x', rows: 0, cost: null },
    }));
    await mkdir(join(exports, 'evil', 'folder'), { recursive: true });
    await writeFile(join(exports, 'evil', '_manifest'), JSON.stringify({ ...stored, files: evil }));
    for (const [folder, file] of [
      ...evil.map((each) => ['evil', each.name] as const),
      ['evil', 'secret.txt'],
      ['own', 'other.csv'],
      ['own', '_manifest'],
      ['linked', name],
      ['../exports/own', name],
      ['own/', name],
      ['./own', name],
      ['own', `./${name}`],
      ['own', `..%2fown%2f${name}`],
      ['', name],
      ['own', ''],
      ['own\0', name],
    ] as const) {
      const { status, text } = await served.get(address(folder, file));
      expect(status, `${folder} ${file}`).toBe(404);
      expect(text).not.toContain('secret');
    }
    expect((await served.get('/exports')).status).toBe(404);
    expect((await served.get(address('own', name))).status).toBe(200);
  });
});

describe('the page of SQL', () => {
  const path = (sql: string) => `/sql?${new URLSearchParams({ q: sql })}`;

  test('answers as costbook sql does, with a chart', async () => {
    const sql = 'select workspace, sum(cost) as cost from costs group by all order by all';
    const rows = await rowsOf(sql);
    const { status, text } = await served.get(path(sql));
    expect(status).toBe(200);
    expect(amountsOf(text)).toEqual(rows.map(({ cost }) => cost));
    expect(text).toContain('<svg');
    expect(text).toContain('costs_daily');
  });

  test('has all rows as CSV, as costbook sql and costbook report write them, for those who may open the page', async () => {
    const sql = `select bucket_start, workspace, cost, '=1+1' as "=f", [1, 2] as list, null as none from costs order by all limit 501`;
    const fileOf = (query: string) => served.get(`/sql.csv?${new URLSearchParams({ q: query })}`);
    const { status, text, headers } = await fileOf(sql);
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="answer.csv"']);
    expect((await served.get(path(sql))).text).toContain('href="/sql.csv?q=select+bucket_start');
    expect(text).toBe((await runCli(['sql', '--format', 'csv', '--dir', dir, sql])).stdout);
    for (const [wrong, words] of [
      ['select nope from costs', 'nope'],
      ['select range from range(5001)', 'more than 5000 rows'],
      ["select * from read_csv('/etc/passwd')", 'read_csv'],
      ['select * from duckdb_settings()', 'duckdb_settings'],
    ] as const) {
      const refused = await fileOf(wrong);
      expect([refused.status, refused.text.includes(words)], wrong).toEqual([400, true]);
    }
    const typed = `select timestamp '2026-10-01 05:00' as at, date '2026-10-02' as day, 0.123456789012::decimal(38,12) as cost, 12345678901234567890::hugeint as n, [1, 2] as list, {'a': 'x"y'} as s, null as none, 1e-7 as d, '=1+1' as f`;
    const bytes = async (format: string, name: string) => {
      const answer = await fetch(`${served.url}/sql.${format}?${new URLSearchParams({ q: typed })}`);
      expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
        200,
        `attachment; filename="answer.${format}"`,
      ]);
      await writeFile(join(dir, name), Buffer.from(await answer.arrayBuffer()));
    };
    await bytes('parquet', 'asked.parquet');
    await runCli(['sql', '--out', join(dir, 'told.parquet'), '--dir', dir, typed]);
    const [asked, told] = await Promise.all(
      ['asked', 'told'].map(async (name) =>
        parquetReadObjects({ file: await asyncBufferFromFile(join(dir, `${name}.parquet`)), compressors }),
      ),
    );
    expect(asked).toEqual(told);
    await bytes('xlsx', 'asked.xlsx');
    expect(await figuresOfWorkbook(join(dir, 'asked.xlsx'), 12)).toEqual({ rows: 1, cost: '0.123456789012' });
    const report = await served.get('/reports.csv/cost_by_workspace?month=2026-10');
    const rows = report.text.trim().split('\r\n');
    expect(rows[0]).toContain('workspace');
    expect(rows.slice(1).some((row) => row.includes('north'))).toBe(true);
    for (const wrong of ['/reports.csv/none', '/reports.csv/cost_by_workspace?moth=2026-10', '/reports.csv'])
      expect((await served.get(wrong)).status).toBe(400);
  });

  test('shows the first rows and says that more exist', async () => {
    const { text } = await served.get(path('select range as number from range(501)'));
    expect(text).toContain('the first 500 rows; more rows exist');
    expect(text).not.toContain('>500</td>');
  });

  test('refuses an answer of more than 8 MB', async () => {
    const { status, text } = await served.get(path("select repeat('x', 100000) as long from range(90)"));
    expect(status).toBe(400);
    expect(text).toContain('larger than 8 MB');
  });

  test('shows the beginning of an error that a query makes as long as it likes', async () => {
    const { status, text } = await served.get(path("select error(repeat('x', 20000000))"));
    expect(status).toBe(400);
    expect(text.length).toBeLessThan(200_000);
  });

  test('says what is wrong in DuckDB’s words, and reaches no file', async () => {
    const wrong = await served.get(path('select nope from costs'));
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('Binder Error');
    for (const sql of ["select * from read_text('/etc/passwd')", 'create table x as select 1', "attach '/tmp/x.db'"]) {
      const { status, text } = await served.get(path(sql));
      expect(status).toBe(400);
      expect(text).not.toContain('root:');
    }
    expect((await served.get(path(`select '${'a'.repeat(9000)}'`))).status).toBe(400);
  });
});

describe('every page', () => {
  test('shows hostile names as text', async () => {
    for (const path of [
      ...['/budgets', '/budgets/southern', '/anomalies', '/savings', anomalyAddress(anomalyKey)],
      ...['/allocation', resourceAddress('sandbox', 'north', 'box'), resourceAddress('sandbox', 'north', hostile)],
      ...['/resource/a/b/%3Cimg%20src=x%3E', '/budgets/%3Cimg%20src=x%3E', '/reports/%3Cimg%20src=x%3E'],
      ...['/allocation?month=%3Cimg%20src=x%3E', '/reports/own?%3Cimg%20src=x%3E=1', '/reports/own?run=1'],
      ...['/reports/cost_by_resource?month=2026-10', '/sql?q=select+distinct+resource_name+from+costs'],
      `/sql?q=${encodeURIComponent(`select '</textarea>${hostile}' as "${hostile}", 1 as one`)}`,
    ]) {
      const { text } = await served.get(path);
      expect(text, path).toContain('</html>');
      expect(text, path).not.toContain('<img');
      expect(text, path).not.toContain('<script>alert');
      expect(text, path).not.toMatch(/&lt;(data|a|div|span|time)\b/); // our own markup is not shown as text
      expect(text, path).not.toContain('\u202E');
      expect(text.length, path).toBeLessThan(300_000);
    }
  });

  test('that reads all costs does not exist for a viewer of one workspace', async () => {
    const guarded = await dashboardProject();
    await writeFile(
      join(guarded, 'costbook.yaml'),
      `serve:
  tokens:
    finance: { token: "\${ALL_TOKEN}" }
    north: { token: "\${NORTH_TOKEN}", workspaces: [north] }
`,
    );
    const server = await serve(guarded, [], tokens);
    const north = { authorization: `Bearer ${tokens.NORTH_TOKEN}` };
    const get = (path: string) => server.get(path, north);
    for (const path of [
      '/budgets',
      '/budgets/x',
      '/anomalies',
      '/anomalies/x',
      '/allocation',
      '/months/2026-10',
      '/reports',
      '/reports/own',
      '/sql?q=select+1',
      '/sql.csv?q=select+1',
      '/reports.csv/cost_by_workspace',
      '/reports.xlsx/cost_by_workspace',
      '/sql.parquet?q=select+1',
      '/exports?folder=own&file=own.csv',
    ])
      expect((await get(path)).status, path).toBe(404);
    expect((await get(resourceAddress('sandbox', 'north', 'box'))).status).toBe(200);
    const [secret, none] = [
      await get(resourceAddress('sandbox', 'south', 'secret-box')),
      await get(resourceAddress('sandbox', 'south', 'nothing')),
    ];
    expect(secret.status).toBe(404);
    expect(secret.text).toBe(none.text);
    expect((await get('/resource/*/*/secret-box')).status).toBe(404);
  });
});

test.each([
  [[], 'All hours match the platform’s totals, by 2 comparisons in the last 7 days'],
  [[{}], '1 window does not match the platform’s totals'],
])(
  'with the unproven windows %j the overview says: %s, whatever earlier comparisons found',
  async (unproven, words) => {
    const compared = { run_number: 1, attempt: 1, proven_at: '2026-10-04 13:00:00' };
    const reconciliation = [
      { ...compared, proven: false },
      { ...compared, attempt: 2 },
    ];
    const server = await serve(await dashboardProject(dashboardBooks({ reconciliation, unproven })));
    expect((await server.get('/')).text).toContain(words);
  },
);

test('a closed month that lost its numbers is marked on the overview and among the months, with the next step', async () => {
  const damaged = await dashboardProject(dashboardBooks({ closes: [{ row_count: 2000, cost: '900' }] }));
  await writeFile(
    join(damaged, 'costbook.yaml'),
    `serve:
  tokens:
    finance: { token: "\${ALL_TOKEN}" }
    north: { token: "\${NORTH_TOKEN}", workspaces: [north] }
`,
  );
  const server = await serve(damaged, [], tokens);
  for (const path of ['/', '/months']) {
    const { status, text } = await server.get(path, { authorization: `Bearer ${tokens.ALL_TOKEN}` });
    expect(status).toBe(200);
    expect(text, path).toContain('2026-09 of account acc_one was closed with 900.00 USD');
    expect(text, path).toContain('costbook reopen 2026-09');
  }
  const north = (await server.get('/', { authorization: `Bearer ${tokens.NORTH_TOKEN}` })).text;
  expect(north).toContain('2026-09 no longer has the numbers that it was closed with');
  expect(north).not.toContain('900.00');
  const { text } = await server.get('/months', { authorization: `Bearer ${tokens.ALL_TOKEN}` });
  expect(text).toContain('<span class="state bad">closed, does not match its close');
});
