import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { printedAnswer } from './answers/context.ts';
import type { Log } from './base/effects.ts';
import { ClosedPipeError, exitCodeOf, exitCodes, InterruptedError, UsageError, wordsOf } from './base/errors.ts';
import { causeInMisplaced, describeMisplaced } from './base/misplaced.ts';
import type { EndSignal, ProgramEffects } from './base/program-effects.ts';
import { noProjectWords } from './base/project-folder.ts';
import { version } from './base/version.ts';
import { humanLog, jsonLog } from './command-line/log.ts';
import type { ChosenCommand } from './command-line/parse.ts';
import { openSharedHttp, type SharedHttp } from './command-line/shared-http.ts';
import { openStreams, type Streams } from './command-line/streams.ts';
import {
  type Command,
  type CommandContext,
  type CommonOptions,
  commandNamed,
  describedFor,
  readCommonOptions,
} from './commands/index.ts';
import { readFileMode, umaskOf } from './config/file-mode.ts';
import type { CommandInput } from './options/read.ts';
import { openProgress, type Progress } from './terminal/progress.ts';
import { usualWidth } from './terminal/text-width.ts';
import { shellWord } from './text/shell-word.ts';
import { correctClock, openClock } from './time/clock.ts';

export { usualEffects } from './command-line/usual-effects.ts';
export { allCommands } from './commands/index.ts';

/** How long a run may take to end gracefully after a signal before it is killed. */
const graceMs = 25_000;
/** A second signal this soon repeats the first: `npm run` forwards a Ctrl-C that its child already received. */
const echoMs = 250;
/** The progress line mentions a request that waits longer than this. */
const longWaitMs = 5000;

/** What one command line does, from its start to its end. */
interface Invocation {
  readonly effects: ProgramEffects;
  readonly streams: Streams;
  readonly http: SharedHttp;
  /** Aborted by a signal with InterruptedError, and by an unhandled rejection with what was rejected. */
  readonly signal: AbortSignal;
  /** The project folder of the command, once it is known; undefined if the command needs none. */
  project: string | undefined;
  /** The number of the run, once there is one. */
  runNumber: number | undefined;
}

/**
 * Runs one command line, the words behind `costbook`, and returns the exit code of its process. Everything that it takes
 * from the process comes with `effects`; nothing of it is left running but a thread without work, and nothing is kept
 * that changes the next command line.
 * Throws nothing: it reports every failure on stderr.
 */
export async function main(argv: readonly string[], effects: ProgramEffects): Promise<number> {
  const interruption = new AbortController();
  const { signal } = interruption;
  const invocation: Invocation = {
    effects,
    signal,
    streams: openStreams(effects, signal),
    http: openSharedHttp(effects, signal),
    project: undefined,
    runNumber: undefined,
  };
  const endsInTime = endGracefully(interruption, effects);
  // An unhandled rejection must not kill a run halfway: the run ends gracefully, then reports it.
  let forgotten: { readonly error: unknown } | undefined;
  effects.onUnhandledRejection((error) => {
    forgotten ??= { error };
    interruption.abort(error);
  });
  try {
    const exitCode = await runCommandLine(argv, invocation);
    return forgotten === undefined ? exitCode : await report(forgotten.error, invocation);
  } catch (error) {
    return await report(forgotten === undefined ? error : forgotten.error, invocation);
  } finally {
    invocation.streams.close();
    await invocation.http.close();
    endsInTime();
  }
}

/**
 * The first signal asks the command to end; a second one, or too long a wait, ends it at once. Returns what to call when
 * the command has ended: its process may have other work.
 */
function endGracefully(
  interruption: AbortController,
  { onSignal, elapsed, later, endBySignal }: ProgramEffects,
): () => void {
  let interruptedAt = 0;
  let hasEnded = false;
  onSignal((signal: EndSignal) => {
    if (interruption.signal.aborted) {
      if (elapsed() - interruptedAt > echoMs) endBySignal(signal);
      return;
    }
    interruptedAt = elapsed();
    interruption.abort(new InterruptedError(signal));
    later(graceMs, () => {
      if (!hasEnded) endBySignal(signal);
    });
  });
  return () => {
    hasEnded = true;
  };
}

async function runCommandLine(argv: readonly string[], invocation: Invocation): Promise<number> {
  const { effects, streams } = invocation;
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    await streams.write(`${version}\n`);
    return exitCodes.done;
  }
  const chosen = await readCommandLine(argv, invocation);
  if (typeof chosen === 'number') return chosen;
  const { input } = chosen;
  const command = await commandNamed(chosen.name);
  const { context, progress } = contextFrom(command, input.options, invocation, argv);
  try {
    effects.setUmask(umaskOf(await readFileMode(context.dir, context.env)));
    checkFolder(context.dir, command);
    if (command.needsProject?.(input) ?? true) invocation.project = context.dir;
    await workByPlatformTime(command, context, invocation);
    return await command.run(input, context);
  } finally {
    progress?.end();
  }
}

/** The command that was asked for, or the exit code after help or a mistake on the command line. */
async function readCommandLine(
  argv: readonly string[],
  { effects, streams }: Invocation,
): Promise<ChosenCommand | number> {
  const { parseCommandLine } = await import('./command-line/parse.ts');
  const chosen = await parseCommandLine(argv, describedFor(argv), {
    writeOut: streams.writeHelp,
    writeErr: (text) => void effects.stderr.write(text),
    width: effects.stdout.isTTY ? effects.stdout.columns || usualWidth : usualWidth,
  });
  if (chosen === exitCodes.done) {
    await nextTurn(); // commander does not wait until its help is written
    const failure = streams.outputFailure();
    if (failure !== undefined) throw failure;
  }
  return chosen;
}

/**
 * Corrects the clock before a command reads anything, if the project's books know that it is ahead of the platform's.
 * Servers are left out: the clock may be repaired while they run, and the commands that they start correct their own.
 */
async function workByPlatformTime(command: Command, { dir, effects }: CommandContext, of: Invocation): Promise<void> {
  if (of.project === undefined || command.staysUp) return;
  const { publishedClock } = await import('./warehouse/integrity/snapshot-file.ts');
  correctClock(effects, await publishedClock(dir), { isReported: command.name === 'doctor' });
}

/** Throws UsageError if the project folder is missing or is a file. */
function checkFolder(dir: string, command: Command): void {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new UsageError(`${dir} is a file: --dir (COSTBOOK_DIR) must name the project folder`);
  if (command.makesFolder === undefined) {
    throw new UsageError(
      `the project folder ${dir} does not exist: check --dir (COSTBOOK_DIR); "costbook init" creates a new one`,
    );
  }
  if (statSync(dirname(dir), { throwIfNoEntry: false })?.isDirectory()) return;
  throw new UsageError(
    `neither the project folder ${dir} nor its parent folder exists: check --dir (COSTBOOK_DIR), or create it first`,
  );
}

/** The only place that turns a failure into a message and an exit code. */
async function report(error: unknown, invocation: Invocation): Promise<number> {
  const { streams } = invocation;
  const misplaced = invocation.project === undefined ? [] : causeInMisplaced(error, invocation.project);
  const exitCode = misplaced.length > 0 ? exitCodes.unproven : exitCodeOf(error);
  if (exitCode === exitCodes.bug) {
    const { sourceStack } = await import('./base/source-stack.ts');
    const lines = error instanceof Error ? sourceStack(error.stack ?? error.message) : String(error);
    streams.tell(`costbook: this is a bug in Costbook ${version}; please report it with these lines:\n${lines}`);
  } else if (misplaced.length > 0) {
    for (const each of misplaced) {
      streams.tell(`costbook: ${describeMisplaced(each)}: run "costbook repair", which moves it aside`);
    }
  } else if (!(error instanceof ClosedPipeError)) {
    for (const line of withoutProject(error, wordsOf(error), invocation)) streams.tell(line);
  }
  return exitCode;
}

/** The message of an error; if the folder is not a project, only that, because it must be corrected first. */
function withoutProject(error: unknown, words: readonly string[], { project, effects }: Invocation): readonly string[] {
  if (!(error instanceof UsageError) || project === undefined) return words;
  const noProject = noProjectWords(project, effects.env);
  // An error that already points to init needs no second sentence.
  if (noProject === undefined || words.some((line) => line.includes('"costbook init"'))) return words;
  return [`costbook: ${noProject}`];
}

/** The context of a command, and its progress display, unless the command is a server. */
function contextFrom(
  command: Command,
  options: CommandInput['options'],
  invocation: Invocation,
  argv: readonly string[],
): { readonly context: CommandContext; readonly progress: Progress | undefined } {
  const { effects, streams, http, signal } = invocation;
  const { env, folder, stdin, stdout, stderr } = effects;
  if (env['COSTBOOK_TOKEN']) streams.secrets.keep(env['COSTBOOK_TOKEN']);
  const isTerminal = stderr.isTTY === true;
  const settings = readCommonOptions(options, { env, folder, clock: effects.clock, isTerminal });
  const { mistakes } = settings;
  if (mistakes !== undefined && command.tellsMistakes === undefined) throw mistakes;
  const { log, hasLiveLine } = openLog(command, settings, invocation);
  const progress =
    command.staysUp === undefined ? openCommandProgress(command, log, hasLiveLine, invocation) : undefined;
  const quietly = <T>(work: () => Promise<T>) => (progress === undefined ? work() : progress.quiet(work));
  const context: CommandContext = {
    effects: {
      ...openClock(settings.now, { isChosen: options['now'] !== undefined }),
      log,
      random: effects.random,
      sleep: effects.sleep,
    },
    timers: effects,
    dir: settings.dir,
    folder,
    json: settings.json,
    mistakes,
    env,
    signal,
    write: streams.write,
    answer: printedAnswer({ json: settings.json, write: streams.write }),
    isTerminal: stdout.isTTY === true,
    layout: { width: stdout.isTTY ? stdout.columns || usualWidth : undefined, isExact: settings.isExact },
    stdio: { stdin, stdout },
    readInput: (maxLength) => quietly(() => streams.readInput(maxLength)),
    tell: (words) => streams.tell(words),
    progress: (words) => progress?.show(words),
    commandLine: argv.map(shellWord).join(' '),
    nameRun: (number) => {
      invocation.runNumber = number;
    },
    ask:
      stdin.isTTY && isTerminal
        ? (question, { isHidden } = { isHidden: false }) => quietly(() => streams.ask(question, isHidden))
        : undefined,
    keepSecret: (secret) => streams.secrets.keep(secret),
    redact: (words) => streams.secrets.redact(words),
    httpAnswers: http.answers,
    waitingFor: () => http.waiting.longest(),
    openHttp: http.open,
  };
  return { context, progress };
}

/** The log, and whether a live line shows progress. */
function openLog(
  command: Command,
  { logFormat, isFormatAsked, json: isJson }: CommonOptions,
  invocation: Invocation,
): { readonly log: Log; readonly hasLiveLine: boolean } {
  const { streams, effects } = invocation;
  const isTerminal = effects.stderr.isTTY === true;
  // A dumb terminal cannot erase a line.
  const hasLiveLine =
    isTerminal && effects.env['TERM'] !== 'dumb' && logFormat === 'human' && command.staysUp === undefined;
  const place = { say: streams.say, now: effects.clock, runNumber: () => invocation.runNumber };
  if (logFormat === 'json') {
    const json = jsonLog(place);
    // If the user asked for JSON, messages are JSON too; if it is only the default, messages stay text.
    if (isFormatAsked) streams.tellBy(json.tell);
    return { log: json, hasLiveLine };
  }
  const human = humanLog(place, {
    isSeen: isTerminal,
    isAnswered: isTerminal && effects.stdout.isTTY === true && !isJson && command.staysUp === undefined,
  });
  // Only warnings interrupt a live line.
  return { log: hasLiveLine ? { ...human, info: () => undefined } : human, hasLiveLine };
}

function openCommandProgress(
  command: Command,
  log: Log,
  hasLiveLine: boolean,
  { streams, http, effects }: Invocation,
): Progress {
  return openProgress({
    command: command.name,
    draw: hasLiveLine ? (line) => streams.liveLine.show(line) : undefined,
    log,
    waitingFor: () => http.waiting.longest(longWaitMs),
    lastWroteAt: streams.lastWroteAt,
    elapsed: effects.elapsed,
  });
}
