import * as z from 'zod/mini';
import { UsageError } from '../base/errors.ts';
import {
  choiceParser,
  type Given,
  integerParser,
  kindOf,
  type MappingRule,
  meantKey,
  type Parse,
  type Problems,
  parseBoolean,
  unknownKeyWords,
} from './yaml.ts';

// What a YAML file may have, as zod schemas that explain mistakes in our words. docs/schema is written from the same ones.

export { z };
export type Shape<T = unknown> = z.ZodMiniType<T>;
type Issue = z.core.$ZodRawIssue;

/** For checks that also run beside other mistakes: every one is told at once. */
const always = { when: () => true };

/** Stands for a value that has a fault of its own. */
const unread = Symbol('unread');

/** A value as zod takes it. A number that is not written as JavaScript does is a function that gives it with its source. */
function plainOf({ value, source }: Given): unknown {
  if (value === undefined) return unread;
  if (typeof value === 'number' && source !== String(value)) return () => [value, source];
  if (value === null || typeof value !== 'object') return value;
  if (value.kind === 'list') return value.items.map(plainOf);
  // Without a prototype, a key may have any name.
  const plain = Object.create(null);
  for (const entry of value.entries) plain[nameOf(entry.key) ?? ''] ??= plainOf(entry.value);
  return plain;
}

/** A key as text: numbers as they are written. */
function nameOf({ value, source }: Given): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? (source ?? String(value)) : undefined;
}

/** Keys that are no text or are repeated, and aliases that cannot be followed. */
function reportFaults({ value, ...given }: Given, problems: Problems): void {
  if (given.fault !== undefined) problems.report(given, given.fault);
  if (typeof value !== 'object' || value === null) return;
  if (value.kind === 'list') for (const item of value.items) reportFaults(item, problems);
  const lines = new Map<string, number | undefined>();
  for (const entry of value.kind === 'mapping' ? value.entries : []) {
    const name = nameOf(entry.key);
    if (name === undefined) problems.report(entry.key, `found ${kindOf(entry.key.value)} as a key, expected a text`);
    else if (lines.has(name)) {
      problems.report({ ...entry.key, key: name }, `found a second time, first on line ${lines.get(name)}; keep one`);
    } else lines.set(name, entry.key.position?.line);
    reportFaults(entry.value, problems);
  }
}

type Mapping = Extract<Given['value'], { readonly kind: 'mapping' }>;
type Entry = Mapping['entries'][number];

/** The entries of mappings by name: a file may have a hundred thousand mistakes. */
const indexes = new WeakMap<Mapping, ReadonlyMap<string | undefined, Entry>>();

function entryIn(mapping: Mapping, name: PropertyKey): Entry | undefined {
  const index =
    indexes.get(mapping) ?? new Map(mapping.entries.toReversed().map((entry) => [nameOf(entry.key), entry]));
  indexes.set(mapping, index);
  return index.get(String(name));
}

/** What a path leads to, as far as it goes. */
export function givenAt(given: Given, path: readonly PropertyKey[], isKey = false): Given {
  const [step, ...rest] = path;
  const { value } = given;
  if (step === undefined || typeof value !== 'object' || value === null) return given;
  const entry = value.kind === 'mapping' ? entryIn(value, step) : undefined;
  if (isKey && rest.length === 0 && entry !== undefined) return entry.key;
  const inner = value.kind === 'list' ? value.items[Number(step)] : entry?.value;
  if (inner === undefined) return given;
  // An entry of a list has no name of its own.
  const isEntry = value.kind === 'list' && typeof inner.value === 'object' && inner.value !== null;
  return givenAt({ ...inner, key: isEntry ? undefined : (inner.key ?? nameOf(entry?.key ?? inner)) }, rest, isKey);
}

/** What a mapping has for a key. */
export function valueIn(given: Given, key: string): Given | undefined {
  const found = givenAt(given, [key]);
  return found === given ? undefined : found;
}

/** Whether something in it could not be read, because a variable is not set. */
export function isMissingKey({ value }: Given): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined;
  return value.kind === 'list'
    ? value.items.some(isMissingKey)
    : value.entries.some((entry) => isMissingKey(entry.value));
}

/** The items of a list; none of anything else. */
export function itemsIn({ value }: Given): readonly Given[] {
  return typeof value === 'object' && value?.kind === 'list' ? value.items : [];
}

/** The entries of what was read, in the order in which they are written. */
export function inOrder<T>({ value }: Given, read: Readonly<Record<string, T>>): [string, T][] {
  const names =
    typeof value === 'object' && value?.kind === 'mapping' ? value.entries.map(({ key }) => nameOf(key)) : [];
  return Object.entries(read).toSorted(([one], [other]) => names.indexOf(one) - names.indexOf(other));
}

/** Reads a value with a schema. Undefined if there is a mistake: every one is reported at its place. */
export function readAs<T>(given: Given, shape: Shape<T>, problems: Problems): T | undefined {
  reportFaults(given, problems);
  const read = z.safeParse(shape, plainOf(given));
  for (const { path, message, ...issue } of read.error?.issues ?? []) {
    const place = givenAt(given, path, 'params' in issue && issue.params?.['isKey']);
    if (place.value !== undefined) problems.report(place, message);
  }
  return read.data;
}

/** A single value: `parse` reads it, and throws UsageError. `json` says what can be said of it in a JSON schema. */
export function single<T>(parse: Parse<T>, json: Readonly<Record<string, unknown>> = { type: 'string', minLength: 1 }) {
  const read = z.transform((value: unknown, { issues }): T => {
    try {
      if (value === undefined || value === unread) return undefined as T;
      const [number, source] = typeof value === 'function' ? value() : [value];
      return parse(number, source);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      issues.push({ code: 'custom', message: error.message, input: value });
      return undefined as T;
    }
  });
  return z.pipe(z.unknown(), read).register(z.globalRegistry, json);
}

export const flag = single(parseBoolean, { type: 'boolean' });

/** A whole number within inclusive bounds; as text if a reference gives it. */
export function whole(minimum: number, maximum: number) {
  const text = { type: 'string', pattern: '^([0-9]{1,16}|.*\\$\\{.*\\}.*)$' };
  return single(integerParser(minimum, maximum), { anyOf: [{ type: 'integer', minimum, maximum }, text] });
}

/** One of some texts. */
export function choice<T extends string>(choices: readonly T[]) {
  return single(choiceParser(choices), { enum: choices });
}

/** A mapping of these keys. `needed` says what is expected of keys that must be there. */
export function mapping<T extends Record<string, z.ZodMiniType>>(
  shape: T,
  { needed = {}, ...rule }: Omit<MappingRule, 'keys'> & { readonly needed?: { readonly [Key in keyof T]?: string } },
) {
  const keys = Object.keys(shape);
  return z.strictObject(shape, { error: ({ input }) => `found ${kindIn(input)}, expected ${rule.expected}` }).check(
    z.check((payload) => {
      const unknown = payload.issues.flatMap((issue) =>
        issue.code === 'unrecognized_keys' && (issue.path ?? []).length === 0 ? issue.keys : [],
      );
      // A misspelt key is one mistake: the one that was meant is not missing.
      const meant = unknown.map((name) => meantKey(name, { keys, ...rule }));
      payload.issues = payload.issues.flatMap((issue): Issue | Issue[] => {
        const [key, ...deeper] = issue.path ?? [];
        if (issue.code === 'unrecognized_keys' && key === undefined) {
          return issue.keys.map((name) => {
            const message = unknownKeyWords(name, { keys, ...rule });
            return { code: 'custom', path: [name], message, params: { isKey: true }, input: name };
          });
        }
        if (key === undefined || issue.input !== undefined || deeper.length > 0 || String(key) in payload.value)
          return issue;
        if (meant.includes(String(key))) return [];
        return { ...issue, message: `found no ${String(key)}, expected ${needed[String(key)] ?? 'one'}; add it` };
      });
    }, always),
  );
}

/** The keys of a mapping, also of one that is read into something else; none of any other shape. */
export function keysOfShape(shape: z.core.$ZodType): readonly string[] {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'pipe') return keysOfShape(def.in);
  return def.type === 'object' ? Object.keys(def.shape) : [];
}

/** A list with at least one item. */
export function list<T extends z.ZodMiniType>(item: T, expected: string) {
  return z
    .array(item, { error: ({ input }) => `found ${kindIn(input)}, expected ${expected}` })
    .check(z.minLength(1, { error: `found an empty list, expected ${expected}` }));
}

/** A mapping whose keys the user chooses. */
export function named<T extends z.ZodMiniType>(values: T, expected: string) {
  return z.record(z.string(), values, { error: ({ input }) => `found ${kindIn(input)}, expected ${expected}` });
}

/** A single value, or a mapping or list in its place: the mistakes of the one that was probably meant are told. */
export function either<A extends z.ZodMiniType, B extends z.ZodMiniType>(one: A, other: B) {
  return z.union([one, other]).check(
    z.check((payload) => {
      payload.issues = payload.issues.flatMap((issue): Issue | Issue[] => {
        if (issue.code !== 'invalid_union') return issue;
        const isOther = typeof issue.input === 'object' && issue.input !== null;
        return (issue.errors[isOther ? 1 : 0] ?? []).map((own) => ({ ...own, input: issue.input }) as Issue);
      });
    }, always),
  );
}

/** One value, or a list of them. */
export function oneOrMore<T>(item: z.ZodMiniType<T>, expected: string) {
  return z.pipe(
    either(item, list(item, expected)),
    z.transform((value): readonly T[] => (Array.isArray(value) ? value : [value])),
  );
}

/** What values ask of each other; a path leads to the mistake. Runs also beside other mistakes. */
export function rule<T>(
  check: (value: T, report: (message: string, ...path: PropertyKey[]) => void, isSound: boolean) => void,
) {
  return z.check<T>(({ value, issues }) => {
    // Another kind of value is a mistake of its own, and so is a value at the place of a mistake.
    if (issues.some(({ code, path = [] }) => code === 'invalid_type' && path.length === 0)) return;
    for (const { path = [] } of issues) forget(value, path);
    const report = (message: string, ...path: PropertyKey[]) =>
      issues.push({ code: 'custom', path, message, input: value });
    check(value, report, issues.length === 0);
  }, always);
}

/** What stands in a list again: its index, and that of the first. Mistakes are left out. */
export function repeatedIn<T>(values: readonly (T | undefined)[]): { value: T; index: number; first: number }[] {
  const firsts = new Map<T, number>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    const first = firsts.get(value);
    if (first === undefined) firsts.set(value, index);
    return first === undefined ? [] : [{ value, index, first }];
  });
}

/** Removes what a path leads to: where there is a mistake, nobody uses what was read. */
function forget(value: unknown, [key, ...rest]: readonly PropertyKey[]): void {
  if (key === undefined || typeof value !== 'object' || value === null || !(key in value)) return;
  if (rest.length > 0) forget(value[key as keyof typeof value], rest);
  else Object.assign(value, { [key]: undefined });
}

function kindIn(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a number';
  return typeof value === 'object' && value !== null ? 'a mapping' : kindOf(value as Given['value']);
}
