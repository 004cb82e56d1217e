import type { TeamsSettings } from '../../config/index.ts';
import { type AlertEntry, bar, type Card, cardOf, dashboardLink } from '../../findings/index.ts';
import { shorten } from '../../text/safe-text.ts';
import { answerLines, footOf, moreWords, type OutgoingMessage, subjectOf } from '../message.ts';
import { post } from './post.ts';
import type { SendMessage, SinkEffects } from './sink.ts';

/** The largest body in bytes: Teams refuses messages of more than 28 KB. */
export const maxTeamsBytes = 27_000;
const maxLine = 2_000;

/** A part of an Adaptive Card. Text is in runs: unlike text blocks, they read no Markdown, so that a name cannot format. */
type Part = Readonly<Record<string, unknown>>;

const styles = { critical: 'attention', warning: 'warning', info: 'accent' } as const;

/**
 * What a Workflows webhook of Microsoft Teams receives: one Adaptive Card, with an area for each alert. Alerts that do not
 * fit are counted. Pure.
 */
export function teamsMessage(message: OutgoingMessage): Part {
  const areas =
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
  while (shown > 1 && Buffer.byteLength(JSON.stringify(card(shown))) > maxTeamsBytes) shown -= 1;
  return card(shown);
}

function areaOf(entry: AlertEntry, dashboard: string | undefined): Part {
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
function linesOf(card: Card): readonly Part[] {
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

function summaryLines({ summary }: OutgoingMessage): readonly Part[] {
  if (summary === null) return [];
  const lines = [
    ...(summary.opening === undefined ? [] : [summary.opening]),
    ...summary.text.split('\n'),
    ...(summary.answers ?? []).flatMap(answerLines),
  ];
  return [
    text(summary.title, { weight: 'Bolder', size: 'Medium' }),
    ...lines
      .filter((line) => line !== '')
      .slice(0, 100)
      .map((line) => text(line)),
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
