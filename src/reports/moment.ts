import type { Instant } from '../time.ts';
import type { Connection } from '../warehouse/index.ts';
import type { Period } from './parameters.ts';

/** What a person asks for with `--as-of`: an instant, or the present whatever is closed. */
export type AsOf = Instant | 'now';

/** The instant that `--as-of` names; undefined where it names none, or the present. */
export function instantOf(asked: AsOf | undefined): Instant | undefined {
  return asked === 'now' ? undefined : asked;
}

/**
 * As of when a report about these periods answers; undefined for the present. This is the one place where that is
 * decided: no period is ever closed so far, so that a report answers as of what was asked, and else as of now.
 */
export async function momentOf(
  _connection: Connection,
  asked: AsOf | undefined,
  _periods: readonly Period[],
): Promise<Instant | undefined> {
  return instantOf(asked);
}
