import { expect, test } from 'vitest';
import { resourceAddress } from '../../src/text/dashboard-address.ts';
import { dashboardProject, serve } from '../support/dashboard.ts';
import { runCli } from '../support/project.ts';

const hour = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

test('the page of a resource says idle of the resources that the report idle lists, and of no others', async () => {
  const through = Date.parse('2026-10-04T12:00:00Z');
  const window = { window_start: '2026-09-01', window_end: '2026-10-04 12:00:00' };
  const ofHours = (row: object, from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({
      ...{ workspace: 'north', cost: '0.5', usage: '10', ...row },
      bucket_start: hour(through - (to - index) * 3_600_000),
    }));
  const storage = { billing_dimension: 'sandbox_storage_gbs', usage: '1' };
  const named = (name: string) => ({ resource_name: name, resource_uuid: `id-${name}` });
  const dir = await dashboardProject({
    accounts: [{}],
    loads: [{ ...window, platform_at: '2026-10-04 14:00:00' }],
    covered: [{ ...window, claimed_end: '2026-10-04 12:00:00' }],
    costs: [
      ...ofHours(named('used'), 0, 48),
      // It is billed in every hour, and has been off for weeks.
      ...ofHours(named('off'), 0, 48),
      ...ofHours({ ...named('stored'), ...storage }, 0, 700),
      ...ofHours({ ...named('stored'), usage: '3' }, 600, 640),
      ...ofHours({ ...named('fresh'), ...storage }, 0, 100),
    ],
    resources: [
      { ...named('used'), status: 'DEPLOYED', created_at: '2026-09-01 00:00:00' },
      { ...named('off'), status: 'TERMINATED', created_at: '2026-09-01 00:00:00' },
    ],
  });
  const served = await serve(dir);
  const { stdout } = await runCli(['report', 'idle', '--json', '--dir', dir, '--now', '2026-10-04T14:00:00Z']);
  const rows = (JSON.parse(stdout) as { rows: { resource_name: string; reason: string; unused_days: number }[] }).rows;
  expect(rows.map(({ resource_name: name }) => name).toSorted()).toEqual(['off', 'stored']);
  for (const name of ['used', 'off', 'stored', 'fresh']) {
    const { text } = await served.get(resourceAddress('sandbox', 'north', name));
    const [, use = ''] = /<dt>Use<\/dt><dd>([\s\S]*?)<\/dd>/.exec(text) ?? [];
    const row = rows.find(({ resource_name: each }) => each === name);
    expect([name, use.includes('>idle')]).toEqual([name, row !== undefined]);
    if (row !== undefined) {
      expect(use).toContain(row.reason);
      expect(use).toContain(`idle for ${row.unused_days} days`);
    }
  }
  await served.stop();
});
