import { toDoubleText } from './spark-casts.ts';
import { orderText } from './spark-order.ts';
import { whole } from './spark-text.ts';
import { isWhole, type SqlType, varchar } from './sql-type.ts';
import { childOf, childrenOf, type Tree, textOf } from './tree.ts';
import { type Context, operand, ranks, refuse, type Written, writeExpression } from './writing.ts';

const bigint: SqlType = { kind: 'bigint' };

/** Aggregates that are the same in Spark, and whether their answer has the type of their argument. */
const same: Readonly<Record<string, SqlType | undefined>> = {
  min: undefined,
  max: undefined,
  count: bigint,
  bool_and: { kind: 'boolean' },
  bool_or: { kind: 'boolean' },
  regr_slope: { kind: 'double' },
};

const others: readonly string[] = [
  ...['count_star', 'sum', 'avg', 'median', 'any_value', 'arg_max', 'arg_min', 'max_by', 'min_by'],
  ...['list', 'array_agg', 'string_agg', 'group_concat', 'listagg'],
];

/** Aggregates that Spark does not have over windows, or that are written in parts. */
const notOverWindows = ['avg', 'median', 'arg_max', 'arg_min', 'max_by', 'min_by'];

/** An aggregate as a function of its arguments, and the rows that it takes besides those of FILTER. */
interface Aggregate {
  readonly text: string;
  readonly type: SqlType;
  readonly only?: string;
}

/** An aggregate function; undefined if the function is none that is known. */
export function writeAggregate(
  tree: Tree,
  context: Context,
  { isWindow = false }: { isWindow?: boolean } = {},
): Written | undefined {
  const name = textOf(tree, 'function_name').toLowerCase();
  if (!Object.hasOwn(same, name) && !others.includes(name)) return undefined;
  const filter = childOf(tree, isWindow ? 'filter_expr' : 'filter');
  const condition = filter === undefined ? undefined : writeExpression(filter, context);
  const children = childrenOf(tree).map((child) => writeExpression(child, context));
  // Spark has no FILTER over a window: rows that it leaves out are null.
  const taken = isWindow && condition !== undefined ? children.map((child) => onlyIf(child, condition)) : children;
  const orders = childrenOf(childOf(tree, 'order_bys') ?? {}, 'orders');
  if (name === 'count_star') {
    const counted = isWindow && condition !== undefined ? `count(case when ${condition.text} then 1 end)` : 'count(*)';
    return whole(withFilter(counted, isWindow ? [] : [condition]), bigint);
  }
  const distinct = tree['distinct'] === true ? 'distinct ' : '';
  if (orders.length > 0) {
    const listed = writeOrdered(tree, { name, children, orders }, context);
    return whole(withFilter(listed.text, [condition]), listed.type);
  }
  if (isWindow && notOverWindows.includes(name))
    return refuse(context.source, tree, `the function ${name} over a window`);
  const [first] = children;
  if (name === 'avg' && first !== undefined) {
    // DuckDB adds up exactly and divides once.
    const parts = ['sum', 'count'].map((part) => withFilter(`${part}(${distinct}${first.text})`, [condition]));
    return whole(`(cast(${parts[0]} as double) / nullif(${parts[1]}, 0))`, { kind: 'double' });
  }
  const written = aggregateOf(name, taken, distinct, context);
  if (written === undefined) return refuse(context.source, tree, `the function ${name} with these arguments`);
  const also = written.only === undefined ? undefined : { text: written.only, type: bigint, rank: ranks.comparison };
  return whole(withFilter(written.text, isWindow ? [] : [condition, also]), written.type);
}

function onlyIf(value: Written, condition: Written): Written {
  return whole(`case when ${condition.text} then ${value.text} end`, value.type);
}

function withFilter(text: string, conditions: readonly (Written | undefined)[]): string {
  const given = conditions.filter((condition) => condition !== undefined);
  if (given.length === 0) return text;
  const joined = given.length === 1 ? given[0]?.text : given.map((one) => operand(one, ranks.and)).join(' and ');
  return `${text} filter (where ${joined})`;
}

function aggregateOf(
  name: string,
  [first, second]: readonly Written[],
  distinct: string,
  context: Context,
): Aggregate | undefined {
  if (first === undefined) return undefined;
  if (Object.hasOwn(same, name)) {
    const all = second === undefined ? first.text : `${first.text}, ${second.text}`;
    return { text: `${name}(${distinct}${all})`, type: same[name] ?? first.type };
  }
  switch (name) {
    case 'sum': {
      const { type } = first;
      // Sums of 64-bit numbers are longer in DuckDB.
      if (type.kind === 'hugeint' || type.kind === 'bigint') {
        return { text: `sum(${distinct}cast(${first.text} as decimal(38, 0)))`, type: { kind: 'hugeint' } };
      }
      const summed: SqlType =
        type.kind === 'decimal' ? { ...type, width: 38 } : isWhole(type) ? { kind: 'hugeint' } : type;
      return { text: `sum(${distinct}${first.text})`, type: summed };
    }
    case 'median':
      return { text: `median(${toDoubleText(first, context)})`, type: { kind: 'double' } };
    case 'any_value':
      return { text: `any_value(${first.text}, true)`, type: first.type };
    case 'arg_max':
    case 'arg_min':
    case 'max_by':
    case 'min_by': {
      if (second === undefined) return undefined;
      const by = name === 'arg_max' || name === 'max_by' ? 'max_by' : 'min_by';
      // DuckDB leaves out rows whose value is null.
      return {
        text: `${by}(${first.text}, ${second.text})`,
        type: first.type,
        only: `${operand(first, ranks.sum)} is not null`,
      };
    }
    case 'list':
    case 'array_agg':
      return undefined;
    default:
      return undefined;
  }
}

/** An aggregate whose rows have an order: a list, or texts joined. Each row is sorted with what it is sorted by. */
function writeOrdered(
  tree: Tree,
  { name, children, orders }: { name: string; children: readonly Written[]; orders: readonly Tree[] },
  context: Context,
): { text: string; type: SqlType } {
  const [value, separator] = children;
  const isJoined = name === 'string_agg' || name === 'group_concat' || name === 'listagg';
  if (value === undefined || !isJoined) return refuse(context.source, tree, `ORDER BY in the function ${name}`);
  const keys = orders.map((order) => {
    const text = orderText(order, context);
    if (!text.endsWith(' nulls last') || text.includes(' desc '))
      refuse(context.source, tree, `a descending ORDER BY in ${name}`);
    return text.slice(0, -' nulls last'.length);
  });
  const rows = `collect_list(case when ${value.text} is not null then struct(${[...keys, value.text].map((key, index) => `${key} as k${index}`).join(', ')}) end)`;
  return {
    text: `array_join(transform(array_sort(${rows}), row -> row.k${keys.length}), ${separator?.text ?? "','"})`,
    type: varchar,
  };
}
