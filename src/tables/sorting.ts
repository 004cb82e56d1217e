/** The column by which rows are sorted; what is null comes last. */
export interface Sorting {
  readonly name: string;
  readonly isDescending: boolean;
}

/** `cost` sorts by the column cost, `-cost` by its largest values first. Undefined if no column has that name. Pure. */
export function sortingOf(text: string, names: readonly string[]): Sorting | undefined {
  if (names.includes(text)) return { name: text, isDescending: false };
  const name = text.replace(/^-/, '');
  return names.includes(name) ? { name, isDescending: true } : undefined;
}
