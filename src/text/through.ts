/** `complete through 2026-10-01T00:00:00Z`. */
export function throughWords(completeThrough: string | null): string {
  return completeThrough === null ? 'no complete hour yet' : `complete through ${completeThrough}`;
}

/** Of costs after an hour that differs: a run has loaded what it could. */
export const inBooksIfMatching = 'are in the books if they match the totals';
