import { stringify } from 'csv-stringify/sync';
import { isText } from '../../tables/column.ts';
import { type SqlColumn, type SqlResult, toCellText } from '../../warehouse/store/index.ts';
import type { SpreadsheetSigns } from './spreadsheet.ts';

/**
 * Spreadsheets decide by the first character whether a cell is a formula, including its full-width, small, superscript
 * and subscript forms. They skip blanks and invisible characters, and some treat a leading control character as the
 * start of a formula.
 */
const formulaStart =
  /^(?:\p{Cc}|[\p{White_Space}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋\u2212])/u;

/**
 * Writes an answer as CSV (RFC 4180: CRLF, doubled quotes) with a header line, in chunks. NULL is an empty cell, an
 * empty text is `""`. Decimals have the fixed number of digits of their column. Text and column names that a
 * spreadsheet would run as a formula get a leading `'`, also after a `;` or a line break in them; numbers never do. `raw` writes
 * text unchanged.
 */
export async function* csvChunks(result: SqlResult, options: { raw: boolean }): AsyncGenerator<string> {
  yield csvLines([result.columns.map(({ name }) => (options.raw ? name : cellGuard(name)))]);
  const guarded = result.columns.map((column) => !options.raw && isGuarded(column));
  for await (const rows of result.chunks) {
    yield csvLines(
      rows.map((row) =>
        row.map((value, index) => {
          const text = toCellText(value);
          return text !== undefined && guarded[index] ? cellGuard(text) : text;
        }),
      ),
    );
  }
}

/** A text, with a leading apostrophe if a spreadsheet would run it as a formula. */
export function textGuard(text: string): string {
  return startsFormula(text) ? `'${text}` : text;
}

/** What a cell of a CSV file with commas has for a text: neither it nor a part of it is run as a formula. */
export function cellGuard(text: string): string {
  return guardedWithin(textGuard(text), { separator: ',' });
}

/** What separates cells in a spreadsheet of another language, by the separator of the file; and what ends its lines. */
const otherSeparators = { ',': /([;\t\r\n])/, ';': /([,\t\r\n])/ } as const;

/**
 * A text of which no part is run as a formula either if the spreadsheet has another language: it then separates cells by the
 * other sign, where quotes within a line mean nothing.
 */
export function guardedWithin(text: string, { separator }: Pick<SpreadsheetSigns, 'separator'>): string {
  // Every second part is a separator.
  const parts = text.split(otherSeparators[separator]);
  return parts.length === 1
    ? text
    : parts.map((part, index) => (index > 0 && index % 2 === 0 ? textGuard(part) : part)).join('');
}

/** Whether a spreadsheet would run a cell as a formula. */
export function startsFormula(text: string): boolean {
  return formulaStart.test(text);
}

function isGuarded(column: SqlColumn): boolean {
  return isText(column);
}

/** Rows as lines of CSV, or with another separator. */
export function csvLines(rows: readonly (readonly (string | undefined)[])[], delimiter = ','): string {
  // csv-stringify writes undefined as an empty cell and, because of quoted_match, the empty text as "". It only quotes its
  // own line break, but readers would end the row at any other one.
  return stringify(
    rows.map((row) => [...row]),
    { delimiter, record_delimiter: 'windows', quoted_match: /^$|[\r\n]/ },
  );
}
