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
 * The events of a message: one for each alert, whose key is the key of its incident, so that its end resolves it. A test
 * opens an incident of the lowest urgency and resolves it. A summary is no incident. Pure.
 */
export function pagerDutyEvents(message: OutgoingMessage, routingKey: string): readonly PagerDutyEvent[] {
  return message.entries.flatMap((entry) => {
    const event = eventOf(entry, message, routingKey);
    return message.isTest && event.event_action === 'trigger' ? [event, resolving(event)] : [event];
  });
}

function eventOf(entry: AlertEntry, message: OutgoingMessage, routingKey: string): PagerDutyEvent {
  const { key, transition, fact } = entry;
  const head = { routing_key: routingKey, dedup_key: dedupKey(message.isTest ? `test/${message.id}` : key) };
  if (transition === 'resolved') return { ...head, event_action: 'resolve' };
  const { title, sentences, next, fields, list, warnings, notes } = cardOf(entry);
  const link = dashboardLink(message.origin?.dashboard, key, fact);
  const details = {
    ...(next === undefined ? {} : { next }),
    about: sentences.join(' '),
    ...Object.fromEntries(fields.map(({ label, value }) => [label, value])),
    ...(list === undefined ? {} : { [list.label]: list.items.join('\n') }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.join('\n') }),
    notes: notes.join(' · '),
  };
  return {
    ...head,
    event_action: 'trigger',
    payload: {
      summary: shorten(`${message.isTest ? '[test] ' : ''}${title}`, maxSummary),
      severity: message.isTest ? 'info' : fact.severity,
      source: message.origin?.host ?? 'costbook',
      timestamp: message.at,
      ...(fact.account === null ? {} : { component: fact.account }),
      group: message.origin?.project ?? 'costbook',
      class: fact.kind,
      custom_details: Object.fromEntries(
        Object.entries(details).map(([name, value]) => [name, shorten(value, maxDetail)]),
      ),
    },
    client: 'Costbook',
    ...(link === undefined ? {} : { links: [{ href: link, text: 'Dashboard' }] }),
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
    for (const event of pagerDutyEvents(message, routingKey)) {
      const attempt = await post({
        ...{ url: settings.apiUrl, allowPrivateNetwork: settings.allowPrivateNetwork },
        ...{ headers: {}, body: JSON.stringify(event), signal },
      });
      if (attempt.outcome !== 'delivered') return attempt;
    }
    return { outcome: 'delivered' };
  };
}
