import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../base/errors.ts';
import { type Failure, factsOfFailures, shortly } from '../base/failure.ts';
import type { NextStep } from '../base/next-step.ts';
import { bytesOf } from '../base/regular-file.ts';
import { type AlertFact, type OpenAlert, openAlerts, parseFact, stepOf, wordsOf } from '../findings/index.ts';
import type { Message } from '../sinks/index.ts';
import { counted } from '../text/counted.ts';
import { formatSecond, type Instant } from '../time/time.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { KnownAlert, RaisedAlert } from '../warehouse/watch/index.ts';
import type { AlertingContext } from './notify.ts';

/** The alerts that are sent even if the books cannot store them, by the name of their file. */
export const keys = { books: 'books', disk: 'run/disk' } as const;
export type Name = keyof typeof keys;
export const names: readonly Name[] = ['books', 'disk'];

/** The outcome of a message to a sink; begun if unknown. */
export type SinkOutcome = 'begun' | 'failed' | 'delivered' | 'dead';

/** An alert that was sent but is not in the ledger yet. */
export interface UnstoredAlert {
  readonly occurrence: number;
  readonly fact: Extract<AlertFact, { readonly kind: 'books' | 'run' }>;
  readonly state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough'>;
  readonly sinks: Readonly<Record<string, SinkOutcome>>;
  /** When the first failure of its story was found, if news was found since. */
  readonly since?: string | undefined;
  /** Whether the books were written since; the next failure is then a new one. */
  readonly isMended?: boolean | undefined;
}

export function fileOf(dir: string, name: Name): string {
  return join(dir, 'data', `.unstored-${name}.json`);
}

/** The file that remembers the alert: in the project, or elsewhere if nothing can be written there. */
export async function storedFile(dir: string, name: Name): Promise<string | undefined> {
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
export async function fileElsewhere(dir: string, name: Name, make = false): Promise<string | undefined> {
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
export async function readUnstored(
  dir: string,
  name: Name,
  everybody: readonly string[],
): Promise<UnstoredAlert | undefined> {
  const file = await storedFile(dir, name);
  const text = file === undefined ? undefined : await bytesOf(file).then(String, () => undefined);
  if (file === undefined || text === undefined) return undefined;
  if (text !== '') return parse(text);
  if (name !== 'disk') return undefined;
  const at = formatSecond((await stat(file)).mtimeMs);
  const full = { code: 'disk_full', subject: dir, found: `the disk with ${dir} was full`, next: null };
  // The file does not say which command failed.
  const fact = {
    ...diskFact({ command: 'ingest', failures: [full], at }),
    startedAs: '',
  };
  return { occurrence: 0, fact, state: stateAt(at), sinks: of(everybody, () => 'delivered') };
}

function parse(text: string): UnstoredAlert | undefined {
  try {
    const alert = JSON.parse(text) as UnstoredAlert;
    return { ...alert, fact: parseFact(JSON.stringify(alert.fact)) as UnstoredAlert['fact'] };
  } catch {
    return undefined; // an unreadable file was never written completely
  }
}

/** An alert that a run sent and that the ledger cannot have, in words. */
export type WaitingAlert = Pick<OpenAlert, 'key' | 'title' | 'detail' | 'next'> & {
  readonly step: NextStep;
  /** The code of what prevents writing; undefined for other faults. */
  readonly full?: string | undefined;
  /** When a run found it first. */
  readonly at: string;
};

/** The alerts about a full disk, or books that cannot be written, that a run sent; those that ended are left out. */
export async function unstoredStill(dir: string): Promise<readonly WaitingAlert[]> {
  return (await unstoredAlerts({ dir }, []))
    .filter(({ isMended }) => isMended !== true)
    .map((alert) => {
      const { fact } = alert;
      const detail = fact.kind === 'books' ? shortly(fact.failures) : undefined;
      const { title, next } = wordsOf(fact);
      const code = fact.failures[0]?.code;
      const full = fact.kind === 'run' ? (code ?? 'disk_full') : undefined;
      return { key: fact.key, title, detail, next, step: stepOf(fact), full, at: sinceOf(alert) };
    });
}

export function sinceOf({ since, state }: UnstoredAlert): string {
  return since ?? state.at;
}

/**
 * Every open alert, most severe first: those that the books cannot store, and those of the books whose cause is not
 * gone. Every count of open alerts is of these.
 */
export async function allOpenAlerts(
  connection: Connection,
  now: Instant,
  project: NonNullable<Parameters<typeof openAlerts>[2]>,
): Promise<OpenAlert[]> {
  const waiting = (await unstoredStill(project.dir)).map(({ at, step: _, full: __, ...alert }) => {
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

/** What of a list is shown above it: `; 1 is shown above`, `, shown above`; empty if nothing is. Pure. */
export function aboveWords(all: number, above: number, where: 'above' | 'below' | 'above and below' = 'above'): string {
  if (above === 0) return '';
  return above === all ? `, shown ${where}` : `; ${above} ${above === 1 ? 'is' : 'are'} shown ${where}`;
}

/** Removes the waiting alerts, because the ledger has them now. */
export async function forgetUnstored(dir: string): Promise<void> {
  for (const name of names) {
    await rm(fileOf(dir, name), { force: true });
    const elsewhere = await fileElsewhere(dir, name);
    if (elsewhere !== undefined) await rm(elsewhere, { force: true });
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

function stateAt(at: string): UnstoredAlert['state'] {
  return { at, completeThrough: null, settledThrough: null };
}

export function diskFact(disk: {
  command: string;
  failures: readonly Failure[];
  at: string;
}): Extract<AlertFact, { readonly kind: 'run' }> {
  const { command, failures, at } = disk;
  return {
    ...{ kind: 'run', key: keys.disk, account: null, severity: 'critical', notify: [], state: 'raised' },
    ...{ completeThrough: null, command, runNumber: 0, outcome: 'failed', exitCode: exitCodes.machine, endedAt: at },
    outOfDate: [],
    ...factsOfFailures(failures),
  };
}

export function of<T>(sinks: readonly string[], value: (sink: string) => T): Record<string, T> {
  return Object.fromEntries(sinks.map((sink) => [sink, value(sink)]));
}
