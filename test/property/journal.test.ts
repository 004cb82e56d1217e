import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { completeFiles, journalFault, openJournalFile, readJournal } from '../../src/warehouse/journal/journal.ts';
import type { JournalEvent } from '../../src/warehouse/journal/journal-events.ts';
import { closeGaps } from '../../src/warehouse/journal/journal-gaps.ts';
import { lineOf } from '../../src/warehouse/journal/journal-lines.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';

const text = fc.string({ unit: anyCharacter, maxLength: 40 });
const event: fc.Arbitrary<JournalEvent> = fc.record({
  event: fc.constantFrom('job_began', 'resources_changed', 'window_reconciled'),
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

  test('that ends before the events in the books is not continued, and reports the missing events', async () => {
    const folder = await newFolder();
    await write(folder, [{ event: 'run_began', values: {} }]);
    const names = /events 2 to 7 of the journal are missing.*costbook repair"/;
    await expect(openJournalFile(folder, 7)).rejects.toThrow(names);
    await expect(readJournal(folder, 0, 7)).rejects.toThrow(names);
  });

  test('notices any change of a line, and names event, file and line', async () => {
    const folder = await newFolder();
    const closed = { event: 'month_closed', values: { accounts: [{ account: 'a', invoiced: '3723.03' }] } } as const;
    await write(folder, [{ event: 'run_began', values: {} }, closed, { event: 'run_began', values: {} }]);
    const file = join(folder, 'events-000000001.ndjson');
    const text = await readFile(file, 'utf8');
    const named =
      /events-000000001\.ndjson:2: .*event 2 \(month_closed\) is not as Costbook wrote it .*hash [0-9a-f]{16}, expected/;
    for (const other of ['362x.03', '3723.04', '"3723.03"']) {
      await writeFile(file, text.replace('3723.03', other));
      await expect(readJournal(folder)).rejects.toThrow(other.startsWith('"') ? /:2: .*not an event/ : named);
      await expect(openJournalFile(folder, 3)).rejects.toThrow(/:2: /);
    }
    const [first, second, third] = text.split('\n');
    for (const without of [/,"hash":"[^"]*"/, /[0-9a-f](?="}$)/]) {
      await writeFile(file, `${first}\n${second?.replace(without, '')}\n${third}\n`);
      await expect(readJournal(folder)).rejects.toThrow(/:2: .*event 2 \(month_closed\) is not as Costbook wrote it/);
    }
    await writeFile(file, text);
    expect(await readJournal(folder)).toHaveLength(3);
  });

  test('of an older Costbook, whose lines have no hash, is read and continued with hashes', async () => {
    const folder = await newFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'events-000000001.ndjson'), '{"number":1,"event":"run_began","values":{}}\n');
    await write(folder, [{ event: 'run_began', values: {} }], 1);
    expect(await readJournal(folder)).toHaveLength(2);
    await appendFile(join(folder, 'events-000000001.ndjson'), '{"number":3,"event":"run_began","values":{}}\n');
    await expect(readJournal(folder)).rejects.toThrow(/:3: .*event 3 .* has no hash/);
  });

  test('reads an earlier file again only if somebody wrote to it since the last publication', async () => {
    const folder = await newFolder();
    const { journal } = await openJournalFile(folder, 0);
    const long = { event: 'window_reconciled', values: { words: 'x'.repeat(3_000_000) } } as const;
    for (let number = 1; number <= 3; number += 1) await journal.append(long);
    const published = await completeFiles(folder);
    expect(published.before).toBe(3);
    const fault = () => journalFault(folder, 3, { isWhole: false, published });
    expect(await fault()).toBeUndefined();
    const file = join(folder, 'events-000000001.ndjson');
    const { atime, mtime } = await stat(file);
    await writeFile(file, (await readFile(file, 'utf8')).replace('xx', 'yy'));
    expect((await fault())?.message).toMatch(/ndjson:1: .*event 1 \(window_reconciled\) is not as Costbook wrote it/);
    await expect(openJournalFile(folder, 3, published)).rejects.toThrow(
      /event 1 \(window_reconciled\) is not as Costbook wrote it/,
    );
    // A disk that forgets bits changes no time: only a whole reading finds that.
    await utimes(file, atime, mtime);
    const whole = await journalFault(folder, 3, { isWhole: true, published });
    expect(whole?.message).toMatch(/event 1 \(window_reconciled\) is not as Costbook wrote it/);
    await rm(file);
    expect((await fault())?.message).toMatch(/events 1 to 2 of the journal are missing/);
  });

  test('ignores files of other programs', async () => {
    const folder = await newFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'notes.txt'), 'mine');
    await write(folder, [{ event: 'run_began', values: {} }]);
    expect(await readJournal(folder)).toHaveLength(1);
  });
});

/** What happens to a line of a journal, and whether its event is then lost. */
const harms: Readonly<Record<string, (line: string) => { lines: string[]; isLost: boolean }>> = {
  truncated: (line) => ({ lines: [line.slice(0, -20)], isLost: true }),
  'turned into junk': () => ({ lines: ['\u0000\u0000 junk'], isLost: true }),
  removed: () => ({ lines: [], isLost: true }),
  emptied: () => ({ lines: [''], isLost: true }),
  'changed in a value': (line) => ({ lines: [line.replace('run ', 'ran ')], isLost: line.includes('"hash"') }),
  'given a number far away': (line) => ({ lines: [line.replace(/"number":\d+/, '"number":900000')], isLost: true }),
  repeated: (line) => ({ lines: [line, line], isLost: false }),
};

describe('a damaged journal', () => {
  /** Events 1 to `count` in files of `perFile` events; those before `hashedFrom` are of an older Costbook. */
  async function journalOf(
    count: number,
    perFile: number,
    hashedFrom = 1,
  ): Promise<{ folder: string; lines: string[] }> {
    const folder = await newFolder();
    await mkdir(folder, { recursive: true });
    const lines = Array.from({ length: count }, (_, index) => {
      const event = { number: index + 1, event: 'run_began', values: { command: `run ${index + 1}` } } as const;
      return event.number < hashedFrom ? JSON.stringify(event) : lineOf(event);
    });
    for (let first = 0; first < count; first += perFile) {
      await writeLines(folder, first + 1, lines.slice(first, first + perFile));
    }
    return { folder, lines };
  }

  async function writeLines(folder: string, first: number, lines: readonly string[]): Promise<void> {
    const name = `events-${String(first).padStart(9, '0')}.ndjson`;
    await writeFile(join(folder, name), lines.map((line) => `${line}\n`).join(''));
  }

  function rangesOf(numbers: readonly number[]): [number, number][] {
    const ranges: [number, number][] = [];
    for (const number of numbers) {
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === number - 1) last[1] = number;
      else ranges.push([number, number]);
    }
    return ranges;
  }

  test('keeps every event that can still be read, and records exactly the others as lost', async () => {
    const harm = fc.record({ at: fc.nat(30), kind: fc.constantFrom(...Object.keys(harms)) });
    const shape = fc.record({
      count: fc.integer({ min: 1, max: 24 }),
      perFile: fc.integer({ min: 1, max: 9 }),
      hashedFrom: fc.integer({ min: 1, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(shape, fc.array(harm, { maxLength: 5 }), async ({ count, perFile, hashedFrom }, drawn) => {
        const { folder, lines } = await journalOf(count, perFile, hashedFrom);
        const harmed = new Map(drawn.map(({ at, kind }) => [at % count, kind]));
        const lost = new Set<number>();
        for (let first = 0; first < count; first += perFile) {
          const found = lines.slice(first, first + perFile).flatMap((line, index) => {
            const kind = harmed.get(first + index);
            const after = kind === undefined ? undefined : harms[kind]?.(line);
            if (after?.isLost) lost.add(first + index + 1);
            return after?.lines ?? [line];
          });
          await writeLines(folder, first + 1, found);
        }
        const closed = await closeGaps(folder, { inBooks: count, acceptLoss: false });
        const wanted = rangesOf([...lost].sort((a, b) => a - b));
        expect(closed.lost.map(({ from, through }) => [from, through])).toEqual(wanted);
        const events = await readJournal(folder, 0, count);
        const readable = events.filter((each) => each.event !== 'events_lost').map(({ number }) => number);
        expect(readable).toEqual(lines.map((_, index) => index + 1).filter((number) => !lost.has(number)));
        expect(await closeGaps(folder, { inBooks: count, acceptLoss: false })).toEqual({ lost: [], movedAside: [] });
        await write(folder, [{ event: 'run_began', values: {} }], count);
        expect((await readJournal(folder)).at(-1)?.number).toBe(count + 1);
      }),
      { numRuns: 100 },
    );
  });

  test('with a copy of a file under another number, or swapped lines, loses nothing', async () => {
    const { folder, lines } = await journalOf(12, 5);
    await writeLines(folder, 8, lines.slice(0, 5));
    await writeLines(folder, 6, [lines[6] ?? '', lines[5] ?? '', ...lines.slice(7, 10)]);
    await expect(readJournal(folder)).rejects.toThrow(/the journal is damaged/);
    const { lost, movedAside } = await closeGaps(folder, { inBooks: 12, acceptLoss: false });
    expect(lost).toEqual([]);
    expect(movedAside.length).toBeGreaterThan(0);
    expect((await readJournal(folder, 0, 12)).map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
  });

  test('with a copy of its last file, whole or in part, has each event once', async () => {
    for (const copied of [0, 2]) {
      const { folder, lines } = await journalOf(5, 10);
      await writeLines(folder, 3, lines.slice(copied));
      await expect(readJournal(folder)).rejects.toThrow(
        /events-000000003\.ndjson:1: the journal is damaged .*expected 6/,
      );
      expect(await closeGaps(folder, { inBooks: 5, acceptLoss: false })).toMatchObject({
        ...{ lost: [], movedAside: [expect.stringContaining('events-000000003.ndjson.lost')] },
      });
      expect((await readJournal(folder, 0, 5)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
      await write(folder, [{ event: 'run_began', values: {} }], 5);
      expect((await readJournal(folder)).at(-1)?.number).toBe(6);
    }
  });

  test('whose lost events the books do not have is left alone, unless the loss is accepted', async () => {
    const { folder, lines } = await journalOf(6, 10);
    await writeLines(folder, 1, lines.with(4, '{"number":5,"event":"month_closed","val'));
    const before = await readdir(folder);
    await expect(closeGaps(folder, { inBooks: 4, acceptLoss: false })).rejects.toThrow(/--accept-loss/);
    expect(await readdir(folder)).toEqual(before);
    const { lost } = await closeGaps(folder, { inBooks: 4, acceptLoss: true });
    expect(lost).toMatchObject([{ from: 5, through: 5, isInBooks: false, kinds: ['month_closed'] }]);
    expect((await readJournal(folder)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('that a repair was killed while it wrote is repaired by the next one', async () => {
    const { folder, lines } = await journalOf(9, 3);
    const readable = [1, 3, 4, 5, 6, 7, 8, 9];
    // The last files are renamed first; the damaged one is still in place.
    await writeLines(folder, 1, lines.slice(0, 3).with(1, 'junk'));
    await writeFile(join(folder, 'events-000000001.ndjson.part'), 'half');
    await writeFile(join(folder, 'events-000000001.ndjson.lost'), 'of the killed repair');
    await closeGaps(folder, { inBooks: 9, acceptLoss: false });
    const events = await readJournal(folder, 0, 9);
    expect(events.filter((each) => each.event !== 'events_lost').map(({ number }) => number)).toEqual(readable);
    expect(await readFile(join(folder, 'events-000000001.ndjson.lost'), 'utf8')).toBe('of the killed repair');
  });
});
