import type { LocalConfig } from '../config/index.ts';
import type { AlertEntry } from '../findings/index.ts';
import type { Instant } from '../time/time.ts';
import { type Delivery, deliver } from './deliver.ts';
import { type Message, messagesOf } from './message.ts';
import { type AlertingContext, openSinks, originOf } from './notify.ts';

/** An alert that is sent although the books cannot store it. */
export interface UnstoredMessage {
  readonly entry: AlertEntry;
  readonly sinks: readonly string[];
  readonly state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough'>;
  readonly queuedAt: Instant;
  /** Whether an earlier run may have delivered it to the sink. */
  mayBeRepeat(sink: string): boolean;
}

/** Delivers an alert without outbox and receipts. Every attempt has the same message id. */
export function deliverWithoutBooks(
  { entry, sinks, state, queuedAt, mayBeRepeat }: UnstoredMessage,
  config: LocalConfig,
  context: AlertingContext,
): Promise<readonly Delivery[]> {
  const { effects, signal } = context;
  const messages = messagesOf([{ entry, sinks }], { ...state, origin: originOf(config, context) });
  const opened = openSinks(config, context);
  return deliver({
    outbox: {
      pendingMessages: async () =>
        messages.map((message, number) => ({ ...message, number, queuedAt, mayBeRepeat: mayBeRepeat(message.sink) })),
      deliveryBegan: async () => undefined,
      deliveryEnded: async () => undefined,
      answersSince: async () => [],
    },
    acting: new Map(),
    runNumber: 0,
    tellOf: (name) => opened.get(name),
    giveUpDays: config.alerts.giveUpDays,
    now: effects.now,
    random: effects.random,
    sleep: effects.sleep,
    signal,
  });
}
