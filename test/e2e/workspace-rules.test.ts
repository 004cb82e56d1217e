// Second tier: Four nights of the emulated account; e2e/workspaces asks each listing by workspace in the first tier.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator, type WorkspaceRule } from '../../src/emulator/index.ts';
import { askSnapshot, newProject, runCli } from '../support/project.ts';

const now = '2026-10-21T03:30:00Z';

/** Resources, costs by team and alerts after a night of an emulated account, with the key of one person or account. */
async function nightUnder(workspaceRule: WorkspaceRule, workspace?: string): Promise<unknown> {
  const emulator = await startEmulator({
    now: () => Date.parse(now),
    storyEnd: Date.parse('2026-10-21'),
    resources: 24,
    workspaceRule,
  });
  try {
    const dir = await newProject();
    const env = {
      COSTBOOK_URL: emulator.url,
      COSTBOOK_TOKEN: workspace === undefined ? emulator.tokens.admin : (emulator.workspaceTokens[workspace] ?? ''),
      COSTBOOK_ACCOUNT: emulator.account,
      COSTBOOK_INVENTORY: 'true',
    };
    await writeFile(join(dir, 'costbook.yaml'), 'since: 2026-10-19\n');
    const ended = await runCli(['ingest', '--dir', dir, '--now', now], env);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const alerted = await runCli(['alert', '--dir', dir, '--now', now, '--json'], env);
    const unnamed = emulator.requests.filter(
      ({ path }) => /^\/v0\/(sandboxes|agents|functions|jobs|models|policies)\?/.test(path) && !/workspace=/.test(path),
    );
    return {
      unnamed,
      resources: await askSnapshot(dir, 'select * from resources order by all'),
      teams: await askSnapshot(
        dir,
        `select labels ->> 'team' as team, sum(cost) as cost from costs_with_resources group by all order by all`,
      ),
      alerts: { exitCode: alerted.exitCode, rows: await askSnapshot(dir, 'select alert_key from alerts order by all') },
    };
  } finally {
    await emulator.close();
  }
}

test('one key lists every workspace, whatever the platform answers a request that names none', async () => {
  const all = await nightUnder('all');
  expect(all).toMatchObject({ unnamed: [], resources: expect.arrayContaining([expect.anything()]) });
  expect(await nightUnder('default')).toEqual(all);
  expect(await nightUnder('demand')).toEqual(all);
});

test('costs that a key sees without their resources are named, with a step', async () => {
  expect(await nightUnder('all', 'staging')).toMatchObject({
    alerts: { rows: [{ alert_key: 'unlisted/acc-harbor-labs' }] },
  });
});
