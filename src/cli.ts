#!/usr/bin/env node
import { resolve } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { Command as Commander, CommanderError, Option } from 'commander';
import { type Command, type CommandContext, commands, commonOptions } from './commands/index.ts';
import type { Log } from './effects.ts';
import { CostbookError, exitCodes, InterruptedError, messageOf, UsageError } from './errors.ts';
import { openHttp } from './platform/index.ts';
import { redactor } from './secrets.ts';
import { formatInstant, type Instant, parseInstant } from './time.ts';
import { version } from './version.ts';

/** How long a run may take to end in order after a signal, before it is ended all the same. */
const graceMs = 25_000;

const secrets = redactor();
const closing: (() => Promise<void>)[] = [];
let liveLine = '';

process.exitCode = await main();
await Promise.allSettled(closing.map((close) => close()));
process.exit();

async function main(): Promise<number> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const ended = new InterruptedError(signal);
      if (interruption.signal.aborted) process.exit(ended.exitCode);
      interruption.abort(ended);
      setTimeout(() => process.exit(ended.exitCode), graceMs).unref();
    });
  }
  // A reader that has seen enough (`| head`) is no failure of ours; 141 is what a shell makes of SIGPIPE.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? 141 : exitCodes.machine),
  );

  let chosen: (() => Promise<number>) | undefined;
  try {
    const program = describeProgram((command, names, options) => {
      chosen = () => command.run({ arguments: names, options }, contextFrom(options, interruption.signal));
    });
    await program.parseAsync(process.argv);
    return chosen === undefined ? exitCodes.done : await chosen();
  } catch (error) {
    return report(error);
  }
}

/** The one place where a failure becomes words and an exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has written its own words (help, or what is wrong with the command line) already.
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  if (error instanceof CostbookError) {
    tell(`costbook: ${error.message}`);
    return error.exitCode;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof syscall === 'string' && typeof code === 'string') {
    tell(`costbook: this machine failed: ${messageOf(error)}`);
    return exitCodes.machine;
  }
  tell(
    `costbook: this is a bug in Costbook ${version}; please report it with these lines\n${error instanceof Error ? error.stack : String(error)}`,
  );
  return exitCodes.bug;
}

type Options = Readonly<Record<string, string | true | undefined>>;

/** The command line as commander reads it, made from the command table. */
function describeProgram(choose: (command: Command, names: string[], options: Options) => void): Commander {
  const program = new Commander('costbook')
    .description('Keeps the books of what a cloud workload platform costs.')
    .version(version)
    .showHelpAfterError('(costbook help <command> shows how it is used)')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`costbook: ${text.replace(/^error: /, '')}`) });
  for (const option of commonOptions) program.addOption(new Option(option.flags, option.summary));
  for (const command of commands) {
    const sub = program.command(command.name).description(command.summary).exitOverride();
    for (const argument of command.arguments ?? []) sub.argument(argument.name, argument.summary);
    for (const option of command.options) sub.addOption(new Option(option.flags, option.summary));
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
        process.stdout.write(data, (error) => (error ? fail(error) : done()));
      }),
    tell,
    progress: hasLiveLine ? showLiveLine : undefined,
    keepSecret: (secret) => secrets.keep(secret),
    redact: (words) => secrets.redact(words),
    openHttp(connections) {
      const http = openHttp({ connections, env });
      closing.push(http.close);
      return http.send;
    },
  };
}

function text(value: string | true | undefined): string | undefined {
  return value === true ? undefined : value;
}

function tell(words: string): void {
  clearLiveLine();
  process.stderr.write(`${secrets.redact(words)}\n`);
}

function showLiveLine(line: string): void {
  const width = process.stderr.columns ?? 80;
  clearLiveLine();
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
    tell(JSON.stringify({ at: formatInstant(Date.now()), level, event, ...fields }));
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
    tell([event, ...details].join(' · '));
  }
  return {
    info(event, fields) {
      if (!hasLiveLine) line(event, fields);
    },
    warn: (event, fields) => line(`warning: ${event}`, fields),
  };
}
