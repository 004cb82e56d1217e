import { describe, expect, test } from 'vitest';
import { readCommonOptions } from '../../src/commands/common-options.ts';
import { parseChoice, parseTrueOrFalse } from '../../src/text/choices.ts';

describe('a choice', () => {
  test('is one of the choices, exactly as written', () => {
    expect(parseChoice('csv', ['csv', 'parquet'])).toBe('csv');
    expect(() => parseChoice('CSV ', ['csv', 'parquet'])).toThrow('found "CSV ", expected csv or parquet');
  });

  test('of true or false is nothing else', () => {
    expect([parseTrueOrFalse('true'), parseTrueOrFalse('false')]).toEqual([true, false]);
    for (const text of ['TRUE', '1', 'yes', '']) expect(() => parseTrueOrFalse(text), text).toThrow('expected true or');
  });
});

describe('COSTBOOK_JSON', () => {
  const read = (value: string) =>
    readCommonOptions({}, { env: { COSTBOOK_JSON: value }, folder: '/', clock: () => 0, isTerminal: false });

  test('is true, false, 1, 0 or empty', () => {
    expect(['true', '1', 'false', '0', ''].map((value) => read(value).json)).toEqual([true, true, false, false, false]);
    expect(read('yes').mistakes?.message).toBe('COSTBOOK_JSON: found "yes", expected true or false');
  });
});
