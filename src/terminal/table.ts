import { isText } from '../tables/column.ts';
import { withoutConstants, writerOf } from '../tables/shown.ts';
import { forTerminal } from '../text/safe-text.ts';
import { cutToWidth, linesOfWidth, textWidth } from './text-width.ts';

/** A column of a table: its name, and its type as DuckDB writes it. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** The decimals of its amounts for people, if their currency has others than two. */
  readonly decimals?: number | undefined;
}

/** How to lay out a table. Without a width, as in a pipe, nothing is cut, rounded, moved or left out. */
export interface TableLayout {
  /** Columns of the terminal. */
  readonly width?: number | undefined;
  /** On a terminal: show every decimal, every column and every text in full. */
  readonly isExact?: boolean;
  /** Texts are cut to this many cells, for a message that another program lays out. */
  readonly maxCellWidth?: number;
  /**
   * Names of columns, the most important first. If a table is too wide for the terminal, columns that are not listed
   * are left out first, then those at the end of this list; the first two always stay. Without this list, no column is
   * left out.
   */
  readonly important?: readonly string[] | undefined;
}

type Cells = readonly (string | undefined)[];

/**
 * A laid-out table: its head, and its rows one by one. Each has one or several lines, without a line feed at the end.
 */
export interface Table {
  readonly head: string;
  row(cells: Cells): string;
  /** True if each row is a block of lines, because the columns do not fit next to each other. */
  readonly isVertical: boolean;
}

/** A column on the screen. */
interface Shown {
  readonly index: number;
  readonly name: string;
  /** The name, split into lines. */
  readonly head: readonly string[];
  readonly isText: boolean;
  /** Width of the widest value, in cells. */
  readonly dataWidth: number;
}

/** A column and its width on the line. */
interface Placed extends Shown {
  readonly width: number;
}

const usualGap = 2;
/** Texts are cut to the first width before any column is left out, and to the second before an important one is. */
const comfortableWidth = 24;
const readableWidth = 18;
/** Texts are cut to this width before rows become blocks. */
const leastWidth = 12;
/** In a pipe, the line below a wide column's name is at most this long. */
const mostRuler = 80;
/** Up to this many omitted columns are listed by name. */
const mostNames = 8;

/**
 * Formats rows as a table: numbers to the right, NULL as an empty cell. On a terminal it fits, as `openTable` explains.
 */
export function formatTable(columns: readonly TableColumn[], rows: readonly Cells[], layout: TableLayout = {}): string {
  const table = openTable(columns, rows, { ...layout, isWhole: true });
  const separator = table.isVertical ? '\n\n' : '\n';
  return [table.head, rows.map((row) => table.row(row)).join(separator)].filter((part) => part !== '').join('\n');
}

/**
 * Lays out a table from a sample of its rows; `isWhole` means that these are all rows. On a terminal, cells are written for
 * people: rounded, with months as months. A table that is too wide becomes narrower step by
 * step: values that are the same in every row move to a line above it, column names are split into several lines, texts
 * are cut, and less important columns are left out, with a note. If it is still too wide, each row becomes a block of
 * lines.
 */
export function openTable(
  columns: readonly TableColumn[],
  sample: readonly Cells[],
  layout: TableLayout & { readonly isWhole: boolean },
): Table {
  const { width, isExact = false, maxCellWidth } = layout;
  const writers = columns.map((column, index) =>
    width === undefined || isExact
      ? undefined
      : writerOf(
          column,
          sample.map((row) => row[index]),
        ),
  );
  const read = (cells: Cells): string[] =>
    columns.map((_, index) => {
      const cell = forTerminal(cells[index] ?? '');
      const write = writers[index];
      if (write !== undefined) return write(cell);
      return maxCellWidth === undefined ? cell : cutToWidth(cell, maxCellWidth);
    });
  const rows = sample.map(read);
  const all = columns.map(({ name, type }, index): Shown => {
    const head = forTerminal(name);
    const dataWidth = Math.max(0, ...rows.map((row) => textWidth(row[index] ?? '')));
    return { index, name: head, head: [head], isText: isText({ name: '', type }), dataWidth };
  });
  if (width === undefined || fits(all.map(naturally), width))
    return sideBySide(all.map(naturally), read, [], { lineWidth: width });

  const { varied, constant } = layout.isWhole ? withoutConstants(all, rows) : { varied: all, constant: [] };
  const said = constant.filter(({ name }) => layout.important?.includes(name) ?? true);
  const above = wrapFacts(factsOf(said, rows), width);
  if (fits(varied.map(naturally), width)) return sideBySide(varied.map(naturally), read, above, { lineWidth: width });
  const narrow = varied.map(withNarrowHead);
  const names = narrow.map(({ name }) => name);
  for (const { left, least, gap } of attempts(names, isExact ? 'exact' : layout.important)) {
    const placed = squeeze(
      narrow.filter(({ name }) => !left.includes(name)),
      { width, least, gap },
    );
    if (placed !== undefined)
      return sideBySide(placed, read, [...above, ...leftOut(left, width)], { gap, lineWidth: width });
  }
  return oneBelowTheOther(varied, read, above, width);
}

/** Ways to make a table narrower, from the one that loses the least. */
function attempts(
  names: readonly string[],
  important: readonly string[] | 'exact' | undefined,
): { readonly left: readonly string[]; readonly least: number; readonly gap: number }[] {
  if (important === 'exact') return [{ left: [], least: Number.POSITIVE_INFINITY, gap: usualGap }];
  const named = (important ?? names).filter((name) => names.includes(name));
  const others = names.filter((name) => !named.includes(name)).reverse();
  const rest = important === undefined ? [] : named.slice(2).reverse();
  const leaving = [...others, ...rest];
  return [
    ...others.map((_, count) => ({ left: leaving.slice(0, count), least: comfortableWidth, gap: usualGap })),
    { left: others, least: comfortableWidth, gap: usualGap },
    { left: others, least: readableWidth, gap: usualGap },
    { left: others, least: readableWidth, gap: 1 },
    ...rest.map((_, count) => ({
      left: leaving.slice(0, others.length + count + 1),
      least: readableWidth,
      gap: usualGap,
    })),
    { left: leaving, least: leastWidth, gap: 1 },
  ];
}

/** Cuts texts as little as necessary; undefined if the columns do not fit even then. */
function squeeze(
  columns: readonly Shown[],
  { width, least, gap }: { readonly width: number; readonly least: number; readonly gap: number },
): Placed[] | undefined {
  const widest = Math.max(least, ...columns.map(({ isText, dataWidth }) => (isText ? dataWidth : 0)));
  for (let limit = Math.min(widest, width); ; limit -= 1) {
    const placed = columns.map((column) => ({
      ...column,
      width: Math.max(headWidth(column), column.isText ? Math.min(column.dataWidth, limit) : column.dataWidth),
    }));
    if (fits(placed, width, gap)) return placed;
    if (limit <= least) return undefined;
  }
}

function naturally(column: Shown): Placed {
  return { ...column, width: Math.max(headWidth(column), column.dataWidth) };
}

function headWidth({ head }: Shown): number {
  return Math.max(...head.map(textWidth));
}

function fits(columns: readonly Placed[], width: number, gap = usualGap): boolean {
  return columns.reduce((sum, column) => sum + column.width + gap, -gap) <= width;
}

/** What all rows have in common, as text. */
function factsOf(constant: readonly Shown[], [first = []]: readonly (readonly string[])[]): string[] {
  const empty = constant.filter(({ index }) => first[index] === '');
  return [
    ...constant.filter((column) => !empty.includes(column)).map(({ name, index }) => `${name} ${first[index]}`),
    ...(empty.length === 0 ? [] : [`empty: ${empty.map(({ name }) => name).join(', ')}`]),
  ];
}

/** Wraps facts into lines, keeping each fact on one line if possible. */
function wrapFacts(facts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const joined = lines.length === 0 ? fact : `${lines.at(-1)} · ${fact}`;
    if (lines.length > 0 && textWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(fact);
  }
  return lines.flatMap((line) => linesOfWidth(line, width));
}

function leftOut(names: readonly string[], width: number): string[] {
  if (names.length === 0) return [];
  const which = names.length > mostNames ? `${names.length} columns` : names.join(', ');
  return wrapWords(`Not shown here: ${which} (--exact shows all).`, width);
}

/** Wraps text to the terminal; unchanged without one. */
export function wrapped(text: string, { width }: TableLayout): string {
  return width === undefined ? text : wrapWords(text, width).join('\n');
}

/** Wraps words into lines of at most this many cells; a longer word stays whole. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const joined = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && textWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}

/** Splits a column's name into several lines if it is wider than the values. */
function withNarrowHead(column: Shown): Shown {
  const words = column.name.split(/(?<=[_ ])/).map((word) => word.trimEnd());
  const width = Math.max(column.dataWidth, ...words.map(textWidth));
  const head: string[] = [];
  for (const word of words) {
    const last = head.at(-1);
    const joined = last === undefined ? word : `${last}${last.endsWith('_') ? '' : ' '}${word}`;
    if (last !== undefined && textWidth(joined) <= width) head[head.length - 1] = joined;
    else head.push(word);
  }
  return { ...column, head };
}

function sideBySide(
  columns: readonly Placed[],
  read: (cells: Cells) => string[],
  above: readonly string[],
  { gap = usualGap, lineWidth = 0 }: { readonly gap?: number; readonly lineWidth?: number | undefined } = {},
): Table {
  const between = ' '.repeat(gap);
  const line = (cellOf: (column: Placed) => string) =>
    columns
      .map((column) => {
        const cell = column.isText ? cutToWidth(cellOf(column), column.width) : cellOf(column);
        const padding = ' '.repeat(Math.max(0, column.width - textWidth(cell)));
        return column.isText ? cell + padding : padding + cell;
      })
      .join(between)
      .trimEnd();
  const height = Math.max(0, ...columns.map(({ head }) => head.length));
  // Shorter names are at the bottom, directly above their column.
  const names = Array.from({ length: height }, (_, row) => line(({ head }) => head[row - height + head.length] ?? ''));
  const rule = columns.map(({ width }) => '─'.repeat(width)).join(between);
  // A single cell may have a page of text.
  const isLong = columns.some(({ width }) => width > Math.max(mostRuler, lineWidth));
  const ruler = isLong ? rule.slice(0, Math.max(mostRuler, lineWidth)).trimEnd() : rule;
  return {
    head: [...above, ...names, ruler].join('\n'),
    row(cells) {
      const texts = read(cells);
      return line(({ index }) => texts[index] ?? '');
    },
    isVertical: false,
  };
}

function oneBelowTheOther(
  columns: readonly Shown[],
  read: (cells: Cells) => string[],
  above: readonly string[],
  width: number,
): Table {
  const longest = Math.max(...columns.map(({ name }) => textWidth(name)));
  const nameWidth = Math.max(4, Math.min(longest, Math.floor(width / 2)));
  const valueWidth = Math.max(8, width - nameWidth - usualGap);
  const indent = ' '.repeat(nameWidth + usualGap);
  return {
    head: above.length === 0 ? '' : `${above.join('\n')}\n`,
    row(cells) {
      const texts = read(cells);
      return columns
        .map(({ name, index }) => {
          const shown = cutToWidth(name, nameWidth);
          const padding = ' '.repeat(nameWidth - textWidth(shown) + usualGap);
          const chunks = linesOfWidth(texts[index] ?? '', valueWidth);
          return `${shown}${padding}${chunks.join(`\n${indent}`)}`.trimEnd();
        })
        .join('\n');
    },
    isVertical: true,
  };
}
