import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { LocalConfig, Subscription } from '../config/index.ts';
import { openSink, type SendMessage, type SinkEffects } from '../sinks/index.ts';
import { fileTypes } from '../tables/file-formats.ts';

/** The name under which the outbox has the messages of a subscription: each has its own order, and none waits for others. */
export function sinkOfSubscription(name: string): string {
  return `to:${name}`;
}

/** What a subscription asks for, but for its period. */
export function askedBy({ step, options }: Pick<Subscription, 'step' | 'options'>): string {
  return JSON.stringify([step, options]);
}

/** The sinks of the subscriptions: mail to their people through a configured mail server, with the files as they are now. */
export function openSubscriptions(
  { subscriptions = [], sinks }: Pick<LocalConfig, 'subscriptions' | 'sinks'>,
  effects: SinkEffects,
): ReadonlyMap<string, SendMessage> {
  return new Map(
    subscriptions.flatMap((subscription) => {
      const settings = sinks.find((one) => one.name === subscription.sink)?.settings;
      if (settings?.type !== 'email') return [];
      const send = openSink({ ...settings, to: subscription.to }, effects);
      return [[sinkOfSubscription(subscription.name), withFiles(send, askedBy(subscription))] as const];
    }),
  );
}

/** Sends the files of a message, which an export has replaced as a set if it was written again since. */
function withFiles(send: SendMessage, asked: string): SendMessage {
  return async (message) => {
    const { files = [], command = '' } = message.files ?? {};
    if (message.files?.asked !== asked) {
      const reason = `the subscription asks for something else since; the files are those of "${command}"`;
      return { outcome: 'refused', reason, isPassing: false, isOver: true };
    }
    const attachments = [];
    for (const { name, path } of files) {
      const content = await readFile(path).catch(() => undefined);
      if (content === undefined) {
        const reason = `the file ${path} is not there: write it again with "${command}"`;
        return { outcome: 'refused', reason, isPassing: false };
      }
      const type = fileTypes[extname(path).slice(1)] ?? 'application/octet-stream';
      attachments.push({ name, type, content });
    }
    return send({ ...message, attachments });
  };
}
