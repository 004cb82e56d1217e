import { inject } from 'vitest';

/** The seed that draws the same cases in every run: what CI runs. */
export const fixedSeed = 1;

/** How many cases a test takes: few in every run, more in one that draws new ones. */
export function casesOf({ fixed, fresh }: { fixed: number; fresh: number }): number {
  return inject('seed') === fixedSeed ? fixed : fresh;
}

/**
 * The seeds of a test's rounds, one a round: few of the fixed seed, more of a fresh one. The variable asks for any
 * number of rounds.
 */
export function seedsOfRounds(variable: string, counts: { fixed: number; fresh: number }): readonly number[] {
  const rounds = Number(process.env[variable] ?? casesOf(counts));
  return Array.from({ length: rounds }, (_, round) => inject('seed') + round);
}
