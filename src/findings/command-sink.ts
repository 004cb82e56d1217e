import type { AlertFact } from './kinds/index.ts';

/** What the name of a sink starts with that runs the command of one threshold in one period. */
const prefix = 'run:';

/** The sink that runs the command of a threshold when it is crossed; none if it has no command. */
export function commandSinks(fact: AlertFact): readonly string[] {
  return fact.kind === 'budget' && fact.run === true ? [`${prefix}${fact.key}`] : [];
}

/** Whether a sink runs the command of a threshold. Names of other sinks have no colon. */
export function isCommandSink(sink: string): boolean {
  return sink.startsWith(prefix);
}
