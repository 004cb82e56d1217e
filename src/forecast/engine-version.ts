/**
 * Changes whenever the engine may forecast something else, so that no stored forecast of another engine is used: a hash of its
 * sources and of the version of augurs. `test/unit/engine-version.test.ts` says what to write here after a change of them.
 */
export const engineVersion = '7acf20dc5f50775d';
