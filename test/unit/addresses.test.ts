import { describe, expect, test } from 'vitest';
import { anyName, decodePart, encodePart, resourceAddress } from '../../src/text/dashboard-address.ts';

const names = [
  'box',
  '-',
  '--',
  '*',
  '~',
  '~~',
  '.',
  '..',
  '...',
  'a/b',
  'a?b#c',
  '%2F',
  '100%',
  ' ',
  '<img src=x>',
  'Größe 日本',
];

describe('names in addresses', () => {
  test.each(names)('%j is read as it was written, also after a browser parsed the address', (name) => {
    const { pathname } = new URL(`http://localhost/budgets/${encodePart(name)}`);
    expect(decodePart(pathname.slice('/budgets/'.length))).toEqual({ kind: 'name', name });
  });

  test('a missing name has a sign of its own', () => {
    expect(encodePart(null)).toBe('-');
    expect(decodePart('-')).toEqual({ kind: 'name', name: null });
  });

  test('a long name is its MD5', () => {
    const part = encodePart('x'.repeat(10_000));
    expect(part).toMatch(/^~~[0-9a-f]{32}$/);
    expect(decodePart(part)).toEqual({ kind: 'md5', md5: part.slice(2) });
  });

  test('any name is a star', () => {
    expect(resourceAddress(anyName, anyName, 'box')).toBe('/resource/*/*/box');
    expect(decodePart('*')).toEqual({ kind: 'any' });
  });

  test('what is no encoding is not read', () => {
    expect(decodePart('%E0%A4%A')).toBeUndefined();
  });
});
