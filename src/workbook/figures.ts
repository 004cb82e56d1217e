import { open } from 'node:fs/promises';
import { decimalOfWhole, wholeOfDecimal } from '../money/money.ts';
import { entriesOf, textOf } from './unzip.ts';

/** The name of the area with the rows of an answer, and of the area with their cost. */
export const answerName = 'answer';
export const costName = 'answer_cost';

/**
 * Reads a workbook of `workbookChunks` from disk: how many rows the area `answer` has, and what the area `answer_cost`
 * adds up to, as exact text with this many decimals; null where there is no value to add up. Throws if the file is not
 * such a workbook.
 */
export async function figuresOfWorkbook(
  path: string,
  decimals: number | undefined,
): Promise<{ rows: number; cost: string | null }> {
  const file = await open(path);
  try {
    const entries = await entriesOf(file);
    let workbook = '';
    for await (const chunk of textOf(file, entries, 'xl/workbook.xml')) {
      workbook += chunk;
      if (workbook.length > maxWorkbook) throw new Error('its list of sheets is too long');
    }
    const sheets = [...workbook.matchAll(/<sheet name="([^"]*)"/g)].map(([, name = '']) => plainText(name));
    const costs = areasOf(workbook, costName);
    let rows = 0;
    let sum: bigint | undefined;
    for (const area of areasOf(workbook, answerName)) {
      const index = sheets.indexOf(area.sheet);
      if (index === -1) throw new Error(`it has no sheet "${area.sheet}"`);
      const cost = costs.find(({ sheet }) => sheet === area.sheet)?.first.replace(/\d/g, '');
      const path = `xl/worksheets/sheet${index + 1}.xml`;
      for await (const { row, xml } of rowsOf(textOf(file, entries, path))) {
        if (row < area.from || row > area.to) continue;
        rows += 1;
        const value = cost === undefined || decimals === undefined ? undefined : valueAt(`${cost}${row}`, xml);
        if (value !== undefined) sum = (sum ?? 0n) + wholeOfDecimal(value, decimals ?? 0);
      }
    }
    return { rows, cost: sum === undefined ? null : decimalOfWhole(sum, decimals ?? 0) };
  } finally {
    await file.close();
  }
}

const maxWorkbook = 16_000_000;
const maxRow = 64_000_000;

interface NamedArea {
  readonly sheet: string;
  /** `F2`. */
  readonly first: string;
  readonly from: number;
  readonly to: number;
}

function areasOf(workbook: string, name: string): NamedArea[] {
  const [, text = ''] = new RegExp(`<definedName name="${name}">([^<]*)</definedName>`).exec(workbook) ?? [];
  return [...plainText(text).matchAll(/'((?:[^']|'')*)'!\$([A-Z]+)\$(\d+):\$[A-Z]+\$(\d+)/g)].map(
    ([, sheet = '', column = '', from = '', to = '']) => ({
      sheet: sheet.replaceAll("''", "'"),
      first: `${column}${from}`,
      from: Number(from),
      to: Number(to),
    }),
  );
}

async function* rowsOf(chunks: AsyncIterable<string>): AsyncGenerator<{ row: number; xml: string }> {
  let held = '';
  for await (const chunk of chunks) {
    held += chunk;
    if (held.length > maxRow) throw new Error('a row is too long');
    let from = 0;
    for (let end = held.indexOf('</row>'); end !== -1; end = held.indexOf('</row>', from)) {
      const start = held.indexOf('<row r="', from);
      const xml = held.slice(start, end);
      yield { row: Number.parseInt(xml.slice('<row r="'.length), 10), xml };
      from = end + '</row>'.length;
    }
    held = held.slice(from);
  }
}

/** The text or number of a cell; undefined if it is empty. */
function valueAt(address: string, row: string): string | undefined {
  const start = row.indexOf(`<c r="${address}"`);
  if (start === -1) return undefined;
  const cell = row.slice(start, row.indexOf('</c>', start));
  return /<v>([^<]*)$/.exec(cell.replace(/<\/v>$/, ''))?.[1] ?? /<t[^>]*>([^<]*)</.exec(cell)?.[1];
}

function plainText(xml: string): string {
  return xml.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
