import type { Command } from './command.ts';
import { commonOptions } from './common-options.ts';

/** Commands that are asked again and again, and need little of what the others need. */
const alone: Readonly<Record<string, () => Promise<Command>>> = {
  sql: async () => (await import('./sql.ts')).sqlCommand,
};

/**
 * The commands that may be meant by a command line: one where its name is the first word, all of them otherwise. To
 * load them all takes longer than it takes to answer a query.
 */
export async function commandsFor(args: readonly string[]): Promise<readonly Command[]> {
  const load = alone[firstWord(args) ?? ''];
  return load === undefined ? (await import('./index.ts')).commands : [await load()];
}

/** The first argument that is neither a common option nor its value: the name of the command. */
function firstWord(args: readonly string[]): string | undefined {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) return arg;
    if (commonOptions.some(({ flags }) => flags.startsWith(`${arg} <`))) index += 1; // its value
  }
  return undefined;
}
