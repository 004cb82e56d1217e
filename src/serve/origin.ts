/** What of a request says from which page, and by which scheme, it was sent. */
export interface RequestOrigin {
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  /** X-Forwarded-Proto: each proxy appends what it saw, so that the first value is what the browser used. */
  readonly forwardedProto: string | undefined;
}

/**
 * Whether a page of another site sent a form. Browsers name the site of the page only at https and on this machine; at
 * other addresses they send its origin alone. It is `null` for sandboxed frames, and for pages that hide where they are.
 * `own` are the names of this server: a proxy may replace the one that the browser used.
 */
export function isForeign({ fetchSite, origin, host }: RequestOrigin, own: ReadonlySet<string>): boolean {
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none';
  if (origin === undefined) return false; // no browser: those send it with every form
  if (!URL.canParse(origin)) return true;
  const page = new URL(origin).host;
  return page !== host && !own.has(page);
}

/** Whether the browser reaches this server by https; `address` is where people open it, if it is known. */
export function isEncrypted({ origin, host, forwardedProto }: RequestOrigin, address: string | undefined): boolean {
  if (origin !== undefined && URL.canParse(origin)) return new URL(origin).protocol === 'https:';
  if (forwardedProto !== undefined) return forwardedProto.split(',')[0]?.trim().toLowerCase() === 'https';
  const { protocol, host: name } = new URL(address ?? 'http://localhost');
  return protocol === 'https:' && name === host;
}
