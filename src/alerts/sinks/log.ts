import { amountOf, cardOf, type OutgoingMessage, subjectOf } from '../message.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

/** The program's own log: one line for each alert, with its amount and the next step. */
export function openLog({ log }: SinkEffects): SendMessage {
  return async (message) => {
    for (const [event, fields] of logLines(message)) log.warn(event, fields);
    return { outcome: 'delivered' };
  };
}

/** What is logged of a message: an event and its fields for each alert. Pure. */
export function logLines(message: OutgoingMessage): readonly (readonly [string, Record<string, unknown>])[] {
  const { id, mayBeRepeat, isTest, summary, origin } = message;
  const marks = { ...origin, ...(mayBeRepeat ? { mayBeRepeat } : {}), ...(isTest ? { isTest } : {}) };
  if (summary !== null) return [[subjectOf(message), { message: id, ...marks, text: summary.text }]];
  return message.entries.map((entry) => {
    const { icon, title, next, sentences } = cardOf(entry);
    const { key, transition, fact } = entry;
    const { severity, completeThrough } = fact;
    const details = sentences.length === 0 ? undefined : sentences.join(' ');
    return [
      `alert: ${icon} ${title}`,
      { next, amount: amountOf(fact), details, key, transition, severity, completeThrough, message: id, ...marks },
    ];
  });
}
