import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Log } from '../effects.ts';
import { CostbookError, MachineError, UnprovenError } from '../errors.ts';
import {
  describeLoad,
  type LandedLoad,
  missingPages,
  openLandedAnswers,
  parseWindow,
  readLandedLoads,
} from '../fetch/index.ts';
import { shellWord } from '../shell-word.ts';
import { formatInstant, unionWindows } from '../time.ts';
import type { LoadFacts, LoadWritten, Stage } from '../warehouse/index.ts';
import { readWindow } from './window.ts';

/** Each query holds one of libuv's four threads; one is left to read files meanwhile. */
const queriesAtOnce = 3;

/** How many loads a message names before it counts the others. */
const loadsNamed = 20;

/**
 * Makes loads again from the landing folder, in the order of their numbers: the same queries, decoder, stage and
 * proofs as an ingest, with the landing folder as the platform. Returns how many there were.
 *
 * Throws UnprovenError where answers are missing (naming every load that lacks them), are not as they were landed, do
 * not prove any more, or are not those that are asked for now.
 */
export async function rebuildLoads(options: {
  landingRoot: string;
  /** The last load that need not be made, as it is there already; 0 for none. */
  afterLoad: number;
  /** The last load to make; undefined for all that were landed. */
  throughLoad: number | undefined;
  /** So many windows are on their way at once: some are read while the one before them is compared or written. */
  stages: readonly Stage[];
  log: Log;
  signal: AbortSignal;
  onProgress(done: number, of: number): void;
}): Promise<number> {
  const { landingRoot, signal } = options;
  const landed = await readLandedLoads(landingRoot);
  const { afterLoad: first } = options;
  const last = options.throughLoad ?? landed.at(-1)?.record.loadNumber ?? 0;
  const loads = landed.filter(({ record }) => record.loadNumber > first && record.loadNumber <= last);
  const withAnswers = await findAnswers(landingRoot, loads, { first, last });
  const queries = pLimit(queriesAtOnce);
  const written: Promise<void>[] = [];
  try {
    for (const [index, load] of loads.entries()) {
      await written[index - options.stages.length]; // its stage is free then
      signal.throwIfAborted();
      const stage = options.stages[index % options.stages.length];
      if (stage === undefined) throw new Error('there is no stage');
      const read = settle(withAnswers.has(load) ? readAgain(load, { ...options, stage, queries }) : undefined);
      const before = written[index - 1];
      const writing = (async () => {
        const isRead = await read;
        await before; // loads are written in their order, and what is wrong with an earlier one is told first
        isRead();
        await queries(async () => {
          if (!withAnswers.has(load)) await repeatLoad(load, stage);
          else await blaming(load, signal, async () => void (await stage.load(factsOf(load), async () => load.place)));
        });
        options.onProgress(index + 1, loads.length);
      })();
      writing.catch(() => undefined); // it is told when its turn comes
      written.push(writing);
    }
    await Promise.all(written);
  } finally {
    await Promise.allSettled(written); // nothing is on its way when this ends
  }
  return loads.length;
}

/** Waits for work that may fail; its failure is thrown when the result is called. */
async function settle(work: Promise<void> | undefined): Promise<() => void> {
  try {
    await work;
    return () => undefined;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The loads whose answers are all there. Throws UnprovenError naming those that cannot be made without. */
async function findAnswers(
  root: string,
  loads: readonly LandedLoad[],
  { first, last }: { first: number; last: number },
): Promise<Set<LandedLoad>> {
  const withAnswers = new Set<LandedLoad>();
  const lacking: { line: string; load: LandedLoad | undefined }[] = [];
  const byNumber = new Map(loads.map((load) => [load.record.loadNumber, load]));
  for (let number = first + 1; number <= last; number += 1) {
    const load = byNumber.get(number);
    if (load === undefined) {
      lacking.push({ line: `load ${number}: its folder is missing`, load });
      continue;
    }
    const missing = await missingPages(root, load);
    if (missing.length === 0) withAnswers.add(load);
    else if (load.record.proofs === null) {
      const pages = `${missing.length} of ${load.pages.length} pages`;
      lacking.push({ line: `${describeLoad(load)}: ${pages} are missing, beginning with ${missing[0]}`, load });
    }
  }
  if (lacking.length === 0) return withAnswers;
  const named = lacking.slice(0, loadsNamed).map(({ line }) => line);
  const spans = unionWindows(lacking.flatMap(({ load }) => load?.window ?? []));
  const [from, to] = [spans[0]?.start, spans.at(-1)?.end];
  const range =
    from === undefined || to === undefined ? '' : ` --from ${formatInstant(from)} --to ${formatInstant(to)}`;
  throw new UnprovenError(
    [
      `${root} lacks answers of ${lacking.length} load${lacking.length === 1 ? '' : 's'}:`,
      ...named,
      ...(lacking.length > named.length ? [`and of ${lacking.length - named.length} more`] : []),
      'bring them back from a backup; or fetch those hours again, as the platform has them today, into books of their own:',
      ...(await refetchCommands(dirname(dirname(root)), range)),
    ].join('\n'),
  );
}

/** What a project has that is not its settings; a rebuild that is under way makes a file and folders of these endings. */
const notSettings = /^(data|exports|node_modules|\.git)$|\.duckdb(\.|$)/;

/** The commands that fetch a range of hours into books beside a project, with the same settings: lines for a shell. */
async function refetchCommands(project: string, range: string): Promise<string[]> {
  const other = `${project}-refetched`;
  const names = (await readdir(project)).filter((name) => !notSettings.test(name)).sort();
  const settings = names.map((name) => shellWord(join(project, name)));
  return [
    `  mkdir -p ${shellWord(other)}`,
    ...(settings.length === 0 ? [] : [`  cp -Rp ${settings.join(' ')} ${shellWord(other)}`]),
    `  costbook ingest --refetch${range} --dir ${shellWord(other)}`,
  ];
}

/** Reads a load's answers into the stage, and compares them, as when they came from the platform. */
async function readAgain(
  load: LandedLoad,
  {
    landingRoot,
    stage,
    queries,
    log,
    signal,
  }: { landingRoot: string; stage: Stage; queries: LimitFunction; log: Log; signal: AbortSignal },
): Promise<void> {
  const { account, window, record } = load;
  const answers = openLandedAnswers(landingRoot, load);
  const known = {
    decimals: record.known.decimals,
    agreedTolerance: record.known.agreedTolerance ?? undefined,
  };
  await blaming(load, signal, async () => {
    const read = await readWindow({
      account,
      window,
      stage,
      ask: (query, sink) => answers.ask(query, sink),
      role: record.role,
      known,
      leavesOut: () => record.leavesOut,
      exclusively: (work) => queries(work),
      onRole: () => undefined,
      onPage: () => undefined,
      log: { ...log, info: () => undefined }, // what was told when it was read is no news
      signal,
    });
    const unasked = answers.unasked();
    if (unasked.length > 0)
      throw new UnprovenError(`it was asked for ${unasked.join(', ')}, which is not asked for now`);
    if (read.because !== undefined) throw new UnprovenError(`it does not prove any more: ${read.because}`);
  });
}

/** Runs work on a landed load; whatever is wrong with its answers, no platform is at fault now. */
async function blaming(load: LandedLoad, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CostbookError) || error instanceof MachineError || signal.aborted) throw error;
    const name = describeLoad(load);
    throw new UnprovenError(error.message.includes(name) ? error.message : `${name}: ${error.message}`, {
      cause: error,
    });
  }
}

/** Writes a load that changed nothing from what its `load.json` says: its answers need not be there. */
async function repeatLoad(load: LandedLoad, stage: Stage): Promise<void> {
  const { account, window, record } = load;
  await stage.begin(account, window);
  stage.readAs(record.role);
  const written: LoadWritten = {
    outcome: record.outcome,
    amounts: record.amounts,
    restated: record.restated,
    cost: record.cost,
    pieces: record.covered.map((piece) => ({ window: parseWindow(piece.window), role: piece.role })),
    // JSON leaves out what is undefined.
    proofs: (record.proofs ?? []).map((proof) => ({ ...proof, billingDimension: proof.billingDimension })),
  };
  await stage.repeat(factsOf(load), written, load.place);
}

function factsOf({ record }: LandedLoad): LoadFacts {
  const { loadNumber, runNumber, reading, reason, requests, pagesRead, queries, claimedEnd } = record;
  const { seenAt, platformAt } = record;
  return {
    loadNumber,
    runNumber,
    reading,
    reason,
    requests,
    pages: pagesRead,
    queries,
    claimedEnd,
    seenAt,
    platformAt,
  };
}
