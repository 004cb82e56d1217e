import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Dashboard, serveDashboard } from '../../src/serve/index.ts';
import { dashboardBooks, dashboardProject, serveApart } from '../support/dashboard.ts';

/** Sixteen million hours: a question about each of them takes seconds. */
const fill = `
insert into ledger.series (series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension)
select 1000 + number, 'acc_one', 'north', 'sandbox', 'r' || number, 'u' || number, 'd' || (number % 7)
from range(8000) as series(number);
insert into ledger.hourly_costs (series_id, bucket_start, cost, usage, load_number)
select 1000 + number, timestamp '2026-07-01' + interval 1 hour * hour, 0.001, 1, 1
from range(8000) as series(number), range(2000) as hours(hour);
`;
const heavy = (day: number) =>
  `/explore?group=resource_name&step=hour&from=2026-07-${String(day).padStart(2, '0')}&to=2026-08-02&top=50`;

let dir: string;
let served: Awaited<ReturnType<typeof serveApart>>;
beforeAll(async () => {
  dir = await dashboardProject(dashboardBooks(), fill);
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets: [{ name: all, period: daily, amount: 60 USD }]\n');
  served = await serveApart(dir);
  // Its usual pages are prepared before the first one is answered.
  await served.get('/');
  await cpuMsUntilIdle();
}, 120_000);

/** What the server process computes in a while, in milliseconds of CPU time. */
async function cpuMsIn(ms: number): Promise<number> {
  const before = await cpuMs();
  await wait(ms);
  return (await cpuMs()) - before;
}

async function cpuMs(): Promise<number> {
  const stat = await readFile(`/proc/${served.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function children(): Promise<string[]> {
  const { pid } = served;
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter((each) => each !== '');
}

/** What the server process computes until it is idle, in milliseconds of CPU time. */
async function cpuMsUntilIdle(): Promise<number> {
  const before = await cpuMs();
  while ((await cpuMsIn(300)) > 60) await wait(10);
  return (await cpuMs()) - before;
}

test('queries of a page end when its only viewer leaves, and go on while another one waits', async () => {
  const leaving = new AbortController();
  const left = [2, 3, 4].map(async (day) =>
    (await fetch(`${served.url}${heavy(day)}`, { signal: leaving.signal })).text(),
  );
  await expect.poll(() => cpuMsIn(100), { timeout: 10_000 }).toBeGreaterThan(30);
  leaving.abort();
  for (const answer of left) await expect(answer).rejects.toThrow('aborted');
  // To its end, each of the three would take more than this.
  expect(await cpuMsUntilIdle()).toBeLessThan(1000);

  const two = new AbortController();
  const first = fetch(`${served.url}${heavy(5)}`, { signal: two.signal });
  const second = served.get(heavy(5));
  await expect.poll(() => cpuMsIn(100), { timeout: 10_000 }).toBeGreaterThan(30);
  two.abort();
  await expect(first).rejects.toThrow('aborted');
  const { status, text } = await second;
  expect(status, text.slice(0, 300)).toBe(200);
  // Connections whose statements were interrupted answer again.
  for (const day of [6, 7, 8]) expect((await served.get(`/explore?from=2026-09-0${day}`)).status).toBe(200);
}, 60_000);

test('a back-test and a query of a person end when their viewer leaves', async () => {
  const query = 'select sum(a.range * b.range) as n from range(1000000) a, range(1000000) b';
  for (const path of ['/budgets/all?backtest=400', `/sql?${new URLSearchParams({ q: query })}`]) {
    const leaving = new AbortController();
    const left = fetch(`${served.url}${path}`, { signal: leaving.signal });
    await expect.poll(children, { timeout: 10_000 }).toHaveLength(1);
    await wait(300);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await expect.poll(children, { timeout: 3000 }).toHaveLength(0);
    expect(await cpuMsUntilIdle()).toBeLessThan(1000);
  }
}, 60_000);

let limited: Dashboard | undefined;
afterAll(() => limited?.close());

test('a page that takes longer than its limit says so, is not stored, and works when it is quicker', async () => {
  limited = await serveDashboard({
    ...{ dir, project: 'limits', host: '127.0.0.1', port: 0, reader: 'limits' },
    ...{
      settings: {
        ...{ hosts: [], tokens: [], groups: [] },
        userHeader: undefined,
        groupsHeader: undefined,
        oidc: undefined,
      },
      address: undefined,
      now: () => Date.parse('2026-10-04T15:00:00Z'),
    },
    log: { info: () => undefined, warn: () => undefined },
    signal: new AbortController().signal,
    config: () => loadConfig({ dir, env: {}, now: 0, requireAccounts: false }),
    status: () => Promise.resolve({ problems: [], alerts: { list: [] } } as never),
    commands: {
      reportRows: () => Promise.reject(new Error('not used')),
      budgetBacktest: () => Promise.reject(new Error('not used')),
      show: () => Promise.reject(new Error('not used')),
    },
    send: () => Promise.reject(new Error('not used')),
    pageMs: 250,
  });
  const { url } = limited;
  await expect.poll(async () => (await fetch(`${url}/months`)).status, { timeout: 30_000 }).toBe(200);
  const late = await fetch(`${url}${heavy(2)}`);
  expect(late.status).toBe(503);
  expect(late.headers.get('cache-control')).toBe('no-store');
  expect(await late.text()).toContain('Choose a shorter range');
  // On a busy machine a quick page takes long too.
  const quick = async () => (await fetch(`${url}/explore?from=2026-10-01`)).status;
  await expect.poll(quick, { timeout: 30_000 }).toBe(200);
}, 60_000);
