import { join } from 'node:path';
import { exitCodeOf, PlatformError, wordsOf, worstExitCode } from '../base/errors.ts';
import { failuresOf, redactedFailures } from '../base/failure.ts';
import { wait } from '../base/next-step.ts';
import { clientFor, loadConfig } from '../config/index.ts';
import { openLandingWriter } from '../fetch/index.ts';
import { failuresOfRun, type IngestProgress, ingest, tidyLanding } from '../ingest/index.ts';
import type { CommandInput } from '../options/read.ts';
import { checkRange, reading } from '../options/read.ts';
import { minutesOfAccount, minutesOfWindow, options } from '../options/table.ts';
import { openFairLimiter, proxiesOf } from '../platform/index.ts';
import { writingRun } from '../runs/index.ts';
import { folded } from '../terminal/index.ts';
import { formatInstant } from '../time/time.ts';
import type { Command, CommandContext } from './command.ts';
import { sumOf } from './sum-of.ts';

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
  examples: [
    'costbook ingest',
    'costbook ingest --from 2026-09 --to 2026-10 --refetch',
    'costbook ingest --wait 10m --json',
  ],
  makesFolder: true,
  async check(input, context) {
    readAsked(input, context);
  },
  async run(input, context) {
    const {
      from,
      to,
      refetch,
      acceptReducedAccess,
      acceptRenamedWorkspaces,
      acceptShrunkListings,
      timeout,
      wait: waitMs,
    } = readAsked(input, context);
    const { dir, effects } = context;
    const config = loadConfig({ dir, env: context.env, now: effects.now() });
    proxiesOf(context.env); // reports mistakes there before anything starts
    const { concurrency, accounts } = config;
    const maxSlow = accounts.length > 1 ? concurrency * slowPerRequest : 0;
    const http = context.openHttp(concurrency + maxSlow);
    const requests = openFairLimiter({ slots: concurrency, slowAfterMs: slowRequestMs, maxSlow });
    const patience = new Map(accounts.map(({ id, url }) => [id ?? url, { wastedMs: 0 }]));

    return writingRun('ingest', waitMs, context, async (warehouse, runNumber) => {
      const landing = openLandingWriter(join(dir, 'data', 'landing'));
      await landing.removeUnfinished(await warehouse.lastLoadNumber());
      const limit = openLimit(timeout, config.accounts.length, context);
      const { signal } = limit;
      const show = progressOf(context, accounts.length);
      const loadEnd = () => import('./ingest-end.ts');
      const summaries = await ingest(
        {
          config,
          from,
          to,
          refetch,
          acceptReducedAccess,
          acceptRenamedWorkspaces,
          acceptShrunkListings,
          runNumber,
        },
        {
          warehouse,
          landing,
          openClient: (account, workspace) => {
            const party = account.id ?? account.url;
            const limits = { limiter: requests.of(party), patience: patience.get(party) };
            return clientFor(account, config, http, { ...context, signal }, workspace, limits);
          },
          effects,
          signal,
          redact: context.redact,
          onProgress: (at) => {
            limit.allow(at);
            show(at);
            if (at.pages === 1) loadEnd().catch(() => undefined); // the end needs it and throws
          },
        },
      ).finally(() => limit.end());
      context.progress('');
      const { applyAllocation, describe, figuresOf, toJson } = await loadEnd();
      const unarchived = await tidyLanding(config, landing, warehouse, context);
      context.count?.(figuresOf(summaries));
      const endedAt = formatInstant(effects.now());
      await warehouse.views; // they are made beside the first requests
      const run = {
        ...{ startedAs: context.run?.startedAs ?? 'ingest', endedAt },
        failingSince: (await warehouse.failingSince('ingest')) ?? endedAt,
      };
      // Errors quote the platform's answers, which may contain the token.
      const answer = context.redact(
        context.json
          ? JSON.stringify({ accounts: summaries.map(toJson) })
          : summaries.map((summary) => describe(summary, run)).join('\n'),
      );
      await context.write(`${context.json ? answer : folded(answer, context.layout)}\n`);
      const mistake = await applyAllocation(warehouse, runNumber, context);
      for (const line of unarchived === undefined ? [] : wordsOf(unarchived)) context.tell(line);
      const mistakes = [mistake, unarchived].flatMap((each) => (each === undefined ? [] : [exitCodeOf(each)]));
      const exitCode = worstExitCode([...summaries.flatMap((summary) => summary.exitCodes), ...mistakes]);
      const others = [mistake, unarchived].flatMap((each) => (each === undefined ? [] : failuresOf(each)));
      return { exitCode, failures: redactedFailures([...failuresOfRun(summaries), ...others], context.redact) };
    });
  },
};

function readAsked(input: CommandInput, context: CommandContext) {
  const asked = reading(options.ingest, input, context);
  checkRange(asked, context.effects.now());
  asked.check();
  return asked.values;
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
        { code: 'timeout', next: wait('the next run continues from there. --timeout allows more time.') },
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
