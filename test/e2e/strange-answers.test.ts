// Second tier: Answers that cannot be true, one of them with a hundred thousand groups.

import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import {
  askSnapshot,
  costsIn,
  ingest,
  ingestCommandLine,
  newProject,
  projectWithPlatform,
  runCli,
  startCli,
} from '../support/project.ts';
import {
  expectedCosts,
  type ScriptedPlatform,
  type Seen,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

const now = '2026-09-05T12:30:00Z';
const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const other = { ...box, name: 'other', uuid: 'sbx-2' };
const facts = [...series(box, '2026-09-03T05', [1, 2]), ...series(other, '2026-09-03T05', [4, 8])];

interface Entry {
  summary: Record<string, unknown>;
  timeseries: Record<string, unknown>[];
}
interface Page {
  resolution: string;
  summary: Record<string, unknown>;
  data: Entry[];
  meta: { hasMore: boolean; nextCursor: string };
}

function isDetail({ query }: Seen): boolean {
  return query['groupBy']?.includes('resource_uuid') === true;
}

/** Changes the answers to the detail. */
function detail(change: (page: Page, request: Seen) => void): ScriptedPlatform['edit'] {
  return (request, body) => {
    if (!isDetail(request)) return body;
    const page = JSON.parse(body) as Page;
    change(page, request);
    return JSON.stringify(page);
  };
}

describe.concurrent('an answer that cannot be true', () => {
  let firstPage: Page | undefined;
  let firstCursor = '';

  test.each<[string, string | RegExp, ScriptedPlatform['edit']]>([
    [
      'in another resolution',
      'resolution',
      detail((page) => {
        page.resolution = 'daily';
      }),
    ],
    [
      'with a repeated entry of the previous page',
      /unproven|difference/i,
      detail((page, { query }) => {
        if (query['cursor'] === undefined) firstPage = page;
        else page.data.push(...(firstPage?.data ?? []));
      }),
    ],
    [
      'whose cursors repeat',
      'form a loop',
      detail((page, { query }) => {
        if (query['cursor'] === undefined) firstCursor = page.meta.nextCursor;
        page.meta = { hasMore: true, nextCursor: firstCursor };
      }),
    ],
  ])('%s is refused with exit 4, reported, and not loaded', async (_, named, edit) => {
    const { dir, platform } = await projectWithPlatform(facts);
    platform.pageSize = 1;
    expect((await ingest(dir, platform, { now, env: { COSTBOOK_SETTLE_DAYS: '0' } })).exitCode).toBe(0);
    const before = await costsIn(dir);

    platform.facts = facts.map((fact) => ({ ...fact, cost: fact.cost * 1.1 }));
    platform.edit = edit;
    const args = ['--refetch'];
    const { exitCode, account } = await ingest(dir, platform, { now, args, env: { COSTBOOK_SETTLE_DAYS: '0' } });
    expect(exitCode).toBe(4);
    expect(account.unproven.map(({ reason }) => reason).join()).toMatch(named);
    // The proven state remains.
    expect(await costsIn(dir)).toEqual(before);

    platform.edit = (_request, body) => body;
    expect((await ingest(dir, platform, { now, args })).exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  });
});

test('names of any kind leave every output unchanged', async () => {
  const names = [
    `it's "quoted", \\ and; drop table costs --`,
    'two\nlines\r\nand\ta tab',
    '🏢 búro 東京 e\u0301',
    'x'.repeat(10_000),
    ' spaces ',
    'null',
  ];
  const named = names.flatMap((name, index) =>
    series({ ...box, name, uuid: `u-${index}` }, '2026-09-03T05', [index + 1]),
  );
  // Half a surrogate pair can be written in JSON, and in nothing else.
  const halved = series({ ...box, name: 'half \ud83d of it', uuid: 'u-half' }, '2026-09-03T05', [100]);
  const dir = await newProject();
  expect((await ingest(dir, await startScriptedPlatform([...named, ...halved]), { now })).exitCode).toBe(0);

  const expected = [...names, 'half \ufffd of it'];
  const query = 'select resource_name as name from costs order by cost';
  const json = await runCli(['sql', query, '--dir', dir, '--json']);
  expect((JSON.parse(json.stdout) as { rows: { name: string }[] }).rows.map(({ name }) => name)).toEqual(expected);
  const csv = await runCli(['sql', query, '--dir', dir, '--format', 'csv']);
  expect((parse(csv.stdout) as string[][]).slice(1).map(([name]) => name)).toEqual(expected);
});

test('a clock that was set back neither loses nor repeats anything', async () => {
  const { dir, platform } = await projectWithPlatform(facts);
  const ahead = await ingest(dir, platform, { now });
  expect(ahead.exitCode).toBe(0);
  const [first] = await askSnapshot(dir, 'select max(seen_at) as seen from coverage');
  platform.facts = facts.map((fact) => ({ ...fact, cost: fact.cost * 1.1 }));
  const back = await ingest(dir, platform, { now: '2026-09-04T00:30:00Z' });
  expect(back.exitCode).toBe(0);
  expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  expect(back.account.completeThrough, 'what was complete stays so').toBe(ahead.account.completeThrough);
  const [changed] = await askSnapshot(dir, 'select min(seen_at) as seen from restatements');
  expect(String(changed?.['seen']) > String(first?.['seen']), 'as of the first run nothing had changed').toBe(true);
  expect((await runCli(['check', '--dir', dir, '--now', now])).exitCode).toBe(0);
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
  expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
});

test('a hundred thousand groups in one window need only the memory of a page and DuckDB', async () => {
  const dir = await newProject();
  const groups = 100_000;
  const many = Array.from({ length: groups }, (_, index) => ({
    ...{ ...box, name: `box ${index}`, uuid: `u-${index}` },
    ...{ hour: '2026-09-03T05', cost: 0.01, usage: 1 },
  }));
  const platform = await startScriptedPlatform(many);
  const args = ['--from', '2026-09-03T05:00:00Z', '--to', '2026-09-03T06:00:00Z'];
  const run = startCli(...ingestCommandLine(dir, platform, { now, args }));
  let peakKb = 0;
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${run.process.pid}/status`, 'utf8');
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0));
    } catch {
      // It has ended.
    }
  }, 100);
  const { exitCode, stderr } = await run.ended;
  clearInterval(look);
  expect(exitCode, stderr).toBe(0);
  expect(platform.requests.filter(isDetail)).toHaveLength(groups / 100);
  expect(await askSnapshot(dir, 'select count(*) as rows, sum(cost) as cost from costs')).toEqual([
    { rows: String(groups), cost: '1000.000000000000' },
  ]);
  expect(peakKb).toBeGreaterThan(0);
  expect(peakKb).toBeLessThan(1024 * 1024);
});
