import type { TeamsSettings } from '../../config/index.ts';
import { type AlertEntry, bar, type Card, cardOf, dashboardLink } from '../../findings/index.ts';
import { shorten } from '../../text/safe-text.ts';
import { answerLines, footOf, moreWords, type OutgoingMessage, subjectOf } from '../message.ts';
import { post } from './post.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

/** The largest body in bytes: Teams refuses messages of more than 28 KB. */
const maxTeamsBytes = 27_000;
const maxLine = 2_000;

/** A part of an Adaptive Card. Text is in runs: unlike text blocks, they read no Markdown, so that a name cannot format. */
type Part = Readonly<Record<string, unknown>>;
type Area = Part & { readonly items: Part[] };

const rest = '… costbook alerts --open, or costbook summarize --dry-run, shows the rest';

const styles = { critical: 'attention', warning: 'warning', info: 'accent' } as const;

/**
 * What a Workflows webhook of Microsoft Teams receives: one Adaptive Card, with an area for each alert. Alerts that do not
 * fit are counted. Pure.
 */
export function teamsMessage(message: OutgoingMessage): Part {
  const areas: Area[] =
    message.summary === null
      ? message.entries.map((entry) => areaOf(entry, message.origin?.dashboard))
      : [{ type: 'Container', items: summaryLines(message) }];
  const card = (shown: number) => {
    const more = moreWords(message, shown);
    const body = [
      ...areas.slice(0, shown),
      ...(more === undefined ? [] : [text(more)]),
      text(footOf(message), { isSubtle: true, size: 'Small' }),
    ];
    return {
      type: 'message',
      summary: subjectOf(message),
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: { type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' }, body },
        },
      ],
    };
  };
  let shown = areas.length;
  const isTooLarge = () => Buffer.byteLength(JSON.stringify(card(shown))) > maxTeamsBytes;
  while (shown > 1 && isTooLarge()) shown -= 1;
  // Of a single alert that is too large, the end of its list goes; its key stays.
  const [{ items } = { items: [] }] = areas;
  const isCut = isTooLarge();
  while (items.length > 3 && isTooLarge()) items.splice(-2, 1);
  if (isCut) items.splice(-1, 0, text(rest));
  return card(shown);
}

function areaOf(entry: AlertEntry, dashboard: string | undefined): Area {
  const card = cardOf(entry);
  const link = dashboardLink(dashboard, entry.key, entry.fact);
  const isOver = entry.transition === 'resolved';
  return {
    type: 'Container',
    style: isOver ? 'good' : styles[entry.fact.severity],
    items: linesOf(card),
    ...(link === undefined ? {} : { selectAction: { type: 'Action.OpenUrl', url: link } }),
  };
}

/** The title, what to do, and then why. */
function linesOf(card: Card): Part[] {
  return [
    text(`${card.icon} ${card.title}`, { weight: 'Bolder', size: 'Medium' }),
    ...(card.share === undefined ? [] : [text(bar(card.share), { fontType: 'Monospace' })]),
    ...card.sentences.map((line) => text(line)),
    ...(card.next === undefined ? [] : [text(card.next, { weight: 'Bolder' })]),
    ...card.warnings.map((line) => text(`⚠ ${line}`)),
    ...card.fields.map(({ label, value }) => text(`${label}: ${value}`)),
    ...(card.list === undefined
      ? []
      : [text(`${card.list.label}:`), ...card.list.items.map((line) => text(`– ${line}`))]),
    ...card.answers.flatMap((answer) => answerLines(answer).map((line) => text(line))),
    text(card.notes.join(' · '), { isSubtle: true, size: 'Small' }),
  ];
}

/** The text has tables for letters of one width. */
function summaryLines({ summary }: OutgoingMessage): Part[] {
  if (summary === null) return [];
  const lines = (all: readonly string[], look: Part = {}) =>
    all.filter((line) => line !== '').map((line) => text(line, look));
  return [
    text(summary.title, { weight: 'Bolder', size: 'Medium' }),
    ...lines([
      ...(summary.opening === undefined ? [] : [summary.opening]),
      ...(summary.answers ?? []).flatMap(answerLines),
    ]),
    ...lines(summary.text.split('\n'), { fontType: 'Monospace' }),
  ];
}

function text(line: string, look: Part = {}): Part {
  const run = { type: 'TextRun', text: shorten(line, maxLine), ...look };
  return { type: 'RichTextBlock', inlines: [run], spacing: 'Small' };
}

/** Opens a sink that posts to a Workflows webhook of Microsoft Teams. */
export function openTeams(settings: TeamsSettings, { signal }: SinkEffects): SendMessage {
  return (message) => post({ ...settings, headers: {}, body: JSON.stringify(teamsMessage(message)), signal });
}
