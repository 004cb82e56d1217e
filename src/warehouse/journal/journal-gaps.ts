import { copyFile, link, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withPresentNames } from '../../base/former-formats.ts';
import { bytesOf } from '../../base/regular-file.ts';
import { fileBytes, fileName, journalFiles, lineFeed, missing, syncFolder } from './journal.ts';
import { lastNumberOf } from './journal-events.ts';
import { changeOf, lineOf, mostLineBytes, readLine } from './journal-lines.ts';

/** Events of the journal that no file has. */
export interface LostEvents {
  readonly from: number;
  readonly through: number;
  /** The kinds of some of them, as far as damaged lines still name them. */
  readonly kinds: readonly string[];
  /** Whether the books have them, so that nothing is lost. */
  readonly isInBooks: boolean;
  /** Whether more events may be lost after these. */
  readonly isEnd: boolean;
}

/** What closing the gaps of a journal did. */
export interface ClosedGaps {
  readonly lost: readonly LostEvents[];
  /** The damaged files, under their new names. */
  readonly movedAside: readonly string[];
}

/** Where a line is: bytes of a file. */
interface Line {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** The readable lines of a journal by the number of their event, and what is known about the others. */
interface Readable {
  readonly lines: ReadonlyMap<number, Line>;
  /** The last number that any event has. */
  readonly last: number;
  /** The first file that is not exactly as it was written, as an index; undefined if all are. */
  readonly firstDamaged: number | undefined;
  /** The event after those of the files before that one: its name may be any. */
  readonly damagedFrom: number;
  /** Kinds that damaged lines name, by the number of the event that was expected there. */
  readonly kinds: ReadonlyMap<number, string>;
  /** Numbers that an earlier repair recorded as lost. */
  readonly recorded: readonly { readonly from: number; readonly through: number }[];
}

/**
 * Writes a damaged journal again from its first damaged file on: every readable event stays, in the order of the
 * numbers, and an `events_lost` stands for each gap. The books have the events up to `inBooks`. Damaged files are
 * renamed to `<name>.lost`. A kill leaves a journal that is damaged as before, and loses nothing. Throws
 * JournalLossError before any change if events beyond `inBooks` are lost and that is not accepted.
 */
export async function closeGaps(
  folder: string,
  {
    inBooks,
    acceptLoss,
    isEndLost = false,
  }: {
    readonly inBooks: number;
    readonly acceptLoss: boolean;
    /** Whether the last events are missing; one event then stands for them. */
    readonly isEndLost?: boolean;
  },
): Promise<ClosedGaps> {
  const files = await journalFiles(folder);
  const readable = await readLines(folder, files, inBooks);
  const last = Math.max(readable.last, inBooks) + (isEndLost ? 1 : 0);
  const gaps = gapsIn(readable.lines, last);
  const isNew = (gap: { from: number; through: number }) =>
    !readable.recorded.some(({ from, through }) => from <= gap.from && gap.through <= through);
  const lost = gaps.filter(isNew).map(({ from, through }) => ({
    ...{ from, through, isInBooks: through <= inBooks, isEnd: isEndLost && through === last },
    kinds: [...readable.kinds].filter(([number]) => number >= from && number <= through).map(([, kind]) => kind),
  }));
  const really = lost.find(({ isInBooks }) => !isInBooks);
  if (really !== undefined && !acceptLoss) {
    throw missing(folder, Math.max(really.from, inBooks + 1), really.through, inBooks, { isLost: true });
  }
  if (lost.length === 0 && readable.firstDamaged === undefined) return { lost, movedAside: [] };
  // A gap before a file starts in the file before.
  const first = Math.min(readable.firstDamaged ?? files.length, ...lost.map(({ from }) => fileBefore(files, from)));
  const damaged = files.slice(first).map(({ name }) => name);
  const start = first === readable.firstDamaged ? readable.damagedFrom : first === 0 ? 1 : (files[first]?.first ?? 1);
  await mkdir(folder, { recursive: true });
  const written = await writeParts(folder, { readable, gaps, start, last });
  const movedAside: string[] = [];
  for (const name of damaged) movedAside.push(await keepAside(join(folder, name)));
  // The last file first: until the first one is in place, the journal is damaged as before.
  for (const name of [...written].reverse()) await rename(join(folder, `${name}.part`), join(folder, name));
  for (const name of damaged) if (!written.includes(name)) await rm(join(folder, name));
  await syncFolder(folder);
  return { lost, movedAside };
}

/** The index of the file that has, or would have, an event. */
function fileBefore(files: readonly { readonly first: number }[], number: number): number {
  return Math.max(
    0,
    files.findLastIndex(({ first }) => first <= number),
  );
}

function gapsIn(lines: ReadonlyMap<number, Line>, last: number): { from: number; through: number }[] {
  const gaps: { from: number; through: number }[] = [];
  let next = 1;
  for (const number of [...lines.keys()].sort((a, b) => a - b)) {
    if (number > last) break;
    if (number > next) gaps.push({ from: next, through: number - 1 });
    next = number + 1;
  }
  if (next <= last) gaps.push({ from: next, through: last });
  return gaps;
}

interface ParsedLine extends Line {
  readonly number: number | undefined;
  readonly through: number | undefined;
  readonly isLoss: boolean;
  readonly kind: string | undefined;
}

async function readLines(
  folder: string,
  files: Awaited<ReturnType<typeof journalFiles>>,
  inBooks: number,
): Promise<Readable> {
  const found: ParsedLine[] = [];
  const kinds = new Map<number, string>();
  // A line that is too long was an event, also at the end; any other damaged line there may be anything.
  const tooLong: number[] = [];
  let firstDamaged: number | undefined;
  let damagedFrom = 1;
  let next = 1;
  let needsHash = false;
  for (const [index, { name, first }] of files.entries()) {
    const isLastFile = index === files.length - 1;
    const { lines, isTorn, hasHash } = splitLines(await bytesOf(join(folder, name)), name, needsHash);
    needsHash = hasHash;
    let isIntact = first === next && (!isTorn || isLastFile);
    if (firstDamaged === undefined) damagedFrom = next;
    for (const [at, line] of lines.entries()) {
      // The end of the last line that was being written is no damage, unless the books have its event.
      const isTornEnd = isLastFile && isTorn && at === lines.length - 1;
      if (line.number === undefined && line.kind !== undefined) kinds.set(next, line.kind);
      if (line.end - line.start > mostLineBytes) tooLong.push(next);
      if (line.number === next) next = (line.through ?? next) + 1;
      else if (!isTornEnd) {
        isIntact = false;
        if (line.number === undefined) next += 1;
        else next = (line.through ?? line.number) + 1;
      }
      found.push(line);
    }
    if (!isIntact) firstDamaged ??= index;
  }
  // A damaged number may be any: nothing is far beyond the lines that there are.
  const beyond = found.reduce((most, { isLoss, through = 0 }) => Math.max(most, isLoss ? through : 0), inBooks);
  const limit = Math.max(files.at(-1)?.first ?? 0, beyond) + found.length;
  const lines = new Map<number, Line>();
  for (const isWellPlaced of [true, false]) {
    for (const [index, line] of found.entries()) {
      if (line.number === undefined || line.isLoss || line.number > limit || lines.has(line.number)) continue;
      if (isWellPlaced === fits(line, found[index - 1], found[index + 1])) lines.set(line.number, line);
    }
  }
  const recorded = found.flatMap(({ isLoss, number, through }) =>
    isLoss && number !== undefined && through !== undefined ? [{ from: number, through }] : [],
  );
  const last = Math.max(0, ...recorded.map(({ through }) => through), ...tooLong, lastOf(lines));
  return { lines, last, firstDamaged, damagedFrom, kinds, recorded };
}

function lastOf(lines: ReadonlyMap<number, Line>): number {
  let last = 0;
  for (const number of lines.keys()) last = Math.max(last, number);
  return last;
}

/** Whether a line follows the line before, or the next one follows it. */
function fits(line: ParsedLine, before: ParsedLine | undefined, after: ParsedLine | undefined): boolean {
  const isAfter = before?.through !== undefined && before.through + 1 === line.number;
  return isAfter || (after?.number !== undefined && after.number - 1 === line.through);
}

function splitLines(
  bytes: Buffer,
  file: string,
  needsHash: boolean,
): { lines: ParsedLine[]; isTorn: boolean; hasHash: boolean } {
  const lines: ParsedLine[] = [];
  let hasHash = needsHash;
  for (let start = 0; start < bytes.length; ) {
    const at = bytes.indexOf(lineFeed, start);
    const end = at === -1 ? bytes.length : at;
    const isTooLong = end - start > mostLineBytes;
    const text = bytes.toString('utf8', start, isTooLong ? start + 200 : end);
    const read = readLine(text);
    const place = { file, start, end };
    // A line that is too long is no event: no run could read it again.
    if (read.event === undefined || changeOf(read, hasHash) !== undefined) {
      lines.push({ ...place, kind: kindIn(text), number: undefined, through: undefined, isLoss: false });
    } else {
      const { number, event } = withPresentNames(read.event);
      const isLoss = event === 'events_lost';
      lines.push({ ...place, number, through: lastNumberOf(read.event), isLoss, kind: event });
      hasHash ||= read.written !== undefined && !isLoss;
    }
    start = end + 1;
  }
  return { lines, isTorn: bytes.length > 0 && bytes.at(-1) !== lineFeed, hasHash };
}

/** The kind of event that a damaged line names. */
function kindIn(text: string): string | undefined {
  return /"event": ?"([a-z_]{1,40})"/.exec(text)?.[1];
}

/** Writes the events from a number on, and the gaps among them, to `<name>.part` files; returns the names. */
async function writeParts(
  folder: string,
  {
    readable,
    gaps,
    start,
    last,
  }: {
    readable: Readable;
    gaps: readonly { readonly from: number; readonly through: number }[];
    start: number;
    last: number;
  },
): Promise<string[]> {
  const names: string[] = [];
  let parts: Buffer[] = [];
  let size = 0;
  let opened: { file: string; bytes: Buffer } | undefined;
  async function flush(): Promise<void> {
    const name = names.at(-1);
    if (name !== undefined) await writeSynced(join(folder, `${name}.part`), Buffer.concat(parts));
    parts = [];
    size = 0;
  }
  for (let number = start; number <= last; ) {
    if (names.length === 0 || size >= fileBytes) {
      await flush();
      names.push(fileName(number));
    }
    const line = readable.lines.get(number);
    const gap = gaps.find(({ from, through }) => from <= number && number <= through);
    if (line !== undefined && opened?.file !== line.file) {
      opened = { file: line.file, bytes: await bytesOf(join(folder, line.file)) };
    }
    const text =
      line === undefined
        ? lineOf({ number, event: 'events_lost', values: { through: gap?.through ?? number } })
        : (opened?.bytes.subarray(line.start, line.end) ?? '');
    const bytes = Buffer.concat([Buffer.from(text), Buffer.from('\n')]);
    parts.push(bytes);
    size += bytes.length;
    number = line === undefined ? (gap?.through ?? number) + 1 : number + 1;
  }
  await flush();
  return names;
}

async function writeSynced(path: string, bytes: Buffer): Promise<void> {
  await writeFile(path, bytes, { mode: 0o600 });
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file a second name, `<name>.lost`; returns that. */
async function keepAside(path: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const aside = count === 1 ? `${path}.lost` : `${path}.lost-${count}`;
    if ((await stat(aside).catch(() => undefined)) !== undefined) continue;
    // Some file systems have no hard links.
    await link(path, aside).catch(() => copyFile(path, aside));
    return aside;
  }
}
