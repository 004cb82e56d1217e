import type { SlackSettings } from '../../sink-settings.ts';
import { bar, type Card, cardOf, footOf, leftWords, type OutgoingMessage, subjectOf } from '../alert-message.ts';
import { post } from './post.ts';
import type { SinkEffects, Tell } from './sink.ts';

/** Slack's published limits of a message: blocks in it, and characters of their texts. */
export const slackLimits = {
  blocks: 50,
  header: 150,
  section: 3000,
  fields: 10,
  field: 2000,
  contextElements: 10,
  text: 4000,
};

/** What Slack says of a webhook message that it does not take. */
const slackWords = [
  ...['invalid_payload', 'invalid_blocks', 'no_text', 'no_service', 'no_service_id', 'no_team', 'team_disabled'],
  ...['user_not_found', 'channel_not_found', 'channel_is_archived', 'action_prohibited', 'invalid_token'],
  ...['posting_to_general_channel_denied', 'too_many_attachments', 'no_active_hooks', 'rollup_error'],
];

interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: true;
}
interface Mrkdwn {
  readonly type: 'mrkdwn';
  readonly text: string;
  /** No names and addresses in it become links. */
  readonly verbatim: true;
}
export type SlackBlock =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: Mrkdwn }
  | { readonly type: 'section'; readonly fields: readonly Mrkdwn[] }
  | { readonly type: 'context'; readonly elements: readonly Mrkdwn[] }
  | { readonly type: 'divider' };

/** A message as an incoming webhook takes it; `text` is for notifications, and for who shows no blocks. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
}

/** A message within Slack's limits, whatever it tells. Pure. */
export function slackMessage(message: OutgoingMessage): SlackMessage {
  const subject = subjectOf(message);
  const foot: SlackBlock = { type: 'context', elements: [mrkdwn(footOf(message), slackLimits.field)] };
  const head: SlackBlock = { type: 'header', text: plain(subject) };
  const text = cut(harmless(fallback(message)), slackLimits.text);
  if (message.digest !== null) {
    return { text, blocks: [head, ...preformatted(message.digest.text), foot] };
  }
  const cards = message.entries.map(cardOf);
  const [only] = cards;
  if (cards.length === 1 && only !== undefined) return { text, blocks: [head, ...blocksOf(only), foot] };
  // Head, foot, and a line that counts what is left out; of each alert what is said, its context and a line.
  const perCard = 3;
  const shown = cards.slice(0, Math.floor((slackLimits.blocks - 3) / perCard));
  const left = cards.length - shown.length + (message.left?.anomalies ?? 0) + (message.left?.resolved ?? 0);
  const more = cards.length === shown.length ? (leftWords(message) ?? '') : `and ${left} more: costbook alerts --open`;
  return {
    text,
    blocks: [
      head,
      ...shown.flatMap((card): SlackBlock[] => [{ type: 'divider' }, ...shortBlocksOf(card)]),
      ...(left === 0 ? [] : [{ type: 'section' as const, text: mrkdwn(more, slackLimits.section) }]),
      foot,
    ],
  };
}

/** What a notification shows: every title. */
function fallback(message: OutgoingMessage): string {
  const titles = message.entries.map(cardOf).map(({ icon, title }) => `${icon} ${title}`);
  return titles.length > 1 ? [subjectOf(message), ...titles].join('\n') : subjectOf(message);
}

function blocksOf(card: Card): SlackBlock[] {
  const said = [...card.sentences, ...card.warnings.map((warning) => `⚠ ${warning}`)].join('\n');
  const meter = card.share === undefined ? '' : `\`${bar(card.share)}\`\n`;
  return [
    ...(said === '' && meter === '' ? [] : [section(`${meter}${harmless(said)}`)]),
    ...(card.fields.length === 0
      ? []
      : [
          {
            type: 'section' as const,
            fields: card.fields
              .slice(0, slackLimits.fields)
              .map(({ label, value }) => escaped(`*${harmless(label)}*\n${harmless(value)}`, slackLimits.field)),
          },
        ]),
    ...(card.list === undefined ? [] : [section(listText(card.list))]),
    { type: 'context', elements: card.notes.map((note) => mrkdwn(note, slackLimits.field)) },
  ];
}

function shortBlocksOf(card: Card): SlackBlock[] {
  const lines = [
    `*${harmless(`${card.icon} ${card.title}`)}*`,
    ...(card.share === undefined ? [] : [`\`${bar(card.share)}\``]),
    ...card.sentences.map(harmless),
    ...card.warnings.map((warning) => `⚠ ${harmless(warning)}`),
    ...(card.list === undefined ? [] : [listText(card.list)]),
  ];
  return [
    section(lines.join('\n')),
    { type: 'context', elements: card.notes.map((note) => mrkdwn(note, slackLimits.field)) },
  ];
}

function listText({ label, items }: NonNullable<Card['list']>): string {
  return [`*${harmless(label)}*`, ...items.map((item) => `• ${harmless(item)}`)].join('\n');
}

/** Lines of one width, in as many sections as they need. */
function preformatted(text: string): SlackBlock[] {
  const blocks: SlackBlock[] = [];
  let lines: string[] = [];
  function flush(): void {
    if (lines.length > 0) blocks.push(section(`\`\`\`\n${lines.join('\n')}\n\`\`\``));
    lines = [];
  }
  for (const line of text.split('\n')) {
    const safe = cut(harmless(line.replaceAll('```', "'''")), 1000);
    if (lines.join('\n').length + safe.length > slackLimits.section - 20) flush();
    lines.push(safe);
  }
  flush();
  const most = slackLimits.blocks - 2;
  return blocks.length <= most
    ? blocks
    : [...blocks.slice(0, most - 1), section('and more: costbook digest --dry-run')];
}

/** Of text that is escaped already. */
function section(text: string): SlackBlock {
  return { type: 'section', text: escaped(text, slackLimits.section) };
}

function escaped(text: string, limit: number): Mrkdwn {
  return { type: 'mrkdwn', text: cut(text, limit), verbatim: true };
}

function mrkdwn(text: string, limit: number): Mrkdwn {
  return escaped(harmless(text), limit);
}

function plain(text: string): PlainText {
  return { type: 'plain_text', text: cut(harmless(text), slackLimits.header), emoji: true };
}

/** The three characters that mean something to Slack. */
function harmless(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** At most so many characters, neither half a character nor half an escape at the end. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = text
    .slice(0, limit - 1)
    .replace(/&[a-z]{0,3}$/, '')
    .replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}…`;
}

/** A message as a person reads it in Slack, for a terminal. */
export function readInSlack({ blocks }: SlackMessage): string {
  const width = 78;
  function linesOf(block: SlackBlock): string[] {
    if (block.type === 'header') return [withoutMarkup(block.text.text), ''];
    if (block.type === 'divider') return ['─'.repeat(width)];
    if (block.type === 'context') return block.elements.flatMap(({ text }) => wrapped(withoutMarkup(text), width));
    if ('fields' in block) return [...block.fields.map(({ text }) => withoutMarkup(text).replace('\n', ': ')), ''];
    return [
      ...withoutMarkup(block.text.text)
        .split('\n')
        .flatMap((line) => wrapped(line, width)),
      '',
    ];
  }
  const lines = blocks.flatMap(linesOf);
  return lines.map((line) => `│ ${line}`.trimEnd()).join('\n');
}

function withoutMarkup(text: string): string {
  return text
    .replace(/^\*(.*)\*$/gm, '$1')
    .replace(/^```\n?|\n?```$/g, '')
    .replace(/^`(.*)`$/gm, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    if (at <= 0) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  return [...lines, rest];
}

/** A Slack incoming webhook. */
export function openSlack(settings: SlackSettings, { signal }: SinkEffects): Tell {
  return (message) =>
    post({ ...settings, headers: {}, body: JSON.stringify(slackMessage(message)), signal, knownWords: slackWords });
}
