import { PlatformError, RefusedAnswerError } from '../errors.ts';

/** What paging needs to know of a page, whatever else is in it. */
export interface Page {
  readonly hasMore: boolean;
  /** Undefined where the platform gave none (or an empty one). */
  readonly nextCursor: string | undefined;
}

/** A page chain that was cut because the platform no longer took its cursor; asking from page one may succeed. */
export class CursorRefusedError extends PlatformError {}

/**
 * Follows cursors to the last page. `ask` fetches one page, 1-based, with the cursor that leads to it.
 *
 * Throws RefusedAnswerError for a chain that cannot end well (a cursor seen before; more pages, but no cursor), and
 * CursorRefusedError where a request that carried a cursor was answered 4xx other than 401, 403, 408 and 429: which
 * status a dead cursor gives is not shown (7.4).
 */
export async function* pages<P extends Page>(
  about: string,
  ask: (page: number, cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let number = 1; ; number += 1) {
    let page: P;
    try {
      page = await ask(number, cursor);
    } catch (error) {
      if (cursor !== undefined && error instanceof PlatformError && isCursorRefusal(error.status)) {
        throw new CursorRefusedError(error.message, { status: error.status, code: error.code, cause: error });
      }
      throw error;
    }
    yield page;
    if (!page.hasMore) return;
    if (page.nextCursor === undefined) {
      throw new RefusedAnswerError(`${about}, page ${number}: meta.hasMore is true but meta.nextCursor is empty`);
    }
    if (seen.has(page.nextCursor)) {
      throw new RefusedAnswerError(
        `${about}, page ${number}: meta.nextCursor was given before; the pages go in a circle`,
      );
    }
    seen.add(page.nextCursor);
    cursor = page.nextCursor;
  }
}

function isCursorRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}
