import { describe, expect, test } from 'vitest';
import { InterruptedError, MachineError, PlatformError, UnprovenError } from '../../src/base/errors.ts';
import { textOf } from '../../src/base/failure.ts';
import { act } from '../../src/base/next-step.ts';
import type { Step } from '../../src/jobs/definition.ts';
import { outcomeOf, runSteps, type StepResult } from '../../src/jobs/run.ts';

const step = (name: Step['name'], options: Step['options'] = {}): Step => ({ name, options });
const report = step('report', { name: 'focus' });
const close = step('close', { month: '2026-09' });

interface Played {
  readonly results: readonly StepResult[];
  /**
   * `2 check: done`, as recorded in the ledger.
   */
  readonly kept: string[];
  readonly said: string;
}

/** Runs steps; each does what its name is mapped to: ends with a code, throws, or succeeds. */
async function play(
  steps: readonly Step[],
  deeds: Partial<Record<Step['name'], number | Error | (() => void)>>,
  { signal = new AbortController().signal, timeout = new AbortController().signal } = {},
): Promise<Played> {
  const kept: string[] = [];
  const results = await runSteps({
    steps,
    runNumber: 7,
    ledger: {
      stepBegan: async ({ position, step: name }) => void kept.push(`${position} ${name}`),
      async stepEnded({ position, outcome }) {
        kept[position - 1] = `${kept[position - 1]}: ${outcome}`;
      },
    },
    async perform({ name }, underWay) {
      const deed = deeds[name] ?? 0;
      if (deed instanceof Error) throw deed;
      underWay.count({ did: name });
      if (typeof deed === 'number') return deed;
      deed();
      underWay.signal.throwIfAborted();
      return 0;
    },
    signal,
    timeout,
    now: () => 0,
    elapsed: () => 0,
    log: { info: () => undefined, warn: () => undefined },
  });
  const { exitCode, failures } = outcomeOf(results, signal);
  return { results, kept, said: `${exitCode} ${textOf(failures) ?? ''}` };
}

describe('the steps of a run', () => {
  test('all run if none fails', async () => {
    const { kept, said, results } = await play([step('ingest'), step('check'), report], {});
    expect(kept).toEqual(['1 ingest: done', '2 check: done', '3 report: done']);
    expect(said).toBe('0 ');
    expect(results[0]).toMatchObject({ exitCode: 0, figures: { did: 'ingest' }, failures: [] });
  });

  test.each<[string, Partial<Record<Step['name'], number>>, string[]]>([
    ['ingest', { ingest: 3 }, ['close', 'report', 'summarize']],
    ['check', { check: 4 }, ['close', 'report', 'summarize']],
    ['close', { close: 4 }, ['report']],
    ['report', { report: 7 }, []],
    ['summarize', { summarize: 8 }, []],
  ])('that need %s are left out if it fails, and no others', async (_, deeds, leftOut) => {
    const steps = [step('ingest'), step('check'), close, report, step('summarize'), step('alert')];
    const { results } = await play(steps, deeds);
    expect(results.filter(({ outcome }) => outcome === 'left_out').map((result) => result.step)).toEqual(leftOut);
  });

  test('end with the first of their codes in the order of all exit codes', async () => {
    const steps = [step('ingest'), step('check'), step('alert')];
    expect((await play(steps, { ingest: 3, check: 4, alert: 8 })).said).toMatch(
      /^3 ingest: ingest ended with exit code 3\ncheck:/,
    );
    expect((await play(steps, { ingest: 4, alert: new MachineError('disk full') })).said).toMatch(/^7 /);
    expect((await play(steps, { ingest: new PlatformError('no answer', {}), check: 2 })).said).toMatch(
      /^2 check: check ended with exit code 2\ningest: no answer/,
    );
  });

  test("stop when the run's time is over, except alerts", async () => {
    const over = new AbortController();
    const { kept, said } = await play(
      [step('ingest'), step('check'), step('alert')],
      { ingest: () => over.abort(new MachineError('it took too long')) },
      { timeout: over.signal },
    );
    expect(kept).toEqual(['1 ingest: failed', '2 check: left_out', '3 alert: done']);
    expect(said).toBe('7 ingest: it took too long\ncheck: it took too long');
  });

  test('stop after a signal, including alerts', async () => {
    const ended = new AbortController();
    const { kept, said } = await play(
      [step('ingest'), step('alert')],
      { ingest: () => ended.abort(new InterruptedError('SIGTERM')) },
      { signal: ended.signal },
    );
    expect(kept).toEqual(['1 ingest: failed', '2 alert: left_out']);
    expect(said).toMatch(/^143 /);
  });

  test('keep what an error found and its step apart, so that nobody prints the step twice', async () => {
    const error = new UnprovenError('the snapshot is missing', { next: act('run "costbook repair".') });
    const { results } = await play([step('check')], { check: error });
    expect(results).toMatchObject([
      { failures: [{ found: 'the snapshot is missing', next: { who: 'Act', words: 'run "costbook repair".' } }] },
    ]);
  });

  test('continue after a bug, which is thrown at the end', async () => {
    const done: string[] = [];
    const played = play([step('check'), step('alert')], {
      check: new TypeError('x is not a function'),
      alert: () => void done.push('alert'),
    });
    await expect(played).rejects.toThrow('x is not a function');
    expect(done).toEqual(['alert']);
  });

  test('that fail have the error of their command', async () => {
    const { results } = await play([step('ingest')], { ingest: new UnprovenError('it does not add up') });
    expect(results).toMatchObject([{ outcome: 'failed', exitCode: 4, failures: [{ found: 'it does not add up' }] }]);
  });
});
