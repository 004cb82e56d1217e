import type { SpendNow } from '../budgets/index.ts';
import type { Effects, HttpSend } from '../effects.ts';
import type { TableLayout } from '../terminal/index.ts';
import type { Warehouse } from '../warehouse/index.ts';

/** An option in the command table, from which usage text, docs/cli.md and shell completion are made. */
export interface CommandOption {
  /** As commander reads it: `--month <month>`. */
  readonly flags: string;
  readonly summary: string;
  /** May be given several times; the values come as a list. */
  readonly isRepeatable?: true;
}

export interface CommandArgument {
  /** As commander reads it: `<name>` where required, `[name]` where not. */
  readonly name: string;
  readonly summary: string;
}

/** What a command line said, as text: each command reads its own values and refuses what it cannot read. */
export interface CommandInput {
  readonly arguments: readonly string[];
  /** By the long flag's name in camel case; a flag without a value is `true`. */
  readonly options: Readonly<Record<string, string | true | readonly string[] | undefined>>;
}

/** Asks a person for a line. What may be a secret is not shown while it is typed. */
export type Ask = (question: string, how?: { readonly isHidden: boolean }) => Promise<string>;

/** What every command is handed: the outside world and what the flags common to all commands say. */
export interface CommandContext {
  readonly effects: Effects;
  /** The project folder (`--dir`), absolute. */
  readonly dir: string;
  /** `--json`: stdout carries one JSON value and nothing else. */
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT and SIGTERM with an InterruptedError. */
  readonly signal: AbortSignal;
  /** Data for whoever reads stdout; resolves when it has been taken. */
  write(data: string | Uint8Array): Promise<void>;
  /** Whether a person's terminal shows what `write` takes. */
  readonly isTerminal: boolean;
  /** How tables are laid out: for the terminal's width, or, without one, plain and exact; `--exact` says so everywhere. */
  readonly layout: TableLayout;
  /** What is given on stdin, to its end. */
  readInput(): Promise<string>;
  /** Asks a person and returns their line, trimmed; undefined where nobody sits at a terminal. */
  readonly ask: Ask | undefined;
  /** Words for a person, on stderr. */
  tell(text: string): void;
  /**
   * Says what is being done and how far it is, in the place of what was said before; '' only that something is. From two
   * seconds on it is shown: as one live line on a terminal, elsewhere as a line of the log every now and then.
   */
  progress(words: string): void;
  /** From here on every line of the log names this run. */
  nameRun(number: number): void;
  /** Makes this text unprintable: wherever it would appear in words, logs or errors, `***` stands instead. */
  keepSecret(secret: string): void;
  /** The text with every kept secret replaced; `tell` and the log do so themselves, data that `write` takes stays as it is. */
  redact(text: string): string;
  /** What the command counted, for whoever runs it as a step of a job. */
  readonly count?: ((figures: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Set where the command is a step of a job. */
  readonly run?: RunUnderWay | undefined;
  /** How often the process was answered over HTTP with each status; `none` where no whole answer came. */
  httpAnswers(): ReadonlyMap<string, number>;
  /** The request that is waited for longest, with its host; undefined where none is. */
  waitingFor(): string | undefined;
  /** The outside world's HTTP with this many sockets per origin; closed with the process. */
  openHttp(connections: number): HttpSend;
}

/** The run of a job that a command is a step of: it holds the warehouse and has the row in `runs`. */
export interface RunUnderWay {
  readonly warehouse: Warehouse;
  readonly runNumber: number;
  /** Why the step failed, where its command returns an exit code and throws nothing. */
  explain(error: string): void;
  /** What is spent on every budget, where a step just found out. */
  keepSpends(spends: readonly SpendNow[]): void;
}

/** One entry of the command table. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly CommandArgument[];
  readonly options: readonly CommandOption[];
  readonly examples: readonly string[];
  /** Serves until it is stopped: there is no end to wait for, and no progress. */
  readonly staysUp?: true;
  /** Makes the project folder where only the folder above it is there; other commands expect to find it. */
  readonly makesFolder?: true;
  /** Whether this command line is about a project: by default it is. */
  needsProject?(input: CommandInput): boolean;
  /** Throws UsageError for what is wrong with an input, and does nothing: a job's steps are checked before its run begins. */
  check?(input: CommandInput, context: CommandContext): Promise<void>;
  /** Returns the exit code, or throws one of the errors in errors.ts. */
  run(input: CommandInput, context: CommandContext): Promise<number>;
}
