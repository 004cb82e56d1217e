import { describe, expect, test } from 'vitest';
import { RefusedAnswerError } from '../../src/base/errors.ts';
import { decodePage } from '../../src/fetch/decode.ts';
import { plainDecimal } from '../../src/money/money.ts';
import fc from '../support/fast-check.ts';
import { bodyOf, group, oneBucket, windowOf } from '../support/http-metrics.ts';

interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A JSON number's text times 10^scale, exactly. */
function scaledText(text: string, scale: number): Fraction {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const power = BigInt(Number(exponent) - fraction.length + scale);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return power >= 0n
    ? { numerator: digits * 10n ** power, denominator: 1n }
    : { numerator: digits, denominator: 10n ** -power };
}

/** What the decoder makes of a JSON number, as text, in one bucket's cost or usage; undefined where it is padding. */
function decoded(text: string, column: 'cost' | 'usage'): bigint | undefined {
  const body = oneBucket({ cost: '0', usage: '0', [column]: text });
  const { points } = decodePage(body, { window: windowOf(1), resolution: 'hourly', about: 'one bucket' });
  return points.count === 0 ? undefined : points[column][0];
}

const columns = [
  { column: 'cost', scale: 12, limit: 1e6 },
  { column: 'usage', scale: 6, limit: 1e12 },
] as const;

describe.each(columns)('$column', ({ column, scale, limit }) => {
  /** Whole numbers of the column's last decimal, of all sizes up to so many digits. */
  function scaledUpTo(digits: number): fc.Arbitrary<bigint> {
    return fc
      .integer({ min: 1, max: digits })
      .chain((length) => fc.bigInt({ min: -(10n ** BigInt(length)) + 1n, max: 10n ** BigInt(length) - 1n }));
  }
  /** A whole number of the last decimal, written with all its decimals. */
  function written(scaled: bigint): string {
    const text = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, '0');
    return `${scaled < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`;
  }

  test(`a number with up to 15 digits and ${scale} decimals is decoded exactly`, () => {
    fc.assert(
      fc.property(scaledUpTo(15), (scaled) => {
        expect(decoded(written(scaled), column) ?? 0n).toBe(scaled);
      }),
      { numRuns: 2000 },
    );
  });

  test('beyond 15 digits the decimal of the double is decoded', () => {
    fc.assert(
      fc.property(scaledUpTo(18), (scaled) => {
        const value = Number(written(scaled));
        fc.pre(Math.abs(value) < limit);
        const { numerator, denominator } = scaledText(JSON.stringify(value), scale);
        fc.pre(numerator % denominator === 0n);
        expect(decoded(written(scaled), column) ?? 0n).toBe(numerator / denominator);
      }),
      { numRuns: 2000 },
    );
  });

  test('any double below the limit is decoded to within half of the last decimal, or next to it', () => {
    const any = fc.oneof(
      fc.double({ noNaN: true, min: -limit, max: limit, minExcluded: true, maxExcluded: true }),
      fc.double({ noNaN: true, min: -2 / 10 ** scale, max: 2 / 10 ** scale }),
      fc.double({ noNaN: true, min: -2000, max: 2000 }),
    );
    fc.assert(
      fc.property(any, (value) => {
        const { numerator, denominator } = scaledText(JSON.stringify(value), scale);
        // The last few doubles below the limit round up to it and are refused.
        fc.pre((numerator < 0n ? -numerator : numerator) < (10n ** 18n - 1n) * denominator);
        const off = (decoded(JSON.stringify(value), column) ?? 0n) * denominator - numerator;
        expect(off <= denominator && -off <= denominator).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('everything from the limit on is refused', () => {
    const beyond = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: limit }),
      fc.double({ noNaN: true, noDefaultInfinity: true, max: -limit }),
    );
    fc.assert(
      fc.property(beyond, (value) => {
        expect(() => decoded(JSON.stringify(value), column)).toThrow(RefusedAnswerError);
      }),
    );
  });
});

describe('plainDecimal', () => {
  test('reads back as the same number and has no exponent', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = plainDecimal(value);
        expect(text).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(text)).toBe(value === 0 ? 0 : value);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('decodePage', () => {
  test('refuses or decodes any JSON, and never fails otherwise', () => {
    const whole = bodyOf(2, [
      group([
        [0.5, 1],
        [0.25, 2],
      ]),
    ]);
    /** Every place in a JSON value, as a path. */
    function places(value: unknown, path: (string | number)[] = []): (string | number)[][] {
      if (typeof value !== 'object' || value === null) return [path];
      return [path, ...Object.entries(value).flatMap(([name, item]) => places(item, [...path, name]))];
    }
    function replaced(value: unknown, [name, ...rest]: (string | number)[], by: unknown): unknown {
      if (name === undefined) return by;
      const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
      copy[name] = replaced(copy[name], rest, by);
      return copy;
    }
    fc.assert(
      fc.property(fc.constantFrom(...places(whole)), fc.jsonValue(), (path, value) => {
        const body = replaced(whole, path, value);
        try {
          const page = decodePage(body, { window: windowOf(2), resolution: 'hourly', about: 'page' });
          expect(page.points.count).toBeLessThanOrEqual(page.entries.length * 2);
        } catch (error) {
          expect(error).toBeInstanceOf(RefusedAnswerError);
          expect(String(error)).toMatch(/: page: .+: found .+, expected .+/s);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
