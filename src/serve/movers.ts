import { type Compared, comparedWith } from '../time/compared.ts';
import { dayMs, formatInstant, type Instant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { BooksView } from './books/index.ts';

interface MoversAsked {
  readonly days: number;
  /** The end of the complete hours. */
  readonly through: Instant;
  readonly completeFrom: Instant | undefined;
  readonly count: number;
}

/** The resources whose costs changed most in the last days, and what these are compared with. */
export async function readMovers(
  view: BooksView,
  { days, through, completeFrom, count }: MoversAsked,
): Promise<{ readonly compared: Compared; readonly rows: readonly SqlRow[] }> {
  const compared = comparedWith({ start: through - days * dayMs, end: through }, { completeFrom });
  if (compared.kind === 'none') return { compared, rows: [] };
  return { compared, rows: await view.rows('movers', { ...moverWindows(compared), count }) };
}

/** Why costs of resources may have changed in a window: a row for each that has an anomaly or a deployment in it. */
export async function readMoverReasons(view: BooksView, compared: Compared): Promise<readonly SqlRow[]> {
  if (compared.kind === 'none') return [];
  const { from, to } = moverWindows(compared);
  return view.rows('mover_reasons', { from, to });
}

/** Both windows as SQL and answers have them. */
export function moverWindows({ window, before }: Extract<Compared, { readonly kind: 'compared' }>) {
  return {
    ...{ before_from: formatInstant(before.start), before_to: formatInstant(before.end) },
    ...{ from: formatInstant(window.start), to: formatInstant(window.end) },
  };
}
