import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { newProject, startCli } from '../support/project.ts';

let dir = '';
beforeAll(async () => {
  dir = await newProject();
  const warehouse = await openWarehouse(dir);
  await warehouse.publish();
  warehouse.close();
});

/** Starts to answer at once, and never ends. */
const endless = `select i from range(300000) as t(i)
  union all
  select a.i + b.i from range(100000000) as a(i), range(100000000) as b(i) where (a.i + b.i) % 1000000007 = -1`;
/** As `endless`, and DuckDB does not look up from it for minutes. */
const deaf = `select i from range(300000) as t(i)
  union all
  select levenshtein(repeat('a', 5000) || i, repeat('b', 5000) || i) from range(3000) as t(i)`;

describe.concurrent('a long query', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('is ended by %s, in order, with %i', async (signal, expected) => {
    const run = startCli(['sql', endless, '--format', 'csv', '--dir', dir]);
    run.process.stdout?.once('data', () => run.process.kill(signal));
    const { exitCode, stderr } = await run.ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: expected, stderr: `costbook: ended by ${signal}\n` });
    expect(run.process.signalCode).toBe(null);
  });

  test('that ignores the first signal is ended by the second', async () => {
    const run = startCli(['sql', deaf, '--format', 'csv', '--dir', dir]);
    await quiet(run.process);
    const again = setInterval(() => run.process.kill('SIGINT'), 100);
    const { exitCode } = await run.ended;
    clearInterval(again);
    expect({ exitCode, signal: run.process.signalCode }).toEqual({ exitCode: 130, signal: 'SIGINT' });
  });
});

test('an answer that nobody reads is ended by a signal', async () => {
  const run = startCli(['sql', 'select * from range(100000000)', '--format', 'csv', '--dir', dir]);
  run.process.stdout?.once('data', () => {
    run.process.stdout?.pause();
    run.process.kill('SIGTERM');
    run.process.once('exit', () => run.process.stdout?.resume());
  });
  expect((await run.ended).exitCode).toBe(143);
});

/** Resolves when a process that started to answer has been silent for a while: it is working. */
async function quiet({ stdout }: ChildProcess): Promise<void> {
  let lastWroteAt = Number.POSITIVE_INFINITY;
  stdout?.on('data', () => {
    lastWroteAt = Date.now();
  });
  while (!(Date.now() - lastWroteAt > 500)) await sleepFor(50);
}
