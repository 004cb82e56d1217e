import { nearest } from '../did-you-mean.ts';
import type { Instant } from '../time.ts';
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
import { secretKeys } from './sink-settings.ts';
import {
  type Given,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseYaml,
  quoted,
  readValue,
  textsUnder,
} from './yaml.ts';

export interface ConfigInput {
  /** What the file says; undefined where there is none. */
  readonly text: string | undefined;
  /** The file's path: problems are named by it, and `tokenFile` is relative to its folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: Instant;
  /** False for commands that never talk to the platform: then a missing url, token or account is no problem. */
  readonly requireAccounts?: boolean;
  /** True for commands that tell sinks: then a variable that one refers to and that is not set is a problem. */
  readonly requireSinks?: boolean;
}

/** What all the steps of one parse share. */
export interface Reading extends ConfigInput {
  /** False where a missing url, token or account is no problem. */
  readonly strict: boolean;
  readonly problems: Problems;
}

/** What is given, by key. */
export type Layer = ReadonlyMap<string, Given>;
export const noLayer: Layer = new Map();

/** One account, untrusted. */
export interface EntrySpec {
  /** Where something missing in it is told. */
  readonly place: Place;
  readonly keys: Layer;
}

/** What the file says, untrusted. */
export interface ConfigSpec {
  readonly top: Layer;
  /** Undefined where there is no list of accounts. */
  readonly entries: readonly EntrySpec[] | undefined;
}

/** What the environment says, by key; variables that are none of ours are reported. Empty ones count as unset. */
export function environmentLayer({ env, text = '', problems }: Reading): Layer {
  const layer = new Map<string, Given>();
  for (const [variable, key] of configVariables) {
    const value = variableValue(env, variable);
    if (value === undefined) continue;
    layer.set(key, { where: variable, value });
    if (key === 'token') problems.keepSecret(value);
  }
  const known = variableKeys.map(variableOf);
  // A variable that the file itself refers to is not one of ours, misspelt.
  const referenced = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1]));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith('COSTBOOK_') || known.includes(variable) || referenced.has(variable)) continue;
    if (variableValue(env, variable) === undefined) continue;
    const where = /^\w+$/.test(variable) ? variable : quoted(variable);
    const guess = nearest(variable.slice('COSTBOOK_'.length), variableKeys);
    const hint = guess ? `did you mean ${variableOf(guess)}?` : 'costbook reads none of this name;';
    problems.report({ where, isUntrusted: true }, `unknown variable; ${hint} rename or unset it`);
  }
  return layer;
}

/** What the file says, or undefined where it cannot be read at all (the reasons are reported). */
export function fileSpec({ text = '', file, env, problems }: Reading): ConfigSpec | undefined {
  const { root, isSound } = parseYaml(text, file, problems);
  const tokens = [...textsUnder('token', root), ...workspaceTokens(root)];
  const sinks =
    root.value !== null && typeof root.value === 'object' && root.value?.kind === 'mapping'
      ? root.value.entries.find(({ key }) => key.value === 'sinks')?.value
      : undefined;
  if (sinks !== undefined) for (const key of secretKeys) tokens.push(...textsUnder(key, sinks));
  for (const token of tokens) {
    // A mere reference is no secret; what it leads to is.
    if (!/^\$\{\w+\}$/.test(token)) problems.keepSecret(token);
    problems.keepSecret(expand(token, env).text);
  }
  if (!isSound) return undefined;
  const written = root.value === null ? noLayer : keysOf(root, topRule, problems);
  const top = written && withGroups(written, problems);
  const accounts = top?.get('accounts');
  if (!top || !accounts) return top && { top, entries: undefined };

  const short = top.get('account');
  if (short) {
    problems.report(short, 'found next to accounts, expected only one of the two; move it into the list, as an id');
  }
  const items = itemsOf(accounts, 'a list with an entry such as - id: …; write one or remove it', problems);
  const entries = items.flatMap((item) => {
    const keys = keysOf(item, entryRule, problems);
    return keys ? [{ place: { where: item.where, position: item.position }, keys }] : [];
  });
  return { top, entries };
}

/** What is written in the place of a workspace's token, as it is written and as it is read. */
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

/** The keys of the top level, with those of its groups under their long names in the groups' place. */
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

/** The upper layer over the lower one. A token source replaces the other whole, whatever its kind. */
export function overlay(lower: Layer, upper: Layer): Layer {
  const hidden: readonly string[] = hasToken(upper) ? tokenKeys : [];
  return new Map([...[...lower].filter(([key]) => !hidden.includes(key)), ...upper]);
}

export function hasToken(layer: Layer): boolean {
  return tokenKeys.some((key) => layer.has(key));
}

/**
 * Reads what was given, if it was: a mistake is reported and gives undefined.
 * `mayLack` is for what commands that never talk to the platform do without, also where a reference leads nowhere.
 */
export function read<T>(
  given: Given | undefined,
  parse: Parse<T>,
  reading: Reading,
  mayBeMissing = false,
): T | undefined {
  // A value of the environment is taken as it is.
  if (typeof given?.value !== 'string' || !given.position) return readValue(given, parse, reading.problems);
  const { text, unset, malformed } = expand(given.value, reading.env);
  const faults = [...malformed, ...unset];
  if (faults.length === 0) return readValue({ ...given, value: text }, parse, reading.problems);
  const isMissing = mayBeMissing && !reading.strict && malformed.length === 0;
  if (!isMissing) for (const fault of faults) reading.problems.report(given, fault);
  return undefined;
}
