import { UnprovenError } from '../../base/errors.ts';
import { currencyDecimals, decimalOfWhole } from '../../money/money.ts';
import { isNumber, isText, roleOf, scaleOf } from '../../tables/column.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import {
  type SqlCell,
  type SqlColumn,
  type SqlResult,
  toCellText,
  unscaledDecimal,
} from '../../warehouse/store/index.ts';
import { csvLines, guardedWithin, textGuard } from './csv.ts';
import { figuresOfCsv } from './csv-figures.ts';
import type { CostColumn } from './figures.ts';
import type { Question } from './format.ts';
import { isChangedBySpreadsheets, type SpreadsheetSigns, signsOf } from './spreadsheet.ts';
import { writeStream } from './write-stream.ts';

/** Options of a CSV for people. */
export interface ExcelOptions {
  /** Columns with a sum in the total row; if empty, there is no total row. */
  readonly totals: readonly string[];
  /** Columns whose names are data, such as workspaces; their names are not changed. */
  readonly isNamedByData?: (column: SqlColumn) => boolean;
  /** The code of the second currency, if the answer has one: headers have it in capitals. */
  readonly code?: string | undefined;
  /** The language of the spreadsheet, such as `de`; English by default. */
  readonly language?: string | undefined;
}

/** A column with texts that a spreadsheet shows in another way, and one of them. */
export interface ChangedColumn {
  readonly name: string;
  readonly example: string;
}

/** The currency of every amount in the books. */
const currency = 'USD';
/** Decimals to show, but of another currency. */
const shownDecimals = 2;
const secondsPerHour = 3600n;

/**
 * An answer as CSV for people: a byte order mark, so that spreadsheets read it as UTF-8, amounts and usage at two
 * decimals, shares as percent, months as `2026-10`, instants as `2026-10-01 05:00:00` (UTC), and columns named in words
 * (`Cost month before`). A column with its name follows each billing dimension, GB-hours follow GB-seconds, and the
 * last column is the currency. Each amount is rounded on its own, half away from zero. A total is rounded from the
 * exact total, so it can differ from the sum of the rows above it by some cents. Adds the columns to `changed` that a
 * spreadsheet does not leave as they are.
 */
export async function* excelChunks(
  { columns, chunks }: SqlResult,
  { totals, isNamedByData = () => false, code, language }: ExcelOptions,
  meters: ReadonlyMap<string, string>,
  changed: ChangedColumn[] = [],
): AsyncGenerator<string> {
  const signs = signsOf(language);
  const unit = columns.findIndex(({ name }) => name === 'unit');
  const cells = columns.flatMap((column, index) => {
    const own = cellsOf(column, index, { unit, code, meters, signs });
    return isNamedByData(column) ? own : own.map((cell) => ({ ...cell, name: headerOf(cell.name, code) }));
  });
  if (columns.some((column) => roleOf(column) === 'money') && !columns.some(({ name }) => /currency/i.test(name))) {
    cells.push({ name: headerOf('currency'), text: () => currency, total: () => currency });
  }
  const sums: (bigint | undefined)[] = columns.map((column) =>
    totals.includes(column.name) && scaleOf(column) !== undefined ? 0n : undefined,
  );
  function note({ name, isText }: Cell, text: string | undefined): void {
    if (!isText || text === undefined || changed.some((one) => one.name === name)) return;
    if (isChangedBySpreadsheets(text, signs)) changed.push({ name, example: text });
  }
  yield `\uFEFF${csvLines([cells.map(({ name }) => textGuard(name))], signs.separator)}`;
  for await (const rows of chunks) {
    for (const row of rows) {
      for (const [index, sum] of sums.entries()) {
        const value = row[index] ?? null;
        if (sum !== undefined && value !== null) sums[index] = sum + unscaledDecimal(value);
      }
    }
    const texts = rows.map((row) =>
      cells.map(({ text, isText }) => {
        const shown = text(row);
        return isText && shown !== undefined ? guardedWithin(shown, signs) : shown;
      }),
    );
    for (const row of texts) for (const [index, cell] of cells.entries()) note(cell, row[index]);
    yield csvLines(texts, signs.separator);
  }
  if (totals.length > 0) {
    const line = cells.map(({ total }) => total(sums));
    yield csvLines([line.map((text, index) => (index === 0 && text === undefined ? 'Total' : text))], signs.separator);
  }
}

/**
 * Writes an answer as `excelChunks` to a new file, and reads it back. Returns the columns that a spreadsheet does not leave
 * as they are. Throws UnprovenError if the file differs from the answer.
 */
export async function writeExcel(
  path: string,
  question: Question,
  options: ExcelOptions & { readonly column: CostColumn | undefined; readonly cost: string | null },
): Promise<readonly ChangedColumn[]> {
  const named = await question.connection.rows(await readSql('publish', 'meters'));
  const meters = new Map(named.map((row) => [String(row['billing_dimension']), String(row['meter'])]));
  const changed: ChangedColumn[] = [];
  let columns: readonly SqlColumn[] = [];
  const count = await writeStream(path, question, (result) => {
    columns = result.columns;
    return excelChunks(result, options, meters, changed);
  });
  const { column, cost, totals } = options;
  const isMoneyColumn =
    column !== undefined && columns.some((one) => one.name === column.name && roleOf(one) === 'money');
  const read = await figuresOfCsv(
    path,
    isMoneyColumn ? { name: headerOf(column.name), decimals: shownDecimals } : undefined,
    signsOf(options.language),
  );
  const isTotal = totals.length > 0;
  const expected = count + (isTotal ? 1 : 0);
  // Rounding changes each amount by at most half a cent; with a total, the column contains the sum twice.
  const isAddedUp = isMoneyColumn && (!isTotal || totals.includes(column.name));
  const difference = Math.abs(Number(read.cost ?? 0) - Number(cost ?? 0) * (isTotal ? 2 : 1));
  if (read.rows !== expected || (isAddedUp && difference > 0.00501 * expected)) {
    throw new UnprovenError(
      `${path} was not published: found ${read.rows} rows and ${read.cost ?? 'no'} cost, expected ${expected} rows and, ` +
        `except for rounding${isTotal ? ' and doubled by the total row' : ''}, ${cost ?? 'no'} cost`,
    );
  }
  return changed;
}

/** One column of the file. */
interface Cell {
  readonly name: string;
  /** Whether it holds texts of the books, which spreadsheets may take for something else. */
  readonly isText?: true;
  readonly text: (row: readonly SqlCell[]) => string | undefined;
  /** The cell in the total row, from the sums of the answer's columns. */
  readonly total: (sums: readonly (bigint | undefined)[]) => string | undefined;
}

interface CellPlace {
  /** The position of the column that names the unit of usage; -1 if there is none. */
  readonly unit: number;
  readonly code: string | undefined;
  readonly meters: ReadonlyMap<string, string>;
  readonly signs: SpreadsheetSigns;
}

/** The columns in the file for a column of the answer. */
function cellsOf(column: SqlColumn, index: number, { unit, code, meters, signs }: CellPlace): Cell[] {
  const { name, type } = column;
  const isOther = code !== undefined && name.endsWith(`_${code.toLowerCase()}`);
  const shown = { decimals: isOther ? currencyDecimals(code) : shownDecimals, signs };
  const scale = scaleOf(column);
  const role = roleOf(column);
  const isUsage = role === 'usage' && unit !== -1;
  if (scale !== undefined && (role === 'money' || isUsage)) {
    const amount: Cell = {
      name,
      text: (row) => (row[index] == null ? undefined : rounded(unscaledDecimal(row[index]), scale, shown)),
      total: (sums) => (sums[index] === undefined ? undefined : rounded(sums[index], scale, shown)),
    };
    if (!isUsage) return [amount];
    const hours: Cell = {
      name: `${name}_gb_hours`,
      text: (row) =>
        row[index] == null || row[unit] !== 'GB-seconds'
          ? undefined
          : rounded(unscaledDecimal(row[index]), scale, shown, secondsPerHour),
      total: () => undefined,
    };
    return [amount, hours];
  }
  if (scale !== undefined && role === 'share') {
    const share: Cell = {
      name,
      text: (row) => (row[index] == null ? undefined : `${rounded(unscaledDecimal(row[index]) * 100n, scale, shown)}%`),
      total: () => undefined,
    };
    return [share];
  }
  const written = (text: string | undefined) => (isNumber(column) ? text?.replace('.', signs.decimal) : text);
  const plain: Cell = {
    name,
    ...(isText(column) || type === 'UUID' ? { isText: true } : {}),
    text: (row) => written(plainText(row[index] ?? null, column)),
    total: (sums) =>
      sums[index] === undefined || scale === undefined ? undefined : written(decimalOfWhole(sums[index], scale)),
  };
  if (name !== 'billing_dimension' || type !== 'VARCHAR') return [plain];
  const meter: Cell = {
    name: 'billing_dimension_name',
    isText: true,
    text: (row) => {
      const text = toCellText(row[index] ?? null);
      return text === undefined ? undefined : textGuard(meters.get(text) ?? text);
    },
    total: () => undefined,
  };
  return [plain, meter];
}

function plainText(value: SqlCell, column: SqlColumn): string | undefined {
  const { name, type } = column;
  const text = toCellText(value);
  if (name === 'owner') return ownerText(text);
  if (text === undefined) return name === 'workspace' ? 'no workspace' : undefined;
  if (roleOf(column) === 'month') return text.replace(/^(\d{4}-\d\d)-\d\d$/, '$1');
  if (roleOf(column) === 'instant') return text.replace('T', ' ').replace(/Z$/, '');
  return isText(column) || type === 'UUID' || roleOf(column) === 'time' ? textGuard(text) : text;
}

/** An owner for people: `Payments / checkout` for `{"team":"Payments","product":"checkout"}`. */
export function ownerText(owner: string | undefined): string {
  let values: unknown[] = [owner ?? null];
  if (owner?.startsWith('{')) {
    try {
      values = Object.values(JSON.parse(owner) as Record<string, unknown>);
    } catch {
      // A name may look like JSON.
    }
  }
  const named = values.map((value) => value ?? 'none');
  return values.every((value) => value === null) ? 'no owner' : textGuard(named.join(' / '));
}

/** Words of column names with a special spelling. */
const writtenSo: Readonly<Record<string, string>> = { uuid: 'UUID', usd: 'USD', gb_hours: 'GB-hours', id: 'ID' };

/** A column's name in words: `Cost month before` for `cost_month_before`. Names of another form do not change. */
export function headerOf(name: string, code?: string): string {
  if (code !== undefined) return withCode(name, code);
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) return name;
  const words = name
    .replaceAll(/(?<=^|_)(uuid|usd|gb_hours|id)(?=_|$)/g, (word) => writtenSo[word] ?? word)
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The header of a column, with the second currency in capitals: `Cost EUR`, `EUR rate date`. */
function withCode(name: string, code: string): string {
  const small = code.toLowerCase();
  if (name === `${small}_rate` || name === `${small}_rate_date`) return `${code}${headerOf(name).slice(code.length)}`;
  const suffix = `_${small}`;
  return name.endsWith(suffix) ? `${headerOf(name.slice(0, -suffix.length))} ${code}` : headerOf(name);
}

/** A decimal divided by a number, rounded half away from zero. */
function rounded(
  unscaled: bigint,
  scale: number,
  { decimals, signs }: { readonly decimals: number; readonly signs: SpreadsheetSigns },
  divisor = 1n,
): string {
  const numerator = unscaled * 10n ** BigInt(decimals);
  const denominator = 10n ** BigInt(scale) * divisor;
  const size = numerator < 0n ? -numerator : numerator;
  const whole = (2n * size + denominator) / (2n * denominator);
  return decimalOfWhole(numerator < 0n ? -whole : whole, decimals).replace('.', signs.decimal);
}
