import { UnprovenError } from '../../base/errors.ts';
import { addCalendarMonths, formatInstant, type Instant, type Window } from '../../time/time.ts';
import {
  type ClosedMonth,
  closeAgainStep,
  closedMonths,
  differingCloses,
  differingCloseWords,
} from '../../warehouse/ledger/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';

/** The value of `--as-of`: an instant, or the present even for closed months. */
export type AsOf = Instant | 'now';

/** The instant that `--as-of` names; undefined if there is none, or if it names the present. */
export function instantOf(asked: AsOf | undefined): Instant | undefined {
  return asked === 'now' ? undefined : asked;
}

/**
 * The instant that a report about these periods answers as of; undefined for the present. `--as-of` decides. Without it, a
 * report about closed months, and earlier ones that it compares them with, answers as of the close of the last one, and
 * every other report as of now.
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
  const firstClosed = Math.min(...closes.flatMap((close) => close?.month ?? []));
  const areClosed = periods.every(({ end }, index) => closes[index] !== undefined || end <= firstClosed);
  return instants.length > 0 && areClosed ? Math.max(...instants) : undefined;
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

/** SQL that bills closed months apart from their corrections: a wrong close makes its later months wrong, too. */
const readsBilledCosts = /\b(costs_billed|hourly_costs_billed|corrections|corrections_allocated)\b/i;

/**
 * Throws UnprovenError if a closed month among the periods no longer has the numbers of its close. A report that reads
 * billed costs depends on every close. With `--as-of` the user chose the books; nothing is compared.
 */
export async function expectClosesHold(
  connection: Connection,
  asked: AsOf | undefined,
  { periods, sql }: { readonly periods: readonly Window[]; readonly sql: string },
): Promise<void> {
  if (asked !== undefined) return;
  const isBilled = readsBilledCosts.test(sql);
  const closed = isBilled || resolveAsOfAmong(await closedMonths(connection), asked, periods) !== undefined;
  if (!closed) return;
  const within = {
    start: Math.min(...periods.map(({ start }) => start)),
    end: Math.max(...periods.map(({ end }) => end)),
  };
  const [first, ...more] = await differingCloses(connection, isBilled || periods.length === 0 ? undefined : within);
  if (first === undefined) return;
  throw new UnprovenError([...[first, ...more].map(differingCloseWords), 'nothing was written.'], {
    next: closeAgainStep(first),
  });
}

/** SQL whose costs of a closed month are those of its close, whatever books are asked for. */
const readsBilledMonths = /\b(costs_billed|hourly_costs_billed)\b/i;

/** What an answer from books that the user chose with `--as-of` says of the close of its period. */
export async function closeBeside(
  connection: Connection,
  asOf: Instant | undefined,
  { periods, sql }: { readonly periods: readonly Window[]; readonly sql: string },
): Promise<{ readonly besideClose?: string; readonly billedAtClose?: string }> {
  const closedAt = await resolveAsOf(connection, undefined, periods);
  if (closedAt === undefined || closedAt === asOf) return {};
  const knowsClose = asOf === undefined || asOf > closedAt;
  const said = formatInstant(closedAt);
  return knowsClose && readsBilledMonths.test(sql) ? { billedAtClose: said } : { besideClose: said };
}
