import { join } from 'node:path';
import { foundIn, LockedError, OlderBooksError, UnprovenError, UsageError } from '../base/errors.ts';
import { moveMisplacedAside } from '../base/misplaced.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { expectProject, noProjectWords } from '../base/project-folder.ts';
import { formatSecond, formatWindow } from '../time/time.ts';
import {
  describeFacts,
  knowledgeOf,
  readSeal,
  type SnapshotFacts,
  setAside,
  setWarehouseAside,
  snapshotFile,
  warehouseFile,
  wholeSnapshot,
} from '../warehouse/integrity/index.ts';
import { closeGaps, JournalLossError, journalFolder, type LostEvents } from '../warehouse/journal/index.ts';
import { makeWarehouse, type WarehouseAsked } from './make-warehouse.ts';
import { openProjectWarehouse } from './project-warehouse.ts';
import { acceptLosses, LandingLossError, putInPlace } from './rebuild.ts';

/** What was repaired, as `--json` prints it. */
export interface Repaired {
  /** Why the warehouse was rebuilt; null if it was intact. */
  readonly reason: string | null;
  readonly madeFrom: 'snapshot' | 'landing' | null;
  /** Loads read from the landing folder. */
  readonly loads: number;
  /** Files that were moved aside. */
  readonly movedAside: readonly string[];
  /** Logs of other programs next to the snapshot. */
  readonly removedLogs: readonly string[];
  /** What was lost, with --accept-loss: loads and events of the journal, in words. */
  readonly lost: { readonly loads: readonly string[]; readonly journal: readonly string[] };
  /** The lost events of the journal that the books have, in words: nothing is lost with them. */
  readonly restored: readonly string[];
  readonly published: SnapshotFacts;
}

/** What was lost, and what was done about it. */
interface Losses {
  loads: readonly AcceptedLoss[];
  /** Events that are missing from the journal. */
  events: readonly LostEvents[];
  /** Damaged files of the journal, under their new names. */
  journalFiles: readonly string[];
  readonly isAccepted: boolean;
}

type AcceptedLoss = Awaited<ReturnType<typeof acceptLosses>>[number];

/** Makes the books whole from the files that are intact, and publishes them. Throws UnprovenError if that loses something. */
export async function repair(
  { acceptLoss, waitMs }: { readonly acceptLoss: boolean; readonly waitMs: number },
  context: ProjectContext,
): Promise<Repaired> {
  const losses: Losses = { loads: [], events: [], journalFiles: [], isAccepted: acceptLoss };
  expectProject(context);
  const misplaced = moveMisplacedAside(context.dir, formatSecond(Date.now()).replaceAll(/[-:]/g, ''));
  refuseWithoutProject(misplaced, context);
  const copies = await putInPlace(join(context.dir, 'data', 'landing'));
  const { fault, removedLogs } = await publishIfWhole(losses, waitMs, context);
  const made = fault === undefined ? undefined : await makeAnew(fault, losses, context);
  const sealed = await readSeal(snapshotFile(context.dir));
  if (sealed.state !== 'intact') throw new Error('the snapshot changed right after it was published');
  const { loadNumber, lastEvent, rowCount, cost } = sealed.seal;
  return {
    reason: fault === undefined ? null : foundIn(fault),
    madeFrom: made?.madeFrom ?? null,
    loads: made?.loads ?? 0,
    movedAside: [...misplaced, ...copies, ...(made?.movedAside ?? []), ...losses.journalFiles],
    removedLogs: made?.removedLogs ?? removedLogs,
    lost: {
      loads: losses.loads.map(describeLoss),
      journal: losses.events.filter(({ isInBooks }) => !isInBooks).map(describeEvents),
    },
    restored: losses.events.filter(({ isInBooks }) => isInBooks).map(describeEvents),
    published: { loadNumber, lastEvent, rowCount, cost },
  };
}

/** Throws UsageError if a file was in place of the folder `data`, and nothing else makes this folder a project. */
function refuseWithoutProject(misplaced: readonly string[], { dir, env }: ProjectContext): void {
  const [aside] = misplaced;
  if (aside === undefined || noProjectWords(dir, env) === undefined) return;
  throw new UsageError(
    `${join(dir, 'data')} was a file, expected a folder; it is now ${aside}. There are no books in ${dir}: restore the ` +
      'folder data from a backup and run this again, or start with "costbook init"',
  );
}

/** A published warehouse, with the removed logs; or its fault. */
interface PublishedIfWhole {
  readonly fault: Error | undefined;
  readonly removedLogs: readonly string[];
}

/**
 * Publishes a warehouse if every row can be read; otherwise returns its fault. Restores lost events of the journal from
 * it. Throws JournalLossError if events are lost that it does not have, unless the loss is accepted.
 */
async function publishIfWhole(losses: Losses, waitMs: number, context: ProjectContext): Promise<PublishedIfWhole> {
  try {
    return { fault: undefined, removedLogs: await publishWhole(waitMs, context) };
  } catch (error) {
    if (!(error instanceof JournalLossError)) return { fault: faultIn(error), removedLogs: [] };
    await closeJournal(losses, error.inBooks, context);
  }
  try {
    return { fault: undefined, removedLogs: await publishWhole(0, context) };
  } catch (error) {
    return { fault: faultIn(error), removedLogs: [] };
  }
}

/** The error, if another warehouse can replace the faulty one; throws all others. */
function faultIn(error: unknown): Error {
  if (error instanceof UnprovenError || error instanceof OlderBooksError) return error;
  throw error;
}

async function publishWhole(waitMs: number, context: ProjectContext): Promise<readonly string[]> {
  const warehouse = await openProjectWarehouse(waitMs, context);
  try {
    context.progress('reading the warehouse');
    await warehouse.readAll();
    context.progress('reading the journal');
    await warehouse.restoreJournal();
    context.progress('publishing the snapshot');
    return await warehouse.publish();
  } finally {
    warehouse.close();
  }
}

/** Closes the gaps of a damaged journal. */
async function closeJournal(
  losses: Losses,
  inBooks: number,
  { dir }: ProjectContext,
  { isEndLost = false } = {},
): Promise<void> {
  const closed = await closeGaps(journalFolder(dir), { inBooks, acceptLoss: losses.isAccepted, isEndLost });
  losses.events = [...losses.events, ...closed.lost];
  losses.journalFiles = [...losses.journalFiles, ...closed.movedAside];
}

/** Creates a warehouse; with --accept-loss, without the loads and events that are lost. */
async function makeWithout(losses: Losses, asked: WarehouseAsked, context: ProjectContext): Promise<{ loads: number }> {
  const make = () => makeWarehouse(warehouseFile(context.dir), asked, context);
  async function withoutLoads(error: unknown): Promise<{ loads: number }> {
    if (!(error instanceof LandingLossError)) throw error;
    losses.loads = await acceptLosses(join(context.dir, 'data', 'landing'), error);
    return make();
  }
  try {
    return await make();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof JournalLossError ? error.cause : error;
    if (cause instanceof JournalLossError) {
      await closeJournal(losses, asked.inBooks ?? 0, context, cause).catch((lost: unknown) => {
        if (!(lost instanceof JournalLossError) || asked.base !== undefined) throw lost;
        // The error has what the landing folder lost, too.
        throw new UnprovenError(`${foundIn(error)}\n${accepting}`, { cause: lost });
      });
      return makeWithout(losses, asked, context);
    }
    if (!(cause instanceof LandingLossError)) throw error;
    if (!losses.isAccepted) throw new UnprovenError(`${cause.message}\n${accepting}`, { cause: error });
    return withoutLoads(cause);
  }
}

const accepting =
  'Without a backup, run "costbook repair --accept-loss": it keeps what is intact, and "costbook ingest" then fetches the ' +
  'missing hours again';

/** Rebuilds the warehouse, from the snapshot if that is intact, puts it into place and publishes it. */
async function makeAnew(
  fault: Error,
  losses: Losses,
  context: ProjectContext,
): Promise<Pick<Repaired, 'madeFrom' | 'loads' | 'movedAside' | 'removedLogs'>> {
  const { dir, effects, signal } = context;
  effects.log.warn('warehouse.rebuilding', 'Rebuilding the warehouse', { reason: foundIn(fault) });
  const snapshot = snapshotFile(dir);
  const base = await wholeSnapshot(dir, signal).catch((error: unknown) => {
    const isNoBase = [UnprovenError, UsageError, LockedError].some((kind) => error instanceof kind);
    if (!isNoBase) throw error;
    return undefined;
  });
  const published = await knowledgeOf(snapshot, await readSeal(snapshot).catch(() => undefined));
  const movedAside: string[] = [];
  const { loads } = await makeWithout(
    losses,
    {
      base,
      inBooks: base === undefined ? 0 : published?.lastEvent,
      acceptsGaps: true,
      async beforeFinish(knows) {
        const isLess = published !== undefined && knowsLess(knows, published);
        if (isLess && !losses.isAccepted)
          throw lost(`the books were last published with ${describeFacts(published)}`, knows);
        const isEmptied = base === undefined && knows.loadNumber === 0 && knows.windows > 0;
        if (isEmptied && !losses.isAccepted)
          throw lost(`the runs of the journal loaded ${knows.windows} windows`, knows);
        const aside = [await setWarehouseAside(dir, Date.now())];
        if (isLess) aside.push(await setAside(snapshot, Date.now()));
        movedAside.push(...aside.filter((path) => path !== undefined));
      },
    },
    context,
  );
  const { fault: further, removedLogs } = await publishIfWhole(losses, 0, context);
  if (further !== undefined) throw further;
  return { madeFrom: base === undefined ? 'landing' : 'snapshot', loads, movedAside, removedLogs };
}

function describeLoss({ loadNumber, account, window, problem }: AcceptedLoss): string {
  const whose = account === undefined ? '' : ` of account ${account}`;
  return `load ${loadNumber}${whose}${window === undefined ? '' : `, window ${formatWindow(window)}`}: ${problem}`;
}

/** Events for people: `event 5 of the journal (run_ended)`. */
function describeEvents({ from, through, kinds, isEnd }: LostEvents): string {
  if (isEnd)
    return `the journal from event ${from} on, with every close, alert and run since then: close those months again`;
  const range = from === through ? `event ${from}` : `events ${from} to ${through}`;
  const known = [...new Set(kinds)];
  const named =
    known.length === 0 ? '' : ` (${kinds.length <= through - from ? 'among them ' : ''}${known.join(', ')})`;
  return `${range} of the journal${named}`;
}

function knowsLess(knows: Pick<SnapshotFacts, 'loadNumber' | 'lastEvent'>, seal: SnapshotFacts): boolean {
  return knows.loadNumber < seal.loadNumber || knows.lastEvent < seal.lastEvent;
}

function lost(had: string, { loadNumber, lastEvent }: Pick<SnapshotFacts, 'loadNumber' | 'lastEvent'>): UnprovenError {
  return new UnprovenError(
    `${had}, but the intact files only reach load ${loadNumber} and ` +
      `journal event ${lastEvent}. Nothing was changed. Restore data/landing and data/journal from a backup and run ` +
      'this again. Or run "costbook repair --accept-loss"; "costbook ingest" then fetches the missing hours again',
  );
}
