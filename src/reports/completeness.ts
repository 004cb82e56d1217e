import { addCalendarMonths, floorMonth, formatInstant, formatWindow, type Instant, type Window } from '../time.ts';
import { type Completeness, type Connection, completeness } from '../warehouse/index.ts';

/** As of when the books answer, and through when numbers over all accounts are complete and settled: as far as every account is. */
export interface CompletenessState {
  /** The instant as of which the books were asked; null where they answer as they are. */
  readonly asOf: string | null;
  /** The same instant where it is the close of the month that the answer is about; null where it is not. */
  readonly closedAt: string | null;
  /** Where the books of all accounts have begun. */
  readonly completeFrom: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
}

/** The state that goes with an answer from these books; null where some account has nothing complete yet. */
export async function completenessOf(connection: Connection, asOf?: Instant): Promise<CompletenessState> {
  const accounts = await completeness(connection);
  function earliest(instants: readonly (number | undefined)[]): string | null {
    const known = instants.filter((instant) => instant !== undefined);
    return known.length === 0 || known.length < instants.length ? null : formatInstant(Math.min(...known));
  }
  const starts = accounts.map((account) => account.historyStart);
  const known = starts.filter((start) => start !== undefined);
  return {
    asOf: asOf === undefined ? null : formatInstant(asOf),
    closedAt: null,
    completeFrom: known.length === 0 || known.length < starts.length ? null : formatInstant(Math.max(...known)),
    completeThrough: earliest(accounts.map((account) => account.completeThrough)),
    settledThrough: earliest(accounts.map((account) => account.settledThrough)),
  };
}

/** The sentence that goes with numbers shown to a person. */
export function describeCompleteness(state: CompletenessState): string {
  const close = state.closedAt === null ? '' : 'closed, ';
  const asOf = state.asOf === null ? '' : `${close}as of ${state.asOf}, `;
  return `${asOf}complete through ${state.completeThrough ?? 'nothing yet'}, settled through ${state.settledThrough ?? 'nothing yet'}`;
}

/** The last month that is complete in every account; undefined where none is. */
export function lastCompleteMonth({ completeFrom, completeThrough }: CompletenessState): Window | undefined {
  if (completeFrom === null || completeThrough === null) return undefined;
  const end = floorMonth(Date.parse(completeThrough));
  const start = addCalendarMonths(end, -1);
  return Date.parse(completeFrom) <= start ? { start, end } : undefined;
}

/**
 * What of these stretches is not complete, as a sentence each that names the accounts; for an answer about no stretch of
 * its own, which accounts have nothing complete. Nothing known is not nothing spent: a stretch before an account's books
 * begin is not complete either.
 */
export function incompleteness(
  accounts: readonly Completeness[],
  periods: readonly (Window & { readonly label: string })[],
): string[] {
  if (accounts.length === 0) return ['nothing is complete: the books have no such account'];
  function sentence(label: string, gaps: readonly string[]): string[] {
    return gaps.length === 0 ? [] : [`${label} is not complete: ${gaps.join('; ')}`];
  }
  function through({ account, completeThrough }: Completeness): string {
    return `${account} is complete through ${completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough)}`;
  }
  if (periods.length === 0) {
    const empty = accounts.filter(({ completeThrough }) => completeThrough === undefined);
    return sentence('the answer', empty.map(through));
  }
  return periods.flatMap((period) => {
    const gaps = accounts.flatMap((account) => {
      const { historyStart, completeThrough } = account;
      if (completeThrough === undefined || completeThrough < period.end) return [through(account)];
      if (historyStart === undefined || historyStart <= period.start) return [];
      return [`the books of ${account.account} begin ${formatInstant(historyStart)}`];
    });
    const window = formatWindow(period);
    return sentence(period.label === window ? window : `${period.label} (${window})`, gaps);
  });
}
