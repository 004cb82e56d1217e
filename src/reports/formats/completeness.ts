import { textOrNull } from '../../tables/optional-text.ts';
import {
  addCalendarMonths,
  floorMonth,
  formatInstant,
  formatWindow,
  type Instant,
  type Window,
} from '../../time/time.ts';
import type { Completeness } from '../../warehouse/ledger/index.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';

/** The instant that an answer is as of, and complete through and settled through over all accounts. */
export interface CompletenessState {
  /** The instant that was asked for; null for the current books. */
  readonly asOf: string | null;
  /** The same instant if it is the close of the month that was asked for; otherwise null. */
  readonly closedAt: string | null;
  /** The close of the month that was asked for, if `--as-of` chose other books than those of that close. */
  readonly besideClose?: string;
  /** The same close, if the answer has billed costs of books that know the close: they are those of the close. */
  readonly billedAtClose?: string;
  /** From when on all accounts are in the books. */
  readonly completeFrom: string | null;
  /** Through when the accounts that runs read are complete, and settled. */
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
}

/** The state of an answer from these books. Null fields mean that an account has no complete hour yet. */
export async function completenessOf(connection: Connection, asOf?: Instant): Promise<CompletenessState> {
  const [row = {}] = await connection.rows(await readSql('ledger', 'books'));
  return {
    asOf: asOf === undefined ? null : formatInstant(asOf),
    closedAt: null,
    completeFrom: textOrNull(row['complete_from']),
    completeThrough: textOrNull(row['complete_through']),
    settledThrough: textOrNull(row['settled_through']),
  };
}

/** The sentence below numbers on a screen. */
export function describeCompleteness(state: CompletenessState): string {
  const close = closeWords(state);
  const asOf = state.asOf === null ? close : `${close}as of ${state.asOf}, `;
  const complete =
    state.completeThrough === null ? 'no complete hour yet' : `complete through ${state.completeThrough}`;
  const settled = state.settledThrough === null ? 'no settled hour yet' : `settled through ${state.settledThrough}`;
  return `${asOf}${complete}, ${settled}`;
}

function closeWords({ asOf, closedAt, besideClose, billedAtClose }: CompletenessState): string {
  if (closedAt !== null) return 'closed, ';
  if (billedAtClose !== undefined) return `costs of a closed period as billed at its close at ${billedAtClose}, `;
  if (besideClose === undefined) return '';
  return `${asOf === null ? 'current ' : ''}costs of a closed period, not those of its close at ${besideClose}, `;
}

/**
 * The last month that is closed, or that is complete in every account if that is a later one; undefined if there is none.
 * An account that begins later, or that is no longer configured, has no part in a close.
 */
export function lastMonth(
  { completeFrom, completeThrough }: CompletenessState,
  closed: Instant | undefined,
): Window | undefined {
  const end = completeFrom === null || completeThrough === null ? undefined : floorMonth(Date.parse(completeThrough));
  const complete = end === undefined ? undefined : addCalendarMonths(end, -1);
  const isWhole = complete !== undefined && completeFrom !== null && Date.parse(completeFrom) <= complete;
  const start = isWhole && complete > (closed ?? -Infinity) ? complete : closed;
  return start === undefined ? undefined : { start, end: addCalendarMonths(start, 1) };
}

/**
 * Which of these windows are incomplete, one sentence each with the accounts. Without windows: which accounts have no
 * complete hour. A window before the start of an account's books is incomplete too, because unknown is not 0. An account
 * that has ended has no part in later windows. A close bills what the books had, so accounts have no part in its answers that
 * began later or had ended.
 */
export function incompleteness(
  accounts: readonly Completeness[],
  periods: readonly (Window & { readonly label: string })[],
  { isClose = false } = {},
): string[] {
  if (accounts.length === 0) return ['no data: the books have no such account'];
  function sentence(label: string, gaps: readonly string[]): string[] {
    return gaps.length === 0 ? [] : [`${label} is not complete: ${gaps.join('; ')}`];
  }
  function through({ account, completeThrough }: Completeness): string {
    return completeThrough === undefined
      ? `${account} has no complete hour yet`
      : `${account} is complete through ${formatInstant(completeThrough)}`;
  }
  if (periods.length === 0) {
    const empty = accounts.filter(({ completeThrough }) => completeThrough === undefined);
    return sentence('the answer', empty.map(through));
  }
  return periods.flatMap((period) => {
    const gaps = accounts.flatMap((account) => {
      const { historyStart = Infinity, completeThrough, hasEnded } = account;
      if (isClose && (hasEnded || historyStart >= period.end)) return [];
      if ((isClose || hasEnded) && (completeThrough ?? Infinity) <= period.start) return [];
      if (completeThrough === undefined || completeThrough < period.end) return [through(account)];
      if (historyStart === Infinity || historyStart <= period.start) return [];
      return [`the books of ${account.account} start at ${formatInstant(historyStart)}`];
    });
    const window = formatWindow(period);
    return sentence(period.label === window ? window : `${period.label} (${window})`, gaps);
  });
}
