import type { Readable, Writable } from 'node:stream';
import type { Answer } from '../answers/index.ts';
import type { Effects, HttpSend } from '../base/effects.ts';
import type { UsageError } from '../base/errors.ts';
import type { ProgramEffects } from '../base/program-effects.ts';
import type { CommandInput, DescribedOption, Options } from '../options/read.ts';
import type { CommandName } from '../options/table.ts';
import type { RunUnderWay } from '../runs/index.ts';
import type { Ask } from '../setup/index.ts';
import type { TableLayout } from '../terminal/index.ts';

export interface CommandArgument {
  /** As commander reads it: `<name>` where required, `[name]` where not. */
  readonly name: string;
  readonly summary: string;
  /** What it may be, if that is known. */
  readonly choices?: readonly string[];
}

/** What every command receives: the outside world, and the values of the common options. */
export interface CommandContext {
  readonly effects: Effects;
  /** Real time as it passes, also with `--now`. */
  readonly timers: Pick<ProgramEffects, 'elapsed' | 'everyMinute'>;
  /** The project folder (`--dir`), absolute. */
  readonly dir: string;
  /** The folder that relative paths on the command line start from, absolute. */
  readonly folder: string;
  /** `--json`: stdout carries one JSON value and nothing else. */
  readonly json: boolean;
  /** Mistakes in variables of the environment: nothing is done but to notify the sinks of them. */
  readonly mistakes?: UsageError | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT and SIGTERM with an InterruptedError. */
  readonly signal: AbortSignal;
  /** Writes data to stdout; resolves when it has been accepted. */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Gives the whole answer of the command: as data, and in words for people. With `--json` the data is printed as one
   * JSON value, otherwise the words.
   */
  readonly answer: Answer;
  /** Whether `write` goes to a terminal. */
  readonly isTerminal: boolean;
  /** The layout of tables: fitted to the terminal's width; plain and exact without a terminal or with `--exact`. */
  readonly layout: TableLayout;
  /** Stdin and stdout themselves, for a protocol over both. */
  readonly stdio: { readonly stdin: Readable; readonly stdout: Writable };
  /** Reads stdin to its end, or until it is longer than this. */
  readInput(maxLength: number): Promise<string>;
  /** Prompts a person and returns the line, trimmed; undefined without a terminal. */
  readonly ask: Ask | undefined;
  /** Writes a message for people to stderr. */
  tell(text: string): void;
  /**
   * Sets the progress text, which replaces the previous one; '' shows only that the command is running. Shown after two
   * seconds: as one live line on a terminal, otherwise as an occasional log line.
   */
  progress(words: string): void;
  /** From here on every line of the log names this run. */
  nameRun(number: number): void;
  /** Registers a secret: messages, logs and errors show `***` instead. */
  keepSecret(secret: string): void;
  /** The text with every registered secret replaced. `tell` and the log do this themselves; `write` does not. */
  redact(text: string): string;
  /** Reports the command's counts to the job that it is a step of. */
  readonly count?: ((figures: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Set if the command is a step of a job. */
  readonly run?: RunUnderWay | undefined;
  /** Number of HTTP answers of this process by status; `none` counts requests without a complete answer. */
  httpAnswers(): ReadonlyMap<string, number>;
  /** The pending request that has waited longest, with its host; undefined if there is none. */
  waitingFor(): string | undefined;
  /** An HTTP client with this many sockets per origin; closed with the process. */
  openHttp(connections: number): HttpSend;
}

/** What help and completion say of a command. */
export interface DescribedCommand extends Pick<Command, 'name' | 'summary' | 'arguments' | 'examples'> {
  readonly options: readonly DescribedOption[];
}

/** One entry of the command table. */
export interface Command {
  /** Its options are those of this name in the table of `src/options`. */
  readonly name: CommandName;
  readonly summary: string;
  readonly arguments?: readonly CommandArgument[];
  /** Options that only a room above the table knows. */
  readonly furtherOptions?: Options;
  readonly examples: readonly string[];
  /** The command serves until it is stopped, so it shows no progress. */
  readonly staysUp?: true;
  /** The command creates the project folder (not its parents); other commands need an existing one. */
  readonly makesFolder?: true;
  /** The command notifies sinks, also of mistakes in the variables of the environment. */
  readonly tellsMistakes?: true;
  /** Whether this command line needs a project; true by default. */
  needsProject?(input: CommandInput): boolean;
  /** Throws UsageError if the input is invalid, and does nothing else: a job's steps are checked before its run starts. */
  check?(input: CommandInput, context: CommandContext): Promise<void>;
  /** Returns the exit code, or throws one of the errors in errors.ts. */
  run(input: CommandInput, context: CommandContext): Promise<number>;
}
