#!/usr/bin/env node
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { addAbortSignal } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleepFor } from 'node:timers/promises';
import { Command as Commander, CommanderError, Option } from 'commander';

import { type Command, type CommandContext, type CommandInput, commandsFor, commonOptions } from './commands/index.ts';
import type { Log } from './effects.ts';
import {
  ClosedPipeError,
  type CostbookError,
  exitCodeOf,
  exitCodes,
  InterruptedError,
  MachineError,
  messageOf,
  UsageError,
  wordsOf,
} from './errors.ts';
import { redactor } from './secrets.ts';
import { formatInstant, type Instant, parseInstant } from './time.ts';
import { version } from './version.ts';

/** A person is told from here on that a command is at work, and again after as long a silence. */
const silenceMs = 2000;
/** A log is told less often: whoever reads it does not wait. */
const logSilenceMs = 60_000;
/** How long a run may take to end in order after a signal, before it is ended all the same. */
const graceMs = 25_000;
/** A second signal this soon is the first one again: `npm run` passes on the Ctrl-C that its child has had already. */
const echoMs = 250;

const secrets = redactor();
const closing: (() => Promise<void>)[] = [];
let liveLine = '';
/** When a line was last shown or written. */
let saidAt = Number.NEGATIVE_INFINITY;
/** Whether a question waits for its answer. */
let isAsking = false;
/** The number of the run under way, of commands that have one. */
let runNumber: number | undefined;
/** The lines that a person types. */
let typed: AsyncIterator<string> | undefined;

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
  let outputFailure: Error | undefined;
  process.stdout.on('error', (error) => {
    outputFailure = error;
  });
  process.stderr.on('error', () => undefined); // words that nobody can read are no reason to stop

  let chosen: (() => Promise<number>) | undefined;
  try {
    const commands = await commandsFor(process.argv.slice(2));
    const program = describeProgram(commands, (command, names, options) => {
      chosen = async () => {
        const context = contextFrom(options, interruption.signal);
        checkFolder(context.dir, command);
        const stopTelling = command.isEndless ? () => undefined : tellThatItGoesOn(command.name, context);
        try {
          return await command.run({ arguments: names, options }, context);
        } finally {
          stopTelling();
        }
      };
    });
    await program.parseAsync(process.argv);
    return chosen === undefined ? exitCodes.done : await chosen();
  } catch (error) {
    const exitCode = report(error);
    if (exitCode !== exitCodes.done) return exitCode;
    await nextTurn(); // help is written by commander, which does not wait for it to be taken
    return outputFailure ? report(asOutputFailure(outputFailure)) : exitCode;
  }
}

/**
 * Ends the process as the signal would without us. `process.exit` waits for the threads that DuckDB works on, however
 * long; it is left for a process that the kernel lets no signal end: the first one in a container.
 */
function endAtOnce(signal: 'SIGINT' | 'SIGTERM'): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(new InterruptedError(signal).exitCode);
}

/** Shows that a command is still at work where it does not say so itself; returns how to stop it. */
function tellThatItGoesOn(command: string, { progress, effects }: CommandContext): () => void {
  const begun = performance.now();
  let loggedAt = begun;
  const timer = setInterval(() => {
    const now = performance.now();
    const seconds = Math.round((now - begun) / 1000);
    if (progress !== undefined) {
      if (now - begun >= silenceMs && now - saidAt >= silenceMs && !isAsking)
        progress(`${command}: at work for ${seconds} s`);
    } else if (now - Math.max(loggedAt, saidAt) >= logSilenceMs) {
      loggedAt = now;
      effects.log.info('still at work', { command, seconds });
    }
  }, 500).unref();
  return () => {
    clearInterval(timer);
    clearLiveLine();
  };
}

/** Throws UsageError where the project folder is not there, or is a file. */
function checkFolder(dir: string, command: Command): void {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new UsageError(`${dir} is a file: --dir (COSTBOOK_DIR) names the project folder`);
  if (command.makesFolder === undefined) {
    throw new UsageError(
      `the project folder ${dir} does not exist: check --dir (COSTBOOK_DIR); "costbook ingest" makes a new one`,
    );
  }
  if (statSync(dirname(dir), { throwIfNoEntry: false })?.isDirectory()) return;
  throw new UsageError(
    `neither the project folder ${dir} nor the folder above it exists: check --dir (COSTBOOK_DIR), or make it first`,
  );
}

/** The one place where a failure becomes words and an exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has written its own words (help, or what is wrong with the command line) already.
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  const exitCode = exitCodeOf(error);
  if (exitCode === exitCodes.bug) {
    tell(
      `costbook: this is a bug in Costbook ${version}; please report it with these lines\n${error instanceof Error ? error.stack : String(error)}`,
    );
  } else if (!(error instanceof ClosedPipeError)) {
    for (const line of wordsOf(error)) tell(line);
  }
  return exitCode;
}

/** What a failed write to stdout means: that nobody reads any more, or that this machine cannot write. */
function asOutputFailure(error: NodeJS.ErrnoException): CostbookError {
  return error.code === 'EPIPE'
    ? new ClosedPipeError('nobody reads the output any more')
    : new MachineError(`the output could not be written to stdout: ${error.message}`, { cause: error });
}

type Options = CommandInput['options'];

/** The command line as commander reads it, made from the command table. */
function describeProgram(
  commands: readonly Command[],
  choose: (command: Command, names: string[], options: Options) => void,
): Commander {
  const program = new Commander('costbook')
    .description('Keeps the books of what a cloud workload platform costs.')
    .version(version)
    .showHelpAfterError('(costbook help <command> shows how it is used)')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`costbook: ${text.replace(/^error: /, '')}`) });
  for (const option of commonOptions) program.addOption(new Option(option.flags, option.summary));
  for (const command of commands) {
    const sub = program
      .command(command.name)
      .description(command.summary)
      .addHelpOption(new Option('-h, --help', 'show this help').helpGroup('Common options:'))
      .exitOverride();
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

function contextFrom(options: Options, signal: AbortSignal): CommandContext {
  const { env } = process;
  if (env['COSTBOOK_TOKEN']) secrets.keep(env['COSTBOOK_TOKEN']);
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) {
    const proxy = env[name] ?? '';
    if (URL.canParse(proxy)) secrets.keep(new URL(proxy).password);
  }
  const problems: string[] = [];
  const fixedNow = text(options['now']) ?? env['COSTBOOK_NOW'];
  let now: () => Instant = Date.now;
  if (fixedNow) {
    try {
      const instant = parseInstant(fixedNow, options['now'] === undefined ? 'COSTBOOK_NOW' : '--now', Date.now());
      now = () => instant;
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  const isTerminal = process.stderr.isTTY === true;
  const logFormat = (text(options['logFormat']) ?? env['COSTBOOK_LOG_FORMAT']) || (isTerminal ? 'human' : 'json');
  if (logFormat !== 'human' && logFormat !== 'json') {
    problems.push(`--log-format: "${logFormat}" is none of human, json`);
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));

  const responses = new Map<string, number>();
  function count(status: string): void {
    responses.set(status, (responses.get(status) ?? 0) + 1);
  }
  const hasLiveLine = isTerminal && logFormat === 'human';
  return {
    effects: {
      now,
      log: logFormat === 'json' ? jsonLog() : humanLog(hasLiveLine),
      random: Math.random,
      sleep: (ms, abort) =>
        sleepFor(ms, undefined, { signal: abort }).catch(() => {
          throw abort.reason;
        }),
    },
    dir: resolve(text(options['dir']) ?? (env['COSTBOOK_DIR'] || '.')),
    json: options['json'] === true || ['1', 'true'].includes(env['COSTBOOK_JSON'] ?? ''),
    env,
    signal,
    write: (data) =>
      new Promise((done, fail) => {
        clearLiveLine();
        // Whoever reads may have stopped without closing (a pager): a signal is not kept waiting for them.
        const onAbort = () => fail(signal.reason);
        if (!signal.aborted) signal.addEventListener('abort', onAbort, { once: true });
        process.stdout.write(data, (error) => {
          signal.removeEventListener('abort', onAbort);
          if (error) fail(asOutputFailure(error));
          else done();
        });
      }),
    isTerminal: process.stdout.isTTY === true,
    async readInput() {
      process.stdin.setEncoding('utf8');
      let given = '';
      for await (const piece of addAbortSignal(signal, process.stdin)) given += piece;
      return given;
    },
    ask: process.stdin.isTTY && isTerminal ? (question) => askPerson(question, signal) : undefined,
    tell,
    progress: hasLiveLine ? showLiveLine : undefined,
    inRun(number) {
      runNumber = number;
    },
    keepSecret: (secret) => secrets.keep(secret),
    redact: (words) => secrets.redact(words),
    responses,
    openHttp(connections) {
      // Loaded where somebody is asked: most commands only read.
      const opened = import('./platform/index.ts').then(({ openHttp }) => openHttp({ connections, env }));
      closing.push(async () => (await opened).close());
      return async (request) => {
        const { send } = await opened;
        try {
          const response = await send(request);
          count(String(response.status));
          return response;
        } catch (error) {
          if (!request.signal.aborted) count('none');
          throw error;
        }
      };
    },
  };
}

function text(value: Options[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A line that a person types. Throws UsageError where they end the input instead, and the signal's reason. */
async function askPerson(question: string, signal: AbortSignal): Promise<string> {
  if (typed === undefined) {
    // One for all questions: what is typed ahead is not lost between two.
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    // A terminal that is read line by line keeps Ctrl-C from the process.
    terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    signal.addEventListener('abort', () => terminal.close(), { once: true });
    closing.push(async () => terminal.close());
    typed = terminal[Symbol.asyncIterator]();
  }
  clearLiveLine();
  process.stderr.write(question);
  isAsking = true;
  const line = await typed.next().finally(() => {
    isAsking = false;
  });
  signal.throwIfAborted();
  if (line.done) throw new UsageError('the input ended before the question was answered');
  return line.value.trim();
}

function tell(words: string): void {
  clearLiveLine();
  saidAt = performance.now();
  process.stderr.write(`${secrets.redact(words)}\n`);
}

function showLiveLine(line: string): void {
  const width = process.stderr.columns || 80;
  clearLiveLine();
  saidAt = performance.now();
  liveLine = secrets.redact(line).slice(0, width - 1);
  process.stderr.write(liveLine);
}

function clearLiveLine(): void {
  if (liveLine !== '') process.stderr.write('\r\x1b[2K');
  liveLine = '';
}

/** One JSON object a line, for machines. */
function jsonLog(): Log {
  function line(level: string, event: string, fields: Record<string, unknown> = {}): void {
    const run = runNumber === undefined ? {} : { run: runNumber };
    tell(JSON.stringify({ at: formatInstant(Date.now()), level, event, ...run, ...fields }));
  }
  return {
    info: (event, fields) => line('info', event, fields),
    warn: (event, fields) => line('warn', event, fields),
  };
}

/** One sentence a line, for people; where a live line shows the progress only warnings interrupt it. */
function humanLog(hasLiveLine: boolean): Log {
  function line(event: string, fields: Record<string, unknown> = {}): void {
    const details = Object.entries(fields).map(
      ([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : value}`,
    );
    const run = runNumber === undefined ? [] : [`run ${runNumber}`];
    // One event is one line, whatever somebody else's words hold.
    tell([event, ...details, ...run].join(' · ').replaceAll(/\p{Cc}+/gu, ' '));
  }
  return {
    info(event, fields) {
      if (!hasLiveLine) line(event, fields);
    },
    warn: (event, fields) => line(`warning: ${event}`, fields),
  };
}
