import type { Picture } from '../charts/index.ts';
import { usd } from '../money/money.ts';
import { counted } from '../text/counted.ts';
import { forTerminal, maxNameLength, oneLine } from '../text/safe-text.ts';
import { throughWords } from '../text/through.ts';
import { answerLines, bar, type Card, type SinkAnswer } from './card.ts';
import type { CostSummary } from './cost-summary.ts';

/** What a message says of one alert: its facts as data, and its finished card. */
export interface MessageEntry {
  readonly key: string;
  readonly occurrence: number;
  readonly transition: 'raised' | 'reminded' | 'open' | 'resolved';
  readonly fact: {
    readonly kind: string;
    readonly severity: 'critical' | 'warning' | 'info';
    readonly account: string | null;
    readonly completeThrough: string | null;
  };
  /** When it was raised; only for `open`. */
  readonly since?: string | undefined;
  /** What agents answered about it; only in a message on its way. */
  readonly answers?: readonly SinkAnswer[] | undefined;
  readonly card: Card;
  /** Its page of the dashboard; left out without one. */
  readonly link?: string | undefined;
  /** What it is about in money: `4,123.46 USD`. */
  readonly amount?: string | undefined;
  /** The key of the entry whose card says it too: people read one card, receivers of data get both entries. */
  readonly shownIn?: string | undefined;
}

/** The entries that people read, a card each. */
export function entriesShown({ entries }: Pick<Message, 'entries'>): readonly MessageEntry[] {
  return entries.filter(({ shownIn }) => shownIn === undefined);
}

/** The content of a message, before a sink formats it. Stored in the outbox as JSON. */
export interface Message {
  readonly kind: 'alerts' | 'summary';
  /** When it was made. */
  readonly at: string;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** At least one in a message of alerts; none in a summary. */
  readonly entries: readonly MessageEntry[];
  readonly summary: CostSummary | null;
  /** What somebody has subscribed to; only mail has files. Left out in other messages. */
  readonly files?: MailedFiles | undefined;
  /** Which project the books belong to, and on which host; missing without a project. */
  readonly origin?: Origin | undefined;
  /** Charts of the first entries, or of the summary; left out if no sink shows them. */
  readonly pictures?: readonly MessagePicture[] | undefined;
  /** Anomalies that are not among the entries: one night may have hundreds. Left out if there are none. */
  readonly left?: LeftOut | undefined;
}

/** Files of an export that somebody gets by mail. */
export interface MailedFiles {
  /** What they are and their amount: `Statement of 2026-10 for payments: 2,463.58 USD`. */
  readonly title: string;
  readonly sentences: readonly string[];
  /** Their names for people, and where they are; they are read when the message is sent. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
  /** The command that writes them again. */
  readonly command: string;
  /** What its subscription asked for. */
  readonly asked: string;
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

export interface LeftOut {
  /** Open ones. */
  readonly anomalies: number;
  /** Total difference of the open ones: USD, decimal text. */
  readonly impact: string;
  /** Ended ones. */
  readonly resolved: number;
  /** Alerts of other kinds beyond the most urgent ones. */
  readonly alerts?: number;
}

/** A message on its way to a sink. */
export interface OutgoingMessage extends Message {
  /** The same in every attempt. */
  readonly id: string;
  /** Whether the sink may have received it before. */
  readonly mayBeRepeat: boolean;
  /** Sent only to test the sink: nothing happened. */
  readonly isTest: boolean;
  /** Its files as they are now. */
  readonly attachments?: readonly { readonly name: string; readonly type: string; readonly content: Buffer }[];
}

/** The line that counts the alerts that a message does not show; undefined if it shows all. */
export function moreWords(message: OutgoingMessage, shown: number): string | undefined {
  const isOfAlerts = message.summary === null && message.files === undefined;
  const hidden = isOfAlerts ? entriesShown(message).length - shown : 0;
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
  const own = message.summary?.title ?? message.files?.title;
  if (own !== undefined) return `${prefix}${own}`;
  const [first, ...others] = entriesShown(message);
  if (first === undefined) return `${prefix}Costbook`;
  if (others.length === 0) {
    const { icon, title } = first.card;
    return `${prefix}${icon} ${title}`;
  }
  const { icon, title } = first.card;
  // A long title must leave room for the count.
  const count = `, and ${countWords(message, 1, first.transition === 'resolved')}`;
  const room = maxSubject - prefix.length - icon.length - 1 - count.length;
  return `${prefix}${icon} ${oneLine(title, Math.max(shortestTitle, room))}${count}`;
}

/** Characters of a subject that mail clients show. */
export const maxSubject = 150;
/** However long the name of the project is. */
const shortestTitle = 60;

/**
 * `5 more alerts, 2 resolved`: counts all alerts of a message after the first `without`, including those not shown.
 * `isAfterResolved`: the words before it are of a resolved alert.
 */
function countWords(message: OutgoingMessage, without: number, isAfterResolved = false): string {
  const { left } = message;
  const isOver = (entry: MessageEntry) => entry.transition === 'resolved';
  const rest = entriesShown(message).slice(without);
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
    `${throughWords(message.completeThrough)}, ${message.settledThrough === null ? 'no settled hour yet' : `settled through ${message.settledThrough} (older hours change only if the platform corrects them)`}`,
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
  const { files } = message;
  const ofFiles = files === undefined ? [] : [[files.title, ...files.sentences].join('\n')];
  const all = (
    message.summary === null
      ? [
          ...ofFiles,
          ...entriesShown(message).map(({ card, link }) =>
            [plainCard(card), ...(link === undefined ? [] : [link])].join('\n'),
          ),
        ]
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
  const head = entriesShown(message).length > 1 ? [safe(countWords(message, 0))] : [];
  const more = moreWords(message, shown.length);
  const parts = [...head, ...shown.map(cutToLines), ...(more === undefined ? [] : [more]), safe(footOf(message))];
  return `${parts.join('\n\n')}\n`;
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
