import { closest as closestOf, distance } from 'fastest-levenshtein';

/** `, did you mean "ingest"?` where one of the known names is close enough to be meant; otherwise nothing. */
export function closest(name: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const candidate = closestOf(name, [...known]);
  return distance(name, candidate) <= Math.max(2, Math.floor(name.length / 3)) ? `, did you mean "${candidate}"?` : '';
}
