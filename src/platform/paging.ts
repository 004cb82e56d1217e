import { createHash } from 'node:crypto';
import { PlatformError, RefusedAnswerError } from '../errors.ts';

/** What paging needs to know of a page, whatever else is in it. */
export interface Page {
  readonly hasMore: boolean;
  /** Undefined where the platform gave none (or an empty one). */
  readonly nextCursor: string | undefined;
}

/** A URL that carries a longer one is refused by most servers (their headers end at 8 or 16 KB). */
const maxCursorLength = 8192;
/** Ten million groups of 100 a page: a chain that goes on beyond that does not end. */
const maxPages = 100_000;

/** A page chain that was cut because the platform no longer took its cursor; asking from page one may succeed. */
export class CursorRefusedError extends PlatformError {}

/**
 * Follows cursors to the last page. `ask` fetches one page, 1-based, with the cursor that leads to it.
 *
 * Throws RefusedAnswerError for a chain that cannot end well (a cursor seen before; more pages, but no
 * cursor; a cursor of more than 8192 characters; more pages than can be), and
 * CursorRefusedError where a request that carried a cursor was answered 4xx other than 401, 403, 408 and 429: which
 * status a dead cursor gives is not shown (7.4).
 */
export async function* pages<P extends Page>(
  about: string,
  ask: (page: number, cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, undefined> {
  const seen = new Set<string>(); // as hashes, so that long cursors do not fill memory
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
    if (page.nextCursor.length > maxCursorLength) {
      throw new RefusedAnswerError(
        `${about}, page ${number}: meta.nextCursor has ${page.nextCursor.length} characters, expected at most ${maxCursorLength}`,
      );
    }
    if (number >= maxPages) {
      throw new RefusedAnswerError(`${about}: found more than ${maxPages} pages, expected an end before`);
    }
    const hash = createHash('sha256').update(page.nextCursor).digest('base64');
    if (seen.has(hash)) {
      throw new RefusedAnswerError(
        `${about}, page ${number}: meta.nextCursor was given before; the pages go in a circle`,
      );
    }
    seen.add(hash);
    cursor = page.nextCursor;
  }
}

function isCursorRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}
