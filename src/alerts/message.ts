import { createHash } from 'node:crypto';
import type { Picture } from '../charts/index.ts';
import {
  type AlertEntry,
  bar,
  type Card,
  cardOf,
  dashboardLink,
  type SinkAnswer,
  type Transitions,
  throughWords,
  wordsOfKind,
} from '../findings/index.ts';
import { decimalOfWhole, usd, usdDecimals, wholeOfDecimal } from '../money/money.ts';
import { counted } from '../text/counted.ts';
import { forTerminal, maxNameLength, oneLine } from '../text/safe-text.ts';
import type { NewMessage, StoredAnswer } from '../warehouse/ledger/index.ts';
import type { CostSummary } from './summary.ts';

/** The content of a message, before a sink formats it. Stored in the outbox as JSON. */
export interface Message {
  readonly kind: 'alerts' | 'summary';
  /** When it was made. */
  readonly at: string;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** At least one in a message of alerts; none in a summary. */
  readonly entries: readonly AlertEntry[];
  readonly summary: CostSummary | null;
  /** Which project the books belong to, and on which host; missing without a project. */
  readonly origin?: Origin | undefined;
  /** Charts of the first entries, or of the summary; left out if no sink shows them. */
  readonly pictures?: readonly MessagePicture[] | undefined;
  /** Anomalies that are not among the entries: one night may have hundreds. Left out if there are none. */
  readonly left?: LeftOut | undefined;
}

/** A chart of a message, as its numbers: it is drawn when it is sent. */
export interface MessagePicture {
  /** The key of its alert; null if it belongs to the summary. */
  readonly key: string | null;
  readonly picture: Picture;
}

/** Identifies the project that a message comes from. */
export interface Origin {
  readonly project: string;
  readonly host: string;
  /** Where people open the dashboard; left out if it is not configured. */
  readonly dashboard?: string | undefined;
}

interface LeftOut {
  /** Open ones. */
  readonly anomalies: number;
  /** Total difference of the open ones: USD, decimal text. */
  readonly impact: string;
  /** Ended ones. */
  readonly resolved: number;
  /** Alerts of other kinds beyond the most urgent ones. */
  readonly alerts?: number;
}

/** A message lists this many anomalies, largest impact first, and counts the rest. */
const anomaliesShown = 20;

/** A message on its way to a sink. */
export interface OutgoingMessage extends Message {
  /** The same in every attempt. */
  readonly id: string;
  /** Whether the sink may have received it before. */
  readonly mayBeRepeat: boolean;
  /** Sent only to test the sink: nothing happened. */
  readonly isTest: boolean;
}

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
      return own.length === 0 ? entry : { ...entry, answers: own.map(answerOf) };
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

/** An answer for people: whose it is, then its lines. */
export function answerLines({ sink, text }: SinkAnswer): readonly string[] {
  return [`${sink} answered:`, ...text.split('\n')];
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
  return sinks.flatMap((sink) => {
    const ordered = inOrder(entries, sink);
    if (agents.includes(sink)) {
      // A thread is about one alert.
      return ordered
        .slice(0, maxAlertsOfAgent)
        .map((entry) => newMessage(sink, { kind: 'alerts', ...state, entries: [entry], summary: null }, undefined));
    }
    if (incidents.includes(sink)) {
      return chunksOf(ordered, maxIncidents).map((part) =>
        newMessage(sink, { kind: 'alerts', ...state, entries: part, summary: null }, undefined),
      );
    }
    const anomalies = new Set(ordered.filter(({ fact }) => fact.kind === 'anomaly').slice(anomaliesShown));
    const others = ordered.filter((entry) => !anomalies.has(entry));
    const shown = others.slice(0, entriesShown);
    const left = [...anomalies, ...others.slice(entriesShown)];
    const own = picturesFor(sink).filter(({ key }) => shown.some((entry) => entry.key === key));
    const message: Message = {
      kind: 'alerts',
      ...state,
      entries: shown,
      summary: null,
      ...(own.length === 0 ? {} : { pictures: own }),
      ...(left.length === 0 ? {} : { left: leftOut(left) }),
    };
    return [newMessage(sink, message, undefined)];
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

export function newMessage(sink: string, message: Message, summary: string | undefined): NewMessage {
  const text = JSON.stringify(message);
  const id = createHash('sha256')
    .update(JSON.stringify([sink, summary ?? null, text]))
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
  const wholes = entries.map(({ fact }) => (fact.kind === 'anomaly' ? wholeOfDecimal(fact.impact, usdDecimals) : 0n));
  return decimalOfWhole(
    wholes.reduce((sum, whole) => sum + whole, 0n),
    usdDecimals,
  );
}

/** The line that counts the alerts that a message does not show; undefined if it shows all. */
export function moreWords(message: OutgoingMessage, shown: number): string | undefined {
  const hidden = message.summary === null ? message.entries.length - shown : 0;
  const { anomalies = 0, resolved = 0, alerts = 0 } = message.left ?? {};
  if (hidden + alerts === 0) return leftWords(message);
  const all = hidden + anomalies + resolved + alerts;
  return `and ${all} more; "costbook alerts --open" lists them`;
}

/** The line that counts the anomalies that are not among the entries; undefined if there are none. */
function leftWords({ left }: Pick<Message, 'left'>): string | undefined {
  if (left === undefined) return undefined;
  const { anomalies, impact, resolved } = left;
  const parts = [
    ...(anomalies === 0
      ? []
      : [`and ${counted(anomalies, 'smaller anomaly', 'smaller anomalies')}, ${usd(impact, true)} together`]),
    ...(resolved === 0 ? [] : [`and ${resolved} more that ${resolved === 1 ? 'has' : 'have'} ended`]),
  ];
  return `${parts.join(', ')}; "costbook report anomalies" lists them`;
}

/** The subject of a message, in one line. */
export function subjectOf(message: OutgoingMessage): string {
  const project = message.origin === undefined ? '' : `[${oneLine(message.origin.project, maxNameLength)}] `;
  const prefix = `${message.isTest ? '[test] ' : ''}${project}`;
  if (message.summary !== null) return `${prefix}${message.summary.title}`;
  const [first] = message.entries;
  if (first === undefined) return `${prefix}Costbook`;
  if (message.entries.length === 1) {
    const { icon, title } = cardOf(first);
    return `${prefix}${icon} ${title}`;
  }
  const { icon, title } = cardOf(first);
  // A long title must leave room for the count.
  return `${prefix}${icon} ${oneLine(title, maxTitleBesideCount)}, and ${countWords(message, 1, first.transition === 'resolved')}`;
}

const maxTitleBesideCount = 120;

/**
 * `5 more alerts, 2 resolved`: counts all alerts of a message after the first `without`, including those not shown.
 * `isAfterResolved`: the words before it are of a resolved alert.
 */
function countWords({ entries, left }: OutgoingMessage, without: number, isAfterResolved = false): string {
  const isOver = (entry: AlertEntry) => entry.transition === 'resolved';
  const rest = entries.slice(without);
  const over = rest.filter(isOver).length + (left?.resolved ?? 0);
  const held = rest.filter((entry) => !isOver(entry)).length + (left?.anomalies ?? 0) + (left?.alerts ?? 0);
  const more = without === 0 ? '' : ' more';
  return [
    ...(held === 0 ? [] : [`${held}${more} ${held === 1 ? 'alert' : 'alerts'}`]),
    ...(over === 0 ? [] : [`${over}${held === 0 && isAfterResolved ? more : ''} resolved`]),
  ].join(', ');
}

/** The last line of every message. */
export function footOf(message: OutgoingMessage): string {
  return [
    `Costbook ${message.at}`,
    ...(message.origin === undefined ? [] : [originWords(message.origin)]),
    `${throughWords(message.completeThrough)}, ${message.settledThrough === null ? 'no settled hour yet' : `settled (no more changes expected) through ${message.settledThrough}`}`,
    `message ${message.id}`,
    ...(message.mayBeRepeat ? ['may have been sent before'] : []),
    ...(message.isTest ? ['test message: nothing happened'] : []),
  ].join(' · ');
}

function originWords({ project, host }: Origin): string {
  return `project ${oneLine(project, maxNameLength)} on ${oneLine(host, maxNameLength)}`;
}

/** The longest plain text, in characters. Mail servers accept it, and nobody reads more. */
export const maxPlainText = 30_000;

/**
 * A message as plain text of bounded length, for mail and terminals. `safe` escapes each line for its medium. Alerts
 * that do not fit are counted.
 */
export function plainText(message: OutgoingMessage, safe: (line: string) => string = forTerminal): string {
  const all = (
    message.summary === null
      ? message.entries.map((entry) => [plainCard(cardOf(entry)), ...linesOfLink(message, entry)].join('\n'))
      : [
          [
            ...(message.summary.opening === undefined ? [] : [message.summary.opening, '']),
            message.summary.text,
            ...(message.summary.answers ?? []).flatMap((answer) => ['', ...answerLines(answer)]),
            ...(message.origin?.dashboard === undefined ? [] : [`${message.origin.dashboard}/`]),
          ].join('\n'),
        ]
  ).map((part) =>
    part
      .split('\n')
      .map((line) => safe(line))
      .join('\n'),
  );
  let length = 0;
  const shown = all.filter((part, index) => {
    length += part.length + 2;
    return index === 0 || length <= maxPlainText;
  });
  const head = message.entries.length > 1 ? [safe(countWords(message, 0))] : [];
  const more = moreWords(message, shown.length);
  const parts = [...head, ...shown.map(cutToLines), ...(more === undefined ? [] : [more]), safe(footOf(message))];
  return `${parts.join('\n\n')}\n`;
}

/** The address of the alert's page; empty without a dashboard. */
function linesOfLink({ origin }: OutgoingMessage, { key, fact }: AlertEntry): string[] {
  const link = dashboardLink(origin?.dashboard, key, fact);
  return link === undefined ? [] : [link];
}

/** Drops the lines that exceed the length. */
function cutToLines(text: string): string {
  if (text.length <= maxPlainText) return text;
  const end = text.lastIndexOf('\n', maxPlainText);
  return `${text.slice(0, end === -1 ? maxPlainText : end)}\n…`;
}

function plainCard(card: Card): string {
  return [
    `${card.icon} ${card.title}`,
    ...(card.share === undefined ? [] : [bar(card.share)]),
    ...card.sentences,
    ...(card.next === undefined ? [] : [card.next]),
    ...card.warnings.map((warning) => `⚠ ${warning}`),
    ...card.fields.map(({ label, value }) => `${label}: ${value}`),
    ...(card.list === undefined ? [] : [`${card.list.label}:`, ...card.list.items.map((item) => `  - ${item}`)]),
    ...card.answers.flatMap(answerLines),
    card.notes.join(' · '),
  ].join('\n');
}
