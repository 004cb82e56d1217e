import { createHash } from 'node:crypto';
import { lstat, mkdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CostbookError,
  exitCodeOf,
  exitCodes,
  foundIn,
  fullDiskWords,
  isDiskFull,
  isForRepair,
  messageOf,
  NoBooksError,
} from '../base/errors.ts';
import { failureOf } from '../base/failure.ts';
import { isActing, type LocalConfig } from '../config/index.ts';
import {
  alertWords,
  type BooksFact,
  type OpenAlert,
  openAlerts,
  type ProjectOfChecks,
  type RunFact,
  withNews,
} from '../findings/index.ts';
import { completenessOf } from '../reports/index.ts';
import { counted } from '../text/counted.ts';
import { formatSecond, type Instant } from '../time/time.ts';
import {
  type Connection,
  type KnownAlert,
  knownAlerts,
  openBooks,
  type RaisedAlert,
  readAllTables,
} from '../warehouse/index.ts';
import type { Message } from './message.ts';
import { type AlertingContext, readableAlertingConfig } from './notify.ts';
import { deliverWithoutBooks } from './without-books.ts';

/** The alerts that are sent even if the books cannot store them, by the name of their file. */
const keys = { books: 'books', disk: 'run/disk' } as const;
type Name = keyof typeof keys;
const names: readonly Name[] = ['books', 'disk'];

/** The outcome of a message to a sink; begun if unknown. */
type SinkOutcome = 'begun' | 'failed' | 'delivered' | 'dead';

/** An alert that was sent but is not in the ledger yet. */
export interface UnstoredAlert {
  readonly occurrence: number;
  readonly fact: BooksFact | RunFact;
  readonly state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough'>;
  readonly sinks: Readonly<Record<string, SinkOutcome>>;
  /** When the first failure of its story was found, if news was found since. */
  readonly since?: string | undefined;
  /** Whether the books were written since; the next failure is then a new one. */
  readonly isMended?: boolean | undefined;
}

/** Failures that were already reported where they were found. */
const reported = new WeakSet<object>();

function fileOf(dir: string, name: Name): string {
  return join(dir, 'data', `.unstored-${name}.json`);
}

/** The file that remembers the alert: in the project, or elsewhere if nothing can be written there. */
async function storedFile(dir: string, name: Name): Promise<string | undefined> {
  const elsewhere = await fileElsewhere(dir, name);
  for (const file of [fileOf(dir, name), ...(elsewhere === undefined ? [] : [elsewhere])]) {
    if ((await stat(file).catch(() => undefined)) !== undefined) return file;
  }
  return undefined;
}

/**
 * The file for a project that cannot be written: in this user's own folder below the temporary folder. Its name holds
 * the identity of the project folder, so that a new folder of the same name has its own. Undefined if another user owns
 * that folder, or if it cannot be written either.
 */
async function fileElsewhere(dir: string, name: Name, make = false): Promise<string | undefined> {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `costbook-unstored-${uid ?? 'user'}`);
  try {
    if (make) await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
    const found = await lstat(folder);
    if (!found.isDirectory() || (uid !== undefined && found.uid !== uid)) return undefined;
    const { dev, ino } = await stat(dir);
    const project = createHash('sha256')
      .update(`${await realpath(dir)} ${dev} ${ino}`)
      .digest('hex')
      .slice(0, 32);
    return join(folder, `${project}-${name}.json`);
  } catch {
    return undefined;
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** The alerts that wait for the ledger. `everybody` are the sinks that an alert with an empty file was sent to. */
export async function unstoredAlerts(
  { dir }: Pick<AlertingContext, 'dir'>,
  everybody: readonly string[],
): Promise<readonly UnstoredAlert[]> {
  const read = await Promise.all(names.map((name) => readUnstored(dir, name, everybody)));
  return read.filter((alert) => alert !== undefined);
}

/** An empty file needs no space on a full disk. It only says that the alert exists, and that the sinks were notified. */
async function readUnstored(dir: string, name: Name, everybody: readonly string[]): Promise<UnstoredAlert | undefined> {
  const file = await storedFile(dir, name);
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  if (file === undefined || text === undefined) return undefined;
  if (text !== '') return parse(text);
  if (name !== 'disk') return undefined;
  const at = formatSecond((await stat(file)).mtimeMs);
  // The file does not say which command failed.
  const fact = { ...diskFact({ command: 'ingest', error: `the disk with ${dir} was full`, at }), startedAs: '' };
  return { occurrence: 0, fact, state: stateAt(at), sinks: of(everybody, () => 'delivered') };
}

function parse(text: string): UnstoredAlert | undefined {
  try {
    return JSON.parse(text) as UnstoredAlert;
  } catch {
    return undefined; // an unreadable file was never written completely
  }
}

/** An alert that a run sent and that the ledger cannot have, in words. */
export type WaitingAlert = Pick<OpenAlert, 'key' | 'title' | 'detail' | 'next'> & {
  /** When a run found it first. */
  readonly at: string;
};

/** The alerts about a full disk, or books that cannot be written, that a run sent; those that ended are left out. */
export async function unstoredStill(dir: string): Promise<readonly WaitingAlert[]> {
  return (await unstoredAlerts({ dir }, []))
    .filter(({ isMended }) => isMended !== true)
    .map((alert) => {
      const { fact } = alert;
      const { title, next } = alertWords({ key: fact.key, fact: JSON.stringify(fact) });
      return { key: fact.key, title, detail: fact.kind === 'books' ? fact.error : undefined, next, at: sinceOf(alert) };
    });
}

function sinceOf({ since, state }: UnstoredAlert): string {
  return since ?? state.at;
}

/**
 * Every open alert, most severe first: those that the books cannot store, and those of the books whose cause is not
 * gone. Every count of open alerts is of these.
 */
export async function allOpenAlerts(
  connection: Connection,
  now: Instant,
  project: ProjectOfChecks,
): Promise<OpenAlert[]> {
  const waiting = (await unstoredStill(project.dir)).map(({ at, ...alert }) => {
    return { ...alert, severity: 'critical' as const, since: at, icon: '🔴' };
  });
  const ofBooks = await openAlerts(connection, now, project);
  return [...waiting, ...ofBooks.filter(({ key }) => !waiting.some((alert) => alert.key === key))];
}

/** `3 open alerts, 1 critical`. */
export function countWords(open: readonly Pick<OpenAlert, 'severity'>[]): string {
  const critical = open.filter(({ severity }) => severity === 'critical').length;
  return `${counted(open.length, 'open alert')}, ${critical} critical`;
}

/** Removes the waiting alerts, because the ledger has them now. */
export async function forgetUnstored(dir: string): Promise<void> {
  for (const name of names) {
    await rm(fileOf(dir, name), { force: true });
    const elsewhere = await fileElsewhere(dir, name);
    if (elsewhere !== undefined) await rm(elsewhere, { force: true });
  }
}

/** Records that the books were written, so that the next failure is reported again. Never throws. */
export async function markMended(context: AlertingContext): Promise<void> {
  const { dir, effects } = context;
  for (const name of names) {
    try {
      const file = await storedFile(dir, name);
      if (file === undefined) continue;
      // Who was notified is known from the configuration if the file is empty.
      const alert = await readUnstored(dir, name, readableAlertingConfig(context).config.alerts.notify);
      if (alert !== undefined && alert.isMended !== true) await write(file, { ...alert, isMended: true });
    } catch (error) {
      effects.log.warn('alert.not_stored', 'Could not write the file of an alert', {
        file: fileOf(dir, name),
        reason: messageOf(error),
      });
    }
  }
}

/** The alert as an open alert of the ledger, so that the notified sinks are also notified of its end. */
export function asKnown({ occurrence, fact, state, sinks }: UnstoredAlert): KnownAlert {
  return {
    ...{ key: fact.key, occurrence, isOpen: true, isNotified: true, acknowledgedUntil: undefined },
    raisedAt: Date.parse(state.at),
    fact: JSON.stringify(fact),
    // A sink that may have received the alert is notified of its end.
    sinks: Object.keys(sinks).filter((sink) => sinks[sink] !== 'failed'),
  };
}

/** The alert in the form in which the ledger stores it later. */
export function asRaised(alert: UnstoredAlert): RaisedAlert {
  const { kind, account, severity } = alert.fact;
  const { key, occurrence, isNotified, fact, sinks } = asKnown(alert);
  return { key, occurrence, kind, account, severity, fact, sinks, isNotified };
}

/**
 * Notifies the sinks that the disk is full, or that the books cannot be written and which published numbers can be
 * trusted. Does nothing for other failures: if another run holds the books, or for a bug. Each sink is notified once
 * until the books are written again. A file next to the books records who was notified, because the ledger cannot. If
 * that file cannot be written, a file below the temporary folder does; if neither can, every run notifies. Never throws.
 */
export async function alertWithoutBooks(
  command: string,
  error: unknown,
  context: AlertingContext,
  options: { readonly isOfBooks: boolean },
): Promise<void> {
  const words = messageOf(error);
  try {
    if (isDiskFull(words)) {
      const present = () => presentDisk(command, words, context);
      await notifyOnce('disk', present, fullDiskWords(words).found, context);
    } else if (options.isOfBooks && isOfBooks(error) && !reported.has(error)) {
      reported.add(error);
      await notifyOnce('books', () => presentBooks(command, error, context), 'the books cannot be written', context);
    }
  } catch (further) {
    context.effects.log.warn('alert.failed', 'Could not send an alert that the books cannot store', {
      reason: messageOf(further),
    });
  }
}

/** Whether a failure concerns the books and somebody must fix it. After a lock or a signal, another run continues. */
function isOfBooks(error: unknown): error is object {
  if (!(error instanceof Error) || error instanceof NoBooksError) return false;
  const exitCode = exitCodeOf(error);
  return exitCode !== exitCodes.bug && exitCode !== exitCodes.locked && exitCode < 128;
}

async function notifyOnce(
  name: Name,
  present: () => Promise<Omit<UnstoredAlert, 'sinks'>>,
  what: string,
  context: AlertingContext,
): Promise<void> {
  const { config } = readableAlertingConfig(context);
  const stored = await readUnstored(context.dir, name, config.alerts.notify);
  const before = stored?.isMended === true ? undefined : stored;
  const seen = await present();
  const found = { ...seen, fact: withNews(seen.fact, before?.fact, false) };
  const isSame = before !== undefined && (before.fact.revision === found.fact.revision || name === 'disk');
  const alert: UnstoredAlert = isSame
    ? before
    : {
        ...found,
        occurrence: Math.max(found.occurrence, (stored?.occurrence ?? 0) + 1),
        sinks: {},
        since: before && sinceOf(before),
      };
  // Without a receipt, an agent or a job could be called twice: it gets the alert from the books.
  const acting = config.sinks.flatMap(({ name, settings }) => (isActing(settings) ? [name] : []));
  const sinks = config.alerts.notify.filter(
    (sink) => !acting.includes(sink) && !['delivered', 'dead'].includes(alert.sinks[sink] ?? ''),
  );
  if (sinks.length === 0) {
    // Nobody to notify, but `status` shows it. An empty file would claim that acting sinks were notified.
    if (!isSame && !(await store(name, alert, context)) && acting.length === 0) await touch(name, alert, context);
    return;
  }
  const outcomes = await sendTo(sinks, name, alert, config, context);
  const delivered = [...outcomes.values()].filter((outcome) => outcome === 'delivered').length;
  context.tell(`${what}: notified ${delivered} of ${sinks.length} sinks`);
}

/** Sends the alert to sinks. Stores the outcome as begun before sending, and the actual one afterwards. */
async function sendTo(
  sinks: readonly string[],
  name: Name,
  alert: UnstoredAlert,
  config: LocalConfig,
  context: AlertingContext,
): Promise<ReadonlyMap<string, SinkOutcome>> {
  const begun = { ...alert, sinks: { ...alert.sinks, ...of(sinks, () => 'begun' as const) } };
  const isNoted = await store(name, begun, context);
  const { fact, occurrence, state } = alert;
  const deliveries = await deliverWithoutBooks(
    {
      entry: { key: fact.key, occurrence, transition: 'raised', fact },
      sinks,
      state,
      queuedAt: Date.parse(state.at),
      // Without a record of who was notified, an earlier run may have sent it.
      mayBeRepeat: (sink) => !isNoted || alert.sinks[sink] === 'begun',
    },
    config,
    context,
  );
  const outcomes = new Map(
    deliveries.map(({ message: { sink }, outcome }) => [sink, outcome === 'postponed' ? 'failed' : outcome]),
  );
  const after = { ...begun.sinks, ...of(sinks, (sink) => outcomes.get(sink) ?? 'failed') };
  const isStored = await store(name, { ...begun, sinks: after }, context);
  // An empty file claims that every sink was notified; without a file, every run would notify again.
  if (!isStored && [...outcomes.values()].includes('delivered')) await touch(name, alert, context);
  return outcomes;
}

function stateAt(at: string): UnstoredAlert['state'] {
  return { at, completeThrough: null, settledThrough: null };
}

function diskFact({ command, error, at }: { command: string; error: string; at: string }): RunFact {
  return {
    ...{ kind: 'run', key: keys.disk, account: null, severity: 'critical', notify: [], state: 'raised' },
    ...{ completeThrough: null, command, runNumber: 0, outcome: 'failed', exitCode: exitCodes.machine, endedAt: at },
    outOfDate: [],
    error,
  };
}

async function presentDisk(
  command: string,
  words: string,
  { dir, effects, redact, signal }: AlertingContext,
): Promise<Omit<UnstoredAlert, 'sinks'>> {
  const at = formatSecond(effects.now());
  const { found } = fullDiskWords(words);
  const error = redact(`${dir}: ${found}. Nothing can be loaded or stored until this is fixed. ${words}`);
  const published = await publishedState(dir, keys.disk, signal).catch(() => undefined);
  const { occurrence = 0, completeThrough = null, settledThrough = null } = published ?? {};
  return {
    occurrence: occurrence + 1,
    fact: { ...diskFact({ command, error, at }), completeThrough },
    state: { at, completeThrough, settledThrough },
  };
}

/** From the published snapshot: complete through, and how often an alert was raised. */
async function publishedState(dir: string, key: string, signal: AbortSignal) {
  const books = await openBooks(dir, { lockedDown: true, signal });
  try {
    const known = (await knownAlerts(books.connection)).find((alert) => alert.key === key);
    const { completeThrough, settledThrough } = await completenessOf(books.connection);
    return { completeThrough, settledThrough, occurrence: known?.occurrence ?? 0 };
  } finally {
    books.close();
  }
}

/** The current alert, with the contents of the published snapshot if every row of it can be read. */
async function presentBooks(
  command: string,
  error: unknown,
  { dir, effects, redact, signal }: AlertingContext,
): Promise<Omit<UnstoredAlert, 'sinks'>> {
  const at = formatSecond(effects.now());
  const whole = await wholeSnapshot(dir, signal);
  const { completeThrough = null, settledThrough = null } = whole ?? {};
  return {
    occurrence: (whole?.occurrence ?? 0) + 1,
    state: { at, completeThrough, settledThrough },
    fact: {
      ...{ key: keys.books, kind: 'books', account: null, severity: 'critical', notify: [], state: 'raised' },
      ...{ completeThrough, command, exitCode: exitCodeOf(error), foundAt: at },
      error: redact(foundIn(error)),
      nextStep: redactOrNull(failureOf(error).next, redact),
      isForRepair: isForRepair(error),
      snapshot: whole?.snapshot ?? null,
    },
  };
}

async function wholeSnapshot(dir: string, signal: AbortSignal) {
  try {
    const books = await openBooks(dir, { lockedDown: true, signal });
    try {
      await readAllTables(books.connection, 'wh');
      const { rowCount: rows, cost, publishedAt } = books.published;
      const known = (await knownAlerts(books.connection)).find((alert) => alert.key === keys.books);
      const { completeThrough, settledThrough } = await completenessOf(books.connection);
      return {
        ...{ completeThrough, settledThrough, occurrence: known?.occurrence ?? 0 },
        snapshot: { rows, cost, publishedAt },
      };
    } finally {
      books.close();
    }
  } catch (error) {
    if (error instanceof CostbookError) return undefined;
    throw error;
  }
}

function redactOrNull(text: string | undefined, redact: (text: string) => string): string | null {
  return text === undefined ? null : redact(text);
}

function of<T>(sinks: readonly string[], value: (sink: string) => T): Record<string, T> {
  return Object.fromEntries(sinks.map((sink) => [sink, value(sink)]));
}

/** Returns whether it was written; on a full disk it is not. */
async function store(name: Name, alert: UnstoredAlert, { dir, effects }: AlertingContext): Promise<boolean> {
  try {
    await write(fileOf(dir, name), alert);
    return true;
  } catch (error) {
    const elsewhere = isDiskFull(messageOf(error)) ? undefined : await fileElsewhere(dir, name, true);
    if (elsewhere !== undefined && (await write(elsewhere, alert).then(isDone, isFailed))) return true;
    effects.log.warn('alert.not_stored', 'Could not store which sinks were notified', { reason: messageOf(error) });
    return false;
  }
}

const isDone = () => true;
const isFailed = () => false;

async function write(file: string, alert: UnstoredAlert): Promise<void> {
  const part = `${file}.part`;
  try {
    await writeFile(part, JSON.stringify(alert), { mode: 0o600 });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Creates an empty file if there is none. Its time is when the fault was found, by the clock in use. */
async function touch(name: Name, { state }: UnstoredAlert, { dir, effects }: AlertingContext): Promise<void> {
  const file = fileOf(dir, name);
  try {
    await writeFile(file, '', { flag: 'wx' });
    await utimes(file, new Date(state.at), new Date(state.at));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    effects.log.warn(
      'alert.not_stored',
      'Could not store which sinks were notified; the next run notifies them again',
      { reason: messageOf(error) },
    );
  }
}
