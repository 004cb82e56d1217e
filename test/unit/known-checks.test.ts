import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MachineError } from '../../src/base/errors.ts';
import { withKnownChecks } from '../../src/findings/known-checks.ts';
import { type Check, type CheckResult, readChecks } from '../../src/warehouse/ledger/checks.ts';
import { ownAnswers } from '../../src/warehouse/store/answer-cache.ts';
import { newProject } from '../support/project.ts';

const october = { from: Date.UTC(2026, 9, 1), whole: [] };
const byHours = 'hourly_costs_are_unique';
const byBooks = 'loads_are_in_order';

/** Two built-in checks, of which one can be asked by month, and a check of the project. */
async function checks(): Promise<readonly Check[]> {
  const dir = await newProject();
  await mkdir(join(dir, 'sql', 'checks'), { recursive: true });
  await writeFile(join(dir, 'sql', 'checks', 'mine.sql'), '--! severity: warn\nselect 1 where now() < timestamp 2026');
  const all = await readChecks(join(dir, 'sql'));
  const ours = all.filter(({ name }) => [byHours, byBooks, 'mine'].includes(name));
  expect(ours.map(({ isByMonth }) => isByMonth === true)).toEqual([true, false, false]);
  return ours;
}

/** Runs checks that find so many rows, and notes which were run. */
function runner(offenders: Readonly<Record<string, number>> = {}, broken?: string) {
  const runs: string[][] = [];
  async function run(asked: readonly Check[]): Promise<readonly CheckResult[]> {
    runs.push(asked.map(({ name }) => name));
    return asked.map((check): CheckResult => {
      const nothing = { check, columns: [], cells: [], rows: [] };
      if (check.name === broken) return { ...nothing, offenders: undefined, error: new MachineError('too long') };
      return { ...nothing, offenders: offenders[check.name] ?? 0, error: undefined };
    });
  }
  return { runs, run };
}

test('built-in checks are not run again over the same books, those of a project always are', async () => {
  const ours = await checks();
  const cache = ownAnswers();
  const { runs, run } = runner({ [byBooks]: 2 });
  const first = await withKnownChecks(ours, undefined, cache, run);
  const second = await withKnownChecks(ours, undefined, cache, run);
  expect(runs).toEqual([[byHours, byBooks, 'mine'], ['mine']]);
  const found = (results: readonly CheckResult[]) => results.map(({ check, offenders }) => [check.name, offenders]);
  expect(found(first)).toEqual([
    [byHours, 0],
    [byBooks, 2],
    ['mine', 0],
  ]);
  expect(found(second)).toEqual(found(first));
});

test('a check that was right about all hours is right about some; one that was wrong is run again', async () => {
  const ours = await checks();
  for (const [rows, expected] of [
    [0, []],
    [3, [byHours]],
  ] as const) {
    const cache = ownAnswers();
    const { runs, run } = runner({ [byHours]: rows });
    await withKnownChecks(ours, undefined, cache, run);
    await withKnownChecks(ours, october, cache, run);
    expect(runs[1]).toEqual([...expected, 'mine']);
  }
});

test('what was found in some hours says nothing about all hours, or about others', async () => {
  const ours = await checks();
  const cache = ownAnswers();
  const { runs, run } = runner();
  await withKnownChecks(ours, october, cache, run);
  await withKnownChecks(ours, { ...october, from: Date.UTC(2026, 8, 1) }, cache, run);
  await withKnownChecks(ours, { ...october, whole: [byHours] }, cache, run);
  await withKnownChecks(ours, october, cache, run);
  expect(runs.slice(1)).toEqual([[byHours, 'mine'], [byHours, 'mine'], ['mine']]);
});

test('a check that failed is run again', async () => {
  const ours = await checks();
  const cache = ownAnswers();
  const { runs, run } = runner({}, byBooks);
  await withKnownChecks(ours, undefined, cache, run);
  const [, again] = await withKnownChecks(ours, undefined, cache, run);
  expect(runs[1]).toEqual([byBooks, 'mine']);
  expect(again?.error?.message).toBe('too long');
});

test('without cached answers all are run', async () => {
  const { runs, run } = runner();
  await withKnownChecks(await checks(), october, undefined, run);
  expect(runs).toEqual([[byHours, byBooks, 'mine']]);
});
