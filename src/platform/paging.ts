import { createHash } from 'node:crypto';
import { PlatformError, RefusedAnswerError } from '../base/errors.ts';
import { waitForPlatform } from '../base/next-step.ts';
import { answerLimits } from './interface/limits.ts';

/** The part of a page that paging needs. */
export interface Page {
  readonly hasMore: boolean;
  /** Undefined if the platform sent none (or an empty one). */
  readonly nextCursor: string | undefined;
  /** The keys of its items, which distinguish them within the chain. */
  readonly keys: readonly string[];
}

/** A page chain whose cursor the platform no longer accepts; restarting from page one may succeed. */
export class CursorRefusedError extends PlatformError {
  /** This refusal after the last restart of a run: the request was right, and a later run gets other cursors. */
  afterRestarts(): CursorRefusedError {
    const { found, status, code } = this;
    return new CursorRefusedError(found, { status, code, cause: this, next: waitForPlatform });
  }
}

/**
 * Follows cursors to the last page, up to `maxPages`. `ask` fetches one page, numbered from 1, with the cursor that
 * leads to it.
 * \n Throws RefusedAnswerError for a chain that cannot end (a repeated cursor or page; more pages, but no cursor; a
 * cursor too long for a URL; endless empty pages; too many pages), and CursorRefusedError if a request with a cursor
 * got a final 4xx other than 401, 402 and 403: the status of a dead cursor is not documented (7.4).
 */
export async function* pages<P extends Page>(
  about: string,
  maxPages: number,
  ask: (page: number, cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, undefined> {
  const { maxCursorLength, maxEmptyPages } = answerLimits;
  // As hashes, so that long cursors and pages do not fill memory.
  const seen = new Set<string>();
  const seenPages = new Set<string>();
  let empty = 0;
  let cursor: string | undefined;
  for (let number = 1; ; number += 1) {
    let page: P;
    try {
      page = await ask(number, cursor);
    } catch (error) {
      if (cursor !== undefined && error instanceof PlatformError && !error.retryable && isCursorRefusal(error.status)) {
        throw new CursorRefusedError(error.found, {
          ...{ status: error.status, code: error.code, cause: error, next: error.next },
        });
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
      throw new RefusedAnswerError(`${about}: found more than ${maxPages} pages, expected fewer`);
    }
    empty = page.keys.length === 0 ? empty + 1 : 0;
    if (empty > maxEmptyPages) {
      throw new RefusedAnswerError(`${about}, page ${number}: found ${empty} empty pages in a row, expected fewer`);
    }
    const content = page.keys.length === 0 ? undefined : hashOf(JSON.stringify(page.keys));
    if (content !== undefined && seenPages.has(content)) {
      throw new RefusedAnswerError(
        `${about}, page ${number}: the same ${page.keys.length} entries came before under another cursor; the pages form a loop`,
      );
    }
    if (content !== undefined) seenPages.add(content);
    const hash = hashOf(page.nextCursor);
    if (seen.has(hash)) {
      throw new RefusedAnswerError(
        `${about}, page ${number}: meta.nextCursor is a repeated cursor; the pages form a loop`,
      );
    }
    seen.add(hash);
    cursor = page.nextCursor;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function isCursorRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 402, 403, 408, 429].includes(status);
}
