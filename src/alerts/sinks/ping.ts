import { post } from './post.ts';

/** A word to somebody who watches whether runs come and end well. */
export interface PingAsked {
  readonly url: string;
  readonly allowPrivateNetwork: boolean;
  /** Sent as JSON: no secret, no number of the books. */
  readonly body: Readonly<Record<string, string | number | null>>;
}

/** Sends a ping once, as alerts are sent. Returns why it was not taken, in words without the address; undefined where it was. */
export async function sendPing({ url, allowPrivateNetwork, body }: PingAsked): Promise<string | undefined> {
  // A run that was ended by a signal is one of which somebody should hear: it has a limit of its own.
  const { signal } = new AbortController();
  const attempt = await post({ url, allowPrivateNetwork, headers: {}, body: JSON.stringify(body), signal });
  return attempt.outcome === 'delivered' ? undefined : attempt.reason;
}
