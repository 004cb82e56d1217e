import { createHash } from 'node:crypto';
import { escapeMarkup } from '../text/markup.ts';
import { type Cell, columnName, rowXml } from './cell.ts';
import { styleSheet } from './looks.ts';

import { type ZipFile, zipped } from './zip.ts';

/** The most rows of a sheet. */
export const maxSheetRows = 1_048_576;

/** A rectangle of a sheet, columns counted from 0 and rows from 1, both ends included. */
export interface Area {
  readonly columns: readonly [number, number];
  readonly rows: readonly [number, number];
}

/** What is known of a sheet when all of its rows are written. */
export interface SheetEnd {
  /** Where a reader can filter, head included. */
  readonly filter?: Area | undefined;
  /** Names for areas, such as `answer`; sheets that share a name add to it. */
  readonly names?: Readonly<Record<string, Area>>;
}

/** A sheet whose rows are written as they come. */
export interface Sheet {
  /** Cut and cleaned to what a sheet may be called; a name that another sheet has gets a number. */
  readonly name: string;
  /** Widths of the columns in characters. */
  readonly widths: readonly number[];
  /** How many rows stay in view, and are repeated on every printed page. */
  readonly frozenRows: number;
  readonly rows: AsyncIterable<readonly (readonly Cell[])[]>;
  /** Asked when all rows are written. */
  end?(): SheetEnd;
  /** Receives the SHA-256 of the sheet's XML when it is written. */
  written?(sha256: string): void;
}

/**
 * A workbook (Office Open XML) chunk by chunk, sheet after sheet: what is held at once does not grow with the rows. It has
 * no time and no author, so equal sheets give equal bytes. Throws RangeError for what an XLSX file cannot hold.
 */
export function workbookChunks(sheets: AsyncIterable<Sheet>): AsyncGenerator<Uint8Array> {
  return zipped(partsOf(sheets));
}

interface WrittenSheet {
  readonly name: string;
  readonly frozenRows: number;
  readonly end: SheetEnd;
}

async function* partsOf(sheets: AsyncIterable<Sheet>): AsyncGenerator<ZipFile> {
  const written: WrittenSheet[] = [];
  // Programs that look at the first names of the archive take it for a workbook.
  yield part('_rels/.rels', rootRelations);
  yield part('xl/styles.xml', styleSheet());
  for await (const sheet of sheets) {
    const hash = createHash('sha256');
    yield { path: `xl/worksheets/sheet${written.length + 1}.xml`, chunks: hashed(sheetXml(sheet), hash) };
    sheet.written?.(hash.digest('hex'));
    const name = freeName(sheet.name, new Set(written.map((one) => one.name.toLowerCase())));
    written.push({ name, frozenRows: sheet.frozenRows, end: sheet.end?.() ?? {} });
  }
  yield part('xl/workbook.xml', workbookXml(written));
  yield part('xl/_rels/workbook.xml.rels', workbookRelations(written.length));
  yield part('[Content_Types].xml', contentTypes(written.length));
}

function part(path: string, text: string): ZipFile {
  async function* chunks(): AsyncGenerator<string> {
    yield text;
  }
  return { path, chunks: chunks() };
}

async function* hashed(chunks: AsyncIterable<string>, hash: ReturnType<typeof createHash>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaged = 'http://schemas.openxmlformats.org/package/2006';
const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

async function* sheetXml(sheet: Sheet): AsyncGenerator<string> {
  const { widths, frozenRows, rows } = sheet;
  const pane =
    frozenRows === 0
      ? ''
      : `<pane ySplit="${frozenRows}" topLeftCell="A${frozenRows + 1}" activePane="bottomLeft" state="frozen"/>`;
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  yield `${declaration}<worksheet xmlns="${main}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>` +
    `<sheetViews><sheetView showGridLines="0" workbookViewId="0">${pane}</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>` +
    `${columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`}<sheetData>`;
  let row = 0;
  for await (const some of rows) {
    yield some
      .map((cells) => {
        row += 1;
        return rowXml(row, cells);
      })
      .join('');
  }
  if (row > maxSheetRows) throw new RangeError(`${row} rows in one sheet`);
  const { filter } = sheet.end?.() ?? {};
  yield `</sheetData>${filter === undefined ? '' : `<autoFilter ref="${addressOf(filter)}"/>`}` +
    '<pageMargins left="0.5" right="0.5" top="0.6" bottom="0.6" header="0.3" footer="0.3"/>' +
    '<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/>' +
    '<headerFooter><oddFooter>&amp;L&amp;A&amp;R&amp;P / &amp;N</oddFooter></headerFooter></worksheet>';
}

/** `A1:H20`. */
function addressOf({ columns, rows }: Area, absolute = ''): string {
  const [first, last] = [0, 1].map((end) => `${absolute}${columnName(columns[end] ?? 0)}${absolute}${rows[end] ?? 1}`);
  return `${first}:${last}`;
}

function workbookXml(sheets: readonly WrittenSheet[]): string {
  const names = new Map<string, string[]>();
  const own: string[] = [];
  for (const [index, { name, frozenRows, end }] of sheets.entries()) {
    const quoted = `'${name.replaceAll("'", "''")}'`;
    if (frozenRows > 0) {
      own.push(definedName('_xlnm.Print_Titles', `${quoted}!$1:$${frozenRows}`, index));
    }
    if (end.filter) {
      own.push(definedName('_xlnm._FilterDatabase', `${quoted}!${addressOf(end.filter, '$')}`, index, ' hidden="1"'));
    }
    for (const [key, area] of Object.entries(end.names ?? {})) {
      names.set(key, [...(names.get(key) ?? []), `${quoted}!${addressOf(area, '$')}`]);
    }
  }
  const all = [...[...names].map(([key, areas]) => definedName(key, areas.join(','))), ...own];
  const entries = sheets.map(
    ({ name }, index) => `<sheet name="${escapeMarkup(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  return (
    `${declaration}<workbook xmlns="${main}" xmlns:r="${relations}"><workbookPr/><bookViews><workbookView/></bookViews><sheets>${entries.join('')}</sheets>` +
    `${all.length === 0 ? '' : `<definedNames>${all.join('')}</definedNames>`}<calcPr calcId="191029" fullCalcOnLoad="1"/></workbook>`
  );
}

function definedName(name: string, to: string, sheet?: number, more = ''): string {
  return `<definedName name="${name}"${sheet === undefined ? '' : ` localSheetId="${sheet}"`}${more}>${escapeMarkup(to)}</definedName>`;
}

const rootRelations = `${declaration}<Relationships xmlns="${packaged}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

function workbookRelations(sheets: number): string {
  const targets = Array.from(
    { length: sheets },
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${relations}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  );
  return `${declaration}<Relationships xmlns="${packaged}/relationships">${targets.join('')}<Relationship Id="rId${sheets + 1}" Type="${relations}/styles" Target="styles.xml"/></Relationships>`;
}

function contentTypes(sheets: number): string {
  const overrides = Array.from(
    { length: sheets },
    (_, index) =>
      `<Override PartName="/xl/worksheets/sheet${index + 1}.xml" ContentType="${spreadsheet}.worksheet+xml"/>`,
  );
  return `${declaration}<Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/>${overrides.join('')}<Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/></Types>`;
}

const maxNameLength = 31;

/** A name that a sheet may have and none has yet: at most 31 characters, none of `[]:*?/\`, no apostrophe at an end. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const clean =
    name
      .toWellFormed()
      .replace(/[[\]:*?/\\\p{Cc}]/gu, ' ')
      .replace(/^'+|'+$/g, '')
      .trim() || 'Sheet';
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? '' : ` (${number})`;
    const candidate =
      clean
        .slice(0, maxNameLength - ending.length)
        .toWellFormed()
        .trim() + ending;
    if (!taken.has(candidate.toLowerCase())) return candidate;
  }
}
