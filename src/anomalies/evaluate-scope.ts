import type { DailyCosts } from './baseline.ts';
import { type DetectionRules, type Episode, episodesBefore, follow } from './detect.ts';
import type { Bar } from './feedback.ts';
import { chanceDays } from './tuning.ts';

/** An episode as stored in the ledger. */
export interface StoredEpisode extends Episode {
  /** The same as long as the episode is known. */
  readonly key: string;
  /** Whether it is or was reported. */
  readonly isNotified: boolean;
  /** Whether restatements removed it completely. */
  readonly isRestated: boolean;
}

/** The input of an evaluation of one scope. */
export interface EvaluationOfScope {
  readonly series: DailyCosts;
  readonly known: readonly StoredEpisode[];
  /** The last day that is complete. */
  readonly lastDay: number;
  /** The last day of the previous evaluation; undefined if there was none. */
  readonly evaluatedDay: number | undefined;
  /** The first day whose numbers have changed since then; undefined if none have. */
  readonly changedFrom: number | undefined;
  readonly isQuiet: (day: number) => boolean;
  /** Whether a large part of some of its days arrived after they were complete: see `lateShare`. */
  readonly isLate?: boolean | undefined;
  readonly rules: DetectionRules;
  /** The bar that feedback raised; undefined without any. */
  readonly bar?: Bar | undefined;
  readonly newKey: (episode: Episode) => string;
}

/** Changed days are evaluated again up to this far back; earlier days keep their reported result. */
export const againDays = 28;
/** Number of days to read: those to evaluate again, and those to learn from before the first of them. */
export const readDays = againDays + chanceDays;
/** If this share of a recent day arrived after the day was loaded, a day without costs may only be late. */
export const lateShare = 0.3;
/** The first evaluation does not report anomalies that ended longer ago than this. */
export const firstTimeDays = 7;
/** After an outage, anomalies that ended longer ago than this are not reported. */
const lateDays = 14;

/**
 * Evaluates the days that became complete since the last evaluation, and those whose numbers have changed. Reported
 * episodes stay reported: an episode keeps its key even if a restatement moves its first day, and it ends if a
 * restatement removes it. Pure.
 */
export function evaluateScope(asked: EvaluationOfScope): StoredEpisode[] {
  const { series, known, lastDay, evaluatedDay, changedFrom = Number.POSITIVE_INFINITY } = asked;
  const oldest = lastDay - againDays + 1;
  const from = evaluatedDay === undefined ? oldest : Math.max(oldest, Math.min(evaluatedDay + 1, changedFrom));
  if (from > lastDay) return [...known];
  const present = known.filter(({ isRestated }) => !isRestated);
  const found = follow(series, episodesBefore(present, from), { from, to: lastDay }, asked);
  const later = new Set(present.filter(({ seenDay }) => seenDay >= from));
  const kept = found.map((episode): StoredEpisode => {
    const same = 'key' in episode ? episode : [...later].find((candidate) => isSame(candidate, episode));
    if (same !== undefined) later.delete(same);
    const { key, isNotified } = same ?? { key: asked.newKey(episode), isNotified: false };
    return { ...episode, key, isNotified: isNotified || isToNotify(episode, asked), isRestated: false };
  });
  const gone = [...later].map(
    (episode): StoredEpisode => ({ ...episode, state: 'over', endedDay: lastDay, isRestated: true }),
  );
  return [...known.filter(({ isRestated }) => isRestated), ...kept, ...gone];
}

/** Whether two episodes are the same, one of them from restated numbers: their days overlap. */
function isSame(one: Episode, other: Episode): boolean {
  return (
    one.isUp === other.isUp &&
    (one.kind === 'price') === (other.kind === 'price') &&
    (one.kind === 'missing') === (other.kind === 'missing') &&
    one.firstDay <= other.lastDay + 1 &&
    other.firstDay <= one.lastDay + 1
  );
}

function isToNotify(
  { notifiedDay, state, firstDay }: Episode,
  { lastDay, evaluatedDay, changedFrom }: EvaluationOfScope,
): boolean {
  if (notifiedDay === undefined || notifiedDay <= lastDay - lateDays) return false;
  if (evaluatedDay === undefined) return state === 'open' || notifiedDay > lastDay - firstTimeDays;
  return notifiedDay > evaluatedDay || (changedFrom !== undefined && firstDay >= changedFrom);
}
