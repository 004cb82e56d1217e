import { forSlack, forTerminal } from '../text/safe-text.ts';
import { answerLines, bar, type Card } from './card.ts';
import { entriesShown, footOf, moreWords, type OutgoingMessage, subjectOf } from './message.ts';

/** Slack's published limits: blocks per message, and characters per text. */
export const slackLimits = {
  blocks: 50,
  header: 150,
  section: 3000,
  fields: 10,
  field: 2000,
  contextElements: 10,
  text: 4000,
};

/** Shown literally, without formatting, links, mentions or emoji. All texts from outside go here. */
interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: false;
}
/** Only for our own words. */
interface Mrkdwn {
  readonly type: 'mrkdwn';
  readonly text: string;
  /** Prevents names and addresses from becoming links. */
  readonly verbatim: true;
}
export type SlackBlock =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: PlainText | Mrkdwn }
  | { readonly type: 'section'; readonly fields: readonly (PlainText | Mrkdwn)[] }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] };

/** A message for an incoming webhook. `text` is for notifications and for clients that show no blocks. */
export interface SlackMessage {
  readonly text: string;
  /** Prevents names in `text` from becoming markup. */
  readonly mrkdwn: false;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
  readonly blocks: readonly SlackBlock[];
}

/** A message within Slack's limits, for any content. Pure. */
export function slackMessage(message: OutgoingMessage): SlackMessage {
  const text = linesWithin(fallbackLines(message), slackLimits.text);
  return { text, mrkdwn: false, unfurl_links: false, unfurl_media: false, blocks: blocksOf(message) };
}

function blocksOf(message: OutgoingMessage): SlackBlock[] {
  const head = header(subjectOf(message));
  const foot = context([footOf(message)]);
  if (message.summary !== null) {
    const { opening, text, answers = [] } = message.summary;
    const first = opening === undefined ? [] : [section([opening])];
    const last = answers.slice(0, maxAnswers).map((answer) => section(answerLines(answer)));
    const most = slackLimits.blocks - 3 - first.length - last.length;
    return [head, ...first, ...preformatted(text, most), ...last, ...linkBlocks(message), foot];
  }
  const cards = entriesShown(message).map(({ card }) => card);
  const [only] = cards;
  if (cards.length === 1 && only !== undefined) return [head, ...cardBlocks(only), ...linkBlocks(message), foot];
  // Three blocks per alert (title, text, context), plus head, foot, link, and the line that counts what is left out.
  const perCard = 3;
  const shown = cards.slice(0, Math.floor((slackLimits.blocks - 4) / perCard));
  const more = moreWords(message, shown.length);
  return [
    head,
    ...shown.flatMap(shortCardBlocks),
    ...(more === undefined ? [] : [section([more])]),
    ...linkBlocks(message),
    foot,
  ];
}

/** A message shows the answers of this many agents. */
const maxAnswers = 5;

/** The text of a notification: every title. */
function fallbackLines(message: OutgoingMessage): string[] {
  const titles = entriesShown(message)
    .map(({ card }) => card)
    .map(({ icon, title }) => `${icon} ${title}`);
  return titles.length > 1 ? [subjectOf(message), ...titles] : [subjectOf(message)];
}

function cardBlocks(card: Card): SlackBlock[] {
  const lines = cardLines(card);
  return [
    ...(lines.length === 0 ? [] : [section(lines)]),
    ...fieldBlocks(card.fields),
    ...(card.list === undefined ? [] : [section(listLines(card.list))]),
    ...card.answers.slice(0, maxAnswers).map((answer) => section(answerLines(answer))),
    context(card.notes),
  ];
}

/** A link to the dashboard: to the alert's page if it is the only one; nothing without a dashboard. */
function linkBlocks({ origin, entries }: OutgoingMessage): SlackBlock[] {
  const dashboard = origin?.dashboard;
  if (dashboard === undefined) return [];
  const [entry] = entries;
  const link = (entries.length === 1 ? entry?.link : undefined) ?? `${dashboard}/`;
  // The signs that would end the link cannot occur in it: names are encoded, and the configured address is a URL.
  return [{ type: 'section', text: mrkdwn(`<${link}|Open in the dashboard>`) }];
}

function shortCardBlocks(card: Card): SlackBlock[] {
  const lines = [
    ...cardLines(card),
    ...(card.list === undefined ? [] : listLines(card.list)),
    ...card.answers.flatMap(answerLines),
  ];
  // A header instead of a divider: it is bold without markup and needs no extra block.
  return [header(`${card.icon} ${card.title}`), ...(lines.length === 0 ? [] : [section(lines)]), context(card.notes)];
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

/** Two columns: our label in bold, and the literal value. */
function fieldBlocks(fields: Card['fields']): SlackBlock[] {
  const perBlock = slackLimits.fields / 2;
  return Array.from({ length: Math.ceil(fields.length / perBlock) }, (_, index) => ({
    type: 'section',
    fields: fields
      .slice(index * perBlock, (index + 1) * perBlock)
      .flatMap(({ label, value }) => [mrkdwn(`*${label}*`), plain(value, slackLimits.field)]),
  }));
}

/** Fixed-width lines, in as many sections as needed. Backticks are replaced, because they would end the code block. */
function preformatted(text: string, most: number): SlackBlock[] {
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
  return blocks.length <= most
    ? blocks
    : [...blocks.slice(0, most - 1), section(['… "costbook summarize --dry-run" shows the rest'])];
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
  const safe = forSlack(text, limit);
  // Slack refuses the whole message if one of its texts is empty: a name may be.
  return { type: 'plain_text', text: safe.trim() === '' ? '–' : safe, emoji: false };
}

function mrkdwn(text: string): Mrkdwn {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** Long lines are cut, to leave room for others. */
const maxLine = 1000;

/** As many lines as fit. */
function linesWithin(lines: readonly string[], limit: number): string {
  let text = '';
  for (const line of lines) {
    const more = `${text === '' ? '' : '\n'}${forSlack(line, maxLine)}`;
    if (text.length + more.length > limit - 2) return `${text}\n…`;
    text += more;
  }
  return text;
}

/** Shows in a terminal what a person sees in Slack. */
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
