import { appendFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournalFile, readJournal } from '../../src/warehouse/journal.ts';
import type { JournalEvent } from '../../src/warehouse/journal-events.ts';
import fc from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });
const event: fc.Arbitrary<JournalEvent> = fc.record({
  event: fc.constantFrom('run_began', 'account_changed', 'window_reconciled'),
  values: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '__proto__'),
    fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 3 })),
    { maxKeys: 4 },
  ),
});

async function newFolder(): Promise<string> {
  return join(await newProject(), 'journal');
}

/** Writes events as one process does, starting at the end of the journal. */
async function write(folder: string, events: readonly JournalEvent[], after = 0): Promise<void> {
  const { journal } = await openJournalFile(folder, after);
  for (const each of events) await journal.append(each);
}

/** What comes back of events is what JSON makes of them. */
function told(events: readonly JournalEvent[]): unknown {
  return JSON.parse(JSON.stringify(events.map((each, index) => ({ number: index + 1, ...each }))));
}

describe('the journal', () => {
  test('returns what was written to it, in order, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 6 }), fc.nat(6), async (events, after) => {
        const folder = await newFolder();
        await write(folder, events);
        expect(JSON.parse(JSON.stringify(await readJournal(folder)))).toEqual(told(events));
        const tail = await readJournal(folder, Math.min(after, events.length));
        expect(tail.map(({ number }) => number)).toEqual(
          events.map((_, index) => index + 1).slice(Math.min(after, events.length)),
        );
      }),
      { numRuns: 40 },
    );
  });

  test('cut off at any byte returns the events before the cut, and continues after them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 4 }), fc.nat(), event, async (events, at, next) => {
        const folder = await newFolder();
        await write(folder, events);
        const [name = ''] = await readdir(folder);
        const bytes = await readFile(join(folder, name));
        const cut = at % (bytes.length + 1);
        await truncate(join(folder, name), cut);
        const whole = bytes.subarray(0, cut).toString('latin1').split('\n').length - 1;
        expect((await readJournal(folder)).length).toBe(whole);
        await write(folder, [next]);
        expect(JSON.parse(JSON.stringify(await readJournal(folder)))).toEqual(told([...events.slice(0, whole), next]));
      }),
      { numRuns: 60 },
    );
  });

  test('ignores a last line torn by a power cut, zeros included', async () => {
    const folder = await newFolder();
    await write(folder, [{ event: 'run_began', values: { a: 1 } }]);
    const [name = ''] = await readdir(folder);
    await appendFile(join(folder, name), Buffer.concat([Buffer.from('{"number":2,"ev'), Buffer.alloc(100)]));
    expect(await readJournal(folder)).toHaveLength(1);
    await write(folder, [{ event: 'run_began', values: { a: 2 } }]);
    expect((await readJournal(folder)).map(({ number, values }) => [number, values['a']])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test.each([
    [
      'a line that is not JSON',
      '{"number":2,"event":"run_began","val\n',
      /events-000000001\.ndjson:2: .*it is not an event/,
    ],
    ['a repeated number', '{"number":1,"event":"x","values":{}}\n', /:2: .*it is event 1, expected 2/],
    ['a skipped number', '{"number":3,"event":"x","values":{}}\n', /:2: .*it is event 3, expected 2/],
  ])('with %s in it is damaged, which is reported with file and line', async (_, line, message) => {
    const folder = await newFolder();
    await write(folder, [{ event: 'run_began', values: {} }]);
    await appendFile(join(folder, 'events-000000001.ndjson'), line);
    await expect(readJournal(folder)).rejects.toThrow(message);
    await expect(openJournalFile(folder, 0)).rejects.toThrow(message);
  });

  test('is split into several files, and only those with new events are read', async () => {
    const folder = await newFolder();
    const { journal } = await openJournalFile(folder, 0);
    const long = { event: 'window_reconciled', values: { words: 'x'.repeat(3_000_000) } } as const;
    for (let number = 1; number <= 5; number += 1) await journal.append(long);
    expect((await readdir(folder)).sort()).toEqual([
      'events-000000001.ndjson',
      'events-000000003.ndjson',
      'events-000000005.ndjson',
    ]);
    expect((await readJournal(folder)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    await writeFile(join(folder, 'events-000000001.ndjson'), 'no longer read');
    expect((await readJournal(folder, 3)).map(({ number }) => number)).toEqual([4, 5]);
    await expect(readJournal(folder)).rejects.toThrow(/events-000000001\.ndjson:1: .*its last line is incomplete/);
  });

  test('that was lost continues with the next number, and reports the missing events', async () => {
    const folder = await newFolder();
    await write(folder, [{ event: 'run_began', values: {} }], 7);
    expect((await readJournal(folder, 7)).map(({ number }) => number)).toEqual([8]);
    await expect(readJournal(folder)).rejects.toThrow(/events 1 to 7 of the journal are missing/);
  });

  test('ignores files of other programs', async () => {
    const folder = await newFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'notes.txt'), 'mine');
    await write(folder, [{ event: 'run_began', values: {} }]);
    expect(await readJournal(folder)).toHaveLength(1);
  });
});
