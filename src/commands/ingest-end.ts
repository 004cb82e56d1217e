import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { UsageError, withStep, wordsOf, worstExitCode } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { nextWords, unprovenStepAfter } from '../base/next-step.ts';
import { stepAfterRun } from '../findings/index.ts';
import type { AccountSummary } from '../ingest/index.ts';
import { describeCompleteness } from '../reports/formats/index.ts';
import { counted } from '../text/counted.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { unprovenText } from '../warehouse/ledger/index.ts';
import type { CommandContext } from './command.ts';
import { sumOf } from './sum-of.ts';
import { unprovenLines, youngLines } from './unproven-lines.ts';

// What an ingest needs at its end. It is loaded while the first answers are on their way: loading it takes longer than
// decoding them.

/**
 * Applies the project's allocation rules. Rules with mistakes are reported and returned; the current rules stay, and
 * costs are loaded all the same.
 */
export async function applyAllocation(
  warehouse: Warehouse,
  runNumber: number,
  { dir, effects, tell }: CommandContext,
): Promise<UsageError | undefined> {
  try {
    const allocation = loadAllocation(allocationFile(dir));
    for (const warning of allocation?.warnings ?? []) tell(`warning: ${warning}`);
    const definition = allocation && JSON.stringify(allocation.definition);
    const isNew = await warehouse.saveAllocation(definition, runNumber, effects.now());
    if (isNew)
      effects.log.info('allocation.applied', 'Allocation rules applied', {
        rules: allocation?.definition.rules.length ?? 0,
      });
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    for (const line of wordsOf(error)) tell(line);
    return error;
  }
}

/** Totals of all accounts. */
export function figuresOf(summaries: readonly AccountSummary[]): Record<string, number> {
  return {
    accounts: summaries.length,
    windows: sumOf(summaries, ({ windows }) => windows),
    pages: sumOf(summaries, ({ pages }) => pages),
    rows: sumOf(summaries, ({ rows }) => rows),
    restated: sumOf(summaries, ({ restated }) => restated),
    requests: sumOf(summaries, ({ requests }) => sumOf(Object.values(requests), (count) => count)),
    retries: sumOf(summaries, ({ retries }) => retries),
    unproven: sumOf(summaries, ({ unproven }) => unproven.filter(({ isYoung }) => !isYoung).length),
  };
}

export function toJson(summary: AccountSummary): Record<string, unknown> {
  return {
    account: summary.account,
    completeThrough: instantOrNull(summary.completeThrough),
    settledThrough: instantOrNull(summary.settledThrough),
    role: summary.role ?? null,
    windows: summary.windows,
    pages: summary.pages,
    rows: summary.rows,
    restated: summary.restated,
    requests: summary.requests,
    retries: summary.retries,
    unproven: summary.unproven.filter(({ isYoung }) => !isYoung).map(unprovenText),
    postponed: summary.unproven.filter(({ isYoung }) => isYoung).map(unprovenText),
    errors: summary.failures.map(({ found, next }) => withStep(found, next ?? undefined)),
    inventory: {
      requests: sumOf(summary.listings, ({ requests }) => requests),
      resources: sumOf(summary.listings, ({ resources }) => resources),
      opened: sumOf(summary.listings, ({ opened }) => opened),
      ended: sumOf(summary.listings, ({ ended }) => ended),
      listings: summary.listings.map((listing) => ({
        workspace: listing.workspace ?? null,
        resourceType: listing.resourceType,
        outcome: listing.outcome,
        reason: listing.reason ?? null,
        resources: listing.resources,
        opened: listing.opened,
        ended: listing.ended,
        requests: listing.requests,
      })),
    },
  };
}

function instantOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}

function completeWords({ completeThrough, settledThrough }: AccountSummary): string {
  const state = { completeThrough: instantOrNull(completeThrough), settledThrough: instantOrNull(settledThrough) };
  return describeCompleteness({ ...state, asOf: null, closedAt: null, completeFrom: null });
}

/** The run of an ingest: the command that its user started, when it ends, and since when ingests fail. */
type RunOfIngest = Pick<Parameters<typeof stepAfterRun>[0], 'startedAs' | 'endedAt' | 'failingSince'>;

/** What failed, each with its next step: the one of its alert. */
function failureLines({ failures, exitCodes }: AccountSummary, run: RunOfIngest): string[] {
  return failures.flatMap((failure) => {
    const failed = { command: 'ingest', ...run, outcome: 'failed', exitCode: worstExitCode(exitCodes) };
    const step = stepAfterRun({ ...failed, failures: [failure] });
    return [`FAILED ${failure.found}`, `  ${nextWords(step)}`];
  });
}

export function describe(summary: AccountSummary, run: RunOfIngest): string {
  const requests = Object.values(summary.requests).reduce((sum, count) => sum + count, 0);
  const lines = [
    `${summary.called}: ${counted(summary.windows, 'window')}, ${counted(summary.pages, 'page')}, ` +
      `${counted(summary.rows, 'row')}, ${counted(requests, 'request')}` +
      `${summary.restated > 0 ? `, ${counted(summary.restated, 'hourly cost')} restated` : ''}`,
    ...(summary.account === '' ? [] : [`  ${completeWords(summary)}`]),
  ];
  if (summary.listings.length > 0) {
    const listings = summary.listings.filter(({ outcome }) => outcome !== 'refused');
    lines.push(
      `  inventory: ${counted(
        sumOf(listings, ({ resources }) => resources),
        'resource',
      )} in ${counted(listings.length, 'listing')}, ` +
        `${sumOf(listings, ({ opened }) => opened)} states started, ${sumOf(listings, ({ ended }) => ended)} ended, ` +
        `${counted(
          sumOf(summary.listings, ({ requests }) => requests),
          'request',
        )}`,
    );
    const isRefused = listings.length === 0;
    lines.push(...unreadListings(isRefused ? summary.listings : listings, summary.failures));
  }
  const [young, old] = [true, false].map((isYoung) => summary.unproven.filter((each) => each.isYoung === isYoung));
  lines.push(...youngLines((young ?? []).map(unprovenText)));
  const differing = (old ?? []).map(unprovenText);
  lines.push(...unprovenLines(differing));
  if (differing.length > 0) lines.push(`  ${nextWords(unprovenStepAfter(differing))}`);
  return [...failureLines(summary, run), ...lines].join('\n');
}

/** Listings that could not be read, one line per step. A reason that also failed the ingest is not repeated. */
function unreadListings(listings: AccountSummary['listings'], failures: readonly Failure[]): string[] {
  const groups = new Map<string, { names: string[]; listing: AccountSummary['listings'][number] }>();
  for (const listing of listings) {
    const { outcome, resourceType, workspace, reason, next } = listing;
    if (outcome === 'read') continue;
    const what = `${outcome} ${next === undefined ? reason : nextWords(next)}`;
    const whose = workspace === undefined ? '' : ` of workspace ${workspace}`;
    const group = groups.get(what) ?? { names: [], listing };
    group.names.push(`${resourceType}${whose}`);
    groups.set(what, group);
  }
  return [...groups.values()].flatMap(({ names, listing: { outcome, reason, next } }) => {
    const head = `  ${outcome.toUpperCase()} listing ${names.join(', ')}:`;
    if (failures.some(({ found }) => found === reason)) return [`${head} for the reason above`];
    return [`${head} ${reason}`, ...(next === undefined ? [] : [`    ${nextWords(next)}`])];
  });
}
