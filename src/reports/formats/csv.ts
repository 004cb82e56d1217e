import { stringify } from 'csv-stringify/sync';
import { isTextType, type SqlColumn, type SqlResult, toCellText } from '../../warehouse/index.ts';

/** Cells beginning with one of these are run as formulas by spreadsheets: full-width forms too, and behind a byte order mark. */
const formulaStart = /^\uFEFF*[=+\-@\t\r\n\0\uFF1D\uFF0B\uFF0D\uFF20]/;

/**
 * An answer as CSV (RFC 4180: CRLF, quotes doubled), piece by piece, with a header line. NULL is an empty cell, the
 * empty text is `""`. Decimals have their column's fixed number of digits. Text that a spreadsheet would take for a
 * formula gets a leading `'`, numbers never; `raw` leaves text as it is.
 */
export async function* csvPieces(result: SqlResult, options: { raw: boolean }): AsyncGenerator<string> {
  yield csvLines([result.columns.map((column) => column.name)]);
  const guarded = result.columns.map((column) => !options.raw && isGuarded(column));
  for await (const rows of result.pieces) {
    yield csvLines(
      rows.map((row) =>
        row.map((value, index) => {
          const text = toCellText(value);
          return text !== undefined && guarded[index] && formulaStart.test(text) ? `'${text}` : text;
        }),
      ),
    );
  }
}

function isGuarded(column: SqlColumn): boolean {
  return isTextType(column.type);
}

function csvLines(rows: readonly (readonly (string | undefined)[])[]): string {
  // csv-stringify writes undefined as an empty cell and, told so, the empty text as "". By itself it quotes no line
  // break but its own, and readers would take another one for the end of the row.
  return stringify(
    rows.map((row) => [...row]),
    { record_delimiter: 'windows', quoted_match: /^$|[\r\n]/ },
  );
}
