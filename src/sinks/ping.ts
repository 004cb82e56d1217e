import { post } from './post.ts';

/** A ping to a service that watches whether runs start and succeed. */
export interface PingAsked {
  readonly url: string;
  readonly allowPrivateNetwork: boolean;
  /** Sent as JSON: no secrets and no costs. */
  readonly body: Readonly<Record<string, string | number | null>>;
}

/** Sends a ping once. Returns why it failed, without the address, or undefined on success. */
export async function sendPing({ url, allowPrivateNetwork, body }: PingAsked): Promise<string | undefined> {
  // Not the run's signal: a run that a signal ended must still be reported. `post` has its own time limit.
  const { signal } = new AbortController();
  const attempt = await post({ url, allowPrivateNetwork, headers: {}, body: JSON.stringify(body), signal });
  return attempt.outcome === 'delivered' ? undefined : attempt.reason;
}
