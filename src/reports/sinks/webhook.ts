import { createHmac } from 'node:crypto';
import type { WebhookSettings } from '../../sink-settings.ts';
import { type OutgoingMessage, plainText, subjectOf } from '../alert-message.ts';
import { post } from './post.ts';
import type { SinkEffects, Tell } from './sink.ts';

/** Of the schema in docs/webhook-message.schema.json. */
const version = 1;

/** What a webhook is sent, as docs/webhook-message.schema.json has it. Pure. */
export function webhookBody(message: OutgoingMessage): string {
  const { id, kind, at, mayBeRepeat, isTest, completeThrough, settledThrough, entries, digest, left } = message;
  return JSON.stringify({
    version,
    id,
    kind,
    at,
    mayBeRepeat,
    isTest,
    completeThrough,
    settledThrough,
    subject: subjectOf(message),
    text: plainText(message),
    alerts: entries,
    digest,
    left: left ?? null,
  });
}

/**
 * The headers by which a receiver knows that a message is ours and new: HMAC-SHA256 over id, seconds since 1970 and body
 * with points between them, as the Standard Webhooks specification has it. A secret that begins with whsec_ is base64.
 */
export function signatureHeaders(secret: string, id: string, seconds: number, body: string): Record<string, string> {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

/** A webhook: JSON by POST, signed. */
export function openWebhook(settings: WebhookSettings, { signal }: SinkEffects): Tell {
  return (message) => {
    const body = webhookBody(message);
    // Real time: a receiver refuses what was signed long ago.
    const headers = signatureHeaders(settings.secret, message.id, Math.floor(Date.now() / 1000), body);
    return post({ ...settings, headers, body, signal });
  };
}
