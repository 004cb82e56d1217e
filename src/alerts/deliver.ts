import type { Instant } from '../time.ts';
import type { DeliveryEnd, PendingMessage } from '../warehouse/index.ts';
import type { Message, OutgoingMessage } from './message.ts';
import type { Attempt, SendMessage } from './sinks/sink.ts';

/** Tries at one message in one run. */
const maxTries = 4;
const baseDelayMs = 500;
/** A sink that asks to wait longer is told by a later run. */
const maxRetryAfterMs = 30_000;
const dayMs = 86_400_000;

/** Where messages wait and receipts are kept. */
export interface Outbox {
  pendingMessages(): Promise<PendingMessage[]>;
  deliveryBegan(number: number, runNumber: number, now: Instant): Promise<void>;
  deliveryEnded(delivery: DeliveryEnd, now: Instant): Promise<void>;
}

export interface Delivering {
  readonly outbox: Outbox;
  readonly runNumber: number;
  /** Undefined for a sink that the configuration does not have (any more). */
  tellOf(sink: string): SendMessage | undefined;
  readonly giveUpDays: number;
  now(): Instant;
  random(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  readonly signal: AbortSignal;
}

/** What came of a message in a run. */
export interface Delivery {
  readonly message: PendingMessage;
  /** postponed: a message before it was not taken, and the order is kept. */
  readonly outcome: 'delivered' | 'failed' | 'dead' | 'postponed';
  readonly tries: number;
  readonly reason: string | undefined;
}

/**
 * Tells every sink its pending messages, each sink in their order and all sinks at the same time. Each attempt is
 * written down before and after: whoever is killed in between leaves a message that says it may be a repeat. A sink that
 * does not take a message is told no later one in this run, unless the message is given up. Throws the signal's reason.
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
    // A sink that took none before it is asked once: it need not be waited for again.
    const { attempt, tries } = await tell(message, hasFailed ? 1 : maxTries, delivering);
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

async function tell(
  message: PendingMessage,
  triesAllowed: number,
  { tellOf, random, sleep, signal }: Delivering,
): Promise<{ attempt: Attempt; tries: number }> {
  const sink = tellOf(message.sink);
  if (sink === undefined) {
    const reason = 'costbook.yaml has no such sink any more: write it there again, or let the message be given up';
    return { attempt: { outcome: 'refused', reason, isPassing: false }, tries: 0 };
  }
  let { mayBeRepeat } = message;
  for (let tries = 1; ; tries += 1) {
    const attempt = await sink(outgoing(message, mayBeRepeat));
    if (attempt.outcome === 'delivered') return { attempt, tries };
    mayBeRepeat ||= attempt.outcome === 'unknown';
    const delayMs = retryDelayMs(attempt, tries, random);
    if (tries >= triesAllowed || delayMs === undefined) {
      // Whatever the last try was: one of them may have been taken.
      return { attempt: mayBeRepeat ? { ...attempt, outcome: 'unknown' } : attempt, tries };
    }
    await sleep(delayMs, signal);
  }
}

/** Milliseconds before the next try; undefined where another one in this run does not help. Pure. */
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
