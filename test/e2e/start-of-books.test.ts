import { expect, test } from 'vitest';
import { askSnapshot, costsIn, ingest, projectWithPlatform } from '../support/project.ts';
import { box, expectedCosts, series } from '../support/scripted-platform.ts';

const facts = series(box, '2026-09-02T05', [1, 2, 3]);

test('books never begin later than they did: a relative since moves every night, the hours stay', async () => {
  const { dir, platform } = await projectWithPlatform(facts);
  const nights = [
    ['2026-09-09T12:30:00Z', '-8d', '2026-09-01 00:00:00'],
    ['2026-09-12T12:30:00Z', '-8d', '2026-09-01 00:00:00'],
    // An earlier start still makes the books longer.
    ['2026-09-12T13:30:00Z', '2026-08-31', '2026-08-31 00:00:00'],
  ] as const;
  for (const [now, since, start] of nights) {
    const { exitCode, stderr } = await ingest(dir, platform, { now, env: { COSTBOOK_SINCE: since } });
    expect(exitCode, stderr).toBe(0);
    const [account] = await askSnapshot(dir, 'select cast(history_start as varchar) as start from accounts');
    expect(account?.['start']).toBe(start);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  }
});
