/** `complete through 2026-10-01T00:00:00Z`. */
export function throughWords(completeThrough: string | null): string {
  return completeThrough === null ? 'no complete hour yet' : `complete through ${completeThrough}`;
}
