import type { Markup } from './markup.ts';

/** The path of the address at which people open the dashboard, without `/` at its end: `/costs`, or nothing. */
export function pathOf(dashboardUrl: string | undefined): string {
  return dashboardUrl === undefined ? '' : new URL(dashboardUrl).pathname.replace(/\/+$/, '');
}

/** The path of a request as pages know it: a proxy may leave the path of the dashboard before it, or not. */
export function pathBelow(base: string, url: string): string {
  const { pathname } = new URL(url);
  return base !== '' && `${pathname}/`.startsWith(`${base}/`) ? pathname.slice(base.length) || '/' : pathname;
}

/**
 * A page whose links to this server are below a path. Texts in it have no quote that is not escaped, so only attributes of our
 * own templates match.
 */
export async function linkedBelow(base: string, page: Markup): Promise<string> {
  const text = String(await page);
  return base === '' ? text : text.replaceAll(/ (href|src|action|formaction|data-charts)="\/(?!\/)/g, ` $1="${base}/`);
}

/** Longer addresses do not fit into a cookie. */
const maxToLength = 1500;

/** A page of this server that a request names as the one to go to: path and query. The start page instead of any other address. */
export function ownPage(given: unknown): string {
  if (typeof given !== 'string' || !given.startsWith('/')) return '/';
  const here = 'http://here.invalid';
  const url = URL.canParse(given, here) ? new URL(given, here) : undefined;
  // A browser takes `//name` and `/\name` for another server.
  const page = `${url?.pathname}${url?.search}`;
  return url?.origin === here && !page.startsWith('//') && page.length <= maxToLength ? page : '/';
}
