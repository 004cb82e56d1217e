import { stringify } from 'csv-stringify/sync';
import { isTextType } from '../../terminal/index.ts';
import { type SqlColumn, type SqlResult, toCellText } from '../../warehouse/index.ts';

/**
 * Spreadsheets run a cell as a formula by its first sign, also in its wide, small, raised and lowered forms. They skip
 * blanks and characters that nobody sees, and some take a leading control character as the start of a formula itself.
 */
const formulaStart =
  /^(?:\p{Cc}|[\p{White_Space}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋\u2212])/u;

/**
 * An answer as CSV (RFC 4180: CRLF, quotes doubled), piece by piece, with a header line. NULL is an empty cell, the
 * empty text is `""`. Decimals have their column's fixed number of digits. Text that a spreadsheet would take for a
 * formula gets a leading `'`, names of columns too, numbers never; `raw` leaves text as it is.
 */
export async function* csvChunks(result: SqlResult, options: { raw: boolean }): AsyncGenerator<string> {
  yield csvLines([result.columns.map(({ name }) => (options.raw ? name : textGuard(name)))]);
  const guarded = result.columns.map((column) => !options.raw && isGuarded(column));
  for await (const rows of result.chunks) {
    yield csvLines(
      rows.map((row) =>
        row.map((value, index) => {
          const text = toCellText(value);
          return text !== undefined && guarded[index] ? textGuard(text) : text;
        }),
      ),
    );
  }
}

/** A text with a leading apostrophe where a spreadsheet would run it as a formula. */
export function textGuard(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}

function isGuarded(column: SqlColumn): boolean {
  return isTextType(column.type);
}

/** Rows as lines of CSV. */
export function csvLines(rows: readonly (readonly (string | undefined)[])[]): string {
  // csv-stringify writes undefined as an empty cell and, told so, the empty text as "". By itself it quotes no line
  // break but its own, and readers would take another one for the end of the row.
  return stringify(
    rows.map((row) => [...row]),
    { record_delimiter: 'windows', quoted_match: /^$|[\r\n]/ },
  );
}
