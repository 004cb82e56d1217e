// Second tier: Stores forecasts over months of nights; sql/forecasts holds the rules.

import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { snapshotFile } from '../../src/warehouse/integrity/snapshot-file.ts';
import { type Given, givenBooks } from '../support/given-books.ts';
import { askFile, askSnapshot, type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { type Fact, startScriptedPlatform } from '../support/scripted-platform.ts';
import { expectReadersToAgree } from '../support/second-readers.ts';
import { startSink } from '../support/sink-server.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const dayMs = 86_400_000;

/** A cost at noon on each day from one up to before another. */
function days(from: string, to: string, cost: (at: string) => number): Fact[] {
  const facts: Fact[] = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += dayMs) {
    const hour = `${new Date(at).toISOString().slice(0, 10)}T12`;
    facts.push({ ...box, hour, cost: cost(hour), usage: 1 });
  }
  return facts;
}

/** A dollar a day; a week of October has another cost. */
function truth(until: string, week: number): Fact[] {
  return days('2026-09-01', until, (hour) => (hour >= '2026-10-09' && hour < '2026-10-16' ? week : 1));
}

const key = 'budget/@all/everything/2026-10/forecast:100%';
const secret = 'secret-of-the-webhook';

let dir = '';
let told: string[][] = [];
beforeAll(async () => {
  dir = await newProject();
  const sink = await startSink();
  await writeFile(
    join(dir, 'costbook.yaml'),
    `accounts: [{ id: acc_one }]\nsinks:\n  hook: { type: webhook, url: "${sink.url}/in", secret: "\${SINK_SECRET}", allowPrivateNetwork: true }\n`,
  );
  await mkdir(join(dir, 'jobs'));
  await writeFile(
    join(dir, 'jobs', 'budgets.yaml'),
    `budgets:
  - name: everything
    period: monthly
    amount: 40 USD
    thresholds: [{ at: 100%, of: forecast }, { at: 100%, severity: critical }]
`,
  );
  const platform = await startScriptedPlatform([]);
  async function night(now: string, facts: Fact[]): Promise<void> {
    platform.facts = facts;
    const loaded = await ingest(dir, platform, { now, env: { SINK_SECRET: secret } });
    expect(loaded.exitCode, loaded.stderr).toBe(0);
    const from = sink.told.length;
    // However often it is asked.
    for (const _ of [1, 2]) {
      const { exitCode, stderr } = await run(['alert', '--now', now]);
      expect(exitCode, stderr).toBe(0);
    }
    const entries = sink.told.slice(from).flatMap(({ body }) => body.alerts);
    told.push(entries.map((entry) => `${entry.transition} ${entry.key}`));
  }
  told = [];
  await night('2026-10-09T02:15:00Z', truth('2026-10-09', 4));
  await night('2026-10-16T02:15:00Z', truth('2026-10-16', 4));
  await night('2026-10-17T02:15:00Z', truth('2026-10-17', 4));
  // The platform takes back most of that week.
  await night('2026-10-18T02:15:00Z', truth('2026-10-18', 0.5));
  const corrected = (until: string) =>
    truth(until, 0.5).map((fact) => (fact.hour === '2026-10-17T12' ? { ...fact, cost: 2 } : fact));
  await night('2026-10-18T02:45:00Z', corrected('2026-10-18'));
  await night('2026-11-02T02:15:00Z', corrected('2026-11-02'));
}, 600_000);

function run(args: readonly string[]): Promise<Ended> {
  return runCli([...args, '--dir', dir], { SINK_SECRET: secret });
}

describe('a forecast threshold', () => {
  test('is reported once, and resolved once', () => {
    expect(told).toEqual([[], [`raised ${key}`], [], [`resolved ${key}`], [], []]);
  });
});

describe('stored forecasts', () => {
  test('are one for each scope and each complete-through instant', async () => {
    const rows = await askSnapshot(
      dir,
      `select scope_kind, budget, workspace, resource_type, period, strftime(complete_through, '%m-%d %H') as through,
        spent, forecast is not null as is_made, run_number
      from forecasts order by complete_through, scope_kind`,
    );
    expect(rows.map((row) => [row['scope_kind'], row['period'], row['through'], row['is_made']])).toEqual(
      ['10-09 00', '10-16 00', '10-17 00', '10-18 00', '11-02 00'].flatMap((through) => [
        ['budget', `2026-${through.slice(0, 2)}`, through, true],
        ['workspace', `2026-${through.slice(0, 2)}`, through, true],
      ]),
    );
    expect(rows[1]).toMatchObject({ workspace: 'north', resource_type: 'sandbox', spent: '8.000000000000' });
  });

  test('are made again if costs before that instant have changed since, and only then', async () => {
    const query = `select scope_kind, cast(spent as varchar) as spent, forecast is not null as is_made
      from FROM where complete_through = '2026-10-18' order by run_number, scope_kind`;
    const made = (spent: string) =>
      ['budget', 'workspace'].map((scope_kind) => ({ scope_kind, spent: `${spent}00000000000`, is_made: true }));
    expect(await askSnapshot(dir, query.replace('FROM', 'forecasts'))).toEqual(made('14.5'));
    expect(await askSnapshot(dir, query.replace('FROM', 'ledger.forecasts'))).toEqual([
      ...made('13.5'),
      ...made('14.5'),
    ]);
  });

  test('are those of an earlier instant with --as-of', async () => {
    const query = 'select count(*) as forecasts from forecasts';
    const then = await run(['sql', query, '--as-of', '2026-10-17', '--json', '--now', '2026-11-02T03:00:00Z']);
    expect(JSON.parse(then.stdout).rows).toEqual([{ forecasts: 4 }]);
  });

  test('are the same in rebuilt books', async () => {
    const rebuilt = join(dir, 'rebuilt.duckdb');
    expect(await run(['rebuild', '--into', rebuilt])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('identical'),
    });
    expect(await askFile(rebuilt, 'select count(*) as forecasts from ledger.forecasts')).toEqual([{ forecasts: '12' }]);
  });
});

describe('each report equals its golden file:', () => {
  const later = {
    period: '2026-10',
    period_start: '2026-10-01',
    period_end: '2026-11-01',
    complete_through: '2026-10-02',
  };
  const line = {
    scope_kind: 'workspace',
    budget: null,
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'sandbox',
    scope: null,
  };
  const through = { window_end: '2026-10-02', claimed_end: '2026-10-02' };
  const given: Given = {
    accounts: [{}],
    covered: [through],
    loads: [through],
    costs: [{ cost: '9.5' }, { cost: '2', bucket_start: '2026-09-30 23:00:00', workspace: 'south' }],
    forecasts: [
      { forecast: '12.25', low: '11', high: '13', spent: '3' },
      { complete_through: '2026-09-29', forecast: '11', low: '10', high: '11.25', spent: '9.5', run_number: 3 },
      { ...line, forecast: '9', low: '8.5', high: '10' },
      { ...later, forecast: '25', low: '20', high: '30', spent: '1', exceeds_on: '2026-10-26' },
      { ...later, ...line, forecast: '12', low: '10', high: '14', amount: null },
      {
        ...later,
        budget: 'new, one',
        forecast: null,
        low: null,
        high: null,
        model: null,
        reason: 'too little history',
      },
    ],
  };
  let books = '';
  beforeAll(async () => {
    books = await newProject();
    const file = join(books, 'given.duckdb');
    (await givenBooks(given, file)).close();
    await mkdir(join(books, 'data'));
    await rename(file, snapshotFile(books));
  });

  test.each(['stored_forecasts', 'forecast_accuracy', 'forecast_accuracy_summary'])('%s', async (report) => {
    const out = await newProject();
    const ended = await runCli(['report', report, '--dir', books, '--out', out, '--format', 'csv,parquet,arrow']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const file = (await readdir(out, { recursive: true })).find((path) => basename(path) === 'latest.csv') ?? '';
    await expectReadersToAgree(join(out, dirname(file)));
    await expect(await readFile(join(out, file), 'utf8')).toMatchFileSnapshot(`../golden/${report}.csv`);
  });
});

describe('costbook forecast', () => {
  const now = '2026-11-02T03:00:00Z';

  test('shows the forecasts of budgets and workspaces', async () => {
    const { exitCode, stdout, stderr } = await run(['forecast', '--now', now]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(
      /^everything +2026-11 +1\.00 +\d\d\.\d\d +.* 40\.00 .* from 62 days +2026-11-02T00:00:00Z$/m,
    );
    expect(stdout).toMatch(/^north \/ sandbox +2026-11 +1\.00 /m);
    expect(stdout).toContain('low, high: 80 of 100 periods should end between them');
    expect(stdout).toMatch(/complete through 2026-11-02T00:00:00Z, settled through .*\n$/);
  });

  test('says of an ended period that its last hours are not in the books', async () => {
    const { exitCode, stderr } = await run(['forecast', '--budget', 'everything', '--now', '2027-03-01']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr:
        'warning: 2026-11 is over, but the books are complete only through 2026-11-02T00:00:00Z: its forecast fills in the missing hours\n',
    });
  });

  test('shows with --as-of the forecast of that instant', async () => {
    const asked = ['forecast', '--budget', 'everything', '--json', '--as-of', '2026-10-16T12:00:00Z', '--now', now];
    const answer = JSON.parse((await run(asked)).stdout) as { forecasts: { forecast: string }[] };
    expect(answer).toMatchObject({ asOf: '2026-10-16T12:00:00Z', completeThrough: '2026-10-16T00:00:00Z' });
    expect(answer.forecasts).toMatchObject([{ budget: 'everything', spent: '36.000000000000', period: '2026-10' }]);
    const [kept] = await askSnapshot(
      dir,
      `select forecast from forecasts where scope_kind = 'budget' and complete_through = timestamp '2026-10-16'`,
    );
    expect(answer.forecasts[0]?.forecast).toBe(kept?.['forecast']);
  });

  test('reports an unknown budget or workspace', async () => {
    const plain = (...args: string[]) =>
      runCli(['forecast', ...args, '--now', now, '--dir', dir], { SINK_SECRET: secret });
    expect(await plain('--budget', 'evrything')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('there is no budget "evrything" (did you mean "everything"?)'),
    });
    expect((await plain('--workspace', 'nort')).stderr).toContain('the workspace "nort"');
  });
});

describe('budgets', () => {
  test('shows the state FORECAST and the day on which the budget is exceeded', async () => {
    const file = join(await newProject(), 'draft.yaml');
    await writeFile(
      file,
      'budgets:\n  - { name: tight, period: monthly, amount: 15 USD, thresholds: [{ at: 100%, of: forecast }] }\n',
    );
    const { stdout } = await run(['budgets', '--file', file, '--now', '2026-11-02T03:00:00Z']);
    expect(stdout).toMatch(/^tight .* FORECAST +2026-11-02T00:00:00Z$/m);
    expect(stdout).toMatch(
      /^tight: \d\d\.\d\d USD forecast for 2026-11 \(80 % interval .*\), expected to exceed 15\.00 USD around 1\d Nov$/m,
    );
  });
});
