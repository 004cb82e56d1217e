import type { Log } from '../../base/effects.ts';
import type { ActingSettings } from '../../config/index.ts';
import type { Client } from '../../platform/index.ts';
import type { OutgoingMessage } from '../message.ts';

/** The outcome of one attempt to send a message. */
export type Attempt =
  | {
      readonly outcome: 'delivered';
      /** What people should know although it was delivered. */
      readonly reason?: string | undefined;
      /** What an agent, job or model answered: untrusted text of bounded length. */
      readonly answer?: string | undefined;
    }
  | {
      /** refused: the sink certainly did not accept it. unknown: it may have, but no answer came. */
      readonly outcome: 'refused' | 'unknown';
      /** For people, without secrets: neither the address nor the answer of the sink. */
      readonly reason: string;
      /** Whether another attempt in this run may help. */
      readonly isPassing: boolean;
      /** How long the sink asked to wait. */
      readonly retryAfterMs?: number | undefined;
    };

/** What a sink needs from outside. */
export interface SinkEffects {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The client of a sink that calls the platform. Throws UsageError if its account has no address or token. */
  readonly clientOf?: ((settings: ActingSettings) => Client) | undefined;
}

/** Sends a message once. Throws only the signal's reason. */
export type SendMessage = (message: OutgoingMessage) => Promise<Attempt>;
