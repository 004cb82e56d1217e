import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bench, type Figure, median, short } from '../figures.ts';
import { cli, newFolder, run, startServer } from '../processes.ts';

const now = '2026-11-20T06:00:00Z';
const since = '2025-10-20T00:00:00Z';
const rules = fileURLToPath(new URL('../../../jobs/demo', import.meta.url));

/** Addresses of each page: usual ones, and some that nobody has opened before. */
const pages: Readonly<Record<string, readonly string[]>> = {
  overview: ['/'],
  explore: [
    ...['workspace', 'resource_type', 'resource_name', 'billing_dimension', 'owner:team', 'region'].map(
      (group) => `/explore?group=${group}`,
    ),
    ...[
      ['2026-09-21', '2026-11-19', 'workspace', 'day'],
      ['2026-08-22', '2026-09-20', 'resource_type', 'hour'],
      ['2026-05-01', '2026-08-31', 'resource_name', 'week'],
      ['2026-03-01', '2026-06-30', 'billing_dimension', 'day'],
      ['2025-11-01', '2026-11-19', 'workspace', 'month'],
      ['2025-11-01', '2026-11-19', 'resource_name', 'day'],
    ].map(([from, to, group, step]) => `/explore?from=${from}&to=${to}&group=${group}&step=${step}`),
    '/explore?workspace=production&group=resource_name',
    '/explore?from=2026-01-01&to=2026-11-19&resource_type=sandbox&step=month',
  ],
  budgets: ['/budgets'],
  anomalies: ['/anomalies'],
  savings: ['/savings'],
  allocation: ['2026-11', '2026-10', '2026-09', '2026-06', '2026-03', '2025-12'].map(
    (month) => `/allocation?month=${month}`,
  ),
  months: ['/months'],
  reports: ['/reports'],
  sql: ['/sql'],
  health: ['/health'],
};

/** The same numbers by hand, over the view that people query. */
const byHand = [
  "select date_trunc('day', bucket_start) as day, workspace, sum(cost) from costs where bucket_start >= '2026-11-01' group by all",
  "select date_trunc('day', bucket_start) as day, workspace, sum(cost) from costs where bucket_start >= '2026-09-21' group by all",
  "select date_trunc('month', bucket_start) as month, workspace, sum(cost) from costs where bucket_start >= '2025-11-01' group by all",
];

/** Pages of the dashboard over large books, while an ingest runs on the same cores. */
export const serveBench: Bench = {
  name: 'serve',
  about:
    'pages of the dashboard over 33 M rows and 7,000 series of 13 months, while an ingest runs, against the same SQL by hand',
  isLong: true,
  async run({ quick, tell }) {
    const dir = await newFolder();
    const platform = await startEmulator(quick ? 60 : 3300);
    const env = {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: platform.token,
      COSTBOOK_ACCOUNT: platform.account,
      COSTBOOK_SINCE: since,
    };
    const costbook = (...args: string[]) => run([cli, ...args, '--dir', dir, '--now', now], env);
    await mkdir(join(dir, 'jobs'), { recursive: true });
    for (const name of ['allocation.yaml', 'budgets.yaml']) await copyFile(join(rules, name), join(dir, 'jobs', name));
    const { rows } = JSON.parse((await costbook('ingest', '--json')).stdout).accounts[0];
    await costbook('allocation', 'apply');
    tell(`${short(rows)} rows`);
    const dashboard = await startDashboard(dir);
    // The first snapshot is prepared, as one of the night is before the first person looks at it.
    await timed(`${dashboard.url}/`);
    await timed(`${dashboard.url}/budgets`);

    let isDone = false;
    const ingesting = (async () => {
      while (!isDone)
        await run(
          [cli, 'ingest', '--from', '2026-09-01T00:00:00Z', '--to', '2026-11-01T00:00:00Z', '--dir', dir, '--now', now],
          env,
        );
    })();
    const figures: Figure[] = [];
    const all: number[] = [];
    for (const [page, addresses] of Object.entries(pages)) {
      const times: number[] = [];
      for (const address of addresses) times.push(await timed(`${dashboard.url}${address}`));
      // Pages with one address are opened as often as others.
      while (times.length < 6) times.push(await timed(`${dashboard.url}${addresses[0]}`));
      all.push(...times);
      tell(`${page}: ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
      figures.push(figure(`${page}, median`, median(times), 300), figure(`${page}, slowest`, Math.max(...times), 800));
    }
    const hands: number[] = [];
    for (const sql of byHand) {
      const begun = performance.now();
      await run([cli, 'sql', sql, '--dir', dir, '--format', 'csv']);
      hands.push(performance.now() - begun);
    }
    isDone = true;
    await ingesting;
    dashboard.stop();
    platform.stop();
    return [
      figure('all pages, median', median(all), 300),
      figure('all pages, p95', percentile(all, 0.95), 800),
      {
        bench: 'serve',
        measured: 'a page of the same sums, against "costbook sql" with a process of its own',
        value: median(all) / median(hands),
        unit: 'x',
        target: 1,
      },
      ...figures,
    ];
  },
};

function figure(measured: string, value: number, target: number): Figure {
  return { bench: 'serve', measured, value, unit: 'ms', target };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

async function timed(url: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(url);
  await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - begun;
}

async function startEmulator(
  resources: number,
): Promise<{ url: string; token: string; account: string; stop(): void }> {
  const { line, stop } = await startServer(['emulator', '--resources', String(resources), '--now', now]);
  const { url, account, tokens } = JSON.parse(line);
  return { url, account, token: tokens.admin, stop };
}

async function startDashboard(dir: string): Promise<{ url: string; stop(): void }> {
  const { line, stop } = await startServer(['serve', '--port', '0', '--json', '--dir', dir, '--now', now]);
  return { url: JSON.parse(line).url, stop };
}
