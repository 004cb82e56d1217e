import { adviceOf, CostbookError, foundIn, fullDiskOf, fullDiskWords, isSystemError, PlatformError } from './errors.ts';
import { act, asClause, type NextStep, nextWords, redactedStep } from './next-step.ts';

/** The code of a run that failed because windows do not match the platform's totals. */
export const unprovenWindowCode = 'unproven_window';

/** Something that failed, as journal, ledger and alerts have it. */
export interface Failure {
  /** Stays the same however its words change: `answered_401`, `reduced_access`. */
  readonly code: string;
  /** What it is about, the same from night to night: a host, a file and its key. Null if the code says all. */
  readonly subject: string | null;
  /** What was found, and what was expected. */
  readonly found: string;
  /** Null if it follows from the exit code of the run. */
  readonly next: NextStep | null;
  /** How long the platform asks to wait before the next try; left out if it does not. */
  readonly retryAfterMs?: number;
  /** The step of a job that failed with it; only in the job's run. */
  readonly step?: string;
}

/** What failed, of anything thrown: each mistake of a list, or one. Pure. */
export function failuresOf(error: unknown): readonly Failure[] {
  const [code, next] = [codeOfError(error), stepOfError(error) ?? null];
  if (error instanceof PlatformError) {
    const { host, found, retryAfterMs } = error;
    return [{ code, subject: hostName(host), found, next, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }];
  }
  if (error instanceof CostbookError) {
    return error.mistakes.map(({ found, subject = null }) => ({ code, subject, found, next }));
  }
  const subject = isSystemError(error) ? (error.path ?? null) : error instanceof Error ? error.name : null;
  return [{ code, subject, found: foundIn(error), next }];
}

/** Failures as journal and ledger store them; null if there are none. */
export function storedFailures(failures: readonly Failure[]): string | null {
  return failures.length === 0 ? null : JSON.stringify(failures);
}

/** The failures of a row of the books. */
export function failuresIn(json: unknown): readonly Failure[] {
  return json === null || json === undefined ? [] : (JSON.parse(String(json)) as readonly Failure[]);
}

/** The text of failures, a line each; null if there are none. Pure. */
export function textOf(failures: readonly Failure[]): string | null {
  if (failures.length === 0) return null;
  return failures.map(({ step, found }) => (step === undefined ? found : `${step}: ${found}`)).join('\n');
}

/** What a finding says of failures: the records, and as text for receivers of messages. Pure. */
export function factsOfFailures(failures: readonly Failure[]) {
  const [first] = failures;
  return { failures, error: textOf(failures), errorCode: first?.code ?? null, nextStep: nextOfFirst(failures) };
}

/** What failures say in a sentence, each once: several steps may have been left out for one reason. Pure. */
export function shortly(failures: readonly Failure[]): string {
  const all = [...new Set(failures.map(({ found }) => found))];
  return all.map((found, index) => (index < all.length - 1 ? asClause(found) : found)).join('; ');
}

/** The first of some failures, and how many there are besides. Pure. */
export function firstOf([first, ...others]: readonly Failure[]): string {
  return `${first?.found ?? 'no reason is stored'}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}

/** The next step in words, as printed: that of the first failure, which decides the exit code. Pure. */
export function nextOfFirst([first]: readonly Failure[]): string | null {
  return first?.next == null ? null : nextWords(first.next);
}

/** Failures without secrets: an error may quote the platform's answer. */
export function redactedFailures(failures: readonly Failure[], redact: (text: string) => string): readonly Failure[] {
  return failures.map((failure) => ({
    ...failure,
    subject: failure.subject && redact(failure.subject),
    found: redact(failure.found),
    next: failure.next && redactedStep(failure.next, redact),
  }));
}

/** Whether the first of these failures has one of these codes. Pure. */
export function hasCode([first]: readonly Failure[], ...codes: readonly string[]): boolean {
  return first !== undefined && codes.includes(first.code);
}

/** `api.example.com` of `api.example.com:443`. */
function hostName(host: string | undefined): string | null {
  return host === undefined ? null : new URL(`https://${host}`).hostname;
}

function codeOfError(error: unknown): string {
  const full = fullDiskOf(error);
  if (full !== undefined) return full;
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
  const full = fullDiskOf(error);
  if (full !== undefined) return act(`${fullDiskWords(full).remedy}.`);
  return adviceOf(error) ?? (error instanceof CostbookError ? error.next : undefined);
}

/** What failed, and the step as a text of its own; the step is undefined if the error has none. Pure. */
export function faultAndStep(error: unknown): { readonly found: string; readonly next: NextStep | undefined } {
  return { found: foundIn(error), next: stepOfError(error) };
}
