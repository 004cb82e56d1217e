import { expect, test } from 'vitest';
import { reducedTotals } from '../../src/ingest/reduced-access.ts';
import { usd } from '../../src/money/money.ts';

test('totals that the platform no longer reports are shown to the cent as every other surface shows them', () => {
  const none = { ours: 0, theirs: 0, days: 0, lowerDays: 0, workspacesGone: [], renames: [] };
  const empty = { days: 31, from: '2026-10-01', to: '2026-10-31', ours: 1186.995 };
  expect(reducedTotals({ ...none, empty })?.found).toContain(usd('1186.995'));
  expect(reducedTotals({ ...none, empty })?.found).toContain('books have 1,187.00 USD');
});
