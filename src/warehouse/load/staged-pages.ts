import { RefusedAnswerError } from '../../base/errors.ts';
import { formatWindow, type Window } from '../../time/time.ts';
import type { Page, PageSink } from '../page.ts';
import type { Connection } from '../store/connection.ts';
import type { StageState } from './stage-state.ts';

/**
 * If totals on the pages of one answer differ by more than this, the numbers changed during the read: USD, and share of
 * it.
 */
const changedFromUsd = 0.005;
const changedFromShare = 1e-8;

/**
 * Whether two values of a total may be one sum of doubles, added in two orders; the comparison with the rows is exact.
 * Both are decimal text.
 */
function isNearly(total: string, other: string): boolean {
  const [a, b] = [Number(total), Number(other)];
  return Math.abs(a - b) <= Math.max(changedFromUsd, changedFromShare * Math.max(Math.abs(a), Math.abs(b)));
}

/**
 * A sink for the pages of one query. `of` is the window of the query. Its `page` throws RefusedAnswerError if a later
 * page has another total than the first.
 */
export function openPageSink(state: StageState, query: number, purpose: string, name: string, of: Window): PageSink {
  const { connection, sql } = state;
  let total: string | undefined;

  /** Records the query's total; sums of doubles in two orders widen it, a larger difference is refused. */
  async function takeTotal(found: string): Promise<void> {
    if (total === undefined) {
      total = found;
      await connection.appendRows('staged_queries', [[query, purpose, name, total, total]]);
    } else if (found !== total) {
      if (!isNearly(total, found)) {
        throw new RefusedAnswerError(
          `${name} of ${formatWindow(of)} of account ${state.account}: summary.totalCost was ${total} on the ` +
            `first page and is ${found} on a later one; the numbers changed while they were fetched`,
        );
      }
      await connection.run(sql('widen_total'), { query, total: found });
    }
  }

  return {
    async page(page) {
      state.differing = undefined;
      await takeTotal(page.totalCost);
      const first = state.entryCount;
      state.entryCount += page.entries.length;
      const before = state.decimals.get(query);
      state.decimals.set(query, {
        cost: Math.max(before?.cost ?? 0, page.costDecimals),
        usage: Math.max(before?.usage ?? 0, page.usageDecimals),
      });
      await appendPage(connection, query, first, page);
    },

    async restart() {
      state.differing = undefined;
      total = undefined;
      state.decimals.delete(query);
      await connection.run(sql('forget_query'), { query });
    },
  };
}

/** Appends a page's entries, numbered from `first` on, and its points. */
async function appendPage(
  connection: Connection,
  query: number,
  first: number,
  { entries, points }: Page,
): Promise<void> {
  await connection.appendRows(
    'staged_entries',
    entries.map((entry, index) => [
      first + index,
      query,
      entry.workspace ?? null,
      entry.resourceType ?? null,
      entry.resourceName ?? null,
      entry.resourceUuid ?? null,
      entry.billingDimension ?? null,
      entry.cost,
      entry.usage,
    ]),
  );
  // In place: copying each page's column would cost as much as the page itself.
  for (let point = 0; point < points.count; point += 1) points.entry[point] = first + (points.entry[point] ?? 0);
  await connection.appendPoints('staged_points', points.count, {
    first: points.entry,
    second: points.bucket,
    third: { values: points.cost, scale: 12 },
    fourth: { values: points.usage, scale: 6 },
  });
}
