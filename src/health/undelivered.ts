import { act, asClause, type NextStep } from '../base/next-step.ts';
import { counted } from '../text/counted.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';

/** The messages that a sink has not accepted yet. */
export interface Undelivered {
  readonly messages: number;
  readonly found: string;
  readonly sink: string;
  readonly next: NextStep;
  /** The same without full stop, for `--json`. */
  readonly remedy: string;
}

/** The undelivered messages by sink, in words. */
export async function undelivered(connection: Connection): Promise<readonly Undelivered[]> {
  const rows = await connection.rows(await readSql('status', 'pending_messages'));
  return rows.map(({ sink: name, messages, since, reason }) => {
    const [sink, count] = [String(name), Number(messages)];
    const next = act(
      `correct what this reason names: in costbook.yaml under sinks, or at its service. Then run "costbook alerts test ${sink}", and once its message arrives, "costbook alert", which sends what waits.`,
      'alert',
    );
    return {
      ...{ sink, messages: count, next, remedy: asClause(next.words) },
      found:
        `${counted(count, 'message')} to the sink ${sink} since ${since} ` +
        `${count === 1 ? 'is' : 'are'} not delivered${reason === null ? '' : `: ${reason}`}`,
    };
  });
}
