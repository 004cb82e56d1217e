import { inject } from 'vitest';

/** The seed that draws the same cases in every run: what CI runs. */
const fixedSeed = 1;

/**
 * The seeds of a test's rounds, one a round: few of the fixed seed, more of a fresh one. The variable asks for any
 * number of rounds.
 */
export function seedsOfRounds(variable: string, { fixed, fresh }: { fixed: number; fresh: number }): readonly number[] {
  const seed = inject('seed');
  const rounds = Number(process.env[variable] ?? (seed === fixedSeed ? fixed : fresh));
  return Array.from({ length: rounds }, (_, round) => seed + round);
}
