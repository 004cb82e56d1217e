import { createHash } from 'node:crypto';
import type { PagerDutySettings } from '../../config/index.ts';
import { type AlertEntry, cardOf, dashboardLink } from '../../findings/index.ts';
import { shorten } from '../../text/safe-text.ts';
import type { OutgoingMessage } from '../message.ts';
import { post } from './post.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

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

function eventOfEntry(entry: AlertEntry, message: OutgoingMessage, routingKey: string): PagerDutyEvent {
  const { transition, fact } = entry;
  const { title, sentences, next, fields, list, warnings, notes } = cardOf(entry);
  const link = dashboardLink(message.origin?.dashboard, entry.key, fact);
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
    ...(fact.account === null ? {} : { component: fact.account }),
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
      summary: shorten(`${isTest ? '[test] ' : ''}${title}`, maxSummary),
      ...{ severity, source: origin?.host ?? 'costbook', timestamp: at, group: project },
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

/**
 * Opens a sink that sends events to PagerDuty. After one that fails, the message is sent again as a whole: an event with a
 * known key adds no second incident.
 */
export function openPagerDuty({ routingKey, ...settings }: PagerDutySettings, { signal }: SinkEffects): SendMessage {
  return async (message) => {
    const events = pagerDutyEvents(message, routingKey);
    for (const event of events) {
      const attempt = await post({
        ...{ url: settings.apiUrl, allowPrivateNetwork: settings.allowPrivateNetwork },
        ...{ headers: {}, body: JSON.stringify(event), signal },
      });
      if (attempt.outcome !== 'delivered') return attempt;
    }
    return events.length > 0
      ? { outcome: 'delivered' }
      : { outcome: 'refused', reason: 'a summary is no incident: name another sink for it', isPassing: false };
  };
}
