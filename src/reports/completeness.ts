import { formatInstant } from '../time.ts';
import { type Connection, completeness } from '../warehouse/index.ts';

/** Through when numbers over all accounts are complete and settled: as far as every account is. */
export interface CompletenessState {
  /** Where the books of all accounts have begun. */
  readonly completeFrom: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
}

/** The state that goes with an answer from these books; null where some account has nothing complete yet. */
export async function completenessOf(connection: Connection): Promise<CompletenessState> {
  const accounts = await completeness(connection);
  function earliest(instants: readonly (number | undefined)[]): string | null {
    const known = instants.filter((instant) => instant !== undefined);
    return known.length === 0 || known.length < instants.length ? null : formatInstant(Math.min(...known));
  }
  const starts = accounts.map((account) => account.historyStart);
  const known = starts.filter((start) => start !== undefined);
  return {
    completeFrom: known.length === 0 || known.length < starts.length ? null : formatInstant(Math.max(...known)),
    completeThrough: earliest(accounts.map((account) => account.completeThrough)),
    settledThrough: earliest(accounts.map((account) => account.settledThrough)),
  };
}

/** The sentence that goes with numbers shown to a person. */
export function describeCompleteness(state: CompletenessState): string {
  return `complete through ${state.completeThrough ?? 'nothing yet'}, settled through ${state.settledThrough ?? 'nothing yet'}`;
}
