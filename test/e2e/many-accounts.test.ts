// Second tier: Ingests a dozen accounts side by side, one of which crawls; unit/fair-limiter holds the rule.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askSnapshot, ingest, newProject, runCli } from '../support/project.ts';
import { type Fact, type ScriptedPlatform, startScriptedPlatform } from '../support/scripted-platform.ts';

const now = '2026-09-21T06:30:00Z';
const days = Array.from({ length: 20 }, (_, day) => `2026-09-${String(day + 1).padStart(2, '0')}`);

/** Hourly costs of an account: one resource, two hours of each day. */
function factsOf(account: string, names: readonly string[] = ['api']): Fact[] {
  return names.flatMap((name) =>
    days.flatMap((day) =>
      ['05', '17'].map((hour) => ({
        ...{ account, workspace: 'prod', type: 'agent', name, uuid: `uuid-${name}` },
        ...{ dimension: 'agent_compute_runtime_gbs', hour: `${day}T${hour}`, cost: 0.25, usage: 3 },
      })),
    ),
  );
}

async function projectOf(accounts: readonly string[], platform: ScriptedPlatform): Promise<string> {
  const dir = await newProject();
  platform.accounts = [...accounts];
  await writeFile(
    join(dir, 'costbook.yaml'),
    `url: ${platform.url}\ntoken: ${platform.tokens.admin}\nsince: 2026-09-01\naccounts:\n${accounts.map((id) => `  - id: ${id}\n`).join('')}`,
  );
  return dir;
}

const env = { COSTBOOK_URL: '', COSTBOOK_TOKEN: '', COSTBOOK_ACCOUNT: '', COSTBOOK_SINCE: '' };

test.concurrent('an account whose answers crawl holds up no other one', async () => {
  const small = Array.from({ length: 8 }, (_, index) => `acc_${index}`);
  const platform = await startScriptedPlatform([...small, 'acc_crawling'].flatMap((id) => factsOf(id)));
  // The first in the file, so that its requests are sent first.
  const dir = await projectOf(['acc_crawling', ...small], platform);
  let release: () => void = () => undefined;
  const released = new Promise<void>((done) => {
    release = done;
  });
  platform.onRequest = async ({ account }) => {
    if (account === 'acc_crawling') await released;
  };
  const requestsOf = (id: string) => platform.requests.filter(({ account }) => account === id);
  const running = ingest(dir, platform, { now, env });
  // Every other account is brought up to date while the first one still waits for its first answers.
  await expect
    .poll(() => small.filter((id) => requestsOf(id).some(({ start }) => start === Date.parse('2026-09-01'))).length, {
      timeout: 60_000,
    })
    .toBe(small.length);
  expect(requestsOf('acc_crawling').length).toBeLessThanOrEqual(4);
  release();
  const { exitCode, accounts } = await running;
  expect([exitCode, accounts.map(({ account }) => account)]).toEqual([0, ['acc_crawling', ...small]]);
}, 120_000);

test.concurrent('one account that fails leaves the books of eleven others complete, and equal to their platform', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `acc_${String(index).padStart(2, '0')}`);
  const names = Array.from({ length: 150 }, (_, index) => `service-${index}`);
  const platform = await startScriptedPlatform(ids.flatMap((id) => factsOf(id, id === 'acc_07' ? names : ['api'])));
  const dir = await projectOf(ids, platform);
  platform.failures.push({
    times: 10_000,
    status: 403,
    hits: ({ account }) => account === 'acc_05',
    body: { error: 'no' },
  });
  let [inProgress, most] = [0, 0];
  platform.onRequest = async () => {
    inProgress += 1;
    most = Math.max(most, inProgress);
    await new Promise((done) => setTimeout(done, 5));
    inProgress -= 1;
  };
  const first = await ingest(dir, platform, { now, env });
  expect(first.exitCode).toBe(3);
  expect(first.accounts.map(({ account }) => account)).toEqual(ids);
  expect(first.accounts.filter(({ errors }) => errors.length > 0).map(({ account }) => account)).toEqual(['acc_05']);
  expect(most).toBeLessThanOrEqual(4);
  const books = await askSnapshot(
    dir,
    'select account, cast(sum(cost) as varchar) as cost, count(*) as n from costs group by all order by account',
  );
  expect(books).toEqual(
    ids
      .filter((id) => id !== 'acc_05')
      .map((account) => ({
        account,
        cost: account === 'acc_07' ? '1500.000000000000' : '10.000000000000',
        n: account === 'acc_07' ? '6000' : '40',
      })),
  );
  platform.failures.length = 0;
  const second = await ingest(dir, platform, { now, env });
  expect([second.exitCode, second.accounts[5]?.rows]).toEqual([0, 40]);
  const checked = await runCli(['check', '--dir', dir, '--now', now]);
  expect(checked.exitCode, checked.stdout).toBe(0);
  const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(dir, 'rebuilt.duckdb')]);
  expect(rebuilt.exitCode, rebuilt.stderr).toBe(0);
}, 120_000);
