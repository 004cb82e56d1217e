import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import {
  CostbookError,
  exitCodeOf,
  exitCodes,
  fullDiskOf,
  fullDiskWords,
  isDiskFull,
  isForRepair,
  messageOf,
  NoBooksError,
} from '../base/errors.ts';
import { type Failure, factsOfFailures, failuresOf, redactedFailures } from '../base/failure.ts';
import type { LocalConfig } from '../config/index.ts';
import { type AlertEntry, readOutOfDate, withNews } from '../findings/index.ts';
import { completenessOf } from '../reports/formats/index.ts';
import { isActing, type Message } from '../sinks/index.ts';
import { formatSecond, type Instant } from '../time/time.ts';
import { openBooks, readAllTables, type Space, spaceOf } from '../warehouse/integrity/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { knownAlerts } from '../warehouse/watch/index.ts';
import { type Delivery, deliver } from './deliver.ts';
import { messagesOf } from './message.ts';
import { type AlertingContext, openSinks, originOf, readableAlertingConfig } from './notify.ts';
import {
  diskFact,
  fileElsewhere,
  fileOf,
  keys,
  type Name,
  names,
  of,
  readUnstored,
  type SinkOutcome,
  sinceOf,
  storedFile,
  type UnstoredAlert,
} from './unstored-alerts.ts';

/** Failures that were already reported where they were found. */
const reported = new WeakSet<object>();

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

/**
 * Notifies the sinks that the disk is full, or that the books cannot be written and which published numbers can be
 * trusted. Does nothing for other failures: if another run holds the books, or for a bug. Each sink is notified once
 * until the books are written again. A file next to the books records who was notified, because the ledger cannot. If
 * that file cannot be written, a file below the temporary folder does; if neither can, every run notifies. Never throws.
 * `ofBooks` is the error of a run that cannot store its alerts.
 */
export async function alertWithoutBooks(
  command: string,
  failures: readonly Failure[],
  context: AlertingContext,
  ofBooks?: unknown,
): Promise<void> {
  try {
    const full = failures.find(({ code }) => isDiskFull(code));
    if (full !== undefined) {
      const present = () => presentDisk(command, full, context);
      await notifyOnce('disk', present, fullDiskWords(full.code).found, context);
    } else if (isOfBooks(ofBooks) && !reported.has(ofBooks)) {
      reported.add(ofBooks);
      await notifyOnce('books', () => presentBooks(command, ofBooks, context), 'the books cannot be written', context);
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

async function presentDisk(
  command: string,
  { code, found: reason }: Failure,
  context: AlertingContext,
): Promise<Omit<UnstoredAlert, 'sinks'>> {
  const { dir, effects, redact } = context;
  const at = formatSecond(effects.now());
  const { found } = fullDiskWords(code);
  const space = code === 'disk_full' ? await spaceOf(dir).catch(() => undefined) : undefined;
  const failures = [`${dir}: ${found}`, reason].map((text) => ({
    code,
    subject: dir,
    found: redact(text),
    next: null,
  }));
  const published = await publishedState(keys.disk, context).catch(() => undefined);
  const { occurrence = 0, completeThrough = null, settledThrough = null, outOfDate = [] } = published ?? {};
  return {
    occurrence: occurrence + 1,
    fact: { ...diskFact({ command, failures, at }), completeThrough, outOfDate, ...roomOf(space) },
    state: { at, completeThrough, settledThrough },
  };
}

function roomOf(space: Space | undefined): Pick<ReturnType<typeof diskFact>, 'space'> {
  return space === undefined ? {} : { space: { free: space.free, needed: space.needed } };
}

/** From the published snapshot: complete through, what is missing since, and how often an alert was raised. */
async function publishedState(key: string, context: AlertingContext) {
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    return await stateIn(books.connection, key, context);
  } finally {
    books.close();
  }
}

async function stateIn(connection: Connection, key: string, context: AlertingContext) {
  const { config } = readableAlertingConfig(context);
  const known = (await knownAlerts(connection)).find((alert) => alert.key === key);
  const { completeThrough, settledThrough } = await completenessOf(connection);
  const outOfDate = await readOutOfDate(connection, {
    ...{ now: context.effects.now(), freshnessHours: config.freshnessHours },
    configured: config.accounts.flatMap(({ id }) => id ?? []),
  });
  return { completeThrough, settledThrough, outOfDate, occurrence: known?.occurrence ?? 0 };
}

/** The current alert, with the contents of the published snapshot if every row of it can be read. */
async function presentBooks(
  command: string,
  error: unknown,
  context: AlertingContext,
): Promise<Omit<UnstoredAlert, 'sinks'>> {
  const { effects, redact } = context;
  const at = formatSecond(effects.now());
  const whole = await wholeSnapshot(context);
  const { completeThrough = null, settledThrough = null } = whole ?? {};
  return {
    occurrence: (whole?.occurrence ?? 0) + 1,
    state: { at, completeThrough, settledThrough },
    fact: {
      ...{ key: keys.books, kind: 'books', account: null, severity: 'critical', notify: [], state: 'raised' },
      ...{ completeThrough, command, exitCode: exitCodeOf(error), foundAt: at },
      ...factsOfFailures(redactedFailures(failuresOf(error), redact)),
      isForRepair: isForRepair(error),
      snapshot: whole?.snapshot ?? null,
      outOfDate: whole?.outOfDate ?? [],
    },
  };
}

async function wholeSnapshot(context: AlertingContext) {
  try {
    const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
    try {
      await readAllTables(books.connection, 'wh');
      const { rowCount: rows, cost, publishedAt } = books.published;
      return { ...(await stateIn(books.connection, keys.books, context)), snapshot: { rows, cost, publishedAt } };
    } finally {
      books.close();
    }
  } catch (error) {
    if (error instanceof CostbookError) return undefined;
    throw error;
  }
}

/** Returns whether it was written; on a full disk it is not. */
async function store(name: Name, alert: UnstoredAlert, { dir, effects }: AlertingContext): Promise<boolean> {
  try {
    await write(fileOf(dir, name), alert);
    return true;
  } catch (error) {
    const elsewhere = fullDiskOf(error) !== undefined ? undefined : await fileElsewhere(dir, name, true);
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

/** An alert that is sent although the books cannot store it. */
interface UnstoredMessage {
  readonly entry: AlertEntry;
  readonly sinks: readonly string[];
  readonly state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough'>;
  readonly queuedAt: Instant;
  /** Whether an earlier run may have delivered it to the sink. */
  mayBeRepeat(sink: string): boolean;
}

/** Delivers an alert without outbox and receipts. Every attempt has the same message id. */
function deliverWithoutBooks(
  { entry, sinks, state, queuedAt, mayBeRepeat }: UnstoredMessage,
  config: LocalConfig,
  context: AlertingContext,
): Promise<readonly Delivery[]> {
  const { effects, signal } = context;
  const messages = messagesOf([{ entry, sinks }], { ...state, origin: originOf(config, context) });
  const opened = openSinks(config, context);
  return deliver({
    outbox: {
      pendingMessages: async () =>
        messages.map((message, number) => ({
          ...message,
          number,
          queuedAt,
          tried: { since: queuedAt, last: effects.now() },
          mayBeRepeat: mayBeRepeat(message.sink),
        })),
      deliveryBegan: async () => undefined,
      deliveryEnded: async () => undefined,
      answersSince: async () => [],
    },
    acting: new Map(),
    runNumber: 0,
    tellOf: (name) => opened.get(name),
    giveUpDays: config.alerts.giveUpDays,
    now: effects.now,
    random: effects.random,
    sleep: effects.sleep,
    signal,
  });
}
