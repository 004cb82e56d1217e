import type { Bar } from './feedback.ts';

/** What the bar needs of an episode, and changes. */
interface AtBar {
  readonly isUp: boolean;
  readonly state: string;
  readonly lastDay: number;
  readonly notifiedDay: number | undefined;
  readonly heldDays?: readonly number[] | undefined;
  readonly aboveDays?: readonly number[] | undefined;
}

/**
 * Compares a day of higher cost with the bar that feedback raised. A day up to the bar is held: nothing is reported because
 * of it. An episode of held days is reported on its first day above the bar. Pure.
 */
export function underBar<T extends AtBar>(
  episodes: readonly T[],
  { day, cost }: { readonly day: number; readonly cost: number },
  bar: Bar | undefined,
): readonly T[] {
  if (bar === undefined) return episodes;
  const limit = bar(day);
  return episodes.map((episode) => {
    const { isUp, state, lastDay, notifiedDay, heldDays = [], aboveDays = [] } = episode;
    if (!isUp || state !== 'open' || lastDay !== day) return episode;
    const isHeldSoFar = notifiedDay === undefined && heldDays.length > 0;
    if (limit === undefined) return isHeldSoFar ? { ...episode, notifiedDay: day } : episode;
    if (cost > limit) {
      return { ...episode, aboveDays: [...aboveDays, day], notifiedDay: isHeldSoFar ? day : notifiedDay };
    }
    // Nobody would be notified anyway.
    if (notifiedDay === undefined && !isHeldSoFar) return episode;
    return { ...episode, heldDays: [...heldDays, day], notifiedDay: notifiedDay === day ? undefined : notifiedDay };
  });
}
