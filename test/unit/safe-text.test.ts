import { describe, expect, test } from 'vitest';
import { forLog, forMail, forSlack, forTerminal, oneLine, shorten } from '../../src/text/safe-text.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';

/** Nothing of these is left in words: line breaks, controls, directions, hidden text, halves of characters. */
const harmful =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]/u;

const ordinaryNames = [
  'training-lab',
  'data_pipeline~v2 *final* `x`',
  'Rechnungsprüfung & Söhne <GmbH>',
  'מערכת חיוב',
  'قسم المحاسبة',
  'می‌خواهم', // Persian, with a non-joiner
  'क्‍ष', // Devanagari, with a joiner
  'ฝ่ายบัญชี',
  '请款系统',
  '葛󠄀城', // the form of a character that a town writes
  '経理\u{1F469}\u200D\u{1F4BB}',
  '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466} family',
  '\u{1F9D1}\u{1F3FD}\u200D\u{1F680}',
  '❤️ 1️⃣ #️⃣',
  '🏳️‍🌈',
  'e\u0301te\u0301',
  'Việt Nam',
  'ᠮᠣᠩᠭᠣᠯ᠎ᠠ',
];

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom(
      ...['a', ' ', '\n', '\u001b[2J', '\u0085', '\u2028', '\u202e', '\u2067', '\u2069', '\u200b', '\u200d', '\u200e'],
      ...[
        '\ufe0f',
        '\u0301',
        '\ud800',
        '\udc00',
        '\u{e0041}',
        '\u{1F468}',
        'ש',
        'م',
        '&',
        '<',
        '>',
        '://',
        'www.',
        '葛',
      ],
    ),
    maxLength: 200,
  }),
);

describe('oneLine(text, maxLength)', () => {
  test.each(ordinaryNames)('does not change the ordinary name %s', (name) => {
    expect(oneLine(name)).toBe(name);
  });

  test('gives one line of limited length without control, direction and hidden characters', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, maxLength) => {
        for (const safe of [oneLine(text), oneLine(text, maxLength)]) expect(safe).not.toMatch(harmful);
        expect(oneLine(text, maxLength).length).toBeLessThanOrEqual(maxLength);
        expect(oneLine(oneLine(text))).toBe(oneLine(text));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['a\nb\r\nc\u0085d\u2028e\u2029f\vg\fh\ti', 'a b c d e f g h i'],
    ['a\u001b[2Jb\u009b2Jc\0', 'a�[2Jb�2Jc�'],
    ['pay\u202elor\u202c', 'pay�lor�'],
    ['pay\u200broll', 'pay�roll'],
    ['x\u{e0041}\u{e0042}\u{e0043}y', 'x�y'],
    ['half\ud800', 'half�'],
    ['\ufeffbegin', '�begin'],
    ['a\u200db \u200c', 'a�b �'],
    ['Hangul\u3164filler\u115f', 'Hangul�filler�'],
    ['wide\u3000\u00a0space', 'wide  space'],
    ['שלום\u200f (prod)', 'שלום (prod)'],
    ['Dampf\u00adschiff', 'Dampfschiff'],
    ['ภาษา\u200bไทย', 'ภาษาไทย'],
    ['a\ufe0f\ufe0f1\ufe0f', 'a�1�'],
    [`a${'\u0301'.repeat(50)}b`, `a${'\u0301'.repeat(6)}b`],
    ['\u0338struck', '\u25cc\u0338struck'],
  ])('turns %j into %j', (text, safe) => {
    expect(oneLine(text)).toBe(safe);
  });

  test('is fast for a name of a megabyte', () => {
    const started = performance.now();
    expect(oneLine('\u202e\u0301x'.repeat(1_000_000), 80).length).toBeLessThanOrEqual(80);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('shorten(text, maxLength)', () => {
  test('cuts between visible characters', () => {
    const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}';
    expect(shorten(`${family}${family}`, 10)).toBe(`${family}…`);
    expect(shorten('e\u0301e\u0301', 3)).toBe('e\u0301…');
    expect(shorten('abc', 3)).toBe('abc');
    expect(shorten('abcd', 3)).toBe('ab…');
  });
});

describe('each medium', () => {
  test('a terminal gets no escape sequence and no second line', () => {
    expect(forTerminal('cost\u001b]0;owned\u0007\nYES')).toBe('cost�]0;owned� YES');
  });

  test('Slack gets no link and no mention, and no escape is cut in two', () => {
    expect(forSlack('<!channel> <@U1> <https://x|y> & *b* _i_ ~s~ `c`')).toBe(
      '&lt;!channel&gt; &lt;@U1&gt; &lt;https://x|y&gt; &amp; *b* _i_ ~s~ `c`',
    );
    fc.assert(
      fc.property(anyText, fc.integer({ min: 6, max: 60 }), (text, maxLength) => {
        const safe = forSlack(text, maxLength);
        expect(safe.length).toBeLessThanOrEqual(maxLength);
        expect(safe).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/);
      }),
      { numRuns: 1000 },
    );
  });

  test('a mail contains nothing to click', () => {
    expect(forMail('https://evil.example/x WWW.evil.example api.example.com')).toBe(
      'https[:]//evil.example/x WWW[.]evil.example api.example.com',
    );
  });

  test('a line of JSON stays one line with an unchanged value', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = forLog(JSON.stringify({ text }));
        expect(line).not.toMatch(harmful);
        expect(JSON.parse(line)).toEqual({ text });
      }),
      { numRuns: 1000 },
    );
  });
});
