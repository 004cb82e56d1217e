import { cardOf, type OutgoingMessage, subjectOf } from '../message.ts';
import type { SinkEffects, Tell } from './sink.ts';

/** The program's own log: a line an alert. */
export function openLog({ log }: SinkEffects): Tell {
  return async (message) => {
    for (const [event, fields] of logLines(message)) log.warn(event, fields);
    return { outcome: 'delivered' };
  };
}

/** What is logged of a message: an event and its fields for each alert. Pure. */
export function logLines(message: OutgoingMessage): readonly (readonly [string, Record<string, unknown>])[] {
  const { id, mayBeRepeat, isTest, digest, origin } = message;
  const marks = { ...origin, ...(mayBeRepeat ? { mayBeRepeat } : {}), ...(isTest ? { isTest } : {}) };
  if (digest !== null) return [[subjectOf(message), { message: id, ...marks, text: digest.text }]];
  return message.entries.map((entry) => {
    const { icon, title, next } = cardOf(entry);
    const { key, transition, fact } = entry;
    return [
      `alert: ${icon} ${title}`,
      { key, transition, severity: fact.severity, next, completeThrough: fact.completeThrough, message: id, ...marks },
    ];
  });
}
