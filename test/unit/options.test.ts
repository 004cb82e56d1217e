import { describe, expect, test } from 'vitest';
import * as kinds from '../../src/options/kinds.ts';
import { described, read, reading } from '../../src/options/read.ts';

const at = { effects: { now: () => Date.UTC(2026, 9, 15) } };

const table = {
  format: kinds.choice('format', ['csv', 'parquet'], 'the format'),
  columns: kinds.choices('names', ['a', 'b'], 'columns'),
  maxRows: kinds.whole('count', 'rows', { least: 1 }),
  port: kinds.port('a port'),
  timeout: kinds.usually(kinds.duration('duration', 'a time'), 60_000),
  excel: kinds.flagOrText('language', 'a CSV'),
  file: kinds.text('file', 'a file', { letter: 'f' }),
  param: kinds.pairs('parameters'),
  folder: kinds.list('dir', 'folders'),
  raw: kinds.flag('as it is'),
} as const;

describe('the options of a command line', () => {
  test('have values of their kinds, and those of an option that is not given', () => {
    const given = { format: 'csv', columns: 'a, b', maxRows: '3', excel: 'de', param: ['x=1=2'], raw: true } as const;
    expect(read(table, { options: given }, at)).toEqual({
      ...{ format: 'csv', columns: ['a', 'b'], maxRows: 3, port: undefined, timeout: 60_000, excel: 'de' },
      ...{ file: undefined, param: [['x', '1=2']], folder: [], raw: true },
    });
    expect(read(table, { options: { excel: [''], timeout: '2h' } }, at)).toMatchObject({
      ...{ excel: true, timeout: 7_200_000, raw: false, columns: undefined },
    });
  });

  test('are refused with all mistakes at once, the most similar choice, and those that the command finds', () => {
    const given = { format: 'parqet', columns: 'a,x , y', maxRows: '0', port: '70000', timeout: '5', param: 'x' };
    const { values, isGiven, problem, check } = reading(table, { options: given }, at);
    expect(values).toMatchObject({ format: undefined, timeout: 60_000, param: [['x', undefined]] });
    expect([isGiven.format, isGiven.file]).toEqual([true, false]);
    problem('--file: expected next to --format');
    expect(() => check()).toThrow(
      [
        '--format: found "parqet", expected csv or parquet; did you mean parquet?',
        '--columns: found "x", expected a or b',
        '--columns: found "y", expected a or b',
        '--max-rows: found "0", expected a whole number from 1',
        '--port: found "70000", expected a whole number from 0 to 65535',
        '--timeout: found "5", expected a duration such as 90s, 10m or 2h',
        '--file: expected next to --format',
      ].join('\n'),
    );
  });

  test('that take one value are never the last of several', () => {
    const given = { file: ['a', 'b'], maxRows: ['1', '1'], folder: ['a', 'b'], excel: ['', 'de'] };
    expect(() => read(table, { options: given }, at)).toThrow(
      /^--excel: found "" and "de", expected one value: give .*\n--file: found "a" and "b", expected one [^\n]*$/,
    );
  });

  test('are described as commander reads them', () => {
    expect(described(table).map(({ flags }) => flags)).toEqual([
      ...['--format <format>', '--columns <names>', '--max-rows <count>', '--port <port>', '--timeout <duration>'],
      ...['--excel [language]', '-f, --file <file>', '--param <name=value>', '--folder <dir>', '--raw'],
    ]);
  });
});
