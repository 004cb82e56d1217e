import { exitCodeOf, exitCodes } from '../base/errors.ts';
import { type Failure, failuresOf } from '../base/failure.ts';
import { act, type NextStep, nextWords, wait, waitForPlatform } from '../base/next-step.ts';
import { isSameCause } from '../findings/index.ts';
import type { Problem } from './problem.ts';

export interface Found {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; undefined if there is nothing to do. */
  readonly next?: NextStep | undefined;
  readonly exitCode: number;
  /** What failed, or the key or subject of the problem that it causes: a problem of the same cause is reported with it. */
  readonly cause?: Failure | string | undefined;
}

export interface Diagnosis extends Omit<Found, 'cause'> {
  readonly subject: string;
  /** The step as printed. */
  readonly remedy: string | null;
}

export function ok(found: string): Found {
  return { state: 'ok', found, exitCode: exitCodes.done };
}

export function warn(found: string, next: NextStep): Found {
  return { state: 'warn', found, next, exitCode: exitCodes.done };
}

export function fail(exitCode: number, found: string, next: NextStep): Found {
  return { state: 'fail', found, next, exitCode };
}

/** A problem as a finding of its own: its cause, and below it what follows. */
export function foundOf({ found, also, follows, next, isFailure, exitCode }: Problem): Found {
  return {
    state: isFailure ? 'fail' : 'warn',
    found: linesOf([found, ...also], follows),
    next,
    exitCode: isFailure ? exitCode : exitCodes.done,
  };
}

/** A finding that names the cause of a problem: what came of it stands below, and the step is that of the problem. */
export function withProblem(seen: Found, { found, also, outcome, follows, next, isFailure }: Problem): Found {
  const isSame = [found, ...also].includes(seen.found);
  const words = isSame ? linesOf([found, ...also], follows) : linesOf([seen.found], [outcome ?? found, ...follows]);
  return { ...seen, state: isFailure ? 'fail' : seen.state, found: words, next };
}

function linesOf(found: readonly string[], follows: readonly string[]): string {
  return [...found, ...follows.map((words) => `So: ${words}`)].join('\n');
}

/** Whether a finding names the cause of a problem. Pure. */
export function explains({ state, found, cause }: Found, problem: Problem): boolean {
  if (state === 'ok') return false;
  if (
    [problem.found, ...problem.also].includes(found) ||
    (typeof cause === 'string' && [problem.key, problem.subject].includes(cause))
  )
    return true;
  return typeof cause === 'object' && problem.failures.some((failure) => isSameCause(cause, failure));
}

/** What the checks of an account have found, which explains later findings. */
export interface Seen {
  /** Accounts whose token has expired. */
  readonly expired: Set<string | undefined>;
  /** Keys of alerts that other findings report. */
  readonly alertKeys: Set<string>;
}

export function nothingSeen(): Seen {
  return { expired: new Set(), alertKeys: new Set() };
}

/** The faults that an error names, each with its own step. */
export function faultsIn(error: unknown): readonly Found[] {
  const exitCode = exitCodeOf(error);
  return failuresOf(error).map((failure) => {
    const { found, next } = failure;
    // Nobody sees the next night from here.
    const step = next === waitForPlatform ? platformStep : (next ?? usualStep(exitCode));
    return { ...fail(exitCode, found, step), cause: failure };
  });
}

const platformStep = wait(
  "the platform fails, not this machine. If it still fails in some hours, ask the platform's support.",
);

function usualStep(exitCode: number): NextStep {
  if (exitCode === exitCodes.usage) return act('correct it.');
  if (exitCode === exitCodes.platform) return platformStep;
  return exitCode === exitCodes.locked
    ? wait('until that process ends.')
    : act('read the error, and correct what it names.');
}

/** Whether an earlier finding reports the fault: with the same words, or as part of them. */
export function isSameFault({ state, found }: Diagnosis, words: string): boolean {
  return state !== 'ok' && (found === words || (words.length > 40 && found.includes(words)));
}

/** A finding of a subject as it is shown. */
export function diagnosisOf(subject: string, { state, found, next, exitCode }: Found): Diagnosis {
  return { subject, state, found, next, remedy: next === undefined ? null : nextWords(next), exitCode };
}

/** Looks at a subject, and reports what it finds. */
export type Look = (subject: string, work: () => Promise<readonly Found[]> | readonly Found[]) => Promise<void>;
