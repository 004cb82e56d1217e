/**
 * The records of a CSV text (RFC 4180), each with the line on which it starts. Skips empty lines and trims cells. Reports a
 * broken quote and then returns undefined. Pure.
 */
export function csvRecords(
  text: string,
  report: (line: number, words: string) => void,
): { readonly line: number; readonly cells: readonly string[] }[] | undefined {
  const records: { line: number; cells: string[] }[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  let line = 1;
  let cells: string[] = [];
  let begun = 1;
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
    cells.push((quotedCell === undefined ? plain : quotedCell.replaceAll('""', '"')).trim());
    line += (whole.match(/\r\n|\n|\r/g) ?? []).length;
    if (end === ',' && pattern.lastIndex < text.length) continue;
    if (end === ',') cells.push(''); // the file ends with a comma
    if (cells.length > 1 || cells[0] !== '') records.push({ line: begun, cells });
    cells = [];
    begun = line;
  }
  return records;
}
