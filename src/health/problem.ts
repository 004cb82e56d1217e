import type { Failure } from '../base/failure.ts';
import type { NextStep } from '../base/next-step.ts';

/**
 * Something that is wrong with the project or its books, once for its cause. `status`, `doctor`, `alerts`, agents and the
 * dashboard show the same list of these.
 */
export interface Problem {
  /** The key of the alert about the same fact, or one of the same form. */
  readonly key: string;
  /** The keys of alerts about what follows from it. */
  readonly followKeys: readonly string[];
  /** What it is about: `books`, `runs`, `jobs`, `sinks`. */
  readonly subject: string;
  readonly found: string;
  /** More of the same kind, which the same step ends: other mistakes of a file, other faults of the books. */
  readonly also: readonly string[];
  /** Where the words of another finding name the cause: what came of it. */
  readonly outcome?: string | undefined;
  /** Why the numbers are not to be trusted, if `found` does not say it. */
  readonly headline?: string | undefined;
  /** What follows from it, a clause each. */
  readonly follows: readonly string[];
  readonly next: NextStep;
  /** Whether numbers of the books are wrong or not proven by itself; if they are only too old, that follows from it. */
  readonly isUntrusted: boolean;
  /** Whether `doctor` counts it as failed. */
  readonly isFailure: boolean;
  readonly exitCode: number;
  /** What failed, if a run did. */
  readonly failures: readonly Failure[];
}

/** The keys of the alerts that say the same as these problems. */
export function keysOf(problems: readonly Problem[]): readonly string[] {
  return problems.flatMap(({ key, followKeys }) => [key, ...followKeys]);
}

/** A problem with what most have. */
export function problemOf(
  given: Pick<Problem, 'key' | 'subject' | 'found' | 'next' | 'exitCode'> & Partial<Problem>,
): Problem {
  return {
    also: [],
    follows: [],
    followKeys: [],
    isUntrusted: false,
    isFailure: given.isUntrusted === true,
    failures: [],
    ...given,
  };
}
