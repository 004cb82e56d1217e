import { UsageError } from '../base/errors.ts';
import { writeSeries } from './spark-functions.ts';
import { literalText, nameText } from './spark-text.ts';
import { commonType, type Field, unknown, varchar } from './sql-type.ts';
import { childOf, childrenOf, namesOf, type Tree, textOf } from './tree.ts';
import { type Context, type Relation, refuse, type Written, writeExpression, writeQuery } from './writing.ts';

/** What stands in FROM. */
export interface From {
  readonly text: string;
  readonly relations: readonly Relation[];
}

/** Writes the sources of a SELECT. */
export function writeFrom(tree: Tree, context: Context): From {
  switch (tree.type) {
    case 'EMPTY':
      return { text: '', relations: [] };
    case 'BASE_TABLE':
      return writeTable(tree, context);
    case 'JOIN':
      return writeJoin(tree, context);
    case 'SUBQUERY': {
      const { text, columns } = writeQuery(childOf(childOf(tree, 'subquery') ?? {}, 'node') ?? {}, context);
      return aliased(`(\n${indent(text)}\n)`, textOf(tree, 'alias') || context.statement.fresh('part'), columns, tree);
    }
    case 'TABLE_FUNCTION':
      return writeTableFunction(tree, context);
    case 'EXPRESSION_LIST':
      return writeValues(tree, context);
    default:
      return refuse(context.source, tree, `${tree.type ?? 'this'} in FROM`);
  }
}

export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** A source with its alias, whose columns the alias can rename: `as days(usage_date)`. */
function aliased(text: string, alias: string, columns: readonly Field[], tree: Tree): From {
  const names = namesOf(tree, 'column_name_alias');
  const renamed = columns.map(({ name, type }, index) => ({ name: names[index] ?? name, type }));
  const list = names.length === 0 ? '' : `(${renamed.map(({ name }) => nameText(name)).join(', ')})`;
  return {
    text: `${text} as ${nameText(alias)}${list}`,
    relations: [{ alias: alias.toLowerCase(), columns: renamed }],
  };
}

function writeTable(tree: Tree, context: Context): From {
  const [schema, name] = [textOf(tree, 'schema_name'), textOf(tree, 'table_name')];
  const known =
    (schema === '' ? context.ctes.get(name.toLowerCase()) : undefined) ?? context.statement.relation(schema, name);
  if (known === undefined) {
    return refuse(
      context.source,
      tree,
      `a query of ${schema === '' ? '' : `${schema}.`}${name}, which the lake does not have`,
    );
  }
  const alias = textOf(tree, 'alias') || name;
  const names = namesOf(tree, 'column_name_alias');
  if (names.length === 0 && alias.toLowerCase() === known.name.toLowerCase()) {
    return { text: nameText(known.name), relations: [{ alias: alias.toLowerCase(), columns: known.columns }] };
  }
  return aliased(nameText(known.name), alias, known.columns, tree);
}

const joins: Readonly<Record<string, string>> = {
  INNER: 'join',
  LEFT: 'left join',
  RIGHT: 'right join',
  OUTER: 'full join',
  FULL: 'full join',
  SEMI: 'left semi join',
  ANTI: 'left anti join',
};

function writeJoin(tree: Tree, context: Context): From {
  const left = writeFrom(childOf(tree, 'left') ?? {}, context);
  const { right, isLateral } = writeRight(childOf(tree, 'right') ?? {}, left, context);
  const relations = [...left.relations, ...right.relations];
  const rightText = `${isLateral ? 'lateral ' : ''}${childOf(tree, 'right')?.type === 'JOIN' ? `(${right.text})` : right.text}`;
  if (tree['ref_type'] === 'CROSS') {
    return { text: `${left.text}\ncross join ${rightText}`, relations };
  }
  const kind = joins[textOf(tree, 'join_type')];
  if (tree['ref_type'] !== 'REGULAR' || kind === undefined) {
    return refuse(context.source, tree, `a join of the kind ${textOf(tree, 'ref_type')} ${textOf(tree, 'join_type')}`);
  }
  const columns = namesOf(tree, 'using_columns');
  const condition = childOf(tree, 'condition');
  const on =
    columns.length > 0
      ? `using (${columns.map(nameText).join(', ')})`
      : `on ${writeExpression(condition ?? {}, { ...context, scope: { ...context.scope, relations } }).text}`;
  const isFilter = kind === 'left semi join' || kind === 'left anti join';
  return {
    text: `${left.text}\n${kind} ${rightText} ${on}`,
    relations: isFilter ? left.relations : merged(left, right, columns),
  };
}

/** The right side of a join, and whether it names columns of the left one: the parse tree does not say so. */
function writeRight(tree: Tree, left: From, context: Context): { readonly right: From; readonly isLateral: boolean } {
  if (tree.type !== 'SUBQUERY' && tree.type !== 'TABLE_FUNCTION') {
    return { right: writeFrom(tree, context), isLateral: false };
  }
  try {
    return { right: writeFrom(tree, context), isLateral: false };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const scope = { ...context.scope, relations: left.relations, outer: context.scope };
    return { right: writeFrom(tree, { ...context, scope }), isLateral: true };
  }
}

/** The sources of a join; a column of USING appears once, from the left. */
function merged(left: From, right: From, columns: readonly string[]): readonly Relation[] {
  const plain = columns.map((name) => name.toLowerCase());
  if (plain.length === 0) return [...left.relations, ...right.relations];
  const rest = right.relations.map((relation) => ({ ...relation, joined: plain }));
  return [...left.relations, ...rest];
}

/** `unnest(list)` and `generate_series(…)` as rows, and `read_text($file)` as the text of the file. */
function writeTableFunction(tree: Tree, context: Context): From {
  const call = childOf(tree, 'function') ?? {};
  const name = textOf(call, 'function_name');
  const alias = textOf(tree, 'alias') || name;
  if (name === 'read_text') return writeFile(tree, call, alias, context);
  const list = name === 'unnest' ? writeExpression(childrenOf(call)[0] ?? {}, context) : writeSeries(call, context);
  if (list === undefined || list.type.kind !== 'list')
    return refuse(context.source, call, `the function ${name} in FROM`);
  const [column = name] = namesOf(tree, 'column_name_alias');
  const text = `(select explode(${list.text}) as ${nameText(column)}) as ${nameText(alias)}`;
  return { text, relations: [{ alias: alias.toLowerCase(), columns: [{ name: column, type: list.type.of }] }] };
}

function writeFile(tree: Tree, call: Tree, alias: string, context: Context): From {
  const [file] = childrenOf(call);
  const bound = file?.class === 'PARAMETER' ? context.statement.parameters[textOf(file, 'identifier')] : undefined;
  if (typeof bound?.content !== 'string')
    return refuse(context.source, call, 'read_text of a file that is no parameter');
  const text = `(select ${literalText(String(bound.value))} as filename, ${literalText(bound.content)} as content)`;
  const columns = ['filename', 'content'].map((name) => ({ name, type: varchar }));
  return aliased(text, alias, columns, tree);
}

function writeValues(tree: Tree, context: Context): From {
  const rows = (tree['values'] as readonly (readonly Tree[])[] | undefined) ?? [];
  const written = rows.map((row) => row.map((value) => writeExpression(value, context)));
  const names = (written[0] ?? []).map((_, index) => namesOf(tree, 'column_name_alias')[index] ?? `col${index}`);
  const columns = names.map((name, index) => ({
    name,
    type: commonType(written.map((row) => row[index]?.type ?? unknown)),
  }));
  const text = `(values ${written.map((row) => `(${texts(row)})`).join(', ')})`;
  const alias = textOf(tree, 'alias') || 'valueslist';
  return aliased(text, alias, columns, { ...tree, column_name_alias: names });
}

function texts(row: readonly Written[]): string {
  return row.map(({ text }) => text).join(', ');
}
