import { resolve } from 'node:path';
import { MachineError } from '../base/errors.ts';
import { type ChildLimits, isExitCode, runChild } from '../query/index.ts';
import type { Instant } from '../time/time.ts';
import type { CommandContext, CommandInput } from './command.ts';
import type { PublishedPlace } from './exports-in-store.ts';

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
export type ChildContext = Pick<
  CommandContext,
  | 'dir'
  | 'folder'
  | 'env'
  | 'json'
  | 'isTerminal'
  | 'layout'
  | 'signal'
  | 'write'
  | 'answer'
  | 'tell'
  | 'progress'
  | 'count'
> & {
  readonly effects: { now(): Instant };
  /** Marks the process as a reader of the books. */
  readonly reader: string;
  /** Says which export was published, so that the parent can send it to a store: this process has no credentials. */
  published?(place: PublishedPlace): void;
  /** Whether the command is a step of a job: it then prints the names of its files, not their rows. */
  readonly isStep: boolean;
  /** Whether the answer is wanted as data, whole: nothing is written then. */
  readonly asData: boolean;
};

/** What a command over the books needs; a child process has all of it. */
export type BooksContext = Pick<
  ChildContext,
  'dir' | 'folder' | 'env' | 'json' | 'layout' | 'signal' | 'write' | 'answer' | 'tell' | 'progress' | 'effects'
>;

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

type InChildLimits = ChildLimits & {
  readonly subject: string;
  /** A folder that it writes to, besides those of the project. */
  readonly out?: string | undefined;
  onPublished?(place: PublishedPlace): void;
};

/** Runs a command in a child process. Returns its exit code; throws as `runChild`. */
export async function runInChild(
  name: ChildName,
  input: CommandInput,
  context: CommandContext,
  limits: InChildLimits,
): Promise<number> {
  return (await startInChild(name, input, { ...context, asData: false }, limits)).exitCode;
}

/** The answer of a command as data, from a child process. Throws as `runChild`. */
export async function answerInChild<T>(
  name: ChildName,
  input: CommandInput,
  context: CommandContext,
  limits: Omit<InChildLimits, 'write'>,
): Promise<T> {
  return (await dataOfChild<T>(name, input, context, limits)).data;
}

/** The same, with the exit code. */
export async function dataOfChild<T>(
  name: ChildName,
  input: CommandInput,
  context: CommandContext,
  limits: Omit<InChildLimits, 'write'>,
): Promise<{ readonly exitCode: number; readonly data: T }> {
  const { exitCode, data } = await startInChild(name, input, { ...context, json: true, asData: true }, limits);
  return { exitCode, data: data as T };
}

async function startInChild(
  name: ChildName,
  input: CommandInput,
  context: CommandContext & { readonly asData: boolean },
  { subject, out, onPublished, ...limits }: InChildLimits,
): Promise<ChildCommandAnswer> {
  const { dir, folder, env, json, isTerminal, layout, asData, effects } = context;
  const request: ChildCommandRequest = {
    ...{ name, input, dir, folder, json, isTerminal, layout, asData },
    env: settingsOf(env),
    isStep: context.run !== undefined,
    now: effects.now(),
  };
  const writesTo = out === undefined ? [] : [resolve(folder, out)];
  function onEvent(event: unknown): void {
    const said = event as ChildEvent;
    if ('tell' in said) context.tell(said.tell);
    else if ('progress' in said) context.progress(said.progress);
    else if ('published' in said) onPublished?.(said.published);
    else context.count?.(said.count);
  }
  const answered = (await runChild(
    { service: 'command', input: request, dir, writesTo, subject, folder, onEvent },
    limits,
  )) as Partial<ChildCommandAnswer> | null;
  // What ran there may be SQL of users: a code that no process has would end as success.
  if (!isExitCode(answered?.exitCode)) throw new MachineError(`the process of ${subject} gave no exit code`);
  return { exitCode: answered.exitCode, data: answered.data };
}

/** Costbook's settings without secrets: SQL that breaks out in the child finds none. */
function settingsOf(env: CommandContext['env']): CommandContext['env'] {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /^COSTBOOK_/.test(name) && !/TOKEN|SECRET|PASSWORD|URL/.test(name)),
  );
}
