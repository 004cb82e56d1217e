import { describe, expect, test } from 'vitest';
import { RefusedAnswerError } from '../../src/base/errors.ts';
import { type DecodedPage, decodePage, scaledInteger } from '../../src/fetch/decode.ts';
import { plainDecimal } from '../../src/money/money.ts';
import { type Body, bodyOf, type Group, group, hourText, oneBucket, windowOf } from '../support/http-metrics.ts';

const about = 'account acc_one, page 1';

function decode(body: unknown, hours = 2): DecodedPage {
  return decodePage(body, { window: windowOf(hours), resolution: 'hourly', about });
}
/** A body of two hours with one group, after a change. */
function changed(change: (body: Body, only: Group) => void): Body {
  const only = group([
    [0.25, 100],
    [0.5, 200],
  ]);
  const body = bodyOf(2, [only]);
  change(body, only);
  return body;
}
/** The points as lines: entry, bucket, cost × 10^12, usage × 10^6. */
function lines({ points }: DecodedPage): string[] {
  return Array.from(
    { length: points.count },
    (_, row) => `${points.entry[row]} ${points.bucket[row]} ${points.cost[row]} ${points.usage[row]}`,
  );
}

describe('a page', () => {
  test('becomes entries, totals and columns', () => {
    const decoded = decode(
      {
        startTime: '2026-10-01T00:00:00Z',
        endTime: '2026-10-01T03:00:00Z',
        resolution: 'hourly',
        summary: { totalCost: 0.75, totalUsage: 305 },
        data: [
          {
            workspace: 'prod',
            resourceType: 'sandbox',
            resourceName: 'crawler',
            resourceUuid: 'u-1',
            billingDimension: 'sandbox_compute_runtime_gbs',
            summary: { cost: 0.25, usage: 102.5 },
            timeseries: [
              { timestamp: '2026-10-01T00:00:00Z', cost: 0.2, usage: 100 },
              { timestamp: '2026-10-01T01:00:00Z', cost: 0, usage: 0 },
              { timestamp: '2026-10-01T02:00:00Z', cost: 0.05, usage: 2.5 },
            ],
          },
          {
            billingDimension: 'volume_storage_gbs',
            summary: { cost: 0.5, usage: 202.5 },
            timeseries: [
              { timestamp: '2026-10-01T00:00:00Z', cost: 0, usage: 0 },
              { timestamp: '2026-10-01T01:00:00Z', cost: 0.000000000001, usage: 0 },
              { timestamp: '2026-10-01T02:00:00Z', cost: 0, usage: 0.000001 },
            ],
          },
        ],
        meta: { hasMore: true, nextCursor: 'c1' },
      },
      3,
    );
    expect(decoded).toMatchObject({
      hasMore: true,
      nextCursor: 'c1',
      totalCost: '0.75',
      costDecimals: 2,
      usageDecimals: 1,
      entries: [
        {
          workspace: 'prod',
          resourceType: 'sandbox',
          resourceName: 'crawler',
          resourceUuid: 'u-1',
          billingDimension: 'sandbox_compute_runtime_gbs',
          cost: '0.25',
          usage: '102.5',
        },
        {
          workspace: undefined,
          resourceType: undefined,
          resourceName: undefined,
          resourceUuid: undefined,
          billingDimension: 'volume_storage_gbs',
          cost: '0.5',
          usage: '202.5',
        },
      ],
      unknownFields: [],
    });
    expect(lines(decoded)).toEqual(['0 0 200000000000 100000000', '0 2 50000000000 2500000', '1 1 1 0', '1 2 0 1']);
  });

  test('a bucket with cost or usage is stored, one with neither is padding', () => {
    const hours = [
      [0, 0],
      [0, 5],
      [5, 0],
      [-0, -0],
      [-5, -5],
    ] as const;
    expect(lines(decode(bodyOf(5, [group(hours)]), 5))).toEqual([
      '0 1 0 5000000',
      '0 2 5000000000000 0',
      '0 4 -5000000000000 -5000000',
    ]);
  });

  test('a value too small for its column is padding as well', () => {
    const hours = [
      [4e-13, 4e-7],
      [-4e-13, -4e-7],
      [5e-324, 0],
    ] as const;
    expect(decode(bodyOf(3, [group(hours)]), 3).points.count).toBe(0);
  });

  test('a padding bucket leaves nothing in the next row', () => {
    // A row whose cost is set and whose usage is zero, then one the other way round.
    const hours = [
      [0, 7],
      [3, 0],
      [1e-13, 9],
      [2, 1e-8],
    ] as const;
    expect(lines(decode(bodyOf(4, [group(hours)]), 4))).toEqual([
      '0 0 0 7000000',
      '0 1 3000000000000 0',
      '0 2 0 9000000',
      '0 3 2000000000000 0',
    ]);
  });

  test('without groups is a page', () => {
    expect(decode(bodyOf(2, []))).toMatchObject({ entries: [], points: { count: 0 }, hasMore: false });
  });

  test.each([null, undefined])('with data %s is a page without groups', (data) => {
    expect(decode({ ...bodyOf(2, []), data })).toMatchObject({ entries: [], points: { count: 0 } });
  });

  test.each([[''], [null], [undefined]])('nextCursor %j counts as missing', (nextCursor) => {
    expect(decode(changed((body) => Object.assign(body.meta, { nextCursor }))).nextCursor).toBeUndefined();
  });

  test('a week of a hundred groups is decoded completely', () => {
    const hours = Array.from({ length: 168 }, (_, hour) => [hour + 1, hour + 1] as const);
    const { points, entries } = decode(bodyOf(168, Array(100).fill(group(hours))), 168);
    expect(entries).toHaveLength(100);
    expect(points.count).toBe(16_800);
    expect([points.entry[16_799], points.bucket[16_799], points.cost[16_799]]).toEqual([99, 167, 168n * 10n ** 12n]);
  });
});

describe('timestamps', () => {
  test.each([
    ['2026-10-01T00:00:00.000Z', '2026-10-01T01:00:00.000Z'],
    ['2026-10-01T00:00:00+00:00', '2026-10-01T01:00:00+00:00'],
    ['2026-09-30T21:30:00-02:30', '2026-10-01T03:00:00+02:00'],
    ['2026-10-01t00:00:00z', '2026-10-01 01:00:00Z'],
    ['2026-10-01T00:00:00.000000000Z', '2026-10-01T01:00:00-00:00'],
  ])('%s and %s name the two hours', (first, second) => {
    const body = changed((_, only) => {
      Object.assign(only.timeseries[0] ?? {}, { timestamp: first });
      Object.assign(only.timeseries[1] ?? {}, { timestamp: second });
    });
    expect(lines(decode(body))).toEqual(['0 0 250000000000 100000000', '0 1 500000000000 200000000']);
  });

  test('may echo the window in another notation', () => {
    const body = changed((page) =>
      Object.assign(page, { startTime: '2026-10-01T00:00:00.000Z', endTime: '2026-10-01T02:00:00+00:00' }),
    );
    expect(decode(body).points.count).toBe(2);
  });

  test('in any order reach the right buckets', () => {
    const body = changed((_, only) => only.timeseries.reverse());
    expect(lines(decode(body))).toEqual(['0 1 500000000000 200000000', '0 0 250000000000 100000000']);
  });
});

describe('dimensions', () => {
  test.each([[null], [''], [undefined]])('%j counts as missing', (absent) => {
    const fields = {
      workspace: absent,
      resourceType: absent,
      resourceName: absent,
      resourceUuid: absent,
      billingDimension: absent,
    };
    const [entry] = decode(changed((_, only) => Object.assign(only, fields))).entries;
    expect(entry).toMatchObject({
      workspace: undefined,
      resourceType: undefined,
      resourceName: undefined,
      resourceUuid: undefined,
      billingDimension: undefined,
    });
  });

  test('any text is stored unchanged', () => {
    for (const text of [' ', 'null', '0', "Robert'); drop table", 'é', 'e\u0301', '🏢', 'a\0b', 'x'.repeat(10_000)]) {
      expect(decode(changed((_, only) => Object.assign(only, { resourceName: text }))).entries[0]?.resourceName).toBe(
        text,
      );
    }
  });

  test('a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD', () => {
    const body = JSON.parse(
      JSON.stringify(bodyOf(1, [group([[1, 1]])])).replace('"crawler"', String.raw`"a\ud83cb\udfe2\ud83c\udfe2"`),
    );
    expect(decode(body, 1).entries[0]?.resourceName).toBe('a\uFFFDb\uFFFD🏢');
  });

  test.each([[5], [true], [{}], [['a']]])('%j is refused', (value) => {
    const body = changed((_, only) => Object.assign(only, { resourceUuid: value }));
    expect(() => decode(body)).toThrow(
      new RefusedAnswerError(`${about}: data[0].resourceUuid: found ${JSON.stringify(value)}, expected a string`),
    );
  });
});

describe('fields that the interface does not list', () => {
  test('are named once with their place, and cause no refusal', () => {
    const body = changed((page, only) => {
      Object.assign(page, { currency: 'USD' });
      Object.assign(page.summary, { totalCredits: 0 });
      Object.assign(page.meta, { total: 1 });
      Object.assign(only, { region: 'eu' });
      Object.assign(only.summary, { credits: 0 });
      for (const point of only.timeseries) Object.assign(point, { estimated: false });
    });
    body.data.push(structuredClone(body.data[0] ?? group([])));
    expect([...decode(body).unknownFields].sort()).toEqual([
      'currency',
      'data[].region',
      'data[].summary.credits',
      'data[].timeseries[].estimated',
      'meta.total',
      'summary.totalCredits',
    ]);
  });

  test('a currency that is not USD is refused: the totals of an answer agree in any currency', () => {
    expect(() => decode(changed((page) => Object.assign(page.summary, { currency: 'EUR' })))).toThrow(
      'summary.currency: found "EUR", expected USD',
    );
    expect(() => decode(changed((_, only) => Object.assign(only.timeseries[0] ?? {}, { currency: 'JPY' })))).toThrow(
      'data[].timeseries[].currency: found "JPY", expected USD',
    );
    expect(() => decode(changed((page) => Object.assign(page, { currency: null })))).not.toThrow();
    expect(() => decode(changed((page) => Object.assign(page, { currency: 'usd' })))).not.toThrow();
  });

  test('totals without a billing dimension have no usage, and that is expected', () => {
    expect(decode(changed((page) => delete page.summary.totalUsage)).unknownFields).toEqual([]);
  });

  test('only so many unknown fields are named, each shortened', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field${index}${'x'.repeat(500)}`, 1]));
    const { unknownFields } = decode({ ...bodyOf(2, []), ...many });
    expect(unknownFields).toHaveLength(1000);
    expect(Math.max(...unknownFields.map(({ length }) => length))).toBe(100);
  });
});

describe('hourly_costs', () => {
  const costs = [
    ['0.1', 100_000_000_000n],
    ['0.3', 300_000_000_000n],
    ['1.005', 1_005_000_000_000n],
    ['0.000000000001', 1n],
    ['1e-12', 1n],
    ['123.456789012345', 123_456_789_012_345n],
    ['999.999999999999', 999_999_999_999_999n],
    ['1000.000000000001', 1_000_000_000_000_001n],
    ['-0.1', -100_000_000_000n],
    ['-999.999999999999', -999_999_999_999_999n],
    ['-1000.000000000001', -1_000_000_000_000_001n],
    ['4294.967296', 4_294_967_296_000_000n],
    ['0.004294967296', 4_294_967_296n],
    ['-0.004294967296', -4_294_967_296n],
    ['0.002147483648', 2_147_483_648n],
    ['999999.999999999', 999_999_999_999_999_000n],
    ['-999999.999999999', -999_999_999_999_999_000n],
    ['1.23E+2', 123_000_000_000_000n],
  ] as const;

  test.each(costs)('a cost written %s is exactly that', (text, scaled) => {
    const { points } = decode(oneBucket({ cost: text, usage: '0' }), 1);
    expect(points.cost[0]).toBe(scaled);
  });

  test.each([
    ['0.000001', 1n],
    ['3600.5', 3_600_500_000n],
    ['999999999.999999', 999_999_999_999_999n],
    ['1000000000.000001', 1_000_000_000_000_001n],
    ['-12345678901.2345', -12_345_678_901_234_500n],
    ['999999999999.999', 999_999_999_999_999_000n],
  ])('a usage written %s is exactly that', (text, scaled) => {
    const { points } = decode(oneBucket({ cost: '0', usage: text }), 1);
    expect(points.usage[0]).toBe(scaled);
  });

  test('totals keep every digit, without exponent', () => {
    const decoded = decode(
      changed((page, only) => {
        page.summary.totalCost = 1.5e-9;
        only.summary.cost = -1e-7;
        only.summary.usage = 123456789012.123;
      }),
    );
    expect(decoded.totalCost).toBe('0.0000000015');
    expect(decoded.entries[0]).toMatchObject({ cost: '-0.0000001', usage: '123456789012.123' });
    expect(decoded).toMatchObject({ costDecimals: 10, usageDecimals: 3 });
  });
});

describe('refusals name the place, what was found and what was expected', () => {
  const cost = 'a finite number below 1000000 with at most 12 stored decimals';
  const usage = 'a finite number below 1000000000000 with at most 6 stored decimals';
  /** Sets the field of an object; undefined takes it away. */
  function put(target: object | undefined, name: string, value: unknown): void {
    if (target === undefined) throw new Error('nothing to change');
    if (value === undefined) Reflect.deleteProperty(target, name);
    else Object.assign(target, { [name]: value });
  }
  function expectRefusal(body: unknown, place: string, found: string, expected: string): void {
    expect(() => decode(body)).toThrow(
      new RefusedAnswerError(`${about}: ${place}: found ${found}, expected ${expected}`),
    );
  }

  /** Of a body after a change. */
  function expectChangeRefused(place: string, found: string, expected: string, change: Parameters<typeof changed>[0]) {
    expectRefusal(changed(change), place, found, expected);
  }

  test.each([
    [null, 'null'],
    [[], '[]'],
    ['{}', '"{}"'],
    [5, '5'],
    [undefined, 'nothing'],
  ])('a body that is %j', (body, found) => {
    expectRefusal(body, 'the body', found, 'an object');
  });

  test.each([
    ['startTime', undefined, 'nothing', '2026-10-01T00:00:00Z'],
    ['startTime', null, 'null', '2026-10-01T00:00:00Z'],
    ['startTime', Date.UTC(2026, 9, 1), '1790812800000', '2026-10-01T00:00:00Z'],
    ['startTime', '2026-10-01', '"2026-10-01"', '2026-10-01T00:00:00Z'],
    ['startTime', '2026-10-01T00:00:00', '"2026-10-01T00:00:00"', '2026-10-01T00:00:00Z'],
    ['startTime', '2026-09-30T23:00:00Z', '"2026-09-30T23:00:00Z"', '2026-10-01T00:00:00Z'],
    ['startTime', '2026-10-01T00:00:00-02:30', '"2026-10-01T00:00:00-02:30"', '2026-10-01T00:00:00Z'],
    ['endTime', '2026-10-01T03:00:00Z', '"2026-10-01T03:00:00Z"', '2026-10-01T02:00:00Z'],
    ['endTime', '2026-10-01T01:59:59Z', '"2026-10-01T01:59:59Z"', '2026-10-01T02:00:00Z'],
    ['endTime', undefined, 'nothing', '2026-10-01T02:00:00Z'],
    ['resolution', undefined, 'nothing', '"hourly"'],
    ['resolution', 'daily', '"daily"', '"hourly"'],
    ['resolution', 'Hourly', '"Hourly"', '"hourly"'],
    ['meta', undefined, 'nothing', 'an object'],
    ['meta', null, 'null', 'an object'],
    ['meta', [], '[]', 'an object'],
    ['summary', undefined, 'nothing', 'an object'],
    ['summary', 5, '5', 'an object'],
    ['data', {}, '{}', 'an array'],
    ['data', 'none', '"none"', 'an array'],
    ['data', 0, '0', 'an array'],
    ['data', false, 'false', 'an array'],
  ])('%s: %j', (name, value, found, expected) => {
    expectChangeRefused(name, found, expected, (body) => put(body, name, value));
  });

  test.each([
    [undefined, 'nothing'],
    [null, 'null'],
    ['false', '"false"'],
    [0, '0'],
    [1, '1'],
  ])('meta.hasMore: %j', (value, found) => {
    expectChangeRefused('meta.hasMore', found, 'true or false', (body) => put(body.meta, 'hasMore', value));
  });

  test.each([
    [5, '5'],
    [{}, '{}'],
    [true, 'true'],
  ])('meta.nextCursor: %j', (value, found) => {
    expectChangeRefused('meta.nextCursor', found, 'a string', (body) => put(body.meta, 'nextCursor', value));
  });

  const noNumbers: [unknown, string][] = [
    [undefined, 'nothing'],
    [null, 'null'],
    ['0.5', '"0.5"'],
    [true, 'true'],
    [[0.5], '[0.5]'],
    [{}, '{}'],
  ];
  /** What JSON.parse makes of 1e999. */
  const tooBigForADouble: unknown = JSON.parse('1e999');

  describe.each<[string, (body: Body) => object | undefined, string, string]>([
    ['summary.totalCost', (body) => body.summary, 'totalCost', 'a finite number'],
    ['data[0].summary.cost', (body) => body.data[0]?.summary, 'cost', 'a finite number'],
    ['data[0].summary.usage', (body) => body.data[0]?.summary, 'usage', 'a finite number'],
    ['data[0].timeseries[1].cost', (body) => body.data[0]?.timeseries[1], 'cost', cost],
    ['data[0].timeseries[1].usage', (body) => body.data[0]?.timeseries[1], 'usage', usage],
  ])('%s', (place, holder, name, expected) => {
    test.each(noNumbers)('%j', (value, found) => {
      expectChangeRefused(place, found, expected, (body) => put(holder(body), name, value));
    });

    test('1e999, which is no number that fits a double', () => {
      expectChangeRefused(place, 'Infinity', expected, (body) => put(holder(body), name, tooBigForADouble));
    });
  });

  test.each([
    ['cost', 1e6, '1000000', cost],
    ['cost', -1e6, '-1000000', cost],
    ['cost', 1e20, '100000000000000000000', cost],
    ['cost', Number.MAX_VALUE, '1.7976931348623157e+308', cost],
    ['usage', 1e12, '1000000000000', usage],
    ['usage', -1e12, '-1000000000000', usage],
    ['usage', 1e300, '1e+300', usage],
  ])('a bucket whose %s is %d', (name, value, found, expected) => {
    const body = changed((_, only) => put(only.timeseries[1], name, value));
    expectRefusal(body, `data[0].timeseries[1].${name}`, found, expected);
  });

  test.each([
    [1e20, '100000000000000000000'],
    [-1e300, '-1e+300'],
  ])('a total of %d', (value, found) => {
    expectChangeRefused('summary.totalCost', found, 'a total below 1e20', (body) =>
      put(body.summary, 'totalCost', value),
    );
  });

  test.each([
    [null, 'null'],
    ['x', '"x"'],
    [[], '[]'],
  ])('a group that is %j', (value, found) => {
    const body: unknown = { ...bodyOf(2, []), data: [...changed(() => undefined).data, value] };
    expectRefusal(body, 'data[1]', found, 'an object');
  });

  test.each([
    ['summary', undefined, 'nothing', 'an object'],
    ['summary', null, 'null', 'an object'],
    ['timeseries', undefined, 'nothing', 'an array'],
    ['timeseries', null, 'null', 'an array'],
    ['timeseries', {}, '{}', 'an array'],
    ['timeseries', [], '"0 buckets"', '2, one for each hour of the window'],
  ])('a group whose %s is %j', (name, value, found, expected) => {
    expectChangeRefused(`data[0].${name}`, found, expected, (_, only) => put(only, name, value));
  });

  test('a bucket too few, a bucket too many', () => {
    const expected = '2, one for each hour of the window';
    expectChangeRefused('data[0].timeseries', '"1 buckets"', expected, (_, only) => only.timeseries.pop());
    expectChangeRefused('data[0].timeseries', '"3 buckets"', expected, (_, only) =>
      only.timeseries.push({ timestamp: hourText(2), cost: 0, usage: 0 }),
    );
  });

  test.each([
    [null, 'null'],
    [5, '5'],
    ['x', '"x"'],
  ])('a bucket that is %j', (value, found) => {
    const body = changed((_, only) => only.timeseries.splice(1, 1, value as never));
    expectRefusal(body, 'data[0].timeseries[1]', found, 'an object');
  });

  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    [null, 'null'],
    [Date.UTC(2026, 9, 1, 1), '1790816400000'],
    ['', '""'],
    ['2026-10-01', '"2026-10-01"'],
    ['2026-10-01T01:00:00', '"2026-10-01T01:00:00"'],
    ['2026-10-01T01:30:00Z', '"2026-10-01T01:30:00Z"'],
    ['2026-10-01T01:00:00.001Z', '"2026-10-01T01:00:00.001Z"'],
    ['2026-10-01T02:00:00Z', '"2026-10-01T02:00:00Z"'],
    ['2026-09-30T23:00:00Z', '"2026-09-30T23:00:00Z"'],
    ['2026-10-01T01:00:00-02:30', '"2026-10-01T01:00:00-02:30"'],
    ['2026-02-30T01:00:00Z', '"2026-02-30T01:00:00Z"'],
  ])('a bucket at %j', (value, found) => {
    expectChangeRefused(
      'data[0].timeseries[1].timestamp',
      found,
      'the start of one of the 2 hours from 2026-10-01T00:00:00Z on',
      (_, only) => put(only.timeseries[1], 'timestamp', value),
    );
  });

  test.each(['2026-10-01T00:00:00Z', '2026-10-01T00:00:00.000Z', '2026-10-01T02:00:00+02:00'])(
    'the first hour twice, the second time as %s',
    (timestamp) => {
      expectChangeRefused('data[0].timeseries[1].timestamp', `"${timestamp}"`, 'each hour once', (_, only) =>
        put(only.timeseries[1], 'timestamp', timestamp),
      );
    },
  );

  test('a long value in a message is cut between words', () => {
    const body = changed((page) => put(page, 'resolution', `two words ${'x'.repeat(10_000)}`));
    expectRefusal(body, 'resolution', '"two words…', '"hourly"');
  });
});

describe('plainDecimal', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [-3.5e-7, '-0.00000035'],
    [1e21, '1000000000000000000000'],
    [1.5e21, '1500000000000000000000'],
    [-1.2345e22, '-12345000000000000000000'],
    [5e-324, `0.${'0'.repeat(323)}5`],
  ])('%d is %s', (value, text) => {
    expect(plainDecimal(value)).toBe(text);
  });
});

describe('scaledInteger', () => {
  test.each([
    ['1.23', 2, 123n],
    ['1', 2, 100n],
    ['-1.2', 2, -120n],
    ['0.005', 2, 1n],
    ['0.0049999', 2, 0n],
    ['-0.005', 2, -1n],
    ['-0.004', 2, 0n],
    ['9.999', 2, 1000n],
    ['12345678901234567890.5', 0, 12345678901234567891n],
  ])('%s with %i decimals is %s', (text, scale, scaled) => {
    expect(scaledInteger(text, scale)).toBe(scaled);
  });
});
