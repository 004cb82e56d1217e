import { floorMonth, formatMonth, hourMs, type Instant } from '../time.ts';
import type { BooksView } from './snapshots.ts';

/** Where the books stand, over all accounts. */
export interface BooksState {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  readonly historyStart: string | null;
  /** The month of the last complete hour, `2026-10`; undefined if there is no complete hour. */
  readonly month: { readonly name: string; readonly start: Instant } | undefined;
}

export async function readBooksState(view: BooksView): Promise<BooksState> {
  const [row = {}] = await view.rows('books');
  const text = (field: unknown) => (typeof field === 'string' ? field : null);
  const completeThrough = text(row['complete_through']);
  const start = completeThrough === null ? undefined : floorMonth(Date.parse(completeThrough) - hourMs);
  return {
    completeThrough,
    settledThrough: text(row['settled_through']),
    historyStart: text(row['history_start']),
    month: start === undefined ? undefined : { name: formatMonth(start), start },
  };
}
