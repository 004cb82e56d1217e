import { markMended } from '../alerts/index.ts';
import { DamagedFileError, exitCodes, firstSentence, LockedError, UnprovenError, UsageError } from '../errors.ts';
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
} from '../warehouse/index.ts';
import type { Command, CommandContext } from './command.ts';
import { makeWarehouse } from './make-warehouse.ts';
import { optionReader } from './options.ts';
import { waitOption } from './wait.ts';
import { openProjectWarehouse } from './writing-run.ts';

/** What was repaired, as `--json` has it. */
interface Repaired {
  /** Why the warehouse was made anew; null where it was whole. */
  readonly reason: string | null;
  readonly madeFrom: 'snapshot' | 'landing' | null;
  /** Loads read from the landing folder. */
  readonly loads: number;
  /** Files that were moved aside. */
  readonly movedAside: readonly string[];
  /** Logs of other programs beside the snapshot. */
  readonly removedLogs: readonly string[];
  readonly published: SnapshotFacts;
}

export const repairCommand: Command = {
  name: 'repair',
  summary: 'Make a missing, damaged or changed warehouse or snapshot anew from what is whole, and publish.',
  options: [
    {
      flags: '--accept-loss',
      summary: 'go on where loads or journal events are lost; the next ingest fetches those hours again',
    },
    waitOption,
  ],
  examples: ['costbook repair', 'costbook repair --wait 10m'],
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const waitMs = options.duration('wait') ?? 0;
    options.check();
    const acceptLoss = options.flag('acceptLoss');
    const { fault, removedLogs } = await publishIfWhole(waitMs, context);
    const made = fault === undefined ? undefined : await makeAnew(fault, acceptLoss, context);
    const sealed = await readSeal(snapshotFile(context.dir));
    if (sealed.state !== 'intact') throw new Error('the snapshot is not as it was published a moment ago');
    await markMended(context);
    const { loadNumber, lastEvent, rowCount, cost } = sealed.seal;
    const repaired: Repaired = {
      reason: fault === undefined ? null : firstSentence(fault.message),
      madeFrom: made?.madeFrom ?? null,
      loads: made?.loads ?? 0,
      movedAside: made?.movedAside ?? [],
      removedLogs: made?.removedLogs ?? removedLogs,
      published: { loadNumber, lastEvent, rowCount, cost },
    };
    await context.write(context.redact(context.json ? `${JSON.stringify(repaired)}\n` : describe(repaired)));
    return exitCodes.done;
  },
};

/** A warehouse that was published, with the logs removed beside the snapshot; or what is wrong with it. */
interface PublishedIfWhole {
  readonly fault: DamagedFileError | UnprovenError | undefined;
  readonly removedLogs: readonly string[];
}

/** Publishes a warehouse of which every row can be read. Returns what is wrong with it otherwise. */
async function publishIfWhole(waitMs: number, context: CommandContext): Promise<PublishedIfWhole> {
  try {
    const warehouse = await openProjectWarehouse(waitMs, context);
    try {
      context.progress('reading the warehouse');
      await warehouse.readAll();
      context.progress('publishing the snapshot');
      return { fault: undefined, removedLogs: await warehouse.publish() };
    } finally {
      warehouse.close();
    }
  } catch (error) {
    if (error instanceof DamagedFileError || error instanceof UnprovenError) return { fault: error, removedLogs: [] };
    throw error;
  }
}

/** Makes the warehouse anew, from the snapshot where that is whole, puts it into its place and publishes it. */
async function makeAnew(
  fault: Error,
  acceptLoss: boolean,
  context: CommandContext,
): Promise<Pick<Repaired, 'madeFrom' | 'loads' | 'movedAside' | 'removedLogs'>> {
  const { dir, effects, signal } = context;
  effects.log.warn('warehouse.rebuilding', 'Rebuilding the warehouse', { reason: firstSentence(fault.message) });
  const snapshot = snapshotFile(dir);
  const base = await wholeSnapshot(dir, signal).catch((error: unknown) => {
    const isNoBase = [DamagedFileError, UnprovenError, UsageError, LockedError].some((kind) => error instanceof kind);
    if (!isNoBase) throw error;
    return undefined;
  });
  const published = await knowledgeOf(snapshot, await readSeal(snapshot).catch(() => undefined));
  const movedAside: string[] = [];
  const { loads } = await makeWarehouse(
    warehouseFile(dir),
    {
      base,
      async beforeFinish(knows) {
        const isLess = published !== undefined && knowsLess(knows, published);
        if (isLess && !acceptLoss) throw lost(knows, published);
        const aside = [await setWarehouseAside(dir, Date.now())];
        if (isLess) aside.push(await setAside(snapshot, Date.now()));
        movedAside.push(...aside.filter((path) => path !== undefined));
      },
    },
    context,
  );
  const { fault: further, removedLogs } = await publishIfWhole(0, context);
  if (further !== undefined) throw further;
  return { madeFrom: base === undefined ? 'landing' : 'snapshot', loads, movedAside, removedLogs };
}

function knowsLess(knows: Pick<SnapshotFacts, 'loadNumber' | 'lastEvent'>, seal: SnapshotFacts): boolean {
  return knows.loadNumber < seal.loadNumber || knows.lastEvent < seal.lastEvent;
}

function lost(
  { loadNumber, lastEvent }: Pick<SnapshotFacts, 'loadNumber' | 'lastEvent'>,
  seal: SnapshotFacts,
): UnprovenError {
  return new UnprovenError(
    `the books had ${describeFacts(seal)} when they were published last, and what is whole has load ${loadNumber} and ` +
      `journal event ${lastEvent}. Nothing was changed. Restore data/landing and data/journal from a backup and run ` +
      'this again; or run "costbook repair --accept-loss", and "costbook ingest" fetches the missing hours again',
  );
}

function describe({ reason, madeFrom, loads, movedAside, removedLogs, published }: Repaired): string {
  const count = `${loads} load${loads === 1 ? '' : 's'}`;
  const from = madeFrom === 'snapshot' ? `the snapshot and ${count} landed since` : `${count} of the landing folder`;
  return [
    reason === null
      ? 'The warehouse is whole: every row of it was read.'
      : `The warehouse was made anew from ${from}, and the journal.`,
    ...movedAside.map((path) => `Moved aside, to be deleted when you like: ${path}`),
    ...removedLogs.map((path) => `Removed, as another program left it beside the snapshot: ${path}`),
    `The snapshot is published: ${describeFacts(published)}.`,
    '',
  ].join('\n');
}
