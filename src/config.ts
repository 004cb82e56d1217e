import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { closest, distance } from 'fastest-levenshtein';
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { UsageError } from './errors.ts';
import { earliestVersion } from './platform/limits.ts';
import { type Redactor, redactor, type TokenSource, tokenFault } from './secrets.ts';
import { floorHour, formatInstant, type Instant, parseInstant, parseRfc3339 } from './time.ts';

/** Who pays, as far as commands need to know that never talk to the platform. */
export interface LocalAccount {
  /** Undefined where nobody wrote it, which only the one account of a configuration may do: the platform is asked. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** http or https, without credentials, query, fragment or trailing slash. */
  readonly url: string | undefined;
  readonly token: TokenSource | undefined;
  /** A whole hour, not in the future. */
  readonly since: Instant | undefined;
}

/** Who pays, and how the platform is asked about it. */
export interface AccountConfig extends LocalAccount {
  readonly url: string;
  readonly token: TokenSource;
}

/** The configuration of a command that never talks to the platform: what that takes may be missing. */
export interface LocalConfig {
  readonly accounts: readonly LocalAccount[];
  readonly concurrency: number; // 4
  readonly maxRequestsPerMinute: number | undefined; // no limit
  readonly settleDays: number; // 3
  readonly lagHours: number; // 2
  readonly apiVersion: string; // the earliest version, as the platform itself has it
  readonly authorizationHeader: string; // Authorization
  readonly versionHeader: string; // Service-Version
}

/** The configuration, every field resolved. */
export interface Config extends LocalConfig {
  /** At least one. */
  readonly accounts: readonly AccountConfig[];
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigInput {
  /** What the file says; empty where there is none. */
  readonly text: string;
  /** The file's path: problems are named by it, and `tokenFile` is relative to its folder. */
  readonly file: string;
  readonly env: Environment;
  readonly now: Instant;
  /** False for commands that never talk to the platform: then a missing url, token or account is no problem. */
  readonly requireAccounts?: boolean;
}

export interface ConfigPlace {
  /** The project folder, absolute. */
  readonly dir: string;
  readonly env: Environment;
  readonly now: Instant;
  /** As in ConfigInput. */
  readonly requireAccounts?: boolean;
}

/** The configuration's file in the project folder. */
export const configFileName = 'costbook.yaml';

const tokenKeys = ['token', 'tokenFile', 'tokenCommand'] as const;
/** Keys of one account that can also stand at the top level, for all of them. */
const sharedKeys = ['url', ...tokenKeys, 'since'] as const;
const entryKeys: readonly string[] = ['id', 'name', ...sharedKeys];
const settingKeys = [
  'concurrency',
  'maxRequestsPerMinute',
  'settleDays',
  'lagHours',
  'apiVersion',
  'authorizationHeader',
  'versionHeader',
] as const;
const topKeys: readonly string[] = ['accounts', 'account', ...sharedKeys, ...settingKeys];
/** Keys whose environment variables speak about one account. */
const accountVariableKeys = ['account', ...sharedKeys] as const;

/** The key that each environment variable sets: `tokenFile` by `COSTBOOK_TOKEN_FILE`. */
export const configVariables: ReadonlyMap<string, string> = new Map(
  [...accountVariableKeys, ...settingKeys].map((key) => [variableOf(key), key]),
);
/** Variables that belong to the command line. */
const otherVariables: readonly string[] = ['COSTBOOK_DIR', 'COSTBOOK_NOW', 'COSTBOOK_JSON', 'COSTBOOK_LOG_FORMAT'];

const maxFileBytes = 1024 * 1024;
/** The file is a list of flat entries; deeper nesting is a mistake, and at some hundred levels the parser's stack ends. */
const maxNesting = 32;
const maxAliasCount = 100;
/** What a person still scrolls through; the rest is counted. */
const maxProblems = 500;
const maxLineLength = 1000;
const maxNameLength = 200;
const maxCommandLength = 8192;

/**
 * Reads `costbook.yaml` in the project folder, where there is one, and the environment.
 * Throws one UsageError whose message lists every problem, one a line, and never holds a token.
 */
export function loadConfig(place: ConfigPlace & { readonly requireAccounts: false }): LocalConfig;
export function loadConfig(place: ConfigPlace & { readonly requireAccounts?: true }): Config;
export function loadConfig(place: ConfigPlace): LocalConfig;
export function loadConfig(place: ConfigPlace): LocalConfig {
  const file = join(place.dir, configFileName);
  return parseConfig({ ...place, text: readConfigFile(file), file });
}

/**
 * Resolves a configuration: environment before file before default, key by key. Pure.
 * Throws one UsageError whose message lists every problem, one a line: those of the file by position
 * (`file:line:column: …`), then what is missing, then those of the environment (`COSTBOOK_…: …`). Never holds a token.
 */
export function parseConfig(input: ConfigInput & { readonly requireAccounts: false }): LocalConfig;
export function parseConfig(input: ConfigInput & { readonly requireAccounts?: true }): Config;
export function parseConfig(input: ConfigInput): LocalConfig;
export function parseConfig(input: ConfigInput): LocalConfig {
  const reading: Reading = {
    ...input,
    problems: [],
    strict: input.requireAccounts ?? true,
    lines: lineStarts(input.text),
    redact: redactor(),
  };
  const env = environmentSpec(reading);
  const spec = fileSpec(reading);
  // What follows from a file that cannot be read is no news.
  const config = resolveConfig(spec ?? emptySpec, env, spec ? reading : { ...reading, strict: false });
  if (reading.problems.length > 0) throw new UsageError(problemText(reading));
  return config;
}

function readConfigFile(file: string): string {
  let bytes: Buffer;
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found) return missingFile(file);
    if (!found.isFile()) throw new UsageError(`${file}: found no file of text, expected YAML; move it away`);
    if (found.size > maxFileBytes) throw new UsageError(tooLarge(file, found.size));
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new UsageError(`${file}: cannot be read (${code}); let the user who runs costbook read it`, { cause: error });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UsageError(`${file}: found bytes that are no UTF-8, expected UTF-8; save it in that encoding`, {
      cause: error,
    });
  }
}

/** No file is fine, unless one stands there under the other usual ending and would be passed over in silence. */
function missingFile(file: string): string {
  const other = file.replace(/\.yaml$/, '.yml');
  if (statSync(other, { throwIfNoEntry: false })) {
    throw new UsageError(`${other}: found this file, expected the name ${configFileName}; rename it`);
  }
  return '';
}

function tooLarge(file: string, bytes: number): string {
  return `${file}: found ${bytes} bytes, expected at most 1 MiB; keep only the configuration in it`;
}

/** A value as it was written: untrusted until one of the parsers below has read it. */
interface Given {
  /** A scalar's value, or a node where a list or a mapping stands. */
  readonly value: unknown;
  /** What a problem's line begins with: `file:line:column: key`, or a variable's name. */
  readonly label: string;
  /** Where in the file; undefined for the environment. */
  readonly offset: number | undefined;
}

type Layer = ReadonlyMap<string, Given>;

interface EntrySpec {
  readonly keys: Layer;
  /** What a missing key's line begins with. */
  readonly label: string;
  readonly offset: number;
}

/** What the file says, untrusted. */
interface ConfigSpec {
  readonly top: Layer;
  /** Undefined where there is no list of accounts. */
  readonly entries: readonly EntrySpec[] | undefined;
}

const emptySpec: ConfigSpec = { top: new Map(), entries: undefined };

interface Problem {
  /** Infinity: after all that have a position; undefined: in the environment, after everything. */
  readonly offset: number | undefined;
  readonly line: string;
}

/** What all the steps of one parse share. */
interface Reading {
  readonly text: string;
  readonly file: string;
  readonly env: Environment;
  readonly now: Instant;
  /** False where a missing url, token or account is no problem. */
  readonly strict: boolean;
  readonly problems: Problem[];
  readonly lines: LineCounter;
  /** Knows every token that was seen, in whatever state: no problem's line may hold one. */
  readonly redact: Redactor;
}

function report(reading: Reading, place: Pick<Given, 'label' | 'offset'>, text: string): void {
  reading.problems.push({ offset: place.offset, line: `${place.label}: ${text}` });
}

function problemText({ problems, redact }: Reading): string {
  const inFile = problems.filter((problem) => problem.offset !== undefined);
  const inEnvironment = problems.filter((problem) => problem.offset === undefined);
  inFile.sort((a, b) => (a.offset === b.offset ? 0 : (a.offset ?? 0) - (b.offset ?? 0)));
  // A top-level value that serves several accounts is read, and refused, several times.
  const lines = [...new Set([...inFile, ...inEnvironment].map((problem) => problem.line))];
  const shown = lines.slice(0, maxProblems).map((line) => {
    const clean = redact.redact(line);
    return clean.length > maxLineLength ? `${clean.slice(0, maxLineLength)}…` : clean;
  });
  if (lines.length > shown.length) shown.push(`and ${lines.length - shown.length} more problems`);
  return shown.join('\n');
}

function lineStarts(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function placeOf(offset: number, { file, lines }: Reading, key?: string): { label: string; offset: number } {
  const { line, col } = lines.linePos(offset);
  const position = `${file}:${line}:${col}`;
  return { label: key === undefined ? position : `${position}: ${key}`, offset };
}

function variableOf(key: string): string {
  return `COSTBOOK_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** What the environment says, by key. Empty variables count as unset. */
function environmentSpec(reading: Reading): Layer {
  const { env, text, redact } = reading;
  const layer = new Map<string, Given>();
  for (const [variable, key] of configVariables) {
    const value = variableValue(env, variable);
    if (value === undefined) continue;
    layer.set(key, { value, label: variable, offset: undefined });
    if (key === 'token') redact.keep(value);
  }
  const known = [...configVariables.keys(), ...otherVariables];
  const referenced = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1]));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith('COSTBOOK_') || known.includes(variable)) continue;
    // A variable that the file itself refers to is not one of ours, misspelt.
    if (variableValue(env, variable) === undefined || referenced.has(variable)) continue;
    const guess = nearest(variable, known, 'COSTBOOK_');
    const label = /^\w+$/.test(variable) ? variable : quoted(variable);
    report(
      reading,
      { label, offset: undefined },
      `unknown variable; ${guess ? `did you mean ${guess}?` : 'costbook reads none of this name;'} rename or unset it`,
    );
  }
  return layer;
}

function variableValue(env: Environment, name: string): string | undefined {
  // Own properties only: `${constructor}` must not find what every object has.
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === '' ? undefined : value;
}

/** What the file says, or undefined where it cannot be read at all (the reasons are reported). */
function fileSpec(reading: Reading): ConfigSpec | undefined {
  const { text, file } = reading;
  const bytes = Buffer.byteLength(text);
  if (bytes > maxFileBytes) {
    reading.problems.push({ offset: 0, line: tooLarge(file, bytes) });
    return undefined;
  }
  const tooDeep = tooDeepAt(text);
  if (tooDeep !== undefined) {
    report(
      reading,
      placeOf(tooDeep, reading),
      `found more than ${maxNesting} levels of nesting, expected keys and one list of accounts; flatten it`,
    );
    return undefined;
  }
  // Duplicate keys are found below: the parser's own check compares every key with every other one.
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  keepTokens(document, reading);
  if (!isSoundYaml(document, reading)) return undefined;

  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) return emptySpec;
  if (!isMap(root)) {
    report(
      reading,
      placeOf(root.range?.[0] ?? 0, reading),
      `found ${kindOf(root)}, expected keys, such as url: https://…`,
    );
    return undefined;
  }
  const top = mapLayer(root, topKeys, document, reading);
  const accounts = top.get('accounts');
  return { top, entries: accounts && entrySpecs(accounts, top, document, reading) };
}

/**
 * Where the text nests too deep, or undefined. Measured on the parser's own stack, because what comes after it
 * recurses, and V8 ends the process when a pattern is compiled at the very end of its stack.
 */
function tooDeepAt(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > maxNesting) return parser.offset;
  }
  return undefined;
}

/** Keeps every text under a key `token`, wherever it stands and whatever else is wrong with the file. */
function keepTokens(document: Document, { redact, env }: Reading): void {
  visit(document, {
    Pair(_, pair) {
      if (!isScalar(pair.key) || pair.key.value !== 'token' || !isNode(pair.value)) return;
      const value = isAlias(pair.value) ? pair.value.resolve(document) : pair.value;
      visit(value ?? null, {
        Scalar(_, scalar) {
          if (typeof scalar.value !== 'string' && typeof scalar.value !== 'number') return;
          for (const text of [scalar.source ?? '', String(scalar.value)]) {
            // A mere reference is no secret; what it leads to is.
            if (!/^\$\{\w+\}$/.test(text)) redact.keep(text);
            redact.keep(expand(text, env).text);
          }
        },
      });
    },
  });
}

/** What is wrong, by the parser's code: its own messages hold pieces of the file, which may be pieces of a token. */
const yamlFaults: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'found an alias with an anchor or a tag, expected it alone',
  BAD_ALIAS: 'found an anchor or alias that is no name, expected letters and digits',
  BAD_COLLECTION_TYPE: 'found a tag that does not fit what follows it; remove the tag',
  BAD_DIRECTIVE: 'found a line with % that is no YAML directive; remove it',
  BAD_DQ_ESCAPE: 'found an escape that YAML does not know between double quotes; use single quotes',
  BAD_INDENT: 'found an indentation that does not fit the lines above; align it with its siblings',
  BAD_PROP_ORDER: 'found an anchor or tag in the wrong place; put it before the value',
  BAD_SCALAR_START: 'found a character with which an unquoted value cannot begin; put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'found a second colon in one line, expected one key and its value; put the value in quotes',
  BLOCK_IN_FLOW: 'found a block inside [ ] or { }, expected values separated by commas',
  DUPLICATE_KEY: 'found a key twice; keep one',
  IMPOSSIBLE: 'found something that is no YAML; rewrite the line',
  KEY_OVER_1024_CHARS: 'found a key of more than 1024 characters; shorten it',
  MISSING_CHAR: 'found no closing quote, bracket, comma or colon, expected one here or in a line above; add it',
  MULTILINE_IMPLICIT_KEY: 'found a line without a colon, expected key: value',
  MULTIPLE_ANCHORS: 'found two anchors on one value; keep one',
  MULTIPLE_DOCS: 'found a second document (---), expected one; remove it',
  MULTIPLE_TAGS: 'found two tags on one value; keep one',
  NON_STRING_KEY: 'found a key that is no text; put it in quotes',
  RESOURCE_EXHAUSTION: 'found too many levels of nesting; flatten it',
  TAB_AS_INDENT: 'found a tab as indentation, expected spaces; replace it',
  TAG_RESOLVE_FAILED: 'found a tag (!) that costbook does not know; remove it, or put the value in quotes',
  UNEXPECTED_TOKEN: 'found something that YAML does not allow here; put the value in quotes or correct the line',
};

function isSoundYaml(document: Document, reading: Reading): boolean {
  const faults = [...document.errors, ...document.warnings];
  const seen = new Set<number>();
  for (const { code, pos } of faults) {
    const { line } = reading.lines.linePos(pos[0]);
    if (seen.has(line)) continue; // what follows in the same line follows from the first
    seen.add(line);
    const isReference = lineAround(pos[0], reading).includes('${');
    const hint = isReference ? ` (a reference \${NAME} inside [ ] or { } needs quotes)` : '';
    report(reading, placeOf(pos[0], reading), `YAML: ${yamlFaults[code]}${hint}`);
  }
  if (faults.length > 0) return false;

  const aliases: number[] = [];
  visit(document, {
    Alias(_, alias) {
      aliases.push(alias.range?.[0] ?? 0);
    },
  });
  if (aliases.length <= maxAliasCount) return true;
  report(
    reading,
    placeOf(aliases[maxAliasCount] ?? 0, reading),
    `found ${aliases.length} aliases, expected at most ${maxAliasCount}; write the values out`,
  );
  return false;
}

/** What stands around an offset in its line; not the whole line, which may be the whole file. */
function lineAround(offset: number, { text, lines }: Reading): string {
  const { col } = lines.linePos(offset);
  return text.slice(offset - Math.min(col - 1, 200), offset + 200).split('\n', 1)[0] ?? '';
}

/** What stands for a value that could not be followed and was reported. */
const unreadable = Symbol('unreadable');

/** The known keys of a mapping; unknown, repeated and nameless ones are reported. */
function mapLayer(map: YAMLMap, keys: readonly string[], document: Document, reading: Reading): Layer {
  const layer = new Map<string, Given>();
  const written = new Map<string, number>();
  for (const { key, value } of map.items) {
    const offset = (isNode(key) ? key.range?.[0] : undefined) ?? map.range?.[0] ?? 0;
    const name = isScalar(key) ? key.value : key;
    if (typeof name !== 'string') {
      report(reading, placeOf(offset, reading), `found ${kindOf(name)} as a key, expected one of ${oneOf(keys)}`);
      continue;
    }
    if (!keys.includes(name)) {
      report(reading, placeOf(offset, reading), `unknown key ${quoted(name)}; ${unknownKeyHint(name, keys)}`);
      continue;
    }
    const before = written.get(name);
    if (before !== undefined) {
      const { line } = reading.lines.linePos(before);
      report(reading, placeOf(offset, reading, name), `found a second time, first on line ${line}; keep one`);
      continue;
    }
    written.set(name, offset);
    layer.set(name, givenAt(value, offset, name, document, reading));
  }
  return layer;
}

function givenAt(node: unknown, keyOffset: number, key: string, document: Document, reading: Reading): Given {
  const written = isNode(node) && !(isScalar(node) && node.value === null);
  const place = placeOf(written ? (node.range?.[0] ?? keyOffset) : keyOffset, reading, key);
  if (!isAlias(node)) return { ...place, value: isScalar(node) ? node.value : node };
  const target = node.resolve(document);
  if (isScalar(target)) return { ...place, value: target.value };
  // A single value cannot unfold into more; an alias of a list or a mapping can, without bound.
  const found = target ? `an alias of ${kindOf(target)}` : 'an alias of an anchor that does not stand above it';
  report(reading, place, `found ${found}, expected a value or an alias of a single one; write it out`);
  return { ...place, value: unreadable };
}

function unknownKeyHint(name: string, keys: readonly string[]): string {
  if (keys === topKeys && entryKeys.includes(name)) return 'it belongs to an entry of accounts; move it there';
  if (keys === entryKeys && topKeys.includes(name)) return 'it belongs to the top level; move it there';
  const guess = nearest(name, keys);
  return guess ? `did you mean ${guess}? rename or remove it` : `expected one of ${oneOf(keys)}`;
}

function entrySpecs(accounts: Given, top: Layer, document: Document, reading: Reading): readonly EntrySpec[] {
  const short = top.get('account');
  if (short) {
    report(reading, short, 'found next to accounts, expected only one of the two; move it into the list, as an id');
  }
  const list = accounts.value;
  if (list === unreadable) return [];
  if (!isSeq(list) || list.items.length === 0) {
    const found = isSeq(list) ? 'an empty list' : kindOf(list);
    report(reading, accounts, `found ${found}, expected a list with an entry such as - id: …; write one or remove it`);
    return [];
  }
  return list.items.flatMap((item) => {
    const offset = (isNode(item) ? item.range?.[0] : undefined) ?? accounts.offset ?? 0;
    const entry = givenAt(item, offset, 'accounts', document, reading);
    if (isMap(entry.value)) {
      return [{ ...placeOf(entry.offset ?? 0, reading), keys: mapLayer(entry.value, entryKeys, document, reading) }];
    }
    if (entry.value !== unreadable) {
      report(reading, entry, `found ${kindOf(entry.value)}, expected an entry such as - id: …; write it so`);
    }
    return [];
  });
}

function resolveConfig(spec: ConfigSpec, env: Layer, reading: Reading): LocalConfig {
  const accounts = resolveAccounts(spec, env, reading);
  function setting<T>(key: (typeof settingKeys)[number], parse: Parse<T>): T | undefined {
    return read(pick([env, spec.top], key), parse, reading);
  }
  const authorizationHeader = setting('authorizationHeader', parseHeaderName) ?? 'Authorization';
  const versionHeader = setting('versionHeader', parseHeaderName) ?? 'Service-Version';
  if (authorizationHeader.toLowerCase() === versionHeader.toLowerCase()) {
    const given = pick([env, spec.top], 'versionHeader') ?? pick([env, spec.top], 'authorizationHeader');
    if (given) report(reading, given, 'found the same name for both headers, expected two; change one of them');
  }
  return {
    accounts,
    concurrency: setting('concurrency', integerParser(1, 32)) ?? 4,
    maxRequestsPerMinute: setting('maxRequestsPerMinute', integerParser(1, Number.MAX_SAFE_INTEGER)),
    settleDays: setting('settleDays', integerParser(0, 90)) ?? 3,
    lagHours: setting('lagHours', integerParser(0, 72)) ?? 2,
    apiVersion: setting('apiVersion', parseApiVersion) ?? earliestVersion,
    authorizationHeader,
    versionHeader,
  };
}

const noLayer: Layer = new Map();

function resolveAccounts({ top, entries: listed }: ConfigSpec, env: Layer, reading: Reading): readonly LocalAccount[] {
  const entries = listed ?? [shortEntry(top, reading)];
  const ids = entries.map((entry) =>
    read((entries.length === 1 ? env.get('account') : undefined) ?? entry.keys.get('id'), parseName, reading, true),
  );
  reportRepeatedIds(entries, ids, reading);
  const target = environmentTarget(entries, ids, env, reading);

  // What is written is read even where nobody needs it, so that a mistake does not wait for the day somebody does;
  // only what the environment overrides is left alone.
  readShared(env, reading);
  readShared(new Map([...top].filter(([key]) => !isOverridden(key, env))), reading);

  const accounts = entries.map((entry, index) => {
    const layers = [entry === target ? env : noLayer, entry.keys, top];
    return resolveAccount(entry, ids[index], layers, entries.length > 1, reading);
  });
  if (reading.strict) return accounts.filter(isComplete);
  if (!listed) return accounts.filter(isAnythingKnown);
  return accounts.length > 1 ? accounts.filter((account) => account.id !== undefined) : accounts;
}

/** Without a list there is one account, and the top level speaks about it. */
function shortEntry(top: Layer, { file }: Reading): EntrySpec {
  const id = top.get('account');
  return { keys: id ? new Map([['id', id]]) : noLayer, label: file, offset: Number.POSITIVE_INFINITY };
}

function reportRepeatedIds(
  entries: readonly EntrySpec[],
  ids: readonly (string | undefined)[],
  reading: Reading,
): void {
  const firsts = new Map<string, EntrySpec>();
  for (const [index, entry] of entries.entries()) {
    const id = ids[index];
    if (id === undefined) continue;
    const first = firsts.get(id);
    if (!first) {
      firsts.set(id, entry);
      continue;
    }
    const { line } = reading.lines.linePos(first.keys.get('id')?.offset ?? 0);
    report(
      reading,
      entry.keys.get('id') ?? entry,
      `found ${quoted(id)} a second time, first on line ${line}; keep one`,
    );
  }
}

/** The entry about which the account variables of the environment speak, if there is one. */
function environmentTarget(
  entries: readonly EntrySpec[],
  ids: readonly (string | undefined)[],
  env: Layer,
  reading: Reading,
): EntrySpec | undefined {
  if (entries.length <= 1) return entries[0];
  const names = ids.filter((id) => id !== undefined);
  const asked = env.get('account');
  if (!asked) {
    for (const key of sharedKeys) {
      const given = env.get(key);
      if (!given) continue;
      report(
        reading,
        given,
        `found it set while ${reading.file} lists ${entries.length} accounts, expected COSTBOOK_ACCOUNT to say ` +
          `which one it is for; set that to ${oneOf(names.map(quoted))}, or unset this`,
      );
    }
    return undefined;
  }
  const target = entries.find((_, index) => ids[index] === asked.value);
  if (!target) {
    report(
      reading,
      asked,
      `found ${quoted(String(asked.value))}, expected an account of ${reading.file}: ${oneOf(names.map(quoted))}`,
    );
  }
  return target;
}

function isOverridden(key: string, env: Layer): boolean {
  return env.has(key) || (isTokenKey(key) && tokenKeys.some((tokenKey) => env.has(tokenKey)));
}

function isTokenKey(key: string): boolean {
  return tokenKeys.some((tokenKey) => tokenKey === key);
}

function readShared(layer: Layer, reading: Reading): void {
  read(layer.get('url'), parseUrl, reading, true);
  read(layer.get('since'), sinceParser(reading.now), reading);
  readTokenSource(layer, reading);
}

function resolveAccount(
  entry: EntrySpec,
  id: string | undefined,
  layers: readonly Layer[],
  isOneOfSeveral: boolean,
  reading: Reading,
): LocalAccount {
  const givenUrl = pick(layers, 'url');
  const tokenLayer = layers.find((layer) => tokenKeys.some((key) => layer.has(key)));
  if (reading.strict) {
    const where = isOneOfSeveral
      ? `in this entry or at the top level, or set COSTBOOK_ACCOUNT to ${id === undefined ? 'its id' : quoted(id)} and`
      : `in ${reading.file}, or set`;
    const who = isOneOfSeveral && id !== undefined ? `account ${quoted(id)}: ` : '';
    if (!givenUrl) {
      report(reading, entry, `${who}found no url, expected the platform's address; write url ${where} COSTBOOK_URL`);
    }
    if (!tokenLayer) {
      report(
        reading,
        entry,
        `${who}found no token, expected one source of it; write token, tokenFile or tokenCommand ${where} ` +
          'COSTBOOK_TOKEN, COSTBOOK_TOKEN_FILE or COSTBOOK_TOKEN_COMMAND',
      );
    }
    if (isOneOfSeveral && !entry.keys.has('id')) {
      report(reading, entry, 'found no id, expected one in each of several accounts; write id in this entry');
    }
  }
  return {
    id,
    name: read(entry.keys.get('name'), parseName, reading),
    url: read(givenUrl, parseUrl, reading, true),
    token: tokenLayer && readTokenSource(tokenLayer, reading),
    since: read(pick(layers, 'since'), sinceParser(reading.now), reading),
  };
}

function pick(layers: readonly Layer[], key: string): Given | undefined {
  return layers.find((layer) => layer.has(key))?.get(key);
}

function isComplete(account: LocalAccount): account is AccountConfig {
  return account.url !== undefined && account.token !== undefined;
}

function isAnythingKnown(account: LocalAccount): boolean {
  return Object.values(account).some((value) => value !== undefined);
}

/** The one token source of a layer; a second one is reported. */
function readTokenSource(layer: Layer, reading: Reading): TokenSource | undefined {
  const [first, ...others] = tokenKeys.filter((key) => layer.has(key));
  if (first === undefined) return undefined;
  const firstName = layer.get(first)?.offset === undefined ? variableOf(first) : first;
  for (const key of others) {
    const given = layer.get(key);
    if (given)
      report(reading, given, `found next to ${firstName}, expected one source of the token; remove one of them`);
  }
  const parsers: Readonly<Record<(typeof tokenKeys)[number], Parse<TokenSource>>> = {
    token: parseToken,
    tokenFile: tokenFileParser(dirname(reading.file)),
    tokenCommand: parseTokenCommand,
  };
  const [source] = [first, ...others].map((key) => read(layer.get(key), parsers[key], reading, true));
  return source;
}

/** Reads an untrusted value; throws UsageError saying what was found and what was expected. */
type Parse<T> = (value: unknown) => T;

/**
 * Reads what was given, if it was: a mistake is reported and gives undefined.
 * `mayLack` is for what commands that never talk to the platform do without, also where a reference leads nowhere.
 */
function read<T>(given: Given | undefined, parse: Parse<T>, reading: Reading, mayLack = false): T | undefined {
  if (!given || given.value === unreadable) return undefined;
  let value = given.value;
  if (given.offset !== undefined && typeof value === 'string') {
    const { text, faults, isUnset } = expand(value, reading.env);
    if (isUnset && mayLack && !reading.strict) return undefined;
    for (const fault of faults) report(reading, given, fault);
    if (faults.length > 0) return undefined;
    value = text;
  }
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    report(reading, given, error.message);
    return undefined;
  }
}

interface Expanded {
  readonly text: string;
  readonly faults: readonly string[];
  /** True where all that is wrong is that variables are not set. */
  readonly isUnset: boolean;
}

/** Puts variables in the place of their `${NAME}`; `$${` stands for `${` itself. */
function expand(text: string, env: Environment): Expanded {
  const unset: string[] = [];
  const malformed: string[] = [];
  const expanded = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (whole, name: string | undefined, closing: string) => {
    if (name === undefined) return '${';
    if (closing === '' || !/^[A-Za-z_]\w*$/.test(name)) {
      malformed.push(
        `found \${ without a variable name and } after it, expected \${NAME}; write $\${ for the text itself`,
      );
      return '';
    }
    const value = variableValue(env, name);
    if (value !== undefined) return value;
    const state = Object.hasOwn(env, name) ? 'empty' : 'not set';
    unset.push(`found ${whole}, which is ${state}, expected a variable of the environment; set ${name}`);
    return '';
  });
  return { text: expanded, faults: [...malformed, ...unset], isUnset: unset.length > 0 && malformed.length === 0 };
}

function parseText(value: unknown): string {
  if (typeof value !== 'string') {
    const whatToDo = typeof value === 'number' || typeof value === 'boolean' ? 'put it in quotes' : 'write one';
    throw new UsageError(`found ${kindOf(value)}, expected a text; ${whatToDo}`);
  }
  if (value === '') throw new UsageError('found an empty text, expected a value; write one or remove the key');
  return value;
}

function parseName(value: unknown): string {
  const text = parseText(value);
  if (text.length > maxNameLength) {
    throw new UsageError(`found ${text.length} characters, expected at most ${maxNameLength}; shorten it`);
  }
  if (/[\p{Cc}\p{Cs}]/u.test(text)) {
    throw new UsageError(`found ${quoted(text)}, expected a text without control characters; remove them`);
  }
  return text;
}

function parseUrl(value: unknown): string {
  const text = parseText(value);
  // Never shown: what is wrong with it may be that it holds a password.
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new UsageError('found no http or https address, expected one such as https://api.example.com');
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      'found credentials in the address, expected none; give them as token, tokenFile or tokenCommand',
    );
  }
  if (/[?#]/.test(text)) throw new UsageError('found a query or fragment in the address, expected none; remove it');
  let end = url.href.length;
  while (url.href[end - 1] === '/') end -= 1;
  return url.href.slice(0, end);
}

function parseToken(value: unknown): TokenSource {
  const text = parseText(value);
  const fault = tokenFault(text);
  if (fault !== undefined) throw new UsageError(`${fault}; write the token alone`);
  return { kind: 'value', value: text };
}

function tokenFileParser(dir: string): Parse<TokenSource> {
  return (value) => {
    const text = parseCommandText(value);
    if (text.startsWith('~/')) {
      throw new UsageError('found ~, which only a shell understands, expected a path; write an absolute one');
    }
    return { kind: 'file', path: resolve(dir, text) };
  };
}

function parseTokenCommand(value: unknown): TokenSource {
  const command = parseCommandText(value);
  if (command.trim() === '') throw new UsageError('found only spaces, expected a command line; write one');
  return { kind: 'command', command };
}

/** A text that the system can take as a path or a command line. */
function parseCommandText(value: unknown): string {
  const text = parseText(value);
  if (text.length > maxCommandLength) {
    throw new UsageError(`found ${text.length} characters, expected at most ${maxCommandLength}; shorten it`);
  }
  if (text.includes('\0')) throw new UsageError('found a NUL character, expected none; remove it');
  return text;
}

function sinceParser(now: Instant): Parse<Instant> {
  return (value) => {
    const text = parseText(value);
    const instant = instantOf(text, now);
    if (instant === undefined) {
      throw new UsageError(
        `found ${quoted(text)}, expected a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`,
      );
    }
    if (instant !== floorHour(instant)) {
      throw new UsageError(
        `found ${quoted(text)}, expected a whole hour of UTC; write ${formatInstant(floorHour(instant))}`,
      );
    }
    if (instant > now) {
      throw new UsageError(
        `found ${quoted(text)}, expected an instant not after now, ${formatInstant(now)}; correct it`,
      );
    }
    return instant;
  };
}

/** As parseInstant, but undefined where the text names none, as its message shows a text that may be anything. */
function instantOf(text: string, now: Instant): Instant | undefined {
  try {
    return parseInstant(text, 'since', now);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** A whole number within bounds, both inclusive; from the environment or a reference it comes as text. */
function integerParser(min: number, max: number): Parse<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
  return (value) => {
    const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max) return number;
    const found = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? value : kindOf(value);
    throw new UsageError(`found ${found}, expected ${range}`);
  };
}

function parseApiVersion(value: unknown): string {
  const text = parseText(value);
  const [, date] = /^(\d{4}-\d{2}-\d{2})(?:\.preview)?$/.exec(text) ?? [];
  if (date === undefined || parseRfc3339(`${date}T00:00:00Z`) === undefined) {
    throw new UsageError(`found ${quoted(text)}, expected a version such as ${earliestVersion} or 2026-04-28.preview`);
  }
  return text;
}

function parseHeaderName(value: unknown): string {
  const text = parseText(value);
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)) {
    throw new UsageError(`found ${quoted(text)}, expected the name of an HTTP header: letters, digits and -`);
  }
  return text;
}

/** What something is, without saying what it holds. */
function kindOf(value: unknown): string {
  if (isAlias(value)) return 'an alias';
  if (isMap(value)) return 'a mapping';
  if (isSeq(value)) return 'a list';
  const plain: unknown = isScalar(value) ? value.value : value;
  if (plain === null || plain === undefined) return 'nothing';
  if (typeof plain === 'string') return 'a text';
  if (typeof plain === 'number' || typeof plain === 'bigint') return 'a number';
  return typeof plain === 'boolean' ? String(plain) : 'a value of another kind';
}

/** A text as it may stand in one line of a message. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function oneOf(names: readonly string[]): string {
  const shown = names.length > 20 ? [...names.slice(0, 20), `${names.length - 20} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}` : (shown[0] ?? 'one with an id');
}

/** The known name that was probably meant; `prefix` is what all of them begin with. */
function nearest(name: string, known: readonly string[], prefix = ''): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const plain = new Map(known.map((candidate) => [plainName(candidate.slice(prefix.length)), candidate]));
  const written = plainName(name.slice(prefix.length));
  const best = closest(written, [...plain.keys()]);
  // A third of the letters, but two always: tokne is token.
  const isNear = distance(written, best) <= Math.max(2, Math.floor(written.length / 3)) && written.length > 2;
  return isNear ? plain.get(best) : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}
