import { stripVTControlCharacters } from 'node:util';
import type { TableLayout } from './table.ts';
import { textWidth } from './text-width.ts';

/** What comes before a line's words: its indent, a mark such as `- `, `→ ` or `FAIL  `, and a label with its gap. */
const lead = /^(\s*(?:[-→⚠│] |\p{Extended_Pictographic}\uFE0F? )?(?:\S(?:(?! {2}).)*\S {2,}(?=\S))?)/u;
/** A command on a line of its own, which stays whole, so that it can be copied. */
const command = /^\s*costbook /;
/** A word with the space before it. A quoted command stays on one line, so that it can be copied. */
const pieces = /\s*(?:[^\s"]*"(?:costbook|mv) [^"]{1,200}"\S*|\S+)/g;

/**
 * Breaks the lines that are wider than the terminal between words, and indents what follows below the first word. Text
 * that does not go to a terminal stays as it is, and so does a line that fits.
 */
export function folded(text: string, { width }: Pick<TableLayout, 'width'>): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .flatMap((line) => foldLine(line, width))
    .join('\n');
}

function foldLine(line: string, width: number): string[] {
  if (cellsOf(line) <= width || command.test(line)) return [line];
  const [start = ''] = lead.exec(line) ?? [];
  // A label that takes much of the line is part of its words.
  const isLabel = cellsOf(start) <= width / 3;
  const head = isLabel ? start : (/^\s*/.exec(line)?.[0] ?? '');
  const indent = ' '.repeat(cellsOf(head) || 2);
  const lines: string[] = [];
  let last = head;
  for (const piece of line.slice(head.length).match(pieces) ?? []) {
    if (last === head || cellsOf(last + piece) <= width) last += piece;
    else {
      lines.push(last);
      last = `${indent}${piece.trimStart()}`;
    }
  }
  return [...lines, last];
}

function cellsOf(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}
