import type { Call } from '../platform/index.ts';
import { operations } from '../platform/interface/index.ts';
import type { JobSettings } from './acting-settings.ts';
import { executionText } from './answer-text.ts';
import { callAsJson, callPlatform } from './call-platform.ts';
import { webhookBody } from './kinds/webhook.ts';
import type { OutgoingMessage } from './message.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

/** Opens a sink that runs a batch job of the platform, with each alert or summary as a task. */
export function openJob(settings: JobSettings, effects: SinkEffects): SendMessage {
  return async (message) => {
    const found = await callPlatform(jobCall(message, settings), settings, effects);
    return 'outcome' in found ? found : { outcome: 'delivered', answer: executionText(found) };
  };
}

/** The call for a message. Pure. */
export function jobCall(message: OutgoingMessage, { workspace, job }: JobSettings): Call {
  const body = JSON.stringify({ tasks: tasksOf(message) });
  return { operation: operations.executeJob, values: { workspace, job }, sending: { body } };
}

/** One task for each alert, or one for a summary, with the fields of a webhook's message. */
function tasksOf(message: OutgoingMessage): readonly object[] {
  const {
    alerts,
    summary,
    left: _,
    text: __,
    ...head
  } = JSON.parse(webhookBody(message)) as {
    readonly alerts: readonly object[];
    readonly summary: object | null;
    readonly left: unknown;
    readonly text: string;
  };
  return summary === null ? alerts.map((alert) => ({ ...head, alert })) : [{ ...head, summary }];
}

/** What the call sends. Pure. */
export function jobPreview(message: OutgoingMessage, settings: JobSettings): object {
  return callAsJson(jobCall(message, settings));
}
