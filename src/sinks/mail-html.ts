import { amount, difference, signed } from '../money/money.ts';
import { html, Markup } from '../text/markup.ts';
import { forMail, oneLine } from '../text/safe-text.ts';
import type { Card, SinkAnswer, SpentShare } from './card.ts';
import type { CostSummary } from './cost-summary.ts';
import type { DrawnPicture } from './drawn-pictures.ts';
import { entriesShown, footOf, type MailedFiles, moreWords, type OutgoingMessage, subjectOf } from './message.ts';

/** The longest HTML, in characters: Gmail cuts mails off after 102 kB. */
export const maxHtml = 60_000;
/** In CSS pixels: mail programs show this width without a scroll bar. */
const width = 640;
const padding = 20;

/** The address of a picture: `cid:…` in a mail, `data:…` in a file that opens by itself. */
export type PictureAddress = (picture: DrawnPicture, index: number) => string;

/**
 * A message as HTML that Outlook, Gmail and Apple Mail show: tables, inline styles, no script, nothing from elsewhere.
 * The amount comes first, then what to do. Alerts that do not fit are counted. Pure.
 */
export function mailHtml(
  message: OutgoingMessage,
  pictures: readonly DrawnPicture[],
  addressOf: PictureAddress,
): string {
  const subject = safe(subjectOf(message));
  const dashboard = message.origin?.dashboard;
  const picture = (key: string | null) => {
    const index = pictures.findIndex((each) => each.key === key);
    const found = pictures[index];
    return found === undefined ? undefined : image(found, addressOf(found, index));
  };
  const blocks =
    message.summary === null
      ? [
          ...(message.files === undefined ? [] : [filesBlock(message.files)]),
          ...entriesShown(message).map(({ key, card, link }) => cardBlock(card, picture(key), link)),
        ]
      : [summaryBlock(message.summary, picture(null), dashboard === undefined ? undefined : `${dashboard}/`)];
  let length = 0;
  const shown = blocks.filter(({ text }, index) => {
    length += text.length;
    return index === 0 || length <= maxHtml;
  });
  const more = moreWords(message, shown.length);
  const [first] = entriesShown(message);
  const preview =
    message.summary === null ? (first?.card.next ?? message.files?.sentences[0]) : message.summary.gaps[0];
  return html`<!doctype html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${subject}</title>
<style>${new Markup(style)}</style>
</head>
<body class="page" style="margin:0;padding:0;${new Markup(on.page)}">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${safe(preview ?? '')}</div>
<div role="main"><table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="${new Markup(on.page)}"><tr><td align="center" style="padding:16px 8px">
<table role="presentation" width="${width}" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:${width}px">
<tr><td class="muted" style="padding:0 4px 10px;${new Markup(font(13, on.muted))}"><b class="ink" style="${new Markup(on.ink)}">Costbook</b>${message.origin === undefined ? '' : ` · ${safe(oneLine(message.origin.project, 80))}`}${message.isTest ? ' · test message: nothing happened' : ''}</td></tr>
${shown}
${more === undefined ? '' : row(html`<p class="ink" style="margin:0;${new Markup(font(14, on.ink))}">${safe(more)}</p>`, neutral)}
<tr><td class="muted" style="padding:6px 4px 0;${new Markup(font(12, on.muted))}">${safe(footOf(message))}</td></tr>
</table>
</td></tr></table></div>
</body>
</html>
`.text;
}

const neutral = '#8a93a2';
/** Colors of light mode; `style` has those of dark mode, by class. */
const on = {
  page: 'background-color:#eef1f5;',
  card: 'background-color:#ffffff;',
  ink: 'color:#1f2430;',
  muted: 'color:#5b6472;',
  line: '#dfe3ea',
};

function font(size: number, color: string): string {
  return `font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:${size}px;line-height:1.45;${color}`;
}

// Programs without media queries show the light colors, or change them themselves.
const style = `@media (prefers-color-scheme:dark){
.page{background-color:#14171c!important}.card{background-color:#1e232b!important;border-top-color:#39414d!important;border-right-color:#39414d!important;border-bottom-color:#39414d!important}
.ink{color:#e8ebf0!important}.muted{color:#a9b2c0!important}.rule{border-color:#39414d!important}
.next{background-color:#2a313c!important}.warning{background-color:#4a3510!important;color:#ffe2ad!important}
.track{background-color:#39414d!important}.up{color:#ff9d94!important}.down{color:#7fd6b0!important}
}
@media (max-width:480px){.card-cell{padding:16px 14px!important}}`;

function safe(text: string): string {
  return forMail(text);
}

/** How urgent an alert is, in a word and a color: not every machine has a font with the icons. */
function urgencyOf({ icon }: Card): { readonly word: string; readonly color: string } {
  return urgencies[icon] ?? { word: 'alert', color: neutral };
}

const urgencies: Readonly<Record<string, { readonly word: string; readonly color: string }>> = {
  '🔴': { word: 'critical', color: '#c62828' },
  '🟠': { word: 'warning', color: '#b35c00' },
  '🔵': { word: 'info', color: '#1668b8' },
  '✅': { word: 'resolved', color: '#1d7a48' },
};

/** A white card with a colored edge. */
function row(content: Markup, color: string): Markup {
  return html`<tr><td style="padding:0 0 12px"><table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="${new Markup(on.card)}border:1px solid ${on.line};border-left:4px solid ${color};border-radius:6px"><tr><td class="card-cell" style="padding:18px ${padding}px">${content}</td></tr></table></td></tr>
`;
}

function filesBlock({ title, sentences }: MailedFiles): Markup {
  return row(html`${heading(title)}${sentences.map(paragraph)}`, neutral);
}

function heading(title: string): Markup {
  return html`<h1 class="ink" style="margin:0 0 10px;${new Markup(font(18, on.ink))}line-height:1.35;font-weight:bold">${safe(title)}</h1>
`;
}

function cardBlock(card: Card, picture: Markup | undefined, link: string | undefined): Markup {
  const { title, share, sentences, next, warnings, fields, list, notes, answers } = card;
  const { word, color } = urgencyOf(card);
  return row(
    html`<p style="margin:0 0 6px"><span style="display:inline-block;background-color:${color};border-radius:3px;padding:1px 7px;${new Markup(font(11, 'color:#ffffff;'))}font-weight:bold;letter-spacing:.4px;text-transform:uppercase">${word}</span></p>
${heading(title)}${next === undefined ? '' : nextBox(next)}
${share === undefined ? '' : shareBar(share, color)}
${sentences.map((sentence) => paragraph(sentence))}
${warnings.map((warning) => warningBox(warning))}
${picture ?? ''}
${fields.length === 0 ? '' : fieldTable(fields)}
${list === undefined ? '' : listOf(list)}
${answers.map(answerBox)}
${link === undefined ? '' : button(link)}
<p class="muted" style="margin:12px 0 0;${new Markup(font(12, on.muted))}word-break:break-word">${safe(notes.join(' · '))}</p>`,
    color,
  );
}

function paragraph(text: string): Markup {
  return html`<p class="ink" style="margin:0 0 8px;${new Markup(font(14, on.ink))}">${safe(text)}</p>
`;
}

function nextBox(next: string): Markup {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 12px"><tr><td class="next ink" style="background-color:#eef1f5;border-radius:4px;padding:9px 12px;${new Markup(font(14, on.ink))}"><b>→</b> ${safe(next)}</td></tr></table>`;
}

function warningBox(text: string): Markup {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 10px"><tr><td class="warning" style="background-color:#fff2d6;border-radius:4px;padding:8px 12px;${new Markup(font(13, 'color:#5c3d00;'))}">⚠ ${safe(text)}</td></tr></table>`;
}

/** What an agent answered: its text alone, without links. */
function answerBox({ sink, text }: SinkAnswer): Markup {
  return html`<p class="ink" style="margin:0 0 4px;${new Markup(font(13, on.ink))}font-weight:bold">${safe(sink)} answered</p>
${text.split('\n').map((line) => paragraph(line))}`;
}

/** The used part of a budget as a bar of two cells, and in words. */
function shareBar({ percent, word }: SpentShare, color: string): Markup {
  const filled = Math.max(1, Math.min(100, Math.round(percent)));
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 12px"><tr>
<td style="padding:0 10px 0 0"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td width="${filled}%" bgcolor="${color}" style="height:10px;line-height:10px;font-size:0;background-color:${color}">&nbsp;</td>${filled === 100 ? '' : html`<td class="track" bgcolor="#dfe3ea" style="height:10px;line-height:10px;font-size:0;background-color:#dfe3ea">&nbsp;</td>`}</tr></table></td>
<td class="ink" width="100" align="right" style="${new Markup(font(14, on.ink))}font-weight:bold;white-space:nowrap">${percent.toFixed(1)} % ${word}</td>
</tr></table>`;
}

function image({ alternative, width: pixels, height }: DrawnPicture, address: string): Markup {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:4px 0 12px"><tr><td style="background-color:#ffffff"><img src="${address}" width="${pixels}" height="${height}" alt="${safe(alternative)}" style="display:block;width:100%;max-width:${pixels}px;height:auto;border:0;background-color:#ffffff;${new Markup(font(13, 'color:#1f2430;'))}"></td></tr></table>`;
}

function fieldTable(fields: Card['fields']): Markup {
  return html`<table role="presentation" class="ink" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 10px">${fields.map(
    ({ label, value }) =>
      html`<tr><td class="muted" style="padding:2px 16px 2px 0;vertical-align:top;${new Markup(font(13, on.muted))}">${label}</td><td class="ink" style="padding:2px 0;word-break:break-word;${new Markup(font(13, on.ink))}">${safe(value)}</td></tr>
`,
  )}</table>`;
}

function listOf({ label, items }: NonNullable<Card['list']>): Markup {
  return html`<p class="ink" style="margin:0 0 4px;${new Markup(font(13, on.ink))}font-weight:bold">${safe(label)}</p>
<ul class="ink" style="margin:0 0 10px;padding:0 0 0 20px;${new Markup(font(13, on.ink))}word-break:break-word">${items.map((item) => html`<li style="margin:0 0 2px">${safe(item)}</li>`)}</ul>`;
}

/** A link that looks like a button also where a mail program ignores padding of links. */
function button(link: string): Markup {
  return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:4px 0 0"><tr><td bgcolor="#1668b8" style="background-color:#1668b8;border-radius:4px;padding:9px 16px"><a href="${link}" style="${new Markup(font(14, 'color:#ffffff;'))}font-weight:bold;text-decoration:none">Open in the dashboard</a></td></tr></table>`;
}

function summaryBlock(summary: CostSummary, picture: Markup | undefined, link: string | undefined): Markup {
  const { title, spent, spentBefore, movers, budgets, anomalies, gaps, start, end, opening, answers = [] } = summary;
  return row(
    html`<h1 class="ink" style="margin:0 0 4px;${new Markup(font(20, on.ink))}line-height:1.3;font-weight:bold">${safe(title)}</h1>
<p class="muted" style="margin:0 0 12px;${new Markup(font(13, on.muted))}">${start.slice(0, 10)} to ${end.slice(0, 10)} (exclusive), UTC. Period before: ${spentBefore === null ? 'unknown' : `${amount(spentBefore)} USD`}.${spent === null ? ' What this period cost is unknown.' : ''}</p>
${opening === undefined ? '' : paragraph(opening)}
${gaps.map((gap) => warningBox(gap))}
${picture ?? ''}
${moverTable(movers)}
${budgetTable(budgets)}
${anomalies === null ? '' : anomalyParagraph(anomalies)}
${answers.map(answerBox)}
${link === undefined ? '' : button(link)}`,
    '#1668b8',
  );
}

interface Column {
  readonly head: string;
  readonly isNumber?: boolean;
}

function dataTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (string | Markup)[])[],
): Markup {
  if (rows.length === 0) return html``;
  const cell = (index: number) =>
    `padding:5px 0 5px ${index === 0 ? 0 : 12}px;border-bottom:1px solid ${on.line};vertical-align:top;`;
  const align = (index: number) => (columns[index]?.isNumber === true ? 'right' : 'left');
  return html`<h2 class="ink" style="margin:14px 0 4px;${new Markup(font(15, on.ink))}font-weight:bold">${caption}</h2>
<table class="ink" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 12px;border-collapse:collapse">
<tr>${columns.map(({ head }, index) => html`<th class="rule muted" scope="col" align="${align(index)}" style="${cell(index)}${new Markup(font(12, on.muted))}font-weight:normal">${head}</th>`)}</tr>
${rows.map(
  (cells) =>
    html`<tr>${cells.map((content, index) => html`<td class="rule ink" align="${align(index)}" style="${cell(index)}${new Markup(font(13, on.ink))}${columns[index]?.isNumber === true ? 'white-space:nowrap' : 'word-break:break-word'}">${typeof content === 'string' ? safe(content) : content}</td>`)}</tr>
`,
)}</table>`;
}

function moverTable(movers: CostSummary['movers']): Markup {
  return dataTable(
    'Largest changes, USD',
    [
      { head: 'Resource' },
      { head: 'Before', isNumber: true },
      { head: 'Now', isNumber: true },
      { head: 'Change', isNumber: true },
    ],
    movers.map(({ name, cost, costBefore }) => {
      const change = difference(cost, costBefore);
      const isMore = !change.startsWith('-');
      return [
        oneLine(name, maxCell),
        amount(costBefore),
        amount(cost),
        html`<span class="${isMore ? 'up' : 'down'}" style="color:${isMore ? '#b3261e' : '#14663c'}">${signed(change)}</span>`,
      ];
    }),
  );
}

const maxCell = 60;

function budgetTable(budgets: CostSummary['budgets']): Markup {
  const words: Readonly<Record<string, string>> = {
    OK: 'on track',
    WARNING: 'near its limit',
    FORECAST: 'forecast to exceed',
    EXCEEDED: 'exceeded',
    'NO COUNTS': 'no counts yet',
  };
  return html`${dataTable(
    `Budgets in their current periods${budgets.every(({ unit }) => unit === undefined) ? ', USD' : ''}`,
    [{ head: 'Budget' }, { head: 'Spent', isNumber: true }, { head: 'Of', isNumber: true }, { head: 'State' }],
    budgets
      .slice(0, maxBudgets)
      .map(({ budget, period, unit, spent, amount: whole, share, state }) => [
        html`${safe(oneLine(budget, maxCell))}<br><span class="muted" style="${new Markup(on.muted)}">${period}</span>`,
        spent === null ? 'unknown' : amount(spent),
        unit === undefined ? amount(whole) : html`${amount(whole)}<br>${unit}`,
        html`${share === null ? '' : html`${share} %<br>`}${words[state ?? ''] ?? 'unknown'}`,
      ]),
  )}${budgets.length <= maxBudgets ? '' : paragraph(`and ${budgets.length - maxBudgets} more budgets; "costbook budgets" lists them`)}${budgets
    .flatMap(({ forecast }) => forecast ?? [])
    .slice(0, maxBudgets)
    .map((sentence) => paragraph(sentence))}`;
}

const maxBudgets = 40;

function anomalyParagraph({ open, openImpact, over, overImpact }: NonNullable<CostSummary['anomalies']>): Markup {
  const parts = [
    ...(open === 0 ? [] : [`${open} open, ${signed(openImpact)} USD so far`]),
    ...(over === 0 ? [] : [`${over} ended, ${signed(overImpact)} USD`]),
  ];
  return parts.length === 0 ? html`` : paragraph(`Anomalies: ${parts.join('; ')}.`);
}
