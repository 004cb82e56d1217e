import { describe, expect, test } from 'vitest';
import { formatTable } from '../../src/reports/index.ts';

const columns = [
  { name: 'workspace', type: 'VARCHAR' },
  { name: 'cost', type: 'DECIMAL(38,2)' },
];

describe('formatTable(columns, rows)', () => {
  test('puts text to the left and numbers to the right, and leaves no space at a line’s end', () => {
    expect(
      formatTable(
        [...columns, { name: 'unit', type: 'VARCHAR' }],
        [
          ['north', '1.50', 'GB-seconds'],
          ['a-longer-one', '-100.25', undefined],
        ],
      ),
    ).toBe(
      [
        'workspace        cost  unit',
        '────────────  ───────  ──────────',
        'north            1.50  GB-seconds',
        'a-longer-one  -100.25',
      ].join('\n'),
    );
  });

  test('has a head also where nothing follows', () => {
    expect(formatTable(columns, [])).toBe('workspace  cost\n─────────  ────');
  });

  test('shows control characters as what cannot move the cursor', () => {
    expect(formatTable([{ name: 'n', type: 'VARCHAR' }], [['a\u001b[2Jb\nc\u009b']])).toContain('a\uFFFD[2Jb c\uFFFD');
  });

  test('shows the name of a column as what cannot move the cursor', () => {
    expect(formatTable([{ name: 'a\u001b]0;owned\u0007\n\u202eb', type: 'VARCHAR' }], [])).toMatch(
      /^a\uFFFD\]0;owned\uFFFD \uFFFDb\n─+$/u,
    );
  });

  test('cuts what is longer than 48 characters, and no character in two', () => {
    const [, , line = ''] = formatTable([{ name: 'n', type: 'VARCHAR' }], [['😀'.repeat(60)]]).split('\n');
    expect([...line]).toHaveLength(48);
    expect(line).toBe(`${'😀'.repeat(47)}…`);
  });

  test('leaves 48 characters as they are', () => {
    expect(formatTable([{ name: 'n', type: 'VARCHAR' }], [['x'.repeat(48)]]).split('\n')[2]).toBe('x'.repeat(48));
  });
});
