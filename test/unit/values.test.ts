import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { isText } from '../../src/tables/column.ts';
import { toCellText, toJsonValue } from '../../src/warehouse/store/values.ts';

/** What DuckDB hands out for an expression, with its name of the type. */
async function evaluate(expression: string): Promise<{ value: DuckDBValue; type: string }> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await instance.connect();
    await connection.run(`set TimeZone = 'UTC'`);
    const reader = await connection.runAndReadAll(`select ${expression} as value`);
    const value = reader.getRows()[0]?.[0];
    if (value === undefined) throw new Error('no row');
    const type = String(reader.columnTypes()[0]);
    connection.closeSync();
    return { value, type };
  } finally {
    instance.closeSync();
  }
}

describe('toJsonValue(value)', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ["'text'", 'text'],
    ['1::decimal(18,12)', '1.000000000000'],
    ['-0.000000000001::decimal(38,12)', '-0.000000000001'],
    ['9007199254740991::bigint', 9007199254740991],
    ['9007199254740992::bigint', '9007199254740992'],
    ['-9007199254740993::bigint', '-9007199254740993'],
    ['18446744073709551615::ubigint', '18446744073709551615'],
    ['sum(2::integer)', 2],
    ['170141183460469231731687303715884105727::hugeint', '170141183460469231731687303715884105727'],
    ['7::tinyint', 7],
    ['0.5::double', 0.5],
    ["'nan'::double", 'NaN'],
    ["'-infinity'::double", '-Infinity'],
    ["timestamp '2026-10-01 00:00:00'", '2026-10-01T00:00:00Z'],
    ["timestamp '2026-10-01 01:02:03.45'", '2026-10-01T01:02:03.45Z'],
    ["timestamptz '2026-10-01 00:00:00+00'", '2026-10-01T00:00:00Z'],
    ["timestamptz '2026-01-01 00:00:00.5+01'", '2025-12-31T23:00:00.5Z'],
    ["'2026-10-01 00:00:00'::timestamp_s", '2026-10-01T00:00:00Z'],
    ["'2026-10-01 00:00:00.001'::timestamp_ms", '2026-10-01T00:00:00.001Z'],
    ["'2026-10-01 00:00:00.000000001'::timestamp_ns", '2026-10-01T00:00:00.000000001Z'],
    ["'infinity'::timestamp", 'infinity'],
    ["'infinity'::date", 'infinity'],
    ["'-infinity'::date", '-infinity'],
    ["'infinity'::timestamptz", 'infinity'],
    ["'infinity'::timestamp::timestamp_s", 'infinity'],
    ["'infinity'::timestamp::timestamp_ms", 'infinity'],
    ["'-infinity'::timestamp::timestamp_ns", '-infinity'],
    ["['infinity'::date]", ['infinity']],
    ["date '2026-10-01'", '2026-10-01'],
    ["time '01:02:03'", '01:02:03'],
    ["interval '1 day'", '1 day'],
    ["uuid '00000000-0000-0000-0000-0000000000aa'", '00000000-0000-0000-0000-0000000000aa'],
    ["'ab'::blob", 'YWI='],
    ['[1.5::decimal(18,2), null]', ['1.50', null]],
    ["{'a': 1, 'when': timestamp '2026-10-01 00:00:00'}", { a: 1, when: '2026-10-01T00:00:00Z' }],
    ["map {'k': 2::bigint}", [{ key: 'k', value: 2 }]],
    ['array_value(1, 2)', [1, 2]],
    ["[{'deep': [9007199254740993]}]", [{ deep: ['9007199254740993'] }]],
    ['union_value(num := 2)', 2],
  ])('%s is %j', async (expression, expected) => {
    expect(toJsonValue((await evaluate(expression)).value)).toEqual(expected);
  });
});

describe('toCellText(value)', () => {
  test.each<[string, string | undefined]>([
    ['null', undefined],
    ["''", ''],
    ['1.5::decimal(18,6)', '1.500000'],
    ['3.5e-7::double', '0.00000035'],
    ['-1e21::double', '-1000000000000000000000'],
    ["'nan'::double", 'NaN'],
    ['false', 'false'],
    ["['1', null, 'x']", '["1",null,"x"]'],
    ["{'a': [1]}", '{"a":[1]}'],
  ])('%s is %j', async (expression, expected) => {
    expect(toCellText((await evaluate(expression)).value)).toBe(expected);
  });
});

describe('a column has free text', () => {
  test.each<[string, boolean]>([
    ["'x'", true],
    ["['x']", true],
    ["{'a': 'x'}", true],
    ["map {'k': 'v'}", true],
    ["'x'::blob", true],
    ["[timestamp '2026-10-01']", true],
    ['[1]', true],
    ["'x'::enum('x')", true],
    ['1', false],
    ['1::utinyint', false],
    ['1::uhugeint', false],
    ['1.5', false],
    ['1::double', false],
    ['true', false],
    ['current_date', false],
    ["timestamptz '2026-10-01 00:00:00+00'", false],
    ["interval '1 day'", false],
  ])('%s: %j', async (expression, expected) => {
    const { type } = await evaluate(expression);
    expect(isText({ name: 'x', type })).toBe(expected);
  });
});
