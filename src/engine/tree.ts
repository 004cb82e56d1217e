import { parsedOf, readSql, type Tree } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';

export { type Tree, walk } from '../warehouse/sql/index.ts';

/** The parse tree of one SELECT. Throws UsageError for anything else: the caller has admitted the statement. */
export async function parseTree(connection: Connection, sql: string): Promise<Tree> {
  const [row] = await connection.rows(await readSql('engine', 'parse_tree'), { sql });
  const { node, error } = parsedOf(String(row?.['tree']));
  if (node === undefined) throw new Error(`DuckDB does not parse an admitted statement: ${error}`);
  return node;
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
