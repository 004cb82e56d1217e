import type { Readable, Writable } from 'node:stream';
import type { BooksContext } from '../answers/index.ts';
import type { Effects } from '../base/effects.ts';
import type { ProgramEffects } from '../base/program-effects.ts';
import type { CommandInput, DescribedOption, Options } from '../options/read.ts';
import type { CommandName } from '../options/table.ts';
import type { RunContext } from '../runs/index.ts';
import type { SetupContext } from '../setup/index.ts';

export interface CommandArgument {
  /** As commander reads it: `<name>` where required, `[name]` where not. */
  readonly name: string;
  readonly summary: string;
  /** What it may be, if that is known. */
  readonly choices?: readonly string[];
}

/** What every command receives: the outside world, and the values of the common options. */
export interface CommandContext extends RunContext, SetupContext, BooksContext {
  readonly effects: Effects;
  readonly folder: string;
  /** Real time as it passes, also with `--now`. */
  readonly timers: Pick<ProgramEffects, 'elapsed' | 'everyMinute'>;
  /** Whether `write` goes to a terminal. */
  readonly isTerminal: boolean;
  /** Stdin and stdout themselves, for a protocol over both. */
  readonly stdio: { readonly stdin: Readable; readonly stdout: Writable };
  /** Reads stdin to its end, or until it is longer than this. */
  readInput(maxLength: number): Promise<string>;
  /** Reports the command's counts to the job that it is a step of. */
  readonly count?: ((figures: Readonly<Record<string, unknown>>) => void) | undefined;
  /** The pending request that has waited longest, with its host; undefined if there is none. */
  waitingFor(): string | undefined;
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
