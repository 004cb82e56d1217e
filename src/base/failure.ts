import {
  adviceOf,
  CostbookError,
  foundIn,
  fullDiskWords,
  isDiskFull,
  isSystemError,
  messageOf,
  PlatformError,
} from './errors.ts';
import { act, type NextStep, nextWords } from './next-step.ts';

/** The code of a run that failed because windows do not match the platform's totals. */
export const unprovenWindowCode = 'unproven_window';

/** The code of whatever failed because this machine can write nothing more. */
export const diskFullCode = 'disk_full';

/** Why a run or step failed, for the ledger: what its words do not decide. */
export interface Failure {
  /** `answered_401`, `reduced_access`. */
  readonly code: string;
  /** What to do, as `nextWords` writes it; undefined if it follows from the exit code. */
  readonly next: string | undefined;
}

/** The code of anything thrown and its own next step, the one that is printed with it. Pure. */
export function failureOf(error: unknown): Failure {
  const next = stepOfError(error);
  return { code: codeOfError(error), next: next && nextWords(next) };
}

function codeOfError(error: unknown): string {
  if (isDiskFull(error)) return diskFullCode;
  if (error instanceof PlatformError) return platformCode(error);
  if (error instanceof CostbookError) return error.failureCode ?? snakeCase(error.name.replace(/Error$/, ''));
  return isSystemError(error) ? String(error.code) : 'bug';
}

/** The status, or the kind of the network failure. The platform's own code is text from outside. */
function platformCode({ status, fault = 'platform', failureCode }: PlatformError): string {
  return failureCode ?? (status === undefined ? fault : `answered_${status}`);
}

function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** The step that an error carries, or the one for an error of the operating system. */
function stepOfError(error: unknown): NextStep | undefined {
  if (isDiskFull(error)) return act(`${fullDiskWords(messageOf(error)).remedy}.`);
  const advice = adviceOf(error);
  if (advice !== undefined) return act(`${advice}.`);
  return error instanceof CostbookError ? error.next : undefined;
}

/** What failed, and the step as a text of its own; the step is undefined if the error has none. Pure. */
export function faultAndStep(error: unknown): { readonly found: string; readonly next: NextStep | undefined } {
  return { found: foundIn(error), next: stepOfError(error) };
}
