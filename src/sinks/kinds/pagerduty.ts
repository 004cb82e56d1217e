import { createHash } from 'node:crypto';
import { UsageError } from '../../base/errors.ts';
import { maxNameLength, oneLine, shorten } from '../../text/safe-text.ts';
import { type Parse, parseText, rule, single, z } from '../../yaml/index.ts';
import type { MessageEntry, OutgoingMessage } from '../message.ts';
import { allowPrivateNetwork, parseTargetUrl, placeOf, sinkMapping, type Target, targetCheck } from '../settings.ts';
import type { SinkType } from '../sink.ts';

/** Sends events to PagerDuty: an incident for each alert. */
export interface PagerDutySettings extends Target {
  readonly type: 'pagerduty';
  /** The integration key of a service: 32 characters, a secret. */
  readonly routingKey: string;
  /** Where events are accepted; the European service region has another address. */
  readonly apiUrl: string;
}

/** The key goes to PagerDuty alone, or to a server of a private network. The first is the usual one. */
const apis = ['https://events.pagerduty.com/v2/enqueue', 'https://events.eu.pagerduty.com/v2/enqueue'] as const;

export const pagerduty: SinkType<PagerDutySettings> = {
  role: 'incidents',
  shape: () =>
    sinkMapping('pagerduty', {
      routingKey: single(parseRoutingKey, { type: 'string', pattern: '^([A-Za-z0-9]{32}|.*\\$\\{.*\\}.*)$' }),
      ...{ apiUrl: z._default(single(parseTargetUrl), apis[0]), allowPrivateNetwork },
    }).check(rule(targetCheck(apis))),
  secrets: ({ routingKey }) => [routingKey],
  secretKeys: ['routingKey'],
  place: (settings) => placeOf(settings.apiUrl, settings),
  // After an event that fails, the message is sent again as a whole: an event with a known key adds no second incident.
  open:
    ({ routingKey, apiUrl, allowPrivateNetwork: isPrivateAllowed }, { signal }) =>
    async (message) => {
      const { post } = await import('../post.ts');
      const events = pagerDutyEvents(message, routingKey);
      const target = { url: apiUrl, allowPrivateNetwork: isPrivateAllowed, headers: {}, signal };
      for (const event of events) {
        const attempt = await post({ ...target, body: JSON.stringify(event) });
        if (attempt.outcome !== 'delivered') return attempt;
      }
      return events.length > 0
        ? { outcome: 'delivered' }
        : { outcome: 'refused', reason: 'a summary is no incident: name another sink for it', isPassing: false };
    },
  previews: { json: (message) => pagerDutyEvents(message, '***') },
};

/** The value is never quoted: it is a secret. */
const parseRoutingKey: Parse<string> = (value) => {
  const text = parseText(value, 100);
  if (/^[A-Za-z0-9]{32}$/.test(text)) return text;
  throw new UsageError(
    'found no integration key of 32 letters and digits, expected the one of an "Events API V2" integration of a service',
  );
};

/** Limits of version 2 of the Events API, in characters. */
const maxSummary = 1024;
const maxDedupKey = 255;
const maxDetail = 2_000;

/** An event for PagerDuty: it opens an incident, adds to it, or resolves it. */
export type PagerDutyEvent = Readonly<Record<string, unknown>> & { readonly event_action: 'trigger' | 'resolve' };

/**
 * The events of a message: one for each alert, whose project and key are the key of its incident, so that its end resolves
 * it. A test opens an incident of the lowest urgency and resolves it. A summary is no incident. Pure.
 */
export function pagerDutyEvents(message: OutgoingMessage, routingKey: string): readonly PagerDutyEvent[] {
  if (message.summary !== null && message.isTest) {
    const event = eventOf(message, routingKey, `test/${message.id}`, message.summary.title, 'info');
    return [event, resolving(event)];
  }
  return message.entries.flatMap((entry) => {
    const event = eventOfEntry(entry, message, routingKey);
    return message.isTest && event.event_action === 'trigger' ? [event, resolving(event)] : [event];
  });
}

function eventOfEntry(entry: MessageEntry, message: OutgoingMessage, routingKey: string): PagerDutyEvent {
  const { transition, fact, link } = entry;
  const { title, sentences, next, fields, list, warnings, notes } = entry.card;
  const details = {
    ...(next === undefined ? {} : { next }),
    about: sentences.join(' '),
    ...Object.fromEntries(fields.map(({ label, value }) => [label, value])),
    ...(list === undefined ? {} : { [list.label]: list.items.join('\n') }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.join('\n') }),
    notes: notes.join(' · '),
  };
  const key = message.isTest ? `test/${message.id}` : entry.key;
  const event = eventOf(message, routingKey, key, title, message.isTest ? 'info' : fact.severity, {
    ...(fact.account === null ? {} : { component: oneLine(fact.account, maxNameLength) }),
    class: fact.kind,
    custom_details: Object.fromEntries(
      Object.entries(details).map(([name, value]) => [name, shorten(value, maxDetail)]),
    ),
  });
  if (transition === 'resolved') return resolving(event);
  return { ...event, ...(link === undefined ? {} : { links: [{ href: link, text: 'Dashboard' }] }) };
}

/** An event that opens an incident. Two projects may share an integration key, so the project is part of the incident's. */
function eventOf(
  { origin, isTest, at }: OutgoingMessage,
  routingKey: string,
  key: string,
  title: string,
  severity: string,
  more: Readonly<Record<string, unknown>> = {},
): PagerDutyEvent {
  const project = origin?.project ?? 'costbook';
  return {
    ...{ routing_key: routingKey, dedup_key: dedupKey(`${project}: ${key}`), event_action: 'trigger' },
    payload: {
      summary: oneLine(`${isTest ? '[test] ' : ''}${title}`, maxSummary),
      ...{ severity, source: oneLine(origin?.host ?? 'costbook', maxNameLength), timestamp: at },
      group: oneLine(project, maxNameLength),
      ...more,
    },
    client: 'Costbook',
  };
}

function resolving({ routing_key, dedup_key }: PagerDutyEvent): PagerDutyEvent {
  return { routing_key, dedup_key, event_action: 'resolve' };
}

/** The key of an alert; one that is too long for PagerDuty ends with its hash. */
function dedupKey(key: string): string {
  if (key.length <= maxDedupKey) return key;
  return `${key.slice(0, maxDedupKey - 65)}/${createHash('sha256').update(key).digest('hex')}`;
}
