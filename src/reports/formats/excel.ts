import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { decimalOfWhole } from '../../decimals.ts';
import { UnprovenError } from '../../errors.ts';
import {
  readSql,
  type SqlCell,
  type SqlColumn,
  type SqlResult,
  toCellText,
  unscaledDecimal,
} from '../../warehouse/index.ts';
import type { CostColumn } from '../figures.ts';
import { csvLines, textGuard } from './csv.ts';
import { figuresOfCsv } from './csv-figures.ts';
import type { Question } from './format.ts';

/** What a person wants of a CSV besides its rows. */
export interface ExcelOptions {
  /** Columns to add up in a last row; without any there is no such row. */
  readonly totals: readonly string[];
  /** Columns whose names are data, such as workspaces: they stay as they are. */
  readonly isNamedByData?: (column: SqlColumn) => boolean;
}

/** The currency of every amount in the books. */
const currency = 'USD';
/** Decimals of amounts in the books. */
const usdDecimals = 12;
/** Decimals that a person reads. */
const shownDecimals = 2;
const secondsPerHour = 3600n;

/**
 * An answer as CSV for people: a byte order mark, so that spreadsheets read it as UTF-8, amounts and usage at two
 * decimals, shares as percent, months as `2026-10`, instants as `2026-10-01 05:00:00` (UTC), and columns named in words
 * (`Cost month before`). Beside each billing dimension stands its name,
 * beside GB-seconds the GB-hours, and last the currency. Every amount is rounded by itself, half away from zero; a total
 * is rounded from the exact total, so it can differ from the sum of the rows above it by cents.
 */
export async function* excelChunks(
  { columns, chunks }: SqlResult,
  { totals, isNamedByData = () => false }: ExcelOptions,
  meters: ReadonlyMap<string, string>,
): AsyncGenerator<string> {
  const unit = columns.findIndex(({ name }) => name === 'unit');
  const cells = columns.flatMap((column, index) => {
    const own = cellsOf(column, index, unit, meters);
    return isNamedByData(column) ? own : own.map((cell) => ({ ...cell, name: headerOf(cell.name) }));
  });
  if (columns.some(isMoney) && !columns.some(({ name }) => /currency/i.test(name))) {
    cells.push({ name: headerOf('currency'), text: () => currency, total: () => currency });
  }
  const sums: (bigint | undefined)[] = columns.map((column) =>
    totals.includes(column.name) && scaleOf(column) !== undefined ? 0n : undefined,
  );
  yield `\uFEFF${csvLines([cells.map(({ name }) => textGuard(name))])}`;
  for await (const rows of chunks) {
    for (const row of rows) {
      for (const [index, sum] of sums.entries()) {
        const value = row[index] ?? null;
        if (sum !== undefined && value !== null) sums[index] = sum + unscaledDecimal(value);
      }
    }
    yield csvLines(rows.map((row) => cells.map(({ text }) => text(row))));
  }
  if (totals.length > 0) {
    const line = cells.map(({ total }) => total(sums));
    yield csvLines([line.map((text, index) => (index === 0 && text === undefined ? 'Total' : text))]);
  }
}

/** Writes an answer as `excelPieces` to a path where nothing lies yet, and reads it again. Throws UnprovenError where the file does not hold what was answered. */
export async function writeExcel(
  path: string,
  { connection, query, parameters }: Question,
  options: ExcelOptions & { readonly column: CostColumn | undefined; readonly cost: string | null },
): Promise<void> {
  const named = await connection.rows(await readSql('publish', 'meters'));
  const meters = new Map(named.map((row) => [String(row['billing_dimension']), String(row['meter'])]));
  const { columns, chunks } = await connection.stream(query, parameters);
  let count = 0;
  async function* counted(): SqlResult['chunks'] {
    for await (const rows of chunks) {
      count += rows.length;
      yield rows;
    }
  }
  await pipeline(Readable.from(excelChunks({ columns, chunks: counted() }, options, meters)), createWriteStream(path));
  const { column, cost, totals } = options;
  const isMoneyColumn = column !== undefined && columns.some((one) => one.name === column.name && isMoney(one));
  const read = await figuresOfCsv(
    path,
    isMoneyColumn ? { name: headerOf(column.name), decimals: shownDecimals } : undefined,
  );
  const isTotal = totals.length > 0;
  const expected = count + (isTotal ? 1 : 0);
  // Each amount is off by half a cent at most; with its total the column holds everything twice.
  const isAddedUp = isMoneyColumn && (!isTotal || totals.includes(column.name));
  const difference = Math.abs(Number(read.cost ?? 0) - Number(cost ?? 0) * (isTotal ? 2 : 1));
  if (read.rows !== expected || (isAddedUp && difference > 0.00501 * expected)) {
    throw new UnprovenError(
      `${path} was not published: it holds ${read.rows} rows of ${read.cost ?? 'no'} cost, expected ${expected} rows and, ` +
        `but for rounding${isTotal ? ' and twice because of the total' : ''}, ${cost ?? 'no'} cost`,
    );
  }
}

/** One column of the file. */
interface Cell {
  readonly name: string;
  readonly text: (row: readonly SqlCell[]) => string | undefined;
  /** What the last row has there, from the sums of the answer's columns. */
  readonly total: (sums: readonly (bigint | undefined)[]) => string | undefined;
}

/** The columns of the file that a column of the answer becomes. */
function cellsOf(column: SqlColumn, index: number, unit: number, meters: ReadonlyMap<string, string>): Cell[] {
  const { name, type } = column;
  const scale = scaleOf(column);
  const isUsage = scale !== undefined && unit !== -1 && /(^|_)usage$/.test(name);
  if (scale !== undefined && (isMoney(column) || isUsage)) {
    const amount: Cell = {
      name,
      text: (row) => (row[index] == null ? undefined : rounded(unscaledDecimal(row[index]), scale)),
      total: (sums) => (sums[index] === undefined ? undefined : rounded(sums[index], scale)),
    };
    if (!isUsage) return [amount];
    const hours: Cell = {
      name: `${name}_gb_hours`,
      text: (row) =>
        row[index] == null || row[unit] !== 'GB-seconds'
          ? undefined
          : rounded(unscaledDecimal(row[index]), scale, secondsPerHour),
      total: () => undefined,
    };
    return [amount, hours];
  }
  if (scale !== undefined && isShare(column)) {
    const share: Cell = {
      name,
      text: (row) => (row[index] == null ? undefined : `${rounded(unscaledDecimal(row[index]) * 100n, scale)}%`),
      total: () => undefined,
    };
    return [share];
  }
  const plain: Cell = {
    name,
    text: (row) => plainText(row[index] ?? null, column),
    total: (sums) =>
      sums[index] === undefined || scale === undefined ? undefined : decimalOfWhole(sums[index], scale),
  };
  if (name !== 'billing_dimension' || type !== 'VARCHAR') return [plain];
  const meter: Cell = {
    name: 'billing_dimension_name',
    text: (row) => {
      const text = toCellText(row[index] ?? null);
      return text === undefined ? undefined : textGuard(meters.get(text) ?? text);
    },
    total: () => undefined,
  };
  return [plain, meter];
}

function plainText(value: SqlCell, { name, type }: SqlColumn): string | undefined {
  const text = toCellText(value);
  if (name === 'owner') return ownerText(text);
  if (text === undefined) return name === 'workspace' ? 'no workspace' : undefined;
  if (type === 'DATE' && /(^|_)month$/.test(name)) return text.slice(0, 7);
  if (type.startsWith('TIMESTAMP')) return text.replace('T', ' ').replace(/Z$/, '');
  return /^(DECIMAL|U?\w*INT|FLOAT|DOUBLE|DATE|BOOLEAN)/.test(type) ? text : textGuard(text);
}

/** An owner as people write it: `Payments / checkout`, where the books have `{"team":"Payments","product":"checkout"}`. */
export function ownerText(owner: string | undefined): string {
  let values: unknown[] = [owner ?? null];
  if (owner?.startsWith('{')) {
    try {
      values = Object.values(JSON.parse(owner) as Record<string, unknown>);
    } catch {
      // A name that begins like JSON is a name.
    }
  }
  const named = values.map((value) => value ?? 'none');
  return values.every((value) => value === null) ? 'no owner' : textGuard(named.join(' / '));
}

/** The decimals of a column of decimals; undefined of others. */
function scaleOf({ type }: SqlColumn): number | undefined {
  const [, scale] = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type) ?? [];
  return scale === undefined ? undefined : Number(scale);
}

/** Amounts in USD are the columns with the decimals that the books keep of them. */
function isMoney(column: SqlColumn): boolean {
  return scaleOf(column) === usdDecimals;
}

/** Whether a column holds parts of 1: `change_share`, `share_of_account`. */
function isShare(column: SqlColumn): boolean {
  return /(^|_)share(_|$)/.test(column.name) && !isMoney(column);
}

/** Words of column names that are not written as other words. */
const writtenSo: Readonly<Record<string, string>> = { uuid: 'UUID', usd: 'USD', gb_hours: 'GB-hours', id: 'ID' };

/** A column's name in words: `Cost month before` of `cost_month_before`. Names of another form stay as they are. */
export function headerOf(name: string): string {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) return name;
  const words = name
    .replaceAll(/(?<=^|_)(uuid|usd|gb_hours|id)(?=_|$)/g, (word) => writtenSo[word] ?? word)
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A decimal, divided, at two decimals, half away from zero. */
function rounded(unscaled: bigint, scale: number, divisor = 1n): string {
  const numerator = unscaled * 10n ** BigInt(shownDecimals);
  const denominator = 10n ** BigInt(scale) * divisor;
  const size = numerator < 0n ? -numerator : numerator;
  const whole = (2n * size + denominator) / (2n * denominator);
  return decimalOfWhole(numerator < 0n ? -whole : whole, shownDecimals);
}
