import type { DailyCosts } from './baseline.ts';
import { type DetectionRules, type Episode, episodesBefore, follow } from './detect.ts';
import { chanceDays } from './tuning.ts';

/** An episode as the ledger keeps it. */
export interface StoredEpisode extends Episode {
  /** The same for as long as it is known. */
  readonly key: string;
  /** Whether somebody is to be told of it, or was. */
  readonly isNotified: boolean;
  /** Whether its days were restated so that nothing is left of it. */
  readonly isRestated: boolean;
}

/** What is asked of one scope. */
export interface EvaluationOfScope {
  readonly series: DailyCosts;
  readonly known: readonly StoredEpisode[];
  /** The last day that is complete. */
  readonly lastDay: number;
  /** The last day that was evaluated before; undefined where none ever was. */
  readonly evaluatedDay: number | undefined;
  /** The first day whose numbers have changed since then; undefined where none have. */
  readonly changedFrom: number | undefined;
  readonly isQuiet: (day: number) => boolean;
  /** Whether a large part of some of its days came in after they were complete: see `lateShare`. */
  readonly isLate?: boolean | undefined;
  readonly rules: DetectionRules;
  readonly newKey: (episode: Episode) => string;
}

/** Days whose numbers have changed are looked at again as far back as this; earlier ones stay as they were told. */
export const againDays = 28;
/** How many days before the last one are read: those that are looked at again, and what is learned before the first of them. */
export const readDays = againDays + chanceDays;
/** Where so much of a day of the last weeks came in after it had been loaded, a day without costs may only be late. */
export const lateShare = 0.3;
/** The first time nobody is told what is longer ago and over. */
export const firstTimeDays = 7;
/** After an outage nobody is told what is longer ago than this. */
const lateDays = 14;

/**
 * What is known of a scope's episodes after the days that became complete since the last evaluation, and those whose
 * numbers have changed, are looked at. What was told stays told: an episode keeps its key, also where a restatement moves
 * its first day, and one of which nothing is left ends. Pure.
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

/** Whether two are the same thing, told from restated numbers: their days meet. */
function isSame(one: Episode, other: Episode): boolean {
  return (
    one.isUp === other.isUp &&
    (one.kind === 'price') === (other.kind === 'price') &&
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
