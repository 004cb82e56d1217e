// What a person sees of an answer, decided once: a terminal and a page write the same digits, and both say only once what all
// rows have in common.

import { roundDecimal } from '../money/money.ts';
import { type Column, roleOf, scaleOf } from './column.ts';

/** The decimals of amounts in the books; rates have more, shares fewer. */
const moneyDecimals = 12;
const mostDecimals = 18;

/**
 * How a column's cells are written for people; undefined for those that stay as they are. Months lose their day. Numbers are
 * rounded to two decimals, or to as many as show three digits of the largest one. Rates are rounded to three digits each,
 * because small ones matter too. `decimals` are those of its amounts, if their currency has others than two. Pure.
 */
export function writerOf(
  { name, type, decimals }: Column & { readonly decimals?: number | undefined },
  cells: readonly (string | undefined)[],
): ((cell: string) => string) | undefined {
  if (roleOf({ name, type }) === 'month') return (cell) => cell.replace(/^(\d{4}-\d{2})-01$/, '$1');
  const scale = scaleOf({ type });
  if (scale === undefined && type !== 'DOUBLE' && type !== 'FLOAT') return undefined;
  if (decimals !== undefined) return (cell) => roundDecimal(cell, decimals);
  const sizes = cells.flatMap((cell) => (cell === undefined ? [] : [Math.abs(Number(cell))])).filter(Number.isFinite);
  const largest = Math.max(0, ...sizes);
  if (largest === 0 || largest >= 1) return (cell) => roundDecimal(cell, 2);
  if ((scale ?? mostDecimals) > moneyDecimals) return (cell) => roundDecimal(cell, digitsFor(Number(cell)));
  // A fraction of a dollar is still an amount.
  const isAmount = ['money', 'usage'].includes(roleOf({ name, type })) && largest >= 0.01;
  return (cell) => roundDecimal(cell, isAmount ? 2 : digitsFor(largest));
}

/** The decimals that show three digits of a number; at least two. */
function digitsFor(value: number): number {
  const size = Math.abs(value);
  return size === 0 || size >= 1 ? 2 : Math.min(mostDecimals, Math.max(2, 2 - Math.floor(Math.log10(size))));
}

/**
 * Columns whose value is not the same in every row, and those whose value is: they are said once. Amounts stay, and so does
 * everything if there is one row, or if nothing varies. `rows` are as a person sees them. Pure.
 */
export function withoutConstants<C extends { readonly index: number }>(
  columns: readonly C[],
  rows: readonly (readonly string[])[],
): { readonly varied: readonly C[]; readonly constant: readonly C[] } {
  const [first] = rows;
  if (first === undefined || rows.length < 2) return { varied: columns, constant: [] };
  const isConstant = ({ index }: C) => {
    const value = first[index] ?? '';
    return !/^-?\d+\.\d+$/.test(value) && rows.every((row) => row[index] === value);
  };
  const constant = columns.filter(isConstant);
  if (constant.length === columns.length) return { varied: columns, constant: [] };
  return { varied: columns.filter((column) => !constant.includes(column)), constant };
}
