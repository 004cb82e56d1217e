import { constants, createReadStream } from 'node:fs';
import { decimalOfWhole, wholeOfDecimal } from '../../money/money.ts';
import { cellGuard } from './csv.ts';
import { type SpreadsheetSigns, signsOf } from './spreadsheet.ts';

/** Opens for `createReadStream` what others may have replaced a moment ago: no link is followed, and no pipe waited for. */
export const asRegularFile = {
  // Node takes a number too.
  flags: (constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) as unknown as string,
};

/**
 * Reads back a CSV file (RFC 4180). Returns its number of records after the header, and the sum of a column of decimals
 * as exact text; null if there are no values. DuckDB's own reader guesses comments and drops rows that start with `#`.
 * Throws if the file is not CSV, if a record has a different number of fields than the header, or if a value is not a
 * decimal. The signs are those of English by default.
 */
export async function figuresOfCsv(
  path: string,
  column: { readonly name: string; readonly decimals: number } | undefined,
  { decimal, separator }: SpreadsheetSigns = signsOf(undefined),
): Promise<{ rows: number; cost: string | null }> {
  const header: string[] = [];
  let wanted = -1;
  let records = 0;
  let field = 0;
  let sum = 0n;
  let values = 0;

  function endField(text: string | undefined): void {
    if (field >= mostColumns) throw new Error(`record ${records} has more than ${mostColumns} fields`);
    if (records === 0) header.push((text ?? '').replace(/^\uFEFF/, ''));
    else if (field === wanted && text !== undefined && text !== '') {
      sum += wholeOfDecimal(text.replace(decimal, '.'), column?.decimals ?? 0);
      values += 1;
    }
    field += 1;
  }
  function endRecord(): void {
    if (records === 0) {
      wanted =
        column === undefined ? -1 : header.findIndex((name) => name === column.name || name === cellGuard(column.name));
      if (column !== undefined && wanted === -1) throw new Error(`there is no column "${column.name}"`);
    } else if (field !== header.length) {
      throw new Error(`record ${records} has ${field} fields, expected ${header.length}`);
    }
    records += 1;
    field = 0;
  }

  const between = separator.charCodeAt(0);
  // Scans byte by byte, and converts only the bytes of the wanted column to text.
  let kept: number[] = [];
  let size = 0;
  let isKept = true;
  let place: 'start' | 'plain' | 'quoted' | 'after quote' = 'start';
  function end(isOfRecord: boolean): void {
    if (isOfRecord && kept.at(-1) === carriageReturn) kept.pop();
    endField(isKept ? Buffer.from(kept).toString() : undefined);
    if (isOfRecord) endRecord();
    kept = [];
    size = 0;
    isKept = records === 0 || field === wanted;
    place = 'start';
  }
  let isInRecord = false;
  for await (const chunk of createReadStream(path, asRegularFile) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      size += 1;
      if (size > mostCellBytes) throw new Error(`record ${records} has a field of more than ${mostCellBytes} bytes`);
      if (place === 'quoted') {
        if (byte === quote) place = 'after quote';
        else if (isKept) kept.push(byte);
      } else if (byte === between) {
        end(false);
        isInRecord = true;
      } else if (byte === lineFeed) {
        end(true);
        isInRecord = false;
      } else if (byte === quote) {
        if (place === 'plain') throw new Error(`record ${records} has a quote inside an unquoted field`);
        if (place === 'after quote' && isKept) kept.push(byte);
        place = 'quoted';
        isInRecord = true;
      } else {
        if (place === 'after quote' && byte !== carriageReturn) {
          throw new Error(`record ${records} has text between a closing quote and the next "${separator}"`);
        }
        if (place === 'start') place = 'plain';
        if (isKept) kept.push(byte);
        isInRecord = true;
      }
    }
  }
  if (place === 'quoted') throw new Error('the file ends inside a quoted field');
  if (isInRecord) end(true); // truncated, or without a line end after the last line
  if (records === 0) throw new Error('there is no header');
  return { rows: records - 1, cost: values === 0 ? null : decimalOfWhole(sum, column?.decimals ?? 0) };
}

/** What a file may claim: far more than any report has. Whoever sends one may have written anything. */
const mostColumns = 100_000;
const mostCellBytes = 8 * 1024 * 1024;

const [quote, carriageReturn, lineFeed] = [0x22, 0x0d, 0x0a];

/** The records of a CSV file (RFC 4180) as cells, the header first. For files that `figuresOfCsv` could read. */
export async function* csvRecordsOf(path: string): AsyncGenerator<string[]> {
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let wasQuote = false;
  for await (const chunk of createReadStream(path, { ...asRegularFile, encoding: 'utf8' }) as AsyncIterable<string>) {
    for (const character of chunk) {
      if (isQuoted && character !== '"') cell += character;
      else if (character === '"') {
        // A second quote is one in the text; it reopens what the first one closed.
        if (!isQuoted && wasQuote) cell += '"';
        isQuoted = !isQuoted;
        wasQuote = !isQuoted;
        continue;
      } else if (character === ',' || character === '\n') {
        // Elsewhere than at the end of a line, readers do not agree what it means.
        cells.push(character === '\n' ? cell.replace(/\r$/, '') : cell);
        cell = '';
        if (character === '\n') {
          yield cells;
          cells = [];
        }
      } else cell += character;
      wasQuote = false;
    }
  }
  if (cells.length > 0 || cell !== '') yield [...cells, cell];
}
