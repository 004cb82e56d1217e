import { expect, test } from 'vitest';
import { type DecodedPage, decodeBytes, decodePage } from '../../src/fetch/decode.ts';
import { parseBytes } from '../../src/platform/body.ts';
import fc from '../support/fast-check.ts';

const start = Date.UTC(2026, 9, 1);
const hourMs = 3_600_000;
const hours = 3;
const expected = { window: { start, end: start + hours * hourMs }, resolution: 'hourly', about: 'page' } as const;

/** A page as both see it: only the filled part of the columns counts, and a refusal by its words. */
function told(decode: () => DecodedPage): unknown {
  try {
    const { points, ...page } = decode();
    const { count } = points;
    const column = (values: ArrayLike<number | bigint>) => Array.from(values).slice(0, count).map(String);
    return {
      ...page,
      count,
      entry: column(points.entry),
      bucket: column(points.bucket),
      cost: column(points.cost),
      usage: column(points.usage),
    };
  } catch (error) {
    return String(error);
  }
}

function scanned(bytes: Buffer): unknown {
  return told(() => decodeBytes(bytes, expected, parseBytes));
}
function plain(bytes: Buffer): unknown {
  return told(() => decodePage(parseBytes(bytes), expected));
}

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });
/** Numbers as JSON may write them, and a few things that are none. */
const numberText = fc.oneof(
  { weight: 6, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e5, max: 1e5 }).map(String) },
  { weight: 4, arbitrary: fc.tuple(fc.integer({ min: 0, max: 99 }), digits(19)).map(([a, b]) => `${a}.${b}`) },
  { weight: 4, arbitrary: fc.constantFrom('0', '-0', '0.0', '1e-9', '2.5E-3', '12e2', '9007199254740993e-12') },
  { weight: 1, arbitrary: fc.constantFrom('null', '01', '1.', '.5', '+1', '"1"', '1e400', '1e', '--1', '12345678') },
);
const names = ['timestamp', 'cost', 'usage'] as const;
const order = fc.shuffledSubarray([...names], { minLength: 3, maxLength: 3 });
const name = fc.oneof(fc.constantFrom('a', ',"timeseries":[', '{"timeseries":[', 'é\\'), fc.string());

function stamp(bucket: number): string {
  return `"${new Date(start + bucket * hourMs).toISOString().replace('.000', '')}"`;
}

const page = fc
  .record({
    order,
    groups: fc.array(
      fc.record({
        name,
        numbers: fc.array(fc.record({ cost: numberText, usage: numberText }), { minLength: hours, maxLength: hours }),
      }),
      { maxLength: 4 },
    ),
    more: fc.constantFrom('', ',"extra":{"timeseries":[]}', ',"extra":{"timeseries":0}', ',"timeseries":[]'),
  })
  .map(({ order, groups, more }) => {
    const data = groups.map((group) => {
      const points = group.numbers.map(({ cost, usage }, bucket) => {
        const values = { timestamp: stamp(bucket), cost, usage };
        return `{${order.map((field) => `"${field}":${values[field]}`).join(',')}}`;
      });
      return `{"resourceName":${JSON.stringify(group.name)},"summary":{"cost":1.5,"usage":2},"timeseries":[${points.join(',')}]}`;
    });
    return (
      `{"startTime":${stamp(0)},"endTime":${stamp(hours)},"resolution":"hourly","summary":{"totalCost":3},` +
      `"data":[${data.join(',')}]${more},"meta":{"hasMore":false}}`
    );
  });

test('scanning a page gives the same result as plain decoding', () => {
  fc.assert(
    fc.property(page, (text) => {
      const bytes = Buffer.from(text);
      expect(scanned(bytes)).toEqual(plain(bytes));
    }),
    { numRuns: 2000 },
  );
});

test('a page with a changed, missing or extra byte is accepted or refused as plain decoding does', () => {
  fc.assert(
    fc.property(page, fc.nat(), fc.nat({ max: 255 }), fc.constantFrom(0, 1, 2), (text, where, byte, how) => {
      const whole = Buffer.from(text);
      const at = where % whole.length;
      const bytes = Buffer.concat([
        whole.subarray(0, at),
        how === 1 ? Buffer.alloc(0) : Buffer.from([byte]),
        whole.subarray(how === 2 ? at : at + 1),
      ]);
      expect(scanned(bytes)).toEqual(plain(bytes));
    }),
    { numRuns: 3000 },
  );
});
