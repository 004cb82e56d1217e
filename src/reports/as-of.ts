import { addCalendarMonths, type Instant, type Window } from '../time.ts';
import { type ClosedMonth, type Connection, closedMonths } from '../warehouse/index.ts';

/** What a person asks for with `--as-of`: an instant, or the present whatever is closed. */
export type AsOf = Instant | 'now';

/** The instant that `--as-of` names; undefined where it names none, or the present. */
export function instantOf(asked: AsOf | undefined): Instant | undefined {
  return asked === 'now' ? undefined : asked;
}

/**
 * As of when a report about these periods answers; undefined for the present. What was asked for decides; else a report
 * about closed months alone answers as of the close of the last of them, and every other one as of now.
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
  // A period that is part of a month, or of several, is no closed month: its hours are told as they are.
  const instants = closes.flatMap((close) => (close === undefined ? [] : [close.closedAt]));
  return instants.length > 0 && instants.length === periods.length ? Math.max(...instants) : undefined;
}

/** `momentAmong` the months that are closed in the present books. */
export async function resolveAsOf(
  connection: Connection,
  asked: AsOf | undefined,
  periods: readonly Window[],
): Promise<Instant | undefined> {
  return asked === undefined ? resolveAsOfAmong(await closedMonths(connection), asked, periods) : instantOf(asked);
}
