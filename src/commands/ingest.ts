import { join } from 'node:path';
import { stepAfterRun } from '../alerts/index.ts';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { clientFor, loadConfig } from '../config/index.ts';
import { counted } from '../counted.ts';
import { exitCodeOf, messageOf, PlatformError, UsageError, wordsOf, worstExitCode } from '../errors.ts';
import { failureOf, withoutStep } from '../failure.ts';
import { openLandingWriter } from '../fetch/index.ts';
import { type AccountSummary, firstFailure, type IngestProgress, ingest } from '../ingest/index.ts';
import { nextWords, parseNextStep, unprovenStep, wait } from '../next-step.ts';
import { openFairLimiter, proxiesOf } from '../platform/index.ts';
import { describeCompleteness } from '../reports/index.ts';
import { folded } from '../terminal/index.ts';
import { formatInstant, type Instant } from '../time.ts';
import { unprovenText, type Warehouse } from '../warehouse/index.ts';
import { tidyLanding } from './archive-landing.ts';
import type { Command, CommandContext } from './command.ts';
import { optionReader } from './options.ts';
import { unprovenLines } from './unproven-lines.ts';
import { waitOption } from './wait.ts';
import { writingRun } from './writing-run.ts';

/** The default time limit: minutes per account for its plan, and minutes per window. */
const minutesOfAccount = 30;
const minutesOfWindow = 2;
/**
 * A request without an answer after this time gives its place to another account, so that a slow platform holds up no
 * other one; per request in progress, this many may be slow besides.
 */
const slowRequestMs = 5_000;
const slowPerRequest = 2;
/** How often the time is checked. */
const lookMs = 250;

export const ingestCommand: Command = {
  name: 'ingest',
  summary: 'Fetch missing and recent costs, reconcile them with the platform, and load them.',
  options: [
    { flags: '--from <date>', summary: 'consider only hours from this instant on' },
    { flags: '--to <date>', summary: 'consider only hours before this instant (exclusive)' },
    { flags: '--refetch', summary: 'fetch all hours from --from to --to again, not only new and changed ones' },
    {
      flags: '--accept-reduced-access',
      summary: 'confirm that the token has less access than before',
    },
    {
      flags: '--timeout <duration>',
      summary: `stop the ingest after this time, such as 30m or 4h; by default ${minutesOfAccount} minutes per account plus ${minutesOfWindow} per window`,
    },
    waitOption,
  ],
  examples: [
    'costbook ingest',
    'costbook ingest --from 2026-09 --to 2026-10 --refetch',
    'costbook ingest --wait 10m --json',
  ],
  makesFolder: true,
  async check(input, context) {
    const options = optionReader(input, context.effects.now());
    readRange(options, context.effects.now());
    options.check();
  },
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const { from, to } = readRange(options, context.effects.now());
    const waitMs = options.duration('wait') ?? 0;
    const timeoutMs = options.duration('timeout');
    if (timeoutMs === 0) options.problem('--timeout: expected a time above zero, such as 30m');
    options.check();
    const { dir, effects } = context;
    const config = loadConfig({ dir, env: context.env, now: effects.now() });
    proxiesOf(context.env); // reports mistakes there before anything starts
    const { concurrency, accounts } = config;
    const maxSlow = accounts.length > 1 ? concurrency * slowPerRequest : 0;
    const http = context.openHttp(concurrency + maxSlow);
    const requests = openFairLimiter({ slots: concurrency, slowAfterMs: slowRequestMs, maxSlow });

    return writingRun('ingest', waitMs, context, async (warehouse, runNumber) => {
      const landing = openLandingWriter(join(dir, 'data', 'landing'));
      await landing.removeUnfinished(await warehouse.lastLoadNumber());
      const limit = openLimit(timeoutMs, config.accounts.length, context);
      const { signal } = limit;
      const show = progressOf(context, accounts.length);
      const summaries = await ingest(
        {
          config,
          from,
          to,
          refetch: options.flag('refetch'),
          acceptReducedAccess: options.flag('acceptReducedAccess'),
          runNumber,
        },
        {
          warehouse,
          landing,
          openClient: (account, workspace) => {
            const limiter = requests.of(account.id ?? account.url);
            return clientFor(account, config, http, { ...context, signal }, workspace, { limiter });
          },
          effects,
          signal,
          redact: context.redact,
          onProgress: (at) => {
            limit.allow(at);
            show(at);
          },
        },
      ).finally(() => limit.end());
      context.progress('');
      const unarchived = await tidyLanding(config, landing, warehouse, context);
      context.count?.(figuresOf(summaries));
      // Errors quote the platform's answers, which may contain the token.
      const answer = context.redact(
        context.json
          ? JSON.stringify({ accounts: summaries.map(toJson) })
          : summaries.map((summary) => describe(summary, context.run?.startedAs ?? 'ingest')).join('\n'),
      );
      await context.write(`${context.json ? answer : folded(answer, context.layout)}\n`);
      const mistake = await applyAllocation(warehouse, runNumber, context);
      for (const line of unarchived === undefined ? [] : wordsOf(unarchived)) context.tell(line);
      const mistakes = [mistake, unarchived].flatMap((each) => (each === undefined ? [] : [exitCodeOf(each)]));
      const exitCode = worstExitCode([...summaries.flatMap((summary) => summary.exitCodes), ...mistakes]);
      if (exitCode === 0) return { exitCode };
      const failed = firstFailure(summaries);
      if (failed !== undefined) return { exitCode, ...failed };
      const other = mistake ?? unarchived;
      return other === undefined
        ? { exitCode }
        : { exitCode, error: context.redact(messageOf(other)), failure: failureOf(other) };
    });
  },
};

/** The range of `--from` and `--to`. */
function readRange(options: ReturnType<typeof optionReader>, now: Instant) {
  const { from, to } = options.range();
  if (from !== undefined && from > now) {
    options.problem(`--from: ${formatInstant(from)} is in the future; expected a date before now`);
  }
  return { from, to };
}

/**
 * Applies the project's allocation rules. Rules with mistakes are reported and returned; the current rules stay, and
 * costs are loaded all the same.
 */
async function applyAllocation(
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
    for (const line of error.message.split('\n')) tell(`costbook: ${line}`);
    return error;
  }
}

/**
 * Stops an ingest that exceeds its time limit, given or computed from its plan: a platform that accepts requests and
 * never answers would hold it for hours. Loaded windows stay.
 */
function openLimit(
  givenMs: number | undefined,
  accounts: number,
  { signal, waitingFor }: CommandContext,
): { readonly signal: AbortSignal; allow(progress: IngestProgress): void; end(): void } {
  const late = new AbortController();
  const windows = new Map<string, number>();
  const begun = performance.now(); // real time, also with --now
  function allowedMs(): number {
    const planned = [...windows.values()].reduce((sum, count) => sum + count, 0);
    return givenMs ?? (accounts * minutesOfAccount + planned * minutesOfWindow) * 60_000;
  }
  const timer = setInterval(() => {
    if (performance.now() - begun < allowedMs()) return;
    const waiting = waitingFor();
    const minutes = allowedMs() / 60_000;
    late.abort(
      new PlatformError(
        `the ingest took longer than ${minutes < 1 ? `${minutes * 60} s` : `${minutes} min`}` +
          `${waiting === undefined ? '' : `, waiting for ${waiting}`}. Loaded windows stay.`,
        { code: 'timeout', next: wait('the next "costbook ingest" continues from there. --timeout allows more time.') },
      ),
    );
  }, lookMs);
  timer.unref();
  return {
    signal: AbortSignal.any([signal, late.signal]),
    allow: ({ account, windows: planned }) => void windows.set(account, planned),
    end: () => clearInterval(timer),
  };
}

/** Shows the progress of an ingest: accounts if there are several, windows, pages, rows, rate and time left. */
function progressOf({ progress }: CommandContext, accounts: number): (at: IngestProgress) => void {
  const begun = performance.now();
  const latest = new Map<string, IngestProgress>();
  return (at) => {
    latest.set(at.account, at);
    const all = [...latest.values()];
    const [windows, windowsDone] = [sumOf(all, (one) => one.windows), sumOf(all, (one) => one.windowsDone)];
    const [pages, rows] = [sumOf(all, (one) => one.pages), sumOf(all, (one) => one.rows)];
    const seconds = (performance.now() - begun) / 1000;
    const isKnown = windowsDone > 0 && latest.size === accounts;
    const left = isKnown ? Math.round((seconds / windowsDone) * (windows - windowsDone)) : undefined;
    progress(
      `${accounts === 1 ? at.account : `${latest.size}/${accounts} accounts`}: ${windowsDone}/${windows} windows · ` +
        `${pages} pages · ${rows} rows · ${Math.round(pages / Math.max(seconds, 0.1))} pages/s · ` +
        `${left === undefined ? '…' : `${left} s left`}`,
    );
  };
}

/** Totals of all accounts. */
function figuresOf(summaries: readonly AccountSummary[]): Record<string, number> {
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

function toJson(summary: AccountSummary): Record<string, unknown> {
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
    errors: summary.errors,
    inventory: {
      requests: sumOf(summary.listings, ({ requests }) => requests),
      resources: sumOf(summary.listings, ({ resources }) => resources),
      opened: sumOf(summary.listings, ({ opened }) => opened),
      ended: sumOf(summary.listings, ({ ended }) => ended),
      listings: summary.listings.map((listing) => ({
        workspace: listing.tokenWorkspace ?? null,
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

function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}

function instantOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : formatInstant(instant);
}

function completeWords({ completeThrough, settledThrough }: AccountSummary): string {
  const state = { completeThrough: instantOrNull(completeThrough), settledThrough: instantOrNull(settledThrough) };
  return describeCompleteness({ ...state, asOf: null, closedAt: null, completeFrom: null });
}

/** What failed, each with its next step: the one of its alert. `startedAs` is the command that its user started. */
function failureLines({ errors, failures, exitCodes }: AccountSummary, startedAs: string): string[] {
  return errors.flatMap((error, index) => {
    const { code = null, next = null } = failures[index] ?? {};
    const failed = { command: 'ingest', startedAs, outcome: 'failed', exitCode: worstExitCode(exitCodes) };
    const step = stepAfterRun({ ...failed, error, errorCode: code, nextStep: next });
    return [`FAILED ${withoutStep(error, parseNextStep(next))}`, `  ${nextWords(step)}`];
  });
}

function describe(summary: AccountSummary, startedAs: string): string {
  const requests = Object.values(summary.requests).reduce((sum, count) => sum + count, 0);
  const lines = [
    `${summary.account || 'the account'}: ${counted(summary.windows, 'window')}, ${counted(summary.pages, 'page')}, ` +
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
    lines.push(...unreadListings(isRefused ? summary.listings : listings, summary.errors));
  }
  const [young, old] = [true, false].map((isYoung) => summary.unproven.filter((each) => each.isYoung === isYoung));
  lines.push(...unprovenLines((young ?? []).map(unprovenText), 'not yet proven'));
  lines.push(...unprovenLines((old ?? []).map(unprovenText), 'UNPROVEN'));
  if (summary.unproven.some(({ isYoung }) => !isYoung)) lines.push(`  ${nextWords(unprovenStep)}`);
  return [...failureLines(summary, startedAs), ...lines].join('\n');
}

/** Listings that could not be read, one line per step. A reason that also failed the ingest is not repeated. */
function unreadListings(listings: AccountSummary['listings'], errors: readonly string[]): string[] {
  const groups = new Map<string, { names: string[]; reason: string | undefined; outcome: string }>();
  for (const { outcome, resourceType, tokenWorkspace, reason, next = reason } of listings) {
    if (outcome === 'read') continue;
    const whose = tokenWorkspace === undefined ? '' : ` of workspace ${tokenWorkspace}`;
    const group = groups.get(`${outcome} ${next}`) ?? { names: [], reason, outcome };
    group.names.push(`${resourceType}${whose}`);
    groups.set(`${outcome} ${next}`, group);
  }
  return [...groups.values()].map(({ names, reason, outcome }) => {
    const shown = errors.includes(String(reason)) ? 'for the reason above' : reason;
    return `  ${outcome.toUpperCase()} listing ${names.join(', ')}: ${shown}`;
  });
}
