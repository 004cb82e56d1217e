import { exitCodes, firstSentence } from '../base/errors.ts';
import { unprovenWindowCode } from '../base/failure.ts';
import { codesOf, failuresIn } from './failure-codes.ts';

/** Waiting is over: somebody must act. */
export const nightsCause = 'three nights';
/** Out-of-date books are news once, for any cause. */
export const outOfDateCause = 'out of date';

/** How a run ended. */
interface EndedRun {
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly error: string | null;
  readonly errorCode?: string | null;
}

/**
 * Why a run failed, as codes that stay the same from night to night while the reason does: exit code, status code or
 * system error, and host. Without those, the sentence without its numbers. Pure.
 */
export function causesOfRun({ outcome, exitCode, error, errorCode }: EndedRun): readonly string[] {
  if (outcome === 'interrupted' || exitCode === null || error === null) return [outcome];
  // These sentences name hours, amounts and processes; the next step is always the same.
  if (exitCode === exitCodes.unproven && errorCode != null && errorCode !== unprovenWindowCode) {
    return [`${exitCode} ${errorCode}`];
  }
  if (exitCode === exitCodes.unproven || exitCode === exitCodes.locked) return [String(exitCode)];
  // Each account may fail for its own reason, on its own line.
  const failures = exitCode === exitCodes.platform ? failuresIn(error) : [error];
  return [...new Set(failures.map((failure) => causeOf(exitCode, failure)))];
}

/** The cause of one failure: its exit code, and what its error names by code. */
export function causeOf(exitCode: number, error: string): string {
  const code = causeCode(error);
  if (code === undefined) return `${exitCode} ${withoutNumbers(firstSentence(error))}`;
  const { host } = codesOf(error);
  return `${exitCode} ${code}${host === undefined ? '' : ` from ${host}`}`;
}

/** `answered 401`, `ECONNREFUSED`. Every 5xx status is the same cause. Open alerts store these codes: they never change. */
function causeCode(error: string): string | undefined {
  const { status, system } = codesOf(error);
  if (status !== undefined) return `answered ${status >= 500 ? '5xx' : status}`;
  if (/no whole answer (from \S+ )?within|too slowly/.test(firstSentence(error))) return 'timeout';
  return system?.startsWith('E') ? system : undefined;
}

/** The start of a sentence without instants, ids and counts. */
function withoutNumbers(said: string): string {
  return said
    .replace(/\b(?=[0-9a-f-]*\d)[0-9a-f-]{8,}\b/gi, '#')
    .replace(/\d[\d.,:TZ-]*/g, '#')
    .slice(0, 160);
}
