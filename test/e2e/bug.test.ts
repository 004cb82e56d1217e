import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/base/errors.ts';
import { sourceStack } from '../../src/base/source-stack.ts';
import type { main } from '../../src/main.ts';
import { runChild } from '../../src/query/run-child.ts';
import { newProject, startCli } from '../support/project.ts';

/** The line of our code that a stack names first. */
function firstOwnLine(stack: string): string {
  const [, file = '', line = ''] = /\(?(src\/[\w/-]+\.ts):(\d+):\d+/.exec(stack) ?? [];
  return (
    readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8').split('\n')[Number(line) - 1] ?? ''
  );
}

test("the stack of a bug names our files and lines, not the bundle's", async () => {
  const compiled = (await import(
    new URL('../../dist/main.js', import.meta.url).href
  )) as typeof import('../../src/main.ts');
  const run: typeof main = compiled.main;
  let said = '';
  const silent = () => new Writable({ write: (_, __, done) => done() });
  const stderr = new Writable({
    write(chunk, _, done) {
      said += chunk;
      done();
    },
  });
  const exitCode = await run(['status'], {
    ...compiled.usualEffects({}),
    ...{ stdin: Readable.from([]), stdout: silent(), stderr, env: {}, folder: await newProject() },
    setUmask() {
      throw new TypeError('there is no such mask');
    },
    onSignal: () => undefined,
    onUnhandledRejection: () => undefined,
    endBySignal: () => undefined,
    interrupt: () => undefined,
  });
  expect(exitCode).toBe(exitCodes.bug);
  expect(said).toContain('TypeError: there is no such mask');
  expect(firstOwnLine(said)).toContain('effects.setUmask(');
  expect(said.split('\n').filter((line) => /\/dist\/[\w-]+\.js/.test(line) && !line.includes('node_modules'))).toEqual(
    [],
  );
});

test('so does the stack of a bug in a child process', async () => {
  const error = await runChild(
    { service: 'command', dir: '/', subject: 'a command that does not exist', input: { name: 'nosuch' } as never },
    { timeoutMs: 60_000, write: () => Promise.resolve(), signal: new AbortController().signal },
  ).catch((failure: Error) => failure);
  expect(error).toBeInstanceOf(Error);
  const stack = (error as Error).stack ?? '';
  expect(stack).toMatch(/dist\/child\.js:\d+:\d+/);
  expect(firstOwnLine(sourceStack(stack))).toContain('commands[name]()');
});

test('a stack without places of ours stays as it is', () => {
  const stack = 'Error: x\n    at run (/elsewhere/dist/main.js:1:1)\n    at node:internal/main:2:3';
  expect(sourceStack(stack)).toBe(stack);
});

test('a command that waits for itself says so, and ends as a bug does', async () => {
  const stuck = `import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    fs.stat = () => new Promise(() => {});
    syncBuiltinESMExports();`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(stuck)}`;
  const { exitCode, stderr } = await startCli(['status', '--dir', await newProject()], { NODE_OPTIONS: preload }).ended;
  expect({ exitCode, stderr }).toEqual({
    exitCode: exitCodes.bug,
    stderr: expect.stringContaining('the command waits for itself'),
  });
});
