import { exitCodeOf, exitCodes } from '../base/errors.ts';
import { type Failure, failuresOf } from '../base/failure.ts';
import { nextWords, wait, waitForPlatform } from '../base/next-step.ts';

export interface Found {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; undefined if there is nothing to do. */
  readonly remedy?: string | undefined;
  readonly exitCode: number;
}

export interface Diagnosis extends Omit<Found, 'remedy'> {
  readonly subject: string;
  readonly remedy: string | null;
}

export function ok(found: string): Found {
  return { state: 'ok', found, exitCode: exitCodes.done };
}

export function warn(found: string, remedy: string): Found {
  return { state: 'warn', found, remedy, exitCode: exitCodes.done };
}

export function fail(exitCode: number, found: string, remedy: string): Found {
  return { state: 'fail', found, remedy, exitCode };
}

/** What the checks of an account have found, which explains later findings. */
export interface Seen {
  /** Accounts whose token has expired. */
  readonly expired: Set<string | undefined>;
  /** Why a platform does not answer as expected. */
  readonly platformFaults: Failure[];
  /** Keys of alerts that other findings report. */
  readonly alertKeys: Set<string>;
  /** Whether files of the books have faults that "costbook repair" heals. */
  isForRepair: boolean;
  /** Whether the disk lacks space. */
  lacksSpace: boolean;
}

export function nothingSeen(): Seen {
  return { expired: new Set(), platformFaults: [], alertKeys: new Set(), isForRepair: false, lacksSpace: false };
}

/** The faults that an error names, each with its own step. */
export function faultsIn(error: unknown): readonly Found[] {
  const exitCode = exitCodeOf(error);
  return failuresOf(error).map(({ found, next }) => {
    // That step ends with "run costbook doctor".
    const step = next === waitForPlatform ? platformStep : next;
    return fail(exitCode, found, step === null ? usualStep(exitCode) : nextWords(step));
  });
}

const platformStep = wait(
  "the platform fails, not this machine. If it still fails in some hours, ask the platform's support.",
);

function usualStep(exitCode: number): string {
  if (exitCode === exitCodes.usage) return 'correct it, then run "costbook doctor" again';
  if (exitCode === exitCodes.platform) return nextWords(platformStep);
  return exitCode === exitCodes.locked ? 'wait until that process ends' : 'read the error, and correct what it names';
}

/** Whether an earlier finding reports the fault: with the same words, or as part of them. */
export function isSameFault({ state, found }: Diagnosis, words: string): boolean {
  return state !== 'ok' && (found === words || (words.length > 40 && found.includes(words)));
}

/** Looks at a subject, and reports what it finds. */
export type Look = (subject: string, work: () => Promise<readonly Found[]> | readonly Found[]) => Promise<void>;
