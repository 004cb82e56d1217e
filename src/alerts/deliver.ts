import { setMaxListeners } from 'node:events';
import { parseStored } from '../base/former-formats.ts';
import type { Attempt, Message, OutgoingMessage, SendMessage } from '../sinks/index.ts';
import { dayMs, type Instant } from '../time/time.ts';
import { answerPrefix, type DeliveryEnd, type PendingMessage, type StoredAnswer } from '../warehouse/watch/index.ts';
import { withAnswers } from './message.ts';

/** Attempts per message and run. */
const maxTries = 4;
const baseDelayMs = 500;
/** If a sink asks for a longer wait, a later run delivers. */
const maxRetryAfterMs = 30_000;

/** Stores pending messages and their outcomes. */
export interface Outbox {
  pendingMessages(gapDays: number): Promise<PendingMessage[]>;
  deliveryBegan(number: number, runNumber: number, now: Instant): Promise<void>;
  deliveryEnded(delivery: DeliveryEnd, now: Instant): Promise<void>;
  /** What agents and models answered to messages that were queued at an instant or later. */
  answersSince(since: Instant): Promise<readonly StoredAnswer[]>;
}

/** The rules of a sink that calls the platform: an agent, a job, or a model. */
export interface ActingRules {
  /** A model only adds to messages of others: if it fails, its message is given up, and the exit code stays the same. */
  readonly isModel: boolean;
  /** Whether it runs the command of a threshold here, and calls no platform. */
  readonly isCommand?: true;
  /** The sinks that show its answers, and wait for them. */
  readonly answersTo: readonly string[];
  /** How long they wait. */
  readonly timeLimitMs: number;
}

export interface Delivering {
  readonly outbox: Outbox;
  readonly runNumber: number;
  /** Undefined for a sink with mistakes, and if there are no sinks; `removed` if there are others only. */
  tellOf(sink: string): SendMessage | 'removed' | undefined;
  /** The rules of the configured sinks that call the platform, by name. Their messages are sent once. */
  readonly acting: ReadonlyMap<string, ActingRules>;
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
  /** Whether the sink may have received it, without an answer that says so. */
  readonly isUnknown?: boolean;
  /** Whether the configuration no longer has its sink. */
  readonly isRemoved?: boolean;
  /** Set if the sink calls the platform. */
  readonly acting?: ActingRules | undefined;
}

/**
 * Sends the pending messages: in order within a sink, all sinks in parallel. A sink that shows the answers of another one
 * waits for them, within that one's time limit. The outbox records each attempt before and after it, so that after a kill
 * the message is marked as a possible repeat. If a message fails, the sink gets no later message in this run, unless the
 * failed one is given up. Throws the signal's reason.
 */
export async function deliver(delivering: Delivering): Promise<Delivery[]> {
  const pending = await delivering.outbox.pendingMessages(delivering.giveUpDays);
  const sinks = [...new Set(pending.map(({ sink }) => sink))];
  const started = new Map<string, Promise<Delivery[]>>();
  setMaxListeners(0, delivering.signal); // each sink that waits listens
  /** Starts with a sink, once. Sinks that answer wait for no other. */
  function start(sink: string): Promise<Delivery[]> {
    const known = started.get(sink);
    if (known !== undefined) return known;
    const answering = sinks.filter((other) => delivering.acting.get(other)?.answersTo.includes(sink) === true);
    const begun = (async () => {
      await settledWithin(answering, start, delivering);
      return deliverTo(
        sink,
        pending.filter((message) => message.sink === sink),
        delivering,
      );
    })();
    started.set(sink, begun);
    return begun;
  }
  const results = await Promise.allSettled(sinks.map(start));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const deliveries = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  return deliveries.sort((a, b) => a.message.number - b.message.number);
}

/** Resolves when the sinks have answered or failed, or when the longest of their time limits is over. */
async function settledWithin(
  answering: readonly string[],
  start: (sink: string) => Promise<unknown>,
  { acting, sleep, signal }: Delivering,
): Promise<void> {
  if (answering.length === 0) return;
  const limitMs = Math.max(...answering.map((sink) => acting.get(sink)?.timeLimitMs ?? 0));
  const enough = new AbortController();
  const limit = sleep(limitMs, AbortSignal.any([signal, enough.signal])).catch(() => undefined);
  await Promise.race([Promise.allSettled(answering.map(start)), limit]);
  enough.abort();
  signal.throwIfAborted();
}

async function deliverTo(
  sink: string,
  messages: readonly PendingMessage[],
  delivering: Delivering,
): Promise<Delivery[]> {
  const { outbox, runNumber } = delivering;
  const acting = delivering.acting.get(sink);
  const answers = await answersFor(sink, messages, delivering);
  const deliveries: Delivery[] = [];
  let isBlocked = false;
  let hasFailed = false;
  for (const message of messages) {
    if (isBlocked) {
      deliveries.push({ message, outcome: 'postponed', tries: 0, reason: undefined, acting });
      continue;
    }
    await outbox.deliveryBegan(message.number, runNumber, delivering.now());
    // A sink that already failed in this run gets a single attempt.
    const { attempt, tries } = await send(message, hasFailed ? 1 : maxTries, answers, delivering);
    const isDead = isGivenUp(attempt, message, acting, delivering);
    const reason = attempt.outcome === 'delivered' ? receiptOf(attempt) : attempt.reason;
    await outbox.deliveryEnded(
      { number: message.number, runNumber, tries, outcome: attempt.outcome, reason, isDead },
      delivering.now(),
    );
    const outcome = attempt.outcome === 'delivered' ? 'delivered' : isDead ? 'dead' : 'failed';
    deliveries.push({
      message,
      outcome,
      tries,
      reason: attempt.reason,
      isUnknown: attempt.outcome === 'unknown',
      isRemoved: delivering.tellOf(sink) === 'removed',
      acting,
    });
    hasFailed ||= outcome !== 'delivered';
    // The platform may be slow: its later messages wait for the next run, so that this one ends in time.
    isBlocked = outcome === 'failed' || (acting !== undefined && outcome === 'dead' && tries > 0);
  }
  return deliveries;
}

/** What is stored of a delivered message: the answer, or what people should know. */
function receiptOf({ answer, reason }: Extract<Attempt, { outcome: 'delivered' }>): string | undefined {
  return answer === undefined || answer === '' ? reason : `${answerPrefix}${answer}`;
}

/** Whether a failed message is never sent again. */
function isGivenUp(
  attempt: Attempt,
  { queuedAt, tried, sink }: PendingMessage,
  acting: ActingRules | undefined,
  { giveUpDays, now, tellOf }: Delivering,
): boolean {
  if (attempt.outcome === 'delivered') return false;
  if (attempt.isOver === true) return true;
  // Nothing can deliver it any more, and every night until it is given up would fail.
  if (tellOf(sink) === 'removed') return true;
  // The platform may have done it; and a paragraph of a model comes too late in the next run.
  if (acting !== undefined && (attempt.outcome === 'unknown' || acting.isModel)) return true;
  // After a longer gap, the clock may have jumped: the days of attempts by one clock count.
  const isOld = (since: Instant) => now() >= since + giveUpDays * dayMs;
  return tried !== undefined && isOld(queuedAt) && isOld(tried.since) && !isOld(tried.last);
}

/** The answers that messages to a sink show. */
async function answersFor(
  sink: string,
  messages: readonly PendingMessage[],
  { acting, outbox }: Delivering,
): Promise<readonly StoredAnswer[]> {
  const answering = [...acting].flatMap(([name, { answersTo }]) => (answersTo.includes(sink) ? [name] : []));
  if (answering.length === 0 || messages.length === 0) return [];
  const since = Math.min(...messages.map(({ queuedAt }) => queuedAt));
  const stored = await outbox.answersSince(since);
  return stored.filter((answer) => answering.includes(answer.sink));
}

async function send(
  message: PendingMessage,
  triesAllowed: number,
  answers: readonly StoredAnswer[],
  { tellOf, acting, random, sleep, signal }: Delivering,
): Promise<{ attempt: Attempt; tries: number }> {
  const sendToSink = tellOf(message.sink);
  if (sendToSink === undefined || sendToSink === 'removed') {
    const reason =
      sendToSink === 'removed'
        ? 'costbook.yaml no longer has this sink'
        : 'costbook.yaml no longer has this sink, or mistakes in it: correct it, or wait until Costbook gives the message up';
    return { attempt: { outcome: 'refused', reason, isPassing: false }, tries: 0 };
  }
  const isOnce = acting.has(message.sink);
  let { mayBeRepeat } = message;
  if (isOnce && mayBeRepeat) {
    const reason = 'an earlier run may have sent it, and its receipt is missing';
    return { attempt: { outcome: 'unknown', reason, isPassing: false }, tries: 0 };
  }
  for (let tries = 1; ; tries += 1) {
    const attempt = await sendToSink(outgoing(message, mayBeRepeat, answers, acting));
    if (attempt.outcome === 'delivered') return { attempt, tries };
    mayBeRepeat ||= attempt.outcome === 'unknown';
    const delayMs = isOnce && mayBeRepeat ? undefined : retryDelayMs(attempt, tries, random);
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
  const { retryAfterMs = 0 } = attempt;
  // A sink that says "at once" to everybody gets no burst.
  if (retryAfterMs > 0) return retryAfterMs <= maxRetryAfterMs ? retryAfterMs : undefined;
  return baseDelayMs * 2 ** (tries - 1) * (0.5 + random() / 2);
}

function outgoing(
  { id, message, queuedAt, summary }: PendingMessage,
  mayBeRepeat: boolean,
  answers: readonly StoredAnswer[],
  acting: Delivering['acting'],
): OutgoingMessage {
  const own = answers
    .filter((answer) => answer.queuedAt === queuedAt && answer.summary === summary)
    .map((answer) => ({ ...answer, isOpening: acting.get(answer.sink)?.isModel === true }));
  return withAnswers({ ...parseStored<Message>(message), id, mayBeRepeat, isTest: false }, own);
}
