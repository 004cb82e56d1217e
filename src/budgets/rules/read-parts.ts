import { quoted } from '../../text/choices.ts';
import { type Given, itemsOf, keysOf, type Parse, type Place, type Problems, readValue } from '../../yaml/index.ts';
import type { BudgetScope } from './budget.ts';
import { partRule } from './file-keys.ts';
import { readScope } from './read-scope.ts';

/** A part of a shared budget, with the places of its scope. */
export interface PartWritten {
  readonly name: string;
  readonly scope: BudgetScope;
  readonly place: Place;
  readonly scopePlaces: ReadonlyMap<string, Place>;
}

/** The parts of a budget. Reports parts that may include the same costs. */
export function readParts(
  given: Given | undefined,
  parseName: Parse<string>,
  problems: Problems,
): readonly PartWritten[] {
  if (given === undefined) return [];
  const parts: PartWritten[] = [];
  const items = itemsOf(given, 'a list of parts such as - { name: search, scope: { workspace: search } }', problems);
  for (const item of items) {
    const keys = keysOf(item, partRule, problems);
    if (keys === undefined) continue;
    for (const key of partRule.keys) {
      if (!keys.has(key)) problems.report(item, `found no ${key}, expected ${partRule.expected}; add it`);
    }
    const name = readValue(keys.get('name'), parseName, problems);
    const scopePlaces = new Map<string, Place>();
    const scope = readScope(keys.get('scope'), scopePlaces, problems);
    if (name === undefined || !keys.has('scope')) continue;
    const place = keys.get('name') ?? item;
    if (parts.some((part) => part.name === name))
      problems.report(place, `found the part ${quoted(name)} a second time; rename one`);
    const overlapping = parts.find((part) => !areDisjoint(part.scope, scope));
    if (overlapping !== undefined) {
      problems.report(
        place,
        `found ${quoted(overlapping.name)} and ${quoted(name)}, which may include the same costs, expected different values ` +
          'of one key, such as workspace or owner: team',
      );
    }
    parts.push({ name, scope, place, scopePlaces });
  }
  return parts;
}

/** The exact values of a scope by key: `workspace`, `owner.team`. A resource name may be a pattern and is left out. */
export function exactValues({
  owner = {},
  label = {},
  resource_name: _,
  unit: __,
  ...texts
}: BudgetScope): ReadonlyMap<string, readonly string[]> {
  const entries = [
    ...Object.entries(texts),
    ...Object.entries(owner).map(([key, values]) => [`owner.${key}`, values] as const),
    ...Object.entries(label).map(([key, values]) => [`label.${key}`, values] as const),
  ];
  return new Map(entries.flatMap(([key, values]) => (values === undefined ? [] : [[key, values] as const])));
}

/** Whether no cost can be in both scopes: one key has different values. */
function areDisjoint(a: BudgetScope, b: BudgetScope): boolean {
  const others = exactValues(b);
  return [...exactValues(a)].some(([key, values]) => {
    const other = others.get(key);
    return other !== undefined && !values.some((value) => other.includes(value));
  });
}

/** The scope of a budget that only names parts: all their values of the one key that they name; undefined if there are more. */
export function scopeOfParts(parts: readonly PartWritten[]): BudgetScope | undefined {
  const values = parts.map(({ scope }) => exactValues(scope));
  const [key, second] = [...new Set(values.flatMap((own) => [...own.keys()]))];
  const isOfNames = parts.some(({ scope }) => scope.resource_name !== undefined);
  if (key === undefined || second !== undefined || isOfNames || values.some((own) => own.size !== 1)) return undefined;
  const all = [...new Set(values.flatMap((own) => own.get(key) ?? []))];
  const [, group, name = ''] = /^(owner|label)\.(.+)$/s.exec(key) ?? [];
  return group === undefined ? { [key]: all } : { [group]: { [name]: all } };
}
