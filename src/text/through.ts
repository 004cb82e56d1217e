/** `complete through 2026-10-01T00:00:00Z`. */
export function throughWords(completeThrough: string | null): string {
  return completeThrough === null ? 'no complete hour yet' : `complete through ${completeThrough}`;
}

/** `now (costs through 2026-10-01T00:00:00Z)`: the hours that an end "if it stops now" knows. */
export function nowWords(completeThrough: string | null): string {
  return completeThrough === null ? 'now' : `now (costs through ${completeThrough})`;
}

/** Of costs after an hour that differs: a run has loaded what it could. */
export const inBooksIfMatching = 'are in the books, except for hours that never matched';

/** Whether a command (`report focus`) only reads the books. */
export function isReader(command: string): boolean {
  return ['report', 'statement', 'summarize', 'verify'].includes(command.split(' ')[0] ?? '');
}

/** What it means that such a command failed. */
export const ofReader = 'no cost is missing; what this command makes was not renewed';
