import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  Composer,
  type CST,
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
  YAMLParseError,
} from 'yaml';
import { type Mistake, UsageError } from '../base/errors.ts';
import { type NextStep, stepSentence } from '../base/next-step.ts';
import { refuseSeparators } from '../money/typed-number.ts';
import { nearest, oneOf, parseChoice, parseTrueOrFalse, quoted } from '../text/choices.ts';
import { redactor } from '../text/redactor.ts';

// How to read a YAML file: `readYamlFile` and `parseYaml` return data with the position of every value;
// `keysOf`, `itemsOf` and `readValue` parse it and report mistakes; `throwIfAny` throws all of them.

const maxFileBytes = 1024 * 1024;
/** Our files are lists of flat entries; deeper nesting is a mistake, and some hundred levels overflow the parser's stack. */
const maxNesting = 32;
const maxAliasCount = 100;
/** How many mistakes are listed; the others are counted. */
const maxProblems = 500;
const maxLineLength = 1000;

/** A position, for messages about it. */
export interface Place {
  /** `file:line:column`, a file, or an environment variable. */
  readonly where: string;
  /** The file of `where`, if it is in one. */
  readonly file?: string | undefined;
  /** True where `where` is text from outside that may hold a secret; otherwise it is shown as it is. */
  readonly isUntrusted?: true;
  /** The key of the value, if it has one. */
  readonly key?: string | undefined;
  /** Undefined outside the file; such mistakes are listed last. */
  readonly position?: { readonly line: number; readonly col: number } | undefined;
}

/** A value as written, untrusted until it is parsed. */
export interface Given extends Place {
  readonly value: YamlValue;
  /** The source text of a single value, without quotes: 0x1F, not 31. */
  readonly source?: string | undefined;
  /** Why an alias could not be followed; `keysOf` and `itemsOf` report it. */
  readonly fault?: string | undefined;
}

/** Undefined for an alias that could not be followed; all others are resolved. */
export type YamlValue = string | number | boolean | null | undefined | YamlList | YamlMapping;

interface YamlList {
  readonly kind: 'list';
  readonly items: readonly Given[];
}

interface YamlMapping {
  readonly kind: 'mapping';
  /** As written, including unknown, repeated and nameless keys. */
  readonly entries: readonly { readonly key: Given; readonly value: Given }[];
}

/** Collects mistakes, so that all are reported at once. */
export interface Problems {
  /** `next` is what to do: the step of the error if this is the only mistake, otherwise the end of its line. */
  report(place: Place, text: string, next?: NextStep): void;
  /** Hides this text in all messages, also in those reported before. */
  keepSecret(secret: string): void;
  /** One UsageError that lists every mistake, one per line, by position; undefined if there is none. */
  error(details?: { readonly code: string }): UsageError | undefined;
  /** Throws that error; does nothing if there is none. */
  throwIfAny(): void;
}

/** `onSecret` receives every secret too. */
export function gatherProblems(onSecret?: (secret: string) => void): Problems {
  const found: { readonly place: Place; readonly text: string; readonly next: NextStep | undefined }[] = [];
  const { keep, redact } = redactor();
  return {
    report(place, text, next) {
      found.push({ place, text, next });
    },
    keepSecret(secret) {
      keep(secret);
      onSecret?.(secret);
    },
    throwIfAny() {
      const error = this.error();
      if (error !== undefined) throw error;
    },
    error(details) {
      if (found.length === 0) return undefined;
      const isOnly = found.length === 1;
      const sorted = found.toSorted((a, b) => comparePlaces(a.place, b.place));
      // A value used by several entries is parsed, and refused, several times.
      const lines = new Map(
        sorted.map(({ place, text, next }) => {
          const step = next === undefined || isOnly ? '' : `. ${stepSentence(next)}`;
          const rest = [...(place.key ? [place.key] : []), `${text}${step}`].join(': ');
          return [`${place.where}: ${rest}`, { place, rest }];
        }),
      );
      const shown = [...lines.values()].slice(0, maxProblems).map(({ place, rest }): Mistake => {
        // A word of a broken token may also be in the name of the file or variable, which is no secret.
        const clean = (name: string) => (place.isUntrusted ? redact(name) : name);
        const line = `${clean(place.where)}: ${redact(rest)}`;
        return {
          found: line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line,
          subject: `${clean(place.file ?? place.where)}: ${redact(rest)}`.slice(0, maxLineLength),
          file: place.file,
          line: place.position?.line,
        };
      });
      if (lines.size > shown.length) shown.push({ found: `and ${lines.size - shown.length} more problems` });
      return new UsageError(shown, { ...details, next: isOnly ? found[0]?.next : undefined });
    },
  };
}

/** Keeps secrets as these, and drops mistakes. */
export function withoutMistakes(problems: Problems): Problems {
  return { ...problems, report: () => undefined };
}

function comparePlaces({ position: a }: Place, { position: b }: Place): number {
  if (!a || !b) return Number(!a) - Number(!b);
  return a.line - b.line || a.col - b.col;
}

/** The position for missing keys of a file: listed after all mistakes in it. */
export function endOf(file: string): Place {
  return { where: file, file, position: { line: Number.POSITIVE_INFINITY, col: 0 } };
}

/**
 * The text of a file `*.yaml`, or undefined if it does not exist. Throws UsageError if it cannot be read, is not UTF-8 or
 * exceeds 1 MiB, or if there is such a file with the ending `.yml` or in another case, which would be ignored.
 */
export function readYamlFile(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found) {
      const [other] = namedAlike(file);
      if (other === undefined) return undefined;
      throw new UsageError(`${other}: found this file, expected the name ${basename(file)}; rename it`);
    }
    const [second] = namedAlike(file);
    if (second !== undefined)
      throw new UsageError(`${second}: found this file next to ${basename(file)}, expected only one; remove one`);
    if (!found.isFile())
      throw new UsageError(`${file}: found something other than a text file, expected YAML; move it away`);
    if (found.size > maxFileBytes) throw new UsageError(`${file}: ${tooLarge(found.size)}`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const fault = code.startsWith('ERR_ENCODING')
      ? 'found bytes that are not UTF-8; save the file as UTF-8'
      : `cannot be read (${code}); give the user who runs Costbook read access`;
    throw new UsageError(`${file}: ${fault}`, { cause: error });
  }
}

/** Files with a similar name: with the ending `.yml`, or in another case. */
function namedAlike(file: string): string[] {
  const folder = dirname(file);
  const own = basename(file);
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // The file may be readable even if the folder cannot be listed.
  }
  const isAlike = (name: string) => name !== own && name.toLowerCase().replace(/\.yml$/, '.yaml') === own.toLowerCase();
  return names.filter(isAlike).map((name) => join(folder, name));
}

function tooLarge(bytes: number): string {
  return `found ${bytes} bytes, expected at most 1 MiB; remove everything except the configuration`;
}

/**
 * Parses a text. Pure; time and memory are proportional to its length.
 * If `isSound` is false, the reasons are reported, and `root` holds what could be parsed: only for finding secrets in
 * it.
 */
export function parseYaml(text: string, file: string, problems: Problems): { root: Given; isSound: boolean } {
  const at = placeFinder(text, file);
  const unread = { root: { ...at(0), value: null }, isSound: false };
  const bytes = Buffer.byteLength(text);
  if (bytes > maxFileBytes) {
    problems.report(endOf(file), tooLarge(bytes));
    return unread;
  }
  // keysOf finds duplicate keys, because the parser's own check takes quadratic time.
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  let tooDeep: number | undefined;
  const tokens = tokensOf(text, (offset) => {
    tooDeep = offset;
  });
  const [document, second] = composer.compose(tokens, true, text.length);
  if (tooDeep !== undefined) {
    problems.report(at(tooDeep), `found more than ${maxNesting} levels of nesting, expected fewer; flatten it`);
    return unread;
  }
  // Even an empty text is a document.
  if (document === undefined) return unread;
  if (second) document.errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', ''));
  const { root, aliases } = toData(document, at);
  const faults = [...document.errors, ...document.warnings];
  reportFaults(faults, text, at, problems);
  const excess = aliases[maxAliasCount];
  if (faults.length === 0 && excess) {
    problems.report(excess, `found ${aliases.length} aliases, expected at most ${maxAliasCount}; write the values out`);
  }
  return { root, isSound: faults.length === 0 && !excess };
}

type PlaceFinder = (offset: number) => { where: string; file: string; position: { line: number; col: number } };

function placeFinder(text: string, file: string): PlaceFinder {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return (offset) => {
    const position = lines.linePos(offset);
    return { where: `${file}:${position.line}:${position.col}`, file, position };
  };
}

/**
 * The tokens of a text; they end where it nests too deeply. Measured on the parser's own stack, because later steps
 * recurse, and V8 ends the process if it compiles a regular expression at the end of its stack.
 */
function* tokensOf(text: string, endAt: (offset: number) => void): Generator<CST.Token, void> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > maxNesting) return endAt(parser.offset);
  }
  yield* parser.end();
}

/** Messages by the parser's codes: its own messages quote the file, which may contain a token. */
const yamlFaults: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'found an alias with an anchor or a tag, expected it alone',
  BAD_ALIAS: 'found an invalid anchor or alias, expected letters and digits',
  BAD_COLLECTION_TYPE: 'found a tag that does not match its value; remove the tag',
  BAD_DIRECTIVE: 'found a line with % that is not a YAML directive; remove it',
  BAD_DQ_ESCAPE: 'found an escape that YAML does not know between double quotes; use single quotes',
  BAD_INDENT: 'found an indentation that does not match the lines above; align it with them',
  BAD_PROP_ORDER: 'found an anchor or tag in the wrong place; put it before the value',
  BAD_SCALAR_START: 'found a character that cannot start an unquoted value; put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'found a second colon in one line, expected one key and its value; put the value in quotes',
  BLOCK_IN_FLOW: 'found a block inside [ ] or { }, expected values separated by commas',
  DUPLICATE_KEY: 'found a key twice; keep one',
  IMPOSSIBLE: 'found something that is not YAML; rewrite the line',
  KEY_OVER_1024_CHARS: 'found a key of more than 1024 characters; shorten it',
  MISSING_CHAR: 'found no closing quote, bracket, comma or colon, expected one here or in a line above; add it',
  MULTILINE_IMPLICIT_KEY: 'found a line without a colon, expected key: value',
  MULTIPLE_ANCHORS: 'found two anchors on one value; keep one',
  MULTIPLE_DOCS: 'found a second document (---), expected one; remove it',
  MULTIPLE_TAGS: 'found two tags on one value; keep one',
  NON_STRING_KEY: 'found a key that is not text; put it in quotes',
  RESOURCE_EXHAUSTION: 'found too many levels of nesting; flatten it',
  TAB_AS_INDENT: 'found a tab as indentation, expected spaces; replace it',
  TAG_RESOLVE_FAILED: 'found an unknown tag (!); remove it, or put the value in quotes',
  UNEXPECTED_TOKEN: 'found something that YAML does not allow here; put the value in quotes or correct the line',
};

function reportFaults(faults: Document['warnings'], text: string, at: PlaceFinder, problems: Problems): void {
  const seen = new Set<number>();
  for (const { code, pos } of faults) {
    const place = at(pos[0]);
    const { line, col } = place.position;
    if (seen.has(line)) continue; // later faults in a line follow from the first
    seen.add(line);
    // Only a part: a line may be as long as the file.
    const [around = ''] = text.slice(pos[0] - Math.min(col - 1, 200), pos[0] + 200).split('\n', 1);
    const hint = around.includes('${') ? ` (a reference \${NAME} inside [ ] or { } needs quotes)` : '';
    problems.report(place, `YAML: ${yamlFaults[code]}${hint}`);
  }
}

/** The document as data, and the positions of its aliases. Only aliases of single values are followed: others can explode. */
function toData(document: Document, at: PlaceFinder): { root: Given; aliases: readonly Place[] } {
  const anchors = new Map<string, Given>();
  const aliases: Place[] = [];

  function toGiven(node: unknown, parent: Place): Given {
    const { where, file, position } = isNode(node) && node.range ? at(node.range[0]) : parent;
    const place: Place = { where, file, position, key: parent.key };
    if (isAlias(node)) {
      aliases.push({ where, file, position });
      return { ...place, ...follow(anchors.get(node.source)) };
    }
    const items: Given[] = [];
    const entries: { key: Given; value: Given }[] = [];
    let given: Given = { ...place, value: null };
    if (isSeq(node)) given = { ...place, value: { kind: 'list', items } };
    if (isMap(node)) given = { ...place, value: { kind: 'mapping', entries } };
    if (isScalar(node)) given = { ...place, value: toSingle(node.value), source: node.source };
    // Before its contents, which may contain an alias of it.
    if (isNode(node) && node.anchor) anchors.set(node.anchor, given);
    if (isSeq(node)) for (const item of node.items) items.push(toGiven(item, place));
    if (isMap(node)) for (const pair of node.items) entries.push(toEntry(pair, { ...place, key: undefined }));
    return given;
  }

  function toEntry(pair: { key: unknown; value: unknown }, parent: Place): { key: Given; value: Given } {
    const key = toGiven(pair.key, parent);
    const { where, file, position } = key;
    const value = toGiven(pair.value, {
      where,
      file,
      position,
      key: typeof key.value === 'string' ? key.value : undefined,
    });
    return { key, value: value.value === null ? { ...value, where, file, position } : value };
  }

  return { root: toGiven(document.contents, at(0)), aliases };
}

function toSingle(value: unknown): YamlValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function follow(target: Given | undefined): Pick<Given, 'value' | 'source' | 'fault'> {
  if (target && (target.value === null || typeof target.value !== 'object')) {
    return { value: target.value, source: target.source };
  }
  const found = target ? kindOf(target.value) : 'an anchor that is not defined above';
  const fault = `found an alias of ${found}, expected a value, or an alias of a single value; write it out`;
  return { value: undefined, fault };
}

/** The keys of a mapping, and the text for messages if something else is found: `an entry such as - id: …`. */
export interface MappingRule {
  readonly keys: readonly string[];
  readonly expected: string;
  /** Keys that belong in other places. */
  readonly elsewhere?: readonly { readonly keys: readonly string[]; readonly place: string }[];
}

/** The known keys of a mapping; unknown, repeated and nameless ones are reported. Undefined if it is not a mapping. */
export function keysOf(given: Given, rule: MappingRule, problems: Problems): ReadonlyMap<string, Given> | undefined {
  const { value: mapping } = given;
  if (typeof mapping !== 'object' || mapping?.kind !== 'mapping') {
    reportKind(given, rule.expected, problems);
    return undefined;
  }
  const keys = new Map<string, Given>();
  const lines = new Map<string, number | undefined>();
  for (const { key, value } of mapping.entries) {
    const name = key.value;
    if (typeof name !== 'string') {
      problems.report(key, `found ${kindOf(name)} as a key, expected one of ${oneOf(rule.keys)}`);
    } else if (!rule.keys.includes(name)) {
      problems.report(key, unknownKeyWords(name, rule));
    } else if (lines.has(name)) {
      problems.report({ ...key, key: name }, `found a second time, first on line ${lines.get(name)}; keep one`);
    } else {
      keys.set(name, value);
      lines.set(name, key.position?.line);
      if (value.fault !== undefined) problems.report(value, value.fault);
    }
  }
  // A misspelt key is one mistake: it stands for the one that was meant, without a value.
  for (const { key, value } of mapping.entries) {
    const meant = typeof key.value === 'string' ? meantKey(key.value, rule) : undefined;
    if (meant !== undefined && !keys.has(meant)) keys.set(meant, { ...value, value: undefined });
  }
  return keys;
}

/**
 * The entries of a mapping whose keys are chosen by the user, such as periods or labels. A number as a key is its source
 * text. Other keys that are not text, and repeated keys, are reported. Undefined if it is not a mapping.
 */
export function entriesOf(given: Given, expected: string, problems: Problems): ReadonlyMap<string, Given> | undefined {
  const { value: mapping } = given;
  if (typeof mapping !== 'object' || mapping?.kind !== 'mapping') {
    reportKind(given, expected, problems);
    return undefined;
  }
  const entries = new Map<string, Given>();
  for (const { key, value } of mapping.entries) {
    const name = typeof key.value === 'number' ? (key.source ?? String(key.value)) : key.value;
    if (typeof name !== 'string' || name === '') {
      problems.report(key, `found ${kindOf(key.value)} as a key, expected ${expected}; put it in quotes`);
    } else if (entries.has(name)) {
      problems.report({ ...key, key: name }, 'found a second time; keep one');
    } else {
      entries.set(name, { ...value, key: name });
      if (value.fault !== undefined) problems.report(value, value.fault);
    }
  }
  return entries;
}

/** The key that an unknown one was probably meant to be; undefined for a known one, and for one that belongs elsewhere. */
export function meantKey(name: string, { keys, elsewhere }: MappingRule): string | undefined {
  const [word = ''] = /^[\w.-]*/.exec(name) ?? [];
  if (keys.includes(name) || elsewhere?.some((other) => other.keys.includes(name))) return undefined;
  return keys.includes(word) ? word : nearest(word, keys);
}

/** An unknown key, and what to do. Only its first word is shown: in `{ token abc }` its value, a secret, is part of it. */
export function unknownKeyWords(name: string, rule: MappingRule): string {
  const { keys, elsewhere } = rule;
  const [word = ''] = /^[\w.-]*/.exec(name) ?? [];
  const isWord = word === name;
  return `unknown key ${quoted(isWord ? name : `${word}…`)}; ${hint()}`;

  function hint(): string {
    if (!isWord && keys.includes(word)) return `write "${word}: " and then its value`;
    const home = elsewhere?.find((other) => other.keys.includes(name));
    if (home) return `it belongs to ${home.place}; move it there`;
    const guess = meantKey(name, rule);
    return guess ? `did you mean ${guess}? rename or remove it` : `expected one of ${oneOf(keys)}`;
  }
}

/** The items of a list; empty for anything else. Other values, empty lists and unresolved aliases are reported. */
export function itemsOf(given: Given, expected: string, problems: Problems): readonly Given[] {
  const { value: list } = given;
  if (typeof list !== 'object' || list?.kind !== 'list') {
    reportKind(given, expected, problems);
    return [];
  }
  if (list.items.length === 0) problems.report(given, `found an empty list, expected ${expected}`);
  for (const item of list.items) if (item.fault !== undefined) problems.report(item, item.fault);
  return list.items;
}

function reportKind(given: Given, expected: string, problems: Problems): void {
  if (given.value !== undefined) problems.report(given, `found ${kindOf(given.value)}, expected ${expected}`);
}

/** Every text and number under a key of this name, at any depth, as written and as parsed. */
export function* textsUnder(name: string, { value, source }: Given, isUnder = false): Generator<string> {
  if (value === null || typeof value !== 'object') {
    if (isUnder && (typeof value === 'string' || typeof value === 'number')) yield* [source ?? '', String(value)];
  } else if (value.kind === 'list') {
    for (const item of value.items) yield* textsUnder(name, item, isUnder);
  } else {
    for (const entry of value.entries) {
      yield* textsUnder(name, entry.key, isUnder);
      yield* textsUnder(name, entry.value, isUnder || entry.key.value === name);
    }
  }
}

/**
 * Parses an untrusted value; throws UsageError with what was found and what was expected. `source` is a number as it is
 * written: 5.000 and 5 are the same value.
 */
export type Parse<T> = (value: YamlValue, source?: string) => T;

/** Parses a value, if it is given; a mistake is reported and gives undefined. */
export function readValue<T>(given: Given | undefined, parse: Parse<T>, problems: Problems): T | undefined {
  if (given?.value === undefined) return undefined;
  try {
    return parse(given.value, given.source);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.report(given, error.message);
    return undefined;
  }
}

/** A non-empty text. */
export function parseText(value: YamlValue, maxLength = Number.POSITIVE_INFINITY): string {
  if (typeof value !== 'string') {
    const whatToDo = typeof value === 'number' || typeof value === 'boolean' ? 'put it in quotes' : 'write one';
    throw new UsageError(`found ${kindOf(value)}, expected a text; ${whatToDo}`);
  }
  if (value === '') throw new UsageError('found an empty text, expected a value; write one or remove the key');
  if (value.length > maxLength) {
    throw new UsageError(`found ${value.length} characters, expected at most ${maxLength}; shorten it`);
  }
  return value;
}

/** One of `choices`; the message for a mistake suggests a similar one. */
export function choiceParser<T extends string>(choices: readonly T[]): Parse<T> {
  return (value) => parseChoice(parseText(value, 100), choices);
}

/** True or false; as text if it comes from the environment or a reference. */
export const parseBoolean: Parse<boolean> = (value) => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return parseTrueOrFalse(value);
  throw new UsageError(`found ${kindOf(value)}, expected true or false`);
};

/** A whole number within inclusive bounds; as text if it comes from the environment or a reference. */
export function integerParser(min: number, max = Number.MAX_SAFE_INTEGER): Parse<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
  return (value, source) => {
    refuseSeparators(value, source);
    const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max) return number;
    const found = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? value : kindOf(value);
    throw new UsageError(`found ${found}, expected ${range}`);
  };
}

/** The kind of a value, without its content. */
export function kindOf(value: YamlValue): string {
  if (value === undefined) return 'an alias';
  if (value === null) return 'nothing';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'object') return `a ${value.kind}`;
  return typeof value === 'string' ? 'a text' : 'a number';
}
