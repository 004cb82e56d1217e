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

/** More names than this are not compared with each other: the time grows with their square. */
const maxTwinNames = 1000;

/**
 * Pairs of names that are probably one, written in two ways: alike but for case, blanks and punctuation, or one or two
 * letters apart. Each pair is in the order of `names`. Names that differ in a number are two (`team-1`, `team-2`).
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
  // Two letters that changed places are two apart.
  const apart = length >= 8 ? 2 : length >= 5 ? 1 : 0;
  return Math.abs(one.length - other.length) <= apart && apart > 0 && distance(one, other) <= apart;
}
