import { resolve } from 'node:path';
import type { ChildCommandAnswer, ChildCommandRequest, ChildEvent, ChildName } from '../answers/index.ts';
import { MachineError } from '../base/errors.ts';
import type { CommandInput } from '../options/read.ts';
import { type ChildLimits, isExitCode, runChild } from '../query/index.ts';
import type { PublishedPlace } from '../reports/exports/index.ts';
import type { CommandContext } from './command.ts';

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
