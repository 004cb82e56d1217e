import { exitCodes } from '../errors.ts';
import { expectProject } from '../project-folder.ts';
import { type ChildLimits, runChild } from '../query/index.ts';
import type { Instant } from '../time.ts';
import type { Command, CommandContext, CommandInput } from './command.ts';
import type { PublishedPlace } from './exports-in-store.ts';
import { optionReader, timeoutOf } from './options.ts';

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
  'dir' | 'folder' | 'env' | 'json' | 'isTerminal' | 'layout' | 'signal' | 'write' | 'tell' | 'progress' | 'count'
> & {
  readonly effects: { now(): Instant };
  /** Marks the process as a reader of the books. */
  readonly reader: string;
  /** Says which export was published, so that the parent can send it to a store: this process has no credentials. */
  published?(place: PublishedPlace): void;
  /** Whether the command is a step of a job: it then prints the names of its files, not their rows. */
  readonly isStep: boolean;
};

/** What a command over the books needs; a child process has all of it. */
export type BooksContext = Pick<
  ChildContext,
  'dir' | 'folder' | 'env' | 'json' | 'layout' | 'signal' | 'write' | 'tell' | 'progress' | 'effects'
>;

/** What the child receives: the command, and the parts of its context that are data. */
export interface ChildCommandRequest
  extends Pick<ChildContext, 'dir' | 'folder' | 'env' | 'json' | 'isTerminal' | 'layout' | 'isStep'> {
  readonly name: ChildName;
  readonly input: CommandInput;
  readonly now: Instant;
}

type OnPublished = (place: PublishedPlace) => void;

/** What the child reports while it runs. */
export type ChildEvent =
  | { readonly tell: string }
  | { readonly progress: string }
  | { readonly published: PublishedPlace }
  | { readonly count: Readonly<Record<string, unknown>> };

/** A command that runs in a child process with limits on time and memory. It takes `--timeout`. */
export function inChild(
  name: ChildName,
  { usualTimeoutMs, ...command }: Omit<Command, 'name' | 'run'> & { readonly usualTimeoutMs: number },
): Command {
  return {
    name,
    ...command,
    async run(input, context) {
      const { signal, effects } = context;
      const options = optionReader(input, effects.now());
      const timeoutMs = timeoutOf(options) ?? usualTimeoutMs;
      options.check();
      // The child's errors arrive as text, so it cannot report that this folder is not a project.
      if (name === 'report' && input.arguments[0] !== undefined) expectProject(context);
      if (name === 'report') return runReport(input, context, timeoutMs);
      const { verifyEverywhere } = await import('./verify-copies.ts');
      return verifyEverywhere(input, context, (writeHere) =>
        runInChild(name, input, context, { subject: 'the verification', timeoutMs, signal, write: writeHere }),
      );
    },
  };
}

/** Runs a report in a child process, then sends what it published to the store that the user chose, if any. */
async function runReport(input: CommandInput, context: CommandContext, timeoutMs: number): Promise<number> {
  const { signal, write, dir } = context;
  const isList = input.arguments[0] === undefined;
  const { storeOf, withoutStore, sendExports, rootOf } = await import('./exports-in-store.ts');
  const place = isList ? undefined : storeOf(input, context);
  const published: PublishedPlace[] = [];
  const exitCode = await runInChild('report', withoutStore(input), context, {
    subject: `the report ${input.arguments[0] ?? ''}`.trim(),
    ...{ timeoutMs, signal, write },
    onPublished: (one) => published.push(one),
  });
  if (place !== undefined && exitCode === exitCodes.done) await sendExports(published, rootOf(dir), place, context);
  return exitCode;
}

/** Runs a command in a child process. Returns its exit code; throws as `runChild`. */
export function runInChild(
  name: ChildName,
  input: CommandInput,
  context: CommandContext,
  { subject, onPublished, ...limits }: ChildLimits & { readonly subject: string; onPublished?: OnPublished },
): Promise<number> {
  const { dir, folder, env, json, isTerminal, layout, effects } = context;
  const request: ChildCommandRequest = {
    name,
    input,
    dir,
    folder,
    env: settingsOf(env),
    json,
    isTerminal,
    layout,
    isStep: context.run !== undefined,
    now: effects.now(),
  };
  function onEvent(event: unknown): void {
    const said = event as ChildEvent;
    if ('tell' in said) context.tell(said.tell);
    else if ('progress' in said) context.progress(said.progress);
    else if ('published' in said) onPublished?.(said.published);
    else context.count?.(said.count);
  }
  const task = { service: 'command', input: request, dir, subject, folder, onEvent } as const;
  return runChild(task, limits) as Promise<number>;
}

/** Costbook's settings without secrets: SQL that breaks out in the child finds none. */
function settingsOf(env: CommandContext['env']): CommandContext['env'] {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /^COSTBOOK_/.test(name) && !/TOKEN|SECRET|PASSWORD|URL/.test(name)),
  );
}
