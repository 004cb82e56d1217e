import { nearest } from './did-you-mean.ts';
import { UsageError } from './errors.ts';

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
