import type { Connection } from '../warehouse/store/index.ts';
import { type LakeRelation, lakeTables, relationKey, relationsFor } from './lake-relations.ts';
import { sparkExpression } from './spark-expression.ts';
import { indent } from './spark-from.ts';
import { sparkQuery } from './spark-select.ts';
import { nameText } from './spark-text.ts';
import type { Field } from './sql-type.ts';
import { parseTree } from './tree.ts';
import type { Bound, Context, Known, Query, Source, Statement } from './writing.ts';

/** Settings without which Spark would answer otherwise; the statement itself refuses to run without them. */
export const sparkSettings: Readonly<Record<string, string>> = {
  // First: Spark would replace ${env:NAME} in everything that follows.
  'spark.sql.variable.substitute': 'false',
  // Text literals are written with escapes.
  'spark.sql.parser.escapedStringLiterals': 'false',
  // Decimals keep all digits of a product or quotient, instead of six after the point.
  'spark.sql.decimalOperations.allowPrecisionLoss': 'false',
  // An overflow is an error, not null; and decimals as text have all zeros.
  'spark.sql.ansi.enabled': 'true',
  'spark.sql.session.timeZone': 'UTC',
};

/** A statement for Spark. */
export interface SparkStatement {
  readonly sql: string;
  /** The tables of the lake that it reads, and their columns. */
  readonly tables: readonly Known[];
  /** The columns of its answer. */
  readonly columns: readonly Field[];
}

/**
 * Writes a SELECT over the books as one statement of Spark SQL over the lake's tables. Views over them are its CTEs, and
 * the values of parameters are in its text. Throws UsageError that names the place and the construct if Spark cannot run
 * it, or would answer otherwise.
 */
export async function toSpark(
  connection: Connection,
  source: Source,
  parameters: Readonly<Record<string, Bound>>,
): Promise<SparkStatement> {
  const tree = await parseTree(connection, source.text);
  const relations = await relationsFor(connection, tree);
  const used = new Set<string>(lakeTables);
  const tables = new Map<string, Known>();
  const views: string[] = [];
  const known = new Map<string, Known>();
  const statement: Statement = {
    parameters,
    expression: sparkExpression,
    query: sparkQuery,
    fresh(stem) {
      let name = stem;
      for (let number = 2; used.has(name.toLowerCase()); number += 1) name = `${stem}_${number}`;
      used.add(name.toLowerCase());
      return name;
    },
    relation(schema, name) {
      const key = relationKey(schema, name);
      const relation = relations.get(key);
      if (relation === undefined) return undefined;
      if (relation.kind === 'table') tables.set(relation.name, relation);
      const found = known.get(key) ?? knownOf(relation);
      known.set(key, found);
      return found;
    },
  };
  function knownOf(relation: LakeRelation): Known {
    if (relation.kind === 'table') return relation;
    const { file, text } = relation;
    const query = sparkQuery(relation.tree, contextOf({ path: file.path, text, places: file.places }, statement));
    const name = statement.fresh(relation.name);
    views.push(`${nameText(name)} as (\n${indent(query.text)}\n)`);
    return { name, columns: query.columns };
  }
  const answer = statement.fresh('answer');
  const query = sparkQuery(tree, contextOf(source, statement));
  const named = [...tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { sql: withViews(views, answer, query), tables: named, columns: query.columns };
}

function contextOf(source: Source, statement: Statement): Context {
  const scope = { relations: [], aliases: new Map(), unnested: undefined, outer: undefined };
  return { statement, source, scope, ctes: new Map(), lambdas: new Map() };
}

/** The statement, which fails in a session whose settings would change the answer. */
function withViews(views: readonly string[], answer: string, { text, columns }: Query): string {
  const parts = [...views, `${answer} as (\n${indent(text)}\n)`];
  const names = columns.map(({ name }) => nameText(name)).join(',\n  ');
  return `with ${parts.join(',\n')}
select
  ${names}
from ${answer}
where assert_true(
  current_timezone() in ('UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00')
    and typeof(cast(1 as decimal(38, 12)) * cast(1 as decimal(38, 12))) = 'decimal(38,24)'
    and cast(cast(0 as decimal(38, 12)) as string) = '0.000000000000'
    and '\${spark.sql.variable.substitute}' = concat(chr(36), '{spark.sql.variable.substitute}')
    and '\\u0024' = chr(36),
  'set ${Object.entries(sparkSettings)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')}'
) is null`;
}
