import { includeLine } from './sql-fragments.ts';

/** The keys that a header may have. */
const headerKeys = new Set([
  ...['about', 'grain', 'params', 'formats', 'severity', 'cost', 'partition', 'evaluated', 'spread', 'totals'],
  ...['top', 'important', 'sparkline', 'without', 'version', 'follows', 'figures', 'joins', 'hours', 'for'],
]);

/**
 * Reads the header of an SQL file: the `--! key: value` lines at its top. A repeated key continues its value. Adds what is
 * wrong to `problems`, with file, line and column.
 */
export function parseHeader(text: string, path: string, problems: string[]): Record<string, string> {
  const header: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('--!') || includeLine.test(line)) break;
    const match = /^--! *([a-z]+): *(.*)$/.exec(line);
    const at = `${path}:${index + 1}:1`;
    if (!match) {
      problems.push(`${at}: found "${line}", expected "--! key: value"`);
      continue;
    }
    const [, key = '', value = ''] = match;
    if (!headerKeys.has(key))
      problems.push(`${at}: unknown header key "${key}", expected one of ${[...headerKeys].join(', ')}`);
    header[key] = header[key] === undefined ? value.trim() : `${header[key]} ${value.trim()}`;
  }
  if (header['about'] === undefined) problems.push(`${path}:1:1: the header has no "--! about:" line`);
  return header;
}
