import type { SqlFile } from '../warehouse/index.ts';

/** Columns made of rows: the values of `column` become columns that add up `amount`, with a last one of them all. */
export interface Spread {
  readonly column: string;
  readonly amount: string;
  readonly total: string;
}

/** A header's `--! spread: workspace, cost, total`; undefined where it has none. What is wrong goes to `problems`. */
export function parseSpread({ path, header }: SqlFile, problems: string[]): Spread | undefined {
  const found = header['spread'];
  if (found === undefined) return undefined;
  const [column = '', amount = '', total = '', ...more] = found.split(/\s*,\s*/);
  if (total === '' || more.length > 0) {
    problems.push(`${path}:1:1: found "--! spread: ${found}", expected three names such as workspace, cost, total`);
  }
  return { column, amount, total };
}
