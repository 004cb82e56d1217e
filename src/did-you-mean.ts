import { closest, distance } from 'fastest-levenshtein';

/** Longer than any name of ours: comparing what is longer costs much and finds nothing. */
const maxLength = 200;

/** The known name that was probably meant, whatever its case, dots, dashes and underscores; undefined where none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const written = plainName(name);
  if (known.length === 0 || written.length < 3 || name.length > maxLength) return undefined;
  const plain = new Map(known.map((candidate) => [plainName(candidate), candidate]));
  const best = closest(written, [...plain.keys()]);
  // A third of the letters, but two always: tokne is token.
  return distance(written, best) <= Math.max(2, Math.floor(written.length / 3)) ? plain.get(best) : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[._-]/g, '');
}
