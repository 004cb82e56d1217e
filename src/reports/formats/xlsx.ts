import { open } from 'node:fs/promises';
import { UsageError } from '../../base/errors.ts';
import { act } from '../../base/next-step.ts';
import { type ColumnRole, isNumber, roleOf } from '../../tables/column.ts';
import { type SqlCell, type SqlColumn, type SqlResult, toCellText } from '../../warehouse/store/index.ts';
import {
  answerName,
  type Cell,
  costName,
  fitsNumber,
  type Look,
  maxSheetRows,
  moneyLook,
  type Sheet,
  type SheetEnd,
  workbookChunks,
  workbookDays,
} from '../../workbook/index.ts';
import type { FormatOptions, Question } from './format.ts';

/** How a column of an answer is written: its cells, and whether they are numbers. */
export interface CellColumn {
  readonly isNumber: boolean;
  readonly look: Look;
  /** A value of the answer as a cell. */
  cell(value: SqlCell): Cell;
}

/**
 * How a column of DuckDB's type is written. Decimals and integers are numbers with all their digits, amounts are shown to
 * the cent, dates and instants (UTC) are those of a workbook; what has no place in these is its exact text.
 */
export function cellColumn(column: SqlColumn, given?: Look): CellColumn {
  const role = roleOf(column);
  if (isNumber(column)) {
    const look = given ?? looks[role] ?? 'number';
    return { isNumber: true, look, cell: (value) => numberCell(value, look) };
  }
  if (role === 'flag') {
    return {
      ...{ isNumber: false, look: 'general' },
      cell: (value) => (value === null ? undefined : { boolean: value === true }),
    };
  }
  if (role === 'date' || role === 'month' || role === 'instant') {
    return { isNumber: false, look: role, cell: (value) => dayCell(value, role) };
  }
  return { isNumber: false, look: 'text', cell: (value) => textCell(toCellText(value)) };
}

const looks: Readonly<Partial<Record<ColumnRole, Look>>> = {
  money: 'money',
  usage: 'money',
  share: 'percent',
  rate: 'rate',
};

function numberCell(value: SqlCell, look: Look): Cell {
  const text = toCellText(value);
  if (text === undefined) return undefined;
  // A double may be no number: NaN and the infinities are text.
  return fitsNumber(text) ? { number: text, look } : { text };
}

function dayCell(value: SqlCell, look: Look): Cell {
  const text = toCellText(value);
  const days = text === undefined ? undefined : workbookDays(text);
  return days === undefined ? textCell(text) : { number: days, look };
}

export function textCell(text: string | undefined): Cell {
  return text === undefined ? undefined : { text };
}

/** Writes an answer as a workbook to a new file. Returns its number of rows. Throws UsageError if it is too large for one. */
export async function writeXlsx(
  path: string,
  { connection, query, parameters }: Question,
  { facts, title = 'answer', costColumn, decimals = new Map() }: FormatOptions,
): Promise<number> {
  const result = await connection.stream(query, parameters);
  const counted = { rows: 0 };
  await writeWorkbook(path, answerSheets(result, { title, facts, costColumn, decimals, counted }));
  return counted.rows;
}

/** Writes sheets as a workbook to a new file. Throws UsageError if they are too large for one. */
export async function writeWorkbook(path: string, sheets: AsyncIterable<Sheet>): Promise<void> {
  const file = await open(path, 'w');
  try {
    for await (const chunk of workbookChunks(sheets)) await file.write(chunk);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`the answer is too large for XLSX (${error.message})`, {
      cause: error,
      next: act('write it as parquet or csv instead.'),
    });
  } finally {
    await file.close();
  }
}

interface AnswerSheets {
  /** The name of the first sheet. */
  readonly title: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly costColumn: string | undefined;
  readonly decimals: ReadonlyMap<string, number>;
  readonly counted: { rows: number };
}

/** The sheets of an answer: its rows, on as many sheets as they need, and `About`. */
async function* answerSheets(
  result: SqlResult,
  { title, facts, costColumn, decimals, counted }: AnswerSheets,
): AsyncGenerator<Sheet> {
  const { columns } = result;
  const cells = columns.map((column) => {
    const shown = decimals.get(column.name);
    return cellColumn(column, shown === undefined ? undefined : moneyLook(shown));
  });
  const source = chunksOf(result.chunks);
  const digests: string[] = [];
  const head = columns.map(
    ({ name }, index): Cell => ({ text: name, look: cells[index]?.isNumber ? 'headRight' : 'head' }),
  );
  const cost = columns.findIndex(({ name }) => name === costColumn);
  const sample = await source.peek();
  const widths = columns.map(({ name }, index) =>
    widthOf(
      name,
      cells[index],
      sample.map((row) => row[index] ?? null),
    ),
  );
  do {
    let rows = 0;
    async function* sheetRows(): AsyncGenerator<readonly (readonly Cell[])[]> {
      yield [head];
      for (;;) {
        const some = await source.take(maxSheetRows - 1 - rows);
        if (some.length === 0) break;
        rows += some.length;
        counted.rows += some.length;
        yield some.map((row) => cells.map((column, index) => column.cell(row[index] ?? null)));
      }
    }
    yield {
      ...{ name: title, widths, frozenRows: 1, rows: sheetRows() },
      end: () => answerEnd(rows, columns.length, cost),
      written: (sha256) => digests.push(sha256),
    };
  } while (!(await source.isDone()));
  yield aboutSheet([
    ['report', title],
    ...Object.entries(facts),
    ['rows', String(counted.rows)],
    ...digests.map((sha256, index): [string, string] => [`sha256 of xl/worksheets/sheet${index + 1}.xml`, sha256]),
  ]);
}

function answerEnd(rows: number, columns: number, cost: number): SheetEnd {
  if (rows === 0) return {};
  const all: [number, number] = [0, columns - 1];
  return {
    filter: { columns: all, rows: [1, rows + 1] },
    names: {
      [answerName]: { columns: all, rows: [2, rows + 1] },
      ...(cost === -1 ? {} : { [costName]: { columns: [cost, cost], rows: [2, rows + 1] } }),
    },
  };
}

/** The sheet that says what the numbers are: a line for each fact. */
export function aboutSheet(facts: readonly (readonly [string, string])[]): Sheet {
  async function* rows(): AsyncGenerator<readonly (readonly Cell[])[]> {
    yield [
      [
        { text: 'fact', look: 'head' },
        { text: 'value', look: 'head' },
      ],
    ];
    yield facts.map(([name, value]) => {
      const days = workbookDays(value);
      return [
        { text: name },
        days === undefined ? { text: value, look: 'wrapped' } : { number: days, look: 'instant' },
      ];
    });
  }
  return { name: 'About', widths: [64, 78], frozenRows: 1, rows: rows() };
}

const narrowest = 9;
const widest = 60;

/** The width that a column needs for its head and these values, in characters. */
export function widthOf(head: string, column: CellColumn | undefined, values: readonly SqlCell[]): number {
  const least = column?.look === 'instant' ? 19 : narrowest;
  const lengths = values.map((value) => {
    const text = toCellText(value) ?? '';
    // Numbers are shown with separators and two decimals.
    return column?.isNumber ? text.replace(/\..*$/, '').length * (4 / 3) + 4 : text.length;
  });
  const needed = lengths.reduce((most, length) => Math.max(most, length), Math.max(least, head.length + 2));
  return Math.min(widest, Math.ceil(needed) + 1);
}

type Row = readonly SqlCell[];

/** Rows in whatever chunks they came, taken as many at a time as there is room for. */
function chunksOf(chunks: SqlResult['chunks']) {
  const iterator = chunks[Symbol.asyncIterator]();
  let held: readonly Row[] = [];
  async function fill(): Promise<void> {
    while (held.length === 0) {
      const next = await iterator.next();
      if (next.done === true) return;
      held = next.value;
    }
  }
  return {
    /** The rows that come next; they stay. */
    async peek(): Promise<readonly Row[]> {
      await fill();
      return held;
    },
    async take(most: number): Promise<readonly Row[]> {
      if (most === 0) return [];
      await fill();
      const taken = held.slice(0, most);
      held = held.slice(taken.length);
      return taken;
    },
    async isDone(): Promise<boolean> {
      await fill();
      return held.length === 0;
    },
  };
}
