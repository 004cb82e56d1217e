// Second tier: Two nights over thirteen months as both roles.

import { afterAll, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { newProject, runCli } from '../support/project.ts';

const open: Emulator[] = [];
afterAll(async () => {
  for (const emulator of open) await emulator.close();
});

const storyEnd = Date.UTC(2026, 10, 16);

/** One night's ingest of the same account: its past is the same, only its clock has moved on. */
async function night(dir: string, now: string, as: 'admin' | 'member') {
  const emulator = await startEmulator({ now: () => Date.parse(now), storyEnd });
  open.push(emulator);
  const { exitCode, stdout, stderr } = await runCli(['ingest', '--dir', dir, '--now', now, '--json'], {
    COSTBOOK_URL: emulator.url,
    COSTBOOK_TOKEN: emulator.tokens[as],
    COSTBOOK_ACCOUNT: emulator.account,
  });
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout).accounts[0];
}

test.each(['admin', 'member'] as const)(
  'a steady night over thirteen months takes at most twelve requests as %s, and restates nothing',
  async (as) => {
    const dir = await newProject();
    const first = await night(dir, '2026-11-18T02:15:00Z', as);
    expect(first.windows).toBeGreaterThan(55);
    const next = await night(dir, '2026-11-19T02:15:00Z', as);
    const requests = Object.values<number>(next.requests).reduce((sum, count) => sum + count, 0);
    expect({ windows: next.windows, restated: next.restated }).toEqual({ windows: 1, restated: 0 });
    expect(requests).toBeLessThanOrEqual(12);
    // Resource listings are counted separately: one request each here.
    expect(next.inventory.requests).toBe(6);
    expect(next.requests.verify, 'five windows of daily totals and the series').toBeGreaterThan(5);
  },
);
