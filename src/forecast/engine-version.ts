/**
 * Changes whenever the engine may forecast something else, so that no stored forecast of another engine is used: a hash of its
 * sources. `test/unit/engine-version.test.ts` says what to write here after a change of them.
 */
export const engineVersion = '292add36da1da93c';
