import { shorten } from '../../text/safe-text.ts';
import { rule, single } from '../../yaml/index.ts';
import { answerLines, bar, type Card } from '../card.ts';
import { entriesShown, footOf, type MessageEntry, moreWords, type OutgoingMessage, subjectOf } from '../message.ts';
import {
  allowPrivateNetwork,
  parseTargetUrl,
  placeOf,
  sinkMapping,
  type Target,
  targetCheck,
  urlSecrets,
} from '../settings.ts';
import type { SinkType } from '../sink.ts';

/** Posts to a Workflows webhook of Microsoft Teams. */
export interface TeamsSettings extends Target {
  readonly type: 'teams';
  /** The address of the workflow, which is a secret. */
  readonly url: string;
}

export const teams: SinkType<TeamsSettings> = {
  role: 'people',
  shape: () => sinkMapping('teams', { url: single(parseTargetUrl), allowPrivateNetwork }).check(rule(targetCheck())),
  secrets: ({ url }) => urlSecrets(url),
  secretKeys: ['url'],
  place: (settings) => placeOf(settings.url, settings),
  open:
    (settings, { signal }) =>
    async (message) => {
      const { post } = await import('../post.ts');
      return post({ ...settings, headers: {}, body: JSON.stringify(teamsMessage(message)), signal });
    },
  previews: { json: teamsMessage },
};

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
      ? entriesShown(message).map((entry) => areaOf(entry))
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

function areaOf({ card, link, transition, fact }: MessageEntry): Area {
  const isOver = transition === 'resolved';
  return {
    type: 'Container',
    style: isOver ? 'good' : styles[fact.severity],
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
