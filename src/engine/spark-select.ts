import { indent, writeFrom } from './spark-from.ts';
import { orderText } from './spark-order.ts';
import { nameText } from './spark-text.ts';
import { commonType, type Field, type SqlType } from './sql-type.ts';
import { childOf, childrenOf, ctesOf, namesOf, type Tree, textOf } from './tree.ts';
import {
  type Context,
  type Known,
  operand,
  type Query,
  type Relation,
  ranks,
  refuse,
  type Scope,
  type Unnested,
  writeExpression,
  writeQuery,
} from './writing.ts';

/** Writes a query with its CTEs, order and limit. */
export function sparkQuery(tree: Tree, context: Context): Query {
  const ctes = new Map(context.ctes);
  const parts: string[] = [];
  for (const { name, entry } of ctesOf(tree)) {
    const query = childOf(childOf(entry, 'query') ?? {}, 'node') ?? {};
    if (query.type === 'RECURSIVE_CTE_NODE') refuse(context.source, query, 'a recursive CTE');
    const written = writeQuery(query, { ...context, ctes });
    const known = renamed(context.statement.fresh(name), written.columns, namesOf(entry, 'aliases'));
    const names =
      namesOf(entry, 'aliases').length === 0 ? '' : ` (${known.columns.map((one) => nameText(one.name)).join(', ')})`;
    parts.push(`${nameText(known.name)}${names} as (\n${indent(written.text)}\n)`);
    ctes.set(name.toLowerCase(), known);
  }
  const inner = { ...context, ctes };
  const body = tree.type === 'SET_OPERATION_NODE' ? writeUnion(tree, inner) : writeSelect(tree, inner);
  return { ...body, text: parts.length === 0 ? body.text : `with ${parts.join(',\n')}\n${body.text}` };
}

function renamed(name: string, columns: readonly Field[], aliases: readonly string[]): Known {
  return { name, columns: columns.map((column, index) => ({ ...column, name: aliases[index] ?? column.name })) };
}

const unions: Readonly<Record<string, string>> = { UNION: 'union', EXCEPT: 'except', INTERSECT: 'intersect' };

function writeUnion(tree: Tree, context: Context): Query {
  const kind = textOf(tree, 'setop_type');
  const sides = ['left', 'right'].map((side) => ({ tree: childOf(tree, side) ?? {}, side }));
  const written = (childrenOf(tree).length > 0 ? childrenOf(tree) : sides.map((one) => one.tree)).map((side) => ({
    ...writeQuery(side, context),
    isPlain: side.type === 'SELECT_NODE' && ctesOf(side).length === 0 && childrenOf(side, 'modifiers').length === 0,
    isSame:
      side.type === 'SET_OPERATION_NODE' && side['setop_type'] === kind && side['setop_all'] === tree['setop_all'],
  }));
  const word = kind === 'UNION_BY_NAME' ? 'union' : unions[kind];
  if (word === undefined) return refuse(context.source, tree, `the operation ${kind}`);
  const isByName = kind === 'UNION_BY_NAME';
  const columns = isByName ? columnsByName(written) : columnsByPlace(written);
  const texts = written.map(({ text, isPlain, isSame, columns: own }, index) => {
    if (isByName) return selectOf(columns, own, text, context);
    return isPlain || (isSame && index === 0) ? text : `(\n${indent(text)}\n)`;
  });
  const all = tree['setop_all'] === true ? ' all' : '';
  const text = texts.join(`\n${word}${all}\n`);
  return {
    text: text + modifiersText(tree, { ...context, scope: scopeOf([{ alias: '', columns }], context) }),
    columns,
  };
}

function columnsByPlace(sides: readonly Query[]): readonly Field[] {
  return (sides[0]?.columns ?? []).map(({ name }, index) => ({
    name,
    type: commonType(sides.map(({ columns }) => columns[index]?.type ?? { kind: 'null' })),
  }));
}

function columnsByName(sides: readonly Query[]): readonly Field[] {
  const columns: { name: string; type: SqlType }[] = [];
  for (const field of sides.flatMap((side) => side.columns)) {
    const known = columns.find(({ name }) => name.toLowerCase() === field.name.toLowerCase());
    if (known === undefined) columns.push({ ...field });
    else known.type = commonType([known.type, field.type]);
  }
  return columns;
}

/** A query with these columns; those that it does not have are null. */
function selectOf(columns: readonly Field[], own: readonly Field[], text: string, { statement }: Context): string {
  const items = columns.map(({ name }) => {
    const isOwn = own.some((one) => one.name.toLowerCase() === name.toLowerCase());
    return isOwn ? nameText(name) : `null as ${nameText(name)}`;
  });
  return `select ${items.join(', ')}\nfrom (\n${indent(text)}\n) as ${statement.fresh('part')}`;
}

function scopeOf(relations: readonly Relation[], { scope }: Context): Scope {
  return { relations, aliases: new Map(), unnested: undefined, outer: scope };
}

/** An item of a select list. */
interface Item {
  readonly name: string;
  readonly text: string;
  readonly type: SqlType;
}

function writeSelect(tree: Tree, context: Context): Query {
  if (tree.type !== 'SELECT_NODE') return refuse(context.source, tree, `a query of the kind ${tree.type}`);
  if (childOf(tree, 'sample') !== undefined) return refuse(context.source, tree, 'a sample');
  const from = writeFrom(childOf(tree, 'from_table') ?? { type: 'EMPTY' }, context);
  const unnested: Unnested = { alias: context.statement.fresh('unnested'), list: undefined };
  const list = childrenOf(tree, 'select_list');
  const aliases = new Map(
    list.flatMap((one) => (textOf(one, 'alias') === '' ? [] : [[textOf(one, 'alias').toLowerCase(), one] as const])),
  );
  const inner = { ...context, scope: { relations: from.relations, aliases, unnested, outer: context.scope } };
  const items = list.flatMap((item, index) => itemsOf(item, index, inner));
  const rows = { ...inner, scope: { ...inner.scope, unnested: undefined } };
  const qualify = childOf(tree, 'qualify');
  const condition = qualify && writeExpression(qualify, rows).text;
  const clauses = [
    fromText(from.text, unnested),
    clauseText('where', childOf(tree, 'where_clause'), rows),
    groupText(tree, rows),
    clauseText('having', childOf(tree, 'having'), rows),
  ].filter((clause) => clause !== '');
  const distinct = childrenOf(tree, 'modifiers').some(({ type }) => type === 'DISTINCT_MODIFIER') ? 'distinct ' : '';
  const columns = items.map(({ name, type }) => ({ name, type }));
  if (condition === undefined) {
    const text = [`select ${distinct}${itemsText(items)}`, ...clauses].join('\n');
    return { text: text + modifiersText(tree, rows), columns };
  }
  // Spark has no QUALIFY: the condition is a column of a query inside.
  const name = context.statement.fresh('qualified');
  const all = [...items, { name, text: condition, type: { kind: 'boolean' } as const }];
  const inside = [`select ${itemsText(all)}`, ...clauses].join('\n');
  const names = items.map((item) => nameText(item.name)).join(', ');
  const outside = `select ${distinct}${names}\nfrom (\n${indent(inside)}\n) as ${context.statement.fresh('part')}\nwhere ${name}`;
  return {
    text: outside + modifiersText(tree, { ...context, scope: scopeOf([{ alias: '', columns }], context) }),
    columns,
  };
}

function itemsText(items: readonly Item[]): string {
  const texts = items.map(({ name, text }) => {
    const isNamed = text === nameText(name) || (text.endsWith(`.${nameText(name)}`) && /^[\w.`]+$/.test(text));
    return isNamed ? text : `${text} as ${nameText(name)}`;
  });
  return texts.length < 4 && texts.join(', ').length < 90 ? texts.join(', ') : `\n${indent(texts.join(',\n'))}`;
}

function fromText(text: string, { list, alias }: Unnested): string {
  if (list === undefined) return text === '' ? '' : `from ${text}`;
  const rows = `(select posexplode(${list.text}) as (place, element)) as ${alias}`;
  return text === '' ? `from ${rows}` : `from ${text}\ncross join lateral ${rows}`;
}

/** The columns of one item: a star has several, and so has a structure that `unnest(…, recursive := true)` takes apart. */
function itemsOf(item: Tree, index: number, context: Context): readonly Item[] {
  if (item.class === 'STAR') return starOf(item, context);
  const alias = textOf(item, 'alias');
  const options = childrenOf(item).slice(1);
  if (textOf(item, 'function_name') === 'unnest' && options.length > 0) {
    const whole = writeExpression({ ...item, children: childrenOf(item).slice(0, 1) }, context);
    if (whole.type.kind !== 'struct') return refuse(context.source, item, 'unnest with these arguments');
    return whole.type.fields.map(({ name, type }) => ({ name, text: `${whole.text}.${nameText(name)}`, type }));
  }
  const { text, type } = writeExpression(item, context);
  const named = item.class === 'COLUMN_REF' ? namesOf(item, 'column_names').at(-1) : undefined;
  return [{ name: alias || named || `column_${index + 1}`, text, type }];
}

function starOf(item: Tree, context: Context): readonly Item[] {
  const { relations } = context.scope;
  const only = textOf(item, 'relation_name').toLowerCase();
  const chosen = only === '' ? relations : relations.filter(({ alias }) => alias === only);
  if (chosen.length === 0 || childOf(item, 'expr') !== undefined || item['columns'] === true) {
    return refuse(context.source, item, 'this star');
  }
  const left = new Set(namesOf(item, 'exclude_list').map((name) => name.toLowerCase()));
  const replaced = new Map(
    childrenOf(item, 'replace_list').map((one) => [textOf(one, 'key').toLowerCase(), childOf(one, 'value') ?? {}]),
  );
  const hasSeveral = relations.length > 1;
  return chosen.flatMap(({ alias, columns, joined = [] }) =>
    columns
      .filter(
        ({ name, isHidden }) =>
          isHidden !== true && !left.has(name.toLowerCase()) && !(only === '' && joined.includes(name.toLowerCase())),
      )
      .map(({ name, type }) => {
        const replacement = replaced.get(name.toLowerCase());
        if (replacement !== undefined) return { name, ...writeExpression(replacement, context) };
        return {
          name,
          text: hasSeveral && alias !== '' ? `${nameText(alias)}.${nameText(name)}` : nameText(name),
          type,
        };
      }),
  );
}

function clauseText(word: string, tree: Tree | undefined, context: Context): string {
  return tree === undefined ? '' : `${word} ${conditionText(tree, context)}`;
}

/** A condition; each part of AND has its line. */
function conditionText(tree: Tree, context: Context): string {
  if (tree.type !== 'CONJUNCTION_AND') return writeExpression(tree, context).text;
  return childrenOf(tree)
    .map((part) => operand(writeExpression(part, context), ranks.and))
    .join('\n  and ');
}

function groupText(tree: Tree, context: Context): string {
  const expressions = childrenOf(tree, 'group_expressions');
  if (tree['aggregate_handling'] === 'FORCE_AGGREGATES') {
    return childOf(tree, 'qualify') === undefined
      ? 'group by all'
      : refuse(context.source, childOf(tree, 'qualify'), 'GROUP BY ALL with QUALIFY');
  }
  if (expressions.length === 0) return '';
  const sets = tree['group_sets'];
  if (Array.isArray(sets) && sets.length > 1) return refuse(context.source, tree, 'several grouping sets');
  const list = childrenOf(tree, 'select_list');
  const texts = expressions.map((expression) => {
    const place = childOf(expression, 'value')?.['value'];
    const item = expression.class === 'CONSTANT' && typeof place === 'number' ? list[place - 1] : undefined;
    return writeExpression(item ?? expression, context).text;
  });
  return `group by ${texts.join(', ')}`;
}

/** ORDER BY and LIMIT. Names of the select list come first. */
function modifiersText(tree: Tree, context: Context): string {
  return childrenOf(tree, 'modifiers')
    .map((modifier) => {
      if (modifier.type === 'DISTINCT_MODIFIER') {
        const isOn = childrenOf(modifier, 'distinct_on_targets').length > 0;
        return isOn ? refuse(context.source, tree, 'DISTINCT ON') : '';
      }
      if (modifier.type === 'ORDER_MODIFIER') {
        const orders = childrenOf(modifier, 'orders').map((order) => orderOf(order, context));
        return `\norder by ${orders.join(', ')}`;
      }
      if (modifier.type !== 'LIMIT_MODIFIER') return refuse(context.source, tree, `${modifier.type}`);
      const [limit, offset] = ['limit', 'offset'].map((name) => childOf(modifier, name));
      const rows = limit === undefined ? '' : `\nlimit ${writeExpression(limit, context).text}`;
      return offset === undefined ? rows : `${rows}\noffset ${writeExpression(offset, context).text}`;
    })
    .join('');
}

function orderOf(order: Tree, context: Context): string {
  const expression = childOf(order, 'expression') ?? {};
  const name = expression.class === 'COLUMN_REF' ? namesOf(expression, 'column_names') : [];
  const [only = ''] = name;
  if (name.length !== 1 || !context.scope.aliases.has(only.toLowerCase())) return orderText(order, context);
  const direction = order.type === 'DESCENDING' ? ' desc' : '';
  return `${nameText(only)}${direction} nulls ${order['null_order'] === 'NULLS_FIRST' ? 'first' : 'last'}`;
}
