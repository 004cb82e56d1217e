import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { main, usualEffects } from '../../src/main.ts';

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
