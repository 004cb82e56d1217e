import { stripVTControlCharacters } from 'node:util';
import type { TableLayout } from './table.ts';
import { textWidth } from './text-width.ts';

/** What comes before a line's words: its indent, and a mark such as `- `, `→ ` or `FAIL  `. */
const lead = /^(\s*(?:(?:OK|WARN|FAIL)\s+|[-→⚠] |\p{Extended_Pictographic}\uFE0F? )?)/u;
/** A quoted command stays on one line, so that it can be copied. */
const pieces = /"costbook [^"]{1,60}"\S*|\S+/g;

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
  if (cellsOf(line) <= width) return [line];
  const [start = ''] = lead.exec(line) ?? [];
  const indent = ' '.repeat(Math.min(textWidth(start), Math.floor(width / 2)) || 2);
  const lines: string[] = [];
  let last = start;
  let isFresh = true;
  for (const piece of line.slice(start.length).match(pieces) ?? []) {
    const joined = isFresh ? `${last}${piece}` : `${last} ${piece}`;
    if (isFresh || cellsOf(joined) <= width) last = joined;
    else {
      lines.push(last);
      last = `${indent}${piece}`;
    }
    isFresh = false;
  }
  return [...lines, last];
}

function cellsOf(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}
