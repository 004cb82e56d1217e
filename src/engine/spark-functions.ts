import { writeAggregate } from './spark-aggregates.ts';
import { castTo } from './spark-casts.ts';
import { literalText, nameText, typeText, using, whole } from './spark-text.ts';
import { commonType, isWhole, type SqlType, typeOfStructure, unknown, varchar } from './sql-type.ts';
import { childOf, childrenOf, namesOf, type Tree, textOf } from './tree.ts';
import { type Context, operand, ranks, refuse, type Written, writeExpression } from './writing.ts';

const boolean: SqlType = { kind: 'boolean' };
const integer: SqlType = { kind: 'integer' };
const bigint: SqlType = { kind: 'bigint' };
const interval: SqlType = { kind: 'interval' };
const timestamp: SqlType = { kind: 'timestamp' };

/** Functions with the same meaning and arguments in Spark: their name there, and the type of their answer. */
const same: Readonly<Record<string, readonly [name: string, type: SqlType]>> = {
  starts_with: ['startswith', boolean],
  prefix: ['startswith', boolean],
  ends_with: ['endswith', boolean],
  suffix: ['endswith', boolean],
  lower: ['lower', varchar],
  upper: ['upper', varchar],
  lcase: ['lower', varchar],
  ucase: ['upper', varchar],
  trim: ['trim', varchar],
  replace: ['replace', varchar],
  concat_ws: ['concat_ws', varchar],
  split_part: ['split_part', varchar],
  levenshtein: ['levenshtein', integer],
  array_to_string: ['array_join', varchar],
  unicode: ['ascii', integer],
  year: ['year', bigint],
  month: ['month', bigint],
  day: ['day', bigint],
  hour: ['hour', bigint],
  error: ['raise_error', { kind: 'null' }],
};

type Write = (args: readonly Written[], context: Context, tree: Tree) => Written | undefined;

/** Functions that are written in another way. A writer returns undefined for arguments that it cannot write. */
const special: Readonly<Record<string, Write>> = {
  abs: ([a]) => a && whole(`abs(${a.text})`, a.type),
  sign: ([a]) => a && whole(`cast(signum(${a.text}) as int)`, integer),
  floor: ([a]) => a && (a.type.kind === 'double' ? whole(`cast(floor(${a.text}) as double)`, a.type) : undefined),
  round: writeRound,
  greatest: (args) => whole(`greatest(${listed(args)})`, commonType(args.map(({ type }) => type))),
  least: (args) => whole(`least(${listed(args)})`, commonType(args.map(({ type }) => type))),
  nullif: (args) => whole(`nullif(${listed(args)})`, args[0]?.type ?? unknown),
  ifnull: (args) => whole(`coalesce(${listed(args)})`, commonType(args.map(({ type }) => type))),
  contains: ([a, b]) =>
    a && b && whole(`${a.type.kind === 'list' ? 'array_contains' : 'contains'}(${a.text}, ${b.text})`, boolean),
  list_contains: ([a, b]) => a && b && whole(`array_contains(${a.text}, ${b.text})`, boolean),
  len: ([a]) => a && whole(`${a.type.kind === 'list' ? 'size' : 'char_length'}(${a.text})`, bigint),
  length: ([a]) => a && whole(`${a.type.kind === 'list' ? 'size' : 'char_length'}(${a.text})`, bigint),
  list_value: (args) => whole(`array(${listed(args)})`, { kind: 'list', of: commonType(args.map(({ type }) => type)) }),
  string_split: ([a, b], _, tree) => a && b && writeSplit(a, b, tree),
  substring: (args) => whole(`substring(${listed(args)})`, varchar),
  regexp_full_match: (args, _, tree) => writeFullMatch(args, tree),
  concat: (args) => whole(`concat_ws('', ${listed(args)})`, varchar),
  printf: writePrintf,
  strftime: writeStrftime,
  date_trunc: writeDateTrunc,
  chr: (_, __, tree) => writeCharacter(tree),
  date_diff: (args, _, tree) => writeDateDiff(args, tree),
  datediff: (args, _, tree) => writeDateDiff(args, tree),
  to_years: writeInterval,
  to_months: writeInterval,
  to_days: writeInterval,
  to_hours: writeInterval,
  to_minutes: writeInterval,
  '~~': ([a, b]) => a && b && writeLike(a, b, ''),
  '!~~': ([a, b]) => a && b && writeLike(a, b, 'not '),
  like_escape: ([a, b, c]) => a && b && c && likeOf(a, 'like', `${b.text} escape ${c.text}`),
  not_like_escape: ([a, b, c]) => a && b && c && likeOf(a, 'not like', `${b.text} escape ${c.text}`),
  json_extract_string: writeJsonText,
  '->>': writeJsonText,
  json_keys: ([a]) => a && whole(`json_object_keys(${a.text})`, { kind: 'list', of: varchar }),
  to_json: writeToJson,
  from_json: writeFromJson,
  row: (args) =>
    whole(`struct(${listed(args)})`, {
      kind: 'struct',
      fields: args.map(({ type }, index) => ({ name: `col${index + 1}`, type })),
    }),
  struct_pack: writeStruct,
  generate_series: (_, context, tree) => writeSeries(tree, context),
};

function listed(args: readonly Written[]): string {
  return args.map(({ text }) => text).join(', ');
}

/** Functions that take a lambda: their name in Spark. */
const ofLambdas: Readonly<Record<string, string>> = {
  list_transform: 'transform',
  list_filter: 'filter',
  list_apply: 'transform',
};

/** A function call. Throws UsageError for a function whose meaning in Spark is not known to be the same. */
export function writeFunction(tree: Tree, context: Context): Written {
  const name = textOf(tree, 'function_name').toLowerCase();
  if (Object.hasOwn(ofLambdas, name)) return writeLambda(tree, ofLambdas[name] ?? '', context);
  if (name === 'unnest') return writeUnnest(tree, context);
  if (name === 'generate_subscripts') return writeSubscripts(tree, context);
  const constant = writeConstantInterval(name, tree);
  if (constant !== undefined) return constant;
  const aggregate = writeAggregate(tree, context);
  if (aggregate !== undefined) return aggregate;
  const args = childrenOf(tree).map((child) => writeExpression(child, context));
  const [known, type = unknown] = (Object.hasOwn(same, name) ? same[name] : undefined) ?? [];
  if (known !== undefined) return whole(`${known}(${listed(args)})`, type);
  const written = Object.hasOwn(special, name) ? special[name]?.(args, context, tree) : undefined;
  return (
    written ??
    refuse(context.source, tree, `the function ${name}${Object.hasOwn(special, name) ? ' with these arguments' : ''}`)
  );
}

function writeLambda(tree: Tree, name: string, context: Context): Written {
  const [list, lambda] = childrenOf(tree);
  const given = writeExpression(list ?? {}, context);
  const [parameter, ...others] = lambda?.class === 'LAMBDA' ? lambdaNames(lambda) : [];
  if (parameter === undefined || others.length > 0 || given.type.kind === 'unknown') {
    return refuse(context.source, tree, `the function ${textOf(tree, 'function_name')} with this lambda`);
  }
  const of = given.type.kind === 'list' ? given.type.of : unknown;
  const lambdas = new Map([...context.lambdas, [parameter.toLowerCase(), of]]);
  const body = writeExpression(childOf(lambda ?? {}, 'expr') ?? {}, { ...context, lambdas });
  const type: SqlType = name === 'transform' ? { kind: 'list', of: body.type } : given.type;
  return whole(`${name}(${given.text}, ${nameText(parameter)} -> ${body.text})`, type);
}

function lambdaNames(lambda: Tree): readonly string[] {
  const left = childOf(lambda, 'lhs') ?? {};
  return left.class === 'COLUMN_REF'
    ? namesOf(left, 'column_names')
    : childrenOf(left).map((one) => namesOf(one, 'column_names')[0] ?? '');
}

/** An element of the list that the SELECT unnests: the list becomes rows in FROM, because Spark allows it only there. */
function writeUnnest(tree: Tree, context: Context): Written {
  const list = writeExpression(childrenOf(tree)[0] ?? {}, {
    ...context,
    scope: { ...context.scope, unnested: undefined },
  });
  const { unnested } = context.scope;
  if (unnested === undefined || list.type.kind !== 'list') return refuse(context.source, tree, 'unnest here');
  if (unnested.list !== undefined && unnested.list.text !== list.text) {
    return refuse(context.source, tree, 'a second list in the same SELECT');
  }
  unnested.list = list;
  return whole(`${unnested.alias}.element`, list.type.of);
}

function writeSubscripts(tree: Tree, context: Context): Written {
  const [list, dimension] = childrenOf(tree);
  const { unnested } = context.scope;
  if (childOf(dimension ?? {}, 'value')?.['value'] !== 1 || unnested === undefined) {
    return refuse(context.source, tree, 'generate_subscripts here');
  }
  writeUnnest({ ...tree, children: [list] }, context);
  return whole(`(${unnested.alias}.place + 1)`, bigint);
}

/** Rounds a double as DuckDB does, by multiplying; Spark rounds its shortest text. */
function writeRound([value, places]: readonly Written[], context: Context): Written | undefined {
  if (value === undefined || !/^\d+$/.test(places?.text ?? '0')) return undefined;
  const count = Number(places?.text ?? 0);
  if (value.type.kind === 'decimal')
    return whole(`round(${value.text}, ${count})`, { ...value.type, scale: Math.min(count, value.type.scale) });
  if (isWhole(value.type)) return value;
  if (value.type.kind !== 'double') return undefined;
  const scaled = whole(`${operand(value, ranks.product)} * 1e${count}D`, value.type);
  const text = using(scaled, context, (name) => `signum(${name}) * floor(abs(${name}) + 0.5D) / 1e${count}D`);
  return whole(text, value.type);
}

function writeSplit(text: Written, separator: Written, tree: Tree): Written | undefined {
  const constant = constantOf(tree, 1);
  const list: SqlType = { kind: 'list', of: varchar };
  if (constant === '') return whole(`split(${text.text}, '')`, list);
  const pattern =
    constant === undefined ? `concat('\\\\Q', ${separator.text}, '\\\\E')` : literalText(escapePattern(constant));
  return whole(`split(${text.text}, ${pattern})`, list);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** The text of a constant argument; undefined if it is none. */
function constantOf(tree: Tree, index: number): string | undefined {
  const child = childrenOf(tree)[index];
  if (child?.class === 'FUNCTION' && textOf(child, 'function_name') === 'chr') {
    const code = childOf(childrenOf(child)[0] ?? {}, 'value')?.['value'];
    return typeof code === 'number' ? String.fromCodePoint(code) : undefined;
  }
  const found = child?.class === 'CONSTANT' ? childOf(child, 'value')?.['value'] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** What a pattern of RE2 can have that may mean something else in Java: other groups, classes by name, other escapes. */
const otherPattern = /\(\?|\[\[:|\\[^dDwW.\\/()[\]{}+*?|^$-]/;

function writeFullMatch([text]: readonly Written[], tree: Tree): Written | undefined {
  const pattern = constantOf(tree, 1);
  if (text === undefined || pattern === undefined || otherPattern.test(pattern)) return undefined;
  return {
    text: `${operand(text, ranks.sum)} rlike ${literalText(`^(?:${pattern})\\z`)}`,
    type: boolean,
    rank: ranks.comparison,
  };
}

function writePrintf(args: readonly Written[], _: Context, tree: Tree): Written | undefined {
  const format = constantOf(tree, 0);
  if (format === undefined || !/^([^%]|%%|%0?\d*[dxXs])*$/.test(format)) return undefined;
  return whole(`format_string(${listed([whole(literalText(format), varchar), ...args.slice(1)])})`, varchar);
}

const timeParts: Readonly<Record<string, string>> = {
  '%Y': 'yyyy',
  '%m': 'MM',
  '%d': 'dd',
  '%H': 'HH',
  '%M': 'mm',
  '%S': 'ss',
};

function writeStrftime([at]: readonly Written[], _: Context, tree: Tree): Written | undefined {
  const format = constantOf(tree, 1);
  if (at === undefined || format === undefined) return undefined;
  const parts = format.match(/%.|[^%]+/g) ?? [];
  if (parts.some((part) => part.startsWith('%') && !Object.hasOwn(timeParts, part))) return undefined;
  const pattern = parts.map(
    (part) => timeParts[part] ?? (/[A-Za-z']/.test(part) ? `'${part.replaceAll("'", "''")}'` : part),
  );
  return whole(`date_format(${at.text}, ${literalText(pattern.join(''))})`, varchar);
}

/** The units whose beginnings are the same in Spark; for others it answers null. */
const truncations = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'];

function writeDateTrunc([unit, at]: readonly Written[], _: Context, tree: Tree): Written | undefined {
  const name = constantOf(tree, 0);
  if (unit === undefined || at === undefined || name === undefined || !truncations.includes(name)) return undefined;
  return whole(`date_trunc(${unit.text}, ${at.text})`, timestamp);
}

/** A character by its number. Spark's own function knows 256 of them. */
function writeCharacter(tree: Tree): Written | undefined {
  const code = childOf(childrenOf(tree)[0] ?? {}, 'value')?.['value'];
  return typeof code === 'number' ? whole(literalText(String.fromCodePoint(code)), varchar) : undefined;
}

/** How many units begin between two instants. */
function writeDateDiff([, from, to]: readonly Written[], tree: Tree): Written | undefined {
  const unit = constantOf(tree, 0);
  if (from === undefined || to === undefined) return undefined;
  if (unit === 'day') return whole(`datediff(${to.text}, ${from.text})`, bigint);
  const seconds = { hour: 3600, minute: 60, second: 1 }[unit ?? ''];
  if (seconds !== undefined) {
    const [start, end] = [from, to].map(({ text }) => `unix_timestamp(date_trunc('${unit}', ${text}))`);
    return { text: `(${end} - ${start}) div ${seconds}`, type: bigint, rank: ranks.product };
  }
  if (unit !== 'month') return undefined;
  const [start, end] = [from, to].map(({ text }) => `year(${text}) * 12 + month(${text})`);
  return { text: `${end} - (${start})`, type: bigint, rank: ranks.sum };
}

const intervals: Readonly<Record<string, readonly [unit: string, ofCount: string]>> = {
  to_years: ['year', 'make_ym_interval('],
  to_months: ['month', 'make_ym_interval(0, '],
  to_days: ['day', 'make_dt_interval('],
  to_hours: ['hour', 'make_dt_interval(0, '],
  to_minutes: ['minute', 'make_dt_interval(0, 0, '],
};

function writeConstantInterval(name: string, tree: Tree): Written | undefined {
  const [unit] = (Object.hasOwn(intervals, name) ? intervals[name] : undefined) ?? [];
  const count = unit === undefined ? undefined : plainCount(childrenOf(tree)[0]);
  return count === undefined ? undefined : whole(`interval '${count}' ${unit}`, interval);
}

function writeInterval([count]: readonly Written[], _: Context, tree: Tree): Written | undefined {
  const [, lead] = intervals[textOf(tree, 'function_name')] ?? [];
  return count === undefined || lead === undefined ? undefined : whole(`${lead}cast(${count.text} as int))`, interval);
}

/** The number in `interval 3 days`, which the parser reads as to_days(cast(trunc(cast(3 as double)) as integer)). */
export function plainCount(tree: Tree | undefined): number | undefined {
  if (tree?.class === 'CONSTANT') {
    const value = childOf(tree, 'value')?.['value'];
    return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
  }
  if (tree?.class === 'CAST') return plainCount(childOf(tree, 'child'));
  return textOf(tree ?? {}, 'function_name') === 'trunc' ? plainCount(childrenOf(tree ?? {})[0]) : undefined;
}

function likeOf(value: Written, sign: string, pattern: string): Written {
  return { text: `${operand(value, ranks.sum)} ${sign} ${pattern}`, type: boolean, rank: ranks.comparison };
}

/** LIKE. In Spark a backslash escapes the next character unless another escape is named. */
function writeLike(value: Written, pattern: Written, not: string): Written {
  return likeOf(value, `${not}like`, `replace(${pattern.text}, '\\\\', '\\\\\\\\')`);
}

/** A value of a JSON object by a path of one name: `/name`, as a JSON pointer, or `$.name`. */
function writeJsonText([json, path]: readonly Written[], _: Context, tree: Tree): Written | undefined {
  if (json === undefined || path === undefined) return undefined;
  const constant = constantOf(tree, 1);
  const map = `from_json(${json.text}, 'map<string, string>')`;
  const [, name] =
    /^\$\.(\w+)$/.exec(constant ?? '') ??
    /^\/([^/~]+)$/.exec(constant ?? '') ??
    /^([^$/].*)$/.exec(constant ?? '') ??
    [];
  if (name !== undefined) return whole(`try_element_at(${map}, ${literalText(name)})`, varchar);
  if (constant !== undefined) return undefined;
  if (!path.text.startsWith("'/' ||")) return undefined;
  const key = `replace(replace(substring(${path.text}, 2), '~1', '/'), '~0', '~')`;
  return whole(`try_element_at(${map}, ${key})`, varchar);
}

/** A value as JSON. Spark writes only structures and lists, so a text is written in a list, without its brackets. */
function writeToJson([value]: readonly Written[], context: Context): Written | undefined {
  if (value === undefined) return undefined;
  if (value.type.kind === 'list' || value.type.kind === 'struct') {
    return whole(`to_json(${value.text}, map('ignoreNullFields', 'false'))`, varchar);
  }
  if (value.type.kind !== 'varchar') return undefined;
  const text = using(value, context, (name) => {
    const inList = `to_json(array(${name}))`;
    return `case when ${name} is not null then substring(${inList}, 2, char_length(${inList}) - 2) end`;
  });
  return whole(text, varchar);
}

function writeFromJson([json]: readonly Written[], _: Context, tree: Tree): Written | undefined {
  const structure = constantOf(tree, 1);
  if (json === undefined || structure === undefined) return undefined;
  const type = typeOfStructure(JSON.parse(structure));
  const named = typeText(type);
  return named === undefined ? undefined : whole(`from_json(${json.text}, ${literalText(named)})`, type);
}

function writeStruct(args: readonly Written[], _: Context, tree: Tree): Written {
  const fields = childrenOf(tree).map((child, index) => ({
    name: textOf(child, 'alias'),
    type: args[index]?.type ?? unknown,
  }));
  const parts = args.map(({ text }, index) => `${literalText(fields[index]?.name ?? '')}, ${text}`);
  return whole(`named_struct(${parts.join(', ')})`, { kind: 'struct', fields });
}

/** A list of instants or numbers, each a step after the one before; empty if the end is before the start. */
export function writeSeries(tree: Tree, context: Context): Written | undefined {
  const children = childrenOf(tree);
  const args = children.map((child) => writeExpression(child, context));
  const [start, end, step] = args;
  if (start === undefined) return undefined;
  const isInstant = step?.type.kind === 'interval';
  if (end === undefined || !isInstant || (plainCount(childrenOf(children[2] ?? {})[0]) ?? 0) <= 0) return undefined;
  const [from, to] = [start, end].map((value) => castTo(value, timestamp, context, { tree, isTry: false }).text);
  const series = `case when ${from} <= ${to} then sequence(${from}, ${to}, ${step?.text}) else cast(array() as array<timestamp>) end`;
  return whole(series, { kind: 'list', of: timestamp });
}
