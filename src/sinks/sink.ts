import type { Log } from '../base/effects.ts';
import type { options } from '../options/table.ts';
import type { Client } from '../platform/index.ts';
import type { Shape } from '../yaml/index.ts';
import type { ActingSettings } from './acting-settings.ts';
import type { OutgoingMessage } from './message.ts';
import type { Place } from './reach.ts';

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
      /** Whether no later run may send it either. */
      readonly isOver?: true;
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

/** html: a page that opens by itself. json: what the sink receives. eml: the whole mail. */
export type PreviewFormat = (typeof options.alerts.format.choices)[number];

/** Makes what a sink would receive: JSON as data, other formats as they are. */
type Preview<S> = (message: OutgoingMessage, settings: S, log: Pick<Log, 'warn'>) => unknown;

/**
 * A type of sink: everything that Costbook knows of it. Every command reads the configuration, so what sends is loaded
 * with the first message.
 */
export interface SinkType<S> {
  /**
   * people: they read its alerts and summaries. incidents: each alert opens one, and its end closes it. platform: it calls
   * the platform, which costs money. writer: it writes for others, and alerts cannot name it.
   */
  readonly role: 'people' | 'incidents' | 'platform' | 'writer';
  /** What its settings in costbook.yaml may have. */
  shape(): Shape<S>;
  /** The settings that no output may show, in every form that gives access. */
  secrets(settings: S): readonly string[];
  /** The keys of those settings. */
  readonly secretKeys?: readonly string[];
  /** Where it is; left out if nothing can be tried without a message. */
  place?(settings: S): Place;
  /** Whether its messages have pictures. */
  showsPictures?(settings: S): boolean;
  /** Opens it, without sending anything. */
  open(settings: S, effects: SinkEffects): SendMessage;
  /** What it would receive, by format, the usual one first. */
  readonly previews: Readonly<Partial<Record<PreviewFormat, Preview<S>>>>;
}

/** A sink that is loaded with its first message. */
export function opening(open: () => Promise<SendMessage>): SendMessage {
  return async (message) => (await open())(message);
}
