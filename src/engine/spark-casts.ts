import { typeText, using, whole } from './spark-text.ts';
import { commonType, isWhole, type SqlType } from './sql-type.ts';
import type { Tree } from './tree.ts';
import { type Context, operand, ranks, refuse, type Written } from './writing.ts';

/** Doubles have exact whole numbers up to here. */
const exactDouble = 2 ** 53;

/**
 * A cast with DuckDB's rounding: a double becomes a decimal or a whole number by its nearest one, and a decimal a whole
 * number by rounding half away from zero. Spark cuts off instead, and reads doubles by their shortest text.
 */
export function castTo(
  value: Written,
  type: SqlType,
  context: Context,
  { tree, isTry }: { tree: Tree; isTry: boolean },
): Written {
  const name = typeText(type);
  if (name === undefined) return refuse(context.source, tree, 'a cast to this type');
  const from = value.type;
  function cast(text: string): string {
    return `${isTry ? 'try_cast' : 'cast'}(${text} as ${name})`;
  }
  if (from.kind === 'double' || from.kind === 'unknown') {
    if (type.kind === 'varchar' && from.kind === 'double') return refuse(context.source, tree, 'a DOUBLE as text');
    const isRounded = type.kind === 'decimal' || isWhole(type);
    if (isRounded && from.kind === 'double') return whole(fromDouble(value, type, context), type);
    if (isRounded) return whole(fromAny(value, type, context), type);
  }
  if (from.kind === 'decimal' && (type.kind === 'integer' || type.kind === 'bigint') && from.scale > 0) {
    return whole(cast(`round(${value.text})`), type);
  }
  if (type.kind === 'double') return whole(toDoubleText(value, context), type);
  return whole(cast(value.text), type);
}

/** A double as the nearest decimal or whole number. Parts of 32 bits keep the digits beyond those of its shortest text. */
function fromDouble(value: Written, type: SqlType, context: Context): string {
  const scale = type.kind === 'decimal' ? type.scale : 0;
  if (type.kind === 'integer' || type.kind === 'bigint') return `cast(rint(${value.text}) as ${typeText(type)})`;
  const scaled = scale === 0 ? value.text : `${operand(value, ranks.product)} * 1e${scale}D`;
  const name = context.statement.fresh('v');
  const digits =
    `cast(cast(floor(${name} / 4294967296D) as bigint) as decimal(28, 0)) * 4294967296 ` +
    `+ cast(cast(${name} - floor(${name} / 4294967296D) * 4294967296D as bigint) as decimal(10, 0))`;
  const unit = scale === 0 ? '' : ` * 0.${'0'.repeat(scale - 1)}1`;
  return `transform(array(rint(${scaled})), ${name} -> cast(cast(${digits} as decimal(38, 0))${unit} as ${typeText(type)}))[0]`;
}

/** A value whose type only Spark knows. */
function fromAny(value: Written, type: SqlType, context: Context): string {
  return using(value, context, (name) => {
    const asDouble = fromDouble(whole(`cast(${name} as double)`, { kind: 'double' }), type, context);
    const exact = isWhole(type) ? `cast(round(${name}) as ${typeText(type)})` : `cast(${name} as ${typeText(type)})`;
    return `case when typeof(${name}) = 'double' then ${asDouble} else ${exact} end`;
  });
}

/** A value as a double, as DuckDB makes it of a decimal: beyond 2^53 units, the sum of its whole and its other part. */
export function toDoubleText(value: Written, context: Context): string {
  const { type } = value;
  if (type.kind !== 'decimal' || type.scale === 0 || type.width <= 15) return `cast(${value.text} as double)`;
  const most = (exactDouble / 10 ** type.scale).toString();
  return using(
    value,
    context,
    (name) =>
      `case when abs(${name}) <= ${most} then cast(${name} as double) ` +
      `else cast(${name} - ${name} % 1 as double) + cast(${name} % 1 as double) end`,
  );
}

/** The quotient of whole numbers, cut off: through decimals, because Spark's DIV has 64 bits only. */
export function wholeQuotient(a: Written, b: Written, context: Context): Written {
  const type = commonType([a.type, b.type]);
  if (type.kind === 'integer' || type.kind === 'bigint') {
    return { text: `${operand(a, ranks.product)} div nullif(${b.text}, 0)`, type, rank: ranks.product };
  }
  if (type.kind === 'double' || type.kind === 'decimal') {
    const quotient = `${toDoubleText(a, context)} / nullif(${toDoubleText(b, context)}, 0)`;
    return whole(`cast(floor(${quotient}) as double)`, { kind: 'double' });
  }
  const hugeint = { kind: 'hugeint' } as const;
  const text = using(whole(`cast(${a.text} as decimal(38, 0))`, hugeint), context, (top) =>
    using(
      whole(`cast(nullif(${b.text}, 0) as decimal(38, 0))`, hugeint),
      context,
      // The divisor's precision decides how many digits the quotient has before the point.
      (bottom) =>
        `case when abs(${bottom}) < 1000000000000000000 ` +
        `then cast((${top} - ${top} % ${bottom}) / cast(${bottom} as decimal(18, 0)) as decimal(38, 0)) ` +
        `else cast((${top} - ${top} % ${bottom}) / ${bottom} as decimal(38, 0)) end`,
    ),
  );
  return whole(text, hugeint);
}
