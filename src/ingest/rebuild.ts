import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Log } from '../effects.ts';
import { CostbookError, MachineError, UnprovenError } from '../errors.ts';
import {
  DamagedPageError,
  damagedPages,
  describeLoad,
  type LostLoad,
  missingPages,
  openLandingReader,
  parseWindow,
  readStoredLoads,
  type StoredLoad,
} from '../fetch/index.ts';
import { shellWord } from '../shell-word.ts';
import { formatInstant, formatWindow, unionWindows, type Window } from '../time.ts';
import type { LoadFacts, LoadInBooks, LoadWritten, Stage } from '../warehouse/index.ts';
import { readWindow } from './window.ts';

/** Each query holds one of libuv's four threads; one is left to read files meanwhile. */
const queriesAtOnce = 3;

/** How many loads a message names before it counts the others. */
const loadsNamed = 20;

/**
 * Makes loads again from the landing folder, in the order of their numbers: the same queries, decoder, stage and
 * proofs as an ingest, with the landing folder as the platform. Returns how many there were.
 *
 * Throws UnprovenError where answers are missing or damaged (naming every load that cannot be made, and the commands
 * that put it right), do not prove any more, or are not those that are asked for now.
 */
export async function rebuildLoads(options: {
  landingRoot: string;
  /** The last load that need not be made, as it is there already; 0 for none. */
  afterLoad: number;
  /** The last load to make; undefined for all that were landed. */
  throughLoad: number | undefined;
  /** The loads that the books or their snapshot have: they must be here, and they say the windows of lost folders. */
  loadsInBooks: () => Promise<readonly LoadInBooks[]>;
  /** So many windows are on their way at once: some are read while the one before them is compared or written. */
  stages: readonly Stage[];
  log: Log;
  signal: AbortSignal;
  onProgress(done: number, of: number): void;
}): Promise<number> {
  const { signal } = options;
  const { loads, withAnswers, reportDamage } = await findAnswers(options);
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
  } catch (error) {
    throw isDamagedPage(error) ? await reportDamage() : error;
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

function isDamagedPage(error: unknown): boolean {
  return error instanceof DamagedPageError || (error instanceof Error && error.cause instanceof DamagedPageError);
}

type Loss = Omit<LostLoad, 'place'>;

interface Answers {
  readonly loads: readonly StoredLoad[];
  readonly withAnswers: ReadonlySet<StoredLoad>;
  /** Reads every page and returns the error that names all losses. */
  reportDamage(): Promise<UnprovenError>;
}

/** The loads to make, and which of them have all their answers. Throws UnprovenError naming all that is lost. */
async function findAnswers({
  landingRoot: root,
  afterLoad: first,
  throughLoad,
  loadsInBooks,
}: {
  landingRoot: string;
  afterLoad: number;
  throughLoad: number | undefined;
  loadsInBooks: () => Promise<readonly LoadInBooks[]>;
}): Promise<Answers> {
  const stored = await readStoredLoads(root);
  const inBooks = new Map((await loadsInBooks()).map((load) => [load.loadNumber, load]));
  const last =
    throughLoad ?? [stored.loads.at(-1)?.record.loadNumber ?? 0, ...inBooks.keys()].reduce((a, b) => Math.max(a, b));
  const isWanted = (number: number) => number > first && number <= last;
  const loads = stored.loads.filter(({ record }) => isWanted(record.loadNumber));
  const folders = stored.losses.filter(({ loadNumber }) => isWanted(loadNumber));
  const present = new Set([...loads.map(({ record }) => record.loadNumber), ...folders.map((loss) => loss.loadNumber)]);
  const losses: Loss[] = [...folders];
  for (let number = first + 1; number <= last; number += 1) {
    if (present.has(number)) continue;
    const problem = 'its folder is missing';
    losses.push({ loadNumber: number, account: undefined, window: undefined, problem, remedy: undefined });
  }
  const withAnswers = new Set<StoredLoad>();
  for (const load of loads) {
    const missing = await missingPages(root, load);
    if (missing.length === 0) withAnswers.add(load);
    else if (load.record.reconciliations === null) {
      losses.push(
        lossOf(load, `${missing.length} of ${load.pages.length} pages are missing, beginning with ${missing[0]}`),
      );
    }
  }
  async function reportDamage(): Promise<UnprovenError> {
    const all = [...losses];
    for (const load of loads) {
      const isNeeded = withAnswers.has(load) || load.record.reconciliations === null;
      const [damaged, ...more] = isNeeded ? await damagedPages(root, load) : [];
      if (damaged === undefined) continue;
      const others = more.length === 0 ? '' : `, and ${more.length} more of its pages`;
      all.push(lossOf(load, `${damaged}${others}`));
    }
    return lossError(
      root,
      all.map((loss) => fromBooks(root, loss, inBooks.get(loss.loadNumber))),
    );
  }
  if (losses.length > 0) throw await reportDamage();
  return { loads, withAnswers, reportDamage };
}

/** What is lost of the journal, together with all that the landing folder lost. */
export async function withLandingLosses(
  journalLoss: UnprovenError,
  of: Parameters<typeof findAnswers>[0],
): Promise<UnprovenError> {
  const books =
    'The books themselves do not need it: they stay right, and so do reports; only making them from nothing does';
  const text = `${journalLoss.message}. ${books}`;
  try {
    await findAnswers(of);
    return new UnprovenError(text, { cause: journalLoss });
  } catch (error) {
    if (!(error instanceof UnprovenError)) throw error;
    return new UnprovenError(`${text}\n${error.message}`, { cause: journalLoss });
  }
}

function lossOf({ record, account, window }: StoredLoad, problem: string): Loss {
  return { loadNumber: record.loadNumber, account, window, problem, remedy: undefined };
}

/** A loss with what the books know of it. */
function fromBooks(root: string, loss: Loss, load: LoadInBooks | undefined): Loss {
  if (load === undefined) return loss;
  const isGone = loss.problem === 'its folder is missing' && load.landing !== undefined;
  return {
    ...loss,
    account: loss.account ?? load.account,
    window: loss.window ?? load.window,
    problem: isGone
      ? `its folder ${join(root, load.landing)} is missing, expected the answers of ${load.requests} requests`
      : loss.problem,
  };
}

/** What names every loss, with the commands that put it right. */
async function lossError(root: string, losses: readonly Loss[]): Promise<UnprovenError> {
  const sorted = [...losses].sort((a, b) => a.loadNumber - b.loadNumber);
  const lines = sorted.map(({ loadNumber, account, window, problem }) => {
    const whose = account === undefined ? '' : ` of account ${account}`;
    return `load ${loadNumber}${whose}${window === undefined ? '' : `, window ${formatWindow(window)}`}: ${problem}`;
  });
  const named = lines.slice(0, loadsNamed);
  const remedies = sorted.flatMap(({ remedy }) => remedy ?? []);
  const lost = sorted.filter(({ remedy }) => remedy === undefined);
  const numbers = new Set(sorted.map(({ loadNumber }) => loadNumber)).size;
  return new UnprovenError(
    [
      `${root} lacks answers of ${numbers} load${numbers === 1 ? '' : 's'}:`,
      ...named,
      ...(lines.length > named.length ? [`and of ${lines.length - named.length} more`] : []),
      ...(remedies.length === 0 ? [] : ['folders that are in a wrong place: move them, and run this again:']),
      ...remedies.map((command) => `  ${command}`),
      ...(lost.length === 0
        ? []
        : [
            'restore what is lost from a backup; or fetch those hours again, as the platform has them today, into books of their own:',
            ...(await refetchCommands(dirname(dirname(root)), rangeOf(lost.map(({ window }) => window)))),
          ]),
    ].join('\n'),
  );
}

/** The options of an ingest that looks at these windows; none where a window is not known, as it may be any. */
function rangeOf(windows: readonly (Window | undefined)[]): string {
  const known = windows.filter((window) => window !== undefined);
  const spans = unionWindows(known);
  const [from, to] = [spans[0]?.start, spans.at(-1)?.end];
  if (from === undefined || to === undefined || known.length < windows.length) return '';
  return ` --from ${formatInstant(from)} --to ${formatInstant(to)}`;
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
  load: StoredLoad,
  {
    landingRoot,
    stage,
    queries,
    log,
    signal,
  }: { landingRoot: string; stage: Stage; queries: LimitFunction; log: Log; signal: AbortSignal },
): Promise<void> {
  const { account, window, record } = load;
  const answers = openLandingReader(landingRoot, load);
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
    if (read.reason !== undefined) throw new UnprovenError(`it does not prove any more: ${read.reason}`);
  });
}

/** Runs work on a landed load; whatever is wrong with its answers, no platform is at fault now. */
async function blaming(load: StoredLoad, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
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
async function repeatLoad(load: StoredLoad, stage: Stage): Promise<void> {
  const { account, window, record } = load;
  await stage.begin(account, window);
  stage.readAs(record.role);
  const written: LoadWritten = {
    outcome: record.outcome,
    rowCount: record.rowCount,
    restated: record.restated,
    cost: record.cost,
    coveredWindows: record.covered.map((part) => ({ window: parseWindow(part.window), role: part.role })),
    // JSON leaves out what is undefined.
    reconciliations: (record.reconciliations ?? []).map((reconciliation) => ({
      ...reconciliation,
      billingDimension: reconciliation.billingDimension,
    })),
  };
  await stage.repeat(factsOf(load), written, load.place);
}

function factsOf({ record }: StoredLoad): LoadFacts {
  const { loadNumber, runNumber, attempt, reason, requests, pagesRead, queries, claimedEnd } = record;
  const { seenAt, platformAt } = record;
  return {
    loadNumber,
    runNumber,
    attempt,
    reason,
    requests,
    pages: pagesRead,
    queries,
    claimedEnd,
    seenAt,
    platformAt,
  };
}
