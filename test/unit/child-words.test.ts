import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { CostbookError, MachineError } from '../../src/base/errors.ts';
import { isExitCode, readWords, toError } from '../../src/query/child-words.ts';
import { sendExports } from '../../src/storage/send-exports.ts';

/** What a child said, and what its parent takes from it. */
async function taken(...lines: readonly string[]): Promise<{ end: unknown; events: unknown[] }> {
  const events: unknown[] = [];
  const end = await readWords(Readable.from(lines.map((line) => Buffer.from(`${line}\n`))), (event) =>
    events.push(event),
  );
  return { end, events };
}

const failed = (failure: unknown) => JSON.stringify({ failure });

describe('of the words of a child', () => {
  test('its events and its first result are taken, also if it says more afterwards', async () => {
    const event = { tell: 'a row' };
    expect(await taken(JSON.stringify({ event }), '{"done":7}', failed({ exitCode: 2, message: 'late' }))).toEqual({
      end: { done: 7 },
      events: [event],
    });
    expect(await taken(failed({ exitCode: 2, message: 'no' }), '{"done":7}')).toMatchObject({
      end: { failure: { exitCode: 2, message: 'no' } },
    });
  });

  test('a name with signs that end a line elsewhere is whole', async () => {
    const done = 'x\u2028y\u2029z\u0085\rü';
    expect(await taken(JSON.stringify({ done }))).toEqual({ end: { done }, events: [] });
  });

  test('none is a result if it died before', async () => {
    expect(await taken()).toEqual({ end: undefined, events: [] });
    expect(await taken('{"event":{}}')).toEqual({ end: undefined, events: [{}] });
  });

  test.each([
    '',
    'not JSON',
    '{"done":',
    'null',
    '7',
    '"done"',
    '[]',
    '{}',
    '{"event":"text"}',
    '{"event":null}',
    '{"failed":{}}',
    failed(null),
    failed('text'),
    failed({ exitCode: 2 }),
    failed({ exitCode: 2, message: 7 }),
    failed({ message: 'no code' }),
    ...[0, -1, 256, 1.5, '2', null, 1e300].map((exitCode) => failed({ exitCode, message: 'x' })),
  ])('the false line %j ends the command as a failure of this machine', async (line) => {
    const said = taken('{"event":{"progress":"x"}}', line, '{"done":0}');
    await expect(said).rejects.toThrow(MachineError);
    await expect(said).rejects.toThrow('a child process sent something else than it may');
  });

  test('a line of more than 10 MB, and more than 64 MB in all, are refused', async () => {
    const more = 'a child process sent more than it may';
    await expect(taken(`{"done":"${'x'.repeat(10 * 1024 * 1024)}"}`)).rejects.toThrow(more);
    const event = JSON.stringify({ event: { tell: 'x'.repeat(1024 * 1024) } });
    await expect(taken(...Array.from({ length: 70 }, () => event))).rejects.toThrow(more);
    // Also without an end of line.
    const endless = Readable.from(Array.from({ length: 70 }, () => Buffer.alloc(1024 * 1024, 'x')));
    await expect(readWords(endless, () => undefined)).rejects.toThrow(more);
  });

  test('what an event makes of itself here ends the reading', async () => {
    const words = Readable.from([Buffer.from('{"event":{}}\n{"done":1}\n')]);
    const onEvent = () => {
      throw new TypeError('a false event');
    };
    await expect(readWords(words, onEvent)).rejects.toThrow('a false event');
  });
});

test('a failure has the exit code of the child, with a message that is cut; a bug is thrown with its stack', () => {
  const error = toError({ exitCode: 4, message: 'x'.repeat(100_000), stack: undefined });
  expect(error).toBeInstanceOf(CostbookError);
  expect([error.exitCode, error.message.length]).toEqual([4, 16 * 1024 + 2]);
  let bug: unknown;
  try {
    toError({ exitCode: 1, message: 'oops', stack: 'Error: oops\n    at there' });
  } catch (thrown) {
    bug = thrown;
  }
  expect(bug).not.toBeInstanceOf(CostbookError);
  expect(bug).toMatchObject({ message: 'oops', stack: 'Error: oops\n    at there' });
});

test.each([
  [0, true],
  [255, true],
  [256, false],
  [-1, false],
  [0.5, false],
  ['0', false],
  [undefined, false],
  [Number.NaN, false],
])('%j is an exit code: %j', (code, isOne) => {
  expect(isExitCode(code)).toBe(isOne);
});

test.each([
  '/etc',
  '/project/exports',
  '/project/exports/..',
  '/project/exports/../data',
  '/project/exports-old/x',
  '',
  7,
  null,
])('nothing of the place %j that a child names is sent to a store', async (folder) => {
  const below = '/project/exports/summary';
  for (const published of [
    { reportFolder: below, folder },
    { reportFolder: folder, folder: below },
  ]) {
    await expect(sendExports([published as never], '/project/exports', {} as never, {} as never)).rejects.toThrow(
      'are not below the folder of all exports',
    );
  }
});
