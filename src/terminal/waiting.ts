/** A request that was sent and has no complete answer yet. */
interface Waiting {
  readonly request: string;
  readonly since: number;
}

/** Pending requests, and since when they wait. */
export interface WaitingRequests {
  /** Tracks a request until it is answered or fails. */
  during<T>(request: { readonly method: string; readonly url: string }, answer: Promise<T>): Promise<T>;
  /** The longest-waiting request: `api.example.com:443 for 42 s: GET /v0/accounts`; undefined if none waits that long. */
  longest(leastMs?: number): string | undefined;
}

/** `elapsed` is real time in milliseconds. */
export function openWaitingRequests(elapsed: () => number): WaitingRequests {
  const waiting = new Set<Waiting>();
  return {
    async during({ method, url }, answer) {
      const { hostname, port, protocol, pathname, search } = new URL(url);
      const host = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
      const entry = { request: `${host}|${method} ${pathname}${search}`, since: elapsed() };
      waiting.add(entry);
      try {
        return await answer;
      } finally {
        waiting.delete(entry);
      }
    },
    longest(leastMs = 0) {
      const [oldest] = [...waiting].sort((a, b) => a.since - b.since);
      if (oldest === undefined) return undefined;
      const ms = elapsed() - oldest.since;
      const [host = '', request = ''] = oldest.request.split('|');
      return ms < leastMs ? undefined : `${host} for ${Math.floor(ms / 1000)} s: ${request}`;
    },
  };
}
