import { expect, test } from 'vitest';
import { compileCacheFolder } from '../../src/base/compile-cache.ts';

test('compiled code is cached in the cache folder of the user', () => {
  expect(compileCacheFolder({ XDG_CACHE_HOME: '/caches' }, '/home/ada')).toBe('/caches/costbook/compiled');
  expect(compileCacheFolder({}, '/home/ada')).toBe('/home/ada/.cache/costbook/compiled');
  // The specification says that relative paths are to be ignored.
  expect(compileCacheFolder({ XDG_CACHE_HOME: 'caches' }, '/home/ada')).toBe('/home/ada/.cache/costbook/compiled');
});

test('nowhere without a home folder, or if it is turned off', () => {
  expect(compileCacheFolder({}, '')).toBeUndefined();
  expect(compileCacheFolder({ COSTBOOK_COMPILE_CACHE: '0', XDG_CACHE_HOME: '/caches' }, '/home/ada')).toBeUndefined();
});
