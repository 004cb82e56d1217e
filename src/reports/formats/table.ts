import { forTerminal } from '../../safe-text.ts';
import { isTextType, type SqlColumn } from '../../warehouse/index.ts';

/** Cells wider than this are cut: a table is for reading, the other formats are for data. */
const usualCellWidth = 48;

/** Rows as a table for a person: numbers to the right, NULL as nothing, cells that are too wide cut. */
export function formatTable(
  columns: readonly SqlColumn[],
  rows: readonly (readonly (string | undefined)[])[],
  { maxCellWidth = usualCellWidth }: { maxCellWidth?: number } = {},
): string {
  const cells = rows.map((row) => row.map((cell) => shorten(forTerminal(cell ?? ''), maxCellWidth)));
  const names = columns.map(({ name }) => forTerminal(name)); // a query names its columns as it likes
  const widths = names.map((name, index) => Math.max(width(name), ...cells.map((row) => width(row[index] ?? ''))));
  function line(row: readonly string[]): string {
    const padded = row.map((cell, index) => {
      const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - width(cell)));
      return isTextType(columns[index]?.type ?? '') ? cell + padding : padding + cell;
    });
    return padded.join('  ').trimEnd();
  }
  const ruler = widths.map((count) => '─'.repeat(count)).join('  ');
  return [line(names), ruler, ...cells.map(line)].join('\n');
}

function shorten(text: string, maxCellWidth: number): string {
  const characters = [...text];
  return characters.length > maxCellWidth ? `${characters.slice(0, maxCellWidth - 1).join('')}…` : text;
}

function width(text: string): number {
  return [...text].length;
}
