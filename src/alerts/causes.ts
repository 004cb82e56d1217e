import { exitCodes, firstSentence } from '../base/errors.ts';
import { unprovenWindowCode } from '../base/failure.ts';
import { unprovenStepAfter } from '../base/next-step.ts';
import type { AlertFact, DataFact, Reported, RunFact } from './alert-fact.ts';
import { codesOf, failuresIn } from './failure-codes.ts';
import { monthWords } from './unproven-words.ts';

/** Out-of-date books are news once, for any cause. */
export /** Waiting is over: somebody must act. */
const nightsCause = 'three nights';
const outOfDateCause = 'out of date';

/** The most causes to store. A cause older than these may be reported again. */
const maxCauses = 100;

/**
 * Marks what is new in a fact compared with its open alert: a cause that was not reported since the alert was raised.
 * A cause that returns is not new. Neither is a consequence of another alert. Pure.
 */
export function withNews<T extends DataFact>(fact: T, open: AlertFact | undefined, isConsequence: boolean): T {
  const now = causesOf(fact);
  if (open === undefined || open.kind !== fact.kind) return now.length === 0 ? fact : { ...fact, causes: now };
  const before = (open as DataFact & Reported).causes ?? causesOf(open as DataFact);
  const added = isConsequence ? [] : now.filter((cause) => !before.includes(cause));
  if (now.length === 0 && before.length === 0) return fact;
  if (added.length === 0) return { ...fact, causes: before, revision: open.revision };
  const causes = [...before, ...added].slice(-maxCauses);
  const isOtherCause = added.some((cause) => cause !== outOfDateCause && cause !== nightsCause);
  const changedFrom = isOtherCause ? sentenceOf(open as DataFact) : undefined;
  return {
    ...fact,
    causes,
    revision: `${Number.parseInt(open.revision ?? '1', 10) + 1 || 2} ${added.join(', ')}`,
    changedFrom,
  };
}

/** The causes of a fact, as codes. Causes differ if the reader would have to do something different. */
function causesOf(fact: DataFact): readonly string[] {
  switch (fact.kind) {
    case 'run':
      return [...causesOfRun(fact), ...(fact.outOfDate.length > 0 ? [outOfDateCause] : [])];
    case 'unproven':
      return [
        // A new month is a new cause: readers still trust its numbers.
        ...fact.months.toSorted(),
        ...(unprovenStepAfter(fact.windows).who === 'Act' ? [nightsCause] : []),
        ...(fact.outOfDate.length > 0 ? [outOfDateCause] : []),
      ];
    case 'check':
      return [fact.error === null ? `rows, ${fact.severity}` : 'error'];
    case 'listings':
      return [...new Set(fact.listings.map(({ outcome }) => outcome))];
    // The next step is the same however old the books are, or however wrong the clock is.
    case 'stale':
    case 'clock':
    case 'dimension':
    case 'interface':
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

/** The cause of an alert, in one sentence. */
function sentenceOf(fact: DataFact): string {
  switch (fact.kind) {
    case 'run':
      return fact.error === null ? `it ${fact.outcome}` : firstSentence(fact.error);
    case 'books':
      // The rest lists what was intact then, which may be lost by now.
      return firstSentence(fact.error).split(/ \(|: /)[0] ?? '';
    case 'unproven':
      return `only costs in ${monthWords(fact.months)} differed`;
    case 'check':
      return fact.error === null ? `it found ${fact.offenders} rows` : firstSentence(fact.error);
    case 'listings':
      return `${fact.listings[0]?.resourceType ?? 'a'} listing ${fact.listings[0]?.outcome ?? 'failed'}`;
    default:
      return '';
  }
}

/**
 * Why a run failed, as codes that stay the same from night to night while the reason does: exit code, status code or
 * system error, and host. Without those, the sentence without its numbers. Pure.
 */
export function causesOfRun({
  outcome,
  exitCode,
  error,
  errorCode,
}: Pick<RunFact, 'outcome' | 'exitCode' | 'error' | 'errorCode'>): readonly string[] {
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

function causeOf(exitCode: number, error: string): string {
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
