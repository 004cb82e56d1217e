import type { Budget, Threshold } from '../budgets/rules/index.ts';
import { isAskedBy, thresholdKey } from '../budgets/spend/index.ts';
import { type AlertFact, isCommandSink } from '../findings/index.ts';
import { type CommandEffects, type Message, openCommand, type SendMessage } from '../sinks/index.ts';
import type { ActingRules } from './deliver.ts';

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
  // Messages for commands are made here, of facts.
  const facts = entries.map(({ fact }) => fact as AlertFact);
  const [fact] = facts.flatMap((one) => (one.kind === 'budget' ? [one] : []));
  const budget = fact && budgets.find((each) => isAskedBy(each, fact));
  return budget?.thresholds.find((threshold) => fact && thresholdKey(budget, fact.period, threshold) === fact.key)?.run;
}

const withoutCommand: SendMessage = async () => ({
  outcome: 'refused',
  reason: 'jobs/budgets.yaml does not have this command now',
  isPassing: false,
});
