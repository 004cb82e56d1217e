import { cp, rm } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { warehouseOf } from '../support/breakages.ts';
import { type BooksToBreak, booksToBreak, now } from '../support/broken-books.ts';
import { ingestCommandLine, newProject, runCli, startCli } from '../support/project.ts';
import { type ScriptedPlatform, startScriptedPlatform } from '../support/scripted-platform.ts';

let books: BooksToBreak;
beforeAll(async () => {
  books = await booksToBreak();
});

const later = '2026-09-20T12:30:00Z';

/** The lines that say what to do, without color and indent. */
function steps(words: string): string[] {
  return words
    .split('\n')
    .filter((line) => /^\s*(→ )?(Act|Wait)( \([^)]*\))?: /.test(line))
    .map((line) => line.trim().replace('→ ', ''));
}

describe.concurrent('a missing warehouse', () => {
  test('has one step, which names what comes after it, the same in status and doctor', async () => {
    const dir = await books.broken('no warehouse');
    const read = async (...args: string[]) => steps((await runCli([...args, '--now', later, '--dir', dir])).stdout);
    const status = ['Act (operator of Costbook): run "costbook repair". Then run "costbook ingest".'];
    expect(await read('status')).toEqual(status);
    const ofBooks = (found: string[]) => found.filter((step) => /repair|ingest|nightly/.test(step));
    expect(ofBooks(await read('doctor', '--offline'))).toEqual(status);
    // A run that meets the fault changes no step.
    const [, env] = ingestCommandLine(dir, books.platform, { now: later });
    const refused = await runCli(['run', 'nightly', '--dir', dir, '--now', later], env);
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain(
      'rebuilds the warehouse from the snapshot, the loads stored since and the journal',
    );
    expect(await read('status')).toEqual(status);
    expect(ofBooks(await read('doctor', '--offline'))).toEqual(status);
  });
});

describe.concurrent('a run that was killed', () => {
  /** A run of the job nightly, killed while its first step waits for the platform. */
  async function killedRun(): Promise<{ dir: string; platform: ScriptedPlatform; env: Record<string, string> }> {
    const dir = await newProject();
    await cp(books.whole, dir, { recursive: true });
    const platform = await startScriptedPlatform([]);
    const asked = new Promise<void>((resolve) => {
      platform.onRequest = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const [, env] = ingestCommandLine(dir, platform, { now });
    const run = startCli(['run', 'nightly', '--dir', dir, '--now', now], env);
    await asked;
    const active = await runCli(['status', '--now', now, '--dir', dir]);
    expect(active.stdout).toMatch(
      / {2}- run 3 \(run nightly\) is active since 2026-09-12T12:30:00Z in its step ingest\n/,
    );
    expect(steps(active.stdout)).toEqual(['Wait: until it ends.']);
    run.process.kill('SIGKILL');
    await run.ended;
    return { dir, platform, env };
  }

  test('is named by status and doctor with its step, and with what the next run does', async () => {
    const { dir } = await killedRun();
    const found = 'run 3 (run nightly) of 2026-09-12T12:30:00Z was killed in its step ingest. The books are intact';
    const step = 'Wait: the next run, within a day, loads what is missing. To load it now, run "costbook run nightly".';
    const status = await runCli(['status', '--now', now, '--dir', dir]);
    expect(status.stdout).toContain(`  - ${found}\n    ${step}\n`);
    expect(status.stdout).toMatch(/^YES/);
    const json = JSON.parse((await runCli(['status', '--json', '--now', now, '--dir', dir])).stdout);
    expect(json.unended).toMatchObject({ runNumber: 3, command: 'run nightly', step: 'ingest', isActive: false });
    const doctor = await runCli(['doctor', '--offline', '--now', now, '--dir', dir]);
    expect(doctor.stdout).toContain(`WARN  runs: ${found}\n      → ${step}\n`);
    // With a fault of the files, the next run is refused: the repair comes first.
    await rm(warehouseOf(dir));
    expect(steps((await runCli(['status', '--now', now, '--dir', dir])).stdout)).not.toContain(step);
  });
});
