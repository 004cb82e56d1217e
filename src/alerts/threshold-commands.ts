import { type Budget, isAskedBy, type Threshold, thresholdKey } from '../budgets/index.ts';
import { isCommandSink } from '../findings/index.ts';
import type { ActingRules } from './deliver.ts';
import type { Message } from './message.ts';
import { type CommandEffects, openCommand } from './sinks/command.ts';
import type { SendMessage } from './sinks/sink.ts';

/** The sinks of pending messages that run commands, and their rules: each message is sent once. */
export function openCommands(
  pending: readonly { readonly sink: string; readonly message: string }[],
  budgets: readonly Budget[],
  effects: CommandEffects,
): { readonly sinks: ReadonlyMap<string, SendMessage>; readonly rules: ReadonlyMap<string, ActingRules> } {
  const sinks = new Map<string, SendMessage>();
  const rules = new Map<string, ActingRules>();
  for (const { sink, message } of pending) {
    if (!isCommandSink(sink)) continue;
    const run = commandOf(JSON.parse(message) as Message, budgets);
    const timeLimitMs = (run?.timeLimitSeconds ?? 0) * 1000;
    rules.set(sink, { isModel: false, isCommand: true, answersTo: [], timeLimitMs });
    sinks.set(sink, run === undefined ? withoutCommand : openCommand(run, effects));
  }
  return { sinks, rules };
}

/** The command that the budget file has now for the threshold of a message. */
function commandOf({ entries }: Message, budgets: readonly Budget[]): Threshold['run'] {
  const [fact] = entries.flatMap((entry) => (entry.fact.kind === 'budget' ? [entry.fact] : []));
  const budget = fact && budgets.find((each) => isAskedBy(each, fact));
  return budget?.thresholds.find((threshold) => fact && thresholdKey(budget, fact.period, threshold) === fact.key)?.run;
}

const withoutCommand: SendMessage = async () => ({
  outcome: 'refused',
  reason: 'jobs/budgets.yaml does not have this command now',
  isPassing: false,
});
