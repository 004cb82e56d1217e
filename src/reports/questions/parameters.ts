import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import { spellingFault } from '../../money/typed-number.ts';
import { nearest, parseTrueOrFalse } from '../../text/choices.ts';
import {
  addCalendarMonths,
  floorDay,
  formatInstant,
  formatMonth,
  formatWindow,
  type Instant,
  isRelative,
  parseInstant,
  parseMonth,
  type Window,
} from '../../time/time.ts';
import type { SqlFile } from '../../warehouse/sql/index.ts';
import type { SqlParameters, SqlValue } from '../../warehouse/store/index.ts';
import { type CompletenessState, lastMonth } from '../formats/completeness.ts';

/** A parameter that the header of a report declares: `--! params: month month = last-complete, workspace text = *`. */
export interface ReportParameter {
  readonly name: string;
  readonly type: ParameterType;
  /** The default as text, in the syntax of the command line; undefined if a value is required. */
  readonly default: string | undefined;
}

/**
 * Whether only the command line may set a parameter: a file of the project is not read for whoever opens a page or asks as
 * an agent, and budgets are those of jobs/budgets.yaml.
 */
export function isForCommandLine({ name, type }: Pick<ReportParameter, 'name' | 'type'>): boolean {
  return type === 'file' || name === 'budgets';
}

/** A report with some defaults replaced, by the name of the parameter; undefined keeps the report's own. */
export function withDefaults<R extends { readonly parameters: readonly ReportParameter[] }>(
  report: R,
  defaults: Readonly<Record<string, string | undefined>>,
): R {
  const parameters = report.parameters.map((parameter) => {
    const own = Object.hasOwn(defaults, parameter.name) ? defaults[parameter.name] : undefined;
    return { ...parameter, default: own ?? parameter.default };
  });
  return { ...report, parameters };
}

/** A value for one parameter, from the command line or a job. */
export interface GivenParameter {
  readonly name: string;
  readonly text: string;
  /** The option that set it, for messages: `--month`, `--param workspace`. */
  readonly what: string;
}

/** A parameter with its value. */
export interface ParameterValue {
  readonly name: string;
  readonly type: ParameterType;
  /**
   * The value that is bound to `$name`: months and dates as `2026-10-01`, "all" and "none" as NULL, a file as its
   * absolute path.
   */
  readonly sqlValue: SqlValue;
  /** The value as people see it: months as `2026-10`, a file as it was written. */
  readonly display: string | number | boolean | null;
  readonly isDefault: boolean;
}

interface Value {
  readonly sqlValue: SqlValue;
  readonly display: string | number | boolean | null;
}

interface TypeRules {
  readonly expected: string;
  /** Words whose value depends on the books, or on another parameter. */
  readonly words: readonly string[];
  /** Parses a text; undefined, or a UsageError, if it is not a value of this type. */
  read(text: string, now: Instant): Value | undefined;
}

function plain(value: string | number | boolean): Value {
  return { sqlValue: value, display: value };
}

const types = {
  month: {
    expected: 'a month such as 2026-10, last (the last complete one) or none',
    words: ['last', 'last-complete', 'month-before'],
    read: (text) => ofMonth(parseMonth(text, '').start),
  },
  date: {
    expected: 'a date such as 2026-10-01, 2026-10 or -30d (UTC), complete-through or none',
    words: ['complete-through', 'last', 'last-complete'],
    read(text, now) {
      const instant = parseInstant(text, '', now);
      return floorDay(instant) === instant ? ofDate(instant) : undefined;
    },
  },
  instant: {
    expected: 'an instant such as 2026-10-01T00:00:00Z, 2026-10-01 or -30d (UTC), complete-through or none',
    words: ['complete-through', 'last', 'last-complete'],
    read: (text, now) => plain(formatInstant(parseInstant(text, '', now))),
  },
  text: { expected: 'text, or * for all', words: [], read: plain },
  integer: {
    expected: 'an integer, or none',
    words: [],
    read: (text) => (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? plain(Number(text)) : undefined),
  },
  decimal: {
    expected: 'a decimal such as 12.50, or none',
    words: [],
    read: (text) => (/^[+-]?\d{1,26}(\.\d{1,12})?$/.test(text) ? plain(text.replace(/^\+/, '')) : undefined),
  },
  boolean: {
    expected: 'true, false or none',
    words: [],
    read: (text) => plain(parseTrueOrFalse(text)),
  },
  file: { expected: 'a file, its path relative to the project folder', words: [], read: plain },
} as const satisfies Readonly<Record<string, TypeRules>>;

/** The types that a header can name. */
export type ParameterType = keyof typeof types;

function rulesOf(type: ParameterType): TypeRules {
  return types[type];
}

function ofMonth(start: Instant): Value {
  return { sqlValue: formatInstant(start).slice(0, 10), display: formatMonth(start) };
}

function ofDate(instant: Instant): Value {
  return plain(formatInstant(instant).slice(0, 10));
}

/** The parameters that set a report's period: `--month`, or `--from` and `--to`. */
const periodTypes: Readonly<Record<string, readonly ParameterType[]>> = {
  month: ['month'],
  from: ['date', 'instant'],
  to: ['date', 'instant'],
};

/**
 * Reads the parameters of a report's header, in order. Adds every mistake, and every difference between header and SQL,
 * to `problems` with file, line and column.
 */
export function parseParameters(file: SqlFile, problems: string[]): ReportParameter[] {
  const parameters: (ReportParameter & { readonly at: string })[] = [];
  for (const { text, at } of declarations(file)) {
    const match = /^(\w+)\s+(\w+)(?:\s*=\s*(.*))?$/.exec(text);
    if (!match) {
      problems.push(`${at}: found "${text}", expected "name type" or "name type = default", separated by commas`);
      continue;
    }
    const [, name = '', type = '', written] = match;
    if (!/^[a-z][a-z0-9_]*$/.test(name)) {
      problems.push(`${at}: "${name}" is not a valid parameter name; expected lowercase letters, digits and _`);
      continue;
    }
    if (parameters.some((parameter) => parameter.name === name)) {
      problems.push(`${at}: the parameter "${name}" is declared twice`);
      continue;
    }
    if (!isParameterType(type)) {
      const known = Object.keys(types);
      problems.push(`${at}: "${type}" is not a parameter type${guess(type, known)}; expected ${known.join(', ')}`);
      continue;
    }
    const allowed = (Object.hasOwn(periodTypes, name) ? periodTypes[name] : undefined) ?? [type];
    if (!allowed.includes(type)) {
      problems.push(`${at}: the parameter "${name}" has the type ${type}, expected ${allowed.join(' or ')}`);
    }
    if (written !== undefined && readValue(type, written, 0) === undefined) {
      problems.push(`${at}: the default of "${name}" is "${written}", expected ${expectedOf(type)}`);
    }
    parameters.push({ name, type, default: written, at });
  }
  const named = parametersNamedIn(file.text);
  for (const [name, { line, column }] of named) {
    if (parameters.some((parameter) => parameter.name === name)) continue;
    const hint = guess(
      name,
      parameters.map((parameter) => parameter.name),
    );
    problems.push(
      `${file.path}:${line}:${column}: $${name} is not declared in the header${hint}; expected it in "--! params:"`,
    );
  }
  for (const { name, at } of parameters) {
    if (!named.has(name))
      problems.push(`${at}: the parameter "${name}" is declared, but the SQL does not use $${name}`);
    const other = { from: 'to', to: 'from' }[name];
    if (other !== undefined && !parameters.some((parameter) => parameter.name === other)) {
      problems.push(`${at}: the parameter "${name}" is declared without "${other}"; a period needs both`);
    }
    const isBefore = parameters.some((parameter) => parameter.name === name && parameter.default === 'month-before');
    if (isBefore && (name === 'month' || !parameters.some((parameter) => parameter.name === 'month'))) {
      problems.push(
        `${at}: "month-before" is the month before the parameter "month"; declare "month" as another parameter`,
      );
    }
  }
  return parameters.map(({ at: _, ...parameter }) => parameter);
}

/** The comma-separated declarations in the `--! params:` lines, each with its file, line and column. */
function declarations(file: SqlFile): { text: string; at: string }[] {
  const chunks: { text: string; at: string }[] = [];
  for (const [index, line] of file.text.split('\n').entries()) {
    if (!line.startsWith('--!')) break;
    const lead = /^--! *params: */.exec(line)?.[0];
    if (lead === undefined) continue;
    const parts = line.slice(lead.length).split(',');
    // A line may end with a comma, before the first parameter of the next line.
    if (parts.at(-1)?.trim() === '') parts.pop();
    let column = lead.length + 1;
    for (const part of parts) {
      const indent = part.length - part.trimStart().length;
      chunks.push({ text: part.trim(), at: `${file.path}:${index + 1}:${column + indent}` });
      column += part.length + 1;
    }
  }
  return chunks;
}

const sqlTokens =
  /--[^\n]*|\/\*[\s\S]*?\*\/|(?<!\w)[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|(?<![\w$])\$(?<name>\w+)/g;

/** The `$name`s of an SQL text outside comments and quotes, each with its first position. */
function parametersNamedIn(sql: string): Map<string, { line: number; column: number }> {
  const named = new Map<string, { line: number; column: number }>();
  for (const match of sql.matchAll(sqlTokens)) {
    const name = match.groups?.['name'];
    if (name === undefined || named.has(name)) continue;
    const before = sql.slice(0, match.index).split('\n');
    named.set(name, { line: before.length, column: (before.at(-1) ?? '').length + 1 });
  }
  return named;
}

function isParameterType(type: string): type is ParameterType {
  return Object.hasOwn(types, type);
}

function expectedOf(type: ParameterType): string {
  return rulesOf(type).expected;
}

/** The value of a text; the word itself if its value depends on the books; undefined if it is neither. */
function readValue(type: ParameterType, text: string, now: Instant): Value | string | undefined {
  const { words: wordsOfType, read } = rulesOf(type);
  if (wordsOfType.includes(text)) return text;
  if (text === (type === 'text' ? '*' : 'none') && type !== 'file') return { sqlValue: null, display: null };
  if (type !== 'text' && text === '') return undefined;
  try {
    return read(text, now);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

function guess(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}

/** Parameters, some of which need the books: `last-complete` is unknown until they are open. */
export type ReadParameters = readonly {
  readonly parameter: ReportParameter;
  readonly value: Value | string;
  readonly isDefault: boolean;
}[];

/**
 * Reads the given values of a report's parameters, and the defaults of the others. Relative dates count from `now`.
 * Reports unknown, malformed, repeated and missing values with `problem`.
 */
export async function readParameters(
  report: { readonly name: string; readonly parameters: readonly ReportParameter[] },
  given: readonly GivenParameter[],
  {
    now,
    dir,
    folders = [],
    problem,
    flag = paramFlag,
  }: {
    now: Instant;
    dir: string;
    folders?: readonly string[];
    problem: (text: string) => void;
    /** What stands before the name of a parameter in messages; nothing where there is no command line. */
    flag?: string;
  },
): Promise<ReadParameters> {
  const known = report.parameters.map((parameter) => parameter.name);
  for (const { name, what } of given) {
    if (known.includes(name)) continue;
    const takes =
      known.length === 0
        ? 'it takes no parameters'
        : `expected one of ${report.parameters.map((one) => optionOf(one, flag)).join(', ')}`;
    problem(`${what}: the report ${report.name} has no parameter "${name}"${guess(name, known)}; ${takes}`);
  }
  const read: { parameter: ReportParameter; value: Value | string; isDefault: boolean }[] = [];
  for (const parameter of report.parameters) {
    const { name, type } = parameter;
    const [first, second] = given.filter((candidate) => candidate.name === name);
    if (first !== undefined && second !== undefined) {
      problem(
        first.what === second.what
          ? `${first.what} is set twice`
          : `${first.what} and ${second.what} set the same parameter: use only one`,
      );
    }
    const text = first?.text ?? parameter.default;
    const what = first?.what ?? `the default of "${name}"`;
    if (text === undefined) {
      problem(`the report ${report.name} needs ${optionOf(parameter, flag)}: expected ${expectedOf(type)}`);
      continue;
    }
    const fault = type === 'decimal' || type === 'integer' ? spellingFault(text) : undefined;
    if (fault !== undefined) {
      problem(`${what}: ${fault}`);
      continue;
    }
    const value = readValue(type, text, now);
    if (value === undefined || (value === 'month-before' && (name === 'month' || !known.includes('month')))) {
      problem(`${what}: "${text}" is not a valid value for the report ${report.name}; expected ${expectedOf(type)}`);
    } else if (type === 'file') {
      const path = resolve(dir, text);
      const words = await fileProblem(path, [dir, ...folders]);
      if (words === undefined)
        read.push({ parameter, value: { sqlValue: await realpath(path), display: text }, isDefault: !first });
      else problem(`${what}: ${path} ${words}; expected ${expectedOf(type)} (${dir})`);
    } else read.push({ parameter, value, isDefault: first === undefined });
  }
  return read;
}

/** Why a path cannot be read as one file below one of the folders; undefined if it can. */
async function fileProblem(path: string, folders: readonly string[]): Promise<string | undefined> {
  // DuckDB would read every file that matches the pattern.
  if (/[*?[\]{}]/.test(path)) return 'contains one of * ? [ ] { }, which would make it a pattern for several files';
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => error);
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => resolve(folder))));
  const isOpen = (where: string) => [...roots, ...folders.map((folder) => resolve(folder))].some(isBelow(where));
  // Outside, nothing tells whether there is such a file.
  if (!(typeof real === 'string' ? roots.some(isBelow(real)) : isOpen(path))) {
    return 'is outside the project folder: move it there, or allow its folder with --allow-files';
  }
  if (typeof real !== 'string') return real.code === 'ENOENT' ? 'does not exist' : `cannot be read (${real.code})`;
  return (await stat(real)).isFile() ? undefined : 'is not a file';
}

/** Tells of folders whether a path is below them. */
function isBelow(path: string): (folder: string) => boolean {
  return (folder) => {
    const below = relative(folder, path);
    return below.split(sep)[0] !== '..' && !isAbsolute(below);
  };
}

/** The option of a parameter that has none of its own. */
export const paramFlag = '--param ';

/** The option that sets a parameter. */
function optionOf({ name, type }: ReportParameter, flag: string): string {
  return Object.hasOwn(periodTypes, name) ? `--${name} <${type}>` : `${flag}${name}=<${type}>`;
}

/** The option that sets a parameter, with its default if it has one. */
export function parameterOption(parameter: ReportParameter): string {
  return optionOf(parameter, paramFlag).replace(`<${parameter.type}>`, parameter.default ?? `<${parameter.type}>`);
}

/**
 * The values of all parameters, including those that need the books. Throws UsageError if the books cannot provide one,
 * or if a period is empty. `closed` is the last closed month.
 */
export function settleParameters(read: ReadParameters, state: CompletenessState, closed?: Instant): ParameterValue[] {
  function wordValue(word: string, { name, type }: ReportParameter): Value {
    if (word === 'last' || word === 'last-complete') {
      const month = lastMonth(state, closed);
      if (month === undefined) {
        throw new UsageError(
          state.completeThrough === null
            ? 'no month is complete in every account: one has no complete hour yet. Run "costbook ingest"; "costbook status" shows why'
            : `no month is complete in every account yet: the books are complete through ${state.completeThrough}; choose a month with --month`,
        );
      }
      if (type === 'month') return ofMonth(month.start);
      const instant = name === 'to' ? month.end : month.start;
      return type === 'date' ? ofDate(instant) : plain(formatInstant(instant));
    }
    if (word === 'month-before') {
      const month = read.find(({ parameter }) => parameter.name === 'month');
      const value = typeof month?.value === 'string' ? wordValue(month.value, month.parameter) : month?.value;
      if (typeof value?.display !== 'string') return { sqlValue: null, display: null };
      return ofMonth(addCalendarMonths(parseMonth(value.display, '--month').start, -1));
    }
    if (state.completeThrough === null) {
      throw new UsageError(
        'nothing is complete in every account yet: choose dates with --from and --to; "costbook status" shows how far each account is complete',
      );
    }
    const instant = Date.parse(state.completeThrough);
    return type === 'date' ? ofDate(floorDay(instant)) : plain(formatInstant(instant));
  }
  /** A default such as -30d counts from the end of the complete hours, so that old books still have a last month. */
  function asOfBooks(value: Value, { type, default: written = '' }: ReportParameter): Value {
    if ((type !== 'date' && type !== 'instant') || !isRelative(written) || state.completeThrough === null) return value;
    const inBooks = readValue(type, written, Date.parse(state.completeThrough));
    return typeof inBooks === 'object' && String(inBooks.display) < String(value.display) ? inBooks : value;
  }
  const values = read.map(({ parameter, value, isDefault }) => ({
    name: parameter.name,
    type: parameter.type,
    isDefault,
    ...(typeof value === 'string' ? wordValue(value, parameter) : isDefault ? asOfBooks(value, parameter) : value),
  }));
  const [from, to] = ['from', 'to'].map((name) => values.find((value) => value.name === name)?.display);
  if (typeof from === 'string' && typeof to === 'string' && Date.parse(from) >= Date.parse(to)) {
    throw new UsageError(`--from must be before --to, which is exclusive: found ${from} and ${to}`);
  }
  return values;
}

/** The values to bind to a report's SQL. */
export function sqlParameters(values: readonly ParameterValue[]): SqlParameters {
  return Object.fromEntries(values.map(({ name, sqlValue }) => [name, sqlValue]));
}

/** The parameters for people: in a manifest, or in a JSON answer. */
export function displayParameters(values: readonly ParameterValue[]): Record<string, string | number | boolean | null> {
  return Object.fromEntries(values.map(({ name, display }) => [name, display]));
}

/** The most months in one call: ten years. */
const maxMonths = 120;

/**
 * The months of `2026-01..2026-10`, or with `now` of `2026-01..last`, both inclusive; undefined if a text is not a
 * range. Throws UsageError for a range that ends before it starts.
 */
export function monthsOfRange(text: string, what: string, now?: Instant): readonly string[] | undefined {
  const [, first = '', last = ''] = /^(.*?)\.\.(.*)$/.exec(text) ?? [];
  if (first === '' && last === '') return undefined;
  const [start, end] = [parseMonth(first, what, now).start, parseMonth(last, what, now).start];
  if (start > end) throw new UsageError(`${what}: the range ${text} ends before it starts`);
  const months: string[] = [];
  for (let month = start; month <= end && months.length <= maxMonths; month = addCalendarMonths(month, 1)) {
    months.push(formatMonth(month));
  }
  if (months.length > maxMonths) throw new UsageError(`${what}: ${text} has more than ${maxMonths} months`);
  return months;
}

/** The given values, with `--month` converted to `--from` and `--to` for a report that only takes days. */
export function withDaysOfMonths(
  report: { readonly parameters: readonly ReportParameter[] },
  given: readonly GivenParameter[],
  now?: Instant,
): GivenParameter[] {
  const names = report.parameters.map(({ name }) => name);
  const hasDays = given.some(({ name }) => name === 'from' || name === 'to');
  if (names.includes('month') || !names.includes('from') || hasDays) return [...given];
  return given.flatMap((one) => {
    if (one.name === 'month' && (one.text === 'last' || one.text === 'last-complete')) {
      return ['from', 'to'].map((name) => ({ ...one, name }));
    }
    const months = one.name === 'month' ? (monthsOfRange(one.text, one.what, now) ?? [one.text]) : [];
    if (!months.every((month) => /^\d{4}-\d{2}$/.test(month)) || months.length === 0) return [one];
    const [first = '', last = ''] = [months[0], months.at(-1)];
    const to = formatMonth(parseMonth(last, one.what).end);
    parseMonth(first, one.what);
    return [
      { ...one, name: 'from', text: first },
      { ...one, name: 'to', text: to },
    ];
  });
}

/** A window that a report covers, and its label. */
export interface Period extends Window {
  readonly label: string;
}

/** The windows that a report covers: each of its months, and `from` to `to`; none if it has neither. */
export function periodsOf(values: readonly ParameterValue[]): Period[] {
  const periods: Period[] = values
    .filter(({ type, display }) => type === 'month' && display !== null)
    .map(({ display }) => ({ ...parseMonth(String(display), 'month'), label: String(display) }));
  const [from, to] = ['from', 'to'].map((name) => values.find((value) => value.name === name)?.display);
  if (typeof from === 'string' && typeof to === 'string') {
    const window = { start: Date.parse(from), end: Date.parse(to) };
    periods.push({ ...window, label: formatWindow(window) });
  }
  return periods;
}
