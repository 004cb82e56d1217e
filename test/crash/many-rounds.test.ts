// Second tier: Eight rounds of killed runs; four are in crash/rounds. One ingest waits for a minute.

import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { factsOf, liveThroughKills, toldBy } from '../support/killed-rounds.ts';
import { costsIn, ingestCommandLine, newProject, runCli, startCli } from '../support/project.ts';
import { seedsOfRounds } from '../support/rounds.ts';
import { expectedCosts, startScriptedPlatform } from '../support/scripted-platform.ts';

// By hand any number of rounds from any seed: COSTBOOK_CRASH_ROUNDS=1000 COSTBOOK_TEST_SEED=7 npx vitest run test/crash
const seeds = seedsOfRounds('COSTBOOK_CRASH_ROUNDS', { fixed: 8, fresh: 24 });

describe.concurrent('runs killed at random times', () => {
  test.each([0, 1])(
    'leave books that the next run makes correct (project %i of 2)',
    async (project) => {
      const own = seeds.filter((seed) => seed % 2 === project);
      const struck = await liveThroughKills(own);
      // Most deaths came in time: a moment that never comes would test nothing.
      expect(struck.length).toBeGreaterThan(own.length / 2);
    },
    60_000 + seeds.length * 30_000,
  );
});

test.concurrent('a long ingest keeps its lock after each snapshot that it publishes', async () => {
  const dir = await newProject();
  const now = Date.parse('2026-10-20T00:30:00Z');
  const platform = await startScriptedPlatform(toldBy(now, factsOf(0)));
  const first = startCli(
    ...ingestCommandLine(dir, platform, { now: new Date(now).toISOString(), env: { COSTBOOK_CONCURRENCY: '1' } }),
  );
  const refused: unknown[] = [];
  let publications = 0;
  // That folder alone: Node's own watching of whole trees fails where one of its folders is gone in the same moment.
  await mkdir(join(dir, 'data'), { recursive: true });
  const names = watch(join(dir, 'data'), (event, name) => {
    if (event === 'rename' && name === 'costbook.duckdb') publications += 1;
  });
  // The platform is slow enough for two snapshots on the way, and waits while somebody else tries to write.
  const seconds = new Map([
    [3, 31],
    [7, 31],
  ]);
  platform.onRequest = async ({ number, token }) => {
    if (token !== platform.tokens.admin) return;
    await sleepFor(1000 * (seconds.get(number) ?? 0));
    if (publications <= refused.length) return;
    const { exitCode, stderr } = await runCli(['ingest', '--dir', dir], {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: platform.tokens.member,
      COSTBOOK_ACCOUNT: 'acc_one',
    });
    refused.push({ exitCode, pid: /held by process (\d+) /.exec(stderr)?.[1] });
  };
  expect((await first.ended).exitCode).toBe(0);
  names.close();
  const pid = String(first.process.pid);
  expect(refused.slice(0, 2)).toEqual([
    { exitCode: 5, pid },
    { exitCode: 5, pid },
  ]);
  expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
}, 180_000);
