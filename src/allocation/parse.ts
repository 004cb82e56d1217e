import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { oneOf, quoted } from '../text/choices.ts';
import { starsFault } from '../text/star-pattern.ts';
import { floorHour, formatInstant, parseInstant } from '../time/time.ts';
import {
  choice,
  either,
  type Given,
  gatherProblems,
  givenAt,
  inOrder,
  itemsIn,
  list,
  mapping,
  named,
  oneOrMore,
  type Parse,
  parseText,
  parseYaml,
  readAs,
  readYamlFile,
  repeatedIn,
  rule,
  single,
  z,
} from '../yaml/index.ts';
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

/** The keys that a rule has beside its condition, and those of its parts. */
const elsewhere = {
  top: { keys: ['dimensions', 'aliases', 'rules', 'default'], place: 'the top level' },
  rule: { keys: ['name', 'when', 'table', 'from', 'until', 'owner', 'split'], place: 'the rule' },
  when: { keys: [...fields, 'label', 'workspace_label'], place: 'when' },
  split: { keys: ['by', 'over', 'billing_dimension', 'weights'], place: 'split' },
};

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
export function parseAllocation({ text: source, file }: AllocationInput): Allocation {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(source, file, problems);
  if (!isSound) problems.throwIfAny();
  const top = root.value === null ? { ...root, value: noKeys } : root;
  const named = givenAt(top, ['dimensions']);
  const dimensions = (named !== top && readAs(named, dimensionsShape, gatherProblems())) || usualDimensions;
  const tables = itemsIn(givenAt(top, ['rules'])).map((item) => {
    const given = givenAt(item, ['table']);
    const name = given === item ? undefined : readAs(given, single(parseTableName), gatherProblems());
    return name === undefined ? undefined : readLookup(join(dirname(file), name), dimensions, problems);
  });
  const read = readAs(top, allocationShape(dimensions, tables), problems);
  const written = (read?.rules ?? []).map((rule, index): WrittenRule => {
    const place = givenAt(top, ['rules', index]);
    return { rule: ruleOf(rule, place, tables[index], dimensions), place };
  });
  problems.throwIfAny();
  const owner = ownerOf(read?.default ?? {}, givenAt(top, ['default']));
  const fallback: Rule = { ...{ name: defaultRule, from: null, until: null, conditions: [], split: null }, owner };
  return {
    definition: { dimensions, aliases: read?.aliases ?? [], rules: [...written.map(({ rule }) => rule), fallback] },
    warnings: unreachableRules(written).map(
      ({ rule, by, place }) =>
        `${place.where}: the rule ${quoted(rule.name)} can never match, because ${quoted(by.name)} above it matches ` +
        `all of its costs; move ${quoted(rule.name)} above ${quoted(by.name)}, or remove it`,
    ),
  };
}

const noKeys = { kind: 'mapping', entries: [] } as const;

const dimensionsShape = list(
  single(
    (value) => {
      const name = parseText(value, 60);
      if (!/^[a-z][a-z0-9_]*$/.test(name)) {
        throw new UsageError(`found ${quoted(name)}, expected a name of lowercase letters, digits and _`);
      }
      if (!elsewhere.when.keys.includes(name)) return name;
      throw new UsageError(`found ${quoted(name)}, which is the name of a field of the platform; choose another name`);
    },
    { type: 'string', pattern: '^[a-z][a-z0-9_]*$' },
  ),
  'names of dimensions of an owner, such as [team, product]',
).check(
  rule((names, report) => {
    for (const { value, index } of repeatedIn(names)) report(`found ${quoted(value)} a second time; keep one`, index);
    if (names.length > 20) report(`found ${names.length} dimensions, expected at most 20; remove some`);
  }),
);

/** What an allocation file may have. */
export function allocationShape(dimensions: readonly string[], tables: readonly (Lookup | undefined)[] = []) {
  const owner = ownerShape(dimensions);
  const fallback = owner.check(
    rule((entries, report) => {
      for (const [dimension, { label, hasOtherwise } = usualEntry] of Object.entries(entries)) {
        if (label === null || hasOtherwise !== false) continue;
        report(
          `found ${dimension} from a label alone, expected also otherwise: …, the owner of costs without that label`,
        );
      }
    }),
  );
  const shape = {
    dimensions: z.optional(dimensionsShape),
    aliases: z.optional(aliasesShape),
    rules: list(ruleShape(dimensions, owner), 'a list with an entry such as - name: …').check(
      rule((rules, report) => {
        if (rules.length > maxRules) {
          report(`found ${rules.length} rules, expected at most ${maxRules}; use a lookup table`);
          return;
        }
        for (const { value, index, first } of repeatedIn(rules.map((one) => one?.name)))
          report(`found the name ${quoted(value)} a second time, first in rule ${first + 1}`, index);
        for (const [index] of rules.entries()) {
          for (const dimension of tables[index]?.dimensions ?? []) {
            if (dimension in (rules[index]?.owner ?? {}))
              report(`found ${dimension}, which is also a column of the lookup table; keep one`, index, 'owner');
          }
        }
      }),
    ),
    default: z.optional(fallback),
  };
  return mapping(shape, {
    expected: 'keys, such as rules: …',
    elsewhere: [elsewhere.rule],
    needed: { rules: 'a list with an entry such as - name: …' },
  });
}

const parseName: Parse<string> = (value) => parseText(value, 200);

/** A text; null means that the field must be absent. */
const textOrNull = single((value) => (value === null ? null : parseText(value, 1000)), { type: ['string', 'null'] });
const texts = oneOrMore(textOrNull, 'one or more values');
const patterns = texts.check(
  rule((given, report) => {
    for (const [index, text] of Array.isArray(given) ? given.entries() : []) {
      const fault = typeof text === 'string' ? starsFault(text) : undefined;
      if (fault !== undefined) report(fault, index);
    }
  }),
);

const aliasesShape = z.pipe(
  named(
    named(texts, 'values with their other spellings, such as checkout: [chekout]'),
    'labels, such as team: {checkout: [chekout]}',
  ).check(
    rule((labels, report) => {
      for (const [label, values] of Object.entries(labels)) {
        const seen = new Map<string, string>();
        for (const [value, alias] of aliasesIn(values)) {
          const other = seen.get(alias);
          const found = `found ${quoted(alias)}, which is`;
          if (alias === value) report(`${found} the value itself, not another spelling; remove it`, label, value);
          else if (other !== undefined) report(`${found} already an alias of ${quoted(other)}; keep one`, label, value);
          else seen.set(alias, value);
        }
        for (const [alias, value] of seen) {
          const next = seen.get(value);
          if (next === undefined) continue;
          const found = `found ${quoted(alias)} as an alias of ${quoted(value)}, which is itself an alias of`;
          report(`${found} ${quoted(next)}; list both under ${quoted(next)}`, label, value);
        }
      }
    }),
  ),
  z.transform((labels) =>
    Object.entries(labels).flatMap(([label, values]) =>
      aliasesIn(values).map(([value, alias]) => ({ label, alias, value })),
    ),
  ),
);

/** Values with their other spellings, one by one. */
function aliasesIn(values: Readonly<Record<string, readonly (string | null)[]>>): [value: string, alias: string][] {
  return Object.entries(values ?? {}).flatMap(([value, aliases]) =>
    (Array.isArray(aliases) ? aliases : []).flatMap((alias): [string, string][] =>
      typeof alias === 'string' ? [[value, alias]] : [],
    ),
  );
}

type ReadOwnerEntry = Omit<OwnerEntry, 'dimension'> & { readonly hasOtherwise: boolean };
const usualEntry: ReadOwnerEntry = { value: null, label: null, hasOtherwise: true };

function ownerShape(dimensions: readonly string[]) {
  const owner = single((value): ReadOwnerEntry => ({ ...usualEntry, value: parseName(value) }));
  const otherwise = single((value) => (value === null ? null : parseName(value)), { type: ['string', 'null'] });
  const fromLabel = z.pipe(
    mapping(
      { label: single(parseName), otherwise: z.optional(otherwise) },
      { expected: 'a text, or label: <key>', needed: { label: 'the key of a label' } },
    ),
    z.transform((given): ReadOwnerEntry => {
      return { label: given.label, value: given.otherwise ?? null, hasOtherwise: 'otherwise' in given };
    }),
  );
  const expected = `an owner such as {${dimensions[0]}: …}`;
  const shape = Object.fromEntries(dimensions.map((dimension) => [dimension, z.optional(either(owner, fromLabel))]));
  const entries = mapping(shape, { expected }).check(
    rule((given, report, isSound) => {
      if (isSound && Object.keys(given).length === 0) report(`found no owner, expected ${expected}`);
    }),
  );
  return entries.register(z.globalRegistry, { minProperties: 1 });
}

function ruleShape(dimensions: readonly string[], owner: ReturnType<typeof ownerShape>) {
  const instant = z.optional(single(parseInstantLimit));
  const conditions = {
    ...Object.fromEntries(fields.map((field) => [field, z.optional(patterns)])),
    label: z.optional(named(patterns, 'labels and their values, such as {team: checkout}')),
    workspace_label: z.optional(named(patterns, 'labels of the workspace and their values, such as {stage: live}')),
  };
  const when = mapping(conditions, {
    expected: 'fields and their values, such as workspace: production',
    elsewhere: [elsewhere.rule],
  });
  const shape = {
    name: single(parseRuleName),
    when: z.optional(when),
    table: z.optional(single(parseTableName, { type: 'string', pattern: '^[A-Za-z0-9_.-]+\\.csv$' })),
    from: instant,
    until: instant,
    owner: z.optional(owner),
    split: z.optional(splitShape(dimensions)),
  };
  const read = mapping(shape, {
    expected: 'an entry such as - name: …',
    elsewhere: [elsewhere.top, elsewhere.when, elsewhere.split],
    needed: { name: 'one in each rule' },
  }).check(
    rule((given, report) => {
      const what = given.name === undefined ? 'a rule' : `the rule ${quoted(given.name)}`;
      const isOwned = 'owner' in given || 'table' in given;
      if ('split' in given && isOwned)
        report('found together with an owner or a table, expected only one; remove the other', 'split');
      if (!isOwned && !('split' in given)) report(`${what}: found no owner, table or split, expected one of them`);
      const { from, until } = given;
      if (from !== undefined && until !== undefined && from >= until)
        report(`found ${until}, expected an instant after from (${from}), because until is exclusive`, 'until');
    }),
  );
  return read.register(z.globalRegistry, { anyOf: ['owner', 'table', 'split'].map((key) => ({ required: [key] })) });
}

type ReadRule = z.output<ReturnType<typeof ruleShape>>;

/** An owner as written, in the order of the file. */
function ownerOf(read: Readonly<Record<string, ReadOwnerEntry | undefined>>, given: Given): OwnerEntry[] {
  return inOrder(given, read).map(([dimension, { value, label } = usualEntry]) => ({ dimension, value, label }));
}

function ruleOf(
  { name, when = {}, from, until, split, owner = {} }: ReadRule,
  given: Given,
  lookup: Lookup | undefined,
  dimensions: readonly string[],
): Rule {
  const conditions: Condition[] = [];
  let number = 0;
  function add(field: string, alternatives: readonly Omit<Condition, 'number' | 'field'>[]): void {
    if (alternatives.length === 0) return;
    number += 1;
    // One by one: a lookup table may have more lines than a call takes arguments.
    for (const alternative of alternatives) conditions.push({ number, field, ...alternative });
  }
  for (const [key, value = []] of inOrder(givenAt(given, ['when']), when)) {
    if (Array.isArray(value)) add(key, value.map(patternOf));
    else for (const [label, one] of Object.entries(value)) add(`${key}:${label}`, one.map(patternOf));
  }
  const ownerGiven = givenAt(given, ['owner']);
  for (const { dimension, label } of ownerOf(owner, ownerGiven)) {
    // The rule needs the label, unless otherwise: … replaces it.
    if (label !== null && owner[dimension]?.hasOtherwise === false)
      add(`label:${label}`, [{ kind: 'like', value: '%', owner: null }]);
  }
  if (lookup !== undefined) {
    const lines = lookup.lines.map(({ key, owner: values }) => {
      const owned = dimensions.filter((dimension) => values.has(dimension));
      return { kind: 'is' as const, value: key, owner: ownerText(owned, values) };
    });
    add(lookup.field, lines);
  }
  return {
    ...{ name, from: from ?? null, until: until ?? null, conditions, split: split ?? null },
    owner: ownerOf(owner, ownerGiven),
  };
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

const parseTableName: Parse<string> = (value) => {
  const name = parseText(value, 200);
  if (/^[\w.-]+\.csv$/i.test(name)) return name;
  throw new UsageError(`found ${quoted(name)}, expected the name of a CSV file in the same folder, such as owners.csv`);
};

/** An accepted value of a field: a text, in which `*` matches any characters, or null if the field must be absent. */
function patternOf(text: string | null): Omit<Condition, 'number' | 'field'> {
  if (text === null) return { kind: 'absent', value: null, owner: null };
  if (!text.includes('*')) return { kind: 'is', value: text, owner: null };
  return { kind: 'like', value: text.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%'), owner: null };
}

/** The start or end of a rule's validity: a whole hour such as `2026-10-01T00:00:00Z`. */
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
const ways = ['cost', 'evenly', 'weights', 'usage'] as const;

function splitShape(dimensions: readonly string[]) {
  const shape = {
    by: choice(ways),
    over: z.optional(list(choice(dimensions), `dimensions such as [${dimensions[0]}]`)),
    billing_dimension: z.optional(single(parseName)),
    weights: z.optional(weightsShape(dimensions)),
  };
  const read = mapping(shape, {
    expected: 'how to split, such as by: cost',
    elsewhere: [elsewhere.rule],
    needed: { by: `by: with one of ${oneOf(ways)}` },
  }).check(
    rule((split, report) => {
      const { by } = split;
      if (by === undefined) return;
      for (const [key, needed] of [
        ['billing_dimension', 'usage'],
        ['weights', 'weights'],
      ] as const) {
        if (by === needed && !(key in split)) report(`found no ${key}, which by: ${needed} needs; add it`);
        if (by !== needed && key in split)
          report(`found with by: ${by}, expected it only with by: ${needed}; remove it, or change by`, key);
      }
      if (by === 'weights' && 'over' in split)
        report('found with by: weights, where the weights name the owners; remove it', 'over');
    }),
  );
  return z.pipe(
    read,
    z.transform(({ by, over = dimensions, billing_dimension = null, weights = null }): Split => {
      return { by, over, billing_dimension, owners: weights };
    }),
  );
}

function weightsShape(dimensions: readonly string[]) {
  const expected = `a list of owners with weights, such as - {${dimensions[0]}: …, weight: 2}`;
  const owners = Object.fromEntries(dimensions.map((dimension) => [dimension, z.optional(single(parseName))]));
  const weight = single(parseWeight, { type: ['number', 'string'] });
  const entry = mapping({ ...owners, weight }, { expected, needed: { weight: 'a number such as 2 or 0.5' } }).check(
    rule((given, report) => {
      if (!dimensions.some((dimension) => dimension in given)) report(`found no owner, expected ${expected}`);
    }),
  );
  entry.register(z.globalRegistry, { minProperties: 2 });
  const read = z.transform(({ weight: own, ...values }: z.output<typeof entry>) => {
    return { owner: ownerText(dimensions, new Map(Object.entries(values))), weight: own };
  });
  return list(z.pipe(entry, read), expected).check(
    rule((entries, report) => {
      for (const { index } of repeatedIn(entries.map((one) => one?.owner)))
        report('found the same owner a second time; keep one', index);
    }),
  );
}

/** A weight as decimal text: at least 0, with at most six digits before the point and six after it. */
const parseWeight: Parse<string> = (value) => {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,6}(\.\d{1,6})?$/.test(text)) return text;
  const found = typeof value === 'string' ? quoted(value) : typeof value === 'number' ? value : 'no number';
  throw new UsageError(`found ${found}, expected a number of at least 0 such as 2 or 0.5, with at most 6 decimals`);
};
