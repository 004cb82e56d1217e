import { once } from '../base/once.ts';
import { oneLine } from '../text/safe-text.ts';
import type { OpeningFacts } from './opening-facts.ts';

/** The longest paragraph that is shown, in characters. */
export const maxOpening = 800;

/** A paragraph that may be shown, or why it must not be. */
export type CheckedOpening = { readonly text: string } | { readonly fault: string };

/**
 * Checks a paragraph that a model wrote: without markup and links, in one line, and with no number that the facts do not
 * have. The check reads the text exactly as it is shown. Pure.
 */
export function checkOpening(written: string, facts: OpeningFacts): CheckedOpening {
  const text = withinSentences(withoutMarkup(written));
  if (text === '') return { fault: 'it has no text' };
  if (text.includes('\uFFFD')) return { fault: 'it has hidden characters' };
  const invented = inventedIn(text, facts);
  return invented === undefined ? { text } : { fault: `the summary does not have "${oneLine(invented, 40)}"` };
}

/** Plain text on one line: links lose their addresses, and marks of Markdown, Slack and HTML are removed. */
function withoutMarkup(text: string): string {
  return oneLine(text.slice(0, 20 * maxOpening).normalize('NFC'))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1') // Markdown: [text](address)
    .replace(/<(?:https?:|mailto:|[@#!])[^>|]*\|([^>]*)>/gi, '$1') // Slack: <address|text>
    .replace(/<[^>]*>/g, ' ')
    .replace(/\b(?:[a-z][a-z0-9+.-]*:\/\/|www\.)\S*/gi, ' ')
    .replace(/[<>[\]{}|`*~#\\]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, ' ')
    .replace(/\s+([.,;:!?])(?=\s|$)/g, '$1')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** The first sentences that fit. */
function withinSentences(text: string): string {
  if (text.length <= maxOpening) return text;
  const end = text.slice(0, maxOpening).lastIndexOf('. ');
  return end === -1 ? '' : text.slice(0, end + 1);
}

const months = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
const monthName = `(${months.join('|')}|${months.map((name) => name.slice(0, 3)).join('|')})\\.?`;
const dayNumber = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
/** `9 November 2026`, `9th of Nov`, `November 9, 2026`, `November 2026`. */
const dates = [
  { shape: new RegExp(`\\b${dayNumber}(?: of)? ${monthName}(?:,? (\\d{4}))?\\b`, 'giu'), order: [1, 2, 3] },
  { shape: new RegExp(`\\b${monthName} ${dayNumber}(?:,? (\\d{4}))?\\b(?![.,]\\d)`, 'giu'), order: [2, 1, 3] },
  { shape: new RegExp(`\\b${monthName} (\\d{4})\\b(?![.,]\\d)`, 'giu'), order: [0, 1, 2] },
] as const;

/** Words for numbers, which no digit shows. */
const numberWords = once(
  () =>
    new RegExp(
      `\\b(?:${[
        ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
        ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
        ...[
          '(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\\w*',
          'hundreds?',
          'thousands?',
          'millions?',
          'billions?',
        ],
        ...['trillions?', 'dozens?', 'couple', 'pair', 'both', 'half', 'halves', 'halved', 'halving', 'thirds?'],
        ...['quarters?', 'fourths?', 'fifths?', 'sixths?', 'sevenths?', 'eighths?', 'ninths?', 'tenths?', 'second'],
        ...['double[ds]?', 'doubling', 'triple[ds]?', 'tripling', 'quadruple[ds]?', 'once', 'twice', 'thrice'],
        ...['twofold', 'threefold', 'tenfold', 'percent', 'k', 'm', 'bn', 'mn', 'mio'],
      ].join('|')})\\b`,
      'iu',
    ),
);

/** Roman numerals of two letters and more. */
const roman = String.raw`\b(?=[IVXLCDM]{2})M*(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b`;
/**
 * What could say a number without ASCII digits: digits and fractions of other scripts, marks, symbols, Roman numerals,
 * and scripts whose number words are not known here.
 */
const foreign = once(() => new RegExp(String.raw`(?![0-9])\p{N}|\p{M}|\p{So}|${roman}|(?!\p{Script=Latin})\p{L}`, 'u'));
/** A percentage, unless it could be the last group of a longer number. */
const percentage = /(?<!\d[^\p{L}\d]{0,5})(\d[\d.,]*)\s?(?:%|percent\b|per cent\b)/giu;
/** Numbers that only a space or a sign separates, such as 1 000: each would pass alone. */
const grouped = /\d[^\p{L}\d]*[^\p{L}\d.,:/-][^\p{L}\d]*\d/u;
const withDigit = /[\p{L}\d]*\d[\p{L}\d.,:'’/-]*/gu;

/** The first number or number word that the facts do not have; undefined if they have all. */
function inventedIn(text: string, facts: OpeningFacts): string | undefined {
  const known = knownIn(facts);
  let rest = text;
  for (const name of known.names) rest = without(rest, name);
  const strange = foreign().exec(rest);
  if (strange !== null) return strange[0];
  for (const token of known.tokens) rest = without(rest, token);
  const dated = withoutDates(rest, known.dates);
  if (dated.invented !== undefined) return dated.invented;
  rest = dated.rest;
  for (const [whole, number = ''] of rest.matchAll(percentage)) {
    if (!known.percents.has(normalized(number) ?? '')) return whole;
  }
  rest = rest.replace(percentage, checked);
  const found = numberWords().exec(rest) ?? grouped.exec(rest);
  if (found !== null) return found[0];
  for (const [token] of rest.matchAll(withDigit)) {
    const number = normalized(token.replace(/[.,:'’/-]+$/u, ''));
    if (number === undefined || !known.numbers.has(number)) return token;
  }
  return undefined;
}

/** Stands for what was checked: a word, so that numbers on its two sides are not read as one. */
const checked = ' known ';

interface Known {
  /** Longest first. */
  readonly names: readonly string[];
  readonly dates: ReadonlySet<string>;
  readonly percents: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  /** Periods and dates as they are written. */
  readonly tokens: readonly string[];
}

function knownIn(facts: OpeningFacts): Known {
  const { period, firstDay, lastDay, largestChanges, budgets, anomalies } = facts;
  const amounts = [
    ...[facts.spentUsd, facts.spentBeforeUsd, facts.changeUsd],
    ...largestChanges.flatMap(({ beforeUsd, nowUsd, changeUsd }) => [beforeUsd, nowUsd, changeUsd]),
    ...budgets.flatMap(({ spentUsd, budgetUsd }) => [spentUsd, budgetUsd]),
    ...(anomalies === null ? [] : Object.values(anomalies)),
  ];
  const percents = [facts.changePercent, ...budgets.map(({ usedPercent }) => usedPercent)];
  // A name of digits alone would let its number pass everywhere.
  const names = [...largestChanges, ...budgets].map(({ name }) => name).filter((name) => /\p{L}/u.test(name));
  const [, week] = /-W0?(\d+)$/.exec(period) ?? [];
  return {
    names: [...names, ...names.map(withoutMarkup)].toSorted((a, b) => b.length - a.length),
    dates: new Set([firstDay, lastDay]),
    percents: numbersOf(percents),
    numbers: numbersOf(amounts),
    tokens: [period, firstDay, lastDay, ...(week === undefined ? [] : [`week ${week}`])],
  };
}

function numbersOf(texts: readonly (string | null)[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => (text === null ? [] : (normalized(text) ?? []))));
}

/** The text without a name or date where it stands alone: not as part of a longer word or number. */
function without(text: string, name: string): string {
  const pattern = name.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (pattern === '') return text;
  const alone = new RegExp(`(?<![\\p{L}\\p{N}_]|[.,]|-)${pattern}(?![\\p{L}\\p{N}_-]|[.,]\\d)`, 'giu');
  return text.replace(alone, checked);
}

/** The text without the dates that the facts have, and the first date that they do not have. */
function withoutDates(text: string, known: ReadonlySet<string>): { readonly rest: string; readonly invented?: string } {
  let rest = text;
  let invented: string | undefined;
  for (const { shape, order } of dates) {
    rest = rest.replace(shape, (whole: string, ...groups: (string | undefined)[]) => {
      const [day, month, year] = order.map((group) => (group === 0 ? undefined : groups[group - 1]));
      const number = months.findIndex((name) => name.startsWith((month ?? '-').toLowerCase().slice(0, 3))) + 1;
      const isKnown = [...known].some((date) => {
        const [ofYear, ofMonth, ofDay] = date.split('-').map(Number);
        return (
          ofMonth === number &&
          (day === undefined || ofDay === Number(day)) &&
          (year === undefined || ofYear === Number(year))
        );
      });
      if (!isKnown) invented ??= whole;
      return checked;
    });
  }
  return invented === undefined ? { rest } : { rest, invented };
}

/**
 * A number as digits alone: `$1,234.50`, `+1234.5` and `1,234.5 USD` are `1234.5`. Undefined for anything else, such as
 * `1.2k` or `1.234,50`.
 */
function normalized(text: string): string | undefined {
  const [, whole, fraction = ''] =
    /^(?:usd|us)?[+-]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:usd)?$/i.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole.replaceAll(',', '').replace(/^0+(?=\d)/, '');
  return `${digits}${fraction.replace(/\.?0+$/, '')}`;
}
