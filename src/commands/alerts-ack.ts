import { type AnomalyAlert, type AnomalyFeedback, feedbackGiven, readCalled } from '../anomalies/index.ts';
import { exitCodes, UsageError } from '../base/errors.ts';
import { parseFact } from '../findings/index.ts';
import { usd } from '../money/money.ts';
import { writingRun } from '../runs/index.ts';
import { formatInstant, formatSecond, type Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { expectBooks, openBooks } from '../warehouse/integrity/index.ts';
import type { AnomalyCalled, FeedbackGiven, KnownAlert } from '../warehouse/watch/index.ts';
import { noSuchKey } from './alerts-sinks.ts';
import type { CommandContext } from './command.ts';

/** What somebody says about an alert: to be silent until then, what it was, or both. */
export interface AckAsked {
  readonly key: string;
  readonly until: Instant | undefined;
  readonly as: FeedbackGiven | undefined;
  readonly waitMs: number;
}

/** Silences an alert, stores what somebody says that its anomaly was, or both. */
export async function acknowledge({ key, until, as, waitMs }: AckAsked, context: CommandContext): Promise<number> {
  await expectBooks(context.dir);
  return writingRun('alerts', waitMs, context, async (warehouse, runNumber) => {
    const known = await warehouse.knownAlerts();
    if (until !== undefined) expectOpen(key, known);
    const called = as === undefined ? [] : await readCalledIn(warehouse, { key, feedback: as }, known, context);
    if (until !== undefined) await warehouse.acknowledge(key, until, runNumber, context.effects.now());
    let feedback: readonly AnomalyFeedback[] = [];
    if (as !== undefined) {
      const given = { key, anomalies: called, runNumber, feedback: as };
      const at = await warehouse.giveFeedback(given, context.effects.now());
      feedback = feedbackGiven(called, { feedback: as, at: formatSecond(at) });
    }
    const done = { key, until, as, feedback };
    await context.write(context.json ? `${JSON.stringify(toJson(done))}\n` : wordsOf(done));
    return { exitCode: exitCodes.done };
  });
}

function expectOpen(key: string, known: readonly KnownAlert[]): void {
  const alert = known.find((candidate) => candidate.key === key);
  if (alert?.isOpen === true) return;
  const open = known.filter(({ isOpen }) => isOpen);
  throw new UsageError(noSuchKey(key, alert !== undefined, open));
}

/** The anomalies that a key names, from the books as they are now. */
async function readCalledIn(
  warehouse: Warehouse,
  asked: { readonly key: string; readonly feedback: FeedbackGiven },
  known: readonly KnownAlert[],
  { dir, signal, effects }: CommandContext,
): Promise<AnomalyCalled[]> {
  const alerts = new Map(
    known.flatMap(({ key, isOpen, fact: text }): [string, AnomalyAlert][] => {
      const fact = key.startsWith('anomaly/') ? parseFact(text) : undefined;
      return fact?.kind === 'anomaly' ? [[key, { isOpen, fact }]] : [];
    }),
  );
  await warehouse.publish();
  const books = await openBooks(dir, { lockedDown: true, signal });
  try {
    return await readCalled(books.connection, { ...asked, now: effects.now() }, alerts);
  } finally {
    books.close();
  }
}

/** What was stored. */
interface Acknowledged {
  readonly key: string;
  readonly until: Instant | undefined;
  readonly as: FeedbackGiven | undefined;
  readonly feedback: readonly AnomalyFeedback[];
}

function toJson({ key, until, as, feedback }: Acknowledged): object {
  return {
    key,
    ...(until === undefined ? {} : { acknowledgedUntil: formatInstant(until) }),
    ...(as === undefined ? {} : { as, feedback }),
  };
}

function wordsOf({ key, until, as, feedback }: Acknowledged): string {
  const silenced =
    until === undefined
      ? []
      : [
          `${key} is silenced until ${formatInstant(until)}. Costbook reports it before then only if it ends, and notifies again if it is still open.`,
        ];
  return [...silenced, ...feedbackWords({ key, as, feedback })].map((line) => `${line}\n`).join('');
}

function feedbackWords({ key, as, feedback }: Omit<Acknowledged, 'until'>): string[] {
  if (as === undefined) return [];
  if (as === 'none') return [`The feedback on ${key} is taken back.`];
  const from = feedback[0]?.appliesFrom ?? '';
  const head = `${key} is called ${as}.`;
  if (as === 'fixed') return [`${head} If it still costs more on ${from} or later, Costbook reports it again.`];
  const bars = feedback.flatMap(({ key: part, bar, largestCost, appliesFrom }) =>
    bar === null ? [] : [{ part, words: `above ${usd(bar)} (1.2 times ${usd(largestCost)})`, appliesFrom }],
  );
  const [first] = bars;
  if (first === undefined) return [`${head} Lower costs have no bar: Costbook reports them as before.`];
  if (feedback.length === 1) return [`${head} Days from ${first.appliesFrom} on are reported only ${first.words}.`];
  return [
    `${head} Days from ${first.appliesFrom} on are reported only if a part is above its bar:`,
    ...bars.map(({ part, words }) => `  ${part}: ${words}`),
  ];
}
