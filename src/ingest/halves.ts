import { floorDay, floorHour, hourMs, type Window } from '../time/time.ts';

/** The two halves of a window, cut at midnight if one is inside; none of a window of one hour. Pure. */
export function halvesOf({ start, end }: Window): Window[] {
  if (end - start <= hourMs) return [];
  const middle = floorHour(start + Math.ceil((end - start) / 2 / hourMs) * hourMs);
  const midnight = floorDay(middle);
  const cut = midnight > start ? midnight : middle;
  return [
    { start, end: cut },
    { start: cut, end },
  ];
}
