/** A node of DuckDB's parse tree, as `json_serialize_sql` writes it: what a node has depends on its `type`. */
export interface Tree {
  readonly [name: string]: unknown;
  readonly type?: string;
  /** The kind of an expression. */
  readonly class?: string;
  /** The byte in the statement at which it begins. */
  readonly query_location?: number;
}

/** What `sql/engine/parse_tree.sql` says of a text: its SELECT, or why DuckDB's parser has none. */
export interface Parsed {
  readonly node: Tree | undefined;
  /** `parser`, or `not implemented` for another statement than SELECT. */
  readonly errorKind: string;
  readonly error: string;
}

/** Reads the answer of `sql/engine/parse_tree.sql`. */
export function parsedOf(answer: string): Parsed {
  const read = JSON.parse(answer) as {
    readonly error_type?: string;
    readonly error_message?: string;
    readonly statements?: readonly { readonly node: Tree }[];
  };
  const statements = read.statements ?? [];
  return {
    node: statements.length === 1 ? statements[0]?.node : undefined,
    errorKind: read.error_type ?? '',
    error: read.error_message ?? `found ${statements.length} statements, expected one SELECT`,
  };
}

/** Calls `visit` with a node and everything below it, parents first. Not by recursion: a person decides how deep it is. */
export function walk(tree: unknown, visit: (node: Tree) => void): void {
  const waiting = [tree];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) visit(next as Tree);
    // One by one: a call takes some 100,000 arguments at most, and a list may have more.
    for (const below of Object.values(next).reverse()) waiting.push(below);
  }
}
