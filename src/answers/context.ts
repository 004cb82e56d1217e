import type { ProjectContext } from '../base/project-context.ts';
import type { CommandInput } from '../options/read.ts';
import type { PublishedPlace } from '../reports/exports/index.ts';
import type { TableLayout } from '../terminal/index.ts';
import type { Instant } from '../time/time.ts';

/** Takes a command's answer as data, and the function that says the same in words. */
export type Answer = (data: object, words: () => string | Promise<string>) => Promise<void>;

/** Prints answers as JSON, or in words. */
export function printedAnswer({ json, write }: Pick<BooksContext, 'json' | 'write'>): Answer {
  return async (data, words) => write(json ? `${JSON.stringify(data)}\n` : await words());
}

/** What runs in a child process, because it runs the project's SQL or calculates for long. */
export type ChildName =
  | 'report'
  | 'report-statement'
  | 'report-sql'
  | 'verify'
  | 'report-rows'
  | 'budgets'
  | 'forecast'
  | 'budget-backtest';

/** The context of such a command: no secrets, and from the environment only Costbook's settings. */
export interface ChildContext extends BooksContext {
  /** Whether the answer goes to a terminal. */
  readonly isTerminal: boolean;
  /** Reports the command's counts to the job that it is a step of. */
  readonly count?: ((figures: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Marks the process as a reader of the books. */
  readonly reader: string;
  /** Says which export was published, so that the parent can send it to a store: this process has no credentials. */
  published?(place: PublishedPlace): void;
  /** Whether the command is a step of a job: it then prints the names of its files, not their rows. */
  readonly isStep: boolean;
  /** Whether the answer is wanted as data, whole: nothing is written then. */
  readonly asData: boolean;
}

/** What a command over the books needs; a child process has all of it. */
export interface BooksContext extends Pick<ProjectContext, 'dir' | 'env' | 'signal' | 'tell' | 'progress'> {
  readonly effects: { now(): Instant };
  /** The folder that relative paths on the command line start from, absolute. */
  readonly folder: string;
  /** `--json`: stdout carries one JSON value and nothing else. */
  readonly json: boolean;
  /** The layout of tables: fitted to the terminal's width; plain and exact without a terminal or with `--exact`. */
  readonly layout: TableLayout;
  /** Writes data to stdout; resolves when it has been accepted. */
  write(data: string | Uint8Array): Promise<void>;
  /** Gives the whole answer: as data, and in words for people. */
  readonly answer: Answer;
}

/** What the child receives: the command, and the parts of its context that are data. */
export interface ChildCommandRequest
  extends Pick<ChildContext, 'dir' | 'folder' | 'env' | 'json' | 'isTerminal' | 'layout' | 'isStep' | 'asData'> {
  readonly name: ChildName;
  readonly input: CommandInput;
  readonly now: Instant;
}

/** What the child reports while it runs. */
export type ChildEvent =
  | { readonly tell: string }
  | { readonly progress: string }
  | { readonly published: PublishedPlace }
  | { readonly count: Readonly<Record<string, unknown>> };

/** What a command in a child process comes to. */
export interface ChildCommandAnswer {
  readonly exitCode: number;
  /** Its answer, if that was wanted as data. */
  readonly data: unknown;
}
