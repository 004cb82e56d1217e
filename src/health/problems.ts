import type { WaitingAlert } from '../alerts/index.ts';
import { exitCodes } from '../base/errors.ts';
import { hasCode, shortly, unprovenWindowCode } from '../base/failure.ts';
import { act, asClause, isRepair, type NextStep, unprovenStepAfter } from '../base/next-step.ts';
import { diskKey, idleWords, keyOfFinding, missingCostWords, staleStep, unprovenWords } from '../findings/index.ts';
import { fullDiskRemedy, neededWords, roomFollows, roomWords, withRoomRemedy } from '../text/full-disk.ts';
import { maxSentenceLength, oneLine } from '../text/safe-text.ts';
import { inBooksIfMatching, isReader, ofReader } from '../text/through.ts';
import { type Instant, isOlder, wholeHoursSince } from '../time/time.ts';
import type { Space } from '../warehouse/integrity/index.ts';
import type { lastFetch } from '../warehouse/ledger/index.ts';
import { lateWords } from './late-words.ts';
import { type Problem, problemOf } from './problem.ts';
import type { BooksStatus } from './status-types.ts';
import { unendedProblem } from './unended-words.ts';

type LastFetch = Awaited<ReturnType<typeof lastFetch>>;

/** What the problems are found in. */
export interface ProblemsAsked extends BooksStatus {
  readonly now: Instant;
  readonly lastFetch: LastFetch;
  /** How much a run may need on the disk, and whether that is free. */
  readonly space: Omit<Space, 'books'>;
}

/** Every problem, one for each cause, most urgent first: what keeps the next run from loading, then what failed. Pure. */
export function problemsOf(asked: ProblemsAsked): readonly Problem[] {
  const { lastFetch, now, freshnessHours } = asked;
  const causes = [
    ...problemsOfFiles(asked),
    ...problemsNotStored(asked),
    // What ended a run that could not be recorded is told above.
    ...(asked.unstored.length > 0 && asked.unended?.isActive !== true ? [] : unendedProblem(asked.unended, now)),
    ...failedIngest(asked),
    ...unprovenProblems(asked),
  ];
  if (causes.length === 0 && asked.accounts.length === 0) causes.push(noAccount);
  const late = lateAccounts(asked);
  // The snapshot does not have the run that did not end.
  const [fetchedAt = null] = [lastFetch.fetchedAt, asked.unended?.startedAt]
    .flatMap((at) => at ?? [])
    .toSorted()
    .toReversed();
  const fetch = { ...lastFetch, fetchedAt, isIdle: isOlder(fetchedAt, now, freshnessHours) };
  const [first, ...others] = causes;
  const withLate =
    late.length === 0
      ? causes
      : first === undefined
        ? [lateProblem(late, fetch)]
        : [withFollows(first, late, fetch), ...others];
  return [
    ...withLate,
    ...settingsProblems(asked),
    ...closesProblems(asked),
    ...failedRun(asked),
    ...otherProblems(asked),
  ];
}

/** Books that were made again without their journal name no account until the next ingest. */
const noAccount = problemOf({
  ...{ key: 'stale', subject: 'books', found: 'the books have no account yet', exitCode: exitCodes.unproven },
  // No alert is about an account without a name.
  ...{ next: act('run "costbook ingest".', 'ingest'), isUntrusted: true, isFailure: false },
});

/** An account whose books are too old. */
interface LateAccount {
  readonly key: string;
  readonly found: string;
  readonly headline: string;
}

type Fetch = LastFetch & { readonly isIdle: boolean };

/** A cause with the accounts that are late because of it. Who should wait for the next run starts one if none begins. */
function withFollows(cause: Problem, late: readonly LateAccount[], fetch: Fetch): Problem {
  const isForgotten = cause.next.who === 'Wait' && fetch.isIdle && !cause.isUntrusted;
  return {
    ...cause,
    isFailure: true,
    followKeys: late.map(({ key }) => key),
    follows: [...cause.follows, ...late.map(({ found }) => found), ...(isForgotten ? idleWords(fetch) : [])],
    headline: cause.headline ?? late[0]?.headline,
    next: isForgotten ? staleStep(fetch) : cause.next,
  };
}

function lateProblem([first, ...others]: readonly LateAccount[], fetch: Fetch): Problem {
  const [idle] = idleWords(fetch);
  return problemOf({
    ...{ key: first?.key ?? 'stale', subject: 'books', exitCode: exitCodes.unproven, next: staleStep(fetch) },
    found: idle ?? first?.found ?? '',
    follows: [...(idle === undefined || first === undefined ? [] : [first.found]), ...others.map(({ found }) => found)],
    followKeys: others.map(({ key }) => key),
    headline: first?.headline,
    isFailure: true,
  });
}

/** The accounts that should be up to date and are not. */
function lateAccounts({ accounts, now, freshnessHours }: ProblemsAsked): readonly LateAccount[] {
  return accounts
    .filter(({ isConfigured, isTooOld }) => isConfigured && isTooOld)
    .map(({ account, completeThrough, usualDaily, unproven }) => {
      const missing =
        unproven.length > 0
          ? inBooksIfMatching
          : missingCostWords(usualDaily, completeThrough, wholeHoursSince(completeThrough, now));
      return {
        key: keyOfFinding('stale', account),
        found: `${lateWords(account, completeThrough, now, freshnessHours)}; later costs ${missing}`,
        headline: `costs of ${account}${completeThrough === null ? '' : ` since ${completeThrough}`} ${missing}`,
      };
    });
}

/** Whether numbers are late and no failed step of its own says what to run, so that a repair alone is not enough. */
function needsFetch(asked: ProblemsAsked): boolean {
  const { unended, failedIngest: failed } = asked;
  const isKilled = unended !== null && !unended.isActive;
  const isLate = isKilled || lateAccounts(asked).length > 0 || failed !== null;
  return isLate && (failed === null || isRepair(failed.step));
}

/** The faults in the files of the books as one: "costbook repair" heals all of them. */
function problemsOfFiles(asked: ProblemsAsked): readonly Problem[] {
  const [first] = asked.files;
  if (first === undefined) return [];
  const { command } = asked.lastFetch;
  return [
    problemOf({
      ...{ key: 'books', subject: 'books', exitCode: exitCodes.unproven, isUntrusted: true },
      found: first.found,
      also: asked.files.slice(1).map(({ found }) => found),
      next: needsFetch(asked)
        ? act(`run "costbook repair". Then run "costbook ${command}".`, 'repair', command)
        : first.next,
    }),
  ];
}

/** What a run found and the books could not store. What repair heals is reported with the files. */
function problemsNotStored(asked: ProblemsAsked): readonly Problem[] {
  return asked.unstored
    .filter(({ step }) => asked.files.length === 0 || !isRepair(step))
    .map((alert) => {
      const { key, title, detail, step, at } = alert;
      return problemOf({
        ...{ key, subject: key === diskKey ? 'disk' : 'books', exitCode: exitCodes.machine, isFailure: true },
        found: `${title}${detail === undefined ? '' : `. ${detail}`} (a run found it at ${at})`,
        outcome: `no new costs could be loaded (a run found it at ${at})`,
        next: key === diskKey ? stepAfterFullDisk(alert, asked) : step,
      });
    });
}

/** What to do about a disk that was full, with how much a run needs. */
function stepAfterFullDisk({ full }: WaitingAlert, { lastFetch: { command }, space }: ProblemsAsked): NextStep {
  return full === 'disk_full' && space.free >= space.needed
    ? act(`run "costbook ${command}": the disk has room again.`, command)
    : act(`${fullDiskRemedy(space, full)}. Then run "costbook ${command}".`, command);
}

/** The last ingest, if it failed for another reason than hours that are reported as unproven. */
function failedIngest({ failedIngest: failed, accounts, files, unstored, unended }: ProblemsAsked): readonly Problem[] {
  if (failed === null || unended?.isActive === true) return [];
  const isReported = accounts.some(({ unproven }) => unproven.length > 0);
  if (isReported && hasCode(failed.failures, unprovenWindowCode)) return [];
  if ((files.length > 0 || unstored.length > 0) && isRepair(failed.step)) return [];
  const { exitCode, failures, step, at, outcome } = failed;
  // A run that was killed is told as such.
  if (outcome === 'interrupted' && unended !== null) return [];
  const when = at === null ? '' : ` at ${at}`;
  const head =
    outcome === 'interrupted'
      ? `the last ingest was killed${when}`
      : `the last ingest failed${when}${exitCode === null ? '' : ` (exit ${exitCode})`}`;
  const reason =
    failures.length === 0 ? (outcome === 'interrupted' ? '' : ': no reason is stored') : `: ${reasonOf(failures)}`;
  return [
    problemOf({
      ...{ key: 'run/ingest', subject: 'runs', found: `${head}${reason}`, outcome: head, next: step, failures },
      exitCode: exitCodes.unproven,
    }),
  ];
}

function reasonOf(failures: Parameters<typeof shortly>[0]): string {
  return oneLine(shortly(failures), maxSentenceLength);
}

/** Accounts whose hours do not match the platform's totals. */
function unprovenProblems({ accounts, alerts }: ProblemsAsked): readonly Problem[] {
  return accounts
    .filter(({ unproven }) => unproven.length > 0)
    .map(({ account, isConfigured, unproven }) => {
      const key = keyOfFinding('unproven', account);
      // Its alert knows what reports lack, which is often more than what differs.
      const { title, detail } = alerts.list.find((alert) => alert.key === key) ?? {};
      const found = title ?? unprovenWords(`account ${account}`, unproven);
      return problemOf({
        ...{ key, subject: 'books', exitCode: exitCodes.unproven },
        ...{ found, headline: found },
        follows: detail === undefined ? [] : [`${detail.slice(0, 1).toLowerCase()}${asClause(detail.slice(1))}`],
        next: unprovenStepAfter(unproven, { isConfigured }),
        isUntrusted: true,
      });
    });
}

/** Mistakes in files that people write, which stop a part of the work. */
function settingsProblems({ jobFiles }: ProblemsAsked): readonly Problem[] {
  return jobFiles.map(({ mistakes, effect, step, alert, subject }) =>
    problemOf({
      ...{ key: alert ?? `settings/${subject}`, subject, exitCode: exitCodes.usage, next: step, isFailure: true },
      found: mistakes[0] ?? '',
      also: mistakes.slice(1),
      follows: [effect],
    }),
  );
}

/** Months whose close differs from what the books have of it. */
function closesProblems({ differing }: ProblemsAsked): readonly Problem[] {
  return differing.map(({ account, month, found, next }) =>
    problemOf({
      ...{ key: keyOfFinding('closed_month', account, month), subject: 'books', found, next },
      ...{ exitCode: exitCodes.unproven, isUntrusted: true },
    }),
  );
}

/** The last run, if a step of it failed that no other problem reports. */
function failedRun({
  lastRunStep,
  lastRun,
  alerts,
  failedIngest: ingest,
  files,
  jobFiles,
}: ProblemsAsked): readonly Problem[] {
  if (lastRunStep === null || lastRun === null) return [];
  const { command, step } = lastRunStep;
  if ((command === 'ingest' && ingest !== null) || (files.length > 0 && isRepair(step))) return [];
  if (lastRun['exitCode'] === exitCodes.undelivered && alerts.waiting.length > 0) return [];
  const reported = [
    ...(ingest?.failures ?? []).map(({ found }) => found),
    ...jobFiles.flatMap(({ mistakes }) => mistakes),
  ];
  // The alert of a check that cannot run says what to do.
  const checks = new Set(alerts.list.filter(({ cannotRun }) => cannotRun).map(({ key }) => key));
  const failures = lastRun.failures.filter(
    ({ found, subject }) => !reported.includes(found) && !checks.has(keyOfFinding('check', subject ?? '')),
  );
  if (failures.length === 0 && lastRun.failures.length > 0) return [];
  const head = `the last run (${lastRun['command']}) ${lastRun['outcome']} at ${lastRun['endedAt'] ?? lastRun['startedAt']}`;
  return [
    problemOf({
      ...{ key: keyOfFinding('run', command), subject: 'runs', next: step, failures, outcome: head },
      found: `${head}: ${failures.length === 0 ? 'no reason is stored' : reasonOf(failures)}`,
      follows: isReader(command) ? [ofReader] : [],
      exitCode: exitCodes.unproven,
    }),
  ];
}

/** What concerns no run: messages that wait, exports of other books, dates that a fast clock wrote. */
function otherProblems({ alerts, earlierBooks, futureDates, space, unstored }: ProblemsAsked): readonly Problem[] {
  return [
    ...(space.free >= space.needed || unstored.some(({ key }) => key === diskKey)
      ? []
      : [
          {
            ...{
              key: keyOfFinding('disk', 'room'),
              subject: 'disk',
              found: roomWords(space),
              outcome: neededWords(space),
            },
            follows: [roomFollows],
            next: act(`${withRoomRemedy(space)}.`),
          },
        ]),
    ...alerts.waiting.map(({ sink, found, next }) => ({ key: `sink/${sink}`, subject: `sink ${sink}`, found, next })),
    ...(earlierBooks === null
      ? []
      : [{ key: 'earlier_books', subject: 'exports', found: earlierBooks.found, next: earlierBooks.step }]),
    ...(futureDates === null ? [] : [{ key: 'future_dates', subject: 'books', ...futureDates }]),
  ].map((each) => problemOf({ ...each, exitCode: exitCodes.done }));
}
