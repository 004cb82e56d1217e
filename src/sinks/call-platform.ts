import { CostbookError, messageOf, PlatformError } from '../base/errors.ts';
import { faultAndStep } from '../base/failure.ts';
import { asClause, sinkNameStep, stepSentence } from '../base/next-step.ts';
import { type Call, callStreamed, isCertainlyNotDone } from '../platform/index.ts';
import type { ActingSettings } from './acting-settings.ts';
import type { Attempt, SinkEffects } from './sink.ts';

/** More of an answer is not read: no answer that people read is that long. */
const maxAnswerBytes = 256 * 1024;

/** What the platform answered: its text, perhaps cut. */
export interface Answered {
  readonly text: string;
  /** Whether the text is only the start of the answer. */
  readonly isCut: boolean;
}

/**
 * Sends one call of a sink, once, within its time limit. Returns the answer, or the outcome if there is none: refused
 * only if the platform certainly did nothing. An answer that breaks off counts, because the platform did its work.
 * Throws only the signal's reason.
 */
export async function callPlatform(
  call: Call,
  settings: ActingSettings,
  { clientOf, signal }: SinkEffects,
): Promise<Answered | Exclude<Attempt, { outcome: 'delivered' }>> {
  if (clientOf === undefined) throw new TypeError(`a sink of type ${settings.type} needs a client`);
  const pieces: Buffer[] = [];
  let length = 0;
  let hasAnswer = false;
  const enough = new AbortController();
  try {
    await callStreamed(
      clientOf(settings),
      call,
      async (piece) => {
        hasAnswer = true;
        pieces.push(piece.subarray(0, Math.max(0, maxAnswerBytes - length)));
        length += piece.length;
        if (length > maxAnswerBytes) enough.abort(new Error('the answer is long enough'));
      },
      AbortSignal.any([signal, enough.signal]),
    );
    return { text: Buffer.concat(pieces).toString('utf8'), isCut: false };
  } catch (error) {
    signal.throwIfAborted();
    if (hasAnswer) return { text: Buffer.concat(pieces).toString('utf8'), isCut: true };
    return outcomeOf(error);
  }
}

/** What failed, and what to do if a person must act. */
function reasonOf(error: PlatformError): string {
  const { found, next } = faultAndStep(error);
  const step = error.status === 404 ? sinkNameStep : next;
  const words = step?.who === 'Act' ? `${found} ${stepSentence(step)}` : found;
  return asClause(words);
}

/** What a failed call means for its message. A mistake in the configuration is found before anything is sent. */
function outcomeOf(error: unknown): Exclude<Attempt, { outcome: 'delivered' }> {
  if (error instanceof PlatformError) {
    // A token that the platform refuses starts nothing either.
    const isUndone = isCertainlyNotDone(error) || error.status === 401;
    return {
      outcome: isUndone ? 'refused' : 'unknown',
      reason: reasonOf(error),
      isPassing: error.retryable,
      retryAfterMs: error.retryAfterMs,
    };
  }
  if (!(error instanceof CostbookError)) throw error;
  return { outcome: 'refused', reason: messageOf(error), isPassing: false };
}

/** What a call sends: the values of its path and headers, and its body. */
export function callAsJson({ operation, values, sending }: Call): object {
  return { operation: operation.name, values, body: JSON.parse(sending?.body ?? 'null') };
}
