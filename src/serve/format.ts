import { groupedAmount, plainDecimal, relative, signed, usdUnit } from '../money/money.ts';
import { counted } from '../text/counted.ts';
import { shownInstant } from '../time/time.ts';
import { html, type Markup } from './markup.ts';

export { amount, relative, signed } from '../money/money.ts';

/**
 * A figure of the catalogue in sql/figures, and what it is about: a subject as its SQL names it. What a budget has left follows
 * from what is spent, and what to save a day from its end.
 */
export type Figure = readonly [
  name:
    | 'anomaly_day_cost'
    | 'anomaly_day_expected'
    | 'anomaly_impact'
    | 'budget_amount'
    | 'budget_daily'
    | 'budget_end'
    | 'budget_end_over'
    | 'budget_left'
    | 'budget_over'
    | 'budget_pace'
    | 'budget_save_daily'
    | 'budget_spent'
    | 'budget_within_daily'
    | 'budget_young'
    | 'changed_cost'
    | 'idle_cost'
    | 'month_billed'
    | 'month_changed_cost'
    | 'month_closed_cost'
    | 'month_cost'
    | 'month_cost_complete'
    | 'month_end'
    | 'month_to_bill'
    | 'month_young_cost'
    | 'never_listed_cost'
    | 'open_impact'
    | 'owned_cost'
    | 'owner_cost'
    | 'resource_cost_since'
    | 'savings'
    | 'series_change'
    | 'storage_cost',
  subject: string,
];

/** A cell with an amount: to the cent or as `shown`, exact on hover. USD, if no other unit is given. */
export function money(
  text: string,
  how: {
    readonly isSigned?: boolean;
    readonly unit?: string;
    readonly figure?: Figure;
    readonly shown?: string;
  } = {},
): Markup {
  const shown = how.shown ?? (how.isSigned === true ? signed(text) : groupedAmount(text, how.unit));
  const [name, subject] = how.figure ?? [];
  const figure = name === undefined ? '' : html` data-figure="${name}" data-of="${subject}"`;
  return html`<data value="${text}" title="${`${trimmed(text)} ${how.unit ?? usdUnit}`.trimEnd()}"${figure}>${shown}</data>`;
}

/** Decimal text without the zeros at its end, but with cents. */
function trimmed(text: string): string {
  return text.includes('.')
    ? text.replace(/0+$/, '').replace(/\.(\d?)$/, (_, digit) => `.${digit}${digit === '' ? '00' : '0'}`)
    : text;
}

/** A change in percent; `new` of what cost nothing before. */
export function relativeOrNew(now: string, before: string): string {
  return relative(now, before) ?? (Number(now) === 0 ? '' : 'new');
}

/** A quantity of usage for people, with at most two decimals: `12,345.6`. */
export function quantity(text: string): string {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }).format(Number(text));
}

/** A cell with a price per unit: four digits, exact on hover; empty without a price. */
export function price(text: string | undefined): Markup | string {
  if (text === undefined) return '';
  return html`<data value="${text}" title="${trimmed(text)} USD">${plainDecimal(Number(Number(text).toPrecision(4)))}</data>`;
}

/** The part of an amount in hours that are not complete yet, as every page says it; nothing if there is none. */
export function incompleteWords(amount: Markup | string | undefined): Markup | '' {
  return amount === undefined ? '' : html`<br><span class="empty">${amount} in incomplete hours</span>`;
}

/** An instant of the books, as `2026-10-04T05:00:00Z`, in a cell, on one line; nothing for none. */
export function time(instant: unknown): Markup | '' {
  if (typeof instant !== 'string') return '';
  return html`<time class="state" datetime="${instant}">${shownInstant(instant)}</time>`;
}

/** A share in per cent, with one decimal. */
export function share(percent: number): Markup {
  const shown = percent.toFixed(1);
  return html`<data value="${shown}">${shown} %</data>`;
}

/** A part of a whole, both as decimal text, in per cent; nothing of a whole that is 0. */
export function shareOf(part: string | undefined, whole: string | undefined): Markup | '' {
  return Number(whole ?? 0) === 0 ? '' : share((Number(part ?? 0) / Number(whole)) * 100);
}

/** A size for people, in powers of 1000. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  const [unit, words] = bytes < 1e6 ? [1000, 'kB'] : bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB'];
  return `${(bytes / Number(unit)).toFixed(1)} ${words}`;
}
