/** A record of a CSV text, and the line on which it starts. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * The records of a CSV text (RFC 4180), the header first. Trims cells. Skips what spreadsheets add: rows and columns whose
 * cells are all empty, and the first line `sep=,`. Reports a broken quote, another separator and too many cells, and then
 * returns undefined. Pure.
 */
export function csvRecords(text: string, report: (line: number, words: string) => void): CsvRecord[] | undefined {
  const records = recordsOf(text, report);
  const separator = separatorNamed(records?.[0]?.cells);
  if (separator !== undefined && separator !== ',') {
    report(1, `found ${records?.[0]?.cells.join(',')}, expected cells separated by commas; save the file with commas`);
    return undefined;
  }
  const rows = separator === undefined ? records : records?.slice(1);
  if (rows === undefined) return undefined;
  const used = new Set(rows.flatMap(({ cells }) => [...cells.keys()].filter((column) => cells[column] !== '')));
  return rows.flatMap(({ line, cells }) =>
    cells.every((cell) => cell === '') ? [] : [{ line, cells: cells.filter((_, column) => used.has(column)) }],
  );
}

/** The separator in the first line that Excel writes and reads: `sep=,`. Undefined for any other record. */
export function separatorNamed(cells: readonly string[] | undefined): string | undefined {
  const [, separator] = /^\uFEFF?sep=(.*)$/i.exec(cells?.join(',') ?? '') ?? [];
  return separator;
}

/** A column by the name in a header: `Date` is `date` unless both are known. */
export function columnNamed(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  return known.find((other) => other.toLowerCase() === name.toLowerCase()) ?? name;
}

/** Far more than lists that people keep have. Beside its cells, a short text may need two hundred times its length. */
const mostCells = 2_000_000;

function recordsOf(
  text: string,
  report: (line: number, words: string) => void,
): { line: number; cells: string[] }[] | undefined {
  const records: { line: number; cells: string[] }[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  let line = 1;
  let cells: string[] = [];
  let begun = 1;
  let count = 0;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      const rest = text.slice(at, text.indexOf('\n', at) === -1 ? undefined : text.indexOf('\n', at));
      const fault = rest.startsWith('"')
        ? 'a quote that is not closed, or text after the closing quote'
        : 'a quote inside a cell';
      report(line, `found ${fault}, expected "…" around the whole cell and "" for a quote inside it`);
      return undefined;
    }
    const [whole, quotedCell, plain = '', end = ''] = match;
    count += 1;
    if (count > mostCells) {
      report(line, `found more than ${mostCells} cells, expected a list; remove what is not needed`);
      return undefined;
    }
    cells.push((quotedCell === undefined ? plain : quotedCell.replaceAll('""', '"')).trim());
    line += (whole.match(/\r\n|\n|\r/g) ?? []).length;
    if (end === ',' && pattern.lastIndex < text.length) continue;
    if (end === ',') cells.push(''); // the file ends with a comma
    // Millions of blank lines would need more memory than a command has.
    if (cells.length > 1 || cells[0] !== '') records.push({ line: begun, cells });
    cells = [];
    begun = line;
  }
  return records;
}
