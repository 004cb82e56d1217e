import { writeAggregate } from './spark-aggregates.ts';
import { orderText } from './spark-order.ts';
import { whole } from './spark-text.ts';
import { unknown } from './sql-type.ts';
import { childOf, childrenOf, type Tree, textOf } from './tree.ts';
import { type Context, refuse, type Written, writeExpression } from './writing.ts';

/** Functions that only windows have, with the kind of their answer; undefined for the type of their argument. */
const windowFunctions: Readonly<Record<string, 'bigint' | 'double' | undefined>> = {
  row_number: 'bigint',
  rank: 'bigint',
  dense_rank: 'bigint',
  ntile: 'bigint',
  percent_rank: 'double',
  cume_dist: 'double',
  lag: undefined,
  lead: undefined,
  first_value: undefined,
  last_value: undefined,
};

/** A function over a window of rows. */
export function writeWindow(tree: Tree, context: Context): Written {
  const over = `over (${windowText(tree, context)})`;
  const name = textOf(tree, 'function_name');
  if (tree.type === 'WINDOW_AGGREGATE') {
    const written = writeAggregate(tree, context, { isWindow: true });
    if (written === undefined) return refuse(context.source, tree, `the function ${name} over a window`);
    return whole(`${written.text} ${over}`, written.type);
  }
  if (!Object.hasOwn(windowFunctions, name)) return refuse(context.source, tree, `the function ${name} over a window`);
  if (childOf(tree, 'filter_expr') !== undefined) return refuse(context.source, tree, `FILTER with ${name}`);
  const [value] = childrenOf(tree).map((child) => writeExpression(child, context));
  const more = ['offset_expr', 'default_expr'].flatMap((part) => {
    const child = childOf(tree, part);
    return child === undefined ? [] : [writeExpression(child, context).text];
  });
  const given = [...(value === undefined ? [] : [value.text]), ...more].join(', ');
  const kind = windowFunctions[name];
  const nulls = tree['ignore_nulls'] === true ? ' ignore nulls' : '';
  return whole(`${name}(${given})${nulls} ${over}`, kind === undefined ? (value?.type ?? unknown) : { kind });
}

function windowText(tree: Tree, context: Context): string {
  const partitions = childrenOf(tree, 'partitions').map((child) => writeExpression(child, context).text);
  const orders = childrenOf(tree, 'orders').map((order) => orderText(order, context));
  const parts = [
    ...(partitions.length === 0 ? [] : [`partition by ${partitions.join(', ')}`]),
    ...(orders.length === 0 ? [] : [`order by ${orders.join(', ')}`]),
  ];
  const [start, end] = [textOf(tree, 'start'), textOf(tree, 'end')];
  const isUsual = start === 'UNBOUNDED_PRECEDING' && end === 'CURRENT_ROW_RANGE';
  if (isUsual || (start === '' && end === '')) return parts.join(' ');
  if (childOf(tree, 'exclude_clause') !== undefined) return refuse(context.source, tree, 'EXCLUDE in a window');
  const bounds = [boundText(tree, start, 'start_expr', context), boundText(tree, end, 'end_expr', context)];
  const unit = /_RANGE$/.test(start) || /_RANGE$/.test(end) ? 'range' : 'rows';
  return [...parts, `${unit} between ${bounds.join(' and ')}`].join(' ');
}

function boundText(tree: Tree, bound: string, name: string, context: Context): string {
  if (bound === 'UNBOUNDED_PRECEDING') return 'unbounded preceding';
  if (bound === 'UNBOUNDED_FOLLOWING') return 'unbounded following';
  if (bound.startsWith('CURRENT_ROW_')) return 'current row';
  const [, side] = /^EXPR_(PRECEDING|FOLLOWING)_(?:ROWS|RANGE)$/.exec(bound) ?? [];
  if (side === undefined) return refuse(context.source, tree, `a window with ${bound}`);
  return `${writeExpression(childOf(tree, name) ?? {}, context).text} ${side.toLowerCase()}`;
}
