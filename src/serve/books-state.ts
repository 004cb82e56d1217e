import { floorMonth, formatMonth, hourMs, type Instant } from '../time/time.ts';
import { closeAgainStep, differingCloses, differingCloseWords } from '../warehouse/ledger/index.ts';
import type { BooksView } from './books/index.ts';
import { html, type Markup } from './markup.ts';

/** Where the books stand, over all accounts. */
export interface BooksState {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  readonly historyStart: string | null;
  /** From when on every account is in the books; undefined if that is not known. */
  readonly completeFrom: Instant | undefined;
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
    completeFrom: typeof row['complete_from'] === 'string' ? Date.parse(row['complete_from']) : undefined,
    month: start === undefined ? undefined : { name: formatMonth(start), start },
  };
}

/** A closed month that no longer has the numbers of its close, as `status` names it. */
export interface DifferingMonth {
  /** `2026-10`. */
  readonly month: string;
  readonly words: string;
  readonly step: string;
}

/** The closed months that no longer match their close. Who does not see all costs sees neither accounts nor amounts. */
export async function readDifferingMonths(view: BooksView): Promise<readonly DifferingMonth[]> {
  const isAll = view.scope.kind === 'all';
  return view.once('differing closes', async (connection) =>
    (await differingCloses(connection)).map((close) => ({
      month: close.month,
      words: isAll ? differingCloseWords(close) : `${close.month} no longer has the numbers that it was closed with`,
      step: isAll ? closeAgainStep(close).words : 'Ask the people who run Costbook to close it again.',
    })),
  );
}

/** A line for each of these months, with the next step; empty if all closed months match their close. */
export function differingWords(months: readonly DifferingMonth[]): Markup[] {
  return [...new Map(months.map((each) => [each.words, each])).values()].map(
    ({ words, step }) => html`<span class="state bad">${words}</span>. ${step}`,
  );
}
