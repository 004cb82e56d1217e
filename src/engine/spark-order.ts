import { childOf, type Tree } from './tree.ts';
import { type Context, writeExpression } from './writing.ts';

/** One expression of ORDER BY. DuckDB puts nulls last, whatever the direction. */
export function orderText(order: Tree, context: Context): string {
  const expression = childOf(order, 'expression') ?? {};
  const direction = order.type === 'DESCENDING' ? ' desc' : '';
  const nulls = order['null_order'] === 'NULLS_FIRST' ? 'first' : 'last';
  return `${writeExpression(expression, context).text}${direction} nulls ${nulls}`;
}
