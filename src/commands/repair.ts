import { markMended } from '../alerts/index.ts';
import { exitCodes } from '../base/errors.ts';
import { type Repaired, repair } from '../ingest/index.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { describeFacts } from '../warehouse/integrity/index.ts';
import type { Command } from './command.ts';

export const repairCommand: Command = {
  name: 'repair',
  summary: 'Rebuild a missing, damaged, changed or older warehouse or snapshot from the files that are intact.',
  examples: ['costbook repair', 'costbook repair --wait 10m'],
  async run(input, context) {
    const { acceptLoss, wait: waitMs } = read(options.repair, input, context);
    const repaired = await repair({ acceptLoss, waitMs }, context);
    await markMended(context);
    await context.write(context.redact(context.json ? `${JSON.stringify(repaired)}\n` : describe(repaired)));
    return exitCodes.done;
  },
};

/** How many paths are shown. */
const pathsShown = 10;

function describe({ reason, madeFrom, loads, movedAside, removedLogs, lost, restored, published }: Repaired): string {
  const count = `${loads} load${loads === 1 ? '' : 's'}`;
  const from = madeFrom === 'snapshot' ? `the snapshot, ${count} stored since` : `${count} in the landing folder`;
  return [
    published.loadNumber === 0
      ? 'There are no costs in the books. Run "costbook ingest", or restore data from a backup and run this again.'
      : reason === null
        ? 'The warehouse is intact: every row could be read.'
        : `The warehouse was rebuilt from ${from} and the journal.`,
    ...movedAside.slice(0, pathsShown).map((path) => `Moved aside; delete it when you no longer need it: ${path}`),
    ...(movedAside.length > pathsShown
      ? [`and ${movedAside.length - pathsShown} more next to them (--json lists all)`]
      : []),
    ...removedLogs.map((path) => `Removed, because another program left it next to the snapshot: ${path}`),
    ...lost.loads.map((words) => `Lost: ${words}`),
    ...lost.journal.map((words) => `Lost: ${words}`),
    ...restored.map((words) => `Restored from the books: ${words}. Nothing is lost.`),
    `The snapshot is published: ${describeFacts(published)}.`,
    ...(lost.loads.length === 0 ? [] : ['Run "costbook ingest": it fetches the hours that are missing now.']),
    ...(lost.loads.length + lost.journal.length === 0
      ? []
      : ['Then run "costbook status": it names closed months that do not match their close, and what to do.']),
    '',
  ].join('\n');
}
