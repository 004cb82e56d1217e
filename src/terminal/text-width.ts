import { createRequire } from 'node:module';
import { once } from '../base/once.ts';
import { isPlain } from '../text/safe-text.ts';

const graphemes = once(() => new Intl.Segmenter());
/** Loaded with the first text that is not plain: its expressions take longer to compile than short commands take. */
const stringWidth = once(
  () => (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default,
);

/** Columns of a terminal that does not report its width. */
export const usualWidth = 80;

/** The width of a text in terminal cells: a wide character takes two, a combining one none. */
export function textWidth(text: string): number {
  return isPlain(text) ? text.length : stringWidth()(text);
}

/** The start of a text that fits into this many cells, with … if it was cut; no character is cut in two. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const [head = ''] = linesOfWidth(text, Math.max(0, width - 1));
  return `${head}…`;
}

/** A text in lines of at most this many cells; a single character that is wider gets its own line. */
export function linesOfWidth(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment } of graphemes().segment(text)) {
    const own = textWidth(segment);
    if (used + own > width && piece !== '') {
      pieces.push(piece);
      [piece, used] = ['', 0];
    }
    piece += segment;
    used += own;
  }
  return [...pieces, piece];
}
