import type { Log } from '../../effects.ts';
import type { OutgoingMessage } from '../message.ts';

/** What came of one try at telling a sink. */
export type Attempt =
  | { readonly outcome: 'delivered'; readonly reason?: string | undefined }
  | {
      /** refused: the sink certainly did not take it. unknown: it may have, and its answer did not come. */
      readonly outcome: 'refused' | 'unknown';
      /** For a person, and without any secret: neither address nor answer of the sink. */
      readonly reason: string;
      /** Whether trying again within the run may help. */
      readonly isPassing: boolean;
      /** What the sink asked to wait. */
      readonly retryAfterMs?: number | undefined;
    };

/** What a sink needs of the outside world. Times are real: a receiver's clock is. */
export interface SinkEffects {
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Tells one message once. Throws only the signal's reason. */
export type SendMessage = (message: OutgoingMessage) => Promise<Attempt>;
