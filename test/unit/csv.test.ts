import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { csvChunks } from '../../src/reports/formats/csv.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';

type Cell = string | null;

/** An answer of text columns, in chunks of two rows. */
async function csvOf(names: readonly string[], rows: readonly (readonly Cell[])[], raw = true): Promise<string> {
  async function* chunks(): AsyncGenerator<readonly (readonly Cell[])[]> {
    for (let from = 0; from < rows.length; from += 2) yield rows.slice(from, from + 2);
  }
  const columns = names.map((name) => ({ name, type: 'VARCHAR' }));
  let text = '';
  for await (const chunk of csvChunks({ columns, chunks: chunks() }, { raw })) text += chunk;
  return text;
}

const cell = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(',', '"', '\r', '\n', ';', ' ', "'", '=', 'é', '\0') }),
);

describe('csvChunks(result, { raw })', () => {
  test('is CSV that a strict reader reads back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .integer({ min: 1, max: 4 })
          .chain((width) =>
            fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
          ),
        async (rows) => {
          const names = (rows[0] ?? []).map((_, index) => `column ${index}`);
          const text = await csvOf(names, rows);
          expect(parse(text, { record_delimiter: '\r\n', bom: false })).toEqual([names, ...rows]);
        },
      ),
    );
  });

  test('ends every line with CRLF, doubles quotes, and quotes only what needs it', async () => {
    const text = await csvOf(
      ['a', 'b,c'],
      [
        ['plain text', 'say "no"'],
        ['two\r\nlines', ' spaces '],
      ],
    );
    expect(text).toBe('a,"b,c"\r\nplain text,"say ""no"""\r\n"two\r\nlines", spaces \r\n');
  });

  test('quotes every kind of line break, because readers would end the row there', async () => {
    const text = await csvOf(['a', 'b'], [['two\nlines', 'old\rmac']]);
    expect(text).toBe('a,b\r\n"two\nlines","old\rmac"\r\n');
  });

  test('distinguishes NULL from the empty text', async () => {
    expect(await csvOf(['a', 'b', 'c'], [[null, '', 'x']])).toBe('a,b,c\r\n,"",x\r\n');
  });

  test('has a header even without rows', async () => {
    expect(await csvOf(['a', 'b'], [])).toBe('a,b\r\n');
  });

  describe('text that a spreadsheet would run', () => {
    const dangerous = [
      '=1+1',
      '+1',
      '-1',
      '@sum',
      '\tx',
      '\rx',
      '\nx',
      '\0x',
      '＝1',
      '＋1',
      '－1',
      '＠x',
      '\uFEFF=1+1',
      ' =1+1',
      ' \u200B\uFEFF =1+1',
      '\u00A0=1+1',
      '\u3000=1+1',
      '\u200B=1+1',
      '\u2028=1+1',
      '\u2029=1+1',
      '\u0085=1+1',
      '\u0085x',
      '\u007F=1+1',
      '\u001B=1+1',
      '\u00AD=1+1',
      '\u2060=1+1',
      '\u202E=1+1',
      '\uFE0F=1+1',
      '\u{E0020}=1+1',
      '﹦1+1',
      '﹢1',
      '﹣1',
      '﹫sum',
      '⁼1',
      '₊1',
      '\u22121',
    ];

    test.each(dangerous)('%j gets a leading apostrophe', async (text) => {
      const [, row] = parse(await csvOf(['a', 'b'], [[text, 'b']], false), { record_delimiter: '\r\n' }) as string[][];
      expect(row).toEqual([`'${text}`, 'b']);
    });

    test.each([
      ['x;=1+1', "x;'=1+1"],
      ['x; =1+1;y;-2', "x;' =1+1;y;'-2"],
      ['a\n@b\t+c', "a\n'@b\t'+c"],
      ['=1;=2', "'=1;'=2"],
      ['a;b - c', 'a;b - c'],
    ])('%j begins no formula where a semicolon separates cells either', async (text, shown) => {
      expect(parse(await csvOf([text], [[text]], false), { record_delimiter: '\r\n' })).toEqual([[shown], [shown]]);
    });

    test('is escaped in the header too, because a label may be a column name', async () => {
      expect(await csvOf(['=1+1', 'a'], [], false)).toBe("'=1+1,a\r\n");
      expect(await csvOf(['=1+1', 'a'], [], true)).toBe('=1+1,a\r\n');
    });

    test.each(['research ', ' research', '\u00A0research', 'a\u200B=b', "'=1", 'é'])(
      '%j is not escaped',
      async (text) => {
        expect(parse(await csvOf(['a'], [[text]], false), { record_delimiter: '\r\n' })).toEqual([['a'], [text]]);
      },
    );

    test('is not escaped with raw', async () => {
      const rows = dangerous.map((text) => [text]);
      expect(parse(await csvOf(['a'], rows, true), { record_delimiter: '\r\n' })).toEqual([['a'], ...rows]);
    });

    test('does not include negative numbers', async () => {
      async function* chunks(): AsyncGenerator<readonly (readonly number[])[]> {
        yield [[-1.5]];
      }
      let text = '';
      const columns = [{ name: 'cost', type: 'DECIMAL(38,12)' }];
      for await (const chunk of csvChunks({ columns, chunks: chunks() }, { raw: false })) text += chunk;
      expect(text).toBe('cost\r\n-1.5\r\n');
    });

    test('does not include text with such a sign inside', async () => {
      expect(await csvOf(['a'], [['a=b']], false)).toBe('a\r\na=b\r\n');
    });
  });
});
