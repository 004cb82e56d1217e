import { AsyncLocalStorage } from 'node:async_hooks';
import { exportTypes } from '../tables/file-formats.ts';
import type { SqlParameters, SqlRow } from '../warehouse/store/index.ts';
import type { BooksView } from './books/index.ts';
import { html, type Markup } from './markup.ts';
import type { Download } from './page.ts';
import { formatWord, type PageFormat, pageFormats, rowsFile } from './rows-file.ts';

/** A table of a page, as its cells show it; `rows` makes all of them, also if the page shows only the first. */
export interface ShownTable {
  readonly caption: string;
  readonly columns: readonly { readonly head: Markup | string; readonly isNumber?: boolean }[];
  readonly all: number;
  rows(): readonly (readonly Cell[])[];
}

export type Cell = Markup | string | number | null | undefined;

/** The form of the buttons of a page: it has the parameters of its address. */
const formId = 'page-address';

const pageTables = new AsyncLocalStorage<{ readonly tables: Map<string, ShownTable>; readonly isFile: boolean }>();

/** Makes a page, or one for a file of it, and collects its tables, so that each can be downloaded as the page has it. */
export async function withTables<T>(
  isFile: boolean,
  make: () => Promise<T>,
): Promise<{ made: T; tables: Map<string, ShownTable> }> {
  const tables = new Map<string, ShownTable>();
  return { made: await pageTables.run({ tables, isFile }, make), tables };
}

/** The rows of a statement that takes $rows: the `most` that a page shows, or all for a file; and how many there are. */
export async function firstRows(
  view: BooksView,
  name: string,
  { most, ...parameters }: SqlParameters & { readonly most: number },
): Promise<{ readonly rows: readonly SqlRow[]; readonly most: number; readonly all: number }> {
  const rows = await view.rows(name, { ...parameters, rows: pageTables.getStore()?.isFile === true ? null : most });
  return { rows, most, all: Number(rows[0]?.['all_rows'] ?? 0) };
}

/** Notes a table of the page that is made, and returns the buttons that download it. Nothing where no page is made. */
export function tableButtons(shown: ShownTable, most: number): Markup | '' {
  const tables = pageTables.getStore()?.tables;
  if (tables === undefined) return '';
  const slug = nameOf(shown.caption, '-').slice(0, 60) || 'table';
  let name = slug;
  for (let again = 2; tables.has(name); again += 1) name = `${slug}-${again}`;
  tables.set(name, shown);
  const words = shown.all > most ? `The first ${most} of ${shown.all}; these files have all: ` : '';
  return html`<p class="files">${words}${pageFormats.map((format) => {
    const label = formatWord(format);
    return html`<button form="${formId}" name="table" value="${name}.${format}" aria-label="${label}: ${shown.caption}">${label}</button> `;
  })}</p>`;
}

/** The form of the buttons, with what the address of the page has. */
export function tablesForm(query: URLSearchParams): Markup {
  return html`<form id="${formId}" method="get" hidden>${[...query].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}</form>`;
}

/** The button that leads to the page on which this one gets a name. */
export function shareButton(path: string): Markup {
  return html`<p class="files"><button form="${formId}" formaction="/share" name="of" value="${path}">Name and share this view</button></p>`;
}

/** The table that an address asks for, such as `table=budgets.csv`, which it no longer has then; undefined for a page. */
export function takeTable(query: URLSearchParams): { readonly name: string; readonly format: PageFormat } | undefined {
  const [, name = '', ending = ''] = /^([a-z0-9-]+)\.([a-z]+)$/.exec(query.get('table') ?? '') ?? [];
  const format = pageFormats.find((each) => each === ending);
  if (format === undefined) return undefined;
  query.delete('table');
  return { name, format };
}

/**
 * A table as a file: of numbers the exact ones, texts as they are shown. A column of numbers whose cells say more has a second one
 * with those words.
 */
export async function tableFile(
  { caption, columns, ...shown }: ShownTable,
  { name, format }: { readonly name: string; readonly format: PageFormat },
  { facts, signal }: { readonly facts: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Download> {
  const rows = shown.rows();
  const made = (
    await Promise.all(
      columns.map(async ({ head, isNumber = false }, place) => {
        const cells = await Promise.all(rows.map(async (row) => readCell(await row[place])));
        return columnsOf(nameOf((await readCell(await head)).text, '_') || `column_${place + 1}`, cells, isNumber);
      }),
    )
  ).flat();
  const body = await rowsFile(
    {
      columns: made.map((column, place) => ({ ...column, name: distinct(made, place) })),
      rows: rows.map((_, index) => made.map(({ cells }) => cells[index] ?? null)),
      ...{ facts, title: caption, signal },
    },
    format,
  );
  return { name: `${name}.${format}`, type: exportTypes[format], body };
}

/** What a cell shows: its words, and of a number the exact one and the words around it. */
interface Read {
  readonly text: string;
  readonly number: string | undefined;
  readonly words: string;
}

function readCell(cell: Cell): Read {
  const markup = cell === null || cell === undefined ? '' : String(cell);
  if (typeof cell !== 'object') return { text: markup, ...numberIn(markup) };
  const [shown, number] = /<data value="(-?\d+(?:\.\d+)?)".*?<\/data>/.exec(markup) ?? [];
  const text = textOf(markup);
  if (shown === undefined) return { text, ...numberIn(text) };
  const isPercent = shown.endsWith(' %</data>');
  return { text, number, words: `${isPercent ? '%' : ''}${textOf(markup.replace(shown, ''))}` };
}

function numberIn(text: string): Pick<Read, 'number' | 'words'> {
  const [, number, percent = ''] = /^\+?(-?\d+(?:\.\d+)?)( %)?$/.exec(text) ?? [];
  return number === undefined ? { number, words: text } : { number, words: percent.trim() };
}

/** The text of our own markup. A link with a label of its own leads elsewhere, and is no part of the cell. */
function textOf(markup: string): string {
  const texts: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return markup
    .replace(/<a [^>]*aria-label=[^>]*>.*?<\/a>/g, '')
    .replace(/<br>|<div/g, ' $&')
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => texts[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}

function columnsOf(name: string, cells: readonly Read[], isNumber: boolean) {
  const column = (named: string, type: string, of: (cell: Read) => string | undefined) => ({
    ...{ name: named, type },
    cells: cells.map((cell) => of(cell) || null),
  });
  if (!isNumber || cells.every(({ number }) => number === undefined))
    return [column(name, 'VARCHAR', ({ text }) => text)];
  const isPercent = cells.every(({ number, words }) => number === undefined || words === '%');
  const notes = cells.some(({ words }) => words !== '' && !(isPercent && words === '%'));
  return [
    column(isPercent && !name.endsWith('percent') ? `${name}_percent` : name, 'DECIMAL(38,12)', ({ number }) => number),
    ...(notes ? [column(`${name}_words`, 'VARCHAR', ({ words }) => words)] : []),
  ];
}

/** The name of a column, with its count where others before it have the same. */
function distinct(columns: readonly { readonly name: string }[], place: number): string {
  const { name = '' } = columns[place] ?? {};
  const before = columns.slice(0, place).filter((each) => each.name === name).length;
  return before === 0 ? name : `${name}_${before + 1}`;
}

function nameOf(words: string, joint: string): string {
  return words
    .toLowerCase()
    .replace('%', 'percent')
    .replace(/[^a-z0-9]+/g, joint)
    .replace(/^[-_]+|[-_]+$/g, '');
}
