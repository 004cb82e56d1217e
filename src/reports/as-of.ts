import { addCalendarMonths, type Instant, type Window } from '../time.ts';
import { type ClosedMonth, type Connection, closedMonths } from '../warehouse/index.ts';

/** The value of `--as-of`: an instant, or the present even for closed months. */
export type AsOf = Instant | 'now';

/** The instant that `--as-of` names; undefined if there is none, or if it names the present. */
export function instantOf(asked: AsOf | undefined): Instant | undefined {
  return asked === 'now' ? undefined : asked;
}

/**
 * The instant that a report about these periods answers as of; undefined for the present. `--as-of` decides. Without it, a
 * report about closed months only answers as of the close of the last one, and every other report as of now.
 */
export function resolveAsOfAmong(
  closed: readonly ClosedMonth[],
  asked: AsOf | undefined,
  periods: readonly Window[],
): Instant | undefined {
  if (asked !== undefined) return instantOf(asked);
  const closes = periods.map(({ start, end }) =>
    closed.find(({ month }) => month === start && addCalendarMonths(month, 1) === end),
  );
  // A period that is not exactly a month is not a closed month, so its current costs are shown.
  const instants = closes.flatMap((close) => (close === undefined ? [] : [close.closedAt]));
  return instants.length > 0 && instants.length === periods.length ? Math.max(...instants) : undefined;
}

/**
 * `resolveAsOfAmong` the months that are closed in the current books.
 */
export async function resolveAsOf(
  connection: Connection,
  asked: AsOf | undefined,
  periods: readonly Window[],
): Promise<Instant | undefined> {
  return asked === undefined ? resolveAsOfAmong(await closedMonths(connection), asked, periods) : instantOf(asked);
}
