import type { SlackSettings } from '../../config/index.ts';
import { forSlack, forTerminal } from '../../safe-text.ts';
import { bar, type Card, cardOf, footOf, moreWords, type OutgoingMessage, subjectOf } from '../message.ts';
import { post } from './post.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

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

/** Shown as it is, without bold, code, links, mentions and emoji names: the only place for texts from outside. */
interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: false;
}
/** Only for words of our own. */
interface Mrkdwn {
  readonly type: 'mrkdwn';
  readonly text: string;
  /** No names and addresses in it become links. */
  readonly verbatim: true;
}
export type SlackBlock =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: PlainText | Mrkdwn }
  | { readonly type: 'section'; readonly fields: readonly (PlainText | Mrkdwn)[] }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] };

/** A message as an incoming webhook takes it; `text` is for notifications, and for who shows no blocks. */
export interface SlackMessage {
  readonly text: string;
  /** Of `text`: names in it are no markup. */
  readonly mrkdwn: false;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
  readonly blocks: readonly SlackBlock[];
}

/** A message within Slack's limits, whatever it tells. Pure. */
export function slackMessage(message: OutgoingMessage): SlackMessage {
  const text = linesWithin(fallbackLines(message), slackLimits.text);
  return { text, mrkdwn: false, unfurl_links: false, unfurl_media: false, blocks: blocksOf(message) };
}

function blocksOf(message: OutgoingMessage): SlackBlock[] {
  const head = header(subjectOf(message));
  const foot = context([footOf(message)]);
  if (message.summary !== null) return [head, ...preformatted(message.summary.text), foot];
  const cards = message.entries.map(cardOf);
  const [only] = cards;
  if (cards.length === 1 && only !== undefined) return [head, ...cardBlocks(only), foot];
  // Head, foot, and a line that counts what is left out; of each alert its title, what it says and its context.
  const perCard = 3;
  const shown = cards.slice(0, Math.floor((slackLimits.blocks - 3) / perCard));
  const more = moreWords(message, shown.length);
  return [head, ...shown.flatMap(shortCardBlocks), ...(more === undefined ? [] : [section([more])]), foot];
}

/** What a notification shows: every title. */
function fallbackLines(message: OutgoingMessage): string[] {
  const titles = message.entries.map(cardOf).map(({ icon, title }) => `${icon} ${title}`);
  return titles.length > 1 ? [subjectOf(message), ...titles] : [subjectOf(message)];
}

function cardBlocks(card: Card): SlackBlock[] {
  const said = cardLines(card);
  return [
    ...(said.length === 0 ? [] : [section(said)]),
    ...fieldBlocks(card.fields),
    ...(card.list === undefined ? [] : [section(listLines(card.list))]),
    context(card.notes),
  ];
}

function shortCardBlocks(card: Card): SlackBlock[] {
  const said = [...cardLines(card), ...(card.list === undefined ? [] : listLines(card.list))];
  // A header in the place of a divider keeps the number of blocks, and is bold without markup.
  return [header(`${card.icon} ${card.title}`), ...(said.length === 0 ? [] : [section(said)]), context(card.notes)];
}

function cardLines(card: Card): string[] {
  return [
    ...(card.share === undefined ? [] : [bar(card.share)]),
    ...card.sentences,
    ...(card.next === undefined ? [] : [`→ ${card.next}`]),
    ...card.warnings.map((warning) => `⚠ ${warning}`),
  ];
}

function listLines({ label, items }: NonNullable<Card['list']>): string[] {
  return [`${label}:`, ...items.map((item) => `• ${item}`)];
}

/** Two columns: our own label in bold, and the value as it is. */
function fieldBlocks(fields: Card['fields']): SlackBlock[] {
  const perBlock = slackLimits.fields / 2;
  return Array.from({ length: Math.ceil(fields.length / perBlock) }, (_, index) => ({
    type: 'section',
    fields: fields
      .slice(index * perBlock, (index + 1) * perBlock)
      .flatMap(({ label, value }) => [mrkdwn(`*${label}*`), plain(value, slackLimits.field)]),
  }));
}

/** Lines of one width, in as many sections as they need. In code only its end means something. */
function preformatted(text: string): SlackBlock[] {
  const blocks: SlackBlock[] = [];
  let lines: string[] = [];
  function flush(): void {
    if (lines.length > 0) blocks.push({ type: 'section', text: mrkdwn(`\`\`\`\n${lines.join('\n')}\n\`\`\``) });
    lines = [];
  }
  for (const line of text.split('\n')) {
    const safe = forSlack(line.replaceAll('`', "'"), 1000);
    if (lines.join('\n').length + safe.length > slackLimits.section - 20) flush();
    lines.push(safe);
  }
  flush();
  const most = slackLimits.blocks - 2;
  return blocks.length <= most
    ? blocks
    : [...blocks.slice(0, most - 1), section(['and more: costbook summarize --dry-run'])];
}

function header(text: string): SlackBlock {
  return { type: 'header', text: plain(text, slackLimits.header) };
}

function section(lines: readonly string[]): SlackBlock {
  return { type: 'section', text: { type: 'plain_text', text: linesWithin(lines, slackLimits.section), emoji: false } };
}

function context(lines: readonly string[]): SlackBlock {
  return { type: 'context', elements: lines.map((line) => plain(line, slackLimits.field)) };
}

function plain(text: string, limit: number): PlainText {
  return { type: 'plain_text', text: forSlack(text, limit), emoji: false };
}

function mrkdwn(text: string): Mrkdwn {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** No line is so long that there is no place for others. */
const maxLine = 1000;

/** As many lines as there is place for. */
function linesWithin(lines: readonly string[], limit: number): string {
  let text = '';
  for (const line of lines) {
    const more = `${text === '' ? '' : '\n'}${forSlack(line, maxLine)}`;
    if (text.length + more.length > limit - 2) return `${text}\n…`;
    text += more;
  }
  return text;
}

/** A message as a person reads it in Slack, for a terminal. */
export function readInSlack({ blocks }: SlackMessage): string {
  const width = 78;
  function linesOf(block: SlackBlock): string[] {
    if (block.type === 'header') return [readText(block.text), ''];
    if (block.type === 'context') return block.elements.flatMap((element) => wrapped(readText(element), width));
    if ('fields' in block) {
      const texts = block.fields.map(readText);
      return [...texts.flatMap((label, index) => (index % 2 === 0 ? [`${label}: ${texts[index + 1] ?? ''}`] : [])), ''];
    }
    return [
      ...readText(block.text)
        .split('\n')
        .flatMap((line) => wrapped(line, width)),
      '',
    ];
  }
  const lines = blocks.flatMap(linesOf);
  return lines.map((line) => `│ ${forTerminal(line)}`.trimEnd()).join('\n');
}

function readText({ type, text }: PlainText | Mrkdwn): string {
  const shown = type === 'plain_text' ? text : text.replace(/^\*(.*)\*$/g, '$1').replace(/^```\n?|\n?```$/g, '');
  return shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
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
export function openSlack(settings: SlackSettings, { signal }: SinkEffects): SendMessage {
  return (message) =>
    post({ ...settings, headers: {}, body: JSON.stringify(slackMessage(message)), signal, knownWords: slackWords });
}
