import { describe, expect, test } from 'vitest';
import { folded } from '../../src/terminal/index.ts';

describe('text for a terminal', () => {
  test('is broken between words, and continues below the first word of the line', () => {
    expect(folded('FAIL  platform: no answer from the host\n  - one two three four', { width: 24 })).toBe(
      'FAIL  platform: no\n      answer from the\n      host\n  - one two three four',
    );
    expect(folded('      → Act: check the address here', { width: 26 })).toBe(
      '      → Act: check the\n        address here',
    );
    expect(folded('  UNPROVEN  a window of hours that differs', { width: 36 })).toBe(
      '  UNPROVEN  a window of hours that\n            differs',
    );
  });

  test('keeps a command whole, so that it can be copied', () => {
    expect(folded('Then run "costbook run nightly" again.', { width: 26 })).toBe(
      'Then run\n  "costbook run nightly"\n  again.',
    );
    expect(folded('Move it away ("mv /srv/one /srv/one.old").', { width: 26 })).toBe(
      'Move it away\n  ("mv /srv/one /srv/one.old").',
    );
  });

  test('keeps lines that fit, words that are too long, and everything that goes to a file', () => {
    const line = 'a  table   row';
    expect(folded(line, { width: 14 })).toBe(line);
    expect(folded('anomaly/acc_one/a-very-long-key', { width: 10 })).toBe('anomaly/acc_one/a-very-long-key');
    expect(folded('one two three four', { width: undefined })).toBe('one two three four');
  });

  test('counts no cell for colors', () => {
    const red = '\u001b[31mone two\u001b[39m';
    expect(folded(red, { width: 7 })).toBe(red);
  });
});
