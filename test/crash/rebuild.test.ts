// Second tier: Kills rebuilds at several moments, each with a whole rebuild after it.

import { watch } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashText, toUnit } from '../../src/emulator/random.ts';
import {
  askFile,
  costsIn,
  ingest,
  ingestCommandLine,
  newProject,
  runCli,
  type Started,
  startCli,
} from '../support/project.ts';
import { casesOf, seedsOfRounds } from '../support/rounds.ts';
import {
  expectedCosts,
  type Fact,
  type ScriptedPlatform,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

const volume = { workspace: 'north', type: 'volume', name: 'data', uuid: null, dimension: 'volume_storage_gbs' };
const box = { workspace: 'south', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts: readonly Fact[] = [
  ...series(volume, '2026-09-02T05', [1, 2, 0.1]),
  ...series(
    box,
    '2026-09-08T00',
    Array.from({ length: 100 }, (_, hour) => 0.01 * (1 + (hour % 7))),
  ),
];

/** Landing folder and journal give the same books, row for row, after any history. */
async function expectIdentical(dir: string, when: string): Promise<void> {
  const { exitCode, stdout, stderr } = await runCli([
    'rebuild',
    '--dir',
    dir,
    '--into',
    join(await newProject(), 'rebuilt.duckdb'),
  ]);
  expect({ exitCode, stdout, stderr }, when).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining('identical to the current warehouse'),
    stderr: '',
  });
}

/** A platform that changes its mind between runs, and in every other one contradicts itself about the oldest window. */
async function fickle() {
  const platform = await startScriptedPlatform(facts);
  let round = 0;
  let isCalm = false;
  platform.lie = ({ start }) => (!isCalm && round % 2 === 0 && start < Date.parse('2026-09-05') ? 0.01 : 0);
  return {
    platform,
    next(): string {
      round += 1;
      platform.facts = facts.map((fact) => ({ ...fact, cost: fact.cost * (isCalm ? 1 : 1 + (round % 4)) }));
      return `2026-09-${String(13 + Math.floor(round / 20)).padStart(2, '0')}T${String(round % 20).padStart(2, '0')}:30:00Z`;
    },
    calm(): void {
      isCalm = true;
    },
  };
}

function begin(dir: string, platform: ScriptedPlatform, now: string): Started {
  return startCli(...ingestCommandLine(dir, platform, { now, args: ['--refetch'] }));
}

test.concurrent('books of runs killed at any time can be rebuilt exactly', async () => {
  const dir = await newProject();
  const { platform, next, calm } = await fickle();
  await ingest(dir, platform, { now: next() });
  let killed = 0;
  for (const [round, seed] of seedsOfRounds('COSTBOOK_CRASH_ROUNDS', { fixed: 3, fresh: 8 }).entries()) {
    const run = begin(dir, platform, next());
    // Anywhere from the program's start to about its end.
    const death = setTimeout(() => run.process.kill('SIGKILL'), 200 + toUnit(hashText(seed, 'death')) * 1500);
    const { exitCode } = await run.ended;
    clearTimeout(death);
    if (exitCode === 137) killed += 1;
    await expectIdentical(dir, `after round ${round}, which ended with ${exitCode}`);
  }
  expect(killed).toBeGreaterThan(0);
  calm();
  expect((await ingest(dir, platform, { now: next(), args: ['--refetch'] })).exitCode).toBe(0);
  expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  await expectIdentical(dir, 'after a whole run');
});

test.concurrent.each([2, 5, 1, 3].slice(0, casesOf({ fixed: 2, fresh: 4 })))(
  'books of a run that is killed as it writes its event number %i can be made again as they are',
  async (k) => {
    const dir = await newProject();
    const { platform, next, calm } = await fickle();
    await ingest(dir, platform, { now: next() });
    const run = begin(dir, platform, next());
    let changes = 0;
    const journal = watch(join(dir, 'data', 'journal'), () => {
      changes += 1;
      if (changes >= k) run.process.kill('SIGKILL');
    });
    const { exitCode } = await run.ended;
    journal.close();
    expect(exitCode).toBe(137);
    await expectIdentical(dir, 'after the death');
    const events = 'select applied from ledger.journal';
    const [before] = await askFile(join(dir, 'data', 'warehouse.duckdb'), events);

    calm();
    expect((await ingest(dir, platform, { now: next(), args: ['--refetch'] })).exitCode).toBe(0);
    const [after] = await askFile(join(dir, 'data', 'warehouse.duckdb'), events);
    expect(Number(after?.['applied'])).toBeGreaterThan(Number(before?.['applied']));
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    await expectIdentical(dir, 'after the run that came next');
  },
);
