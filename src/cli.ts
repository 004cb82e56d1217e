#!/usr/bin/env node
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { addAbortSignal, Writable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleepFor } from 'node:timers/promises';
import { type Argument, Command as Commander, CommanderError, Option } from 'commander';

import {
  type Ask,
  type Command,
  type CommandContext,
  type CommandInput,
  type CommonOptions,
  commandsFor,
  commonOptions,
  readCommonOptions,
} from './commands/index.ts';
import { readFileMode, umaskOf } from './config/file-mode.ts';
import { redactor } from './config/secrets.ts';
import { nearest } from './did-you-mean.ts';
import { correctClock, type Log, openClock } from './effects.ts';
import {
  ClosedPipeError,
  type CostbookError,
  exitCodeOf,
  exitCodes,
  InterruptedError,
  MachineError,
  UsageError,
  wordsOf,
} from './errors.ts';
import { humanLog, jsonLog } from './log.ts';
import { causeInMisplaced, describeMisplaced } from './misplaced.ts';
import { noProjectWords } from './project-folder.ts';
import { forTerminal } from './safe-text.ts';
import { folded } from './terminal/fold.ts';
import { openLiveLine } from './terminal/live-line.ts';
import { openProgress, type Progress } from './terminal/progress.ts';
import { usualWidth } from './terminal/text-width.ts';
import { openWaitingRequests } from './terminal/waiting.ts';
import { version } from './version.ts';

/** How long a run may take to end gracefully after a signal before it is killed. */
const graceMs = 25_000;
/** A second signal this soon repeats the first: `npm run` forwards a Ctrl-C that its child already received. */
const echoMs = 250;

const secrets = redactor();
const closing: (() => Promise<void>)[] = [];
const httpAnswers = new Map<string, number>();
const waitingRequests = openWaitingRequests(() => performance.now());
/** The progress line mentions a request that waits longer than this. */
const longWaitMs = 5000;
/** The number of this process's run, once it has one. */
let runNumber: number | undefined;
const liveLine = openLiveLine(process.stderr, (line) => secrets.redact(line));
/** The project folder of the command, once it is known; undefined if the command needs none. */
let project: string | undefined;
/** When stderr was last written, in real time. */
let lastWroteAt = 0;
/** Writes a message for people to stderr; as a log event if the log is JSON. */
let tell = sayWords;
/** The lines typed by a person. */
let typed: AsyncIterator<string> | undefined;
/** Whether typed input is hidden. */
let isEchoHidden = false;
/** Echoes typed input to the terminal. */
const echo = new Writable({
  write(piece, _, done) {
    if (isEchoHidden) done();
    else process.stderr.write(piece, () => done());
  },
});

process.exitCode = await main();
await Promise.allSettled(closing.map((close) => close()));
process.exit();

async function main(): Promise<number> {
  const interruption = new AbortController();
  let interruptedAt = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruption.signal.aborted) {
        if (performance.now() - interruptedAt > echoMs) endAtOnce(signal);
        return;
      }
      interruptedAt = performance.now();
      interruption.abort(new InterruptedError(signal));
      setTimeout(() => endAtOnce(signal), graceMs).unref();
    });
  }
  // An unhandled rejection must not kill a run halfway: the run ends gracefully, then reports it.
  let forgotten: { readonly error: unknown } | undefined;
  process.on('unhandledRejection', (error) => {
    forgotten ??= { error };
    interruption.abort(error);
  });
  let outputFailure: Error | undefined;
  process.stdout.on('error', (error) => {
    outputFailure = error;
  });
  process.stderr.on('error', () => undefined); // a closed stderr does not stop the command

  let chosen: (() => Promise<number>) | undefined;
  try {
    const commands = await commandsFor(process.argv.slice(2));
    checkHelp(process.argv.slice(2), commands);
    const program = describeProgram(commands, (command, names, options) => {
      chosen = async () => {
        const { context, progress } = contextFrom(command, options, interruption.signal);
        try {
          process.umask(umaskOf(readFileMode(context.dir, context.env)));
          checkFolder(context.dir, command);
          const input = { arguments: names, options };
          if (command.needsProject?.(input) ?? true) project = context.dir;
          await workByPlatformTime(command, context);
          return await command.run(input, context);
        } finally {
          progress?.end();
        }
      };
    });
    await program.parseAsync(process.argv);
    const exitCode = chosen === undefined ? exitCodes.done : await chosen();
    return forgotten === undefined ? exitCode : report(forgotten.error);
  } catch (error) {
    const exitCode = report(error);
    if (exitCode !== exitCodes.done) return exitCode;
    await nextTurn(); // commander does not wait until its help is written
    return outputFailure ? report(asOutputFailure(outputFailure)) : exitCode;
  }
}

/**
 * Corrects the clock before a command reads anything, if the project's books know that it is ahead of the platform's.
 * Servers are left out: the clock may be repaired while they run, and the commands that they start correct their own.
 */
async function workByPlatformTime(command: Command, { dir, effects }: CommandContext): Promise<void> {
  if (project === undefined || command.staysUp) return;
  const { publishedClock } = await import('./warehouse/snapshot-file.ts');
  correctClock(effects, await publishedClock(dir), { isReported: command.name === 'doctor' });
}

/**
 * Ends the process as the signal would by default. `process.exit` waits for DuckDB's threads, however long they take; it
 * is only for a process that no signal can end: the first one in a container.
 */
function endAtOnce(signal: 'SIGINT' | 'SIGTERM'): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(new InterruptedError(signal).exitCode);
}

/** Throws UsageError for help about an unknown command; commander would print the whole help. */
function checkHelp([first, name]: readonly string[], commands: readonly Command[]): void {
  if (first !== 'help' || name === undefined || name.startsWith('-')) return;
  const names = [...commands.map((command) => command.name), 'help'];
  if (names.includes(name)) return;
  const guess = nearest(name, names);
  throw new UsageError(
    `there is no command "${name}"${guess === undefined ? '' : ` (did you mean "${guess}"?)`}: "costbook --help" lists all of them`,
  );
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
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has already written its message (help, or a mistake on the command line).
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  const exitCode = misplacedBehind(error).length > 0 ? exitCodes.unproven : exitCodeOf(error);
  if (exitCode === exitCodes.bug) {
    tell(
      `costbook: this is a bug in Costbook ${version}; please report it with these lines:\n${error instanceof Error ? error.stack : String(error)}`,
    );
  } else if (!(error instanceof ClosedPipeError)) {
    for (const line of withMisplaced(error, withoutProject(error, wordsOf(error)))) tell(line);
  }
  return exitCode;
}

/** The message of an error; if the folder is not a project, only that, because it must be corrected first. */
function withoutProject(error: unknown, words: readonly string[]): readonly string[] {
  if (!(error instanceof UsageError) || project === undefined) return words;
  const noProject = noProjectWords(project, process.env);
  // An error that already points to init needs no second sentence.
  if (noProject === undefined || words.some((line) => line.includes('"costbook init"'))) return words;
  return [`costbook: ${noProject}`];
}

/** The folders in place of files of the books, and files in place of folders, that explain an error. */
function misplacedBehind(error: unknown): ReturnType<typeof causeInMisplaced> {
  return project === undefined ? [] : causeInMisplaced(error, project);
}

/** The message of an error; if a folder is in place of a file of the books, or the other way round, that is its cause. */
function withMisplaced(error: unknown, words: readonly string[]): readonly string[] {
  const found = misplacedBehind(error);
  if (found.length === 0) return words;
  return found.map((each) => `costbook: ${describeMisplaced(each)}: run "costbook repair", which moves it aside`);
}

/** The error for a failed write to stdout: the reader has gone, or this machine cannot write. */
function asOutputFailure(error: NodeJS.ErrnoException): CostbookError {
  return error.code === 'EPIPE'
    ? new ClosedPipeError('the reader of the output has gone')
    : new MachineError(`could not write to stdout: ${error.message}`, { cause: error });
}

type Options = CommandInput['options'];

/** The words below the list of commands. */
function firstSteps(): string {
  return `
To try it:                  costbook demo
To start a project:         costbook init books
If something is wrong:      costbook status, costbook doctor, costbook alerts --open
A command and its options:  costbook help <command>`;
}

function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

/** Commander's message about a mistake on the command line, in one line, with the next step. */
function mistakeOnLine(text: string, step: string): string {
  const words = text.replace(/^error: /, '').trim();
  const [, fault = words, guess] = /^(.*)\n\(Did you mean (.*)\?\)$/s.exec(words) ?? [];
  return `costbook: ${fault.replace(/\.$/, '')}${guess === undefined ? '' : ` (did you mean ${guess}?)`}: ${step}\n`;
}

/** Builds commander's program from the command table. */
function describeProgram(
  commands: readonly Command[],
  choose: (command: Command, names: string[], options: Options) => void,
): Commander {
  const program = new Commander('costbook')
    .description('Fetches, reconciles, reports and watches the costs of a cloud workload platform.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', "Show a command's options and examples.")
    // Without "[options]", summaries have enough room to wrap at 80 columns.
    .configureHelp({ subcommandTerm: (sub) => [sub.name(), ...sub.registeredArguments.map(argumentTerm)].join(' ') })
    .addHelpText('after', firstSteps())
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(mistakeOnLine(text, '"costbook --help" lists the commands')),
    });
  for (const option of commonOptions) program.addOption(new Option(option.flags, option.summary));
  for (const command of commands) {
    const sub = program
      .command(command.name)
      .description(command.summary)
      .addHelpOption(new Option('-h, --help', 'show this help').helpGroup('Common options:'))
      .exitOverride()
      .configureOutput({
        outputError: (text, write) => write(mistakeOnLine(text, `"costbook help ${command.name}" lists the options`)),
      });
    for (const argument of command.arguments ?? []) sub.argument(argument.name, argument.summary);
    for (const { flags, summary, isRepeatable } of command.options) {
      const option = new Option(flags, summary);
      if (isRepeatable) option.argParser((value, before: readonly string[] = []) => [...before, value]);
      sub.addOption(option);
    }
    for (const option of commonOptions)
      sub.addOption(new Option(option.flags, option.summary).helpGroup('Common options:'));
    sub.addHelpText('after', `\nExamples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`);
    sub.action(() => {
      choose(command, sub.args, sub.optsWithGlobals<Options>());
    });
  }
  return program;
}

/** The context of a command, and its progress display, unless the command is a server. */
function contextFrom(
  command: Command,
  options: Options,
  signal: AbortSignal,
): { readonly context: CommandContext; readonly progress: Progress | undefined } {
  const { env } = process;
  // The SDK of object stores would print that its later versions need a newer Node.
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  if (env['COSTBOOK_TOKEN']) secrets.keep(env['COSTBOOK_TOKEN']);
  const isTerminal = process.stderr.isTTY === true;
  const settings = readCommonOptions(options, env, isTerminal);
  const { log, hasLiveLine } = openLog(command, settings, { isTerminal, env });
  const progress = command.staysUp === undefined ? openCommandProgress(command, log, hasLiveLine) : undefined;
  const ask: Ask = (question, { isHidden } = { isHidden: false }) => {
    const answered = () => askPerson(question, isHidden, signal);
    return progress === undefined ? answered() : progress.quiet(answered);
  };
  const context: CommandContext = {
    effects: {
      ...openClock(settings.now),
      log,
      random: Math.random,
      sleep: (ms, abort) =>
        sleepFor(ms, undefined, { signal: abort }).catch(() => {
          throw abort.reason;
        }),
    },
    dir: settings.dir,
    json: settings.json,
    env,
    signal,
    write: (data) => writeOutput(data, signal),
    isTerminal: process.stdout.isTTY === true,
    layout: {
      width: process.stdout.isTTY ? process.stdout.columns || usualWidth : undefined,
      isExact: settings.isExact,
    },
    readInput: () => (progress === undefined ? readInput(signal) : progress.quiet(() => readInput(signal))),
    tell: (words) => tell(words),
    progress: (words) => progress?.show(words),
    nameRun: (number) => {
      runNumber = number;
    },
    ask: process.stdin.isTTY && isTerminal ? ask : undefined,
    keepSecret: (secret) => secrets.keep(secret),
    redact: (words) => secrets.redact(words),
    httpAnswers: () => httpAnswers,
    waitingFor: () => waitingRequests.longest(),
    openHttp: (connections) => openSharedHttp(connections, signal),
  };
  return { context, progress };
}

/** The log, and whether a live line shows progress. */
function openLog(
  command: Command,
  { logFormat, isFormatAsked, json: isJson }: CommonOptions,
  { isTerminal, env }: { readonly isTerminal: boolean; readonly env: NodeJS.ProcessEnv },
): { readonly log: Log; readonly hasLiveLine: boolean } {
  // A dumb terminal cannot erase a line.
  const hasLiveLine = isTerminal && env['TERM'] !== 'dumb' && logFormat === 'human' && command.staysUp === undefined;
  const place = { say, now: Date.now, runNumber: () => runNumber };
  if (logFormat === 'json') {
    const json = jsonLog(place);
    // If the user asked for JSON, messages are JSON too; if it is only the default, messages stay text.
    if (isFormatAsked) tell = json.tell;
    return { log: json, hasLiveLine };
  }
  const human = humanLog(place, {
    isSeen: isTerminal,
    isAnswered: isTerminal && process.stdout.isTTY === true && !isJson && command.staysUp === undefined,
  });
  // Only warnings interrupt a live line.
  return { log: hasLiveLine ? { ...human, info: () => undefined } : human, hasLiveLine };
}

function openCommandProgress(command: Command, log: Log, hasLiveLine: boolean): Progress {
  return openProgress({
    command: command.name,
    draw: hasLiveLine ? (line) => liveLine.show(line) : undefined,
    log,
    waitingFor: () => waitingRequests.longest(longWaitMs),
    lastWroteAt: () => lastWroteAt,
    elapsed: () => performance.now(),
  });
}

/** Writes to stdout and waits until it is accepted; throws the signal's reason, or the error for the failed write. */
function writeOutput(data: string | Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    liveLine.clear();
    if (process.stdout.isTTY && data.length > 0) liveLine.setUnfinished(data.at(-1) !== '\n' && data.at(-1) !== 0x0a);
    // A reader may have stopped without closing (a pager): a signal does not wait for it.
    const onAbort = () => fail(signal.reason);
    if (!signal.aborted) signal.addEventListener('abort', onAbort, { once: true });
    process.stdout.write(data, (error) => {
      signal.removeEventListener('abort', onAbort);
      if (error) fail(asOutputFailure(error));
      else done();
    });
  });
}

/** The HTTP client, loaded on the first request: most commands make none. */
function openSharedHttp(connections: number, signal: AbortSignal): ReturnType<CommandContext['openHttp']> {
  const opened = import('./platform/index.ts').then(({ openHttp }) => openHttp({ connections, env: process.env }));
  // The first request throws this failure; nothing awaits it before.
  opened.catch(() => undefined);
  closing.push(async () => (await opened).close());
  return async (request) => {
    const { send } = await opened;
    try {
      const response = await waitingRequests.during(request, send(request));
      countAnswer(String(response.status));
      return response;
    } catch (error) {
      if (!signal.aborted) countAnswer('none');
      throw error;
    }
  };
}

async function readInput(signal: AbortSignal): Promise<string> {
  process.stdin.setEncoding('utf8');
  let given = '';
  for await (const piece of addAbortSignal(signal, process.stdin)) given += piece;
  return given;
}

function countAnswer(status: string): void {
  httpAnswers.set(status, (httpAnswers.get(status) ?? 0) + 1);
}

/** Prompts for a line. Throws UsageError if the input ends, and the signal's reason if aborted. */
async function askPerson(question: string, isHidden: boolean, signal: AbortSignal): Promise<string> {
  if (typed === undefined) {
    // One reader for all prompts, so that input typed ahead is not lost.
    const terminal = createInterface({ input: process.stdin, output: echo, terminal: true });
    // readline intercepts Ctrl-C; pass it on to the process.
    terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    signal.addEventListener('abort', () => terminal.close(), { once: true });
    closing.push(async () => terminal.close());
    typed = terminal[Symbol.asyncIterator]();
  }
  liveLine.clear();
  process.stderr.write(question);
  isEchoHidden = isHidden;
  const line = await typed.next();
  if (isHidden) process.stderr.write('\n');
  isEchoHidden = false;
  signal.throwIfAborted();
  if (line.done) throw new UsageError('the input ended before an answer was given');
  return line.value.trim();
}

/** Writes a log line to stderr, with secrets hidden. */
function say(line: string): void {
  liveLine.clear();
  lastWroteAt = performance.now();
  process.stderr.write(`${secrets.redact(line)}\n`);
}

/** Writes a message for people, with control characters removed. */
function sayWords(words: string): void {
  const width = process.stderr.isTTY ? process.stderr.columns || usualWidth : undefined;
  for (const line of secrets.redact(words).split('\n')) say(folded(forTerminal(line), { width }));
}
