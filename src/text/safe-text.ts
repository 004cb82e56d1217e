import { once } from '../base/once.ts';

/** The longest name shown to people, in UTF-16 units; longer ones would push everything else away. */
export const maxNameLength = 80;
/** The longest sentence from outside, such as an error. */
export const maxSentenceLength = 500;

const replacement = '\uFFFD';

// Visible, although Unicode calls them format characters: Arabic, Syriac and Kaithi number signs.
const visibleFormats = String.raw`\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}`;
// Scripts in which a (non-)joiner between two letters changes the look of a word.
const joining = ['Arab', 'Syrc', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');
const withoutSpaces = String.raw`\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}`;
const rightToLeft = String.raw`\p{scx=Hebr}\p{scx=Arab}\p{scx=Syrc}\p{scx=Thaa}\p{scx=Nkoo}`;

/** Invisible characters that are part of ordinary names, in their proper places. */
const ordinary = [
  String.raw`(?<=\p{ExtPict}[\uFE0F\p{EMod}]?)\u200D(?=\p{ExtPict})`, // families, professions
  String.raw`(?<=\p{ExtPict})[\uFE0E\uFE0F]`,
  String.raw`(?<=[0-9#*])\uFE0F(?=\u20E3)`,
  String.raw`(?<=\p{Script=Han})[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`, // variants of characters in personal names
  String.raw`(?<=\p{Script=Mongolian})[\u180B-\u180F]`,
  String.raw`(?<=[${joining}])[\u200C\u200D](?=[${joining}])`,
].join('|');
/** Invisible characters in ordinary names that can be removed without harm. */
const dispensable = [
  String.raw`(?<=[${rightToLeft}])[\u061C\u200E\u200F]|[\u061C\u200E\u200F](?=[${rightToLeft}])`,
  String.raw`(?<=[${withoutSpaces}])\u200B(?=[${withoutSpaces}])`,
  String.raw`(?<=\p{L})\u00AD(?=\p{L})`,
].join('|');
const invisible = String.raw`(?![${visibleFormats}])[\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{NChar}\p{Zl}\p{Zp}]`;

const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
// Compiled for the first text that is not plain: that takes longer than short commands do.
const expressions = once(() => ({
  spaces: /[\p{Zs}\u2800]/gu,
  unseen: new RegExp(`(${ordinary})|(${dispensable})|(?:(?!${ordinary}|${dispensable})${invisible})+`, 'gu'),
  // Marks stacked higher than in any script cover the lines above; a leading mark would attach to our own text.
  stackedMarks: /(\p{M}{6})\p{M}+/gu,
  firstMark: /^\p{M}/u,
}));
// Printable ASCII, and the signs of our own sentences: each as wide in a terminal as it is long in UTF-16 units.
const plain = /^[\x20-\x7e\u2026\u{1F534}\u{1F535}\u{1F7E0}]*$/u;

/** Whether a text has only characters that need no care: safe everywhere, and as wide in a terminal as it is long. */
export function isPlain(text: string): boolean {
  return plain.test(text);
}

/**
 * A text from outside on one line: without line breaks, control characters, lone surrogates and invisible characters
 * that reverse or hide text. Such characters become U+FFFD. Ordinary names of any script stay unchanged, including
 * joiners in Arabic or emoji. Longer texts end with `…`, and no visible character is cut in two.
 */
export function oneLine(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  // Limits the work for names of a megabyte.
  const some = text.length > 4 * maxLength ? text.slice(0, 4 * maxLength) : text;
  if (isPlain(some)) return shorten(some, maxLength);
  const { spaces, unseen, stackedMarks, firstMark } = expressions();
  const safe = some
    .replace(breaks, ' ')
    .replace(spaces, ' ')
    .replace(unseen, (_, isOrdinary?: string, isDispensable?: string) =>
      isOrdinary !== undefined ? isOrdinary : isDispensable !== undefined ? '' : replacement,
    )
    .replace(stackedMarks, '$1')
    .replace(firstMark, '\u25CC$&');
  return shorten(safe, maxLength);
}

const graphemes = once(() => new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** At most this many UTF-16 units, cut between visible characters, with `…` for the rest. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let end = 0;
  for (const { index } of graphemes().segment(text.slice(0, maxLength + 64))) {
    if (index > maxLength - 1) break;
    end = index;
  }
  return `${text.slice(0, end)}…`;
}

/** Makes a text safe for a terminal, and for a log that people read. */
export function forTerminal(text: string, maxLength?: number): string {
  return oneLine(text, maxLength);
}

/**
 * For any text object of Slack: escapes the three characters that make links and mentions. Only plain_text shows the
 * others (`*`, `_`, `~`, backticks) unchanged, so names belong there. The length counts escapes, as Slack does.
 */
export function forSlack(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  let safe = oneLine(text, maxLength);
  let escaped = escapeEntities(safe);
  while (escaped.length > maxLength) {
    safe = shorten(safe, safe.length - Math.ceil((escaped.length - maxLength) / 5));
    escaped = escapeEntities(safe);
  }
  return escaped;
}

function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** For a plain-text email: mail programs would turn addresses in names into links. */
export function forMail(text: string, maxLength?: number): string {
  return oneLine(text, maxLength)
    .replaceAll('://', '[:]//')
    .replace(/\bwww\./gi, (found) => `${found.slice(0, 3)}[.]`);
}

const unseenInJson = once(() => new RegExp(invisible, 'gu'));

/** For JSON on one line of a log: escapes invisible characters, so that the value stays the same. */
export function forLog(json: string): string {
  return json.replace(unseenInJson(), (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
