import { createHash } from 'node:crypto';
import {
  type AlertEntry,
  cardOf,
  dashboardLink,
  shownWithOthers,
  type Transitions,
  wordsOfKind,
} from '../findings/index.ts';
import { sumOf } from '../money/money.ts';
import type {
  LeftOut,
  Message,
  MessageEntry,
  MessagePicture,
  Origin,
  OutgoingMessage,
  SinkAnswer,
} from '../sinks/index.ts';
import type { NewMessage, StoredAnswer } from '../warehouse/watch/index.ts';

/** What a message says of an alert: its facts, and its card, which no later version words again. Pure. */
export function messageEntry(entry: AlertEntry, origin: Origin | undefined): MessageEntry {
  const link = dashboardLink(origin?.dashboard, entry.key, entry.fact);
  const amount = wordsOfKind(entry.fact).amount?.(entry.fact);
  return {
    ...entry,
    card: cardOf(entry),
    ...(link === undefined ? {} : { link }),
    ...(amount === undefined ? {} : { amount }),
  };
}

/** The entries of a message. Thresholds of one budget and period are one card. Pure. */
function messageEntries(entries: readonly AlertEntry[], origin: Origin | undefined): readonly MessageEntry[] {
  const facts = entries.flatMap(({ transition, fact }) => (transition === 'resolved' ? [] : [fact]));
  const shown = shownWithOthers(facts);
  return entries.map((entry) => {
    const { fact, key } = entry;
    const also = facts.flatMap((one) => (one.kind === 'budget' && shown.get(one.key) === key ? [one] : []));
    const shownIn = shown.get(key);
    return {
      ...messageEntry(entry, origin),
      ...(fact.kind === 'budget' && also.length > 0 ? { card: cardOf({ ...entry, fact: { ...fact, also } }) } : {}),
      ...(shownIn === undefined ? {} : { shownIn }),
    };
  });
}

/** A message lists this many anomalies, largest impact first, and counts the rest. */
const anomaliesShown = 20;

/** A message with what agents answered to it, and the paragraph of a model. Pure. */
export function withAnswers(
  message: OutgoingMessage,
  answers: readonly (Pick<StoredAnswer, 'sink' | 'alert' | 'text'> & { readonly isOpening: boolean })[],
): OutgoingMessage {
  if (answers.length === 0) return message;
  const { entries, summary } = message;
  const toSummary = answers.filter(({ alert, isOpening }) => alert === undefined && !isOpening);
  const opening = answers.find(({ isOpening }) => isOpening)?.text;
  return {
    ...message,
    entries: entries.map((entry) => {
      const own = answers.filter(
        ({ alert }) =>
          alert?.key === entry.key && alert.occurrence === entry.occurrence && alert.transition === entry.transition,
      );
      if (own.length === 0) return entry;
      const given = own.map(answerOf);
      return { ...entry, answers: given, card: { ...entry.card, answers: given } };
    }),
    summary: summary && {
      ...summary,
      ...(opening === undefined ? {} : { opening }),
      ...(toSummary.length === 0 ? {} : { answers: toSummary.map(answerOf) }),
    },
  };
}

function answerOf({ sink, text }: SinkAnswer): SinkAnswer {
  return { sink, text };
}

/**
 * The messages of an evaluation: one for each sink, most urgent alerts first; for each of `agents` one per alert, and
 * for each of `incidents` all alerts in messages of bounded size, since an end that is left out would leave an incident open. The id is a hash of sink and content, so the same evaluation always makes the same message. Pure.
 */
export function messagesOf(
  entries: Transitions['entries'],
  state: Pick<Message, 'at' | 'completeThrough' | 'settledThrough' | 'origin'>,
  picturesFor: (sink: string) => readonly MessagePicture[] = () => [],
  { agents = [], incidents = [] }: { readonly agents?: readonly string[]; readonly incidents?: readonly string[] } = {},
): NewMessage[] {
  const sinks = [...new Set(entries.flatMap((entry) => entry.sinks))].sort();
  const ofEntries = (sink: string, shown: readonly AlertEntry[], more: Pick<Message, 'pictures' | 'left'> = {}) => {
    const all = messageEntries(shown, state.origin);
    return newMessage(sink, { kind: 'alerts', ...state, entries: all, summary: null, ...more }, undefined);
  };
  return sinks.flatMap((sink) => {
    const ordered = inOrder(entries, sink);
    if (agents.includes(sink)) {
      // A thread is about one alert.
      return ordered.slice(0, maxAlertsOfAgent).map((entry) => ofEntries(sink, [entry]));
    }
    if (incidents.includes(sink)) {
      return chunksOf(ordered, maxIncidents).map((part) => ofEntries(sink, part));
    }
    const anomalies = new Set(ordered.filter(({ fact }) => fact.kind === 'anomaly').slice(anomaliesShown));
    const others = ordered.filter((entry) => !anomalies.has(entry));
    const shown = others.slice(0, entriesShown);
    const left = [...anomalies, ...others.slice(entriesShown)];
    const besides = shownWithOthers(shown.map(({ fact }) => fact));
    const own = picturesFor(sink).filter(({ key }) => shown.some((one) => one.key === key && !besides.has(one.key)));
    return [
      ofEntries(sink, shown, {
        ...(own.length === 0 ? {} : { pictures: own }),
        ...(left.length === 0 ? {} : { left: leftOut(left) }),
      }),
    ];
  });
}

/** A message has this many entries, far more than any sink shows, and counts the others: a night may raise thousands. */
const entriesShown = 100;

/** A message to a sink of incidents has this many events: the service limits events a minute, and each message has its receipt. */
const maxIncidents = 50;

function chunksOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** An agent gets this many alerts of one evaluation, the most urgent ones: each is a call that costs money. */
export const maxAlertsOfAgent = 20;

/** The entries of a sink, most urgent first. */
export function inOrder(entries: Transitions['entries'], sink: string): readonly AlertEntry[] {
  return entries
    .filter(({ sinks }) => sinks.includes(sink))
    .map(({ entry }) => entry)
    .toSorted(compareEntries);
}

/** A message for the outbox. Its id is a hash of what it is about: words do not change it. */
export function newMessage(sink: string, message: Message, summary: string | undefined): NewMessage {
  const text = JSON.stringify(message);
  const entries = message.entries.map(({ card, link, amount, shownIn, ...facts }) => facts);
  const id = createHash('sha256')
    .update(JSON.stringify([sink, summary ?? null, JSON.stringify({ ...message, entries })]))
    .digest('hex')
    .slice(0, 32);
  return { id, sink, kind: message.kind, summary, message: text };
}

const urgency = { critical: 0, warning: 1, info: 2 } as const;

function compareEntries(a: AlertEntry, b: AlertEntry): number {
  const end = Number(a.transition === 'resolved') - Number(b.transition === 'resolved');
  return (
    end ||
    urgency[a.fact.severity] - urgency[b.fact.severity] ||
    (wordsOfKind(b.fact).size?.(b.fact) ?? 0) - (wordsOfKind(a.fact).size?.(a.fact) ?? 0) ||
    (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
  );
}

function leftOut(left: readonly AlertEntry[]): LeftOut {
  const held = left.filter(({ transition }) => transition !== 'resolved');
  const anomalies = held.filter(({ fact }) => fact.kind === 'anomaly');
  const alerts = held.length - anomalies.length;
  return {
    ...{ anomalies: anomalies.length, impact: impactOf(anomalies), resolved: left.length - held.length },
    ...(alerts === 0 ? {} : { alerts }),
  };
}

function impactOf(entries: readonly AlertEntry[]): string {
  return sumOf(entries.map(({ fact }) => (fact.kind === 'anomaly' ? fact.impact : 0n)));
}
