import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { main, usualEffects } from '../../src/main.ts';
import { newProject } from '../support/project.ts';

test('a command that a signal ended is not ended again, however long its process stays', async () => {
  const timers: (() => void)[] = [];
  const ended: string[] = [];
  await main(['--version'], {
    ...usualEffects({}),
    ...{ stdin: Readable.from([]), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, folder: '/' },
    setUmask: () => undefined,
    onSignal: (take) => take('SIGTERM'),
    onUnhandledRejection: () => undefined,
    endBySignal: (signal) => void ended.push(signal),
    interrupt: () => undefined,
    later: (_, action) => void timers.push(action),
  });
  expect(timers).toHaveLength(1);
  for (const fire of timers) fire();
  expect(ended).toEqual([]);
});

test('a signal ends a command that reads its input, and a longer input than it takes is refused', async () => {
  async function asked(stdin: Readable, onSignal: (take: (signal: 'SIGINT') => void) => void) {
    const stderr = new PassThrough();
    const env = { COSTBOOK_URL: 'http://127.0.0.1:1' };
    const exitCode = await main(['sql', '-'], {
      ...usualEffects({}),
      ...{ stdin, stdout: new PassThrough(), stderr, env, folder: await newProject() },
      setUmask: () => undefined,
      onSignal,
      onUnhandledRejection: () => undefined,
      endBySignal: () => undefined,
      interrupt: () => undefined,
    });
    return { exitCode, stderr: String(stderr.read()) };
  }
  const silent = new Readable({ read: () => undefined });
  const interrupted = await asked(silent, (take) => void setTimeout(() => take('SIGINT'), 100));
  expect(interrupted).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('ended by SIGINT') });
  let pieces = 0;
  const endless = new Readable({
    read() {
      pieces += 1;
      this.push('select 1 '.repeat(10_000));
    },
  });
  const long = await asked(endless, () => undefined);
  expect(long).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('longer than 1 MiB') });
  expect(pieces).toBeLessThan(40);
});
