import { expect, test } from 'vitest';
import { differingWords } from '../../src/reports/exports/revoked-exports.ts';
import { newProject } from '../support/project.ts';

test('an export without a manifest is named with what to do: nothing says which report wrote it', async () => {
  const root = await newProject();
  expect(await differingWords(root, new Set())).toBeUndefined();
  expect(await differingWords(root, new Set(['focus/BILLING_PERIOD=2026-10']))).toBe(
    '1 export has no manifest that can be read. Run the reports that wrote it again, or delete it:\n  focus/BILLING_PERIOD=2026-10',
  );
});
