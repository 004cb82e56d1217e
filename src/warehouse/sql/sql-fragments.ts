import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Removes what some editors write: a byte order mark, and lines that end in CRLF. */
export function toLines(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

/** A line that includes a fragment; the first group is its name. */
export const includeLine = /^\s*--! *include:\s*(.*?)\s*$/;

/** Whether a text includes a fragment. */
export function hasInclude(text: string): boolean {
  return text.includes('include:') && text.split('\n').some((line) => includeLine.test(line));
}

/** A text with includes. */
interface ToInclude {
  readonly text: string;
  readonly path: string;
  readonly fragments: string;
  readonly instead?: Readonly<Record<string, string>> | undefined;
}

/** One line of an SQL text, and its `file:line`. */
interface PlacedLine {
  readonly line: string;
  readonly place: string;
}

/**
 * Replaces each line `--! include: name` by the lines of the fragment `name.sql` below its header. A fragment has a name
 * and no path, so that SQL cannot include other files. `instead` names fragments that replace others. What is wrong is added
 * to `problems`.
 */
export async function includeFragments(
  { text, path, fragments, instead = {} }: ToInclude,
  problems: string[],
  including: readonly string[] = [],
): Promise<PlacedLine[]> {
  const expanded: PlacedLine[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${path}:${index + 1}`;
    const asked = includeLine.exec(line)?.[1];
    const name = asked !== undefined && Object.hasOwn(instead, asked) ? instead[asked] : asked;
    if (name === undefined) {
      expanded.push({ line, place });
      continue;
    }
    const known = (await readdir(fragments)).map((file) => basename(file, '.sql')).sort();
    if (!known.includes(name)) {
      problems.push(`${place}:1: found include "${name}", expected one of ${known.join(', ')}`);
    } else if (including.includes(name)) {
      problems.push(`${place}:1: the fragments include each other: ${[...including, name].join(', ')}`);
    } else {
      const file = join(fragments, `${name}.sql`);
      const own = { text: toLines(await readFile(file, 'utf8')).trimEnd(), path: file, fragments, instead };
      const lines = await includeFragments(own, problems, [...including, name]);
      expanded.push(...lines.slice(lines.findIndex((each) => !each.line.startsWith('--! about:'))));
    }
  }
  return expanded;
}
