import { closest, distance } from 'fastest-levenshtein';
import { UsageError } from '../base/errors.ts';

/** One of `choices`. Throws UsageError with what was found, what was expected and the most similar choice. */
export function parseChoice<T extends string>(text: string, choices: readonly T[]): T {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  const guess = nearest(text, choices);
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  throw new UsageError(`found ${quoted(text)}, expected ${oneOf(choices)}${hint}`);
}

/** `true` or `false`. Throws UsageError for any other text. */
export function parseTrueOrFalse(text: string): boolean {
  return parseChoice(text, ['true', 'false']) === 'true';
}

/** A text quoted for one line of a message. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** `a, b or c`; a long list is cut. */
export function oneOf(names: readonly string[]): string {
  const shown = names.length > 20 ? [...names.slice(0, 20), `${names.length - 20} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}` : (shown[0] ?? '');
}

/** Longer than any known name: comparing longer texts is slow and finds nothing. */
const maxLength = 200;

/** The known name that was probably meant, ignoring case, dots, dashes and underscores; undefined if none is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const written = plainName(name);
  if (known.length === 0 || written.length < 3 || name.length > maxLength) return undefined;
  const plain = new Map(known.map((candidate) => [plainName(candidate), candidate]));
  const best = closest(written, [...plain.keys()]);
  // Up to a third of the letters, and always two: tokne is token.
  return distance(written, best) <= Math.max(2, Math.floor(written.length / 3)) ? plain.get(best) : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[._-]/g, '');
}

/** At most this many names are compared with each other: the time grows with their square. */
const maxTwinNames = 1000;

/**
 * Pairs of names that are probably two spellings of one: equal except for case, blanks and punctuation, or one or two
 * letters apart. Each pair is in the order of `names`. Names that differ in a number (`team-1`, `team-2`) are not a pair.
 */
export function nearTwins(names: readonly string[]): [string, string][] {
  const written = names
    .slice(0, maxTwinNames)
    .filter((name) => name.length <= maxLength)
    .map((name) => ({
      name,
      plain: name
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]/gu, ''),
    }));
  return written.flatMap(({ name, plain }, index) =>
    written.slice(index + 1).flatMap((other): [string, string][] => {
      return areTwins(plain, other.plain) ? [[name, other.name]] : [];
    }),
  );
}

function areTwins(one: string, other: string): boolean {
  if (one === other) return one !== '';
  if (one.replace(/\P{N}/gu, '') !== other.replace(/\P{N}/gu, '')) return false;
  const length = Math.min(one.length, other.length);
  // Two swapped letters count as a distance of two.
  const apart = length >= 8 ? 2 : length >= 5 ? 1 : 0;
  return Math.abs(one.length - other.length) <= apart && apart > 0 && distance(one, other) <= apart;
}
