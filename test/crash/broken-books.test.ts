// Second tier: Repairs files that break in drawn orders, two minutes of CPU.

import { beforeAll, expect, inject, test } from 'vitest';
import { hashText, toUnit } from '../../src/emulator/random.ts';
import { breakages, snapshotOf } from '../support/breakages.ts';
import { type BooksToBreak, booksToBreak, now, sum, total } from '../support/broken-books.ts';
import { costsIn, ingest, runCli } from '../support/project.ts';

// Broken files and commands in orders drawn by seed: COSTBOOK_CRASH_ROUNDS=200 goes on for longer.
const rounds = Number(process.env['COSTBOOK_CRASH_ROUNDS'] ?? 6);
const stepsPerRound = 6;

let books: BooksToBreak;
beforeAll(async () => {
  books = await booksToBreak();
});

const commands: Readonly<Record<string, (dir: string) => Promise<{ exitCode: number; stderr: string }>>> = {
  ingest: (dir) => ingest(dir, books.platform, { now }),
  repair: (dir) => runCli(['repair', '--dir', dir]),
  report: (dir) => runCli(['report', 'cost_by_workspace', '--month', '2026-09', '--dir', dir, '--now', now]),
  rebuild: (dir) => runCli(['rebuild', '--into', `${snapshotOf(dir)}.${Date.now()}.rebuilt`, '--dir', dir]),
  status: (dir) => runCli(['status', '--dir', dir, '--now', now]),
  check: (dir) => runCli(['check', '--dir', dir]),
  alert: (dir) => runCli(['alert', '--dir', dir, '--now', now]),
};

test.concurrent.each(Array.from({ length: rounds }, (_, round) => inject('seed') + round))(
  'books whose files break in the order of seed %i never give a wrong number, and repair heals them',
  async (seed) => {
    const dir = await books.broken();
    let story = `seed ${seed}`;
    function drawn(names: readonly string[], what: string): string {
      return names[Math.floor(toUnit(hashText(seed, what)) * names.length)] ?? '';
    }
    // What repair cannot give back is another test's; here landing and journal stay.
    const breaks = Object.keys(breakages).filter((name) => !name.includes('landing without'));
    for (let step = 0; step < stepsPerRound; step += 1) {
      if (toUnit(hashText(seed, `breaks ${step}`)) < 0.6) {
        const name = drawn(breaks, `breakage ${step}`);
        story += `; ${name}`;
        await breakages[name]?.(dir, books.older).catch(() => undefined); // what it would break may be broken already
      }
      const command = drawn(Object.keys(commands), `command ${step}`);
      story += `; ${command}`;
      const ended = await commands[command]?.(dir);
      expect([0, 2, 4, 5, 7], `${story}: ${ended?.stderr}`).toContain(ended?.exitCode);
      const read = await runCli(['sql', sum, '--json', '--dir', dir]);
      expect([0, 2, 4, 7], `${story}: ${read.stderr}`).toContain(read.exitCode);
      if (read.exitCode === 0) expect(JSON.parse(read.stdout).rows, story).toEqual([{ cost: total }]);
      else expect(read.stderr, story).toContain('costbook repair');
    }
    const repair = await runCli(['repair', '--dir', dir]);
    expect(repair.exitCode, `${story}; repair: ${repair.stderr}`).toBe(0);
    expect(await costsIn(dir), story).toEqual(books.costs);
    expect((await runCli(['status', '--exit-code', '--dir', dir, '--now', now])).exitCode, story).toBe(0);
    expect((await ingest(dir, books.platform, { now })).exitCode, story).toBe(0);
    expect(await costsIn(dir), story).toEqual(books.costs);
  },
  60_000 * stepsPerRound,
);
