import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Log } from '../base/effects.ts';
import { CostbookError, DamagedFileError, MachineError, UnprovenError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
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
  storeLostLoad,
} from '../fetch/index.ts';
import { counted } from '../text/counted.ts';
import { shellWord } from '../text/shell-word.ts';
import { formatInstant, formatWindow, unionWindows, type Window } from '../time/time.ts';
import type { LoadInBooks } from '../warehouse/integrity/index.ts';
import type { LoadFacts, LoadWritten, Stage } from '../warehouse/load/index.ts';
import { readWindow } from './fetch-window.ts';

/** Each query uses one of libuv's four threads; one stays free to read files. */
const queriesAtOnce = 3;

/** More loads than can be lost between two that are there. */
const mostLost = 100_000;

/** How many loads a message names before it counts the rest. */
const loadsNamed = 20;

/**
 * Recreates loads from the landing folder in the order of their numbers: the same queries, decoder, stage and
 * reconciliation as an ingest, with the landing folder as the platform. Returns their number.
 * \n Throws UnprovenError if answers are missing or damaged (it names every lost load and the commands that restore
 * it), no longer reconcile, or do not fit today's queries.
 */
export async function rebuildLoads(options: {
  landingRoot: string;
  /** The last load that need not be recreated, because it exists already; 0 for none. */
  afterLoad: number;
  /** The last load to recreate; undefined for all stored loads. */
  throughLoad: number | undefined;
  /** The loads in the books or their snapshot: they must be here, and they name the windows of lost folders. */
  loadsInBooks: () => Promise<readonly LoadInBooks[]>;
  /** One window at a time per stage: the next ones are read while one is compared or written. */
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
      await written[index - options.stages.length]; // then its stage is free
      signal.throwIfAborted();
      const stage = options.stages[index % options.stages.length];
      if (stage === undefined) throw new Error('there is no stage');
      const read = settle(withAnswers.has(load) ? readAgain(load, { ...options, stage, queries }) : undefined);
      const before = written[index - 1];
      const writing = (async () => {
        const isRead = await read;
        await before; // loads are written in order, and errors of earlier ones come first
        isRead();
        await queries(async () => {
          if (!withAnswers.has(load)) await repeatLoad(load, stage);
          else await blaming(load, signal, async () => void (await stage.load(factsOf(load), async () => load.place)));
        });
        options.onProgress(index + 1, loads.length);
      })();
      writing.catch(() => undefined); // it is reported in order
      written.push(writing);
    }
    await Promise.all(written);
  } catch (error) {
    throw isDamagedPage(error) ? await reportDamage() : error;
  } finally {
    await Promise.allSettled(written); // no work outlives this function
  }
  return loads.length;
}

/** Waits for work that may fail; calling the result throws its failure. */
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

/** A lost load; `place` is its folder and `load` its description, if known. */
type Loss = Omit<LostLoad, 'place'> & { readonly place?: string | undefined; readonly load?: StoredLoad | undefined };

interface Answers {
  readonly loads: readonly StoredLoad[];
  readonly withAnswers: ReadonlySet<StoredLoad>;
  /** Reads every page and returns the error that names all losses. */
  reportDamage(): Promise<LandingLossError>;
}

/** Answers in the landing folder are missing or damaged. */
export class LandingLossError extends UnprovenError {
  readonly losses: readonly Loss[];
  /** What is lost, without the commands. */
  readonly lost: string;
  /** Whether "costbook repair" mends it: every load is intact, and folders are only in wrong places. */
  readonly isMovable: boolean;

  constructor(lost: readonly string[], commands: readonly string[], losses: readonly Loss[]) {
    super([...lost, ...commands]);
    this.losses = losses;
    this.lost = lost.join('\n');
    this.isMovable = losses.every(({ right }) => right !== undefined);
  }
}

/**
 * Accepts the loss of loads: moves their folders aside, and stores each of them as a load that covers nothing. Loads whose
 * folder is elsewhere get their place back. Returns the lost loads. Throws the error itself if a loss cannot be accepted,
 * because two loads have one number or because nothing else is left to describe a load.
 */
export async function acceptLosses(root: string, error: LandingLossError): Promise<readonly Loss[]> {
  await putInPlace(root);
  const lost: Loss[] = [];
  for (const { place, right } of error.losses) {
    if (place === undefined || right !== undefined) continue;
    const from = join(root, place);
    await rename(from, await freeName(`${from}.lost`)).catch((failure: NodeJS.ErrnoException) => {
      if (failure.code !== 'ENOENT') throw failure; // a copy has taken its place
    });
  }
  const { loads } = await readStoredLoads(root);
  for (const loss of error.losses) {
    const { loadNumber } = loss;
    if (loads.some(({ record }) => record.loadNumber === loadNumber)) continue;
    if (lost.some((other) => other.loadNumber === loadNumber)) continue;
    const near = loss.load ?? loads.findLast(({ record }) => record.loadNumber < loadNumber) ?? loads[0];
    lost.push(loss);
    // Without any other load, the numbers start again.
    if (near === undefined) continue;
    const record = { ...near.record, loadNumber };
    const window = loss.load?.window ?? { start: near.window.start, end: near.window.start };
    await storeLostLoad(root, { account: near.account, window, record });
  }
  return lost;
}

/**
 * Moves intact loads whose folder is elsewhere to their place, and copies of loads aside. Nothing is lost. Returns the
 * new paths of what was moved aside.
 */
export async function putInPlace(root: string): Promise<readonly string[]> {
  const { loads, losses } = await readStoredLoads(root).catch(() => ({ loads: [], losses: [] }));
  const taken = new Set(loads.map(({ place }) => place));
  const aside = new Map<string, string>();
  const left = new Set<string>();
  async function moveAside(place: string, ending: string): Promise<void> {
    const path = await freeName(`${join(root, place)}.${ending}`);
    await rename(join(root, place), path);
    aside.set(place, path);
  }
  for (const { place, right } of losses) {
    if (right === undefined) continue;
    if (taken.has(right)) {
      await moveAside(place, 'copy');
      continue;
    }
    // What is there cannot be read, or belongs elsewhere, too: then its turn comes.
    if (losses.some((other) => other.place === right) && !left.has(right)) await moveAside(right, 'lost');
    await mkdir(dirname(join(root, right)), { recursive: true });
    await rename(aside.get(place) ?? join(root, place), join(root, right));
    aside.delete(place);
    left.add(place);
    taken.add(right);
  }
  return [...aside.values()];
}

/** The path, or the path with a number if something has that name. */
async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? path : `${path}-${number}`;
    const isTaken = await stat(name).then(
      () => true,
      () => false,
    );
    if (!isTaken) return name;
  }
}

/** The loads to recreate, and which of them have all their answers. Throws UnprovenError naming every loss. */
async function findAnswers({
  landingRoot: root,
  afterLoad: first,
  throughLoad,
  loadsInBooks,
  arePagesRemoved = false,
}: {
  landingRoot: string;
  afterLoad: number;
  throughLoad: number | undefined;
  loadsInBooks: () => Promise<readonly LoadInBooks[]>;
  /** Whether old pages are removed on purpose: a load without any page is then no loss. */
  arePagesRemoved?: boolean;
}): Promise<Answers> {
  const stored = await readStoredLoads(root);
  const inBooks = new Map((await loadsInBooks()).map((load) => [load.loadNumber, load]));
  const whole = [stored.loads.at(-1)?.record.loadNumber ?? 0, ...inBooks.keys()].reduce((a, b) => Math.max(a, b));
  // A folder that cannot be read is of a load, too: the warehouse is not opened without it. One load more may be unfinished.
  const beyond = stored.losses.find(({ loadNumber, right }) => right === undefined && loadNumber > whole + 1);
  if (throughLoad === undefined && beyond !== undefined) {
    throw new UnprovenError(`${beyond.problem}, and load ${whole} is the last one that can be read`, {
      next: act('restore that folder from a backup, or move it away.'),
    });
  }
  const last = throughLoad ?? whole;
  // Loads are numbered one at a time. Whatever says another number is no gap of so many loads.
  if (last - first > stored.loads.length + stored.losses.length + inBooks.size + mostLost) {
    const found = stored.loads.at(-1)?.place ?? root;
    throw new UnprovenError(`found load ${last} in ${join(root, found)}, which cannot be of these books`, {
      next: act('move that folder away.'),
    });
  }
  const isWanted = (number: number) => number > first && number <= last;
  const loads = stored.loads.filter(({ record }) => isWanted(record.loadNumber));
  const folders = stored.losses.filter(({ loadNumber }) => isWanted(loadNumber));
  const present = new Set([...loads.map(({ record }) => record.loadNumber), ...folders.map((loss) => loss.loadNumber)]);
  const losses: Loss[] = [...folders];
  for (let number = first + 1; number <= last; number += 1) {
    if (present.has(number)) continue;
    const problem = 'its folder is missing';
    losses.push({ loadNumber: number, account: undefined, window: undefined, problem });
  }
  const withAnswers = new Set<StoredLoad>();
  for (const load of loads) {
    // A load that was accepted as lost covers nothing and has no answers.
    if (load.record.covered.length === 0 && load.pages.length === 0) continue;
    const missing = await missingPages(root, load);
    if (missing.length === 0) withAnswers.add(load);
    else if (arePagesRemoved && missing.length === load.pages.length) continue;
    else if (load.record.reconciliations === null) {
      losses.push(
        lossOf(load, `${missing.length} of ${load.pages.length} pages are missing, the first is ${missing[0]}`),
      );
    }
  }
  async function reportDamage(): Promise<LandingLossError> {
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

/**
 * What is wrong with the stored loads up to the last one in the books: the error that a rebuild would report. With
 * `isDeep`, also reads every page and compares its hash. Returns the number of loads with all their pages.
 */
export async function checkLanding(
  of: Parameters<typeof findAnswers>[0],
  { isDeep }: { readonly isDeep: boolean },
): Promise<{ readonly fault: LandingLossError | undefined; readonly complete: number }> {
  try {
    const { withAnswers, reportDamage } = await findAnswers(of);
    const found = isDeep ? await reportDamage() : undefined;
    return { fault: found?.losses.length ? found : undefined, complete: withAnswers.size };
  } catch (error) {
    if (error instanceof LandingLossError) return { fault: error, complete: 0 };
    throw error;
  }
}

/** The error of a lost journal, together with everything that the landing folder lost. */
export async function withLandingLosses<T extends UnprovenError>(
  journalLoss: T,
  { hasBooks, ...of }: Parameters<typeof findAnswers>[0] & { readonly hasBooks: boolean },
): Promise<T | UnprovenError> {
  const books = 'Books and reports stay correct without it; only rebuilding the books from nothing needs it';
  const text = hasBooks ? `${journalLoss.found}. ${books}` : journalLoss.found;
  const details = { cause: journalLoss, next: journalLoss.next };
  try {
    await findAnswers(of);
    return new UnprovenError(text, details);
  } catch (error) {
    if (!(error instanceof UnprovenError)) throw error;
    return new UnprovenError([text, ...error.mistakes], details);
  }
}

function lossOf(load: StoredLoad, problem: string): Loss {
  const { record, account, window } = load;
  return { loadNumber: record.loadNumber, account, window, problem, place: load.place, load };
}

/** Adds to a loss what the books know about it. */
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

/** The error that names every loss, with the commands that restore it. */
async function lossError(root: string, losses: readonly Loss[]): Promise<LandingLossError> {
  const sorted = [...losses].sort((a, b) => a.loadNumber - b.loadNumber);
  const lost = sorted.filter(({ right }) => right === undefined);
  const missing = sorted.filter(({ isCopy }) => isCopy !== true);
  const copies = sorted.length - missing.length;
  const lines = missing.map(({ loadNumber, account, window, problem }) => {
    const whose = account === undefined ? '' : ` of account ${account}`;
    return `load ${loadNumber}${whose}${window === undefined ? '' : `, window ${formatWindow(window)}`}: ${problem}`;
  });
  const named = lines.slice(0, loadsNamed);
  const numbers = new Set(missing.map(({ loadNumber }) => loadNumber)).size;
  const firstCopy = sorted.find(({ isCopy }) => isCopy === true);
  const found = [
    ...(numbers === 0 ? [] : [`${root} is missing answers of ${counted(numbers, 'load')}:`]),
    ...named,
    ...(lines.length > named.length ? [`and ${lines.length - named.length} more`] : []),
    ...(firstCopy === undefined
      ? []
      : [
          `${root} has ${counted(copies, 'copy', 'copies')} of load folders; no answer is missing because of them. The first: ${firstCopy.problem}`,
        ]),
  ];
  const commands = [
    ...(lost.length === sorted.length
      ? []
      : [
          `move ${copies === sorted.length - lost.length ? 'the copies aside' : 'them to their places'} with:`,
          `  costbook repair --dir ${shellWord(dirname(dirname(root)))}`,
        ]),
    ...(lost.length === 0
      ? []
      : [
          'restore the lost files from a backup, or fetch those hours again (with the numbers of today) into separate books:',
          ...(await refetchCommands(dirname(dirname(root)), rangeOf(lost.map(({ window }) => window)))),
        ]),
  ];
  return new LandingLossError(found, commands, sorted);
}

/** The ingest options for these windows; empty if one window is unknown, because it may be any. */
function rangeOf(windows: readonly (Window | undefined)[]): string {
  const known = windows.filter((window) => window !== undefined);
  const spans = unionWindows(known);
  const [from, to] = [spans[0]?.start, spans.at(-1)?.end];
  if (from === undefined || to === undefined || known.length < windows.length) return '';
  return ` --from ${formatInstant(from)} --to ${formatInstant(to)}`;
}

/** Project files that are not settings; a running rebuild creates a file and folders with these endings. */
const notSettings = /^(data|exports|node_modules|\.git)$|\.duckdb(\.|$)/;

/** Shell commands that fetch a range of hours into separate books, with the same settings. */
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

/** Reads a load's answers into the stage and compares them, as if the platform had sent them. */
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
      mayAddRows: () => true,
      comparing: (work) => queries(work),
      onRole: () => undefined,
      onPage: () => undefined,
      log: { ...log, info: () => undefined }, // logged when it was first fetched
      signal,
    });
    const unasked = answers.unasked();
    if (unasked.length > 0)
      throw new UnprovenError(`the folder has answers to ${unasked.join(', ')}, which Costbook does not query now`);
    if (read.reason !== undefined)
      throw new UnprovenError(`it no longer matches the platform's totals: ${read.reason}`);
  });
}

/** Runs work on a stored load; faults of its answers are not the platform's fault now. */
async function blaming(load: StoredLoad, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isOwn = error instanceof MachineError || error instanceof DamagedFileError;
    if (!(error instanceof CostbookError) || isOwn || signal.aborted) throw error;
    const { found, next } = error;
    throw new UnprovenError(`${describeLoad(load)}: ${found}`, { cause: error, next });
  }
}

/** Writes a load that changed nothing from its `load.json` alone: its answers may be missing. */
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
