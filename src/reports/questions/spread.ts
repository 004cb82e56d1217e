import type { SqlFile } from '../../warehouse/sql/index.ts';

/**
 * Columns made from rows: each value of `column` becomes a column with the sum of `amount`, and the last one is the
 * total.
 */
export interface Spread {
  readonly column: string;
  readonly amount: string;
  readonly total: string;
}

/** Reads a header's `--! spread: workspace, cost, total`; undefined if it has none. Adds mistakes to `problems`. */
export function parseSpread({ path, header }: SqlFile, problems: string[]): Spread | undefined {
  const names = header['spread'];
  if (names === undefined) return undefined;
  const [column = '', amount = '', total = '', ...more] = names.split(/\s*,\s*/);
  if (total === '' || more.length > 0) {
    problems.push(`${path}:1:1: found "--! spread: ${names}", expected three names such as workspace, cost, total`);
  }
  return { column, amount, total };
}
