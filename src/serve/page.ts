import type { AddressPart } from '../text/dashboard-address.ts';
import type { BooksView } from './books/index.ts';
import type { Markup } from './markup.ts';
import type { PagePath } from './menu.ts';
import type { Project } from './project.ts';

/** A page's content; the frame around it is the same everywhere. */
export interface Page {
  /** Its entry of the menu; undefined if it has none. */
  readonly path: PagePath | undefined;
  readonly title: string;
  /** What a page with a name of its own shows. */
  readonly about?: string;
  readonly body: Markup;
  /** 200 by default. */
  readonly status?: 200 | 400 | 404 | 500 | 503;
}

/** What a page is made from. */
export interface PageRequest {
  readonly view: BooksView;
  readonly query: URLSearchParams;
  /** What follows the page's own path: `/budgets/everything` has `everything`. */
  readonly parts: readonly AddressPart[];
  readonly project: Project;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** When this browser looked before; undefined for the first time. */
  readonly lookedAt?: number | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** A file made from a page's question. */
export interface Download {
  readonly name: string;
  readonly type: string;
  readonly body: string | Uint8Array;
}
