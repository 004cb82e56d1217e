import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter();

/** How many cells of a terminal a text takes: a wide character takes two, a combining one none. */
export function textWidth(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** The beginning of a text that fits into so many cells, with … where it was cut; no character is cut in two. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const [head = ''] = linesOfWidth(text, Math.max(0, width - 1));
  return `${head}…`;
}

/** A text in pieces of at most so many cells each; a single character that is wider is a piece all the same. */
export function linesOfWidth(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
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

/** Printable ASCII: most texts, for which there is nothing to look up. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
