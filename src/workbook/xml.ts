import { escapeMarkup } from '../text/markup.ts';

/** The most characters that a cell holds. */
export const maxCellLength = 32_767;

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold these characters
const notInXml = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\r]|_(?=x[0-9A-Fa-f]{4}_)/g;

/**
 * A text as the content of a cell. What XML cannot hold is written as Office writes it, `_x0007_`, and so is a text that
 * already looks like that; half of a surrogate pair becomes U+FFFD. A longer text than a cell holds is cut and ends in `…`.
 */
export function cellText(text: string): string {
  const cut = text.length > maxCellLength ? `${text.slice(0, maxCellLength - 1)}…` : text;
  return escapeMarkup(
    cut.toWellFormed().replace(notInXml, (found) => {
      if (found === '_') return '_x005F_';
      return `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
    }),
  );
}
