import type { Instant } from '../time.ts';
import type { DeliveryEnd, PendingMessage } from '../warehouse/index.ts';
import type { Message, OutgoingMessage } from './message.ts';
import type { Attempt, SendMessage } from './sinks/sink.ts';

/** Attempts per message and run. */
const maxTries = 4;
const baseDelayMs = 500;
/** If a sink asks for a longer wait, a later run delivers. */
const maxRetryAfterMs = 30_000;
const dayMs = 86_400_000;

/** Stores pending messages and their outcomes. */
export interface Outbox {
  pendingMessages(): Promise<PendingMessage[]>;
  deliveryBegan(number: number, runNumber: number, now: Instant): Promise<void>;
  deliveryEnded(delivery: DeliveryEnd, now: Instant): Promise<void>;
}

export interface Delivering {
  readonly outbox: Outbox;
  readonly runNumber: number;
  /** Undefined for a sink that the configuration does not have. */
  tellOf(sink: string): SendMessage | undefined;
  readonly giveUpDays: number;
  now(): Instant;
  random(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  readonly signal: AbortSignal;
}

/** The outcome of a message in a run. */
export interface Delivery {
  readonly message: PendingMessage;
  /** postponed: an earlier message failed, and messages stay in order. */
  readonly outcome: 'delivered' | 'failed' | 'dead' | 'postponed';
  readonly tries: number;
  readonly reason: string | undefined;
}

/**
 * Sends the pending messages: in order within a sink, all sinks in parallel. The outbox records each attempt before and
 * after it, so that after a kill the message is marked as a possible repeat. If a message fails, the sink gets no later
 * message in this run, unless the failed one is given up. Throws the signal's reason.
 */
export async function deliver(delivering: Delivering): Promise<Delivery[]> {
  const pending = await delivering.outbox.pendingMessages();
  const sinks = [...new Set(pending.map(({ sink }) => sink))];
  const results = await Promise.allSettled(
    sinks.map((sink) =>
      deliverTo(
        pending.filter((message) => message.sink === sink),
        delivering,
      ),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const deliveries = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  return deliveries.sort((a, b) => a.message.number - b.message.number);
}

async function deliverTo(messages: readonly PendingMessage[], delivering: Delivering): Promise<Delivery[]> {
  const { outbox, runNumber, giveUpDays } = delivering;
  const deliveries: Delivery[] = [];
  let isBlocked = false;
  let hasFailed = false;
  for (const message of messages) {
    if (isBlocked) {
      deliveries.push({ message, outcome: 'postponed', tries: 0, reason: undefined });
      continue;
    }
    await outbox.deliveryBegan(message.number, runNumber, delivering.now());
    // A sink that already failed in this run gets a single attempt.
    const { attempt, tries } = await send(message, hasFailed ? 1 : maxTries, delivering);
    const isDead = attempt.outcome !== 'delivered' && delivering.now() >= message.queuedAt + giveUpDays * dayMs;
    await outbox.deliveryEnded(
      { number: message.number, runNumber, tries, outcome: attempt.outcome, reason: attempt.reason, isDead },
      delivering.now(),
    );
    const outcome = attempt.outcome === 'delivered' ? 'delivered' : isDead ? 'dead' : 'failed';
    deliveries.push({ message, outcome, tries, reason: attempt.reason });
    hasFailed ||= outcome !== 'delivered';
    isBlocked = outcome === 'failed';
  }
  return deliveries;
}

async function send(
  message: PendingMessage,
  triesAllowed: number,
  { tellOf, random, sleep, signal }: Delivering,
): Promise<{ attempt: Attempt; tries: number }> {
  const sendToSink = tellOf(message.sink);
  if (sendToSink === undefined) {
    const reason = 'costbook.yaml no longer has this sink: add it again, or wait until Costbook gives the message up';
    return { attempt: { outcome: 'refused', reason, isPassing: false }, tries: 0 };
  }
  let { mayBeRepeat } = message;
  for (let tries = 1; ; tries += 1) {
    const attempt = await sendToSink(outgoing(message, mayBeRepeat));
    if (attempt.outcome === 'delivered') return { attempt, tries };
    mayBeRepeat ||= attempt.outcome === 'unknown';
    const delayMs = retryDelayMs(attempt, tries, random);
    if (tries >= triesAllowed || delayMs === undefined) {
      // An earlier attempt may have been received.
      return { attempt: mayBeRepeat ? { ...attempt, outcome: 'unknown' } : attempt, tries };
    }
    await sleep(delayMs, signal);
  }
}

/** Milliseconds before the next attempt; undefined if none in this run can help. Pure. */
export function retryDelayMs(
  attempt: Exclude<Attempt, { outcome: 'delivered' }>,
  tries: number,
  random: () => number,
): number | undefined {
  if (!attempt.isPassing) return undefined;
  const { retryAfterMs } = attempt;
  if (retryAfterMs !== undefined) return retryAfterMs <= maxRetryAfterMs ? retryAfterMs : undefined;
  return baseDelayMs * 2 ** (tries - 1) * (0.5 + random() / 2);
}

function outgoing({ id, message }: PendingMessage, mayBeRepeat: boolean): OutgoingMessage {
  return { ...(JSON.parse(message) as Message), id, mayBeRepeat, isTest: false };
}
