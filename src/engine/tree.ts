import { type Connection, readSql } from '../warehouse/index.ts';

/** A node of DuckDB's parse tree, as `json_serialize_sql` writes it: what a node has depends on its `type`. */
export interface Tree {
  readonly [name: string]: unknown;
  readonly type?: string;
  /** The kind of an expression. */
  readonly class?: string;
  /** The byte in the statement at which it begins. */
  readonly query_location?: number;
}

/** The parse tree of one SELECT. Throws UsageError for anything else: the caller has admitted the statement. */
export async function parseTree(connection: Connection, sql: string): Promise<Tree> {
  const [row] = await connection.rows(await readSql('engine', 'parse_tree'), { sql });
  const read = JSON.parse(String(row?.['tree'])) as {
    readonly error?: boolean;
    readonly error_message?: string;
    readonly statements?: readonly { readonly node: Tree }[];
  };
  const [first] = read.statements ?? [];
  if (first === undefined) throw new Error(`DuckDB does not parse an admitted statement: ${read.error_message}`);
  return first.node;
}

/** The child of a node under a name; undefined if it has none. */
export function childOf(tree: Tree, name: string): Tree | undefined {
  const child = tree[name];
  return typeof child === 'object' && child !== null && !Array.isArray(child) ? (child as Tree) : undefined;
}

/** The children of a node in a list; none if it has no such list. */
export function childrenOf(tree: Tree, name = 'children'): readonly Tree[] {
  const children = tree[name];
  return Array.isArray(children) ? (children as Tree[]) : [];
}

/** A text of a node; '' if it has none. */
export function textOf(tree: Tree, name: string): string {
  const text = tree[name];
  return typeof text === 'string' ? text : '';
}

/** The names in a list of a node. */
export function namesOf(tree: Tree, name: string): readonly string[] {
  const names = tree[name];
  return Array.isArray(names) ? names.map(String) : [];
}

/** The CTEs of a query, in order. */
export function ctesOf(tree: Tree): readonly { readonly name: string; readonly entry: Tree }[] {
  const map = childOf(tree, 'cte_map');
  return map === undefined
    ? []
    : childrenOf(map, 'map').map((one) => ({ name: textOf(one, 'key'), entry: childOf(one, 'value') ?? {} }));
}

/** Calls `visit` with a node and everything below it. */
export function walk(tree: unknown, visit: (node: Tree) => void): void {
  if (Array.isArray(tree)) {
    for (const child of tree) walk(child, visit);
  } else if (typeof tree === 'object' && tree !== null) {
    visit(tree as Tree);
    for (const child of Object.values(tree)) walk(child, visit);
  }
}
