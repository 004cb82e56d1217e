import { createHmac } from 'node:crypto';
import { signatureKey, type WebhookSettings } from '../../config/index.ts';
import { type AlertEntry, dashboardLink } from '../../findings/index.ts';
import { shorten } from '../../text/safe-text.ts';
import { type OutgoingMessage, plainText, subjectOf } from '../message.ts';
import type { CostSummary } from '../summary.ts';
import { post } from './post.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

/** Version of docs/webhook-message.schema.json. */
const version = 1;

/** The largest body: common servers accept 100 kB. */
export const maxWebhookBytes = 100_000;
/** The largest alert: one fact with very long names must not crowd out the others. */
const maxAlertBytes = 8_000;

/** The body for a webhook, as docs/webhook-message.schema.json describes it, in at most `maxWebhookBytes`. Pure. */
export function webhookBody(message: OutgoingMessage): string {
  const { id, kind, at, mayBeRepeat, isTest, completeThrough, settledThrough, summary, left, origin } = message;
  const head = {
    ...{ version, id, kind, at, project: origin?.project ?? null, host: origin?.host ?? null, mayBeRepeat, isTest },
    ...{ completeThrough, settledThrough, subject: subjectOf(message), text: plainText(message) },
  };
  // Reserves room for the counts in `left`.
  let free = maxWebhookBytes - bytesOf({ ...head, alerts: [], summary: null, left: null }) - 200;
  const alerts = within(
    message.entries.map((entry) => ({ ...smallEntry(entry), ...urlOf(origin?.dashboard, entry) })),
    free,
  );
  free -= bytesOf(alerts);
  const shownSummary = summary === null ? null : summaryWithin(summary, free);
  const leftAlerts = message.entries.length - alerts.length + (left?.alerts ?? 0);
  const leftBudgets = (summary?.budgets.length ?? 0) - (shownSummary?.budgets.length ?? 0);
  const isAll = left === undefined && leftAlerts === 0 && leftBudgets === 0;
  const counts = { anomalies: 0, impact: '0', resolved: 0, ...left, alerts: leftAlerts, budgets: leftBudgets };
  return JSON.stringify({ ...head, alerts, summary: shownSummary, left: isAll ? null : counts });
}

/** The alert's page of the dashboard; left out without one. */
function urlOf(dashboard: string | undefined, { key, fact }: AlertEntry): { readonly url?: string } {
  const url = dashboardLink(dashboard, key, fact);
  return url === undefined ? {} : { url };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The first items that fit. */
function within<T>(items: readonly T[], bytes: number): T[] {
  let free = bytes;
  const end = items.findIndex((item) => {
    free -= bytesOf(item) + 1;
    return free < 0;
  });
  return end === -1 ? [...items] : items.slice(0, end);
}

/** An alert. If it is too large, its texts are cut, the key to a longer limit. */
function smallEntry(entry: AlertEntry): AlertEntry {
  return bytesOf(entry) <= maxAlertBytes ? entry : { ...withShortTexts(entry), key: shorten(entry.key, maxKey) };
}

/** The summary. If it is too large, without its text, which the message repeats, and with as many budgets as fit. */
function summaryWithin(summary: CostSummary, bytes: number): CostSummary {
  const small = bytesOf(summary) <= bytes ? summary : { ...withShortTexts({ ...summary, budgets: [] }), text: '' };
  const free = bytes - bytesOf({ ...small, budgets: [] });
  const budgets = small === summary ? summary.budgets : within(summary.budgets.map(withShortTexts), free);
  return { ...small, budgets };
}

const maxKey = 2000;
const shortText = 200;
const shortList = 10;

function withShortTexts<T>(value: T): T {
  if (typeof value === 'string') return shorten(value, shortText) as T;
  if (Array.isArray(value)) return value.slice(0, shortList).map(withShortTexts) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withShortTexts(item)])) as T;
}

/**
 * The signature headers of the Standard Webhooks specification: HMAC-SHA256 over id, seconds since 1970 and body, joined
 * by dots. They let a receiver verify the sender and reject replays.
 */
export function signatureHeaders(secret: string, id: string, seconds: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', signatureKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

/** Opens a sink that sends signed JSON by POST. */
export function openWebhook(settings: WebhookSettings, { signal }: SinkEffects): SendMessage {
  return (message) => {
    const body = webhookBody(message);
    // Real time: receivers reject old signatures.
    const headers = signatureHeaders(settings.secret, message.id, Math.floor(Date.now() / 1000), body);
    return post({ ...settings, headers, body, signal });
  };
}
