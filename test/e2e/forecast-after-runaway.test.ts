// Second tier: Ingests months of two emulated accounts; sql/forecasts-without-anomalies holds the rules.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { askSnapshot, newProject, runCli } from '../support/project.ts';

// demo-analyst runs away from 2026-11-15T21:00Z to 2026-11-24T00:00Z, at about 90 USD a day.
const storyEnd = Date.UTC(2026, 10, 22);

interface Made {
  readonly forecast: string;
  readonly low: string;
  readonly high: string;
  readonly spent: string;
  readonly anomalies?: readonly { readonly goesOn: boolean; readonly daily: string | null; readonly added: string }[];
}

let running: Made | undefined;
let after: Made | undefined;
/** Of the same account without a runaway. */
let without: Made | undefined;
let text = '';
let december = 0;

/** An account whose agent runs away in the week before an instant, and a project that ingests and evaluates it. */
async function openAccount(storyEnd: number) {
  const dir = await newProject();
  let now = 0;
  const platform = await startEmulator({ now: () => now, storyEnd });
  const env = {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_ACCOUNT: platform.account,
    COSTBOOK_SINCE: '2026-09-15',
    COSTBOOK_INVENTORY: 'false',
  };
  await mkdir(join(dir, 'jobs'));
  await writeFile(
    join(dir, 'jobs', 'budgets.yaml'),
    'budgets: [{ name: everything, period: monthly, amount: 5000 USD }]\n',
  );
  async function run(at: string, ...args: readonly string[]): Promise<string> {
    now = Date.parse(at);
    const ended = await runCli([...args, '--dir', dir, '--now', at], env);
    expect(ended.exitCode, ended.stderr).toBe(0);
    return ended.stdout;
  }
  async function forecastOn(at: string): Promise<Made | undefined> {
    await run(at, 'ingest');
    await run(at, 'alert');
    const { forecasts } = JSON.parse(await run(at, 'forecast', '--budget', 'everything', '--json')) as {
      forecasts: Made[];
    };
    return forecasts[0];
  }
  return { dir, run, forecastOn, close: () => platform.close() };
}

beforeAll(async () => {
  const account = await openAccount(storyEnd);
  running = await account.forecastOn('2026-11-19T02:15:00Z');
  text = await account.run('2026-11-19T02:15:00Z', 'forecast', '--budget', 'everything');
  await account.forecastOn('2026-11-26T02:15:00Z');
  after = await account.forecastOn('2026-12-01T02:15:00Z');
  await account.run('2027-01-05T02:15:00Z', 'ingest');
  const [row] = await askSnapshot(
    account.dir,
    "select sum(cost) as cost from hourly_costs where bucket_start >= '2026-12-01' and bucket_start < '2027-01-01'",
  );
  december = Number(row?.['cost']);
  await account.close();
  const other = await openAccount(Date.UTC(2027, 5, 1));
  without = await other.forecastOn('2026-12-01T02:15:00Z');
  await other.close();
}, 600_000);

describe('a forecast of the emulated account', () => {
  test('after a runaway has ended is what the account costs without it', () => {
    expect(Math.abs(Number(after?.forecast) / december - 1)).toBeLessThan(0.05);
    expect(without?.anomalies).toBeUndefined();
    expect(Math.abs(Number(after?.forecast) / Number(without?.forecast) - 1)).toBeLessThan(0.01);
    expect(after?.anomalies).toMatchObject([{ goesOn: false }]);
  });

  test('while it runs adds its daily rate to the days to come, and says so', () => {
    const [anomaly] = running?.anomalies ?? [];
    expect(Number(anomaly?.daily)).toBeGreaterThan(85);
    expect(Number(anomaly?.daily)).toBeLessThan(95);
    // Twelve days are left.
    expect(Number(anomaly?.added)).toBeCloseTo(Number(anomaly?.daily) * 12, 0);
    expect(Number(running?.low)).toBeLessThan(Number(running?.forecast) - Number(anomaly?.added));
    expect(text).toMatch(/everything: the forecast adds what goes on: demo-analyst \d+\.\d\d USD a day,/);
  });
});
