import { exitCodes, firstSentence } from '../errors.ts';
import type { AlertFact, DataFact, Reported, RunFact } from './alert-facts.ts';
import { monthWords } from './unproven.ts';

/** The books being out of date is news once, whatever caused it. */
export const outOfDateCause = 'out of date';

/** Causes that are stored: what was reported longer ago may be reported again. */
const maxCauses = 100;

/**
 * The fact with what of it is news beside its open alert: a cause that was not reported since the alert was raised. A
 * cause that comes back is none, nor is what only follows from another alert. Pure.
 */
export function withNews<T extends DataFact>(fact: T, open: AlertFact | undefined, isConsequence: boolean): T {
  const now = causesOf(fact);
  if (open === undefined || open.kind !== fact.kind) return now.length === 0 ? fact : { ...fact, causes: now };
  const before = (open as DataFact & Reported).causes ?? causesOf(open as DataFact);
  const added = isConsequence ? [] : now.filter((cause) => !before.includes(cause));
  if (now.length === 0 && before.length === 0) return fact;
  if (added.length === 0) return { ...fact, causes: before, revision: open.revision };
  const causes = [...before, ...added].slice(-maxCauses);
  const isOtherCause = added.some((cause) => cause !== outOfDateCause);
  const changedFrom = isOtherCause ? sentenceOf(open as DataFact) : undefined;
  return {
    ...fact,
    causes,
    revision: `${Number.parseInt(open.revision ?? '1', 10) + 1 || 2} ${added.join(', ')}`,
    changedFrom,
  };
}

/** The causes of a fact, as codes: what a reader would have to do something else about is another cause. */
function causesOf(fact: DataFact): readonly string[] {
  switch (fact.kind) {
    case 'run':
      return [...causesOfRun(fact), ...((fact.outOfDate ?? []).length > 0 ? [outOfDateCause] : [])];
    case 'unproven':
      return [
        // Of a month that was not named before nobody knows that its numbers are not final.
        ...(fact.months ?? []).toSorted(),
        ...((fact.outOfDate ?? []).length > 0 ? [outOfDateCause] : []),
      ];
    case 'check':
      return [fact.error === null ? `rows, ${fact.severity}` : 'error'];
    // The step to take is the same however old the books are, or however wrong the clock is.
    case 'stale':
    case 'clock':
    case 'dimension':
      return [];
    // Its revision is the amount.
    case 'closed_month':
      return [];
    case 'books':
      return [
        fact.snapshot === null ? 'no snapshot' : 'whole snapshot',
        fact.isForRepair ? 'repair' : causeOf(fact.exitCode, fact.error),
      ];
  }
}

/** What an alert said of its cause, in one sentence. */
function sentenceOf(fact: DataFact): string {
  switch (fact.kind) {
    case 'run':
      return fact.error === null ? `it ${fact.outcome}` : firstSentence(fact.error);
    case 'books':
      // The rest names what was whole then, which may be lost now.
      return firstSentence(fact.error).split(/ \(|: /)[0] ?? '';
    case 'unproven':
      return `only costs in ${monthWords(fact.months ?? [])} differed`;
    case 'check':
      return fact.error === null ? `it found ${fact.offenders} rows` : firstSentence(fact.error);
    default:
      return '';
  }
}

/**
 * Why a run failed, as codes that stay the same from night to night while the reason does: exit code, status of the
 * platform or error of the system, and host. Without those it is the sentence, without its numbers. Pure.
 */
export function causesOfRun({
  outcome,
  exitCode,
  error,
}: Pick<RunFact, 'outcome' | 'exitCode' | 'error'>): readonly string[] {
  if (outcome === 'interrupted' || exitCode === null || error === null) return [outcome];
  // The sentences of these name hours, amounts and processes, and the step to take is the same.
  if (exitCode === exitCodes.unproven || exitCode === exitCodes.locked) return [String(exitCode)];
  // Several accounts may fail for a reason each, a line each.
  const failures = exitCode === exitCodes.platform ? error.split('\n').filter((line) => line.trim() !== '') : [error];
  return [...new Set(failures.map((failure) => causeOf(exitCode, failure)))];
}

function causeOf(exitCode: number, error: string): string {
  const said = firstSentence(error);
  const code = codeIn(said);
  if (code === undefined) return `${exitCode} ${withoutNumbers(said)}`;
  const host = /no answer from ([^\s:]+)/.exec(said)?.[1];
  return `${exitCode} ${code}${host === undefined ? '' : ` from ${host}`}`;
}

/** `answered 401`, `ECONNREFUSED`. Of a platform that fails by itself every status is the same cause. */
function codeIn(said: string): string | undefined {
  const [, status] = /\banswered (\d{3})\b/.exec(said) ?? [];
  if (status !== undefined) return `answered ${status.startsWith('5') ? '5xx' : status}`;
  if (/no whole answer within|too slowly/.test(said)) return 'timeout';
  return /\bE[A-Z_]{3,}\b/.exec(said)?.[0];
}

/** The beginning of a sentence in which instants, ids and counts do not make a difference. */
function withoutNumbers(said: string): string {
  return said
    .replace(/\b(?=[0-9a-f-]*\d)[0-9a-f-]{8,}\b/gi, '#')
    .replace(/\d[\d.,:TZ-]*/g, '#')
    .slice(0, 160);
}
