import fc from 'fast-check';
import { inject } from 'vitest';

// Every property draws from the run's seed: the same failure comes back with COSTBOOK_TEST_SEED.
fc.configureGlobal({ seed: inject('seed') });

const surrogates = { from: 0xd800, count: 0x800 };

/**
 * Any character, as a unit of `fc.string`. What fast-check calls `binary` draws the same from a table of all characters,
 * which takes a second to make.
 */
export const anyCharacter = fc.nat(0x10ffff - surrogates.count).map(
  (index) => String.fromCodePoint(index < surrogates.from ? index : index + surrogates.count),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('it is no single character');
    return code < surrogates.from ? code : code - surrogates.count;
  },
);

export default fc;
