import {
  adviceOf,
  CostbookError,
  fullDiskWords,
  InterruptedError,
  isDiskFull,
  isSystemError,
  LockedError,
  messageOf,
  PlatformError,
  RefusedAnswerError,
} from './errors.ts';
import { act, type NextStep, nextWords, stepSentence } from './next-step.ts';

/** The code of a run that failed because windows do not match the platform's totals. */
export const unprovenWindowCode = 'unproven_window';

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
  if (isDiskFull(messageOf(error))) return 'disk_full';
  if (error instanceof PlatformError) return platformCode(error);
  if (error instanceof CostbookError) return error.failureCode ?? snakeCase(error.name.replace(/Error$/, ''));
  return isSystemError(error) ? String(error.code) : 'bug';
}

/** The status, or the kind of the network failure. The platform's own code is text from outside. */
function platformCode({ status, code, failureCode }: PlatformError): string {
  return failureCode ?? (status === undefined ? (code ?? 'platform') : `answered_${status}`);
}

function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** The error's own step: the one it carries, the one for its files, or the advice at the end of its message. */
function stepOfError(error: unknown): NextStep | undefined {
  const message = messageOf(error);
  if (isDiskFull(message)) return act(`${fullDiskWords(message).remedy}.`);
  const advice = adviceOf(error);
  if (advice !== undefined) return act(`${advice}.`);
  if (!(error instanceof CostbookError)) return undefined;
  if (error.next !== undefined) return error.next;
  // Their words contain text from outside.
  if (
    error instanceof PlatformError ||
    error instanceof RefusedAnswerError ||
    error instanceof LockedError ||
    error instanceof InterruptedError
  )
    return undefined;
  const [, words] = adviceAtEnd.exec(error.message) ?? [];
  return words === undefined ? undefined : adviceStep(words);
}

function adviceStep(words: string): NextStep {
  return act(`${words.slice(0, 1).toLowerCase()}${words.slice(1).replace(/\.$/, '')}.`);
}

/** What failed, and the step as a text of its own; the step is undefined if the error has none. Pure. */
export function faultAndStep(error: unknown): { readonly found: string; readonly next: NextStep | undefined } {
  const next = stepOfError(error);
  return { found: withoutStep(messageOf(error), next), next };
}

/** An error's text without the step at its end. Pure. */
export function withoutStep(text: string, step: NextStep | undefined): string {
  if (step === undefined) return text;
  const sentence = stepSentence(step);
  if (text.endsWith(sentence)) return text.slice(0, -sentence.length).trimEnd();
  const [, advice] = adviceAtEnd.exec(text) ?? [];
  const isStep = advice !== undefined && adviceStep(advice).words === step.words;
  return isStep ? text.slice(0, -advice.length).replace(/[\s:;.]+$/, '') : text;
}

/** The last sentences of one line, from the first that starts with an instruction. */
const adviceAtEnd =
  /^[^\n]*?(?:[.;:] |^)((?:[Rr]un|[Rr]estore|[Ss]et|[Cc]heck|[Cc]hoose|[Gg]rant|[Nn]ame|[Ww]rite|[Rr]aise|[Ii]nstall|[Mm]ove|[Ff]ree|[Cc]orrect|[Cc]hange|[Uu]pdate|[Gg]ive|[Rr]emove|[Ss]tart|[Aa]dd|[Ff]irst run|[Ss]top) [^\n]+)$/;
