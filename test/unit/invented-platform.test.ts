import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MachineError } from '../../src/base/errors.ts';
import { startInventedPlatform } from '../../src/demo/emulated-platform.ts';
import { parseInstant } from '../../src/time/time.ts';
import { never, rejection } from '../support/http-client.ts';
import { newProject } from '../support/project.ts';

const now = parseInstant('2026-10-15', 'now', 0);

/** The options of a thread that runs this in place of the emulator, and then stays. */
async function staying(script: string) {
  const program = join(await newProject(), 'thread.mjs');
  await writeFile(program, `${script}; setInterval(() => {}, 1000)`);
  return { program };
}

describe('an emulator in a thread', () => {
  test('reports its address, answers, and ends when stopped', async () => {
    const { url, account, tokens, stop } = await startInventedPlatform({ now }, never());
    const ask = () => fetch(`${url}/v0/accounts`, { headers: { authorization: `Bearer ${tokens.admin}` } });
    expect(JSON.stringify(await (await ask()).json())).toContain(account);
    await stop();
    await expect(ask()).rejects.toThrow('fetch failed');
    await stop();
  });

  test('that says nothing is stopped after a time limit', async () => {
    const error = await rejection(startInventedPlatform({ now }, never(), { limitMs: 300, ...(await staying('')) }));
    expect(error).toEqual(
      new MachineError('the emulator did not start within 0.3 s; check that "costbook emulator" works on this machine'),
    );
  });

  test('that ends early is reported', async () => {
    expect(await rejection(startInventedPlatform({ now }, never(), await staying('process.exit(3)')))).toMatchObject({
      message: 'the emulator ended before it was ready',
      exitCode: 7,
    });
  });

  test('that fails is reported with its reason', async () => {
    const failing = await staying('throw new Error("no port is free")');
    expect(await rejection(startInventedPlatform({ now }, never(), failing))).toMatchObject({
      message: 'no port is free',
    });
  });

  test('is stopped by an interrupt', async () => {
    const reason = new Error('the person at the keyboard left');
    const silent = await staying('');
    expect(await rejection(startInventedPlatform({ now }, AbortSignal.timeout(300), silent))).toMatchObject({
      name: 'TimeoutError',
    });
    expect(await rejection(startInventedPlatform({ now }, AbortSignal.abort(reason), silent))).toBe(reason);
  });
});
