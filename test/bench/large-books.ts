// A process that makes large books through the loader of the program: `node large-books.js <project folder> <JSON>`.
// Windows are planned, read into a stage, reconciled, compared and loaded by the code that `ingest` and `rebuild` use; the
// pages come from the account's formula in the decoder's form, so that neither HTTP nor JSON takes time. Of the landing
// folder only the descriptions of loads stay. Books that are there already are continued.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WindowReading } from '../../src/ingest/fetch-window.ts';
import { type AccountSize, openAccount } from './account.ts';
import { compiled } from './compiled.ts';

interface Made {
  readonly size: AccountSize;
  readonly since: number;
  readonly now: number;
}

const [dir = '', made = '{}'] = process.argv.slice(2);
const { size, since, now }: Made = JSON.parse(made);
const {
  'warehouse/index': { openWarehouse },
  'fetch/index': { openLandingWriter },
  'fetch/plan/index': { planWindows, queryParameters },
  'ingest/fetch-window': { readWindow },
  'time/time': { formatWindow },
} = await compiled('warehouse/index', 'fetch/index', 'fetch/plan/index', 'ingest/fetch-window', 'time/time');

/** While one window is read, another one is compared and written. */
const stagesAtOnce = 2;
const account = 'acc_bench';
const known = { decimals: { cost: 9, usage: 3 }, agreedTolerance: undefined };
const platform = openAccount(size);
const signal = new AbortController().signal;
const log = { info: () => undefined, warn: console.error, debug: () => undefined, error: console.error };
const landing = openLandingWriter(join(dir, 'data', 'landing'));
const warehouse = await openWarehouse(dir, signal, undefined, () => landing.newestLoad());
await landing.removeUnfinished(await warehouse.lastLoadNumber());
const run = await warehouse.beginRun('ingest', now);
const facts = { account, name: undefined, historyStart: since, settleDays: 3, lagHours: 2, role: 'admin' } as const;
await warehouse.saveAccount({ ...facts, decimals: known.decimals }, now);

type Query = Parameters<typeof queryParameters>[1];

/** Passes the pages of one query to a sink, as fetching would. */
async function ask(query: Query, sink: Parameters<WindowReading['ask']>[1]): Promise<number> {
  const parameters = new URLSearchParams(queryParameters(account, query));
  for (let count = 1; ; count += 1) {
    const page = platform.columns(parameters);
    await sink.page(page);
    if (page.nextCursor === undefined) return count;
    parameters.set('cursor', page.nextCursor);
    await new Promise(setImmediate);
  }
}

const planned = planWindows({
  now,
  historyStart: since,
  from: undefined,
  to: undefined,
  refetch: false,
  settleDays: 3,
  covered: await warehouse.coveredWindows(account),
  again: [],
}).filter(({ reason }) => reason === 'new');
const totals = { windows: 0, pages: 0, rows: 0 };
const begun = performance.now();

/** Reads, proves and loads one window. */
async function load(stage: Awaited<ReturnType<typeof warehouse.openStage>>, { window, reason }: (typeof planned)[0]) {
  const folder = await landing.begin(account, window, now);
  let pages = 0;
  const read = await readWindow({
    ...{ account, window, stage, ask, role: 'admin', known, log, signal },
    leavesOut: () => false,
    mayAddRows: () => true,
    comparing: <T>(queries: () => Promise<T>) => queries(),
    onRole: () => undefined,
    onPage: () => (pages += 1),
  });
  if (read.reason !== undefined) throw new Error(`${formatWindow(window)}: ${read.reason}`);
  await warehouse.exclusively(async () => {
    const loadNumber = (await warehouse.lastLoadNumber()) + 1;
    const of = {
      ...{ loadNumber, runNumber: run.number, attempt: 1, reason, requests: pages, queries: read.queries },
      ...{ claimedEnd: now, seenAt: await warehouse.seenAt(now), platformAt: now },
    };
    const { rowCount } = await stage.load({ ...of, pages }, (written) =>
      folder.file(
        {
          ...of,
          ...{ role: read.role, pagesRead: pages, leavesOut: false },
          known: { decimals: known.decimals, agreedTolerance: null },
          ...{ outcome: written.outcome, rowCount: written.rowCount },
          ...{ restated: written.restated, cost: written.cost },
          covered: [{ window: formatWindow(window), role: read.role }],
          reconciliations: null,
        },
        false,
      ),
    );
    totals.windows += 1;
    totals.pages += pages;
    totals.rows += rowCount;
  });
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage();
  process.stderr.write(
    `${totals.windows}/${all} windows, ${(totals.rows / 1e6).toFixed(1)} M rows, ${seconds.toFixed(0)} s, ` +
      `${((user + system) / 1e6).toFixed(0)} s of CPU, ${(totals.rows / seconds / 1e6).toFixed(2)} M rows/s, peak ${peakMib().toFixed(0)} MiB\n`,
  );
}

function peakMib(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;
}

async function work(): Promise<void> {
  const stage = await warehouse.openStage();
  for (let plan = planned.shift(); plan !== undefined; plan = planned.shift()) await load(stage, plan);
  stage.close();
}
const all = planned.length;
await Promise.all(Array.from({ length: stagesAtOnce }, work));
const loaded = {
  seconds: (performance.now() - begun) / 1000,
  cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
};
await warehouse.recordAccountRun({
  ...{ runNumber: run.number, account, exitCode: 0, failures: [], restated: 0, retries: 0 },
  ...{ windows: all, pages: totals.pages, rows: totals.rows, requests: totals.pages },
});
await run.end(0, [], now);
// Books grow night by night: alerts were evaluated when there was less. The first evaluation would check every hour.
const alerted = await warehouse.beginRun('alert', now);
await alerted.end(0, [], now);
await warehouse.publish();
warehouse.close();
process.stdout.write(`${JSON.stringify({ ...totals, ...loaded, peakMib: peakMib() })}\n`);
