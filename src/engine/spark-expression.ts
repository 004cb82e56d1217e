import { castTo, toDoubleText, wholeQuotient } from './spark-casts.ts';
import { writeFunction } from './spark-functions.ts';
import { literalText, nameText, typeText, whole } from './spark-text.ts';
import { writeWindow } from './spark-window.ts';
import { commonType, double, isNumber, type SqlType, typeOfTree, unknown, varchar } from './sql-type.ts';
import { childOf, childrenOf, namesOf, type Tree, textOf } from './tree.ts';
import {
  type Context,
  operand,
  ranks,
  refuse,
  type Scope,
  type Written,
  writeExpression,
  writeQuery,
} from './writing.ts';

const boolean: SqlType = { kind: 'boolean' };

type Write = (tree: Tree, context: Context) => Written;

/** How the expressions of each class are written. */
const classes: Readonly<Record<string, Write>> = {
  CONSTANT: (tree, context) => writeConstant(childOf(tree, 'value') ?? {}, tree, context),
  PARAMETER: writeParameter,
  COLUMN_REF: writeColumn,
  CAST: writeCast,
  COMPARISON: writeComparison,
  CONJUNCTION: writeConjunction,
  OPERATOR: writeOperator,
  BETWEEN: writeBetween,
  CASE: writeCase,
  FUNCTION: writeCall,
  WINDOW: writeWindow,
  SUBQUERY: (tree, context) => writeSubquery(tree, context),
};

/** Writes an expression of DuckDB for Spark. Throws UsageError for one that Spark cannot run. */
export function sparkExpression(tree: Tree, context: Context): Written {
  const write = classes[tree.class ?? ''];
  return write === undefined
    ? refuse(context.source, tree, `an expression of the kind ${textOf(tree, 'class').toLowerCase()}`)
    : write(tree, context);
}

function writeConstant(value: Tree, tree: Tree, { source }: Context): Written {
  const type = typeOfTree(childOf(value, 'type'));
  // The parser leaves out what is empty or zero.
  const found = value['value'] ?? (type.kind === 'varchar' ? '' : isNumber(type) ? 0 : undefined);
  if (value['is_null'] === true) return whole('null', { kind: 'null' });
  if (typeof found === 'string') return whole(literalText(found), type);
  if (typeof found === 'boolean') return whole(String(found), type);
  if (type.kind === 'decimal' && typeof found === 'object' && found !== null) {
    // Decimals of more than 18 digits are two numbers.
    const { upper = 0, lower = 0 } = found as { upper?: number; lower?: number };
    if (upper !== 0 || !Number.isSafeInteger(lower)) return refuse(source, tree, 'a decimal with so many digits');
    return whole(decimalText(lower, type.scale), type);
  }
  if (typeof found !== 'number') {
    const isList = type.kind === 'list' && childrenOf(value, 'children').length === 0;
    return isList ? whole('array()', type) : refuse(source, tree, 'this constant');
  }
  if (type.kind === 'double') return whole(`${found}D`, type);
  const text = type.kind === 'decimal' ? decimalText(found, type.scale) : String(found);
  return { text, type, rank: found < 0 ? ranks.sum : ranks.whole };
}

function decimalText(units: number, scale: number): string {
  const digits = BigInt(Math.abs(units))
    .toString()
    .padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${units < 0 ? '-' : ''}${digits.slice(0, point)}${scale === 0 ? '' : `.${digits.slice(point)}`}`;
}

function writeParameter(tree: Tree, { statement, source }: Context): Written {
  const bound = statement.parameters[textOf(tree, 'identifier')];
  if (bound === undefined) return refuse(source, tree, `$${textOf(tree, 'identifier')}, which has no value,`);
  const { value, type } = bound;
  if (value === null) return whole(`cast(null as ${typeText(type) ?? 'string'})`, type);
  return typeof value === 'string' ? whole(literalText(value), varchar) : whole(String(value), type);
}

function writeColumn(tree: Tree, context: Context): Written {
  const names = namesOf(tree, 'column_names');
  const [first = ''] = names;
  const ofLambda = context.lambdas.get(first.toLowerCase());
  if (ofLambda !== undefined) return fieldOf(whole(nameText(first), ofLambda), names.slice(1));
  for (let scope: Scope | undefined = context.scope; scope !== undefined; scope = scope.outer) {
    const found = columnIn(scope, names);
    if (found !== undefined) return found;
    const aliased = scope.aliases.get(first.toLowerCase());
    if (aliased === undefined) continue;
    // An alias must not mean itself.
    const aliases = new Map([...scope.aliases].filter(([name]) => name !== first.toLowerCase()));
    const written = writeExpression(aliased, { ...context, scope: { ...scope, aliases } });
    return fieldOf(written, names.slice(1));
  }
  return refuse(context.source, tree, `the column ${names.join('.')}, which the lake does not have`);
}

function columnIn({ relations }: Scope, names: readonly string[]): Written | undefined {
  const plain = names.map((name) => name.toLowerCase());
  const text = (count: number): string => names.slice(0, count).map(nameText).join('.');
  for (const { alias, columns } of relations) {
    const isNamed = alias === plain[0] && plain.length > 1;
    const column = isNamed ? columns.find(({ name }) => name.toLowerCase() === plain[1]) : undefined;
    if (column !== undefined) return fieldOf(whole(text(2), column.type), names.slice(2));
  }
  for (const { columns } of relations) {
    const column = columns.find(({ name }) => name.toLowerCase() === plain[0]);
    if (column !== undefined) return fieldOf(whole(text(1), column.type), names.slice(1));
  }
  // A whole row by the name of its table.
  const row = plain.length === 1 ? relations.find(({ alias }) => alias === plain[0]) : undefined;
  return row === undefined ? undefined : whole(text(1), { kind: 'struct', fields: row.columns });
}

/** A field of a structure, by its path. */
function fieldOf(of: Written, path: readonly string[]): Written {
  return path.reduce((value, name) => {
    const fields = value.type.kind === 'struct' ? value.type.fields : [];
    const type = fields.find((field) => field.name.toLowerCase() === name.toLowerCase())?.type ?? unknown;
    return whole(`${operand(value, ranks.whole)}.${nameText(name)}`, type);
  }, of);
}

const infinities: Readonly<Record<string, string>> = {
  infinity: '9999-12-31 00:00:00',
  '-infinity': '1970-01-01 00:00:00',
};

function writeCast(tree: Tree, context: Context): Written {
  const type = typeOfTree(childOf(tree, 'cast_type'));
  const child = childOf(tree, 'child') ?? {};
  const text = child.class === 'CONSTANT' ? childOf(child, 'value')?.['value'] : undefined;
  if (type.kind === 'boolean' && (text === 't' || text === 'f')) return whole(String(text === 't'), type);
  // The lake has finite instants at both ends of time.
  const end = type.kind === 'timestamp' && typeof text === 'string' ? infinities[text] : undefined;
  if (end !== undefined) return whole(`timestamp '${end}'`, type);
  const value = writeExpression(child, context);
  return castTo(value, type, context, { tree, isTry: tree['try_cast'] === true });
}

const comparisons: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_GREATERTHAN: '>',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHANOREQUALTO: '>=',
  COMPARE_NOT_DISTINCT_FROM: '<=>',
};

function writeComparison(tree: Tree, context: Context): Written {
  const [left, right] = ['left', 'right'].map((side) =>
    operand(writeExpression(childOf(tree, side) ?? {}, context), ranks.sum),
  );
  if (tree.type === 'COMPARE_DISTINCT_FROM')
    return { text: `not ${left} <=> ${right}`, type: boolean, rank: ranks.not };
  const sign = comparisons[tree.type ?? ''];
  if (sign === undefined) return refuse(context.source, tree, `the comparison ${tree.type}`);
  return { text: `${left} ${sign} ${right}`, type: boolean, rank: ranks.comparison };
}

function writeConjunction(tree: Tree, context: Context): Written {
  const isAnd = tree.type === 'CONJUNCTION_AND';
  const rank = isAnd ? ranks.and : ranks.or;
  const parts = childrenOf(tree).map((child) => operand(writeExpression(child, context), rank));
  return { text: parts.join(isAnd ? ' and ' : ' or '), type: boolean, rank };
}

function writeOperator(tree: Tree, context: Context): Written {
  const children = childrenOf(tree).map((child) => writeExpression(child, context));
  const [first = whole('null', { kind: 'null' }), second, ...others] = children;
  const texts = children.map(({ text }) => text);
  switch (tree.type) {
    case 'OPERATOR_NOT':
      return { text: `not ${operand(first, ranks.comparison + 1)}`, type: boolean, rank: ranks.not };
    case 'OPERATOR_IS_NULL':
      return { text: `${operand(first, ranks.sum)} is null`, type: boolean, rank: ranks.comparison };
    case 'OPERATOR_IS_NOT_NULL':
      return { text: `${operand(first, ranks.sum)} is not null`, type: boolean, rank: ranks.comparison };
    case 'OPERATOR_COALESCE':
      return whole(`coalesce(${texts.join(', ')})`, commonType(children.map(({ type }) => type)));
    case 'COMPARE_IN':
    case 'COMPARE_NOT_IN': {
      const not = tree.type === 'COMPARE_IN' ? '' : 'not ';
      const listed = `${operand(first, ranks.sum)} ${not}in (${texts.slice(1).join(', ')})`;
      return { text: listed, type: boolean, rank: ranks.comparison };
    }
    case 'ARRAY_EXTRACT':
      if (first.type.kind !== 'list' || second === undefined) break;
      return whole(`try_element_at(${first.text}, nullif(cast(${second.text} as int), 0))`, first.type.of);
    case 'ARRAY_SLICE':
      if (first.type.kind !== 'varchar' || !/^[1-9]\d*$/.test(second?.text ?? '') || !isOpenEnd(tree)) break;
      return whole(`substring(${first.text}, ${second?.text})`, varchar);
    default:
  }
  return refuse(context.source, tree, `the operator ${tree.type}${others.length > 0 ? ' with these operands' : ''}`);
}

/** Whether a slice has no end: `text[7:]`. */
function isOpenEnd(tree: Tree): boolean {
  const end = childrenOf(tree)[2];
  return end === undefined || childOf(childOf(end, 'value') ?? {}, 'type')?.['id'] === 'LIST';
}

function writeBetween(tree: Tree, context: Context): Written {
  const [input, lower, upper] = ['input', 'lower', 'upper'].map((name) =>
    operand(writeExpression(childOf(tree, name) ?? {}, context), ranks.sum),
  );
  return { text: `${input} between ${lower} and ${upper}`, type: boolean, rank: ranks.comparison };
}

function writeCase(tree: Tree, context: Context): Written {
  const checks = childrenOf(tree, 'case_checks').map((check) => ({
    when: writeExpression(childOf(check, 'when_expr') ?? {}, context),
    value: writeExpression(childOf(check, 'then_expr') ?? {}, context),
  }));
  const last = writeExpression(childOf(tree, 'else_expr') ?? {}, context);
  const lines = checks.map(({ when, value }) => `when ${when.text} then ${value.text}`);
  const end = last.type.kind === 'null' ? 'end' : `else ${last.text} end`;
  return whole(`case ${[...lines, end].join(' ')}`, commonType([...checks.map(({ value }) => value.type), last.type]));
}

function writeCall(tree: Tree, context: Context): Written {
  const name = textOf(tree, 'function_name');
  const children = childrenOf(tree);
  if (tree['is_operator'] === true && children.length === 2) {
    const [a, b] = children.map((child) => writeExpression(child, context));
    const written = a === undefined || b === undefined ? undefined : writeArithmetic(name, a, b, context);
    if (written !== undefined) return written;
  }
  if (tree['is_operator'] === true && name === '-' && children[0] !== undefined) {
    const value = writeExpression(children[0], context);
    return { text: `- ${operand(value, ranks.whole)}`, type: value.type, rank: ranks.product };
  }
  return writeFunction(tree, context);
}

/** The operators of arithmetic, and of joining text. */
function writeArithmetic(name: string, a: Written, b: Written, context: Context): Written | undefined {
  switch (name) {
    case '+':
    case '-':
      return writeSum(name, a, b);
    case '*': {
      const scale = [a, b].reduce((sum, { type }) => sum + (type.kind === 'decimal' ? type.scale : 0), 0);
      const common = commonType([a.type, b.type]);
      const type = common.kind === 'decimal' ? { ...common, width: 38, scale } : common;
      return { text: `${operand(a, ranks.product)} * ${operand(b, ranks.whole)}`, type, rank: ranks.product };
    }
    case '/':
      return {
        text: [a, b]
          .map((side) => (side.type.kind === 'double' ? operand(side, ranks.whole) : toDoubleText(side, context)))
          .join(' / '),
        type: double,
        rank: ranks.product,
      };
    case '%':
      return {
        text: `${operand(a, ranks.product)} % nullif(${b.text}, 0)`,
        type: commonType([a.type, b.type]),
        rank: ranks.product,
      };
    case '//':
      return wholeQuotient(a, b, context);
    case '||': {
      const [left, right] = [a, b].map((side) => operand(side, ranks.sum));
      return { text: `${left} || ${right}`, type: a.type.kind === 'list' ? a.type : varchar, rank: ranks.sum };
    }
    default:
      return undefined;
  }
}

/** A sum or difference. A day and an interval give an instant, and the difference of two days is a number. */
function writeSum(sign: string, a: Written, b: Written): Written {
  const kinds = [a.type.kind, b.type.kind];
  function sum(left: string, right: string, type: SqlType): Written {
    return { text: `${left} ${sign} ${right}`, type, rank: ranks.sum };
  }
  const [left, right] = [operand(a, ranks.sum), operand(b, ranks.product)];
  const timestamp: SqlType = { kind: 'timestamp' };
  if (a.type.kind === 'date' && b.type.kind === 'interval')
    return sum(`cast(${a.text} as timestamp)`, right, timestamp);
  if (a.type.kind === 'interval' && b.type.kind === 'date') return sum(left, `cast(${b.text} as timestamp)`, timestamp);
  if (kinds.includes('timestamp') && kinds.includes('interval')) return sum(left, right, timestamp);
  if (kinds.every((kind) => kind === 'date')) return whole(`datediff(${a.text}, ${b.text})`, { kind: 'bigint' });
  if (kinds.every((kind) => kind === 'timestamp' || kind === 'date')) return sum(left, right, { kind: 'interval' });
  if (kinds.includes('date')) return sum(left, right, { kind: 'date' });
  if (isNumber(a.type) && isNumber(b.type)) return sum(left, right, commonType([a.type, b.type]));
  return sum(left, right, commonType([a.type, b.type]));
}

function writeSubquery(tree: Tree, context: Context): Written {
  const query = childOf(childOf(tree, 'subquery') ?? {}, 'node') ?? {};
  const { text, columns } = writeQuery(query, context);
  switch (tree['subquery_type']) {
    case 'SCALAR':
      return whole(`(${text})`, columns[0]?.type ?? unknown);
    case 'EXISTS':
      return whole(`exists (${text})`, boolean);
    case 'NOT_EXISTS':
      return { text: `not exists (${text})`, type: boolean, rank: ranks.not };
    case 'ANY': {
      if (tree['comparison_type'] !== 'COMPARE_EQUAL') break;
      const value = operand(writeExpression(childOf(tree, 'child') ?? {}, context), ranks.sum);
      return { text: `${value} in (${text})`, type: boolean, rank: ranks.comparison };
    }
    default:
  }
  return refuse(
    context.source,
    tree,
    `a query of the kind ${String(tree['subquery_type']).toLowerCase()} in an expression`,
  );
}
