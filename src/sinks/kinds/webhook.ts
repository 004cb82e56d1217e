import { createHmac } from 'node:crypto';
import { UsageError } from '../../base/errors.ts';
import { shorten } from '../../text/safe-text.ts';
import { type Parse, parseText, rule, single } from '../../yaml/index.ts';
import type { CostSummary } from '../cost-summary.ts';
import { type MessageEntry, type OutgoingMessage, plainText, subjectOf } from '../message.ts';
import {
  allowPrivateNetwork,
  parseTargetUrl,
  placeOf,
  sinkMapping,
  type Target,
  targetCheck,
  urlSecrets,
} from '../settings.ts';
import type { SinkType } from '../sink.ts';

/** Posts signed JSON. */
export interface WebhookSettings extends Target {
  readonly type: 'webhook';
  /** May contain a secret. */
  readonly url: string;
  /** The signing key: `whsec_` and the base64 of the key, or the key itself. */
  readonly secret: string;
}

export const webhook: SinkType<WebhookSettings> = {
  role: 'people',
  shape: () =>
    sinkMapping('webhook', { url: single(parseTargetUrl), secret: single(parseSecret), allowPrivateNetwork }).check(
      rule(targetCheck()),
    ),
  secrets: ({ url, secret }) => [secret, ...urlSecrets(url)],
  secretKeys: ['url', 'secret'],
  place: (settings) => placeOf(settings.url, settings),
  open:
    (settings, { signal }) =>
    async (message) => {
      const { post } = await import('../post.ts');
      const body = webhookBody(message);
      // Real time: receivers reject old signatures.
      const headers = signatureHeaders(settings.secret, message.id, Math.floor(Date.now() / 1000), body);
      return post({ ...settings, headers, body, signal });
    },
  previews: { json: (message) => JSON.parse(webhookBody(message)) },
};

const secretPrefix = 'whsec_';

/** Whether Standard Webhooks libraries can verify signatures with this secret: they decode base64. */
export function isStandardSecret(secret: string): boolean {
  return secret.startsWith(secretPrefix);
}

/** The bytes of the signing key: base64 after `whsec_`, otherwise the text itself. */
export function signatureKey(secret: string): Buffer {
  return isStandardSecret(secret) ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : Buffer.from(secret);
}

const parseSecret: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (text.length < 16)
    throw new UsageError('found fewer than 16 characters, expected a longer secret that cannot be guessed');
  const isBase64 = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  if (isStandardSecret(text) && (!isBase64 || signatureKey(text).length < 24)) {
    throw new UsageError(
      `found whsec_ without at least 24 bytes of base64, expected whsec_ followed by the output of "openssl rand -base64 32"`,
    );
  }
  return text;
};

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
    message.entries.map(({ card: _, link, amount: __, shownIn: ___, ...entry }) => ({
      ...smallEntry(entry),
      ...(link === undefined ? {} : { url: link }),
    })),
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
function smallEntry<T extends Pick<MessageEntry, 'key'>>(entry: T): T {
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
