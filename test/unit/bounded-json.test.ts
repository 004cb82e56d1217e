import { describe, expect, test } from 'vitest';
import { jsonExcess } from '../../src/text/bounded-json.ts';
import fc from '../support/fast-check.ts';

const limits = { maxDepth: 3, maxValues: 5, maxMembers: 4 };
const excess = (text: string, given = limits) => jsonExcess(Buffer.from(text), given);

describe('the limits of a JSON text', () => {
  test.each([
    '[[[1]]]',
    '{"a":{"b":{}}}',
    '[1,2,3,4,5]',
    '"[[[[[["',
    '["\\"[[[[[","]"]',
    '"\\\\"',
    '',
    '1',
    '[[',
    ']]]',
  ])('accept %s', (text) => {
    expect(excess(text)).toBeUndefined();
  });

  test('name the exceeded depth or number of values', () => {
    for (const text of ['[[[[1]]]]', '{"a":[{"b":[]}]}', '[[[[', '["\\\\",[[[']) {
      expect(excess(text), text).toBe('JSON nested deeper than 3');
    }
    for (const text of ['[1,2,3,4,5,6]', '[{"a":1,"b":2},{"c":3},{}]', '[[],[],[]]', ',,,,,,']) {
      expect(excess(text), text).toBe('JSON with more than 5 values');
    }
    for (const text of ['{"a":1,"b":2,"c":3,"d":4,"e":5}', '[{"a":[],"b":"},","c":3,"d":4,"e":{}}]']) {
      expect(excess(text, { ...limits, maxValues: 100 }), text).toBe('JSON with an object of more than 4 members');
    }
    expect(excess('{"a":1,"b":2,"c":3,"d":4}')).toBeUndefined();
  });

  test('measure the depth and number of values of any JSON', () => {
    function depthOf(value: unknown): number {
      if (typeof value !== 'object' || value === null) return 0;
      return 1 + Math.max(0, ...Object.values(value).map(depthOf));
    }
    fc.assert(
      fc.property(fc.json({ depthSize: 'large' }), fc.constantFrom(undefined, 1), (json, indent) => {
        const value: unknown = JSON.parse(json);
        const text = JSON.stringify(value, undefined, indent);
        const depth = depthOf(value);
        expect(excess(text, { maxDepth: depth, maxValues: 1e9, maxMembers: 1e9 })).toBeUndefined();
        if (depth > 0)
          expect(excess(text, { maxDepth: depth - 1, maxValues: 1e9, maxMembers: 1e9 })).toContain('deeper');
      }),
      { seed: 7 },
    );
  });
});
