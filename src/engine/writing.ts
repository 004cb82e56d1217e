import { UsageError } from '../base/errors.ts';
import type { SqlFile } from '../warehouse/sql/index.ts';
import type { SqlValue } from '../warehouse/store/index.ts';
import type { Field, SqlType } from './sql-type.ts';
import type { Tree } from './tree.ts';

/** An expression in the other engine's SQL. */
export interface Written {
  readonly text: string;
  readonly type: SqlType;
  /** How tightly its outermost operator binds; see `ranks`. */
  readonly rank: number;
}

/** How tightly operators bind, the loosest first. */
export const ranks = { or: 1, and: 2, not: 3, comparison: 4, sum: 5, product: 6, whole: 9 } as const;

/** The text of an expression as an operand of an operator of this rank. */
export function operand({ text, rank }: Written, least: number): string {
  return rank < least ? `(${text})` : text;
}

/** A source of rows in FROM. */
export interface Relation {
  /** The name before the point, in lower case. */
  readonly alias: string;
  readonly columns: readonly Field[];
  /** Its columns of USING, which a star takes from the left. */
  readonly joined?: readonly string[];
}

/** What the names in an expression can mean. */
export interface Scope {
  readonly relations: readonly Relation[];
  /** Expressions of the select list by their alias, in lower case: DuckDB accepts these names in the same SELECT. */
  readonly aliases: ReadonlyMap<string, Tree>;
  /** The select list's unnested lists; undefined where none may be. */
  readonly unnested: Unnested | undefined;
  readonly outer: Scope | undefined;
}

/** The list that a SELECT unnests. */
export interface Unnested {
  readonly alias: string;
  list: Written | undefined;
}

/** A value for a `$name`. */
export interface Bound {
  readonly value: SqlValue;
  readonly type: SqlType;
  /** The content of the file that the value names. */
  readonly content?: string;
}

/** Where a text is from: for the place of a construct that cannot be written. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly places?: SqlFile['places'];
}

/** A CTE or table as it is known at a place in the statement. */
export interface Known {
  /** Its name in the written statement. */
  readonly name: string;
  readonly columns: readonly Field[];
}

/** Throws UsageError that names the file, line and column of a construct. */
export function refuse({ path, text, places }: Source, tree: Tree | undefined, construct: string): never {
  const at = tree === undefined ? undefined : locationOf(tree);
  const before = Buffer.from(text)
    .subarray(0, at ?? 0)
    .toString()
    .split('\n');
  const line = before.length;
  const place = places?.[line - 1] ?? `${path}:${line}`;
  const column = (before.at(-1) ?? '').length + 1;
  throw new UsageError(`${place}:${column}: Spark cannot run ${construct}`);
}

/** The byte at which a node, or else its first child with a place, begins. */
function locationOf(tree: unknown): number | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined;
  if (!Array.isArray(tree) && typeof (tree as Tree).query_location === 'number') return (tree as Tree).query_location;
  for (const child of Object.values(tree)) {
    const found = locationOf(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A statement that is being written. */
export interface Statement {
  readonly parameters: Readonly<Record<string, Bound>>;
  /** A name that the statement does not have yet. */
  fresh(stem: string): string;
  /** A table of the lake, or a view over them; undefined if the lake has neither. */
  relation(schema: string, name: string): Known | undefined;
  /** How an expression is written, and a query inside another one: each can contain the other. */
  readonly expression: (tree: Tree, context: Context) => Written;
  readonly query: (tree: Tree, context: Context) => Query;
}

/** A query in the other engine's SQL, and the columns of its answer. */
export interface Query {
  readonly text: string;
  readonly columns: readonly Field[];
}

/** Writes an expression. Throws UsageError for one that the other engine cannot run. */
export function writeExpression(tree: Tree, context: Context): Written {
  return context.statement.expression(tree, context);
}

/** Writes a query with its CTEs, order and limit. Throws UsageError as `writeExpression`. */
export function writeQuery(tree: Tree, context: Context): Query {
  return context.statement.query(tree, context);
}

/** Where in a statement something is written. */
export interface Context {
  readonly statement: Statement;
  readonly source: Source;
  readonly scope: Scope;
  readonly ctes: ReadonlyMap<string, Known>;
  readonly lambdas: ReadonlyMap<string, SqlType>;
}
