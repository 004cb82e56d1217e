import { describe, expect, test } from 'vitest';
import { allPages, ask, askMetrics, billionths, type Entry, metrics, useEmulator } from './platform.ts';

const platform = useEmulator();

const week = 'startTime=2026-10-05T00:00:00Z&endTime=2026-10-12T00:00:00Z';
const day = 'startTime=2026-10-07T00:00:00Z&endTime=2026-10-08T00:00:00Z';

function first(entries: readonly Entry[]): Entry {
  const [entry] = entries;
  if (entry === undefined) throw new Error('there is no entry');
  return entry;
}

describe('the window (4.6)', () => {
  test('startTime and endTime are echoed as requested', async () => {
    const body = await metrics(platform.current, week);
    expect(body.startTime).toBe('2026-10-05T00:00:00Z');
    expect(body.endTime).toBe('2026-10-12T00:00:00Z');
  });

  test.each(['startTime', 'endTime'])('%s is required', async (name) => {
    const query = week.split('&').filter((part) => !part.startsWith(name));
    const { status, body } = await askMetrics(platform.current, query.join('&'));
    expect(status).toBe(400);
    expect(body.message).toContain(`${name} is required`);
  });

  test.each([
    '2026-10-05',
    '2026-10-05T00:00:00',
    '2026-10-05T00:00:00+02:00',
    '2026-10-05T00:00:00-00:00',
    '2026-10-05 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-10-05T25:00:00Z',
    '1759622400',
    'yesterday',
  ])('startTime %s is not RFC 3339 UTC', async (text) => {
    const query = `startTime=${encodeURIComponent(text)}&endTime=2026-10-12T00:00:00Z`;
    const { status, body } = await askMetrics(platform.current, query);
    expect(status).toBe(400);
    expect(body.message).toContain('startTime');
  });

  test('+00:00 is UTC if the plus is encoded', async () => {
    const body = await metrics(
      platform.current,
      'startTime=2026-10-05T00:00:00%2B00:00&endTime=2026-10-12T00:00:00.000Z',
    );
    expect(body).toMatchObject({ startTime: '2026-10-05T00:00:00Z', endTime: '2026-10-12T00:00:00Z' });
    const naked = 'startTime=2026-10-05T00:00:00+00:00&endTime=2026-10-12T00:00:00Z';
    expect((await askMetrics(platform.current, naked)).status).toBe(400);
  });

  test.each([
    ['2026-10-05T00:00:00Z', '2026-10-05T00:00:00Z'],
    ['2026-10-05T00:00:00Z', '2026-10-04T00:00:00Z'],
  ])('a window from %s to %s is refused', async (start, end) => {
    const { status, body } = await askMetrics(platform.current, `startTime=${start}&endTime=${end}`);
    expect(status).toBe(400);
    expect(body.message).toContain('endTime');
  });

  test('startTime is inclusive and endTime is exclusive: days of a week add up to the week', async () => {
    const whole = await metrics(platform.current, week);
    let sum = 0;
    for (let date = 5; date < 12; date++) {
      const from = `2026-10-${String(date).padStart(2, '0')}`;
      const to = `2026-10-${String(date + 1).padStart(2, '0')}`;
      const part = await metrics(platform.current, `startTime=${from}T00:00:00Z&endTime=${to}T00:00:00Z`);
      sum += billionths(part.summary.totalCost);
    }
    expect(sum).toBe(billionths(whole.summary.totalCost));
  });

  test('a future window is valid and empty', async () => {
    const body = await metrics(
      platform.current,
      'startTime=2027-01-01T00:00:00Z&endTime=2027-01-02T00:00:00Z&groupBy=resource_type',
    );
    expect(body.summary.totalCost).toBe(0);
    expect(body.data).toEqual([]);
  });

  test('an hour is visible only after it has ended', async () => {
    const body = await metrics(platform.current, 'startTime=2026-10-21T00:00:00Z&endTime=2026-10-21T06:00:00Z');
    const costs = first(body.data).timeseries.map(({ cost }) => cost > 0);
    expect(costs).toEqual([true, true, true, false, false, false]);
  });
});

test.each([
  ['startTime=2026-10-20T05:00:00.0000001Z&endTime=2026-10-20T07:00:00Z', [6]],
  ['startTime=2026-10-20T05:00:00Z&endTime=2026-10-20T06:00:00.0000001Z', [5, 6]],
  ['startTime=2026-10-20T05:00:00.000000Z&endTime=2026-10-20T06:00:00.000000Z', [5]],
])('a window with a fraction of a millisecond has exactly its hours: %s', async (query, hours) => {
  const body = await metrics(platform.current, `${query}&resolution=hourly`);
  const whole = await metrics(platform.current, 'startTime=2026-10-20T00:00:00Z&endTime=2026-10-21T00:00:00Z');
  const costs = first(whole.data).timeseries.map(({ cost }) => cost);
  expect(body.summary.totalCost).toBeCloseTo(
    hours.reduce((sum, hour) => sum + (costs[hour] ?? 0), 0),
    9,
  );
});

describe('the resolution (4.6)', () => {
  test.each([
    ['2026-10-11T23:00:00Z', 'hourly', 'just under 7 days'],
    ['2026-10-12T00:00:00Z', 'daily', '7 days'],
    ['2027-01-02T23:00:00Z', 'daily', 'just under 90 days'],
    ['2027-01-03T00:00:00Z', 'weekly', '90 days'],
    ['2027-10-04T23:00:00Z', 'weekly', 'just under a year'],
    ['2027-10-05T00:00:00Z', 'monthly', 'a year'],
    ['2031-10-05T00:00:00Z', 'monthly', 'many years'],
  ])('a window from 2026-10-05 to %s gets %s if no resolution is requested: %s', async (end, resolution) => {
    const body = await metrics(platform.current, `startTime=2026-10-05T00:00:00Z&endTime=${end}`);
    expect(body.resolution).toBe(resolution);
  });

  test.each([
    ['hourly', '2026-10-12T00:00:00Z', '2026-10-12T01:00:00Z'],
    ['daily', '2027-01-03T00:00:00Z', '2027-01-04T00:00:00Z'],
    ['weekly', '2027-10-05T00:00:00Z', '2027-10-06T00:00:00Z'],
    ['hourly', '2026-10-12T00:00:00Z', '2026-10-12T00:00:00.000001Z'],
  ])('%s may be requested up to %s exactly, and not up to %s', async (resolution, legal, illegal) => {
    const query = `startTime=2026-10-05T00:00:00Z&resolution=${resolution}&endTime=`;
    const within = await askMetrics(platform.current, query + legal);
    expect([within.status, within.body.resolution]).toEqual([200, resolution]);
    const beyond = await askMetrics(platform.current, query + illegal);
    expect(beyond.status).toBe(400);
    expect(beyond.body.message).toContain(resolution);
  });

  test('monthly is unbounded', async () => {
    const query = 'startTime=2000-01-01T00:00:00Z&endTime=2050-01-01T00:00:00Z&resolution=monthly';
    const body = await metrics(platform.current, query);
    expect(first(body.data).timeseries).toHaveLength(600);
  });

  test.each(['minutely', 'Hourly', 'hourly,daily', ''])('"%s" is not a resolution', async (resolution) => {
    expect((await askMetrics(platform.current, `${week}&resolution=${resolution}`)).status).toBe(400);
  });

  test('a short window may have any resolution', async () => {
    for (const resolution of ['hourly', 'daily', 'weekly', 'monthly']) {
      expect((await metrics(platform.current, `${day}&resolution=${resolution}`)).resolution).toBe(resolution);
    }
  });
});

describe('the series (2.15)', () => {
  test('there is one item for every hour, those without activity with cost 0', async () => {
    const body = await metrics(
      platform.current,
      `${week}&resolution=hourly&resourceName=model-evals&groupBy=billing_dimension`,
    );
    for (const entry of body.data) {
      expect(entry.timeseries).toHaveLength(168);
      expect(entry.timeseries.map(({ timestamp }) => Date.parse(timestamp))).toEqual(
        Array.from({ length: 168 }, (_, i) => Date.UTC(2026, 9, 5, i)),
      );
    }
    const compute = body.data.find((entry) => entry.billingDimension === 'job_compute_runtime_gbs');
    // A batch on Monday mornings: nothing on Tuesday.
    expect(compute?.timeseries[6]?.cost).toBeGreaterThan(0);
    expect(compute?.timeseries[30]).toEqual({ timestamp: '2026-10-06T06:00:00Z', cost: 0, usage: 0 });
  });

  test('the items of an entry add up to its cost', async () => {
    const body = await metrics(platform.current, `${week}&resolution=hourly&groupBy=resource_name`);
    for (const entry of body.data) {
      const sum = entry.timeseries.reduce((so, { cost }) => so + billionths(cost), 0);
      expect(sum).toBe(billionths(entry.summary.cost));
    }
  });

  test('days, weeks from Monday and months are calendar buckets in UTC', async () => {
    const query = 'startTime=2026-09-30T12:00:00Z&endTime=2026-10-13T00:00:00Z&resolution=';
    const timestamps = async (resolution: string) =>
      first((await metrics(platform.current, query + resolution)).data).timeseries.map((item) => item.timestamp);
    expect((await timestamps('daily')).slice(0, 2)).toEqual(['2026-09-30T00:00:00Z', '2026-10-01T00:00:00Z']);
    expect(await timestamps('weekly')).toEqual([
      '2026-09-28T00:00:00Z',
      '2026-10-05T00:00:00Z',
      '2026-10-12T00:00:00Z',
    ]);
    expect(await timestamps('monthly')).toEqual(['2026-09-01T00:00:00Z', '2026-10-01T00:00:00Z']);
  });

  test('a bucket at the edge of the window has only costs inside the window', async () => {
    const cut = await metrics(
      platform.current,
      'startTime=2026-09-30T12:00:00Z&endTime=2026-10-13T00:00:00Z&resolution=monthly',
    );
    const september = await metrics(platform.current, 'startTime=2026-09-30T12:00:00Z&endTime=2026-10-01T00:00:00Z');
    expect(first(cut.data).timeseries[0]?.cost).toBe(september.summary.totalCost);
  });

  test('an hour can have usage and cost nothing', async () => {
    const body = await metrics(
      platform.current,
      `${day}&resolution=hourly&groupBy=resource_name,billing_dimension&billingDimension=agent_async_requests_count`,
    );
    const points = body.data.flatMap((entry) => entry.timeseries);
    expect(points.some(({ cost, usage }) => cost === 0 && (usage ?? 0) > 0)).toBe(true);
  });
});

describe('grouping (4.6, 2.15)', () => {
  test('without groupBy there is a single aggregated entry, without dimensions and without usage', async () => {
    const body = await metrics(platform.current, week);
    expect(body.data).toHaveLength(1);
    expect(Object.keys(first(body.data)).sort()).toEqual(['summary', 'timeseries']);
    expect(first(body.data).summary).toEqual({ cost: body.summary.totalCost });
  });

  test('without groupBy there is a single entry even without costs', async () => {
    const body = await metrics(platform.current, 'startTime=2020-01-01T00:00:00Z&endTime=2020-01-01T02:00:00Z');
    expect(body.data).toEqual([
      {
        summary: { cost: 0 },
        timeseries: [
          { timestamp: '2020-01-01T00:00:00Z', cost: 0 },
          { timestamp: '2020-01-01T01:00:00Z', cost: 0 },
        ],
      },
    ]);
  });

  // The table of 2.15, line by line.
  test.each([
    ['workspace', ['workspace']],
    ['resource_type', ['resourceType']],
    ['resource_name', ['workspace', 'resourceType', 'resourceName']],
    ['resource_uuid', ['workspace', 'resourceType', 'resourceName', 'resourceUuid']],
    ['billing_dimension', ['resourceType', 'billingDimension']],
    ['workspace,billing_dimension', ['workspace', 'resourceType', 'billingDimension']],
    ['workspace,resource_type', ['workspace', 'resourceType']],
    [
      'resource_name,resource_uuid,billing_dimension',
      ['workspace', 'resourceType', 'resourceName', 'resourceUuid', 'billingDimension'],
    ],
  ])('grouping by %s populates %j and no other field', async (groupBy, fields) => {
    const body = await metrics(platform.current, `${week}&groupBy=${groupBy}&resourceType=agent`);
    expect(body.data.length).toBeGreaterThan(0);
    for (const { summary, timeseries, ...entry } of body.data) {
      expect(Object.keys(entry).sort()).toEqual([...fields].sort());
    }
  });

  test.each([
    ['billing_dimension', true],
    ['resource_name,billing_dimension', true],
    ['resource_name', false],
    ['workspace,resource_type,resource_uuid', false],
  ])('grouped by %s, usage is shown: %s', async (groupBy, isShown) => {
    const body = await metrics(platform.current, `${week}&groupBy=${groupBy}`);
    expect('totalUsage' in body.summary).toBe(isShown);
    for (const entry of body.data) {
      expect('usage' in entry.summary).toBe(isShown);
      expect(entry.timeseries.every((item) => 'usage' in item === isShown)).toBe(true);
    }
  });

  test('totalUsage is the sum of the groups’ usage', async () => {
    const body = await metrics(platform.current, `${week}&groupBy=billing_dimension`);
    const sum = body.data.reduce((so, { summary }) => so + Math.round((summary.usage ?? 0) * 1e3), 0);
    expect(sum).toBe(Math.round((body.summary.totalUsage ?? 0) * 1e3));
  });

  test('the order of dimensions does not matter', async () => {
    const one = await metrics(platform.current, `${week}&groupBy=workspace,billing_dimension`);
    const other = await metrics(platform.current, `${week}&groupBy=billing_dimension,workspace`);
    expect(other).toEqual(one);
  });

  test('several dimensions group by their cross-product', async () => {
    const body = await metrics(platform.current, `${week}&groupBy=workspace,resource_type`);
    const pairs = body.data.map((entry) => `${entry.workspace}/${entry.resourceType}`);
    expect(new Set(pairs).size).toBe(pairs.length);
    expect(pairs).toContain('production/agent');
    expect(pairs).toContain('staging/agent');
    expect(pairs).toContain('production/volume');
  });

  test.each([
    ['workspace,resource_type,resource_name,resource_uuid', 'at most 3'],
    ['workspace,workspace', 'twice'],
    ['region', 'region'],
    ['workspace,', '""'],
    ['workspace, resource_type', '" resource_type"'],
    ['Workspace', 'Workspace'],
  ])('groupBy=%s is refused: %s', async (groupBy, reason) => {
    const { status, body } = await askMetrics(platform.current, `${week}&groupBy=${encodeURIComponent(groupBy)}`);
    expect(status).toBe(400);
    expect(body.message).toContain(reason);
  });

  test('groups without costs or usage are not listed', async () => {
    const query = 'startTime=2025-10-01T00:00:00Z&endTime=2025-10-02T00:00:00Z&groupBy=resource_name';
    const names = (await metrics(platform.current, query)).data.map((entry) => entry.resourceName);
    expect(names).toContain('legacy-embeddings-lab');
    expect(names).not.toContain('fraud-watch');
  });

  test('volumes and custom domains have no UUID: the field is missing', async () => {
    const body = await metrics(platform.current, `${week}&groupBy=resource_name,resource_uuid`);
    for (const entry of body.data) {
      const isUnnamed = entry.resourceType === 'volume' || entry.resourceType === 'custom_domain';
      expect('resourceUuid' in entry).toBe(!isUnnamed);
    }
  });

  test('resources without a UUID that share a name are one entry, which shows the first of their workspaces', async () => {
    const query = `${week}&resourceName=model-cache&groupBy=resource_name`;
    const merged = await metrics(platform.current, `${query},resource_uuid,billing_dimension`);
    expect(merged.data.map((entry) => [entry.workspace, entry.resourceName])).toEqual([['production', 'model-cache']]);
    const apart = await metrics(platform.current, `${query},workspace`);
    expect(apart.data.map((entry) => entry.workspace)).toEqual(['production', 'research']);
    expect(apart.summary.totalCost).toBe(merged.summary.totalCost);
  });

  test('a resource with a UUID is an entry of its own, with any name', async () => {
    const query = `${week}&resourceName=checkout-assistant&groupBy=resource_name,resource_uuid`;
    const body = await metrics(platform.current, query);
    expect(body.data.map((entry) => entry.workspace).sort()).toEqual(['production', 'staging']);
  });

  test('a resource of the account has no workspace: the field is missing', async () => {
    const body = await metrics(platform.current, `${week}&resourceType=custom_domain&groupBy=workspace,resource_name`);
    const domain = body.data.find((entry) => entry.resourceName === 'api.harborlabs.example');
    expect(domain?.summary.cost).toBeGreaterThan(0);
    expect(domain).not.toHaveProperty('workspace');
  });

  test('totalCost is the sum of the groups’ cost', async () => {
    for (const groupBy of ['workspace', 'resource_type', 'billing_dimension', 'resource_name,resource_uuid']) {
      const pages = await allPages(platform.current, `${week}&groupBy=${groupBy}`);
      const sum = pages.flatMap(({ data }) => data).reduce((so, { summary }) => so + billionths(summary.cost), 0);
      expect(sum).toBe(billionths(pages[0]?.summary.totalCost ?? 0));
    }
  });
});

describe('filters (4.6)', () => {
  test.each([
    ['workspace', 'production', 'workspace'],
    ['resourceType', 'mcp_server', 'resource_type'],
    ['resourceName', 'code-runner', 'resource_name'],
    ['billingDimension', 'volume_storage_gbs', 'billing_dimension'],
  ] as const)('%s=%s leaves only that, and all of it', async (field, value, dimension) => {
    const filtered = await metrics(platform.current, `${week}&groupBy=${dimension}&${field}=${value}`);
    const all = await metrics(platform.current, `${week}&groupBy=${dimension}`);
    expect(filtered.data).toEqual(all.data.filter((entry) => entry[field] === value));
    expect(filtered.data.length).toBeGreaterThan(0);
  });

  test('resourceUuid finds the resource with that UUID', async () => {
    const named = await metrics(platform.current, `${week}&groupBy=resource_uuid&resourceName=code-runner`);
    const uuid = first(named.data).resourceUuid;
    const found = await metrics(platform.current, `${week}&groupBy=resource_uuid&resourceUuid=${uuid}`);
    expect(found.data).toEqual(named.data);
  });

  test('filters narrow each other', async () => {
    const body = await metrics(
      platform.current,
      `${week}&workspace=staging&resourceType=agent&groupBy=workspace,resource_type`,
    );
    expect(body.data.map((entry) => [entry.workspace, entry.resourceType])).toEqual([['staging', 'agent']]);
  });

  test('an unknown value returns nothing', async () => {
    const body = await metrics(platform.current, `${week}&groupBy=workspace&workspace=nowhere`);
    expect(body.data).toEqual([]);
    expect(body.summary.totalCost).toBe(0);
  });

  test.each(['regoin=eu', 'workspace=', 'limit=5&limit=6', 'groupby=workspace'])(
    '%s is refused rather than ignored (the document is silent)',
    async (parameter) => {
      expect((await askMetrics(platform.current, `${week}&${parameter}`)).status).toBe(400);
    },
  );
});

describe('enum discovery (4.6)', () => {
  const enums = '/v0/accounts/acc-harbor-labs/metrics/enums';

  test('group-by lists the five groupBy values', async () => {
    const { status, body } = await ask(platform.current, `${enums}/group-by`);
    expect(status).toBe(200);
    expect([...body.values].sort()).toEqual([
      'billing_dimension',
      'resource_name',
      'resource_type',
      'resource_uuid',
      'workspace',
    ]);
  });

  test('resource-types lists the distinct types observed in the window', async () => {
    const { body } = await ask(platform.current, `${enums}/resource-types?${week}`);
    expect(body).toEqual({ values: ['agent', 'custom_domain', 'job', 'mcp_server', 'sandbox', 'volume'] });
    const before = 'startTime=2020-01-01T00:00:00Z&endTime=2021-01-01T00:00:00Z';
    expect((await ask(platform.current, `${enums}/resource-types?${before}`)).body).toEqual({ values: [] });
  });

  test('resource-types requires startTime and endTime', async () => {
    expect((await ask(platform.current, `${enums}/resource-types`)).status).toBe(400);
    expect((await ask(platform.current, `${enums}/resource-types?startTime=2026-10-05T00:00:00Z`)).status).toBe(400);
  });

  test('the accounts that the token can access are listed', async () => {
    const { status, body } = await ask(platform.current, '/v0/accounts');
    expect(status).toBe(200);
    expect(body).toMatchObject([{ id: 'acc-harbor-labs', metadata: { name: 'acc-harbor-labs' } }]);
  });
});
