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
import { optionReader } from './options.ts';
import { makeWarehouse } from './rebuild-warehouse.ts';
import { waitOption } from './wait.ts';
import { openProjectWarehouse } from './writing-run.ts';

/** What was repaired, as `--json` prints it. */
interface Repaired {
  /** Why the warehouse was rebuilt; null if it was intact. */
  readonly reason: string | null;
  readonly madeFrom: 'snapshot' | 'landing' | null;
  /** Loads read from the landing folder. */
  readonly loads: number;
  /** Files that were moved aside. */
  readonly movedAside: readonly string[];
  /** Logs of other programs next to the snapshot. */
  readonly removedLogs: readonly string[];
  readonly published: SnapshotFacts;
}

export const repairCommand: Command = {
  name: 'repair',
  summary: 'Rebuild a missing, damaged or changed warehouse or snapshot from the files that are intact.',
  options: [
    {
      flags: '--accept-loss',
      summary: 'continue even if loads or journal events are lost; the next ingest fetches those hours again',
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
    if (sealed.state !== 'intact') throw new Error('the snapshot changed right after it was published');
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

/** A published warehouse, with the removed logs; or its fault. */
interface PublishedIfWhole {
  readonly fault: DamagedFileError | UnprovenError | undefined;
  readonly removedLogs: readonly string[];
}

/** Publishes a warehouse if every row can be read; otherwise returns its fault. */
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

/** Rebuilds the warehouse, from the snapshot if that is intact, puts it into place and publishes it. */
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
    `the books were last published with ${describeFacts(seal)}, but the intact files only reach load ${loadNumber} and ` +
      `journal event ${lastEvent}. Nothing was changed. Restore data/landing and data/journal from a backup and run ` +
      'this again. Or run "costbook repair --accept-loss"; "costbook ingest" then fetches the missing hours again',
  );
}

function describe({ reason, madeFrom, loads, movedAside, removedLogs, published }: Repaired): string {
  const count = `${loads} load${loads === 1 ? '' : 's'}`;
  const from = madeFrom === 'snapshot' ? `the snapshot, ${count} stored since` : `${count} in the landing folder`;
  return [
    reason === null
      ? 'The warehouse is intact: every row could be read.'
      : `The warehouse was rebuilt from ${from} and the journal.`,
    ...movedAside.map((path) => `Moved aside; delete it when you no longer need it: ${path}`),
    ...removedLogs.map((path) => `Removed, because another program left it next to the snapshot: ${path}`),
    `The snapshot is published: ${describeFacts(published)}.`,
    '',
  ].join('\n');
}
