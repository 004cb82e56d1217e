import { readSql } from '../../warehouse/sql/index.ts';

/** A value, or text that is written as it is: the name of a column, an expression. */
type Shown = string | null | { readonly column: string };

/**
 * A statement of `sql/serve` as a person can run it: values stand in it as literals, and a line with a value that is
 * null is left out. For reading and copying only: the program itself binds its values.
 */
export async function shownSql(name: string, values: Readonly<Record<string, Shown>> = {}): Promise<string> {
  const text = await readSql('serve', name);
  return text
    .split('\n')
    .filter((line) => !line.startsWith('--!') && line !== '')
    .filter((line) => [...line.matchAll(/\$(\w+)/g)].every(([, key = '']) => values[key] !== null))
    .join('\n')
    .replace(/\$(\w+)/g, (_, key: string) => written(values[key]));
}

function written(value: Shown | undefined): string {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'string' ? literal(value) : value.column;
}

/** What would hide or reverse SQL that is read, or act in the terminal into which it is pasted. */
const unseen = /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/u;

/** A text as a literal of SQL, to be read and copied. */
export function literal(text: string): string {
  const quoted = (part: string) => `'${part.replaceAll("'", "''")}'`;
  if (!unseen.test(text)) return quoted(text);
  // The odd parts are the signs at which it was split.
  const parts = text
    .split(unseen)
    .map((part, index) => (index % 2 === 0 ? quoted(part) : `chr(${part.codePointAt(0)})`));
  return `(${parts.join(' || ')})`;
}
