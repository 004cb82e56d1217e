import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BooksFact, type Message, withNews } from '../alerts/index.ts';
import {
  CostbookError,
  exitCodeOf,
  exitCodes,
  firstSentence,
  isDiskFull,
  isForRepair,
  messageOf,
  NoBooksError,
} from '../errors.ts';
import { completenessOf } from '../reports/index.ts';
import { formatSecond } from '../time.ts';
import { type KnownAlert, knownAlerts, openBooks, type RaisedAlert, readAllTables } from '../warehouse/index.ts';
import type { CommandContext } from './command.ts';
import { loadTellingConfig } from './telling.ts';
import { deliverWithoutBooks } from './without-books.ts';

/** The one alert about the files of the books. */
const key = 'books';

/** An alert that waits for the ledger: it was sent while the warehouse could not be written. */
export interface WaitingAlert {
  readonly occurrence: number;
  readonly fact: BooksFact;
  readonly state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough'>;
  /** What came of the message, by sink; begun where nobody knows. */
  readonly sinks: Readonly<Record<string, 'begun' | 'failed' | 'delivered' | 'dead'>>;
}

/** Failures that were reported by whoever met them first. */
const reported = new WeakSet<object>();

function waitingFile(dir: string): string {
  return join(dir, 'data', 'books-alert.json');
}

/** The alert that waits for the ledger; undefined where there is none. */
export async function waitingAlert(dir: string): Promise<WaitingAlert | undefined> {
  try {
    return JSON.parse(await readFile(waitingFile(dir), 'utf8')) as WaitingAlert;
  } catch {
    return undefined; // what cannot be read was never written whole
  }
}

/** Forgets the alert that waited: the ledger has it. */
export async function forgetWaitingAlert(dir: string): Promise<void> {
  await rm(waitingFile(dir), { force: true });
}

/** The alert as the ledger knows one that is open, so that its end is reported to the sinks that were notified. */
export function asKnown({ occurrence, fact, state, sinks }: WaitingAlert): KnownAlert {
  return {
    ...{ key, occurrence, isOpen: true, isTold: true, acknowledgedUntil: undefined },
    raisedAt: Date.parse(state.at),
    fact: JSON.stringify(fact),
    // Whoever may have been notified is told the end.
    sinks: Object.keys(sinks).filter((sink) => sinks[sink] !== 'failed'),
  };
}

/** The alert as the ledger stores it when it can be written again. */
export function asRaised(waiting: WaitingAlert): RaisedAlert {
  const { kind, account, severity } = waiting.fact;
  const { occurrence, isTold, fact, sinks } = asKnown(waiting);
  return { key, occurrence, kind, account, severity, fact, sinks, isTold };
}

/**
 * Notifies the sinks that the books cannot be written, with what of the published numbers can be trusted; does nothing
 * where another run holds them, on a full disk (another alert) and for a bug. Each sink is notified once until the books
 * are whole again: a file beside them says who was, as the ledger cannot. Where that file cannot be written, each run
 * notifies. Never throws.
 */
export async function alertUnusableBooks(command: string, error: unknown, context: CommandContext): Promise<void> {
  if (!isForSinks(error) || reported.has(error)) return;
  reported.add(error);
  const { dir, effects } = context;
  try {
    const config = loadTellingConfig(context);
    const before = await waitingAlert(dir);
    const seen = await present(command, error, context);
    const found = { ...seen, fact: withNews(seen.fact, before?.fact, false) };
    const isSame = before !== undefined && before.fact.revision === found.fact.revision;
    const occurrence = before === undefined ? found.occurrence : before.occurrence + 1;
    const waiting: WaitingAlert = isSame ? before : { ...found, occurrence, sinks: {} };
    const sinks = config.alerts.notify.filter((sink) => !['delivered', 'dead'].includes(waiting.sinks[sink] ?? ''));
    if (sinks.length === 0) return;
    const begun = { ...waiting, sinks: { ...waiting.sinks, ...of(sinks, () => 'begun') } };
    await store(dir, begun, context);
    const deliveries = await deliverWithoutBooks(
      {
        entry: { key, occurrence: waiting.occurrence, transition: 'raised', fact: waiting.fact },
        sinks,
        state: waiting.state,
        queuedAt: Date.parse(waiting.state.at),
        mayBeRepeat: (sink) => waiting.sinks[sink] === 'begun',
      },
      config,
      context,
    );
    const outcomes = new Map(deliveries.map(({ message: { sink }, outcome }) => [sink, outcome]));
    const known = (outcome = 'failed') => (outcome === 'postponed' ? 'failed' : outcome);
    await store(
      dir,
      { ...begun, sinks: { ...begun.sinks, ...of(sinks, (sink) => known(outcomes.get(sink))) } },
      context,
    );
    const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').length;
    context.tell(`the books cannot be written: ${delivered} of ${deliveries.length} sinks were notified of it`);
  } catch (further) {
    effects.log.warn('the sinks were not notified that the books cannot be written', { because: messageOf(further) });
  }
}

/** Whether a failure is one of the books that somebody has to mend: what a lock or a signal stops, another run does. */
function isForSinks(error: unknown): error is object {
  if (!(error instanceof Error) || error instanceof NoBooksError || isDiskFull(messageOf(error))) return false;
  const exitCode = exitCodeOf(error);
  return exitCode !== exitCodes.bug && exitCode !== exitCodes.locked && exitCode < 128;
}

/** The alert as it is now: with what the published snapshot says where every row of it can be read. */
async function present(
  command: string,
  error: unknown,
  { dir, effects, redact, signal }: CommandContext,
): Promise<Omit<WaitingAlert, 'sinks'>> {
  const at = formatSecond(effects.now());
  const whole = await wholeSnapshot(dir, signal);
  const { completeThrough = null, settledThrough = null } = whole ?? {};
  return {
    occurrence: (whole?.occurrence ?? 0) + 1,
    state: { at, completeThrough, settledThrough },
    fact: {
      ...{ key, kind: 'books', account: null, severity: 'critical', notify: [], state: 'raised', completeThrough },
      ...{ command, exitCode: exitCodeOf(error), error: redact(firstSentence(messageOf(error))), foundAt: at },
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
      const { amounts: rows, cost, publishedAt } = books.published;
      const known = (await knownAlerts(books.connection)).find((alert) => alert.key === key);
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

function of<T>(sinks: readonly string[], value: (sink: string) => T): Record<string, T> {
  return Object.fromEntries(sinks.map((sink) => [sink, value(sink)]));
}

async function store(dir: string, waiting: unknown, { effects }: CommandContext): Promise<void> {
  const file = waitingFile(dir);
  const part = `${file}.part`;
  try {
    await writeFile(part, JSON.stringify(waiting));
    await rename(part, file);
  } catch (error) {
    effects.log.warn('who was notified cannot be stored, so the next run notifies again', {
      because: messageOf(error),
    });
  }
}
