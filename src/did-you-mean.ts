import { closest, distance } from 'fastest-levenshtein';

/** Longer than any known name: comparing longer texts is slow and finds nothing. */
const maxLength = 200;

/** The known name that was probably meant, ignoring case, dots, dashes and underscores; undefined if none is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const written = plainName(name);
  if (known.length === 0 || written.length < 3 || name.length > maxLength) return undefined;
  const plain = new Map(known.map((candidate) => [plainName(candidate), candidate]));
  const best = closest(written, [...plain.keys()]);
  // Up to a third of the letters, and always two: tokne is token.
  return distance(written, best) <= Math.max(2, Math.floor(written.length / 3)) ? plain.get(best) : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[._-]/g, '');
}

/** At most this many names are compared with each other: the time grows with their square. */
const maxTwinNames = 1000;

/**
 * Pairs of names that are probably two spellings of one: equal except for case, blanks and punctuation, or one or two
 * letters apart. Each pair is in the order of `names`. Names that differ in a number (`team-1`, `team-2`) are not a pair.
 */
export function nearTwins(names: readonly string[]): [string, string][] {
  const written = names
    .slice(0, maxTwinNames)
    .filter((name) => name.length <= maxLength)
    .map((name) => ({
      name,
      plain: name
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]/gu, ''),
    }));
  return written.flatMap(({ name, plain }, index) =>
    written.slice(index + 1).flatMap((other): [string, string][] => {
      return areTwins(plain, other.plain) ? [[name, other.name]] : [];
    }),
  );
}

function areTwins(one: string, other: string): boolean {
  if (one === other) return one !== '';
  if (one.replace(/\P{N}/gu, '') !== other.replace(/\P{N}/gu, '')) return false;
  const length = Math.min(one.length, other.length);
  // Two swapped letters count as a distance of two.
  const apart = length >= 8 ? 2 : length >= 5 ? 1 : 0;
  return Math.abs(one.length - other.length) <= apart && apart > 0 && distance(one, other) <= apart;
}
