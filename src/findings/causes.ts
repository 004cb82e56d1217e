import { exitCodes } from '../base/errors.ts';
import { type Failure, unprovenWindowCode } from '../base/failure.ts';
import { hourMs } from '../time/time.ts';

/** Waiting is over: somebody must act. */
export const nightsCause = 'three nights';
/** What fails for longer than this is no longer waited for: nights are further apart, and tries of one night are not. */
export const waitAtMostMs = 6 * hourMs;
/** Out-of-date books are news once, for any cause. */
export const outOfDateCause = 'out of date';

/** How a run ended. */
interface EndedRun {
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly failures: readonly Failure[];
}

/**
 * Why a run failed, as codes that stay the same from night to night while the reason does: exit code, code of the
 * failure, and what it is about. Pure.
 */
export function causesOfRun({ outcome, exitCode, failures }: EndedRun): readonly string[] {
  const [first] = failures;
  if (outcome === 'interrupted' || exitCode === null || first === undefined) return [outcome];
  // These name hours, amounts and processes; the next step is always the same.
  if (exitCode === exitCodes.unproven) {
    return [first.code === unprovenWindowCode ? String(exitCode) : `${exitCode} ${first.code}`];
  }
  if (exitCode === exitCodes.locked) return [String(exitCode)];
  return [...new Set(failures.map((failure) => causeOf(exitCode, failure)))];
}

/** The cause of one failure: `3 answered_401 api.example.com`. Every 5xx status is the same cause. */
export function causeOf(exitCode: number, { code, subject }: Failure): string {
  const isOfServer = code >= 'answered_500' && code <= 'answered_599';
  return [exitCode, isOfServer ? 'answered_5xx' : code, ...(subject === null ? [] : [subject])].join(' ');
}

/** Whether both failures have the same cause, such as the same status, or the same fault of one host. Pure. */
export function isSameCause(one: Failure, other: Failure): boolean {
  return causeOf(exitCodes.platform, one) === causeOf(exitCodes.platform, other);
}
