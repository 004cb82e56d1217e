import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import {
  type Given,
  gatherProblems,
  integerParser,
  itemsOf,
  keysOf,
  type Problems,
  parseText,
  parseYaml,
  readValue,
  textsUnder,
} from '../../src/yaml/yaml.ts';

function told(problems: Problems): string {
  try {
    problems.throwIfAny();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return error instanceof Error ? error.message : '';
  }
  return '';
}

function parse(text: string): { root: Given; isSound: boolean; problems: Problems } {
  const problems = gatherProblems();
  return { ...parseYaml(text, 'a.yaml', problems), problems };
}

describe('parseYaml(text, file, problems)', () => {
  test('gives each value its key and position, and an empty one the position of its key', () => {
    const { root, problems } = parse('name: a\nlimits:\n  - 5\n  -\nnote:\n');
    const keys = keysOf(root, { keys: ['name', 'limits', 'note'], expected: 'keys' }, problems);
    expect(keys?.get('name')).toMatchObject({ where: 'a.yaml:1:7', key: 'name', value: 'a' });
    expect(keys?.get('note')).toMatchObject({ where: 'a.yaml:5:1', key: 'note', value: null });
    const items = itemsOf(keys?.get('limits') ?? root, 'a list', problems);
    expect(items.map(({ where, key, value }) => [where, key, value])).toEqual([
      ['a.yaml:3:5', 'limits', 5],
      ['a.yaml:4:4', 'limits', null],
    ]);
    expect(told(problems)).toBe('');
  });

  test('accepts an empty text as an empty document', () => {
    expect(parse('# nothing\n')).toMatchObject({ isSound: true, root: { value: null } });
  });

  test('resolves an alias to the last single value of that name above it', () => {
    const { root, problems } = parse('a: &x 1\nb: *x\nc: &x 2\nd: *x\ne: *later\nf: &later 3\n');
    const keys = keysOf(root, { keys: [...'abcdef'], expected: 'keys' }, problems);
    expect([...'abcdef'].map((key) => keys?.get(key)?.value)).toEqual([1, 1, 2, 2, undefined, 3]);
    expect(told(problems)).toContain('a.yaml:5:4: e: found an alias of an anchor that is not defined above');
  });

  test('refuses a hundred thousand aliases at once', () => {
    const { isSound, problems } = parse(`a: &x tok-1234\nb: [${'{token: *x},'.repeat(80_000)}]\n`);
    expect(isSound).toBe(false);
    expect(told(problems)).toContain('found 80000 aliases, expected at most 100');
  });

  test('still finds secrets in broken YAML', () => {
    const { root, isSound } = parse('token: [a-1, [0x1F]]\nother: c\nurl: "open\n');
    expect(isSound).toBe(false);
    expect([...textsUnder('token', root)]).toEqual(['a-1', 'a-1', '0x1F', '31']);
  });
});

describe('problems', () => {
  test('are all reported at once by position, then those outside the file', () => {
    const { root, problems } = parse('max: lots\nmni: 1\nname: 5\n');
    problems.report({ where: 'COSTBOOK_X' }, 'found nothing');
    const keys = keysOf(root, { keys: ['min', 'max', 'name'], expected: 'keys' }, problems);
    expect(readValue(keys?.get('name'), (value) => parseText(value), problems)).toBeUndefined();
    expect(readValue(keys?.get('max'), integerParser(1, 9), problems)).toBeUndefined();
    expect(told(problems)).toMatchInlineSnapshot(`
      "a.yaml:1:6: max: found "lots", expected a whole number from 1 to 9
      a.yaml:2:1: unknown key "mni"; did you mean min? rename or remove it
      a.yaml:3:7: name: found a number, expected a text; put it in quotes
      COSTBOOK_X: found nothing"
    `);
  });

  test('hide a secret also in messages from before it was known', () => {
    const problems = gatherProblems();
    problems.report({ where: 'a.yaml' }, 'found tok-1234');
    problems.keepSecret('tok-1234');
    expect(told(problems)).toBe('a.yaml: found ***');
  });
});
