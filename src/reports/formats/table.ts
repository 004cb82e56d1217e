import { roundDecimal } from '../../decimals.ts';
import { cutToWidth, piecesOfWidth, textWidth } from '../../text-width.ts';
import { isTextType, type SqlColumn } from '../../warehouse/index.ts';

/** Where a table is shown. Without a width nothing is cut, rounded, moved or left out: that is what a pipe gets. */
export interface TableLayout {
  /** Columns of the terminal. */
  readonly width?: number | undefined;
  /** On a terminal: every decimal, every column and the whole of each text. */
  readonly isExact?: boolean;
  /** Texts are cut to so many cells, for a message that somebody else lays out. */
  readonly maxCellWidth?: number;
}

/** Columns that leave first, in this order, where a table is too wide for its terminal. */
export type SpareColumns = readonly string[];

type Cells = readonly (string | undefined)[];

/** A table that is laid out: its head, and its rows one by one. Each is one or several lines, without a line feed at the end. */
export interface Table {
  readonly head: string;
  row(cells: Cells): string;
  /** True where each row is a block of lines, because the columns do not fit side by side. */
  readonly isVertical: boolean;
}

/** A column as it is shown. */
interface Shown {
  readonly index: number;
  readonly name: string;
  /** The name, in lines. */
  readonly head: readonly string[];
  readonly isText: boolean;
  /** Cells of the widest value. */
  readonly dataWidth: number;
}

/** A column with its share of the line. */
interface Placed extends Shown {
  readonly width: number;
}

const usualGap = 2;
/** A text is cut to this width before a column is left out, and to the other one before rows become blocks. */
const comfortableWidth = 24;
const leastWidth = 12;

/** Rows as a table: numbers to the right, NULL as nothing. On a terminal it fits, as `openTable` says. */
export function formatTable(
  columns: readonly SqlColumn[],
  rows: readonly Cells[],
  layout: TableLayout & { readonly spare?: SpareColumns } = {},
): string {
  const table = openTable(columns, rows, { ...layout, isWhole: true });
  const separator = table.isVertical ? '\n\n' : '\n';
  return [table.head, rows.map((row) => table.row(row)).join(separator)].filter((part) => part !== '').join('\n');
}

/**
 * Lays a table out by a sample of its rows; `isWhole` says that these are all of them.
 *
 * On a terminal numbers are rounded to two decimals (more where a column holds nothing but small ones). A table that is
 * too wide is made narrower, as far as it takes: what is the same in every row goes into a line above it, names of
 * columns take several lines, texts are cut, spare columns are left out, which is said. What is too wide then is shown
 * as a block of lines for each row.
 */
export function openTable(
  columns: readonly SqlColumn[],
  sample: readonly Cells[],
  layout: TableLayout & { readonly spare?: SpareColumns; readonly isWhole: boolean },
): Table {
  const { width, isExact = false, maxCellWidth } = layout;
  const decimals = columns.map((column, index) =>
    width === undefined || isExact
      ? undefined
      : decimalsOf(
          column,
          sample.map((row) => row[index]),
        ),
  );
  const read = (cells: Cells): string[] =>
    columns.map((_, index) => {
      const cell = printable(cells[index] ?? '');
      const places = decimals[index];
      if (places !== undefined) return roundDecimal(cell, places);
      return maxCellWidth === undefined ? cell : cutToWidth(cell, maxCellWidth);
    });
  const rows = sample.map(read);
  const all = columns.map(({ name, type }, index): Shown => {
    const head = printable(name);
    const dataWidth = Math.max(0, ...rows.map((row) => textWidth(row[index] ?? '')));
    return { index, name: head, head: [head], isText: isTextType(type), dataWidth };
  });
  if (width === undefined || fits(all.map(naturally), width)) return sideBySide(all.map(naturally), read, []);

  const { varied, facts } = layout.isWhole ? withoutConstants(all, rows) : { varied: all, facts: [] };
  const above = wrapFacts(facts, width);
  if (fits(varied.map(naturally), width)) return sideBySide(varied.map(naturally), read, above);
  const narrow = varied.map(withNarrowHead);
  const spare = isExact ? [] : (layout.spare ?? []).filter((name) => narrow.some((column) => column.name === name));
  for (const { left, least, gap } of attempts(spare, isExact)) {
    const placed = squeeze(
      narrow.filter(({ name }) => !left.includes(name)),
      { width, least, gap },
    );
    if (placed !== undefined) return sideBySide(placed, read, [...above, ...leftOut(left, width)], gap);
  }
  return oneBelowTheOther(varied, read, above, width);
}

/** Ways to make a table narrower, from the one that takes least away. */
function attempts(
  spare: SpareColumns,
  isExact: boolean,
): { readonly left: SpareColumns; readonly least: number; readonly gap: number }[] {
  if (isExact) return [{ left: [], least: Number.POSITIVE_INFINITY, gap: usualGap }];
  const steps = Array.from({ length: spare.length + 1 }, (_, count) => spare.slice(0, count));
  return [
    ...steps.map((left) => ({ left, least: comfortableWidth, gap: usualGap })),
    { left: spare, least: leastWidth, gap: usualGap },
    { left: spare, least: leastWidth, gap: 1 },
  ];
}

/** Columns whose texts are cut as little as it takes; undefined where they do not fit even so. */
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

/** Takes away columns that hold the same in every row, as words that are said once; amounts stay. */
function withoutConstants(
  columns: readonly Shown[],
  rows: readonly (readonly string[])[],
): { readonly varied: readonly Shown[]; readonly facts: readonly string[] } {
  const [first] = rows;
  if (first === undefined || rows.length < 2) return { varied: columns, facts: [] };
  const isConstant = ({ index }: Shown) => {
    const value = first[index] ?? '';
    return !/^-?\d+\.\d+$/.test(value) && rows.every((row) => row[index] === value);
  };
  const varied = columns.filter((column) => !isConstant(column));
  if (varied.length === 0) return { varied: columns, facts: [] };
  const constant = columns.filter(isConstant);
  const said = constant.filter(({ index }) => first[index] !== '');
  const empty = constant.filter(({ index }) => first[index] === '');
  return {
    varied,
    facts: [
      ...said.map(({ name, index }) => `${name} ${first[index]}`),
      ...(empty.length === 0 ? [] : [`empty: ${empty.map(({ name }) => name).join(', ')}`]),
    ],
  };
}

/** Facts in lines that fit, each fact whole where it can be. */
function wrapFacts(facts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const joined = lines.length === 0 ? fact : `${lines.at(-1)} · ${fact}`;
    if (lines.length > 0 && textWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(fact);
  }
  return lines.flatMap((line) => piecesOfWidth(line, width));
}

function leftOut(names: SpareColumns, width: number): string[] {
  return names.length === 0
    ? []
    : wrapWords(`Not shown here: ${names.join(', ')} (--exact shows every column).`, width);
}

/** Words in lines of at most so many cells. */
function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const joined = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && textWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}

/** The column with its name in several lines, where that is wider than what it holds. */
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
  gap = usualGap,
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
  // Names of fewer lines stand at the bottom, above their column.
  const names = Array.from({ length: height }, (_, row) => line(({ head }) => head[row - height + head.length] ?? ''));
  const ruler = columns.map(({ width }) => '─'.repeat(width)).join(between);
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
          const pieces = piecesOfWidth(texts[index] ?? '', valueWidth);
          return `${shown}${padding}${pieces.join(`\n${indent}`)}`.trimEnd();
        })
        .join('\n');
    },
    isVertical: true,
  };
}

/** Decimals that a person reads: two, or as many as show three digits of a column's largest number. */
function decimalsOf({ type }: SqlColumn, cells: readonly (string | undefined)[]): number | undefined {
  if (!/^(DECIMAL\(|DOUBLE|FLOAT)/.test(type) || type.endsWith(']')) return undefined;
  const sizes = cells.flatMap((cell) => (cell === undefined ? [] : [Math.abs(Number(cell))])).filter(Number.isFinite);
  const largest = Math.max(0, ...sizes);
  return largest === 0 || largest >= 1 ? 2 : Math.min(18, Math.max(2, 2 - Math.floor(Math.log10(largest))));
}

/** Text from outside in one line of a terminal: control characters would move its cursor or worse. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}
