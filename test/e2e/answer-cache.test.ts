// Second tier: Runs nights as commands and makes the books again; sql/answer-cache holds the rules in the first tier.

import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { snapshotFile } from '../../src/warehouse/integrity/snapshot-file.ts';
import { writeAsForeigner } from '../support/breakages.ts';
import { askFile, type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { type Fact, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const now = '2026-10-09T03:00:00Z';
const night = { run: 2, at: now };

/** A dollar and some cents at noon of each day since September, with another cost on one of them. */
function truth(odd: number): Fact[] {
  const facts: Fact[] = [];
  for (let at = Date.parse('2026-09-01'); at < Date.parse('2026-10-09'); at += 86_400_000) {
    const hour = `${new Date(at).toISOString().slice(0, 10)}T12`;
    facts.push({ ...box, hour, cost: hour === '2026-10-07T12' ? odd : 1 + (at % 7) / 100, usage: 1 });
  }
  return facts;
}

let dir = '';
let first: Ended | undefined;
const platform = startScriptedPlatform([]);
beforeAll(async () => {
  dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  await writeFile(
    join(dir, 'jobs', 'budgets.yaml'),
    `budgets:
  - { name: everything, period: monthly, amount: 40 USD, thresholds: [{ at: 100%, of: forecast }] }
  - { name: north, period: monthly, amount: 40 USD, scope: { workspace: north } }
`,
  );
  await load(1);
  first = await run('alert');
  expect(first.exitCode, first.stderr).toBe(0);
}, 300_000);

async function load(odd: number): Promise<void> {
  const loading = await platform;
  loading.facts = truth(odd);
  const loaded = await ingest(dir, loading, { now, env: { COSTBOOK_SINCE: '2026-09-01' } });
  expect(loaded.exitCode, loaded.stderr).toBe(0);
}

function run(...args: readonly string[]): Promise<Ended> {
  return runCli([...args, '--dir', dir, '--now', now]);
}

interface Forecasts {
  readonly forecasts: readonly (Readonly<Record<string, unknown>> & { readonly storedBy: unknown })[];
}

async function forecasts(...args: readonly string[]): Promise<Forecasts['forecasts']> {
  const { exitCode, stdout, stderr } = await run('forecast', '--json', ...args);
  expect(exitCode, stderr).toBe(0);
  return (JSON.parse(stdout) as Forecasts).forecasts;
}

async function storedBy(...args: readonly string[]): Promise<unknown[]> {
  const { stdout } = await run('budgets', '--json', ...args);
  const { budgets } = JSON.parse(stdout) as { budgets: { forecast: { storedBy: unknown } }[] };
  return budgets.map(({ forecast }) => forecast.storedBy);
}

test('after a night, budgets and forecast answer with what it stored, and say so', async () => {
  expect(await storedBy()).toEqual([night, night]);
  const words = 'forecasts: stored by the run of 2026-10-09T03:00:00Z\n';
  expect((await run('budgets')).stdout).toContain(words);
  expect((await run('forecast')).stdout).toContain(words);
});

test('with the digits of a new computation, which --as-of makes', async () => {
  const stored = await forecasts();
  const computed = await forecasts('--as-of', now);
  expect(stored.map((one) => one.storedBy)).toEqual([night, night, night]);
  expect(computed.map((one) => one.storedBy)).toEqual([null, null, null]);
  expect(computed.map((one) => ({ ...one, storedBy: night }))).toEqual(stored);
  expect((await run('forecast', '--as-of', now)).stdout).not.toContain('stored by');
});

test('a budget of another file that the night did not know is computed now, and named', async () => {
  const draft = join(dir, 'draft.yaml');
  await writeFile(
    draft,
    `budgets:
  - { name: everything, period: monthly, amount: 90 USD }
  - { name: week, period: weekly, amount: 90 USD }
`,
  );
  expect(await storedBy('--file', draft)).toEqual([night, null]);
  const { stdout } = await run('budgets', '--file', draft);
  expect(stdout).toContain('forecasts: stored by the run of 2026-10-09T03:00:00Z; computed now: week\n');
});

test('a dry run and another run evaluate the same, and store nothing more', async () => {
  const file = snapshotFile(dir);
  const rows = `select run_number::int as run, count(*)::int as answers from ledger.cached_answers group by all`;
  const before = await askFile(file, rows);
  expect(before).toEqual([{ run: 2, answers: expect.anything() }]);
  const dry = await run('alert', '--dry-run', '--json');
  expect(dry.exitCode, dry.stderr).toBe(0);
  const again = await run('alert');
  expect({ ...again, stdout: again.stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Nothing new/),
  });
  expect(await askFile(file, rows)).toEqual(before);
});

test('rebuilt books are identical without them', async () => {
  const rebuilt = join(dir, 'rebuilt.duckdb');
  const { exitCode, stdout, stderr } = await run('rebuild', '--into', rebuilt);
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('identical');
  expect(await askFile(rebuilt, 'select count(*)::int as answers from ledger.cached_answers')).toEqual([
    { answers: 0 },
  ]);
});

test('after an hour has changed, all are computed until the next night', async () => {
  await load(1.2);
  expect(await storedBy()).toEqual([null, null]);
  const computed = await forecasts();
  expect((await run('alert')).exitCode).toBe(0);
  const stored = await forecasts();
  expect(stored.every((one) => one.storedBy !== null)).toBe(true);
  expect(stored.map((one) => ({ ...one, storedBy: null }))).toEqual(computed);
}, 120_000);

test('answers that another program has changed are refused, not used', async () => {
  const warehouse = join(dir, 'data', 'warehouse.duckdb');
  const change = `update ledger.cached_answers set answer = '{"drivers":[],"total":"1"}' where kind = 'cost'`;
  writeAsForeigner(warehouse, [change], 'closed');
  const { exitCode, stderr } = await run('alert');
  expect(stderr).toContain('the rows of ledger.cached_answers differ');
  expect(exitCode).toBe(4);
  const repaired = await run('repair');
  expect(repaired.exitCode, repaired.stderr).toBe(0);
  expect((await run('alert')).exitCode).toBe(0);
});

test('a night whose answers cannot be stored succeeds and says so; the next commands compute', async () => {
  const other = await newProject();
  await mkdir(join(other, 'jobs'));
  await cp(join(dir, 'jobs'), join(other, 'jobs'), { recursive: true });
  const loaded = await ingest(other, await platform, { now, env: { COSTBOOK_SINCE: '2026-09-01' } });
  expect(loaded.exitCode, loaded.stderr).toBe(0);
  // The second answer of a kind is refused.
  const index = 'create unique index one_of_a_kind on ledger.cached_answers (kind)';
  writeAsForeigner(join(other, 'data', 'warehouse.duckdb'), [index], 'closed');
  const night = await runCli(['alert', '--dir', other, '--now', now]);
  expect(night.exitCode, night.stderr).toBe(0);
  expect(night.stderr).toContain('What this run computed is not stored: the next commands take longer');
  const stored =
    'select (select count(*)::int from ledger.cached_answers) as answers, (select count(*)::int from forecasts) > 0 as has_forecasts';
  expect(await askFile(snapshotFile(other), stored)).toEqual([{ answers: 0, has_forecasts: true }]);
  const { exitCode, stdout } = await runCli(['budgets', '--json', '--dir', other, '--now', now]);
  expect(exitCode).toBe(0);
  const { budgets } = JSON.parse(stdout) as { budgets: { forecast: { storedBy: unknown } }[] };
  expect(budgets.map(({ forecast }) => forecast.storedBy)).toEqual([null, null]);
});
