/** DuckDB tries every way to match a pattern: with more stars, a name that somebody chose for it takes hours. */
const mostStars = 4;

/** What is wrong with a pattern, in which `*` matches any characters; undefined if nothing is. */
export function starsFault(pattern: string): string | undefined {
  const count = pattern.match(/\*+/g)?.length ?? 0;
  if (count <= mostStars) return undefined;
  return `found a name with ${count} stars, expected at most ${mostStars}; list the names`;
}

/** Whether a text matches a pattern. Takes time only in proportion to both. */
export function matchesStars(text: string, pattern: string): boolean {
  return matchesInOrder(text, pattern.split('*'));
}

/** Whether a text begins with the first part, ends with the last, and has the others between them in order; one part is all. */
export function matchesInOrder(text: string, [first = '', ...parts]: readonly string[]): boolean {
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
