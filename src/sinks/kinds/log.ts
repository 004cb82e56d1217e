import { type OutgoingMessage, subjectOf } from '../message.ts';
import { sinkMapping } from '../settings.ts';
import type { SinkType } from '../sink.ts';

/** Writes to Costbook's log: one line per alert, with its amount and next step. */
export interface LogSettings {
  readonly type: 'log';
}

export const log: SinkType<LogSettings> = {
  role: 'people',
  shape: () => sinkMapping('log', {}),
  secrets: () => [],
  open: (_, effects) => async (message) => {
    for (const { event, title, fields } of logLines(message)) effects.log.warn(event, title, fields);
    return { outcome: 'delivered' };
  },
  previews: { json: logLines },
};

/** A log line. */
interface LogLine {
  /** `alert.raised`, `alert.resolved` … or `summary.sent`. */
  readonly event: string;
  readonly title: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The log lines of a message: one per alert, or one for a summary. Pure. */
export function logLines(message: OutgoingMessage): readonly LogLine[] {
  const { id, mayBeRepeat, isTest, summary, origin } = message;
  const marks = { ...origin, ...(mayBeRepeat ? { mayBeRepeat } : {}), ...(isTest ? { isTest } : {}) };
  if (summary !== null) {
    const { opening, text, answers } = summary;
    return [
      { event: 'summary.sent', title: subjectOf(message), fields: { messageId: id, ...marks, opening, text, answers } },
    ];
  }
  return message.entries.map((entry) => {
    const { key, transition, fact, answers, amount } = entry;
    const { icon, title, next, sentences } = entry.card;
    const { severity, completeThrough } = fact;
    const details = sentences.length === 0 ? undefined : sentences.join(' ');
    const about = {
      next,
      amount,
      details,
      key,
      transition,
      severity,
      completeThrough,
    };
    return {
      event: `alert.${transition}`,
      title: `alert: ${icon} ${title}`,
      fields: { ...about, messageId: id, ...marks, ...(answers === undefined ? {} : { answers }) },
    };
  });
}
