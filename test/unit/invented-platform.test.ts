import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startInventedPlatform } from '../../src/demo/emulated-platform.ts';
import { MachineError } from '../../src/errors.ts';
import { never, rejection } from '../support/http-client.ts';
import { newProject } from '../support/project.ts';

const place = { url: 'http://127.0.0.1:1', account: 'acc_one', tokens: { admin: 'a', member: 'm' } };

/** The command line of a node that runs this and then stays. */
function staying(script: string): string[] {
  return ['-e', `${script}; setInterval(() => {}, 1000)`];
}

async function isGone(pid: number): Promise<boolean> {
  for (let round = 0; round < 200; round += 1) {
    try {
      kill(pid, 0);
    } catch {
      return true;
    }
    await sleep(25);
  }
  return false;
}

describe('an emulator in a child process', () => {
  test('reports its address, and ends when stopped', async () => {
    const said = `console.log(JSON.stringify({ ...${JSON.stringify(place)}, pid: process.pid }))`;
    const { stop, ...platform } = await startInventedPlatform(staying(said), never());
    expect(platform).toMatchObject(place);
    await stop();
    expect(await isGone((platform as unknown as { pid: number }).pid)).toBe(true);
    await stop();
  });

  test('that prints nothing is stopped after a time limit', async () => {
    const file = join(await newProject(), 'pid');
    const script = `fs.writeFileSync(${JSON.stringify(file)}, String(process.pid))`;
    const error = await rejection(startInventedPlatform(staying(script), never(), 1000));
    expect(error).toEqual(
      new MachineError('the emulator did not start within 1 s; check that "costbook emulator" works on this machine'),
    );
    expect(await isGone(Number(await readFile(file, 'utf8')))).toBe(true);
  });

  test('that prints something else is reported', async () => {
    expect(await rejection(startInventedPlatform(staying('console.log("Welcome!")'), never()))).toMatchObject({
      message: 'the emulator printed "Welcome!", expected a line of JSON',
      exitCode: 7,
    });
  });

  test('that ends early is reported', async () => {
    expect(await rejection(startInventedPlatform(['-e', 'process.exit(3)'], never()))).toMatchObject({
      message: 'the emulator exited before it was ready; its output is above',
    });
  });

  test('is stopped by an interrupt', async () => {
    const reason = new Error('the person at the keyboard left');
    expect(await rejection(startInventedPlatform(staying(''), AbortSignal.timeout(300)))).toMatchObject({
      name: 'TimeoutError',
    });
    expect(await rejection(startInventedPlatform(staying(''), AbortSignal.abort(reason)))).toBe(reason);
  });
});
