import { type CurrencyOfMonth, converted } from '../currency/index.ts';
import { currencyDecimals, decimalOfWhole, moneyOf, usdDecimals } from '../money/money.ts';
import { type CellColumn, cellColumn, headerOf, ownerText, widthOf } from '../reports/formats/index.ts';
import { roleOf, scaleOf } from '../tables/column.ts';
import {
  decimalCell,
  type SqlCell,
  type SqlColumn,
  type SqlResult,
  toCellText,
  unscaledDecimal,
} from '../warehouse/store/index.ts';
import {
  type Area,
  type Cell,
  columnName,
  type Look,
  moneyLook,
  type Sheet,
  sumFormula,
  totalLook,
} from '../workbook/index.ts';

/** A sheet with the rows of an answer and, below them, the totals of some columns as formulas. */
export interface TableSheet {
  readonly name: string;
  readonly result: SqlResult;
  /** Columns with a total. */
  readonly totals: readonly string[];
  /** Names for columns, which formulas on other sheets use: `{ workspace_cost: 'cost' }`. */
  readonly named?: Readonly<Record<string, string>>;
  /** The name of the area with all rows, if `verify` is to count them. */
  readonly whole?: string;
  /** Columns that are left out. */
  readonly without?: readonly string[];
  /** The second currency; the column `cost` is then followed by `cost_eur`. */
  readonly currency?: CurrencyOfMonth | undefined;
}

const signedColumns = new Set(['change', 'difference']);

/** An answer in which the column `cost` is followed by the cost in the second currency. */
function withOther({ columns, chunks }: SqlResult, currency: CurrencyOfMonth): SqlResult {
  const cost = columns.findIndex(({ name }) => name === 'cost');
  const type = `DECIMAL(38,${usdDecimals})`;
  function other(value: SqlCell): SqlCell {
    const usd = toCellText(value);
    return usd === undefined ? null : decimalCell(moneyOf(converted(usd, currency)), usdDecimals);
  }
  async function* wider(): SqlResult['chunks'] {
    for await (const rows of chunks) yield rows.map((row) => row.toSpliced(cost + 1, 0, other(row[cost] ?? null)));
  }
  return {
    columns: columns.toSpliced(cost + 1, 0, { name: `cost_${currency.code.toLowerCase()}`, type }),
    chunks: wider(),
  };
}

/** The sheet of a table. Its rows are written as they come; only their sums are held. */
export async function tableSheet(table: TableSheet): Promise<Sheet> {
  const { name, named = {}, whole, without = [], currency } = table;
  const result = currency === undefined ? table.result : withOther(table.result, currency);
  const totals = currency === undefined ? table.totals : [...table.totals, `cost_${currency.code.toLowerCase()}`];
  const shown = result.columns.flatMap((column, index) => (without.includes(column.name) ? [] : [{ column, index }]));
  const columns = shown.map(({ column, index }) => ({
    index,
    ...describe(column, currency?.code),
    hasTotal: totals.includes(column.name),
  }));
  const sums = columns.map(() => 0n);
  const iterator = result.chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  const sample = first.done === true ? [] : first.value;
  let count = 0;

  async function* rows(): AsyncGenerator<readonly (readonly Cell[])[]> {
    yield [columns.map(({ head, cells }): Cell => ({ text: head, look: cells.isNumber ? 'headRight' : 'head' }))];
    for (let next = first; next.done !== true; next = await iterator.next()) {
      count += next.value.length;
      yield next.value.map((row) =>
        columns.map(({ index, cells, hasTotal }, place) => {
          const value = row[index] ?? null;
          if (hasTotal && value !== null) sums[place] = (sums[place] ?? 0n) + unscaledDecimal(value);
          return cells.cell(value);
        }),
      );
    }
    if (totals.length > 0)
      yield [columns.map((column, place): Cell => totalCell(column, place, sums[place] ?? 0n, count))];
  }
  return {
    name,
    widths: columns.map(({ head, cells, index }) =>
      widthOf(
        head,
        cells,
        sample.map((row) => row[index] ?? null),
      ),
    ),
    frozenRows: 1,
    rows: rows(),
    end: () => ({
      ...(count === 0 ? {} : { filter: { columns: [0, columns.length - 1], rows: [1, count + 1] } as Area }),
      names: Object.fromEntries([
        ...(whole === undefined || count === 0 ? [] : [[whole, areaOf([0, columns.length - 1], count)]]),
        ...Object.entries(named).map(([key, of]) => {
          const place = columns.findIndex(({ name: found }) => found === of);
          return [key, areaOf([place, place], count)];
        }),
      ]),
    }),
  };
}

/** The cells of some columns in all rows; of no rows, the cells of the head, which add up to 0. */
function areaOf(columns: readonly [number, number], count: number): Area {
  return { columns, rows: count === 0 ? [1, 1] : [2, count + 1] };
}

interface Described {
  readonly name: string;
  readonly head: string;
  readonly cells: CellColumn;
  readonly scale: number;
}

function describe(column: SqlColumn, code: string | undefined): Described {
  const { name } = column;
  const isOther = code !== undefined && name.endsWith(`_${code.toLowerCase()}`);
  const otherLook = isOther ? moneyLook(currencyDecimals(code)) : undefined;
  const look: Look | undefined = signedColumns.has(name) ? 'signed' : otherLook;
  const scale = scaleOf(column) ?? 0;
  const cells = cellColumn(column, look);
  const isUsd = cells.look === 'signed' || (look === undefined && roleOf(column) === 'money');
  const head = isOther ? headerOf(name, code) : isUsd ? `${headerOf(name)} USD` : headerOf(name);
  if (name !== 'owner') return { name, head, cells, scale };
  const owner = {
    ...cells,
    cell: (value: Parameters<CellColumn['cell']>[0]): Cell => ({ text: ownerText(toCellText(value)) }),
  };
  return { name, head, cells: owner, scale };
}

function totalCell(
  { cells, hasTotal, scale }: Described & { hasTotal: boolean },
  place: number,
  sum: bigint,
  count: number,
): Cell {
  if (!hasTotal) return { text: place === 0 ? 'Total' : '', look: 'total' };
  const column = columnName(place);
  const look = totalLook(cells.look);
  const number = decimalOfWhole(sum, scale);
  return count === 0 ? { number, look } : { formula: sumFormula(`${column}2:${column}${count + 1}`), number, look };
}
