import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import {
  choiceParser,
  entriesOf,
  type Given,
  gatherProblems,
  itemsOf,
  keysOf,
  type MappingRule,
  type Parse,
  type Place,
  type Problems,
  parseText,
  parseYaml,
  readValue,
  readYamlFile,
} from '../config/index.ts';
import { oneOf, quoted } from '../text/choices.ts';
import { starsFault } from '../text/star-pattern.ts';
import { floorHour, formatInstant, parseInstant } from '../time/time.ts';
import {
  type Condition,
  type Definition,
  defaultRule,
  fields,
  type OwnerEntry,
  ownerText,
  type Rule,
  type Split,
} from './definition.ts';
import { type Lookup, readLookup } from './lookup.ts';
import { unreachableRules, type WrittenRule } from './unreachable.ts';

/** The rules of a project, and warnings about rules that are valid but probably not intended. */
export interface Allocation {
  readonly definition: Definition;
  /** A sentence each, with file, line and column. */
  readonly warnings: readonly string[];
}

export interface AllocationInput {
  readonly text: string;
  /** The file's path. Errors name it, and lookup tables are in its folder. */
  readonly file: string;
}

const topKeys = ['dimensions', 'aliases', 'rules', 'default'] as const;
const ruleKeys = ['name', 'when', 'table', 'from', 'until', 'owner', 'split'] as const;
const whenKeys = [...fields, 'label'] as const;
const splitKeys = ['by', 'over', 'billing_dimension', 'weights'] as const;
const labelKeys = ['label', 'otherwise'] as const;

/** The keys of an allocation file by level; its JSON schema is generated from them. */
export const allocationKeys = {
  top: topKeys,
  rule: ruleKeys,
  when: whenKeys,
  split: splitKeys,
  label: labelKeys,
} as const;

const topRule: MappingRule = {
  keys: topKeys,
  expected: 'keys, such as rules: …',
  elsewhere: [{ keys: ruleKeys, place: 'an entry of rules' }],
};
const ruleRule: MappingRule = {
  keys: ruleKeys,
  expected: 'an entry such as - name: …',
  elsewhere: [
    { keys: topKeys, place: 'the top level' },
    { keys: whenKeys, place: 'when' },
    { keys: splitKeys, place: 'split' },
  ],
};
const whenRule: MappingRule = {
  keys: whenKeys,
  expected: 'fields and their values, such as workspace: production',
  elsewhere: [{ keys: ruleKeys, place: 'the rule' }],
};
const splitRule: MappingRule = {
  keys: splitKeys,
  expected: 'how to split, such as by: cost',
  elsewhere: [{ keys: ruleKeys, place: 'the rule' }],
};
const labelRule: MappingRule = { keys: labelKeys, expected: 'a text, or label: <key>' };

const usualDimensions = ['team', 'product', 'environment'];
const maxRules = 1000;

/** The path of a project's allocation rules. */
export function allocationFile(dir: string): string {
  return join(dir, 'jobs', 'allocation.yaml');
}

/**
 * Reads allocation rules from a file, and the lookup tables next to it. Returns undefined if the file does not exist.
 * Throws one UsageError that lists every mistake with file, line and column.
 */
export function loadAllocation(file: string): Allocation | undefined {
  const text = readYamlFile(file);
  if (text !== undefined) return isAllComment(text) ? undefined : parseAllocation({ text, file });
  if (existsSync(file)) throw new UsageError(`${file}: cannot be read`);
  return undefined;
}

/** Whether every line is a comment, as in the file that `init` writes. */
function isAllComment(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0 && lines.every((line) => /^\s*#/.test(line));
}

/** Reads allocation rules, and their lookup tables from the file's folder. Throws as `loadAllocation` does. */
export function parseAllocation({ text, file }: AllocationInput): Allocation {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(text, file, problems);
  const top = isSound && root.value !== null ? keysOf(root, topRule, problems) : new Map<string, Given>();
  const warnings: string[] = [];
  let definition: Definition = { dimensions: usualDimensions, aliases: [], rules: [] };
  if (top !== undefined && isSound) {
    const dimensions = readDimensions(top.get('dimensions'), problems);
    const reading: Reading = { file, problems, dimensions };
    const written = readRules(top.get('rules'), reading);
    const fallback: Rule = {
      ...{ name: defaultRule, from: null, until: null, conditions: [], split: null },
      owner: readDefault(top.get('default'), reading),
    };
    const aliases = readAliases(top.get('aliases'), reading);
    definition = { dimensions, aliases, rules: [...written.map(({ rule }) => rule), fallback] };
    for (const { rule, by, place } of unreachableRules(written)) {
      warnings.push(
        `${place.where}: the rule ${quoted(rule.name)} can never match, because ${quoted(by.name)} above it matches ` +
          `all of its costs; move ${quoted(rule.name)} above ${quoted(by.name)}, or remove it`,
      );
    }
  }
  problems.throwIfAny();
  return { definition, warnings };
}

/** State that all steps of one parse share. */
interface Reading {
  readonly file: string;
  readonly problems: Problems;
  readonly dimensions: readonly string[];
}

function readDimensions(given: Given | undefined, problems: Problems): readonly string[] {
  if (given === undefined) return usualDimensions;
  const names = itemsOf(given, 'names of dimensions of an owner, such as [team, product]', problems).flatMap((item) => {
    const name = readValue(item, parseDimension, problems);
    return name === undefined ? [] : [{ item, name }];
  });
  for (const [index, { item, name }] of names.entries()) {
    if (names.findIndex((other) => other.name === name) < index) {
      problems.report(item, `found ${quoted(name)} a second time; keep one`);
    }
  }
  if (names.length > 20) problems.report(given, `found ${names.length} dimensions, expected at most 20; remove some`);
  return names.length === 0 ? usualDimensions : names.map(({ name }) => name);
}

const parseDimension: Parse<string> = (value) => {
  const name = parseText(value, 60);
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new UsageError(`found ${quoted(name)}, expected a name of lowercase letters, digits and _`);
  }
  if (whenKeys.some((field) => field === name)) {
    throw new UsageError(`found ${quoted(name)}, which is the name of a field of the platform; choose another name`);
  }
  return name;
};

function readAliases(given: Given | undefined, { problems }: Reading): Definition['aliases'] {
  if (given === undefined) return [];
  const aliases: { label: string; alias: string; value: string }[] = [];
  for (const [label, values] of entriesOf(given, 'labels, such as team: {checkout: [chekout]}', problems) ?? []) {
    const lists = entriesOf(values, 'values with their other spellings, such as checkout: [chekout]', problems) ?? [];
    for (const [value, spellings] of lists) {
      for (const { place, text } of readTexts(spellings, problems)) {
        if (text === null) continue;
        const other = aliases.find((known) => known.label === label && known.alias === text);
        if (text === value)
          problems.report(place, `found ${quoted(text)}, which is the value itself, not another spelling; remove it`);
        else if (other !== undefined) {
          problems.report(
            place,
            `found ${quoted(text)}, which is already an alias of ${quoted(other.value)}; keep one`,
          );
        } else aliases.push({ label, alias: text, value });
      }
    }
  }
  for (const { label, alias, value } of aliases) {
    const next = aliases.find((known) => known.label === label && known.alias === value);
    if (next !== undefined) {
      problems.report(
        given,
        `found ${quoted(alias)} as an alias of ${quoted(value)}, which is itself an alias of ${quoted(next.value)}; list both under ${quoted(next.value)}`,
      );
    }
  }
  return aliases;
}

function readRules(given: Given | undefined, reading: Reading): WrittenRule[] {
  const { problems, file } = reading;
  if (given === undefined) {
    problems.report({ where: file }, 'found no rules, expected a list with an entry such as - name: …');
    return [];
  }
  const items = itemsOf(given, 'a list with an entry such as - name: …', problems);
  if (items.length > maxRules) {
    problems.report(given, `found ${items.length} rules, expected at most ${maxRules}; use a lookup table`);
    return [];
  }
  const rules = items.flatMap((item) => readRule(item, reading));
  const names = new Map<string, Place>();
  for (const { rule, place } of rules) {
    const first = names.get(rule.name);
    if (first === undefined) names.set(rule.name, place);
    else if (rule.name !== '') {
      problems.report(
        place,
        `found the name ${quoted(rule.name)} a second time, first on line ${first.position?.line}`,
      );
    }
  }
  return rules;
}

function readRule(given: Given, reading: Reading): WrittenRule[] {
  const { problems, dimensions, file } = reading;
  const keys = keysOf(given, ruleRule, problems);
  if (keys === undefined) return [];
  const place: Place = { where: given.where, position: given.position };
  const name = readValue(keys.get('name'), parseRuleName, problems) ?? '';
  if (!keys.has('name')) problems.report(place, 'found no name, expected one in each rule; write name: …');
  const what = name === '' ? 'a rule' : `the rule ${quoted(name)}`;

  const conditions: Condition[] = [];
  let number = 0;
  function add(field: string, alternatives: readonly Omit<Condition, 'number' | 'field'>[]): void {
    if (alternatives.length === 0) return;
    number += 1;
    // One by one: a lookup table may have more lines than a call takes arguments.
    for (const alternative of alternatives) conditions.push({ number, field, ...alternative });
  }
  const when = keys.get('when');
  for (const [key, value] of (when && keysOf(when, whenRule, problems)) ?? []) {
    if (key !== 'label') {
      add(key, readPatterns(value, problems));
      continue;
    }
    const labels = entriesOf(value, 'labels and their values, such as {team: checkout}', problems) ?? [];
    for (const [label, texts] of labels) add(`label:${label}`, readPatterns(texts, problems));
  }

  const table = keys.get('table');
  const lookup = table && readTable(table, reading);
  const splitGiven = keys.get('split');
  const ownerGiven = keys.get('owner');
  if (splitGiven !== undefined && (ownerGiven ?? table) !== undefined) {
    problems.report(splitGiven, 'found together with an owner or a table, expected only one; remove the other');
  }
  if ((splitGiven ?? ownerGiven ?? table) === undefined) {
    problems.report(place, `${what}: found no owner, table or split, expected one of them`);
  }
  const owner = ownerGiven === undefined ? [] : readOwner(ownerGiven, reading);
  for (const entry of owner) {
    if (lookup?.dimensions.includes(entry.dimension)) {
      problems.report(
        ownerGiven ?? place,
        `found ${entry.dimension}, which is also a column of the lookup table; keep one`,
      );
    }
    // The rule needs the label, unless otherwise: … replaces it.
    if (entry.label !== null && !entry.hasOtherwise) {
      add(`label:${entry.label}`, [{ kind: 'like', value: '%', owner: null }]);
    }
  }
  if (lookup !== undefined) {
    add(
      lookup.field,
      lookup.lines.map(({ key, owner: values }) => ({
        ...{ kind: 'is' as const, value: key },
        owner: ownerText(
          dimensions.filter((dimension) => values.has(dimension)),
          values,
        ),
      })),
    );
  }

  const from = readInstantLimit(keys.get('from'), problems);
  const until = readInstantLimit(keys.get('until'), problems);
  if (from !== null && until !== null && from >= until) {
    problems.report(
      keys.get('until') ?? place,
      `found ${until}, expected an instant after from (${from}), because until is exclusive`,
    );
  }
  const split = splitGiven === undefined ? null : readSplit(splitGiven, { ...reading, file });
  const rule: Rule = {
    ...{ name, from, until, conditions },
    owner: owner.map(({ dimension, value, label }) => ({ dimension, value, label })),
    split,
  };
  return [{ rule, place }];
}

const parseRuleName: Parse<string> = (value) => {
  const name = parseText(value, 100);
  if (name === defaultRule) {
    throw new UsageError(
      `found ${quoted(name)}, which is reserved for costs that no rule matches; choose another name`,
    );
  }
  if (/\p{Cc}/u.test(name) || name.trim() !== name) {
    throw new UsageError(`found ${quoted(name)}, expected one line without spaces before or after it`);
  }
  return name;
};

function readTable(given: Given, { file, problems, dimensions }: Reading): Lookup | undefined {
  const name = readValue(given, parseTableName, problems);
  return name === undefined ? undefined : readLookup(join(dirname(file), name), dimensions, problems);
}

const parseTableName: Parse<string> = (value) => {
  const name = parseText(value, 200);
  if (/^[\w.-]+\.csv$/i.test(name)) return name;
  throw new UsageError(`found ${quoted(name)}, expected the name of a CSV file in the same folder, such as owners.csv`);
};

/** The texts of a single value or of a list; null means that the field must be absent. */
function readTexts(given: Given, problems: Problems): { readonly place: Place; readonly text: string | null }[] {
  const { value } = given;
  const items =
    typeof value === 'object' && value?.kind === 'list' ? itemsOf(given, 'one or more values', problems) : [given];
  return items.flatMap((item): { readonly place: Place; readonly text: string | null }[] => {
    if (item.value === null) return [{ place: item, text: null }];
    const text = readValue(item, (untrusted) => parseText(untrusted, 1000), problems);
    return text === undefined ? [] : [{ place: item, text }];
  });
}

/** The accepted values of a field: texts, in which `*` matches any characters, or null if the field must be absent. */
function readPatterns(given: Given, problems: Problems): Omit<Condition, 'number' | 'field'>[] {
  return readTexts(given, problems).map(({ text, place }) => {
    const fault = text === null ? undefined : starsFault(text);
    if (fault !== undefined) problems.report(place, fault);
    if (text === null) return { kind: 'absent', value: null, owner: null };
    if (!text.includes('*')) return { kind: 'is', value: text, owner: null };
    return { kind: 'like', value: text.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%'), owner: null };
  });
}

/** Whether a mapping has no entries at all. Unknown keys are entries, and are reported on their own. */
function isEmpty({ value }: Given): boolean {
  return typeof value === 'object' && value?.kind === 'mapping' && value.entries.length === 0;
}

type ReadOwnerEntry = OwnerEntry & { readonly hasOtherwise: boolean };

function readOwner(given: Given, { dimensions, problems }: Reading): ReadOwnerEntry[] {
  const example = `an owner such as {${dimensions[0]}: …}`;
  const keys = keysOf(given, { keys: dimensions, expected: example }, problems);
  if (isEmpty(given)) problems.report(given, `found no owner, expected ${example}`);
  return [...(keys ?? [])].flatMap(([dimension, value]): ReadOwnerEntry[] => {
    if (typeof value.value !== 'object' || value.value === null) {
      const text = readValue(value, parseOwnerName, problems);
      return text === undefined ? [] : [{ dimension, value: text, label: null, hasOtherwise: true }];
    }
    const entry = keysOf(value, labelRule, problems);
    if (entry === undefined) return [];
    const label = readValue(entry.get('label'), (untrusted) => parseText(untrusted, 200), problems);
    const otherwise = entry.get('otherwise');
    const fallback = otherwise?.value === null ? null : (readValue(otherwise, parseOwnerName, problems) ?? null);
    if (isEmpty(value) || (entry.has('otherwise') && !entry.has('label')))
      problems.report(value, 'found no label, expected the key of a label; write label: …');
    return label === undefined ? [] : [{ dimension, label, value: fallback, hasOtherwise: otherwise !== undefined }];
  });
}

const parseOwnerName: Parse<string> = (value) => parseText(value, 200);

function readDefault(given: Given | undefined, reading: Reading): OwnerEntry[] {
  if (given === undefined) return [];
  return readOwner(given, reading).map(({ dimension, value, label, hasOtherwise }) => {
    if (label !== null && !hasOtherwise) {
      reading.problems.report(
        given,
        `found ${dimension} from a label alone, expected also otherwise: …, the owner of costs without that label`,
      );
    }
    return { dimension, value, label };
  });
}

/** The start or end of a rule's validity: a whole hour such as `2026-10-01T00:00:00Z`, or null if none is given. */
function readInstantLimit(given: Given | undefined, problems: Problems): string | null {
  const instant = readValue(given, parseInstantLimit, problems);
  return instant ?? null;
}

const parseInstantLimit: Parse<string> = (value) => {
  const expected = 'a date such as 2026-10-01, 2026-10 or 2026-10-01T06:00:00Z, a whole hour in UTC';
  if (typeof value !== 'string' || value.startsWith('-')) {
    throw new UsageError(`found ${typeof value === 'string' ? quoted(value) : 'no date'}, expected ${expected}`);
  }
  let instant: number;
  try {
    instant = parseInstant(value, '', 0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`found ${quoted(value)}, expected ${expected}`);
  }
  if (floorHour(instant) !== instant) throw new UsageError(`found ${quoted(value)}, expected ${expected}`);
  return formatInstant(instant);
};

/** The ways to split shared cost. */
export const ways = ['cost', 'evenly', 'weights', 'usage'] as const;

function readSplit(given: Given, { dimensions, problems }: Reading): Split | null {
  const keys = keysOf(given, splitRule, problems);
  if (keys === undefined) return null;
  const by = readValue(keys.get('by'), choiceParser(ways), problems);
  if (!keys.has('by')) problems.report(given, `found no by, expected by: with one of ${oneOf(ways)}`);
  const overGiven = keys.get('over');
  const over =
    overGiven === undefined
      ? dimensions
      : itemsOf(overGiven, `dimensions such as [${dimensions[0]}]`, problems).flatMap((item) => {
          const name = readValue(item, choiceParser(dimensions), problems);
          return name === undefined ? [] : [name];
        });
  if (by === undefined) return null;
  for (const [key, needed] of [
    ['billing_dimension', 'usage'],
    ['weights', 'weights'],
  ] as const) {
    const own = keys.get(key);
    if (by === needed && own === undefined)
      problems.report(given, `found no ${key}, which by: ${needed} needs; add it`);
    if (by !== needed && own !== undefined) {
      problems.report(own, `found with by: ${by}, expected it only with by: ${needed}; remove it, or change by`);
    }
  }
  if (by === 'weights' && overGiven !== undefined) {
    problems.report(overGiven, 'found with by: weights, where the weights name the owners; remove it');
  }
  const usage =
    by === 'usage' ? readValue(keys.get('billing_dimension'), (value) => parseText(value, 200), problems) : null;
  const weights = keys.get('weights');
  return {
    ...{ by, over, billing_dimension: usage ?? null },
    owners: by === 'weights' && weights !== undefined ? readWeights(weights, dimensions, problems) : null,
  };
}

function readWeights(
  given: Given,
  dimensions: readonly string[],
  problems: Problems,
): { owner: string; weight: string }[] {
  const example = `a list of owners with weights, such as - {${dimensions[0]}: …, weight: 2}`;
  const owners: { owner: string; weight: string }[] = [];
  for (const item of itemsOf(given, example, problems)) {
    const keys = keysOf(item, { keys: [...dimensions, 'weight'], expected: example }, problems);
    if (keys === undefined) continue;
    const weight = readValue(keys.get('weight'), parseWeight, problems);
    if (!keys.has('weight')) problems.report(item, 'found no weight, expected a number such as 2 or 0.5');
    const values = new Map<string, string>();
    for (const dimension of dimensions) {
      const value = readValue(keys.get(dimension), parseOwnerName, problems);
      if (value !== undefined) values.set(dimension, value);
    }
    const owner = ownerText(dimensions, values);
    if (!dimensions.some((dimension) => keys.has(dimension)))
      problems.report(item, `found no owner, expected ${example}`);
    else if (owners.some((other) => other.owner === owner))
      problems.report(item, 'found the same owner a second time; keep one');
    else owners.push({ owner, weight: weight ?? '0' });
  }
  return owners;
}

/** A weight as decimal text: at least 0, with at most six digits before the point and six after it. */
const parseWeight: Parse<string> = (value) => {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,6}(\.\d{1,6})?$/.test(text)) return text;
  const found = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? value : 'no number';
  throw new UsageError(`found ${found}, expected a number of at least 0 such as 2 or 0.5, with at most 6 decimals`);
};
