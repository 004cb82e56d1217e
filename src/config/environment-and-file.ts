import { secretKeys } from '../sinks/index.ts';
import { nearest, quoted } from '../text/choices.ts';
import type { Instant } from '../time/time.ts';
import {
  type Given,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseYaml,
  readAs,
  readValue,
  type Shape,
  textsUnder,
  withoutMistakes,
} from '../yaml/index.ts';
import {
  configVariables,
  entryPlace,
  entryRule,
  groupPlaces,
  groups,
  tokenKeys,
  topPlace,
  topRule,
  variableKeys,
  variableOf,
} from './keys.ts';
import { expand, variableValue } from './references.ts';

export interface ConfigInput {
  /** The text of the file; undefined if there is none. */
  readonly text: string | undefined;
  /** The file's path, used in messages; `tokenFile` is relative to its folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: Instant;
  /** False for commands that never contact the platform: url, token and account may then be missing. */
  readonly requireAccounts?: boolean;
  /** True for commands that notify sinks: the variables that sinks use must then be set. */
  readonly requireSinks?: boolean;
  /** Receives every secret that is read, also if there are mistakes. */
  readonly keepSecret?: (secret: string) => void;
  /** True for the dashboard: the variables of its tokens must then be set. */
  readonly requireServe?: boolean;
}

/** The state shared by all steps of a parse. */
export interface Reading extends ConfigInput {
  /** False if url, token and account may be missing. */
  readonly strict: boolean;
  readonly problems: Problems;
}

/** Given values by key. */
export type Layer = ReadonlyMap<string, Given>;
export const noLayer: Layer = new Map();

/** One account, untrusted. */
export interface EntrySpec {
  /** The position for messages about missing keys. */
  readonly place: Place;
  readonly keys: Layer;
}

/** The contents of the file, untrusted. */
export interface ConfigSpec {
  readonly top: Layer;
  /** Undefined if there is no list of accounts. */
  readonly entries: readonly EntrySpec[] | undefined;
  /** False if the file cannot be parsed: `top` then has only who is notified, to notify them of that. */
  readonly isSound: boolean;
}

/** The environment's values by key; unknown COSTBOOK_ variables are reported. Empty ones count as unset. */
export function environmentLayer({ env, text = '', problems }: Reading): Layer {
  const layer = new Map<string, Given>();
  for (const [variable, key] of configVariables) {
    const value = variableValue(env, variable);
    if (value === undefined) continue;
    layer.set(key, { where: variable, value });
    if (key === 'token') problems.keepSecret(value);
  }
  // The program itself reads one before anything else.
  const known = [...variableKeys.map(variableOf), 'COSTBOOK_COMPILE_CACHE'];
  // A variable that the file uses is not a misspelt setting.
  const referenced = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1]));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith('COSTBOOK_') || known.includes(variable) || referenced.has(variable)) continue;
    if (variableValue(env, variable) === undefined) continue;
    const where = /^\w+$/.test(variable) ? variable : quoted(variable);
    const guess = nearest(variable.slice('COSTBOOK_'.length), variableKeys);
    const hint = guess ? `did you mean ${variableOf(guess)}?` : 'Costbook has no such setting;';
    problems.report({ where, isUntrusted: true }, `unknown variable; ${hint} rename or unset it`);
  }
  return layer;
}

/** The contents of the file, as far as it can be read (the reasons are reported); undefined if it is no mapping. */
export function fileSpec({ text = '', file, env, problems }: Reading): ConfigSpec | undefined {
  const { root, isSound } = parseYaml(text, file, problems);
  const tokens = [...textsUnder('token', root), ...textsUnder('clientSecret', root), ...workspaceTokens(root)];
  const sinks = underTop('sinks', root);
  if (sinks !== undefined) for (const key of secretKeys) tokens.push(...textsUnder(key, sinks));
  tokens.push(...valuesOf(underTop('headers', root)));
  for (const token of tokens) {
    // A reference is not a secret; its value is.
    if (!/^\$\{\w+\}$/.test(token)) problems.keepSecret(token);
    problems.keepSecret(expand(token, env).text);
  }
  if (!isSound) return { top: notifiedIn(root, withoutMistakes(problems)), entries: undefined, isSound };
  const written = root.value === null ? noLayer : keysOf(root, topRule, problems);
  const top = written && withGroups(written, problems);
  const accounts = top?.get('accounts');
  if (!top || !accounts) return top && { top, entries: undefined, isSound };

  const short = top.get('account');
  if (short) {
    problems.report(
      short,
      'found both account and accounts, expected only one of them; move it into the list, as an id',
    );
  }
  const items = itemsOf(accounts, 'a list with an entry such as - id: …; write one or remove it', problems);
  const entries = items.flatMap((item) => {
    const keys = keysOf(item, entryRule, problems);
    return keys ? [{ place: { where: item.where, file: item.file, position: item.position }, keys }] : [];
  });
  return { top, entries, isSound };
}

/** Who is notified, as far as the parser found it in a file with mistakes of YAML. */
function notifiedIn(root: Given, problems: Problems): Layer {
  const top = withGroups(keysOf(root, topRule, problems) ?? noLayer, problems);
  return new Map([...top].filter(([key]) => key === 'sinks' || key.startsWith('alerts.')));
}

/** What is given for a key of the top level. */
function underTop(name: string, { value }: Given): Given | undefined {
  if (typeof value !== 'object' || value?.kind !== 'mapping') return undefined;
  return value.entries.find(({ key }) => key.value === name)?.value;
}

/** The single values of a mapping, as text. */
function valuesOf(given: Given | undefined): string[] {
  const value = given?.value;
  if (typeof value !== 'object' || value?.kind !== 'mapping') return [];
  return value.entries.flatMap(({ value: one }) => (typeof one.value === 'string' ? [one.value] : []));
}

/** Every text in the place of a workspace's token, as written and as parsed. */
function* workspaceTokens({ value }: Given, isUnderTokens = false): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  if (value.kind === 'list') {
    for (const item of value.items) yield* workspaceTokens(item);
    return;
  }
  for (const { key, value: given } of value.entries) {
    if (isUnderTokens && (typeof given.value === 'string' || typeof given.value === 'number')) {
      yield* [given.source ?? '', String(given.value)];
    } else yield* workspaceTokens(given, key.value === 'tokens');
  }
}

/** The keys of the top level, with nested groups flattened to their long names. */
function withGroups(top: Layer, problems: Problems): Layer {
  const layer = new Map(top);
  for (const { name, keys, expected } of groups) {
    const group = top.get(name);
    if (!group) continue;
    layer.delete(name);
    const elsewhere = [topPlace, entryPlace, ...groupPlaces.filter(({ place }) => place !== name)];
    for (const [key, given] of keysOf(group, { keys, expected, elsewhere }, problems) ?? []) {
      layer.set(`${name}.${key}`, { ...given, key: `${name}.${key}` });
    }
  }
  return layer;
}

/** The upper layer overrides the lower one. A token source of any kind replaces the lower token source. */
export function overlay(lower: Layer, upper: Layer): Layer {
  const hidden: readonly string[] = hasToken(upper) ? tokenKeys : [];
  return new Map([...[...lower].filter(([key]) => !hidden.includes(key)), ...upper]);
}

export function hasToken(layer: Layer): boolean {
  return tokenKeys.some((key) => layer.has(key));
}

/**
 * Parses a value, if it is given; a mistake is reported and gives undefined.
 * `mayLack` marks values that commands without the platform do not need, even if they use an unset variable.
 */
export function read<T>(
  given: Given | undefined,
  parse: Parse<T>,
  reading: Reading,
  mayBeMissing = false,
): T | undefined {
  // References are expanded only in the file, not in the environment.
  if (typeof given?.value !== 'string' || !given.position) return readValue(given, parse, reading.problems);
  const { text, unset, malformed } = expand(given.value, reading.env);
  const faults = [...malformed, ...unset];
  if (faults.length === 0) return readValue({ ...given, value: text }, parse, reading.problems);
  const isMissing = mayBeMissing && !reading.strict && malformed.length === 0;
  if (!isMissing) for (const fault of faults) reading.problems.report(given, fault);
  return undefined;
}

/** Reads a value with a schema, if it is given. References are replaced only in the file, not in the environment. */
export function readSetting<T>(given: Given | undefined, shape: Shape<T>, reading: Reading): T | undefined {
  return given && readAs(given.position ? expanded(given, reading) : given, shape, reading.problems);
}

/** A value with its references replaced, at any depth. If not all variables must be set, one that is not leaves no value. */
export function expanded(given: Given, reading: Reading): Given {
  const { value } = given;
  if (typeof value === 'string') {
    const { text, unset, malformed } = expand(value, reading.env);
    const faults = [...malformed, ...unset];
    if (faults.length === 0) return { ...given, value: text };
    return {
      ...given,
      value: undefined,
      fault: reading.strict || malformed.length > 0 ? faults.join('. ') : undefined,
    };
  }
  if (typeof value !== 'object' || value === null) return given;
  if (value.kind === 'list')
    return { ...given, value: { ...value, items: value.items.map((item) => expanded(item, reading)) } };
  const entries = value.entries.map((entry) => ({ ...entry, value: expanded(entry.value, reading) }));
  return { ...given, value: { ...value, entries } };
}
