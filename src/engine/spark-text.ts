import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import type { SqlType } from './sql-type.ts';
import { type Context, ranks, type Written } from './writing.ts';

/** Words that Spark reads as a part of FROM where a name could be. */
const joinWords =
  /^(anti|cross|except|full|inner|intersect|join|lateral|left|minus|natural|on|right|semi|union|using)$/i;

/** What Spark's own reader of scripts would take for the end of a statement, for a quote, or for a variable. */
const unsafeInName = /[;'"\\$\n\r]|--|\/\*/;

/** A name in Spark's SQL. Throws UsageError for one that would not be read as a name. */
export function nameText(name: string): string {
  if (unsafeInName.test(name)) {
    throw new UsageError(
      `--engine: the name ${quoted(name)} has signs that Spark reads otherwise; rename it with "as"`,
    );
  }
  return /^[a-z_]\w*$/i.test(name) && !joinWords.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}

/** A text literal. Spark reads a backslash as an escape, and replaces ${…} before it reads anything. */
export function literalText(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('$', '\\u0024');
  return `'${escaped}'`;
}

/** The name of a type. A whole number of more than 64 bits is a decimal without places. */
export function typeText(type: SqlType): string | undefined {
  switch (type.kind) {
    case 'boolean':
    case 'bigint':
    case 'double':
    case 'date':
    case 'timestamp':
      return type.kind;
    case 'integer':
      return 'int';
    case 'varchar':
      return 'string';
    case 'hugeint':
      return 'decimal(38, 0)';
    case 'decimal':
      return `decimal(${type.width}, ${type.scale})`;
    case 'list': {
      const of = typeText(type.of);
      return of === undefined ? undefined : `array<${of}>`;
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type: of }) => [nameText(name), typeText(of)] as const);
      return fields.some(([, of]) => of === undefined)
        ? undefined
        : `struct<${fields.map(([name, of]) => `${name}: ${of}`).join(', ')}>`;
    }
    default:
      return undefined;
  }
}

export function whole(text: string, type: SqlType): Written {
  return { text, type, rank: ranks.whole };
}

/**
 * An expression that uses another several times. Spark has no LET: a list of one element is transformed, so that the
 * other is written once.
 */
export function using(value: Written, { statement }: Context, write: (name: string) => string): string {
  if (/^[\w.`]+$/.test(value.text)) return write(value.text);
  const name = statement.fresh('v');
  return `transform(array(${value.text}), ${name} -> ${write(name)})[0]`;
}
