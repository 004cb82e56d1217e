import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadAllocation, parseAllocation } from '../../src/allocation/parse.ts';
import { UsageError } from '../../src/base/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'costbook-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'allocation.yaml');

function parse(text: string, tables: Readonly<Record<string, string>> = {}) {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(tables)) writeFileSync(join(folder, name), content);
  return parseAllocation({ text, file });
}

/** The problems, one a line, with the folder left out. */
function problems(text: string, tables: Readonly<Record<string, string>> = {}): string[] {
  try {
    parse(text, tables);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message.replaceAll(`${folder}/`, '').split('\n');
  }
  return [];
}

function rule(text: string): string {
  return `rules:\n  - name: one\n${text.replace(/^/gm, '    ')}\n`;
}

describe('parseAllocation', () => {
  test('returns no rules without a file', () => {
    expect(loadAllocation(join(folder, 'none.yaml'))).toBeUndefined();
  });

  test('reads rules in order, with the default as the last one', () => {
    const { definition, warnings } = parse(`
dimensions: [team, cost_center]
aliases:
  team: {checkout: [chekout, check-out]}
rules:
  - name: by label
    when: {label: {team: [checkout, 'search-*']}}
    owner: {team: {label: team}, cost_center: {label: cc, otherwise: none}}
  - name: shared
    when: {workspace: null, resource_type: volume}
    from: 2026-10
    until: 2027-01-01T06:00:00Z
    split: {by: cost, over: [team]}
default: {team: platform}
`);
    expect(warnings).toEqual([]);
    expect(definition.dimensions).toEqual(['team', 'cost_center']);
    expect(definition.aliases).toEqual([
      { label: 'team', alias: 'chekout', value: 'checkout' },
      { label: 'team', alias: 'check-out', value: 'checkout' },
    ]);
    expect(definition.rules).toEqual([
      {
        ...{ name: 'by label', from: null, until: null, split: null },
        conditions: [
          { number: 1, field: 'label:team', kind: 'is', value: 'checkout', owner: null },
          { number: 1, field: 'label:team', kind: 'like', value: 'search-%', owner: null },
          // A label that is read must be there.
          { number: 2, field: 'label:team', kind: 'like', value: '%', owner: null },
        ],
        owner: [
          { dimension: 'team', value: null, label: 'team' },
          { dimension: 'cost_center', value: 'none', label: 'cc' },
        ],
      },
      {
        ...{ name: 'shared', from: '2026-10-01T00:00:00Z', until: '2027-01-01T06:00:00Z', owner: [] },
        conditions: [
          { number: 1, field: 'workspace', kind: 'absent', value: null, owner: null },
          { number: 2, field: 'resource_type', kind: 'is', value: 'volume', owner: null },
        ],
        split: { by: 'cost', over: ['team'], billing_dimension: null, owners: null },
      },
      {
        ...{ name: 'default', from: null, until: null, conditions: [], split: null },
        owner: [{ dimension: 'team', value: 'platform', label: null }],
      },
    ]);
  });

  test('reads a lookup table with quoted cells, a byte order mark, Windows line ends and empty owners', () => {
    const { definition } = parse(rule('table: owners.csv'), {
      'owners.csv': '\uFEFFlabel:cost center,product,team\r\n"12,5",,"the ""A"" team"\r\n42 , shop ,\r\n\r\n',
    });
    expect(definition.rules[0]?.conditions).toEqual([
      { number: 1, field: 'label:cost center', kind: 'is', value: '12,5', owner: '{"team":"the \\"A\\" team"}' },
      { number: 1, field: 'label:cost center', kind: 'is', value: '42', owner: '{"product":"shop"}' },
    ]);
  });

  test('refuses what would be compared for hours', () => {
    const columns = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
    expect(() => parse(rule('table: owners.csv'), { 'owners.csv': `${columns.join(',')}\n` })).toThrow(
      'found 100000 columns, expected at most 100; remove the others',
    );
    expect(() => parse(rule("when: {resource_name: '*a*a*a*a*'}\nowner: {team: x}"))).toThrow(
      'found a name with 5 stars, expected at most 4; list the names',
    );
  });

  test('reads a lookup table of 200,000 lines', () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `w${index},t`);
    const { definition } = parse(rule('table: owners.csv'), { 'owners.csv': `workspace,team\n${lines.join('\n')}` });
    expect(definition.rules[0]?.conditions).toHaveLength(200_000);
  });

  test('matches special characters of LIKE in a value only literally', () => {
    const { definition } = parse(rule("when: {resource_name: 'a_b%c\\d*'}\nowner: {team: x}"));
    expect(definition.rules[0]?.conditions[0]?.value).toBe('a\\_b\\%c\\\\d%');
  });

  test('gives the same stored text for the same rules', () => {
    const text = rule('owner: {product: shop, team: x}\nwhen: {workspace: a}');
    expect(JSON.stringify(parse(text).definition)).toBe(JSON.stringify(parse(text).definition));
  });
});

describe('mistakes in allocation rules', () => {
  test('are all reported at once, each with its place', () => {
    expect(
      problems(`
dimension: [team]
rules:
  - name: one
    whne: {workspace: a}
    owner: {taem: x}
  - name: one
    when: {worksapce: a, label: {team: 7}}
    owner: {team: {labl: team}}
  - when: {workspace: b}
    split: {by: costs, over: [teem]}
  - name: default
    from: 2026-10-01T06:30:00Z
    workspace: c
    owner: {team: x}
`),
    ).toEqual([
      'allocation.yaml:2:1: unknown key "dimension"; did you mean dimensions? rename or remove it',
      'allocation.yaml:5:5: unknown key "whne"; did you mean when? rename or remove it',
      'allocation.yaml:6:13: unknown key "taem"; did you mean team? rename or remove it',
      'allocation.yaml:7:5: found the name "one" a second time, first in rule 1',
      'allocation.yaml:8:12: unknown key "worksapce"; did you mean workspace? rename or remove it',
      'allocation.yaml:8:40: team: found a number, expected a text; put it in quotes',
      'allocation.yaml:9:20: unknown key "labl"; did you mean label? rename or remove it',
      'allocation.yaml:10:5: found no name, expected one in each rule; add it',
      'allocation.yaml:11:17: by: found "costs", expected cost, evenly, weights or usage; did you mean cost?',
      'allocation.yaml:11:31: over: found "teem", expected team, product or environment; did you mean team?',
      'allocation.yaml:12:11: name: found "default", which is reserved for costs that no rule matches; choose another name',
      'allocation.yaml:13:11: from: found "2026-10-01T06:30:00Z", expected a date such as 2026-10-01, 2026-10 or 2026-10-01T06:00:00Z, a whole hour in UTC',
      'allocation.yaml:14:5: unknown key "workspace"; it belongs to when; move it there',
    ]);
  });

  test.each([
    ['when: {workspace: a}', 'found no owner, table or split'],
    ['owner: {team: x}\nsplit: {by: cost}', 'found together with an owner'],
    ['split: {by: usage}', 'found no billing_dimension'],
    ['split: {by: cost, billing_dimension: x}', 'expected it only with by: usage'],
    ['split: {by: weights, weights: [{team: a, weight: -1}]}', 'found -1, expected a number of at least 0'],
    ['split: {by: weights, weights: [{weight: 1}]}', 'found no owner'],
    ['split: {by: weights, weights: [{team: a, weight: 1}, {team: a, weight: 2}]}', 'the same owner a second time'],
    ['owner: {team: x}\nfrom: 2026-10\nuntil: 2026-10', 'expected an instant after from'],
    ['owner: {team: x}\nfrom: -7d', 'expected a date such as'],
    ['table: ../owners.csv', 'expected the name of a CSV file in the same folder'],
    ['table: missing.csv', 'found no such file'],
    ['owner: {}', 'found no owner'],
  ])('%s', (text, words) => {
    expect(problems(rule(text)).join('\n')).toContain(words);
  });

  test.each([
    ['team\nx', 'owners.csv:1: found no lookup column'],
    ['workspace,region,team\na,b,c', 'owners.csv:1: found 2 lookup columns'],
    ['workspace\na', 'owners.csv:1: found no owner column'],
    ['worksapce,team\na,b', 'owners.csv:1: found the column "worksapce"; did you mean workspace?'],
    ['workspace;team\na;b', 'columns are separated by commas'],
    ['workspace,team\na,b\na,c', 'owners.csv:3: found "a" a second time, first on line 2; keep one'],
    ['workspace,team\n"a\nb",x\n,y', 'owners.csv:4: found no workspace'],
    ['workspace,team\na', 'owners.csv:2: found 1 cells, expected 2'],
    ['workspace,team\na,', 'owners.csv:2: found no owner for "a"'],
    ['workspace,team\n"a"x,b', 'owners.csv:2: found a quote that is not closed'],
    ['workspace,team\n', 'owners.csv:1: found only a header line'],
    ['', 'owners.csv:1: found an empty file'],
  ])('are reported in a lookup table: %j', (content, words) => {
    expect(problems(rule('table: owners.csv'), { 'owners.csv': content }).join('\n')).toContain(words);
  });

  test('include an alias that is listed twice, or that points to another alias', () => {
    const text = `aliases:\n  team: {a: [x], b: [x, a]}\n${rule('owner: {team: x}')}`;
    expect(problems(text).join('\n')).toContain('found "x", which is already an alias of "a"');
    expect(problems(text).join('\n')).toContain('which is itself an alias of');
  });
});

describe('rules that can never match cause a warning', () => {
  function warned(...rules: string[]): string[] {
    const text = `rules:\n${rules.map((rule, index) => `  - {name: r${index}, ${rule}, owner: {team: x}}`).join('\n')}\n`;
    return parse(text).warnings.map(
      (warning) => /rule "(\w+)".*because "(\w+)"/.exec(warning)?.slice(1).join(' after ') ?? warning,
    );
  }
  test.each([
    [['when: {workspace: a}', 'when: {workspace: a}'], ['r1 after r0']],
    [['when: {workspace: [a, b]}', 'when: {workspace: a, resource_type: job}'], ['r1 after r0']],
    [["when: {resource_name: 'pr-*'}", 'when: {resource_name: [pr-1, pr-2]}'], ['r1 after r0']],
    [['from: 2026-01', 'when: {workspace: a}, from: 2026-02'], ['r1 after r0']],
    [['when: {workspace: a}', 'when: {workspace: [a, b]}'], []],
    [['when: {workspace: a, resource_type: job}', 'when: {workspace: a}'], []],
    [['when: {workspace: a}, until: 2026-10', 'when: {workspace: a}'], []],
    [['when: {workspace: null}', "when: {workspace: '*'}"], []],
    [["when: {workspace: '*'}", 'when: {workspace: null}'], []],
    [["when: {workspace: 'a*b*c'}", 'when: {workspace: abxbc}', 'when: {workspace: acb}'], ['r1 after r0']],
  ])('%j', (rules, expected) => {
    expect(warned(...rules)).toEqual(expected);
  });
});

describe('the files that come with Costbook', () => {
  test.each(['allocation.example.yaml', 'jobs/demo/allocation.yaml'])('%s is valid and has no warnings', (name) => {
    const found = loadAllocation(join(import.meta.dirname, '../..', name));
    expect(found?.warnings).toEqual([]);
    expect(found?.definition.rules.length).toBeGreaterThan(3);
  });
});
