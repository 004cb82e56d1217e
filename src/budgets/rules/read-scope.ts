import { UsageError } from '../../base/errors.ts';
import { quoted } from '../../text/choices.ts';
import { starsFault } from '../../text/star-pattern.ts';
import {
  entriesOf,
  type Given,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  readValue,
} from '../../yaml/index.ts';
import type { BudgetScope } from './budget.ts';
import { scopeRule, scopeTexts } from './file-keys.ts';

/** One text, or a list of texts. Reports repeated ones. Undefined if the key is missing. */
export function readNames(
  given: Given | undefined,
  parse: Parse<string>,
  expected: string,
  problems: Problems,
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const isList = typeof given.value === 'object' && given.value?.kind === 'list';
  const names: string[] = [];
  for (const item of isList ? itemsOf(given, expected, problems) : [given]) {
    const name = readValue(item, parse, problems);
    if (name === undefined) continue;
    if (names.includes(name)) problems.report(item, `found ${quoted(name)} a second time; keep one`);
    else names.push(name);
  }
  return names;
}

/** Refuses a value with what was found and what was expected. */
export function refuse(found: string, expected: string): never {
  throw new UsageError(`found ${found}, expected ${expected}`);
}

const parseScopeText: Parse<string> = (value) => parseText(value, 500);

const parsePattern: Parse<string> = (value) => {
  const text = parseScopeText(value);
  const fault = starsFault(text);
  if (fault !== undefined) throw new UsageError(fault);
  return text;
};

/** A name without a pattern. In this field, a star would only match a star. */
const parseExactText: Parse<string> = (value) => {
  const text = parseScopeText(value);
  if (!text.includes('*')) return text;
  return refuse(quoted(text), 'a name without *, which only resource_name supports; list the names');
};

const examples = {
  owner: 'a dimension of the allocation and its owner such as team: search',
  label: 'a label and its value such as tier: gold',
};

export function readScope(given: Given | undefined, scopePlaces: Map<string, Place>, problems: Problems): BudgetScope {
  const keys = given && keysOf(given, scopeRule, problems);
  if (keys === undefined) return {};
  const scope: Record<string, BudgetScope[keyof BudgetScope]> = {};
  for (const key of scopeTexts) {
    const parse = key === 'resource_name' ? parsePattern : parseExactText;
    const names = readNames(keys.get(key), parse, `a list of names`, problems);
    if (names !== undefined) scope[key] = names;
  }
  for (const group of ['owner', 'label'] as const) {
    const named = keys.get(group);
    const entries = named && entriesOf(named, examples[group], problems);
    if (named === undefined || entries === undefined) continue;
    if (entries.size === 0) problems.report(named, `found no entry, expected ${examples[group]}`);
    scope[group] = Object.fromEntries(
      [...entries].map(([name, entry]) => {
        scopePlaces.set(`${group}.${name}`, entry);
        return [name, readNames(entry, parseExactText, 'a list of values', problems) ?? []];
      }),
    );
  }
  const label = keys.get('label');
  if (label !== undefined && keys.has('owner')) {
    problems.report(
      label,
      'found together with owner, expected only one of the two; an allocation rule can match labels',
    );
  }
  for (const [key, entry] of keys) scopePlaces.set(key, entry);
  return scope as BudgetScope;
}
