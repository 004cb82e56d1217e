/** A formula as a workbook stores it: the English name of a function, and its arguments. */
function called(name: string, ...given: readonly (string | number)[]): string {
  return `${name}(${given.join(',')})`;
}

/** Adds up cells: an area such as `B2:B9`, or its name. */
export function sumFormula(cells: string): string {
  return called('SUM', cells);
}

/** Adds up the cells of an area whose cell in another area is this word of ours. */
export function sumIfFormula(area: string, word: string, cells: string): string {
  return called('SUMIF', area, `"${word}"`, cells);
}

/** The difference of two areas' sums, without the noise of binary fractions. */
export function differenceFormula(cells: string, others: string): string {
  return called('ROUND', `${sumFormula(cells)}-${sumFormula(others)}`, 6);
}
